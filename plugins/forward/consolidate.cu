/* forward.consolidate: the tracks that were found in the fibre tracker, with their hits, momentum, and state
 * behind it (README.md).
 *
 * There is room for every track with twelve hits, so that nothing overflows. Reads 57 bytes a track, and its state in
 * the VELO; writes 32 a track and 6 a hit.
 */
#include "forward_math.h"
#include "magnet/event_model.h"

#include <sluice/kernel.h>

#define SL_ARGS consolidate_args
#define CONSOLIDATE(M)                                                                                   \
  M(IN, inputs, forward_inputs, "offsets velo_track ut_track", "tracks before the magnet")               \
  M(IN, best, forward_best_candidates, "hit_count hits a b c r y ty", "what was found for each of them") \
  M(IN, hits, scifi_hits, "offsets id", "that were searched")                                            \
  M(IN, end_states, track_states, "offsets x y z tx ty", "of all VELO tracks")                           \
  M(IN, forward, forward_constants, "bend constants", "what the magnet does")                            \
  M(IN, magnet, magnet_polarity, "sign", "which way it points")                                          \
  M(OUT, tracks, long_tracks, "in the order of the inputs", SL_ITEMS(SL_ONE(SL_ITEMS_TERM(inputs))),     \
    SL_SUBITEMS(SL_ONE(SL_ITEMS_SCALED(inputs, SCIFI_TRACK_HITS_MAX, 1, 0))))                            \
  M(SCRATCH, sources, u64, "input item and event of each selected item", SL_ONE(SL_ITEMS_TERM(inputs)))
SL_ARGUMENTS(consolidate, CONSOLIDATE);

static SL_DEVICE uint32_t hit_count(const struct consolidate_args *a, struct sl_item item) {
  const uint32_t count = a->best.hit_count[item.from];
  return count > 0 ? count : SL_NOT_SELECTED;
}

static SL_DEVICE void write_track(const struct consolidate_args *a, struct sl_item item) {
  const uint32_t from = item.from, track = item.to, velo_track = a->inputs.velo_track[from];
  const float *constants = a->forward.constants, z_reference = constants[FORWARD_Z_REFERENCE];
  const float d = constants[FORWARD_Z_END] - z_reference;
  const struct forward_state velo = forward_velo_state(&a->end_states, a->end_states.offsets[item.event] + velo_track);
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

static SL_DEVICE void write_hit(const struct consolidate_args *a, struct sl_item item, uint32_t h, uint32_t to) {
  const uint16_t hit = a->best.hits[SCIFI_TRACK_HITS_MAX * (size_t)item.from + h];
  a->tracks.hit[to] = hit;
  a->tracks.hit_id[to] = a->hits.id[a->hits.offsets[item.event] + hit];
}

SL_SELECT_WITH_SUBITEMS(consolidate, inputs, tracks, tracks.hit_offsets, 16, hit_count, write_track, write_hit)

SL_ALGORITHM(consolidate, "tracks with their hits in the fibre tracker, and their momentum", 128, consolidate_run);
