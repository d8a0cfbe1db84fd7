/* two_track_score_test.c: selections.two_track_score with the built-in network, against known values and plain sums in
 * double precision; vertices without a logit, and event lists. */
#include "network_case.h"
#include "selections/two_track_network.h"
#include "selections_support.h"

enum { INPUTS = TWO_TRACK_INPUT_COUNT };
enum { EVENTS = 3, VERTICES = 400 };
static const uint32_t event_vertices[EVENTS + 1] = {0, 150, 150, VERTICES};

struct sample {
  float fd_chi2[VERTICES], sum_pt[VERTICES], chi2[VERTICES], min_ip_chi2[VERTICES];
};

static struct network_case network;

static int load_network(void **state) {
  (void)state;
  network_case_load(&network, "two_track");
  return 0;
}

static struct sl_test *score_new(const struct sample *s, const uint32_t *offsets, uint32_t events) {
  struct sl_test *t = sl_test_new(SELECTIONS_PLUGIN, "two_track_score");
  const uint32_t count = offsets[events];
  sl_test_events(t, events);
  sl_test_input(t, "vertices", "offsets", offsets, events + 1);
  sl_test_input(t, "vertices", "fd_chi2", s->fd_chi2, count);
  sl_test_input(t, "vertices", "sum_pt", s->sum_pt, count);
  sl_test_input(t, "vertices", "chi2", s->chi2, count);
  sl_test_input(t, "vertices", "min_ip_chi2", s->min_ip_chi2, count);
  network_case_give(t, &network);
  return t;
}

static const float *logits(struct sl_test *t) {
  assert_int_equal(sl_test_run(t), 0);
  return OUTPUT(t, "scores", "logit", float);
}

/* Expected values were computed in double precision with the published numbers. */
static void known_vertices_have_known_logits(void **state) {
  (void)state;
  enum { KNOWN = 5 };
  static const struct sample s = {
      {100, 1000, 5000, 25, 300}, {3000, 3000, 6000, 2000, 4000}, {1, 1, 2, 5, 3}, {10, 50, 100, 5, 20}};
  static const double logit[KNOWN] = {1.737030, 3.883159, 5.239993, -2.124153, 2.799623};
  static const double response[KNOWN] = {0.850309, 0.979830, 0.994728, 0.106771, 0.942655};
  const uint32_t offsets[] = {0, KNOWN};
  struct sl_test *t = score_new(&s, offsets, 1);
  const float *found = logits(t);
  for (uint32_t i = 0; i < KNOWN; i++) {
    assert_near("logit", i, (double)found[i], logit[i], 1e-5);
    assert_near("response", i, 1 / (1 + exp(-(double)found[i])), response[i], 2e-6);
  }
  sl_test_free(t);
}

/* ----------------------------------------------------------------------------------------------------- plain sums */

static double plain_logit(const struct sample *s, uint32_t i, double *scale) {
  const double x[INPUTS] = {log((double)s->fd_chi2[i]), (double)s->sum_pt[i] / 1000, fmax((double)s->chi2[i], 1e-10),
                            log((double)s->min_ip_chi2[i])};
  return network_case_logit(&network, x, scale);
}

static void make_sample(struct sample *s) {
  random_start(5);
  for (uint32_t i = 0; i < VERTICES; i++) {
    s->fd_chi2[i] = expf(random_between(-3, 15));
    s->sum_pt[i] = expf(random_between(5, 11));
    s->chi2[i] = i % 10 == 0 ? 0.0f : random_between(0, 40);
    s->min_ip_chi2[i] = expf(random_between(-3, 12));
  }
}

static void logits_agree_with_plain_sums(void **state) {
  (void)state;
  static struct sample s;
  make_sample(&s);
  struct sl_test *t = score_new(&s, event_vertices, EVENTS);
  const float *found = logits(t);
  for (uint32_t i = 0; i < VERTICES; i++) {
    double scale = 0;
    const double expected = plain_logit(&s, i, &scale);
    assert_near("logit", i, (double)found[i], expected, 1e-6 * scale);
  }
  sl_test_free(t);
}

/* ------------------------------------------------------------------------------------------------------- limits */

static void vertices_without_finite_inputs_have_no_logit(void **state) {
  (void)state;
  static const float none[] = {-1.0f, 0.0f, NAN, INFINITY, -INFINITY};
  enum { NONE = 5, CASES = 3 * NONE };
  static struct sample s;
  make_sample(&s);
  for (uint32_t k = 0; k < NONE; k++) {
    s.fd_chi2[k] = none[k];
    s.min_ip_chi2[NONE + k] = none[k];
  }
  s.sum_pt[2 * NONE] = INFINITY;
  s.sum_pt[2 * NONE + 1] = NAN;
  struct sl_test *t = score_new(&s, event_vertices, EVENTS);
  const float *found = logits(t);
  for (uint32_t i = 0; i < VERTICES; i++) {
    assert_true(isfinite(found[i]));
    assert_int_equal(found[i] == SELECTIONS_NO_LOGIT, i < 2 * NONE + 2);
  }
  sl_test_free(t);
}

static void an_event_list_does_not_change_logits(void **state) {
  (void)state;
  static struct sample s;
  const uint32_t list[] = {2}, first = event_vertices[2];
  make_sample(&s);
  struct sl_test *all = score_new(&s, event_vertices, EVENTS), *some = score_new(&s, event_vertices, EVENTS);
  sl_test_list(some, list, 1);
  assert_memory_equal(logits(some) + first, logits(all) + first, (VERTICES - first) * sizeof(float));
  sl_test_free(all);
  sl_test_free(some);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(known_vertices_have_known_logits),
      cmocka_unit_test(logits_agree_with_plain_sums),
      cmocka_unit_test(vertices_without_finite_inputs_have_no_logit),
      cmocka_unit_test(an_event_list_does_not_change_logits),
  };
  return cmocka_run_group_tests(tests, load_network, NULL);
}
