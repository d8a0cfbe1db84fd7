/* graphs.c: `sluice compare A B`: runs two graphs over the same events, and compares them event by event.
 *
 * 1. Each graph is run with digests of every event. For each event its error, the digests of its outputs, and the
 *    entries of named outputs that it passes ("Hlt1TrackMVA") are kept.
 * 2. The summaries are compared as those of two files.
 * 3. Events are compared in their order: both runs must have read the same ones. An entry that only one graph has is no
 *    change of an event.
 */
#include "cli/cli.h"
#include "cli/compare/compare.h"

#include <sluice/plugin.h>
#include <sluice/text.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { EVENTS_SHOWN = 20, WORD_BITS = 32 };

struct record {
  uint64_t number;
  uint32_t run, error;
};

/* A named output: bits or indices of its entries. */
struct names {
  char *output, **at; /* at: names of the entries */
  uint32_t *others;   /* per entry: bit of the entry of this name in the other side, or UINT32_MAX */
  uint32_t count, index, kind, offsets, values, first_bit;
};

struct side {
  const char *name;
  struct sl_session *session;
  struct names *named;
  char **outputs;   /* names of the outputs with digests, in order */
  uint32_t *others; /* per output with digests: its index in the other side, or UINT32_MAX */
  uint32_t named_count, output_count, words;
  struct record *events;
  uint64_t *digests; /* output_count per event */
  uint32_t *bits;    /* `words` per event */
  uint64_t event_count, digest_count, capacity;
  int has_failed;
};

/* ---------------------------------------------------------------------------------------------------- one run */

static int is_totals(const struct sl_run_output *o) { return o->totals != NULL; }

static uint32_t offsets_field(const struct sl_collection *c) {
  uint32_t f = 0;
  while (f < c->field_count && c->fields[f].shape != SL_SHAPE_CODE_OFFSETS) f++;
  return f;
}

static uint32_t field_named(const struct sl_collection *c, const char *name) {
  uint32_t f = 0;
  while (f < c->field_count && strcmp(c->fields[f].name, name) != 0) f++;
  return f;
}

static void add_names(struct side *s, const struct sl_run_output *o, uint32_t index) {
  struct names *n = &s->named[s->named_count++];
  *n = (struct names){.output = strdup(o->name),
                      .at = calloc(o->name_count + 1, sizeof *n->at),
                      .index = index,
                      .kind = o->naming->kind,
                      .offsets = offsets_field(o->collection),
                      .values = field_named(o->collection, o->naming->field),
                      .first_bit = s->words * WORD_BITS};
  s->has_failed |= !n->output || !n->at;
  for (uint32_t i = 0; n->at && i < o->name_count; i++) {
    n->at[i] = strdup(o->names[i]);
    s->has_failed |= !n->at[i];
    n->count++;
  }
  s->words += (o->name_count + WORD_BITS - 1) / WORD_BITS;
}

/* Copies the names of the outputs, which belong to the session. */
static void find_outputs(struct side *s) {
  const struct sl_run *run = sl_session_identity(s->session);
  s->named = calloc(run->output_count + 1, sizeof *s->named);
  s->outputs = calloc(run->output_count + 1, sizeof *s->outputs);
  s->has_failed |= !s->named || !s->outputs;
  for (uint32_t o = 0; !s->has_failed && o < run->output_count; o++) {
    const struct sl_run_output *output = &run->outputs[o];
    if (is_totals(output)) continue;
    s->outputs[s->output_count] = strdup(output->name);
    s->has_failed |= !s->outputs[s->output_count++];
    const uint32_t kind = output->naming ? output->naming->kind : SL_NAMES_NONE;
    if (kind == SL_NAMES_OF_BITS || kind == SL_NAMES_OF_INDICES) add_names(s, output, o);
  }
}

static void *grow(struct side *s, void *array, size_t entry_bytes) {
  void *larger = realloc(array, (2 * s->capacity + 1024) * (entry_bytes > 0 ? entry_bytes : 1));
  s->has_failed |= !larger;
  return larger ? larger : array;
}

