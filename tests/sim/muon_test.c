/* Muon chambers: digits at the positions of passages, equal digits from banks of both versions, refusal of malformed
 * banks, and digits of full simulation. */
#include "../velo/sample.h"
#include "muon/bank_words.h"
#include "support.h"

#include <math.h>

enum { EVENTS = 30, DIGITS_MAX = 4096, WORDS_MAX = 64 };

static struct sim_simulation *muon_simulation(uint32_t version) {
  struct sim_simulation *s = simulation_new();
  s->versions.muon = version;
  s->make_flags = SIM_MAKE_MUON;
  return s;
}

static struct muon_map map_of(const struct sim_simulation *s) {
  const struct muon_geometry *g = &s->muon_digits.readout->map;
  return (struct muon_map){s->versions.muon, g->channel_first, g->tiles, g->tell40_links};
}

/* Marks the tiles among the digits of all banks, with their times; returns their number. */
static uint32_t decode(const struct sim_simulation *s, struct muon_digit digits[DIGITS_MAX]) {
  const struct muon_map map = map_of(s);
  uint32_t count = 0, banks = 0;
  for (uint32_t i = 0; i < s->banks.banks.count; i++) {
    const struct sim_bank *bank = &s->banks.banks.at[i];
    if (bank->type != SIM_BANK_MUON) continue;
    const struct muon_bank_words words = {s->banks.words.at + bank->first_word, bank->size_bytes, bank->version,
                                          bank->source_id};
    struct muon_reader r;
    muon_reader_begin(&r, &map, &words);
    while (count < DIGITS_MAX && muon_reader_next(&r, &digits[count])) count++;
    assert_int_equal(r.fault, MUON_FINE);
    banks++;
  }
  assert_int_equal(banks, s->versions.muon == 2 ? 10 : 44);
  return count;
}

static void banks_of_both_versions_give_the_digits(void **state) {
  (void)state;
  for (uint32_t version = 2; version <= 3; version++) {
    struct sim_simulation *s = muon_simulation(version);
    uint32_t total = 0, late = 0; /* hits after the 19th of a link have no time in version 3 */
    for (uint64_t event = 0; event < EVENTS; event++) {
      static struct muon_digit decoded[DIGITS_MAX];
      assert_int_equal(sim_simulate(s, event), 0);
      const uint32_t count = decode(s, decoded);
      assert_int_equal(count, s->muon_digits.digits.count);
      for (uint32_t i = 0; i < count; i++) {
        const struct sim_muon_digit *made = &s->muon_digits.digits.at[i];
        assert_true(made->tile != 0 && made->time < 16);
        assert_int_equal(decoded[i].tile, made->tile);
        late += decoded[i].time != made->time;
        assert_true(decoded[i].time == made->time || (version == 3 && decoded[i].time == 0));
      }
      total += count;
    }
    assert_in_range(total, 100 * EVENTS, 600 * EVENTS);
    print_message("version %u: %u of %u digits without their time\n", version, late, total);
    assert_true(late < total / 60);
    simulation_free(s);
  }
}

/* ------------------------------------------------------------------------------------------------ passages */

/* Distance of (x, y) from the tile's outline: 0 inside. */
static float distance(const struct sim_simulation *s, uint32_t tile, float x, float y) {
  const struct muon_tile_address at = {muon_tile_station(tile), muon_tile_region(tile), muon_tile_quarter(tile),
                                       muon_tile_x(tile), muon_tile_y(tile)};
  struct muon_outline o;
  muon_outline_make(&s->muon, &at, muon_tile_grid_x(tile), muon_tile_grid_y(tile), &o);
  const double dx = fmax(fmax(o.low_x - (double)x, (double)x - o.high_x), 0);
  const double dy = fmax(fmax(o.low_y - (double)y, (double)y - o.high_y), 0);
  return (float)hypot(dx, dy);
}

