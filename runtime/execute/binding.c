/* binding.c: sets the pointers of argument structs.
 *
 * Pointers are set once, when the slot is opened. A slice changes only the patches: pointers into its input. A part of
 * a slice is the input from a later event on; only pointers of per-event fields move, because offsets need not begin at
 * 0.
 */
#include "execute/binding.h"

#include "execute/family.h"
#include "execute/streams.h"
#include "layout/bind.h"
#include "plugin/field_ref.h"

#include <stdlib.h>
#include <string.h>

enum { NO_INDEX = UINT32_MAX };

/* Capacities fit into u32, see layout.c. */
static struct sl_bound bound_to(const struct sl_slot_member *at, uint32_t bound, uint32_t *used, uint64_t error) {
  const uint64_t limit = at->limits[bound] < UINT32_MAX ? at->limits[bound] : UINT32_MAX;
  return (struct sl_bound){(uint32_t)at->capacities[bound], (uint32_t)limit, used, error};
}

void sl_bind_source(const struct sl_setup *s, struct sl_input *input) {
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

/* -------------------------------------------------------------------------------------------------- addresses */

static void *in_input(const struct sl_storage *at, unsigned char *block, uint32_t first) {
  return block + at->offset + first * at->event_stride_bytes;
}

void *sl_field_for_kernels(const struct sl_slot *slot, const struct sl_slice *slice, uint32_t first, int32_t storage) {
  const struct sl_storage *at = &slot->layout->storage[storage];
  if (at->kind != SL_STORAGE_INPUT) return slot->storage[storage];
  return in_input(at, slice->device_input ? slice->device_input : slice->input->block, first);
}

void *sl_field_on_host(const struct sl_slot *slot, const struct sl_input *input, uint32_t first, int32_t storage) {
  const struct sl_storage *at = &slot->layout->storage[storage];
  if (at->kind == SL_STORAGE_CONSTANT) return slot->setup->arrays[storage].values;
  return at->kind == SL_STORAGE_INPUT ? in_input(at, input->block, first) : slot->host[storage];
}

/* -------------------------------------------------------------------------------------------------- arguments */

/* Sets one pointer of the argument struct of a kernel, or adds a patch for it. */
static void bind_field(struct sl_slot *slot, struct sl_slice *slice, void **pointer, int32_t storage) {
  if (storage == SL_NONE) return;
  if (slot->layout->storage[storage].kind == SL_STORAGE_INPUT)
    slice->patches[slice->patch_count++] = (struct sl_patch){pointer, storage};
  else
    *pointer = slot->storage[storage];
}

static void bind_events(struct sl_slot *slot, const struct sl_slice *slice, uint32_t node, struct sl_events *events,
                        uint32_t step) {
  const struct sl_layout *l = slot->layout;
  const uint32_t set = l->node_set[node];
  const uint32_t *all = slice->device_event_count ? slice->device_event_count : &slot->event_count;
  events->count = set == NO_INDEX ? all : slot->storage[l->sets[set].count_storage];
  events->numbers = set == NO_INDEX ? NULL : slot->storage[l->sets[set].numbers_storage];
  events->errors = slot->errors;
  events->error_base = SL_ERROR_BASE(step);
  events->max = l->events;
}

static void bind_view(struct sl_slot *slot, struct sl_slice *slice, const struct sl_collection *c, void *port,
                      const struct sl_slot_member *at) {
  for (uint32_t f = 0; f < c->field_count; f++) bind_field(slot, slice, sl_port_pointer(port, f), at->storage[f]);
  for (uint32_t b = 0; b < sl_bound_count(c); b++)
    *sl_port_bound(port, c, b) = bound_to(at, b, at->used[b] == NO_INDEX ? NULL : &slot->used[at->used[b]], 0);
}

/* Sets the error words for events that exceed a limit of the `output`th output of the node. */
static void bind_limits(const struct sl_collection *c, void *port, uint32_t step, uint32_t output) {
  for (uint32_t b = 0; b < sl_bound_count(c); b++)
    sl_port_bound(port, c, b)->limit_error = SL_ERROR_BASE(step) | SL_ERROR_LIMIT(output * SL_BOUNDS_MAX + b);
}

/* Reserves the views of a list port in the tables and points the argument struct to them. */
static unsigned char *take_views(struct sl_tables *tables, const struct sl_member *member,
                                 const struct sl_wiring *wiring, void *args) {
  unsigned char *views = tables->host + tables->taken;
  *sl_args_views(args, member) = (struct sl_views){tables->device + tables->taken, wiring->names, wiring->count, 0};
  for (uint32_t k = 0; k < wiring->count; k++)
    sl_port_set_dimensions(views + k * sl_collection_bytes(member->collection), member->collection);
  tables->taken += wiring->count * sl_collection_bytes(member->collection);
  return views;
}

static void bind_list_port(struct sl_slot *slot, struct sl_slice *slice, uint32_t n, uint32_t m, void *args) {
  const struct sl_node *node = &slot->setup->graph->nodes[n];
  const struct sl_member *member = &node->algorithm->members[m];
  unsigned char *views = take_views(&slice->tables, member, &node->inputs[m], args);
  for (uint32_t k = 0; k < node->inputs[m].count; k++, views += sl_collection_bytes(member->collection))
    bind_view(slot, slice, member->collection, views, &slot->layout->members[n][m].entries[k]);
}

static void bind_reference(struct sl_slot *slot, struct sl_slice *slice, const struct sl_member *member, void *args,
                           const struct sl_slot_member *at) {
  void **pointers = (void **)(void *)sl_field_ref_open(member, args);
  int sources[SL_FIELD_REF_POINTERS];
  sl_field_ref_sources(member, sources);
  for (int i = 0; i < SL_FIELD_REF_POINTERS; i++)
    if (sources[i] >= 0) bind_field(slot, slice, &pointers[i], at->storage[sources[i]]);
}

/* Copies what a node has prepared into an argument struct for kernels on a device. */
static void copy_prepared(const struct sl_setup *s, const struct sl_device_state *at, uint32_t n, void *args) {
  const struct sl_algorithm *a = s->graph->nodes[n].algorithm;
  const struct sl_prepared *prepared = &s->prepared[n];
  for (uint32_t m = 0; m < a->member_count; m++) {
    const struct sl_member *member = &a->members[m];
    char *value = (char *)args + member->args_offset;
    if (member->kind == SL_MEMBER_COMPUTED) memcpy(value, prepared->args + member->args_offset, member->args_size);
    if (member->kind == SL_MEMBER_TABLE) memcpy(value, &prepared->tables[m].device_values[at->index], sizeof(void *));
    if (member->kind == SL_MEMBER_PROPERTY && member->type == SL_TYPE_string) memset(value, 0, member->args_size);
  }
}

/* Budgets have the values of the plan. */
static void fill_budgets(const struct sl_slot *slot, uint32_t n, void *args) {
  const struct sl_algorithm *a = slot->setup->graph->nodes[n].algorithm;
  for (uint32_t m = 0; m < a->member_count; m++)
    if (sl_is_budget(&a->members[m]))
      memcpy((char *)args + a->members[m].args_offset, sl_budget(&slot->layout->budgets, n, m), sizeof(uint32_t));
}

static void bind_kernel(struct sl_slot *slot, struct sl_slice *slice, uint32_t n, void *args, uint32_t step) {
  const struct sl_setup *s = slot->setup;
  const struct sl_node *node = &s->graph->nodes[n];
  sl_graph_fill_properties(node, args);
  fill_budgets(slot, n, args);
  copy_prepared(s, slot->device_state, n, args);
  uint32_t outputs = 0;
  for (uint32_t m = 0; m < node->algorithm->member_count; m++) {
    const struct sl_member *member = &node->algorithm->members[m];
    const struct sl_slot_member *at = &slot->layout->members[n][m];
    if (member->kind == SL_MEMBER_EVENTS) {
      bind_events(slot, slice, n, (struct sl_events *)((char *)args + member->args_offset), step);
    } else if (member->kind == SL_MEMBER_SCRATCH) {
      bind_field(slot, slice, (void **)((char *)args + member->args_offset), at->storage[0]);
    } else if (member->flags & SL_FLAG_FIELD) {
      bind_reference(slot, slice, member, args, at);
    } else if (member->flags & SL_FLAG_LIST) {
      bind_list_port(slot, slice, n, m, args);
    } else if (member->kind == SL_MEMBER_IN || member->kind == SL_MEMBER_OUT) {
      bind_view(slot, slice, member->collection, (char *)args + member->args_offset, at);
    }
    if (member->kind == SL_MEMBER_OUT)
      bind_limits(member->collection, (char *)args + member->args_offset, step, outputs++);
  }
}

/* All pointers of a sink are patches: they are set before each call. */
static void bind_sink(struct sl_slot *slot, uint32_t n, void *args) {
  const struct sl_setup *s = slot->setup;
  const struct sl_node *node = &s->graph->nodes[n];
  sl_graph_fill_properties(node, args);
  for (uint32_t m = 0; m < node->algorithm->member_count; m++) {
    const struct sl_member *member = &node->algorithm->members[m];
    const struct sl_slot_member *at = &s->layout->members[n][m];
    if (member->kind != SL_MEMBER_IN) continue;
    unsigned char *port = (unsigned char *)args + member->args_offset;
    if (member->flags & SL_FLAG_LIST) port = take_views(&slot->sink_tables, member, &node->inputs[m], args);
    for (uint32_t k = 0; k < at->entry_count; k++, port += sl_collection_bytes(member->collection))
      for (uint32_t f = 0; f < member->collection->field_count; f++)
        if (at->entries[k].storage[f] != SL_NONE)
          slot->sink_patches[slot->sink_patch_count++] =
              (struct sl_patch){sl_port_pointer(port, f), at->entries[k].storage[f]};
  }
}

uint64_t sl_views_bytes(const struct sl_node *node) {
  uint64_t bytes = 0;
  for (uint32_t m = 0; m < node->algorithm->member_count; m++)
    if (node->algorithm->members[m].flags & SL_FLAG_LIST)
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
    *pointers += sl_views_bytes(&g->nodes[g->order[i]]) / sizeof(void *);
  }
}

