/* alarms.h: alarms of a run: which limits are exceeded, since when, and which were acknowledged. See alarms.c. */
#ifndef SL_SERVE_ALARMS_H
#define SL_SERVE_ALARMS_H

#include "serve/alarm_rules.h"

#include <pthread.h>

struct sl_json;

/* One thing that a rule judges: a named entry, a folder, the errors or the input. */
struct sl_alarm {
  char id[160]; /* "rate-Hlt1TrackMVA" */
  char text[320];
  const struct sl_alarm_rule *rule;
  uint64_t since_ns; /* the last change of `is_active` */
  double value;
  int is_active, is_acknowledged, is_shown;
};

struct sl_alarms {
  struct sl_alarm_rules rules;
  pthread_mutex_t lock; /* of the alarms */
  struct sl_alarm *at;
  uint32_t count, capacity;
};

/* Returns the alarm of a rule for a thing ("" if the rule judges one thing only), made inactive if it is new; NULL if
 * out of memory. Valid until the next call. With the lock held. */
struct sl_alarm *sl_alarm_of(struct sl_alarms *a, const struct sl_alarm_rule *rule, const char *thing);
/* Sets its state; `format` describes an active alarm. With the lock held. */
void sl_alarm_set(struct sl_alarm *alarm, int is_active, double value, uint64_t now_ns, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* Returns 0 if no alarm with this id is shown. Any thread. */
int sl_alarm_acknowledge(struct sl_alarms *a, const char *id);
void sl_alarms_write_json(struct sl_alarms *a, uint64_t now_ns, struct sl_json *j);
void sl_alarms_write_metrics(struct sl_alarms *a, FILE *file);
void sl_alarms_close(struct sl_alarms *a);

/* Returns 1 if `count` of `events` events is below or above the limits of a fraction, by more than `SL_ALARM_SIGMA`
 * standard deviations of the binomial distribution. */
enum { SL_ALARM_SIGMA = 5 };
int sl_alarm_is_outside(const struct sl_alarm_rule *rule, double count, double events);

#endif
