/* kernel.h: functions and macros for kernels on every target, in addition to plain CUDA C.
 *
 * A kernel is written in the common subset of C11 and CUDA C++, with CUDA's names (threadIdx.x, blockDim.x, __shared__,
 * __syncthreads(), integer atomics). The build defines one of SL_TARGET_CPU, SL_TARGET_SIMT, SL_TARGET_CUDA,
 * SL_TARGET_HIP. On cpu a block is one thread: barriers do nothing and thread loops become plain loops. A node's block
 * size is 1 on cpu and a multiple of 32 elsewhere.
 *
 * Results of all functions are independent of target, block size, warp size and thread order. Every thread of the block
 * must call the block's collectives (sl_block_..., sl_sum32_total); they contain the necessary barriers before and
 * after, so that collectives can directly follow each other. Kernels must not use shuffles and votes, which differ
 * between targets; a test checks this.
 */
#ifndef SLUICE_KERNEL_H
#define SLUICE_KERNEL_H

#if defined(SL_TARGET_HIP) /* before math.h: it has the device's memcpy */
#include <hip/hip_runtime.h>
#endif

#include <sluice/math.h>
#include <sluice/plugin.h>

#include <string.h>

/* The warps of a block can work independently, each on its own part of an event. A block has sl_block_warps() of them;
 * sl_warp_index() is the calling thread's warp, sl_warp_lanes() the number of its threads (1 on cpu, else 32 or 64),
 * sl_warp_lane() the thread in it. Results must not depend on the number of warps: give each warp whole units of work.
 * Every thread of the warp must call the warp's collectives:
 *   sl_warp_sync()                       barrier: threads see what the other threads of the warp wrote before it
 *   sl_warp_any(predicate)               1 if `predicate` is nonzero in any thread, else 0
 *   sl_warp_get_u32(value, lane)         `value` of the thread `lane`
 *   sl_warp_exclusive_scan(value)        sum of the values of the threads before this one
 *   sl_warp_append(is_selected, &length) sl_block_append for a list of the warp's own
 *   sl_warp_list_index(start, &begun)    number of contiguous, non-empty lists that begin at or before this thread's
 *                                        position. Each thread knows one list: `start` is its first position, relative
 *                                        to the warp's first thread; values that are no thread of the warp are ignored.
 *                                        `begun`: lists that began before the warp's first position; it is updated
 *   sl_warp_sort_u32(key, rows)          sorts the warp's keys, `rows` per thread, in ascending order: thread t gets
 *                                        keys t * rows, t * rows + 1, ...; `rows` is a power of two up to SL_SORT_ROWS,
 *                                        known to the compiler
 * All groups of a warp (SL_FOR_GROUPS) must call sl_group_any, sl_group_max_u32, sl_group_min_u64, sl_group_sum_u32 and
 * sl_group_sum32_total together. If some groups need fewer iterations than others, loop while any group of the warp
 * needs one:
 *   while (sl_warp_any_needed(is_needed)) { ... sum = sl_group_sum32_total(&s); if (is_needed) ... }
 * A struct sl_team is a warp or the whole block, for code that runs on either.
 *
 * SL_UNROLL before a loop unrolls it, so that arrays indexed in it stay in registers; SL_ROLLED keeps it rolled, for
 * loops in which lanes have different numbers of iterations. Both affect only nvcc, and no results.
 *
 * SL_SORT_ROWS: the most keys per thread in sl_warp_sort_u32. */
enum { SL_SORT_ROWS = 8 };

