/* annealing_schedule.h: anneals a part from its first prototype to its seeds. Private to the plugin.
 *   1. Start with one prototype at the mean of the tracks, just above its critical temperature.
 *   2. At each temperature down to the end of splitting: update to rest, merge, split unstable prototypes, cool. At the
 *      end repeat this up to ten times with a growing margin of instability.
 *   3. Switch on noise in five updates; update to rest, merge.
 *   4. Cool step by step, updating to rest, to the purging temperature; remove prototypes that are not needed, one at a
 *      time.
 *   5. Cool step by step, updating to rest, to the final temperature.
 * The schedule is a state machine around a single call of the update, because a GPU should have one copy of this large
 * code.
 */
#ifndef PV_ANNEALING_SCHEDULE_H
#define PV_ANNEALING_SCHEDULE_H

#include "annealing_part.h"

enum {
  ANNEALING_MORE_SPLITS = 10, /* extra splits at the end of splitting */
  ANNEALING_NOISE_STEPS = 5
};

/* Purpose of an update. */
enum annealing_stage {
  ANNEALING_MEAN,
  ANNEALING_FIRST_CRITICAL,
  ANNEALING_REST,  /* to rest, during splitting */
  ANNEALING_EXTRA, /* once, after the last step */
  ANNEALING_MERGED,
  ANNEALING_CRITICAL,
  ANNEALING_NOISE,
  ANNEALING_FINE_REST, /* to rest, with noise */
  ANNEALING_FINE_MERGED,
  ANNEALING_DONE
};

struct annealing_schedule {
  enum annealing_stage stage;
  uint32_t updates;     /* since the last rest */
  uint32_t steps;       /* steps to the end of splitting */
  uint32_t more_splits; /* extra splits left */
  uint32_t noise_steps;
  uint32_t is_merged, is_purged; /* in the phase with noise */
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

/* 1 if a prototype still moves and updates are left. */
static SL_DEVICE uint32_t annealing_is_restless(const struct annealing_part *t, struct annealing_schedule *s,
                                                float moved, float shift) {
  return moved >= shift && ++s->updates < t->a->max_updates;
}

enum { ANNEALING_STEPS_MAX = 2048 }; /* more steps than any finite temperature needs at the slowest cooling */

/* Sets the temperature above the critical temperature of the first prototype, a whole number of steps above the end of
 * splitting. */
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

/* Cools one step towards the temperature; returns 0 if it is reached. */
static SL_DEVICE uint32_t annealing_cool(struct annealing_part *t, float temperature) {
  if (!(t->beta < 1.0f / temperature)) return 0;
  t->beta = sl_min_f32(t->beta / t->a->cooling, 1.0f / temperature);
  return 1;
}

/* Splits, then continues with a cooling step, an extra split, or noise. */
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

/* Merges; if nothing merged, continues with an update of critical temperatures, or with noise. */
static SL_DEVICE void annealing_merge_and_split(struct annealing_part *t, struct annealing_schedule *s) {
  s->stage = ANNEALING_MERGED;
  if (annealing_merge(t)) return;
  s->stage = ANNEALING_CRITICAL;
  if (s->more_splits == 0) annealing_switch_noise_on(t, s);
}

/* At rest with noise: merges, then cools to the purging temperature, then purges, then cools to the final temperature.
 */
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

/* Continues after an update with the largest shift `moved`. */
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

/* Anneals a part; writes z and weights of the seeds by ascending z, and returns their number. The caller sets a, p, z
 * (which changes), weight, prior, highest, scale, near, stored (any content), most_stored, tracks and team; on a CPU,
 * up to 7 entries beyond the arrays may be overwritten. All threads of the team must call it. */
static SL_DEVICE uint32_t annealing_solve(struct annealing_part *t, float *seed_z, float *seed_weight) {
  if (t->tracks < 2) return 0;
  annealing_open(t);
  if (t->prior_sum < t->a->min_seed_weight) return 0; /* the sum over a subset is not larger */
  struct annealing_schedule s = annealing_begin(t);
  while (s.stage != ANNEALING_DONE) {
    const uint32_t needs_critical = s.stage == ANNEALING_FIRST_CRITICAL || s.stage == ANNEALING_CRITICAL ? 1u : 0u;
    annealing_go_on(t, &s, annealing_update(t, needs_critical));
  }
  return annealing_seeds(t, seed_z, seed_weight);
}

#endif
