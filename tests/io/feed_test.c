/* feed_test.c: events from memory give the same results as from files, for all slices, slots and threads; invalid
 * events and packets are reported. */
#define _GNU_SOURCE
#include "feed_case.h"
#include "scratch.h"

static void events_from_memory_give_the_results_of_their_file(void **state) {
  (void)state;
  const uint32_t slice_events[] = {1, 7, 1000}, entries_max[] = {1, 10, 0};
  const uint64_t digest = digest_of_file(1);
  for (uint32_t i = 0; i < 3; i++) {
    struct released released;
    struct run run;
    struct sl_options o = options_of(feed_count_graph);
    struct sl_feed *feed = new_feed(&released, entries_max[i]);
    o.slice_events = slice_events[i];
    o.guard = i == 1;
    start(&run, &o, feed);
    give_all(feed, 0);
    sl_feed_end(feed);
    struct result result = finish(&run);
    assert_clean(&result);
    assert_int_equal(result.events, EVENTS);
    assert_int_equal(result.digest, digest);
    assert_int_equal(atomic_load(&released.count), EVENTS);
    for (uint32_t e = 0; e < EVENTS; e++) assert_ptr_equal(released.owners[e], owner_of(e));
    sl_feed_free(feed);
  }
}

static void packets_mixed_with_events_give_the_same_results(void **state) {
  (void)state;
  for (uint32_t packets_first = 0; packets_first < 2; packets_first++) {
    struct released released;
    struct run run;
    const struct sl_options o = options_of(feed_count_graph);
    struct sl_feed *feed = new_feed(&released, 4);
    struct bytes packets[EVENTS / PACKET_EVENTS + 1];
    uint32_t packet_count = 0, entries = 0;
    start(&run, &o, feed);
    for (uint32_t first = 0; first < EVENTS; first += PACKET_EVENTS) {
      const int as_events = packets_first && first / PACKET_EVENTS % 2;
      packets[packet_count] = packet_of(first, PACKET_EVENTS);
      for (uint32_t e = first; as_events && e < first + PACKET_EVENTS && e < EVENTS; e++, entries++)
        assert_int_equal(sl_feed_give_event(feed, &(const struct sl_feed_event[]){event_of(e)}[0], -1, NULL), 1);
      if (!as_events)
        assert_int_equal(
            sl_feed_give_packet(feed, packets[packet_count].data, packets[packet_count].size, NULL, -1, NULL), 1);
      entries += !as_events;
      packet_count++;
    }
    assert_int_equal(sl_feed_wait(feed, entries - 2, -1), 1);
    sl_feed_end(feed);
    struct result result = finish(&run);
    assert_clean(&result);
    assert_int_equal(result.events, EVENTS);
    assert_int_equal(result.digest, digest_of_file(1));
    assert_int_equal(atomic_load(&released.count), entries);
    sl_feed_free(feed);
    for (uint32_t i = 0; i < packet_count; i++) bytes_free(&packets[i]);
  }
}

/* The feed holds all events before the run begins, so that windows of several sizes are taken. */
static void many_events_give_the_results_of_several_passes(void **state) {
  (void)state;
  enum { PASSES = 9 };
  const uint64_t digest = digest_of_file(PASSES);
  const uint32_t threads[] = {1, 2, 5}, slice_events[] = {3000, 700, 1024};
  for (uint32_t i = 0; i < 3; i++) {
    struct run run;
    struct sl_options o = options_of(feed_count_graph);
    struct sl_feed *feed = sl_feed_new(NULL);
    o.slice_events = slice_events[i];
    o.source_threads = threads[i];
    for (uint32_t pass = 0; pass < PASSES; pass++) give_all(feed, pass * EVENTS);
    sl_feed_end(feed);
    start(&run, &o, feed);
    struct result result = finish(&run);
    assert_clean(&result);
    assert_int_equal(result.events, PASSES * EVENTS);
    assert_int_equal(result.digest, digest);
    sl_feed_free(feed);
  }
}

