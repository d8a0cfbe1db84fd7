/* annealing_part_test.c: the annealing of one part, step by step on the CPU: consequences of the equations of
 * plugins/pv/README.md that need no solution, and seeds against the reference in double precision.
 */

#include "annealing_reference.h"
#include "annealing_schedule.h"

#include <math.h>
#include <string.h>

enum { PADDING = 32 };
static float z[ANNEALED_TRACKS + PADDING], weight[ANNEALED_TRACKS + PADDING], prior[ANNEALED_TRACKS + PADDING];
static float highest[ANNEALED_TRACKS + PADDING], scale[ANNEALED_TRACKS + PADDING];
static uint32_t near[ANNEALED_TRACKS + PADDING];
static float stored[ANNEALING_STORED];
static float seed_z[ANNEALED_TRACKS], seed_weight[ANNEALED_TRACKS];
static struct annealing_prototypes prototypes;
static struct annealing_args args;
static struct annealed tracks;

/* Properties have their defaults. */
static void begin(void) {
  memset(&args, 0, sizeof args);
  for (size_t i = 0; i < sizeof annealing_members / sizeof annealing_members[0]; i++) {
    const struct sl_member *member = &annealing_members[i];
    if (member->kind != SL_MEMBER_PROPERTY) continue;
    if (member->type == SL_TYPE_f32)
      *(float *)((char *)&args + member->args_offset) = (float)member->default_value;
    else
      *(uint32_t *)((char *)&args + member->args_offset) = (uint32_t)member->default_value;
  }
  tracks.count = 0;
}

/* By ascending z. */
static void add_track(double place, double error, double likely) {
  uint32_t i = tracks.count++;
  for (; i > 0 && tracks.z[i - 1] > place; i--) {
    tracks.z[i] = tracks.z[i - 1];
    tracks.weight[i] = tracks.weight[i - 1];
    tracks.prior[i] = tracks.prior[i - 1];
  }
  tracks.z[i] = (double)(float)place;
  tracks.weight[i] = (double)(float)(1 / (error * error));
  tracks.prior[i] = (double)(float)likely;
}

/* Adds `count` tracks evenly around `place`, with variance spread^2. */
static void add_clump(double place, double spread, uint32_t count, double error) {
  const double step = spread * sqrt(12.0 / ((double)count * count - 1));
  for (uint32_t i = 0; i < count; i++) add_track(place + step * (i - 0.5 * (count - 1)), error, 1);
}

static struct annealing_part part_of_tracks(void) {
  struct annealing_part t;
  memset(&t, 0, sizeof t);
  for (uint32_t i = 0; i < ANNEALED_TRACKS + PADDING; i++)
    z[i] = weight[i] = prior[i] = NAN; /* entries beyond the tracks */
  for (uint32_t i = 0; i < tracks.count; i++) {
    z[i] = (float)tracks.z[i];
    weight[i] = (float)tracks.weight[i];
    prior[i] = (float)tracks.prior[i];
  }
  memset(&prototypes, 0xEE, sizeof prototypes);
  memset(highest, 0xEE, sizeof highest);
  memset(scale, 0xEE, sizeof scale);
  memset(near, 0xEE, sizeof near);
  memset(stored, 0xEE, sizeof stored);
  t.a = &args;
  t.p = &prototypes;
  t.z = z;
  t.weight = weight;
  t.prior = prior;
  t.highest = highest;
  t.scale = scale;
  t.near = near;
  t.stored = stored;
  t.most_stored = ANNEALING_STORED;
  t.team = sl_team_of_warp();
  t.tracks = tracks.count;
  return t;
}

/* Prepares a part with one prototype at the mean, and its critical temperature. */
static double first_critical(struct annealing_part *t) {
  *t = part_of_tracks();
  annealing_open(t);
  annealing_begin(t);
  annealing_update(t, 0);
  annealing_update(t, 1);
  return (double)t->p->critical[0];
}

