/* event_model.h: what the PLUME plugin offers to others. README.md has the detector and the format. */
#ifndef PLUME_EVENT_MODEL_H
#define PLUME_EVENT_MODEL_H

#include <sluice/plugin.h>

enum {
  PLUME_BOARDS = 2, /* front-end boards */
  PLUME_BOARD_CHANNELS = 32,
  PLUME_CHANNELS = PLUME_BOARDS * PLUME_BOARD_CHANNELS,
  PLUME_LUMINOSITY_CHANNELS = 22 /* of a board: its first ones; the others measure time and monitor */
};

#define PLUME_SIGNALS_FIELDS(F)                                                                        \
  F(is_there, u8, PER_EVENT, "", "1 if the event has the bank; without, all else is 0")                \
  F(over_threshold, u32, PER_EVENT_OF(2), "", "of each board, bit c: channel c is over its threshold") \
  F(adc, u16, PER_EVENT_OF(64), "ADC", "12 bits of each channel, board 0 first")
SL_COLLECTION(plume_signals, PLUME_SIGNALS_FIELDS, "what PLUME saw of each event");

#endif
