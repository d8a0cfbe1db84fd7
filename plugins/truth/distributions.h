/* distributions.h: the histograms of truth.distributions: their list, and what detectors need to fill theirs. A
 * detector's list stands here, its filling in a file of its own.
 */
#ifndef TRUTH_DISTRIBUTIONS_H
#define TRUTH_DISTRIBUTIONS_H

#include "mc_particles.h"
#include "muon/event_model.h"
#include "muon/raw_banks.h"
#include "ut/event_model.h"
#include "ut/raw_banks.h"

#include <stdint.h>

/* H(name, what an entry is, bins, low, high, unit). */
#define VELO_HISTOGRAMS(H)                                                                      \
  H(clusters, "clusters of an event", 30, 0, 6000, "")                                          \
  H(pixels, "pixels of an event", 30, 0, 12000, "")                                             \
  H(superpixels, "super-pixels of an event", 30, 0, 9000, "")                                   \
  H(pixels_per_superpixel, "pixels of a super-pixel", 8, 0.5, 8.5, "")                          \
  H(modules, "module of a cluster", 52, -0.5, 51.5, "")                                         \
  H(radii, "distance of a cluster from the beam", 60, 0, 60, "mm")                              \
  H(tracks, "found tracks of an event", 30, 0, 900, "")                                         \
  H(track_hits, "hits of a found track", 24, 2.5, 26.5, "")                                     \
  H(vertices, "collisions of an event with 4 true tracks or more", 16, -0.5, 15.5, "")          \
  H(particles, "particles of an event with hits in 3 modules", 30, 0, 900, "")                  \
  H(particle_hits, "hits of such a particle", 30, 0.5, 30.5, "")                                \
  H(particle_pt, "transverse momentum of such a particle", 60, 0, 3000, "MeV")                  \
  H(particle_p, "log10 of the momentum of such a particle in MeV", 60, 1, 6, "")                \
  H(particle_eta, "pseudorapidity of such a particle", 60, -6, 6, "")                           \
  H(electron_eta, "pseudorapidity of such an electron", 60, -6, 6, "")                          \
  H(long_pt, "transverse momentum of a long one, 2 < eta < 5, no electron", 60, 0, 3000, "MeV") \
  H(origin_z, "z of the origin of such a particle", 60, -300, 300, "mm")                        \
  H(flight, "distance of its origin from the beam, if above 0.5 mm", 60, 0, 60, "mm")

#define UT_HISTOGRAMS(H)                                                    \
  H(ut_clusters, "UT clusters of an event", 30, 0, 3000, "")                \
  H(ut_bytes, "bytes of the UT's banks of an event", 30, 0, 15000, "")      \
  H(ut_layer, "layer of a UT cluster", 4, -0.5, 3.5, "")                    \
  H(ut_x, "x of a UT cluster at y = 0", 60, -900, 900, "mm")                \
  H(ut_strips, "strips of a UT cluster", 8, 0.5, 8.5, "")                   \
  H(ut_adc, "ADC counts of a UT cluster", 62, 0.5, 124.5, "")               \
  H(ut_parents, "true particles of a UT cluster", 5, -0.5, 4.5, "")         \
  H(ut_particles, "particles of an event with UT clusters", 30, 0, 900, "") \
  H(ut_particle_hits, "UT clusters of such a particle", 20, 0.5, 20.5, "")

#define MUON_HISTOGRAMS(H)                                                        \
  H(muon_tiles, "muon tiles of an event", 30, 0, 900, "")                         \
  H(muon_hits, "muon pads and crossings of strips of an event", 30, 0, 1200, "")  \
  H(muon_bytes, "bytes of the muon banks of an event", 30, 0, 3000, "")           \
  H(muon_area, "4 (station - 2) + region - 1 of a muon tile", 16, -0.5, 15.5, "") \
  H(muon_time, "time of a muon tile, in 25 ns / 16", 16, -0.5, 15.5, "")

#define HISTOGRAMS(H) VELO_HISTOGRAMS(H) UT_HISTOGRAMS(H) MUON_HISTOGRAMS(H)

enum { BINS_MAX = 64 };

#define ENUM_(name, what, bins, low, high, unit) H_##name,
enum { HISTOGRAMS(ENUM_) HISTOGRAM_COUNT };

struct histogram {
  uint64_t entries, below, above, counts[BINS_MAX];
  double sum, square_sum;
};

struct distributions {
  struct mc_event mc; /* of the event at hand */
  uint32_t *ids;      /* of its UT clusters in the truth, sorted, one for each particle */
  uint64_t id_capacity;
  uint64_t events, error_events, malformed_events;
  struct histogram histograms[HISTOGRAM_COUNT];
};

/* An entry into histogram H_... */
void distributions_fill(struct distributions *d, uint32_t which, double value);

/* distributions_ut.c: the clusters of the event's UT banks, by the truth that is at hand. Returns how many banks are
 * malformed, or SL_ENOMEM. Nothing is filled where none are connected, or the event has none. */
int distributions_fill_ut(struct distributions *d, const struct ut_banks_view *banks,
                          const struct ut_geometry_view *geometry, uint32_t event);

/* distributions_muon.c: the same of the muon banks. */
int distributions_fill_muon(struct distributions *d, const struct muon_banks_view *banks,
                            const struct muon_geometry_view *geometry, uint32_t event);

#endif
