/* kernel.h: what a kernel may use besides plain CUDA C, on every target.
 *
 * A kernel is written in the common subset of C11 and CUDA C++, with CUDA's own names (threadIdx.x, blockDim.x,
 * __shared__, __syncthreads(), integer atomics). The build defines one of SL_TARGET_CPU, SL_TARGET_SIMT,
 * SL_TARGET_CUDA, SL_TARGET_HIP. On cpu a block is one thread: barriers vanish and thread loops become plain loops.
 * A node's block size is 1 on cpu and a multiple of 32 elsewhere.
 *
 * Everything here has one result whatever the target, block size, warp size and thread order. Collectives
 * (sl_block_..., sl_sum32_total) must be reached by every thread of the block; they contain the barriers that they
 * need, before and after, so that they can follow each other directly.
 *
 * Where a block's warps work apart, each on its own part of an event: sl_block_warps() of them, sl_warp_index() this
 * one, sl_warp_lanes() its threads, sl_warp_lane() this one; a warp may have 1 (cpu), 32 or 64. sl_warp_sync() lets
 * them see what each other wrote, sl_warp_any() asks whether one says yes, sl_warp_exclusive_scan() sums the values of
 * the threads before this one; all must be reached by every thread of the warp. Results must not depend on how many
 * warps there are: give each of them whole units of work. sl_warp_shuffle_xor_u32(value, mask) is the value of the lane
 * whose number differs in the bits of `mask`, sl_warp_shuffle_up_u32(value, delta) that of the lane `delta` below, its
 * own where there is none, as on cpu.
 *
 * Before a loop: SL_UNROLL, so that what it indexes stays in registers, or SL_ROLLED, since its lanes make different
 * numbers of turns. They matter to nvcc only, and to no result.
 */
#ifndef SLUICE_KERNEL_H
#define SLUICE_KERNEL_H

#if defined(SL_TARGET_HIP) /* before math.h: it has the device's memcpy */
#include <hip/hip_runtime.h>
#endif

#include <sluice/math.h>
#include <sluice/plugin.h>

/* Grids. SL_PER_EVENT: a fixed number of blocks that share the events of the node's list through SL_FOR_EVENTS. */
enum { SL_PER_EVENT };

#if defined(SL_TARGET_CPU)
#include <sluice/kernel_cpu.h>
#elif defined(SL_TARGET_SIMT)
#include <sluice/kernel_simt.h>
#elif defined(SL_TARGET_CUDA) || defined(SL_TARGET_HIP)
#include <sluice/kernel_cuda.h>
#else
#error "define one of SL_TARGET_CPU, SL_TARGET_SIMT, SL_TARGET_CUDA, SL_TARGET_HIP"
#endif

/* SL_KERNEL for blocks of up to 1024 threads, which leaves a thread 64 registers: where more would let so few blocks
 * run at a time that a slice does not fit. */
#if !defined(SL_KERNEL_ANY_BLOCK)
#define SL_KERNEL_ANY_BLOCK(name, args_type) SL_KERNEL(name, args_type)
#endif

/* Each block takes its share of the events on a list, in ascending order: SL_FOR_EVENTS(event, a.events) { ... }.
 * All threads of a block see the same event. */
#define SL_FOR_EVENTS(event, list)                                                              \
  for (uint32_t event, sl_index_##event = blockIdx.x;                                           \
       sl_index_##event < *(list).count && (event = sl_event_at(&(list), sl_index_##event), 1); \
       sl_index_##event += gridDim.x)

static SL_DEVICE uint32_t sl_event_at(const struct sl_events *list, uint32_t index) {
  return list->numbers ? list->numbers[index] : index;
}

/* Refuses an event: it will appear in every output with no items, and in the report with the text that the algorithm's
 * error table gives for `code` (1..255) and with `detail` (a bank's source id, say). The event's outputs must still be
 * valid (no items, say). Of several errors, the earliest node's with the largest code and detail is reported. */
static SL_DEVICE void sl_event_fail(const struct sl_events *list, uint32_t event, uint32_t code, uint32_t detail) {
  atomicMax((sl_atomic_u64 *)&list->errors[event], (sl_atomic_u64)(list->error_base | (uint64_t)code << 32 | detail));
}

/* Loops whose body holds a collective: every thread makes the same number of turns, and `i` may be >= n. */
#define SL_FOR_BLOCK(i, n) \
  for (uint32_t sl_base_##i = 0, i = threadIdx.x; sl_base_##i < (n); sl_base_##i += blockDim.x, i += blockDim.x)

/* SL_FOR_BLOCK for the threads of a warp, for sl_warp_append. */
#define SL_FOR_WARP(i, n)                                               \
  for (uint32_t sl_base_##i = 0, i = sl_warp_lane(); sl_base_##i < (n); \
       sl_base_##i += sl_warp_lanes(), i += sl_warp_lanes())

/* A group is `threads` neighbours within a warp, a power of two up to 32; one thread on cpu, so that its threads
 * stride: for (k = sl_group_lane(threads); k < count; k += SL_GROUP(threads)). SL_FOR_GROUPS(i, n, threads) deals out n
 * entries to the block's groups; `i` may be >= n, as in SL_FOR_BLOCK. */
#define SL_FOR_GROUPS(i, n, threads)                                                     \
  for (uint32_t sl_base_##i = 0, i = threadIdx.x / SL_GROUP(threads); sl_base_##i < (n); \
       sl_base_##i += blockDim.x / SL_GROUP(threads), i += blockDim.x / SL_GROUP(threads))

/* The float sum that is the same everywhere: 32 partial sums, partial j adds the values of index j, j+32, ... in
 * ascending order, then a tree with strides 16, 8, 4, 2, 1.
 *   struct sl_sum32 s = sl_sum32_zero();
 *   SL_FOR_SUM32(i, n) sl_sum32_add(&s, i, value(i));
 *   float sum = sl_sum32_total(&s);        every thread of the block calls it and gets the sum
 * The first 32 threads of a block do the work.
 *
 * Or a group of 32 threads does, so that each group of a block has its own sum, and every thread of the group gets it:
 *   for (uint32_t base = 0; base < n; base += 32)
 *     SL_FOR_LANES32(j) sl_sum32_add(&s, j, base + j < n ? value(base + j) : 0.0f);
 *   float sum = sl_group_sum32_total(&s);  every thread of the warp calls it
 * On cpu SL_FOR_LANES32 is a loop over 32 lanes that compilers vectorise, if all that it does to memory is
 * unconditional. SL_FOR_LANES32_OF(j, count) is for the lanes that have one of `count` values, and on cpu for those up
 * to the next multiple of 8 too: for sl_lanes32(count) in all. What a lane keeps from one loop to the next stands in an
 * array of SL_LANES32 entries, at SL_LANE32(j). */
#define SL_FOR_LANES32(j) for (uint32_t j = sl_group_lane(32); j < 32; j += SL_GROUP(32))

#endif
