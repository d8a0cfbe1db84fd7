/* slot.c: what one slice in flight owns: memory, and argument structs whose pointers are set once. A slice changes only
 * the patches: pointers into its input.
 */
#include "layout/bind.h"
#include "execute/session.h"
#include "plugin/field_ref.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NO_INDEX = UINT32_MAX };

/* ------------------------------------------------------------------------------------------------- inputs */

/* No port has more than a u32 counts; layout.c refuses it. */
static struct sl_bound bound_to(const struct sl_slot_member *at, uint32_t bound, uint32_t *used, uint64_t error) {
  const uint64_t limit = at->limits[bound] < UINT32_MAX ? at->limits[bound] : UINT32_MAX;
  return (struct sl_bound){(uint32_t)at->capacities[bound], (uint32_t)limit, used, error};
}

/* Points the source's output structs to a block. */
static void bind_source(struct sl_session *s, struct sl_input *input) {
  const struct sl_layout *l = s->layout;
  const struct sl_node *source = &s->graph->nodes[s->graph->source];
  sl_graph_fill_properties(source, input->source_args);
  for (uint32_t m = 0; m < source->algorithm->member_count; m++) {
    const struct sl_member *member = &source->algorithm->members[m];
    if (member->kind != SL_MEMBER_OUT) continue;
    const struct sl_slot_member *slot = &l->members[s->graph->source][m];
    for (uint32_t f = 0; f < member->collection->field_count; f++)
      if (slot->storage[f] != SL_NONE)
        *sl_args_pointer(input->source_args, member, f) = input->block + l->storage[slot->storage[f]].offset;
    for (uint32_t b = 0; b < sl_bound_count(member->collection); b++)
      *sl_args_bound(input->source_args, member, b) = bound_to(slot, b, &input->used[SL_BOUNDS_MAX * m + b], 0);
  }
}

int sl_input_open(struct sl_session *s, const struct sl_device_place *place, struct sl_input *input) {
  const struct sl_algorithm *source = s->graph->nodes[s->graph->source].algorithm;
  input->place = place;
  input->block = sl_host_allocate(s, place, s->layout->input_bytes);
  input->events = calloc(s->slice_events, sizeof *input->events);
  input->refusals = calloc(s->slice_events, sizeof *input->refusals);
  input->source_args = calloc(1, source->args_size + 1u);
  input->used = calloc(SL_BOUNDS_MAX * (size_t)source->member_count + 1, sizeof *input->used);
  if (!input->block || !input->events || !input->refusals || !input->source_args || !input->used) return SL_ENOMEM;
  bind_source(s, input);
  return SL_OK;
}

void sl_input_close(struct sl_session *s, struct sl_input *input) {
  if (input->block && s->options.guard) sl_guard_permit_input(s, input); /* whoever has it next */
  if (input->block) s->backend->release_host(input->place->device, input->block, s->layout->input_bytes);
  free(input->events);
  free(input->refusals);
  free(input->source_args);
  free(input->used);
  memset(input, 0, sizeof *input);
}

/* ------------------------------------------------------------------------------------------------ storage */

uint64_t sl_arena_bytes(const struct sl_session *s) {
  return s->options.race ? sl_race_arena_bytes(s) : s->layout->arena_bytes;
}

