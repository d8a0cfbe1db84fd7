/* slices.c: runs slices in slots.
 *
 * Each slot is a thread. It locks the source, fills its input with the next slice and a sequence number, runs the
 * graph, waits until the slice is next in delivery order, delivers it, and lets the next slice follow. Results are
 * therefore in input order for any number of slots. A slot with a slice in flight does not wait long for another slice,
 * because other slots, or the program that feeds the source, may wait for the delivery of its slice. With --repeat all
 * slices are read first and kept; the first pass delivers, later passes only run. The failure with the lowest sequence
 * number decides. A slice with other conditions is held until those before it are delivered, and runs alone.
 */
#include "base/clock.h"
#include "execute/delivery.h"
#include "execute/devices.h"
#include "execute/execute.h"
#include "execute/fit.h"
#include "execute/observer.h"
#include "execute/order.h"
#include "execute/replan.h"
#include "execute/slots.h"
#include "execute/source.h"

#include <stdlib.h>
#include <string.h>

enum { SOURCE_BUSY_NS = 1000000 };

/* A slot and its supply of slices. `next` obtains the next slice and returns SL_NO_MORE, SL_FILLED, or
 * SL_LATER if it may not wait. */
struct worker {
  struct sl_slot *slot;
  struct sl_reading *reading;
  int (*next)(struct worker *w, struct sl_slice *slice, int may_wait);
};

/* Locks the source. Returns 0 if other slots hold the lock and this slot may not wait. A change of the system clock
 * makes the wait shorter or longer, which is harmless. (ThreadSanitizer of gcc 12 does not know
 * pthread_mutex_clocklock.) */
static int lock_source(struct sl_reading *r, int may_wait) {
  if (may_wait) return pthread_mutex_lock(&r->lock) == 0;
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += SOURCE_BUSY_NS;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  return pthread_mutex_timedlock(&r->lock, &until) == 0;
}

static int next_from_source(struct worker *w, struct sl_slice *slice, int may_wait) {
  struct sl_reading *r = w->reading;
  slice->input = slice->spare;
  const struct sl_scope scope = sl_scope_begin(w->slot, SL_ACTIVITY_READ);
  const int is_locked = lock_source(r, may_wait);
  sl_scope_end_span(w->slot, scope, sl_activity_name(SL_ACTIVITY_READ), NULL, 0);
  if (!is_locked) return SL_LATER;
  const int filled = sl_source_next(r, w->slot, slice->input, may_wait, &slice->sequence);
  if (filled < 0) r->status = filled;
  pthread_mutex_unlock(&r->lock);
  return filled < 0 ? SL_NO_MORE : filled;
}

/* The held slice, for the slot that has read it; for any slot if its device is lost. */
static int next_held(struct worker *w, struct sl_slice *slice, int may_wait) {
  struct sl_reading *r = w->reading;
  struct sl_slot *slot = w->slot;
  (void)may_wait;
  pthread_mutex_lock(&r->lock);
  const int is_taken =
      r->held && (r->held_slot == slot || sl_device_is_lost(slot->order, r->held_slot->device_state->index));
  if (is_taken) {
    slice->input = r->held;
    slice->sequence = r->held_sequence;
    r->held = NULL;
    for (uint32_t k = 0; k < 2; k++) { /* each input is the spare of one slice of the slot */
      if (slot->slices_in_flight[k].spare != slice->input) continue;
      slot->slices_in_flight[k].spare = slice->spare;
      slice->spare = slice->input;
    }
  }
  pthread_mutex_unlock(&r->lock);
  return is_taken ? SL_FILLED : SL_NO_MORE;
}

static int next_kept(struct worker *w, struct sl_slice *slice, int may_wait) {
  (void)may_wait;
  const uint64_t index = atomic_fetch_add(&w->reading->next_kept, 1);
  if (index >= w->reading->kept_count) return SL_NO_MORE;
  if (atomic_load(&w->slot->order->stopped)) {
    sl_order_fail(w->slot->order, index, SL_EINTERRUPTED); /* slots with later slices must not wait for this one */
    return SL_NO_MORE;
  }
  slice->sequence = index;
  slice->input = &w->reading->kept[index];
  return SL_FILLED;
}

/* Later passes deliver nothing, so each device first runs the slices in its nearest memory, then those of other
 * devices. */
static int next_near(struct worker *w, struct sl_slice *slice, int may_wait) {
  (void)may_wait;
  struct sl_setup *s = w->slot->setup;
  const struct sl_reading *r = w->reading;
  const uint32_t devices = s->device_count;
  for (uint32_t i = 0; i < devices; i++) {
    const uint32_t d = (w->slot->device_state->index + i) % devices;
    const uint64_t own = (r->kept_count + devices - 1 - d) / devices; /* slices d, d + devices... */
    const uint64_t index = atomic_fetch_add(&s->devices[d].next_kept, 1);
    if (index >= own * r->kept_passes) continue;
    slice->sequence = index * devices + d;
    slice->input = &r->kept[index % own * devices + d];
    if (!atomic_load(&w->slot->order->stopped)) return SL_FILLED;
    sl_order_fail(w->slot->order, slice->sequence, SL_EINTERRUPTED);
    return SL_NO_MORE;
  }
  return SL_NO_MORE;
}

