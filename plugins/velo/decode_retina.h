/* decode_retina.h: what the versions of velo.decode_retina share. The word of a cluster, by bank version:
 *
 *              column   its fraction     row     its fraction   second sensor of the pair
 *   2          14-23    11-13, eighths   3-10    0-2, eighths   -
 *   3          12-21    10-11, quarters  2-9     0-1, quarters  -
 *   4          12-21    10-11, quarters  2-9     0-1, quarters  22
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
#define DECODE_RETINA(M)                                                                             \
  M(IN, banks, velo_retina_banks, VELO_BANK_FIELDS, "banks of an event in any order")                \
  M(IN, geometry, velo_geometry, "local_x x_pitch transform", "sensors")                             \
  M(OUT, hits, velo_hits, "sorted", SL_ITEMS(SL_ONE(SL_SUBITEMS_TERM(banks))))                       \
  M(SCRATCH, slot_first, u32, "where the words of each sensor begin in the payloads",                \
    SL_ONE(SL_EVENTS_TERM(VELO_SENSORS, 0)))                                                         \
  M(SCRATCH, slot_place, u32,                                                                        \
    "high half: how many words of the event are before those of the sensor; low half: bank version", \
    SL_ONE(SL_EVENTS_TERM(VELO_SENSORS + 1, 0)))
SL_ARGUMENTS(decode_retina, DECODE_RETINA);

#ifdef SL_TARGET_CPU
/* Decodes the words of some banks, one after the other, of which `hits` are not 0. There is room for all words and
 * eight more. */
void decode_retina_banks_cpu(const struct decode_retina_args *a, const struct velo_bank *banks, uint32_t count,
                             uint32_t hits, struct velo_places *places);
#endif

#endif
