/* fit.h: fits vertices from seeds (README.md, "The fit"), for all finders. Private to the plugin.
 *   1. Competition: sum each track's affinities exp(-chi2 / 2) to all seeds.
 *   2. Fit: for each seed, Newton steps minimise the sum of weight times chi2. The weight of a track is its affinity to
 *      the vertex, divided by the sum of this affinity, a constant for noise, and its affinities to the other seeds.
 *   3. Clean-up: of two vertices close in z, reject the one with less weight; ties: the one at larger z.
 * Parallelism: one block per event (250 tracks, 5 seeds, 6 steps); a group of 32 threads per seed, a thread every 32nd
 * track. Tracks that can come near the vertex while it stays in a box are neighbours (sorted by z); their range is
 * computed again only when the vertex leaves the box. A GPU thread caches its first tracks in shared memory; a CPU
 * caches affinities.
 * Determinism: sums are 32 partial sums and a tree (sl_sum32), equal on all targets.
 * Cost: reads 32 bytes per track in range, step and seed, mostly from shared memory or cache; writes 52 per vertex.
 */
#ifndef PV_FIT_H
#define PV_FIT_H

#include "finder.h"

/* GPU: tracks that a thread caches in shared memory, warps of a block that do so. CPU: tracks for which affinities to
 * other seeds are cached; at least one group of 32. */
#if defined(SL_TARGET_CPU)
enum { PV_CACHED = 1, PV_CACHE_WARPS = 1, PV_CACHE_LANES = 1, PV_OTHERS = 1024 };
#else
enum { PV_CACHED = 3, PV_CACHE_WARPS = 4, PV_CACHE_LANES = 32, PV_OTHERS = 1 };
#endif

/* exp(-PV_FAR_CHI2 / 2) is 1.8e-35, negligible next to the constant for noise. */
#define PV_FAR_CHI2 160.0f

/* mm: half widths of the box in which a vertex moves without a new range of tracks. */
#define PV_BOX_XY 0.05f
#define PV_BOX_Z  0.25f

struct pv_place {
  float x, y, z;
};

struct pv_vertex {
  struct pv_place at;
  float c_xx, c_xy, c_yy, c_xz, c_yz, c_zz;
  float chi2, weight;
  uint32_t tracks;
  uint32_t accepted;
};

/* Sums over tracks: half of the first and second derivatives of the sum of weight * chi2, and others. */
enum {
  PV_G_X,
  PV_G_Y,
  PV_G_Z,
  PV_H_XX,
  PV_H_YY,
  PV_H_XZ,
  PV_H_YZ,
  PV_H_ZZ,
  PV_WEIGHT,
  PV_CHI2,
  PV_NEAR_TRACKS,
  PV_SUMS
};
struct pv_sums {
  struct sl_sum32 of[PV_SUMS];
};

struct pv_line {
  float x, y, z, tx, ty, wx, wy;
};

/* Residual from the line to a position, in the plane across the beam. */
struct pv_residual {
  float x, y, chi2;
};

/* Type of array indices in loops over lanes: one that may wrap makes CPU compilers gather; a long one costs a GPU two
 * additions per array. */
#if defined(SL_TARGET_CPU)
typedef size_t pv_index;
#else
typedef uint32_t pv_index;
#endif

static SL_DEVICE struct pv_line pv_line_of(const struct pv_tracks *t, pv_index i) {
  const struct pv_line line = {t->x[i], t->y[i], t->z[i], t->tx[i], t->ty[i], t->wx[i], t->wy[i]};
  return line;
}

static SL_DEVICE struct pv_residual pv_residual_of(const struct pv_line *line, const struct pv_place *place) {
  const float dz = place->z - line->z;
  struct pv_residual r;
  r.x = fmaf(-line->tx, dz, place->x - line->x);
  r.y = fmaf(-line->ty, dz, place->y - line->y);
  r.chi2 = fmaf(r.x * r.x, line->wx, r.y * r.y * line->wy);
  return r;
}

