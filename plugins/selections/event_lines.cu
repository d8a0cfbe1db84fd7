/* event_lines.cu: lines that judge events as a whole (README.md, "Lines"). */
#include "selections/line.h"

#define SL_ARGS        passthrough_args
#define PASSTHROUGH(M) LINE_OVER(M, events)
SL_ARGUMENTS(passthrough, PASSTHROUGH);

LINE(passthrough, "all events that it looks at", events) { return 1; }

#define LINES(L) L(passthrough)
LINES_OVER(events, LINES);
