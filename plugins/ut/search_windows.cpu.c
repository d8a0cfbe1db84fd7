/* search_windows.cpu.c: ut.search_windows shaped for a CPU; same results as search_windows.cu.
 *
 * Where tracks pass a layer is found for eight of them at a time, a lane each. Then the hits of each group are looked
 * at eight at a time, from the last ones on: few are beyond the two values of y, so that a search for these would cost
 * more than the hits. Which hits a track may have are the bits of a word; the window is from the first to the last.
 */
#include "search_windows.h"

#include <sluice/vectors.h>

enum { CHUNK = 64 }; /* hits in a word */

/* Eight tracks, by lane. */
struct tracks {
  f32x8 x, y, z, tx, ty; /* a place on the line */
  f32x8 y_0;             /* y at z = 0 */
  f32x8 momentum;        /* the smallest one that is searched for */
  i32x8 bin;             /* of the table */
};

/* What the shared version has of a track in a layer (struct passage), and which groups are searched. */
struct passages {
  float y_0[LANES], ty[LANES], width[LANES], away_0[LANES], away_z[LANES], tolerance_per_x[LANES];
  float y_least[LANES], y_most[LANES]; /* of hits, the strips' length left out */
  int32_t middle[LANES];               /* group */
  uint32_t in_reach[LANES];            /* windows with groups in reach, by bits */
};

/* A window; without hits 0, 0. */
struct window {
  uint32_t first, count;
};

VECTOR_INLINE f32x8 absolute(f32x8 v) { return (f32x8)((i32x8)v & INT32_MAX); }
VECTOR_INLINE f32x8 root(f32x8 v) {
  f32x8 r;
  for (int i = 0; i < LANES; i++) r[i] = sqrtf(v[i]);
  return r;
}

/* The tracks from an item on; a last one is repeated. */
static struct tracks open_tracks(const struct search_windows_args *a, uint32_t event, uint32_t item, uint32_t count) {
  struct tracks t;
  i32x8 state;
  for (uint32_t i = 0; i < LANES; i++)
    state[i] = (int32_t)(a->end_states.offsets[event] + a->selected.track[item + (i < count ? i : count - 1)]);
  t.x = f32x8_gather(a->end_states.x, state);
  t.y = f32x8_gather(a->end_states.y, state);
  t.z = f32x8_gather(a->end_states.z, state);
  t.tx = f32x8_gather(a->end_states.tx, state);
  t.ty = f32x8_gather(a->end_states.ty, state);
  t.y_0 = t.y - t.ty * t.z;
  const f32x8 steepness = root(t.tx * t.tx + t.ty * t.ty), largest = f32x8_of(largest_inverse_slope);
  const f32x8 inverse = f32x8_select(steepness * largest_inverse_slope > 1.0f, 1.0f / steepness, largest);
  t.momentum = f32x8_max(a->min_pt * inverse, f32x8_of(a->min_momentum));
  const f32x8 last = f32x8_of(UT_DEFLECTION_BINS - 1), bin = 100.0f * absolute(t.ty) + 0.5f;
  t.bin = __builtin_convertvector(f32x8_min(bin, last), i32x8);
  return t;
}

VECTOR_INLINE void open_passages(const struct search_windows_args *a, const struct tracks *t, uint32_t layer,
                                 struct passages *p) {
  const float slope = a->groups.layer_slope[layer], depth = a->groups.layer_depth[layer];
  const float momentum_scale = a->tables.constants[UT_DISTANCE_TO_MOMENTUM];
  const int32_t begin = (int32_t)a->groups.layer_first[layer], last = (int32_t)a->groups.layer_first[layer + 1] - 1;
  const f32x8 deflection = f32x8_gather(a->tables.deflection, UT_LAYERS * t->bin + (int32_t)layer);
  const f32x8 width = 1.0f / (momentum_scale * t->momentum * deflection);
  const f32x8 tolerance_per_x = a->y_tolerance_slope / deflection;
  const f32x8 dz = a->groups.layer_z[layer] - t->z, x = t->x + t->tx * dz, y = t->y + t->ty * dz;
  f32x8_store(p->y_0, t->y_0);
  f32x8_store(p->ty, t->ty);
  f32x8_store(p->width, width);
  f32x8_store(p->away_0, t->y_0 * slope - (t->x - t->tx * t->z));
  f32x8_store(p->away_z, t->ty * slope - t->tx);
  f32x8_store(p->tolerance_per_x, tolerance_per_x);
  const f32x8 reach_y = a->y_tolerance + tolerance_per_x * width + depth * absolute(t->ty);
  f32x8_store(p->y_least, y - reach_y - slack);
  f32x8_store(p->y_most, y + reach_y + slack);

  const i32x8 least = i32x8_of(group_to_read(begin));
  i32x8 middle = i32x8_of(begin - 1), in_reach = i32x8_of(0);
  for (int32_t group = begin; group <= last; group++) middle -= a->groups.x[group] < x;
  const f32x8 reach = width + depth * (absolute(t->tx) + absolute(t->ty * slope)), at_0 = x - y * slope;
  for (int32_t w = 0; w < UT_LAYER_WINDOWS; w++) {
    const i32x8 group = middle + group_of(0, w), inside = i32x8_max(i32x8_min(group, i32x8_of(last)), least);
    const i32x8 is_one = (group >= begin) & (group <= last) &
                         (at_0 + reach >= f32x8_gather(a->groups.x_least, inside)) &
                         (at_0 - reach <= f32x8_gather(a->groups.x_most, inside));
    in_reach |= is_one & 1 << w;
  }
  i32x8_store(p->middle, middle);
  i32x8_store((int32_t *)p->in_reach, in_reach);
}

