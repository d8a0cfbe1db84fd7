/* event_model.h: what the algorithms of this plugin hand to each other. */
#ifndef DICE_EVENT_MODEL_H
#define DICE_EVENT_MODEL_H

#include <sluice/plugin.h>

enum { DICE_FACES = 6 };

#define DICE_THROWS_FIELDS(F)                             \
  F(offsets, u32, OFFSETS, "", "first die of each event") \
  F(face, u8, PER_ITEM, "", "number of the upper face, from 0")
SL_COLLECTION(dice_throws, DICE_THROWS_FIELDS, "the dice of an event");

#define DICE_ODDS_FIELDS(F) F(probability, f64, ARRAY, "", "probability of each face")
SL_COLLECTION(dice_odds, DICE_ODDS_FIELDS, "probabilities of the faces of a die");

#endif
