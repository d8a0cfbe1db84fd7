/* fft.h: discrete Fourier transforms in single precision for kernels, with identical bits on every target and for every
 * block size.
 *
 * sl_block_fft transforms n = 2^k complex values in place, 2 <= n <= SL_FFT_SIZE_MAX, with all threads of a block:
 *   X[f] = sum over t of x[t] exp(-2 pi i f t / n)
 * The inverse, without the factor 1/n, is the same call with `re` and `im` exchanged. Twiddle factors are a table of
 * sl_fft_twiddles(n) floats that `prepare` fills with sl_fft_fill. Both arrays are in shared memory or both in scratch,
 * with the same results. `__shared__` variables have room for n up to 4096, shared memory of sl_grid_with_shared for n
 * up to 16,384 on an H200 or A100, 8192 on GPUs with 99 kB, 4096 on AMD GPUs. Larger n are in scratch. This kernel does
 * either, with scratch `work` of 2 PART floats for each event of a slice:
 *
 *   enum { PART = SIZE + 64 };                     a distance of SIZE would cost a CPU up to 2.7 times the time
 *   static int prepare(const struct sl_services *s, void *args) {
 *     float *twiddles = s->make_table(s->context, "twiddles", sl_fft_twiddles(SIZE));
 *     if (!twiddles) return SL_ENOMEM;
 *     sl_fft_fill(twiddles, SIZE);
 *     return SL_OK;
 *   }
 *   SL_KERNEL(spectrum, struct spectrum_args) {
 *     float *re = a.work ? a.work + 2 * (size_t)PART * blockIdx.x : (float *)sl_shared_memory(), *im = re + PART;
 *     ...
 *     sl_block_fft(re, im, SIZE, a.twiddles);      begins and ends with a barrier
 *   }
 *   static int run(const struct sl_launch *l, const struct spectrum_args *a) {
 *     const uint32_t bytes = 2 * PART * sizeof(float), fits = bytes <= l->shared_bytes_max;
 *     struct spectrum_args args = *a;
 *     if (fits) args.work = NULL;
 *     return SL_LAUNCH(l, spectrum, sl_grid_with_shared(SL_PER_EVENT, fits ? bytes : 0), args);
 *   }
 *
 * Error, of random values: the root of the mean squared error is at most (1.3 + 0.1 log2(n)) 2^-24 of that of the
 * result, and no error is 6 times as large (fft_test). Cost: a pass over the values for each factor 4 of n, one for a
 * factor 2 that is left, and one that puts them in order, each with a barrier; 4.25 n log2(n) floating-point operations
 * if n is a power of four. One core of an AMD EPYC with AVX2 takes 5.8 us for n = 1024, 0.13 ms for 16,384 and 0.84 ms
 * for 65,536. */
#ifndef SLUICE_FFT_H
#define SLUICE_FFT_H

#include <sluice/kernel.h>
#include <sluice/math64.h>

enum { SL_FFT_SIZE_MAX = 65536 };

/* Number of twiddle factors, as floats: three complex factors for each quarter of each pass. */
static inline SL_UNUSED uint64_t sl_fft_twiddles(uint32_t n) { return 2u * (uint64_t)n; }

/* Twiddles of a pass over parts of `size` values: for j < size / 4 the factors w^j, w^2j, w^3j, w = exp(-2 pi i /
 * size), as six arrays. They follow those of larger sizes. */
static inline SL_UNUSED void sl_fft_fill(float *twiddles, uint32_t n) {
  for (uint32_t size = n; size >= 4; size /= 4) {
    const uint32_t quarter = size / 4;
    for (uint32_t power = 1; power <= 3; power++)
      for (uint32_t j = 0; j < quarter; j++) {
        const double turn = 6.283185307179586476925286766559 * (double)(power * j) / (double)size;
        double sine, cosine;
        sl_sincos(turn, &sine, &cosine);
        twiddles[(2 * power - 2) * (size_t)quarter + j] = (float)cosine;
        twiddles[(2 * power - 1) * (size_t)quarter + j] = (float)-sine;
      }
    twiddles += 6 * (size_t)quarter;
  }
}

