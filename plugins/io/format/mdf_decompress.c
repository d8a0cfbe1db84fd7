/* mdf_decompress.c: decompresses one block in ROOT's framing. Its header has 9 bytes: two characters for the codec, one
 * byte for the version, then the compressed and the uncompressed size, 3 bytes each, little-endian. The data of lz4 is
 * preceded by 8 bytes of hash, which count as compressed bytes. The hash is not checked, because the checksum of the
 * record covers the same bytes. */
#include "mdf_decompress.h"

#include <lz4.h>
#include <lzma.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

/* lzma needs 65 MiB at level 9. */
enum { BLOCK_HEADER_BYTES = 9, LZ4_HASH_BYTES = 8, PADDING_BYTES_MAX = 3, LZMA_MEMORY_BYTES_MAX = 1 << 27 };

#define CODEC(a, b) ((a) | (b) << 8)
enum { ZLIB = CODEC('Z', 'L'), LZMA = CODEC('X', 'Z'), LZ4 = CODEC('L', '4'), ZSTD = CODEC('Z', 'S') };

/* Largest number of output bytes per input byte. zlib: 258 from 2 bits. lz4: 255 from a length byte. zstd: a block of
 * 128 KiB from 4 bytes. lzma: 273 from 14 coded bits of 0.022 bits each, which is 7102, rounded up. */
enum { ZLIB_RATIO_MAX = 1032, LZ4_RATIO_MAX = 255, ZSTD_RATIO_MAX = 32768, LZMA_RATIO_MAX = 8192 };

static uint32_t ratio_max(uint16_t codec) {
  switch (codec) {
    case ZLIB:
      return ZLIB_RATIO_MAX;
    case LZMA:
      return LZMA_RATIO_MAX;
    case LZ4:
      return LZ4_RATIO_MAX;
    default:
      return ZSTD_RATIO_MAX;
  }
}

static uint32_t load_u24(const uint8_t *p) { return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16; }

int mdf_block_at(const uint8_t *body, uint64_t body_bytes, struct mdf_block *block) {
  *block = (struct mdf_block){0, 0, 0};
  if (body_bytes < BLOCK_HEADER_BYTES) return 0;
  *block = (struct mdf_block){mdf_load_u16(body), load_u24(body + 3), load_u24(body + 6)};
  const int known = block->codec == ZLIB || block->codec == LZMA || block->codec == LZ4 || block->codec == ZSTD;
  const uint64_t data_bytes = body_bytes - BLOCK_HEADER_BYTES;
  return known && block->compressed_bytes <= data_bytes && data_bytes - block->compressed_bytes <= PADDING_BYTES_MAX;
}

void mdf_decompressor_free(struct mdf_decompressor *d) {
  free(d->bytes);
  ZSTD_freeDCtx((ZSTD_DCtx *)d->zstd);
  *d = (struct mdf_decompressor){0};
}

static int reserve(struct mdf_decompressor *d, uint32_t bytes) {
  if (bytes <= d->capacity) return 1;
  uint8_t *larger = (uint8_t *)realloc(d->bytes, bytes);
  if (!larger) return 0;
  d->bytes = larger;
  d->capacity = bytes;
  return 1;
}

static int decode_zlib(uint8_t *out, uint32_t out_bytes, const uint8_t *in, uint32_t in_bytes) {
  uLongf produced = out_bytes;
  return uncompress(out, &produced, in, in_bytes) == Z_OK && produced == out_bytes;
}

static int decode_lzma(uint8_t *out, uint32_t out_bytes, const uint8_t *in, uint32_t in_bytes) {
  uint64_t memory = LZMA_MEMORY_BYTES_MAX;
  size_t consumed = 0, produced = 0;
  return lzma_stream_buffer_decode(&memory, 0, NULL, in, &consumed, in_bytes, out, &produced, out_bytes) == LZMA_OK &&
         produced == out_bytes;
}

static int decode_lz4(uint8_t *out, uint32_t out_bytes, const uint8_t *in, uint32_t in_bytes) {
  if (in_bytes < LZ4_HASH_BYTES) return 0;
  return LZ4_decompress_safe((const char *)in + LZ4_HASH_BYTES, (char *)out, (int)(in_bytes - LZ4_HASH_BYTES),
                             (int)out_bytes) == (int)out_bytes;
}

static int decode_zstd(struct mdf_decompressor *d, uint8_t *out, uint32_t out_bytes, const uint8_t *in,
                       uint32_t in_bytes) {
  if (!d->zstd) d->zstd = ZSTD_createDCtx();
  return d->zstd && ZSTD_decompressDCtx((ZSTD_DCtx *)d->zstd, out, out_bytes, in, in_bytes) == out_bytes;
}

static int decode(struct mdf_decompressor *d, const struct mdf_block *block, const uint8_t *in, uint8_t *out) {
  switch (block->codec) {
    case ZLIB:
      return decode_zlib(out, block->uncompressed_bytes, in, block->compressed_bytes);
    case LZMA:
      return decode_lzma(out, block->uncompressed_bytes, in, block->compressed_bytes);
    case LZ4:
      return decode_lz4(out, block->uncompressed_bytes, in, block->compressed_bytes);
    default:
      return decode_zstd(d, out, block->uncompressed_bytes, in, block->compressed_bytes);
  }
}

int mdf_block_check(const uint8_t *body, uint64_t body_bytes, uint32_t limit, struct mdf_block *block,
                    struct mdf_fault *fault) {
  *fault = (struct mdf_fault){0};
  const int is_block = mdf_block_at(body, body_bytes, block);
  const uint64_t possible = (uint64_t)block->compressed_bytes * ratio_max(block->codec);
  if (!is_block)
    *fault = (struct mdf_fault){MDF_FAULT_BLOCK, 0, 0, block->compressed_bytes, body_bytes, block->codec};
  else if (block->uncompressed_bytes > possible)
    *fault =
        (struct mdf_fault){MDF_FAULT_EXPANSION, 0, 0, block->uncompressed_bytes, possible, block->compressed_bytes};
  else if (limit != 0 && block->uncompressed_bytes > limit)
    *fault = (struct mdf_fault){MDF_FAULT_TOO_LARGE, 0, 0, block->uncompressed_bytes, limit, 0};
  else if (block->uncompressed_bytes == 0)
    *fault = (struct mdf_fault){MDF_FAULT_NO_BANKS, 0, 0, 0, 0, 0};
  return fault->kind == MDF_FAULT_NONE ? 0 : -1;
}

int mdf_block_decompress(struct mdf_decompressor *d, const struct mdf_block *block, const uint8_t *body, uint8_t *out,
                         struct mdf_fault *fault) {
  if (decode(d, block, body + BLOCK_HEADER_BYTES, out)) return 0;
  *fault = (struct mdf_fault){MDF_FAULT_DECOMPRESS, 0, 0, 0, 0, 0};
  return -1;
}

int mdf_decompress(struct mdf_decompressor *d, const uint8_t *body, uint64_t body_bytes, uint32_t *uncompressed_bytes,
                   struct mdf_fault *fault) {
  struct mdf_block block;
  const int checked = mdf_block_check(body, body_bytes, d->limit, &block, fault);
  *uncompressed_bytes = block.uncompressed_bytes;
  if (checked < 0) return -1;
  if (reserve(d, block.uncompressed_bytes)) return mdf_block_decompress(d, &block, body, d->bytes, fault);
  *fault = (struct mdf_fault){MDF_FAULT_MEMORY, 0, 0, block.uncompressed_bytes, 0, 0};
  return -1;
}
