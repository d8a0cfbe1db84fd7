/* digits.h: readout of the UT: strips with ADC counts, clusters, links to particles, and banks. */
#ifndef SIM_UT_DIGITS_H
#define SIM_UT_DIGITS_H

#include "charge.h"
#include "event/bank_list.h"
#include "generator/generator.h"

struct sim_ut_strip {
  uint32_t address;
  int32_t adc;    /* with noise; at most SIM_UT_ADC_MAX */
  uint32_t first; /* index of its first charge */
  uint32_t count;
};

/* A cluster of version 3. */
struct sim_ut_cluster {
  uint32_t address;  /* strip of the centre */
  uint32_t quarters; /* position beyond the middle of that strip, in quarters of a strip */
  uint32_t first;    /* index of its first strip */
  uint32_t count;
  int32_t sum;        /* ADC counts */
  int32_t neighbours; /* ADC counts of the two adjacent strips */
};

struct sim_ut_digits {
  struct sim_ut_charges charges, sorted;
  SIM_LIST(struct sim_ut_strip) strips; /* all strips with charge, by ascending address */
  SIM_LIST(struct sim_ut_cluster) clusters;
};

/* Fills `digits`, and the event's UT links with the ids of banks of this version. 0 or SL_ENOMEM. */
int sim_ut_digitise(const struct ut_description *ut, const struct sim_settings *settings, uint32_t version,
                    struct sim_event *event, struct sim_ut_digits *digits);
void sim_ut_digits_free(struct sim_ut_digits *digits);

/* banks.c: versions 3 and 4, one bank per board, empty ones included. */
int sim_ut_banks(struct sim_bank_list *list, const struct ut_description *ut, const struct sim_ut_digits *digits,
                 uint32_t version);

#endif
