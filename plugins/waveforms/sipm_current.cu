/* sipm_current.cu: current of a SiPM: the waveform, smoothed and differentiated, in double precision (README.md).
 *   1. smooth         g[i] = sum over j of taps[j] w[i + j - radius], mirrored at the ends: a group of 32 threads takes
 *                     32 samples
 *   2. differentiate  v[i] = (g[i + lag] - g[i]) / lag for i < samples - lag, in the place of g; the rest is 0
 * Determinism: each sum is in the order of the taps. Cost per sample: 2 radius + 1 products; 24 bytes are written and
 * 24 are read.
 * Plain version: tests/waveforms/sipm_reference.h. */
#include <sluice/kernel.h>
#include <sluice/math64.h>

#include <waveforms/event_model.h>

#define SL_ARGS sipm_current_args
#define SIPM_CURRENT(M)                                                                                          \
  M(IN, traces, waveforms_traces, "value", "waveforms")                                                          \
  M(OUT, current, waveforms_series64, "smoothed differences", SL_DIMENSIONS(SL_DIMENSION_TERM(traces, samples))) \
  M(F64, sigma, 1, 0.01, 1000, "samples", "standard deviation of the Gaussian, which ends at 4 sigma")           \
  M(U32, lag, 5, 1, 16777216, "samples", "distance of the two samples of a difference")                          \
  M(COMPUTED, radius, uint32_t, "number of taps on each side of the Gaussian")                                   \
  M(TABLE, taps, f64, "Gaussian, with the sum 1")
SL_ARGUMENTS(sipm_current, SIPM_CURRENT);

/* Index of the sample that stands for sample `at`: the ends are mirrored without repeating the end sample. */
static SL_DEVICE uint32_t mirrored(int64_t at, uint32_t samples) {
  const int64_t last = (int64_t)samples - 1, inside = at < 0 ? -at : at;
  return (uint32_t)(inside > last ? 2 * last - inside : inside);
}

static SL_DEVICE void smooth(const struct sipm_current_args *a, const uint16_t *__restrict__ w,
                             double *__restrict__ g) {
  const uint32_t samples = a->traces.samples, tiles = (samples + 31) / 32, radius = a->radius;
  SL_FOR_GROUPS (tile, tiles, 32) {
    if (tile >= tiles) continue;
    const uint32_t first = tile * 32, count = samples - first < 32 ? samples - first : 32;
    const uint32_t is_inside = first >= radius && (uint64_t)first + 32 + radius <= samples;
    double sum[SL_LANES32] = {0};
    for (uint32_t k = 0; k <= 2 * radius; k++) {
      const double tap = a->taps[k];
      if (is_inside) {
        const uint16_t *from = w + first - radius + k;
        SL_FOR_LANES32 (j) sum[SL_LANE32(j)] += tap * (double)from[j];
      } else {
        SL_FOR_LANES32_BELOW (j, count)
          sum[SL_LANE32(j)] += tap * (double)w[mirrored((int64_t)first + j + k - radius, samples)];
      }
    }
    SL_FOR_LANES32_BELOW (j, count) g[first + j] = sum[SL_LANE32(j)];
  }
}

/* Replaces g by its differences, and by 0 from `count` on. The block takes the tiles in ascending order: it reads all
 * of its tiles before it writes any of them, and later tiles are still unchanged. */
static SL_DEVICE void differentiate(double *v, uint32_t samples, uint32_t count, uint32_t lag) {
  const uint32_t tiles = (samples + 31) / 32;
  SL_FOR_GROUPS (tile, tiles, 32) {
    const uint32_t first = tile * 32, left = tile < tiles && first < count ? count - first : 0;
    double difference[SL_LANES32] = {0};
    SL_FOR_LANES32_BELOW (j, left) difference[SL_LANE32(j)] = (v[first + j + lag] - v[first + j]) / (double)lag;
    __syncthreads();
    SL_FOR_LANES32_BELOW (j, tile < tiles ? samples - first : 0) v[first + j] = difference[SL_LANE32(j)];
  }
}

SL_KERNEL(sipm_current, struct sipm_current_args) {
  const uint32_t samples = a.traces.samples, lag = a.lag, count = samples - lag;
  SL_FOR_EVENTS (event, a.events) {
    double *v = a.current.value + (size_t)event * samples;
    smooth(&a, a.traces.value + (size_t)event * samples, v);
    __syncthreads();
    differentiate(v, samples, count, lag);
    if (threadIdx.x == 0) a.current.count[event] = count;
    __syncthreads();
  }
}

static int run(const struct sl_launch *l, const struct sipm_current_args *a) {
  return SL_LAUNCH(l, sipm_current, SL_PER_EVENT, *a);
}

static int prepare(const struct sl_services *s, void *args) {
  struct sipm_current_args *a = (struct sipm_current_args *)args;
  const uint32_t radius = (uint32_t)rint(4.0 * a->sigma + 0.5), samples = a->traces.samples;
  double *taps, sum = 0;
  if (a->lag >= samples)
    s->message(s->context, SL_ERROR, "lag: it is %u, expected less than the %u samples of a waveform", a->lag, samples);
  if (radius >= samples)
    s->message(s->context, SL_ERROR, "sigma: the Gaussian has %u taps on each side, expected less than the %u samples",
               radius, samples);
  if (a->lag >= samples || radius >= samples) return SL_EINVAL;
  taps = (double *)s->make_table(s->context, "taps", 2 * (uint64_t)radius + 1);
  if (!taps) return SL_ENOMEM;
  for (uint32_t k = 0; k <= 2 * radius; k++) {
    const double x = (double)k - radius;
    taps[k] = sl_exp(-(x * x) / (2.0 * a->sigma * a->sigma));
    sum += taps[k];
  }
  for (uint32_t k = 0; k <= 2 * radius; k++) taps[k] /= sum;
  a->radius = radius;
  return SL_OK;
}

SL_ALGORITHM(sipm_current, "smoothed and differentiated waveforms of SiPMs", 256, run, SL_PREPARE(prepare));
