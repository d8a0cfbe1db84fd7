/* leftovers.h: temporary files that earlier processes have left. See leftovers.c. */
#ifndef SL_LEFTOVERS_H
#define SL_LEFTOVERS_H

#include "results/files.h"

/* With --resume, removes them; else reports them, with a warning per output. Before the outputs of the run are opened;
 * the patterns of --rotate are checked. Returns SL_ENOMEM on failure. */
int sl_leftovers_open(const struct sl_files *f);

#endif
