/* scaler_test.c: odin/scaler.h: seeds and numbers equal those of LHCb's scaler bit for bit, and fractions of events
 * that pass. */
#include "odin/scaler.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Fields of one event. */
struct event {
  uint32_t run;
  uint64_t event_number, gps_time;
};

static uint32_t passes(const struct odin_scaler *scaler, struct event *event) {
  struct odin_events_view odin;
  memset(&odin, 0, sizeof odin);
  odin.run = &event->run;
  odin.event_number = &event->event_number;
  odin.gps_time = &event->gps_time;
  return odin_scaler_passes(scaler, &odin, 0);
}

static void seeds_and_numbers_equal_those_of_lhcb(void **state) {
  (void)state;
  static const struct {
    const char *text;
    uint32_t seed, value;
    struct event event;
  } cases[] = {
      {"Hlt1TrackMVA_pre", 0xcd2348ce, 0x597d1b88, {6718861, 6001, 0}},
      {"Hlt1TrackMVA_pre", 0xcd2348ce, 0xbbb25272, {6718861, 6002, 0}},
      {"Hlt1VeloMicroBias_post", 0x451c883e, 0x05b85673, {6718861, 6001, 0}},
      {"Hlt1VeloMicroBias_post", 0x451c883e, 0x66db2114, {6718861, 6002, 0}},
      {"Hlt1Passthrough_pre", 0x9e157932, 0xf0c4da8f, {6718861, 6001, 0}},
      {"Hlt1Passthrough_pre", 0x9e157932, 0xed3b72ac, {6718861, 6002, 0}},
      {"di_muon_no_ip_ss_line_post", 0x62f331d8, 0x5c46144d, {6718861, 6001, 0}},
      {"di_muon_no_ip_ss_line_post", 0x62f331d8, 0x2fc717e7, {6718861, 6002, 0}},
      {"Hlt1TrackMVA_pre", 0xcd2348ce, 0x25aee27b, {289232, 0x123456789, 1712700000000000}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct event event = cases[i].event;
    struct odin_scaler scaler = odin_scaler_of(odin_seed_of(cases[i].text), 0);
    assert_int_equal(scaler.seed, cases[i].seed);
    scaler.threshold = cases[i].value;
    assert_int_equal(passes(&scaler, &event), 0);
    scaler.threshold = (uint64_t)cases[i].value + 1;
    assert_int_equal(passes(&scaler, &event), 1);
  }
}

static void thresholds_are_rounded_down(void **state) {
  (void)state;
  static const struct {
    float fraction;
    uint64_t threshold;
  } cases[] = {{0, 0}, {1e-10f, 0}, {0.5f, 1u << 31}, {0.1f, 429496736}, {0.99999994f, 4294967040}, {1, 1ull << 32}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    assert_int_equal(odin_scaler_of(0, cases[i].fraction).threshold, cases[i].threshold);
}

/* For successive events, 33 us apart; within four standard deviations. */
static void fractions_of_many_events_pass(void **state) {
  (void)state;
  enum { EVENTS = 200000 };
  static const float fractions[] = {0.001f, 0.05f, 0.3f};
  for (size_t i = 0; i < sizeof fractions / sizeof fractions[0]; i++) {
    const struct odin_scaler scaler = odin_scaler_of(odin_seed_of("Hlt1TrackMVA_pre"), fractions[i]);
    const double fraction = (double)fractions[i], expected = fraction * EVENTS;
    uint32_t count = 0;
    for (uint32_t n = 0; n < EVENTS; n++) {
      struct event event = {289232, 0xFFFF0000u + (uint64_t)n, 1712700000000000u + 33u * n};
      count += passes(&scaler, &event);
    }
    if (fabs(count - expected) > 4 * sqrt(expected * (1 - fraction)))
      fail_msg("%u events of %d, expected about %g", count, EVENTS, fraction);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(seeds_and_numbers_equal_those_of_lhcb),
      cmocka_unit_test(thresholds_are_rounded_down),
      cmocka_unit_test(fractions_of_many_events_pass),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
