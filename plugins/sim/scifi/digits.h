/* digits.h: readout of the SciFi: light in channels, clusters, links to particles, and banks. */
#ifndef SIM_SCIFI_DIGITS_H
#define SIM_SCIFI_DIGITS_H

#include "event/bank_list.h"
#include "generator/generator.h"
#include "light.h"

/* `width` neighbouring channels of a SiPM, from `channel` on. */
struct sim_scifi_cluster {
  uint32_t channel, width;
};

enum { SIM_SCIFI_CLUSTER_MAX = 4 };

struct sim_scifi_digits {
  struct sim_scifi_lights light;
  SIM_LIST(struct sim_scifi_light) sorted;     /* by SiPM */
  SIM_LIST(struct sim_scifi_cluster) clusters; /* by ascending channel */
};

/* Fills `digits` from the event's passages, and `event->links` with the ids of banks of this version. 0 or
 * SL_ENOMEM. */
int sim_scifi_digitise(const struct scifi_description *scifi, const struct sim_settings *settings, uint32_t version,
                       struct sim_event *event, struct sim_scifi_digits *digits);
void sim_scifi_digits_free(struct sim_scifi_digits *digits);

/* banks.c: versions 4 to 8, 240 banks, empty ones included. */
int sim_scifi_banks(struct sim_bank_list *list, const struct scifi_description *scifi,
                    const struct sim_scifi_digits *digits, uint32_t version);

/* ---------------------------------------------------------------------------------- hits decoded from a cluster */

/* `width` channels of a cluster, from `channel` on, that are decoded as one hit; `id` is its LHCbID. */
struct sim_scifi_piece {
  uint32_t channel, width, id;
};

/* Piece `k` of a cluster as decoded from banks of this version; returns 0 if there are fewer pieces. Version 4
 * divides clusters of more than 4 channels, later versions those of more than 8; version 5 then loses the first
 * piece. */
static inline int sim_scifi_piece(const struct sim_scifi_cluster *cluster, uint32_t version, uint32_t k,
                                  struct sim_scifi_piece *piece) {
  const uint32_t whole = version == 4 ? 4 : 8, is_cut = cluster->width > whole;
  const uint32_t before = is_cut ? SIM_SCIFI_CLUSTER_MAX * (k + (version == 5)) : k * cluster->width;
  if (before >= cluster->width) return 0;
  const uint32_t rest = cluster->width - before;
  piece->width = is_cut && rest > SIM_SCIFI_CLUSTER_MAX ? SIM_SCIFI_CLUSTER_MAX : rest;
  piece->channel = cluster->channel + before;
  piece->id = (uint32_t)SCIFI_LHCB_ID | (piece->channel + (piece->width - 1) / 2);
  return 1;
}

#endif
