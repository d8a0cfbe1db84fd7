/* lines.c: the nodes of a graph that declare requirements, such as trigger lines and event filters, with these
 * requirements: a page in Markdown with a table for each file of the graph, or JSON. */
#include "base/json.h"
#include "base/locale.h"
#include "plugin/property.h"
#include "session/inspect.h"

#include <inttypes.h>
#include <string.h>

static int has_requirements(const struct sl_node *node) { return node->live && node->algorithm->explain; }

static const char *file_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* ------------------------------------------------------------------------------------------------- properties */

static int is_text(const struct sl_member *m) { return m->kind == SL_MEMBER_PROPERTY && m->type == SL_TYPE_string; }
static int is_number(const struct sl_member *m) { return m->kind == SL_MEMBER_PROPERTY && m->type != SL_TYPE_string; }
static int is_given(const struct sl_node *node, uint32_t m) { return node->value_locations[m].line > 0; }

/* Whether an expression says what the node requires. */
static int has_expression(const struct sl_node *node) {
  for (uint32_t m = 0; m < node->algorithm->member_count; m++)
    if (is_text(&node->algorithm->members[m]) && strcmp(node->algorithm->members[m].name, "where") == 0) return 1;
  return 0;
}

/* The text of one value, without quotes. */
static void write_value(const struct sl_member *m, const struct sl_value *value, FILE *file) {
  char text[SL_NUMBER_TEXT_BYTES];
  size_t bytes;
  if (m->type == SL_TYPE_enumeration) {
    const char *name = sl_choice_name(m, (uint32_t)value->integer, &bytes);
    fprintf(file, "%.*s", (int)bytes, name);
  } else if (m->type == SL_TYPE_bool) {
    fputs(value->integer ? "true" : "false", file);
  } else if (m->type == SL_TYPE_u32 || m->type == SL_TYPE_u64) {
    fprintf(file, "%" PRIu64, value->integer);
  } else {
    fputs(sl_number_text(m->type, value->number, text), file);
  }
}

static void write_number(const struct sl_node *node, uint32_t m, FILE *file) {
  const struct sl_member *property = &node->algorithm->members[m];
  const struct sl_value *value = &node->values[m];
  for (uint32_t i = 0; i < sl_property_count(property); i++) {
    fputs(i > 0 ? ", " : " ", file);
    write_value(property, value->items ? &value->items[i] : value, file);
  }
  if (property->unit && *property->unit) fprintf(file, " %s", property->unit);
}

/* In a cell of a table: without line breaks, with bars escaped. */
static void write_cell(const char *text, FILE *file) {
  for (; *text; text++) {
    if (*text == '|') fputc('\\', file);
    fputc(*text == '\n' ? ' ' : *text, file);
  }
}

static int is_scale(const struct sl_member *m) {
  return strcmp(m->name, "pre_scale") == 0 || strcmp(m->name, "post_scale") == 0;
}

/* The expressions as code; numbers if the graph sets them or if there is no expression. Scales have columns. */
static void write_requirements(const struct sl_node *node, FILE *file) {
  const int is_short = has_expression(node);
  const char *between = "";
  for (uint32_t m = 0; m < node->algorithm->member_count; m++) {
    const struct sl_member *member = &node->algorithm->members[m];
    const char *text = is_text(member) && node->values[m].text ? node->values[m].text : "";
    if (is_text(member) && *text && strstr(member->name, "where")) {
      fprintf(file, "%s`", between);
      write_cell(text, file);
      fputc('`', file);
    } else if (is_text(member) && *text && !strstr(member->name, "seed")) {
      fprintf(file, "%s%s ", between, member->name);
      write_cell(text, file);
    } else if (is_number(member) && !is_scale(member) && !(member->flags & SL_FLAG_BUDGET) &&
               (is_given(node, m) || !is_short)) {
      fprintf(file, "%s%s", between, member->name);
      write_number(node, m, file);
    } else {
      continue;
    }
    between = "; ";
  }
}

