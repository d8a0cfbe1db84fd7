/* where_lines_test.c: lines without code against equal expressions in C, candidate by candidate, for each type of
 * candidates; the values include 0, infinities and NaN. */
#include "calo/event_model.h"
#include "muon/event_model.h"
#include "odin/event_model.h"
#include "pv/event_model.h"
#include "selections/event_model.h"
#include "selections/masses.h"
#include "selections_support.h"
#include "velo/event_model.h"

#include <math.h>

/* More candidates in an event than a GPU sifts at once. */
enum { EVENTS = 4, ITEMS = 2600, PARTICLES = 80, FIELDS_MAX = 40, BYTES_MAX = 8 };
static const uint32_t event_items[EVENTS + 1] = {0, 2350, 2350, 2351, ITEMS};
static const uint32_t event_particles[EVENTS + 1] = {0, 40, 42, 44, PARTICLES};
static const uint32_t event_vertices[EVENTS + 1] = {0, 3, 3, 4, 9};
static const uint32_t event_tracks[EVENTS + 1] = {0, 100, 120, 125, 400};

/* The values of all fields of a port. */
struct port {
  const struct sl_collection *collection;
  uint64_t values[FIELDS_MAX][ITEMS * BYTES_MAX / sizeof(uint64_t) + 1];
};
static struct port candidates, particles, header;

/* ------------------------------------------------------------------------------------------------- inputs */

static float some_number(uint32_t i) {
  static const float special[] = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 1.0f};
  if (i % 23 < sizeof special / sizeof special[0] && random_between(0, 1) < 0.3f) return special[i % 23];
  return random_between(-3, 10) * (i % 3 == 0 ? 1000.0f : 1.0f);
}

static void fill_value(struct port *port, uint32_t f, uint32_t i) {
  void *values = port->values[f];
  const float drawn = some_number(i);
  const uint32_t small = (uint32_t)random_between(0, 4);
  switch (port->collection->fields[f].type) {
    case SL_TYPE_f32:
      ((float *)values)[i] = drawn;
      break;
    case SL_TYPE_u8:
      ((uint8_t *)values)[i] = (uint8_t)small;
      break;
    case SL_TYPE_i8:
      ((int8_t *)values)[i] = (int8_t)((int)small - 2);
      break;
    case SL_TYPE_u16:
      ((uint16_t *)values)[i] = (uint16_t)(small * 1000);
      break;
    case SL_TYPE_u32:
      ((uint32_t *)values)[i] = small == 0 ? UINT32_MAX : small;
      break;
    default: /* u64 */
      ((uint64_t *)values)[i] = small == 0 ? UINT64_C(1) << 60 : small;
  }
}

static const void *values_of(const struct port *port, const char *field) {
  for (uint32_t f = 0; f < port->collection->field_count; f++)
    if (strcmp(port->collection->fields[f].name, field) == 0) return port->values[f];
  fail_msg("there is no %s.%s", port->collection->name, field);
  return NULL;
}

#define FIELD(port, name, type) (((const type *)values_of(&(port), name))[i])
#define F(name)                 FIELD(candidates, name, float)

/* Fields with several values per item get zeros: expressions cannot use them. */
static void give(struct sl_test *t, const char *name, struct port *port, const struct sl_collection *collection,
                 const uint32_t *offsets, uint32_t count) {
  port->collection = collection;
  for (uint32_t f = 0; f < collection->field_count; f++) {
    const struct sl_field *field = &collection->fields[f];
    const uint32_t entries = field->shape == SL_SHAPE_CODE_PER_SLICE ? 1 : count;
    static const uint64_t zeros[ITEMS * 4];
    for (uint32_t i = 0; i < entries; i++) fill_value(port, f, i);
    if (field->shape == SL_SHAPE_CODE_OFFSETS)
      sl_test_input(t, name, field->name, offsets, EVENTS + 1);
    else if (field->width > 1)
      sl_test_input(t, name, field->name, zeros, (uint64_t)entries * field->width);
    else
      sl_test_input(t, name, field->name, port->values[f], entries);
  }
}

static void give_odin(struct sl_test *t) {
  give(t, "odin", &header, &odin_events_collection, NULL, EVENTS);
  give(t, "header", &header, &odin_events_collection, NULL, EVENTS);
  sl_test_input(t, "vertices", "offsets", event_vertices, EVENTS + 1);
  sl_test_input(t, "tracks", "offsets", event_tracks, EVENTS + 1);
}

