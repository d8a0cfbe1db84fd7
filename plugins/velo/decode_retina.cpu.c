/* decode_retina.cpu.c: velo.decode_retina shaped for a CPU with vectors; same results as decode_retina.cu.
 *
 * Banks are short, nine words on average, so that the loops which a compiler makes of the shared source spend most of
 * their time in their ends. Here eight words are decoded at a time and eight clusters stored, whatever the bank's
 * length: what is written behind the bank's end is written again by the next bank. Only at the end of the event's
 * clusters and of the payloads are there buffers in between.
 */
#include "decode_retina.h"

#include <string.h>

enum { LANES = 8 };
typedef float vector_f32 __attribute__((vector_size(4 * LANES)));
typedef uint32_t vector_u32 __attribute__((vector_size(4 * LANES)));
typedef int32_t vector_i32 __attribute__((vector_size(4 * LANES)));
typedef int16_t vector_i16 __attribute__((vector_size(2 * LANES)));
typedef vector_u32 vector_u32_anywhere __attribute__((aligned(4), may_alias));
typedef vector_f32 vector_f32_anywhere __attribute__((aligned(4), may_alias));
typedef vector_i16 vector_i16_anywhere __attribute__((aligned(2), may_alias));

/* Eight clusters. */
struct clusters {
  vector_u32 id, order;
  vector_f32 x, y, z;
  vector_i16 phi;
};

static inline vector_f32 to_float(vector_u32 v) { return __builtin_convertvector((vector_i32)v, vector_f32); }

static inline vector_f32 splat(float f) { return (vector_f32){f, f, f, f, f, f, f, f}; }

static inline vector_f32 select(vector_i32 mask, vector_f32 yes, vector_f32 no) {
  return (vector_f32)((mask & (vector_i32)yes) | (~mask & (vector_i32)no));
}

static inline vector_f32 look_up(const float *table, vector_u32 i) {
  return (vector_f32){table[i[0]], table[i[1]], table[i[2]], table[i[3]],
                      table[i[4]], table[i[5]], table[i[6]], table[i[7]]};
}

static inline vector_f32 absolute(vector_f32 v) { return (vector_f32)((vector_i32)v & INT32_MAX); }

/* As velo_phi. */
static inline vector_i16 azimuth(vector_f32 x, vector_f32 y) {
  const vector_f32 zero = {0};
  const vector_f32 abs_x = absolute(x), abs_y = absolute(y), sum = abs_x + abs_y;
  const vector_f32 part = 8192.0f * ((abs_x - abs_y) / sum);
  const vector_f32 upper = select(x > zero, 8192.0f - part, 24576.0f + part);
  const vector_i32 sign = (y < zero) & INT32_MIN;
  const vector_f32 phi = (vector_f32)(((vector_i32)upper ^ sign) & (sum > zero));
  return __builtin_convertvector(__builtin_convertvector(phi, vector_i32), vector_i16);
}

/* One transform value for each word: that of the bank's sensor, or in version 4 of either of two. */
static inline vector_f32 transform_value(const float *transform, int i, vector_i32 second, int is_pair) {
  const vector_f32 value = splat(transform[i]);
  return is_pair ? select(second, splat(transform[12 + i]), value) : value;
}

static inline __attribute__((always_inline)) struct clusters decode(const struct velo_geometry_view *geometry, uint32_t version, uint32_t bank_sensor,
                                     vector_u32 word, vector_u32 *bad_column) {
  const uint32_t bits = version == 2 ? 3 : 2; /* of a fraction */
  const float step = version == 2 ? 0.125f : 0.25f;
  const int is_pair = version == 4;
  const float *transform = geometry->transform + 12 * bank_sensor;
  const vector_u32 row_fraction = word & ((1u << bits) - 1), row = word >> bits & 0xFF;
  const vector_u32 column_fraction = word >> (8 + bits) & ((1u << bits) - 1);
  const vector_u32 word_column = word >> (8 + 2 * bits) & 0x3FF;
  const vector_u32 exists = (vector_u32)(word_column < VELO_SENSOR_COLUMNS), column = word_column & exists;
  const vector_u32 second = is_pair ? word >> 22 & 1 : (vector_u32){0};
  const vector_i32 is_second = (vector_i32)(second != 0);
  const vector_f32 local_x = look_up(geometry->local_x, column) +
                             to_float(column_fraction) * step * look_up(geometry->x_pitch, column);
  const vector_f32 local_y = (0.5f + to_float(row) + to_float(row_fraction) * step) * VELO_PIXEL_PITCH;
#define T(i) transform_value(transform, i, is_second, is_pair)
  struct clusters c;
  c.x = T(0) * local_x + T(1) * local_y + T(9);
  c.y = T(3) * local_x + T(4) * local_y + T(10);
  c.z = T(6) * local_x + T(7) * local_y + T(11);
#undef T
  c.phi = azimuth(c.x, c.y);
  c.id = (2u << 28 | bank_sensor << 18) + (second << 18) + (column << 8) + row;
  if (version > 2)
    c.id |= ((vector_u32)(column_fraction != 0) & 1u << 27) | ((vector_u32)(row_fraction != 0) & 1u << 26);
  c.order = word;
  *bad_column = ~exists;
  return c;
}

