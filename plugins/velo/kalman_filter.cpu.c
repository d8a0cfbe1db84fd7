/* kalman_filter.cpu.c: the filter of kalman_filter.cu on sixteen tracks at a time, one a lane; the same bits.
 *
 * An event's tracks are ordered by their number of hits, so that the lanes have about the same length. The hits of the
 * tracks are transposed once, in the order of the first fit: towards the beam. The second fit reads them backwards.
 * Rows that not all lanes have are masked. Two vectors of eight lanes go side by side, since a step is a long chain of
 * operations that wait for each other.
 */
#include "kalman_filter.h"

#include "vectors.h"

enum { VECTORS = 2, BATCH = VECTORS * LANES };

/* Eight tracks. */
struct lanes {
  f32x8 x[VELO_MAX_HITS_PER_TRACK], y[VELO_MAX_HITS_PER_TRACK], z[VELO_MAX_HITS_PER_TRACK];
  f32x8 tx, ty;                 /* of the straight line through the first and the last hit */
  f32x8 last_x, last_y, last_z; /* each lane's last row */
  i32x8 length, backward;
  uint32_t track[LANES];
};

struct batch {
  struct lanes lanes[VECTORS];
  uint32_t shortest, longest;
  float beam_x, beam_y, noise, noise_per_slope2;
};

struct kalman_states {
  f32x8 x, y, z, tx, ty, c_xx, c_xt, c_tt;
};

VECTOR_INLINE f32x8 distance_to_beam(const struct batch *b, f32x8 x, f32x8 y, f32x8 tx, f32x8 ty) {
  const f32x8 slope2 = tx * tx + ty * ty;
  const f32x8 distance = (tx * (b->beam_x - x) + ty * (b->beam_y - y)) / slope2;
  return f32x8_select(slope2 < KALMAN_PARALLEL, f32x8_of(0.0f), distance);
}

VECTOR_INLINE struct kalman_states step(struct kalman_states s, f32x8 noise, f32x8 hit_x, f32x8 hit_y, f32x8 hit_z) {
  struct kalman_states n;
  const f32x8 dz = hit_z - s.z;
  const f32x8 c_tt = s.c_tt + noise;
  const f32x8 x = s.x + dz * s.tx, y = s.y + dz * s.ty;
  const f32x8 p_xt = s.c_xt + dz * c_tt;
  const f32x8 p_xx = s.c_xx + 2.0f * dz * s.c_xt + dz * dz * c_tt;
  const f32x8 r = 1.0f / (KALMAN_HIT_VARIANCE + p_xx);
  const f32x8 k_x = p_xx * r, k_t = p_xt * r;
  const f32x8 residual_x = hit_x - x, residual_y = hit_y - y;
  n.x = x + k_x * residual_x;
  n.y = y + k_x * residual_y;
  n.z = hit_z;
  n.tx = s.tx + k_t * residual_x;
  n.ty = s.ty + k_t * residual_y;
  n.c_tt = r * (c_tt * (KALMAN_HIT_VARIANCE + s.c_xx) - s.c_xt * s.c_xt);
  n.c_xx = k_x * KALMAN_HIT_VARIANCE;
  n.c_xt = k_t * KALMAN_HIT_VARIANCE;
  return n;
}

VECTOR_INLINE struct kalman_states step_row(const struct lanes *l, struct kalman_states s, f32x8 noise, uint32_t row) {
  return step(s, noise, l->x[row], l->y[row], l->z[row]);
}

/* The same for the lanes of the mask only. */
VECTOR_INLINE struct kalman_states step_some(const struct lanes *l, struct kalman_states s, f32x8 noise, uint32_t row,
                                             i32x8 mask) {
  struct kalman_states n = step_row(l, s, noise, row);
  n.x = f32x8_select(mask, n.x, s.x);
  n.y = f32x8_select(mask, n.y, s.y);
  n.z = f32x8_select(mask, n.z, s.z);
  n.tx = f32x8_select(mask, n.tx, s.tx);
  n.ty = f32x8_select(mask, n.ty, s.ty);
  n.c_xx = f32x8_select(mask, n.c_xx, s.c_xx);
  n.c_xt = f32x8_select(mask, n.c_xt, s.c_xt);
  n.c_tt = f32x8_select(mask, n.c_tt, s.c_tt);
  return n;
}

VECTOR_INLINE struct kalman_states start(f32x8 x, f32x8 y, f32x8 z, f32x8 tx, f32x8 ty) {
  const struct kalman_states s = {x, y, z, tx, ty, f32x8_of(KALMAN_HIT_VARIANCE), f32x8_of(0.0f), f32x8_of(1.0f)};
  return s;
}