/* The children of each candidate are particles of its event, or clusters. */
static void give_children(struct sl_test *t, const char *port, const struct sl_collection *collection) {
  uint32_t *first = (uint32_t *)values_of(&candidates, "first"), *second = (uint32_t *)values_of(&candidates, "second");
  for (uint32_t e = 0; e < EVENTS; e++)
    for (uint32_t i = event_items[e]; i < event_items[e + 1]; i++) {
      first[i] = i % (event_particles[e + 1] - event_particles[e] - 1);
      second[i] = first[i] + 1;
    }
  sl_test_input(t, "candidates", "first", first, ITEMS);
  sl_test_input(t, "candidates", "second", second, ITEMS);
  give(t, port, &particles, collection, event_particles, PARTICLES);
}

static struct sl_test *line_new(const char *line, const struct sl_collection *collection) {
  struct sl_test *t = sl_test_new(SELECTIONS_PLUGIN, line);
  random_start(5);
  sl_test_events(t, EVENTS);
  if (collection) give(t, "candidates", &candidates, collection, event_items, ITEMS);
  if (collection == &secondary_vertices_collection) give_children(t, "particles", &particles_collection);
  if (collection == &cluster_pairs_collection) give_children(t, "clusters", &calo_neutral_clusters_collection);
  give_odin(t);
  return t;
}

/* ------------------------------------------------------------------------------------------------ comparing */

struct expression {
  const char *text;
  int (*holds)(uint32_t event, uint32_t i);
};

static uint32_t event_of(uint32_t item) {
  uint32_t e = 0;
  while (event_items[e + 1] <= item) e++;
  return e;
}

/* Fails if the expression accepts all candidates or none, because that would test nothing. */
static void expect(const char *line, const struct sl_collection *collection, const struct expression *expression) {
  struct sl_test *t = line_new(line, collection);
  uint32_t accepted = 0, passed[EVENTS] = {0};
  sl_test_set_text(t, "where", expression->text);
  if (sl_test_run(t) != SL_OK) fail_msg("%s", sl_test_messages(t));
  for (uint32_t i = 0; i < ITEMS; i++) {
    const uint32_t event = event_of(i), holds = expression->holds(event, i) != 0;
    if (OUTPUT(t, "decisions", "accepted", uint8_t)[i] != holds)
      fail_msg("%s: candidate %u: %u", expression->text, i, !holds);
    accepted += holds;
    passed[event] |= holds;
  }
  for (uint32_t e = 0; e < EVENTS; e++)
    assert_int_equal(OUTPUT(t, "decisions", "passed", uint8_t)[e], passed[e] ? LINE_PASSED | LINE_BEFORE_SCALE : 0);
  if (accepted == 0 || accepted == ITEMS) fail_msg("%s accepts %u", expression->text, accepted);
  sl_test_free(t);
}

#define EXPECT_ALL(line, collection, expressions)                             \
  for (size_t k = 0; k < sizeof(expressions) / sizeof((expressions)[0]); k++) \
  expect(line, collection, &(expressions)[k])

/* Defines an expression in C as a function `name` of `event` and candidate `i`. */
#define HOLDS(name, ...)                        \
  static int name(uint32_t event, uint32_t i) { \
    (void)event, (void)i;                       \
    return __VA_ARGS__;                         \
  }

/* ------------------------------------------------------------------------------------------------- vertices */

static uint32_t child(uint32_t event, uint32_t i, const char *which) {
  return event_particles[event] + FIELD(candidates, which, uint32_t);
}
static float of_child(uint32_t event, uint32_t i, const char *which, const char *field) {
  return ((const float *)values_of(&particles, field))[child(event, i, which)];
}
static float mass(uint32_t event, uint32_t i, float m1, float m2) {
  return selections_mass(of_child(event, i, "first", "p"), m1, of_child(event, i, "second", "p"), m2, F("opening"));
}
static int has(float value, float bits) { return (sl_to_u32(value) & sl_to_u32(bits)) != 0; }

