/* about.c: see about.h. The file is parsed, but neither checked nor merged with its includes. */
#include "graph/about.h"

#include "graph/stages.h"

#include <stdio.h>
#include <string.h>

static void copy_line(const char *line, char *text, size_t size) {
  snprintf(text, size, "%.*s", (int)strcspn(line, "\r\n"), line);
}

static int read_about(struct sl_reader *r, const char *path, char *text, size_t size) {
  if (setjmp(r->arena->failed) != 0) {
    sl_yaml_close(r);
    return SL_ENOMEM;
  }
  const struct sl_tree *document = sl_load_document(r, path);
  if (document == NULL) return SL_EGRAPH;
  if (document->kind != SL_TREE_MAP) {
    snprintf(text, size, "not a map");
    return SL_EGRAPH;
  }
  const struct sl_tree *description = sl_tree_get(document, "description");
  const char *head = document->mark.text->text;
  if (description != NULL && description->kind == SL_TREE_SCALAR)
    copy_line(description->text, text, size);
  else if (*head == '#')
    copy_line(head + 1 + (head[1] == ' '), text, size);
  return SL_OK;
}

int sl_graph_about(const char *path, char *text, size_t size) {
  const struct sl_graph_request request = {.path = path};
  struct sl_reader reader = {
      .request = &request, .diagnostics = sl_diagnostics_new(), .arena = sl_arena_new(SL_LIMIT_MEMORY_BYTES)};
  *text = '\0';
  const int status = reader.diagnostics && reader.arena ? read_about(&reader, path, text, size) : SL_ENOMEM;
  if (status == SL_EGRAPH && sl_diagnostics_count(reader.diagnostics) > 0)
    copy_line(sl_diagnostics_at(reader.diagnostics, 0)->message, text, size);
  if (reader.arena) sl_arena_free(reader.arena);
  sl_diagnostics_free(reader.diagnostics);
  return status;
}
