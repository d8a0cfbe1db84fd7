/* annealing_part.h: operations of deterministic annealing in z on a part of an event; annealing_schedule.h has their
 * order. Prototypes k of vertices have position z_k and a mass. At temperature T = 1/beta the share of track i (z_i,
 * w_i = 1 / variance, prior p_i) in prototype k is q_ik = exp(a_ik) / (exp(a_i0) + sum over k of exp(a_ik)), with a_ik
 * = ln mass_k - beta w_i (z_i - z_k)^2, and a_i0 for noise. An update moves each prototype to the weighted mean of its
 * tracks.
 * Parallelism: one team per part (some 45 tracks, 1 to 4 prototypes, 20 to 70 updates): a warp, or all warps of a
 * block.
 * Determinism: sums over tracks are those of sl_sum32, over groups of 32 tracks, independent of the number of warps.
 * Accuracy: exponents are relative to a track's largest, so that sums are finite and not 0; z is relative to the first
 * track. Exponentials stay in shared memory or, for a large part, are computed twice; none are computed for 32 tracks
 * that are far from a prototype. In warps of 64 both halves compute the same. Private to the plugin.
 */
#ifndef PV_ANNEALING_PART_H
#define PV_ANNEALING_PART_H

#include "annealing.h"

enum { ANNEALING_PROTOTYPES = 32 /* per part, at most */ };

/* Warps of a block that anneal parts of their own, and exponentials of an update that each can store in shared memory.
 */
#if defined(SL_TARGET_CPU)
enum { ANNEALING_WARPS = 1 };
#define ANNEALING_MOST_STORED 8192
#else
enum { ANNEALING_WARPS = 4 };
#define ANNEALING_MOST_STORED 512
#endif
#ifndef ANNEALING_STORED
#define ANNEALING_STORED ANNEALING_MOST_STORED
#endif

/* Loops over 32 tracks; only `left` tracks exist. A CPU visits these, rounded up to whole vectors with entries that
 * count nothing. On a GPU all lanes run, missing tracks with zeros, since branches would prevent overlapping of loops.
 */
#if defined(SL_TARGET_CPU)
#define ANNEALING_FOR_LANES(j, left) SL_FOR_LANES32_OF (j, left)
#define ANNEALING_HAS(j, left)       1
#else
#define ANNEALING_FOR_LANES(j, left) SL_FOR_LANES32 (j)
#define ANNEALING_HAS(j, left)       ((j) < (left))
#endif
#define ANNEALING_VALUE(array, j, left) (ANNEALING_HAS(j, left) ? (array)[j] : 0.0f)

/* Exponent of the noise term while noise is off. */
#define ANNEALING_NOWHERE -1e30f
/* Relative to the largest exponent; lower exponents add nothing to a float. */
#define ANNEALING_LOWEST -30.0f

/* Prototypes of a part, by ascending z; shared by a team. */
struct annealing_prototypes {
  float z[ANNEALING_PROTOTYPES], mass[ANNEALING_PROTOTYPES];
  float critical[ANNEALING_PROTOTYPES]; /* critical temperature, below which a prototype is unstable */
  /* Positions at the last computation of shares, by row, and the row of each prototype since then. */
  float from_z[ANNEALING_PROTOTYPES], log_mass[ANNEALING_PROTOTYPES];
  uint32_t row[ANNEALING_PROTOTYPES];
  float shift[ANNEALING_PROTOTYPES]; /* shift in the last update */
  /* Numbers of tracks that share a prototype, and that need it. */
  float users[ANNEALING_PROTOTYPES], needing[ANNEALING_PROTOTYPES];
  /* Results of splits. */
  uint32_t splits[ANNEALING_PROTOTYPES];
  float left_z[ANNEALING_PROTOTYPES], left_mass[ANNEALING_PROTOTYPES];
  float right_z[ANNEALING_PROTOTYPES], right_mass[ANNEALING_PROTOTYPES];
};

