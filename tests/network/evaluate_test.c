/* evaluate_test.c: network_logit of networks of several shapes against plain sums in double precision; networks that
 * network_take refuses. */
#include "network/take.h"
#include "network_case.h"
#include "scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

enum { INPUTS_MAX = 11, TABLE_FLOATS = 1 << 15, TEXT_BYTES = 1 << 19, ITEMS = 300 };

static float table[TABLE_FLOATS];
static char message[256];

static void *make_table(void *context, const char *name, uint64_t count) {
  (void)context;
  assert_string_equal(name, "weights");
  assert_true(count <= TABLE_FLOATS);
  return table;
}

static void keep_message(void *context, uint32_t severity, const char *format, ...) {
  va_list arguments;
  (void)context, (void)severity;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
}

static const struct sl_services services = {.make_table = make_table, .message = keep_message};

static const char *const names[INPUTS_MAX] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"};

static int take(const struct network_case *n, const struct network_kind *kind) {
  const struct network_view view = {.shape = n->shape, .names = (const uint8_t *)n->names, .numbers = n->numbers};
  return network_take(&services, &view, kind, "weights");
}

static double random_between(double low, double high) {
  static uint32_t state = 9;
  state = state * 1664525u + 1013904223u;
  return low + (high - low) * (double)(state >> 8) / 16777216.0;
}

static void add_units(char *text, const char *keyword, uint32_t count, uint32_t inputs) {
  const double most = 2 / sqrt(inputs);
  for (uint32_t k = 0; k < count; k++) {
    size_t at = strlen(text);
    at += (size_t)snprintf(text + at, TEXT_BYTES - at, "%s", keyword);
    for (uint32_t i = 0; i <= inputs; i++)
      at += (size_t)snprintf(text + at, TEXT_BYTES - at, " %.6f", random_between(-most, most));
    snprintf(text + at, TEXT_BYTES - at, "\n");
  }
}

/* A network with random numbers; the layers have `units` or two fewer units. */
static void make_network(struct network_case *n, uint32_t inputs, uint32_t layers, uint32_t units,
                         uint32_t activation) {
  static char text[TEXT_BYTES];
  char folder[SCRATCH_PATH_MAX], path[SCRATCH_PATH_MAX + 32];
  uint32_t from = inputs;
  strcpy(text, "inputs");
  for (uint32_t i = 0; i < inputs; i++) strcat(strcat(text, " "), names[i]);
  strcat(text, activation == NETWORK_RELU ? "\nactivation relu\n" : "\nactivation group_sort\nscale a -1 3\n");
  for (uint32_t i = 1; activation == NETWORK_GROUP_SORT && i < inputs; i++)
    snprintf(text + strlen(text), 64, "scale %s %u 3\n", names[i], i);
  if (activation == NETWORK_GROUP_SORT) {
    strcat(text, "linear");
    for (uint32_t i = 0; i < inputs; i++) strcat(text, i % 3 == 1 ? " 0" : " -1.5");
    strcat(text, "\n");
  }
  for (uint32_t l = 0; l < layers; l++) {
    const uint32_t count = l % 2 ? units - 2 : units;
    strcat(text, "layer\n");
    add_units(text, "unit", count, from);
    from = count;
  }
  add_units(text, "output", 1, from);
  scratch_folder(folder);
  snprintf(path, sizeof path, "%s/x.network", folder);
  scratch_write(folder, "x.network", text, strlen(text));
  network_case_load(n, path);
}

/* The numbers of a kernel are constants, so that the compiler unrolls its loops: one function for each shape. */
#define SHAPES(S)                        \
  S(a, 11, 1, 32, 32, NETWORK_RELU)      \
  S(b, 7, 1, 30, 32, NETWORK_RELU)       \
  S(c, 3, 3, 16, 16, NETWORK_RELU)       \
  S(d, 4, 2, 20, 24, NETWORK_GROUP_SORT) \
  S(e, 5, 5, 10, 16, NETWORK_GROUP_SORT) \
  S(f, 6, 4, 12, 16, NETWORK_GROUP_SORT) \
  S(g, 1, 8, 64, 64, NETWORK_GROUP_SORT) \
  S(h, 2, 1, 8, 16, NETWORK_GROUP_SORT)
#define LOGIT_(name, inputs, layers, units, width, activation) \
  static float logit_##name(const float *x) { return network_logit(table, x, inputs, layers, width, activation); }
/* clang-format off: one function a line */
SHAPES(LOGIT_)
/* clang-format on */

