/* selections.fit: Kalman fit of long tracks to their VELO hits, with the measured momentum; gives the states at the
 * beam line (README.md, "Fit").
 *   1. Start at the hit of largest z, with the slopes of the line to the last hit.
 *   2. For each further hit: extrapolate with scattering and energy loss; update (position, slope) in x, then in y.
 *   3. Extrapolate to the point of closest approach to the beam line.
 * Covariances are computed as sums and products of positive terms; the textbook form (1 - K) V loses three digits.
 * Determinism: tracks are independent; hits are used in order of descending z.
 * Parallelism: one block per event, one thread per track; on a CPU eight tracks advance together.
 * Cost: reads 8 bytes per track and 12 per hit; writes 56 bytes per track.
 */
#include "forward/event_model.h"
#include "selections/event_model.h"
#include "velo/event_model.h"

#include <sluice/kernel.h>

#define SL_ARGS fit_args
#define FIT(M)                                                                                                        \
  M(IN, tracks, long_tracks, "offsets velo_track qop", "long tracks")                                                 \
  M(IN, velo_tracks, velo_tracks, "offsets hit_offsets hit_x hit_y hit_z", "VELO tracks with hits by descending z")   \
  M(IN, geometry, velo_geometry, "beam", "position of the beam line")                                                 \
  M(OUT, states, long_states, "one state per track", SL_SHARES_OFFSETS(tracks))                                       \
  M(F32, hit_error, 0.0125, 1e-6, 10.0, "mm", "standard deviation of a hit in x and in y")                            \
  M(F32, slope_variance, 0.01, 1e-9, 1.0, "", "initial variance of the slopes")                                       \
  M(F32, scattering, 1.48, 0.0, 1e6, "MeV2", "between hits: slope variance from scattering, times p^2, at slope 0")   \
  M(F32, scattering_foil, 0.6, 0.0, 1e6, "MeV2", "addition to `scattering` for hits near the RF foil")                \
  M(F32, lever, 0.643, 0.0, 1.0, "", "between hits: position deviation / (slope deviation * distance)")               \
  M(F32, lever_covariance, 0.526, 0.0, 1.0, "",                                                                       \
    "between hits: covariance of position and slope / (slope variance * distance)")                                   \
  M(F32, energy_loss, 0.592, 0.0, 1e3, "MeV",                                                                         \
    "between hits: energy loss at slope 0, applied once for x and once for y")                                        \
  M(F32, beam_scattering, 2.91, 0.0, 1e6, "MeV2",                                                                     \
    "last hit to beam line: slope variance from scattering, times p^2, at slope 0")                                   \
  M(F32, beam_lever, 0.808, 0.0, 1.0, "", "last hit to beam line: position deviation / (slope deviation * distance)") \
  M(F32, beam_lever_covariance, 0.793, 0.0, 1.0, "",                                                                  \
    "last hit to beam line: covariance of position and slope / (slope variance * distance)")                          \
  M(F32, beam_energy_loss, 1.29, 0.0, 1e3, "MeV", "last hit to beam line: energy loss at slope 0")                    \
  M(F32, foil_width, 15.0, 0.0, 1e3, "mm", "half width of the region near the RF foil, in x + y and y - x")           \
  M(F32, min_p, 10.0, 0.0, 1e6, "MeV", "energy loss that would reduce p to this or less is not applied")
SL_ARGUMENTS(fit, FIT);

static const float least_qop = 1e-20f;   /* 1/MeV: no energy loss at or below this |q/p| */
static const float least_slope2 = 1e-6f; /* a track with a smaller tx^2 + ty^2 is not extrapolated */

/* State in one projection, x or y: position, slope, and their covariance. */
struct fit_line {
  float u, t, c_uu, c_ut, c_tt;
};
struct fit_state {
  struct fit_line x, y;
  float z, qop, chi2;
};

/* Material between two planes. */
struct fit_material {
  float scattering, lever, lever_covariance, energy_loss;
};

