/* order.h: the order of delivery, and slices that a lost device leaves unfinished. See order.c. */
#ifndef SL_ORDER_H
#define SL_ORDER_H

#include "execute/setup.h"

#include <pthread.h>
#include <stdatomic.h>

struct sl_slice;
struct sl_input;
struct sl_slot;

/* Unfinished slice of a lost device, from event `delivered` on. */
struct sl_orphan {
  struct sl_input *input;
  uint64_t sequence;
  uint32_t delivered;
};

/* Slices are delivered in the order in which they were read: by sequence number. */
struct sl_order {
  const struct sl_setup *setup;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  uint64_t next;   /* sequence number of the next delivered slice */
  uint64_t failed; /* slices from this sequence number on are not delivered */
  struct sl_orphan *orphans;
  uint32_t orphan_count, lost_devices;
  uint32_t in_flight; /* slices that slots have or request, without orphans */
  atomic_int status;  /* status of the earliest failure so far */
  atomic_int stopped; /* number of the signal that stopped the run; SL_STOPPED: by the program */
};
enum { SL_STOPPED = -1 };

/* Reasons for an unfinished slice other than a failure of the run. SL_LEFT: left to other devices, its device is
 * lost. SL_EXCHANGED: the slice was exchanged for another one, which is finished first. Stored in the slot, because a
 * callback of the program may end a run with any status. */
enum { SL_NO_DETOUR, SL_LEFT, SL_EXCHANGED };

int sl_order_open(struct sl_order *o, const struct sl_setup *setup);
void sl_order_close(struct sl_order *o);
/* Slices are delivered from sequence number `first` on. */
void sl_order_begin(struct sl_order *o, uint64_t first);
/* 1 if the run was stopped or has failed. */
int sl_order_is_over(struct sl_order *o);
/* Blocks until all earlier slices are delivered. SL_EINTERRUPTED if one of them failed, or with SL_EXCHANGED in the
 * slot. */
int sl_order_await(struct sl_slot *slot, struct sl_slice *slice);
void sl_order_pass(struct sl_order *o, uint64_t sequence);
void sl_order_fail(struct sl_order *o, uint64_t sequence, int status); /* nothing is delivered from `sequence` on */
void sl_order_fail_now(struct sl_order *o, int status);                /* nothing more is delivered */
/* Requests a slice. SL_SLICE_ORPHAN: `slice` is an orphan. SL_SLICE_NEW: the slot must read one from the source.
 * SL_SLICE_NONE: the device is lost. The first two are ended by sl_slice_end (finished, or the source had none) or
 * sl_slice_leave (left to other devices; fails if there are none). */
enum { SL_SLICE_NONE, SL_SLICE_ORPHAN, SL_SLICE_NEW };
int sl_slice_begin(struct sl_slot *slot, struct sl_slice *slice);
void sl_slice_end(struct sl_order *o);
void sl_slice_leave(struct sl_slot *slot, const struct sl_slice *slice);
/* Blocks until no slice is in flight (returns 0), or until `slice` is an orphan (returns 1). */
int sl_slice_await_orphan(struct sl_slot *slot, struct sl_slice *slice);
/* Marks the device of the slot as lost; *is_first: it was not lost before. Returns 1 if another device is left. */
int sl_device_lose(struct sl_slot *slot, int *is_first);
/* 1 if there are other devices that are not lost. */
int sl_device_has_others(const struct sl_slot *slot);
int sl_device_is_lost(struct sl_order *o, uint32_t index);

#endif