static void write_scale(const struct sl_node *node, const char *name, FILE *file) {
  for (uint32_t m = 0; m < node->algorithm->member_count; m++)
    if (is_number(&node->algorithm->members[m]) && strcmp(node->algorithm->members[m].name, name) == 0)
      write_value(&node->algorithm->members[m], &node->values[m], file);
}

/* ------------------------------------------------------------------------------------------------- connections */

/* The name of a producer: its node, with the port if the node has several of that collection. */
static void name_port(const struct sl_graph *g, struct sl_port port, char *name, size_t size) {
  const struct sl_node *node = &g->nodes[port.node];
  const struct sl_member *made = &node->algorithm->members[port.member];
  uint32_t outputs = 0;
  for (uint32_t m = 0; m < node->algorithm->member_count; m++) {
    const struct sl_member *other = &node->algorithm->members[m];
    outputs += other->kind == SL_MEMBER_OUT && other->collection == made->collection;
  }
  if (outputs > 1)
    snprintf(name, size, "%s.%s", node->name, made->name);
  else
    snprintf(name, size, "%s", node->name);
}

/* The inputs that the graph connects, and `candidates`. */
static void write_inputs(const struct sl_graph *g, const struct sl_node *node, FILE *file) {
  const char *between = "";
  for (uint32_t m = 0; m < node->algorithm->member_count; m++) {
    const struct sl_member *member = &node->algorithm->members[m];
    const struct sl_wiring *wiring = &node->inputs[m];
    if (member->kind != SL_MEMBER_IN || (wiring->is_automatic && strcmp(member->name, "candidates") != 0)) continue;
    for (uint32_t k = 0; k < wiring->count; k++) {
      char name[512];
      name_port(g, wiring->ports[k], name, sizeof name);
      fprintf(file, "%s%s", between, name);
      between = ", ";
    }
  }
}

static void write_lists(const struct sl_graph *g, const struct sl_node *node, FILE *file) {
  if (node->list_count == 0) fputs("all", file);
  for (uint32_t l = 0; l < node->list_count; l++) {
    char name[512];
    name_port(g, node->lists[l], name, sizeof name);
    fprintf(file, "%s%s", l == 0 ? "" : node->any_list ? " or " : ", ", name);
  }
}

/* ---------------------------------------------------------------------------------------------------- Markdown */

static void write_row(const struct sl_graph *g, const struct sl_node *node, FILE *file) {
  fprintf(file, "| %s | `%s` | ", node->name, node->use);
  write_inputs(g, node, file);
  fputs(" | ", file);
  write_lists(g, node, file);
  fputs(" | ", file);
  write_requirements(node, file);
  fputs(" | ", file);
  write_scale(node, "pre_scale", file);
  fputs(" | ", file);
  write_scale(node, "post_scale", file);
  fputs(" |\n", file);
}

/* Files in the order of the document, each once. */
static void write_page(const struct sl_session *s, FILE *file) {
  const struct sl_graph *g = sl_session_graph(s);
  fprintf(file, "# %s\n", g->description ? g->description : "Requirements");
  for (uint32_t n = 0; n < g->node_count; n++) {
    const char *path = g->nodes[n].location.file;
    int is_first = has_requirements(&g->nodes[n]);
    for (uint32_t k = 0; k < n && is_first; k++)
      is_first = !has_requirements(&g->nodes[k]) || strcmp(g->nodes[k].location.file, path) != 0;
    if (!is_first) continue;
    fprintf(file,
            "\n## %s\n| node | algorithm | inputs | events | requirements | pre-scale | post-scale |\n"
            "| --- | --- | --- | --- | --- | --- | --- |\n",
            file_name(path));
    for (uint32_t k = n; k < g->node_count; k++)
      if (has_requirements(&g->nodes[k]) && strcmp(g->nodes[k].location.file, path) == 0)
        write_row(g, &g->nodes[k], file);
  }
}

