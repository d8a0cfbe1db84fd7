/* edited_description.h: for tests of detector descriptions: runs the constant `geometry` of the plugin DESCRIBED on the
 * file NOMINAL with one change. The test defines both names before it includes this file. `begin` is the setup of the
 * test group. */
#ifndef TEST_EDITED_DESCRIPTION_H
#define TEST_EDITED_DESCRIPTION_H

#include "scratch.h"

#include <sluice/testing.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { DESCRIPTION_BYTES_MAX = 16384 };

static char edited[SCRATCH_PATH_MAX];

static struct sl_test *run(const char *path, int expected) {
  struct sl_test *t = sl_test_new(DESCRIBED, "geometry");
  sl_test_set_text(t, "path", path);
  const int status = sl_test_run(t);
  if (status != expected) print_message("%s\n", sl_test_messages(t));
  assert_int_equal(status, expected);
  return t;
}

/* Returns the whole file; valid until the next call. */
static const char *text_of(const char *path) {
  static char text[DESCRIPTION_BYTES_MAX];
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  const size_t size = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  assert_true(size > 0 && size < sizeof text - 1);
  text[size] = '\0';
  return text;
}

/* Writes the description in `path` to `edited` with `from` replaced by `to`, or, if `from` is NULL, truncated before
 * `to`. Returns the line of the change. */
static uint32_t edit_file(const char *path, const char *from, const char *to) {
  const char *text = text_of(path);
  const char *at = strstr(text, from ? from : to);
  assert_non_null(at);
  uint32_t line = 1;
  for (const char *c = text; c < at; c++) line += *c == '\n';
  FILE *file = fopen(edited, "wb");
  assert_non_null(file);
  fwrite(text, 1, (size_t)(at - text), file);
  if (from) fprintf(file, "%s%s", to, at + strlen(from));
  fclose(file);
  return line;
}

static void assert_edited_is_refused(const char *place, const char *reason) {
  struct sl_test *t = run(edited, SL_EFORMAT);
  if (!strstr(sl_test_messages(t), place) || !strstr(sl_test_messages(t), reason))
    fail_msg("'%s' and '%s' are expected in: %s", place, reason, sl_test_messages(t));
  sl_test_free(t);
}

/* The error message must have the line of the change. */
static void assert_refused(const char *from, const char *to, const char *reason) {
  char place[SCRATCH_PATH_MAX + 32];
  const uint32_t line = edit_file(NOMINAL, from, to);
  snprintf(place, sizeof place, "%s:%u: ", edited, line);
  assert_edited_is_refused(place, reason);
}

/* The error message need not have a line. If `from` is NULL, the text is truncated before `to`. */
static void assert_whole_refused(const char *from, const char *to, const char *reason) {
  edit_file(NOMINAL, from, to);
  assert_edited_is_refused("", reason);
}

static int begin(void **state) {
  (void)state;
  scratch_file(edited);
  return 0;
}

#endif
