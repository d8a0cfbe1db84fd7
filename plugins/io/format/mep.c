/* mep.c: see mep.h. */
#include "mep.h"

enum { PROTOTYPE_HEADER_BYTES = 16, PROTOTYPE_BLOCK_HEADER_BYTES = 16, ALIGNMENT_MAX = 16 };

static uint64_t load_u64(const uint8_t *p) { return mdf_load_u32(p) | (uint64_t)mdf_load_u32(p + 4) << 32; }
static uint64_t padded(uint64_t bytes) { return (bytes + 3) & ~(uint64_t)3; }

/* ------------------------------------------------------------------------------------------------- headers */

static int set_fault(struct mdf_fault *fault, uint32_t kind, uint64_t at, uint64_t found, uint64_t expected,
                     uint64_t other) {
  *fault = (struct mdf_fault){kind, 0, at, found, expected, other};
  return -1;
}

static int open_production(const uint8_t *data, uint64_t bytes, struct mep_packet *p, struct mdf_fault *fault) {
  p->block_count = mdf_load_u16(data + 2);
  p->bytes = 4 * (uint64_t)mdf_load_u32(data + 4);
  p->source_ids = data + MEP_HEADER_BYTES;
  p->offsets = p->source_ids + padded(2 * (uint64_t)p->block_count);
  p->blocks_begin = MEP_HEADER_BYTES + padded(2 * (uint64_t)p->block_count) + 4 * (uint64_t)p->block_count;
  if (p->block_count == 0 || p->bytes < p->blocks_begin + MEP_BLOCK_HEADER_BYTES)
    return set_fault(fault, MDF_FAULT_PACKET, 0, p->bytes, p->blocks_begin + MEP_BLOCK_HEADER_BYTES, p->block_count);
  return p->bytes > bytes ? set_fault(fault, MDF_FAULT_TRUNCATED, 0, bytes, p->bytes, 0) : 0;
}

static int open_prototype(const uint8_t *data, uint64_t bytes, struct mep_packet *p, struct mdf_fault *fault) {
  const uint64_t count = p->block_count = mdf_load_u16(data);
  p->is_prototype = 1;
  p->source_ids = data + PROTOTYPE_HEADER_BYTES;
  p->versions = p->source_ids + padded(2 * count);
  p->offsets = p->versions + padded(2 * count);
  p->blocks_begin = PROTOTYPE_HEADER_BYTES + 2 * padded(2 * count) + 4 * count;
  const uint64_t blocks_bytes = load_u64(data + 8), room = bytes > p->blocks_begin ? bytes - p->blocks_begin : 0;
  if (count == 0 || room < PROTOTYPE_BLOCK_HEADER_BYTES || blocks_bytes > room)
    return set_fault(fault, MDF_FAULT_PACKET, 0, blocks_bytes, room, p->block_count);
  p->bytes = p->blocks_begin + blocks_bytes;
  return 0;
}

int mep_packet_open(const uint8_t *data, uint64_t bytes, struct mep_packet *packet, struct mdf_fault *fault) {
  *packet = (struct mep_packet){.data = data};
  if (bytes < MEP_HEADER_BYTES) return set_fault(fault, MDF_FAULT_TRUNCATED, 0, bytes, 0, 0);
  if (mdf_load_u16(data) == MEP_MAGIC) return open_production(data, bytes, packet, fault);
  /* The prototype has no magic number, but its second half-word, the number of events, is never 0. */
  if (bytes < PROTOTYPE_HEADER_BYTES || mdf_load_u16(data + 2) == 0)
    return set_fault(fault, MDF_FAULT_PACKET_MAGIC, 0, mdf_load_u16(data), MEP_MAGIC, 0);
  return open_prototype(data, bytes, packet, fault);
}

/* -------------------------------------------------------------------------------------------------- blocks */

static uint64_t sum_of_sizes(const struct mep_block *b) {
  uint64_t sum = 0;
  for (uint32_t e = 0; e < b->event_count; e++) sum += mep_padded_bytes(b, mep_fragment_size(b, e));
  return sum;
}

/* Locates the lists and fragments after the header of a block; `room` is the size of the packet from the block on. */
static int open_lists(uint64_t header_bytes, uint64_t room, const uint8_t *data, struct mep_block *b) {
  const uint64_t sizes_at = header_bytes + padded(b->event_count);
  const uint64_t lists_end = sizes_at + padded(2 * (uint64_t)b->event_count);
  if (b->event_count == 0 || lists_end > room) return -1;
  b->types = data + header_bytes;
  b->sizes = data + sizes_at;
  b->fragments = data + lists_end;
  b->fragment_bytes = sum_of_sizes(b);
  return 0;
}

