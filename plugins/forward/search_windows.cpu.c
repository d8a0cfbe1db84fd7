/* search_windows.cpu.c: forward.search_windows shaped for a CPU; same results as search_windows.cu.
 *
 * The six x layers of a track are searched at a time, a lane each, and then the stereo layers beside them.
 */
#include "search_windows.h"

#include "sorted_lanes.h"

_Static_assert((int)SCIFI_X_LAYERS <= (int)LANES, "a lane each");

/* The layers beyond the last one are those of the last one again, but without hits. */
struct layers {
  float z[LANES], stereo_z[LANES], dxdy[LANES];
};

/* Hits of an event, in the lower or the upper half of each layer. */
struct zones {
  i32x8 first, count;
  i32x8 stereo_first, stereo_count;
  uint32_t most; /* of a layer */
};

/* Windows by layer: to the left and to the right; the second one is for tracks without momentum. */
struct found {
  i32x8 first[2], count[2];
};

static struct layers open_layers(const struct search_windows_args *a) {
  struct layers l;
  for (uint32_t i = 0; i < LANES; i++) {
    const uint32_t layer = i < SCIFI_X_LAYERS ? i : (uint32_t)SCIFI_X_LAYERS - 1;
    l.z[i] = a->forward.z_layer[forward_x_layer(layer)];
    l.stereo_z[i] = a->forward.z_layer[forward_stereo_layer(layer)];
    l.dxdy[i] = a->forward.dxdy[forward_stereo_layer(layer)];
  }
  return l;
}

/* `half`: 1 for y > 0. What has no hits gets the event's first one as a place that can be read. */
static struct zones open_zones(const struct search_windows_args *a, uint32_t event, uint32_t half) {
  const uint16_t *zone_first = a->hits.zone_first + (size_t)event * (SCIFI_ZONES + 1) + half;
  const uint32_t event_first = a->hits.offsets[event];
  struct zones z;
  z.first = z.stereo_first = i32x8_of((int32_t)event_first);
  z.count = z.stereo_count = i32x8_of(0);
  z.most = 0;
  for (uint32_t i = 0; i < SCIFI_X_LAYERS; i++) {
    const uint16_t *x = zone_first + 2 * forward_x_layer(i), *stereo = zone_first + 2 * forward_stereo_layer(i);
    const uint32_t count = x[1] - x[0], stereo_count = stereo[1] - stereo[0];
    if (count > 0) z.first[i] = (int32_t)(event_first + x[0]);
    if (stereo_count > 0) z.stereo_first[i] = (int32_t)(event_first + stereo[0]);
    z.count[i] = (int32_t)count;
    z.stereo_count[i] = (int32_t)stereo_count;
    z.most = count > z.most ? count : z.most;
    z.most = stereo_count > z.most ? stereo_count : z.most;
  }
  return z;
}

VECTOR_INLINE struct sorted_lanes sorted(i32x8 first, i32x8 count, f32x8 place) {
  const struct sorted_lanes s = {first, count, place};
  return s;
}

VECTOR_INLINE i32x8 clamped(i32x8 value, i32x8 low, i32x8 high) { return i32x8_min(i32x8_max(value, low), high); }

/* Of the hits that the track may have, max_hits around where it should be. */
VECTOR_INLINE void around(const struct search_windows_args *a, const struct search *s, const struct zones *z, f32x8 x,
                          struct found *found) {
  const struct sorted_lanes searches[] = {sorted(z->first, z->count, x - s->below), sorted(z->first, z->count, x),
                                          sorted(z->first, z->count, x + s->above)};
  i32x8 at[3];
  forward_bisect_lanes(a->hits.x, searches, 3, 4, z->most, at);
  const i32x8 least = i32x8_max(at[1] - (int32_t)(a->max_hits / 2), z->first);
  found->first[0] = clamped(at[0], least, at[1]);
  const i32x8 most = i32x8_min(found->first[0] + (int32_t)a->max_hits, z->first + z->count);
  found->count[0] = clamped(at[2], at[1], most) - found->first[0];
}

/* The hits left of x, and a little beyond, and those right of it, of those between two places: of each the max_hits
 * nearest. */
VECTOR_INLINE void beside(const struct search_windows_args *a, i32x8 first, i32x8 count, uint32_t most, f32x8 x,
                          f32x8 low, f32x8 high, struct found *found) {
  const struct sorted_lanes searches[] = {sorted(first, count, low), sorted(first, count, high),
                                          sorted(first, count, x + a->overlap), sorted(first, count, x - a->overlap)};
  const i32x8 max_hits = i32x8_of((int32_t)a->max_hits);
  i32x8 at[4];
  forward_bisect_lanes(a->hits.x, searches, 4, 2 | 8, most, at);
  const i32x8 end = i32x8_max(at[1], at[0]), left_end = clamped(at[2], at[0], end);
  found->count[0] = i32x8_min(left_end - at[0], max_hits);
  found->first[0] = left_end - found->count[0];
  found->first[1] = clamped(at[3], at[0], left_end);
  found->count[1] = i32x8_min(end - found->first[1], max_hits);
}

