/* csv.h: planner problems as text: a line `id,lower,upper,size` of column names in any order, optionally with
 * `alignment`, then one line per buffer, which is live in [lower, upper).
 */
#ifndef SL_PLAN_CSV_H
#define SL_PLAN_CSV_H

#include "base/diagnostics.h"
#include "plan/plan.h"

#include <stdio.h>

struct sl_plan_csv {
  struct sl_plan_buffer *buffers;
  const char **ids;
  uint32_t count;
  uint32_t has_alignment; /* 1 if some buffer has an alignment */
  char *text;             /* owns the ids */
};

/* Reads a file. Reports all errors with line and column. SL_EIO, SL_EFORMAT, SL_ENOMEM. */
int sl_plan_csv_read(const char *path, struct sl_diagnostics *d, struct sl_plan_csv *csv);
/* Writes the buffers with a column `offset`, and their alignments if there are some. */
void sl_plan_csv_write(const struct sl_plan_csv *csv, FILE *file);
void sl_plan_csv_free(struct sl_plan_csv *csv);

#endif
