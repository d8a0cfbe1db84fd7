/* tune.c: `sluice tune GRAPH`: block sizes of nodes, slots and slice sizes, measured one at a time against the graph as
 * it is.
 *
 * A variant changes one thing. All variants are run in turn, several rounds of it, each run long enough to be timed, so
 * that a drift of the machine touches all alike. Digests are compared on the way: a variant that changes a result is an
 * error. Where a variant's slowest round is faster than the fastest of the graph as it is, the best such goes into an
 * overlay, a YAML file that `include` takes.
 */
#include "cli/cli.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { VARIANTS_MAX = 256, ROUNDS_MAX = 99, EVENTS_DEFAULT = 1000, ROUNDS_DEFAULT = 5 };
#define SECONDS_DEFAULT 0.5

/* What a variant changes. */
enum { AS_IT_IS, BLOCK, SLOTS, SLICE_EVENTS };

struct variant {
  uint32_t kind, value;
  const char *node; /* BLOCK */
  uint32_t rounds;
  double hz[ROUNDS_MAX], us[ROUNDS_MAX]; /* of the whole; of the node, an event */
};

struct tuning {
  const struct cli_arguments *a;
  struct variant variants[VARIANTS_MAX]; /* the first is the graph as it is */
  uint32_t count, rounds, repeat;
  uint64_t *digests; /* of the graph's outputs */
  uint32_t digest_count;
  char path[4096]; /* of the text that is run, beside the graph */
};

/* ----------------------------------------------------------------------------------------------- variants */

static int add_variant(struct tuning *t, uint32_t kind, const char *node, uint32_t value) {
  if (t->count == VARIANTS_MAX) {
    fprintf(stderr, "error: more than %d variants\n", VARIANTS_MAX);
    return CLI_WRONG;
  }
  t->variants[t->count++] = (struct variant){.kind = kind, .value = value, .node = node};
  return CLI_OK;
}

/* "32,64,128": a variant each. */
static int add_values(struct tuning *t, uint32_t kind, const char *node, const char *option, const char *text) {
  const char *at = text;
  while (at) {
    char *end = NULL;
    const unsigned long value = strtoul(at, &end, 10);
    if (end == at || value == 0 || value > UINT32_MAX || (*end && *end != ',')) {
      fprintf(stderr, "error: %s wants numbers with commas between, not '%s'\n", option, text);
      return CLI_WRONG;
    }
    const int status = add_variant(t, kind, node, (uint32_t)value);
    if (status != CLI_OK) return status;
    at = *end ? end + 1 : NULL;
  }
  return CLI_OK;
}

static int make_variants(struct tuning *t) {
  const struct cli_arguments *a = t->a;
  int status = add_variant(t, AS_IT_IS, NULL, 0);
  const char *blocks = a->blocks ? a->blocks : "32,64,128,256";
  for (size_t i = 0; i < a->nodes.count && status == CLI_OK; i++)
    status = add_values(t, BLOCK, a->nodes.items[i], "--blocks", blocks);
  if (status == CLI_OK && a->slots_list) status = add_values(t, SLOTS, NULL, "--slots", a->slots_list);
  if (status == CLI_OK && a->slice_events_list)
    status = add_values(t, SLICE_EVENTS, NULL, "--slice-events", a->slice_events_list);
  if (status != CLI_OK) return status;
  if (a->nodes.count > 0 && strcmp(a->options.device, "cpu") == 0) {
    fprintf(stderr, "error: on cpu a block is one thread; tune blocks on a GPU (--device cuda)\n");
    return CLI_WRONG;
  }
  if (t->count > 1) return CLI_OK;
  fprintf(stderr, "error: nothing to tune: give --node NAME, --slots or --slice-events\n");
  return CLI_WRONG;
}

static const char *name_of(const struct variant *v, char *text, size_t size) {
  static const char *const names[] = {"as it is", "block", "slots", "slice-events"};
  if (v->kind == AS_IT_IS)
    snprintf(text, size, "%s", names[v->kind]);
  else
    snprintf(text, size, "%s%s%s %u", v->node ? v->node : "", v->node ? " " : "", names[v->kind], v->value);
  return text;
}

/* ----------------------------------------------------------------------------------------------- one run */

