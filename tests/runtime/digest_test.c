/* digest_test.c: digests of parts join to the digest of the whole for any division, and depend on the order of
 * events. */
#include "results/digest.h"

#include "support.h"

#include <sluice/sluice.h>

enum { EVENTS = 200, SPLITS = 300 };

static uint64_t random_state = 20240607;

static uint64_t random_bits(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state;
}

struct input {
  struct sl_event events[EVENTS];
  uint64_t digests[EVENTS];
};

/* Many events are equal, like empty ones. */
static void fill(struct input *in) {
  for (uint32_t i = 0; i < EVENTS; i++) {
    in->events[i] = (struct sl_event){.number = random_bits() % 7, .run = (uint32_t)(random_bits() % 2)};
    in->digests[i] = random_bits() % 3 ? random_bits() : 0;
  }
}

static uint64_t digest_of(const struct input *in, uint32_t first, uint32_t end) {
  uint64_t digest = SL_DIGEST_EMPTY;
  for (uint32_t i = first; i < end; i++) digest = sl_digest_add_event(digest, &in->events[i], in->digests[i]);
  return digest;
}

static void parts_join_to_the_whole(void **state) {
  (void)state;
  static struct input in;
  fill(&in);
  const uint64_t whole = digest_of(&in, 0, EVENTS);
  for (uint32_t split = 0; split < SPLITS; split++) {
    uint64_t joined = SL_DIGEST_EMPTY;
    for (uint32_t first = 0, end; first < EVENTS; first = end) {
      end = first + (uint32_t)(random_bits() % (1 + EVENTS / 3)); /* some parts have no events */
      if (end > EVENTS) end = EVENTS;
      joined = sl_digest_join(joined, digest_of(&in, first, end), end - first);
    }
    assert_true(joined == whole);
  }
}

static void joining_is_associative(void **state) {
  (void)state;
  static struct input in;
  fill(&in);
  const uint64_t a = digest_of(&in, 0, 60), b = digest_of(&in, 60, 61), c = digest_of(&in, 61, EVENTS);
  const uint64_t left = sl_digest_join(sl_digest_join(a, b, 1), c, EVENTS - 61);
  assert_true(left == sl_digest_join(a, sl_digest_join(b, c, EVENTS - 61), EVENTS - 60));
  assert_true(left == digest_of(&in, 0, EVENTS));
}

static void no_events_change_nothing_and_no_digest_stays_none(void **state) {
  (void)state;
  static struct input in;
  fill(&in);
  const uint64_t some = digest_of(&in, 0, EVENTS);
  assert_true(digest_of(&in, 0, 0) == SL_DIGEST_EMPTY);
  assert_true(sl_digest_join(SL_DIGEST_EMPTY, some, EVENTS) == some);
  assert_true(sl_digest_join(some, SL_DIGEST_EMPTY, 0) == some);
  assert_true(sl_digest_join(SL_DIGEST_EMPTY, SL_DIGEST_EMPTY, 0) == SL_DIGEST_EMPTY);
  assert_true(sl_digest_join(0, some, EVENTS) == 0);
  assert_true(sl_digest_join(some, 0, 0) == 0);
  assert_true(sl_digest_join(UINT64_MAX, UINT64_MAX, UINT64_MAX) != 0); /* an impossible value must do no harm */
}

static void every_change_is_seen(void **state) {
  (void)state;
  static struct input in;
  fill(&in);
  for (uint32_t i = 0; i < EVENTS; i++) in.events[i].number = i;
  const uint64_t whole = digest_of(&in, 0, EVENTS);
  for (uint32_t i = 1; i < EVENTS; i++) {
    struct input other = in;
    other.events[i] = in.events[0];
    other.digests[i] = in.digests[0];
    other.events[0] = in.events[i];
    other.digests[0] = in.digests[i];
    assert_true(digest_of(&other, 0, EVENTS) != whole); /* two events exchanged */
    other = in;
    other.digests[i] ^= UINT64_C(1) << (i % 64);
    assert_true(digest_of(&other, 0, EVENTS) != whole);
    other = in;
    other.events[i].run ^= 1;
    assert_true(digest_of(&other, 0, EVENTS) != whole);
    assert_true(digest_of(&in, i, EVENTS) != whole); /* events missing at the beginning and at the end */
    assert_true(digest_of(&in, 0, i) != whole);
  }
}

/* An event counts whatever its hash is, alone or repeated. */
static void equal_events_change_the_digest(void **state) {
  (void)state;
  const struct sl_event event = {.number = 1};
  uint64_t seen[EVENTS + 1] = {SL_DIGEST_EMPTY};
  for (uint32_t i = 1; i <= EVENTS; i++) {
    seen[i] = sl_digest_add_event(seen[i - 1], &event, 0);
    for (uint32_t k = 0; k < i; k++) assert_true(seen[k] != seen[i]);
  }
}

static void totals_have_a_digest_of_their_sums(void **state) {
  (void)state;
  const uint64_t sums[] = {1, 2, 3}, others[] = {1, 3, 2};
  assert_true(sl_digest_totals(sums, 3) == sl_digest_totals(sums, 3));
  assert_true(sl_digest_totals(sums, 3) != sl_digest_totals(others, 3));
  assert_true(sl_digest_totals(sums, 3) != sl_digest_totals(sums, 2));
}

#define BANKS_FIELDS(F)                     \
  F(offsets, u32, OFFSETS, "", "banks")     \
  F(size_bytes, u16, PER_ITEM, "", "bytes") \
  F(first_word, u32, PER_ITEM, "", "word")  \
  F(payload, u32, BYTES, "", "words")
SL_COLLECTION(banks, BANKS_FIELDS, "raw banks");

/* The same bytes at other places of the pool, with other padding, have the same digest. */
static void raw_bytes_count_wherever_they_are(void **state) {
  (void)state;
  const uint32_t offsets[] = {0, 2}, words[] = {0x11223344, 0x55, 0x66778899}, first[] = {0, 2};
  const uint32_t moved[] = {7, 0x66778899, 0x11223344, 0xFFFFFF55}, moved_first[] = {2, 1}, other[] = {1, 1, 1};
  const uint16_t sizes[] = {5, 4}, other_sizes[] = {4, 4};
  const uint64_t digest = sl_digest_event(&banks_collection, (const void *[]){offsets, sizes, first, words}, 0);
  const void *const elsewhere[] = {offsets, sizes, moved_first, moved};
  assert_true(sl_digest_event(&banks_collection, elsewhere, 0) == digest);
  const void *const changed[] = {offsets, sizes, first, other}, *const shorter[] = {offsets, other_sizes, first, words};
  assert_true(sl_digest_event(&banks_collection, changed, 0) != digest);
  assert_true(sl_digest_event(&banks_collection, shorter, 0) != digest);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parts_join_to_the_whole),
      cmocka_unit_test(joining_is_associative),
      cmocka_unit_test(no_events_change_nothing_and_no_digest_stays_none),
      cmocka_unit_test(every_change_is_seen),
      cmocka_unit_test(equal_events_change_the_digest),
      cmocka_unit_test(totals_have_a_digest_of_their_sums),
      cmocka_unit_test(raw_bytes_count_wherever_they_are),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
