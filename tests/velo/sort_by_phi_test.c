/* velo.sort_by_phi: against a sort from the definition, with ties, gaps and lists. */
#include "velo_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Clusters to be sorted; x, y and z tell where a cluster was. */
struct input {
  uint32_t event_count, count;
  uint32_t *offsets, *pair_first, *pair_count, *id, *order;
  int16_t *phi;
  float *x, *y, *z;
};

static struct input *input_new(uint32_t event_count, uint32_t count) {
  struct input *in = calloc(1, sizeof *in);
  in->event_count = event_count;
  in->count = count;
  in->offsets = calloc(event_count + 1, 4);
  in->pair_first = calloc(event_count * VELO_MODULE_PAIRS, 4);
  in->pair_count = calloc(event_count * VELO_MODULE_PAIRS, 4);
  in->id = calloc(count + 1, 4);
  in->order = calloc(count + 1, 4);
  in->phi = calloc(count + 1, 2);
  in->x = calloc(count + 1, 4);
  in->y = calloc(count + 1, 4);
  in->z = calloc(count + 1, 4);
  for (uint32_t i = 0; i < count; i++) {
    in->x[i] = (float)i;
    in->y[i] = -(float)i;
    in->z[i] = 0.5f * (float)i;
  }
  return in;
}

static void input_free(struct input *in) {
  void *const all[] = {in->offsets, in->pair_first, in->pair_count, in->id, in->order,
                       in->phi,     in->x,          in->y,          in->z,  in};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

static struct sl_test *prepare(const struct input *in) {
  struct sl_test *t = sl_test_new(VELO_PLUGIN, "sort_by_phi");
  sl_test_events(t, in->event_count);
  sl_test_input(t, "clusters", "offsets", in->offsets, in->event_count + 1);
  sl_test_input(t, "clusters", "pair_first", in->pair_first, in->event_count * VELO_MODULE_PAIRS);
  sl_test_input(t, "clusters", "pair_count", in->pair_count, in->event_count * VELO_MODULE_PAIRS);
  sl_test_input(t, "clusters", "id", in->id, in->count);
  sl_test_input(t, "clusters", "order", in->order, in->count);
  sl_test_input(t, "clusters", "phi", in->phi, in->count);
  sl_test_input(t, "clusters", "x", in->x, in->count);
  sl_test_input(t, "clusters", "y", in->y, in->count);
  sl_test_input(t, "clusters", "z", in->z, in->count);
  return t;
}

/* Does cluster i come before cluster j? */
static int comes_before(const struct input *in, uint32_t i, uint32_t j) {
  if (in->phi[i] != in->phi[j]) return in->phi[i] < in->phi[j];
  if (in->id[i] != in->id[j]) return in->id[i] < in->id[j];
  if (in->order[i] != in->order[j]) return in->order[i] < in->order[j];
  return i < j;
}

/* Every hit of a pair has the fields of one of its clusters, and each comes before the next: then it is the sort. */
static void assert_pair(const struct sl_test *t, const struct input *in, uint32_t event, uint32_t pair) {
  const uint32_t *first = (const uint32_t *)sl_test_output(t, "hits", "pair_first") + 27 * event + pair;
  const uint32_t hits = ((const uint32_t *)sl_test_output(t, "hits", "offsets"))[event];
  const uint32_t *id = sl_test_output(t, "hits", "id");
  const int16_t *phi = sl_test_output(t, "hits", "phi");
  const float *x = sl_test_output(t, "hits", "x"), *y = sl_test_output(t, "hits", "y"),
              *z = sl_test_output(t, "hits", "z");
  const uint32_t from = in->offsets[event] + in->pair_first[event * VELO_MODULE_PAIRS + pair];
  const uint32_t count = in->pair_count[event * VELO_MODULE_PAIRS + pair];
  uint32_t previous = 0;
  assert_int_equal(first[1] - first[0], count);
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t hit = hits + first[0] + i, cluster = (uint32_t)x[hit];
    assert_true(cluster >= from && cluster < from + count);
    assert_true(id[hit] == in->id[cluster] && phi[hit] == in->phi[cluster]);
    assert_true(y[hit] == in->y[cluster] && z[hit] == in->z[cluster]);
    if (i > 0 && !comes_before(in, previous, cluster)) fail_msg("hit %u of pair %u of event %u", i, pair, event);
    previous = cluster;
  }
}

static void assert_sorted(const struct sl_test *t, const struct input *in) {
  const uint32_t *offsets = sl_test_output(t, "hits", "offsets"), *first = sl_test_output(t, "hits", "pair_first");
  assert_int_equal(offsets[0], 0);
  for (uint32_t event = 0; event < in->event_count; event++) {
    assert_int_equal(first[27 * event], 0);
    assert_int_equal(first[27 * event + 26], offsets[event + 1] - offsets[event]);
    for (uint32_t pair = 0; pair < VELO_MODULE_PAIRS; pair++) assert_pair(t, in, event, pair);
  }
}

