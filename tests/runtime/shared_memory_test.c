/* shared_memory_test.c: kernels with shared memory of a size chosen in `run`, on cpu, on simt and on a GPU: every size
 * that the device has gives the same results, and a larger size is an error. */
#include "support.h"

#include <sluice/testing.h>

enum { EVENTS = 11, NUMBERS_MAX = 300, MOST = 225 << 10 };

static uint32_t offsets[EVENTS + 1], values[EVENTS * NUMBERS_MAX];
static uint32_t expected_offsets[EVENTS + 1], expected[EVENTS * NUMBERS_MAX];

static void draw_numbers(void) {
  uint32_t state = 1;
  for (uint32_t e = 0; e < EVENTS; e++) {
    state = state * 1664525u + 1013904223u;
    const uint32_t count = e == 0 ? NUMBERS_MAX : e == 4 ? 0 : state >> 16 & 255;
    offsets[e + 1] = offsets[e] + count;
    for (uint32_t i = offsets[e]; i < offsets[e + 1]; i++) values[i] = (state = state * 1664525u + 1013904223u) >> 20;
    uint32_t selected = expected_offsets[e];
    for (uint32_t i = 0; i < count; i++)
      if (values[offsets[e] + i] < values[offsets[e + 1] - 1 - i]) expected[selected++] = values[offsets[e] + i];
    expected_offsets[e + 1] = selected;
  }
}

static struct sl_test *prepare(uint32_t shared_bytes, uint32_t block) {
  struct sl_test *t = sl_test_new(SHARED_MEMORY_PLUGIN, "smaller");
  sl_test_events(t, EVENTS);
  sl_test_block(t, block);
  sl_test_set(t, "shared_bytes", shared_bytes);
  sl_test_input(t, "numbers", "offsets", offsets, EVENTS + 1);
  sl_test_input(t, "numbers", "value", values, offsets[EVENTS]);
  return t;
}

static int is_on_gpu(void) {
  const char *target = getenv("SLUICE_TEST_TARGET");
  return target && strcmp(target, "cuda") == 0;
}

static void every_size_gives_the_same_results(void **state) {
  (void)state;
  static const uint32_t sizes[] = {4 * NUMBERS_MAX, 48 << 10, 64 << 10, 98 << 10, 161 << 10, MOST, 4 * NUMBERS_MAX};
  static const uint32_t blocks[] = {32, 96, 1024};
  for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++)
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
      struct sl_test *t = prepare(sizes[s], blocks[b]);
      const int status = sl_test_run(t);
      if (is_on_gpu() && sizes[s] > 46 << 10 && status == SL_EDEVICE && strstr(sl_test_messages(t), "the device has")) {
        print_message("%s", sl_test_messages(t));
      } else {
        if (status != SL_OK) fail_msg("%u bytes: %s", sizes[s], sl_test_messages(t));
        assert_memory_equal(sl_test_output(t, "selected", "offsets"), expected_offsets, sizeof expected_offsets);
        assert_memory_equal(sl_test_output(t, "selected", "value"), expected,
                            expected_offsets[EVENTS] * sizeof *expected);
      }
      sl_test_free(t);
    }
}

static void more_than_the_device_has_is_an_error(void **state) {
  (void)state;
  static const uint32_t sizes[] = {1 << 20, 4294967292u};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    char text[128];
    struct sl_test *t = prepare(sizes[s], 64);
    assert_int_equal(sl_test_run(t), SL_EDEVICE);
    if (is_on_gpu())
      snprintf(text, sizeof text, "kernel smaller_count: a block needs ");
    else
      snprintf(text, sizeof text, "kernel smaller_count: a block needs %u bytes of shared memory; the device has %d",
               sizes[s], MOST);
    if (!strstr(sl_test_messages(t), text)) fail_msg("%s is not in: %s", text, sl_test_messages(t));
    sl_test_free(t);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_size_gives_the_same_results),
      cmocka_unit_test(more_than_the_device_has_is_an_error),
  };
  draw_numbers();
  return cmocka_run_group_tests_name("shared_memory", tests, NULL, NULL);
}
