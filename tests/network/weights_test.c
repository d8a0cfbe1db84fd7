/* weights_test.c: networks that network.weights accepts and refuses, and the order of their numbers. */
#include "network_case.h"
#include "scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static struct sl_test *made_of(const char *network, int status) {
  struct sl_test *t = sl_test_new(NETWORK_PLUGIN, "weights");
  sl_test_set_text(t, "network", network);
  assert_int_equal(sl_test_run(t), status);
  return t;
}

static struct sl_test *made_of_text(const char *text, int status) {
  char folder[SCRATCH_PATH_MAX], path[SCRATCH_PATH_MAX + 32];
  scratch_folder(folder);
  snprintf(path, sizeof path, "%s/x.network", folder);
  scratch_write(folder, "x.network", text, strlen(text));
  return made_of(path, status);
}

static const void *field(const struct sl_test *t, const char *name) { return sl_test_output(t, "weights", name); }

static void a_built_in_network_equals_its_file(void **state) {
  (void)state;
  static const char *const names[] = {"electron", "matching", "two_track"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    char path[512];
    snprintf(path, sizeof path, BUILT_IN "/%s.network", names[i]);
    struct sl_test *built_in = made_of(names[i], 0), *file = made_of(path, 0);
    const uint64_t count = sl_test_output_count(built_in, "weights", "numbers");
    assert_int_equal(sl_test_output_count(file, "weights", "numbers"), count);
    assert_memory_equal(field(file, "numbers"), field(built_in, "numbers"), count * sizeof(float));
    assert_string_equal(field(file, "names"), field(built_in, "names"));
    sl_test_free(built_in);
    sl_test_free(file);
  }
}

static void none_is_no_network(void **state) {
  (void)state;
  struct sl_test *t = made_of("none", 0);
  const uint32_t *shape = field(t, "shape");
  assert_int_equal(shape[NETWORK_ACTIVATION], NETWORK_NONE);
  assert_int_equal(shape[NETWORK_INPUTS], 0);
  sl_test_free(t);
}

/* 12 lines. */
static const char valid[] =
    "# two inputs\n"
    "inputs a b\n"
    "activation group_sort\n"
    "scale a 10 10\n"
    "scale b -1 4\n"
    "linear 5 -8\n"
    "layer\n"
    "unit 1 20 4\n"
    "unit 2 -10 8\n"
    "layer\n"
    "unit 3 4 5\n"
    "unit 6 7 8\n"
    "output 9 10 11\n";

/* Weights of the first layer and factors of the linear term are for inputs, not for scaled inputs. */
static void numbers_are_in_the_order_of_the_file(void **state) {
  (void)state;
  static const float expected[] = {-18, 2, 1, 14, -1, 2, 3, 4, 5, 6, 7, 8, 2, 10, 11, 0.5, -2};
  static const uint32_t shape[] = {NETWORK_GROUP_SORT, 2, 2, 2, 2};
  struct sl_test *t = made_of_text(valid, 0);
  assert_int_equal(sl_test_output_count(t, "weights", "numbers"), sizeof expected / sizeof expected[0]);
  assert_memory_equal(field(t, "numbers"), expected, sizeof expected);
  assert_int_equal(sl_test_output_count(t, "weights", "shape"), sizeof shape / sizeof shape[0]);
  assert_memory_equal(field(t, "shape"), shape, sizeof shape);
  assert_memory_equal(field(t, "names"), "a\0b\0", 5);
  sl_test_free(t);
}