/* A part; each thread of the team has a copy with the same values. */
struct annealing_part {
  const struct annealing_args *a;
  struct annealing_prototypes *p;
  float *z, *weight, *prior; /* of the tracks; z relative to `origin`, ascending */
  float *highest, *scale;    /* largest exponent of a track, and 1 / sum of its exponentials */
  uint32_t *near;            /* per 32 tracks: bit mask of the rows that have a share in one of them */
  float *stored;             /* exp(a_ik - highest) of row r and track i, at r * stride + i */
  uint32_t most_stored, is_stored;
  uint32_t tracks, stride, prototypes;
  struct sl_team team;
  float origin, prior_sum;
  float beta, noise; /* 1 / temperature; mass of the noise */
  uint32_t is_full;  /* more prototypes were unstable than there was room for */
};

/* ------------------------------------------------------------------------------------------------- updates */

/* a_ik of a track at `z`; `cold` is beta times its weight. */
static SL_DEVICE float annealing_exponent(float cold, float z, float from_z, float log_mass) {
  const float distance = z - from_z;
  return log_mass - cold * distance * distance;
}

static SL_DEVICE float annealing_noise_exponent(const struct annealing_part *t) {
  return -(t->beta * t->a->noise_distance * t->a->noise_distance);
}

/* For 32 tracks from `first` on: the largest exponent and the sum of exponentials. */
static SL_DEVICE void annealing_share_out_32(const struct annealing_part *t, uint32_t first, float noise) {
  const float *__restrict__ z = t->z + first, *__restrict__ weight = t->weight + first;
  float *__restrict__ highest = t->highest + first, *__restrict__ scale = t->scale + first;
  const struct annealing_prototypes *p = t->p;
  const uint32_t left = t->tracks - first, is_stored = t->is_stored;
  float at[SL_LANES32] = {0.0f}, cold[SL_LANES32] = {0.0f};
  float most[SL_LANES32] = {0.0f}, sum[SL_LANES32] = {0.0f};
  uint32_t near = 0;
  ANNEALING_FOR_LANES (j, left) {
    at[SL_LANE32(j)] = ANNEALING_VALUE(z, j, left);
    cold[SL_LANE32(j)] = t->beta * ANNEALING_VALUE(weight, j, left);
    most[SL_LANE32(j)] = noise;
  }
  for (uint32_t k = 0; k < t->prototypes; k++) {
    const float from_z = p->from_z[k], log_mass = p->log_mass[k];
    ANNEALING_FOR_LANES (j, left)
      most[SL_LANE32(j)] =
          sl_max_f32(annealing_exponent(cold[SL_LANE32(j)], at[SL_LANE32(j)], from_z, log_mass), most[SL_LANE32(j)]);
  }
  ANNEALING_FOR_LANES (j, left) sum[SL_LANE32(j)] = t->noise > 0.0f ? sl_expf(noise - most[SL_LANE32(j)]) : 0.0f;
  for (uint32_t k = 0; k < t->prototypes; k++) {
    const float from_z = p->from_z[k], log_mass = p->log_mass[k];
    float *__restrict__ stored = t->stored + (is_stored ? k * t->stride + first : 0u);
    float relative[SL_LANES32] = {0.0f};
    uint32_t is_near = 0;
    ANNEALING_FOR_LANES (j, left) {
      const float exponent =
          annealing_exponent(cold[SL_LANE32(j)], at[SL_LANE32(j)], from_z, log_mass) - most[SL_LANE32(j)];
      relative[SL_LANE32(j)] = exponent;
      is_near |= (exponent > ANNEALING_LOWEST ? 1u : 0u) & (j < left ? 1u : 0u);
    }
    if (!sl_group_any(is_near, 32)) continue;
    near |= 1u << k;
    ANNEALING_FOR_LANES (j, left) {
      const float e = sl_expf(relative[SL_LANE32(j)]);
      sum[SL_LANE32(j)] += e;
      if (is_stored && ANNEALING_HAS(j, left)) stored[j] = e;
    }
  }
  if (sl_warp_lane() == 0) t->near[first / 32] = near;
  SL_FOR_LANES32_OF (j, left) {
    highest[j] = most[SL_LANE32(j)];
    scale[j] = 1.0f / sum[SL_LANE32(j)];
  }
}

