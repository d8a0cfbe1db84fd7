/* search_by_triplet.cu: finds straight tracks in the VELO from hits sorted by azimuth (README.md, "Search by triplet").
 * Going upstream, each turn handles the module pairs top, top - 1 and top - 2:
 *   1. forward: extend each live track by the best hit of pair top - 2 in a window of azimuth.
 *   2. seed: for each unused middle hit h1 of pair top - 1, form lines with the unused hits h0 of pair top nearest in
 *      azimuth; the best unused hit h2 of pair top - 2 makes a track. A fourth hit marks all hits of a track as used.
 * Determinism: the middle hit identifies a track; seed only reads the marks and forward only sets them, with a barrier
 * between; the best h2 is the minimum of (scatter, visit). Tracks are listed by length class, then by middle hit.
 * Parallelism: one block per event, one thread per window, a group of threads per middle hit.
 * Cost per event: 760 middle hits with 4 windows each and 1200 windows of live tracks, 1.7 hits per window.
 * Plain version: tests/velo/search_reference.h.
 */
#include "search_pairs.h"

#include <stdlib.h>

/* ------------------------------------------------------------------------------------------------- forward */

/* Separate branches let the compiler use shared-memory instructions in the first one. */
static SL_DEVICE struct search_live live_get(const struct search *s, uint32_t list, uint32_t i) {
  if (i < SHARED_LIVE_TRACKS) return s->shared->live[list][i];
  return s->live[list * s->e.count + i];
}

static SL_DEVICE void live_append(const struct search *s, uint32_t list, struct search_live live) {
  const uint32_t i = atomicAdd(&s->shared->live_count[list], 1u);
  if (i < SHARED_LIVE_TRACKS)
    s->shared->live[list][i] = live;
  else
    s->live[list * s->e.count + i] = live;
}

static SL_DEVICE void set_bit(uint32_t *bits, uint32_t i) { atomicOr(&bits[i / 32], 1u << i % 32); }

/* Index in memory of the hit with the least scatter from the line, or p->end if none is below max_scatter. The window
 * is centred on the azimuth of the line at line->z0 + delta_z. */
static SL_DEVICE uint32_t nearest_hit(const struct search *s, const struct search_pair *p,
                                      const struct search_line *line, float delta_z) {
  const struct search_window w = window_around(s, p, line_azimuth(line, delta_z));
  const uint32_t count = p->end - p->begin, end = w.end - p->begin - (w.is_wrapped ? 0 : count);
  const struct search_hit *hits = &s->memory.hits[p->begin];
  float least = s->a->max_scatter;
  uint32_t best = count;
  /* i is negative before the end of the circle and starts again from 0 after it (see around). */
  SL_ROLLED
  for (uint32_t i = w.begin - p->end; i != end; i++) {
    const uint32_t at = around(i, count);
    const struct search_hit hit = hits[at];
    const float scatter = scatter_from(line, &hit);
    if (window_has(s, &w, &hit) && scatter < least) {
      least = scatter;
      best = at;
    }
  }
  return p->begin + best;
}

/* Stores a track of three hits; `fourth` is stored as fourth hit but not counted. */
static SL_DEVICE void track_begin(const struct search *s, const struct search_live *live, uint32_t fourth) {
  const uint32_t first = live_anchor(live), middle = live_older(live), last = live_newest(live);
  search_two_hits *track = (search_two_hits *)(s->track_hits + VELO_MAX_HITS_PER_TRACK * middle);
  track[0] = halves(first, middle);
  track[1] = halves(last, fourth);
  s->track_length[middle] = 3;
  set_bit(s->memory.bits.middle, middle);
}

