/* devices.h: the devices of a run. See devices.c. */
#ifndef SL_DEVICES_H
#define SL_DEVICES_H

#include "base/numa.h"
#include "execute/setup.h"

/* Opens the devices that --device names, of the backend, and gives each at least one slot. */
int sl_devices_open(struct sl_setup *s);
void sl_devices_close(struct sl_setup *s);
/* Reports that --device names no device. */
int sl_devices_refuse(const struct sl_setup *s);
/* Allocates host memory near a device. */
void *sl_host_allocate(const struct sl_setup *s, const struct sl_device_state *state, uint64_t bytes);
/* Moves the calling thread near a device if that is useful. Returns 1 and the former cores in `before` if it did. */
int sl_run_near(const struct sl_setup *s, const struct sl_device_state *state, struct sl_numa_cores *before);

#endif