/* Computes the shares of all tracks in the present prototypes. */
static SL_DEVICE void annealing_share_out(struct annealing_part *t) {
  struct annealing_prototypes *p = t->p;
  const float noise = t->noise > 0.0f ? sl_logf(t->noise) + annealing_noise_exponent(t) : ANNEALING_NOWHERE;
  for (uint32_t k = sl_team_thread(&t->team); k < t->prototypes; k += sl_team_threads(&t->team)) {
    p->from_z[k] = p->z[k];
    p->log_mass[k] = sl_logf(p->mass[k]);
    p->row[k] = k;
  }
  sl_team_sync(&t->team);
  t->is_stored = t->prototypes * t->stride <= t->most_stored;
  for (uint32_t first = 32 * t->team.warp; first < t->tracks; first += 32 * t->team.warps)
    annealing_share_out_32(t, first, noise);
  sl_team_sync(&t->team);
}

/* Data for the shares of tracks in a row. */
struct annealing_row {
  const float *__restrict__ z, *__restrict__ weight, *__restrict__ highest, *__restrict__ scale, *__restrict__ stored;
  const uint32_t *__restrict__ near;
  float beta, from_z, log_mass;
  uint32_t row, is_stored;
};

static SL_DEVICE struct annealing_row annealing_row_of(const struct annealing_part *t, uint32_t row) {
  struct annealing_row r;
  r.z = t->z;
  r.weight = t->weight;
  r.highest = t->highest;
  r.scale = t->scale;
  r.stored = t->stored + (t->is_stored ? row * t->stride : 0u);
  r.near = t->near;
  r.row = row;
  r.beta = t->beta;
  r.from_z = t->p->from_z[row];
  r.log_mass = t->p->log_mass[row];
  r.is_stored = t->is_stored;
  return r;
}

/* 1 if the row has a share in one of the 32 tracks from `first` on. */
static SL_DEVICE uint32_t annealing_is_near(const struct annealing_row *r, uint32_t first) {
  return r->near[first / 32] >> r->row & 1;
}

/* q_ik of 32 tracks from `first` on, `left` in all, at SL_LANE32(j). */
static SL_DEVICE void annealing_shares(const struct annealing_row *r, uint32_t first, uint32_t left, float *shares) {
  const float *__restrict__ z = r->z + first, *__restrict__ weight = r->weight + first;
  const float *__restrict__ highest = r->highest + first, *__restrict__ scale = r->scale + first;
  const float *__restrict__ stored = r->stored + first;
  const float beta = r->beta, from_z = r->from_z, log_mass = r->log_mass;
  if (r->is_stored) {
    ANNEALING_FOR_LANES (j, left)
      shares[SL_LANE32(j)] = ANNEALING_VALUE(stored, j, left) * ANNEALING_VALUE(scale, j, left);
  } else {
    ANNEALING_FOR_LANES (j, left)
      shares[SL_LANE32(j)] = sl_expf(annealing_exponent(beta * ANNEALING_VALUE(weight, j, left),
                                                        ANNEALING_VALUE(z, j, left), from_z, log_mass) -
                                     ANNEALING_VALUE(highest, j, left)) *
                             ANNEALING_VALUE(scale, j, left);
  }
}

/* Sums over the tracks of a row. */
struct annealing_sums {
  float mass, weight, moment, energy; /* sums of p q; p q w; p q w d; p q w w d^2, d = z_i - z_k */
};

