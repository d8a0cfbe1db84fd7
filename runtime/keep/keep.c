/* keep.c: blocks of memory for batches that a program may keep.
 *
 * There is a block for each slice in flight and for each batch that may be kept, so a slice never waits for memory. A
 * slice takes a block before it packs its results, and uses it again for its next results unless the batch was kept.
 * Free blocks are taken in the order in which they were given back. Before a block that was exported is written again,
 * the host waits for all work on its device, because the program may still read it on any stream; this also covers all
 * blocks that were given back before.
 */
#include "keep/keep.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMED_MAX = 8 }; /* kept batches that a message names */

struct sl_keep *sl_keep_open(const struct sl_backend *backend, uint32_t device_count, uint32_t kept_max) {
  struct sl_keep *keep = calloc(1, sizeof *keep);
  struct sl_keep_device *devices = calloc(device_count, sizeof *devices);
  if (!keep || !devices) {
    free(keep);
    free(devices);
    return NULL;
  }
  *keep = (struct sl_keep){.backend = backend, .devices = devices, .device_count = device_count, .kept_max = kept_max};
  pthread_mutex_init(&keep->lock, NULL);
  return keep;
}

void sl_keep_set_device(struct sl_keep *keep, uint32_t index, struct sl_device *device, uint32_t number) {
  keep->devices[index] = (struct sl_keep_device){device, number};
}

/* ------------------------------------------------------------------------------------------------- blocks */

static void free_block(struct sl_kept_batch *block) {
  const struct sl_keep *keep = block->keep;
  if (block->memory) keep->backend->release(keep->devices[block->device].device, block->memory, block->bytes);
  free(block->events);
  free(block->views);
  free((void *)block->pointers);
  free(block);
}

static void free_blocks(struct sl_kept_batch *block) {
  while (block) {
    struct sl_kept_batch *next = block->next;
    free_block(block);
    block = next;
  }
}

static struct sl_kept_batch *new_block(struct sl_keep *keep, const struct sl_keep_size *size, uint32_t device) {
  struct sl_kept_batch *block = calloc(1, sizeof *block);
  if (!block) return NULL;
  block->keep = keep;
  block->device = device;
  block->bytes = size->bytes;
  block->memory = keep->backend->allocate(keep->devices[device].device, size->bytes);
  block->events = calloc(size->events + 1u, sizeof *block->events);
  block->views = calloc(size->outputs + 1u, sizeof *block->views);
  block->pointers = calloc(size->fields + 1u, sizeof *block->pointers);
  if (block->memory && block->events && block->views && block->pointers) return block;
  free_block(block);
  return NULL;
}

int sl_keep_allocate(struct sl_keep *keep, const struct sl_keep_size *size) {
  int status = SL_OK;
  pthread_mutex_lock(&keep->lock);
  free_blocks(keep->free);
  keep->free = NULL;
  for (struct sl_kept_batch *kept = keep->kept; kept; kept = kept->next) kept->is_old = 1;
  for (uint32_t d = 0; d < keep->device_count; d++)
    for (uint32_t i = 0; i < size->blocks[d] && status == SL_OK; i++) {
      struct sl_kept_batch *block = new_block(keep, size, d);
      status = block ? SL_OK : SL_ENOMEM;
      if (!block) break;
      block->next = keep->free;
      keep->free = block;
    }
  pthread_mutex_unlock(&keep->lock);
  return status;
}

static void destroy(struct sl_keep *keep) {
  pthread_mutex_destroy(&keep->lock);
  free(keep->devices);
  free(keep);
}

int sl_keep_close(struct sl_keep *keep) {
  if (!keep) return 0;
  pthread_mutex_lock(&keep->lock);
  free_blocks(keep->free);
  keep->free = NULL;
  keep->is_closed = 1;
  for (struct sl_kept_batch *kept = keep->kept; kept; kept = kept->next) kept->is_old = 1;
  const int is_used = keep->kept != NULL;
  pthread_mutex_unlock(&keep->lock);
  if (!is_used) destroy(keep);
  return is_used;
}

static void append(struct sl_kept_batch **list, struct sl_kept_batch *block) {
  while (*list) list = &(*list)->next;
  block->next = NULL;
  *list = block;
}

int sl_keep_take(struct sl_keep *keep, uint32_t device, struct sl_kept_batch **taken) {
  pthread_mutex_lock(&keep->lock);
  struct sl_kept_batch **at = &keep->free, *block;
  while (*at && (*at)->device != device) at = &(*at)->next;
  *taken = block = *at;
  int must_wait = 0;
  if (block) {
    *at = block->next;
    must_wait = block->is_exported && keep->backend->settle_device != NULL;
    block->is_exported = 0;
    /* The wait covers them too; blocks given back later wait again. */
    for (struct sl_kept_batch *b = keep->free; must_wait && b; b = b->next)
      if (b->device == device) b->is_exported = 0;
  }
  pthread_mutex_unlock(&keep->lock);
  if (!block) return SL_ENOMEM;
  return must_wait ? keep->backend->settle_device(keep->devices[device].device) : SL_OK;
}

