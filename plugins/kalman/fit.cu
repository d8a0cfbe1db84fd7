/* kalman.fit: Kalman fit of long tracks through VELO, UT, magnet and SciFi: momentum, states at the beam line and in
 * front of the ECAL (README.md, "Fit").
 *   1. Filter of the VELO hits away from the beam, straight line to the end of the VELO (fit_passes.h).
 *   2. Sixteen legs from plane to plane: transport, scattering, update with the hit of the plane (fit_passes.h).
 *   3. If the worst hit is too far off: the same without it, accepted if chi2 / ndof falls; at most twice.
 *   4. Filter of the VELO hits towards the beam with the fitted momentum, to the closest approach to the beam line.
 * Determinism: tracks are independent; hits are used in the order of z.
 * Parallelism: kernel `fit_momenta` (1 to 3): a block takes consecutive tracks, of any events, with one thread per
 * track or, on a CPU, eight tracks in vector lanes; then it lists the tracks that are to be fitted again, so that few
 * threads or lanes are idle. Kernel `fit_beam_states` (4): one thread or lane per track.
 */
#include "fit_tracks.h"
#include "selections/event_model.h"

#define SL_ARGS fit_args
#define FIT(M)                                                                                                        \
  FIT_INPUTS(M)                                                                                                       \
  M(IN, geometry, velo_geometry, "beam", "position of the beam line")                                                 \
  M(OUT, states, long_states, "one state per track", SL_SHARES_OFFSETS(tracks))                                       \
  M(OUT, fits, kalman_fits, "one fit per track", SL_SHARES_OFFSETS(tracks))                                           \
  FIT_PROPERTIES(M)                                                                                                   \
  M(F32, beam_scattering, 2.91, 0.0, 1e6, "MeV2",                                                                     \
    "last hit to beam line: slope variance from scattering, times p^2, at slope 0")                                   \
  M(F32, beam_lever, 0.808, 0.0, 1.0, "", "last hit to beam line: position deviation / (slope deviation * distance)") \
  M(F32, beam_lever_covariance, 0.793, 0.0, 1.0, "",                                                                  \
    "last hit to beam line: covariance of position and slope / (slope variance * distance)")                          \
  M(F32, energy_loss_error, 5.0, 0.0, 1e3, "MeV", "standard deviation of the energy loss; adds to the error of q/p")  \
  M(F32, max_increment, 9.0, 0.0, 1e9, "", "chi2 of a hit above which the track is fitted again without it")          \
  M(U32, max_removed, 2, 0, 2, "", "number of hits of a track that may be removed")                                   \
  M(U32, min_velo_hits, 3, 2, 26, "", "number of VELO hits that must remain when one is removed")                     \
  M(U32, min_ut_hits, 2, 0, 4, "", "number of UT hits that must remain when one is removed")                          \
  M(U32, min_scifi_hits, 9, 0, 12, "", "number of SciFi hits that must remain when one is removed")                   \
  M(F32, ecal_z, 12602.9, 9403.0, 20000.0, "mm", "z of the state in front of the ECAL")                               \
  M(SCRATCH, velo_index, u32, "index of the VELO track", SL_ONE(SL_ITEMS_TERM(tracks)))
SL_ARGUMENTS(fit, FIT);

/* A fit of the tracks of the lanes. */
struct fit_pass {
  struct fit_state s;
  sl_f32s chi2[DETECTORS], worst;
  sl_i32s worst_hit, may_remove[DETECTORS]; /* may_remove: whether enough hits remain */
};

/* Numbers of a fit by lane: q/p and its variance, position and slopes at the last plane. */
struct fit_numbers {
  float qop[SL_LANES], c44[SL_LANES], x[SL_LANES], y[SL_LANES], tx[SL_LANES], ty[SL_LANES];
  float chi2[DETECTORS][SL_LANES], worst[SL_LANES];
  int32_t worst_hit[SL_LANES];
};

#include "fit_passes.h"

static const float least_slope2 = 1e-6f; /* a track with a smaller tx^2 + ty^2 is not extrapolated to the beam */

/* ------------------------------------------------------------------------------------------- chi2 and worst hit */

