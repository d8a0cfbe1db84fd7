/* track_lines_test.c: lines over long tracks, VELO tracks and muon stubs; scales and event lists, which work in the
 * same way for all lines. */
#include "calo/event_model.h"
#include "line_cases.h"
#include "muon/event_model.h"
#include "odin/scaler.h"
#include "selections/event_model.h"
#include "velo/event_model.h"

static const struct line_port of_particles[] = {{"candidates", &particles_collection}, {NULL, NULL}};
static const struct line_port of_stubs[] = {{"candidates", &muon_stubs_collection}, {NULL, NULL}};
static const struct line_port of_velo_tracks[] = {{"candidates", &track_states_collection},
                                                  {"tracks", &velo_tracks_collection},
                                                  {"crossings", &odin_events_collection},
                                                  {NULL, NULL}};
static const struct line_port of_bremsstrahlung[] = {
    {"candidates", &track_states_collection}, {"bremsstrahlung", &calo_bremsstrahlung_collection}, {NULL, NULL}};

/* The curve requires ip_chi2 above 16.2015 at 10 GeV, 1248.2 at 2.5 GeV, and for electrons 6.5467 at 10 GeV. Without a
 * primary vertex ip_chi2 is -1. */
static const struct line_table track_mva[] = {
    {"Hlt1TrackMVA",
     "candidates.pt=10296 candidates.ip_chi2=16.21 candidates.chi2_ndof=2.4 candidates.vertex_z=-100",
     of_particles,
     {{"candidates.ip_chi2", "16.202", "16.201", "rise 1.2479"},
      {"candidates.ip_chi2", "16.203", "-1", NULL},
      {"candidates.pt", "10297", "2296", NULL},
      {"candidates.pt", "26297", "2000", NULL},
      {"candidates.chi2_ndof", "2.4999", "2.5", "max_chi2_ndof 2.6"},
      {"candidates.vertex_z", "-340.9", "-341", "min_vertex_z -341.1"},
      {"candidates.vertex_z", "-340.8", "-1e9", NULL}}},
    {"Hlt1TrackMVA",
     "candidates.pt=2796 candidates.ip_chi2=1250 candidates.vertex_z=0",
     of_particles,
     {{"candidates.ip_chi2", "1249", "1247", "pole 0.99"}}},
    {"Hlt1TrackMVA",
     "candidates.pt=2796 candidates.ip_chi2=1250 candidates.vertex_z=0",
     of_particles,
     {{"candidates.pt", "2796", "2790", "alpha 289"}, {"candidates.pt", "2796", "2790", "min_pt 1993"}}},
    {"Hlt1TrackMVA",
     "candidates.pt=26297 candidates.ip_chi2=7.405 candidates.vertex_z=0",
     of_particles,
     {{"candidates.ip_chi2", "7.41", "7.4", "min_ip_chi2 7.38"}, {"candidates.pt", "26297", "26200", "max_pt 25900"}}},
    {"Hlt1TrackMuonMVA",
     "candidates.pt=10000 candidates.ip_chi2=16.21 candidates.chi2_ndof=99 candidates.vertex_z=-100 "
     "candidates.leptons=1",
     of_particles,
     {{"candidates.ip_chi2", "16.202", "16.201", "rise 1.2479"},
      {"candidates.pt", "10001", "2000", NULL},
      {"candidates.chi2_ndof", "99.9", "100", "max_chi2_ndof 101"},
      {"candidates.vertex_z", "-340.9", "-341", "min_vertex_z -341.1"},
      {"candidates.leptons", "3", "2", "lepton any"}}},
    {"Hlt1TrackElectronMVA",
     "candidates.pt_corrected=10000 candidates.ip_chi2=6.55 candidates.chi2_ndof=2.4 candidates.vertex_z=-100 "
     "candidates.leptons=2",
     of_particles,
     {{"candidates.ip_chi2", "6.547", "6.5465", "rise 1.2479"},
      {"candidates.pt_corrected", "10001", "1000", NULL},
      {"candidates.pt_corrected", "26001", "1020", NULL},
      {"candidates.chi2_ndof", "2.4999", "2.5", "max_chi2_ndof 2.6"},
      {"candidates.vertex_z", "-340.9", "-341", "min_vertex_z -341.1"},
      {"candidates.leptons", "3", "1", "lepton any"}}},
    {"Hlt1TrackElectronMVA",
     "candidates.pt_corrected=26001 candidates.ip_chi2=3.1 candidates.vertex_z=0 candidates.leptons=2",
     of_particles,
     {{"candidates.ip_chi2", "3.01", "3", "min_ip_chi2 2.9"}, {"candidates.pt_corrected", "26001", "0", NULL}}},
};