/* Events whose pairs have up to `most` clusters; `phis`, `ids` and `orders`: how many values there are of each; `gaps`:
 * unused items after each pair. */
static struct input *random_input(uint32_t event_count, uint32_t most, uint32_t phis, uint32_t ids, uint32_t orders,
                                  uint32_t gaps, uint32_t seed) {
  struct input *in = input_new(event_count, event_count * VELO_MODULE_PAIRS * (most + gaps));
  uint32_t next = 0;
  for (uint32_t event = 0; event < event_count; event++) {
    in->offsets[event] = next;
    for (uint32_t pair = 0; pair < VELO_MODULE_PAIRS; pair++) {
      seed = seed * 1664525u + 1013904223u;
      const uint32_t count = (seed >> 8) % (most + 1);
      in->pair_first[event * VELO_MODULE_PAIRS + pair] = next - in->offsets[event];
      in->pair_count[event * VELO_MODULE_PAIRS + pair] = count;
      for (uint32_t i = 0; i < count; i++, next++) {
        seed = seed * 1664525u + 1013904223u;
        in->phi[next] = (int16_t)(uint16_t)((seed >> 9) % phis * (65536 / phis) + 32768);
        in->id[next] = 0x7FFFFFF0u + (seed >> 5) % ids * 7;
        in->order[next] = (seed >> 3) % orders;
      }
      next += gaps;
    }
  }
  in->offsets[event_count] = next;
  return in;
}

static void assert_random(uint32_t most, uint32_t phis, uint32_t ids, uint32_t orders, uint32_t gaps) {
  struct input *in = random_input(5, most, phis, ids, orders, gaps, most + phis);
  for (int shared = 0; shared < 2; shared++) {
    struct sl_test *t = prepare(in);
    sl_test_shared(t, shared);
    assert_int_equal(sl_test_run(t), 0);
    assert_sorted(t, in);
    sl_test_free(t);
  }
  input_free(in);
}

/* All clusters of one event in one pair, either all of the same phi and id or all of different phi. */
static void assert_one_pair(uint32_t count, int equal) {
  struct input *in = input_new(1, count);
  in->offsets[1] = count;
  for (uint32_t pair = 13; pair < VELO_MODULE_PAIRS; pair++) in->pair_first[pair] = count;
  in->pair_count[12] = count;
  for (uint32_t i = 0; i < count; i++) in->order[i] = count - i;
  for (uint32_t i = 0; i < count && !equal; i++) in->phi[i] = (int16_t)(uint16_t)(i * 40503u);
  struct sl_test *t = prepare(in);
  assert_int_equal(sl_test_run(t), 0);
  assert_sorted(t, in);
  sl_test_free(t);
  input_free(in);
}

static void hits_are_sorted_by_signed_phi(void **state) { (void)state, assert_random(100, 65536, 1000000, 1000000, 0); }
static void pairs_of_every_length_are_sorted(void **state) {
  (void)state;
  for (uint32_t most = 1; most < 70; most += 3) assert_random(most, 65536, 1000, 1000, 0);
}
static void equal_phi_is_decided_by_id(void **state) { (void)state, assert_random(90, 16, 1000000, 1, 0); }
static void equal_phi_and_id_are_decided_by_order(void **state) { (void)state, assert_random(90, 8, 2, 1000000, 0); }
static void clusters_with_equal_keys_keep_their_order(void **state) { (void)state, assert_random(120, 2, 2, 2, 0); }
static void what_lies_behind_a_pair_is_left_out(void **state) { (void)state, assert_random(40, 256, 256, 256, 3); }
/* What a warp has registers for ends at 256 clusters, or 512 with 64 lanes; what it has shared memory for, at 512; what
 * a cpu sorts with vectors, in blocks of 64, at 1024. */
static void pairs_around_the_sizes_of_other_ways_are_sorted(void **state) {
  (void)state;
  for (uint32_t count = 1022; count < 1028; count++) assert_one_pair(count, count % 2 == 0);
  for (uint32_t count = 253; count < 260; count++) assert_one_pair(count, count % 2 == 0);
  for (uint32_t count = 509; count < 516; count++) assert_one_pair(count, count % 2 == 0);
  assert_random(530, 64, 3, 1000, 1);
  assert_random(520, 65536, 3, 1000, 1);
}
/* Of different phi, but so close, and at the end of the range, that a sort by the highest bits sees no difference. */
static void close_phi_are_sorted(void **state) {
  (void)state;
  enum { COUNT = 250 };
  struct input *in = input_new(1, COUNT);
  in->offsets[1] = COUNT;
  in->pair_count[0] = COUNT;
  for (uint32_t pair = 1; pair < VELO_MODULE_PAIRS; pair++) in->pair_first[pair] = COUNT;
  for (uint32_t i = 0; i < COUNT; i++) in->phi[i] = (int16_t)(32767 - i * 37 % 256);
  struct sl_test *t = prepare(in);
  assert_int_equal(sl_test_run(t), 0);
  assert_sorted(t, in);
  sl_test_free(t);
  input_free(in);
}
/* Sorts in memory are long for one warp under a tool on a GPU, which sets a limit. */
static uint32_t limited(uint32_t count) {
  const char *limit = getenv("SLUICE_TEST_LARGEST");
  const uint32_t largest = limit ? (uint32_t)strtoul(limit, NULL, 10) : count;
  if (largest >= count) return count;
  printf("           with %u clusters instead of %u\n", largest, count);
  return largest;
}

