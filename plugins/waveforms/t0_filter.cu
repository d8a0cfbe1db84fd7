/* waveforms.t0_filter: difference of a falling ramp of R samples and the mean of the F samples before, by one block per
 * waveform. With k[j] = 2 (R - j) / (R (R + 1)) for j < R, then -1/F, and C = (R + F - 1) / 2 rounded down:
 *
 *   out[n] = k[0] y[n + C] + k[1] y[n + C - 1] + ...,   y = 0 outside of the waveform
 *
 * The F samples are a difference of two sums. Determinism: each output adds its products in ascending order of j.
 * Cost per sample: R products; reads 12 bytes, writes 4.
 */
#include "waveform_lanes.h"

#define SL_ARGS t0_filter_args
#define T0_FILTER(M)                                                                                    \
  M(IN, series, waveforms_series, "value", "waveforms with pulses that do not decay")                   \
  M(IN, sums, waveforms_sums, "", "sums of `series`")                                                   \
  M(OUT, filtered, waveforms_series, "as many values as `series`, (rise + fall - 1) / 2 samples early", \
    SL_DIMENSIONS(SL_DIMENSION_TERM(series, length)))                                                   \
  M(U32, rise, 8, 1, 4096, "samples", "length of the ramp")                                             \
  M(U32, fall, 125, 1, SAMPLES_MAX, "samples", "length of the mean before the ramp")                    \
  M(TABLE, ramp, f32, "factors of the samples in the ramp, the first for the latest sample")
SL_ARGUMENTS(t0_filter, T0_FILTER);

/* Entry of the sums, for an index beyond the waveform too. */
static SL_DEVICE double sum_at(const double *sum, int32_t index, int32_t samples) {
  return sum[index < 0 ? 0 : index > samples ? samples : index];
}

/* One output, with samples beyond the waveform. */
static SL_DEVICE float output_at(const struct t0_filter_args *a, const float *y, const double *sum, uint32_t n) {
  const int32_t rise = (int32_t)a->rise, fall = (int32_t)a->fall, samples = (int32_t)a->series.length;
  const int32_t latest = (int32_t)n + (rise + fall - 1) / 2, end = latest - rise + 1;
  const double per_fall = 1.0 / fall;
  float total = 0.0f;
  for (int32_t k = latest < samples ? 0 : latest - samples + 1; k < rise && k <= latest; k++)
    total += a->ramp[k] * y[latest - k];
  return total - (float)((sum_at(sum, end, samples) - sum_at(sum, end - fall, samples)) * per_fall);
}

enum { CHAINS = 4 }; /* independent sums of a thread, which a CPU overlaps */

/* The outputs at SL_LANES samples from n on, and at as many of each further chain after `step` samples; all their
 * samples are in the waveform. `chains`, at most CHAINS, is known to the compiler. */
static SL_DEVICE void write_outputs(const struct t0_filter_args *a, const float *__restrict__ y,
                                    const double *__restrict__ sum, uint32_t n, uint32_t step, const uint32_t chains,
                                    float *__restrict__ to) {
  const uint32_t rise = a->rise, latest = n + (rise + a->fall - 1) / 2;
  const float *__restrict__ ramp = a->ramp, *__restrict__ from = y + latest;
  const double *end = sum + (latest - rise + 1), *begin = end - a->fall, per_fall = 1.0 / a->fall;
  sl_f32s total[CHAINS];
  SL_UNROLL
  for (uint32_t c = 0; c < chains; c++) total[c] = sl_f32s_of(0.0f);
  for (uint32_t k = 0; k < rise; k++) {
    const sl_f32s factor = sl_f32s_of(ramp[k]);
    SL_UNROLL
    for (uint32_t c = 0; c < chains; c++) total[c] += factor * sl_f32s_load(from + c * step - k, SL_LANES);
  }
  SL_UNROLL
  for (uint32_t c = 0; c < chains; c++) {
    const sl_f32s mean = f32s_from_difference(end + c * step, begin + c * step, per_fall);
    sl_f32s_store(to + n + c * step, total[c] - mean, SL_LANES);
  }
}

SL_KERNEL(filter_series, struct t0_filter_args) {
  const uint32_t samples = a.series.length, ahead = (a.rise + a.fall - 1) / 2;
  const uint32_t begin = a.rise + a.fall - 1 - ahead, end = samples - ahead; /* outputs with all samples */
  const uint32_t step = SL_LANES * blockDim.x;                               /* outputs of the block at a time */
  SL_FOR_EVENTS (event, a.events) {
    const float *y = a.series.value + (size_t)event * samples;
    const double *sum = a.sums.sum + (size_t)event * (samples + 1);
    float *to = a.filtered.value + (size_t)event * samples;
    for (uint32_t n = threadIdx.x; n < begin; n += blockDim.x) to[n] = output_at(&a, y, sum, n);
    uint32_t n = begin + SL_LANES * threadIdx.x;
    for (; n + (CHAINS - 1) * step + SL_LANES <= end; n += CHAINS * step)
      write_outputs(&a, y, sum, n, step, CHAINS, to);
    for (; n + SL_LANES <= end; n += step) write_outputs(&a, y, sum, n, step, 1, to);
    n = end - (end - begin) % SL_LANES; /* less than SL_LANES outputs, then those with samples after the end */
    for (n += threadIdx.x; n < samples; n += blockDim.x) to[n] = output_at(&a, y, sum, n);
    if (threadIdx.x == 0) a.filtered.valid[event] = 1;
  }
}

static int run(const struct sl_launch *l, const struct t0_filter_args *a) {
  return SL_LAUNCH(l, filter_series, SL_PER_EVENT, *a);
}

static int check(const struct sl_services *s, const void *args) {
  const struct t0_filter_args *a = (const struct t0_filter_args *)args;
  if (a->sums.entries != a->series.length + 1) {
    s->message(s->context, SL_ERROR, "the sums have %u entries; %u are expected for waveforms of %u samples",
               a->sums.entries, a->series.length + 1, a->series.length);
    return SL_EINVAL;
  }
  if (a->rise + a->fall <= a->series.length) return SL_OK;
  s->message(s->context, SL_ERROR, "fall: rise and fall have %u samples together; a waveform has %u", a->rise + a->fall,
             a->series.length);
  return SL_EINVAL;
}

static int prepare(const struct sl_services *s, void *args) {
  struct t0_filter_args *a = (struct t0_filter_args *)args;
  float *ramp = (float *)s->make_table(s->context, "ramp", a->rise);
  if (!ramp) return SL_ENOMEM;
  a->ramp = ramp;
  for (uint32_t j = 0; j < a->rise; j++) ramp[j] = (float)(2.0 * (a->rise - j) / ((double)a->rise * (a->rise + 1.0)));
  return SL_OK;
}

SL_ALGORITHM(t0_filter, "filter for the beginning of a pulse: a short ramp less the mean of the samples before it", 256,
             run, SL_CHECK(check), SL_PREPARE(prepare));
