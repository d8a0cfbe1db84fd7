/* draw.h: a checked graph as boxes and arrows, in the form that the writers of DOT and Mermaid share. A box is a node,
 * or a group of similar nodes; sl_drawing_options selects which nodes are drawn.
 */
#ifndef SL_DRAW_H
#define SL_DRAW_H

#include "session/inspect.h"

enum { SL_ARROW_DATA, SL_ARROW_EVENTS, SL_ARROW_OUTPUT };

struct sl_box {
  uint32_t node;      /* of a group: its first node */
  uint32_t count;     /* nodes; 1: no group */
  const char *title;  /* of a group: its family, or the list port that reads it */
  const char *plugin; /* of a group: the plugin of all its nodes; NULL: several */
};

/* From an output port to an input (DATA), to a node that runs on that event list (EVENTS), or to one of the graph's
 * outputs (OUTPUT). Arrows that are the same in the picture are one. */
struct sl_arrow {
  uint32_t kind;
  struct sl_port from;
  uint32_t to;        /* node, or index among the graph's outputs */
  uint32_t to_member; /* DATA */
  double bytes;       /* of the fields that are read: planned bytes per event, of a constant in all; 0: unknown */
  uint32_t is_constant;
};

struct sl_drawing {
  const struct sl_graph *graph;
  struct sl_box *boxes; /* in the order of the document */
  uint32_t box_count;
  uint32_t *box_of; /* per node: its box; UINT32_MAX: not drawn */
  struct sl_arrow *arrows;
  uint32_t arrow_count;
  uint32_t has_ports; /* ports, bytes, event lists and outputs are drawn; else they are text in the boxes, or nothing */
};

/* SL_EINVAL with a message: a node that the options name does not exist, or no node is left. */
int sl_drawing_make(const struct sl_session *s, const struct sl_drawing_options *options, struct sl_diagnostics *d,
                    struct sl_drawing *drawing);
void sl_drawing_free(struct sl_drawing *drawing);

/* The box of a node that is drawn. */
const struct sl_box *sl_drawing_box(const struct sl_drawing *drawing, uint32_t node);
/* Does something in the graph read this output port? */
int sl_drawing_uses(const struct sl_drawing *drawing, uint32_t node, uint32_t member);

/* "32.1 KiB" (of a constant), "32.1 KiB/event"; "" if unknown. */
void sl_arrow_label(const struct sl_arrow *arrow, char *text, size_t size);
/* "events: gec, no_errors": the makers of the event lists that the nodes of the box run on; "" if none. */
void sl_box_events(const struct sl_drawing *drawing, const struct sl_box *box, char *text, size_t size);
/* "output: decisions, totals": the graph's outputs that the nodes of the box make; "" if none. */
void sl_box_outputs(const struct sl_drawing *drawing, const struct sl_box *box, char *text, size_t size);

int sl_drawing_write_dot(const struct sl_drawing *drawing, const char *title, FILE *file);
int sl_drawing_write_mermaid(const struct sl_drawing *drawing, FILE *file);

#endif