HOLDS(one_cut, F("pt") > 2.0f)
HOLDS(precedence, F("pt") > 1.0f || (F("p") < 2.0f && F("chi2") + F("eta") * F("dira") > 3.0f))
HOLDS(parentheses, (F("pt") > 1.0f || F("p") < 2.0f) && (F("chi2") + F("eta")) * F("dira") > 3.0f)
HOLDS(to_the_left, F("x") - F("y") - F("z") > 1.0f && F("x") / F("y") / F("z") < 10.0f)
HOLDS(to_the_right, F("x") - (F("y") - F("z")) > 1.0f || F("x") / (F("y") / F("z")) < -10.0f)
HOLDS(nots, !(F("x") > 1.0f) && !!(F("y") > 0.0f))
HOLDS(not_binds_less, !(F("x") + 1.0f > 1.0f && F("y") > 0.0f))
HOLDS(signs, -F("x") * -2.0f > -F("y") - -3.0f)
HOLDS(sums_first, F("x") + 1.0f < F("y") - 1.0f)
HOLDS(functions, fabsf(F("chi2")) + sqrtf(F("eta")) > sl_logf(F("dira")))
HOLDS(least, sl_min_f32(F("x"), F("y")) > sl_max_f32(F("z"), -5.0f))
HOLDS(deep, F("chi2") / (F("eta") +
                         F("dira") / (F("opening") + F("fd_chi2") / (F("min_ip_chi2") + F("x") / (F("x") - -F("y"))))) >
                0.1f)
HOLDS(powers, -F("x") * F("x") + F("y") * F("y") * F("y") > (F("z") + 1.0f) * (F("z") + 1.0f) - 4.0f)
HOLDS(angle, sl_atan2f(F("y"), F("x")) > 1.0f)
/* The difference of two angles that are at most pi, and in this range. */
static float turned(float a, float b) {
  const float pi = 3.14159265f, difference = a - b;
  return difference > pi ? difference - 2.0f * pi : difference <= -pi ? difference + 2.0f * pi : difference;
}
HOLDS(turn, turned(sl_atan2f(F("y"), F("x")), sl_atan2f(F("z"), F("x"))) > 0.5f)
HOLDS(equal, F("x") == F("x") && F("vertex_z") != 1.0f && F("vertex_z") == F("vertex_z"))
HOLDS(unequal, F("x") < F("y") || F("x") > F("y"))
HOLDS(at_most, F("x") <= 1.0f && F("y") >= 0.0f)
HOLDS(by_zero, F("x") / 0.0f > 1.0f)
HOLDS(units, F("p") > 1200.0f || F("x") > 0.06f)
HOLDS(integers, FIELD(candidates, "charge", int8_t) == 0 && FIELD(candidates, "vertex", uint32_t) > 1)
HOLDS(bits, has(FIELD(candidates, "leptons", uint8_t), 1) && !has(F("eta"), 2))
HOLDS(children, of_child(event, i, "first", "pt") > of_child(event, i, "second", "pt"))
HOLDS(kaon, fabsf(mass(event, i, PION_MASS, KAON_MASS) - 1864.83f) < 1500.0f)
HOLDS(heavier, mass(event, i, PROTON_MASS, ELECTRON_MASS) < mass(event, i, MUON_MASS, 1500.0f))
HOLDS(counts, event_vertices[event + 1] - event_vertices[event] > 1 &&
                  (float)(event_tracks[event + 1] - event_tracks[event]) > F("eta"))
HOLDS(count_of_candidates, event_items[event + 1] - event_items[event] < 300)
HOLDS(short_circuits, (F("x") > 1.0f && (F("y") > 1.0f || F("z") > 1.0f) && F("p") > 0.0f) ||
                          (F("pt") > 5.0f && !(F("ip") > 1.0f || F("dz") < 0.0f)))
#define EVENT(name, type) (((const type *)values_of(&header, name))[event])
HOLDS(wide,
      FIELD(candidates, "vertex", uint32_t) == UINT32_MAX ||
          (EVENT("event_number", uint64_t) == UINT64_C(1) << 60 && EVENT("gps_time", uint64_t) < UINT64_C(1) << 60))
HOLDS(wide_pairs, FIELD(candidates, "vertex", uint32_t) != EVENT("event_number", uint64_t) && F("x") > 1.0f)
HOLDS(wide_bits, (FIELD(candidates, "vertex", uint32_t) & UINT32_C(0x80000001)) != 0 && F("x") > 1.0f)
HOLDS(of_event, ((const uint16_t *)values_of(&header, "bunch"))[event] > 1000)

