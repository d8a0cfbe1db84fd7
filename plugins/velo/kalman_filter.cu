/* kalman_filter.cu: states of VELO tracks at the beam line and at the end of the VELO (README.md, "Kalman filter").
 *
 * x and y are fitted independently, each as position and slope, with the same noise for multiple scattering at each
 * layer; hence their covariances are equal and are computed once. The fit for the state at the beam line runs towards
 * the beam, the one for the end state away from it, with the slopes found by the first.
 *
 * Some 240 tracks an event, of 6 hits, which are read twice (12 bytes each); writes 90 bytes a track. Tracks don't
 * depend on each other. On a GPU each thread has one. On a cpu 32 go together as lanes of vectors: an event's tracks
 * are taken by ascending length, and their hits are first put side by side, in rows. The first fit goes down the rows,
 * the second up again. States are kept, and written in the order of the tracks at last, field by field.
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
#define KALMAN_FILTER(M)                                                                                       \
  M(IN, tracks, velo_tracks, "offsets hit_offsets hit_x hit_y hit_z", "hits by descending z")                  \
  M(IN, geometry, velo_geometry, "beam", "where the beam line is")                                             \
  M(OUT, beamline_states, track_states, "at the closest approach to the beam line", SL_SHARES_OFFSETS(tracks)) \
  M(OUT, end_states, track_states, "at the end of the VELO, z = 770 mm", SL_SHARES_OFFSETS(tracks))            \
  M(F32, noise, 1e-8, 0.0, 1.0, "", "variance of the slopes added at each layer")                              \
  M(F32, noise_per_slope2, 7e-6, 0.0, 1.0, "", "the same, times tx^2 + ty^2")                                  \
  M(SCRATCH, order, u32, "an event's tracks by length, for the CPU", SL_ONE(SL_ITEMS_TERM(tracks)))
SL_ARGUMENTS(kalman_filter, KALMAN_FILTER);

/* Tracks to be fitted, one a lane. Their hits are counted in the order of the first fit. */
struct kalman_tracks {
  uint32_t count, longest; /* tracks; hits of the longest */
  uint32_t track[SL_LANES32];
  uint32_t length[SL_LANES32];                    /* hits; */
  uint32_t begin[SL_LANES32], stride[SL_LANES32]; /* number i is at begin + i * stride */
  uint32_t backward[SL_LANES32];
};

/* The hits of all lanes, where lanes go together. */
enum { KALMAN_ROWS = SL_LANES32 > 1 ? VELO_MAX_HITS_PER_TRACK : 1 };
struct kalman_hits {
  float x[KALMAN_ROWS][SL_LANES32], y[KALMAN_ROWS][SL_LANES32], z[KALMAN_ROWS][SL_LANES32];
};

struct kalman_states {
  float x[SL_LANES32], y[SL_LANES32], z[SL_LANES32], tx[SL_LANES32], ty[SL_LANES32];
  float c_xx[SL_LANES32], c_xt[SL_LANES32], c_tt[SL_LANES32]; /* of x and tx, and the same of y and ty */
};

struct kalman_point {
  float x, y, z;
};

/* ---------------------------------------------------------------------------------------------------- hits */

static SL_DEVICE struct kalman_point hit_at(const struct kalman_filter_args *a, uint32_t hit) {
  const struct kalman_point p = {a->tracks.hit_x[hit], a->tracks.hit_y[hit], a->tracks.hit_z[hit]};
  return p;
}

/* Hit number `row` of a lane, if there is one. */
static SL_DEVICE struct kalman_point hit_in_row(const struct kalman_filter_args *a, const struct kalman_tracks *t,
                                                const struct kalman_hits *hits, uint32_t row, uint32_t lane) {
  if (SL_LANES32 == 1) return hit_at(a, t->begin[lane] + row * t->stride[lane]);
  const struct kalman_point p = {hits->x[row][lane], hits->y[row][lane], hits->z[row][lane]};
  return p;
}

#if defined(SL_TARGET_CPU)
/* Lanes whose track has no more hits repeat the last one. */
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

/* Updates a lane's state by a hit, if it has one. */
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

/* Fits all lanes, starting with the slopes in `s`: from hit 0 on, or from the last one back. */
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

/* Opens the first 32 of the tracks listed; a GPU's thread lists its own. Lanes that go along without a track repeat the
 * last one. */
static SL_DEVICE void open_tracks(const struct kalman_filter_args *a, const uint32_t *list, uint32_t count,
                                  struct kalman_tracks *t) {
  t->count = count < 32 ? count : 32;
  t->longest = 0;
  SL_FOR_LANES32_OF (j, t->count) {
    const uint32_t lane = SL_LANE32(j), place = j < t->count ? j : t->count - 1;
    t->track[lane] = list[SL_LANE32(place)];
    t->begin[lane] = a->tracks.hit_offsets[t->track[lane]];
    t->length[lane] = a->tracks.hit_offsets[t->track[lane] + 1] - t->begin[lane];
    t->longest = t->length[lane] > t->longest ? t->length[lane] : t->longest;
  }
}