/* Adds `hit` to a track. */
static SL_DEVICE void track_append(const struct search *s, struct search_live *live, uint32_t hit) {
  const uint32_t length = live_length(live), newest = live_newest(live);
  uint32_t middle = live_anchor(live), *used = s->memory.bits.used;
  if (length == 3) {
    track_begin(s, live, hit);
    set_bit(used, middle); /* with three hits, the anchor is the first hit */
    middle = live_older(live);
    set_bit(used, middle);
    set_bit(used, newest);
    set_bit(s->memory.bits.strong, middle);
  } else {
    uint16_t *next = s->track_hits + VELO_MAX_HITS_PER_TRACK * middle + length;
    if (length % 2 == 0)
      *(search_two_hits *)next = halves(hit, 0); /* tracks are read two hits at a time */
    else
      *next = (uint16_t)hit;
  }
  set_bit(used, hit);
  s->track_length[middle] = (uint8_t)(length + 1);
  *live = live_of(middle, length + 1, newest, hit);
}

/* Extends a track by its best hit in the pair, used or not. Returns 1 if the track stays live. */
static SL_DEVICE uint32_t extend(const struct search *s, const struct search_pair *p, uint32_t pair,
                                 struct search_live *live) {
  const struct velo_hits_view *from = &s->a->hits;
  const uint32_t older = s->e.first + live_older(live), newest = s->e.first + live_newest(live);
  const uint32_t side = search_side_of(from->id[older]); /* this load overlaps the next six */
  const struct search_line line =
      line_through(from->x[older], from->y[older], from->z[older], from->x[newest], from->y[newest], from->z[newest]);
  const uint32_t best = nearest_hit(s, p, &line, s->shared->module_z[2 * pair + side] - line.z0);
  const uint32_t length = live_length(live), skips = live_skips(live);
  if (best != p->end) {
    track_append(s, live, pair_hit(p, best));
    return length + 1 < VELO_MAX_HITS_PER_TRACK;
  }
  if (s->a->missing >> (2 * pair + side) & 1u) return 1;
  live_skip(live);
  if (skips < s->a->max_skipped_modules) return 1;
  if (length == 3) track_begin(s, live, 0);
  return 0;
}

/* Extends all tracks of live list `list` and appends the tracks that stay live to the other one. */
static SL_DEVICE void forward(const struct search *s, uint32_t pair, uint32_t list) {
  const struct search_pair p = pair_open(s, pair);
  const uint32_t count = s->shared->live_count[list];
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
    struct search_live live = live_get(s, list, i);
    if (extend(s, &p, pair, &live)) live_append(s, 1 - list, live);
  }
}

/* Stores three-hit tracks that are still live after the last turn. */
static SL_DEVICE void finish_live(const struct search *s, uint32_t list) {
  for (uint32_t i = threadIdx.x; i < s->shared->live_count[list]; i += blockDim.x) {
    const struct search_live live = live_get(s, list, i);
    if (live_length(&live) == 3) track_begin(s, &live, 0);
  }
}

/* ---------------------------------------------------------------------------------------------------- seed */

/* Lists the unused hits of pairs top, top - 1 and top - 2, one warp per pair. */
static SL_DEVICE void list_unused(const struct search *s, uint32_t top) {
  for (uint32_t job = sl_warp_index(); job < 3; job += sl_block_warps()) {
    const struct search_pair p = pair_open(s, top - job);
    const uint32_t hits = p.end - p.begin;
    uint32_t count = 0;
    SL_FOR_WARP (i, hits) {
      const uint32_t is_unused = i < hits && !bit_is_set(s->memory.bits.used, p.first + i);
      const uint32_t index = sl_warp_append(is_unused, &count);
      if (i < hits) *unused_before(s, &p, p.begin + i) = (uint16_t)index;
      if (is_unused) s->memory.unused[p.begin + index] = (uint16_t)(p.begin + i);
    }
    if (sl_warp_lane() == 0) {
      *unused_before(s, &p, p.end) = (uint16_t)count;
      s->shared->unused_count[(top - job) % PAIRS] = count;
    }
  }
}

/* Index in memory of an unused hit; `number` may go around the circle up to twice. */
static SL_DEVICE uint32_t unused_around(const struct search *s, const struct search_pair *p, uint32_t unused_count,
                                        uint32_t number) {
  return s->memory.unused[p->begin + around(number - unused_count, unused_count)];
}

/* First hit of a line: its index in memory and its number in the order of visits. */
struct search_first {
  uint32_t at, visit;
};

