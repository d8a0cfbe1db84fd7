/* tune.c: `sluice tune GRAPH`: measures block sizes of nodes, numbers of slots and slice sizes against the graph as it
 * is.
 *   1. Make variants. Each changes one value: the block size of a node or of one of its kernels (kernels of a slice do
 *      not run at the same time, so their best sizes are independent), the slots, or the slice size.
 *   2. Run all variants in turn, for several rounds, so that a drift of the machine affects all of them.
 *   3. Compare the digests: a variant that changes a result is an error.
 *   4. For each value select the fastest variant. If its slowest round is faster than the fastest round of the graph as
 *      it is, write it to an overlay, a YAML file that `include` takes.
 */
#include "base/nearest.h"
#include "cli/cli.h"

#include <sluice/plugin.h>
#include <sluice/text.h>

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { VARIANTS_MAX = 256, ROUNDS_MAX = 99, ROUNDS_DEFAULT = 5, REPEAT_MIN = 3 };
#define SECONDS_DEFAULT 0.5

/* The value that a variant changes. */
enum { AS_IT_IS, BLOCK, SLOTS, SLICE_EVENTS };

struct variant {
  uint32_t kind, value;
  const char *node;   /* BLOCK */
  const char *kernel; /* BLOCK: "others": kernels without a block size of their own; NULL: all */
  uint32_t rounds;
  double hz[ROUNDS_MAX], us[ROUNDS_MAX]; /* events per second; microseconds per event of the node */
};

struct tuning {
  const struct cli_arguments *a;
  struct variant variants[VARIANTS_MAX]; /* the first one is the graph as it is */
  uint32_t count, rounds, repeat;
  uint64_t events;   /* per pass */
  uint64_t *digests; /* of the graph's outputs */
  uint32_t digest_count;
  struct sl_session *graph;    /* the graph as it is, not run: open while variants are made */
  char *kernels[VARIANTS_MAX]; /* names of kernels with a block size of their own */
  uint32_t kernel_count;
  char path[4096]; /* of the overlay that is run, in the folder of the graph */
};

/* ----------------------------------------------------------------------------------------------- variants */

static int add_variant(struct tuning *t, uint32_t kind, const char *node, const char *kernel, uint32_t value) {
  if (t->count == VARIANTS_MAX) {
    fprintf(stderr, "error: more than %d variants\n", VARIANTS_MAX);
    return CLI_WRONG;
  }
  t->variants[t->count++] = (struct variant){.kind = kind, .value = value, .node = node, .kernel = kernel};
  return CLI_OK;
}

/* Adds a variant for each number of "32,64,128". */
static int add_values(struct tuning *t, uint32_t kind, const char *node, const char *kernel, const char *option,
                      const char *text) {
  const char *at = text;
  while (at) {
    char *end = NULL;
    const unsigned long value = strtoul(at, &end, 10);
    if (end == at || value == 0 || value > UINT32_MAX || (*end && *end != ',')) {
      fprintf(stderr, "error: %s needs numbers from 1 to %u with commas between, not '%s'\n", option,
              (unsigned)UINT32_MAX, text);
      return CLI_WRONG;
    }
    const int status = add_variant(t, kind, node, kernel, (uint32_t)value);
    if (status != CLI_OK) return status;
    at = *end ? end + 1 : NULL;
  }
  return CLI_OK;
}

/* Copies a name of the plugin, which is unloaded with the graph. NULL if there is no room. */
static const char *keep_name(struct tuning *t, const char *name) {
  char *copy = t->kernel_count < VARIANTS_MAX ? strdup(name) : NULL;
  if (copy) t->kernels[t->kernel_count++] = copy;
  return copy;
}

