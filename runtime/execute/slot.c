/* slot.c: what one slice in flight owns, and running a slice through the graph.
 *
 * All pointers are set once, when the slot opens. A slice changes only the patches: pointers into its input block. A
 * part of a slice (after an overflow or a refused event) is the same input seen from a later event: the pointers of
 * fields that go by event move, all others stay, since offsets need not begin at 0.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "execute/bind.h"
#include "execute/session.h"

enum { NO_INDEX = UINT32_MAX, ARGS_ALIGNMENT = 64, CANARY_BYTES = 256, CANARY = 0xC7, POISON = 0xA5, ERROR_STEPS = 0xFFFFFF };

uint64_t sl_now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t aligned(uint64_t bytes, uint64_t alignment) { return (bytes + alignment - 1) / alignment * alignment; }

/* ------------------------------------------------------------------------------------------------- inputs */

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
    sl_args_bound(input->source_args, member, 0)->capacity = slot->items;
    sl_args_bound(input->source_args, member, 1)->capacity = slot->subitems;
  }
}

int sl_input_open(struct sl_session *s, struct sl_input *input) {
  const struct sl_algorithm *source = s->graph->nodes[s->graph->source].algorithm;
  input->block = s->backend->allocate(s->layout->input_bytes);
  input->events = calloc(s->slice_events, sizeof *input->events);
  input->source_args = calloc(1, source->args_size + 1u);
  if (!input->block || !input->events || !input->source_args) return SL_ENOMEM;
  bind_source(s, input);
  return SL_OK;
}

void sl_input_close(struct sl_session *s, struct sl_input *input) {
  if (input->block) s->backend->release(input->block, s->layout->input_bytes);
  free(input->events);
  free(input->source_args);
  memset(input, 0, sizeof *input);
}

/* ------------------------------------------------------------------------------------------------ opening */

static int open_storage(struct sl_slot *slot) {
  struct sl_session *s = slot->session;
  const struct sl_layout *l = s->layout;
  slot->storage = calloc(l->storage_count + 1, sizeof *slot->storage);
  if (!slot->storage) return SL_ENOMEM;
  if (!s->options.guard) {
    slot->arena = s->backend->allocate(l->arena_bytes);
    if (!slot->arena) return SL_ENOMEM;
  }
  for (uint32_t i = 0; i < l->storage_count; i++) {
    const struct sl_storage *storage = &l->storage[i];
    if (storage->kind == SL_STORAGE_CONSTANT) {
      slot->storage[i] = s->arrays[i].values;
    } else if (storage->kind == SL_STORAGE_ARENA && storage->upper > 0) {
      if (!s->options.guard) {
        slot->storage[i] = slot->arena + storage->offset;
        continue;
      }
      slot->storage[i] = malloc(storage->bytes + CANARY_BYTES);
      if (!slot->storage[i]) return SL_ENOMEM;
      memset(slot->storage[i], POISON, storage->bytes);
      memset((char *)slot->storage[i] + storage->bytes, CANARY, CANARY_BYTES);
    }
  }
  return SL_OK;
}

/* Sets one pointer of an argument struct, or notes a patch for it. */
static void bind_field(struct sl_slot *slot, void **pointer, int32_t storage) {
  if (storage == SL_NONE) return;
  const struct sl_storage *where = &slot->session->layout->storage[storage];
  if (where->kind == SL_STORAGE_INPUT)
    slot->patches[slot->patch_count++] = (struct sl_patch){pointer, where->offset, where->event_stride_bytes};
  else
    *pointer = slot->storage[storage];
}

static struct sl_bound bound_of(struct sl_slot *slot, uint32_t capacity, uint32_t used) {
  return (struct sl_bound){capacity, 0, used == NO_INDEX ? NULL : &slot->used[used]};
}

static void bind_events(struct sl_slot *slot, uint32_t node, struct sl_events *events, uint32_t step) {
  const struct sl_layout *l = slot->session->layout;
  const uint32_t set = l->node_set[node];
  events->count = set == NO_INDEX ? &slot->event_count : slot->storage[l->sets[set].count_storage];
  events->numbers = set == NO_INDEX ? NULL : slot->storage[l->sets[set].numbers_storage];
  events->errors = slot->errors;
  events->error_base = (uint64_t)(ERROR_STEPS - step) << 40;
}

