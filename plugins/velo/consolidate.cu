/* consolidate.cu: VELO tracks with their hits, from those candidates that were accepted (spec velo_pv.md A.6).
 *
 * Counts tracks and hits, sums the hits, takes the tracks back where the hits don't fit, sums the tracks, copies. A
 * slice whose hits don't fit has no tracks either: nobody then follows hit offsets that were not written.
 *
 * Some 250 candidates an event with 6 hits each; reads and writes 16 bytes a hit. One thread a candidate lists its hits
 * in shared memory, then one thread a hit copies, so that what neighbours write lies side by side. The places of tracks
 * and of hits come from scans, so that the order of threads doesn't matter.
 */
#include "velo/event_model.h"

#include <sluice/kernel.h>

enum { LISTED_HITS = 2048 };

struct consolidate_args {
  struct sl_events events;
  struct velo_track_candidates_view candidates;
  struct velo_accepted_view accepted;
  struct velo_hits_view hits;
  struct velo_tracks tracks;
  uint32_t hits_per_event;
  uint32_t *hit_offsets; /* of each event */
};

struct consolidate_launch {
  struct consolidate_args a;
  uint32_t events_max;
};

static SL_DEVICE uint32_t is_accepted(const struct consolidate_args *a, uint32_t candidate) {
  return a->accepted.flag == NULL || a->accepted.flag[candidate] ? 1u : 0u;
}

/* Events that are not on the list have no hits. */
SL_KERNEL(consolidate_clear, struct consolidate_launch) {
  for (uint32_t event = blockIdx.x * blockDim.x + threadIdx.x; event < a.events_max; event += gridDim.x * blockDim.x)
    a.a.hit_offsets[event] = 0;
  if (blockIdx.x == 0 && threadIdx.x == 0) a.a.tracks.hit_offsets[0] = 0;
}

SL_KERNEL(consolidate_count, struct consolidate_args) {
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t end = a.candidates.offsets[event + 1];
    uint32_t tracks = 0, hits = 0;
    for (uint32_t i = a.candidates.offsets[event] + threadIdx.x; i < end; i += blockDim.x) {
      const uint32_t count = a.candidates.hit_count[i], wanted = is_accepted(&a, i);
      tracks += wanted;
      hits += wanted ? count : 0u;
    }
    tracks = sl_block_sum_u32(tracks);
    hits = sl_block_sum_u32(hits);
    if (threadIdx.x == 0) {
      a.tracks.offsets[event] = tracks;
      a.hit_offsets[event] = hits;
    }
  }
}

/* A thread an event. */
SL_KERNEL(consolidate_drop, struct consolidate_launch) {
  for (uint32_t event = blockIdx.x * blockDim.x + threadIdx.x; event < a.events_max; event += gridDim.x * blockDim.x)
    if (event < *a.a.events.count) {
      const uint32_t number = sl_event_at(&a.a.events, event);
      if (a.a.hit_offsets[number + 1] == a.a.hit_offsets[number]) a.a.tracks.offsets[number] = 0;
    }
}

/* Copies `count` hits, which `source` tells by their places in the event. */
static SL_DEVICE void copy_hits(const struct consolidate_args *a, const uint16_t *source, uint32_t first_hit,
                                uint32_t to, uint32_t count) {
  const uint32_t *id = a->hits.id + first_hit;
  const float *x = a->hits.x + first_hit, *y = a->hits.y + first_hit, *z = a->hits.z + first_hit;
  uint32_t *__restrict__ to_id = a->tracks.hit_id + to;
  float *__restrict__ to_x = a->tracks.hit_x + to, *__restrict__ to_y = a->tracks.hit_y + to;
  float *__restrict__ to_z = a->tracks.hit_z + to;
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
    const uint32_t hit = source[i];
    to_id[i] = id[hit];
    to_x[i] = x[hit];
    to_y[i] = y[hit];
    to_z[i] = z[hit];
  }
}

SL_KERNEL(consolidate_write, struct consolidate_args) {
  __shared__ uint16_t source[LISTED_HITS];
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t begin = a.candidates.offsets[event], first_track = a.tracks.offsets[event];
    const uint32_t candidates = a.tracks.offsets[event + 1] > first_track ? a.candidates.offsets[event + 1] - begin : 0;
    const uint32_t first_hit = a.hits.offsets[event];
    uint32_t tracks = 0, hits = a.hit_offsets[event];
    SL_FOR_BLOCK (i, candidates) {
      const uint32_t wanted = i < candidates ? is_accepted(&a, begin + i) : 0;
      const uint32_t count = wanted ? a.candidates.hit_count[begin + i] : 0;
      const uint32_t track = first_track + sl_block_append(wanted, &tracks);
      const uint16_t *candidate = a.candidates.hits + (size_t)VELO_MAX_HITS_PER_TRACK * (begin + i);
      uint32_t total;
      const uint32_t before = sl_block_exclusive_scan(count, &total);
      if (wanted) a.tracks.hit_offsets[track + 1] = hits + before + count;
      const uint16_t *places = blockDim.x > 1 ? source : candidate; /* a thread alone needs no list */
      for (uint32_t done = 0; done < total; done += LISTED_HITS) {  /* mostly once */
        for (uint32_t h = 0; blockDim.x > 1 && h < count; h++)
          if (before + h - done < LISTED_HITS) source[before + h - done] = candidate[h];
        __syncthreads();
        copy_hits(&a, places, first_hit, hits + done, total - done < LISTED_HITS ? total - done : LISTED_HITS);
        __syncthreads();
      }
      hits += total;
    }
  }
}

static int run(const struct sl_launch *l, const struct consolidate_args *a) {
  struct consolidate_launch launch;
  launch.a = *a;
  launch.events_max = l->events_max;
  int error = SL_LAUNCH(l, consolidate_clear, SL_PER_EVENT, launch);
  if (!error) error = SL_LAUNCH(l, consolidate_count, SL_PER_EVENT, *a);
  if (!error) error = l->scan(l, a->hit_offsets, &a->tracks.sub_bound);
  if (!error) error = SL_LAUNCH(l, consolidate_drop, SL_PER_EVENT, launch);
  if (!error) error = l->scan(l, a->tracks.offsets, &a->tracks.bound);
  if (!error) error = SL_LAUNCH(l, consolidate_write, SL_PER_EVENT, *a);
  return error;
}

#define SL_ARGS consolidate_args
static const struct sl_member consolidate_members[] = {
    SL_EVENTS(),
    SL_IN(candidates, velo_track_candidates, "", "from the search"),
    SL_OPTIONAL_IN(accepted, velo_accepted, "flag", "which candidates are tracks; all, if not connected"),
    SL_IN(hits, velo_hits, "offsets id x y z", "the hits that were searched"),
    SL_OUT(tracks, velo_tracks, "in the order of the candidates", SL_ITEMS(SL_ONE(SL_ITEMS_TERM(candidates))),
           SL_SUBITEMS(SL_MIN(SL_ITEMS_SCALED(candidates, VELO_MAX_HITS_PER_TRACK, 1, 0),
                              SL_BUDGET_TERM(hits_per_event, 65536)))),
    SL_BUDGET(hits_per_event, 3000, 1, 1000000, "hits on tracks"),
    SL_SCRATCH(hit_offsets, u32, "first hit on a track of each event", SL_ONE(SL_EVENTS_TERM(1, 1))),
};
SL_ALGORITHM(consolidate, "VELO tracks with their hits, from candidates", 256, run);
