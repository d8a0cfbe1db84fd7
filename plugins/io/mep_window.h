/* mep_window.h: a packet's events, handed to slices window by window without being sorted by event.
 *
 * The blocks of a packet that somebody wants are opened once. A window is a range [first, end) of the packet's events:
 * the fragments of one source in it lie one after the other in the file, and are copied so, in one piece, into the pool
 * of their kind; the items, one a fragment, point into the pieces. Only where fragments are not padded to words are
 * they copied one by one.
 */
#ifndef IO_MEP_WINDOW_H
#define IO_MEP_WINDOW_H

#include "format/mep.h"
#include "io/bank_packer.h"

struct mep_window_block {
  struct mep_block block;
  uint32_t first_port, port_count; /* which ports of the packer want fragments of it, in `ports` of the window */
  uint32_t one_type, reserved;     /* all fragments have the same type */
};

/* Where an event's fragment begins in a block: bytes in the packet, words in a pool that begins with the block's. */
struct mep_window_mark {
  uint64_t bytes, words;
};

/* A block, for one of its ports. */
struct mep_window_piece {
  uint32_t block, reserved;          /* index among the window's */
  struct mep_window_mark first, end; /* of the window at hand */
  uint64_t word;                     /* where its fragments in the window begin in the pool */
};

struct mep_window {
  struct mep_window_block *blocks; /* those that are wanted, and that of ODIN */
  uint32_t block_count;
  struct mep_block *all;   /* all blocks of the packet */
  uint8_t *traits;         /* of each of them */
  uint64_t *all_positions; /* where records are wanted: in each block's fragments, of the fragment of event `next` */
  uint32_t all_count, with_record;
  uint32_t event_count, next; /* of the packet; the first that is in no slice yet */
  uint64_t event_id;
  uint32_t odin;          /* index of its block, or UINT32_MAX */
  uint32_t first;         /* of the window at hand, which ends before `next` */
  uint64_t odin_position; /* of the fragment of event `next` in it */
  uint32_t *ports;        /* of all blocks, one after the other */
  uint32_t port_count;
  struct mep_window_piece *pieces; /* by port: those of port p begin at piece_first[p] and end at piece_first[p + 1] */
  uint32_t *piece_first;
  struct mep_window_mark *marks; /* of the first event of every range, then of the end; by piece */
  /* Per event of the packet, all in one allocation: items and words of each port (mep_window.c). Items of an event of
   * the window at hand: where they begin in the slice. */
  uint32_t *per_event;
  uint32_t event_capacity, per_event_ports;
  size_t block_capacity, all_capacity, traits_capacity, positions_capacity; /* of the arrays above */
  size_t port_capacity, piece_capacity, piece_first_capacity, mark_capacity;
};

/* Opens a packet for the ports of the packer that are read: 0, -1 with the fault filled, or SL_ENOMEM. What `data`
 * points to must stay until all its events are in slices. */
int mep_window_open(struct mep_window *w, struct io_packer *p, const struct sl_services *s, const uint8_t *data,
                    uint64_t bytes, struct mdf_fault *fault);
static inline int mep_window_is_done(const struct mep_window *w) { return w->next >= w->event_count; }

/* What event `next` says of itself: 1 if it has a readable ODIN, 0, or -1 with the fault filled if that is broken. */
int mep_window_identity(const struct mep_window *w, uint32_t *run, uint64_t *number, struct mdf_fault *fault);
/* Tells the packer what event `next` needs, for io_packer_fit. */
void mep_window_measure(const struct mep_window *w, struct io_packer *p);
/* Gives the packer all fragments of event `next` as banks of its record, in the order of the blocks; also those that
 * the readout marked broken, but not those that say that there is none. */
void mep_window_add_record(const struct mep_window *w, struct io_packer *p);
/* Event `next` was committed: it is in the window. */
void mep_window_take(struct mep_window *w, const struct io_packer *p);
/* Copies the window, if any, to the slice, whose last events it has; the next one begins after it. */
void mep_window_copy(struct mep_window *w, const struct io_packer *p, const struct sl_services *s);
/* Passes over event `next`, which is in no window; to be called after mep_window_copy. */
void mep_window_skip(struct mep_window *w);
void mep_window_free(struct mep_window *w);

#endif
