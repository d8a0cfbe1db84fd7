/* mep_window.h: copies the events of a packet to slices without sorting them by event.
 *
 * The blocks that a node reads are opened once per packet. A window is a range [first, next) of its events. The
 * fragments of one source in the window are contiguous in the packet, and are copied in one piece to the payload of
 * their port; the items, one per fragment, point into the pieces. Fragments that are not padded to words are copied one
 * by one. */
#ifndef IO_MEP_WINDOW_H
#define IO_MEP_WINDOW_H

#include "format/mep.h"
#include "io/bank_packer.h"

struct mep_window_block {
  struct mep_block block;
  uint32_t first_port, port_count; /* range in `ports` of the window: ports that read fragments of the block */
  uint32_t one_type, reserved;     /* all its fragments have the same type */
};

/* Offset of an event in a block: bytes in the packet, and words in the payload from the first fragment of the block. */
struct mep_window_offset {
  uint64_t bytes, words;
};

/* A block, for one of its ports. */
struct mep_window_piece {
  uint32_t block, reserved;            /* index in `blocks` */
  struct mep_window_offset first, end; /* bounds of the current window */
  uint64_t word;                       /* offset in the payload where its fragments of the window begin */
};

struct mep_window {
  struct mep_window_block *blocks; /* blocks that nodes read, and the ODIN block */
  uint32_t block_count;
  struct mep_block *all;   /* all blocks of the packet */
  uint8_t *traits;         /* bits of each block in `all` (mep_window.c) */
  uint64_t *all_positions; /* if records are read: per block, offset of the fragment of event `next` */
  uint32_t all_count, with_record;
  uint32_t event_count, next; /* events of the packet; next: the first event that is in no slice yet */
  uint64_t event_id;
  uint32_t odin;          /* ODIN block, or UINT32_MAX */
  uint32_t first;         /* first event of the current window, which ends before `next` */
  uint64_t odin_position; /* offset of the fragment of event `next` in the ODIN block */
  uint32_t *ports;        /* ports of all blocks, concatenated */
  uint32_t port_count;
  struct mep_window_piece
      *pieces; /* sorted by port: pieces of port p begin at piece_first[p] and end at piece_first[p + 1] */
  uint32_t *piece_first;
  struct mep_window_offset *piece_offsets; /* [range * port_count + piece]: offset of the first event of the range;
                                              after the last range, the end of the packet */
  /* Items and words of each event for each port, in one allocation (mep_window.c). In the current window, items is the
   * index of the first item in the slice. */
  uint32_t *per_event;
  uint32_t event_capacity, per_event_ports;
  size_t block_capacity, all_capacity, traits_capacity, positions_capacity; /* capacities of the arrays above */
  size_t port_capacity, piece_capacity, piece_first_capacity, offset_capacity;
};

/* Opens a packet for the ports that nodes read: 0, -1 with the fault filled, or SL_ENOMEM. `data` must stay valid until
 * all events are in slices. */
int mep_window_open(struct mep_window *w, struct io_packer *p, const struct sl_services *s, const uint8_t *data,
                    uint64_t bytes, struct mdf_fault *fault);
static inline int mep_window_is_done(const struct mep_window *w) { return w->next >= w->event_count; }

/* Reads run and number of event `next` from ODIN: 1; 0 if it has no readable ODIN; -1 with the fault filled if ODIN is
 * marked broken. */
int mep_window_identity(const struct mep_window *w, uint32_t *run, uint64_t *number, struct mdf_fault *fault);
/* Sets the amounts of event `next` in the packer, for io_packer_fit. */
void mep_window_measure(const struct mep_window *w, struct io_packer *p);
/* Adds all fragments of event `next` to its record as banks, in block order. Includes fragments marked broken, but not
 * missing ones without bytes. */
void mep_window_add_record(const struct mep_window *w, struct io_packer *p);
/* Adds event `next` to the window. Must be called after io_packer_commit. */
void mep_window_take(struct mep_window *w, const struct io_packer *p);
/* Copies the events of the window, if any, to the end of the slice; the next window begins after it. */
void mep_window_copy(struct mep_window *w, const struct io_packer *p, const struct sl_services *s);
/* Skips event `next`, which is not in a slice. Must be called after mep_window_copy. */
void mep_window_skip(struct mep_window *w);
void mep_window_free(struct mep_window *w);

#endif
