/* fft_test.c: sluice/fft.h against a transform in double precision, on cpu; kernel_simt_test.c runs the same cases on
 * the emulator. */
#include "kernel_cases.h"

#include <sluice/fft.h>

#include <math.h>
#include <stdlib.h>

enum { IN_SHARED = 1024 };
#define RESULTS_DIGEST 0x1f6241f1e87d7e83ull

struct fft_args {
  float *re, *im;
  uint32_t n;
  const float *twiddles;
};

SL_KERNEL(transform, struct fft_args) { sl_block_fft(a.re, a.im, a.n, a.twiddles); }

SL_KERNEL(transform_in_shared, struct fft_args) {
  __shared__ float re[IN_SHARED], im[IN_SHARED];
  for (uint32_t i = threadIdx.x; i < a.n; i += blockDim.x) {
    re[i] = a.re[i];
    im[i] = a.im[i];
  }
  sl_block_fft(re, im, a.n, a.twiddles);
  for (uint32_t i = threadIdx.x; i < a.n; i += blockDim.x) {
    a.re[i] = re[i];
    a.im[i] = im[i];
  }
}

/* ------------------------------------------------------------------------------------------------ the data */

struct data {
  uint32_t n;
  float *re, *im, *twiddles;
  double *exact_re, *exact_im;
};

static void *new_array(size_t bytes) {
  void *array = aligned_alloc(64, (bytes + 63) / 64 * 64);
  assert_non_null(array);
  return array;
}

static struct data new_data(uint32_t n) {
  struct data d = {n,
                   new_array(n * sizeof *d.re),
                   new_array(n * sizeof *d.im),
                   new_array(sl_fft_twiddles(n) * sizeof *d.twiddles),
                   new_array(n * sizeof *d.exact_re),
                   new_array(n * sizeof *d.exact_im)};
  uint32_t state = n;
  for (uint32_t i = 0; i < n; i++) {
    state = state * 1664525u + 1013904223u;
    d.re[i] = (float)(int32_t)state * 0x1p-31f;
    state = state * 1664525u + 1013904223u;
    d.im[i] = (float)(int32_t)state * 0x1p-31f;
    d.exact_re[i] = (double)d.re[i];
    d.exact_im[i] = (double)d.im[i];
  }
  sl_fft_fill(d.twiddles, n);
  return d;
}

static void free_data(struct data *d) {
  free(d->re);
  free(d->im);
  free(d->twiddles);
  free(d->exact_re);
  free(d->exact_im);
}

/* The transform by its definition for halves, in double precision. `spare`: room for n values. */
static void transform_exactly(double *re, double *im, double *spare_re, double *spare_im, uint32_t n) {
  if (n == 1) return;
  for (uint32_t k = 0; k < n / 2; k++) {
    spare_re[k] = re[2 * k];
    spare_im[k] = im[2 * k];
    spare_re[n / 2 + k] = re[2 * k + 1];
    spare_im[n / 2 + k] = im[2 * k + 1];
  }
  transform_exactly(spare_re, spare_im, re, im, n / 2);
  transform_exactly(spare_re + n / 2, spare_im + n / 2, re + n / 2, im + n / 2, n / 2);
  for (uint32_t k = 0; k < n / 2; k++) {
    const double angle = 2.0 * 3.14159265358979323846 * (double)k / (double)n, c = cos(angle), s = -sin(angle);
    const double turned_re = spare_re[n / 2 + k] * c - spare_im[n / 2 + k] * s;
    const double turned_im = spare_re[n / 2 + k] * s + spare_im[n / 2 + k] * c;
    re[k] = spare_re[k] + turned_re;
    im[k] = spare_im[k] + turned_im;
    re[n / 2 + k] = spare_re[k] - turned_re;
    im[n / 2 + k] = spare_im[k] - turned_im;
  }
}

/* -------------------------------------------------------------------------------------------------- cases */

static void the_error_is_within_its_bound(void **state) {
  (void)state;
  for (uint32_t n = 2; n <= SL_FFT_SIZE_MAX; n *= 2) {
    struct data d = new_data(n);
    double *spare_re = new_array(n * sizeof *spare_re), *spare_im = new_array(n * sizeof *spare_im);
    double squares = 0.0, errors = 0.0, largest = 0.0;
    const struct fft_args args = {d.re, d.im, n, d.twiddles};
    assert_int_equal(SL_LAUNCH(&launch, transform, sl_make_grid(SL_GRID_BLOCKS, 1), args), SL_OK);
    transform_exactly(d.exact_re, d.exact_im, spare_re, spare_im, n);
    for (uint32_t i = 0; i < n; i++) {
      const double off_re = (double)d.re[i] - d.exact_re[i], off_im = (double)d.im[i] - d.exact_im[i];
      const double error = off_re * off_re + off_im * off_im;
      squares += d.exact_re[i] * d.exact_re[i] + d.exact_im[i] * d.exact_im[i];
      errors += error;
      largest = error > largest ? error : largest;
    }
    const double bound = (1.3 + 0.1 * log2((double)n)) * 0x1p-24, error = sqrt(errors / squares);
    if (!(error <= bound)) fail_msg("n = %u: error %g, %g is stated", n, error, bound);
    if (!(sqrt(largest * n / squares) <= 6.0 * bound)) fail_msg("n = %u: largest error %g", n, sqrt(largest));
    free(spare_re);
    free(spare_im);
    free_data(&d);
  }
}

