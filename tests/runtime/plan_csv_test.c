/* plan_csv_test.c: planning problems as CSV text: values that are read and written, and damaged text, which must be
 * noticed and never read beyond its end. For messages see tests/cli/cases/plan_csv.txt. */
#include "plan/csv.h"
#include "scratch.h"
#include "support.h"

#include <sluice/plugin.h>

static const char good[] = "id,lower,upper,size\nimage,0,3,40\nedges,1,4,24\nmask,3,6,40\nsum,4,6,24\n";

static int read_text(const char *text, size_t bytes, struct sl_diagnostics *d, struct sl_plan_csv *csv) {
  static char path[SCRATCH_PATH_MAX];
  if (!*path) scratch_file(path);
  write_whole_file(path, text, bytes);
  return sl_plan_csv_read(path, d, csv);
}

static void check_good(const char *text, uint32_t warnings) {
  struct sl_diagnostics *d = sl_diagnostics_new();
  struct sl_plan_csv csv;
  assert_int_equal(read_text(text, strlen(text), d, &csv), SL_OK);
  assert_int_equal(sl_diagnostics_errors(d), 0);
  assert_int_equal(sl_diagnostics_count(d), warnings);
  assert_int_equal(csv.count, 4);
  assert_string_equal(csv.ids[1], "edges");
  assert_int_equal(csv.buffers[1].lower, 1);
  assert_int_equal(csv.buffers[1].upper, 4);
  assert_int_equal(csv.buffers[1].size, 24);
  assert_string_equal(csv.ids[3], "sum");
  assert_int_equal(csv.buffers[3].size, 24);
  sl_plan_csv_free(&csv);
  sl_diagnostics_free(d);
}

static void a_file_is_read_with_any_order_of_columns_and_any_line_ends(void **state) {
  (void)state;
  check_good(good, 0);
  check_good("id,lower,upper,size\nimage,0,3,40\nedges,1,4,24\nmask,3,6,40\nsum,4,6,24",
             0); /* no line break at the end */
  check_good("size,note,upper,lower,id\r\n40,,3,0,image\r\n\r\n24,x,4,1,edges\r\n40,,6,3,mask\r\n24,,6,4,sum\r\n", 1);
}

static void a_problem_is_written_with_its_offsets(void **state) {
  (void)state;
  struct sl_diagnostics *d = sl_diagnostics_new();
  struct sl_plan_csv csv;
  assert_int_equal(read_text(good, sizeof good - 1, d, &csv), SL_OK);
  char *text = NULL;
  size_t bytes = 0;
  FILE *file = open_memstream(&text, &bytes);
  sl_plan_csv_write(&csv, file);
  fclose(file);
  assert_string_equal(text,
                      "id,lower,upper,size,offset\nimage,0,3,40,0\nedges,1,4,24,0\nmask,3,6,40,0\nsum,4,6,24,0\n");
  free(text);
  sl_plan_csv_free(&csv);
  sl_diagnostics_free(d);
}

static void a_byte_order_mark_at_the_beginning_is_ignored(void **state) {
  (void)state;
  char text[sizeof good + 3] = "\xEF\xBB\xBF";
  check_good(strcat(text, good), 0);
}

static void alignments_are_read_and_written(void **state) {
  (void)state;
  static const char text[] = "alignment,id,lower,upper,size\n8,a,0,3,5\n,b,0,3,5\n1,c,0,3,5\n";
  struct sl_diagnostics *d = sl_diagnostics_new();
  struct sl_plan_csv csv;
  assert_int_equal(read_text(text, sizeof text - 1, d, &csv), SL_OK);
  assert_int_equal(sl_diagnostics_count(d), 0);
  assert_int_equal(csv.buffers[0].alignment, 8);
  assert_int_equal(csv.buffers[1].alignment, 0);
  assert_int_equal(csv.buffers[2].alignment, 1);
  char *written = NULL;
  size_t bytes = 0;
  FILE *file = open_memstream(&written, &bytes);
  sl_plan_csv_write(&csv, file);
  fclose(file);
  assert_string_equal(written, "id,lower,upper,size,offset,alignment\na,0,3,5,0,8\nb,0,3,5,0,1\nc,0,3,5,0,1\n");
  free(written);
  sl_plan_csv_free(&csv);
  sl_diagnostics_free(d);
}

/* Each damaged text is refused with a message, or is another valid problem. */
static void damaged_text_is_refused_or_is_another_problem(void **state) {
  (void)state;
  static const char bytes[] = "0123456789,-\n\r\0 xX\xff";
  uint64_t random = 88172645463325252u;
  uint32_t refused = 0, mutants = 3000;
  for (uint32_t m = 0; m < mutants; m++) {
    char text[sizeof good];
    memcpy(text, good, sizeof good);
    size_t length = sizeof good - 1;
    for (uint32_t change = 0; change <= m % 3; change++) {
      random ^= random << 13;
      random ^= random >> 7;
      random ^= random << 17;
      text[(random >> 32) % length] = bytes[(random >> 16) % (sizeof bytes - 1)];
      if (random % 7 == 0) length = 1 + (random >> 40) % length;
    }
    struct sl_diagnostics *d = sl_diagnostics_new();
    struct sl_plan_csv csv;
    if (read_text(text, length, d, &csv) == SL_OK) {
      const struct sl_plan_request request = {csv.buffers, csv.count, 1, 0, 1.0, 0};
      struct sl_plan_result result;
      assert_int_equal(sl_diagnostics_errors(d), 0);
      assert_int_equal(sl_plan_solve(&request, &result), SL_OK);
    } else {
      assert_true(sl_diagnostics_errors(d) > 0);
      refused++;
    }
    sl_plan_csv_free(&csv);
    sl_diagnostics_free(d);
  }
  print_message("%u of %u mutants refused\n", refused, mutants);
  assert_true(refused > mutants / 4 && refused < mutants);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_file_is_read_with_any_order_of_columns_and_any_line_ends),
      cmocka_unit_test(a_problem_is_written_with_its_offsets),
      cmocka_unit_test(a_byte_order_mark_at_the_beginning_is_ignored),
      cmocka_unit_test(alignments_are_read_and_written),
      cmocka_unit_test(damaged_text_is_refused_or_is_another_problem),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
