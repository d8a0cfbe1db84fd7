/* vertex_lines_test.c: the lines of graphs/menus/2023.yaml over pairs of particles and over pairs of Ks. Each
 * requirement is tested on both sides of its limit, and does not decide if it is loosened. */
#include "default_lines.h"
#include "selections_support.h"
#include "vertex_lines_cases.h"

#include <math.h>

enum { CANDIDATES_MAX = 64, EVENTS = 4 };
/* Relative distance from the limit, for quantities that are computed from several columns. */
static const double near_limit = 1e-5;

/* The candidates of a run. */
struct sample {
  float columns[FIELDS][CANDIDATES_MAX], particles[PARTICLE_FIELDS][2 * CANDIDATES_MAX];
  int8_t charge[CANDIDATES_MAX];
  uint8_t leptons[CANDIDATES_MAX];
  uint32_t vertex[CANDIDATES_MAX], first[CANDIDATES_MAX], second[CANDIDATES_MAX], count;
};

/* ------------------------------------------------------------------------------------------------ candidates */

static double mass_of(const struct line *line, double p1, double p2, double opening) {
  const double m1 = (double)line->masses[0], m2 = (double)line->masses[1];
  const double energies = sqrt(p1 * p1 + m1 * m1) * sqrt(p2 * p2 + m2 * m2) - p1 * p2;
  return sqrt(m1 * m1 + m2 * m2 + 2 * energies + 2 * p1 * p2 * opening);
}

/* Factor on the mass of electrons from bremsstrahlung. */
static double gain_of(const struct line *line, const float *value) {
  if (line->masses[0] != ELECTRON_MASS) return 1;
  return sqrt((double)value[PT_CORRECTED1] / (double)value[PT1] * (double)value[PT_CORRECTED2] / (double)value[PT2]);
}

/* Sets the opening angle, or the momenta if the angle is tested, so that the mass is `mass`. */
static void give_mass(const struct line *line, float *value, double mass, int by_momenta) {
  double low = 0, high = by_momenta ? 1e7 : 2;
  mass /= gain_of(line, value);
  for (uint32_t i = 0; i < 100; i++) {
    const double middle = (low + high) / 2;
    const double p1 = by_momenta ? middle : (double)value[P1], p2 = by_momenta ? middle : (double)value[P2];
    const double found = mass_of(line, p1, p2, by_momenta ? (double)value[OPENING] : middle);
    if (found < mass)
      low = middle;
    else
      high = middle;
  }
  if (by_momenta)
    value[P1] = value[P2] = (float)high;
  else
    value[OPENING] = (float)high;
}

/* Sets columns so that `field` has the value `wanted`. */
static void give(const struct line *line, float *value, int field, double wanted) {
  if (field < FIELDS) {
    value[field] = (float)wanted;
    return;
  }
  switch (field) {
    case CTAU:
      value[DZ] = (float)(wanted * (double)value[P] / (double)D0_MASS * 0.8);
      value[RHO] = (float)(wanted * (double)value[P] / (double)D0_MASS * 0.6);
      return;
    case RADIUS:
      value[X] = (float)(wanted * 0.6), value[Y] = (float)(wanted * -0.8);
      return;
    case IP_OVER_DZ:
      value[IP] = (float)(wanted * (double)value[DZ]);
      return;
    case SIN2:
      value[OPENING] = (float)(wanted / (1 + sqrt(1 - wanted)));
      return;
    case IP_PRODUCT:
      value[IP1] = 2, value[IP2] = (float)(wanted * (double)value[IP] / 2);
      return;
    case PT_PRODUCT:
      value[PT1] = 2000, value[PT2] = (float)(wanted / 2000);
      return;
    case SUM_PT_CORRECTED:
      value[PT_CORRECTED1] = (float)(wanted * 0.4), value[PT_CORRECTED2] = (float)(wanted * 0.6);
      return;
    default:
      fail_msg("%s: nothing to give %d to", line->name, field);
  }
}

static void change(const struct line *line, float *value, const struct change *changes) {
  for (const struct change *c = changes; c->field != NOTHING; c++) give(line, value, c->field, (double)c->value);
}