/* Affinity of a track to a position. The argument is bounded first, because denormal numbers are slow even if the
 * result is discarded. */
static SL_DEVICE float pv_affinity(float chi2) {
  const float affinity = sl_expf(-0.5f * sl_min_f32(chi2, PV_FAR_CHI2));
  return chi2 < PV_FAR_CHI2 ? affinity : 0.0f;
}

/* For a single thread: 1 if one of the 32 tracks from `base` on is nearer than `limit`. */
static SL_DEVICE uint32_t pv_some_are_near(const struct pv_tracks *t, pv_index base, const struct pv_place *place,
                                           float limit) {
  uint32_t near = 0;
  SL_FOR_LANES32 (j) {
    const struct pv_line line = pv_line_of(t, base + j);
    near |= pv_residual_of(&line, place).chi2 < limit ? 1u : 0u;
  }
  return near;
}

/* Range of tracks in whole groups of 32 that contains all tracks that can come nearer than max_chi2 to positions in a
 * box around `at`. */
struct pv_range {
  struct pv_place at;
  uint32_t begin, end;
};

static SL_DEVICE uint32_t pv_is_in_box(const struct pv_place *place, const struct pv_place *middle) {
  return sl_abs_f32(place->x - middle->x) <= PV_BOX_XY && sl_abs_f32(place->y - middle->y) <= PV_BOX_XY &&
                 sl_abs_f32(place->z - middle->z) <= PV_BOX_Z
             ? 1
             : 0;
}

/* Largest chi2, at the middle of a box, of a track that can come nearer than max_chi2 to a position in it. The residual
 * changes by at most d errors, d^2 <= 2 (box_xy^2 + tx^2 box_z^2) wx plus the corresponding term in y, so the square
 * root of chi2 changes by at most d. */
static SL_DEVICE float pv_range_chi2(const struct pv_line *line, float max_chi2) {
  const float box_xy2 = PV_BOX_XY * PV_BOX_XY, box_z2 = PV_BOX_Z * PV_BOX_Z;
  const float way2 = 2.0f * (fmaf(line->tx * line->tx, box_z2, box_xy2) * line->wx +
                             fmaf(line->ty * line->ty, box_z2, box_xy2) * line->wy);
  return 1.001f * (max_chi2 + way2 + 2.0f * sl_sqrtf(max_chi2 * way2));
}

/* Computes the range around `at`; all lanes of a group return the same. */
static SL_DEVICE struct pv_range pv_range_of(const struct pv_tracks *t, const struct pv_place *at, float max_chi2) {
  uint32_t from_end = 0, end = 0;
  for (uint32_t base = 0; base < t->count; base += 32) {
    uint32_t some = 0;
    SL_FOR_LANES32 (j) {
      const struct pv_line line = pv_line_of(t, (pv_index)base + j);
      some |= pv_residual_of(&line, at).chi2 <= pv_range_chi2(&line, max_chi2) ? 1u : 0u;
    }
    end = some ? base + 32 : end;
    from_end = some && from_end == 0 ? UINT32_MAX - base : from_end;
  }
  end = sl_group_max_u32(end, 32);
  from_end = sl_group_max_u32(from_end, 32);
  const struct pv_range range = {*at, UINT32_MAX - from_end, end}; /* begin > end if it is empty */
  return range;
}

/* Range of each seed, valid while its vertex stays in the box around the seed; shared by a block. */
struct pv_seed_ranges {
  uint32_t begin[PV_MAX_VERTICES], end[PV_MAX_VERTICES];
};

