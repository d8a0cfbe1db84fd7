/* metrics.h: the file of --metrics. See metrics.c. */
#ifndef SL_METRICS_H
#define SL_METRICS_H

#include "execute/order.h"
#include "observe/summary.h"
#include "results/configurations.h"
#include "results/files.h"
#include "zmq/hub.h"

/* Sums over slots. A slot adds its counts when it has delivered a slice. */
enum { SL_METRICS_EDGES = 15 };
struct sl_metrics {
  struct sl_statistics *statistics; /* statistics of the run, and its parts */
  const struct sl_files *files;
  struct sl_delivery *delivery; /* its lock protects the sums, also while the file is written */
  struct sl_order *order;
  struct sl_energy *energy;
  const struct sl_zmq *zmq;
  const struct sl_configurations *configurations;
  /* Writes further metrics, or NULL; called with the lock held. */
  void (*write_more)(void *context, FILE *file);
  void *context;
  int is_open;
  int has_file;                    /* the file of --metrics is written */
  double hz;                       /* events per second since the tick before the last one */
  uint64_t *node_ns, *node_events; /* per node summary */
  uint64_t *times;                 /* per activity, then per node */
  uint64_t *used_max;              /* per budget summary */
  uint64_t slices[SL_METRICS_EDGES + 1], slice_ns, retries;
  uint64_t device_slices[SL_DEVICES_MAX];
  uint64_t tick_ns, tick_events; /* time and number of events of the last tick */
  /* Counts of each slot that the sums contain. */
  struct sl_metrics_slot {
    uint64_t *node_ns, *node_events, *times, retries;
  } * slots;
};

extern const struct sl_observer_calls sl_metrics_observer; /* its context: struct sl_metrics */

/* Collects the sums if --metrics is given, or if `is_served`, for sl_metrics_write. The members before `write_more` are
 * set. */
int sl_metrics_open(struct sl_metrics *m, int is_served);
/* Writes all metrics in the Prometheus format, with the delivery lock held. */
void sl_metrics_write(const struct sl_metrics *m, FILE *file);
void sl_metrics_close(struct sl_metrics *m); /* writes the file a last time */
/* Around a change of the configuration: the counts per node, buffer and output begin again; the others go on. */
void sl_metrics_end_configuration(struct sl_metrics *m);
int sl_metrics_begin_configuration(struct sl_metrics *m);

#endif
