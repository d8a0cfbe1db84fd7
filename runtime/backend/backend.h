/* backend.h: what a device does for the executor. One table a target; cpu.c is the plain one.
 *
 * A slot has one stream and as many flights as the backend says: slices that are under way at a time, each with its
 * input and output memory. Work of a stream runs in the order in which it was enqueued. With branches a slot has more
 * streams, whose work runs beside that of the first one; copies, captures and waits of the host are the first one's.
 * Functions return 0 or SL_EDEVICE, and sl_backend.error says why.
 */
#ifndef SL_BACKEND_H
#define SL_BACKEND_H

#include "base/races.h"
#include "base/stream.h"

#include <sluice/plugin.h>

struct sl_list_pointers {
  const uint32_t *count, *numbers;
};

/* One event list of several: the events that are on at least `wanted` of them, ascending. Everything is in memory that
 * kernels read and write. */
struct sl_combination {
  const struct sl_list_pointers *lists;
  uint32_t list_count, wanted;
  uint32_t *tally;           /* one word for each event of the slice, to count with */
  uint32_t *count, *numbers; /* the list made */
};

/* Memory of the device. */
struct sl_range {
  void *memory; /* aligned to 16 bytes */
  uint64_t bytes;
};

enum { SL_MARK_KERNELS, SL_MARK_COPIES };

/* A field to bring to the host: its valid part, from entry 0 to the last of the slice. */
struct sl_pack_field {
  const void *source;
  uint64_t entry_bytes;
  uint32_t shape, reserved; /* SL_SHAPE_CODE_... */
  const uint32_t *offsets;  /* of the field's collection, where it has any */
  const uint32_t *item_offsets;
  const uint32_t *count; /* of an event list's numbers: how many there are; else NULL */
};

/* What the pack kernel writes at the start of the output memory; the fields follow at the offsets given. */
struct sl_pack_header {
  uint32_t refused; /* some event has an error: the error words follow the fields */
  uint32_t field_count;
  uint64_t bytes;         /* in all */
  uint64_t errors_offset; /* if refused */
  /* then uint64_t offset[field_count], then uint32_t used[used_count] */
};

struct sl_pack {
  const struct sl_pack_field *fields; /* on the device */
  uint32_t field_count, used_count;
  const uint32_t *used, *event_count; /* on the device */
  const uint64_t *errors;
  void *output; /* host memory that the device can write */
};

