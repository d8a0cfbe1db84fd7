/* kalman_filter.cu: fits VELO tracks; states at the beam line and at the end of the VELO (README.md, "Kalman filter").
 *   1. Line from the first to the last hit: start slopes, direction.
 *   2. Fit towards the beam, then propagate to the beam line.
 *   3. Fit away from the beam with the slopes of step 2, then propagate to z = 770 mm.
 * x and y are fitted independently with equal noise, so their covariances are equal and are computed once.
 * Parallelism: GPU: one thread per track. CPU: 32 tracks in vector lanes, ordered by number of hits; hits are loaded
 * into rows first, and states are written in the order of the tracks at the end.
 * Cost per event (240 tracks of 6 hits): reads 12 bytes per hit, twice; writes 90 bytes per track.
 */
#include "beam.h"
#include "velo/event_model.h"

#include <sluice/kernel.h>

#if defined(SL_TARGET_CPU)
#include <sluice/vectors.h>
#endif

/* Variance of a hit in x and in y, in mm^2, and the plane of the downstream state, in mm. */
#define KALMAN_HIT_VARIANCE 1.5625e-4f
#define KALMAN_END_Z        770.0f

#define SL_ARGS kalman_filter_args
#define KALMAN_FILTER(M)                                                                                         \
  M(IN, tracks, velo_tracks, "offsets hit_offsets hit_x hit_y hit_z", "VELO tracks with hits by descending z")   \
  M(IN, geometry, velo_geometry, "beam", "position of the beam line")                                            \
  M(OUT, beamline_states, track_states, "track states at the closest approach to the beam line",                 \
    SL_SHARES_OFFSETS(tracks))                                                                                   \
  M(OUT, end_states, track_states, "track states at the end of the VELO, z = 770 mm", SL_SHARES_OFFSETS(tracks)) \
  M(F32, noise, 1e-8, 0.0, 1.0, "", "variance that multiple scattering adds to the slopes at each layer")        \
  M(F32, noise_per_slope2, 7e-6, 0.0, 1.0, "", "further variance of the slopes at each layer, per tx^2 + ty^2")  \
  M(SCRATCH, order, u32, "tracks of an event by number of hits, for the CPU", SL_ONE(SL_ITEMS_TERM(tracks)))
SL_ARGUMENTS(kalman_filter, KALMAN_FILTER);

/* Tracks to be fitted, one per lane. Hits are numbered in the order of the first fit. */
struct kalman_tracks {
  uint32_t count, longest; /* number of tracks; most hits of a track */
  uint32_t track[SL_LANES32];
  uint32_t length[SL_LANES32];                    /* number of hits */
  uint32_t begin[SL_LANES32], stride[SL_LANES32]; /* hit number i has the index begin + i * stride */
  uint32_t backward[SL_LANES32];
};

/* The hits of all lanes by number, on the CPU. */
enum { KALMAN_ROWS = SL_LANES32 > 1 ? VELO_MAX_HITS_PER_TRACK : 1 };
struct kalman_hits {
  float x[KALMAN_ROWS][SL_LANES32], y[KALMAN_ROWS][SL_LANES32], z[KALMAN_ROWS][SL_LANES32];
};

struct kalman_states {
  float x[SL_LANES32], y[SL_LANES32], z[SL_LANES32], tx[SL_LANES32], ty[SL_LANES32];
  float c_xx[SL_LANES32], c_xt[SL_LANES32], c_tt[SL_LANES32]; /* covariance of (x, tx), equal to that of (y, ty) */
};

struct kalman_point {
  float x, y, z;
};

/* ---------------------------------------------------------------------------------------------------- hits */

static SL_DEVICE struct kalman_point hit_at(const struct kalman_filter_args *a, uint32_t hit) {
  const struct kalman_point p = {a->tracks.hit_x[hit], a->tracks.hit_y[hit], a->tracks.hit_z[hit]};
  return p;
}

/* Hit number `row` of a lane. */
static SL_DEVICE struct kalman_point hit_in_row(const struct kalman_filter_args *a, const struct kalman_tracks *t,
                                                const struct kalman_hits *hits, uint32_t row, uint32_t lane) {
  if (SL_LANES32 == 1) return hit_at(a, t->begin[lane] + row * t->stride[lane]);
  const struct kalman_point p = {hits->x[row][lane], hits->y[row][lane], hits->z[row][lane]};
  return p;
}