/* Measured position in one projection, distance in z from the state, and variance. */
struct fit_hit {
  float u, dz, variance;
};

/* q/p after the energy of the track has changed by `energy` (positive upstream, where the track had more energy). */
static SL_DEVICE float with_energy(const struct fit_args *a, float qop, float energy) {
  const float p = 1.0f / sl_abs_f32(qop) + energy;
  const float changed = p > a->min_p ? sl_copysign_f32(1.0f / p, qop) : qop;
  return sl_abs_f32(qop) > least_qop ? changed : qop;
}

/* Kalman step in one projection: extrapolates to the hit and updates with it. README.md has the formulas. */
static SL_DEVICE void step(const struct fit_args *a, const struct fit_material *m, const struct fit_hit *hit,
                           struct fit_line *line, struct fit_state *s) {
  const float dz = hit->dz, dz2 = dz * dz, n2 = 1.0f + line->t * line->t, n = sqrtf(n2);
  const float noise = n2 * (n2 * n) * (s->qop * s->qop) * m->scattering;
  const float noise_uu = noise * dz2 * (m->lever * m->lever), noise_ut = noise * dz * m->lever_covariance;
  const float apart = m->lever * m->lever - m->lever_covariance * m->lever_covariance;
  const float u = line->u + line->t * dz, residual = hit->u - u;
  const float moved_uu = line->c_uu + 2.0f * dz * line->c_ut + dz2 * line->c_tt;
  const float moved_ut = line->c_ut + dz * line->c_tt;
  const float determinant = (line->c_uu * line->c_tt - line->c_ut * line->c_ut) + moved_uu * noise +
                            line->c_tt * noise_uu - 2.0f * moved_ut * noise_ut + noise * noise * dz2 * apart;
  const float c_uu = moved_uu + noise_uu, c_ut = moved_ut + noise_ut, c_tt = line->c_tt + noise;
  const float variance = hit->variance + c_uu, gain_u = c_uu / variance, gain_t = c_ut / variance;
  s->qop = with_energy(a, s->qop, (dz < 0.0f ? m->energy_loss : -m->energy_loss) * n);
  s->chi2 += residual * residual / variance;
  line->u = u + gain_u * residual;
  line->t += gain_t * residual;
  line->c_uu = hit->variance * gain_u;
  line->c_ut = hit->variance * gain_t;
  line->c_tt = (hit->variance * c_tt + determinant) / variance;
}

/* Additional scattering near the RF foil between the halves of the VELO, which runs along the diagonals in x and y.
 * Written with selects instead of branches, so that loops over it vectorize. */
static SL_DEVICE float scattering_by_foil(const struct fit_args *a, float x, float y) {
  const float sum = x + y, difference = y - x, width = a->foil_width;
  const float above = sum < width ? a->scattering_foil : 0.0f, below = sum > -width ? a->scattering_foil : 0.0f;
  const float if_above = difference > -width ? above : 0.0f, if_below = difference < width ? below : 0.0f;
  const float positive = sum >= 0.0f ? if_above : 0.0f, negative = sum <= 0.0f ? if_below : 0.0f;
  return sl_max_f32(positive, negative); /* both at a sum of 0 */
}

static SL_DEVICE struct fit_line line_begin(float first, float last, float dz, float hit_variance,
                                            float slope_variance) {
  struct fit_line line;
  const float slope = (first - last) / dz;
  line.u = first;
  line.t = dz == 0.0f ? 0.0f : slope;
  line.c_uu = hit_variance;
  line.c_ut = 0.0f;
  line.c_tt = slope_variance;
  return line;
}