static void add(struct sample *s, const float *value) {
  const uint32_t i = s->count++;
  assert_true(i < CANDIDATES_MAX);
  for (uint32_t f = 0; f < FIELDS; f++) s->columns[f][i] = value[f];
  for (uint32_t f = 0; f < PARTICLE_FIELDS; f++) {
    s->particles[f][2 * i] = value[P1 + 2 * f];
    s->particles[f][2 * i + 1] = value[P1 + 2 * f + 1];
  }
  s->charge[i] = (int8_t)value[CHARGE];
  s->leptons[i] = (uint8_t)value[LEPTONS];
}

/* Adds a candidate that the line accepts, with `changes`. */
static void add_changed(struct sample *s, const struct line *line, const struct change *changes) {
  float value[FIELDS];
  memcpy(value, good_candidate, sizeof value);
  change(line, value, line->changes);
  change(line, value, changes);
  give_mass(line, value, (double)line->mass, 0);
  add(s, value);
}

/* Adds a candidate that passes all other requirements, with the value `wanted` of the field of `requirement`. */
static void add_for(struct sample *s, const struct line *line, const struct requirement *requirement, double wanted) {
  float value[FIELDS];
  memcpy(value, good_candidate, sizeof value);
  change(line, value, line->changes);
  change(line, value, requirement->with);
  if (requirement->field != MASS) give(line, value, (int)requirement->field, wanted);
  give_mass(line, value, requirement->field == MASS ? wanted : (double)line->mass,
            requirement->field == OPENING || requirement->field == SIN2);
  add(s, value);
}

/* A value next to the limit, on the passing or the failing side. */
static double value_next_to(const struct requirement *requirement, int passes) {
  const double limit = (double)requirement->limit, step = fabs(limit) * near_limit;
  const int up = (requirement->kind == BELOW) != passes;
  if (requirement->field >= FIELDS) return up ? limit + step : limit - step;
  if (requirement->kind == ABOVE) return passes ? (double)nextafterf(requirement->limit, INFINITY) : limit;
  if (requirement->kind == BELOW) return passes ? (double)nextafterf(requirement->limit, -INFINITY) : limit;
  return passes ? limit : (double)nextafterf(requirement->limit, -INFINITY);
}

/* ------------------------------------------------------------------------------------------------------ runs */

static uint32_t is_over_pairs_of_ks(const struct line *line) { return !strcmp(line->name, "Hlt1TwoKs"); }

static const uint64_t maker = 4711;                    /* made_by of the candidates */
static const uint8_t shared_muon_hits[CANDIDATES_MAX]; /* none */

static void give_numbers(struct sl_test *t, const char *port, const struct sample *s, const uint32_t *offsets) {
  sl_test_input(t, port, "offsets", offsets, EVENTS + 1);
  for (uint32_t f = 0; f < FIELDS; f++)
    if (f < LOGIT) sl_test_input(t, port, field_names[f], s->columns[f], s->count);
  sl_test_input(t, port, "made_by", &maker, 1);
  sl_test_input(t, port, "charge", s->charge, s->count);
  sl_test_input(t, port, "leptons", s->leptons, s->count);
  sl_test_input(t, port, "shared_muon_hits", shared_muon_hits, s->count);
  sl_test_input(t, port, "vertex", s->vertex, s->count);
  sl_test_input(t, port, "first", s->first, s->count);
  sl_test_input(t, port, "second", s->second, s->count);
}

