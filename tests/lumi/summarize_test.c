/* summarize_test.c: lumi.summarize on constructed and random events, against counters computed in double precision with
 * functions of the C library, at the offsets of the table of the format. SUMMARIZE_PLUGIN and SUMMARIZE select the
 * algorithm: the variant that processes every event has the same tests.
 */
#include "lumi_support.h"
#include "odin/event_model.h"
#include "pv/event_model.h"
#include "velo/event_model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EVENTS_MAX = 200, TRACKS_MAX = 100000, VERTICES_MAX = 10000 };

struct events {
  uint32_t count, tracks, vertices;
  uint64_t number[EVENTS_MAX], gps_time[EVENTS_MAX];
  uint32_t orbit[EVENTS_MAX];
  uint16_t bunch[EVENTS_MAX], event_type[EVENTS_MAX];
  uint8_t crossing_type[EVENTS_MAX], error_bits[EVENTS_MAX];
  uint32_t track_offsets[EVENTS_MAX + 1], vertex_offsets[EVENTS_MAX + 1];
  float x[TRACKS_MAX], y[TRACKS_MAX], z[TRACKS_MAX], tx[TRACKS_MAX], ty[TRACKS_MAX];
  uint8_t backward[TRACKS_MAX];
  float vx[VERTICES_MAX], vy[VERTICES_MAX], vz[VERTICES_MAX];
};
static struct events e;

/* Properties of the node that tests may change. */
enum { EDGES = 7 };
static const struct region { double eta_edges[EDGES], z, rho; } usual = {{-4, -3, -2, 2, 3, 4, 5}, 300, 3};
static struct region region; /* a test that changes it restores it */
static void begin(void) { memset(&e, 0, sizeof e); }

static uint32_t add_event(uint32_t orbit) {
  const uint32_t event = e.count++;
  e.orbit[event] = orbit;
  e.event_type[event] = ODIN_LUMINOSITY;
  e.track_offsets[event + 1] = e.tracks;
  e.vertex_offsets[event + 1] = e.vertices;
  return event;
}

/* Adds a track to the last event. */
static void add_track(float x, float y, float z, float tx, float ty, uint8_t backward) {
  const uint32_t t = e.tracks++;
  e.x[t] = x, e.y[t] = y, e.z[t] = z, e.tx[t] = tx, e.ty[t] = ty, e.backward[t] = backward;
  e.track_offsets[e.count] = e.tracks;
}

static void add_vertex(float x, float y, float z) {
  const uint32_t v = e.vertices++;
  e.vx[v] = x, e.vy[v] = y, e.vz[v] = z;
  e.vertex_offsets[e.count] = e.vertices;
}

enum { WITH_TRACKS = 1, WITH_VERTICES = 2, WITH_ALL = 3 };

static struct sl_test *summarize(uint32_t with) {
  struct sl_test *t = sl_test_new(SUMMARIZE_PLUGIN, SUMMARIZE);
  sl_test_events(t, e.count);
  if (memcmp(&region, &usual, sizeof region) != 0) { /* otherwise the defaults apply */
    sl_test_set_array(t, "eta_edges", region.eta_edges, EDGES);
    sl_test_set(t, "fiducial_z", region.z);
    sl_test_set(t, "fiducial_rho", region.rho);
  }
  lumi_give_schema(t);
  sl_test_input(t, "odin", "event_number", e.number, e.count);
  sl_test_input(t, "odin", "gps_time", e.gps_time, e.count);
  sl_test_input(t, "odin", "orbit", e.orbit, e.count);
  sl_test_input(t, "odin", "bunch", e.bunch, e.count);
  sl_test_input(t, "odin", "crossing_type", e.crossing_type, e.count);
  sl_test_input(t, "odin", "event_type", e.event_type, e.count);
  sl_test_input(t, "odin", "error_bits", e.error_bits, e.count);
  if (with & WITH_TRACKS) {
    sl_test_input(t, "states", "offsets", e.track_offsets, e.count + 1);
    sl_test_input(t, "states", "x", e.x, e.tracks);
    sl_test_input(t, "states", "y", e.y, e.tracks);
    sl_test_input(t, "states", "z", e.z, e.tracks);
    sl_test_input(t, "states", "tx", e.tx, e.tracks);
    sl_test_input(t, "states", "ty", e.ty, e.tracks);
    sl_test_input(t, "states", "backward", e.backward, e.tracks);
  }
  if (with & WITH_VERTICES) {
    sl_test_input(t, "vertices", "offsets", e.vertex_offsets, e.count + 1);
    sl_test_input(t, "vertices", "x", e.vx, e.vertices);
    sl_test_input(t, "vertices", "y", e.vy, e.vertices);
    sl_test_input(t, "vertices", "z", e.vz, e.vertices);
  }
  return t;
}