/* Makes room for an event. */
static void make_room(struct side *s) {
  if (s->event_count < s->capacity) return;
  s->events = grow(s, s->events, sizeof *s->events);
  s->bits = grow(s, s->bits, s->words * sizeof *s->bits);
  s->digests = grow(s, s->digests, s->output_count * sizeof *s->digests);
  if (!s->has_failed) s->capacity = 2 * s->capacity + 1024;
}

/* Called for each output of an event, before on_batch. */
static void on_digest(void *context, const char *output, const struct sl_event *event, uint64_t digest) {
  (void)output;
  struct side *s = context;
  if (s->digest_count % s->output_count == 0) {
    make_room(s);
    if (s->has_failed) return;
    s->events[s->event_count] = (struct record){event->number, event->run, event->error};
    for (uint32_t w = 0; w < s->words; w++) s->bits[s->event_count * s->words + w] = 0;
    s->event_count++;
  }
  if (!s->has_failed) s->digests[s->digest_count++] = digest;
}

static void set_bit(uint32_t *bits, const struct names *n, uint32_t entry) {
  const uint32_t bit = n->first_bit + entry;
  if (entry < n->count) bits[bit / WORD_BITS] |= 1u << bit % WORD_BITS;
}

static int on_batch(void *context, const struct sl_batch *batch) {
  struct side *s = context;
  if (s->has_failed) return SL_ENOMEM;
  const uint64_t begin = s->event_count - batch->event_count; /* its digests came before */
  for (uint32_t g = 0; g < s->named_count; g++) {
    const struct names *n = &s->named[g];
    const uint32_t *offsets = batch->outputs[n->index].fields[n->offsets];
    const uint32_t *values = batch->outputs[n->index].fields[n->values];
    for (uint32_t e = 0; e < batch->event_count; e++) {
      uint32_t *bits = &s->bits[(begin + e) * s->words];
      if (batch->events[e].error) continue;
      for (uint32_t i = offsets[e]; i < offsets[e + 1]; i++) {
        const uint32_t first = (i - offsets[e]) * WORD_BITS;
        for (uint32_t b = 0; n->kind == SL_NAMES_OF_BITS && b < WORD_BITS; b++)
          if (values[i] >> b & 1) set_bit(bits, n, first + b);
        if (n->kind == SL_NAMES_OF_INDICES) set_bit(bits, n, values[i]);
      }
    }
  }
  return SL_OK;
}

/* Runs the graph; `text`: its summary as JSON, to be freed. */
static int run(struct side *s, const struct sl_options *options, char **text) {
  struct sl_options o = *options;
  struct sl_diagnostics *d = sl_diagnostics_new();
  size_t size = 0;
  if (!d) return cli_no_memory();
  o.context = s;
  o.digest = 2;
  o.on_event_digest = on_digest;
  o.on_batch = on_batch;
  o.output_is_optional = 1;
  int status = sl_session_open(&o, d, &s->session) == SL_OK ? CLI_OK : CLI_WRONG;
  if (status == CLI_OK) {
    find_outputs(s);
    if (s->output_count == 0) fprintf(stderr, "error: %s has no outputs of events to compare\n", s->name);
    if (s->output_count == 0) status = CLI_WRONG;
  }
  if (status == CLI_OK) {
    cli_stop_on_signal(s->session);
    status = sl_session_run(s->session) == SL_OK ? CLI_OK : CLI_FAILED;
    cli_stop_on_signal(NULL);
    FILE *file = open_memstream(text, &size);
    if (!file || sl_session_write_json(s->session, file) < 0) s->has_failed = 1;
    if (file) (void)fclose(file);
  }
  cli_print_messages(d, 0);
  sl_session_close(s->session);
  s->session = NULL;
  sl_diagnostics_free(d);
  return s->has_failed ? cli_no_memory() : status;
}

static void free_list(char **list) {
  for (char **text = list; text && *text; text++) free(*text);
  free((void *)list);
}