/* All candidates are in the third of four events, except the last candidate, which is alone in the fourth. */
static struct sl_test *line_with(const struct line *line, struct sample *s, uint32_t index_of_other) {
  static const uint32_t run[EVENTS] = {1, 1, 1, 1};
  static const uint64_t number[EVENTS] = {1, 2, 3, 4};
  const uint32_t offsets[EVENTS + 1] = {0, 0, 0, s->count - 1, s->count};
  const uint32_t particles[EVENTS + 1] = {0, 0, 0, 2 * s->count - 2, 2 * s->count};
  struct sl_test *t = default_line_new(line->name);
  sl_test_events(t, EVENTS);
  for (uint32_t event = 0; event < EVENTS; event++)
    for (uint32_t i = offsets[event]; i < offsets[event + 1]; i++)
      s->first[i] = 2 * (i - offsets[event]), s->second[i] = s->first[i] + 1;
  sl_test_input(t, "odin", "run", run, EVENTS);
  sl_test_input(t, "odin", "event_number", number, EVENTS);
  sl_test_input(t, "odin", "gps_time", number, EVENTS);
  sl_test_set(t, "pre_scale", 1);
  sl_test_set(t, "post_scale", 1);
  if (line->setting) sl_test_set(t, line->setting, 0);
  if (line->uses & PARTICLES) {
    sl_test_input(t, "particles", "offsets", particles, EVENTS + 1);
    for (uint32_t f = 0; f < PARTICLE_FIELDS; f++)
      sl_test_input(t, "particles", particle_names[f], s->particles[f], 2 * s->count);
  }
  if (line->uses & SCORES) {
    sl_test_input(t, "scores", "offsets", offsets, EVENTS + 1);
    sl_test_input(t, "scores", "logit", s->columns[LOGIT], s->count);
  }
  if (!is_over_pairs_of_ks(line)) {
    give_numbers(t, "candidates", s, offsets);
    return t;
  }
  /* Each vertex is paired with the first vertex of the event, which passes, before or after it. */
  uint32_t which[2][CANDIDATES_MAX];
  for (uint32_t event = 0; event < EVENTS; event++)
    for (uint32_t i = offsets[event]; i < offsets[event + 1]; i++)
      which[index_of_other][i] = 0, which[!index_of_other][i] = i - offsets[event];
  give_numbers(t, "secondary_vertices", s, offsets);
  sl_test_input(t, "candidates", "offsets", offsets, EVENTS + 1);
  sl_test_input(t, "candidates", "first", which[0], s->count);
  sl_test_input(t, "candidates", "second", which[1], s->count);
  static const char *const unused[] = {"doca", "opening", "p", "pt"};
  for (uint32_t f = 0; f < 4; f++) sl_test_input(t, "candidates", unused[f], s->columns[0], s->count);
  return t;
}

/* Compares the decisions of the line with `expected`. */
static void assert_accepted(struct sl_test *t, const struct line *line, const struct sample *s, const uint8_t *expected,
                            const char *const *what) {
  const int status = sl_test_run(t);
  if (status) fail_msg("%s ends with %d: %s", line->name, status, sl_test_messages(t));
  const uint8_t *accepted = OUTPUT(t, "decisions", "accepted", uint8_t);
  const uint8_t *passed = OUTPUT(t, "decisions", "passed", uint8_t);
  uint32_t any = 0;
  assert_int_equal(*OUTPUT(t, "decisions", "made_by", uint64_t), is_over_pairs_of_ks(line) ? 0 : maker);
  for (uint32_t i = 0; i < s->count; i++) {
    if (accepted[i] != expected[i])
      fail_msg("%s: decision %u for candidate %u, %s", line->name, accepted[i], i, what[i]);
    any |= i + 1 < s->count && expected[i];
  }
  assert_int_equal(passed[0] | passed[1], 0);
  assert_int_equal(passed[2], any ? LINE_PASSED | LINE_BEFORE_SCALE : 0);
  assert_int_equal(passed[3], expected[s->count - 1] ? LINE_PASSED | LINE_BEFORE_SCALE : 0);
}

/* ------------------------------------------------------------------------------------------------------ cases */

/* Whether value `k` of charge or lepton flags passes a requirement of `kind`. */
static uint32_t is_passing(int kind, uint32_t k, double *value) {
  static const double charges[] = {0, 2, -2}, leptons[] = {0, PARTICLE_IS_MUON, PARTICLE_IS_ELECTRON, 3};
  const int of_charge = kind == OPPOSITE || kind == SAME;
  *value = of_charge ? charges[k % 3] : leptons[k];
  switch (kind) {
    case OPPOSITE:
      return *value == 0;
    case SAME:
      return *value != 0;
    case MUONS:
      return k & PARTICLE_IS_MUON;
    case ELECTRONS:
      return k & PARTICLE_IS_ELECTRON;
    default:
      return 1;
  }
}

static void loosen(struct sl_test *t, const struct requirement *requirement) {
  const double limit = (double)requirement->limit, step = limit == 0 ? 1 : fabs(limit) / 2;
  if (requirement->kind == OPPOSITE || requirement->kind == SAME)
    sl_test_set_text(t, "sign", "any");
  else if (requirement->kind == MUONS || requirement->kind == ELECTRONS)
    sl_test_set(t, requirement->property, 0);
  else
    sl_test_set(t, requirement->property, requirement->kind == BELOW ? limit + step : limit - step);
}

