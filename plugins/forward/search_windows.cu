/* forward.search_windows: in each layer of the fibre tracker, on the track's side in y, where its hits may be
 * (README.md, "Windows").
 *
 * The hits of a zone are sorted by x, so that a window is found by binary searches: all of a zone at a time, since they
 * wait for the hits that they read. Of a track with momentum, the window's ends are at most some hits away from the one
 * nearest to where the magnet bends it to. Windows of a track that has too few to be found are emptied.
 *
 * Eight threads a track, of which six take an x layer each, and the stereo layer beside it. Reads 24 bytes a track and
 * some 30 hits of each of 12 zones, which stay in the caches; writes 96 bytes a track.
 */
#include "search_windows.h"

enum { TRACK_THREADS = 8 };

/* Hits of a zone, or some of them, by their places in the slice. */
struct hit_range {
  uint32_t begin, end;
};

struct window {
  uint32_t first, count;
};

static SL_DEVICE struct hit_range zone_of(const struct search *s, uint32_t layer) {
  const uint16_t *first = s->zone_first + 2 * layer + s->upper;
  const struct hit_range z = {s->event_first + first[0], s->event_first + first[1]};
  return z;
}

enum { PLACES_MAX = 4 };

/* For each of `count` limits the first hit of a zone that is not below it, or, of those whose bit is set in `is_above`,
 * the first that is above it; or the zone's end. Steps beyond the end are to the end: if the last hit is before it, all
 * are. */
static SL_DEVICE void find_places(const struct search_windows_args *a, struct hit_range zone, uint32_t count,
                                  const float *limit, uint32_t is_above, uint32_t *at) {
  const uint32_t size = zone.end - zone.begin;
  uint32_t step = 1;
  SL_UNROLL
  for (uint32_t k = 0; k < count; k++) at[k] = zone.begin;
  if (size == 0) return;
  while (2 * step <= size) step *= 2;
  for (; step > 0; step /= 2) {
    uint32_t to[PLACES_MAX];
    float x[PLACES_MAX];
    SL_UNROLL
    for (uint32_t k = 0; k < count; k++) {
      to[k] = at[k] + step < zone.end ? at[k] + step : zone.end;
      x[k] = a->hits.x[(size_t)to[k] - 1];
    }
    SL_UNROLL
    for (uint32_t k = 0; k < count; k++)
      if (is_above >> k & 1 ? x[k] <= limit[k] : x[k] < limit[k]) at[k] = to[k];
  }
}

/* The place in [least, most] that is nearest to a place: that of a search among its hits alone. */
static SL_DEVICE uint32_t bounded(uint32_t place, uint32_t least, uint32_t most) {
  const uint32_t lower = place < most ? place : most;
  return lower > least ? lower : least;
}

/* The hits of a zone between low and high. */
static SL_DEVICE struct hit_range range_of(const struct search_windows_args *a, struct hit_range zone, float low,
                                           float high) {
  const float limits[2] = {low, high};
  uint32_t at[2];
  find_places(a, zone, 2, limits, 2, at);
  const struct hit_range range = {at[0], bounded(at[1], at[0], zone.end)};
  return range;
}

/* Of the hits that the track may have, max_hits around where it should be. */
static SL_DEVICE struct window around(const struct search_windows_args *a, const struct search *s,
                                      struct hit_range zone, float x) {
  const uint32_t half = a->max_hits / 2;
  const float limits[3] = {x, x - s->below, x + s->above};
  uint32_t at[3];
  struct window found;
  find_places(a, zone, 3, limits, 4, at);
  const uint32_t middle = at[0], least = middle - zone.begin < half ? zone.begin : middle - half;
  found.first = bounded(at[1], least, middle);
  const uint32_t most = zone.end - found.first < a->max_hits ? zone.end : found.first + a->max_hits;
  found.count = bounded(at[2], middle, most) - found.first;
  return found;
}

/* Of the hits of a zone between low and high those left of x, and a little beyond, and those right of it: of each the
 * max_hits nearest. None if there are none between. */
static SL_DEVICE void beside(const struct search_windows_args *a, struct hit_range zone, float low, float high, float x,
                             struct window *left, struct window *right) {
  const float limits[PLACES_MAX] = {low, high, x + a->overlap, x - a->overlap};
  uint32_t at[PLACES_MAX];
  find_places(a, zone, PLACES_MAX, limits, 8 | 2, at);
  const uint32_t begin = at[0], end = bounded(at[1], begin, zone.end), left_end = bounded(at[2], begin, end);
  const uint32_t left_size = left_end - begin;
  left->count = left_size < a->max_hits ? left_size : a->max_hits;
  left->first = left_end - left->count;
  right->first = bounded(at[3], begin, left_end);
  const uint32_t right_size = end - right->first;
  right->count = right_size < a->max_hits ? right_size : a->max_hits;
}

