/* stream.h: the beginning of every backend's stream, which the executor, the backends and the emulator share. */
#ifndef SL_STREAM_H
#define SL_STREAM_H

#include <stdint.h>

struct sl_device; /* the backend's own */

/* What sl_launch.backend points to; a backend's own stream begins with it. */
struct sl_stream {
  const uint32_t *event_count; /* of the slice, on the device; set by the executor before each use */
  uint64_t *errors;            /* of its events, on the device; set by the executor */
  void *handle;                /* CUDA: the stream for kernels */
  struct sl_device *device;
};

#endif
