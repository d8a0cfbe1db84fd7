/* regression.h: linear regression of many points with many terms. Rows are reduced in blocks, so that the matrix of all
 * points need not be stored. Sums are in the order of the rows: the same bits on all targets. */
#ifndef CALIBRATE_REGRESSION_H
#define CALIBRATE_REGRESSION_H

#include <stddef.h>

struct regression {
  size_t terms, width; /* numbers of a row: terms, then targets */
  size_t filled;       /* rows of the block */
  size_t rows;         /* all rows so far */
  double *triangle;    /* `terms` rows: R, and Q^T times the targets */
  double *block;
};

/* Begins with no rows. 0 or SL_ENOMEM. */
int regression_begin(struct regression *regression, size_t terms, size_t targets);
/* Returns the next row, for the caller to fill: the terms, then the targets, multiplied by the weight. */
double *regression_row(struct regression *regression);
/* Sets the coefficients of a target. SL_EINVAL: fewer rows than terms, or linearly dependent terms. */
int regression_solve(struct regression *regression, size_t target, double *coefficients);
void regression_end(struct regression *regression);

#endif
