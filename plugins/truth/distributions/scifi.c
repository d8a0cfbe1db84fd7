/* scifi.c: SciFi part of truth.distributions: clusters of the banks of any version (scifi/bank_words.h), and their
 * true particles. */
#include "distributions.h"
#include "scifi/bank_words.h"

#include <stddef.h>

static const struct distributions_lists scifi_lists = {offsetof(struct mc_particle, scifi), H_scifi_particles,
                                                       H_scifi_particle_hits};

/* x of a cluster at y = 0. */
static float x_of(const struct scifi_geometry_view *g, const struct scifi_cluster *c) {
  const uint32_t mat = (c->channel >> SCIFI_MAT_BIT) - SCIFI_FIRST_MAT, channel = c->channel % SCIFI_SIPM_CHANNELS;
  const uint32_t sipm = c->channel >> SCIFI_SIPM_BIT & (SCIFI_MAT_SIPMS - 1);
  const float u = g->u_begin[mat] + (float)(2 * channel + 1 + c->fraction) * g->half_pitch[mat] +
                  (channel >= SCIFI_DIE_CHANNELS ? g->die_gap[mat] : 0.0f) + (float)sipm * g->sipm_pitch[mat];
  const float x = g->mirror_x[mat] + u * g->direction_x[mat], y = g->mirror_y[mat] + u * g->direction_y[mat];
  return x - g->dxdy[mat] * y;
}

static void fill_cluster(struct distributions *d, const struct scifi_geometry_view *geometry,
                         const struct scifi_cluster *c, uint64_t true_ids) {
  const uint32_t layer = (c->channel >> SCIFI_LAYER_BIT) - SCIFI_STATION_LAYERS; /* stations count from 1 */
  distributions_fill(d, H_scifi_layer, layer);
  distributions_fill(d, H_scifi_x, (double)x_of(geometry, c));
  distributions_fill(d, H_scifi_size, c->pseudo_size);
  if (c->pseudo_size == SCIFI_SMALL) distributions_fill(d, H_scifi_fraction, c->fraction);
  distributions_fill(d, H_scifi_parents, distributions_parents(d, true_ids, (uint32_t)SCIFI_LHCB_ID | c->channel));
}

int distributions_fill_scifi(struct distributions *d, const struct scifi_banks_view *banks,
                             const struct scifi_geometry_view *geometry, uint32_t event) {
  uint32_t clusters = 0, bytes = 0;
  int malformed = 0;
  if (!banks->offsets || banks->offsets[event] == banks->offsets[event + 1]) return 0;
  const int64_t true_ids = distributions_gather_ids(d, &scifi_lists);
  if (true_ids < 0) return SL_ENOMEM;
  for (uint32_t i = banks->offsets[event]; i < banks->offsets[event + 1]; i++) {
    const uint32_t row = scifi_bank_row(banks->version[i], banks->source_id[i], geometry->source_id);
    struct scifi_bank_words words;
    struct scifi_cluster cluster;
    bytes += banks->size_bytes[i];
    if (row == SCIFI_NO_BANK ||
        scifi_bank_open(&words, banks->version[i], geometry->link_channel + row * SCIFI_BANK_LINKS,
                        banks->payload + banks->first_word[i], banks->size_bytes[i]) != SCIFI_NO_ERROR) {
      malformed++;
      continue;
    }
    struct scifi_bank_cursor cursor = scifi_bank_begin();
    for (; scifi_bank_next(&words, &cursor, &cluster); clusters++)
      fill_cluster(d, geometry, &cluster, (uint64_t)true_ids);
    malformed += cursor.faults != 0;
  }
  distributions_fill(d, H_scifi_clusters, clusters);
  distributions_fill(d, H_scifi_bytes, bytes);
  return malformed;
}
