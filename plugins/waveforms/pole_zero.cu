/* waveforms.pole_zero: corrects the exponential decay of pulses, and sums the corrected waveform, by one block per
 * waveform. With S[n] = x[0] + ... + x[n], x the samples less the baseline, and d = 1 - exp(-1/tau):
 *
 *   y[n] = x[n] + d S[n-1];    sum of y before index n = S[n-1] + d (S[0] + ... + S[n-2])
 *
 *   1. A thread takes neighbouring samples and makes both sums from its first sample on, as integers.
 *   2. Scans over the block add the sums of the samples before.
 *   3. The thread rounds each y and each sum once.
 *
 * Determinism: the sums are exact. Cost per sample: reads 2 bytes, writes 12.
 */
#include "windows.h"

enum {
#if defined(SL_TARGET_CPU)
  OWN = 64, /* samples of a thread at a time */
#else
  OWN = 8,
#endif
  EXACT_SAMPLES = 1 << 19 /* of 16 bits; their sums of sums are below 2^53, exact as f64 */
};

#define SL_ARGS pole_zero_args
#define POLE_ZERO(M)                                                             \
  M(IN, traces, waveforms_traces, "value baseline channel", "waveforms")         \
  M(IN, channels, waveforms_channels, "", "decay of the pulses of each channel") \
  M(OUT, corrected, waveforms_series, "waveforms whose pulses do not decay",     \
    SL_DIMENSIONS(SL_DIMENSION_TERM(traces, samples)))                           \
  M(OUT, sums, waveforms_sums, "sums of the corrected waveforms",                \
    SL_DIMENSIONS(SL_DIMENSION_SCALED(traces, samples, 1, 1, 1)))                \
  M(COMPUTED, channel_count, uint32_t, "number of entries of `channels`, the last is for all other channels")
SL_ARGUMENTS(pole_zero, POLE_ZERO);

/* The decay of a channel: a search in the ascending numbers, all but the last. */
static SL_DEVICE double decay_of(const struct pole_zero_args *a, uint32_t channel) {
  uint32_t first = 0, end = a->channel_count - 1;
  while (first < end) {
    const uint32_t middle = (first + end) / 2;
    if (a->channels.number[middle] < channel)
      first = middle + 1;
    else
      end = middle;
  }
  const uint32_t is_listed = a->channels.number[first] == channel;
  return a->channels.decay[is_listed ? first : a->channel_count - 1];
}

/* Sums of the samples before the thread's: of x, and of S up to the sample before. */
struct before {
  int64_t sum, sums;
};

/* `sum` and `sums`: of the thread's samples before each of them, as far as they begin with the first one. */
static SL_DEVICE void write(float *__restrict__ corrected, double *__restrict__ total, const int32_t *__restrict__ x,
                            const int32_t *__restrict__ sum, const int32_t *__restrict__ sums, uint32_t count,
                            const struct before before, double decay) {
  const double before_sum = (double)before.sum, before_sums = (double)before.sums;
  SL_UNROLL
  for (uint32_t j = 0; j < OWN; j++) { /* all sums are integers below 2^53 */
    if (j >= count) continue;
    const double of_x = before_sum + (double)sum[j];
    const double of_sums = before_sums + (double)(int32_t)j * before_sum + (double)sums[j];
    corrected[j] = (float)fma(decay, of_x, (double)x[j]);
    total[j] = fma(decay, of_sums, of_x);
  }
}

SL_KERNEL(correct, struct pole_zero_args) {
  const uint32_t samples = a.traces.samples;
  SL_FOR_EVENTS (event, a.events) {
    const uint16_t *value = a.traces.value + (size_t)event * samples;
    float *corrected = a.corrected.value + (size_t)event * samples;
    double *total = a.sums.sum + (size_t)event * (samples + 1);
    const int32_t baseline = a.traces.baseline[event];
    const double decay = decay_of(&a, a.traces.channel[event]);
    struct before of_tile = {0, 0};
    for (uint32_t tile = 0; tile < samples; tile += OWN * blockDim.x) {
      const uint32_t at = tile + OWN * threadIdx.x, left = at < samples ? samples - at : 0;
      const uint32_t first = left ? at : 0, count = left < OWN ? left : OWN;
      int32_t x[OWN], sum[OWN], sums[OWN], next_sum = 0, next_sums = 0;
      if (count == OWN) {
        SL_UNROLL
        for (uint32_t j = 0; j < OWN; j++) x[j] = (int32_t)value[first + j] - baseline;
      } else {
        SL_UNROLL
        for (uint32_t j = 0; j < OWN; j++) x[j] = j < count ? (int32_t)value[first + j] - baseline : 0;
      }
      SL_UNROLL
      for (uint32_t j = 0; j < OWN; j++) {
        sum[j] = next_sum;
        sums[j] = next_sums;
        next_sums += j < count ? next_sum : 0;
        next_sum += x[j];
      }
      struct before before = of_tile;
      int64_t all = 0;
      before.sum += sl_block_exclusive_scan_i64(next_sum, &all);
      of_tile.sum += all;
      before.sums += sl_block_exclusive_scan_i64((int64_t)count * before.sum + next_sums, &all);
      of_tile.sums += all;
      if (count == OWN)
        write(corrected + first, total + first, x, sum, sums, OWN, before, decay);
      else
        write(corrected + first, total + first, x, sum, sums, count, before, decay);
    }
    if (threadIdx.x == 0) {
      total[samples] = fma(decay, (double)of_tile.sums, (double)of_tile.sum);
      a.corrected.valid[event] = 1;
    }
  }
}

static int run(const struct sl_launch *l, const struct pole_zero_args *a) {
  return SL_LAUNCH(l, correct, SL_PER_EVENT, *a);
}

static int check(const struct sl_services *s, const void *args) {
  const struct pole_zero_args *a = (const struct pole_zero_args *)args;
  if (a->traces.samples <= EXACT_SAMPLES) return SL_OK;
  s->message(s->context, SL_ERROR, "a waveform has %u samples; sums of sums are exact up to %u samples",
             a->traces.samples, (unsigned)EXACT_SAMPLES);
  return SL_EINVAL;
}

static int prepare(const struct sl_services *s, void *args) {
  struct pole_zero_args *a = (struct pole_zero_args *)args;
  a->channel_count = (uint32_t)s->array_count(s->context, "channels", "number");
  return SL_OK;
}

SL_ALGORITHM(pole_zero, "corrects the exponential decay of pulses", 256, run, SL_CHECK(check), SL_PREPARE(prepare));
