/* source_driver.c: see source_driver.h. */
#define _GNU_SOURCE
#include "source_driver.h"

#include "bank_ports.h"
#include "base/output.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

static void fatal(const char *text, const char *what) {
  fprintf(stderr, "source_driver: %s %s\n", text, what);
  exit(1);
}

static void *allocate(size_t size) {
  void *p = malloc(size ? size : 1);
  if (!p) fatal("no memory", "");
  return p;
}

/* ------------------------------------------------------------------------------------------------ the plugin */

static const struct sl_member *find_member(const struct driver *d, const char *name) {
  for (uint32_t i = 0; i < d->algorithm->member_count; i++)
    if (strcmp(d->algorithm->members[i].name, name) == 0) return &d->algorithm->members[i];
  fatal("no such member:", name);
  return NULL;
}

void driver_set(struct driver *d, const char *property, double value) {
  const uint32_t number = (uint32_t)(int64_t)value;
  memcpy((char *)d->args + find_member(d, property)->args_offset, &number, sizeof number);
}

void driver_start(struct driver *d) { driver_start_with(d, "mdf_source"); }

void driver_start_with(struct driver *d, const char *algorithm) { driver_start_from(d, IO_PLUGIN, algorithm); }

void driver_start_from(struct driver *d, const char *library, const char *algorithm) {
  *d = (struct driver){.events_max = 4, .workers = 3};
  d->library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!d->library) fatal("cannot load", dlerror());
  const struct sl_plugin *plugin = dlsym(d->library, "sluice_plugin");
  d->expanded = plugin ? with_bank_ports(plugin) : NULL;
  for (uint32_t i = 0; d->expanded && i < plugin->algorithm_count; i++)
    if (strcmp(plugin->algorithms[i]->name, algorithm) == 0) d->algorithm = d->expanded->algorithms[i];
  if (!d->algorithm) fatal("no such algorithm:", algorithm);
  d->args = calloc(1, d->algorithm->args_size);
  d->state = calloc(1, d->algorithm->state_size);
  if (!d->args || !d->state) fatal("no memory", "");
  sl_open_ports_fill(d->algorithm, d->args);
  for (uint32_t i = 0; i < d->algorithm->member_count; i++)
    if (d->algorithm->members[i].kind == SL_MEMBER_PROPERTY)
      driver_set(d, d->algorithm->members[i].name, d->algorithm->members[i].default_value);
  for (uint32_t kind = 0; kind < DRIVER_KINDS; kind++) {
    d->bank_capacity[kind] = 4096;
    d->word_capacity[kind] = 1u << 19;
  }
}

void driver_start_small(struct driver *d, const char *algorithm) {
  driver_start_with(d, algorithm);
  for (uint32_t kind = 0; kind < DRIVER_KINDS; kind++) {
    d->bank_capacity[kind] = 256;
    d->word_capacity[kind] = 4096;
  }
}

void driver_stop(struct driver *d) {
  free(d->args);
  free(d->expanded);
  free(d->state);
  free(d->seen);
  free(d->messages);
  dlclose(d->library);
}

/* ------------------------------------------------------------------------------------------------ ports */

static const char *const port_names[DRIVER_KINDS] = {"odin", "velo_superpixels", "velo_clusters", "mc_particles",
                                                     "mc_vertices"};

static struct io_raw_banks *port_of(const struct driver *d, uint32_t kind) {
  return (struct io_raw_banks *)((char *)d->args + find_member(d, port_names[kind])->args_offset);
}

const struct io_raw_banks *driver_port(const struct driver *d, uint32_t kind) { return port_of(d, kind); }
const char *driver_port_name(uint32_t kind) { return port_names[kind]; }

static struct io_raw_record *record_of(const struct driver *d) {
  return (struct io_raw_record *)((char *)d->args + find_member(d, "record")->args_offset);
}

const struct io_raw_record *driver_record(const struct driver *d) { return record_of(d); }

static void allocate_record(struct driver *d) {
  struct io_raw_record *r = record_of(d);
  memset(r, 0, sizeof *r);
  r->bound.capacity = d->events_max;
  r->bound.event_limit = 1;
  r->data_bound.capacity = r->data_bound.event_limit = d->record_words;
  if (d->record_words == 0) return;
  r->offsets = allocate(4 * (d->events_max + 1u));
  r->header_bytes = allocate(4 * (size_t)d->events_max);
  r->size_bytes = allocate(4 * (size_t)d->events_max);
  r->first_word = allocate(4 * (size_t)d->events_max);
  r->data = allocate(4 * (size_t)d->record_words);
}

static void free_record(struct driver *d) {
  struct io_raw_record *r = record_of(d);
  void *const all[] = {r->offsets, r->header_bytes, r->size_bytes, r->first_word, r->data};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) free(all[i]);
}