/* A muon from the origin, with one passage per station. */
static void pass(struct sim_simulation *s, float tx, float ty) {
  sim_event_clear(&s->event);
  for (uint32_t k = 0; k < MUON_STATIONS; k++) {
    const float z = sim_muon_station_z[k];
    struct sim_passage *p = SIM_APPEND(&s->event.passages[SIM_IN_MUON]);
    assert_non_null(p);
    *p = (struct sim_passage){.layer = k,
                              .x = tx * z,
                              .y = ty * z,
                              .z = z,
                              .tx = tx,
                              .ty = ty,
                              .p = 20000,
                              .time_ns = z * sqrtf(1 + tx * tx + ty * ty) / 299.792458f};
  }
  assert_int_equal(sim_muon_digitise(&s->muon, &s->settings, s->versions.muon, &s->event, &s->muon_digits), 0);
}

static void a_muon_hits_the_tiles_that_it_crosses(void **state) {
  (void)state;
  for (uint32_t version = 2; version <= 3; version++) {
    struct sim_simulation *s = muon_simulation(version);
    uint32_t seen = 0, tracks = 0, digits = 0, prompt = 0;
    s->settings.muon_efficiency = 1;
    for (int i = -9; i <= 9; i++) {
      for (int k = -9; k <= 9; k++) {
        const float tx = 0.028f * (float)i + 0.003f, ty = 0.022f * (float)k + 0.002f;
        if (fabsf(tx) < 0.025f && fabsf(ty) < 0.02f) continue; /* beam pipe */
        uint32_t stations = 0;
        s->event.crossing.number = tracks; /* other random numbers */
        pass(s, tx, ty);
        for (uint32_t j = 0; j < s->muon_digits.digits.count; j++) {
          const struct sim_muon_digit *d = &s->muon_digits.digits.at[j];
          const float z = sim_muon_station_z[muon_tile_station(d->tile)];
          assert_true(distance(s, d->tile, tx * z, ty * z) < 60);
          stations |= 1u << muon_tile_station(d->tile);
          prompt += d->time >= 2 && d->time <= 12;
        }
        digits += s->muon_digits.digits.count;
        for (uint32_t j = 0; j < MUON_STATIONS; j++) seen += stations >> j & 1;
        tracks++;
      }
    }
    assert_true(tracks > 300);
    assert_in_range(seen, tracks * 97 / 25, tracks * 4); /* 97 %: there are gaps between chambers */
    assert_in_range(digits, 6 * tracks, 14 * tracks);
    assert_in_range(prompt, digits * 9 / 10, digits);
    simulation_free(s);
  }
}

static void chambers_without_efficiency_have_no_hits(void **state) {
  (void)state;
  struct sim_simulation *s = muon_simulation(2);
  s->settings.muon_efficiency = 0;
  assert_int_equal(sim_simulate(s, 0), 0);
  assert_int_equal(s->muon_digits.digits.count, 0);
  s->settings.muon_efficiency = 0.5f;
  uint32_t half = 0, all = 0;
  for (int i = 0; i < 200; i++) {
    const float tx = 0.05f + 0.0002f * (float)i;
    s->event.crossing.number = (uint64_t)i;
    pass(s, tx, 0.07f);
    half += s->muon_digits.digits.count;
    s->settings.muon_efficiency = 1;
    pass(s, tx, 0.07f);
    all += s->muon_digits.digits.count;
    s->settings.muon_efficiency = 0.5f;
  }
  assert_in_range(half, all * 4 / 10, all * 6 / 10);
  simulation_free(s);
}

/* ------------------------------------------------------------------------------------------------ refusals */

struct payload {
  uint32_t version, source_id, bytes;
  uint8_t byte[4 * WORDS_MAX];
};

static uint32_t read_all(const struct muon_map *map, const struct payload *p, uint32_t *count) {
  uint32_t words[WORDS_MAX];
  struct muon_reader r;
  struct muon_digit d;
  memcpy(words, p->byte, sizeof words);
  const struct muon_bank_words bank = {words, p->bytes, p->version, p->source_id};
  *count = 0;
  muon_reader_begin(&r, map, &bank);
  while (muon_reader_next(&r, &d)) ++*count;
  return r.fault;
}

static void assert_read(const struct muon_map *map, struct payload p, uint32_t fault, uint32_t count) {
  uint32_t found;
  assert_int_equal(read_all(map, &p, &found), fault);
  if (fault == MUON_FINE) assert_int_equal(found, count);
  assert_true(strlen(muon_fault_text(fault)) > 0);
}

