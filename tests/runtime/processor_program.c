/* processor_program.c: calls each function that a program can call first, on a processor without the instructions of
 * this build, and prints the return values and messages. processor_test.py runs it on an emulated processor. */
#include <sluice/planner.h>
#include <sluice/sluice.h>
#include <sluice/testing.h>

static int failures;

static void check(int holds, const char *what) {
  if (holds) return;
  printf("FAILED: %s\n", what);
  failures++;
}
#define CHECK(holds) check(holds, #holds)

int main(void) {
  const char *none[] = {NULL};
  struct sl_session *session = NULL;
  struct sl_index *index = NULL;
  struct sl_allocation *allocation = NULL;
  struct sl_trial_counts counts;
  struct sl_diagnostics *d = sl_diagnostics_new();
  const struct sl_options options = sl_options_default();
  const struct sl_trial_options trial = sl_trial_options_default();
  const struct sl_replay_options replay = sl_replay_options_default();
  uint32_t failed = 0;
  CHECK(sl_processor_lacks() != NULL);
  CHECK(*sl_version() && *sl_commit() && *sl_devices());
  CHECK(sl_session_open(&options, d, &session) == SL_EINVAL && !session);
  CHECK(sl_index_files(NULL, none, 0, d, &index) == SL_EINVAL && !index);
  CHECK(sl_allocation_open("none.csv", d, &allocation) == SL_EINVAL && !allocation);
  CHECK(sl_write_description(NULL, "velo", d, stdout) == SL_EINVAL);
  CHECK(sl_write_description_json(NULL, "velo", d, stdout) == SL_EINVAL);
  CHECK(sl_write_schema(NULL, d, stdout) == SL_EINVAL);
  CHECK(sl_test_plugin(&trial, "velo", d, stdout, &counts) == SL_EINVAL);
  CHECK(sl_capture(&options, "tracks", NULL, "none", d, stdout) == SL_EINVAL);
  CHECK(sl_replay(&replay, "none", d, stdout, &failed) == SL_EINVAL);
  CHECK(sl_write_file("none", "", 0, d) == SL_EINVAL);
  CHECK(sl_write_plugin_list(NULL, stdout) < 0);
  CHECK(sl_write_graph_list(stdout) < 0);
  sl_write_version(stdout);
  CHECK(!sl_feed_new(NULL));
  CHECK(!sl_test_new("none.so", "none"));
  CHECK(sl_digest_join(1, 1, 1) == 0 && sl_digest_totals(NULL, 0) == 0);
  CHECK(sl_diagnostics_count(d) == 10 && sl_diagnostics_errors(d) == 10);
  sl_diagnostics_print(d, stdout);
  sl_diagnostics_free(d);
  return failures != 0;
}
