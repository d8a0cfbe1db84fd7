/* match.h: common part of the kernels match_*.cu: finds the true particle that each track matches (README.md,
 * "Matching"). One block per event:
 *   1. Build a hash table of the particles' hit ids: count per hash, exclusive scan, insert the entries.
 *   2. One thread per track: count the shared hits of each particle that has a hit of the track.
 *   3. If several particles match, select the one with the most hits in the track's first detector; ties: lower index.
 * Determinism: the order of entries in a hash list is arbitrary, but the counts do not depend on it.
 * Cost: two passes over the hits of particles; per track, (number of hits)^2 times the length of a hash list.
 * association.c is the host version, track by track. */
#ifndef TRUTH_MATCH_H
#define TRUTH_MATCH_H

#include "truth/event_model.h"
#include "truth/slopes.h"

#include <sluice/kernel.h>

enum {
  MATCH_HASH_BITS = 11,
  MATCH_HASHES = 1 << MATCH_HASH_BITS,
  MATCH_FEW_HITS = 2, /* no requirement up to this number of hits */
  MATCH_FOREIGN_UT_HITS = 1
};

/* Ports of each algorithm in addition to its tracks. */
#define MATCH_PORTS(M)                                                                                          \
  M(IN, particles, truth_particles,                                                                             \
    "state offsets key pdg p pt eta phi x y z flags mother_key hit_count hit_offsets hit_id", "true particles") \
  M(OUT, matches, truth_matches, "match per track", SL_SHARES_OFFSETS(tracks))                                  \
  M(SCRATCH, entry_ids, u32, "hit ids of the particles, grouped by hash", SL_ONE(SL_SUBITEMS_TERM(particles)))  \
  M(SCRATCH, entry_particles, u32, "particle per entry of entry_ids", SL_ONE(SL_SUBITEMS_TERM(particles)))
#define MATCH_MASK(M) M(BOOL, mask_fraction_bits, 0, "compare ids without bits 26 and 27; for tracks from super-pixels")

/* Hits of an event's particles: entries of hash h are in [ends[h - 1], ends[h]), where ends[-1] is 0. */
struct match_table {
  const struct truth_particles_view *particles;
  uint32_t *ids, *particle_of;         /* entries: id, and index of the particle in the event */
  uint32_t *ends;                      /* MATCH_HASHES values */
  uint32_t event, first;               /* first particle of the event in the slice */
  uint32_t from_detector, to_detector; /* range of detectors that are compared */
  uint32_t id_mask;                    /* bits of the ids that are compared */
};

/* Hits of a track per detector, and numbers of hits per detector. */
struct match_hits {
  const uint32_t *ids[TRUTH_DETECTORS];
  uint32_t count[TRUTH_DETECTORS];
};
struct match_counts {
  uint32_t in[TRUTH_DETECTORS];
};

/* --------------------------------------------------------------------------------------------------- the table */

static SL_DEVICE uint32_t match_hash(uint32_t id) { return id * 2654435761u >> (32 - MATCH_HASH_BITS); }
static SL_DEVICE uint32_t match_begin(const struct match_table *t, uint32_t hash) {
  return hash ? t->ends[hash - 1] : 0;
}

/* Range of hits of a particle that are compared. */
static SL_DEVICE void match_range(const struct match_table *t, uint32_t particle, uint32_t *begin, uint32_t *end) {
  *begin = t->particles->hit_offsets[particle];
  for (uint32_t d = 0; d < t->from_detector; d++) *begin += t->particles->hit_count[TRUTH_DETECTORS * particle + d];
  *end = *begin;
  for (uint32_t d = t->from_detector; d <= t->to_detector; d++)
    *end += t->particles->hit_count[TRUTH_DETECTORS * particle + d];
}

static SL_DEVICE void match_count_hashes(const struct match_table *t, uint32_t end) {
  for (uint32_t h = threadIdx.x; h < MATCH_HASHES; h += blockDim.x) t->ends[h] = 0;
  __syncthreads();
  for (uint32_t p = t->first + threadIdx.x; p < end; p += blockDim.x) {
    uint32_t i, last;
    for (match_range(t, p, &i, &last); i < last; i++)
      atomicAdd(&t->ends[match_hash(t->particles->hit_id[i] & t->id_mask)], 1u);
  }
  __syncthreads();
}

