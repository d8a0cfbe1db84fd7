/* association.c: see association.h. The map from ids to particles is a hash table with chains, since an id may
 * belong to several particles. */
#include "association.h"

#include <stdlib.h>
#include <string.h>

static int compare_matches(const void *left, const void *right) {
  const struct match *a = (const struct match *)left, *b = (const struct match *)right;
  return a->particle < b->particle ? -1 : a->particle > b->particle;
}

static void free_particles(struct association *a) {
  free(a->shared);
  free(a->tracks);
  free(a->candidates);
  free(a->matches);
}

void association_free(struct association *a) {
  free(a->ids);
  free(a->buckets);
  free_particles(a);
  *a = (struct association){0};
}

static int reserve_ids(struct association *a, uint32_t count) {
  if (count <= a->id_capacity) return SL_OK;
  uint32_t bits = 10;
  while (bits < 31 && 1u << bits < count) bits++;
  const size_t capacity = (size_t)1 << bits;
  free(a->ids);
  free(a->buckets);
  a->ids = (struct id_of_particle *)calloc(capacity, sizeof *a->ids);
  a->buckets = (uint32_t *)malloc(capacity * sizeof *a->buckets);
  a->bucket_bits = bits;
  a->id_capacity = a->ids && a->buckets ? (uint32_t)capacity : 0;
  return a->id_capacity >= count ? SL_OK : SL_ENOMEM;
}

static int reserve_particles(struct association *a, uint32_t count) {
  if (count <= a->particle_capacity) return SL_OK;
  free_particles(a);
  a->shared = (struct hit_counts *)calloc(count, sizeof *a->shared);
  a->tracks = (uint32_t *)calloc(count, sizeof *a->tracks);
  a->candidates = (uint32_t *)calloc(count, sizeof *a->candidates);
  a->matches = (struct match *)calloc(count, sizeof *a->matches);
  a->particle_capacity = a->shared && a->tracks && a->candidates && a->matches ? count : 0;
  return a->particle_capacity == count ? SL_OK : SL_ENOMEM;
}

static uint32_t *bucket_of(const struct association *a, uint32_t id) {
  return &a->buckets[id * 2654435761u >> (32 - a->bucket_bits)];
}

/* Adds an id to a particle unless the particle has it. */
static void add_id(struct association *a, uint32_t id, uint32_t particle) {
  uint32_t *bucket = bucket_of(a, id);
  for (uint32_t at = *bucket; at; at = a->ids[at - 1].next)
    if (a->ids[at - 1].id == id && a->ids[at - 1].particle == particle) return;
  a->ids[a->id_count++] = (struct id_of_particle){id, particle, *bucket};
  *bucket = a->id_count;
}

int association_begin(struct association *a, const struct mc_event *mc, uint32_t id_mask, uint32_t last_detector) {
  a->id_count = a->match_count = 0;
  a->id_mask = id_mask;
  a->mc = mc;
  if (reserve_ids(a, mc->id_count > 0 ? mc->id_count : 1) || reserve_particles(a, mc->particle_count)) return SL_ENOMEM;
  memset(a->buckets, 0, sizeof a->buckets[0] << a->bucket_bits);
  if (mc->particle_count) memset(a->tracks, 0, mc->particle_count * sizeof a->tracks[0]);
  for (uint32_t particle = 0; particle < mc->particle_count; particle++) {
    for (uint32_t detector = 0; detector <= last_detector; detector++) {
      const struct mc_hits *hits = mc_hits_in(&mc->particles[particle], detector);
      for (uint32_t i = 0; i < hits->count; i++) add_id(a, mc->ids[hits->first + i] & id_mask, particle);
    }
  }
  return SL_OK;
}

static int is_candidate(const struct hit_counts *shared) {
  return shared->in[MC_VELO] + shared->in[MC_UT] + shared->in[MC_SCIFI] > 0;
}

