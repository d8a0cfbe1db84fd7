/* services.c: services of the runtime for plugins, and the host calls before a run that need them: checks of
 * properties.
 */
#include "execute/services.h"

#include "execute/binding.h"
#include "input/feed.h"
#include "layout/bind.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Follows the property name in a message: the message is about this byte of the property text. */
static const char byte_mark[] = "+%u";
enum { BYTE_MARK_LENGTH = sizeof byte_mark - 1, FORMAT_MAX = 1000 };

/* The property that a message begins with ("NAME: ..." or "NAME+%u: ..."), or SL_NONE. */
static int32_t property_of(const struct sl_node *node, const char *format) {
  for (uint32_t m = 0; m < node->algorithm->member_count; m++) {
    const struct sl_member *member = &node->algorithm->members[m];
    const size_t length = strlen(member->name);
    if (member->kind != SL_MEMBER_PROPERTY || strncmp(format, member->name, length) != 0) continue;
    const char *rest = format + length;
    if (member->type == SL_TYPE_string && strncmp(rest, byte_mark, BYTE_MARK_LENGTH) == 0) rest += BYTE_MARK_LENGTH;
    if (*rest == ':') return (int32_t)m;
  }
  return SL_NONE;
}

static uint32_t count_characters(const char *text, size_t bytes) {
  uint32_t count = 0;
  for (size_t i = 0; i < bytes && text[i]; i++) count += ((unsigned char)text[i] & 0xC0) != 0x80;
  return count;
}

/* Location of a byte of the property text, or of its beginning. */
static struct sl_location location_in_text(const struct sl_node *node, uint32_t member, uint32_t byte) {
  struct sl_location location = node->value_locations[member];
  const char *text = node->values[member].text;
  const uint32_t begins = node->text_offsets[member];
  if (begins == 0 || strcspn(text, "\r\n") < byte) return location;
  if (location.line == 0) location.source = text; /* set by an option: the value itself is shown */
  location.column = (location.line > 0 ? location.column + begins - 1 : 1) + count_characters(text, byte);
  const size_t shown = location.source ? count_characters(location.source, strlen(location.source)) : 0;
  if (location.column > shown + 1) location.source = NULL; /* a long line is shown truncated */
  return location;
}

static void message(void *context, uint32_t severity, const char *format, ...) {
  struct sl_node_context *c = context;
  const struct sl_node *node = &c->setup->graph->nodes[c->node];
  if (severity >= SL_ERROR) atomic_fetch_add(&c->errors, 1);
  const int32_t member = property_of(node, format);
  const size_t name = member != SL_NONE ? strlen(node->algorithm->members[member].name) : 0;
  struct sl_location location = {NULL, NULL, 0, 0};
  char without_mark[FORMAT_MAX];
  const char *kind = format, *shown = format;
  va_list arguments;
  va_start(arguments, format);
  if (member != SL_NONE) location = node->value_locations[member];
  if (member == SL_NONE && c->node == c->setup->graph->source) location.file = c->setup->closing_path;
  if (member != SL_NONE && format[name] == '+' && strlen(format) < sizeof without_mark) {
    const uint32_t byte = va_arg(arguments, uint32_t);
    if (location.file) location = location_in_text(node, (uint32_t)member, byte);
    snprintf(without_mark, sizeof without_mark, "%.*s%s", (int)name, format, format + name + BYTE_MARK_LENGTH);
    shown = without_mark;
  }
  sl_vdiagnose_often(c->setup->diagnostics, severity, location.file ? &location : NULL, node->name, NULL, kind, shown,
                     arguments);
  va_end(arguments);
}

/* Member `port` of a constant, or entry "PORT.NAME" of a list port; NULL if there is none. */
static const struct sl_slot_member *find_port(const struct sl_node_context *c, const char *port,
                                              const struct sl_member **member) {
  const struct sl_node *node = &c->setup->graph->nodes[c->node];
  const size_t length = strcspn(port, ".");
  for (uint32_t m = 0; m < node->algorithm->member_count; m++) {
    *member = &node->algorithm->members[m];
    const struct sl_slot_member *at = &c->setup->layout->members[c->node][m];
    if (strncmp((*member)->name, port, length) != 0 || (*member)->name[length] != '\0') continue;
    if (!port[length] && !((*member)->flags & SL_FLAG_LIST)) return at;
    for (uint32_t k = 0; port[length] && k < node->inputs[m].count; k++)
      if (node->inputs[m].names && strcmp(node->inputs[m].names[k], port + length + 1) == 0) return &at->entries[k];
  }
  return NULL;
}

