/* mdf_index.c: see mdf_index.h. The index has the same records as a stream (mdf_stream.c). It also walks the banks of
 * each record, so a wrong length hides no record. Checksums are not verified. */
#include "mdf_index.h"

#include "format/mdf_decompress.h"
#include "format/mdf_walk.h"
#include "format/mep.h"
#include "input_file.h"

#include <inttypes.h>

struct walk {
  const struct sl_index_calls *calls;
  const char *path;
  struct input_file file;
  struct mdf_decompressor decompressor;
  uint32_t data_type, is_bare;
};

/* Returns the number of events of a sound packet, or 0 with the fault filled. */
static uint32_t events_of_packet(const uint8_t *data, uint64_t bytes, struct mdf_fault *fault) {
  struct mep_packet packet;
  struct mep_block first;
  if (mep_packet_open(data, bytes, &packet, fault) || mep_packet_blocks(&packet, NULL, fault) ||
      mep_packet_block(&packet, 0, &first, fault))
    return 0;
  if (bytes - packet.bytes <= MEP_PADDING_BYTES_MAX) return first.event_count;
  *fault = (struct mdf_fault){MDF_FAULT_PACKET_EXTRA, 0, 0, packet.bytes, bytes, 0};
  return 0;
}

/* events_of_packet for the packet in a body, which may be compressed. */
static uint32_t events_of_body(struct walk *w, const struct mdf_record *record, const uint8_t *body,
                               struct mdf_fault *fault) {
  const uint64_t bytes = record->bytes - record->header_bytes;
  uint32_t uncompressed_bytes = 0;
  if (record->compression == 0) return events_of_packet(body, bytes, fault);
  if (mdf_decompress(&w->decompressor, body, bytes, &uncompressed_bytes, fault)) return 0;
  return events_of_packet(w->decompressor.bytes, uncompressed_bytes, fault);
}

/* Returns the fault that the headers of a record show; *events is its number of events. */
static struct mdf_fault check_headers(struct walk *w, const struct mdf_record *record, uint64_t *events) {
  const uint8_t *data = w->file.data + record->offset, *body = data + record->header_bytes;
  struct mdf_fault fault = record->fault;
  struct mdf_block block;
  *events = 1;
  if (fault.kind == MDF_FAULT_NONE && !mdf_walk_has_type(record, w->data_type, w->is_bare, body))
    fault = (struct mdf_fault){MDF_FAULT_DATA_TYPE, 0, 0, record->data_type, w->data_type, 0};
  if (fault.kind == MDF_FAULT_NONE && record->compression > MDF_COMPRESSION_MAX)
    fault = (struct mdf_fault){MDF_FAULT_COMPRESSION, 0, 0, record->compression, 0, 0};
  if (w->data_type != MDF_DATA_MEP) {
    if (fault.kind == MDF_FAULT_NONE && record->compression != 0)
      (void)mdf_block_check(body, record->bytes - record->header_bytes, 0, &block, &fault);
    return fault;
  }
  uint32_t count = fault.kind == MDF_FAULT_NONE ? events_of_body(w, record, body, &fault) : 0;
  uint64_t id;
  if (count != 0 || mep_record_claims(data, record->bytes, &count, &id)) *events = count;
  return fault;
}

static int walk_records(struct walk *w) {
  struct mdf_reader reader = mdf_reader_start(w->file.data, w->file.size);
  struct mdf_record record;
  int status = SL_OK;
  while (status == SL_OK && mdf_walk_next(&reader, w->is_bare, &record)) {
    mdf_walk_check(&reader, w->is_bare, &record);
    struct sl_index_record found = {.first_byte = record.offset, .bytes = record.bytes};
    char text[256];
    const struct mdf_fault fault = check_headers(w, &record, &found.events);
    if (fault.kind == MDF_FAULT_MEMORY) return SL_ENOMEM;
    if (fault.kind != MDF_FAULT_NONE) {
      mdf_fault_text(&fault, text, sizeof text);
      found.fault = text;
    }
    found.begins_part = record.fault.kind == MDF_FAULT_NONE;
    status = w->calls->add(w->calls->context, &found);
  }
  if (status != SL_OK || !input_file_recheck(&w->file)) return status;
  w->calls->message(w->calls->context, SL_ERROR, "%s: changed while it was being read", w->path);
  return SL_EIO;
}

int mdf_index(const char *path, uint32_t data_type, const struct sl_index_calls *calls) {
  struct walk w = {.calls = calls, .path = path, .data_type = data_type};
  char reason[128];
  int status = input_file_open(&w.file, path, reason, sizeof reason);
  if (status != SL_OK) {
    calls->message(calls->context, SL_ERROR, "%s: %s", path, reason);
    return status;
  }
  if (w.file.is_stream) {
    calls->message(calls->context, SL_ERROR, "%s: is a pipe, which can be read only once, from beginning to end", path);
    status = SL_EINVAL;
  } else if (w.file.size != 0 && !mdf_walk_recognise(w.file.data, w.file.size, data_type, &w.is_bare)) {
    calls->message(calls->context, SL_ERROR, "%s: no %s header in its %" PRIu64 " bytes", path,
                   data_type == MDF_DATA_MEP ? "packet" : "record", w.file.size);
    status = SL_EFORMAT;
  } else {
    status = walk_records(&w);
  }
  mdf_decompressor_free(&w.decompressor);
  input_file_close(&w.file);
  return status;
}
