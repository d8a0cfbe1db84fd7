/* session.h: all parts of a run. Only session.c, which opens and closes them, and run.c, which runs them, include this
 * header. Each part has a header of its own and uses only the parts that it needs.
 */
#ifndef SL_SESSION_H
#define SL_SESSION_H

#include "execute/delivery.h"
#include "execute/order.h"
#include "execute/overflow_history.h"
#include "execute/replan.h"
#include "execute/setup.h"
#include "execute/slot.h"
#include "execute/source.h"
#include "observe/energy.h"
#include "observe/metrics.h"
#include "observe/summary.h"
#include "observe/times.h"
#include "observe/timestamps.h"
#include "observe/trace.h"
#include "observe/traffic.h"
#include "results/checkpoint.h"
#include "results/drawings.h"
#include "results/files.h"
#include "results/identity.h"
#include "results/outputs.h"
#include "results/report_file.h"
#include "results/rotation.h"
#include "results/sinks.h"
#include "zmq/hub.h"

/* A thread that flushes sinks and files about once a second. */
struct sl_ticker {
  struct sl_thread thread;
  pthread_cond_t wake;
  int ended;
};

struct sl_session {
  struct sl_setup setup;

  /* execute/ */
  struct sl_slot *slots;
  struct sl_reading reading;
  struct sl_order order;
  struct sl_overflow_history history;
  struct sl_delivery delivery;
  struct sl_replan replan;

  /* results/ */
  struct sl_identity identity;
  struct sl_outputs outputs;
  struct sl_sinks sinks;
  struct sl_drawings drawings;
  struct sl_files files;
  struct sl_rotation rotation;
  struct sl_checkpoint checkpoint;
  struct sl_report_file report;

  /* observe/ */
  struct sl_observers observers;
  struct sl_times times;
  struct sl_trace trace;
  struct sl_timestamps timestamps;
  struct sl_traffic traffic;
  struct sl_statistics statistics;
  struct sl_metrics metrics;
  struct sl_energy energy;

  struct sl_ticker ticker;
  struct sl_zmq zmq;
};

#endif