/* Takes the hits in t->removed away. */
static SL_DEVICE void leave_out_removed(struct fit_tracks *t, uint32_t lane) {
  for (uint32_t k = 0; k < REMOVED_MAX; k++) {
    const int32_t hit = t->removed[k][lane];
    if (hit == NO_HIT) continue;
    t->hits[detector_of(hit)][lane]--;
    if (hit >= KALMAN_UT_BIT) t->by_layer[lane] |= (uint64_t)NO_LAYER_HIT << LAYER_BITS * (hit - KALMAN_UT_BIT);
  }
}

/* Notes the increment of hit number `n` as the worst, if it is; only hits that may be removed. */
static SL_DEVICE void compare(struct fit_pass *p, sl_f32s increment, int32_t n, sl_i32s may_remove) {
  const sl_i32s is_worst = may_remove & SL_MASK(increment > p->worst);
  p->worst = sl_f32s_select(is_worst, increment, p->worst);
  p->worst_hit = sl_i32s_select(is_worst, sl_i32s_of((uint32_t)n), p->worst_hit);
}

static SL_DEVICE void note_velo_hit(const struct fit_args *a, const struct fit_tracks *t, const struct lane_hits *hits,
                                    int32_t n, const struct velo_measurement *m, struct fit_pass *p) {
  (void)a, (void)t, (void)hits;
  if (n < KALMAN_VELO_BITS) compare(p, m->chi2, n, p->may_remove[VELO]);
}

static SL_DEVICE void use_layer_hit(const struct fit_args *a, const struct fit_tracks *t, int leg,
                                    const struct fit_hit *hit, struct fit_pass *p) {
  const sl_f32s increment = update(hit, a->kalman.plane_z[leg + 1], &p->s).chi2;
  const int is_scifi = leg >= UT_LAYERS;
  (void)t;
  if (is_scifi)
    p->chi2[SCIFI] = p->chi2[SCIFI] + increment;
  else
    p->chi2[UT] = p->chi2[UT] + increment;
  compare(p, increment, KALMAN_UT_BIT + leg, is_scifi ? p->may_remove[SCIFI] : p->may_remove[UT]);
}

static SL_DEVICE void fit_tracks_once(const struct fit_args *a, const struct fit_tracks *t, struct fit_pass *p) {
  p->worst = sl_f32s_of(0.0f);
  p->worst_hit = sl_i32s_of(NO_HIT);
  p->may_remove[VELO] = SL_MASK(sl_i32s_in(t->hits[VELO]) > (int32_t)a->min_velo_hits);
  p->may_remove[UT] = SL_MASK(sl_i32s_in(t->hits[UT]) > (int32_t)a->min_ut_hits);
  p->may_remove[SCIFI] = SL_MASK(sl_i32s_in(t->hits[SCIFI]) > (int32_t)a->min_scifi_hits);
  p->chi2[VELO] = pass_velo(a, t, p);
  p->chi2[UT] = p->chi2[SCIFI] = sl_f32s_of(0.0f);
  pass_layers(a, t, p);
}

/* ----------------------------------------------------------------------------------------- fits and removal */

static SL_DEVICE void take_numbers(const struct fit_args *a, const struct fit_pass *p, struct fit_numbers *n) {
  const sl_f32s qop = p->s.v[STATE_QOP], loss_error = a->energy_loss_error * (qop * qop);
  sl_f32s_out(n->qop, qop);
  sl_f32s_out(n->c44, p->s.c[at(STATE_QOP, STATE_QOP)] + loss_error * loss_error);
  sl_f32s_out(n->x, p->s.v[STATE_X]);
  sl_f32s_out(n->y, p->s.v[STATE_Y]);
  sl_f32s_out(n->tx, p->s.v[STATE_TX]);
  sl_f32s_out(n->ty, p->s.v[STATE_TY]);
  for (uint32_t d = 0; d < DETECTORS; d++) sl_f32s_out(n->chi2[d], p->chi2[d]);
  sl_f32s_out(n->worst, p->worst);
  sl_i32s_out(n->worst_hit, p->worst_hit);
}

