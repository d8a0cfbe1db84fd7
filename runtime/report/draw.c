/* draw.c: see draw.h. The steps:
 *   1. Select the nodes: all, or the nodes between --from and --to, at most --depth arrows away. Constants are hidden
 *      unless they are asked for.
 *   2. Group similar nodes: entries of one list port with the same readers, or nodes of one family.
 *   3. Make the arrows between the boxes, each once.
 * Bytes are those of the plan: what a slice may need, divided by its events.
 */
#include "report/draw.h"

#include "base/locale.h"
#include "base/nearest.h"
#include "plugin/tables.h"

#include <stdlib.h>
#include <string.h>

enum {
  GROUP_MIN = 4,        /* nodes of a group */
  BOXES_WITH_PORTS = 16 /* a larger picture has no ports unless they are asked for */
};

static int same_port(struct sl_port a, struct sl_port b) { return a.node == b.node && a.member == b.member; }

/* ------------------------------------------------------------------------------------------------- connections */

/* A connection of the graph: an output port is read by an input, or is an event list of a node. */
struct connection {
  struct sl_port from;
  uint32_t to, member;           /* node and member */
  const struct sl_member *input; /* NULL: an event list */
  uint32_t entry;                /* index among the ports of the input or among the event lists */
  uint32_t next_entry;           /* state of the iteration */
};

/* Steps to the next connection: node by node in document order, the inputs of a node, then its event lists. Begins with
 * a zeroed `c`; returns 0 at the end. */
static int next_connection(const struct sl_graph *g, struct connection *c) {
  for (; c->to < g->node_count; c->to++, c->member = 0) {
    const struct sl_node *node = &g->nodes[c->to];
    const struct sl_algorithm *a = node->algorithm;
    for (; c->member <= a->member_count; c->member++, c->next_entry = 0) {
      c->input = c->member < a->member_count ? &a->members[c->member] : NULL;
      if (c->input && c->input->kind != SL_MEMBER_IN) continue;
      if (c->next_entry >= (c->input ? node->inputs[c->member].count : node->list_count)) continue;
      c->entry = c->next_entry++;
      c->from = c->input ? node->inputs[c->member].ports[c->entry] : node->lists[c->entry];
      return 1;
    }
  }
  return 0;
}

/* ------------------------------------------------------------------------------------------- which nodes are drawn */

/* Sets the distance of each node, in arrows, from the nodes of distance 0, along the arrows or against them. */
static void measure(const struct sl_graph *g, int along, uint32_t *distance) {
  for (int changed = 1; changed;) {
    changed = 0;
    for (struct connection c = {.to = 0}; next_connection(g, &c);) {
      const uint32_t from = (uint32_t)c.from.node, before = along ? from : c.to, after = along ? c.to : from;
      if (distance[before] == UINT32_MAX || distance[after] <= distance[before] + 1) continue;
      distance[after] = distance[before] + 1;
      changed = 1;
    }
  }
}

static void report_unknown_node(const struct sl_graph *g, const char *name, const char *option,
                                struct sl_diagnostics *d) {
  char hint[128];
  struct sl_nearest nearest;
  sl_nearest_begin(&nearest, name);
  for (uint32_t n = 0; n < g->node_count; n++) sl_nearest_offer(&nearest, g->nodes[n].name);
  const char *best = sl_nearest_result(&nearest);
  snprintf(hint, sizeof hint, best ? "did you mean %s?" : "`sluice check` lists the nodes", best);
  sl_diagnose(d, SL_ERROR, NULL, NULL, hint, "%s %s: the graph has no node of that name", option, name);
}

/* Sets the distance of these nodes to 0. */
static int start_at(const struct sl_graph *g, const char *const *names, const char *option, struct sl_diagnostics *d,
                    uint32_t *distance) {
  int status = SL_OK;
  for (; names && *names; names++) {
    const int32_t n = sl_graph_node_index(g, *names);
    if (n != SL_NONE) {
      distance[n] = 0;
    } else {
      report_unknown_node(g, *names, option, d);
      status = SL_EINVAL;
    }
  }
  return status;
}

