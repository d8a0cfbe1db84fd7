/* waveforms.pole_zero: corrects the exponential decay of pulses, and sums the corrected waveform, by one block per
 * waveform. With S[n] = x[0] + ... + x[n], x the samples less the baseline, and d = 1 - exp(-1/tau):
 *
 *   y[n] = x[n] + d S[n-1];    sum of y before index n = S[n-1] + d (S[0] + ... + S[n-2])
 *
 *   1. A thread takes neighbouring samples and makes both sums from its first sample on, as integers.
 *   2. Scans over the block add the sums of the samples before.
 *   3. The thread rounds each y and each sum once. On a GPU they are gathered in shared memory, so that neighbouring
 *      threads write neighbouring values.
 *
 * Determinism: the sums are exact. Cost per sample: reads 2 bytes, writes 12.
 */
#include "waveform_lanes.h"

enum {
  OWN = 8,                /* samples of a thread at a time */
  OWNERS = 256,           /* threads of a block that have samples */
  EXACT_SAMPLES = 1 << 19 /* of 16 bits; their sums of sums are below 2^53, exact as f64 */
};

#define SL_ARGS pole_zero_args
#define POLE_ZERO(M)                                                             \
  M(IN, traces, waveforms_traces, "value baseline channel", "waveforms")         \
  M(IN, channels, waveforms_channels, "", "decay of the pulses of each channel") \
  M(OUT, corrected, waveforms_series, "waveforms with pulses that do not decay", \
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

/* The thread's samples x, and both sums from its first sample up to each of them, and of all. */
struct own {
  int32_t x[OWN], sum[OWN], sums[OWN], all, all_sums;
};

#if defined(SL_TARGET_CPU)
/* Adds to each lane the lanes before it. */
static inline __attribute__((always_inline)) sl_i32s scan(sl_i32s v) {
  const sl_i32s from_1 = {0, 0, 1, 2, 3, 4, 5, 6}, is_1 = {0, -1, -1, -1, -1, -1, -1, -1};
  const sl_i32s from_2 = {0, 0, 0, 1, 2, 3, 4, 5}, is_2 = {0, 0, -1, -1, -1, -1, -1, -1};
  const sl_i32s from_4 = {0, 0, 0, 0, 0, 1, 2, 3}, is_4 = {0, 0, 0, 0, -1, -1, -1, -1};
  v += i32x8_permute(v, from_1) & is_1;
  v += i32x8_permute(v, from_2) & is_2;
  return v + (i32x8_permute(v, from_4) & is_4);
}

enum { HALF = OWN / 2 };
typedef double f64x4 __attribute__((vector_size(8 * HALF)));
typedef float f32x4 __attribute__((vector_size(4 * HALF)));

static inline __attribute__((always_inline)) f64x4 f64x4_of(const int32_t *p) {
  i32x4 v;
  memcpy(&v, p, sizeof v);
  return __builtin_convertvector(v, f64x4);
}

static inline void sum_own(const uint16_t *value, uint32_t count, int32_t baseline, struct own *o) {
  sl_i32s x;
  if (count == OWN)
    x = i32s_from_u16(value) - baseline;
  else
    for (uint32_t j = 0; j < OWN; j++) x[j] = j < count ? value[j] - baseline : 0;
  const sl_i32s sum = scan(x), before = sum - x, sums = scan(before);
  sl_i32s_out(o->x, x);
  sl_i32s_out(o->sum, before);
  sl_i32s_out(o->sums, sums - before);
  o->all = sum[OWN - 1];
  o->all_sums = count == OWN ? sums[OWN - 1] : o->sums[count];
}
#else
static SL_DEVICE void sum_own(const uint16_t *value, uint32_t count, int32_t baseline, struct own *o) {
  o->all = o->all_sums = 0;
  SL_UNROLL
  for (uint32_t j = 0; j < OWN; j++) {
    o->x[j] = j < count ? (int32_t)value[j] - baseline : 0;
    o->sum[j] = o->all;
    o->sums[j] = o->all_sums;
    o->all_sums += j < count ? o->all : 0;
    o->all += o->x[j];
  }
}
#endif

static SL_DEVICE void write(float *__restrict__ corrected, double *__restrict__ total, const struct own *o,
                            uint32_t count, const struct before before, double decay) {
  const double before_sum = (double)before.sum, before_sums = (double)before.sums;
#if defined(SL_TARGET_CPU)
  for (uint32_t h = 0; count == OWN && h < OWN; h += HALF) { /* the same in lanes */
    const f64x4 lane = {h, h + 1, h + 2, h + 3};
    const f64x4 of_x = f64x4_of(o->sum + h) + before_sum;
    const f64x4 of_sums = f64x4_of(o->sums + h) + (before_sums + lane * before_sum);
    const f64x4 y = f64x4_of(o->x + h) + decay * of_x, sum = of_x + decay * of_sums;
    const f32x4 rounded = __builtin_convertvector(y, f32x4);
    memcpy(corrected + h, &rounded, sizeof rounded);
    memcpy(total + h, &sum, sizeof sum);
  }
  if (count == OWN) return;
#endif
  SL_UNROLL
  for (uint32_t j = 0; j < OWN; j++) { /* all sums are integers below 2^53 */
    if (j >= count) continue;
    const double of_x = before_sum + (double)o->sum[j];
    const double of_sums = before_sums + (double)(int32_t)j * before_sum + (double)o->sums[j];
    corrected[j] = (float)((double)o->x[j] + decay * of_x);
    total[j] = of_x + decay * of_sums;
  }
}

/* Writes the `of_tile` samples from `corrected` and `total` on; each thread owns `count` of them. */
#if defined(SL_TARGET_CPU)
static void write_tile(float *corrected, double *total, uint32_t of_tile, const struct own *o, uint32_t count,
                       const struct before before, double decay) {
  (void)of_tile;
  write(corrected, total, o, count, before, decay);
}
#else
enum { STRIDE = OWN + 1 }; /* threads use different banks */

static SL_DEVICE void write_tile(float *corrected, double *total, uint32_t of_tile, const struct own *o, uint32_t count,
                                 const struct before before, double decay) {
  __shared__ float y[(size_t)OWNERS * STRIDE];
  __shared__ double sum[(size_t)OWNERS * STRIDE];
  const uint32_t at = threadIdx.x % OWNERS * STRIDE;
  if (count == OWN)
    write(y + at, sum + at, o, OWN, before, decay);
  else
    write(y + at, sum + at, o, count, before, decay);
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < of_tile; i += blockDim.x) { /* the scans of the next tile are barriers */
    const uint32_t from = i / OWN * STRIDE + i % OWN;
    corrected[i] = y[from];
    total[i] = sum[from];
  }
}
#endif