#if defined(SL_TARGET_CPU)
/* Loads the hits of all lanes into rows. A lane repeats its last hit in the rows after it. */
static void load_rows(const struct kalman_filter_args *a, const struct kalman_tracks *t, struct kalman_hits *hits) {
  for (uint32_t j = 0; j < sl_lanes32(t->count); j += LANES) {
    const i32x8 stride = i32x8_load((const int32_t *)t->stride + j),
                length = i32x8_load((const int32_t *)t->length + j);
    i32x8 hit = i32x8_load((const int32_t *)t->begin + j);
    for (uint32_t row = 0; row < t->longest; row++) {
      f32x8_store(hits->x[row] + j, f32x8_gather(a->tracks.hit_x, hit));
      f32x8_store(hits->y[row] + j, f32x8_gather(a->tracks.hit_y, hit));
      f32x8_store(hits->z[row] + j, f32x8_gather(a->tracks.hit_z, hit));
      hit += stride & ((int32_t)row + 1 < length);
    }
  }
}
#endif

/* ----------------------------------------------------------------------------------------------------- fit */

/* Updates the state of a lane with a hit; does nothing if is_hit is 0. */
static SL_DEVICE void step(struct kalman_states *s, uint32_t lane, float noise, struct kalman_point hit,
                           uint32_t is_hit) {
  const float dz = hit.z - s->z[lane];
  const float c_tt = s->c_tt[lane] + noise, c_xx = s->c_xx[lane], c_xt = s->c_xt[lane];
  const float x = s->x[lane] + dz * s->tx[lane], y = s->y[lane] + dz * s->ty[lane];
  const float p_xt = c_xt + dz * c_tt;
  const float p_xx = c_xx + 2.0f * dz * c_xt + dz * dz * c_tt;
  const float r = 1.0f / (KALMAN_HIT_VARIANCE + p_xx);
  const float k_x = p_xx * r, k_t = p_xt * r;
  const float residual_x = hit.x - x, residual_y = hit.y - y;
  const float new_tx = s->tx[lane] + k_t * residual_x, new_ty = s->ty[lane] + k_t * residual_y;
  const float new_c_tt = r * (c_tt * (KALMAN_HIT_VARIANCE + c_xx) - c_xt * c_xt);
  s->x[lane] = is_hit ? x + k_x * residual_x : s->x[lane];
  s->y[lane] = is_hit ? y + k_x * residual_y : s->y[lane];
  s->z[lane] = is_hit ? hit.z : s->z[lane];
  s->tx[lane] = is_hit ? new_tx : s->tx[lane];
  s->ty[lane] = is_hit ? new_ty : s->ty[lane];
  s->c_tt[lane] = is_hit ? new_c_tt : s->c_tt[lane];
  s->c_xx[lane] = is_hit ? k_x * KALMAN_HIT_VARIANCE : c_xx;
  s->c_xt[lane] = is_hit ? k_t * KALMAN_HIT_VARIANCE : c_xt;
}

/* Fits all lanes, starting with the slopes in `s`, from hit 0 to the last one or, if `from_last`, in reverse. */
static SL_DEVICE void fit(const struct kalman_filter_args *a, const struct kalman_tracks *t,
                          const struct kalman_hits *hits, const uint32_t from_last, struct kalman_states *s) {
  float noise[SL_LANES32] = {0.0f};
  SL_FOR_LANES32_OF (j, t->count) {
    const uint32_t lane = SL_LANE32(j), row = from_last ? t->length[lane] - 1 : 0;
    const struct kalman_point hit = hit_at(a, t->begin[lane] + row * t->stride[lane]);
    noise[lane] = a->noise + a->noise_per_slope2 * (s->tx[lane] * s->tx[lane] + s->ty[lane] * s->ty[lane]);
    s->x[lane] = hit.x;
    s->y[lane] = hit.y;
    s->z[lane] = hit.z;
    s->c_xx[lane] = KALMAN_HIT_VARIANCE;
    s->c_xt[lane] = 0.0f;
    s->c_tt[lane] = 1.0f;
  }
  for (uint32_t i = 1; i < t->longest; i++) {
    const uint32_t row = from_last ? t->longest - 1 - i : i;
    SL_FOR_LANES32_OF (j, t->count) {
      const uint32_t lane = SL_LANE32(j), is_hit = SL_LANES32 == 1 || row + from_last < t->length[lane] ? 1u : 0u;
      step(s, lane, noise[lane], hit_in_row(a, t, hits, row, lane), is_hit);
    }
  }
  SL_FOR_LANES32_OF (j, t->count) s->c_tt[SL_LANE32(j)] += noise[SL_LANE32(j)];
}

