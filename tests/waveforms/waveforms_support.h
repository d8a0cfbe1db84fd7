/* waveforms_support.h: waveforms for tests of algorithms, and their inputs. */
#ifndef WAVEFORMS_SUPPORT_H
#define WAVEFORMS_SUPPORT_H

#include <sluice/testing.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* A number for each index, without pattern. */
static inline uint32_t mixed(uint32_t i) {
  i = (i + 12345u) * 2654435761u;
  return (i ^ i >> 15) * 2246822519u >> 7;
}

/* A pulse on a baseline of 1000, with noise, for each event. */
static inline void make_traces(uint16_t *value, uint16_t *baseline, uint32_t events, uint32_t samples) {
  for (uint32_t e = 0; e < events; e++) {
    const uint32_t begin = samples / 2 + 3 * e;
    baseline[e] = (uint16_t)(990 + 10 * e);
    for (uint32_t i = 0; i < samples; i++) {
      const double pulse = i < begin ? 0 : (5000.0 + 7 * e) * (1 - (i - begin) / 30000.0);
      value[(size_t)e * samples + i] = (uint16_t)(1000 + pulse + mixed(e * 100003 + i) % 40);
    }
  }
}

/* Values with a fraction, for each event another height. */
static inline void make_series(float *value, uint32_t events, uint32_t length) {
  for (uint32_t e = 0; e < events; e++)
    for (uint32_t i = 0; i < length; i++)
      value[(size_t)e * length + i] =
          (float)(mixed(e * 7919 + i) % 2001) * 0.0625f - 60.0f + (i > length / 2 ? 300.0f + (float)e : 0.0f);
}

/* A test with the input `series`; `valid` NULL: all have values. */
static inline struct sl_test *test_with_series(const char *algorithm, const float *value, uint32_t events,
                                               uint32_t length, const uint32_t *valid) {
  struct sl_test *t = sl_test_new(WAVEFORMS_PLUGIN, algorithm);
  uint32_t all[64];
  for (uint32_t e = 0; e < 64; e++) all[e] = 1;
  sl_test_events(t, events);
  sl_test_dimension(t, "series", "length", length);
  sl_test_input(t, "series", "value", value, (uint64_t)events * length);
  sl_test_input(t, "series", "valid", valid ? valid : all, events);
  return t;
}

/* Sums of the values before each index, from the values of `test_with_series`. */
static inline void make_sums(const float *value, uint32_t events, uint32_t length, double *sum) {
  for (uint32_t e = 0; e < events; e++) {
    double *of_event = sum + (size_t)e * (length + 1);
    of_event[0] = 0;
    for (uint32_t i = 0; i < length; i++) of_event[i + 1] = of_event[i] + (double)value[(size_t)e * length + i];
  }
}

static inline void input_traces(struct sl_test *t, const uint16_t *value, const uint16_t *baseline, uint32_t events,
                                uint32_t samples) {
  sl_test_events(t, events);
  sl_test_dimension(t, "traces", "samples", samples);
  sl_test_input(t, "traces", "value", value, (uint64_t)events * samples);
  if (baseline) sl_test_input(t, "traces", "baseline", baseline, events);
}

/* Runs and ends a test that must be refused with this text. */
static inline void assert_refused(struct sl_test *t, const char *text) {
  assert_true(sl_test_run(t) < 0);
  if (!strstr(sl_test_messages(t), text)) fail_msg("expected \"%s\", found \"%s\"", text, sl_test_messages(t));
  sl_test_free(t);
}

static inline void assert_near(double found, double expected, double tolerance, const char *what, uint32_t index) {
  if (!(found - expected <= tolerance && expected - found <= tolerance))
    fail_msg("%s %u is %.17g, expected %.17g within %g", what, index, found, expected, tolerance);
}

#endif
