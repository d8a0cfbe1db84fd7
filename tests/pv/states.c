/* states.c: see states.h. */
#include "states.h"

#include <math.h>
#include <string.h>

const char *const vertex_floats[VERTEX_FLOATS] = {"x",    "y",    "z",    "c_xx", "c_xy",  "c_yy",
                                                  "c_xz", "c_yz", "c_zz", "chi2", "weight"};

static uint64_t random_state;

void random_seed(uint64_t seed) { random_state = seed * 0x9e3779b97f4a7c15u + 1; }

double random_uniform(double low, double high) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return low + (high - low) * (double)(random_state >> 11) / 9007199254740992.0;
}

double random_normal(void) {
  double sum = 0;
  for (int i = 0; i < 12; i++) sum += random_uniform(-0.5, 0.5);
  return sum;
}

void states_begin(struct states *s, uint32_t first_track) {
  s->event_count = 0;
  s->track_count = s->first_track = s->offsets[0] = first_track;
  s->beam[0] = s->beam[1] = 0.0f;
  memset(s->x, 0, first_track * sizeof s->x[0]);
}

void states_add(struct states *s, double x, double y, double z, double tx, double ty, double variance) {
  const uint32_t i = s->track_count++;
  assert_true(i < STATES_TRACKS);
  s->x[i] = (float)x;
  s->y[i] = (float)y;
  s->z[i] = (float)z;
  s->tx[i] = (float)tx;
  s->ty[i] = (float)ty;
  s->c00[i] = s->c11[i] = (float)variance;
}

void states_add_vertex(struct states *s, double x, double y, double z, uint32_t count, double variance, double blur) {
  for (uint32_t i = 0; i < count; i++) {
    const double angle = random_uniform(-3.14159265, 3.14159265), slope = random_uniform(0.05, 0.3);
    const double tx = slope * cos(angle), ty = slope * sin(angle), error = blur * sqrt(variance);
    const double x0 = x + error * random_normal(), y0 = y + error * random_normal();
    const double dz = (tx * ((double)s->beam[0] - x0) + ty * ((double)s->beam[1] - y0)) / (slope * slope);
    states_add(s, x0 + tx * dz, y0 + ty * dz, z + dz, tx, ty, variance);
  }
}

void states_add_crossing(struct states *s, uint32_t vertices, uint32_t strays) {
  for (uint32_t v = 0; v < vertices; v++) {
    const uint32_t tracks = 3 + (uint32_t)(random_uniform(0, 1) * random_uniform(0, 1) * 80);
    const double z = v % 5 == 4 ? (double)s->z[s->track_count - 1] + random_uniform(-2, 2) : 50 * random_normal();
    states_add_vertex(s, 0.035 * random_normal(), 0.035 * random_normal(), z, tracks, random_uniform(2e-4, 2e-3), 1);
  }
  for (uint32_t i = 0; i < strays; i++)
    states_add(s, random_normal(), random_normal(), random_uniform(-560, 320), random_uniform(-0.3, 0.3),
               random_uniform(-0.3, 0.3), random_uniform(2e-4, 1e-2));
}

void states_end_event(struct states *s) {
  assert_true(s->event_count < STATES_EVENTS);
  s->offsets[++s->event_count] = s->track_count;
}

static void swap(float *values, uint32_t a, uint32_t b) {
  const float kept = values[a];
  values[a] = values[b];
  values[b] = kept;
}

void states_swap(struct states *s, uint32_t a, uint32_t b) {
  float *const all[] = {s->x, s->y, s->z, s->tx, s->ty, s->c00, s->c11};
  for (uint32_t f = 0; f < sizeof all / sizeof all[0]; f++) swap(all[f], a, b);
}

struct sl_test *states_open(const struct states *s, const char *algorithm) {
  struct sl_test *t = sl_test_new(PV_PLUGIN, algorithm);
  sl_test_events(t, s->event_count);
  sl_test_input(t, "beamline_states", "offsets", s->offsets, s->event_count + 1);
  sl_test_input(t, "beamline_states", "x", s->x, s->track_count);
  sl_test_input(t, "beamline_states", "y", s->y, s->track_count);
  sl_test_input(t, "beamline_states", "z", s->z, s->track_count);
  sl_test_input(t, "beamline_states", "tx", s->tx, s->track_count);
  sl_test_input(t, "beamline_states", "ty", s->ty, s->track_count);
  sl_test_input(t, "beamline_states", "c00", s->c00, s->track_count);
  sl_test_input(t, "beamline_states", "c11", s->c11, s->track_count);
  sl_test_input(t, "geometry", "beam", s->beam, 2);
  sl_test_budget(t, "vertices", s->event_count * PV_MAX_VERTICES); /* dense events are more than an average */
  return t;
}

void vertices_run(struct vertices *v, struct sl_test *t, const struct states *s) {
  const int status = sl_test_run(t);
  if (status != SL_OK) fail_msg("status %d: %s", status, sl_test_messages(t));
  memset(v, 0, sizeof *v);
  v->event_count = s->event_count;
  memcpy(v->offsets, sl_test_output(t, "vertices", "offsets"), (s->event_count + 1) * sizeof v->offsets[0]);
  memcpy(v->ignored, sl_test_output(t, "vertices", "ignored"), s->event_count * sizeof v->ignored[0]);
  v->count = v->offsets[s->event_count];
  assert_int_equal(v->offsets[0], 0);
  assert_true(v->count <= s->event_count * PV_MAX_VERTICES);
  for (uint32_t f = 0; f < VERTEX_FLOATS; f++) {
    memcpy(v->value[f], sl_test_output(t, "vertices", vertex_floats[f]), v->count * sizeof(float));
    for (uint32_t i = 0; i < v->count; i++)
      if (!isfinite(v->value[f][i])) fail_msg("%s of vertex %u is %g", vertex_floats[f], i, (double)v->value[f][i]);
  }
  memcpy(v->tracks, sl_test_output(t, "vertices", "tracks"), v->count * sizeof v->tracks[0]);
  for (uint32_t e = 0; e < s->event_count; e++) {
    assert_true(v->offsets[e] <= v->offsets[e + 1] && v->offsets[e + 1] <= v->offsets[e] + PV_MAX_VERTICES);
    for (uint32_t i = v->offsets[e] + 1; i < v->offsets[e + 1]; i++)
      assert_true(v->value[V_Z][i - 1] < v->value[V_Z][i]);
  }
}

void vertices_assert_same_bytes(const struct vertices *a, const struct vertices *b) {
  assert_int_equal(a->count, b->count);
  assert_memory_equal(a->offsets, b->offsets, (a->event_count + 1) * sizeof a->offsets[0]);
  for (uint32_t f = 0; f < VERTEX_FLOATS; f++)
    if (memcmp(a->value[f], b->value[f], a->count * sizeof(float)) != 0) fail_msg("%s differs", vertex_floats[f]);
  assert_memory_equal(a->tracks, b->tracks, a->count * sizeof a->tracks[0]);
}