static int start(struct sl_slot *slot, uint32_t k) {
  const struct sl_backend *backend = slot->setup->backend;
  const uint64_t begin = sl_now_ns();
  slot->slices_in_flight[k].begin_ns = begin;
  slot->detour = SL_NO_DETOUR;
  if (!backend->is_device) return sl_execute_start(slot, k);
  if (backend->range_begin) backend->range_begin("start slice");
  const struct sl_scope scope = sl_scope_begin(slot, SL_ACTIVITY_LAUNCH);
  const int status = sl_execute_start(slot, k);
  sl_scope_end(slot, scope);
  if (backend->range_end) backend->range_end();
  sl_span_end(slot, "start slice", begin, "slice", slot->slices_in_flight[k].sequence);
  return status;
}

/* Ends the slice, or leaves it to other devices. After a failure nothing more is delivered. */
static int end_slice(struct sl_slot *slot, uint32_t k, int status) {
  const struct sl_slice *slice = &slot->slices_in_flight[k];
  if (status != SL_OK && slot->detour == SL_LEFT) {
    sl_slice_leave(slot, slice);
    return status;
  }
  if (status != SL_OK) sl_order_fail(slot->order, slice->sequence, status);
  sl_slice_end(slot->order);
  return status;
}

static int finish(struct sl_slot *slot, uint32_t k) {
  const struct sl_backend *backend = slot->setup->backend;
  const uint64_t begin = sl_now_ns();
  if (backend->range_begin) backend->range_begin("finish slice");
  slot->detour = SL_NO_DETOUR;
  int status = sl_execute_finish(slot, k);
  while (slot->detour == SL_EXCHANGED) {
    status = start(slot, k);
    if (status == SL_OK) status = sl_execute_finish(slot, k);
  }
  if (backend->range_end) backend->range_end();
  const uint64_t end = sl_now_ns(), sequence = slot->slices_in_flight[k].sequence;
  if (status == SL_OK && slot->delivery->active) {
    SL_NOTIFY(slot->observers, slice_end, slot, end - slot->slices_in_flight[k].begin_ns);
    const struct sl_scope scope = sl_scope_begin(slot, SL_ACTIVITY_WAIT_TO_DELIVER);
    sl_order_pass(slot->order, sequence);
    sl_scope_end(slot, scope);
  }
  sl_span_add(slot, backend->is_device ? "finish slice" : "slice", begin, end, "slice", sequence);
  return end_slice(slot, k, status);
}

/* Obtains a slice; slices that lost devices left come first. */
static int take(struct worker *w, uint32_t k, int may_wait) {
  struct sl_slice *slice = &w->slot->slices_in_flight[k];
  const int kind = sl_slice_begin(w->slot, slice);
  if (kind != SL_SLICE_NEW) return kind == SL_SLICE_NONE ? SL_NO_MORE : SL_FILLED;
  const int taken = w->next(w, slice, may_wait);
  if (taken != SL_FILLED) sl_slice_end(w->slot->order);
  return taken;
}

/* Slices that a slot has started. */
struct started_slices {
  struct sl_slot *slot;
  int busy[2];
};

/* Finishes the earliest slice, because other slots may wait for it. Returns its index, which becomes free. */
static uint32_t finish_earliest(struct started_slices *f, int *status) {
  const struct sl_slice *slices = f->slot->slices_in_flight;
  const uint32_t k = f->busy[1] && (!f->busy[0] || slices[1].sequence < slices[0].sequence);
  *status = finish(f->slot, k);
  f->busy[k] = 0;
  return k;
}

/* Starts slices until there are no more. The slot changes to a new plan when none is in flight. A slice is finished
 * before its index is used again, so that the backend always has work while the host delivers. A lost device finishes
 * nothing. Slices in flight are finished before the slot waits for the source, because a program may feed more events
 * only after those were delivered. */
static void run_slices(struct worker *w) {
  struct sl_slot *slot = w->slot;
  const uint32_t slices = slot->setup->backend->slices_in_flight;
  struct started_slices f = {slot, {0, 0}};
  int status = SL_OK;
  uint32_t k = 0;
  for (int taken = SL_FILLED; status == SL_OK && taken != SL_NO_MORE;) {
    if (sl_replan_is_due(slot)) {
      while (status == SL_OK && (f.busy[0] || f.busy[1])) finish_earliest(&f, &status);
      if (status != SL_OK) break;
      sl_replan_adopt(slot);
    }
    taken = take(w, k, !f.busy[0] && !f.busy[1]);
    if (taken == SL_LATER) k = finish_earliest(&f, &status);
    if (taken != SL_FILLED) continue;
    int started = start(slot, k);
    f.busy[k] = started == SL_OK;
    if (started != SL_OK) started = end_slice(slot, k, started);
    k = (k + 1) % slices;
    if (f.busy[k] && slot->detour != SL_LEFT) k = finish_earliest(&f, &status);
    if (started != SL_OK) status = started;
  }
  while (status == SL_OK && (f.busy[0] || f.busy[1])) finish_earliest(&f, &status);
  for (k = 0; k < 2; k++)
    if (f.busy[k]) end_slice(slot, k, status);
}

