/* muon.is_muon: flags long tracks that have compatible hits in enough muon stations (README.md, "Muons").
 *   1. Search the hits of M3, then M2, which every muon needs, then M4 and M5. M3 has fewer hits and comes first;
 *      most tracks end there.
 *   2. For muons, find the closest compatible hit of each station; ties: the first hit.
 * Parallelism: eight threads per track compute the windows of a station (x and y in four regions) and share its hits. A
 * CPU compares eight hits at a time. Determinism: the closest hit is the minimum of a key (distance, index).
 * Cost: reads 20 bytes per track and at most 20 per hit and track, for muons twice; writes 9 bytes per track.
 */
#include "forward/event_model.h"
#include "muon/event_model.h"

#include <sluice/kernel.h>

enum { M2, M3, M4, M5 };
enum {
  WINDOWS = 2 * MUON_GRIDS, /* x and y of each grid */
  STATION_WINDOWS = 2 * MUON_REGIONS,
  TRACK_THREADS = STATION_WINDOWS,
#if defined(SL_TARGET_CPU)
  TRACKS_AT_A_TIME = 1
#else
  TRACKS_AT_A_TIME = 1024 / TRACK_THREADS /* in the largest block */
#endif
};
static const float gev = 1000.0f;
static const uint64_t no_key = UINT64_MAX;
static const float largest_p = 1e30f; /* MeV: finite, so that c = 0 is 0 times it */

#define SL_ARGS is_muon_args
#define IS_MUON(M)                                                                                              \
  M(IN, tracks, long_tracks, "offsets qop x y tx ty", "long tracks, in any order")                              \
  M(IN, hits, muon_hits, "offsets first x y z half_x half_y", "muon hits, by station and region")               \
  M(OUT, flags, muon_flags, "one flag per track: 1 for a muon, and its hits", SL_SHARES_OFFSETS(tracks))        \
  M(F32, min_p, 3000.0, 0.0, 1e6, "MeV", "smallest momentum of a muon, which needs hits in M2 and M3")          \
  M(F32, min_p_three, 6000.0, 0.0, 1e6, "MeV", "momentum from which a muon also needs a hit in M4 or M5")       \
  M(F32, min_p_four, 10000.0, 0.0, 1e6, "MeV", "momentum from which a muon needs hits in M4 and M5")            \
  M(F32, factor, 1.2, 0.0, 100.0, "", "factor on the widths of all windows")                                    \
  M(F32_ARRAY, a, WINDOWS,                                                                                      \
    "[5.2, 3.3, 3.6, 2.1, 2.4, 1.7, 2.4, 1.6, 5.7, 3.6, 4.4, 2.8, 2.8, 1.9, 2.3, 1.8, "                         \
    "5.1, 4.4, 3.1, 3.3, 2.3, 2.2, 2.1, 2.2, 5.8, 4.8, 3.4, 3.9, 2.6, 2.6, 2.8, 2.3]",                          \
    0.0, 1e3, "", "constant part of half a window over the half-width of the hit: M2 R1 x, y, M2 R2 ... M5 R4") \
  M(F32_ARRAY, b, WINDOWS,                                                                                      \
    "[31, 17, 28, 15, 21, 9, 17, 5, 30, 26, 31, 25, 27, 16, 22, 15, "                                           \
    "28, 30, 33, 49, 35, 57, 47, 92, 31, 32, 39, 55, 56, 96, 151, 166]",                                        \
    0.0, 1e4, "", "part of half a window that falls with p as exp(-c p), at p = 0, in the order of `a`")        \
  M(F32_ARRAY, c, WINDOWS,                                                                                      \
    "[0.06, 0.13, 0.08, 0.19, 0.1, 0.19, 0.15, 0.24, 0.04, 0.11, 0.06, 0.19, 0.09, 0.21, 0.12, 0.32, "          \
    "0.08, 0.1, 0.15, 0.22, 0.23, 0.3, 0.36, 0.52, 0.07, 0.08, 0.14, 0.2, 0.24, 0.34, 0.49, 0.52]",             \
    0.0, 100.0, "1/GeV", "constant of the exponential exp(-c p), in the order of `a`")
SL_ARGUMENTS(is_muon, IS_MUON);

