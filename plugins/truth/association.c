/* association.c: see association.h. The map from ids to particles is a hash table with chains; an id may belong to
 * several particles. */
#include "association.h"

#include <stdlib.h>
#include <string.h>

static int compare_matches(const void *left, const void *right) {
  const struct match *a = (const struct match *)left, *b = (const struct match *)right;
  return a->particle < b->particle ? -1 : a->particle > b->particle;
}

void association_free(struct association *a) {
  free(a->ids);
  free(a->buckets);
  free(a->shared);
  free(a->shared_ut);
  free(a->tracks);
  free(a->matches);
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
  free(a->shared);
  free(a->shared_ut);
  free(a->tracks);
  free(a->matches);
  a->shared = (uint32_t *)calloc(count, sizeof *a->shared);
  a->shared_ut = (uint32_t *)calloc(count, sizeof *a->shared_ut);
  a->tracks = (uint32_t *)calloc(count, sizeof *a->tracks);
  a->matches = (struct match *)calloc(count, sizeof *a->matches);
  a->particle_capacity = a->shared && a->shared_ut && a->tracks && a->matches ? count : 0;
  return a->particle_capacity == count ? SL_OK : SL_ENOMEM;
}

static uint32_t *bucket_of(const struct association *a, uint32_t id) {
  return &a->buckets[id * 2654435761u >> (32 - a->bucket_bits)];
}

/* Adds an id of a particle, unless it has that id already. */
static void add_id(struct association *a, uint32_t id, uint32_t particle) {
  uint32_t *bucket = bucket_of(a, id);
  for (uint32_t at = *bucket; at; at = a->ids[at - 1].next)
    if (a->ids[at - 1].id == id && a->ids[at - 1].particle == particle) return;
  a->ids[a->id_count++] = (struct id_of_particle){id, particle, *bucket};
  *bucket = a->id_count;
}

int association_begin(struct association *a, const struct mc_event *mc, uint32_t id_mask) {
  a->id_count = a->match_count = 0;
  a->id_mask = id_mask;
  if (reserve_ids(a, mc->id_count > 0 ? mc->id_count : 1) || reserve_particles(a, mc->particle_count)) return SL_ENOMEM;
  memset(a->buckets, 0, sizeof a->buckets[0] << a->bucket_bits);
  if (mc->particle_count) memset(a->tracks, 0, mc->particle_count * sizeof a->tracks[0]);
  for (uint32_t particle = 0; particle < mc->particle_count; particle++) {
    const struct mc_hits *velo = &mc->particles[particle].velo, *ut = &mc->particles[particle].ut;
    for (uint32_t i = 0; i < velo->count; i++) add_id(a, mc->ids[velo->first + i] & id_mask, particle);
    for (uint32_t i = 0; i < ut->count; i++) add_id(a, mc->ids[ut->first + i] & id_mask, particle);
  }
  return SL_OK;
}

/* 70 %, compared in integers: as a ratio of floats, 7 of 10 hits can fall below. */
static int is_match(uint32_t shared_hits, uint32_t hit_count) {
  return hit_count <= 2 || 10ull * shared_hits >= 7ull * hit_count;
}

/* Counts the hits that the track shares with each particle into `shared`, and lists the particles that are not among
 * the `candidates` yet. Returns how many hits are of any. */
static uint32_t count_shared(struct association *a, const uint32_t *hit_ids, uint32_t hit_count, uint32_t *shared,
                             uint32_t *candidates) {
  uint32_t known = 0;
  for (uint32_t i = 0; i < hit_count; i++) {
    const uint32_t id = hit_ids[i] & a->id_mask;
    uint32_t is_known = 0;
    for (uint32_t at = *bucket_of(a, id); at; at = a->ids[at - 1].next) {
      const struct id_of_particle *entry = &a->ids[at - 1];
      if (entry->id != id) continue;
      is_known = 1;
      if (a->shared[entry->particle] + a->shared_ut[entry->particle] == 0)
        a->matches[(*candidates)++].particle = entry->particle;
      shared[entry->particle]++;
    }
    known += is_known;
  }
  return known;
}

void association_match_ut(struct association *a, const uint32_t *velo_ids, uint32_t velo_count, const uint32_t *ut_ids,
                          uint32_t ut_count) {
  uint32_t candidates = 0;
  a->known_hits = count_shared(a, velo_ids, velo_count, a->shared, &candidates);
  count_shared(a, ut_ids, ut_count, a->shared_ut, &candidates);
  a->match_count = 0;
  for (uint32_t i = 0; i < candidates; i++) {
    const uint32_t particle = a->matches[i].particle, shared = a->shared[particle], shared_ut = a->shared_ut[particle];
    a->shared[particle] = a->shared_ut[particle] = 0;
    if (!is_match(shared, velo_count) || shared_ut + 2 <= ut_count) continue;
    a->matches[a->match_count++] = (struct match){particle, shared, shared_ut};
    a->tracks[particle]++;
  }
  if (a->match_count > 1) qsort(a->matches, a->match_count, sizeof a->matches[0], compare_matches);
}

void association_match_velo(struct association *a, const uint32_t *hit_ids, uint32_t hit_count) {
  association_match_ut(a, hit_ids, hit_count, NULL, 0);
}
