/* document.c: see document.h. */
#include "base/document.h"

#include "base/input.h"

#include <sluice/plugin.h>

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

/* Returns 1 if each value has one parent. YAML's aliases can make a value contain itself. */
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

/* Returns 1 if there is nothing after the document. */
static int is_at_end(yaml_parser_t *parser) {
  yaml_document_t next;
  if (!yaml_parser_load(parser, &next)) return 0;
  const int is_end = !yaml_document_get_root_node(&next);
  yaml_document_delete(&next);
  return is_end;
}

/* Reads the only document of a parser, which it deletes. */
static int read_document(struct sl_document *d, yaml_parser_t *parser, char *reason, size_t reason_size) {
  const char *wrong = NULL;
  char text[128];
  d->is_open = yaml_parser_load(parser, &d->document);
  if (!d->is_open) {
    d->line = (uint32_t)parser->problem_mark.line + 1;
    snprintf(text, sizeof text, "%s", parser->problem ? parser->problem : "out of memory");
    wrong = text;
  } else if (!yaml_document_get_root_node(&d->document)) {
    wrong = "it is empty";
  } else if (!is_tree(&d->document)) {
    wrong = "it contains itself";
  } else if (!is_at_end(parser)) {
    wrong = "there is more text after it";
  }
  yaml_parser_delete(parser);
  if (wrong) snprintf(reason, reason_size, "%s", wrong);
  return wrong ? SL_EFORMAT : SL_OK;
}

static int begin(yaml_parser_t *parser, char *reason, size_t reason_size) {
  if (yaml_parser_initialize(parser)) return SL_OK;
  snprintf(reason, reason_size, "out of memory");
  return SL_ENOMEM;
}

int sl_document_read(struct sl_document *d, const char *path, char *reason, size_t reason_size) {
  *d = (struct sl_document){.path = path};
  const int descriptor = sl_open_stream(path, reason, reason_size);
  FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "rb");
  if (!file) {
    if (descriptor >= 0) snprintf(reason, reason_size, "%s", strerror(errno));
    if (descriptor >= 0) close(descriptor);
    return SL_EIO;
  }
  yaml_parser_t parser;
  int status = begin(&parser, reason, reason_size);
  if (status == SL_OK) {
    yaml_parser_set_input_file(&parser, file);
    status = read_document(d, &parser, reason, reason_size);
  }
  fclose(file);
  return status;
}

int sl_document_read_text(struct sl_document *d, const char *name, const char *text, size_t bytes, char *reason,
                          size_t reason_size) {
  yaml_parser_t parser;
  *d = (struct sl_document){.path = name};
  const int status = begin(&parser, reason, reason_size);
  if (status < 0) return status;
  yaml_parser_set_input_string(&parser, (const unsigned char *)text, bytes);
  return read_document(d, &parser, reason, reason_size);
}

yaml_node_t *sl_document_at(struct sl_document *d, int index) { return yaml_document_get_node(&d->document, index); }
yaml_node_t *sl_document_root(struct sl_document *d) { return yaml_document_get_root_node(&d->document); }
const char *sl_document_text(const yaml_node_t *node) {
  return node && node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : NULL;
}

yaml_node_t *sl_document_member(struct sl_document *d, const yaml_node_t *map, const char *key) {
  if (!map || map->type != YAML_MAPPING_NODE) return NULL;
  for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++) {
    const char *name = sl_document_text(sl_document_at(d, p->key));
    if (name && strcmp(name, key) == 0) return sl_document_at(d, p->value);
  }
  return NULL;
}

yaml_node_t *sl_document_member_at(struct sl_document *d, const yaml_node_t *map, size_t i, const char **key) {
  if (!map || map->type != YAML_MAPPING_NODE) return NULL;
  const yaml_node_pair_t *pairs = map->data.mapping.pairs.start;
  if (i >= (size_t)(map->data.mapping.pairs.top - pairs)) return NULL;
  *key = sl_document_text(sl_document_at(d, pairs[i].key));
  return sl_document_at(d, pairs[i].value);
}

size_t sl_document_length(const yaml_node_t *list) {
  return list && list->type == YAML_SEQUENCE_NODE
             ? (size_t)(list->data.sequence.items.top - list->data.sequence.items.start)
             : 0;
}

yaml_node_t *sl_document_item(struct sl_document *d, const yaml_node_t *list, size_t i) {
  return sl_document_at(d, list->data.sequence.items.start[i]);
}

yaml_node_t *sl_document_find(struct sl_document *d, const yaml_node_t *list, const char *key, const char *value) {
  for (size_t i = 0; i < sl_document_length(list); i++) {
    const char *text = sl_document_text(sl_document_member(d, sl_document_item(d, list, i), key));
    if (text && strcmp(text, value) == 0) return sl_document_item(d, list, i);
  }
  return NULL;
}

double sl_document_number(const yaml_node_t *node) {
  const char *text = sl_document_text(node);
  char *end = NULL;
  const double value = text ? strtod(text, &end) : NAN;
  return text && end != text && !*end ? value : NAN;
}

void sl_document_close(struct sl_document *d) {
  if (d->is_open) yaml_document_delete(&d->document);
  d->is_open = 0;
}