static inline void store_all(const struct velo_clusters *to, uint32_t place, const struct clusters *c) {
  *(vector_u32_anywhere *)(to->id + place) = c->id;
  *(vector_i16_anywhere *)(to->phi + place) = c->phi;
  *(vector_f32_anywhere *)(to->x + place) = c->x;
  *(vector_f32_anywhere *)(to->y + place) = c->y;
  *(vector_f32_anywhere *)(to->z + place) = c->z;
  *(vector_u32_anywhere *)(to->order + place) = c->order;
}

static void store_some(const struct velo_clusters *to, uint32_t place, struct clusters c, size_t count) {
  memcpy(to->id + place, &c.id, count * sizeof *to->id);
  memcpy(to->phi + place, &c.phi, count * sizeof *to->phi);
  memcpy(to->x + place, &c.x, count * sizeof *to->x);
  memcpy(to->y + place, &c.y, count * sizeof *to->y);
  memcpy(to->z + place, &c.z, count * sizeof *to->z);
  memcpy(to->order + place, &c.order, count * sizeof *to->order);
}

static inline vector_u32 load_all(const uint32_t *words) { return *(const vector_u32_anywhere *)words; }

static inline vector_u32 load_some(const uint32_t *words, size_t count) {
  uint32_t copy[LANES] = {0};
  memcpy(copy, words, count * sizeof *words);
  return load_all(copy);
}

static inline __attribute__((always_inline)) uint32_t decode_bank(const struct decode_retina_args *a, uint32_t version, const struct velo_bank *bank,
                                   uint32_t place, uint32_t end) {
  const vector_u32 lane = {0, 1, 2, 3, 4, 5, 6, 7};
  const uint32_t *words = a->banks.payload + bank->first_word;
  const uint32_t count = bank->word_count, capacity = a->banks.sub_bound.capacity;
  vector_u32 zeros = {0}, bad_columns = {0};
  for (uint32_t i = 0; i < count; i += LANES) {
    const uint32_t left = count - i < LANES ? count - i : LANES;
    const vector_u32 word = bank->first_word + i + LANES <= capacity ? load_all(words + i)
                                                                     : load_some(words + i, left);
    const vector_u32 valid = (vector_u32)(lane < left);
    vector_u32 bad_column;
    const struct clusters c = decode(&a->geometry, version, bank->sensor, word, &bad_column);
    zeros |= valid & (vector_u32)(word == 0);
    bad_columns |= valid & bad_column;
    if (place + i + LANES <= end)
      store_all(&a->clusters, place + i, &c);
    else
      store_some(&a->clusters, place + i, c, left);
  }
  uint32_t unusual = 0;
  for (int i = 0; i < LANES; i++)
    unusual |= (zeros[i] & RETINA_ZERO_WORD) | (bad_columns[i] & RETINA_BAD_COLUMN);
  return unusual;
}

uint32_t decode_retina_bank_cpu(const struct decode_retina_args *a, const struct velo_bank *bank, uint32_t place,
                                uint32_t end) {
  if (bank->version == 2) return decode_bank(a, 2, bank, place, end);
  if (bank->version == 3) return decode_bank(a, 3, bank, place, end);
  return decode_bank(a, 4, bank, place, end);
}
