/* constants_test.c: forward.constants and forward_math.h: coefficients against the calibrations, evaluated in double
 * precision term by term, and formulas against calculated values and tracks of known shape.
 */
#include "../../plugins/forward/forward_math.h"
#include "calibrations.h"

static const float down = -1, up = 1;

/* A calibration, and the constant that is made from it. */
struct made {
  struct calibration calibration;
  struct sl_test *constant;
  struct forward_constants_view view;
};

static const float *array_of(const struct made *m, const char *field, uint32_t count) {
  assert_int_equal(sl_test_output_count(m->constant, "forward", field), count);
  return sl_test_output(m->constant, "forward", field);
}

static struct made *made_of(const char *path, const char *file) {
  struct made *m = calloc(1, sizeof *m);
  calibration_load(file, &m->calibration);
  m->constant = sl_test_new(FORWARD_PLUGIN, "constants");
  sl_test_set_text(m->constant, "path", path);
  assert_int_equal(sl_test_run(m->constant), 0);
  m->view.z_layer = array_of(m, "z_layer", SCIFI_LAYERS);
  m->view.dxdy = array_of(m, "dxdy", SCIFI_LAYERS);
  m->view.kick = array_of(m, "kick", SCIFI_STATIONS * FORWARD_KICK_TERMS);
  m->view.y_shift = array_of(m, "y_shift", SCIFI_LAYERS * FORWARD_Y_TERMS);
  m->view.bend = array_of(m, "bend", FORWARD_BEND_TERMS);
  m->view.constants = array_of(m, "constants", FORWARD_CONSTANTS);
  return m;
}

static void forget(struct made *m) {
  sl_test_free(m->constant);
  free(m);
}

static struct made *made_of_file(const char *file) {
  char path[SCRATCH_PATH_MAX];
  calibration_path(file, path);
  return made_of(path, file);
}

static void assert_near(double found, double expected, double tolerance) {
  if (!(fabs(found - expected) <= tolerance))
    fail_msg("found %.9g, expected %.9g within %.2g", found, expected, tolerance);
}

static uint32_t random_state = 5;
static float random_between(float low, float high) {
  random_state = random_state * 1664525u + 1013904223u;
  return low + (high - low) * (float)(random_state >> 8) / 16777216.0f;
}

static struct forward_state random_state_at(float z) {
  const struct forward_state s = {random_between(-500, 500), random_between(-500, 500), z, random_between(-0.3f, 0.3f),
                                  random_between(-0.25f, 0.25f)};
  return s;
}

/* ------------------------------------------------------------------------------------------- what is read */

static void a_path_that_does_not_exist_is_refused(void **state) {
  (void)state;
  calibration_is_missing("constants");
}

static void an_empty_path_gives_the_nominal_calibration_and_a_folder_lhcbs(void **state) {
  (void)state;
  char folder[SCRATCH_PATH_MAX];
  scratch_folder(folder);
  struct made *nominal = made_of("", calibration_files[0]), *lhcb = made_of(folder, calibration_files[1]);
  assert_true(nominal->view.constants[FORWARD_Z_MAGNET] == 5227.19764f);
  assert_true(lhcb->view.constants[FORWARD_Z_MAGNET] == 5212.38f);
  assert_true(nominal->view.z_layer[11] == 9402.9f && lhcb->view.z_layer[11] == 9403.0f);
  for (int i = 0; i < 2; i++) {
    const struct made *m = i ? lhcb : nominal;
    for (int layer = 0; layer < SCIFI_LAYERS; layer++) {
      assert_true(m->view.z_layer[layer] == (float)m->calibration.forward_z_layer[layer]);
      assert_true(m->view.dxdy[layer] == (float)m->calibration.scifi_dxdy[layer]);
    }
    assert_true(m->view.constants[FORWARD_X_WINDOW + 2] == (float)m->calibration.forward_x_window[2]);
    assert_true(m->view.constants[FORWARD_X_RANGE + 1] == (float)m->calibration.forward_x_range[1]);
    assert_true(m->view.constants[FORWARD_X_RANGE_QOP] == 0.0005f && m->view.constants[FORWARD_Z_UT] == 2642.0f);
    assert_true(m->view.constants[FORWARD_SAGITTA + 1] == (float)m->calibration.forward_sagitta[1]);
    assert_true(m->view.constants[FORWARD_Z_REFERENCE] == 8520.0f && m->view.constants[FORWARD_Z_END] == 9410.0f);
    assert_true(m->view.constants[FORWARD_DZDY] == 0.003601f);
  }
  forget(nominal);
  forget(lhcb);
}

