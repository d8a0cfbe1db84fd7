/* raw_banks.h: the raw banks of LHCb events, one collection a kind of bank, items = banks, bytes = payloads. The
 * plugin's README.md has their format. Banks stand in the order of the event's record. Payloads lie in `payload`, at
 * 32-bit words, in any order but none over another; a payload's padding up to a word is zero.
 *
 * The plugin that reads a kind declares it in a header, and has an input for it:
 *
 *   IO_RAW_BANKS(rich, rich_banks, "RICH banks (type 9)", 4, 64, 64, 4096, 9);
 *   ...
 *   SL_IN(banks, rich_banks, "offsets size_bytes", "all of an event")
 *
 * That is all: whichever source of raw banks the graph has (io.mdf_source, io.mep_source, sim.source), it then offers a
 * port `rich`, and fills it with the banks of these types where some node reads it. A source of one's own has
 * bank_packer.h.
 * Who hands events on, with banks of all kinds, reads their records (raw_record.h).
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

/* What all kinds look like, for who fills or reads any of them. */
SL_COLLECTION(io_raw_banks, IO_RAW_BANK_FIELDS, "raw banks of some kind");
SL_OPEN_PORTS(io_raw_banks);
#define IO_RAW_BANKS_TRAIT "io.raw_banks"

/* A bank outside of a port. */
struct io_bank {
  const uint8_t *payload;
  uint16_t size_bytes; /* of the payload */
  uint16_t source_id;
  uint8_t type, version;
};

/* Before its payload a bank in a record has a magic number, the length with this header, type, version and source id
 * (README.md). */
enum { IO_BANK_HEADER_BYTES = 8, IO_BANK_MAGIC = 0xCBCB, IO_BANK_BYTES_MAX = 0xffff - 8, IO_BANK_TYPES = 256 };

/* The header's bytes, little-endian. */
static inline uint64_t io_bank_header(const struct io_bank *bank) {
  return IO_BANK_MAGIC | (uint64_t)(uint16_t)(bank->size_bytes + IO_BANK_HEADER_BYTES) << 16 |
         (uint64_t)bank->type << 32 | (uint64_t)bank->version << 40 | (uint64_t)bank->source_id << 48;
}

/* The data of the trait. */
enum { IO_BANK_TYPES_MAX = 16 };
struct io_bank_kind {
  uint32_t type_count;
  uint8_t types[IO_BANK_TYPES_MAX];
};

/* Declares a kind: the port of the sources, the collection, its doc, then the budgets, then the bank types, which may
 * be those of other kinds too: each kind gets the banks.
 *
 * Budgets: banks of an average event, with some room, and the most that an event may have; the same in 32-bit words. A
 * slice ends early where a budget is used up. In graphs the averages are the properties PORT_banks and PORT_words of
 * the source. */
#define IO_RAW_BANKS(port_, collection_, doc_, banks_, banks_limit_, words_, words_limit_, ...)                        \
  static const uint8_t collection_##_types[] SL_UNUSED = {__VA_ARGS__};                                                \
  static const struct io_bank_kind collection_##_kind = {sizeof(collection_##_types), {__VA_ARGS__}};                  \
  static const struct sl_member collection_##_trait_members[] = {                                                      \
      SL_TRAIT_OUT(port_, SL_ITEMS(SL_ONE(SL_BUDGET_TERM(port_##_banks, banks_limit_))),                               \
                   SL_SUBITEMS(SL_ONE(SL_BUDGET_TERM(port_##_words, words_limit_)))),                                  \
      SL_TRAIT_BUDGET(port_##_banks, banks_, 0, 100000, "banks of this kind, on average over a slice"),                \
      SL_TRAIT_BUDGET(port_##_words, words_, 0, 10000000, "32-bit words of their payloads, on average over a slice")}; \
  static const struct sl_trait collection_##_trait = {                                                                 \
      IO_RAW_BANKS_TRAIT, #port_, collection_##_trait_members, 3, sizeof(collection_##_kind), &collection_##_kind};    \
  SL_COLLECTION_WITH_TRAIT(collection_, IO_RAW_BANK_FIELDS, doc_, &collection_##_trait)

#endif
