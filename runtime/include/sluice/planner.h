/* planner.h: the memory planner alone, for allocation problems of any origin. Functions return as those of sluice.h. */
#ifndef SLUICE_PLANNER_H
#define SLUICE_PLANNER_H

#include <sluice/sluice.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Assigns offsets in one arena to buffers with known sizes and lifetimes. A problem is a CSV file with the columns id,
 * lower, upper, size and optionally alignment; a buffer is live in the steps [lower, upper). */
struct sl_allocation;
struct sl_allocation_summary {
  uint64_t arena_bytes;       /* the highest end of a buffer */
  uint64_t lower_bound_bytes; /* largest number of bytes live at once, including alignment gaps */
  uint64_t least_bytes;       /* proved lower bound of any plan; at least lower_bound_bytes */
  uint64_t steps;             /* steps of the search; 0: none was needed */
  double seconds;
  uint32_t buffers;
  uint32_t optimal; /* 1: no plan has a smaller arena */
};
SL_API int sl_allocation_open(const char *csv_path, struct sl_diagnostics *d, struct sl_allocation **allocation);
/* Searches a plan of at most `capacity_bytes` (0: the smallest). Stops when a plan is found or proved impossible, or
 * after `seconds` or `steps` (0: no such limit; if both are 0, a fixed number of steps); keeps the best plan found. A
 * checker that shares no code with the planner verifies the plan. */
SL_API int sl_allocation_solve(struct sl_allocation *allocation, uint64_t capacity_bytes, double seconds,
                               uint64_t steps, struct sl_diagnostics *d);
SL_API struct sl_allocation_summary sl_allocation_summarize(const struct sl_allocation *allocation);
SL_API void sl_allocation_write_csv(const struct sl_allocation *allocation, FILE *file); /* with a column `offset` */
SL_API int sl_allocation_write_svg(const struct sl_allocation *allocation, FILE *file);
SL_API void sl_allocation_close(struct sl_allocation *allocation);

#ifdef __cplusplus
}
#endif
#endif
