/* mep_window.h: a packet's events, handed to slices window by window without being sorted by event.
 *
 * The blocks of a packet that somebody wants are opened once. A window is a range [first, end) of the packet's events:
 * the fragments of one source in it lie one after the other in the file, and are copied so, in one piece, into the pool
 * of their kind; the items, one a fragment, point into the pieces. Only where fragments are not padded to words are
 * they copied one by one.
 */
#ifndef IO_MEP_WINDOW_H
#define IO_MEP_WINDOW_H

#include "io/bank_packer.h"
#include "mep.h"

struct mep_window_block {
  struct mep_block block;
  uint64_t position;               /* in block.fragments, of the fragment of event `next` */
  uint32_t first_port, port_count; /* which ports of the packer want fragments of it, in `ports` of the window */
  uint32_t one_type, reserved;     /* all fragments have the same type */
};

struct mep_window {
  struct mep_window_block *blocks; /* those that are wanted, and that of ODIN */
  uint32_t block_count, block_capacity;
  struct mep_block *all;   /* all blocks of the packet */
  uint64_t *all_positions; /* where records are wanted: in each block's fragments, of the fragment of event `next` */
  uint32_t all_count, all_capacity, positions_capacity, with_record;
  uint32_t event_capacity, copied_ports; /* ports: how many `per_event` has */
  uint32_t event_count, next;            /* of the packet; the first that is in no slice yet */
  uint64_t event_id;
  uint32_t odin;          /* index of its block, or UINT32_MAX */
  uint32_t first;         /* of the window at hand, which ends before `next` */
  uint64_t odin_position; /* of the fragment of event `next` in it */
  uint32_t *ports;        /* of all blocks, one after the other */
  uint32_t port_count, port_capacity;
  /* Per event of the packet, all in one allocation: items and words of each port (mep_window.c), then scratch of each
   * worker that copies. */
  uint32_t *per_event;
  /* Where the window's pieces begin in the pools, for each port of the packer. */
  struct mep_window_begin {
    uint64_t items, words;
  } * before;
  uint32_t before_count, reserved;
};

/* Opens a packet for the ports of the packer that are read: 0, -1 with the fault filled, or SL_ENOMEM. What `data`
 * points to must stay until all its events are in slices. */
int mep_window_open(struct mep_window *w, struct io_packer *p, const struct sl_services *s, const uint8_t *data,
                    uint64_t bytes, struct mdf_fault *fault);
static inline int mep_window_is_done(const struct mep_window *w) { return w->next >= w->event_count; }

/* Begins a window at event `next`. */
void mep_window_begin(struct mep_window *w, const struct io_packer *p);
/* What event `next` says of itself: 1 if it has a readable ODIN, 0, or -1 with the fault filled if that is broken. */
int mep_window_identity(const struct mep_window *w, uint32_t *run, uint64_t *number, struct mdf_fault *fault);
/* Tells the packer what event `next` needs, for io_packer_fit. */
void mep_window_measure(const struct mep_window *w, struct io_packer *p);
/* Gives the packer all fragments of event `next` as banks of its record, in the order of the blocks; also those that
 * the readout marked broken, but not those that say that there is none. */
void mep_window_add_record(const struct mep_window *w, struct io_packer *p);
/* Event `next` was committed: it is in the window. */
void mep_window_take(struct mep_window *w);
/* Copies the window, if any, to the slice: a port is one worker's. */
void mep_window_copy(struct mep_window *w, const struct io_packer *p, const struct sl_services *s);
/* Passes over event `next`, which is in no window; to be called between mep_window_copy and mep_window_begin. */
void mep_window_skip(struct mep_window *w);
void mep_window_free(struct mep_window *w);

#endif