/* Computes each track's sum of affinities, and the range of each seed. Groups of 32 threads take 32 tracks each. */
static SL_DEVICE void pv_sum_affinities(const struct pv_fit *a, const struct pv_tracks *t, const float *seed_z,
                                        uint32_t seeds, float *__restrict__ competition,
                                        struct pv_seed_ranges *ranges) {
  struct pv_place seed = {a->geometry.beam[0], a->geometry.beam[1], 0.0f};
  SL_FOR_GROUPS (group, (t->count + 31) / 32, 32) {
    if (32 * group >= t->count) break;
    const pv_index base = (pv_index)32 * group;
    const struct pv_line own = pv_line_of(t, base + sl_group_lane(32)); /* track of this lane */
    (void)own;                                                          /* unused on a CPU */
    float sum[SL_LANES32] = {0.0f}, chi2[SL_LANES32], limit[SL_LANES32];
    SL_FOR_LANES32 (j) {
      const struct pv_line line = SL_LANES32 == 1 ? own : pv_line_of(t, base + j);
      limit[SL_LANE32(j)] = pv_range_chi2(&line, a->max_chi2);
    }
    for (uint32_t s = 0; s < seeds; s++) {
      uint32_t is_near = 0, is_in_range = 0;
      seed.z = seed_z[s];
      SL_FOR_LANES32 (j) {
        const struct pv_line line = SL_LANES32 == 1 ? own : pv_line_of(t, base + j);
        chi2[SL_LANE32(j)] = pv_residual_of(&line, &seed).chi2;
        is_near |= chi2[SL_LANE32(j)] < PV_FAR_CHI2 ? 1u : 0u;
        is_in_range |= chi2[SL_LANE32(j)] <= limit[SL_LANE32(j)] ? 1u : 0u;
      }
      if (is_in_range) {
        atomicMin(&ranges->begin[s], 32 * group);
        atomicMax(&ranges->end[s], 32 * group + 32);
      }
      if (!is_near) continue;
      SL_FOR_LANES32 (j) sum[SL_LANE32(j)] += pv_affinity(chi2[SL_LANE32(j)]);
    }
    SL_FOR_LANES32 (j) competition[base + j] = sum[SL_LANE32(j)];
  }
}

static SL_DEVICE struct pv_sums pv_sums_zero(void) {
  struct pv_sums s;
  SL_UNROLL
  for (uint32_t k = 0; k < PV_SUMS; k++) s.of[k] = sl_sum32_zero();
  return s;
}

/* Adds the contribution of a track; `others`: sum of its affinities to other seeds. */
static SL_DEVICE void pv_add_track(const struct pv_fit *a, const struct pv_line *line, const struct pv_residual *r,
                                   float others, float noise, uint32_t j, struct pv_sums *sums) {
  const uint32_t is_near = r->chi2 < a->max_chi2 ? 1 : 0;
  const float affinity = pv_affinity(r->chi2), weight_if = affinity / (noise + affinity + others);
  const uint32_t is_used = is_near & (weight_if > a->min_weight ? 1u : 0u);
  const float weight = is_used ? weight_if : 0.0f;
  const float g_x = is_used ? r->x * line->wx : 0.0f, g_y = is_used ? r->y * line->wy : 0.0f;
  const float h_xx = weight * line->wx, h_yy = weight * line->wy;
  const float h_xz = line->tx * h_xx, h_yz = line->ty * h_yy;
  sl_sum32_add(&sums->of[PV_G_X], j, weight * g_x);
  sl_sum32_add(&sums->of[PV_G_Y], j, weight * g_y);
  sl_sum32_add(&sums->of[PV_G_Z], j, weight * fmaf(line->tx, g_x, line->ty * g_y));
  sl_sum32_add(&sums->of[PV_H_XX], j, h_xx);
  sl_sum32_add(&sums->of[PV_H_YY], j, h_yy);
  sl_sum32_add(&sums->of[PV_H_XZ], j, h_xz);
  sl_sum32_add(&sums->of[PV_H_YZ], j, h_yz);
  sl_sum32_add(&sums->of[PV_H_ZZ], j, fmaf(line->tx, h_xz, line->ty * h_yz));
  sl_sum32_add(&sums->of[PV_WEIGHT], j, weight);
  sl_sum32_add(&sums->of[PV_CHI2], j, weight * (is_used ? r->chi2 : 0.0f));
  sl_sum32_add(&sums->of[PV_NEAR_TRACKS], j, is_near ? 1.0f : 0.0f);
}

