/* mdf.c: finds where records begin and end, also in damaged files.
 *
 * 1. A header is sound if its three lengths are equal, its type is known, and the record ends within the file. If
 *    another sound header or the end of the file follows, the record is accepted.
 * 2. If nothing sound follows, the contents must verify: the checksum or, without one, the banks up to the exact end of
 *    the record. A record with wrong contents is accepted only if a damaged or incomplete header follows.
 * 3. A damaged header (two of three lengths equal, or an unknown type) makes the record one fault if something like a
 *    header follows at its end, or if its checksum is correct.
 * 4. Otherwise the reader searches byte by byte for the next sound record; the skipped bytes are one fault.
 * In 2 and 3 the record ends early if a sound record begins within it.
 * Cost: each byte is searched once; the bytes verified are limited to about VERIFY_FACTOR times the file size. */
#include "mdf.h"

#include "mdf_checksum.h"
#include "mdf_decompress.h"
#include "mep.h"

enum { VERIFY_FACTOR = 4, VERIFY_AT_LEAST = 1 << 20 };

/* Upper limit of the bytes that are awaited for one header of a stream. A larger claim is taken as damage. */
enum { AWAITED_BYTES_MAX = 1 << 26 };

/* Returns the header size of a header type (byte 17: version, and subheader length in words), or 0 for an unknown type.
 * The subheader of version 0 takes 22 bytes, from byte 18 to 39: five words after the generic header, or six if rounded
 * up. */
static uint32_t header_bytes_of_type(uint8_t type) {
  switch (type) {
    case 0x05:
    case 0x06:
      return 40;
    case 0x17:
      return 48;
    case 0x20:
      return 20;
    case 0x37:
      return 48;
    default:
      return 0;
  }
}

static void decode_header(const uint8_t *header, struct mdf_record *record) {
  record->checksum = mdf_load_u32(header + 12);
  record->compression = header[16] & 0xfu;
  record->expansion = header[16] >> 4;
  record->version = header[17] >> 4;
  record->data_type = record->version == 0 ? 1 : header[18];
  if (record->version == 0) {
    record->has_number = 1;
    record->number = (uint64_t)header[19] << 32 | mdf_load_u32(header + 20);
  } else if (record->version != 2) {
    record->has_run = 1;
    record->run = mdf_load_u32(header + 36);
  }
}

/* Returns 1 if the three lengths are equal, the type is known and the length includes the header. The record may end
 * after the end of the file. */
static int header_is_sound(const uint8_t *data, uint64_t size, uint64_t offset, uint32_t *length,
                           uint32_t *header_bytes) {
  if (size - offset < MDF_GENERIC_HEADER_BYTES) return 0;
  const uint8_t *header = data + offset;
  *length = mdf_load_u32(header);
  if (mdf_load_u32(header + 4) != *length || mdf_load_u32(header + 8) != *length) return 0;
  *header_bytes = header_bytes_of_type(header[17]);
  return *header_bytes != 0 && *length >= *header_bytes;
}

int mdf_record_at(const uint8_t *data, uint64_t size, uint64_t offset, struct mdf_record *record) {
  uint32_t length, header_bytes;
  if (!header_is_sound(data, size, offset, &length, &header_bytes) || length > size - offset) return 0;
  memset(record, 0, sizeof *record);
  record->offset = offset;
  record->bytes = length;
  record->header_bytes = header_bytes;
  decode_header(data + offset, record);
  return 1;
}

/* Returns the length that at least two of the three fields have, or 0 if all differ. */
static uint32_t majority_length(const uint8_t *header) {
  const uint32_t a = mdf_load_u32(header), b = mdf_load_u32(header + 4), c = mdf_load_u32(header + 8);
  return a == b || a == c ? a : b == c ? b : 0;
}

void mdf_reader_await(struct mdf_reader *reader, uint64_t end) {
  if (!reader->is_partial || end - reader->size > AWAITED_BYTES_MAX) return;
  if (end > reader->awaited) reader->awaited = end;
}

/* The bytes at `offset`: a sound header, even of an incomplete record, or the end of the file (FOLLOWED); a damaged or
 * incomplete header (PERHAPS_FOLLOWED). */