/* Without --from and --to: the source; without --depth all nodes, connected or not. */
static void start_at_sources(const struct sl_graph *g, const struct sl_drawing_options *o, uint32_t *distance) {
  for (uint32_t n = 0; n < g->node_count; n++)
    if (!o->depth || n == g->source || (o->constants && g->nodes[n].algorithm->kind == SL_KIND_CONSTANT))
      distance[n] = 0;
}

static int nothing_left(const struct sl_drawing_options *o, struct sl_diagnostics *d) {
  if (o->from && *o->from && o->to && *o->to)
    sl_diagnose(d, SL_ERROR, NULL, NULL, "the nodes of --from must come before those of --to",
                "--from %s and --to %s: there is no node between them", *o->from, *o->to);
  else
    sl_diagnose(d, SL_ERROR, NULL, NULL, NULL, "there is no node to draw");
  return SL_EINVAL;
}

/* Sets `box_of` to 0 for nodes that are drawn, else to UINT32_MAX. `distance` has two entries per node. */
static int select_nodes(const struct sl_graph *g, const struct sl_drawing_options *o, struct sl_diagnostics *d,
                        uint32_t *distance, uint32_t *box_of) {
  uint32_t *from = distance, *to = distance + g->node_count, count = 0;
  const int has_from = o->from && *o->from, has_to = o->to && *o->to;
  memset(distance, 0xFF, 2 * sizeof *distance * g->node_count);
  const int from_status = start_at(g, o->from, "--from", d, from), to_status = start_at(g, o->to, "--to", d, to);
  if (from_status < 0 || to_status < 0) return SL_EINVAL;
  for (uint32_t n = 0; n < g->node_count; n++) { /* constants are drawn if they are asked for, or named */
    const int is_named = (has_from && from[n] == 0) || (has_to && to[n] == 0);
    box_of[n] = o->constants || is_named || g->nodes[n].algorithm->kind != SL_KIND_CONSTANT ? 0 : UINT32_MAX;
  }
  if (!has_from && !has_to) start_at_sources(g, o, from);
  if (has_from || !has_to) measure(g, 1, from);
  if (has_to) measure(g, 0, to);
  const uint32_t *limited = has_from || !has_to ? from : to;
  for (uint32_t n = 0; n < g->node_count; n++) {
    const int is_reached = (!has_to || to[n] != UINT32_MAX) && ((has_to && !has_from) || from[n] != UINT32_MAX);
    if (!is_reached || (o->depth && limited[n] > o->depth)) box_of[n] = UINT32_MAX;
    count += box_of[n] == 0;
  }
  return count > 0 ? SL_OK : nothing_left(o, d);
}

/* ----------------------------------------------------------------------------------------------------- groups */

/* The readers of a node: nodes with the same readers have the same hash. */
struct readers {
  uint64_t hash;
  const char *list_port; /* a list port among them, or NULL */
  int is_filter;         /* the node makes event lists, which are not drawn as arrows, and nothing else */
};

static void add_reader(struct readers *r, uint32_t node, uint32_t member) {
  r->hash = (r->hash ^ ((uint64_t)node << 32 | member)) * 0x9E3779B97F4A7C15u;
  r->hash ^= r->hash >> 29;
}

static void find_readers(const struct sl_graph *g, struct readers *readers) {
  for (struct connection c = {.to = 0}; next_connection(g, &c);) {
    struct readers *r = &readers[c.from.node];
    add_reader(r, c.to, c.input ? c.member : UINT32_MAX);
    if (!r->list_port && c.input && (c.input->flags & SL_FLAG_LIST)) r->list_port = c.input->name;
  }
}