static void large_pairs_are_sorted(void **state) { (void)state, assert_random(limited(3000), 4096, 2, 5, 0); }

static void a_pair_with_all_clusters_an_event_may_have_is_sorted(void **state) {
  (void)state;
  assert_one_pair(limited(65535), 0);
}
static void a_pair_of_equal_clusters_that_an_event_may_have_is_sorted(void **state) {
  (void)state, assert_one_pair(limited(65535), 1);
}

static void events_without_clusters_are_empty(void **state) {
  (void)state;
  struct input *in = input_new(3, 4);
  in->offsets[2] = in->offsets[3] = 4; /* the middle one has items, of which none is filled */
  struct sl_test *t = prepare(in);
  assert_int_equal(sl_test_run(t), 0);
  assert_sorted(t, in);
  assert_int_equal(((const uint32_t *)sl_test_output(t, "hits", "offsets"))[3], 0);
  sl_test_free(t);
  input_free(in);
}

static void offsets_may_begin_behind_the_first_cluster(void **state) {
  (void)state;
  struct input *all = random_input(4, 30, 65536, 1000, 1000, 1, 99), last = *all;
  last.event_count = 2;
  last.offsets += 2;
  last.pair_first += 2 * VELO_MODULE_PAIRS;
  last.pair_count += 2 * VELO_MODULE_PAIRS;
  struct sl_test *t = prepare(&last);
  assert_int_equal(sl_test_run(t), 0);
  assert_sorted(t, &last);
  sl_test_free(t);
  input_free(all);
}

static void events_that_are_not_on_the_list_are_empty(void **state) {
  (void)state;
  struct input *in = random_input(4, 30, 65536, 1000, 1000, 0, 7);
  const uint32_t list[] = {1, 2};
  struct sl_test *t = prepare(in);
  sl_test_list(t, list, 2);
  assert_int_equal(sl_test_run(t), 0);
  memset(in->pair_count, 0, 4 * VELO_MODULE_PAIRS);
  memset(in->pair_count + 3 * VELO_MODULE_PAIRS, 0, 4 * VELO_MODULE_PAIRS);
  assert_sorted(t, in);
  assert_true(((const uint32_t *)sl_test_output(t, "hits", "offsets"))[4] > 0);
  sl_test_free(t);
  input_free(in);
}

static void an_overflow_is_told_and_nothing_is_written(void **state) {
  (void)state;
  struct input *in = random_input(2, 30, 65536, 1000, 1000, 0, 8);
  struct sl_test *t = prepare(in);
  sl_test_budget(t, "hits", in->offsets[2] - 1);
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(sl_test_used(t, "hits"), in->offsets[2]);
  const uint32_t *offsets = sl_test_output(t, "hits", "offsets"), *first = sl_test_output(t, "hits", "pair_first");
  for (uint32_t i = 0; i <= 2; i++) assert_int_equal(offsets[i], 0);
  for (uint32_t i = 0; i < 54; i++) assert_int_equal(first[i], 0);
  sl_test_free(t);
  input_free(in);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(hits_are_sorted_by_signed_phi),
      cmocka_unit_test(pairs_of_every_length_are_sorted),
      cmocka_unit_test(equal_phi_is_decided_by_id),
      cmocka_unit_test(equal_phi_and_id_are_decided_by_order),
      cmocka_unit_test(clusters_with_equal_keys_keep_their_order),
      cmocka_unit_test(what_lies_behind_a_pair_is_left_out),
      cmocka_unit_test(pairs_around_the_sizes_of_other_ways_are_sorted),
      cmocka_unit_test(close_phi_are_sorted),
      cmocka_unit_test(large_pairs_are_sorted),
      cmocka_unit_test(a_pair_with_all_clusters_an_event_may_have_is_sorted),
      cmocka_unit_test(a_pair_of_equal_clusters_that_an_event_may_have_is_sorted),
      cmocka_unit_test(events_without_clusters_are_empty),
      cmocka_unit_test(offsets_may_begin_behind_the_first_cluster),
      cmocka_unit_test(events_that_are_not_on_the_list_are_empty),
      cmocka_unit_test(an_overflow_is_told_and_nothing_is_written),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