static void allocate_ports(struct driver *d) {
  allocate_record(d);
  for (uint32_t kind = 0; kind < DRIVER_KINDS; kind++) {
    struct io_raw_banks *p = port_of(d, kind);
    const size_t banks = d->bank_capacity[kind], words = d->word_capacity[kind];
    memset(p, 0, sizeof *p);
    p->bound.capacity = p->bound.event_limit = (uint32_t)banks;
    p->payload_bound.capacity = p->payload_bound.event_limit = (uint32_t)words;
    if (d->not_read[kind] == 1) continue;
    p->offsets = allocate(4 * (d->events_max + 1u));
    p->source_id = allocate(2 * banks);
    p->type = allocate(banks);
    p->version = allocate(banks);
    p->size_bytes = allocate(2 * banks);
    p->first_word = allocate(4 * banks);
    if (d->not_read[kind] != 2) p->payload = allocate(4 * words);
    p->bound.used = calloc(1, 4);
    p->payload_bound.used = calloc(1, 4);
  }
}

static void free_ports(struct driver *d) {
  free_record(d);
  for (uint32_t kind = 0; kind < DRIVER_KINDS; kind++) {
    struct io_raw_banks *p = port_of(d, kind);
    void *const all[] = {p->offsets,    p->source_id, p->type,       p->version,           p->size_bytes,
                         p->first_word, p->payload,   p->bound.used, p->payload_bound.used};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) free(all[i]);
  }
}

/* ------------------------------------------------------------------------------------------------ a run */

static void message(void *context, uint32_t severity, const char *format, ...) {
  static const char *const names[] = {"note", "warning", "error"};
  struct driver *d = context;
  char text[1024];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  if (strstr(text, "no event had a bank of type") == text) {
    d->absent_kinds++;
    return;
  }
  const size_t room = strlen(text) + 32;
  d->messages = realloc(d->messages, d->messages_size + room);
  if (!d->messages) fatal("no memory", "");
  d->messages_size += (size_t)snprintf(d->messages + d->messages_size, room, "%s: %s\n", names[severity], text);
  if (d->on_message) d->on_message(d->context);
}

/* Runs the steps sequentially, in an order and with worker numbers on which no result may depend. */
static void in_parallel(void *context, uint32_t count, void (*body)(void *work, uint32_t index, uint32_t worker),
                        void *work) {
  const struct driver *d = context;
  for (uint32_t i = count; i-- > 0;) body(work, i, i % d->workers);
}

struct sl_services driver_services(struct driver *d) {
  return (struct sl_services){.size = sizeof(struct sl_services),
                              .context = d,
                              .message = message,
                              .output = &sl_output_calls_plain,
                              .in_parallel = in_parallel,
                              .workers = d->workers};
}

static void look_at_banks(const struct driver *d, uint32_t kind, uint32_t event, struct seen *seen) {
  const struct io_raw_banks *p = port_of(d, kind);
  if (!p->offsets) return;
  if (event == 0 && p->offsets[0] != 0) fatal("offsets do not begin with 0:", port_names[kind]);
  if (p->offsets[event + 1] < p->offsets[event] || p->offsets[event + 1] > p->bound.capacity)
    fatal("offsets are wrong:", port_names[kind]);
  for (uint32_t i = p->offsets[event]; i < p->offsets[event + 1]; i++) {
    const uint32_t words = (p->size_bytes[i] + 3u) / 4u;
    const uint32_t head[] = {kind, p->source_id[i], p->type[i], p->version[i], p->size_bytes[i]};
    if ((uint64_t)p->first_word[i] + words > p->payload_bound.capacity)
      fatal("a payload is out of range:", port_names[kind]);
    seen->digest = XXH3_64bits_withSeed(head, sizeof head, seen->digest);
    if (p->payload) seen->digest = XXH3_64bits_withSeed(p->payload + p->first_word[i], 4 * words, seen->digest);
    seen->banks[kind]++;
    seen->words[kind] += words;
  }
}

static void look_at_slice(struct driver *d, const struct sl_fill *fill) {
  for (uint32_t i = 0; i < fill->event_count; i++) {
    if (d->seen_count == d->seen_capacity) {
      d->seen_capacity = 2 * d->seen_capacity + 64;
      d->seen = realloc(d->seen, d->seen_capacity * sizeof *d->seen);
      if (!d->seen) fatal("no memory", "");
    }
    struct seen *seen = &d->seen[d->seen_count++];
    *seen = (struct seen){.event = fill->events[i], .slice = d->slices};
    for (uint32_t kind = 0; kind < DRIVER_KINDS; kind++) look_at_banks(d, kind, i, seen);
    for (uint32_t kind = 0; kind < DRIVER_KINDS; kind++)
      if (seen->event.error && seen->banks[kind]) fatal("an event with an error has banks", "");
  }
}

