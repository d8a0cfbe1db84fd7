/* live.h: access to a run while it goes on, for the server of its page (serve/). */
#ifndef SL_SESSION_LIVE_H
#define SL_SESSION_LIVE_H

#include "execute/delivery.h"
#include "observe/metrics.h"
#include "results/files.h"
#include "results/outputs.h"

/* Parts of a session. Their content changes while the run goes on, except with the delivery lock held. */
struct sl_live {
  const struct sl_setup *setup;
  const struct sl_delivery *delivery;
  const struct sl_outputs *outputs;
  const struct sl_files *files;
  const struct sl_overflow_history *history;
  const struct sl_zmq *zmq;
  struct sl_metrics *metrics;
  const struct sl_statistics *statistics;
};

/* A server starts with this struct. All calls come from one thread at a time, with the delivery lock held unless stated
 * otherwise. */
struct sl_server {
  const struct sl_server_calls {
    /* The run begins: all parts are open, and nothing was delivered. Returns SL_OK, or an error that it has reported.
     */
    int (*begin)(struct sl_server *server, struct sl_session *session, const struct sl_live *live);
    void (*tick)(struct sl_server *server); /* about once a second */
    /* Around a change of the configuration: after `pause` nothing of the run may be used until `resume`, which begins
     * again with the same parts. Not called after an error between them, after which `end` is. */
    void (*pause)(struct sl_server *server);
    void (*resume)(struct sl_server *server);
    /* The run is about to end: `session` is not used any more after it has returned. Without the delivery lock. */
    void (*leave)(struct sl_server *server);
    /* The run has ended with this status. The parts are not used any more. */
    void (*end)(struct sl_server *server, int status);
  } * calls;
};

#endif