/* Grids, for SL_LAUNCH, and the loops that go with them:
 *
 *   SL_PER_EVENT              one block per event                     SL_FOR_EVENTS
 *   SL_THREAD_PER_EVENT       one thread per event                    SL_FOR_EVENTS_BY_THREAD, SL_FOR_ALL_EVENTS
 *   SL_PER_ITEM(port)         one thread per item of a port           SL_FOR_ITEMS
 *   SL_PER_SUBITEM(port, f)   one thread per subitem of group f       SL_FOR_SUBITEMS
 *   SL_PER_ENTRY(port)        one block per producer of a list port   SL_FOR_ENTRIES
 *   SL_PER_NODE(count)        one block per node of a family          SL_FOR_NODES
 *   SL_PER_CHUNK(count)       one block per part of the work          a loop of the kernel's own
 *
 * The number of items is unknown at the launch: the loops stride, and are correct with any grid.
 *
 * The `__shared__` variables of a kernel have at most 48 kB, of sizes known to the compiler. More shared memory, or of
 * a size chosen in `run`, is requested with the grid:
 *   SL_LAUNCH(l, NAME, sl_grid_with_shared(SL_PER_EVENT, bytes), *a)
 * In the kernel, sl_shared_memory() returns its address, aligned to 16 bytes. Its contents are undefined when a block
 * begins. l->shared_bytes_max is the most that the device has; a launch that requests more is an error. `bytes` must
 * not depend on the number of threads, which a launch may increase. */
enum { SL_GRID_EVENTS, SL_GRID_EVENT_THREADS, SL_GRID_THREADS, SL_GRID_BLOCKS };
struct sl_grid {
  uint32_t kind, shared_bytes;
  uint64_t count;
};
#define SL_PER_EVENT                sl_make_grid(SL_GRID_EVENTS, 0)
#define SL_THREAD_PER_EVENT         sl_make_grid(SL_GRID_EVENT_THREADS, 0)
#define SL_PER_ITEM(port)           sl_make_grid(SL_GRID_THREADS, (port).bound.capacity)
#define SL_PER_SUBITEM(port, field) sl_make_grid(SL_GRID_THREADS, (port).field##_bound.capacity)
#define SL_PER_ENTRY(port)          sl_make_grid(SL_GRID_BLOCKS, (port).count)
#define SL_PER_NODE(count)          sl_make_grid(SL_GRID_BLOCKS, count)
#define SL_PER_CHUNK(count)         sl_make_grid(SL_GRID_BLOCKS, count)

static inline SL_UNUSED struct sl_grid sl_make_grid(uint32_t kind, uint64_t count) {
  struct sl_grid grid;
  grid.kind = kind;
  grid.shared_bytes = 0;
  grid.count = count;
  return grid;
}

/* Returns the grid with `bytes` of shared memory for each block. */
static inline SL_UNUSED struct sl_grid sl_grid_with_shared(struct sl_grid grid, uint64_t bytes) {
  grid.shared_bytes = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
  return grid;
}

/* Reports an error if a block needs more shared memory than the device has. */
static inline SL_UNUSED int sl_shared_check_(const struct sl_launch *l, const char *kernel, uint32_t bytes,
                                             uint32_t bytes_max) {
  if (bytes <= bytes_max) return SL_OK;
  l->services->message(l->services->context, SL_ERROR,
                       "kernel %s: a block needs %u bytes of shared memory; the device has %u", kernel, bytes,
                       bytes_max);
  return SL_EDEVICE;
}

static inline SL_UNUSED uint32_t sl_kernel_threads(const struct sl_launch *l, const char *kernel) {
  for (uint32_t b = 0; b < l->block_count; b++)
    if (strcmp(l->blocks[b].kernel, kernel) == 0) return l->blocks[b].threads;
  return l->block_threads;
}

/* Returns the number of blocks of a grid. A flat grid has at most the blocks that fill the device a few times, so that
 * no processor is idle for long when the others end. */
static inline SL_UNUSED uint32_t sl_grid_blocks(const struct sl_launch *l, struct sl_grid grid, uint32_t threads) {
  enum { FILLS = 4 };
  uint64_t blocks = grid.count, most = UINT32_MAX;
  if (grid.kind == SL_GRID_EVENTS) blocks = l->grid_blocks;
  if (grid.kind == SL_GRID_EVENT_THREADS) blocks = ((uint64_t)l->events_max + threads - 1) / threads;
  if (grid.kind == SL_GRID_THREADS) {
    blocks = (grid.count + threads - 1) / threads;
    most = l->device_threads ? (uint64_t)FILLS * l->device_threads / threads : l->grid_blocks;
  }
  if (blocks > most) blocks = most;
  return blocks > 0 ? (uint32_t)blocks : 1u;
}