static const struct line_table single_tracks[] = {
    {"Hlt1SingleHighPtMuon",
     "candidates.pt=7000 candidates.p=7000 candidates.chi2_ndof=50 candidates.leptons=1",
     of_particles,
     {{"candidates.pt", "6000.1", "6000", "min_pt 5999"},
      {"candidates.p", "6000.1", "6000", "min_p 5999"},
      {"candidates.chi2_ndof", "99.9", "100", "max_chi2_ndof 101"},
      {"candidates.z", "-340.9", "-341", "min_z -341.1"},
      {"candidates.leptons", "3", "2", "lepton any"}}},
    {"Hlt1SingleHighPtMuonNoMuID",
     "candidates.pt=9000 candidates.p=9000 candidates.chi2_ndof=50",
     of_particles,
     {{"candidates.pt", "8000.1", "8000", "min_pt 7999"},
      {"candidates.p", "6000.1", "6000", "min_p 5999"},
      {"candidates.chi2_ndof", "99.9", "100", "max_chi2_ndof 101"},
      {"candidates.z", "-340.9", "-341", "min_z -341.1"}}},
    {"Hlt1SingleHighPtElectron",
     "candidates.pt=1 candidates.pt_corrected=9000 candidates.p=1 candidates.chi2_ndof=50 candidates.leptons=2",
     of_particles,
     {{"candidates.pt_corrected", "6000.1", "6000", "min_pt 5999"},
      {"candidates.chi2_ndof", "99.9", "100", "max_chi2_ndof 101"},
      {"candidates.z", "-340.9", "-341", "min_z -341.1"},
      {"candidates.leptons", "3", "1", "lepton any"}}},
    {"Hlt1LowPtMuon",
     "candidates.ip=5 candidates.ip_chi2=10 candidates.pt=100 candidates.chi2_ndof=50 candidates.leptons=1",
     of_particles,
     {{"candidates.ip", "4", "3.99", "min_ip 3.9"},
      {"candidates.ip", "4.1", "-1", NULL},
      {"candidates.ip_chi2", "7.4", "7.39", "min_ip_chi2 7.3"},
      {"candidates.pt", "80", "79.9", "min_pt 79"},
      {"candidates.chi2_ndof", "100", "100.1", "max_chi2_ndof 101"},
      {"candidates.vertex_z", "-341", "-341.1", "min_vertex_z -342"},
      {"candidates.vertex_z", "-340", "-1e9", NULL},
      {"candidates.leptons", "3", "2", NULL}}},
    {"Hlt1SingleHighEt",
     "bremsstrahlung.et=16000",
     of_bremsstrahlung,
     {{"bremsstrahlung.et", "15000.1", "15000", "min_et 14999"}}},
    {"Hlt1BeamGas",
     "candidates.z=-400 tracks.hit_offsets=14 crossings.crossing_type=1",
     of_velo_tracks,
     {{"candidates.z", "-549.9", "-550", "min_z -551"},
      {"candidates.z", "-300.1", "-300", "max_z -299"},
      {"tracks.hit_offsets", "12", "11", "min_hits 11"},
      {"crossings.crossing_type", "1", "0", "crossing_types 3"},
      {"crossings.crossing_type", "1", "2", "crossing_types 6"},
      {"crossings.crossing_type", "1", "3", "crossing_types 10"}}},
    {"Hlt1OneMuonTrackLine",
     "candidates.chi2_x=0.5 candidates.chi2_y=0.2",
     of_stubs,
     {{"candidates.chi2_x", "0.99", "1", "max_chi2_x 1.1"}, {"candidates.chi2_y", "0.29", "0.3", "max_chi2_y 0.4"}}},
};

static void every_requirement_of_track_mva_decides(void **state) {
  (void)state;
  for (uint32_t k = 0; k < sizeof track_mva / sizeof track_mva[0]; k++) check_line(&track_mva[k]);
}

static void every_requirement_of_a_line_over_single_tracks_decides(void **state) {
  (void)state;
  for (uint32_t k = 0; k < sizeof single_tracks / sizeof single_tracks[0]; k++) check_line(&single_tracks[k]);
}

/* ------------------------------------------------------------------------------------------------------ RICH */

