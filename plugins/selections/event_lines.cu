/* event_lines.cu: lines that evaluate whole events (README.md, "Lines over tracks and events"). */
#include "calo/event_model.h"
#include "pv/event_model.h"
#include "selections/line.h"
#include "velo/event_model.h"

/* All j from `from` to `to` - 1 with is_selected(a, j), in ascending order, for all lanes of a warp together: each lane
 * tests one j of as many as there are lanes. */
#define FOR_SELECTED(j, is_selected, from, to)                                                                         \
  for (uint32_t first_##j = (from), own_##j = 0; first_##j < (to); first_##j += sl_warp_lanes())                       \
    for (uint32_t j =                                                                                                  \
             ((own_##j = first_##j + sl_warp_lane() < (to) && is_selected(a, first_##j + sl_warp_lane())), first_##j); \
         j < (to) && j - first_##j < sl_warp_lanes(); j++)                                                             \
      if (sl_warp_any(own_##j && j - first_##j == sl_warp_lane()))

/* ---------------------------------------------------------------------------------------------- passthrough */

#define SL_ARGS        passthrough_args
#define PASSTHROUGH(M) LINE_OVER(M, events)
SL_ARGUMENTS(passthrough, PASSTHROUGH);

LINE(passthrough, "all events", events) { return 1; }

/* ----------------------------------------------------------------------------------------------------- odin */

#undef SL_ARGS
#define SL_ARGS odin_args
#define ODIN(M)                                                                                      \
  LINE_OVER(M, events)                                                                               \
  M(IN, reasons, odin_events, "event_type crossing_type orbit tae_index", "ODIN data of the events") \
  M(U32, event_types, 0, 0, 0xFFFF, "",                                                              \
    "accepted event types, as bits (1: VELO open, 4: no bias, 8: luminosity, ...); 0: all events")   \
  M(U32, crossing_types, 15, 0, 15, "",                                                              \
    "accepted crossing types, as bits (1: no beam, 2: beam 1, 4: beam 2, 8: both)")                  \
  M(U32, orbit_period, 1, 1, 0xFFFFFFFF, "", "accept one in this many orbits")                       \
  M(U32, orbit_phase, 0, 0, 0xFFFFFFFF, "", "accepted orbit number modulo orbit_period")             \
  M(BOOL, in_window, 0, "accept only events of a window of consecutive crossings (TAE)")
SL_ARGUMENTS(odin, ODIN);

LINE(odin, "events with given ODIN data", events) {
  SL_EXPLAIN_VALUE("event type", a->reasons.event_type[event]);
  SL_REQUIRE_THAT("event type is in event_types",
                  a->event_types == 0 || (a->reasons.event_type[event] & a->event_types) != 0);
  SL_EXPLAIN_VALUE("crossing type", a->reasons.crossing_type[event]);
  SL_REQUIRE_THAT("crossing type is in crossing_types",
                  (a->crossing_types >> a->reasons.crossing_type[event] & 1u) != 0);
  SL_REQUIRE("orbit modulo orbit_period", a->reasons.orbit[event] % a->orbit_period, ==,
             a->orbit_phase % a->orbit_period);
  SL_REQUIRE_THAT("is in a TAE window, or in_window is false", !a->in_window || a->reasons.tae_index[event] > 0);
  return 1;
}

/* ------------------------------------------------------------------------------------------ velo_micro_bias */

#undef SL_ARGS
#define SL_ARGS velo_micro_bias_args
#define VELO_MICRO_BIAS(M)                                            \
  LINE_OVER(M, events)                                                \
  M(IN, tracks, velo_tracks, "offsets", "VELO tracks, to count them") \
  M(U32, min_tracks, 1, 0, 1000000, "", "minimum number of VELO tracks")
SL_ARGUMENTS(velo_micro_bias, VELO_MICRO_BIAS);

LINE(velo_micro_bias, "events with VELO tracks", events) {
  SL_REQUIRE("VELO tracks", a->tracks.offsets[event + 1] - a->tracks.offsets[event], >=, a->min_tracks);
  return 1;
}

/* ------------------------------------------------------------------------------------ displaced_velo_tracks */

#undef SL_ARGS
#define SL_ARGS displaced_velo_tracks_args
#define DISPLACED_VELO_TRACKS(M)                                                                                 \
  LINE_OVER(M, events)                                                                                           \
  M(IN, beamline_states, track_states, "offsets x y z tx ty", "states of VELO tracks at the beam line")          \
  M(IN, geometry, velo_geometry, "beam", "position of the beam line")                                            \
  M(F32, min_distance, 18.0, 0.0, 1e9, "mm", "transverse distance from the beam line of a displaced track")      \
  M(U32, min_tracks, 3, 0, 1000000, "", "minimum number of displaced tracks")                                    \
  M(U32, min_pairs, 0, 0, 1000000, "",                                                                           \
    "minimum number of pairs of displaced tracks with a small DOCA; 0: no pairs needed")                         \
  M(F32, max_doca, 0.5, 0.0, 1e9, "mm", "maximum distance of closest approach of a pair")                        \
  M(F32, min_z, -1e9, -1e9, 1e9, "mm", "minimum z of a pair, halfway between its tracks where they are closest") \
  M(F32, max_z, 1e9, -1e9, 1e9, "mm", "z that a pair must be below")
SL_ARGUMENTS(displaced_velo_tracks, DISPLACED_VELO_TRACKS);

static LINE_INLINE_ uint32_t is_displaced_track(const struct displaced_velo_tracks_args *a, uint32_t i,
                                                struct sl_explanation *explanation) {
  const float dx = a->beamline_states.x[i] - a->geometry.beam[0], dy = a->beamline_states.y[i] - a->geometry.beam[1];
  SL_REQUIRE("squared distance from the beam line", dx * dx + dy * dy, >, a->min_distance * a->min_distance);
  return 1;
}

static SL_DEVICE uint32_t is_displaced(const struct displaced_velo_tracks_args *a, uint32_t i) {
  return is_displaced_track(a, i, NULL);
}

/* A DOCA of exactly 0 means one track that was found twice. */
static SL_DEVICE uint32_t are_near(const struct displaced_velo_tracks_args *a, uint32_t i, uint32_t j) {
  const float tx = a->beamline_states.tx[j], ty = a->beamline_states.ty[j],
              dz = a->beamline_states.z[i] - a->beamline_states.z[j];
  const float ux = a->beamline_states.tx[i] - tx, uy = a->beamline_states.ty[i] - ty, w = ux * ty - uy * tx;
  const float ex = a->beamline_states.x[i] - (a->beamline_states.x[j] + tx * dz),
              ey = a->beamline_states.y[i] - (a->beamline_states.y[j] + ty * dz);
  const float doca = sl_abs_f32(ex * uy - ey * ux) / sqrtf(ux * ux + uy * uy + w * w);
  return doca > 0.0f && doca < a->max_doca ? 1u : 0u;
}

/* Requires z of the point halfway between two tracks where they are closest. `e` is the distance of track i from track
 * j at z of track i; `ii`, `jj` and `ij` are products of their directions. */
static SL_DEVICE uint32_t is_in_range(const struct displaced_velo_tracks_args *a, uint32_t i, uint32_t j) {
  const float ix = a->beamline_states.tx[i], iy = a->beamline_states.ty[i];
  const float jx = a->beamline_states.tx[j], jy = a->beamline_states.ty[j];
  const float dz = a->beamline_states.z[i] - a->beamline_states.z[j];
  const float ux = ix - jx, uy = iy - jy, w = ux * jy - uy * jx;
  const float ex = a->beamline_states.x[i] - (a->beamline_states.x[j] + jx * dz);
  const float ey = a->beamline_states.y[i] - (a->beamline_states.y[j] + jy * dz);
  const float ii = 1.0f + ix * ix + iy * iy, jj = 1.0f + jx * jx + jy * jy, ij = 1.0f + ix * jx + iy * jy;
  const float ei = ex * ix + ey * iy, ej = ex * jx + ey * jy;
  const float z = a->beamline_states.z[i] + 0.5f * (ej * (ij + ii) - ei * (jj + ij)) / (ux * ux + uy * uy + w * w);
  return z >= a->min_z && z < a->max_z ? 1u : 0u;
}

LINE(displaced_velo_tracks, "events with VELO tracks, or pairs of them, far from the beam line", events) {
  const uint32_t begin = a->beamline_states.offsets[event], end = a->beamline_states.offsets[event + 1];
  uint32_t tracks = 0, pairs = 0;
  for (uint32_t k = begin + sl_warp_lane(); k < end; k += sl_warp_lanes()) tracks += is_displaced(a, k);
  if (LINE_IS_EXPLAINED)
    for (uint32_t k = begin; k < end; k++) LINE_EXPLAIN_ITEM(k - begin, is_displaced_track(a, k, explanation));
  LINE_REQUIRE_COUNT("displaced VELO tracks", tracks, a->min_tracks);
  if (a->min_pairs == 0) return 1;
  FOR_SELECTED (j, is_displaced, begin, end)
    for (uint32_t k = j + 1 + sl_warp_lane(); k < end; k += sl_warp_lanes())
      pairs += is_displaced(a, k) && are_near(a, j, k) && is_in_range(a, j, k);
  LINE_REQUIRE_COUNT("pairs of displaced tracks with DOCA from 0 to max_doca", pairs, a->min_pairs);
  return 1;
}

/* ---------------------------------------------------------------------------------------- displaced_leptons */

#undef SL_ARGS
#define SL_ARGS displaced_leptons_args
#define DISPLACED_LEPTONS(M)                                                               \
  LINE_OVER(M, events)                                                                     \
  M(IN, particles, particles, "offsets ip_chi2 vertex_z pt pt_corrected leptons",          \
    "particles, to count displaced leptons")                                               \
  M(U32, min_leptons, 2, 0, 1000000, "", "minimum number of muons and electrons together") \
  M(F32, min_ip_chi2, 7.4, 0.0, 1e9, "", "minimum chi2 of the impact parameter")           \
  M(F32, min_pt, 1000.0, 0.0, 1e9, "MeV", "minimum pt; for electrons with bremsstrahlung") \
  M(F32, min_vertex_z, -341.0, -1e8, 1e9, "mm", "minimum z of the primary vertex")
SL_ARGUMENTS(displaced_leptons, DISPLACED_LEPTONS);

static LINE_INLINE_ uint32_t is_displaced_lepton(const struct displaced_leptons_args *a, uint32_t i,
                                                 struct sl_explanation *explanation) {
  const uint32_t leptons = a->particles.leptons[i];
  SL_REQUIRE("IP chi2", a->particles.ip_chi2[i], >, a->min_ip_chi2);
  SL_REQUIRE("z of the primary vertex", a->particles.vertex_z[i], >, a->min_vertex_z);
  SL_EXPLAIN_VALUE("lepton bits (1 muon, 2 electron)", leptons);
  SL_EXPLAIN_VALUE("pt", a->particles.pt[i]);
  SL_EXPLAIN_VALUE("pt with bremsstrahlung", a->particles.pt_corrected[i]);
  SL_REQUIRE_THAT("is a muon, or an electron with bremsstrahlung, of pt > min_pt",
                  ((leptons & PARTICLE_IS_ELECTRON) && a->particles.pt_corrected[i] > a->min_pt) ||
                      ((leptons & PARTICLE_IS_MUON) && a->particles.pt[i] > a->min_pt));
  return 1;
}

LINE(displaced_leptons, "events with several leptons displaced from the primary vertices", events) {
  const uint32_t begin = a->particles.offsets[event], end = a->particles.offsets[event + 1];
  uint32_t leptons = 0;
  for (uint32_t k = begin + sl_warp_lane(); k < end; k += sl_warp_lanes()) leptons += is_displaced_lepton(a, k, NULL);
  if (LINE_IS_EXPLAINED)
    for (uint32_t k = begin; k < end; k++) LINE_EXPLAIN_ITEM(k - begin, is_displaced_lepton(a, k, explanation));
  LINE_REQUIRE_COUNT("displaced leptons", leptons, a->min_leptons);
  return 1;
}

/* --------------------------------------------------------------------------------------------- two_photons */

#undef SL_ARGS
#define SL_ARGS two_photons_args
#define TWO_PHOTONS(M)                                                                                         \
  LINE_OVER(M, events)                                                                                         \
  M(IN, clusters, calo_clusters, "offsets energy et x y highest_share",                                        \
    "calorimeter clusters, taken as photons from the origin")                                                  \
  M(IN, vertices, pv_vertices, "offsets", "primary vertices, to count them")                                   \
  M(F32, min_mass, 3000.0, 0.0, 1e9, "MeV", "minimum mass of the photon pair")                                 \
  M(F32, max_mass, 8000.0, 0.0, 1e9, "MeV", "maximum mass of the photon pair")                                 \
  M(F32, min_pt, 1000.0, 0.0, 1e9, "MeV", "minimum pt of the photon pair")                                     \
  M(F32, min_pt_by_eta, 0.0, 0.0, 1e9, "MeV", "factor f of the requirement pt > f * (max_eta - eta)")          \
  M(F32, max_eta, 10.0, -20.0, 20.0, "", "maximum pseudorapidity of the photon pair")                          \
  M(F32, min_et, 2500.0, 0.0, 1e9, "MeV", "minimum transverse energy of a cluster")                            \
  M(F32, min_highest_share, 0.6, 0.0, 1.0, "", "minimum share of the highest cell in the energy of a cluster") \
  M(U32, max_vertices, 0xFFFFFFFF, 0, 0xFFFFFFFF, "", "maximum number of primary vertices")                    \
  M(F32, z, 12650.0, 1.0, 1e6, "mm", "z of the clusters")
SL_ARGUMENTS(two_photons, TWO_PHOTONS);

static LINE_INLINE_ uint32_t is_photon_cluster(const struct two_photons_args *a, uint32_t i,
                                               struct sl_explanation *explanation) {
  SL_REQUIRE("ET of the cluster", a->clusters.et[i], >, a->min_et);
  SL_REQUIRE("share of the highest cell", a->clusters.highest_share[i], >, a->min_highest_share);
  return 1;
}

static SL_DEVICE uint32_t is_photon(const struct two_photons_args *a, uint32_t i) {
  return is_photon_cluster(a, i, NULL);
}

/* m^2 = 2 E1 E2 (1 - cos) with 1 - cos = sin^2 / (1 + cos), and sin^2 from differences of positions. The difference
 * (E1 + E2)^2 - p^2 would lose all digits at small masses. */
static LINE_INLINE_ uint32_t is_decay(const struct two_photons_args *a, uint32_t i, uint32_t j,
                                      struct sl_explanation *explanation) {
  const float x1 = a->clusters.x[i], y1 = a->clusters.y[i], e1 = a->clusters.energy[i], z = a->z;
  const float x2 = a->clusters.x[j], y2 = a->clusters.y[j], e2 = a->clusters.energy[j];
  SL_EXPLAIN_VALUE("x of the first cluster", x1);
  SL_EXPLAIN_VALUE("y of the first cluster", y1);
  SL_EXPLAIN_VALUE("x of the second cluster", x2);
  SL_EXPLAIN_VALUE("y of the second cluster", y2);
  const float dx = x1 - x2, dy = y1 - y2, across = x1 * dy - y1 * dx;
  const float r1 = sqrtf(x1 * x1 + y1 * y1 + z * z), r2 = sqrtf(x2 * x2 + y2 * y2 + z * z), r = r1 * r2;
  const float sine2 = (z * z * (dx * dx + dy * dy) + across * across) / (r * r);
  const float cosine = (x1 * x2 + y1 * y2 + z * z) / r;
  const float mass = sqrtf(2.0f * e1 * e2 * (sine2 / (1.0f + cosine)));
  SL_REQUIRE("mass of the pair", mass, >, a->min_mass);
  SL_REQUIRE("mass of the pair", mass, <, a->max_mass);
  const float by_r1 = e1 / r1, by_r2 = e2 / r2, px = by_r1 * x1 + by_r2 * x2, py = by_r1 * y1 + by_r2 * y2;
  const float pt2 = px * px + py * py, pt = sqrtf(pt2), pz = (by_r1 + by_r2) * z;
  SL_REQUIRE("pt of the pair", pt, >, a->min_pt);
  const float eta = sl_logf((sqrtf(pt2 + pz * pz) + pz) / pt);
  SL_REQUIRE("eta of the pair", eta, <, a->max_eta);
  SL_REQUIRE("pt of the pair", pt, >, a->min_pt_by_eta * (a->max_eta - eta));
  return 1;
}

LINE(two_photons, "events with two clusters that are the photons of a decay", events) {
  const uint32_t begin = a->clusters.offsets[event], end = a->clusters.offsets[event + 1];
  uint32_t found = 0;
  SL_REQUIRE("primary vertices", a->vertices.offsets[event + 1] - a->vertices.offsets[event], <=, a->max_vertices);
  FOR_SELECTED (j, is_photon, begin, end)
    for (uint32_t k = j + 1 + sl_warp_lane(); k < end && !found; k += sl_warp_lanes())
      found = is_photon(a, k) && is_decay(a, j, k, NULL) ? 1u : 0u;
  if (LINE_IS_EXPLAINED)
    for (uint32_t j = begin, pair = 0; j < end; j++)
      for (uint32_t k = j + 1; k < end; k++, pair++)
        LINE_EXPLAIN_ITEM(pair, is_photon_cluster(a, j, explanation) && is_photon_cluster(a, k, explanation) &&
                                    is_decay(a, j, k, explanation));
  LINE_REQUIRE_ANY("pair of clusters that meets all requirements", found, ==, 1);
  return 1;
}

/* ---------------------------------------------------------------------------------------------- calo_digits */

#undef SL_ARGS
#define SL_ARGS calo_digits_args
#define CALO_DIGITS(M)                                                \
  LINE_OVER(M, events)                                                \
  M(IN, cells, calo_cells, "", "ADC values of the calorimeter cells") \
  M(I32, min_adc, 100, -32767, 32767, "ADC", "minimum of the highest ADC value")
SL_ARGUMENTS(calo_digits, CALO_DIGITS);

/* ADC values that a GPU loads with one instruction. */
enum { ADCS = 8 };
struct adcs {
  int16_t of[ADCS];
} __attribute__((aligned(16)));
SL_STATIC_ASSERT((uint32_t)CALO_CELLS % ADCS == 0, "the values of an event are aligned, and read whole");

LINE(calo_digits, "events with a high ADC value in a calorimeter cell", events) {
  const struct adcs *all = (const struct adcs *)(const void *)(a->cells.adc + (size_t)event * CALO_CELLS);
  int32_t highest = CALO_NO_ADC;
  for (uint32_t k = sl_warp_lane(); k < (uint32_t)CALO_CELLS / ADCS; k += sl_warp_lanes()) {
    const struct adcs some = all[k];
    SL_UNROLL for (uint32_t c = 0; c < ADCS; c++) highest = some.of[c] > highest ? some.of[c] : highest;
  }
  LINE_REQUIRE_ANY("highest ADC value", highest, >=, a->min_adc);
  return 1;
}

#define LINES(L) \
  L(passthrough) L(odin) L(velo_micro_bias) L(displaced_velo_tracks) L(displaced_leptons) L(two_photons) L(calo_digits)
LINES_OVER(events, LINES);
