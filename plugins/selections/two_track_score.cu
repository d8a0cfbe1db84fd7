/* selections.two_track_score: evaluates the two-track network for secondary vertices (README.md, "Two-track network").
 *
 * Parallelism: one thread per vertex; weights in shared memory, units in registers.
 * Cost: reads 16 bytes per vertex and 2 KiB per block; writes 4 bytes per vertex.
 */
#include "selections/two_track_network.h"

#include <sluice/kernel.h>

#define SL_ARGS two_track_score_args
#define TWO_TRACK_SCORE(M)                                                                             \
  M(IN, vertices, secondary_vertices, "offsets fd_chi2 sum_pt chi2 min_ip_chi2", "secondary vertices") \
  M(IN, network, two_track_network, "", "weights of the network")                                      \
  M(OUT, scores, vertex_scores, "one response per vertex", SL_SHARES_OFFSETS(vertices))
SL_ARGUMENTS(two_track_score, TWO_TRACK_SCORE);

SL_KERNEL(two_track_score_write, struct two_track_score_args) {
  __shared__ float numbers[TWO_TRACK_NUMBERS];
  for (uint32_t i = threadIdx.x; i < TWO_TRACK_NUMBERS; i += blockDim.x) numbers[i] = a.network.numbers[i];
  __syncthreads();
  SL_FOR_ITEMS (i, a.events, a.vertices.offsets) {
    const struct two_track_vertex v = {a.vertices.fd_chi2[i], a.vertices.sum_pt[i], a.vertices.chi2[i],
                                       a.vertices.min_ip_chi2[i]};
    a.scores.logit[i] = two_track_logit(numbers, &v);
  }
}

static int run(const struct sl_launch *l, const struct two_track_score_args *a) {
  return SL_LAUNCH(l, two_track_score_write, SL_PER_ITEM(a->vertices), *a);
}

SL_ALGORITHM(two_track_score, "log of the odds, by a network, that two tracks come from a heavy-hadron decay", 64, run);
