/* spectrum.cu: the example of sluice/fft.h: transforms the values of each event, in shared memory if the device has
 * enough, else in scratch. */
#include "shared_memory.h"

#include <sluice/fft.h>

enum { IN_ANY, IN_SHARED, IN_SCRATCH };
enum { GAP = 64 }; /* values between the real and the imaginary parts */

#define SL_ARGS spectrum_args
#define SPECTRUM(M)                                                                        \
  M(IN, signals, spectrum_values, "", "`size` values per event")                           \
  M(OUT, spectra, spectrum_values, "values by frequency", SL_SHARES_OFFSETS(signals))      \
  M(SCRATCH, work, f32, "parts of the values of one event per block",                      \
    SL_PRODUCT(SL_EVENTS_TERM(2, 0), SL_PROPERTY_TERM(size, GAP)))                         \
  M(TABLE, twiddles, f32, "of sl_fft_fill")                                                \
  M(U32, size, 1024, 2, SL_FFT_SIZE_MAX, "", "number of values per event, a power of two") \
  M(ENUM, memory, "any", "memory in which the values are transformed", "any shared scratch")
SL_ARGUMENTS(spectrum, SPECTRUM);

static int prepare(const struct sl_services *s, void *args) {
  struct spectrum_args *a = (struct spectrum_args *)args;
  float *twiddles = (float *)s->make_table(s->context, "twiddles", sl_fft_twiddles(a->size));
  if (!twiddles) return SL_ENOMEM;
  sl_fft_fill(twiddles, a->size);
  return SL_OK;
}

SL_KERNEL_ANY_BLOCK(transform, struct spectrum_args) {
  float *const re = a.work ? a.work + 2 * (size_t)(a.size + GAP) * blockIdx.x : (float *)sl_shared_memory();
  float *const im = re + a.size + GAP;
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t first = a.signals.offsets[event];
    for (uint32_t i = threadIdx.x; i < a.size; i += blockDim.x) {
      re[i] = a.signals.re[first + i];
      im[i] = a.signals.im[first + i];
    }
    sl_block_fft(re, im, a.size, a.twiddles);
    for (uint32_t i = threadIdx.x; i < a.size; i += blockDim.x) {
      a.spectra.re[first + i] = re[i];
      a.spectra.im[first + i] = im[i];
    }
  }
}

static int run(const struct sl_launch *l, const struct spectrum_args *a) {
  struct spectrum_args args = *a;
  const uint32_t bytes = 2 * (a->size + GAP) * (uint32_t)sizeof(float);
  if (a->memory == IN_SHARED || (a->memory == IN_ANY && bytes <= l->shared_bytes_max)) args.work = NULL;
  return SL_LAUNCH(l, transform, sl_grid_with_shared(SL_PER_EVENT, args.work ? 0 : bytes), args);
}
SL_ALGORITHM(spectrum, "Fourier transform of each event's values", 256, run, SL_PREPARE(prepare));
