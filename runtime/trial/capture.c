/* capture.c: what a node gets. The session runs with a look at each step: steps that the node does not need are left
 * out, and when the node's turn comes, all that its arguments point to is copied. The slice ends there. Of a node that
 * runs on a list, the slice with most events on it is kept.
 */
#include "execute/bind.h"
#include "trial/case.h"

#include <stdlib.h>
#include <string.h>

enum { SLICES_MAX = 100, ENOUGH_EVENTS = 4 };

struct capture {
  const struct sl_session *session;
  uint32_t node;
  uint8_t *needed; /* per node */
  struct trial_case *result;
  uint32_t captured;
};

static void *copy_of(const void *values, uint64_t bytes) {
  void *copy = test_allocate((size_t)bytes + 1, 1);
  if (bytes) memcpy(copy, values, (size_t)bytes);
  return copy;
}

/* ------------------------------------------------------------------------------------------------- copying */

static const void *storage_pointer(const struct sl_slot *slot, const struct sl_flight *flight, int32_t storage) {
  const struct sl_storage *at = &slot->session->layout->storage[storage];
  return at->kind == SL_STORAGE_INPUT ? flight->input->block + at->offset : slot->storage[storage];
}

/* Does the node get that storage, read or through an output that shares it? Otherwise it may have died. */
static int is_alive(const struct sl_session *s, uint32_t n, int32_t storage) {
  const struct sl_node *node = &s->graph->nodes[n];
  for (uint32_t m = 0; m < node->algorithm->member_count; m++) {
    const struct sl_member *member = &node->algorithm->members[m];
    const struct sl_slot_member *at = &s->layout->members[n][m];
    if (member->kind != SL_MEMBER_IN && member->kind != SL_MEMBER_OUT) continue;
    for (uint32_t k = 0; k < at->entry_count; k++)
      for (uint32_t f = 0; f < member->collection->field_count; f++)
        if (at->entries[k].storage[f] == storage) return 1;
  }
  return 0;
}

/* An input of a node; of a list port, one of its entries. */
struct feed {
  uint32_t node, member;
  struct sl_port from;
  const struct sl_slot_member *at;
};

/* The offsets of a port, of shape `field`; NULL if there are none that the node could know. */
static const uint32_t *find_offsets(const struct sl_slot *slot, const struct sl_flight *flight, const struct feed *feed,
                                    int field) {
  const struct sl_session *s = slot->session;
  if (field < 0) return NULL;
  const int32_t storage = s->layout->members[feed->from.node][feed->from.member].storage[field];
  return storage != SL_NONE && is_alive(s, feed->node, storage) ? storage_pointer(slot, flight, storage) : NULL;
}

/* How much of a byte pool is filled, where a source filled it; else all of it. */
static uint64_t pool_words(const struct sl_session *s, const struct sl_flight *flight, const struct feed *feed,
                           uint32_t bound) {
  if ((uint32_t)feed->from.node == s->graph->source)
    return flight->input->used[SL_BOUNDS_MAX * feed->from.member + bound];
  return feed->at->capacities[bound];
}

static void measure_port(const struct sl_slot *slot, const struct sl_flight *flight, const struct feed *feed,
                         struct trial_port *port) {
  const struct sl_session *s = slot->session;
  const struct sl_collection *c = s->graph->nodes[feed->node].algorithm->members[feed->member].collection;
  const uint32_t *offsets = find_offsets(slot, flight, feed, sl_offsets_field(c));
  port->bounds[0] = offsets ? offsets[slot->event_count] : feed->at->capacities[0];
  if (offsets) port->offsets = copy_of(offsets, (slot->event_count + 1u) * sizeof *offsets);
  for (uint32_t b = 1; b < sl_bound_count(c); b++) {
    const uint32_t *item_offsets = port->offsets ? find_offsets(slot, flight, feed, sl_item_offsets_field(c, b)) : NULL;
    if (item_offsets) port->item_offsets[b] = copy_of(item_offsets, (port->bounds[0] + 1) * sizeof *item_offsets);
    port->bounds[b] = item_offsets ? item_offsets[port->bounds[0]] : pool_words(s, flight, feed, b);
  }
}