/* Hits around a middle hit are visited in the order s, s + 1, s - 1, s + 2, ... with s = `start`: the hit at distance d
 * above s has number 2d, the hit at distance d below has 2d + 1. The first n unused hits are, for k < n, the one with
 * the smaller number of the k-th unused hit above and the (n - 1 - k)-th below. Returns this hit for one k. n is at
 * most the number of unused hits. */
static SL_DEVICE struct search_first first_hit(const struct search *s, const struct search_pair *p,
                                               uint32_t unused_count, uint32_t start, uint32_t n, uint32_t k) {
  const uint32_t above = *unused_before(s, p, start) + k, hits = p->end - p->begin;
  const uint32_t hit_above = unused_around(s, p, unused_count, above);
  const uint32_t hit_below = unused_around(s, p, unused_count, above + unused_count - n);
  const uint32_t visit_above = 2 * around(hit_above - start, hits);
  const uint32_t visit_below = 2 * around(start - 1 - hit_below, hits) + 3; /* hit just below `start`: 3 */
  const uint32_t is_above = visit_above < visit_below ? 1 : 0;
  const struct search_first first = {is_above ? hit_above : hit_below, is_above ? visit_above : visit_below};
  return first;
}

/* The unused hit with the least scatter from the line as third_hit() word, or NO_THIRD_HIT. */
static SL_DEVICE uint64_t best_third_hit(const struct search *s, const struct search_pair *p, uint32_t unused_count,
                                         const struct search_line *line, float delta_z, uint32_t visit) {
  const struct search_window w = window_around(s, p, line_azimuth(line, delta_z));
  const uint32_t end = *unused_before(s, p, w.end) - (w.is_wrapped ? 0 : unused_count);
  const uint16_t *unused = &s->memory.unused[p->begin];
  float least = s->a->max_scatter;
  uint32_t best = UINT32_MAX;
  SL_ROLLED
  for (uint32_t i = *unused_before(s, p, w.begin) - unused_count; i != end; i++) { /* as in nearest_hit */
    const uint32_t at = unused[around(i, unused_count)];
    const struct search_hit hit = s->memory.hits[at];
    const float scatter = scatter_from(line, &hit);
    if (window_has(s, &w, &hit) && scatter < least) {
      least = scatter;
      best = at;
    }
  }
  return best == UINT32_MAX ? NO_THIRD_HIT : third_hit(least, visit, best);
}

/* Appends to live list `list` one seed for each unused middle hit of pair top - 1 that has a line and a third hit. At
 * most `max_lines` lines are tried per middle hit. */
static SL_DEVICE void seed(const struct search *s, uint32_t top, uint32_t list, uint32_t max_lines) {
  const struct search_pair p0 = pair_open(s, top), p1 = pair_open(s, top - 1), p2 = pair_open(s, top - 2);
  const uint32_t unused0 = s->shared->unused_count[top % PAIRS], unused1 = s->shared->unused_count[(top - 1) % PAIRS];
  const uint32_t unused2 = s->shared->unused_count[(top - 2) % PAIRS];
  const float delta_z = s->shared->ranges[top - 2].delta_z;
  const uint32_t candidates = max_lines < unused0 ? max_lines : unused0;
  const uint32_t middle_count = candidates > 0 && unused2 > 0 ? unused1 : 0;
  SL_FOR_GROUPS (j, middle_count, MIDDLE_THREADS) {
    const uint32_t middle = j < middle_count ? s->memory.unused[p1.begin + j] : p1.begin;
    const struct search_hit h1 = s->memory.hits[middle];
    const uint32_t start = hit_start(&h1);
    uint64_t own = NO_THIRD_HIT;
    uint32_t first = 0;
    for (uint32_t k = sl_group_lane(MIDDLE_THREADS); j < middle_count && k < candidates;
         k += SL_GROUP(MIDDLE_THREADS)) {
      const struct search_first candidate = first_hit(s, &p0, unused0, start, candidates, k);
      const struct search_hit h0 = s->memory.hits[candidate.at];
      const struct search_line line = line_through(h0.x, h0.y, h0.z, h1.x, h1.y, h1.z);
      const uint64_t third = best_third_hit(s, &p2, unused2, &line, delta_z, candidate.visit);
      const uint32_t is_better = third < own ? 1 : 0;
      first = is_better ? candidate.at : first;
      own = is_better ? third : own;
    }
    /* Visit numbers are unique, so only one thread has the minimum. */
    if (sl_group_min_u64(own, MIDDLE_THREADS) == own && own != NO_THIRD_HIT)
      live_append(s, list, live_of(pair_hit(&p0, first), 3, pair_hit(&p1, middle), pair_hit(&p2, third_hit_at(own))));
  }
}