static void find_filters(const struct sl_graph *g, struct readers *readers) {
  for (uint32_t n = 0; n < g->node_count; n++) {
    const struct sl_algorithm *a = g->nodes[n].algorithm;
    uint32_t lists = 0, others = 0;
    for (uint32_t m = 0; m < a->member_count; m++)
      if (a->members[m].kind == SL_MEMBER_OUT) *(sl_is_event_list(a->members[m].collection) ? &lists : &others) += 1;
    readers[n].is_filter = lists > 0 && others == 0;
  }
}

/* The list port that reads two nodes with the same readers, their family, or "event lists" of two filters. NULL: none
 * of these, or nodes are not grouped (`readers` NULL). */
static const char *similar(const struct sl_graph *g, const struct readers *readers, uint32_t n, uint32_t other) {
  if (!readers) return NULL;
  if (readers[n].is_filter && readers[other].is_filter) return "event lists";
  if (readers[n].list_port && readers[n].hash == readers[other].hash) return readers[n].list_port;
  return g->nodes[n].launch_group > 0 && g->nodes[n].launch_group == g->nodes[other].launch_group
             ? g->nodes[n].algorithm->family
             : NULL;
}

/* Makes a box for node `n` and, if there are enough, the similar nodes after it. */
static void add_box(struct sl_drawing *drawing, uint32_t n, const struct readers *readers, uint8_t *has_box) {
  const struct sl_graph *g = drawing->graph;
  const uint32_t index = drawing->box_count++;
  struct sl_box box = {.node = n, .count = 1, .plugin = g->nodes[n].plugin->plugin->name};
  for (uint32_t k = n + 1; k < g->node_count; k++) {
    if (has_box[k] || drawing->box_of[k] == UINT32_MAX) continue;
    const char *title = similar(g, readers, n, k);
    if (!title) continue;
    box.title = title;
    box.count++;
  }
  const int is_group = box.count >= GROUP_MIN;
  for (uint32_t k = n; k < g->node_count; k++) {
    if (has_box[k] || drawing->box_of[k] == UINT32_MAX || (k != n && !(is_group && similar(g, readers, n, k))))
      continue;
    has_box[k] = 1;
    drawing->box_of[k] = index;
    if (box.plugin && strcmp(box.plugin, g->nodes[k].plugin->plugin->name) != 0) box.plugin = NULL;
  }
  if (!is_group) box.count = 1;
  drawing->boxes[index] = box;
}

/* Makes the boxes of all nodes that are drawn. `has_box`: per node. */
static void add_boxes(struct sl_drawing *drawing, const struct readers *readers, uint8_t *has_box) {
  memset(has_box, 0, drawing->graph->node_count);
  drawing->box_count = 0;
  for (uint32_t n = 0; n < drawing->graph->node_count; n++)
    if (!has_box[n] && drawing->box_of[n] != UINT32_MAX) add_box(drawing, n, readers, has_box);
}

/* ------------------------------------------------------------------------------------------------------ arrows */

/* Sets the bytes of the fields that a member uses; of a list port, of one of its producers. */
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

/* Do two ends of arrows coincide in the picture: at one box, and at one port if ports are drawn? */
static int same_end(const struct sl_drawing *d, int32_t node, int32_t member, int32_t other, int32_t other_member) {
  if (d->box_of[node] != d->box_of[other]) return 0;
  return !d->has_ports || d->boxes[d->box_of[node]].count > 1 || member == other_member;
}

/* The arrow of the picture with the same ends, or NULL. Arrows between two drawn ports are always drawn. */
static struct sl_arrow *same_arrow(const struct sl_drawing *d, const struct sl_arrow *arrow) {
  const int is_group = sl_drawing_box(d, (uint32_t)arrow->from.node)->count > 1 ||
                       (arrow->kind != SL_ARROW_OUTPUT && sl_drawing_box(d, arrow->to)->count > 1);
  if (d->has_ports && !is_group) return NULL;
  for (uint32_t a = 0; a < d->arrow_count; a++) {
    struct sl_arrow *other = &d->arrows[a];
    if (other->kind != arrow->kind ||
        !same_end(d, arrow->from.node, arrow->from.member, other->from.node, other->from.member))
      continue;
    if (arrow->kind == SL_ARROW_OUTPUT
            ? arrow->to == other->to
            : same_end(d, (int32_t)arrow->to, (int32_t)arrow->to_member, (int32_t)other->to, (int32_t)other->to_member))
      return other;
  }
  return NULL;
}

