/* search_windows.h: what the versions of forward.search_windows share. Private to the plugin. */
#ifndef FORWARD_SEARCH_WINDOWS_H
#define FORWARD_SEARCH_WINDOWS_H

#include "forward_math.h"
#include "magnet/event_model.h"

#include <sluice/kernel.h>

#define SL_ARGS search_windows_args
#define SEARCH_WINDOWS(M)                                                                                      \
  M(IN, inputs, forward_inputs, "offsets x y tx ty qop", "tracks to search for")                               \
  M(IN, hits, scifi_hits, "offsets zone_first x", "where to search")                                           \
  M(IN, forward, forward_constants, "z_layer dxdy kick constants", "what the magnet does")                     \
  M(IN, magnet, magnet_polarity, "sign", "which way it points")                                                \
  M(OUT, windows, forward_windows, "for each track", SL_SHARES_OFFSETS(inputs))                                \
  M(U32, max_hits, 64, 2, 64, "", "hits of a window in an x layer, at most")                                   \
  M(F32, stereo_half_width, 800.0, 0.0, 1e4, "mm", "of windows in stereo layers")                              \
  M(F32, overlap, 5.0, 0.0, 1e4, "mm", "without momentum: left and right windows go so far beyond the middle") \
  M(F32, border_factor, 1.0, 0.0, 100.0, "", "without momentum: windows are so many times wider")              \
  M(F32, min_momentum, 5000.0, 1.0, 1e6, "MeV", "without momentum: smallest momentum that is looked for")      \
  M(F32, min_pt, 1000.0, 1.0, 1e6, "MeV", "without momentum: smallest transverse momentum")
SL_ARGUMENTS(search_windows, SEARCH_WINDOWS);

/* A track, and what of it is the same in all layers. */
struct search {
  struct forward_state state;
  float qop;
  float slope;                 /* behind the magnet, in the station of the last layer searched */
  float below, above;          /* how far from where the track should be its hits are, at most */
  const uint16_t *zone_first;  /* of the event */
  uint32_t event_first, upper; /* the event's first hit; 1: the track is at y > 0 */
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
  s.slope = 0.0f;
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
    const float of_pt = sqrtf(theta2 / (1.0f + theta2)) / a->min_pt; /* the sine of the angle to the beam */
    const float inverse = to_inverse_gev * sl_min_f32(1.0f / a->min_momentum, of_pt);
    s.below = forward_border(&a->forward, inverse, s.state.tx, s.state.ty) * a->border_factor;
    s.above = s.below;
  }
  return s;
}

/* Whether a triplet of x layers, and a stereo layer in each station, have hits. */
static SL_DEVICE uint32_t is_enough(uint32_t has_hits) {
  const uint32_t first_seed = 0x15, second_seed = 0x2A, stations = 0x15;
  const uint32_t stereo = has_hits >> 8, either = stereo | stereo >> 1;
  const uint32_t has_seed = (has_hits & first_seed) == first_seed || (has_hits & second_seed) == second_seed;
  return has_seed && (either & stations) == stations;
}

/* As `run`, where a block is one thread (search_windows.cpu.c). */
int search_windows_tuned(const struct sl_launch *l, const void *args);

#endif
