/* kernel_cuda.h: kernels for NVIDIA GPUs with nvcc, and for AMD GPUs with hipcc. Included by kernel.h only.
 *
 * A CUDA warp has 32 lanes, an AMD warp 64 (gfx9) or 32 (gfx10): see warpSize. All lanes take part in every warp
 * operation, because all threads of a block call the collectives of kernel_block.h.
 */
#ifndef SLUICE_KERNEL_CUDA_H
#define SLUICE_KERNEL_CUDA_H

#if defined(SL_TARGET_HIP)
#include <hip/hip_runtime.h>
#define SL_GPU_(name) hip##name
#else
#include <cuda_runtime.h>
#define SL_GPU_(name) cuda##name
#endif

#define SL_DEVICE __device__ inline SL_UNUSED
/* The block size of a node is free; a kernel that needs many registers declares its largest block. */
#define SL_KERNEL(name, args_type)           static __global__ void name(const args_type a)
#define SL_KERNEL_ANY_BLOCK(name, args_type) static __global__ void __launch_bounds__(1024) name(const args_type a)
#if defined(CUDART_VERSION) && CUDART_VERSION >= 12040
#define SL_KERNEL_REGISTERS(name, args_type, registers) \
  static __global__ void __maxnreg__(registers) name(const args_type a)
#endif

/* First members of the struct that sl_launch.backend points to. */
struct sl_cuda_stream {
  const uint32_t *event_count;
  void *handle;
};

static inline int sl_cuda_launched(const struct sl_launch *l, const char *kernel) {
  const SL_GPU_(Error_t) error = SL_GPU_(GetLastError)();
  if (error == SL_GPU_(Success)) return SL_OK;
  l->services->message(l->services->context, SL_ERROR, "kernel %s with blocks of %u threads could not be launched: %s",
                       kernel, sl_kernel_threads(l, kernel), SL_GPU_(GetErrorString)(error));
  return SL_EDEVICE;
}

/* clang-format would split <<<. */
/* clang-format off */
#define SL_LAUNCH(l, kernel, grid, args)                                                                    \
  ((kernel)<<<sl_grid_blocks(l, grid, sl_kernel_threads(l, #kernel)), sl_kernel_threads(l, #kernel), 0,     \
              (SL_GPU_(Stream_t))((const struct sl_cuda_stream *)(l)->backend)->handle>>>(args),            \
   sl_cuda_launched(l, #kernel))
/* clang-format on */

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
static SL_DEVICE uint64_t sl_warp_ballot(uint32_t predicate) { return __ballot_sync(0xFFFFFFFFu, (int)predicate); }
static SL_DEVICE uint32_t sl_warp_any(uint32_t predicate) { return (uint32_t)__any_sync(0xFFFFFFFFu, (int)predicate); }
static SL_DEVICE void sl_warp_sync(void) { __syncwarp(); }
#endif

#include <sluice/kernel_block.h>

#endif
