/* drawings.c: draws events on request. A server requests drawings from its threads; sinks draw in the delivery of a
 * batch, where the data of its events are.
 *   1. A request names a sink and, optionally, an entry of a named output: "Hlt1TrackMVA". There are at most
 *      SL_DRAWING_REQUESTS; a further one replaces the one that was repeated least recently.
 *   2. For each request that is due, the newest event of the batch that passes the entry is drawn.
 *   3. The next drawing is due after a second, or later: all drawings together take at most 1 % of the time. The time
 *      belongs to the place of a request, so that replacing requests gives no more drawings.
 * Cost: an atomic load per batch if there is no request.
 */
#include "results/drawings.h"

#include "base/clock.h"
#include "base/received_text.h"
#include "execute/delivery.h"
#include "results/identity.h"

#include <stdlib.h>
#include <string.h>

#define SECOND_NS ((uint64_t)1000000000)
enum { PERIODS = 100 /* a drawing of t ns is followed by at least 100 t without one */ };

static int is_same(const struct sl_drawing_key *a, const struct sl_drawing_key *b) {
  return a->drawer == b->drawer && a->group == b->group && a->name == b->name;
}

/* ------------------------------------------------------------------------------------------------ requests */

void sl_drawing_release(struct sl_drawing *drawing) {
  if (!drawing || atomic_fetch_sub(&drawing->users, 1) > 1) return;
  free(drawing->text);
  free(drawing);
}

/* Sets the key for these names. Returns 0, SL_EINVAL or SL_EPLUGIN. */
static int find_key(struct sl_drawings *d, const char *sink, const char *name, struct sl_drawing_key *key) {
  int status = SL_EINVAL;
  *key = (struct sl_drawing_key){0, SL_DRAWING_ANY, 0};
  for (uint32_t i = 0; i < d->drawer_count && status != SL_OK; i++) {
    if (sink && strcmp(sink, d->drawers[i].name) != 0) continue;
    status = atomic_load(&d->drawers[i].has_failed) ? SL_EPLUGIN : SL_OK;
    key->drawer = i;
  }
  for (uint32_t g = 0; name && g < d->group_count; g++)
    for (uint32_t k = 0; k < d->names[g].count; k++)
      if (key->group == SL_DRAWING_ANY && strcmp(name, d->names[g].names[k]) == 0) {
        key->group = g;
        key->name = k;
      }
  return name && status == SL_OK && key->group == SL_DRAWING_ANY ? SL_EINVAL : status;
}

/* The request with this key, a free place, or the request that was repeated least recently. */
static struct sl_drawing_request *find_place(struct sl_drawings *d, const struct sl_drawing_key *key) {
  struct sl_drawing_request *best = &d->requests[0];
  for (uint32_t i = 0; i < SL_DRAWING_REQUESTS; i++) {
    struct sl_drawing_request *r = &d->requests[i];
    if (r->is_live && is_same(&r->key, key)) return r;
    if (r->is_live != best->is_live ? best->is_live
        : r->is_live                ? r->requested_ns < best->requested_ns
                                    : r->due_ns < best->due_ns)
      best = r;
  }
  return best;
}

/* Ends a request. Its time of the next drawing stays. */
static void end_request(struct sl_drawings *d, struct sl_drawing_request *r) {
  if (!r->is_live) return;
  sl_drawing_release(r->newest);
  r->newest = NULL;
  r->is_live = 0;
  atomic_fetch_sub(&d->live, 1);
}

int sl_drawings_request(struct sl_drawings *d, const char *sink, const char *name, uint64_t after,
                        struct sl_drawing **drawing) {
  struct sl_drawing_key key;
  *drawing = NULL;
  const int status = find_key(d, sink, name, &key);
  if (status < 0) return status;
  pthread_mutex_lock(&d->lock);
  struct sl_drawing_request *r = find_place(d, &key);
  if (r->is_live && !is_same(&r->key, &key)) end_request(d, r);
  if (!r->is_live) atomic_fetch_add(&d->live, 1);
  r->is_live = 1;
  r->key = key;
  r->requested_ns = d->clock();
  if (r->newest && r->newest->serial > after) {
    *drawing = r->newest;
    atomic_fetch_add(&r->newest->users, 1);
  }
  pthread_mutex_unlock(&d->lock);
  return *drawing != NULL;
}

/* ------------------------------------------------------------------------------------------------ drawing */

