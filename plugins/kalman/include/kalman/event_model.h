/* event_model.h: collections of the kalman plugin. Lengths in mm, momenta in MeV. README.md has the formulas. */
#ifndef KALMAN_EVENT_MODEL_H
#define KALMAN_EVENT_MODEL_H

#include "kalman/transport.h"

#include <sluice/plugin.h>

/* Sizes of the arrays of `kalman_constants`. */
enum {
  KALMAN_LEG_SCALES = 7, /* members of struct kalman_leg_scales */
  KALMAN_LEG_NOISES = 3, /* sums over the scatterers of a leg: k, k l, k l^2 */
  KALMAN_SIZES = 9       /* cluster sizes of the SciFi: pseudo_size of scifi_hits */
};

#define KALMAN_CONSTANTS_FIELDS(F)                                                                                  \
  F(scales, f32, ARRAY, "", "numbers of struct kalman_leg_scales (transport.h) of each of 16 legs: 16 x 7")         \
  F(coefficients, f32, ARRAY, "", "coefficients of struct kalman_polynomials (transport.h)")                        \
  F(plane_z, f32, ARRAY, "mm", "z of the 17 planes")                                                                \
  F(noise, f32, ARRAY, "",                                                                                          \
    "sums of k, k l and k l^2 over the scatterers of each leg: 16 x 3; k = X0 (1 + 0.038 ln X0)^2, l: distance to " \
    "the end of the leg in mm")                                                                                     \
  F(energy_loss, f32, ARRAY, "MeV", "energy loss from the end of the VELO to the middle of each leg, 16 values")    \
  F(ut_variance, f32, ARRAY, "", "variance of a UT hit in units of pitch^2 / 12; one value")                        \
  F(scifi_variance, f32, ARRAY, "mm2", "variance of a SciFi hit by pseudo_size of scifi_hits, 9 values")
SL_COLLECTION(kalman_constants, KALMAN_CONSTANTS_FIELDS, "constants of the Kalman fit of long tracks");

/* Bits of `removed`: VELO hits by ascending z, then layers of the UT, then layers of the SciFi. */
enum { KALMAN_VELO_BITS = 48, KALMAN_UT_BIT = KALMAN_VELO_BITS, KALMAN_SCIFI_BIT = KALMAN_UT_BIT + KALMAN_UT_LAYERS };

/* Results of the fit besides the state at the beam line (long_states). A track without a fit has zeros. */
#define KALMAN_FITS_FIELDS(F)                                                                       \
  F(offsets, u32, OFFSETS, "", "index of the first track of an event")                              \
  F(c44, f32, PER_ITEM, "1/MeV2", "variance of q/p")                                                \
  F(velo_chi2, f32, PER_ITEM, "", "chi2 of the VELO hits")                                          \
  F(ut_chi2, f32, PER_ITEM, "", "chi2 of the UT hits")                                              \
  F(scifi_chi2, f32, PER_ITEM, "", "chi2 of the SciFi hits")                                        \
  F(velo_hits, u8, PER_ITEM, "", "VELO hits of the fit: 2 per hit - 4 degrees of freedom")          \
  F(ut_hits, u8, PER_ITEM, "", "UT hits of the fit: 1 per hit degrees of freedom")                  \
  F(scifi_hits, u8, PER_ITEM, "", "SciFi hits of the fit: 1 per hit - 1 degrees of freedom")        \
  F(removed, u64, PER_ITEM, "",                                                                     \
    "removed hits: bits 0 to 47: VELO by ascending z, 48 to 51: UT layers, 52 to 63: SciFi layers") \
  F(x, f32, PER_ITEM, "mm", "x in front of the ECAL")                                               \
  F(y, f32, PER_ITEM, "mm", "y in front of the ECAL")                                               \
  F(tx, f32, PER_ITEM, "", "slope dx/dz in front of the ECAL")                                      \
  F(ty, f32, PER_ITEM, "", "slope dy/dz in front of the ECAL")
SL_COLLECTION(kalman_fits, KALMAN_FITS_FIELDS, "Kalman fits of long tracks");

/* `layer` of a measurement: x and y of VELO hits; KALMAN_UT_LAYER + leg for the layer at the end of a leg. */
enum { KALMAN_VELO_X, KALMAN_VELO_Y, KALMAN_UT_LAYER };

#define KALMAN_RESIDUALS_FIELDS(F)                                                                              \
  F(offsets, u32, OFFSETS, "", "index of the first measurement of an event")                                    \
  F(track, u32, PER_ITEM, "", "index of the track in the event")                                                \
  F(layer, u8, PER_ITEM, "", "0: VELO x, 1: VELO y, 2 to 5: UT layers, 6 to 17: SciFi layers, by ascending z")  \
  F(is_removed, u8, PER_ITEM, "", "1 if the fit has removed the hit")                                           \
  F(residual, f32, PER_ITEM, "mm", "measured minus predicted x (VELO y: y), from the used hits with smaller z") \
  F(error, f32, PER_ITEM, "mm", "standard deviation of the residual: of measurement and prediction together")   \
  F(z, f32, PER_ITEM, "mm", "z of the hit; SciFi: of the fibre at the predicted y")
SL_COLLECTION(kalman_residuals, KALMAN_RESIDUALS_FIELDS, "residuals of the hits of Kalman fits");

#endif
