/* waveforms.fit: mean, standard deviation and line of least squares of a window, by one block per waveform.
 *
 * With d = x - x[begin] and the index i in the window: three sums, of d, d^2 and i d. For samples that are integers
 * they are exact. Determinism: sums of 32 parts and a fixed tree. Cost per sample: reads 4 bytes, 5 operations in
 * double precision.
 */
#include "windows.h"

#define SL_ARGS fit_args
#define FIT(M)                                                                           \
  M(IN, series, waveforms_series, "value valid", "waveforms")                            \
  M(OUT, fits, waveforms_fits, "of the window")                                          \
  M(U32, begin, 0, 0, SAMPLES_MAX, "samples", "index of the first sample of the window") \
  M(U32, length, 0, 0, SAMPLES_MAX, "samples", "number of samples of the window; 0: up to the end of the waveform")
SL_ARGUMENTS(fit, FIT);

struct fit_sums {
  struct sl_sum64 d, squares, moments; /* of d, d^2, i d */
};

static SL_DEVICE void add(struct fit_sums *s, uint32_t lane, float value, float origin, uint32_t i) {
  const double d = (double)value - (double)origin;
  sl_sum64_add(&s->d, lane, d);
  sl_sum64_add(&s->squares, lane, d * d);
  sl_sum64_add(&s->moments, lane, d * (double)(int32_t)i);
}

SL_KERNEL(fit_window, struct fit_args) {
  SL_FOR_EVENTS (event, a.events) {
    const float *x = a.series.value + (size_t)event * a.series.length + a.begin, origin = x[0];
    const uint32_t count = window_length(a.begin, a.length, a.series.length), whole = count / 32 * 32;
    struct fit_sums s = {sl_sum64_zero(), sl_sum64_zero(), sl_sum64_zero()};
    for (uint32_t base = 0; base < whole; base += 32)
      SL_FOR_LANES32 (j) add(&s, j, x[base + j], origin, base + j);
    SL_FOR_LANES32_BELOW (j, count - whole) add(&s, j, x[whole + j], origin, whole + j);
    const double n = count, sum = sl_group_sum64_total(&s.d), squares = sl_group_sum64_total(&s.squares);
    const double moments = sl_group_sum64_total(&s.moments), shift = sum / n, middle = (n - 1) / 2;
    const double variance = (squares - sum * shift) / (n - 1), mean = (double)origin + shift;
    const double slope = (moments - middle * sum) / (n * (n * n - 1) / 12);
    if (threadIdx.x == 0) {
      const uint32_t is_valid = a.series.valid[event];
      a.fits.mean[event] = is_valid ? (float)mean : 0.0f;
      a.fits.deviation[event] = is_valid && variance > 0 ? (float)sqrt(variance) : 0.0f;
      a.fits.slope[event] = is_valid ? (float)slope : 0.0f;
      a.fits.intercept[event] = is_valid ? (float)(mean - slope * middle) : 0.0f;
      a.fits.valid[event] = is_valid ? ALL_VALID : 0;
    }
  }
}

static int run(const struct sl_launch *l, const struct fit_args *a) {
  return SL_LAUNCH(l, fit_window, SL_PER_EVENT, *a);
}

static int check(const struct sl_services *s, const void *args) {
  const struct fit_args *a = (const struct fit_args *)args;
  return window_check(s, a->begin, a->length, a->series.length, 2);
}

SL_ALGORITHM(fit, "mean, deviation and line of least squares of a window", 32, run, SL_CHECK(check));
