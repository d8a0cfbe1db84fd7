/* least_squares.h: linear regression, and quantiles. Sums are in the order of the points: the same bits everywhere. */
#ifndef CALIBRATE_LEAST_SQUARES_H
#define CALIBRATE_LEAST_SQUARES_H

#include "calibration/calibration.h"

#include <stddef.h>

/* factor * polynomial(variables) = target, with this weight (1 / error). */
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

/* Sets the coefficients of the polynomial's terms, and gives their errors where `errors` is no NULL. Householder's
 * orthogonal transformation of the matrix of all points, whose columns are scaled to length 1. SL_EINVAL: fewer points
 * than terms, or terms that cannot be told apart. */
int least_squares(const struct points *points, struct calibration_polynomial *polynomial, double *errors);

/* A list of numbers. */
struct numbers {
  double *at;
  size_t count, capacity;
};
int numbers_add(struct numbers *numbers, double value);
void numbers_free(struct numbers *numbers);
/* Sorts the numbers. Of none: 0. */
double quantile(struct numbers *numbers, double share);
/* The median, and half of what the central 68 % span. */
double median(struct numbers *numbers);
double width(struct numbers *numbers);

/* The straight line, base and slope, of `share`'s quantile of y against x: of each of 16 equally full ranges of x. */
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
