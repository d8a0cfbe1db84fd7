/* digits.h: readout of the muon chambers: hit channels with times, and banks. */
#ifndef SIM_MUON_DIGITS_H
#define SIM_MUON_DIGITS_H

#include "event/bank_list.h"
#include "generator/generator.h"
#include "readout.h"

struct sim_muon_digit {
  uint32_t channel, tile;
  uint32_t time; /* sixteenths of 25 ns, 0 to 15 */
};

struct sim_muon_digits {
  struct sim_muon_readout *readout;       /* made for the first event */
  SIM_LIST(struct sim_muon_digit) digits; /* by ascending channel */
};

/* Fills `digits` from the event's passages. 0 or an error. */
int sim_muon_digitise(const struct muon_description *muon, const struct sim_settings *settings, uint32_t version,
                      struct sim_event *event, struct sim_muon_digits *digits);
void sim_muon_digits_free(struct sim_muon_digits *digits);

/* banks.c: versions 2 and 3, which must be that of the digits; 10 or 44 banks, empty ones included. */
int sim_muon_banks(struct sim_bank_list *list, const struct muon_description *muon,
                   const struct sim_muon_digits *digits, uint32_t version);

#endif