struct sl_backend {
  uint32_t size; /* sizeof(struct sl_backend): of a library that is loaded, compared first */
  uint32_t default_slice_events;
  const char *target;                /* of its plugins: NAME.TARGET.so */
  const char *settings;              /* what its settings are called by, if not by the target */
  const struct sl_race_calls *races; /* NULL: it does not look for any */
  uint32_t block_threads;            /* block size of every node, 0: the node's own */
  uint32_t flights;
  uint32_t
      is_device;    /* memory of its own: inputs are copied up, outputs packed; else the functions marked D are NULL */
  uint32_t by_node; /* families gain nothing: their nodes run one by one */
  int (*open)(uint32_t index, struct sl_device **device, char *reason, size_t reason_size);
  uint32_t (*count)(void); /* how many devices there are; NULL: one */
  void (*close)(struct sl_device *device);
  /* A setting of the device, `--set SETTINGS.KEY=VALUE`; NULL: it has none. Comes before any stream is opened. */
  int (*set)(struct sl_device *device, const char *key, const char *value, char *reason, size_t reason_size);
  /* Memory of the device, and host memory that it and others of the backend read and write fast; aligned to 256 bytes;
   * NULL when there is none. */
  void *(*allocate)(struct sl_device *device, uint64_t bytes);
  void (*release)(struct sl_device *device, void *memory, uint64_t bytes);
  void *(*allocate_host)(struct sl_device *device, uint64_t bytes);
  void (*release_host)(struct sl_device *device, void *memory, uint64_t bytes);
  /* How much of the device's memory is free. NULL: its memory is the host's, or it cannot say. */
  int (*free_memory)(struct sl_device *device, uint64_t *bytes);
  int (*upload_now)(struct sl_device *device, void *to, const void *from, uint64_t bytes);   /* D: done on return */
  int (*download_now)(struct sl_device *device, void *to, const void *from, uint64_t bytes); /* D: the same, down */
  struct sl_stream *(*stream_open)(struct sl_device *device);
  void (*stream_close)(struct sl_stream *stream);
  const char *(*error)(struct sl_device *device); /* text of the last failure */
  /* "NVIDIA H200", "seed 1, warps of 32": what the summary says of the device; NULL: nothing. */
  void (*describe)(struct sl_device *device, char *text, size_t size);
  /* The node of the host's memory that is near to it; negative: all, or not known. NULL: not known. */
  int (*numa_node)(struct sl_device *device);
  /* Threads that the device runs at a time; NULL: grids need not know. */
  uint32_t (*threads)(struct sl_device *device);
  /* Names what the calling thread does next, for the vendor's profilers; they nest. NULL: it has none. */
  void (*range_begin)(const char *name);
  void (*range_end)(void);
  /* Enqueued on the stream, in order with kernels. */
  int (*zero)(struct sl_stream *stream, void *memory, uint64_t bytes);
  /* Zeroes a table of ranges, which is on the device; none has more than `bytes_max`. D: is a `note` too, if there is
   * a byte. */
  int (*clear)(struct sl_stream *stream, const struct sl_range *ranges, uint32_t count, uint64_t bytes_max,
               uint8_t *byte, uint8_t value);
  int (*combine)(struct sl_stream *stream, const struct sl_combination *combination);
  int (*scan)(const struct sl_launch *l, uint32_t *counts, const struct sl_bound *bound);
  int (*scan_items)(const struct sl_launch *l, uint32_t *counts, const uint32_t *offsets, const struct sl_bound *bound);
  /* D: copies for a flight, beside the kernels; `uploaded` lets the kernels that follow wait for them. */
  int (*upload)(struct sl_stream *stream, void *to, const void *from, uint64_t bytes);
  int (*uploaded)(struct sl_stream *stream, uint32_t flight);
  int (*pack)(struct sl_stream *stream, const struct sl_pack *pack);
  /* D: everything enqueued between begin and end becomes the flight's captured graph, run by replay. */
  int (*capture_begin)(struct sl_stream *stream);
  int (*capture_end)(struct sl_stream *stream, uint32_t flight);
  int (*replay)(struct sl_stream *stream, uint32_t flight);
  /* D: for branches. `reached` remembers, under an index, what has been enqueued on the stream so far; what is enqueued
   * on another stream after `await` runs when all of that is done. In a capture, both become part of the graph; a
   * stream that awaits one that is captured is captured too, up to the end of the capture. An index that was used
   * before may be used again: who awaits it then awaits the new one. */
  int (*reached)(struct sl_stream *stream, uint32_t index);
  int (*await)(struct sl_stream *stream, struct sl_stream *other, uint32_t index);
  /* D: `finished` marks the end of a flight's work, `wait` blocks the host until it is reached. */
  int (*finished)(struct sl_stream *stream, uint32_t flight);
  int (*wait)(struct sl_stream *stream, uint32_t flight);
  /* D: the byte, in memory of allocate_host, gets the value when all work before this is done. */
  int (*note)(struct sl_stream *stream, uint8_t *byte, uint8_t value);
  uint64_t (*waits)(void);                 /* D: how often the calling thread has waited for the device so far */
  int (*settle)(struct sl_stream *stream); /* D: blocks the host until all kernels have run */
  /* D: time stamps among the kernels or the copies, for --profile and --trace, as many as there are indices;
   * microseconds from one to another, after a wait. */
  int (*mark)(struct sl_stream *stream, uint32_t index, uint32_t among);
  int (*marked_us)(struct sl_stream *stream, uint32_t from, uint32_t to, double *microseconds);
};

/* A backend that is built in: cpu and simt; NULL for other targets. */
const struct sl_backend *sl_backend_find(const char *target);
/* One that is a library: `backends/TARGET.so` beside libsluice, or `sluice/backends/TARGET.so` of an installation, and
 * nowhere else. NULL, with the reason, where there is none. It is never unloaded. */
const struct sl_backend *sl_backend_load(const char *target, char *reason, size_t reason_size);

extern const struct sl_backend sl_cpu_backend;
extern const struct sl_backend sl_backend_simt;

#endif
