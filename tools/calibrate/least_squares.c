/* least_squares.c: see least_squares.h. */
#include "least_squares.h"

#include <sluice/plugin.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int grow(void **array, size_t count, size_t *capacity, size_t bytes) {
  if (count < *capacity) return SL_OK;
  const size_t wanted = *capacity > 0 ? 2 * *capacity : 1024;
  void *grown = realloc(*array, wanted * bytes);
  if (!grown) return SL_ENOMEM;
  *array = grown;
  *capacity = wanted;
  return SL_OK;
}

/* ---------------------------------------------------------------------------------------------- regression */

int points_add(struct points *p, const struct point *point) {
  const int status = grow((void **)&p->at, p->count, &p->capacity, sizeof *p->at);
  if (status == SL_OK) p->at[p->count++] = *point;
  return status;
}

void points_free(struct points *p) {
  free(p->at);
  *p = (struct points){0};
}

/* Rows of `width` numbers: the terms of a point, and its target. */
struct matrix {
  double *at;
  size_t rows, width;
};

static void fill(const struct points *points, const struct calibration_polynomial *p, struct matrix *m) {
  for (size_t i = 0; i < m->rows; i++) {
    const struct point *point = &points->at[i];
    double *row = m->at + i * m->width;
    for (uint32_t k = 0; k < p->count; k++)
      row[k] = point->weight * point->factor * calibration_monomial(&p->terms[k], point->variables);
    row[p->count] = point->weight * point->target;
  }
}

static void scale_columns(struct matrix *m, size_t columns, double *scale) {
  for (size_t k = 0; k < columns; k++) {
    double sum = 0;
    for (size_t i = 0; i < m->rows; i++) sum += m->at[i * m->width + k] * m->at[i * m->width + k];
    scale[k] = sum > 0 ? 1 / sqrt(sum) : 0;
    for (size_t i = 0; i < m->rows; i++) m->at[i * m->width + k] *= scale[k];
  }
}

/* Reflects the rows from k on, so that column k is zero below row k; returns 0 if it is zero already. */
static int reflect(struct matrix *m, size_t k) {
  const size_t width_ = m->width;
  double sum = 0, along[CALIBRATION_TERMS + 1] = {0};
  for (size_t i = k; i < m->rows; i++) sum += m->at[i * width_ + k] * m->at[i * width_ + k];
  double *first = m->at + k * width_;
  const double least = 1e-12, norm = first[k] > 0 ? -sqrt(sum) : sqrt(sum), head = first[k] - norm;
  if (sum < least * least) return 0;
  first[k] = head; /* column k now holds the normal of the reflection */
  for (size_t i = k; i < m->rows; i++) {
    const double *row = m->at + i * width_;
    for (size_t j = k + 1; j < width_; j++) along[j] += row[k] * row[j];
  }
  const double factor = 1 / (norm * head);
  for (size_t i = k; i < m->rows; i++) {
    double *row = m->at + i * width_;
    for (size_t j = k + 1; j < width_; j++) row[j] += row[k] * along[j] * factor;
  }
  first[k] = norm;
  return 1;
}

/* Solves R c = last column by back substitution. */
static void solve_triangle(const struct matrix *m, size_t columns, double *c) {
  for (size_t k = columns; k-- > 0;) {
    double sum = m->at[k * m->width + columns];
    for (size_t j = k + 1; j < columns; j++) sum -= m->at[k * m->width + j] * c[j];
    c[k] = sum / m->at[k * m->width + k];
  }
}

/* Inverts R, the first rows of the matrix. */
static void invert_triangle(const struct matrix *m, size_t columns, double inverse[][CALIBRATION_TERMS]) {
  for (size_t column = 0; column < columns; column++) {
    for (size_t k = columns; k-- > 0;) {
      double sum = k == column ? 1 : 0;
      for (size_t j = k + 1; j <= column; j++) sum -= m->at[k * m->width + j] * inverse[j][column];
      inverse[k][column] = k <= column ? sum / m->at[k * m->width + k] : 0;
    }
  }
}

/* Errors of the coefficients from the residuals of the points, valid also if the scatter differs from point to point:
 * the roots of the diagonal of R^-1 S R^-T, where S is the sum over points of residual^2 times the outer product of the
 * point's row of X R^-1, and X is the original matrix. */
