/* fit.h: memory needed by a run. See fit.c. */
#ifndef SL_FIT_H
#define SL_FIT_H

#include "execute/setup.h"

struct sl_reading;

/* Makes a layout of the run's graph for slices of `events` events; `budgets` NULL: those of the graph. */
int sl_setup_lay_out(const struct sl_setup *s, uint32_t events, const struct sl_budgets *budgets,
                     struct sl_diagnostics *d, struct sl_layout **layout);
/* Checks that the run fits into memory; may reduce the slice size and make a new layout. SL_ENOMEM, reported. */
int sl_fit(struct sl_setup *s);
/* Checks that the layout of a new configuration fits into the memory of the run with the present one: arenas within
 * their limit, and the rest into what is available. The slice size stays. SL_ENOMEM, reported. */
int sl_fit_change(const struct sl_setup *s, const struct sl_setup *present);
/* Checks for memory for one more slice that --repeat keeps. SL_ENOMEM, not reported. */
int sl_fit_kept(struct sl_reading *r);
/* Reports that memory ran out while slices were kept. */
void sl_fit_report_kept(const struct sl_reading *r);

#endif
