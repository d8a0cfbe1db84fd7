/* event_lines_test.c: lines that evaluate whole events. */
#include "calo/event_model.h"
#include "default_lines.h"
#include "line_cases.h"
#include "odin/event_model.h"
#include "pv/event_model.h"
#include "selections/event_model.h"
#include "velo/event_model.h"

#include <math.h>

static const struct line_port of_nothing[] = {{NULL, NULL}};
static const struct line_port of_odin[] = {{"reasons", &odin_events_collection}, {NULL, NULL}};
static const struct line_port of_velo_tracks[] = {{"tracks", &velo_tracks_collection}, {NULL, NULL}};
static const struct line_port of_velo_states[] = {
    {"beamline_states", &track_states_collection}, {"geometry", &velo_geometry_collection}, {NULL, NULL}};
static const struct line_port of_particles[] = {{"particles", &particles_collection}, {NULL, NULL}};
static const struct line_port of_clusters[] = {
    {"clusters", &calo_clusters_collection}, {"vertices", &pv_vertices_collection}, {NULL, NULL}};

static const struct line_table events[] = {
    {"Hlt1Passthrough", "", of_nothing, {{NULL, NULL, NULL, NULL}}},
    {"Hlt1GECPassthrough", "", of_nothing, {{NULL, NULL, NULL, NULL}}},
    {"Hlt1TAEPassthrough", "reasons.tae_index=3", of_odin, {{"reasons.tae_index", "1", "0", "in_window 0"}}},
    {"Hlt1ODINLumi", "reasons.event_type=8", of_odin, {{"reasons.event_type", "15", "7", "event_types 12"}}},
    {"Hlt1ODIN1kHzLumi",
     "reasons.event_type=8 reasons.orbit=31",
     of_odin,
     {{"reasons.event_type", "10", "6", "event_types 0"},
      {"reasons.orbit", "1", "30", "orbit_period 1"},
      {"reasons.orbit", "4294967281", "32", "orbit_period 1"},
      {"reasons.orbit", "61", "60", "orbit_period 1"}}},
    {"Hlt1ODINNoBias", "reasons.event_type=6", of_odin, {{"reasons.event_type", "4", "10", "event_types 6"}}},
    {"Hlt1VeloMicroBias", "tracks.offsets=5", of_velo_tracks, {{"tracks.offsets", "1", "0", "min_tracks 0"}}},
    {"Hlt1NVELODisplacedTrack",
     "beamline_states.offsets=4 beamline_states.x=20,1,20,-20 geometry.beam=1,2",
     of_velo_states,
     {{"beamline_states.offsets", "4", "3", "min_tracks 2"},
      {"beamline_states.x", "19,19,-17,0", "19,1,-16.9,1", "min_tracks 2"},
      {"beamline_states.x", "19.1,-17.1,0,19", "18.8", "min_distance 17.9"}}},
    /* Tracks at right angles to the z axis, 0.2 mm from each other, and one track near the beam. */
    {"Hlt1NMaterialVertexSeeds",
     "beamline_states.offsets=4 beamline_states.x=20,1,20.2,20.4 beamline_states.tx=0,0.1,0 "
     "beamline_states.ty=0.1,0,0.2,0.3 geometry.beam=1,2",
     of_velo_states,
     {{"beamline_states.x", "20,1,20.2,20.4", "20,1,20.2,21", "min_pairs 1"},
      {"beamline_states.x", "20,1,20.49,20.98", "20,1,20.51,21.02", "max_doca 0.52"},
      {"beamline_states.x", "20,1,20.1,20.2", "20,1,20,20", NULL},
      {"beamline_states.ty", "0.2,0,0.3,0.1", "0.1,0,0.1,0.1", NULL},
      {"beamline_states.x", "19.5,1,19.7,19.9", "18.5,1,18.7,18.9", "min_distance 17"}}},
    {"Hlt1DisplacedLeptons",
     "particles.offsets=3 particles.ip_chi2=8 particles.pt=1001,900,0 particles.pt_corrected=0,1001,2000 "
     "particles.leptons=1,2,0",
     of_particles,
     {{"particles.offsets", "2", "1", "min_leptons 1"},
      {"particles.leptons", "1,0,2", "1,0,0", "min_leptons 1"},
      {"particles.leptons", "3,3,0", "2,1,0", NULL},
      {"particles.ip_chi2", "7.41", "7.4", "min_ip_chi2 7.3"},
      {"particles.ip_chi2", "7.42", "-1", NULL},
      {"particles.vertex_z", "-340.9", "-341", "min_vertex_z -341.1"},
      {"particles.vertex_z", "-340.8", "-1e9", NULL}}},
    {"Hlt1DisplacedLeptons",
     "particles.offsets=2 particles.ip_chi2=8 particles.pt=1001 particles.leptons=1",
     of_particles,
     {{"particles.pt", "1000.1", "1000", "min_pt 999"}}},
    {"Hlt1DisplacedLeptons",
     "particles.offsets=2 particles.ip_chi2=8 particles.pt_corrected=1001 particles.leptons=2",
     of_particles,
     {{"particles.pt_corrected", "1000.1", "1000", "min_pt 999"}}},
    /* Two clusters at (x, y) and (-x, y) have the mass 2 E x / r and pt 2 E y / r, with r^2 = x^2 + y^2 + z^2. */
    {"Hlt1Bs2GammaGamma",
     "clusters.offsets=2 clusters.x=1000,-1000 clusters.y=200 clusters.energy=32000 clusters.et=2600 "
     "clusters.highest_share=0.7 vertices.offsets=9",
     of_clusters,
     {{"clusters.offsets", "3", "1", NULL},
      {"clusters.x", "598,-598", "590,-590", "min_mass 2900"},
      {"clusters.x", "1590,-1590", "1602,-1602", "max_mass 8100"},
      {"clusters.et", "2501", "2501,2500", "min_et 2400"},
      {"clusters.highest_share", "0.61", "0.61,0.6", "min_highest_share 0.5"},
      {"clusters.y", "202", "198", "min_pt 990"}}},
    {"Hlt1Bs2GammaGamma",
     "clusters.offsets=2 clusters.x=5.27,-5.27 clusters.y=1.3 clusters.energy=6000000 clusters.et=2600 "
     "clusters.highest_share=0.7",
     of_clusters,
     {{"clusters.y", "1.2", "1.06", "max_eta 10.2"}}},
    {"Hlt1Pi02GammaGamma",
     "clusters.offsets=2 clusters.x=3000,2900 clusters.energy=20000 clusters.et=1000 clusters.highest_share=0.8 "
     "vertices.offsets=1",
     of_clusters,
     {{"clusters.offsets", "3", "1", NULL},
      {"vertices.offsets", "0", "2", "max_vertices 2"},
      {"clusters.energy", "6900", "6500", "min_mass 40"},
      {"clusters.energy", "39500", "41000", "max_mass 310"},
      {"clusters.et", "401", "401,400", "min_et 399"},
      {"clusters.highest_share", "0.71", "0.71,0.7", "min_highest_share 0.6"},
      {"clusters.x", "500,390", "150,40", "min_pt_by_eta 50"}}},
};

