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

#endif