static SL_DEVICE void write_nothing(const struct fit_args *a, uint32_t i) {
  a->states.x[i] = a->states.y[i] = a->states.z[i] = a->states.tx[i] = a->states.ty[i] = a->states.qop[i] = 0.0f;
  a->states.c00[i] = a->states.c20[i] = a->states.c22[i] = 0.0f;
  a->states.c11[i] = a->states.c31[i] = a->states.c33[i] = a->states.chi2[i] = 0.0f;
  a->states.ndof[i] = 0;
  a->fits.c44[i] = a->fits.velo_chi2[i] = a->fits.ut_chi2[i] = a->fits.scifi_chi2[i] = 0.0f;
  a->fits.velo_hits[i] = a->fits.ut_hits[i] = a->fits.scifi_hits[i] = 0;
  a->fits.removed[i] = 0;
  a->fits.x[i] = a->fits.y[i] = a->fits.tx[i] = a->fits.ty[i] = 0.0f;
}

/* Writes the fit of a lane, except for the state at the beam line. */
static SL_DEVICE void write_fit(const struct fit_args *a, const struct fit_tracks *t, const struct fit_numbers *n,
                                uint32_t j) {
  const uint32_t i = t->track[j];
  const int32_t ndof = ndof_of(t, j);
  const float dz = a->ecal_z - a->kalman.plane_z[KALMAN_PLANES - 1];
  a->states.qop[i] = n->qop[j];
  a->states.chi2[i] = n->chi2[VELO][j] + n->chi2[UT][j] + n->chi2[SCIFI][j];
  a->states.ndof[i] = ndof > 0 ? (uint32_t)ndof : 0u;
  a->fits.c44[i] = n->c44[j];
  a->fits.velo_chi2[i] = n->chi2[VELO][j];
  a->fits.ut_chi2[i] = n->chi2[UT][j];
  a->fits.scifi_chi2[i] = n->chi2[SCIFI][j];
  a->fits.velo_hits[i] = (uint8_t)t->hits[VELO][j];
  a->fits.ut_hits[i] = (uint8_t)t->hits[UT][j];
  a->fits.scifi_hits[i] = (uint8_t)t->hits[SCIFI][j];
  a->fits.removed[i] = removed_bit(t->removed[0][j]) | removed_bit(t->removed[1][j]);
  a->fits.x[i] = n->x[j] + n->tx[j] * dz;
  a->fits.y[i] = n->y[j] + n->ty[j] * dz;
  a->fits.tx[i] = n->tx[j];
  a->fits.ty[i] = n->ty[j];
}

/* Whether the fit of a lane is better than the one that has been written, with one more hit. */
static SL_DEVICE uint32_t is_better(const struct fit_args *a, const struct fit_tracks *t, const struct fit_numbers *n,
                                    uint32_t j) {
  const uint32_t i = t->track[j], ndof_before = a->states.ndof[i];
  const int32_t ndof = ndof_of(t, j);
  const float chi2 = n->chi2[VELO][j] + n->chi2[UT][j] + n->chi2[SCIFI][j];
  return ndof > 0 && ndof_before > 0 && chi2 * (float)ndof_before < a->states.chi2[i] * (float)ndof ? 1u : 0u;
}

/* Consecutive tracks, fitted by a block: first all tracks of the list, then the tracks that need another fit. Arrays
 * by the number of a track in its chunk. */
enum { CHUNK = 256 };
enum { LENGTHS = 32 }; /* numbers of VELO hits, up to this - 1 */
struct fit_chunk {
  uint32_t first, count, list[CHUNK], event[CHUNK], length_begin[LENGTHS];
  uint8_t is_again[CHUNK], removed[REMOVED_MAX][CHUNK]; /* is_again: at first, the number of VELO hits */
};

/* Entries of velo_index. */
#define NOT_LISTED    UINT32_MAX       /* the track is of an event that is not on the list */
#define CANNOT_BE_FIT (UINT32_MAX - 1) /* it has too few VELO hits */

