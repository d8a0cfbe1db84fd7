/* kalman.residuals: residuals of the hits of long tracks in the filter of kalman.fit, for alignment and monitoring
 * (README.md, "Residuals").
 *   1. residuals_count, one block per event: counts the measurements of each track, and their sums in the event.
 *   2. A scan gives the offsets of the events.
 *   3. residuals_write, one block per event, one thread or lane per track: repeats the last filter of kalman.fit
 *      (fit_passes.h) and writes the measurements. A removed hit does not change the state.
 * Determinism: measurements are in the order of tracks, then of ascending z.
 * Cost: a filter per track; a track has about 32 measurements of 18 bytes.
 */
#include "fit_tracks.h"

#define SL_ARGS residuals_args
#define RESIDUALS(M)                                                                                          \
  FIT_INPUTS(M)                                                                                               \
  M(IN, fits, kalman_fits, "velo_hits removed", "fits of the tracks, by kalman.fit with the same properties") \
  M(OUT, residuals, kalman_residuals, "measurements by track, then by ascending z",                           \
    SL_ITEMS(SL_SUM(SL_SUBITEMS_SCALED(velo_tracks, 2, 1, 0), SL_ITEMS_SCALED(tracks, KALMAN_LEGS, 1, 0))))   \
  FIT_PROPERTIES(M)                                                                                           \
  M(SCRATCH, first, u32, "number of measurements of earlier tracks of the event", SL_ONE(SL_ITEMS_TERM(tracks)))
SL_ARGUMENTS(residuals, RESIDUALS);

struct fit_pass {
  struct fit_state s;
  uint32_t is_written[SL_LANES], next[SL_LANES]; /* next: index of the next measurement of the track */
  uint32_t first_track;                          /* of the event */
};

#include "fit_passes.h"

static SL_DEVICE void take_fitted(const struct residuals_args *a, uint32_t event, uint32_t track, struct fit_tracks *t,
                                  uint32_t lane) {
  list_removed(a->fits.removed[track], t, lane);
  take_track(a, event, track, a->velo_tracks.offsets[event] + a->tracks.velo_track[track], t, lane);
}

static SL_DEVICE sl_i32s is_removed(const struct fit_tracks *t, int32_t hit) {
  const sl_i32s number = sl_i32s_of((uint32_t)hit);
  sl_i32s is_one = sl_i32s_of(0);
  for (uint32_t k = 0; k < REMOVED_MAX; k++) is_one = is_one | SL_MASK(number == sl_i32s_in(t->removed[k]));
  return is_one;
}

/* Writes measurements of a layer, in lanes of the mask. */
static SL_DEVICE void write_lanes(const struct residuals_args *a, const struct fit_tracks *t, uint32_t layer,
                                  sl_i32s is_measured, sl_i32s removed, const struct measurement *m, sl_f32s z,
                                  struct fit_pass *p) {
  float residual[SL_LANES], error[SL_LANES], z_of[SL_LANES];
  int32_t is_one[SL_LANES], is_without[SL_LANES];
  sl_f32s_out(residual, m->residual);
  sl_f32s_out(error, sl_f32s_sqrt(m->variance));
  sl_f32s_out(z_of, z);
  sl_i32s_out(is_one, is_measured);
  sl_i32s_out(is_without, removed);
  SL_FOR_LANES (j) {
    if (!is_one[j] || !p->is_written[j]) continue;
    const uint32_t i = p->next[j]++;
    a->residuals.track[i] = t->track[j] - p->first_track;
    a->residuals.layer[i] = (uint8_t)layer;
    a->residuals.is_removed[i] = is_without[j] ? 1 : 0;
    a->residuals.residual[i] = residual[j];
    a->residuals.error[i] = error[j];
    a->residuals.z[i] = z_of[j];
  }
}

static SL_DEVICE void note_velo_hit(const struct residuals_args *a, const struct fit_tracks *t,
                                    const struct lane_hits *hits, int32_t n, const struct velo_measurement *m,
                                    struct fit_pass *p) {
  const sl_i32s number = sl_i32s_of((uint32_t)n), removed = is_removed(t, n);
  const sl_i32s is_measured = SL_MASK(number > hits->first) & SL_MASK(number <= hits->highest);
  write_lanes(a, t, KALMAN_VELO_X, is_measured, removed, &m->x, m->z, p);
  write_lanes(a, t, KALMAN_VELO_Y, is_measured, removed, &m->y, m->z, p);
}

