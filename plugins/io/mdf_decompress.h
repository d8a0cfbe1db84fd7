/* mdf_decompress.h: compressed MDF bodies, one block in ROOT's framing (README.md, "Formats"): zlib, lzma, lz4, zstd.
 */
#ifndef IO_MDF_DECOMPRESS_H
#define IO_MDF_DECOMPRESS_H

#include "mdf.h"

/* A block's header; sizes are 24 bits, so that a body never grows beyond 16 MiB. */
struct mdf_block {
  uint16_t codec; /* two characters, the first in the low byte */
  uint32_t compressed_bytes, uncompressed_bytes;
};

/* The block that makes up the whole body (but for up to 3 bytes of padding): 1, or 0 if it does not. */
int mdf_block_at(const uint8_t *body, uint64_t body_bytes, struct mdf_block *block);

/* A buffer that grows to the largest body seen. Zero-initialised; freed with mdf_decompressor_free. */
struct mdf_decompressor {
  uint8_t *bytes;
  uint32_t capacity;
  uint32_t limit; /* bytes that a body may have; 0: as many as a block can say */
  void *zstd;
};
void mdf_decompressor_free(struct mdf_decompressor *d);

/* Decompresses a record's body into d->bytes, which stay valid until the next call: 0, or -1 with the fault filled.
 * What the block says of its size is believed, and memory taken for it, only where its codec can make that many bytes
 * of those that there are, and d->limit allows them. */
int mdf_decompress(struct mdf_decompressor *d, const uint8_t *body, uint64_t body_bytes, uint32_t *uncompressed_bytes,
                   struct mdf_fault *fault);

#endif
