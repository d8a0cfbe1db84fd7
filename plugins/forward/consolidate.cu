/* forward.consolidate: makes long tracks of the best candidates that are no ghosts, with hits, q/p and the state at the
 * exit of the fibre tracker (README.md).
 *
 * The output has room for every track with twelve hits, so it never overflows. Cost: reads 61 bytes per track and its
 * VELO state; writes 36 per track and 6 per hit.
 */
#include "forward_math.h"
#include "magnet/event_model.h"

#include <sluice/kernel.h>

#define SL_ARGS consolidate_args
#define CONSOLIDATE(M)                                                                                           \
  M(IN, inputs, forward_inputs, "offsets velo_track ut_track", "tracks at the end of the UT")                    \
  M(IN, best, forward_best_candidates, "hit_count hits a b c r y ty", "best candidates of the tracks")           \
  M(IN, hits, scifi_hits, "offsets id", "hits of the fibre tracker")                                             \
  M(IN, end_states, track_states, "offsets x y z tx ty", "states of all VELO tracks at the end of the VELO")     \
  M(IN, forward, forward_constants, "bend constants", "constants of tracks in the magnet and the fibre tracker") \
  M(IN, magnet, magnet_polarity, "sign", "magnet polarity")                                                      \
  M(OPTIONAL_IN, scores, forward_ghost_scores, "ghost", "ghost probabilities; if not connected: 0")              \
  M(OUT, tracks, long_tracks, "long tracks, in the order of `inputs`", SL_ITEMS(SL_ONE(SL_ITEMS_TERM(inputs))),  \
    SL_SUBITEMS(SL_ONE(SL_ITEMS_SCALED(inputs, SCIFI_TRACK_HITS_MAX, 1, 0))))                                    \
  M(F32, max_ghost, 0.45, 0.0, 1.0, "", "largest ghost probability of a track")                                  \
  M(SCRATCH, sources, u64, "input item and event of each selected item", SL_ONE(SL_ITEMS_TERM(inputs)))
SL_ARGUMENTS(consolidate, CONSOLIDATE);

static SL_DEVICE float ghost_of(const struct consolidate_args *a, struct sl_item item) {
  return a->scores.ghost ? a->scores.ghost[item.input_index] : 0.0f;
}

static SL_DEVICE uint32_t hit_count(const struct consolidate_args *a, struct sl_item item) {
  const uint32_t count = a->best.hit_count[item.input_index];
  return count > 0 && ghost_of(a, item) <= a->max_ghost ? count : SL_NOT_SELECTED;
}

static SL_DEVICE void write_track(const struct consolidate_args *a, struct sl_item item) {
  const uint32_t from = item.input_index, track = item.output_index, velo_track = a->inputs.velo_track[from];
  const float *constants = a->forward.constants, d = constants[FORWARD_Z_END] - constants[FORWARD_Z_REFERENCE];
  const struct forward_state velo = forward_velo_state(&a->end_states, a->end_states.offsets[item.event] + velo_track);
  const struct forward_state scifi = forward_scifi_state(&a->best, &a->forward, from);
  struct forward_curve curve;
  curve.a = a->best.a[from];
  curve.b = a->best.b[from];
  curve.c = a->best.c[from];
  curve.r = a->best.r[from];
  a->tracks.velo_track[track] = velo_track;
  a->tracks.ut_track[track] = a->inputs.ut_track[from];
  a->tracks.qop[track] = forward_qop(&a->forward, &velo, &scifi, a->magnet.sign[0]);
  a->tracks.ghost[track] = ghost_of(a, item);
  a->tracks.x[track] = forward_curve_x(&curve, d);
  a->tracks.y[track] = scifi.y + scifi.ty * constants[FORWARD_Z_END];
  a->tracks.tx[track] = forward_curve_slope(&curve, d);
  a->tracks.ty[track] = scifi.ty;
}

static SL_DEVICE void write_hit(const struct consolidate_args *a, struct sl_item item, uint32_t h, uint32_t to) {
  const uint16_t hit = a->best.hits[SCIFI_TRACK_HITS_MAX * (size_t)item.input_index + h];
  a->tracks.hit[to] = hit;
  a->tracks.hit_id[to] = a->hits.id[a->hits.offsets[item.event] + hit];
}

SL_SELECT_WITH_SUBITEMS(consolidate, inputs, tracks, tracks.hit_offsets, 16, hit_count, write_track, write_hit)

SL_ALGORITHM(consolidate, "makes long tracks of the best candidates that are no ghosts", 128, consolidate_run);