/* Counts the hits that the track shares with each particle, and lists these particles as candidates. */
static void count_shared(struct association *a, const struct hit_ids *hits, uint32_t detector) {
  for (uint32_t i = 0; i < hits->count; i++) {
    const uint32_t id = hits->ids[i] & a->id_mask;
    uint32_t is_known = 0;
    for (uint32_t at = *bucket_of(a, id); at; at = a->ids[at - 1].next) {
      const struct id_of_particle *entry = &a->ids[at - 1];
      if (entry->id != id) continue;
      struct hit_counts *shared = &a->shared[entry->particle];
      if (!is_candidate(shared)) a->candidates[a->candidate_count++] = entry->particle;
      shared->in[detector]++;
      is_known = 1;
    }
    a->known.in[detector] += is_known;
  }
}

/* Does the track continue a particle's VELO hits with SciFi hits of its daughter? */
static int continues(const struct association *a, uint32_t mother, uint32_t daughter) {
  const struct mc_particle *m = &a->mc->particles[mother], *d = &a->mc->particles[daughter];
  return mother != daughter && d->mother_key == m->key && a->shared[mother].in[MC_VELO] > 0 &&
         a->shared[daughter].in[MC_SCIFI] > 0;
}

/* Hits of the track that belong to the particle, or to its mother or daughters that the track continues. */
static struct hit_counts shared_with_family(const struct association *a, uint32_t particle,
                                            const struct track_hits *t) {
  struct hit_counts sums = a->shared[particle];
  for (uint32_t i = 0; i < a->candidate_count; i++) {
    const uint32_t relative = a->candidates[i];
    if (!continues(a, particle, relative) && !continues(a, relative, particle)) continue;
    for (uint32_t detector = 0; detector < MC_DETECTORS; detector++)
      sums.in[detector] += a->shared[relative].in[detector];
  }
  for (uint32_t detector = 0; detector < MC_DETECTORS; detector++)
    if (sums.in[detector] > t->in[detector].count) sums.in[detector] = t->in[detector].count;
  return sums;
}

enum { FEW_HITS = 2, FOREIGN_UT_HITS = 1 }; /* no requirement up to this number; UT hits that may belong to others */

/* At least 70 %, in integers: as a ratio of floats, 7 of 10 hits may fall below. */
static int has_most_hits(uint32_t shared, uint32_t count) {
  return count <= FEW_HITS || 10ull * shared >= 7ull * count;
}

void association_match(struct association *a, const struct track_hits *t) {
  const uint32_t velo = t->in[MC_VELO].count, ut = t->in[MC_UT].count, scifi = t->in[MC_SCIFI].count;
  const int is_long = velo > FEW_HITS && scifi > FEW_HITS;
  a->match_count = a->candidate_count = 0;
  a->known = (struct hit_counts){{0, 0, 0}};
  for (uint32_t detector = 0; detector < MC_DETECTORS; detector++) count_shared(a, &t->in[detector], detector);
  for (uint32_t i = 0; i < a->candidate_count; i++) {
    const uint32_t particle = a->candidates[i];
    const struct hit_counts sums = is_long ? shared_with_family(a, particle, t) : a->shared[particle];
    if (!has_most_hits(sums.in[MC_VELO], velo) || !has_most_hits(sums.in[MC_SCIFI], scifi)) continue;
    if (!is_long && sums.in[MC_UT] + FOREIGN_UT_HITS < ut) continue;
    a->matches[a->match_count++] = (struct match){particle, a->shared[particle]};
    a->tracks[particle]++;
  }
  for (uint32_t i = 0; i < a->candidate_count; i++) a->shared[a->candidates[i]] = (struct hit_counts){{0, 0, 0}};
  if (a->match_count > 1) qsort(a->matches, a->match_count, sizeof a->matches[0], compare_matches);
}

void association_match_velo(struct association *a, const uint32_t *hit_ids, uint32_t hit_count) {
  const struct track_hits track = {.in = {[MC_VELO] = {hit_ids, hit_count}}};
  association_match(a, &track);
}
