/* summary_file.h: reads the JSON of a run, written by `sluice run --json`, from a file that may be anything else. */
#ifndef SL_SUMMARY_FILE_H
#define SL_SUMMARY_FILE_H

#include "base/document.h"

/* CLI_WRONG after an error if the file is not the summary of a run. Call sl_document_close in any case. */
int cli_read_summary(struct sl_document *s, const char *path);

/* compare_results.c: prints the values that differ in the reports of checks and sinks, by size, or with `all` in the
 * order of the files. CLI_FAILED if memory is out. */
int cli_compare_results(struct sl_document *a, struct sl_document *b, int all);
/* Does a check or sink, or an output of totals, report in both? */
int cli_results_in_common(struct sl_document *a, struct sl_document *b);

#endif
