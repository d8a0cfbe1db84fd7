/* fft_test.c: sluice/fft.h against a transform in double precision, through the algorithm shared_memory.spectrum: on
 * cpu, on simt and on a GPU. */
#include "support.h"

#include <sluice/testing.h>

#include <math.h>

enum { VALUES_MAX = 65536, SHARED_MAX = 16384 };
#define RESULTS_DIGEST 0x1f6241f1e87d7e83ull

/* ------------------------------------------------------------------------------------------------ the data */

struct data {
  uint32_t n;
  float *re, *im;
  double *exact_re, *exact_im;
};

static void *new_array(size_t bytes) {
  void *array = aligned_alloc(64, (bytes + 63) / 64 * 64);
  assert_non_null(array);
  return array;
}

static struct data new_data(uint32_t n) {
  struct data d = {n, new_array(n * sizeof *d.re), new_array(n * sizeof *d.im), new_array(n * sizeof *d.exact_re),
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
  return d;
}

static void free_data(struct data *d) {
  free(d->re);
  free(d->im);
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

/* ---------------------------------------------------------------------------------------------- transforms */

/* Replaces `re` and `im` by their transform. `memory`: any, shared or scratch. Returns 0 if a GPU has too little shared
 * memory. */
static int transform_in(const char *memory, uint32_t block, uint32_t n, float *re, float *im) {
  const uint32_t offsets[] = {0, n};
  const char *target = getenv("SLUICE_TEST_TARGET");
  struct sl_test *t = sl_test_new(SHARED_MEMORY_PLUGIN, "spectrum");
  sl_test_events(t, 1);
  sl_test_block(t, block);
  sl_test_set(t, "size", n);
  sl_test_set_text(t, "memory", memory);
  sl_test_input(t, "signals", "offsets", offsets, 2);
  sl_test_input(t, "signals", "re", re, n);
  sl_test_input(t, "signals", "im", im, n);
  const int status = sl_test_run(t);
  const int is_absent = status == SL_EDEVICE && target && strcmp(target, "cuda") == 0 && n > 4096 &&
                        strstr(sl_test_messages(t), "the device has");
  if (status != SL_OK && !is_absent) fail_msg("n = %u: %s", n, sl_test_messages(t));
  memcpy(re, sl_test_output(t, "spectra", "re"), n * sizeof *re);
  memcpy(im, sl_test_output(t, "spectra", "im"), n * sizeof *im);
  sl_test_free(t);
  return !is_absent;
}

static void transform(uint32_t n, float *re, float *im) { assert_true(transform_in("any", 256, n, re, im)); }

/* -------------------------------------------------------------------------------------------------- cases */

static void the_error_is_within_its_bound(void **state) {
  (void)state;
  for (uint32_t n = 2; n <= VALUES_MAX; n *= 2) {
    struct data d = new_data(n);
    double *spare_re = new_array(n * sizeof *spare_re), *spare_im = new_array(n * sizeof *spare_im);
    double squares = 0.0, errors = 0.0, largest = 0.0;
    transform(n, d.re, d.im);
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
  static const uint32_t blocks[] = {32, 96, 256, 1024};
  for (uint32_t n = 2; n <= SHARED_MAX; n *= 2) {
    struct data in_scratch = new_data(n);
    assert_true(transform_in("scratch", 64, n, in_scratch.re, in_scratch.im));
    for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++) {
      struct data in_shared = new_data(n);
      if (transform_in("shared", blocks[b], n, in_shared.re, in_shared.im)) {
        assert_memory_equal(in_scratch.re, in_shared.re, n * sizeof(float));
        assert_memory_equal(in_scratch.im, in_shared.im, n * sizeof(float));
      } else {
        print_message("not in shared memory: n = %u\n", n);
      }
      free_data(&in_shared);
    }
    free_data(&in_scratch);
  }
}

/* The inverse is the transform with the parts exchanged. */
static void the_inverse_restores_the_values(void **state) {
  (void)state;
  for (uint32_t n = 2; n <= 4096; n *= 2) {
    struct data d = new_data(n);
    transform(n, d.re, d.im);
    transform(n, d.im, d.re);
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
  for (uint32_t i = 0; i < N; i++) {
    d.re[i] = (float)cos(2.0 * 3.14159265358979323846 * F * i / N);
    d.im[i] = (float)sin(2.0 * 3.14159265358979323846 * F * i / N);
  }
  transform(N, d.re, d.im);
  for (uint32_t i = 0; i < N; i++) {
    assert_true(fabsf(d.re[i] - (i == F ? (float)N : 0.0f)) < 1e-4f);
    assert_true(fabsf(d.im[i]) < 1e-4f);
  }
  memset(d.re, 0, N * sizeof *d.re);
  memset(d.im, 0, N * sizeof *d.im);
  d.re[0] = 3.0f;
  transform(N, d.re, d.im);
  for (uint32_t i = 0; i < N; i++) assert_true(d.re[i] == 3.0f && d.im[i] == 0.0f);
  free_data(&d);
}

/* Both zeros count as one. */
static uint32_t bits_of(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits == 0x80000000u ? 0u : bits;
}

/* The same on every machine, target and block size. */
static void results_have_the_same_bits_everywhere(void **state) {
  (void)state;
  uint64_t digest = 0;
  for (uint32_t n = 2; n <= SHARED_MAX; n *= 2) {
    struct data d = new_data(n);
    transform(n, d.re, d.im);
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
