/* The magnetic field and motion in it. */
#include "transport/magnet.h"

#include "transport/lanes.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* Positions, mm, and the field of the model at polarity down, T, computed independently of this code. */
static const double known[][6] = {
    {0, 0, -300, 0, -0.007592, 0},
    {0, 0, 0, 0, -0.011128, 0},
    {0, 0, 770, 0, -0.023316, 0},
    {0, 0, 2485, 0, -0.167694, 0},
    {0, 0, 3500, 0, -0.703933, 0},
    {0, 0, 4500, 0, -0.885025, 0},
    {0, 0, 5250, 0, -1.029697, 0},
    {0, 0, 6500, 0, -0.737994, 0},
    {0, 0, 7826, 0, -0.295101, 0},
    {0, 0, 9403, 0, -0.077231, 0},
    {0, 0, 12000, 0, -0.006043, 0},
    {300, 200, 2485, 0.000672, -0.150067, -0.076166},
    {-600, 900, 5000, -0.014475, -1.299484, -0.197536},
    {1500, -1200, 6500, -0.046241, -0.745638, -0.592744},
    {2500, 2000, 8520, 0.031582, 0.017069, 0.144875},
};
enum { KNOWN = sizeof known / sizeof known[0] };

static double uniform_in(double low, double high) { return low + (high - low) * (rand() + 0.5) / (RAND_MAX + 1.0); }

/* ------------------------------------------------------------------------------------------------- the field */

static void the_field_is_as_known(void **state) {
  (void)state;
  for (int i = 0; i < KNOWN; i++) {
    double field[3];
    sim_magnet_field(SIM_POLARITY_DOWN, known[i], field);
    for (int k = 0; k < 3; k++) assert_true(fabs(field[k] - known[i][3 + k]) < 0.6e-6);
  }
}

static void the_other_polarity_is_the_opposite_field(void **state) {
  (void)state;
  for (int i = 0; i < KNOWN; i++) {
    double down[3], up[3];
    sim_magnet_field(SIM_POLARITY_DOWN, known[i], down);
    sim_magnet_field(SIM_POLARITY_UP, known[i], up);
    for (int k = 0; k < 3; k++) assert_true(up[k] == -down[k]);
  }
}

static void the_field_is_zero_outside_the_model(void **state) {
  (void)state;
  static const double outside[][3] = {{100, 100, -500.1}, {100, 100, 13000.1}};
  for (int i = 0; i < 2; i++) {
    double field[3];
    sim_magnet_field(SIM_POLARITY_UP, outside[i], field);
    assert_true(field[0] == 0 && field[1] == 0 && field[2] == 0);
  }
}

/* Integrals of |By| on the axis, T m. */
static double integral(double from, double to) {
  enum { PARTS = 20000 };
  double sum = 0;
  for (int i = 0; i < PARTS; i++) {
    const double place[3] = {0, 0, from + (to - from) * (i + 0.5) / PARTS};
    double field[3];
    sim_magnet_field(SIM_POLARITY_UP, place, field);
    sum += field[1];
  }
  return sum * (to - from) / PARTS / 1000;
}

static void integrals_on_the_axis_are_as_known(void **state) {
  (void)state;
  assert_true(fabs(integral(-500, 13000) - 4.243) < 0.0006);
  assert_true(fabs(integral(770, 9410) - 4.147) < 0.0006);
  assert_true(fabs(integral(0, 2484.6) - 0.1093) < 0.00006);
}

/* Derivatives [component][direction], T / mm. */
static void derive(const double place[3], double derivative[3][3]) {
  const double h = 0.5;
  for (int k = 0; k < 3; k++) {
    double low[3] = {place[0], place[1], place[2]}, high[3] = {place[0], place[1], place[2]}, a[3], b[3];
    low[k] -= h;
    high[k] += h;
    sim_magnet_field(SIM_POLARITY_UP, low, a);
    sim_magnet_field(SIM_POLARITY_UP, high, b);
    for (int i = 0; i < 3; i++) derivative[i][k] = (b[i] - a[i]) / (2 * h);
  }
}

