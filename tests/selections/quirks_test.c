/* quirks_test.c: selections.quirks against plain loops over all hits, with angles in degrees. Half of the events have a
 * planted chain of pairs, which may have gaps, be too short, or only come nearer to the beam. */
#include "selections/event_model.h"
#include "selections_support.h"
#include "velo/event_model.h"

#include <math.h>

enum { EVENTS = 60, MODULE_PAIRS = 26, HITS_MAX = 40000 };

struct hit {
  int16_t phi;
  float x, y;
};
static struct sample {
  struct hit hits[HITS_MAX];
  uint32_t offsets[EVENTS + 1], pair_first[EVENTS * (MODULE_PAIRS + 1)], count;
} s;

/* As velo_hits.phi: in the diamond metric. */
static int16_t phi_of(double x, double y) {
  const double upper = 16384 * (x >= 0 ? fabs(y) / (fabs(x) + fabs(y)) : 2 - fabs(y) / (fabs(x) + fabs(y)));
  const double phi = y < 0 ? -upper : upper;
  return (int16_t)fmin(32767, fmax(-32768, floor(phi)));
}

static void add_hit(double r, double azimuth) {
  struct hit *h = &s.hits[s.count++];
  h->x = (float)(r * cos(azimuth));
  h->y = (float)(r * sin(azimuth));
  h->phi = phi_of((double)h->x, (double)h->y);
}

static int by_phi(const void *a, const void *b) { return ((const struct hit *)a)->phi - ((const struct hit *)b)->phi; }

/* A chain from module pair 3 on; see the file comment. */
static void add_pair(uint32_t event, uint32_t module_pair) {
  const double degree = acos(-1.0) / 180, azimuth = -0.01 - fmod(1.7 * event, 3.1);
  const uint32_t k = module_pair - 3, length = 5 + event % 5;
  if (event % 2 == 0 || module_pair < 3 || k >= length || (event % 3 == 0 && k == 2)) return;
  const double r = event % 7 == 1 ? 20 - 0.5 * k : 15 + 5 * sin(0.9 * k),
               off = random_between(-0.025f, 0.025f) * degree;
  add_hit(r, azimuth + off);
  add_hit(r + random_between(-4, 4), azimuth + 180 * degree + off + random_between(-0.03f, 0.03f) * degree);
}

static void make_sample(void) {
  memset(&s, 0, sizeof s);
  random_start(12);
  for (uint32_t e = 0; e < EVENTS; e++) {
    s.offsets[e] = s.count;
    for (uint32_t m = 0; m < MODULE_PAIRS; m++) {
      const uint32_t first = s.count, noise = e % 11 == 10 && m % 4 == 0 ? 220 : (uint32_t)random_between(0, 30);
      s.pair_first[(MODULE_PAIRS + 1) * e + m] = first - s.offsets[e];
      add_pair(e, m);
      for (uint32_t i = 0; i < noise; i++) add_hit(random_between(5, 40), (double)random_between(-3.14f, 3.14f));
      qsort(s.hits + first, s.count - first, sizeof *s.hits, by_phi);
    }
    s.pair_first[(MODULE_PAIRS + 1) * e + MODULE_PAIRS] = s.count - s.offsets[e];
  }
  s.offsets[EVENTS] = s.count;
  assert_true(s.count < HITS_MAX);
}

/* ------------------------------------------------------------------------------------------------- plain loops */

struct pair {
  double first, second, r; /* azimuths in degrees */
};
struct pairs {
  struct pair list[2000];
  uint32_t count;
};

static double azimuth_of(const struct hit *h) { return atan2((double)h->y, (double)h->x) * 180 / acos(-1.0); }
static double radius_of(const struct hit *h) { return hypot((double)h->x, (double)h->y); }

static double apart(double a, double b) {
  const double d = fabs(a - b);
  return d > 180 ? 360 - d : d;
}

