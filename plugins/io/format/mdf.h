/* mdf.h: MDF records and their raw banks, read from memory. README.md describes the formats.
 *
 * The functions allocate nothing, read no files and keep no state outside struct mdf_reader. They accept arbitrary
 * bytes.
 *
 * A reader walks through the records of one file:
 *   struct mdf_reader reader = mdf_reader_start(data, size);
 *   struct mdf_record record;
 *   while (mdf_next(&reader, &record)) ...
 * Each byte of the file belongs to exactly one returned record; a record that cannot be read has a fault.
 * The banks of a sound record are in its (decompressed) body, between the two offsets that mdf_event_banks returns. */
#ifndef IO_MDF_H
#define IO_MDF_H

#include "io/raw_banks.h"
#include "mdf_fault.h"

enum {
  MDF_GENERIC_HEADER_BYTES = 20,
  MDF_HASHED_FROM = 16, /* the checksum covers the record from this byte to its end */
  MDF_BANK_DAQ = 15,
  MDF_BANK_ODIN = 16,
  MDF_BANK_TAE_HEADER = 48
};

enum { MDF_DATA_BANKS = 1, MDF_DATA_MEP = 2 }; /* data types */
enum { MDF_COMPRESSION_MAX = 9 };

struct mdf_record {
  uint64_t offset; /* offset of its first byte in the file */
  uint64_t bytes;  /* its size in the file */
  uint32_t header_bytes;
  uint32_t checksum; /* stored checksum; 0: none */
  uint32_t version, data_type;
  uint32_t compression, expansion; /* compression level, 0: none; the body grows by at most expansion + 1 (a hint) */
  uint32_t has_run, run;
  uint32_t has_number;
  uint32_t is_verified; /* its contents were read to find its end, and match the header */
  uint64_t number;      /* trigger number; header version 0 only */
  struct mdf_fault fault;
};

struct mdf_reader {
  const uint8_t *data;
  uint64_t size;
  uint64_t offset;       /* where the next record begins */
  uint64_t verify_bytes; /* bytes that may still be hashed or walked to find records after damage */
  uint64_t awaited;      /* stream: end of the incomplete record found by the last call; 0: none */
  uint32_t is_partial;   /* stream: more bytes may follow */
  uint32_t reserved;
};

struct mdf_reader mdf_reader_start(const uint8_t *data, uint64_t size);

/* Sets the new size after more bytes of a stream have arrived. */
void mdf_reader_extend(struct mdf_reader *reader, uint64_t size);

/* Reads the next record; returns 0 at the end of the file. */
int mdf_next(struct mdf_reader *reader, struct mdf_record *record);

/* Must be called if the checksum or mdf_contents_verify shows that the record just read is damaged. If another verified
 * record begins within it, the record ends there, and the other one is next. */
void mdf_cut_damaged(struct mdf_reader *reader, struct mdf_record *record);

/* Returns 1 if the contents of a record with a sound header at `bytes` reach exactly to its end: banks, a packet, or
 * one compressed block. Does not verify the checksum. */
int mdf_contents_verify(const uint8_t *bytes, const struct mdf_record *record);

/* Stream only: notes that a sound header claims the bytes up to `end`, which have not arrived yet. */
void mdf_reader_await(struct mdf_reader *reader, uint64_t end);

/* Returns 1 and fills `record` if a complete record with a sound header begins at `offset`. Does not read its body. */
int mdf_record_at(const uint8_t *data, uint64_t size, uint64_t offset, struct mdf_record *record);

/* Returns 1 if the bytes begin with a record header or contain a record further on. */
int mdf_recognise(const uint8_t *data, uint64_t size);
/* Returns what most of the first records contain. Any of them may be damaged, and the last one incomplete. */
enum mdf_content { MDF_NO_RECORDS, MDF_DAMAGED_RECORDS, MDF_BANKS, MDF_PACKETS };
enum mdf_content mdf_content_of(const uint8_t *data, uint64_t size);

/* Fills the fault of the bank at `position`. Not inlined, to keep mdf_bank_next small. */
void mdf_bank_fault(const uint8_t *body, uint64_t position, uint64_t end, struct mdf_fault *fault);

/* Reads the bank at *position and advances *position: 1 for a bank, 0 at `end`, -1 with the fault filled. The last bank
 * may lack its padding. */
static inline int mdf_bank_next(const uint8_t *body, uint64_t end, uint64_t *position, struct io_bank *bank,
                                struct mdf_fault *fault) {
  const uint64_t at = *position;
  if (at >= end) return 0;
  uint64_t header = 0;
  if (end - at >= IO_BANK_HEADER_BYTES) memcpy(&header, body + at, sizeof header);
  const uint32_t length = (uint16_t)(header >> 16);
  if ((uint16_t)header != IO_BANK_MAGIC || length < IO_BANK_HEADER_BYTES || length > end - at) {
    mdf_bank_fault(body, at, end, fault);
    return -1;
  }
  bank->payload = body + at + IO_BANK_HEADER_BYTES;
  bank->size_bytes = (uint16_t)(length - IO_BANK_HEADER_BYTES);
  bank->type = (uint8_t)(header >> 32);
  bank->version = (uint8_t)(header >> 40);
  bank->source_id = (uint16_t)(header >> 48);
  const uint64_t next = at + ((length + 3u) & ~3u);
  *position = next < end ? next : end;
  return 1;
}

/* Returns the range of the body that contains the banks of the event: all of it, or the central crossing of a TAE
 * record. Returns 0, or -1 with the fault filled. Rationale: the neighbouring crossings are read out to study timing;
 * they are not triggered events. */
int mdf_event_banks(const uint8_t *body, uint64_t body_bytes, uint64_t *begin, uint64_t *end, struct mdf_fault *fault);

/* Reads run and event number from an ODIN bank of version 6 or 7: 1, or 0 for other banks. */
int mdf_odin_identity(const struct io_bank *bank, uint32_t *run, uint64_t *number);
/* Reads orbit (low 32 bits) and bunch crossing from an ODIN bank of version 6 or 7: 1, or 0 for other banks. */
int mdf_odin_crossing(const struct io_bank *bank, uint32_t *orbit, uint32_t *bunch);

#endif
