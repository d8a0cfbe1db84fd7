/* forward.search_windows: search windows for the hits of a track in each layer of the fibre tracker, on the track's
 * side in y (README.md, "Windows").
 *   1. Extrapolate the track to an x layer and its neighbouring stereo layer; without momentum as a straight line.
 *   2. Bisect the zone's hits, sorted by x, for all limits of the window at once.
 *   3. With momentum keep at most max_hits around the predicted x; without, at most max_hits on either side.
 *   4. Empty all windows of a track without a triplet of x layers, or without stereo hits in a station.
 * Parallelism: eight lanes per track, six of them used for an x and a stereo layer each; a vector on a CPU, eight
 * threads on a GPU (sluice/lanes.h).
 * Cost: reads 24 bytes per track and some 30 hits in each of 12 zones; writes 96 bytes per track.
 */
#include "forward_math.h"
#include "magnet/event_model.h"

#include <sluice/lanes.h>

#define SL_ARGS search_windows_args
#define SEARCH_WINDOWS(M)                                                                                             \
  M(IN, inputs, forward_inputs, "offsets x y tx ty qop", "tracks at the end of the UT")                               \
  M(IN, hits, scifi_hits, "offsets zone_first x", "hits of the fibre tracker")                                        \
  M(IN, forward, forward_constants, "z_layer dxdy kick constants",                                                    \
    "constants of tracks in the magnet and the fibre tracker")                                                        \
  M(IN, magnet, magnet_polarity, "sign", "magnet polarity")                                                           \
  M(OUT, windows, forward_windows, "search windows of the tracks", SL_SHARES_OFFSETS(inputs))                         \
  M(U32, max_hits, 64, 2, 64, "", "largest number of hits of a window in an x layer")                                 \
  M(F32, stereo_half_width, 800.0, 0.0, 1e4, "mm", "half width of windows in stereo layers")                          \
  M(F32, overlap, 5.0, 0.0, 1e4, "mm", "without momentum: extent of left and right windows beyond the straight line") \
  M(F32, border_factor, 1.0, 0.0, 100.0, "", "without momentum: factor of the width of windows in x layers")          \
  M(F32, min_momentum, 5000.0, 1.0, 1e6, "MeV", "without momentum: least momentum of the tracks to find")             \
  M(F32, min_pt, 1000.0, 1.0, 1e6, "MeV", "without momentum: least transverse momentum of the tracks to find")
SL_ARGUMENTS(search_windows, SEARCH_WINDOWS);

/* A track, and data shared by all layers. */
struct search {
  struct forward_state state;
  float qop;
  float below, above;          /* largest distances of hits below and above the predicted x */
  const uint16_t *zone_first;  /* of the event's hits */
  uint32_t event_first, upper; /* first hit of the event; 1 if the track is at y > 0 */
};

static SL_DEVICE struct search open_search(const struct search_windows_args *a, uint32_t event, uint32_t item) {
  struct search s;
  const float *window = a->forward.constants + FORWARD_X_WINDOW;
  s.state.x = a->inputs.x[item];
  s.state.y = a->inputs.y[item];
  s.state.z = a->forward.constants[FORWARD_Z_UT];
  s.state.tx = a->inputs.tx[item];
  s.state.ty = a->inputs.ty[item];
  s.qop = a->inputs.qop[item];
  s.upper = forward_line_y(&a->forward, &s.state, a->forward.z_layer[0]) >= 0.0f ? 1u : 0u;
  s.zone_first = a->hits.zone_first + (size_t)event * (SCIFI_ZONES + 1);
  s.event_first = a->hits.offsets[event];
  if (s.qop != 0.0f) {
    const float width = window[0] + window[1] * sl_abs_f32(s.qop);
    const uint32_t bends_up = -a->magnet.sign[0] * s.qop > 0.0f;
    s.below = bends_up ? width : width + window[2];
    s.above = bends_up ? width + window[2] : width;
  } else {
    const float to_inverse_gev = 1e3f, theta2 = s.state.tx * s.state.tx + s.state.ty * s.state.ty;
    const float of_pt = sqrtf(theta2 / (1.0f + theta2)) / a->min_pt; /* sine of the angle to the beam over min_pt */
    const float inverse = to_inverse_gev * sl_min_f32(1.0f / a->min_momentum, of_pt);
    s.below = forward_border(&a->forward, inverse, s.state.tx, s.state.ty) * a->border_factor;
    s.above = s.below;
  }
  return s;
}

