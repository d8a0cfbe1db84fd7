/* kernel_simt.h: kernels for the emulator of a GPU (docs/testing.md). Included by kernel.h only.
 *
 * A kernel is compiled as C. Each thread of a block is a fiber of the host: it runs until a barrier, a warp operation
 * or, occasionally, an atomic; then the emulator switches to another fiber, chosen by a seeded random generator. Thread
 * indices are read through `sl_simt`, which points to the running block during a launch. A plugin links against
 * nothing: the emulator's functions come with the launch, in sl_launch.backend.
 *
 * __shared__ variables are static, in one section of the plugin. The emulator poisons this section and the memory of
 * sl_shared_memory() before each block.
 *
 * With SL_RACE, the plugin also reports each memory access to the emulator (simt_race.h). Without it, the emulator does
 * not detect unsynchronised access to plain variables, because only one fiber runs at a time. A thread that waits for
 * another one in a loop without a barrier never ends.
 */
#ifndef SLUICE_KERNEL_SIMT_H
#define SLUICE_KERNEL_SIMT_H

#include <sluice/simt_abi.h>
#if defined(SL_RACE)
#include <sluice/simt_race.h>
#endif

#include <string.h>

static _Thread_local struct sl_simt_block *sl_simt SL_UNUSED;

/* ------------------------------------------------------------------------------------- kernels and launch */

#if defined(SL_RACE)
/* SL_DEVICE: inlined, so that the caller's line is known too. SL_SIMT_OWN_: emulator code, not part of the kernel. */
#define SL_DEVICE    inline SL_UNUSED __attribute__((always_inline))
#define SL_SIMT_OWN_ __attribute__((no_sanitize("thread")))
/* Forces a memory access: after an atomic, compilers could otherwise reuse a known value. */
#define SL_SIMT_OPAQUE_(pointer)       __asm__ volatile("" : "+r"(pointer))
#define SL_SIMT_LOAD_(pointer)         __atomic_load_n(pointer, __ATOMIC_RELAXED)
#define SL_SIMT_STORE_(pointer, value) __atomic_store_n(pointer, value, __ATOMIC_RELAXED)
#if defined(__clang__)
#define SL_SIMT_KERNEL_ __attribute__((noinline))
#else
/* A compiler must not drop the call, even if the kernel only writes to variables that are never read. */
#define SL_SIMT_KERNEL_ __attribute__((noipa))
#endif
/* Compilers expand these into moves that the sanitizer does not report; moves of up to 8 bytes are reported. */
#define memcpy(to, from, bytes) \
  (__builtin_constant_p(bytes) && (bytes) <= 8 ? __builtin_memcpy(to, from, bytes) : __wrap_memcpy(to, from, bytes))
#define memmove(to, from, bytes) __wrap_memmove(to, from, bytes)
#define memset(to, value, bytes) __wrap_memset(to, value, bytes)
#else
#define SL_DEVICE inline SL_UNUSED
#define SL_SIMT_OWN_
#define SL_SIMT_KERNEL_
#define SL_SIMT_OPAQUE_(pointer)       ((void)0)
#define SL_SIMT_LOAD_(pointer)         (*(pointer))
#define SL_SIMT_STORE_(pointer, value) (*(pointer) = (value))
#endif
#define SL_KERNEL(name, args_type)                                                                              \
  static SL_SIMT_KERNEL_ void name(const args_type a);                                                          \
  static SL_UNUSED SL_SIMT_OWN_ void name##_thread_(const void *sl_args) { name(*(const args_type *)sl_args); } \
  static void name(const args_type a)

/* See kernel_cpu.h. The struct is copied, because on every target a launch reads its arguments at the call. CUDA passes
 * at most 4 KiB of arguments. */