static const uint32_t *summary(const struct sl_test *t, uint32_t item) {
  const uint32_t *word_offsets = sl_test_output(t, "summaries", "word_offsets");
  return (const uint32_t *)sl_test_output(t, "summaries", "word") + word_offsets[item];
}

static uint32_t size_bytes(const struct sl_test *t, uint32_t item) {
  return ((const uint16_t *)sl_test_output(t, "summaries", "size_bytes"))[item];
}

#define ASSERT_COUNTER(words, name, value)                                                                  \
  do {                                                                                                      \
    const uint32_t counter_found = lumi_bits(words, name);                                                  \
    const uint32_t counter_wanted = (uint32_t)(value);                                                      \
    if (counter_found != counter_wanted) fail_msg("%s is %u, not %u", name, counter_found, counter_wanted); \
  } while (0)

/* --------------------------------------------------------------------------------------------- independent counters */

/* Bits of a counter for a value. */
static uint32_t stored(const char *name, uint64_t value) {
  return value > lumi_all_ones(name) ? lumi_all_ones(name) : (uint32_t)value;
}

static uint32_t coded(const char *name, float quantity) {
  const struct place *p = lumi_place(name);
  const float value = (float)p->shift + (float)p->scale * quantity;
  if (value < 1) return 0;
  return value >= (float)lumi_all_ones(name) ? lumi_all_ones(name) : (uint32_t)value;
}

static double slope_of(uint32_t track) { return hypot((double)e.tx[track], (double)e.ty[track]); }

static double eta_of(uint32_t track) {
  const double eta = asinh(1 / slope_of(track));
  return e.backward[track] ? -eta : eta;
}

static double rho_of(uint32_t track) {
  return fabs((double)e.ty[track] * e.x[track] - (double)e.tx[track] * e.y[track]) / slope_of(track);
}

static void assert_tracks(const uint32_t *words, uint32_t event) {
  uint32_t fiducial = 0, bins[8] = {0};
  for (uint32_t t = e.track_offsets[event]; t < e.track_offsets[event + 1]; t++) {
    uint32_t bin = 0;
    while (bin < 7 && eta_of(t) >= region.eta_edges[bin]) bin++;
    bins[bin]++;
    fiducial += fabsf(e.z[t]) < (float)region.z && rho_of(t) < region.rho;
  }
  ASSERT_COUNTER(words, "VeloTracks", stored("VeloTracks", e.track_offsets[event + 1] - e.track_offsets[event]));
  ASSERT_COUNTER(words, "VeloFiducialTracks", stored("VeloFiducialTracks", fiducial));
  for (uint32_t bin = 0; bin < 8; bin++) {
    char name[32];
    snprintf(name, sizeof name, "VeloTracksEtaBin%u", bin);
    ASSERT_COUNTER(words, name, stored(name, bins[bin]));
  }
}

static void assert_vertices(const uint32_t *words, uint32_t event) {
  const uint32_t first = e.vertex_offsets[event], count = e.vertex_offsets[event + 1] - first;
  uint32_t fiducial = 0;
  for (uint32_t v = first; v < first + count; v++)
    fiducial += fabsf(e.vz[v]) < (float)region.z && hypot((double)e.vx[v], (double)e.vy[v]) < region.rho;
  ASSERT_COUNTER(words, "VeloVertices", stored("VeloVertices", count));
  ASSERT_COUNTER(words, "FiducialVeloVertices", stored("FiducialVeloVertices", fiducial));
  const uint32_t v = first + (count ? (uint32_t)(e.number[event] % count) : 0);
  ASSERT_COUNTER(words, "VeloVertexX", coded("VeloVertexX", count ? e.vx[v] : 0));
  ASSERT_COUNTER(words, "VeloVertexY", coded("VeloVertexY", count ? e.vy[v] : 0));
  ASSERT_COUNTER(words, "VeloVertexZ", coded("VeloVertexZ", count ? e.vz[v] : 0));
}

