/* decode_retina.cpu.c: velo.decode_retina shaped for a CPU with vectors; same results as decode_retina.cu.
 *
 * Banks are short, nine words on average, so that the loops which a compiler makes of the shared source spend most of
 * their time in their ends. Here eight words are decoded at a time and eight hits stored, whatever the bank's length:
 * what is written after the bank's end is written again by the next bank. Only at the end of the payloads is there
 * something in between.
 */
#include "decode_retina.h"

#include <sluice/vectors.h>

/* Eight hits. */
struct eight_hits {
  u32x8 id, word;
  f32x8 x, y, z;
  i16x8 phi;
};

VECTOR_INLINE f32x8 to_float(u32x8 v) { return __builtin_convertvector((i32x8)v, f32x8); }
VECTOR_INLINE f32x8 absolute(f32x8 v) { return (f32x8)((i32x8)v & INT32_MAX); }

/* As velo_phi. */
VECTOR_INLINE i16x8 azimuth(f32x8 x, f32x8 y) {
  const f32x8 zero = {0};
  const f32x8 abs_x = absolute(x), abs_y = absolute(y), sum = abs_x + abs_y;
  const f32x8 part = 8192.0f * ((abs_x - abs_y) / sum);
  const f32x8 upper = f32x8_select(x > zero, 8192.0f - part, 24576.0f + part);
  const i32x8 sign = (y < zero) & INT32_MIN;
  const f32x8 phi = (f32x8)(((i32x8)upper ^ sign) & (sum > zero));
  return __builtin_convertvector(__builtin_convertvector(phi, i32x8), i16x8);
}

/* Value `i` of the transform of each word's sensor: the bank's, or in version 4 the one after it. */
VECTOR_INLINE f32x8 transform_value(const float *transform, int i, u32x8 second, int is_pair) {
  const f32x8 value = f32x8_of(transform[i]);
  return is_pair ? f32x8_select(second != 0, f32x8_of(transform[12 + i]), value) : value;
}

/* As item_place of the shared source; `version` is known to the compiler. */
VECTOR_INLINE struct eight_hits decode(const struct velo_geometry_view *geometry, uint32_t version,
                                       uint32_t bank_sensor, u32x8 word) {
  const uint32_t bits = version == 2 ? 3 : 2; /* of a fraction */
  const float step = version == 2 ? 0.125f : 0.25f;
  const float *transform = geometry->transform + 12 * bank_sensor;
  const u32x8 row_fraction = word & ((1u << bits) - 1), row = word >> bits & 0xFFu;
  const u32x8 column_fraction = word >> (8 + bits) & ((1u << bits) - 1);
  const u32x8 word_column = word >> (8 + 2 * bits) & 0x3FFu;
  const u32x8 column = word_column & (u32x8)(word_column < (uint32_t)VELO_SENSOR_COLUMNS); /* behind the bank, any */
  const u32x8 second = version == 4 ? word >> 22 & 1u : (u32x8){0};
  const f32x8 local_x = f32x8_gather(geometry->local_x, (i32x8)column) +
                        to_float(column_fraction) * step * f32x8_gather(geometry->x_pitch, (i32x8)column);
  const f32x8 local_y = (0.5f + to_float(row) + to_float(row_fraction) * step) * VELO_PIXEL_PITCH;
  struct eight_hits c;
#define T(i) transform_value(transform, i, second, version == 4)
  c.x = T(0) * local_x + T(1) * local_y + T(9);
  c.y = T(3) * local_x + T(4) * local_y + T(10);
  c.z = T(6) * local_x + T(7) * local_y + T(11);
#undef T
  c.phi = azimuth(c.x, c.y);
  c.id = (2u << 28 | bank_sensor << 18) + (second << 18) + (column << 8) + row;
  if (version > 2) c.id |= ((u32x8)(column_fraction != 0) & 1u << 27) | ((u32x8)(row_fraction != 0) & 1u << 26);
  c.word = word;
  return c;
}

VECTOR_INLINE void store(struct velo_places *to, uint32_t at, struct eight_hits h) {
  memcpy(to->id + at, &h.id, sizeof h.id);
  memcpy(to->phi + at, &h.phi, sizeof h.phi);
  memcpy(to->x + at, &h.x, sizeof h.x);
  memcpy(to->y + at, &h.y, sizeof h.y);
  memcpy(to->z + at, &h.z, sizeof h.z);
  memcpy(to->order + at, &h.word, sizeof h.word);
}

/* Not inline, so that the copies of few bytes do not cost those of eight their registers. */
static __attribute__((noinline)) u32x8 load_some(const uint32_t *words, size_t count) {
  u32x8 v = {0};
  memcpy(&v, words, count * sizeof *words);
  return v;
}

/* Words `first`, ... of the payloads, of which `left` are the bank's. */
VECTOR_INLINE u32x8 load(const struct decode_retina_args *a, uint32_t first, uint32_t left) {
  if (first + LANES > a->banks.payload_bound.capacity)
    return load_some(a->banks.payload + first, left < LANES ? left : LANES);
  u32x8 v;
  memcpy(&v, a->banks.payload + first, sizeof v);
  return v;
}

/* Takes words equal to 0 out again, of the first `count`. */
static __attribute__((noinline)) void remove_zero_words(struct velo_places *places, uint32_t count) {
  uint32_t to = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (places->order[i] == 0) continue;
    places->id[to] = places->id[i];
    places->order[to] = places->order[i];
    places->phi[to] = places->phi[i];
    places->x[to] = places->x[i];
    places->y[to] = places->y[i];
    places->z[to] = places->z[i];
    to++;
  }
}

/* Decodes the words of `count` banks of a version, which is known to the compiler, from place `at` on. Returns where
 * they end. */
VECTOR_INLINE uint32_t decode_banks(const struct decode_retina_args *a, uint32_t version, const struct velo_bank *banks,
                                    uint32_t count, struct velo_places *places, uint32_t at) {
  for (const struct velo_bank *bank = banks; bank < banks + count; bank++) {
    for (uint32_t i = 0; i < bank->word_count; i += LANES) {
      const u32x8 word = load(a, bank->first_word + i, bank->word_count - i);
      store(places, at + i, decode(&a->geometry, version, bank->sensor, word));
    }
    at += bank->word_count;
  }
  return at;
}

void decode_retina_banks_cpu(const struct decode_retina_args *a, const struct velo_bank *banks, uint32_t count,
                             uint32_t hits, struct velo_places *places) {
  uint32_t words = 0;
  for (uint32_t first = 0, next = 0; first < count; first = next) { /* mostly once */
    const uint32_t version = banks[first].version;
    while (next < count && banks[next].version == version) next++;
    if (version == 2)
      words = decode_banks(a, 2, banks + first, next - first, places, words);
    else if (version == 3)
      words = decode_banks(a, 3, banks + first, next - first, places, words);
    else
      words = decode_banks(a, 4, banks + first, next - first, places, words);
  }
  if (hits < words) remove_zero_words(places, words);
}
