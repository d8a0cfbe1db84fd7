/* decode_reference.h: plain version of scifi.decode: decodes the clusters of an event bank by bank, computes their
 * positions in double precision (formula of plugins/scifi/README.md), and sorts them by zone and x. */
#ifndef TEST_SCIFI_DECODE_REFERENCE_H
#define TEST_SCIFI_DECODE_REFERENCE_H

#include "scifi/bank_words.h"
#include "scifi/event_model.h"

#include <stdlib.h>

struct decode_place {
  double x, z;
};
struct decode_hit {
  struct scifi_cluster cluster;
  struct decode_place place;
};

/* Position of a cluster. */
static struct decode_place decode_place_of(const struct scifi_geometry_view *g, uint32_t channel, uint32_t fraction) {
  const uint32_t mat = (channel >> SCIFI_MAT_BIT) - SCIFI_FIRST_MAT, in_sipm = channel % SCIFI_SIPM_CHANNELS;
#define OF_MAT(field) ((double)g->field[mat])
  const double u = OF_MAT(u_begin) + (2 * in_sipm + 1 + fraction) * OF_MAT(half_pitch) +
                   (in_sipm >= SCIFI_DIE_CHANNELS ? OF_MAT(die_gap) : 0) +
                   (channel >> SCIFI_SIPM_BIT & 3) * OF_MAT(sipm_pitch);
  const double y = OF_MAT(mirror_y) + u * OF_MAT(direction_y);
  return (struct decode_place){OF_MAT(mirror_x) + u * OF_MAT(direction_x) - OF_MAT(dxdy) * y,
                               OF_MAT(mirror_z) + u * OF_MAT(direction_z) - OF_MAT(dzdy) * y};
#undef OF_MAT
}

static uint32_t decode_zone_of(uint32_t channel) {
  return 2 * ((channel >> SCIFI_LAYER_BIT) - 4) + (channel >> (SCIFI_QUARTER_BIT + 1) & 1);
}

static int decode_compare(const void *a_, const void *b_) {
  const struct decode_hit *a = a_, *b = b_;
  const uint32_t zone = decode_zone_of(a->cluster.channel), other = decode_zone_of(b->cluster.channel);
  if (zone != other) return zone < other ? -1 : 1;
  return a->place.x < b->place.x ? -1 : a->place.x > b->place.x;
}

/* Appends the clusters of a valid bank to `hits`; returns the new number of hits, at most `room`. */
static uint32_t decode_bank(const struct scifi_geometry_view *g, uint32_t version, uint32_t row,
                            const uint32_t *payload, uint32_t size_bytes, struct decode_hit *hits, uint32_t count,
                            uint32_t room) {
  struct scifi_bank_words words;
  struct scifi_bank_cursor cursor = scifi_bank_begin();
  struct scifi_cluster cluster;
  if (scifi_bank_open(&words, version, g->link_channel + row * SCIFI_BANK_LINKS, payload, size_bytes)) abort();
  while (count < room && scifi_bank_next(&words, &cursor, &cluster))
    hits[count++] = (struct decode_hit){cluster, decode_place_of(g, cluster.channel, cluster.fraction)};
  return count;
}

/* Sorts the hits of an event, after all banks. */
static void decode_sort(struct decode_hit *hits, uint32_t count) { qsort(hits, count, sizeof *hits, decode_compare); }

#endif
