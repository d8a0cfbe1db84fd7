/* raw_banks.h: raw banks of LHCb events (README.md, "Formats"); one collection per kind of bank, items are banks. Banks
 * are in the order of the event record. Payloads are aligned to words in `payload`, in any order, padded with zeros.
 *
 * The plugin that reads a kind declares it in a header, and has an input for it:
 *
 *   IO_RAW_BANKS(rich, rich_banks, "RICH banks (type 9)", 4, 64, 64, 4096, 9);
 *   ...
 *   SL_IN(banks, rich_banks, "offsets size_bytes", "all RICH banks of an event")
 *
 * Every source of raw banks (io.mdf_source, io.mep_source, sim.source) then offers a port `rich`, and fills it with the
 * banks of these types if a node reads it. bank_packer.h helps to write another source. A node that passes on whole
 * events, with all kinds of banks, reads their records (raw_record.h). */
#ifndef IO_RAW_BANKS_H
#define IO_RAW_BANKS_H

#include <sluice/plugin.h>

#define IO_RAW_BANK_FIELDS(F)                                                      \
  F(offsets, u32, OFFSETS, "", "first bank of each event")                         \
  F(source_id, u16, PER_ITEM, "", "source id of the bank")                         \
  F(type, u8, PER_ITEM, "", "bank type")                                           \
  F(version, u8, PER_ITEM, "", "bank version")                                     \
  F(size_bytes, u16, PER_ITEM, "byte", "payload size, without header and padding") \
  F(first_word, u32, PER_ITEM, "word", "first word of the payload in `payload`")   \
  F(payload, u32, BYTES, "", "payloads as little-endian 32-bit words")

/* The layout common to all kinds, for code that handles any of them. */
SL_COLLECTION(io_raw_banks, IO_RAW_BANK_FIELDS, "raw banks of one kind");
SL_OPEN_PORTS(io_raw_banks);
#define IO_RAW_BANKS_TRAIT "io.raw_banks"

/* A bank that is not in a port. */
struct io_bank {
  const uint8_t *payload;
  uint16_t size_bytes; /* size of the payload */
  uint16_t source_id;
  uint8_t type, version;
};

/* Header of a bank in a record: magic number, length including the header, type, version, source id (README.md). */
enum { IO_BANK_HEADER_BYTES = 8, IO_BANK_MAGIC = 0xCBCB, IO_BANK_BYTES_MAX = 0xffff - 8, IO_BANK_TYPES = 256 };

/* Returns the bytes of the header, little-endian. */
static inline uint64_t io_bank_header(const struct io_bank *bank) {
  return IO_BANK_MAGIC | (uint64_t)(uint16_t)(bank->size_bytes + IO_BANK_HEADER_BYTES) << 16 |
         (uint64_t)bank->type << 32 | (uint64_t)bank->version << 40 | (uint64_t)bank->source_id << 48;
}

/* Data of the trait. */
enum { IO_BANK_TYPES_MAX = 16 };
struct io_bank_kind {
  uint32_t is_rare; /* 1: files without such banks are usual, and cause no warning */
  uint32_t type_count;
  uint8_t types[IO_BANK_TYPES_MAX];
};

/* Declares a kind: port of the sources, collection, doc string, budgets, bank types. Several kinds may have the same
 * bank type; each of them receives its banks.
 *
 * Budgets: mean number of banks per event, with a margin, and the limit for one event; then both in 32-bit words. A
 * slice ends early when a budget is used up. In graphs, the means are the properties PORT_banks and PORT_words of the
 * source. */
#define IO_RAW_BANKS(port_, collection_, doc_, ...) IO_RAW_BANKS_(0, port_, collection_, doc_, __VA_ARGS__)
/* A kind that most files do not have, such as errors: its absence causes no warning. */
#define IO_RARE_RAW_BANKS(port_, collection_, doc_, ...) IO_RAW_BANKS_(1, port_, collection_, doc_, __VA_ARGS__)
#define IO_RAW_BANKS_(is_rare_, port_, collection_, doc_, banks_, banks_limit_, words_, words_limit_, ...)            \
  static const uint8_t collection_##_types[] SL_UNUSED = {__VA_ARGS__};                                               \
  static const struct io_bank_kind collection_##_kind = {is_rare_, sizeof(collection_##_types), {__VA_ARGS__}};       \
  static const struct sl_member collection_##_trait_members[] = {                                                     \
      SL_TRAIT_OUT(port_, SL_ITEMS(SL_ONE(SL_BUDGET_TERM(port_##_banks, banks_limit_))),                              \
                   SL_SUBITEMS(SL_ONE(SL_BUDGET_TERM(port_##_words, words_limit_)))),                                 \
      SL_TRAIT_BUDGET(port_##_banks, banks_, 0, 100000, "mean number of banks of this kind per event, over a slice"), \
      SL_TRAIT_BUDGET(port_##_words, words_, 0, 10000000,                                                             \
                      "mean number of 32-bit payload words per event, over a slice")};                                \
  static const struct sl_trait collection_##_trait = {                                                                \
      IO_RAW_BANKS_TRAIT, #port_, collection_##_trait_members, 3, sizeof(collection_##_kind), &collection_##_kind};   \
  SL_COLLECTION_WITH_TRAIT(collection_, IO_RAW_BANK_FIELDS, doc_, &collection_##_trait)

#endif
