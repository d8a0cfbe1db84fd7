/* summary.h: what the table and the JSON of a run share. */
#ifndef SL_REPORT_SUMMARY_H
#define SL_REPORT_SUMMARY_H

#include <sluice/sluice.h>

/* Size of the arena relative to the lower bound of any plan. */
static inline double sl_arena_ratio(const struct sl_summary *sum) {
  return sum->live_bytes_max ? (double)sum->arena_bytes / (double)sum->live_bytes_max : 1.0;
}

/* totals.c: the sums of TOTAL fields: a row per entry if the entries have names; without names a line per field, unless
 * `only_named`. `events`: number of events that they count. */
void sl_totals_write(const struct sl_summary *sum, const struct sl_run *run, uint64_t events, int only_named,
                     FILE *file);

#endif
