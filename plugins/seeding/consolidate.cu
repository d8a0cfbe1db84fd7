/* seeding.consolidate: tracks in x layers that have stereo hits are seeds, with all their hits, a momentum, and a
 * state behind the fibre tracker (README.md, "Seeds").
 *
 * Count, scan, list with a block an event and a thread a track, scan, write with a thread a hit of the slice, whose
 * busiest events would keep a block long after all others. There is room for every track with twelve hits, so that
 * nothing overflows. Reads 61 bytes a track; writes 28 a seed and 6 a hit.
 */
#include "listed_items.h"
#include "magnet/event_model.h"
#include "seeding/event_model.h"

#include <sluice/kernel.h>

#define SL_ARGS consolidate_args
#define CONSOLIDATE(M)                                                                        \
  M(IN, hits, scifi_hits, "offsets id", "that were searched")                                 \
  M(IN, tracks, seed_xz_tracks, "offsets hit_count hits a b c", "in x layers")                \
  M(IN, stereo, seed_stereo, "hit_count hits y ty", "what was found for each of them")        \
  M(IN, seeding, seeding_constants, "constants", "what tracks look like")                     \
  M(IN, magnet, magnet_polarity, "sign", "which way it points")                               \
  M(OUT, seeds, seeds, "in the order of the tracks", SL_ITEMS(SL_ONE(SL_ITEMS_TERM(tracks))), \
    SL_SUBITEMS(SL_ONE(SL_ITEMS_SCALED(tracks, SCIFI_TRACK_HITS_MAX, 1, 0))))                 \
  M(SCRATCH, from, u32, "which track each seed is", SL_ONE(SL_ITEMS_TERM(tracks)))            \
  M(SCRATCH, hits_begin, u32, "of its event", SL_ONE(SL_ITEMS_TERM(tracks)))
SL_ARGUMENTS(consolidate, CONSOLIDATE);

SL_KERNEL(consolidate_count, struct consolidate_args) {
  SL_FOR_EVENTS (event, a.events)
    SL_COUNT_WANTED(i, event, a.tracks.offsets, a.seeds.offsets, a.stereo.hit_count[i] > 0);
}

static SL_DEVICE void write_seed(const struct consolidate_args *a, uint32_t from, uint32_t seed) {
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

/* Seeds have their places; their numbers of hits wait to be summed. */
SL_KERNEL(consolidate_list, struct consolidate_args) {
  SL_FOR_EVENTS (event, a.events)
    SL_FOR_WANTED (from, seed, event, a.tracks.offsets, a.seeds.offsets, a.stereo.hit_count[from] > 0) {
      a.seeds.hit_offsets[seed] = (uint32_t)a.tracks.hit_count[from] + a.stereo.hit_count[from];
      a.from[seed] = from;
      a.hits_begin[seed] = a.hits.offsets[event];
      write_seed(&a, from, seed);
    }
}

/* Writes hit h of those in x layers and, behind SCIFI_X_LAYERS of them, in stereo layers, if it has so many: by layer,
 * which is by place, as both are already. All of the other ones are read, so that no load waits for another. */
static SL_DEVICE void write_hit(const struct consolidate_args *a, uint32_t seed, uint32_t h) {
  const uint32_t from = a->from[seed], x_count = a->tracks.hit_count[from], stereo_count = a->stereo.hit_count[from];
  const uint16_t *x_hits = a->tracks.hits + SCIFI_X_LAYERS * (size_t)from;
  const uint16_t *stereo_hits = a->stereo.hits + SCIFI_STEREO_LAYERS * (size_t)from;
  const uint32_t is_x = h < SCIFI_X_LAYERS, k = is_x ? h : h - SCIFI_X_LAYERS;
  const uint16_t *others = is_x ? stereo_hits : x_hits;
  const uint32_t hit = (is_x ? x_hits : stereo_hits)[k], other_count = is_x ? stereo_count : x_count;
  const uint32_t event_hits = a->hits_begin[seed];
  uint32_t to = a->seeds.hit_offsets[seed] + k;
  SL_UNROLL for (uint32_t other = 0; other < SCIFI_X_LAYERS; other++) to +=
      other < other_count && others[other] < hit ? 1u : 0u;
  if (k >= (is_x ? x_count : stereo_count)) return;
  a->seeds.hit[to] = (uint16_t)hit;
  a->seeds.hit_id[to] = a->hits.id[event_hits + hit];
}

/* A thread a hit, of the whole slice. */
SL_KERNEL(consolidate_write, struct consolidate_args) {
  const uint32_t hits = SCIFI_TRACK_HITS_MAX * seeding_listed_items(&a.events, a.seeds.offsets);
  for (uint32_t i = sl_grid_thread(); i < hits; i += sl_grid_threads())
    write_hit(&a, i / SCIFI_TRACK_HITS_MAX, i % SCIFI_TRACK_HITS_MAX);
}
SL_STATIC_ASSERT((int)SCIFI_X_LAYERS == (int)SCIFI_STEREO_LAYERS && 2 * SCIFI_X_LAYERS == SCIFI_TRACK_HITS_MAX,
                 "hits of a seed are those of x layers, and as many of stereo layers");

static int run(const struct sl_launch *l, const struct consolidate_args *a) {
  int error = SL_LAUNCH(l, consolidate_count, SL_PER_EVENT, *a);
  if (!error) error = l->scan(l, a->seeds.offsets, &a->seeds.bound);
  if (!error) error = SL_LAUNCH(l, consolidate_list, SL_PER_EVENT, *a);
  if (!error) error = l->scan_items(l, a->seeds.hit_offsets, a->seeds.offsets, &a->seeds.hit_offsets_bound);
  if (!error) error = SL_LAUNCH(l, consolidate_write, SL_PER_SUBITEM(a->seeds, hit_offsets), *a);
  return error;
}

SL_ALGORITHM(consolidate, "seeds with their hits, and their momentum", 128, run);
