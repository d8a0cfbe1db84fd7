/* raw_banks.h: the raw banks of LHCb events, one collection type a kind of bank, items = banks, bytes = payloads.
 * Format: spec formats.md 1.3 and 2. Banks stand in the order of the event's record. Payloads lie in `payload`, at
 * 32-bit words; a payload's padding up to a word is zero. Which raw bank belongs to which kind is decided by its type.
 */
#ifndef IO_RAW_BANKS_H
#define IO_RAW_BANKS_H

#include <sluice/plugin.h>

#define IO_RAW_BANK_FIELDS(F)                                                      \
  F(offsets, u32, OFFSETS, "", "first bank of each event")                         \
  F(source_id, u16, PER_ITEM, "", "source id of the bank")                         \
  F(type, u8, PER_ITEM, "", "bank type")                                           \
  F(version, u8, PER_ITEM, "", "bank version")                                     \
  F(size_bytes, u16, PER_ITEM, "byte", "payload size, without header and padding") \
  F(first_word, u32, PER_ITEM, "word", "where the payload begins in `payload`")    \
  F(payload, u32, BYTES, "", "payloads, little-endian 32-bit words")

/* Kinds: B(port of the source, collection, doc, bank types...). A bank type belongs to at most one kind. */
#define IO_RAW_BANK_KINDS(B)                                                                   \
  B(odin, odin_banks, "ODIN banks (type 16)", 16)                                              \
  B(velo_superpixels, velo_superpixel_banks, "VELO super-pixel banks (types 63 and 8)", 63, 8) \
  B(velo_clusters, velo_retina_banks, "VELO retina cluster banks (type 73)", 73)               \
  B(mc_particles, mc_particle_banks, "Monte-Carlo particle banks (type 32)", 32)               \
  B(mc_vertices, mc_vertex_banks, "Monte-Carlo vertex banks (type 33)", 33)

#define IO_RAW_BANK_COLLECTION_(port, collection, doc, ...) SL_COLLECTION(collection, IO_RAW_BANK_FIELDS, doc);
IO_RAW_BANK_KINDS(IO_RAW_BANK_COLLECTION_)
#undef IO_RAW_BANK_COLLECTION_

#endif
