/* made_banks.h: raw banks that a graph makes of an event, to be written behind those that were read (spec formats.md
 * 8). A collection type a kind of bank, items = banks, subitems = words. What its header says follows from the kind, so
 * it is not stored; io.mdf_sink has an optional input for each kind.
 *
 * Bank i has its payload in the first `size_bytes` bytes of the words from `word_offsets[i]` on. Who makes them may
 * leave room behind it, so that banks of several sizes can be placed without knowing those before; it holds zeros.
 */
#ifndef IO_MADE_BANKS_H
#define IO_MADE_BANKS_H

#include <sluice/plugin.h>

#define IO_MADE_BANK_FIELDS(F)                                                \
  F(offsets, u32, OFFSETS, "", "first bank of each event")                    \
  F(size_bytes, u16, PER_ITEM, "byte", "payload size, a multiple of 4")       \
  F(word_offsets, u32, ITEM_OFFSETS, "word", "where each bank's words begin") \
  F(word, u32, PER_SUBITEM, "", "payloads, little-endian 32-bit words; behind a payload zeros")

/* B(port of the sink, collection, doc, bank type, version, source id), by ascending bank type. */
#define IO_MADE_BANK_KINDS(B) \
  B(luminosity_summary, luminosity_summary_banks, "HltLumiSummary banks (type 56)", 56, 2, 0x0100)

#define IO_MADE_BANK_COLLECTION_(port, collection, doc, ...) SL_COLLECTION(collection, IO_MADE_BANK_FIELDS, doc);
IO_MADE_BANK_KINDS(IO_MADE_BANK_COLLECTION_)
#undef IO_MADE_BANK_COLLECTION_

#endif
