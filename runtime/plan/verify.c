/* verify.c: the independent checker of plans. Compares every pair of buffers, straight from the definition: two that
 * are live at the same step must not share a byte. Shares no code with the solver. */
#include "plan.h"

#include <sluice/plugin.h>

#include <inttypes.h>
#include <stdio.h>

/* Is [a, a + a_length) disjoint from [b, b + b_length)? Neither end overflows: checked before. */
static int ranges_disjoint(uint64_t a, uint64_t a_length, uint64_t b, uint64_t b_length) {
  return a + a_length <= b || b + b_length <= a;
}

static int buffer_check(const struct sl_plan_buffer *b, uint32_t index, uint32_t alignment, uint64_t arena_bytes,
                        char *reason, uint32_t reason_size) {
  if (b->lower >= b->upper) {
    snprintf(reason, reason_size, "buffer %" PRIu32 ": its interval [%" PRIu32 ", %" PRIu32 ") is empty", index,
             b->lower, b->upper);
  } else if (b->offset % alignment) {
    snprintf(reason, reason_size, "buffer %" PRIu32 ": offset %" PRIu64 " is no multiple of %" PRIu32, index, b->offset,
             alignment);
  } else if (b->alignment && b->offset % b->alignment) {
    snprintf(reason, reason_size, "buffer %" PRIu32 ": offset %" PRIu64 " is no multiple of its alignment, %" PRIu64,
             index, b->offset, b->alignment);
  } else if (b->offset > arena_bytes || b->size > arena_bytes - b->offset) {
    snprintf(reason, reason_size,
             "buffer %" PRIu32 ": %" PRIu64 " bytes at %" PRIu64 " end beyond the arena of %" PRIu64, index, b->size,
             b->offset, arena_bytes);
  } else {
    return SL_OK;
  }
  return SL_EINVAL;
}

int sl_plan_verify(const struct sl_plan_buffer *buffers, uint32_t count, uint32_t alignment, uint64_t arena_bytes,
                   char *reason, uint32_t reason_size) {
  if (alignment == 0) {
    snprintf(reason, reason_size, "the alignment is 0");
    return SL_EINVAL;
  }
  for (uint32_t i = 0; i < count; i++) {
    const int status = buffer_check(&buffers[i], i, alignment, arena_bytes, reason, reason_size);
    if (status) return status;
  }
  for (uint32_t i = 0; i < count; i++) {
    const struct sl_plan_buffer *a = &buffers[i];
    for (uint32_t k = i + 1; k < count; k++) {
      const struct sl_plan_buffer *b = &buffers[k];
      if (a->size == 0 || b->size == 0 || a->upper <= b->lower || b->upper <= a->lower) continue;
      if (ranges_disjoint(a->offset, a->size, b->offset, b->size)) continue;
      snprintf(reason, reason_size,
               "buffers %" PRIu32 " and %" PRIu32 " are live together and overlap: %" PRIu64 " bytes at %" PRIu64
               ", %" PRIu64 " bytes at %" PRIu64,
               i, k, a->size, a->offset, b->size, b->offset);
      return SL_EINVAL;
    }
  }
  return SL_OK;
}
