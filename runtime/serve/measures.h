/* measures.h: counts of a run in the last seconds. See measures.c. */
#ifndef SL_SERVE_MEASURES_H
#define SL_SERVE_MEASURES_H

#include "serve/history.h"
#include "session/live.h"

/* A field of totals that counts events of named entries. Entries are numbered one field after another. */
struct sl_measured_total {
  uint32_t total, first_entry; /* index in the summary's `totals`; number of the first entry */
  int is_rate;                 /* it is the rate of its entries, which alarms judge; one field per output */
};

struct sl_measures {
  struct sl_live live;
  struct sl_recent clock; /* SL_CLOCK_... */
  struct sl_recent entries, errors, truncations;
  struct sl_recent times;  /* rows of the metrics' `times`, then of `node_ns` */
  struct sl_points points; /* curve 0: events per second; then the fraction of each entry */
  struct sl_measured_total *totals;
  uint32_t total_count, entry_count, time_count;
  double *expected; /* per entry: its count in the reference, or NAN; set by the caller */
  uint64_t *vector; /* for one vector of counts */
  uint32_t vector_size;
  uint64_t now_ns, last_event_ns; /* time of the last vector, and of the last one with more events */
};

enum { SL_CLOCK_NS, SL_CLOCK_EVENTS, SL_CLOCK_ERRORS, SL_CLOCK_VALUES };

/* Begins with the parts of a run, or of another configuration of it. SL_ENOMEM on failure. */
int sl_measures_open(struct sl_measures *m, const struct sl_live *live);
void sl_measures_close(struct sl_measures *m);
/* Adds the present counts; about once a second, with the delivery lock held. SL_ENOMEM on failure. */
int sl_measures_add(struct sl_measures *m);

/* Over the last `seconds` seconds, or since the beginning. */
double sl_measures_seconds(const struct sl_measures *m, uint32_t seconds);
uint64_t sl_measures_events(const struct sl_measures *m, uint32_t seconds);
double sl_measures_hz(const struct sl_measures *m, uint32_t seconds);

#endif
