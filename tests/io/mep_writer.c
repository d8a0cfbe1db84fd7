/* mep_writer.c: see mep_writer.h. */
#include "mep_writer.h"

#include <stdlib.h>
#include <string.h>

enum { SOURCES_MAX = 1024, FRAGMENT_MISSING = 92 };

struct fragment {
  const uint8_t *payload;
  uint16_t size;
  uint8_t type;
};

struct source {
  uint16_t id;
  uint8_t version;
  struct fragment *fragments;
};

static uint16_t block_source(uint8_t type, uint16_t source) {
  if (source >= 0x800) return source;
  switch (type) {
    case 8:
    case 63:
      return (uint16_t)(0x1400 + source);
    case 73:
      return (uint16_t)(0x1c00 + source);
    case 32:
      return (uint16_t)(0x7c00 + source);
    case 33:
      return (uint16_t)(0x7e00 + source);
    default:
      return source;
  }
}

static struct source *find_source(struct source *sources, uint32_t *count, uint16_t id, uint32_t events) {
  for (uint32_t i = 0; i < *count; i++)
    if (sources[i].id == id) return &sources[i];
  if (*count == SOURCES_MAX) abort();
  struct source *s = &sources[(*count)++];
  *s = (struct source){id, 0, malloc(events * sizeof *s->fragments)};
  if (!s->fragments) abort();
  for (uint32_t e = 0; e < events; e++) s->fragments[e] = (struct fragment){NULL, 0, FRAGMENT_MISSING};
  return s;
}

/* Blocks are in the order in which their banks occur. */
static uint32_t transpose(const struct bytes *bodies, uint32_t events, struct source *sources) {
  uint32_t count = 0;
  for (uint32_t e = 0; e < events; e++)
    for (size_t at = 0; at < bodies[e].size;) {
      const uint8_t *bank = bodies[e].data + at;
      const uint32_t length = bank[2] | (uint32_t)bank[3] << 8;
      const uint16_t source = (uint16_t)(bank[6] | bank[7] << 8);
      struct source *s = find_source(sources, &count, block_source(bank[4], source), events);
      s->fragments[e] = (struct fragment){bank + 8, (uint16_t)(length - 8), bank[4]};
      s->version = bank[5];
      at += (length + 3) & ~3u;
    }
  return count;
}

static void add_number(struct bytes *b, uint64_t value, uint32_t bytes) { bytes_add(b, &value, bytes); }

static void pad_to(struct bytes *b, size_t from, size_t multiple, uint8_t padding) {
  while ((b->size - from) % multiple) bytes_add(b, &padding, 1);
}

static void add_lists_and_fragments(struct bytes *b, size_t block, const struct packet_style *style,
                                    const struct source *s, uint32_t events) {
  for (uint32_t e = 0; e < events; e++) add_number(b, s->fragments[e].type, 1);
  pad_to(b, block, 4, 0);
  for (uint32_t e = 0; e < events; e++) add_number(b, s->fragments[e].size, 2);
  pad_to(b, block, 4, 0);
  const size_t unit = style->is_prototype ? 1 : (size_t)1 << style->alignment;
  if (style->aligned_start) pad_to(b, block, unit, style->padding);
  const size_t begin = b->size;
  for (uint32_t e = 0; e < events; e++) {
    bytes_add(b, s->fragments[e].payload, s->fragments[e].size);
    pad_to(b, begin, unit, style->padding);
  }
}

static uint32_t fragment_bytes(const struct source *s, uint32_t events) {
  uint32_t bytes = 0;
  for (uint32_t e = 0; e < events; e++) bytes += s->fragments[e].size;
  return bytes;
}

