/* waveforms.convolve: filter with a finite response, by one block per waveform. With K taps k[j]:
 *
 *   same    out[n] = sum of k[j] x[n + (K - 1) / 2 - j],  (K - 1) / 2 rounded down, x = 0 outside of the waveform
 *   valid   out[n] = sum of k[j] x[n + K - 1 - j],        as far as all K samples exist
 *
 * A group of 32 threads has 32 neighbouring outputs. Determinism: products in ascending order of j, in double
 * precision. Cost per output: K products.
 */
#include "windows.h"

enum { CONVOLVE_SAME, CONVOLVE_VALID }; /* values of `mode` */

#define SL_ARGS convolve_args
#define CONVOLVE(M)                                                                                               \
  M(IN, series, waveforms_series, "", "waveforms")                                                                \
  M(IN, taps, waveforms_taps, "", "taps of the filter")                                                           \
  M(ENUM, mode, "same", "same: outputs at all samples; valid: outputs from complete products only", "same valid") \
  M(U32, length, 301, 1, SAMPLES_MAX, "", "number of outputs, from the first one on")                             \
  M(OUT, filtered, waveforms_series, "outputs", SL_DIMENSIONS(SL_PROPERTY_TERM(length, 0)))                       \
  M(COMPUTED, tap_count, uint32_t, "number of taps")
SL_ARGUMENTS(convolve, CONVOLVE);

SL_KERNEL(sum_products, struct convolve_args) {
  const uint32_t tiles = (a.length + 31) / 32, taps = a.tap_count, samples = a.series.length;
  const uint32_t ahead = a.mode == CONVOLVE_SAME ? (taps - 1) / 2 : taps - 1;
  SL_FOR_EVENTS (event, a.events) {
    const float *__restrict__ x = a.series.value + (size_t)event * samples;
    float *__restrict__ to = a.filtered.value + (size_t)event * a.length;
    SL_FOR_GROUPS (tile, tiles, 32) {
      if (tile >= tiles) continue;
      const uint32_t first = 32 * tile, latest = first + ahead; /* sample of the first tap and output */
      const uint32_t is_inner = latest + 31 < samples && latest + 1 >= taps;
      double sum[SL_LANES32];
      SL_FOR_LANES32 (j) sum[SL_LANE32(j)] = 0.0;
      for (uint32_t k = 0; k < taps; k++) {
        const double tap = a.taps.value[k];
        if (is_inner) {
          const float *from = x + (latest - k);
          SL_FOR_LANES32 (j) sum[SL_LANE32(j)] = fma(tap, (double)from[j], sum[SL_LANE32(j)]);
        } else {
          SL_FOR_LANES32 (j) {
            const uint32_t at = latest + j;
            const float value = at >= k && at - k < samples ? x[at - k] : 0.0f;
            sum[SL_LANE32(j)] = fma(tap, (double)value, sum[SL_LANE32(j)]);
          }
        }
      }
      SL_FOR_LANES32_BELOW (j, a.length - first) to[first + j] = (float)sum[SL_LANE32(j)];
    }
    if (threadIdx.x == 0) a.filtered.valid[event] = a.series.valid[event];
  }
}

static int run(const struct sl_launch *l, const struct convolve_args *a) {
  return SL_LAUNCH(l, sum_products, SL_PER_EVENT, *a);
}

static int prepare(const struct sl_services *s, void *args) {
  struct convolve_args *a = (struct convolve_args *)args;
  a->tap_count = (uint32_t)s->array_count(s->context, "taps", "value");
  const int64_t samples = a->series.length;
  if (a->tap_count == 0) {
    s->message(s->context, SL_ERROR, "the input `taps` has no taps");
    return SL_EINVAL;
  }
  return length_check(s, a->length, a->mode == CONVOLVE_SAME ? samples : samples + 1 - a->tap_count,
                      a->mode == CONVOLVE_SAME ? "the mode `same`" : "the mode `valid`");
}

SL_ALGORITHM(convolve, "filter with a finite response", 256, run, SL_PREPARE(prepare));
