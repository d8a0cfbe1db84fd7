/* made_banks.h: raw banks that a graph makes of an event, to be written after those that were read.
 * A collection type a kind of bank, items = banks, subitems = words. What its header says follows from the kind, so
 * it is not stored.
 *
 * The plugin that makes them declares the kind in a header, and has an output for it; io.mdf_sink then has an input for
 * it, and writes what is connected there, in the place of the banks of this type that were read.
 *
 * Bank i has its payload in the first `size_bytes` bytes of the words from `word_offsets[i]` on. Who makes them may
 * leave room after it, so that banks of several sizes can be placed without knowing those before; it holds zeros.
 */
#ifndef IO_MADE_BANKS_H
#define IO_MADE_BANKS_H

#include <sluice/plugin.h>

#define IO_MADE_BANK_FIELDS(F)                                                \
  F(offsets, u32, OFFSETS, "", "first bank of each event")                    \
  F(size_bytes, u16, PER_ITEM, "byte", "payload size, a multiple of 4")       \
  F(word_offsets, u32, ITEM_OFFSETS, "word", "where each bank's words begin") \
  F(word, u32, PER_SUBITEM, "", "payloads, little-endian 32-bit words; after a payload zeros")

/* What all kinds look like. */
SL_COLLECTION(io_made_banks, IO_MADE_BANK_FIELDS, "raw banks of some kind, made by the graph");
SL_OPEN_PORTS(io_made_banks);
#define IO_MADE_BANKS_TRAIT "io.made_banks"

/* The data of the trait: the bank's header. */
struct io_made_kind {
  uint16_t source_id;
  uint8_t type, version;
};

/* Declares a kind: the port of sinks, the collection, its doc, bank type, version, source id. */
#define IO_MADE_BANKS(port_, collection_, doc_, type_, version_, source_id_)                  \
  static const struct io_made_kind collection_##_kind = {source_id_, type_, version_};        \
  static const struct sl_trait collection_##_trait = {                                        \
      IO_MADE_BANKS_TRAIT, #port_, NULL, 0, sizeof(collection_##_kind), &collection_##_kind}; \
  SL_COLLECTION_WITH_TRAIT(collection_, IO_MADE_BANK_FIELDS, doc_, &collection_##_trait)

#endif
