/* turns.c: whose results come next, and slices that a lost device leaves undone.
 *
 * Results are delivered in the order of tickets. What comes before the first failure is delivered, what comes after it
 * is not.
 *
 * A slice that a lost device leaves is an orphan. Slots of other devices take the earliest one before they ask for a
 * new slice. A slot that waits for its turn may be the only one left to run an orphan that comes before its own slice:
 * it puts that one among the orphans in exchange, and whoever takes it runs it again. That is never a slice of which a
 * part was delivered, since such a one has had its turn, so that no orphan comes before it. A slot that finds nothing
 * to do stays until no slice is under way anywhere. So somebody runs the earliest slice that is not delivered as long
 * as there is a device, if each slot finishes the earliest of its slices first.
 */
#include "execute/session.h"

#include <stdlib.h>

int sl_turns_open(struct sl_session *s) {
  s->turns.orphans = calloc((size_t)s->slot_count * s->backend->flights, sizeof *s->turns.orphans);
  return s->turns.orphans ? SL_OK : SL_ENOMEM;
}

void sl_turns_close(struct sl_session *s) { free(s->turns.orphans); }

void sl_turns_begin(struct sl_session *s) {
  s->turns.next = 0;
  s->turns.failed = UINT64_MAX;
  s->turns.orphan_count = s->turns.under_way = 0;
}

/* -------------------------------------------------------------------------------------------------- order */

/* With the lock held. */
static void fail_locked(struct sl_session *s, uint64_t ticket, int status) {
  if (ticket < s->turns.failed) {
    s->turns.failed = ticket;
    atomic_store(&s->turns.status, status);
  }
  pthread_cond_broadcast(&s->turns.changed);
}

void sl_fail(struct sl_session *s, uint64_t ticket, int status) {
  pthread_mutex_lock(&s->turns.lock);
  fail_locked(s, ticket, status);
  pthread_mutex_unlock(&s->turns.lock);
}

void sl_fail_now(struct sl_session *s, int status) {
  pthread_mutex_lock(&s->turns.lock);
  fail_locked(s, s->turns.next, status);
  pthread_mutex_unlock(&s->turns.lock);
}

void sl_pass_turn(struct sl_session *s, uint64_t ticket) {
  pthread_mutex_lock(&s->turns.lock);
  if (s->turns.next == ticket && s->turns.failed > ticket) s->turns.next = ticket + 1;
  pthread_cond_broadcast(&s->turns.changed);
  pthread_mutex_unlock(&s->turns.lock);
}

/* ------------------------------------------------------------------------------------------------ orphans */

/* The earliest, with the lock held; NULL: there is none. */
static struct sl_orphan *earliest_orphan(struct sl_session *s) {
  struct sl_orphan *earliest = NULL;
  for (uint32_t i = 0; i < s->turns.orphan_count; i++)
    if (!earliest || s->turns.orphans[i].ticket < earliest->ticket) earliest = &s->turns.orphans[i];
  return earliest;
}

static struct sl_orphan orphan_of(const struct sl_flight *flight) {
  return (struct sl_orphan){flight->input, flight->ticket, flight->delivered};
}

static void adopt(struct sl_flight *flight, const struct sl_orphan *orphan) {
  flight->input = orphan->input;
  flight->ticket = orphan->ticket;
  flight->delivered = orphan->delivered;
}

/* With the lock held: 1 if there was one. */
static int take_orphan(struct sl_session *s, struct sl_flight *flight) {
  struct sl_orphan *orphan = earliest_orphan(s);
  if (!orphan) return 0;
  adopt(flight, orphan);
  *orphan = s->turns.orphans[--s->turns.orphan_count];
  return 1;
}

/* The flight's slice for an orphan; its memory goes with it, and that of the orphan is the flight's now. */
static void exchange(struct sl_flight *flight, struct sl_orphan *orphan) {
  const struct sl_orphan own = orphan_of(flight);
  if (flight->spare == own.input) flight->spare = orphan->input;
  adopt(flight, orphan);
  *orphan = own;
}

