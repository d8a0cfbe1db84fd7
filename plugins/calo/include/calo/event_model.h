/* event_model.h: the collections of the calorimeter. Lengths in mm, energies in MeV. README.md describes the detector
 * and the formats.
 */
#ifndef CALO_EVENT_MODEL_H
#define CALO_EVENT_MODEL_H

#include <sluice/plugin.h>

enum {
  CALO_CELLS = 6016,
  CALO_AREAS = 3,          /* outer, middle, inner */
  CALO_NEIGHBOURS = 9,     /* per cell, at most */
  CALO_CARD_CHANNELS = 32, /* per front-end card */
  CALO_CARDS_MAX = 512,    /* codes of cards have 9 bits */
  CALO_BANK_CARDS = 3,     /* cards per bank of type 77 */
  CALO_SOURCES_MAX = 2048, /* sources of these banks have 11 bits */
  CALO_NO_NEIGHBOUR = 0xffff,
  CALO_NO_CARD = 9999 /* value of card_index without a card */
};

/* Indices of `numbers`. */
enum { CALO_FORMAT, CALO_FIRST_CARD, CALO_CARDS, CALO_SOURCES, CALO_NUMBERS };

/* Constants. Byte layout of the file: README.md, "The file". */
#define CALO_GEOMETRY_FIELDS(F)                                                                           \
  F(numbers, u32, ARRAY, "",                                                                              \
    "format of the file (3 or 4); code of the first card; number of codes; number of sources")            \
  F(pedestal, f32, ARRAY, "ADC", "value of a cell without energy")                                        \
  F(channels, u16, ARRAY, "",                                                                             \
    "cell of each channel, 32 per card, from the first code on; 6016: no cell; all 0: no card")           \
  F(neighbours, u16, ARRAY, "", "neighbours of a cell, 9 entries per cell; 65535: none")                  \
  F(xy, f32, ARRAY, "mm", "x and y of each cell's centre")                                                \
  F(gain, f32, ARRAY, "MeV/ADC", "energy per count of a cell")                                            \
  F(to_local, f32, ARRAY, "", "global to local: 3 rows of a matrix, each followed by its translation")    \
  F(planes, f32, ARRAY, "", "front, shower maximum, back: a, b, c, d of a x + b y + c z + d = 0, global") \
  F(cell_size, f32, ARRAY, "mm",                                                                          \
    "width of the cells of the outer area; 1/2 and 1/3 of it in the middle and inner area")               \
  F(area_first, u32, ARRAY, "", "first cell of the outer, middle and inner area; number of cells")        \
  F(card_number, i32, ARRAY, "", "numbers of the 3 cards of each source of banks of type 77; 0: none")    \
  F(card_index, i32, ARRAY, "",                                                                           \
    "indices in `channels`, in cards, of the 3 cards of each source of banks of type 77; 9999: none")
SL_COLLECTION(calo_geometry, CALO_GEOMETRY_FIELDS, "geometry, gains and channels of the electromagnetic calorimeter");

/* Values of cells. */
enum { CALO_NO_ADC = -32768 };
#define CALO_CELLS_FIELDS(F) F(adc, i16, PER_EVENT_OF(6016), "ADC", "value of each cell; -32768: not read out")
SL_COLLECTION(calo_cells, CALO_CELLS_FIELDS, "values of the calorimeter's cells");

/* Sums over the cells that were read out, as integers, so that the order does not matter. Parts: outer, middle and
 * inner area with y > 0, then with y <= 0. */
enum { CALO_PARTS = 2 * CALO_AREAS, CALO_UNITS_A_MEV = 100000000 };
#define CALO_SUMS_FIELDS(F)                                                                          \
  F(cells, u32, PER_EVENT, "", "number of cells that were read out")                                 \
  F(adc, i32, PER_EVENT, "ADC", "sum of the values of cells")                                        \
  F(energy, i64, PER_EVENT, "1e-8 MeV", "sum of the energies of cells")                              \
  F(positive_energy, i64, PER_EVENT, "1e-8 MeV", "sum of the energies of cells that read 0 or more") \
  F(et, i64, PER_EVENT, "1e-8 MeV", "sum of the transverse energies of cells")                       \
  F(part_et, i64, PER_EVENT_OF(6), "1e-8 MeV",                                                       \
    "sums of transverse energies in the outer, middle and inner area for y > 0, then for y <= 0")
SL_COLLECTION(calo_sums, CALO_SUMS_FIELDS, "sums of energy in the calorimeter");

/* Clusters around cells that read more than all their neighbours, by cell. At most one of four cells that touch each
 * other can do so, which limits the number of clusters. */
