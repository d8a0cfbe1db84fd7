/* progress.h: the progress bar of a run on a terminal. */
#ifndef SL_CLI_PROGRESS_H
#define SL_CLI_PROGRESS_H

#include <stdint.h>

/* sl_options.on_progress: draws the bar anew on standard error. Cut to the width of the terminal. */
void cli_show_progress(void *context, uint64_t events, uint64_t done, uint64_t total, double seconds);
/* Takes the bar away. */
void cli_end_progress(void);

#endif