static void rest(struct annealing_part *t, float shift) {
  for (uint32_t i = 0; i < 1000 && annealing_update(t, 1) >= shift; i++) continue;
}

static uint32_t solve(void) {
  struct annealing_part t = part_of_tracks();
  return annealing_solve(&t, seed_z, seed_weight);
}

/* Critical temperature with one prototype and equal errors: 2 variance / error^2. */
static void the_first_critical_temperature_follows_from_the_variance(void **state) {
  (void)state;
  begin();
  add_clump(-100, 0.3, 20, 0.25);
  add_clump(-98, 0.3, 20, 0.25);
  struct annealing_part t;
  const double critical = first_critical(&t);
  assert_true(fabs(critical - 2 * (0.3 * 0.3 + 1) / (0.25 * 0.25)) < 1e-4 * critical);
  assert_true(fabs((double)(t.origin + t.p->z[0]) + 99) < 1e-5);
}

static void a_prototype_splits_below_its_critical_temperature(void **state) {
  (void)state;
  begin();
  add_clump(20, 0.1, 16, 0.5);
  add_clump(22, 0.1, 16, 0.5);
  const double critical = 2 * (0.01 + 1) / 0.25;
  for (uint32_t below = 0; below < 2; below++) {
    struct annealing_part t;
    first_critical(&t);
    t.beta = (float)((below ? 1.001 : 0.999) / critical);
    assert_int_equal(annealing_split(&t, 1.0f), below);
    assert_int_equal(t.prototypes, 1 + below);
    rest(&t, 1e-5f);
    for (uint32_t k = 0; k < 2; k++) /* masses of equal halves, on either side of the middle */
      if (below) assert_true(fabs((double)t.p->mass[k] - 0.5) < 1e-3);
    if (below) assert_true(fabs((double)(t.p->z[0] + t.p->z[1] + 2 * t.origin) - 42) < 1e-3);
  }
}

static void one_clump_gives_one_seed_and_two_clumps_give_two(void **state) {
  (void)state;
  begin();
  add_clump(-30, 0.4, 24, 0.4); /* as wide as the errors: critical temperature 2 */
  assert_int_equal(solve(), 1);
  assert_true(fabs((double)seed_z[0] + 30) < 1e-4);
  assert_true((double)seed_weight[0] > 20 && (double)seed_weight[0] <= 24);
  add_clump(-27, 0.4, 12, 0.4);
  assert_int_equal(solve(), 2);
  assert_true(fabs((double)seed_z[0] + 30) < 0.1 && fabs((double)seed_z[1] + 27) < 0.1);
  assert_true((double)seed_weight[0] > 1.8 * (double)seed_weight[1]);
}

static void exceeding_the_number_of_prototypes_is_reported(void **state) {
  (void)state;
  for (uint32_t clumps = 10; clumps <= 40; clumps += 30) {
    begin();
    for (uint32_t k = 0; k < clumps; k++) add_clump(4.0 * k, 0.1, 4, 0.2);
    struct annealing_part t = part_of_tracks();
    const uint32_t seeds = annealing_solve(&t, seed_z, seed_weight);
    if (clumps < ANNEALING_PROTOTYPES)
      assert_int_equal(seeds, clumps);
    else
      assert_true(seeds <= ANNEALING_PROTOTYPES);
    assert_int_equal(t.is_full, clumps > ANNEALING_PROTOTYPES);
  }
}

static void clumps_closer_than_the_resolution_are_merged(void **state) {
  (void)state;
  begin();
  add_clump(-0.25, 0.2, 20, 0.4); /* 2 (0.2^2 + 0.25^2) / 0.4^2 = 1.3, below the end of splitting */
  add_clump(0.25, 0.2, 20, 0.4);
  assert_int_equal(solve(), 1);
  assert_true(fabs((double)seed_z[0]) < 1e-3);
}

