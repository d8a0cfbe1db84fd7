/* draw_mermaid.c: a graph as a Mermaid flow chart, which forges and many editors draw inside Markdown. A node is a box
 * with name and algorithm. Mermaid has no ports: in a picture with ports the arrows name the output, its collection and
 * the bytes per event.
 */
#include "report/draw.h"

static void write_box(const struct sl_drawing *d, uint32_t index, FILE *file) {
  static const char *const classes[] = {"kernel", "constant", "source", "sink"};
  const struct sl_box *box = &d->boxes[index];
  const struct sl_node *node = &d->graph->nodes[box->node];
  char events[96] = "", outputs[96] = "";
  if (!d->has_ports) {
    sl_box_events(d, box, events, sizeof events);
    sl_box_outputs(d, box, outputs, sizeof outputs);
  }
  if (box->count > 1)
    fprintf(file, "  n%u[[\"<b>%s: %u nodes</b><br/>%s", box->node, box->title, box->count,
            box->plugin ? box->plugin : "of several plugins");
  else
    fprintf(file, "  n%u[\"<b>%s</b><br/>%s%s", box->node, node->name, node->use, node->live ? "" : "<br/>(left out)");
  fprintf(file, "%s%s%s%s\"%s:::%s\n", *events ? "<br/>" : "", events, *outputs ? "<br/>" : "", outputs,
          box->count > 1 ? "]]" : "]", node->live ? classes[node->algorithm->kind & 3] : "dead");
}

static void write_arrow(const struct sl_drawing *d, const struct sl_arrow *arrow, FILE *file) {
  const struct sl_graph *g = d->graph;
  const struct sl_member *from = &g->nodes[arrow->from.node].algorithm->members[arrow->from.member];
  const uint32_t begin = sl_drawing_box(d, (uint32_t)arrow->from.node)->node;
  char label[48];
  sl_arrow_label(arrow, label, sizeof label);
  if (arrow->kind == SL_ARROW_EVENTS) {
    fprintf(file, "  n%u -. \"events%s: %s\" .-> n%u\n", begin, g->nodes[arrow->to].any_list ? " (any)" : "",
            from->name, sl_drawing_box(d, arrow->to)->node);
    return;
  }
  fprintf(file, "  n%u --", begin);
  if (d->has_ports)
    fprintf(file, " \"%s: %s%s%s\" --", from->name, from->collection->name, *label ? "<br/>" : "", label);
  fprintf(file, "> ");
  if (arrow->kind == SL_ARROW_OUTPUT)
    fprintf(file, "o%u([\"output %s\"])\n", arrow->to, g->outputs[arrow->to].name);
  else
    fprintf(file, "n%u\n", sl_drawing_box(d, arrow->to)->node);
}

int sl_drawing_write_mermaid(const struct sl_drawing *d, FILE *file) {
  fprintf(file, "flowchart TD\n");
  for (uint32_t b = 0; b < d->box_count; b++) write_box(d, b, file);
  for (uint32_t a = 0; a < d->arrow_count; a++) write_arrow(d, &d->arrows[a], file);
  fprintf(file,
          "  classDef source fill:#d8e9ff,stroke:#4a78b0\n  classDef kernel fill:#fff4d6,stroke:#a08030\n"
          "  classDef constant fill:#e8e8e8,stroke:#808080\n  classDef sink fill:#dcf3dc,stroke:#508050\n"
          "  classDef dead fill:#ffffff,stroke:#b0b0b0,stroke-dasharray:4\n");
  return SL_OK;
}
