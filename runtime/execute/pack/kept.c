/* kept.c: the blocks that slices pack results into which a program may keep. Each slice in flight has a block; if a
 * batch in it is kept, the slice takes another one before it runs again. See keep/keep.c.
 */
#include "execute/pack/kept.h"

#include "execute/delivery.h"
#include "execute/pack/pack.h"
#include "keep/keep.h"
#include "layout/bind.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NAMES_BYTES = 1024 }; /* of the kept batches in a message */

static uint32_t kept_max(uint32_t slots) { return SL_KEPT_PER_SLOT * slots; }

/* Number of blocks on a device. Any device may have made all batches that are kept. */
static uint32_t block_count(const struct sl_setup *s, uint32_t slots, uint32_t device) {
  const uint32_t of_device = (slots + s->device_count - 1 - device) / s->device_count;
  return of_device * s->backend->slices_in_flight + kept_max(slots);
}

uint64_t sl_kept_bytes(const struct sl_setup *s, uint32_t slots) {
  return s->options.keep_device ? block_count(s, slots, 0) * sl_pack_kept_bytes(s) : 0;
}

_Static_assert(sizeof((struct sl_keep_size){0}.blocks) == SL_DEVICES_MAX * sizeof(uint32_t), "a number per device");

static struct sl_keep_size size_of(const struct sl_setup *s) {
  struct sl_keep_size size = {
      .bytes = sl_pack_kept_bytes(s), .events = s->slice_events, .outputs = s->graph->output_count};
  for (uint32_t d = 0; d < s->device_count; d++) size.blocks[d] = block_count(s, s->slot_count, d);
  for (uint32_t o = 0; o < s->graph->output_count; o++) {
    const struct sl_port port = s->graph->outputs[o].port;
    size.fields += s->graph->nodes[port.node].algorithm->members[port.member].collection->field_count;
  }
  return size;
}

int sl_kept_open(struct sl_setup *s) {
  if (!s->options.keep_device) return SL_OK;
  if (!s->keep) {
    s->keep = sl_keep_open(s->backend, s->device_count, kept_max(s->slot_count));
    for (uint32_t d = 0; s->keep && d < s->device_count; d++)
      sl_keep_set_device(s->keep, d, s->devices[d].device, s->devices[d].number);
  }
  const struct sl_keep_size size = size_of(s);
  if (s->keep && sl_keep_allocate(s->keep, &size) == SL_OK) return SL_OK;
  sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, "use fewer slots or a smaller --slice-events",
              "no memory for the batches that may be kept: %u of %" PRIu64 " bytes", size.blocks[0], size.bytes);
  return SL_ENOMEM;
}

int sl_kept_prepare(struct sl_slot *slot, uint32_t k) {
  struct sl_slice *slice = &slot->slices_in_flight[k];
  struct sl_keep *keep = slot->setup->keep;
  if (!keep || slice->block) return SL_OK;
  const int status = sl_keep_take(keep, slot->device_state->index, &slice->block);
  if (slice->block && slice->target) *slice->target = slice->block->memory;
  return status;
}

void sl_kept_leave(struct sl_slot *slot) {
  for (uint32_t k = 0; k < slot->setup->backend->slices_in_flight; k++) {
    sl_keep_give(slot->slices_in_flight[k].block);
    slot->slices_in_flight[k].block = NULL;
  }
}

/* ---------------------------------------------------------------------------------------------- on the host */

/* Size of the valid part of a field, from its first entry on. */
static uint64_t valid_bytes(const struct sl_pack_field *f, uint32_t events) {
  const uint64_t items = f->offsets ? f->offsets[events] : 0;
  const uint64_t subitems = f->item_offsets ? f->item_offsets[items] : 0;
  const struct sl_field one = {.shape = f->shape, .width = 1};
  return f->entry_bytes * sl_field_values(&one, f->count ? *f->count : events, items, subitems);
}

