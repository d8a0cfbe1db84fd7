/* vertex_pairs_test.c: selections.vertex_pairs against plain loops, with vertices at the limits; event lists, events
 * with no vertex or one, and more pairs than fit into the memory. */
#include "selections/event_model.h"
#include "selections_support.h"

#include <math.h>

enum { EVENTS = 5, VERTICES = 150 };
static const uint32_t event_vertices[EVENTS + 1] = {0, 60, 60, 61, 63, VERTICES};
static const char *const names[] = {"chi2", "pt", "eta", "dira", "min_p", "min_pt", "min_ip", "min_ip_chi2"};
enum { CHI2, PT, ETA, DIRA, MIN_P, MIN_PT, MIN_IP, MIN_IP_CHI2, FIELDS };

struct sample {
  float value[FIELDS][VERTICES];
  uint32_t first[VERTICES], second[VERTICES];
};

static const float limits[FIELDS][3] = {{0, 30, 30},        {500, 200, 500}, {2, 5, 5},           {0, 0, 0},
                                        {1000, 1000, 1000}, {200, 500, 200}, {0.06f, 0.2f, 0.2f}, {4, 4, 4}};

static void make_sample(struct sample *s) {
  const float low[] = {-1, 150, 1.8f, -0.1f, 900, 150, 0.03f, 1}, high[] = {33, 900, 5.2f, 1, 9000, 900, 0.4f, 9};
  for (uint32_t i = 0; i < VERTICES; i++) {
    for (uint32_t f = 0; f < FIELDS; f++) {
      s->value[f][i] = random_between(low[f], high[f]);
      if (random_between(0, 1) < 0.02f) s->value[f][i] = limits[f][i % 3];
    }
    s->first[i] = (uint32_t)random_between(0, 12);
    s->second[i] = s->first[i] + 1 + (uint32_t)random_between(0, 12);
  }
}

static struct sl_test *vertex_pairs_new(const struct sample *s) {
  struct sl_test *t = sl_test_new(SELECTIONS_PLUGIN, "vertex_pairs");
  sl_test_events(t, EVENTS);
  sl_test_input(t, "vertices", "offsets", event_vertices, EVENTS + 1);
  sl_test_input(t, "vertices", "first", s->first, VERTICES);
  sl_test_input(t, "vertices", "second", s->second, VERTICES);
  for (uint32_t f = 0; f < FIELDS; f++) sl_test_input(t, "vertices", names[f], s->value[f], VERTICES);
  return t;
}

static uint32_t is_selected(const struct sample *s, uint32_t i) {
  float of[FIELDS];
  for (uint32_t f = 0; f < FIELDS; f++) of[f] = s->value[f][i];
  if (of[CHI2] <= 0 || of[CHI2] >= 30 || of[MIN_P] <= 1000 || of[ETA] <= 2 || of[ETA] >= 5 || of[DIRA] <= 0) return 0;
  return (of[MIN_PT] > 200 && of[PT] > 500 && of[MIN_IP_CHI2] > 4) ||
         (of[MIN_PT] > 500 && of[PT] > 500 && of[MIN_IP] > 0.06f) ||
         (of[MIN_PT] > 200 && of[PT] > 200 && of[MIN_IP] > 0.2f);
}

static uint32_t check_event(const struct sl_test *t, const struct sample *s, uint32_t event) {
  const uint32_t begin = event_vertices[event], end = event_vertices[event + 1];
  const uint32_t *offsets = OUTPUT(t, "pairs", "offsets", uint32_t);
  uint32_t k = offsets[event];
  for (uint32_t i = begin; i < end; i++)
    for (uint32_t j = i + 1; j < end; j++) {
      if (!is_selected(s, i) || !is_selected(s, j)) continue;
      if (s->first[i] == s->first[j] || s->first[i] == s->second[j]) continue;
      if (s->second[i] == s->first[j] || s->second[i] == s->second[j]) continue;
      assert_true(k < offsets[event + 1]);
      assert_int_equal(OUTPUT(t, "pairs", "first", uint32_t)[k], i - begin);
      assert_int_equal(OUTPUT(t, "pairs", "second", uint32_t)[k++], j - begin);
    }
  assert_int_equal(k, offsets[event + 1]);
  return k - offsets[event];
}

