/* progress.h: messages and, on a terminal, the progress bar of a run on standard error. Each call writes once, from any
 * thread; after a message the bar is drawn again below it. */
#ifndef SL_CLI_PROGRESS_H
#define SL_CLI_PROGRESS_H

#include <sluice/sluice.h>

#include <stdint.h>

/* For sl_options.on_progress: draws the bar, cut to the width of the terminal. */
void cli_show_progress(void *context, uint64_t events, uint64_t done, uint64_t total, double seconds);
/* From now on no bar is drawn: for runs that print to the terminal while they run. */
void cli_hide_progress(void);
/* Removes the bar. */
void cli_end_progress(void);
/* For sl_diagnostics_follow: prints and logs a message. `quiet` (a uint32_t, the context): prints only errors. */
void cli_show_message(void *quiet, const struct sl_diagnostic *message);

#endif
