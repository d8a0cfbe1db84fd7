/* made_banks.h: raw banks made by the graph, which sinks write after the banks that were read.
 * One collection type per kind of bank; items are banks, subitems are words. The bank header follows from the kind and
 * is not stored.
 *
 * The plugin that makes the banks declares the kind in a header and has an output for it. io.mdf_sink then has an input
 * for the kind. Connected banks replace the banks of their type that were read.
 *
 * The payload of bank i is the first `size_bytes` bytes from word `word_offsets[i]` on. It may be followed by unused
 * words with zeros, so that banks of different sizes can be placed independently of each other. */
#ifndef IO_MADE_BANKS_H
#define IO_MADE_BANKS_H

#include <sluice/plugin.h>

#define IO_MADE_BANK_FIELDS(F)                                          \
  F(offsets, u32, OFFSETS, "", "first bank of each event")              \
  F(size_bytes, u16, PER_ITEM, "byte", "payload size, a multiple of 4") \
  F(word_offsets, u32, ITEM_OFFSETS, "word", "first word of each bank") \
  F(word, u32, PER_SUBITEM, "", "payloads as little-endian 32-bit words, followed by zeros")

/* The layout common to all kinds. */
SL_COLLECTION(io_made_banks, IO_MADE_BANK_FIELDS, "raw banks of one kind, made by the graph");
SL_OPEN_PORTS(io_made_banks);
#define IO_MADE_BANKS_TRAIT "io.made_banks"

/* Data of the trait: the bank header. */
struct io_made_kind {
  uint16_t source_id;
  uint8_t type, version;
};

/* Declares a kind: port of the sinks, collection, doc string, bank type, version, source id. */
#define IO_MADE_BANKS(port_, collection_, doc_, type_, version_, source_id_)                  \
  static const struct io_made_kind collection_##_kind = {source_id_, type_, version_};        \
  static const struct sl_trait collection_##_trait = {                                        \
      IO_MADE_BANKS_TRAIT, #port_, NULL, 0, sizeof(collection_##_kind), &collection_##_kind}; \
  SL_COLLECTION_WITH_TRAIT(collection_, IO_MADE_BANK_FIELDS, doc_, &collection_##_trait)

#endif