/* The windows of the i-th x layer, and of the stereo layer beside it, if that one has hits. */
static SL_DEVICE void search_with_momentum(const struct search_windows_args *a, struct search *s, uint32_t i,
                                           struct window *found) {
  const uint32_t x_layer = forward_x_layer(i), stereo_layer = forward_stereo_layer(i);
  const float z = a->forward.z_layer[x_layer], stereo_z = a->forward.z_layer[stereo_layer];
  if (i % 2 == 0 || SL_GROUP(TRACK_THREADS) > 1) /* a thread alone has it from the layer before */
    s->slope = forward_bent_slope(&a->forward, &s->state, s->qop, a->magnet.sign[0], i / 2);
  const float slope = s->slope, x = forward_bent_x(&a->forward, &s->state, slope, z);
  found[0] = around(a, s, zone_of(s, x_layer), x);
  if (found[0].count == 0) return;
  const float y = forward_line_y(&a->forward, &s->state, stereo_z);
  const float stereo_x = x + slope * (stereo_z - z) + -y * a->forward.dxdy[stereo_layer];
  const struct hit_range range =
      range_of(a, zone_of(s, stereo_layer), stereo_x - a->stereo_half_width, stereo_x + a->stereo_half_width);
  found[2].first = range.begin;
  found[2].count = range.end - range.begin;
}

static SL_DEVICE void search_without_momentum(const struct search_windows_args *a, const struct search *s, uint32_t i,
                                              struct window *found) {
  const uint32_t x_layer = forward_x_layer(i), stereo_layer = forward_stereo_layer(i);
  const float dz = a->forward.z_layer[x_layer] - s->state.z, stereo_dz = a->forward.z_layer[stereo_layer] - s->state.z;
  const float x = s->state.x + s->state.tx * dz;
  beside(a, zone_of(s, x_layer), x - s->below, x + s->above, x, &found[0], &found[1]);
  if (found[0].count + found[1].count == 0) return;
  const float y = s->state.y + s->state.ty * stereo_dz;
  const float stereo_x = s->state.x + s->state.tx * stereo_dz + -y * a->forward.dxdy[stereo_layer];
  beside(a, zone_of(s, stereo_layer), stereo_x - a->stereo_half_width, stereo_x + a->stereo_half_width, stereo_x,
         &found[2], &found[3]);
}

/* Writes the windows of the i-th x layer and its neighbour; returns bit i if it has hits, and bit 8 + i if that has. */
static SL_DEVICE uint32_t search_layers(const struct search_windows_args *a, struct search *s, uint32_t item,
                                        uint32_t i) {
  struct window found[FORWARD_LAYER_WINDOWS] = {{0, 0}, {0, 0}, {0, 0}, {0, 0}};
  if (s->qop != 0.0f)
    search_with_momentum(a, s, i, found);
  else
    search_without_momentum(a, s, i, found);
  const size_t place = (size_t)item * FORWARD_WINDOWS + FORWARD_LAYER_WINDOWS * i;
  SL_UNROLL
  for (uint32_t w = 0; w < FORWARD_LAYER_WINDOWS; w++) {
    a->windows.first[place + w] = (uint16_t)(found[w].count > 0 ? found[w].first - s->event_first : 0);
    a->windows.count[place + w] = (uint16_t)found[w].count;
  }
  return (found[0].count + found[1].count > 0 ? 1u << i : 0u) | (found[2].count + found[3].count > 0 ? 256u << i : 0u);
}

SL_KERNEL(search_windows_search, struct search_windows_args) {
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t begin = a.inputs.offsets[event], count = a.inputs.offsets[event + 1] - begin;
    SL_FOR_GROUPS (t, count, TRACK_THREADS) {
      const uint32_t item = begin + t;
      uint32_t has_hits = 0;
      if (t < count) {
        struct search s = open_search(&a, event, item);
        for (uint32_t i = sl_group_lane(TRACK_THREADS); i < SCIFI_X_LAYERS; i += SL_GROUP(TRACK_THREADS))
          has_hits |= search_layers(&a, &s, item, i);
      }
      has_hits = sl_group_sum_u32(has_hits, TRACK_THREADS); /* each bit is one thread's */
      if (t >= count || is_enough(has_hits)) continue;
      for (uint32_t i = sl_group_lane(TRACK_THREADS); i < SCIFI_X_LAYERS; i += SL_GROUP(TRACK_THREADS))
        for (uint32_t w = 0; w < FORWARD_LAYER_WINDOWS; w++) {
          const size_t place = (size_t)item * FORWARD_WINDOWS + FORWARD_LAYER_WINDOWS * i + w;
          a.windows.first[place] = 0;
          a.windows.count[place] = 0;
        }
    }
  }
}

static int run(const struct sl_launch *l, const struct search_windows_args *a) {
  return SL_LAUNCH(l, search_windows_search, SL_PER_EVENT, *a);
}

SL_ALGORITHM(search_windows, "where SciFi hits of tracks may be", 256, run, SL_CPU_TUNED(search_windows_tuned));