static void divergence_and_curl_vanish(void **state) {
  (void)state;
  double largest = 0, worst = 0;
  srand(1);
  for (int n = 0; n < 20000; n++) {
    const double z = uniform_in(-400, 12900), size_x = fmin(3000, fmax(0.3 * z, 0) + 200);
    const double size_y = fmin(3000, fmax(0.25 * z, 0) + 100);
    const double place[3] = {uniform_in(-size_x, size_x), uniform_in(-size_y, size_y), z};
    double d[3][3];
    derive(place, d);
    for (int i = 0; i < 9; i++) largest = fmax(largest, fabs(d[i / 3][i % 3]));
    worst = fmax(worst, fabs(d[0][0] + d[1][1] + d[2][2]));
    for (int i = 0; i < 3; i++) worst = fmax(worst, fabs(d[(i + 1) % 3][i] - d[i][(i + 1) % 3]));
  }
  print_message("largest gradient %.3g T/mm, largest divergence or curl %.3g T/mm\n", largest, worst);
  assert_true(largest > 1e-4 && worst < 1e-5 * largest);
}

/* ---------------------------------------------------------------------------------------------- motion */

static struct sim_track along_the_axis(double p, double charge) {
  return (struct sim_track){.charge = charge, .p = (float)p, .mass = 139.57f};
}

static void a_10_gev_track_ends_at_the_known_position(void **state) {
  (void)state;
  struct sim_track t = along_the_axis(10000, SIM_POLARITY_DOWN);
  sim_track_advance(&t, 9410, 100);
  assert_true(fabs(t.x - 517.96) < 0.01 && fabs(t.tx - 0.125628) < 1e-6 && fabs(t.y) < 1e-9);
}

static void polarity_and_charge_determine_the_bend(void **state) {
  (void)state;
  for (int i = 0; i < 4; i++) {
    const double charge = i % 2 ? 1 : -1, polarity = i / 2 ? SIM_POLARITY_UP : SIM_POLARITY_DOWN;
    struct sim_track t = along_the_axis(20000, charge * polarity);
    sim_track_advance(&t, 9410, 100);
    assert_true((t.tx > 0) == (charge * polarity < 0));
  }
}

static void neutral_tracks_are_straight(void **state) {
  (void)state;
  struct sim_track t = {.x = 10, .y = -20, .z = 770, .tx = 0.1, .ty = -0.05, .p = 5000};
  sim_track_advance(&t, 9000, 100);
  assert_true(fabs(t.x - (10 + 0.1 * 8230)) < 1e-9 && fabs(t.y - (-20 - 0.05 * 8230)) < 1e-9);
  assert_true(t.tx == 0.1 && t.ty == -0.05);
}

static void tracking_back_returns_to_the_start(void **state) {
  (void)state;
  srand(2);
  for (int n = 0; n < 200; n++) {
    const struct sim_track begin = {.x = uniform_in(-20, 20),
                                    .y = uniform_in(-20, 20),
                                    .z = 770,
                                    .tx = uniform_in(-0.2, 0.2),
                                    .ty = uniform_in(-0.2, 0.2),
                                    .charge = n % 2 ? 1 : -1,
                                    .p = (float)uniform_in(3000, 50000)};
    struct sim_track t = begin;
    sim_track_advance(&t, 9410, 50);
    sim_track_advance(&t, 770, 50);
    assert_true(fabs(t.x - begin.x) < 1e-3 && fabs(t.y - begin.y) < 1e-3);
    assert_true(fabs(t.tx - begin.tx) < 1e-6 && fabs(t.ty - begin.ty) < 1e-6);
  }
}

/* ------------------------------------------------------------------------------------------------- closure */

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Half width of the central 68 %. */
static double width_of(const double *sorted, int count) {
  return 0.5 * (sorted[(int)(0.84 * count)] - sorted[(int)(0.16 * count)]);
}

/* Solves four linear equations by elimination. */
static void solve(double m[4][5]) {
  for (int c = 0; c < 4; c++) {
    int best = c;
    for (int i = c; i < 4; i++) best = fabs(m[i][c]) > fabs(m[best][c]) ? i : best;
    for (int k = 0; k < 5; k++) {
      const double kept = m[c][k];
      m[c][k] = m[best][k];
      m[best][k] = kept;
    }
    for (int i = 0; i < 4; i++) {
      const double factor = m[i][c] / m[c][c];
      for (int k = c; i != c && k < 5; k++) m[i][k] -= factor * m[c][k];
    }
  }
}

