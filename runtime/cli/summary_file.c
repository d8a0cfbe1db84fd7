/* summary_file.c: see summary_file.h. */
#include "cli/summary_file.h"

#include "base/input.h"
#include "cli/cli.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int see(const yaml_document_t *document, uint8_t *seen, int index) {
  const int is_new = index > 0 && index <= document->nodes.top - document->nodes.start && !seen[index - 1];
  if (is_new) seen[index - 1] = 1;
  return is_new;
}

/* Does each value have one parent? YAML's aliases can make a value contain itself. */
static int is_tree(const yaml_document_t *document) {
  uint8_t *seen = calloc((size_t)(document->nodes.top - document->nodes.start) + 1, 1);
  int fine = seen != NULL && see(document, seen, 1);
  for (const yaml_node_t *node = document->nodes.start; fine && node < document->nodes.top; node++) {
    if (node->type == YAML_MAPPING_NODE)
      for (yaml_node_pair_t *p = node->data.mapping.pairs.start; fine && p < node->data.mapping.pairs.top; p++)
        fine = see(document, seen, p->key) && see(document, seen, p->value);
    if (node->type == YAML_SEQUENCE_NODE)
      for (yaml_node_item_t *i = node->data.sequence.items.start; fine && i < node->data.sequence.items.top; i++)
        fine = see(document, seen, *i);
  }
  free(seen);
  return fine;
}

/* The first key that every summary has and this file lacks, as text for a message; NULL if none is missing. The JSON of
 * other commands lacks some. */
static const char *missing_in(struct summary *s) {
  const yaml_node_t *root = summary_root(s);
  if (!root || root->type != YAML_MAPPING_NODE) return "it is not an object";
  if (!is_tree(&s->document)) return "it contains itself";
  if (!summary_text(summary_member(s, root, "graph_digest"))) return "it has no `graph_digest`";
  if (!(summary_number(summary_member(s, root, "events")) >= 0)) return "it has no number `events`";
  static const char *const lists[][2] = {{"nodes", "it has no list `nodes`"}, {"outputs", "it has no list `outputs`"}};
  for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
    const yaml_node_t *list = summary_member(s, root, lists[i][0]);
    if (!list || list->type != YAML_SEQUENCE_NODE) return lists[i][1];
  }
  return NULL;
}

/* Is there nothing after the summary? */
static int is_at_end(yaml_parser_t *parser) {
  yaml_document_t next;
  if (!yaml_parser_load(parser, &next)) return 0;
  const int is_end = !yaml_document_get_root_node(&next);
  yaml_document_delete(&next);
  return is_end;
}

int summary_read(struct summary *s, const char *path) {
  char reason[128];
  const int descriptor = sl_open_stream(path, reason, sizeof reason);
  FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "rb");
  s->path = path;
  if (!file) {
    fprintf(stderr, "error: %s: %s\n", path, descriptor < 0 ? reason : strerror(errno));
    if (descriptor >= 0) close(descriptor);
    return CLI_WRONG;
  }
  yaml_parser_t parser;
  int status = CLI_WRONG;
  if (yaml_parser_initialize(&parser)) {
    yaml_parser_set_input_file(&parser, file);
    s->is_open = yaml_parser_load(&parser, &s->document);
    const char *missing = s->is_open ? missing_in(s) : NULL;
    if (s->is_open && !missing && !is_at_end(&parser)) missing = "there is more text after it";
    if (!s->is_open)
      fprintf(stderr, "error: %s:%zu: %s\n", path, parser.problem_mark.line + 1, parser.problem);
    else if (missing)
      fprintf(stderr, "error: %s: not a summary of a run: %s; `sluice run GRAPH --json FILE` writes one\n", path,
              missing);
    else
      status = CLI_OK;
    yaml_parser_delete(&parser);
  }
  fclose(file);
  return status;
}

yaml_node_t *summary_at(struct summary *s, int index) { return yaml_document_get_node(&s->document, index); }
yaml_node_t *summary_root(struct summary *s) { return yaml_document_get_root_node(&s->document); }
const char *summary_text(const yaml_node_t *node) {
  return node && node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : NULL;
}

yaml_node_t *summary_member(struct summary *s, const yaml_node_t *map, const char *key) {
  if (!map || map->type != YAML_MAPPING_NODE) return NULL;
  for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++) {
    const char *name = summary_text(summary_at(s, p->key));
    if (name && strcmp(name, key) == 0) return summary_at(s, p->value);
  }
  return NULL;
}

size_t summary_length(const yaml_node_t *list) {
  return list && list->type == YAML_SEQUENCE_NODE
             ? (size_t)(list->data.sequence.items.top - list->data.sequence.items.start)
             : 0;
}

yaml_node_t *summary_item(struct summary *s, const yaml_node_t *list, size_t i) {
  return summary_at(s, list->data.sequence.items.start[i]);
}

yaml_node_t *summary_find(struct summary *s, const yaml_node_t *list, const char *key, const char *value) {
  for (size_t i = 0; i < summary_length(list); i++) {
    const char *text = summary_text(summary_member(s, summary_item(s, list, i), key));
    if (text && strcmp(text, value) == 0) return summary_item(s, list, i);
  }
  return NULL;
}

double summary_number(const yaml_node_t *node) {
  const char *text = summary_text(node);
  char *end = NULL;
  const double value = text ? strtod(text, &end) : NAN;
  return text && end != text && !*end ? value : NAN;
}

void summary_close(struct summary *s) {
  if (s->is_open) yaml_document_delete(&s->document);
  s->is_open = 0;
}
