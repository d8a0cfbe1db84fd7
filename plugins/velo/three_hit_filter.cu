/* three_hit_filter.cu: decides which track candidates are tracks (README.md, "Search by triplet").
 *
 * Accepts a candidate if it has at least four hits, or if it has three hits, none of them is on a longer track, and
 * straight lines x(z) and y(z) fitted by least squares have chi2 / ndf < max_chi2 (ndf = 2). Sums run over the hits in
 * order, with z relative to the middle hit, to keep precision in float32.
 * Parallelism: one thread per candidate; about 250 per event, 50 of them with three hits.
 */
#include "velo/event_model.h"

#include <sluice/kernel.h>

/* 1 / sigma^2 of a hit in x and in y, in 1 / mm^2: sigma is 12.5 um. */
#define HIT_WEIGHT 6400.0f

#define SL_ARGS three_hit_filter_args
#define THREE_HIT_FILTER(M)                                                                                    \
  M(IN, candidates, velo_track_candidates, "", "track candidates of the search")                               \
  M(IN, used, velo_used_hits, "flag", "hits on tracks of four or more hits, from the search")                  \
  M(IN, hits, velo_hits, "offsets x y z", "hits of the search")                                                \
  M(OUT, accepted, velo_accepted, "one flag per candidate: 1 if it is a track", SL_SHARES_OFFSETS(candidates)) \
  M(F32, max_chi2, 20.0, 0.0, 1e9, "", "upper limit of chi2 / ndf of a straight line fitted to three hits")
SL_ARGUMENTS(three_hit_filter, THREE_HIT_FILTER);

/* Sum of the squared distances of three points (z, value) from the line fitted to them. */
static SL_DEVICE float line_residuals(const float *z, const float *value) {
  float sum_z = 0.0f, sum_zz = 0.0f, sum_v = 0.0f, sum_vz = 0.0f, residuals = 0.0f;
  for (uint32_t i = 0; i < 3; i++) {
    sum_z += z[i];
    sum_zz += z[i] * z[i];
    sum_v += value[i];
    sum_vz += value[i] * z[i];
  }
  const float determinant = sum_zz * 3.0f - sum_z * sum_z;
  const float slope = (sum_vz * 3.0f - sum_v * sum_z) / determinant;
  const float intercept = (sum_v * sum_zz - sum_vz * sum_z) / determinant;
  for (uint32_t i = 0; i < 3; i++) {
    const float distance = intercept + slope * z[i] - value[i];
    residuals += distance * distance;
  }
  return residuals;
}

static SL_DEVICE uint32_t is_track(const struct three_hit_filter_args *a, uint32_t candidate, uint32_t first_hit) {
  if (a->candidates.hit_count[candidate] > 3) return 1;
  const uint16_t *hits = a->candidates.hits + (size_t)VELO_MAX_HITS_PER_TRACK * candidate;
  float x[3], y[3], z[3];
  uint32_t used = 0;
  for (uint32_t i = 0; i < 3; i++) {
    used |= a->used.flag[first_hit + hits[i]];
    x[i] = a->hits.x[first_hit + hits[i]];
    y[i] = a->hits.y[first_hit + hits[i]];
    z[i] = a->hits.z[first_hit + hits[i]] - a->hits.z[first_hit + hits[1]];
  }
  if (used) return 0;
  const float chi2 = HIT_WEIGHT * (line_residuals(z, x) + line_residuals(z, y));
  return chi2 / 2.0f < a->max_chi2;
}

SL_KERNEL(three_hit_filter_decide, struct three_hit_filter_args) {
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t end = a.candidates.offsets[event + 1];
    for (uint32_t i = a.candidates.offsets[event] + threadIdx.x; i < end; i += blockDim.x)
      a.accepted.flag[i] = (uint8_t)is_track(&a, i, a.hits.offsets[event]);
  }
}

static int run(const struct sl_launch *l, const struct three_hit_filter_args *a) {
  return SL_LAUNCH(l, three_hit_filter_decide, SL_PER_EVENT, *a);
}

SL_ALGORITHM(three_hit_filter, "rejects three-hit VELO tracks that are not straight or share hits with longer tracks",
             128, run);
