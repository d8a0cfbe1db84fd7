/* streams.h: the streams of a slot's branches. See streams.c. */
#ifndef SL_STREAMS_H
#define SL_STREAMS_H

#include "execute/slot.h"

int sl_streams_open(struct sl_slot *slot);
void sl_streams_close(struct sl_slot *slot);
/* Sets where the kernels of the next slice find its number of events. */
void sl_streams_point(struct sl_slot *slot, const uint32_t *event_count);
/* `fork` after the counters were cleared, `join` before the results are packed; `await` and `reached` around each step
 * between them. With one branch these do nothing. */
int sl_streams_fork(struct sl_slot *slot);
int sl_streams_join(struct sl_slot *slot);
int sl_step_await(struct sl_slot *slot, uint32_t step);
int sl_step_reached(struct sl_slot *slot, uint32_t step);
struct sl_stream *sl_step_stream(const struct sl_slot *slot, uint32_t step);

#endif
