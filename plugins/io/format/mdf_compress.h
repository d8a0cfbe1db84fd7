/* mdf_compress.h: the body of an MDF record as one block in ROOT's framing, as mdf_decompress.h
 * reads it. */
#ifndef IO_MDF_COMPRESS_H
#define IO_MDF_COMPRESS_H

#include <stddef.h>
#include <stdint.h>

enum { MDF_CODEC_ZSTD, MDF_CODEC_LZ4, MDF_CODEC_ZLIB, MDF_CODEC_LZMA, MDF_CODEC_COUNT };
#define MDF_CODEC_NAMES "zstd lz4 zlib lzma" /* in that order */

/* Room for what mdf_compress could write of `bytes`. */
size_t mdf_compress_bound(size_t bytes);

struct mdf_compressor {
  uint32_t codec, level; /* level 1 to 9 */
  void *zstd;
};
/* The codec of a block that a reader has decompressed. */
uint32_t mdf_codec_of(const uint8_t *block);
void mdf_compressor_free(struct mdf_compressor *c);

/* Writes a block to `out`, which has mdf_compress_bound(bytes) bytes: its size, or 0 if the body is better stored as it
 * is: incompressible, too large for the block's 24-bit sizes, or so small now that the record's header could not tell.
 * `expansion` then is for the header: the body is at most (expansion + 1) times as large as the block. */
size_t mdf_compress(struct mdf_compressor *c, const uint8_t *body, size_t bytes, uint8_t *out, uint32_t *expansion);

#endif
