/* streams.h: streams of the branches of a slot. See streams.c. */
#ifndef SL_STREAMS_H
#define SL_STREAMS_H

#include "execute/slot.h"

int sl_streams_open(struct sl_slot *slot);
void sl_streams_close(struct sl_slot *slot);
/* Sets the address from which the kernels of the next slice read its number of events. */
void sl_streams_point(struct sl_slot *slot, const uint32_t *event_count);
/* sl_streams_fork: after the counters were cleared. sl_streams_join: before the results are packed. sl_step_await
 * and sl_step_reached: around each step. With one branch these do nothing. */
int sl_streams_fork(struct sl_slot *slot);
int sl_streams_join(struct sl_slot *slot);
int sl_step_await(struct sl_slot *slot, uint32_t step);
int sl_step_reached(struct sl_slot *slot, uint32_t step);
struct sl_stream *sl_step_stream(const struct sl_slot *slot, uint32_t step);

#endif
