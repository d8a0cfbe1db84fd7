/* log.h: the history of runs: a file to which `sluice run --log` appends a line for each thing that happens:
 *
 *   2026-11-23T20:13:05.123Z warning node raw: events.mdf: record at byte 80 ...
 *
 * Lines are written at once, each by one call, from any thread; several runs may share a file. */
#ifndef SL_CLI_LOG_H
#define SL_CLI_LOG_H

#include "cli/cli.h"

enum { CLI_LOG_DEBUG = -1 }; /* below SL_NOTE, SL_WARNING and SL_ERROR */

/* The file and least level of the options, or else of SLUICE_LOG and SLUICE_LOG_LEVEL; none of them: there is no log,
 * and the rest does nothing. "-" is standard error. Lines are kept in memory until cli_log_begin. CLI_WRONG after a
 * complaint. */
int cli_log_open(const struct cli_arguments *a);
/* Writes them, and each further line at once, where the file is no other file of the session; else CLI_WRONG after a
 * complaint, and there is no log. NULL: there is no session, and which files it would have used is not known: then only
 * a file that is a log is appended to. */
int cli_log_begin(struct sl_session *session);
int cli_log_takes(int level);
void cli_log(int level, const char *format, ...) __attribute__((format(printf, 2, 3)));
void cli_log_message(const struct sl_diagnostic *message);
void cli_log_close(void);

#endif