static void every_requirement_of_a_line_of_events_decides(void **state) {
  (void)state;
  for (uint32_t k = 0; k < sizeof events / sizeof events[0]; k++) check_line(&events[k]);
}

/* -------------------------------------------------------------------------------- events with many candidates */

enum { EVENTS = 60, CANDIDATES_MAX = 100, ITEMS = EVENTS * CANDIDATES_MAX };
static const uint64_t zeros[ITEMS];

/* A random number of candidates per event, at most CANDIDATES_MAX. Their fields are between `low` and `high`. */
struct range {
  const char *field;
  float low, high;
};
struct candidates {
  uint32_t offsets[EVENTS + 1];
  float values[6][ITEMS];
};

static struct sl_test *with_candidates(const char *line, const char *port, const struct range *ranges, uint32_t count,
                                       struct candidates *made) {
  struct sl_test *t = default_line_new(line);
  sl_test_events(t, EVENTS);
  made->offsets[0] = 0;
  for (uint32_t event = 0; event < EVENTS; event++)
    made->offsets[event + 1] = made->offsets[event] + (uint32_t)random_between(0, CANDIDATES_MAX);
  sl_test_input(t, port, "offsets", made->offsets, EVENTS + 1);
  for (uint32_t f = 0; f < count; f++) {
    for (uint32_t i = 0; i < made->offsets[EVENTS]; i++)
      made->values[f][i] = random_between(ranges[f].low, ranges[f].high);
    sl_test_input(t, port, ranges[f].field, made->values[f], made->offsets[EVENTS]);
  }
  sl_test_input(t, "odin", "run", zeros, EVENTS);
  sl_test_input(t, "odin", "event_number", zeros, EVENTS);
  sl_test_input(t, "odin", "gps_time", zeros, EVENTS);
  sl_test_set(t, "pre_scale", 1);
  return t;
}

