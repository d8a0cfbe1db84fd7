/* kalman_filter.cu: states of VELO tracks at the beam line and at the end of the VELO (spec velo_pv.md A.7).
 *
 * A simplified Kalman filter: x and y are fitted independently, each as position and slope, with the same noise for
 * multiple scattering at each layer; hence their covariances are equal and are computed once. The fit for the state at
 * the beam line runs towards the beam, the one for the end state away from it, with the slopes found by the first. The
 * update of the covariance is the form without cancellation; the textbook's is useless in float32.
 *
 * One thread a track: some 240 an event, 6 hits each, which it reads twice (12 bytes each); writes 90 bytes. Tracks
 * don't depend on each other.
 */
#include "kalman_filter.h"

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
static SL_DEVICE struct kalman_state fit(const struct kalman_filter_args *a, uint32_t first, int32_t stride,
                                         uint32_t count, float tx, float ty) {
  const float noise = a->noise + a->noise_per_slope2 * (tx * tx + ty * ty);
  struct kalman_state s;
  s.x = a->tracks.hit_x[first];
  s.y = a->tracks.hit_y[first];
  s.z = a->tracks.hit_z[first];
  s.tx = tx;
  s.ty = ty;
  s.c_xx = KALMAN_HIT_VARIANCE;
  s.c_xt = 0.0f;
  s.c_tt = 1.0f;
  uint32_t hit = first;
  for (uint32_t i = 1; i < count; i++) {
    hit += (uint32_t)stride;
    step(&s, noise, a->tracks.hit_x[hit], a->tracks.hit_y[hit], a->tracks.hit_z[hit]);
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

/* Both collections of states have the same fields. */
#define STORE(states, i, s, is_backward) \
  do {                                   \
    (states).x[i] = (s).x;               \
    (states).y[i] = (s).y;               \
    (states).z[i] = (s).z;               \
    (states).tx[i] = (s).tx;             \
    (states).ty[i] = (s).ty;             \
    (states).c00[i] = (s).c_xx;          \
    (states).c20[i] = (s).c_xt;          \
    (states).c22[i] = (s).c_tt;          \
    (states).c11[i] = (s).c_xx;          \
    (states).c31[i] = (s).c_xt;          \
    (states).c33[i] = (s).c_tt;          \
    (states).backward[i] = is_backward;  \
  } while (0)

static SL_DEVICE void fit_track(const struct kalman_filter_args *a, uint32_t track) {
  const uint32_t first = a->tracks.hit_offsets[track], count = a->tracks.hit_offsets[track + 1] - first;
  if (count == 0) return; /* no such track comes from consolidation */
  const uint32_t last = first + count - 1;
  const float dz = a->tracks.hit_z[last] - a->tracks.hit_z[first];
  const float tx = dz == 0.0f ? 0.0f : (a->tracks.hit_x[last] - a->tracks.hit_x[first]) / dz;
  const float ty = dz == 0.0f ? 0.0f : (a->tracks.hit_y[last] - a->tracks.hit_y[first]) / dz;
  const float to_beam = distance_to_beam(a->geometry.beam, a->tracks.hit_x[last], a->tracks.hit_y[last], tx, ty);
  const uint8_t backward = a->tracks.hit_z[last] + to_beam > a->tracks.hit_z[first];
  struct kalman_state s = backward ? fit(a, last, -1, count, tx, ty) : fit(a, first, 1, count, tx, ty);
  propagate(&s, distance_to_beam(a->geometry.beam, s.x, s.y, s.tx, s.ty));
  STORE(a->beamline_states, track, s, backward);
  s = backward ? fit(a, first, 1, count, s.tx, s.ty) : fit(a, last, -1, count, s.tx, s.ty);
  propagate(&s, KALMAN_END_Z - s.z);
  STORE(a->end_states, track, s, backward);
}

SL_KERNEL(kalman_filter_fit, struct kalman_filter_args) {
  SL_FOR_ITEMS (track, a.events, a.tracks.offsets) fit_track(&a, track);
}

static int run(const struct sl_launch *l, const struct kalman_filter_args *a) {
  return SL_LAUNCH(l, kalman_filter_fit, SL_PER_ITEM(a->tracks), *a);
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
    SL_TUNED_SCRATCH(order, u32, "an event's tracks by length, for the CPU", SL_ONE(SL_ITEMS_TERM(tracks))),
};
SL_ALGORITHM(kalman_filter, "states of VELO tracks at the beam line and at the end of the VELO", 256, run,
             SL_TUNED(KALMAN_FILTER_TUNED));
