/* compare.h: the parts of `sluice compare`. */
#ifndef SL_CLI_COMPARE_H
#define SL_CLI_COMPARE_H

#include "base/document.h"

struct cli_arguments;

/* graphs.c: runs the graphs of the operands and compares them. Returns an exit status. */
int cli_compare_graphs(const struct cli_arguments *a);
/* compare.c: compares two files. Returns an exit status. */
int cli_compare_files(const char *a, const char *b, int all);
/* compare.c: prints the comparison of two summaries. CLI_FAILED if outputs differ or memory is out, CLI_WRONG if they
 * have nothing in common. */
int cli_compare_documents(struct sl_document *a, struct sl_document *b, int all);

/* counts.c: print settings, counts by name, and errors that differ; the first ones of each, or `all`. */
int cli_compare_settings(struct sl_document *a, struct sl_document *b, int all); /* CLI_FAILED if memory is out */
void cli_compare_counts(struct sl_document *a, struct sl_document *b, int all);
void cli_compare_errors(struct sl_document *a, struct sl_document *b, int all);
/* Does the output of totals have named entries? `entry`: the value of one of its members. */
int cli_is_named_totals(const yaml_node_t *entry);

/* results.c: prints the values that differ in the reports of checks and sinks, by size, or with `all` in the
 * order of the files. CLI_FAILED if memory is out. */
int cli_compare_results(struct sl_document *a, struct sl_document *b, int all);
/* Does a check or sink, or an output of totals, report in both? */
int cli_results_in_common(struct sl_document *a, struct sl_document *b);

#endif
