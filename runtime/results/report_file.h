/* report_file.h: the file of --json, and how the run ended. See report_file.c. */
#ifndef SL_REPORT_FILE_H
#define SL_REPORT_FILE_H

#include "results/files.h"

struct sl_report_file {
  struct sl_option_log log;
  struct sl_output *file;
  char started[32]; /* when the run started */
  int is_refused;   /* the run did not begin, since it could not do what was asked for */
};

/* Opens the file, if there is one, and notes the time. */
int sl_report_open(struct sl_report_file *r, const struct sl_files *f);
void sl_report_close(struct sl_report_file *r);
/* Ends the file with this text, NULL without memory. Does nothing if there is no file. */
int sl_report_put(struct sl_report_file *r, const char *text, size_t bytes);
/* How the run ended, for the summary, and reported in words. */
int sl_report_end(const struct sl_report_file *r, const struct sl_files *f, struct sl_summary *sum, int status);

#endif