/* For tx = 1, ty is the tangent of phi; for tx = -1, of pi - phi. Tangents of 0.5, 0.8, pi - 2.3, pi - 2.65: 0.54630,
 * 1.02964, 1.11921, 0.53540; of 0.55, 0.65, pi - 2.49, pi - 2.59: 0.61310, 0.76020, 0.76272, 0.61530. */
static const struct line_table rich_alignment[] = {
    {"Hlt1RICH1Alignment",
     "candidates.p=40000 candidates.pt=1000 candidates.chi2_ndof=1 candidates.eta=1.8 candidates.tx=1 "
     "candidates.ty=0.8",
     of_particles,
     {{"candidates.p", "30000", "29999", "min_p 29998"},
      {"candidates.pt", "500", "499.9", "min_pt 499"},
      {"candidates.chi2_ndof", "2", "2.001", "max_chi2_ndof 2.1"},
      {"candidates.eta", "1.601", "1.599", "min_eta 1.59"},
      {"candidates.eta", "2.039", "2.041", "max_eta 2.05"},
      {"candidates.ty", "0.5464", "0.5462", NULL},
      {"candidates.ty", "1.0296", "1.0297", NULL},
      {"candidates.ty", "-0.5464", "-0.5462", NULL},
      {"candidates.ty", "-1.0296", "-1.0297", NULL},
      {"candidates.tx", "1", "0", NULL}}},
    {"Hlt1RICH1Alignment",
     "candidates.p=40000 candidates.pt=1000 candidates.eta=1.8 candidates.tx=-1 candidates.ty=0.8",
     of_particles,
     {{"candidates.ty", "1.1192", "1.1193", NULL},
      {"candidates.ty", "0.5355", "0.5353", NULL},
      {"candidates.ty", "-1.1192", "-1.1193", NULL},
      {"candidates.ty", "-0.5355", "-0.5353", NULL},
      {"candidates.ty", "0.8", "0", NULL}}},
    {"Hlt1RICH2Alignment",
     "candidates.p=70000 candidates.pt=1000 candidates.chi2_ndof=1 candidates.eta=2.7 candidates.tx=1 "
     "candidates.ty=0.7",
     of_particles,
     {{"candidates.p", "60000", "59999", "min_p 59998"},
      {"candidates.pt", "500", "499.9", "min_pt 499"},
      {"candidates.chi2_ndof", "2", "2.001", "max_chi2_ndof 2.1"},
      {"candidates.eta", "2.651", "2.649", "min_eta 2.64"},
      {"candidates.eta", "2.799", "2.801", "max_eta 2.81"},
      {"candidates.ty", "0.6132", "0.6130", NULL},
      {"candidates.ty", "0.7601", "0.7603", NULL},
      {"candidates.ty", "-0.6132", "-0.6130", NULL},
      {"candidates.ty", "-0.7601", "-0.7603", NULL}}},
    {"Hlt1RICH2Alignment",
     "candidates.p=70000 candidates.pt=1000 candidates.eta=2.7 candidates.tx=-1 candidates.ty=0.7",
     of_particles,
     {{"candidates.ty", "0.7626", "0.7628", NULL},
      {"candidates.ty", "0.6154", "0.6152", NULL},
      {"candidates.ty", "-0.7626", "-0.7628", NULL},
      {"candidates.ty", "-0.6154", "-0.6152", NULL}}},
};

static void every_requirement_of_rich_alignment_decides(void **state) {
  (void)state;
  for (uint32_t k = 0; k < sizeof rich_alignment / sizeof rich_alignment[0]; k++) check_line(&rich_alignment[k]);
}

static void a_window_that_ends_before_it_begins_is_refused(void **state) {
  static const double phi[] = {0.5, 0.8, 2.65, 2.3};
  (void)state;
  struct sl_test *t = line_of(&rich_alignment[0]);
  sl_test_set_array(t, "phi", phi, 4);
  assert_int_not_equal(sl_test_run(t), 0);
  assert_non_null(strstr(sl_test_messages(t), "phi: a window must end after it begins"));
  sl_test_free(t);
}

/* ------------------------------------------------------------------------------------------- further inputs */

static const struct line_port of_pairs[] = {
    {"candidates", &secondary_vertices_collection}, {"scores", &vertex_scores_collection}, {NULL, NULL}};
static const struct line_port of_pairs_of_particles[] = {{"candidates", &secondary_vertices_collection},
                                                         {"scores", &vertex_scores_collection},
                                                         {"particles", &particles_collection},
                                                         {NULL, NULL}};
