/* distributions.h: list of the histograms of truth.distributions, and functions to fill them, one file per detector. */
#ifndef TRUTH_DISTRIBUTIONS_H
#define TRUTH_DISTRIBUTIONS_H

#include "association/mc_particles.h"
#include "calo/event_model.h"
#include "calo/raw_banks.h"
#include "muon/event_model.h"
#include "muon/raw_banks.h"
#include "scifi/event_model.h"
#include "scifi/raw_banks.h"
#include "ut/event_model.h"
#include "ut/raw_banks.h"

#include <stdint.h>

/* H(name, what an entry is, bins, low, high, unit). */
#define VELO_HISTOGRAMS(H)                                                            \
  H(clusters, "VELO clusters per event", 30, 0, 6000, "")                             \
  H(pixels, "VELO pixels per event", 30, 0, 12000, "")                                \
  H(superpixels, "VELO super-pixels per event", 30, 0, 9000, "")                      \
  H(pixels_per_superpixel, "pixels of a super-pixel", 8, 0.5, 8.5, "")                \
  H(modules, "module of a VELO cluster", 52, -0.5, 51.5, "")                          \
  H(radii, "distance of a VELO cluster from the beam", 60, 0, 60, "mm")               \
  H(tracks, "VELO tracks per event", 30, 0, 900, "")                                  \
  H(track_hits, "hits of a VELO track", 24, 2.5, 26.5, "")                            \
  H(vertices, "collisions per event with at least 4 true tracks", 16, -0.5, 15.5, "") \
  H(particles, "VELO particles per event, with hits in 3 modules", 30, 0, 900, "")    \
  H(particle_hits, "hits of a VELO particle", 30, 0.5, 30.5, "")                      \
  H(particle_pt, "transverse momentum of a VELO particle", 60, 0, 3000, "MeV")        \
  H(particle_p, "log10 of the momentum of a VELO particle in MeV", 60, 1, 6, "")      \
  H(particle_eta, "pseudorapidity of a VELO particle", 60, -6, 6, "")                 \
  H(electron_eta, "pseudorapidity of a VELO electron", 60, -6, 6, "")                 \
  H(long_pt, "pT of a long particle, 2 < eta < 5, no electron", 60, 0, 3000, "MeV")   \
  H(origin_z, "z of the origin of a VELO particle", 60, -300, 300, "mm")              \
  H(flight, "distance of a VELO particle's origin from the beam, > 0.5 mm", 60, 0, 60, "mm")

#define UT_HISTOGRAMS(H)                                                  \
  H(ut_clusters, "UT clusters per event", 30, 0, 3000, "")                \
  H(ut_bytes, "bytes of UT banks per event", 30, 0, 15000, "")            \
  H(ut_layer, "layer of a UT cluster", 4, -0.5, 3.5, "")                  \
  H(ut_x, "x of a UT cluster at y = 0", 60, -900, 900, "mm")              \
  H(ut_strips, "strips of a UT cluster", 8, 0.5, 8.5, "")                 \
  H(ut_adc, "ADC counts of a UT cluster", 62, 0.5, 124.5, "")             \
  H(ut_parents, "true particles of a UT cluster", 5, -0.5, 4.5, "")       \
  H(ut_particles, "particles per event with UT clusters", 30, 0, 900, "") \
  H(ut_particle_hits, "UT clusters of a particle", 20, 0.5, 20.5, "")

#define MUON_HISTOGRAMS(H)                                                        \
  H(muon_tiles, "muon tiles per event", 30, 0, 900, "")                           \
  H(muon_hits, "muon pads and crossings of strips per event", 30, 0, 1200, "")    \
  H(muon_bytes, "bytes of muon banks per event", 30, 0, 3000, "")                 \
  H(muon_area, "4 (station - 2) + region - 1 of a muon tile", 16, -0.5, 15.5, "") \
  H(muon_time, "time of a muon tile, in 25 ns / 16", 16, -0.5, 15.5, "")

#define SCIFI_HISTOGRAMS(H)                                                              \
  H(scifi_clusters, "SciFi clusters per event", 30, 0, 9000, "")                         \
  H(scifi_bytes, "bytes of SciFi banks per event", 30, 0, 24000, "")                     \
  H(scifi_layer, "layer of a SciFi cluster", 12, -0.5, 11.5, "")                         \
  H(scifi_x, "x of a SciFi cluster at y = 0", 64, -3200, 3200, "mm")                     \
  H(scifi_size, "channels of a SciFi cluster; 4: up to 4, 0: a piece", 9, -0.5, 8.5, "") \
  H(scifi_fraction, "fraction of a SciFi cluster of up to 4 channels", 2, -0.5, 1.5, "") \
  H(scifi_parents, "true particles of a SciFi cluster", 5, -0.5, 4.5, "")                \
  H(scifi_particles, "particles per event with SciFi clusters", 30, 0, 1500, "")         \
  H(scifi_particle_hits, "SciFi clusters of a particle", 30, 0.5, 30.5, "")

