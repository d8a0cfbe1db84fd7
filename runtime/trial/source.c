/* source.c: reads a source twice, and in slices of one event; the events must be equal. The source must stay within the
 * room it gets, and leave an event that does not fit for the next slice.
 */
#include "layout/bind.h"
#include "observe/validity.h"
#include "trial/trial.h"

#include <sluice/text.h>

#include <stdlib.h>
#include <string.h>

enum { OTHER_POISON = 0x5A, NO_LIMIT = UINT32_MAX };

/* One pass over the input: guarded memory, and the arguments that point to it. */
struct reading {
  const struct trial_run *run;
  struct sl_child *log;
  const struct sl_algorithm *algorithm;
  void *state;
  unsigned char *args;
  struct sl_guarded **fields; /* per member and field */
  uint32_t *used;             /* SL_BOUNDS_MAX per member */
  struct sl_event *events;
};

static void close_memory(struct reading *r) {
  for (uint32_t m = 0; m < r->algorithm->member_count; m++)
    for (uint32_t f = 0; r->fields[m] && f < r->algorithm->members[m].collection->field_count; f++)
      sl_guarded_free(&r->fields[m][f]);
}

/* Binds outputs with the capacities of the graph; one bound of `short_member` has room for one entry less than
 * `filled`. */
static void bind(struct reading *r, int poison, uint32_t short_member, uint32_t short_bound, uint32_t filled) {
  const struct sl_session *s = r->run->session;
  const struct sl_node *node = &sl_session_graph(s)->nodes[r->run->node];
  sl_graph_fill_properties(node, r->args);
  memset(r->used, 0, SL_BOUNDS_MAX * sizeof *r->used * r->algorithm->member_count);
  for (uint32_t m = 0; m < r->algorithm->member_count; m++) {
    const struct sl_member *member = &r->algorithm->members[m];
    if (member->kind != SL_MEMBER_OUT) continue;
    const struct sl_slot_member *at = &sl_session_layout(s)->members[r->run->node][m];
    uint64_t capacities[SL_BOUNDS_MAX];
    memcpy(capacities, at->capacities, sizeof capacities);
    if (m == short_member) capacities[short_bound] = filled - 1;
    for (uint32_t f = 0; f < member->collection->field_count; f++) {
      const struct sl_field *field = &member->collection->fields[f];
      if (at->storage[f] == SL_NONE || sl_session_layout(s)->storage[at->storage[f]].upper == 0)
        continue; /* the field has no reader */
      const uint64_t values =
          sl_collection_values(member->collection, f, sl_session_setup(s)->slice_events, capacities);
      r->fields[m][f] = test_guarded((size_t)(values * sl_type_bytes(field->type)), poison, poison);
      *sl_args_pointer(r->args, member, f) = r->fields[m][f].values;
    }
    for (uint32_t b = 0; b < sl_bound_count(member->collection); b++)
      *sl_args_bound(r->args, member, b) = (struct sl_bound){
          (uint32_t)capacities[b], (uint32_t)(at->limits[b] < capacities[b] ? at->limits[b] : capacities[b]),
          &r->used[SL_BOUNDS_MAX * m + b], 0};
  }
}

static void check_memory(const struct reading *r) {
  for (uint32_t m = 0; m < r->algorithm->member_count; m++)
    for (uint32_t f = 0; r->fields[m] && f < r->algorithm->members[m].collection->field_count; f++) {
      char damage[64];
      if (sl_guarded_is_damaged(&r->fields[m][f], damage, sizeof damage))
        sl_child_wrong(r->log, "%s.%s was written %s", r->algorithm->members[m].name,
                       r->algorithm->members[m].collection->fields[f].name, damage);
    }
}

static void open_reading(struct reading *r) {
  const struct sl_session *s = r->run->session;
  char reason[256];
  r->state = trial_source_open(s, reason, sizeof reason);
  if (!r->state)
    sl_child_not_run(r->log, "%s: %s", r->run->graph->shown, *trial_first_error(s) ? trial_first_error(s) : reason);
  r->args = test_allocate(1, r->algorithm->args_size);
  r->fields = test_allocate(r->algorithm->member_count, sizeof *r->fields);
  r->used = test_allocate(SL_BOUNDS_MAX * r->algorithm->member_count, sizeof *r->used);
  r->events = test_allocate(sl_session_setup(s)->slice_events, sizeof *r->events);
  for (uint32_t m = 0; m < r->algorithm->member_count; m++)
    if (r->algorithm->members[m].kind == SL_MEMBER_OUT)
      r->fields[m] = test_allocate(r->algorithm->members[m].collection->field_count, sizeof **r->fields);
}

