/* kernel_cuda.h: kernels for NVIDIA GPUs with nvcc, and for AMD GPUs with hipcc. Included by kernel.h only.
 *
 * A CUDA warp has 32 lanes, an AMD warp 64 (gfx9) or 32 (gfx10): see warpSize. All lanes take part in every warp
 * operation, because all threads of a block call the collectives of kernel_block.h.
 */
#ifndef SLUICE_KERNEL_CUDA_H
#define SLUICE_KERNEL_CUDA_H

#include <sluice/kernel_cuda_scan.h>

#define SL_DEVICE __device__ inline SL_UNUSED

static SL_DEVICE void *sl_shared_memory(void) {
  extern __shared__ __attribute__((aligned(16))) unsigned char sl_shared_bytes[];
  return sl_shared_bytes;
}

/* The body of a kernel is an inlined function. Two templates of kernels call it: `name`, and `name`_then_scan_ for
 * SL_COUNT_SCAN. Only templates that are launched are compiled. */
#if defined(SL_TARGET_HIP)
#define SL_PARAMETER_
#else
#define SL_PARAMETER_ __grid_constant__
#endif
#define SL_KERNEL_(name, args_type, attributes)                                                          \
  static __device__ __forceinline__ void name##_body_(const args_type &a);                               \
  template <typename Args>                                                                               \
  static __global__ void attributes name(const SL_PARAMETER_ Args a) {                                   \
    sl_cuda_begin();                                                                                     \
    name##_body_(a);                                                                                     \
  }                                                                                                      \
  template <typename Args>                                                                               \
  static __global__ void attributes name##_then_scan_(const SL_PARAMETER_ Args a,                        \
                                                      const SL_PARAMETER_ struct sl_cuda_scan sl_scan) { \
    sl_cuda_begin();                                                                                     \
    name##_body_(a);                                                                                     \
    sl_cuda_scan_when_last(&sl_scan);                                                                    \
  }                                                                                                      \
  static __device__ __forceinline__ void name##_body_(const args_type &a)
/* The block size of a node is free; a kernel that needs many registers declares its largest block. */
#define SL_KERNEL(name, args_type)           SL_KERNEL_(name, args_type, )
#define SL_KERNEL_ANY_BLOCK(name, args_type) SL_KERNEL_(name, args_type, __launch_bounds__(1024))
#if defined(CUDART_VERSION) && CUDART_VERSION >= 12040
#define SL_KERNEL_REGISTERS(name, args_type, registers) SL_KERNEL_(name, args_type, __maxnreg__(registers))
#endif

/* Returns the block size of a launch: that of the kernel or, with one block per event and few events in flight, up to
 * `widen` times as large. */
static inline uint32_t sl_cuda_threads(const struct sl_launch *l, const char *name, const void *kernel,
                                       struct sl_grid grid) {
  enum { WIDE_MAX = 512 };
  SL_GPU_(FuncAttributes) attributes;
  uint32_t threads = sl_kernel_threads(l, name), wide = threads;
  if (grid.kind != SL_GRID_EVENTS || l->size < sizeof *l || l->widen < 2) return threads;
  if (SL_GPU_(FuncGetAttributes)(&attributes, kernel) != SL_GPU_(Success)) return threads;
  for (uint32_t factor = 2; factor <= l->widen; factor *= 2)
    if (factor * threads <= WIDE_MAX && (int)(factor * threads) <= attributes.maxThreadsPerBlock)
      wide = factor * threads;
  return wide;
}

/* Permits a kernel to be launched with this much shared memory. Without permission it has 48 kB in all. The permission
 * is for all that the device has, so that threads that launch the same kernel do not reduce it for each other. */
static inline int sl_cuda_permit_shared(const struct sl_launch *l, const char *name, const void *kernel,
                                        uint32_t bytes) {
  SL_GPU_(FuncAttributes) attributes;
  if (bytes == 0 || SL_GPU_(FuncGetAttributes)(&attributes, kernel) != SL_GPU_(Success)) return SL_OK;
  const uint32_t most = l->shared_bytes_max + SL_SHARED_RESERVED, variables = (uint32_t)attributes.sharedSizeBytes;
  const int status = sl_shared_check_(l, name, bytes < UINT32_MAX - variables ? bytes + variables : bytes, most);
  if (status == SL_OK && bytes > (uint32_t)attributes.maxDynamicSharedSizeBytes)
    (void)SL_GPU_(FuncSetAttribute)(kernel, SL_GPU_(FuncAttributeMaxDynamicSharedMemorySize), (int)(most - variables));
  return status;
}

