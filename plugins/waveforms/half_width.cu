/* half_width.cu: half width of the fullest peak of the histogram of the values of a waveform (README.md).
 *   1. range   the smallest and the largest value; not a result if a value is not finite
 *   2. count   number of values in each bin; values equal to the largest one are not counted
 *   3. width   the first thread walks from the fullest bin to the right, and from the first bin to the right
 * Determinism: counts are integers, and comparisons are exact. Cost per value: two reads of 8 bytes, a division.
 * Plain version: tests/waveforms/sipm_reference.h. */
#include <sluice/kernel.h>
#include <sluice/math64.h>

#include <waveforms/event_model.h>

enum { BINS_MAX = 1024 };

#define SL_ARGS half_width_args
#define HALF_WIDTH(M)                                                           \
  M(IN, series, waveforms_series64, "value count", "values")                    \
  M(OUT, widths, waveforms_widths, "half width of the values of each waveform") \
  M(U32, bins, 100, 1, BINS_MAX, "", "number of bins from the smallest to the largest value")
SL_ARGUMENTS(half_width, HALF_WIDTH);

struct range {
  double low, high;
  uint32_t is_finite;
};

/* Maps finite values to integers of the same order. */
static SL_DEVICE uint64_t key_of(double x) {
  const uint64_t bits = sl_bits_from_f64(x), sign = (uint64_t)1 << 63;
  return bits & sign ? ~bits : bits | sign;
}
static SL_DEVICE double value_of(uint64_t key) {
  const uint64_t sign = (uint64_t)1 << 63;
  return sl_f64_from_bits(key & sign ? key & ~sign : ~key);
}

/* Range of the values; every thread of the block gets it. */
static SL_DEVICE struct range range_of(const double *v, uint32_t count) {
  const uint32_t tiles = (count + 31) / 32;
  double low[SL_LANES32], high[SL_LANES32];
  uint32_t wrong[SL_LANES32], any = 0;
  uint64_t lowest = UINT64_MAX, highest = UINT64_MAX; /* keys; that of the largest value is inverted */
  SL_FOR_LANES32 (j) {
    low[SL_LANE32(j)] = high[SL_LANE32(j)] = count > 0 ? v[0] : 0.0;
    wrong[SL_LANE32(j)] = 0;
  }
  SL_FOR_GROUPS (tile, tiles, 32) {
    if (tile >= tiles) continue;
    const double *from = v + (size_t)tile * 32;
    SL_FOR_LANES32_BELOW (j, count - tile * 32) {
      const double x = from[j];
      const uint32_t k = SL_LANE32(j);
      wrong[k] |= x - x == 0.0 ? 0u : 1u;
      low[k] = x < low[k] ? x : low[k];
      high[k] = x > high[k] ? x : high[k];
    }
  }
  SL_FOR_LANES32 (j) {
    const uint64_t low_key = key_of(low[SL_LANE32(j)]), high_key = ~key_of(high[SL_LANE32(j)]);
    any |= wrong[SL_LANE32(j)];
    lowest = low_key < lowest ? low_key : lowest;
    highest = high_key < highest ? high_key : highest;
  }
  struct range range;
  range.low = value_of(sl_block_min_u64(lowest)) + 0.0; /* -0 becomes 0 */
  range.high = value_of(~sl_block_min_u64(highest)) + 0.0;
  range.is_finite = count > 0 && sl_block_sum_u32(any) == 0 ? 1u : 0u;
  return range;
}

/* Adds the values to the bins. Rounding may give an index beyond the last bin; such a value is not counted. */
static SL_DEVICE void count_values(const double *v, uint32_t count, const struct range *range, double bin_width,
                                   uint32_t bins, uint32_t *counts) {
  const uint32_t tiles = (count + 31) / 32;
  SL_FOR_GROUPS (tile, tiles, 32) {
    if (tile >= tiles) continue;
    const uint32_t left = count - tile * 32;
    const double *from = v + (size_t)tile * 32;
    int32_t bin[SL_LANES32];
    SL_FOR_LANES32_BELOW (j, left) {
      const double at = (from[j] - range->low) / bin_width;
      bin[SL_LANE32(j)] = (int32_t)(from[j] < range->high && at < bins ? at : bins);
    }
    SL_FOR_LANES32_BELOW (j, left)
      if (bin[SL_LANE32(j)] < (int32_t)bins) atomicAdd(&counts[bin[SL_LANE32(j)]], 1u);
  }
}

/* Writes the result of an event from its histogram. */
static SL_DEVICE void write_width(const struct half_width_args *a, uint32_t event, double low, double bin_width,
                                  const uint32_t *counts) {
  uint32_t fullest = 0, right, left = 0;
  for (uint32_t k = 1; k < a->bins; k++)
    if (counts[k] > counts[fullest]) fullest = k;
  for (right = fullest; right < a->bins; right++)
    if (counts[right] != 0 && 2 * (uint64_t)counts[right] <= counts[fullest]) break;
  while (2 * (uint64_t)counts[left] < counts[fullest]) left++;
  const double edge = low + bin_width * fullest;
  const double to_right = low + bin_width * right - edge, to_left = edge - (low + bin_width * left);
  const uint32_t is_found = right < a->bins ? 1u : 0u;
  a->widths.half_width[event] = !is_found ? 0.0 : to_right > to_left ? to_right : to_left;
  a->widths.position[event] = edge;
  a->widths.valid[event] = is_found | 2u;
}

SL_KERNEL(half_width, struct half_width_args) {
  __shared__ uint32_t counts[BINS_MAX];
  SL_FOR_EVENTS (event, a.events) {
    const double *v = a.series.value + (size_t)event * a.series.length;
    const uint32_t count = a.series.count[event];
    const struct range range = range_of(v, count);
    const double bin_width = (range.high - range.low) / (double)a.bins;
    const uint32_t has_bins = range.is_finite && bin_width > 0.0 && bin_width - bin_width == 0.0;
    for (uint32_t k = threadIdx.x; k < a.bins; k += blockDim.x) counts[k] = 0;
    __syncthreads();
    count_values(v, has_bins ? count : 0, &range, bin_width, a.bins, counts);
    __syncthreads();
    if (threadIdx.x == 0) {
      if (range.is_finite) {
        write_width(&a, event, range.low, has_bins ? bin_width : 0.0, counts);
      } else {
        a.widths.half_width[event] = a.widths.position[event] = 0.0;
        a.widths.valid[event] = 0;
      }
    }
    __syncthreads();
  }
}

static int run(const struct sl_launch *l, const struct half_width_args *a) {
  return SL_LAUNCH(l, half_width, SL_PER_EVENT, *a);
}

SL_ALGORITHM(half_width, "half widths of the values of waveforms", 256, run);