static uint64_t value_count(const struct sl_session *s, const struct sl_collection *c, uint32_t field,
                            const struct trial_port *port, uint32_t events, int32_t storage) {
  if (c->fields[field].shape == SL_SHAPE_CODE_ARRAY) return s->arrays[storage].count;
  return sl_collection_values(c, field, events, port->bounds);
}

static void copy_entry(const struct sl_slot *slot, const struct sl_flight *flight, const struct feed *feed,
                       struct trial_port *port) {
  const struct sl_session *s = slot->session;
  const struct sl_collection *c = s->graph->nodes[feed->node].algorithm->members[feed->member].collection;
  port->values = test_allocate(c->field_count, sizeof *port->values);
  port->counts = test_allocate(c->field_count, sizeof *port->counts);
  measure_port(slot, flight, feed, port);
  for (uint32_t f = 0; f < c->field_count; f++) {
    const struct sl_field *field = &c->fields[f];
    int32_t storage = feed->at->storage[f];
    if (storage == SL_NONE && field->shape == SL_SHAPE_CODE_OFFSETS && port->offsets) /* an output shares them */
      storage = s->layout->members[feed->from.node][feed->from.member].storage[f];
    if (storage == SL_NONE) continue;
    port->counts[f] = value_count(s, c, f, port, slot->event_count, storage);
    port->values[f] = copy_of(storage_pointer(slot, flight, storage), port->counts[f] * sl_type_bytes(field->type));
  }
}

static void copy_port(const struct sl_slot *slot, const struct sl_flight *flight, uint32_t n, uint32_t member,
                      struct trial_port *port) {
  const struct sl_node *node = &slot->session->graph->nodes[n];
  const struct sl_wiring *wiring = &node->inputs[member];
  const int is_list = (node->algorithm->members[member].flags & SL_FLAG_EACH) != 0;
  port->producers = wiring->count;
  port->names = wiring->names;
  port->entries = is_list ? test_allocate(wiring->count, sizeof *port->entries) : NULL;
  for (uint32_t k = 0; k < wiring->count; k++) {
    const struct feed feed = {n, member, wiring->ports[k], &slot->session->layout->members[n][member].entries[k]};
    copy_entry(slot, flight, &feed, trial_entry(port, k));
  }
}

static void copy_list(const struct sl_slot *slot, uint32_t n, struct trial_case *c) {
  const struct sl_layout *l = slot->session->layout;
  const uint32_t set = l->node_set[n];
  c->has_list = set != UINT32_MAX;
  if (!c->has_list) return;
  c->list_count = *(const uint32_t *)slot->storage[l->sets[set].count_storage];
  c->list = copy_of(slot->storage[l->sets[set].numbers_storage], c->list_count * sizeof *c->list);
}

static void copy_node(const struct sl_slot *slot, const struct sl_flight *flight, uint32_t n, struct trial_case *c) {
  const struct sl_node *node = &slot->session->graph->nodes[n];
  *c = (struct trial_case){.algorithm = node->algorithm, .node = node, .event_count = slot->event_count};
  c->ports = test_allocate(node->algorithm->member_count, sizeof *c->ports);
  for (uint32_t m = 0; m < node->algorithm->member_count; m++)
    if (node->algorithm->members[m].kind == SL_MEMBER_IN) copy_port(slot, flight, n, m, &c->ports[m]);
  copy_list(slot, n, c);
}

void trial_capture_constant(struct sl_session *s, uint32_t n, struct trial_case *c) {
  copy_node(&s->slots[0], &s->slots[0].flights[0], n, c);
  c->has_list = 0;
}

/* ------------------------------------------------------------------------------------------------- running */