/* Lines with a further input per candidate. Four events with one candidate each; the line rejects event 2. */
static const struct {
  struct line_table table;
  const char *input;
} inputs[] = {
    {{"Hlt1SingleHighEt",
      "bremsstrahlung.et=15001",
      of_bremsstrahlung,
      {{"bremsstrahlung.et", "15001", "15000", NULL}}},
     "bremsstrahlung"},
    {{"Hlt1BeamGas",
      "candidates.z=-400 tracks.hit_offsets=12 crossings.crossing_type=1",
      of_velo_tracks,
      {{"candidates.z", "-401", "-299", NULL}}},
     "tracks"},
    {{"Hlt1TwoTrackMVA",
      "scores.logit=4 candidates.pt=2000 candidates.m_corrected=2000 candidates.eta=3 candidates.min_pt=500 "
      "candidates.min_ip_chi2=9",
      of_pairs,
      {{"scores.logit", "5", "3", NULL}}},
     "scores"},
    {{"Hlt1TwoTrackMVACharmXSec",
      "scores.logit=4 particles.p=5000 candidates.pt=2000 candidates.min_p=3000 candidates.min_pt=500 "
      "candidates.min_ip_chi2=9",
      of_pairs_of_particles,
      {{"scores.logit", "5", "2", NULL}}},
     "scores"},
};

/* The input has no items in event 1, as if its node had not run there, and two items in event 2, which is an error. */
static void inputs_that_do_not_match_the_candidates_are_refused(void **state) {
  enum { INPUT_EVENTS = 4 };
  static const uint32_t offsets[INPUT_EVENTS + 1] = {0, 1, 1, 3, 4};
  (void)state;
  for (size_t k = 0; k < sizeof inputs / sizeof inputs[0]; k++) {
    check_line(&inputs[k].table);
    struct sl_test *t = line_of(&inputs[k].table);
    sl_test_input(t, inputs[k].input, "offsets", offsets, INPUT_EVENTS + 1);
    assert_int_equal(sl_test_run(t), 0);
    const uint8_t *passed = OUTPUT(t, "decisions", "passed", uint8_t);
    assert_true(passed[0] && passed[3]);
    assert_int_equal(passed[1], 0);
    for (uint32_t event = 0; event < INPUT_EVENTS; event++)
      assert_int_equal(sl_test_event_error(t, event) >> 32 & 0xFF, event == 2);
    sl_test_free(t);
  }
}

/* ------------------------------------------------------------------------------------------- scales and lists */

enum { EVENTS = 400, FIRST_EVENT = 6001, RUN = 289232 };
static const uint64_t gps_time = 1712700000000000u;

/* ODIN data of the events. */
struct numbers {
  uint32_t run[EVENTS];
  uint64_t number[EVENTS], gps_time[EVENTS];
};

/* Every second event has a stub; every fourth event has two stubs, and the line accepts one. */
static struct sl_test *stubs_new(struct numbers *odin) {
  static const char *const fields[] = {"x", "y", "tx", "ty", "chi2_x", "chi2_y"};
  static float zeros[EVENTS], chi2_x[EVENTS];
  static const uint16_t hits[4 * EVENTS];
  uint32_t offsets[EVENTS + 1] = {0};
  for (uint32_t event = 0; event < EVENTS; event++) {
    offsets[event + 1] = offsets[event] + (event % 2 ? 0 : 1) + (event % 4 ? 0 : 1);
    if (event % 4 == 0) chi2_x[offsets[event]] = 9;
    odin->run[event] = RUN, odin->number[event] = FIRST_EVENT + event, odin->gps_time[event] = gps_time;
  }
  struct sl_test *t = sl_test_new(SELECTIONS_PLUGIN, "one_muon_stub");
  sl_test_events(t, EVENTS);
  sl_test_node(t, "Hlt1Stub");
  sl_test_input(t, "candidates", "offsets", offsets, EVENTS + 1);
  sl_test_input(t, "candidates", "hit", hits, 4 * offsets[EVENTS]);
  for (uint32_t k = 0; k < sizeof fields / sizeof fields[0]; k++)
    sl_test_input(t, "candidates", fields[k], strcmp(fields[k], "chi2_x") ? zeros : chi2_x, offsets[EVENTS]);
  sl_test_input(t, "odin", "run", odin->run, EVENTS);
  sl_test_input(t, "odin", "event_number", odin->number, EVENTS);
  sl_test_input(t, "odin", "gps_time", odin->gps_time, EVENTS);
  return t;
}

