/* emulator.c: the test harness on the target simt, and tests on another target than the one they name:
 *
 *   SLUICE_TEST_TARGET=simt       replaces kernels of NAME.cpu.so by those of NAME.simt.so, so that a test written for
 *   one
 *                                 target runs on both
 *   SLUICE_TEST_SIMT_SEED=N       settings of the emulator, until the test sets its own
 *   SLUICE_TEST_SIMT_WARP=32|64
 */
#include "base/locale.h"
#include "testing/harness.h"

#include <stdlib.h>
#include <string.h>

#if defined(SLUICE_SIMT)
#include "simt/simt.h"

struct test_emulator {
  struct sl_device *device;
  struct sl_stream *stream;
};

static void set(struct sl_test *t, const char *key, const char *value) {
  char reason[256];
  if (sl_simt_device_set(t->emulator->device, key, value, reason, sizeof(reason))) test_die(t, "%s", reason);
  sl_simt_stream_close(t->emulator->stream);
  t->emulator->stream = NULL;
}

void test_emulator_open(struct sl_test *t) {
  char reason[256];
  const char *seed = getenv("SLUICE_TEST_SIMT_SEED"), *warp = getenv("SLUICE_TEST_SIMT_WARP");
  t->emulator = test_allocate(1, sizeof(*t->emulator));
  if (sl_simt_device_open(0, &t->emulator->device, reason, sizeof(reason))) test_die(t, "%s", reason);
  if (seed) set(t, "seed", seed);
  if (warp) set(t, "warp", warp);
}

struct sl_stream *test_emulator_stream(struct sl_test *t) {
  if (!t->emulator->stream) t->emulator->stream = sl_simt_stream_open(t->emulator->device);
  if (!t->emulator->stream) test_die(t, "no memory for the emulator");
  return t->emulator->stream;
}

void test_emulator_close(struct sl_test *t) {
  if (!t->emulator) return;
  sl_simt_stream_close(t->emulator->stream);
  sl_simt_device_close(t->emulator->device);
  free(t->emulator);
}

static void set_number(struct sl_test *t, const char *key, uint64_t value) {
  char text[32];
  snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
  if (!test_device_set(t, key, text) && t->emulator) set(t, key, text);
}
#else
void test_emulator_open(struct sl_test *t) { test_die(t, "this build has no emulator"); }
struct sl_stream *test_emulator_stream(struct sl_test *t) {
  test_die(t, "this build has no emulator");
}
void test_emulator_close(struct sl_test *t) { (void)t; }
static void set_number(struct sl_test *t, const char *key, uint64_t value) { (void)t, (void)key, (void)value; }
#endif

void sl_test_seed(struct sl_test *t, uint64_t seed) {
  SL_IN_C_LOCALE();
  set_number(t, "seed", seed);
}
void sl_test_warp(struct sl_test *t, uint32_t threads) {
  SL_IN_C_LOCALE();
  set_number(t, "warp", threads);
}

int test_other_target(const char *target, char *path, size_t size) {
  const char *required = getenv("SLUICE_TEST_TARGET");
  char suffix[32];
  if (!required || strcmp(required, target) == 0) return 0;
  const size_t length = strlen(path), suffix_length = (size_t)snprintf(suffix, sizeof(suffix), ".%s.so", target);
  if (length < suffix_length || strcmp(path + length - suffix_length, suffix) != 0) return 0;
  snprintf(path + length - suffix_length, size - (length - suffix_length), ".%s.so", required);
  return 1;
}
