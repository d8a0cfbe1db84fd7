/* hit_radius.cu: distance of each VELO hit from the z axis, and how many hits of an event are near it.
 *
 * Work: one block an event, one thread a hit; reads x and y of the hits, writes as many radii. Each radius is a
 * function of its hit alone and the count is an integer sum, so that the order of threads does not matter.
 */
#include <sluice/kernel.h>

#include <radius/radii.h>
#include <velo/event_model.h>

#define SL_ARGS hit_radius_args
#define HIT_RADIUS(M)                                                      \
  M(IN, hits, velo_hits, "offsets x y", "in any order")                    \
  M(OUT, radii, radius_radii, "one for each hit", SL_SHARES_OFFSETS(hits)) \
  M(F32, near_beam, 10.0, 0.0, 50.0, "mm", "hits nearer than this are counted")
SL_ARGUMENTS(hit_radius, HIT_RADIUS);

SL_KERNEL(hit_radius, struct hit_radius_args) {
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t first = a.hits.offsets[event], end = a.hits.offsets[event + 1];
    uint32_t near_count = 0; /* of this thread */
    for (uint32_t i = first + threadIdx.x; i < end; i += blockDim.x) {
      const float r = sqrtf(a.hits.x[i] * a.hits.x[i] + a.hits.y[i] * a.hits.y[i]);
      a.radii.r[i] = r;
      if (r < a.near_beam) near_count++;
    }
    near_count = sl_block_sum_u32(near_count);
    if (threadIdx.x == 0) a.radii.near_count[event] = near_count;
  }
}

static int run(const struct sl_launch *l, const struct hit_radius_args *a) {
  return SL_LAUNCH(l, hit_radius, SL_PER_EVENT, *a);
}

SL_ALGORITHM(hit_radius, "distance of VELO hits from the z axis", 64, run);
