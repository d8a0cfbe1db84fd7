/* plan_minimalloc_test.c: six hard problems, known to fit their capacity, are solved. The files `id,lower,upper,size`
 * are in SLUICE_DATA/minimalloc; without them the test is skipped. Times are printed, not checked. */
#include "plan/plan.h"
#include "support.h"

#include <sluice/plugin.h>

#include <inttypes.h>
#include <time.h>

enum { BUFFERS_MAX = 512, CAPACITY = 1048576, SECONDS_MAX = 60 };

static FILE *problem_open(char letter) {
  const char *folder = getenv("SLUICE_DATA");
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/minimalloc/%c.%d.csv", folder ? folder : SLUICE_DATA_DEFAULT, letter, CAPACITY);
  FILE *file = fopen(path, "r");
  if (!file) print_message("skipped: %s is absent; set SLUICE_DATA to the folder of the samples\n", path);
  return file;
}

static uint32_t problem_read(FILE *file, struct sl_plan_buffer buffers[BUFFERS_MAX]) {
  uint32_t count = 0;
  char line[256];
  assert_non_null(fgets(line, sizeof line, file));
  assert_string_equal(line, "id,lower,upper,size\n");
  while (fgets(line, sizeof line, file)) {
    assert_true(count < BUFFERS_MAX);
    struct sl_plan_buffer *b = &buffers[count];
    memset(b, 0, sizeof *b);
    assert_int_equal(sscanf(line, "%*u,%" SCNu32 ",%" SCNu32 ",%" SCNu64, &b->lower, &b->upper, &b->size), 3);
    count++;
  }
  fclose(file);
  return count;
}

static void problem_fits_its_capacity(void **state) {
  const char letter = *(const char *)*state;
  FILE *file = problem_open(letter);
  if (!file) skip();
  struct sl_plan_buffer buffers[BUFFERS_MAX];
  const uint32_t count = problem_read(file, buffers);
  const struct sl_plan_request request = {buffers, count, 1, CAPACITY, SECONDS_MAX, 0};
  struct sl_plan_result result;
  char reason[256] = "";
  const clock_t start = clock();
  assert_int_equal(sl_plan_solve(&request, &result), SL_OK);
  print_message("%c: %" PRIu32 " buffers, arena %" PRIu64 ", lower bound %" PRIu64 ", %" PRIu64 " nodes, %.2f s\n",
                letter, count, result.arena_bytes, result.lower_bound_bytes, result.steps,
                (double)(clock() - start) / CLOCKS_PER_SEC);
  if (sl_plan_verify(buffers, count, 1, result.arena_bytes, reason, sizeof reason)) fail_msg("%s", reason);
  assert_true(result.arena_bytes <= CAPACITY);
}

int main(void) {
  FILE *file = problem_open('A');
  if (!file) return 77;
  fclose(file);
#define PROBLEM(letter) \
  { "problem_" letter "_fits_its_capacity", problem_fits_its_capacity, NULL, NULL, (void *)letter }
  const struct CMUnitTest tests[] = {PROBLEM("A"), PROBLEM("B"), PROBLEM("C"),
                                     PROBLEM("D"), PROBLEM("E"), PROBLEM("F")};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