/* Opens the tables of all kernels, or of all sinks. */
static int open_tables(struct sl_slot *slot, uint32_t kind, struct sl_tables *tables) {
  struct sl_setup *s = slot->setup;
  for (uint32_t i = 0; i < s->graph->order_count; i++)
    if (s->graph->nodes[s->graph->order[i]].algorithm->kind == kind)
      tables->bytes += sl_views_bytes(&s->graph->nodes[s->graph->order[i]]);
  if (kind == SL_KIND_KERNEL)
    tables->bytes += s->layout->list_pointer_count * sizeof(struct sl_list_pointers) + sl_families_bytes(s);
  const int is_copied = kind == SL_KIND_KERNEL && s->backend->is_device && tables->bytes > 0;
  tables->host = calloc(1, tables->bytes + 1);
  tables->device = is_copied ? s->backend->allocate(slot->device, tables->bytes) : tables->host;
  return tables->host && tables->device ? SL_OK : SL_ENOMEM;
}

/* Pointers to the event lists that are combined; all of them are outputs of kernels. */
static void bind_lists(struct sl_slot *slot, struct sl_tables *tables) {
  const struct sl_layout *l = slot->layout;
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
  const struct sl_graph *g = slot->setup->graph;
  const uint32_t slices = slot->setup->backend->slices_in_flight;
  uint32_t step = 0;
  for (uint32_t k = 0; k < slices; k++) {
    bind_lists(slot, &slot->slices_in_flight[k].tables);
    sl_families_place(slot->setup, &slot->slices_in_flight[k]);
  }
  for (uint32_t i = 0; i < g->order_count; i++) {
    const uint32_t n = g->order[i];
    const struct sl_algorithm *a = g->nodes[n].algorithm;
    if (a->kind == SL_KIND_SINK) {
      slot->sink_args[n] = next;
      next += sl_aligned(a->args_size, SL_ARGS_ALIGNMENT);
      bind_sink(slot, n, slot->sink_args[n]);
    } else if (a->kind == SL_KIND_KERNEL) {
      for (uint32_t k = 0; k < slices; k++) {
        if (!slot->slices_in_flight[k].args[n]) { /* the node is in no family */
          slot->slices_in_flight[k].args[n] = next;
          next += sl_aligned(a->args_size, SL_ARGS_ALIGNMENT);
        }
        bind_kernel(slot, &slot->slices_in_flight[k], n, slot->slices_in_flight[k].args[n], step);
      }
      step++;
    }
  }
}