VECTOR_INLINE f32x8 noise_of(const struct batch *b, f32x8 tx, f32x8 ty) {
  return b->noise + b->noise_per_slope2 * (tx * tx + ty * ty);
}

VECTOR_INLINE void fit_to_beam(const struct batch *b, struct kalman_states *s) {
  f32x8 noise[VECTORS];
  for (uint32_t v = 0; v < VECTORS; v++) {
    const struct lanes *l = &b->lanes[v];
    noise[v] = noise_of(b, l->tx, l->ty);
    s[v] = start(l->x[0], l->y[0], l->z[0], l->tx, l->ty);
  }
  uint32_t row = 1;
  for (; row < b->shortest; row++)
    for (uint32_t v = 0; v < VECTORS; v++) s[v] = step_row(&b->lanes[v], s[v], noise[v], row);
  for (; row < b->longest; row++)
    for (uint32_t v = 0; v < VECTORS; v++)
      s[v] = step_some(&b->lanes[v], s[v], noise[v], row, b->lanes[v].length > (int32_t)row);
  for (uint32_t v = 0; v < VECTORS; v++) s[v].c_tt += noise[v];
}

/* With the slopes in `s`. */
VECTOR_INLINE void fit_from_beam(const struct batch *b, struct kalman_states *s) {
  f32x8 noise[VECTORS];
  for (uint32_t v = 0; v < VECTORS; v++) {
    const struct lanes *l = &b->lanes[v];
    noise[v] = noise_of(b, s[v].tx, s[v].ty);
    s[v] = start(l->last_x, l->last_y, l->last_z, s[v].tx, s[v].ty);
  }
  uint32_t row = b->longest - 1; /* the first row to come lies below */
  for (; row >= b->shortest; row--)
    for (uint32_t v = 0; v < VECTORS; v++)
      s[v] = step_some(&b->lanes[v], s[v], noise[v], row - 1, b->lanes[v].length > (int32_t)row);
  for (; row > 0; row--)
    for (uint32_t v = 0; v < VECTORS; v++) s[v] = step_row(&b->lanes[v], s[v], noise[v], row - 1);
  for (uint32_t v = 0; v < VECTORS; v++) s[v].c_tt += noise[v];
}

VECTOR_INLINE struct kalman_states propagate(struct kalman_states s, f32x8 dz) {
  s.x += dz * s.tx;
  s.y += dz * s.ty;
  s.z += dz;
  s.c_xx += dz * dz * s.c_tt + 2.0f * dz * s.c_xt;
  s.c_xt += dz * s.c_tt;
  return s;
}

/* Takes eight tracks; the last one also stands in the lanes left over. */
static void load_lanes(struct batch *b, struct lanes *l, const struct velo_tracks_view *tracks, const uint32_t *order,
                       uint32_t count) {
  f32x8 first_x, first_y, first_z, last_x, last_y, last_z;
  uint32_t begin[LANES];
  for (uint32_t lane = 0; lane < LANES; lane++) {
    const uint32_t track = order[lane < count ? lane : count - 1];
    const uint32_t first = tracks->hit_offsets[track], hits = tracks->hit_offsets[track + 1] - first;
    const uint32_t last = first + hits - 1;
    l->track[lane] = track;
    l->length[lane] = (int32_t)hits;
    begin[lane] = first;
    first_x[lane] = tracks->hit_x[first];
    first_y[lane] = tracks->hit_y[first];
    first_z[lane] = tracks->hit_z[first];
    last_x[lane] = tracks->hit_x[last];
    last_y[lane] = tracks->hit_y[last];
    last_z[lane] = tracks->hit_z[last];
  }
  const f32x8 dz = last_z - first_z, none = f32x8_of(0.0f);
  l->tx = f32x8_select(dz == 0.0f, none, (last_x - first_x) / dz);
  l->ty = f32x8_select(dz == 0.0f, none, (last_y - first_y) / dz);
  l->backward = last_z + distance_to_beam(b, last_x, last_y, l->tx, l->ty) > first_z;
  l->last_x = f32x8_select(l->backward, first_x, last_x);
  l->last_y = f32x8_select(l->backward, first_y, last_y);
  l->last_z = f32x8_select(l->backward, first_z, last_z);
  for (uint32_t lane = 0; lane < LANES; lane++) {
    const int32_t stride = l->backward[lane] ? -1 : 1;
    const uint32_t hits = (uint32_t)l->length[lane];
    uint32_t hit = l->backward[lane] ? begin[lane] + hits - 1 : begin[lane];
    float *x = (float *)l->x + lane, *y = (float *)l->y + lane, *z = (float *)l->z + lane;
    for (uint32_t row = 0; row < hits; row++, hit += (uint32_t)stride) {
      x[row * LANES] = tracks->hit_x[hit];
      y[row * LANES] = tracks->hit_y[hit];
      z[row * LANES] = tracks->hit_z[hit];
    }
  }
}