static void close_side(struct side *s) {
  for (uint32_t g = 0; s->named && g < s->named_count; g++) {
    free(s->named[g].output);
    free(s->named[g].others);
    free_list(s->named[g].at);
  }
  free(s->named);
  free_list(s->outputs);
  free(s->others);
  free(s->events);
  free(s->digests);
  free(s->bits);
}

/* ------------------------------------------------------------------------------------------------- comparison */

struct comparison {
  const struct side *a, *b;
  int all;
  uint64_t decisions, others, shown; /* events with other entries; with other values only */
  int with_entries;                  /* entries are compared: show events with other entries only */
};

static int has_bit(const struct side *s, uint64_t event, uint32_t bit) {
  return s->bits[event * s->words + bit / WORD_BITS] >> bit % WORD_BITS & 1;
}

/* The entries that differ; with `file` they are written. */
static uint32_t compare_entries(const struct comparison *c, uint64_t event, FILE *file) {
  uint32_t count = 0;
  for (uint32_t g = 0; g < c->a->named_count; g++) {
    const struct names *n = &c->a->named[g];
    for (uint32_t i = 0; i < n->count; i++) {
      if (n->others[i] == UINT32_MAX) continue;
      const int before = has_bit(c->a, event, n->first_bit + i), now = has_bit(c->b, event, n->others[i]);
      if (before == now) continue;
      count++;
      if (file) fprintf(file, " %c%s", now ? '+' : '-', n->at[i]);
    }
  }
  return count;
}

static uint32_t compare_values(const struct comparison *c, uint64_t event, FILE *file) {
  uint32_t count = 0;
  for (uint32_t o = 0; o < c->a->output_count; o++) {
    const uint32_t other = c->a->others[o];
    if (other == UINT32_MAX ||
        c->a->digests[event * c->a->output_count + o] == c->b->digests[event * c->b->output_count + other])
      continue;
    if (file) fprintf(file, "%s%s", count ? ", " : " other values: ", c->a->outputs[o]);
    count++;
  }
  return count;
}

static const char *error_text(uint32_t error) {
  static const char *const texts[] = {"none", "corrupt", "truncated", "too large", "overflow", "refused"};
  return error < sizeof texts / sizeof texts[0] ? texts[error] : "unknown";
}

static void compare_event(struct comparison *c, uint64_t event) {
  const struct record *x = &c->a->events[event], *y = &c->b->events[event];
  const int has_error = x->error != y->error;
  const uint32_t entries = compare_entries(c, event, NULL);
  const int is_decision = entries > 0 || has_error;
  if (!is_decision && compare_values(c, event, NULL) == 0) return;
  *(is_decision ? &c->decisions : &c->others) += 1;
  if (!is_decision && c->with_entries && !c->all) return;
  if (c->shown >= EVENTS_SHOWN && !c->all) return;
  if (c->shown++ == 0) printf("\nevent that changed\n");
  printf("run %u event %" PRIu64 ":", x->run, x->number);
  if (has_error) printf(" error %s -> %s", error_text(x->error), error_text(y->error));
  if (entries > 0)
    (void)compare_entries(c, event, stdout);
  else if (!has_error)
    (void)compare_values(c, event, stdout);
  printf("\n");
}

/* The bit of an entry, or UINT32_MAX. */
static uint32_t find_bit(const struct side *s, const char *output, const char *entry) {
  for (uint32_t g = 0; g < s->named_count; g++)
    for (uint32_t i = 0; strcmp(s->named[g].output, output) == 0 && i < s->named[g].count; i++)
      if (strcmp(s->named[g].at[i], entry) == 0) return s->named[g].first_bit + i;
  return UINT32_MAX;
}

static int find_others(struct side *a, const struct side *b) {
  a->others = calloc(a->output_count + 1, sizeof *a->others);
  if (!a->others) return cli_no_memory();
  for (uint32_t g = 0; g < a->named_count; g++) {
    struct names *n = &a->named[g];
    n->others = calloc(n->count + 1, sizeof *n->others);
    if (!n->others) return cli_no_memory();
    for (uint32_t i = 0; i < n->count; i++) n->others[i] = find_bit(b, n->output, n->at[i]);
  }
  for (uint32_t o = 0; o < a->output_count; o++) {
    a->others[o] = UINT32_MAX;
    for (uint32_t p = 0; p < b->output_count; p++)
      if (a->outputs[o] && b->outputs[p] && strcmp(a->outputs[o], b->outputs[p]) == 0) a->others[o] = p;
  }
  return CLI_OK;
}