#if defined(SL_TARGET_CPU)
#include <sluice/kernel_cpu.h>
#elif defined(SL_TARGET_SIMT)
#include <sluice/kernel_simt.h>
#elif defined(SL_TARGET_CUDA) || defined(SL_TARGET_HIP)
#include <sluice/kernel_cuda.h>
#else
#error "define one of SL_TARGET_CPU, SL_TARGET_SIMT, SL_TARGET_CUDA, SL_TARGET_HIP"
#endif

/* SL_KERNEL for blocks of up to 1024 threads, which limits a thread to 64 registers. A CUDA kernel with more registers
 * cannot be launched with such blocks, and leaves fewer concurrent blocks for a slice. */
#if !defined(SL_KERNEL_ANY_BLOCK)
#define SL_KERNEL_ANY_BLOCK(name, args_type) SL_KERNEL(name, args_type)
#endif

/* SL_KERNEL with a limit of registers per thread, where a few more would cost a concurrent block. Effective for CUDA
 * only. */
#if !defined(SL_KERNEL_REGISTERS)
#define SL_KERNEL_REGISTERS(name, args_type, registers) SL_KERNEL(name, args_type)
#endif

/* Distributes the events on a list over the blocks, in ascending order: SL_FOR_EVENTS(event, a.events) { ... }. All
 * threads of a block get the same event. */
