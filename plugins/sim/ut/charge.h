/* charge.h: charge of particles in the UT strips. */
#ifndef SIM_UT_CHARGE_H
#define SIM_UT_CHARGE_H

#include "event/event.h"
#include "ut/description.h"

/* Address of a strip: sector (bits 9 to 19), strip in the sector. Strips are sorted by address; sectors are in the
 * order of boards and lanes. */
enum { SIM_UT_STRIP_BITS = 9, SIM_UT_NO_PARTICLE = -1 };

/* Charges are in units of 1/64 ADC count. */
enum { SIM_UT_CHARGE_UNIT = 64, SIM_UT_THRESHOLD = 6, SIM_UT_ADC_MAX = 31 };

/* Charge in a strip. */
struct sim_ut_charge {
  uint32_t address;
  int32_t charge;
  int32_t own;      /* part that the particle left in this strip directly, without coupling from neighbouring strips */
  int32_t particle; /* SIM_UT_NO_PARTICLE: noise; `charge` is then a lower limit for the strip's charge */
};
SIM_NAMED_LIST(sim_ut_charges, struct sim_ut_charge);

static inline uint32_t sim_ut_sector(uint32_t address) { return address >> SIM_UT_STRIP_BITS; }
static inline uint32_t sim_ut_strip(uint32_t address) { return address & ((1u << SIM_UT_STRIP_BITS) - 1); }

/* Appends the charges of the event's passages and of noise. 0 or SL_ENOMEM. */
int sim_ut_charge(const struct ut_description *ut, float efficiency, const struct sim_event *event,
                  struct sim_ut_charges *charges);

#endif
