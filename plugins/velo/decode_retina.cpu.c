/* decode_retina.cpu.c: velo.decode_retina for a CPU with 256-bit vectors; same results as decode_retina.cu.
 *
 * Banks are short (nine words on average), so compiled loops of the shared source would spend most of their time in
 * loop tails. Here eight words are decoded and eight hits stored at a time, for any length of bank: hits stored after
 * the end of a bank are overwritten by the next bank. Only loads at the end of the payloads are shortened.
 */
#include "decode_retina.h"

#include <sluice/vectors.h>

struct eight_hits {
  u32x8 id, word;
  f32x8 x, y, z;
  i16x8 phi;
};

VECTOR_INLINE f32x8 to_float(u32x8 v) { return __builtin_convertvector((i32x8)v, f32x8); }
VECTOR_INLINE f32x8 absolute(f32x8 v) { return (f32x8)((i32x8)v & INT32_MAX); }

/* velo_phi for eight positions. */
VECTOR_INLINE i16x8 azimuth(f32x8 x, f32x8 y) {
  const f32x8 zero = {0};
  const f32x8 abs_x = absolute(x), abs_y = absolute(y), sum = abs_x + abs_y;
  const f32x8 part = 8192.0f * ((abs_x - abs_y) / sum);
  const f32x8 upper = f32x8_select(x > zero, 8192.0f - part, 24576.0f + part);
  const i32x8 sign = (y < zero) & INT32_MIN;
  const f32x8 phi = (f32x8)(((i32x8)upper ^ sign) & (sum > zero));
  return __builtin_convertvector(__builtin_convertvector(phi, i32x8), i16x8);
}

/* Value `i` of the transform of each word's sensor: the bank's sensor or, in version 4, also the next one. */
VECTOR_INLINE f32x8 transform_value(const float *transform, int i, u32x8 second, int is_pair) {
  const f32x8 value = f32x8_of(transform[i]);
  return is_pair ? f32x8_select(second != 0, f32x8_of(transform[12 + i]), value) : value;
}

/* item_hit of the shared source for eight words; `version` is a compile-time constant. */
VECTOR_INLINE struct eight_hits decode(const struct velo_geometry_view *geometry, uint32_t version,
                                       uint32_t bank_sensor, u32x8 word) {
  const uint32_t bits = version == 2 ? 3 : 2; /* of a fraction */
  const float step = version == 2 ? 0.125f : 0.25f;
  const float *transform = geometry->transform + 12 * bank_sensor;
  const u32x8 row_fraction = word & ((1u << bits) - 1), row = word >> bits & 0xFFu;
  const u32x8 column_fraction = word >> (8 + bits) & ((1u << bits) - 1);
  const u32x8 word_column = word >> (8 + 2 * bits) & 0x3FFu;
  const u32x8 column = word_column & (u32x8)(word_column < (uint32_t)VELO_SENSOR_COLUMNS); /* no bank word: 0 */
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

VECTOR_INLINE void store(struct velo_unsorted_hits *to, uint32_t at, struct eight_hits h) {
  memcpy(to->id + at, &h.id, sizeof h.id);
  memcpy(to->phi + at, &h.phi, sizeof h.phi);
  memcpy(to->x + at, &h.x, sizeof h.x);
  memcpy(to->y + at, &h.y, sizeof h.y);
  memcpy(to->z + at, &h.z, sizeof h.z);
  memcpy(to->order + at, &h.word, sizeof h.word);
}

/* Not inline, so that the rare short copy does not take registers from the loop of full copies. */
static __attribute__((noinline)) u32x8 load_some(const uint32_t *words, size_t count) {
  u32x8 v = {0};
  memcpy(&v, words, count * sizeof *words);
  return v;
}

/* Loads eight words of the payloads from index `first` on; the first `left` belong to the bank. */
VECTOR_INLINE u32x8 load(const struct decode_retina_args *a, uint32_t first, uint32_t left) {
  if (first + LANES > a->banks.payload_bound.capacity)
    return load_some(a->banks.payload + first, left < LANES ? left : LANES);
  u32x8 v;
  memcpy(&v, a->banks.payload + first, sizeof v);
  return v;
}

/* Removes hits made from words equal to 0 among the first `count`. */
static __attribute__((noinline)) void remove_zero_words(struct velo_unsorted_hits *unsorted, uint32_t count) {
  uint32_t to = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (unsorted->order[i] == 0) continue;
    unsorted->id[to] = unsorted->id[i];
    unsorted->order[to] = unsorted->order[i];
    unsorted->phi[to] = unsorted->phi[i];
    unsorted->x[to] = unsorted->x[i];
    unsorted->y[to] = unsorted->y[i];
    unsorted->z[to] = unsorted->z[i];
    to++;
  }
}

/* Decodes the words of `count` banks of one version (a compile-time constant) into hits from index `at` on. Returns the
 * index after the last one. */
VECTOR_INLINE uint32_t decode_banks(const struct decode_retina_args *a, uint32_t version, const struct velo_bank *banks,
                                    uint32_t count, struct velo_unsorted_hits *unsorted, uint32_t at) {
  for (const struct velo_bank *bank = banks; bank < banks + count; bank++) {
    for (uint32_t i = 0; i < bank->word_count; i += LANES) {
      const u32x8 word = load(a, bank->first_word + i, bank->word_count - i);
      store(unsorted, at + i, decode(&a->geometry, version, bank->sensor, word));
    }
    at += bank->word_count;
  }
  return at;
}

void decode_retina_banks_cpu(const struct decode_retina_args *a, const struct velo_bank *banks, uint32_t count,
                             uint32_t hits, struct velo_unsorted_hits *unsorted) {
  uint32_t words = 0;
  for (uint32_t first = 0, next = 0; first < count; first = next) { /* mostly once */
    const uint32_t version = banks[first].version;
    while (next < count && banks[next].version == version) next++;
    if (version == 2)
      words = decode_banks(a, 2, banks + first, next - first, unsorted, words);
    else if (version == 3)
      words = decode_banks(a, 3, banks + first, next - first, unsorted, words);
    else
      words = decode_banks(a, 4, banks + first, next - first, unsorted, words);
  }
  if (hits < words) remove_zero_words(unsorted, words);
}
