/* slot.h: a slot: memory, streams and argument structs of its slices in flight. Opened by slots.c. */
#ifndef SL_SLOT_H
#define SL_SLOT_H

#include "base/thread.h"
#include "execute/setup.h"

struct sl_delivery;
struct sl_kept_batch;
struct sl_observers;
struct sl_order;
struct sl_overflow_history;
struct sl_replan;

/* Input of a slice: one block that holds all fields of the source (offsets from the layout), and the events. */
struct sl_input {
  const struct sl_device_state *device_state; /* device nearest to the block */
  unsigned char *block;
  struct sl_event *events;
  void *source_args;
  uint64_t *refusals; /* per event: the error word of a kernel, or 0 */
  uint32_t *used;     /* per member of the source and bound (SL_BOUNDS_MAX each): entries that the source filled */
  uint32_t event_count;
  uint32_t is_poisoned; /* --guard: the whole block was poisoned once */
  uint64_t progress_done, progress_total;
  uint64_t first_event;       /* followed folder: events of the file before the slice, */
  uint32_t file;              /* and the number of the file (input/follow.h) */
  uint32_t is_whole;          /* 1 unless closed early because of an earlier overflow */
  atomic_uint_fast64_t parts; /* number of parts in which the slice is run, 0 and 1: as a whole; upper half: the plan
                                 that it needs them for */
};

/* A pointer in an argument struct that depends on the slice. */
struct sl_patch {
  void **pointer;
  int32_t storage;
};

/* Memory that argument structs point to, besides fields: pointers to event lists that are combined (first in the
 * tables of kernels), argument structs of families, views of list ports. Filled in host memory when the slot is
 * opened. Kernels read `device`: the host memory, or its copy on the device, updated when patches change. */
struct sl_tables {
  unsigned char *host, *device;
  uint64_t bytes, taken;
};

/* Ranges that are cleared before a step: entries of the slot's table. */
struct sl_clear {
  uint32_t first, count;
  uint64_t bytes_max; /* size of the largest range */
};

/* Results that the last kernels of a slice pack: for the host, and for a program that may keep them on the device. */
enum { SL_PACKING_HOST, SL_PACKING_KEPT, SL_PACKINGS };
struct sl_packing {
  struct sl_pack pack;
  int32_t *storage;             /* per field of `pack` */
  struct sl_pack_field *fields; /* copy of the host */
};
/* Memory of a packing of a slice: the output for the host (of kept results only the header), and the descriptions of
 * the fields on the device. */
struct sl_packed {
  void *output;
  struct sl_pack_field *fields;
};

/* A slice in flight: its input, kernel arguments and results. The memory is reused for later slices. */
struct sl_slice {
  struct sl_input own_input; /* unless slices are kept */
  struct sl_input *spare;    /* input that the source fills next; NULL if slices are kept */
  struct sl_input *input;
  uint64_t sequence, begin_ns;
  uint32_t delivered;          /* number of delivered events of the slice */
  unsigned char *device_input; /* copy of the input on a device with a memory of its own */
  uint32_t *device_event_count;
  void **args;              /* per kernel node */
  struct sl_patch *patches; /* pointers into the input */
  uint32_t patch_count;
  struct sl_tables tables;
  struct sl_packed packed[SL_PACKINGS];
  struct sl_kept_batch *block; /* receives the results that a program may keep; NULL: taken before the next part */
  void **target;               /* devices: its address, in host memory that the device reads */
  int started;                 /* the whole slice was enqueued */
  int captured;                /* its kernels were captured, for the layout of the slot */
  int has_run;                 /* its kernels have run once */
};

struct sl_slot {
  struct sl_setup *setup;
  struct sl_order *order;
  struct sl_delivery *delivery;
  struct sl_overflow_history *history;
  struct sl_replan *replan;
  const struct sl_layout *refused; /* a plan for which there was no memory */
  const struct sl_observers *observers;
  struct sl_device_state *device_state; /* device of the slot */
  struct sl_device *device;
  struct sl_thread thread;
  uint32_t index;
  int detour; /* order.h */

  uint32_t activity;    /* activity of the thread (observer.h) */
  uint64_t activity_ns; /* its start time */

  const struct sl_layout *layout; /* the plan by which the slot runs; differs from that of the setup only in sizes,
                                     offsets and budgets of kernel outputs and scratch */
  struct sl_arena *region;        /* of `arena`, if the backend has arena_open */
  unsigned char *arena;
  uint64_t arena_bytes; /* its present size */
  void **storage;       /* device pointer of each storage, NULL for inputs */
  void *check_state;    /* state of the memory check */
  void **host;          /* host pointer of each storage that outputs and sinks read, for the last part that ran */
  unsigned char *arguments;
  struct sl_slice slices_in_flight[2]; /* as many as the backend overlaps */
  void **sink_args;                    /* per sink node */
  struct sl_patch *sink_patches;
  uint32_t sink_patch_count;
  struct sl_tables sink_tables;
  struct sl_launch *launches; /* per node */
  struct sl_clear *clears;    /* per step */
  struct sl_range *clear_ranges, *device_clear_ranges;
  struct sl_stream **streams; /* per branch */
  struct sl_stream *stream;   /* stream of branch 0, which also copies and packs */
  struct sl_packing packings[SL_PACKINGS];
  void **kept;          /* pointer of each storage that a program may keep, in the block of the last part that ran */
  uint8_t *running;     /* devices: per branch two bytes in host memory, lower byte first: 1 + index of the running
                           step, 0: unknown */
  uint32_t event_count; /* host: number of events of the running part, and the first of them */
  uint32_t first_event;
  uint64_t *errors; /* on the device: the error words of events, then the used words */
  uint32_t *used;
  const uint64_t *errors_seen; /* host copies, for the last part that ran */
  const uint32_t *used_seen;
  uint32_t refused_seen;
  uint64_t results_bytes, results_room; /* size of the packed results of the last part that ran, and of their memory */
  uint32_t *used_max;                   /* maximum of each used word over delivered parts */

  uint64_t graph_events; /* events that went through the graph */
  uint64_t retries, slices, bytes_up, bytes_down;
  uint64_t host_syncs; /* waits of the host between the first and the last kernel of a slice or part */
};

uint64_t sl_fields_bytes(const struct sl_setup *s);   /* size of the fields of a slot */
uint64_t sl_counters_bytes(const struct sl_setup *s); /* size of the error words and used words of a slot */
/* Filled bytes of an input field. */
uint64_t sl_filled_bytes(const struct sl_setup *s, const struct sl_input *input, const struct sl_storage *storage);
/* Number of events that a node ran on, in the part running on the host. */
uint32_t sl_events_of_node(const struct sl_slot *slot, uint32_t node);

#endif
