/* digits.c: see digits.h.
 *   1. Sort the light by SiPM with a stable sort and add it up per channel; integer sums do not depend on order.
 *   2. Clusters, with the three thresholds of the readout firmware: neighbouring channels over LOW are a cluster if one
 *      of them is over SEED, or, for a single channel, over HIGH.
 *   3. Link the particles that left light in a cluster. */
#include "digits.h"

#include <stdlib.h>
#include <string.h>

/* Thresholds, and the light of a particle that makes a link. */
enum {
  LOW = SIM_SCIFI_PHOTON * 3 / 2,
  SEED = SIM_SCIFI_PHOTON * 5 / 2,
  HIGH = SIM_SCIFI_PHOTON * 9 / 2,
  TRACE = SIM_SCIFI_PHOTON
};

/* Stable counting sort by SiPM. */
static int sort_lights(struct sim_scifi_digits *d) {
  uint32_t offset[SIM_SCIFI_SIPMS + 1] = {0};
  const uint32_t n = d->light.list.count;
  if (!sim_reserve((void **)&d->sorted.at, &d->sorted.capacity, n, sizeof *d->sorted.at)) return SL_ENOMEM;
  for (uint32_t i = 0; i < n; i++) offset[d->light.list.at[i].sipm + 1]++;
  for (uint32_t k = 0; k < SIM_SCIFI_SIPMS; k++) offset[k + 1] += offset[k];
  for (uint32_t i = 0; i < n; i++) d->sorted.at[offset[d->light.list.at[i].sipm]++] = d->light.list.at[i];
  d->sorted.count = n;
  return SL_OK;
}

/* A SiPM: its light [first, end) in `sorted`, the sum per channel, and a bit for each channel over LOW. */
enum { MASK_BITS = 64, MASKS = SCIFI_SIPM_CHANNELS / MASK_BITS };
struct sipm {
  const struct sim_scifi_digits *digits;
  uint32_t first, end;
  uint32_t sums[SCIFI_SIPM_CHANNELS + 1]; /* the last one stays 0 */
  uint64_t over[MASKS];
};

static void add_up(struct sipm *s) {
  memset(s->sums, 0, sizeof s->sums);
  memset(s->over, 0, sizeof s->over);
  for (uint32_t i = s->first; i < s->end; i++) {
    const struct sim_scifi_light *light = &s->digits->sorted.at[i];
    const uint32_t *shares = s->digits->light.shares.at + light->first_share;
    for (uint32_t k = 0; k < light->count; k++) {
      const uint32_t channel = light->first_channel + k, sum = s->sums[channel] + shares[k];
      s->sums[channel] = sum;
      s->over[channel / MASK_BITS] |= (uint64_t)(sum >= LOW) << channel % MASK_BITS;
    }
  }
}

/* Did the particle leave enough light in these channels? Most lights of the SiPM are in other channels. */
static int has_trace(const struct sipm *s, const struct sim_scifi_light *light, uint32_t channel, uint32_t width) {
  const uint32_t *shares = s->digits->light.shares.at + light->first_share;
  const uint32_t first = light->first_channel, end = first + light->count;
  const uint32_t from = channel > first ? channel : first, to = channel + width < end ? channel + width : end;
  uint32_t sum = 0;
  for (uint32_t k = from; k < to && sum < TRACE; k++) sum += shares[k - first];
  return sum >= TRACE;
}

/* Is the particle linked in the links from `first` on? */
static int has_link(const struct sim_event *event, uint32_t first, uint32_t particle) {
  const uint32_t count = event->links[SIM_IN_SCIFI].count;
  uint32_t i = first;
  while (i < count && event->links[SIM_IN_SCIFI].at[i].particle != particle) i++;
  return i < count;
}

/* Links the particles that left light in the piece to its id. */
static int link_piece(const struct sipm *s, const struct sim_scifi_piece *piece, struct sim_event *event) {
  const uint32_t before = event->links[SIM_IN_SCIFI].count;
  for (uint32_t i = s->first; i < s->end; i++) {
    const struct sim_scifi_light *light = &s->digits->sorted.at[i];
    if (light->particle == SIM_SCIFI_NOISE) continue;
    if (!has_trace(s, light, piece->channel % SCIFI_SIPM_CHANNELS, piece->width)) continue;
    if (has_link(event, before, light->particle)) continue;
    struct sim_id_link *link = SIM_APPEND(&event->links[SIM_IN_SCIFI]);
    if (!link) return SL_ENOMEM;
    *link = (struct sim_id_link){light->particle, piece->id};
  }
  return SL_OK;
}

/* First channel over LOW from `from` on, or SCIFI_SIPM_CHANNELS. */
static uint32_t next_over(const uint64_t over[MASKS], uint32_t from) {
  for (uint32_t i = from / MASK_BITS; i < MASKS; i++) {
    const uint64_t rest = i == from / MASK_BITS ? over[i] & ~0ull << from % MASK_BITS : over[i];
    if (rest != 0) return MASK_BITS * i + (uint32_t)__builtin_ctzll(rest);
  }
  return SCIFI_SIPM_CHANNELS;
}

static int find_clusters(const struct sipm *s, uint32_t version, struct sim_event *event, struct sim_scifi_digits *d) {
  const uint32_t begin = (d->sorted.at[s->first].sipm + SCIFI_FIRST_MAT * SCIFI_MAT_SIPMS) << SCIFI_SIPM_BIT;
  int status = SL_OK;
  for (uint32_t first = next_over(s->over, 0), end; first < SCIFI_SIPM_CHANNELS && status == SL_OK;
       first = next_over(s->over, end)) {
    uint32_t highest = 0;
    for (end = first; s->sums[end] >= LOW; end++) highest = s->sums[end] > highest ? s->sums[end] : highest;
    const uint32_t width = end - first;
    if (highest < (width == 1 ? (uint32_t)HIGH : (uint32_t)SEED)) continue;
    struct sim_scifi_cluster *cluster = SIM_APPEND(&d->clusters);
    if (!cluster) return SL_ENOMEM;
    *cluster = (struct sim_scifi_cluster){begin + first, width};
    struct sim_scifi_piece piece;
    for (uint32_t k = 0; status == SL_OK && sim_scifi_piece(cluster, version, k, &piece); k++)
      status = link_piece(s, &piece, event);
  }
  return status;
}

int sim_scifi_digitise(const struct scifi_description *scifi, const struct sim_settings *settings, uint32_t version,
                       struct sim_event *event, struct sim_scifi_digits *d) {
  d->light.list.count = d->sorted.count = d->light.shares.count = d->clusters.count = 0;
  int status = sim_scifi_light(scifi, settings->scifi_efficiency, event, &d->light);
  if (status == SL_OK) status = sort_lights(d);
  struct sipm s = {.digits = d};
  for (; s.first < d->sorted.count && status == SL_OK; s.first = s.end) {
    for (s.end = s.first; s.end < d->sorted.count && d->sorted.at[s.end].sipm == d->sorted.at[s.first].sipm;) s.end++;
    add_up(&s);
    status = find_clusters(&s, version, event, d);
  }
  return status;
}

void sim_scifi_digits_free(struct sim_scifi_digits *d) {
  free(d->light.list.at);
  free(d->sorted.at);
  free(d->light.shares.at);
  free(d->clusters.at);
  *d = (struct sim_scifi_digits){.light = {.list = {0}}};
}
