/* slots.c: opens and closes a slot and the memory of its slices in flight. */
#include "execute/slots.h"

#include "execute/binding.h"
#include "execute/devices.h"
#include "execute/family.h"
#include "execute/memory_check.h"
#include "execute/pack/kept.h"
#include "execute/pack/pack.h"
#include "execute/streams.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------- inputs */

int sl_input_open(struct sl_setup *s, const struct sl_device_state *state, struct sl_input *input) {
  const struct sl_algorithm *source = s->graph->nodes[s->graph->source].algorithm;
  input->device_state = state;
  input->block = sl_host_allocate(s, state, s->layout->input_bytes);
  input->events = calloc(s->slice_events, sizeof *input->events);
  input->refusals = calloc(s->slice_events, sizeof *input->refusals);
  input->source_args = calloc(1, source->args_size + 1u);
  input->used = calloc(SL_BOUNDS_MAX * (size_t)source->member_count + 1, sizeof *input->used);
  if (!input->block || !input->events || !input->refusals || !input->source_args || !input->used) return SL_ENOMEM;
  sl_bind_source(s, input);
  return SL_OK;
}

void sl_input_close(struct sl_setup *s, struct sl_input *input) {
  const struct sl_memory_check *check = s->memory_check;
  if (input->block && check && check->input_close) check->input_close(s, input);
  if (input->block) s->backend->release_host(input->device_state->device, input->block, s->layout->input_bytes);
  free(input->events);
  free(input->refusals);
  free(input->source_args);
  free(input->used);
  memset(input, 0, sizeof *input);
}

/* ------------------------------------------------------------------------------------------------ storage */

/* SL_ENOMEM leaves the arena as it was. */
static int resize_arena(struct sl_slot *slot, uint64_t bytes) {
  const struct sl_backend *backend = slot->setup->backend;
  unsigned char *arena =
      slot->region ? backend->arena_resize(slot->region, bytes) : backend->allocate(slot->device, bytes);
  if (!arena) return SL_ENOMEM;
  if (!slot->region && slot->arena) backend->release(slot->device, slot->arena, slot->arena_bytes);
  slot->arena = arena;
  slot->arena_bytes = bytes;
  return SL_OK;
}

static void place_storage(struct sl_slot *slot) {
  const struct sl_setup *s = slot->setup;
  const struct sl_layout *l = slot->layout;
  for (uint32_t i = 0; i < l->storage_count; i++) {
    const struct sl_storage *storage = &l->storage[i];
    if (storage->kind == SL_STORAGE_CONSTANT)
      slot->storage[i] = s->arrays[i].device_values[slot->device_state->index];
    else if (storage->kind == SL_STORAGE_ARENA && storage->upper > 0 && !s->memory_check)
      slot->storage[i] = slot->arena + storage->offset;
    if (!s->backend->is_device) slot->host[i] = slot->storage[i];
  }
}

static int open_storage(struct sl_slot *slot) {
  struct sl_setup *s = slot->setup;
  const struct sl_layout *l = slot->layout;
  slot->storage = calloc(l->storage_count + 1, sizeof *slot->storage);
  slot->host = calloc(l->storage_count + 1, sizeof *slot->host);
  if (!slot->storage || !slot->host) return SL_ENOMEM;
  if (s->memory_check) {
    const int status = s->memory_check->open(slot);
    if (status < 0) return status;
  } else {
    if (s->backend->arena_open) {
      const uint64_t most = s->replan == SL_REPLAN_OFF ? l->arena_bytes : s->arena_bytes_max;
      slot->region = s->backend->arena_open(slot->device, most);
      if (!slot->region) return SL_ENOMEM;
    }
    const int status = resize_arena(slot, l->arena_bytes);
    if (status < 0) return status;
  }
  place_storage(slot);
  return SL_OK;
}

static void close_storage(struct sl_slot *slot) {
  const struct sl_setup *s = slot->setup;
  if (s->memory_check) s->memory_check->close(slot);
  if (slot->region)
    s->backend->arena_close(slot->region);
  else if (slot->arena)
    s->backend->release(slot->device, slot->arena, s->memory_check ? sl_fields_bytes(s) : slot->arena_bytes);
  free(slot->storage);
  free(slot->host);
}

/* ------------------------------------------------------------------------------------------------ opening */