#define SL_LAUNCH(l, kernel, grid, args)                                                        \
  __extension__({                                                                               \
    const __typeof__(args) sl_args = (args);                                                    \
    (void)sizeof(((kernel)(sl_args), 0)); /* type check */                                      \
    SL_STATIC_ASSERT(sizeof sl_args <= 4096, "a kernel takes at most 4096 bytes of arguments"); \
    const uint32_t sl_threads = sl_kernel_threads(l, #kernel);                                  \
    const struct sl_grid sl_grid = (grid);                                                      \
    const struct sl_simt_launch sl_what = {                                                     \
        sizeof sl_what,      sl_threads,       #kernel,                                         \
        kernel##_thread_,    &sl_args,         &sl_simt,                                        \
        __start_sl_shared,   __stop_sl_shared, sl_grid_blocks(l, sl_grid, sl_threads),          \
        sl_grid.shared_bytes};                                                                  \
    sl_simt_launch(l, &sl_what);                                                                \
  })

/* The linker sets these to the bounds of the section; the anchor variable makes sure that the section exists. */
extern char __start_sl_shared[] __attribute__((visibility("hidden")));
extern char __stop_sl_shared[] __attribute__((visibility("hidden")));
/* `used`: the compiler must not assume that it sees all stores, because poisoning is a hidden one. */
#define __shared__ static __attribute__((section("sl_shared"), used))
__shared__ char sl_shared_anchor;

static SL_UNUSED SL_SIMT_OWN_ int sl_simt_launch(const struct sl_launch *l, const struct sl_simt_launch *what) {
  const struct sl_simt_stream *stream = (const struct sl_simt_stream *)l->backend;
  const int checked = sl_shared_check_(l, what->kernel, what->shared_bytes, l->shared_bytes_max);
  if (checked < 0) return checked;
#if defined(SL_RACE)
  const struct sl_simt_api *api = stream && stream->api && stream->api->version == SL_SIMT_VERSION ? stream->api : NULL;
  if (api && api->size == sizeof(struct sl_simt_api)) {
    sl_race = ((const struct sl_race_stream *)(const void *)stream)->race;
    const int status = api->launch(l, what);
    sl_race = NULL;
    return status;
  }
#else
  if (stream && stream->api && stream->api->version == SL_SIMT_VERSION) return stream->api->launch(l, what);
#endif
  l->services->message(l->services->context, SL_ERROR, "kernel %s: there is no emulator of version %u", what->kernel,
                       SL_SIMT_VERSION);
  return SL_EDEVICE;
}

#define threadIdx (sl_simt->thread_index)
#define blockIdx  (sl_simt->block_index)
#define blockDim  (sl_simt->block_dim)
#define gridDim   (sl_simt->grid_dim)
static SL_DEVICE void *sl_shared_memory(void) { return sl_simt->shared; }
#define __restrict__ restrict
#define SL_UNROLL
#define SL_ROLLED

#define SL_SIMT_SITE_(what) static const struct sl_simt_site sl_site = {what, __FILE__, __LINE__, 0}
#define __syncthreads()                       \
  __extension__({                             \
    SL_SIMT_SITE_("__syncthreads()");         \
    sl_simt->api->barrier(sl_simt, &sl_site); \
  })

/* ------------------------------------------------------------------------------------------------ atomics */

typedef uint64_t sl_atomic_u64;
#define SL_ATOMIC_(p, v, expression)                                                                         \
  __extension__({                                                                                            \
    __typeof__(&*(p)) sl_p = (p);                                                                            \
    const __typeof__(*sl_p) sl_v = (__typeof__(*sl_p))(v);                                                   \
    SL_STATIC_ASSERT(sizeof *sl_p == 4 || sizeof *sl_p == 8, "a GPU has atomics of 32 and 64 bits only");    \
    SL_STATIC_ASSERT((__typeof__(*sl_p))0.5 == 0, "sums of floats depend on their order: no float atomics"); \
    SL_SIMT_OPAQUE_(sl_p);                                                                                   \
    if (--sl_simt->atomics_to_pause == 0) sl_simt->api->pause(sl_simt);                                      \
    const __typeof__(*sl_p) sl_old = SL_SIMT_LOAD_(sl_p);                                                    \
    SL_SIMT_STORE_(sl_p, (__typeof__(*sl_p))(expression));                                                   \
    sl_old;                                                                                                  \
  })
#define atomicAdd(p, v)  SL_ATOMIC_(p, v, sl_old + sl_v)
#define atomicSub(p, v)  SL_ATOMIC_(p, v, sl_old - sl_v)
#define atomicOr(p, v)   SL_ATOMIC_(p, v, sl_old | sl_v)
#define atomicAnd(p, v)  SL_ATOMIC_(p, v, sl_old &(sl_v))
#define atomicMax(p, v)  SL_ATOMIC_(p, v, sl_old > sl_v ? sl_old : sl_v)
#define atomicMin(p, v)  SL_ATOMIC_(p, v, sl_old < sl_v ? sl_old : sl_v)
#define atomicExch(p, v) SL_ATOMIC_(p, v, sl_v)

/* --------------------------------------------------------------------------- warps, for kernel_block.h only */

#define SL_SIMT_WARP_(what, operation, value, lane)                \
  __extension__({                                                  \
    SL_SIMT_SITE_(what);                                           \
    sl_simt->api->warp(sl_simt, &sl_site, operation, value, lane); \
  })

static SL_DEVICE uint32_t sl_warp_size(void) { return sl_simt->warp_size; }
static SL_DEVICE uint32_t sl_simt_lane_up(uint32_t delta) {
  const uint32_t lane = threadIdx.x % sl_warp_size();
  return lane < delta ? lane : lane - delta;
}
static SL_DEVICE uint32_t sl_simt_lane_down(uint32_t delta) {
  const uint32_t lane = threadIdx.x % sl_warp_size();
  return lane + delta < sl_warp_size() ? lane + delta : lane;
}
static SL_DEVICE uint32_t sl_simt_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}
static SL_DEVICE float sl_simt_float(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

#define sl_warp_shuffle_up_u64(value, delta) SL_SIMT_WARP_("shuffle up", SL_SIMT_SHUFFLE, value, sl_simt_lane_up(delta))
#define sl_warp_shuffle_down_u64(value, delta) \
  SL_SIMT_WARP_("shuffle down", SL_SIMT_SHUFFLE, value, sl_simt_lane_down(delta))
#define sl_warp_shuffle_xor_u64(value, mask) \
  SL_SIMT_WARP_("shuffle xor", SL_SIMT_SHUFFLE, value, (threadIdx.x ^ (mask)) % sl_warp_size())
#define sl_warp_shuffle_up_u32(value, delta)   ((uint32_t)sl_warp_shuffle_up_u64(value, delta))
#define sl_warp_shuffle_down_u32(value, delta) ((uint32_t)sl_warp_shuffle_down_u64(value, delta))
#define sl_warp_shuffle_xor_u32(value, mask)   ((uint32_t)sl_warp_shuffle_xor_u64(value, mask))
#define sl_warp_shuffle_down_f32(value, delta) sl_simt_float(sl_warp_shuffle_down_u32(sl_simt_bits(value), delta))
#define sl_warp_shuffle_xor_f32(value, mask)   sl_simt_float(sl_warp_shuffle_xor_u32(sl_simt_bits(value), mask))
#define sl_warp_shuffle_f32(value, lane) \
  sl_simt_float((uint32_t)SL_SIMT_WARP_("shuffle", SL_SIMT_SHUFFLE, sl_simt_bits(value), lane))
#define sl_warp_get_u32(value, lane) ((uint32_t)SL_SIMT_WARP_("warp get", SL_SIMT_SHUFFLE, value, lane))
#define sl_warp_ballot(predicate)    SL_SIMT_WARP_("ballot", SL_SIMT_BALLOT, (predicate) ? 1u : 0u, 0)
#define sl_warp_any(predicate)       (sl_warp_ballot(predicate) != 0 ? 1u : 0u)
#define sl_warp_sync()               ((void)SL_SIMT_WARP_("warp sync", SL_SIMT_SYNC, 0, 0))
#define sl_count_bits(mask)          ((uint32_t)__builtin_popcountll(mask))

/* ------------------------------------------------------------------------------------------- collectives */

#include <sluice/kernel_block.h>

/* The site of a collective is the line of its call: threads that call it from two lines do not meet. */
#define SL_SIMT_COLLECTIVE_(type, function, ...)                     \
  __extension__({                                                    \
    SL_SIMT_SITE_(#function);                                        \
    const struct sl_simt_site *const sl_outer = sl_simt->collective; \
    sl_simt->collective = &sl_site;                                  \
    const type sl_result = function(__VA_ARGS__);                    \
    sl_simt->collective = sl_outer;                                  \
    sl_result;                                                       \
  })
#define SL_SIMT_COLLECTIVE_VOID_(function, ...)                      \
  __extension__({                                                    \
    SL_SIMT_SITE_(#function);                                        \
    const struct sl_simt_site *const sl_outer = sl_simt->collective; \
    sl_simt->collective = &sl_site;                                  \
    function(__VA_ARGS__);                                           \
    sl_simt->collective = sl_outer;                                  \
  })
#define sl_block_exclusive_scan(...)     SL_SIMT_COLLECTIVE_(uint32_t, sl_block_exclusive_scan, __VA_ARGS__)
#define sl_block_exclusive_scan_i64(...) SL_SIMT_COLLECTIVE_(int64_t, sl_block_exclusive_scan_i64, __VA_ARGS__)
#define sl_block_exclusive_max_u32(...)  SL_SIMT_COLLECTIVE_(uint32_t, sl_block_exclusive_max_u32, __VA_ARGS__)
#define sl_block_sum_u32(...)            SL_SIMT_COLLECTIVE_(uint32_t, sl_block_sum_u32, __VA_ARGS__)
#define sl_block_sum_i64(...)            SL_SIMT_COLLECTIVE_(int64_t, sl_block_sum_i64, __VA_ARGS__)
#define sl_block_min_u64(...)            SL_SIMT_COLLECTIVE_(uint64_t, sl_block_min_u64, __VA_ARGS__)
#define sl_block_append(...)             SL_SIMT_COLLECTIVE_(uint32_t, sl_block_append, __VA_ARGS__)
#define sl_warp_exclusive_scan(...)      SL_SIMT_COLLECTIVE_(uint32_t, sl_warp_exclusive_scan, __VA_ARGS__)
#define sl_warp_append(...)              SL_SIMT_COLLECTIVE_(uint32_t, sl_warp_append, __VA_ARGS__)
#define sl_warp_list_index(...)          SL_SIMT_COLLECTIVE_(uint32_t, sl_warp_list_index, __VA_ARGS__)
#define sl_warp_sort_u32(...)            SL_SIMT_COLLECTIVE_VOID_(sl_warp_sort_u32, __VA_ARGS__)
#define sl_warp_any_needed(...)          SL_SIMT_COLLECTIVE_(uint32_t, sl_warp_any_needed, __VA_ARGS__)
#define sl_group_any(...)                SL_SIMT_COLLECTIVE_(uint32_t, sl_group_any, __VA_ARGS__)
#define sl_group_sum_u32(...)            SL_SIMT_COLLECTIVE_(uint32_t, sl_group_sum_u32, __VA_ARGS__)
#define sl_group_max_u32(...)            SL_SIMT_COLLECTIVE_(uint32_t, sl_group_max_u32, __VA_ARGS__)
#define sl_group_min_u64(...)            SL_SIMT_COLLECTIVE_(uint64_t, sl_group_min_u64, __VA_ARGS__)
#define sl_sum32_total(...)              SL_SIMT_COLLECTIVE_(float, sl_sum32_total, __VA_ARGS__)
#define sl_group_sum32_total(...)        SL_SIMT_COLLECTIVE_(float, sl_group_sum32_total, __VA_ARGS__)
#define sl_sum64_total(...)              SL_SIMT_COLLECTIVE_(double, sl_sum64_total, __VA_ARGS__)
#define sl_group_sum64_total(...)        SL_SIMT_COLLECTIVE_(double, sl_group_sum64_total, __VA_ARGS__)
#define sl_group_sum32_totals(...)       SL_SIMT_COLLECTIVE_VOID_(sl_group_sum32_totals, __VA_ARGS__)

#endif
