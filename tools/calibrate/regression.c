/* regression.c: see regression.h. A block of rows below the triangle R is made zero by Householder reflections, column
 * by column: the part of a column that is reflected is its diagonal element of R and the block. */
#include "regression.h"

#include <sluice/plugin.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_ROWS = 256 };

int regression_begin(struct regression *r, size_t terms, size_t targets) {
  const size_t width = terms + targets;
  *r = (struct regression){.terms = terms, .width = width};
  r->triangle = (double *)calloc(terms * width, sizeof *r->triangle);
  r->block = (double *)calloc(BLOCK_ROWS * width, sizeof *r->block);
  return r->triangle && r->block ? SL_OK : SL_ENOMEM;
}

void regression_end(struct regression *r) {
  free(r->triangle);
  free(r->block);
  *r = (struct regression){0};
}

/* Reflects column k and all further columns. `along`: room for a row. */
static void reflect(struct regression *r, size_t k, double *along) {
  const size_t width = r->width;
  double *top = r->triangle + k * width, sum = top[k] * top[k];
  for (size_t i = 0; i < r->filled; i++) sum += r->block[i * width + k] * r->block[i * width + k];
  if (sum == 0) return;
  const double norm = top[k] > 0 ? -sqrt(sum) : sqrt(sum), head = top[k] - norm, factor = 1 / (norm * head);
  for (size_t j = k + 1; j < width; j++) along[j] = head * top[j];
  for (size_t i = 0; i < r->filled; i++) {
    const double *row = r->block + i * width;
    for (size_t j = k + 1; j < width; j++) along[j] += row[k] * row[j];
  }
  for (size_t j = k + 1; j < width; j++) along[j] = along[j] * factor;
  for (size_t j = k + 1; j < width; j++) top[j] += head * along[j];
  for (size_t i = 0; i < r->filled; i++) {
    double *row = r->block + i * width;
    for (size_t j = k + 1; j < width; j++) row[j] += row[k] * along[j];
  }
  top[k] = norm;
}

static int reduce(struct regression *r) {
  double *along = (double *)malloc(r->width * sizeof *along);
  if (!along) return SL_ENOMEM;
  for (size_t k = 0; k < r->terms; k++) reflect(r, k, along);
  r->filled = 0;
  free(along);
  return SL_OK;
}

double *regression_row(struct regression *r) {
  if (r->filled == BLOCK_ROWS && reduce(r) < 0) return NULL;
  r->rows++;
  return r->block + r->filled++ * r->width;
}

int regression_solve(struct regression *r, size_t target, double *c) {
  const double least = 1e-10; /* of the length of a column */
  if (r->rows <= r->terms) return SL_EINVAL;
  if (reduce(r) < 0) return SL_ENOMEM;
  for (size_t k = r->terms; k-- > 0;) {
    const double *row = r->triangle + k * r->width;
    double sum = row[r->terms + target], square = 0;
    for (size_t i = 0; i <= k; i++) square += r->triangle[i * r->width + k] * r->triangle[i * r->width + k];
    if (fabs(row[k]) <= least * sqrt(square)) return SL_EINVAL;
    for (size_t j = k + 1; j < r->terms; j++) sum -= row[j] * c[j];
    c[k] = sum / row[k];
  }
  return SL_OK;
}