/* The last of `count` ascending numbers that is at most `value`; the first one is. */
static SL_DEVICE uint32_t last_at_most(const uint32_t *numbers, uint32_t count, uint32_t value) {
  uint32_t low = 0, high = count;
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    if (numbers[middle] <= value)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* The tracks from the first to the last event of the list. */
struct track_range {
  uint32_t begin, end, events; /* events: 1 + the last event */
};
static SL_DEVICE struct track_range tracks_of_list(const struct fit_args *a) {
  struct track_range r = {0, 0, 0};
  if (*a->events.count == 0) return r;
  r.events = sl_event_at(&a->events, *a->events.count - 1) + 1;
  r.begin = a->tracks.offsets[sl_event_at(&a->events, 0)];
  r.end = a->tracks.offsets[r.events];
  return r;
}

/* Fits `count` tracks from entry `k` of the list on, at most SL_LANES; decides which of them to fit again. */
static SL_DEVICE void fit_listed(const struct fit_args *a, uint32_t round, uint32_t k, uint32_t count,
                                 struct fit_chunk *chunk) {
  struct fit_tracks t;
  struct fit_pass pass;
  struct fit_numbers numbers;
  memset(&t, 0, sizeof t);
  SL_FOR_LANES (j) { /* spare lanes repeat the last track */
    const uint32_t n = chunk->list[k + (j < count ? j : count - 1)];
    for (uint32_t r = 0; r < REMOVED_MAX; r++) t.removed[r][j] = r < round ? chunk->removed[r][n] : NO_HIT;
    const uint32_t track = chunk->first + n;
    take_track(a, chunk->event[n], track, a->velo_index[track], &t, j);
    leave_out_removed(&t, j);
  }
  fit_tracks_once(a, &t, &pass);
  take_numbers(a, &pass, &numbers);
  for (uint32_t j = 0; j < count; j++) {
    const uint32_t n = t.track[j] - chunk->first, is_accepted = round == 0 || is_better(a, &t, &numbers, j);
    chunk->is_again[n] = is_accepted && round < a->max_removed && numbers.worst[j] > a->max_increment ? 1 : 0;
    if (chunk->is_again[n]) chunk->removed[round][n] = (uint8_t)numbers.worst_hit[j];
    if (is_accepted) write_fit(a, &t, &numbers, j);
  }
}

/* Finds event and VELO track of a track of the chunk. Returns its number of VELO hits, at most LENGTHS - 1, or 0 if the
 * track is not to be fitted. */
static SL_DEVICE uint32_t find_track(const struct fit_args *a, uint32_t events, uint32_t i, struct fit_chunk *chunk) {
  const uint32_t track = chunk->first + i, event = last_at_most(a->tracks.offsets, events, track);
  const uint32_t *numbers = a->events.numbers;
  chunk->event[i] = event;
  a->velo_index[track] = NOT_LISTED;
  if (numbers && numbers[last_at_most(numbers, *a->events.count, event)] != event) return 0;
  const uint32_t velo_track = a->velo_tracks.offsets[event] + a->tracks.velo_track[track];
  const uint32_t begin = a->velo_tracks.hit_offsets[velo_track], end = a->velo_tracks.hit_offsets[velo_track + 1];
  a->velo_index[track] = end >= begin + 2 ? velo_track : CANNOT_BE_FIT;
  if (end < begin + 2) write_nothing(a, track);
  return end < begin + 2 ? 0 : end - begin < LENGTHS ? end - begin : LENGTHS - 1;
}

/* Lists the tracks of the chunk that are to be fitted, by their number of VELO hits, so that neighbours have as many.
 * Returns their number. */
static SL_DEVICE uint32_t list_tracks(const struct fit_args *a, uint32_t events, struct fit_chunk *chunk) {
  uint32_t count = 0;
  for (uint32_t n = threadIdx.x; n < LENGTHS; n += blockDim.x) chunk->length_begin[n] = 0;
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < chunk->count; i += blockDim.x) {
    const uint32_t length = find_track(a, events, i, chunk);
    chunk->is_again[i] = (uint8_t)length;
    if (length > 0) atomicAdd(&chunk->length_begin[length], 1u);
  }
  __syncthreads();
  SL_FOR_BLOCK (n, LENGTHS) {
    uint32_t sum = 0;
    const uint32_t tracks = n < LENGTHS ? chunk->length_begin[n] : 0,
                   begin = count + sl_block_exclusive_scan(tracks, &sum);
    if (n < LENGTHS) chunk->length_begin[n] = begin;
    count += sum;
  }
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < chunk->count; i += blockDim.x)
    if (chunk->is_again[i] > 0) chunk->list[atomicAdd(&chunk->length_begin[chunk->is_again[i]], 1u)] = i;
  return count;
}