/* A graph that is the given one with a node's block changed. */
static void write_overlay(const struct tuning *t, const struct variant *v, char *text, size_t size) {
  const char *slash = strrchr(t->a->operand, '/');
  int used = snprintf(text, size, "sluice: 1\ninclude: [\"%s\"]\n", slash ? slash + 1 : t->a->operand);
  if (v->kind == BLOCK) snprintf(text + used, size - (size_t)used, "nodes:\n  %s: { block: %u }\n", v->node, v->value);
}

static int check_digests(struct tuning *t, const struct variant *v, const struct sl_summary *s) {
  char name[128];
  if (!t->digests) {
    t->digests = calloc(s->output_count + 1, sizeof *t->digests);
    if (!t->digests) return CLI_FAILED;
    t->digest_count = s->output_count;
    for (uint32_t o = 0; o < s->output_count; o++) t->digests[o] = s->outputs[o].digest;
  }
  for (uint32_t o = 0; o < t->digest_count; o++) {
    if (t->digests[o] == s->outputs[o].digest) continue;
    fprintf(stderr, "error: %s changes the output %s: digest %016" PRIx64 ", not %016" PRIx64 "\n",
            name_of(v, name, sizeof name), s->outputs[o].port, s->outputs[o].digest, t->digests[o]);
    return CLI_FAILED;
  }
  return CLI_OK;
}

/* Microseconds an event of the variant's node; of all nodes where it has none. */
static double node_us(const struct variant *v, const struct sl_summary *s) {
  double us = 0, events = 0;
  for (uint32_t i = 0; i < s->node_count; i++) {
    if (v->node && strcmp(s->nodes[i].name, v->node) != 0) continue;
    us += s->nodes[i].microseconds;
    if ((double)s->nodes[i].events > events) events = (double)s->nodes[i].events;
  }
  return events > 0 ? us / events : 0;
}

/* Runs the variant; `profile`: for the time of its node, else for the rate of the whole. */
static int run_once(struct tuning *t, const struct variant *v, uint32_t repeat, uint32_t profile, double *hz,
                    double *us) {
  char text[8192];
  write_overlay(t, v, text, sizeof text);
  struct sl_options o = t->a->options;
  o.graph_path = t->path;
  o.graph_text = text;
  o.graph_text_bytes = strlen(text);
  o.repeat = repeat;
  o.profile = profile;
  o.digest = 1;
  if (o.events == 0 && !o.input_paths) o.events = EVENTS_DEFAULT;
  if (v->kind == SLOTS) o.slots = v->value;
  if (v->kind == SLICE_EVENTS) o.slice_events = v->value;
  struct sl_diagnostics *d = sl_diagnostics_new();
  struct sl_session *session = NULL;
  int status = d && sl_session_open(&o, d, &session) == SL_OK ? CLI_OK : CLI_WRONG;
  if (status == CLI_OK && sl_session_run(session) < 0) status = CLI_FAILED;
  if (status == CLI_OK) {
    const struct sl_summary *s = sl_session_summary(session);
    *hz = s->throughput_hz;
    *us = node_us(v, s);
    status = check_digests(t, v, s);
  }
  if (d && status != CLI_OK) cli_print_messages(d, 1);
  sl_session_close(session);
  sl_diagnostics_free(d);
  return status;
}

/* On a device the time of nodes is known with profiling only, which makes the whole slower: two runs. */
static int measure(struct tuning *t, struct variant *v) {
  const int is_host = strncmp(t->a->options.device, "cpu", 3) == 0 || strncmp(t->a->options.device, "simt", 4) == 0;
  double *hz = &v->hz[v->rounds], *us = &v->us[v->rounds], unused;
  int status = run_once(t, v, t->repeat, 0, hz, us);
  if (status == CLI_OK && !is_host) status = run_once(t, v, t->repeat, 1, &unused, us);
  v->rounds++;
  return status;
}

/* How often the graph must be repeated for a run to last as long as it should. */
static int calibrate(struct tuning *t) {
  double hz = 0, us = 0;
  const double wanted = t->a->seconds > 0 ? t->a->seconds : SECONDS_DEFAULT;
  const uint64_t events = t->a->options.events ? t->a->options.events : EVENTS_DEFAULT;
  const int status = run_once(t, &t->variants[0], 3, 0, &hz, &us);
  const double passes = status == CLI_OK ? wanted * hz / (double)events : 0;
  t->repeat = passes > 1 ? (uint32_t)passes + 2 : 3;
  return status;
}