/* Storage of a field of a port of a constant, or SL_NONE. */
static int32_t find_array(const struct sl_node_context *c, const char *port, const char *field) {
  const struct sl_member *member;
  const struct sl_slot_member *at = find_port(c, port, &member);
  const int f = at && member->collection ? sl_field_index(member->collection, field) : -1;
  return f < 0 ? SL_NONE : at->storage[f];
}

static void *make_array(void *context, const char *port, const char *field, uint64_t count) {
  struct sl_node_context *c = context;
  struct sl_setup *s = c->setup;
  const int32_t storage = find_array(c, port, field);
  const int writable = storage != SL_NONE && s->layout->storage[storage].node == c->node;
  if (!writable || s->arrays[storage].values) {
    message(c, SL_ERROR, "asked for an array %s.%s that it %s", port, field,
            writable ? "already has" : "does not have");
    return NULL;
  }
  const struct sl_storage *at = &s->layout->storage[storage];
  const struct sl_field *f = &s->graph->nodes[c->node].algorithm->members[at->member].collection->fields[at->field];
  const uint64_t bytes = sl_type_bytes(f->type);
  if (count > UINT32_MAX) {
    message(c, SL_ERROR, "asked for %llu values of %s.%s", (unsigned long long)count, port, field);
    return NULL;
  }
  void *values = sl_array_open(s, &s->arrays[storage], count, count * bytes);
  if (!values) message(c, SL_ERROR, "out of memory for %llu values of %s.%s", (unsigned long long)count, port, field);
  return values;
}

static uint64_t array_count(void *context, const char *port, const char *field) {
  const struct sl_node_context *c = context;
  const int32_t storage = find_array(c, port, field);
  return storage == SL_NONE ? 0 : c->setup->arrays[storage].count;
}

static void refuse_table(const struct sl_node_context *c, const char *format, const char *table) {
  const struct sl_node *node = &c->setup->graph->nodes[c->node];
  sl_diagnose(c->setup->diagnostics, SL_ERROR, &node->location, node->name, NULL, format, table);
}

static void *make_table(void *context, const char *table, uint64_t count) {
  const struct sl_node_context *c = context;
  struct sl_setup *s = c->setup;
  const struct sl_algorithm *a = s->graph->nodes[c->node].algorithm;
  struct sl_prepared *prepared = &s->prepared[c->node];
  const int m = sl_member_index(a, table);
  if (m < 0 || a->members[m].kind != SL_MEMBER_TABLE || !prepared->tables) {
    refuse_table(c, "asked for a table %s, which it does not have", table);
    return NULL;
  }
  struct sl_array *array = &prepared->tables[m];
  if (array->values) {
    refuse_table(c, "asked for its table %s twice", table);
    return NULL;
  }
  const uint64_t bytes = (count + !count) * sl_type_bytes(a->members[m].type); /* at least one value */
  void *values = count <= UINT32_MAX ? sl_array_open(s, array, count, bytes) : NULL;
  if (!values) refuse_table(c, "out of memory for its table %s", table);
  return values;
}

void *sl_array_open(struct sl_setup *s, struct sl_array *array, uint64_t count, uint64_t bytes) {
  void *values = s->backend->allocate_host(s->devices[0].device, bytes);
  if (!values) return NULL;
  *array = (struct sl_array){.values = values, .count = count, .bytes = bytes};
  for (uint32_t d = 0; d < s->device_count && !s->backend->is_device; d++) array->device_values[d] = values;
  return memset(values, 0, bytes); /* host memory of a device is not zeroed */
}

int sl_array_upload(struct sl_setup *s, struct sl_array *array, const struct sl_device_state **failed) {
  for (uint32_t d = 0; d < s->device_count; d++) {
    struct sl_device *device = s->devices[d].device;
    *failed = &s->devices[d];
    array->device_values[d] = s->backend->allocate(device, array->bytes);
    if (!array->device_values[d]) return SL_ENOMEM;
    const int status = s->backend->upload_now(device, array->device_values[d], array->values, array->bytes);
    if (status < 0) return status;
  }
  return SL_OK;
}