/* Coefficients of the best cubic in z - 8520 through a track's x at the SciFi layers, in m. */
static void fit_cubic(struct sim_track t, double coefficients[4]) {
  static const double layers[] = {7826.1, 7895.9, 7966.1, 8035.9, 8508.1, 8577.9,
                                  8648.1, 8717.9, 9193.1, 9262.9, 9333.1, 9402.9};
  double m[4][5] = {{0}};
  for (int i = 0; i < 12; i++) {
    sim_track_advance(&t, layers[i], 100);
    const double z = (layers[i] - 8520) / 1000, power[4] = {1, z, z * z, z * z * z};
    for (int a = 0; a < 4; a++) {
      for (int b = 0; b < 4; b++) m[a][b] += power[a] * power[b];
      m[a][4] += power[a] * t.x / 1000;
    }
  }
  solve(m);
  for (int a = 0; a < 4; a++) coefficients[a] = m[a][4] / m[a][a];
}

/* For tracks of 3 to 100 GeV: curvature in the SciFi times momentum, and ratio of the cubic and quadratic terms;
 * README.md compares them with full simulation. */
static void curvature_after_the_magnet_is_as_known(void **state) {
  (void)state;
  enum { TRACKS = 2000 };
  static double ratio[TRACKS], curvature[TRACKS];
  int count = 0;
  srand(5);
  for (int n = 0; n < TRACKS; n++) {
    const double p = 1 / uniform_in(1e-5, 1.0 / 3000), eta = uniform_in(2, 4.9), phi = uniform_in(0, 6.2831853);
    const double slope = 1 / sinh(eta);
    const struct sim_track t = {
        .tx = slope * cos(phi), .ty = slope * sin(phi), .charge = n % 2 ? 1 : -1, .p = (float)p};
    struct sim_track end = t;
    double c[4];
    sim_track_advance(&end, 9402.9, 100);
    if (fabs(end.x) > 3000 || fabs(end.y) > 2400) continue;
    fit_cubic(t, c);
    curvature[count] = fabs(c[2]) / 1000 * p; /* MeV / mm */
    ratio[count++] = c[3] / c[2] / 1000;      /* 1 / mm */
  }
  qsort(ratio, count, sizeof *ratio, ascending);
  qsort(curvature, count, sizeof *curvature, ascending);
  print_message("%d tracks: cubic to quadratic %.3g / mm, width %.2g; curvature times p %.4f MeV / mm, width %.4f\n",
                count, ratio[count / 2], width_of(ratio, count), curvature[count / 2], width_of(curvature, count));
  assert_true(count > TRACKS / 2);
  assert_true(fabs(ratio[count / 2] + 26.8e-5) < 0.3e-5 && width_of(ratio, count) < 2.5e-5);
  assert_true(fabs(curvature[count / 2] - 0.0258) < 0.0006 && width_of(curvature, count) < 0.004);
}

/* Shift of a fast track along the axis at the middle of the UT, times its momentum. */
static void the_shift_in_the_ut_is_as_known(void **state) {
  (void)state;
  struct sim_track t = along_the_axis(1e5, SIM_POLARITY_DOWN);
  sim_track_advance(&t, 2484.6, 50);
  print_message("shift in the UT times p: %.0f MeV mm\n", t.x * 1e5);
  assert_true(fabs(t.x * 1e5 - 24960) < 30);
}

/* ------------------------------------------------------------------------------------------------- blocks */

/* A plane with a uniform By. */
static struct sim_field_plane uniform_plane(double z, float by) {
  return (struct sim_field_plane){.z = z, .scale_x = 1e-6, .scale_y = 1e-6, .by = {{by}}};
}

