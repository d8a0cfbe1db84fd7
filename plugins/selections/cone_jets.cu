/* selections.cone_jets: jets of long tracks and neutral clusters in cones around the tracks of largest pt (README.md,
 * "Jets").
 *   1. cone_jets_find, one block per event: builds the jets one after the other, and counts them.
 *   2. A scan gives the offsets of the events.
 *   3. cone_jets_write: copies the jets.
 * Determinism: all sums are sums of integers. A particle or cluster is always handled by the same thread.
 * Cost: reads 28 bytes per particle and 12 per cluster and jet; writes 28 bytes per jet.
 */
#include "calo/event_model.h"
#include "selections/event_model.h"

#include <sluice/kernel.h>

enum { JETS_MAX = 4, JET_NUMBERS = 3, JET_COUNTS = 3 };

#define SL_ARGS cone_jets_args
#define CONE_JETS(M)                                                                                                   \
  M(IN, particles, particles, "offsets vertex tx ty pt eta", "long tracks")                                            \
  M(IN, clusters, calo_neutral_clusters, "offsets et x y", "neutral clusters")                                         \
  M(OUT, jets, jets, "jets by the pt of their first track, descending", SL_ITEMS(SL_ONE(SL_EVENTS_TERM(JETS_MAX, 0)))) \
  M(SCRATCH, particle_taken, u8, "1: the particle is in a jet", SL_ONE(SL_ITEMS_TERM(particles)))                      \
  M(SCRATCH, cluster_taken, u8, "1: the cluster is in a jet", SL_ONE(SL_ITEMS_TERM(clusters)))                         \
  M(SCRATCH, numbers, f32, "pt, eta, phi of the jets of an event", SL_ONE(SL_EVENTS_TERM(JETS_MAX *JET_NUMBERS, 0)))   \
  M(SCRATCH, counts, u32, "first track, tracks, clusters of the jets of an event",                                     \
    SL_ONE(SL_EVENTS_TERM(JETS_MAX *JET_COUNTS, 0)))                                                                   \
  M(F32, radius, 0.5, 0.0, 10.0, "", "maximum distance of a track or cluster from the first track in eta and phi")     \
  M(U32, max_jets, 4, 1, JETS_MAX, "", "maximum number of jets in an event")                                           \
  M(BOOL, with_first_track, 1, "pt, eta and phi of a jet include its first track")                                     \
  M(F32, z, 12650.0, 1.0, 1e6, "mm", "z of the clusters")
SL_ARGUMENTS(cone_jets, CONE_JETS);

/* Units of the sums, in MeV: of pt, of pt times eta, and of pt times an angle. */
static const float pt_unit = 0.1f, eta_unit = 0.1f, phi_unit = 0.01f;
static const float pi = 3.14159265f;
static const float most_pt = 1e10f; /* MeV: of a track or cluster in the sums, which have 64 bits */

/* The parts of a jet, of one thread or of the block. */
struct jet_sums {
  int64_t pt, eta, phi;
  uint32_t particles, clusters;
};

/* Direction of the first track. */
struct jet_axis {
  uint32_t first, vertex; /* indices in the event */
  float tx, ty, eta;
};

static SL_DEVICE void add_to_jet(struct jet_sums *sums, float pt, float eta, float dphi) {
  const float limited = sl_min_f32(pt, most_pt);
  sums->pt += (int64_t)(limited / pt_unit);
  sums->eta += (int64_t)(limited * eta / eta_unit);
  sums->phi += (int64_t)(limited * dphi / phi_unit);
}

/* Azimuth of (x, y) relative to the axis, from -pi to pi. */
static SL_DEVICE float dphi_from(const struct jet_axis *axis, float x, float y) {
  return sl_atan2f(axis->tx * y - axis->ty * x, axis->tx * x + axis->ty * y);
}

static SL_DEVICE uint32_t is_near(const struct cone_jets_args *a, const struct jet_axis *axis, float eta, float dphi) {
  const float deta = eta - axis->eta;
  return deta * deta + dphi * dphi < a->radius * a->radius ? 1u : 0u;
}

/* The free particle of largest pt, the first one of equal ones. Returns 0 if there is none. */
static SL_DEVICE uint32_t axis_of(const struct cone_jets_args *a, uint32_t event, struct jet_axis *axis) {
  const uint32_t begin = a->particles.offsets[event], count = a->particles.offsets[event + 1] - begin;
  uint64_t least = UINT64_MAX;
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
    const uint64_t key = (uint64_t)~sl_bits_from_f32(a->particles.pt[begin + i]) << 32 | i;
    if (!a->particle_taken[begin + i] && key < least) least = key;
  }
  least = sl_block_min_u64(least);
  if (least == UINT64_MAX) return 0;
  axis->first = (uint32_t)least;
  axis->vertex = a->particles.vertex[begin + axis->first];
  axis->tx = a->particles.tx[begin + axis->first];
  axis->ty = a->particles.ty[begin + axis->first];
  axis->eta = a->particles.eta[begin + axis->first];
  return 1;
}

