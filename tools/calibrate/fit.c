/* fit.c: see fit.h. */
#include "fit.h"

#include <sluice/plugin.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fit_note(struct derivation *d, const char *name, const char *format, ...) {
  va_list arguments;
  if (d->note_count == FIT_NOTES) abort(); /* not reached: there are fewer names */
  struct fit_note *note = &d->notes[d->note_count++];
  snprintf(note->name, sizeof note->name, "%s", name);
  va_start(arguments, format);
  vsnprintf(note->text, sizeof note->text, format, arguments);
  va_end(arguments);
}

static void set_terms(const struct fit_terms *terms, uint32_t count, struct calibration_polynomial *p) {
  memset(p, 0, sizeof *p);
  p->count = count;
  for (uint32_t i = 0; i < count; i++) memcpy(p->terms[i].power, terms->powers[i], CALIBRATION_VARIABLES);
}

/* Half width of the residuals in units of the points' errors. */
static int residual(const struct points *points, const struct calibration_polynomial *p, double *result) {
  struct numbers left = {0};
  int status = SL_OK;
  for (size_t i = 0; i < points->count && status == SL_OK; i++) {
    const struct point *point = &points->at[i];
    const double found = point->factor * calibration_sum(p, point->variables);
    status = numbers_add(&left, point->weight * (point->target - found));
  }
  *result = width(&left);
  numbers_free(&left);
  return status;
}

int fit_polynomial(struct derivation *d, const char *name, const struct points *points, const struct fit_terms *terms,
                   struct calibration_polynomial *polynomial) {
  struct calibration_polynomial wider;
  double errors[CALIBRATION_TERMS], left = 0, worst = 0;
  set_terms(terms, terms->count, &wider);
  int status = least_squares(points, &wider, errors);
  for (uint32_t i = terms->allowed; i < terms->count && status == SL_OK; i++)
    worst = fmax(worst, fabs(wider.terms[i].coefficient) / errors[i]);
  set_terms(terms, terms->allowed, polynomial);
  if (status == SL_OK) status = least_squares(points, polynomial, NULL);
  if (status == SL_OK) status = residual(points, polynomial, &left);
  if (status < 0) {
    fprintf(stderr, "%s cannot be fitted to %zu points\n", name, points->count);
    return status;
  }
  d->worst_forbidden = fmax(d->worst_forbidden, worst);
  if (terms->count > terms->allowed) {
    fit_note(d, name, "%zu points, 68 %% within %.3g %s, forbidden terms 0 within %.1f errors", points->count, left,
             terms->unit, worst);
  } else {
    fit_note(d, name, "%zu points, 68 %% within %.3g %s", points->count, left, terms->unit);
  }
  return SL_OK;
}

int fit_points(struct derivation *d, int status, const char *name, struct points *points, const struct fit_terms *terms,
               struct calibration_polynomial *polynomial) {
  if (status == SL_OK) status = fit_polynomial(d, name, points, terms, polynomial);
  points_free(points);
  return status;
}

void derive_begin(struct calibration *c) {
  static const double discriminant_3[4] = {0.162880166064, -0.107081172665, 0.134153123662, -0.137764853657};
  static const double discriminant_4[4] = {0.235010729187, -0.0938323617311, 0.110823681145, -0.170467109599};
  memset(c, 0, sizeof *c);
  snprintf(c->name, sizeof c->name, "nominal");
  c->ut_z_mid = 2484.6;
  c->ut_z_kink = 1780;
  c->ut_kick_to_mev = 3.3356;
  c->scifi_z_reference = 8520;
  c->scifi_z_end = gun_z_end;
  c->scifi_dzdy = 0.003601;
  c->forward_z_ut = 2642;
  c->forward_x_range_qop = 0.0005;
  c->seeding_uv_slope = gun_scifi_dxdy[1];
  c->matching_z_y = 10000;
  c->matching_y_scale = 1;
  c->matching_dtx_max = 1.5;
  c->matching_ut_y_tolerance = 1;
  memcpy(c->ut_z_layer, gun_ut_z, sizeof c->ut_z_layer);
  memcpy(c->ut_dxdy, gun_ut_dxdy, sizeof c->ut_dxdy);
  memcpy(c->ut_discriminant_3, discriminant_3, sizeof discriminant_3);
  memcpy(c->ut_discriminant_4, discriminant_4, sizeof discriminant_4);
  memcpy(c->scifi_dxdy, gun_scifi_dxdy, sizeof c->scifi_dxdy);
  memcpy(c->forward_z_layer, gun_scifi_z, sizeof c->forward_z_layer);
  memcpy(c->seeding_z_layer, gun_scifi_z, sizeof c->seeding_z_layer);
}
