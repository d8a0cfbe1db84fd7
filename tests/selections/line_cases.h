/* line_cases.h: tests lines with tables of cases. A case changes one value of an event that passes, so that one
 * requirement decides: the event passes with the value `passes`, does not pass with `fails`, and passes with `fails` if
 * the requirement is loosened.
 *
 * The values of an event are written as "PORT.FIELD=VALUES", separated by blanks. VALUES are numbers separated by
 * commas, one per item; the last number is used for all further items. Fields without values are 0. The value of
 * `offsets` is the number of items (default 1), that of offsets of subitems the number of subitems per item.
 */
#ifndef TEST_SELECTIONS_LINE_CASES_H
#define TEST_SELECTIONS_LINE_CASES_H

#include "selections_support.h"

/* Inputs of a line in addition to `odin`; the last entry has no name. */
struct line_port {
  const char *name;
  const struct sl_collection *collection;
};

struct line_case {
  const char *what, *passes, *fails; /* "candidates.pt", "9001", "9000" */
  const char *loosened;              /* "min_pt 8000": property and value with which `fails` passes; or NULL */
};

enum { LINE_CASES_MAX = 16 };
struct line_table {
  const char *name; /* name of the line in graphs/menus/2023.yaml */
  const char *passes;
  const struct line_port *ports;
  struct line_case cases[LINE_CASES_MAX];
};

/* Creates a test of the line with one event per case. */
struct sl_test *line_of(const struct line_table *table);

/* Runs the line on its cases, and again with each requirement loosened. */
void check_line(const struct line_table *table);

#endif
