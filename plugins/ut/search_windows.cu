/* ut.search_windows: in each layer, where the hits of a VELO track may be (README.md, "Tracks").
 *
 * A track is a straight line from the end of the VELO. The magnet moves it in x by up to what a particle of the
 * smallest momentum would be moved, so that a window in x has that half-width; in y it goes straight on. Groups that no
 * hit within the window in x can be of are not searched: of five, 1.65 are, and never more than three in the nominal
 * detector. Hits of a group are sorted by y, so that those that the longest strip of the group allows are found by
 * binary searches: 5.5 of 28.
 *
 * A block takes an event. For 80 tracks at a time it does each step with a thread an item of its own:
 * 1. A thread a track and layer lists the groups to search.
 * 2. A thread a search finds the first and the last of the hits to try.
 * 3. A thread a hit of a search tries it. The first and the last that pass are the least and the largest, whatever the
 *    order of threads.
 * 4. A thread a track and layer writes the windows.
 * On cpu hits are tried eight at a time instead of 2 and 3, search by search.
 *
 * Reads 20 bytes a track, and 37 hits of 16 bytes, most of them from the caches; writes 88 bytes a track.
 */
#include "find_range.h"
#include "ut/event_model.h"
#include "velo/event_model.h"

#include <sluice/kernel.h>

enum {
  TRACKS = 80, /* searched at a time */
  PASSAGES = TRACKS * UT_LAYERS,
  SEARCHES = PASSAGES * UT_LAYER_WINDOWS /* at most */
};

#define SL_ARGS search_windows_args
#define SEARCH_WINDOWS(M)                                                                                              \
  M(IN, selected, ut_selected_tracks, "", "tracks to search for")                                                      \
  M(IN, states, velo_end_states, "offsets x y z tx ty", "of all VELO tracks")                                          \
  M(IN, hits, ut_hits, "offsets group_first x y y_end z", "where to search")                                           \
  M(IN, groups, ut_sector_groups, "layer_first x x_least x_most length layer_z layer_depth layer_slope", "of sectors") \
  M(IN, tables, ut_magnet_tables, "deflection constants", "what the magnet does")                                      \
  M(OUT, windows, ut_windows, "for each selected track", SL_SHARES_OFFSETS(selected))                                  \
  M(F32, min_momentum, 1250.0, 100.0, 1e6, "MeV", "smallest momentum that is searched for")                            \
  M(F32, min_pt, 275.0, 0.0, 1e6, "MeV", "smallest transverse momentum that is searched for")                          \
  M(F32, y_tolerance, 0.5, 0.0, 100.0, "mm", "how far beyond a strip's end a track may be")                            \
  M(F32, y_tolerance_slope, 0.08, 0.0, 10.0, "", "so much more for each mm that the hit is away in x")
SL_ARGUMENTS(search_windows, SEARCH_WINDOWS);

static const float largest_inverse_slope = 500.0f;
/* mm: so much more is searched than what follows from the tolerances, since these are rounded. */
static const float slack = 0.01f;

struct track {
  float x, y, z, tx, ty; /* a place on the line */
  float momentum;        /* the smallest one that is searched for */
  uint32_t bin;          /* of the table */
};

static SL_DEVICE struct track open_track(const struct search_windows_args *a, uint32_t state) {
  struct track t;
  t.x = a->states.x[state];
  t.y = a->states.y[state];
  t.z = a->states.z[state];
  t.tx = a->states.tx[state];
  t.ty = a->states.ty[state];
  const float steepness = sqrtf(t.tx * t.tx + t.ty * t.ty);
  const float inverse = steepness * largest_inverse_slope > 1.0f ? 1.0f / steepness : largest_inverse_slope;
  t.momentum = sl_max_f32(a->min_pt * inverse, a->min_momentum);
  const uint32_t bin = sl_to_u32(100.0f * sl_abs_f32(t.ty) + 0.5f), last = UT_DEFLECTION_BINS - 1;
  t.bin = bin < last ? bin : last;
  return t;
}

/* What a track in a layer asks of hits. */
struct passage {
  float y_0, ty;        /* y at z = 0 and dy/dz */
  float away_0, away_z; /* a hit of x at y = 0 is x + away_0 + away_z z away from the line */
  float width;          /* half of the window in x */
  float tolerance_per_x;
  float y_low, y_high; /* no lower end of a strip that is not longer than that is below or above */
};

