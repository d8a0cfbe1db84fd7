/* event_model.h: collection of the PLUME plugin. README.md describes the detector and the format. */
#ifndef PLUME_EVENT_MODEL_H
#define PLUME_EVENT_MODEL_H

#include <sluice/plugin.h>

enum {
  PLUME_BOARDS = 2, /* front-end boards */
  PLUME_BOARD_CHANNELS = 32,
  PLUME_CHANNELS = PLUME_BOARDS * PLUME_BOARD_CHANNELS,
  PLUME_LUMINOSITY_CHANNELS = 22 /* first channels of a board; the others are for timing and monitoring */
};

#define PLUME_SIGNALS_FIELDS(F)                                                                              \
  F(is_there, u8, PER_EVENT, "", "1 if the event has the bank; 0: all other fields are 0")                   \
  F(over_threshold, u32, PER_EVENT_OF(2), "", "flags of each board, bit c: channel c is over its threshold") \
  F(adc, u16, PER_EVENT_OF(64), "ADC", "12-bit ADC value of each channel, board 0 first")
SL_COLLECTION(plume_signals, PLUME_SIGNALS_FIELDS, "ADC values and flags of PLUME channels");

#endif
