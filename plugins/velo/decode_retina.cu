/* velo.decode_retina: VELO clusters from retina cluster banks, where the readout has clustered already: a word is a
 * cluster, and a word equal to 0 is none. Source: spec velo_pv.md A.2, formats.md 4.2.
 *
 * Count, scan, write:
 * 1. decode_retina_count checks the headers of an event's banks, finds the bank of each sensor (a slot), and counts
 *    words. A bank that is wrong refuses the event.
 * 2. The scan makes offsets of the counts.
 * 3. decode_retina_write decodes the words of each slot to their place: by sensor, and in a bank in the order of its
 *    words. So the order is fixed, and a module pair, which is 8 sensors, is one slice. Rarely, words equal to 0 have
 *    to be taken out again, or a word is so wrong that the event is refused after all.
 */
#include "decode_retina.h"

#include <sluice/kernel.h>
#include <sluice/plugin.h>

#include "banks.h"
#include "io/raw_banks.h"
#include "position.h"
#include "velo/event_model.h"

#define SL_ARGS decode_retina_args
static const struct sl_member decode_retina_members[] = {
    SL_EVENTS(),
    SL_IN(banks, velo_retina_banks, VELO_BANK_FIELDS, "banks of an event in any order"),
    SL_IN(geometry, velo_geometry, "local_x x_pitch transform", "sensors"),
    SL_OUT(clusters, velo_clusters, "by sensor, then in the order of the words", SL_ITEMS(SL_ONE(SL_SUBITEMS_TERM(banks)))),
    SL_SCRATCH(slot_bank, u16, "bank of each sensor, relative to the event's first", SL_ONE(SL_EVENTS_TERM(VELO_SENSORS, 0))),
    SL_SCRATCH(slot_words, u16, "words of that bank", SL_ONE(SL_EVENTS_TERM(VELO_SENSORS, 0))),
};

static const struct sl_event_error decode_retina_errors[] = {VELO_BANK_ERRORS(VELO_BANK_ERROR_ENTRY_)};

/* Per event: a thread a bank. Reads headers and count words; writes the event's slots and, in its place of the offsets,
 * the number of its words. */
SL_KERNEL(decode_retina_count, struct decode_retina_args) {
  __shared__ uint32_t claims[VELO_SENSORS];
  const struct velo_bank_list list = VELO_BANK_LIST(a.banks);
  SL_FOR_EVENTS(event, a.events) {
    const struct velo_slots slots = {claims, a.slot_bank + event * VELO_SENSORS, a.slot_words + event * VELO_SENSORS};
    const uint32_t words = velo_slots_fill(&slots, &list, a.banks.offsets[event], a.banks.offsets[event + 1], &a.events, event);
    if (threadIdx.x == 0) a.clusters.offsets[event] = words;
    __syncthreads();
  }
}

/* Writes cluster `i` of the slice. */
static SL_DEVICE void write_cluster(const struct decode_retina_args *a, uint32_t version, uint32_t bank_sensor,
                                    uint32_t word, uint32_t i) {
  const uint32_t fraction_bits = version == 2 ? 3 : 2;
  const uint32_t fractions = (1u << fraction_bits) - 1;
  const float step = version == 2 ? 0.125f : 0.25f;
  const uint32_t row_fraction = word & fractions, row = word >> fraction_bits & 0xFF;
  const uint32_t column_fraction = word >> (8 + fraction_bits) & fractions, column = word >> (8 + 2 * fraction_bits) & 0x3FF;
  const uint32_t sensor = bank_sensor + (version == 4 ? word >> 22 & 1 : 0);
}