static SL_DEVICE void propagate(struct kalman_states *s, uint32_t lane, float dz) {
  s->x[lane] += dz * s->tx[lane];
  s->y[lane] += dz * s->ty[lane];
  s->z[lane] += dz;
  s->c_xx[lane] += dz * dz * s->c_tt[lane] + 2.0f * dz * s->c_xt[lane];
  s->c_xt[lane] += dz * s->c_tt[lane];
}

/* -------------------------------------------------------------------------------------------------- tracks */

/* Opens the first 32 listed tracks (GPU: the one track of the thread). Lanes without a track repeat the last one. */
static SL_DEVICE void open_tracks(const struct kalman_filter_args *a, const uint32_t *list, uint32_t count,
                                  struct kalman_tracks *t) {
  t->count = count < 32 ? count : 32;
  t->longest = 0;
  SL_FOR_LANES32_OF (j, t->count) {
    const uint32_t lane = SL_LANE32(j), index = j < t->count ? j : t->count - 1;
    t->track[lane] = list[SL_LANE32(index)];
    t->begin[lane] = a->tracks.hit_offsets[t->track[lane]];
    t->length[lane] = a->tracks.hit_offsets[t->track[lane] + 1] - t->begin[lane];
    t->longest = t->length[lane] > t->longest ? t->length[lane] : t->longest;
  }
}

/* Computes slopes from the first and the last hit, the flag `backward`, and the order of hits towards the beam. */
static SL_DEVICE void begin_with_lines(const struct kalman_filter_args *a, struct kalman_tracks *t,
                                       struct kalman_states *s) {
  float first_x[SL_LANES32], first_y[SL_LANES32], first_z[SL_LANES32];
  float last_x[SL_LANES32], last_y[SL_LANES32], last_z[SL_LANES32];
  SL_FOR_LANES32_OF (j, t->count) {
    const uint32_t lane = SL_LANE32(j);
    const struct kalman_point first = hit_at(a, t->begin[lane]), last = hit_at(a, t->begin[lane] + t->length[lane] - 1);
    first_x[lane] = first.x;
    first_y[lane] = first.y;
    first_z[lane] = first.z;
    last_x[lane] = last.x;
    last_y[lane] = last.y;
    last_z[lane] = last.z;
  }
  SL_FOR_LANES32_OF (j, t->count) {
    const uint32_t lane = SL_LANE32(j);
    const float x = last_x[lane], y = last_y[lane], dz = last_z[lane] - first_z[lane];
    const float tx = (x - first_x[lane]) / dz, ty = (y - first_y[lane]) / dz;
    s->tx[lane] = dz == 0.0f ? 0.0f : tx;
    s->ty[lane] = dz == 0.0f ? 0.0f : ty;
    const float to_beam = velo_distance_to_beam(a->geometry.beam, x, y, s->tx[lane], s->ty[lane]);
    t->backward[lane] = last_z[lane] + to_beam > first_z[lane] ? 1 : 0;
    t->begin[lane] += t->backward[lane] ? t->length[lane] - 1 : 0;
    t->stride[lane] = t->backward[lane] ? UINT32_MAX : 1; /* UINT32_MAX is -1 */
  }
}

/* Fits the first 32 listed tracks towards the beam and propagates them to the beam line. Returns 0 if they have no
 * hits, which does not occur in tracks of velo.consolidate. */
