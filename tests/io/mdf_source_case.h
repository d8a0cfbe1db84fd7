/* mdf_source_case.h: shared by the tests of io.mdf_source. */
#ifndef TEST_MDF_SOURCE_CASE_H
#define TEST_MDF_SOURCE_CASE_H

#include "source_driver.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct driver driver;

static inline int start(void **state) {
  (void)state;
  driver_start(&driver);
  return 0;
}

static inline int stop(void **state) {
  (void)state;
  driver_stop(&driver);
  return 0;
}

static inline void assert_message(const char *text) {
  if (!strstr(driver.messages, text)) fail_msg("no message holds \"%s\"; they are:\n%s", text, driver.messages);
}

static inline struct bytes simple_file(uint64_t first, uint32_t count) {
  struct bytes file = {0};
  for (uint32_t i = 0; i < count; i++) add_simple_record(&file, first + i);
  return file;
}

/* Checks that the events [begin, end) are valid and numbered from `number`. */
static inline void assert_numbered(uint32_t begin, uint32_t end, uint64_t number) {
  assert_true(end <= driver.seen_count);
  for (uint32_t i = begin; i < end; i++) {
    assert_int_equal(driver.seen[i].event.error, SL_EVENT_OK);
    assert_int_equal(driver.seen[i].event.number, number + i - begin);
    assert_int_equal(driver.seen[i].banks[DRIVER_velo_clusters], 3);
  }
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, start, stop)

#endif