static void bind_node(struct sl_slot *slot, uint32_t n, void *args, uint32_t step, int empty) {
  const struct sl_session *s = slot->session;
  const struct sl_node *node = &s->graph->nodes[n];
  sl_graph_fill_properties(node, args);
  for (uint32_t m = 0; m < node->algorithm->member_count; m++) {
    const struct sl_member *member = &node->algorithm->members[m];
    const struct sl_slot_member *at = &s->layout->members[n][m];
    if (member->kind == SL_MEMBER_EVENTS) {
      bind_events(slot, n, (struct sl_events *)((char *)args + member->args_offset), step);
    } else if (member->kind == SL_MEMBER_SCRATCH) {
      bind_field(slot, (void **)((char *)args + member->args_offset), at->storage[0]);
    } else if (member->kind != SL_MEMBER_PROPERTY) {
      for (uint32_t f = 0; f < member->collection->field_count; f++) {
        void **pointer = sl_args_pointer(args, member, f);
        const int32_t storage = at->storage[f];
        if (empty && storage != SL_NONE && s->layout->storage[storage].kind == SL_STORAGE_ARENA) *pointer = s->zeros;
        else bind_field(slot, pointer, storage);
      }
      *sl_args_bound(args, member, 0) = bound_of(slot, at->items, at->used_items);
      *sl_args_bound(args, member, 1) = bound_of(slot, at->subitems, at->used_subitems);
    }
  }
}

static int open_arguments(struct sl_slot *slot) {
  struct sl_session *s = slot->session;
  const struct sl_graph *g = s->graph;
  uint64_t bytes = 0, pointers = 0;
  for (uint32_t i = 0; i < g->order_count; i++) {
    const struct sl_algorithm *a = g->nodes[g->order[i]].algorithm;
    bytes += 2 * aligned(a->args_size, ARGS_ALIGNMENT);
    for (uint32_t m = 0; m < a->member_count; m++) pointers += 2 * (a->members[m].args_size / sizeof(void *) + 1);
  }
  slot->arguments = aligned_alloc(ARGS_ALIGNMENT, bytes + ARGS_ALIGNMENT);
  slot->args = calloc(g->node_count + 1, sizeof *slot->args);
  slot->empty_args = calloc(g->node_count + 1, sizeof *slot->empty_args);
  slot->patches = calloc(pointers + 1, sizeof *slot->patches);
  slot->launches = calloc(g->node_count + 1, sizeof *slot->launches);
  if (!slot->arguments || !slot->args || !slot->empty_args || !slot->patches || !slot->launches) return SL_ENOMEM;
  memset(slot->arguments, 0, bytes + ARGS_ALIGNMENT);
  unsigned char *next = slot->arguments;
  uint32_t step_of_node = 0;
  for (uint32_t i = 0; i < g->order_count; i++) {
    const uint32_t n = g->order[i];
    const struct sl_algorithm *a = g->nodes[n].algorithm;
    if (a->kind != SL_KIND_KERNEL && a->kind != SL_KIND_SINK) continue;
    slot->args[n] = next;
    next += aligned(a->args_size, ARGS_ALIGNMENT);
    bind_node(slot, n, slot->args[n], step_of_node++, 0);
    if (a->kind == SL_KIND_SINK) {
      slot->empty_args[n] = next;
      next += aligned(a->args_size, ARGS_ALIGNMENT);
      bind_node(slot, n, slot->empty_args[n], 0, 1);
    }
    slot->launches[n] = (struct sl_launch){
        .size = sizeof(struct sl_launch),
        .block_threads = s->backend->block_threads ? s->backend->block_threads : g->nodes[n].block_threads,
        .grid_blocks = 1, .events_max = s->slice_events, .services = &s->contexts[n].services,
        .backend = &slot->stream, .scan = s->backend->scan};
  }
  return SL_OK;
}

int sl_slot_open(struct sl_session *s, struct sl_slot *slot, uint32_t index) {
  const uint32_t nodes = s->graph->node_count + 1;
  slot->session = s;
  slot->index = index;
  slot->stream.event_count = &slot->event_count;
  slot->errors = calloc(s->slice_events, sizeof *slot->errors);
  slot->used = calloc(s->layout->used_count + 1, sizeof *slot->used);
  slot->used_max = calloc(s->layout->used_count + 1, sizeof *slot->used_max);
  slot->node_ns = calloc(nodes, sizeof *slot->node_ns);
  slot->node_events = calloc(nodes, sizeof *slot->node_events);
  slot->node_calls = calloc(nodes, sizeof *slot->node_calls);
  if (!slot->errors || !slot->used || !slot->used_max || !slot->node_ns || !slot->node_events || !slot->node_calls) return SL_ENOMEM;
  const int status = open_storage(slot);
  return status < 0 ? status : open_arguments(slot);
}

