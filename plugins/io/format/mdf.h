/* mdf.h: MDF records and their raw banks, on memory. Formats: README.md.
 *
 * Nothing here allocates, reads files or keeps state beyond struct mdf_reader; all bytes may be hostile.
 *
 * A reader walks the records of one file:
 *   struct mdf_reader reader = mdf_reader_start(data, size);
 *   struct mdf_record record;
 *   while (mdf_next(&reader, &record)) ...
 * Every byte of the file belongs to exactly one record that it returns; those that cannot be read carry a fault.
 * The banks of a sound record's (decompressed) body are those between the two ends that mdf_event_banks gives.
 */
#ifndef IO_MDF_H
#define IO_MDF_H

#include "io/raw_banks.h"
#include "mdf_fault.h"

enum {
  MDF_GENERIC_HEADER_BYTES = 20,
  MDF_HASHED_FROM = 16, /* the checksum covers the record from this byte on */
  MDF_BANK_DAQ = 15,
  MDF_BANK_ODIN = 16,
  MDF_BANK_TAE_HEADER = 48
};

enum { MDF_DATA_BANKS = 1, MDF_DATA_MEP = 2 }; /* data types */
enum { MDF_COMPRESSION_MAX = 9 };

struct mdf_record {
  uint64_t offset; /* of its first byte in the file */
  uint64_t bytes;  /* that it takes in the file */
  uint32_t header_bytes;
  uint32_t checksum; /* as stored; 0: none */
  uint32_t version, data_type;
  uint32_t compression, expansion; /* level, 0 none; a hint that the body grows by expansion + 1 */
  uint32_t has_run, run;
  uint32_t has_number;
  uint32_t is_verified; /* the search for its end has read its contents, and they are as the header says */
  uint64_t number;      /* trigger number; version 0 only */
  struct mdf_fault fault;
};

struct mdf_reader {
  const uint8_t *data;
  uint64_t size;
  uint64_t offset;       /* where the next record begins */
  uint64_t verify_bytes; /* how many more bytes may be hashed or walked to find the place after a broken header */
  uint64_t awaited;      /* of a stream: a header found by the last call claims the bytes up to here; 0: none */
  uint32_t is_partial;   /* of a stream: more bytes may follow */
  uint32_t reserved;
};

struct mdf_reader mdf_reader_start(const uint8_t *data, uint64_t size);

/* More of the file is there. */
void mdf_reader_extend(struct mdf_reader *reader, uint64_t size);

/* The next record; 0 at the end of the file. */
int mdf_next(struct mdf_reader *reader, struct mdf_record *record);

/* To be called when the contents of the record just read are not what its header says, by mdf_contents_verify or its
 * checksum. If another record that verifies begins within it, the header's length is wrong, and the record ends where
 * that one begins, which is next. */
void mdf_distrust(struct mdf_reader *reader, struct mdf_record *record);

/* 1 if the contents of a record with a sound header, which begins at `bytes`, reach to the record's end: banks, a
 * packet, or one compressed block. The checksum is not looked at. */
int mdf_contents_verify(const uint8_t *bytes, const struct mdf_record *record);

/* For streams: a sound header claims the bytes up to `end`, which have not arrived yet. */
void mdf_reader_await(struct mdf_reader *reader, uint64_t end);

/* 1 if a whole record with a sound header begins at `offset`; then `record` describes it. Does not look at its body. */
int mdf_record_at(const uint8_t *data, uint64_t size, uint64_t offset, struct mdf_record *record);

/* Could a reader make something of these bytes: do they begin with a header, or hold a record further on? */
int mdf_recognise(const uint8_t *data, uint64_t size);
/* And what do its first records hold, of which the last may be cut off? Most decide, since any of them may be damaged,
 * the first too. */
enum mdf_content { MDF_NO_RECORDS, MDF_DAMAGED_RECORDS, MDF_BANKS, MDF_PACKETS };
enum mdf_content mdf_content_of(const uint8_t *data, uint64_t size);

/* Not inlined, so that the walk stays small. */
void mdf_bank_fault(const uint8_t *body, uint64_t position, uint64_t end, struct mdf_fault *fault);

/* The bank at *position, which moves to the next one: 1 for a bank, 0 at `end`, -1 with the fault filled. The padding
 * of the last bank may be missing. */
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

/* Where the banks of the event lie in the body: all of it, or the central crossing of a TAE window. 0, or -1 with the
 * fault filled.
 * Rationale: the crossings around the central one are read out to study timing; they are no triggered events. */
int mdf_event_banks(const uint8_t *body, uint64_t body_bytes, uint64_t *begin, uint64_t *end, struct mdf_fault *fault);

/* Run and event number from an ODIN bank of version 6 or 7: 1, or 0 if the bank is none of these. */
int mdf_odin_identity(const struct io_bank *bank, uint32_t *run, uint64_t *number);
/* Likewise the orbit, its low 32 bits, and the bunch within it. */
int mdf_odin_crossing(const struct io_bank *bank, uint32_t *orbit, uint32_t *bunch);

#endif
