/* ut.search_windows: finds, in each layer, the UT hits that a VELO track may have (README.md, "Tracks").
 *   1. Extrapolate the track as a straight line to the layer. The half width of the window in x is the bend of a
 *      particle of the smallest momentum that is searched for.
 *   2. Find the groups of sectors that overlap the window: at most five, usually three or four.
 *   3. In each group, with hits sorted by y, find the first and the last compatible hit.
 * Parallelism: SL_LANES tracks and one layer at a time (sluice/lanes.h). A CPU compares eight hits at a time; a GPU
 * thread tries hits one by one from the first possible y on.
 * Cost: reads 20 bytes per track and about 20 hits of 16 bytes, which stay in the caches; writes 80 bytes per track.
 */
#include "ut/event_model.h"
#include "velo/event_model.h"

#include <sluice/lanes.h>

#define SL_ARGS search_windows_args
#define SEARCH_WINDOWS(M)                                                                                            \
  M(IN, selected, ut_selected_tracks, "", "selected VELO tracks")                                                    \
  M(IN, end_states, track_states, "offsets x y z tx ty", "states of all VELO tracks at the end of the VELO")         \
  M(IN, hits, ut_hits, "offsets group_first x y y_end z", "UT hits")                                                 \
  M(IN, groups, ut_sector_groups, "layer_first x x_least x_most length layer_z layer_depth layer_slope",             \
    "groups of sectors")                                                                                             \
  M(IN, tables, ut_magnet_tables, "deflection constants", "deflections by the magnet and constants of the formulas") \
  M(OUT, windows, ut_windows, "search windows of each selected track", SL_SHARES_OFFSETS(selected))                  \
  M(F32, min_momentum, 1250.0, 100.0, 1e6, "MeV", "smallest momentum that is searched for")                          \
  M(F32, min_pt, 275.0, 0.0, 1e6, "MeV", "smallest transverse momentum that is searched for")                        \
  M(F32, y_tolerance, 0.5, 0.0, 100.0, "mm", "largest distance in y of a track from the end of a strip")             \
  M(F32, y_tolerance_slope, 0.08, 0.0, 10.0, "",                                                                     \
    "increase of y_tolerance per mm of distance between hit and track in x")
SL_ARGUMENTS(search_windows, SEARCH_WINDOWS);

static const float largest_inverse_slope = 500.0f;
/* Margin in mm added to the y limits of hits, because the tolerances are rounded. */
static const float margin = 0.01f;

/* The group of window 0 to 4 of a layer: `middle`, then left, right, left and right of it. */
static SL_DEVICE int32_t group_of(int32_t middle, int32_t window) {
  return window % 2 ? middle - (window + 1) / 2 : middle + window / 2;
}

/* An index of a group that is safe to read: `begin` may be UT_GROUPS_MAX if the last layers have no groups. */
static SL_DEVICE int32_t group_to_read(int32_t begin) { return begin < UT_GROUPS_MAX ? begin : UT_GROUPS_MAX - 1; }

/* Tracks, one per lane. */
struct tracks {
  sl_f32s x, y, z, tx, ty; /* state at the end of the VELO */
  sl_f32s momentum;        /* smallest momentum that is searched for */
  sl_i32s bin;             /* bin of |ty| in the table of deflections */
};