struct track_line {
  float p, x, y, tx, ty;
};

/* Half width of window `i`, in half-widths of the hit. */
static SL_DEVICE float window_of(const struct is_muon_args *a, uint32_t i, float p) {
  return a->factor * (a->a[i] + a->b[i] * sl_expf(-a->c[i] * (sl_min_f32(p, largest_p) / gev)));
}

static SL_DEVICE struct track_line track_line_of(const struct is_muon_args *a, uint32_t track) {
  struct track_line t;
  t.p = 1.0f / sl_abs_f32(a->tracks.qop[track]);
  t.x = a->tracks.x[track];
  t.y = a->tracks.y[track];
  t.tx = a->tracks.tx[track];
  t.ty = a->tracks.ty[track];
  return t;
}

/* Distance of a hit from the track at the z of the hit. */
struct distance {
  float x, y;
};
static SL_DEVICE struct distance distance_of(const struct is_muon_args *a, size_t hit, const struct track_line *t) {
  const float dz = a->hits.z[hit] - MUON_TRACK_Z, x = t->x + t->tx * dz, y = t->y + t->ty * dz;
  struct distance d;
  d.x = a->hits.x[hit] - x;
  d.y = a->hits.y[hit] - y;
  return d;
}

/* 1 if a hit is compatible with the track. */
static SL_DEVICE uint32_t is_near(const struct is_muon_args *a, size_t hit, const struct track_line *t, float window_x,
                                  float window_y) {
  const struct distance d = distance_of(a, hit, t);
  const uint32_t near_x = sl_abs_f32(d.x) < a->hits.half_x[hit] * window_x;
  const uint32_t near_y = sl_abs_f32(d.y) < a->hits.half_y[hit] * window_y;
  return near_x & near_y;
}

/* 1 if this thread finds a compatible hit in its share of the hits of the station. */
static SL_DEVICE uint32_t has_hit(const struct is_muon_args *a, uint32_t event, uint32_t station,
                                  const struct track_line *t, const float *windows) {
  const uint16_t *first = a->hits.first + (size_t)event * MUON_FIRSTS + station * MUON_REGIONS;
  const size_t event_hits = a->hits.offsets[event];
  uint32_t found = 0;
#if defined(SL_TARGET_CPU)
  for (uint32_t region = 0; region < MUON_REGIONS; region++)
    for (uint32_t i = first[region]; i < first[region + 1]; i++)
      found |= is_near(a, event_hits + i, t, windows[2 * region], windows[2 * region + 1]);
#else
  /* All regions in one loop, because a region has few hits. */
  const uint32_t second = first[1], third = first[2], fourth = first[3], end = first[MUON_REGIONS];
  for (uint32_t i = first[0] + sl_group_lane(TRACK_THREADS); i < end; i += SL_GROUP(TRACK_THREADS)) {
    const uint32_t region = (i >= second ? 1u : 0u) + (i >= third ? 1u : 0u) + (i >= fourth ? 1u : 0u);
    found |= is_near(a, event_hits + i, t, windows[2 * region], windows[2 * region + 1]);
  }
#endif
  return found;
}

/* Smallest key (distance, index in the event) in this thread's share of the compatible hits of the station. The squared
 * distance has twice the weight in y. It is not negative, so its bits have the order of its values. */
static SL_DEVICE uint64_t closest_hit(const struct is_muon_args *a, uint32_t event, uint32_t station,
                                      const struct track_line *t, const float *windows) {
  const uint16_t *first = a->hits.first + (size_t)event * MUON_FIRSTS + station * MUON_REGIONS;
  const size_t event_hits = a->hits.offsets[event];
  uint64_t closest = no_key;
  for (uint32_t region = 0; region < MUON_REGIONS; region++) {
    const float window_x = windows[2 * region], window_y = windows[2 * region + 1];
    for (uint32_t i = first[region] + sl_group_lane(TRACK_THREADS); i < first[region + 1];
         i += SL_GROUP(TRACK_THREADS)) {
      if (!is_near(a, event_hits + i, t, window_x, window_y)) continue;
      const struct distance d = distance_of(a, event_hits + i, t);
      const uint64_t key = (uint64_t)sl_bits_from_f32(d.x * d.x + 2.0f * (d.y * d.y)) << 32 | i;
      if (key < closest) closest = key;
    }
  }
  return closest;
}