/* -------------------------------------------------------------------------------------------------------- JSON */

static void put_value(const struct sl_member *m, const char *key, const struct sl_value *value, struct sl_json *j) {
  char choice[128];
  size_t bytes;
  const char *name;
  switch (m->type) {
    case SL_TYPE_string:
      sl_json_string(j, key, value->text);
      break;
    case SL_TYPE_enumeration:
      name = sl_choice_name(m, (uint32_t)value->integer, &bytes);
      snprintf(choice, sizeof choice, "%.*s", (int)bytes, name);
      sl_json_string(j, key, choice);
      break;
    case SL_TYPE_bool:
      sl_json_boolean(j, key, value->integer != 0);
      break;
    case SL_TYPE_u32:
    case SL_TYPE_u64:
      sl_json_unsigned(j, key, value->integer);
      break;
    default:
      sl_json_number(j, key, value->number);
      break;
  }
}

static void put_properties(const struct sl_node *node, struct sl_json *j) {
  sl_json_begin_object(j, "properties");
  for (uint32_t m = 0; m < node->algorithm->member_count; m++) {
    const struct sl_member *member = &node->algorithm->members[m];
    if (member->kind != SL_MEMBER_PROPERTY || (member->flags & SL_FLAG_BUDGET)) continue;
    if (!node->values[m].items) {
      put_value(member, member->name, &node->values[m], j);
      continue;
    }
    sl_json_begin_array(j, member->name);
    for (uint32_t i = 0; i < sl_property_count(member); i++) put_value(member, NULL, &node->values[m].items[i], j);
    sl_json_end_array(j);
  }
  sl_json_end_object(j);
}

static void put_ports(const struct sl_graph *g, const char *key, const struct sl_port *ports, uint32_t count,
                      struct sl_json *j) {
  sl_json_begin_array(j, key);
  for (uint32_t k = 0; k < count; k++) {
    char name[512];
    name_port(g, ports[k], name, sizeof name);
    sl_json_string(j, NULL, name);
  }
  sl_json_end_array(j);
}

static void put_node(const struct sl_graph *g, const struct sl_node *node, struct sl_json *j) {
  sl_json_begin_object(j, NULL);
  sl_json_string(j, "node", node->name);
  sl_json_string(j, "algorithm", node->use);
  sl_json_string(j, "description", node->algorithm->doc);
  sl_json_string(j, "file", node->location.file);
  sl_json_integer(j, "line", node->location.line);
  sl_json_begin_object(j, "inputs");
  for (uint32_t m = 0; m < node->algorithm->member_count; m++)
    if (node->algorithm->members[m].kind == SL_MEMBER_IN)
      put_ports(g, node->algorithm->members[m].name, node->inputs[m].ports, node->inputs[m].count, j);
  sl_json_end_object(j);
  put_ports(g, "events", node->lists, node->list_count, j);
  sl_json_boolean(j, "any_event_list", node->any_list != 0);
  put_properties(node, j);
  sl_json_end_object(j);
}

static int write_json(const struct sl_session *s, FILE *file) {
  const struct sl_graph *g = sl_session_graph(s);
  struct sl_json j;
  sl_json_begin(&j);
  sl_json_begin_object(&j, NULL);
  sl_json_string(&j, "description", g->description);
  sl_json_begin_array(&j, "nodes");
  for (uint32_t n = 0; n < g->node_count; n++)
    if (has_requirements(&g->nodes[n])) put_node(g, &g->nodes[n], &j);
  sl_json_end_array(&j);
  sl_json_end_object(&j);
  return sl_json_finish(&j, file);
}

int sl_session_write_lines(const struct sl_session *s, int as_json, FILE *file) {
  SL_IN_C_LOCALE(SL_ENOMEM);
  if (as_json) return write_json(s, file);
  write_page(s, file);
  return ferror(file) ? SL_EIO : SL_OK;
}