static void a_wrong_file_is_refused_with_its_line(void **state) {
  (void)state;
  static const struct {
    const char *at, *by, *reason; /* the first occurrence of `at` is replaced by `by` */
  } cases[] = {
      {"inputs a b\n", "inputs a a\n", "x.network:2: the input \"a\" a second time"},
      {"inputs a b\n", "inputs\n", "x.network:2: there are no inputs"},
      {"inputs a b\n", "", "x.network:3: \"inputs\" must come before \"scale\""},
      {"activation group_sort", "activation tanh", "x.network:3: activation is \"tanh\", expected relu or group_sort"},
      {"activation group_sort\n", "", "x.network:6: \"activation\" must come before \"layer\""},
      {"activation group_sort", "activation relu",
       "x.network:13: \"linear\" is for networks with the activation group_sort"},
      {"scale a", "scale b", "x.network:4: expected \"a\", found \"b\""},
      {"scale a 10 10", "scale a 10 0", "x.network:4: width is 0, expected"},
      {"scale b -1 4\n", "", "x.network:6: 1 scales for 2 inputs; all inputs have a scale, or none"},
      {"scale b -1 4\n", "scale b -1 4\nscale c 0 1\n", "x.network:6: more scales than inputs"},
      {"linear 5 -8\n", "linear 5\n", "x.network:6: factor is missing"},
      {"linear 5 -8\n", "linear 5 -8 1\n", "x.network:6: \"1\" is one word too many"},
      {"linear 5 -8\n", "linear 5 -8\nlinear 5 -8\n", "x.network:7: linear a second time"},
      {"unit 1 20 4\n", "unit 1 20\n", "x.network:8: weight is missing"},
      {"unit 1 20 4\n", "unit 1 20 4 5\n", "x.network:8: \"5\" is one word too many"},
      {"unit 1 20 4\n", "unit 1,5 20 4\n", "x.network:8: bias is not a number of at most 15 digits: 1,5"},
      {"unit 1 20 4\n", "unit nan 20 4\n", "x.network:8: bias is not a number of at most 15 digits: nan"},
      {"unit 1 20 4\n", "unit 2000000 20 4\n", "x.network:8: bias is 2000000, expected"},
      {"unit 1 20 4\n", "", "x.network:9: hidden layer 1 has 1 units; group_sort needs an even number"},
      {"unit 1 20 4\n", "scale a 0 1\n", "x.network:8: more scales than inputs"},
      {"layer\n", "", "x.network:7: \"layer\" must come before the first unit"},
      {"layer\n", "layer\nlayer\n", "x.network:8: hidden layer 1 has no units"},
      {"output 9 10 11\n", "output 9 10\n", "x.network:13: weight is missing"},
      {"output 9 10 11\n", "output 9 10 11\nunit 1 2 3\n", "x.network:14: a unit after the output"},
      {"output 9 10 11\n", "output 9 10 11\nlayer\n", "x.network:14: a layer after the output"},
      {"output 9 10 11\n", "output 9 10 11\noutput 9 10 11\n", "x.network:14: output a second time"},
      {"output 9 10 11\n", "", "x.network:12: the text ends without output"},
      {"output", "softmax", "x.network:13: there is no statement \"softmax\""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char edited[sizeof valid + 128];
    const char *at = strstr(valid, cases[i].at);
    assert_non_null(at);
    snprintf(edited, sizeof edited, "%.*s%s%s", (int)(at - valid), valid, cases[i].by, at + strlen(cases[i].at));
    struct sl_test *t = made_of_text(edited, SL_EFORMAT);
    if (!strstr(sl_test_messages(t), cases[i].reason))
      fail_msg("expected %s in: %s", cases[i].reason, sl_test_messages(t));
    sl_test_free(t);
  }
  sl_test_free(made_of_text("", SL_EFORMAT));
  sl_test_free(made_of("/no/such/file", SL_EIO));
  struct sl_test *t = made_of("", SL_EINVAL);
  assert_non_null(strstr(sl_test_messages(t), "`network` is empty, expected the name of a built-in network"));
  sl_test_free(t);
}

/* Repeats a statement `times` times between two texts. */
static char *repeated(const char *before, const char *statement, int times, const char *after) {
  static char text[1 << 14];
  strcpy(text, before);
  for (int i = 0; i < times; i++) strcat(text, statement);
  return strcat(text, after);
}

static void a_network_beyond_a_limit_is_refused(void **state) {
  (void)state;
  struct sl_test *t =
      made_of_text(repeated("inputs a\nactivation relu\nlayer\n", "unit 1 2\n", NETWORK_WIDTH_MAX + 1, ""), SL_EFORMAT);
  assert_non_null(strstr(sl_test_messages(t), "x.network:68: more than 64 units in hidden layer 1"));
  sl_test_free(t);
  t = made_of_text(repeated("inputs a\nactivation relu\n", "layer\nunit 1 2\n", NETWORK_LAYERS_MAX + 1, ""),
                   SL_EFORMAT);
  assert_non_null(strstr(sl_test_messages(t), "x.network:19: more than 8 hidden layers"));
  sl_test_free(t);
  char inputs[1 << 10] = "inputs";
  for (int i = 0; i <= NETWORK_INPUTS_MAX; i++) snprintf(inputs + strlen(inputs), 16, " i%d", i);
  t = made_of_text(inputs, SL_EFORMAT);
  assert_non_null(strstr(sl_test_messages(t), "x.network:1: more than 64 inputs"));
  sl_test_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_built_in_network_equals_its_file),   cmocka_unit_test(none_is_no_network),
      cmocka_unit_test(numbers_are_in_the_order_of_the_file), cmocka_unit_test(a_wrong_file_is_refused_with_its_line),
      cmocka_unit_test(a_network_beyond_a_limit_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
