/* clusters_test.c: calo.clusters against plain loops over cells, and constructed cases. */
#include "calo_support.h"

#include <math.h>

enum { EVENTS = 4 };
static int16_t adc[EVENTS * CALO_CELLS];

struct expected {
  uint32_t count;
  uint16_t cell[EVENTS * CALO_CLUSTERS_MAX];
  float energy[EVENTS * CALO_CLUSTERS_MAX], x[EVENTS * CALO_CLUSTERS_MAX], y[EVENTS * CALO_CLUSTERS_MAX];
  float share[EVENTS * CALO_CLUSTERS_MAX];
};

static struct sl_test *clusters_new(void) {
  struct sl_test *t = calo_new("clusters", EVENTS, "pedestal neighbours xy gain");
  sl_test_input(t, "cells", "adc", adc, EVENTS * CALO_CELLS);
  return t;
}

static int is_highest(const int16_t *own, uint32_t cell, int32_t least) {
  const uint16_t *others = (const uint16_t *)calo_of("neighbours") + CALO_NEIGHBOURS * cell;
  if (own[cell] == CALO_NO_ADC || own[cell] < least) return 0;
  for (uint32_t k = 0; k < CALO_NEIGHBOURS && others[k] != CALO_NO_NEIGHBOUR; k++)
    if (own[others[k]] != CALO_NO_ADC && own[others[k]] >= own[cell]) return 0;
  return 1;
}

/* Energy of the highest cells, of at least 50 counts, that are next to `shared`, other than `cell`. */
static float energy_of_others(const int16_t *own, uint32_t shared, uint32_t cell) {
  const uint16_t *others = (const uint16_t *)calo_of("neighbours") + CALO_NEIGHBOURS * shared;
  const float *gain = calo_of("gain"), pedestal = *(const float *)calo_of("pedestal");
  float sum = 0;
  for (uint32_t k = 0; k < CALO_NEIGHBOURS && others[k] != CALO_NO_NEIGHBOUR; k++)
    if (others[k] != cell && is_highest(own, others[k], 50))
      sum += gain[others[k]] * ((float)own[others[k]] - pedestal);
  return sum;
}

static void expect_cluster(struct expected *e, const int16_t *own, uint32_t cell, int32_t others_min,
                           int corrects_overlap) {
  const uint16_t *others = (const uint16_t *)calo_of("neighbours") + CALO_NEIGHBOURS * cell;
  const float *gain = calo_of("gain"), *xy = calo_of("xy"), pedestal = *(const float *)calo_of("pedestal");
  const float highest = gain[cell] * ((float)own[cell] - pedestal);
  float energy = highest, x = 0, y = 0;
  for (uint32_t k = 0; k < CALO_NEIGHBOURS && others[k] != CALO_NO_NEIGHBOUR; k++) {
    if (own[others[k]] == CALO_NO_ADC || own[others[k]] <= others_min) continue;
    const float added = gain[others[k]] * ((float)own[others[k]] - pedestal);
    const float of_others = corrects_overlap ? energy_of_others(own, others[k], cell) : 0;
    energy += added;
    if (of_others > 0) energy -= of_others / (highest + of_others) * added;
    x += added * (xy[2 * others[k]] - xy[2 * cell]);
    y += added * (xy[2 * others[k] + 1] - xy[2 * cell + 1]);
  }
  e->cell[e->count] = (uint16_t)cell;
  e->energy[e->count] = energy;
  e->x[e->count] = xy[2 * cell] + x / energy;
  e->y[e->count] = xy[2 * cell + 1] + y / energy;
  e->share[e->count++] = highest / energy;
}

static void assert_clusters(const struct sl_test *t, const struct expected *e) {
  assert_memory_equal(sl_test_output(t, "clusters", "cell"), e->cell, e->count * sizeof e->cell[0]);
  assert_memory_equal(sl_test_output(t, "clusters", "energy"), e->energy, e->count * sizeof e->energy[0]);
  assert_memory_equal(sl_test_output(t, "clusters", "x"), e->x, e->count * sizeof e->x[0]);
  assert_memory_equal(sl_test_output(t, "clusters", "y"), e->y, e->count * sizeof e->y[0]);
  assert_memory_equal(sl_test_output(t, "clusters", "highest_share"), e->share, e->count * sizeof e->share[0]);
  const float *et = sl_test_output(t, "clusters", "et");
  for (uint32_t i = 0; i < e->count; i++) {
    const double x = (double)e->x[i], y = (double)e->y[i], r = sqrt(x * x + y * y);
    assert_true(fabs((double)et[i] / (double)e->energy[i] - r / sqrt(r * r + 12650.0 * 12650.0)) < 1e-6);
  }
}

