/* search_by_triplet.cu: straight tracks through the VELO, from hits sorted by azimuth (README.md, "Search by triplet").
 * The same search in plain loops, to read what is computed, is tests/velo/search_reference.h; tests find both equal.
 *
 * Going upstream through the module pairs, each turn extends the live tracks by a hit of the next pair ("forward"),
 * then makes seeds of three hits in the last three pairs ("seed"): the middle hit h1, the unused hits h0 nearest to it
 * in azimuth one pair downstream, and for each such line the best unused hit h2 in a window of azimuth one pair
 * upstream. A track that has found a fourth hit marks its hits as used; used hits make no seeds.
 *
 * What makes the result independent of the order of threads: the middle hit identifies a track; "seed" only reads
 * the marks and "forward" only sets them, with a barrier between; of the third hits of a middle hit the least scatter
 * wins, then the earliest visit. Live tracks are listed in the order in which threads find them, which differs from run
 * to run and does not matter; tracks stand at their middle hits, and at the end a bit for each middle hit and sums of
 * bits list them in the canonical order: by ascending middle hit, those of four hits and more, then those of three.
 *
 * Work of an event: some 760 unused middle hits with 4 windows each and 1200 windows of live tracks, 1.7 hits a window.
 * One thread has one window: a group of threads shares a middle hit, and only unused hits are dealt out, from lists
 * that the block's warps make in each turn. Reads 14 bytes a hit once and 28 for each live track and turn; writes 52
 * bytes of scratch and as many of output for each of 260 tracks. The hits of the pairs in play with the table of
 * where each of 256 bins of azimuth begins, the marks and the live tracks lie in shared memory; of an event that is too
 * large for that, in scratch.
 */
#include "search_pairs.h"

/* ------------------------------------------------------------------------------------------------- forward */

/* Each branch knows what kind of memory it reads or writes. */
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

/* Where the hit of the pair is that is nearest to the line, if it is near enough; the end of the pair otherwise. Hits
 * are looked at around where the line is `delta_z` from where it begins. */
static SL_DEVICE uint32_t nearest_hit(const struct search *s, const struct search_pair *p,
                                      const struct search_line *line, float delta_z) {
  const struct search_window w = window_around(s, p, line_azimuth(line, delta_z));
  const uint32_t count = p->end - p->begin, end = w.end - p->begin - (w.is_wrapped ? 0 : count);
  const struct search_hit *hits = &s->memory.hits[p->begin];
  float least = s->a->max_scatter;
  uint32_t best = count;
  /* Lanes make different numbers of turns. Numbers are below 0, and from 0 on when they have gone around. */
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

/* Writes down a track of three hits, or, with a `fourth`, of four. */
static SL_DEVICE void track_begin(const struct search *s, const struct search_live *live, uint32_t fourth) {
  const uint32_t first = live_name(live), middle = live_older(live), last = live_newest(live);
  search_two_hits *track = (search_two_hits *)(s->track_hits + VELO_MAX_HITS_PER_TRACK * middle);
  track[0] = halves(first, middle);
  track[1] = halves(last, fourth);
  s->track_length[middle] = 3;
  set_bit(s->memory.bits.middle, middle);
}

/* Adds `hit` to a track. */
static SL_DEVICE void track_append(const struct search *s, struct search_live *live, uint32_t hit) {
  const uint32_t length = live_length(live), newest = live_newest(live);
  uint32_t middle = live_name(live), *used = s->memory.bits.used;
  if (length == 3) {
    track_begin(s, live, hit);
    set_bit(used, middle); /* it is the first one, so far */
    middle = live_older(live);
    set_bit(used, middle);
    set_bit(used, newest);
    set_bit(s->memory.bits.strong, middle);
  } else {
    uint16_t *place = s->track_hits + VELO_MAX_HITS_PER_TRACK * middle + length;
    if (length % 2 == 0)
      *(search_two_hits *)place = halves(hit, 0); /* tracks are read two hits at a time */
    else
      *place = (uint16_t)hit;
  }
  set_bit(used, hit);
  s->track_length[middle] = (uint8_t)(length + 1);
  *live = live_of(middle, length + 1, newest, hit);
}

/* Extends a track by its best hit in the pair; returns whether it stays live. Hits may be used already. */
static SL_DEVICE uint32_t extend(const struct search *s, const struct search_pair *p, uint32_t pair,
                                 struct search_live *live) {
  const struct velo_hits_view *from = &s->a->hits;
  const uint32_t older = s->e.first + live_older(live), newest = s->e.first + live_newest(live);
  const uint32_t side = search_side_of(from->id[older]); /* loaded with the next six */
  const struct search_line line =
      line_through(from->x[older], from->y[older], from->z[older], from->x[newest], from->y[newest], from->z[newest]);
  const uint32_t best = nearest_hit(s, p, &line, s->shared->module_z[2 * pair + side] - line.z0);
  const uint32_t length = live_length(live), skips = live_skips(live);
  if (best != p->end) {
    track_append(s, live, pair_hit(p, best));
    return length + 1 < VELO_MAX_HITS_PER_TRACK;
  }
  live_skip(live);
  if (skips < s->a->max_skipped_modules) return 1;
  if (length == 3) track_begin(s, live, 0);
  return 0;
}

/* Extends all tracks of one list of live ones, and lists those that stay so. */
static SL_DEVICE void forward(const struct search *s, uint32_t pair, uint32_t list) {
  const struct search_pair p = pair_open(s, pair);
  const uint32_t count = s->shared->live_count[list];
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
    struct search_live live = live_get(s, list, i);
    if (extend(s, &p, pair, &live)) live_append(s, 1 - list, live);
  }
}

