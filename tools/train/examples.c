/* examples.c: see examples.h. */
#include "examples.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *read_file(const char *path, size_t *bytes) {
  FILE *file = fopen(path, "rb");
  char *text = NULL;
  size_t capacity = 1 << 20, used = 0;
  if (!file) {
    fprintf(stderr, "train: %s: %s\n", path, strerror(errno));
    return NULL;
  }
  for (;;) {
    char *larger = realloc(text, capacity + 1);
    if (!larger) break;
    text = larger;
    used += fread(text + used, 1, capacity - used, file);
    if (used < capacity) {
      const int failed = ferror(file);
      fclose(file);
      if (failed) {
        fprintf(stderr, "train: %s: %s\n", path, strerror(errno));
        free(text);
        return NULL;
      }
      text[used] = '\0';
      *bytes = used;
      return text;
    }
    capacity *= 2;
  }
  fprintf(stderr, "train: %s: not enough memory for the file\n", path);
  fclose(file);
  free(text);
  return NULL;
}

/* Ends the line at `at` with a zero byte. Returns the next line. */
static char *end_line(char *at) {
  char *end = at + strcspn(at, "\n");
  char *next = *end ? end + 1 : end;
  if (end > at && end[-1] == '\r') end[-1] = '\0';
  *end = '\0';
  return next;
}

static int read_names(struct examples *e, char *line) {
  while (line) {
    char *comma = strchr(line, ',');
    if (comma) *comma = '\0';
    if (e->column_count == COLUMNS_MAX) {
      fprintf(stderr, "train: %s:1: more than %d columns\n", e->path, COLUMNS_MAX);
      return 1;
    }
    if (!*line) {
      fprintf(stderr, "train: %s:1: column %u has no name\n", e->path, e->column_count + 1);
      return 1;
    }
    for (uint32_t c = 0; c < e->column_count; c++)
      if (strcmp(e->names[c], line) == 0) {
        fprintf(stderr, "train: %s:1: the column \"%s\" occurs twice\n", e->path, line);
        return 1;
      }
    e->names[e->column_count++] = line;
    line = comma ? comma + 1 : NULL;
  }
  return 0;
}

static int read_row(const struct examples *e, const char *line, double *row) {
  for (uint32_t c = 0; c < e->column_count; c++) {
    char *end;
    row[c] = strtod(line, &end);
    const char *after = c + 1 < e->column_count ? "," : "";
    if (end == line || !isfinite(row[c]) || *end != *after) {
      fprintf(stderr, "train: %s:%u: column \"%s\": expected a finite number%s, found \"%.40s\"\n", e->path,
              e->row_count + 2, e->names[c], *after ? " and a comma" : " and the end of the line", line);
      return 1;
    }
    line = end + 1;
  }
  return 0;
}

int examples_read(const char *path, struct examples *e) {
  size_t bytes = 0, lines = 0;
  *e = (struct examples){.path = path, .text = read_file(path, &bytes)};
  if (!e->text) return 1;
  if (strlen(e->text) != bytes) {
    fprintf(stderr, "train: %s: expected a CSV file, found a zero byte after %zu bytes\n", path, strlen(e->text));
    return 1;
  }
  for (const char *at = e->text; (at = strchr(at, '\n')); at++) lines++;
  if (lines >= UINT32_MAX) {
    fprintf(stderr, "train: %s: %zu lines are too many\n", path, lines);
    return 1;
  }
  char *line = e->text, *next = end_line(line);
  if (read_names(e, line) != 0) return 1;
  e->values = malloc((lines + 1) * e->column_count * sizeof *e->values);
  if (!e->values) {
    fprintf(stderr, "train: %s: not enough memory for %zu rows\n", path, lines);
    return 1;
  }
  for (line = next; *line; line = next) {
    next = end_line(line);
    if (read_row(e, line, e->values + (size_t)e->row_count * e->column_count) != 0) return 1;
    e->row_count++;
  }
  return 0;
}

void examples_free(struct examples *e) {
  free(e->text);
  free(e->values);
}

int examples_column(const struct examples *e, const char *name) {
  for (uint32_t c = 0; c < e->column_count; c++)
    if (strcmp(e->names[c], name) == 0) return (int)c;
  fprintf(stderr, "train: %s:1: there is no column \"%s\"\n", e->path, name);
  return -1;
}

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Sorted values of the rows with this target (-1: any). NULL without memory. */
static double *sorted(const struct examples *e, int column, int target, int is_one, uint32_t *count) {
  double *values = malloc(((size_t)e->row_count + 1) * sizeof *values);
  *count = 0;
  if (!values) return NULL;
  for (uint32_t r = 0; r < e->row_count; r++) {
    const double *row = e->values + (size_t)r * e->column_count;
    if (target < 0 || (row[target] > 0.5) == is_one) values[(*count)++] = row[column];
  }
  qsort(values, *count, sizeof *values, compare);
  return values;
}

double examples_quantile(const struct examples *e, int column, double quantile) {
  uint32_t count;
  double *values = sorted(e, column, -1, 0, &count), value = NAN;
  if (values && count > 0) value = values[(uint32_t)(quantile * (count - 1))];
  free(values);
  return value;
}

void examples_moments(const struct examples *e, int column, double *mean, double *deviation) {
  double sum = 0, squares = 0;
  const double *values = e->values + column;
  for (size_t r = 0; r < e->row_count; r++) sum += values[r * e->column_count];
  *mean = sum / e->row_count;
  for (size_t r = 0; r < e->row_count; r++) {
    const double difference = values[r * e->column_count] - *mean;
    squares += difference * difference;
  }
  *deviation = sqrt(squares / e->row_count);
}

enum { INTERVALS = 20 };

static int interval_of(const double *bounds, double value) {
  int i = 0;
  while (i < INTERVALS - 1 && value >= bounds[i]) i++;
  return i;
}

int examples_match_spectrum(const struct examples *e, int target, int column, double *weights) {
  uint32_t count, ones[INTERVALS] = {0}, zeros[INTERVALS] = {0};
  double *values = sorted(e, column, target, 1, &count), bounds[INTERVALS - 1];
  if (!values || count < INTERVALS) {
    fprintf(stderr, "train: %s: %u rows of target 1 are too few to match a spectrum\n", e->path, count);
    free(values);
    return 1;
  }
  for (int i = 0; i < INTERVALS - 1; i++) bounds[i] = values[(uint64_t)count * (uint64_t)(i + 1) / INTERVALS];
  free(values);
  for (uint32_t r = 0; r < e->row_count; r++) {
    const double *row = e->values + (size_t)r * e->column_count;
    (row[target] > 0.5 ? ones : zeros)[interval_of(bounds, row[column])]++;
  }
  for (uint32_t r = 0; r < e->row_count; r++) {
    const double *row = e->values + (size_t)r * e->column_count;
    const int i = interval_of(bounds, row[column]);
    weights[r] = row[target] > 0.5 ? 1 : (double)ones[i] / zeros[i];
  }
  return 0;
}
