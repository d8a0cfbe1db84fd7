/* slot.h: a slot as session.h has it: the slices under way in it, what they read, and where its thread's time goes. */
#ifndef SL_SLOT_H
#define SL_SLOT_H

#include "backend/backend.h"
#include "base/guarded.h"
#include "base/races.h"
#include "base/thread.h"
#include "execute/devices.h"
#include "layout/layout.h"

#include <stdatomic.h>

struct sl_session;

/* Input of a slice: one block that holds all source fields (offsets from the layout), and the events. */
struct sl_input {
  const struct sl_device_place *place; /* which the block is near to */
  unsigned char *block;
  struct sl_event *events;
  void *source_args;
  uint64_t *refusals; /* per event: the error word of a kernel, or 0 */
  uint32_t *used;     /* per member of the source and bound (SL_BOUNDS_MAX each): how much the source filled */
  uint32_t event_count;
  uint32_t is_poisoned; /* --guard: all of the block was, once */
  uint64_t progress_done, progress_total;
  uint32_t is_whole; /* it was not closed early for what overflowed before */
  atomic_uint parts; /* in which it has to be run, as far as is known: 0 and 1, as a whole */
};

/* A pointer in an argument struct that depends on the slice. */
struct sl_patch {
  void **pointer;
  int32_t storage;
};

/* What argument structs point to besides fields: the pointers to event lists of which one is made (of all sets, first
 * in the tables of kernels), and the views of list ports; and the argument structs of families. Filled in host memory
 * when the slot is opened; kernels read `device`, the same memory or a copy on the device, which follows when the
 * patches change. */
struct sl_tables {
  unsigned char *host, *device;
  uint64_t bytes, taken;
};

/* What is cleared before a step: entries of the slot's table. */
struct sl_clear {
  uint32_t first, count;
  uint64_t bytes_max; /* of the largest */
};

/* A slice under way in a slot: the input that it reads, the arguments of the kernels for it, its results. A slot has as
 * many as the backend can overlap. */
struct sl_flight {
  struct sl_input own_input; /* where slices are not kept */
  struct sl_input *spare;    /* which the source fills next, its own one at first; NULL where slices are kept */
  struct sl_input *input;
  uint64_t ticket, begin_ns;
  uint32_t delivered;          /* events of the slice, from the first on */
  unsigned char *device_input; /* backends with a memory of their own: the input's place there */
  uint32_t *device_event_count;
  void **args;              /* per kernel node */
  struct sl_patch *patches; /* pointers into the input */
  uint32_t patch_count;
  struct sl_tables tables;
  void *output;                      /* packed results, in host memory */
  struct sl_pack_field *pack_fields; /* on the device */
  int started;                       /* the whole slice was enqueued */
  int captured;                      /* its kernels were captured */
  int uploaded;                      /* its upload has marks */
};

/* Where a slot's thread may be, beside nodes: times.c. */
#define SL_TIME_TABLE(M)                           \
  M(SL_TIME_OPEN, "open inputs and sinks")         \
  M(SL_TIME_READ, "wait to read")                  \
  M(SL_TIME_KEEP, "keep slices")                   \
  M(SL_TIME_STEPS, "lists and clearing")           \
  M(SL_TIME_GUARD, "guard")                        \
  M(SL_TIME_LAUNCH, "upload and launch")           \
  M(SL_TIME_DEVICE, "wait for the device")         \
  M(SL_TIME_TURN, "wait for turn")                 \
  M(SL_TIME_TOTALS, "items and totals")            \
  M(SL_TIME_DIGESTS, "digests")                    \
  M(SL_TIME_CALLBACKS, "callbacks of the program") \
  M(SL_TIME_METRICS, "metrics")                    \
  M(SL_TIME_FINISH, "finish sinks")                \
  M(SL_TIME_OTHER, "other")                        \
  M(SL_TIME_IDLE, "idle")
#define SL_TIME_ENUM_(row, name) row,
enum { SL_TIME_TABLE(SL_TIME_ENUM_) SL_TIME_ROWS };
#define SL_TIME_OF_NODE(n) (SL_TIME_ROWS + (n))

