/* graph_limits_test.c: malicious texts and a lack of memory end in a message. The test checks the limits of
 * document/reader.h, not the time.
 */
#define _GNU_SOURCE
#include "graph_fake.h"
#include "graph_reading.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* -------------------------------------------------------------------------------------------- hostile text */

/* Returns `text` repeated, between a beginning and an end. */
static char *repeated(const char *begin, const char *text, size_t times, const char *end, size_t *bytes) {
  const size_t piece = strlen(text);
  *bytes = strlen(begin) + piece * times + strlen(end);
  char *whole = malloc(*bytes + 1);
  assert_non_null(whole);
  char *at = stpcpy(whole, begin);
  for (size_t i = 0; i < times; i++) at = mempcpy(at, text, piece);
  strcpy(at, end);
  return whole;
}

static void refuse(const char *begin, const char *text, size_t times, const char *end, const char *message) {
  struct reading reading;
  size_t bytes;
  char *whole = repeated(begin, text, times, end, &bytes);
  read_bytes(whole, bytes, &reading);
  assert_int_equal(reading.result, SL_EGRAPH);
  if (strstr(reading.messages, message) == NULL) fail_msg("no `%s` in: %.2000s", message, reading.messages);
  end_reading(&reading);
  free(whole);
}

static void deep_nesting_is_refused(void **state) {
  (void)state;
  refuse("sluice: 1\nx-a: ", "[", 10000, "", "more than 64 deep");
  refuse("", "[", (1 << 20) - 1, "", "more than 64 deep");
  refuse("", "{", (1 << 20) - 1, "", "more than 64 deep");
  refuse("", "- ", (1 << 19) - 1, "", "more than 64 deep");
  refuse("", "? ", (1 << 19) - 1, "", "more than 64 deep");
  refuse("x-a: ", "{a: ", 64, "", "more than 64 deep");
}

static void alias_bombs_are_refused(void **state) {
  (void)state;
  char text[4096] = "x-a0: &a0 [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]\n";
  for (int i = 1; i < 20; i++) {
    char line[200];
    snprintf(line, sizeof line, "x-a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n", i, i, i - 1, i - 1,
             i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
    strcat(text, line);
  }
  refuse(text, "", 0, "sluice: 1\n", "more than 100000 values, with aliases expanded");
}

/* Each alias is nested two levels deeper than the one before; the text itself is flat. */
static void deep_aliases_are_refused(void **state) {
  (void)state;
  char text[8192] = "x-a0: &a0 [[0]]\n";
  for (int i = 1; i < 40; i++) {
    char line[100];
    snprintf(line, sizeof line, "x-a%d: &a%d [[*a%d]]\n", i, i, i - 1);
    strcat(text, line);
  }
  refuse(text, "", 0, "sluice: 1\n", "more than 64 deep");
}

static void large_texts_are_refused(void **state) {
  (void)state;
  refuse("sluice: 1\n#", "x", 1 << 20, "", "larger than 1 MiB");
  refuse("sluice: 1\nx-a: [", "a,", 100000, "]", "more than 100000 values");
  refuse("sluice: 1\nnodes: { ", "a", 200000, ": 1 }", "a key is one word of at most 100 bytes");
  refuse("sluice: 1\n? ", "a", 200000, "\n: 1", "a key is one word of at most 100 bytes");
}

static void substitution_bombs_are_refused(void **state) {
  (void)state;
  size_t bytes;
  char *begin = repeated("sluice: 1\nparameters: { p: \"", "abcdefgh", 50000, "\" }\ndescription: \"", &bytes);
  refuse(begin, "${p}", 10000, "\"\n", "more than 64 MiB");
  free(begin);
}

static void many_errors_are_counted(void **state) {
  (void)state;
  struct reading reading;
  size_t bytes = 0;
  char *text = malloc(1 << 20);
  assert_non_null(text);
  bytes = (size_t)sprintf(text, "sluice: 1\nnodes: {");
  for (int i = 0; i < 4000; i++) bytes += (size_t)sprintf(text + bytes, "node%d: {use: toy.serch, i: {a: b}},", i);
  bytes += (size_t)sprintf(text + bytes, "}\n");
  read_bytes(text, bytes, &reading);
  assert_int_equal(reading.result, SL_EGRAPH);
  assert_true(sl_diagnostics_errors(reading.diagnostics) >= 8000);
  assert_true(strlen(reading.messages) < 1 << 20); /* the one long line is not repeated with each message */
  end_reading(&reading);
  free(text);
}

static void many_nodes_are_refused(void **state) {
  (void)state;
  struct reading reading;
  char *text = malloc(1 << 20);
  assert_non_null(text);
  size_t bytes = (size_t)sprintf(text, "sluice: 1\nnodes:\n");
  for (int i = 0; i < 4097; i++) bytes += (size_t)sprintf(text + bytes, "  n%d: {use: toy.search}\n", i);
  read_bytes(text, bytes, &reading);
  assert_non_null(strstr(reading.messages, "text.yaml:4099:3: error: the graph has more than 4096 nodes"));
  assert_int_equal(sl_diagnostics_errors(reading.diagnostics), 1);
  end_reading(&reading);
  free(text);
}

/* 4,000 nodes in a cycle: one message, which shows some of them. */
static void long_cycles_are_cut_short(void **state) {
  (void)state;
  struct reading reading;
  char *text = malloc(1 << 20);
  assert_non_null(text);
  size_t bytes = (size_t)sprintf(text, "sluice: 1\nnodes:\n  raw: {use: toy.reader}\n");
  for (int i = 0; i < 4000; i++)
    bytes += (size_t)sprintf(text + bytes, "  n%d: {use: toy.echo, in: {tracks: n%d}}\n", i, (i + 3999) % 4000);
  read_bytes(text, bytes, &reading);
  assert_int_equal(sl_diagnostics_errors(reading.diagnostics), 1);
  assert_non_null(strstr(reading.messages, "n0 -> n1 -> n2"));
  assert_non_null(strstr(reading.messages, "(3984 more) -> n3999 -> n0\n"));
  end_reading(&reading);
  free(text);
}

static void directives_cannot_stall_the_parser(void **state) {
  (void)state;
  refuse("", "%TAG !a! b\n", 90000, "---\nsluice: 1\n", "%TAG");
}

static void invalid_bytes_are_reported_with_their_location(void **state) {
  (void)state;
  struct reading reading;
  static const char zero[] = "sluice: 1\nnodes:\n  \0x: 1\n";
  read_bytes(zero, sizeof zero - 1, &reading);
  assert_non_null(strstr(reading.messages, "text.yaml:3:3: error: control characters are not allowed"));
  end_reading(&reading);
  read_text("sluice: 1\ndescription: \xC3\xA9 \xFF\n", &reading);
  assert_non_null(strstr(reading.messages, "text.yaml:2:16: error: invalid leading UTF-8 octet"));
  end_reading(&reading);
  read_bytes("", 0, &reading);
  assert_non_null(strstr(reading.messages, "text.yaml:1:1: error: the file is empty"));
  end_reading(&reading);
  read_bytes("\xFF\xFEs\0l\0", 6, &reading); /* UTF-16 */
  assert_int_equal(reading.result, SL_EGRAPH);
  end_reading(&reading);
}

/* The last line has exactly the length at which lines are truncated, and no line break. */
static void long_last_line_is_shown(void **state) {
  (void)state;
  struct reading reading;
  static const char begin[] = "sluice: 1\nx: ]";
  for (size_t blanks = 230; blanks <= 250; blanks++) {
    const size_t bytes = strlen(begin) + blanks;
    char *text = malloc(bytes); /* allocated with its exact size, so that a read past the end is detected */
    assert_non_null(text);
    memcpy(text, begin, strlen(begin));
    memset(text + strlen(begin), ' ', blanks);
    read_bytes(text, bytes, &reading);
    assert_non_null(strstr(reading.messages, "text.yaml:2:4: error: "));
    assert_non_null(strstr(reading.messages, "  x: ]   "));
    end_reading(&reading);
    free(text);
  }
}

static void missing_files_are_named(void **state) {
  (void)state;
  struct reading reading;
  const struct sl_graph_request request = {.path = "no/such.yaml", .target = "cpu", .registry = fake_registry()};
  read_request(&request, &reading);
  assert_string_equal(reading.messages,
                      "no/such.yaml: error: No such file or directory\n"
                      "  hint: searched in the current folder; add folders with SLUICE_GRAPH_PATH\n");
  end_reading(&reading);
}

/* ------------------------------------------------------------------------------------------ out of memory */

/* calloc of the reader (the linker's --wrap): fails at this call, counted from 1; 0: never. */
static unsigned failing_call;
void *__real_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes) {
  if (failing_call > 0 && --failing_call == 0) return NULL;
  return __real_calloc(count, bytes);
}