static void need(struct capture *c, uint32_t n) {
  const struct sl_node *node = &c->session->graph->nodes[n];
  if (c->needed[n]) return;
  c->needed[n] = 1;
  for (uint32_t m = 0; m < node->algorithm->member_count; m++)
    for (uint32_t k = 0; node->algorithm->members[m].kind == SL_MEMBER_IN && k < node->inputs[m].count; k++)
      need(c, (uint32_t)node->inputs[m].ports[k].node);
  for (uint32_t i = 0; i < node->list_count; i++) need(c, (uint32_t)node->lists[i].node);
}

static int is_needed(const struct capture *c, const struct sl_step *step, uint32_t node) {
  if (step->kind == SL_STEP_RUN) return c->needed[node];
  for (uint32_t n = 0; n < c->session->graph->node_count; n++)
    if (c->needed[n] && c->session->layout->node_set[n] == step->set) return 1;
  return 0;
}

static int before_step(void *context, struct sl_slot *slot, const struct sl_flight *flight, const struct sl_step *step,
                       uint32_t node) {
  struct capture *c = context;
  if (!is_needed(c, step, node)) return 1;
  if (step->kind != SL_STEP_RUN || node != c->node) return SL_OK;
  const uint32_t set = c->session->layout->node_set[c->node];
  const uint32_t events = set == UINT32_MAX
                              ? slot->event_count
                              : *(const uint32_t *)slot->storage[c->session->layout->sets[set].count_storage];
  const int is_whole = slot->event_count == flight->input->event_count; /* a part's fields begin elsewhere */
  if (is_whole && events > c->captured) {
    copy_node(slot, flight, c->node, c->result);
    c->captured = events;
  }
  return SL_EINTERRUPTED;
}

void *trial_source_open(struct sl_session *s, char *reason, size_t reason_size) {
  const uint32_t n = s->graph->source;
  const struct sl_algorithm *a = s->graph->nodes[n].algorithm;
  uint32_t count = 0;
  while (s->options.input_paths && s->options.input_paths[count]) count++;
  const struct sl_inputs inputs = {s->options.input_paths, count, 0, s->options.input_paths};
  void *state = test_allocate(a->state_size + 1u, 1);
  const int status = a->source->open(state, &s->contexts[n].services, s->source_args, &inputs);
  if (status == SL_OK) return state;
  snprintf(reason, reason_size, "its source, %s, could not start: %s", s->graph->nodes[n].use, sl_error_text(status));
  return NULL;
}

static int run_slices(struct capture *c, void *state, char *reason, size_t reason_size) {
  struct sl_session *s = (struct sl_session *)c->session;
  const struct sl_node *source = &s->graph->nodes[s->graph->source];
  struct sl_slot *slot = &s->slots[0];
  struct sl_flight *flight = &slot->flights[0];
  struct sl_input *input = flight->input = &flight->own_input;
  int more = 1;
  for (uint32_t i = 0; i < SLICES_MAX && more > 0 && c->captured < ENOUGH_EVENTS; i++) {
    struct sl_fill fill = {.events_max = s->slice_events, .events = input->events};
    memset(input->used, 0, SL_BOUNDS_MAX * (size_t)source->algorithm->member_count * sizeof *input->used);
    more = source->algorithm->source->fill(state, &s->contexts[s->graph->source].services, input->source_args, &fill);
    input->event_count = fill.event_count;
    if (more < 0 || fill.event_count == 0) break;
    const int status = sl_flight_finish(slot, 0);
    if (status < 0 && status != SL_EINTERRUPTED) {
      snprintf(reason, reason_size, "a node before it failed: %s", sl_error_text(status));
      return status;
    }
  }
  if (c->captured) return SL_OK;
  snprintf(reason, reason_size, more < 0 ? "its source failed" : "no event is on its list");
  return more < 0 ? more : SL_EINVAL;
}

int trial_capture(struct sl_session *s, uint32_t node, struct trial_case *result, char *reason, size_t reason_size) {
  struct capture c = {s, node, test_allocate(s->graph->node_count, 1), result, 0};
  need(&c, node);
  s->before_step = before_step;
  s->before_step_context = &c;
  s->delivering = 0;
  void *state = trial_source_open(s, reason, reason_size);
  return state ? run_slices(&c, state, reason, reason_size) : SL_EIO;
}
