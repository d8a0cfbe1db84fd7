/* ut.c: UT part of truth.distributions: clusters of the banks of either version (ut/bank_words.h), and their true
 * particles. */
#include "distributions.h"
#include "ut/bank_words.h"

#include <stddef.h>

static const struct distributions_lists ut_lists = {offsetof(struct mc_particle, ut), H_ut_particles,
                                                    H_ut_particle_hits};

struct bank {
  const struct ut_geometry_view *geometry;
  const uint32_t *words;
  uint32_t bytes, version, board;
};

/* Returns 0 if the cluster's lane is not connected to a sector. */
static int fill_cluster(struct distributions *d, const struct bank *b, const struct ut_cluster *c, uint32_t adc,
                        uint64_t true_ids) {
  const uint32_t lane = UT_BOARD_LANES * b->board + c->lane, sector = b->geometry->lane_index[lane];
  if (sector >= UT_SECTORS) return 0;
  const float x = b->geometry->x0[sector] + c->position * b->geometry->dx_di[sector];
  const uint32_t id = ut_id(b->version, b->geometry->lane_channel[lane], c->strip);
  distributions_fill(d, H_ut_layer, b->geometry->lane_layer[lane]);
  distributions_fill(d, H_ut_x, (double)x);
  distributions_fill(d, H_ut_strips, c->strips);
  distributions_fill(d, H_ut_adc, adc);
  distributions_fill(d, H_ut_parents, distributions_parents(d, true_ids, id));
  return 1;
}

/* Fills the clusters of a bank; returns their number, and increments *malformed on an error. */
static uint32_t fill_v3(struct distributions *d, const struct bank *b, uint64_t true_ids, int *malformed) {
  const uint32_t count = ut_v3_count(b->words);
  uint32_t at = ut_v3_adc_begin(b->words);
  int fine = 1;
  for (uint32_t i = 0; i < count && fine; i++) {
    struct ut_cluster c = ut_v3_cluster(b->words, i);
    struct ut_v3_adc adc = {0, 0, 0};
    fine = ut_v3_next_adc(b->words, b->bytes, &at, &adc);
    c.strips = adc.strips;
    fine = fine && fill_cluster(d, b, &c, adc.sum, true_ids);
  }
  *malformed += !fine;
  return count;
}

static uint32_t fill_v4(struct distributions *d, const struct bank *b, uint64_t true_ids, int *malformed) {
  uint32_t clusters = 0;
  int fine = 1;
  for (uint32_t lane = 0; lane < UT_BOARD_LANES; lane++) {
    const uint32_t count = ut_v4_count(b->words, b->bytes, lane);
    struct ut_cluster c = {0, 0, 0, 0};
    for (uint32_t i = 0; ut_v4_next_cluster(b->words, lane, count, &i, &c); clusters++) {
      uint32_t adc = 0;
      for (uint32_t k = i - c.strips; k < i; k++) adc += ut_v4_hit_adc(ut_v4_hit(b->words, lane, k));
      fine = fine && fill_cluster(d, b, &c, adc, true_ids);
    }
  }
  *malformed += !fine;
  return clusters;
}

int distributions_fill_ut(struct distributions *d, const struct ut_banks_view *banks,
                          const struct ut_geometry_view *geometry, uint32_t event) {
  uint32_t clusters = 0, bytes = 0;
  int malformed = 0;
  if (!banks->offsets || banks->offsets[event] == banks->offsets[event + 1]) return 0;
  const int64_t true_ids = distributions_gather_ids(d, &ut_lists);
  if (true_ids < 0) return SL_ENOMEM;
  for (uint32_t i = banks->offsets[event]; i < banks->offsets[event + 1]; i++) {
    const struct bank b = {geometry, banks->payload + banks->first_word[i], banks->size_bytes[i], banks->version[i],
                           ut_board(banks->source_id[i])};
    bytes += b.bytes;
    if (ut_bank_fault(b.words, b.bytes, b.version, banks->source_id[i]) != UT_BANK_FINE)
      malformed++;
    else
      clusters += b.version == 3 ? fill_v3(d, &b, (uint64_t)true_ids, &malformed)
                                 : fill_v4(d, &b, (uint64_t)true_ids, &malformed);
  }
  distributions_fill(d, H_ut_clusters, clusters);
  distributions_fill(d, H_ut_bytes, bytes);
  return malformed;
}
