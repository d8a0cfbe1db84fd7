/* ut.search_windows: in each layer, where the hits of a VELO track may be (README.md, "Tracks").
 *
 * A track is a straight line from the end of the VELO. The magnet moves it in x by up to what a particle of the
 * smallest momentum would be moved, so that a window in x has that half-width; in y it goes straight on. Hits of a
 * group are sorted by y, so that a binary search finds where to begin, and they are tried one by one until y is beyond
 * the track. Groups that no hit within the window in x can be of are not looked at; of five, three or four of a layer.
 *
 * A thread a track and layer. Reads 20 bytes a track and some 20 hits of 16 bytes, which stay in the caches; writes 80
 * bytes a track.
 */
#include "search_windows.h"

struct track {
  float x, y, z, tx, ty; /* a place on the line */
  float momentum;        /* the smallest one that is searched for */
  uint32_t bin;          /* of the table */
};

static SL_DEVICE struct track open_track(const struct search_windows_args *a, uint32_t state) {
  struct track t;
  t.x = a->end_states.x[state];
  t.y = a->end_states.y[state];
  t.z = a->end_states.z[state];
  t.tx = a->end_states.tx[state];
  t.ty = a->end_states.ty[state];
  const float steepness = sqrtf(t.tx * t.tx + t.ty * t.ty);
  const float inverse = steepness * largest_inverse_slope > 1.0f ? 1.0f / steepness : largest_inverse_slope;
  t.momentum = sl_max_f32(a->min_pt * inverse, a->min_momentum);
  const uint32_t bin = sl_to_u32(100.0f * sl_abs_f32(t.ty) + 0.5f), last = UT_DEFLECTION_BINS - 1;
  t.bin = bin < last ? bin : last;
  return t;
}

/* A track in a layer. */
struct passage {
  float x, y, z, tx, ty; /* a place on the line */
  float slope;           /* of the strips, dx/dy */
  float width;           /* half of the window in x */
  float y_0;             /* y at z = 0 */
  float away_0, away_z;  /* a hit of x at y = 0 is x + away_0 + away_z z away from the line */
  float tolerance, tolerance_per_x;
};

static SL_DEVICE struct passage open_passage(const struct search_windows_args *a, const struct track *t,
                                             uint32_t layer) {
  struct passage p;
  p.x = t->x;
  p.y = t->y;
  p.z = t->z;
  p.tx = t->tx;
  p.ty = t->ty;
  p.slope = a->groups.layer_slope[layer];
  const float deflection = a->tables.deflection[UT_LAYERS * t->bin + layer];
  p.width = 1.0f / (a->tables.constants[UT_DISTANCE_TO_MOMENTUM] * t->momentum * deflection);
  p.y_0 = p.y - p.ty * p.z;
  p.away_0 = p.y_0 * p.slope - (p.x - p.tx * p.z);
  p.away_z = p.ty * p.slope - p.tx;
  p.tolerance = a->y_tolerance;
  p.tolerance_per_x = a->y_tolerance_slope / deflection;
  return p;
}

/* The first of values in ascending order that is at least this, or `end`. */
static SL_DEVICE uint32_t lower_bound(const float *values, uint32_t begin, uint32_t end, float least) {
  while (begin < end) {
    const uint32_t middle = (begin + end) / 2;
    if (values[middle] < least)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

struct hit {
  float x, y, y_end, z;
};

static SL_DEVICE uint32_t is_compatible(const struct passage *p, const struct hit *h) {
  const float y = p->y_0 + p->ty * h->z, distance = sl_abs_f32(h->x + (p->away_0 + p->away_z * h->z));
  const float tolerance = p->tolerance + p->tolerance_per_x * distance;
  return (uint32_t)(distance <= p->width) & (uint32_t)(h->y - tolerance <= y) & (uint32_t)(y <= h->y_end + tolerance);
}

/* The first and the last hit of [begin, end) that the track may have, and one behind it; begin > end: none. */
struct range {
  uint32_t begin, end;
};

/* All that is read of so many hits is read before the first of them is tried. */
enum { HITS_AT_A_TIME = 4 };

static SL_DEVICE struct range search_hits(const struct search_windows_args *a, const struct passage *p, uint32_t begin,
                                          uint32_t end, float y_least, float y_most) {
  struct range r = {UINT32_MAX, 0};
  uint32_t i = lower_bound(a->hits.y, begin, end, y_least), is_more = i < end;
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
      if (!(is_more & is_compatible(p, &hits[k]))) continue;
      r.begin = r.begin == UINT32_MAX ? i + k : r.begin;
      r.end = i + k + 1;
    }
    i += HITS_AT_A_TIME;
    is_more &= i < end;
  }
  return r;
}

struct window {
  uint32_t first, count; /* without hits 0, 0 */
};

/* A track at the middle of a layer; a sector can be `depth` before and behind it. */
struct crossing {
  float x, y, depth;
};

