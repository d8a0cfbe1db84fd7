/* fuzz_graph.c: the graph reader on any text, with the fake registry of tests/runtime. Includes are searched in a
 * folder that does not exist. A valid graph must have a canonical text that is read as the same graph.
 * A text may begin with a line `#set KEY=VALUE` or `#use NODE=ALGORITHM`: an option of the command line. */
#include "../runtime/graph_fake.c"
#include "graph/graph.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static int read_text(const char *text, size_t bytes, const struct sl_override *set, const struct sl_override *use,
                     struct sl_graph **graph) {
  const struct sl_graph_request request = {.path = "no-such-folder/graph.yaml",
                                           .text = text,
                                           .text_bytes = bytes,
                                           .target = "cpu",
                                           .registry = fake_registry(),
                                           .sets = set,
                                           .uses = use,
                                           .set_count = set != NULL,
                                           .use_count = use != NULL,
                                           .origins = 1};
  struct sl_diagnostics *diagnostics = sl_diagnostics_new();
  if (diagnostics == NULL) abort();
  const int result = sl_graph_read(&request, diagnostics, graph);
  const int failed = sl_diagnostics_errors(diagnostics) > 0;
  if ((result != SL_OK) != failed || (*graph == NULL) != failed) abort();
  sl_diagnostics_free(diagnostics);
  return result;
}

/* The option in the first line, or NULL; `copy` holds its parts. */
static const struct sl_override *first_line(const char *data, size_t bytes, const char *prefix, char *copy, size_t size,
                                            struct sl_override *override) {
  const size_t prefix_bytes = strlen(prefix);
  const char *end = memchr(data, '\n', bytes);
  if (end == NULL || bytes < prefix_bytes || memcmp(data, prefix, prefix_bytes) != 0) return NULL;
  const size_t line_bytes = (size_t)(end - data) - prefix_bytes;
  if (line_bytes >= size) return NULL;
  memcpy(copy, data + prefix_bytes, line_bytes);
  copy[line_bytes] = 0;
  char *equals = strchr(copy, '=');
  if (equals == NULL) return NULL;
  *equals = 0;
  *override = (struct sl_override){copy, equals + 1};
  return override;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
  struct sl_override set, use;
  char copy[256];
  struct sl_graph *graph, *again;
  char *text = malloc(bytes > 0 ? bytes : 1); /* of the exact size, so that any read beyond the end is detected */
  if (text == NULL) return 0;
  memcpy(text, data, bytes);
  const struct sl_override *first_set = first_line(text, bytes, "#set ", copy, sizeof copy, &set);
  const struct sl_override *first_use =
      first_set == NULL ? first_line(text, bytes, "#use ", copy, sizeof copy, &use) : NULL;
  if (read_text(text, bytes, first_set, first_use, &graph) == SL_OK) {
    for (uint32_t i = 0; i < graph->node_count; i++) {
      char *args = calloc(1, graph->nodes[i].algorithm->args_size);
      if (args == NULL) abort();
      sl_graph_fill_properties(&graph->nodes[i], args);
      free(args);
    }
    /* bytes that are not UTF-8 can come from the option, and cannot be part of a text */
    const char *const texts[] = {graph->text, graph->text_with_origins};
    for (int i = 0; first_set == NULL && i < 2; i++) {
      if (read_text(texts[i], strlen(texts[i]), NULL, NULL, &again) != SL_OK) abort();
      if (strcmp(graph->text, again->text) != 0) abort();
      sl_graph_free(again);
    }
    sl_graph_free(graph);
  }
  free(text);
  return 0;
}
