/* harness.c: opens and closes a test, takes its inputs and returns its outputs; run.c runs it. See sluice/testing.h.
 * Unlike the rest of the runtime, the harness ends the program when it is used incorrectly.
 */
#define _GNU_SOURCE
#include "testing/harness.h"

#include "base/locale.h"
#include "base/processor.h"
#include "layout/bind.h"
#include "plugin/expand.h"
#include "plugin/open.h"
#include "plugin/property.h"

#include <dlfcn.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

void test_die(const struct sl_test *t, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("sl_test: ", stderr);
  if (t && t->algorithm) fprintf(stderr, "%s.%s: ", t->plugin->name, t->algorithm->name);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  abort();
}

void *test_allocate(size_t count, size_t bytes) {
  void *memory = calloc(count ? count : 1, bytes ? bytes : 1);
  if (!memory) test_die(NULL, "no memory for %zu times %zu bytes", count, bytes);
  return memory;
}

struct sl_guarded test_guarded(size_t bytes, int fill, int salt) {
  const struct sl_guarded g = sl_guarded_new(bytes, fill, salt);
  if (!g.values) test_die(NULL, "no memory for %zu bytes", bytes);
  return g;
}

static char *copy_text(const char *text) {
  const size_t bytes = strlen(text) + 1;
  return memcpy(test_allocate(bytes, 1), text, bytes);
}

uint64_t test_bytes_hash(const void *values, size_t bytes) { return XXH3_64bits(values, bytes); }

/* --------------------------------------------------------------------------------------------- looking up */

uint32_t test_member_index(const struct sl_test *t, const char *name, uint32_t kind) {
  static const char *const kinds[] = {"events",      "input",    "output", "scratch",   "property", "open input",
                                      "open output", "computed", "table",  "node hash", "reference"};
  const int index = sl_member_index(t->algorithm, name);
  if (index < 0 || t->algorithm->members[index].kind != kind) test_die(t, "there is no %s %s", kinds[kind], name);
  return (uint32_t)index;
}

uint32_t test_field_index(const struct sl_test *t, uint32_t member, const char *name) {
  const struct sl_member *m = &t->algorithm->members[member];
  const int index = sl_field_index(m->collection, name);
  if (index < 0) test_die(t, "%s, a %s, has no field %s", m->name, m->collection->name, name);
  return (uint32_t)index;
}

/* ------------------------------------------------------------------------------------------------ opening */

void test_find_file(const char *path, char *found, size_t size) {
  char program[PATH_MAX];
  const char *folder = getenv("SLUICE_TEST_FOLDER"), *name = strrchr(path, '/');
  if (folder) {
    snprintf(found, size, "%s/%s", folder, name ? name + 1 : path);
    if (access(found, R_OK) == 0) return;
  }
  snprintf(found, size, "%s", path);
  if (path[0] == '/' || access(path, R_OK) == 0 || !realpath("/proc/self/exe", program)) return;
  for (int level = 0; level < 2; level++) {
    char *slash = strrchr(program, '/');
    if (!slash) break;
    *slash = '\0';
    snprintf(found, size, "%s/%s", program, path);
    if (access(found, R_OK) == 0) return;
  }
  snprintf(found, size, "%s", path);
}

static uint32_t fields_of(const struct sl_member *m) {
  return m->collection ? m->collection->field_count : m->kind == SL_MEMBER_SCRATCH || m->kind == SL_MEMBER_TABLE;
}

static void store_number(struct sl_test *t, uint32_t member, uint32_t index, double value) {
  sl_property_store(&t->algorithm->members[member], index, value, value >= 0 ? (uint64_t)value : 0, t->args);
}

static void store_choice(struct sl_test *t, uint32_t member, const char *name) {
  const struct sl_member *m = &t->algorithm->members[member];
  const int choice = sl_choice_index(m, name);
  if (choice < 0) test_die(t, "property %s cannot be %s: it is one of %s", m->name, name, m->choices);
  store_number(t, member, 0, choice);
}

