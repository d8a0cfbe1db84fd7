/* truth.match_velo: for each VELO track, the true particle that has most of its hits.
 *
 * A track matches a particle that has 70 % of its hits or more, as truth.velo_check has it (README.md, "What matches");
 * of several the one with most of them, and of those with as many the first.
 *
 * One kernel, a block an event. A table of the particles' hits, by a hash of their ids, is made in three steps: counts
 * by hash, a scan, entries in their places. Then a thread a track counts, for each particle that has one of its hits,
 * how many of them it has. The order of entries of one hash is left to chance; what is counted does not depend on it.
 *
 * Work: the hits of particles twice; for each track its hits squared times the length of a hash's list, few.
 */
#include "truth/event_model.h"
#include "truth/slopes.h"
#include "velo/event_model.h"

#include <sluice/kernel.h>

enum { HASH_BITS = 10, HASHES = 1 << HASH_BITS, FEW_HITS = 2 /* that prove nothing */ };

#define SL_ARGS match_velo_args
#define MATCH_VELO(M)                                                                                               \
  M(IN, tracks, velo_tracks, "offsets hit_offsets hit_id", "any order")                                             \
  M(IN, particles, truth_particles, "state offsets pdg p pt eta phi x y z flags velo_offsets velo_id", "any order") \
  M(OUT, matches, truth_matches, "one per track", SL_SHARES_OFFSETS(tracks))                                        \
  M(SCRATCH, entry_ids, u32, "ids of the particles' hits, by hash", SL_ONE(SL_SUBITEMS_TERM(particles)))            \
  M(SCRATCH, entry_particles, u32, "whose they are", SL_ONE(SL_SUBITEMS_TERM(particles)))                           \
  M(BOOL, mask_fraction_bits, 0, "compare ids without bits 26 and 27; for tracks from super-pixels")
SL_ARGUMENTS(match_velo, MATCH_VELO);

/* The hits of an event's particles: entries of hash h are from ends[h - 1] on, or 0, to ends[h]. */
struct table {
  const uint32_t *ids, *particles, *ends;
  uint32_t id_mask;
};

static SL_DEVICE uint32_t hash_of(uint32_t id) { return id * 2654435761u >> (32 - HASH_BITS); }
static SL_DEVICE uint32_t mask_of(const struct match_velo_args *a) { return a->mask_fraction_bits ? ~(3u << 26) : ~0u; }
static SL_DEVICE uint32_t begin_of(const struct table *t, uint32_t hash) { return hash ? t->ends[hash - 1] : 0; }

static SL_DEVICE uint32_t has_hit(const struct table *t, uint32_t particle, uint32_t id) {
  const uint32_t hash = hash_of(id);
  for (uint32_t at = begin_of(t, hash); at < t->ends[hash]; at++)
    if (t->ids[at] == id && t->particles[at] == particle) return 1;
  return 0;
}

static SL_DEVICE uint32_t shared_hits(const struct table *t, uint32_t particle, const uint32_t *ids, uint32_t count) {
  uint32_t shared = 0;
  for (uint32_t i = 0; i < count; i++) shared += has_hit(t, particle, ids[i] & t->id_mask);
  return shared;
}

/* The particle with most of the hits; of none any number. */
static SL_DEVICE uint32_t best_particle(const struct table *t, const uint32_t *ids, uint32_t count, uint32_t *shared) {
  uint32_t best = 0;
  *shared = 0;
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t id = ids[i] & t->id_mask, hash = hash_of(id);
    for (uint32_t at = begin_of(t, hash); at < t->ends[hash]; at++) {
      if (t->ids[at] != id) continue;
      const uint32_t particle = t->particles[at], own = shared_hits(t, particle, ids, count);
      if (own < *shared || (own == *shared && particle >= best)) continue;
      best = particle;
      *shared = own;
    }
  }
  return best;
}

