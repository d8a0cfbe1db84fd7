/* default_lines.c: see default_lines.h. Each line is one row of the graph: `NAME: { use: selections.ALGORITHM, ...,
 * set: { PROPERTY: VALUE, ... } }`. */
#include "default_lines.h"

#include "selections_support.h"

enum { ROW_MAX = 1024, ARRAY_MAX = 8 };

static void find_row(const char *line, char row[ROW_MAX]) {
  FILE *f = fopen(LINES_GRAPH, "r");
  const size_t length = strlen(line);
  assert_non_null(f);
  while (fgets(row, ROW_MAX, f))
    if (!strncmp(row, "  ", 2) && !strncmp(row + 2, line, length) && row[2 + length] == ':') {
      (void)fclose(f);
      return;
    }
  (void)fclose(f);
  fail_msg("%s has no line %s", LINES_GRAPH, line);
}

void line_set(struct sl_test *t, const char *property, const char *value) {
  char *end;
  const double number = strtod(value, &end);
  if (!*end)
    sl_test_set(t, property, number);
  else if (!strcmp(value, "true"))
    sl_test_set(t, property, 1);
  else
    sl_test_set_text(t, property, value);
}

/* `value`: the first entry; further entries follow up to a closing bracket. */
static void set_array(struct sl_test *t, const char *property, const char *value, char **rest) {
  double values[ARRAY_MAX];
  uint32_t count = 0;
  char *end;
  for (;; value = strtok_r(NULL, " ,:", rest)) {
    assert_true(value && count < ARRAY_MAX);
    values[count++] = strtod(value, &end);
    if (*end == ']') break;
  }
  sl_test_set_array(t, property, values, count);
}

struct sl_test *default_line_new(const char *line) {
  static const char use[] = "use: selections.", set[] = "set: {";
  char row[ROW_MAX];
  find_row(line, row);
  char *algorithm = strstr(row, use), *settings = strstr(row, set);
  assert_non_null(algorithm);
  algorithm += strlen(use);
  algorithm[strcspn(algorithm, ", ")] = 0;
  struct sl_test *t = sl_test_new(SELECTIONS_PLUGIN, algorithm);
  sl_test_node(t, line);
  if (!settings) return t;
  char *rest = NULL;
  for (char *at = strtok_r(settings + strlen(set), " ,:", &rest); at && *at != '}'; at = strtok_r(NULL, " ,:", &rest)) {
    const char *value = strtok_r(NULL, " ,:", &rest);
    assert_non_null(value);
    if (*value == '[')
      set_array(t, at, value + 1, &rest);
    else
      line_set(t, at, value);
  }
  return t;
}
