/* seeding.matching_constants: constants of the matching of VELO tracks and seeds (README.md, "Matching"). Source: the
 * nominal calibration, a calibration file, or a folder of LHCb's files.
 */
#include "calibration/formula.h"
#include "calibration/read.h"
#include "seeding/event_model.h"

#include <stdlib.h>

#define SL_ARGS matching_constants_args
#define MATCHING_CONSTANTS(M)                                                                  \
  M(FILE_IN, path, "", "", "folder of LHCb's files; or a calibration; empty: the nominal one") \
  M(OUT, matching, matching_constants, "coefficients, tolerances and requirements")
SL_HOST_ARGUMENTS(matching_constants, MATCHING_CONSTANTS);

/* Terms as in formula.h, in the order in which match_math.h adds them. */
static const uint16_t z_terms[MATCH_Z_TERMS] = {0, 100, 200, 10, 2};
static const uint16_t bend_terms[MATCH_BEND_TERMS] = {1000, 0, 200, 400, 110, 2, 4, 20};

/* mm. match_ut searches the group of sectors on the trajectory, two on each side, and further groups within reach. In
 * the UT geometry the next strips are 47 mm away; the slope of a track over the depth of a layer takes up to 7 of
 * these. */
static const double ut_half_width_max = 40;

static void take_numbers(const double *from, uint32_t count, float *to) {
  for (uint32_t i = 0; i < count; i++) to[i] = (float)from[i];
}

static int take_ut_window(const struct sl_services *s, const char *name, const double *window, float *to) {
  const double most = window[MATCH_UT_WINDOW - 1];
  take_numbers(window, MATCH_UT_WINDOW, to);
  if (most <= ut_half_width_max) return SL_OK;
  s->message(s->context, SL_ERROR, "matching.%s: %g mm exceeds the search range of %g mm", name, most,
             ut_half_width_max);
  return SL_EFORMAT;
}

static int take_ut(const struct sl_services *s, const struct calibration *c, float *to) {
  float *loose = to + MATCH_UT_LOOSE, *tight = to + MATCH_UT_TIGHT;
  const struct {
    const char *name;
    const double *window;
    float *to;
  } windows[] = {{"ut_loose.0", c->matching_ut_loose_0, loose},
                 {"ut_loose.1", c->matching_ut_loose_1, loose + MATCH_UT_WINDOW},
                 {"ut_loose.2", c->matching_ut_loose_2, loose + 2 * MATCH_UT_WINDOW},
                 {"ut_tight.1", c->matching_ut_tight_1, tight},
                 {"ut_tight.2", c->matching_ut_tight_2, tight + MATCH_UT_WINDOW},
                 {"ut_tight.3", c->matching_ut_tight_3, tight + 2 * MATCH_UT_WINDOW}};
  int status = SL_OK;
  take_numbers(c->matching_ut_bend, 2, to + MATCH_UT_BEND);
  to[MATCH_UT_Y_TOLERANCE] = (float)c->matching_ut_y_tolerance;
  for (size_t i = 0; i < sizeof windows / sizeof windows[0] && status == SL_OK; i++)
    status = take_ut_window(s, windows[i].name, windows[i].window, windows[i].to);
  return status;
}

static int take_weights(const struct sl_services *s, const double *weights, float *to) {
  take_numbers(weights, MATCH_WEIGHT_COUNT, to);
  for (uint32_t i = 0; i < MATCH_WEIGHT_COUNT; i++) {
    if (weights[i] >= 0) continue;
    s->message(s->context, SL_ERROR, "matching.weights: %g is negative, expected at least 0", weights[i]);
    return SL_EFORMAT;
  }
  return SL_OK;
}

static int take(const struct sl_services *s, const struct calibration *c, float *to) {
  const struct calibration_formula formulas[] = {
      {"matching.z_magnet", c->matching_z_magnet, 1, 3, MATCH_Z_TERMS, z_terms, to + MATCH_Z_MAGNET},
      {"matching.bend", c->matching_bend, 1, 4, MATCH_BEND_TERMS, bend_terms, to + MATCH_BEND}};
  to[MATCH_Z_END] = (float)c->scifi_z_end;
  to[MATCH_Z_Y] = (float)c->matching_z_y;
  to[MATCH_DTX_MAX] = (float)c->matching_dtx_max;
  to[MATCH_DTY_MAX] = (float)c->matching_dty_max;
  to[MATCH_DISTANCE_X_MAX] = (float)c->matching_distance_x_max;
  to[MATCH_DISTANCE_Y_MAX] = (float)c->matching_distance_y_max;
  take_numbers(c->matching_x_tolerance, 2, to + MATCH_X_TOLERANCE);
  take_numbers(c->matching_y_tolerance, 2, to + MATCH_Y_TOLERANCE);
  int status = take_weights(s, c->matching_weights, to + MATCH_WEIGHTS);
  if (status == SL_OK) status = take_ut(s, c, to);
  if (status < 0) return status;
  return calibration_take_formulas(s, formulas, sizeof formulas / sizeof formulas[0]);
}

static int make(const struct sl_services *s, const struct matching_constants_args *args) {
  float *constants = s->make_array(s->context, "matching", "constants", MATCH_CONSTANTS);
  struct calibration *c = (struct calibration *)malloc(sizeof *c);
  int status = constants && c ? SL_OK : SL_ENOMEM;
  if (status == SL_OK) status = calibration_load_path(s, args->path, c);
  if (status == SL_OK) status = take(s, c, constants);
  free(c);
  return status;
}

SL_CONSTANT(matching_constants, "constants of the matching: nominal, from a calibration, or LHCb's", make);
