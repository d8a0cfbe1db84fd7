/* light.h: light of particles in the SciFi channels. */
#ifndef SIM_SCIFI_LIGHT_H
#define SIM_SCIFI_LIGHT_H

#include "event/event.h"
#include "scifi/description.h"

enum { SIM_SCIFI_PHOTON = 64, SIM_SCIFI_SIPMS = SCIFI_MAT_TABLE * SCIFI_MAT_SIPMS };
#define SIM_SCIFI_NOISE UINT32_MAX

/* Light of a particle in neighbouring channels of a SiPM: `count` shares from `first_share` on, in units of 1 /
 * SIM_SCIFI_PHOTON photoelectron. `sipm` is numbered as in a channel number, from the first mat on. */
struct sim_scifi_light {
  uint32_t sipm, particle; /* particle, or SIM_SCIFI_NOISE */
  uint32_t first_channel;  /* in the SiPM */
  uint32_t first_share, count;
};

struct sim_scifi_lights {
  SIM_LIST(struct sim_scifi_light) list;
  SIM_LIST(uint32_t) shares;
};

/* Appends the light of the event's passages and of noise. `efficiency` is per layer. 0 or SL_ENOMEM. */
int sim_scifi_light(const struct scifi_description *scifi, float efficiency, const struct sim_event *event,
                    struct sim_scifi_lights *lights);

#endif
