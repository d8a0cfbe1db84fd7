/* draw_dot.c: a graph for Graphviz. In a picture with ports a node is a table of three rows: its inputs, its name and
 * algorithm, its outputs with their collections; arrows go from port to port and have the bytes per event, and event
 * lists are dashed arrows to the node's name. Outputs without a reader are grey. In a picture without ports a node is
 * its name, its algorithm, the event lists that it runs on and the graph's outputs that it makes.
 */
#include "report/draw.h"

#include <sluice/text.h>

enum { TEXT_BYTES = 96 };

static void write_text(const char *text, FILE *file) {
  char written[SL_TEXT_BYTES];
  while (*text) {
    if (*text == '\\') fputc('\\', file); /* it escapes */
    text += sl_text_xml(text, written);
    fputs(written, file);
  }
}

/* A row of ports, as a table of its own: the rows of a node differ in their columns. */
static void write_ports(const struct sl_drawing *d, uint32_t n, uint32_t kind, FILE *file) {
  const struct sl_algorithm *a = d->graph->nodes[n].algorithm;
  uint32_t written = 0;
  for (uint32_t m = 0; m < a->member_count; m++) {
    if (a->members[m].kind != kind) continue;
    const int is_input = kind == SL_MEMBER_IN;
    const int used = is_input ? d->graph->nodes[n].inputs[m].count > 0 : sl_drawing_uses(d, n, m);
    if (written++ == 0)
      fprintf(file, "<TR><TD><TABLE BORDER=\"0\" CELLBORDER=\"1\" CELLSPACING=\"0\" CELLPADDING=\"3\"><TR>");
    fprintf(file, "<TD PORT=\"p%u\" BGCOLOR=\"white\"%s><FONT POINT-SIZE=\"10\"%s>", m, used ? "" : " COLOR=\"gray\"",
            used ? "" : " COLOR=\"gray\"");
    write_text(a->members[m].name, file);
    if (!is_input) {
      fprintf(file, "<BR/><I>");
      write_text(a->members[m].collection->name, file);
      fprintf(file, "</I>");
    }
    fprintf(file, "</FONT></TD>");
  }
  if (written > 0) fprintf(file, "</TR></TABLE></TD></TR>");
}

static void write_small(const char *text, FILE *file) {
  if (!*text) return;
  fprintf(file, "<BR/><FONT POINT-SIZE=\"10\">");
  write_text(text, file);
  fprintf(file, "</FONT>");
}

/* The rows of text of a box, below its title. */
static void write_lists(const struct sl_drawing *d, const struct sl_box *box, FILE *file) {
  char text[TEXT_BYTES];
  if (d->has_ports) return;
  sl_box_events(d, box, text, sizeof text);
  write_small(text, file);
  sl_box_outputs(d, box, text, sizeof text);
  write_small(text, file);
}

static void write_node(const struct sl_drawing *d, const struct sl_box *box, FILE *file) {
  static const char *const colors[] = {"#fff4d6", "#e8e8e8", "#d8e9ff", "#dcf3dc"}; /* by kind */
  const uint32_t n = box->node;
  const struct sl_node *node = &d->graph->nodes[n];
  fprintf(file, "  \"%s\" [tooltip=\"", node->name);
  write_text(node->algorithm->doc, file);
  fprintf(file, "\" label=<<TABLE BORDER=\"1\" CELLBORDER=\"0\" CELLSPACING=\"0\" BGCOLOR=\"%s\"%s>",
          colors[node->algorithm->kind & 3], node->live ? "" : " STYLE=\"dashed\" COLOR=\"gray\"");
  if (d->has_ports) write_ports(d, n, SL_MEMBER_IN, file);
  fprintf(file, "<TR><TD PORT=\"name\" CELLPADDING=\"%d\"><B>%s</B><BR/><FONT POINT-SIZE=\"%d\">%s</FONT>",
          d->has_ports ? 5 : 4, node->name, d->has_ports ? 11 : 10, node->use);
  if (!node->live) fprintf(file, "<BR/><FONT POINT-SIZE=\"10\">(left out)</FONT>");
  write_lists(d, box, file);
  fprintf(file, "</TD></TR>");
  if (d->has_ports) write_ports(d, n, SL_MEMBER_OUT, file);
  fprintf(file, "</TABLE>>];\n");
}