static SL_DEVICE void match_add_hits(const struct match_table *t, uint32_t end) {
  for (uint32_t p = t->first + threadIdx.x; p < end; p += blockDim.x) {
    uint32_t i, last;
    for (match_range(t, p, &i, &last); i < last; i++) {
      const uint32_t id = t->particles->hit_id[i] & t->id_mask, index = atomicAdd(&t->ends[match_hash(id)], 1u);
      t->ids[index] = id;
      t->particle_of[index] = p - t->first;
    }
  }
  __syncthreads();
}

/* Builds the table of an event, with the hits of a range of detectors. Must be called by all threads of the block.
 * The entry arrays are those of the slice; `ends` is in the block's shared memory. */
static SL_DEVICE struct match_table match_table(const struct truth_particles_view *particles, uint32_t event,
                                                uint32_t from_detector, uint32_t to_detector, uint32_t mask_fraction,
                                                uint32_t *entry_ids, uint32_t *entry_particles, uint32_t *ends) {
  struct match_table t;
  t.particles = particles;
  t.event = event;
  t.first = particles->offsets[event];
  t.ids = entry_ids + particles->hit_offsets[t.first];
  t.particle_of = entry_particles + particles->hit_offsets[t.first];
  t.ends = ends;
  t.from_detector = from_detector;
  t.to_detector = to_detector;
  t.id_mask = mask_fraction ? ~(3u << 26) : ~0u;
  match_count_hashes(&t, particles->offsets[event + 1]);
  uint32_t before = 0;
  SL_FOR_BLOCK (h, MATCH_HASHES) {
    const uint32_t count = h < MATCH_HASHES ? ends[h] : 0;
    uint32_t total;
    const uint32_t index = before + sl_block_exclusive_scan(count, &total);
    if (h < MATCH_HASHES) ends[h] = index;
    before += total;
  }
  __syncthreads();
  match_add_hits(&t, particles->offsets[event + 1]);
  return t;
}

static SL_DEVICE uint32_t match_has_hit(const struct match_table *t, uint32_t particle, uint32_t id) {
  const uint32_t hash = match_hash(id);
  for (uint32_t at = match_begin(t, hash); at < t->ends[hash]; at++)
    if (t->ids[at] == id && t->particle_of[at] == particle) return 1;
  return 0;
}

/* --------------------------------------------------------------------------------------- one track and a particle */

static SL_DEVICE struct match_counts match_shared(const struct match_table *t, uint32_t particle,
                                                  const struct match_hits *hits) {
  struct match_counts shared;
  for (uint32_t d = 0; d < TRUTH_DETECTORS; d++) {
    shared.in[d] = 0;
    for (uint32_t i = 0; i < hits->count[d]; i++)
      shared.in[d] += match_has_hit(t, particle, hits->ids[d][i] & t->id_mask);
  }
  return shared;
}

/* Iterates over the particles that have a hit of a track, without repetitions. */
struct match_cursor {
  uint32_t detector, hit, entry; /* next position; zeros: begin */
};
#define MATCH_END UINT32_MAX

/* Was the particle of entry `at` returned before? It was if it has an earlier hit of the track, or an earlier entry
 * with this id. */
static SL_DEVICE uint32_t match_is_repeated(const struct match_table *t, const struct match_hits *hits,
                                            const struct match_cursor *c, uint32_t at) {
  const uint32_t particle = t->particle_of[at];
  for (uint32_t d = 0; d <= c->detector; d++)
    for (uint32_t i = 0; i < (d < c->detector ? hits->count[d] : c->hit); i++)
      if (match_has_hit(t, particle, hits->ids[d][i] & t->id_mask)) return 1;
  for (uint32_t k = match_begin(t, match_hash(t->ids[at])); k < at; k++)
    if (t->ids[k] == t->ids[at] && t->particle_of[k] == particle) return 1;
  return 0;
}