static void estimate_errors(const struct points *points, const struct calibration_polynomial *p, struct matrix *m,
                            const double *scale, double *errors) {
  static double inverse[CALIBRATION_TERMS][CALIBRATION_TERMS], sum[CALIBRATION_TERMS][CALIBRATION_TERMS];
  const size_t columns = p->count;
  memset(sum, 0, sizeof sum);
  invert_triangle(m, columns, inverse);
  fill(points, p, m);
  for (size_t i = 0; i < m->rows; i++) {
    const double *row = m->at + i * m->width;
    double along[CALIBRATION_TERMS], miss = row[columns];
    for (size_t k = 0; k < columns; k++) {
      miss -= row[k] * p->terms[k].coefficient;
      along[k] = 0;
      for (size_t j = 0; j <= k; j++) along[k] += row[j] * scale[j] * inverse[j][k];
    }
    for (size_t k = 0; k < columns; k++)
      for (size_t j = 0; j < columns; j++) sum[k][j] += miss * miss * along[k] * along[j];
  }
  for (size_t c = 0; c < columns; c++) {
    double square = 0;
    for (size_t k = c; k < columns; k++)
      for (size_t j = c; j < columns; j++) square += inverse[c][k] * sum[k][j] * inverse[c][j];
    errors[c] = sqrt(square) * scale[c];
  }
}

int least_squares(const struct points *points, struct calibration_polynomial *p, double *errors) {
  double scale[CALIBRATION_TERMS], c[CALIBRATION_TERMS];
  struct matrix m = {.rows = points->count, .width = p->count + 1u};
  if (p->count > CALIBRATION_TERMS || points->count <= p->count) return SL_EINVAL;
  m.at = (double *)malloc(m.rows * m.width * sizeof *m.at);
  if (!m.at) return SL_ENOMEM;
  fill(points, p, &m);
  scale_columns(&m, p->count, scale);
  int status = SL_OK;
  for (size_t k = 0; k < p->count && status == SL_OK; k++) status = reflect(&m, k) ? SL_OK : SL_EINVAL;
  if (status == SL_OK) {
    solve_triangle(&m, p->count, c);
    for (uint32_t k = 0; k < p->count; k++) p->terms[k].coefficient = c[k] * scale[k];
    if (errors) estimate_errors(points, p, &m, scale, errors);
  }
  free(m.at);
  return status;
}

/* ----------------------------------------------------------------------------------------------- quantiles */

int numbers_add(struct numbers *n, double value) {
  const int status = grow((void **)&n->at, n->count, &n->capacity, sizeof *n->at);
  if (status == SL_OK) n->at[n->count++] = value;
  return status;
}

void numbers_free(struct numbers *n) {
  free(n->at);
  *n = (struct numbers){0};
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double quantile(struct numbers *n, double share) {
  if (n->count == 0) return 0;
  qsort(n->at, n->count, sizeof *n->at, ascending);
  const size_t index = (size_t)(share * (double)n->count);
  return n->at[index < n->count ? index : n->count - 1];
}

double median(struct numbers *n) { return quantile(n, 0.5); }

double width(struct numbers *n) {
  const double low = quantile(n, 0.16), high = quantile(n, 0.84);
  return 0.5 * (high - low);
}

int pairs_add(struct pairs *p, double x, double y) {
  const int status = grow((void **)&p->at, p->count, &p->capacity, sizeof *p->at);
  if (status == SL_OK) p->at[p->count++] = (struct pair){x, y};
  return status;
}

void pairs_free(struct pairs *p) {
  free(p->at);
  *p = (struct pairs){0};
}

static int by_x(const void *a, const void *b) {
  const struct pair *p = (const struct pair *)a, *q = (const struct pair *)b;
  if (p->x != q->x) return p->x < q->x ? -1 : 1;
  return (p->y > q->y) - (p->y < q->y);
}

int quantile_line(struct pairs *p, double share, double line[2]) {
  enum { RANGES = 16 };
  struct calibration_polynomial straight = {.count = 2, .terms = {{.power = {0}}, {.power = {1}}}};
  struct points points = {0};
  int status = p->count >= RANGES ? SL_OK : SL_EINVAL;
  if (p->count > 0) qsort(p->at, p->count, sizeof *p->at, by_x);
  for (size_t r = 0; r < RANGES && status == SL_OK; r++) {
    struct numbers xs = {0}, ys = {0};
    for (size_t i = p->count * r / RANGES; i < p->count * (r + 1) / RANGES && status == SL_OK; i++) {
      status = numbers_add(&xs, p->at[i].x);
      if (status == SL_OK) status = numbers_add(&ys, p->at[i].y);
    }
    const struct point point = {.variables = {median(&xs)}, .factor = 1, .target = quantile(&ys, share), .weight = 1};
    if (status == SL_OK) status = points_add(&points, &point);
    numbers_free(&xs);
    numbers_free(&ys);
  }
  if (status == SL_OK) status = least_squares(&points, &straight, NULL);
  line[0] = straight.terms[0].coefficient;
  line[1] = straight.terms[1].coefficient;
  points_free(&points);
  return status;
}