static inline int sl_cuda_launched(const struct sl_launch *l, const char *name, uint32_t threads) {
  const SL_GPU_(Error_t) error = SL_GPU_(GetLastError)();
  if (error == SL_GPU_(Success)) return SL_OK;
  l->services->message(l->services->context, SL_ERROR, "kernel %s with blocks of %u threads could not be launched: %s",
                       name, threads, SL_GPU_(GetErrorString)(error));
  return SL_EDEVICE;
}

template <typename Args>
static inline int sl_cuda_launch_kernel(const struct sl_launch *l, const char *name, void (*kernel)(Args),
                                        struct sl_grid grid, const Args &args) {
  const uint32_t threads = sl_cuda_threads(l, name, (const void *)kernel, grid);
  const int status = sl_cuda_permit_shared(l, name, (const void *)kernel, grid.shared_bytes);
  if (status < 0) return status;
  sl_cuda_launch((struct sl_cuda_stream *)l->backend, kernel, sl_grid_blocks(l, grid, threads), threads,
                 grid.shared_bytes, args);
  return sl_cuda_launched(l, name, threads);
}

template <typename Args>
static inline int sl_cuda_launch_count(const struct sl_launch *l, const char *name,
                                       void (*kernel)(Args, struct sl_cuda_scan), struct sl_grid grid, uint32_t *counts,
                                       const struct sl_bound *bound, const Args &args) {
  struct sl_cuda_stream *stream = (struct sl_cuda_stream *)l->backend;
  const struct sl_cuda_scan scan = {counts, stream->event_count, stream->scan_blocks,
                                    sl_cuda_bound_of(bound, stream->errors)};
  const uint32_t threads = sl_cuda_threads(l, name, (const void *)kernel, grid);
  const int status = sl_cuda_permit_shared(l, name, (const void *)kernel, grid.shared_bytes);
  if (status < 0) return status;
  sl_cuda_launch(stream, kernel, sl_grid_blocks(l, grid, threads), threads, grid.shared_bytes, args, scan);
  return sl_cuda_launched(l, name, threads);
}