static void pairs_agree_with_plain_loops(void **state) {
  static struct sample s;
  uint32_t found = 0;
  (void)state;
  random_start(1);
  for (uint32_t pass = 0; pass < 6; pass++) {
    make_sample(&s);
    struct sl_test *t = vertex_pairs_new(&s);
    sl_test_budget(t, "pairs", VERTICES * VERTICES);
    sl_test_block(t, 32u << pass % 3);
    assert_int_equal(sl_test_run(t), 0);
    for (uint32_t event = 0; event < EVENTS; event++) found += check_event(t, &s, event);
    sl_test_free(t);
  }
  assert_true(found > 1000);
}

static void vertices_at_a_limit_or_with_nan_make_no_pair(void **state) {
  static struct sample s;
  (void)state;
  random_start(2);
  for (uint32_t f = 0; f < FIELDS; f++)
    for (uint32_t pass = 0; pass < 2; pass++) {
      static const float good[] = {1, 600, 3, 0.99f, 2000, 600, 0.1f, 10}, ends[] = {0, 500, 2, 0, 1000, 200, 0, 4};
      static const float other_ends[] = {30, 500, 5, 0, 1000, 200, 0, 4};
      for (uint32_t i = 0; i < VERTICES; i++) {
        for (uint32_t g = 0; g < FIELDS; g++) s.value[g][i] = good[g];
        s.first[i] = 2 * i;
        s.second[i] = 2 * i + 1;
        s.value[MIN_IP][i] = 0; /* only the first alternative can accept */
        if (i == 61) s.value[f][i] = pass ? NAN : ends[f];
        if (i == 62 && f != MIN_IP) s.value[f][i] = other_ends[f];
      }
      struct sl_test *t = vertex_pairs_new(&s);
      assert_int_equal(sl_test_run(t), 0);
      const uint32_t *offsets = OUTPUT(t, "pairs", "offsets", uint32_t);
      assert_int_equal(offsets[4] - offsets[3], f == MIN_IP && !pass); /* the only possible pair of the event */
      assert_int_equal(offsets[1], 60 * 59 / 2);
      sl_test_free(t);
    }
}

static void events_that_are_not_listed_have_no_pairs(void **state) {
  static struct sample s;
  static const uint32_t list[] = {2, 3, 4};
  (void)state;
  random_start(3);
  make_sample(&s);
  struct sl_test *t = vertex_pairs_new(&s);
  sl_test_list(t, list, 3);
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(OUTPUT(t, "pairs", "offsets", uint32_t)[2], 0);
  assert_true(check_event(t, &s, 2) + check_event(t, &s, 3) + check_event(t, &s, 4) > 20);
  sl_test_free(t);
}

static void pairs_that_exceed_the_memory_are_counted_and_not_written(void **state) {
  static struct sample s;
  (void)state;
  random_start(4);
  make_sample(&s);
  struct sl_test *t = vertex_pairs_new(&s);
  sl_test_budget(t, "pairs", 20);
  assert_int_equal(sl_test_run(t), 0);
  assert_true(sl_test_used(t, "pairs") > 20);
  assert_int_equal(OUTPUT(t, "pairs", "offsets", uint32_t)[EVENTS], 0);
  sl_test_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pairs_agree_with_plain_loops),
      cmocka_unit_test(vertices_at_a_limit_or_with_nan_make_no_pair),
      cmocka_unit_test(events_that_are_not_listed_have_no_pairs),
      cmocka_unit_test(pairs_that_exceed_the_memory_are_counted_and_not_written),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
