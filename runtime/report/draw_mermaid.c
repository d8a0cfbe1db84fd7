/* draw_mermaid.c: a graph as a Mermaid flow chart, which forges and many editors draw inside Markdown. A node is a box
 * with name and algorithm; Mermaid has no ports, so that arrows name them: output, collection, input, bytes an event.
 */
#include "base/locale.h"
#include "report/draw.h"

#include <sluice/sluice.h>

static void write_node(const struct sl_graph *g, uint32_t n, FILE *file) {
  static const char *const classes[] = {"kernel", "constant", "source", "sink"};
  const struct sl_node *node = &g->nodes[n];
  fprintf(file, "  n%u[\"<b>%s</b><br/>%s%s\"]:::%s\n", n, node->name, node->use, node->live ? "" : "<br/>(left out)",
          node->live ? classes[node->algorithm->kind & 3] : "dead");
}

static void write_arrow(const struct sl_graph *g, const struct sl_arrow *arrow, FILE *file) {
  const struct sl_member *from = &g->nodes[arrow->from.node].algorithm->members[arrow->from.member];
  char label[48];
  sl_arrow_label(arrow, label, sizeof label);
  if (arrow->kind == SL_ARROW_EVENTS) {
    fprintf(file, "  n%d -. \"events%s: %s\" .-> n%u\n", arrow->from.node, g->nodes[arrow->to].any_list ? " (any)" : "",
            from->name, arrow->to);
    return;
  }
  fprintf(file, "  n%d -- \"%s: %s%s%s\" --> ", arrow->from.node, from->name, from->collection->name,
          *label ? "<br/>" : "", label);
  if (arrow->kind == SL_ARROW_OUTPUT)
    fprintf(file, "o%u([\"output %s\"])\n", arrow->to, g->outputs[arrow->to].name);
  else
    fprintf(file, "n%u\n", arrow->to);
}

int sl_session_write_mermaid(const struct sl_session *s, FILE *file) {
  SL_IN_C_LOCALE(SL_ENOMEM);
  struct sl_drawing d;
  const int status = sl_drawing_make(s, &d);
  if (status < 0) return status;
  fprintf(file, "flowchart TD\n");
  for (uint32_t n = 0; n < d.graph->node_count; n++) write_node(d.graph, n, file);
  for (uint32_t a = 0; a < d.arrow_count; a++) write_arrow(d.graph, &d.arrows[a], file);
  fprintf(file,
          "  classDef source fill:#d8e9ff,stroke:#4a78b0\n  classDef kernel fill:#fff4d6,stroke:#a08030\n"
          "  classDef constant fill:#e8e8e8,stroke:#808080\n  classDef sink fill:#dcf3dc,stroke:#508050\n"
          "  classDef dead fill:#ffffff,stroke:#b0b0b0,stroke-dasharray:4\n");
  sl_drawing_free(&d);
  return SL_OK;
}
