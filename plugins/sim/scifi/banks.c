/* banks.c: cluster banks of the SciFi (plugins/scifi/README.md, "Banks").
 * Banks and clusters are in the order of channels: each bank takes the clusters of its links. From version 7 on a
 * bank has the source id of the experiment. */
#include "digits.h"

enum { FLAG = 1, FRACTION_BIT = 1, CHANNEL_BIT = 2, LINK_BIT = 9 };

/* Halfwords of a bank, two in a word of the list. */
struct payload {
  struct sim_bank_list *list;
  uint32_t first, halfwords; /* index of its first word */
};

static int put(struct payload *p, uint32_t halfword) {
  if (p->halfwords % 2 == 0) {
    uint32_t *word = SIM_APPEND(&p->list->words);
    if (!word) return SL_ENOMEM;
    *word = 0;
  }
  p->list->words.at[p->first + p->halfwords / 2] |= halfword << 16 * (p->halfwords % 2);
  p->halfwords++;
  return SL_OK;
}

/* `half` is a position in the link's SiPM in half channels. */
static int put_position(struct payload *p, uint32_t link, uint32_t half, uint32_t flag) {
  return put(p, link << LINK_BIT | half / 2 << CHANNEL_BIT | (half & 1) << FRACTION_BIT | flag);
}

/* Middle of `width` channels, in half channels. */
static uint32_t middle_of(uint32_t channel, uint32_t width) { return 2 * channel + width - 1; }

/* A cluster of more than four channels: version 4 has a halfword per piece of four, version 5 the middles of the
 * first and last piece, later versions the second and the last channel. */
static int put_wide(struct payload *p, uint32_t link, uint32_t channel, uint32_t width, uint32_t version) {
  const uint32_t before = (width - 1) / SIM_SCIFI_CLUSTER_MAX * SIM_SCIFI_CLUSTER_MAX;
  const uint32_t last = middle_of(channel + before, width - before);
  int status = SL_OK;
  if (version >= 6) {
    status = put_position(p, link, 2 * (channel + 1) + (version != 7), FLAG);
    return status == SL_OK ? put_position(p, link, 2 * (channel + width - 1), FLAG) : status;
  }
  for (uint32_t done = 0; done < (version == 4 ? before : 1) && status == SL_OK; done += SIM_SCIFI_CLUSTER_MAX)
    status = put_position(p, link, middle_of(channel + done, SIM_SCIFI_CLUSTER_MAX), FLAG);
  return status == SL_OK ? put_position(p, link, last, FLAG) : status;
}

static int put_cluster(struct payload *p, uint32_t link, const struct sim_scifi_cluster *cluster, uint32_t version) {
  const uint32_t channel = cluster->channel % SCIFI_SIPM_CHANNELS;
  if (cluster->width > SIM_SCIFI_CLUSTER_MAX) return put_wide(p, link, channel, cluster->width, version);
  return put_position(p, link, middle_of(channel, cluster->width), 0);
}

/* Appends the bank of these links, from cluster `next` on. */
static int put_bank(struct payload *p, const uint32_t *links, const struct sim_scifi_digits *d, uint32_t version,
                    uint32_t *next) {
  int status = put(p, 0);
  if (status == SL_OK) status = put(p, 0);
  for (uint32_t link = 0; link < SCIFI_BANK_LINKS && links[link] != SCIFI_NOT_CONNECTED; link++)
    for (; *next < d->clusters.count && status == SL_OK; (*next)++) {
      const struct sim_scifi_cluster *cluster = &d->clusters.at[*next];
      if (cluster->channel >> SCIFI_SIPM_BIT != links[link] >> SCIFI_SIPM_BIT) break;
      status = put_cluster(p, link, cluster, version);
    }
  return status;
}

int sim_scifi_banks(struct sim_bank_list *list, const struct scifi_description *scifi,
                    const struct sim_scifi_digits *digits, uint32_t version) {
  uint32_t next = 0;
  for (uint32_t i = 0; i < SCIFI_BANKS; i++) {
    struct payload p = {list, list->words.count, 0};
    const int status = put_bank(&p, scifi->link_channel + i * SCIFI_BANK_LINKS, digits, version, &next);
    if (status < 0) return status;
    const uint32_t bytes = 4 * ((p.halfwords + 1) / 2);
    struct sim_bank *bank = SIM_APPEND(&list->banks);
    if (!bank) return SL_ENOMEM;
    *bank = (struct sim_bank){
        SIM_BANK_SCIFI, (uint8_t)version, (uint16_t)(version < 7 ? i : scifi->source_id[i]), (uint16_t)bytes, 0,
        p.first};
  }
  return SL_OK;
}
