/* formulas.h: formulas of the reconstruction, for a track with known hits (plugins/calibration/README.md). */
#ifndef CALIBRATE_FORMULAS_H
#define CALIBRATE_FORMULAS_H

#include "calibration/calibration.h"
#include "gun.h"

/* x and y of the VELO line at z; q/p of the track. */
double velo_x(const struct gun_track *t, double z);
double velo_y(const struct gun_track *t, double z);
double q_over_p(const struct gun_track *t);
/* p from q/p, relative to the true p, minus 1. */
double relative_p(const struct gun_track *t, double found_q_over_p);

/* A line: x at z, and slope. crossing() returns the z at which two lines cross. */
struct line {
  double x, z, slope;
};
double crossing(const struct line *a, const struct line *b);

/* ---------------------------------------------------------------------------------------------------- UT */

/* Line after the kink: x and slope at ut.z_mid. `kink` is the difference of slope / sqrt(1 + slope^2) across the
 * kink. */
struct ut_line {
  double x, slope, kink;
};
/* x of the measured hit of a layer at the y of the VELO line. */
double ut_hit_x(const struct calibration *c, const struct gun_track *t, uint32_t layer);
/* First fit: VELO line at ut.z_kink, and hits. */
void ut_first_fit(const struct calibration *c, const struct gun_track *t, struct ut_line *line);
/* Second fit: kink at ut.z_kink_of_ty, and a shift in y; its kink depends on ty. */
void ut_second_fit(const struct calibration *c, const struct gun_track *t, struct ut_line *line);
double ut_z_origin(const struct gun_track *t);
/* q/p from the second fit. */
double ut_q_over_p(const struct calibration *c, const struct gun_track *t);

/* --------------------------------------------------------------------------------------------------- forward */

/* Input state at forward.z_ut for tracks with UT hits. */
void forward_input(const struct calibration *c, const struct gun_track *t, struct gun_state *input);
/* Expected x at z in a station. */
double forward_x(const struct calibration *c, const struct gun_state *input, double q_over_p_, uint32_t station,
                 double z);
/* Expected y at a layer for the hit's x. */
double forward_y(const struct calibration *c, const struct gun_state *input, uint32_t layer, double x);

double forward_radius(const struct calibration *c, const struct gun_track *t, uint32_t seed);
/* Bend, and its divisor without the polynomial. */
struct forward_bend {
  double bend, way;
};
void forward_fit_bend(const struct calibration *c, const struct gun_track *t, struct forward_bend *bend);
double forward_q_over_p(const struct calibration *c, const struct gun_track *t);
/* Slope of the chord of a seed's first and last layer, and its distance in x from the VELO line at the magnet. */
void forward_chord(const struct calibration *c, const struct gun_track *t, uint32_t seed, double *slope, double *miss);
/* Middle x of a seed, relative to the chord through the origin: expected over = factor * scale. */
void forward_sagitta(const struct calibration *c, const struct gun_track *t, uint32_t seed, double *over,
                     double *scale);
/* Half window around the VELO line without UT, for 1/p in 1/GeV. */
double forward_border(const struct calibration *c, const struct gun_track *t, double inverse_gev);

/* First, middle and last x layer of a seed. */
extern const uint32_t seed_layers[2][3];

/* ------------------------------------------------------------------------------------ seeding and matching */

/* Curve of a seed, fitted to its six x layers; y from the other layers. */
struct seed_curve {
  double a, b, c;
  double y, ty; /* at the reference z */
};
void seeding_fit(const struct calibration *c, const struct gun_track *t, struct seed_curve *curve);
void seeding_end_state(const struct calibration *c, const struct seed_curve *curve, struct gun_state *end);
/* q/p of a seed alone, and x at z = 0 of its tangent at the end. */
double seeding_x0(const struct calibration *c, const struct gun_state *end);
double seeding_q_over_p(const struct calibration *c, const struct gun_state *end);

/* Search for three hits; seeds 0 and 1 are those of seed_layers. */
struct seeding_search {
  double k, z_first, z_last, per_bend; /* per_bend: curvature / distance of the middle hit from the chord */
};
void seeding_search_of(const struct calibration *c, uint32_t seed, struct seeding_search *search);
/* Distance of the last hit from the middle of its search window, relative to half of it, for momenta from p_min on. */
double seeding_last_hit(const struct calibration *c, const struct gun_track *t, uint32_t seed, double p_min);
/* x of the chord at z = 0, and the curvature from the middle hit, with its sign relative to the bend. */
void seeding_three_hits(const struct calibration *c, const struct gun_track *t, uint32_t seed, double *x0,
                        double *curvature);

/* Largest distance of the other three x hits from the curve through the seed's hits. */
double seeding_other_hits(const struct calibration *c, const struct gun_track *t, uint32_t seed);
/* Largest distance of a stereo hit from the position predicted from earlier ones, in the order of the search. */
double seeding_stereo_hits(const struct calibration *c, const struct gun_track *t);

void matching_variables(const struct gun_track *t, const struct gun_state *end,
                        double variables[CALIBRATION_VARIABLES]);
double matching_z_magnet(const struct calibration *c, const struct gun_track *t, const struct gun_state *end);
double matching_distance_x(const struct calibration *c, const struct gun_track *t, const struct gun_state *end);
double matching_distance_y(const struct calibration *c, const struct gun_track *t, const struct gun_state *end);
double matching_chi2(const struct calibration *c, const struct gun_track *t, const struct gun_state *end);
double matching_q_over_p(const struct calibration *c, const struct gun_track *t, const struct gun_state *end);

#endif
