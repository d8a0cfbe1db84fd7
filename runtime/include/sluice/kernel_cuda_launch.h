/* kernel_cuda_launch.h: how kernels are defined and launched on NVIDIA and AMD GPUs, for kernel_cuda.h and the backend.
 *
 * On NVIDIA GPUs of compute capability 9.0 and higher a kernel is launched while the one before it in the stream ends
 * (CUDA's programmatic dependent launch), which saves about a microsecond in a chain of small kernels. Each kernel
 * therefore begins with sl_cuda_begin(), which returns when the kernels before it are complete and their results are
 * visible. A kernel that is launched without these functions waits for its predecessors as usual.
 */
#ifndef SLUICE_KERNEL_CUDA_LAUNCH_H
#define SLUICE_KERNEL_CUDA_LAUNCH_H

#if defined(SL_TARGET_HIP)
#include <hip/hip_runtime.h>
#define SL_GPU_(name) hip##name
#else
#include <cuda_runtime.h>
#define SL_GPU_(name) cuda##name
#endif

#include <stdint.h>

/* First members of the struct that sl_launch.backend points to. */
struct sl_cuda_stream {
  const uint32_t *event_count;
  void *handle;
  void *device;
  uint64_t *errors;      /* error words of the slice's events */
  uint32_t overlaps;     /* 1: the device can launch a kernel while its predecessor ends */
  uint32_t is_joined;    /* 1: the next kernel waits for more than its predecessor in the stream */
  uint32_t *scan_blocks; /* for scans at the end of a kernel: on the device, 0 */
  uint32_t is_shared;    /* 1: kernels of several other streams run at the same time */
  uint32_t reserved;
};

/* First statement of a kernel. */
static __device__ __forceinline__ void sl_cuda_begin(void) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

#if !defined(SL_TARGET_HIP)
/* 1 if the code of a kernel for this device was made for compute capability 9.0 or higher, so that sl_cuda_begin()
 * waits. */
static inline uint32_t sl_cuda_waits(const void *kernel) {
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes, kernel) == cudaSuccess && attributes.ptxVersion >= 90;
}
#endif

#if !defined(SL_TARGET_HIP)
/* Asks for the division of a multiprocessor's memory into shared memory and L1 cache. A multiprocessor must be empty to
 * change it. So if kernels of several streams run side by side, kernels with blocks that fit into half of it ask for
 * half; otherwise the driver decides. */
template <typename Kernel>
static inline void sl_cuda_divide_memory(Kernel kernel, uint32_t threads, uint32_t shared_bytes, uint32_t is_shared) {
  enum { HALF = 50 };
  int device = 0, all = 0, of_system = 0, blocks = 0, share = cudaSharedmemCarveoutDefault;
  cudaFuncAttributes attributes;
  if (is_shared && cudaGetDevice(&device) == cudaSuccess &&
      cudaDeviceGetAttribute(&all, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device) == cudaSuccess &&
      cudaDeviceGetAttribute(&of_system, cudaDevAttrReservedSharedMemoryPerBlock, device) == cudaSuccess &&
      cudaFuncGetAttributes(&attributes, (const void *)kernel) == cudaSuccess &&
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, (int)threads, shared_bytes) == cudaSuccess &&
      2 * blocks * ((int)attributes.sharedSizeBytes + (int)shared_bytes + of_system) <= all)
    share = HALF;
  (void)cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributePreferredSharedMemoryCarveout, share);
}
#endif

/* Enqueues a kernel that begins with sl_cuda_begin(). Errors are left to cudaGetLastError(). */
template <typename... Parameters, typename... Arguments>
static inline void sl_cuda_launch(struct sl_cuda_stream *stream, void (*kernel)(Parameters...), dim3 grid,
                                  uint32_t threads, uint32_t shared_bytes, const Arguments &...arguments) {
#if defined(SL_TARGET_HIP)
  kernel<<<grid, threads, shared_bytes, (hipStream_t)stream->handle>>>(arguments...);
#else
  sl_cuda_divide_memory(kernel, threads, shared_bytes, stream->is_shared);
  cudaLaunchAttribute overlap = {};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = threads;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = (cudaStream_t)stream->handle;
  config.attrs = &overlap;
  config.numAttrs = stream->overlaps && !stream->is_joined && sl_cuda_waits((const void *)kernel);
  (void)cudaLaunchKernelEx(&config, kernel, arguments...);
#endif
  stream->is_joined = 0;
}

#endif
