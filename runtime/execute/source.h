/* source.h: slices from the source. See source.c. */
#ifndef SL_SOURCE_H
#define SL_SOURCE_H

#include "execute/followed.h"
#include "execute/order.h"
#include "execute/slot.h"

struct sl_overflow_history;

/* The source and its progress. One slot at a time reads, with the lock held. */
struct sl_reading {
  struct sl_setup *setup;
  struct sl_order *order;
  struct sl_overflow_history *history;
  pthread_mutex_t lock;
  uint32_t idle_calls; /* calls of the source since the last event */
  uint64_t idle_ns;    /* their time */
  uint64_t next_sequence, events, ns;
  int ended, status;
  /* A slice that has to run alone (conditions.h), after those before it; NULL: none. No further slice is read. */
  struct sl_input *held;
  const struct sl_slot *held_slot; /* that has read it */
  uint64_t held_sequence;
  atomic_int is_paused;        /* no further slice is read; set by any thread */
  uint32_t first_file;         /* --resume: input files before it were read */
  uint64_t skip_events;        /* --resume: events still to be skipped, which were delivered */
  uint64_t earlier_events;     /* --resume: `events` when reading begins */
  struct sl_followed followed; /* the file that is read, of a followed folder */
  /* --repeat: all slices */
  uint64_t room_bytes; /* free memory for kept slices when it was last read */
  struct sl_input *kept;
  uint64_t kept_count, kept_passes; /* passes over the kept slices in this repetition */
  atomic_uint_fast64_t next_kept;   /* in the first pass */
};

/* Opens the state of the source, with the input files of the options. Files of a followed folder are opened later. */
int sl_source_open(const struct sl_reading *r);
/* Reads the next slice, of at most `events_max` events, from a source with state `state`. Returns the result of
 * `fill`, or SL_EPLUGIN, reported, if the source broke its contract. Without an event the result is 0, an error, or
 * 1 unless `may_wait`. */
int sl_source_fill(struct sl_reading *r, void *state, struct sl_input *input, uint32_t events_max, int may_wait,
                   struct sl_fill *fill);
/* Fills the next slice of the run, with the lock held. SL_NO_MORE: end of the input, or reading pauses, or the slice is
 * held. SL_LATER: no event yet (only without `may_wait`). An error was reported by the source. */
enum { SL_NO_MORE, SL_FILLED, SL_LATER };
int sl_source_next(struct sl_reading *r, struct sl_slot *slot, struct sl_input *input, int may_wait,
                   uint64_t *sequence);

#endif
