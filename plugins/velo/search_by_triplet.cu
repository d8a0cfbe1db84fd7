/* search_by_triplet.cu: straight tracks through the VELO, from hits sorted by azimuth (spec velo_pv.md A.5).
 *
 * Going upstream through the module pairs, each turn extends the live tracks by a hit of the next pair ("forward"),
 * then makes seeds of three hits in the last three pairs ("seed"): the middle hit h1, the unused hits h0 nearest to it
 * in azimuth one pair downstream, and for each such line the best unused hit h2 in a window of azimuth one pair
 * upstream. A track that has found a fourth hit marks its hits as used; used hits make no seeds.
 *
 * What makes the result independent of the order of threads (D.2): the middle hit identifies a track, so that a track
 * lives in the slot of its middle hit; "seed" only reads the marks and "forward" only sets them, with a barrier
 * between; minima are taken by one thread in a fixed order. Slots are read out in ascending order at the end, once for
 * tracks of four hits and more and once for those of three.
 *
 * Work of an event: some 800 middle hits with 4 windows each and 1200 windows of live tracks, 2 hits a window. Reads 22
 * bytes a hit, and 54 bytes of slot for each track. One thread has one middle hit or one live track. Azimuths of the
 * three pairs in play and a table of where each of 64 bins of azimuth begins lie in shared memory.
 */
#include "position.h"
#include "search_by_triplet.h"

enum { BIN_BITS = 6, BINS = 1 << BIN_BITS, CACHED_HITS = 512 };

struct search_launch {
  struct search_by_triplet_args a;
  int32_t phi_window;
};

/* The azimuths of the pairs in play: pair p lies in entry p % 3. */
struct search_cache {
  int16_t phi[3][CACHED_HITS];
  uint16_t bin_first[3][BINS + 1];
};

/* The hits of a module pair. */
struct search_pair {
  const int16_t *phi;
  const uint16_t *bin_first;
  uint32_t first; /* in the event */
  uint32_t count;
};

struct search_line {
  float x0, y0, z0, tx, ty;
};

struct search_best {
  float scatter;
  uint32_t hit; /* in the event */
};

static SL_DEVICE uint32_t phi_bin(int32_t phi) { return (uint32_t)(phi + 32768) >> (16 - BIN_BITS); }

static SL_DEVICE struct search_pair pair_open(const struct velo_hits_view *hits, struct search_event e, uint32_t event,
                                              uint32_t pair, const struct search_cache *cache) {
  const uint32_t *pair_first = hits->pair_first + event * (VELO_MODULE_PAIRS + 1);
  struct search_pair p;
  p.first = pair_first[pair];
  p.count = pair_first[pair + 1] - p.first;
  p.phi = p.count <= CACHED_HITS ? cache->phi[pair % 3] : hits->phi + e.first + p.first;
  p.bin_first = cache->bin_first[pair % 3];
  return p;
}

/* Brings a pair's azimuths into shared memory. All threads; a barrier must follow. */
static SL_DEVICE void pair_load(const struct velo_hits_view *hits, struct search_event e, uint32_t event, uint32_t pair,
                                struct search_cache *cache) {
  const uint32_t first = hits->pair_first[event * (VELO_MODULE_PAIRS + 1) + pair];
  const uint32_t count = hits->pair_first[event * (VELO_MODULE_PAIRS + 1) + pair + 1] - first;
  const int16_t *phi = hits->phi + e.first + first;
  for (uint32_t i = threadIdx.x; i <= count; i += blockDim.x) {
    const uint32_t bin = i < count ? phi_bin(phi[i]) : BINS;
    for (uint32_t b = i > 0 ? phi_bin(phi[i - 1]) + 1 : 0; b <= bin; b++) cache->bin_first[pair % 3][b] = (uint16_t)i;
    if (i < count && count <= CACHED_HITS) cache->phi[pair % 3][i] = phi[i];
  }
}

/* The first hit of the pair with an azimuth of `phi` or more; `count` if there is none. */
static SL_DEVICE uint32_t pair_lower_bound(const struct search_pair *p, int16_t phi) {
  const uint32_t bin = phi_bin(phi), end = p->bin_first[bin + 1];
  uint32_t i = p->bin_first[bin];
  while (i < end && p->phi[i] < phi) i++;
  return i;
}

