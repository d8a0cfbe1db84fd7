/* struct_sizes_test.c: a struct of a program built with another version of sluice.h is refused because of its size, and
 * nothing after the size is read. The structs in these tests end where the readable memory ends. */
#include "base/diagnostics.h"

#include <sluice/sluice.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { OLDER_BYTES = 8 }; /* size of a struct of another version */

/* Returns a struct that consists of its size only; memory after it is not readable. */
static void *older_struct(void) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(pages != MAP_FAILED);
  assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
  char *older = pages + page - OLDER_BYTES;
  memcpy(older, &(uint32_t){OLDER_BYTES}, sizeof(uint32_t));
  return older;
}

static void drop(char *older) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  assert_int_equal(munmap(older + OLDER_BYTES - page, 2 * page), 0);
}

static void assert_refused(struct sl_diagnostics *d, int status, const char *message) {
  assert_int_equal(status, SL_EINVAL);
  assert_int_equal(sl_diagnostics_count(d), 1);
  assert_non_null(strstr(sl_diagnostics_at(d, 0)->message, message));
  sl_diagnostics_free(d);
}

static void options_of_another_size_are_refused_without_reading_them(void **state) {
  (void)state;
  struct sl_diagnostics *d = sl_diagnostics_new();
  struct sl_options *older = older_struct();
  struct sl_session *session = (struct sl_session *)older;
  assert_refused(d, sl_session_open(older, d, &session), "sl_options has 8 bytes, not ");
  assert_null(session);
  drop((char *)older);
}

static void trial_options_of_another_size_are_refused_without_reading_them(void **state) {
  (void)state;
  struct sl_diagnostics *d = sl_diagnostics_new();
  struct sl_trial_options *older = older_struct();
  struct sl_trial_counts counts;
  assert_refused(d, sl_test_plugin(older, "velo", d, NULL, &counts), "sl_trial_options has 8 bytes, not ");
  assert_int_equal(counts.passed + counts.wrong + counts.not_run, 0);
  drop((char *)older);
}

static void replay_options_of_another_size_are_refused_without_reading_them(void **state) {
  (void)state;
  struct sl_diagnostics *d = sl_diagnostics_new();
  struct sl_replay_options *older = older_struct();
  uint32_t failed = 1;
  assert_refused(d, sl_replay(older, "case.slc", d, NULL, &failed), "sl_replay_options has 8 bytes, not ");
  assert_int_equal(failed, 0);
  drop((char *)older);
}

static void feeds_and_events_of_another_size_are_refused_without_reading_them(void **state) {
  (void)state;
  void *older = older_struct();
  assert_null(sl_feed_new(older));
  struct sl_feed *feed = sl_feed_new(NULL);
  assert_non_null(feed);
  assert_int_equal(sl_feed_give_event(feed, older, 0, NULL), SL_EINVAL);
  sl_feed_free(feed);
  drop(older);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(options_of_another_size_are_refused_without_reading_them),
      cmocka_unit_test(trial_options_of_another_size_are_refused_without_reading_them),
      cmocka_unit_test(replay_options_of_another_size_are_refused_without_reading_them),
      cmocka_unit_test(feeds_and_events_of_another_size_are_refused_without_reading_them),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
