/* search_events_test.c: both versions of the search find the tracks of search_reference.h, hit by hit, in the six
 * events of the samples and in the first of the 300.
 */
#include "search_reference.h"
#include "velo_support.h"

#include <stdio.h>
#include <stdlib.h>

enum { EVENTS = 20 };

static int read_module_z(float module_z[VELO_MODULES]) {
  const char *path = sample_path("lhcb/geometry/velo_geometry.bin");
  if (!path) return 0;
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  assert_int_equal(fseek(file, 8, SEEK_SET), 0); /* after the array's length */
  assert_int_equal(fread(module_z, sizeof *module_z, VELO_MODULES, file), VELO_MODULES);
  fclose(file);
  return 1;
}

/* Connects outputs of one algorithm to inputs of the next one. */
static void pass_on(struct sl_test *to, const char *port, const struct sl_test *from, const char *from_port,
                    const char *const *fields, const uint64_t *counts, uint32_t field_count) {
  for (uint32_t i = 0; i < field_count; i++)
    sl_test_input(to, port, fields[i], sl_test_output(from, from_port, fields[i]), counts[i]);
}

static struct sl_test *decode(const char *name, uint32_t events) {
  static struct geometry geometry;
  const char *path = sample_path(name);
  if (!path || !geometry_of_sample(&geometry)) return NULL;
  struct sample sample = sample_open(sample_path(name));
  struct banks *banks = banks_new();
  banks_of_sample(banks, &sample, 73);
  banks->event_count = events;
  banks->bank_count = banks->offsets[events];
  struct sl_test *t = decoder_new("decode_retina", banks, &geometry);
  assert_int_equal(sl_test_run(t), 0);
  banks_free(banks);
  sample_close(&sample);
  return t;
}

static void assert_event_is(const struct reference *r, const struct sl_test *t, uint32_t event, uint32_t first,
                            uint32_t hits) {
  const uint32_t *offsets = sl_test_output(t, "candidates", "offsets");
  const uint8_t *lengths = sl_test_output(t, "candidates", "hit_count"), *used = sl_test_output(t, "used", "flag");
  const uint16_t *found = sl_test_output(t, "candidates", "hits");
  uint32_t candidate = offsets[event];
  for (uint32_t is_weak = 0; is_weak < 2; is_weak++)
    for (uint32_t h1 = 0; h1 < hits; h1++) {
      const struct reference_track *track = &r->track[h1];
      if (track->length == 0 || (track->length == 3) != is_weak) continue;
      assert_true(candidate < offsets[event + 1]);
      assert_int_equal(lengths[candidate], track->length);
      assert_memory_equal(found + VELO_MAX_HITS_PER_TRACK * candidate, track->hits, sizeof track->hits);
      candidate++;
    }
  assert_int_equal(candidate, offsets[event + 1]);
  assert_memory_equal(used + first, r->used, hits);
}

static void assert_events_are(const struct sl_test *hits, const struct sl_test *found, const float *module_z,
                              uint32_t events) {
  static struct reference r;
  const uint32_t *offsets = sl_test_output(hits, "hits", "offsets");
  r.module_z = module_z;
  r.phi_window = 469; /* 0.045 rad */
  r.max_scatter = 0.08f;
  r.max_skipped_modules = 1;
  r.first_seed_candidates = 8;
  r.seed_candidates = 4;
  for (uint32_t event = 0; event < events; event++) {
    const uint32_t first = offsets[event], count = offsets[event + 1] - first;
    assert_true(count > 0 && count <= REFERENCE_HITS);
    r.pair_first = (const uint32_t *)sl_test_output(hits, "hits", "pair_first") + event * (VELO_MODULE_PAIRS + 1);
    r.id = (const uint32_t *)sl_test_output(hits, "hits", "id") + first;
    r.phi = (const int16_t *)sl_test_output(hits, "hits", "phi") + first;
    r.x = (const float *)sl_test_output(hits, "hits", "x") + first;
    r.y = (const float *)sl_test_output(hits, "hits", "y") + first;
    r.z = (const float *)sl_test_output(hits, "hits", "z") + first;
    reference_search(&r);
    assert_event_is(&r, found, event, first, count);
  }
}

static void check_sample(const char *name, uint32_t events, void **state) {
  static const char *const fields[] = {"offsets", "pair_first", "id", "phi", "x", "y", "z"};
  static float module_z[VELO_MODULES];
  (void)state;
  struct sl_test *hits = read_module_z(module_z) ? decode(name, events) : NULL;
  if (!hits) {
    skip();
    return;
  }
  struct sl_test *t = sl_test_new(VELO_PLUGIN, "search_by_triplet");
  const uint64_t n = ((const uint32_t *)sl_test_output(hits, "hits", "offsets"))[events];
  const uint64_t counts[] = {events + 1, (uint64_t)events * (VELO_MODULE_PAIRS + 1), n, n, n, n, n};
  sl_test_events(t, events);
  pass_on(t, "hits", hits, "hits", fields, counts, 7);
  sl_test_input(t, "geometry", "module_z", module_z, VELO_MODULES);
  for (int shared = 0; shared < 2; shared++) {
    sl_test_shared(t, shared);
    assert_int_equal(sl_test_run(t), 0);
    assert_events_are(hits, t, module_z, events);
  }
  sl_test_free(t);
  sl_test_free(hits);
}

static void tracks_of_the_six_events_equal_those_of_the_plain_search(void **state) {
  check_sample("lhcb/minbias.mdf", 6, state);
}

static void tracks_of_the_first_of_300_events_equal_those_of_the_plain_search(void **state) {
  check_sample("velo/minbias_300.mdf", EVENTS, state);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tracks_of_the_six_events_equal_those_of_the_plain_search),
      cmocka_unit_test(tracks_of_the_first_of_300_events_equal_those_of_the_plain_search),
  };
  static float module_z[VELO_MODULES];
  if (!read_module_z(module_z)) return 77;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
