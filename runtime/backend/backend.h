/* backend.h: the functions that a device provides for the executor: one table per target. cpu.c is the simplest.
 *
 * A slot has one stream and `slices_in_flight` slices, each with its own input and output memory. Work on a stream
 * runs in the order in which it was enqueued. With branches, a slot has further streams that run concurrently with the
 * first; copies, captures and waits of the host use only the first. Functions return 0 or SL_EDEVICE, and
 * sl_backend.error returns the reason.
 */
#ifndef SL_BACKEND_H
#define SL_BACKEND_H

#include "base/races.h"
#include "base/stream.h"

#include <sluice/plugin.h>

struct sl_arena;

struct sl_list_pointers {
  const uint32_t *count, *numbers;
};

/* Combines event lists: selects the events that are on at least `min_lists` lists, in ascending order. All pointers are
 * to memory that kernels read and write. */
struct sl_combination {
  const struct sl_list_pointers *lists;
  uint32_t list_count, min_lists;
  uint32_t *tally;           /* scratch: one word for each event of the slice */
  uint32_t *count, *numbers; /* the resulting list */
};

struct sl_range {
  void *memory; /* aligned to 16 bytes */
  uint64_t bytes;
};

enum { SL_MARK_KERNELS, SL_MARK_COPIES };

/* A field to copy to the host: its valid part, from entry 0 to the last entry of the slice. */
struct sl_pack_field {
  const void *source;
  uint64_t entry_bytes;
  uint32_t shape, reserved; /* SL_SHAPE_CODE_... */
  const uint32_t *offsets;  /* of the field's collection; NULL if it has none */
  const uint32_t *item_offsets;
  const uint32_t *count; /* of an event list's numbers: their count; else NULL */
};

/* Header that the pack kernel writes at the start of the output memory. After offsets and used words, the error words
 * follow at the next multiple of SL_PACK_ALIGNMENT if an event has one; then the fields, at their offsets. */
struct sl_pack_header {
  uint32_t refused; /* 1: an event has an error word */
  uint32_t field_count;
  uint64_t end; /* end of the last field; beyond sl_pack.output_bytes: the memory is too small, fields are missing */
  /* then uint64_t offset[field_count], then uint32_t used[used_count] */
};
enum { SL_PACK_ALIGNMENT = 256 };

struct sl_pack {
  const struct sl_pack_field *fields; /* on the device */
  uint32_t field_count, used_count;
  const uint32_t *used, *event_count; /* on the device */
  const uint64_t *errors;
  void *output;                          /* host memory, writable by the device */
  uint64_t output_bytes;                 /* its size */
  uint64_t errors_offset, fields_offset; /* in the output */
  /* NULL, or the address of a pointer in host memory, which the device reads when it packs: the fields then go to this
   * memory of the device, of output_bytes bytes, at offsets that begin at 0. */
  void *const *target;
};