static int is_of_one_property(const struct requirement *requirement, const struct requirement *other) {
  if (!requirement->property || !other->property) return 0;
  /* A loosened veto is empty. */
  return !strcmp(requirement->property, other->property) ||
         (!strncmp(requirement->property, "veto", 4) && !strncmp(other->property, "veto", 4));
}

struct cases {
  struct sample sample;
  uint8_t expected[CANDIDATES_MAX];
  const char *what[CANDIDATES_MAX];
  const struct requirement *requirements[CANDIDATES_MAX]; /* the requirement that decides, or NULL */
};

static uint32_t next_case(struct cases *c, const struct requirement *requirement, const char *what, int expected) {
  const uint32_t i = c->sample.count;
  assert_true(i < CANDIDATES_MAX);
  c->requirements[i] = requirement, c->what[i] = what, c->expected[i] = (uint8_t)(expected != 0);
  return i;
}

/* A passing candidate first and last; between them one without a primary vertex, and two next to the limit
 * of each requirement. */
static void make_cases(struct cases *c, const struct line *line) {
  memset(c, 0, sizeof *c);
  next_case(c, NULL, "nothing", 1);
  add_changed(&c->sample, line, no_changes);
  next_case(c, NULL, "no primary vertex", line->without_vertex);
  add_changed(&c->sample, line, without_vertex);
  for (const struct requirement *requirement = line->requirements; requirement->kind != NO_REQUIREMENT; requirement++)
    for (uint32_t k = 0; k < (requirement->kind > BELOW ? 4u : 2u); k++) {
      double value = 0;
      const uint32_t passes = requirement->kind > BELOW ? is_passing((int)requirement->kind, k, &value) : k;
      if (requirement->kind <= BELOW) value = value_next_to(requirement, k != 0);
      next_case(c, requirement, field_names[requirement->field], passes != 0);
      add_for(&c->sample, line, requirement, value);
    }
  next_case(c, NULL, "nothing", 1);
  add_changed(&c->sample, line, no_changes);
}

static void check_line(const struct line *line) {
  static struct cases c;
  make_cases(&c, line);
  for (uint32_t index = 0; index < 1 + is_over_pairs_of_ks(line); index++) {
    struct sl_test *t = line_with(line, &c.sample, index);
    assert_accepted(t, line, &c.sample, c.expected, c.what);
    sl_test_free(t);
  }
  if (getenv("SLUICE_TEST_TARGET")) return; /* the names of properties are the same on every target */
  for (const struct requirement *requirement = line->requirements; requirement->kind != NO_REQUIREMENT; requirement++) {
    uint8_t loosened[CANDIDATES_MAX];
    if (!requirement->property) continue;
    struct sl_test *t = line_with(line, &c.sample, 0);
    loosen(t, requirement);
    for (uint32_t i = 0; i < c.sample.count; i++)
      loosened[i] = c.expected[i] || (c.requirements[i] && is_of_one_property(requirement, c.requirements[i]));
    assert_accepted(t, line, &c.sample, loosened, c.what);
    sl_test_free(t);
  }
}

static void each_requirement_decides(void **state) {
  (void)state;
  for (uint32_t i = 0; i < LINES; i++) check_line(&lines[i]);
}

static int is_tested(const char *name, size_t length) {
  for (uint32_t i = 0; i < LINES; i++)
    if (strlen(lines[i].name) == length && !strncmp(lines[i].name, name, length)) return 1;
  return 0;
}

static void all_lines_over_pairs_are_tested(void **state) {
  static const char *const candidates[] = {"candidates: dihadron", "candidates: dilepton", "candidates: v0"};
  FILE *f = fopen(LINES_GRAPH, "r");
  char row[1024];
  uint32_t found = 0;
  (void)state;
  assert_non_null(f);
  while (fgets(row, sizeof row, f))
    for (uint32_t k = 0; k < 3; k++) {
      if (row[0] == '#' || !strstr(row, candidates[k])) continue;
      if (!is_tested(row + 2, strcspn(row + 2, ":"))) fail_msg("no test of %s", row);
      found++;
    }
  (void)fclose(f);
  assert_int_equal(found, 42);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_requirement_decides),
      cmocka_unit_test(all_lines_over_pairs_are_tested),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