static SL_DEVICE struct search_line line_through(const struct velo_hits_view *hits, uint32_t h0, uint32_t h1) {
  struct search_line line;
  line.x0 = hits->x[h0];
  line.y0 = hits->y[h0];
  line.z0 = hits->z[h0];
  line.tx = (hits->x[h1] - line.x0) / (hits->z[h1] - line.z0);
  line.ty = (hits->y[h1] - line.y0) / (hits->z[h1] - line.z0);
  return line;
}

/* Looks for a hit nearer to the line than `best` among those of the pair whose azimuth is at most `window` from that of
 * the line at z0 + delta_z, upwards from the window's lower edge. Hits marked in `used` are passed over, if given. */
static SL_DEVICE void search_window(const struct velo_hits_view *hits, struct search_event e,
                                    const struct search_pair *p, const struct search_line *line, float delta_z,
                                    int32_t window, const uint8_t *used, struct search_best *best) {
  const int16_t phi = velo_phi(line->x0 + line->tx * delta_z, line->y0 + line->ty * delta_z);
  uint32_t i = pair_lower_bound(p, (int16_t)(uint16_t)(phi - window));
  for (uint32_t visited = 0; visited < p->count; visited++, i++) {
    if (i == p->count) i = 0;
    const int32_t distance = (int16_t)(uint16_t)(p->phi[i] - phi);
    if ((distance < 0 ? -distance : distance) > window) break;
    const uint32_t hit = p->first + i;
    if (used && used[hit]) continue;
    const float dz = hits->z[e.first + hit] - line->z0;
    const float dx = line->x0 + line->tx * dz - hits->x[e.first + hit];
    const float dy = line->y0 + line->ty * dz - hits->y[e.first + hit];
    const float scatter = dx * dx + dy * dy;
    if (scatter < best->scatter) {
      best->scatter = scatter;
      best->hit = hit;
    }
  }
}

/* Seeds from pair `top` and the two below it: one for each unused middle hit that has a line and a third hit. Returns
 * the new number of live tracks. */
static SL_DEVICE uint32_t seed(const struct search_launch *launch, struct search_event e, uint32_t event, uint32_t top,
                               const struct search_cache *cache, uint32_t live_count) {
  const struct search_by_triplet_args *a = &launch->a;
  const struct search_pair p0 = pair_open(&a->hits, e, event, top, cache);
  const struct search_pair p1 = pair_open(&a->hits, e, event, top - 1, cache);
  const struct search_pair p2 = pair_open(&a->hits, e, event, top - 2, cache);
  const float delta_z = a->geometry.module_z[2 * (top - 2)] - a->geometry.module_z[2 * top];
  const uint32_t wanted = top == VELO_MODULE_PAIRS - 1 ? a->first_seed_candidates : a->seed_candidates;
  const uint8_t *used = a->used.flag + e.first;
  const uint32_t middle_count = p0.count > 0 && p2.count > 0 ? p1.count : 0;
  SL_FOR_BLOCK (j, middle_count) {
    const uint32_t h1 = p1.first + j;
    struct search_best best = {a->max_scatter, 0};
    uint32_t best_h0 = 0, found = 0;
    if (j < middle_count && !used[h1]) {
      uint32_t up = pair_lower_bound(&p0, p1.phi[j]) % p0.count, down = up, candidates = 0;
      for (uint32_t visit = 0; visit < p0.count && candidates < wanted; visit++) { /* s, s + 1, s - 1, s + 2, ... */
        if (visit % 2 == 1) up = up + 1 == p0.count ? 0 : up + 1;
        if (visit % 2 == 0 && visit > 0) down = down == 0 ? p0.count - 1 : down - 1;
        const uint32_t h0 = p0.first + (visit % 2 == 1 ? up : down);
        if (used[h0]) continue;
        candidates++;
        const struct search_line line = line_through(&a->hits, e.first + h0, e.first + h1);
        const float scatter_before = best.scatter;
        search_window(&a->hits, e, &p2, &line, delta_z, launch->phi_window, used, &best);
        if (best.scatter < scatter_before) {
          best_h0 = h0;
          found = 1;
        }
      }
    }
    const uint32_t place = sl_block_append(found, &live_count);
    if (found) {
      uint16_t *track = a->track_hits + (size_t)VELO_MAX_HITS_PER_TRACK * (e.first + h1);
      track[0] = (uint16_t)best_h0;
      track[1] = (uint16_t)h1;
      track[2] = (uint16_t)best.hit;
      a->track_length[e.first + h1] = 3;
      a->track_skips[e.first + h1] = 0;
      a->live[e.first + place] = (uint16_t)h1;
    }
  }
  return live_count;
}

