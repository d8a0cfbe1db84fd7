/* default_lines.h: creates tests of single lines of graphs/menus/2023.yaml, with their settings. */
#ifndef TEST_SELECTIONS_DEFAULT_LINES_H
#define TEST_SELECTIONS_DEFAULT_LINES_H

#include <sluice/testing.h>

/* Creates a test of the line `line`; fails if the graph has no such line. */
struct sl_test *default_line_new(const char *line);

/* Sets a property to a value that is written as in a graph. */
void line_set(struct sl_test *t, const char *property, const char *value);

#endif
