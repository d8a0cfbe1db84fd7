/* stream.h: the first members of every backend's stream, shared by the executor, the backends and the emulator. */
#ifndef SL_STREAM_H
#define SL_STREAM_H

#include <stddef.h>
#include <stdint.h>

struct sl_device; /* defined by each backend */

/* sl_launch.shared_bytes_max of targets that take it from host memory: that of an NVIDIA H200. */
enum { SL_HOST_SHARED_BYTES = 225 << 10 };

/* The struct that sl_launch.backend points to; each backend's stream begins with it. */
struct sl_stream {
  const uint32_t *event_count; /* events in the slice, on the device; set by the executor before each use */
  void *handle;                /* CUDA: the stream for kernels, used by sluice/kernel_cuda_launch.h */
  struct sl_device *device;
  uint64_t *errors; /* error words of the slice's events, on the device; set by the executor */
};

#ifdef __cplusplus
static_assert(offsetof(struct sl_stream, handle) == sizeof(void *), "sluice/kernel_cuda_launch.h finds it there");
#else
_Static_assert(offsetof(struct sl_stream, handle) == sizeof(void *), "sluice/kernel_cuda_launch.h finds it there");
#endif

#endif