/* ------------------------------------------------------------------------------------------------- result */

/* Sorts the rounds: then the middle one is the median, the first and the last are the range. */
static void sort_rounds(struct tuning *t) {
  for (uint32_t i = 0; i < t->count; i++) {
    cli_sort_numbers(t->variants[i].hz, t->variants[i].rounds);
    cli_sort_numbers(t->variants[i].us, t->variants[i].rounds);
  }
}

static double median(const double *values, uint32_t count) { return values[count / 2]; }

static int is_same_choice(const struct variant *a, const struct variant *b) {
  return a->kind == b->kind && (a->kind != BLOCK || strcmp(a->node, b->node) == 0);
}

/* The fastest among those that change the same thing. */
static int is_best(const struct tuning *t, const struct variant *v) {
  for (uint32_t i = 0; i < t->count; i++)
    if (is_same_choice(&t->variants[i], v) &&
        median(t->variants[i].hz, t->variants[i].rounds) > median(v->hz, v->rounds))
      return 0;
  return 1;
}

static int is_winner(const struct tuning *t, const struct variant *v) {
  const struct variant *base = &t->variants[0];
  return v->rounds > 1 && v->kind != AS_IT_IS && v->hz[0] > base->hz[base->rounds - 1] && is_best(t, v);
}

static void write_table(const struct tuning *t) {
  char name[128];
  printf("%-32s  %-30s  %-30s\n", "", "us/event of the node", "events/s of the whole");
  for (uint32_t i = 0; i < t->count; i++) {
    const struct variant *v = &t->variants[i];
    const uint32_t last = v->rounds - 1;
    char us[64], hz[64];
    snprintf(us, sizeof us, "%.4g (%.4g-%.4g)", median(v->us, v->rounds), v->us[0], v->us[last]);
    snprintf(hz, sizeof hz, "%.5g (%.5g-%.5g)", median(v->hz, v->rounds), v->hz[0], v->hz[last]);
    printf("%-32s  %-30s  %-30s%s\n", name_of(v, name, sizeof name), us, hz, is_winner(t, v) ? "  faster" : "");
  }
  printf("median of %u rounds and range; the node of `as it is`, slots and slice-events: all nodes\n", t->rounds);
}

static int write_winners(const void *tuning, FILE *file) {
  const struct tuning *t = tuning;
  uint32_t blocks = 0;
  fprintf(file, "# What `sluice tune` found faster on %s, for %s; include it after the graph.\nsluice: 1\n",
          t->a->options.device, t->a->operand);
  for (uint32_t i = 0; i < t->count; i++) {
    const struct variant *v = &t->variants[i];
    if (!is_winner(t, v)) continue;
    if (v->kind == BLOCK)
      fprintf(file, "%s  %s: { block: %u }\n", blocks++ ? "" : "nodes:\n", v->node, v->value);
    else if (v->kind == SLICE_EVENTS)
      fprintf(file, "budgets: { events: %u }\n", v->value);
    else
      fprintf(file, "# slots are no part of a graph: run with --slots %u\n", v->value);
  }
  return SL_OK;
}

static void place_beside_graph(struct tuning *t) {
  const char *slash = strrchr(t->a->operand, '/');
  const int length = slash ? (int)(slash - t->a->operand) + 1 : 0;
  snprintf(t->path, sizeof t->path, "%.*s(sluice tune)", length, t->a->operand);
}

int cli_tune(const struct cli_arguments *a) {
  struct tuning *t = calloc(1, sizeof *t);
  if (!t) return CLI_FAILED;
  t->a = a;
  t->rounds = a->rounds ? (uint32_t)a->rounds : ROUNDS_DEFAULT;
  place_beside_graph(t);
  int status = make_variants(t);
  if (status == CLI_OK) status = calibrate(t);
  for (uint32_t r = 0; r < t->rounds && status == CLI_OK; r++)
    for (uint32_t i = 0; i < t->count && status == CLI_OK; i++) status = measure(t, &t->variants[i]);
  if (status == CLI_OK) {
    sort_rounds(t);
    write_table(t);
    if (a->options.output_path) status = cli_write_file(a->options.output_path, write_winners, t);
  }
  free(t->digests);
  free(t);
  return status;
}