/* Takes the free particles of the primary vertex of the first track, or without one if it has none. */
static SL_DEVICE void take_particles(const struct cone_jets_args *a, uint32_t event, const struct jet_axis *axis,
                                     struct jet_sums *sums) {
  const uint32_t begin = a->particles.offsets[event], end = a->particles.offsets[event + 1];
  for (uint32_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
    const uint32_t is_first = i - begin == axis->first ? 1u : 0u;
    if (a->particle_taken[i] || a->particles.vertex[i] != axis->vertex) continue;
    const float dphi = is_first ? 0.0f : dphi_from(axis, a->particles.tx[i], a->particles.ty[i]);
    if (!is_first && !is_near(a, axis, a->particles.eta[i], dphi)) continue;
    a->particle_taken[i] = 1;
    sums->particles++;
    if (!is_first || a->with_first_track) add_to_jet(sums, a->particles.pt[i], a->particles.eta[i], dphi);
  }
}

/* The clusters are seen from the origin. */
static SL_DEVICE void take_clusters(const struct cone_jets_args *a, uint32_t event, const struct jet_axis *axis,
                                    struct jet_sums *sums) {
  for (uint32_t i = a->clusters.offsets[event] + threadIdx.x; i < a->clusters.offsets[event + 1]; i += blockDim.x) {
    const float x = a->clusters.x[i], y = a->clusters.y[i], rho2 = x * x + y * y;
    if (a->cluster_taken[i] || !(rho2 > 0.0f)) continue;
    const float eta = sl_logf((sqrtf(rho2 + a->z * a->z) + a->z) / sqrtf(rho2)), dphi = dphi_from(axis, x, y);
    if (!is_near(a, axis, eta, dphi)) continue;
    a->cluster_taken[i] = 1;
    sums->clusters++;
    add_to_jet(sums, a->clusters.et[i], eta, dphi);
  }
}

static SL_DEVICE void note_jet(const struct cone_jets_args *a, uint32_t event, uint32_t jet,
                               const struct jet_axis *axis, const struct jet_sums *sums) {
  float *numbers = a->numbers + JET_NUMBERS * ((size_t)JETS_MAX * event + jet);
  uint32_t *counts = a->counts + JET_COUNTS * ((size_t)JETS_MAX * event + jet);
  const float pt = (float)sums->pt * pt_unit, by_pt = pt > 0.0f ? 1.0f / pt : 0.0f;
  const float phi = sl_atan2f(axis->ty, axis->tx) + (float)sums->phi * phi_unit * by_pt;
  numbers[0] = pt;
  numbers[1] = pt > 0.0f ? (float)sums->eta * eta_unit * by_pt : axis->eta;
  numbers[2] = phi > pi ? phi - 2.0f * pi : phi < -pi ? phi + 2.0f * pi : phi;
  counts[0] = axis->first;
  counts[1] = sums->particles;
  counts[2] = sums->clusters;
}

SL_KERNEL(cone_jets_find, struct cone_jets_args) {
  SL_FOR_EVENTS (event, a.events) {
    struct jet_axis axis;
    uint32_t jet = 0;
    for (uint32_t i = a.particles.offsets[event] + threadIdx.x; i < a.particles.offsets[event + 1]; i += blockDim.x)
      a.particle_taken[i] = 0;
    for (uint32_t i = a.clusters.offsets[event] + threadIdx.x; i < a.clusters.offsets[event + 1]; i += blockDim.x)
      a.cluster_taken[i] = 0;
    for (; jet < a.max_jets && axis_of(&a, event, &axis); jet++) {
      struct jet_sums sums = {0, 0, 0, 0, 0};
      take_particles(&a, event, &axis, &sums);
      take_clusters(&a, event, &axis, &sums);
      sums.pt = sl_block_sum_i64(sums.pt);
      sums.eta = sl_block_sum_i64(sums.eta);
      sums.phi = sl_block_sum_i64(sums.phi);
      sums.particles = sl_block_sum_u32(sums.particles);
      sums.clusters = sl_block_sum_u32(sums.clusters);
      if (threadIdx.x == 0) note_jet(&a, event, jet, &axis, &sums);
    }
    if (threadIdx.x == 0) a.jets.offsets[event] = jet;
  }
}

SL_KERNEL(cone_jets_write, struct cone_jets_args) {
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t begin = a.jets.offsets[event], count = a.jets.offsets[event + 1] - begin;
    for (uint32_t j = threadIdx.x; j < count; j += blockDim.x) {
      const float *numbers = a.numbers + JET_NUMBERS * ((size_t)JETS_MAX * event + j);
      const uint32_t *counts = a.counts + JET_COUNTS * ((size_t)JETS_MAX * event + j);
      a.jets.pt[begin + j] = numbers[0];
      a.jets.eta[begin + j] = numbers[1];
      a.jets.phi[begin + j] = numbers[2];
      a.jets.first[begin + j] = counts[0];
      a.jets.particles[begin + j] = counts[1];
      a.jets.clusters[begin + j] = counts[2];
    }
  }
}

static int run(const struct sl_launch *l, const struct cone_jets_args *a) {
  return SL_COUNT_SCAN_WRITE(l, cone_jets_find, cone_jets_write, a->jets, *a);
}

SL_ALGORITHM(cone_jets, "jets of long tracks and neutral clusters in cones", 64, run);