static void add_production_packet(struct bytes *b, const struct packet_style *style, const struct source *sources,
                                  uint32_t count, uint32_t events) {
  const size_t packet = b->size;
  add_number(b, 0xCEFA, 2);
  add_number(b, count, 2);
  add_number(b, 0, 4);
  for (uint32_t i = 0; i < count; i++) add_number(b, sources[i].id, 2);
  pad_to(b, packet, 4, 0);
  const size_t offsets = b->size;
  for (uint32_t i = 0; i < count; i++) add_number(b, 0, 4);
  for (uint32_t i = 0; i < count; i++) {
    const size_t block = b->size;
    const uint32_t words = (uint32_t)((block - packet) / 4);
    memcpy(b->data + offsets + 4 * i, &words, 4);
    add_number(b, 0x40CE, 2);
    add_number(b, events, 2);
    add_number(b, 0, 4);
    add_number(b, style->event_id, 8);
    add_number(b, sources[i].id, 2);
    add_number(b, style->alignment, 1);
    add_number(b, sources[i].version, 1);
    add_lists_and_fragments(b, block, style, &sources[i], events);
    const uint32_t bytes = (uint32_t)(b->size - block);
    memcpy(b->data + block + 4, &bytes, 4);
    pad_to(b, packet, 4, style->padding);
  }
  const uint32_t words = (uint32_t)((b->size - packet) / 4);
  memcpy(b->data + packet + 4, &words, 4);
}

static void add_prototype_packet(struct bytes *b, const struct packet_style *style, const struct source *sources,
                                 uint32_t count, uint32_t events) {
  const size_t packet = b->size;
  add_number(b, count, 2);
  add_number(b, events, 2);
  add_number(b, 0, 4);
  add_number(b, 0, 8);
  for (uint32_t i = 0; i < count; i++) add_number(b, sources[i].id, 2);
  pad_to(b, packet, 4, 0);
  for (uint32_t i = 0; i < count; i++) add_number(b, sources[i].version, 2);
  pad_to(b, packet, 4, 0);
  const size_t offsets = b->size;
  for (uint32_t i = 0; i < count; i++) add_number(b, 0, 4);
  const size_t blocks = b->size;
  for (uint32_t i = 0; i < count; i++) {
    const size_t block = b->size;
    const uint32_t offset = (uint32_t)(block - blocks);
    memcpy(b->data + offsets + 4 * i, &offset, 4);
    add_number(b, style->event_id, 8);
    add_number(b, events, 2);
    add_number(b, 0, 2);
    add_number(b, fragment_bytes(&sources[i], events), 4);
    add_lists_and_fragments(b, block, style, &sources[i], events);
    pad_to(b, block, 4, style->padding);
  }
  const uint64_t bytes = b->size - blocks;
  memcpy(b->data + packet + 8, &bytes, 8);
}

size_t add_packet(struct bytes *file, const struct packet_style *style, const struct bytes *bodies, uint32_t events) {
  struct source *sources = calloc(SOURCES_MAX, sizeof *sources);
  struct bytes packet = {0};
  if (!sources) abort();
  const uint32_t count = transpose(bodies, events, sources);
  if (style->is_prototype)
    add_prototype_packet(&packet, style, sources, count, events);
  else
    add_production_packet(&packet, style, sources, count, events);
  size_t offset = file->size;
  if (style->in_record || style->is_prototype) {
    offset = add_record(file, &packet, &(struct record_style){.version = 3, .run = style->run, .no_checksum = 1});
    file->data[offset + 18] = 2;
    if (style->signed_record) sign_record(file, offset);
  } else {
    bytes_add(file, packet.data, packet.size);
  }
  for (uint32_t i = 0; i < count; i++) free(sources[i].fragments);
  free(sources);
  bytes_free(&packet);
  return offset;
}

struct bytes packet_body(uint64_t number) {
  struct bytes body = {0};
  add_odin(&body, 7, 1000, number);
  add_bank(&body, 33, 1, 0, "abcdef", (uint16_t)(number % 7));
  for (uint16_t i = 0; i < 3; i++) add_clusters(&body, i, (uint32_t)((number * 7 + i) % 30), (uint32_t)number * 3 + i);
  return body;
}

size_t add_simple_packet(struct bytes *file, const struct packet_style *style, uint64_t first, uint32_t count) {
  struct bytes *bodies = calloc(count, sizeof *bodies);
  if (!bodies) abort();
  for (uint32_t i = 0; i < count; i++) bodies[i] = packet_body(first + i);
  const size_t offset = add_packet(file, style, bodies, count);
  for (uint32_t i = 0; i < count; i++) bytes_free(&bodies[i]);
  free(bodies);
  return offset;
}

void add_packet_records(struct bytes *file, uint64_t first, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    struct bytes body = packet_body(first + i);
    add_record(file, &body, &(struct record_style){.version = 3, .run = 1000});
    bytes_free(&body);
  }
}
