/* score_network.h: chi2 of the hits of a muon, and the inputs of the network that gives the probability that a track
 * with these hits is a muon (README.md, "Chi2" and "The network"). For kernels and host code.
 *
 * Loops have one iteration per station; a station without a hit has residual 0, variance 1 and no covariance, so that
 * it adds nothing. The order of all sums is fixed.
 */
#ifndef MUON_SCORE_NETWORK_H
#define MUON_SCORE_NETWORK_H

#include "forward/event_model.h"
#include "muon/event_model.h"
#include "velo/event_model.h"

#define MUON_SCORE_INPUTS(I)                                                                   \
  I(log_chi2_correlated)   /* log10 of chi2 per hit with correlated multiple scattering */     \
  I(log_chi2_uncorrelated) /* log10 of chi2 per hit without multiple scattering */             \
  I(log_dtx)               /* ln of the change of dx/dz from the SciFi to the muon chambers */ \
  I(log_dty)               /* ln of the change of dy/dz from the SciFi to the muon chambers */ \
  I(log_dty_velo)          /* ln of the change of dy/dz from the end of the VELO to the muon chambers */
#define MUON_SCORE_INPUT_(name) MUON_SCORE_INPUT_##name,
enum { MUON_SCORE_INPUTS(MUON_SCORE_INPUT_) MUON_SCORE_INPUT_COUNT };

/* A long track and its hits: `has[s]` is 1 if station s has one. */
struct muon_score_track {
  float qop, x, y, tx, ty;
  float velo_ty; /* dy/dz at the end of the VELO */
  uint32_t hit_count, has[MUON_STATIONS];
  float z[MUON_STATIONS], hit_x[MUON_STATIONS], hit_y[MUON_STATIONS], half_x[MUON_STATIONS], half_y[MUON_STATIONS];
};

/* Long track `i` of the slice with its hits. `end_states`: of the VELO tracks at the end of the VELO. */
SL_MATH_FUNCTION struct muon_score_track muon_score_track_at(const struct long_tracks_view *tracks,
                                                             const struct muon_hits_view *hits,
                                                             const struct muon_flags_view *flags,
                                                             const struct track_states_view *end_states, uint32_t event,
                                                             uint32_t i) {
  struct muon_score_track t;
  t.qop = tracks->qop[i];
  t.x = tracks->x[i];
  t.y = tracks->y[i];
  t.tx = tracks->tx[i];
  t.ty = tracks->ty[i];
  t.velo_ty = end_states->ty[end_states->offsets[event] + tracks->velo_track[i]];
  t.hit_count = 0;
  for (uint32_t s = 0; s < MUON_STATIONS; s++) {
    const uint32_t link = flags->hits[(size_t)MUON_STATIONS * i + s], has = link != MUON_NO_HIT ? 1u : 0u;
    const uint32_t hit = hits->offsets[event] + link;
    t.has[s] = has;
    t.hit_count += has;
    t.z[s] = has ? hits->z[hit] : 0.0f;
    t.hit_x[s] = has ? hits->x[hit] : 0.0f;
    t.hit_y[s] = has ? hits->y[hit] : 0.0f;
    t.half_x[s] = has ? hits->half_x[hit] : 1.0f;
    t.half_y[s] = has ? hits->half_y[hit] : 1.0f;
  }
  return t;
}

/* Logarithm of x, at least that of `least`; NaN for NaN. */
SL_MATH_FUNCTION float muon_score_log(float x, float least) { return sl_logf(x < least ? least : x); }

/* Covariances of positions at the stations by multiple scattering at the absorbers upstream of both, lower triangle. */
SL_MATH_FUNCTION void muon_scattering(const struct muon_score_track *t, float covariance[][MUON_STATIONS]) {
  enum { ABSORBERS = 5 };
  /* ECAL, HCAL, and the iron between the stations: z in mm, thickness in radiation lengths. The values are those of
   * LHCb's trigger. */
  const float z[ABSORBERS] = {12800.0f, 14300.0f, 15800.0f, 17100.0f, 18300.0f};
  const float thickness[ABSORBERS] = {28.0f, 53.0f, 47.5f, 47.5f, 47.5f};
  const float angle = 13.6f * t->qop, angle2 = angle * angle; /* of one radiation length; q/p in 1/MeV */
  for (uint32_t j = 0; j < MUON_STATIONS; j++) {
    for (uint32_t k = 0; k <= j; k++) {
      float sum = 0.0f;
      for (uint32_t a = 0; a < ABSORBERS; a++) {
        const float dj = t->z[j] - z[a], dk = t->z[k] - z[a];
        sum += dj > 0.0f && dk > 0.0f ? thickness[a] * dj * dk : 0.0f;
      }
      covariance[j][k] = angle2 * sum;
    }
  }
}

/* chi2 = d^T C^-1 d of the residuals d, with C = covariance + diag(half^2 / 12): with the Cholesky decomposition
 * C = L L^T and L u = d it is |u|^2. */