/* Reads the next slice, of at most `events_max` events. */
static struct trial_outcome *fill(struct reading *r, uint32_t events_max) {
  const struct sl_session *s = r->run->session;
  struct sl_fill fill = {.events_max = events_max, .events = r->events};
  const int status =
      r->algorithm->source->fill(r->state, &sl_session_setup(s)->contexts[r->run->node]->services, r->args, &fill);
  if (status < 0) sl_child_wrong(r->log, "fill returned %d (%s)", status, sl_error_text(status));
  if (fill.event_count > events_max)
    sl_child_wrong(r->log, "fill made %u events, but at most %u were requested", fill.event_count, events_max);
  check_memory(r);
  struct trial_outcome *o = trial_observe_args(r->algorithm, r->args, fill.event_count, r->log);
  const struct sl_validity validity = {r->algorithm, r->args, fill.event_count, SL_NO_POISON, o->is_listed, NULL, 0};
  char text[512];
  for (uint32_t m = 0; m < r->algorithm->member_count; m++)
    if (r->algorithm->members[m].kind == SL_MEMBER_OUT &&
        !sl_filled_is_valid(&validity, m, r->used[SL_BOUNDS_MAX * m], text, sizeof text))
      sl_child_wrong(r->log, "%s", text);
  for (uint32_t e = 0; e < fill.event_count; e++) o->errors[e] = r->events[e].error;
  return o;
}

static void end_reading(struct reading *r) {
  if (r->algorithm->source->close) r->algorithm->source->close(r->state);
  close_memory(r);
}

static struct trial_outcome *read_whole(struct reading *r, const char *what, int poison) {
  sl_child_stage(r->log, "%s", what);
  open_reading(r);
  bind(r, poison, NO_LIMIT, 0, 0);
  struct trial_outcome *o = fill(r, sl_session_setup(r->run->session)->slice_events);
  end_reading(r);
  return o;
}

static void read_single(struct reading *r, const struct trial_outcome *first) {
  sl_child_stage(r->log, "one event per slice");
  open_reading(r);
  for (uint32_t e = 0; e < first->event_count; e++) {
    close_memory(r);
    bind(r, SL_POISON, NO_LIMIT, 0, 0);
    const struct trial_outcome *o = fill(r, 1);
    if (o->event_count != 1) sl_child_wrong(r->log, "the source ends after %u events, not %u", e, first->event_count);
    trial_compare(first, o, &e, 0, r->log);
  }
  end_reading(r);
}

static void read_short(struct reading *r, const struct trial_outcome *first, uint32_t m, uint32_t bound) {
  const uint32_t filled = bound ? r->used[SL_BOUNDS_MAX * m + bound] : (uint32_t)first->ports[m].bounds[0];
  char name[160];
  if (filled == 0) return;
  sl_bound_name(&r->algorithm->members[m], bound, name, sizeof name);
  sl_child_stage(r->log, "with room for %u %s of %s, one less than it filled", filled - 1, bound ? "subitems" : "items",
                 name);
  open_reading(r);
  bind(r, SL_POISON, m, bound, filled);
  const struct trial_outcome *o = fill(r, sl_session_setup(r->run->session)->slice_events);
  int is_refused = 0; /* an event that does not fit even alone must have an error */
  for (uint32_t e = 0; e < o->event_count; e++) is_refused |= o->errors[e] != first->errors[e];
  if (o->event_count == first->event_count && !is_refused)
    sl_child_wrong(r->log, "it made all %u events, although they do not fit", o->event_count);
  if (!is_refused) trial_compare(first, o, NULL, 0, r->log);
  end_reading(r);
}

void trial_run_source(void *context, struct sl_child *log) {
  const struct trial_run *run = context;
  struct reading r = {.run = run, .log = log, .algorithm = sl_session_graph(run->session)->nodes[run->node].algorithm};
  const struct trial_outcome *first = read_whole(&r, "as in the graph", SL_POISON);
  uint32_t good = 0;
  for (uint32_t e = 0; e < first->event_count; e++) good += first->errors[e] == SL_EVENT_OK;
  if (good == 0) sl_child_not_run(log, "%s: it has no good event among %u", run->graph->shown, first->event_count);
  const size_t words = SL_BOUNDS_MAX * r.algorithm->member_count;
  uint32_t *used = test_allocate(words, sizeof *used);
  memcpy(used, r.used, words * sizeof *used);
  trial_compare(first, read_whole(&r, "read a second time, into memory with other bytes", OTHER_POISON), NULL, 1, log);
  read_single(&r, first);
  for (uint32_t m = 0; m < r.algorithm->member_count; m++)
    for (uint32_t b = 0; r.algorithm->members[m].kind == SL_MEMBER_OUT && b < SL_BOUNDS_MAX; b++) {
      r.used = used;
      read_short(&r, first, m, b);
    }
  snprintf(log->text, sizeof log->text, "%u %s of %s, node %s", first->event_count,
           sl_plural(first->event_count, "event", "events"), run->graph->shown, run->graph->node);
}
