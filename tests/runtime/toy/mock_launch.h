/* mock_launch.h: included first in sources of the mock target. The kernels are those of cpu, but a launch enqueues the
 * kernel with a copy of its arguments, like a launch on a GPU. */
#ifndef MOCK_LAUNCH_H
#define MOCK_LAUNCH_H

#include "base/stream.h"

#include <sluice/kernel.h>

/* First members of a stream of the mock device. */
struct mock_launch_stream {
  struct sl_stream base;
  int (*launch)(struct sl_stream *stream, int (*job)(const void *args), const void *args, size_t bytes);
};

#undef SL_KERNEL
#define SL_KERNEL(name, args_type)          \
  static void name(const args_type a);      \
  static int name##_job(const void *args) { \
    name(*(const args_type *)args);         \
    return SL_OK;                           \
  }                                         \
  static void name(const args_type a)

#undef SL_LAUNCH
#define SL_LAUNCH(l, kernel, grid, args)                                             \
  __extension__({                                                                    \
    const __typeof__(args) sl_args_ = (args);                                        \
    struct mock_launch_stream *sl_stream_ = (l)->backend;                            \
    (void)(grid);                                                                    \
    sl_stream_->launch(&sl_stream_->base, kernel##_job, &sl_args_, sizeof sl_args_); \
  })

#endif
