/* pack.c: packed results of a device with memory of its own. The last kernel of a slice copies the valid part of each
 * field that the host reads into one host buffer, after a header with the sizes. The host waits once, for this buffer.
 *
 * With options.keep_device, a second such kernel copies the outputs into a block on the device, and only its header to
 * the host. Fields that only the program reads are then not copied to the host.
 */
#include "execute/pack/pack.h"

#include "execute/binding.h"
#include "execute/devices.h"
#include "keep/keep.h"
#include "layout/bind.h"

#include <stdlib.h>
#include <string.h>

static uint64_t aligned(uint64_t bytes) { return sl_aligned(bytes, SL_PACK_ALIGNMENT); }

static const struct sl_collection *collection_of(const struct sl_setup *s, const struct sl_storage *at) {
  if (at->node == UINT32_MAX) return &sl_event_list_collection; /* made by the runtime */
  return s->graph->nodes[at->node].algorithm->members[at->member].collection;
}

/* -------------------------------------------------------------------------------------------- what is packed */

/* 1 if a program may keep the storage: it is a field of an output of the graph, but not of totals. */
static int is_kept(const struct sl_setup *s, uint32_t i) {
  for (uint32_t o = 0; s->options.keep_device && o < s->graph->output_count; o++) {
    const struct sl_port port = s->graph->outputs[o].port;
    const struct sl_collection *c = s->graph->nodes[port.node].algorithm->members[port.member].collection;
    const int32_t *storage = s->layout->members[port.node][port.member].storage;
    for (uint32_t f = 0; !sl_is_totals(c) && f < c->field_count; f++)
      if (storage[f] == (int32_t)i) return 1;
  }
  return 0;
}

static int is_read_by(const struct sl_setup *s, uint32_t n, uint32_t i) {
  const struct sl_algorithm *a = s->graph->nodes[n].algorithm;
  for (uint32_t m = 0; m < a->member_count; m++) {
    const struct sl_slot_member *at = &s->layout->members[n][m];
    for (uint32_t k = 0; a->members[m].kind == SL_MEMBER_IN && k < at->entry_count; k++)
      for (uint32_t f = 0; f < a->members[m].collection->field_count; f++)
        if (at->entries[k].storage[f] == (int32_t)i) return 1;
  }
  return 0;
}

static int is_read_by_sinks(const struct sl_setup *s, uint32_t i) {
  for (uint32_t o = 0; o < s->graph->order_count; o++) {
    const uint32_t n = s->graph->order[o];
    const struct sl_algorithm *a = s->graph->nodes[n].algorithm;
    if (a->kind == SL_KIND_SINK && (a->sink->takes_outputs || is_read_by(s, n, i))) return 1;
  }
  return 0;
}

/* 1 if the host reads the results: always, unless they can be kept and only the program reads them. */
static int is_downloaded(const struct sl_setup *s, uint32_t i) {
  const struct sl_storage *at = &s->layout->storage[i];
  const struct sl_options *o = &s->options;
  if (at->kind != SL_STORAGE_ARENA || !at->last_reader_is_host) return 0;
  if (!o->keep_device || o->digest || o->draws || s->memory_check || !is_kept(s, i)) return 1;
  const struct sl_collection *c = collection_of(s, at);
  const uint32_t shape = c->fields[at->field].shape;
  return sl_is_event_list(c) || shape == SL_SHAPE_CODE_OFFSETS || shape == SL_SHAPE_CODE_ITEM_OFFSETS ||
         shape == SL_SHAPE_CODE_PER_SLICE || is_read_by_sinks(s, i);
}

static int is_packed(const struct sl_setup *s, uint32_t packing, uint32_t i) {
  return packing == SL_PACKING_KEPT ? is_kept(s, i) : s->backend->is_device && is_downloaded(s, i);
}

/* -------------------------------------------------------------------------------------------------- sizes */

static int grows(const struct sl_setup *s, const struct sl_storage *at) {
  const uint32_t shape = collection_of(s, at)->fields[at->field].shape;
  return s->replan != SL_REPLAN_OFF && (shape == SL_SHAPE_CODE_PER_ITEM || shape == SL_SHAPE_CODE_ITEM_OFFSETS ||
                                        shape == SL_SHAPE_CODE_PER_SUBITEM || shape == SL_SHAPE_CODE_BYTES);
}