/* Initial state at the first hit. The track has at least two hits. */
static SL_DEVICE struct fit_state filter_begin(const struct fit_args *a, uint32_t begin, uint32_t end, float qop) {
  const float *x = a->velo_tracks.hit_x, *y = a->velo_tracks.hit_y, *z = a->velo_tracks.hit_z;
  const float variance = a->hit_error * a->hit_error, dz = z[begin] - z[end - 1];
  struct fit_state s;
  s.x = line_begin(x[begin], x[end - 1], dz, variance, a->slope_variance);
  s.y = line_begin(y[begin], y[end - 1], dz, variance, a->slope_variance);
  s.z = z[begin];
  s.qop = qop;
  s.chi2 = 0.0f;
  return s;
}

/* Extrapolates to the next hit and updates both projections with it. */
static SL_DEVICE void filter_step(const struct fit_args *a, float x, float y, float z, struct fit_state *s) {
  const struct fit_material m = {a->scattering + scattering_by_foil(a, x, y), a->lever, a->lever_covariance,
                                 a->energy_loss};
  struct fit_hit hit = {x, z - s->z, a->hit_error * a->hit_error};
  step(a, &m, &hit, &s->x, s);
  hit.u = y;
  step(a, &m, &hit, &s->y, s);
  s->z = z;
}

static SL_DEVICE void move(struct fit_line *line, const struct fit_material *m, float dz, float noise) {
  line->u += line->t * dz;
  line->c_uu += dz * dz * line->c_tt + 2.0f * dz * line->c_ut + noise * dz * dz * (m->lever * m->lever);
  line->c_ut += dz * line->c_tt + noise * dz * m->lever_covariance;
  line->c_tt += noise;
}

/* Extrapolates to the point of closest approach to the beam line. */
static SL_DEVICE void move_to_beam(const struct fit_args *a, struct fit_state *s) {
  const struct fit_material m = {a->beam_scattering, a->beam_lever, a->beam_lever_covariance, a->beam_energy_loss};
  const float tx2 = s->x.t * s->x.t, ty2 = s->y.t * s->y.t, slope2 = tx2 + ty2;
  if (!(slope2 >= least_slope2)) return;
  const float n2 = 1.0f + slope2, n = sqrtf(n2);
  const float dz = ((a->geometry.beam[0] - s->x.u) * s->x.t + (a->geometry.beam[1] - s->y.u) * s->y.t) / slope2;
  const float noise = n2 * n * (s->qop * s->qop) * m.scattering;
  move(&s->x, &m, dz, (1.0f + tx2) * noise);
  move(&s->y, &m, dz, (1.0f + ty2) * noise);
  s->z += dz;
  s->qop = with_energy(a, s->qop, (dz < 0.0f ? m.energy_loss : -m.energy_loss) * n);
}

static SL_DEVICE float size_of(const struct fit_line *line) {
  return sl_abs_f32(line->u) + sl_abs_f32(line->t) + sl_abs_f32(line->c_uu) + sl_abs_f32(line->c_ut) +
         sl_abs_f32(line->c_tt);
}

/* Whether all numbers of the state are finite. */
static SL_DEVICE uint32_t is_fitted(const struct fit_state *s) {
  const float size = size_of(&s->x) + size_of(&s->y) + sl_abs_f32(s->z) + sl_abs_f32(s->qop) + sl_abs_f32(s->chi2);
  return sl_is_finite(size) ? 1u : 0u;
}

static SL_DEVICE void write_state(const struct fit_args *a, uint32_t i, const struct fit_state *s) {
  a->states.x[i] = s->x.u;
  a->states.y[i] = s->y.u;
  a->states.z[i] = s->z;
  a->states.tx[i] = s->x.t;
  a->states.ty[i] = s->y.t;
  a->states.qop[i] = s->qop;
  a->states.c00[i] = s->x.c_uu;
  a->states.c20[i] = s->x.c_ut;
  a->states.c22[i] = s->x.c_tt;
  a->states.c11[i] = s->y.c_uu;
  a->states.c31[i] = s->y.c_ut;
  a->states.c33[i] = s->y.c_tt;
  a->states.chi2[i] = s->chi2;
}

/* Range of a track's hits in the slice. */
struct fit_hits {
  uint32_t begin, end;
};

