/* sink_driver.c: see sink_driver.h. */
#define _GNU_SOURCE
#include "sink_driver.h"

#include "bank_ports.h"
#include "plugin/property.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void fatal(const char *text, const char *what) {
  fprintf(stderr, "sink_driver: %s %s\n", text, what);
  exit(1);
}

static void *place_of(const struct sink_driver *k, const char *member) {
  for (uint32_t i = 0; i < k->algorithm->member_count; i++)
    if (strcmp(k->algorithm->members[i].name, member) == 0)
      return (char *)k->args + k->algorithm->members[i].args_offset;
  fatal("no such member:", member);
  return NULL;
}

void sink_set(struct sink_driver *k, const char *property, double value) {
  const uint32_t number = (uint32_t)(int64_t)value;
  memcpy(place_of(k, property), &number, sizeof number);
}

void sink_set_text(struct sink_driver *k, const char *property, const char *value) {
  memcpy(place_of(k, property), &value, sizeof value);
}

void sink_start(struct sink_driver *k, const char *algorithm) {
  *k = (struct sink_driver){.path = NULL};
  k->library = dlopen(IO_PLUGIN, RTLD_NOW | RTLD_LOCAL);
  if (!k->library) fatal("cannot load", dlerror());
  const struct sl_plugin *plugin = dlsym(k->library, "sluice_plugin");
  k->expanded = plugin ? with_bank_ports(plugin) : NULL;
  for (uint32_t i = 0; k->expanded && i < plugin->algorithm_count; i++)
    if (strcmp(plugin->algorithms[i]->name, algorithm) == 0) k->algorithm = k->expanded->algorithms[i];
  if (!k->algorithm) fatal("no such algorithm:", algorithm);
  k->args = calloc(1, k->algorithm->args_size);
  k->state = calloc(1, k->algorithm->state_size);
  if (!k->args || !k->state) fatal("no memory", "");
  sl_open_ports_fill(k->algorithm, k->args);
  for (uint32_t i = 0; i < k->algorithm->member_count; i++) {
    const struct sl_member *m = &k->algorithm->members[i];
    if (m->kind != SL_MEMBER_PROPERTY) continue;
    if (m->type == SL_TYPE_string)
      sink_set_text(k, m->name, m->default_text);
    else if (m->type == SL_TYPE_enumeration)
      sink_set(k, m->name, sl_choice_index(m, m->default_text));
    else
      sink_set(k, m->name, m->default_value);
  }
}

void sink_stop(struct sink_driver *k) {
  free(k->args);
  free(k->expanded);
  free(k->state);
  dlclose(k->library);
}

/* ------------------------------------------------------------------------------------------------- a copy */

static int consume(void *context, struct driver *d, const struct sl_fill *fill) {
  struct sink_driver *k = context;
  const struct sl_services services = driver_services(d);
  memcpy(place_of(k, "record"), driver_record(d), sizeof(struct io_raw_record));
  if (!k->opened) {
    k->opened = 1;
    const int error = k->algorithm->sink->open(k->state, &services, k->args, k->path);
    if (error) return error;
  }
  struct sl_event events[DRIVER_EVENTS_MAX];
  uint32_t listed[DRIVER_EVENTS_MAX], listed_count = 0;
  for (uint32_t i = 0; i < fill->event_count; i++) {
    events[i] = fill->events[i];
    const int is_due = k->list_every && k->consumed % k->list_every == 0;
    if (++k->consumed == k->flip_error_of) events[i].error = SL_EVENT_REFUSED;
    if (is_due && events[i].error == SL_EVENT_OK) listed[listed_count++] = i;
  }
  const struct sl_batch batch = {.event_count = fill->event_count,
                                 .events = events,
                                 .selected = k->list_every ? listed : NULL,
                                 .selected_count = listed_count};
  const int status = k->algorithm->sink->consume(k->state, &services, k->args, &batch);
  if (k->kill_after && k->consumed >= k->kill_after) raise(SIGKILL);
  return status;
}

static void note_integer(void *context, const char *key, int64_t value) {
  struct sink_driver *k = context;
  if (k->within) {
    if (strcmp(key, "banks") == 0) k->banks_omitted += value;
    return;
  }
  if (strcmp(key, "headers_not_representable") == 0) k->headers_not_representable = value;
  if (strcmp(key, "events") == 0) k->events = value;
  if (strcmp(key, "bytes") == 0) k->bytes = value;
  if (strcmp(key, "events_omitted") == 0) k->omitted = value;
  if (strcmp(key, "events_with_errors") == 0) k->with_errors = value;
}

static void ignore_text(void *context, const char *key, const char *value) {
  (void)context;
  (void)key;
  (void)value;
}

/* The objects of the report: one per reason and type of omitted banks. */
static void ignore_begin(void *context, const char *key) {
  struct sink_driver *k = context;
  k->within += key == NULL;
}

static void ignore_end(void *context) {
  struct sink_driver *k = context;
  k->within = 0;
}

static void ignore_line(void *context, const char *format, ...) {
  (void)context;
  (void)format;
}

int sink_copy_file(struct sink_driver *k, struct driver *source, const char *input, const char *path) {
  const struct sl_report report = {.size = sizeof report,
                                   .context = k,
                                   .begin_array = ignore_begin,
                                   .end_array = ignore_end,
                                   .begin_object = ignore_begin,
                                   .end_object = ignore_end,
                                   .integer = note_integer,
                                   .text = ignore_text,
                                   .line = ignore_line};
  memset(k->state, 0, k->algorithm->state_size);
  k->path = path;
  k->banks_omitted = k->headers_not_representable = k->within = 0;
  if (source->record_words == 0) source->record_words = 1u << 22;
  k->opened = k->finished = k->consumed = 0;
  source->on_slice = consume;
  source->context = k;
  int result = driver_run(source, &input, 1);
  source->on_slice = NULL;
  if (result == 0 && k->opened) {
    const struct sl_services services = driver_services(source);
    result = k->algorithm->sink->finish(k->state, &services, &report);
    k->finished = result == 0;
  }
  if (k->opened) k->algorithm->sink->close(k->state);
  return result;
}

int sink_copy(struct sink_driver *k, struct driver *source, const void *data, size_t size, const char *path) {
  struct memory_file f = memory_file_new(data, size);
  const int result = sink_copy_file(k, source, f.path, path);
  memory_file_free(&f);
  return result;
}

/* -------------------------------------------------------------------------------------------------- files */

struct bytes read_whole(const char *path) {
  struct bytes bytes = {0};
  FILE *file = fopen(path, "rb");
  if (!file) fatal("cannot read", path);
  char chunk[65536];
  for (size_t n; (n = fread(chunk, 1, sizeof chunk, file)) > 0;) bytes_add(&bytes, chunk, n);
  fclose(file);
  return bytes;
}
