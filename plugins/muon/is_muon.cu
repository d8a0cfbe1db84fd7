/* muon.is_muon: which long tracks are muons: those with hits near them in enough stations (README.md, "Muons").
 *
 * A thread a track. All tracks of an event look at the same hits in the same order, region by region, so that loads are
 * shared, a cpu takes eight hits at a time, and the window of a region, with its two exponentials, is computed once a
 * track. M3 is looked at first, where fewest hits are among the stations that every muon needs; most tracks end there.
 *
 * Reads 20 bytes a track and up to 20 a hit; writes a byte a track.
 */
#include "muon/event_model.h"
#include "scifi/event_model.h"

#include <sluice/kernel.h>

enum { WINDOWS = 2 * MUON_GRIDS }; /* x and y of each grid */
enum { M2, M3, M4, M5 };
static const float track_z = 9410.0f; /* where long tracks have their state */
static const float gev = 1000.0f;

#define SL_ARGS is_muon_args
#define IS_MUON(M)                                                                                     \
  M(IN, tracks, long_tracks, "offsets qop x y tx ty", "any order")                                     \
  M(IN, hits, muon_hits, "offsets first x y z half_x half_y", "by station and region")                 \
  M(OUT, flags, muon_flags, "one a track", SL_SHARES_OFFSETS(tracks))                                  \
  M(F32, min_p, 3000.0, 0.0, 1e6, "MeV", "of a muon, which has hits in M2 and M3")                     \
  M(F32, min_p_three, 6000.0, 0.0, 1e6, "MeV", "from here on it also has one in M4 or M5")             \
  M(F32, min_p_four, 10000.0, 0.0, 1e6, "MeV", "from here on in both")                                 \
  M(F32, factor, 1.2, 0.0, 100.0, "", "of the windows")                                                \
  M(F32_ARRAY, a, WINDOWS,                                                                             \
    "[5.2, 3.3, 3.6, 2.1, 2.4, 1.7, 2.4, 1.6, 5.7, 3.6, 4.4, 2.8, 2.8, 1.9, 2.3, 1.8, "                \
    "5.1, 4.4, 3.1, 3.3, 2.3, 2.2, 2.1, 2.2, 5.8, 4.8, 3.4, 3.9, 2.6, 2.6, 2.8, 2.3]",                 \
    0.0, 1e3, "", "half a window over the hit's half-width, at any p: M2 R1 x, y, M2 R2 ... M5 R4")    \
  M(F32_ARRAY, b, WINDOWS,                                                                             \
    "[31, 17, 28, 15, 21, 9, 17, 5, 30, 26, 31, 25, 27, 16, 22, 15, "                                  \
    "28, 30, 33, 49, 35, 57, 47, 92, 31, 32, 39, 55, 56, 96, 151, 166]",                               \
    0.0, 1e4, "", "and more at p = 0, in the same order")                                              \
  M(F32_ARRAY, c, WINDOWS,                                                                             \
    "[0.06, 0.13, 0.08, 0.19, 0.1, 0.19, 0.15, 0.24, 0.04, 0.11, 0.06, 0.19, 0.09, 0.21, 0.12, 0.32, " \
    "0.08, 0.1, 0.15, 0.22, 0.23, 0.3, 0.36, 0.52, 0.07, 0.08, 0.14, 0.2, 0.24, 0.34, 0.49, 0.52]",    \
    0.0, 100.0, "1/GeV", "which falls with p as exp(-c p), in the same order")
SL_ARGUMENTS(is_muon, IS_MUON);

struct track_line {
  float p, x, y, tx, ty;
};

/* Half a window, in half-widths of the hit. */
static SL_DEVICE float window_of(const struct is_muon_args *a, uint32_t i, float p) {
  return a->factor * (a->a[i] + a->b[i] * sl_expf(-a->c[i] * (p / gev)));
}

/* Whether one of the hits from `begin` to `end` is within the window, all of which have one. */
static SL_DEVICE uint32_t is_near(const struct is_muon_args *a, const struct track_line *t, uint32_t begin,
                                  uint32_t end, float window_x, float window_y) {
  uint32_t found = 0;
  for (uint32_t i = begin; i < end; i++) {
    const float dz = a->hits.z[i] - track_z, x = t->x + t->tx * dz, y = t->y + t->ty * dz;
    const uint32_t near_x = sl_abs_f32(a->hits.x[i] - x) < a->hits.half_x[i] * window_x;
    const uint32_t near_y = sl_abs_f32(a->hits.y[i] - y) < a->hits.half_y[i] * window_y;
    found |= near_x & near_y;
  }
  return found;
}

static SL_DEVICE uint32_t station_has_hit(const struct is_muon_args *a, uint32_t event, uint32_t station,
                                          const struct track_line *t) {
  const uint16_t *first = a->hits.first + (size_t)event * MUON_FIRSTS;
  const uint32_t event_hits = a->hits.offsets[event];
  for (uint32_t grid = station * MUON_REGIONS; grid < (station + 1) * MUON_REGIONS; grid++) {
    const uint32_t begin = event_hits + first[grid], end = event_hits + first[grid + 1];
    if (begin == end) continue;
    if (is_near(a, t, begin, end, window_of(a, 2 * grid, t->p), window_of(a, 2 * grid + 1, t->p))) return 1;
  }
  return 0;
}

static SL_DEVICE uint32_t is_muon_of(const struct is_muon_args *a, uint32_t event, uint32_t track) {
  struct track_line t;
  t.p = 1.0f / sl_abs_f32(a->tracks.qop[track]);
  t.x = a->tracks.x[track];
  t.y = a->tracks.y[track];
  t.tx = a->tracks.tx[track];
  t.ty = a->tracks.ty[track];
  if (!(t.p >= a->min_p)) return 0;
  if (!station_has_hit(a, event, M3, &t) || !station_has_hit(a, event, M2, &t)) return 0;
  if (t.p < a->min_p_three) return 1;
  const uint32_t has_m4 = station_has_hit(a, event, M4, &t);
  if (t.p < a->min_p_four ? has_m4 : !has_m4) return has_m4;
  return station_has_hit(a, event, M5, &t);
}

SL_KERNEL(is_muon_flag, struct is_muon_args) {
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t begin = a.tracks.offsets[event], end = a.tracks.offsets[event + 1];
    for (uint32_t i = begin + threadIdx.x; i < end; i += blockDim.x)
      a.flags.is_muon[i] = (uint8_t)is_muon_of(&a, event, i);
  }
}

static int run(const struct sl_launch *l, const struct is_muon_args *a) {
  return SL_LAUNCH(l, is_muon_flag, SL_PER_EVENT, *a);
}

SL_ALGORITHM(is_muon, "which long tracks are muons", 64, run);