static int open_storage(struct sl_slot *slot) {
  struct sl_session *s = slot->session;
  const struct sl_layout *l = s->layout;
  slot->storage = calloc(l->storage_count + 1, sizeof *slot->storage);
  slot->host = calloc(l->storage_count + 1, sizeof *slot->host);
  if (!slot->storage || !slot->host) return SL_ENOMEM;
  if (!s->options.guard) {
    slot->arena = s->backend->allocate(slot->device, sl_arena_bytes(s));
    if (!slot->arena) return SL_ENOMEM;
    if (s->options.race && sl_race_open(slot) < 0) return SL_ENOMEM;
  } else if (sl_guard_open(slot) < 0) {
    return SL_ENOMEM;
  }
  for (uint32_t i = 0; i < l->storage_count; i++) {
    const struct sl_storage *storage = &l->storage[i];
    if (storage->kind == SL_STORAGE_CONSTANT) {
      slot->storage[i] = s->arrays[i].device_values[slot->place->index];
    } else if (storage->kind == SL_STORAGE_ARENA && storage->upper > 0) {
      if (!s->options.guard && !s->options.race) slot->storage[i] = slot->arena + storage->offset;
    }
    if (!s->backend->is_device) slot->host[i] = slot->storage[i];
  }
  return SL_OK;
}

static void close_storage(struct sl_slot *slot) {
  struct sl_session *s = slot->session;
  if (s->options.guard) sl_guard_close(slot);
  if (slot->arena) s->backend->release(slot->device, slot->arena, sl_arena_bytes(s));
  free(slot->race_memory);
  free(slot->storage);
  free(slot->host);
}

/* ---------------------------------------------------------------------------------------------- arguments */

/* Sets one pointer of a kernel's argument struct, or notes a patch for it. */
static void bind_field(struct sl_slot *slot, struct sl_flight *flight, void **pointer, int32_t storage) {
  if (storage == SL_NONE) return;
  if (slot->session->layout->storage[storage].kind == SL_STORAGE_INPUT)
    flight->patches[flight->patch_count++] = (struct sl_patch){pointer, storage};
  else
    *pointer = slot->storage[storage];
}

static void bind_events(struct sl_slot *slot, const struct sl_flight *flight, uint32_t node, struct sl_events *events,
                        uint32_t step) {
  const struct sl_layout *l = slot->session->layout;
  const uint32_t set = l->node_set[node];
  const uint32_t *all = flight->device_event_count ? flight->device_event_count : &slot->event_count;
  events->count = set == NO_INDEX ? all : slot->storage[l->sets[set].count_storage];
  events->numbers = set == NO_INDEX ? NULL : slot->storage[l->sets[set].numbers_storage];
  events->errors = slot->errors;
  events->error_base = SL_ERROR_BASE(step);
  events->max = l->events;
}

static void bind_view(struct sl_slot *slot, struct sl_flight *flight, const struct sl_collection *c, void *port,
                      const struct sl_slot_member *at) {
  for (uint32_t f = 0; f < c->field_count; f++) bind_field(slot, flight, sl_port_pointer(port, f), at->storage[f]);
  for (uint32_t b = 0; b < sl_bound_count(c); b++)
    *sl_port_bound(port, c, b) = bound_to(at, b, at->used[b] == NO_INDEX ? NULL : &slot->used[at->used[b]], 0);
}

/* What an event's error is when it wants more than it may have of the node's `output`th output. */
static void bind_limits(const struct sl_collection *c, void *port, uint32_t step, uint32_t output) {
  for (uint32_t b = 0; b < sl_bound_count(c); b++)
    sl_port_bound(port, c, b)->limit_error = SL_ERROR_BASE(step) | SL_ERROR_LIMIT(output * SL_BOUNDS_MAX + b);
}

/* Room in the tables for the views of a list port, and the argument struct's pointer to it. */
static unsigned char *take_views(struct sl_tables *tables, const struct sl_member *member,
                                 const struct sl_wiring *wiring, void *args) {
  unsigned char *views = tables->host + tables->taken;
  *sl_args_each(args, member) = (struct sl_each){tables->device + tables->taken, wiring->names, wiring->count, 0};
  tables->taken += wiring->count * sl_collection_bytes(member->collection);
  return views;
}

