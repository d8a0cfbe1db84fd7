/* field_map.c: reads a map of the field (field.h; the format is in plugins/kalman/README.md), and mirrors a quadrant.
 */
#include "field.h"
#include "geometry/statements.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FORMAT = 1, AXIS_POINTS_MIN = FIELD_MAP_POINTS, AXIS_POINTS_MAX = 2000, POINTS_MAX = 10000000 };

static const char *const axis_names[] = {"x", "y", "z"};
static const char *const symmetry_names[] = {"none", "quadrant"};
enum { SYMMETRY_NONE, SYMMETRY_QUADRANT, SYMMETRIES };

/* Range of z that tracks pass, mm; range of the field, T; field that is taken for 0 where the symmetry demands 0. */
static const double z_first = 770, z_last = 9403, field_max = 10, field_zero = 1e-3;

struct reader {
  struct field_map *map;
  uint32_t has_format, has_symmetry, symmetry, axes_seen; /* axes_seen: bit mask */
  size_t filled, expected;                                /* grid points of the file */
  uint32_t points[3];                                     /* of the file, along each axis */
};

/* -------------------------------------------------------------------------------------------------- the grid */

static double *at(const struct field_map *m, size_t i, size_t j, size_t k) {
  return m->values + 3 * ((k * m->axes[1].count + j) * m->axes[0].count + i);
}

/* Called at the first line with a field: all axes are known. */
static int begin_grid(struct statement *s, struct reader *r) {
  struct field_map *m = r->map;
  if (!r->has_format) return statement_refuse(s, "expected \"field_map %d\" first", FORMAT);
  if (r->axes_seen != 7)
    return statement_refuse(s, "axis %s is missing", axis_names[r->axes_seen & 1 ? r->axes_seen & 2 ? 2 : 1 : 0]);
  if (!r->has_symmetry) return statement_refuse(s, "symmetry is missing");
  size_t total = 1;
  r->expected = 1;
  for (int k = 0; k < 3; k++) {
    struct field_axis *a = &m->axes[k];
    r->points[k] = a->count;
    r->expected *= a->count;
    if (r->symmetry == SYMMETRY_QUADRANT && k < 2) {
      if (a->low != 0) return statement_refuse(s, "a quadrant begins at %s = %g, expected 0", axis_names[k], a->low);
      a->low = -a->high;
      a->count = 2 * a->count - 1;
    }
    total *= a->count;
  }
  for (int k = 0; k < 2; k++)
    if (m->axes[k].low >= 0 || m->axes[k].high <= 0)
      return statement_refuse(s, "%s is from %g to %g, expected a range with 0", axis_names[k], m->axes[k].low,
                              m->axes[k].high);
  if (m->axes[2].low > z_first || m->axes[2].high < z_last)
    return statement_refuse(s, "z is from %g to %g, expected a range with %g to %g", m->axes[2].low, m->axes[2].high,
                            z_first, z_last);
  if (total > POINTS_MAX) return statement_refuse(s, "%zu grid points, expected at most %d", total, POINTS_MAX);
  m->values = (double *)calloc(total, 3 * sizeof *m->values);
  return m->values ? 1 : statement_refuse(s, "out of memory");
}

/* Stores a point of a quadrant four times: Bx is odd in x and y, By even, Bz even in x and odd in y. */
static int mirror(struct statement *s, struct reader *r, size_t i, size_t j, size_t k, const double field[3]) {
  const size_t x = r->points[0] - 1, y = r->points[1] - 1; /* indices of x = 0 and y = 0 */
  const int is_odd[3] = {i == 0 || j == 0, 0, j == 0};
  for (int c = 0; c < 3; c++)
    if (is_odd[c] && fabs(field[c]) > field_zero)
      return statement_refuse(s, "B%s is %g, expected 0 by symmetry", axis_names[c], field[c]);
  const double bx = is_odd[0] ? 0 : field[0], bz = is_odd[2] ? 0 : field[2];
  for (int n = 0; n < 4; n++) {
    const double sign_x = n & 1 ? -1 : 1, sign_y = n & 2 ? -1 : 1;
    double *to = at(r->map, n & 1 ? x - i : x + i, n & 2 ? y - j : y + j, k);
    to[0] = sign_x * sign_y * bx;
    to[1] = field[1];
    to[2] = sign_y * bz;
  }
  return 1;
}

/* ------------------------------------------------------------------------------------------------ statements */