static void malformed_payloads_are_refused_with_the_reason(void **state) {
  (void)state;
  struct sim_simulation *two = muon_simulation(2), *three = muon_simulation(3);
  assert_int_equal(sim_simulate(two, 0), 0);
  assert_int_equal(sim_simulate(three, 0), 0);
  const struct muon_map m2 = map_of(two), m3 = map_of(three);
  /* Version 2: no pads, one hit in the first batch, two in the last. */
  const struct payload good = {2, 0, 16, {0, 0, 0, 0, 1, 0, 5, 0x70, 0, 0, 0, 0, 2, 0, 8, 0}};
  struct payload p = good;
  assert_read(&m2, p, MUON_TOO_SHORT, 0); /* one of the last two is missing */
  p.bytes = 18;
  p.byte[16] = 9;
  assert_read(&m2, p, MUON_FINE, 3);
  p.bytes = 20; /* one more halfword, then two */
  assert_read(&m2, p, MUON_FINE, 3);
  p.bytes = 22;
  assert_read(&m2, p, MUON_TOO_LONG, 0);
  p.bytes = 18;
  p.byte[7] = 0x76; /* address 0x605, of 0x600 */
  assert_read(&m2, p, MUON_UNKNOWN_ADDRESS, 0);
  p.byte[7] = 0x70;
  p.byte[6] = 7; /* not connected */
  assert_read(&m2, p, MUON_FINE, 2);
  p.byte[0] = 2; /* two pads: the first batch is at the third one */
  assert_read(&m2, p, MUON_TOO_SHORT, 0);
  p.source_id = 10;
  assert_read(&m2, p, MUON_UNKNOWN_SOURCE, 0);
  p = good;
  p.bytes = 0;
  assert_read(&m2, p, MUON_TOO_SHORT, 0);
  p.version = 4;
  assert_read(&m2, p, MUON_UNKNOWN_VERSION, 0);
  assert_read(&m3, good, MUON_OTHER_FORMAT, 0);
  /* Version 3: mask of links 0 and 1; no hit in the first one, hits of channels 0 and 47 in the second. */
  struct payload q = {3, 13 << 11 | 1, 13, {0x20, 0, 0, 3, 0x00, 0x78, 0, 0, 0, 0, 0, 0x14, 0x50}};
  assert_read(&m3, q, MUON_FINE, 2);
  q.bytes = 12;
  assert_read(&m3, q, MUON_TOO_SHORT, 0);
  q.bytes = 3;
  assert_read(&m3, q, MUON_TOO_SHORT, 0);
  q.bytes = 13;
  q.byte[5] = 0x58; /* 6 bytes */
  assert_read(&m3, q, MUON_WRONG_LINK_LENGTH, 0);
  q.byte[0] = 0x30; /* synchronisation */
  assert_read(&m3, q, MUON_FINE, 0);
  q.source_id = 44;
  assert_read(&m3, q, MUON_UNKNOWN_SOURCE, 0);
  q.source_id = 0;
  q.bytes = 0;
  assert_read(&m3, q, MUON_TOO_SHORT, 0);
  simulation_free(two);
  simulation_free(three);
}

static void times_of_a_link_belong_to_their_hits(void **state) {
  (void)state;
  struct sim_simulation *s = muon_simulation(3);
  assert_int_equal(sim_simulate(s, 0), 0);
  const struct muon_map map = map_of(s);
  /* channels 1, 2, 4 and 47 with the times 4, 5, 6 and none */
  const uint8_t bytes[16] = {0x20, 0, 0, 1, 0x78, 0, 0, 0, 0, 0x01, 0x64, 0x56};
  uint32_t words[4];
  memcpy(words, bytes, sizeof words);
  const struct muon_bank_words bank = {words, 12, 3, 0};
  const uint32_t channels[] = {1, 2, 4, 47}, times[] = {4, 5, 6, 0};
  struct muon_reader r;
  struct muon_digit d;
  muon_reader_begin(&r, &map, &bank);
  for (uint32_t i = 0; i < 4; i++) {
    assert_int_equal(muon_reader_next(&r, &d), 1);
    assert_int_equal(d.tile, map.tiles[channels[i]]);
    assert_int_equal(d.time, times[i]);
  }
  assert_int_equal(muon_reader_next(&r, &d), 0);
  assert_int_equal(r.fault, MUON_FINE);
  simulation_free(s);
}

