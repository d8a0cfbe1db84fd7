/* capture.c: captures the inputs of a node. A callback before each step of a session skips steps that the node does not
 * depend on; before the node itself it copies all data that the arguments of the node point to and ends the slice. For
 * a node on an event list, the slice with the most listed events is kept.
 */
#include "backend/backend.h"
#include "execute/setup.h"
#include "layout/bind.h"
#include "trial/case.h"

#include <stdlib.h>
#include <string.h>

enum { SLICES_MAX = 100, ENOUGH_EVENTS = 4 };

struct capture {
  const struct sl_session *session;
  uint32_t node;
  const uint8_t *needed; /* per node */
  struct trial_case *result;
  uint32_t captured;
};

static void *copy_of(const void *values, uint64_t bytes) {
  void *copy = test_allocate((size_t)bytes + 1, 1);
  if (bytes) memcpy(copy, values, (size_t)bytes);
  return copy;
}

/* ------------------------------------------------------------------------------------------------- copying */

/* 1 if the node reads the storage, directly or through an output that shares it. Otherwise its memory may be reused. */
static int is_alive(const struct sl_session *s, uint32_t n, int32_t storage) {
  const struct sl_node *node = &sl_session_graph(s)->nodes[n];
  for (uint32_t m = 0; m < node->algorithm->member_count; m++) {
    const struct sl_member *member = &node->algorithm->members[m];
    const struct sl_slot_member *at = &sl_session_layout(s)->members[n][m];
    if (member->kind != SL_MEMBER_IN && member->kind != SL_MEMBER_OUT) continue;
    for (uint32_t k = 0; k < at->entry_count; k++)
      for (uint32_t f = 0; f < member->collection->field_count; f++)
        if (at->entries[k].storage[f] == storage) return 1;
  }
  return 0;
}

/* A port of a node, or one entry of a list port. */
struct feed {
  uint32_t node, member;
  struct sl_port from;
  const struct sl_slot_member *at;
};

/* Offsets of a port, of shape `field`; NULL if the node has none. */
static const uint32_t *find_offsets(const struct sl_moment *moment, const struct feed *feed, int field) {
  const struct sl_session *s = moment->session;
  if (field < 0) return NULL;
  const int32_t storage = sl_session_layout(s)->members[feed->from.node][feed->from.member].storage[field];
  return storage != SL_NONE && is_alive(s, feed->node, storage) ? sl_moment_storage(moment, storage) : NULL;
}

/* Filled length of a byte pool of the source; the full length for other producers. */
static uint64_t pool_words(const struct sl_moment *moment, const struct feed *feed, uint32_t bound) {
  if ((uint32_t)feed->from.node == sl_session_graph(moment->session)->source)
    return sl_moment_filled(moment, (uint32_t)feed->from.member, bound);
  return feed->at->capacities[bound];
}

static void measure_port(const struct sl_moment *moment, const struct feed *feed, struct trial_port *port) {
  const struct sl_session *s = moment->session;
  const struct sl_collection *c = sl_session_graph(s)->nodes[feed->node].algorithm->members[feed->member].collection;
  const uint32_t *offsets = find_offsets(moment, feed, sl_offsets_field(c));
  port->bounds[0] = offsets ? offsets[moment->event_count] : feed->at->capacities[0];
  if (offsets) port->offsets = copy_of(offsets, (moment->event_count + 1u) * sizeof *offsets);
  for (uint32_t b = 1; b < sl_bound_count(c); b++) {
    const uint32_t *item_offsets = port->offsets ? find_offsets(moment, feed, sl_item_offsets_field(c, b)) : NULL;
    if (item_offsets) port->item_offsets[b] = copy_of(item_offsets, (port->bounds[0] + 1) * sizeof *item_offsets);
    port->bounds[b] = item_offsets ? item_offsets[port->bounds[0]] : pool_words(moment, feed, b);
  }
}

static uint64_t value_count(const struct sl_session *s, const struct sl_collection *c, uint32_t field,
                            const struct trial_port *port, uint32_t events, int32_t storage) {
  if (c->fields[field].shape == SL_SHAPE_CODE_ARRAY) return sl_session_setup(s)->arrays[storage].count;
  return sl_collection_values(c, field, events, port->bounds);
}

