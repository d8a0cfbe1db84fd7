/* files.c: the list of files that a run reads and writes. A written file is on the list once.
 *
 *   1. Files named by options are entered first.
 *   2. When the graph is known, its files, its plugins and the files named by properties of nodes are entered.
 *   3. All of this happens before the first file is opened for writing. Files that sinks open later are compared with
 *      the list.
 */
#define _GNU_SOURCE
#include "results/files.h"

#include "document/find.h"
#include "input/follow.h"
#include "plugin/property.h"
#include "results/rotation.h"
#include "zmq/message.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int find_inputs(struct sl_files *f) {
  struct sl_options *o = &f->setup->options;
  if (o->input_ranges) return SL_OK; /* one for each path */
  char reason[PATH_MAX + 64];
  int status = SL_OK;
  for (uint32_t i = 0; status == SL_OK && o->input_paths && o->input_paths[i]; i++)
    status = sl_paths_add(&f->inputs, o->input_paths[i], reason, sizeof reason);
  if (status == SL_EIO) sl_diagnose(f->setup->diagnostics, SL_ERROR, NULL, NULL, NULL, "%s", reason);
  if (status == SL_OK) o->input_paths = (const char *const *)f->inputs.at;
  return status;
}

int sl_files_find_graphs(struct sl_files *f) {
  struct sl_options *o = &f->setup->options;
  uint32_t with_count = 0;
  while (o->with_paths && o->with_paths[with_count]) with_count++;
  f->found = calloc(with_count + 2u, sizeof *f->found);
  if (!f->found) return SL_ENOMEM;
  for (uint32_t i = 0; i <= with_count; i++) {
    char found[PATH_MAX];
    const char *path = i > 0 ? o->with_paths[i - 1] : o->graph_path ? o->graph_path : "graph";
    f->found[i] = strdup(i == 0 && o->graph_text ? path : sl_graph_find(path, path, found));
    if (!f->found[i]) return SL_ENOMEM;
  }
  if (o->graph_path) o->graph_path = f->found[0];
  if (with_count > 0) o->with_paths = (const char *const *)f->found + 1;
  return SL_OK;
}

const char *sl_files_resolve(const struct sl_files *f, const char *path, char whole[PATH_MAX]) {
  char now[PATH_MAX];
  if (!path || !*path || *path == '/' || sl_file_is_stdout(path) || sl_zmq_is_endpoint(path) || !f->directory)
    return path;
  if (getcwd(now, sizeof now) && strcmp(now, f->directory) == 0) return path;
  return snprintf(whole, PATH_MAX, "%s/%s", f->directory, path) < PATH_MAX ? whole : path;
}

int sl_files_find(struct sl_files *f) {
  f->directory = getcwd(NULL, 0);
  const int status = sl_files_find_graphs(f);
  return status < 0 ? status : find_inputs(f);
}

/* A file of the run, before it is entered. */
struct entry {
  const char *path;
  const char *option; /* option that names the file, or the property; NULL for files that are read */
  int32_t node;       /* node with the property, or SL_NONE */
  uint32_t member;    /* the property */
  int is_for_sink;    /* file of -o */
  int is_of_graph;
};

/* Location of the property that names a file, or NULL. */
static const struct sl_location *location_of(const struct sl_setup *s, int32_t node, uint32_t member) {
  return node != SL_NONE && s->graph->nodes[node].value_locations[member].file
             ? &s->graph->nodes[node].value_locations[member]
             : NULL;
}

static const char *name_of(const struct sl_setup *s, int32_t node) {
  return node == SL_NONE ? NULL : s->graph->nodes[node].name;
}

/* Reports that the file of `writer` is also another file of the run. */
static void report_same(const struct sl_files *f, const struct sl_file *writer, const struct sl_file *other) {
  sl_diagnose(f->setup->diagnostics, SL_ERROR, location_of(f->setup, writer->node, writer->member),
              name_of(f->setup, writer->node), NULL, "%s%s%s: the same file as %s, %s", writer->option,
              writer->node == SL_NONE ? " " : ": ", writer->path, other->path, other->what);
}

