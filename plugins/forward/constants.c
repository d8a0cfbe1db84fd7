/* forward.constants: coefficients of forward_math.h for tracks in the magnet and the fibre tracker. They depend on the
 * field. Source: the nominal calibration, a calibration file, or a folder of LHCb's files.
 */
#include "calibration/formula.h"
#include "calibration/read.h"
#include "forward/event_model.h"

#include <stdlib.h>

#define SL_ARGS constants_args
#define CONSTANTS(M)                                                                           \
  M(FILE_IN, path, "", "", "folder of LHCb's files; or a calibration; empty: the nominal one") \
  M(OUT, forward, forward_constants, "coefficients and constants")
SL_HOST_ARGUMENTS(constants, CONSTANTS);

/* Terms as in formula.h. */
static const uint16_t y_terms[FORWARD_Y_TERMS] = {111, 131, 113, 151, 133, 115, 201, 221, 203,
                                                  241, 223, 205, 311, 331, 313, 351, 333, 315};
static const uint16_t bend_terms[FORWARD_BEND_TERMS] = {
    0,   20,  40,  60,  2,   22,  42,  4,   24,  5,   6,                  /* by power of the change of direction: 0 */
    100, 102, 104, 106, 110, 130, 150, 170, 112, 132, 152, 114, 134, 116, /* 1 */
    200, 220, 240, 260, 202, 222, 242, 204, 224, 205, 206,                /* 2 */
    300, 302, 304, 306, 310, 330, 350, 370, 312, 332, 352, 314, 334, 316, /* 3 */
    400, 420, 440, 460, 402, 422, 442, 404, 424, 405, 406};               /* 4 */
static const uint16_t border_terms[FORWARD_BORDER_TERMS] = {100, 110, 120, 102, 112, 122, 210, 300};
static const uint16_t single_terms[] = {0, 100, 200, 300}; /* terms of one variable */

static void take_numbers(const double *from, uint32_t count, float *to) {
  for (uint32_t i = 0; i < count; i++) to[i] = (float)from[i];
}

static void take_constants(const struct calibration *c, float *to) {
  to[FORWARD_Z_UT] = (float)c->forward_z_ut;
  to[FORWARD_Z_MAGNET] = (float)c->forward_z_magnet;
  to[FORWARD_Z_REFERENCE] = (float)c->scifi_z_reference;
  to[FORWARD_Z_END] = (float)c->scifi_z_end;
  to[FORWARD_DZDY] = (float)c->scifi_dzdy;
  take_numbers(c->forward_x_window, 3, to + FORWARD_X_WINDOW);
  take_numbers(c->forward_x_range, 2, to + FORWARD_X_RANGE);
  to[FORWARD_X_RANGE_QOP] = (float)c->forward_x_range_qop;
  take_numbers(c->forward_sagitta, 2, to + FORWARD_SAGITTA);
}

static int take_formulas(const struct sl_services *s, const struct calibration *c, float *kick, float *y_shift,
                         float *bend, float *constants) {
  uint16_t kick_terms[FORWARD_KICK_TERMS];
  for (uint32_t k = 0; k < FORWARD_KICK_TERMS; k++)
    kick_terms[k] = (uint16_t)(100 * (k / FORWARD_KICK_POWERS) + 10 * (k % FORWARD_KICK_POWERS));
  const struct calibration_formula formulas[] = {
      {"forward.kick", c->forward_kick, SCIFI_STATIONS, 3, FORWARD_KICK_TERMS, kick_terms, kick},
      {"forward.y", c->forward_y, SCIFI_LAYERS, 3, FORWARD_Y_TERMS, y_terms, y_shift},
      {"forward.bend", c->forward_bend, 1, 3, FORWARD_BEND_TERMS, bend_terms, bend},
      {"forward.x_magnet", c->forward_x_magnet, 1, 3, 4, single_terms, constants + FORWARD_X_MAGNET},
      {"forward.d_ratio", c->forward_d_ratio, 1, 3, 3, single_terms, constants + FORWARD_D_RATIO},
      {"forward.border", c->forward_border, 1, 3, FORWARD_BORDER_TERMS, border_terms, constants + FORWARD_BORDER}};
  return calibration_take_formulas(s, formulas, sizeof formulas / sizeof formulas[0]);
}

static int make(const struct sl_services *s, const struct constants_args *args) {
  float *z_layer = s->make_array(s->context, "forward", "z_layer", SCIFI_LAYERS);
  float *dxdy = s->make_array(s->context, "forward", "dxdy", SCIFI_LAYERS);
  float *kick = s->make_array(s->context, "forward", "kick", SCIFI_STATIONS * FORWARD_KICK_TERMS);
  float *y_shift = s->make_array(s->context, "forward", "y_shift", SCIFI_LAYERS * FORWARD_Y_TERMS);
  float *bend = s->make_array(s->context, "forward", "bend", FORWARD_BEND_TERMS);
  float *constants = s->make_array(s->context, "forward", "constants", FORWARD_CONSTANTS);
  struct calibration *c = (struct calibration *)malloc(sizeof *c);
  int status = z_layer && dxdy && kick && y_shift && bend && constants && c ? SL_OK : SL_ENOMEM;
  if (status == SL_OK) status = calibration_load_path(s, args->path, c);
  if (status == SL_OK) {
    take_numbers(c->forward_z_layer, SCIFI_LAYERS, z_layer);
    take_numbers(c->scifi_dxdy, SCIFI_LAYERS, dxdy);
    take_constants(c, constants);
    status = take_formulas(s, c, kick, y_shift, bend, constants);
  }
  free(c);
  return status;
}

SL_CONSTANT(constants, "constants of the forward tracking: nominal, from a calibration, or LHCb's", make);