static void expressions_over_vertices_agree_with_c(void **state) {
  (void)state;
  static const struct expression expressions[] = {
      {"pt > 2", one_cut},
      {"pt > 1 or p < 2 and chi2 + eta * dira > 3", precedence},
      {"(pt > 1 or p < 2) and (chi2 + eta) * dira > 3", parentheses},
      {"x - y - z > 1 and x / y / z < 10", to_the_left},
      {"x - (y - z) > 1 or x / (y / z) < -10", to_the_right},
      {"not x > 1 and not not y > 0", nots},
      {"not (x + 1 > 1 and y > 0)", not_binds_less},
      {"-x * -2 > -y - -3", signs},
      {"x + 1 < y - 1", sums_first},
      {"abs(chi2) + sqrt(eta) > log(dira)", functions},
      {"min(x, y) > max(z, -5)", least},
      {"-x^2 + y^3 / 1 mm > (z + 1)^2 - 4", powers},
      {"atan2(y, x) > 1", angle},
      {"dphi(atan2(y, x), atan2(z, x)) > 0.5", turn},
      {"chi2 / (eta + dira / (opening + fd_chi2 / (min_ip_chi2 + x / (x - -y)))) > 0.1", deep},
      {"x == x and vertex_z != 1 and vertex_z == vertex_z", equal},
      {"x != y", unequal},
      {"x <= 1 and y >= 0", at_most},
      {"x / 0 > 1", by_zero},
      {"p > 1.2 GeV or x > 60 um", units},
      {"charge == 0 and vertex > 1", integers},
      {"has(leptons, 1) and not has(eta, 2)", bits},
      {"first.pt > second.pt", children},
      {"abs(mass(pi, K) - 1864.83) < 1500", kaon},
      {"mass(p, e) < mass(mu, 1.5 GeV)", heavier},
      {"vertex == 4294967295 or event.event_number == 1152921504606846976 and event.gps_time < 1152921504606846976",
       wide},
      {"vertex != event.event_number and x > 1", wide_pairs},
      {"has(vertex, 2147483649) and x > 1", wide_bits},
      {"event.bunch > 1000", of_event},
      {"event.vertices > 1 and event.tracks > eta", counts},
      {"event.candidates < 300", count_of_candidates},
      {"x > 1 and (y > 1 or z > 1) and p > 0 or pt > 5 and not (ip > 1 or dz < 0)", short_circuits},
  };
  EXPECT_ALL("where_vertices", &secondary_vertices_collection, expressions);
}

/* -------------------------------------------------------------------------------------------------- others */

HOLDS(track, F("pt") > 1000.0f && F("ip_chi2") > 2.0f)
HOLDS(velo_track, F("z") > -300.0f && FIELD(candidates, "backward", uint8_t) == 1)
HOLDS(stub, sl_max_f32(F("chi2_x"), F("chi2_y")) < 3.0f)
HOLDS(cluster_pair, F("mass") > 2.0f && FIELD(candidates, "areas", uint8_t) == 3 &&
                        of_child(event, i, "first", "et") > of_child(event, i, "second", "et") &&
                        event_vertices[event + 1] - event_vertices[event] > 1)
HOLDS(cluster, F("et") > 2.0f && FIELD(candidates, "cell", uint16_t) > 500)

static void expressions_over_other_candidates_agree_with_c(void **state) {
  (void)state;
  expect("where_particles", &particles_collection, &(struct expression){"pt > 1 GeV and ip_chi2 > 2", track});
  expect("where_velo_tracks", &track_states_collection,
         &(struct expression){"z > -300 mm and backward == 1", velo_track});
  expect("where_stubs", &muon_stubs_collection, &(struct expression){"max(chi2_x, chi2_y) < 3", stub});
  expect("where_cluster_pairs", &cluster_pairs_collection,
         &(struct expression){"mass > 2 MeV and areas == 3 and first.et > second.et and event.vertices > 1",
                              cluster_pair});
  expect("where_clusters", &calo_clusters_collection, &(struct expression){"et > 2 and cell > 500", cluster});
}

static void expressions_over_events_are_evaluated(void **state) {
  (void)state;
  struct sl_test *t = line_new("where_events", NULL);
  sl_test_set_text(t, "where", "event.vertices >= 3 or event.tracks == 5 and event.crossing_type < 4");
  assert_int_equal(sl_test_run(t), SL_OK);
  const uint8_t expected[EVENTS] = {3, 0, 3, 3};
  assert_memory_equal(OUTPUT(t, "decisions", "passed", uint8_t), expected, EVENTS);
  sl_test_free(t);
}

static void an_empty_expression_accepts_all_and_scales_apply(void **state) {
  (void)state;
  struct sl_test *t = line_new("where_particles", &particles_collection);
  assert_int_equal(sl_test_run(t), SL_OK);
  for (uint32_t i = 0; i < ITEMS; i++) assert_int_equal(OUTPUT(t, "decisions", "accepted", uint8_t)[i], 1);
  sl_test_set(t, "post_scale", 0.0);
  assert_int_equal(sl_test_run(t), SL_OK);
  for (uint32_t e = 0; e < EVENTS; e++)
    assert_int_equal(OUTPUT(t, "decisions", "passed", uint8_t)[e], e == 1 ? 0 : LINE_BEFORE_SCALE);
  sl_test_free(t);
}