static void bind_list_port(struct sl_slot *slot, struct sl_flight *flight, uint32_t n, uint32_t m, void *args) {
  const struct sl_node *node = &slot->session->graph->nodes[n];
  const struct sl_member *member = &node->algorithm->members[m];
  unsigned char *views = take_views(&flight->tables, member, &node->inputs[m], args);
  for (uint32_t k = 0; k < node->inputs[m].count; k++, views += sl_collection_bytes(member->collection))
    bind_view(slot, flight, member->collection, views, &slot->session->layout->members[n][m].entries[k]);
}

static void bind_reference(struct sl_slot *slot, struct sl_flight *flight, const struct sl_member *member, void *args,
                           const struct sl_slot_member *at) {
  void **pointers = (void **)(void *)sl_field_ref_open(member, args);
  int sources[SL_FIELD_REF_POINTERS];
  sl_field_ref_sources(member, sources);
  for (int i = 0; i < SL_FIELD_REF_POINTERS; i++)
    if (sources[i] >= 0) bind_field(slot, flight, &pointers[i], at->storage[sources[i]]);
}

static void bind_kernel(struct sl_slot *slot, struct sl_flight *flight, uint32_t n, void *args, uint32_t step) {
  const struct sl_session *s = slot->session;
  const struct sl_node *node = &s->graph->nodes[n];
  sl_graph_fill_properties(node, args);
  sl_prepared_copy(slot, n, args);
  uint32_t outputs = 0;
  for (uint32_t m = 0; m < node->algorithm->member_count; m++) {
    const struct sl_member *member = &node->algorithm->members[m];
    const struct sl_slot_member *at = &s->layout->members[n][m];
    if (member->kind == SL_MEMBER_EVENTS) {
      bind_events(slot, flight, n, (struct sl_events *)((char *)args + member->args_offset), step);
    } else if (member->kind == SL_MEMBER_SCRATCH) {
      bind_field(slot, flight, (void **)((char *)args + member->args_offset), at->storage[0]);
    } else if (member->flags & SL_FLAG_FIELD) {
      bind_reference(slot, flight, member, args, at);
    } else if (member->flags & SL_FLAG_EACH) {
      bind_list_port(slot, flight, n, m, args);
    } else if (member->kind == SL_MEMBER_IN || member->kind == SL_MEMBER_OUT) {
      bind_view(slot, flight, member->collection, (char *)args + member->args_offset, at);
    }
    if (member->kind == SL_MEMBER_OUT)
      bind_limits(member->collection, (char *)args + member->args_offset, step, outputs++);
  }
}

/* A sink's pointers are all set when it is called. */
static void bind_sink(struct sl_slot *slot, uint32_t n, void *args) {
  const struct sl_session *s = slot->session;
  const struct sl_node *node = &s->graph->nodes[n];
  sl_graph_fill_properties(node, args);
  for (uint32_t m = 0; m < node->algorithm->member_count; m++) {
    const struct sl_member *member = &node->algorithm->members[m];
    const struct sl_slot_member *at = &s->layout->members[n][m];
    if (member->kind != SL_MEMBER_IN) continue;
    unsigned char *port = (unsigned char *)args + member->args_offset;
    if (member->flags & SL_FLAG_EACH) port = take_views(&slot->sink_tables, member, &node->inputs[m], args);
    for (uint32_t k = 0; k < at->entry_count; k++, port += sl_collection_bytes(member->collection))
      for (uint32_t f = 0; f < member->collection->field_count; f++)
        if (at->entries[k].storage[f] != SL_NONE)
          slot->sink_patches[slot->sink_patch_count++] =
              (struct sl_patch){sl_port_pointer(port, f), at->entries[k].storage[f]};
  }
}

uint64_t sl_node_views_bytes(const struct sl_node *node) {
  uint64_t bytes = 0;
  for (uint32_t m = 0; m < node->algorithm->member_count; m++)
    if (node->algorithm->members[m].flags & SL_FLAG_EACH)
      bytes += node->inputs[m].count * sl_collection_bytes(node->algorithm->members[m].collection);
  return bytes;
}

