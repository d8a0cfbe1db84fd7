/* pack.c: packed results of a device with memory of its own. The last kernel of a slice copies the valid part of each
 * field that the host reads into one host buffer, after a header with the sizes. The host waits once, for this buffer.
 */

#include "execute/pack.h"

#include "execute/binding.h"
#include "execute/devices.h"
#include "layout/bind.h"

#include <stdlib.h>
#include <string.h>

static uint64_t aligned(uint64_t bytes) { return sl_aligned(bytes, SL_PACK_ALIGNMENT); }

static int is_packed(const struct sl_storage *at) { return at->kind == SL_STORAGE_ARENA && at->last_reader_is_host; }

static const struct sl_collection *collection_of(const struct sl_setup *s, const struct sl_storage *at) {
  if (at->node == UINT32_MAX) return &sl_event_list_collection; /* made by the runtime */
  return s->graph->nodes[at->node].algorithm->members[at->member].collection;
}

static int grows(const struct sl_setup *s, const struct sl_storage *at) {
  const uint32_t shape = collection_of(s, at)->fields[at->field].shape;
  return s->replan != SL_REPLAN_OFF && (shape == SL_SHAPE_CODE_PER_ITEM || shape == SL_SHAPE_CODE_ITEM_OFFSETS ||
                                        shape == SL_SHAPE_CODE_PER_SUBITEM || shape == SL_SHAPE_CODE_BYTES);
}

static uint64_t errors_offset(const struct sl_setup *s) {
  uint64_t fields = 0;
  for (uint32_t i = 0; i < s->layout->storage_count; i++) fields += (uint64_t)is_packed(&s->layout->storage[i]);
  return aligned(sizeof(struct sl_pack_header) + fields * sizeof(uint64_t) + s->layout->used_count * sizeof(uint32_t));
}

static uint64_t fields_offset(const struct sl_setup *s) {
  return errors_offset(s) + aligned(s->slice_events * sizeof(uint64_t));
}

uint64_t sl_pack_output_bytes(const struct sl_setup *s) {
  uint64_t bytes = fields_offset(s);
  for (uint32_t i = 0; i < s->layout->storage_count; i++) {
    const struct sl_storage *at = &s->layout->storage[i];
    if (is_packed(at)) bytes += aligned(grows(s, at) ? 2 * at->bytes : at->bytes);
  }
  return bytes;
}

/* Device address of the offsets of the collection of a storage: its own, or shared ones, which may be part of the
 * input, from event `first` on. */
static const uint32_t *offsets_of(const struct sl_slot *slot, uint32_t k, uint32_t first, uint32_t i, int field) {
  const struct sl_layout *l = slot->layout;
  const struct sl_storage *s = &l->storage[i];
  const int32_t at = field < 0 ? SL_NONE : l->members[s->node][s->member].storage[field];
  if (at == SL_NONE) return NULL;
  return sl_field_for_kernels(slot, &slot->slices_in_flight[k], first, at);
}

/* Address of the number of valid entries of an event list. */
static const uint32_t *count_of(const struct sl_slot *slot, uint32_t i) {
  const struct sl_layout *l = slot->layout;
  for (uint32_t set = 0; set < l->set_count; set++)
    if (l->sets[set].numbers_storage == (int32_t)i) return slot->storage[l->sets[set].count_storage];
  const struct sl_storage *at = &l->storage[i];
  if (at->node == UINT32_MAX) return NULL;
  const struct sl_member *member = &slot->setup->graph->nodes[at->node].algorithm->members[at->member];
  const int32_t *fields = l->members[at->node][at->member].storage;
  const int is_list = sl_is_event_list(member->collection) && fields[0] != SL_NONE && fields[0] != (int32_t)i;
  return is_list ? slot->storage[fields[0]] : NULL;
}

