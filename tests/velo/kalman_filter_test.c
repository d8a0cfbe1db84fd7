/* kalman_filter_test.c: track states against calculated values, against a plain Kalman filter in double precision, and
 * against the fit of each track alone. */
#include "tracking_sample.h"

enum { MAX_TRACKS = 400, MAX_HITS = MAX_TRACKS * VELO_MAX_HITS_PER_TRACK, FIELDS = 11 };
enum { X, Y, Z, TX, TY, C00, C20, C22, C11, C31, C33 };
static const char *const field_names[FIELDS] = {"x", "y", "z", "tx", "ty", "c00", "c20", "c22", "c11", "c31", "c33"};

struct tracks {
  uint32_t event_count, track_count, hit_count, first_track;
  uint32_t offsets[SAMPLE_EVENTS + 1], hit_offsets[MAX_TRACKS + 1];
  float x[MAX_HITS], y[MAX_HITS], z[MAX_HITS], beam[2];
};

static void begin(struct tracks *tracks, uint32_t first_track) {
  memset(tracks, 0, sizeof *tracks);
  tracks->track_count = tracks->first_track = tracks->offsets[0] = first_track;
}

static void add_hit(struct tracks *tracks, double x, double y, double z) {
  tracks->x[tracks->hit_count] = (float)x;
  tracks->y[tracks->hit_count] = (float)y;
  tracks->z[tracks->hit_count] = (float)z;
  tracks->hit_count++;
}

static void end_track(struct tracks *tracks) { tracks->hit_offsets[++tracks->track_count] = tracks->hit_count; }
static void end_event(struct tracks *tracks) { tracks->offsets[++tracks->event_count] = tracks->track_count; }

/* Hits of the line x = x0 + tx z, y = y0 + ty z, at n positions from z on, in descending z. */
static void add_line(struct tracks *tracks, double x0, double y0, double tx, double ty, double z, double dz,
                     uint32_t n) {
  for (uint32_t i = 0; i < n; i++, z -= dz) add_hit(tracks, x0 + tx * z, y0 + ty * z, z);
  end_track(tracks);
}

static struct sl_test *open_filter(const struct tracks *tracks) {
  struct sl_test *t = sl_test_new(VELO_PLUGIN, "kalman_filter");
  sl_test_events(t, tracks->event_count);
  sl_test_input(t, "tracks", "offsets", tracks->offsets, tracks->event_count + 1);
  sl_test_input(t, "tracks", "hit_offsets", tracks->hit_offsets, tracks->track_count + 1);
  sl_test_input(t, "tracks", "hit_x", tracks->x, tracks->hit_count);
  sl_test_input(t, "tracks", "hit_y", tracks->y, tracks->hit_count);
  sl_test_input(t, "tracks", "hit_z", tracks->z, tracks->hit_count);
  sl_test_input(t, "geometry", "beam", tracks->beam, 2);
  return t;
}

static float value(const struct sl_test *t, const char *port, uint32_t track, uint32_t field) {
  return ((const float *)sl_test_output(t, port, field_names[field]))[track];
}

static uint32_t backward(const struct sl_test *t, uint32_t track) {
  const uint8_t *a = sl_test_output(t, "beamline_states", "backward"), *b = sl_test_output(t, "end_states", "backward");
  assert_int_equal(a[track], b[track]);
  return a[track];
}

static void assert_near(double value, double expected, double tolerance) {
  if (!(fabs(value - expected) <= tolerance)) fail_msg("%.9g is not %.9g", value, expected);
}

/* The plain Kalman filter in double precision. `state`: fields in the order of the collection. */
static void textbook_fit(const struct tracks *in, uint32_t first, int32_t stride, uint32_t n, double tx, double ty,
                         double *state) {
  const double variance = 1.5625e-4, noise = (double)1e-8f + (double)7e-6f * (tx * tx + ty * ty);
  double x = (double)in->x[first], y = (double)in->y[first], z = (double)in->z[first];
  double c_xx = variance, c_xt = 0, c_tt = 1;
  for (uint32_t i = 1, hit = first; i < n; i++) {
    hit += (uint32_t)stride;
    const double dz = (double)in->z[hit] - z;
    c_tt += noise;
    x += dz * tx;
    y += dz * ty;
    const double p_xx = c_xx + 2 * dz * c_xt + dz * dz * c_tt, p_xt = c_xt + dz * c_tt;
    const double k_x = p_xx / (variance + p_xx), k_t = p_xt / (variance + p_xx);
    const double residual_x = (double)in->x[hit] - x, residual_y = (double)in->y[hit] - y;
    x += k_x * residual_x;
    y += k_x * residual_y;
    tx += k_t * residual_x;
    ty += k_t * residual_y;
    c_xx = (1 - k_x) * p_xx;
    c_xt = (1 - k_x) * p_xt;
    c_tt -= k_t * p_xt;
    z = (double)in->z[hit];
  }
  const double result[FIELDS] = {x, y, z, tx, ty, c_xx, c_xt, c_tt + noise, 0, 0, 0};
  memcpy(state, result, sizeof result);
}

