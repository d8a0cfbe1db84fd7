/* consolidate.cu: copies the hits of accepted track candidates into VELO tracks.
 *   1. Count accepted tracks and their hits per event; scan the hit counts.
 *   2. If the hits of the slice overflow, set its track counts to 0, so that hit_offsets is not read; scan the tracks.
 *   3. Copy: list the hit indices of an event (one thread per candidate), then copy field by field. Each field of the
 *      event is first staged in shared memory, because gathering it from memory would fetch 32 bytes for each 4.
 * Determinism: offsets of tracks and hits come from scans, in the order of the candidates.
 * Cost per event (250 candidates with 6 hits, 1900 hits): reads 16 bytes per hit of the event and 52 per candidate,
 * writes 16 bytes per hit on a track.
 */
#include "velo/event_model.h"

#include <sluice/kernel.h>

#if defined(SL_TARGET_CPU)
#include <sluice/vectors.h>
#endif

enum {
  LISTED_HITS = 4096, /* hits copied at a time; most events have fewer */
  STAGED_HITS = 4096, /* most hits of an event that are staged in shared memory */
  AT_A_TIME = 8,      /* loads that a thread starts before it uses the first one */
  CHUNK = 32 * AT_A_TIME
};

typedef uint32_t consolidate_word __attribute__((may_alias));     /* an id or a coordinate */
typedef uint32_t consolidate_two_hits __attribute__((may_alias)); /* the first in the lower half */

#define SL_ARGS consolidate_args
#define CONSOLIDATE(M)                                                                                               \
  M(IN, candidates, velo_track_candidates, "", "track candidates of the search")                                     \
  M(OPTIONAL_IN, accepted, velo_accepted, "flag", "flags of the candidates that are tracks; not connected: all are") \
  M(IN, hits, velo_hits, "offsets id x y z", "hits of the search")                                                   \
  M(OUT, tracks, velo_tracks, "accepted tracks, in the order of the candidates",                                     \
    SL_ITEMS(SL_ONE(SL_ITEMS_TERM(candidates))),                                                                     \
    SL_SUBITEMS(                                                                                                     \
        SL_MIN(SL_ITEMS_SCALED(candidates, VELO_MAX_HITS_PER_TRACK, 1, 0), SL_BUDGET_TERM(hits_per_event, 65536))))  \
  M(BUDGET, hits_per_event, 2900, 1, 1000000, "hits on tracks")                                                      \
  M(SCRATCH, hit_offsets, u32, "first hit on a track of each event", SL_ONE(SL_EVENTS_TERM(1, 1)))
SL_ARGUMENTS(consolidate, CONSOLIDATE);

static SL_DEVICE uint32_t is_accepted(const struct consolidate_args *a, uint32_t candidate) {
  return a->accepted.flag == NULL || a->accepted.flag[candidate] ? 1u : 0u;
}

/* Clears the hit counts, also of events that are not in the event list. */
SL_KERNEL(consolidate_clear, struct consolidate_args) {
  SL_FOR_ALL_EVENTS (event, a.events) a.hit_offsets[event] = 0;
  if (sl_grid_thread() == 0) a.tracks.hit_offsets[0] = 0;
}

SL_KERNEL(consolidate_count, struct consolidate_args) {
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t end = a.candidates.offsets[event + 1];
    uint32_t tracks = 0, hits = 0;
    for (uint32_t i = a.candidates.offsets[event] + threadIdx.x; i < end; i += blockDim.x) {
      const uint32_t count = a.candidates.hit_count[i], accepted = is_accepted(&a, i);
      tracks += accepted;
      hits += accepted ? count : 0u;
    }
    tracks = sl_block_sum_u32(tracks);
    hits = sl_block_sum_u32(hits);
    if (threadIdx.x == 0) {
      a.tracks.offsets[event] = tracks;
      a.hit_offsets[event] = hits;
    }
  }
}

/* Sets the track count of events without hits, or of all events after an overflow, to 0. */
SL_KERNEL(consolidate_drop, struct consolidate_args) {
  SL_FOR_EVENTS_BY_THREAD (event, a.events)
    if (a.hit_offsets[event + 1] == a.hit_offsets[event]) a.tracks.offsets[event] = 0;
}

/* Ranges of an event in the slice; equal in all threads of a block. */
struct consolidate_event {
  uint32_t candidates, candidate_count; /* first candidate */
  uint32_t hits, hit_count;             /* first hit of the input */
  uint32_t tracks;                      /* first track */
  uint32_t to, to_count;                /* first hit on a track, number of hits on tracks */
};

static SL_DEVICE struct consolidate_event event_open(const struct consolidate_args *a, uint32_t event) {
  struct consolidate_event e;
  e.candidates = a->candidates.offsets[event];
  e.candidate_count = a->candidates.offsets[event + 1] - e.candidates;
  e.hits = a->hits.offsets[event];
  e.hit_count = a->hits.offsets[event + 1] - e.hits;
  e.tracks = a->tracks.offsets[event];
  e.to = a->hit_offsets[event];
  e.to_count = a->tracks.offsets[event + 1] > e.tracks ? a->hit_offsets[event + 1] - e.to : 0;
  return e;
}

