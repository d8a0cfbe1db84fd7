/* digits.h: what the electromagnetic calorimeter's readout makes of the particles that reach it: a value per cell, and
 * the banks. */
#ifndef SIM_ECAL_DIGITS_H
#define SIM_ECAL_DIGITS_H

#include "calo/description.h"
#include "event/bank_list.h"
#include "generator/generator.h"

/* Tables that do not change: made with the first event. */
struct sim_ecal_tables;

struct sim_ecal_digits {
  struct sim_ecal_tables *tables;
  float energy[CALO_CELLS]; /* MeV, as collected */
  int16_t adc[CALO_CELLS];  /* of 12 bits, with 256 counts below zero */
};

enum { SIM_ECAL_ADC_MIN = -256, SIM_ECAL_ADC_MAX = 4095 - 256 };

/* 0 or SL_ENOMEM. */
int sim_ecal_digitise(const struct calo_description *ecal, const struct sim_settings *settings, struct sim_event *event,
                      struct sim_ecal_digits *digits);
void sim_ecal_digits_free(struct sim_ecal_digits *digits);

/* banks.c: version 2 is of type 21, versions 4 and 5 are of type 77. */
int sim_ecal_banks(struct sim_bank_list *list, const struct calo_description *ecal,
                   const struct sim_ecal_digits *digits, uint32_t version);
/* The true photons at the calorimeter, of type 240. */
int sim_photon_banks(struct sim_bank_list *list, const struct calo_description *ecal, const struct sim_event *event);

#endif