/* Adds the contributions of 32 tracks from `base` on at `place`. `others`: cached affinities on a CPU. */
static SL_DEVICE void pv_add_tracks(const struct pv_fit *a, const struct pv_tracks *t, const float *competition,
                                    const float *__restrict__ others, pv_index base, const struct pv_place *seed,
                                    const struct pv_place *place, float noise, struct pv_sums *sums) {
  SL_FOR_LANES32 (j) {
    const struct pv_line line = pv_line_of(t, base + j);
    const struct pv_residual r = pv_residual_of(&line, place);
    if (blockDim.x > 1 && !(r.chi2 < a->max_chi2)) continue; /* on a CPU all lanes run; such a track adds nothing */
    const float of_others =
        PV_OTHERS > 1 ? others[j] : competition[base + j] - pv_affinity(pv_residual_of(&line, seed).chi2);
    pv_add_track(a, &line, &r, of_others, noise, j, sums);
  }
}

/* GPU: the first tracks in range of each thread of a warp. CPU: sums of affinities to other seeds for tracks in range.
 */
struct pv_track_cache {
  float others_in_range[PV_OTHERS];
  float x[PV_CACHED][PV_CACHE_LANES], y[PV_CACHED][PV_CACHE_LANES], z[PV_CACHED][PV_CACHE_LANES];
  float tx[PV_CACHED][PV_CACHE_LANES], ty[PV_CACHED][PV_CACHE_LANES], wx[PV_CACHED][PV_CACHE_LANES],
      wy[PV_CACHED][PV_CACHE_LANES];
  float others[PV_CACHED][PV_CACHE_LANES];
};

/* Number of tracks that the thread caches, and index at which the other tracks begin. */
struct pv_own {
  uint32_t count, rest;
};

static SL_DEVICE struct pv_own pv_cache_tracks(const struct pv_fit *a, const struct pv_tracks *t,
                                               const float *competition, const struct pv_place *seed,
                                               const struct pv_range *range, struct pv_track_cache *cache) {
  const uint32_t lane = sl_group_lane(32);
  struct pv_own own = {0, range->begin};
  for (; own.rest < range->end; own.rest += 32) {
    const struct pv_line line = pv_line_of(t, (pv_index)own.rest + lane);
    if (!(pv_residual_of(&line, &range->at).chi2 <= pv_range_chi2(&line, a->max_chi2))) continue;
    if (own.count == PV_CACHED) break;
    cache->x[own.count][lane] = line.x;
    cache->y[own.count][lane] = line.y;
    cache->z[own.count][lane] = line.z;
    cache->tx[own.count][lane] = line.tx;
    cache->ty[own.count][lane] = line.ty;
    cache->wx[own.count][lane] = line.wx;
    cache->wy[own.count][lane] = line.wy;
    cache->others[own.count][lane] = competition[own.rest + lane] - pv_affinity(pv_residual_of(&line, seed).chi2);
    own.count++;
  }
  return own;
}

/* CPU: computes the affinities to other seeds of tracks from `begin` to before `end`. */
static SL_DEVICE void pv_cache_others(const struct pv_tracks *t, const float *__restrict__ competition,
                                      const struct pv_place *seed, pv_index begin, pv_index end,
                                      float *__restrict__ others) {
  for (pv_index i = begin; i < end; i++) {
    const struct pv_line line = pv_line_of(t, i);
    others[i - begin] = competition[i] - pv_affinity(pv_residual_of(&line, seed).chi2);
  }
}

static SL_DEVICE void pv_add_cached(const struct pv_fit *a, const struct pv_track_cache *cache, uint32_t count,
                                    const struct pv_place *place, float noise, struct pv_sums *sums) {
  const uint32_t lane = sl_group_lane(32);
  SL_ROLLED for (uint32_t k = 0; k < count; k++) {
    const struct pv_line line = {cache->x[k][lane],  cache->y[k][lane],  cache->z[k][lane], cache->tx[k][lane],
                                 cache->ty[k][lane], cache->wx[k][lane], cache->wy[k][lane]};
    const struct pv_residual r = pv_residual_of(&line, place);
    if (r.chi2 < a->max_chi2) pv_add_track(a, &line, &r, cache->others[k][lane], noise, lane, sums);
  }
}

