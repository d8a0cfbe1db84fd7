/* digits.h: what the UT's readout makes of the passages: strips with ADC counts, clusters, the particles that left
 * them, and the banks of these. */
#ifndef SIM_UT_DIGITS_H
#define SIM_UT_DIGITS_H

#include "charge.h"
#include "event/bank_list.h"
#include "generator/generator.h"

struct sim_ut_strip {
  uint32_t address;
  int32_t adc;    /* noise included; at most SIM_UT_ADC_MAX */
  uint32_t first; /* of its charges */
  uint32_t count;
};

/* A cluster as version 3 has it. */
struct sim_ut_cluster {
  uint32_t address;  /* of the strip that it lies in */
  uint32_t quarters; /* beyond that strip's middle */
  uint32_t first;    /* of its strips */
  uint32_t count;
  int32_t sum;        /* of ADC counts */
  int32_t neighbours; /* ADC counts of the two strips beside it */
};

struct sim_ut_digits {
  struct sim_ut_charges charges, sorted;
  SIM_LIST(struct sim_ut_strip) strips; /* all with charge, by ascending address */
  SIM_LIST(struct sim_ut_cluster) clusters;
};

/* Fills all of `digits`, and the event's links of the UT with the ids that banks of that version give. 0 or SL_ENOMEM.
 */
int sim_ut_digitise(const struct ut_description *ut, const struct sim_settings *settings, uint32_t version,
                    struct sim_event *event, struct sim_ut_digits *digits);
void sim_ut_digits_free(struct sim_ut_digits *digits);

/* banks.c: versions 3 and 4, a bank per board, empty ones too. */
int sim_ut_banks(struct sim_bank_list *list, const struct ut_description *ut, const struct sim_ut_digits *digits,
                 uint32_t version);

#endif
