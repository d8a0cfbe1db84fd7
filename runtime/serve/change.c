/* change.c: see change.h. A body that begins with "{" is a JSON object of settings, since a graph in YAML's flow style
 * is no text that anybody sends. */
#include "serve/change.h"

#include "base/diagnostics.h"
#include "base/document.h"
#include "base/json.h"
#include "session/inspect.h"

#include <stdlib.h>
#include <string.h>

enum { OK = 200, CONFLICT = 409 };

/* Texts of the command line, and those of a list of the document after them: NULL-terminated. NULL if out of memory. */
static const char **join(const char *const *given, struct sl_document *d, const yaml_node_t *list) {
  size_t count = 0, used = 0;
  while (given && given[count]) count++;
  const char **all = calloc(count + sl_document_length(list) + 1, sizeof *all);
  for (; all && used < count; used++) all[used] = given[used];
  for (size_t i = 0; all && i < sl_document_length(list); i++)
    all[used++] = sl_document_text(sl_document_item(d, list, i));
  return all;
}

/* Returns 1 if the value is a list of texts, or absent. */
static int is_list(struct sl_document *d, const yaml_node_t *list) {
  if (list && list->type != YAML_SEQUENCE_NODE) return 0;
  for (size_t i = 0; i < sl_document_length(list); i++)
    if (!sl_document_text(sl_document_item(d, list, i))) return 0;
  return 1;
}

static int has_only(struct sl_document *d, const yaml_node_t *map) {
  for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++) {
    const char *key = sl_document_text(sl_document_at(d, p->key));
    if (!key || (strcmp(key, "sets") != 0 && strcmp(key, "with") != 0)) return 0;
  }
  return 1;
}

static int change_settings(struct sl_session *session, struct sl_document *d, struct sl_diagnostics *messages) {
  const struct sl_options *o = sl_session_options_given(session);
  const yaml_node_t *root = sl_document_root(d);
  const yaml_node_t *sets = sl_document_member(d, root, "sets"), *with = sl_document_member(d, root, "with");
  if (!root || root->type != YAML_MAPPING_NODE || !has_only(d, root) || !is_list(d, sets) || !is_list(d, with)) {
    sl_diagnose(messages, SL_ERROR, NULL, NULL, "{\"sets\": [\"NODE.PROPERTY=VALUE\"], \"with\": [\"FILE\"]}",
                "the object may have lists of texts `sets` and `with`");
    return SL_EINVAL;
  }
  const char **all_sets = join(o->sets, d, sets), **all_with = join(o->with_paths, d, with);
  const struct sl_reload change = {.size = sizeof change, .sets = all_sets, .with_paths = all_with};
  const int status = all_sets && all_with ? sl_session_reload(session, &change, messages) : SL_ENOMEM;
  free((void *)all_sets);
  free((void *)all_with);
  return status;
}

static int change_graph(struct sl_session *session, const char *body, size_t bytes, struct sl_diagnostics *messages) {
  static const char *const nothing[] = {NULL};
  const struct sl_reload change = {.size = sizeof change,
                                   .graph_path = "POST /config",
                                   .graph_text = body,
                                   .graph_text_bytes = bytes,
                                   .sets = nothing,
                                   .uses = nothing,
                                   .with_paths = nothing};
  return sl_session_reload(session, &change, messages);
}

static int change(struct sl_session *session, const char *body, size_t bytes, struct sl_diagnostics *messages) {
  char reason[160];
  if (bytes == 0 || body[strspn(body, " \t\r\n")] != '{') return change_graph(session, body, bytes, messages);
  struct sl_document d;
  int status = sl_document_read_text(&d, "POST /config", body, bytes, reason, sizeof reason);
  if (status < 0) {
    const struct sl_location at = {.file = "POST /config", .line = d.line};
    sl_diagnose(messages, SL_ERROR, &at, NULL, NULL, "%s", reason);
  } else {
    status = change_settings(session, &d, messages);
  }
  sl_document_close(&d);
  return status;
}

static char *answer_of(int status, const struct sl_diagnostics *messages) {
  struct sl_json j;
  sl_json_begin(&j);
  j.one_line = 1;
  sl_json_begin_object(&j, NULL);
  sl_json_boolean(&j, "ok", status == SL_OK);
  sl_json_begin_array(&j, status == SL_OK ? "messages" : "errors");
  for (size_t i = 0; i < sl_diagnostics_count(messages); i++) {
    sl_json_begin_object(&j, NULL);
    sl_diagnostic_put(sl_diagnostics_at(messages, i), &j);
    sl_json_end_object(&j);
  }
  sl_json_end_array(&j);
  sl_json_end_object(&j);
  const char *text = sl_json_text(&j);
  char *copy = text ? strdup(text) : NULL;
  sl_json_free(&j);
  return copy;
}

unsigned sl_change_make(struct sl_session *session, const char *body, size_t bytes, char **answer) {
  struct sl_diagnostics *messages = sl_diagnostics_new();
  int status = SL_EINTERRUPTED;
  if (!messages) return CONFLICT;
  if (session)
    status = change(session, body, bytes, messages);
  else
    sl_diagnose(messages, SL_ERROR, NULL, NULL, NULL, "there is no run");
  if (status == SL_ENOMEM) sl_diagnose(messages, SL_ERROR, NULL, NULL, NULL, "%s", sl_error_text(status));
  *answer = answer_of(status, messages);
  sl_diagnostics_free(messages);
  return status == SL_OK ? OK : CONFLICT;
}