static uint64_t errors_offset(const struct sl_setup *s, uint32_t packing) {
  uint64_t fields = 0;
  for (uint32_t i = 0; i < s->layout->storage_count; i++) fields += (uint64_t)is_packed(s, packing, i);
  return aligned(sizeof(struct sl_pack_header) + fields * sizeof(uint64_t) + s->layout->used_count * sizeof(uint32_t));
}

static uint64_t fields_offset(const struct sl_setup *s, uint32_t packing) {
  return errors_offset(s, packing) + aligned(s->slice_events * sizeof(uint64_t));
}

static uint64_t fields_bytes(const struct sl_setup *s, uint32_t packing) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < s->layout->storage_count; i++) {
    const struct sl_storage *at = &s->layout->storage[i];
    if (is_packed(s, packing, i)) bytes += aligned(grows(s, at) ? 2 * at->bytes : at->bytes);
  }
  return bytes;
}

uint64_t sl_pack_kept_bytes(const struct sl_setup *s) { return aligned(fields_bytes(s, SL_PACKING_KEPT) + 1); }

/* Host memory of a packing; kept fields are in a block. */
static uint64_t output_bytes(const struct sl_setup *s, uint32_t packing) {
  return fields_offset(s, packing) + (packing == SL_PACKING_KEPT ? 0 : fields_bytes(s, packing));
}

uint64_t sl_pack_output_bytes(const struct sl_setup *s) {
  return output_bytes(s, SL_PACKING_HOST) + (s->options.keep_device ? output_bytes(s, SL_PACKING_KEPT) : 0);
}

/* ---------------------------------------------------------------------------------------------- addresses */

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

struct sl_pack_field sl_pack_field_of(const struct sl_slot *slot, uint32_t k, uint32_t first, uint32_t i) {
  const struct sl_storage *at = &slot->layout->storage[i];
  const struct sl_collection *c = collection_of(slot->setup, at);
  const struct sl_field *field = &c->fields[at->field];
  const int item_offsets = sl_item_offsets_field(c, sl_group_of(c, at->field));
  const int is_total = field->shape == SL_SHAPE_CODE_TOTAL; /* all values, as one entry */
  return (struct sl_pack_field){sl_field_for_kernels(slot, &slot->slices_in_flight[k], first, (int32_t)i),
                                is_total ? at->bytes : field->width * sl_type_bytes(field->type),
                                is_total ? SL_SHAPE_CODE_PER_SLICE : field->shape,
                                0,
                                offsets_of(slot, k, first, i, sl_offsets_field(c)),
                                offsets_of(slot, k, first, i, item_offsets),
                                count_of(slot, i)};
}

int sl_pack_point(struct sl_slot *slot, uint32_t k, uint32_t first) {
  const struct sl_setup *s = slot->setup;
  int status = SL_OK;
  for (uint32_t i = 0; i < SL_PACKINGS && status == SL_OK; i++) {
    const struct sl_packing *p = &slot->packings[i];
    if (!p->fields) continue;
    for (uint32_t f = 0; f < p->pack.field_count; f++)
      p->fields[f] = sl_pack_field_of(slot, k, first, (uint32_t)p->storage[f]);
    status = s->backend->upload_now(slot->device, slot->slices_in_flight[k].packed[i].fields, p->fields,
                                    p->pack.field_count * sizeof *p->fields);
  }
  return status;
}

/* ------------------------------------------------------------------------------------------------- opening */

static int open_packing(struct sl_slot *slot, uint32_t i) {
  const struct sl_setup *s = slot->setup;
  struct sl_packing *p = &slot->packings[i];
  p->fields = calloc(slot->layout->storage_count + 1, sizeof *p->fields);
  p->storage = calloc(slot->layout->storage_count + 1, sizeof *p->storage);
  if (!p->fields || !p->storage) return SL_ENOMEM;
  for (uint32_t at = 0; at < slot->layout->storage_count; at++)
    if (is_packed(s, i, at)) p->storage[p->pack.field_count++] = (int32_t)at;
  if (!s->backend->is_device) return SL_OK;
  p->pack.used_count = slot->layout->used_count;
  p->pack.used = slot->used;
  p->pack.errors = slot->errors;
  p->pack.output_bytes = i == SL_PACKING_KEPT ? sl_pack_kept_bytes(s) : output_bytes(s, i);
  p->pack.errors_offset = errors_offset(s, i);
  p->pack.fields_offset = fields_offset(s, i);
  for (uint32_t k = 0; k < s->backend->slices_in_flight; k++) {
    struct sl_packed *packed = &slot->slices_in_flight[k].packed[i];
    packed->fields = s->backend->allocate(slot->device, (p->pack.field_count + 1) * sizeof *p->fields);
    packed->output = sl_host_allocate(s, slot->device_state, output_bytes(s, i));
    if (!packed->fields || !packed->output) return SL_ENOMEM;
  }
  return SL_OK;
}

