/* alarm_rules.h: the limits of alarms, as given with --alarm. */
#ifndef SL_SERVE_ALARM_RULES_H
#define SL_SERVE_ALARM_RULES_H

#include "base/diagnostics.h"

enum { SL_ALARM_ERRORS, SL_ALARM_SILENT, SL_ALARM_DISK, SL_ALARM_RATIO, SL_ALARM_RATE, SL_ALARM_KINDS };
const char *sl_alarm_kind_name(uint32_t kind);

/* Limits of one kind of alarm. A limit that is not set is not finite. */
struct sl_alarm_rule {
  uint32_t kind;
  uint32_t is_absolute; /* RATE: in Hz, else a fraction of events; DISK: in bytes, else a fraction */
  double low, high;     /* ERRORS, RATE: fraction or Hz; SILENT: seconds; DISK: free space; RATIO */
  const char *pattern;  /* RATE: of the names of entries, as in a shell; owned by the list */
  const char *text;     /* as given; NULL: a default */
};

struct sl_alarm_rules {
  struct sl_alarm_rule *at;
  uint32_t count;
  char **texts; /* owned */
};

/* Reads "errors=1%", "silent=60", "disk=5%", "disk=10GiB", "ratio=0.5..2", "rate:PATTERN=LOW..HIGHUNIT" (% or Hz; LOW
 * or HIGH may be left out) and "KIND=off". Limits that are not given have their defaults; there is none for rates.
 * Returns SL_EINVAL, reported, if a text is none of these. */
int sl_alarm_rules_read(struct sl_alarm_rules *r, const char *const *texts, struct sl_diagnostics *d);
void sl_alarm_rules_close(struct sl_alarm_rules *r);

#endif