static void tracks_of_small_weight_make_no_seed(void **state) {
  (void)state;
  begin();
  for (uint32_t i = 0; i < 40; i++) add_track(0.01 * i, 0.2, 0.05); /* total weight 2 */
  assert_int_equal(solve(), 0);
  for (uint32_t i = 0; i < 40; i++) tracks.prior[i] = 0.08;
  assert_int_equal(solve(), 1);
  assert_true((double)seed_weight[0] <= 3.2);
  begin(); /* one track of any weight makes no seed */
  args.min_seed_weight = 0;
  add_track(5, 0.2, 1);
  assert_int_equal(solve(), 0);
  add_track(5, 0.2, 1);
  assert_int_equal(solve(), 1);
}

/* -sum of p ln Z over tracks, in double precision; times the temperature. */
static double free_energy(const struct annealing_part *t) {
  double sum = 0;
  for (uint32_t i = 0; i < t->tracks; i++) {
    double z_i = (double)t->noise * exp(-9 * (double)t->beta);
    for (uint32_t k = 0; k < t->prototypes; k++) {
      const double d = (double)z[i] - (double)t->p->z[k];
      z_i += (double)t->p->mass[k] * exp(-(double)t->beta * (double)weight[i] * d * d);
    }
    sum -= (double)prior[i] * log(z_i);
  }
  return sum / (double)t->beta;
}

static void updates_lower_the_free_energy_and_keep_the_mass(void **state) {
  (void)state;
  random_seed(20);
  for (uint32_t n = 0; n < 20; n++) {
    begin();
    for (uint32_t i = 0; i < 10 + 20 * n; i++)
      add_track(3 * (i % (1 + n % 4)) + random_normal(), random_uniform(0.2, 1), random_uniform(0, 1));
    struct annealing_part t;
    t.beta = (float)(0.8 / first_critical(&t));
    for (uint32_t step = 0; step < 6; step++) {
      t.beta *= 1.8f;
      annealing_update(&t, 1);
      annealing_split(&t, 1.0f);
      double energy = free_energy(&t);
      for (uint32_t i = 0; i < 10; i++) {
        annealing_update(&t, 0);
        double mass = 0;
        for (uint32_t k = 0; k < t.prototypes; k++) mass += (double)t.p->mass[k];
        assert_true(fabs(mass - 1) < 1e-5);
        const double after = free_energy(&t);
        assert_true(after <= energy + 1e-5 * fabs(energy));
        energy = after;
      }
    }
    assert_true(t.prototypes > 1);
  }
}

/* Nothing comes to rest. With noise, the phases of rest follow each other. */
static void each_rest_phase_uses_max_updates(void **state) {
  (void)state;
  enum { UPDATES = 7 };
  uint32_t rests = 0, updates = 0;
  begin();
  args.coarse_shift = args.fine_shift = 0;
  args.max_updates = UPDATES;
  add_clump(20, 0.1, 16, 0.5);
  add_clump(24, 0.1, 16, 0.5);
  struct annealing_part t = part_of_tracks();
  annealing_open(&t);
  struct annealing_schedule schedule = annealing_begin(&t);
  while (schedule.stage != ANNEALING_DONE) {
    const enum annealing_stage stage = schedule.stage;
    annealing_go_on(&t, &schedule, annealing_update(&t, 1));
    if (stage == ANNEALING_REST || stage == ANNEALING_FINE_REST) updates++;
    if (schedule.stage == stage) continue;
    if (stage == ANNEALING_REST) assert_int_equal(updates, UPDATES);
    if (stage == ANNEALING_FINE_REST) assert_int_equal(updates % UPDATES, 0);
    rests += updates / UPDATES;
    updates = 0;
  }
  assert_true(rests > 10);
}