/* 1 if a triplet of x layers and a stereo layer in each station have hits. */
static SL_DEVICE uint32_t is_enough(uint32_t has_hits) {
  const uint32_t first_seed = 0x15, second_seed = 0x2A, stations = 0x15;
  const uint32_t stereo = has_hits >> 8, either = stereo | stereo >> 1;
  const uint32_t has_seed = (has_hits & first_seed) == first_seed || (has_hits & second_seed) == second_seed;
  return has_seed && (either & stations) == stations;
}

/* x layer and neighbouring stereo layer of each lane. Lanes beyond the sixth repeat the last one. */
struct layers {
  sl_i32s is_one, x_layer, stereo_layer;
  sl_f32s z, stereo_z, dxdy;
};

enum { TRACK_LANES = 8 };

SL_LANES_FUNCTION struct layers open_layers(const struct search_windows_args *a) {
  const sl_i32s lane = sl_i32s_from(sl_group_lane(TRACK_LANES));
  const sl_i32s i = sl_i32s_min(lane, sl_i32s_of(SCIFI_X_LAYERS - 1)), is_odd = i & 1;
  struct layers l;
  l.is_one = SL_MASK(lane < SCIFI_X_LAYERS);
  l.x_layer = SCIFI_STATION_LAYERS * (i >> 1) + 3 * is_odd; /* equal to forward_x_layer, forward_stereo_layer */
  l.stereo_layer = SCIFI_STATION_LAYERS * (i >> 1) + 1 + is_odd;
  l.z = sl_f32s_gather(a->forward.z_layer, l.x_layer);
  l.stereo_z = sl_f32s_gather(a->forward.z_layer, l.stereo_layer);
  l.dxdy = sl_f32s_gather(a->forward.dxdy, l.stereo_layer);
  return l;
}

/* Hits of a zone per lane, as indices in the slice. */
struct zone {
  sl_i32s first, count;
};

/* Hits of a zone. An empty zone begins at the event's first hit, which can be read. */
SL_LANES_FUNCTION struct zone zone_of(const struct search *s, sl_i32s layer, sl_i32s is_one) {
  const sl_i32s half = 2 * layer + sl_i32s_of(s->upper);
  sl_i32s first, end;
  sl_u16s_gather_two(s->zone_first, half, &first, &end);
  struct zone z;
  z.count = (end - first) & is_one;
  z.first = sl_i32s_of(s->event_first) + (first & SL_MASK(z.count > 0));
  return z;
}

/* Windows per lane: left and right; the right one is used without momentum. */
struct found {
  sl_i32s first[2], count[2];
};

SL_LANES_FUNCTION struct found found_none(void) {
  struct found f;
  f.first[0] = f.first[1] = f.count[0] = f.count[1] = sl_i32s_of(0);
  return f;
}

/* Window with momentum: at most max_hits around the predicted x. */
SL_LANES_FUNCTION void window_around(const struct search_windows_args *a, const struct search *s, struct zone z,
                                     sl_f32s x, struct found *found) {
  const struct sl_bisection searches[] = {sl_bisection_of(z.first, z.count, x - s->below),
                                          sl_bisection_of(z.first, z.count, x),
                                          sl_bisection_of(z.first, z.count, x + s->above)};
  const sl_i32s max_hits = sl_i32s_of(a->max_hits);
  sl_i32s at[3];
  sl_bisect(a->hits.x, searches, 3, 4, at);
  found->first[0] = sl_i32s_clamp(at[0], sl_i32s_max(at[1] - (max_hits >> 1), z.first), at[1]);
  const sl_i32s most = sl_i32s_min(found->first[0] + max_hits, z.first + z.count);
  found->count[0] = sl_i32s_clamp(at[2], at[1], most) - found->first[0];
}