void sl_keep_give(struct sl_kept_batch *block) {
  if (!block) return;
  struct sl_keep *keep = block->keep;
  pthread_mutex_lock(&keep->lock);
  append(&keep->free, block);
  pthread_mutex_unlock(&keep->lock);
}

/* ------------------------------------------------------------------------------------------------ batches */

/* "events 0 to 15 (run 1, event 100 to run 1, event 115)" */
static void describe(const struct sl_kept_batch *kept, char *text, size_t size) {
  const struct sl_event *first = kept->events, *last = first + kept->about.event_count - 1;
  const uint64_t begin = kept->about.first_event, end = begin + kept->about.event_count - 1;
  if (begin == end)
    snprintf(text, size, "event %" PRIu64 " (run %u, event %" PRIu64 ")", begin, first->run, first->number);
  else
    snprintf(text, size, "events %" PRIu64 " to %" PRIu64 " (run %u, event %" PRIu64 " to run %u, event %" PRIu64 ")",
             begin, end, first->run, first->number, last->run, last->number);
}

static void describe_all(const struct sl_keep *keep, char *text, size_t size) {
  uint32_t count = 0;
  size_t length = 0;
  for (const struct sl_kept_batch *kept = keep->kept; kept && length < size; kept = kept->next, count++) {
    if (count > 0) length += (size_t)snprintf(text + length, size - length, "; ");
    if (length >= size) return;
    if (count == NAMED_MAX) {
      snprintf(text + length, size - length, "and %u more", keep->kept_count - count);
      return;
    }
    describe(kept, text + length, size - length);
    length += strlen(text + length);
  }
}

int sl_keep_begin_batch(struct sl_kept_batch *block, char *text, size_t size) {
  struct sl_keep *keep = block->keep;
  pthread_mutex_lock(&keep->lock);
  const int may_be_kept = keep->kept_count < keep->kept_max;
  if (may_be_kept)
    keep->current = block;
  else
    describe_all(keep, text, size);
  pthread_mutex_unlock(&keep->lock);
  return may_be_kept;
}

int sl_keep_end_batch(struct sl_kept_batch *block) {
  struct sl_keep *keep = block->keep;
  pthread_mutex_lock(&keep->lock);
  keep->current = NULL;
  const int is_kept = block->holders > 0, is_used = is_kept || block->is_exported;
  if (is_used && !is_kept) append(&keep->free, block); /* must not be written before sl_keep_take has waited */
  pthread_mutex_unlock(&keep->lock);
  return is_used;
}

int sl_keep_current(struct sl_keep *keep, struct sl_kept_batch **kept) {
  pthread_mutex_lock(&keep->lock);
  struct sl_kept_batch *block = *kept = keep->current;
  if (block && block->holders++ == 0) {
    append(&keep->kept, block);
    keep->kept_count++;
  }
  pthread_mutex_unlock(&keep->lock);
  return block ? SL_OK : SL_EINVAL;
}

/* --------------------------------------------------------------------------------------- functions for holders */

const struct sl_kept_memory *sl_kept_batch_memory(struct sl_kept_batch *kept) {
  pthread_mutex_lock(&kept->keep->lock);
  kept->is_exported = 1;
  pthread_mutex_unlock(&kept->keep->lock);
  return &kept->about;
}

void sl_kept_batch_retain(struct sl_kept_batch *kept) {
  pthread_mutex_lock(&kept->keep->lock);
  kept->holders++;
  pthread_mutex_unlock(&kept->keep->lock);
}

/* The last holder after the end of the session. */
static void close_devices(struct sl_keep *keep) {
  for (uint32_t d = 0; d < keep->device_count; d++) keep->backend->close(keep->devices[d].device);
  destroy(keep);
}

void sl_kept_batch_release(struct sl_kept_batch *kept) {
  if (!kept) return;
  struct sl_keep *keep = kept->keep;
  struct sl_kept_batch **at = &keep->kept;
  pthread_mutex_lock(&keep->lock);
  const int is_last = --kept->holders == 0;
  if (is_last) {
    while (*at != kept) at = &(*at)->next;
    *at = kept->next;
    keep->kept_count--;
  }
  const int is_over = is_last && keep->is_closed && !keep->kept;
  if (is_last && kept->is_old)
    free_block(kept);
  else if (is_last && kept != keep->current)
    append(&keep->free, kept);
  pthread_mutex_unlock(&keep->lock);
  if (is_over) close_devices(keep);
}

int sl_kept_batch_download(struct sl_kept_batch *kept, void *to, const void *from, uint64_t bytes) {
  const struct sl_keep *keep = kept->keep;
  if (keep->backend->download_now)
    return keep->backend->download_now(keep->devices[kept->device].device, to, from, bytes);
  memcpy(to, from, bytes);
  return SL_OK;
}
