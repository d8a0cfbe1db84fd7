/* electron_network.h: the inputs of the network that identifies electrons (README.md, "Electrons"). For kernels and
 * host code. */
#ifndef CALO_ELECTRON_NETWORK_H
#define CALO_ELECTRON_NETWORK_H

#include <sluice/math.h>

/* The logarithms are those of the fields of calo_electrons without `log_`; of the covariance its magnitude. */
#define CALO_ELECTRON_INPUTS(I) \
  I(e_over_p)                   \
  I(e_over_p_3x3)               \
  I(log_distance2)              \
  I(log_variance_x)             \
  I(log_variance_y)             \
  I(log_covariance)
#define CALO_ELECTRON_INPUT_(name) CALO_ELECTRON_INPUT_##name,
enum { CALO_ELECTRON_INPUTS(CALO_ELECTRON_INPUT_) CALO_ELECTRON_INPUT_COUNT };

/* The fields of calo_electrons with these names, of a track. */
struct calo_electron_track {
  float e_over_p, e_over_p_3x3, distance2, variance_x, variance_y, covariance;
};

/* Logarithm of the magnitude; of less than 1e-10 that of 1e-10. */
SL_MATH_FUNCTION float calo_electron_log(float x) { return sl_logf(sl_max_f32(sl_abs_f32(x), 1e-10f)); }

SL_MATH_FUNCTION void calo_electron_inputs(const struct calo_electron_track *t, float *inputs) {
  inputs[CALO_ELECTRON_INPUT_e_over_p] = t->e_over_p;
  inputs[CALO_ELECTRON_INPUT_e_over_p_3x3] = t->e_over_p_3x3;
  inputs[CALO_ELECTRON_INPUT_log_distance2] = calo_electron_log(t->distance2);
  inputs[CALO_ELECTRON_INPUT_log_variance_x] = calo_electron_log(t->variance_x);
  inputs[CALO_ELECTRON_INPUT_log_variance_y] = calo_electron_log(t->variance_y);
  inputs[CALO_ELECTRON_INPUT_log_covariance] = calo_electron_log(t->covariance);
}

#endif
