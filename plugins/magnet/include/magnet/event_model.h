/* event_model.h: what the magnet plugin offers to others: which way the dipole's field points. */
#ifndef MAGNET_EVENT_MODEL_H
#define MAGNET_EVENT_MODEL_H

#include <sluice/plugin.h>

#define MAGNET_POLARITY_FIELDS(F) \
  F(sign, f32, ARRAY, "", "-1: down, positive charge bends towards +x; +1: up; one entry")
SL_COLLECTION(magnet_polarity, MAGNET_POLARITY_FIELDS, "the magnet's polarity");

#endif