/* State of the decision on a track. */
struct verdict {
  uint32_t continues, is_muon;
};

/* Updates the decision after a station, in the order M3, M2, M4, M5. `found`: it has a compatible hit. */
static SL_DEVICE struct verdict judge(const struct is_muon_args *a, uint32_t station, float p, uint32_t found) {
  struct verdict v;
  v.is_muon = found;
  if (station == M3) v.is_muon = 0;
  if (station == M2) v.is_muon = found && p < a->min_p_three;
  if (station == M4) v.is_muon = found && p < a->min_p_four;
  v.continues = station != M5 && !v.is_muon && (found || (station == M4 && p < a->min_p_four));
  return v;
}

/* Computes the windows of a station. Called by all threads of a warp. */
static SL_DEVICE void open_windows(const struct is_muon_args *a, uint32_t station, float p, float *windows) {
  sl_warp_sync(); /* the windows of the previous station are no longer needed */
  for (uint32_t k = sl_group_lane(TRACK_THREADS); k < STATION_WINDOWS; k += SL_GROUP(TRACK_THREADS))
    windows[k] = window_of(a, STATION_WINDOWS * station + k, p);
  sl_warp_sync();
}

/* Decides on a track. Called by all threads of a warp; is_track: 0 for groups without a track. */
static SL_DEVICE uint32_t is_muon_of(const struct is_muon_args *a, uint32_t event, const struct track_line *t,
                                     uint32_t is_track, float *windows) {
  struct verdict v;
  v.is_muon = 0;
  v.continues = is_track && t->p >= a->min_p;
  for (uint32_t turn = 0; turn < MUON_STATIONS && sl_warp_any_needed(v.continues); turn++) {
    const uint32_t station = turn < 2 ? 1 - turn : turn;
    uint32_t found = 0;
    open_windows(a, station, t->p, windows);
    if (v.continues) found = has_hit(a, event, station, t, windows);
    found = sl_group_any(found, TRACK_THREADS);
    if (v.continues) v = judge(a, station, t->p, found);
  }
  return v.is_muon;
}

/* Writes the closest hits of a muon, or none for other tracks. Called by all threads of a warp. */
static SL_DEVICE void write_hits(const struct is_muon_args *a, uint32_t event, uint32_t track,
                                 const struct track_line *t, uint32_t is_track, uint32_t is_muon, float *windows) {
  const uint32_t any = sl_warp_any_needed(is_muon), writes = is_track && sl_group_lane(TRACK_THREADS) == 0;
  for (uint32_t station = M2; station <= M5; station++) {
    uint64_t closest = no_key;
    if (any) {
      open_windows(a, station, t->p, windows);
      if (is_muon) closest = closest_hit(a, event, station, t, windows);
      closest = sl_group_min_u64(closest, TRACK_THREADS);
    }
    /* The low bits of no_key are MUON_NO_HIT. */
    if (writes) a->flags.hits[(size_t)MUON_STATIONS * track + station] = (uint16_t)closest;
  }
}

SL_KERNEL(is_muon_flag, struct is_muon_args) {
  __shared__ float windows[TRACKS_AT_A_TIME][STATION_WINDOWS];
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t begin = a.tracks.offsets[event], count = a.tracks.offsets[event + 1] - begin;
    SL_FOR_GROUPS (i, count, TRACK_THREADS) {
      float *own_windows = windows[threadIdx.x / SL_GROUP(TRACK_THREADS)];
      struct track_line t = {0, 0, 0, 0, 0};
      if (i < count) t = track_line_of(&a, begin + i);
      const uint32_t is_muon = is_muon_of(&a, event, &t, i < count, own_windows);
      if (i < count && sl_group_lane(TRACK_THREADS) == 0) a.flags.is_muon[begin + i] = (uint8_t)is_muon;
      write_hits(&a, event, begin + i, &t, i < count, is_muon, own_windows);
    }
  }
}

static int run(const struct sl_launch *l, const struct is_muon_args *a) {
  return SL_LAUNCH(l, is_muon_flag, SL_PER_EVENT, *a);
}

SL_ALGORITHM(is_muon, "flags long tracks that are muons", 256, run);