static void clusters_equal_those_of_plain_loops(void **state) {
  (void)state;
  static struct expected e;
  for (int turn = 0; turn < 5; turn++) {
    const int corrects_overlap = turn > 2; /* in dense and in sparse events */
    const int32_t highest_min = turn == 1 ? 7 : 50, others_min = turn == 2 ? 60 : 10;
    uint32_t offsets[EVENTS + 1] = {0};
    random_cells(adc, EVENTS, turn == 0 || turn == 4 ? 60 : 5,
                 turn == 2 ? 100 : 3839); /* with 100, many values are equal */
    for (uint32_t cell = 0; cell < CALO_CELLS; cell++) adc[CALO_CELLS + cell] = turn == 0 ? CALO_NO_ADC : 49;
    memset(&e, 0, sizeof e);
    for (uint32_t event = 0; event < EVENTS; event++) {
      const int16_t *own = adc + event * CALO_CELLS;
      for (uint32_t cell = 0; cell < CALO_CELLS; cell++)
        if (is_highest(own, cell, highest_min)) expect_cluster(&e, own, cell, others_min, corrects_overlap);
      offsets[event + 1] = e.count;
    }
    assert_true(offsets[1] > 30 && offsets[2] == offsets[1] && e.count > offsets[2] + 60);
    for (uint32_t block = 32; block <= 512; block *= 2) {
      struct sl_test *t = clusters_new();
      sl_test_block(t, block);
      sl_test_budget(t, "clusters", EVENTS * CALO_CLUSTERS_MAX);
      sl_test_set(t, "highest_min", highest_min);
      sl_test_set(t, "others_min", others_min);
      sl_test_set(t, "correct_overlap", corrects_overlap);
      assert_int_equal(sl_test_run(t), 0);
      assert_memory_equal(sl_test_output(t, "clusters", "offsets"), offsets, sizeof offsets);
      assert_clusters(t, &e);
      sl_test_free(t);
    }
  }
}

static void one_photon_gives_one_cluster_at_the_mean_position(void **state) {
  (void)state;
  const uint32_t cell = 2000; /* a cell of the outer area, far from its borders */
  const float *gain = calo_of("gain"), *xy = calo_of("xy");
  for (uint32_t i = 0; i < EVENTS * CALO_CELLS; i++) adc[i] = 0;
  adc[cell] = 300;
  adc[cell + 1] = 100;
  adc[cell - 1] = 10; /* too small */
  struct sl_test *t = clusters_new();
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(((const uint32_t *)sl_test_output(t, "clusters", "offsets"))[EVENTS], 1);
  const double high = (double)gain[cell] * 299.6, low = (double)gain[cell + 1] * 99.6;
  const double energy = (double)*(const float *)sl_test_output(t, "clusters", "energy");
  const double x = (double)*(const float *)sl_test_output(t, "clusters", "x");
  const double share = (double)*(const float *)sl_test_output(t, "clusters", "highest_share");
  assert_true(fabs(energy - high - low) < 0.01 && fabs(share - high / (high + low)) < 1e-6);
  assert_true(fabs(x - (double)xy[2 * cell] - 121.9 * low / (high + low)) < 0.01);
  assert_true(xy[2 * cell + 2] > xy[2 * cell] + 121 && xy[2 * cell + 2] < xy[2 * cell] + 122);
  sl_test_free(t);
}

/* Two highest cells share the cell between them in proportion to their energies. A third cell is not shared. */
static void a_shared_cell_is_divided_by_the_energies_of_the_highest_cells(void **state) {
  (void)state;
  const uint32_t cell = 2000;
  const float *gain = calo_of("gain");
  for (uint32_t i = 0; i < EVENTS * CALO_CELLS; i++) adc[i] = 0;
  adc[cell - 1] = 40;
  adc[cell] = 300;
  adc[cell + 1] = 80;
  adc[cell + 2] = 100;
  for (int corrects = 0; corrects < 2; corrects++) {
    struct sl_test *t = clusters_new();
    sl_test_set(t, "correct_overlap", corrects);
    assert_int_equal(sl_test_run(t), 0);
    assert_int_equal(((const uint32_t *)sl_test_output(t, "clusters", "offsets"))[EVENTS], 2);
    const double first = (double)gain[cell] * 299.6, second = (double)gain[cell + 2] * 99.6;
    const double shared = (double)gain[cell + 1] * 79.6, alone = (double)gain[cell - 1] * 39.6;
    const double part = corrects ? first / (first + second) : 1, other = corrects ? second / (first + second) : 1;
    const float *energy = sl_test_output(t, "clusters", "energy"),
                *share = sl_test_output(t, "clusters", "highest_share");
    assert_true(fabs((double)energy[0] - first - alone - part * shared) < 0.02);
    assert_true(fabs((double)energy[1] - second - other * shared) < 0.02);
    assert_true(fabs((double)share[1] - second / (second + other * shared)) < 1e-6);
    sl_test_free(t);
  }
}

