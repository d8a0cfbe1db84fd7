/* summary_file.h: reads the JSON of a run, written by `sluice run --json`, from a file that may be anything else. */
#ifndef SL_SUMMARY_FILE_H
#define SL_SUMMARY_FILE_H

#include "base/document.h"

/* CLI_WRONG after an error if the file is not the summary of a run. Call sl_document_close in any case. */
int cli_read_summary(struct sl_document *s, const char *path);

#endif
