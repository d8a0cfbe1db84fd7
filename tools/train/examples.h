/* examples.h: reads examples for the training of a network from a CSV file. */
#ifndef TRAIN_EXAMPLES_H
#define TRAIN_EXAMPLES_H

#include <stdint.h>

enum { COLUMNS_MAX = 256 };

/* Rows are consecutive. `text` has the file, with zero bytes after names and cells. */
struct examples {
  const char *path;
  char *text;
  uint32_t column_count, row_count;
  const char *names[COLUMNS_MAX];
  double *values; /* [row][column] */
};

/* Reads the file: a line of names, then lines of numbers. Returns 0, or 1 after a message to stderr. Free with
 * examples_free, also after an error. */
int examples_read(const char *path, struct examples *e);
void examples_free(struct examples *e);

/* Index of a column; -1 after a message if there is none with this name. */
int examples_column(const struct examples *e, const char *name);

/* Weights of the rows with target 0 that give them the same distribution of a column as the rows with target 1, in
 * intervals that have equal numbers of the latter. Rows with target 1 have weight 1. Both classes have equal sums of
 * weights. Returns 0, or 1 after a message. */
int examples_match_spectrum(const struct examples *e, int target, int column, double *weights);

/* The value below which the share `quantile` of the column lies. */
double examples_quantile(const struct examples *e, int column, double quantile);

/* Mean and standard deviation of the column. */
void examples_moments(const struct examples *e, int column, double *mean, double *deviation);

#endif