static void count_arguments(const struct sl_graph *g, uint64_t *bytes, uint64_t *pointers) {
  *bytes = SL_ARGS_ALIGNMENT;
  *pointers = 1;
  for (uint32_t i = 0; i < g->order_count; i++) {
    const struct sl_algorithm *a = g->nodes[g->order[i]].algorithm;
    *bytes += sl_aligned(a->args_size, SL_ARGS_ALIGNMENT);
    for (uint32_t m = 0; m < a->member_count; m++) *pointers += a->members[m].args_size / sizeof(void *) + 1;
    *pointers += sl_node_views_bytes(&g->nodes[g->order[i]]) / sizeof(void *);
  }
}

/* The tables of all kernels, or of all sinks. */
static int open_tables(struct sl_slot *slot, uint32_t kind, struct sl_tables *tables) {
  struct sl_session *s = slot->session;
  for (uint32_t i = 0; i < s->graph->order_count; i++)
    if (s->graph->nodes[s->graph->order[i]].algorithm->kind == kind)
      tables->bytes += sl_node_views_bytes(&s->graph->nodes[s->graph->order[i]]);
  if (kind == SL_KIND_KERNEL)
    tables->bytes += s->layout->list_pointer_count * sizeof(struct sl_list_pointers) + sl_families_bytes(s);
  const int is_copied = kind == SL_KIND_KERNEL && s->backend->is_device && tables->bytes > 0;
  tables->host = calloc(1, tables->bytes + 1);
  tables->device = is_copied ? s->backend->allocate(slot->device, tables->bytes) : tables->host;
  return tables->host && tables->device ? SL_OK : SL_ENOMEM;
}

static void close_tables(struct sl_slot *slot, struct sl_tables *tables) {
  struct sl_session *s = slot->session;
  if (tables->device && tables->device != tables->host)
    s->backend->release(slot->device, tables->device, tables->bytes);
  free(tables->host);
}

int sl_tables_upload(struct sl_slot *slot, struct sl_flight *flight) {
  const struct sl_session *s = slot->session;
  const struct sl_tables *t = &flight->tables;
  return t->device == t->host ? SL_OK : s->backend->upload_now(slot->device, t->device, t->host, t->bytes);
}

/* The event lists of which one is made; all of them are outputs of kernels. */
static void bind_lists(struct sl_slot *slot, struct sl_tables *tables) {
  const struct sl_layout *l = slot->session->layout;
  struct sl_list_pointers *next = (struct sl_list_pointers *)(void *)tables->host;
  for (uint32_t s = 0; s < l->set_count; s++)
    for (uint32_t p = 0; l->sets[s].port_count > 1 && p < l->sets[s].port_count; p++) {
      const struct sl_port port = l->sets[s].ports[p];
      const int32_t *storage = l->members[port.node][port.member].storage;
      *next++ = (struct sl_list_pointers){slot->storage[storage[0]], slot->storage[storage[1]]};
    }
  tables->taken += l->list_pointer_count * sizeof *next;
}

static void bind_all(struct sl_slot *slot, unsigned char *next) {
  const struct sl_graph *g = slot->session->graph;
  const uint32_t flights = slot->session->backend->flights;
  uint32_t step = 0;
  for (uint32_t k = 0; k < flights; k++) {
    bind_lists(slot, &slot->flights[k].tables);
    sl_families_place(slot->session, &slot->flights[k]);
  }
  for (uint32_t i = 0; i < g->order_count; i++) {
    const uint32_t n = g->order[i];
    const struct sl_algorithm *a = g->nodes[n].algorithm;
    if (a->kind == SL_KIND_SINK) {
      slot->sink_args[n] = next;
      next += sl_aligned(a->args_size, SL_ARGS_ALIGNMENT);
      bind_sink(slot, n, slot->sink_args[n]);
    } else if (a->kind == SL_KIND_KERNEL) {
      for (uint32_t k = 0; k < flights; k++) {
        if (!slot->flights[k].args[n]) { /* of no family */
          slot->flights[k].args[n] = next;
          next += sl_aligned(a->args_size, SL_ARGS_ALIGNMENT);
        }
        bind_kernel(slot, &slot->flights[k], n, slot->flights[k].args[n], step);
      }
      step++;
    }
  }
}

