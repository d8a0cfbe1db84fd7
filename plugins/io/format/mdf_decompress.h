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

/* The same for a body that is to be decompressed, where `limit` is the most bytes that it may have then, 0 as many as a
 * block can say: 0, or -1 with the fault filled. What the block says of its size is believed only where its codec can
 * make that many bytes of those that there are. */
int mdf_block_check(const uint8_t *body, uint64_t body_bytes, uint32_t limit, struct mdf_block *block,
                    struct mdf_fault *fault);

/* A buffer that grows to the largest body seen. Zero-initialised; freed with mdf_decompressor_free. */
struct mdf_decompressor {
  uint8_t *bytes;
  uint32_t capacity;
  uint32_t limit; /* bytes that a body may have; 0: as many as a block can say */
  void *zstd;
};
void mdf_decompressor_free(struct mdf_decompressor *d);

/* Decompresses a record's body into d->bytes, which stay valid until the next call: 0, or -1 with the fault filled.
 * Memory is taken for it after mdf_block_check with d->limit. */
int mdf_decompress(struct mdf_decompressor *d, const uint8_t *body, uint64_t body_bytes, uint32_t *uncompressed_bytes,
                   struct mdf_fault *fault);
/* The same of a block that was checked, to `out`, which has room for block->uncompressed_bytes. Of `d` only what codecs
 * keep is used. */
int mdf_block_decompress(struct mdf_decompressor *d, const struct mdf_block *block, const uint8_t *body, uint8_t *out,
                         struct mdf_fault *fault);

#endif
