/* UT banks of simulated events, and links to particles, have the same bits in every build; the -O0 build selects
 * this test by its name. To accept an intended change, copy the printed digests to this file. */
#include "support.h"

enum { EVENTS = 20 };

static void expect_digest(uint32_t version, uint64_t expected) {
  struct sim_simulation *s = simulation_new();
  struct bank_fields f;
  uint64_t digest = digest_begin;
  s->make_flags = SIM_MAKE_UT;
  s->versions.ut = version;
  for (uint64_t event = 0; event < EVENTS; event++) {
    assert_int_equal(sim_simulate(s, event), 0);
    bank_fields_of(s, SIM_BANK_UT, &f);
    for (uint32_t b = 0; b < f.count; b++)
      digest = digest_bytes(s->banks.words.at + f.first_word[b], f.size_bytes[b], digest);
    const size_t links = s->event.links[SIM_IN_UT].count * sizeof *s->event.links[SIM_IN_UT].at;
    digest = digest_bytes(s->event.links[SIM_IN_UT].at, links, digest);
  }
  simulation_free(s);
  assert_digest(digest, expected);
}

static void banks_of_version_3_have_the_same_bits(void **state) {
  (void)state;
  expect_digest(3, 0x8788AF7C5EE5A3E2ull);
}

static void banks_of_version_4_have_the_same_bits(void **state) {
  (void)state;
  expect_digest(4, 0x9D5D287CFE970613ull);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(banks_of_version_3_have_the_same_bits),
      cmocka_unit_test(banks_of_version_4_have_the_same_bits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