static void textbook_propagate(double *s, double dz) {
  s[X] += dz * s[TX];
  s[Y] += dz * s[TY];
  s[Z] += dz;
  s[C00] += dz * dz * s[C22] + 2 * dz * s[C20];
  s[C20] += dz * s[C22];
  s[C11] = s[C00];
  s[C31] = s[C20];
  s[C33] = s[C22];
}

static double textbook_distance(const struct tracks *in, double x, double y, double tx, double ty) {
  return (tx * ((double)in->beam[0] - x) + ty * ((double)in->beam[1] - y)) / (tx * tx + ty * ty);
}

static uint32_t textbook(const struct tracks *in, uint32_t track, double *beam, double *end) {
  const uint32_t first = in->hit_offsets[track], n = in->hit_offsets[track + 1] - first, last = first + n - 1;
  const double dz = (double)in->z[last] - (double)in->z[first];
  const double tx = ((double)in->x[last] - (double)in->x[first]) / dz;
  const double ty = ((double)in->y[last] - (double)in->y[first]) / dz;
  const double distance = textbook_distance(in, (double)in->x[last], (double)in->y[last], tx, ty);
  const uint32_t is_backward = (double)in->z[last] + distance > (double)in->z[first];
  textbook_fit(in, is_backward ? last : first, is_backward ? -1 : 1, n, tx, ty, beam);
  textbook_propagate(beam, textbook_distance(in, beam[X], beam[Y], beam[TX], beam[TY]));
  textbook_fit(in, is_backward ? first : last, is_backward ? 1 : -1, n, beam[TX], beam[TY], end);
  textbook_propagate(end, 770 - end[Z]);
  return is_backward;
}

static void a_line_through_the_beam_has_its_state_at_the_beam(void **state) {
  (void)state;
  static struct tracks tracks;
  begin(&tracks, 0);
  add_line(&tracks, 0, 0, 0.0625, -0.03125, 400, 32, 8); /* exact in float */
  end_event(&tracks);
  struct sl_test *t = open_filter(&tracks);
  assert_int_equal(sl_test_run(t), 0);
  for (uint32_t i = 0; i < 2; i++) {
    const char *port = i ? "end_states" : "beamline_states";
    const double z = i ? 770 : 0;
    assert_near((double)value(t, port, 0, X), 0.0625 * z, 1e-4);
    assert_near((double)value(t, port, 0, Y), -0.03125 * z, 1e-4);
    assert_near((double)value(t, port, 0, Z), z, 1e-3);
    assert_near((double)value(t, port, 0, TX), 0.0625, 1e-7);
    assert_near((double)value(t, port, 0, TY), -0.03125, 1e-7);
    assert_true(value(t, port, 0, C00) == value(t, port, 0, C11));
    assert_true(value(t, port, 0, C20) == value(t, port, 0, C31));
    assert_true(value(t, port, 0, C22) == value(t, port, 0, C33));
  }
  assert_int_equal(backward(t, 0), 0);
  sl_test_free(t);
}

/* Two hits 32 mm apart, no noise: 1/W = v, P_xx = v + 1024, K_x = (v + 1024) / (2 v + 1024). */
static void the_covariance_of_two_hits_equals_the_calculated_one(void **state) {
  (void)state;
  static struct tracks tracks;
  begin(&tracks, 0);
  add_line(&tracks, 0, 0, 0.0625, 0, 64, 32, 2);
  end_event(&tracks);
  struct sl_test *t = open_filter(&tracks);
  sl_test_set(t, "noise", 0);
  sl_test_set(t, "noise_per_slope2", 0);
  assert_int_equal(sl_test_run(t), 0);
  const double v = 1.5625e-4, c_xx = v * (v + 1024) / (2 * v + 1024), c_xt = -v * 32 / (2 * v + 1024);
  const double c_tt = 1 - 1024 / (2 * v + 1024), dz = -32; /* to the beam at z = 0 */
  assert_near((double)value(t, "beamline_states", 0, C22), c_tt, 1e-6 * c_tt);
  assert_near((double)value(t, "beamline_states", 0, C20), c_xt + dz * c_tt, 1e-6 * fabs(c_xt));
  assert_near((double)value(t, "beamline_states", 0, C00), c_xx + 2 * dz * c_xt + dz * dz * c_tt, 1e-6 * 5 * c_xx);
  sl_test_free(t);
}