static void any_allocation_may_fail(void **state) {
  (void)state;
  const struct sl_graph_request request = {
      .path = "include_merges_maps.yaml", .target = "cpu", .registry = fake_registry()};
  unsigned failures = 0;
  for (int done = 0; !done;) {
    struct sl_diagnostics *diagnostics = sl_diagnostics_new();
    struct sl_graph *graph = NULL;
    assert_non_null(diagnostics);
    failing_call = failures + 1;
    const int result = sl_graph_read(&request, diagnostics, &graph);
    done = failing_call > 0; /* fewer calls were made */
    failing_call = 0;
    assert_int_equal(result, done ? SL_OK : SL_ENOMEM);
    assert_true((graph != NULL) == done);
    assert_int_equal(sl_diagnostics_errors(diagnostics), !done);
    failures += !done;
    sl_graph_free(graph);
    sl_diagnostics_free(diagnostics);
  }
  assert_true(failures >= 3); /* the arena, its first chunk, the buffer of files */
}

/* --------------------------------------------------------------------------------------------------- main */

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(deep_nesting_is_refused),
      cmocka_unit_test(alias_bombs_are_refused),
      cmocka_unit_test(deep_aliases_are_refused),
      cmocka_unit_test(large_texts_are_refused),
      cmocka_unit_test(substitution_bombs_are_refused),
      cmocka_unit_test(many_errors_are_counted),
      cmocka_unit_test(many_nodes_are_refused),
      cmocka_unit_test(long_cycles_are_cut_short),
      cmocka_unit_test(directives_cannot_stall_the_parser),
      cmocka_unit_test(invalid_bytes_are_reported_with_their_location),
      cmocka_unit_test(long_last_line_is_shown),
      cmocka_unit_test(missing_files_are_named),
      cmocka_unit_test(any_allocation_may_fail),
  };
  if (chdir(GRAPH_CASES) != 0) {
    fprintf(stderr, "no folder %s\n", GRAPH_CASES);
    return 1;
  }
  return cmocka_run_group_tests_name("limits of the graph reader", tests, NULL, NULL);
}
