/* formulas.h: what the reconstruction computes with the constants, on a track whose hits are known (README.md). */
#ifndef CALIBRATE_FORMULAS_H
#define CALIBRATE_FORMULAS_H

#include "calibration/calibration.h"
#include "gun.h"

/* The VELO's line. */
double velo_x(const struct gun_track *t, double z);
double velo_y(const struct gun_track *t, double z);
double q_over_p(const struct gun_track *t);
/* The other way round: p as q/p says, over p, minus 1. */
double relative_p(const struct gun_track *t, double found_q_over_p);

/* Where two lines, x at z with slope, cross. */
struct line {
  double x, z, slope;
};
double crossing(const struct line *a, const struct line *b);

/* ---------------------------------------------------------------------------------------------------- UT */

/* The line behind the kink: x and slope at ut.z_mid. `kink`: the difference of slopes over sqrt(1 + slope^2). */
struct ut_line {
  double x, slope, kink;
};
/* The measured hit of a layer, as it is seen at the y of the VELO's line. */
double ut_hit_x(const struct calibration *c, const struct gun_track *t, uint32_t layer);
/* The first fit: VELO's line at ut.z_kink, and hits. */
void ut_first_fit(const struct calibration *c, const struct gun_track *t, struct ut_line *line);
/* The second one: kink at ut.z_kink_of_ty, with a shift in y. Its kink has ty in it. */
void ut_second_fit(const struct calibration *c, const struct gun_track *t, struct ut_line *line);
double ut_z_origin(const struct gun_track *t);
/* q/p of the second fit. */
double ut_q_over_p(const struct calibration *c, const struct gun_track *t);

/* --------------------------------------------------------------------------------------------------- forward */

/* The state at forward.z_ut that tracks with UT come with. */
void forward_input(const struct calibration *c, const struct gun_track *t, struct gun_state *input);
/* x where the track should be at z, of a station. */
double forward_x(const struct calibration *c, const struct gun_state *input, double q_over_p_, uint32_t station,
                 double z);
/* y at a layer, of the hit's x. */
double forward_y(const struct calibration *c, const struct gun_state *input, uint32_t layer, double x);

double forward_radius(const struct calibration *c, const struct gun_track *t, uint32_t seed);
/* Bend, its divisor without the polynomial, and the two slopes in y and x of the VELO. */
struct forward_bend {
  double bend, way;
};
void forward_fit_bend(const struct calibration *c, const struct gun_track *t, struct forward_bend *bend);
double forward_q_over_p(const struct calibration *c, const struct gun_track *t);
/* Of the first and last layer of a seed: slope of the chord, and by how much it misses the VELO's line. */
void forward_chord(const struct calibration *c, const struct gun_track *t, uint32_t seed, double *slope, double *miss);
/* Middle x of a seed's chord through the origin, in units of the factor: expected = z1 slope + factor * scale. */
void forward_sagitta(const struct calibration *c, const struct gun_track *t, uint32_t seed, double *over,
                     double *scale);
/* Half the window around the VELO's line without UT, at 1/p in 1/GeV. */
double forward_border(const struct calibration *c, const struct gun_track *t, double inverse_gev);

/* Layers of a seed: first, middle and last of X layers. */
extern const uint32_t seed_layers[2][3];

/* ------------------------------------------------------------------------------------ seeding and matching */

/* A seed's curve, fitted to its six x layers; y from the others. */
struct seed_curve {
  double a, b, c;
  double y, ty; /* at the reference */
};
void seeding_fit(const struct calibration *c, const struct gun_track *t, struct seed_curve *curve);
void seeding_end_state(const struct calibration *c, const struct seed_curve *curve, struct gun_state *end);
/* q/p of a seed alone, and x at z = 0 of its tangent at the end. */
double seeding_x0(const struct calibration *c, const struct gun_state *end);
double seeding_q_over_p(const struct calibration *c, const struct gun_state *end);

/* The search for three hits: case 0 and 1 are the seeds above. */
struct seeding_search {
  double k, z_first, z_last, per_bend; /* per_bend: curvature over distance of the middle hit from the chord */
};
void seeding_search_of(const struct calibration *c, uint32_t seed, struct seeding_search *search);
/* The last hit's distance from the middle of its window, over half of it, for momenta from p_min on. */
double seeding_last_hit(const struct calibration *c, const struct gun_track *t, uint32_t seed, double p_min);
/* x of the chord at z = 0, and the curvature of the middle hit, signed such that it is positive. */
void seeding_three_hits(const struct calibration *c, const struct gun_track *t, uint32_t seed, double *x0,
                        double *curvature);

/* The largest distance of the other three x hits from the curve through a seed's. */
double seeding_other_hits(const struct calibration *c, const struct gun_track *t, uint32_t seed);
/* The largest distance of a stereo hit from where the ones before it say, in the order of the search. */
double seeding_stereo_hits(const struct calibration *c, const struct gun_track *t);

void matching_variables(const struct gun_track *t, const struct gun_state *end,
                        double variables[CALIBRATION_VARIABLES]);
double matching_z_magnet(const struct calibration *c, const struct gun_track *t, const struct gun_state *end);
double matching_distance_x(const struct calibration *c, const struct gun_track *t, const struct gun_state *end);
double matching_distance_y(const struct calibration *c, const struct gun_track *t, const struct gun_state *end);
double matching_chi2(const struct calibration *c, const struct gun_track *t, const struct gun_state *end);
double matching_q_over_p(const struct calibration *c, const struct gun_track *t, const struct gun_state *end);

#endif
