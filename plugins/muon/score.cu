/* muon.score: chi2 of the hits of muons, and the probability of the muon network (README.md, "Chi2" and "The network").
 *   1. Take the closest hits that muon.is_muon found.
 *   2. Compute chi2 with and without correlated multiple scattering, and the straight line through the hits.
 *   3. Evaluate the network. Without a network all tracks have score 1.
 * Tracks that are not muons, and tracks with inputs that are not finite, have fixed values: the network does not run.
 * Parallelism: one thread per track. Determinism: sums in one order (score_network.h).
 * Cost: reads 1 byte per track, for muons 120 more and 4.8 kB of weights; writes 12 bytes per track.
 */
#include "muon/score_network.h"
#include "network/take.h"

#include <sluice/kernel.h>

#define SL_ARGS score_args
#define SCORE(M)                                                                                                \
  M(IN, tracks, long_tracks, "offsets velo_track qop x y tx ty", "long tracks")                                 \
  M(IN, hits, muon_hits, "offsets x y z half_x half_y", "muon hits to which the flags refer")                   \
  M(IN, flags, muon_flags, "is_muon hits", "muon identification of the tracks, with their hits")                \
  M(IN, end_states, track_states, "offsets ty", "states of all VELO tracks at the end of the VELO")             \
  M(OPTIONAL_IN, network, network, "", "network that gives the probability of a muon; if not connected: all 1") \
  M(OUT, scores, muon_scores, "chi2 and score of each track", SL_SHARES_OFFSETS(tracks))                        \
  M(COMPUTED, has_network, uint32_t, "1 if there is a network")                                                 \
  M(TABLE, weights, f32, "weights of the network")
SL_ARGUMENTS(score, SCORE);

enum { LAYERS = 5, WIDTH = 16 /* units per layer, at most */ };

static SL_DEVICE uint32_t inputs_of(const struct score_args *a, uint32_t event, uint32_t track, float *inputs) {
  const struct muon_score_track t = muon_score_track_at(&a->tracks, &a->hits, &a->flags, &a->end_states, event, track);
  return muon_score_inputs(&t, inputs);
}

SL_KERNEL(score_write, struct score_args) {
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t end = a.tracks.offsets[event + 1];
    for (uint32_t i = a.tracks.offsets[event] + threadIdx.x; i < end; i += blockDim.x) {
      float inputs[MUON_SCORE_INPUT_COUNT];
      const uint32_t has_inputs = a.flags.is_muon[i] && inputs_of(&a, event, i, inputs);
      float score = a.has_network ? 0.0f : 1.0f;
      if (a.has_network && has_inputs)
        score = network_score(a.weights, inputs, MUON_SCORE_INPUT_COUNT, LAYERS, WIDTH, NETWORK_GROUP_SORT);
      a.scores.chi2_correlated[i] = has_inputs ? inputs[MUON_SCORE_INPUT_log_chi2_correlated] : MUON_NO_CHI2;
      a.scores.chi2_uncorrelated[i] = has_inputs ? inputs[MUON_SCORE_INPUT_log_chi2_uncorrelated] : MUON_NO_CHI2;
      a.scores.score[i] = score;
    }
  }
}

static int prepare(const struct sl_services *s, void *args) {
  static const char *const inputs[] = {MUON_SCORE_INPUTS(NETWORK_INPUT_NAME)};
  const struct network_kind kind = {inputs, MUON_SCORE_INPUT_COUNT, LAYERS, WIDTH, NETWORK_GROUP_SORT, 1};
  struct score_args *a = (struct score_args *)args;
  a->has_network = network_is_present(&a->network);
  return network_take(s, &a->network, &kind, "weights");
}

static int run(const struct sl_launch *l, const struct score_args *a) {
  return SL_LAUNCH(l, score_write, SL_PER_EVENT, *a);
}

SL_ALGORITHM(score, "compatibility of muon hits with long tracks: chi2, and probability of a muon by a network", 128,
             run, SL_PREPARE(prepare));