static int read_axis(struct statement *s, struct reader *r) {
  uint32_t k = 0;
  if (!statement_name(s, "axis", axis_names, 3, &k)) return 0;
  struct field_axis *a = &r->map->axes[k];
  if (r->axes_seen >> k & 1) return statement_refuse(s, "axis %s a second time", axis_names[k]);
  r->axes_seen |= 1u << k;
  if (!statement_f64(s, "the low end", -1e5, 1e5, &a->low) || !statement_f64(s, "the high end", -1e5, 1e5, &a->high) ||
      !statement_u32(s, "the number of points", AXIS_POINTS_MIN, AXIS_POINTS_MAX, &a->count))
    return 0;
  return a->high > a->low ? 1 : statement_refuse(s, "axis %s is from %g to %g", axis_names[k], a->low, a->high);
}

static int read_field(struct statement *s, struct reader *r) {
  double field[3];
  if (!r->map->values && !begin_grid(s, r)) return 0;
  if (r->filled == r->expected) return statement_refuse(s, "more than %zu grid points", r->expected);
  for (int c = 0; c < 3; c++) {
    const char name[] = {'B', axis_names[c][0], '\0'};
    if (!statement_f64(s, name, -field_max, field_max, &field[c])) return 0;
  }
  const size_t n = r->filled++, row = r->points[0], column = r->points[1];
  const size_t i = n % row, j = n / row % column, k = n / row / column;
  if (r->symmetry == SYMMETRY_QUADRANT) return mirror(s, r, i, j, k, field);
  memcpy(at(r->map, i, j, k), field, sizeof field);
  return 1;
}

static int read_line(struct statement *s, struct reader *r) {
  char word[STATEMENT_WORD_BYTES];
  uint32_t format = 0;
  int is_fine = 0;
  if (r->map->values && strcmp(s->keyword, "field") != 0)
    return statement_refuse(s, "expected \"field\", found \"%s\"", s->keyword);
  if (strcmp(s->keyword, "field") == 0) {
    is_fine = read_field(s, r);
  } else if (strcmp(s->keyword, "field_map") == 0) {
    r->has_format = 1;
    is_fine = statement_u32(s, "format", FORMAT, FORMAT, &format);
  } else if (strcmp(s->keyword, "axis") == 0) {
    is_fine = read_axis(s, r);
  } else if (strcmp(s->keyword, "symmetry") == 0) {
    r->has_symmetry = 1;
    is_fine = statement_name(s, "symmetry", symmetry_names, SYMMETRIES, &r->symmetry);
  } else {
    return statement_refuse(s, "there is no statement \"%s\"", s->keyword);
  }
  if (!is_fine) return 0;
  return statement_word(s, word, sizeof word) ? statement_refuse(s, "\"%s\" is one word too many", word) : 1;
}

/* ------------------------------------------------------------------------------------------------------ files */

void field_map_free(struct field_map *m) {
  free(m->values);
  m->values = NULL;
}

uint32_t field_map_read(FILE *file, struct field_map *m, char *reason, size_t reason_size) {
  struct statement s = {.reason = reason, .reason_size = reason_size};
  struct reader r = {.map = m};
  char *line = NULL;
  size_t size = 0;
  uint32_t number = 0;
  int is_fine = 1;
  memset(m, 0, sizeof *m);
  for (ssize_t length; is_fine && (length = getline(&line, &size, file)) >= 0; number++) {
    s.next = line;
    s.end = line + length - (length > 0 && line[length - 1] == '\n');
    if (statement_word(&s, s.keyword, sizeof s.keyword)) is_fine = read_line(&s, &r);
  }
  free(line);
  if (is_fine && ferror(file)) is_fine = statement_refuse(&s, "cannot be read");
  if (is_fine && (!m->values || r.filled < r.expected))
    is_fine = m->values ? statement_refuse(&s, "%zu of %zu grid points", r.filled, r.expected)
                        : statement_refuse(&s, "a map without grid points");
  if (is_fine) return 0;
  field_map_free(m);
  return number > 0 ? number : 1;
}

int field_map_load(const struct sl_services *services, const char *path, struct field_map *m) {
  char reason[256];
  FILE *file = fopen(path, "rb");
  if (!file) {
    services->message(services->context, SL_ERROR, "%s: %s", path, strerror(errno));
    return SL_EIO;
  }
  const uint32_t line = field_map_read(file, m, reason, sizeof reason);
  fclose(file);
  if (line == 0) return SL_OK;
  services->message(services->context, SL_ERROR, "%s:%u: %s", path, line, reason);
  return SL_EFORMAT;
}