static void store_default(struct sl_test *t, uint32_t member) {
  const struct sl_member *m = &t->algorithm->members[member];
  double values[SL_ARRAY_MAX] = {m->default_value};
  if (m->count > 0) sl_array_read(m->default_text, values, m->count);
  for (uint32_t i = 0; i < sl_property_count(m); i++) store_number(t, member, i, values[i]);
}

static void store_text(struct sl_test *t, uint32_t member, const char *text) {
  free(t->members[member].text);
  t->members[member].text = copy_text(text);
  *(const char **)(void *)(t->args + t->algorithm->members[member].args_offset) = t->members[member].text;
}

/* Messages of all threads are collected in one list. */
static void add_message(void *context, uint32_t severity, const char *format, ...) {
  static const char *const prefixes[] = {"note: ", "warning: ", "error: "};
  va_list arguments;
  if (((struct sl_test *)context)->is_quiet) return;
  va_start(arguments, format);
  test_add_line(context, prefixes[severity > SL_ERROR ? SL_ERROR : severity], format, arguments);
  va_end(arguments);
}

/* Index of the producer of that name in a list port, or the number of producers. */
static uint32_t entry_index(const struct test_member *member, const char *name) {
  uint32_t k = 0;
  while (k < member->entry_count && strcmp(member->names[k], name) != 0) k++;
  return k;
}

static uint64_t array_count(void *context, const char *port, const char *field) {
  const struct sl_test *t = context;
  const char *dot = strchr(port, '.');
  char name[256];
  snprintf(name, sizeof name, "%.*s", (int)strcspn(port, "."), port);
  const uint32_t member = test_member_index(t, name, SL_MEMBER_IN), index = test_field_index(t, member, field);
  const struct test_member *own = &t->members[member];
  if (!(t->algorithm->members[member].flags & SL_FLAG_LIST)) return own->fields[index].count;
  const uint32_t k = dot ? entry_index(own, dot + 1) : own->entry_count;
  return k < own->entry_count ? own->entries[k].fields[index].count : 0;
}

static void *make_array(void *context, const char *port, const char *field, uint64_t count) {
  struct sl_test *t = context;
  const uint32_t member = test_member_index(t, port, SL_MEMBER_OUT);
  const uint32_t index = test_field_index(t, member, field);
  struct test_field *f = &t->members[member].fields[index];
  const uint64_t value_bytes = sl_type_bytes(t->algorithm->members[member].collection->fields[index].type);
  if (t->algorithm->kind != SL_KIND_CONSTANT) test_die(t, "make_array was called outside of make");
  if (f->memory.values) test_die(t, "make_array was called twice for %s.%s", port, field);
  if (count > SIZE_MAX / 2 / value_bytes) test_die(t, "make_array: %s.%s is too long", port, field);
  f->count = count;
  f->memory = test_guarded((size_t)(count * value_bytes), 0, t->poison);
  return f->memory.values;
}

static void *make_table(void *context, const char *table, uint64_t count) {
  struct sl_test *t = context;
  const uint32_t member = test_member_index(t, table, SL_MEMBER_TABLE);
  struct test_field *f = &t->members[member].fields[0];
  const uint64_t value_bytes = sl_type_bytes(t->algorithm->members[member].type);
  if (!t->is_preparing) test_die(t, "make_table was called outside of prepare");
  if (f->memory.values) test_die(t, "make_table was called twice for %s", table);
  if (count > SIZE_MAX / 2 / value_bytes) test_die(t, "make_table: %s is too long", table);
  f->count = count;
  f->memory = test_guarded((size_t)(count * value_bytes), 0, t->poison);
  return f->memory.values;
}