/* Returns the next particle (index in the event), or MATCH_END. */
static SL_DEVICE uint32_t match_next(const struct match_table *t, const struct match_hits *hits,
                                     struct match_cursor *c) {
  for (; c->detector < TRUTH_DETECTORS; c->detector++, c->hit = 0)
    for (; c->hit < hits->count[c->detector]; c->hit++, c->entry = 0) {
      const uint32_t id = hits->ids[c->detector][c->hit] & t->id_mask, hash = match_hash(id);
      for (uint32_t at = match_begin(t, hash) + c->entry; at < t->ends[hash]; at++) {
        c->entry++;
        if (t->ids[at] == id && !match_is_repeated(t, hits, c, at)) return t->particle_of[at];
      }
    }
  return MATCH_END;
}

/* Does the track continue a particle's VELO hits with SciFi hits of its daughter? */
static SL_DEVICE uint32_t match_continues(const struct match_table *t, uint32_t mother,
                                          const struct match_counts *of_mother, uint32_t daughter,
                                          const struct match_counts *of_daughter) {
  const struct truth_particles_view *p = t->particles;
  return (uint32_t)(p->mother_key[t->first + daughter] == p->key[t->first + mother] && of_mother->in[TRUTH_VELO] > 0 &&
                    of_daughter->in[TRUTH_SCIFI] > 0);
}

/* Hits of the track that belong to the particle, or to its mother or daughters that the track continues. */
static SL_DEVICE struct match_counts match_with_family(const struct match_table *t, uint32_t particle,
                                                       const struct match_counts *own, const struct match_hits *hits) {
  struct match_counts sums = *own;
  struct match_cursor c = {0, 0, 0};
  for (uint32_t relative = match_next(t, hits, &c); relative != MATCH_END; relative = match_next(t, hits, &c)) {
    if (relative == particle) continue;
    const struct match_counts relative_counts = match_shared(t, relative, hits);
    if (!match_continues(t, particle, own, relative, &relative_counts) &&
        !match_continues(t, relative, &relative_counts, particle, own))
      continue;
    for (uint32_t d = 0; d < TRUTH_DETECTORS; d++) sums.in[d] += relative_counts.in[d];
  }
  for (uint32_t d = 0; d < TRUTH_DETECTORS; d++)
    if (sums.in[d] > hits->count[d]) sums.in[d] = hits->count[d];
  return sums;
}

static SL_DEVICE uint32_t match_has_most_hits(uint32_t shared, uint32_t count) {
  return (uint32_t)(count <= MATCH_FEW_HITS || 10ull * shared >= 7ull * count);
}

static SL_DEVICE uint32_t match_accepts(const struct match_table *t, uint32_t particle, const struct match_counts *own,
                                        const struct match_hits *hits) {
  const uint32_t velo = hits->count[TRUTH_VELO], scifi = hits->count[TRUTH_SCIFI];
  const uint32_t is_long = (uint32_t)(velo > MATCH_FEW_HITS && scifi > MATCH_FEW_HITS);
  const struct match_counts sums = is_long ? match_with_family(t, particle, own, hits) : *own;
  if (!match_has_most_hits(sums.in[TRUTH_VELO], velo) || !match_has_most_hits(sums.in[TRUTH_SCIFI], scifi)) return 0;
  return (uint32_t)(is_long || sums.in[TRUTH_UT] + MATCH_FOREIGN_UT_HITS >= hits->count[TRUTH_UT]);
}

/* ------------------------------------------------------------------------------------------------- all of a track */

/* Writes zeros for a track without a particle, except for its numbers of hits. */
static SL_DEVICE void match_write_none(const struct truth_matches *to, uint32_t track, int32_t why) {
  to->particle[track] = why;
  to->pdg[track] = 0;
  to->flags[track] = 0;
  to->p[track] = to->pt[track] = to->eta[track] = to->phi[track] = to->tx[track] = to->ty[track] = 0;
  to->x[track] = to->y[track] = to->z[track] = 0;
}

/* `i`: index of the particle in the slice; `index`: in the event. */
static SL_DEVICE void match_write_particle(const struct truth_matches *to, uint32_t track,
                                           const struct truth_particles_view *from, uint32_t i, uint32_t index) {
  float tx, ty;
  truth_slopes(from->eta[i], from->phi[i], &tx, &ty);
  to->particle[track] = (int32_t)index;
  to->pdg[track] = from->pdg[i];
  to->flags[track] = from->flags[i];
  to->p[track] = from->p[i];
  to->pt[track] = from->pt[i];
  to->eta[track] = from->eta[i];
  to->phi[track] = from->phi[i];
  to->tx[track] = tx;
  to->ty[track] = ty;
  to->x[track] = from->x[i];
  to->y[track] = from->y[i];
  to->z[track] = from->z[i];
}