/* Extends the track in slot `h1` by its best hit in the pair; returns whether it stays live. */
static SL_DEVICE uint32_t extend(const struct search_launch *launch, struct search_event e, const struct search_pair *p,
                                 uint32_t pair, uint32_t h1) {
  const struct search_by_triplet_args *a = &launch->a;
  uint16_t *track = a->track_hits + (size_t)VELO_MAX_HITS_PER_TRACK * (e.first + h1);
  const uint32_t length = a->track_length[e.first + h1];
  const uint32_t older = e.first + track[length - 2], newest = e.first + track[length - 1];
  const struct search_line line = line_through(&a->hits, older, newest);
  const uint32_t side = a->hits.id[older] >> 20 & 1; /* the module's number, even or odd */
  struct search_best best = {a->max_scatter, 0};
  search_window(&a->hits, e, p, &line, a->geometry.module_z[2 * pair + side] - line.z0, launch->phi_window, NULL,
                &best);
  if (!(best.scatter < a->max_scatter)) {
    a->track_skips[e.first + h1]++;
    return a->track_skips[e.first + h1] <= a->max_skipped_modules;
  }
  uint8_t *used = a->used.flag + e.first;
  used[best.hit] = 1; /* several threads may do so */
  if (length == 3)
    for (uint32_t i = 0; i < 3; i++) used[track[i]] = 1;
  track[length] = (uint16_t)best.hit;
  a->track_length[e.first + h1] = (uint8_t)(length + 1);
  a->track_skips[e.first + h1] = 0;
  return length + 1 < VELO_MAX_HITS_PER_TRACK;
}

/* Extends all live tracks; returns how many stay live, in the same order. */
static SL_DEVICE uint32_t forward(const struct search_launch *launch, struct search_event e, uint32_t event,
                                  uint32_t pair, const struct search_cache *cache, uint32_t live_count) {
  const struct search_pair p = pair_open(&launch->a.hits, e, event, pair, cache);
  uint16_t *live = launch->a.live + e.first;
  uint32_t kept = 0;
  SL_FOR_BLOCK (i, live_count) {
    const uint32_t h1 = i < live_count ? live[i] : 0;
    const uint32_t stays = i < live_count ? extend(launch, e, &p, pair, h1) : 0;
    const uint32_t place = sl_block_append(stays, &kept); /* place <= i: all have read theirs */
    if (stays) live[place] = (uint16_t)h1;
  }
  return kept;
}

SL_KERNEL(search_by_triplet_find, struct search_launch) {
  __shared__ struct search_cache cache;
  SL_FOR_EVENTS (event, a.a.events) {
    const struct search_event e = search_event_open(&a.a.hits, event);
    for (uint32_t i = threadIdx.x; i < e.count; i += blockDim.x) {
      a.a.used.flag[e.first + i] = 0;
      a.a.track_length[e.first + i] = 0;
    }
    uint32_t live_count = 0;
    if (search_event_is_searched(e)) { /* the same for all threads */
      pair_load(&a.a.hits, e, event, VELO_MODULE_PAIRS - 1, &cache);
      pair_load(&a.a.hits, e, event, VELO_MODULE_PAIRS - 2, &cache);
      for (uint32_t top = VELO_MODULE_PAIRS - 1; top >= 2; top--) {
        pair_load(&a.a.hits, e, event, top - 2, &cache);
        __syncthreads();
        if (top < VELO_MODULE_PAIRS - 1) live_count = forward(&a, e, event, top - 2, &cache, live_count);
        __syncthreads(); /* marks are set */
        live_count = seed(&a, e, event, top, &cache, live_count);
        __syncthreads(); /* marks are read, and the oldest pair of the cache is free */
      }
    }
    uint32_t tracks = 0;
    for (uint32_t i = threadIdx.x; i < e.count; i += blockDim.x) tracks += a.a.track_length[e.first + i] > 0 ? 1u : 0u;
    tracks = sl_block_sum_u32(tracks);
    if (threadIdx.x == 0) a.a.candidates.offsets[event] = tracks;
  }
}

