/* sinks.c: the end of sinks: what they report is kept as JSON text and as lines of the final table. */
#include "base/table_text.h"
#include "execute/session.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct report_context {
  struct sl_json json;
  char *lines;
  size_t length;
  int failed;
};

static struct sl_json *json_of(void *context) { return &((struct report_context *)context)->json; }

static void begin_object(void *context, const char *key) { sl_json_begin_object(json_of(context), key); }
static void end_object(void *context) { sl_json_end_object(json_of(context)); }
static void begin_array(void *context, const char *key) { sl_json_begin_array(json_of(context), key); }
static void end_array(void *context) { sl_json_end_array(json_of(context)); }
static void integer(void *context, const char *key, int64_t value) { sl_json_integer(json_of(context), key, value); }
static void number(void *context, const char *key, double value) { sl_json_number(json_of(context), key, value); }
static void text(void *context, const char *key, const char *value) { sl_json_string(json_of(context), key, value); }

static void add_line(void *context, const char *format, ...) {
  struct report_context *c = context;
  va_list arguments;
  va_start(arguments, format);
  char *text = sl_table_text(format, arguments);
  va_end(arguments);
  const size_t bytes = text ? strlen(text) : 0;
  char *lines = text ? realloc(c->lines, c->length + bytes + 2) : NULL;
  if (lines) {
    memcpy(lines + c->length, text, bytes + 1);
    lines[c->length + bytes] = '\n';
    lines[c->length + bytes + 1] = '\0';
    c->lines = lines;
    c->length += bytes + 1;
  } else {
    c->failed = 1;
  }
  free(text);
}

static int finish_sink(struct sl_session *s, uint32_t n) {
  const struct sl_node *node = &s->graph->nodes[n];
  struct report_context c = {0};
  sl_json_begin(&c.json);
  sl_json_begin_object(&c.json, NULL);
  const struct sl_report report = {sizeof report, 0,       &c,     begin_object, end_object, begin_array,
                                   end_array,     integer, number, text,         add_line};
  const struct sl_sink *sink = node->algorithm->sink;
  int status = sink->finish ? sink->finish(s->states[n], &s->contexts[n].services, &report) : SL_OK;
  sl_json_end_object(&c.json);
  const char *json = sl_json_text(&c.json);
  if (status < 0) {
    sl_say_node_failure(s, n, status, "could not finish", NULL);
  } else if (!json || c.failed) {
    sl_diagnose(s->diagnostics, SL_ERROR, &node->place, node->name, NULL, "%s gave a report that does not nest",
                node->use);
    status = SL_EPLUGIN;
  } else {
    s->delivery.sink_json[n] = strdup(json);
    s->delivery.sink_lines[n] = c.lines;
    c.lines = NULL;
    if (!s->delivery.sink_json[n]) status = SL_ENOMEM;
  }
  sl_json_free(&c.json);
  free(c.lines);
  return status;
}

int sl_finish_sinks(struct sl_session *s) {
  int result = SL_OK;
  sl_identity_update(s);
  for (uint32_t i = 0; i < s->graph->order_count; i++) {
    const uint32_t n = s->graph->order[i];
    if (s->graph->nodes[n].algorithm->kind != SL_KIND_SINK || !s->opened[n]) continue;
    const int status = finish_sink(s, n);
    if (status < 0) result = status;
  }
  return result;
}
