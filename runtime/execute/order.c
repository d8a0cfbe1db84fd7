/* order.c: the order of delivery, and slices that a lost device left unfinished.
 *
 * Results are delivered in order of sequence numbers. Slices before the first failure are delivered, later ones are
 * not.
 *
 * A slice that a lost device left is an orphan. Slots of other devices take the earliest orphan before they take a new
 * slice. A slot that waits for delivery may be the only one left to run an earlier orphan: it then exchanges its own
 * slice for the orphan, and another slot runs that slice again from its start. No part of it was delivered before,
 * because a slice is delivered only when no earlier orphan is left. A slot without work stays until no slice is in
 * flight. Hence the earliest undelivered slice runs as long as there is a device, if each slot finishes its earliest
 * slice first.
 */
#include "execute/order.h"

#include "execute/observer.h"
#include "execute/slot.h"

#include <stdlib.h>

int sl_order_open(struct sl_order *o, const struct sl_setup *setup) {
  o->setup = setup;
  o->orphans = calloc((size_t)setup->slot_count * setup->backend->slices_in_flight, sizeof *o->orphans);
  return o->orphans ? SL_OK : SL_ENOMEM;
}

void sl_order_close(struct sl_order *o) { free(o->orphans); }

int sl_order_is_over(struct sl_order *o) { return atomic_load(&o->stopped) || atomic_load(&o->status) != SL_OK; }

void sl_order_begin(struct sl_order *o, uint64_t first) {
  o->next = first;
  o->failed = UINT64_MAX;
  o->orphan_count = o->in_flight = 0;
}

/* -------------------------------------------------------------------------------------------------- order */

/* With the lock held. */
static void fail_locked(struct sl_order *o, uint64_t sequence, int status) {
  if (sequence < o->failed) {
    o->failed = sequence;
    atomic_store(&o->status, status);
  }
  pthread_cond_broadcast(&o->changed);
}

void sl_order_fail(struct sl_order *o, uint64_t sequence, int status) {
  pthread_mutex_lock(&o->lock);
  fail_locked(o, sequence, status);
  pthread_mutex_unlock(&o->lock);
}

void sl_order_fail_now(struct sl_order *o, int status) {
  pthread_mutex_lock(&o->lock);
  fail_locked(o, o->next, status);
  pthread_mutex_unlock(&o->lock);
}

void sl_order_pass(struct sl_order *o, uint64_t sequence) {
  pthread_mutex_lock(&o->lock);
  if (o->next == sequence && o->failed > sequence) o->next = sequence + 1;
  pthread_cond_broadcast(&o->changed);
  pthread_mutex_unlock(&o->lock);
}

/* ------------------------------------------------------------------------------------------------ orphans */

/* The earliest orphan, or NULL. With the lock held. */
static struct sl_orphan *earliest_orphan(struct sl_order *o) {
  struct sl_orphan *earliest = NULL;
  for (uint32_t i = 0; i < o->orphan_count; i++)
    if (!earliest || o->orphans[i].sequence < earliest->sequence) earliest = &o->orphans[i];
  return earliest;
}

static struct sl_orphan orphan_of(const struct sl_slice *slice) {
  return (struct sl_orphan){slice->input, slice->sequence, slice->delivered};
}

static void adopt(struct sl_slice *slice, const struct sl_orphan *orphan) {
  slice->input = orphan->input;
  slice->sequence = orphan->sequence;
  slice->delivered = orphan->delivered;
}

/* Takes the earliest orphan, with the lock held. Returns 1 if there was one. */
static int take_orphan(struct sl_order *o, struct sl_slice *slice) {
  struct sl_orphan *orphan = earliest_orphan(o);
  if (!orphan) return 0;
  adopt(slice, orphan);
  *orphan = o->orphans[--o->orphan_count];
  return 1;
}

/* Exchanges the slice for an orphan, each with its memory. */
static void exchange(struct sl_slice *slice, struct sl_orphan *orphan) {
  const struct sl_orphan own = orphan_of(slice);
  if (slice->spare == own.input) slice->spare = orphan->input;
  adopt(slice, orphan);
  *orphan = own;
}

