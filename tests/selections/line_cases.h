/* line_cases.h: lines tested by tables of cases. A case changes one thing of an event that passes, so that one
 * criterion decides: with the one value it still passes, with the other it does not, and does where the criterion is
 * loosened.
 *
 * What an event has is written "PORT.FIELD=VALUES", and several of these with blanks between them. VALUES are numbers
 * with commas between them, one an item; the last one holds for further items, and what is not named is 0. The value of
 * `offsets` is the number of items, at first 1, that of offsets of subitems how many each item has.
 */
#ifndef TEST_SELECTIONS_LINE_CASES_H
#define TEST_SELECTIONS_LINE_CASES_H

#include "selections_support.h"

/* Those that a line reads but odin; the last one has no name. */
struct line_port {
  const char *name;
  const struct sl_collection *collection;
};

struct line_case {
  const char *what, *passes, *fails; /* "candidates.pt", "9001", "9000" */
  const char *loosened;              /* "min_pt 8000": a property and the value with which `fails` passes; or NULL */
};

enum { LINE_CASES_MAX = 16 };
struct line_table {
  const char *name; /* in graphs/common/lines_default.yaml */
  const char *passes;
  const struct line_port *ports;
  struct line_case cases[LINE_CASES_MAX];
};

/* The line on its cases, an event each. */
struct sl_test *line_of(const struct line_table *table);

/* Runs it on these, and on these with each case loosened. */
void check_line(const struct line_table *table);

#endif