static void shared_memory_and_scratch_give_the_same_bits(void **state) {
  (void)state;
  for (uint32_t n = 2; n <= IN_SHARED; n *= 2) {
    struct data in_scratch = new_data(n), in_shared = new_data(n);
    const struct fft_args args = {in_scratch.re, in_scratch.im, n, in_scratch.twiddles};
    const struct fft_args shared_args = {in_shared.re, in_shared.im, n, in_shared.twiddles};
    assert_int_equal(SL_LAUNCH(&launch, transform, sl_make_grid(SL_GRID_BLOCKS, 1), args), SL_OK);
    assert_int_equal(SL_LAUNCH(&launch, transform_in_shared, sl_make_grid(SL_GRID_BLOCKS, 1), shared_args), SL_OK);
    assert_memory_equal(in_scratch.re, in_shared.re, n * sizeof(float));
    assert_memory_equal(in_scratch.im, in_shared.im, n * sizeof(float));
    free_data(&in_scratch);
    free_data(&in_shared);
  }
}

/* The inverse is the transform with the parts exchanged. */
static void the_inverse_restores_the_values(void **state) {
  (void)state;
  for (uint32_t n = 2; n <= 4096; n *= 2) {
    struct data d = new_data(n);
    const struct fft_args args = {d.re, d.im, n, d.twiddles}, inverse = {d.im, d.re, n, d.twiddles};
    assert_int_equal(SL_LAUNCH(&launch, transform, sl_make_grid(SL_GRID_BLOCKS, 1), args), SL_OK);
    assert_int_equal(SL_LAUNCH(&launch, transform, sl_make_grid(SL_GRID_BLOCKS, 1), inverse), SL_OK);
    for (uint32_t i = 0; i < n; i++) {
      assert_true(fabs((double)d.re[i] / n - d.exact_re[i]) < 2e-6);
      assert_true(fabs((double)d.im[i] / n - d.exact_im[i]) < 2e-6);
    }
    free_data(&d);
  }
}

/* A single tone of frequency f has all of its power at f, and an impulse the same at all frequencies. */
static void tones_and_impulses_are_where_they_belong(void **state) {
  (void)state;
  enum { N = 256, F = 37 };
  struct data d = new_data(N);
  const struct fft_args args = {d.re, d.im, N, d.twiddles};
  for (uint32_t i = 0; i < N; i++) {
    d.re[i] = (float)cos(2.0 * 3.14159265358979323846 * F * i / N);
    d.im[i] = (float)sin(2.0 * 3.14159265358979323846 * F * i / N);
  }
  assert_int_equal(SL_LAUNCH(&launch, transform, sl_make_grid(SL_GRID_BLOCKS, 1), args), SL_OK);
  for (uint32_t i = 0; i < N; i++) {
    assert_true(fabsf(d.re[i] - (i == F ? (float)N : 0.0f)) < 1e-4f);
    assert_true(fabsf(d.im[i]) < 1e-4f);
  }
  memset(d.re, 0, N * sizeof *d.re);
  memset(d.im, 0, N * sizeof *d.im);
  d.re[0] = 3.0f;
  assert_int_equal(SL_LAUNCH(&launch, transform, sl_make_grid(SL_GRID_BLOCKS, 1), args), SL_OK);
  for (uint32_t i = 0; i < N; i++) assert_true(d.re[i] == 3.0f && d.im[i] == 0.0f);
  free_data(&d);
}

static uint32_t bits_of(float x) { return sl_bits_from_f32(x) == 0x80000000u ? 0u : sl_bits_from_f32(x); }

/* The same on every machine, target and block size. */
static void results_have_the_same_bits_everywhere(void **state) {
  (void)state;
  uint64_t digest = 0;
  for (uint32_t n = 2; n <= 16384; n *= 2) {
    struct data d = new_data(n);
    const struct fft_args args = {d.re, d.im, n, d.twiddles};
    assert_int_equal(SL_LAUNCH(&launch, transform, sl_make_grid(SL_GRID_BLOCKS, 1), args), SL_OK);
    for (uint32_t i = 0; i < n; i++) {
      digest = (digest ^ bits_of(d.re[i])) * 0x9e3779b97f4a7c15ull;
      digest = (digest ^ bits_of(d.im[i]) ^ digest >> 29) * 0x9e3779b97f4a7c15ull;
    }
    free_data(&d);
  }
  if (digest != RESULTS_DIGEST) fail_msg("digest %016llx", (unsigned long long)digest);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_error_is_within_its_bound),
      cmocka_unit_test(shared_memory_and_scratch_give_the_same_bits),
      cmocka_unit_test(the_inverse_restores_the_values),
      cmocka_unit_test(tones_and_impulses_are_where_they_belong),
      cmocka_unit_test(results_have_the_same_bits_everywhere),
  };
  return cmocka_run_group_tests_name("fft", tests, NULL, NULL);
}