/* Writes down those of three hits that are live at the end. */
static SL_DEVICE void finish_live(const struct search *s, uint32_t list) {
  for (uint32_t i = threadIdx.x; i < s->shared->live_count[list]; i += blockDim.x) {
    const struct search_live live = live_get(s, list, i);
    if (live_length(&live) == 3) track_begin(s, &live, 0);
  }
}

/* ---------------------------------------------------------------------------------------------------- seed */

/* Lists the unused hits of the three pairs in play, each pair's by one warp. */
static SL_DEVICE void list_unused(const struct search *s, uint32_t top) {
  for (uint32_t job = sl_warp_index(); job < 3; job += sl_block_warps()) {
    const struct search_pair p = pair_open(s, top - job);
    const uint32_t hits = p.end - p.begin;
    uint32_t count = 0;
    SL_FOR_WARP (i, hits) {
      const uint32_t wanted = i < hits && !bit_is_set(s->memory.bits.used, p.first + i);
      const uint32_t place = sl_warp_append(wanted, &count);
      if (i < hits) *unused_before(s, &p, p.begin + i) = (uint16_t)place;
      if (wanted) s->memory.unused[p.begin + place] = (uint16_t)(p.begin + i);
    }
    if (sl_warp_lane() == 0) {
      *unused_before(s, &p, p.end) = (uint16_t)count;
      s->shared->unused_count[(top - job) % PAIRS] = count;
    }
  }
}

/* Where the unused hit with this number is, if one goes around the circle up to twice. */
static SL_DEVICE uint32_t unused_around(const struct search *s, const struct search_pair *p, uint32_t unused_count,
                                        uint32_t number) {
  return s->memory.unused[p->begin + around(number - unused_count, unused_count)];
}

/* A hit to begin a line at, and its place in the order of visits. */
struct search_first {
  uint32_t at, visit;
};

/* Around a middle hit, a pair's hits are visited as s, s + 1, s - 1, s + 2, ... from `start` = s: the one at distance
 * d above s as number 2d, one below as 2d + 1. The first n unused ones are those of smaller number of the k-th above
 * and the (n - 1 - k)-th below, for all k < n: this is one of them. n is at most the number of unused hits. */
static SL_DEVICE struct search_first first_hit(const struct search *s, const struct search_pair *p,
                                               uint32_t unused_count, uint32_t start, uint32_t n, uint32_t k) {
  const uint32_t above = *unused_before(s, p, start) + k, hits = p->end - p->begin;
  const uint32_t hit_above = unused_around(s, p, unused_count, above);
  const uint32_t hit_below = unused_around(s, p, unused_count, above + unused_count - n);
  const uint32_t visit_above = 2 * around(hit_above - start, hits);
  const uint32_t visit_below = 2 * around(start - 1 - hit_below, hits) + 3; /* that just below `start` is 3 */
  const uint32_t is_above = visit_above < visit_below ? 1 : 0;
  const struct search_first first = {is_above ? hit_above : hit_below, is_above ? visit_above : visit_below};
  return first;
}

/* The best third hit on the line, or NO_THIRD_HIT. */
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

/* Seeds from pair `top` and the two below it: one for each unused middle hit that has a line and a third hit. So many
 * lines are wanted. */