static uint32_t lets_through(const struct numbers *odin, const char *seed, float fraction, uint32_t event) {
  struct odin_events_view view;
  memset(&view, 0, sizeof view);
  view.run = odin->run, view.event_number = odin->number, view.gps_time = odin->gps_time;
  const struct odin_scaler scaler = odin_scaler_of(odin_seed_of(seed), fraction);
  return odin_scaler_passes(&scaler, &view, event);
}

/* Compares the decision for every event with the scales. `before`, `after`: seeds of pre_scale and post_scale. */
static void assert_scaled(struct sl_test *t, const struct numbers *odin, const char *before, const char *after) {
  uint32_t passed = 0;
  assert_int_equal(sl_test_run(t), 0);
  const uint32_t *offsets = OUTPUT(t, "decisions", "offsets", uint32_t);
  for (uint32_t event = 0; event < EVENTS; event++) {
    const uint32_t is_found = event % 2 == 0 && lets_through(odin, before, 0.5f, event);
    const uint32_t passes = is_found && lets_through(odin, after, 0.25f, event);
    const uint8_t decision = OUTPUT(t, "decisions", "passed", uint8_t)[event];
    assert_int_equal(decision, is_found * LINE_BEFORE_SCALE + passes * LINE_PASSED);
    for (uint32_t i = offsets[event]; i < offsets[event + 1]; i++)
      assert_int_equal(OUTPUT(t, "decisions", "accepted", uint8_t)[i], is_found && i + 1 == offsets[event + 1]);
    passed += passes;
  }
  assert_in_range(passed, 10, 50); /* 25 expected */
  assert_true(OUTPUT(t, "decisions", "pre_scale", float)[0] == 0.5f);
  assert_true(OUTPUT(t, "decisions", "post_scale", float)[0] == 0.25f);
}

static void scales_select_events_by_name_and_seeds(void **state) {
  static struct numbers odin;
  (void)state;
  for (uint32_t has_seeds = 0; has_seeds < 2; has_seeds++) {
    struct sl_test *t = stubs_new(&odin);
    sl_test_set(t, "pre_scale", 0.5);
    sl_test_set(t, "post_scale", 0.25);
    if (has_seeds) sl_test_set_text(t, "pre_seed", "stub_line_pre");
    if (has_seeds) sl_test_set_text(t, "post_seed", "stub_line_post");
    assert_scaled(t, &odin, has_seeds ? "stub_line_pre" : "Hlt1Stub_pre",
                  has_seeds ? "stub_line_post" : "Hlt1Stub_post");
    sl_test_free(t);
  }
}

static void scales_of_0_and_1_are_exact(void **state) {
  static struct numbers odin;
  (void)state;
  for (uint32_t k = 0; k < 4; k++) {
    struct sl_test *t = stubs_new(&odin);
    sl_test_set(t, "pre_scale", k & 1);
    sl_test_set(t, "post_scale", k >> 1);
    assert_int_equal(sl_test_run(t), 0);
    for (uint32_t event = 0; event < EVENTS; event += 2)
      assert_int_equal(OUTPUT(t, "decisions", "passed", uint8_t)[event],
                       (k & 1) * (LINE_BEFORE_SCALE + (k >> 1) * LINE_PASSED));
    sl_test_free(t);
  }
}

static void an_event_that_is_not_on_the_list_does_not_pass(void **state) {
  static struct numbers odin;
  static const uint32_t list[] = {2, 3, 8, 200, 398};
  uint32_t passed = 0;
  (void)state;
  struct sl_test *t = stubs_new(&odin);
  sl_test_list(t, list, sizeof list / sizeof list[0]);
  assert_int_equal(sl_test_run(t), 0);
  for (uint32_t event = 0; event < EVENTS; event++) passed += OUTPUT(t, "decisions", "passed", uint8_t)[event] != 0;
  assert_int_equal(passed, 4);
  for (uint32_t k = 0; k < sizeof list / sizeof list[0]; k++)
    assert_int_equal(OUTPUT(t, "decisions", "passed", uint8_t)[list[k]] != 0, list[k] != 3);
  sl_test_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_requirement_of_track_mva_decides),
      cmocka_unit_test(every_requirement_of_a_line_over_single_tracks_decides),
      cmocka_unit_test(every_requirement_of_rich_alignment_decides),
      cmocka_unit_test(a_window_that_ends_before_it_begins_is_refused),
      cmocka_unit_test(inputs_that_do_not_match_the_candidates_are_refused),
      cmocka_unit_test(scales_select_events_by_name_and_seeds),
      cmocka_unit_test(scales_of_0_and_1_are_exact),
      cmocka_unit_test(an_event_that_is_not_on_the_list_does_not_pass),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
