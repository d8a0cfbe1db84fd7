/* where_events.cu: lines without code (where.h) over whole events. */
#include "where_line.h"

#define SL_ARGS         where_events_args
#define WHERE_EVENTS(M) LINE_OVER(M, events) WHERE_COMMON(M)
SL_ARGUMENTS(where_events, WHERE_EVENTS);

static const struct where_scope where_events_scopes[] = {WHERE_SCOPES_OF_EVENTS(struct where_events_args)};

WHERE_LINE(where_events, "events that satisfy an expression in the graph", events, WHERE_NO_CHILDREN,
           WHERE_ALL_ARE_VALID);

#define LINES(L) L(where_events)
LINES_OVER(events, LINES);