int sl_pack_point(struct sl_slot *slot, uint32_t k, uint32_t first) {
  const struct sl_setup *s = slot->setup;
  for (uint32_t p = 0; p < slot->pack.field_count; p++) {
    const uint32_t i = (uint32_t)slot->pack_storage[p];
    const struct sl_storage *at = &slot->layout->storage[i];
    const struct sl_collection *c = collection_of(s, at);
    const struct sl_field *field = &c->fields[at->field];
    const int item_offsets = sl_item_offsets_field(c, sl_group_of(c, at->field));
    const int is_total = field->shape == SL_SHAPE_CODE_TOTAL; /* all values, as one entry */
    slot->pack_fields[p] = (struct sl_pack_field){slot->storage[i],
                                                  is_total ? at->bytes : field->width * sl_type_bytes(field->type),
                                                  is_total ? SL_SHAPE_CODE_PER_SLICE : field->shape,
                                                  0,
                                                  offsets_of(slot, k, first, i, sl_offsets_field(c)),
                                                  offsets_of(slot, k, first, i, item_offsets),
                                                  count_of(slot, i)};
  }
  return s->backend->upload_now(slot->device, slot->slices_in_flight[k].pack_fields, slot->pack_fields,
                                slot->pack.field_count * sizeof *slot->pack_fields);
}

int sl_pack_open(struct sl_slot *slot) {
  const struct sl_setup *s = slot->setup;
  const struct sl_layout *l = slot->layout;
  slot->pack_fields = calloc(l->storage_count + 1, sizeof *slot->pack_fields);
  slot->pack_storage = calloc(l->storage_count + 1, sizeof *slot->pack_storage);
  if (!slot->pack_fields || !slot->pack_storage) return SL_ENOMEM;
  for (uint32_t i = 0; i < l->storage_count; i++)
    if (is_packed(&l->storage[i])) slot->pack_storage[slot->pack.field_count++] = (int32_t)i;
  slot->pack.used_count = l->used_count;
  slot->pack.used = slot->used;
  slot->pack.errors = slot->errors;
  slot->pack.output_bytes = sl_pack_output_bytes(s);
  slot->pack.errors_offset = errors_offset(s);
  slot->pack.fields_offset = fields_offset(s);
  for (uint32_t k = 0; k < s->backend->slices_in_flight; k++) {
    struct sl_slice *slice = &slot->slices_in_flight[k];
    slice->pack_fields = s->backend->allocate(slot->device, (slot->pack.field_count + 1) * sizeof *slot->pack_fields);
    slice->output = sl_host_allocate(s, slot->device_state, sl_pack_output_bytes(s));
    if (!slice->pack_fields || !slice->output) return SL_ENOMEM;
  }
  return SL_OK;
}

void sl_pack_close(struct sl_slot *slot) {
  const struct sl_setup *s = slot->setup;
  for (uint32_t k = 0; k < s->backend->slices_in_flight; k++) {
    struct sl_slice *slice = &slot->slices_in_flight[k];
    if (slice->output) s->backend->release_host(slot->device, slice->output, sl_pack_output_bytes(s));
    if (slice->pack_fields)
      s->backend->release(slot->device, slice->pack_fields, (slot->pack.field_count + 1) * sizeof *slot->pack_fields);
  }
  free(slot->pack_fields);
  free(slot->pack_storage);
}

int sl_pack_enqueue(struct sl_slot *slot, uint32_t k) {
  struct sl_pack pack = slot->pack;
  pack.fields = slot->slices_in_flight[k].pack_fields;
  pack.output = slot->slices_in_flight[k].output;
  pack.event_count = slot->slices_in_flight[k].device_event_count;
  return slot->setup->backend->pack(slot->stream, &pack);
}

void sl_pack_read(struct sl_slot *slot, uint32_t slice_index) {
  const unsigned char *output = slot->slices_in_flight[slice_index].output;
  const struct sl_pack_header *header = (const struct sl_pack_header *)output;
  const uint64_t *offsets = (const uint64_t *)(header + 1);
  for (uint32_t f = 0; f < slot->pack.field_count; f++)
    slot->host[slot->pack_storage[f]] = (void *)(output + offsets[f]);
  slot->used_seen = (const uint32_t *)(offsets + slot->pack.field_count);
  slot->errors_seen = (const uint64_t *)(output + slot->pack.errors_offset);
  slot->refused_seen = header->refused;
  slot->results_bytes = header->end;
  slot->bytes_down += header->end - slot->pack.fields_offset + slot->pack.errors_offset;
}
