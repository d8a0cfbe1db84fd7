/* mep.h: packets of the event builder (MEP), read from memory. README.md describes the formats.
 *
 * A packet holds the fragments of its events, sorted by source: one block (MFP) per source, in which fragment k belongs
 * to event k. The same structs describe the production format and the prototype of 2019. The functions allocate nothing
 * and read no files; they accept arbitrary bytes.
 *
 *   mep_packet_open(data, bytes, &packet, &fault)
 *   for i < packet.block_count: mep_packet_block(&packet, i, &block, &fault)
 *
 * Source ids: the source id of a block has subsystem bits. Banks of old simulation and Monte-Carlo truth are numbered
 * from 0 within their type; in a packet they get a subsystem, and bit 10 of the number, which no readout board sets.
 * mep_block_source and mep_bank_source convert between the two. */
#ifndef IO_MEP_H
#define IO_MEP_H

#include "mdf_fault.h"

enum {
  MEP_MAGIC = 0xCEFA,
  MEP_BLOCK_MAGIC = 0x40CE,
  MEP_HEADER_BYTES = 8,
  MEP_BLOCK_HEADER_BYTES = 20,
  MEP_PADDING_BYTES_MAX = 3, /* after a packet within its record */
  MEP_BLOCKS_MAX = 0xffff,
  MEP_EVENTS_MAX = 0xffff,
  MEP_FRAGMENT_MISSING = 92 /* bank type of a missing fragment */
};

struct mep_packet {
  const uint8_t *data;
  uint64_t bytes;
  uint64_t blocks_begin; /* the first byte after the header and its lists */
  uint32_t block_count;
  uint32_t is_prototype;
  const uint8_t *source_ids, *versions, *offsets; /* unaligned lists; versions: prototype only */
};

struct mep_block {
  const uint8_t *types, *sizes; /* lists of u8 and u16, unaligned */
  const uint8_t *fragments;
  uint64_t begin, end; /* offsets in the packet */
  uint64_t fragment_bytes;
  uint64_t event_id; /* event id of the first fragment */
  uint32_t event_count;
  uint16_t source_id;
  uint8_t version;
  uint8_t alignment; /* fragments are padded to multiples of 1 << alignment bytes */
};

/* Returns the size of a fragment in its block, with padding. */
static inline uint32_t mep_padded_bytes(const struct mep_block *b, uint32_t size) {
  const uint32_t mask = (1u << b->alignment) - 1;
  return (size + mask) & ~mask;
}
static inline uint32_t mep_fragment_size(const struct mep_block *b, uint32_t event) {
  return mdf_load_u16(b->sizes + 2 * (uint64_t)event);
}

/* Opens the packet at `data`, where `bytes` can be read: 0, or -1 with the fault filled. packet->bytes comes from the
 * header and may be wrong if the blocks are damaged. */
int mep_packet_open(const uint8_t *data, uint64_t bytes, struct mep_packet *packet, struct mdf_fault *fault);
/* Returns the offset of block i in the packet, as listed in the header. */
uint64_t mep_packet_block_begin(const struct mep_packet *packet, uint32_t i);
/* Opens block i, which with its fragments is within the packet: 0, or -1 with the fault filled. */
int mep_packet_block(const struct mep_packet *packet, uint32_t i, struct mep_block *block, struct mdf_fault *fault);
/* Checks that the blocks do not overlap and have equal event counts and first event ids: 0, or -1 with the fault
 * filled. `blocks` has room for packet->block_count blocks, or is NULL; entries with event_count != 0 are already
 * open. */
int mep_packet_blocks(const struct mep_packet *packet, struct mep_block *blocks, struct mdf_fault *fault);
/* Reads the number of events and the first event id of a packet with possibly damaged blocks: 1, or 0 if they are
 * unknown. */
int mep_packet_claims(const uint8_t *data, uint64_t bytes, uint32_t *event_count, uint64_t *event_id);
/* mep_packet_claims for a packet that may be preceded by the header of an MDF record. */
int mep_record_claims(const uint8_t *data, uint64_t bytes, uint32_t *event_count, uint64_t *event_id);

/* Returns 1 for the type of a fragment that the readout marked broken. */
static inline int mep_is_broken_type(uint8_t type) { return (type >= 89 && type <= 96) || type == 100 || type == 101; }

/* Converts the source id of a bank to that of its block: 1, or 0 if a packet cannot represent it. */
int mep_block_source(uint8_t type, uint16_t bank_source, uint16_t *block_source);
/* Converts the source id of a block to that of a bank of the given type. */
uint16_t mep_bank_source(uint8_t type, uint16_t block_source);

#endif
