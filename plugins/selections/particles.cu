/* selections.particles: the quantities of long tracks that selection lines use: primary vertex, impact parameter,
 * momentum, lepton identification, scores of networks (README.md, "Particles").
 *
 * The primary vertex of a track is the vertex with the least chi2 of the impact parameter; ties: the lowest index.
 * Parallelism: one block per event, one thread per track, which loops over the vertices of the event.
 * Cost: reads 64 bytes per track, 36 per vertex, 1 per lepton flag, 12 of scores and 8 for bremsstrahlung;
 * writes 74 bytes per track.
 */
#include "calo/event_model.h"
#include "forward/event_model.h"
#include "muon/event_model.h"
#include "pv/event_model.h"
#include "selections/event_model.h"

#include <sluice/kernel.h>

#define SL_ARGS particles_args
#define PARTICLES(M)                                                                                                 \
  M(IN, tracks, long_tracks, "offsets velo_track ghost", "long tracks")                                              \
  M(IN, states, long_states, "", "states of the long tracks at the beam line")                                       \
  M(IN, vertices, pv_vertices, "offsets x y z c_xx c_xy c_yy c_xz c_yz c_zz", "primary vertices")                    \
  M(OPTIONAL_IN, muons, muon_flags, "is_muon", "muon identification of the long tracks; if not connected: no muons") \
  M(OPTIONAL_IN, muon_scores, muon_scores, "chi2_correlated score",                                                  \
    "scores of the muons; if not connected: `nn` 1, and `chi2corr` -6 for muons")                                    \
  M(OPTIONAL_IN, electrons, calo_electrons, "is_electron score",                                                     \
    "electron identification of the long tracks; if not connected: no electrons, `nn_e` 1")                          \
  M(OPTIONAL_IN, bremsstrahlung, calo_bremsstrahlung, "offsets energy et",                                           \
    "bremsstrahlung energy of all VELO tracks; if not connected: 0")                                                 \
  M(OUT, particles, particles, "one particle per long track", SL_SHARES_OFFSETS(tracks))                             \
  M(NODE_HASH, node)
SL_ARGUMENTS(particles, PARTICLES);

static const float least_qop = 1e-20f;  /* 1/MeV: limits the momentum */
static const float least_slope = 1e-6f; /* limits the pseudorapidity */
static const float none = -1.0f;        /* impact parameter without a vertex */

/* A vertex, with the squared impact parameter of a track and its chi2. */
struct association {
  uint32_t vertex;
  float ip2, chi2;
};

/* Impact parameter of a track with respect to a vertex; its chi2 is computed in the plane at z of the vertex. */
static SL_DEVICE struct association impact(const struct particles_args *a, uint32_t i, uint32_t v) {
  const float tx = a->states.tx[i], ty = a->states.ty[i], dz = a->vertices.z[v] - a->states.z[i];
  const float dx = a->states.x[i] + tx * dz - a->vertices.x[v], dy = a->states.y[i] + ty * dz - a->vertices.y[v];
  const float c_xz = a->vertices.c_xz[v], c_yz = a->vertices.c_yz[v], c_zz = a->vertices.c_zz[v];
  const float track_xx = a->states.c00[i] + dz * dz * a->states.c22[i] + 2.0f * dz * a->states.c20[i];
  const float track_yy = a->states.c11[i] + dz * dz * a->states.c33[i] + 2.0f * dz * a->states.c31[i];
  const float xx = a->vertices.c_xx[v] + track_xx + tx * tx * c_zz - 2.0f * tx * c_xz;
  const float yy = a->vertices.c_yy[v] + track_yy + ty * ty * c_zz - 2.0f * ty * c_yz;
  const float xy = a->vertices.c_xy[v] + tx * ty * c_zz - ty * c_xz - tx * c_yz;
  const float chi2 = (dx * dx * yy - 2.0f * (dx * dy * xy) + dy * dy * xx) / (xx * yy - xy * xy);
  struct association found;
  found.vertex = v;
  found.ip2 = (dx * dx + dy * dy) / (1.0f + tx * tx + ty * ty);
  found.chi2 = sl_abs_f32(chi2);
  return found;
}

/* The vertex with the least chi2; ties: the lowest index. Vertices with a value that is not finite are skipped. */
static SL_DEVICE struct association associate(const struct particles_args *a, uint32_t event, uint32_t i) {
  const uint32_t begin = a->vertices.offsets[event], end = a->vertices.offsets[event + 1];
  struct association best = {PARTICLE_NO_VERTEX, 0.0f, 0.0f};
  for (uint32_t v = begin; v < end; v++) {
    const struct association found = impact(a, i, v);
    if (!sl_is_finite(found.chi2) || !sl_is_finite(found.ip2)) continue;
    if (best.vertex != PARTICLE_NO_VERTEX && !(found.chi2 < best.chi2)) continue;
    best = found;
    best.vertex = v - begin;
  }
  return best;
}