static int production_block(const struct mep_packet *p, uint32_t i, struct mep_block *b, struct mdf_fault *fault) {
  const uint8_t *data = p->data + b->begin;
  const uint64_t room = p->bytes - b->begin;
  if (room < MEP_BLOCK_HEADER_BYTES) return set_fault(fault, MDF_FAULT_BLOCK_BOUNDS, i, b->begin, p->bytes, 0);
  if (mdf_load_u16(data) != MEP_BLOCK_MAGIC)
    return set_fault(fault, MDF_FAULT_BLOCK_MAGIC, i, mdf_load_u16(data), MEP_BLOCK_MAGIC, 0);
  const uint64_t bytes = mdf_load_u32(data + 4);
  b->event_count = mdf_load_u16(data + 2);
  b->event_id = load_u64(data + 8);
  b->source_id = mdf_load_u16(data + 16);
  b->alignment = data[18];
  b->version = data[19];
  b->end = b->begin + bytes;
  if (bytes > room) return set_fault(fault, MDF_FAULT_BLOCK_BOUNDS, i, b->begin, p->bytes, bytes);
  if (b->alignment > ALIGNMENT_MAX) return set_fault(fault, MDF_FAULT_BLOCK_SIZE, i, b->alignment, bytes, 0);
  if (open_lists(MEP_BLOCK_HEADER_BYTES, bytes, data, b))
    return set_fault(fault, MDF_FAULT_BLOCK_SIZE, i, b->event_count, bytes, 0);
  const uint64_t lists_end = (uint64_t)(b->fragments - data), mask = ((uint64_t)1 << b->alignment) - 1;
  const uint64_t aligned_end = (lists_end + mask) & ~mask;
  if (lists_end + b->fragment_bytes == bytes) return 0;
  if (aligned_end + b->fragment_bytes != bytes)
    return set_fault(fault, MDF_FAULT_BLOCK_SIZE, i, b->event_count, bytes, lists_end + b->fragment_bytes);
  b->fragments = data + aligned_end;
  return 0;
}

static int prototype_block(const struct mep_packet *p, uint32_t i, struct mep_block *b, struct mdf_fault *fault) {
  const uint8_t *data = p->data + b->begin;
  const uint64_t room = p->bytes - b->begin;
  if (room < PROTOTYPE_BLOCK_HEADER_BYTES) return set_fault(fault, MDF_FAULT_BLOCK_BOUNDS, i, b->begin, p->bytes, 0);
  const uint64_t bytes = mdf_load_u32(data + 12);
  b->event_id = load_u64(data);
  b->event_count = mdf_load_u16(data + 8);
  b->source_id = mdf_load_u16(p->source_ids + 2 * (uint64_t)i);
  b->version = (uint8_t)mdf_load_u16(p->versions + 2 * (uint64_t)i);
  b->alignment = 0;
  if (open_lists(PROTOTYPE_BLOCK_HEADER_BYTES, room, data, b) || b->fragment_bytes != bytes)
    return set_fault(fault, MDF_FAULT_BLOCK_SIZE, i, b->event_count, bytes, b->types ? b->fragment_bytes : 0);
  const uint64_t lists_end = (uint64_t)(b->fragments - data);
  if (bytes > room - lists_end) return set_fault(fault, MDF_FAULT_BLOCK_BOUNDS, i, b->begin, p->bytes, bytes);
  b->end = b->begin + lists_end + bytes;
  return 0;
}

uint64_t mep_packet_block_begin(const struct mep_packet *p, uint32_t i) {
  const uint64_t offset = mdf_load_u32(p->offsets + 4 * (uint64_t)i);
  return p->is_prototype ? p->blocks_begin + offset : 4 * offset;
}

int mep_packet_block(const struct mep_packet *p, uint32_t i, struct mep_block *b, struct mdf_fault *fault) {
  *b = (struct mep_block){.begin = mep_packet_block_begin(p, i)};
  if (b->begin < p->blocks_begin || b->begin > p->bytes)
    return set_fault(fault, MDF_FAULT_BLOCK_BOUNDS, i, b->begin, p->bytes, 0);
  if (p->is_prototype) return prototype_block(p, i, b, fault);
  if (production_block(p, i, b, fault)) return -1;
  const uint16_t listed = mdf_load_u16(p->source_ids + 2 * (uint64_t)i);
  return listed == b->source_id ? 0 : set_fault(fault, MDF_FAULT_BLOCK_SOURCE, i, b->source_id, listed, 0);
}