static void open_launches(struct sl_slot *slot) {
  const struct sl_setup *s = slot->setup;
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
        .services = &s->contexts[n]->services,
        .backend = slot->stream, /* kernels: the stream of their branch, below */
        .scan = s->backend->scan,
        .scan_items = s->backend->scan_items,
        .widen = s->graph->nodes[n].has_block ? 1 : sl_setup_widen(s, slot->device),
        .shared_bytes_max = s->backend->shared_bytes ? s->backend->shared_bytes(slot->device) : SL_HOST_SHARED_BYTES};
  }
  for (uint32_t step = 0; step < s->layout->step_count; step++)
    for (uint32_t i = 0; i < s->layout->steps[step].node_count; i++)
      slot->launches[s->layout->steps[step].nodes[i]].backend = sl_step_stream(slot, step);
}

int sl_binding_open(struct sl_slot *slot) {
  struct sl_setup *s = slot->setup;
  const uint32_t nodes = s->graph->node_count + 1, slices = s->backend->slices_in_flight;
  uint64_t bytes, pointers;
  count_arguments(s->graph, &bytes, &pointers);
  bytes *= slices;
  slot->arguments = aligned_alloc(SL_ARGS_ALIGNMENT, bytes);
  slot->sink_args = calloc(nodes, sizeof *slot->sink_args);
  slot->sink_patches = calloc(pointers, sizeof *slot->sink_patches);
  slot->launches = calloc(nodes, sizeof *slot->launches);
  if (!slot->arguments || !slot->sink_args || !slot->sink_patches || !slot->launches) return SL_ENOMEM;
  memset(slot->arguments, 0, bytes);
  for (uint32_t k = 0; k < slices; k++) {
    slot->slices_in_flight[k].args = calloc(nodes, sizeof *slot->slices_in_flight[k].args);
    slot->slices_in_flight[k].patches = calloc(pointers, sizeof *slot->slices_in_flight[k].patches);
    if (!slot->slices_in_flight[k].args || !slot->slices_in_flight[k].patches) return SL_ENOMEM;
    if (open_tables(slot, SL_KIND_KERNEL, &slot->slices_in_flight[k].tables) < 0) return SL_ENOMEM;
  }
  if (open_tables(slot, SL_KIND_SINK, &slot->sink_tables) < 0) return SL_ENOMEM;
  bind_all(slot, slot->arguments);
  open_launches(slot);
  return SL_OK;
}