static SL_DEVICE float pv_min_tracks(const struct pv_fit *a, float z) {
  return (float)(z < a->fixed_target_z ? a->min_tracks_fixed_target : a->min_tracks);
}

/* Makes a Newton step from the sums; returns 1 if another step must follow. A vertex without a covariance is rejected.
 */
static SL_DEVICE uint32_t pv_step(const struct pv_fit *a, struct pv_sums *s, float seed_z, struct pv_vertex *v) {
  float total[PV_SUMS];
  sl_group_sum32_totals(s->of, PV_SUMS, total);
  const float g_x = total[PV_G_X], g_y = total[PV_G_Y], g_z = -total[PV_G_Z];
  const float h_xx = total[PV_H_XX], h_yy = total[PV_H_YY], h_zz = total[PV_H_ZZ];
  const float h_xz = -total[PV_H_XZ], h_yz = -total[PV_H_YZ];
  const float chi2 = total[PV_CHI2], weight = total[PV_WEIGHT], tracks = total[PV_NEAR_TRACKS];
  const float minor_x = h_zz * h_yy - h_yz * h_yz, minor_y = h_zz * h_xx - h_xz * h_xz;
  const float determinant = h_xx * minor_x - h_xz * h_xz * h_yy;
  v->accepted = tracks >= pv_min_tracks(a, seed_z) && determinant > 0.0f && sl_is_finite(determinant) ? 1 : 0;
  if (!v->accepted) return 0;
  v->c_xx = minor_x / determinant;
  v->c_xy = h_xz * h_yz / determinant;
  v->c_yy = minor_y / determinant;
  v->c_xz = -h_xz * h_yy / determinant;
  v->c_yz = -h_yz * h_xx / determinant;
  v->c_zz = h_xx * h_yy / determinant;
  const float d_x = -(v->c_xx * g_x + v->c_xy * g_y + v->c_xz * g_z);
  const float d_y = -(v->c_xy * g_x + v->c_yy * g_y + v->c_yz * g_z);
  const float d_z = -(v->c_xz * g_x + v->c_yz * g_y + v->c_zz * g_z);
  v->at.x += d_x;
  v->at.y += d_y;
  v->at.z += d_z;
  v->chi2 = chi2 + (d_x * g_x + d_y * g_y + d_z * g_z);
  v->weight = weight;
  v->tracks = (uint32_t)tracks;
  return sl_abs_f32(d_z) < a->converged_dz ? 0 : 1;
}

static SL_DEVICE uint32_t pv_is_vertex(const struct pv_fit *a, const struct pv_vertex *v, const float *beam) {
  const float d_x = v->at.x - beam[0], d_y = v->at.y - beam[1];
  const uint32_t is_finite = sl_is_finite(v->at.z) & sl_is_finite(v->c_xx) & sl_is_finite(v->c_xy) &
                             sl_is_finite(v->c_yy) & sl_is_finite(v->c_xz) & sl_is_finite(v->c_yz) &
                             sl_is_finite(v->c_zz) & sl_is_finite(v->chi2) & sl_is_finite(v->weight);
  return v->accepted && is_finite && (float)v->tracks >= pv_min_tracks(a, v->at.z) &&
                 d_x * d_x + d_y * d_y < a->max_rho2
             ? 1
             : 0;
}