static SL_DEVICE void seed(const struct search *s, uint32_t top, uint32_t list, uint32_t wanted) {
  const struct search_pair p0 = pair_open(s, top), p1 = pair_open(s, top - 1), p2 = pair_open(s, top - 2);
  const uint32_t unused0 = s->shared->unused_count[top % PAIRS], unused1 = s->shared->unused_count[(top - 1) % PAIRS];
  const uint32_t unused2 = s->shared->unused_count[(top - 2) % PAIRS];
  const float delta_z = s->shared->places[top - 2].delta_z;
  const uint32_t candidates = wanted < unused0 ? wanted : unused0;
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
    /* The best one is one thread's, since no visit is made twice. */
    if (sl_group_min_u64(own, MIDDLE_THREADS) == own && own != NO_THIRD_HIT)
      live_append(s, list, live_of(pair_hit(&p0, first), 3, pair_hit(&p1, middle), pair_hit(&p2, third_hit_at(own))));
  }
}

/* ---------------------------------------------------------------------------------------------------- order */

/* Lists the tracks, by their middle hits, in the canonical order. Returns how many there are. */
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
  /* A thread lists those of 8 hits, one or so. */
  for (uint32_t part = threadIdx.x; part < 4 * words; part += blockDim.x) {
    const uint32_t w = part / 4, all = bits->middle[w], strong = bits->strong[w], before = bits->before[w];
    SL_ROLLED
    for (uint32_t left = all & 0xFFu << part % 4 * 8; left > 0; left &= left - 1) {
      const uint32_t lower = (left & (0 - left)) - 1, h1 = 32 * w + sl_count_bits(lower);
      const uint32_t strong_before = lower_half(before) + sl_count_bits(strong & lower);
      const uint32_t weak_before = upper_half(before) + sl_count_bits(all & ~strong & lower);
      const uint32_t place = strong & (lower + 1) ? strong_before : lower_half(sum) + weak_before;
      s->track_middle[place] = (uint16_t)h1;
      s->candidate_length[place] = s->track_length[h1];
    }
  }
  return lower_half(sum) + upper_half(sum);
}

/* ------------------------------------------------------------------------------------------------- kernels */

/* Returns the number of tracks. */
static SL_DEVICE uint32_t search_event(const struct search *s) {
  const uint32_t words = (s->e.count + 31) / 32;
  const struct search_bits *bits = &s->memory.bits;
  for (uint32_t w = threadIdx.x; w < words; w += blockDim.x) bits->used[w] = bits->middle[w] = bits->strong[w] = 0;
  if (threadIdx.x == 0) s->shared->live_count[0] = s->shared->live_count[1] = 0;
  __syncthreads(); /* the pairs have their places */
  for (uint32_t pair = VELO_MODULE_PAIRS - 1; pair >= VELO_MODULE_PAIRS - 3; pair--) {
    pair_load(s, pair, pair + 1 < VELO_MODULE_PAIRS ? 1 : 0);
    __syncthreads();
  }
  uint32_t wanted = s->a->first_seed_candidates;
  for (uint32_t top = VELO_MODULE_PAIRS - 1; top >= 2; top--) {
    const uint32_t list = top % 2;
    forward(s, top - 2, list);
    if (top > 2 && s->pairs_in_play == PAIRS) pair_load(s, top - 3, 1);
    __syncthreads(); /* marks are set */
    if (threadIdx.x == 0) s->shared->live_count[list] = 0;
    list_unused(s, top);
    __syncthreads();
    seed(s, top, 1 - list, wanted);
    wanted = s->a->seed_candidates;
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

/* An event's part of the workspace: of the arrays for all hits, of 4 words a hit, 4 words (live tracks), 1 and 1. In
 * the last one, bits take an eighth, and what follows them half a word for each hit and each pair: such an event has
 * more than SHARED_PAIR_HITS. */
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

/* How many pairs of the event shared memory has room for at a time: PAIRS, WIDE_PAIRS, or 0. */
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

/* Gives the pairs their places. A barrier follows. */
static SL_DEVICE void place_pairs(const struct search *s, const uint32_t *pair_first) {
  const uint32_t room = s->pairs_in_play == PAIRS ? SHARED_PAIR_HITS : SHARED_WIDE_ROOM;
  const float *z = s->a->geometry.module_z;
  for (uint32_t pair = threadIdx.x; pair < VELO_MODULE_PAIRS; pair += blockDim.x) {
    struct search_place *place = &s->shared->places[pair];
    place->first = pair_first[pair];
    place->begin = s->is_shared ? pair % s->pairs_in_play * room : place->first;
    place->end = place->begin + pair_first[pair + 1] - place->first;
    place->delta_z = pair + 2 < VELO_MODULE_PAIRS ? z[2 * pair] - z[2 * (pair + 2)] : 0.0f;
    s->shared->module_z[2 * pair] = z[2 * pair];
    s->shared->module_z[2 * pair + 1] = z[2 * pair + 1];
  }
}

/* Events are dealt out by classes of 32 hits, those with most hits first. Which one of a class is before another one
 * differs from run to run, and does not matter. */
enum { CLASSES = 256, CLASS_HITS = 32 };

static SL_DEVICE uint32_t class_of(uint32_t hits) {
  const uint32_t size = hits / CLASS_HITS;
  return CLASSES - 1 - (size < CLASSES ? size : CLASSES - 1);
}

/* Lists the events by class, so that none of the large ones is alone at the end. One block's: counts each class, and
 * gives each event a place of its class. Reads 12 bytes an event, twice. */
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
    const uint32_t place = before + sl_block_exclusive_scan(c < CLASSES ? next[c] : 0u, &total);
    if (c < CLASSES) next[c] = place;
    before += total;
  }
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < events; i += blockDim.x) {
    const uint32_t event = sl_event_at(&a.events, i);
    a.event_order[atomicAdd(&next[class_of(search_event_open(&a.hits, event).count)], 1u)] = event;
  }
}