static SL_DEVICE struct annealing_sums annealing_sum(const struct annealing_part *t, uint32_t row,
                                                     uint32_t needs_energy) {
  const struct annealing_row r = annealing_row_of(t, row);
  const float from_z = r.from_z;
  struct sl_sum32 mass = sl_sum32_zero(), weight = sl_sum32_zero();
  struct sl_sum32 moment = sl_sum32_zero(), energy = sl_sum32_zero();
  for (uint32_t first = 0; first < t->tracks; first += 32) {
    if (!annealing_is_near(&r, first)) continue;
    const float *__restrict__ z = t->z + first, *__restrict__ weights = t->weight + first;
    const float *__restrict__ prior = t->prior + first;
    const uint32_t left = t->tracks - first;
    float shares[SL_LANES32] = {0.0f};
    annealing_shares(&r, first, left, shares);
    ANNEALING_FOR_LANES (j, left) {
      const float d = ANNEALING_VALUE(z, j, left) - from_z, w = ANNEALING_VALUE(weights, j, left);
      const float of_mass = ANNEALING_VALUE(prior, j, left) * shares[SL_LANE32(j)], of_weight = of_mass * w,
                  of_moment = of_weight * d;
      sl_sum32_add_lane(&mass, j, of_mass);
      sl_sum32_add_lane(&weight, j, of_weight);
      sl_sum32_add_lane(&moment, j, of_moment);
      if (needs_energy) sl_sum32_add_lane(&energy, j, of_moment * (w * d));
    }
  }
  struct annealing_sums s;
  s.mass = sl_group_sum32_total(&mass);
  s.weight = sl_group_sum32_total(&weight);
  s.moment = sl_group_sum32_total(&moment);
  s.energy = needs_energy ? sl_group_sum32_total(&energy) : 0.0f;
  return s;
}

static SL_DEVICE void annealing_swap(float *values, uint32_t k) {
  const float value = values[k];
  values[k] = values[k - 1];
  values[k - 1] = value;
}

/* Sorts the prototypes by z, which is rarely needed. */
static SL_DEVICE void annealing_sort(const struct annealing_part *t) {
  struct annealing_prototypes *p = t->p;
  uint32_t is_sorted = 1;
  for (uint32_t k = 1; k < t->prototypes; k++) is_sorted &= p->z[k] < p->z[k - 1] ? 0u : 1u;
  if (is_sorted) return;
  sl_team_sync(&t->team); /* all threads have read */
  for (uint32_t i = 1; sl_team_thread(&t->team) == 0 && i < t->prototypes; i++) {
    for (uint32_t k = i; k > 0 && p->z[k] < p->z[k - 1]; k--) {
      const uint32_t row = p->row[k];
      annealing_swap(p->z, k);
      annealing_swap(p->mass, k);
      annealing_swap(p->critical, k);
      p->row[k] = p->row[k - 1];
      p->row[k - 1] = row;
    }
  }
  sl_team_sync(&t->team);
}

/* Computes shares and moves the prototypes to the means of their tracks; returns the largest shift. */
static SL_DEVICE float annealing_update(struct annealing_part *t, uint32_t needs_critical) {
  struct annealing_prototypes *p = t->p;
  float largest = 0.0f;
  annealing_share_out(t);
  for (uint32_t k = t->team.warp; k < t->prototypes; k += t->team.warps) {
    const struct annealing_sums s = annealing_sum(t, k, needs_critical);
    if (sl_warp_lane() == 0) {
      const float shift = s.weight > 0.0f ? s.moment / s.weight : 0.0f;
      p->z[k] = p->from_z[k] + shift;
      p->mass[k] = s.mass / t->prior_sum;
      p->critical[k] = s.weight > 0.0f ? 2.0f * s.energy / s.weight : 0.0f;
      p->shift[k] = shift;
    }
  }
  sl_team_sync(&t->team);
  for (uint32_t k = 0; k < t->prototypes; k++) largest = sl_max_f32(sl_abs_f32(p->shift[k]), largest);
  annealing_sort(t);
  return largest;
}

/* -------------------------------------------------------------------------------- merge, split and purge */