void sl_array_close(const struct sl_setup *s, struct sl_array *array) {
  for (uint32_t d = 0; d < s->device_count && s->backend->is_device; d++)
    if (array->device_values[d]) s->backend->release(s->devices[d].device, array->device_values[d], array->bytes);
  if (array->values) s->backend->release_host(s->devices[0].device, array->values, array->bytes);
}

static void in_parallel(void *context, uint32_t count, sl_worker_body *body, void *work) {
  const struct sl_node_context *c = context;
  struct sl_setup *s = c->setup;
  int error;
  sl_workers_run(s->workers, count, body, work);
  const uint32_t missing = sl_workers_missing(s->workers, &error);
  if (missing == 0 || s->is_short_reported) return;
  s->is_short_reported = 1;
  sl_diagnose(s->diagnostics, SL_WARNING, NULL, NULL, "use fewer with --source-threads",
              "%u of %u source threads could not be started: %s", missing, s->source_threads, strerror(error));
}

static void open_services(struct sl_setup *s, uint32_t node) {
  const uint32_t kind = s->graph->nodes[node].algorithm->kind;
  const int is_fed = s->options.feed && s->graph->nodes[node].algorithm->takes_feed;
  struct sl_node_context *c = s->contexts[node];
  c->setup = s;
  c->node = node;
  c->services = (struct sl_services){.size = sizeof c->services,
                                     .context = c,
                                     .message = message,
                                     .make_array = make_array,
                                     .array_count = array_count,
                                     .node_name = s->graph->nodes[node].name,
                                     .make_table = make_table,
                                     .output = kind == SL_KIND_SINK ? s->output_calls : NULL,
                                     .in_parallel = kind == SL_KIND_SOURCE ? in_parallel : NULL,
                                     .workers = kind == SL_KIND_SOURCE ? s->source_threads : 0,
                                     .draws = kind == SL_KIND_SINK && s->options.draws != 0,
                                     .feed = is_fed ? sl_feed_calls_of(s->options.feed) : NULL,
                                     .records = kind == SL_KIND_SOURCE ? s->record_calls : NULL,
                                     .input_path = s->input_path,
                                     .input_bytes = s->input_bytes,
                                     .input_count = s->input_count};
}

int sl_services_open(struct sl_setup *s) {
  s->contexts = calloc(s->graph->node_count + 1, sizeof *s->contexts);
  for (uint32_t n = 0; s->contexts && n < s->graph->node_count; n++) {
    s->contexts[n] = calloc(1, sizeof **s->contexts);
    if (!s->contexts[n]) return SL_ENOMEM;
    open_services(s, n);
  }
  return s->contexts ? SL_OK : SL_ENOMEM;
}

void sl_services_keep(struct sl_setup *s, uint32_t node, struct sl_node_context *context) {
  free(s->contexts[node]);
  s->contexts[node] = context;
  context->node = node;
  context->services.node_name = s->graph->nodes[node].name;
}

/* Shows the check of a plugin the names of the producers of list ports and which optional inputs are connected. */
static void name_producers(const struct sl_node *node, void *args) {
  for (uint32_t m = 0; m < node->algorithm->member_count; m++) {
    const struct sl_member *member = &node->algorithm->members[m];
    if (member->flags & SL_FLAG_LIST)
      *sl_args_views(args, member) = (struct sl_views){NULL, node->inputs[m].names, node->inputs[m].count, 0};
    else if ((member->flags & SL_FLAG_OPTIONAL) && node->inputs[m].count > 0)
      sl_args_bound(args, member, 0)->capacity = 1;
  }
}

/* Calls the checks of all plugins, so that all errors are reported. Fails if one refuses its properties. */
int sl_properties_check(struct sl_setup *s) {
  int result = SL_OK;
  for (uint32_t i = 0; i < s->graph->order_count; i++) {
    const struct sl_node *node = &s->graph->nodes[s->graph->order[i]];
    if (!node->algorithm->check) continue;
    void *args = calloc(1, node->algorithm->args_size + 1u);
    if (!args) return SL_ENOMEM;
    sl_graph_fill_properties(node, args);
    name_producers(node, args);
    const int status = node->algorithm->check(&s->contexts[s->graph->order[i]]->services, args);
    free(args);
    sl_report_node_failure(s, s->graph->order[i], status, "refuses its properties", NULL);
    if (status < 0) result = SL_EGRAPH;
  }
  return result;
}

