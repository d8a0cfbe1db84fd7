/* summary.h: what the table and the JSON of a run share. */
#ifndef SL_REPORT_SUMMARY_H
#define SL_REPORT_SUMMARY_H

#include <sluice/sluice.h>

/* Size of the arena relative to the lower bound of any plan. */
static inline double sl_arena_ratio(const struct sl_summary *sum) {
  return sum->live_bytes_max ? (double)sum->arena_bytes / (double)sum->live_bytes_max : 1.0;
}

struct sl_json;

/* totals.c: the sums of TOTAL fields. Table: a row per entry if the entries have names; without names a line per field,
 * unless `only_named`. JSON: {OUTPUT: {NAME: {FIELD: value}}}; without names {OUTPUT: {FIELD: [value of each entry]}}.
 * A value is a list if the field has several per entry. */
void sl_totals_write(const struct sl_summary *sum, int only_named, FILE *file);
void sl_totals_json(const struct sl_summary *sum, struct sl_json *j);

#endif