static int is_of_sink(const struct sl_file *file) { return file->option && file->node != SL_NONE; }

/* Endpoints have no identity but their names. */
static int is_same(const struct sl_file *file, const struct sl_file_identity *identity, const char *path) {
  return sl_zmq_is_endpoint(path) ? strcmp(file->path, path) == 0 : sl_file_is_same(&file->identity, identity);
}

/* 1 if one of the two would replace the other. The sink that takes the file of -o is not known before it opens it. */
static int is_conflict(const struct sl_file *a, const struct sl_file *b) {
  if ((a->is_for_sink && is_of_sink(b)) || (b->is_for_sink && is_of_sink(a))) return 0;
  return (a->option || b->option) && is_same(a, &b->identity, b->path);
}

/* Adds a file to the list. `what`, a format with `name`, describes the file in messages about other files. */
static int add(struct sl_files *f, const struct entry *e, const char *what, const char *name)
    __attribute__((format(printf, 3, 0)));
static int add(struct sl_files *f, const struct entry *e, const char *what, const char *name) {
  if (f->count == f->capacity) {
    const uint32_t capacity = f->capacity ? 2 * f->capacity : 64;
    struct sl_file *larger = realloc(f->at, capacity * sizeof *larger);
    if (!larger) return SL_ENOMEM;
    f->at = larger;
    f->capacity = capacity;
  }
  struct sl_file *file = &f->at[f->count];
  *file = (struct sl_file){.identity = sl_file_identify(e->path),
                           .option = e->option,
                           .node = e->node,
                           .member = e->member,
                           .is_for_sink = e->is_for_sink,
                           .is_of_graph = e->is_of_graph};
  snprintf(file->what, sizeof file->what, what, name);
  file->path = strdup(e->path);
  if (!file->path) return SL_ENOMEM;
  f->count++;
  f->writes_stdout |= e->option && (file->identity.kind == SL_FILE_STDOUT || sl_file_is_stdout(e->path));
  return SL_OK;
}

/* Adds a file. SL_EINVAL with a message if the file is on the list already and one of the two uses writes it. */
static int enter(struct sl_files *f, const struct entry *e, const char *what, const char *name)
    __attribute__((format(printf, 3, 0)));
static int enter(struct sl_files *f, const struct entry *e, const char *what, const char *name) {
  if (add(f, e, what, name) < 0) return SL_ENOMEM;
  const struct sl_file *file = &f->at[f->count - 1];
  for (const struct sl_file *other = f->at; other < file; other++) {
    if (!is_conflict(other, file)) continue;
    const struct sl_file *writer = file->option ? file : other;
    report_same(f, writer, writer == file ? other : file);
    return SL_EINVAL;
  }
  return SL_OK;
}

static int enter_input(struct sl_files *f, const char *path, const char *what) {
  const struct entry e = {.path = path, .node = SL_NONE};
  return enter(f, &e, "%s", what);
}

static int enter_file_of_graph(struct sl_files *f, const char *path, const char *what) {
  const struct entry e = {.path = path, .node = SL_NONE, .is_of_graph = 1};
  return enter(f, &e, "%s", what);
}