int sl_kept_pack(struct sl_slot *slot, uint32_t k, uint32_t first, uint32_t count) {
  const struct sl_packing *p = &slot->packings[SL_PACKING_KEPT];
  if (slot->setup->backend->is_device || !slot->setup->keep) return SL_OK;
  if (sl_kept_prepare(slot, k) < 0) return SL_ENOMEM;
  const struct sl_kept_batch *block = slot->slices_in_flight[k].block;
  uint64_t next = 0;
  for (uint32_t f = 0; f < p->pack.field_count; f++) {
    const struct sl_pack_field field = sl_pack_field_of(slot, k, first, (uint32_t)p->storage[f]);
    const uint64_t bytes = valid_bytes(&field, count);
    slot->kept[p->storage[f]] = block->memory + next;
    if (next + bytes <= block->bytes) memcpy(block->memory + next, field.source, bytes);
    next += sl_aligned(bytes, SL_PACK_ALIGNMENT);
  }
  slot->results_bytes = next;
  slot->results_room = block->bytes;
  return SL_OK;
}

/* ------------------------------------------------------------------------------------------------ delivery */

/* Gives an event with an error fields without items. */
static int make_empty(struct sl_slot *slot, uint32_t k) {
  const struct sl_setup *s = slot->setup;
  const struct sl_packing *p = &slot->packings[SL_PACKING_KEPT];
  int status = sl_kept_prepare(slot, k);
  unsigned char *next = status == SL_OK ? slot->slices_in_flight[k].block->memory : NULL;
  for (uint32_t f = 0; f < p->pack.field_count && status == SL_OK; f++) {
    struct sl_pack_field field = sl_pack_field_of(slot, k, 0, (uint32_t)p->storage[f]);
    field.offsets = field.item_offsets = NULL;
    field.count = NULL;
    const uint64_t bytes = valid_bytes(&field, 1);
    slot->kept[p->storage[f]] = next;
    if (s->backend->is_device)
      status = s->backend->upload_now(slot->device, next, s->zeros, bytes);
    else
      memset(next, 0, bytes);
    next += sl_aligned(bytes, SL_PACK_ALIGNMENT);
  }
  return status;
}

/* Describes the batch in the block. */
static void describe(const struct sl_slot *slot, struct sl_kept_batch *block, const struct sl_batch *batch) {
  const struct sl_setup *s = slot->setup;
  const void **pointers = block->pointers;
  for (uint32_t o = 0; o < batch->output_count; o++) {
    const struct sl_port port = s->graph->outputs[o].port;
    const struct sl_collection *c = batch->outputs[o].collection;
    const int32_t *storage = s->layout->members[port.node][port.member].storage;
    block->views[o] = (struct sl_output_view){batch->outputs[o].name, c, pointers};
    for (uint32_t f = 0; f < c->field_count; f++)
      *pointers++ = storage[f] == SL_NONE || sl_is_totals(c) ? NULL : slot->kept[storage[f]];
  }
  memcpy(block->events, batch->events, batch->event_count * sizeof *block->events);
  block->about = (struct sl_kept_memory){.size = sizeof block->about,
                                         .kind = s->backend->memory_kind ? s->backend->memory_kind : SL_MEMORY_HOST,
                                         .device = s->backend->memory_kind ? slot->device_state->number : 0,
                                         .event_count = batch->event_count,
                                         .first_event = slot->delivery->events,
                                         .events = block->events,
                                         .outputs = block->views,
                                         .output_count = batch->output_count};
}

int sl_kept_begin(struct sl_slot *slot, uint32_t k, const struct sl_batch *batch, int empty) {
  const struct sl_setup *s = slot->setup;
  char names[NAMES_BYTES] = "";
  if (!s->keep) return SL_OK;
  const int status = empty ? make_empty(slot, k) : SL_OK;
  if (status < 0) return status;
  struct sl_kept_batch *block = slot->slices_in_flight[k].block;
  describe(slot, block, batch);
  if (sl_keep_begin_batch(block, names, sizeof names)) return SL_OK;
  sl_diagnose(
      s->diagnostics, SL_ERROR, NULL, NULL,
      "release batches that are no longer needed, or use more slots: each has memory for two",
      "no memory is left for the batch from event %" PRIu64 " on: all %u batches that %u %s can keep are kept: %s",
      slot->delivery->events, kept_max(s->slot_count), s->slot_count, s->slot_count == 1 ? "slot" : "slots", names);
  return SL_ENOMEM;
}

void sl_kept_end(struct sl_slot *slot, uint32_t k) {
  struct sl_slice *slice = &slot->slices_in_flight[k];
  if (slice->block && sl_keep_end_batch(slice->block)) slice->block = NULL;
}