/* Removes prototype k from the list. */
static SL_DEVICE void annealing_remove(struct annealing_part *t, uint32_t k) {
  struct annealing_prototypes *p = t->p;
  t->prototypes--;
  for (uint32_t i = k; sl_team_thread(&t->team) == 0 && i < t->prototypes; i++) {
    p->z[i] = p->z[i + 1];
    p->mass[i] = p->mass[i + 1];
  }
  sl_team_sync(&t->team);
}

/* Merges the two closest prototypes if they are closer than merge_distance; returns 1 if they are. */
static SL_DEVICE uint32_t annealing_merge(struct annealing_part *t) {
  struct annealing_prototypes *p = t->p;
  float least = t->a->merge_distance;
  uint32_t closest = 0; /* index of the upper one */
  for (uint32_t k = 1; k < t->prototypes; k++) {
    const float distance = p->z[k] - p->z[k - 1];
    closest = distance < least ? k : closest;
    least = sl_min_f32(distance, least);
  }
  if (closest == 0) return 0;
  sl_team_sync(&t->team); /* all threads have read */
  if (sl_team_thread(&t->team) == 0) {
    const float mass = p->mass[closest - 1] + p->mass[closest];
    const float part = mass > 0.0f ? p->mass[closest] / mass : 0.5f;
    p->z[closest] = p->z[closest - 1] + part * (p->z[closest] - p->z[closest - 1]);
    p->mass[closest] = mass;
  }
  sl_team_sync(&t->team);
  annealing_remove(t, closest - 1);
  return 1;
}

/* Called by one warp. Divides the tracks of prototype k softly at its position; returns 1 if the halves are apart, and
 * then stores them as left and right, limited to 40 % of the distance to the neighbours. */
static SL_DEVICE uint32_t annealing_halve(const struct annealing_part *t, uint32_t k) {
  struct annealing_prototypes *p = t->p;
  const struct annealing_row r = annealing_row_of(t, p->row[k]);
  const float at = p->z[k], beta = t->beta;
  struct sl_sum32 left_mass = sl_sum32_zero(), left_weight = sl_sum32_zero(), left_moment = sl_sum32_zero();
  struct sl_sum32 right_mass = sl_sum32_zero(), right_weight = sl_sum32_zero(), right_moment = sl_sum32_zero();
  for (uint32_t first = 0; first < t->tracks; first += 32) {
    if (!annealing_is_near(&r, first)) continue;
    const float *__restrict__ z = t->z + first, *__restrict__ weights = t->weight + first;
    const float *__restrict__ prior = t->prior + first;
    const uint32_t left_over = t->tracks - first;
    float shares[SL_LANES32] = {0.0f};
    annealing_shares(&r, first, left_over, shares);
    SL_FOR_LANES32_OF (j, left_over) {
      const float d = z[j] - at, w = weights[j];
      const float left = 1.0f / (1.0f + sl_expf(sl_clamp_f32(d * sl_sqrtf(beta * w), -20.0f, 20.0f)));
      const float mass = prior[j] * shares[SL_LANE32(j)], to_left = mass * left, to_right = mass * (1.0f - left);
      sl_sum32_add_lane(&left_mass, j, to_left);
      sl_sum32_add_lane(&left_weight, j, to_left * w);
      sl_sum32_add_lane(&left_moment, j, to_left * w * d);
      sl_sum32_add_lane(&right_mass, j, to_right);
      sl_sum32_add_lane(&right_weight, j, to_right * w);
      sl_sum32_add_lane(&right_moment, j, to_right * w * d);
    }
  }
  const float mass_l = sl_group_sum32_total(&left_mass), mass_r = sl_group_sum32_total(&right_mass);
  const float weight_l = sl_group_sum32_total(&left_weight), weight_r = sl_group_sum32_total(&right_weight);
  const float moment_l = sl_group_sum32_total(&left_moment), moment_r = sl_group_sum32_total(&right_moment);
  if (!(weight_l > 0.0f && weight_r > 0.0f)) return 0;
  float z_l = at + moment_l / weight_l, z_r = at + moment_r / weight_r;
  if (k > 0) z_l = sl_max_f32(0.6f * at + 0.4f * p->z[k - 1], z_l);
  if (k + 1 < t->prototypes) z_r = sl_min_f32(0.6f * at + 0.4f * p->z[k + 1], z_r);
  if (!(z_r - z_l > t->a->split_distance)) return 0;
  if (sl_warp_lane() == 0) {
    const float part = mass_l / (mass_l + mass_r);
    p->left_z[k] = z_l;
    p->right_z[k] = z_r;
    p->left_mass[k] = p->mass[k] * part;
    p->right_mass[k] = p->mass[k] * (1.0f - part);
  }
  return 1;
}