/* In a uniform By a track without slope in y is a circle of radius p / (SIM_BENDING B) in the xz plane. */
static void in_a_uniform_field_a_track_is_a_circle(void **state) {
  (void)state;
  const float by = 1.25f;
  const double step = 100;
  struct sim_track_batch flock = {.count = 0};
  for (int l = 0; l < 11; l++) { /* in two blocks */
    const struct sim_field_plane begin = uniform_plane(0, by);
    const struct sim_track t = {.x = l, .ty = l == 0 ? 0 : 0.01 * l, .charge = -1, .p = (float)(3000 + 1000 * l)};
    assert_int_equal(sim_track_batch_add(&flock, &begin, &t), 0);
  }
  for (int i = 0; i < 40; i++) {
    const struct sim_field_plane middle = uniform_plane((i + 0.5) * step, by), end = uniform_plane((i + 1) * step, by);
    for (uint32_t k = 0; k < flock.blocks.count; k++) sim_lanes_step(&flock.blocks.at[k], i * step, &middle, &end);
  }
  assert_int_equal(flock.blocks.count, 2);
  for (uint32_t l = 0; l < flock.count; l++) {
    struct sim_track t;
    sim_track_batch_get(&flock, l, 40 * step, &t);
    const double ty0 = l == 0 ? 0 : 0.01 * l, flat = 1 / sqrt(1 + ty0 * ty0); /* of p, in the plane of the circle */
    const double radius = (double)t.p * flat / (SIM_BENDING * (double)by), sine = t.z / radius;
    const double x = l + radius * (1 - sqrt(1 - sine * sine)), y = radius * asin(sine) * ty0;
    assert_true(fabs(t.x - x) < 2e-3 && fabs(t.y - y) < 2e-3);
    assert_true(fabs(t.tx - sine / sqrt(1 - sine * sine)) < 2e-6);
  }
  free(flock.blocks.at);
}

static void polynomials_are_near_the_field(void **state) {
  (void)state;
  double worst = 0;
  srand(3);
  for (int plane_index = 0; plane_index < 92; plane_index++) {
    const double z = 770 + 130 * plane_index;
    struct sim_field_plane plane;
    sim_field_plane_make(z, &plane);
    for (int n = 0; n < 200; n++) {
      const double x = uniform_in(-1, 1) * 0.32 * z, y = uniform_in(-1, 1) * 0.26 * z, place[3] = {x, y, z};
      const struct sim_track t = {.x = x, .y = y, .z = z, .p = 1};
      struct sim_track_batch flock = {.count = 0};
      double field[3];
      sim_magnet_field(SIM_POLARITY_UP, place, field);
      assert_int_equal(sim_track_batch_add(&flock, &plane, &t), 0);
      const struct sim_lanes *lanes = flock.blocks.at;
      const double found[3] = {lanes->field_x[0], lanes->field_y[0], lanes->field_z[0]};
      for (int k = 0; k < 3; k++) worst = fmax(worst, fabs(found[k] - field[k]));
      free(flock.blocks.at);
    }
  }
  print_message("polynomials differ from the field by %.3g T at most\n", worst);
  assert_true(worst < 1e-3);
}

static void the_last_track_replaces_a_removed_one(void **state) {
  (void)state;
  struct sim_track_batch flock = {.count = 0};
  const struct sim_field_plane plane = uniform_plane(0, 1);
  for (uint32_t l = 0; l < 10; l++) {
    const struct sim_track t = {.x = l, .p = 1000, .particle = 100 + l, .kind = l};
    assert_int_equal(sim_track_batch_add(&flock, &plane, &t), 0);
  }
  sim_track_batch_remove(&flock, 3);
  sim_track_batch_remove(&flock, 8);
  assert_int_equal(flock.count, 8);
  for (uint32_t l = 0; l < flock.count; l++) {
    struct sim_track t;
    const uint32_t expected = l == 3 ? 9 : l;
    sim_track_batch_get(&flock, l, 0, &t);
    assert_int_equal(t.particle, 100 + expected);
    assert_int_equal(t.kind, expected);
    assert_true(t.x == expected);
  }
  free(flock.blocks.at);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_field_is_as_known),
      cmocka_unit_test(the_other_polarity_is_the_opposite_field),
      cmocka_unit_test(the_field_is_zero_outside_the_model),
      cmocka_unit_test(integrals_on_the_axis_are_as_known),
      cmocka_unit_test(divergence_and_curl_vanish),
      cmocka_unit_test(a_10_gev_track_ends_at_the_known_position),
      cmocka_unit_test(polarity_and_charge_determine_the_bend),
      cmocka_unit_test(neutral_tracks_are_straight),
      cmocka_unit_test(tracking_back_returns_to_the_start),
      cmocka_unit_test(curvature_after_the_magnet_is_as_known),
      cmocka_unit_test(the_shift_in_the_ut_is_as_known),
      cmocka_unit_test(in_a_uniform_field_a_track_is_a_circle),
      cmocka_unit_test(polynomials_are_near_the_field),
      cmocka_unit_test(the_last_track_replaces_a_removed_one),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
