/* channels_test.c: tables of decay times. */
#include "waveforms_support.h"

#include <math.h>
#include <scratch.h>

static char folder[SCRATCH_PATH_MAX], path[SCRATCH_PATH_MAX + 16];

/* A test of a table with this text; NULL: without a table. */
static struct sl_test *test_of_table(const char *text) {
  struct sl_test *t = sl_test_new(WAVEFORMS_PLUGIN, "channels");
  if (text) {
    scratch_write(folder, "table.csv", text, strlen(text));
    sl_test_set_text(t, "path", path);
  }
  return t;
}

static void assert_table(const char *text, uint32_t count, const uint32_t *number, const double *tau_ns) {
  struct sl_test *t = test_of_table(text);
  sl_test_set(t, "tau_ns", tau_ns[count]);
  sl_test_set(t, "period_ns", 8);
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(sl_test_output_count(t, "channels", "number"), count + 1);
  const uint32_t *found = sl_test_output(t, "channels", "number");
  const double *decay = sl_test_output(t, "channels", "decay");
  for (uint32_t i = 0; i <= count; i++) {
    assert_int_equal(found[i], i < count ? number[i] : 0xffffffffu);
    assert_near(decay[i], tau_ns[i] > 0 ? 1 - exp(-8 / tau_ns[i]) : 1, 1e-15, "decay", i);
  }
  sl_test_free(t);
}

static void channels_have_the_decay_of_their_line_in_ascending_order(void **state) {
  (void)state;
  const uint32_t number[] = {0, 7, 1084803};
  const double tau_ns[] = {0, 450000, 1.5e5, 439368}, all[] = {439368}, sum[] = {0};
  assert_table(NULL, 0, NULL, all);
  assert_table(NULL, 0, NULL, sum);
  assert_table("channel,tau_ns\n", 0, NULL, all);
  assert_table("channel,tau_ns\n1084803,1.5e5\n0,0\n7,450000\n", 3, number, tau_ns);
  assert_table("# of run 3\nname, tau_ns ,channel\r\n\nB00, 1.5e5 , 1084803\r\nB01,0,0,more\nB02,.45e6,7", 3, number,
               tau_ns);
}

static void wrong_tables_are_refused_with_their_line(void **state) {
  (void)state;
  const char *const wrong[][2] = {
      {"", "table.csv:0: a first line with the columns"},
      {"channel,tau\n", "table.csv:1: a column tau_ns in the first line is expected; found \"channel\""},
      {"tau_ns\n1,2\n", "table.csv:1: a column channel"},
      {"channel,tau_ns\n\n1,2\nx,3\n",
       "table.csv:4: a number of a channel, below 4294967295, is expected; found \"x\""},
      {"channel,tau_ns\n4294967295,3\n", "table.csv:2: a number of a channel"},
      {"channel,tau_ns\n99999999999999999999,3\n", "table.csv:2: a number of a channel"},
      {"channel,tau_ns\n-1,3\n", "table.csv:2: a number of a channel"},
      {"channel,tau_ns\n1\n", "table.csv:2: a decay time in ns from 0 to 1e15 is expected; found \"\""},
      {"channel,tau_ns\n1,-3\n", "table.csv:2: a decay time"},
      {"channel,tau_ns\n1,nan\n", "table.csv:2: a decay time"},
      {"channel,tau_ns\n1,1e16\n", "table.csv:2: a decay time"},
      {"channel,tau_ns\n1,3 ns\n", "table.csv:2: a decay time"},
      {"channel,tau_ns\n1,3\n2,5\n1,4\n", "table.csv:4: channel 1 is already in line 2"}};
  for (uint32_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) assert_refused(test_of_table(wrong[i][0]), wrong[i][1]);
  char line[5000] = "channel,tau_ns,";
  memset(line + strlen(line), 'x', 4500);
  assert_refused(test_of_table(line), "table.csv:1: a line of less than 4096 bytes");
  struct sl_test *t = sl_test_new(WAVEFORMS_PLUGIN, "channels");
  sl_test_set_text(t, "path", "/does/not/exist.csv");
  assert_refused(t, "/does/not/exist.csv: No such file or directory");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(channels_have_the_decay_of_their_line_in_ascending_order),
                                     cmocka_unit_test(wrong_tables_are_refused_with_their_line)};
  scratch_folder(folder);
  snprintf(path, sizeof path, "%s/table.csv", folder);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
