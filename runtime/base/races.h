/* races.h: what the executor and an emulator that looks for races (simt/race.h) say to each other. */
#ifndef SL_RACES_H
#define SL_RACES_H

#include "base/stream.h"

enum { SL_RACE_TEXT_BYTES = 1024 };

/* Memory with a name that the executor knows; `tag` is its own. What a node may do with it. */
enum { SL_RACE_MAY_READ = 1, SL_RACE_MAY_WRITE = 2 };
struct sl_race_memory {
  const void *memory;
  uint64_t bytes;
  uint32_t rights, tag;
};

/* The node whose kernels follow. All memory that there is, also what is not the node's; in no order. */
struct sl_race_node {
  const char *name;
  const struct sl_race_memory *memory;
  uint32_t memory_count;
  /* "tracks.hits.x[12] (event 3)": what lies at that byte of the memory; beyond its bytes: "12 bytes past the end of
   * ..." */
  void (*describe)(void *context, uint32_t tag, int64_t byte, char *text, size_t size);
  void *context;
  int is_upstream; /* only what it writes is remembered: it is looked at elsewhere */
};

/* Something that was found, at one place or between two, and how often. */
struct sl_race_finding {
  const char *node, *text;
  uint64_t count;
};

struct sl_race_calls {
  /* NULL: no node's. SL_ENOMEM. The node stays until the next call. */
  int (*begin)(struct sl_stream *stream, const struct sl_race_node *node);
  /* The host has written the memory, or it holds nothing that anybody may read. */
  void (*mark)(struct sl_device *device, const void *memory, uint64_t bytes, int is_written);
  /* The `index`th finding of all streams; 0 if there are fewer. `left_out`: places for which there was no room. */
  int (*finding)(struct sl_device *device, uint32_t index, struct sl_race_finding *finding, uint64_t *left_out);
};

#endif