/* One cell in each square of two by two cells reads more than the others: the largest number of clusters. */
static void fill_squares(void) {
  const float *xy = calo_of("xy");
  const uint32_t *first = calo_of("area_first");
  for (uint32_t i = 0; i < EVENTS * CALO_CELLS; i++) adc[i] = 0;
  for (uint32_t area = 0; area < CALO_AREAS; area++) {
    const double width = 121.9 / (area + 1);
    for (uint32_t cell = first[area]; cell < first[area + 1]; cell++) {
      const int column = (int)floor((double)xy[2 * cell] / width + 32),
                row = (int)floor((double)xy[2 * cell + 1] / width + 32);
      if (column % 2 == 0 && row % 2 == 0) adc[cell] = 200;
    }
  }
}

static void the_largest_number_of_clusters_fits(void **state) {
  (void)state;
  fill_squares();
  struct sl_test *t = clusters_new();
  sl_test_budget(t, "clusters", EVENTS * CALO_CLUSTERS_MAX);
  assert_int_equal(sl_test_run(t), 0);
  const uint32_t count = ((const uint32_t *)sl_test_output(t, "clusters", "offsets"))[1];
  assert_true(count > CALO_CLUSTERS_MAX * 9 / 10 && count <= CALO_CLUSTERS_MAX);
  assert_int_equal(sl_test_event_error(t, 0), 0);
  sl_test_free(t);
}

static void clusters_beyond_the_budget_are_counted_and_none_is_written(void **state) {
  (void)state;
  fill_squares();
  struct sl_test *t = clusters_new();
  sl_test_budget(t, "clusters", 20);
  assert_int_equal(sl_test_run(t), 0);
  assert_true(sl_test_used(t, "clusters") > 1000);
  assert_int_equal(((const uint32_t *)sl_test_output(t, "clusters", "offsets"))[EVENTS], 0);
  sl_test_free(t);
}

/* Limits below the pedestal are refused, so that no sum is 0 or less. */
static void limits_below_the_pedestal_are_refused(void **state) {
  (void)state;
  static const struct {
    int32_t highest_min, others_min;
    float pedestal;
    const char *message; /* or NULL */
  } cases[] = {{8, 7, 8, "highest_min is 8, expected more than the geometry's pedestal of 8"},
               {9, 6, 8, "others_min is 6, expected at least the geometry's pedestal of 8, less 1"},
               {9, 7, 8, NULL},
               {1, -1, 0.4f, "others_min is -1, expected at least the geometry's pedestal of 0.4, less 1"},
               {1, 0, 0.4f, NULL},
               {1, -256, -256, NULL}};
  for (uint32_t i = 0; i < EVENTS * CALO_CELLS; i++) adc[i] = 0;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct sl_test *t = clusters_new();
    sl_test_input(t, "geometry", "pedestal", &cases[i].pedestal, 1);
    sl_test_set(t, "highest_min", cases[i].highest_min);
    sl_test_set(t, "others_min", cases[i].others_min);
    assert_int_equal(sl_test_run(t), cases[i].message ? SL_EINVAL : SL_OK);
    if (cases[i].message && !strstr(sl_test_messages(t), cases[i].message)) fail_msg("%s", sl_test_messages(t));
    sl_test_free(t);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(clusters_equal_those_of_plain_loops),
      cmocka_unit_test(one_photon_gives_one_cluster_at_the_mean_position),
      cmocka_unit_test(a_shared_cell_is_divided_by_the_energies_of_the_highest_cells),
      cmocka_unit_test(the_largest_number_of_clusters_fits),
      cmocka_unit_test(clusters_beyond_the_budget_are_counted_and_none_is_written),
      cmocka_unit_test(limits_below_the_pedestal_are_refused),
  };
  return cmocka_run_group_tests(tests, calo_begin, calo_end);
}