int sl_order_await(struct sl_slot *slot, struct sl_slice *slice) {
  struct sl_order *o = slot->order;
  int status = SL_OK;
  pthread_mutex_lock(&o->lock);
  while (status == SL_OK && o->next != slice->sequence) {
    struct sl_orphan *orphan = slot->device_state->is_lost ? NULL : earliest_orphan(o);
    if (o->failed <= slice->sequence) {
      status = SL_EINTERRUPTED;
    } else if (orphan && orphan->sequence < slice->sequence) {
      exchange(slice, orphan);
      slot->slices--; /* counted by the slot that finishes it */
      pthread_cond_broadcast(&o->changed);
      slot->detour = SL_EXCHANGED;
      status = SL_EINTERRUPTED;
    } else {
      pthread_cond_wait(&o->changed, &o->lock);
    }
  }
  if (status == SL_OK && o->failed <= slice->sequence) status = SL_EINTERRUPTED;
  pthread_mutex_unlock(&o->lock);
  return status;
}

int sl_slice_begin(struct sl_slot *slot, struct sl_slice *slice) {
  struct sl_order *o = slot->order;
  pthread_mutex_lock(&o->lock);
  const int may = !slot->device_state->is_lost, taken = may && take_orphan(o, slice);
  o->in_flight += (uint32_t)may;
  pthread_mutex_unlock(&o->lock);
  if (!taken) slice->delivered = 0;
  return !may ? SL_SLICE_NONE : taken ? SL_SLICE_ORPHAN : SL_SLICE_NEW;
}

void sl_slice_end(struct sl_order *o) {
  pthread_mutex_lock(&o->lock);
  o->in_flight--;
  if (o->setup->device_count > 1) pthread_cond_broadcast(&o->changed);
  pthread_mutex_unlock(&o->lock);
}

void sl_slice_leave(struct sl_slot *slot, const struct sl_slice *slice) {
  struct sl_order *o = slot->order;
  pthread_mutex_lock(&o->lock);
  o->in_flight--;
  if (o->lost_devices < o->setup->device_count)
    o->orphans[o->orphan_count++] = orphan_of(slice);
  else
    fail_locked(o, slice->sequence, SL_EDEVICE);
  pthread_cond_broadcast(&o->changed);
  pthread_mutex_unlock(&o->lock);
  slot->slices--; /* counted by the slot that finishes it */
}

int sl_slice_await_orphan(struct sl_slot *slot, struct sl_slice *slice) {
  struct sl_order *o = slot->order;
  const uint32_t outer = sl_activity_enter(slot, SL_ACTIVITY_IDLE);
  pthread_mutex_lock(&o->lock);
  while (!slot->device_state->is_lost && o->orphan_count == 0 && o->in_flight > 0)
    pthread_cond_wait(&o->changed, &o->lock);
  const int taken = !slot->device_state->is_lost && take_orphan(o, slice);
  o->in_flight += (uint32_t)taken;
  pthread_mutex_unlock(&o->lock);
  sl_activity_enter(slot, outer);
  return taken;
}

int sl_device_lose(struct sl_slot *slot, int *is_first) {
  struct sl_order *o = slot->order;
  pthread_mutex_lock(&o->lock);
  *is_first = !slot->device_state->is_lost;
  slot->device_state->is_lost = 1;
  o->lost_devices += (uint32_t)*is_first;
  const int others = o->lost_devices < o->setup->device_count;
  for (; !others && o->orphan_count > 0; o->orphan_count--)
    fail_locked(o, o->orphans[o->orphan_count - 1].sequence, SL_EDEVICE);
  pthread_cond_broadcast(&o->changed);
  pthread_mutex_unlock(&o->lock);
  return others;
}

int sl_device_is_lost(struct sl_order *o, uint32_t index) {
  pthread_mutex_lock(&o->lock);
  const int is_lost = o->setup->devices[index].is_lost;
  pthread_mutex_unlock(&o->lock);
  return is_lost;
}

int sl_device_has_others(const struct sl_slot *slot) {
  struct sl_order *o = slot->order;
  pthread_mutex_lock(&o->lock);
  const int others = o->lost_devices + !slot->device_state->is_lost < o->setup->device_count;
  pthread_mutex_unlock(&o->lock);
  return others;
}
