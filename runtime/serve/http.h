/* http.h: the HTTP side of a server: a thread that answers requests from published texts. See http.c. */
#ifndef SL_SERVE_HTTP_H
#define SL_SERVE_HTTP_H

#include "base/thread.h"
#include "serve/address.h"
#include "serve/alarms.h"
#include "serve/texts.h"

#include <stdatomic.h>

struct MHD_Daemon;
struct sl_mhd_library;

/* Work that takes longer than an answer: a change of the run (SL_ROUTE_CONFIG, with the body of the request), or the
 * drawing of the graph (SL_ROUTE_TEXT), which it publishes. Returns the HTTP status, and the answer as JSON, to be
 * freed; a drawing that was published has none. Called in a thread of its own, one call at a time. */
typedef unsigned sl_http_work(void *context, uint32_t kind, const char *body, size_t bytes, char **answer);

/* Requests a drawing of an event: see sl_drawings_request. `sink` and `name` may be NULL. SL_EINTERRUPTED: there is no
 * run. */
struct sl_drawing;
typedef int sl_http_draw(void *context, const char *sink, const char *name, uint64_t after,
                         struct sl_drawing **drawing);

struct sl_http {
  const struct sl_mhd_library *library;
  struct MHD_Daemon *daemon;
  struct sl_http_worker {
    struct sl_thread thread;
    atomic_int is_busy;
    pthread_mutex_t lock; /* held while a thread is started */
    int has_ended;        /* no thread is started any more */
  } worker;
  struct sl_texts *texts;
  struct sl_alarms *alarms;
  sl_http_work *work;
  sl_http_draw *draw;
  void *context;
  const char *token; /* "": no token */
  int needs_token;   /* for all requests */
};

/* Starts to listen. `a` gets the port that is used. The members after `worker` are set by the caller.
 * Returns SL_EIO, with the reason. */
int sl_http_start(struct sl_http *h, struct sl_address *a, char *reason, size_t reason_size);
/* Ends all connections and the threads. Does nothing if it was not started. */
void sl_http_stop(struct sl_http *h);
/* Returns {"error": reason}, to be freed, or NULL. */
char *sl_http_error_text(const char *reason);

#endif