/* Fits a vertex to the event's tracks, starting at the seed; all groups of a warp must call it together. */
static SL_DEVICE struct pv_vertex pv_fit_seed(const struct pv_fit *a, const struct pv_tracks *t,
                                              const float *competition, uint32_t is_seed, struct pv_range range,
                                              const float *beam, struct pv_track_cache *cache) {
  const struct pv_place seed = range.at;
  const float noise = sl_expf(-0.5f * a->noise_chi2);
  struct pv_vertex v;
  memset(&v, 0, sizeof v);
  v.at = seed;
  uint32_t continues = is_seed;
  const uint32_t has_cache = blockDim.x > 1 && threadIdx.x < 32 * PV_CACHE_WARPS ? 1u : 0u;
  struct pv_own own = {0, range.begin};
  if (has_cache && is_seed) own = pv_cache_tracks(a, t, competition, &seed, &range, cache);
  uint32_t others_begin = 0, others_end = 0; /* CPU: range of tracks with cached affinities */
  for (uint32_t step = 0; step < a->max_iterations && sl_warp_any_needed(continues); step++) {
    struct pv_sums sums = pv_sums_zero();
    const uint32_t has_exited = continues && !pv_is_in_box(&v.at, &range.at) ? 1 : 0;
    if (sl_warp_any_needed(has_exited)) {
      const struct pv_range fresh = pv_range_of(t, &v.at, a->max_chi2);
      if (has_exited) { /* another seed of the warp retains its range */
        range = fresh;
        own.rest = range.begin;
        if (has_cache) own = pv_cache_tracks(a, t, competition, &seed, &range, cache);
      }
    }
    if (continues) pv_add_cached(a, cache, own.count, &v.at, noise, &sums);
    for (pv_index base = own.rest; continues && base < range.end; base += 32) {
      if (blockDim.x == 1 && !pv_some_are_near(t, base, &v.at, a->max_chi2)) continue;
      if (PV_OTHERS > 1 && (base < others_begin || base >= others_end)) {
        others_begin = (uint32_t)base;
        others_end = range.end - others_begin < PV_OTHERS ? range.end : others_begin + PV_OTHERS;
        pv_cache_others(t, competition, &seed, others_begin, others_end, cache->others_in_range);
      }
      pv_add_tracks(a, t, competition, cache->others_in_range + (base - others_begin), base, &seed, &v.at, noise,
                    &sums);
    }
    struct pv_vertex next = v;
    const uint32_t next_continues = pv_step(a, &sums, seed.z, &next);
    if (continues) v = next;
    continues &= next_continues;
  }
  v.accepted = pv_is_vertex(a, &v, beam);
  return v;
}

/* 1 if there is a vertex with more weight near this one. All accepted vertices count, even if they are rejected
 * here. */
static SL_DEVICE uint32_t pv_is_shadowed(const struct pv_vertex *vertices, uint32_t count, uint32_t own,
                                         float min_separation_chi2) {
  const struct pv_vertex *v = &vertices[own];
  uint32_t shadowed = 0;
  for (uint32_t i = 0; i < count; i++) {
    const struct pv_vertex *o = &vertices[i];
    const float dz = o->at.z - v->at.z;
    const uint32_t comes_first = o->at.z < v->at.z || (o->at.z == v->at.z && i < own);
    const uint32_t is_heavier = o->weight > v->weight || (o->weight == v->weight && comes_first);
    shadowed |= o->accepted && is_heavier && dz * dz / (o->c_zz + v->c_zz) < min_separation_chi2 ? 1u : 0u;
  }
  return shadowed;
}

/* Number of remaining vertices with smaller z. */
static SL_DEVICE uint32_t pv_vertex_rank(const struct pv_vertex *vertices, const uint32_t *stays, uint32_t count,
                                         uint32_t own) {
  uint32_t rank = 0;
  for (uint32_t i = 0; i < count; i++) {
    const float z = vertices[i].at.z, own_z = vertices[own].at.z;
    rank += stays[i] && (z < own_z || (z == own_z && i < own)) ? 1u : 0u;
  }
  return rank;
}

static SL_DEVICE void pv_store(const struct pv_fit *a, uint32_t event, uint32_t rank, const struct pv_vertex *v) {
  const float values[PV_VERTEX_VALUES] = {v->at.x, v->at.y, v->at.z, v->c_xx, v->c_xy,   v->c_yy,
                                          v->c_xz, v->c_yz, v->c_zz, v->chi2, v->weight, (float)v->tracks};
  for (uint32_t i = 0; i < PV_VERTEX_VALUES; i++)
    a->fitted[(PV_MAX_VERTICES * event + rank) * PV_VERTEX_VALUES + i] = values[i];
}

