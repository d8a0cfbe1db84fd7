/* drawings.h: drawings of events on request, made by the sinks that can draw. See drawings.c. */
#ifndef SL_DRAWINGS_H
#define SL_DRAWINGS_H

#include "execute/observer.h"

#include <pthread.h>

enum { SL_DRAWING_REQUESTS = 8, SL_DRAWING_SECONDS = 10 /* a request that is not repeated for so long ends */ };

/* A drawing. It stays unchanged until its last user releases it, also after the end of the session. */
struct sl_drawing {
  uint64_t serial; /* in the order of the drawings of the run, from 1 */
  uint64_t event;  /* event number in the run */
  uint32_t run;
  atomic_uint users;
  uint64_t drawn_ns; /* when it was made, by sl_now_ns */
  uint64_t bytes;
  char *text; /* an SVG document; ends with a zero byte, which `bytes` does not count */
};

/* A sink that can draw. */
struct sl_drawer {
  const char *name; /* of the node */
  uint32_t node;
  atomic_uint has_failed;                 /* its `draw` has failed: it draws no more */
  atomic_uint_fast64_t drawings, dropped; /* dropped: too long, or no memory */
};

/* Names by which events can be chosen: those of the entries of an output of bits or indices (struct sl_names). */
struct sl_drawing_names {
  const char *label; /* what an entry is: "line" */
  const char *const *names;
  uint32_t count;
  uint32_t kind, output, values_field, offsets_field; /* where and how the entries that an event passes are stored */
};

/* The content of a request: events that pass entry `name` of `names[group]`; group SL_DRAWING_ANY: any event. */
struct sl_drawing_key {
  uint32_t drawer, group, name;
};
enum { SL_DRAWING_ANY = UINT32_MAX };

struct sl_drawing_request {
  struct sl_drawing_key key;
  uint32_t is_live;
  uint64_t requested_ns, due_ns; /* last request; earliest time of the next drawing, also for a later request */
  struct sl_drawing *newest;
};

struct sl_drawings {
  struct sl_setup *setup; /* NULL: not open */
  uint64_t (*clock)(void);
  struct sl_drawer *drawers;
  struct sl_drawing_names *names;
  uint32_t drawer_count, group_count;
  atomic_uint live;     /* number of live requests */
  pthread_mutex_t lock; /* protects what follows; never held while a sink draws */
  struct sl_drawing_request requests[SL_DRAWING_REQUESTS];
  uint64_t serial;
};

struct sl_identity;
extern const struct sl_observer_calls sl_drawings_observer; /* its context: struct sl_drawings */

int sl_drawings_open(struct sl_drawings *d, struct sl_setup *s, const struct sl_identity *identity);
/* No other thread may be in a call. */
void sl_drawings_close(struct sl_drawings *d);

/* Requests, for SL_DRAWING_SECONDS, drawings of the newest event that passes `name`, or with NULL of any event, by the
 * sink `sink`, or with NULL by the first one that can draw. If a name occurs in several outputs, it is that of the
 * first one. Callable from any thread while the session is open. Returns 1 and the newest drawing, to be released, if
 * its serial number is above `after`; 0: there is no such drawing yet; SL_EINVAL: there is no such sink or name;
 * SL_EPLUGIN: the sink has failed to draw, as the diagnostics report. */
int sl_drawings_request(struct sl_drawings *d, const char *sink, const char *name, uint64_t after,
                        struct sl_drawing **drawing);
void sl_drawing_release(struct sl_drawing *drawing); /* NULL: does nothing */

#endif