/* Runs slices that lost devices left, until no slice is in flight. */
static void help_others(struct sl_slot *slot) {
  while (slot->setup->device_count > 1 && sl_slice_await_orphan(slot, &slot->slices_in_flight[0])) {
    const int started = start(slot, 0);
    if (started != SL_OK)
      end_slice(slot, 0, started);
    else
      finish(slot, 0);
  }
}

static void work(void *argument) {
  struct worker *w = argument;
  struct sl_numa_cores before;
  const int has_moved = sl_run_near(w->slot->setup, w->slot->device_state, &before);
  const struct sl_scope scope = sl_scope_begin(w->slot, SL_ACTIVITY_OTHER);
  run_slices(w);
  help_others(w->slot);
  sl_scope_end(w->slot, scope);
  if (has_moved) sl_numa_restore_cores(&before); /* slot 0 runs in a thread of the program */
}

static int run_threads(struct sl_slot *slots, const struct worker *model, uint64_t first) {
  const struct sl_setup *s = slots[0].setup;
  struct sl_order *order = slots[0].order;
  struct worker *workers = calloc(s->slot_count, sizeof *workers);
  if (!workers) return SL_ENOMEM;
  sl_order_begin(order, first);
  int status = SL_OK;
  for (uint32_t i = 0; i < s->slot_count && status == SL_OK; i++) {
    workers[i] = *model;
    workers[i].slot = &slots[i];
    const int error = i > 0 ? sl_thread_start(&slots[i].thread, work, &workers[i]) : 0;
    if (error != 0) {
      sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, "use fewer slots", "slot %u: no thread could be started: %s", i,
                  strerror(error));
      status = SL_ENOMEM;
      atomic_store(&order->stopped, SL_STOPPED);
    }
  }
  if (status == SL_OK) work(&workers[0]);
  for (uint32_t i = 1; i < s->slot_count; i++) sl_thread_join(&slots[i].thread);
  free(workers);
  return status < 0 ? status : atomic_load(&order->status);
}

int sl_run_source(struct sl_slot *slots, struct sl_reading *reading) {
  int status = SL_OK;
  for (int has_held = 1; has_held && status == SL_OK && !reading->held;) {
    status = run_threads(slots, &(struct worker){NULL, reading, next_from_source}, reading->next_sequence);
    has_held = reading->held != NULL;
    if (has_held && status == SL_OK)
      status = run_threads(slots, &(struct worker){NULL, reading, next_held}, reading->held_sequence);
  }
  return status;
}

int sl_run_kept(struct sl_slot *slots, struct sl_reading *reading) {
  return run_threads(slots, &(struct worker){NULL, reading, next_kept}, 0);
}

int sl_run_repeated(struct sl_slot *slots, struct sl_reading *reading, uint64_t passes) {
  struct sl_setup *s = slots[0].setup;
  reading->kept_passes = passes;
  for (uint32_t d = 0; d < s->device_count; d++) atomic_store(&s->devices[d].next_kept, 0);
  return run_threads(slots, &(struct worker){NULL, reading, next_near}, 0);
}

/* ----------------------------------------------------------------------------------------------- kept slices */

/* Opens a kept slice near the next device. If the memory near one device is full, another may have room. */
static int open_kept(struct sl_reading *r, struct sl_input *input) {
  struct sl_setup *s = r->setup;
  int status = SL_ENOMEM;
  for (uint32_t i = 0; i < s->device_count && status < 0; i++) {
    status = sl_input_open(s, &s->devices[(r->kept_count - 1 + i) % s->device_count], input);
    if (status < 0) sl_input_close(s, input);
  }
  return status;
}

int sl_keep_slices(struct sl_slot *slot, struct sl_reading *r) {
  uint64_t capacity = 0, sequence = 0;
  for (;;) {
    if (r->kept_count == capacity) {
      capacity = capacity ? 2 * capacity : 64;
      struct sl_input *larger = realloc(r->kept, capacity * sizeof *larger);
      if (!larger) return SL_ENOMEM;
      r->kept = larger;
    }
    if (sl_fit_kept(r) < 0) return SL_ENOMEM;
    struct sl_input *input = &r->kept[r->kept_count];
    memset(input, 0, sizeof *input);
    r->kept_count++;
    if (open_kept(r, input) < 0) return SL_ENOMEM;
    const int filled = sl_source_next(r, slot, input, 1, &sequence);
    if (filled <= 0) {
      sl_input_close(r->setup, input);
      r->kept_count--;
      return filled;
    }
  }
}