static void logits_equal_plain_sums(void **state) {
  (void)state;
#define SHAPE_(name, inputs, layers, units, width, activation) \
  {logit_##name, {names, inputs, layers, width, activation, 0}, units},
  static const struct {
    float (*logit)(const float *);
    struct network_kind kind;
    uint32_t units;
  } shapes[] = {SHAPES(SHAPE_)};
#undef SHAPE_
  for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
    static struct network_case n;
    const struct network_kind *kind = &shapes[s].kind;
    double least = INFINITY, most = -INFINITY;
    make_network(&n, kind->input_count, kind->layers, shapes[s].units, kind->activation);
    memset(table, 0xFF, sizeof table);
    assert_int_equal(take(&n, kind), SL_OK);
    for (uint32_t k = 0; k < ITEMS; k++) {
      double inputs[INPUTS_MAX], scale;
      float x[INPUTS_MAX];
      for (uint32_t i = 0; i < kind->input_count; i++) inputs[i] = x[i] = (float)random_between(-3, 8);
      const double expected = network_case_logit(&n, inputs, &scale), found = (double)shapes[s].logit(x);
      if (!(fabs(found - expected) < 2e-6 * scale))
        fail_msg("shape %zu: found %.9g, expected %.9g", s, found, expected);
      least = fmin(least, found);
      most = fmax(most, found);
    }
    assert_true(most - least > 0.1);
  }
}

static void probabilities_are_those_of_the_logits(void **state) {
  (void)state;
  for (int i = -400; i <= 400; i++) {
    const float logit = 0.25f * (float)i;
    const double expected = 1 / (1 + exp(-(double)logit));
    assert_true(fabs((double)network_probability(logit) - expected) < 2e-6 * expected + 1e-30);
  }
  assert_true(network_probability(-INFINITY) == 0);
  assert_true(network_probability(INFINITY) == 1);
}

static void without_a_network_the_table_is_zero_or_the_node_refused(void **state) {
  (void)state;
  static struct network_case n;
  const struct network_kind optional = {names, 2, 1, 8, NETWORK_RELU, 1}, required = {names, 2, 1, 8, NETWORK_RELU, 0};
  const struct network_view absent = {0};
  network_case_load(&n, "none");
  for (int i = 0; i < 2; i++) {
    memset(table, 0xFF, sizeof table);
    assert_int_equal(i == 0 ? take(&n, &optional) : network_take(&services, &absent, &optional, "weights"), SL_OK);
    for (uint32_t k = 0; k < NETWORK_NUMBERS(2, 1, 8); k++) assert_true(table[k] == 0);
  }
  assert_int_equal(network_is_present(&absent), 0);
  assert_int_equal(take(&n, &required), SL_EINVAL);
  assert_string_equal(message, "there is no network: the property `network` of its node is none");
}

static float logit_of_five(const float *x) { return network_logit(table, x, 5, 2, 8, NETWORK_GROUP_SORT); }

static void a_network_may_have_some_of_the_inputs_in_any_order(void **state) {
  (void)state;
  static struct network_case n;
  static const char *const of_kernel[] = {"c", "y", "a", "b", "z"};
  const struct network_kind kind = {of_kernel, 5, 2, 8, NETWORK_GROUP_SORT, 0};
  make_network(&n, 3, 2, 8, NETWORK_GROUP_SORT);
  memset(table, 0xFF, sizeof table);
  assert_int_equal(take(&n, &kind), SL_OK);
  for (uint32_t k = 0; k < ITEMS; k++) {
    float x[5];
    for (uint32_t i = 0; i < 5; i++) x[i] = (float)random_between(-3, 8);
    const double inputs[] = {x[2], x[3], x[0]};
    double scale;
    const double expected = network_case_logit(&n, inputs, &scale), found = (double)logit_of_five(x);
    assert_true(fabs(found - expected) < 2e-6 * scale);
  }
}

static void another_network_is_refused_with_the_first_difference(void **state) {
  (void)state;
  static struct network_case n;
  static const char *const others[] = {"a", "c", "e"};
  const struct {
    struct network_kind kind;
    const char *reason;
  } cases[] = {
      {{others, 3, 2, 16, NETWORK_RELU, 0}, "input 2 of the network is `b`; inputs of this node are a, c, e"},
      {{names, 2, 2, 16, NETWORK_RELU, 0}, "input 3 of the network is `c`; inputs of this node are a, b"},
      {{names, 3, 2, 16, NETWORK_GROUP_SORT, 0}, "the activation of the network is relu, but must be group_sort"},
      {{names, 3, 1, 16, NETWORK_RELU, 0}, "the network has 2 hidden layers, but must have 1"},
      {{names, 3, 2, 8, NETWORK_RELU, 0}, "hidden layer 1 of the network has 16 units, but may have 8 at most"},
  };
  make_network(&n, 3, 2, 16, NETWORK_RELU);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    assert_int_equal(take(&n, &cases[i].kind), SL_EINVAL);
    assert_string_equal(message, cases[i].reason);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(logits_equal_plain_sums),
      cmocka_unit_test(probabilities_are_those_of_the_logits),
      cmocka_unit_test(without_a_network_the_table_is_zero_or_the_node_refused),
      cmocka_unit_test(a_network_may_have_some_of_the_inputs_in_any_order),
      cmocka_unit_test(another_network_is_refused_with_the_first_difference),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
