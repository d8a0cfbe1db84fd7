/* decode_retina.cpu.c: velo.decode_retina shaped for a CPU with vectors; same results as decode_retina.cu.
 *
 * Banks are short, nine words on average, so that the loops which a compiler makes of the shared source spend most of
 * their time in their ends. Here eight words are decoded at a time and eight clusters stored, whatever the bank's
 * length: what is written after the bank's end is written again by the next bank. Only at the end of the event's
 * clusters and of the payloads is there something in between.
 */
#include "decode_retina.h"

#include <sluice/vectors.h>

typedef uint64_t u64x4 __attribute__((vector_size(32)));

/* Eight clusters. */
struct clusters {
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

/* As write_cluster of the shared source; `version` is known to the compiler. */
VECTOR_INLINE struct clusters decode(const struct velo_geometry_view *geometry, uint32_t version, uint32_t bank_sensor,
                                     u32x8 word, u32x8 *bad_column) {
  const uint32_t bits = version == 2 ? 3 : 2; /* of a fraction */
  const float step = version == 2 ? 0.125f : 0.25f;
  const float *transform = geometry->transform + 12 * bank_sensor;
  const u32x8 row_fraction = word & ((1u << bits) - 1), row = word >> bits & 0xFFu;
  const u32x8 column_fraction = word >> (8 + bits) & ((1u << bits) - 1);
  const u32x8 word_column = word >> (8 + 2 * bits) & 0x3FFu;
  const u32x8 exists = (u32x8)(word_column < (uint32_t)VELO_SENSOR_COLUMNS), column = word_column & exists;
  const u32x8 second = version == 4 ? word >> 22 & 1u : (u32x8){0};
  const f32x8 local_x = f32x8_gather(geometry->local_x, (i32x8)column) +
                        to_float(column_fraction) * step * f32x8_gather(geometry->x_pitch, (i32x8)column);
  const f32x8 local_y = (0.5f + to_float(row) + to_float(row_fraction) * step) * VELO_PIXEL_PITCH;
  struct clusters c;
#define T(i) transform_value(transform, i, second, version == 4)
  c.x = T(0) * local_x + T(1) * local_y + T(9);
  c.y = T(3) * local_x + T(4) * local_y + T(10);
  c.z = T(6) * local_x + T(7) * local_y + T(11);
#undef T
  c.phi = azimuth(c.x, c.y);
  c.id = (2u << 28 | bank_sensor << 18) + (second << 18) + (column << 8) + row;
  if (version > 2) c.id |= ((u32x8)(column_fraction != 0) & 1u << 27) | ((u32x8)(row_fraction != 0) & 1u << 26);
  c.word = word;
  *bad_column = ~exists;
  return c;
}

/* Stores `count` of the clusters at `place`. */
VECTOR_INLINE void store(const struct velo_clusters *to, uint32_t place, struct clusters c, size_t count) {
  memcpy(to->id + place, &c.id, count * sizeof *to->id);
  memcpy(to->phi + place, &c.phi, count * sizeof *to->phi);
  memcpy(to->x + place, &c.x, count * sizeof *to->x);
  memcpy(to->y + place, &c.y, count * sizeof *to->y);
  memcpy(to->z + place, &c.z, count * sizeof *to->z);
  memcpy(to->order + place, &c.word, count * sizeof *to->order);
}

/* Not inline, so that the copies of few bytes do not cost those of eight their registers. */
static __attribute__((noinline)) void store_some(const struct velo_clusters *to, uint32_t place,
                                                 const struct clusters *c, size_t count) {
  store(to, place, *c, count);
}

static __attribute__((noinline)) u32x8 load_some(const uint32_t *words, size_t count) {
  u32x8 v = {0};
  memcpy(&v, words, count * sizeof *words);
  return v;
}

VECTOR_INLINE u32x8 load_all(const uint32_t *words) {
  u32x8 v;
  memcpy(&v, words, sizeof v);
  return v;
}

VECTOR_INLINE uint32_t decode_bank(const struct decode_retina_args *a, uint32_t version, const struct velo_bank *bank,
                                   uint32_t place, uint32_t end) {
  const u32x8 lane = {0, 1, 2, 3, 4, 5, 6, 7};
  const uint32_t *words = a->banks.payload + bank->first_word;
  const uint32_t count = bank->word_count, payload_end = a->banks.payload_bound.capacity;
  u32x8 unusual = {0};
  for (uint32_t i = 0; i < count; i += LANES) {
    const uint32_t left = count - i < LANES ? count - i : LANES;
    const u32x8 valid = (u32x8)(lane < left);
    u32x8 word, bad_column;
    if (bank->first_word + i + LANES <= payload_end)
      word = load_all(words + i);
    else
      word = load_some(words + i, left);
    const struct clusters c = decode(&a->geometry, version, bank->sensor, word, &bad_column);
    unusual |= valid & (((u32x8)(word == 0) & (uint32_t)RETINA_ZERO_WORD) | (bad_column & (uint32_t)RETINA_BAD_COLUMN));
    if (place + i + LANES <= end) {
      store(&a->clusters, place + i, c, LANES);
    } else {
      const struct clusters copy = c;
      store_some(&a->clusters, place + i, &copy, left);
    }
  }
  const u64x4 halves = (u64x4)unusual;
  const uint64_t all = halves[0] | halves[1] | halves[2] | halves[3];
  return (uint32_t)(all | all >> 32);
}

uint32_t decode_retina_bank_cpu(const struct decode_retina_args *a, const struct velo_bank *bank, uint32_t place,
                                uint32_t end) {
  if (bank->version == 2) return decode_bank(a, 2, bank, place, end);
  if (bank->version == 3) return decode_bank(a, 3, bank, place, end);
  return decode_bank(a, 4, bank, place, end);
}