/* 1 if prototype k is unstable and splits: the hottest do, while there is room. */
static SL_DEVICE uint32_t annealing_is_to_split(const struct annealing_part *t, uint32_t k, float threshold) {
  const float *critical = t->p->critical;
  const uint32_t most = t->tracks < ANNEALING_PROTOTYPES ? t->tracks : ANNEALING_PROTOTYPES;
  if (!(t->beta * critical[k] > threshold)) return 0;
  uint32_t hotter = 0;
  for (uint32_t i = 0; i < t->prototypes; i++)
    hotter += critical[i] > critical[k] || (critical[i] == critical[k] && i < k) ? 1u : 0u;
  return hotter < most - t->prototypes;
}

/* 1 if there is no room for the splits of all unstable prototypes. */
static SL_DEVICE uint32_t annealing_is_full(const struct annealing_part *t, float threshold) {
  uint32_t unstable = 0;
  for (uint32_t k = 0; k < t->prototypes; k++) unstable += t->beta * t->p->critical[k] > threshold ? 1u : 0u;
  return t->tracks > ANNEALING_PROTOTYPES && unstable > ANNEALING_PROTOTYPES - t->prototypes ? 1 : 0;
}

/* Splits all unstable prototypes at once, after an update that computed critical temperatures; returns 1 if there is
 * any. */
static SL_DEVICE uint32_t annealing_split(struct annealing_part *t, float threshold) {
  struct annealing_prototypes *p = t->p;
  uint32_t split = 0; /* one bit per prototype */
  t->is_full |= annealing_is_full(t, threshold);
  for (uint32_t k = t->team.warp; k < t->prototypes; k += t->team.warps) {
    const uint32_t splits = annealing_is_to_split(t, k, threshold) ? annealing_halve(t, k) : 0u;
    if (sl_warp_lane() == 0) p->splits[k] = splits;
  }
  sl_team_sync(&t->team);
  const uint32_t before = t->prototypes;
  for (uint32_t k = 0; k < before; k++) split |= p->splits[k] << k;
  t->prototypes += sl_count_bits(split);
  for (uint32_t k = before, to = t->prototypes; sl_team_thread(&t->team) == 0 && k-- > 0;) {
    const uint32_t splits = split >> k & 1;
    to--;
    p->mass[to] = splits ? p->right_mass[k] : p->mass[k];
    p->z[to] = splits ? p->right_z[k] : p->z[k];
    if (!splits) continue;
    to--;
    p->mass[to] = p->left_mass[k];
    p->z[to] = p->left_z[k];
  }
  sl_team_sync(&t->team);
  return split != 0;
}

/* Called by one warp. Stores how many tracks share prototype k, and how many need it, with a share above `needed`. */
static SL_DEVICE void annealing_count_users(const struct annealing_part *t, uint32_t k, float needed,
                                            float least_prior) {
  const struct annealing_row r = annealing_row_of(t, t->p->row[k]);
  struct sl_sum32 all = sl_sum32_zero(), needing = sl_sum32_zero();
  for (uint32_t first = 0; first < t->tracks; first += 32) {
    if (!annealing_is_near(&r, first)) continue;
    const float *__restrict__ prior = t->prior + first;
    const uint32_t left = t->tracks - first;
    float shares[SL_LANES32] = {0.0f};
    annealing_shares(&r, first, left, shares);
    SL_FOR_LANES32_OF (j, left) {
      const float share = shares[SL_LANE32(j)];
      const float needs = share > needed ? 1.0f : 0.0f;
      sl_sum32_add_lane(&all, j, prior[j] > 0.0f ? share : 0.0f);
      sl_sum32_add_lane(&needing, j, prior[j] > least_prior ? needs : 0.0f);
    }
  }
  const float users_sum = sl_group_sum32_total(&all), needing_sum = sl_group_sum32_total(&needing);
  if (sl_warp_lane() != 0) return;
  t->p->users[k] = users_sum;
  t->p->needing[k] = needing_sum;
}