static void prepare_members(struct sl_test *t) {
  t->members = test_allocate(t->algorithm->member_count, sizeof(*t->members));
  t->args = test_allocate(t->algorithm->args_size, 1);
  sl_open_ports_fill(t->algorithm, t->args);
  for (uint32_t i = 0; i < t->algorithm->member_count; i++) {
    const struct sl_member *m = &t->algorithm->members[i];
    t->members[i].field_count = fields_of(m);
    t->members[i].fields = test_allocate(t->members[i].field_count, sizeof(struct test_field));
    if (m->kind != SL_MEMBER_PROPERTY) continue;
    if (m->type == SL_TYPE_string)
      store_text(t, i, m->default_text);
    else if (m->type == SL_TYPE_enumeration)
      store_choice(t, i, m->default_text);
    else
      store_default(t, i);
  }
}

/* Open ports are replaced by the collections of the plugin itself. */
static void open_ports(struct sl_test *t) {
  struct sl_traits traits = {0};
  free(t->expanded);
  t->expanded = NULL;
  if (!sl_has_open_ports(t->plugin)) return;
  t->expanded = sl_traits_add(&traits, t->plugin) == SL_OK ? sl_plugin_expand(t->plugin, &traits) : NULL;
  if (!t->expanded) test_die(t, "no memory for open ports");
  sl_traits_free(&traits);
  t->plugin = t->expanded;
}

static void open_algorithm(struct sl_test *t, const char *path, const char *algorithm) {
  char reason[1024];
  if (sl_plugin_open(path, &t->handle, &t->plugin, reason, sizeof(reason))) test_die(NULL, "%s: %s", path, reason);
  open_ports(t);
  const int index = sl_algorithm_index(t->plugin, algorithm);
  if (index < 0) test_die(NULL, "%s: there is no algorithm %s", path, algorithm);
  t->algorithm = t->plugin->algorithms[index];
}

static struct sl_test *prepare(struct sl_test *t) {
  const int on_host = strcmp(t->plugin->target, "cpu") == 0 || strcmp(t->plugin->target, "simt") == 0;
  if (strcmp(t->plugin->target, "simt") == 0) test_emulator_open(t);
  if (!on_host) test_device_open(t);
  pthread_mutex_init(&t->mutex, NULL);
  t->poison = SL_POISON;
  t->event_count = 1;
  t->block_threads = t->algorithm->block_threads;
  t->services = (struct sl_services){.size = sizeof(struct sl_services),
                                     .output = &sl_output_calls_plain,
                                     .context = t,
                                     .message = add_message,
                                     .make_array = make_array,
                                     .array_count = array_count,
                                     .make_table = make_table};
  prepare_members(t);
  sl_test_node(t, t->algorithm->name);
  return t;
}

SL_ANY_PROCESSOR struct sl_test *sl_test_new(const char *plugin_path, const char *algorithm) {
  SL_IN_C_LOCALE(NULL);
  char path[PATH_MAX + 256];
  struct sl_test *t = test_allocate(1, sizeof(*t));
  test_find_file(plugin_path, path, sizeof(path));
  open_algorithm(t, path, algorithm);
  if (t->algorithm->kind == SL_KIND_SOURCE) test_die(t, "the harness does not run sources");
  if (t->algorithm->kind == SL_KIND_KERNEL && test_other_target(t->plugin->target, path, sizeof(path))) {
    dlclose(t->handle);
    open_algorithm(t, path, algorithm);
  }
  return prepare(t);
}

struct sl_test *test_open(const char *plugin_path, const char *algorithm) {
  struct sl_test *t = test_allocate(1, sizeof(*t));
  open_algorithm(t, plugin_path, algorithm);
  return prepare(t);
}

