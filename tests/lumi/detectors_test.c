/* detectors_test.c: lumi.summarize with hits, muons, energy and PLUME: whole summaries, bit by bit, against counters
 * computed independently and packed by the table of the format. summarize_test.c tests the counters of the VELO.
 */
#include "calo/event_model.h"
#include "lumi_support.h"
#include "muon/event_model.h"
#include "plume/event_model.h"
#include "scifi/event_model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EVENTS = 48, HITS_MAX = 200000 };

static struct {
  uint64_t number[EVENTS], gps_time[EVENTS];
  uint32_t orbit[EVENTS];
  uint16_t bunch[EVENTS], event_type[EVENTS];
  uint8_t crossing_type[EVENTS], error_bits[EVENTS];
  uint32_t hit_offsets[EVENTS + 1], id[HITS_MAX];
  uint16_t tile_first[EVENTS][MUON_FIRSTS];
  uint32_t stub_offsets[EVENTS + 1];
  int64_t energy[EVENTS], et[EVENTS], part_et[EVENTS][CALO_PARTS];
  uint8_t has_plume[EVENTS];
  uint32_t over_threshold[EVENTS][PLUME_BOARDS];
  uint16_t adc[EVENTS][PLUME_CHANNELS];
} e;

static uint64_t random_state;
static uint32_t random_below(uint32_t limit) {
  random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
  return (uint32_t)((random_state >> 32) * limit >> 32);
}

static uint32_t channel(uint32_t station, uint32_t layer, uint32_t quarter, uint32_t module) {
  return (uint32_t)SCIFI_LHCB_ID | station << SCIFI_STATION_BIT | layer << SCIFI_LAYER_BIT |
         quarter << SCIFI_QUARTER_BIT | module << SCIFI_MODULE_BIT | random_below(1 << SCIFI_MODULE_BIT);
}

static void make_hits(uint32_t event, uint32_t count) {
  uint32_t to = e.hit_offsets[event];
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t station = 1 + random_below(3);
    e.id[to++] = channel(station, random_below(4), random_below(4), random_below(station == 3 ? 6 : 5));
  }
  e.hit_offsets[event + 1] = to;
}

static void make_muons(uint32_t event) {
  for (uint32_t grid = 0; grid < MUON_GRIDS; grid++)
    e.tile_first[event][grid + 1] = (uint16_t)(e.tile_first[event][grid] + random_below(event % 8 == 7 ? 300 : 100));
  e.stub_offsets[event + 1] = e.stub_offsets[event] + random_below(event % 8 == 7 ? 400 : 5);
}

/* Energies of either sign, sometimes too large for their fields. */
static void make_energy(uint32_t event) {
  const int64_t range = event % 8 == 7 ? 40000000 : 400000; /* MeV */
  e.energy[event] = (random_below(1000001) - 100000ll) * range * 100;
  e.et[event] = (random_below(1000001) - 100000ll) * range * 10;
  for (uint32_t part = 0; part < CALO_PARTS; part++)
    e.part_et[event][part] = (random_below(1000001) - 100000ll) * range * 2;
}

static void make_plume(uint32_t event) {
  e.has_plume[event] = event % 5 != 4;
  for (uint32_t b = 0; b < PLUME_BOARDS; b++) e.over_threshold[event][b] = random_below(UINT32_MAX);
  for (uint32_t c = 0; c < PLUME_CHANNELS; c++)
    e.adc[event][c] = (uint16_t)(event % 7 == 6 ? 4095 : random_below(4096));
}

static void make_events(uint32_t seed) {
  memset(&e, 0, sizeof e);
  random_state = seed;
  for (uint32_t i = 0; i < EVENTS; i++) {
    e.orbit[i] = i;
    e.number[i] = 100 + i;
    e.bunch[i] = (uint16_t)random_below(3564);
    e.crossing_type[i] = (uint8_t)random_below(4);
    e.event_type[i] = 8; /* luminosity */
    make_hits(i, random_below(i % 8 == 7 ? 12000 : 3000));
    make_muons(i);
    make_energy(i);
    make_plume(i);
  }
}