void sl_slot_close(struct sl_slot *slot) {
  if (!slot->session) return;
  const struct sl_layout *l = slot->session->layout;
  if (slot->session->options.guard && slot->storage)
    for (uint32_t i = 0; i < l->storage_count; i++)
      if (l->storage[i].kind == SL_STORAGE_ARENA) free(slot->storage[i]);
  if (slot->arena) slot->session->backend->release(slot->arena, l->arena_bytes);
  sl_input_close(slot->session, &slot->input);
  free(slot->storage);
  free(slot->arguments);
  free(slot->args);
  free(slot->empty_args);
  free(slot->patches);
  free(slot->launches);
  free(slot->errors);
  free(slot->used);
  free(slot->used_max);
  free(slot->node_ns);
  free(slot->node_events);
  free(slot->node_calls);
}

/* -------------------------------------------------------------------------------------------------- guard */

static void poison_outputs(struct sl_slot *slot, uint32_t step) {
  const struct sl_layout *l = slot->session->layout;
  for (uint32_t i = 0; i < l->storage_count; i++) {
    const struct sl_storage *s = &l->storage[i];
    if (s->kind == SL_STORAGE_ARENA && s->upper > 0 && (s->lower == step || s->upper == step))
      memset(slot->storage[i], POISON, s->bytes);
  }
}

static int check_canaries(struct sl_slot *slot, const struct sl_node *node) {
  const struct sl_layout *l = slot->session->layout;
  for (uint32_t i = 0; i < l->storage_count; i++) {
    const struct sl_storage *s = &l->storage[i];
    if (s->kind != SL_STORAGE_ARENA || s->upper == 0) continue;
    const unsigned char *canary = (const unsigned char *)slot->storage[i] + s->bytes;
    for (uint32_t b = 0; b < CANARY_BYTES; b++) {
      if (canary[b] == CANARY) continue;
      char name[160];
      sl_layout_name(l, i, name, sizeof name);
      sl_diagnose(slot->session->diagnostics, SL_ERROR, &node->place, node->name, NULL,
                  "wrote %u bytes behind the end of %s (%llu bytes)", b + 1, name, (unsigned long long)s->bytes);
      return SL_EPLUGIN;
    }
  }
  return SL_OK;
}

/* ------------------------------------------------------------------------------------------------ running */

/* Events that are not on the node's list have empty outputs. */
static void zero_outputs(struct sl_slot *slot, uint32_t n) {
  const struct sl_session *s = slot->session;
  const struct sl_algorithm *a = s->graph->nodes[n].algorithm;
  for (uint32_t m = 0; m < a->member_count; m++) {
    if (a->members[m].kind != SL_MEMBER_OUT) continue;
    for (uint32_t f = 0; f < a->members[m].collection->field_count; f++) {
      const uint32_t shape = a->members[m].collection->fields[f].shape;
      const int32_t storage = s->layout->members[n][m].storage[f];
      const int own = storage != SL_NONE && s->layout->storage[storage].node == n && s->layout->storage[storage].member == m;
      const int shared_items = a->members[m].shares && shape == SL_SHAPE_CODE_PER_ITEM;
      if (own && (shape == SL_SHAPE_CODE_OFFSETS || shape == SL_SHAPE_CODE_PER_EVENT || shared_items))
        s->backend->zero(&slot->stream, slot->storage[storage], s->layout->storage[storage].bytes);
    }
  }
}

static void intersect(struct sl_slot *slot, const struct sl_list_set *set) {
  const struct sl_layout *l = slot->session->layout;
  struct sl_list_pointers lists[64];
  for (uint32_t p = 0; p < set->port_count; p++) {
    const int32_t *storage = l->members[set->ports[p].node][set->ports[p].member].storage;
    lists[p] = (struct sl_list_pointers){slot->storage[storage[0]], slot->storage[storage[1]]};
  }
  slot->session->backend->intersect(&slot->stream, lists, set->port_count, slot->storage[set->count_storage],
                                    slot->storage[set->numbers_storage]);
}