/* Prototypes between two groups of tracks, created because there is no room for more, are purged at the end. */
static void prototypes_never_exceed_the_cap(void **state) {
  (void)state;
  begin();
  for (uint32_t v = 0; v < 50; v++) add_clump(4 * v, 0.1, 4, 0.1);
  struct annealing_part t = part_of_tracks();
  annealing_open(&t);
  for (struct annealing_schedule schedule = annealing_begin(&t); schedule.stage != ANNEALING_NOISE;)
    annealing_go_on(&t, &schedule, annealing_update(&t, 1));
  assert_int_equal(t.prototypes, ANNEALING_PROTOTYPES);
  for (uint32_t k = 1; k < t.prototypes; k++) assert_true(t.p->z[k] > t.p->z[k - 1]);
  const uint32_t seeds = solve();
  assert_true(seeds > 8 && seeds <= ANNEALING_PROTOTYPES);
  for (uint32_t i = 0; i < seeds; i++) /* at one group each */
    assert_true(fabs((double)seed_z[i] / 4 - round((double)seed_z[i] / 4)) < 0.02);
}

/* Parts of any size, with one to many vertices: some fit the stored exponentials of an update, some do not. */
static void seeds_agree_with_the_reference(void **state) {
  (void)state;
  uint32_t seeds = 0, too_large = 0;
  random_seed(21);
  for (uint32_t n = 0; n < 200; n++) {
    struct annealed_seed wanted[ANNEALED_MAX];
    const uint32_t vertices = 1 + n % 6, size = 3 + n % 40;
    const double origin = random_uniform(-500, 300), distance = random_uniform(0.3, 4);
    begin();
    for (uint32_t v = 0; v < vertices; v++)
      for (uint32_t i = 0; i < size; i++) {
        const double error = random_uniform(0.1, 1);
        add_track(origin + distance * v + error * random_normal(), error, random_uniform(0.3, 1));
      }
    const uint32_t count = solve(), expected = annealed_solve(&tracks, wanted);
    too_large += vertices * tracks.count > ANNEALING_STORED;
    if (count != expected) fail_msg("part %u: %u seeds, not %u", n, count, expected);
    for (uint32_t k = 0; k < count; k++) {
      const double dz = fabs((double)seed_z[k] - wanted[k].z);
      if (!(dz < 1e-3)) fail_msg("part %u: seed %u at %.7g, not %.7g", n, k, (double)seed_z[k], wanted[k].z);
      assert_true(fabs((double)seed_weight[k] - wanted[k].weight) < 2e-3 * wanted[k].weight);
    }
    seeds += count;
  }
  print_message("%u seeds; %u parts larger than the store\n", seeds, too_large);
  assert_true(seeds > 200 && too_large > 10);
}

static void ten_thousand_tracks_in_one_part_are_annealed(void **state) {
  (void)state;
  begin();
  tracks.count = 10000;
  for (uint32_t i = 0; i < 10000; i++) {
    tracks.z[i] = 100 + 10.0 * floor(i / 2500.0) + 1e-5 * (i % 2500);
    tracks.weight[i] = 10;
    tracks.prior[i] = 0.5;
  }
  assert_int_equal(solve(), 4);
  for (uint32_t k = 0; k < 4; k++) {
    assert_true(fabs((double)seed_z[k] - (100.0125 + 10 * k)) < 1e-3);
    assert_true(fabs((double)seed_weight[k] - 1250) < 5);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_first_critical_temperature_follows_from_the_variance),
      cmocka_unit_test(a_prototype_splits_below_its_critical_temperature),
      cmocka_unit_test(one_clump_gives_one_seed_and_two_clumps_give_two),
      cmocka_unit_test(exceeding_the_number_of_prototypes_is_reported),
      cmocka_unit_test(clumps_closer_than_the_resolution_are_merged),
      cmocka_unit_test(tracks_of_small_weight_make_no_seed),
      cmocka_unit_test(updates_lower_the_free_energy_and_keep_the_mass),
      cmocka_unit_test(each_rest_phase_uses_max_updates),
      cmocka_unit_test(prototypes_never_exceed_the_cap),
      cmocka_unit_test(seeds_agree_with_the_reference),
      cmocka_unit_test(ten_thousand_tracks_in_one_part_are_annealed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
