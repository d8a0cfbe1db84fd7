/* calo.electron_id: identifies electrons among long tracks by the cells on the track (README.md, "Electrons").
 * For each track:
 *   1. Find the cells on its straight line, their energy, the highest of them, and the energy of its 3 x 3 cells.
 *   2. If E/p is in the range of the preselection: compute the shape of the shower in the 3 x 3 cells; evaluate the
 *      network. Without a network only E/p of the line decides.
 * Parallelism: one block per event, one thread per track (step 1 in vector lanes on a CPU).
 * Determinism: all sums have a fixed order. Plain version: tests/calo/electron_id_test.c.
 * Cost: reads 20 bytes per track, up to six cells and nine neighbours; writes 35 bytes per track. Half of the tracks
 * are preselected.
 */
#include "calo/electron_network.h"
#include "forward/event_model.h"
#include "lines.h"
#include "network/take.h"

enum { NETWORK_LAYER_COUNT = 4, NETWORK_WIDTH = 16 };

#define SL_ARGS electron_id_args
#define ELECTRON_ID(M)                                                                                             \
  M(IN, tracks, long_tracks, "offsets qop x y tx ty", "long tracks, with states at the exit of the fibre tracker") \
  M(IN, cells, calo_cells, "", "values of the cells")                                                              \
  M(IN, geometry, calo_geometry, "pedestal neighbours xy gain to_local planes cell_size",                          \
    "geometry and gains of the cells")                                                                             \
  M(OPTIONAL_IN, network, network, "",                                                                             \
    "network that identifies electrons; if not connected: electrons by E/p of the cells on the track")             \
  M(OUT, electrons, calo_electrons, "energy and electron identification of each track", SL_SHARES_OFFSETS(tracks)) \
  M(F32, min_score, 0.7, 0, 1, "", "lower limit of the score of an electron, with a network")                      \
  M(F32, min_e_over_p, 0.7, 0, 10, "", "lower limit of E/p of an electron, without a network")                     \
  M(F32, min_e_over_p_3x3, 0.4, 0, 10, "", "lower limit of E/p in the 3 x 3 cells of a preselected track")         \
  M(F32, max_e_over_p, 2, 0, 1e9, "", "upper limit of E/p of a preselected track")                                 \
  M(F32, z, 9410, 0, 20000, "mm", "z of the states of the tracks")                                                 \
  M(COMPUTED, grid, struct calo_grid, "grids of the cells")                                                        \
  M(COMPUTED, planes, struct calo_planes, "planes at which tracks are evaluated")                                  \
  M(COMPUTED, has_network, uint32_t, "1 if there is a network")                                                    \
  M(TABLE, weights, f32, "weights of the network")
SL_ARGUMENTS(electron_id, ELECTRON_ID);

enum { DEPTH_PARTS = 4, PLANES = DEPTH_PARTS + 2 };

static SL_DEVICE float energy_of(const struct electron_id_args *a, const int16_t *adc, uint32_t cell) {
  return calo_energy(a->geometry.gain[cell], a->geometry.pedestal[0], adc[cell]);
}

/* The cell of a line with the largest energy, of equal ones the first; CALO_CELLS: no cell reads at least the pedestal.
 * Cells that were not read out have a negative energy. */
static SL_DEVICE uint32_t highest_cell(const struct electron_id_args *a, const struct calo_line_cells *found,
                                       uint32_t lane, const int16_t *adc) {
  uint32_t highest = CALO_CELLS;
  float most = -1.0f;
  SL_UNROLL
  for (uint32_t i = 0; i < PLANES; i++) {
    const uint32_t cell = found->cell[i][lane];
    const float energy = energy_of(a, adc, cell == CALO_CELLS ? 0 : cell);
    const uint32_t is_higher = (cell != CALO_CELLS) & (energy >= 0.0f) & (energy > most);
    highest = is_higher ? cell : highest;
    most = is_higher ? energy : most;
  }
  return highest;
}