/* ------------------------------------------------------------------------------------------------------ tables */

/* Large enough for the fields of one event without items (the largest is PER_EVENT_OF(n)) and for totals. */
static uint64_t zeros_bytes(const struct sl_setup *s) {
  const struct sl_graph *g = s->graph;
  uint64_t bytes = 256;
  for (uint32_t i = 0; i < g->order_count; i++) {
    const struct sl_algorithm *a = g->nodes[g->order[i]].algorithm;
    for (uint32_t m = 0; m < a->member_count; m++)
      for (uint32_t f = 0; a->members[m].collection && f < a->members[m].collection->field_count; f++)
        if (2ull * 8u * a->members[m].collection->fields[f].width > bytes)
          bytes = 2ull * 8u * a->members[m].collection->fields[f].width;
  }
  for (uint32_t i = 0; i < s->layout->storage_count; i++) {
    const struct sl_storage *at = &s->layout->storage[i];
    const struct sl_member *m = at->node < g->node_count ? &g->nodes[at->node].algorithm->members[at->member] : NULL;
    if (m && m->kind == SL_MEMBER_OUT && sl_is_totals(m->collection) && at->bytes > bytes) bytes = at->bytes;
  }
  return bytes;
}

/* Number of source threads that may spin between loops, so that half of the processors stay free. If slots need
 * processors too, all or none spin. */
static uint32_t spinning_workers(const struct sl_setup *s) {
  const uint32_t half = sl_processors() / 2;
  return s->backend->is_device || half >= s->source_threads ? half : 0;
}

int sl_setup_open_tables(struct sl_setup *s) {
  const uint32_t nodes = s->graph->node_count + 1;
  s->arrays = calloc(s->layout->storage_count + 1, sizeof *s->arrays);
  s->prepared = calloc(nodes, sizeof *s->prepared);
  s->states = calloc(nodes, sizeof *s->states);
  s->opened = calloc(nodes, sizeof *s->opened);
  s->zeros = calloc(1, zeros_bytes(s));
  return s->arrays && s->prepared && s->states && s->opened && s->zeros ? SL_OK : SL_ENOMEM;
}

int sl_setup_open_source(struct sl_setup *s) {
  const struct sl_node *source = &s->graph->nodes[s->graph->source];
  s->source_args = calloc(1, source->algorithm->args_size + 1u);
  if (!s->source_args) return SL_ENOMEM;
  sl_graph_fill_properties(source, s->source_args);
  return SL_OK;
}

int sl_setup_open_workers(struct sl_setup *s) {
  s->workers = sl_workers_new(s->source_threads, spinning_workers(s));
  s->contexts[s->graph->source]->services.workers = s->source_threads; /* as many as memory allows */
  return s->workers ? SL_OK : SL_ENOMEM;
}

void sl_prepared_close(const struct sl_setup *s, uint32_t n) {
  struct sl_prepared *prepared = &s->prepared[n];
  for (uint32_t m = 0; prepared->tables && m < s->graph->nodes[n].algorithm->member_count; m++)
    sl_array_close(s, &prepared->tables[m]);
  free(prepared->tables);
  free(prepared->args);
}

void sl_setup_close_tables(struct sl_setup *s) {
  for (uint32_t i = 0; s->arrays && i < s->layout->storage_count; i++) sl_array_close(s, &s->arrays[i]);
  for (uint32_t n = 0; s->prepared && n < s->graph->node_count; n++) sl_prepared_close(s, n);
  for (uint32_t n = 0; s->states && n < s->graph->node_count; n++) free(s->states[n]);
  for (uint32_t n = 0; s->contexts && n < s->graph->node_count; n++) free(s->contexts[n]);
  free(s->arrays);
  free(s->prepared);
  free(s->states);
  free(s->opened);
  free(s->zeros);
  free(s->contexts);
}
