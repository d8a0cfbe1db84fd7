/* examples_case.h: for tests of sinks that write examples: compares the file with a table. */
#ifndef TEST_EXAMPLES_CASE_H
#define TEST_EXAMPLES_CASE_H

#include "check_case.h"

#include <math.h>

/* A pion with ten hits in the VELO, and ten in the SciFi. */
#define VELO_OF_PION(n)  (0x10000000u + (n))
#define SCIFI_OF_PION(n) (0x50000000u + (n))
enum { HITS_OF_PION = 10 };
static inline void add_pion(void) {
  struct true_particle pion = {.key = 1,
                               .pdg = 211,
                               .p = 12000,
                               .eta = 3,
                               .flags = {[HAS_VELO] = 1, [HAS_SCIFI] = 1, [LONG] = 1},
                               .hit_count = HITS_OF_PION,
                               .scifi_count = HITS_OF_PION};
  for (uint32_t k = 0; k < HITS_OF_PION; k++) {
    pion.hits[k] = VELO_OF_PION(k);
    pion.scifi_hits[k] = SCIFI_OF_PION(k);
  }
  add_event(banks, &pion, 1);
}

/* The file has the line `header`, then `count` rows of `columns` numbers, within `tolerance` times their magnitude. */
static inline void assert_table(const char *path, const char *header, const double *rows, size_t count, size_t columns,
                                double tolerance) {
  char line[512];
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  assert_non_null(fgets(line, sizeof line, file));
  assert_string_equal(line, header);
  for (size_t i = 0; i < count * columns; i++) {
    double found = NAN;
    assert_int_equal(fscanf(file, i % columns == 0 ? "%lf" : ",%lf", &found), 1);
    if (!(fabs(found - rows[i]) <= tolerance * fabs(rows[i])))
      fail_msg("row %zu, column %zu is %.9g, expected %.9g", i / columns, i % columns, found, rows[i]);
    if (i % columns == columns - 1) assert_int_equal(fgetc(file), '\n');
  }
  assert_int_equal(fgetc(file), EOF);
  fclose(file);
}

#endif
