/* calo.match_clusters: which clusters are met by tracks (README.md, "Neutral clusters").
 *   1. Mark the cells on the straight lines of long tracks and, in a second bit map, straight ahead of VELO tracks.
 *   2. Look up the highest cell of each cluster in both maps.
 * Parallelism: one block per event, one thread per track, then one per cluster (lines in vector lanes on a CPU).
 * Determinism: bits are set by atomics, in any order.
 * Plain version: tests/calo/neutral_clusters_test.c.
 * Cost: reads 16 bytes per long track and 21 per VELO track, sets 6 or 4 bits; reads 2 and writes 2 bytes per cluster.
 */
#include "forward/event_model.h"
#include "lines.h"
#include "velo/event_model.h"

#define SL_ARGS match_clusters_args
#define MATCH_CLUSTERS(M)                                                                                      \
  M(IN, clusters, calo_clusters, "offsets cell", "calorimeter clusters")                                       \
  M(IN, tracks, long_tracks, "offsets x y tx ty", "long tracks, with states at the exit of the fibre tracker") \
  M(IN, beamline_states, track_states, "offsets x y z tx ty backward", "VELO tracks at the beam line")         \
  M(IN, geometry, calo_geometry, "xy to_local planes cell_size", "geometry of the cells")                      \
  M(OUT, matches, calo_cluster_matches, "matches of each cluster with tracks", SL_SHARES_OFFSETS(clusters))    \
  M(F32, z, 9410, 0, 20000, "mm", "z of the states of the long tracks")                                        \
  M(COMPUTED, grid, struct calo_grid, "grids of the cells")                                                    \
  M(COMPUTED, planes, struct calo_planes, "planes at which long tracks are evaluated")                         \
  M(COMPUTED, velo_planes, struct calo_planes, "planes at which VELO tracks are evaluated")
SL_ARGUMENTS(match_clusters, MATCH_CLUSTERS);

/* Planes of a long track as in calo.electron_id, of a VELO track as in calo.bremsstrahlung. */
enum { DEPTH_PARTS = 4, PLANES = DEPTH_PARTS + 2, VELO_DEPTH_PARTS = 2, VELO_PLANES = VELO_DEPTH_PARTS + 2 };
enum { MAP_WORDS = CALO_CELLS / 32 };

static SL_DEVICE void mark(const struct calo_line_cells *found, uint32_t plane_count, uint32_t lane, uint32_t *map) {
  SL_UNROLL
  for (uint32_t i = 0; i < plane_count; i++) {
    const uint32_t cell = found->cell[i][lane];
    if (cell != CALO_CELLS) atomicOr(&map[cell / 32], 1u << cell % 32);
  }
}

/* Marks the cells on up to 32 long tracks of an event, from `first` on. */
static SL_DEVICE void mark_tracks(const struct match_clusters_args *a, uint32_t first, uint32_t count, uint32_t *map) {
  struct calo_lines lines;
  struct calo_line_cells found;
  SL_FOR_LANES32_OF (j, count) {
    const uint32_t lane = SL_LANE32(j), i = first + (j < count ? j : count - 1);
    lines.x[lane] = a->tracks.x[i];
    lines.y[lane] = a->tracks.y[i];
    lines.z[lane] = a->z;
    lines.tx[lane] = a->tracks.tx[i];
    lines.ty[lane] = a->tracks.ty[i];
  }
  calo_find_cells(&a->grid, &a->planes, PLANES, &lines, count, &found);
  SL_FOR_LANES32_BELOW (j, count) mark(&found, PLANES, SL_LANE32(j), map);
}

/* Marks the cells straight ahead of up to 32 VELO tracks of an event, from `first` on. */
static SL_DEVICE void mark_velo_tracks(const struct match_clusters_args *a, uint32_t first, uint32_t count,
                                       uint32_t *map) {
  struct calo_lines lines;
  struct calo_line_cells found;
  SL_FOR_LANES32_OF (j, count) {
    const uint32_t lane = SL_LANE32(j), i = first + (j < count ? j : count - 1);
    lines.x[lane] = a->beamline_states.x[i];
    lines.y[lane] = a->beamline_states.y[i];
    lines.z[lane] = a->beamline_states.z[i];
    lines.tx[lane] = a->beamline_states.tx[i];
    lines.ty[lane] = a->beamline_states.ty[i];
  }
  calo_find_cells(&a->grid, &a->velo_planes, VELO_PLANES, &lines, count, &found);
  SL_FOR_LANES32_BELOW (j, count)
    if (!a->beamline_states.backward[first + j]) mark(&found, VELO_PLANES, SL_LANE32(j), map);
}

SL_KERNEL(match_clusters, struct match_clusters_args) {
  __shared__ uint32_t on_track[MAP_WORDS];
  __shared__ uint32_t on_velo_line[MAP_WORDS];
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t tracks = a.tracks.offsets[event], track_count = a.tracks.offsets[event + 1] - tracks;
    const uint32_t states = a.beamline_states.offsets[event];
    const uint32_t state_count = a.beamline_states.offsets[event + 1] - states;
    const uint32_t end = a.clusters.offsets[event + 1];
    for (uint32_t i = threadIdx.x; i < MAP_WORDS; i += blockDim.x) on_track[i] = on_velo_line[i] = 0;
    __syncthreads();
    SL_FOR_GROUPS (group, (track_count + 31) / 32, 32)
      if (32 * group < track_count)
        mark_tracks(&a, tracks + 32 * group, calo_lanes_of(track_count - 32 * group), on_track);
    SL_FOR_GROUPS (group, (state_count + 31) / 32, 32)
      if (32 * group < state_count)
        mark_velo_tracks(&a, states + 32 * group, calo_lanes_of(state_count - 32 * group), on_velo_line);
    __syncthreads();
    for (uint32_t i = a.clusters.offsets[event] + threadIdx.x; i < end; i += blockDim.x) {
      const uint32_t cell = a.clusters.cell[i];
      a.matches.on_track[i] = (uint8_t)(on_track[cell / 32] >> cell % 32 & 1u);
      a.matches.on_velo_line[i] = (uint8_t)(on_velo_line[cell / 32] >> cell % 32 & 1u);
    }
    __syncthreads(); /* the maps are free */
  }
}

static int prepare(const struct sl_services *s, void *args) {
  struct match_clusters_args *a = (struct match_clusters_args *)args;
  a->grid = calo_grid_of(&a->geometry);
  a->planes = calo_planes_of(&a->geometry, DEPTH_PARTS);
  a->velo_planes = calo_planes_of(&a->geometry, VELO_DEPTH_PARTS);
  return calo_grid_check(s, &a->geometry);
}

static int run(const struct sl_launch *l, const struct match_clusters_args *a) {
  return SL_LAUNCH(l, match_clusters, SL_PER_EVENT, *a);
}

SL_ALGORITHM(match_clusters, "matches of calorimeter clusters with long tracks and VELO tracks", 128, run,
             SL_PREPARE(prepare));