static void copy_entry(const struct sl_moment *moment, const struct feed *feed, struct trial_port *port) {
  const struct sl_session *s = moment->session;
  const struct sl_collection *c = sl_session_graph(s)->nodes[feed->node].algorithm->members[feed->member].collection;
  port->values = test_allocate(c->field_count, sizeof *port->values);
  port->counts = test_allocate(c->field_count, sizeof *port->counts);
  measure_port(moment, feed, port);
  for (uint32_t f = 0; f < c->field_count; f++) {
    const struct sl_field *field = &c->fields[f];
    int32_t storage = feed->at->storage[f];
    if (storage == SL_NONE && field->shape == SL_SHAPE_CODE_OFFSETS && port->offsets) /* an output shares the offsets */
      storage = sl_session_layout(s)->members[feed->from.node][feed->from.member].storage[f];
    if (storage == SL_NONE) continue;
    port->counts[f] = value_count(s, c, f, port, moment->event_count, storage);
    port->values[f] = copy_of(sl_moment_storage(moment, storage), port->counts[f] * sl_type_bytes(field->type));
  }
}

static void copy_output(const struct sl_moment *moment, uint32_t n, uint32_t member, struct trial_port *port) {
  const struct feed feed = {n,
                            member,
                            {.node = (int32_t)n, .member = member},
                            sl_session_layout(moment->session)->members[n][member].entries};
  port->producers = 1;
  copy_entry(moment, &feed, port);
}

static void copy_port(const struct sl_moment *moment, uint32_t n, uint32_t member, struct trial_port *port) {
  const struct sl_node *node = &sl_session_graph(moment->session)->nodes[n];
  const struct sl_wiring *wiring = &node->inputs[member];
  const int is_list = (node->algorithm->members[member].flags & SL_FLAG_LIST) != 0;
  port->producers = wiring->count;
  port->names = wiring->names;
  port->entries = is_list ? test_allocate(wiring->count, sizeof *port->entries) : NULL;
  for (uint32_t k = 0; k < wiring->count; k++) {
    const struct feed feed = {n, member, wiring->ports[k],
                              &sl_session_layout(moment->session)->members[n][member].entries[k]};
    copy_entry(moment, &feed, trial_entry(port, k));
  }
}

static void copy_list(const struct sl_moment *moment, uint32_t n, struct trial_case *c) {
  const struct sl_layout *l = sl_session_layout(moment->session);
  const uint32_t set = l->node_set[n];
  c->has_list = set != UINT32_MAX;
  if (!c->has_list) return;
  c->list_count = *(const uint32_t *)sl_moment_storage(moment, l->sets[set].count_storage);
  c->list = copy_of(sl_moment_storage(moment, l->sets[set].numbers_storage), c->list_count * sizeof *c->list);
}

void trial_copy_outputs(const struct sl_moment *moment, uint32_t n, struct trial_port *ports) {
  const struct sl_algorithm *a = sl_session_graph(moment->session)->nodes[n].algorithm;
  for (uint32_t m = 0; m < a->member_count; m++)
    if (a->members[m].kind == SL_MEMBER_OUT) copy_output(moment, n, m, &ports[m]);
}

void trial_copy_node(const struct sl_moment *moment, uint32_t n, struct trial_case *c) {
  const struct sl_node *node = &sl_session_graph(moment->session)->nodes[n];
  *c = (struct trial_case){.algorithm = node->algorithm, .node = node, .event_count = moment->event_count};
  c->ports = test_allocate(node->algorithm->member_count, sizeof *c->ports);
  for (uint32_t m = 0; m < node->algorithm->member_count; m++)
    if (node->algorithm->members[m].kind == SL_MEMBER_IN) copy_port(moment, n, m, &c->ports[m]);
  copy_list(moment, n, c);
}

void trial_capture_constant(const struct sl_session *s, uint32_t n, struct trial_case *c) {
  const struct sl_moment first = sl_moment_first(s);
  trial_copy_node(&first, n, c);
  c->has_list = 0;
}

/* ------------------------------------------------------------------------------------------------- running */

static void need(const struct sl_session *s, uint8_t *needed, uint32_t n);

/* All nodes of a family, because they run together. */
static void need_family(const struct sl_session *s, uint8_t *needed, uint32_t n) {
  const struct sl_layout *l = sl_session_layout(s);
  for (uint32_t i = 0; i < l->step_count; i++) {
    const struct sl_step *step = &l->steps[i];
    uint32_t has_node = 0;
    for (uint32_t k = 0; step->kind == SL_STEP_RUN && k < step->node_count; k++) has_node |= step->nodes[k] == n;
    for (uint32_t k = 0; has_node && k < step->node_count; k++) need(s, needed, step->nodes[k]);
  }
}