/* Loads `count` tracks from `item` on; further lanes repeat the last one. */
SL_LANES_FUNCTION struct tracks open_tracks(const struct search_windows_args *a, uint32_t event, uint32_t item,
                                            uint32_t count) {
  const sl_i32s track = sl_i32s_load((const int32_t *)a->selected.track + item, count);
  const sl_i32s state = sl_i32s_of(a->end_states.offsets[event]) + track;
  struct tracks t;
  t.x = sl_f32s_gather(a->end_states.x, state);
  t.y = sl_f32s_gather(a->end_states.y, state);
  t.z = sl_f32s_gather(a->end_states.z, state);
  t.tx = sl_f32s_gather(a->end_states.tx, state);
  t.ty = sl_f32s_gather(a->end_states.ty, state);
  const sl_f32s steepness = sl_f32s_sqrt(t.tx * t.tx + t.ty * t.ty), largest = sl_f32s_of(largest_inverse_slope);
  const sl_i32s is_steep = SL_MASK(steepness * largest_inverse_slope > 1.0f);
  t.momentum =
      sl_f32s_max(a->min_pt * sl_f32s_select(is_steep, 1.0f / steepness, largest), sl_f32s_of(a->min_momentum));
  const sl_f32s bin = 100.0f * sl_f32s_abs(t.ty) + 0.5f;
  t.bin = sl_i32s_truncated(sl_f32s_min(bin, sl_f32s_of(UT_DEFLECTION_BINS - 1)));
  return t;
}

/* Tracks extrapolated to a layer. */
struct extrapolations {
  float y_0[SL_LANES], ty[SL_LANES];         /* y at z = 0; slope */
  float width[SL_LANES];                     /* half width of the window in x */
  float away_0[SL_LANES], away_z[SL_LANES];  /* distance of a hit from the line: x(y = 0) + away_0 + away_z z */
  float tolerance_per_x[SL_LANES];           /* increase of the y tolerance per mm in x */
  float y_least[SL_LANES], y_most[SL_LANES]; /* limits of the lower end of a strip, without its length */
  int32_t middle[SL_LANES];                  /* group of window 0 */
  int32_t windows[SL_LANES];                 /* bit per window: 1 if its group overlaps the window in x */
};

SL_LANES_FUNCTION void extrapolate(const struct search_windows_args *a, const struct tracks *t, uint32_t layer,
                                   struct extrapolations *p) {
  const float slope = a->groups.layer_slope[layer]; /* dx/dy of the strips */
  const float depth = a->groups.layer_depth[layer]; /* largest distance in z of a sector from the middle of the layer */
  const float momentum_scale = a->tables.constants[UT_DISTANCE_TO_MOMENTUM];
  const int32_t begin = (int32_t)a->groups.layer_first[layer], last = (int32_t)a->groups.layer_first[layer + 1] - 1;
  const sl_f32s deflection = sl_f32s_gather(a->tables.deflection, UT_LAYERS * t->bin + sl_i32s_of(layer));
  const sl_f32s width = 1.0f / (momentum_scale * t->momentum * deflection);
  const sl_f32s tolerance_per_x = a->y_tolerance_slope / deflection;
  const sl_f32s dz = a->groups.layer_z[layer] - t->z, x = t->x + t->tx * dz, y = t->y + t->ty * dz;
  const sl_f32s y_0 = t->y - t->ty * t->z;
  sl_f32s_out(p->y_0, y_0);
  sl_f32s_out(p->ty, t->ty);
  sl_f32s_out(p->width, width);
  sl_f32s_out(p->away_0, y_0 * slope - (t->x - t->tx * t->z));
  sl_f32s_out(p->away_z, t->ty * slope - t->tx);
  sl_f32s_out(p->tolerance_per_x, tolerance_per_x);
  const sl_f32s window_y = a->y_tolerance + tolerance_per_x * width + depth * sl_f32s_abs(t->ty);
  sl_f32s_out(p->y_least, y - window_y - margin);
  sl_f32s_out(p->y_most, y + window_y + margin);

  const sl_i32s least = sl_i32s_of((uint32_t)group_to_read(begin));
  const sl_i32s middle = sl_lower_bound(a->groups.x, (uint32_t)begin, (uint32_t)(last + 1), x) - 1;
  sl_i32s windows = sl_i32s_of(0);
  const sl_f32s window_x = width + depth * (sl_f32s_abs(t->tx) + sl_f32s_abs(t->ty * slope)), at_0 = x - y * slope;
  SL_UNROLL for (int32_t w = 0; w < UT_LAYER_WINDOWS; w++) {
    const sl_i32s group = middle + group_of(0, w);
    const sl_i32s read = sl_i32s_max(sl_i32s_min(group, sl_i32s_of((uint32_t)last)), least);
    const sl_i32s overlaps = SL_MASK(group >= begin) & SL_MASK(group <= last) &
                             SL_MASK(at_0 + window_x >= sl_f32s_gather(a->groups.x_least, read)) &
                             SL_MASK(at_0 - window_x <= sl_f32s_gather(a->groups.x_most, read));
    windows |= overlaps & 1 << w;
  }
  sl_i32s_out(p->middle, middle);
  sl_i32s_out(p->windows, windows);
}