static struct sl_test *summarize(void) {
  struct sl_test *t = sl_test_new(SUMMARIZE_PLUGIN, "summarize");
  sl_test_events(t, EVENTS);
  lumi_give_schema(t);
  sl_test_input(t, "odin", "event_number", e.number, EVENTS);
  sl_test_input(t, "odin", "gps_time", e.gps_time, EVENTS);
  sl_test_input(t, "odin", "orbit", e.orbit, EVENTS);
  sl_test_input(t, "odin", "bunch", e.bunch, EVENTS);
  sl_test_input(t, "odin", "crossing_type", e.crossing_type, EVENTS);
  sl_test_input(t, "scifi_hits", "offsets", e.hit_offsets, EVENTS + 1);
  sl_test_input(t, "scifi_hits", "id", e.id, e.hit_offsets[EVENTS]);
  sl_test_input(t, "muon_tiles", "first", e.tile_first, (uint64_t)EVENTS * MUON_FIRSTS);
  sl_test_input(t, "muon_stubs", "offsets", e.stub_offsets, EVENTS + 1);
  sl_test_input(t, "calo_sums", "energy", e.energy, EVENTS);
  sl_test_input(t, "calo_sums", "et", e.et, EVENTS);
  sl_test_input(t, "calo_sums", "part_et", e.part_et, (uint64_t)EVENTS * CALO_PARTS);
  sl_test_input(t, "plume", "is_there", e.has_plume, EVENTS);
  sl_test_input(t, "plume", "over_threshold", e.over_threshold, (uint64_t)EVENTS * PLUME_BOARDS);
  sl_test_input(t, "plume", "adc", e.adc, (uint64_t)EVENTS * PLUME_CHANNELS);
  return t;
}

/* ------------------------------------------------------------------------------------------ independent summaries */

/* A summary to which counters are added by name. */
struct packed {
  uint32_t words[FULL_WORDS], is_full, misfits;
};

static void put(struct packed *p, const char *name, uint64_t value) {
  const struct place *place = lumi_place(name);
  if (place->is_extra && !p->is_full) return;
  if (value > lumi_all_ones(name)) {
    p->misfits++;
    return;
  }
  const uint64_t ones = (uint64_t)lumi_all_ones(name) << place->bit;
  p->words[place->word] = (uint32_t)((p->words[place->word] & ~ones) | value << place->bit);
}

/* Energy in MeV, coded as defined in the table. */
static void put_energy(struct packed *p, const char *name, int64_t energy) {
  const struct place *place = lumi_place(name);
  const float value = (float)place->shift + (float)place->scale * (float)((double)energy / 1e8);
  put(p, name, value < 1 ? 0 : value >= (float)lumi_all_ones(name) ? lumi_all_ones(name) : (uint32_t)value);
}

static const char *named(const char *format, uint32_t a, uint32_t b, uint32_t c) {
  static char name[40];
  snprintf(name, sizeof name, format, a, b, c);
  return name;
}

static void put_hits(struct packed *p, uint32_t event) {
  uint32_t count[4][2][6] = {{{0}}}; /* by station, pair of quarters, module */
  for (uint32_t i = e.hit_offsets[event]; i < e.hit_offsets[event + 1]; i++)
    count[e.id[i] >> 18 & 3][e.id[i] >> 14 & 1][e.id[i] >> 11 & 7]++;
  for (uint32_t s = 1; s <= 3; s++) {
    uint32_t inner = 0, outer = 0;
    for (uint32_t m = 0; m < (s == 3 ? 6 : 5); m++) {
      put(p, named("SciFiT%uQ02M%u", s, m, 0), count[s][0][m]);
      put(p, named("SciFiT%uQ13M%u", s, m, 0), count[s][1][m]);
      if (m >= 1 && m <= 3) inner += count[s][0][m] + count[s][1][m];
      if (m >= 4) outer += count[s][0][m] + count[s][1][m];
    }
    put(p, named("SciFiT%uM123", s, 0, 0), inner);
    put(p, named(s == 3 ? "SciFiT%uM45" : "SciFiT%uM4", s, 0, 0), outer);
  }
}

static void put_muons(struct packed *p, uint32_t event) {
  for (uint32_t station = 2; station <= 4; station++)
    for (uint32_t region = 1; region <= 4; region++) {
      const uint16_t *first = &e.tile_first[event][4 * (station - 2) + region - 1];
      put(p, named("MuonHitsM%uR%u", station, region, 0), (uint32_t)first[1] - first[0]);
    }
  put(p, "MuonTracks", e.stub_offsets[event + 1] - e.stub_offsets[event]);
}

