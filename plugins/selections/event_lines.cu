/* event_lines.cu: lines that judge events as a whole (README.md, "Lines of events"). */
#include "calo/event_model.h"
#include "pv/event_model.h"
#include "selections/line.h"
#include "velo/event_model.h"

/* Whether the threads of a warp have found so many together. */
static SL_DEVICE uint32_t are_at_least(uint32_t of_thread, uint32_t wanted) {
  const uint32_t before = sl_warp_exclusive_scan(of_thread);
  return sl_warp_any(before + of_thread >= wanted);
}

/* ---------------------------------------------------------------------------------------------- passthrough */

#define SL_ARGS        passthrough_args
#define PASSTHROUGH(M) LINE_OVER(M, events)
SL_ARGUMENTS(passthrough, PASSTHROUGH);

LINE(passthrough, "all events that it looks at", events) { return 1; }

/* ----------------------------------------------------------------------------------------------------- odin */

#undef SL_ARGS
#define SL_ARGS odin_args
#define ODIN(M)                                                                                               \
  LINE_OVER(M, events)                                                                                        \
  M(IN, reasons, odin_events, "event_type crossing_type orbit tae_index", "why events were taken")            \
  M(U32, event_types, 0, 0, 0xFFFF, "",                                                                       \
    "at least one of these bits is set (1: VELO open, 4: no bias, 8: luminosity, ...); 0: any event")         \
  M(U32, crossing_types, 15, 0, 15, "", "bit t: crossing type t (1: no beam, 2: beam 1, 4: beam 2, 8: both)") \
  M(U32, orbit_period, 1, 1, 0xFFFFFFFF, "", "of so many orbits one passes")                                  \
  M(U32, orbit_phase, 0, 0, 0xFFFFFFFF, "", "that whose number is this, modulo orbit_period")                 \
  M(BOOL, in_window, 0, "only events of a window of consecutive crossings")
SL_ARGUMENTS(odin, ODIN);

LINE(odin, "events by what ODIN says of them", events) {
  return (a->event_types == 0 || (a->reasons.event_type[event] & a->event_types) != 0) &&
         (a->crossing_types >> a->reasons.crossing_type[event] & 1u) != 0 &&
         a->reasons.orbit[event] % a->orbit_period == a->orbit_phase % a->orbit_period &&
         (!a->in_window || a->reasons.tae_index[event] > 0);
}

/* ------------------------------------------------------------------------------------------ velo_micro_bias */

#undef SL_ARGS
#define SL_ARGS velo_micro_bias_args
#define VELO_MICRO_BIAS(M)                                  \
  LINE_OVER(M, events)                                      \
  M(IN, tracks, velo_tracks, "offsets", "that are counted") \
  M(U32, min_tracks, 1, 0, 1000000, "", "VELO tracks")
SL_ARGUMENTS(velo_micro_bias, VELO_MICRO_BIAS);

LINE(velo_micro_bias, "events with something in the VELO", events) {
  return a->tracks.offsets[event + 1] - a->tracks.offsets[event] >= a->min_tracks;
}

/* ------------------------------------------------------------------------------------ displaced_velo_tracks */

#undef SL_ARGS
#define SL_ARGS displaced_velo_tracks_args
#define DISPLACED_VELO_TRACKS(M)                                                                           \
  LINE_OVER(M, events)                                                                                     \
  M(IN, beamline_states, track_states, "offsets x y z tx ty", "of VELO tracks")                            \
  M(IN, geometry, velo_geometry, "beam", "where the beam line is")                                         \
  M(F32, min_distance, 18.0, 0.0, 1e9, "mm", "across the z axis, of a displaced track from the beam line") \
  M(U32, min_tracks, 3, 0, 1000000, "", "displaced ones")                                                  \
  M(U32, min_pairs, 0, 0, 1000000, "", "of displaced ones that come near each other")                      \
  M(F32, max_doca, 0.5, 0.0, 1e9, "mm", "how near")
SL_ARGUMENTS(displaced_velo_tracks, DISPLACED_VELO_TRACKS);

static SL_DEVICE uint32_t is_displaced(const struct displaced_velo_tracks_args *a, uint32_t i) {
  const float dx = a->beamline_states.x[i] - a->geometry.beam[0], dy = a->beamline_states.y[i] - a->geometry.beam[1];
  return dx * dx + dy * dy > a->min_distance * a->min_distance ? 1u : 0u;
}