enum { CALO_CLUSTERS_MAX = CALO_CELLS / 4 };
#define CALO_CLUSTERS_FIELDS(F)                                                            \
  F(offsets, u32, OFFSETS, "", "first cluster of each event")                              \
  F(cell, u16, PER_ITEM, "", "highest cell of the cluster")                                \
  F(energy, f32, PER_ITEM, "MeV", "energy of the cluster")                                 \
  F(et, f32, PER_ITEM, "MeV", "transverse energy of the cluster, as seen from the origin") \
  F(x, f32, PER_ITEM, "mm", "x of the cluster: mean over its cells, weighted by energy")   \
  F(y, f32, PER_ITEM, "mm", "y of the cluster: mean over its cells, weighted by energy")   \
  F(highest_share, f32, PER_ITEM, "", "share of the highest cell in the energy of the cluster")
SL_COLLECTION(calo_clusters, CALO_CLUSTERS_FIELDS, "clusters in the calorimeter");

/* One item per cluster. The highest cell of a cluster is on a track if a straight line of the track meets it. */
enum { CALO_OUTER, CALO_MIDDLE, CALO_INNER };
#define CALO_CLUSTER_MATCHES_FIELDS(F)                                                                  \
  F(offsets, u32, OFFSETS, "", "first cluster of each event")                                           \
  F(on_track, u8, PER_ITEM, "", "1 if the highest cell of the cluster is on a long track, otherwise 0") \
  F(on_velo_line, u8, PER_ITEM, "",                                                                     \
    "1 if the highest cell of the cluster is straight ahead of a VELO track, otherwise 0")
SL_COLLECTION(calo_cluster_matches, CALO_CLUSTER_MATCHES_FIELDS, "matches of clusters with tracks");

#define CALO_NEUTRAL_CLUSTERS_FIELDS(F)                                             \
  CALO_CLUSTERS_FIELDS(F)                                                           \
  F(area, u8, PER_ITEM, "", "area of the highest cell: 0 outer, 1 middle, 2 inner") \
  F(on_velo_line, u8, PER_ITEM, "",                                                 \
    "1 if the highest cell of the cluster is straight ahead of a VELO track (bremsstrahlung), otherwise 0")
SL_COLLECTION(calo_neutral_clusters, CALO_NEUTRAL_CLUSTERS_FIELDS, "clusters that are on no long track");

/* Long tracks. The shower is the highest cell on the track, and the cells that touch it. */
#define CALO_ELECTRONS_FIELDS(F)                                                                                       \
  F(offsets, u32, OFFSETS, "", "first track of each event")                                                            \
  F(energy, f32, PER_ITEM, "MeV", "energy of the cells on the track")                                                  \
  F(e_over_p, f32, PER_ITEM, "", "energy of the cells on the track divided by its momentum")                           \
  F(e_over_p_3x3, f32, PER_ITEM, "",                                                                                   \
    "energy of the 3 x 3 cells around the highest cell on the track, divided by its momentum")                         \
  F(distance2, f32, PER_ITEM, "",                                                                                      \
    "squared distance of the track from the mean position of the energy in the 3 x 3 cells, in squared widths of the " \
    "highest cell; 0: track not preselected")                                                                          \
  F(variance_x, f32, PER_ITEM, "",                                                                                     \
    "variance of x in the 3 x 3 cells, weighted by energy, in squared widths of the highest cell; 0: track not "       \
    "preselected")                                                                                                     \
  F(variance_y, f32, PER_ITEM, "",                                                                                     \
    "variance of y in the 3 x 3 cells, weighted by energy, in squared widths of the highest cell; 0: track not "       \
    "preselected")                                                                                                     \
  F(covariance, f32, PER_ITEM, "",                                                                                     \
    "covariance of x and y in the 3 x 3 cells, weighted by energy, in squared widths of the highest cell; 0: track "   \
    "not "                                                                                                             \
    "preselected")                                                                                                     \
  F(score, f32, PER_ITEM, "",                                                                                          \
    "electron probability of the network, 0 to 1; 0: track not preselected; 1 for all tracks without a network")       \
  F(in_acceptance, u8, PER_ITEM, "", "1 if the track passes a cell in the plane of shower maximum")                    \
  F(is_preselected, u8, PER_ITEM, "",                                                                                  \
    "1 if the track is in acceptance and its E/p is in the range of the preselection")                                 \
  F(is_electron, u8, PER_ITEM, "", "1 if the track is identified as an electron")
SL_COLLECTION(calo_electrons, CALO_ELECTRONS_FIELDS, "long tracks in the calorimeter");

/* Energy straight ahead of VELO tracks, where photons radiated before the magnet arrive. */
#define CALO_BREMSSTRAHLUNG_FIELDS(F)                                         \
  F(offsets, u32, OFFSETS, "", "first track of each event")                   \
  F(energy, f32, PER_ITEM, "MeV", "energy of the cells on the straight line") \
  F(et, f32, PER_ITEM, "MeV", "transverse energy, with the slopes of the track")
SL_COLLECTION(calo_bremsstrahlung, CALO_BREMSSTRAHLUNG_FIELDS, "energy straight ahead of VELO tracks");

#endif