static void a_packet_may_begin_and_end_within_slices(void **state) {
  (void)state;
  const uint64_t digest = digest_of_file(2);
  const uint32_t threads[] = {1, 2, 5}, slice_events[] = {1000, 33, 64};
  for (uint32_t i = 0; i < 3; i++) {
    struct run run;
    struct sl_options o = options_of(feed_count_graph);
    struct sl_feed *feed = sl_feed_new(NULL);
    struct bytes parts[] = {packet_of(0, EVENTS), packet_of(0, 97), packet_of(97, EVENTS)};
    o.slice_events = slice_events[i];
    o.source_threads = threads[i];
    o.guard = i == 1;
    start(&run, &o, feed);
    for (uint32_t p = 0; p < 3; p++)
      assert_int_equal(sl_feed_give_packet(feed, parts[p].data, parts[p].size, NULL, -1, NULL), 1);
    sl_feed_end(feed);
    struct result result = finish(&run);
    assert_clean(&result);
    assert_int_equal(result.events, 2 * EVENTS);
    assert_int_equal(result.digest, digest);
    sl_feed_free(feed);
    for (uint32_t p = 0; p < 3; p++) bytes_free(&parts[p]);
  }
}

static void a_copy_of_the_fed_events_gives_the_same_results(void **state) {
  (void)state;
  char path[SCRATCH_PATH_MAX];
  struct run run;
  struct sl_options o = options_of(feed_copy_graph);
  struct sl_feed *feed = sl_feed_new(NULL);
  scratch_file(path);
  o.output_path = path;
  start(&run, &o, feed);
  give_all(feed, 0);
  sl_feed_end(feed);
  struct result result = finish(&run);
  assert_clean(&result);
  sl_feed_free(feed);
  struct result copy = run_file(path, 1);
  assert_clean(&copy);
  assert_int_equal(copy.events, EVENTS);
  assert_int_equal(copy.digest, digest_of_file(1));
}

static void slices_of_a_feed_can_be_repeated(void **state) {
  (void)state;
  struct run run;
  struct sl_options o = options_of(feed_count_graph);
  struct sl_feed *feed = sl_feed_new(NULL);
  o.repeat = 3;
  give_all(feed, 0);
  sl_feed_end(feed);
  start(&run, &o, feed);
  struct result result = finish(&run);
  assert_clean(&result);
  assert_int_equal(result.digest, digest_of_file(1));
  sl_feed_free(feed);
}

static void a_run_may_take_only_the_first_events(void **state) {
  (void)state;
  struct released released;
  struct run run;
  struct sl_options o = options_of(feed_count_graph);
  struct sl_feed *feed = new_feed(&released, 0);
  o.events = 10;
  give_all(feed, 0);
  start(&run, &o, feed);
  struct result result = finish(&run);
  assert_clean(&result);
  assert_int_equal(result.events, 10);
  assert_int_equal(atomic_load(&released.count), EVENTS);
  assert_int_equal(sl_feed_wait(feed, 9, -1), 1);
  assert_int_equal(sl_feed_wait(feed, 10, -1), SL_EINTERRUPTED);
  sl_feed_free(feed);
}

