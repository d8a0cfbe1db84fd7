/* ut_digits.h: what the UT's readout makes of the passages: strips with ADC counts, clusters, and who left them. */
#ifndef SIM_UT_DIGITS_H
#define SIM_UT_DIGITS_H

#include "generator.h"
#include "ut/description.h"

/* A strip's address, by which strips are sorted: sector (bits 9 to 19), strip in it. Sectors are in the order of the
 * boards and their lanes. */
enum { SIM_UT_STRIP_BITS = 9, SIM_UT_NOBODY = -1 };

/* Charges are counted in 1/64 of an ADC count. */
enum { SIM_UT_CHARGE_UNIT = 64, SIM_UT_THRESHOLD = 6, SIM_UT_ADC_MAX = 31 };

/* Charge in a strip. */
struct sim_ut_charge {
  uint32_t address;
  int32_t charge;
  int32_t own;      /* of it, what the particle left in this strip itself, and not in the strips beside it */
  int32_t particle; /* SIM_UT_NOBODY: noise, whose `charge` is all that the strip shows, if it has no more */
};

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
  SIM_LIST(struct sim_ut_charge) charges;
  SIM_LIST(struct sim_ut_charge) sorted;
  SIM_LIST(struct sim_ut_strip) strips; /* all with charge, by ascending address */
  SIM_LIST(struct sim_ut_cluster) clusters;
};

/* ut_charge.c: fills `charges`. 0 or SL_ENOMEM. */
int sim_ut_charge(const struct ut_description *ut, float efficiency, const struct sim_event *event,
                  struct sim_ut_digits *digits);

/* Fills all of `digits`, and the event's links of the UT with the ids that banks of that version give. 0 or SL_ENOMEM.
 */
int sim_ut_digitise(const struct ut_description *ut, const struct sim_settings *settings, uint32_t version,
                    struct sim_event *event, struct sim_ut_digits *digits);
void sim_ut_digits_free(struct sim_ut_digits *digits);

static inline uint32_t sim_ut_sector(uint32_t address) { return address >> SIM_UT_STRIP_BITS; }
static inline uint32_t sim_ut_strip(uint32_t address) { return address & ((1u << SIM_UT_STRIP_BITS) - 1); }

#endif