void sl_binding_renew(struct sl_slot *slot) {
  const struct sl_setup *s = slot->setup;
  uint64_t bytes, pointers;
  count_arguments(s->graph, &bytes, &pointers);
  memset(slot->arguments, 0, bytes * s->backend->slices_in_flight);
  for (uint32_t k = 0; k < s->backend->slices_in_flight; k++) {
    struct sl_slice *slice = &slot->slices_in_flight[k];
    memset(slice->args, 0, s->graph->node_count * sizeof *slice->args);
    slice->patch_count = 0;
    slice->tables.taken = 0;
  }
  slot->sink_patch_count = 0;
  slot->sink_tables.taken = 0;
  bind_all(slot, slot->arguments);
}

static void close_tables(const struct sl_slot *slot, struct sl_tables *tables) {
  if (tables->device && tables->device != tables->host)
    slot->setup->backend->release(slot->device, tables->device, tables->bytes);
  free(tables->host);
}

void sl_binding_close(struct sl_slot *slot) {
  for (uint32_t k = 0; k < slot->setup->backend->slices_in_flight; k++) {
    struct sl_slice *slice = &slot->slices_in_flight[k];
    close_tables(slot, &slice->tables);
    free(slice->args);
    free(slice->patches);
  }
  close_tables(slot, &slot->sink_tables);
  free(slot->arguments);
  free(slot->sink_args);
  free(slot->sink_patches);
  free(slot->launches);
}

/* ------------------------------------------------------------------------------------------------ slice by slice */

int sl_bind_input(struct sl_slot *slot, struct sl_slice *slice, uint32_t first) {
  const struct sl_tables *t = &slice->tables;
  for (uint32_t p = 0; p < slice->patch_count; p++)
    *slice->patches[p].pointer = sl_field_for_kernels(slot, slice, first, slice->patches[p].storage);
  return t->device == t->host ? SL_OK : slot->setup->backend->upload_now(slot->device, t->device, t->host, t->bytes);
}

void sl_bind_sinks(struct sl_slot *slot, const struct sl_input *input, uint32_t first, int empty) {
  const struct sl_setup *s = slot->setup;
  for (uint32_t p = 0; p < slot->sink_patch_count; p++) {
    const int32_t storage = slot->sink_patches[p].storage;
    const int made = s->layout->storage[storage].kind == SL_STORAGE_ARENA;
    *slot->sink_patches[p].pointer = empty && made ? s->zeros : sl_field_on_host(slot, input, first, storage);
  }
}

/* ------------------------------------------------------------------------------------------------------ constants */

void sl_bind_constants(const struct sl_setup *s, uint32_t n, void *args, unsigned char *views) {
  const struct sl_node *node = &s->graph->nodes[n];
  for (uint32_t m = 0; m < node->algorithm->member_count; m++) {
    const struct sl_member *member = &node->algorithm->members[m];
    const struct sl_slot_member *at = &s->layout->members[n][m];
    if (member->kind != SL_MEMBER_IN || (member->flags & SL_FLAG_FIELD))
      continue; /* a constant has no field
                   references */
    const int is_list = (member->flags & SL_FLAG_LIST) != 0;
    unsigned char *port = is_list ? views : (unsigned char *)args + member->args_offset;
    if (is_list)
      *sl_args_views(args, member) = (struct sl_views){views, node->inputs[m].names, node->inputs[m].count, 0};
    for (uint32_t k = 0; k < at->entry_count; k++, port += sl_collection_bytes(member->collection))
      for (uint32_t f = 0; f < member->collection->field_count; f++)
        if (at->entries[k].storage[f] != SL_NONE)
          *sl_port_pointer(port, f) = s->arrays[at->entries[k].storage[f]].values;
    if (is_list) views = port;
  }
}
