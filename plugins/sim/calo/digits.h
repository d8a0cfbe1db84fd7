/* digits.h: readout of the electromagnetic calorimeter: one ADC value per cell, and banks. */
#ifndef SIM_ECAL_DIGITS_H
#define SIM_ECAL_DIGITS_H

#include "calo/description.h"
#include "event/bank_list.h"
#include "generator/generator.h"

/* Constant tables, made for the first event. */
struct sim_ecal_tables;

struct sim_ecal_digits {
  struct sim_ecal_tables *tables;
  float energy[CALO_CELLS]; /* MeV, collected */
  int16_t adc[CALO_CELLS];  /* 12 bits, shifted by 256 counts */
};

enum { SIM_ECAL_ADC_MIN = -256, SIM_ECAL_ADC_MAX = 4095 - 256 };

/* Fills `digits` from the event's passages. 0 or SL_ENOMEM. */
int sim_ecal_digitise(const struct calo_description *ecal, const struct sim_settings *settings, struct sim_event *event,
                      struct sim_ecal_digits *digits);
void sim_ecal_digits_free(struct sim_ecal_digits *digits);

/* banks.c: version 2 has type 21, versions 4 and 5 have type 77. */
int sim_ecal_banks(struct sim_bank_list *list, const struct calo_description *ecal,
                   const struct sim_ecal_digits *digits, uint32_t version);
/* True photons at the calorimeter, type 240. */
int sim_photon_banks(struct sim_bank_list *list, const struct calo_description *ecal, const struct sim_event *event);

#endif