static SL_DEVICE void fit_chunk(const struct fit_args *a, uint32_t events, struct fit_chunk *chunk) {
  uint32_t length = list_tracks(a, events, chunk);
  for (uint32_t round = 0; length > 0; round++) {
    uint32_t again = 0;
    __syncthreads();
    for (uint32_t k = threadIdx.x * SL_LANES; k < length; k += blockDim.x * SL_LANES)
      fit_listed(a, round, k, sl_lane_count(length - k), chunk);
    if (round == a->max_removed) break;
    __syncthreads();
    SL_FOR_BLOCK (i, length) {
      const uint32_t n = i < length ? chunk->list[i] : 0, is_listed = i < length && chunk->is_again[n];
      const uint32_t place = sl_block_append(is_listed, &again);
      if (is_listed) chunk->list[place] = n;
    }
    length = again;
  }
}

SL_KERNEL_REGISTERS(fit_momenta, struct fit_args, 128) {
  __shared__ struct fit_chunk chunk;
  const struct track_range tracks = tracks_of_list(&a);
  for (uint32_t first = tracks.begin + CHUNK * blockIdx.x; first < tracks.end; first += CHUNK * gridDim.x) {
    __syncthreads(); /* the chunk is free */
    if (threadIdx.x == 0) {
      chunk.first = first;
      chunk.count = tracks.end - first < CHUNK ? tracks.end - first : CHUNK;
    }
    __syncthreads();
    fit_chunk(&a, tracks.events, &chunk);
  }
}

/* ------------------------------------------------------------------------------------ states at the beam line */

/* Takes the VELO hits of a track and its momentum. */
static SL_DEVICE void take_for_beam(const struct fit_args *a, uint32_t track, struct fit_tracks *t, uint32_t lane) {
  take_velo_hits(a, a->velo_index[track], t, lane);
  t->qop[lane] = a->states.qop[track];
  list_removed(a->fits.removed[track] & (((uint64_t)1 << KALMAN_VELO_BITS) - 1), t, lane);
}

/* Filters the VELO hits towards the beam; extrapolates to the closest approach to the beam line. */
static SL_DEVICE struct velo_state fit_to_beam(const struct fit_args *a, const struct fit_tracks *t) {
  const struct lane_hits hits = lane_hits_of(a, t);
  const sl_f32s qop = sl_f32s_in(t->qop);
  struct velo_state s = velo_begin(a, &hits, hits.last, hits.first, qop);
  for (int32_t n = hits.most - 2; n >= 0; n--) {
    const sl_i32s number = sl_i32s_of((uint32_t)n);
    velo_next(a, &hits, n, SL_MASK(number >= hits.first) & SL_MASK(number < hits.last), &s);
  }
  const sl_f32s tx2 = s.x.t * s.x.t, ty2 = s.y.t * s.y.t, slope2 = tx2 + ty2, n2 = 1.0f + slope2;
  const sl_f32s to_beam = ((a->geometry.beam[0] - s.x.u) * s.x.t + (a->geometry.beam[1] - s.y.u) * s.y.t) / slope2;
  const sl_f32s noise = n2 * sl_f32s_sqrt(n2) * (qop * qop) * a->beam_scattering;
  const sl_i32s moves = SL_MASK(slope2 >= least_slope2);
  const struct velo_material m = {a->beam_lever, a->beam_lever_covariance};
  struct velo_line x = s.x, y = s.y;
  velo_move(&x, m, to_beam, (1.0f + tx2) * noise);
  velo_move(&y, m, to_beam, (1.0f + ty2) * noise);
  s.x = velo_line_select(moves, x, s.x);
  s.y = velo_line_select(moves, y, s.y);
  s.z = s.z + sl_f32s_select(moves, to_beam, sl_f32s_of(0.0f));
  return s;
}

struct line_numbers {
  float u[SL_LANES], t[SL_LANES], c_uu[SL_LANES], c_ut[SL_LANES], c_tt[SL_LANES];
};

