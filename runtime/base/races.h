/* races.h: the interface between the executor and an emulator with race detection (simt/race.h). */
#ifndef SL_RACES_H
#define SL_RACES_H

#include "base/stream.h"

enum { SL_RACE_TEXT_BYTES = 1024 };

/* Named memory known to the executor, and what a node may do with it; `tag` is for the executor. */
enum { SL_RACE_MAY_READ = 1, SL_RACE_MAY_WRITE = 2 };
struct sl_race_memory {
  const void *memory;
  uint64_t bytes;
  uint32_t rights, tag;
};

/* The node to which the following kernels belong. `memory`: all memory, including that of other nodes; in any order. */
struct sl_race_node {
  const char *name;
  const struct sl_race_memory *memory;
  uint32_t memory_count;
  /* Describes the data at a byte of the memory: "pulses.members.x[12] (event 3)"; beyond it: "12 bytes past the end of
   * ..." */
  void (*describe)(void *context, uint32_t tag, int64_t byte, char *text, size_t size);
  void *context;
  int is_upstream; /* 1: only its writes are recorded; the node itself is checked elsewhere */
};

/* A finding at one source line or between two, and how often it occurred. */
struct sl_race_finding {
  const char *node, *text;
  uint64_t count;
};

struct sl_race_calls {
  /* Starts a node; NULL: no node. The node is borrowed until the next call. SL_ENOMEM. */
  int (*begin)(struct sl_stream *stream, const struct sl_race_node *node);
  /* Marks memory as written by the host, or as containing nothing that may be read. */
  void (*mark)(struct sl_device *device, const void *memory, uint64_t bytes, int is_written);
  /* Returns finding `index` of all streams, or 0 if there are fewer. `omitted`: findings that exceeded the
   * capacity. */
  int (*finding)(struct sl_device *device, uint32_t index, struct sl_race_finding *finding, uint64_t *omitted);
};

#endif
