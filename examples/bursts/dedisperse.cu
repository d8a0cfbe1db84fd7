/* dedisperse.cu: sums the channels of each sample, each with its delay, for all dispersion measures; then the mean and
 * the standard deviation of each trial, which are exact sums of integers until the last step.
 * A group of 32 threads takes 32 neighbouring samples of a trial. Cost per block: trials * times * channels additions.
 */
#include <sluice/kernel.h>

#include <bursts/event_model.h>

#define SL_ARGS dedisperse_args
#define DEDISPERSE(M)                                                                 \
  M(IN, block, bursts_blocks, "", "power samples")                                    \
  M(IN, delays, bursts_delays, "", "delays of all channels")                          \
  M(U32, trials, 64, 1, 65536, "", "number of dispersion measures")                   \
  M(U32, times, 368, 1, 16777216, "", "samples of a block at which pulses can begin") \
  M(OUT, series, bursts_series, "one for each dispersion measure",                    \
    SL_DIMENSIONS(SL_PROPERTY_TERM(trials, 0), SL_PROPERTY_TERM(times, BURSTS_WIDEST)))
SL_ARGUMENTS(dedisperse, DEDISPERSE);

SL_KERNEL(dedisperse_sum, struct dedisperse_args) {
  const uint32_t channels = a.block.channels, times = a.series.times, tiles = (times + 31) / 32;
  SL_FOR_EVENTS (event, a.events) {
    const uint8_t *power = a.block.power + (size_t)event * channels * a.block.samples;
    SL_FOR_GROUPS (tile, a.series.trials * tiles, 32) {
      if (tile >= a.series.trials * tiles) continue;
      const uint32_t trial = tile / tiles, first = tile % tiles * 32;
      const uint32_t *delay = a.delays.delay + (size_t)trial * channels;
      int32_t *to = a.series.sum + ((size_t)event * a.series.trials + trial) * times + first;
      int32_t sum[SL_LANES32] = {0};
      for (uint32_t c = 0; c < channels; c++) {
        const uint8_t *row = power + (size_t)c * a.block.samples + delay[c] + first;
        SL_FOR_LANES32_BELOW (j, times - first) sum[SL_LANE32(j)] += row[j];
      }
      SL_FOR_LANES32_BELOW (j, times - first) to[j] = sum[SL_LANE32(j)];
    }
  }
}

SL_KERNEL(dedisperse_measure, struct dedisperse_args) {
  const uint32_t times = a.series.times;
  SL_FOR_EVENTS (event, a.events) {
    for (uint32_t trial = 0; trial < a.series.trials; trial++) {
      const size_t at = (size_t)event * a.series.trials + trial;
      int64_t sum = 0, squares = 0; /* of this thread */
      for (uint32_t t = threadIdx.x; t < times; t += blockDim.x) {
        const int64_t value = a.series.sum[at * times + t];
        sum += value;
        squares += value * value;
      }
      sum = sl_block_sum_i64(sum);
      squares = sl_block_sum_i64(squares);
      if (threadIdx.x == 0) {
        const double mean = (double)sum / times, variance = (double)squares / times - mean * mean;
        a.series.mean[at] = (float)mean;
        a.series.deviation[at] = sqrtf((float)(variance > 0 ? variance : 0));
      }
    }
  }
}

static int run(const struct sl_launch *l, const struct dedisperse_args *a) {
  const int status = SL_LAUNCH(l, dedisperse_sum, SL_PER_EVENT, *a);
  return status < 0 ? status : SL_LAUNCH(l, dedisperse_measure, SL_PER_EVENT, *a);
}

/* The last delayed sample must be in the block. */
static int prepare(const struct sl_services *s, void *args) {
  const struct dedisperse_args *a = (const struct dedisperse_args *)args;
  const uint64_t needed = (uint64_t)a->times + BURSTS_WIDEST + *a->delays.longest;
  if (s->array_count(s->context, "delays", "measure") != a->trials ||
      s->array_count(s->context, "delays", "delay") != (uint64_t)a->trials * a->block.channels) {
    s->message(s->context, SL_ERROR, "trials: the delays are those of other numbers of trials or channels");
    return SL_EINVAL;
  }
  if (needed <= a->block.samples) return SL_OK;
  s->message(s->context, SL_ERROR, "times: blocks need %llu samples (%u, the widest pulse and the longest delay, %u)",
             (unsigned long long)needed, a->times, *a->delays.longest);
  return SL_EINVAL;
}

SL_ALGORITHM(dedisperse, "power summed over the channels with their delays", 256, run, SL_PREPARE(prepare));
