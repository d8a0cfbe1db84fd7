/* graphs.c: `sluice compare A B`: runs two graphs over the same events, and compares them event by event.
 *
 * 1. Each graph is run with digests of every event. For each event its error, the digests of its outputs, and the
 *    entries of named outputs that it passes ("Hlt1TrackMVA") are kept (events.h).
 * 2. The summaries are compared like those of two files, then the events.
 */
#include "cli/cli.h"
#include "cli/compare/compare.h"
#include "cli/compare/events.h"

#include <sluice/plugin.h>

#include <stdlib.h>
#include <string.h>

enum { WORD_BITS = 32 };

/* A named output: bits or indices of its entries. */
struct names {
  uint32_t index, kind, offsets, values, count, first_entry;
};

struct side {
  const char *name;
  struct cli_events events;
  struct sl_session *session;
  struct names *named;
  uint32_t named_count;
  uint64_t digest_count;
};

/* ---------------------------------------------------------------------------------------------------- one run */

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
  s->named[s->named_count++] = (struct names){.index = index,
                                              .kind = o->naming->kind,
                                              .offsets = offsets_field(o->collection),
                                              .values = field_named(o->collection, o->naming->field),
                                              .count = o->name_count,
                                              .first_entry = s->events.entry_count};
  for (uint32_t i = 0; i < o->name_count; i++) cli_events_add_entry(&s->events, o->name, o->names[i]);
}

static void find_outputs(struct side *s) {
  const struct sl_run *run = sl_session_identity(s->session);
  s->named = calloc(run->output_count + 1, sizeof *s->named);
  s->events.has_failed |= !s->named;
  for (uint32_t o = 0; !s->events.has_failed && o < run->output_count; o++) {
    const struct sl_run_output *output = &run->outputs[o];
    if (output->totals) continue;
    cli_events_add_output(&s->events, output->name);
    const uint32_t kind = output->naming ? output->naming->kind : SL_NAMES_NONE;
    if (kind == SL_NAMES_OF_BITS || kind == SL_NAMES_OF_INDICES) add_names(s, output, o);
  }
}

/* Called for each output of an event, before on_batch. */
static void on_digest(void *context, const char *output, const struct sl_event *event, uint64_t digest) {
  (void)output;
  struct side *s = context;
  struct cli_events *e = &s->events;
  if (e->has_failed) return;
  if (s->digest_count % e->output_count == 0)
    cli_events_add(e, (struct cli_event){event->number, event->run, event->error});
  if (!e->has_failed) e->digests[s->digest_count++] = digest;
}

static void pass_entry(struct side *s, const struct names *n, uint64_t event, uint32_t entry) {
  if (entry < n->count) cli_events_pass(&s->events, event, n->first_entry + entry);
}

static int on_batch(void *context, const struct sl_batch *batch) {
  struct side *s = context;
  if (s->events.has_failed) return SL_ENOMEM;
  const uint64_t begin = s->events.count - batch->event_count; /* its digests came before */
  for (uint32_t g = 0; g < s->named_count; g++) {
    const struct names *n = &s->named[g];
    const uint32_t *offsets = batch->outputs[n->index].fields[n->offsets];
    const uint32_t *values = batch->outputs[n->index].fields[n->values];
    for (uint32_t e = 0; e < batch->event_count; e++) {
      for (uint32_t i = offsets[e]; !batch->events[e].error && i < offsets[e + 1]; i++) {
        const uint32_t first = (i - offsets[e]) * WORD_BITS;
        for (uint32_t b = 0; n->kind == SL_NAMES_OF_BITS && b < WORD_BITS; b++)
          if (values[i] >> b & 1) pass_entry(s, n, begin + e, first + b);
        if (n->kind == SL_NAMES_OF_INDICES) pass_entry(s, n, begin + e, values[i]);
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
    if (s->events.output_count == 0) fprintf(stderr, "error: %s has no outputs of events to compare\n", s->name);
    if (s->events.output_count == 0) status = CLI_WRONG;
  }
  if (status == CLI_OK) {
    cli_stop_on_signal(s->session);
    status = sl_session_run(s->session) == SL_OK ? CLI_OK : CLI_FAILED;
    cli_stop_on_signal(NULL);
    FILE *file = open_memstream(text, &size);
    if (!file || sl_session_write_json(s->session, file) < 0) s->events.has_failed = 1;
    if (file) (void)fclose(file);
  }
  cli_print_messages(d, 0);
  sl_session_close(s->session);
  s->session = NULL;
  sl_diagnostics_free(d);
  return s->events.has_failed ? cli_no_memory() : status;
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
  if (status != CLI_WRONG && sides[1].events.count + sides[0].events.count > 0) {
    const int compared = cli_events_compare(&sides[0].events, &sides[1].events, a->all != 0);
    if (compared != CLI_OK) status = compared;
  }
  for (int i = 0; i < 2; i++) {
    sl_document_close(&documents[i]);
    free(texts[i]);
    cli_events_free(&sides[i].events);
    free(sides[i].named);
  }
  return status;
}