static void assert_basic(const uint32_t *words, uint32_t event) {
  const uint64_t crossing = e.orbit[event] * 3564ull + e.bunch[event];
  const uint64_t start = e.gps_time[event] - crossing * 1000 / 40078;
  ASSERT_COUNTER(words, "T0Low", start & 0xFFFFFFFF);
  ASSERT_COUNTER(words, "T0High", start >> 32);
  ASSERT_COUNTER(words, "BCIDLow", crossing & 0xFFFFFFFF);
  ASSERT_COUNTER(words, "BCIDHigh", crossing >> 32);
  ASSERT_COUNTER(words, "BXType", e.crossing_type[event]);
}

/* All bits of unfilled counters and unused bits are ones; words after the summary are zeros. */
static void assert_rest(const uint32_t *words, uint32_t word_count, uint32_t with) {
  uint32_t filled[FULL_WORDS] = {0};
  const struct place *table = lumi_table();
  for (uint32_t i = 0; i < TABLE_ROWS; i++) {
    const struct place *p = &table[i];
    const int is_track = strncmp(p->name, "VeloTracks", 10) == 0 || strcmp(p->name, "VeloFiducialTracks") == 0;
    const int is_vertex = strstr(p->name, "Vert") != NULL;
    const int is_basic = strcmp(p->name, "encodingKey") == 0 || strncmp(p->name, "T0", 2) == 0 ||
                         strncmp(p->name, "BCID", 4) == 0 || strcmp(p->name, "BXType") == 0 ||
                         strcmp(p->name, "GEC") == 0;
    if (is_basic || (is_track && with & WITH_TRACKS) || (is_vertex && with & WITH_VERTICES))
      filled[p->word] |= lumi_all_ones(p->name) << p->bit;
  }
  for (uint32_t w = 0; w < word_count; w++) assert_int_equal(words[w] | filled[w], 0xFFFFFFFF);
  for (uint32_t w = word_count; w < FULL_WORDS; w++) assert_int_equal(words[w], 0);
}

static void assert_summary(const struct sl_test *t, uint32_t item, uint32_t event, uint32_t with) {
  const uint32_t *words = summary(t, item), is_full = e.orbit[event] % 30 == 1;
  assert_int_equal(size_bytes(t, item), is_full ? 4 * FULL_WORDS : 4 * BASE_WORDS);
  assert_int_equal(words[0], lumi_key(is_full ? LUMI_FULL_SUMMARY : LUMI_BASE_SUMMARY));
  assert_basic(words, event);
  ASSERT_COUNTER(words, "GEC", 1);
  if (with & WITH_TRACKS) assert_tracks(words, event);
  if (with & WITH_VERTICES) assert_vertices(words, event);
  assert_rest(words, is_full ? FULL_WORDS : BASE_WORDS, with);
}

/* ------------------------------------------------------------------------------------------------- constructed
 * events */

