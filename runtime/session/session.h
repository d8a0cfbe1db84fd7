/* session.h: all parts of a run. Only the files of this folder that open and close them (session.c, parts.c), run them
 * (run.c) and exchange their configuration (reload.c, exchange.c) include this header. Each part has a header of its
 * own and uses only the parts that it needs.
 */
#ifndef SL_SESSION_H
#define SL_SESSION_H

#include "constants/conditions.h"
#include "execute/delivery.h"
#include "execute/order.h"
#include "execute/overflow_history.h"
#include "execute/replan.h"
#include "execute/setup.h"
#include "execute/slot.h"
#include "execute/source.h"
#include "observe/energy.h"
#include "observe/explain.h"
#include "observe/metrics.h"
#include "observe/summary.h"
#include "observe/times.h"
#include "observe/timestamps.h"
#include "observe/trace.h"
#include "observe/traffic.h"
#include "results/checkpoint.h"
#include "results/configurations.h"
#include "results/drawings.h"
#include "results/event_records.h"
#include "results/files.h"
#include "results/identity.h"
#include "results/outputs.h"
#include "results/report_file.h"
#include "results/rotation.h"
#include "results/sinks.h"
#include "session/options.h"
#include "zmq/hub.h"

/* A thread that flushes sinks and files about once a second. */
struct sl_ticker {
  struct sl_thread thread;
  pthread_cond_t wake;
  int ended;
};

struct sl_candidate;

/* Copies of the texts of a change that options refer to. */
struct sl_reload_texts {
  char *graph_text;
  char **sets, **uses; /* NULL-terminated */
};

/* Changes of the configuration. */
struct sl_reloading {
  struct sl_options options;     /* as the session was opened */
  pthread_mutex_t checking;      /* held while a change is checked */
  pthread_mutex_t lock;          /* protects what follows */
  struct sl_candidate *pending;  /* a checked configuration that has not taken effect, or NULL */
  int is_possible;               /* the run reads slices */
  int has_failed;                /* a change has failed and left parts of the session closed: the run ends */
  struct sl_candidate *replaced; /* with options.keeps_batches: configurations with batches, the last one first */
  struct sl_reload_texts texts;  /* of the present configuration, in its options */
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
  struct sl_constant_conditions conditions;

  /* results/ */
  struct sl_identity identity;
  struct sl_outputs outputs;
  struct sl_sinks sinks;
  struct sl_drawings drawings;
  struct sl_event_records event_records; /* with options.digest 2 and a report */
  struct sl_files files;
  struct sl_rotation rotation;
  struct sl_checkpoint checkpoint;
  struct sl_report_file report;
  struct sl_configurations configurations;
  struct sl_reloading reload;
  struct sl_constant *constants; /* list of sl_session_constants, in one block; or NULL */

  /* observe/ */
  struct sl_observers observers;
  struct sl_times times;
  struct sl_trace trace;
  struct sl_timestamps timestamps;
  struct sl_explaining explaining;
  struct sl_traffic traffic;
  struct sl_statistics statistics;
  struct sl_metrics metrics;
  struct sl_energy energy;

  struct sl_ticker ticker;
  struct sl_zmq zmq;
};

/* parts.c: the parts of one configuration. Around calls of its plugins, the setup has the first bytes of the input. */
void sl_parts_give_input(struct sl_setup *s, const struct sl_input_head *begin);
void sl_parts_take_input(struct sl_setup *s);
int sl_parts_open(struct sl_session *sn);
void sl_parts_close(struct sl_session *sn);
int sl_parts_open_slots(struct sl_session *sn);
void sl_parts_close_slots(struct sl_session *sn);

/* exchange.c: from now on sl_session_reload is possible. */
void sl_reload_begin(struct sl_session *sn);
/* When no slice is in flight: exchanges the configuration if a change is pending and the run goes on. Returns 1 if the
 * run continues; 0 at its end, after which no change is possible; or an error. */
int sl_reload_exchange(struct sl_session *sn);
/* The run has ended: no change is possible any more. */
void sl_reload_end(struct sl_session *sn);
void sl_reload_texts_free(struct sl_reload_texts *texts);

#endif