/* Lines that touch come from one track, found twice. */
static SL_DEVICE uint32_t are_near(const struct displaced_velo_tracks_args *a, uint32_t i, uint32_t j) {
  const float tx = a->beamline_states.tx[j], ty = a->beamline_states.ty[j],
              dz = a->beamline_states.z[i] - a->beamline_states.z[j];
  const float ux = a->beamline_states.tx[i] - tx, uy = a->beamline_states.ty[i] - ty, w = ux * ty - uy * tx;
  const float ex = a->beamline_states.x[i] - (a->beamline_states.x[j] + tx * dz),
              ey = a->beamline_states.y[i] - (a->beamline_states.y[j] + ty * dz);
  const float doca = sl_abs_f32(ex * uy - ey * ux) / sqrtf(ux * ux + uy * uy + w * w);
  return doca > 0.0f && doca < a->max_doca ? 1u : 0u;
}

LINE(displaced_velo_tracks, "events with VELO tracks, or pairs of them, far from the beam line", events) {
  const uint32_t begin = a->beamline_states.offsets[event], end = a->beamline_states.offsets[event + 1];
  uint32_t tracks = 0, pairs = 0;
  for (uint32_t k = begin + sl_warp_lane(); k < end; k += sl_warp_lanes()) tracks += is_displaced(a, k);
  if (!are_at_least(tracks, a->min_tracks)) return 0;
  if (a->min_pairs == 0) return 1;
  for (uint32_t j = begin; j < end; j++)
    if (is_displaced(a, j))
      for (uint32_t k = j + 1 + sl_warp_lane(); k < end; k += sl_warp_lanes())
        pairs += is_displaced(a, k) && are_near(a, j, k);
  return are_at_least(pairs, a->min_pairs);
}

/* ---------------------------------------------------------------------------------------- displaced_leptons */

#undef SL_ARGS
#define SL_ARGS displaced_leptons_args
#define DISPLACED_LEPTONS(M)                                                                       \
  LINE_OVER(M, events)                                                                             \
  M(IN, particles, particles, "offsets ip_chi2 vertex_z pt pt_corrected leptons", "to be counted") \
  M(U32, min_leptons, 2, 0, 1000000, "", "muons and electrons")                                    \
  M(F32, min_ip_chi2, 7.4, 0.0, 1e9, "", "chi2 of the impact parameter")                           \
  M(F32, min_pt, 1000.0, 0.0, 1e9, "MeV", "of electrons that with the energy of bremsstrahlung")   \
  M(F32, min_vertex_z, -341.0, -1e8, 1e9, "mm", "of the primary vertex")
SL_ARGUMENTS(displaced_leptons, DISPLACED_LEPTONS);

static SL_DEVICE uint32_t is_displaced_lepton(const struct displaced_leptons_args *a, uint32_t i) {
  const uint32_t leptons = a->particles.leptons[i];
  return a->particles.ip_chi2[i] > a->min_ip_chi2 && a->particles.vertex_z[i] > a->min_vertex_z &&
                 (((leptons & PARTICLE_IS_ELECTRON) && a->particles.pt_corrected[i] > a->min_pt) ||
                  ((leptons & PARTICLE_IS_MUON) && a->particles.pt[i] > a->min_pt))
             ? 1u
             : 0u;
}

LINE(displaced_leptons, "events with several leptons away from the primary vertices", events) {
  uint32_t leptons = 0;
  for (uint32_t k = a->particles.offsets[event] + sl_warp_lane(); k < a->particles.offsets[event + 1];
       k += sl_warp_lanes())
    leptons += is_displaced_lepton(a, k);
  return are_at_least(leptons, a->min_leptons);
}

/* --------------------------------------------------------------------------------------------- two_photons */

#undef SL_ARGS
#define SL_ARGS two_photons_args
#define TWO_PHOTONS(M)                                                                                       \
  LINE_OVER(M, events)                                                                                       \
  M(IN, clusters, calo_clusters, "offsets energy et x y highest_share", "photons that come from the origin") \
  M(IN, vertices, pv_vertices, "offsets", "that are counted")                                                \
  M(F32, min_mass, 3000.0, 0.0, 1e9, "MeV", "of the pair")                                                   \
  M(F32, max_mass, 8000.0, 0.0, 1e9, "MeV", "likewise")                                                      \
  M(F32, min_pt, 1000.0, 0.0, 1e9, "MeV", "of the pair, across the z axis")                                  \
  M(F32, min_pt_by_eta, 0.0, 0.0, 1e9, "MeV", "pt is above this times what eta is below max_eta")            \
  M(F32, max_eta, 10.0, -20.0, 20.0, "", "pseudorapidity of the pair")                                       \
  M(F32, min_et, 2500.0, 0.0, 1e9, "MeV", "of each cluster: energy across the z axis")                       \
  M(F32, min_highest_share, 0.6, 0.0, 1.0, "", "of each cluster")                                            \
  M(U32, max_vertices, 0xFFFFFFFF, 0, 0xFFFFFFFF, "", "primary vertices of the event")                       \
  M(F32, z, 12650.0, 1.0, 1e6, "mm", "where clusters are")