/* ---------------------------------------------------------------------------------------------------- order */

/* Lists tracks by middle hit in the output order: four or more hits ("strong"), then three. Returns their number. */
static SL_DEVICE uint32_t order_tracks(const struct search *s, uint32_t words) {
  const struct search_bits *bits = &s->memory.bits;
  uint32_t sum = 0;
  SL_FOR_BLOCK (w, words) {
    const uint32_t strong = w < words ? sl_count_bits(bits->strong[w]) : 0;
    const uint32_t all = w < words ? sl_count_bits(bits->middle[w]) : 0;
    uint32_t total;
    const uint32_t before = sum + sl_block_exclusive_scan(halves(strong, all - strong), &total);
    if (w < words) bits->before[w] = before;
    sum += total;
  }
  __syncthreads();
  /* Each thread lists the tracks of 8 middle hits, about one track. */
  for (uint32_t part = threadIdx.x; part < 4 * words; part += blockDim.x) {
    const uint32_t w = part / 4, all = bits->middle[w], strong = bits->strong[w], before = bits->before[w];
    SL_ROLLED
    for (uint32_t left = all & 0xFFu << part % 4 * 8; left > 0; left &= left - 1) {
      const uint32_t lower = (left & (0 - left)) - 1, h1 = 32 * w + sl_count_bits(lower);
      const uint32_t strong_before = lower_half(before) + sl_count_bits(strong & lower);
      const uint32_t weak_before = upper_half(before) + sl_count_bits(all & ~strong & lower);
      const uint32_t index = strong & (lower + 1) ? strong_before : lower_half(sum) + weak_before;
      s->track_middle[index] = (uint16_t)h1;
      s->candidate_length[index] = s->track_length[h1];
    }
  }
  return lower_half(sum) + upper_half(sum);
}

/* ------------------------------------------------------------------------------------------------- kernels */

/* Searches one event. Returns the number of tracks. */
static SL_DEVICE uint32_t search_event(const struct search *s) {
  const uint32_t words = (s->e.count + 31) / 32;
  const struct search_bits *bits = &s->memory.bits;
  for (uint32_t w = threadIdx.x; w < words; w += blockDim.x) bits->used[w] = bits->middle[w] = bits->strong[w] = 0;
  if (threadIdx.x == 0) s->shared->live_count[0] = s->shared->live_count[1] = 0;
  __syncthreads(); /* the ranges of the pairs are set */
  for (uint32_t pair = VELO_MODULE_PAIRS - 1; pair >= VELO_MODULE_PAIRS - 3; pair--) {
    pair_load(s, pair, pair + 1 < VELO_MODULE_PAIRS ? 1 : 0);
    __syncthreads();
  }
  uint32_t max_lines = s->a->first_seed_candidates;
  for (uint32_t top = VELO_MODULE_PAIRS - 1; top >= 2; top--) {
    const uint32_t list = top % 2;
    forward(s, top - 2, list);
    if (top > 2 && s->pairs_in_play == PAIRS) pair_load(s, top - 3, 1);
    __syncthreads(); /* marks are set */
    if (threadIdx.x == 0) s->shared->live_count[list] = 0;
    list_unused(s, top);
    __syncthreads();
    seed(s, top, 1 - list, max_lines);
    max_lines = s->a->seed_candidates;
    __syncthreads(); /* the pair farthest downstream is no longer needed */
    if (top > 2 && s->pairs_in_play == WIDE_PAIRS) {
      pair_load(s, top - 3, 1);
      __syncthreads();
    }
  }
  finish_live(s, 1);
  __syncthreads();
  uint8_t *used = s->a->used.flag + s->e.first;
  for (uint32_t i = threadIdx.x; i < s->e.count; i += blockDim.x) used[i] = (uint8_t)bit_is_set(bits->used, i);
  return order_tracks(s, words);
}