static int compare_events(struct side *a, const struct side *b, int all) {
  struct comparison c = {.a = a, .b = b, .all = all, .with_entries = a->named_count > 0 && b->named_count > 0};
  const uint64_t count = a->event_count < b->event_count ? a->event_count : b->event_count;
  if (find_others(a, b) != CLI_OK) return CLI_FAILED;
  for (uint64_t e = 0; e < count; e++) {
    const struct record *x = &a->events[e], *y = &b->events[e];
    if (x->run != y->run || x->number != y->number) {
      fprintf(stderr,
              "error: event %" PRIu64 " is event %" PRIu64 " of run %u in the first graph, and event %" PRIu64
              " of run %u in the second: they do not read the same events\n",
              e, x->number, x->run, y->number, y->run);
      return CLI_WRONG;
    }
    compare_event(&c, e);
  }
  const uint64_t listed = c.with_entries && !all ? c.decisions : c.decisions + c.others;
  if (listed > c.shown) printf("%" PRIu64 " more: --all\n", listed - c.shown);
  printf("\n%" PRIu64 " of %" PRIu64 " %s %s other %s", c.decisions, count, sl_plural(count, "event", "events"),
         sl_plural(c.decisions, "has", "have"), c.with_entries ? "decisions" : "errors");
  printf("; %" PRIu64 " %s the same %s and other values\n", c.others, sl_plural(c.others, "has", "have"),
         c.with_entries ? "decisions" : "errors");
  if (a->event_count != b->event_count)
    printf("the first graph read %" PRIu64 " events, the second %" PRIu64 "\n", a->event_count, b->event_count);
  return c.decisions + c.others > 0 || a->event_count != b->event_count ? CLI_FAILED : CLI_OK;
}

static int read_summary(struct sl_document *s, const char *name, const char *text) {
  char reason[256];
  if (sl_document_read_text(s, name, text, strlen(text), reason, sizeof reason) == SL_OK) return CLI_OK;
  fprintf(stderr, "error: the summary of %s: %s\n", name, reason);
  return CLI_FAILED;
}

int cli_compare_graphs(const struct cli_arguments *a) {
  const char *first = a->operands.items[0], *second = a->operands.count > 1 ? a->operands.items[1] : first;
  struct side sides[2] = {{.name = first}, {.name = second}};
  struct sl_document documents[2] = {{0}, {0}};
  struct sl_options options[2] = {a->options, a->options};
  char *texts[2] = {NULL, NULL};
  int status = CLI_OK;
  if (a->operands.count == 1 && a->sets.count + a->uses.count + a->withs.count == 0) {
    fprintf(stderr, "error: give another graph, or what is to be changed: --set, --use or --with\n");
    return CLI_WRONG;
  }
  options[0].sets = options[0].uses = options[0].with_paths = NULL; /* they change the second graph */
  cli_catch_signals();
  for (int i = 0; i < 2 && status == CLI_OK; i++) {
    options[i].graph_path = sides[i].name;
    status = run(&sides[i], &options[i], &texts[i]);
    if (status == CLI_OK) status = texts[i] ? read_summary(&documents[i], sides[i].name, texts[i]) : CLI_FAILED;
  }
  cli_leave_signals();
  if (status == CLI_OK) status = cli_compare_documents(&documents[0], &documents[1], a->all != 0);
  if (status != CLI_WRONG && sides[1].event_count + sides[0].event_count > 0) {
    const int compared = compare_events(&sides[0], &sides[1], a->all != 0);
    if (compared != CLI_OK) status = compared;
  }
  for (int i = 0; i < 2; i++) {
    sl_document_close(&documents[i]);
    free(texts[i]);
    close_side(&sides[i]);
  }
  return status;
}
