/* match_network_test.c: the matching network: match_network.h against a plain sum in double precision, its inputs, and
 * files that seeding.matching_constants accepts and refuses.
 */
#include "seeding/match_network.h"

#include "scratch.h"

#include <sluice/testing.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static float random_between(float low, float high) {
  static uint32_t state = 9;
  state = state * 1664525u + 1013904223u;
  return low + (high - low) * (float)(state >> 8) / 16777216.0f;
}

/* ------------------------------------------------------------------------------------------------------- files */

enum { TEXT_BYTES = 1 << 15 };

static struct sl_test *made_of(const char *network, int status) {
  struct sl_test *t = sl_test_new(SEEDING_PLUGIN, "matching_constants");
  sl_test_set_text(t, "network", network);
  assert_int_equal(sl_test_run(t), status);
  if (status == 0) assert_int_equal(sl_test_output_count(t, "matching", "network"), MATCH_NETWORK_NUMBERS);
  return t;
}

static struct sl_test *made_of_text(const char *text, int status) {
  char folder[SCRATCH_PATH_MAX], path[SCRATCH_PATH_MAX + 32];
  scratch_folder(folder);
  snprintf(path, sizeof path, "%s/x.network", folder);
  scratch_write(folder, "x.network", text, strlen(text));
  return made_of(path, status);
}

static const float *network_of(const struct sl_test *t) { return sl_test_output(t, "matching", "network"); }

static const char inputs_line[] = "inputs x y dtx dty log_chi2 hits seed_tx seed_x seed_y velo_tx velo_ty\n";

static void add_unit(char *text, const double *numbers) {
  strcat(text, "unit");
  for (uint32_t i = 0; i < MATCH_INPUT_COUNT + 2; i++)
    snprintf(text + strlen(text), TEXT_BYTES - strlen(text), " %.6f", numbers[i]);
  strcat(text, "\n");
}

static void an_empty_path_gives_the_built_in_network_and_none_gives_none(void **state) {
  (void)state;
  struct sl_test *built_in = made_of("", 0), *by_name = made_of(NETWORK, 0), *none = made_of("none", 0);
  assert_memory_equal(network_of(built_in), network_of(by_name), MATCH_NETWORK_NUMBERS * sizeof(float));
  assert_true(network_of(built_in)[MATCH_NETWORK_IS_PRESENT] == 1.0f);
  assert_true(network_of(none)[MATCH_NETWORK_IS_PRESENT] == 0.0f);
  sl_test_free(built_in);
  sl_test_free(by_name);
  sl_test_free(none);
}

/* A file with units of zeros. */
static void zeros(char *text) {
  const double unit[MATCH_INPUT_COUNT + 2] = {0};
  strcpy(text, inputs_line);
  for (uint32_t k = 0; k < MATCH_HIDDEN; k++) add_unit(text, unit);
  strcat(text, "output 0\n");
}