static void put_energies(struct packed *p, uint32_t event) {
  static const char *const parts[CALO_PARTS] = {"ECalETOuterTop",    "ECalETMiddleTop",    "ECalETInnerTop",
                                                "ECalETOuterBottom", "ECalETMiddleBottom", "ECalETInnerBottom"};
  put_energy(p, "ECalET", e.et[event]);
  put_energy(p, "ECalEtot", e.energy[event]);
  for (uint32_t part = 0; part < CALO_PARTS; part++) put_energy(p, parts[part], e.part_et[event][part]);
}

static void put_plume(struct packed *p, uint32_t event) {
  uint32_t sum = 0, low = 0, high = 0;
  if (!e.has_plume[event]) return;
  for (uint32_t i = 0; i < 44; i++) {
    const uint32_t adc = e.adc[event][i < 22 ? i : 32 + i - 22];
    put(p, named("PlumeLumiADC%02u", i, 0, 0), adc);
    sum += adc;
  }
  for (uint32_t c = 0; c < 22; c++) {
    low = low << 1 | (e.over_threshold[event][0] >> c & 1);
    high = high << 1 | (e.over_threshold[event][1] >> c & 1);
  }
  put(p, "PlumeAvgLumiADC", sum / 2 / 22);
  put(p, "PlumeLumiOverthrLow", low);
  put(p, "PlumeLumiOverthrHigh", high);
}

static struct packed pack(uint32_t event) {
  struct packed p = {.is_full = e.orbit[event] % 30 == 1};
  const uint64_t crossing = e.orbit[event] * 3564ull + e.bunch[event], start = 0 - crossing * 1000 / 40078;
  memset(p.words, 0xFF, (p.is_full ? FULL_WORDS : BASE_WORDS) * sizeof *p.words);
  put(&p, "encodingKey", lumi_key(p.is_full ? LUMI_FULL_SUMMARY : LUMI_BASE_SUMMARY));
  put(&p, "T0Low", (uint32_t)start);
  put(&p, "T0High", start >> 32);
  put(&p, "BCIDLow", (uint32_t)crossing);
  put(&p, "BCIDHigh", crossing >> 32);
  put(&p, "BXType", e.crossing_type[event]);
  put(&p, "GEC", 1);
  put_hits(&p, event);
  put_muons(&p, event);
  put_energies(&p, event);
  put_plume(&p, event);
  return p;
}

/* ------------------------------------------------------------------------------------------------- the tests */

static void summaries_equal_those_of_an_independent_packer(void **state) {
  (void)state;
  uint32_t full = 0, misfits = 0;
  for (uint32_t seed = 1; seed <= 2; seed++) {
    make_events(seed);
    struct sl_test *t = summarize();
    assert_int_equal(sl_test_run(t), 0);
    const uint32_t *words = sl_test_output(t, "summaries", "word");
    for (uint32_t i = 0; i < EVENTS; i++) {
      const struct packed expected = pack(i);
      full += expected.is_full;
      misfits += expected.misfits;
      assert_memory_equal(words + (size_t)LUMI_MAX_WORDS * i, expected.words, sizeof expected.words);
      assert_int_equal(sl_test_event_error(t, i) >> 32 != 0, expected.misfits > 0); /* a misfit is reported */
    }
    sl_test_free(t);
  }
  assert_int_equal(full, 4);
  assert_true(misfits > 20);
}

static void hits_without_a_channel_are_not_counted(void **state) {
  (void)state;
  make_events(3);
  for (uint32_t i = e.hit_offsets[0]; i < e.hit_offsets[1]; i++) e.id[i] = channel(i % 2 ? 0 : 2, 0, 0, i % 2 ? 1 : 7);
  struct sl_test *t = summarize();
  assert_int_equal(sl_test_run(t), 0);
  const uint32_t *words = sl_test_output(t, "summaries", "word");
  for (uint32_t s = 1; s <= 3; s++) assert_int_equal(lumi_bits(words, named("SciFiT%uM123", s, 0, 0)), 0);
  for (uint32_t s = 1; s <= 2; s++) assert_int_equal(lumi_bits(words, named("SciFiT%uM4", s, 0, 0)), 0);
  sl_test_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(summaries_equal_those_of_an_independent_packer),
                                     cmocka_unit_test(hits_without_a_channel_are_not_counted)};
  return cmocka_run_group_tests(tests, lumi_schema_set_up, lumi_schema_tear_down);
}
