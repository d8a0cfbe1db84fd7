/* least_squares.h: linear regression, and quantiles. Sums are in the order of the points: the same bits on all
 * targets. */
#ifndef CALIBRATE_LEAST_SQUARES_H
#define CALIBRATE_LEAST_SQUARES_H

#include "calibration/calibration.h"

#include <stddef.h>

/* An equation factor * polynomial(variables) = target with this weight (1 / error). */
struct point {
  double variables[CALIBRATION_VARIABLES];
  double factor, target, weight;
};
struct points {
  struct point *at;
  size_t count, capacity;
};

/* Adds a point; 0 or SL_ENOMEM. */
int points_add(struct points *points, const struct point *point);
void points_free(struct points *points);

/* Sets the coefficients of the polynomial's terms, and their errors if `errors` is not NULL. Uses Householder
 * reflections of the matrix of all points, with columns scaled to length 1. SL_EINVAL: fewer points than terms, or
 * linearly dependent terms. */
int least_squares(const struct points *points, struct calibration_polynomial *polynomial, double *errors);

/* A list of numbers. */
struct numbers {
  double *at;
  size_t count, capacity;
};
int numbers_add(struct numbers *numbers, double value);
void numbers_free(struct numbers *numbers);
/* Sorts the numbers and returns a quantile; 0 for an empty list. */
double quantile(struct numbers *numbers, double share);
/* Median, and half width of the central 68 %. */
double median(struct numbers *numbers);
double width(struct numbers *numbers);

/* Straight line (base, slope) through a quantile of y as a function of x, from 16 equally populated ranges of x. */
struct pair {
  double x, y;
};
struct pairs {
  struct pair *at;
  size_t count, capacity;
};
int pairs_add(struct pairs *pairs, double x, double y);
void pairs_free(struct pairs *pairs);
int quantile_line(struct pairs *pairs, double share, double line[2]);

#endif
