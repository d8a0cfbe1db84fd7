/* lh5_codec_test.c: the decoder of hdf5.lh5_source on codes of random waveforms, cut, extended and changed. */
#define _GNU_SOURCE
#include "lh5_codec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

enum { SAMPLES = 50, ROUNDS = 20000 };

/* Codes of the waveform; returns their number. */
static uint64_t encode(const uint16_t *values, uint8_t *codes) {
  uint64_t count = 0;
  int before = 0;
  for (uint32_t i = 0; i < SAMPLES; i++) {
    const int difference = values[i] - before;
    uint32_t code = difference >= 0 ? 2u * (uint32_t)difference : 2u * (uint32_t)-difference - 1;
    for (; code >= 128; code >>= 7) codes[count++] = (uint8_t)(code & 127) | 128;
    codes[count++] = (uint8_t)code;
    before = values[i];
  }
  return count;
}

/* Small steps and, in some waveforms, jumps over the whole range. */
static void make_waveform(uint16_t *values) {
  const long step = random() % 3 == 0 ? 65536 : 40;
  long value = random() % 65536;
  for (uint32_t i = 0; i < SAMPLES; i++) {
    values[i] = (uint16_t)value;
    value += random() % (2 * step) - step;
    value = value < 0 ? 0 : value > 65535 ? 65535 : value;
  }
}

/* Decodes a copy of exactly `count` bytes into exactly SAMPLES values, so that a sanitizer detects any other access. */
static struct lh5_decoded decode(const uint8_t *codes, uint64_t count, uint16_t *to) {
  uint8_t *bytes = (uint8_t *)malloc(count + (count == 0));
  uint16_t *values = (uint16_t *)malloc(SAMPLES * sizeof *values);
  memcpy(bytes, codes, count);
  const struct lh5_decoded decoded = lh5_decode(bytes, count, values, SAMPLES);
  memcpy(to, values, (decoded.sample < SAMPLES ? decoded.sample : SAMPLES) * sizeof *values);
  free(bytes);
  free(values);
  return decoded;
}

static void every_waveform_is_decoded(void **state) {
  uint16_t values[SAMPLES], found[SAMPLES];
  uint8_t codes[SAMPLES * LH5_CODE_BYTES_MAX + 1] = {0};
  (void)state;
  for (int round = 0; round < ROUNDS; round++) {
    make_waveform(values);
    const uint64_t count = encode(values, codes);
    assert_true(count <= SAMPLES * LH5_CODE_BYTES_MAX);
    assert_int_equal(decode(codes, count, found).result, LH5_CODE_OK);
    assert_memory_equal(found, values, sizeof values);
    codes[count] = 0;
    assert_int_equal(decode(codes, count + 1, found).result, LH5_CODE_LONG);
  }
}

static void codes_that_are_cut_are_refused_with_the_sample(void **state) {
  uint16_t values[SAMPLES], found[SAMPLES];
  uint8_t codes[SAMPLES * LH5_CODE_BYTES_MAX];
  (void)state;
  for (int round = 0; round < ROUNDS / 10; round++) {
    make_waveform(values);
    const uint64_t count = encode(values, codes);
    for (uint64_t cut = 0; cut < count; cut++) {
      uint32_t whole = 0;
      for (uint64_t i = 0; i < cut; i++) whole += codes[i] < 128;
      const struct lh5_decoded decoded = decode(codes, cut, found);
      assert_int_equal(decoded.result, LH5_CODE_SHORT);
      assert_int_equal(decoded.sample, whole);
      assert_memory_equal(found, values, whole * sizeof *values);
    }
  }
}

static void any_bytes_are_decoded_or_refused(void **state) {
  uint16_t found[SAMPLES], values[SAMPLES];
  uint8_t codes[SAMPLES * LH5_CODE_BYTES_MAX + 8];
  uint32_t seen[LH5_CODE_RANGE + 1] = {0};
  (void)state;
  for (int round = 0; round < 10 * ROUNDS; round++) {
    make_waveform(values);
    uint64_t count = encode(values, codes);
    const long changes = random() % 4;
    for (long i = 0; i < changes; i++) codes[(uint64_t)random() % count] = (uint8_t)random();
    if (random() % 8 == 0) count = (uint64_t)random() % count;
    seen[decode(codes, count, found).result]++;
  }
  for (uint32_t i = 0; i <= LH5_CODE_RANGE; i++) assert_true(seen[i] > 0);
}

static void samples_outside_of_16_bits_are_refused(void **state) {
  const struct {
    uint8_t bytes[4];
    uint32_t count, result, sample;
  } cases[] = {{{0x01}, 1, LH5_CODE_RANGE, 0},                   /* -1 */
               {{0xfe, 0xff, 0x07}, 3, LH5_CODE_SHORT, 1},       /* 65535 */
               {{0x80, 0x80, 0x08}, 3, LH5_CODE_RANGE, 0},       /* 65536 */
               {{0xfe, 0xff, 0x07, 0x02}, 4, LH5_CODE_RANGE, 1}, /* 65535 + 1 */
               {{0x80, 0x80, 0x80, 0x00}, 4, LH5_CODE_RANGE, 0}, /* four groups */
               {{0x80, 0x80}, 2, LH5_CODE_SHORT, 0}};
  uint16_t found[SAMPLES];
  (void)state;
  for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const struct lh5_decoded decoded = decode(cases[i].bytes, cases[i].count, found);
    assert_int_equal(decoded.result, cases[i].result);
    assert_int_equal(decoded.sample, cases[i].sample);
  }
}

int main(void) {
  const char *given = getenv("SLUICE_TEST_SEED");
  const unsigned seed = given ? (unsigned)strtoul(given, NULL, 10) : (unsigned)time(NULL);
  printf("SLUICE_TEST_SEED=%u\n", seed);
  srandom(seed);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_waveform_is_decoded),
      cmocka_unit_test(codes_that_are_cut_are_refused_with_the_sample),
      cmocka_unit_test(any_bytes_are_decoded_or_refused),
      cmocka_unit_test(samples_outside_of_16_bits_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
