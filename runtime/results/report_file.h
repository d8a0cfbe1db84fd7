/* report_file.h: the file of --json, and the status of the run. See report_file.c. */
#ifndef SL_REPORT_FILE_H
#define SL_REPORT_FILE_H

#include "results/files.h"

struct sl_report_file {
  struct sl_option_log log;
  struct sl_output *file;
  char started[32]; /* when the run started */
  int is_refused;   /* the run was refused before it began */
};

/* Opens the file, if there is one, and records the time. */
int sl_report_open(struct sl_report_file *r, const struct sl_files *f);
void sl_report_close(struct sl_report_file *r);
/* Writes the text and ends the file; `text` NULL: out of memory. Does nothing if there is no file. */
int sl_report_put(struct sl_report_file *r, const char *text, size_t bytes);
/* Sets the status of the run in the summary and reports it. */
int sl_report_end(const struct sl_report_file *r, const struct sl_files *f, struct sl_summary *sum, int status);

#endif