/* `begin`: index of the first vertex of the event. */
static SL_DEVICE void write_association(const struct particles_args *a, uint32_t i, const struct association *best,
                                        uint32_t begin) {
  const uint32_t is_one = best->vertex != PARTICLE_NO_VERTEX;
  a->particles.vertex[i] = best->vertex;
  a->particles.vertex_z[i] = is_one ? a->vertices.z[begin + best->vertex] : SELECTIONS_NO_Z;
  a->particles.ip[i] = is_one ? sqrtf(best->ip2) : none;
  a->particles.ip_chi2[i] = is_one ? best->chi2 : none;
}

/* selections.fit writes zeros for a track without a fit; pt needs slopes with finite squares. */
static SL_DEVICE uint32_t has_state(const struct particles_args *a, uint32_t i) {
  const float tx = a->states.tx[i], ty = a->states.ty[i];
  return a->states.c00[i] > 0.0f && sl_is_finite(tx * tx + ty * ty) ? 1u : 0u;
}

/* `velo_track`: index in the slice. */
static SL_DEVICE void write_momentum(const struct particles_args *a, uint32_t i, uint32_t is_fitted,
                                     uint32_t velo_track) {
  const float tx = a->states.tx[i], ty = a->states.ty[i], qop = a->states.qop[i], slope2 = tx * tx + ty * ty;
  const float slope = sl_max_f32(sqrtf(slope2), least_slope);
  const float p = is_fitted ? 1.0f / sl_max_f32(sl_abs_f32(qop), least_qop) : 0.0f;
  const float pt = is_fitted ? p * sqrtf(slope2 / (1.0f + slope2)) : 0.0f;
  const uint32_t has_energy = is_fitted && a->bremsstrahlung.energy;
  a->particles.p[i] = p;
  a->particles.pt[i] = pt;
  a->particles.eta[i] = is_fitted ? sl_logf((1.0f + sqrtf(1.0f + slope2)) / slope) : 0.0f;
  a->particles.p_corrected[i] = p + (has_energy ? a->bremsstrahlung.energy[velo_track] : 0.0f);
  a->particles.pt_corrected[i] = pt + (has_energy ? a->bremsstrahlung.et[velo_track] : 0.0f);
  a->particles.charge[i] = (int8_t)(qop > 0.0f ? 1 : -1);
}

static SL_DEVICE void write_particle(const struct particles_args *a, uint32_t event, uint32_t i) {
  const uint32_t velo_track = a->tracks.velo_track[i], ndof = a->states.ndof[i];
  const uint32_t is_fitted = has_state(a, i);
  const uint32_t is_muon = a->muons.is_muon && a->muons.is_muon[i];
  const uint32_t is_electron = a->electrons.is_electron && a->electrons.is_electron[i];
  struct association best = {PARTICLE_NO_VERTEX, 0.0f, 0.0f};
  if (is_fitted) best = associate(a, event, i);
  write_association(a, i, &best, a->vertices.offsets[event]);
  write_momentum(a, i, is_fitted, (a->bremsstrahlung.offsets ? a->bremsstrahlung.offsets[event] : 0) + velo_track);
  a->particles.velo_track[i] = velo_track;
  a->particles.z[i] = is_fitted ? a->states.z[i] : 0.0f;
  a->particles.tx[i] = is_fitted ? a->states.tx[i] : 0.0f;
  a->particles.ty[i] = is_fitted ? a->states.ty[i] : 0.0f;
  a->particles.chi2_ndof[i] = ndof > 0 ? a->states.chi2[i] / (float)ndof : 0.0f;
  a->particles.ghost[i] = a->tracks.ghost[i];
  a->particles.nn[i] = a->muon_scores.score ? a->muon_scores.score[i] : 1.0f;
  a->particles.nn_e[i] = a->electrons.score ? a->electrons.score[i] : 1.0f;
  const float muon_chi2 = a->muon_scores.score ? a->muon_scores.chi2_correlated[i] : MUON_LEAST_CHI2;
  a->particles.chi2corr[i] = is_muon ? muon_chi2 : MUON_NO_CHI2;
  a->particles.leptons[i] = (uint8_t)((is_muon ? PARTICLE_IS_MUON : 0) | (is_electron ? PARTICLE_IS_ELECTRON : 0));
}

SL_KERNEL(particles_write, struct particles_args) {
  if (sl_grid_thread() == 0) *a.particles.made_by = a.node;
  SL_FOR_EVENTS (event, a.events)
    for (uint32_t i = a.tracks.offsets[event] + threadIdx.x; i < a.tracks.offsets[event + 1]; i += blockDim.x)
      write_particle(&a, event, i);
}

static int run(const struct sl_launch *l, const struct particles_args *a) {
  return SL_LAUNCH(l, particles_write, SL_PER_EVENT, *a);
}

SL_ALGORITHM(particles, "computes primary vertex, impact parameter, momentum and lepton flags of long tracks", 64, run);
