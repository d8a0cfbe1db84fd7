/* timestamps.h: timestamps of a device before and after steps, and at points of a slice. See timestamps.c. */
#ifndef SL_TIMESTAMPS_H
#define SL_TIMESTAMPS_H

#include "observe/times.h"
#include "observe/trace.h"

struct sl_timestamps {
  struct sl_times *times; /* receive the time of nodes */
  struct sl_trace *trace; /* receives spans, if there is a trace */
  struct sl_device_clock {
    uint64_t epoch_ns; /* host time of the epoch of the device timestamps */
    int uploaded[2];   /* per slice index: its upload has timestamps */
  } * slots;
};

extern const struct sl_observer_calls sl_timestamps_observer; /* its context: struct sl_timestamps */

int sl_timestamps_open(struct sl_timestamps *t, const struct sl_setup *s, struct sl_times *times,
                       struct sl_trace *trace);
void sl_timestamps_close(struct sl_timestamps *t);

#endif