int sl_wait_for_turn(struct sl_slot *slot, struct sl_flight *flight) {
  struct sl_session *s = slot->session;
  int status = SL_OK;
  pthread_mutex_lock(&s->turns.lock);
  while (status == SL_OK && s->turns.next != flight->ticket) {
    struct sl_orphan *orphan = slot->place->is_lost ? NULL : earliest_orphan(s);
    if (s->turns.failed <= flight->ticket) {
      status = SL_EINTERRUPTED;
    } else if (orphan && orphan->ticket < flight->ticket) {
      exchange(flight, orphan);
      slot->slices--; /* its own counts where it is finished */
      pthread_cond_broadcast(&s->turns.changed);
      slot->detour = SL_EXCHANGED;
      status = SL_EINTERRUPTED;
    } else {
      pthread_cond_wait(&s->turns.changed, &s->turns.lock);
    }
  }
  if (status == SL_OK && s->turns.failed <= flight->ticket) status = SL_EINTERRUPTED;
  pthread_mutex_unlock(&s->turns.lock);
  return status;
}

int sl_slice_begin(struct sl_slot *slot, struct sl_flight *flight) {
  struct sl_session *s = slot->session;
  pthread_mutex_lock(&s->turns.lock);
  const int may = !slot->place->is_lost, taken = may && take_orphan(s, flight);
  s->turns.under_way += (uint32_t)may;
  pthread_mutex_unlock(&s->turns.lock);
  if (!taken) flight->delivered = 0;
  return !may ? SL_SLICE_NONE : taken ? SL_SLICE_ORPHAN : SL_SLICE_NEW;
}

void sl_slice_end(struct sl_session *s) {
  pthread_mutex_lock(&s->turns.lock);
  s->turns.under_way--;
  if (s->device_count > 1) pthread_cond_broadcast(&s->turns.changed);
  pthread_mutex_unlock(&s->turns.lock);
}

void sl_slice_leave(struct sl_slot *slot, const struct sl_flight *flight) {
  struct sl_session *s = slot->session;
  pthread_mutex_lock(&s->turns.lock);
  s->turns.under_way--;
  if (s->turns.lost_devices < s->device_count)
    s->turns.orphans[s->turns.orphan_count++] = orphan_of(flight);
  else
    fail_locked(s, flight->ticket, SL_EDEVICE);
  pthread_cond_broadcast(&s->turns.changed);
  pthread_mutex_unlock(&s->turns.lock);
  slot->slices--; /* it counts where it is finished */
}

int sl_slice_await_orphan(struct sl_slot *slot, struct sl_flight *flight) {
  struct sl_session *s = slot->session;
  const uint32_t outer = sl_time_enter(slot, SL_TIME_IDLE);
  pthread_mutex_lock(&s->turns.lock);
  while (!slot->place->is_lost && s->turns.orphan_count == 0 && s->turns.under_way > 0)
    pthread_cond_wait(&s->turns.changed, &s->turns.lock);
  const int taken = !slot->place->is_lost && take_orphan(s, flight);
  s->turns.under_way += (uint32_t)taken;
  pthread_mutex_unlock(&s->turns.lock);
  sl_time_enter(slot, outer);
  return taken;
}

int sl_device_lose(struct sl_slot *slot, int *is_first) {
  struct sl_session *s = slot->session;
  pthread_mutex_lock(&s->turns.lock);
  *is_first = !slot->place->is_lost;
  slot->place->is_lost = 1;
  s->turns.lost_devices += (uint32_t)*is_first;
  const int others = s->turns.lost_devices < s->device_count;
  for (; !others && s->turns.orphan_count > 0; s->turns.orphan_count--)
    fail_locked(s, s->turns.orphans[s->turns.orphan_count - 1].ticket, SL_EDEVICE);
  pthread_cond_broadcast(&s->turns.changed);
  pthread_mutex_unlock(&s->turns.lock);
  return others;
}

int sl_device_is_lost(struct sl_session *s, uint32_t index) {
  pthread_mutex_lock(&s->turns.lock);
  const int is_lost = s->devices[index].is_lost;
  pthread_mutex_unlock(&s->turns.lock);
  return is_lost;
}

int sl_device_has_others(const struct sl_slot *slot) {
  struct sl_session *s = slot->session;
  pthread_mutex_lock(&s->turns.lock);
  const int others = s->turns.lost_devices + !slot->place->is_lost < s->device_count;
  pthread_mutex_unlock(&s->turns.lock);
  return others;
}