static SL_DEVICE uint32_t fit_to_beam(const struct kalman_filter_args *a, const uint32_t *list, uint32_t count,
                                      struct kalman_tracks *t, struct kalman_hits *hits, struct kalman_states *s) {
  open_tracks(a, list, count, t);
  if (t->longest == 0) return 0;
  begin_with_lines(a, t, s);
#if defined(SL_TARGET_CPU)
  load_rows(a, t, hits);
#endif
  fit(a, t, hits, 0, s);
  SL_FOR_LANES32_OF (j, t->count) {
    const uint32_t lane = SL_LANE32(j);
    propagate(s, lane, velo_distance_to_beam(a->geometry.beam, s->x[lane], s->y[lane], s->tx[lane], s->ty[lane]));
  }
  return 1;
}

static SL_DEVICE void fit_to_end(const struct kalman_filter_args *a, const struct kalman_tracks *t,
                                 const struct kalman_hits *hits, struct kalman_states *s) {
  fit(a, t, hits, 1, s);
  SL_FOR_LANES32_OF (j, t->count) propagate(s, SL_LANE32(j), KALMAN_END_Z - s->z[SL_LANE32(j)]);
}

#if defined(SL_TARGET_CPU)
enum { KALMAN_TRACKS = 512 }; /* tracks that are ordered by length together; a multiple of 32 */

/* States in the order of the fits; then a state of zeros, for tracks without hits. */
struct kalman_fitted {
  float x[KALMAN_TRACKS + 1], y[KALMAN_TRACKS + 1], z[KALMAN_TRACKS + 1], tx[KALMAN_TRACKS + 1], ty[KALMAN_TRACKS + 1];
  float c_xx[KALMAN_TRACKS + 1], c_xt[KALMAN_TRACKS + 1], c_tt[KALMAN_TRACKS + 1];
};

struct kalman_list {
  uint32_t fit_index[KALMAN_TRACKS]; /* index of each track in the order of the fits */
  uint8_t backward[KALMAN_TRACKS + 1];
  struct kalman_fitted at_beam, at_end;
};

static void store_states(struct kalman_fitted *f, uint32_t index, const struct kalman_states *s) {
  memcpy(f->x + index, s->x, sizeof s->x);
  memcpy(f->y + index, s->y, sizeof s->y);
  memcpy(f->z + index, s->z, sizeof s->z);
  memcpy(f->tx + index, s->tx, sizeof s->tx);
  memcpy(f->ty + index, s->ty, sizeof s->ty);
  memcpy(f->c_xx + index, s->c_xx, sizeof s->c_xx);
  memcpy(f->c_xt + index, s->c_xt, sizeof s->c_xt);
  memcpy(f->c_tt + index, s->c_tt, sizeof s->c_tt);
}

/* Lists tracks with hits by ascending number of hits, so that neighbouring lanes have similar lengths. Returns the
 * number of tracks listed. */
static uint32_t order_by_length(const struct kalman_filter_args *a, uint32_t begin, uint32_t end,
                                struct kalman_list *list) {
  const uint32_t *hit_offsets = a->tracks.hit_offsets;
  uint32_t next[VELO_MAX_HITS_PER_TRACK + 2] = {0}, count = 0;
  for (uint32_t track = begin; track < end; track++) next[hit_offsets[track + 1] - hit_offsets[track] + 1]++;
  next[1] = 0;
  for (uint32_t length = 1; length < VELO_MAX_HITS_PER_TRACK + 2; length++) next[length] += next[length - 1];
  for (uint32_t track = begin; track < end; track++) {
    const uint32_t length = hit_offsets[track + 1] - hit_offsets[track];
    list->fit_index[track - begin] = KALMAN_TRACKS;
    if (length == 0) continue;
    list->fit_index[track - begin] = next[length];
    a->order[next[length]++] = track;
    count++;
  }
  return count;
}

static void reorder(float *__restrict__ to, const float *__restrict__ from, const uint32_t *__restrict__ index,
                    uint32_t count) {
  for (uint32_t i = 0; i < count; i++) to[i] = from[index[i]];
}