static int run_slices(struct driver *d, const struct sl_services *services) {
  struct sl_event events[DRIVER_EVENTS_MAX];
  if (d->events_max > DRIVER_EVENTS_MAX) fatal("events_max is too large", "");
  int result = 1;
  while (result == 1 && (d->stop_after_slices == 0 || d->slices < d->stop_after_slices)) {
    struct sl_fill fill = {.events_max = d->events_max, .events = events};
    result = d->algorithm->source->fill(d->state, services, d->args, &fill);
    if (fill.event_count > fill.events_max) fatal("more events than requested", "");
    if (result == 1 && fill.event_count == 0) fatal("an empty slice that is not the last", "");
    look_at_slice(d, &fill);
    const int stop = d->on_slice ? d->on_slice(d->context, d, &fill) : 0;
    if (stop) return stop;
    d->progress_done = fill.progress_done;
    d->progress_total = fill.progress_total;
    d->slices++;
    if (d->between_slices) d->between_slices(d->context);
  }
  return result;
}

int driver_run(struct driver *d, const char *const *paths, uint32_t path_count) {
  const struct sl_services services = driver_services(d);
  d->seen_count = d->slices = d->absent_kinds = 0;
  d->messages_size = 0;
  free(d->messages);
  d->messages = calloc(1, 1);
  memset(d->state, 0, d->algorithm->state_size);
  struct sl_inputs inputs = {paths, path_count, 0, paths, d->ranges};
  allocate_ports(d);
  int result = d->algorithm->source->open(d->state, &services, d->args, &inputs);
  memset(&inputs, 0xff, sizeof inputs); /* only the arrays it points to must stay valid */
  if (result == 0) result = run_slices(d, &services);
  d->algorithm->source->close(d->state);
  free_ports(d);
  return result;
}

int driver_index(struct driver *d, const char *path, const struct sl_index_calls *calls) {
  return d->algorithm->source->index(path, calls);
}

/* ------------------------------------------------------------------------------------------------ files */

struct memory_file memory_file_new(const void *data, size_t size) {
  struct memory_file f = {memfd_create("mdf", MFD_CLOEXEC), ""};
  if (f.descriptor < 0) fatal("memfd_create", "");
  if (size && write(f.descriptor, data, size) != (ssize_t)size) fatal("cannot write", "");
  snprintf(f.path, sizeof f.path, "/proc/self/fd/%d", f.descriptor);
  return f;
}

void memory_file_free(struct memory_file *f) { close(f->descriptor); }

int driver_run_bytes(struct driver *d, const void *data, size_t size) {
  struct memory_file f = memory_file_new(data, size);
  const char *const paths[] = {f.path};
  const int result = driver_run(d, paths, 1);
  memory_file_free(&f);
  return result;
}

struct writer {
  const struct bytes *file;
  size_t piece;
  int end;
};

static void *write_pieces(void *context) {
  const struct writer *w = context;
  for (size_t at = 0; at < w->file->size;) {
    const size_t left = w->file->size - at, piece = left < w->piece ? left : w->piece;
    const ssize_t count = write(w->end, w->file->data + at, piece);
    if (count <= 0) break;
    at += (size_t)count;
  }
  close(w->end);
  return NULL;
}

int driver_run_pipe(struct driver *d, const struct bytes *file, size_t piece) {
  int ends[2];
  char path[40];
  pthread_t thread;
  if (pipe2(ends, O_CLOEXEC) != 0) fatal("pipe2", "");
  snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
  const char *const paths[] = {path};
  struct writer writer = {file, piece, ends[1]};
  if (pthread_create(&thread, NULL, write_pieces, &writer) != 0) fatal("pthread_create", "");
  const int result = driver_run(d, paths, 1);
  close(ends[0]); /* a writer that is blocked ends */
  pthread_join(thread, NULL);
  return result;
}

int seen_is_same(const struct seen *a, const struct seen *b) {
  return a->event.number == b->event.number && a->event.run == b->event.run && a->event.offset == b->event.offset &&
         a->event.error == b->event.error && a->digest == b->digest;
}

struct bytes shared_file(const char *name) {
  const char *folder = getenv("SLUICE_DATA");
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", folder ? folder : SLUICE_DATA_DEFAULT, name);
  struct bytes bytes = {0};
  FILE *file = fopen(path, "rb");
  if (!file) {
    printf("no shared data: %s (set SLUICE_DATA)\n", path);
    return bytes;
  }
  char chunk[65536];
  for (size_t n; (n = fread(chunk, 1, sizeof chunk, file)) > 0;) bytes_add(&bytes, chunk, n);
  fclose(file);
  return bytes;
}
