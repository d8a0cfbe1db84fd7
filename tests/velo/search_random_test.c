/* search_random_test.c: both versions of the search find the tracks of search_reference.h in random events, hit by
 * hit. */
#include "search_reference.h"
#include "tracking_sample.h"

struct result {
  uint32_t offsets[SAMPLE_EVENTS + 1];
  uint8_t *hit_count, *used;
  uint16_t *hits;
};

static void *copy(const struct sl_test *t, const char *port, const char *field, size_t bytes) {
  void *memory = malloc(bytes ? bytes : 1);
  assert_non_null(memory);
  memcpy(memory, sl_test_output(t, port, field), bytes);
  return memory;
}

static void search(struct sl_test *t, const struct sample *s, int shared, struct result *r) {
  sl_test_shared(t, shared);
  assert_int_equal(sl_test_run(t), 0);
  memcpy(r->offsets, sl_test_output(t, "candidates", "offsets"), (s->event_count + 1) * sizeof(uint32_t));
  const size_t candidates = r->offsets[s->event_count];
  r->hit_count = copy(t, "candidates", "hit_count", candidates);
  r->hits = copy(t, "candidates", "hits", candidates * VELO_MAX_HITS_PER_TRACK * sizeof(uint16_t));
  r->used = copy(t, "used", "flag", s->hit_count);
}

static void release(struct result *r) {
  free(r->hit_count);
  free(r->hits);
  free(r->used);
}

struct properties {
  double phi_tolerance, max_scatter;
  uint32_t max_skipped_modules, first_seed_candidates, seed_candidates;
  uint64_t missing; /* bits: modules */
};
static const struct properties defaults = {0.045, 0.08, 1, 8, 4, 0};

static void open_reference(struct reference *r, const struct sample *s, uint32_t event, const struct properties *p) {
  const uint32_t first = s->offsets[event];
  r->pair_first = s->pair_first[event];
  r->id = s->id + first;
  r->phi = s->phi + first;
  r->x = s->x + first;
  r->y = s->y + first;
  r->z = s->z + first;
  r->module_z = s->module_z;
  r->phi_window = (int32_t)((double)(float)p->phi_tolerance * 32768 / 3.14159265358979323846);
  r->max_scatter = (float)p->max_scatter;
  r->max_skipped_modules = p->max_skipped_modules;
  r->first_seed_candidates = p->first_seed_candidates;
  r->seed_candidates = p->seed_candidates;
  r->missing = p->missing;
}

/* Candidates with four or more hits come first; each kind is ordered by middle hit. Returns the number of
 * candidates. */
static uint32_t assert_event_is(const struct reference *r, const struct result *found, uint32_t first_candidate,
                                uint32_t hits) {
  uint32_t candidate = first_candidate;
  for (uint32_t is_weak = 0; is_weak < 2; is_weak++)
    for (uint32_t h1 = 0; h1 < hits; h1++) {
      const struct reference_track *t = &r->track[h1];
      if (t->length == 0 || (t->length == 3) != is_weak) continue;
      assert_int_equal(found->hit_count[candidate], t->length);
      assert_memory_equal(found->hits + VELO_MAX_HITS_PER_TRACK * candidate, t->hits, sizeof t->hits);
      candidate++;
    }
  return candidate - first_candidate;
}

static void assert_result_is(const struct sample *s, const struct properties *p, const struct result *found) {
  static struct reference reference;
  for (uint32_t event = 0; event < s->event_count; event++) {
    const uint32_t first = s->offsets[event], hits = s->offsets[event + 1] - first;
    assert_true(hits <= REFERENCE_HITS);
    open_reference(&reference, s, event, p);
    reference_search(&reference);
    assert_int_equal(assert_event_is(&reference, found, found->offsets[event], hits),
                     found->offsets[event + 1] - found->offsets[event]);
    if (hits > 0) assert_memory_equal(found->used + first, reference.used, hits);
  }
}

/* Returns the number of candidates. */
static uint32_t assert_versions_agree(struct sl_test *t, const struct sample *s, const struct properties *p) {
  uint32_t candidates = 0;
  for (int shared = 0; shared < 2; shared++) {
    struct result found;
    search(t, s, shared, &found);
    assert_result_is(s, p, &found);
    candidates = found.offsets[s->event_count];
    release(&found);
  }
  return candidates;
}

/* Rounds to a multiple of `grid` mm unless it is 0, so that many distances are equal. */
static double on_grid(double value, double grid) { return grid > 0 ? grid * floor(value / grid) : value; }

static void add_random_event(struct sample *s, uint32_t tracks, uint32_t noise_per_pair, double grid) {
  for (uint32_t i = 0; i < tracks; i++) {
    const double tx = sample_uniform(-0.1, 0.1), ty = sample_uniform(-0.1, 0.1), origin = sample_uniform(0, 900);
    const uint32_t loss = sample_random(30);
    for (uint32_t pair = 0; pair < VELO_MODULE_PAIRS; pair++) {
      const uint32_t side = sample_random(2);
      const double dz = (double)s->module_z[2 * pair + side] - origin;
      if (fabs(tx * dz) > 40 || fabs(ty * dz) > 40 || sample_random(100) < loss) continue;
      sample_hit_at(s, pair, side, on_grid(tx * dz + sample_uniform(-0.02, 0.02), grid),
                    on_grid(ty * dz + sample_uniform(-0.02, 0.02), grid));
    }
  }
  for (uint32_t pair = 0; pair < VELO_MODULE_PAIRS; pair++) {
    const uint32_t noise = noise_per_pair ? sample_random(2 * noise_per_pair) : 0;
    for (uint32_t i = 0; i < noise; i++)
      sample_hit_at(s, pair, sample_random(2), on_grid(sample_uniform(-40, 40), grid),
                    on_grid(sample_uniform(-40, 40), grid));
  }
  sample_end_event(s);
}