/* Adds variants for all kernels of a node together, or for each kernel that can be set alone and for the others. */
static int add_blocks(struct tuning *t, const char *name, const char *values) {
  const struct sl_summary *s = sl_session_summary(t->graph);
  struct sl_nearest nearest;
  int status = CLI_OK, is_there = 0;
  sl_nearest_begin(&nearest, name);
  for (uint32_t i = 0; i < s->node_count; i++) {
    const struct sl_node_summary *node = &s->nodes[i];
    sl_nearest_offer(&nearest, node->name);
    is_there |= strcmp(node->name, name) == 0;
    if (strcmp(node->name, name) != 0 || node->block_count == 0) continue;
    for (uint32_t b = 0; b < node->block_count && status == CLI_OK; b++) {
      const char *kernel = keep_name(t, node->blocks[b].kernel);
      status = kernel ? add_values(t, BLOCK, name, kernel, "--blocks", values) : cli_no_memory();
    }
    return status == CLI_OK ? add_values(t, BLOCK, name, "others", "--blocks", values) : status;
  }
  if (is_there) return add_values(t, BLOCK, name, NULL, "--blocks", values);
  fprintf(stderr, "error: --node %s: the graph runs no node of that name\n", name);
  cli_suggest(&nearest);
  return CLI_WRONG;
}

static int open_graph(struct tuning *t);

static int make_variants(struct tuning *t) {
  const struct cli_arguments *a = t->a;
  int status = add_variant(t, AS_IT_IS, NULL, NULL, 0);
  if (a->blocks && a->nodes.count == 0) {
    fprintf(stderr, "error: --blocks has no effect without --node\n");
    return CLI_WRONG;
  }
  if (a->nodes.count > 0 && strcmp(a->options.device, "cpu") == 0) {
    fprintf(stderr, "error: on cpu a block is one thread; tune blocks on a GPU (--device cuda)\n");
    return CLI_WRONG;
  }
  if (status == CLI_OK && (a->nodes.count > 0 || a->options.output_path)) status = open_graph(t);
  for (size_t i = 0; i < a->nodes.count && status == CLI_OK; i++)
    status = add_blocks(t, a->nodes.items[i], a->blocks ? a->blocks : "32,64,128,256");
  sl_session_close(t->graph);
  if (status == CLI_OK && a->slots_list) status = add_values(t, SLOTS, NULL, NULL, "--slots", a->slots_list);
  if (status == CLI_OK && a->slice_events_list)
    status = add_values(t, SLICE_EVENTS, NULL, NULL, "--slice-events", a->slice_events_list);
  if (status != CLI_OK || t->count > 1) return status;
  fprintf(stderr, "error: nothing to tune: give --node NAME, --slots or --slice-events\n");
  return CLI_WRONG;
}

/* "search.block.find=64", in the form of --set, or "slots 2". */
static const char *name_of(const struct variant *v, char *text, size_t size) {
  static const char *const names[] = {"as it is", "block", "slots", "slice-events"};
  if (v->kind == AS_IT_IS)
    snprintf(text, size, "%s", names[v->kind]);
  else if (v->kind == BLOCK)
    snprintf(text, size, "%s.block%s%s=%u", v->node, v->kernel ? "." : "", v->kernel ? v->kernel : "", v->value);
  else
    snprintf(text, size, "%s %u", names[v->kind], v->value);
  return text;
}

/* ----------------------------------------------------------------------------------------------- one run */

/* The block size of a node, or of one of its kernels, as YAML. */
static const char *block_text(const struct variant *v, char *text, size_t size) {
  snprintf(text, size, v->kernel ? "{ %s: %u }" : "%s%u", v->kernel ? v->kernel : "", v->value);
  return text;
}

/* Writes a graph that includes the given one and changes the block size of a node. */
static void write_overlay(const struct tuning *t, const struct variant *v, char *text, size_t size) {
  const char *slash = strrchr(t->a->operand, '/');
  size_t used = (size_t)snprintf(text, size, "sluice: 1\ninclude: [\"%s\"", slash ? slash + 1 : t->a->operand);
  /* --with files as absolute paths: the overlay includes from the folder of the graph */
  for (size_t i = 0; i < t->a->withs.count && used < size; i++) {
    char path[PATH_MAX];
    const char *with = realpath(t->a->withs.items[i], path) ? path : t->a->withs.items[i];
    used += (size_t)snprintf(text + used, size - used, ", \"%s\"", with);
  }
  if (used < size) used += (size_t)snprintf(text + used, size - used, "]\n");
  char block[256];
  if (v->kind == BLOCK && used < size)
    snprintf(text + used, size - used, "nodes:\n  %s: { block: %s }\n", v->node, block_text(v, block, sizeof block));
}