#define SL_LAUNCH(l, kernel, grid, args) sl_cuda_launch_kernel(l, #kernel, kernel, grid, args)
#define SL_COUNT_SCAN(l, kernel, grid, counts, bound, args) \
  sl_cuda_launch_count(l, #kernel, kernel##_then_scan_, grid, counts, bound, args)

typedef unsigned long long sl_atomic_u64;

/* With CUDA the number of lanes is a constant, so that a warp's rows are at constant distances. Loops over
 * sl_warp_size() still use the variable: unrolling them early costs eight more registers in several kernels. */
#if !defined(SL_TARGET_HIP)
#define SL_KNOWN_LANES_ 32
#endif
#if defined(SL_TARGET_HIP)
#define SL_UNROLL
#define SL_ROLLED
#else
#define SL_UNROLL _Pragma("unroll")
#define SL_ROLLED _Pragma("unroll 1")
#endif
static SL_DEVICE uint32_t sl_warp_size(void) { return warpSize; }
static SL_DEVICE uint32_t sl_count_bits(uint64_t mask) { return (uint32_t)__popcll(mask); }

#if defined(SL_TARGET_HIP)
static SL_DEVICE uint32_t sl_warp_shuffle_up_u32(uint32_t value, uint32_t delta) {
  return (uint32_t)__shfl_up((int)value, delta);
}
static SL_DEVICE uint32_t sl_warp_shuffle_down_u32(uint32_t value, uint32_t delta) {
  return (uint32_t)__shfl_down((int)value, delta);
}
static SL_DEVICE uint64_t sl_warp_shuffle_up_u64(uint64_t value, uint32_t delta) {
  return (uint64_t)__shfl_up((long long)value, delta);
}
static SL_DEVICE uint64_t sl_warp_shuffle_down_u64(uint64_t value, uint32_t delta) {
  return (uint64_t)__shfl_down((long long)value, delta);
}
static SL_DEVICE uint32_t sl_warp_shuffle_xor_u32(uint32_t value, uint32_t mask) {
  return (uint32_t)__shfl_xor((int)value, (int)mask);
}
static SL_DEVICE uint64_t sl_warp_shuffle_xor_u64(uint64_t value, uint32_t mask) {
  return (uint64_t)__shfl_xor((long long)value, (int)mask);
}
static SL_DEVICE float sl_warp_shuffle_down_f32(float value, uint32_t delta) { return __shfl_down(value, delta); }
static SL_DEVICE float sl_warp_shuffle_xor_f32(float value, uint32_t mask) { return __shfl_xor(value, (int)mask); }
static SL_DEVICE float sl_warp_shuffle_f32(float value, uint32_t lane) { return __shfl(value, (int)lane); }
static SL_DEVICE uint32_t sl_warp_get_u32(uint32_t value, uint32_t lane) {
  return (uint32_t)__shfl((int)value, (int)lane);
}
static SL_DEVICE uint64_t sl_warp_ballot(uint32_t predicate) { return __ballot((int)predicate); }
static SL_DEVICE uint32_t sl_warp_any(uint32_t predicate) { return (uint32_t)__any((int)predicate); }
static SL_DEVICE void sl_warp_sync(void) {
  __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
  __builtin_amdgcn_wave_barrier();
}
#else
/* Blocks consist of whole warps here, so that every lane takes part. */
static SL_DEVICE uint32_t sl_warp_shuffle_up_u32(uint32_t value, uint32_t delta) {
  return __shfl_up_sync(0xFFFFFFFFu, value, delta);
}
static SL_DEVICE uint32_t sl_warp_shuffle_down_u32(uint32_t value, uint32_t delta) {
  return __shfl_down_sync(0xFFFFFFFFu, value, delta);
}
static SL_DEVICE uint64_t sl_warp_shuffle_up_u64(uint64_t value, uint32_t delta) {
  return __shfl_up_sync(0xFFFFFFFFu, (unsigned long long)value, delta);
}
static SL_DEVICE uint64_t sl_warp_shuffle_down_u64(uint64_t value, uint32_t delta) {
  return __shfl_down_sync(0xFFFFFFFFu, (unsigned long long)value, delta);
}
static SL_DEVICE uint32_t sl_warp_shuffle_xor_u32(uint32_t value, uint32_t mask) {
  return __shfl_xor_sync(0xFFFFFFFFu, value, (int)mask);
}
static SL_DEVICE uint64_t sl_warp_shuffle_xor_u64(uint64_t value, uint32_t mask) {
  return __shfl_xor_sync(0xFFFFFFFFu, (unsigned long long)value, (int)mask);
}
static SL_DEVICE float sl_warp_shuffle_down_f32(float value, uint32_t delta) {
  return __shfl_down_sync(0xFFFFFFFFu, value, delta);
}
static SL_DEVICE float sl_warp_shuffle_xor_f32(float value, uint32_t mask) {
  return __shfl_xor_sync(0xFFFFFFFFu, value, (int)mask);
}
static SL_DEVICE float sl_warp_shuffle_f32(float value, uint32_t lane) {
  return __shfl_sync(0xFFFFFFFFu, value, (int)lane);
}
static SL_DEVICE uint32_t sl_warp_get_u32(uint32_t value, uint32_t lane) {
  return __shfl_sync(0xFFFFFFFFu, value, (int)lane);
}
static SL_DEVICE uint64_t sl_warp_ballot(uint32_t predicate) { return __ballot_sync(0xFFFFFFFFu, (int)predicate); }
static SL_DEVICE uint32_t sl_warp_any(uint32_t predicate) { return (uint32_t)__any_sync(0xFFFFFFFFu, (int)predicate); }
static SL_DEVICE void sl_warp_sync(void) { __syncwarp(); }
#endif

#include <sluice/kernel_block.h>

#endif