/* Adds an arrow between boxes that are drawn, with the bytes of this entry of a member of `node`. */
static void add_arrow(const struct sl_session *s, struct sl_drawing *d, struct sl_arrow arrow, uint32_t node,
                      uint32_t member, uint32_t entry) {
  if (d->box_of[arrow.from.node] == UINT32_MAX) return;
  if (arrow.kind != SL_ARROW_OUTPUT &&
      (d->box_of[arrow.to] == UINT32_MAX || d->box_of[arrow.to] == d->box_of[arrow.from.node]))
    return;
  struct sl_arrow *same = same_arrow(d, &arrow);
  if (same)
    same->bytes = 0; /* of several */
  else {
    if (arrow.kind != SL_ARROW_EVENTS) set_bytes(s, node, member, entry, &arrow);
    d->arrows[d->arrow_count++] = arrow;
  }
}

static void add_arrows(const struct sl_session *s, struct sl_drawing *d) {
  const struct sl_graph *g = d->graph;
  for (struct connection c = {.to = 0}; next_connection(g, &c);) {
    const struct sl_arrow data = {.kind = SL_ARROW_DATA, .from = c.from, .to = c.to, .to_member = c.member};
    const struct sl_arrow events = {.kind = SL_ARROW_EVENTS, .from = c.from, .to = c.to};
    if (c.input || d->has_ports) add_arrow(s, d, c.input ? data : events, c.to, c.member, c.entry);
  }
  for (uint32_t o = 0; d->has_ports && o < g->output_count; o++)
    add_arrow(s, d, (struct sl_arrow){.kind = SL_ARROW_OUTPUT, .from = g->outputs[o].port, .to = o},
              (uint32_t)g->outputs[o].port.node, (uint32_t)g->outputs[o].port.member, 0);
}

static size_t connection_count(const struct sl_graph *g) {
  size_t count = g->output_count;
  for (struct connection c = {.to = 0}; next_connection(g, &c);) count++;
  return count;
}

/* -------------------------------------------------------------------------------------------------- the drawing */

int sl_drawing_make(const struct sl_session *s, const struct sl_drawing_options *options, struct sl_diagnostics *d,
                    struct sl_drawing *drawing) {
  const struct sl_graph *g = sl_session_graph(s);
  *drawing = (struct sl_drawing){.graph = g};
  uint32_t *distance = calloc(g->node_count, 2 * sizeof *distance);
  struct readers *readers = calloc(g->node_count, sizeof *readers);
  uint8_t *has_box = calloc(g->node_count, 1);
  drawing->box_of = calloc(g->node_count, sizeof *drawing->box_of);
  drawing->boxes = calloc(g->node_count, sizeof *drawing->boxes);
  drawing->arrows = calloc(connection_count(g) + 1, sizeof *drawing->arrows);
  int status = SL_ENOMEM;
  if (distance && readers && has_box && drawing->box_of && drawing->boxes && drawing->arrows)
    status = select_nodes(g, options, d, distance, drawing->box_of);
  if (status == SL_OK) {
    find_readers(g, readers);
    add_boxes(drawing, options->ungrouped ? NULL : readers, has_box);
    drawing->has_ports = options->ports || drawing->box_count <= BOXES_WITH_PORTS;
    if (!drawing->has_ports && !options->ungrouped) {
      find_filters(g, readers);
      add_boxes(drawing, readers, has_box);
    }
    add_arrows(s, drawing);
  } else {
    sl_drawing_free(drawing);
  }
  free(distance);
  free(readers);
  free(has_box);
  return status;
}