/* An event that cannot be read is an event with an error, and so are all events of an unreadable packet. */
static void bad_events_are_reported_with_their_index(void **state) {
  (void)state;
  static const struct sl_feed_block null_block = {NULL, 4, 1, 9, 1}, tae = {"12345678", 8, 1, 48, 1};
  static uint8_t large[70000];
  const struct sl_feed_block long_block = {large, sizeof large, 2, 9, 1};
  const struct sl_feed_block *const bad[] = {&null_block, &long_block, &tae, NULL};
  struct released released;
  struct run run;
  const struct sl_options o = options_of(feed_count_graph);
  struct sl_feed *feed = new_feed(&released, 0);
  struct bytes packet = packet_of(0, PACKET_EVENTS);
  packet.data[8] ^= 1; /* the packet header lists another source than the block */
  start(&run, &o, feed);
  for (uint32_t i = 0; i < 4; i++) {
    const struct sl_feed_event good = event_of(i), event = {.size = sizeof event,
                                                            .block_count = bad[i] != NULL,
                                                            .blocks = bad[i],
                                                            .number = 700 + i,
                                                            .run = 3};
    assert_int_equal(sl_feed_give_event(feed, &good, -1, NULL), 1);
    assert_int_equal(sl_feed_give_event(feed, &event, -1, NULL), 1);
  }
  assert_int_equal(sl_feed_give_packet(feed, packet.data, packet.size, NULL, -1, NULL), 1);
  assert_int_equal(sl_feed_give_packet(feed, packet.data, 100, NULL, -1, NULL), 1);
  assert_int_equal(sl_feed_give_packet(feed, packet.data, 3, NULL, -1, NULL), 1);
  sl_feed_end(feed);
  struct result result = finish(&run);
  assert_int_equal(result.status, SL_OK);
  assert_reported(&result, "entry 1 of the feed (event 700): bank 0 (type 9, source 1): no data for its 4 bytes");
  assert_reported(
      &result,
      "entry 3 of the feed (event 701): bank 0 (type 9, source 2): 70000 bytes, more than the 65527 of a raw bank");
  assert_reported(&result, "entry 5 of the feed (event 702): bank 0 is the header of a TAE record");
  assert_reported(&result, "entry 7 of the feed (event 703): the event has no banks");
  assert_reported(&result, "entry 8 of the feed (events 5000 to 5039): block 0 of the packet: source 0x");
  assert_reported(&result, "the packet has 100 bytes, but its header gives ");
  assert_reported(&result, "entry 10 of the feed (event 10): a packet of 3 bytes is shorter than its header");
  assert_int_equal(atomic_load(&released.count), 11);
  free(result.messages);
  bytes_free(&packet);
  sl_feed_free(feed);
}

/* Without ODIN the event has the run and number given by the program. */
static void an_event_without_odin_has_the_number_given_by_the_program(void **state) {
  (void)state;
  static uint8_t bytes[4000 * 4];
  const struct sl_feed_block block = {bytes, sizeof bytes, 1, 9, 1};
  const struct sl_feed_block two[] = {block, block};
  const struct sl_feed_event event = {.size = sizeof event,
                                      .block_count = 2,
                                      .blocks = two,
                                      .number = 99,
                                      .run = 12}; /* more words than an event may have */
  struct run run;
  const struct sl_options o = options_of(feed_count_graph);
  struct sl_feed *feed = sl_feed_new(NULL);
  const struct sl_feed_event good = event_of(1);
  start(&run, &o, feed);
  assert_int_equal(sl_feed_give_event(feed, &event, -1, NULL), 1);
  assert_int_equal(sl_feed_give_event(feed, &good, -1, NULL), 1);
  sl_feed_end(feed);
  struct result result = finish(&run);
  assert_int_equal(result.status, SL_OK);
  assert_int_equal(result.events, 2);
  assert_int_equal(result.error_events, 1);
  assert_reported(&result, "entry 0 of the feed (event 99): has 8000 words of rich, an event may have 4096");
  free(result.messages);
  sl_feed_free(feed);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(events_from_memory_give_the_results_of_their_file),
      cmocka_unit_test(packets_mixed_with_events_give_the_same_results),
      cmocka_unit_test(many_events_give_the_results_of_several_passes),
      cmocka_unit_test(a_packet_may_begin_and_end_within_slices),
      cmocka_unit_test(a_copy_of_the_fed_events_gives_the_same_results),
      cmocka_unit_test(slices_of_a_feed_can_be_repeated),
      cmocka_unit_test(a_run_may_take_only_the_first_events),
      cmocka_unit_test(bad_events_are_reported_with_their_index),
      cmocka_unit_test(an_event_without_odin_has_the_number_given_by_the_program),
  };
  return cmocka_run_group_tests(tests, make_events, free_events);
}
