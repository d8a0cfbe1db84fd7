/* event_lines_test.c: lines that judge events as a whole. */
#include "calo/event_model.h"
#include "default_lines.h"
#include "line_cases.h"
#include "odin/event_model.h"
#include "pv/event_model.h"
#include "selections/event_model.h"
#include "velo/event_model.h"

#include <math.h>

static const struct line_port of_nothing[] = {{NULL, NULL}};
static const struct line_port of_odin[] = {{"reasons", &odin_events_collection}, {NULL, NULL}};
static const struct line_port of_velo_tracks[] = {{"tracks", &velo_tracks_collection}, {NULL, NULL}};
static const struct line_port of_velo_states[] = {
    {"states", &velo_beamline_states_collection}, {"geometry", &velo_geometry_collection}, {NULL, NULL}};
static const struct line_port of_particles[] = {{"particles", &particles_collection}, {NULL, NULL}};
static const struct line_port of_clusters[] = {
    {"clusters", &calo_clusters_collection}, {"vertices", &pv_vertices_collection}, {NULL, NULL}};

static const struct line_table events[] = {
    {"Hlt1Passthrough", "", of_nothing, {{NULL, NULL, NULL, NULL}}},
    {"Hlt1GECPassthrough", "", of_nothing, {{NULL, NULL, NULL, NULL}}},
    {"Hlt1TAEPassthrough", "reasons.tae_index=3", of_odin, {{"reasons.tae_index", "1", "0", "in_window 0"}}},
    {"Hlt1ODINLumi", "reasons.event_type=8", of_odin, {{"reasons.event_type", "15", "7", "event_types 12"}}},
    {"Hlt1ODIN1kHzLumi",
     "reasons.event_type=8 reasons.orbit=31",
     of_odin,
     {{"reasons.event_type", "10", "6", "event_types 0"},
      {"reasons.orbit", "1", "30", "orbit_period 1"},
      {"reasons.orbit", "4294967281", "32", "orbit_period 1"},
      {"reasons.orbit", "61", "60", "orbit_period 1"}}},
    {"Hlt1ODINNoBias", "reasons.event_type=6", of_odin, {{"reasons.event_type", "4", "10", "event_types 6"}}},
    {"Hlt1VeloMicroBias", "tracks.offsets=5", of_velo_tracks, {{"tracks.offsets", "1", "0", "min_tracks 0"}}},
    {"Hlt1NVELODisplacedTrack",
     "states.offsets=4 states.x=20,1,20,-20 geometry.beam=1,2",
     of_velo_states,
     {{"states.offsets", "4", "3", "min_tracks 2"},
      {"states.x", "19,19,-17,0", "19,1,-16.9,1", "min_tracks 2"},
      {"states.x", "19.1,-17.1,0,19", "18.8", "min_distance 17.9"}}},
    /* Lines that cross the z axis at right angles, 0.2 mm from each other, but for one near the beam. */
    {"Hlt1NMaterialVertexSeeds",
     "states.offsets=4 states.x=20,1,20.2,20.4 states.tx=0,0.1,0 states.ty=0.1,0,0.2,0.3 geometry.beam=1,2",
     of_velo_states,
     {{"states.x", "20,1,20.2,20.4", "20,1,20.2,21", "min_pairs 1"},
      {"states.x", "20,1,20.49,20.98", "20,1,20.51,21.02", "max_doca 0.52"},
      {"states.x", "20,1,20.1,20.2", "20,1,20,20", NULL},
      {"states.ty", "0.2,0,0.3,0.1", "0.1,0,0.1,0.1", NULL},
      {"states.x", "19.5,1,19.7,19.9", "18.5,1,18.7,18.9", "min_distance 17"}}},
    {"Hlt1DisplacedLeptons",
     "particles.offsets=3 particles.ip_chi2=8 particles.pt=1001,900,0 particles.pt_corrected=0,1001,2000 "
     "particles.leptons=1,2,0",
     of_particles,
     {{"particles.offsets", "2", "1", "min_leptons 1"},
      {"particles.leptons", "1,0,2", "1,0,0", "min_leptons 1"},
      {"particles.leptons", "3,3,0", "2,1,0", NULL},
      {"particles.ip_chi2", "7.41", "7.4", "min_ip_chi2 7.3"},
      {"particles.ip_chi2", "7.42", "-1", NULL},
      {"particles.vertex_z", "-340.9", "-341", "min_vertex_z -341.1"},
      {"particles.vertex_z", "-340.8", "-1e9", NULL}}},
    {"Hlt1DisplacedLeptons",
     "particles.offsets=2 particles.ip_chi2=8 particles.pt=1001 particles.leptons=1",
     of_particles,
     {{"particles.pt", "1000.1", "1000", "min_pt 999"}}},
    {"Hlt1DisplacedLeptons",
     "particles.offsets=2 particles.ip_chi2=8 particles.pt_corrected=1001 particles.leptons=2",
     of_particles,
     {{"particles.pt_corrected", "1000.1", "1000", "min_pt 999"}}},
    /* Of two clusters at (x, y) and (-x, y) the mass is 2 E x / r, and pt 2 E y / r, with r^2 = x^2 + y^2 + z^2. */
    {"Hlt1Bs2GammaGamma",
     "clusters.offsets=2 clusters.x=1000,-1000 clusters.y=200 clusters.energy=32000 clusters.et=2600 "
     "clusters.highest_share=0.7 vertices.offsets=9",
     of_clusters,
     {{"clusters.offsets", "3", "1", NULL},
      {"clusters.x", "598,-598", "590,-590", "min_mass 2900"},
      {"clusters.x", "1590,-1590", "1602,-1602", "max_mass 8100"},
      {"clusters.et", "2501", "2501,2500", "min_et 2400"},
      {"clusters.highest_share", "0.61", "0.61,0.6", "min_highest_share 0.5"},
      {"clusters.y", "202", "198", "min_pt 990"}}},
    {"Hlt1Bs2GammaGamma",
     "clusters.offsets=2 clusters.x=5.27,-5.27 clusters.y=1.3 clusters.energy=6000000 clusters.et=2600 "
     "clusters.highest_share=0.7",
     of_clusters,
     {{"clusters.y", "1.2", "1.06", "max_eta 10.2"}}},
    {"Hlt1Pi02GammaGamma",
     "clusters.offsets=2 clusters.x=3000,2900 clusters.energy=20000 clusters.et=1000 clusters.highest_share=0.8 "
     "vertices.offsets=1",
     of_clusters,
     {{"clusters.offsets", "3", "1", NULL},
      {"vertices.offsets", "0", "2", "max_vertices 2"},
      {"clusters.energy", "6900", "6500", "min_mass 40"},
      {"clusters.energy", "39500", "41000", "max_mass 310"},
      {"clusters.et", "401", "401,400", "min_et 399"},
      {"clusters.highest_share", "0.71", "0.71,0.7", "min_highest_share 0.6"},
      {"clusters.x", "500,390", "150,40", "min_pt_by_eta 50"}}},
};

static void every_criterion_of_a_line_of_events_decides(void **state) {
  (void)state;
  for (uint32_t k = 0; k < sizeof events / sizeof events[0]; k++) check_line(&events[k]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_criterion_of_a_line_of_events_decides),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
