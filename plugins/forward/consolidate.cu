/* forward.consolidate: the tracks that were found in the fibre tracker, with their hits, momentum, and state
 * behind it (README.md).
 *
 * Count, scan, write: a block an event, a thread a track. There is room for every track with twelve hits, so that
 * nothing overflows. Reads 57 bytes a track, and its state in the VELO; writes 32 a track and 6 a hit.
 */
#include "forward_math.h"
#include "magnet/event_model.h"

#include <sluice/kernel.h>

#define SL_ARGS consolidate_args
#define CONSOLIDATE(M)                                                                                   \
  M(IN, inputs, forward_inputs, "offsets velo_track ut_track", "tracks before the magnet")               \
  M(IN, best, forward_best_candidates, "hit_count hits a b c r y ty", "what was found for each of them") \
  M(IN, hits, scifi_hits, "offsets id", "that were searched")                                            \
  M(IN, states, velo_end_states, "offsets x y z tx ty", "of all VELO tracks")                            \
  M(IN, forward, forward_constants, "bend constants", "what the magnet does")                            \
  M(IN, magnet, magnet_polarity, "sign", "which way it points")                                          \
  M(OUT, tracks, long_tracks, "in the order of the inputs", SL_ITEMS(SL_ONE(SL_ITEMS_TERM(inputs))),     \
    SL_SUBITEMS(SL_ONE(SL_ITEMS_SCALED(inputs, SCIFI_TRACK_HITS_MAX, 1, 0))))                            \
  M(SCRATCH, from, u32, "which input each track is", SL_ONE(SL_ITEMS_TERM(inputs)))
SL_ARGUMENTS(consolidate, CONSOLIDATE);

SL_KERNEL(consolidate_count, struct consolidate_args) {
  SL_FOR_EVENTS (event, a.events)
    SL_COUNT_WANTED(i, event, a.inputs.offsets, a.tracks.offsets, a.best.hit_count[i] > 0);
}

/* Tracks have their places; their numbers of hits wait to be summed. */
SL_KERNEL(consolidate_list, struct consolidate_args) {
  SL_FOR_EVENTS (event, a.events)
    SL_FOR_WANTED (from, track, event, a.inputs.offsets, a.tracks.offsets, a.best.hit_count[from] > 0) {
      a.tracks.hit_offsets[track] = a.best.hit_count[from];
      a.from[track] = from;
    }
}

static SL_DEVICE void write_track(const struct consolidate_args *a, uint32_t event, uint32_t track) {
  const uint32_t from = a->from[track], velo_track = a->inputs.velo_track[from];
  const float *constants = a->forward.constants, z_reference = constants[FORWARD_Z_REFERENCE];
  const float d = constants[FORWARD_Z_END] - z_reference;
  const struct forward_state velo = forward_velo_state(&a->states, a->states.offsets[event] + velo_track);
  struct forward_curve curve;
  struct forward_state scifi;
  curve.a = a->best.a[from];
  curve.b = a->best.b[from];
  curve.c = a->best.c[from];
  curve.r = a->best.r[from];
  scifi.x = curve.c;
  scifi.y = a->best.y[from];
  scifi.z = z_reference;
  scifi.tx = curve.b;
  scifi.ty = a->best.ty[from];
  a->tracks.velo_track[track] = velo_track;
  a->tracks.ut_track[track] = a->inputs.ut_track[from];
  a->tracks.qop[track] = forward_qop(&a->forward, &velo, &scifi, a->magnet.sign[0]);
  a->tracks.x[track] = forward_curve_x(&curve, d);
  a->tracks.y[track] = scifi.y + scifi.ty * constants[FORWARD_Z_END];
  a->tracks.tx[track] = forward_curve_slope(&curve, d);
  a->tracks.ty[track] = scifi.ty;
}

/* Four hits, which a GPU loads at once. */
struct four_hits {
  uint16_t of[4];
} __attribute__((aligned(8)));
SL_STATIC_ASSERT(SCIFI_TRACK_HITS_MAX % 4 == 0, "a candidate's hits are whole fours");

/* A track's hits, and their identifiers; behind the last one what stands for none. */
struct track_hits {
  uint32_t count, hit[SCIFI_TRACK_HITS_MAX], id[SCIFI_TRACK_HITS_MAX];
};

/* All of them are read before the first is written, so that loads do not wait for each other. */
static SL_DEVICE struct track_hits read_hits(const struct consolidate_args *a, uint32_t event, uint32_t track) {
  const uint16_t *hits = a->best.hits + SCIFI_TRACK_HITS_MAX * (size_t)a->from[track];
  const struct four_hits *fours = (const struct four_hits *)(const void *)hits;
  const uint32_t event_hits = a->hits.offsets[event];
  struct track_hits t;
  t.count = a->tracks.hit_offsets[track + 1] - a->tracks.hit_offsets[track];
  SL_UNROLL for (uint32_t f = 0; f < SCIFI_TRACK_HITS_MAX / 4; f++) {
    const struct four_hits four = fours[f];
    SL_UNROLL for (uint32_t h = 0; h < 4; h++) t.hit[4 * f + h] = four.of[h];
  }
  SL_UNROLL for (uint32_t h = 0; h < SCIFI_TRACK_HITS_MAX; h++) t.id[h] =
      h < t.count ? a->hits.id[event_hits + t.hit[h]] : 0;
  return t;
}

static SL_DEVICE void write_hits(const struct consolidate_args *a, uint32_t track, const struct track_hits *t) {
  const uint32_t to = a->tracks.hit_offsets[track];
  SL_UNROLL for (uint32_t h = 0; h < SCIFI_TRACK_HITS_MAX; h++) {
    if (h >= t->count) break;
    a->tracks.hit[to + h] = (uint16_t)t->hit[h];
    a->tracks.hit_id[to + h] = t->id[h];
  }
}

SL_KERNEL(consolidate_write, struct consolidate_args) {
  SL_FOR_EVENTS (event, a.events) {
    for (uint32_t i = a.tracks.offsets[event] + threadIdx.x; i < a.tracks.offsets[event + 1]; i += blockDim.x) {
      const struct track_hits hits = read_hits(&a, event, i);
      write_track(&a, event, i);
      write_hits(&a, i, &hits);
    }
  }
}

static int run(const struct sl_launch *l, const struct consolidate_args *a) {
  int error = SL_LAUNCH(l, consolidate_count, SL_PER_EVENT, *a);
  if (!error) error = l->scan(l, a->tracks.offsets, &a->tracks.bound);
  if (!error) error = SL_LAUNCH(l, consolidate_list, SL_PER_EVENT, *a);
  if (!error) error = l->scan_items(l, a->tracks.hit_offsets, a->tracks.offsets, &a->tracks.hit_offsets_bound);
  if (!error) error = SL_LAUNCH(l, consolidate_write, SL_PER_EVENT, *a);
  return error;
}

SL_ALGORITHM(consolidate, "tracks with their hits in the fibre tracker, and their momentum", 128, run);