/* A box with a second frame; the tooltip has the names of all its nodes. */
static void write_group(const struct sl_drawing *d, const struct sl_box *box, FILE *file) {
  const uint32_t index = (uint32_t)(box - d->boxes);
  char title[TEXT_BYTES];
  fprintf(file, "  \"%s\" [tooltip=\"", d->graph->nodes[box->node].name);
  for (uint32_t n = box->node; n < d->graph->node_count; n++)
    if (d->box_of[n] == index) fprintf(file, "%s%s", n == box->node ? "" : ", ", d->graph->nodes[n].name);
  fprintf(file,
          "\" label=<<TABLE BORDER=\"1\" CELLBORDER=\"1\" CELLSPACING=\"3\" BGCOLOR=\"#fff4d6\">"
          "<TR><TD PORT=\"name\" CELLPADDING=\"5\"><B>");
  snprintf(title, sizeof title, "%s: %u nodes", box->title, box->count);
  write_text(title, file);
  fprintf(file, "</B>");
  write_small(box->plugin ? box->plugin : "of several plugins", file);
  write_lists(d, box, file);
  fprintf(file, "</TD></TR></TABLE>>];\n");
}

/* The end of an arrow at a node: its port, its name, or, in a picture without ports, the box. */
static void write_end(const struct sl_drawing *d, uint32_t node, uint32_t member, const char *side, FILE *file) {
  const struct sl_box *box = sl_drawing_box(d, node);
  fprintf(file, "\"%s\"", d->graph->nodes[box->node].name);
  if (d->has_ports && box->count == 1)
    fprintf(file, ":p%u:%s", member, side);
  else if (d->has_ports)
    fprintf(file, ":name");
}

static void write_arrow(const struct sl_drawing *d, const struct sl_arrow *arrow, FILE *file) {
  const struct sl_graph *g = d->graph;
  char label[48];
  sl_arrow_label(arrow, label, sizeof label);
  fprintf(file, "  ");
  write_end(d, (uint32_t)arrow->from.node, (uint32_t)arrow->from.member, "s", file);
  fprintf(file, " -> ");
  switch (arrow->kind) {
    case SL_ARROW_DATA:
      write_end(d, arrow->to, arrow->to_member, "n", file);
      if (d->has_ports)
        fprintf(file, " [label=\"  %s\"%s%s]", label, arrow->is_constant ? " color=gray55 fontcolor=gray40" : "",
                g->nodes[arrow->to].live ? "" : " style=dotted");
      else if (!g->nodes[arrow->to].live)
        fprintf(file, " [style=dotted]");
      fprintf(file, ";\n");
      break;
    case SL_ARROW_EVENTS:
      fprintf(file, "\"%s\":name [label=\"  events%s\" style=dashed color=\"#b03060\" fontcolor=\"#b03060\"];\n",
              g->nodes[sl_drawing_box(d, arrow->to)->node].name, g->nodes[arrow->to].any_list ? " (any)" : "");
      break;
    default:
      fprintf(file, "\"output %u\":n [label=\"  %s\"];\n", arrow->to, label);
  }
}

int sl_drawing_write_dot(const struct sl_drawing *d, const char *title, FILE *file) {
  fprintf(file, "digraph sluice {\n  label=<");
  write_text(title, file);
  fprintf(file,
          ">;\n  labelloc=t;\n  fontname=\"Helvetica\";\n  nodesep=%s;\n  ranksep=%s;\n"
          "  node [shape=plain fontname=\"Helvetica\" fontsize=13];\n"
          "  edge [fontname=\"Helvetica\" fontsize=10 arrowsize=0.7];\n",
          d->has_ports ? "0.35" : "0.2", d->has_ports ? "0.6" : "0.35");
  for (uint32_t b = 0; b < d->box_count; b++)
    if (d->boxes[b].count > 1)
      write_group(d, &d->boxes[b], file);
    else
      write_node(d, &d->boxes[b], file);
  for (uint32_t o = 0; d->has_ports && o < d->graph->output_count; o++)
    if (d->box_of[d->graph->outputs[o].port.node] != UINT32_MAX)
      fprintf(file,
              "  \"output %u\" [shape=box style=\"rounded,filled\" fillcolor=\"#f3e3f7\" fontsize=11 "
              "label=\"output\\n%s\"];\n",
              o, d->graph->outputs[o].name);
  for (uint32_t a = 0; a < d->arrow_count; a++) write_arrow(d, &d->arrows[a], file);
  fprintf(file, "}\n");
  return SL_OK;
}