/* A window: first hit relative to the event, number of hits; 0, 0 without hits. */
struct window {
  uint32_t first, count;
};

/* ----------------------------------------------------------------------------------------------- hits of a group */

#if defined(SL_TARGET_CPU)
enum { CHUNK = 64 }; /* hits per 64-bit word */

/* One bit for each of eight hits: 1 if the hit is compatible with the track of a lane. */
VECTOR_INLINE uint32_t are_compatible(const struct search_windows_args *a, const struct extrapolations *p,
                                      uint32_t lane, uint32_t hit) {
  const f32x8 z = f32x8_load(a->hits.z + hit), y = p->y_0[lane] + p->ty[lane] * z;
  const f32x8 distance = sl_f32s_abs(f32x8_load(a->hits.x + hit) + (p->away_0[lane] + p->away_z[lane] * z));
  const f32x8 tolerance = a->y_tolerance + p->tolerance_per_x[lane] * distance;
  return i32x8_bits((distance <= p->width[lane]) & (f32x8_load(a->hits.y + hit) - tolerance <= y) &
                    (y <= f32x8_load(a->hits.y_end + hit) + tolerance));
}

/* One bit for each of the hits [begin, end), at most CHUNK: 1 if compatible. Hit end - 1 is the highest bit. */
VECTOR_INLINE uint64_t compatible_hits(const struct search_windows_args *a, const struct extrapolations *p,
                                       uint32_t lane, uint32_t begin, uint32_t end) {
  uint64_t found = 0;
  uint32_t base = end, shift = CHUNK;
  /* Hits before `begin` may be read. Two vectors per turn, for fewer mispredicted branches. */
  while (base > begin && base >= 2 * LANES) {
    base -= 2 * LANES;
    shift -= 2 * LANES;
    const uint32_t low = are_compatible(a, p, lane, base), high = are_compatible(a, p, lane, base + LANES);
    found |= (uint64_t)(high << LANES | low) << shift;
  }
  if (base > begin) { /* the first hits of the slice: copy them, because a full vector does not fit before `base` */
    float x[2 * LANES] = {0}, y[2 * LANES] = {0}, y_end[2 * LANES] = {0}, z[2 * LANES] = {0};
    struct search_windows_args few = *a;
    for (uint32_t i = 0; i < base; i++) {
      x[i] = a->hits.x[i];
      y[i] = a->hits.y[i];
      y_end[i] = a->hits.y_end[i];
      z[i] = a->hits.z[i];
    }
    few.hits.x = x;
    few.hits.y = y;
    few.hits.y_end = y_end;
    few.hits.z = z;
    const uint32_t low = are_compatible(&few, p, lane, 0), high = are_compatible(&few, p, lane, LANES);
    found |= (uint64_t)((high << LANES | low) & ((1u << base) - 1)) << (shift - base);
  }
  return found & UINT64_MAX << (CHUNK - (end - begin));
}

/* The window from the lowest to the highest bit set in `found`; `end`: index after the hit of the highest bit, relative
 * to the event. Without branches, because every second window is empty. */
