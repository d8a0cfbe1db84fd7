/* search.cu: finds pulses in the series of all dispersion measures.
 *
 * 1. Each sample gets the pulse that begins there and has the largest signal-to-noise ratio, over all trials and
 * widths.
 * 2. Samples with a ratio above the threshold that follow each other are one pulse; its best sample is its begin. Ties:
 *    the first sample, the shorter width, the smaller dispersion measure.
 */
#include <sluice/kernel.h>

#include <bursts/event_model.h>

#define SL_ARGS search_args
#define SEARCH(M)                                                                                             \
  M(IN, series, bursts_series, "", "one for each dispersion measure")                                         \
  M(F32, threshold, 8.0, 1.0, 1e6, "", "smallest signal-to-noise ratio of a pulse")                           \
  M(OUT, pulses, bursts_pulses, "in order of time", SL_ITEMS(SL_ONE(SL_BUDGET_TERM(pulses_per_block, 1024)))) \
  M(BUDGET, pulses_per_block, 16, 0, 65536, "pulses of a block")                                              \
  M(SCRATCH, snr, f32, "largest ratio of each sample",                                                        \
    SL_PRODUCT(SL_EVENTS_TERM(1, 0), SL_DIMENSION_TERM(series, times)))                                       \
  M(SCRATCH, best, u32, "trial * BURSTS_WIDTHS + index of the width",                                         \
    SL_PRODUCT(SL_EVENTS_TERM(1, 0), SL_DIMENSION_TERM(series, times)))
SL_ARGUMENTS(search, SEARCH);

static SL_DEVICE uint32_t times_of(const struct search_args *a) { return a->series.times - BURSTS_WIDEST; }

/* The best pulse that begins at sample t of a block. */
static SL_DEVICE void find_best(const struct search_args *a, uint32_t event, uint32_t t) {
  const size_t at = (size_t)event * a->series.times + t;
  float best = 0;
  uint32_t which = 0;
  for (uint32_t trial = 0; trial < a->series.trials; trial++) {
    const size_t row = (size_t)event * a->series.trials + trial;
    const int32_t *sums = a->series.sum + row * a->series.times + t;
    const float mean = a->series.mean[row], deviation = a->series.deviation[row];
    int32_t sum = 0;
    for (uint32_t k = 0; k < BURSTS_WIDTHS; k++) {
      const uint32_t width = 1u << k;
      for (uint32_t i = width / 2; i < width; i++) sum += sums[i]; /* the samples that the width before had not */
      const float snr = deviation > 0 ? ((float)sum - (float)width * mean) / (deviation * sqrtf((float)width)) : 0;
      if (snr > best) {
        best = snr;
        which = trial * BURSTS_WIDTHS + k;
      }
    }
  }
  a->snr[at] = best;
  a->best[at] = which;
}

static SL_DEVICE uint32_t is_above(const struct search_args *a, uint32_t event, uint32_t t) {
  return a->snr[(size_t)event * a->series.times + t] >= a->threshold;
}

static SL_DEVICE uint32_t begins(const struct search_args *a, uint32_t event, uint32_t t) {
  return is_above(a, event, t) && (t == 0 || !is_above(a, event, t - 1));
}

SL_KERNEL(search_count, struct search_args) {
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t times = times_of(&a);
    uint32_t count = 0; /* of this thread */
    for (uint32_t t = threadIdx.x; t < times; t += blockDim.x) find_best(&a, event, t);
    __syncthreads();
    for (uint32_t t = threadIdx.x; t < times; t += blockDim.x) count += begins(&a, event, t);
    count = sl_block_sum_u32(count);
    if (threadIdx.x == 0) a.pulses.offsets[event] = count;
  }
}

SL_KERNEL(search_write, struct search_args) {
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t to = a.pulses.offsets[event], times = times_of(&a);
    const uint32_t count = a.pulses.offsets[event + 1] > to ? times : 0; /* the scan leaves no room if not all fit */
    uint32_t found = 0;
    SL_FOR_BLOCK (t, count) {
      const uint32_t is_begin = t < count && begins(&a, event, t);
      const uint32_t item = to + sl_block_append(is_begin, &found);
      if (!is_begin) continue;
      size_t best = (size_t)event * a.series.times + t;
      for (size_t i = best; i < (size_t)event * a.series.times + times && a.snr[i] >= a.threshold; i++)
        if (a.snr[i] > a.snr[best]) best = i;
      a.pulses.time[item] = (uint32_t)(best - (size_t)event * a.series.times);
      a.pulses.trial[item] = a.best[best] / BURSTS_WIDTHS;
      a.pulses.width[item] = 1u << a.best[best] % BURSTS_WIDTHS;
      a.pulses.snr[item] = a.snr[best];
    }
  }
}

static int run(const struct sl_launch *l, const struct search_args *a) {
  return SL_COUNT_SCAN_WRITE(l, search_count, search_write, a->pulses, *a);
}
SL_ALGORITHM(search, "pulses above the noise", 256, run);
