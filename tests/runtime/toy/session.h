/* session.h: helpers to run graphs of the toy plugin on the device that SLUICE_TEST_DEVICE names. */
#ifndef TOY_SESSION_H
#define TOY_SESSION_H

#include <sluice/sluice.h>

#include <stdio.h>
#include <string.h>

/* Options for a graph, which messages call toy.yaml. */
static inline struct sl_options toy_options(const char *graph, const char *device) {
  static const char *const folders[] = {TOY_FOLDER, NULL};
  struct sl_options o = sl_options_default();
  o.graph_path = "toy.yaml";
  o.graph_text = graph;
  o.graph_text_bytes = strlen(graph);
  o.plugin_paths = folders;
  o.device = device;
  return o;
}

/* Returns all diagnostics as text, to be freed. */
static inline char *toy_messages(const struct sl_diagnostics *d) {
  char *messages = NULL;
  size_t size = 0;
  FILE *file = open_memstream(&messages, &size);
  sl_diagnostics_print(d, file);
  fclose(file);
  return messages;
}

/* Writes the final table and the JSON, to be freed; returns the status of the JSON. */
static inline int toy_reports(const struct sl_session *session, char **table, char **json) {
  size_t size = 0;
  FILE *file = open_memstream(table, &size);
  sl_session_write_table(session, 0, file);
  fclose(file);
  file = open_memstream(json, &size);
  const int status = sl_session_write_json(session, file);
  fclose(file);
  return status;
}

/* Returns 1 for a GPU that is absent or that nothing was built for, and prints the reason; the test ends with 77. */
static inline int toy_device_is_absent(const char *device) {
  if (strncmp(device, "cuda", 4) != 0) return 0;
  struct sl_diagnostics *d = sl_diagnostics_new();
  struct sl_session *session = NULL;
  const struct sl_options o = toy_options("sluice: 1\nnodes:\n  raw: { use: toy.source }\n", device);
  const int status = sl_session_open(&o, d, &session);
  if (status < 0 && sl_diagnostics_count(d) > 0) printf("skipped: %s\n", sl_diagnostics_at(d, 0)->message);
  sl_session_close(session);
  sl_diagnostics_free(d);
  return status < 0;
}

#endif