SL_KERNEL_ANY_BLOCK(pv_fit_vertices, struct pv_fit) {
  __shared__ struct pv_vertex vertices[PV_MAX_VERTICES];
  __shared__ uint32_t stays[PV_MAX_VERTICES];
  __shared__ struct pv_seed_ranges ranges;
  __shared__ struct pv_track_cache cache[PV_CACHE_WARPS];
  struct pv_track_cache *own_cache = &cache[threadIdx.x / 32 < PV_CACHE_WARPS ? threadIdx.x / 32 : 0];
  SL_FOR_EVENTS (event, a.events) {
    const struct pv_tracks t = pv_tracks_of(&a, event);
    const float *beam = a.geometry.beam, *seed_z = a.seed_z + PV_MAX_VERTICES * event;
    float *competition = a.competition + pv_first_track(&a, event);
    const uint32_t found = a.seed_count[event], seeds = found > PV_MAX_VERTICES ? 0 : found;
    for (uint32_t s = threadIdx.x; s < seeds; s += blockDim.x) {
      ranges.begin[s] = UINT32_MAX;
      ranges.end[s] = 0;
    }
    __syncthreads();
    pv_sum_affinities(&a, &t, seed_z, seeds, competition, &ranges);
    __syncthreads();
    SL_FOR_GROUPS (s, seeds, 32) {
      const uint32_t is_seed = s < seeds ? 1 : 0;
      struct pv_range range = {{beam[0], beam[1], 0.0f}, 0, 0};
      if (is_seed) {
        range.at.z = seed_z[s];
        range.begin = ranges.begin[s];
        range.end = ranges.end[s];
      }
      const struct pv_vertex v = pv_fit_seed(&a, &t, competition, is_seed, range, beam, own_cache);
      if (is_seed && sl_group_lane(32) == 0) vertices[s] = v;
    }
    __syncthreads();
    uint32_t count = 0;
    for (uint32_t s = threadIdx.x; s < seeds; s += blockDim.x) {
      stays[s] = vertices[s].accepted && !pv_is_shadowed(vertices, seeds, s, a.min_separation_chi2) ? 1 : 0;
      count += stays[s];
    }
    count = sl_block_sum_u32(count);
    for (uint32_t s = threadIdx.x; s < seeds; s += blockDim.x)
      if (stays[s]) pv_store(&a, event, pv_vertex_rank(vertices, stays, seeds, s), &vertices[s]);
    if (threadIdx.x == 0) a.vertices.offsets[event] = count;
    if (threadIdx.x == 0 && found > PV_MAX_VERTICES) sl_event_fail_limit(&a.events, event, &a.vertices.bound, found);
    __syncthreads(); /* the vertices are free for the next event */
  }
}

/* One thread per vertex. */
SL_KERNEL(pv_write_vertices, struct pv_fit) {
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t first = a.vertices.offsets[event], count = a.vertices.offsets[event + 1] - first;
    for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
      const float *from = a.fitted + (PV_MAX_VERTICES * event + i) * PV_VERTEX_VALUES;
      const uint32_t to = first + i;
      a.vertices.x[to] = from[0];
      a.vertices.y[to] = from[1];
      a.vertices.z[to] = from[2];
      a.vertices.c_xx[to] = from[3];
      a.vertices.c_xy[to] = from[4];
      a.vertices.c_yy[to] = from[5];
      a.vertices.c_xz[to] = from[6];
      a.vertices.c_yz[to] = from[7];
      a.vertices.c_zz[to] = from[8];
      a.vertices.chi2[to] = from[9];
      a.vertices.weight[to] = from[10];
      a.vertices.tracks[to] = (uint32_t)from[11];
    }
  }
}

static int pv_fit_launch(const struct sl_launch *l, const struct pv_fit *fit) {
  return SL_COUNT_SCAN_WRITE(l, pv_fit_vertices, pv_write_vertices, fit->vertices, *fit);
}

#endif