static void find_pairs(uint32_t event, uint32_t module_pair, struct pairs *found) {
  const uint32_t *first = &s.pair_first[(MODULE_PAIRS + 1) * event + module_pair];
  const struct hit *begin = s.hits + s.offsets[event] + first[0], *end = s.hits + s.offsets[event] + first[1];
  found->count = 0;
  if (end - begin >= 200) return;
  for (const struct hit *a = begin; a < end; a++) {
    uint32_t tried = 0;
    if (azimuth_of(a) > 0) continue;
    for (const struct hit *b = begin; b < end && tried < 6; b++) {
      if (azimuth_of(b) < azimuth_of(a) + 180 - 0.07) continue;
      tried++;
      if (fabs(180 - (azimuth_of(b) - azimuth_of(a))) > 0.07 || fabs(radius_of(a) - radius_of(b)) >= 5) continue;
      found->list[found->count++] = (struct pair){azimuth_of(a), azimuth_of(b), (radius_of(a) + radius_of(b)) / 2};
    }
  }
}

static uint32_t chain_length(const struct pairs *modules, uint32_t module_pair, const struct pair *start) {
  uint32_t count = 1, missing = 0, falls = 0, grows = 0;
  double r = start->r;
  for (uint32_t m = module_pair + 1; m < MODULE_PAIRS && missing < 2; m++) {
    const struct pair *next = NULL;
    for (uint32_t k = 0; k < modules[m].count && !next; k++) {
      const struct pair *p = &modules[m].list[k];
      if (fmin(apart(p->first, start->first), apart(p->first, start->second)) <= 0.06) next = p;
    }
    if (!next) {
      missing++;
      continue;
    }
    count++;
    falls |= next->r <= r;
    grows |= next->r >= r;
    r = next->r;
  }
  return falls && grows ? count : 0;
}

static uint32_t longest_chain(uint32_t event, uint32_t least) {
  static struct pairs modules[MODULE_PAIRS];
  uint32_t longest = 0;
  for (uint32_t m = 0; m < MODULE_PAIRS; m++) find_pairs(event, m, &modules[m]);
  for (uint32_t m = 0; m < MODULE_PAIRS - least; m++)
    for (uint32_t k = 0; k < modules[m].count; k++) {
      const uint32_t length = chain_length(modules, m, &modules[m].list[k]);
      if (length > longest) longest = length;
    }
  return longest;
}

/* ------------------------------------------------------------------------------------------------------- tests */

static struct sl_test *quirks_new(void) {
  static const uint32_t numbers[EVENTS];
  static const uint64_t long_numbers[EVENTS];
  static int16_t phi[HITS_MAX];
  static float x[HITS_MAX], y[HITS_MAX];
  for (uint32_t i = 0; i < s.count; i++) {
    phi[i] = s.hits[i].phi;
    x[i] = s.hits[i].x;
    y[i] = s.hits[i].y;
  }
  struct sl_test *t = sl_test_new(SELECTIONS_PLUGIN, "quirks");
  sl_test_events(t, EVENTS);
  sl_test_input(t, "odin", "run", numbers, EVENTS);
  sl_test_input(t, "odin", "event_number", long_numbers, EVENTS);
  sl_test_input(t, "odin", "gps_time", long_numbers, EVENTS);
  sl_test_input(t, "hits", "offsets", s.offsets, EVENTS + 1);
  sl_test_input(t, "hits", "pair_first", s.pair_first, EVENTS * (MODULE_PAIRS + 1));
  sl_test_input(t, "hits", "phi", phi, s.count);
  sl_test_input(t, "hits", "x", x, s.count);
  sl_test_input(t, "hits", "y", y, s.count);
  return t;
}

static void chains_agree_with_plain_loops(void **state) {
  (void)state;
  uint32_t found[MODULE_PAIRS + 1] = {0};
  make_sample();
  for (uint32_t least = 3; least <= 8; least++) {
    struct sl_test *t = quirks_new();
    sl_test_set(t, "min_pairs", least);
    assert_int_equal(sl_test_run(t), SL_OK);
    for (uint32_t e = 0; e < EVENTS; e++) {
      const uint32_t longest = longest_chain(e, least), is_long = longest >= least;
      if ((OUTPUT(t, "decisions", "passed", uint8_t)[e] != 0) != is_long) fail_msg("event %u: %u pairs", e, longest);
      if (least == 6) found[longest]++;
    }
    sl_test_free(t);
  }
  for (uint32_t length = 4; length <= 8; length++) assert_true(found[length] > 0);
  assert_true(found[0] > 5);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(chains_agree_with_plain_loops)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
