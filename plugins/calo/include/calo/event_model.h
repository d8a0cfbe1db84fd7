/* event_model.h: what the calorimeter plugin offers to others. Lengths in mm, energies in MeV. The plugin's README.md
 * has the detector and the formats. */
#ifndef CALO_EVENT_MODEL_H
#define CALO_EVENT_MODEL_H

#include <sluice/plugin.h>

enum {
  CALO_CELLS = 6016,
  CALO_AREAS = 3,          /* outer, middle, inner */
  CALO_NEIGHBOURS = 9,     /* of a cell, at most */
  CALO_CARD_CHANNELS = 32, /* a front-end card */
  CALO_CARDS_MAX = 512,    /* codes of cards have 9 bits */
  CALO_BANK_CARDS = 3,     /* in banks of type 77 */
  CALO_SOURCES_MAX = 2048, /* numbers of these banks have 11 bits */
  CALO_NO_NEIGHBOUR = 0xffff,
  CALO_NO_CARD = 9999 /* of card_index: nothing is plugged in there */
};

/* What `numbers` has. */
enum { CALO_FORMAT, CALO_FIRST_CARD, CALO_CARDS, CALO_SOURCES, CALO_NUMBERS };

/* Constants. Byte layout of the file: README.md, "The file". */
#define CALO_GEOMETRY_FIELDS(F)                                                                             \
  F(numbers, u32, ARRAY, "", "the file's format, 3 or 4; code of the first card, number of codes; sources") \
  F(pedestal, f32, ARRAY, "ADC", "what a cell without energy reads")                                        \
  F(channels, u16, ARRAY, "",                                                                               \
    "cell of each channel, 32 a card, from the first code on; 6016: no cell; a card of zeros is none")      \
  F(neighbours, u16, ARRAY, "", "cells that touch a cell, 9 a cell; 65535: no more")                        \
  F(xy, f32, ARRAY, "mm", "x and y of each cell's centre")                                                  \
  F(gain, f32, ARRAY, "MeV/ADC", "of each cell")                                                            \
  F(to_local, f32, ARRAY, "", "global to local: 3 rows of a matrix, each followed by its translation")      \
  F(planes, f32, ARRAY, "", "front, shower maximum, back: a, b, c, d of a x + b y + c z + d = 0, global")   \
  F(cell_size, f32, ARRAY, "mm", "of the outer area; 1/2 and 1/3 of it in the middle and inner ones")       \
  F(area_first, u32, ARRAY, "", "first cell of the outer, middle and inner area; number of cells")          \
  F(card_number, i32, ARRAY, "", "of each source of banks of type 77, 3 cards: their numbers; 0: none")     \
  F(card_index, i32, ARRAY, "", "likewise: their place in `channels`, in cards; 9999: none")
SL_COLLECTION(calo_geometry, CALO_GEOMETRY_FIELDS, "geometry, gains and channels of the electromagnetic calorimeter");

/* What cells read. */
enum { CALO_NO_ADC = -32768 };
#define CALO_CELLS_FIELDS(F) F(adc, i16, PER_EVENT_OF(6016), "ADC", "value of each cell; -32768: it was not read out")
SL_COLLECTION(calo_cells, CALO_CELLS_FIELDS, "values of the calorimeter's cells");

/* Sums over the cells that were read out, in whole units, so that their order does not matter. Parts: outer, middle and
 * inner area with y > 0, then the same three below. */
enum { CALO_PARTS = 2 * CALO_AREAS, CALO_UNITS_A_MEV = 100000000 };
#define CALO_SUMS_FIELDS(F)                                                                       \
  F(cells, u32, PER_EVENT, "", "how many were read out")                                          \
  F(adc, i32, PER_EVENT, "ADC", "sum of their values")                                            \
  F(energy, i64, PER_EVENT, "1e-8 MeV", "sum of their energies")                                  \
  F(positive_energy, i64, PER_EVENT, "1e-8 MeV", "the same, without cells that read less than 0") \
  F(et, i64, PER_EVENT, "1e-8 MeV", "sum of their transverse energies")                           \
  F(part_et, i64, PER_EVENT_OF(6), "1e-8 MeV", "the same of outer, middle, inner area above y = 0, then below")
SL_COLLECTION(calo_sums, CALO_SUMS_FIELDS, "energy in the calorimeter");

/* Cells that read more than all around them, with what is around them; by cell. No two of four cells that touch each
 * other can do so, which bounds how many there are. */
enum { CALO_CLUSTERS_MAX = CALO_CELLS / 4 };
#define CALO_CLUSTERS_FIELDS(F)                                                  \
  F(offsets, u32, OFFSETS, "", "first cluster of each event")                    \
  F(cell, u16, PER_ITEM, "", "the highest one")                                  \
  F(energy, f32, PER_ITEM, "MeV", "of the cluster")                              \
  F(et, f32, PER_ITEM, "MeV", "energy across the beam, as seen from the origin") \
  F(x, f32, PER_ITEM, "mm", "mean of the cells' places, by energy")              \
  F(y, f32, PER_ITEM, "mm", "likewise")                                          \
  F(highest_share, f32, PER_ITEM, "", "of the highest cell in the energy")
SL_COLLECTION(calo_clusters, CALO_CLUSTERS_FIELDS, "clusters in the calorimeter");

/* What the calorimeter has along long tracks. */
#define CALO_ELECTRONS_FIELDS(F)                                                                     \
  F(offsets, u32, OFFSETS, "", "first track of each event")                                          \
  F(energy, f32, PER_ITEM, "MeV", "of the cells that the track goes through")                        \
  F(e_over_p, f32, PER_ITEM, "", "this over the track's momentum")                                   \
  F(in_acceptance, u8, PER_ITEM, "", "1 if the track goes through a cell where showers are largest") \
  F(is_electron, u8, PER_ITEM, "", "1 if e_over_p says so")
SL_COLLECTION(calo_electrons, CALO_ELECTRONS_FIELDS, "long tracks in the calorimeter");

/* What it has where VELO tracks would come to without the magnet, which is where photons come to that they left. */
#define CALO_BREMSSTRAHLUNG_FIELDS(F)                                  \
  F(offsets, u32, OFFSETS, "", "first track of each event")            \
  F(energy, f32, PER_ITEM, "MeV", "of the cells on the straight line") \
  F(et, f32, PER_ITEM, "MeV", "this across the beam, with the track's slopes")
SL_COLLECTION(calo_bremsstrahlung, CALO_BREMSSTRAHLUNG_FIELDS, "energy straight ahead of VELO tracks");

#endif
