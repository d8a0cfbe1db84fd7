/* devices.h: the devices of a run. See devices.c. */
#ifndef SL_DEVICES_H
#define SL_DEVICES_H

#include "backend/backend.h"
#include "base/numa.h"

#include <stdatomic.h>

struct sl_setup;
struct sl_slot;

enum { SL_DEVICES_MAX = 32 };

/* A device that slots run on: one of those that --device names, all of one backend. */
struct sl_device_place {
  struct sl_device *device;       /* the backend's */
  uint32_t index;                 /* in the session's list */
  int node;                       /* which memory is near to it; negative: all, or not known */
  char name[32];                  /* "cuda:1" */
  atomic_uint_fast64_t next_kept; /* in the repeats, of the slices near to it */
  int is_lost;                    /* a call of it has failed: it runs no more slices; with the lock of the order held */
};

/* Opens the devices that --device names, of the backend, and gives each at least one slot. */
int sl_devices_open(struct sl_setup *s);
void sl_devices_close(struct sl_setup *s);
/* Reports that --device names nothing. */
int sl_devices_refuse(const struct sl_setup *s);
/* Host memory near to a device. */
void *sl_host_allocate(const struct sl_setup *s, const struct sl_device_place *place, uint64_t bytes);
/* Moves the calling thread near to the slot's device, if that matters: 1, and `before`: where it ran. */
int sl_run_near(const struct sl_slot *slot, struct sl_numa_cores *before);

#endif
