/* muon_digits.h: what the muon chambers read out: channels that are hit, with their times. */
#ifndef SIM_MUON_DIGITS_H
#define SIM_MUON_DIGITS_H

#include "generator.h"
#include "muon_readout.h"

struct sim_muon_digit {
  uint32_t channel, tile;
  uint32_t time; /* sixteenths of 25 ns, 0 to 15 */
};

struct sim_muon_digits {
  struct sim_muon_readout *readout;       /* made for the first event */
  uint8_t *hit;                           /* of each channel: its time plus one, or 0; zero between events */
  SIM_LIST(struct sim_muon_digit) digits; /* by ascending channel */
};

/* 0 or an error. */
int sim_muon_digitise(const struct muon_description *muon, const struct sim_settings *settings, uint32_t version,
                      struct sim_event *event, struct sim_muon_digits *digits);
void sim_muon_digits_free(struct sim_muon_digits *digits);

/* ---------------------------------------------------------------------- for the files of this detector */

/* What a charged particle leaves in a chamber: a line from (u0, v0) to (u1, v1), of the chamber's own coordinates, at
 * a time in units of digits. */
struct sim_muon_trace {
  uint32_t station;
  float low_u, high_u, low_v, high_v, time;
};
void sim_muon_fire(const struct sim_settings *settings, const struct muon_description *muon,
                   const struct sim_muon_chamber *chamber, const struct sim_muon_trace *trace, struct sim_random *r,
                   struct sim_muon_digits *digits);

/* muon_background.c: what no particle of the event's list makes. */
void sim_muon_add_background(const struct sim_settings *settings, const struct muon_description *muon,
                             const struct sim_event *event, struct sim_muon_digits *digits);

#endif
