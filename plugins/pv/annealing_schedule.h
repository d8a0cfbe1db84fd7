/* annealing_schedule.h: the annealing of a part from its first prototype to its seeds. Private to the plugin.
 *
 * 1. One prototype, at the tracks' mean, just above the temperature at which it becomes unstable.
 * 2. Step by step to the end of splitting: rest, merge, split what is unstable, cool. There, up to ten times more:
 *    rest, merge, split what is unstable by a margin that grows.
 * 3. Noise on, in five updates; rest, merge.
 * 4. Cool step by step, with rests, to where what is not needed is purged, one at a time, each with a rest.
 * 5. Cool step by step, with rests, to the end.
 *
 * Everything waits for updates, and an update is a large piece of code, of which a GPU should have one copy. So the
 * schedule is a loop around one update, which the stage says what is for.
 */
#ifndef PV_ANNEALING_SCHEDULE_H
#define PV_ANNEALING_SCHEDULE_H

#include "annealing_part.h"

enum {
  ANNEALING_MORE_SPLITS = 10, /* at the end of splitting */
  ANNEALING_NOISE_STEPS = 5
};

/* What an update is for. */
enum annealing_stage {
  ANNEALING_MEAN,
  ANNEALING_FIRST_CRITICAL,
  ANNEALING_REST,  /* of prototypes that split and merge */
  ANNEALING_EXTRA, /* once, after the last of the steps */
  ANNEALING_MERGED,
  ANNEALING_CRITICAL,
  ANNEALING_NOISE,
  ANNEALING_FINE_REST, /* with noise */
  ANNEALING_FINE_MERGED,
  ANNEALING_DONE
};

struct annealing_schedule {
  enum annealing_stage stage;
  uint32_t updates;     /* without a rest */
  uint32_t steps;       /* to the end of splitting */
  uint32_t more_splits; /* there */
  uint32_t noise_steps;
  uint32_t is_merged, is_purged; /* with noise */
  float threshold, full_noise;
};

static SL_DEVICE struct annealing_schedule annealing_begin(struct annealing_part *t) {
  const struct annealing_schedule s = {ANNEALING_MEAN, 0, 0, ANNEALING_MORE_SPLITS, 0, 0, 0, 1.0f, 0.0f};
  t->prototypes = 1;
  t->beta = t->noise = 0.0f;
  if (sl_team_thread(&t->team) == 0) {
    t->p->z[0] = 0.0f;
    t->p->mass[0] = 1.0f;
  }
  sl_team_sync(&t->team);
  return s;
}

static SL_DEVICE void annealing_rest(struct annealing_schedule *s, enum annealing_stage stage) {
  s->stage = stage;
  s->updates = 0;
}

/* Does anything move still? */
static SL_DEVICE uint32_t annealing_is_restless(const struct annealing_part *t, struct annealing_schedule *s,
                                                float moved, float shift) {
  return moved >= shift && ++s->updates < t->a->max_updates;
}

enum { ANNEALING_STEPS_MAX = 2048 }; /* more than any finite temperature needs at the slowest cooling */

/* To above the temperature at which the first prototype becomes unstable, by whole steps from the end of splitting. */
static SL_DEVICE void annealing_heat(struct annealing_part *t, struct annealing_schedule *s) {
  const float cooling = t->a->cooling, end = t->a->splitting_temperature;
  s->steps = 1;
  t->beta = cooling / end;
  float temperature = t->p->critical[0] * cooling;
  while (temperature >= end && s->steps < ANNEALING_STEPS_MAX) {
    temperature *= cooling;
    t->beta *= cooling;
    s->steps++;
  }
}

static SL_DEVICE void annealing_switch_noise_on(struct annealing_part *t, struct annealing_schedule *s) {
  s->stage = ANNEALING_NOISE;
  s->full_noise = 1.0f / (float)t->prototypes;
}

/* A step towards the temperature; says whether there was one to go. */
static SL_DEVICE uint32_t annealing_cool(struct annealing_part *t, float temperature) {
  if (!(t->beta < 1.0f / temperature)) return 0;
  t->beta = sl_min_f32(t->beta / t->a->cooling, 1.0f / temperature);
  return 1;
}

