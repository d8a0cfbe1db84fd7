/* two_track_network_test.c: files that selections.two_track_network accepts and refuses, and the order of the numbers.
 */
#include "selections/two_track_network.h"

#include "scratch.h"
#include "selections_support.h"

enum { TEXT_BYTES = 1 << 14, UNITS = TWO_TRACK_UNITS };

static struct sl_test *made_of(const char *path, int status) {
  struct sl_test *t = sl_test_new(SELECTIONS_PLUGIN, "two_track_network");
  sl_test_set_text(t, "path", path);
  assert_int_equal(sl_test_run(t), status);
  if (status == 0) assert_int_equal(sl_test_output_count(t, "network", "numbers"), TWO_TRACK_NUMBERS);
  return t;
}

static struct sl_test *made_of_text(const char *text, int status) {
  char folder[SCRATCH_PATH_MAX], path[SCRATCH_PATH_MAX + 32];
  scratch_folder(folder);
  snprintf(path, sizeof path, "%s/x.network", folder);
  scratch_write(folder, "x.network", text, strlen(text));
  return made_of(path, status);
}

static const float *numbers_of(const struct sl_test *t) { return OUTPUT(t, "network", "numbers", float); }

static void an_empty_path_gives_the_built_in_network(void **state) {
  (void)state;
  struct sl_test *built_in = made_of("", 0), *by_name = made_of(NETWORK, 0);
  assert_memory_equal(numbers_of(built_in), numbers_of(by_name), TWO_TRACK_NUMBERS * sizeof(float));
  assert_true(numbers_of(built_in)[TWO_TRACK_LAMBDA] == 2.0f);
  sl_test_free(built_in);
  sl_test_free(by_name);
}

/* Appends a statement with different numbers: bias `first`, weights first + 1, first + 2, ... */
static void add_unit(char *text, const char *keyword, uint32_t first, uint32_t weights) {
  strcat(text, keyword);
  for (uint32_t i = 0; i <= weights; i++) snprintf(text + strlen(text), TEXT_BYTES - strlen(text), " %u", first + i);
  strcat(text, "\n");
}

enum { FIRST = 1000, SECOND = 2000, OUTPUT_UNIT = 3000 };

/* 43 lines; lines 3 to 22 are the first layer. */
static void write_network(char *text) {
  strcpy(text, "inputs log_fd_chi2 sum_pt chi2 log_min_ip_chi2\nlambda 1.5\n");
  for (uint32_t k = 0; k < UNITS; k++) add_unit(text, "first", FIRST + 10 * k, TWO_TRACK_INPUT_COUNT);
  for (uint32_t k = 0; k < UNITS; k++) add_unit(text, "second", SECOND + 30 * k, UNITS);
  add_unit(text, "output", OUTPUT_UNIT, UNITS);
}

static void assert_number(const float *numbers, uint32_t at, uint32_t value) {
  assert_near("number", at, (double)numbers[at], value, 0);
}

static void numbers_are_stored_at_their_offsets(void **state) {
  (void)state;
  static char text[TEXT_BYTES];
  write_network(text);
  struct sl_test *t = made_of_text(text, 0);
  const float *n = numbers_of(t);
  for (uint32_t k = 0; k < UNITS; k++) {
    assert_number(n, TWO_TRACK_FIRST_BIAS + k, FIRST + 10 * k);
    assert_number(n, TWO_TRACK_SECOND_BIAS + k, SECOND + 30 * k);
    assert_number(n, TWO_TRACK_OUTPUT + k, OUTPUT_UNIT + 1 + k);
    for (uint32_t i = 0; i < TWO_TRACK_INPUT_COUNT; i++)
      assert_number(n, TWO_TRACK_FIRST + TWO_TRACK_INPUT_COUNT * k + i, FIRST + 10 * k + 1 + i);
    for (uint32_t i = 0; i < UNITS; i++) assert_number(n, TWO_TRACK_SECOND + UNITS * i + k, SECOND + 30 * k + 1 + i);
  }
  assert_number(n, TWO_TRACK_OUTPUT_BIAS, OUTPUT_UNIT);
  assert_true(n[TWO_TRACK_LAMBDA] == 1.5f);
  sl_test_free(t);
}

static void a_wrong_file_is_refused_with_its_line(void **state) {
  (void)state;
  static const struct {
    const char *at, *by, *reason; /* the first occurrence of `at` is replaced by `by` */
  } cases[] = {
      {"sum_pt chi2", "chi2 sum_pt", "x.network:1: expected \"sum_pt\", found \"chi2\""},
      {"log_min_ip_chi2\n", "log_min_ip_chi2 eta\n", "x.network:1: \"eta\" is one word too many"},
      {"inputs", "# inputs", "x.network:43: the text ends without inputs"},
      {"lambda 1.5\n", "lambda 1.5\nlambda 1.5\n", "x.network:3: lambda a second time"},
      {"lambda 1.5", "lambda -1", "x.network:2: lambda is -1, expected 0 to 1e+06"},
      {"lambda 1.5", "lambda", "x.network:2: lambda is missing"},
      {"lambda", "# lambda", "x.network:43: the text ends without lambda"},
      {"first 1000", "first", "x.network:3: weight is missing"},
      {"first 1000", "first 0 1000", "x.network:3: \"1004\" is one word too many"},
      {"first 1000", "first 1,5", "x.network:3: bias is not a number of at most 15 digits: 1,5"},
      {"first 1000", "first nan", "x.network:3: bias is not a number of at most 15 digits: nan"},
      {"first 1000", "first 2000000", "x.network:3: bias is 2000000, expected"},
      {"first 1000", "# 1000", "x.network:43: 19 units in the first layer and 20 in the second, expected 20 each"},
      {"second 2000", "# 2000", "x.network:43: 20 units in the first layer and 19 in the second, expected 20 each"},
      {"second 2000", "first 0 0 0 0 0\nsecond 2000", "x.network:23: more than 20 units"},
      {"output 3000", "second 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\noutput 3000",
       "x.network:43: more than 20 units"},
      {"output 3000", "# 3000", "x.network:43: the text ends without output"},
      {"output 3000", "output", "x.network:43: weight is missing"},
      {"output", "third", "x.network:43: there is no statement \"third\""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    static char text[TEXT_BYTES], edited[TEXT_BYTES + 128];
    write_network(text);
    const char *at = strstr(text, cases[i].at);
    assert_non_null(at);
    snprintf(edited, sizeof edited, "%.*s%s%s", (int)(at - text), text, cases[i].by, at + strlen(cases[i].at));
    struct sl_test *t = made_of_text(edited, SL_EFORMAT);
    if (!strstr(sl_test_messages(t), cases[i].reason))
      fail_msg("expected %s in: %s", cases[i].reason, sl_test_messages(t));
    sl_test_free(t);
  }
  sl_test_free(made_of_text("", SL_EFORMAT));
  sl_test_free(made_of("/no/such/file", SL_EIO));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_empty_path_gives_the_built_in_network),
      cmocka_unit_test(numbers_are_stored_at_their_offsets),
      cmocka_unit_test(a_wrong_file_is_refused_with_its_line),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