static int check_digests(struct tuning *t, const struct variant *v, const struct sl_summary *s) {
  char name[256];
  if (!t->digests) {
    t->digests = calloc(s->output_count + 1, sizeof *t->digests);
    if (!t->digests) return cli_no_memory();
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

/* Microseconds per event of the node of the variant, or of all nodes if it has none. */
static double node_us(const struct variant *v, const struct sl_summary *s) {
  double us = 0, events = 0;
  for (uint32_t i = 0; i < s->node_count; i++) {
    if (v->node && strcmp(s->nodes[i].name, v->node) != 0) continue;
    us += s->nodes[i].microseconds;
    if ((double)s->nodes[i].events > events) events = (double)s->nodes[i].events;
  }
  return events > 0 ? us / events : 0;
}

/* The options of a run of the variant; its overlay is written to `text`. */
static struct sl_options options_of(const struct tuning *t, const struct variant *v, char *text, size_t size) {
  struct sl_options o = t->a->options;
  write_overlay(t, v, text, size);
  o.graph_path = t->path;
  o.with_paths = NULL;  /* the overlay includes them */
  o.output_path = NULL; /* `-o` is the file of tune itself */
  o.graph_text = text;
  o.graph_text_bytes = strlen(text);
  return o;
}

static int open_graph(struct tuning *t) {
  char text[8192];
  const struct sl_options o = options_of(t, &t->variants[0], text, sizeof text);
  struct sl_diagnostics *d = sl_diagnostics_new();
  if (!d) return cli_no_memory();
  const char *overlay = t->a->options.output_path;
  int status = sl_session_open(&o, d, &t->graph) == SL_OK ? CLI_OK : CLI_WRONG;
  if (status == CLI_OK && overlay && sl_session_claim_output(t->graph, "-o", overlay, 0) < 0) status = CLI_WRONG;
  if (status != CLI_OK) cli_print_messages(d, 1);
  sl_diagnostics_free(d);
  return status;
}

struct measured {
  double hz, us;   /* events per second; microseconds per event of the node of the variant */
  uint64_t events; /* per pass */
};

/* Runs the variant; `profile`: to measure the time of its node, else the rate. */
static int run_once(struct tuning *t, const struct variant *v, uint32_t repeat, uint32_t profile,
                    struct measured *measured) {
  char text[8192];
  struct sl_options o = options_of(t, v, text, sizeof text);
  o.repeat = repeat;
  o.profile = profile;
  o.digest = 1;
  if (v->kind == SLOTS) o.slots = v->value;
  if (v->kind == SLICE_EVENTS) o.slice_events = v->value;
  struct sl_diagnostics *d = sl_diagnostics_new();
  if (!d) return cli_no_memory();
  struct sl_session *session = NULL;
  int status = sl_session_open(&o, d, &session) == SL_OK ? CLI_OK : CLI_WRONG;
  cli_stop_on_signal(session);
  if (status == CLI_OK && (cli_signal() || sl_session_run(session) < 0)) status = CLI_FAILED;
  cli_stop_on_signal(NULL);
  if (status == CLI_OK) {
    const struct sl_summary *s = sl_session_summary(session);
    *measured = (struct measured){s->throughput_hz, node_us(v, s), s->events};
    status = check_digests(t, v, s);
  }
  if (status != CLI_OK) cli_print_messages(d, 1);
  sl_session_close(session);
  sl_diagnostics_free(d);
  return status;
}

/* On a device the time of a node is measured only with profiling, which slows the run: two runs. */
static int measure(struct tuning *t, struct variant *v) {
  const int is_host = strncmp(t->a->options.device, "cpu", 3) == 0 || strncmp(t->a->options.device, "simt", 4) == 0;
  struct measured whole = {0}, profiled = {0};
  int status = run_once(t, v, t->repeat, 0, &whole);
  if (status == CLI_OK && !is_host) status = run_once(t, v, t->repeat, 1, &profiled);
  v->hz[v->rounds] = whole.hz;
  v->us[v->rounds] = is_host ? whole.us : profiled.us;
  v->rounds += status == CLI_OK;
  return status;
}

/* Finds the number of repetitions with which a run lasts `seconds`. */
static int calibrate(struct tuning *t) {
  struct measured pass = {0};
  const double seconds = t->a->seconds > 0 ? t->a->seconds : SECONDS_DEFAULT;
  const int status = run_once(t, &t->variants[0], REPEAT_MIN, 0, &pass);
  if (status != CLI_OK) return status;
  if (!(pass.hz > 0)) {
    fprintf(stderr, "error: %s: no event went through the graph, so nothing can be timed\n", t->a->operand);
    return CLI_WRONG;
  }
  t->events = pass.events;
  const double repeat = seconds * pass.hz / (double)pass.events + 2;
  t->repeat = repeat < REPEAT_MIN ? REPEAT_MIN : repeat < UINT32_MAX ? (uint32_t)repeat : UINT32_MAX;
  return CLI_OK;
}

/* ------------------------------------------------------------------------------------------------- result */

/* Sorts the rounds: the middle one is the median, the first and the last are the range. */
static void sort_rounds(struct tuning *t) {
  for (uint32_t i = 0; i < t->count; i++) {
    cli_sort_numbers(t->variants[i].hz, t->variants[i].rounds);
    cli_sort_numbers(t->variants[i].us, t->variants[i].rounds);
  }
}

static double median(const double *values, uint32_t count) { return values[count / 2]; }

static int is_same_kernel(const struct variant *a, const struct variant *b) {
  return a->kernel == b->kernel || (a->kernel && b->kernel && strcmp(a->kernel, b->kernel) == 0);
}

static int is_same_choice(const struct variant *a, const struct variant *b) {
  return a->kind == b->kind && (a->kind != BLOCK || (strcmp(a->node, b->node) == 0 && is_same_kernel(a, b)));
}

/* Is this the fastest variant of its value? The first one of equal variants is. */
static int is_best(const struct tuning *t, const struct variant *v) {
  const double own = median(v->hz, v->rounds);
  for (const struct variant *other = t->variants; other < t->variants + t->count; other++) {
    const double its = is_same_choice(other, v) ? median(other->hz, other->rounds) : 0;
    if (its > own || (its == own && other < v)) return 0;
  }
  return 1;
}

static int is_winner(const struct tuning *t, const struct variant *v) {
  const struct variant *base = &t->variants[0];
  return v->rounds > 1 && v->kind != AS_IT_IS && v->hz[0] > base->hz[base->rounds - 1] && is_best(t, v);
}

static void write_table(const struct tuning *t) {
  char name[256];
  printf("%-32s  %-30s  %-30s\n", "", "us/event of the node", "events/s of the whole");
  for (uint32_t i = 0; i < t->count; i++) {
    const struct variant *v = &t->variants[i];
    const uint32_t last = v->rounds - 1;
    char us[64], hz[64];
    if (v->us[last] > 0)
      snprintf(us, sizeof us, "%.4g (%.4g-%.4g)", median(v->us, v->rounds), v->us[0], v->us[last]);
    else
      snprintf(us, sizeof us, "-"); /* the node got no event */
    snprintf(hz, sizeof hz, "%.5g (%.5g-%.5g)", median(v->hz, v->rounds), v->hz[0], v->hz[last]);
    printf("%-32s  %-30s  %-30s%s\n", name_of(v, name, sizeof name), us, hz, is_winner(t, v) ? "  faster" : "");
  }
  printf("median of %u rounds and range, each of %u passes over %" PRIu64
         " %s; the node of `as it is`, slots and slice-events: all nodes\n",
         t->rounds, t->repeat, t->events, sl_plural(t->events, "event", "events"));
}

/* The next winner from `at` on that changes a block size, or NULL. */
static const struct variant *next_block(const struct tuning *t, const struct variant *at) {
  while (at < t->variants + t->count && !(at->kind == BLOCK && is_winner(t, at))) at++;
  return at < t->variants + t->count ? at : NULL;
}

/* Writes a line per node: its block size, or the block sizes of its kernels. */
static void write_blocks(const struct tuning *t, FILE *file) {
  const struct variant *v = next_block(t, t->variants);
  if (v) fprintf(file, "nodes:\n");
  while (v) {
    const struct variant *next = next_block(t, v + 1);
    fprintf(file, v->kernel ? "  %s: { block: { %s: %u" : "  %s: { block: %s%u", v->node, v->kernel ? v->kernel : "",
            v->value);
    for (; next && v->kernel && strcmp(next->node, v->node) == 0; next = next_block(t, next + 1))
      fprintf(file, ", %s: %u", next->kernel, next->value);
    fprintf(file, v->kernel ? " } }\n" : " }\n");
    v = next;
  }
}

static int write_winners(const void *tuning, FILE *file) {
  const struct tuning *t = tuning;
  fprintf(file, "# Faster values that `sluice tune` found on %s, for %s; include it after the graph.\nsluice: 1\n",
          t->a->options.device, t->a->operand);
  write_blocks(t, file);
  for (uint32_t i = 0; i < t->count; i++) {
    const struct variant *v = &t->variants[i];
    if (!is_winner(t, v)) continue;
    if (v->kind == SLICE_EVENTS) fprintf(file, "budgets: { events: %u }\n", v->value);
    if (v->kind == SLOTS) fprintf(file, "# slots are no part of a graph: run with --slots %u\n", v->value);
  }
  return SL_OK;
}

/* Prints the faster block sizes as options of a run. */
static void write_sets(const struct tuning *t) {
  char name[256];
  const struct variant *v = next_block(t, t->variants);
  if (v) printf("faster:");
  for (; v; v = next_block(t, v + 1)) {
    printf(" --set %s", name_of(v, name, sizeof name));
    if (!next_block(t, v + 1)) printf("\n");
  }
}

static void place_beside_graph(struct tuning *t) {
  const char *slash = strrchr(t->a->operand, '/');
  const int length = slash ? (int)(slash - t->a->operand) + 1 : 0;
  snprintf(t->path, sizeof t->path, "%.*s(sluice tune)", length, t->a->operand);
}

/* Drops the measurements of a round that was stopped. */
static void keep_whole_rounds(struct tuning *t) {
  t->rounds = t->variants[t->count - 1].rounds;
  for (uint32_t i = 0; i < t->count; i++) t->variants[i].rounds = t->rounds;
}

/* The exit status after a signal. */
static int write_stop(const struct tuning *t, int number) {
  const char *path = t->a->options.output_path;
  fprintf(stderr, "warning: stopped by signal %d (%s) after %u whole rounds%s%s\n", number, strsignal(number),
          t->rounds, path ? "; nothing is written to " : "", path ? path : "");
  return CLI_SIGNAL + number;
}

int cli_tune(const struct cli_arguments *a) {
  struct tuning *t = calloc(1, sizeof *t);
  if (!t) return cli_no_memory();
  t->a = a;
  t->rounds = a->rounds ? (uint32_t)a->rounds : ROUNDS_DEFAULT;
  place_beside_graph(t);
  cli_catch_signals();
  int status = make_variants(t);
  if (status == CLI_OK) status = calibrate(t);
  for (uint32_t r = 0; r < t->rounds && status == CLI_OK; r++)
    for (uint32_t i = 0; i < t->count && status == CLI_OK; i++) status = measure(t, &t->variants[i]);
  const int stopped_by = cli_signal();
  cli_leave_signals();
  if (stopped_by) keep_whole_rounds(t);
  if (status == CLI_OK || (stopped_by && t->rounds > 0)) {
    sort_rounds(t);
    write_table(t);
    write_sets(t);
  }
  if (status == CLI_OK && a->options.output_path) status = cli_write_file(a->options.output_path, write_winners, t);
  if (status != CLI_OK && stopped_by) status = write_stop(t, stopped_by);
  free(t->digests);
  for (uint32_t k = 0; k < t->kernel_count; k++) free(t->kernels[k]);
  free(t);
  return status;
}