/* The first of values in ascending order that is at least this, or `end`. */
static SL_DEVICE uint32_t lower_bound(const float *values, uint32_t begin, uint32_t end, float least) {
#if defined(SL_TARGET_CPU) /* eight at a time, which is faster for the few that there are */
  uint32_t below = 0;
  for (uint32_t i = begin; i < end; i++) below += values[i] < least ? 1u : 0u;
  return begin + below;
#else
  while (begin < end) {
    const uint32_t middle = (begin + end) / 2;
    if (values[middle] < least)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
#endif
}

static SL_DEVICE uint32_t is_compatible(const struct search_windows_args *a, const struct passage *p, uint32_t hit) {
  const float hit_x = a->hits.x[hit], hit_y = a->hits.y[hit], hit_y_end = a->hits.y_end[hit], hit_z = a->hits.z[hit];
  const float y = p->y_0 + p->ty * hit_z, distance = sl_abs_f32(hit_x + (p->away_0 + p->away_z * hit_z));
  const float tolerance = a->y_tolerance + p->tolerance_per_x * distance;
  return (uint32_t)(distance <= p->width) & (uint32_t)(hit_y - tolerance <= y) & (uint32_t)(y <= hit_y_end + tolerance);
}

#if defined(SL_TARGET_CPU)
/* The first hit that was found, and one behind the last; begin > end: none. */
struct range {
  uint32_t begin, end;
};

enum { LANES = 8, SKIPPED = 64 };
typedef float f32x8 __attribute__((vector_size(32)));
typedef int32_t i32x8 __attribute__((vector_size(32)));

static inline f32x8 load(const float *values) {
  f32x8 v;
  memcpy(&v, values, sizeof v);
  return v;
}

/* is_compatible of eight hits, the first of which is `hit`: -1 or 0. */
static inline i32x8 are_compatible(const struct search_windows_args *a, const struct passage *p, uint32_t hit) {
  const f32x8 z = load(a->hits.z + hit), y = p->y_0 + p->ty * z;
  const f32x8 away = load(a->hits.x + hit) + (p->away_0 + p->away_z * z);
  const f32x8 distance = (f32x8)((i32x8)away & INT32_MAX), tolerance = a->y_tolerance + p->tolerance_per_x * distance;
  return (distance <= p->width) & (load(a->hits.y + hit) - tolerance <= y) &
         (y <= load(a->hits.y_end + hit) + tolerance);
}

static inline i32x8 larger(i32x8 a, i32x8 b) {
  const i32x8 is_a = a > b;
  return (a & is_a) | (b & ~is_a);
}

static inline uint32_t largest(i32x8 v) {
  const i32x8 halves = {4, 5, 6, 7, 0, 1, 2, 3}, pairs = {2, 3, 0, 1, 6, 7, 4, 5}, ones = {1, 0, 3, 2, 5, 4, 7, 6};
  v = larger(v, __builtin_shuffle(v, halves));
  v = larger(v, __builtin_shuffle(v, pairs));
  v = larger(v, __builtin_shuffle(v, ones));
  return (uint32_t)v[0];
}

/* Tries the hits eight at a time, from the last ones on; those of a vector that come before `begin` are other hits of
 * the event. Few are beyond the two values of y, and these are skipped in large steps: branches that depend on the hits
 * cost more than hits. */
static inline struct range search_hits(const struct search_windows_args *a, const struct passage *p,
                                       uint32_t event_first, uint32_t begin, uint32_t end, float y_least,
                                       float y_most) {
  const i32x8 place = {0, 1, 2, 3, 4, 5, 6, 7};
  i32x8 ends = {0}, begins = {0}; /* of hits that were found, from `begin` and back from `end`; 0: none */
  struct range r = {UINT32_MAX, 0};
  uint32_t base = end;
  while (base >= begin + SKIPPED && a->hits.y[base - SKIPPED] > y_most) base -= SKIPPED;
  const uint32_t last = base;
  for (; base > begin && a->hits.y[base - 1] >= y_least && base >= event_first + LANES; base -= LANES) {
    const i32x8 from_begin = place + (int32_t)(base - LANES + 1 - begin);
    const i32x8 found = are_compatible(a, p, base - LANES) & (from_begin > 0);
    ends = larger(ends, from_begin & found);
    begins = larger(begins, ((int32_t)(last + 1 - begin) - from_begin) & found);
  }
  const uint32_t found_end = largest(ends), found_begin = last - largest(begins);
  r.end = found_end > 0 ? begin + found_end : 0;
  r.begin = found_end > 0 ? found_begin : UINT32_MAX;
  for (uint32_t i = base; i-- > begin && a->hits.y[i] >= y_least;) { /* the event's first hits */
    if (!is_compatible(a, p, i)) continue;
    r.begin = i;
    if (r.end == 0) r.end = i + 1;
  }
  return r;
}
#endif

/* --------------------------------------------------------------------------------------------------- searches */

/* Tracks that a block searches for side by side. A search is that of a group of a passage. */
struct search_shared {
  struct passage passage[PASSAGES];
  uint32_t search_first[PASSAGES + 1]; /* of each passage */
  uint16_t passage_of[SEARCHES];
  uint8_t group[SEARCHES];
  uint16_t hit[SEARCHES];            /* the first one that is tried, of the event */
  uint32_t test_first[SEARCHES + 1]; /* of each search: all hits that are tried, one search after another */
  uint32_t found[SEARCHES], found_end[SEARCHES];
};

struct search {
  struct search_shared *shared;
  uint32_t event, first_item, tracks, searches;
};

/* The group of a layer's window: those from the one that the line would pass, if all were at y = 0, to the left and the
 * right. */
static SL_DEVICE int32_t group_of(int32_t middle, int32_t window) {
  return window % 2 ? middle - (window + 1) / 2 : middle + window / 2;
}

/* Opens a passage. Returns which of the groups of its windows can have hits that are not further away in x than the
 * window is wide, a bit each; `middle`: the first one. */
static SL_DEVICE uint32_t open_passage(const struct search_windows_args *a, const struct track *t, uint32_t layer,
                                       struct passage *p, int32_t *middle) {
  const float slope = a->groups.layer_slope[layer], depth = a->groups.layer_depth[layer]; /* of sectors, from layer_z */
  const float deflection = a->tables.deflection[UT_LAYERS * t->bin + layer];
  p->ty = t->ty;
  p->width = 1.0f / (a->tables.constants[UT_DISTANCE_TO_MOMENTUM] * t->momentum * deflection);
  p->y_0 = t->y - t->ty * t->z;
  p->away_0 = p->y_0 * slope - (t->x - t->tx * t->z);
  p->away_z = t->ty * slope - t->tx;
  p->tolerance_per_x = a->y_tolerance_slope / deflection;
  const float dz = a->groups.layer_z[layer] - t->z, x = t->x + t->tx * dz, y = t->y + t->ty * dz;
  const float reach_y = a->y_tolerance + p->tolerance_per_x * p->width + depth * sl_abs_f32(t->ty) + slack;
  p->y_low = y - reach_y;
  p->y_high = y + reach_y;
  const int32_t begin = (int32_t)a->groups.layer_first[layer], last = (int32_t)a->groups.layer_first[layer + 1] - 1;
  const float at_0 = x - y * slope, reach_x = p->width + depth * (sl_abs_f32(t->tx) + sl_abs_f32(t->ty * slope));
  uint32_t in_reach = 0;
  *middle = (int32_t)lower_bound(a->groups.x, (uint32_t)begin, (uint32_t)last + 1, x) - 1;
  SL_UNROLL
  for (int32_t w = 0; w < UT_LAYER_WINDOWS; w++) {
    const int32_t group = group_of(*middle, w), inside = group < begin ? begin : group > last ? last : group;
    in_reach |= ((uint32_t)(group == inside) & (uint32_t)(at_0 + reach_x >= a->groups.x_least[inside]) &
                 (uint32_t)(at_0 - reach_x <= a->groups.x_most[inside]))
                << w;
  }
  return in_reach;
}

/* Lists the searches, a thread a passage. */
static SL_DEVICE void list_searches(const struct search_windows_args *a, struct search *s) {
  struct search_shared *shared = s->shared;
  struct track t = {0, 0, 0, 0, 0, 0, 0};
  s->searches = 0;
  if (threadIdx.x == 0) shared->search_first[0] = 0;
  SL_FOR_BLOCK (i, UT_LAYERS * s->tracks) {
    uint32_t in_reach = 0, total;
    int32_t middle = 0;
    if (i < UT_LAYERS * s->tracks) {
      const uint32_t item = s->first_item + i / UT_LAYERS, layer = i % UT_LAYERS;
      if (blockDim.x > 1 || layer == 0) t = open_track(a, a->states.offsets[s->event] + a->selected.track[item]);
      in_reach = open_passage(a, &t, layer, &shared->passage[i], &middle);
    }
    uint32_t place = s->searches + sl_block_exclusive_scan(sl_count_bits(in_reach), &total);
    for (; in_reach > 0; in_reach &= in_reach - 1) {
      const uint32_t window = sl_count_bits((in_reach & (0u - in_reach)) - 1u);
      shared->passage_of[place] = (uint16_t)i;
      shared->group[place++] = (uint8_t)group_of(middle, (int32_t)window);
    }
    if (i < UT_LAYERS * s->tracks) shared->search_first[i + 1] = place;
    s->searches += total;
  }
  __syncthreads();
}

#if defined(SL_TARGET_CPU)
/* Tries the hits of each search, eight at a time. */
static inline void try_hits(const struct search_windows_args *a, const struct search *s) {
  struct search_shared *shared = s->shared;
  const uint16_t *group_first = a->hits.group_first + (size_t)s->event * (UT_GROUPS_MAX + 1);
  const uint32_t event_first = a->hits.offsets[s->event];
  for (uint32_t i = 0; i < s->searches; i++) {
    const struct passage *p = &shared->passage[shared->passage_of[i]];
    const uint32_t group = shared->group[i];
    const uint32_t begin = event_first + group_first[group], end = event_first + group_first[group + 1];
    const struct range r = search_hits(a, p, event_first, begin, end, p->y_low - a->groups.length[group], p->y_high);
    shared->found[i] = r.begin - event_first;
    shared->found_end[i] = r.begin < r.end ? r.end - event_first : 0;
  }
}
#else
/* Lists the hits of the searches that are within reach in y, a thread a search. Returns their number. */
static SL_DEVICE uint32_t list_hits(const struct search_windows_args *a, const struct search *s) {
  struct search_shared *shared = s->shared;
  const uint16_t *group_first = a->hits.group_first + (size_t)s->event * (UT_GROUPS_MAX + 1);
  const float *y = a->hits.y + a->hits.offsets[s->event];
  uint32_t sum = 0;
  if (threadIdx.x == 0) shared->test_first[0] = 0;
  SL_FOR_BLOCK (i, s->searches) {
    uint32_t hits = 0, total;
    if (i < s->searches) {
      const struct passage *p = &shared->passage[shared->passage_of[i]];
      const uint32_t group = shared->group[i], group_end = group_first[group + 1];
      const uint32_t begin = lower_bound(y, group_first[group], group_end, p->y_low - a->groups.length[group]);
      hits = lower_bound(y, begin, group_end, p->y_high) - begin;
      shared->hit[i] = (uint16_t)begin;
      shared->found[i] = UINT32_MAX;
      shared->found_end[i] = 0;
    }
    const uint32_t end = sum + sl_block_exclusive_scan(hits, &total) + hits;
    if (i < s->searches) shared->test_first[i + 1] = end;
    sum += total;
  }
  __syncthreads();
  return sum;
}

/* Tries the hits, a thread a hit of a search. */
static SL_DEVICE void try_hits(const struct search_windows_args *a, const struct search *s) {
  struct search_shared *shared = s->shared;
  const uint32_t tests = list_hits(a, s), event_first = a->hits.offsets[s->event];
  for (uint32_t i = threadIdx.x; i < tests; i += blockDim.x) {
    const uint32_t k = ut_find_range(shared->test_first, s->searches, i, 0);
    const uint32_t hit = shared->hit[k] + i - shared->test_first[k];
    if (!is_compatible(a, &shared->passage[shared->passage_of[k]], event_first + hit)) continue;
    atomicMin(&shared->found[k], hit);
    atomicMax(&shared->found_end[k], hit + 1);
  }
  __syncthreads();
}
#endif

/* Writes the windows, those with hits first, a thread a passage. */
static SL_DEVICE void write_windows(const struct search_windows_args *a, const struct search *s) {
  const struct search_shared *shared = s->shared;
  for (uint32_t i = threadIdx.x; i < UT_LAYERS * s->tracks; i += blockDim.x) {
    const size_t place = (size_t)s->first_item * UT_LAYERS + i;
    uint16_t *first = a->windows.first + place * UT_LAYER_WINDOWS, *count = a->windows.count + place * UT_LAYER_WINDOWS;
    uint32_t filled = 0, hits = 0;
    for (uint32_t k = shared->search_first[i]; k < shared->search_first[i + 1]; k++) {
      if (shared->found_end[k] == 0) continue;
      first[filled] = (uint16_t)shared->found[k];
      count[filled++] = (uint16_t)(shared->found_end[k] - shared->found[k]);
      hits += shared->found_end[k] - shared->found[k];
    }
    for (; filled < UT_LAYER_WINDOWS; filled++) {
      first[filled] = 0;
      count[filled] = 0;
    }
    a->windows.hits[place] = (uint16_t)hits;
  }
}

SL_KERNEL(search_windows_search, struct search_windows_args) {
  __shared__ struct search_shared shared;
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t end = a.selected.offsets[event + 1];
    struct search s;
    s.shared = &shared;
    s.event = event;
    for (s.first_item = a.selected.offsets[event]; s.first_item < end; s.first_item += TRACKS) {
      s.tracks = end - s.first_item < TRACKS ? end - s.first_item : TRACKS;
      list_searches(&a, &s);
      try_hits(&a, &s);
      write_windows(&a, &s);
      __syncthreads(); /* the lists are free */
    }
  }
}

static int run(const struct sl_launch *l, const struct search_windows_args *a) {
  return SL_LAUNCH(l, search_windows_search, SL_PER_EVENT, *a);
}

SL_ALGORITHM(search_windows, "where UT hits of VELO tracks may be", 256, run);