static void a_track_upstream_of_its_origin_is_backward(void **state) {
  (void)state;
  static struct tracks tracks;
  begin(&tracks, 0);
  add_line(&tracks, 0, 0, 0.05, 0.02, -100, 25, 5); /* crosses the beam at z = 0 */
  add_line(&tracks, 0, 0, 0.05, 0.02, 200, 25, 5);
  add_line(&tracks, 0, 0, 0.05, 0.02, 50, 25, 5); /* hits on both sides of the beam crossing: from z = -50 to 50 */
  end_event(&tracks);
  struct sl_test *t = open_filter(&tracks);
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(backward(t, 0), 1);
  assert_int_equal(backward(t, 1), 0);
  assert_int_equal(backward(t, 2), 0);
  for (uint32_t i = 0; i < 3; i++) {
    assert_near((double)value(t, "beamline_states", i, Z), 0, 1e-3);
    assert_true(value(t, "end_states", i, Z) == 770);
  }
  sl_test_free(t);
}

static void a_track_parallel_to_the_beam_keeps_its_position(void **state) {
  (void)state;
  static struct tracks tracks;
  begin(&tracks, 0);
  add_line(&tracks, 1, 2, 0, 0, 300, 25, 6);
  end_event(&tracks);
  struct sl_test *t = open_filter(&tracks);
  assert_int_equal(sl_test_run(t), 0);
  const float expected_z[] = {175, 770};
  for (uint32_t i = 0; i < 2; i++) {
    const char *port = i ? "end_states" : "beamline_states";
    assert_true(value(t, port, 0, X) == 1 && value(t, port, 0, Y) == 2 && value(t, port, 0, Z) == expected_z[i]);
    assert_true(value(t, port, 0, TX) == 0 && value(t, port, 0, TY) == 0);
    for (uint32_t f = C00; f < FIELDS; f++) assert_true(isfinite(value(t, port, 0, f)));
  }
  assert_int_equal(backward(t, 0), 0);
  sl_test_free(t);
}

static void the_closest_approach_is_to_a_displaced_beam(void **state) {
  (void)state;
  static struct tracks tracks;
  begin(&tracks, 0);
  add_line(&tracks, 1.0 - 0.05 * 30, -0.5 + 0.02 * 30, 0.05, -0.02, 300, 25, 9); /* at (1, -0.5) where z = 30 */
  end_event(&tracks);
  tracks.beam[0] = 1.0f;
  tracks.beam[1] = -0.5f;
  struct sl_test *t = open_filter(&tracks);
  assert_int_equal(sl_test_run(t), 0);
  assert_near((double)value(t, "beamline_states", 0, X), 1, 1e-4);
  assert_near((double)value(t, "beamline_states", 0, Y), -0.5, 1e-4);
  assert_near((double)value(t, "beamline_states", 0, Z), 30, 1e-3);
  sl_test_free(t);
}

static void add_random_tracks(struct tracks *tracks, uint32_t n, uint32_t shortest) {
  for (uint32_t i = 0; i < n; i++) {
    const double tx = sample_uniform(-0.3, 0.3), ty = sample_uniform(-0.3, 0.3), origin = sample_uniform(-150, 150);
    const uint32_t hits = shortest + sample_random(VELO_MAX_HITS_PER_TRACK + 1 - shortest);
    double z = sample_random(2) ? sample_uniform(300, 700) : sample_uniform(-100, 200);
    for (uint32_t j = 0; j < hits; j++, z -= sample_uniform(10, 30))
      add_hit(tracks, tx * (z - origin) + sample_uniform(-0.02, 0.02), ty * (z - origin) + sample_uniform(-0.02, 0.02),
              z);
    end_track(tracks);
  }
  end_event(tracks);
}