struct sl_backend {
  uint32_t size; /* sizeof(struct sl_backend): checked first when a library is loaded */
  uint32_t default_slice_events;
  const char *target;                /* of its plugins: NAME.TARGET.so */
  const char *settings;              /* prefix of its settings, if it is not the target */
  const struct sl_race_calls *races; /* NULL: no race detection */
  uint32_t block_threads;            /* block size of all nodes; 0: the node's own */
  uint32_t slices_in_flight;         /* slices that a slot overlaps, 1 or 2; `slice_index` below is less than this */
  uint32_t is_device;   /* 1: own memory: inputs are uploaded and outputs packed; 0: the functions marked D are NULL */
  uint32_t memory_kind; /* SL_MEMORY_... (sluice/kept.h) of `allocate`; 0: host memory */
  uint32_t no_families; /* 1: families bring no advantage, so nodes run one by one */
  int (*open)(uint32_t index, struct sl_device **device, char *reason, size_t reason_size);
  uint32_t (*count)(void); /* number of devices; NULL: one */
  void (*close)(struct sl_device *device);
  /* Sets an option of the device, `--set SETTINGS.KEY=VALUE`, before any stream is opened; NULL: there are none. */
  int (*set)(struct sl_device *device, const char *key, const char *value, char *reason, size_t reason_size);
  /* Memory of the device, and host memory that all devices of the backend access fast; aligned to 256 bytes; NULL if
   * out of memory. */
  void *(*allocate)(struct sl_device *device, uint64_t bytes);
  void (*release)(struct sl_device *device, void *memory, uint64_t bytes);
  void *(*allocate_host)(struct sl_device *device, uint64_t bytes);
  void (*release_host)(struct sl_device *device, void *memory, uint64_t bytes);
  /* Memory that changes its size while other streams run: arena_open reserves addresses for `bytes_max` bytes and
   * returns NULL on failure; arena_resize gives memory to the first `bytes` and returns their address, or NULL if out
   * of memory, which leaves the size as it was. Kernels must not be using the arena. Contents are undefined after a
   * change. All three NULL: the executor uses `allocate` and `release`. */
  struct sl_arena *(*arena_open)(struct sl_device *device, uint64_t bytes_max);
  void *(*arena_resize)(struct sl_arena *arena, uint64_t bytes);
  void (*arena_close)(struct sl_arena *arena);
  /* Returns the free memory of the device. NULL: it uses host memory, or the amount is unknown. */
  int (*free_memory)(struct sl_device *device, uint64_t *bytes);
  int (*upload_now)(struct sl_device *device, void *to, const void *from, uint64_t bytes);   /* D: done on return */
  int (*download_now)(struct sl_device *device, void *to, const void *from, uint64_t bytes); /* D: done on return */
  /* Opens a stream; `slots`: number of slots that use the device. */
  struct sl_stream *(*stream_open)(struct sl_device *device, uint32_t slots);
  void (*stream_close)(struct sl_stream *stream);
  const char *(*error)(struct sl_device *device); /* text of the first failure */
  /* Describes the device for the summary: "NVIDIA H200", "seed 1, warps of 32". NULL: no description. */
  void (*describe)(struct sl_device *device, char *text, size_t size);
  /* Finds the device that has allocated the memory, by this or another library. SL_EDEVICE: none. NULL: not known. */
  int (*device_of)(const void *memory, uint32_t *index);
  /* Returns the NUMA node of the host's memory near the device; negative: all nodes, or unknown. NULL: unknown. */
  int (*numa_node)(struct sl_device *device);
  /* Reads the energy in joules that the device has used since some earlier time. SL_EDEVICE with the reason. NULL: the
   * device does not count it. */
  int (*energy)(struct sl_device *device, double *joules, char *reason, size_t reason_size);
  /* Returns the number of threads that the device runs at once. NULL: not needed for grids. */
  uint32_t (*threads)(struct sl_device *device);
  /* Returns sl_launch.shared_bytes_max. NULL: SL_HOST_SHARED_BYTES. */
  uint32_t (*shared_bytes)(struct sl_device *device);
  /* Name the calling thread's next activity for the vendor's profilers; nestable. NULL: no profiler. */
  void (*range_begin)(const char *name);
  void (*range_end)(void);
  /* The following functions enqueue on the stream, in order with kernels. */
  int (*zero)(struct sl_stream *stream, void *memory, uint64_t bytes);
  /* Zeroes ranges of memory; the table is on the device; no range exceeds `bytes_max`. D: if `byte` is not NULL, also
   * acts as `note`. */
  int (*clear)(struct sl_stream *stream, const struct sl_range *ranges, uint32_t count, uint64_t bytes_max,
               uint8_t *byte, uint8_t value);
  int (*combine)(struct sl_stream *stream, const struct sl_combination *combination);
  int (*scan)(const struct sl_launch *l, uint32_t *counts, const struct sl_bound *bound);
  int (*scan_items)(const struct sl_launch *l, uint32_t *counts, const uint32_t *offsets, const struct sl_bound *bound);
  /* D: copies the input of a slice, concurrent with kernels; `uploaded` makes the following kernels wait for them. */
  int (*upload)(struct sl_stream *stream, void *to, const void *from, uint64_t bytes);
  int (*uploaded)(struct sl_stream *stream, uint32_t slice_index);
  int (*pack)(struct sl_stream *stream, const struct sl_pack *pack);
  /* D: everything enqueued between capture_begin and capture_end becomes the captured graph of the slice index, run by
   * replay, in place of an earlier one. */
  int (*capture_begin)(struct sl_stream *stream);
  int (*capture_end)(struct sl_stream *stream, uint32_t slice_index);
  int (*replay)(struct sl_stream *stream, uint32_t slice_index);
  /* D: for branches. `reached` records, under an index, the work enqueued on the stream so far; work enqueued on
   * another stream after `wait_for` runs when the recorded work is done. In a capture, both become part of the graph: a
   * stream that awaits a captured stream is captured too, until the end of the capture. An index can be recorded again;
   * later calls of `wait_for` refer to the last recording. */
  int (*reached)(struct sl_stream *stream, uint32_t index);
  int (*wait_for)(struct sl_stream *stream, struct sl_stream *other, uint32_t index);
  /* D: `finished` marks the end of a slice's work; `wait` blocks the host until it is reached. */
  int (*finished)(struct sl_stream *stream, uint32_t slice_index);
  int (*wait)(struct sl_stream *stream, uint32_t slice_index);
  /* D: sets the byte, in memory of allocate_host, when all earlier work is done. */
  int (*note)(struct sl_stream *stream, uint8_t *byte, uint8_t value);
  uint64_t (*waits)(void);                 /* D: number of waits of the calling thread so far */
  int (*settle)(struct sl_stream *stream); /* D: blocks the host until all kernels are done */
  /* D: blocks the host until all work on the device is done, also that of the program that runs the session. */
  int (*settle_device)(struct sl_device *device);
  /* D: `mark` records a timestamp among the kernels or copies (SL_MARK_...), for --profile and --trace; any index.
   * `marked_us` returns the time between two marks, after a wait. */
  int (*mark)(struct sl_stream *stream, uint32_t index, uint32_t among);
  int (*marked_us)(struct sl_stream *stream, uint32_t from, uint32_t to, double *microseconds);
};

/* Returns a built-in backend (cpu, simt), or NULL for other targets. */
const struct sl_backend *sl_backend_find(const char *target);
/* Loads a backend from a library: only from `backends/TARGET.so` next to libsluice, or `sluice/backends/TARGET.so` of
 * an installation. Returns NULL with the reason on failure. The library is never unloaded. */
const struct sl_backend *sl_backend_load(const char *target, char *reason, size_t reason_size);

extern const struct sl_backend sl_cpu_backend;
extern const struct sl_backend sl_backend_simt;

#endif
