/* calo.electron_id: identifies electrons among long tracks by the energy of the cells on the track (README.md,
 * "Electrons").
 *
 * One block per event, one thread per track (vector lanes on a CPU). Cost: reads 20 bytes per track and up to six
 * cells; writes 10 bytes per track.
 */
#include "forward/event_model.h"
#include "lines.h"

#define SL_ARGS electron_id_args
#define ELECTRON_ID(M)                                                                                             \
  M(IN, tracks, long_tracks, "offsets qop x y tx ty", "long tracks, with states at the exit of the fibre tracker") \
  M(IN, cells, calo_cells, "", "values of the cells")                                                              \
  M(IN, geometry, calo_geometry, "pedestal xy gain to_local planes cell_size", "geometry and gains of the cells")  \
  M(OUT, electrons, calo_electrons, "energy and electron identification of each track", SL_SHARES_OFFSETS(tracks)) \
  M(F32, min_e_over_p, 0.7, 0, 10, "", "lower limit of E/p of an electron")                                        \
  M(F32, z, 9410, 0, 20000, "mm", "z of the states of the tracks")                                                 \
  M(COMPUTED, grid, struct calo_grid, "grids of the cells")                                                        \
  M(COMPUTED, planes, struct calo_planes, "planes at which tracks are evaluated")
SL_ARGUMENTS(electron_id, ELECTRON_ID);

enum { DEPTH_PARTS = 4, PLANES = DEPTH_PARTS + 2 };

/* Up to 32 tracks of an event, from `first` on. */
static SL_DEVICE void identify(const struct electron_id_args *a, uint32_t event, uint32_t first, uint32_t count) {
  const int16_t *adc = a->cells.adc + (size_t)event * CALO_CELLS;
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
  SL_FOR_LANES32_BELOW (j, count) {
    const uint32_t lane = SL_LANE32(j), i = first + j;
    const float energy = calo_line_energy(PLANES, &found, lane, adc, a->geometry.gain, a->geometry.pedestal[0]);
    const float e_over_p = energy * sl_abs_f32(a->tracks.qop[i]);
    a->electrons.energy[i] = energy;
    a->electrons.e_over_p[i] = e_over_p;
    a->electrons.in_acceptance[i] = found.cell[PLANE_SHOWER_MAX][lane] != CALO_CELLS;
    a->electrons.is_electron[i] = e_over_p > a->min_e_over_p;
  }
}

SL_KERNEL(electron_id_tracks, struct electron_id_args) {
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t first = a.tracks.offsets[event], count = a.tracks.offsets[event + 1] - first;
    SL_FOR_GROUPS (group, (count + 31) / 32, 32)
      if (32 * group < count) identify(&a, event, first + 32 * group, calo_lanes_of(count - 32 * group));
  }
}

static int prepare(const struct sl_services *s, void *args) {
  struct electron_id_args *a = (struct electron_id_args *)args;
  a->grid = calo_grid_of(&a->geometry);
  a->planes = calo_planes_of(&a->geometry, DEPTH_PARTS);
  return calo_grid_check(s, &a->geometry);
}

static int run(const struct sl_launch *l, const struct electron_id_args *a) {
  return SL_LAUNCH(l, electron_id_tracks, SL_PER_EVENT, *a);
}

SL_ALGORITHM(electron_id, "identifies electrons among long tracks by E/p", 64, run, SL_PREPARE(prepare));
