/* status.h: /status.json. See status.c. */
#ifndef SL_SERVE_STATUS_H
#define SL_SERVE_STATUS_H

#include "serve/alarms.h"
#include "serve/disks.h"
#include "serve/measures.h"
#include "serve/reference.h"
#include "session/inspect.h"

/* A message, and the second of the run in which it was seen. */
struct sl_seen {
  const struct sl_diagnostic *message;
  double seconds;
};
enum { SL_LOG_LINES = 50 };

struct sl_status {
  struct sl_session *session; /* NULL: no run has begun */
  const char *state_of_end;   /* NULL: the run has not ended */
  struct sl_measures *measures;
  struct sl_alarms *alarms;
  struct sl_reference *reference;
  struct sl_disks *disks;
  struct sl_diagnostics *diagnostics;
  size_t seen_count; /* messages so far; the last SL_LOG_LINES of them are in `log` */
  struct sl_seen log[SL_LOG_LINES];
};

/* Notes the messages since the last call. With the delivery lock held, like sl_status_write. */
void sl_status_see_messages(struct sl_status *s);
void sl_status_write(struct sl_status *s, struct sl_json *j);
/* Before the first run: only that the server waits. */
void sl_status_write_idle(struct sl_json *j);

#endif