static void an_invalid_network_file_is_refused(void **state) {
  (void)state;
  static const struct {
    const char *at, *by, *reason; /* the last occurrence of `at` is replaced by `by` */
  } cases[] = {
      {"inputs x y dtx", "inputs x dtx y", "x.network:1: expected \"y\", found \"dtx\""},
      {inputs_line, "", "ends without inputs"},
      {inputs_line, "inputs x y dtx dty log_chi2 hits seed_tx seed_x seed_y velo_tx velo_ty velo_z\n", "velo_z"},
      {"unit 0.000000 ", "unit ", "x.network:33: weight is missing"},
      {"unit 0.000000", "unit 1,5", "bias is not a number of at most 15 digits: 1,5"},
      {"unit 0.000000", "unit 2000000", "bias is 2000000, expected"},
      {"unit", "# unit", "x.network:34: 31 units, expected 32"},
      {"output 0\n", "output 0\noutput 0\n", "x.network:35: output a second time"},
      {"output 0\n", "unit 0 0 0 0 0 0 0 0 0 0 0 0 0\noutput 0\n", "x.network:34: more than 32 units"},
      {"output 0\n", "", "ends without output"},
      {"output 0", "output 0 1", "one word too many"},
      {"output 0", "softmax 0", "there is no statement \"softmax\""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    static char text[TEXT_BYTES], edited[TEXT_BYTES + 128];
    char *at = NULL;
    zeros(text);
    for (char *next = strstr(text, cases[i].at); next; next = strstr(next + 1, cases[i].at)) at = next;
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

/* --------------------------------------------------------------------------------------------------- output */

static void the_network_output_equals_the_plain_sum(void **state) {
  (void)state;
  static char text[TEXT_BYTES];
  static double units[MATCH_HIDDEN][MATCH_INPUT_COUNT + 2]; /* bias, output, weights */
  const double output_bias = -0.125;
  strcpy(text, inputs_line);
  for (uint32_t k = 0; k < MATCH_HIDDEN; k++) {
    for (uint32_t i = 0; i < MATCH_INPUT_COUNT + 2; i++) units[k][i] = round((double)random_between(-1, 1) * 1e6) / 1e6;
    add_unit(text, units[k]);
  }
  strcat(text, "output -0.125\n");
  struct sl_test *t = made_of_text(text, 0);
  uint32_t likely = 0;
  for (int turn = 0; turn < 500; turn++) {
    float inputs[MATCH_INPUT_COUNT];
    double sum = output_bias;
    for (uint32_t i = 0; i < MATCH_INPUT_COUNT; i++) inputs[i] = random_between(-2, 2);
    for (uint32_t k = 0; k < MATCH_HIDDEN; k++) {
      double unit = units[k][0];
      for (uint32_t i = 0; i < MATCH_INPUT_COUNT; i++) unit += units[k][i + 2] * (double)inputs[i];
      sum += units[k][1] * fmax(unit, 0);
    }
    const double expected = 1 / (1 + exp(-sum)), found = (double)match_ghost(network_of(t), inputs);
    if (!(fabs(found - expected) < 2e-6)) fail_msg("found %.9g, expected %.9g", found, expected);
    likely += found > 0.5;
  }
  assert_true(likely > 50 && likely < 450);
  sl_test_free(t);
}

static void mirror_images_of_a_pair_give_equal_inputs(void **state) {
  (void)state;
  const struct matched_pair pair = {5300, 3, -20, 0.25f, 0.001f, 0.5f};
  const struct forward_state velo = {-8, 40, 770, -0.01f, 0.05f}, seed = {-1500, 480, 9410, -0.26f, 0.049f};
  const float expected[MATCH_INPUT_COUNT] = {3,      -20,   0.25f, 0.001f, -0.693147181f, 11,
                                             -0.26f, -1500, 480,   -0.01f, 0.05f};
  for (int mirror = 0; mirror < 4; mirror++) {
    const float in_x = mirror & 1 ? -1 : 1, in_y = mirror & 2 ? -1 : 1;
    const struct matched_pair p = {pair.z, in_x * pair.x, in_y * pair.y, in_x * pair.dtx, in_y * pair.dty, pair.chi2};
    const struct forward_state v = {in_x * velo.x, in_y * velo.y, velo.z, in_x * velo.tx, in_y * velo.ty};
    const struct forward_state s = {in_x * seed.x, in_y * seed.y, seed.z, in_x * seed.tx, in_y * seed.ty};
    float inputs[MATCH_INPUT_COUNT];
    match_inputs(&p, &v, &s, 11, inputs);
    for (uint32_t i = 0; i < MATCH_INPUT_COUNT; i++)
      assert_true(fabsf(inputs[i] - expected[i]) <= 1e-6f * fabsf(expected[i]));
  }
  const struct matched_pair perfect = {5300, 0, 0, 0, 0, 0};
  float inputs[MATCH_INPUT_COUNT];
  match_inputs(&perfect, &velo, &seed, 11, inputs);
  assert_true(fabsf(inputs[MATCH_INPUT_log_chi2] + 13.8155106f) < 1e-5f); /* log 1e-6 */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_empty_path_gives_the_built_in_network_and_none_gives_none),
      cmocka_unit_test(an_invalid_network_file_is_refused),
      cmocka_unit_test(the_network_output_equals_the_plain_sum),
      cmocka_unit_test(mirror_images_of_a_pair_give_equal_inputs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