/* Writes the states of tracks [begin, end) to one of the two outputs. */
#define WRITE(states, f, list, begin, end)                                                        \
  do {                                                                                            \
    const uint32_t *index = (list)->fit_index, n = (end) - (begin);                               \
    reorder((states).x + (begin), (f)->x, index, n);                                              \
    reorder((states).y + (begin), (f)->y, index, n);                                              \
    reorder((states).z + (begin), (f)->z, index, n);                                              \
    reorder((states).tx + (begin), (f)->tx, index, n);                                            \
    reorder((states).ty + (begin), (f)->ty, index, n);                                            \
    reorder((states).c00 + (begin), (f)->c_xx, index, n);                                         \
    reorder((states).c20 + (begin), (f)->c_xt, index, n);                                         \
    reorder((states).c22 + (begin), (f)->c_tt, index, n);                                         \
    memcpy((states).c11 + (begin), (states).c00 + (begin), n * sizeof *(states).c11);             \
    memcpy((states).c31 + (begin), (states).c20 + (begin), n * sizeof *(states).c31);             \
    memcpy((states).c33 + (begin), (states).c22 + (begin), n * sizeof *(states).c33);             \
    for (uint32_t i = 0; i < n; i++) (states).backward[(begin) + i] = (list)->backward[index[i]]; \
  } while (0)

/* Fits tracks [begin, end), 32 at a time. */
static void fit_list(const struct kalman_filter_args *a, uint32_t begin, uint32_t end, struct kalman_list *list) {
  struct kalman_tracks t;
  struct kalman_hits hits;
  struct kalman_states s;
  const uint32_t count = order_by_length(a, begin, end, list);
  for (uint32_t i = 0; i < count; i += 32) {
    fit_to_beam(a, a->order + i, count - i, &t, &hits, &s);
    for (uint32_t lane = 0; lane < 32; lane++) list->backward[i + lane] = (uint8_t)t.backward[lane];
    store_states(&list->at_beam, i, &s);
    fit_to_end(a, &t, &hits, &s);
    store_states(&list->at_end, i, &s);
  }
  WRITE(a->beamline_states, &list->at_beam, list, begin, end);
  WRITE(a->end_states, &list->at_end, list, begin, end);
}
#else
/* Writes the states of all lanes to one of the two outputs. */
#define STORE(states, t, s)                             \
  SL_FOR_LANES32_OF (j, (t).count) {                    \
    const uint32_t lane = SL_LANE32(j);                 \
    const uint32_t i = (t).track[lane];                 \
    (states).x[i] = (s).x[lane];                        \
    (states).y[i] = (s).y[lane];                        \
    (states).z[i] = (s).z[lane];                        \
    (states).tx[i] = (s).tx[lane];                      \
    (states).ty[i] = (s).ty[lane];                      \
    (states).c00[i] = (s).c_xx[lane];                   \
    (states).c20[i] = (s).c_xt[lane];                   \
    (states).c22[i] = (s).c_tt[lane];                   \
    (states).c11[i] = (s).c_xx[lane];                   \
    (states).c31[i] = (s).c_xt[lane];                   \
    (states).c33[i] = (s).c_tt[lane];                   \
    (states).backward[i] = (uint8_t)(t).backward[lane]; \
  }

static SL_DEVICE void fit_track(const struct kalman_filter_args *a, uint32_t track) {
  struct kalman_tracks t;
  struct kalman_hits hits;
  struct kalman_states s;
  if (!fit_to_beam(a, &track, 32, &t, &hits, &s)) return;
  STORE(a->beamline_states, t, s)
  fit_to_end(a, &t, &hits, &s);
  STORE(a->end_states, t, s)
}
#endif

SL_KERNEL(kalman_filter_fit, struct kalman_filter_args) {
#if defined(SL_TARGET_CPU)
  struct kalman_list list;
  memset(&list, 0, sizeof list);
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t end = a.tracks.offsets[event + 1];
    for (uint32_t begin = a.tracks.offsets[event]; begin < end; begin += KALMAN_TRACKS)
      fit_list(&a, begin, end - begin < KALMAN_TRACKS ? end : begin + KALMAN_TRACKS, &list);
  }
#else
  SL_FOR_ITEMS (track, a.events, a.tracks.offsets) fit_track(&a, track);
#endif
}

static int run(const struct sl_launch *l, const struct kalman_filter_args *a) {
  return SL_LAUNCH(l, kalman_filter_fit, SL_PER_ITEM(a->tracks), *a);
}

SL_ALGORITHM(kalman_filter, "states of VELO tracks at the beam line and at the end of the VELO", 256, run);
