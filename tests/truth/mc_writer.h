/* mc_writer.h: writes Monte-Carlo particle banks for tests, and provides them as a plugin's input. */
#ifndef TEST_MC_WRITER_H
#define TEST_MC_WRITER_H

#include "truth/raw_banks.h"

#include <stdlib.h>
#include <string.h>

enum { WRITER_BYTES = 1 << 16, WRITER_BANKS = 16, WRITER_EVENTS = 8 };

/* Flags in the order of the format. */
enum { LONG, DOWN, HAS_VELO, HAS_UT, HAS_SCIFI, BEAUTY, CHARM, STRANGE, SIGNAL, FLAG_COUNT };

struct true_particle {
  uint32_t key, mother;    /* 0: none */
  int32_t pdg, mother_pdg; /* mother_pdg 0: equal to pdg */
  float p, eta;
  float phi;    /* 0: 0.5 */
  float charge; /* 0: 1 */
  uint8_t flags[FLAG_COUNT];
  uint32_t hit_count;
  uint32_t hits[32];
  uint32_t ut_count, scifi_count;
  uint32_t ut_hits[8], scifi_hits[16];
};

struct mc_stream {
  uint8_t bytes[WRITER_BYTES];
  uint32_t size;
};

static inline void put(struct mc_stream *s, const void *data, uint32_t size) {
  memcpy(s->bytes + s->size, data, size);
  s->size += size;
}

static inline void put_u32(struct mc_stream *s, uint32_t value) { put(s, &value, 4); }

static inline void write_particles(struct mc_stream *s, uint32_t version, const struct true_particle *particles,
                                   uint32_t count) {
  s->size = 0;
  put_u32(s, count);
  for (uint32_t i = 0; i < count; i++) {
    const struct true_particle *p = &particles[i];
    const float phi = p->phi != 0 ? p->phi : 0.5f;
    const float origin_and_charge[3] = {-1, -1, p->charge != 0 ? p->charge : 1};
    const float kinematics[7] = {p->p, p->p / 10, p->eta, phi, 0.25f, -0.25f, 12};
    const int32_t mother = (int32_t)(p->mother ? p->mother : p->key),
                  mother_pdg = p->mother_pdg ? p->mother_pdg : p->pdg;
    const int32_t ancestors[4] = {mother, mother_pdg, (int32_t)p->key, -999999};
    put_u32(s, p->key);
    put(s, &p->pdg, 4);
    put(s, kinematics, sizeof kinematics);
    put(s, p->flags, version == 1 ? FLAG_COUNT - 1 : FLAG_COUNT);
    put(s, ancestors, sizeof ancestors);
    put(s, origin_and_charge, sizeof origin_and_charge);
    put_u32(s, 5);
    put_u32(s, p->hit_count);
    put(s, p->hits, 4 * p->hit_count);
    put_u32(s, p->ut_count);
    put(s, p->ut_hits, 4 * p->ut_count);
    put_u32(s, p->scifi_count);
    put(s, p->scifi_hits, 4 * p->scifi_count);
  }
}

/* Banks of a slice. */
struct mc_banks {
  uint32_t offsets[WRITER_EVENTS + 1], event_count, bank_count, word_count;
  uint16_t source_id[WRITER_BANKS], size_bytes[WRITER_BANKS];
  uint8_t version[WRITER_BANKS];
  uint32_t first_word[WRITER_BANKS];
  uint32_t payload[WRITER_BYTES];
};

static inline void add_part(struct mc_banks *b, uint8_t version, uint16_t source_id, const uint8_t *bytes,
                            uint32_t size) {
  const uint32_t bank = b->bank_count++;
  b->source_id[bank] = source_id;
  b->version[bank] = version;
  b->size_bytes[bank] = (uint16_t)size;
  b->first_word[bank] = b->word_count;
  memcpy(b->payload + b->word_count, bytes, size);
  b->word_count += (size + 3) / 4;
}

static inline void end_event(struct mc_banks *b) { b->offsets[++b->event_count] = b->bank_count; }

/* Adds an event with all its particles in one bank of version 2. */
static inline void add_event(struct mc_banks *b, const struct true_particle *particles, uint32_t count) {
  static struct mc_stream stream;
  write_particles(&stream, 2, particles, count);
  add_part(b, 2, 0, stream.bytes, stream.size);
  end_event(b);
}

struct true_vertex {
  int32_t tracks;
  double x, y, z;
};

static inline void write_vertices(struct mc_stream *s, const struct true_vertex *vertices, uint32_t count) {
  s->size = 0;
  put_u32(s, count);
  for (uint32_t i = 0; i < count; i++) {
    put(s, &vertices[i].tracks, 4);
    put(s, &vertices[i].x, 24);
  }
}

/* Adds an event with its vertices in one bank. */
static inline void add_vertices(struct mc_banks *b, const struct true_vertex *vertices, uint32_t count) {
  static struct mc_stream stream;
  write_vertices(&stream, vertices, count);
  add_part(b, 1, 0, stream.bytes, stream.size);
  end_event(b);
}

/* A slice of one event with one bank, in memory of exactly its size, so that a sanitizer detects a read beyond it. */
struct lone_bank {
  uint32_t offsets[2], first_word[1];
  uint16_t source_id[1], size_bytes[1];
  uint8_t version[1];
  uint32_t *payload;
};

static inline struct lone_bank lone_bank_new(const uint8_t *bytes, uint32_t size, uint8_t version) {
  struct lone_bank b = {.offsets = {0, 1}, .size_bytes = {(uint16_t)size}, .version = {version}};
  b.payload = (uint32_t *)malloc(size ? size : 1);
  if (!b.payload) abort();
  if (size) memcpy(b.payload, bytes, size);
  return b;
}

/* Banks, or a single bank, as the view type of a bank type. */
#define VIEW_OF(type, b)                        \
  ((struct type){.offsets = (b)->offsets,       \
                 .source_id = (b)->source_id,   \
                 .version = (b)->version,       \
                 .size_bytes = (b)->size_bytes, \
                 .first_word = (b)->first_word, \
                 .payload = (b)->payload})

#endif