static SL_DEVICE struct fit_hits hits_of(const struct fit_args *a, uint32_t event, uint32_t track) {
  const uint32_t velo_track = a->velo_tracks.offsets[event] + a->tracks.velo_track[track];
  const struct fit_hits hits = {a->velo_tracks.hit_offsets[velo_track], a->velo_tracks.hit_offsets[velo_track + 1]};
  return hits;
}

/* Extrapolates `s` from the last hit to the beam line and writes it; zeros if there is no fit. */
static SL_DEVICE void finish_track(const struct fit_args *a, uint32_t i, const struct fit_hits *hits,
                                   struct fit_state s) {
  const struct fit_state none = {{0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}, 0, 0, 0};
  uint32_t ndof = 0;
  if (hits->end >= hits->begin + 2) move_to_beam(a, &s);
  if (hits->end >= hits->begin + 2 && is_fitted(&s)) {
    ndof = 2 * (hits->end - hits->begin) - 4;
  } else {
    s = none;
  }
  write_state(a, i, &s);
  a->states.ndof[i] = ndof;
}

#if defined(SL_TARGET_CPU)
enum { LANES = 8 };

/* struct fit_state of LANES tracks, as arrays. */
struct fit_lanes {
  float x_u[LANES], x_t[LANES], x_uu[LANES], x_ut[LANES], x_tt[LANES];
  float y_u[LANES], y_t[LANES], y_uu[LANES], y_ut[LANES], y_tt[LANES];
  float z[LANES], qop[LANES], chi2[LANES];
};

static struct fit_state state_in_lane(const struct fit_lanes *l, uint32_t j) {
  const struct fit_state s = {{l->x_u[j], l->x_t[j], l->x_uu[j], l->x_ut[j], l->x_tt[j]},
                              {l->y_u[j], l->y_t[j], l->y_uu[j], l->y_ut[j], l->y_tt[j]},
                              l->z[j],
                              l->qop[j],
                              l->chi2[j]};
  return s;
}

static void set_lane(struct fit_lanes *l, uint32_t j, const struct fit_state *s) {
  l->x_u[j] = s->x.u;
  l->x_t[j] = s->x.t;
  l->x_uu[j] = s->x.c_uu;
  l->x_ut[j] = s->x.c_ut;
  l->x_tt[j] = s->x.c_tt;
  l->y_u[j] = s->y.u;
  l->y_t[j] = s->y.t;
  l->y_uu[j] = s->y.c_uu;
  l->y_ut[j] = s->y.c_ut;
  l->y_tt[j] = s->y.c_tt;
  l->z[j] = s->z;
  l->qop[j] = s->qop;
  l->chi2[j] = s->chi2;
}

static float choose(uint32_t first, float a, float b) { return first ? a : b; }

/* The new state `s` if there is a hit, otherwise the previous state. */
static struct fit_state next_or_before(uint32_t has_hit, const struct fit_state *s, const struct fit_state *before) {
  const struct fit_state chosen = {
      {choose(has_hit, s->x.u, before->x.u), choose(has_hit, s->x.t, before->x.t),
       choose(has_hit, s->x.c_uu, before->x.c_uu), choose(has_hit, s->x.c_ut, before->x.c_ut),
       choose(has_hit, s->x.c_tt, before->x.c_tt)},
      {choose(has_hit, s->y.u, before->y.u), choose(has_hit, s->y.t, before->y.t),
       choose(has_hit, s->y.c_uu, before->y.c_uu), choose(has_hit, s->y.c_ut, before->y.c_ut),
       choose(has_hit, s->y.c_tt, before->y.c_tt)},
      choose(has_hit, s->z, before->z),
      choose(has_hit, s->qop, before->qop),
      choose(has_hit, s->chi2, before->chi2)};
  return chosen;
}

