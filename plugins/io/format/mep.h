/* mep.h: packets of the event builder (MEP), on memory. Formats: README.md.
 *
 * A packet holds the fragments of its events by source: one block a source (an MFP), in which fragment k belongs to
 * event k. Two generations are read through the same structs: the production format, and the prototype of 2019. Nothing
 * here allocates or reads files; all bytes may be hostile.
 *
 *   mep_packet_open(data, bytes, &packet, &fault)
 *   for i < packet.block_count: mep_packet_block(&packet, i, &block, &fault)
 *
 * Where packets begin and end in a file that is nothing but packets is found by mep_file.h.
 *
 * Source ids. The source id of a block has subsystem bits. Banks of old simulation and of Monte-Carlo
 * truth are numbered from 0 within their type instead. In a packet they stand under a subsystem with bit 10 of the
 * number set, which no readout board has: mep_block_source and mep_bank_source lead there and back.
 */
#ifndef IO_MEP_H
#define IO_MEP_H

#include "mdf_fault.h"

enum {
  MEP_MAGIC = 0xCEFA,
  MEP_BLOCK_MAGIC = 0x40CE,
  MEP_HEADER_BYTES = 8,
  MEP_BLOCK_HEADER_BYTES = 20,
  MEP_PADDING_BYTES_MAX = 3, /* after a packet, in its record */
  MEP_BLOCKS_MAX = 0xffff,
  MEP_EVENTS_MAX = 0xffff,
  MEP_FRAGMENT_MISSING = 92 /* bank type of a fragment that is not there */
};

struct mep_packet {
  const uint8_t *data;
  uint64_t bytes;
  uint64_t blocks_begin; /* the first byte after the header and its lists */
  uint32_t block_count;
  uint32_t is_prototype;
  const uint8_t *source_ids, *versions, *offsets; /* lists, not aligned; versions: prototype only */
};

struct mep_block {
  const uint8_t *types, *sizes; /* u8, u16, not aligned */
  const uint8_t *fragments;
  uint64_t begin, end; /* in the packet */
  uint64_t fragment_bytes;
  uint64_t event_id; /* of the first fragment */
  uint32_t event_count;
  uint16_t source_id;
  uint8_t version;
  uint8_t alignment; /* fragments are padded to multiples of 1 << alignment bytes */
};

/* The bytes that a fragment takes in its block. */
static inline uint32_t mep_padded_bytes(const struct mep_block *b, uint32_t size) {
  const uint32_t mask = (1u << b->alignment) - 1;
  return (size + mask) & ~mask;
}
static inline uint32_t mep_fragment_size(const struct mep_block *b, uint32_t event) {
  return mdf_load_u16(b->sizes + 2 * (uint64_t)event);
}

/* A packet that begins at `data`, where `bytes` can be read: 0, or -1 with the fault filled. packet->bytes is what it
 * claims to take, and may be wrong if its blocks are. */
int mep_packet_open(const uint8_t *data, uint64_t bytes, struct mep_packet *packet, struct mdf_fault *fault);
/* Where block i begins in the packet, as its lists say. */
uint64_t mep_packet_block_begin(const struct mep_packet *packet, uint32_t i);
/* Block i, which lies in the packet with its fragments: 0, or -1 with the fault filled. */
int mep_packet_block(const struct mep_packet *packet, uint32_t i, struct mep_block *block, struct mdf_fault *fault);
/* Do all blocks agree in a sound packet: they lie one after the other, have the same number of fragments and the same
 * first event id. `blocks` has room for packet->block_count of them, or is NULL; one whose event_count
 * is not 0 was opened before. */
int mep_packet_blocks(const struct mep_packet *packet, struct mep_block *blocks, struct mdf_fault *fault);
/* How many events a packet has whose blocks may be damaged, and the id of the first: 1, or 0 if nothing tells. */
int mep_packet_claims(const uint8_t *data, uint64_t bytes, uint32_t *event_count, uint64_t *event_id);
/* The same of a packet that may have a record's header before it. */
int mep_record_claims(const uint8_t *data, uint64_t bytes, uint32_t *event_count, uint64_t *event_id);

/* Is this the type of a fragment that the readout found broken? */
static inline int mep_is_broken_type(uint8_t type) { return (type >= 89 && type <= 96) || type == 100 || type == 101; }

/* The source id of a block for banks of a type and source id: 1, or 0 if a packet has no place for them. */
int mep_block_source(uint8_t type, uint16_t bank_source, uint16_t *block_source);
/* And back. */
uint16_t mep_bank_source(uint8_t type, uint16_t block_source);

#endif
