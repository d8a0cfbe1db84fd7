/* decode_retina.h: arguments of velo.decode_retina, for its shared and its CPU version. Bits of a cluster
 * word: retina_words.h.
 */
#ifndef VELO_DECODE_RETINA_H
#define VELO_DECODE_RETINA_H

#include "banks.h"
#include "position.h"
#include "sort_pair.h"
#include "velo/event_model.h"
#include "velo/raw_banks.h"

#include <sluice/kernel.h>

#define SL_ARGS decode_retina_args
#define DECODE_RETINA(M)                                                                                   \
  M(IN, banks, velo_retina_banks, VELO_BANK_FIELDS, "retina cluster banks, in any order")                  \
  M(IN, geometry, velo_geometry, "local_x x_pitch transform", "positions of the sensors")                  \
  M(OUT, hits, velo_hits, "hits by module pair, sorted by phi", SL_ITEMS(SL_ONE(SL_SUBITEMS_TERM(banks)))) \
  M(SCRATCH, slot_first, u32, "index of the first word of each sensor in the payloads",                    \
    SL_ONE(SL_EVENTS_TERM(VELO_SENSORS, 0)))                                                               \
  M(SCRATCH, slot_offset, u32,                                                                             \
    "high half: index of the first word of each sensor in its event; low half: bank version",              \
    SL_ONE(SL_EVENTS_TERM(VELO_SENSORS + 1, 0)))
SL_ARGUMENTS(decode_retina, DECODE_RETINA);

#ifdef SL_TARGET_CPU
/* Decodes the words of `count` banks into unsorted hits; `hits` words are not 0. The arrays have room for all words
 * and eight more. */
void decode_retina_banks_cpu(const struct decode_retina_args *a, const struct velo_bank *banks, uint32_t count,
                             uint32_t hits, struct velo_unsorted_hits *unsorted);
#endif

#endif