SL_KERNEL(correct, struct pole_zero_args) {
  const uint32_t samples = a.traces.samples, owners = blockDim.x < OWNERS ? blockDim.x : OWNERS;
  SL_FOR_EVENTS (event, a.events) {
    const uint16_t *value = a.traces.value + (size_t)event * samples;
    float *corrected = a.corrected.value + (size_t)event * samples;
    double *total = a.sums.sum + (size_t)event * (samples + 1);
    const int32_t baseline = a.traces.baseline[event];
    const double decay = decay_of(&a, a.traces.channel[event]);
    struct before of_tile = {0, 0};
    for (uint32_t tile = 0; tile < samples; tile += OWN * owners) {
      const uint32_t of_tile_count = samples - tile < OWN * owners ? samples - tile : OWN * owners;
      const uint32_t own_begin = OWN * threadIdx.x, first = tile + own_begin;
      const uint32_t left = own_begin < of_tile_count ? of_tile_count - own_begin : 0, count = left < OWN ? left : OWN;
      struct own own;
      struct before before = of_tile;
      int64_t all = 0;
      sum_own(value + first, count, baseline, &own);
      before.sum += sl_block_exclusive_scan_i64(own.all, &all);
      of_tile.sum += all;
      before.sums += sl_block_exclusive_scan_i64((int64_t)count * before.sum + own.all_sums, &all);
      of_tile.sums += all;
      write_tile(corrected + tile, total + tile, of_tile_count, &own, count, before, decay);
    }
    if (threadIdx.x == 0) {
      total[samples] = (double)of_tile.sum + decay * (double)of_tile.sums;
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
  if (a->channel_count > 0 && s->array_count(s->context, "channels", "decay") == a->channel_count) return SL_OK;
  s->message(s->context, SL_ERROR,
             "the input `channels` does not have a decay for each channel, the last one for all others");
  return SL_EINVAL;
}

SL_ALGORITHM(pole_zero, "corrects the exponential decay of pulses", 256, run, SL_CHECK(check), SL_PREPARE(prepare));
