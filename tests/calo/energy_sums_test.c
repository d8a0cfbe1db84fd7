/* energy_sums_test.c: calo.energy_sums against sums in plain loops. */
#include "calo_support.h"

#include <math.h>

enum { EVENTS = 3 };
static int16_t adc[EVENTS * CALO_CELLS];

struct expected {
  uint32_t cells[EVENTS];
  int32_t adc[EVENTS];
  int64_t energy[EVENTS], positive_energy[EVENTS], et[EVENTS], part_et[EVENTS * CALO_PARTS];
};

static struct sl_test *sums_new(void) {
  struct sl_test *t = calo_new("energy_sums", EVENTS, "pedestal xy gain planes area_first");
  sl_test_input(t, "cells", "adc", adc, EVENTS * CALO_CELLS);
  return t;
}

static int64_t units(float energy) { return (int64_t)((double)energy * 1e8); }

static void expect(struct expected *e) {
  const float *gain = calo_of("gain"), *xy = calo_of("xy"), *plane = (const float *)calo_of("planes") + 4;
  const float pedestal = *(const float *)calo_of("pedestal");
  memset(e, 0, sizeof *e);
  for (uint32_t i = 0; i < EVENTS * CALO_CELLS; i++) {
    const uint32_t event = i / CALO_CELLS, cell = i % CALO_CELLS, area = (cell >= 2688) + (cell >= 4480);
    const float x = xy[2 * cell], y = xy[2 * cell + 1], z = -(plane[0] * x + plane[1] * y + plane[3]) / plane[2];
    const float sine = sqrtf((x * x + y * y) / (x * x + y * y + z * z)),
                energy = gain[cell] * ((float)adc[i] - pedestal);
    if (adc[i] == CALO_NO_ADC) continue;
    e->cells[event]++;
    e->adc[event] += adc[i];
    e->energy[event] += units(energy);
    if (adc[i] >= 0) e->positive_energy[event] += units(energy);
    e->et[event] += units(energy * sine);
    e->part_et[CALO_PARTS * event + CALO_AREAS * !(y > 0) + area] += units(energy * sine);
  }
}

static void sums_equal_those_of_plain_loops(void **state) {
  (void)state;
  static struct expected e;
  random_cells(adc, EVENTS, 20, 3839);
  for (uint32_t cell = 0; cell < CALO_CELLS; cell++) adc[CALO_CELLS + cell] = CALO_NO_ADC;
  expect(&e);
  assert_true(e.cells[0] > 5000 && e.cells[1] == 0 && e.energy[0] < e.positive_energy[0]);
  for (uint32_t block = 32; block <= 512; block *= 2) {
    struct sl_test *t = sums_new();
    sl_test_block(t, block);
    assert_int_equal(sl_test_run(t), 0);
    assert_memory_equal(sl_test_output(t, "sums", "cells"), e.cells, sizeof e.cells);
    assert_memory_equal(sl_test_output(t, "sums", "adc"), e.adc, sizeof e.adc);
    assert_memory_equal(sl_test_output(t, "sums", "energy"), e.energy, sizeof e.energy);
    assert_memory_equal(sl_test_output(t, "sums", "positive_energy"), e.positive_energy, sizeof e.positive_energy);
    assert_memory_equal(sl_test_output(t, "sums", "et"), e.et, sizeof e.et);
    assert_memory_equal(sl_test_output(t, "sums", "part_et"), e.part_et, sizeof e.part_et);
    sl_test_free(t);
  }
}

static void the_largest_values_of_all_cells_can_be_added(void **state) {
  (void)state;
  double energy = 0;
  for (uint32_t i = 0; i < EVENTS * CALO_CELLS; i++) adc[i] = 3839;
  for (uint32_t cell = 0; cell < CALO_CELLS; cell++) energy += (double)((const float *)calo_of("gain"))[cell] * 3838.6;
  struct sl_test *t = sums_new();
  assert_int_equal(sl_test_run(t), 0);
  assert_true(fabs((double)*(const int64_t *)sl_test_output(t, "sums", "energy") * 1e-8 / energy - 1) < 1e-6);
  sl_test_free(t);
}

static void gains_that_are_too_large_are_refused(void **state) {
  (void)state;
  static float gain[CALO_CELLS];
  for (uint32_t cell = 0; cell < CALO_CELLS; cell++) gain[cell] = 1e4f;
  struct sl_test *t = sums_new();
  sl_test_input(t, "geometry", "gain", gain, CALO_CELLS);
  assert_int_equal(sl_test_run(t), SL_EINVAL);
  assert_non_null(strstr(sl_test_messages(t), "the gains of the geometry are too large"));
  sl_test_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sums_equal_those_of_plain_loops),
      cmocka_unit_test(the_largest_values_of_all_cells_can_be_added),
      cmocka_unit_test(gains_that_are_too_large_are_refused),
  };
  return cmocka_run_group_tests(tests, calo_begin, calo_end);
}
