/* header.c: values of the input's header become values of the source's properties (struct sl_source, `header`). They
 * are added to the tree of the source node before parameters are replaced, so that other nodes can refer to them. A
 * value that the graph sets stays, and must be equal (sl_draft_check_header).
 */
#include "graph/stages.h"
#include "plugin/property.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct sl_header_value {
  const char *property;
  double number;
};

struct reading {
  struct sl_reader *reader;
  struct sl_tree *node;
  const char *name; /* of the source node */
  const struct sl_algorithm *algorithm;
  struct sl_mark mark;
};

static void set(void *context, const char *property, double number) {
  struct reading *h = context;
  struct sl_reader *r = h->reader;
  const int32_t m = sl_member_find(h->algorithm, SL_MEMBER_PROPERTY, property);
  if (m == SL_NONE || (h->algorithm->members[m].flags & SL_FLAG_INPUT) == 0) {
    sl_report_error(r, h->mark, h->name, NULL,
                    "the source's function `header` sets `%s`, which is no value of the input", property);
    return;
  }
  if (r->header_count == SL_LIMIT_HEADER_VALUES) return;
  for (uint32_t i = 0; i < r->header_count; i++)
    if (strcmp(r->header[i].property, property) == 0) return;
  r->header[r->header_count++] = (struct sl_header_value){h->algorithm->members[m].name, number};
  struct sl_tree *values = sl_tree_get(h->node, "set");
  if (values == NULL) {
    values = sl_tree_new(r, SL_TREE_MAP, h->mark);
    sl_tree_add(r, h->node, "set", h->mark, values);
  }
  if (values->kind != SL_TREE_MAP || sl_tree_find(values, property) != NULL) return;
  char text[SL_NUMBER_TEXT_BYTES];
  sl_number_text(h->algorithm->members[m].type, number, text);
  const struct sl_mark mark =
      sl_mark_option(r, r->request->input_option, sl_arena_format(r->arena, "%s.%s", h->name, property), text);
  sl_tree_add(r, values, h->algorithm->members[m].name, mark,
              sl_tree_scalar(r, sl_arena_format(r->arena, "%s", text), 0, mark));
}

static void message(void *context, uint32_t severity, const char *format, ...) {
  struct reading *h = context;
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (severity >= SL_ERROR)
    sl_report_error(h->reader, h->mark, h->name, NULL, "%s", text);
  else
    sl_report(h->reader, severity, h->mark, h->name, NULL, "%s", text);
}

static void read_header(struct reading *h) {
  const struct sl_graph_request *request = h->reader->request;
  const struct sl_header_calls calls = {.size = sizeof calls, .context = h, .set = set, .message = message};
  const uint32_t errors = h->reader->error_count;
  const int64_t bytes =
      h->algorithm->source->header(request->input_name, request->input_bytes, request->input_count, &calls);
  if (h->reader->error_count > errors) return;
  if (bytes < 0)
    sl_report_error(h->reader, h->mark, h->name, NULL, "the header of %s cannot be read", request->input_name);
  else if ((uint64_t)bytes > request->input_count && !request->input_is_pipe && request->input_count < 1 << 20)
    sl_report_error(h->reader, h->mark, h->name, NULL, "%s ends after %zu of the %" PRId64 " bytes of its header",
                    request->input_name, request->input_count, bytes);
  else if ((uint64_t)bytes > request->input_count)
    sl_report_error(h->reader, h->mark, h->name, NULL,
                    "the header of %s has %" PRId64 " bytes; the first %zu bytes are known", request->input_name, bytes,
                    request->input_count);
}

void sl_read_header(struct sl_reader *r, struct sl_tree *root) {
  r->header = sl_arena_get(r->arena, SL_LIMIT_HEADER_VALUES, sizeof *r->header);
  if (r->request->input_name == NULL) return;
  for (struct sl_entry *node = sl_tree_get(root, "nodes")->first; node != NULL; node = node->next) {
    const struct sl_tree *use = sl_tree_get(node->value, "use");
    if (use == NULL || use->kind != SL_TREE_SCALAR) continue;
    const struct sl_algorithm *a = sl_registry_find(r->request->registry, use->text, r->request->target, NULL);
    if (a == NULL || a->kind != SL_KIND_SOURCE || a->source->header == NULL) continue;
    const uint32_t errors = r->error_count;
    struct reading h = {r, node->value, node->key, a,
                        sl_mark_option(r, r->request->input_option, node->key, r->request->input_name)};
    read_header(&h);
    if (r->error_count > errors && r->request->input_is_refused != NULL) *r->request->input_is_refused = 1;
    return; /* a second source is an error */
  }
}

void sl_draft_check_header(struct sl_draft *draft, const struct sl_node *node) {
  struct sl_reader *r = draft->reader;
  for (uint32_t i = 0; i < r->header_count && node->algorithm->kind == SL_KIND_SOURCE; i++) {
    char here[SL_NUMBER_TEXT_BYTES], there[SL_NUMBER_TEXT_BYTES];
    const int32_t m = sl_member_find(node->algorithm, SL_MEMBER_PROPERTY, r->header[i].property);
    if (m == SL_NONE || node->values[m].number == r->header[i].number) continue;
    const struct sl_location at = node->value_locations[m];
    sl_diagnose(r->diagnostics, SL_ERROR, &at, node->name, "remove it: the value is read from the input",
                "`%s` is %s, but %s has %s", r->header[i].property,
                sl_number_text(node->algorithm->members[m].type, node->values[m].number, here), r->request->input_name,
                sl_number_text(node->algorithm->members[m].type, r->header[i].number, there));
    r->error_count++;
  }
}
