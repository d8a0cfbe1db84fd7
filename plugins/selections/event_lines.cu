/* event_lines.cu: lines that judge events as a whole (README.md, "Lines"). */
#include "selections/line.h"

#define SL_ARGS        passthrough_args
#define PASSTHROUGH(M) LINE_OF_EVENTS(M)
SL_ARGUMENTS(passthrough, PASSTHROUGH);

static SL_DEVICE uint32_t passthrough_accepts(const struct passthrough_args *a, uint32_t event) {
  (void)a, (void)event;
  return 1;
}

LINE(passthrough, "all events that it looks at", events)

#define LINES(L) L(passthrough)
LINES_OF_EVENTS(LINES);