/* At least a tenth of the events must pass, and a tenth must not. */
static void assert_as_expected(struct sl_test *t, const uint8_t *expected) {
  uint32_t passed = 0;
  assert_int_equal(sl_test_run(t), 0);
  for (uint32_t event = 0; event < EVENTS; event++) {
    assert_int_equal((OUTPUT(t, "decisions", "passed", uint8_t)[event] & LINE_PASSED) != 0, expected[event]);
    passed += expected[event];
  }
  assert_in_range(passed, EVENTS / 10, 9 * EVENTS / 10);
  sl_test_free(t);
}

enum { X, Y, Z, TX, TY };

static double doca(const struct candidates *s, uint32_t i, uint32_t j) {
  double across[3], a[3] = {(double)s->values[TX][i], (double)s->values[TY][i], 1};
  const double b[3] = {(double)s->values[TX][j], (double)s->values[TY][j], 1};
  double product = 0, length = 0;
  for (uint32_t k = 0; k < 3; k++) {
    across[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
    product += across[k] * ((double)s->values[k][i] - (double)s->values[k][j]);
    length += across[k] * across[k];
  }
  return fabs(product) / sqrt(length);
}

/* Number of displaced tracks, or of near pairs of displaced tracks. */
static uint32_t displaced(const struct candidates *s, uint32_t event, int counts_pairs) {
  uint32_t tracks = 0, pairs = 0;
  for (uint32_t i = s->offsets[event]; i < s->offsets[event + 1]; i++) {
    if (hypotf(s->values[X][i] - 1, s->values[Y][i] - 2) <= 18) continue;
    tracks++;
    for (uint32_t j = s->offsets[event]; j < i; j++)
      pairs += hypotf(s->values[X][j] - 1, s->values[Y][j] - 2) > 18 && doca(s, i, j) < 3;
  }
  return counts_pairs ? pairs : tracks;
}

static void all_displaced_tracks_and_pairs_of_an_event_are_counted(void **state) {
  static const struct range ranges[] = {
      {"x", -16, 16}, {"y", -16, 16}, {"z", -100, 100}, {"tx", -0.3F, 0.3F}, {"ty", -0.3F, 0.3F}};
  static const float beam[] = {1, 2};
  static struct candidates s;
  (void)state;
  random_start(1);
  for (uint32_t counts_pairs = 0; counts_pairs < 2; counts_pairs++) {
    uint8_t expected[EVENTS];
    struct sl_test *t = with_candidates(counts_pairs ? "Hlt1NMaterialVertexSeeds" : "Hlt1NVELODisplacedTrack",
                                        "beamline_states", ranges, 5, &s);
    sl_test_input(t, "geometry", "beam", beam, 2);
    sl_test_set(t, counts_pairs ? "min_pairs" : "min_tracks", 4);
    sl_test_set(t, "max_doca", 3);
    for (uint32_t event = 0; event < EVENTS; event++) expected[event] = displaced(&s, event, (int)counts_pairs) >= 4;
    assert_as_expected(t, expected);
  }
}

enum { ENERGY, ET, CLUSTER_X, CLUSTER_Y, SHARE };

/* Computed from energies and momenta in double precision. */
static int is_pi0(const struct candidates *s, uint32_t i, uint32_t j) {
  double sum[4] = {0};
  for (uint32_t k = 0; k < 2; k++) {
    const uint32_t c = k ? j : i;
    const double x = (double)s->values[CLUSTER_X][c], y = (double)s->values[CLUSTER_Y][c],
                 e = (double)s->values[ENERGY][c];
    const double r = sqrt(x * x + y * y + 12650.0 * 12650.0);
    if (s->values[ET][c] <= 400 || s->values[SHARE][c] <= 0.7F) return 0;
    sum[0] += e * x / r, sum[1] += e * y / r, sum[2] += e * 12650 / r, sum[3] += e;
  }
  const double pt = hypot(sum[0], sum[1]), mass = sqrt(sum[3] * sum[3] - pt * pt - sum[2] * sum[2]);
  return mass > 50 && mass < 300 && pt > 200 * (10 - asinh(sum[2] / pt));
}

static void all_photon_pairs_of_an_event_are_tested(void **state) {
  static const struct range ranges[] = {
      {"energy", 1000, 60000}, {"et", 0, 1000}, {"x", -3000, 3000}, {"y", -3000, 3000}, {"highest_share", 0.3F, 1}};
  static struct candidates s;
  uint8_t expected[EVENTS];
  (void)state;
  random_start(2);
  struct sl_test *t = with_candidates("Hlt1Pi02GammaGamma", "clusters", ranges, 5, &s);
  sl_test_input(t, "vertices", "offsets", zeros, EVENTS + 1);
  for (uint32_t event = 0; event < EVENTS; event++) {
    expected[event] = 0;
    for (uint32_t i = s.offsets[event]; i < s.offsets[event + 1]; i++)
      for (uint32_t j = s.offsets[event]; j < i; j++) expected[event] |= (uint8_t)is_pi0(&s, i, j);
  }
  assert_as_expected(t, expected);
}

static void crossing_types_are_distinguished(void **state) {
  static const uint8_t types[] = {ODIN_NO_BEAM, ODIN_BEAM_1, ODIN_BEAM_2, ODIN_BEAM_BEAM};
  (void)state;
  for (uint32_t type = 0; type < sizeof types; type++) {
    struct sl_test *t = sl_test_new(SELECTIONS_PLUGIN, "odin");
    sl_test_events(t, sizeof types);
    sl_test_input(t, "reasons", "crossing_type", types, sizeof types);
    sl_test_input(t, "reasons", "event_type", zeros, sizeof types);
    sl_test_input(t, "reasons", "orbit", zeros, sizeof types);
    sl_test_input(t, "reasons", "tae_index", zeros, sizeof types);
    sl_test_input(t, "odin", "run", zeros, sizeof types);
    sl_test_input(t, "odin", "event_number", zeros, sizeof types);
    sl_test_input(t, "odin", "gps_time", zeros, sizeof types);
    sl_test_set(t, "crossing_types", 1u << type);
    assert_int_equal(sl_test_run(t), 0);
    for (uint32_t event = 0; event < sizeof types; event++)
      assert_int_equal(OUTPUT(t, "decisions", "passed", uint8_t)[event] != 0, event == type);
    sl_test_free(t);
  }
}

static void cells_without_readout_do_not_pass(void **state) {
  static int16_t adc[EVENTS * CALO_CELLS];
  (void)state;
  for (uint32_t i = 0; i < EVENTS * CALO_CELLS; i++) adc[i] = i % 3 ? 99 : CALO_NO_ADC;
  adc[7 * CALO_CELLS + CALO_CELLS - 1] = 100;
  struct sl_test *t = sl_test_new(SELECTIONS_PLUGIN, "calo_digits");
  sl_test_events(t, EVENTS);
  sl_test_input(t, "cells", "adc", adc, EVENTS * CALO_CELLS);
  sl_test_input(t, "odin", "run", zeros, EVENTS);
  sl_test_input(t, "odin", "event_number", zeros, EVENTS);
  sl_test_input(t, "odin", "gps_time", zeros, EVENTS);
  assert_int_equal(sl_test_run(t), 0);
  for (uint32_t event = 0; event < EVENTS; event++)
    assert_int_equal(OUTPUT(t, "decisions", "passed", uint8_t)[event] != 0, event == 7);
  sl_test_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_requirement_of_a_line_of_events_decides),
      cmocka_unit_test(all_displaced_tracks_and_pairs_of_an_event_are_counted),
      cmocka_unit_test(all_photon_pairs_of_an_event_are_tested),
      cmocka_unit_test(crossing_types_are_distinguished),
      cmocka_unit_test(cells_without_readout_do_not_pass),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