static SL_DEVICE uint32_t match_first_detector(const struct match_hits *hits) {
  uint32_t d = 0;
  while (d + 1 < TRUTH_DETECTORS && hits->count[d] == 0) d++;
  return d;
}

/* Finds the particle of a track of the slice and writes the match. */
static SL_DEVICE void match_track(const struct match_table *t, const struct match_hits *hits,
                                  const struct truth_matches *to, uint32_t track) {
  const uint32_t count = hits->count[TRUTH_VELO] + hits->count[TRUTH_UT] + hits->count[TRUTH_SCIFI];
  const uint32_t first_detector = match_first_detector(hits);
  uint32_t best = MATCH_END, best_first_shared = 0, best_shared = 0, most_shared = 0;
  struct match_cursor c = {0, 0, 0};
  for (uint32_t particle = match_next(t, hits, &c); particle != MATCH_END; particle = match_next(t, hits, &c)) {
    const struct match_counts own = match_shared(t, particle, hits);
    const uint32_t first_shared = own.in[first_detector],
                   shared = own.in[TRUTH_VELO] + own.in[TRUTH_UT] + own.in[TRUTH_SCIFI];
    if (shared > most_shared) most_shared = shared;
    if (!match_accepts(t, particle, &own, hits)) continue;
    if (best != MATCH_END &&
        (first_shared < best_first_shared || (first_shared == best_first_shared && particle > best)))
      continue;
    best = particle;
    best_first_shared = first_shared;
    best_shared = shared;
  }
  const uint32_t shared = best == MATCH_END ? most_shared : best_shared;
  to->hits[track] = count;
  to->shared[track] = shared;
  to->purity[track] = count > 0 ? (float)shared / (float)count : 0.0f;
  if (best != MATCH_END)
    match_write_particle(to, track, t->particles, t->first + best, best);
  else
    match_write_none(to, track, t->particles->state[t->event] == TRUTH_READ ? TRUTH_GHOST : TRUTH_UNKNOWN);
}

/* Sets the ids of an item's hits. */
static SL_DEVICE void match_set_hits(struct match_hits *to, uint32_t detector, const uint32_t *hit_offsets,
                                     const uint32_t *hit_id, uint32_t item) {
  to->ids[detector] = hit_id + hit_offsets[item];
  to->count[detector] = hit_offsets[item + 1] - hit_offsets[item];
}
static SL_DEVICE struct match_hits match_no_hits(void) {
  struct match_hits none;
  for (uint32_t d = 0; d < TRUTH_DETECTORS; d++) {
    none.ids[d] = 0;
    none.count[d] = 0;
  }
  return none;
}

/* Defines the kernel, `run` and the algorithm for a file that defines hits_of(), the hits of a track. Compares the
 * detectors from FIRST to LAST; MASK is the property of MATCH_MASK, or 0. */
#define MATCH_ALGORITHM(NAME, FIRST, LAST, MASK, DOC)                                                              \
  SL_KERNEL(NAME##_tracks, struct NAME##_args) {                                                                   \
    __shared__ uint32_t ends[MATCH_HASHES];                                                                        \
    SL_FOR_EVENTS (event, a.events) {                                                                              \
      const struct match_table t =                                                                                 \
          match_table(&a.particles, event, FIRST, LAST, MASK, a.entry_ids, a.entry_particles, ends);               \
      for (uint32_t i = a.tracks.offsets[event] + threadIdx.x; i < a.tracks.offsets[event + 1]; i += blockDim.x) { \
        const struct match_hits hits = hits_of(&a, event, i);                                                      \
        match_track(&t, &hits, &a.matches, i);                                                                     \
      }                                                                                                            \
      __syncthreads(); /* before `ends` is reused */                                                               \
    }                                                                                                              \
  }                                                                                                                \
  static int run(const struct sl_launch *l, const struct NAME##_args *a) {                                         \
    return SL_LAUNCH(l, NAME##_tracks, SL_PER_EVENT, *a);                                                          \
  }                                                                                                                \
  SL_ALGORITHM(NAME, DOC, 128, run)

#endif