/* Windows without momentum, between x - below and x + above: the max_hits nearest hits to the left of x (plus overlap),
 * and to the right. */
SL_LANES_FUNCTION void windows_around(const struct search_windows_args *a, struct zone z, sl_f32s x, float below,
                                      float above, struct found *found) {
  const struct sl_bisection searches[] = {
      sl_bisection_of(z.first, z.count, x - below), sl_bisection_of(z.first, z.count, x + above),
      sl_bisection_of(z.first, z.count, x + a->overlap), sl_bisection_of(z.first, z.count, x - a->overlap)};
  const sl_i32s max_hits = sl_i32s_of(a->max_hits);
  sl_i32s at[4];
  sl_bisect(a->hits.x, searches, 4, 2 | 8, at);
  const sl_i32s end = sl_i32s_max(at[1], at[0]), left_end = sl_i32s_clamp(at[2], at[0], end);
  found->count[0] = sl_i32s_min(left_end - at[0], max_hits);
  found->first[0] = left_end - found->count[0];
  found->first[1] = sl_i32s_clamp(at[3], at[0], left_end);
  found->count[1] = sl_i32s_min(end - found->first[1], max_hits);
}

SL_LANES_FUNCTION sl_i32s has_hits(const struct found *f) { return SL_MASK(f->count[0] + f->count[1] > 0); }

/* Windows of x layers, and of the stereo layers next to those with hits. */
SL_LANES_FUNCTION void search_with_momentum(const struct search_windows_args *a, const struct search *s,
                                            const struct layers *l, struct found *x_found, struct found *stereo_found) {
  const uint32_t first = sl_group_lane(TRACK_LANES), last = SCIFI_X_LAYERS - 1;
  float slopes[SL_LANES], z[SL_LANES], stereo_z[SL_LANES], dxdy[SL_LANES], x[SL_LANES], stereo_x[SL_LANES];
  sl_f32s_out(z, l->z);
  sl_f32s_out(stereo_z, l->stereo_z);
  sl_f32s_out(dxdy, l->dxdy);
  SL_FOR_LANES (j) { /* layers of a station are in neighbouring lanes */
    const uint32_t i = first + j < last ? first + j : last;
    if (j % 2 > 0 || (j > 0 && first + j > last))
      slopes[j] = slopes[j - 1];
    else
      slopes[j] = forward_bent_slope(&a->forward, &s->state, s->qop, a->magnet.sign[0], i / 2);
  }
  SL_FOR_LANES (j) {
    x[j] = forward_bent_x(&a->forward, &s->state, slopes[j], z[j]);
    const float y = forward_line_y(&a->forward, &s->state, stereo_z[j]);
    stereo_x[j] = x[j] + slopes[j] * (stereo_z[j] - z[j]) + -y * dxdy[j];
  }
  window_around(a, s, zone_of(s, l->x_layer, l->is_one), sl_f32s_in(x), x_found);
  if (!sl_lanes_any(has_hits(x_found))) return;
  const struct zone stereo = zone_of(s, l->stereo_layer, l->is_one);
  const sl_f32s at = sl_f32s_in(stereo_x);
  const struct sl_bisection searches[] = {sl_bisection_of(stereo.first, stereo.count, at - a->stereo_half_width),
                                          sl_bisection_of(stereo.first, stereo.count, at + a->stereo_half_width)};
  sl_i32s range[2];
  sl_bisect(a->hits.x, searches, 2, 2, range);
  stereo_found->first[0] = range[0];
  stereo_found->count[0] = sl_i32s_max(range[1] - range[0], sl_i32s_of(0));
}