/* Nine blocks of 128 threads have 56 registers a thread. */
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
    if (!search_event_is_searched(s.e)) { /* the same for all threads, as the next */
      for (uint32_t i = threadIdx.x; i < s.e.count; i += blockDim.x) a.used.flag[s.e.first + i] = 0;
    } else {
      s.pairs_in_play = pairs_with_room(&s.e, pair_first);
      if (s.pairs_in_play > 0) {
        s.is_shared = 1;
        s.memory = shared_memory(&shared);
        place_pairs(&s, pair_first);
        tracks = search_event(&s);
      } else {
        s.pairs_in_play = PAIRS;
        s.is_shared = 0;
        s.memory = scratch_memory(&a, s.e);
        place_pairs(&s, pair_first);
        tracks = search_event(&s);
      }
    }
    if (threadIdx.x == 0) a.candidates.offsets[event] = tracks;
    __syncthreads(); /* shared memory is free for the next event */
  }
}

enum {
  TRACK_WORDS = VELO_MAX_HITS_PER_TRACK / 2, /* of two hits */
  WRITE_THREADS = 16,                        /* to a track */
  TRACKS_AT_A_TIME = 4                       /* that a thread reads from before it writes to one */
};

/* Tracks to candidates, two hits a thread. Where the candidates don't fit, all offsets are 0 and nothing is written. */
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
          if (2 * word < length[k]) hits[k] = from[TRACK_WORDS * track[k] + word]; /* no more is written */
        SL_UNROLL
        for (uint32_t k = 0; k < TRACKS_AT_A_TIME; k++)
          if (k < left) at[TRACK_WORDS * k] = hits[k];
      }
    }
  }
}

/* An angle in the units of phi: 32768 is pi. Truncates. */
static int32_t phi_units(float radians) { return (int32_t)((double)radians * (32768.0 / 3.14159265358979323846)); }

/* The windows in azimuth, once. Their width is that of halves(), which is not for the host. */
static int prepare(const struct sl_services *services, void *args) {
  struct search_by_triplet_args *a = (struct search_by_triplet_args *)args;
  (void)services;
  a->phi_window = phi_units(a->phi_tolerance);
  a->half_window = (uint32_t)a->phi_window << 16;
  a->window_width = (uint32_t)(2 * a->phi_window) << 16 | 0xFFFF;
  return SL_OK;
}

static int run(const struct sl_launch *l, const struct search_by_triplet_args *a) {
  const int error = SL_LAUNCH(l, search_by_triplet_order, SL_PER_CHUNK(1), *a);
  return error ? error : SL_COUNT_SCAN_WRITE(l, search_by_triplet_find, search_by_triplet_write, a->candidates, *a);
}

static const struct sl_kernel_block search_by_triplet_blocks[] = {
    {"search_by_triplet_order", 1024, 0}, {"search_by_triplet_find", 128, 0}, {"search_by_triplet_write", 256, 0}};
static const struct sl_event_error search_errors[] = {
    {SEARCH_TOO_MANY_HITS, 0, "more hits than can be indexed, which are 65535"}};
SL_ALGORITHM(search_by_triplet, "VELO tracks by triplets of hits", 128, run, SL_ERRORS_OF(search_errors),
             SL_PREPARE(prepare), SL_CPU_TUNED(search_by_triplet_tuned), SL_BLOCKS(search_by_triplet_blocks));
