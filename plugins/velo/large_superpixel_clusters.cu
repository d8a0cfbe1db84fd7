/* large_superpixel_clusters.cu: counts the hits of a track that are large clusters, from super-pixel banks. It may
 * replace velo.large_retina_clusters.
 *   1. Find the clusters of each sensor again (superpixel_clusters.h).
 *   2. For each hit of a track: find its cluster among those of the sensor, by the pixel of the LHCbID. If
 *      several clusters are at this pixel, the largest counts.
 * Parallelism: one block per event; one thread per bank, then one per track.
 * Determinism: the largest of clusters, in any order. Plain version: tests/velo/large_clusters_test.py.
 * Cost per event: that of the clusters in velo.masked_clustering, and 10 clusters per hit.
 */
#include "position.h"
#include "velo/event_model.h"
#include "velo/raw_banks.h"

#include <sluice/kernel.h>

#define HITS_ARGS large_superpixel_clusters_args
#include "banks.h"
#define SL_ARGS large_superpixel_clusters_args
#define LARGE_SUPERPIXEL_CLUSTERS(M)                                                                               \
  M(IN, tracks, velo_tracks, "offsets hit_offsets hit_id", "VELO tracks")                                          \
  M(IN, banks, velo_superpixel_banks, VELO_BANK_FIELDS,                                                            \
    "super-pixel banks that the hits were made from, in any order")                                                \
  M(OUT, large_clusters, velo_large_clusters, "number of large clusters on each track", SL_SHARES_OFFSETS(tracks)) \
  M(U32, min_pixels, 4, 1, 1000000, "", "smallest number of pixels of a large cluster")                            \
  M(SCRATCH, sorted, u32, "super-pixels that have neighbours, sorted", SL_ONE(SL_SUBITEMS_TERM(banks)))            \
  M(SCRATCH, parent, u32, "part with which each part is united; for a cluster: sensor of its pair (0 or 1)",       \
    SL_ONE(SL_SUBITEMS_SCALED(banks, 2, 1, 0)))                                                                    \
  M(SCRATCH, pixels, u32, "number of pixels of each part or cluster", SL_ONE(SL_SUBITEMS_SCALED(banks, 2, 1, 0)))  \
  M(SCRATCH, column_sum, u32, "sum of pixel columns of each part or cluster",                                      \
    SL_ONE(SL_SUBITEMS_SCALED(banks, 2, 1, 0)))                                                                    \
  M(SCRATCH, row_sum, u32, "sum of pixel rows of each part or cluster", SL_ONE(SL_SUBITEMS_SCALED(banks, 2, 1, 0)))
SL_ARGUMENTS(large_superpixel_clusters, LARGE_SUPERPIXEL_CLUSTERS);

#include "superpixel_clusters.h"

/* The clusters of each sensor in the scratch arrays. A bank of version 4 has those of two sensors. */
struct sensor_clusters {
  uint32_t first[VELO_SENSORS], count[VELO_SENSORS], slot[VELO_SENSORS];
};

static SL_DEVICE void set_clusters(struct sensor_clusters *c, uint32_t sensor, const struct velo_bank *bank,
                                   uint32_t count) {
  c->first[sensor] = 2 * bank->first_word;
  c->count[sensor] = count;
  c->slot[sensor] = bank->sensor;
}

/* Called by all threads of the block. The decoder has refused events with an invalid bank, which have no tracks. */
static SL_DEVICE void find_all(const struct large_superpixel_clusters_args *a, uint32_t event,
                               struct sensor_clusters *c) {
  const struct velo_bank_list list = VELO_BANK_LIST(a->banks);
  for (uint32_t sensor = threadIdx.x; sensor < VELO_SENSORS; sensor += blockDim.x) c->count[sensor] = 0;
  __syncthreads();
  for (uint32_t i = a->banks.offsets[event] + threadIdx.x; i < a->banks.offsets[event + 1]; i += blockDim.x) {
    const struct velo_bank bank = velo_bank_open(&list, i);
    uint32_t error = bank.error;
    const uint32_t count = error == 0 ? find_clusters(a, &bank, &error) : 0;
    if (error != 0) continue;
    set_clusters(c, bank.sensor, &bank, count);
    if (bank.version == 4) set_clusters(c, bank.sensor + 1, &bank, count);
  }
  __syncthreads();
}

/* Number of pixels of the cluster at the pixel of this LHCbID; 0 if there is none. */
static SL_DEVICE uint32_t pixels_of_hit(const struct large_superpixel_clusters_args *a, const struct sensor_clusters *c,
                                        uint32_t id) {
  const uint32_t sensor = id >> 18 & 0xFF, column = id >> 8 & 0x3FF, row = id & 0xFF;
  uint32_t most = 0;
  if (sensor >= VELO_SENSORS) return 0;
  for (uint32_t i = c->first[sensor]; i < c->first[sensor] + c->count[sensor]; i++) {
    const uint32_t pixels = a->pixels[i]; /* the pixel of the mean, without divisions */
    const uint32_t is_hit = a->column_sum[i] - column * pixels < pixels && a->row_sum[i] - row * pixels < pixels &&
                            c->slot[sensor] + a->parent[i] == sensor;
    most = is_hit && pixels > most ? pixels : most;
  }
  return most;
}

SL_KERNEL(large_superpixel_clusters, struct large_superpixel_clusters_args) {
  __shared__ struct sensor_clusters clusters;
  SL_FOR_EVENTS (event, a.events) {
    find_all(&a, event, &clusters);
    for (uint32_t t = a.tracks.offsets[event] + threadIdx.x; t < a.tracks.offsets[event + 1]; t += blockDim.x) {
      uint32_t large = 0;
      for (uint32_t h = a.tracks.hit_offsets[t]; h < a.tracks.hit_offsets[t + 1]; h++)
        large += pixels_of_hit(&a, &clusters, a.tracks.hit_id[h]) >= a.min_pixels ? 1u : 0u;
      a.large_clusters.hits[t] = (uint8_t)large;
    }
    __syncthreads(); /* the clusters are free */
  }
}

static int run(const struct sl_launch *l, const struct large_superpixel_clusters_args *a) {
  return SL_LAUNCH(l, large_superpixel_clusters, SL_PER_EVENT, *a);
}

SL_ALGORITHM(large_superpixel_clusters, "number of large clusters on VELO tracks, from super-pixel banks", 128, run);
