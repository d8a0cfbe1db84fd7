/* canonical.c: a graph as canonical text, identical for all equivalent documents: nodes, inputs and properties are
 * sorted by name; defaults, parameters and connections are explicit. Reading the text as a graph gives the same text.
 * With origins, each line ends with a comment that names the origin of its value: the file and line, or the option, and
 * those of its parameters; or why it has no origin. */
#include "graph/stages.h"
#include "plugin/property.h"
#include "plugin/tables.h"

#include <sluice/text.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct writer {
  struct sl_draft *draft;
  char *text;
  size_t bytes, capacity;
  int origins;
};

static void write_bytes(struct writer *w, const char *text, size_t bytes) {
  if (w->bytes + bytes + 1 > w->capacity) {
    const size_t capacity = 2 * (w->bytes + bytes + 1) + 512;
    char *grown = sl_arena_get(w->draft->reader->arena, capacity, 1);
    if (w->bytes > 0) memcpy(grown, w->text, w->bytes);
    w->text = grown;
    w->capacity = capacity;
  }
  memcpy(w->text + w->bytes, text, bytes);
  w->bytes += bytes;
}

static void write_text(struct writer *w, const char *text) { write_bytes(w, text, strlen(text)); }

static void write_line(struct writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void write_line(struct writer *w, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  write_text(w, sl_arena_vformat(w->draft->reader->arena, format, arguments));
  va_end(arguments);
}

/* ----------------------------------------------------------------------------------------------- origins */

/* File names and options may contain any bytes; comments contain only printable characters. */
static void write_comment(struct writer *w, const char *text) {
  for (const char *c = text; *c != 0;) {
    uint32_t bytes;
    const uint32_t character = sl_text_character(c, &bytes);
    const int is_hidden =
        character == 0x2028 || character == 0x2029 || character == 0xFEFF || character == 0xFFFE || character == 0xFFFF;
    if ((character >= ' ' && character < 0x7F) || (character >= 0xA0 && !is_hidden))
      write_bytes(w, c, bytes);
    else
      write_text(w, "?");
    c += bytes;
  }
}

/* Ends a line with a value that was not set; `reason` explains the value. */
static void end_line(struct writer *w, const char *reason) {
  if (w->origins) write_line(w, "  # %s", reason);
  write_text(w, "\n");
}

/* Ends a line with a value set by `tree`; NULL: it was not set. */
static void end_given(struct writer *w, const struct sl_tree *tree, const char *reason) {
  if (!w->origins || tree == NULL || tree->mark.text == NULL) {
    end_line(w, reason);
    return;
  }
  write_text(w, "  # ");
  write_comment(w, sl_mark_text(w->draft->reader, tree->parameters != NULL ? tree->use : tree->mark));
  if (tree->parameters != NULL) write_comment(w, tree->parameters);
  write_text(w, "\n");
}

static const struct sl_tree *tree_of(const struct writer *w, const struct sl_node *node) {
  return w->draft->nodes[node - w->draft->graph->nodes].tree;
}

static const struct sl_tree *given_value(const struct writer *w, const struct sl_node *node, const char *property) {
  const struct sl_tree *value = sl_tree_get(sl_tree_get(tree_of(w, node), "set"), property);
  if (value != NULL) return value;
  const char *budget = sl_arena_format(w->draft->reader->arena, "%s.%s", node->name, property);
  return sl_tree_get(sl_tree_get(w->draft->root, "budgets"), budget);
}

/* ------------------------------------------------------------------------------------------------ values */

/* Writes the characters of a string in double quotes; all except plain ASCII are escaped. Bytes that are not UTF-8
 * (from the command line) are copied. */
static void write_characters(struct writer *w, const char *text) {
  char escaped[16];
  for (const char *c = text; *c != 0;) {
    uint32_t bytes;
    const uint32_t character = sl_text_character(c, &bytes);
    if (character == '"' || character == '\\') {
      snprintf(escaped, sizeof escaped, "\\%c", (char)character);
      write_text(w, escaped);
    } else if (c[0] == '$' && c[1] == '{') {
      write_text(w, "$$"); /* otherwise it would be a parameter */
    } else if (character == 0 || (character >= ' ' && character < 0x7F)) {
      write_bytes(w, c, 1);
    } else {
      snprintf(escaped, sizeof escaped, character > 0xFFFF ? "\\U%08x" : "\\u%04x", character);
      write_text(w, escaped);
    }
    c += bytes;
  }
}

static void write_string(struct writer *w, const char *text) {
  write_text(w, "\"");
  write_characters(w, text);
  write_text(w, "\"");
}

static void write_conditional(struct writer *w, const struct sl_value *value) {
  const char *part = value->parts;
  write_text(w, "\"");
  for (uint32_t i = 0; i < value->part_count; i++, part += strlen(part) + 1) {
    if (i > 0) write_text(w, "${conditions}");
    write_characters(w, part);
  }
  write_text(w, "\"");
}

static void write_choice(struct writer *w, const struct sl_member *property, uint64_t choice) {
  size_t bytes;
  const char *name = sl_choice_name(property, (uint32_t)choice, &bytes);
  write_string(w, sl_arena_text(w->draft->reader->arena, name, bytes));
}

static void write_value(struct writer *w, const struct sl_member *property, const struct sl_value *value) {
  char text[SL_NUMBER_TEXT_BYTES];
  switch (property->type) {
    case SL_TYPE_string:
      if (value->parts != NULL)
        write_conditional(w, value);
      else
        write_string(w, value->text);
      break;
    case SL_TYPE_enumeration:
      write_choice(w, property, value->integer);
      break;
    case SL_TYPE_bool:
      write_text(w, value->integer ? "true" : "false");
      break;
    case SL_TYPE_f32:
    case SL_TYPE_f64:
    case SL_TYPE_i32:
      write_text(w, sl_number_text(property->type, value->number, text));
      break;
    default:
      write_line(w, "%" PRIu64, value->integer);
      break;
  }
}

/* ------------------------------------------------------------------------------------------------- nodes */

static int compare_names(const void *a, const void *b) {
  return strcmp(**(const char *const *const *)a, **(const char *const *const *)b);
}

/* Returns pointers to `count` structs, which begin with their name, sorted by name. */
static void *sorted_by_name(struct writer *w, const void *structs, size_t count, size_t struct_bytes) {
  const void **pointers = sl_arena_get(w->draft->reader->arena, count, sizeof *pointers);
  for (size_t i = 0; i < count; i++) pointers[i] = (const char *)structs + i * struct_bytes;
  qsort(pointers, count, sizeof *pointers, compare_names);
  return pointers;
}
_Static_assert(offsetof(struct sl_node, name) == 0 && offsetof(struct sl_member, name) == 0, "see sorted_by_name");

/* Writes the producers in their order, which is significant: as a list if the names are those of the ports, else as a
 * map. */
static void write_list_port(struct writer *w, const struct sl_wiring *wiring) {
  int named = 0;
  for (uint32_t k = 0; k < wiring->count; k++)
    named |= strcmp(wiring->names[k], sl_output_name(w->draft, wiring->ports[k])) != 0;
  write_text(w, named ? "{" : "[");
  for (uint32_t k = 0; k < wiring->count; k++) {
    write_text(w, k > 0 ? ", " : "");
    if (named) write_line(w, "%s: ", wiring->names[k]);
    write_text(w, sl_port_name(w->draft, wiring->ports[k]));
  }
  write_text(w, named ? "}" : "]");
}

static void write_input(struct writer *w, const struct sl_node *node, const struct sl_member *member) {
  const struct sl_wiring *wiring = &node->inputs[member - node->algorithm->members];
  write_line(w, "      %s: ", member->name);
  if (member->flags & SL_FLAG_LIST)
    write_list_port(w, wiring);
  else
    write_text(w, wiring->count == 0 ? "null" : sl_port_name(w->draft, wiring->ports[0]));
  end_given(w, sl_tree_get(sl_tree_get(tree_of(w, node), "in"), member->name),
            wiring->count == 0 ? "not connected" : "only matching port");
}

static void write_reference(struct writer *w, const struct sl_node *node, const struct sl_member *member) {
  const struct sl_port port = node->inputs[member - node->algorithm->members].ports[0];
  write_line(w, "      %s: %s.%s", member->name, sl_port_name(w->draft, port),
             member->collection->fields[member->count].name);
  end_given(w, given_value(w, node, member->name), "default");
}

static void write_property(struct writer *w, const struct sl_node *node, const struct sl_member *member) {
  const struct sl_value *value = &node->values[member - node->algorithm->members];
  write_line(w, "      %s: %s", member->name, value->items != NULL ? "[" : "");
  for (uint32_t i = 0; i < sl_property_count(member); i++) {
    if (i > 0) write_text(w, ", ");
    write_value(w, member, value->items != NULL ? &value->items[i] : value);
  }
  write_text(w, value->items != NULL ? "]" : "");
  end_given(w, given_value(w, node, member->name), "default");
}

/* Returns 1 for the budget of a port that replaces an open port and has no reader. It has no effect, and which such
 * ports exist depends on the plugins found. */
static int is_idle(const struct writer *w, const struct sl_node *node, const struct sl_member *member) {
  if (member->kind != SL_MEMBER_PROPERTY || (member->flags & SL_FLAG_OPENED) == 0) return 0;
  const struct sl_graph *graph = w->draft->graph;
  const int32_t own = (int32_t)(node - graph->nodes);
  for (uint32_t i = 0; i < graph->node_count; i++) {
    const struct sl_node *user = &graph->nodes[i];
    for (uint32_t m = 0; m < user->algorithm->member_count; m++) {
      for (uint32_t p = 0; p < user->inputs[m].count; p++) {
        const struct sl_port port = user->inputs[m].ports[p];
        if (port.node != own) continue;
        const struct sl_trait *trait = node->algorithm->members[port.member].collection->trait;
        for (uint32_t b = 1; trait != NULL && b < trait->member_count; b++)
          if (strcmp(trait->members[b].name, member->name) == 0) return 0;
      }
    }
  }
  return 1;
}

/* Writes the members of one kind, after a heading if there are any. */
static void write_members(struct writer *w, const struct sl_node *node, uint32_t kind) {
  const struct sl_algorithm *algorithm = node->algorithm;
  const struct sl_member **members =
      sorted_by_name(w, algorithm->members, algorithm->member_count, sizeof *algorithm->members);
  int headed = 0;
  for (uint32_t i = 0; i < algorithm->member_count; i++) {
    const int is_reference = (members[i]->flags & SL_FLAG_FIELD) != 0; /* an input that is written under `set` */
    const uint32_t heading = is_reference ? SL_MEMBER_PROPERTY : members[i]->kind;
    if (heading != kind || members[i]->flags & SL_FLAG_OPERAND || is_idle(w, node, members[i])) continue;
    if (!headed) write_text(w, kind == SL_MEMBER_IN ? "    in:\n" : "    set:\n");
    headed = 1;
    if (is_reference)
      write_reference(w, node, members[i]);
    else if (kind == SL_MEMBER_IN)
      write_input(w, node, members[i]);
    else
      write_property(w, node, members[i]);
  }
  if (kind == SL_MEMBER_PROPERTY && node->shared) {
    if (!headed) write_text(w, "    set:\n");
    write_text(w, "      variant: shared");
    end_given(w, given_value(w, node, "variant"), "default");
  }
}

static void write_events(struct writer *w, const struct sl_node *node) {
  write_text(w, node->any_list ? "    events: { any: [" : "    events: [");
  for (uint32_t i = 0; i < node->list_count; i++)
    write_line(w, "%s%s", i > 0 ? ", " : "", sl_port_name(w->draft, node->lists[i]));
  write_text(w, node->any_list ? "] }" : "]");
  end_given(w, sl_tree_get(tree_of(w, node), "events"),
            node->list_count > 0 ? "inherited from the inputs" : "all events");
}

/* Writes one number if all kernels have the same block size. */
static void write_block(struct writer *w, const struct sl_node *node) {
  uint32_t others = 0;
  for (uint32_t b = 0; b < node->algorithm->block_count; b++) others |= node->blocks[b].threads ^ node->block_threads;
  if (!others) {
    write_line(w, "    block: %u", node->block_threads);
  } else {
    write_line(w, "    block: {%s: %u", SL_BLOCK_OTHERS, node->block_threads);
    for (uint32_t b = 0; b < node->algorithm->block_count; b++)
      write_line(w, ", %s: %u", node->blocks[b].kernel, node->blocks[b].threads);
    write_text(w, "}");
  }
  end_given(w, sl_tree_get(tree_of(w, node), "block"), "default");
}

static void write_node(struct writer *w, const struct sl_node *node) {
  write_line(w, "  %s:\n    use: %s", node->name, node->use);
  end_given(w, sl_tree_get(tree_of(w, node), "use"), "");
  if (node->algorithm->kind == SL_KIND_KERNEL) write_block(w, node);
  if (node->algorithm->kind == SL_KIND_KERNEL || node->list_count > 0) write_events(w, node);
  write_members(w, node, SL_MEMBER_IN);
  write_members(w, node, SL_MEMBER_PROPERTY);
}

static void write_conditions(struct writer *w, const struct sl_graph_conditions *conditions) {
  const struct sl_tree *section = sl_tree_get(w->draft->root, "conditions");
  write_text(w, "conditions:\n  by: event.run");
  end_given(w, sl_tree_get(section, "by"), "");
  write_text(w, "  files: ");
  write_string(w, conditions->files);
  end_given(w, sl_tree_get(section, "files"), "");
}

const char *sl_draft_canonical(struct sl_draft *draft, int origins) {
  const struct sl_graph *graph = draft->graph;
  struct writer w = {.draft = draft, .origins = origins};
  write_text(&w, "sluice: 1\n");
  if (graph->conditions.files != NULL) write_conditions(&w, &graph->conditions);
  if (graph->slice_events > 0) {
    write_line(&w, "budgets:\n  events: %u", graph->slice_events);
    end_given(&w, sl_tree_get(sl_tree_get(draft->root, "budgets"), "events"), "default");
  }
  write_text(&w, "nodes:\n");
  const struct sl_node **nodes = sorted_by_name(&w, graph->nodes, graph->node_count, sizeof *graph->nodes);
  for (uint32_t i = 0; i < graph->node_count; i++) write_node(&w, nodes[i]);
  write_text(&w, "outputs: [");
  for (uint32_t i = 0; i < graph->output_count; i++)
    write_line(&w, "%s%s", i > 0 ? ", " : "", sl_port_name(draft, graph->outputs[i].port));
  write_text(&w, "]");
  end_given(&w, sl_tree_get(draft->root, "outputs"), "none given");
  write_bytes(&w, "", 1);
  return w.text;
}