static void counters_equal_values_computed_by_hand(void **state) {
  (void)state;
  begin();
  const uint32_t event = add_event(61); /* full */
  e.bunch[event] = 1000;
  e.gps_time[event] = 1ull << 40;
  e.number[event] = 5; /* 5 mod 3 = 2 selects the third of three vertices */
  e.crossing_type[event] = ODIN_BEAM_1;
  add_track(0, 0, 10, 0.01f, 0, 0);     /* eta 5.3: bin 7; fiducial */
  add_track(0, 4, 10, 0.1f, 0, 0);      /* eta 2.998: bin 4; 4 mm from the axis */
  add_track(0, 0, 300, 0.1f, 0.1f, 0);  /* eta 2.65: bin 4; z is not less than 300 */
  add_track(1, 1, -299, 0.3f, 0.3f, 1); /* eta -1.59: bin 3; fiducial */
  add_track(0, 0, 0, 0.02f, 0, 1);      /* eta -4.6: bin 0; fiducial */
  add_vertex(0.5f, -0.25f, -100);
  add_vertex(3, 0, 0); /* a distance of 3 mm is outside the limit of 3 mm */
  add_vertex(-0.125f, 0.0625f, 50.5f);
  struct sl_test *t = summarize(WITH_ALL);
  assert_int_equal(sl_test_run(t), 0);
  const uint32_t *words = summary(t, 0);
  assert_int_equal(size_bytes(t, 0), 236);
  ASSERT_COUNTER(words, "BCIDLow", 61 * 3564 + 1000);
  ASSERT_COUNTER(words, "BCIDHigh", 0);
  ASSERT_COUNTER(words, "T0High", 255);
  ASSERT_COUNTER(words, "T0Low", 4294967296ull - 5449); /* 218404 * 1000 / 40078 = 5449.5 */
  ASSERT_COUNTER(words, "BXType", 1);
  ASSERT_COUNTER(words, "GEC", 1);
  ASSERT_COUNTER(words, "VeloTracks", 5);
  ASSERT_COUNTER(words, "VeloFiducialTracks", 3);
  static const uint32_t bins[8] = {1, 0, 0, 1, 2, 0, 0, 1};
  for (uint32_t bin = 0; bin < 8; bin++) {
    char name[32];
    snprintf(name, sizeof name, "VeloTracksEtaBin%u", bin);
    ASSERT_COUNTER(words, name, bins[bin]);
  }
  ASSERT_COUNTER(words, "VeloVertices", 3);
  ASSERT_COUNTER(words, "FiducialVeloVertices", 2);
  ASSERT_COUNTER(words, "VeloVertexX", 7987); /* 8192 - 204.8 */
  ASSERT_COUNTER(words, "VeloVertexY", 8294); /* 8192 + 102.4 */
  ASSERT_COUNTER(words, "VeloVertexZ", 9019); /* 8192 + 827.392 */
  ASSERT_COUNTER(words, "MuonTracks", 127);   /* without a muon system */
  ASSERT_COUNTER(words, "PlumeLumiADC43", 4095);
  assert_summary(t, 0, event, WITH_ALL);
  sl_test_free(t);
}

static void positions_outside_a_field_saturate(void **state) {
  (void)state;
  begin();
  static const float x[] = {-5, -4.9999f, 5, 4.9988f, -1000, 1000};
  static const uint32_t expected[] = {0, 0, 16383, 16382, 0, 16383};
  for (uint32_t i = 0; i < 6; i++) {
    add_event(30 * i);
    add_vertex(x[i], x[i], 100 * x[i]);
  }
  struct sl_test *t = summarize(WITH_ALL);
  assert_int_equal(sl_test_run(t), 0);
  for (uint32_t i = 0; i < 6; i++) {
    ASSERT_COUNTER(summary(t, i), "VeloVertexX", expected[i]);
    ASSERT_COUNTER(summary(t, i), "VeloVertexY", expected[i]);
    ASSERT_COUNTER(summary(t, i), "VeloVertexZ", expected[i]);
  }
  sl_test_free(t);
}

static void counts_too_large_for_a_field_saturate(void **state) {
  (void)state;
  begin();
  static const uint32_t tracks[] = {127, 128, 2047, 2048};
  for (uint32_t i = 0; i < 4; i++) {
    add_event(2);
    for (uint32_t k = 0; k < tracks[i]; k++) add_track(0, 0, 0, 0.01f, 0, 1); /* all in bin 0, of 7 bits */
    for (uint32_t k = 0; k < 63 + i % 2; k++) add_vertex(0, 0, (float)k);     /* 6 bits */
  }
  struct sl_test *t = summarize(WITH_ALL);
  assert_int_equal(sl_test_run(t), 0);
  for (uint32_t i = 0; i < 4; i++) {
    ASSERT_COUNTER(summary(t, i), "VeloTracks", i < 3 ? tracks[i] : 2047);
    ASSERT_COUNTER(summary(t, i), "VeloTracksEtaBin0", 127);
    ASSERT_COUNTER(summary(t, i), "VeloTracksEtaBin1", 0);
    ASSERT_COUNTER(summary(t, i), "VeloVertices", 63);
    assert_summary(t, i, i, WITH_ALL);
    assert_int_equal(sl_test_event_error(t, i) >> 32, i > 0); /* reported unless all counts fit */
  }
  sl_test_free(t);
}