static void open_launches(struct sl_slot *slot) {
  const struct sl_session *s = slot->session;
  for (uint32_t i = 0; i < s->graph->order_count; i++) {
    const uint32_t n = s->graph->order[i];
    slot->launches[n] = (struct sl_launch){
        .size = sizeof(struct sl_launch),
        .block_threads = s->backend->block_threads ? s->backend->block_threads : s->graph->nodes[n].block_threads,
        .grid_blocks = s->slice_events,
        .events_max = s->slice_events,
        .device_threads = s->backend->threads ? s->backend->threads(slot->device) : 0,
        .block_count = s->backend->block_threads ? 0 : s->graph->nodes[n].algorithm->block_count,
        .blocks = s->graph->nodes[n].blocks,
        .services = &s->contexts[n].services,
        .backend = slot->stream, /* of kernels: of their branches, below */
        .scan = s->backend->scan,
        .scan_items = s->backend->scan_items};
  }
  for (uint32_t step = 0; step < s->layout->step_count; step++)
    for (uint32_t i = 0; i < s->layout->steps[step].node_count; i++)
      slot->launches[s->layout->steps[step].nodes[i]].backend = sl_step_stream(slot, step);
}

static int open_arguments(struct sl_slot *slot) {
  struct sl_session *s = slot->session;
  const uint32_t nodes = s->graph->node_count + 1, flights = s->backend->flights;
  uint64_t bytes, pointers;
  count_arguments(s->graph, &bytes, &pointers);
  bytes *= flights;
  slot->arguments = aligned_alloc(SL_ARGS_ALIGNMENT, bytes);
  slot->sink_args = calloc(nodes, sizeof *slot->sink_args);
  slot->sink_patches = calloc(pointers, sizeof *slot->sink_patches);
  slot->launches = calloc(nodes, sizeof *slot->launches);
  if (!slot->arguments || !slot->sink_args || !slot->sink_patches || !slot->launches) return SL_ENOMEM;
  memset(slot->arguments, 0, bytes);
  for (uint32_t k = 0; k < flights; k++) {
    slot->flights[k].args = calloc(nodes, sizeof *slot->flights[k].args);
    slot->flights[k].patches = calloc(pointers, sizeof *slot->flights[k].patches);
    if (!slot->flights[k].args || !slot->flights[k].patches) return SL_ENOMEM;
    if (open_tables(slot, SL_KIND_KERNEL, &slot->flights[k].tables) < 0) return SL_ENOMEM;
  }
  if (open_tables(slot, SL_KIND_SINK, &slot->sink_tables) < 0) return SL_ENOMEM;
  bind_all(slot, slot->arguments);
  open_launches(slot);
  return SL_OK;
}

/* ------------------------------------------------------------------------------------------------ opening */

uint64_t sl_counters_bytes(const struct sl_session *s) {
  return s->slice_events * sizeof(uint64_t) + (s->layout->used_count + 1) * sizeof(uint32_t);
}