#define SL_FOR_EVENTS(event, list)                                                              \
  for (uint32_t event, sl_index_##event = blockIdx.x;                                           \
       sl_index_##event < *(list).count && (event = sl_event_at(&(list), sl_index_##event), 1); \
       sl_index_##event += gridDim.x)

static SL_DEVICE uint32_t sl_event_at(const struct sl_events *list, uint32_t index) {
  return list->numbers ? list->numbers[index] : index;
}

/* Distributes the producers of a list port over the blocks: a.port.at[k] is the view of producer k. */
#define SL_FOR_ENTRIES(k, port) for (uint32_t k = blockIdx.x; k < (port).count; k += gridDim.x)

/* Launches kernel `count`, which writes a count for each event, and the scan of these counts as in sl_launch.scan. On a
 * GPU the last block of the kernel scans. Evaluates to the return value of `run`. */
#if !defined(SL_COUNT_SCAN)
#define SL_COUNT_SCAN(l, count, grid, counts, bound, args)          \
  __extension__({                                                   \
    const int sl_counted = SL_LAUNCH(l, count, grid, args);         \
    sl_counted == SL_OK ? (l)->scan(l, counts, bound) : sl_counted; \
  })
#endif

/* Launches of an algorithm with a variable number of items per event, one block per event: kernel `count` writes the
 * number of items of each event to port.offsets[event], the scan turns the counts into offsets, and kernel `write`
 * writes the items at these offsets. If the slice overflows, all offsets are 0 and `write` finds no room. Evaluates to
 * the return value of `run`. */
#define SL_COUNT_SCAN_WRITE(l, count, write, port, args)                                        \
  __extension__({                                                                               \
    int sl_status = SL_COUNT_SCAN(l, count, SL_PER_EVENT, (port).offsets, &(port).bound, args); \
    if (sl_status == SL_OK) sl_status = SL_LAUNCH(l, write, SL_PER_EVENT, args);                \
    sl_status;                                                                                  \
  })

static SL_DEVICE uint32_t sl_grid_thread(void) { return blockIdx.x * blockDim.x + threadIdx.x; }
static SL_DEVICE uint32_t sl_grid_threads(void) { return gridDim.x * blockDim.x; }

/* Distributes the events on a list over the threads. No collectives inside, as in all loops over threads. */
#define SL_FOR_EVENTS_BY_THREAD(event, list)                                                    \
  for (uint32_t event, sl_index_##event = sl_grid_thread();                                     \
       sl_index_##event < *(list).count && (event = sl_event_at(&(list), sl_index_##event), 1); \
       sl_index_##event += sl_grid_threads())

/* Distributes all possible events of a slice over the threads, whether they are on the list or not. */
#define SL_FOR_ALL_EVENTS(event, list) \
  for (uint32_t event = sl_grid_thread(); event < (list).max; event += sl_grid_threads())

/* Distributes the items of the events on a list over the threads. Without a list (all events), the items of the slice
 * are contiguous, so that no warp is partly idle at the end of an event; with a list, event by event, one block per
 * event.
 *   SL_FOR_ITEMS(i, a.events, a.pulses.offsets) { ... }                               no `break`
 *   SL_FOR_SUBITEMS(i, a.events, a.pulses.offsets, a.pulses.member_offsets) { ... } */
#define SL_FOR_ITEMS(i, list, offsets)         SL_FOR_RANGES_ (i, 1, list, (offsets)[sl_event])
#define SL_FOR_SUBITEMS(i, list, offsets, sub) SL_FOR_RANGES_ (i, 1, list, (sub)[(offsets)[sl_event]])
/* `at`: expression for the first item of the event `sl_event`. The outer loop is over events, or has one iteration. A
 * thread takes `width` items at a time: see lanes.h. */
#define SL_FOR_RANGES_(i, width, list, at)                                                       \
  for (uint32_t sl_iteration_##i = (list).numbers ? blockIdx.x : 0;                              \
       sl_iteration_##i < ((list).numbers ? *(list).count : 1u); sl_iteration_##i += gridDim.x)  \
    for (uint32_t sl_event = (list).numbers ? (list).numbers[sl_iteration_##i] : 0,              \
                  i = (at) + (width) * ((list).numbers ? threadIdx.x : sl_grid_thread()),        \
                  sl_stride_##i = (width) * ((list).numbers ? blockDim.x : sl_grid_threads()),   \
                  sl_end_##i = (sl_event = (list).numbers ? sl_event + 1 : *(list).count, (at)); \
         i < sl_end_##i; i += sl_stride_##i)

/* The nodes of a family, as passed to run_family, distributed over the blocks:
 *   SL_KERNEL(NAME, struct sl_nodes) {
 *     SL_FOR_NODES (struct filter_args, node, a) { ... node->events ... } } */
struct sl_nodes {
  const void *args; /* the nodes' argument structs, contiguous */
  uint32_t count, reserved;
};
#define SL_FOR_NODES(type, node, nodes)                                                                               \
  for (const type *node = (const type *)(nodes).args + blockIdx.x; node < (const type *)(nodes).args + (nodes).count; \
       node += gridDim.x)
static inline SL_UNUSED struct sl_nodes sl_nodes_of(const void *args, uint32_t count) {
  struct sl_nodes nodes;
  nodes.args = args;
  nodes.count = count;
  nodes.reserved = 0;
  return nodes;
}

/* One block writes the list of the node's events for which `is_selected(a, event)` is nonzero, in ascending order and
 * in one pass: one thread per event. All threads of the block must call it. */
#define SL_LIST_EVENTS(a, list, is_selected)                                      \
  do {                                                                            \
    uint32_t sl_length = 0;                                                       \
    SL_FOR_BLOCK (sl_i, *(a)->events.count) {                                     \
      const uint32_t sl_is_one = sl_i < *(a)->events.count;                       \
      const uint32_t sl_listed = sl_is_one ? sl_event_at(&(a)->events, sl_i) : 0; \
      const uint32_t sl_is_listed = sl_is_one && is_selected(a, sl_listed);       \
      const uint32_t sl_location = sl_block_append(sl_is_listed, &sl_length);     \
      if (sl_is_listed) (list).numbers[sl_location] = sl_listed;                  \
    }                                                                             \
    if (threadIdx.x == 0) *(list).count = sl_length;                              \
  } while (0)

/* Defines the function NAME_explain_ of an algorithm that decides each event by a predicate of explain.h. */
#ifdef SL_TARGET_CPU
#define SL_EXPLAIN_EVENTS(name_, passes_)                                                                  \
  static uint32_t name_##_explain_(struct sl_explanation *explanation, const void *args, uint32_t event) { \
    return sl_explained(explanation, passes_((const struct name_##_args *)args, event, explanation));      \
  }
#else
#define SL_EXPLAIN_EVENTS(name_, passes_)
#endif

/* A complete algorithm that selects events one by one: its output `passed`, an sl_event_list, gets the events for which
 * `uint32_t passes(const struct NAME_args *, uint32_t event, struct sl_explanation *)` is nonzero (explain.h). A
 * trigger has many such nodes; therefore they form a family and run in one launch, with one block per node. `prepare_`:
 * see SL_PREPARE, or NULL. */
#define SL_FILTER(name_, doc_, passes_, prepare_)                                                                    \
  static SL_DEVICE uint32_t name_##_decides_(const struct name_##_args *a, uint32_t event) {                         \
    return passes_(a, event, NULL);                                                                                  \
  }                                                                                                                  \
  SL_EXPLAIN_EVENTS(name_, passes_)                                                                                  \
  static SL_DEVICE void name_##_list_(const struct name_##_args *a) {                                                \
    SL_LIST_EVENTS(a, a->passed, name_##_decides_);                                                                  \
  }                                                                                                                  \
  SL_KERNEL_ANY_BLOCK(name_##_one_, struct name_##_args) {                                                           \
    if (blockIdx.x == 0) name_##_list_(&a); /* the whole block, because the list contains barriers */                \
  }                                                                                                                  \
  SL_KERNEL_ANY_BLOCK(name_##_many_, struct sl_nodes) {                                                              \
    SL_FOR_NODES (struct name_##_args, node, a) name_##_list_(node);                                                 \
  }                                                                                                                  \
  static int name_##_run_one_(const struct sl_launch *l, const struct name_##_args *a) {                             \
    return SL_LAUNCH(l, name_##_one_, SL_PER_NODE(1), *a);                                                           \
  }                                                                                                                  \
  static int name_##_run_many_(const struct sl_launch *l, const void *host_args, const void *args, uint32_t count) { \
    (void)host_args;                                                                                                 \
    return SL_LAUNCH(l, name_##_many_, SL_PER_NODE(count), sl_nodes_of(args, count));                                \
  }                                                                                                                  \
  SL_ALGORITHM(name_, doc_, 1024, name_##_run_one_, SL_PREPARE(prepare_), SL_FAMILY(#name_, name_##_run_many_),      \
               SL_EXPLAIN(name_##_explain_))

/* Refuses an event: it has no items in any output, and is reported with the text of the algorithm's error table for
 * `code` (1..255) and with `detail` (for example, a bank's source id). The node must still write valid outputs for the
 * event, for example no items. If an event has several errors, the error of the earliest node is reported, and of that
 * node the largest code and detail. */
static SL_DEVICE void sl_event_fail(const struct sl_events *list, uint32_t event, uint32_t code, uint32_t detail) {
  atomicMax((sl_atomic_u64 *)&list->errors[event], (sl_atomic_u64)(list->error_base | (uint64_t)code << 32 | detail));
}

/* Refuses an event that needs `needed` items, or subitems of a group, when `needed` exceeds bound->event_limit and a
 * kernel detects this before a scan does. */
static SL_DEVICE SL_UNUSED void sl_event_fail_limit(const struct sl_events *list, uint32_t event,
                                                    const struct sl_bound *bound, uint32_t needed) {
  atomicMax((sl_atomic_u64 *)&list->errors[event], (sl_atomic_u64)(bound->limit_error | needed));
}

/* Reports that an algorithm omitted part of an event because of a limit of its own; the event is not refused. The event
 * is counted, and reported with the text of the algorithm's error table for `code` and with `detail`, up to 65535. If
 * an event has several truncations, the report has the one with the largest code, then of the earliest node, then with
 * the largest detail. */
static SL_DEVICE SL_UNUSED void sl_event_truncated(const struct sl_events *list, uint32_t event, uint32_t code,
                                                   uint32_t detail) {
  const uint32_t node = (uint32_t)(list->error_base >> 48) << 16;
  const uint32_t low = detail < 0xFFFFu ? detail : 0xFFFFu;
  atomicMax((sl_atomic_u64 *)&list->errors[event], (sl_atomic_u64)((uint64_t)code << 32 | node | low));
}

/* Adds to an entry of a TOTAL field of type u32, u64 or i64. Any thread, in any order: integer sums do not depend on
 * the order. If many threads add to few entries, sum in shared memory first. */
#define sl_total_add(total, value)                                                         \
  (sizeof *(total) == 4 ? sl_total_add_u32((uint32_t *)(void *)(total), (uint32_t)(value)) \
                        : sl_total_add_u64((uint64_t *)(void *)(total), (uint64_t)(value)))
static SL_DEVICE void sl_total_add_u32(uint32_t *total, uint32_t value) { atomicAdd(total, value); }
static SL_DEVICE void sl_total_add_u64(uint64_t *total, uint64_t value) {
  atomicAdd((sl_atomic_u64 *)total, (sl_atomic_u64)value);
}

/* Returns the index of the first value of an event in a field that the graph names (SL_FIELD_REF). The values end where
 * those of event + 1 begin: for (uint64_t i = sl_field_begin(&a.of, event); i < sl_field_begin(&a.of, event + 1);
 * i++). */
static SL_DEVICE SL_UNUSED uint64_t sl_field_begin(const struct sl_field_ref *field, uint32_t event) {
  uint32_t entry = field->offsets ? field->offsets[event] : event;
  if (field->item_offsets) entry = field->item_offsets[entry];
  return (uint64_t)entry * field->width;
}

/* Returns a value as a double; u64 and i64 beyond 2^53 are rounded to nearest. */
static SL_DEVICE SL_UNUSED double sl_field_f64(const struct sl_field_ref *field, uint64_t index) {
#define SL_FIELD_CASE_(name, c, bytes) \
  case SL_TYPE_##name:                 \
    return (double)((const c *)field->values)[index];
  switch (field->type) {
    SL_TYPES(SL_FIELD_CASE_)
    default:
      return 0.0; /* the runtime accepts no other type */
  }
#undef SL_FIELD_CASE_
}

/* Returns the exact rounding error of sl_field_f64: the value minus `nearest`, the result of sl_field_f64 for it. */
static SL_DEVICE SL_UNUSED double sl_field_remainder(const struct sl_field_ref *field, uint64_t index, double nearest) {
  if (field->type == SL_TYPE_u64) {
    const uint64_t whole = nearest < 0x1p64 ? (uint64_t)nearest : 0; /* 2^64 modulo 2^64 */
    return (double)(int64_t)(((const uint64_t *)field->values)[index] - whole);
  }
  if (field->type == SL_TYPE_i64) {
    const uint64_t whole = nearest < 0x1p63 ? (uint64_t)(int64_t)nearest : UINT64_C(1) << 63;
    return (double)(int64_t)((uint64_t)((const int64_t *)field->values)[index] - whole);
  }
  return 0.0;
}

/* Loop with a block's collective in its body: every thread has the same number of iterations, so `i` may be >= n. */
#define SL_FOR_BLOCK(i, n) \
  for (uint32_t sl_base_##i = 0, i = threadIdx.x; sl_base_##i < (n); sl_base_##i += blockDim.x, i += blockDim.x)

/* SL_FOR_BLOCK for the threads of a warp, for sl_warp_append. */
#define SL_FOR_WARP(i, n)                                               \
  for (uint32_t sl_base_##i = 0, i = sl_warp_lane(); sl_base_##i < (n); \
       sl_base_##i += sl_warp_lanes(), i += sl_warp_lanes())

/* A warp, or all warps of a block together. */
struct sl_team {
  uint32_t warps, warp; /* number of warps in the team; index of the calling thread's warp */
};

static SL_DEVICE struct sl_team sl_team_of_block(void) {
  const struct sl_team team = {sl_block_warps(), sl_warp_index()};
  return team;
}

static SL_DEVICE struct sl_team sl_team_of_warp(void) {
  const struct sl_team team = {1, 0};
  return team;
}

/* Barrier: every thread of the team must call it, and then sees what the others wrote before it. */
static SL_DEVICE void sl_team_sync(const struct sl_team *team) {
  if (team->warps > 1)
    __syncthreads();
  else
    sl_warp_sync();
}

/* Index of the calling thread in the team; number of threads in the team. */
static SL_DEVICE uint32_t sl_team_thread(const struct sl_team *team) {
  return team->warps > 1 ? threadIdx.x : sl_warp_lane();
}
static SL_DEVICE uint32_t sl_team_threads(const struct sl_team *team) {
  return team->warps > 1 ? blockDim.x : sl_warp_lanes();
}
#if defined(SL_TARGET_SIMT)
#define sl_team_sync(...) SL_SIMT_COLLECTIVE_VOID_(sl_team_sync, __VA_ARGS__)
#endif

/* A group is `threads` adjacent threads of a warp, a power of two up to 32; one thread on cpu. Its threads stride: for
 * (k = sl_group_lane(threads); k < count; k += SL_GROUP(threads)). SL_FOR_GROUPS(i, n, threads) distributes n entries
 * over the block's groups; `i` may be >= n, as in SL_FOR_BLOCK. */
#define SL_FOR_GROUPS(i, n, threads)                                                     \
  for (uint32_t sl_base_##i = 0, i = threadIdx.x / SL_GROUP(threads); sl_base_##i < (n); \
       sl_base_##i += blockDim.x / SL_GROUP(threads), i += blockDim.x / SL_GROUP(threads))

/* Float sum with identical bits on every target: of 32 partial sums, partial sum j adds the values of index j, j+32,
 * ... in ascending order; then a tree adds them with strides 16, 8, 4, 2, 1.
 *   struct sl_sum32 s = sl_sum32_zero();
 *   SL_FOR_SUM32(i, n) sl_sum32_add(&s, i, value(i));
 *   float sum = sl_sum32_total(&s);        every thread of the block calls it and gets the sum
 * The first 32 threads of the block do the work. Alternatively, each group of 32 threads computes a sum of its own:
 *   for (uint32_t base = 0; base < n; base += 32)
 *     SL_FOR_LANES32(j) sl_sum32_add(&s, j, base + j < n ? value(base + j) : 0.0f);
 *   float sum = sl_group_sum32_total(&s);  every thread of the warp calls it; every thread of the group gets the sum
 * struct sl_sum64, with sl_sum64_zero, sl_sum64_add, sl_sum64_total and sl_group_sum64_total, is the same in double
 * precision, in the same loops.
 * On cpu, SL_FOR_LANES32 is a loop over 32 lanes that compilers vectorise if all its memory accesses are unconditional.
 * SL_FOR_LANES32_OF(j, count) loops over the lanes below `count`, on cpu rounded up to a multiple of 8:
 * sl_lanes32(count) lanes in all. SL_FOR_LANES32_BELOW(j, count) loops over exactly the lanes below `count`. Per-lane
 * values that live from one loop to the next are stored in an array of SL_LANES32 entries, at SL_LANE32(j). */
#define SL_FOR_LANES32(j) for (uint32_t j = sl_group_lane(32); j < 32; j += SL_GROUP(32))
#define SL_FOR_LANES32_BELOW(j, count) \
  for (uint32_t j = sl_group_lane(32), sl_end_##j = (count) < 32 ? (count) : 32; j < sl_end_##j; j += SL_GROUP(32))

#include <sluice/kernel_select.h>

#endif
