/* draw_dot.c: a graph for Graphviz. A node is a table of three rows: its inputs, its name and algorithm, its outputs
 * with their collections; arrows go from port to port and are named with the bytes an event. Outputs that nobody reads
 * are grey. Event lists are dashed arrows to the node's name. */
#include "base/locale.h"
#include "report/draw.h"

#include <sluice/sluice.h>
#include <sluice/text.h>

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

static void write_node(const struct sl_drawing *d, uint32_t n, FILE *file) {
  static const char *const colors[] = {"#fff4d6", "#e8e8e8", "#d8e9ff", "#dcf3dc"}; /* by kind */
  const struct sl_node *node = &d->graph->nodes[n];
  fprintf(file, "  \"%s\" [tooltip=\"", node->name);
  write_text(node->algorithm->doc, file);
  fprintf(file, "\" label=<<TABLE BORDER=\"1\" CELLBORDER=\"0\" CELLSPACING=\"0\" BGCOLOR=\"%s\"%s>",
          colors[node->algorithm->kind & 3], node->live ? "" : " STYLE=\"dashed\" COLOR=\"gray\"");
  write_ports(d, n, SL_MEMBER_IN, file);
  fprintf(file, "<TR><TD PORT=\"name\" CELLPADDING=\"5\"><B>%s</B><BR/><FONT POINT-SIZE=\"11\">%s</FONT>%s</TD></TR>",
          node->name, node->use, node->live ? "" : "<BR/><FONT POINT-SIZE=\"10\">(left out)</FONT>");
  write_ports(d, n, SL_MEMBER_OUT, file);
  fprintf(file, "</TABLE>>];\n");
}

static void write_arrow(const struct sl_drawing *d, const struct sl_arrow *arrow, FILE *file) {
  const struct sl_graph *g = d->graph;
  char label[48];
  sl_arrow_label(arrow, label, sizeof label);
  fprintf(file, "  \"%s\":p%d:s -> ", g->nodes[arrow->from.node].name, arrow->from.member);
  switch (arrow->kind) {
    case SL_ARROW_DATA:
      fprintf(file, "\"%s\":p%u:n [label=\"  %s\"%s%s];\n", g->nodes[arrow->to].name, arrow->to_member, label,
              arrow->is_constant ? " color=gray55 fontcolor=gray40" : "",
              g->nodes[arrow->to].live ? "" : " style=dotted");
      break;
    case SL_ARROW_EVENTS:
      fprintf(file, "\"%s\":name [label=\"  events%s\" style=dashed color=\"#b03060\" fontcolor=\"#b03060\"];\n",
              g->nodes[arrow->to].name, g->nodes[arrow->to].any_list ? " (any)" : "");
      break;
    default:
      fprintf(file, "\"output %u\":n [label=\"  %s\"];\n", arrow->to, label);
  }
}

int sl_session_write_dot(const struct sl_session *s, FILE *file) {
  SL_IN_C_LOCALE(SL_ENOMEM);
  struct sl_drawing d;
  const int status = sl_drawing_make(s, &d);
  if (status < 0) return status;
  fprintf(file, "digraph sluice {\n  label=<");
  write_text(d.graph->description ? d.graph->description : sl_session_options(s)->graph_path, file);
  fprintf(file,
          ">;\n  labelloc=t;\n  fontname=\"Helvetica\";\n  nodesep=0.35;\n  ranksep=0.6;\n"
          "  node [shape=plain fontname=\"Helvetica\" fontsize=13];\n"
          "  edge [fontname=\"Helvetica\" fontsize=10 arrowsize=0.7];\n");
  for (uint32_t n = 0; n < d.graph->node_count; n++) write_node(&d, n, file);
  for (uint32_t o = 0; o < d.graph->output_count; o++)
    fprintf(file,
            "  \"output %u\" [shape=box style=\"rounded,filled\" fillcolor=\"#f3e3f7\" fontsize=11 "
            "label=\"output\\n%s\"];\n",
            o, d.graph->outputs[o].name);
  for (uint32_t a = 0; a < d.arrow_count; a++) write_arrow(&d, &d.arrows[a], file);
  fprintf(file, "}\n");
  sl_drawing_free(&d);
  return SL_OK;
}
