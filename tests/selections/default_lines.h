/* default_lines.h: the lines of graphs/common/lines_default.yaml, each to be tested alone with the settings that it has
 * there. */
#ifndef TEST_SELECTIONS_DEFAULT_LINES_H
#define TEST_SELECTIONS_DEFAULT_LINES_H

#include <sluice/testing.h>

/* A line by its name; ends the program if the graph has none. */
struct sl_test *default_line_new(const char *line);

/* A property by its text, as it stands in a graph. */
void line_set(struct sl_test *t, const char *property, const char *value);

#endif
