/* feed_window.h: a window of feed entries that were taken together.
 *
 * 1. Workers count what each event of the window needs.
 * 2. The source adds the events to slices, one after the other.
 * 3. Workers copy the added events, while they count the next window: one parallel loop wakes them half as often as
 *    two. */
#ifndef IO_FEED_WINDOW_H
#define IO_FEED_WINDOW_H

#include "io/bank_packer.h"

enum { FEED_WINDOW_ENTRIES = 1024 };

/* Faults of an event; `fault_block` is the index of the invalid bank. */
enum { FEED_SOUND, FEED_NO_BANKS, FEED_NO_DATA, FEED_TOO_LONG, FEED_IS_TAE };

struct feed_event {
  uint32_t fault, fault_block;
  uint64_t number;
  uint32_t run, has_odin;
  uint32_t selected_begin, selected_end; /* range of the blocks that includes all banks that a node reads */
  uint64_t record_words, record_word;    /* size of its record, and offset of the record in the slice */
  uint32_t puts_banks, puts_record;      /* to be copied to the slice */
  uint64_t types[IO_BANK_TYPES / 64];    /* one bit per bank type that the event has */
};

struct feed_window {
  const struct io_packer *packer;
  struct sl_feed_entry *entries;
  struct feed_event *events;
  struct io_packer_amount *amounts; /* per entry and port */
  uint32_t next, count;             /* [next, count) are in no slice yet */
  uint32_t put_first, put_steps;    /* [put_first, next) are to be copied */
  uint64_t put_bytes;
};

/* Allocates a window for an open `packer`: 0 or SL_ENOMEM. Must be closed in both cases. */
int feed_window_open(struct feed_window *w, const struct io_packer *packer);
void feed_window_close(struct feed_window *w);

static inline struct io_packer_amount *feed_window_amounts(const struct feed_window *w, uint32_t index) {
  return w->amounts + (size_t)index * w->packer->count;
}

/* Adds event `next` to the slice; it is copied later, as puts_banks and puts_record state. Call it before
 * io_packer_commit. */
void feed_window_take(struct feed_window *w);
/* Copies the events added to the slice since the last call, and counts all events of `count`. Either may be NULL. */
void feed_window_share(struct feed_window *put, struct feed_window *count, const struct sl_services *s);

#endif