void sl_drawing_free(struct sl_drawing *drawing) {
  free(drawing->boxes);
  free(drawing->box_of);
  free(drawing->arrows);
  *drawing = (struct sl_drawing){0};
}

const struct sl_box *sl_drawing_box(const struct sl_drawing *drawing, uint32_t node) {
  return &drawing->boxes[drawing->box_of[node]];
}

int sl_drawing_uses(const struct sl_drawing *drawing, uint32_t node, uint32_t member) {
  const struct sl_graph *g = drawing->graph;
  const struct sl_port port = {(int32_t)node, (int32_t)member};
  for (uint32_t o = 0; o < g->output_count; o++)
    if (same_port(g->outputs[o].port, port)) return 1;
  for (struct connection c = {.to = 0}; next_connection(g, &c);)
    if (same_port(c.from, port)) return 1;
  return 0;
}

/* ------------------------------------------------------------------------------------------------------- texts */

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

/* Appends a name to a list that begins with `heading`; a list that is full ends with "...". */
static void add_name(const char *heading, const char *name, char *text, size_t size) {
  const size_t used = strlen(text);
  const char *before = used == 0 ? heading : ", ";
  if (used + strlen(before) + strlen(name) + sizeof ", ..." <= size)
    snprintf(text + used, size - used, "%s%s", before, name);
  else if (used > 0 && text[used - 1] != '.')
    snprintf(text + used, size - used, ", ...");
}

void sl_box_events(const struct sl_drawing *drawing, const struct sl_box *box, char *text, size_t size) {
  const struct sl_graph *g = drawing->graph;
  const uint32_t index = (uint32_t)(box - drawing->boxes);
  *text = '\0';
  for (uint32_t maker = 0; maker < g->node_count; maker++) {
    int is_used = 0;
    for (uint32_t n = box->node; n < g->node_count; n++)
      for (uint32_t l = 0; drawing->box_of[n] == index && l < g->nodes[n].list_count; l++)
        is_used |= g->nodes[n].lists[l].node == (int32_t)maker;
    if (is_used) add_name("events: ", g->nodes[maker].name, text, size);
  }
}

void sl_box_outputs(const struct sl_drawing *drawing, const struct sl_box *box, char *text, size_t size) {
  const struct sl_graph *g = drawing->graph;
  const uint32_t index = (uint32_t)(box - drawing->boxes);
  *text = '\0';
  for (uint32_t o = 0; o < g->output_count; o++) {
    const struct sl_port port = g->outputs[o].port;
    if (drawing->box_of[port.node] == index)
      add_name("output: ", g->nodes[port.node].algorithm->members[port.member].name, text, size);
  }
}

/* ------------------------------------------------------------------------------------------------------ public */

struct sl_drawing_options sl_drawing_options_default(void) {
  return (struct sl_drawing_options){.size = sizeof(struct sl_drawing_options)};
}

int sl_session_write_drawing(const struct sl_session *s, const struct sl_drawing_options *options,
                             struct sl_diagnostics *d, FILE *file) {
  SL_IN_C_LOCALE(SL_ENOMEM);
  const struct sl_drawing_options chosen = options ? *options : sl_drawing_options_default();
  struct sl_drawing drawing;
  int status = sl_diagnose_size(d, "struct sl_drawing_options", chosen.size, sizeof chosen);
  if (status == SL_OK) status = sl_drawing_make(s, &chosen, d, &drawing);
  if (status != SL_OK) return status;
  const char *title = drawing.graph->description ? drawing.graph->description : sl_session_options(s)->graph_path;
  status = chosen.format == SL_DRAWING_MERMAID ? sl_drawing_write_mermaid(&drawing, file)
                                               : sl_drawing_write_dot(&drawing, title, file);
  sl_drawing_free(&drawing);
  return status;
}