/* Lists the event's indices of hits on tracks, from the hit number `done` on, at most LISTED_HITS. */
static SL_DEVICE void list_hits(const struct consolidate_args *a, const struct consolidate_event *e, uint32_t done,
                                uint16_t *source) {
  uint32_t track = e->tracks, first = 0;
  SL_FOR_BLOCK (i, e->candidate_count) {
    const uint32_t candidate = e->candidates + i;
    uint32_t accepted = 0, count = 0;
    if (i < e->candidate_count) {
      count = a->candidates.hit_count[candidate];
      accepted = is_accepted(a, candidate);
      count = accepted ? count : 0;
    }
    uint32_t total; /* hits | tracks << 16 */
    const uint32_t before = sl_block_exclusive_scan(accepted << 16 | count, &total);
    const uint32_t offset = first + (before & 0xFFFF);
    if (accepted) a->tracks.hit_offsets[track + (before >> 16) + 1] = e->to + offset + count;
    const consolidate_two_hits *hits =
        (const consolidate_two_hits *)(a->candidates.hits + (size_t)VELO_MAX_HITS_PER_TRACK * candidate);
    for (uint32_t h = 0; h < count; h += 2) {
      const uint32_t two = hits[h / 2], to = offset + h - done;
      if (to < LISTED_HITS) source[to] = (uint16_t)two;
      if (h + 1 < count && to + 1 < LISTED_HITS) source[to + 1] = (uint16_t)(two >> 16);
    }
    track += total >> 16;
    first += total & 0xFFFF;
  }
}

/* Copies a thread's rows of a chunk: to[i] = from[source[i]], or from[i] without has_source, for i = 0, 32, ... below
 * `left`, or for all AT_A_TIME rows if `is_full`. */
static SL_DEVICE void copy_rows(const consolidate_word *__restrict__ from, const uint16_t *__restrict__ source,
                                consolidate_word *__restrict__ to, uint32_t left, const uint32_t has_source,
                                const uint32_t is_full) {
  uint32_t value[AT_A_TIME] = {0};
  SL_UNROLL
  for (uint32_t k = 0; k < AT_A_TIME; k++)
    if (is_full || 32 * k < left) value[k] = from[has_source ? source[32 * k] : 32 * k];
  SL_UNROLL
  for (uint32_t k = 0; k < AT_A_TIME; k++)
    if (is_full || 32 * k < left) to[32 * k] = value[k];
}

/* to[i] = from[source[i]], or from[i] without has_source, for i < count. Each group of 32 threads copies a chunk; the
 * distance of its rows is a compile-time constant, and a full chunk needs no bounds checks. */
static SL_DEVICE void copy_words(const consolidate_word *__restrict__ from, const uint16_t *__restrict__ source,
                                 uint32_t count, consolidate_word *__restrict__ to, const uint32_t has_source) {
  SL_FOR_GROUPS (chunk, (count + CHUNK - 1) / CHUNK, 32) {
    const uint32_t first = chunk * CHUNK + sl_group_lane(32);
    const consolidate_word *of = has_source ? from : from + first;
    if (first >= count) continue;
    if (chunk * CHUNK + CHUNK <= count)
      copy_rows(of, source + first, to + first, 0, has_source, 1);
    else
      copy_rows(of, source + first, to + first, count - first, has_source, 0);
  }
}

/* Copies one field of the `count` listed hits. */
static SL_DEVICE void copy_field(const void *of_event, uint32_t event_hits, const uint16_t *source, uint32_t count,
                                 void *of_tracks, uint32_t *staged) {
  if (event_hits > STAGED_HITS) { /* uniform in the block */
    copy_words((const consolidate_word *)of_event, source, count, (consolidate_word *)of_tracks, 1);
    return;
  }
  copy_words((const consolidate_word *)of_event, source, event_hits, staged, 0);
  __syncthreads();
  copy_words(staged, source, count, (consolidate_word *)of_tracks, 1);
  __syncthreads(); /* free for the next field */
}

#if defined(SL_TARGET_CPU)
/* to[i] = from[source[i]] */
static void gather(consolidate_word *__restrict__ to, const consolidate_word *__restrict__ from,
                   const uint16_t *__restrict__ source, uint32_t count) {
  uint32_t i = 0;
  for (; i + LANES <= count; i += LANES) {
    u16x8 at;
    memcpy(&at, source + i, sizeof at);
    const u32x8 values = u32x8_gather(from, __builtin_convertvector(at, i32x8));
    memcpy(to + i, &values, sizeof values);
  }
  for (; i < count; i++) to[i] = from[source[i]];
}

