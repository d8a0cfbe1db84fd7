/* electron_id_test.c: calo.electron_id against the energy point by point; and the positions of cells (cells.h) against
 * the description of the detector.
 */
#include "calo/description.h"
#include "line_support.h"

enum { EVENTS = 4, TRACKS = 200 };
static const uint32_t offsets[EVENTS + 1] = {0, 33, 33, 130, TRACKS};
static int16_t adc[EVENTS * CALO_CELLS];
static float x[TRACKS], y[TRACKS], tx[TRACKS], ty[TRACKS], qop[TRACKS];

static struct line line_of(uint32_t i) {
  const struct line l = {x[i], y[i], 9410, tx[i], ty[i]};
  return l;
}

/* Some tracks pass several small cells, some miss the detector, some pass the hole. */
static void make_tracks(void) {
  random_cells(adc, EVENTS, 3, 1000);
  for (uint32_t i = 0; i < TRACKS; i++) {
    const float reach = i % 3 == 0 ? 500.0f : 3300.0f;
    x[i] = random_between(-reach, reach);
    y[i] = 0.8f * random_between(-reach, reach);
    tx[i] = random_between(-0.4f, 0.4f);
    ty[i] = random_between(-0.25f, 0.25f);
    qop[i] = (i % 2 ? 1.0f : -1.0f) / random_between(2000, 60000);
  }
}

static struct sl_test *electrons_new(void) {
  struct sl_test *t = calo_new("electron_id", EVENTS, "pedestal xy gain to_local planes cell_size");
  sl_test_input(t, "cells", "adc", adc, EVENTS * CALO_CELLS);
  sl_test_input(t, "tracks", "offsets", offsets, EVENTS + 1);
  sl_test_input(t, "tracks", "qop", qop, TRACKS);
  sl_test_input(t, "tracks", "x", x, TRACKS);
  sl_test_input(t, "tracks", "y", y, TRACKS);
  sl_test_input(t, "tracks", "tx", tx, TRACKS);
  sl_test_input(t, "tracks", "ty", ty, TRACKS);
  return t;
}

static void energy_is_the_sum_over_the_cells_on_the_trajectory(void **state) {
  (void)state;
  make_tracks();
  for (uint32_t block = 32; block <= 256; block *= 2) {
    struct sl_test *t = electrons_new();
    sl_test_block(t, block);
    assert_int_equal(sl_test_run(t), 0);
    const float *energy = sl_test_output(t, "electrons", "energy"),
                *e_over_p = sl_test_output(t, "electrons", "e_over_p");
    const uint8_t *is_electron = sl_test_output(t, "electrons", "is_electron");
    const uint8_t *in_acceptance = sl_test_output(t, "electrons", "in_acceptance");
    uint32_t counts[3] = {0};
    for (uint32_t event = 0; event < EVENTS; event++)
      for (uint32_t i = offsets[event]; i < offsets[event + 1]; i++) {
        const struct line l = line_of(i);
        const float expected = energy_of_line(&l, adc + event * CALO_CELLS, 4),
                    ratio = expected * (qop[i] < 0 ? -qop[i] : qop[i]);
        assert_true(energy[i] == expected && e_over_p[i] == ratio);
        assert_int_equal(is_electron[i], ratio > 0.7f);
        assert_int_equal(in_acceptance[i], cell_of_line(&l, SHOWER_MAX, SHOWER_MAX, 0) < CALO_CELLS);
        counts[0] += is_electron[i], counts[1] += in_acceptance[i], counts[2] += energy[i] > 0 && !in_acceptance[i];
      }
    assert_true(counts[0] > 5 && counts[0] < TRACKS / 2 && counts[1] > TRACKS / 2 && counts[1] < TRACKS - 10 &&
                counts[2] > 0);
    sl_test_free(t);
  }
}

static void a_track_without_a_finite_line_has_no_energy(void **state) {
  (void)state;
  make_tracks();
  tx[0] = NAN, ty[1] = INFINITY, x[2] = -INFINITY, y[3] = 1e30f, tx[4] = 1e30f, qop[5] = NAN;
  struct sl_test *t = electrons_new();
  assert_int_equal(sl_test_run(t), 0);
  for (uint32_t i = 0; i < 5; i++) assert_true(((const float *)sl_test_output(t, "electrons", "energy"))[i] == 0);
  for (uint32_t i = 0; i < 6; i++)
    assert_int_equal(((const uint8_t *)sl_test_output(t, "electrons", "is_electron"))[i], 0);
  sl_test_free(t);
}

/* ------------------------------------------------------------------------------------------ positions of cells */

static struct calo_description *description_new(void) {
  static char text[1 << 16];
  char reason[256];
  struct calo_description *d = malloc(sizeof *d);
  FILE *file = fopen(NOMINAL, "rb");
  assert_non_null(file);
  const size_t bytes = fread(text, 1, sizeof text, file);
  fclose(file);
  assert_int_equal(statements_read(&calo_description_format, text, bytes, d, reason, sizeof reason), 0);
  return d;
}

static void positions_map_to_the_cells_of_the_description(void **state) {
  (void)state;
  struct calo_description *d = description_new();
  struct calo_geometry_view g;
  memset(&g, 0, sizeof g);
  g.to_local = calo_of("to_local");
  g.cell_size = calo_of("cell_size");
  const struct calo_grid grid = calo_grid_of(&g);
  uint32_t inside = 0, differences = 0;
  for (uint32_t i = 0; i < 200000; i++) {
    const float reach = i % 2 ? 4200.0f : 450.0f, at_x = random_between(-reach, reach),
                at_y = random_between(-reach, reach);
    const float z = random_between(12600, 13040);
    const float local_y = g.to_local[5] * at_y + g.to_local[6] * z + g.to_local[7];
    struct calo_place place;
    const uint32_t cell = calo_cell_at(&grid, at_x, at_y, z),
                   expected = calo_description_cell_at(d, at_x, local_y, &place);
    inside += cell < CALO_CELLS;
    differences += cell != expected;
  }
  assert_true(inside > 100000 && differences == 0);
  free(d);
}

static void a_geometry_with_a_moved_cell_is_refused(void **state) {
  (void)state;
  static float xy[2 * CALO_CELLS];
  memcpy(xy, calo_of("xy"), sizeof xy);
  xy[2 * 4711] += 25;
  make_tracks();
  struct sl_test *t = electrons_new();
  sl_test_input(t, "geometry", "xy", xy, 2 * CALO_CELLS);
  assert_int_equal(sl_test_run(t), SL_EINVAL);
  assert_non_null(
      strstr(sl_test_messages(t), "cell 4711 of the geometry is not at its position in the calorimeter's grid"));
  sl_test_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(energy_is_the_sum_over_the_cells_on_the_trajectory),
      cmocka_unit_test(a_track_without_a_finite_line_has_no_energy),
      cmocka_unit_test(positions_map_to_the_cells_of_the_description),
      cmocka_unit_test(a_geometry_with_a_moved_cell_is_refused),
  };
  return cmocka_run_group_tests(tests, calo_begin, calo_end);
}
