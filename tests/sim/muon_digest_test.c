/* Muon banks of simulated events, and nominal positions of pads and strips, have the same bits in every build; the
 * -O0 build selects this test by its name. To accept an intended change, copy the printed digests to this file. */
#include "support.h"

enum { EVENTS = 20 };

static void expect_digest(uint32_t version, uint64_t expected) {
  struct sim_simulation *s = simulation_new();
  struct bank_fields f;
  uint64_t digest = digest_begin;
  s->make_flags = SIM_MAKE_MUON;
  s->versions.muon = version;
  for (uint64_t event = 0; event < EVENTS; event++) {
    assert_int_equal(sim_simulate(s, event), 0);
    bank_fields_of(s, SIM_BANK_MUON, &f);
    for (uint32_t b = 0; b < f.count; b++)
      digest = digest_bytes(s->banks.words.at + f.first_word[b], f.size_bytes[b], digest);
  }
  simulation_free(s);
  assert_digest(digest, expected);
}

static void banks_of_version_2_have_the_same_bits(void **state) {
  (void)state;
  expect_digest(2, 0x0D4A72F68A0F0D7Eull);
}

static void banks_of_version_3_have_the_same_bits(void **state) {
  (void)state;
  expect_digest(3, 0x3298CD55A1E396D4ull);
}

/* All pads of M2 R3, in the quarter with the rotated chambers. */
static void positions_have_the_same_bits(void **state) {
  (void)state;
  struct sim_simulation *s = simulation_new();
  const uint32_t gx = s->muon.region[0][2].grid_x[MUON_PADS], gy = s->muon.region[0][2].grid_y[MUON_PADS];
  struct muon_tile_address at = {0, 2, 2, 0, 0};
  uint64_t digest = digest_begin;
  for (at.y = 0; at.y < 2 * gy; at.y++) {
    for (at.x = at.y < gy ? gx : 0; at.x < 2 * gx; at.x++) {
      struct muon_outline o;
      muon_outline_make(&s->muon, &at, gx, gy, &o);
      digest = digest_bytes(&o, sizeof o, digest);
    }
  }
  simulation_free(s);
  assert_digest(digest, 0x670AE33A01BE654Full);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(banks_of_version_2_have_the_same_bits),
      cmocka_unit_test(banks_of_version_3_have_the_same_bits),
      cmocka_unit_test(positions_have_the_same_bits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
