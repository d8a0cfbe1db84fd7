/* velo_lines.cu: lines over single VELO tracks (README.md, "Lines over tracks and events"). */
#include "calo/event_model.h"
#include "selections/line.h"
#include "velo/event_model.h"

/* -------------------------------------------------------------------------------------------------- high_et */

#define SL_ARGS high_et_args
#define HIGH_ET(M)                                                                                                   \
  LINE_OVER(M, track_states)                                                                                         \
  M(IN, bremsstrahlung, calo_bremsstrahlung, "offsets et", "calorimeter energy in the direction of the VELO tracks") \
  M(F32, min_et, 15000.0, 0.0, 1e9, "MeV", "minimum transverse calorimeter energy in the direction of the track")
SL_ARGUMENTS(high_et, HIGH_ET);

LINE(high_et, "VELO tracks with a high calorimeter energy in their direction", track_states) {
  const uint32_t track = line_item_index(&a->events, a->candidates.offsets, a->bremsstrahlung.offsets, event, i);
  SL_REQUIRE_FIRST("the calorimeter was read", track != LINE_NO_ITEM);
  SL_REQUIRE("ET in the direction of the track", a->bremsstrahlung.et[track], >, a->min_et);
  return 1;
}

/* ------------------------------------------------------------------------------------------------- beam_gas */

#undef SL_ARGS
#define SL_ARGS beam_gas_args
#define BEAM_GAS(M)                                                                                                    \
  LINE_OVER(M, track_states)                                                                                           \
  M(IN, tracks, velo_tracks, "offsets hit_offsets", "VELO tracks of the candidate states")                             \
  M(IN, crossings, odin_events, "crossing_type", "crossing types of the events")                                       \
  M(U32, crossing_types, 2, 0, 15, "", "accepted crossing types, as bits (1: no beam, 2: beam 1, 4: beam 2, 8: both)") \
  M(U32, min_hits, 12, 0, 1000, "", "minimum number of hits of the track")                                             \
  M(F32, min_z, -550.0, -1e9, 1e9, "mm", "minimum z of the point of closest approach to the beam line")                \
  M(F32, max_z, -300.0, -1e9, 1e9, "mm", "maximum z of the point of closest approach to the beam line")
SL_ARGUMENTS(beam_gas, BEAM_GAS);

LINE(beam_gas, "VELO tracks from beam-gas collisions upstream", track_states) {
  const uint32_t track = line_item_index(&a->events, a->candidates.offsets, a->tracks.offsets, event, i);
  SL_REQUIRE_FIRST("the state belongs to a VELO track", track != LINE_NO_ITEM);
  SL_EXPLAIN_VALUE("crossing type", a->crossings.crossing_type[event]);
  SL_REQUIRE_THAT("crossing type is in crossing_types",
                  (a->crossing_types >> a->crossings.crossing_type[event] & 1u) != 0);
  SL_REQUIRE("z at the beam line", a->candidates.z[i], >, a->min_z);
  SL_REQUIRE("z at the beam line", a->candidates.z[i], <, a->max_z);
  SL_REQUIRE("VELO hits", a->tracks.hit_offsets[track + 1] - a->tracks.hit_offsets[track], >=, a->min_hits);
  return 1;
}

/* ------------------------------------------------------------------------------------------- large_clusters */

#undef SL_ARGS
#define SL_ARGS large_clusters_args
#define LARGE_CLUSTERS(M)                                                                                            \
  LINE_OVER(M, track_states)                                                                                         \
  M(IN, large_clusters, velo_large_clusters, "offsets hits", "numbers of large clusters on the VELO tracks")         \
  M(F32, min_eta, 5.0, -20.0, 20.0, "", "minimum pseudorapidity of the track; that of a backward track is negative") \
  M(U32, min_large_clusters, 5, 0, 26, "", "minimum number of large clusters on the track")
SL_ARGUMENTS(large_clusters, LARGE_CLUSTERS);

/* Pseudorapidity asinh(1 / t) with t = sqrt(tx^2 + ty^2), infinite for t = 0. */
LINE(large_clusters, "VELO tracks close to the beam with large clusters", track_states) {
  const uint32_t track = line_item_index(&a->events, a->candidates.offsets, a->large_clusters.offsets, event, i);
  const float tx = a->candidates.tx[i], ty = a->candidates.ty[i], t2 = tx * tx + ty * ty;
  const float eta = sl_logf((1.0f + sqrtf(1.0f + t2)) / sqrtf(t2));
  SL_REQUIRE_FIRST("the clusters were counted", track != LINE_NO_ITEM);
  SL_REQUIRE("eta of the track", a->candidates.backward[i] ? -eta : eta, >, a->min_eta);
  SL_REQUIRE("large clusters", a->large_clusters.hits[track], >=, a->min_large_clusters);
  return 1;
}

#define LINES(L) L(high_et) L(beam_gas) L(large_clusters)
LINES_OVER(track_states, LINES);
