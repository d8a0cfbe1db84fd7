/* sums_json.h: what a run has counted, as members of an open JSON object: for the summary and for checkpoints. */
#ifndef SL_SUMS_JSON_H
#define SL_SUMS_JSON_H

#include "base/json.h"

#include <sluice/sluice.h>

/* A number of 64 bits in 16 hexadecimal digits. */
void sl_json_digest(struct sl_json *j, const char *key, uint64_t digest);
/* Events with an error or a truncation. `offset`: name of the offset of an event, "byte" or "entry" of a feed. The file
 * is null for simulated and fed events. */
void sl_json_errors(struct sl_json *j, const char *key, const struct sl_error_summary *errors, uint32_t count,
                    const char *offset);
/* An entry of the array of outputs. `with_digest` 0: the digest is null. */
void sl_json_output(struct sl_json *j, const struct sl_output_summary *output, int with_digest);
/* "totals": {OUTPUT: {NAME: {FIELD: value}}}; for entries without names {OUTPUT: {FIELD: [value of each entry]}}. A
 * value is a list if the field has several per entry. */
void sl_json_totals(struct sl_json *j, const struct sl_total_summary *totals, uint32_t count);
/* Number of totals that belong to the output of the first one; totals of an output are consecutive. */
uint32_t sl_totals_of_output(const struct sl_total_summary *totals, uint32_t count);

#endif
