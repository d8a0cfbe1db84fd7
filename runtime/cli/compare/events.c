/* events.c: see events.h. Events of two runs are compared in their order: both must have read the same ones. An entry
 * that only one run has is no change of an event.
 */
#include "cli/compare/events.h"

#include "cli/cli.h"

#include <sluice/plugin.h>
#include <sluice/text.h>

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { EVENTS_SHOWN = 20, WORD_BITS = 32 };

/* ------------------------------------------------------------------------------------------------------ adding */

/* Makes `array` longer by `bytes` at its end `at`; the new part is zero. */
static void *longer(struct cli_events *e, void *array, size_t at, size_t bytes) {
  unsigned char *grown = realloc(array, at + bytes);
  e->has_failed |= !grown;
  if (grown) memset(grown + at, 0, bytes);
  return grown ? grown : array;
}

void cli_events_add_output(struct cli_events *e, const char *name) {
  e->outputs = longer(e, (void *)e->outputs, e->output_count * sizeof *e->outputs, 2 * sizeof *e->outputs);
  if (e->has_failed) return;
  e->outputs[e->output_count] = strdup(name);
  e->outputs[e->output_count + 1] = NULL;
  e->has_failed |= !e->outputs[e->output_count++];
}

void cli_events_add_entry(struct cli_events *e, const char *output, const char *name) {
  e->entries = longer(e, e->entries, e->entry_count * sizeof *e->entries, sizeof *e->entries);
  if (e->has_failed) return;
  struct cli_entry *entry = &e->entries[e->entry_count++];
  *entry = (struct cli_entry){strdup(output), strdup(name)};
  e->has_failed |= !entry->output || !entry->name;
  e->words = (e->entry_count + WORD_BITS - 1) / WORD_BITS;
}

static void *grow(struct cli_events *e, void *array, size_t entry_bytes) {
  void *larger = realloc(array, (2 * e->capacity + 1024) * (entry_bytes > 0 ? entry_bytes : 1));
  e->has_failed |= !larger;
  return larger ? larger : array;
}

void cli_events_add(struct cli_events *e, struct cli_event event) {
  if (e->count == e->capacity) {
    e->events = grow(e, e->events, sizeof *e->events);
    e->bits = grow(e, e->bits, e->words * sizeof *e->bits);
    e->digests = grow(e, e->digests, e->output_count * sizeof *e->digests);
    if (e->has_failed) return;
    e->capacity = 2 * e->capacity + 1024;
  }
  e->events[e->count] = event;
  memset(e->bits + e->count * e->words, 0, e->words * sizeof *e->bits);
  memset(e->digests + e->count * e->output_count, 0, e->output_count * sizeof *e->digests);
  e->count++;
}

void cli_events_pass(struct cli_events *e, uint64_t event, uint32_t entry) {
  if (entry < e->entry_count) e->bits[event * e->words + entry / WORD_BITS] |= 1u << entry % WORD_BITS;
}

void cli_events_free(struct cli_events *e) {
  for (uint32_t o = 0; o < e->output_count; o++) free(e->outputs[o]);
  for (uint32_t i = 0; i < e->entry_count; i++) {
    free(e->entries[i].output);
    free(e->entries[i].name);
  }
  free((void *)e->outputs);
  free(e->entries);
  free(e->events);
  free(e->digests);
  free(e->bits);
  *e = (struct cli_events){0};
}

/* ----------------------------------------------------------------------------------------------------- reading */

/* Reads an integer of base 10 or 16. Returns 0 if it is none, or larger than `maximum`. */
static int read_number(const yaml_node_t *node, int base, uint64_t maximum, uint64_t *value) {
  const char *text = sl_document_text(node);
  char *end = NULL;
  if (!text || *text == '-' || *text == '+' || *text == ' ') return 0;
  errno = 0;
  *value = strtoull(text, &end, base);
  return *text && *end == 0 && errno == 0 && *value <= maximum;
}

/* Returns 0 if the event is malformed. */
static int read_event(struct cli_events *e, struct sl_document *d, const yaml_node_t *node) {
  uint64_t run, number, error, value;
  const yaml_node_t *digests = sl_document_item(d, node, 3), *entries = sl_document_item(d, node, 4);
  if (!read_number(sl_document_item(d, node, 0), 10, UINT32_MAX, &run) ||
      !read_number(sl_document_item(d, node, 1), 10, UINT64_MAX, &number) ||
      !read_number(sl_document_item(d, node, 2), 10, UINT32_MAX, &error))
    return 0;
  if (sl_document_length(digests) != e->output_count) return 0;
  cli_events_add(e, (struct cli_event){number, (uint32_t)run, (uint32_t)error});
  for (size_t o = 0; !e->has_failed && o < e->output_count; o++) {
    if (!read_number(sl_document_item(d, digests, o), 16, UINT64_MAX, &value)) return 0;
    e->digests[(e->count - 1) * e->output_count + o] = value;
  }
  for (size_t i = 0; !e->has_failed && i < sl_document_length(entries); i++) {
    if (e->entry_count == 0 || !read_number(sl_document_item(d, entries, i), 10, e->entry_count - 1, &value)) return 0;
    cli_events_pass(e, e->count - 1, (uint32_t)value);
  }
  return 1;
}

static int malformed(const struct sl_document *d, const char *what, size_t index) {
  fprintf(stderr, "error: %s: event_records.%s[%zu] is not as `sluice run --digest=events --json` writes it\n", d->path,
          what, index);
  return CLI_WRONG;
}

