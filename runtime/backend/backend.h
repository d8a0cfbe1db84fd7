/* backend.h: what a device does for the executor. One table a target; cpu.c is the plain one. */
#ifndef SL_BACKEND_H
#define SL_BACKEND_H

#include <sluice/plugin.h>

struct sl_list_pointers {
  const uint32_t *count, *numbers;
};

struct sl_backend {
  const char *target;
  uint32_t default_slice_events;
  uint32_t block_threads; /* block size of every node, 0: the node's own */
  /* Memory of the device, aligned to 256 bytes; NULL when there is none. */
  void *(*allocate)(uint64_t bytes);
  void (*release)(void *memory, uint64_t bytes);
  /* Enqueued on the slot's stream, in order with kernels. */
  void (*zero)(void *stream, void *memory, uint64_t bytes);
  void (*intersect)(void *stream, const struct sl_list_pointers *lists, uint32_t list_count, uint32_t *count,
                    uint32_t *numbers);
  /* struct sl_launch's scan; sl_launch.backend points to a struct sl_stream. */
  int (*scan)(const struct sl_launch *l, uint32_t *counts, const struct sl_bound *bound);
};

/* What sl_launch.backend points to. */
struct sl_stream {
  const uint32_t *event_count; /* of the slice, on the device */
};

/* NULL for a target that this library does not have. */
const struct sl_backend *sl_backend_find(const char *target);

#endif