void test_release_run(struct sl_test *t) {
  for (uint32_t i = 0; i < t->algorithm->member_count; i++) {
    struct test_member *member = &t->members[i];
    sl_guarded_free(&member->used);
    sl_guarded_free(&member->views);
    if (t->algorithm->members[i].kind == SL_MEMBER_IN) continue;
    for (uint32_t f = 0; f < member->field_count; f++) {
      sl_guarded_free(&member->fields[f].memory);
      member->fields[f] = (struct test_field){.count = 0};
    }
  }
  sl_guarded_free(&t->count);
  sl_guarded_free(&t->numbers);
  sl_guarded_free(&t->errors);
  sl_json_free(&t->report);
  free(t->drawing.text);
  t->drawing = (struct sl_received_text){0};
}

static void free_entries(struct test_member *member) {
  for (uint32_t k = 0; k < member->entry_count; k++) {
    for (uint32_t f = 0; f < member->field_count; f++) sl_guarded_free(&member->entries[k].fields[f].memory);
    free(member->entries[k].fields);
    free(member->names[k]);
  }
  free(member->entries);
  free(member->names);
}

void sl_test_free(struct sl_test *t) {
  SL_IN_C_LOCALE();
  if (!t) return;
  test_release_run(t);
  for (uint32_t i = 0; i < t->algorithm->member_count; i++) {
    for (uint32_t f = 0; f < t->members[i].field_count; f++) sl_guarded_free(&t->members[i].fields[f].memory);
    free(t->members[i].fields);
    free_entries(&t->members[i]);
    free(t->members[i].text);
  }
  free(t->members);
  free(t->args);
  free(t->expanded);
  free(t->node_name);
  test_references_close(t->references);
  free(t->list);
  free(t->messages.text);
  test_cases_close(t);
  test_emulator_close(t);
  test_device_close(t);
  pthread_mutex_destroy(&t->mutex);
  dlclose(t->handle);
  free(t);
}

/* --------------------------------------------------------------------------------------- what it is given */

void sl_test_events(struct sl_test *t, uint32_t event_count) { t->event_count = event_count; }

void sl_test_list(struct sl_test *t, const uint32_t *numbers, uint32_t count) {
  free(t->list);
  t->list = test_allocate(count, sizeof(*numbers));
  if (count) memcpy(t->list, numbers, count * sizeof(*numbers));
  t->list_count = count;
}

static void set_field(const struct sl_test *t, uint32_t member, uint32_t index, struct test_field *f,
                      const void *values, uint64_t count) {
  const size_t bytes = (size_t)(count * sl_type_bytes(t->algorithm->members[member].collection->fields[index].type));
  sl_guarded_free(&f->memory);
  f->memory = test_guarded(bytes, t->poison, t->poison);
  if (bytes) memcpy(f->memory.values, values, bytes);
  f->count = count;
  f->hash = test_bytes_hash(f->memory.values, bytes);
}

void sl_test_input(struct sl_test *t, const char *port, const char *field, const void *values, uint64_t count) {
  SL_IN_C_LOCALE();
  const uint32_t member = test_member_index(t, port, SL_MEMBER_IN);
  const uint32_t index = test_field_index(t, member, field);
  if (t->algorithm->members[member].flags & SL_FLAG_LIST) test_die(t, "input %s is a list port: name a producer", port);
  set_field(t, member, index, &t->members[member].fields[index], values, count);
}

/* Adds a producer to a list port. */
static void add_entry(struct test_member *member, const char *name) {
  const uint32_t count = member->entry_count;
  struct test_entry *entries = test_allocate(count + 1u, sizeof *entries);
  char **names = test_allocate(count + 1u, sizeof *names);
  if (count) memcpy(entries, member->entries, count * sizeof *entries);
  if (count) memcpy(names, member->names, count * sizeof *names);
  entries[count].fields = test_allocate(member->field_count, sizeof *entries[count].fields);
  names[count] = copy_text(name);
  free(member->entries);
  free(member->names);
  member->entries = entries;
  member->names = names;
  member->entry_count++;
}