/* Energy of neighbour `k` of a cell; 0 if there is none, or if it reads less than the pedestal. */
static SL_DEVICE float neighbour_energy(const struct electron_id_args *a, const int16_t *adc, uint32_t cell,
                                        uint32_t k) {
  const uint32_t other = a->geometry.neighbours[CALO_NEIGHBOURS * cell + k];
  const uint32_t exists = other != CALO_NO_NEIGHBOUR;
  const float energy = energy_of(a, adc, exists ? other : cell);
  return exists && energy >= 0.0f ? energy : 0.0f;
}

/* Energy of the highest cell and of its neighbours; 0 without a cell. */
static SL_DEVICE float shower_energy(const struct electron_id_args *a, const int16_t *adc, uint32_t highest) {
  const uint32_t cell = highest == CALO_CELLS ? 0 : highest;
  float sum = energy_of(a, adc, cell);
  SL_UNROLL
  for (uint32_t k = 0; k < CALO_NEIGHBOURS; k++) sum += neighbour_energy(a, adc, cell, k);
  return highest == CALO_CELLS ? 0.0f : sum;
}

/* Sets the track's distance from the shower, and the variances. `x` and `y`: of the track at shower maximum. All are
 * relative to the centre of the highest cell, so that no digits are lost. */
static SL_DEVICE void set_shape(const struct electron_id_args *a, const int16_t *adc, uint32_t highest, float x,
                                float y, struct calo_electron_track *track) {
  const float *centre = a->geometry.xy + 2 * highest;
  const float per_cell = highest < MIDDLE_FIRST  ? a->grid.per_outer_cell
                         : highest < INNER_FIRST ? a->grid.per_middle_cell
                                                 : a->grid.per_inner_cell;
  float sum = energy_of(a, adc, highest), sum_x = 0.0f, sum_y = 0.0f, sum_xx = 0.0f, sum_yy = 0.0f, sum_xy = 0.0f;
  SL_UNROLL
  for (uint32_t k = 0; k < CALO_NEIGHBOURS; k++) {
    const uint32_t other = a->geometry.neighbours[CALO_NEIGHBOURS * highest + k];
    const float *at = a->geometry.xy + 2 * (other == CALO_NO_NEIGHBOUR ? highest : other);
    const float energy = neighbour_energy(a, adc, highest, k);
    const float dx = (at[0] - centre[0]) * per_cell, dy = (at[1] - centre[1]) * per_cell;
    sum += energy;
    sum_x += energy * dx;
    sum_y += energy * dy;
    sum_xx += energy * dx * dx;
    sum_yy += energy * dy * dy;
    sum_xy += energy * dx * dy;
  }
  const float mean_x = sum_x / sum, mean_y = sum_y / sum;
  const float from_x = (x - centre[0]) * per_cell - mean_x, from_y = (y - centre[1]) * per_cell - mean_y;
  track->distance2 = from_x * from_x + from_y * from_y;
  track->variance_x = sum_xx / sum - mean_x * mean_x;
  track->variance_y = sum_yy / sum - mean_y * mean_y;
  track->covariance = sum_xy / sum - mean_x * mean_y;
}

/* Probability that the track is an electron; 0 if an input is not finite. */
static SL_DEVICE float score_of(const struct electron_id_args *a, const struct calo_electron_track *track) {
  float inputs[CALO_ELECTRON_INPUT_COUNT];
  calo_electron_inputs(track, inputs);
  if (!network_are_finite(inputs, CALO_ELECTRON_INPUT_COUNT)) return 0.0f;
  return network_score(a->weights, inputs, CALO_ELECTRON_INPUT_COUNT, NETWORK_LAYER_COUNT, NETWORK_WIDTH,
                       NETWORK_GROUP_SORT);
}

