/* keep.h: blocks of memory for the results of batches that a program may keep (sluice/kept.h). See keep.c. */
#ifndef SL_KEEP_H
#define SL_KEEP_H

#include "backend/backend.h"

#include <sluice/kept.h>

#include <pthread.h>

enum { SL_KEPT_PER_SLOT = 2 }; /* batches that may be kept for each slot */

struct sl_keep_device {
  struct sl_device *device;
  uint32_t number; /* "1" in "cuda:1" */
};

/* A block, and the batch in it. */
struct sl_kept_batch {
  struct sl_keep *keep;
  struct sl_kept_batch *next; /* in one of the lists of `keep` */
  uint32_t device;            /* index in keep.devices */
  unsigned char *memory;
  uint64_t bytes;
  uint32_t holders;     /* of the batch */
  uint32_t is_exported; /* the program may have enqueued work on the memory */
  uint32_t is_old;      /* of an earlier configuration: freed with its last holder */
  struct sl_kept_memory about;
  struct sl_event *events;
  struct sl_output_view *views;
  const void **pointers; /* of the views */
};

/* Blocks of a configuration: their number on each device, and the sizes of their parts. */
struct sl_keep_size {
  uint32_t blocks[32]; /* per device */
  uint64_t bytes;
  uint32_t events, outputs, fields; /* fields of all outputs */
};

/* All blocks of a session. A block belongs to a slice in flight, or is free, or is kept. It outlives the session while
 * a batch is kept. */
struct sl_keep {
  const struct sl_backend *backend;
  struct sl_keep_device *devices;
  uint32_t device_count;
  uint32_t kept_max;
  pthread_mutex_t lock; /* protects what follows */
  struct sl_kept_batch *free, *kept;
  struct sl_kept_batch *current; /* of the on_batch that is running, or NULL */
  uint32_t kept_count;
  uint32_t is_closed; /* the session is closed: the last holder frees all */
};

/* Opens without blocks. NULL: out of memory. */
struct sl_keep *sl_keep_open(const struct sl_backend *backend, uint32_t device_count, uint32_t kept_max);
void sl_keep_set_device(struct sl_keep *keep, uint32_t index, struct sl_device *device, uint32_t number);
/* Replaces the blocks, when no slice is in flight; kept batches stay. SL_ENOMEM. */
int sl_keep_allocate(struct sl_keep *keep, const struct sl_keep_size *size);
/* Returns 1 if batches are still kept: then the last holder closes the devices. NULL: returns 0. */
int sl_keep_close(struct sl_keep *keep);

/* Takes a free block on the device; there is always one if no more than kept_max batches are kept. SL_EDEVICE: the work
 * of the program on the device has failed. */
int sl_keep_take(struct sl_keep *keep, uint32_t device, struct sl_kept_batch **block);
/* Gives back a block without holders. NULL: does nothing. */
void sl_keep_give(struct sl_kept_batch *block);

/* Around on_batch: `begin` makes it possible to keep the batch. It returns 0 if as many batches are kept as there may
 * be, and describes them in `text`. `end` returns 1 if the slice no longer owns the block, because it is kept or was
 * exported. */
int sl_keep_begin_batch(struct sl_kept_batch *block, char *text, size_t size);
int sl_keep_end_batch(struct sl_kept_batch *block);
/* Keeps the batch of the on_batch that is running. SL_EINVAL: there is none. */
int sl_keep_current(struct sl_keep *keep, struct sl_kept_batch **kept);

#endif