enum follower { FOLLOWED_BY_NOTHING, PERHAPS_FOLLOWED, FOLLOWED };
static enum follower what_follows(const struct mdf_reader *reader, uint64_t offset) {
  const uint64_t left = reader->size - offset;
  uint32_t length, header_bytes;
  if (left == 0) return reader->is_partial ? PERHAPS_FOLLOWED : FOLLOWED;
  const uint8_t *p = reader->data + offset;
  if (left < 8) return PERHAPS_FOLLOWED;
  if (left < MDF_GENERIC_HEADER_BYTES)
    return mdf_load_u32(p) == mdf_load_u32(p + 4) ? PERHAPS_FOLLOWED : FOLLOWED_BY_NOTHING;
  if (header_is_sound(reader->data, reader->size, offset, &length, &header_bytes)) return FOLLOWED;
  return majority_length(p) >= MDF_GENERIC_HEADER_BYTES && header_bytes_of_type(p[17]) != 0 ? PERHAPS_FOLLOWED
                                                                                            : FOLLOWED_BY_NOTHING;
}

/* Takes `bytes` from the allowance for verification; returns 0 if they exceed it. */
static int spend_allowance(struct mdf_reader *reader, uint64_t bytes) {
  if (reader->verify_bytes < bytes) return 0;
  reader->verify_bytes -= bytes;
  return 1;
}

static int banks_verify(const uint8_t *body, uint64_t body_bytes) {
  struct mdf_fault fault;
  struct io_bank bank;
  uint64_t position = 0;
  int more;
  do more = mdf_bank_next(body, body_bytes, &position, &bank, &fault);
  while (more > 0);
  return more == 0;
}

static int packet_verifies(const uint8_t *body, uint64_t body_bytes) {
  struct mep_packet packet;
  struct mdf_fault fault;
  return mep_packet_open(body, body_bytes, &packet, &fault) == 0 &&
         body_bytes - packet.bytes <= MEP_PADDING_BYTES_MAX && mep_packet_blocks(&packet, NULL, &fault) == 0;
}

/* mdf_record_at; in a stream also awaits the end of a record that is incomplete, and then returns 0. */
static int find_header(struct mdf_reader *reader, uint64_t offset, struct mdf_record *record) {
  uint32_t length, header_bytes;
  if (mdf_record_at(reader->data, reader->size, offset, record)) return 1;
  if (reader->is_partial && header_is_sound(reader->data, reader->size, offset, &length, &header_bytes))
    mdf_reader_await(reader, offset + length);
  return 0;
}

int mdf_contents_verify(const uint8_t *bytes, const struct mdf_record *record) {
  const uint8_t *body = bytes + record->header_bytes;
  const uint64_t body_bytes = record->bytes - record->header_bytes;
  struct mdf_block block;
  if (body_bytes == 0) return 0;
  if (record->compression != 0) return mdf_block_at(body, body_bytes, &block);
  if (record->data_type == MDF_DATA_MEP || (body_bytes >= 2 && mdf_load_u16(body) == MEP_MAGIC))
    return packet_verifies(body, body_bytes);
  return banks_verify(body, body_bytes);
}

/* Verifies the checksum or, without one, the contents: 1 correct, 0 wrong, -1 not checked because the allowance is used
 * up. */
static int record_verifies(struct mdf_reader *reader, const struct mdf_record *record) {
  if (!spend_allowance(reader, record->bytes)) return -1;
  const uint8_t *bytes = reader->data + record->offset;
  if (record->checksum != 0)
    return mdf_checksum(bytes + MDF_HASHED_FROM, record->bytes - MDF_HASHED_FROM) == record->checksum;
  return mdf_contents_verify(bytes, record);
}

/* Returns the offset of the first record in [from, end) that has a sound header and verifies or, if `may_follow`, that
 * is followed by something like a header. Returns `end` if there is none. The record found may end after `end`. */