SL_ARGUMENTS(two_photons, TWO_PHOTONS);

static SL_DEVICE uint32_t is_photon(const struct two_photons_args *a, uint32_t i) {
  return a->clusters.et[i] > a->min_et && a->clusters.highest_share[i] > a->min_highest_share ? 1u : 0u;
}

/* The mass by the angle between the photons, 2 E1 E2 (1 - cos), that by its sine, in differences of positions: what is
 * left of (E1 + E2)^2 less the square of the momentum has no digits where the mass is small. */
static SL_DEVICE uint32_t is_decay(const struct two_photons_args *a, uint32_t i, uint32_t j) {
  const float x1 = a->clusters.x[i], y1 = a->clusters.y[i], e1 = a->clusters.energy[i], z = a->z;
  const float x2 = a->clusters.x[j], y2 = a->clusters.y[j], e2 = a->clusters.energy[j];
  const float dx = x1 - x2, dy = y1 - y2, across = x1 * dy - y1 * dx;
  const float r1 = sqrtf(x1 * x1 + y1 * y1 + z * z), r2 = sqrtf(x2 * x2 + y2 * y2 + z * z), r = r1 * r2;
  const float sine2 = (z * z * (dx * dx + dy * dy) + across * across) / (r * r);
  const float cosine = (x1 * x2 + y1 * y2 + z * z) / r;
  const float mass = sqrtf(2.0f * e1 * e2 * (sine2 / (1.0f + cosine)));
  if (!(mass > a->min_mass && mass < a->max_mass)) return 0;
  const float by_r1 = e1 / r1, by_r2 = e2 / r2, px = by_r1 * x1 + by_r2 * x2, py = by_r1 * y1 + by_r2 * y2;
  const float pt2 = px * px + py * py, pt = sqrtf(pt2), pz = (by_r1 + by_r2) * z;
  if (!(pt > a->min_pt)) return 0;
  const float eta = sl_logf((sqrtf(pt2 + pz * pz) + pz) / pt);
  return eta < a->max_eta && pt > a->min_pt_by_eta * (a->max_eta - eta) ? 1u : 0u;
}

LINE(two_photons, "events with two clusters that are photons of a decay", events) {
  const uint32_t begin = a->clusters.offsets[event], end = a->clusters.offsets[event + 1];
  uint32_t found = 0;
  if (a->vertices.offsets[event + 1] - a->vertices.offsets[event] > a->max_vertices) return 0;
  for (uint32_t j = begin; j < end; j++)
    if (is_photon(a, j))
      for (uint32_t k = j + 1 + sl_warp_lane(); k < end && !found; k += sl_warp_lanes())
        found = is_photon(a, k) && is_decay(a, j, k) ? 1u : 0u;
  return sl_warp_any(found);
}

/* ---------------------------------------------------------------------------------------------- calo_digits */

#undef SL_ARGS
#define SL_ARGS calo_digits_args
#define CALO_DIGITS(M)                           \
  LINE_OVER(M, events)                           \
  M(IN, cells, calo_cells, "", "what they read") \
  M(I32, min_adc, 100, -32767, 32767, "ADC", "of the cell that reads most")
SL_ARGUMENTS(calo_digits, CALO_DIGITS);

LINE(calo_digits, "events with a cell of the calorimeter that reads much", events) {
  const int16_t *adc = a->cells.adc + (size_t)event * CALO_CELLS;
  int32_t most = CALO_NO_ADC;
  for (uint32_t k = sl_warp_lane(); k < CALO_CELLS; k += sl_warp_lanes()) most = adc[k] > most ? adc[k] : most;
  return sl_warp_any(most >= a->min_adc);
}

#define LINES(L) \
  L(passthrough) L(odin) L(velo_micro_bias) L(displaced_velo_tracks) L(displaced_leptons) L(two_photons) L(calo_digits)
LINES_OVER(events, LINES);
