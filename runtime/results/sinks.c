/* sinks.c: calls of sinks. Their reports at the end are kept as JSON text and as lines for the final table. After
 * --resume, a sink knows only the events since then, and its report states the number of events of its configuration
 * before them. */
#include "results/sinks.h"

#include "base/json.h"
#include "base/table_text.h"
#include "execute/delivery.h"
#include "results/configurations.h"

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

static int finish_sink(struct sl_sinks *sinks, uint32_t n) {
  struct sl_setup *s = sinks->setup;
  const struct sl_node *node = &s->graph->nodes[n];
  struct report_context c = {0};
  sl_json_begin(&c.json);
  sl_json_begin_object(&c.json, NULL);
  const uint64_t before = sinks->delivery->earlier_events, first = sinks->configurations->first_event;
  if (before > first) sl_json_unsigned(&c.json, "events_before", before - first);
  const struct sl_report report = {sizeof report, 0,       &c,     begin_object, end_object, begin_array,
                                   end_array,     integer, number, text,         add_line};
  const struct sl_sink *sink = node->algorithm->sink;
  int status = sink->finish ? sink->finish(s->states[n], &s->contexts[n]->services, &report) : SL_OK;
  sl_json_end_object(&c.json);
  const char *json = sl_json_text(&c.json);
  if (status < 0) {
    sl_report_node_failure(s, n, status, "could not finish", NULL);
  } else if (!json || c.failed) {
    sl_diagnose(s->diagnostics, SL_ERROR, &node->location, node->name, NULL, "%s gave a report that does not nest",
                node->use);
    status = SL_EPLUGIN;
  } else {
    sinks->json[n] = strdup(json);
    sinks->lines[n] = c.lines;
    c.lines = NULL;
    if (!sinks->json[n]) status = SL_ENOMEM;
  }
  sl_json_free(&c.json);
  free(c.lines);
  return status;
}

int sl_sinks_finish(struct sl_sinks *sinks) {
  const struct sl_setup *s = sinks->setup;
  int result = SL_OK;
  for (uint32_t i = 0; i < s->graph->order_count; i++) {
    const uint32_t n = s->graph->order[i];
    if (s->graph->nodes[n].algorithm->kind != SL_KIND_SINK || !s->opened[n]) continue;
    const int status = finish_sink(sinks, n);
    if (status < 0) result = status;
  }
  return result;
}

/* ------------------------------------------------------------------------------------------------ while it runs */

static int deliver(void *context, struct sl_slot *slot, const struct sl_batch *whole, int empty) {
  const struct sl_setup *s = ((const struct sl_sinks *)context)->setup;
  struct sl_batch batch = *whole;
  for (uint32_t i = 0; i < s->graph->order_count; i++) {
    const uint32_t n = s->graph->order[i];
    const struct sl_node *node = &s->graph->nodes[n];
    if (node->algorithm->kind != SL_KIND_SINK) continue;
    const struct sl_scope scope = sl_scope_begin(slot, SL_ACTIVITY_OF_NODE(n));
    sl_select_events(slot, n, empty, &batch);
    const int status =
        node->algorithm->sink->consume(s->states[n], &s->contexts[n]->services, slot->sink_args[n], &batch);
    sl_scope_end_span(slot, scope, node->name, "events", SL_BATCH_COUNT(&batch));
    SL_NOTIFY(slot->observers, node, slot, NULL, n, SL_BATCH_COUNT(&batch));
    sl_report_node_failure(s, n, status, "failed", NULL);
    if (status < 0) return status;
  }
  return SL_OK;
}

int sl_sinks_rotate(const struct sl_sinks *sinks) {
  const struct sl_setup *s = sinks->setup;
  for (uint32_t i = 0; i < s->graph->order_count; i++) {
    const uint32_t n = s->graph->order[i];
    const struct sl_node *node = &s->graph->nodes[n];
    if (node->algorithm->kind != SL_KIND_SINK || !node->algorithm->sink->rotate || !s->opened[n]) continue;
    const int status = node->algorithm->sink->rotate(s->states[n], &s->contexts[n]->services, sinks->args[n]);
    sl_report_node_failure(s, n, status, "could not begin a new file", NULL);
    if (status < 0) return status;
  }
  return SL_OK;
}

/* Flushes sinks, so that their output survives the process. */
static int flush(void *context, uint64_t now_ns) {
  (void)now_ns;
  const struct sl_setup *s = ((const struct sl_sinks *)context)->setup;
  for (uint32_t i = 0; i < s->graph->order_count; i++) {
    const uint32_t n = s->graph->order[i];
    const struct sl_node *node = &s->graph->nodes[n];
    if (node->algorithm->kind != SL_KIND_SINK || !node->algorithm->sink->flush || !s->opened[n]) continue;
    const int status = node->algorithm->sink->flush(s->states[n], &s->contexts[n]->services);
    sl_report_node_failure(s, n, status, "failed", NULL);
    if (status < 0) return status;
  }
  return SL_OK;
}

const struct sl_observer_calls sl_sinks_observer = {.deliver = deliver, .tick = flush};

/* --------------------------------------------------------------------------------------------- opening, closing */

int sl_sinks_open(struct sl_sinks *sinks, struct sl_setup *s) {
  sinks->setup = s;
  sinks->json = calloc(s->graph->node_count + 1, sizeof *sinks->json);
  sinks->lines = calloc(s->graph->node_count + 1, sizeof *sinks->lines);
  return sinks->json && sinks->lines ? SL_OK : SL_ENOMEM;
}

void sl_sinks_close(struct sl_sinks *sinks) {
  for (uint32_t n = 0; sinks->json && sinks->lines && n < sinks->setup->graph->node_count; n++) {
    free(sinks->json[n]);
    free(sinks->lines[n]);
  }
  free(sinks->json);
  free(sinks->lines);
  sinks->json = sinks->lines = NULL;
}

int sl_sinks_begin(struct sl_sinks *sinks, const struct sl_slot *slot) {
  const struct sl_setup *s = sinks->setup;
  sinks->args = slot->sink_args;
  if (s->options.explain) return SL_OK; /* sinks are not called */
  for (uint32_t i = 0; i < s->graph->order_count; i++) {
    const uint32_t n = s->graph->order[i];
    const struct sl_algorithm *a = s->graph->nodes[n].algorithm;
    if (a->kind != SL_KIND_SINK) continue;
    int status = SL_OK;
    s->states[n] = calloc(1, a->state_size + 1u);
    if (!s->states[n]) return SL_ENOMEM;
    if (a->sink->open)
      status = a->sink->open(s->states[n], &s->contexts[n]->services, slot->sink_args[n], s->options.output_path);
    s->opened[n] = 1;
    sl_report_node_failure(s, n, status, "could not start", NULL);
    if (status < 0) return status;
  }
  return SL_OK;
}

void sl_sinks_end(struct sl_sinks *sinks) {
  const struct sl_setup *s = sinks->setup;
  for (uint32_t n = 0; n < s->graph->node_count; n++) {
    const struct sl_algorithm *a = s->graph->nodes[n].algorithm;
    if (!s->opened[n] || a->kind != SL_KIND_SINK) continue;
    if (a->sink->close) a->sink->close(s->states[n]);
    s->opened[n] = 0;
  }
}
