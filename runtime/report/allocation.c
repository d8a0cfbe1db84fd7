/* allocation.c: the planner alone, on a problem from a file: sl_allocation of sluice.h. */
#include "base/locale.h"
#include "base/processor.h"
#include "plan/csv.h"
#include "report/plan_picture.h"

#include <sluice/planner.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct sl_allocation {
  char *path;
  struct sl_plan_csv csv;
  struct sl_plan_result result;
  double seconds;
};

SL_ANY_PROCESSOR int sl_allocation_open(const char *csv_path, struct sl_diagnostics *d,
                                        struct sl_allocation **allocation) {
  if (sl_processor_check(d) < 0) return SL_EINVAL;
  SL_IN_C_LOCALE(SL_ENOMEM);
  struct sl_allocation *a = calloc(1, sizeof *a);
  char *path = strdup(csv_path);
  if (!a || !path) {
    sl_diagnose(d, SL_ERROR, NULL, NULL, NULL, "%s: %s", csv_path, sl_error_text(SL_ENOMEM));
    free(a);
    free(path);
    return SL_ENOMEM;
  }
  a->path = path;
  const int status = sl_plan_csv_read(csv_path, d, &a->csv);
  if (status < 0)
    sl_allocation_close(a);
  else
    *allocation = a;
  return status;
}

static double now_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int sl_allocation_solve(struct sl_allocation *a, uint64_t capacity_bytes, double seconds, uint64_t steps,
                        struct sl_diagnostics *d) {
  SL_IN_C_LOCALE(SL_ENOMEM);
  const struct sl_plan_request request = {a->csv.buffers, a->csv.count, 1, capacity_bytes, seconds, steps};
  const struct sl_location location = {a->path, NULL, 0, 0};
  const double begin = now_seconds();
  int status = sl_plan_solve(&request, &a->result);
  a->seconds = now_seconds() - begin;
  if (status < 0) {
    sl_diagnose(d, SL_ERROR, &location, NULL, NULL, "the buffers could not be placed: %s", sl_error_text(status));
    return status;
  }
  char reason[256];
  status = sl_plan_verify(a->csv.buffers, a->csv.count, 1, a->result.arena_bytes, reason, sizeof reason);
  if (status < 0) sl_diagnose(d, SL_ERROR, &location, NULL, NULL, "the plan is wrong: %s", reason);
  return status;
}

struct sl_allocation_summary sl_allocation_summarize(const struct sl_allocation *a) {
  return (struct sl_allocation_summary){.arena_bytes = a->result.arena_bytes,
                                        .lower_bound_bytes = a->result.lower_bound_bytes,
                                        .least_bytes = a->result.least_bytes,
                                        .steps = a->result.steps,
                                        .seconds = a->seconds,
                                        .buffers = a->csv.count,
                                        .optimal = a->result.optimal};
}

void sl_allocation_write_csv(const struct sl_allocation *a, FILE *file) {
  SL_IN_C_LOCALE();
  sl_plan_csv_write(&a->csv, file);
}

int sl_allocation_write_svg(const struct sl_allocation *a, FILE *file) {
  SL_IN_C_LOCALE(SL_ENOMEM);
  struct sl_plan_bar *bars = calloc(a->csv.count + (size_t)1, sizeof *bars);
  if (!bars) return SL_ENOMEM;
  struct sl_plan_picture picture = {.title = a->path,
                                    .bars = bars,
                                    .bar_count = a->csv.count,
                                    .first_step = UINT32_MAX,
                                    .arena_bytes = a->result.arena_bytes,
                                    .lower_bound_bytes = a->result.lower_bound_bytes};
  for (uint32_t i = 0; i < a->csv.count; i++) {
    const struct sl_plan_buffer *b = &a->csv.buffers[i];
    bars[i] = (struct sl_plan_bar){.name = a->csv.ids[i],
                                   .bytes = b->size,
                                   .offset = b->offset,
                                   .lower = b->lower,
                                   .upper = b->upper,
                                   .reserved_from = b->lower,
                                   .reserved_until = b->upper,
                                   .group = i};
    if (b->lower < picture.first_step) picture.first_step = b->lower;
    if (b->upper > picture.end_step) picture.end_step = b->upper;
  }
  if (a->csv.count == 0) picture.first_step = 0;
  sl_plan_picture_write(&picture, file);
  free(bars);
  return SL_OK;
}

void sl_allocation_close(struct sl_allocation *a) {
  if (!a) return;
  sl_plan_csv_free(&a->csv);
  free(a->path);
  free(a);
}