static SL_DEVICE void take_line(const struct velo_line *line, struct line_numbers *n) {
  sl_f32s_out(n->u, line->u);
  sl_f32s_out(n->t, line->t);
  sl_f32s_out(n->c_uu, line->c_uu);
  sl_f32s_out(n->c_ut, line->c_ut);
  sl_f32s_out(n->c_tt, line->c_tt);
}

static SL_DEVICE float size_of_line(const struct line_numbers *n, uint32_t j) {
  return sl_abs_f32(n->u[j]) + sl_abs_f32(n->t[j]) + sl_abs_f32(n->c_uu[j]) + sl_abs_f32(n->c_ut[j]) +
         sl_abs_f32(n->c_tt[j]);
}

/* Whether all numbers of fit_momenta are finite. */
static SL_DEVICE uint32_t is_finite_fit(const struct fit_args *a, uint32_t i) {
  const float behind =
      sl_abs_f32(a->fits.x[i]) + sl_abs_f32(a->fits.y[i]) + sl_abs_f32(a->fits.tx[i]) + sl_abs_f32(a->fits.ty[i]);
  const float momentum = sl_abs_f32(a->states.qop[i]) + sl_abs_f32(a->fits.c44[i]) + sl_abs_f32(a->states.chi2[i]);
  return sl_is_finite(behind + momentum) ? 1u : 0u;
}

static SL_DEVICE void write_beam_state(const struct fit_args *a, uint32_t i, const struct line_numbers *x,
                                       const struct line_numbers *y, const float z[SL_LANES], uint32_t j) {
  if (!is_finite_fit(a, i) || !sl_is_finite(size_of_line(x, j) + size_of_line(y, j) + sl_abs_f32(z[j]))) {
    write_nothing(a, i);
    return;
  }
  a->states.x[i] = x->u[j];
  a->states.y[i] = y->u[j];
  a->states.z[i] = z[j];
  a->states.tx[i] = x->t[j];
  a->states.ty[i] = y->t[j];
  a->states.c00[i] = x->c_uu[j];
  a->states.c20[i] = x->c_ut[j];
  a->states.c22[i] = x->c_tt[j];
  a->states.c11[i] = y->c_uu[j];
  a->states.c31[i] = y->c_ut[j];
  a->states.c33[i] = y->c_tt[j];
}

/* Fits `count` tracks from track i on; one of them, `fitted`, can be fitted. */
static SL_DEVICE void fit_to_beam_lanes(const struct fit_args *a, uint32_t i, uint32_t count, uint32_t fitted) {
  struct fit_tracks t;
  struct line_numbers x, y;
  float z[SL_LANES];
  SL_FOR_LANES (j) /* the other lanes repeat it: they need readable hits */
    take_for_beam(a, i + (j < count && a->velo_index[i + j] < CANNOT_BE_FIT ? j : fitted), &t, j);
  const struct velo_state s = fit_to_beam(a, &t);
  take_line(&s.x, &x);
  take_line(&s.y, &y);
  sl_f32s_out(z, s.z);
  for (uint32_t j = 0; j < count; j++)
    if (a->velo_index[i + j] < CANNOT_BE_FIT) write_beam_state(a, i + j, &x, &y, z, j);
}

SL_KERNEL(fit_beam_states, struct fit_args) {
  const struct track_range tracks = tracks_of_list(&a);
  for (uint32_t i = tracks.begin + sl_grid_thread() * SL_LANES; i < tracks.end; i += sl_grid_threads() * SL_LANES) {
    const uint32_t count = sl_lane_count(tracks.end - i);
    uint32_t fitted = count;
    for (uint32_t j = 0; j < count; j++)
      if (a.velo_index[i + j] < CANNOT_BE_FIT) fitted = j;
    if (fitted < count) fit_to_beam_lanes(&a, i, count, fitted);
  }
}

static int run(const struct sl_launch *l, const struct fit_args *a) {
  int error = check_inputs(l, a);
  if (error == SL_OK) error = SL_LAUNCH(l, fit_momenta, SL_PER_ITEM(a->tracks), *a);
  return error == SL_OK ? SL_LAUNCH(l, fit_beam_states, SL_PER_ITEM(a->tracks), *a) : error;
}

SL_ALGORITHM(fit, "Kalman fit of long tracks through VELO, UT and SciFi; gives momenta and states", 128, run);
