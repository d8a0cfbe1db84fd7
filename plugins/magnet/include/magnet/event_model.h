/* event_model.h: collection of the magnet plugin: polarity of the dipole. */
#ifndef MAGNET_EVENT_MODEL_H
#define MAGNET_EVENT_MODEL_H

#include <sluice/plugin.h>

#define MAGNET_POLARITY_FIELDS(F) \
  F(sign, f32, ARRAY, "", "-1: down, positive charge bends towards +x; +1: up; one value")
SL_COLLECTION(magnet_polarity, MAGNET_POLARITY_FIELDS, "polarity of the magnet");

#endif
