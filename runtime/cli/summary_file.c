/* summary_file.c: see summary_file.h. */
#include "cli/summary_file.h"

#include "cli/cli.h"

/* The first key that every summary has and this file lacks, as text for a message; NULL if none is missing. The JSON of
 * other commands lacks some. */
static const char *missing_in(struct sl_document *s) {
  const yaml_node_t *root = sl_document_root(s);
  if (!root || root->type != YAML_MAPPING_NODE) return "it is not an object";
  if (!sl_document_text(sl_document_member(s, root, "graph_digest"))) return "it has no `graph_digest`";
  if (!(sl_document_number(sl_document_member(s, root, "events")) >= 0)) return "it has no number `events`";
  static const char *const lists[][2] = {{"nodes", "it has no list `nodes`"}, {"outputs", "it has no list `outputs`"}};
  for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
    const yaml_node_t *list = sl_document_member(s, root, lists[i][0]);
    if (!list || list->type != YAML_SEQUENCE_NODE) return lists[i][1];
  }
  return NULL;
}

int cli_read_summary(struct sl_document *s, const char *path) {
  char reason[256];
  const int status = sl_document_read(s, path, reason, sizeof reason);
  const char *missing = status == SL_OK ? missing_in(s) : status == SL_EFORMAT && s->line == 0 ? reason : NULL;
  if (missing)
    fprintf(stderr, "error: %s: not a summary of a run: %s; `sluice run GRAPH --json FILE` writes one\n", path,
            missing);
  else if (s->line > 0)
    fprintf(stderr, "error: %s:%u: %s\n", path, s->line, reason);
  else if (status < 0)
    fprintf(stderr, "error: %s: %s\n", path, reason);
  return status < 0 || missing ? CLI_WRONG : CLI_OK;
}