static int is_folder(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static int refuse_folder(struct sl_files *f, const char *path) {
  sl_diagnose(
      f->setup->diagnostics, SL_ERROR, NULL, NULL,
      "--follow takes the files of a folder as they arrive; the pattern FOLDER/* names the files that are there",
      "-i %s: a folder, not a file", path);
  return SL_EINVAL;
}

/* SL_EINVAL with a message if the file would be taken from the followed folder as an input. */
static int refuse_followed(const struct sl_files *f, const char *option, const char *path) {
  const struct sl_options *o = &f->setup->options;
  if (!o->follow || !sl_follow_would_take(o->follow, path)) return SL_OK;
  sl_diagnose(f->setup->diagnostics, SL_ERROR, NULL, NULL, "write it into another folder, or follow a --pattern",
              "%s %s: the run would take it from the followed folder as an input", option, path);
  return SL_EINVAL;
}

/* SL_EINVAL with a message if the file cannot be written. */
static int check_writable(struct sl_files *f, const struct entry *e) {
  char reason[PATH_MAX + 128];
  if (sl_file_may_be_written(e->path, reason, sizeof reason) == 0) return SL_OK;
  sl_diagnose(f->setup->diagnostics, SL_ERROR, location_of(f->setup, e->node, e->member), name_of(f->setup, e->node),
              NULL, "%s%s%s: cannot be written: %s", e->option, e->node == SL_NONE ? " " : ": ", e->path, reason);
  return SL_EINVAL;
}

/* The first error of two statuses; SL_ENOMEM takes precedence. */
static int worse(int a, int b) { return a == SL_ENOMEM || b == SL_OK ? a : b == SL_ENOMEM || a == SL_OK ? b : a; }

static int enter_option(struct sl_files *f, const char *option, const char *path) {
  if (!path) return SL_OK;
  const struct entry e = {
      .path = path, .option = option, .node = SL_NONE, .is_for_sink = path == f->setup->options.output_path};
  int status = refuse_followed(f, option, path);
  if (status == SL_OK) status = enter(f, &e, "the file of %s", option);
  /* A folder is checked by the sink that takes -o, an endpoint when it is opened. */
  const int is_checked_later = e.is_for_sink && (is_folder(path) || sl_zmq_is_endpoint(path));
  return status < 0 || is_checked_later ? status : check_writable(f, &e);
}

int sl_files_check(struct sl_files *f) {
  const struct sl_options *o = &f->setup->options;
  int status = SL_OK;
  for (uint32_t i = 0; o->input_paths && o->input_paths[i]; i++)
    if (is_folder(o->input_paths[i])) status = worse(status, refuse_folder(f, o->input_paths[i]));
  for (uint32_t i = 0; o->input_paths && o->input_paths[i]; i++)
    status = worse(status, enter_input(f, strcmp(o->input_paths[i], "-") == 0 ? "/dev/stdin" : o->input_paths[i],
                                       "an input of this run"));
  if (o->graph_path && !o->graph_text) status = worse(status, enter_input(f, o->graph_path, "the graph"));
  for (uint32_t i = 0; o->with_paths && o->with_paths[i]; i++)
    status = worse(status, enter_input(f, o->with_paths[i], "a file of the graph"));
  status = worse(status, enter_option(f, "--json", o->report_path));
  status = worse(status, enter_option(f, "--trace", o->trace_path));
  status = worse(status, enter_option(f, "--metrics", o->metrics_path));
  status = worse(status, enter_option(f, "--checkpoint", o->checkpoint_path));
  return worse(status, enter_option(f, "-o", o->output_path));
}

/* Enters a file that a property of a node names. */
static int enter_file(struct sl_files *f, const struct sl_member *member, const struct entry *e) {
  const char *name = f->setup->graph->nodes[e->node].name;
  if (!e->option) return access(e->path, F_OK) == 0 ? enter(f, e, "which the node %s reads", name) : SL_OK;
  const int status = enter(f, e, "which the node %s writes", name);
  const int is_to_be_made = *member->choices && !is_folder(f->setup->graph->nodes[e->node].values[e->member].text);
  return status < 0 || is_to_be_made || sl_zmq_is_endpoint(e->path) || f->setup->options.inspect_only
             ? status
             : check_writable(f, e);
}

/* Enters the file that a property names, or the files of its folder. */
static int enter_property(struct sl_files *f, uint32_t n, uint32_t m) {
  const struct sl_member *member = &f->setup->graph->nodes[n].algorithm->members[m];
  const char *path = f->setup->graph->nodes[n].values[m].text, *word;
  struct entry e = {.path = path, .node = (int32_t)n, .member = m, .is_of_graph = 1};
  if (member->flags & SL_FLAG_WRITTEN) e.option = member->name;
  if (!*path) return SL_OK;
  if (!*member->choices || (!e.option && !is_folder(path))) return enter_file(f, member, &e);
  int status = SL_OK;
  size_t length;
  for (uint32_t i = 0; status == SL_OK && *(word = sl_choice_name(member, i, &length)); i++) {
    char file[PATH_MAX];
    const int bytes = snprintf(file, sizeof file, "%s/%.*s", path, (int)length, word);
    if (bytes < 0 || (size_t)bytes >= sizeof file) continue; /* too long to be opened */
    e.path = file;
    status = enter_file(f, member, &e);
  }
  return status;
}

int sl_files_check_graph(struct sl_files *f) {
  const uint32_t files = SL_FLAG_READ | (f->setup->options.explain ? 0 : SL_FLAG_WRITTEN);
  int status = SL_OK;
  for (uint32_t i = 0; i < f->setup->graph->file_count; i++)
    status = worse(status, enter_file_of_graph(f, f->setup->graph->files[i], "a file of the graph"));
  for (size_t i = 0; i < f->setup->registry.entry_count; i++)
    status = worse(status, enter_file_of_graph(f, f->setup->registry.entries[i].path, "a plugin"));
  for (uint32_t i = 0; i < f->setup->graph->order_count; i++) {
    const struct sl_algorithm *a = f->setup->graph->nodes[f->setup->graph->order[i]].algorithm;
    for (uint32_t m = 0; m < a->member_count; m++)
      if (a->members[m].kind == SL_MEMBER_PROPERTY && (a->members[m].flags & files))
        status = worse(status, enter_property(f, f->setup->graph->order[i], m));
  }
  return status;
}

int sl_files_claim(struct sl_files *f, const char *option, const char *path, uint32_t appends) {
  const struct entry e = {.path = path, .option = option, .node = SL_NONE};
  int status = enter(f, &e, "the file of %s", option);
  if (status == SL_ENOMEM) sl_diagnose(f->setup->diagnostics, SL_ERROR, NULL, NULL, NULL, "%s", sl_error_text(status));
  if (status == SL_OK && !appends) status = check_writable(f, &e);
  return status;
}

/* Ends the first stream that was handed over and not opened again. */
static int end_stream(struct sl_files *f) {
  struct sl_handed_over *first = f->handed_over;
  f->handed_over = first->next;
  const int status = sl_output_finish(first->output);
  sl_output_close(first->output);
  free(first);
  return status;
}

static void free_list(struct sl_files *f) {
  for (uint32_t i = 0; i < f->count; i++) free(f->at[i].path);
  free(f->at);
  for (char **path = f->found; path && *path; path++) free(*path);
  free(f->found);
}

void sl_files_close(struct sl_files *f) {
  free_list(f);
  free(f->directory);
  free(f->file_of_sink);
  sl_paths_free(&f->inputs);
  sl_input_head_close(&f->begin);
  while (f->handed_over) (void)end_stream(f);
  *f = (struct sl_files){0};
}

/* ------------------------------------------------------------------------------------- another configuration */

int sl_files_copy(const struct sl_files *f, struct sl_setup *setup, struct sl_files *copy) {
  *copy = (struct sl_files){.setup = setup, .rotation = f->rotation, .stopped = f->stopped};
  copy->directory = f->directory ? strdup(f->directory) : NULL;
  copy->at = calloc(f->count + 1u, sizeof *copy->at);
  if ((f->directory && !copy->directory) || !copy->at) return SL_ENOMEM;
  copy->capacity = f->count + 1u;
  for (uint32_t i = 0; i < f->count; i++) {
    if (f->at[i].is_of_graph) continue;
    struct sl_file *file = &copy->at[copy->count];
    *file = f->at[i];
    file->is_open = 0;
    file->path = strdup(f->at[i].path);
    if (!file->path) return SL_ENOMEM;
    copy->count++;
  }
  return SL_OK;
}

void sl_files_change(struct sl_files *f, struct sl_files *copy) {
  free_list(f);
  f->at = copy->at;
  f->count = copy->count;
  f->capacity = copy->capacity;
  f->found = copy->found;
  copy->at = NULL;
  copy->found = NULL;
  copy->count = copy->capacity = 0;
}

int sl_files_end_change(struct sl_files *f) {
  int status = SL_OK;
  f->is_changing = 0;
  while (f->handed_over) {
    const int ended = end_stream(f);
    if (ended < 0) status = ended;
  }
  return status;
}

/* ---------------------------------------------------------------------------------------------- for sinks */

/* 1 if `path` is that folder or a file in it. */
static int is_below(const char *path, const char *folder) {
  if (!path || !folder || !*folder) return 0;
  const size_t length = strlen(folder);
  return strncmp(path, folder, length) == 0 &&
         (path[length] == '\0' || path[length] == '/' || folder[length - 1] == '/');
}

int sl_files_check_output(const struct sl_files *f) {
  const struct sl_options *o = &f->setup->options;
  if (!o->output_path || o->output_is_optional || f->output_is_taken) return SL_OK;
  sl_diagnose(f->setup->diagnostics, SL_ERROR, NULL, NULL,
              "a sink that writes a file (output.csv_sink) takes it, unless its property path names another one",
              "-o %s: no sink of this graph writes there", o->output_path);
  return SL_EINVAL;
}

/* 1 if sink `node` may open the file: the file of -o, or a file of its own properties, each once. */
static int may_take(const struct sl_file *file, int32_t node) {
  return !file->is_open && file->option && (file->is_for_sink || file->node == node);
}

/* Entry of another use of the same file in this run, or NULL. */
static const struct sl_file *find_other(const struct sl_files *f, int32_t node, const char *path) {
  const struct sl_file_identity identity = sl_file_identify(path);
  for (uint32_t i = f->count; i-- > 0;) /* open sinks first, because the message then has their names */
    if (is_same(&f->at[i], &identity, path) && !may_take(&f->at[i], node)) return &f->at[i];
  return NULL;
}

/* Reserves the file for the sink. `pattern`: that of a rotated file, else `path`. */
static int take(struct sl_files *f, int32_t node, const char *pattern, const char *path) {
  const struct sl_file_identity identity = sl_file_identify(path);
  const struct entry e = {.path = path, .option = "path", .node = SL_NONE, .is_of_graph = 1};
  for (uint32_t i = 0; i < f->count; i++)
    f->at[i].is_open |= is_same(&f->at[i], &identity, path) && may_take(&f->at[i], node);
  f->output_is_taken |= is_below(pattern, f->setup->options.output_path);
  const int status = add(f, &e, "which the node %s writes", f->setup->graph->nodes[node].name);
  if (status == SL_OK) f->at[f->count - 1].of_sink = 1;
  return status;
}

/* The stream of this path that the configuration before has handed over, or NULL. */
static struct sl_output *find_handed_over(struct sl_files *f, const char *path) {
  for (struct sl_handed_over **at = &f->handed_over; path && *at; at = &(*at)->next) {
    struct sl_handed_over *found = *at;
    if (strcmp(sl_output_path(found->output), path) != 0) continue;
    struct sl_output *output = found->output;
    *at = found->next;
    free(found);
    return output;
  }
  return NULL;
}

static int open_output(const struct sl_services *services, const char *given, uint32_t flags, struct sl_output **file) {
  const struct sl_node_context *c = services->context;
  struct sl_files *f = c->setup->files;
  char whole[PATH_MAX], expanded[PATH_MAX];
  const char *pattern = sl_files_resolve(f, given, whole), *path = pattern;
  const int is_rotated = sl_rotation_is_on(f->rotation) && path && *path;
  if (is_rotated && !f->setup->graph->nodes[c->node].algorithm->sink->rotate) {
    services->message(services->context, SL_ERROR, "this sink cannot begin new files: remove the node, or --rotate");
    return SL_EINVAL;
  }
  if (is_rotated) {
    if (sl_rotation_path(f->rotation, services, pattern, expanded) < 0) return SL_EINVAL;
    path = expanded;
  }
  const struct sl_file *other = path && *path ? find_other(f, (int32_t)c->node, path) : NULL;
  *file = NULL;
  if (other) {
    services->message(services->context, SL_ERROR, "%s: the same file as %s, %s", path, other->path, other->what);
    return SL_EINVAL;
  }
  const int is_endpoint = path && sl_zmq_is_endpoint(path);
  if (is_endpoint && flags & SL_OUTPUT_BY_PATH) {
    services->message(services->context, SL_ERROR, "%s: this sink writes only files, and cannot send messages", path);
    return SL_EINVAL;
  }
  int status = path && !is_endpoint ? refuse_followed(f, "path", path) : SL_OK;
  if (status == SL_OK) *file = find_handed_over(f, path);
  if (status == SL_OK && !*file)
    status = is_endpoint ? sl_zmq_open_output(f->zmq, path, services->message, services->context, file)
                         : sl_output_open_unless(f->stopped, path, flags, services->message, services->context, file);
  if (status == SL_OK) status = take(f, (int32_t)c->node, pattern, path);
  if (status == SL_OK && sl_output_is_file(*file) && !f->file_of_sink) {
    f->file_of_sink = strdup(pattern);
    if (!f->file_of_sink) status = SL_ENOMEM;
  }
  return status == SL_OK && is_rotated ? sl_rotation_add(f->rotation, pattern, f->count - 1, *file) : status;
}

/* Begins the next file of a sink. Its entry replaces that of the file before it, so that the list does not grow. */
static int rotate_output(struct sl_output *file) {
  const struct sl_node_context *c = sl_output_context(file);
  struct sl_files *f = c->setup->files;
  struct sl_rotated_file *rotated = sl_rotation_find(f->rotation, file);
  char path[PATH_MAX];
  if (!rotated || sl_rotation_path(f->rotation, &c->services, rotated->pattern, path) < 0) return SL_EINVAL;
  int status = SL_OK;
  struct sl_output_complete *complete = sl_rotation_complete(f->rotation, &status);
  if (status == SL_OK) status = sl_output_next(file, path, complete);
  if (status < 0) return status;
  struct sl_file *entry = &f->at[rotated->entry];
  char *own = strdup(path);
  if (!own) return SL_ENOMEM;
  free(entry->path);
  entry->path = own;
  entry->identity = sl_file_identify(path);
  return SL_OK;
}

void sl_option_report(void *context, uint32_t severity, const char *format, ...) {
  const struct sl_option_log *log = context;
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  sl_diagnose(log->setup->diagnostics, severity, NULL, NULL, NULL, "%s: %s", log->option, text);
}

int sl_files_finish(const struct sl_files *f, struct sl_output *file) {
  return f->is_interrupted ? sl_output_keep(file, "was stopped before its end") : sl_output_finish(file);
}

/* The receiver of a stream sees no end when the configuration changes. */
static int hand_over(struct sl_files *f, struct sl_output *file) {
  struct sl_handed_over *entry = calloc(1, sizeof *entry);
  int status = entry ? sl_output_hand_over(file, &entry->output) : SL_ENOMEM;
  if (status < 0 || !entry->output) {
    free(entry);
    return status;
  }
  struct sl_handed_over **end = &f->handed_over;
  while (*end) end = &(*end)->next;
  *end = entry;
  return SL_OK;
}

static int finish_output(struct sl_output *file) {
  const struct sl_node_context *c = sl_output_context(file);
  struct sl_files *f = c->setup->files;
  int status = SL_OK;
  if (f->is_changing && !sl_output_is_file(file)) return hand_over(f, file);
  if (!sl_rotation_is_on(f->rotation)) return sl_files_finish(f, file);
  struct sl_output_complete *complete = sl_rotation_complete(f->rotation, &status);
  return status == SL_OK ? sl_output_finish_to(file, complete) : status;
}

const struct sl_output_calls sl_files_output = SL_OUTPUT_CALLS(open_output, finish_output, rotate_output);
