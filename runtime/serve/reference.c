/* reference.c: see reference.h. The settings of two runs are compared in the texts of their whole graphs, in which all
 * defaults are explicit and nodes and properties are sorted. */
#include "serve/reference.h"

#include "base/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DIFFERENCES_SHOWN = 50 };

/* -------------------------------------------------------------------------------------------------- reading */

static int is_run(struct sl_document *d) {
  yaml_node_t *root = sl_document_root(d);
  return sl_document_text(sl_document_member(d, root, "graph_text")) && sl_document_member(d, root, "totals") &&
         sl_document_number(sl_document_member(d, root, "events")) >= 0;
}

static int is_histograms(struct sl_document *d) {
  const yaml_node_t *list = sl_document_member(d, sl_document_root(d), "histograms");
  return list && list->type == YAML_SEQUENCE_NODE;
}

static int read_one(struct sl_reference *r, const char *path, struct sl_diagnostics *d) {
  static const char hint[] = "it is the JSON of a run (--json) or of output.histogram_sink";
  struct sl_document document;
  char reason[256];
  const int status = sl_document_read(&document, path, reason, sizeof reason);
  const int run = status == SL_OK && is_run(&document), histograms = status == SL_OK && is_histograms(&document);
  struct sl_document *to = run ? &r->run : &r->histograms;
  if (status < 0)
    sl_diagnose(d, SL_ERROR, NULL, NULL, hint, "--reference %s: %s", path, reason);
  else if (!run && !histograms)
    sl_diagnose(d, SL_ERROR, NULL, NULL, hint, "--reference %s: this is not a reference", path);
  else if (to->is_open)
    sl_diagnose(d, SL_ERROR, NULL, NULL, NULL, "--reference %s: there is another file of this kind: %s", path,
                to->path);
  if (status < 0 || (!run && !histograms) || to->is_open) {
    sl_document_close(&document);
    return SL_EINVAL;
  }
  char **name = run ? &r->run_path : &r->histograms_path;
  *to = document;
  to->path = *name = strdup(path);
  if (run) r->events = sl_document_number(sl_document_member(to, sl_document_root(to), "events"));
  return *name ? SL_OK : SL_ENOMEM;
}

int sl_reference_read(struct sl_reference *r, const char *const *paths, struct sl_diagnostics *d) {
  *r = (struct sl_reference){.events = NAN};
  int status = SL_OK;
  for (; paths && *paths && status == SL_OK; paths++) status = read_one(r, *paths, d);
  if (status == SL_ENOMEM) sl_diagnose(d, SL_ERROR, NULL, NULL, NULL, "%s", sl_error_text(status));
  return status;
}

void sl_reference_close(struct sl_reference *r) {
  sl_document_close(&r->run);
  sl_document_close(&r->histograms);
  free(r->run_path);
  free(r->histograms_path);
  sl_differences_close(&r->differences);
}

double sl_reference_count(struct sl_reference *r, const char *output, const char *field, const char *name) {
  if (!r->run.is_open) return NAN;
  yaml_node_t *totals = sl_document_member(&r->run, sl_document_root(&r->run), "totals");
  yaml_node_t *entry = sl_document_member(&r->run, sl_document_member(&r->run, totals, output), name);
  return sl_document_number(sl_document_member(&r->run, entry, field));
}

int sl_reference_compare(struct sl_reference *r, const char *graph_text) {
  sl_differences_close(&r->differences);
  if (!r->run.is_open) return SL_OK;
  const yaml_node_t *text = sl_document_member(&r->run, sl_document_root(&r->run), "graph_text");
  return sl_settings_compare(sl_document_text(text), graph_text, &r->differences);
}

/* ---------------------------------------------------------------------------------------------------- JSON */

static int is_number(const yaml_node_t *node) {
  return node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && isfinite(sl_document_number(node));
}

/* Writes a value of a document, which JSON can hold: a JSON file was read as YAML. */
static void write_node(struct sl_document *d, const char *key, const yaml_node_t *node, struct sl_json *j) {
  if (!node) {
    sl_json_string(j, key, NULL);
  } else if (node->type == YAML_MAPPING_NODE) {
    sl_json_begin_object(j, key);
    const char *name;
    const yaml_node_t *member;
    for (size_t i = 0; (member = sl_document_member_at(d, node, i, &name)); i++)
      if (name) write_node(d, name, member, j);
    sl_json_end_object(j);
  } else if (node->type == YAML_SEQUENCE_NODE) {
    sl_json_begin_array(j, key);
    for (size_t i = 0; i < sl_document_length(node); i++) write_node(d, NULL, sl_document_item(d, node, i), j);
    sl_json_end_array(j);
  } else if (is_number(node)) {
    sl_json_number(j, key, sl_document_number(node));
  } else {
    const int is_null =
        node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && strcmp(sl_document_text(node), "null") == 0;
    sl_json_string(j, key, is_null ? NULL : sl_document_text(node));
  }
}

void sl_reference_write(struct sl_reference *r, struct sl_json *j) {
  sl_json_begin_object(j, NULL);
  sl_json_number(j, "events", r->events);
  if (r->run.is_open)
    write_node(&r->run, "totals", sl_document_member(&r->run, sl_document_root(&r->run), "totals"), j);
  struct sl_document *h = &r->histograms;
  if (h->is_open) write_node(h, "histograms", sl_document_member(h, sl_document_root(h), "histograms"), j);
  sl_json_end_object(j);
}

void sl_reference_write_status(struct sl_reference *r, struct sl_json *j) {
  const struct sl_differences *d = &r->differences;
  if (!r->run_path && !r->histograms_path) {
    sl_json_string(j, "reference", NULL);
    return;
  }
  sl_json_begin_object(j, "reference");
  sl_json_begin_array(j, "files");
  if (r->run_path) sl_json_string(j, NULL, r->run_path);
  if (r->histograms_path) sl_json_string(j, NULL, r->histograms_path);
  sl_json_end_array(j);
  sl_json_number(j, "events", r->events);
  sl_json_begin_array(j, "differences");
  for (uint32_t i = 0; i < d->count && i < DIFFERENCES_SHOWN; i++) {
    sl_json_begin_object(j, NULL);
    sl_json_string(j, "setting", d->at[i].setting);
    sl_json_string(j, "reference", d->at[i].before);
    sl_json_string(j, "value", d->at[i].now);
    sl_json_end_object(j);
  }
  sl_json_end_array(j);
  sl_json_unsigned(j, "differences_total", d->count);
  sl_json_end_object(j);
}