/* Writes the shower's shape and the score of track `i`. */
static SL_DEVICE void identify(const struct electron_id_args *a, const int16_t *adc, uint32_t highest, uint32_t i) {
  struct calo_electron_track track = {a->electrons.e_over_p[i], a->electrons.e_over_p_3x3[i], 0.0f, 0.0f, 0.0f, 0.0f};
  const uint32_t is_preselected =
      a->electrons.in_acceptance[i] && track.e_over_p_3x3 > a->min_e_over_p_3x3 && track.e_over_p < a->max_e_over_p;
  if (is_preselected) {
    const float x = a->tracks.x[i], y = a->tracks.y[i], tx = a->tracks.tx[i], ty = a->tracks.ty[i];
    const float distance = calo_line_distance(a->planes.plane[PLANE_SHOWER_MAX], x, y, a->z, tx, ty);
    set_shape(a, adc, highest, x + tx * distance, y + ty * distance, &track);
  }
  const float score = !a->has_network ? 1.0f : is_preselected ? score_of(a, &track) : 0.0f;
  a->electrons.distance2[i] = track.distance2;
  a->electrons.variance_x[i] = track.variance_x;
  a->electrons.variance_y[i] = track.variance_y;
  a->electrons.covariance[i] = track.covariance;
  a->electrons.score[i] = score;
  a->electrons.is_preselected[i] = (uint8_t)is_preselected;
  a->electrons.is_electron[i] = a->has_network ? score > a->min_score : track.e_over_p > a->min_e_over_p;
}

/* Up to 32 tracks of an event, from `first` on. */
static SL_DEVICE void identify_tracks(const struct electron_id_args *a, uint32_t event, uint32_t first,
                                      uint32_t count) {
  const int16_t *adc = a->cells.adc + (size_t)event * CALO_CELLS;
  struct calo_lines lines;
  struct calo_line_cells found;
  uint32_t highest[SL_LANES32];
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
    const float per_p = sl_abs_f32(a->tracks.qop[i]);
    highest[lane] = highest_cell(a, &found, lane, adc);
    a->electrons.energy[i] = energy;
    a->electrons.e_over_p[i] = energy * per_p;
    a->electrons.e_over_p_3x3[i] = shower_energy(a, adc, highest[lane]) * per_p;
    a->electrons.in_acceptance[i] = found.cell[PLANE_SHOWER_MAX][lane] != CALO_CELLS;
  }
  SL_FOR_LANES32_BELOW (j, count) identify(a, adc, highest[SL_LANE32(j)], first + j);
}

SL_KERNEL(electron_id_tracks, struct electron_id_args) {
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t first = a.tracks.offsets[event], count = a.tracks.offsets[event + 1] - first;
    SL_FOR_GROUPS (group, (count + 31) / 32, 32)
      if (32 * group < count) identify_tracks(&a, event, first + 32 * group, calo_lanes_of(count - 32 * group));
  }
}

static int prepare(const struct sl_services *s, void *args) {
  static const char *const inputs[] = {CALO_ELECTRON_INPUTS(NETWORK_INPUT_NAME)};
  const struct network_kind kind = {inputs,        CALO_ELECTRON_INPUT_COUNT, NETWORK_LAYER_COUNT,
                                    NETWORK_WIDTH, NETWORK_GROUP_SORT,        1};
  struct electron_id_args *a = (struct electron_id_args *)args;
  a->grid = calo_grid_of(&a->geometry);
  a->planes = calo_planes_of(&a->geometry, DEPTH_PARTS);
  a->has_network = network_is_present(&a->network);
  const int status = calo_grid_check(s, &a->geometry);
  return status == SL_OK ? network_take(s, &a->network, &kind, "weights") : status;
}

static int run(const struct sl_launch *l, const struct electron_id_args *a) {
  return SL_LAUNCH(l, electron_id_tracks, SL_PER_EVENT, *a);
}

SL_ALGORITHM(electron_id, "identifies electrons among long tracks by their energy and the shape of their showers", 64,
             run, SL_PREPARE(prepare));