/* Advances each track to its next hit, if it has one. */
static void step_lanes(const struct fit_args *a, const float *restrict x, const float *restrict y,
                       const float *restrict z, const uint32_t *restrict has_hit, struct fit_lanes *restrict l) {
  const struct fit_args local = *a;
  for (uint32_t j = 0; j < LANES; j++) {
    const struct fit_state before = state_in_lane(l, j);
    struct fit_state s = before;
    filter_step(&local, x[j], y[j], z[j], &s);
    s = next_or_before(has_hit[j], &s, &before);
    set_lane(l, j, &s);
  }
}

/* Fits `count` tracks, at most LANES, from track `first`. A track without further hits reads its first hit (or the
 * first hit of the slice) again, and the result is discarded. */
static void fit_tracks(const struct fit_args *a, uint32_t event, uint32_t first, uint32_t count) {
  const float *restrict x = a->velo_tracks.hit_x, *restrict y = a->velo_tracks.hit_y,
                        *restrict z = a->velo_tracks.hit_z;
  struct fit_hits hits[LANES];
  struct fit_lanes lanes;
  uint32_t begin[LANES] = {0}, hit_count[LANES] = {0}, most = 0;
  memset(&lanes, 0, sizeof lanes);
  for (uint32_t j = 0; j < count; j++) {
    hits[j] = hits_of(a, event, first + j);
    if (hits[j].end < hits[j].begin + 2) continue;
    const struct fit_state s = filter_begin(a, hits[j].begin, hits[j].end, a->tracks.qop[first + j]);
    set_lane(&lanes, j, &s);
    begin[j] = hits[j].begin;
    hit_count[j] = hits[j].end - hits[j].begin;
    most = hit_count[j] > most ? hit_count[j] : most;
  }
  for (uint32_t n = 1; n < most; n++) {
    float hit_x[LANES], hit_y[LANES], hit_z[LANES];
    uint32_t has_hit[LANES];
    for (uint32_t j = 0; j < LANES; j++) {
      has_hit[j] = n < hit_count[j] ? 1 : 0;
      const uint32_t i = begin[j] + (has_hit[j] ? n : 0);
      hit_x[j] = x[i];
      hit_y[j] = y[i];
      hit_z[j] = z[i];
    }
    step_lanes(a, hit_x, hit_y, hit_z, has_hit, &lanes);
  }
  for (uint32_t j = 0; j < count; j++) finish_track(a, first + j, &hits[j], state_in_lane(&lanes, j));
}

SL_KERNEL(fit_states, struct fit_args) {
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t end = a.tracks.offsets[event + 1];
    for (uint32_t i = a.tracks.offsets[event]; i < end; i += LANES)
      fit_tracks(&a, event, i, end - i < LANES ? end - i : LANES);
  }
}
#else
static SL_DEVICE void fit_track(const struct fit_args *a, uint32_t i, const struct fit_hits *hits) {
  const float *x = a->velo_tracks.hit_x, *y = a->velo_tracks.hit_y, *z = a->velo_tracks.hit_z;
  struct fit_state s = {{0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}, 0, 0, 0};
  if (hits->end >= hits->begin + 2) s = filter_begin(a, hits->begin, hits->end, a->tracks.qop[i]);
  for (uint32_t k = hits->begin + 1; k < hits->end; k++) filter_step(a, x[k], y[k], z[k], &s);
  finish_track(a, i, hits, s);
}

SL_KERNEL(fit_states, struct fit_args) {
  SL_FOR_EVENTS (event, a.events) {
    for (uint32_t i = a.tracks.offsets[event] + threadIdx.x; i < a.tracks.offsets[event + 1]; i += blockDim.x) {
      const struct fit_hits hits = hits_of(&a, event, i);
      fit_track(&a, i, &hits);
    }
  }
}
#endif

static int run(const struct sl_launch *l, const struct fit_args *a) {
  return SL_LAUNCH(l, fit_states, SL_PER_EVENT, *a);
}

SL_ALGORITHM(fit, "fits long tracks to their VELO hits, with their momentum; gives states at the beam line", 64, run);
