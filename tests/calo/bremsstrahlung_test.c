/* bremsstrahlung_test.c: calo.bremsstrahlung against the energy point by point. */
#include "line_support.h"

#include <math.h>

enum { EVENTS = 4, TRACKS = 500 };
static const uint32_t offsets[EVENTS + 1] = {0, 240, 241, 241, TRACKS};
static int16_t adc[EVENTS * CALO_CELLS];
static struct line lines[TRACKS];
static uint8_t backward[TRACKS];

static void make_tracks(void) {
  random_cells(adc, EVENTS, 3, 1000);
  for (uint32_t i = 0; i < TRACKS; i++) {
    const float reach = i % 3 == 0 ? 0.06f : 0.35f;
    lines[i].x = random_between(-2, 2);
    lines[i].y = random_between(-2, 2);
    lines[i].z = random_between(-200, 200);
    lines[i].tx = random_between(-reach, reach);
    lines[i].ty = random_between(-reach, reach);
    backward[i] = i % 4 == 1;
  }
}

static struct sl_test *photons_new(void) {
  float column[5][TRACKS];
  struct sl_test *t = calo_new("bremsstrahlung", EVENTS, "pedestal xy gain to_local planes cell_size");
  for (uint32_t i = 0; i < TRACKS; i++) {
    const float values[] = {lines[i].x, lines[i].y, lines[i].z, lines[i].tx, lines[i].ty};
    for (uint32_t k = 0; k < 5; k++) column[k][i] = values[k];
  }
  static const char *const names[] = {"x", "y", "z", "tx", "ty"};
  for (uint32_t k = 0; k < 5; k++) sl_test_input(t, "beamline_states", names[k], column[k], TRACKS);
  sl_test_input(t, "beamline_states", "offsets", offsets, EVENTS + 1);
  sl_test_input(t, "beamline_states", "backward", backward, TRACKS);
  sl_test_input(t, "cells", "adc", adc, EVENTS * CALO_CELLS);
  return t;
}

static void energy_is_the_sum_over_the_cells_on_the_line(void **state) {
  (void)state;
  make_tracks();
  for (uint32_t block = 32; block <= 256; block *= 2) {
    struct sl_test *t = photons_new();
    sl_test_block(t, block);
    assert_int_equal(sl_test_run(t), 0);
    const float *energy = sl_test_output(t, "bremsstrahlung", "energy"),
                *et = sl_test_output(t, "bremsstrahlung", "et");
    uint32_t with_energy = 0;
    for (uint32_t event = 0; event < EVENTS; event++)
      for (uint32_t i = offsets[event]; i < offsets[event + 1]; i++) {
        const float expected = backward[i] ? 0 : energy_of_line(&lines[i], adc + event * CALO_CELLS, 2);
        const double slope = hypot((double)lines[i].tx, (double)lines[i].ty);
        assert_true(energy[i] == expected);
        assert_true(fabs((double)et[i] - (double)expected * sin(atan(slope))) < 1e-6 * (double)expected + 1e-9);
        with_energy += expected > 0;
      }
    assert_true(with_energy > TRACKS / 4 && with_energy < 3 * TRACKS / 4);
    sl_test_free(t);
  }
}

static void a_bremsstrahlung_photon_is_found(void **state) {
  (void)state;
  make_tracks();
  for (uint32_t i = 0; i < EVENTS * CALO_CELLS; i++) adc[i] = 0;
  lines[0] = (struct line){0, 0, 0, 0.1f, 0.05f};
  const uint32_t cell = cell_of_line(&lines[0], SHOWER_MAX, SHOWER_MAX, 0);
  adc[cell] = 500;
  struct sl_test *t = photons_new();
  assert_int_equal(sl_test_run(t), 0);
  const double energy = (double)*(const float *)sl_test_output(t, "bremsstrahlung", "energy");
  assert_true(fabs(energy - (double)((const float *)calo_of("gain"))[cell] * 499.6) < 0.01);
  sl_test_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(energy_is_the_sum_over_the_cells_on_the_line),
      cmocka_unit_test(a_bremsstrahlung_photon_is_found),
  };
  return cmocka_run_group_tests(tests, calo_begin, calo_end);
}
