/* search_windows.h: what the versions of ut.search_windows share. Private to the plugin. */
#ifndef UT_SEARCH_WINDOWS_H
#define UT_SEARCH_WINDOWS_H

#include "ut/event_model.h"
#include "velo/event_model.h"

#include <sluice/kernel.h>

#define SL_ARGS search_windows_args
#define SEARCH_WINDOWS(M)                                                                                              \
  M(IN, selected, ut_selected_tracks, "", "tracks to search for")                                                      \
  M(IN, end_states, track_states, "offsets x y z tx ty", "of all VELO tracks")                                         \
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

/* The group of a layer's window: those from the one that the line would pass, if all were at y = 0, to the left and the
 * right. */
static SL_DEVICE int32_t group_of(int32_t middle, int32_t window) {
  return window % 2 ? middle - (window + 1) / 2 : middle + window / 2;
}

/* A group that can be read where a layer's first one is this: a layer without groups begins behind its last one, if
 * there are as many as can be even behind all. */
static SL_DEVICE int32_t group_to_read(int32_t begin) { return begin < UT_GROUPS_MAX ? begin : UT_GROUPS_MAX - 1; }

/* As `run`, where a block is one thread (search_windows.cpu.c). */
int ut_search_windows_tuned(const struct sl_launch *l, const void *args);

#endif