static int run_node(struct sl_slot *slot, uint32_t n) {
  const struct sl_node *node = &slot->session->graph->nodes[n];
  const struct sl_algorithm *a = node->algorithm;
  if (slot->session->layout->node_set[n] != NO_INDEX) zero_outputs(slot, n);
  const int status = a->run_tuned && !node->shared ? a->run_tuned(&slot->launches[n], slot->args[n])
                                                   : a->run(&slot->launches[n], slot->args[n]);
  if (status < 0)
    sl_diagnose(slot->session->diagnostics, SL_ERROR, &node->place, node->name, NULL, "%s failed: %s", node->use,
                sl_error_text(status));
  return status;
}

/* All steps of the graph on events [first, first + count) of the input. */
static int run_steps(struct sl_slot *slot, const struct sl_input *input, uint32_t first, uint32_t count) {
  const struct sl_session *s = slot->session;
  const struct sl_layout *l = s->layout;
  for (uint32_t p = 0; p < slot->patch_count; p++)
    *slot->patches[p].pointer = input->block + slot->patches[p].offset + first * slot->patches[p].event_stride_bytes;
  slot->event_count = count;
  memset(slot->errors, 0, count * sizeof *slot->errors);
  memset(slot->used, 0, l->used_count * sizeof *slot->used);
  uint64_t before = sl_now_ns();
  for (uint32_t step = 0; step < l->step_count; step++) {
    const struct sl_step *at = &l->steps[step];
    if (s->options.guard) poison_outputs(slot, step);
    if (at->kind == SL_STEP_INTERSECT) {
      intersect(slot, &l->sets[at->set]);
      continue;
    }
    const int status = run_node(slot, at->node);
    if (status < 0) return status;
    const uint64_t after = sl_now_ns();
    slot->node_ns[at->node] += after - before;
    before = after;
    slot->node_calls[at->node]++;
    slot->node_events[at->node] +=
        at->set == NO_INDEX ? count : *(const uint32_t *)slot->storage[l->sets[at->set].count_storage];
    if (s->options.guard && check_canaries(slot, &s->graph->nodes[at->node]) < 0) return SL_EPLUGIN;
  }
  return SL_OK;
}

/* The first `used` word that exceeds its capacity, and whose it is; NO_INDEX if none does. */
static uint32_t find_overflow(struct sl_slot *slot, const struct sl_node **node, const struct sl_member **member,
                              uint32_t *capacity, int *sub) {
  struct sl_session *s = slot->session;
  uint32_t found = NO_INDEX;
  for (uint32_t i = 0; i < s->graph->order_count; i++) {
    const uint32_t n = s->graph->order[i];
    const struct sl_algorithm *a = s->graph->nodes[n].algorithm;
    if (a->kind != SL_KIND_KERNEL) continue;
    for (uint32_t m = 0; m < a->member_count; m++) {
      if (a->members[m].kind != SL_MEMBER_OUT) continue;
      const struct sl_slot_member *at = &s->layout->members[n][m];
      for (int which = 0; which < 2; which++) {
        const uint32_t word = which ? at->used_subitems : at->used_items;
        if (word == NO_INDEX || found != NO_INDEX) continue;
        const uint32_t limit = which ? at->subitems : at->items;
        if (slot->used[word] <= limit) continue;
        found = word;
        *node = &s->graph->nodes[n];
        *member = &a->members[m];
        *capacity = limit;
        *sub = which;
      }
    }
  }
  return found;
}

static int execute_range(struct sl_slot *slot, struct sl_input *input, uint32_t first, uint32_t count);

static int deliver(struct sl_slot *slot, struct sl_input *input, uint32_t first, uint32_t count, int empty) {
  if (!slot->session->delivering) return SL_OK;
  const int status = sl_wait_for_turn(slot);
  return status < 0 ? status : sl_deliver(slot, input, first, count, empty);
}