/* Splits; then a step, or one of the splits at the end, or noise. */
static SL_DEVICE void annealing_split_and_cool(struct annealing_part *t, struct annealing_schedule *s) {
  const uint32_t has_split = annealing_split(t, s->threshold);
  if (s->steps > 0) {
    s->steps--;
    t->beta = s->steps > 0 ? t->beta / t->a->cooling : 1.0f / t->a->splitting_temperature;
    annealing_rest(s, ANNEALING_REST);
  } else if (has_split) {
    s->more_splits--;
    s->threshold *= 1.1f;
    annealing_rest(s, ANNEALING_REST);
  } else {
    annealing_switch_noise_on(t, s);
  }
}

/* After a merge: another one, or what needs critical temperatures. */
static SL_DEVICE void annealing_merge_and_split(struct annealing_part *t, struct annealing_schedule *s) {
  s->stage = ANNEALING_MERGED;
  if (annealing_merge(t)) return;
  s->stage = ANNEALING_CRITICAL;
  if (s->more_splits == 0) annealing_switch_noise_on(t, s);
}

/* All is at rest, with noise: what came together merges, then a step to where prototypes are purged, then that, then a
 * step to the end. */
static SL_DEVICE void annealing_merge_cool_and_purge(struct annealing_part *t, struct annealing_schedule *s) {
  s->stage = ANNEALING_FINE_MERGED;
  if (!s->is_merged && annealing_merge(t)) return;
  s->is_merged = 1;
  annealing_rest(s, ANNEALING_FINE_REST);
  if (!s->is_purged) {
    if (annealing_cool(t, t->a->purging_temperature) || annealing_purge(t)) return;
    s->is_purged = 1;
  }
  if (!annealing_cool(t, t->a->final_temperature)) s->stage = ANNEALING_DONE;
}

/* What follows an update, in which a prototype moved by so much. */
static SL_DEVICE void annealing_go_on(struct annealing_part *t, struct annealing_schedule *s, float moved) {
  switch (s->stage) {
    case ANNEALING_MEAN:
      s->stage = ANNEALING_FIRST_CRITICAL;
      break;
    case ANNEALING_FIRST_CRITICAL:
      annealing_heat(t, s);
      annealing_rest(s, ANNEALING_REST);
      break;
    case ANNEALING_REST:
      if (annealing_is_restless(t, s, moved, t->a->coarse_shift)) break;
      if (s->steps == 0 && s->more_splits == ANNEALING_MORE_SPLITS)
        s->stage = ANNEALING_EXTRA;
      else
        annealing_merge_and_split(t, s);
      break;
    case ANNEALING_EXTRA:
    case ANNEALING_MERGED:
      annealing_merge_and_split(t, s);
      break;
    case ANNEALING_CRITICAL:
      annealing_split_and_cool(t, s);
      break;
    case ANNEALING_NOISE:
      s->noise_steps++;
      t->noise = (float)s->noise_steps * s->full_noise / (float)ANNEALING_NOISE_STEPS;
      if (s->noise_steps == ANNEALING_NOISE_STEPS) annealing_rest(s, ANNEALING_FINE_REST);
      break;
    case ANNEALING_FINE_REST:
      if (!annealing_is_restless(t, s, moved, t->a->fine_shift)) annealing_merge_cool_and_purge(t, s);
      break;
    case ANNEALING_FINE_MERGED:
      annealing_merge_cool_and_purge(t, s);
      break;
    case ANNEALING_DONE:
      break;
  }
}

/* Anneals a part: writes the seeds' z and weights, by ascending z, and returns their number. Given: a, p, z (which
 * changes), weight, prior, highest, scale, near, stored (whose contents don't matter), most_stored, tracks, warps,
 * warp; on a cpu, arrays go on for up to 7 entries that may be overwritten. All threads of the team call it. */
static SL_DEVICE uint32_t annealing_solve(struct annealing_part *t, float *seed_z, float *seed_weight) {
  if (t->tracks < 2) return 0;
  annealing_open(t);
  if (t->prior_sum < t->a->min_seed_weight) return 0; /* nor is the sum over some of the tracks larger */
  struct annealing_schedule s = annealing_begin(t);
  while (s.stage != ANNEALING_DONE) {
    const uint32_t wants_critical = s.stage == ANNEALING_FIRST_CRITICAL || s.stage == ANNEALING_CRITICAL ? 1u : 0u;
    annealing_go_on(t, &s, annealing_update(t, wants_critical));
  }
  return annealing_seeds(t, seed_z, seed_weight);
}

#endif
