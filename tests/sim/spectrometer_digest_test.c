/* Passages of simulated events have the same bits in every build; the -O0 build selects this test by its name. To
 * accept an intended change, copy the printed digests to this file. */
#include "support.h"
#include "transport/magnet.h"

enum { EVENTS = 20 };

/* Bytes of all passages, detector by detector. */
static uint64_t digest_passages(const struct sim_event *event, uint64_t digest) {
  for (int d = 0; d < SIM_DETECTORS; d++) {
    digest = digest_bytes(event->passages[d].at, event->passages[d].count * sizeof *event->passages[d].at, digest);
  }
  return digest;
}

static void expect_digest(int32_t polarity, enum sim_signal signal, uint64_t expected) {
  struct sim_simulation *s = simulation_new();
  uint64_t digest = digest_begin;
  s->make_flags = SIM_MAKE_ALL;
  s->settings.polarity = polarity;
  s->settings.signal = signal;
  for (uint64_t event = 0; event < EVENTS; event++) {
    assert_int_equal(sim_simulate(s, event), 0);
    digest = digest_passages(&s->event, digest);
  }
  simulation_free(s);
  assert_digest(digest, expected);
}

static void passages_have_the_same_bits_at_polarity_down(void **state) {
  (void)state;
  expect_digest(SIM_POLARITY_DOWN, SIM_SIGNAL_none, 0xF41DF2173E5582B3ull);
}

static void passages_have_the_same_bits_at_polarity_up(void **state) {
  (void)state;
  expect_digest(SIM_POLARITY_UP, SIM_SIGNAL_B_KstarGamma, 0xCBFD0D348BB6F98Cull);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(passages_have_the_same_bits_at_polarity_down),
      cmocka_unit_test(passages_have_the_same_bits_at_polarity_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