static int open_counts(struct sl_slot *slot) {
  struct sl_session *s = slot->session;
  const uint32_t nodes = s->graph->node_count + 1;
  slot->errors = s->backend->allocate(slot->device, sl_counters_bytes(s));
  if (slot->errors) slot->used = (uint32_t *)(slot->errors + s->slice_events);
  slot->used_max = calloc(s->layout->used_count + 1, sizeof *slot->used_max);
  slot->used_sums = calloc(s->layout->used_count + 1, sizeof *slot->used_sums);
  slot->input_sums =
      calloc(SL_BOUNDS_MAX * s->graph->nodes[s->graph->source].algorithm->member_count + 1, sizeof *slot->input_sums);
  slot->node_ns = calloc(nodes, sizeof *slot->node_ns);
  slot->node_events = calloc(nodes, sizeof *slot->node_events);
  slot->node_calls = calloc(nodes, sizeof *slot->node_calls);
  slot->listed = calloc(nodes, sizeof *slot->listed);
  const int missing = !slot->errors || !slot->used || !slot->used_max || !slot->used_sums || !slot->input_sums ||
                      !slot->node_ns || !slot->node_events || !slot->node_calls || !slot->listed;
  return missing ? SL_ENOMEM : SL_OK;
}

static int open_flights(struct sl_slot *slot) {
  struct sl_session *s = slot->session;
  for (uint32_t k = 0; k < s->backend->flights; k++) {
    struct sl_flight *flight = &slot->flights[k];
    if (s->statistics.summary.repeat <= 1 && sl_input_open(s, slot->place, &flight->own_input) < 0) return SL_ENOMEM;
    flight->spare = flight->own_input.block ? &flight->own_input : NULL;
    if (!s->backend->is_device) continue;
    flight->device_input = s->backend->allocate(slot->device, s->layout->device_input_bytes + 1);
    flight->device_event_count = s->backend->allocate(slot->device, sizeof(uint32_t));
    if (!flight->device_input || !flight->device_event_count) return SL_ENOMEM;
  }
  return SL_OK;
}

int sl_slot_open(struct sl_session *s, struct sl_slot *slot, uint32_t index) {
  slot->session = s;
  slot->index = index;
  slot->place = &s->devices[index % s->device_count];
  slot->device = slot->place->device;
  int status = sl_streams_open(slot);
  if (status == SL_OK) status = open_counts(slot);
  if (status == SL_OK) status = open_flights(slot);
  if (status == SL_OK) status = open_storage(slot);
  if (status == SL_OK) status = open_arguments(slot);
  if (status == SL_OK) status = sl_traffic_open(slot);
  if (status == SL_OK) status = sl_clears_open(slot);
  if (status == SL_OK && s->backend->is_device) {
    slot->running = sl_host_allocate(s, slot->place, 2 * s->layout->branch_count);
    if (slot->running) memset(slot->running, 0, 2 * s->layout->branch_count);
    status = slot->running ? sl_pack_open(slot) : SL_ENOMEM;
  }
  return status;
}

static void close_flights(struct sl_slot *slot) {
  struct sl_session *s = slot->session;
  for (uint32_t k = 0; k < s->backend->flights; k++) {
    struct sl_flight *flight = &slot->flights[k];
    sl_input_close(s, &flight->own_input);
    if (flight->device_input)
      s->backend->release(slot->device, flight->device_input, s->layout->device_input_bytes + 1);
    if (flight->device_event_count) s->backend->release(slot->device, flight->device_event_count, sizeof(uint32_t));
    close_tables(slot, &flight->tables);
    free(flight->args);
    free(flight->patches);
  }
}

void sl_slot_close(struct sl_slot *slot) {
  struct sl_session *s = slot->session;
  if (!s) return;
  if (s->backend->is_device) sl_pack_close(slot);
  if (slot->running) s->backend->release_host(slot->device, slot->running, 2 * s->layout->branch_count);
  sl_clears_close(slot);
  close_flights(slot);
  close_storage(slot);
  if (slot->errors) s->backend->release(slot->device, slot->errors, sl_counters_bytes(s));
  sl_streams_close(slot);
  free(slot->arguments);
  close_tables(slot, &slot->sink_tables);
  free(slot->sink_args);
  free(slot->sink_patches);
  free(slot->launches);
  free(slot->used_max);
  free(slot->used_sums);
  free(slot->input_sums);
  free(slot->node_ns);
  free(slot->node_events);
  free(slot->node_calls);
  sl_traffic_close(slot);
}
