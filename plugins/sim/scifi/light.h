/* light.h: the light that particles leave in the channels of the fibre tracker. */
#ifndef SIM_SCIFI_LIGHT_H
#define SIM_SCIFI_LIGHT_H

#include "event/event.h"
#include "scifi/description.h"

enum { SIM_SCIFI_PHOTON = 64, SIM_SCIFI_SIPMS = SCIFI_MAT_TABLE * SCIFI_MAT_SIPMS };
#define SIM_SCIFI_NOISE UINT32_MAX

/* What a particle leaves in neighbouring channels of a SiPM: `count` shares from `first_share` on, in SIM_SCIFI_PHOTON
 * of a photoelectron. SiPMs are numbered as in a channel, less those before the first mat. */
struct sim_scifi_light {
  uint32_t sipm, particle; /* SIM_SCIFI_NOISE: none */
  uint32_t first_channel;  /* in the SiPM */
  uint32_t first_share, count;
};

struct sim_scifi_lights {
  SIM_LIST(struct sim_scifi_light) list;
  SIM_LIST(uint32_t) shares;
};

/* Appends the light of the event's passages, that of noise included. `efficiency`: of a layer. 0 or SL_ENOMEM. */
int sim_scifi_light(const struct scifi_description *scifi, float efficiency, const struct sim_event *event,
                    struct sim_scifi_lights *lights);

#endif