int sl_pack_open(struct sl_slot *slot) {
  const struct sl_setup *s = slot->setup;
  int status = s->backend->is_device ? open_packing(slot, SL_PACKING_HOST) : SL_OK;
  if (status < 0 || !s->keep) return status;
  slot->kept = calloc(slot->layout->storage_count + 1, sizeof *slot->kept);
  status = slot->kept ? open_packing(slot, SL_PACKING_KEPT) : SL_ENOMEM;
  for (uint32_t k = 0; k < s->backend->slices_in_flight && status == SL_OK && s->backend->is_device; k++) {
    slot->slices_in_flight[k].target = sl_host_allocate(s, slot->device_state, sizeof(void *));
    if (!slot->slices_in_flight[k].target) status = SL_ENOMEM;
  }
  return status;
}

void sl_pack_close(struct sl_slot *slot) {
  const struct sl_setup *s = slot->setup;
  for (uint32_t i = 0; i < SL_PACKINGS; i++) {
    const struct sl_packing *p = &slot->packings[i];
    for (uint32_t k = 0; k < s->backend->slices_in_flight; k++) {
      const struct sl_packed *packed = &slot->slices_in_flight[k].packed[i];
      if (packed->output) s->backend->release_host(slot->device, packed->output, output_bytes(s, i));
      if (packed->fields)
        s->backend->release(slot->device, packed->fields, (p->pack.field_count + 1) * sizeof *p->fields);
    }
    free(p->fields);
    free(p->storage);
  }
  for (uint32_t k = 0; k < s->backend->slices_in_flight; k++)
    if (slot->slices_in_flight[k].target)
      s->backend->release_host(slot->device, slot->slices_in_flight[k].target, sizeof(void *));
  free(slot->kept);
}

/* ------------------------------------------------------------------------------------------------- packing */

int sl_pack_enqueue(struct sl_slot *slot, uint32_t k) {
  const struct sl_slice *slice = &slot->slices_in_flight[k];
  int status = SL_OK;
  for (uint32_t i = 0; i < SL_PACKINGS && status == SL_OK; i++) {
    struct sl_pack pack = slot->packings[i].pack;
    if (!slot->packings[i].fields) continue;
    pack.fields = slice->packed[i].fields;
    pack.output = slice->packed[i].output;
    pack.event_count = slice->device_event_count;
    pack.target = i == SL_PACKING_KEPT ? slice->target : NULL;
    status = slot->setup->backend->pack(slot->stream, &pack);
  }
  return status;
}

void sl_pack_read(struct sl_slot *slot, uint32_t slice_index) {
  const struct sl_slice *slice = &slot->slices_in_flight[slice_index];
  const struct sl_packing *p = &slot->packings[SL_PACKING_HOST], *kept = &slot->packings[SL_PACKING_KEPT];
  const unsigned char *output = slice->packed[SL_PACKING_HOST].output;
  const struct sl_pack_header *header = (const struct sl_pack_header *)output;
  const uint64_t *offsets = (const uint64_t *)(header + 1);
  for (uint32_t f = 0; f < p->pack.field_count; f++) slot->host[p->storage[f]] = (void *)(output + offsets[f]);
  slot->used_seen = (const uint32_t *)(offsets + p->pack.field_count);
  slot->errors_seen = (const uint64_t *)(output + p->pack.errors_offset);
  slot->refused_seen = header->refused;
  slot->results_bytes = header->end;
  slot->results_room = p->pack.output_bytes;
  slot->bytes_down += header->end - p->pack.fields_offset + p->pack.errors_offset;
  if (!kept->fields) return;
  header = slice->packed[SL_PACKING_KEPT].output;
  offsets = (const uint64_t *)(header + 1);
  for (uint32_t f = 0; f < kept->pack.field_count; f++)
    slot->kept[kept->storage[f]] = slice->block->memory + offsets[f];
  slot->bytes_down += kept->pack.errors_offset;
  if (slot->results_bytes > slot->results_room || header->end <= kept->pack.output_bytes) return;
  slot->results_bytes = header->end;
  slot->results_room = kept->pack.output_bytes;
}