/* Removes, of the prototypes needed by fewer than two tracks, the one with the smallest share of tracks; returns 1 if
 * there is any. */
static SL_DEVICE uint32_t annealing_purge(struct annealing_part *t) {
  const struct annealing_prototypes *p = t->p;
  const float noise = t->noise * sl_expf(annealing_noise_exponent(t));
  uint32_t least_used = t->prototypes;
  if (t->prototypes == 1) return 0;
  annealing_share_out(t);
  for (uint32_t k = t->team.warp; k < t->prototypes; k += t->team.warps)
    annealing_count_users(t, k, t->a->unique_share * p->mass[k] / (p->mass[k] + noise), t->a->unique_prior);
  sl_team_sync(&t->team);
  for (uint32_t k = 0; k < t->prototypes; k++)
    if (p->needing[k] < 2.0f && (least_used == t->prototypes || p->users[k] < p->users[least_used])) least_used = k;
  if (least_used == t->prototypes) return 0;
  sl_team_sync(&t->team); /* all threads have read */
  annealing_remove(t, least_used);
  return 1;
}

/* Writes the seeds with enough tracks, with their weights unless these are NULL; returns their number. */
static SL_DEVICE uint32_t annealing_seeds(struct annealing_part *t, float *seed_z, float *seed_weight) {
  struct annealing_prototypes *p = t->p;
  uint32_t seeds = 0;
  annealing_share_out(t);
  for (uint32_t k = t->team.warp; k < t->prototypes; k += t->team.warps) {
    annealing_count_users(t, k, t->a->assigned_share, 0.0f);
    const struct annealing_sums s = annealing_sum(t, k, 0);
    if (sl_warp_lane() == 0) p->mass[k] = s.mass; /* no longer relative to 1 */
  }
  sl_team_sync(&t->team);
  for (uint32_t k = 0; k < t->prototypes; k++) {
    if (p->needing[k] < 2.0f || p->mass[k] < t->a->min_seed_weight) continue;
    if (sl_team_thread(&t->team) == 0) {
      seed_z[seeds] = t->origin + p->z[k];
      if (seed_weight) seed_weight[seeds] = p->mass[k];
    }
    seeds++;
  }
  return seeds;
}

/* Makes z relative to the first track, and sums the priors. CPU lanes beyond the last track get prior 0. */
static SL_DEVICE void annealing_open(struct annealing_part *t) {
  struct sl_sum32 sum = sl_sum32_zero();
  const uint32_t last_32 = (t->tracks - 1) / 32 * 32, end = last_32 + sl_lanes32(t->tracks - last_32);
  t->origin = t->z[0];
  t->stride = end;
  sl_team_sync(&t->team); /* all threads have read the origin */
  for (uint32_t i = sl_team_thread(&t->team); i < t->tracks; i += sl_team_threads(&t->team)) t->z[i] -= t->origin;
  for (uint32_t i = t->tracks; i < end; i++) t->z[i] = t->weight[i] = t->prior[i] = 0.0f;
  for (uint32_t first = 0; first < t->tracks; first += 32)
    SL_FOR_LANES32_OF (j, t->tracks - first) sl_sum32_add_lane(&sum, j, t->prior[first + j]);
  t->prior_sum = sl_group_sum32_total(&sum);
  sl_team_sync(&t->team);
}

#endif
