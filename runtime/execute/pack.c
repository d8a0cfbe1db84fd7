/* pack.c: results of a device with a memory of its own. The last kernel of a slice packs the valid part of each field
 * that the host reads into one host buffer, behind a header with the sizes; the host waits once, for that.
 */
#include "execute/bind.h"
#include "execute/session.h"

#include <stdlib.h>
#include <string.h>

static uint64_t aligned(uint64_t bytes) { return (bytes + 255) / 256 * 256; }

static uint64_t header_bytes(const struct sl_slot *slot) {
  return aligned(sizeof(struct sl_pack_header) + slot->pack.field_count * sizeof(uint64_t) +
                 slot->pack.used_count * sizeof(uint32_t));
}

static uint64_t output_bytes(const struct sl_slot *slot) {
  const struct sl_session *s = slot->session;
  uint64_t bytes = header_bytes(slot) + aligned(s->slice_events * sizeof *slot->errors);
  for (uint32_t f = 0; f < slot->pack.field_count; f++)
    bytes += aligned(s->layout->storage[slot->pack_storage[f]].bytes);
  return bytes;
}

/* Where the offsets of the collection of a storage are: its own, or those that it shares. */
static const uint32_t *offsets_of(const struct sl_slot *slot, const struct sl_storage *storage, uint32_t shape) {
  const struct sl_layout *l = slot->session->layout;
  const struct sl_member *m = &l->graph->nodes[storage->node].algorithm->members[storage->member];
  for (uint32_t f = 0; f < m->collection->field_count; f++) {
    if (m->collection->fields[f].shape != shape) continue;
    const int32_t at = l->members[storage->node][storage->member].storage[f];
    return at == SL_NONE ? NULL : slot->storage[at];
  }
  return NULL;
}

static struct sl_pack_field describe(const struct sl_slot *slot, uint32_t i) {
  const struct sl_layout *l = slot->session->layout;
  const struct sl_storage *s = &l->storage[i];
  const struct sl_field *field = &l->graph->nodes[s->node].algorithm->members[s->member].collection->fields[s->field];
  return (struct sl_pack_field){slot->storage[i], field->width * sl_type_bytes(field->type), field->shape,
                                offsets_of(slot, s, SL_SHAPE_CODE_OFFSETS),
                                offsets_of(slot, s, SL_SHAPE_CODE_ITEM_OFFSETS)};
}

int sl_pack_open(struct sl_slot *slot) {
  struct sl_session *s = slot->session;
  const struct sl_layout *l = s->layout;
  struct sl_pack_field *fields = calloc(l->storage_count + 1, sizeof *fields);
  slot->pack_storage = calloc(l->storage_count + 1, sizeof *slot->pack_storage);
  int status = SL_ENOMEM;
  if (!fields || !slot->pack_storage) goto done;
  uint32_t count = 0;
  for (uint32_t i = 0; i < l->storage_count; i++) {
    if (l->storage[i].kind != SL_STORAGE_ARENA || !l->storage[i].last_reader_is_host) continue;
    slot->pack_storage[count] = (int32_t)i;
    fields[count++] = describe(slot, i);
  }
  slot->pack.field_count = count;
  slot->pack.used_count = l->used_count;
  slot->pack.used = slot->used;
  slot->pack.errors = slot->errors;
  void *on_device = s->backend->allocate(s->device, (count + 1) * sizeof *fields);
  slot->pack.fields = on_device;
  if (!on_device || s->backend->upload_now(s->device, on_device, fields, count * sizeof *fields) < 0) goto done;
  for (uint32_t k = 0; k < s->backend->flights; k++) {
    slot->flights[k].output = s->backend->allocate_host(s->device, output_bytes(slot));
    if (!slot->flights[k].output) goto done;
  }
  status = SL_OK;
done:
  free(fields);
  return status;
}

void sl_pack_close(struct sl_slot *slot) {
  struct sl_session *s = slot->session;
  for (uint32_t k = 0; k < s->backend->flights; k++)
    if (slot->flights[k].output) s->backend->release_host(s->device, slot->flights[k].output, output_bytes(slot));
  if (slot->pack.fields)
    s->backend->release(s->device, (void *)slot->pack.fields, (slot->pack.field_count + 1) * sizeof *slot->pack.fields);
  free(slot->pack_storage);
}

int sl_pack_enqueue(struct sl_slot *slot, uint32_t flight) {
  struct sl_pack pack = slot->pack;
  pack.output = slot->flights[flight].output;
  pack.event_count = slot->flights[flight].device_event_count;
  return slot->session->backend->pack(slot->stream, &pack);
}

void sl_pack_read(struct sl_slot *slot, uint32_t flight) {
  const unsigned char *output = slot->flights[flight].output;
  const struct sl_pack_header *header = (const struct sl_pack_header *)output;
  const uint64_t *offsets = (const uint64_t *)(header + 1);
  for (uint32_t f = 0; f < slot->pack.field_count; f++)
    slot->host[slot->pack_storage[f]] = (void *)(output + offsets[f]);
  slot->used_seen = (const uint32_t *)(offsets + slot->pack.field_count);
  slot->errors_seen = (const uint64_t *)(output + header->errors_offset);
  slot->refused_seen = header->refused;
  slot->bytes_down += header->bytes;
}
