/* masked_clustering_reference.h: plain version of velo.masked_clustering: the clusters of a sensor are the 8-connected
 * components of its hit pixels, found by flood fill. */
#ifndef TEST_VELO_MASKED_CLUSTERING_REFERENCE_H
#define TEST_VELO_MASKED_CLUSTERING_REFERENCE_H

#include "velo/event_model.h"

enum { COLUMNS = VELO_SENSOR_COLUMNS, ROWS = VELO_SENSOR_ROWS };

/* The hit pixels of a sensor, with a border of empty pixels: column c, row r is hit[c + 1][r + 1]. */
struct pixels {
  unsigned char hit[COLUMNS + 2][ROWS + 2];
};

/* Sums over the pixels of a cluster; the position of the cluster is the mean. */
struct sums {
  uint32_t pixels, columns, rows;
};

/* Removes the component of a pixel and returns its sums. `column` and `row` are indices of `hit`. */
static struct sums clustering_flood(struct pixels *p, uint32_t column, uint32_t row) {
  static uint32_t stack[COLUMNS * ROWS];
  struct sums s = {0, 0, 0};
  uint32_t depth = 0;
  p->hit[column][row] = 0;
  stack[depth++] = column << 16 | row;
  while (depth > 0) {
    const uint32_t c = stack[--depth] >> 16, r = stack[depth] & 0xFFFF;
    s.pixels++;
    s.columns += c - 1;
    s.rows += r - 1;
    for (uint32_t i = c - 1; i <= c + 1; i++)
      for (uint32_t j = r - 1; j <= r + 1; j++)
        if (p->hit[i][j]) {
          p->hit[i][j] = 0;
          stack[depth++] = i << 16 | j;
        }
  }
  return s;
}

/* Removes all clusters of a sensor; returns their number. */
static uint32_t clustering_find(struct pixels *p, struct sums *sums) {
  uint32_t count = 0;
  for (uint32_t c = 1; c <= COLUMNS; c++)
    for (uint32_t r = 1; r <= ROWS; r++)
      if (p->hit[c][r]) sums[count++] = clustering_flood(p, c, r);
  return count;
}

#endif