static uint64_t search_record(struct mdf_reader *reader, uint64_t from, uint64_t end, int may_follow) {
  const uint8_t *data = reader->data;
  for (uint64_t offset = from; offset < end && offset + MDF_GENERIC_HEADER_BYTES <= reader->size; offset++) {
    if (mdf_load_u32(data + offset) != mdf_load_u32(data + offset + 4)) continue;
    struct mdf_record record;
    if (!find_header(reader, offset, &record)) continue;
    if (may_follow && what_follows(reader, offset + record.bytes) != FOLLOWED_BY_NOTHING) return offset;
    if (record_verifies(reader, &record) == 1) return offset;
  }
  return end;
}

struct mdf_reader mdf_reader_start(const uint8_t *data, uint64_t size) {
  return (struct mdf_reader){.data = data, .size = size, .verify_bytes = VERIFY_FACTOR * size + VERIFY_AT_LEAST};
}

void mdf_reader_extend(struct mdf_reader *reader, uint64_t size) {
  reader->verify_bytes += VERIFY_FACTOR * (size - reader->size);
  reader->size = size;
}

/* Accepts a record with a damaged header as one fault if its end is certain; returns 0 if not. */
static int accept_damaged(struct mdf_reader *reader, struct mdf_record *record) {
  const uint64_t left = reader->size - reader->offset;
  const uint8_t *header = reader->data + reader->offset;
  if (left < MDF_GENERIC_HEADER_BYTES) return 0;
  const uint32_t length = majority_length(header);
  if (length < MDF_GENERIC_HEADER_BYTES || length > left) return 0;
  const int type_known = header_bytes_of_type(header[17]) != 0;
  const int lengths_equal = mdf_load_u32(header) == mdf_load_u32(header + 4) && length == mdf_load_u32(header + 8);
  const uint64_t end = reader->offset + length;
  if (what_follows(reader, end) == FOLLOWED_BY_NOTHING) {
    const uint32_t checksum = mdf_load_u32(header + 12);
    if (checksum == 0 || !spend_allowance(reader, length) ||
        mdf_checksum(header + MDF_HASHED_FROM, length - MDF_HASHED_FROM) != checksum)
      return 0;
  }
  if (search_record(reader, reader->offset + 1, end, 1) != end) return 0;
  record->bytes = length;
  if (!lengths_equal) {
    record->fault = (struct mdf_fault){MDF_FAULT_LENGTHS,       0, 0, mdf_load_u32(header), mdf_load_u32(header + 4),
                                       mdf_load_u32(header + 8)};
    return 1;
  }
  if (type_known) return 0; /* the length is too short for the header */
  record->fault = (struct mdf_fault){MDF_FAULT_HEADER_TYPE, 0, 0, header[17], 0, 0};
  return 1;
}

static void set_skipped(const struct mdf_reader *reader, struct mdf_record *record) {
  record->fault = (struct mdf_fault){MDF_FAULT_SKIPPED, 0, record->bytes, 0, 0, 0};
  if (reader->size - record->offset < MDF_GENERIC_HEADER_BYTES) return;
  const uint8_t *header = reader->data + record->offset;
  record->fault.found = mdf_load_u32(header);
  record->fault.expected = mdf_load_u32(header + 4);
  record->fault.other = mdf_load_u32(header + 8);
  record->fault.type = header[17];
}

/* The header is unusable: all bytes up to the next record are one fault. */
static void skip_bytes(struct mdf_reader *reader, struct mdf_record *record) {
  const uint64_t left = reader->size - reader->offset;
  const uint8_t *header = reader->data + reader->offset;
  const uint64_t next = search_record(reader, reader->offset + 1, reader->size, 1);
  record->bytes = next - reader->offset;
  uint32_t length = 0, header_bytes;
  if (next == reader->size &&
      (left < MDF_GENERIC_HEADER_BYTES
           ? what_follows(reader, reader->offset) != FOLLOWED_BY_NOTHING
           : header_is_sound(reader->data, reader->size, reader->offset, &length, &header_bytes) && length > left)) {
    record->fault = (struct mdf_fault){MDF_FAULT_TRUNCATED, 0, 0, left, length, 0};
    if (length != 0 && left >= header_bytes) decode_header(header, record);
    return;
  }
  set_skipped(reader, record);
}