static void tracks_with_zero_slope_or_invalid_values_are_counted(void **state) {
  (void)state;
  begin();
  add_event(0);
  add_track(0, 0, 0, 0, 0, 0); /* along the axis: eta is infinite */
  add_track(0, 0, 0, 0, 0, 1);
  add_track(NAN, NAN, NAN, NAN, NAN, 0);
  add_track(INFINITY, 0, INFINITY, 0.1f, 0, 0);
  add_vertex(NAN, NAN, NAN);
  struct sl_test *t = summarize(WITH_ALL);
  assert_int_equal(sl_test_run(t), 0);
  ASSERT_COUNTER(summary(t, 0), "VeloTracks", 4);
  ASSERT_COUNTER(summary(t, 0), "VeloFiducialTracks", 0);
  ASSERT_COUNTER(summary(t, 0), "VeloTracksEtaBin7", 1);
  ASSERT_COUNTER(summary(t, 0), "VeloTracksEtaBin0", 1);
  ASSERT_COUNTER(summary(t, 0), "VeloTracksEtaBin3", 1);
  ASSERT_COUNTER(summary(t, 0), "VeloTracksEtaBin4", 1);
  ASSERT_COUNTER(summary(t, 0), "FiducialVeloVertices", 0);
  ASSERT_COUNTER(summary(t, 0), "VeloVertexX", 0);
  sl_test_free(t);
}

static void missing_detectors_set_all_bits(void **state) {
  (void)state;
  for (uint32_t with = 0; with <= WITH_ALL; with++) {
    begin();
    for (uint32_t i = 0; i < 40; i++) {
      add_event(i);
      add_track(0, 0, 0, 0.1f, 0, 0);
      add_vertex(1, 2, 3);
    }
    struct sl_test *t = summarize(with);
    assert_int_equal(sl_test_run(t), 0);
    for (uint32_t i = 0; i < 40; i++) assert_summary(t, i, i, with);
    if (!(with & WITH_TRACKS)) ASSERT_COUNTER(summary(t, 0), "VeloTracks", 2047);
    if (!(with & WITH_VERTICES)) ASSERT_COUNTER(summary(t, 0), "VeloVertexZ", 16383);
    sl_test_free(t);
  }
}

static void the_global_event_cut_is_an_event_list(void **state) {
  (void)state;
  static const uint32_t passed[] = {0, 3, 4, 11}, count = 4;
  begin();
  for (uint32_t i = 0; i < 12; i++) add_event(i);
  struct sl_test *t = summarize(0);
  sl_test_input(t, "gec", "count", &count, 1);
  sl_test_input(t, "gec", "numbers", passed, 4);
  assert_int_equal(sl_test_run(t), 0);
  for (uint32_t i = 0; i < 12; i++) ASSERT_COUNTER(summary(t, i), "GEC", i == 0 || i == 3 || i == 4 || i == 11);
  sl_test_free(t);
}

static void orbits_with_full_summaries_can_be_selected(void **state) {
  (void)state;
  begin();
  for (uint32_t i = 0; i < 20; i++) add_event(i);
  struct sl_test *t = summarize(0);
  sl_test_set(t, "full_period", 5);
  sl_test_set(t, "full_phase", 8); /* modulo the period */
  assert_int_equal(sl_test_run(t), 0);
  for (uint32_t i = 0; i < 20; i++) assert_int_equal(size_bytes(t, i), i % 5 == 3 ? 236 : 88);
  sl_test_free(t);
}

/* ------------------------------------------------------------------------------------- bins and the fiducial region */

/* The bins between -4, -3, -2, 2, 3, 4 and 5; these floats are the edges. */
static uint32_t usual_bin(float slope, uint32_t backward) {
  const float at_2 = 3.6268604f * slope, at_3 = 10.0178749f * slope, at_4 = 27.2899172f * slope;
  if (backward) return 3u - (uint32_t)(at_2 < 1.0f) - (uint32_t)(at_3 < 1.0f) - (uint32_t)(at_4 < 1.0f);
  return 3u + (uint32_t)(at_2 <= 1.0f) + (uint32_t)(at_3 <= 1.0f) + (uint32_t)(at_4 <= 1.0f) +
         (uint32_t)(74.2032106f * slope <= 1.0f);
}