static SL_DEVICE struct search_memory shared_memory(struct search_shared *shared) {
  const struct search_memory memory = {shared->u.hits,
                                       shared->unused,
                                       shared->unused_before,
                                       {shared->used, shared->middle, shared->strong, shared->u.before}};
  return memory;
}

/* Part of the workspace of an event. The workspace has arrays of 4 words per hit (hits), 4 (live tracks), 1 (unused)
 * and 1 (bits, then unused_before). Bits take an eighth of the last one; unused_before takes half a word per hit and
 * per pair, which fits because such an event has more than SHARED_PAIR_HITS hits. */
static SL_DEVICE struct search_memory scratch_memory(const struct search_by_triplet_args *a, struct search_event e) {
  const size_t all = a->hits.bound.capacity;
  const uint32_t words = (e.count + 31) / 32;
  uint32_t *bits = a->workspace + 9 * all + e.first;
  const struct search_memory memory = {(struct search_hit *)a->workspace + e.first,
                                       (uint16_t *)(a->workspace + 8 * all + e.first),
                                       (uint16_t *)(bits + 4 * words),
                                       {bits, bits + words, bits + 2 * words, bits + 3 * words}};
  return memory;
}

/* Number of pairs of the event that fit into shared memory at a time: PAIRS, WIDE_PAIRS, or 0. */
static SL_DEVICE uint32_t pairs_with_room(const struct search_event *e, const uint32_t *pair_first) {
  uint32_t too_large = e->count > SHARED_EVENT_HITS ? 1 : 0, wide = 0;
  for (uint32_t pair = threadIdx.x; pair < VELO_MODULE_PAIRS; pair += blockDim.x) {
    const uint32_t hits = pair_first[pair + 1] - pair_first[pair];
    too_large += hits > SHARED_WIDE_PAIR_HITS ? 1u : 0u;
    wide += hits > SHARED_PAIR_HITS ? 1u : 0u;
  }
  const uint32_t sum = sl_block_sum_u32(halves(wide, too_large));
  return upper_half(sum) > 0 ? 0 : lower_half(sum) > 0 ? WIDE_PAIRS : PAIRS;
}

/* Sets the ranges of all pairs. The caller needs a barrier afterwards. */
static SL_DEVICE void set_ranges(const struct search *s, const uint32_t *pair_first) {
  const uint32_t room = s->pairs_in_play == PAIRS ? SHARED_PAIR_HITS : SHARED_WIDE_ROOM;
  const float *z = s->a->geometry.module_z;
  for (uint32_t pair = threadIdx.x; pair < VELO_MODULE_PAIRS; pair += blockDim.x) {
    struct search_range *range = &s->shared->ranges[pair];
    range->first = pair_first[pair];
    range->begin = s->is_shared ? pair % s->pairs_in_play * room : range->first;
    range->end = range->begin + pair_first[pair + 1] - range->first;
    range->delta_z = pair + 2 < VELO_MODULE_PAIRS ? z[2 * pair] - z[2 * (pair + 2)] : 0.0f;
    s->shared->module_z[2 * pair] = z[2 * pair];
    s->shared->module_z[2 * pair + 1] = z[2 * pair + 1];
  }
}

/* Events are processed in classes of 32 hits, largest first. The order within a class may differ from run to run; the
 * results do not depend on it. */
enum { CLASSES = 256, CLASS_HITS = 32 };

static SL_DEVICE uint32_t class_of(uint32_t hits) {
  const uint32_t size = hits / CLASS_HITS;
  return CLASSES - 1 - (size < CLASSES ? size : CLASSES - 1);
}

/* Lists the events by class with one block, so that no large event starts last: counting sort. Reads 12 bytes per
 * event, twice. */