void sl_test_list_input(struct sl_test *t, const char *port, const char *name, const char *field, const void *values,
                        uint64_t count) {
  SL_IN_C_LOCALE();
  const uint32_t member = test_member_index(t, port, SL_MEMBER_IN);
  const uint32_t index = test_field_index(t, member, field);
  struct test_member *own = &t->members[member];
  if (!(t->algorithm->members[member].flags & SL_FLAG_LIST)) test_die(t, "input %s is no list port", port);
  const uint32_t k = entry_index(own, name);
  if (k == own->entry_count) add_entry(own, name);
  set_field(t, member, index, &own->entries[k].fields[index], values, count);
}

static void set_number(struct sl_test *t, uint32_t member, uint32_t index, double value) {
  const struct sl_member *m = &t->algorithm->members[member];
  const char *property = m->name;
  if (m->type == SL_TYPE_string || m->type == SL_TYPE_enumeration) test_die(t, "property %s is a text", property);
  if (!(value >= m->minimum && value <= m->maximum))
    test_die(t, "property %s cannot be %.17g: its range is %.17g to %.17g", property, value, m->minimum, m->maximum);
  if (m->type != SL_TYPE_f32 && m->type != SL_TYPE_f64 && value != floor(value))
    test_die(t, "property %s cannot be %.17g: it is an integer", property, value);
  store_number(t, member, index, value);
}

void sl_test_set(struct sl_test *t, const char *property, double value) {
  SL_IN_C_LOCALE();
  const uint32_t member = test_member_index(t, property, SL_MEMBER_PROPERTY);
  if (t->algorithm->members[member].count > 0) test_die(t, "property %s is an array", property);
  set_number(t, member, 0, value);
}

void sl_test_set_array(struct sl_test *t, const char *property, const double *values, uint32_t count) {
  SL_IN_C_LOCALE();
  const uint32_t member = test_member_index(t, property, SL_MEMBER_PROPERTY);
  const struct sl_member *m = &t->algorithm->members[member];
  if (m->count != count) test_die(t, "property %s is an array of %u values, not of %u", property, m->count, count);
  for (uint32_t i = 0; i < count; i++) set_number(t, member, i, values[i]);
}

void sl_test_set_text(struct sl_test *t, const char *property, const char *value) {
  SL_IN_C_LOCALE();
  const uint32_t member = test_member_index(t, property, SL_MEMBER_PROPERTY);
  const uint32_t type = t->algorithm->members[member].type;
  if (type == SL_TYPE_enumeration)
    store_choice(t, member, value);
  else if (type == SL_TYPE_string)
    store_text(t, member, value);
  else
    test_die(t, "property %s is no text", property);
}

void sl_test_node(struct sl_test *t, const char *name) {
  SL_IN_C_LOCALE();
  char *copy = copy_text(name);
  free(t->node_name);
  t->services.node_name = t->node_name = copy;
  for (uint32_t i = 0; i < t->algorithm->member_count; i++) {
    const uint64_t hash = test_bytes_hash(name, strlen(name));
    if (t->algorithm->members[i].kind == SL_MEMBER_NODE_HASH)
      memcpy(t->args + t->algorithm->members[i].args_offset, &hash, sizeof hash);
  }
}

/* Member and bound of "PORT" (its items) or "PORT.FIELD" (the group that begins with the field). */
static struct test_member *find_bound(const struct sl_test *t, const char *name, uint32_t *bound) {
  char port[128];
  const char *dot = strchr(name, '.');
  snprintf(port, sizeof port, "%.*s", dot ? (int)(dot - name) : (int)strlen(name), name);
  const uint32_t member = test_member_index(t, port, SL_MEMBER_OUT);
  const struct sl_collection *c = t->algorithm->members[member].collection;
  const uint32_t count = sl_bound_count(c);
  *bound = 0;
  while (dot && ++*bound < count && strcmp(c->fields[sl_group_field(c, *bound)].name, dot + 1) != 0) continue;
  if (*bound == count) test_die(t, "output %s has no group of subitems %s", port, dot + 1);
  return &t->members[member];
}

