/* scaler.h: pseudo-random selection of a fraction of the events, as a function of a seed and the event only
 * (README.md, "Prescaling").
 */
#ifndef ODIN_SCALER_H
#define ODIN_SCALER_H

#include "odin/event_model.h"

#include <sluice/math.h>

/* Seed of the number of every event; an event passes if its number is below `threshold`, 2^32 for all. */
struct odin_scaler {
  uint64_t threshold;
  uint32_t seed, reserved;
};

SL_MATH_FUNCTION uint32_t odin_mix(uint32_t state, uint32_t word) {
  uint32_t s = state + word;
  s += s << 16;
  s ^= s >> 13;
  s += s << 4;
  s ^= s >> 7;
  s += s << 10;
  s ^= s >> 5;
  s += s << 8;
  return s ^ s >> 16;
}

/* LHCb's seed of a text: its length, then words of four characters, the first filled up with blanks in front. */
static inline SL_UNUSED uint32_t odin_seed_of(const char *text) {
  const uint32_t length = (uint32_t)strlen(text), blanks = (4 - length % 4) % 4;
  uint32_t seed = length, word = 0;
  for (uint32_t i = 0; i < blanks + length; i++) {
    const uint32_t character = i < blanks ? (uint32_t)' ' : (unsigned char)text[i - blanks];
    word |= character << 8 * (i % 4);
    if (i % 4 != 3) continue;
    seed = odin_mix(seed, word);
    word = 0;
  }
  return seed;
}

/* `fraction`: from 0 to 1. */
static inline SL_UNUSED struct odin_scaler odin_scaler_of(uint32_t seed, float fraction) {
  struct odin_scaler scaler;
  scaler.threshold = (uint64_t)((double)fraction * 4294967296.0); /* exact except for the truncation */
  scaler.seed = seed;
  scaler.reserved = 0;
  return scaler;
}

/* The pseudo-random number of an event, below 2^32; reads run, event_number and gps_time. */
SL_MATH_FUNCTION uint32_t odin_scaler_value(const struct odin_scaler *scaler, const struct odin_events_view *odin,
                                            uint32_t event) {
  const uint64_t gps_time = odin->gps_time[event], number = odin->event_number[event];
  uint32_t value = odin_mix(scaler->seed, (uint32_t)gps_time);
  value = odin_mix(value, (uint32_t)(gps_time >> 32));
  value = odin_mix(value, odin->run[event]);
  value = odin_mix(value, (uint32_t)number);
  return odin_mix(value, (uint32_t)(number >> 32));
}

/* 1 if the event passes, else 0. */
SL_MATH_FUNCTION uint32_t odin_scaler_passes(const struct odin_scaler *scaler, const struct odin_events_view *odin,
                                             uint32_t event) {
  return odin_scaler_value(scaler, odin, event) < scaler->threshold ? 1u : 0u;
}

#endif
