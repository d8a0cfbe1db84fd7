/* waveforms.t0_filter: difference of a falling ramp of R samples and the mean of the F samples before, by one block per
 * waveform. With k[j] = 2 (R - j) / (R (R + 1)) for j < R, then -1/F, and C = (R + F - 1) / 2 rounded down:
 *
 *   out[n] = k[0] y[n + C] + k[1] y[n + C - 1] + ...,   y = 0 outside of the waveform
 *
 * The F samples are a difference of two sums. Determinism: each output adds its products in ascending order of j.
 * Cost per sample: R products; reads 12 bytes, writes 4.
 */
#include "windows.h"

#define SL_ARGS t0_filter_args
#define T0_FILTER(M)                                                                                    \
  M(IN, series, waveforms_series, "value", "waveforms whose pulses do not decay")                       \
  M(IN, sums, waveforms_sums, "", "sums of `series`")                                                   \
  M(OUT, filtered, waveforms_series, "as many values as `series`, (rise + fall - 1) / 2 samples early", \
    SL_DIMENSIONS(SL_DIMENSION_TERM(series, length)))                                                   \
  M(U32, rise, 8, 1, 4096, "samples", "length of the ramp")                                             \
  M(U32, fall, 125, 1, SAMPLES_MAX, "samples", "length of the mean before the ramp")                    \
  M(TABLE, ramp, f32, "factors of the samples in the ramp, the first for the latest sample")
SL_ARGUMENTS(t0_filter, T0_FILTER);

static SL_DEVICE uint32_t inside(int32_t index, uint32_t most) {
  return index < 0 ? 0 : (uint32_t)index > most ? most : (uint32_t)index;
}

/* Outputs [first, first + count) of a group of threads. `end` is the latest sample of output 0, and samples from 0 to
 * `samples` exist. is_inner: all these outputs use existing samples only. */
static SL_DEVICE void filter(const struct t0_filter_args *a, const float *__restrict__ y,
                             const double *__restrict__ sum, float *__restrict__ to, uint32_t first, uint32_t count,
                             uint32_t is_inner) {
  const int32_t rise = (int32_t)a->rise, fall = (int32_t)a->fall, latest = (int32_t)first + (rise + fall - 1) / 2;
  const uint32_t samples = a->series.length;
  const double per_fall = 1.0 / fall;
  float total[SL_LANES32];
  SL_FOR_LANES32 (j) total[SL_LANE32(j)] = 0.0f;
  for (int32_t k = 0; k < rise; k++) {
    const float factor = a->ramp[k];
    if (is_inner) {
      const float *from = y + (latest - k);
      SL_FOR_LANES32 (j) total[SL_LANE32(j)] = fmaf(factor, from[j], total[SL_LANE32(j)]);
    } else {
      SL_FOR_LANES32 (j) {
        const int32_t at = latest - k + (int32_t)j;
        const float value = at >= 0 && at < (int32_t)samples ? y[at] : 0.0f;
        total[SL_LANE32(j)] = fmaf(factor, value, total[SL_LANE32(j)]);
      }
    }
  }
  const int32_t end = latest - rise + 1, begin = end - fall; /* of the mean of lane 0 */
  if (is_inner) {
    const double *at_end = sum + end, *at_begin = sum + begin;
    SL_FOR_LANES32 (j) to[first + j] = total[SL_LANE32(j)] - (float)((at_end[j] - at_begin[j]) * per_fall);
  } else {
    SL_FOR_LANES32_BELOW (j, count) {
      const double of_mean = sum[inside(end + (int32_t)j, samples)] - sum[inside(begin + (int32_t)j, samples)];
      to[first + j] = total[SL_LANE32(j)] - (float)(of_mean * per_fall);
    }
  }
}

SL_KERNEL(filter_series, struct t0_filter_args) {
  const uint32_t samples = a.series.length, tiles = (samples + 31) / 32, ahead = (a.rise + a.fall - 1) / 2;
  SL_FOR_EVENTS (event, a.events) {
    const float *y = a.series.value + (size_t)event * samples;
    const double *sum = a.sums.sum + (size_t)event * (samples + 1);
    float *to = a.filtered.value + (size_t)event * samples;
    SL_FOR_GROUPS (tile, tiles, 32) {
      if (tile >= tiles) continue;
      const uint32_t first = 32 * tile, count = samples - first;
      if (count >= 32 && first + 31 + ahead < samples && first + ahead + 1 >= a.rise + a.fall)
        filter(&a, y, sum, to, first, 32, 1);
      else
        filter(&a, y, sum, to, first, count, 0);
    }
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
