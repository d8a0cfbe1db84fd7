/* field_test.c: maps of the field, and tracks in them. */
#include "field.h"

#include "model_map.h"
#include "support.h"

#include <math.h>

/* A small map: 6 points along each axis, Bx = By = Bz = 0. */
static const char head[] = "field_map 1\naxis x -4000 4000 6\naxis y -3000 3000 6\naxis z 0 10000 6\nsymmetry none\n";
static char *small_map(void) {
  enum { POINTS = 216 };
  char *text = (char *)calloc(1, sizeof head + POINTS * sizeof "field 0 0 0\n");
  assert_non_null(text);
  strcpy(text, head);
  for (int i = 0; i < POINTS; i++) strcat(text, "field 0 0 0\n");
  return text;
}

static uint32_t read_map(const char *text, struct field_map *map, char reason[256]) {
  FILE *file = fmemopen((void *)(uintptr_t)text, strlen(text), "rb");
  assert_non_null(file);
  const uint32_t line = field_map_read(file, map, reason, 256);
  fclose(file);
  return line;
}

static void refused_text(const char *text, uint32_t expected, const char *reason) {
  char found[256] = "";
  struct field_map map;
  const uint32_t line = read_map(text, &map, found);
  if (line != expected || strcmp(found, reason) != 0)
    fail_msg("line %u, \"%s\"; expected %u, \"%s\"", line, found, expected, reason);
  assert_null(map.values);
}
static void refused(const char *old, const char *new, uint32_t expected, const char *reason) {
  char *original = small_map(), *text = text_with(original, old, new);
  refused_text(text, expected, reason);
  free(text);
  free(original);
}

static void wrong_maps_are_refused(void **state) {
  (void)state;
  refused("field_map 1", "field_map 2", 1, "format is 2, expected 1 to 1");
  refused("field_map 1\n", "\n", 6, "expected \"field_map 1\" first");
  refused("axis y", "axis u", 3, "axis is \"u\", expected x, y or z");
  refused("axis y", "axis x", 3, "axis x a second time");
  refused("axis x -4000 4000 6\n", "\n", 6, "axis x is missing");
  refused("axis y -3000 3000 6\n", "\n", 6, "axis y is missing");
  refused("axis z 0 10000 6\n", "\n", 6, "axis z is missing");
  refused("symmetry none\n", "\n", 6, "symmetry is missing");
  refused("symmetry none", "symmetry octant", 5, "symmetry is \"octant\", expected none or quadrant");
  refused("symmetry none", "symmetry quadrant", 6, "a quadrant begins at x = -4000, expected 0");
  refused("-4000 4000 6", "-4000 4000 5", 2, "the number of points is 5, expected 6 to 2000");
  refused("-4000 4000 6", "4000 -4000 6", 2, "axis x is from 4000 to -4000");
  refused("-4000 4000 6", "1 4000 6", 6, "x is from 1 to 4000, expected a range with 0");
  refused("0 10000 6", "0 9000 6", 6, "z is from 0 to 9000, expected a range with 770 to 9403");
  refused("0 10000 6", "800 10000 6", 6, "z is from 800 to 10000, expected a range with 770 to 9403");
  refused("-4000 4000 6\naxis y -3000 3000 6\naxis z 0 10000 6",
          "-4000 4000 2000\naxis y -3000 3000 2000\naxis z 0 10000 2000", 6,
          "8000000000 grid points, expected at most 10000000");
  refused("field 0 0 0\n", "field 0 0\n", 6, "Bz is missing");
  refused("field 0 0 0\n", "field 0 nan 0\n", 6, "By is not a number of at most 15 digits: nan");
  refused("field 0 0 0\n", "field 12 0 0\n", 6, "Bx is 12, expected -10 to 10");
  refused("field 0 0 0\n", "field 0 0 0 0\n", 6, "\"0\" is one word too many");
  refused("field 0 0 0\n", "fields 0 0 0\n", 6, "there is no statement \"fields\"");
  refused("field 0 0 0\n", "field 0 0 0\nsymmetry none\n", 7, "expected \"field\", found \"symmetry\"");
  refused("field 0 0 0\n", "", 220, "215 of 216 grid points");
  refused("field 0 0 0\n", "field 0 0 0\nfield 0 0 0\n", 222, "more than 216 grid points");
  refused_text(head, 5, "a map without grid points");
  refused_text(
      "field_map 1\naxis x 0 4000 6\naxis y 0 3000 6\naxis z 0 10000 6\nsymmetry quadrant\nfield 0 1 0\nfield 0.1 1 "
      "0\n",
      7, "Bx is 0.1, expected 0 by symmetry");
}

