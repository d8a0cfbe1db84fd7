/* parts_test.c: ranges of input files for sources that read whole files only, and without files. For sources that read
 * ranges see tests/io. */
#include "scratch.h"
#include "session.h"
#include "support.h"

static const char graph[] =
    "sluice: 1\nnodes:\n  raw: { use: toy.source }\n  order: { use: toy.order, in: { numbers: raw } }\n";

static char path[SCRATCH_PATH_MAX];

static int write_file(void **state) {
  (void)state;
  scratch_file(path);
  FILE *file = fopen(path, "wb");
  assert_true(file && fwrite("toy\n....", 1, 8, file) == 8);
  return fclose(file);
}

/* Opens a session with these ranges; returns its messages, to be freed. */
static char *said_of(const char *const *paths, const struct sl_input_range *ranges, int expected) {
  struct sl_diagnostics *d = sl_diagnostics_new();
  struct sl_options o = toy_options(graph, "cpu");
  struct sl_session *session = NULL;
  o.input_paths = paths;
  o.input_ranges = ranges;
  assert_int_equal(sl_session_open(&o, d, &session), expected);
  char *said = toy_messages(d);
  sl_session_close(session);
  sl_diagnostics_free(d);
  return said;
}

static void assert_says(char *said, const char *text) {
  if (!strstr(said, text)) fail_msg("'%s' is not in '%s'", text, said);
  free(said);
}

static void a_source_of_whole_files_reads_no_range(void **state) {
  (void)state;
  const char *const paths[] = {path, path, NULL};
  const struct sl_input_range whole[2] = {{0}}, parts[2] = {{0}, {4, 4, 0}};
  free(said_of(paths, whole, SL_OK));
  assert_says(said_of(paths, parts, SL_EINVAL), "toy.source reads whole files; it cannot read a part of ");
}

static void ranges_need_files(void **state) {
  (void)state;
  const struct sl_input_range part = {0, 4, 0};
  const char *const none[] = {NULL};
  assert_says(said_of(NULL, &part, SL_EINVAL), "input_ranges without input_paths");
  assert_says(said_of(none, &part, SL_EINVAL), "input_paths names no file");
  assert_says(said_of(none, NULL, SL_EINVAL), "input_paths names no file");
}

static void files_of_such_a_source_have_no_index(void **state) {
  (void)state;
  const char *const folders[] = {TOY_FOLDER, NULL}, *const paths[] = {path, NULL};
  struct sl_diagnostics *d = sl_diagnostics_new();
  struct sl_index *index = (struct sl_index *)1;
  assert_int_equal(sl_index_files(folders, paths, 0, d, &index), SL_EFORMAT);
  assert_null(index);
  assert_says(toy_messages(d), "is read by toy.source, which cannot read parts of files");
  sl_diagnostics_free(d);
}

static void the_index_of_no_files_is_empty(void **state) {
  (void)state;
  struct sl_diagnostics *d = sl_diagnostics_new();
  struct sl_index *index = NULL;
  uint64_t count = 1;
  assert_int_equal(sl_index_files(NULL, NULL, 1, d, &index), SL_OK);
  (void)sl_index_parts(index, &count);
  assert_int_equal(count, 0);
  sl_index_close(index);
  sl_index_close(NULL);
  sl_diagnostics_free(d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_source_of_whole_files_reads_no_range),
      cmocka_unit_test(ranges_need_files),
      cmocka_unit_test(files_of_such_a_source_have_no_index),
      cmocka_unit_test(the_index_of_no_files_is_empty),
  };
  return cmocka_run_group_tests(tests, write_file, NULL);
}