/* Payload memory of exact length, so that sanitizers detect reads beyond it. */
static void any_payload_ends_with_digits_of_the_map_or_a_fault(void **state) {
  (void)state;
  uint32_t fine = 0, refused = 0;
  for (uint32_t version = 2; version <= 3; version++) {
    struct sim_simulation *s = muon_simulation(version);
    assert_int_equal(sim_simulate(s, 0), 0);
    const struct muon_map map = map_of(s);
    for (uint32_t i = 0; i < 20000; i++) {
      struct sim_random random = sim_random_begin(1, i, SIM_FOR_MUON_NOISE, version);
      const uint32_t bytes = sim_random_u32(&random) % 60, words = (bytes + 3) / 4;
      uint32_t *payload = malloc(words * sizeof *payload + (words == 0));
      assert_non_null(payload);
      for (uint32_t k = 0; k < words; k++) /* mostly small numbers, for valid lengths */
        payload[k] = sim_random_u32(&random) & (sim_random_u32(&random) % 3 ? 0x00030003u : UINT32_MAX);
      const struct muon_bank_words bank = {payload, bytes, version, i % 12};
      struct muon_reader r;
      struct muon_digit d;
      uint32_t count = 0;
      muon_reader_begin(&r, &map, &bank);
      for (; muon_reader_next(&r, &d); count++) assert_true(d.tile != 0 && d.time < 16);
      assert_true(count <= 48 * bytes && muon_reader_next(&r, &d) == 0);
      fine += r.fault == MUON_FINE;
      refused += r.fault != MUON_FINE;
      free(payload);
    }
    simulation_free(s);
  }
  assert_true(fine > 100 && refused > 100);
}

/* ------------------------------------------------------------------------------------------------ full simulation */

struct tally {
  struct muon_map map;
  uint32_t tiles[16];
};

static void count_bank(void *context, uint32_t event, uint16_t source_id, uint8_t version, const unsigned char *payload,
                       uint16_t size_bytes) {
  static uint32_t words[1 << 14];
  struct tally *t = (struct tally *)context;
  struct muon_reader r;
  struct muon_digit d;
  memcpy(words, payload, size_bytes);
  const struct muon_bank_words bank = {words, size_bytes, version, source_id};
  muon_reader_begin(&r, &t->map, &bank);
  while (muon_reader_next(&r, &d)) t->tiles[event]++;
  assert_int_equal(r.fault, MUON_FINE);
}

static void events_of_full_simulation_have_their_tiles(void **state) {
  (void)state;
  static const uint32_t expected[] = {445, 70, 215, 305, 284, 102};
  const char *path = sample_path("lhcb/minbias.mdf");
  if (!path) skip();
  struct sample sample = sample_open(path);
  struct sim_simulation *s = muon_simulation(2);
  assert_int_equal(sim_simulate(s, 0), 0);
  struct tally t = {map_of(s), {0}};
  sample_for_banks(&sample, SIM_BANK_MUON, count_bank, &t);
  assert_int_equal(sample.event_count, sizeof expected / sizeof expected[0]);
  for (uint32_t i = 0; i < sample.event_count; i++) assert_int_equal(t.tiles[i], expected[i]);
  sample_close(&sample);
  simulation_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(banks_of_both_versions_give_the_digits),
                                     cmocka_unit_test(a_muon_hits_the_tiles_that_it_crosses),
                                     cmocka_unit_test(chambers_without_efficiency_have_no_hits),
                                     cmocka_unit_test(malformed_payloads_are_refused_with_the_reason),
                                     cmocka_unit_test(times_of_a_link_belong_to_their_hits),
                                     cmocka_unit_test(any_payload_ends_with_digits_of_the_map_or_a_fault),
                                     cmocka_unit_test(events_of_full_simulation_have_their_tiles)};
  return cmocka_run_group_tests_name("muon", tests, NULL, NULL);
}
