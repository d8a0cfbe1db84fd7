/* histograms.c: see histograms.h. */
#include "results/histograms.h"

#include "plugin/tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct sl_axis no_axis = {.kind = SL_AXIS_NONE, .bins = 1, .label = "", .unit = "", .doc = ""};

/* Field reference in the notation of graphs; for a derived field its expression. NULL if out of memory. */
static char *reference_text(const struct sl_graph *g, struct sl_port port, const struct sl_field *f) {
  const struct sl_node *from = &g->nodes[port.node];
  const char *field = f->name;
  uint32_t ports = 0;
  if (from->program != NULL) return strdup(f->doc);
  for (uint32_t m = 0; m < from->algorithm->member_count; m++)
    ports += from->algorithm->members[m].kind == SL_MEMBER_OUT;
  const char *port_name = ports > 1 ? from->algorithm->members[port.member].name : "";
  const size_t bytes = strlen(from->name) + strlen(port_name) + strlen(field) + 3;
  char *text = malloc(bytes);
  if (text) snprintf(text, bytes, "%s.%s%s%s", from->name, port_name, *port_name ? "." : "", field);
  return text;
}

static const struct sl_value *value_of(const struct sl_node *node, const char *property) {
  return &node->values[sl_member_index(node->algorithm, property)];
}

/* The plugin's check has found the members of the axis. */
static int read_axis(const struct sl_graph *g, const struct sl_node *node, const struct sl_axis_members *members,
                     struct sl_axis *axis) {
  *axis = no_axis;
  if (!members->field) return SL_OK;
  const int m = sl_member_index(node->algorithm, members->field);
  const struct sl_member *input = &node->algorithm->members[m];
  const struct sl_field *field = &input->collection->fields[input->count];
  *axis = (struct sl_axis){.kind = SL_AXIS_NUMERIC,
                           .bins = (uint32_t)value_of(node, members->bins)->integer,
                           .label = reference_text(g, node->inputs[m].ports[0], field),
                           .unit = field->unit,
                           .doc = field->doc,
                           .lower = value_of(node, members->lower)->number,
                           .upper = value_of(node, members->upper)->number};
  return axis->label ? SL_OK : SL_ENOMEM;
}

static int open_numeric(struct sl_run_output *output, struct sl_histogram *h, const struct sl_graph *g,
                        struct sl_port port) {
  const struct sl_node *node = &g->nodes[port.node];
  const struct sl_member *member = &node->algorithm->members[port.member];
  output->histogram_count = 1;
  h->name = strdup(output->name);
  h->title = member->title ? value_of(node, member->title)->text : "";
  h->unit = output->collection->fields[0].unit;
  h->counts = output->totals;
  if (!h->name || read_axis(g, node, &member->axes[0], &h->x) < 0) return SL_ENOMEM;
  return read_axis(g, node, &member->axes[1], &h->y);
}

static int open_categories(struct sl_run_output *output, struct sl_histogram *h) {
  const struct sl_collection *c = output->collection;
  const uint64_t *counts = output->totals;
  for (uint32_t i = 0; i < c->field_count; counts += output->items * c->fields[i++].width) {
    const struct sl_field *field = &c->fields[i];
    if (field->width != 1 || field->type == SL_TYPE_i64) continue;
    const size_t bytes = strlen(output->name) + strlen(field->name) + 2;
    char *name = malloc(bytes);
    if (!name) return SL_ENOMEM;
    snprintf(name, bytes, "%s.%s", output->name, field->name);
    h[output->histogram_count++] = (struct sl_histogram){.name = name,
                                                         .title = field->doc,
                                                         .unit = field->unit,
                                                         .x = {.kind = SL_AXIS_CATEGORIES,
                                                               .bins = output->name_count,
                                                               .label = output->naming->label,
                                                               .unit = "",
                                                               .doc = "",
                                                               .names = output->names},
                                                         .y = no_axis,
                                                         .counts = counts};
  }
  return SL_OK;
}

int sl_histograms_open(struct sl_run_output *output, const struct sl_graph *g, struct sl_port port) {
  const int is_numeric = g->nodes[port.node].algorithm->members[port.member].axes[0].field != NULL;
  const int is_named = output->naming && output->naming->kind == SL_NAMES_OF_ENTRIES && output->name_count > 0;
  if (!is_numeric && !is_named) return SL_OK;
  struct sl_histogram *h = calloc(output->collection->field_count, sizeof *h);
  if (!h) return SL_ENOMEM;
  output->histograms = h;
  return is_numeric ? open_numeric(output, h, g, port) : open_categories(output, h);
}

void sl_histograms_close(struct sl_run_output *output) {
  for (uint32_t i = 0; i < output->histogram_count; i++) {
    const struct sl_histogram *h = &output->histograms[i];
    free((char *)(uintptr_t)h->name);
    if (h->x.kind == SL_AXIS_NUMERIC) free((char *)(uintptr_t)h->x.label);
    if (h->y.kind == SL_AXIS_NUMERIC) free((char *)(uintptr_t)h->y.label);
  }
  free((void *)(uintptr_t)output->histograms);
}
