/* mdf_writer.h: writes MDF files in memory for tests. Independent of the reader: it computes checksums with its own
 * code. */
#ifndef TEST_MDF_WRITER_H
#define TEST_MDF_WRITER_H

#include <stddef.h>
#include <stdint.h>

struct bytes {
  uint8_t *data;
  size_t size, capacity;
};
void bytes_add(struct bytes *b, const void *data, size_t size);
void bytes_free(struct bytes *b);

/* Appends a bank with its padding; the other functions append banks that many tests use. */
void add_bank(struct bytes *b, uint8_t type, uint8_t version, uint16_t source_id, const void *payload, uint16_t size);
void add_odin(struct bytes *b, uint8_t version, uint32_t run, uint64_t number);
/* A bank of `words` words of VELO clusters, made from `seed`. */
void add_clusters(struct bytes *b, uint16_t source_id, uint32_t words, uint32_t seed);

enum { NO_CODEC, WITH_ZLIB, WITH_LZMA, WITH_LZ4, WITH_ZSTD };

/* How to write a record; all zero: version 0. */
struct record_style {
  uint32_t version; /* 0 to 3 */
  uint32_t run;
  uint64_t trigger_number; /* version 0 only */
  uint32_t codec, expansion;
  uint32_t no_checksum;
};

uint32_t reference_checksum(const uint8_t *bytes, size_t count);
/* Appends a record with this body; returns its offset. */
size_t add_record(struct bytes *file, const struct bytes *body, const struct record_style *style);
/* Updates the checksum of the record at `offset` after a test has changed the record. */
void sign_record(struct bytes *file, size_t offset);

/* Appends a record of version 3 with ODIN (version 7) and 3 cluster banks; its contents depend only on `number`. */
size_t add_simple_record(struct bytes *file, uint64_t number);

#endif