VECTOR_INLINE struct window window_of(uint64_t found, uint32_t end) {
  const uint32_t is_one = found ? UINT32_MAX : 0u;
  const uint32_t before = (uint32_t)__builtin_ctzll(found | 1ull << (CHUNK - 1)),
                 after = (uint32_t)__builtin_clzll(found | 1);
  const struct window w = {(end - CHUNK + before) & is_one, (CHUNK - before - after) & is_one};
  return w;
}

/* Finds the window of a lane in a group. Compares hits in chunks from the end; a search for the limits in y would cost
 * more than the few hits outside of them. */
static inline struct window search_group(const struct search_windows_args *a, const struct extrapolations *p,
                                         uint32_t lane, uint32_t event, uint32_t group) {
  const uint16_t *group_first = a->hits.group_first + (size_t)event * (UT_GROUPS_MAX + 1) + group;
  const uint32_t event_first = a->hits.offsets[event];
  const float y_least = p->y_least[lane] - a->groups.length[group], y_most = p->y_most[lane];
  uint32_t begin = event_first + group_first[0], end = event_first + group_first[1];
  if (begin == end) return window_of(0, 0);
  while (end > begin + CHUNK && a->hits.y[end - CHUNK] > y_most) end -= CHUNK;
  while (end > begin + CHUNK && a->hits.y[begin + CHUNK - 1] < y_least) begin += CHUNK;
  uint32_t from = end - begin < CHUNK ? begin : end - CHUNK;
  struct window window = window_of(compatible_hits(a, p, lane, from, end), end - event_first);
  while (from > begin) { /* rare */
    end = from;
    from = end - begin < CHUNK ? begin : end - CHUNK;
    const struct window w = window_of(compatible_hits(a, p, lane, from, end), end - event_first);
    if (w.count == 0) continue;
    if (window.count > 0)
      window.count += window.first - w.first;
    else
      window.count = w.count;
    window.first = w.first;
  }
  return window;
}

#else
struct hit {
  float x, y, y_end, z;
};

static SL_DEVICE uint32_t is_compatible(const struct search_windows_args *a, const struct extrapolations *p,
                                        const struct hit *h) {
  const float y = p->y_0[0] + p->ty[0] * h->z, distance = sl_abs_f32(h->x + (p->away_0[0] + p->away_z[0] * h->z));
  const float tolerance = a->y_tolerance + p->tolerance_per_x[0] * distance;
  return (uint32_t)(distance <= p->width[0]) & (uint32_t)(h->y - tolerance <= y) &
         (uint32_t)(y <= h->y_end + tolerance);
}

/* Hits from the first to the last compatible one; begin > end: none. */
struct range {
  uint32_t begin, end;
};

/* Hits that are loaded before the first of them is tried, to overlap the loads. */
enum { HITS_AT_A_TIME = 4 };

static SL_DEVICE struct range search_hits(const struct search_windows_args *a, const struct extrapolations *p,
                                          uint32_t begin, uint32_t end, float y_least, float y_most) {
  struct range r = {UINT32_MAX, 0};
  uint32_t i = (uint32_t)sl_lower_bound(a->hits.y, begin, end, y_least), is_more = i < end;
  while (is_more) {
    struct hit hits[HITS_AT_A_TIME];
    SL_UNROLL
    for (uint32_t k = 0; k < HITS_AT_A_TIME; k++) {
      const struct hit beyond = {0.0f, sl_f32_from_bits(0x7f800000u), 0.0f, 0.0f};
      hits[k] = beyond;
      if (k > 0 && i + k >= end) continue;
      hits[k].x = a->hits.x[(size_t)i + k];
      hits[k].y = a->hits.y[(size_t)i + k];
      hits[k].y_end = a->hits.y_end[(size_t)i + k];
      hits[k].z = a->hits.z[(size_t)i + k];
    }
    SL_UNROLL
    for (uint32_t k = 0; k < HITS_AT_A_TIME; k++) {
      is_more = hits[k].y < y_most;
      if (!(is_more & is_compatible(a, p, &hits[k]))) continue;
      r.begin = r.begin == UINT32_MAX ? i + k : r.begin;
      r.end = i + k + 1;
    }
    i += HITS_AT_A_TIME;
    is_more &= i < end;
  }
  return r;
}