VECTOR_INLINE void search_with_momentum(const struct search_windows_args *a, const struct search *s,
                                        const struct layers *l, const struct zones *z, struct found *x_found,
                                        struct found *stereo_found) {
  float slopes[LANES], x[LANES], stereo_x[LANES];
  for (uint32_t station = 0; station < SCIFI_STATIONS; station++)
    slopes[2 * station] = slopes[2 * station + 1] =
        forward_bent_slope(&a->forward, &s->state, s->qop, a->magnet.sign[0], station);
  for (uint32_t i = SCIFI_X_LAYERS; i < LANES; i++) slopes[i] = slopes[SCIFI_X_LAYERS - 1];
  for (uint32_t i = 0; i < LANES; i++) {
    x[i] = forward_bent_x(&a->forward, &s->state, slopes[i], l->z[i]);
    const float y = forward_line_y(&a->forward, &s->state, l->stereo_z[i]);
    stereo_x[i] = x[i] + slopes[i] * (l->stereo_z[i] - l->z[i]) + -y * l->dxdy[i];
  }
  around(a, s, z, f32x8_load(x), x_found);
  const f32x8 at = f32x8_load(stereo_x);
  const struct sorted_lanes searches[] = {sorted(z->stereo_first, z->stereo_count, at - a->stereo_half_width),
                                          sorted(z->stereo_first, z->stereo_count, at + a->stereo_half_width)};
  i32x8 range[2];
  forward_bisect_lanes(a->hits.x, searches, 2, 2, z->most, range);
  stereo_found->first[0] = range[0];
  stereo_found->count[0] = i32x8_max(range[1] - range[0], i32x8_of(0));
  x_found->first[1] = x_found->count[1] = stereo_found->first[1] = stereo_found->count[1] = i32x8_of(0);
}

VECTOR_INLINE void search_without_momentum(const struct search_windows_args *a, const struct search *s,
                                           const struct layers *l, const struct zones *z, struct found *x_found,
                                           struct found *stereo_found) {
  float x[LANES], stereo_x[LANES];
  for (uint32_t i = 0; i < LANES; i++) {
    const float dz = l->z[i] - s->state.z, stereo_dz = l->stereo_z[i] - s->state.z;
    const float y = s->state.y + s->state.ty * stereo_dz;
    x[i] = s->state.x + s->state.tx * dz;
    stereo_x[i] = s->state.x + s->state.tx * stereo_dz + -y * l->dxdy[i];
  }
  const f32x8 at = f32x8_load(x), stereo_at = f32x8_load(stereo_x);
  beside(a, z->first, z->count, z->most, at, at - s->below, at + s->above, x_found);
  beside(a, z->stereo_first, z->stereo_count, z->most, stereo_at, stereo_at - a->stereo_half_width,
         stereo_at + a->stereo_half_width, stereo_found);
}

/* Writes windows of a layer and side, or none. */
VECTOR_INLINE void write_windows(const struct search_windows_args *a, uint32_t item, uint32_t event_first,
                                 const struct found *x_found, const struct found *stereo_found) {
  uint16_t *first = a->windows.first + (size_t)item * FORWARD_WINDOWS;
  uint16_t *count = a->windows.count + (size_t)item * FORWARD_WINDOWS;
  for (uint32_t w = 0; w < FORWARD_LAYER_WINDOWS; w++) {
    const struct found *f = w < 2 ? x_found : stereo_found;
    int32_t firsts[LANES], counts[LANES];
    i32x8_store(firsts, (f->first[w % 2] - (int32_t)event_first) & (f->count[w % 2] > 0));
    i32x8_store(counts, f->count[w % 2]);
    for (uint32_t i = 0; i < SCIFI_X_LAYERS; i++) {
      first[FORWARD_LAYER_WINDOWS * i + w] = (uint16_t)firsts[i];
      count[FORWARD_LAYER_WINDOWS * i + w] = (uint16_t)counts[i];
    }
  }
}

static void search_track(const struct search_windows_args *a, uint32_t event, uint32_t item, const struct layers *l,
                         const struct zones *zones) {
  const struct search s = open_search(a, event, item);
  const struct zones *z = &zones[s.upper];
  struct found x_found, stereo_found;
  if (s.qop != 0.0f)
    search_with_momentum(a, &s, l, z, &x_found, &stereo_found);
  else
    search_without_momentum(a, &s, l, z, &x_found, &stereo_found);
  const i32x8 has_x = x_found.count[0] + x_found.count[1] > 0;
  stereo_found.count[0] &= has_x;
  stereo_found.count[1] &= has_x;
  const i32x8 has_stereo = stereo_found.count[0] + stereo_found.count[1] > 0;
  const i32x8 is_kept = i32x8_of(is_enough(i32x8_bits(has_x) | i32x8_bits(has_stereo) << 8) ? -1 : 0);
  for (uint32_t side = 0; side < 2; side++) {
    x_found.count[side] &= is_kept;
    stereo_found.count[side] &= is_kept;
  }
  write_windows(a, item, s.event_first, &x_found, &stereo_found);
}

static void search_event(const struct search_windows_args *a, uint32_t event, const struct layers *l) {
  const uint32_t begin = a->inputs.offsets[event], end = a->inputs.offsets[event + 1];
  const struct zones zones[] = {open_zones(a, event, 0), open_zones(a, event, 1)};
  const size_t bytes = FORWARD_WINDOWS * sizeof *a->windows.first * (end - begin);
  if (zones[0].most == 0 && zones[1].most == 0) { /* and nothing that can be read */
    memset(a->windows.first + (size_t)begin * FORWARD_WINDOWS, 0, bytes);
    memset(a->windows.count + (size_t)begin * FORWARD_WINDOWS, 0, bytes);
    return;
  }
  for (uint32_t item = begin; item < end; item++) search_track(a, event, item, l, zones);
}

int search_windows_tuned(const struct sl_launch *l, const void *args) {
  const struct search_windows_args *a = (const struct search_windows_args *)args;
  const struct layers layers = open_layers(a);
  (void)l;
  SL_FOR_EVENTS (event, a->events) search_event(a, event, &layers);
  return SL_OK;
}
