/* feed_window.h: entries of a feed that were taken together: workers count what each event of them needs, events go
 * into slices one after the other, and workers copy those that did.
 *
 * Two windows take turns, so that workers count the one while they copy the other: who sleeps between loops is woken
 * half as often.
 */
#ifndef IO_FEED_WINDOW_H
#define IO_FEED_WINDOW_H

#include "io/bank_packer.h"

enum { FEED_WINDOW_ENTRIES = 1024 };

/* What can be wrong with an event, and with which of its blocks. */
enum { FEED_SOUND, FEED_NO_BANKS, FEED_NO_DATA, FEED_TOO_LONG, FEED_IS_TAE };

struct feed_event {
  uint32_t fault, fault_block;
  uint64_t number;
  uint32_t run, has_odin;
  uint32_t wanted_begin, wanted_end;  /* the blocks that somebody reads are among these */
  uint64_t record_words, record_word; /* what it takes as a record, and where that begins */
  uint32_t puts_banks, puts_record;   /* into this slice */
  uint64_t types[IO_BANK_TYPES / 64]; /* a bit for each that it has */
};

struct feed_window {
  const struct io_packer *packer;
  struct sl_feed_entry *entries;
  struct feed_event *events;
  struct io_packer_amount *amounts; /* an entry and port */
  uint32_t next, count;             /* [next, count) are in no slice */
  uint32_t put_first, put_steps;    /* [put_first, next) are to be copied */
  uint64_t put_bytes;
};

/* 0 or SL_ENOMEM. `packer` is open. To be closed in either case. */
int feed_window_open(struct feed_window *w, const struct io_packer *packer);
void feed_window_close(struct feed_window *w);

static inline struct io_packer_amount *feed_window_amounts(const struct feed_window *w, uint32_t index) {
  return w->amounts + (size_t)index * w->packer->count;
}

/* Event `next` is in the slice from now on, and is to be copied, banks and record as it says. Before io_packer_commit.
 */
void feed_window_take(struct feed_window *w);
/* Copies the events of `put` that went into the slice since the last time, and counts all of `count`; either may be
 * NULL. */
void feed_window_share(struct feed_window *put, struct feed_window *count, const struct sl_services *s);

#endif
