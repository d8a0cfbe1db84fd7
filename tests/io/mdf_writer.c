/* mdf_writer.c: see mdf_writer.h. */
#include "mdf_writer.h"

#include <lz4.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

void bytes_add(struct bytes *b, const void *data, size_t size) {
  if (b->size + size > b->capacity) {
    b->capacity = 2 * (b->size + size);
    b->data = realloc(b->data, b->capacity);
    if (!b->data) abort();
  }
  if (size) memcpy(b->data + b->size, data, size);
  b->size += size;
}

void bytes_free(struct bytes *b) {
  free(b->data);
  *b = (struct bytes){0};
}

void add_bank(struct bytes *b, uint8_t type, uint8_t version, uint16_t source_id, const void *payload, uint16_t size) {
  const uint16_t length = (uint16_t)(size + 8);
  const uint8_t header[8] = {0xCB, 0xCB,    (uint8_t)length,    (uint8_t)(length >> 8),
                             type, version, (uint8_t)source_id, (uint8_t)(source_id >> 8)};
  bytes_add(b, header, sizeof header);
  bytes_add(b, payload, size);
  bytes_add(b, "\0\0\0", (4u - size % 4u) % 4u);
}

void add_odin(struct bytes *b, uint8_t version, uint32_t run, uint64_t number) {
  uint32_t words[10] = {run};
  words[version == 6 ? 4 : 8] = (uint32_t)number;
  words[version == 6 ? 3 : 9] = (uint32_t)(number >> 32);
  add_bank(b, 16, version, 0, words, sizeof words);
}

void add_clusters(struct bytes *b, uint16_t source_id, uint32_t words, uint32_t seed) {
  uint32_t payload[4096];
  if (words > 4096) abort();
  for (uint32_t i = 0; i < words; i++) payload[i] = seed = seed * 1664525u + 1013904223u;
  add_bank(b, 73, 3, source_id, payload, (uint16_t)(4 * words));
}

uint32_t reference_checksum(const uint8_t *bytes, size_t count) {
  uint32_t hash = 0;
  for (size_t i = 0; i < count; i++) {
    const uint32_t byte = bytes[i] < 128 ? bytes[i] : bytes[i] - 256u;
    hash += byte;
    hash += hash << 10;
    hash ^= hash >> 6;
  }
  hash += hash << 3;
  hash ^= hash >> 11;
  return hash + (hash << 15);
}

static void store_u24(uint8_t *p, size_t value) {
  for (int i = 0; i < 3; i++) p[i] = (uint8_t)(value >> 8 * i);
}

static void compress_body(struct bytes *out, const struct bytes *body, uint32_t codec) {
  static const char *const names[] = {"", "ZL", "XZ", "L4", "ZS"};
  const size_t bound = 2 * body->size + 1024;
  uint8_t *packed = calloc(1, bound), header[9] = {0};
  if (!packed) abort();
  size_t size = 0;
  uLongf zlib_size = bound;
  switch (codec) {
    case WITH_ZLIB:
      if (compress(packed, &zlib_size, body->data, body->size) != Z_OK) abort();
      size = zlib_size;
      break;
    case WITH_LZMA:
      if (lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, NULL, body->data, body->size, packed, &size, bound) != LZMA_OK)
        abort();
      break;
    case WITH_LZ4:
      size = 8 + (size_t)LZ4_compress_default((const char *)body->data, (char *)packed + 8, (int)body->size,
                                              (int)bound - 8);
      break;
    default:
      size = ZSTD_compress(packed, bound, body->data, body->size, 1);
      break;
  }
  memcpy(header, names[codec], 2);
  store_u24(header + 3, size);
  store_u24(header + 6, body->size);
  bytes_add(out, header, sizeof header);
  bytes_add(out, packed, size);
  free(packed);
}

void sign_record(struct bytes *file, size_t offset) {
  uint32_t length;
  memcpy(&length, file->data + offset, 4);
  const uint32_t checksum = reference_checksum(file->data + offset + 16, length - 16);
  memcpy(file->data + offset + 12, &checksum, 4);
}

size_t add_record(struct bytes *file, const struct bytes *body, const struct record_style *style) {
  static const uint32_t header_bytes[] = {40, 48, 20, 48};
  static const uint8_t types[] = {0x05, 0x17, 0x20, 0x37};
  struct bytes packed = {0};
  if (style->codec) compress_body(&packed, body, style->codec);
  const struct bytes *stored = style->codec ? &packed : body;
  uint8_t header[48] = {0};
  const uint32_t length = (uint32_t)(header_bytes[style->version] + stored->size);
  for (int i = 0; i < 3; i++) memcpy(header + 4 * i, &length, 4);
  header[16] = (uint8_t)(style->expansion << 4 | (style->codec ? 1u : 0u));
  header[17] = types[style->version];
  if (style->version != 0) header[18] = 1;
  if (style->version == 0) {
    const uint32_t low = (uint32_t)style->trigger_number;
    header[18] = 7;
    header[19] = (uint8_t)(style->trigger_number >> 32);
    memcpy(header + 20, &low, 4);
  } else if (style->version != 2) {
    memset(header + 20, 0xff, 16);
    memcpy(header + 36, &style->run, 4);
  }
  const size_t offset = file->size;
  bytes_add(file, header, header_bytes[style->version]);
  bytes_add(file, stored->data, stored->size);
  if (!style->no_checksum) sign_record(file, offset);
  bytes_free(&packed);
  return offset;
}

size_t add_simple_record(struct bytes *file, uint64_t number) {
  struct bytes body = {0};
  add_odin(&body, 7, 1000, number);
  for (uint16_t i = 0; i < 3; i++) add_clusters(&body, i, (uint32_t)((number * 7 + i) % 30), (uint32_t)number * 3 + i);
  const size_t offset = add_record(file, &body, &(struct record_style){.version = 3, .run = 1000});
  bytes_free(&body);
  return offset;
}
