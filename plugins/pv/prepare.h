/* prepare.h: selects the tracks of an event for finders of primary vertices: valid states in the z range, sorted by (z,
 * index in the event), with weights instead of variances. Tracks of a vertex are then neighbours, and finders can skip
 * the rest in groups of 32. Private to the plugin.
 *
 * Bucket sort: count tracks in bins of z, scan the counts, copy tracks to their bins in any order, and rank each track
 * in its bin. One block per event (some 250 tracks). Cost: reads 28 bytes per track twice, writes 32, and 12 in
 * between.
 */
#ifndef PV_PREPARE_H
#define PV_PREPARE_H

#include "finder.h"

enum { PV_SORT_BINS = 1024, PV_NO_BIN = PV_SORT_BINS };

/* Bin of a z; ascends with z. */
static SL_DEVICE uint32_t pv_sort_bin(const struct pv_fit *a, float z) {
  const float bin = (z - a->z_min) / (a->z_max - a->z_min) * (float)PV_SORT_BINS;
  const uint32_t inside = sl_to_u32(bin);
  return inside < PV_SORT_BINS ? inside : PV_SORT_BINS - 1;
}

/* Computes the bin of each state; returns the number of invalid states that this thread saw: a number is not finite, or
 * a variance is not positive or so small that derived numbers are not finite. */
static SL_DEVICE uint32_t pv_bin_states(const struct pv_fit *a, uint32_t first, uint32_t count) {
  const float *__restrict__ x = a->beamline_states.x + first, *__restrict__ y = a->beamline_states.y + first;
  const float *__restrict__ z = a->beamline_states.z + first;
  const float *__restrict__ tx = a->beamline_states.tx + first, *__restrict__ ty = a->beamline_states.ty + first;
  const float *__restrict__ c00 = a->beamline_states.c00 + first, *__restrict__ c11 = a->beamline_states.c11 + first;
  uint32_t *__restrict__ bin = a->bin + first;
  uint32_t invalid = 0;
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
    const float wx = 1.0f / c00[i], wy = 1.0f / c11[i];
    const float slopes = tx[i] * tx[i] * wx + ty[i] * ty[i] * wy;
    const uint32_t sound = (sl_is_finite(x[i]) & sl_is_finite(y[i]) & sl_is_finite(z[i]) & sl_is_finite(wx) &
                            sl_is_finite(wy) & sl_is_finite(slopes) & (wx > 0.0f) & (wy > 0.0f))
                               ? 1u
                               : 0u;
    const uint32_t inside = sound & (z[i] >= a->z_min ? 1u : 0u) & (z[i] < a->z_max ? 1u : 0u);
    bin[i] = inside ? pv_sort_bin(a, z[i]) : (uint32_t)PV_NO_BIN;
    invalid += 1u - sound;
  }
  return invalid;
}

/* Replaces the counts of bins by their first indices; returns the sum. */
static SL_DEVICE uint32_t pv_scan_bins(uint32_t *bins) {
  const uint32_t chunk = (PV_SORT_BINS + blockDim.x - 1) / blockDim.x, begin = threadIdx.x * chunk;
  const uint32_t end = begin + chunk < PV_SORT_BINS ? begin + chunk : PV_SORT_BINS;
  uint32_t sum = 0, total;
  for (uint32_t b = begin; b < end; b++) sum += bins[b];
  uint32_t place = sl_block_exclusive_scan(sum, &total);
  for (uint32_t b = begin; b < end; b++) {
    const uint32_t count = bins[b];
    bins[b] = place;
    place += count;
  }
  __syncthreads();
  return total;
}

/* Number of the bin's tracks that precede this track. */
static SL_DEVICE uint32_t pv_rank(const float *__restrict__ z, const uint32_t *__restrict__ place, uint32_t count,
                                  float own_z, uint32_t own_place) {
  uint32_t rank = 0;
  for (uint32_t i = 0; i < count; i++)
    rank += (uint32_t)(z[i] < own_z) | ((uint32_t)(z[i] == own_z) & (uint32_t)(place[i] < own_place));
  return rank;
}

static SL_DEVICE void pv_store_track(const struct pv_fit *a, uint32_t from, size_t to, uint32_t place) {
  a->track_place[to] = place;
  a->track_x[to] = a->beamline_states.x[from];
  a->track_y[to] = a->beamline_states.y[from];
  a->track_z[to] = a->beamline_states.z[from];
  a->track_tx[to] = a->beamline_states.tx[from];
  a->track_ty[to] = a->beamline_states.ty[from];
  a->track_wx[to] = 1.0f / a->beamline_states.c00[from];
  a->track_wy[to] = 1.0f / a->beamline_states.c11[from];
}

/* So far away that it is near nothing, while all numbers stay finite. */
static SL_DEVICE void pv_store_padding(const struct pv_fit *a, size_t to) {
  a->track_place[to] = 0;
  a->track_x[to] = 1e12f;
  a->track_y[to] = 1e12f;
  a->track_z[to] = 0.0f;
  a->track_tx[to] = 0.0f;
  a->track_ty[to] = 0.0f;
  a->track_wx[to] = 1.0f;
  a->track_wy[to] = 1.0f;
}

SL_KERNEL(pv_prepare, struct pv_fit) {
  __shared__ uint32_t bins[PV_SORT_BINS]; /* counts, then first indices, then ends */
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t first = a.beamline_states.offsets[event], count = a.beamline_states.offsets[event + 1] - first;
    const size_t first_track = pv_first_track(&a, event);
    for (uint32_t b = threadIdx.x; b < PV_SORT_BINS; b += blockDim.x) bins[b] = 0;
    const uint32_t invalid = sl_block_sum_u32(pv_bin_states(&a, first, count));
    for (uint32_t i = threadIdx.x; i < count; i += blockDim.x)
      if (a.bin[first + i] != PV_NO_BIN) atomicAdd(&bins[a.bin[first + i]], 1u);
    __syncthreads();
    const uint32_t selected = pv_scan_bins(bins);
    for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
      if (a.bin[first + i] == PV_NO_BIN) continue;
      const uint32_t slot = first + atomicAdd(&bins[a.bin[first + i]], 1u);
      a.binned[slot] = i;
      a.binned_z[slot] = a.beamline_states.z[first + i];
    }
    __syncthreads();
    for (uint32_t k = threadIdx.x; k < selected; k += blockDim.x) {
      const uint32_t place = a.binned[first + k], bin = a.bin[first + place];
      const uint32_t begin = bin > 0 ? bins[bin - 1] : 0;
      const uint32_t rank = pv_rank(a.binned_z + first + begin, a.binned + first + begin, bins[bin] - begin,
                                    a.binned_z[first + k], place);
      pv_store_track(&a, first + place, first_track + begin + rank, place);
    }
    for (uint32_t k = selected + threadIdx.x; k < (selected + 31) / 32 * 32; k += blockDim.x)
      pv_store_padding(&a, first_track + k);
    if (threadIdx.x == 0) {
      a.track_count[event] = selected;
      a.vertices.ignored[event] = invalid;
    }
    __syncthreads(); /* the bins are free for the next event */
  }
}

static int pv_prepare_launch(const struct sl_launch *l, const struct pv_fit *fit) {
  return SL_LAUNCH(l, pv_prepare, SL_PER_EVENT, *fit);
}

#endif
