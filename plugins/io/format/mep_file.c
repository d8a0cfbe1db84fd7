/* mep_file.c: see mep_file.h.
 *
 * 1. A packet is accepted if its blocks are sound and another header, or the end of the file, follows.
 * 2. If only one of the two holds, a size may be damaged, or bytes may be missing or added. The packet then ends early
 *    if a sound packet begins within it, so that no other packet is hidden.
 * 3. If both hold, only the bytes after its last block are searched for such a packet.
 * 4. Otherwise the reader searches byte by byte for the next packet; the skipped bytes are one fault.
 * As in mdf.c, the bytes verified are limited, and incomplete packets of a stream are awaited. */
#include "mep_file.h"

#include "mep.h"

#include <string.h>

static int is_header(struct mdf_reader *reader, uint64_t offset, struct mep_packet *packet, struct mdf_fault *fault) {
  const uint8_t *data = reader->data + offset;
  const uint64_t left = reader->size - offset;
  packet->bytes = 0;
  if (left < MEP_HEADER_BYTES || mdf_load_u16(data) != MEP_MAGIC) return 0;
  if (mep_packet_open(data, left, packet, fault) == 0) return 1;
  if (fault->kind == MDF_FAULT_TRUNCATED) mdf_reader_await(reader, offset + fault->expected);
  return 0;
}

static int packet_follows(const struct mdf_reader *reader, uint64_t offset) {
  return reader->size - offset < 2 || mdf_load_u16(reader->data + offset) == MEP_MAGIC;
}

static int packet_verifies(struct mdf_reader *reader, const struct mep_packet *packet) {
  struct mdf_fault fault;
  if (reader->verify_bytes < packet->bytes) return 0;
  reader->verify_bytes -= packet->bytes;
  return mep_packet_blocks(packet, NULL, &fault) == 0;
}

/* Returns the offset of the first packet in [from, end) that is sound or, if `may_follow`, that is followed by another
 * header. Returns `end` if there is none. */
static uint64_t search_packet(struct mdf_reader *reader, uint64_t from, uint64_t end, int may_follow) {
  struct mep_packet packet;
  struct mdf_fault fault;
  for (uint64_t offset = from; offset < end; offset++) {
    if (!is_header(reader, offset, &packet, &fault)) continue;
    if (may_follow && packet_follows(reader, offset + packet.bytes)) return offset;
    if (packet_verifies(reader, &packet)) return offset;
  }
  return end;
}

static void skip_bytes(struct mdf_reader *reader, struct mdf_record *record, uint64_t next) {
  const uint64_t left = reader->size - reader->offset;
  const uint8_t *data = reader->data + reader->offset;
  struct mep_packet packet;
  struct mdf_fault fault = {0};
  record->bytes = next - reader->offset;
  record->fault = (struct mdf_fault){MDF_FAULT_NO_PACKET, 0, record->bytes, left >= 2 ? mdf_load_u16(data) : 0, 0, 0};
  if (next == reader->size && (left < MEP_HEADER_BYTES || mdf_load_u16(data) == MEP_MAGIC) &&
      mep_packet_open(data, left, &packet, &fault) && fault.kind == MDF_FAULT_TRUNCATED)
    record->fault = fault;
}

static uint64_t blocks_end(const struct mep_packet *packet) {
  struct mep_block last;
  struct mdf_fault fault;
  return mep_packet_block(packet, packet->block_count - 1, &last, &fault) == 0 ? last.end : packet->bytes;
}

int mep_next(struct mdf_reader *reader, struct mdf_record *record) {
  reader->awaited = 0;
  if (reader->offset >= reader->size) return 0;
  *record = (struct mdf_record){.offset = reader->offset};
  struct mep_packet packet;
  struct mdf_fault fault;
  const int has_header = is_header(reader, reader->offset, &packet, &fault);
  const uint64_t end = reader->offset + packet.bytes;
  const int is_sound = has_header && mep_packet_blocks(&packet, NULL, &fault) == 0;
  const int is_followed = has_header && packet_follows(reader, end);
  if (is_sound || is_followed) {
    const uint64_t from = is_sound && is_followed ? blocks_end(&packet) : 1;
    const uint64_t within = search_packet(reader, reader->offset + from, end, 0);
    record->bytes = packet.bytes; /* a fault inside is found when the packet is opened */
    record->is_verified = (uint32_t)is_sound;
    if (within < end) skip_bytes(reader, record, within);
  } else if (!has_header && reader->awaited != 0) {
    record->bytes = reader->size - reader->offset; /* undecided until the packet has arrived */
    record->fault = fault;
  } else {
    skip_bytes(reader, record, search_packet(reader, reader->offset + 1, reader->size, 1));
  }
  reader->offset += record->bytes;
  return 1;
}

/* Returns 1 if two consecutive blocks of one packet are found. This recognises a packet with a damaged header that is
 * longer than the available bytes. */
static int holds_blocks(const uint8_t *data, uint64_t size) {
  enum { EVENT_COUNT_AT = 2, BYTES_AT = 4, EVENT_ID_AT = 8, EVENT_ID_BYTES = 8 };
  for (uint64_t offset = 0; offset + 2 * MEP_BLOCK_HEADER_BYTES <= size; offset += 4) {
    const uint8_t *block = data + offset;
    if (mdf_load_u16(block) != MEP_BLOCK_MAGIC || mdf_load_u16(block + EVENT_COUNT_AT) == 0) continue;
    const uint64_t bytes = mdf_load_u32(block + BYTES_AT);
    if (bytes < MEP_BLOCK_HEADER_BYTES || bytes > size - MEP_BLOCK_HEADER_BYTES - offset) continue;
    const uint8_t *next = block + (bytes + 3) / 4 * 4;
    if (next > data + size - MEP_BLOCK_HEADER_BYTES) continue;
    if (mdf_load_u16(next) == MEP_BLOCK_MAGIC && memcmp(block + EVENT_ID_AT, next + EVENT_ID_AT, EVENT_ID_BYTES) == 0 &&
        mdf_load_u16(block + EVENT_COUNT_AT) == mdf_load_u16(next + EVENT_COUNT_AT))
      return 1;
  }
  return 0;
}

int mep_recognise(const uint8_t *data, uint64_t size) {
  if (size < MEP_HEADER_BYTES) return 0;
  if (mdf_load_u16(data) == MEP_MAGIC) return 1;
  struct mdf_reader reader = mdf_reader_start(data, size);
  return search_packet(&reader, 0, size, 1) < size || holds_blocks(data, size);
}
