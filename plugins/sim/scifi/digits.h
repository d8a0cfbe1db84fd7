/* digits.h: what the readout of the fibre tracker makes of passages: light in channels, clusters of these, and their
 * banks. */
#ifndef SIM_SCIFI_DIGITS_H
#define SIM_SCIFI_DIGITS_H

#include "event/bank_list.h"
#include "generator/generator.h"
#include "light.h"

/* Neighbouring channels of a SiPM: as many as `width` from `channel` on. */
struct sim_scifi_cluster {
  uint32_t channel, width;
};

enum { SIM_SCIFI_CLUSTER_MAX = 4 };

struct sim_scifi_digits {
  struct sim_scifi_lights light;
  SIM_LIST(struct sim_scifi_light) sorted;     /* by SiPM */
  SIM_LIST(struct sim_scifi_cluster) clusters; /* by ascending channel */
};

/* Light and clusters of the event's passages, and `event->links` with the ids that banks of that version give. 0 or
 * SL_ENOMEM. */
int sim_scifi_digitise(const struct scifi_description *scifi, const struct sim_settings *settings, uint32_t version,
                       struct sim_event *event, struct sim_scifi_digits *digits);
void sim_scifi_digits_free(struct sim_scifi_digits *digits);

/* banks.c: versions 4 to 8, 240 banks, empty ones too. */
int sim_scifi_banks(struct sim_bank_list *list, const struct scifi_description *scifi,
                    const struct sim_scifi_digits *digits, uint32_t version);

/* ------------------------------------------------------------------------------------ what is read of a cluster */

/* Channels of a cluster that are read as one hit: from `channel` on, as many as `width`; `id` is the LHCbID. */
struct sim_scifi_piece {
  uint32_t channel, width, id;
};

/* Number `k` of the pieces that the decoding of banks of that version makes of a cluster: 0 if there are not so many.
 * Version 4 cuts clusters of more than 4 channels, later ones those of more than 8; version 5 then loses the first
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