/* A request that is due: its place and its key. */
struct due {
  uint32_t place;
  struct sl_drawing_key key;
};

/* 1 if the event passes the entry. */
static int passes(const struct sl_drawings *d, const struct sl_batch *batch, uint32_t event,
                  const struct sl_drawing_key *key) {
  if (key->group == SL_DRAWING_ANY) return 1;
  const struct sl_drawing_names *n = &d->names[key->group];
  const uint32_t *offsets = batch->outputs[n->output].fields[n->offsets_field];
  const uint32_t *values = batch->outputs[n->output].fields[n->values_field];
  const uint32_t first = offsets[event], end = offsets[event + 1];
  if (n->kind == SL_NAMES_OF_BITS)
    return key->name / 32 < end - first && values[first + key->name / 32] >> key->name % 32 & 1;
  for (uint32_t i = first; i < end; i++)
    if (values[i] == key->name) return 1;
  return 0;
}

/* The newest selected event without error that passes the entry, or UINT32_MAX. */
static uint32_t newest_event(const struct sl_drawings *d, const struct sl_batch *batch,
                             const struct sl_drawing_key *key) {
  for (uint32_t i = SL_BATCH_COUNT(batch); i > 0; i--) {
    const uint32_t event = SL_BATCH_EVENT(batch, i - 1);
    if (batch->events[event].error == SL_EVENT_OK && passes(d, batch, event, key)) return event;
  }
  return UINT32_MAX;
}

/* The drawing of an event, or NULL after a warning or if the sink drew nothing. */
static struct sl_drawing *draw(struct sl_drawings *d, struct sl_slot *slot, const struct sl_batch *batch,
                               uint32_t event, struct sl_drawer *drawer) {
  struct sl_setup *s = d->setup;
  const struct sl_node *node = &s->graph->nodes[drawer->node];
  const struct sl_event *about = &batch->events[event];
  struct sl_received_text text = {0};
  const struct sl_text_calls calls = sl_received_text_calls(&text);
  const struct sl_scope scope = sl_scope_begin(slot, SL_ACTIVITY_OF_NODE(drawer->node));
  const int status = node->algorithm->sink->draw(s->states[drawer->node], &s->contexts[drawer->node]->services,
                                                 slot->sink_args[drawer->node], batch, event, &calls);
  sl_scope_end_span(slot, scope, node->name, "drawn event", about->number);
  struct sl_drawing *drawing = text.bytes > 0 && status >= 0 ? calloc(1, sizeof *drawing) : NULL;
  if (text.dropped || (text.bytes > 0 && status >= 0 && !drawing)) {
    atomic_fetch_add(&drawer->dropped, 1);
    sl_diagnose_often(s->diagnostics, SL_WARNING, &node->location, node->name, NULL, "drawing dropped",
                      "the drawing of run %u event %llu was dropped: %s", about->run, (unsigned long long)about->number,
                      text.dropped ? text.dropped : sl_error_text(SL_ENOMEM));
  } else if (status < 0) {
    atomic_store(&drawer->has_failed, 1);
    sl_diagnose(s->diagnostics, SL_WARNING, &node->location, node->name, NULL,
                "could not draw run %u event %llu: %s; it draws no more events", about->run,
                (unsigned long long)about->number, sl_error_text(status));
  }
  if (!drawing) {
    free(text.text);
    return NULL;
  }
  drawing->event = about->number;
  drawing->run = about->run;
  drawing->bytes = text.bytes;
  drawing->text = text.text;
  atomic_init(&drawing->users, 1);
  atomic_fetch_add(&drawer->drawings, 1);
  return drawing;
}

/* Sets when the next drawing of the place is due. Stores the drawing, if there is one and if it is still requested. */
static void store(struct sl_drawings *d, const struct due *due, struct sl_drawing *drawing, uint64_t begin_ns) {
  struct sl_drawing_request *r = &d->requests[due->place];
  pthread_mutex_lock(&d->lock);
  const uint64_t now = d->clock(), pause = PERIODS * atomic_load(&d->live) * (now - begin_ns);
  r->due_ns = now + (pause > SECOND_NS ? pause : SECOND_NS);
  if (drawing && r->is_live && is_same(&r->key, &due->key)) {
    drawing->serial = ++d->serial;
    drawing->drawn_ns = now;
    sl_drawing_release(r->newest);
    r->newest = drawing;
    drawing = NULL;
  }
  pthread_mutex_unlock(&d->lock);
  sl_drawing_release(drawing);
}

