/* seeding.consolidate: makes seeds of the tracks in x layers that have stereo hits: all hits in layer order, q/p, and
 * the state at the exit of the fibre tracker (README.md, "Seeds").
 *
 * The output has room for every track with twelve hits, so it never overflows. Cost: reads 61 bytes per track; writes
 * 28 per seed and 6 per hit.
 */
#include "magnet/event_model.h"
#include "seeding/event_model.h"

#include <sluice/kernel.h>

#define SL_ARGS consolidate_args
#define CONSOLIDATE(M)                                                                               \
  M(IN, hits, scifi_hits, "offsets id", "hits of the fibre tracker")                                 \
  M(IN, tracks, seed_xz_tracks, "offsets hit_count hits a b c", "tracks in x layers")                \
  M(IN, stereo, seed_stereo, "hit_count hits y ty", "stereo hits of the tracks")                     \
  M(IN, seeding, seeding_constants, "constants", "constants of the search for seeds")                \
  M(IN, magnet, magnet_polarity, "sign", "magnet polarity")                                          \
  M(OUT, seeds, seeds, "seeds, in the order of the tracks", SL_ITEMS(SL_ONE(SL_ITEMS_TERM(tracks))), \
    SL_SUBITEMS(SL_ONE(SL_ITEMS_SCALED(tracks, SCIFI_TRACK_HITS_MAX, 1, 0))))                        \
  M(SCRATCH, sources, u64, "input item and event of each selected item", SL_ONE(SL_ITEMS_TERM(tracks)))
SL_ARGUMENTS(consolidate, CONSOLIDATE);

static SL_DEVICE uint32_t hit_count(const struct consolidate_args *a, struct sl_item item) {
  const uint32_t stereo_count = a->stereo.hit_count[item.input_index];
  return stereo_count > 0 ? a->tracks.hit_count[item.input_index] + stereo_count : SL_NOT_SELECTED;
}

static SL_DEVICE void write_seed(const struct consolidate_args *a, struct sl_item item) {
  const uint32_t from = item.input_index, seed = item.output_index;
  const float per_mev = -1e-6f, *constants = a->seeding.constants, *e = constants + SEED_QOP;
  const float z = constants[SEED_Z_END], d = z - constants[SEED_Z_REFERENCE];
  const float rd = constants[SEED_D_RATIO] * d, b = a->tracks.b[from], cd = a->tracks.c[from] * d;
  const float x = a->tracks.a[from] + d * (b + cd * (1.0f + rd)), tx = b + cd * (2.0f + 3.0f * rd);
  const float ty = a->stereo.ty[from], x0 = x - tx * z;
  const float divisor = e[0] + e[1] * (tx * tx) + e[2] * (ty * ty) + e[3] * (x0 * x0);
  a->seeds.qop[seed] = per_mev * x0 / (a->magnet.sign[0] * divisor);
  a->seeds.x[seed] = x;
  a->seeds.y[seed] = a->stereo.y[from] + ty * d;
  a->seeds.tx[seed] = tx;
  a->seeds.ty[seed] = ty;
}

/* Merges hits in x layers and in stereo layers, both in layer order: a hit follows the hits of the other kind with a
 * lower index. All of these are read, so that no load depends on another. */
static SL_DEVICE void write_hit(const struct consolidate_args *a, struct sl_item item, uint32_t h, uint32_t to) {
  const uint32_t x_count = a->tracks.hit_count[item.input_index], stereo_count = a->stereo.hit_count[item.input_index];
  const uint16_t *x_hits = a->tracks.hits + SCIFI_X_LAYERS * (size_t)item.input_index;
  const uint16_t *stereo_hits = a->stereo.hits + SCIFI_STEREO_LAYERS * (size_t)item.input_index;
  const uint32_t is_x = h < x_count, k = is_x ? h : h - x_count;
  const uint16_t *others = is_x ? stereo_hits : x_hits;
  const uint32_t hit = (is_x ? x_hits : stereo_hits)[k], other_count = is_x ? stereo_count : x_count;
  uint32_t index = to - h + k;
  SL_UNROLL for (uint32_t other = 0; other < SCIFI_X_LAYERS; other++) index +=
      other < other_count && others[other] < hit ? 1u : 0u;
  a->seeds.hit[index] = (uint16_t)hit;
  a->seeds.hit_id[index] = a->hits.id[a->hits.offsets[item.event] + hit];
}
SL_STATIC_ASSERT((int)SCIFI_X_LAYERS == (int)SCIFI_STEREO_LAYERS,
                 "x hits and stereo hits have equal numbers of layers");

SL_SELECT_WITH_SUBITEMS(consolidate, tracks, seeds, seeds.hit_offsets, 16, hit_count, write_seed, write_hit)

SL_ALGORITHM(consolidate, "makes seeds of tracks in x layers that have stereo hits", 128, consolidate_run);