static void errors_are_reported_with_their_position(void **state) {
  (void)state;
  struct sl_test *t = line_new("where_particles", &particles_collection);
  sl_test_set_text(t, "where", "pt > 1 and mass(pi, K) > 2");
  assert_int_equal(sl_test_run(t), SL_EINVAL);
  assert_non_null(
      strstr(sl_test_messages(t), "error: where+11: `mass` is only available for pairs and composites of particles"));
  sl_test_free(t);
}

static void masses_of_clusters_are_not_available(void **state) {
  (void)state;
  struct sl_test *t = line_new("where_cluster_pairs", &cluster_pairs_collection);
  sl_test_set_text(t, "where", "first.et > 1 and mass(pi, K) > 2");
  assert_int_equal(sl_test_run(t), SL_EINVAL);
  assert_non_null(
      strstr(sl_test_messages(t), "error: where+17: `mass` is only available for pairs and composites of particles"));
  sl_test_free(t);
}

/* The second event, which has no candidates, has 10 responses. */
enum { OTHER_SCORES = 10 };
static struct sl_test *line_with_scores(float *logit, const uint32_t *offsets) {
  struct sl_test *t = line_new("where_vertices", &secondary_vertices_collection);
  for (uint32_t i = 0; i < ITEMS + OTHER_SCORES; i++) logit[i] = random_between(-5, 5);
  sl_test_input(t, "scores", "offsets", offsets, EVENTS + 1);
  sl_test_input(t, "scores", "logit", logit, ITEMS + OTHER_SCORES);
  sl_test_set_text(t, "where", "pt > 1 and score.logit > 2");
  return t;
}

static void responses_of_a_network_are_those_of_the_candidates(void **state) {
  (void)state;
  static float logit[ITEMS + OTHER_SCORES];
  uint32_t offsets[EVENTS + 1], accepted = 0;
  for (uint32_t e = 0; e <= EVENTS; e++) offsets[e] = event_items[e] + (e > 1 ? OTHER_SCORES : 0);
  struct sl_test *t = line_with_scores(logit, offsets);
  assert_int_equal(sl_test_run(t), SL_OK);
  for (uint32_t i = 0; i < ITEMS; i++) {
    const uint32_t e = event_of(i), score = offsets[e] + i - event_items[e];
    const uint32_t holds = F("pt") > 1.0f && logit[score] > 2.0f ? 1 : 0;
    assert_int_equal(OUTPUT(t, "decisions", "accepted", uint8_t)[i], holds);
    accepted += holds;
  }
  assert_true(accepted > 100 && accepted < ITEMS - 100);
  sl_test_free(t);
}

static void responses_of_other_candidates_are_refused(void **state) {
  (void)state;
  static float logit[ITEMS + OTHER_SCORES];
  const uint32_t offsets[EVENTS + 1] = {0, 2349, 2360, 2361, ITEMS + OTHER_SCORES};
  struct sl_test *t = line_with_scores(logit, offsets);
  assert_int_equal(sl_test_run(t), SL_OK);
  assert_int_equal(sl_test_event_error(t, 0) >> 32, 1);
  assert_int_equal(sl_test_event_error(t, 3), 0);
  sl_test_free(t);
}

static void a_count_without_its_input_is_an_error(void **state) {
  (void)state;
  struct sl_test *t = sl_test_new(SELECTIONS_PLUGIN, "where_events");
  sl_test_events(t, EVENTS);
  give(t, "odin", &header, &odin_events_collection, NULL, EVENTS);
  give(t, "header", &header, &odin_events_collection, NULL, EVENTS);
  sl_test_set_text(t, "where", "event.bunch > 2 and event.vertices > 1");
  assert_int_equal(sl_test_run(t), SL_EINVAL);
  assert_non_null(strstr(sl_test_messages(t), "where+20: `event.vertices` needs an input that is not connected"));
  sl_test_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(expressions_over_vertices_agree_with_c),
      cmocka_unit_test(expressions_over_other_candidates_agree_with_c),
      cmocka_unit_test(expressions_over_events_are_evaluated),
      cmocka_unit_test(an_empty_expression_accepts_all_and_scales_apply),
      cmocka_unit_test(errors_are_reported_with_their_position),
      cmocka_unit_test(masses_of_clusters_are_not_available),
      cmocka_unit_test(responses_of_a_network_are_those_of_the_candidates),
      cmocka_unit_test(responses_of_other_candidates_are_refused),
      cmocka_unit_test(a_count_without_its_input_is_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