/* Slopes: neighbouring floats around each edge, 0, infinity and NaN. */
static void edges_have_the_recorded_bits(void **state) {
  (void)state;
  static const double at_edges[] = {3.6268604078470188, 10.017874927409903, 27.289917197127753, 74.20321057778875};
  enum { AROUND = 40 };
  uint32_t bins[2][8] = {{0}};
  for (uint32_t edge = 0; edge < 4; edge++)
    for (uint32_t backward = 0; backward < 2; backward++) {
      float slope = (float)(1 / at_edges[edge]);
      for (uint32_t i = 0; i < AROUND / 2; i++) slope = nextafterf(slope, 0);
      for (uint32_t i = 0; i < AROUND; i++, slope = nextafterf(slope, 1)) {
        begin();
        add_event(0);
        add_track(0, 0, 0, slope, 0, (uint8_t)backward);
        struct sl_test *t = summarize(WITH_TRACKS);
        assert_int_equal(sl_test_run(t), 0);
        char name[32];
        snprintf(name, sizeof name, "VeloTracksEtaBin%u", usual_bin(slope, backward));
        ASSERT_COUNTER(summary(t, 0), name, 1);
        bins[backward][usual_bin(slope, backward)]++;
        sl_test_free(t);
      }
    }
  for (uint32_t bin = 0; bin < 8; bin++) assert_true(bins[bin < 4][bin] >= AROUND / 4);
}

static void random_events_agree_with_an_independent_reader(void **state);

static void bins_and_the_fiducial_region_are_properties(void **state) {
  region = (struct region){{-3.25, -1.5, 0, 1, 1.75, 2.5, 4.125}, 120, 1.5};
  random_events_agree_with_an_independent_reader(state);
  region = (struct region){{-7, -6, -5, -4, -3, -2, -1}, 399, 5};
  random_events_agree_with_an_independent_reader(state);
  region = (struct region){{0.5, 1, 1.5, 2, 2.5, 3, 20}, 0, 0};
  random_events_agree_with_an_independent_reader(state);
  region = usual;
}

static void edges_not_in_ascending_order_are_refused(void **state) {
  (void)state;
  static const double edges[][EDGES] = {{-4, -3, -2, 2, 3, 4, 4}, {0, -1, 1, 2, 3, 4, 5}, {-4, -3, 2, -2, 3, 4, 5}};
  static const char *const messages[] = {"eta_edges: 4 comes after 4; edges must ascend", "-1 comes after 0",
                                         "-2 comes after 2"};
  begin();
  add_event(0);
  for (uint32_t i = 0; i < 3; i++) {
    struct sl_test *t = summarize(0);
    sl_test_set_array(t, "eta_edges", edges[i], EDGES);
    assert_int_equal(sl_test_run(t), SL_EINVAL);
    if (!strstr(sl_test_messages(t), messages[i])) fail_msg("%s", sl_test_messages(t));
    sl_test_free(t);
  }
}

/* ---------------------------------------------------------------------------------------------- random events */

static uint64_t random_state = 7;
static uint32_t random_u32(void) {
  random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
  return (uint32_t)(random_state >> 32);
}
static float random_between(float low, float high) {
  return low + (high - low) * (float)(random_u32() >> 8) * 0x1p-24f;
}

static double distance(double value, const double *edges, uint32_t count) {
  double nearest = 1e9;
  for (uint32_t i = 0; i < count; i++) nearest = fmin(nearest, fabs(value - edges[i]));
  return nearest;
}

/* Whether the track is so far from all edges that float and double agree. */
static int is_clear(uint32_t track) {
  return distance(eta_of(track), region.eta_edges, EDGES) > 1e-4 && distance(rho_of(track), &region.rho, 1) > 1e-4;
}

static void random_events(uint32_t count) {
  print_message("seed %llu\n", (unsigned long long)random_state);
  begin();
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t event = add_event(random_u32());
    e.number[event] = (uint64_t)random_u32() << 32 | random_u32();
    e.gps_time[event] = (uint64_t)random_u32() << 20;
    e.bunch[event] = (uint16_t)(random_u32() % 3564);
    e.crossing_type[event] = (uint8_t)(random_u32() % 4);
    for (uint32_t k = random_u32() % 400; k > 0;) {
      const float slope = expf(random_between(-6, 0)), phi = random_between(-3.2f, 3.2f);
      add_track(random_between(-6, 6), random_between(-6, 6), random_between(-400, 400), slope * cosf(phi),
                slope * sinf(phi), random_u32() % 3 == 0);
      if (is_clear(e.tracks - 1))
        k--;
      else
        e.track_offsets[e.count] = --e.tracks;
    }
    for (uint32_t k = random_u32() % 36; k > 0; k--)
      add_vertex(random_between(-3, 3), random_between(-3, 3), random_between(-500, 500));
  }
}