int cli_events_read(struct cli_events *e, struct sl_document *d) {
  const yaml_node_t *records = sl_document_member(d, sl_document_root(d), "event_records");
  const yaml_node_t *outputs = sl_document_member(d, records, "outputs");
  const yaml_node_t *entries = sl_document_member(d, records, "entries");
  const yaml_node_t *events = sl_document_member(d, records, "events");
  for (size_t i = 0; !e->has_failed && i < sl_document_length(outputs); i++) {
    const char *name = sl_document_text(sl_document_item(d, outputs, i));
    if (!name) return malformed(d, "outputs", i);
    cli_events_add_output(e, name);
  }
  for (size_t i = 0; !e->has_failed && i < sl_document_length(entries); i++) {
    const yaml_node_t *entry = sl_document_item(d, entries, i);
    const char *output = sl_document_text(sl_document_item(d, entry, 0));
    const char *name = sl_document_text(sl_document_item(d, entry, 1));
    if (!output || !name) return malformed(d, "entries", i);
    cli_events_add_entry(e, output, name);
  }
  for (size_t i = 0; !e->has_failed && i < sl_document_length(events); i++)
    if (!read_event(e, d, sl_document_item(d, events, i))) return malformed(d, "events", i);
  return e->has_failed ? cli_no_memory() : CLI_OK;
}

/* --------------------------------------------------------------------------------------------------- comparing */

struct comparison {
  const struct cli_events *a, *b;
  uint32_t *entries, *outputs; /* index in b of each entry and output of a, or UINT32_MAX */
  int all;
  uint64_t decisions, others, shown; /* events with other entries; with other values only */
  int with_entries;                  /* entries are compared: show events with other entries only */
};

static int passes(const struct cli_events *e, uint64_t event, uint32_t entry) {
  return e->bits[event * e->words + entry / WORD_BITS] >> entry % WORD_BITS & 1;
}

/* The entries that differ; with `file` they are written. */
static uint32_t compare_entries(const struct comparison *c, uint64_t event, FILE *file) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < c->a->entry_count; i++) {
    if (c->entries[i] == UINT32_MAX) continue;
    const int before = passes(c->a, event, i), now = passes(c->b, event, c->entries[i]);
    if (before == now) continue;
    count++;
    if (file) fprintf(file, " %c%s", now ? '+' : '-', c->a->entries[i].name);
  }
  return count;
}

static uint32_t compare_values(const struct comparison *c, uint64_t event, FILE *file) {
  uint32_t count = 0;
  for (uint32_t o = 0; o < c->a->output_count; o++) {
    const uint32_t other = c->outputs[o];
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
  const struct cli_event *x = &c->a->events[event], *y = &c->b->events[event];
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

/* Finds the entries and outputs of `a` in `b`. */
static int match_names(struct comparison *c) {
  const struct cli_events *a = c->a, *b = c->b;
  c->entries = calloc(a->entry_count + 1, sizeof *c->entries);
  c->outputs = calloc(a->output_count + 1, sizeof *c->outputs);
  if (!c->entries || !c->outputs) return cli_no_memory();
  for (uint32_t i = 0; i < a->entry_count; i++) {
    uint32_t k = 0;
    while (k < b->entry_count && (strcmp(a->entries[i].name, b->entries[k].name) != 0 ||
                                  strcmp(a->entries[i].output, b->entries[k].output) != 0))
      k++;
    c->entries[i] = k < b->entry_count ? k : UINT32_MAX;
  }
  for (uint32_t o = 0; o < a->output_count; o++) {
    uint32_t k = 0;
    while (k < b->output_count && strcmp(a->outputs[o], b->outputs[k]) != 0) k++;
    c->outputs[o] = k < b->output_count ? k : UINT32_MAX;
  }
  return CLI_OK;
}

static int compare(struct comparison *c) {
  const struct cli_events *a = c->a, *b = c->b;
  const uint64_t count = a->count < b->count ? a->count : b->count;
  for (uint64_t e = 0; e < count; e++) {
    const struct cli_event *x = &a->events[e], *y = &b->events[e];
    if (x->run != y->run || x->number != y->number) {
      fprintf(stderr,
              "error: event %" PRIu64 " is event %" PRIu64 " of run %u in the first run, and event %" PRIu64
              " of run %u in the second: they did not read the same events\n",
              e, x->number, x->run, y->number, y->run);
      return CLI_WRONG;
    }
    compare_event(c, e);
  }
  const uint64_t listed = c->with_entries && !c->all ? c->decisions : c->decisions + c->others;
  if (listed > c->shown) printf("%" PRIu64 " more: --all\n", listed - c->shown);
  printf("\n%" PRIu64 " of %" PRIu64 " %s %s other %s", c->decisions, count, sl_plural(count, "event", "events"),
         sl_plural(c->decisions, "has", "have"), c->with_entries ? "decisions" : "errors");
  printf("; %" PRIu64 " %s the same %s and other values\n", c->others, sl_plural(c->others, "has", "have"),
         c->with_entries ? "decisions" : "errors");
  if (a->count != b->count)
    printf("the first run read %" PRIu64 " events, the second %" PRIu64 "\n", a->count, b->count);
  return c->decisions + c->others > 0 || a->count != b->count ? CLI_FAILED : CLI_OK;
}

int cli_events_compare(const struct cli_events *a, const struct cli_events *b, int all) {
  struct comparison c = {.a = a, .b = b, .all = all, .with_entries = a->entry_count > 0 && b->entry_count > 0};
  int status = match_names(&c);
  if (status == CLI_OK) status = compare(&c);
  free(c.entries);
  free(c.outputs);
  return status;
}