static void missing_files_are_reported(void **state) {
  struct messages m;
  struct field_map map;
  (void)state;
  messages_begin(&m);
  assert_int_equal(field_map_load(&m.services, "/nowhere/map", &map), SL_EIO);
  assert_non_null(strstr(m.last, "/nowhere/map: "));
}

/* Largest difference to the model within the aperture, T. */
static double worst(const struct field_map *map) {
  double most = 0;
  for (int k = 0; k < 71; k++)
    for (int j = 0; j < 11; j++)
      for (int i = 0; i < 11; i++) {
        const double z = 780 + 123 * k, x = (0.06 * z + 9) * i - 0.3 * z, y = (0.05 * z + 7) * j - 0.25 * z;
        const double position[3] = {x, y, z};
        double expected[3], found[3];
        if (x > 0.3 * z || y > 0.25 * z) continue;
        assert_int_equal(field_at(NULL, position, expected), 1);
        assert_int_equal(field_at(map, position, found), 1);
        for (int c = 0; c < 3; c++) most = fmax(most, fabs(found[c] - expected[c]));
      }
  return most;
}

/* Fourth order: half the spacing gives a sixteenth of the error. */
static void interpolation_is_of_fourth_order(void **state) {
  struct field_map coarse, fine;
  (void)state;
  model_map(200, 1, &coarse);
  model_map(100, 1, &fine);
  const double error = worst(&fine), coarse_error = worst(&coarse);
  print_message("errors %.2g and %.2g T\n", error, coarse_error);
  assert_true(error > 0 && error < 5e-4 && error * 8 < coarse_error);
  field_map_free(&coarse);
  field_map_free(&fine);
}

static void a_quadrant_equals_the_whole(void **state) {
  struct field_map whole, quadrant;
  (void)state;
  model_map(200, 0, &whole);
  model_map(200, 1, &quadrant);
  for (int i = 0; i < 1000; i++) {
    const double position[3] = {-3000 + i * 6, 2500 - i * 5, 800 + i * 8};
    double a[3], b[3];
    assert_int_equal(field_at(&whole, position, a), 1);
    assert_int_equal(field_at(&quadrant, position, b), 1);
    for (int c = 0; c < 3; c++) assert_true(fabs(a[c] - b[c]) < 1e-8);
  }
  field_map_free(&whole);
  field_map_free(&quadrant);
}

static void tracks_end_where_the_map_ends(void **state) {
  struct field_map map;
  char reason[256], *text = small_map();
  struct field_state inside = {770, {0, 0, 0.1, 0.1}}, outside = {770, {0, 0, 0.1, 0.1}};
  (void)state;
  assert_int_equal(read_map(text, &map, reason), 0);
  assert_int_equal(field_advance(&map, 1e-4, 9000, &inside), 1);
  assert_true(fabs(inside.at[0] - 823) < 1e-9 && inside.z == 9000);
  assert_int_equal(field_advance(&map, 1e-4, 11000, &outside), 0);
  struct field_state wide = {770, {0, 0, 0.5, 0}}; /* leaves the aperture of the magnet */
  assert_int_equal(field_advance(&map, 1e-4, 9000, &wide), 0);
  field_map_free(&map);
  free(text);
}

/* The check of the field model: 10 GeV from the origin. */
static void runge_kutta_agrees_with_the_model(void **state) {
  struct field_state s = {0, {0, 0, 0, 0}};
  (void)state;
  assert_int_equal(field_advance(NULL, 1e-4, 9410, &s), 1);
  assert_true(fabs(s.at[0] - 517.96) < 0.01 && fabs(s.at[2] - 0.125628) < 1e-6 && s.at[1] == 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wrong_maps_are_refused),           cmocka_unit_test(missing_files_are_reported),
      cmocka_unit_test(interpolation_is_of_fourth_order), cmocka_unit_test(a_quadrant_equals_the_whole),
      cmocka_unit_test(tracks_end_where_the_map_ends),    cmocka_unit_test(runge_kutta_agrees_with_the_model),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