static void gather_fields(const struct consolidate_args *a, const struct consolidate_event *e, const uint16_t *source,
                          uint32_t count, uint32_t to) {
  gather(a->tracks.hit_id + to, a->hits.id + e->hits, source, count);
  gather((consolidate_word *)a->tracks.hit_x + to, (const consolidate_word *)a->hits.x + e->hits, source, count);
  gather((consolidate_word *)a->tracks.hit_y + to, (const consolidate_word *)a->hits.y + e->hits, source, count);
  gather((consolidate_word *)a->tracks.hit_z + to, (const consolidate_word *)a->hits.z + e->hits, source, count);
}

/* For one CPU thread: lists hits by copying all 26 indices of each track, then gathers field by field. */
static void write_alone(const struct consolidate_args *a, const struct consolidate_event *e) {
  uint16_t source[LISTED_HITS];
  uint32_t track = e->tracks, to = e->to, listed = 0;
  for (uint32_t i = e->candidates; e->to_count > 0 && i < e->candidates + e->candidate_count; i++) {
    const size_t first = (size_t)VELO_MAX_HITS_PER_TRACK * i;
    if (!is_accepted(a, i)) continue;
    if (listed + VELO_MAX_HITS_PER_TRACK > LISTED_HITS) {
      gather_fields(a, e, source, listed, to);
      to += listed;
      listed = 0;
    }
    memcpy(source + listed, a->candidates.hits + first, VELO_MAX_HITS_PER_TRACK * sizeof *source);
    listed += a->candidates.hit_count[i];
    a->tracks.hit_offsets[++track] = to + listed;
  }
  gather_fields(a, e, source, listed, to);
}
#else
/* For one thread per block: copies track by track. */
static SL_DEVICE void write_alone(const struct consolidate_args *a, const struct consolidate_event *e) {
  const uint32_t *id = a->hits.id + e->hits;
  const float *x = a->hits.x + e->hits, *y = a->hits.y + e->hits, *z = a->hits.z + e->hits;
  uint32_t track = e->tracks, to = e->to;
  for (uint32_t i = e->candidates; e->to_count > 0 && i < e->candidates + e->candidate_count; i++) {
    if (!is_accepted(a, i)) continue;
    const uint32_t count = a->candidates.hit_count[i];
    const uint16_t *hits = a->candidates.hits + (size_t)VELO_MAX_HITS_PER_TRACK * i;
    uint32_t *__restrict__ to_id = a->tracks.hit_id + to;
    float *__restrict__ to_x = a->tracks.hit_x + to, *__restrict__ to_y = a->tracks.hit_y + to;
    float *__restrict__ to_z = a->tracks.hit_z + to;
    for (uint32_t h = 0; h < count; h++) {
      const uint32_t hit = hits[h];
      to_id[h] = id[hit];
      to_x[h] = x[hit];
      to_y[h] = y[hit];
      to_z[h] = z[hit];
    }
    to += count;
    a->tracks.hit_offsets[++track] = to;
  }
}
#endif

SL_KERNEL(consolidate_write, struct consolidate_args) {
  __shared__ uint16_t source[LISTED_HITS];
  __shared__ uint32_t staged[STAGED_HITS];
  SL_FOR_EVENTS (event, a.events) {
    const struct consolidate_event e = event_open(&a, event);
    if (blockDim.x == 1) {
      write_alone(&a, &e);
      continue;
    }
    for (uint32_t done = 0; done < e.to_count; done += LISTED_HITS) { /* mostly once */
      const uint32_t to = e.to + done, count = e.to_count - done < LISTED_HITS ? e.to_count - done : LISTED_HITS;
      list_hits(&a, &e, done, source);
      __syncthreads();
      copy_field(a.hits.id + e.hits, e.hit_count, source, count, a.tracks.hit_id + to, staged);
      copy_field(a.hits.x + e.hits, e.hit_count, source, count, a.tracks.hit_x + to, staged);
      copy_field(a.hits.y + e.hits, e.hit_count, source, count, a.tracks.hit_y + to, staged);
      copy_field(a.hits.z + e.hits, e.hit_count, source, count, a.tracks.hit_z + to, staged);
      __syncthreads(); /* the list is free */
    }
  }
}

static int run(const struct sl_launch *l, const struct consolidate_args *a) {
  int error = SL_LAUNCH(l, consolidate_clear, SL_THREAD_PER_EVENT, *a);
  if (!error)
    error = SL_COUNT_SCAN(l, consolidate_count, SL_PER_EVENT, a->hit_offsets, &a->tracks.hit_offsets_bound, *a);
  if (!error) error = SL_COUNT_SCAN(l, consolidate_drop, SL_THREAD_PER_EVENT, a->tracks.offsets, &a->tracks.bound, *a);
  if (!error) error = SL_LAUNCH(l, consolidate_write, SL_PER_EVENT, *a);
  return error;
}

static const struct sl_kernel_block consolidate_blocks[] = {{"consolidate_clear", 320, 0},
                                                            {"consolidate_count", 128, 0},
                                                            {"consolidate_drop", 320, 0},
                                                            {"consolidate_write", 320, 0}};
SL_ALGORITHM(consolidate, "VELO tracks with their hits, from track candidates", 320, run,
             SL_BLOCKS(consolidate_blocks));
