/* mdf_decompress.h: compressed MDF bodies, one block in ROOT's framing (README.md, "Formats"): zlib, lzma, lz4,
 * zstd. */
#ifndef IO_MDF_DECOMPRESS_H
#define IO_MDF_DECOMPRESS_H

#include "mdf.h"

/* Header of a block. Sizes have 24 bits, so a body has at most 16 MiB uncompressed. */
struct mdf_block {
  uint16_t codec; /* two characters, the first in the low byte */
  uint32_t compressed_bytes, uncompressed_bytes;
};

/* Returns 1 and fills `block` if the whole body is one block, followed by at most 3 bytes of padding; 0 if not. */
int mdf_block_at(const uint8_t *body, uint64_t body_bytes, struct mdf_block *block);

/* mdf_block_at, and checks the uncompressed size in the header before memory is allocated: it must not exceed `limit`
 * (0: no limit) or what the codec can produce from the compressed bytes. Returns 0, or -1 with the fault filled. */
int mdf_block_check(const uint8_t *body, uint64_t body_bytes, uint32_t limit, struct mdf_block *block,
                    struct mdf_fault *fault);

/* Decompressor with a buffer that grows to the largest body. Initialise it to zero and free it with
 * mdf_decompressor_free. */
struct mdf_decompressor {
  uint8_t *bytes;
  uint32_t capacity;
  uint32_t limit; /* largest uncompressed body in bytes; 0: no limit */
  void *zstd;
};
void mdf_decompressor_free(struct mdf_decompressor *d);

/* Checks the body with mdf_block_check and decompresses it into d->bytes, which stays valid until the next call.
 * Returns 0, or -1 with the fault filled. */
int mdf_decompress(struct mdf_decompressor *d, const uint8_t *body, uint64_t body_bytes, uint32_t *uncompressed_bytes,
                   struct mdf_fault *fault);
/* Decompresses a checked block to `out`, which has room for block->uncompressed_bytes. Uses only the codec state of
 * `d`. Returns 0, or -1 with the fault filled. */
int mdf_block_decompress(struct mdf_decompressor *d, const struct mdf_block *block, const uint8_t *body, uint8_t *out,
                         struct mdf_fault *fault);

#endif