/* Both collections of states have the same fields. */
#define STORE(states, s, lanes, count)                           \
  do {                                                           \
    for (uint32_t lane = 0; lane < (count); lane++) {            \
      const uint32_t track = (lanes).track[lane];                \
      (states).x[track] = (s).x[lane];                           \
      (states).y[track] = (s).y[lane];                           \
      (states).z[track] = (s).z[lane];                           \
      (states).tx[track] = (s).tx[lane];                         \
      (states).ty[track] = (s).ty[lane];                         \
      (states).c00[track] = (s).c_xx[lane];                      \
      (states).c20[track] = (s).c_xt[lane];                      \
      (states).c22[track] = (s).c_tt[lane];                      \
      (states).c11[track] = (s).c_xx[lane];                      \
      (states).c31[track] = (s).c_xt[lane];                      \
      (states).c33[track] = (s).c_tt[lane];                      \
      (states).backward[track] = (lanes).backward[lane] ? 1 : 0; \
    }                                                            \
  } while (0)

/* Fits `count` tracks, listed by ascending length. */
static void fit_batch(const struct kalman_filter_args *a, struct batch *b, const uint32_t *order, uint32_t count) {
  const uint32_t in_vector[VECTORS] = {count < LANES ? count : LANES, count < LANES ? 0 : count - LANES};
  struct kalman_states s[VECTORS];
  load_lanes(b, &b->lanes[0], &a->tracks, order, in_vector[0]);
  load_lanes(b, &b->lanes[1], &a->tracks, in_vector[1] ? order + LANES : order,
             in_vector[1] ? in_vector[1] : in_vector[0]);
  b->shortest = (uint32_t)b->lanes[0].length[0];
  b->longest = (uint32_t)b->lanes[in_vector[1] ? 1 : 0].length[LANES - 1];
  fit_to_beam(b, s);
  for (uint32_t v = 0; v < VECTORS; v++) {
    s[v] = propagate(s[v], distance_to_beam(b, s[v].x, s[v].y, s[v].tx, s[v].ty));
    STORE(a->beamline_states, s[v], b->lanes[v], in_vector[v]);
  }
  fit_from_beam(b, s);
  for (uint32_t v = 0; v < VECTORS; v++) {
    s[v] = propagate(s[v], KALMAN_END_Z - s[v].z);
    STORE(a->end_states, s[v], b->lanes[v], in_vector[v]);
  }
}

/* Lists the event's tracks by ascending number of hits; returns how many there are. */
static uint32_t order_by_length(const struct kalman_filter_args *a, uint32_t event) {
  const uint32_t *hit_offsets = a->tracks.hit_offsets;
  const uint32_t begin = a->tracks.offsets[event], end = a->tracks.offsets[event + 1];
  uint32_t place[VELO_MAX_HITS_PER_TRACK + 2] = {0}, count = 0;
  for (uint32_t track = begin; track < end; track++) place[hit_offsets[track + 1] - hit_offsets[track] + 1]++;
  place[1] = 0; /* those without hits are left out */
  for (uint32_t length = 1; length < VELO_MAX_HITS_PER_TRACK + 2; length++) place[length] += place[length - 1];
  for (uint32_t track = begin; track < end; track++) {
    const uint32_t length = hit_offsets[track + 1] - hit_offsets[track];
    if (length == 0) continue;
    a->order[place[length]++] = track;
    count++;
  }
  return count;
}

int kalman_filter_tuned(const struct sl_launch *launch, const void *args) {
  const struct kalman_filter_args *a = args;
  struct batch b;
  (void)launch;
  memset(&b, 0, sizeof b);
  b.beam_x = a->geometry.beam[0];
  b.beam_y = a->geometry.beam[1];
  b.noise = a->noise;
  b.noise_per_slope2 = a->noise_per_slope2;
  SL_FOR_EVENTS (event, a->events) {
    const uint32_t count = order_by_length(a, event);
    for (uint32_t i = 0; i < count; i += BATCH) fit_batch(a, &b, a->order + i, count - i < BATCH ? count - i : BATCH);
  }
  return SL_OK;
}
