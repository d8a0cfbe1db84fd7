/* kalman_filter.cu: states of VELO tracks at the beam line and at the end of the VELO (spec velo_pv.md A.7).
 *
 * A simplified Kalman filter: x and y are fitted independently, each as position and slope, with the same noise for
 * multiple scattering at each layer; hence their covariances are equal and are computed once. The fit for the state at
 * the beam line runs towards the beam, the one for the end state away from it, with the slopes found by the first. The
 * update of the covariance is the form without cancellation; the textbook's is useless in float32.
 *
 * One thread a track: some 240 an event, 6 hits each (12 bytes); writes 90 bytes. The hits of as many tracks as there
 * are threads lie side by side: they are brought into shared memory first, unless there are too many, and read twice
 * there. Tracks are dealt out by length, so that threads that run together have about as many hits; their states go
 * through shared memory too, to be written in the order of tracks.
 */
#include "kalman_filter.h"

enum {
  TRACKS = 256, /* in work at a time, no more than threads */
  SHARED_HITS = 2048,
  LENGTHS = VELO_MAX_HITS_PER_TRACK + 1,
  STATE_VALUES = 8
};

struct kalman_hits {
  const float *x, *y, *z;
};

struct kalman_state {
  float x, y, z, tx, ty;
  float c_xx, c_xt, c_tt; /* of x and tx, and the same of y and ty */
};

/* Distance in z from the point to where the line is nearest to the beam line, in the transverse plane. */
static SL_DEVICE float distance_to_beam(const float *beam, float x, float y, float tx, float ty) {
  const float slope2 = tx * tx + ty * ty;
  return slope2 < KALMAN_PARALLEL ? 0.0f : (tx * (beam[0] - x) + ty * (beam[1] - y)) / slope2;
}

static SL_DEVICE void step(struct kalman_state *s, float noise, float hit_x, float hit_y, float hit_z) {
  const float dz = hit_z - s->z;
  const float c_tt = s->c_tt + noise;
  const float x = s->x + dz * s->tx, y = s->y + dz * s->ty;
  const float p_xt = s->c_xt + dz * c_tt;
  const float p_xx = s->c_xx + 2.0f * dz * s->c_xt + dz * dz * c_tt;
  const float r = 1.0f / (KALMAN_HIT_VARIANCE + p_xx);
  const float k_x = p_xx * r, k_t = p_xt * r;
  const float residual_x = hit_x - x, residual_y = hit_y - y;
  s->x = x + k_x * residual_x;
  s->y = y + k_x * residual_y;
  s->z = hit_z;
  s->tx = s->tx + k_t * residual_x;
  s->ty = s->ty + k_t * residual_y;
  s->c_tt = r * (c_tt * (KALMAN_HIT_VARIANCE + s->c_xx) - s->c_xt * s->c_xt);
  s->c_xx = k_x * KALMAN_HIT_VARIANCE;
  s->c_xt = k_t * KALMAN_HIT_VARIANCE;
}

/* Fits hits `first`, `first` + `stride`, ... `count` in all, starting with the slopes given. */
static SL_DEVICE struct kalman_state fit(const struct kalman_filter_args *a, const struct kalman_hits *hits,
                                         uint32_t first, int32_t stride, uint32_t count, float tx, float ty) {
  const float noise = a->noise + a->noise_per_slope2 * (tx * tx + ty * ty);
  struct kalman_state s;
  s.x = hits->x[first];
  s.y = hits->y[first];
  s.z = hits->z[first];
  s.tx = tx;
  s.ty = ty;
  s.c_xx = KALMAN_HIT_VARIANCE;
  s.c_xt = 0.0f;
  s.c_tt = 1.0f;
  uint32_t hit = first;
  for (uint32_t i = 1; i < count; i++) {
    hit += (uint32_t)stride;
    step(&s, noise, hits->x[hit], hits->y[hit], hits->z[hit]);
  }
  s.c_tt += noise;
  return s;
}

static SL_DEVICE void propagate(struct kalman_state *s, float dz) {
  s->x += dz * s->tx;
  s->y += dz * s->ty;
  s->z += dz;
  s->c_xx += dz * dz * s->c_tt + 2.0f * dz * s->c_xt;
  s->c_xt += dz * s->c_tt;
}

