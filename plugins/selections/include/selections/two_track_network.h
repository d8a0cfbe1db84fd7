/* two_track_network.h: the inputs of the network that separates two-track vertices of heavy-hadron decays from
 * background (README.md, "Two-track network"). For kernels and host code. */
#ifndef SELECTIONS_TWO_TRACK_NETWORK_H
#define SELECTIONS_TWO_TRACK_NETWORK_H

#include "selections/event_model.h"

#include <sluice/math.h>

#define TWO_TRACK_INPUTS(I) \
  I(log_fd_chi2)            \
  I(sum_pt) /* GeV */       \
  I(chi2)                   \
  I(log_min_ip_chi2)
#define TWO_TRACK_INPUT_(name) TWO_TRACK_INPUT_##name,
enum { TWO_TRACK_INPUTS(TWO_TRACK_INPUT_) TWO_TRACK_INPUT_COUNT };

/* Quantities of a secondary vertex that the network uses. */
struct two_track_vertex {
  float fd_chi2, sum_pt, chi2, min_ip_chi2; /* MeV */
};

SL_MATH_FUNCTION void two_track_inputs(const struct two_track_vertex *v, float *inputs) {
  const float least_chi2 = 1e-10f, mev_per_gev = 1000.0f;
  inputs[TWO_TRACK_INPUT_log_fd_chi2] = sl_logf(v->fd_chi2); /* NaN below 0, minus infinity at 0 */
  inputs[TWO_TRACK_INPUT_sum_pt] = v->sum_pt / mev_per_gev;
  inputs[TWO_TRACK_INPUT_chi2] = sl_max_f32(v->chi2, least_chi2);
  inputs[TWO_TRACK_INPUT_log_min_ip_chi2] = sl_logf(v->min_ip_chi2);
}

#endif