SL_MATH_FUNCTION float muon_chi2(const uint32_t *is_used, const float *d, const float *half,
                                 float covariance[][MUON_STATIONS]) {
  float l[MUON_STATIONS][MUON_STATIONS], u[MUON_STATIONS], sum = 0.0f;
  for (uint32_t j = 0; j < MUON_STATIONS; j++) {
    float rest = is_used[j] ? d[j] : 0.0f;
    float variance = is_used[j] ? covariance[j][j] + half[j] * half[j] / 12.0f : 1.0f;
    for (uint32_t k = 0; k < j; k++) {
      float c = is_used[j] && is_used[k] ? covariance[j][k] : 0.0f;
      for (uint32_t i = 0; i < k; i++) c = fmaf(-l[j][i], l[k][i], c);
      l[j][k] = c / l[k][k];
      variance = fmaf(-l[j][k], l[j][k], variance);
      rest = fmaf(-l[j][k], u[k], rest);
    }
    l[j][j] = sl_sqrtf(variance);
    u[j] = rest / l[j][j];
    sum = fmaf(u[j], u[j], sum);
  }
  return sum;
}

/* chi2 with independent errors. */
SL_MATH_FUNCTION float muon_chi2_uncorrelated(const uint32_t *is_used, const float *d, const float *half) {
  float sum = 0.0f;
  for (uint32_t j = 0; j < MUON_STATIONS; j++) {
    const float pull = is_used[j] ? d[j] / half[j] : 0.0f;
    sum = fmaf(12.0f * pull, pull, sum);
  }
  return sum;
}

/* Slope of the straight line through the hits, with the half-widths as errors; needs two hits. */
SL_MATH_FUNCTION float muon_stub_slope(const struct muon_score_track *t, const float *u, const float *half) {
  float weights[MUON_STATIONS], sum_w = 0.0f, sum_z = 0.0f, sum_u = 0.0f, numerator = 0.0f, denominator = 0.0f;
  for (uint32_t s = 0; s < MUON_STATIONS; s++) {
    weights[s] = t->has[s] ? 1.0f / (half[s] * half[s]) : 0.0f;
    sum_w += weights[s];
    sum_z = fmaf(weights[s], t->z[s], sum_z);
    sum_u = fmaf(weights[s], u[s], sum_u);
  }
  const float mean_z = sum_z / sum_w, mean_u = sum_u / sum_w;
  for (uint32_t s = 0; s < MUON_STATIONS; s++) {
    const float dz = t->z[s] - mean_z;
    numerator = fmaf(weights[s] * dz, u[s] - mean_u, numerator);
    denominator = fmaf(weights[s] * dz, dz, denominator);
  }
  return numerator / denominator;
}

/* Computes the inputs. Returns 1, or 0 if there are fewer than two hits or if an input is not finite. */
SL_MATH_FUNCTION uint32_t muon_score_inputs(const struct muon_score_track *t, float *inputs) {
  const float all_hits_p = 6000.0f; /* MeV: chi2 of tracks above it is of all hits, else of the first two */
  const float log10_e = 0.4342944819f, least_chi2 = 1e-6f, least_slope = 1e-10f;
  const uint32_t all_hits = 1.0f / sl_abs_f32(t->qop) > all_hits_p ? 1u : 0u;
  float dx[MUON_STATIONS], dy[MUON_STATIONS], covariance[MUON_STATIONS][MUON_STATIONS];
  uint32_t is_used[MUON_STATIONS], used = 0;
  if (t->hit_count < 2) return 0;
  for (uint32_t s = 0; s < MUON_STATIONS; s++) {
    const float dz = t->z[s] - MUON_TRACK_Z;
    dx[s] = t->hit_x[s] - (t->x + t->tx * dz);
    dy[s] = t->hit_y[s] - (t->y + t->ty * dz);
    is_used[s] = t->has[s] && (all_hits || used < 2) ? 1u : 0u;
    used += is_used[s];
  }
  muon_scattering(t, covariance);
  const float hits = (float)used;
  const float correlated =
      (muon_chi2(is_used, dx, t->half_x, covariance) + muon_chi2(is_used, dy, t->half_y, covariance)) / hits;
  const float uncorrelated =
      (muon_chi2_uncorrelated(is_used, dx, t->half_x) + muon_chi2_uncorrelated(is_used, dy, t->half_y)) / hits;
  const float tx = muon_stub_slope(t, t->hit_x, t->half_x), ty = muon_stub_slope(t, t->hit_y, t->half_y);
  inputs[MUON_SCORE_INPUT_log_chi2_correlated] = log10_e * muon_score_log(correlated, least_chi2);
  inputs[MUON_SCORE_INPUT_log_chi2_uncorrelated] = log10_e * muon_score_log(uncorrelated, least_chi2);
  inputs[MUON_SCORE_INPUT_log_dtx] = muon_score_log(sl_abs_f32(tx - t->tx), least_slope);
  inputs[MUON_SCORE_INPUT_log_dty] = muon_score_log(sl_abs_f32(ty - t->ty), least_slope);
  inputs[MUON_SCORE_INPUT_log_dty_velo] = muon_score_log(sl_abs_f32(ty - t->velo_ty), least_slope);
  for (uint32_t i = 0; i < MUON_SCORE_INPUT_COUNT; i++)
    if (!sl_is_finite(inputs[i])) return 0;
  return 1;
}

#endif