static int open_counters(struct sl_slot *slot) {
  const struct sl_setup *s = slot->setup;
  slot->errors = s->backend->allocate(slot->device, sl_counters_bytes(s));
  if (slot->errors) slot->used = (uint32_t *)(slot->errors + s->slice_events);
  slot->used_max = calloc(s->layout->used_count + 1, sizeof *slot->used_max);
  return slot->errors && slot->used_max ? SL_OK : SL_ENOMEM;
}

static int open_slices(struct sl_slot *slot) {
  struct sl_setup *s = slot->setup;
  for (uint32_t k = 0; k < s->backend->slices_in_flight; k++) {
    struct sl_slice *slice = &slot->slices_in_flight[k];
    if (s->repeat <= 1 && sl_input_open(s, slot->device_state, &slice->own_input) < 0) return SL_ENOMEM;
    slice->spare = slice->own_input.block ? &slice->own_input : NULL;
    if (!s->backend->is_device) continue;
    slice->device_input = s->backend->allocate(slot->device, s->layout->device_input_bytes + 1);
    slice->device_event_count = s->backend->allocate(slot->device, sizeof(uint32_t));
    if (!slice->device_input || !slice->device_event_count) return SL_ENOMEM;
  }
  return SL_OK;
}

int sl_slot_open(struct sl_setup *s, const struct sl_slot_parts *parts, struct sl_slot *slot, uint32_t index) {
  slot->setup = s;
  slot->layout = s->layout;
  slot->order = parts->order;
  slot->delivery = parts->delivery;
  slot->history = parts->history;
  slot->replan = parts->replan;
  slot->observers = parts->observers;
  slot->index = index;
  slot->device_state = &s->devices[index % s->device_count];
  slot->device = slot->device_state->device;
  int status = sl_streams_open(slot);
  if (status == SL_OK) status = open_counters(slot);
  if (status == SL_OK) status = open_slices(slot);
  if (status == SL_OK) status = open_storage(slot);
  if (status == SL_OK) status = sl_binding_open(slot);
  if (status == SL_OK) status = sl_clears_open(slot);
  if (status == SL_OK && s->backend->is_device) {
    slot->running = sl_host_allocate(s, slot->device_state, 2 * s->layout->branch_count);
    if (slot->running) memset(slot->running, 0, 2 * s->layout->branch_count);
    if (!slot->running) status = SL_ENOMEM;
  }
  return status == SL_OK ? sl_pack_open(slot) : status;
}

int sl_slot_adopt(struct sl_slot *slot, const struct sl_layout *layout) {
  const int status = layout->arena_bytes == slot->arena_bytes ? SL_OK : resize_arena(slot, layout->arena_bytes);
  if (status < 0) return status;
  slot->layout = layout;
  place_storage(slot);
  sl_binding_renew(slot);
  for (uint32_t k = 0; k < slot->setup->backend->slices_in_flight; k++) slot->slices_in_flight[k].captured = 0;
  sl_clears_renew(slot);
  return SL_OK;
}

void sl_slot_release_device(struct sl_slot *slot) {
  const struct sl_backend *backend = slot->setup->backend;
  sl_kept_leave(slot);
  if (!backend->is_device || slot->setup->memory_check) return;
  if (slot->region)
    backend->arena_close(slot->region);
  else if (slot->arena)
    backend->release(slot->device, slot->arena, slot->arena_bytes);
  slot->region = NULL;
  slot->arena = NULL;
}

void sl_slot_close(struct sl_slot *slot) {
  struct sl_setup *s = slot->setup;
  if (!s) return;
  sl_kept_leave(slot);
  sl_pack_close(slot);
  if (slot->running) s->backend->release_host(slot->device, slot->running, 2 * s->layout->branch_count);
  sl_clears_close(slot);
  for (uint32_t k = 0; k < s->backend->slices_in_flight; k++) {
    struct sl_slice *slice = &slot->slices_in_flight[k];
    sl_input_close(s, &slice->own_input);
    if (slice->device_input) s->backend->release(slot->device, slice->device_input, s->layout->device_input_bytes + 1);
    if (slice->device_event_count) s->backend->release(slot->device, slice->device_event_count, sizeof(uint32_t));
  }
  sl_binding_close(slot);
  close_storage(slot);
  if (slot->errors) s->backend->release(slot->device, slot->errors, sl_counters_bytes(s));
  sl_streams_close(slot);
  free(slot->used_max);
}
