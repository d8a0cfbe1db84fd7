/* forward.ghost_scores: gives each track the probability that it is a ghost, by a network (README.md, "Ghosts").
 *   1. Mark the hits of all best candidates, as bits in shared memory: hits on one track, and hits on more than one.
 *   2. For each track, count its hits on more than one track, and evaluate the network. One thread per track.
 * Determinism: the marks do not depend on the order of threads.
 * Cost: reads 62 bytes per track and its VELO state, 61 coefficients of q/p and the weights; writes 5 per track.
 */
#include "forward/ghost_network.h"
#include "forward_math.h"
#include "hit_bits.h"
#include "magnet/event_model.h"
#include "network/take.h"

enum { NETWORK_LAYER_COUNT = 1, NETWORK_WIDTH = 32 };

#define SL_ARGS ghost_scores_args
#define GHOST_SCORES(M)                                                                                          \
  M(IN, inputs, forward_inputs, "offsets velo_track qop", "tracks at the end of the UT")                         \
  M(IN, best, forward_best_candidates, "hit_count hits a b c y ty quality", "best candidates of the tracks")     \
  M(IN, hits, scifi_hits, "offsets", "hits of the fibre tracker")                                                \
  M(IN, end_states, track_states, "offsets x y z tx ty", "states of all VELO tracks at the end of the VELO")     \
  M(IN, forward, forward_constants, "bend constants", "constants of tracks in the magnet and the fibre tracker") \
  M(IN, magnet, magnet_polarity, "sign", "magnet polarity")                                                      \
  M(IN, network, network, "", "network that recognises ghosts; `none`: all probabilities are 0")                 \
  M(OUT, scores, forward_ghost_scores, "ghost probability of each track", SL_SHARES_OFFSETS(inputs))             \
  M(COMPUTED, has_network, uint32_t, "1 if there is a network")                                                  \
  M(TABLE, weights, f32, "weights of the network")
SL_ARGUMENTS(ghost_scores, GHOST_SCORES);

/* Hits of the event that are on a track, and those on more than one. */
struct marks {
  uint32_t once[HIT_WORDS], again[HIT_WORDS];
};

/* Marks the hits of the event's tracks. Ends with a barrier. */
static SL_DEVICE void mark_hits(const struct ghost_scores_args *a, uint32_t event, struct marks *marks) {
  const uint32_t words = hit_words(a->hits.offsets, event);
  for (uint32_t w = threadIdx.x; w < words; w += blockDim.x) marks->once[w] = marks->again[w] = 0;
  __syncthreads();
  for (uint32_t i = a->inputs.offsets[event] + threadIdx.x; i < a->inputs.offsets[event + 1]; i += blockDim.x) {
    const uint32_t count = a->best.hit_count[i];
    for (uint32_t k = 0; k < count; k++) {
      const uint32_t hit = a->best.hits[SCIFI_TRACK_HITS_MAX * (size_t)i + k];
      if (hit_bits_add(marks->once, hit)) hit_bits_add(marks->again, hit);
    }
  }
  __syncthreads();
}

static SL_DEVICE uint32_t shared_hits_of(const struct ghost_scores_args *a, uint32_t item, const struct marks *marks) {
  uint32_t shared = 0;
  for (uint32_t k = 0; k < a->best.hit_count[item]; k++)
    shared += hit_bits_have(marks->again, a->best.hits[SCIFI_TRACK_HITS_MAX * (size_t)item + k]);
  return shared;
}

/* Ghost probability of a track; 1 if an input of the network is not finite. */
static SL_DEVICE float ghost_of(const struct ghost_scores_args *a, uint32_t event, uint32_t item,
                                uint32_t shared_hits) {
  const struct forward_state velo =
      forward_velo_state(&a->end_states, a->end_states.offsets[event] + a->inputs.velo_track[item]);
  struct forward_ghost_track track = forward_ghost_track_of(&a->inputs, &a->best, &a->forward, &velo, item);
  float inputs[FORWARD_GHOST_INPUT_COUNT];
  track.qop = forward_qop(&a->forward, &velo, &track.scifi, a->magnet.sign[0]);
  track.shared_hits = shared_hits;
  track.event_hits = a->hits.offsets[event + 1] - a->hits.offsets[event];
  forward_ghost_inputs(&track, inputs);
  if (!network_are_finite(inputs, FORWARD_GHOST_INPUT_COUNT)) return 1.0f;
  return network_score(a->weights, inputs, FORWARD_GHOST_INPUT_COUNT, NETWORK_LAYER_COUNT, NETWORK_WIDTH, NETWORK_RELU);
}

SL_KERNEL(ghost_scores_write, struct ghost_scores_args) {
  __shared__ struct marks marks;
  SL_FOR_EVENTS (event, a.events) {
    mark_hits(&a, event, &marks);
    for (uint32_t i = a.inputs.offsets[event] + threadIdx.x; i < a.inputs.offsets[event + 1]; i += blockDim.x) {
      const uint32_t shared = shared_hits_of(&a, i, &marks), is_track = a.best.hit_count[i] > 0;
      a.scores.shared_hits[i] = (uint8_t)shared;
      a.scores.ghost[i] = is_track && a.has_network ? ghost_of(&a, event, i, shared) : 0.0f;
    }
    __syncthreads(); /* the marks are free */
  }
}

static int prepare(const struct sl_services *s, void *args) {
  static const char *const inputs[] = {FORWARD_GHOST_INPUTS(NETWORK_INPUT_NAME)};
  const struct network_kind kind = {inputs, FORWARD_GHOST_INPUT_COUNT, NETWORK_LAYER_COUNT, NETWORK_WIDTH, NETWORK_RELU,
                                    1};
  struct ghost_scores_args *a = (struct ghost_scores_args *)args;
  a->has_network = network_is_present(&a->network);
  return network_take(s, &a->network, &kind, "weights");
}

static int run(const struct sl_launch *l, const struct ghost_scores_args *a) {
  return SL_LAUNCH(l, ghost_scores_write, SL_PER_EVENT, *a);
}

SL_ALGORITHM(ghost_scores, "gives each track the probability that it is a ghost", 128, run, SL_PREPARE(prepare));