/* Finds the line from the first to the last hit, and the order of hits by which it goes towards the beam. */
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

/* Opens the first 32 of the tracks listed, and fits them towards the beam, to the beam line. Returns 0 if they have no
 * hits; no such track comes from consolidation. */
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
enum { KALMAN_TRACKS = 512 }; /* taken by length at a time; a multiple of 32 */

/* States of these tracks in the order in which they are fitted; then one of zeros, for tracks without hits. */
struct kalman_fitted {
  float x[KALMAN_TRACKS + 1], y[KALMAN_TRACKS + 1], z[KALMAN_TRACKS + 1], tx[KALMAN_TRACKS + 1], ty[KALMAN_TRACKS + 1];
  float c_xx[KALMAN_TRACKS + 1], c_xt[KALMAN_TRACKS + 1], c_tt[KALMAN_TRACKS + 1];
};

struct kalman_list {
  uint32_t place[KALMAN_TRACKS]; /* of each track in the order of the fits */
  uint8_t backward[KALMAN_TRACKS + 1];
  struct kalman_fitted at_beam, at_end;
};

static void keep(struct kalman_fitted *f, uint32_t place, const struct kalman_states *s) {
  memcpy(f->x + place, s->x, sizeof s->x);
  memcpy(f->y + place, s->y, sizeof s->y);
  memcpy(f->z + place, s->z, sizeof s->z);
  memcpy(f->tx + place, s->tx, sizeof s->tx);
  memcpy(f->ty + place, s->ty, sizeof s->ty);
  memcpy(f->c_xx + place, s->c_xx, sizeof s->c_xx);
  memcpy(f->c_xt + place, s->c_xt, sizeof s->c_xt);
  memcpy(f->c_tt + place, s->c_tt, sizeof s->c_tt);
}

/* Lists tracks by ascending number of hits, so that neighbours have about as many. Returns how many have any. */
static uint32_t order_by_length(const struct kalman_filter_args *a, uint32_t begin, uint32_t end,
                                struct kalman_list *list) {
  const uint32_t *hit_offsets = a->tracks.hit_offsets;
  uint32_t next[VELO_MAX_HITS_PER_TRACK + 2] = {0}, count = 0;
  for (uint32_t track = begin; track < end; track++) next[hit_offsets[track + 1] - hit_offsets[track] + 1]++;
  next[1] = 0;
  for (uint32_t length = 1; length < VELO_MAX_HITS_PER_TRACK + 2; length++) next[length] += next[length - 1];
  for (uint32_t track = begin; track < end; track++) {
    const uint32_t length = hit_offsets[track + 1] - hit_offsets[track];
    list->place[track - begin] = KALMAN_TRACKS;
    if (length == 0) continue;
    list->place[track - begin] = next[length];
    a->order[next[length]++] = track;
    count++;
  }
  return count;
}

static void in_order(float *__restrict__ to, const float *__restrict__ from, const uint32_t *__restrict__ place,
                     uint32_t count) {
  for (uint32_t i = 0; i < count; i++) to[i] = from[place[i]];
}

/* Writes the states of tracks [begin, end), in one piece. Both collections of states have the same fields. */
#define WRITE(states, f, list, begin, end)                                                        \
  do {                                                                                            \
    const uint32_t *place = (list)->place, n = (end) - (begin);                                   \
    in_order((states).x + (begin), (f)->x, place, n);                                             \
    in_order((states).y + (begin), (f)->y, place, n);                                             \
    in_order((states).z + (begin), (f)->z, place, n);                                             \
    in_order((states).tx + (begin), (f)->tx, place, n);                                           \
    in_order((states).ty + (begin), (f)->ty, place, n);                                           \
    in_order((states).c00 + (begin), (f)->c_xx, place, n);                                        \
    in_order((states).c20 + (begin), (f)->c_xt, place, n);                                        \
    in_order((states).c22 + (begin), (f)->c_tt, place, n);                                        \
    memcpy((states).c11 + (begin), (states).c00 + (begin), n * sizeof *(states).c11);             \
    memcpy((states).c31 + (begin), (states).c20 + (begin), n * sizeof *(states).c31);             \
    memcpy((states).c33 + (begin), (states).c22 + (begin), n * sizeof *(states).c33);             \
    for (uint32_t i = 0; i < n; i++) (states).backward[(begin) + i] = (list)->backward[place[i]]; \
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
    keep(&list->at_beam, i, &s);
    fit_to_end(a, &t, &hits, &s);
    keep(&list->at_end, i, &s);
  }
  WRITE(a->beamline_states, &list->at_beam, list, begin, end);
  WRITE(a->end_states, &list->at_end, list, begin, end);
}
#else
/* Both collections of states have the same fields. */
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

/* Fits a track. */
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
