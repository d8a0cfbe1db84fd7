/* sums_json.h: what a run has counted, as members of an open JSON object: for the summary, the configurations and
 * checkpoints. */
#ifndef SL_SUMS_JSON_H
#define SL_SUMS_JSON_H

#include "base/json.h"

#include <sluice/sluice.h>

/* A number of 64 bits in 16 hexadecimal digits; null if it is 0, which stands for a digest that was not made. */
void sl_digest_json(const char *key, uint64_t digest, struct sl_json *j);
/* Events with an error or a truncation. `offset`: name of the offset of an event, "byte" or "entry" of a feed. The file
 * is null for simulated and fed events. */
void sl_errors_json(const char *key, const struct sl_error_summary *errors, uint32_t count, const char *offset,
                    struct sl_json *j);
/* "outputs": [{port, items, digest}]. */
void sl_outputs_json(const struct sl_output_summary *outputs, uint32_t count, struct sl_json *j);
/* An entry of this array. */
void sl_output_json(const struct sl_output_summary *output, struct sl_json *j);
/* "totals": {OUTPUT: {NAME: {FIELD: value}}}; for entries without names {OUTPUT: {FIELD: [value of each entry]}}. A
 * value is a list if the field has several per entry. */
void sl_totals_json(const struct sl_total_summary *totals, uint32_t count, struct sl_json *j);
/* Number of totals that belong to the output of the first one; totals of an output are consecutive. */
uint32_t sl_totals_of_output(const struct sl_total_summary *totals, uint32_t count);

#endif
