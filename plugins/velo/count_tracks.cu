/* count_tracks.cu: counts tracks, hits on tracks and backward tracks of each event, for monitoring without copying the
 * tracks from the device.
 * Cost: reads 1 byte per track. Determinism: integer sums.
 */
#include <sluice/kernel.h>

#include <velo/event_model.h>

#define SL_ARGS count_tracks_args
#define COUNT_TRACKS(M)                                                                     \
  M(IN, tracks, velo_tracks, "offsets hit_offsets", "VELO tracks")                          \
  M(IN, beamline_states, track_states, "backward", "states of the tracks at the beam line") \
  M(OUT, counts, velo_counts, "numbers of tracks and hits per event")
SL_ARGUMENTS(count_tracks, COUNT_TRACKS);

SL_KERNEL(count_tracks, struct count_tracks_args) {
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t first = a.tracks.offsets[event], last = a.tracks.offsets[event + 1];
    uint32_t backward = 0;
    for (uint32_t t = first + threadIdx.x; t < last; t += blockDim.x) backward += a.beamline_states.backward[t];
    backward = sl_block_sum_u32(backward);
    if (threadIdx.x == 0) {
      a.counts.tracks[event] = last - first;
      a.counts.hits[event] = a.tracks.hit_offsets[last] - a.tracks.hit_offsets[first];
      a.counts.backward[event] = backward;
    }
  }
}

static int run(const struct sl_launch *l, const struct count_tracks_args *a) {
  return SL_LAUNCH(l, count_tracks, SL_PER_EVENT, *a);
}

SL_ALGORITHM(count_tracks, "numbers of VELO tracks and hits per event", 32, run);
