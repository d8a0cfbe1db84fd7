/* mdf_compress.h: compresses the body of an MDF record to one block in ROOT's framing, the format that mdf_decompress.h
 * reads. */
#ifndef IO_MDF_COMPRESS_H
#define IO_MDF_COMPRESS_H

#include <stddef.h>
#include <stdint.h>

enum { MDF_CODEC_ZSTD, MDF_CODEC_LZ4, MDF_CODEC_ZLIB, MDF_CODEC_LZMA, MDF_CODEC_COUNT };
#define MDF_CODEC_NAMES "zstd lz4 zlib lzma" /* in the order of the constants */

/* Returns the largest size that mdf_compress can write for `bytes`. */
size_t mdf_compress_bound(size_t bytes);

struct mdf_compressor {
  uint32_t codec, level; /* level 1 to 9 */
  void *zstd;
};
/* Returns the codec of a block that was decompressed before. */
uint32_t mdf_codec_of(const uint8_t *block);
void mdf_compressor_free(struct mdf_compressor *c);

/* Writes a block to `out`, which has mdf_compress_bound(bytes) bytes, and returns its size; 0 if the body must be
 * stored uncompressed: it does not shrink, exceeds the 24-bit sizes of a block, or shrinks by more than the record
 * header can express. The body is at most (*expansion + 1) times as large as the block. */
size_t mdf_compress(struct mdf_compressor *c, const uint8_t *body, size_t bytes, uint8_t *out, uint32_t *expansion);

#endif
