/* odin.prescale: lets through a fraction of the events, chosen by numbers that look random but are functions of the
 * node and of the event alone (README.md, "Prescaling"): the same events pass wherever and whenever they are looked at.
 */
#include "odin/event_model.h"

#include <sluice/kernel.h>

/* What every event's number begins with; those below `threshold` pass, 2^32 being above all of them. */
struct prescale_start {
  uint64_t threshold;
  uint32_t seed, reserved;
};

#define SL_ARGS prescale_args
#define PRESCALE(M)                                                                                       \
  M(IN, odin, odin_events, "run event_number gps_time", "who the events are")                             \
  M(OUT, passed, sl_event_list, "the events that pass, in ascending order")                               \
  M(F32, fraction, 1.0, 0.0, 1.0, "", "of the events that pass")                                          \
  M(STRING, seed, "", "a text instead of the node's name; nodes with the same text pass the same events") \
  M(NODE_HASH, node)                                                                                      \
  M(COMPUTED, start, struct prescale_start, "of the seed and the fraction")
SL_ARGUMENTS(prescale, PRESCALE);

SL_MATH_FUNCTION uint32_t mix(uint32_t state, uint32_t word) {
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
static uint32_t seed_of(const char *text) {
  const uint32_t length = (uint32_t)strlen(text), blanks = (4 - length % 4) % 4;
  uint32_t seed = length, word = 0;
  for (uint32_t i = 0; i < blanks + length; i++) {
    const uint32_t character = i < blanks ? (uint32_t)' ' : (unsigned char)text[i - blanks];
    word |= character << 8 * (i % 4);
    if (i % 4 != 3) continue;
    seed = mix(seed, word);
    word = 0;
  }
  return seed;
}

static int prepare(const struct sl_services *s, void *args) {
  struct prescale_args *a = (struct prescale_args *)args;
  (void)s;
  a->start.seed = *a->seed ? seed_of(a->seed) : (uint32_t)(a->node ^ a->node >> 32);
  a->start.threshold = (uint64_t)((double)a->fraction * 4294967296.0); /* exact, but for the end of it */
  return SL_OK;
}

static SL_DEVICE uint32_t passes(const struct prescale_args *a, uint32_t event) {
  const uint64_t gps_time = a->odin.gps_time[event], number = a->odin.event_number[event];
  uint32_t value = mix(a->start.seed, (uint32_t)gps_time);
  value = mix(value, (uint32_t)(gps_time >> 32));
  value = mix(value, a->odin.run[event]);
  value = mix(value, (uint32_t)number);
  value = mix(value, (uint32_t)(number >> 32));
  return value < a->start.threshold ? 1u : 0u;
}

SL_FILTER(prescale, "lets a fraction of the events through, the same ones each time", passes, prepare);
