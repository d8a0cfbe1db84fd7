/* fit.h: does a run fit into the available memory? See fit.c. */
#ifndef SL_FIT_H
#define SL_FIT_H

#include "execute/setup.h"

struct sl_reading;

/* May make slices smaller, and then the layout another one. SL_ENOMEM, with a message. */
int sl_fit(struct sl_setup *s);
/* Is there memory for one more slice that --repeat keeps? SL_ENOMEM, without a message. */
int sl_fit_kept(struct sl_reading *r);
/* Reports that memory ran out while slices were kept. */
void sl_fit_report_kept(const struct sl_reading *r);

#endif
