/* turns.h: whose results come next, and slices that a lost device leaves undone. See turns.c. */
#ifndef SL_TURNS_H
#define SL_TURNS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

struct sl_flight;
struct sl_input;
struct sl_session;
struct sl_slot;

/* A slice that a lost device left undone, from event `delivered` on. */
struct sl_orphan {
  struct sl_input *input;
  uint64_t ticket;
  uint32_t delivered;
};

/* Whose results come next: slices are delivered in the order in which they were read. turns.c. */
struct sl_turns {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  uint64_t next;   /* the ticket */
  uint64_t failed; /* slices from this ticket on are not delivered */
  struct sl_orphan *orphans;
  uint32_t orphan_count, lost_devices;
  uint32_t under_way; /* slices that slots have or are asking for; orphans not */
  atomic_int status;  /* of the earliest failure so far */
  atomic_int stopped; /* by a signal, its number; SL_STOPPED: by the program */
};

/* Why a slice was not finished, if that is no failure of the run: it is left to other devices, since this one is lost;
 * the flight has another slice, which is to be started and finished first. Noted in the slot, since a program's
 * callback may end a run with any value. */
enum { SL_NO_DETOUR, SL_LEFT, SL_EXCHANGED };

/* Blocks until all slices before the flight's are delivered. SL_EINTERRUPTED where one of them failed, or with the
 * detour SL_EXCHANGED. */
int sl_wait_for_turn(struct sl_slot *slot, struct sl_flight *flight);
void sl_pass_turn(struct sl_session *s, uint64_t ticket);
void sl_fail(struct sl_session *s, uint64_t ticket, int status); /* nothing is delivered from here on */
void sl_fail_now(struct sl_session *s, int status);              /* nothing more is delivered */
int sl_turns_open(struct sl_session *s);
void sl_turns_close(struct sl_session *s);
void sl_turns_begin(struct sl_session *s);
/* A slot asks for a slice: the flight has got an orphan; it is to ask the source; or there is none, since the device is
 * lost. After the first two, one of: the slice is over, or there was none; or it is left to other devices, or, where
 * there is none, failed. */
enum { SL_SLICE_NONE, SL_SLICE_ORPHAN, SL_SLICE_NEW };
int sl_slice_begin(struct sl_slot *slot, struct sl_flight *flight);
void sl_slice_end(struct sl_session *s);
void sl_slice_leave(struct sl_slot *slot, const struct sl_flight *flight);
/* Blocks until no slice is under way, and returns 0, or until there is an orphan, which the flight then has. */
int sl_slice_await_orphan(struct sl_slot *slot, struct sl_flight *flight);
/* The slot's device is lost; was it not before? Returns whether there is one that is not lost; so does the other, of
 * devices beside the slot's. */
int sl_device_lose(struct sl_slot *slot, int *is_first);
int sl_device_has_others(const struct sl_slot *slot);
int sl_device_is_lost(struct sl_session *s, uint32_t index);

#endif