/* All threads of the block come here. `ends` has room for a number of each hash. */
static SL_DEVICE void make_table(const struct match_velo_args *a, uint32_t event, uint32_t *ends) {
  const uint32_t begin = a->particles.offsets[event], end = a->particles.offsets[event + 1];
  const uint32_t *hits = a->particles.velo_offsets, mask = mask_of(a), first = hits[begin];
  for (uint32_t h = threadIdx.x; h < HASHES; h += blockDim.x) ends[h] = 0;
  __syncthreads();
  for (uint32_t i = first + threadIdx.x; i < hits[end]; i += blockDim.x)
    atomicAdd(&ends[hash_of(a->particles.velo_id[i] & mask)], 1u);
  __syncthreads();
  uint32_t before = 0;
  SL_FOR_BLOCK (h, HASHES) {
    const uint32_t count = h < HASHES ? ends[h] : 0;
    uint32_t total;
    const uint32_t place = before + sl_block_exclusive_scan(count, &total);
    if (h < HASHES) ends[h] = place;
    before += total;
  }
  __syncthreads();
  for (uint32_t p = begin + threadIdx.x; p < end; p += blockDim.x)
    for (uint32_t i = hits[p]; i < hits[p + 1]; i++) {
      const uint32_t id = a->particles.velo_id[i] & mask, place = first + atomicAdd(&ends[hash_of(id)], 1u);
      a->entry_ids[place] = id;
      a->entry_particles[place] = p - begin;
    }
  __syncthreads();
}

/* What is said of a track with no particle: zeros, but for its hits. */
static SL_DEVICE void write_none(const struct truth_matches *to, uint32_t track, int32_t why) {
  to->particle[track] = why;
  to->pdg[track] = 0;
  to->flags[track] = 0;
  to->p[track] = to->pt[track] = to->eta[track] = to->phi[track] = to->tx[track] = to->ty[track] = 0;
  to->x[track] = to->y[track] = to->z[track] = 0;
}

/* `i`: the particle in the slice, `index` in the event. */
static SL_DEVICE void write_match(const struct truth_matches *to, uint32_t track,
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

static SL_DEVICE void match_track(const struct match_velo_args *a, const struct table *t, uint32_t event,
                                  uint32_t track) {
  const uint32_t first = a->tracks.hit_offsets[track], count = a->tracks.hit_offsets[track + 1] - first;
  uint32_t shared;
  const uint32_t best = best_particle(t, a->tracks.hit_id + first, count, &shared);
  const uint32_t is_most = shared > 0 && (count <= FEW_HITS || 10ull * shared >= 7ull * count);
  a->matches.hits[track] = count;
  a->matches.shared[track] = shared;
  a->matches.purity[track] = count > 0 ? (float)shared / (float)count : 0.0f;
  if (is_most)
    write_match(&a->matches, track, &a->particles, a->particles.offsets[event] + best, best);
  else
    write_none(&a->matches, track, a->particles.state[event] == TRUTH_READ ? TRUTH_GHOST : TRUTH_UNKNOWN);
}

SL_KERNEL(match_tracks, struct match_velo_args) {
  __shared__ uint32_t ends[HASHES];
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t first = a.particles.velo_offsets[a.particles.offsets[event]];
    make_table(&a, event, ends);
    struct table t;
    t.ids = a.entry_ids + first;
    t.particles = a.entry_particles + first;
    t.ends = ends;
    t.id_mask = mask_of(&a);
    for (uint32_t i = a.tracks.offsets[event] + threadIdx.x; i < a.tracks.offsets[event + 1]; i += blockDim.x)
      match_track(&a, &t, event, i);
    __syncthreads(); /* before the next event's table */
  }
}

static int run(const struct sl_launch *l, const struct match_velo_args *a) {
  return SL_LAUNCH(l, match_tracks, SL_PER_EVENT, *a);
}

SL_ALGORITHM(match_velo, "which true particles VELO tracks match", 128, run);