/* Cells with more than 5 counts, and clusters, of an event in an area of the ECAL. */
#define CALO_AREA_HISTOGRAMS(H, area, cells_max, clusters_max)                                     \
  H(ecal_cells_##area, "ECAL cells over 5 counts per event, " #area " area", 30, 0, cells_max, "") \
  H(ecal_clusters_##area, "ECAL clusters per event, " #area " area", 30, 0, clusters_max, "")
#define CALO_HISTOGRAMS(H)                                                       \
  CALO_AREA_HISTOGRAMS(H, outer, 900, 120)                                       \
  CALO_AREA_HISTOGRAMS(H, middle, 900, 90)                                       \
  CALO_AREA_HISTOGRAMS(H, inner, 1500, 90)                                       \
  H(ecal_energy, "energy in the ECAL per event", 40, 0, 4, "TeV")                \
  H(ecal_long, "ECAL values with 12 bits per event", 30, 0, 3000, "")            \
  H(ecal_adc, "value of an ECAL cell", 64, -8.5, 55.5, "counts")                 \
  H(ecal_cluster_et, "transverse energy of an ECAL cluster", 60, 0, 3000, "MeV") \
  H(ecal_cluster_seed, "energy fraction of the highest cell of an ECAL cluster", 50, 0, 1, "")

#define HISTOGRAMS(H) VELO_HISTOGRAMS(H) UT_HISTOGRAMS(H) SCIFI_HISTOGRAMS(H) MUON_HISTOGRAMS(H) CALO_HISTOGRAMS(H)

enum { BINS_MAX = 64 };

#define ENUM_(name, what, bins, low, high, unit) H_##name,
enum { HISTOGRAMS(ENUM_) HISTOGRAM_COUNT };

struct histogram {
  uint64_t entries, below, above, counts[BINS_MAX];
  double sum, square_sum;
};

struct distributions {
  struct mc_event mc; /* of the current event */
  uint32_t *ids;      /* true ids of a detector's clusters, sorted, one entry per particle */
  uint64_t id_capacity;
  int16_t calo_adc[CALO_CELLS]; /* of its cells */
  uint64_t events, error_events, malformed_events;
  struct histogram histograms[HISTOGRAM_COUNT];
};

/* Fills histogram H_... */
void distributions_fill(struct distributions *d, uint32_t which, double value);

/* True hits of a detector: offset of the hit list in a struct mc_particle, and the histograms of the number of
 * particles with hits and of their numbers of hits. */
struct distributions_lists {
  size_t offset;
  uint32_t particles, hits;
};

/* Fills these histograms, and d->ids with the ids in the lists: returns their number, or SL_ENOMEM. */
int64_t distributions_gather_ids(struct distributions *d, const struct distributions_lists *lists);

/* Number of particles with this id, among `count` gathered ids. */
uint32_t distributions_parents(const struct distributions *d, uint64_t count, uint32_t id);

/* ut.c: fills the histograms of the event's UT banks and their truth. Returns the number of malformed banks, or
 * SL_ENOMEM. Fills nothing if no banks are connected or the event has none. */
int distributions_fill_ut(struct distributions *d, const struct ut_banks_view *banks,
                          const struct ut_geometry_view *geometry, uint32_t event);

/* muon.c: the histograms of the muon banks; other rules as in distributions_fill_ut. */
int distributions_fill_muon(struct distributions *d, const struct muon_banks_view *banks,
                            const struct muon_geometry_view *geometry, uint32_t event);
/* scifi.c: the histograms of the SciFi banks; other rules as in distributions_fill_ut. */
int distributions_fill_scifi(struct distributions *d, const struct scifi_banks_view *banks,
                             const struct scifi_geometry_view *geometry, uint32_t event);

/* calo.c: fills the histograms of the event's calorimeter banks. Returns the number of malformed banks. Fills
 * nothing if a bank is malformed, no banks are connected, or the event has none. */
int distributions_fill_calo(struct distributions *d, const struct calo_banks_view *banks,
                            const struct calo_geometry_view *geometry, uint32_t event);

#endif
