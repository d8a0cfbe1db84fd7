/* draw.h: a checked graph as boxes and arrows, in the form that the writers of DOT and Mermaid share. */
#ifndef SL_DRAW_H
#define SL_DRAW_H

#include "session/inspect.h"

enum { SL_ARROW_DATA, SL_ARROW_EVENTS, SL_ARROW_OUTPUT };

/* From an output port to an input (DATA), to a node that runs on that event list (EVENTS), or to one of the graph's
 * outputs (OUTPUT). */
struct sl_arrow {
  uint32_t kind;
  struct sl_port from;
  uint32_t to;        /* node, or index among the graph's outputs */
  uint32_t to_member; /* DATA */
  double bytes;       /* of the fields that are read: planned bytes an event, or of a constant all; 0: unknown */
  uint32_t is_constant;
};

struct sl_drawing {
  const struct sl_graph *graph;
  struct sl_arrow *arrows;
  uint32_t arrow_count;
};

int sl_drawing_make(const struct sl_session *s, struct sl_drawing *drawing);
void sl_drawing_free(struct sl_drawing *drawing);

/* Does an arrow begin at this port? */
int sl_drawing_uses(const struct sl_drawing *drawing, uint32_t node, uint32_t member);

/* "32.1 KiB" (of a constant), "32.1 KiB/event"; "" where unknown. */
void sl_arrow_label(const struct sl_arrow *arrow, char *text, size_t size);

#endif
