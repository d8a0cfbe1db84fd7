/* log.h: the log of runs: a file to which `sluice run --log` appends a line per message:
 *
 *   2026-11-23T20:13:05.123Z warning node raw: events.mdf: record at byte 80 ...
 *
 * Each line is written by one call, from any thread; several runs may share a file. */
#ifndef SL_CLI_LOG_H
#define SL_CLI_LOG_H

#include "cli/cli.h"

enum { CLI_LOG_DEBUG = -1 }; /* below SL_NOTE, SL_WARNING and SL_ERROR */

/* Takes file and lowest level from the options, else from SLUICE_LOG and SLUICE_LOG_LEVEL; without a file the other
 * functions do nothing. "-" is standard error. Lines are kept in memory until cli_log_begin. CLI_WRONG after an error.
 */
int cli_log_open(const struct cli_arguments *a);
/* Writes the lines kept so far; from now on lines are written at once. CLI_WRONG after an error, without a log, if the
 * session uses the file otherwise. NULL: the session was refused and its files are not known; then lines are appended
 * only to a file that is a log. */
int cli_log_begin(struct sl_session *session);
int cli_log_is_enabled(int level);
void cli_log(int level, const char *format, ...) __attribute__((format(printf, 2, 3)));
void cli_log_message(const struct sl_diagnostic *message);
void cli_log_close(void);

#endif
