/* draw.c: see draw.h. Bytes are those that the plan gives: what a slice may need, divided by its events. */
#include "report/draw.h"

#include "plugin/tables.h"

#include <stdlib.h>

static int same_port(struct sl_port a, struct sl_port b) { return a.node == b.node && a.member == b.member; }

/* The bytes of some fields of a member; of a list port, those of a producer. */
static void set_bytes(const struct sl_session *s, uint32_t node, uint32_t member, uint32_t entry,
                      struct sl_arrow *arrow) {
  const struct sl_layout *l = sl_session_layout(s);
  const struct sl_slot_member *m = &l->members[node][member].entries[entry];
  const struct sl_collection *c = sl_session_graph(s)->nodes[node].algorithm->members[member].collection;
  for (uint32_t f = 0; f < c->field_count; f++) {
    if (m->storage[f] == SL_NONE) continue;
    const struct sl_storage *storage = &l->storage[m->storage[f]];
    arrow->is_constant = storage->kind == SL_STORAGE_CONSTANT;
    arrow->bytes += arrow->is_constant
                        ? (double)(sl_session_setup(s)->arrays[m->storage[f]].count * sl_type_bytes(c->fields[f].type))
                        : (double)storage->bytes / (l->events ? l->events : 1);
  }
}

/* Counts the arrows, and sets them where there is a place for them. */
static uint32_t set_arrows(const struct sl_session *s, struct sl_arrow *arrows) {
  const struct sl_graph *g = sl_session_graph(s);
  uint32_t count = 0;
  for (uint32_t n = 0; n < g->node_count; n++) {
    const struct sl_node *node = &g->nodes[n];
    for (uint32_t m = 0; m < node->algorithm->member_count; m++) {
      if (node->algorithm->members[m].kind != SL_MEMBER_IN) continue;
      for (uint32_t k = 0; k < node->inputs[m].count; k++, count++) {
        if (!arrows) continue;
        arrows[count] =
            (struct sl_arrow){.kind = SL_ARROW_DATA, .from = node->inputs[m].ports[k], .to = n, .to_member = m};
        set_bytes(s, n, m, k, &arrows[count]);
      }
    }
    for (uint32_t l = 0; l < node->list_count; l++, count++)
      if (arrows) arrows[count] = (struct sl_arrow){.kind = SL_ARROW_EVENTS, .from = node->lists[l], .to = n};
  }
  for (uint32_t o = 0; o < g->output_count; o++, count++) {
    if (!arrows) continue;
    arrows[count] = (struct sl_arrow){.kind = SL_ARROW_OUTPUT, .from = g->outputs[o].port, .to = o};
    set_bytes(s, (uint32_t)g->outputs[o].port.node, (uint32_t)g->outputs[o].port.member, 0, &arrows[count]);
  }
  return count;
}

int sl_drawing_make(const struct sl_session *s, struct sl_drawing *drawing) {
  *drawing = (struct sl_drawing){.graph = sl_session_graph(s), .arrow_count = set_arrows(s, NULL)};
  drawing->arrows = calloc(drawing->arrow_count + (size_t)1, sizeof *drawing->arrows);
  if (!drawing->arrows) return SL_ENOMEM;
  set_arrows(s, drawing->arrows);
  return SL_OK;
}

void sl_drawing_free(struct sl_drawing *drawing) { free(drawing->arrows); }

int sl_drawing_uses(const struct sl_drawing *drawing, uint32_t node, uint32_t member) {
  for (uint32_t a = 0; a < drawing->arrow_count; a++)
    if (same_port(drawing->arrows[a].from, (struct sl_port){(int32_t)node, (int32_t)member})) return 1;
  return 0;
}

void sl_arrow_label(const struct sl_arrow *arrow, char *text, size_t size) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB"};
  double bytes = arrow->bytes;
  int unit = 0;
  for (; unit < 3 && bytes >= 1000.0; unit++) bytes /= 1024.0; /* three digits */
  if (bytes > 0)
    snprintf(text, size, "%.3g %s%s", bytes, units[unit], arrow->is_constant ? "" : "/event");
  else
    *text = '\0';
}
