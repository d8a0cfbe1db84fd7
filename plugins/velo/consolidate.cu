/* consolidate.cu: VELO tracks with their hits, from those candidates that were accepted (spec velo_pv.md A.6).
 *
 * Counts hits, sums them, counts tracks, sums them, copies. Tracks are counted after the hits are summed, so that a
 * slice whose hits don't fit has no tracks either: nobody then follows hit offsets that were not written.
 *
 * One thread a candidate: some 250 an event with 6 hits each; reads and writes 16 bytes a hit. The places of tracks and
 * of hits come from scans, so that the order of threads doesn't matter.
 */
#include "velo/event_model.h"

#include <sluice/kernel.h>

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

SL_KERNEL(consolidate_count_hits, struct consolidate_args) {
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t end = a.candidates.offsets[event + 1];
    uint32_t hits = 0;
    for (uint32_t i = a.candidates.offsets[event] + threadIdx.x; i < end; i += blockDim.x)
      hits += is_accepted(&a, i) ? a.candidates.hit_count[i] : 0u;
    hits = sl_block_sum_u32(hits);
    if (threadIdx.x == 0) a.hit_offsets[event] = hits;
  }
}

SL_KERNEL(consolidate_count_tracks, struct consolidate_args) {
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t end = a.candidates.offsets[event + 1];
    uint32_t tracks = 0;
    for (uint32_t i = a.candidates.offsets[event] + threadIdx.x; i < end; i += blockDim.x) tracks += is_accepted(&a, i);
    tracks = sl_block_sum_u32(tracks);
    if (threadIdx.x == 0) a.tracks.offsets[event] = a.hit_offsets[event + 1] > a.hit_offsets[event] ? tracks : 0;
  }
}

static SL_DEVICE void copy_hits(const struct consolidate_args *a, uint32_t candidate, uint32_t first_hit, uint32_t to) {
  const uint16_t *hits = a->candidates.hits + (size_t)VELO_MAX_HITS_PER_TRACK * candidate;
  const uint32_t count = a->candidates.hit_count[candidate];
  const uint32_t *id = a->hits.id + first_hit;
  const float *x = a->hits.x + first_hit, *y = a->hits.y + first_hit, *z = a->hits.z + first_hit;
  uint32_t *__restrict__ to_id = a->tracks.hit_id + to;
  float *__restrict__ to_x = a->tracks.hit_x + to, *__restrict__ to_y = a->tracks.hit_y + to;
  float *__restrict__ to_z = a->tracks.hit_z + to;
  for (uint32_t i = 0; i < count; i++) {
    to_id[i] = id[hits[i]];
    to_x[i] = x[hits[i]];
    to_y[i] = y[hits[i]];
    to_z[i] = z[hits[i]];
  }
}

SL_KERNEL(consolidate_write, struct consolidate_args) {
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t begin = a.candidates.offsets[event], first_track = a.tracks.offsets[event];
    const uint32_t candidates = a.tracks.offsets[event + 1] > first_track ? a.candidates.offsets[event + 1] - begin : 0;
    uint32_t tracks = 0, hits = a.hit_offsets[event];
    SL_FOR_BLOCK (i, candidates) {
      const uint32_t wanted = i < candidates ? is_accepted(&a, begin + i) : 0;
      const uint32_t track = first_track + sl_block_append(wanted, &tracks);
      const uint32_t count = wanted ? a.candidates.hit_count[begin + i] : 0;
      uint32_t total;
      const uint32_t to = hits + sl_block_exclusive_scan(count, &total);
      hits += total;
      if (wanted) {
        a.tracks.hit_offsets[track + 1] = to + count;
        copy_hits(&a, begin + i, a.hits.offsets[event], to);
      }
    }
  }
}

static int run(const struct sl_launch *l, const struct consolidate_args *a) {
  struct consolidate_launch clear;
  clear.a = *a;
  clear.events_max = l->events_max;
  int error = SL_LAUNCH(l, consolidate_clear, SL_PER_EVENT, clear);
  if (!error) error = SL_LAUNCH(l, consolidate_count_hits, SL_PER_EVENT, *a);
  if (!error) error = l->scan(l, a->hit_offsets, &a->tracks.sub_bound);
  if (!error) error = SL_LAUNCH(l, consolidate_count_tracks, SL_PER_EVENT, *a);
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
SL_ALGORITHM(consolidate, "VELO tracks with their hits, from candidates", 128, run);