SL_LANES_FUNCTION void search_without_momentum(const struct search_windows_args *a, const struct search *s,
                                               const struct layers *l, struct found *x_found,
                                               struct found *stereo_found) {
  const sl_f32s dz = l->z - s->state.z, stereo_dz = l->stereo_z - s->state.z;
  const sl_f32s y = s->state.y + s->state.ty * stereo_dz;
  windows_around(a, zone_of(s, l->x_layer, l->is_one), s->state.x + s->state.tx * dz, s->below, s->above, x_found);
  if (!sl_lanes_any(has_hits(x_found))) return;
  const sl_f32s stereo_x = s->state.x + s->state.tx * stereo_dz + -y * l->dxdy;
  windows_around(a, zone_of(s, l->stereo_layer, l->is_one), stereo_x, a->stereo_half_width, a->stereo_half_width,
                 stereo_found);
}

/* Writes the windows of each layer: left and right in the x layer, then in the stereo layer. */
SL_LANES_FUNCTION void write_windows(const struct search_windows_args *a, const struct search *s, uint32_t item,
                                     const struct found *x_found, const struct found *stereo_found) {
  SL_UNROLL for (uint32_t w = 0; w < FORWARD_LAYER_WINDOWS; w++) {
    const struct found *f = w < 2 ? x_found : stereo_found;
    int32_t firsts[SL_LANES], counts[SL_LANES];
    sl_i32s_out(firsts, (f->first[w % 2] - sl_i32s_of(s->event_first)) & SL_MASK(f->count[w % 2] > 0));
    sl_i32s_out(counts, f->count[w % 2]);
    SL_FOR_LANES (j) {
      const uint32_t i = sl_group_lane(TRACK_LANES) + j;
      const size_t index = (size_t)item * FORWARD_WINDOWS + FORWARD_LAYER_WINDOWS * i + w;
      if (i >= SCIFI_X_LAYERS) continue;
      a->windows.first[index] = (uint16_t)firsts[j];
      a->windows.count[index] = (uint16_t)counts[j];
    }
  }
}

SL_KERNEL(search_windows_search, struct search_windows_args) {
  const struct layers layers = open_layers(&a);
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t begin = a.inputs.offsets[event], count = a.inputs.offsets[event + 1] - begin;
    SL_FOR_GROUPS (t, count, TRACK_LANES) {
      struct found x_found = found_none(), stereo_found = found_none();
      struct search s;
      if (t < count) {
        s = open_search(&a, event, begin + t);
        if (s.qop != 0.0f)
          search_with_momentum(&a, &s, &layers, &x_found, &stereo_found);
        else
          search_without_momentum(&a, &s, &layers, &x_found, &stereo_found);
      }
      const sl_i32s has_x = has_hits(&x_found), has_stereo = has_hits(&stereo_found) & has_x;
      const uint32_t bits = sl_group_sum_u32(sl_lanes_bits(has_x) | sl_lanes_bits(has_stereo) << 8, TRACK_LANES);
      if (t >= count) continue;
      const sl_i32s is_accepted = sl_i32s_of(is_enough(bits) ? UINT32_MAX : 0u);
      SL_UNROLL for (uint32_t side = 0; side < 2; side++) {
        x_found.count[side] &= is_accepted;
        stereo_found.count[side] &= is_accepted & has_x;
      }
      write_windows(&a, &s, begin + t, &x_found, &stereo_found);
    }
  }
}

static int run(const struct sl_launch *l, const struct search_windows_args *a) {
  return SL_LAUNCH(l, search_windows_search, SL_PER_EVENT, *a);
}

SL_ALGORITHM(search_windows, "finds search windows for SciFi hits of tracks", 256, run);
