/* simulation.h: one event from settings and its number, with its banks. What sim.source and the tests drive. */
#ifndef SIM_SIMULATION_H
#define SIM_SIMULATION_H

#include "banks.h"
#include "generator.h"
#include "spectrometer.h"
#include "transport.h"

struct sim_simulation {
  struct sim_settings settings;
  struct velo_description velo;
  struct sim_near near; /* made of `velo` */
  uint32_t odin_version, superpixel_version, cluster_version;
  uint32_t with_superpixels, with_truth; /* their banks are made */
  uint32_t with_spectrometer;            /* what is behind the VELO is simulated */
  uint32_t reserved;
  struct sim_spectrometer *spectrometer; /* made when it is first wanted */
  struct sim_event event;
  struct sim_velo_digits velo_digits;
  struct sim_bank_list banks; /* by ascending type, then sensor */
};

/* Makes event `number`: 0 or an error. */
int sim_simulate(struct sim_simulation *s, uint64_t number);
void sim_simulation_free(struct sim_simulation *s);

#endif