/* One butterfly of four values at distances of `quarter`: two steps of radix 2 in one. */
static SL_DEVICE void sl_fft_quarter_(float *re, float *im, const float *w, uint32_t quarter, uint32_t j) {
  float *const r0 = re, *const r1 = re + quarter, *const r2 = re + 2 * quarter, *const r3 = re + 3 * quarter;
  float *const i0 = im, *const i1 = im + quarter, *const i2 = im + 2 * quarter, *const i3 = im + 3 * quarter;
  const float *const w1r = w, *const w1i = w + quarter, *const w2r = w + 2 * quarter, *const w2i = w + 3 * quarter;
  const float *const w3r = w + 4 * quarter, *const w3i = w + 5 * quarter;
  const float even_r = r0[j] + r2[j], even_i = i0[j] + i2[j], less_r = r0[j] - r2[j], less_i = i0[j] - i2[j];
  const float odd_r = r1[j] + r3[j], odd_i = i1[j] + i3[j], turned_r = i1[j] - i3[j], turned_i = r3[j] - r1[j];
  const float a_r = even_r - odd_r, a_i = even_i - odd_i;
  const float b_r = less_r + turned_r, b_i = less_i + turned_i, c_r = less_r - turned_r, c_i = less_i - turned_i;
  r0[j] = even_r + odd_r;
  i0[j] = even_i + odd_i;
  r1[j] = a_r * w2r[j] - a_i * w2i[j];
  i1[j] = a_r * w2i[j] + a_i * w2r[j];
  r2[j] = b_r * w1r[j] - b_i * w1i[j];
  i2[j] = b_r * w1i[j] + b_i * w1r[j];
  r3[j] = c_r * w3r[j] - c_i * w3i[j];
  i3[j] = c_r * w3i[j] + c_i * w3r[j];
}

/* A pass over parts of `4 quarter` values. A CPU goes through each part in order, so that loops vectorise. */
static SL_DEVICE void sl_fft_pass_(float *re, float *im, const float *w, uint32_t n, uint32_t quarter) {
#if defined(SL_TARGET_CPU)
  for (uint32_t begin = 0; begin < n; begin += 4 * quarter)
    for (uint32_t j = 0; j < quarter; j++) sl_fft_quarter_(re + begin, im + begin, w, quarter, j);
#else
  for (uint32_t k = threadIdx.x; k < n / 4; k += blockDim.x) {
    const uint32_t j = k & (quarter - 1), begin = 4 * (k - j);
    sl_fft_quarter_(re + begin, im + begin, w, quarter, j);
  }
#endif
  __syncthreads();
}

static SL_DEVICE uint32_t sl_reversed_bits_(uint32_t x, uint32_t bits) {
  x = (x & 0x55555555u) << 1 | (x >> 1 & 0x55555555u);
  x = (x & 0x33333333u) << 2 | (x >> 2 & 0x33333333u);
  x = (x & 0x0F0F0F0Fu) << 4 | (x >> 4 & 0x0F0F0F0Fu);
  x = (x & 0x00FF00FFu) << 8 | (x >> 8 & 0x00FF00FFu);
  return (x << 16 | x >> 16) >> (32 - bits);
}

/* Called by all threads of the block; n is the same for all. */
static SL_DEVICE void sl_block_fft(float *re, float *im, uint32_t n, const float *twiddles) {
  uint32_t size = n, bits = 0;
  while (1u << bits < n) bits++;
  __syncthreads();
  for (; size >= 4; size /= 4) {
    sl_fft_pass_(re, im, twiddles, n, size / 4);
    twiddles += 6 * (size_t)(size / 4);
  }
  for (uint32_t k = threadIdx.x; size == 2 && k < n / 2; k += blockDim.x) {
    const float r = re[2 * k], i = im[2 * k];
    re[2 * k] = r + re[2 * k + 1];
    im[2 * k] = i + im[2 * k + 1];
    re[2 * k + 1] = r - re[2 * k + 1];
    im[2 * k + 1] = i - im[2 * k + 1];
  }
  __syncthreads();
  for (uint32_t k = threadIdx.x; k < n; k += blockDim.x) { /* one thread exchanges each pair */
    const uint32_t other = sl_reversed_bits_(k, bits);
    if (other <= k) continue;
    const float r = re[k], i = im[k];
    re[k] = re[other];
    im[k] = im[other];
    re[other] = r;
    im[other] = i;
  }
  __syncthreads();
}
#if defined(SL_TARGET_SIMT)
#define sl_block_fft(...) SL_SIMT_COLLECTIVE_VOID_(sl_block_fft, __VA_ARGS__)
#endif

#endif
