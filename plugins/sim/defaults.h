/* defaults.h: nominal detector and the defaults of sim.source, for tests and benchmarks that drive a simulation. */
#ifndef SIM_DEFAULTS_H
#define SIM_DEFAULTS_H

#include "simulation.h"
#include "transport/magnet.h"

#include <string.h>

/* Returns 0, or the number of the wrong line of a nominal description, with the reason. */
static inline uint32_t sim_set_defaults(struct sim_simulation *s, char *reason, size_t reason_size) {
  uint32_t wrong = 0;
#define READ(detector) \
  if (!wrong) wrong = statements_read(&detector##_description_format, NULL, 0, &s->detector, reason, reason_size);
  SIM_DESCRIBED(READ)
#undef READ
  if (wrong) return wrong;
  sim_sensor_lookup_make(&s->velo, &s->lookup);
  s->settings = (struct sim_settings){.seed = 1,
                                      .mu = 5.3f,
                                      .luminosity_fraction = 0.01f,
                                      .run = 1,
                                      .efficiency = 0.99f,
                                      .ut_efficiency = 0.998f,
                                      .scifi_efficiency = 0.98f,
                                      .calo_background = 1.0f,
                                      .muon_efficiency = 0.99f,
                                      .polarity = SIM_POLARITY_DOWN};
  s->versions =
      (struct sim_versions){.odin = 7, .superpixels = 2, .clusters = 3, .ut = 3, .scifi = 5, .calo = 2, .muon = 2};
  return 0;
}

#endif