static void need(const struct sl_session *s, uint8_t *needed, uint32_t n) {
  const struct sl_node *node = &sl_session_graph(s)->nodes[n];
  if (needed[n]) return;
  needed[n] = 1;
  if (!sl_session_setup(s)->backend->no_families) need_family(s, needed, n);
  for (uint32_t m = 0; m < node->algorithm->member_count; m++)
    for (uint32_t k = 0; node->algorithm->members[m].kind == SL_MEMBER_IN && k < node->inputs[m].count; k++)
      need(s, needed, (uint32_t)node->inputs[m].ports[k].node);
  for (uint32_t i = 0; i < node->list_count; i++) need(s, needed, (uint32_t)node->lists[i].node);
}

uint8_t *trial_needed(const struct sl_session *s, uint32_t node) {
  uint8_t *needed = test_allocate(sl_session_graph(s)->node_count, 1);
  need(s, needed, node);
  return needed;
}

int trial_is_needed(const struct sl_session *s, const uint8_t *needed, const struct sl_step *step) {
  for (uint32_t k = 0; step->kind == SL_STEP_RUN && k < step->node_count; k++)
    if (needed[step->nodes[k]]) return 1;
  if (step->kind == SL_STEP_RUN) return 0;
  for (uint32_t n = 0; n < sl_session_graph(s)->node_count; n++)
    if (needed[n] && sl_session_layout(s)->node_set[n] == step->set) return 1;
  return 0;
}

static int before_step(void *context, const struct sl_moment *moment) {
  struct capture *c = context;
  const struct sl_layout *l = sl_session_layout(c->session);
  if (!trial_is_needed(c->session, c->needed, moment->step)) return 1;
  if (moment->step->kind != SL_STEP_RUN || moment->node != c->node) return SL_OK;
  const uint32_t set = l->node_set[c->node];
  const uint32_t events = set == UINT32_MAX ? moment->event_count
                                            : *(const uint32_t *)sl_moment_storage(moment, l->sets[set].count_storage);
  if (moment->is_whole && events > c->captured) {
    trial_copy_node(moment, c->node, c->result);
    c->captured = events;
  }
  return SL_EINTERRUPTED;
}

void *trial_source_open(const struct sl_session *s, char *reason, size_t reason_size) {
  const struct sl_node *source = &sl_session_graph(s)->nodes[sl_session_graph(s)->source];
  const struct sl_options *o = sl_session_options(s);
  uint32_t count = 0;
  while (o->input_paths && o->input_paths[count]) count++;
  const struct sl_inputs inputs = {o->input_paths, count, 0, o->input_paths, NULL};
  void *state = test_allocate(source->algorithm->state_size + 1u, 1);
  const struct sl_source *functions = source->algorithm->source;
  const struct sl_services *services = &sl_session_setup(s)->contexts[sl_session_graph(s)->source]->services;
  const int status =
      functions->open ? functions->open(state, services, sl_session_setup(s)->source_args, &inputs) : SL_OK;
  if (status == SL_OK) return state;
  snprintf(reason, reason_size, "its source %s could not be opened: %s", source->use, sl_error_text(status));
  return NULL;
}

static int run_slices(struct capture *c, struct sl_session *s, void *state, char *reason, size_t reason_size) {
  int more = 1, source_failed = 0;
  for (uint32_t i = 0; i < SLICES_MAX && more > 0 && c->captured < ENOUGH_EVENTS; i++)
    more = sl_session_inspect_slice(s, state, before_step, NULL, c, &source_failed);
  if (more < 0 && !source_failed) {
    snprintf(reason, reason_size, "an earlier node failed: %s", sl_error_text(more));
    return more;
  }
  if (c->captured) return SL_OK;
  snprintf(reason, reason_size, more < 0 ? "its source failed" : "no event is on its list");
  return more < 0 ? more : SL_EINVAL;
}

int trial_capture(struct sl_session *s, uint32_t node, struct trial_case *result, char *reason, size_t reason_size) {
  struct capture c = {s, node, trial_needed(s, node), result, 0};
  void *state = trial_source_open(s, reason, reason_size);
  return state ? run_slices(&c, s, state, reason, reason_size) : SL_EIO;
}
