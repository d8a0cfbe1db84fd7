/* stream.h: the beginning of every backend's stream, which the executor, the backends and the emulator share. */
#ifndef SL_STREAM_H
#define SL_STREAM_H

#include <stddef.h>
#include <stdint.h>

struct sl_device; /* the backend's own */

/* What sl_launch.backend points to; a backend's own stream begins with it. */
struct sl_stream {
  const uint32_t *event_count; /* of the slice, on the device; set by the executor before each use */
  void *handle;                /* CUDA: the stream for kernels; sluice/kernel_cuda.h finds it here */
  struct sl_device *device;
  uint64_t *errors; /* of the slice's events, on the device; set by the executor */
};

#ifdef __cplusplus
static_assert(offsetof(struct sl_stream, handle) == sizeof(void *), "sluice/kernel_cuda.h finds it there");
#else
_Static_assert(offsetof(struct sl_stream, handle) == sizeof(void *), "sluice/kernel_cuda.h finds it there");
#endif

#endif