SL_KERNEL(search_by_triplet_order, struct search_by_triplet_args) {
  __shared__ uint32_t next[CLASSES];
  const uint32_t events = *a.events.count;
  for (uint32_t c = threadIdx.x; c < CLASSES; c += blockDim.x) next[c] = 0;
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < events; i += blockDim.x)
    atomicAdd(&next[class_of(search_event_open(&a.hits, sl_event_at(&a.events, i)).count)], 1u);
  __syncthreads();
  uint32_t before = 0;
  SL_FOR_BLOCK (c, CLASSES) {
    uint32_t total;
    const uint32_t first = before + sl_block_exclusive_scan(c < CLASSES ? next[c] : 0u, &total);
    if (c < CLASSES) next[c] = first;
    before += total;
  }
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < events; i += blockDim.x) {
    const uint32_t event = sl_event_at(&a.events, i);
    a.event_order[atomicAdd(&next[class_of(search_event_open(&a.hits, event).count)], 1u)] = event;
  }
}

/* 56 registers per thread allow nine blocks of 128 threads per multiprocessor. */
SL_KERNEL_REGISTERS(search_by_triplet_find, struct search_by_triplet_args, 56) {
  __shared__ struct search_shared shared;
  for (uint32_t turn = blockIdx.x; turn < *a.events.count; turn += gridDim.x) {
    const uint32_t event = a.event_order[turn];
    struct search s;
    s.a = &a;
    s.e = search_event_open(&a.hits, event);
    s.shared = &shared;
    s.live = (struct search_live *)(a.workspace + 4 * (size_t)a.hits.bound.capacity) + 2 * (size_t)s.e.first;
    s.track_hits = a.track_hits + (size_t)VELO_MAX_HITS_PER_TRACK * s.e.first;
    s.track_length = a.track_length + s.e.first;
    s.track_middle = a.track_middle + s.e.first;
    s.candidate_length = a.candidate_length + s.e.first;
    const uint32_t *pair_first = a.hits.pair_first + event * (VELO_MODULE_PAIRS + 1);
    uint32_t tracks = 0;
    if (threadIdx.x == 0) search_refuse(&a.events, event, s.e);
    if (!search_event_is_searched(s.e)) { /* uniform in the block, like the next condition */
      for (uint32_t i = threadIdx.x; i < s.e.count; i += blockDim.x) a.used.flag[s.e.first + i] = 0;
    } else {
      s.pairs_in_play = pairs_with_room(&s.e, pair_first);
      if (s.pairs_in_play > 0) {
        s.is_shared = 1;
        s.memory = shared_memory(&shared);
        set_ranges(&s, pair_first);
        tracks = search_event(&s);
      } else {
        s.pairs_in_play = PAIRS;
        s.is_shared = 0;
        s.memory = scratch_memory(&a, s.e);
        set_ranges(&s, pair_first);
        tracks = search_event(&s);
      }
    }
    if (threadIdx.x == 0) a.candidates.offsets[event] = tracks;
    __syncthreads(); /* shared memory is free for the next event */
  }
}

enum {
  TRACK_WORDS = VELO_MAX_HITS_PER_TRACK / 2, /* words of two hits per track */
  WRITE_THREADS = 16,                        /* threads per track */
  TRACKS_AT_A_TIME = 4                       /* tracks that a thread reads before it writes the first one */
};

/* Copies tracks to candidates, two hits per thread. If the candidates overflow, all offsets are 0 and nothing is
 * written. */