/* Ends the record at `next`, where another record begins. */
static void cut_record(struct mdf_reader *reader, struct mdf_record *record, uint64_t next) {
  const uint64_t offset = record->offset;
  memset(record, 0, sizeof *record);
  record->offset = offset;
  record->bytes = next - offset;
  set_skipped(reader, record);
  reader->offset = next;
}

void mdf_cut_damaged(struct mdf_reader *reader, struct mdf_record *record) {
  const uint64_t end = record->offset + record->bytes;
  const uint64_t within = search_record(reader, record->offset + 1, end, 0);
  if (within < end) cut_record(reader, record, within);
}

/* Handles a record with a sound header that no sound header follows. Returns 1 if it is accepted, complete or up to a
 * record that begins within it. */
static int accept_unfollowed(struct mdf_reader *reader, struct mdf_record *record, enum follower follower) {
  const int verifies = record_verifies(reader, record);
  if (verifies == 0 && follower == FOLLOWED_BY_NOTHING) return 0;
  record->is_verified = verifies == 1;
  reader->offset += record->bytes;
  /* If bytes are missing from a record without checksum, it overlaps the next record. */
  if (verifies != 1 || record->checksum == 0) mdf_cut_damaged(reader, record);
  return 1;
}

int mdf_next(struct mdf_reader *reader, struct mdf_record *record) {
  reader->awaited = 0;
  if (reader->offset >= reader->size) return 0;
  const int sound = find_header(reader, reader->offset, record);
  if (sound) {
    const enum follower follower = what_follows(reader, reader->offset + record->bytes);
    if (follower != FOLLOWED && accept_unfollowed(reader, record, follower)) return 1;
    if (follower == FOLLOWED) {
      reader->offset += record->bytes;
      return 1;
    }
  }
  const uint64_t left = reader->size - reader->offset;
  memset(record, 0, sizeof *record);
  record->offset = reader->offset;
  if (reader->awaited != 0) {
    record->bytes = left;
    record->fault = (struct mdf_fault){MDF_FAULT_TRUNCATED, 0, 0, left, reader->awaited - reader->offset, 0};
  } else if (sound || !accept_damaged(reader, record)) {
    skip_bytes(reader, record);
  }
  reader->offset += record->bytes;
  return 1;
}

int mdf_recognise(const uint8_t *data, uint64_t size) {
  uint32_t length, header_bytes;
  if (size < MDF_GENERIC_HEADER_BYTES) return 0;
  if (header_is_sound(data, size, 0, &length, &header_bytes)) return 1;
  struct mdf_reader reader = mdf_reader_start(data, size);
  struct mdf_record record;
  return mdf_next(&reader, &record) && (record.fault.kind != MDF_FAULT_SKIPPED || reader.offset < size);
}

/* Returns 1 if a record contains a packet, 0 if not, -1 if the record is damaged and its header may be wrong. The first
 * bytes of the body decide. Otherwise the data type decides: packets of the prototype have no magic number, and
 * compressed bodies hide it. If the record is longer than the available bytes, as most packets are, only its header is
 * checked. */
static int holds_packet(const uint8_t *bytes, uint64_t count, const struct mdf_record *record) {
  const int is_cut = record->fault.kind == MDF_FAULT_TRUNCATED;
  const uint8_t *header = bytes + record->offset;
  uint32_t length, header_bytes;
  if ((record->fault.kind != MDF_FAULT_NONE && !is_cut) ||
      !header_is_sound(bytes, count, record->offset, &length, &header_bytes) || header_bytes > count - record->offset)
    return -1;
  if (!is_cut && record->checksum != 0 &&
      mdf_checksum(header + MDF_HASHED_FROM, record->bytes - MDF_HASHED_FROM) != record->checksum)
    return -1;
  if (record->compression == 0 && record->bytes >= header_bytes + 2u) {
    if (mdf_load_u16(header + header_bytes) == IO_BANK_MAGIC) return 0;
    if (mdf_load_u16(header + header_bytes) == MEP_MAGIC) return 1;
  }
  return record->data_type == MDF_DATA_MEP;
}

