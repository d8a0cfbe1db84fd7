/* mdf_compress.c: see mdf_compress.h. The data of lz4 is preceded by 8 bytes of hash (XXH64, big-endian). */
#include "mdf_compress.h"

#include <lz4.h>
#include <lz4hc.h>
#include <lzma.h>
#include <string.h>
#include <xxhash.h>
#include <zlib.h>
#include <zstd.h>

enum { BLOCK_HEADER_BYTES = 9, LZ4_HASH_BYTES = 8, BLOCK_BYTES_MAX = 0xffffff, EXPANSION_MAX = 15, LZ4_HC_FROM = 4 };

/* In the order of MDF_CODEC_...; `method` is the third byte of the block, as written by ROOT. */
static const struct {
  uint8_t tag[2], method;
} codecs[MDF_CODEC_COUNT] = {
    {{'Z', 'S'}, 1}, {{'L', '4'}, LZ4_VERSION_NUMBER / 10000}, {{'Z', 'L'}, Z_DEFLATED}, {{'X', 'Z'}, 0}};

/* The bounds of the four codecs differ; this value exceeds each of them. */
size_t mdf_compress_bound(size_t bytes) { return BLOCK_HEADER_BYTES + LZ4_HASH_BYTES + bytes + bytes / 128 + 4096; }

uint32_t mdf_codec_of(const uint8_t *block) {
  uint32_t codec = 0;
  while (codec + 1 < MDF_CODEC_COUNT && memcmp(codecs[codec].tag, block, 2) != 0) codec++;
  return codec;
}

void mdf_compressor_free(struct mdf_compressor *c) {
  ZSTD_freeCCtx((ZSTD_CCtx *)c->zstd);
  c->zstd = NULL;
}

static size_t encode_zstd(struct mdf_compressor *c, const uint8_t *in, size_t bytes, uint8_t *out, size_t room) {
  if (!c->zstd) c->zstd = ZSTD_createCCtx();
  if (!c->zstd) return 0;
  const size_t size = ZSTD_compressCCtx((ZSTD_CCtx *)c->zstd, out, room, in, bytes, (int)c->level);
  return ZSTD_isError(size) ? 0 : size;
}

static size_t encode_lz4(const struct mdf_compressor *c, const uint8_t *in, size_t bytes, uint8_t *out, size_t room) {
  char *data = (char *)out + LZ4_HASH_BYTES;
  const int data_room = (int)(room - LZ4_HASH_BYTES);
  const int size = c->level < LZ4_HC_FROM
                       ? LZ4_compress_default((const char *)in, data, (int)bytes, data_room)
                       : LZ4_compress_HC((const char *)in, data, (int)bytes, data_room, (int)c->level);
  if (size <= 0) return 0;
  XXH64_canonical_t hash;
  XXH64_canonicalFromHash(&hash, XXH64(data, (size_t)size, 0));
  memcpy(out, hash.digest, LZ4_HASH_BYTES);
  return (size_t)size + LZ4_HASH_BYTES;
}

static size_t encode_zlib(const struct mdf_compressor *c, const uint8_t *in, size_t bytes, uint8_t *out, size_t room) {
  uLongf size = room;
  return compress2(out, &size, in, bytes, (int)c->level) == Z_OK ? size : 0;
}

static size_t encode_lzma(const struct mdf_compressor *c, const uint8_t *in, size_t bytes, uint8_t *out, size_t room) {
  size_t size = 0;
  return lzma_easy_buffer_encode(c->level, LZMA_CHECK_CRC32, NULL, in, bytes, out, &size, room) == LZMA_OK ? size : 0;
}

static size_t encode(struct mdf_compressor *c, const uint8_t *in, size_t bytes, uint8_t *out, size_t room) {
  switch (c->codec) {
    case MDF_CODEC_LZ4:
      return encode_lz4(c, in, bytes, out, room);
    case MDF_CODEC_ZLIB:
      return encode_zlib(c, in, bytes, out, room);
    case MDF_CODEC_LZMA:
      return encode_lzma(c, in, bytes, out, room);
    default:
      return encode_zstd(c, in, bytes, out, room);
  }
}

static void store_u24(uint8_t *p, size_t value) {
  for (int i = 0; i < 3; i++) p[i] = (uint8_t)(value >> 8 * i);
}

size_t mdf_compress(struct mdf_compressor *c, const uint8_t *body, size_t bytes, uint8_t *out, uint32_t *expansion) {
  if (bytes == 0 || bytes > BLOCK_BYTES_MAX) return 0;
  const size_t size = encode(c, body, bytes, out + BLOCK_HEADER_BYTES, mdf_compress_bound(bytes) - BLOCK_HEADER_BYTES);
  const size_t block = size + BLOCK_HEADER_BYTES;
  if (size == 0 || size > BLOCK_BYTES_MAX || block >= bytes) return 0;
  const size_t factor = (bytes + block - 1) / block;
  if (factor > EXPANSION_MAX + 1) return 0;
  *expansion = (uint32_t)factor - 1;
  memcpy(out, codecs[c->codec].tag, 2);
  out[2] = codecs[c->codec].method;
  store_u24(out + 3, size);
  store_u24(out + 6, bytes);
  return block;
}