static void an_unknown_calibration_term_is_refused(void **state) {
  (void)state;
  static const struct refused_term cases[] = {
      {"polynomial forward.kick.1 tx ty\n", "term 1 5 0\n", "forward.kick.1"},
      {"polynomial forward.y.7 shift tx ty\n", "term 1 1 2 1\n", "forward.y.7"},
      {"polynomial forward.bend bend tx ty\n", "term 1 5 0 0\n", "forward.bend"},
      {"polynomial forward.x_magnet slope\n", "term 1 4\n", "forward.x_magnet"},
      {"polynomial forward.d_ratio radius\n", "term 1 3\n", "forward.d_ratio"},
      {"polynomial forward.border inverse_p tx ty\n", "term 1 2 0 1\n", "forward.border"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) calibration_is_refused("constants", &cases[i]);
}

/* -------------------------------------------------------------------------- against the calibration in double */

/* Odd powers of ty carry -polarity. */
static double kick_of(const struct calibration_polynomial *p, double tx, double ty, double polarity) {
  double sum = 0;
  for (uint32_t i = 0; i < p->count; i++) {
    const struct calibration_term *t = &p->terms[i];
    sum += (t->power[1] % 2 ? -polarity : 1) * t->coefficient * pow(tx, t->power[0]) * pow(ty, t->power[1]);
  }
  return sum;
}

static void x_downstream_of_the_magnet_equals_the_calibration(void **state) {
  (void)state;
  for (int f = 0; f < 2; f++) {
    struct made *m = made_of_file(calibration_files[f]);
    const double z_magnet = m->calibration.forward_z_magnet;
    for (int i = 0; i < 1000; i++) {
      const struct forward_state s = random_state_at(2642);
      const float qop = random_between(-1, 1) / 3000, polarity = i % 2 ? up : down;
      const uint32_t layer = (uint32_t)i % SCIFI_LAYERS, station = layer / SCIFI_STATION_LAYERS;
      const double kick = kick_of(&m->calibration.forward_kick[station], s.tx, s.ty, polarity);
      const double slope = s.tx - polarity * (double)qop * kick, z = m->calibration.forward_z_layer[layer];
      const double x = s.x + s.tx * (z_magnet - s.z) + slope * (z - z_magnet);
      const float found = forward_bent_slope(&m->view, &s, qop, polarity, station);
      assert_near(found, slope, 1e-6 * (1 + fabs(slope)));
      assert_near(forward_bent_x(&m->view, &s, found, m->view.z_layer[layer]), x, 0.005);
    }
    forget(m);
  }
}

/* With LHCb's constants: the kick of a track along the axis is 1170.58336 q/p; at 5 GeV 0.234117, over 2613.62 mm. A
 * positive charge bends to +x for polarity down. */
static void a_positive_track_bends_to_positive_x_for_polarity_down(void **state) {
  (void)state;
  struct made *m = made_of_file(calibration_files[1]);
  const struct forward_state s = {10, 0, 2642, 0, 0};
  assert_near(forward_bent_x(&m->view, &s, forward_bent_slope(&m->view, &s, 2e-4f, down, 0), 7826), 621.893, 0.01);
  assert_near(forward_bent_x(&m->view, &s, forward_bent_slope(&m->view, &s, 2e-4f, up, 0), 7826), -601.893, 0.01);
  assert_near(forward_bent_slope(&m->view, &s, -2e-4f, down, 2), -0.247627, 1e-6); /* 1238.13318 in station 3 */
  /* tx^3 ty of station 2 is odd in ty: the opposite field and the opposite side in y give the same result except for
   * the charge */
  const struct forward_state a = {0, 0, 2642, 0.2f, 0.1f}, b = {0, 0, 2642, 0.2f, -0.1f};
  assert_near(forward_bent_slope(&m->view, &a, 1e-4f, down, 1), forward_bent_slope(&m->view, &b, -1e-4f, up, 1), 0);
  assert_true(forward_bent_slope(&m->view, &a, 1e-4f, down, 1) != forward_bent_slope(&m->view, &b, 1e-4f, down, 1));
  forget(m);
}

/* At z = 7826 a line of slope 0.1 from y = 100 at 2642 is at 618.4; the layer is tilted towards it: / (1 - 0.0003601).
 */
static void the_z_of_a_crossing_includes_the_tilt_of_the_layer(void **state) {
  (void)state;
  struct made *m = made_of_file(calibration_files[1]);
  const struct forward_state s = {0, 100, 2642, 0, 0.1f};
  assert_near(forward_line_y(&m->view, &s, 7826), 618.622767, 1e-3);
  forget(m);
}

static void y_for_x_equals_the_calibration(void **state) {
  (void)state;
  for (int f = 0; f < 2; f++) {
    struct made *m = made_of_file(calibration_files[f]);
    for (int i = 0; i < 2000; i++) {
      const struct forward_state s = random_state_at(2642);
      const uint32_t layer = (uint32_t)i % SCIFI_LAYERS;
      const double dz = m->calibration.forward_z_layer[layer] - s.z;
      const double variables[CALIBRATION_VARIABLES] = {(double)random_between(-600, 600), s.tx, s.ty};
      const float x = (float)(s.x + s.tx * dz + variables[0]);
      const double exact[CALIBRATION_VARIABLES] = {x - (s.x + s.tx * dz), s.tx, s.ty};
      const double y = s.y + s.ty * dz + calibration_sum(&m->calibration.forward_y[layer], exact);
      const struct forward_y_shift shift = forward_y_shift_of(&m->view, &s, layer);
      assert_near(forward_shifted_y(&s, &shift, m->view.z_layer[layer], x), y, 0.005);
    }
    forget(m);
  }
}

static void the_window_border_equals_the_calibration(void **state) {
  (void)state;
  for (int f = 0; f < 2; f++) {
    struct made *m = made_of_file(calibration_files[f]);
    for (int i = 0; i < 500; i++) {
      const float inverse = random_between(0.01f, 0.4f), tx = random_between(-0.3f, 0.3f);
      const float ty = random_between(-0.3f, 0.3f);
      const double variables[CALIBRATION_VARIABLES] = {inverse, tx, ty};
      const double expected = calibration_sum(m->calibration.forward_border, variables);
      assert_near(forward_border(&m->view, inverse, tx, ty), expected, 1e-5 * fabs(expected) + 1e-3);
    }
    forget(m);
  }
}

/* LHCb's: r = -(0.000267957 - 8.651e-6 R + 4.60324e-5 R^2); for x = 2000, y = 1000: R = sqrt(1 + 1). */
static void the_change_of_curvature_equals_the_calibration(void **state) {
  (void)state;
  struct made *m = made_of_file(calibration_files[1]);
  assert_near(forward_curve_r(&m->view, 2000, 1000), -(0.000267957 - 8.651e-6 * 1.41421356 + 4.60324e-5 * 2), 1e-10);
  assert_near(forward_curve_r(&m->view, 0, 0), -0.000267957, 1e-10);
  const double slope = 0.1, variables[CALIBRATION_VARIABLES] = {slope};
  assert_near(forward_polynomial(m->view.constants + FORWARD_X_MAGNET, 4, 0.1f),
              calibration_sum(m->calibration.forward_x_magnet, variables), 1e-5);
  forget(m);
}

/* ------------------------------------------------------------------------------------------- the curve */

/* x = 100 + 0.2 d + 1e-5 d^2 (1 - 3e-4 d), d from 8520: at d = 100: 100 + 20 + 0.1 (1 - 0.03) = 120.097. */
static void a_curve_passes_through_its_three_points(void **state) {
  (void)state;
  const struct forward_curve known = {1e-5f, 0.2f, 100, -3e-4f};
  assert_near(forward_curve_x(&known, 100), 120.097, 1e-4);
  assert_near(forward_curve_x(&known, 0), 100, 0);
  assert_near(forward_curve_slope(&known, 100), 0.2 + 2e-3 - 9e-5, 1e-7);
  const float d[3] = {-694, -12, 673};
  const float x[3] = {forward_curve_x(&known, d[0]), forward_curve_x(&known, d[1]), forward_curve_x(&known, d[2])};
  const struct forward_curve found = forward_curve_through(d, x, -3e-4f);
  assert_near(found.a, 1e-5, 1e-9);
  assert_near(found.b, 0.2, 1e-6);
  assert_near(found.c, 100, 1e-3);
  for (int i = 0; i < 3; i++) assert_near(forward_curve_x(&found, d[i]), x[i], 1e-3);
}

/* ------------------------------------------------------------------------------------------- momentum */

/* Straight lines that cross at z = 5000, in double precision; y after the magnet is that of the line at z = 0. */
static double qop_in_double(const struct calibration *c, const struct forward_state *v, const struct forward_state *t,
                            double polarity) {
  const double z_t = c->scifi_z_reference, vx = v->x, vy = v->y, vz = v->z, vtx = v->tx, vty = v->ty;
  const double tx = t->x, ty = t->y, ttx = t->tx, tty = t->ty;
  const double z = (tx - vx + vtx * vz - ttx * z_t) / (vtx - ttx);
  const double x = vx + vtx * (z - vz), y = vy + vty * (z - vz), x0 = vx - vtx * vz, y0 = vy - vty * vz;
  const double after = pow(tx - x, 2) + pow(ty - y, 2) + pow(z_t - z, 2);
  const double before = pow(x - x0, 2) + pow(y - y0, 2) + z * z;
  const double change = ttx / sqrt(1 + ttx * ttx + tty * tty) - vtx / sqrt(1 + vtx * vtx + vty * vty);
  const double variables[CALIBRATION_VARIABLES] = {change, vtx, vty};
  return change /
         (polarity * 1e-3 * sqrt(after + before) * cos(asin(vty)) * calibration_sum(c->forward_bend, variables));
}

static void q_over_p_equals_the_calibration(void **state) {
  (void)state;
  for (int f = 0; f < 2; f++) {
    struct made *m = made_of_file(calibration_files[f]);
    for (int i = 0; i < 2000; i++) {
      const struct forward_state v = random_state_at(770);
      const float bend = (i % 4 < 2 ? 1.0f : -1.0f) * random_between(0.005f, 0.4f), z = random_between(5000, 5400);
      const float polarity = i % 2 ? up : down;
      const struct forward_state t = {v.x + v.tx * (z - 770) + (v.tx + bend) * (8520 - z), v.y - 770 * v.ty, 8520,
                                      v.tx + bend, v.ty};
      const double expected = qop_in_double(&m->calibration, &v, &t, polarity);
      assert_near(forward_qop(&m->view, &v, &t, polarity), expected, 1e-4 * fabs(expected));
    }
    forget(m);
  }
}

/* With LHCb's constants, in the plane y = 0: from the origin along the axis, bent at 5200 by 0.1: D = 0.1 / sqrt(1.01)
 * = 0.0995037, L = sqrt(5200^2 + 332^2 + 3320^2) mm = 6.178443 m, K = -196.844 + 0.357485 D + 42.1395 D^2 - 0.686029
 * D^3 + 28.2518 D^4 = -196.389..., polarity -1: q/p = 0.0995037 / (6.178443 * 196.389). */
static void q_over_p_of_a_calculated_bend_is_correct(void **state) {
  (void)state;
  struct made *m = made_of_file(calibration_files[1]);
  const struct forward_state v = {0, 0, 770, 0, 0}, t = {332, 0, 8520, 0.1f, 0};
  const double d = 0.09950372,
               k = -196.844 + 0.357485 * d + 42.1395 * d * d - 0.686029 * d * d * d + 28.2518 * pow(d, 4);
  assert_near(forward_qop(&m->view, &v, &t, down), d / (-6.178443 * k), 1e-9);
  assert_true(forward_qop(&m->view, &v, &t, up) == -forward_qop(&m->view, &v, &t, down));
  forget(m);
}

static void a_straight_track_gives_no_nan(void **state) {
  (void)state;
  struct made *m = made_of_file(calibration_files[0]);
  const struct forward_state v = {0, 0, 770, 0.1f, 0.05f}, t = {775, 0, 8520, 0.1f, 0.05f};
  const struct forward_state nearly = {775.5f, 0, 8520, 0.1f + 1e-8f, 0.05f};
  assert_true(forward_qop(&m->view, &v, &t, down) == 0.0f);
  assert_true(sl_is_finite(forward_qop(&m->view, &v, &nearly, down)));
  forget(m);
}

static void layer_numbers_of_x_and_stereo_layers_are_correct(void **state) {
  (void)state;
  static const uint32_t x[] = {0, 3, 4, 7, 8, 11}, stereo[] = {1, 2, 5, 6, 9, 10};
  for (uint32_t i = 0; i < 6; i++) {
    assert_int_equal(forward_x_layer(i), x[i]);
    assert_int_equal(forward_stereo_layer(i), stereo[i]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_path_that_does_not_exist_is_refused),
      cmocka_unit_test(an_empty_path_gives_the_nominal_calibration_and_a_folder_lhcbs),
      cmocka_unit_test(an_unknown_calibration_term_is_refused),
      cmocka_unit_test(x_downstream_of_the_magnet_equals_the_calibration),
      cmocka_unit_test(a_positive_track_bends_to_positive_x_for_polarity_down),
      cmocka_unit_test(the_z_of_a_crossing_includes_the_tilt_of_the_layer),
      cmocka_unit_test(y_for_x_equals_the_calibration),
      cmocka_unit_test(the_window_border_equals_the_calibration),
      cmocka_unit_test(the_change_of_curvature_equals_the_calibration),
      cmocka_unit_test(a_curve_passes_through_its_three_points),
      cmocka_unit_test(q_over_p_equals_the_calibration),
      cmocka_unit_test(q_over_p_of_a_calculated_bend_is_correct),
      cmocka_unit_test(a_straight_track_gives_no_nan),
      cmocka_unit_test(layer_numbers_of_x_and_stereo_layers_are_correct),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