static struct sl_test *open_search(const struct sample *s) {
  struct sl_test *t = sl_test_new(VELO_PLUGIN, "search_by_triplet");
  sample_give_hits(s, t);
  sl_test_input(t, "geometry", "module_z", s->module_z, VELO_MODULES);
  return t;
}

static struct properties random_properties(void) {
  static const double scatters[] = {0.0, 0.08, 1.0, 100.0};
  struct properties p;
  p.phi_tolerance = sample_random(4) ? sample_uniform(0, 0.2) : sample_uniform(0, 1);
  p.max_scatter = scatters[sample_random(4)];
  p.max_skipped_modules = sample_random(4);
  p.first_seed_candidates = 1 + sample_random(8);
  p.seed_candidates = 1 + sample_random(8);
  p.missing = 0;
  for (uint32_t count = sample_random(3) * sample_random(8); count > 0; count--)
    p.missing |= UINT64_C(1) << sample_random(VELO_MODULES);
  return p;
}

static void set_properties(struct sl_test *t, const struct properties *p) {
  char missing[4 * VELO_MODULES + 1] = "";
  for (uint32_t m = 0; m < VELO_MODULES; m++)
    if (p->missing >> m & 1) snprintf(missing + strlen(missing), 5, "%s%u", *missing ? ", " : "", m);
  sl_test_set_text(t, "missing_modules", missing);
  sl_test_set(t, "phi_tolerance", p->phi_tolerance);
  sl_test_set(t, "max_scatter", p->max_scatter);
  sl_test_set(t, "max_skipped_modules", p->max_skipped_modules);
  sl_test_set(t, "first_seed_candidates", p->first_seed_candidates);
  sl_test_set(t, "seed_candidates", p->seed_candidates);
}

static void check_random(uint32_t slices, uint32_t max_tracks, uint32_t max_noise, double grid, int any_properties) {
  uint32_t candidates = 0;
  for (uint32_t slice = 0; slice < slices; slice++) {
    struct sample *s = sample_new(sample_random(20));
    const uint32_t events = 1 + sample_random(SAMPLE_EVENTS);
    for (uint32_t event = 0; event < events; event++)
      add_random_event(s, sample_random(max_tracks), sample_random(max_noise + 1), grid);
    struct sl_test *t = open_search(s);
    const struct properties p = any_properties ? random_properties() : defaults;
    if (any_properties) set_properties(t, &p);
    candidates += assert_versions_agree(t, s, &p);
    sl_test_free(t);
    free(s);
  }
  assert_true(candidates > slices); /* some candidates were compared */
}

static void events_of_usual_size_agree(void **state) {
  (void)state;
  sample_seed(1);
  check_random(10, 200, 20, 0, 0);
}

static void any_properties_agree(void **state) {
  (void)state;
  sample_seed(2);
  check_random(60, 60, 10, 0, 1);
}

static void nearly_empty_pairs_agree(void **state) {
  (void)state;
  sample_seed(3);
  check_random(150, 12, 3, 0, 1);
}

static void equal_distances_agree(void **state) {
  (void)state;
  sample_seed(4);
  check_random(40, 60, 10, 0.25, 1);
  check_random(40, 30, 20, 2.0, 1);
}

/* More hits per pair than the shared version keeps in shared memory, and many hits per window. */
static void crowded_pairs_agree(void **state) {
  (void)state;
  sample_seed(5);
  struct sample *s = sample_new(3);
  for (uint32_t i = 0; i < 3000; i++)
    for (uint32_t pair = 20; pair < 24; pair++)
      sample_hit_at(s, pair, sample_random(2), sample_uniform(20, 30), sample_uniform(-5, 5));
  sample_end_event(s);
  add_random_event(s, 20, 2, 0);
  struct sl_test *t = open_search(s);
  sl_test_set(t, "candidates_per_event", 10000);
  assert_true(assert_versions_agree(t, s, &defaults) > 100);
  sl_test_free(t);
  free(s);
}

/* The shared version keeps four pairs in shared memory, three larger ones, or none: sizes around these limits. */
static void pairs_around_the_size_of_fast_memory_agree(void **state) {
  static const uint32_t sizes[] = {192, 193, 252, 253};
  (void)state;
  sample_seed(6);
  struct sample *s = sample_new(4);
  for (uint32_t event = 0; event < 4; event++) {
    for (uint32_t i = 0; i < sizes[event]; i++)
      for (uint32_t pair = 18; pair < 24; pair++)
        sample_hit_at(s, pair, sample_random(2), sample_uniform(10, 30), sample_uniform(-10, 10));
    sample_end_event(s);
  }
  struct sl_test *t = open_search(s);
  assert_true(assert_versions_agree(t, s, &defaults) > 20);
  sl_test_free(t);
  free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(events_of_usual_size_agree), cmocka_unit_test(any_properties_agree),
      cmocka_unit_test(nearly_empty_pairs_agree),   cmocka_unit_test(equal_distances_agree),
      cmocka_unit_test(crowded_pairs_agree),        cmocka_unit_test(pairs_around_the_size_of_fast_memory_agree),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