struct sl_account {
  uint64_t ns[SL_TIME_ROWS], since_ns;
  uint32_t row; /* where the thread is since then */
};

/* What a node on an event list reads of one producer: where its offsets are, if it reads them, and bytes: in any case,
 * of an event, and of each of a bound's counts. A pool is a field of bytes, by its bound, or SL_NONE. */
struct sl_listed_port {
  void *const *offsets, *const *item_offsets[SL_BOUNDS_MAX];
  uint64_t bytes, event_bytes, count_bytes[SL_BOUNDS_MAX];
  int32_t pools[SL_BOUNDS_MAX];
  uint32_t bound_count;
};

/* What a node on an event list had of its inputs: traffic.c. `part`: of the part that runs. Ports whose producers ran
 * on the same list have no entry: what they gave in all is known from the producers. */
struct sl_listed {
  uint64_t bytes_in, events, part_bytes_in, part_events;
  uint64_t same_list_bytes;   /* of these: what does not depend on events and items */
  const struct sl_events *of; /* NULL: it is on none */
  struct sl_listed_port *ports;
  uint32_t port_count;
};

struct sl_slot {
  struct sl_session *session;
  struct sl_device_place *place; /* which device it runs on */
  struct sl_device *device;
  struct sl_thread thread;
  uint32_t index;
  int detour;
  unsigned char *arena;
  void **storage;                     /* device pointer of each storage, NULL for inputs */
  struct sl_guarded *guarded;         /* --guard: of each storage */
  uint8_t *is_poisoned;               /* --guard: of each storage, since it died */
  uint8_t *is_listed;                 /* --guard: per event, of the node at hand */
  int has_overflowed;                 /* --guard: an output did, in the part that runs */
  struct sl_race_memory *race_memory; /* --race: by tag: of each storage, and of the rest */
  struct sl_race_node race_node;
  uint32_t first_event; /* of the slice, that is in the part that runs */
  void **host;          /* host pointer of each storage that outputs and sinks read; of the part that ran last */
  unsigned char *arguments;
  struct sl_flight flights[2];
  void **sink_args; /* per sink node */
  struct sl_patch *sink_patches;
  uint32_t sink_patch_count;
  struct sl_tables sink_tables;
  struct sl_launch *launches; /* per node */
  struct sl_clear *clears;    /* per step */
  struct sl_range *clear_ranges, *device_clear_ranges;
  struct sl_stream **streams; /* per branch */
  struct sl_stream *stream;   /* of branch 0, with the copies and the packing */
  struct sl_pack pack;
  int32_t *pack_storage;             /* per pack field */
  struct sl_pack_field *pack_fields; /* the host's copy */
  uint8_t *running;     /* backends with a memory of their own: for each branch one more than the step that runs, two
                           bytes, the lower one first, 0 where that is not known; in host memory */
  uint32_t event_count; /* backends without a memory of their own: of the part that runs */
  uint64_t *errors;     /* on the device: the error words of events, then the used words */
  uint32_t *used;
  const uint64_t *errors_seen; /* of the part that ran last, on the host */
  const uint32_t *used_seen;
  uint32_t refused_seen;
  uint32_t *used_max;
  struct sl_account account;
  uint64_t *node_ns, *node_events, *node_calls;  /* of kernels, the source and sinks */
  struct sl_listed *listed;                      /* per node */
  uint64_t *used_sums, *input_sums, good_events; /* traffic.c: over all parts, per used word; over all inputs */
  uint64_t graph_events;                         /* that went through the graph */
  uint64_t retries, slices, bytes_up, bytes_down;
  uint64_t host_syncs; /* waits of the host between the first kernel and the last of a slice, or of a part */
  uint64_t *published_ns, *published_events, published_retries; /* counts that are in the metrics already */
  uint64_t *published_times;
  uint64_t epoch_ns; /* with a trace: when the device reached the mark that its times are counted from */
};

#endif