/* Whether a group can have hits that are not further away in x than the window is wide. */
static SL_DEVICE uint32_t is_in_reach(const struct search_windows_args *a, const struct passage *p,
                                      const struct crossing *c, uint32_t group) {
  const float reach = p->width + c->depth * (sl_abs_f32(p->tx) + sl_abs_f32(p->ty * p->slope));
  const float at_0 = c->x - c->y * p->slope;
  return (uint32_t)(at_0 + reach >= a->groups.x_least[group]) & (uint32_t)(at_0 - reach <= a->groups.x_most[group]);
}

static SL_DEVICE struct window search_group(const struct search_windows_args *a, const struct passage *p,
                                            const struct crossing *c, uint32_t event, uint32_t group) {
  const uint16_t *group_first = a->hits.group_first + (size_t)event * (UT_GROUPS_MAX + 1) + group;
  const uint32_t event_first = a->hits.offsets[event];
  const uint32_t begin = event_first + group_first[0], end = event_first + group_first[1];
  const float reach_y = p->tolerance + p->tolerance_per_x * p->width + c->depth * sl_abs_f32(p->ty);
  const float y_least = c->y - reach_y - a->groups.length[group], y_most = c->y + reach_y + slack;
  const struct range r = search_hits(a, p, begin, end, y_least - slack, y_most);
  struct window found;
  found.first = r.begin < r.end ? r.begin - event_first : 0;
  found.count = r.begin < r.end ? r.end - r.begin : 0;
  return found;
}

static SL_DEVICE void search_layer(const struct search_windows_args *a, const struct passage *p, uint32_t event,
                                   uint32_t layer, size_t place) {
  const int32_t begin = (int32_t)a->groups.layer_first[layer], last = (int32_t)a->groups.layer_first[layer + 1] - 1;
  const int32_t least = group_to_read(begin);
  const float dz = a->groups.layer_z[layer] - p->z;
  const struct crossing c = {p->x + p->tx * dz, p->y + p->ty * dz, a->groups.layer_depth[layer]};
  const int32_t middle = (int32_t)lower_bound(a->groups.x, (uint32_t)begin, (uint32_t)last + 1, c.x) - 1;
  uint16_t *first = a->windows.first + place * UT_LAYER_WINDOWS, *count = a->windows.count + place * UT_LAYER_WINDOWS;
  uint32_t in_reach = 0, filled = 0, hits = 0;
  SL_UNROLL
  for (int32_t w = 0; w < UT_LAYER_WINDOWS; w++) {
    const int32_t group = group_of(middle, w), most = group > last ? last : group;
    const int32_t read = most < least ? least : most;
    const uint32_t is_one =
        (uint32_t)(group >= begin) & (uint32_t)(group <= last) & is_in_reach(a, p, &c, (uint32_t)read);
    in_reach |= is_one << w;
    first[w] = 0;
    count[w] = 0;
  }
  for (; in_reach > 0; in_reach &= in_reach - 1) {
    const int32_t w = (int32_t)sl_count_bits((in_reach & (0u - in_reach)) - 1u);
    const struct window found = search_group(a, p, &c, event, (uint32_t)group_of(middle, w));
    first[filled] = (uint16_t)found.first;
    count[filled] = (uint16_t)found.count;
    filled += found.count > 0 ? 1u : 0u;
    hits += found.count;
  }
  a->windows.hits[place] = (uint16_t)hits;
}

/* Blocks that an event's tracks are dealt to, so that large events do not leave most of a GPU idle. */
#if defined(SL_TARGET_CPU)
enum { PARTS = 1 };
#else
enum { PARTS = 4 };
#endif

SL_KERNEL(search_windows_search, struct search_windows_args) {
  for (uint32_t part = blockIdx.x; part < PARTS * *a.events.count; part += gridDim.x) {
    const uint32_t event = sl_event_at(&a.events, part / PARTS);
    const uint32_t first = a.selected.offsets[event], count = a.selected.offsets[event + 1] - first;
    struct track t = {0, 0, 0, 0, 0, 0, 0};
    for (uint32_t i = part % PARTS * blockDim.x + threadIdx.x; i < UT_LAYERS * count; i += PARTS * blockDim.x) {
      const uint32_t item = first + i / UT_LAYERS, layer = i % UT_LAYERS;
      if (blockDim.x > 1 || layer == 0) t = open_track(&a, a.end_states.offsets[event] + a.selected.track[item]);
      const struct passage p = open_passage(&a, &t, layer);
      search_layer(&a, &p, event, layer, (size_t)item * UT_LAYERS + layer);
    }
  }
}

static int run(const struct sl_launch *l, const struct search_windows_args *a) {
  return SL_LAUNCH(l, search_windows_search, SL_PER_CHUNK((uint64_t)PARTS * l->events_max), *a);
}

SL_ALGORITHM(search_windows, "where UT hits of VELO tracks may be", 128, run, SL_CPU_TUNED(ut_search_windows_tuned));