void sl_test_budget(struct sl_test *t, const char *name, uint32_t capacity) {
  SL_IN_C_LOCALE();
  uint32_t bound;
  struct test_member *member = find_bound(t, name, &bound);
  member->budgets[bound] = capacity;
  member->has_budget[bound] = 1;
}

void test_forbid(struct sl_test *t, void *(*place)(uint32_t member, uint32_t field)) { t->forbidden = place; }
void sl_test_shared(struct sl_test *t, int shared) { t->shared = shared; }
void sl_test_block(struct sl_test *t, uint32_t threads) {
  SL_IN_C_LOCALE();
  t->block_threads = threads;
  t->one_block = 1;
}

/* ----------------------------------------------------------------------------------------- what it answers */

static const struct test_field *output_field(const struct sl_test *t, const char *port, const char *field) {
  const uint32_t member = test_member_index(t, port, SL_MEMBER_OUT);
  const uint32_t index = test_field_index(t, member, field);
  const struct test_field *f = &t->members[member].fields[index];
  if (!t->has_run) test_die(t, "output %s.%s was requested before sl_test_run", port, field);
  if (!f->memory.values && !f->alias) test_die(t, "output %s.%s was not made", port, field);
  return f;
}

const void *sl_test_output(const struct sl_test *t, const char *port, const char *field) {
  SL_IN_C_LOCALE(NULL);
  const struct test_field *f = output_field(t, port, field);
  return f->alias ? f->alias : f->memory.values;
}

uint64_t sl_test_output_count(const struct sl_test *t, const char *port, const char *field) {
  SL_IN_C_LOCALE(0);
  return output_field(t, port, field)->count;
}

uint32_t sl_test_used(const struct sl_test *t, const char *name) {
  SL_IN_C_LOCALE(0);
  uint32_t bound;
  const struct test_member *member = find_bound(t, name, &bound);
  if (!member->used.values) test_die(t, "output %s is not bounded, or sl_test_run was not called", name);
  return ((const uint32_t *)member->used.values)[bound];
}

uint64_t sl_test_event_error(const struct sl_test *t, uint32_t event) {
  SL_IN_C_LOCALE(0);
  if (!t->errors.values) test_die(t, "only a kernel that has run has errors");
  if (event >= t->event_count) test_die(t, "there is no event %u", event);
  const uint64_t word = ((const uint64_t *)t->errors.values)[event];
  /* without the node index: bits 40 to 63 of an error, bits 16 to 31 of a truncation */
  return word >> 48 ? word & 0xFFFFFFFFFFull : word & 0xFF0000FFFFull;
}

void test_add_line(struct sl_test *t, const char *prefix, const char *format, va_list arguments) {
  char *line = NULL;
  if (vasprintf(&line, format, arguments) < 0) test_die(t, "no memory for a message");
  const size_t prefix_length = strlen(prefix), length = strlen(line);
  pthread_mutex_lock(&t->mutex);
  struct test_text *m = &t->messages;
  char *grown = realloc(m->text, m->length + prefix_length + length + 2);
  if (!grown) test_die(t, "no memory for a message");
  m->text = grown;
  m->length += (size_t)sprintf(grown + m->length, "%s%s\n", prefix, line);
  pthread_mutex_unlock(&t->mutex);
  free(line);
}

const char *sl_test_messages(const struct sl_test *t) { return t->messages.text ? t->messages.text : ""; }
const char *sl_test_report(const struct sl_test *t) { return sl_json_text(&t->report); }
const char *sl_test_drawing(const struct sl_test *t) { return t->drawing.text; }

void sl_test_draw(struct sl_test *t, uint32_t event) {
  SL_IN_C_LOCALE();
  if (t->algorithm->kind != SL_KIND_SINK || !t->algorithm->sink->draw) test_die(t, "it draws no events");
  t->services.draws = 1;
  t->drawn_event = event;
}