/* Whether the track of a lane may have each of eight hits: bits. */
VECTOR_INLINE uint32_t are_compatible(const struct search_windows_args *a, const struct passages *p, uint32_t lane,
                                      uint32_t hit) {
  const f32x8 z = f32x8_load(a->hits.z + hit), y = p->y_0[lane] + p->ty[lane] * z;
  const f32x8 distance = absolute(f32x8_load(a->hits.x + hit) + (p->away_0[lane] + p->away_z[lane] * z));
  const f32x8 tolerance = a->y_tolerance + p->tolerance_per_x[lane] * distance;
  return i32x8_bits((distance <= p->width[lane]) & (f32x8_load(a->hits.y + hit) - tolerance <= y) &
                    (y <= f32x8_load(a->hits.y_end + hit) + tolerance));
}

/* The same for those hits of [begin, end), at most CHUNK, that there are: the last one is the highest bit. */
VECTOR_INLINE uint64_t compatible_hits(const struct search_windows_args *a, const struct passages *p, uint32_t lane,
                                       uint32_t begin, uint32_t end) {
  uint64_t found = 0;
  uint32_t base = end, shift = CHUNK;
  /* Before `begin` are others that can be read. Two vectors a turn, since how many turns come is a guess of the CPU. */
  while (base > begin && base >= 2 * LANES) {
    base -= 2 * LANES;
    shift -= 2 * LANES;
    const uint32_t low = are_compatible(a, p, lane, base), high = are_compatible(a, p, lane, base + LANES);
    found |= (uint64_t)(high << LANES | low) << shift;
  }
  if (base > begin) { /* the slice's first hits: of the eight first ones those that were not looked at */
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

/* The window that reaches from the first of some hits to the last one; `end`: one behind the highest bit's, relative to
 * the event. Every other one has none, so that there is no branch. */
VECTOR_INLINE struct window window_of(uint64_t found, uint32_t end) {
  const uint32_t is_one = found ? UINT32_MAX : 0u;
  const uint32_t before = (uint32_t)__builtin_ctzll(found | 1ull << (CHUNK - 1)),
                 behind = (uint32_t)__builtin_clzll(found | 1);
  const struct window w = {(end - CHUNK + before) & is_one, (CHUNK - before - behind) & is_one};
  return w;
}

static inline struct window search_group(const struct search_windows_args *a, const struct passages *p, uint32_t lane,
                                         uint32_t event, uint32_t group) {
  const uint16_t *group_first = a->hits.group_first + (size_t)event * (UT_GROUPS_MAX + 1) + group;
  const uint32_t event_first = a->hits.offsets[event];
  const float y_least = p->y_least[lane] - a->groups.length[group], y_most = p->y_most[lane];
  uint32_t begin = event_first + group_first[0], end = event_first + group_first[1];
  if (begin == end) return window_of(0, 0);
  while (end > begin + CHUNK && a->hits.y[end - CHUNK] > y_most) end -= CHUNK;
  while (end > begin + CHUNK && a->hits.y[begin + CHUNK - 1] < y_least) begin += CHUNK;
  uint32_t from = end - begin < CHUNK ? begin : end - CHUNK;
  struct window window = window_of(compatible_hits(a, p, lane, from, end), end - event_first);
  while (from > begin) { /* seldom */
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

/* Searches a layer's groups; `place`: that of the track and layer, whose windows are 0 so far. */
static inline void search_layer(const struct search_windows_args *a, const struct passages *p, uint32_t lane,
                                uint32_t event, size_t place) {
  uint16_t *first = a->windows.first + place * UT_LAYER_WINDOWS, *count = a->windows.count + place * UT_LAYER_WINDOWS;
  uint32_t filled = 0, hits = 0;
  for (uint32_t left = p->in_reach[lane]; left > 0; left &= left - 1) {
    const int32_t w = __builtin_ctz(left);
    const struct window found = search_group(a, p, lane, event, (uint32_t)group_of(p->middle[lane], w));
    first[filled] = (uint16_t)found.first;
    count[filled] = (uint16_t)found.count;
    filled += found.count > 0 ? 1u : 0u;
    hits += found.count;
  }
  a->windows.hits[place] = (uint16_t)hits;
}

static void search_event(const struct search_windows_args *a, uint32_t event) {
  const uint32_t begin = a->selected.offsets[event], end = a->selected.offsets[event + 1];
  const size_t bytes = UT_WINDOWS * sizeof *a->windows.first * (end - begin);
  memset(a->windows.first + (size_t)begin * UT_WINDOWS, 0, bytes);
  memset(a->windows.count + (size_t)begin * UT_WINDOWS, 0, bytes);
  for (uint32_t item = begin; item < end; item += LANES) {
    const uint32_t count = end - item < LANES ? end - item : LANES;
    const struct tracks t = open_tracks(a, event, item, count);
    for (uint32_t layer = 0; layer < UT_LAYERS; layer++) {
      struct passages p;
      open_passages(a, &t, layer, &p);
      for (uint32_t i = 0; i < count; i++) search_layer(a, &p, i, event, (size_t)(item + i) * UT_LAYERS + layer);
    }
  }
}

int ut_search_windows_tuned(const struct sl_launch *l, const void *args) {
  const struct search_windows_args *a = (const struct search_windows_args *)args;
  (void)l;
  SL_FOR_EVENTS (event, a->events) search_event(a, event);
  return SL_OK;
}