struct kalman_fits {
  struct kalman_state beamline, end;
  uint32_t backward;
};

/* `hits` begin with hit `origin` of the slice. */
static SL_DEVICE struct kalman_fits fit_track(const struct kalman_filter_args *a, const struct kalman_hits *hits,
                                              uint32_t origin, uint32_t track) {
  struct kalman_fits fits = {{0, 0, 0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
  const uint32_t first = a->tracks.hit_offsets[track] - origin;
  const uint32_t count = a->tracks.hit_offsets[track + 1] - origin - first;
  if (count == 0) return fits; /* no such track comes from consolidation */
  const uint32_t last = first + count - 1;
  const float dz = hits->z[last] - hits->z[first];
  const float tx = dz == 0.0f ? 0.0f : (hits->x[last] - hits->x[first]) / dz;
  const float ty = dz == 0.0f ? 0.0f : (hits->y[last] - hits->y[first]) / dz;
  const float to_beam = distance_to_beam(a->geometry.beam, hits->x[last], hits->y[last], tx, ty);
  fits.backward = hits->z[last] + to_beam > hits->z[first] ? 1 : 0;
  const uint32_t far = fits.backward ? last : first, near = fits.backward ? first : last; /* from the beam line */
  const int32_t towards = fits.backward ? -1 : 1;
  struct kalman_state s = fit(a, hits, far, towards, count, tx, ty);
  propagate(&s, distance_to_beam(a->geometry.beam, s.x, s.y, s.tx, s.ty));
  fits.beamline = s;
  s = fit(a, hits, near, -towards, count, s.tx, s.ty);
  propagate(&s, KALMAN_END_Z - s.z);
  fits.end = s;
  return fits;
}

struct kalman_block {
  union { /* hits, and when all have read theirs, states */
    float hits[3][SHARED_HITS];
    float states[2][STATE_VALUES][TRACKS];
  } u;
  uint32_t in_length[LENGTHS]; /* tracks with so many hits, then where the next one goes in `order` */
  uint16_t order[TRACKS];      /* tracks by length */
  uint8_t backward[TRACKS];
};

static SL_DEVICE uint32_t track_length(const struct kalman_filter_args *a, uint32_t track) {
  const uint32_t hits = a->tracks.hit_offsets[track + 1] - a->tracks.hit_offsets[track];
  return hits < LENGTHS ? hits : LENGTHS - 1;
}

/* Lists `count` tracks from `first` on by ascending length; those of one length in any order. */
static SL_DEVICE void order_by_length(const struct kalman_filter_args *a, uint32_t first, uint32_t count,
                                      struct kalman_block *block) {
  const uint32_t i = threadIdx.x, length = i < count ? track_length(a, first + i) : 0;
  for (uint32_t l = threadIdx.x; l < LENGTHS; l += blockDim.x) block->in_length[l] = 0;
  __syncthreads();
  if (i < count) atomicAdd(&block->in_length[length], 1u);
  __syncthreads();
  uint32_t sum = 0;
  SL_FOR_BLOCK (l, LENGTHS) {
    uint32_t total;
    const uint32_t before = sum + sl_block_exclusive_scan(l < LENGTHS ? block->in_length[l] : 0, &total);
    if (l < LENGTHS) block->in_length[l] = before;
    sum += total;
  }
  __syncthreads();
  if (i < count) block->order[atomicAdd(&block->in_length[length], 1u)] = (uint16_t)i;
}

static SL_DEVICE void put(float (*to)[TRACKS], uint32_t track, const struct kalman_state *s) {
  to[0][track] = s->x;
  to[1][track] = s->y;
  to[2][track] = s->z;
  to[3][track] = s->tx;
  to[4][track] = s->ty;
  to[5][track] = s->c_xx;
  to[6][track] = s->c_xt;
  to[7][track] = s->c_tt;
}

/* Both collections of states have the same fields. */
#define STORE(to, track, from, i, is_backward) \
  do {                                         \
    (to).x[track] = (from)[0][i];              \
    (to).y[track] = (from)[1][i];              \
    (to).z[track] = (from)[2][i];              \
    (to).tx[track] = (from)[3][i];             \
    (to).ty[track] = (from)[4][i];             \
    (to).c00[track] = (from)[5][i];            \
    (to).c20[track] = (from)[6][i];            \
    (to).c22[track] = (from)[7][i];            \
    (to).c11[track] = (from)[5][i];            \
    (to).c31[track] = (from)[6][i];            \
    (to).c33[track] = (from)[7][i];            \
    (to).backward[track] = is_backward;        \
  } while (0)

/* Fits `count` tracks from `first` on, no more than threads or TRACKS. */
static SL_DEVICE void fit_tracks(const struct kalman_filter_args *a, uint32_t first, uint32_t count,
                                 struct kalman_block *block) {
  const uint32_t origin = a->tracks.hit_offsets[first], hit_count = a->tracks.hit_offsets[first + count] - origin;
  float *x = block->u.hits[0], *y = block->u.hits[1], *z = block->u.hits[2];
  for (uint32_t i = threadIdx.x; hit_count <= SHARED_HITS && i < hit_count; i += blockDim.x) {
    x[i] = a->tracks.hit_x[origin + i];
    y[i] = a->tracks.hit_y[origin + i];
    z[i] = a->tracks.hit_z[origin + i];
  }
  order_by_length(a, first, count, block);
  __syncthreads();
  const uint32_t i = threadIdx.x, track = i < count ? block->order[i] : 0;
  struct kalman_fits fits = {{0, 0, 0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0, 0, 0}, 0};
  if (i < count && hit_count <= SHARED_HITS) {
    const struct kalman_hits hits = {x, y, z};
    fits = fit_track(a, &hits, origin, first + track);
  } else if (i < count) {
    const struct kalman_hits hits = {a->tracks.hit_x, a->tracks.hit_y, a->tracks.hit_z};
    fits = fit_track(a, &hits, 0, first + track);
  }
  __syncthreads();
  if (i < count) {
    put(block->u.states[0], track, &fits.beamline);
    put(block->u.states[1], track, &fits.end);
    block->backward[track] = (uint8_t)fits.backward;
  }
  __syncthreads();
  if (i < count) {
    STORE(a->beamline_states, first + i, block->u.states[0], i, block->backward[i]);
    STORE(a->end_states, first + i, block->u.states[1], i, block->backward[i]);
  }
  __syncthreads();
}

SL_KERNEL(kalman_filter_fit, struct kalman_filter_args) {
  __shared__ struct kalman_block block;
  const uint32_t at_once = blockDim.x < TRACKS ? blockDim.x : TRACKS;
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t end = a.tracks.offsets[event + 1];
    for (uint32_t first = a.tracks.offsets[event]; first < end; first += at_once)
      fit_tracks(&a, first, end - first < at_once ? end - first : at_once, &block);
  }
}

static int run(const struct sl_launch *l, const struct kalman_filter_args *a) {
  return SL_LAUNCH(l, kalman_filter_fit, SL_PER_EVENT, *a);
}

#define SL_ARGS kalman_filter_args
static const struct sl_member kalman_filter_members[] = {
    SL_EVENTS(),
    SL_IN(tracks, velo_tracks, "offsets hit_offsets hit_x hit_y hit_z", "hits by descending z"),
    SL_IN(geometry, velo_geometry, "beam", "where the beam line is"),
    SL_OUT(beamline_states, velo_beamline_states, "one a track", SL_SHARES_OFFSETS(tracks)),
    SL_OUT(end_states, velo_end_states, "one a track", SL_SHARES_OFFSETS(tracks)),
    SL_F32(noise, 1e-8, 0.0, 1.0, "", "variance of the slopes added at each layer"),
    SL_F32(noise_per_slope2, 7e-6, 0.0, 1.0, "", "the same, times tx^2 + ty^2"),
    SL_SCRATCH(order, u32, "an event's tracks by length, for the CPU", SL_ONE(SL_ITEMS_TERM(tracks))),
};
SL_ALGORITHM_TUNED(kalman_filter, "states of VELO tracks at the beam line and at the end of the VELO", 256, run,
                   KALMAN_FILTER_TUNED);
