/* hit_bits.h: sets of SciFi hits of an event, as bits in shared memory. Private to the plugin. */
#ifndef FORWARD_HIT_BITS_H
#define FORWARD_HIT_BITS_H

#include "forward/event_model.h"

#include <sluice/kernel.h>

enum { HIT_WORD_BITS = 32, HIT_WORDS = (SCIFI_HITS_MAX + HIT_WORD_BITS) / HIT_WORD_BITS };

/* Number of words that the hits of an event need. `offsets`: of the hits. */
static SL_DEVICE uint32_t hit_words(const uint32_t *offsets, uint32_t event) {
  return (offsets[event + 1] - offsets[event]) / HIT_WORD_BITS + 1;
}

/* Adds a hit. Returns 1 if it was in the set before, also by another thread. */
static SL_DEVICE uint32_t hit_bits_add(uint32_t *bits, uint32_t hit) {
  const uint32_t bit = 1u << hit % HIT_WORD_BITS;
  return (atomicOr(&bits[hit / HIT_WORD_BITS], bit) & bit) != 0 ? 1u : 0u;
}

/* 1 if the hit is in the set. */
static SL_DEVICE uint32_t hit_bits_have(const uint32_t *bits, uint32_t hit) {
  return bits[hit / HIT_WORD_BITS] >> hit % HIT_WORD_BITS & 1u;
}

#endif
