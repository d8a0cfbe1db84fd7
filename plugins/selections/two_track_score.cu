/* selections.two_track_score: evaluates the two-track network for secondary vertices (README.md, "Two-track network").
 *
 * Parallelism: one thread per vertex; weights in shared memory, units in registers.
 * Cost: reads 16 bytes per vertex and 3 KiB per block; writes 4 bytes per vertex.
 */
#include "network/take.h"
#include "selections/event_model.h"
#include "selections/two_track_network.h"

#include <sluice/kernel.h>

#define SL_ARGS two_track_score_args
#define TWO_TRACK_SCORE(M)                                                                             \
  M(IN, vertices, secondary_vertices, "offsets fd_chi2 sum_pt chi2 min_ip_chi2", "secondary vertices") \
  M(IN, network, network, "", "the two-track network")                                                 \
  M(OUT, scores, vertex_scores, "one response per vertex", SL_SHARES_OFFSETS(vertices))                \
  M(TABLE, weights, f32, "weights of the network")
SL_ARGUMENTS(two_track_score, TWO_TRACK_SCORE);

enum {
  LAYERS = 2,
  WIDTH = 24, /* LHCb's network has 20 units per layer */
  NUMBERS = NETWORK_NUMBERS(TWO_TRACK_INPUT_COUNT, LAYERS, WIDTH)
};

SL_KERNEL(two_track_score_write, struct two_track_score_args) {
  __shared__ float numbers[NUMBERS];
  for (uint32_t i = threadIdx.x; i < NUMBERS; i += blockDim.x) numbers[i] = a.weights[i];
  __syncthreads();
  SL_FOR_ITEMS (i, a.events, a.vertices.offsets) {
    const struct two_track_vertex v = {a.vertices.fd_chi2[i], a.vertices.sum_pt[i], a.vertices.chi2[i],
                                       a.vertices.min_ip_chi2[i]};
    float inputs[TWO_TRACK_INPUT_COUNT];
    two_track_inputs(&v, inputs);
    /* Not finite for example without a primary vertex, where the chi2 values are -1. */
    const float logit = network_logit(numbers, inputs, TWO_TRACK_INPUT_COUNT, LAYERS, WIDTH, NETWORK_GROUP_SORT);
    a.scores.logit[i] = sl_is_finite(logit) ? logit : SELECTIONS_NO_LOGIT;
  }
}

static int prepare(const struct sl_services *s, void *args) {
  static const char *const inputs[] = {TWO_TRACK_INPUTS(NETWORK_INPUT_NAME)};
  const struct network_kind kind = {inputs, TWO_TRACK_INPUT_COUNT, LAYERS, WIDTH, NETWORK_GROUP_SORT, 0};
  return network_take(s, &((struct two_track_score_args *)args)->network, &kind, "weights");
}

static int run(const struct sl_launch *l, const struct two_track_score_args *a) {
  return SL_LAUNCH(l, two_track_score_write, SL_PER_ITEM(a->vertices), *a);
}

SL_ALGORITHM(two_track_score, "log of the odds, by a network, that two tracks come from a heavy-hadron decay", 64, run,
             SL_PREPARE(prepare));
