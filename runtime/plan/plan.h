/* plan.h: offsets in one arena for buffers with known sizes and lifetimes (off-line dynamic storage allocation).
 * Independent of graphs: layout/layout.c makes the request for a graph.
 */
#ifndef SL_PLAN_H
#define SL_PLAN_H

#include <stdint.h>

/* A buffer is live in the half-open interval [lower, upper) of steps. size 0 is allowed and gets offset 0. */
struct sl_plan_buffer {
  uint64_t size;
  uint64_t offset; /* result */
  uint32_t lower, upper;
  uint64_t alignment; /* alignment of the offset, in addition to that of the request; any number, 0: none */
};

struct sl_plan_request {
  struct sl_plan_buffer *buffers;
  uint32_t count;
  uint32_t alignment; /* power of two; sizes are rounded up to it */
  uint64_t capacity;  /* stop when the arena is no larger; 0: the lower bound */
  /* Limits of the search after the greedy orders, 0: none; without either, a fixed number of steps by size. */
  double seconds;
  uint64_t steps;
};

struct sl_plan_result {
  uint64_t arena_bytes;       /* highest end of a buffer */
  uint64_t lower_bound_bytes; /* maximum of live bytes, with gaps due to alignments */
  uint64_t least_bytes;       /* proved lower limit of the arena, at least lower_bound_bytes */
  uint32_t optimal;           /* 1: arena equals the lower bound, or the search proved that no plan is smaller */
  uint32_t reserved;
  uint64_t steps; /* search nodes visited */
};

/* 0, SL_ENOMEM, or SL_EINVAL (an interval with lower >= upper, an alignment of the request that is not a power of
 * two, a sum of sizes and alignments above 2^62). The plan depends on the request only, unless the time limit ends
 * the search. Thread-safe. */
int sl_plan_solve(const struct sl_plan_request *request, struct sl_plan_result *result);

/* Independent check: 0, or SL_EINVAL with the first pair of buffers that overlap in time and memory, a misaligned
 * buffer, or one that ends beyond arena_bytes, as text. Shares no code with the solver. */
int sl_plan_verify(const struct sl_plan_buffer *buffers, uint32_t count, uint32_t alignment, uint64_t arena_bytes,
                   char *reason, uint32_t reason_size);

#endif