SL_KERNEL(search_by_triplet_write, struct search_by_triplet_args) {
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t begin = a.candidates.offsets[event], tracks = a.candidates.offsets[event + 1] - begin;
    const uint32_t first = a.hits.offsets[event];
    const uint16_t *__restrict__ middle = a.track_middle + first;
    const uint8_t *__restrict__ track_hit_count = a.candidate_length + first;
    const search_two_hits *__restrict__ from = (const search_two_hits *)a.track_hits + (size_t)TRACK_WORDS * first;
    search_two_hits *__restrict__ to = (search_two_hits *)a.candidates.hits + (size_t)TRACK_WORDS * begin;
    uint8_t *__restrict__ hit_count = a.candidates.hit_count + begin;
    for (uint32_t i = threadIdx.x; i < tracks; i += blockDim.x) hit_count[i] = track_hit_count[i];
    SL_FOR_GROUPS (chunk, (tracks + TRACKS_AT_A_TIME - 1) / TRACKS_AT_A_TIME, WRITE_THREADS) {
      const uint32_t i = chunk * TRACKS_AT_A_TIME, left = i < tracks ? tracks - i : 0;
      for (uint32_t word = sl_group_lane(WRITE_THREADS); word < TRACK_WORDS; word += SL_GROUP(WRITE_THREADS)) {
        const uint16_t *__restrict__ middles = middle + i;
        const uint8_t *__restrict__ lengths = track_hit_count + i;
        search_two_hits *__restrict__ at = to + TRACK_WORDS * i + word;
        uint32_t track[TRACKS_AT_A_TIME] = {0}, length[TRACKS_AT_A_TIME] = {0}, hits[TRACKS_AT_A_TIME] = {0};
        SL_UNROLL
        for (uint32_t k = 0; k < TRACKS_AT_A_TIME; k++) {
          if (k >= left) continue;
          track[k] = middles[k];
          length[k] = lengths[k];
        }
        SL_UNROLL
        for (uint32_t k = 0; k < TRACKS_AT_A_TIME; k++)
          if (2 * word < length[k]) hits[k] = from[TRACK_WORDS * track[k] + word]; /* later words are not set */
        SL_UNROLL
        for (uint32_t k = 0; k < TRACKS_AT_A_TIME; k++)
          if (k < left) at[TRACK_WORDS * k] = hits[k];
      }
    }
  }
}

/* An angle in the units of phi: 32768 is pi. Truncates. */
static int32_t phi_units(float radians) { return (int32_t)((double)radians * (32768.0 / 3.14159265358979323846)); }

/* Reads the list of missing modules. */
static int read_modules(const struct sl_services *services, const char *text, uint64_t *missing) {
  int status = SL_OK;
  *missing = 0;
  for (const char *at = text + strspn(text, " \t\n"); *at;) {
    char *end;
    const unsigned long module = strtoul(at, &end, 10);
    const size_t length = strcspn(at, ",");
    const size_t blanks = strspn(end, " \t\n");
    if (end == at || *at == '-' || *at == '+' || end + blanks != at + length || module >= VELO_MODULES) {
      services->message(services->context, SL_ERROR, "missing_modules: \"%.*s\" is no module, a number from 0 to %d",
                        (int)length, at, VELO_MODULES - 1);
      status = SL_EINVAL;
    } else {
      *missing |= UINT64_C(1) << module;
    }
    at += length;
    if (*at == ',') at += 1 + strspn(at + 1, " \t\n");
  }
  return status;
}

/* Computes the widths of the windows once. Words are built as in halves(), which exists on devices only. */
static int prepare(const struct sl_services *services, void *args) {
  struct search_by_triplet_args *a = (struct search_by_triplet_args *)args;
  a->phi_window = phi_units(a->phi_tolerance);
  a->half_window = (uint32_t)a->phi_window << 16;
  a->window_width = (uint32_t)(2 * a->phi_window) << 16 | 0xFFFF;
  return read_modules(services, a->missing_modules, &a->missing);
}

static int run(const struct sl_launch *l, const struct search_by_triplet_args *a) {
  const int error = SL_LAUNCH(l, search_by_triplet_order, SL_PER_CHUNK(1), *a);
  return error ? error : SL_COUNT_SCAN_WRITE(l, search_by_triplet_find, search_by_triplet_write, a->candidates, *a);
}

static const struct sl_kernel_block search_by_triplet_blocks[] = {
    {"search_by_triplet_order", 1024, 0}, {"search_by_triplet_find", 128, 0}, {"search_by_triplet_write", 256, 0}};
static const struct sl_event_error search_errors[] = {
    {SEARCH_TOO_MANY_HITS, 0, "more than 65535 VELO hits in an event (detail: their number)"}};
SL_ALGORITHM(search_by_triplet, "VELO tracks by triplets of hits", 128, run, SL_ERRORS_OF(search_errors),
             SL_PREPARE(prepare), SL_CPU_TUNED(search_by_triplet_tuned), SL_BLOCKS(search_by_triplet_blocks));