/* Removed hits are among `hit`: the state is updated with them, too, and then restored. */
static SL_DEVICE void use_layer_hit(const struct residuals_args *a, const struct fit_tracks *t, int leg,
                                    const struct fit_hit *hit, struct fit_pass *p) {
  const struct fit_state before = p->s;
  const sl_i32s removed = is_removed(t, KALMAN_UT_BIT + leg);
  const struct measurement m = update(hit, a->kalman.plane_z[leg + 1], &p->s);
  p->s = fit_state_select(removed, &before, &p->s);
  write_lanes(a, t, KALMAN_UT_LAYER + (uint32_t)leg, hit->is_hit, removed, &m,
              fused(hit->dzdy, before.v[STATE_Y], hit->z), p);
}

/* Two per VELO hit after the first one that is used, one per layer. */
static SL_DEVICE uint32_t measurement_count(const struct fit_tracks *t, uint32_t lane) {
  return (uint32_t)(2 * (t->velo_count[lane] - 1 - first_velo_hit(t, lane)) + t->hits[UT][lane] + t->hits[SCIFI][lane]);
}

SL_KERNEL(residuals_count, struct residuals_args) {
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t begin = a.tracks.offsets[event], tracks = a.tracks.offsets[event + 1] - begin;
    uint32_t count = 0;
    SL_FOR_BLOCK (i, tracks) {
      uint32_t sum = 0, own = 0;
      if (i < tracks && a.fits.velo_hits[begin + i] > 0) {
        struct fit_tracks t;
        memset(&t, 0, sizeof t);
        take_fitted(&a, event, begin + i, &t, 0);
        own = measurement_count(&t, 0);
      }
      const uint32_t first = count + sl_block_exclusive_scan(own, &sum);
      if (i < tracks) a.first[begin + i] = first;
      count += sum;
    }
    if (threadIdx.x == 0) a.residuals.offsets[event] = count;
  }
}

/* Writes the measurements of `count` tracks from track i on, at most SL_LANES. Lanes without a fitted track repeat
 * another one, because they need readable hits. */
static SL_DEVICE void write_tracks(const struct residuals_args *a, uint32_t event, uint32_t i, uint32_t count) {
  struct fit_tracks t;
  struct fit_pass pass;
  uint32_t fitted = count;
  for (uint32_t j = 0; j < count; j++)
    if (a->fits.velo_hits[i + j] > 0) fitted = j;
  if (fitted == count) return;
  memset(&t, 0, sizeof t);
  SL_FOR_LANES (j) {
    pass.is_written[j] = j < count && a->fits.velo_hits[i + j] > 0;
    const uint32_t track = i + (pass.is_written[j] ? j : fitted);
    pass.next[j] = a->residuals.offsets[event] + a->first[track];
    take_fitted(a, event, track, &t, j);
  }
  pass.first_track = a->tracks.offsets[event];
  (void)pass_velo(a, &t, &pass);
  pass_layers(a, &t, &pass);
}

/* The range of an event is also empty if the measurements of the slice exceed the reserved memory. */
SL_KERNEL_REGISTERS(residuals_write, struct residuals_args, 128) {
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t end = a.tracks.offsets[event + 1];
    if (a.residuals.offsets[event] == a.residuals.offsets[event + 1]) continue;
    for (uint32_t i = a.tracks.offsets[event] + threadIdx.x * SL_LANES; i < end; i += blockDim.x * SL_LANES)
      write_tracks(&a, event, i, sl_lane_count(end - i));
  }
}

static int run(const struct sl_launch *l, const struct residuals_args *a) {
  const int error = check_inputs(l, a);
  return error ? error : SL_COUNT_SCAN_WRITE(l, residuals_count, residuals_write, a->residuals, *a);
}

SL_ALGORITHM(residuals, "residuals of the hits of long tracks in the Kalman fit, for alignment", 64, run);
