/* judge.h: sets the alarms of a run from its counts. See judge.c. */
#ifndef SL_SERVE_JUDGE_H
#define SL_SERVE_JUDGE_H

#include "serve/alarms.h"
#include "serve/disks.h"
#include "serve/measures.h"
#include "serve/reference.h"

/* Returns SL_EINVAL, reported, if a pattern of a rule matches no entry. */
int sl_judge_check(const struct sl_alarms *a, const struct sl_measures *m, struct sl_diagnostics *d);
/* `reference` is not open without --reference. */
void sl_judge(struct sl_alarms *a, const struct sl_measures *m, const struct sl_reference *reference,
              const struct sl_disks *disks);
/* The run has ended: no alarm is active. */
void sl_judge_end(struct sl_alarms *a, uint64_t now_ns);

#endif
