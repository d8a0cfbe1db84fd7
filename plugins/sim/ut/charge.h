/* charge.h: the charge that particles leave in the strips of the UT. */
#ifndef SIM_UT_CHARGE_H
#define SIM_UT_CHARGE_H

#include "event/event.h"
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
SIM_NAMED_LIST(sim_ut_charges, struct sim_ut_charge);

static inline uint32_t sim_ut_sector(uint32_t address) { return address >> SIM_UT_STRIP_BITS; }
static inline uint32_t sim_ut_strip(uint32_t address) { return address & ((1u << SIM_UT_STRIP_BITS) - 1); }

/* Appends the charges of the event's passages, those of noise included. 0 or SL_ENOMEM. */
int sim_ut_charge(const struct ut_description *ut, float efficiency, const struct sim_event *event,
                  struct sim_ut_charges *charges);

#endif