static void random_tracks_agree_with_the_filter_in_double_precision(void **state) {
  (void)state;
  static struct tracks tracks;
  sample_seed(11);
  begin(&tracks, 0);
  add_random_tracks(&tracks, 300, 3);
  struct sl_test *t = open_filter(&tracks);
  assert_int_equal(sl_test_run(t), 0);
  for (uint32_t track = 0; track < tracks.track_count; track++) {
    double beam[FIELDS], end[FIELDS];
    assert_int_equal(textbook(&tracks, track, beam, end), backward(t, track));
    for (uint32_t f = 0; f < FIELDS; f++) {
      /* Tolerances: positions a hundredth of their error (z: the error of x divided by the slope), other fields 10^-4
       * relative. */
      const double slope = sqrt(beam[TX] * beam[TX] + beam[TY] * beam[TY]);
      const double error_x = 0.01 * sqrt(beam[C00]) + 1e-4, error_end = 0.01 * sqrt(end[C00]) + 1e-4;
      const double error_t = 0.01 * sqrt(beam[C22]) + 1e-7;
      const double error[FIELDS] = {error_x, error_x, error_x / slope, error_t, error_t};
      const double error_of_end[FIELDS] = {error_end, error_end, 1e-4, error_t, error_t};
      const double near_beam = f < C00 ? error[f] : 1e-4 * fabs(beam[f]) + 1e-12;
      const double near_end = f < C00 ? error_of_end[f] : 1e-4 * fabs(end[f]) + 1e-12;
      assert_near((double)value(t, "beamline_states", track, f), beam[f], near_beam);
      assert_near((double)value(t, "end_states", track, f), end[f], near_end);
    }
  }
  sl_test_free(t);
}

/* All outputs of a track. */
struct states {
  float field[2][FIELDS];
  uint32_t backward;
};

static struct states states_of(const struct sl_test *t, uint32_t track) {
  struct states s;
  memset(&s, 0, sizeof s);
  for (uint32_t i = 0; i < 2; i++)
    for (uint32_t f = 0; f < FIELDS; f++) s.field[i][f] = value(t, i ? "end_states" : "beamline_states", track, f);
  s.backward = backward(t, track);
  return s;
}

static struct states states_of_a_track_alone(const struct tracks *from, uint32_t track) {
  static struct tracks alone;
  begin(&alone, 0);
  for (uint32_t hit = from->hit_offsets[track]; hit < from->hit_offsets[track + 1]; hit++)
    add_hit(&alone, (double)from->x[hit], (double)from->y[hit], (double)from->z[hit]);
  end_track(&alone);
  end_event(&alone);
  struct sl_test *t = open_filter(&alone);
  assert_int_equal(sl_test_run(t), 0);
  const struct states s = states_of(t, 0);
  sl_test_free(t);
  return s;
}

static void states_do_not_depend_on_other_tracks(void **state) {
  (void)state;
  static struct tracks tracks;
  sample_seed(12);
  for (uint32_t slice = 0; slice < 5; slice++) {
    begin(&tracks, sample_random(5));
    const uint32_t events = 1 + sample_random(SAMPLE_EVENTS);
    for (uint32_t event = 0; event < events; event++) add_random_tracks(&tracks, sample_random(event ? 40 : 70), 0);
    struct sl_test *t = open_filter(&tracks);
    assert_int_equal(sl_test_run(t), 0);
    for (uint32_t track = tracks.first_track; track < tracks.track_count; track++) {
      if (tracks.hit_offsets[track] == tracks.hit_offsets[track + 1]) continue; /* such a track has no states */
      const struct states among = states_of(t, track), alone = states_of_a_track_alone(&tracks, track);
      assert_memory_equal(&among, &alone, sizeof among);
    }
    sl_test_free(t);
  }
}

static void only_listed_events_are_fitted(void **state) {
  (void)state;
  static struct tracks tracks;
  static float all[2][MAX_TRACKS];
  static const char *const ports[] = {"beamline_states", "end_states"};
  sample_seed(13);
  begin(&tracks, 2);
  for (uint32_t event = 0; event < 3; event++) add_random_tracks(&tracks, 30, 3);
  struct sl_test *t = open_filter(&tracks);
  assert_int_equal(sl_test_run(t), 0);
  for (uint32_t i = 0; i < 2; i++)
    for (uint32_t track = 2; track < tracks.track_count; track++) all[i][track] = value(t, ports[i], track, X);
  sl_test_list(t, (const uint32_t[]){1}, 1);
  assert_int_equal(sl_test_run(t), 0);
  for (uint32_t i = 0; i < 2; i++)
    for (uint32_t track = 2; track < tracks.track_count; track++) {
      const int is_listed = track >= tracks.offsets[1] && track < tracks.offsets[2];
      assert_int_equal(value(t, ports[i], track, X) == all[i][track], is_listed);
    }
  sl_test_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_line_through_the_beam_has_its_state_at_the_beam),
      cmocka_unit_test(the_covariance_of_two_hits_equals_the_calculated_one),
      cmocka_unit_test(a_track_upstream_of_its_origin_is_backward),
      cmocka_unit_test(a_track_parallel_to_the_beam_keeps_its_position),
      cmocka_unit_test(the_closest_approach_is_to_a_displaced_beam),
      cmocka_unit_test(random_tracks_agree_with_the_filter_in_double_precision),
      cmocka_unit_test(only_listed_events_are_fitted),
      cmocka_unit_test(states_do_not_depend_on_other_tracks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