enum mdf_content mdf_content_of(const uint8_t *data, uint64_t size) {
  enum { RECORDS_MAX = 16 };
  if (!mdf_recognise(data, size)) return MDF_NO_RECORDS;
  struct mdf_reader reader = mdf_reader_start(data, size);
  struct mdf_record record;
  int packets = 0, others = 0;
  for (uint32_t i = 0; i < RECORDS_MAX && mdf_next(&reader, &record); i++) {
    const int is_packet = holds_packet(data, size, &record);
    packets += is_packet == 1;
    others += is_packet == 0;
  }
  if (packets == 0 && others == 0) return MDF_DAMAGED_RECORDS;
  return packets > others ? MDF_PACKETS : MDF_BANKS;
}

void mdf_bank_fault(const uint8_t *body, uint64_t position, uint64_t end, struct mdf_fault *fault) {
  const uint64_t left = end - position;
  *fault = (struct mdf_fault){MDF_FAULT_BANK_LENGTH, 0, position, left, 0, left};
  if (left < IO_BANK_HEADER_BYTES) return;
  fault->found = mdf_load_u16(body + position + 2);
  if (mdf_load_u16(body + position) == IO_BANK_MAGIC) return;
  fault->kind = MDF_FAULT_BANK_MAGIC;
  fault->found = mdf_load_u16(body + position);
}

/* Finds the central crossing among the (crossing, offset, size) triplets of a TAE header bank: 0 or -1. */
static int central_crossing(const struct io_bank *header, uint64_t after, uint64_t body_bytes, uint64_t *begin,
                            uint64_t *end) {
  for (uint32_t i = 0; i + 12 <= header->size_bytes; i += 12) {
    const uint8_t *triplet = header->payload + i;
    if (mdf_load_u32(triplet) != 0) continue;
    const uint32_t offset = mdf_load_u32(triplet + 4), size = mdf_load_u32(triplet + 8);
    if (offset > body_bytes - after || size > body_bytes - after - offset) return -1;
    *begin = after + offset;
    *end = *begin + size;
    return 0;
  }
  return -1;
}

int mdf_event_banks(const uint8_t *body, uint64_t body_bytes, uint64_t *begin, uint64_t *end, struct mdf_fault *fault) {
  *begin = 0;
  *end = body_bytes;
  struct io_bank bank;
  uint64_t position = 0;
  int more = mdf_bank_next(body, body_bytes, &position, &bank, fault);
  if (more > 0 && bank.type == MDF_BANK_DAQ && bank.version == 16) {
    *begin = position;
    more = mdf_bank_next(body, body_bytes, &position, &bank, fault);
  }
  if (more < 0) return -1;
  if (more == 0) {
    *fault = (struct mdf_fault){MDF_FAULT_NO_BANKS, 0, 0, 0, 0, 0};
    return -1;
  }
  if (bank.type != MDF_BANK_TAE_HEADER) return 0;
  if (central_crossing(&bank, position, body_bytes, begin, end) == 0) return 0;
  *fault = (struct mdf_fault){MDF_FAULT_TAE, 0, (uint64_t)(bank.payload - body), 0, 0, 0};
  return -1;
}

static int is_known_odin(const struct io_bank *bank) {
  return bank->type == MDF_BANK_ODIN && bank->size_bytes >= 40 && (bank->version == 6 || bank->version == 7);
}

int mdf_odin_identity(const struct io_bank *bank, uint32_t *run, uint64_t *number) {
  if (!is_known_odin(bank)) return 0;
  const uint32_t low_word = bank->version == 6 ? 4 : 8, high_word = bank->version == 6 ? 3 : 9;
  *run = mdf_load_u32(bank->payload);
  *number = (uint64_t)mdf_load_u32(bank->payload + 4 * high_word) << 32 | mdf_load_u32(bank->payload + 4 * low_word);
  return 1;
}

int mdf_odin_crossing(const struct io_bank *bank, uint32_t *orbit, uint32_t *bunch) {
  if (!is_known_odin(bank)) return 0;
  const uint32_t orbit_word = bank->version == 6 ? 2 : 7, bunch_word = bank->version == 6 ? 8 : 6;
  *orbit = mdf_load_u32(bank->payload + 4 * orbit_word);
  *bunch = mdf_load_u32(bank->payload + 4 * bunch_word) & 0xfffu;
  return 1;
}