/* Ends a request that was not repeated, or that has a sink that failed. Copies the requests that are due. */
static uint32_t take_due(struct sl_drawings *d, struct due due[SL_DRAWING_REQUESTS]) {
  uint32_t count = 0;
  pthread_mutex_lock(&d->lock);
  const uint64_t now = d->clock();
  for (uint32_t i = 0; i < SL_DRAWING_REQUESTS; i++) {
    struct sl_drawing_request *r = &d->requests[i];
    if (!r->is_live) continue;
    if (now > r->requested_ns + SL_DRAWING_SECONDS * SECOND_NS || atomic_load(&d->drawers[r->key.drawer].has_failed))
      end_request(d, r);
    else if (now >= r->due_ns)
      due[count++] = (struct due){i, r->key};
  }
  pthread_mutex_unlock(&d->lock);
  return count;
}

static int deliver(void *context, struct sl_slot *slot, const struct sl_batch *whole, int empty) {
  struct sl_drawings *d = context;
  struct due due[SL_DRAWING_REQUESTS];
  if (empty || atomic_load_explicit(&d->live, memory_order_relaxed) == 0) return SL_OK;
  const uint32_t count = take_due(d, due);
  for (uint32_t i = 0; i < count; i++) {
    struct sl_drawer *drawer = &d->drawers[due[i].key.drawer];
    struct sl_batch batch = *whole;
    sl_select_events(slot, drawer->node, empty, &batch);
    const uint32_t event = newest_event(d, &batch, &due[i].key);
    if (event == UINT32_MAX || atomic_load(&drawer->has_failed)) continue;
    const uint64_t begin = d->clock();
    store(d, &due[i], draw(d, slot, &batch, event, drawer), begin);
  }
  return SL_OK;
}

const struct sl_observer_calls sl_drawings_observer = {.deliver = deliver};

/* ------------------------------------------------------------------------------------------ opening, closing */

static uint32_t field_of(const struct sl_collection *c, uint32_t shape, const char *name) {
  for (uint32_t f = 0; f < c->field_count; f++)
    if (c->fields[f].shape == shape && (!name || strcmp(c->fields[f].name, name) == 0)) return f;
  return UINT32_MAX;
}

static void add_names(struct sl_drawings *d, const struct sl_run_output *from, uint32_t output) {
  if (!from->naming || (from->naming->kind != SL_NAMES_OF_BITS && from->naming->kind != SL_NAMES_OF_INDICES)) return;
  d->names[d->group_count++] =
      (struct sl_drawing_names){.label = from->naming->label,
                                .names = from->names,
                                .count = from->name_count,
                                .kind = from->naming->kind,
                                .output = output,
                                .values_field = field_of(from->collection, SL_SHAPE_CODE_PER_ITEM, from->naming->field),
                                .offsets_field = field_of(from->collection, SL_SHAPE_CODE_OFFSETS, NULL)};
}

int sl_drawings_open(struct sl_drawings *d, struct sl_setup *s, const struct sl_identity *identity) {
  d->drawers = calloc(s->graph->order_count + 1, sizeof *d->drawers);
  d->names = calloc(identity->run.output_count + 1, sizeof *d->names);
  if (!d->drawers || !d->names) return SL_ENOMEM;
  for (uint32_t i = 0; i < s->graph->order_count; i++) {
    const uint32_t n = s->graph->order[i];
    const struct sl_algorithm *a = s->graph->nodes[n].algorithm;
    if (a->kind != SL_KIND_SINK || !a->sink->draw) continue;
    d->drawers[d->drawer_count].name = s->graph->nodes[n].name;
    d->drawers[d->drawer_count++].node = n;
  }
  for (uint32_t o = 0; o < identity->run.output_count; o++) add_names(d, &identity->run.outputs[o], o);
  d->clock = sl_now_ns;
  pthread_mutex_init(&d->lock, NULL);
  d->setup = s;
  return SL_OK;
}

void sl_drawings_close(struct sl_drawings *d) {
  for (uint32_t i = 0; i < SL_DRAWING_REQUESTS; i++) sl_drawing_release(d->requests[i].newest);
  if (d->setup) pthread_mutex_destroy(&d->lock);
  free(d->drawers);
  free(d->names);
  memset(d, 0, sizeof *d); /* it may be opened again */
}