int mep_packet_blocks(const struct mep_packet *p, struct mep_block *blocks, struct mdf_fault *fault) {
  struct mep_block first = {0}, block;
  uint64_t end = p->blocks_begin;
  for (uint32_t i = 0; i < p->block_count; i++) {
    if (blocks && blocks[i].event_count != 0)
      block = blocks[i];
    else if (mep_packet_block(p, i, &block, fault))
      return -1;
    if (i == 0) first = block;
    /* Overlapping blocks would cause much work for a small file. */
    if (block.begin < end) return set_fault(fault, MDF_FAULT_BLOCK_BOUNDS, i, block.begin, p->bytes, end);
    if (block.event_count != first.event_count)
      return set_fault(fault, MDF_FAULT_BLOCK_EVENTS, i, block.event_count, first.event_count, 0);
    if (block.event_id != first.event_id)
      return set_fault(fault, MDF_FAULT_BLOCK_EVENT_ID, i, block.event_id, first.event_id, 0);
    end = block.end;
    if (blocks) blocks[i] = block;
  }
  return 0;
}

int mep_packet_claims(const uint8_t *data, uint64_t bytes, uint32_t *event_count, uint64_t *event_id) {
  struct mep_packet p;
  struct mdf_fault fault;
  if (mep_packet_open(data, bytes, &p, &fault) && (fault.kind != MDF_FAULT_TRUNCATED || p.block_count == 0)) return 0;
  const uint64_t header_bytes = p.is_prototype ? PROTOTYPE_BLOCK_HEADER_BYTES : MEP_BLOCK_HEADER_BYTES;
  if (p.blocks_begin + header_bytes > bytes) return 0;
  const uint8_t *block = data + p.blocks_begin;
  if (!p.is_prototype && mdf_load_u16(block) != MEP_BLOCK_MAGIC) return 0;
  *event_count = mdf_load_u16(p.is_prototype ? block + 8 : block + 2);
  *event_id = load_u64(p.is_prototype ? block : block + 8);
  return *event_count != 0;
}

int mep_record_claims(const uint8_t *data, uint64_t bytes, uint32_t *event_count, uint64_t *event_id) {
  enum { RECORD_HEADER_BYTES = 48 };
  for (uint64_t skip = 0; skip <= RECORD_HEADER_BYTES; skip += RECORD_HEADER_BYTES)
    if (bytes > skip && mep_packet_claims(data + skip, bytes - skip, event_count, event_id)) return 1;
  return 0;
}

/* ---------------------------------------------------------------------------------------------- source ids */

/* Block source ids of bank types that are numbered from 0 within the type: `count` ids from `first` on, with bit 10
 * set. */
struct numbered {
  uint8_t type;
  uint16_t first, count;
};
enum { VELO_A = 2 << 11, VELO_C = 3 << 11, TEST_DETECTOR = 15 << 11, NUMBERED = 1 << 10 };
static const struct numbered numbered[] = {
    {63, VELO_A | NUMBERED, 1024},       /* simulated super-pixels */
    {8, VELO_A | NUMBERED, 1024},        /* super-pixels of the detector, if they are numbered */
    {73, VELO_C | NUMBERED, 1024},       /* retina clusters */
    {32, TEST_DETECTOR | NUMBERED, 512}, /* Monte-Carlo particles */
    {33, TEST_DETECTOR | NUMBERED | 512, 512},
};

static const struct numbered *find_numbered(uint8_t type) {
  for (size_t i = 0; i < sizeof numbered / sizeof numbered[0]; i++)
    if (numbered[i].type == type) return &numbered[i];
  return NULL;
}

int mep_block_source(uint8_t type, uint16_t bank_source, uint16_t *block_source) {
  const struct numbered *n = find_numbered(type);
  *block_source = bank_source;
  if (!n) return 1;
  if (bank_source >= n->count) return mep_bank_source(type, bank_source) == bank_source;
  *block_source = (uint16_t)(n->first + bank_source);
  return 1;
}

uint16_t mep_bank_source(uint8_t type, uint16_t block_source) {
  const struct numbered *n = find_numbered(type);
  if (!n || block_source < n->first || block_source >= n->first + n->count) return block_source;
  return (uint16_t)(block_source - n->first);
}
