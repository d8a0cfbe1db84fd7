/* calo.bremsstrahlung: energy of the cells straight ahead of VELO tracks, where photons radiated before the magnet
 * arrive (README.md, "Bremsstrahlung"). Backward tracks have no energy.
 *
 * One block per event, one thread per track (vector lanes on a CPU). Cost: reads 21 bytes per track and up to four
 * cells; writes 8 bytes per track.
 */
#include "lines.h"
#include "velo/event_model.h"

#define SL_ARGS bremsstrahlung_args
#define BREMSSTRAHLUNG(M)                                                                                         \
  M(IN, beamline_states, track_states, "offsets x y z tx ty backward", "states of VELO tracks at the beam line")  \
  M(IN, cells, calo_cells, "", "values of the cells")                                                             \
  M(IN, geometry, calo_geometry, "pedestal xy gain to_local planes cell_size", "geometry and gains of the cells") \
  M(OUT, bremsstrahlung, calo_bremsstrahlung, "energy ahead of each track", SL_SHARES_OFFSETS(beamline_states))   \
  M(COMPUTED, grid, struct calo_grid, "grids of the cells")                                                       \
  M(COMPUTED, planes, struct calo_planes, "planes at which lines are evaluated")
SL_ARGUMENTS(bremsstrahlung, BREMSSTRAHLUNG);

enum { DEPTH_PARTS = 2, PLANES = DEPTH_PARTS + 2 };

/* Up to 32 tracks of an event, from `first` on. */
static SL_DEVICE void add_energies(const struct bremsstrahlung_args *a, uint32_t event, uint32_t first,
                                   uint32_t count) {
  const int16_t *adc = a->cells.adc + (size_t)event * CALO_CELLS;
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
  calo_find_cells(&a->grid, &a->planes, PLANES, &lines, count, &found);
  SL_FOR_LANES32_BELOW (j, count) {
    const uint32_t lane = SL_LANE32(j), i = first + j;
    const float tx = a->beamline_states.tx[i], ty = a->beamline_states.ty[i], t2 = tx * tx + ty * ty;
    const float energy = a->beamline_states.backward[i]
                             ? 0.0f
                             : calo_line_energy(PLANES, &found, lane, adc, a->geometry.gain, a->geometry.pedestal[0]);
    a->bremsstrahlung.energy[i] = energy;
    a->bremsstrahlung.et[i] = energy * sqrtf(t2 / (1.0f + t2));
  }
}

SL_KERNEL(bremsstrahlung_tracks, struct bremsstrahlung_args) {
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t first = a.beamline_states.offsets[event], count = a.beamline_states.offsets[event + 1] - first;
    SL_FOR_GROUPS (group, (count + 31) / 32, 32)
      if (32 * group < count) add_energies(&a, event, first + 32 * group, calo_lanes_of(count - 32 * group));
  }
}

static int prepare(const struct sl_services *s, void *args) {
  struct bremsstrahlung_args *a = (struct bremsstrahlung_args *)args;
  a->grid = calo_grid_of(&a->geometry);
  a->planes = calo_planes_of(&a->geometry, DEPTH_PARTS);
  return calo_grid_check(s, &a->geometry);
}

static int run(const struct sl_launch *l, const struct bremsstrahlung_args *a) {
  return SL_LAUNCH(l, bremsstrahlung_tracks, SL_PER_EVENT, *a);
}

SL_ALGORITHM(bremsstrahlung, "energy in the calorimeter straight ahead of VELO tracks", 128, run, SL_PREPARE(prepare));
