/* progress.h: what a run says on standard error as it goes on: messages, and the progress bar on a terminal. Each call
 * writes once, from any thread; a message stands above the bar, which is drawn anew below it. */
#ifndef SL_CLI_PROGRESS_H
#define SL_CLI_PROGRESS_H

#include <sluice/sluice.h>

#include <stdint.h>

/* sl_options.on_progress: draws the bar anew on standard error. Cut to the width of the terminal. */
void cli_show_progress(void *context, uint64_t events, uint64_t done, uint64_t total, double seconds);
/* From here on none is drawn: for runs that print as they go on, where it would stand among the lines. */
void cli_hide_progress(void);
/* Takes the bar away, if there is one. */
void cli_end_progress(void);
/* For sl_diagnostics_follow; the log gets it too. Of what is said with `quiet` (context: uint32_t) errors alone. */
void cli_show_message(void *quiet, const struct sl_diagnostic *message);

#endif