static int retry_in_parts(struct sl_slot *slot, struct sl_input *input, uint32_t first, uint32_t count, uint32_t word,
                          const struct sl_node *node, const struct sl_member *member, uint32_t capacity, int sub) {
  struct sl_session *s = slot->session;
  const uint32_t used = slot->used[word];
  pthread_mutex_lock(&s->turn_lock);
  s->overflows[word]++;
  pthread_mutex_unlock(&s->turn_lock);
  if (count > 1) {
    slot->retries++;
    const int status = execute_range(slot, input, first, count / 2);
    return status < 0 ? status : execute_range(slot, input, first + count / 2, count - count / 2);
  }
  struct sl_event *event = &input->events[first];
  event->error = SL_EVENT_OVERFLOW;
  if (s->delivering)
    sl_diagnose(s->diagnostics, SL_WARNING, NULL, node->name, "raise the budget of this output, or --slice-events",
                "run %u event %llu needs %u %s of %s, the capacity is %u", event->run, (unsigned long long)event->number,
                used, sub ? "subitems" : "items", member->name, capacity);
  return deliver(slot, input, first, 1, 1);
}

/* Marks the events that kernels refused. Returns how many. */
static uint32_t mark_refused(struct sl_slot *slot, struct sl_input *input, uint32_t first, uint32_t count) {
  struct sl_session *s = slot->session;
  uint32_t refused = 0;
  for (uint32_t e = 0; e < count; e++) {
    if (!slot->errors[e]) continue;
    refused++;
    struct sl_event *event = &input->events[first + e];
    event->error = SL_EVENT_REFUSED;
    if (!s->delivering) continue;
    const uint32_t place = ERROR_STEPS - (uint32_t)(slot->errors[e] >> 40);
    const uint32_t code = (uint32_t)(slot->errors[e] >> 32) & 0xFF, detail = (uint32_t)slot->errors[e];
    uint32_t seen = 0;
    for (uint32_t i = 0; i < s->graph->order_count; i++) {
      const struct sl_node *node = &s->graph->nodes[s->graph->order[i]];
      if (node->algorithm->kind != SL_KIND_KERNEL && node->algorithm->kind != SL_KIND_SINK) continue;
      if (seen++ != place) continue;
      const char *text = "refused";
      for (uint32_t c = 0; c < node->algorithm->error_count; c++)
        if (node->algorithm->errors[c].code == code) text = node->algorithm->errors[c].text;
      sl_diagnose(s->diagnostics, SL_WARNING, NULL, node->name, NULL, "run %u event %llu (file %u, byte %llu): %s (detail %u)",
                  event->run, (unsigned long long)event->number, event->file, (unsigned long long)event->offset, text, detail);
    }
  }
  return refused;
}

/* Events without an error. */
static int execute_good(struct sl_slot *slot, struct sl_input *input, uint32_t first, uint32_t count) {
  const uint64_t begin = sl_now_ns();
  int status = run_steps(slot, input, first, count);
  slot->graph_ns += sl_now_ns() - begin;
  if (status < 0) return status;
  const struct sl_node *node = NULL;
  const struct sl_member *member = NULL;
  uint32_t capacity = 0;
  int sub = 0;
  const uint32_t word = find_overflow(slot, &node, &member, &capacity, &sub);
  if (word == NO_INDEX)
    for (uint32_t w = 0; w < slot->session->layout->used_count; w++)
      if (slot->used[w] > slot->used_max[w]) slot->used_max[w] = slot->used[w];
  if (word != NO_INDEX) return retry_in_parts(slot, input, first, count, word, node, member, capacity, sub);
  if (mark_refused(slot, input, first, count)) {
    slot->retries++;
    return execute_range(slot, input, first, count);
  }
  return deliver(slot, input, first, count, 0);
}

static int execute_range(struct sl_slot *slot, struct sl_input *input, uint32_t first, uint32_t count) {
  const uint32_t end = first + count;
  int status = SL_OK;
  while (first < end && status == SL_OK) {
    uint32_t next = first;
    while (next < end && !input->events[next].error) next++;
    if (next > first) {
      status = execute_good(slot, input, first, next - first);
    } else {
      next = first + 1;
      /* the sinks' inputs from the source must point to this event */
      for (uint32_t p = 0; p < slot->patch_count; p++)
        *slot->patches[p].pointer = input->block + slot->patches[p].offset + first * slot->patches[p].event_stride_bytes;
      status = deliver(slot, input, first, 1, 1);
    }
    first = next;
  }
  return status;
}

int sl_slot_execute(struct sl_slot *slot, struct sl_input *input) {
  slot->slices++;
  return execute_range(slot, input, 0, input->event_count);
}