static void random_events_agree_with_an_independent_reader(void **state) {
  (void)state;
  random_events(EVENTS_MAX);
  struct sl_test *t = summarize(WITH_ALL);
  assert_int_equal(sl_test_run(t), 0);
  const uint32_t *offsets = sl_test_output(t, "summaries", "offsets");
  for (uint32_t i = 0; i <= e.count; i++) assert_int_equal(offsets[i], i);
  for (uint32_t i = 0; i < e.count; i++) assert_summary(t, i, i, WITH_ALL);
  sl_test_free(t);
}

static void only_listed_events_have_summaries(void **state) {
  (void)state;
  static const uint32_t lists[][6] = {{0}, {49}, {7, 8, 9, 30}, {0, 1, 2, 47, 48, 49}};
  static const uint32_t counts[] = {1, 1, 4, 6};
  random_events(50);
  for (uint32_t k = 0; k < 4; k++)
    for (uint32_t block = 32; block <= 256; block *= 2) {
      for (uint32_t i = 0; i < e.count; i++) e.event_type[i] = ODIN_PHYSICS;
      for (uint32_t i = 0; i < counts[k]; i++) e.event_type[lists[k][i]] = ODIN_LUMINOSITY;
      struct sl_test *t = summarize(WITH_ALL);
      if (TAKES_LISTS) sl_test_list(t, lists[k], counts[k]);
      sl_test_block(t, block);
      assert_int_equal(sl_test_run(t), 0);
      const uint32_t *offsets = sl_test_output(t, "summaries", "offsets");
      uint32_t item = 0;
      for (uint32_t event = 0; event < e.count; event++) {
        assert_int_equal(offsets[event], item);
        if (item < counts[k] && lists[k][item] == event) assert_summary(t, item++, event, WITH_ALL);
      }
      assert_int_equal(offsets[e.count], counts[k]);
      assert_int_equal(sl_test_used(t, "summaries"), counts[k]);
      assert_int_equal(sl_test_used(t, "summaries.word_offsets"), counts[k] * LUMI_MAX_WORDS);
      sl_test_free(t);
    }
}

static void an_empty_event_list_gives_no_summary(void **state) {
  (void)state;
  random_events(10);
  for (uint32_t i = 0; i < e.count; i++) e.event_type[i] = ODIN_PHYSICS;
  struct sl_test *t = summarize(WITH_ALL);
  if (TAKES_LISTS) sl_test_list(t, NULL, 0);
  assert_int_equal(sl_test_run(t), 0);
  const uint32_t *offsets = sl_test_output(t, "summaries", "offsets");
  for (uint32_t i = 0; i <= e.count; i++) assert_int_equal(offsets[i], 0);
  assert_int_equal(*(const uint32_t *)sl_test_output(t, "summaries", "word_offsets"), 0);
  sl_test_free(t);
}

static void a_slice_without_events_has_valid_offsets(void **state) {
  (void)state;
  random_events(0);
  struct sl_test *t = summarize(WITH_ALL);
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(*(const uint32_t *)sl_test_output(t, "summaries", "offsets"), 0);
  assert_int_equal(*(const uint32_t *)sl_test_output(t, "summaries", "word_offsets"), 0);
  sl_test_free(t);
}

int main(void) {
  region = usual;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(counters_equal_values_computed_by_hand),
      cmocka_unit_test(positions_outside_a_field_saturate),
      cmocka_unit_test(counts_too_large_for_a_field_saturate),
      cmocka_unit_test(tracks_with_zero_slope_or_invalid_values_are_counted),
      cmocka_unit_test(missing_detectors_set_all_bits),
      cmocka_unit_test(the_global_event_cut_is_an_event_list),
      cmocka_unit_test(orbits_with_full_summaries_can_be_selected),
      cmocka_unit_test(edges_have_the_recorded_bits),
      cmocka_unit_test(random_events_agree_with_an_independent_reader),
      cmocka_unit_test(bins_and_the_fiducial_region_are_properties),
      cmocka_unit_test(edges_not_in_ascending_order_are_refused),
      cmocka_unit_test(only_listed_events_have_summaries),
      cmocka_unit_test(an_empty_event_list_gives_no_summary),
      cmocka_unit_test(a_slice_without_events_has_valid_offsets),
  };
  return cmocka_run_group_tests(tests, lumi_schema_set_up, lumi_schema_tear_down);
}