/* Slots to candidates. Where the candidates don't fit, all offsets are 0 and nothing is written. */
SL_KERNEL(search_by_triplet_write, struct search_by_triplet_args) {
  SL_FOR_EVENTS (event, a.events) {
    const struct search_event e = search_event_open(&a.hits, event);
    const uint32_t begin = a.candidates.offsets[event];
    const uint32_t slots = a.candidates.offsets[event + 1] > begin ? e.count : 0;
    uint32_t written = 0;
    for (uint32_t weak = 0; weak < 2; weak++) {
      SL_FOR_BLOCK (h1, slots) {
        const uint32_t length = h1 < slots ? a.track_length[e.first + h1] : 0;
        const uint32_t wanted = length > 0 && (length == 3) == (weak == 1);
        const uint32_t place = sl_block_append(wanted, &written);
        if (wanted) {
          const uint16_t *track = a.track_hits + (size_t)VELO_MAX_HITS_PER_TRACK * (e.first + h1);
          uint16_t *out = a.candidates.hits + (size_t)VELO_MAX_HITS_PER_TRACK * (begin + place);
          for (uint32_t i = 0; i < VELO_MAX_HITS_PER_TRACK; i++) out[i] = i < length ? track[i] : 0;
          a.candidates.hit_count[begin + place] = (uint8_t)length;
        }
      }
    }
  }
}

static int run(const struct sl_launch *l, const struct search_by_triplet_args *args) {
  struct search_launch launch;
  launch.a = *args;
  launch.phi_window = search_phi_units(args->phi_tolerance);
  int error = SL_LAUNCH(l, search_by_triplet_find, SL_PER_EVENT, launch);
  if (!error) error = l->scan(l, args->candidates.offsets, &args->candidates.bound);
  if (!error) error = SL_LAUNCH(l, search_by_triplet_write, SL_PER_EVENT, *args);
  return error;
}

#define SL_ARGS search_by_triplet_args
static const struct sl_member search_by_triplet_members[] = {
    SL_EVENTS(),
    SL_IN(hits, velo_hits, "", "sorted by azimuth in each module pair"),
    SL_IN(geometry, velo_geometry, "module_z", "where the modules stand"),
    SL_OUT(candidates, velo_track_candidates, "tracks of four hits and more, then those of three",
           SL_ITEMS(SL_MIN(SL_ITEMS_TERM(hits), SL_BUDGET_TERM(candidates_per_event, 8192)))),
    SL_OUT(used, velo_used_hits, "hits on tracks of four hits and more", SL_SHARES_OFFSETS(hits)),
    SL_F32(phi_tolerance, 0.045, 0.0, 1.0, "rad", "half the width of the windows in azimuth"),
    SL_F32(max_scatter, 0.08, 0.0, 1e6, "mm2", "largest squared distance of a hit from the line of the two before it"),
    SL_U32(max_skipped_modules, 1, 0, 24, "module pairs", "how many in a row a track may pass without a hit"),
    SL_U32(first_seed_candidates, 8, 1, SEARCH_MAX_SEED_CANDIDATES, "",
           "first hits tried for a seed's middle hit, most downstream seeds"),
    SL_U32(seed_candidates, 4, 1, SEARCH_MAX_SEED_CANDIDATES, "", "first hits tried for a seed's middle hit"),
    SL_BUDGET(candidates_per_event, 400, 1, SEARCH_MAX_HITS, "track candidates, three-hit ones included"),
    SL_SCRATCH(track_hits, u16, "tracks in the slots of their middle hits",
               SL_ONE(SL_ITEMS_SCALED(hits, VELO_MAX_HITS_PER_TRACK, 1, 0))),
    SL_SCRATCH(track_length, u8, "hits of each track, 0 for an empty slot", SL_ONE(SL_ITEMS_TERM(hits))),
    SL_SCRATCH(track_skips, u8, "pairs that each live track has just passed without a hit",
               SL_ONE(SL_ITEMS_TERM(hits))),
    SL_SCRATCH(live, u16, "slots of the tracks that may still be extended", SL_ONE(SL_ITEMS_TERM(hits))),
    SL_SCRATCH(workspace, u32, "copies of single pairs for the CPU",
               SL_MIN(SL_ITEMS_SCALED(hits, SEARCH_WORK_ARRAYS, 1, SEARCH_WORK_ARRAYS *SEARCH_WORK_SLACK),
                      SL_CONSTANT_TERM(SEARCH_WORK_ARRAYS *(SEARCH_MAX_HITS + SEARCH_WORK_SLACK)))),
};
SL_ALGORITHM_TUNED(search_by_triplet, "VELO tracks by triplets of hits", 64, run, SEARCH_BY_TRIPLET_TUNED);