static SL_DEVICE struct window search_group(const struct search_windows_args *a, const struct extrapolations *p,
                                            uint32_t lane, uint32_t event, uint32_t group) {
  const uint16_t *group_first = a->hits.group_first + (size_t)event * (UT_GROUPS_MAX + 1) + group;
  const uint32_t event_first = a->hits.offsets[event];
  const uint32_t begin = event_first + group_first[0], end = event_first + group_first[1];
  const struct range r = search_hits(a, p, begin, end, p->y_least[lane] - a->groups.length[group], p->y_most[lane]);
  struct window found;
  found.first = r.begin < r.end ? r.begin - event_first : 0;
  found.count = r.begin < r.end ? r.end - r.begin : 0;
  return found;
}
#endif

/* ------------------------------------------------------------------------------------------------------- layers */

/* Searches the groups of a layer for the track of a lane; `index`: track * UT_LAYERS + layer in the output. */
static SL_DEVICE void search_layer(const struct search_windows_args *a, const struct extrapolations *p, uint32_t lane,
                                   uint32_t event, size_t index) {
  uint16_t *first = a->windows.first + index * UT_LAYER_WINDOWS, *count = a->windows.count + index * UT_LAYER_WINDOWS;
  uint32_t filled = 0, hits = 0;
  SL_UNROLL for (uint32_t w = 0; w < UT_LAYER_WINDOWS; w++) first[w] = 0;
  SL_UNROLL for (uint32_t w = 0; w < UT_LAYER_WINDOWS; w++) count[w] = 0;
  for (uint32_t left = (uint32_t)p->windows[lane]; left > 0; left &= left - 1) {
    const int32_t w = (int32_t)sl_count_bits((left & (0u - left)) - 1u);
    const struct window found = search_group(a, p, lane, event, (uint32_t)group_of(p->middle[lane], w));
    first[filled] = (uint16_t)found.first;
    count[filled] = (uint16_t)found.count;
    filled += found.count > 0 ? 1u : 0u;
    hits += found.count;
  }
  a->windows.hits[index] = (uint16_t)hits;
}

/* Blocks per event, so that large events do not leave most of a GPU idle. */
#if defined(SL_TARGET_CPU)
enum { PARTS = 1 };
#else
enum { PARTS = 4 };
#endif

SL_KERNEL(search_windows_search, struct search_windows_args) {
  for (uint32_t part = blockIdx.x; part < PARTS * *a.events.count; part += gridDim.x) {
    const uint32_t event = sl_event_at(&a.events, part / PARTS);
    const uint32_t begin = a.selected.offsets[event], count = a.selected.offsets[event + 1] - begin;
    const uint32_t pieces = (count + SL_LANES - 1) / SL_LANES;
    struct tracks t = {0};
    for (uint32_t i = part % PARTS * blockDim.x + threadIdx.x; i < UT_LAYERS * pieces; i += PARTS * blockDim.x) {
      const uint32_t first = i / UT_LAYERS * SL_LANES, layer = i % UT_LAYERS, lanes = sl_lane_count(count - first);
      struct extrapolations p;
      if (blockDim.x > 1 || layer == 0) t = open_tracks(&a, event, begin + first, lanes);
      extrapolate(&a, &t, layer, &p);
      for (uint32_t lane = 0; lane < lanes; lane++)
        search_layer(&a, &p, lane, event, (size_t)(begin + first + lane) * UT_LAYERS + layer);
    }
  }
}

static int run(const struct sl_launch *l, const struct search_windows_args *a) {
  return SL_LAUNCH(l, search_windows_search, SL_PER_CHUNK((uint64_t)PARTS * l->events_max), *a);
}

SL_ALGORITHM(search_windows, "search windows in the UT for VELO tracks", 128, run);
