/* files.c: which files a run reads and writes. A file that is written is no input of the run and no other of its
 * outputs; all of them are compared before the first is opened, those of sinks when the sink opens them.
 */
#include "execute/session.h"
#include "graph/find.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int find_inputs(struct sl_session *s) {
  struct sl_options *o = &s->options;
  if (o->input_ranges) return SL_OK; /* one for each name */
  char reason[PATH_MAX + 64];
  int status = SL_OK;
  for (uint32_t i = 0; status == SL_OK && o->input_paths && o->input_paths[i]; i++)
    status = sl_paths_add(&s->files.inputs, o->input_paths[i], reason, sizeof reason);
  if (status == SL_EIO) sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, NULL, "%s", reason);
  if (status == SL_OK) o->input_paths = (const char *const *)s->files.inputs.at;
  return status;
}

static int find_graphs(struct sl_session *s) {
  struct sl_options *o = &s->options;
  uint32_t with_count = 0;
  while (o->with_paths && o->with_paths[with_count]) with_count++;
  s->files.found = calloc(with_count + 2u, sizeof *s->files.found);
  if (!s->files.found) return SL_ENOMEM;
  for (uint32_t i = 0; i <= with_count; i++) {
    char found[PATH_MAX];
    const char *path = i > 0 ? o->with_paths[i - 1] : o->graph_path ? o->graph_path : "graph";
    s->files.found[i] = strdup(i == 0 && o->graph_text ? path : sl_graph_find(path, path, found));
    if (!s->files.found[i]) return SL_ENOMEM;
  }
  if (o->graph_path) o->graph_path = s->files.found[0];
  if (with_count > 0) o->with_paths = (const char *const *)s->files.found + 1;
  return SL_OK;
}

int sl_files_find(struct sl_session *s) {
  const int status = find_graphs(s);
  return status < 0 ? status : find_inputs(s);
}

/* From now on nobody else may write it. */
static int claim(struct sl_session *s, const char *path, const char *what) {
  struct sl_files *f = &s->files;
  if (f->count == f->capacity) {
    const uint32_t capacity = f->capacity ? 2 * f->capacity : 16;
    struct sl_file *larger = realloc(f->at, capacity * sizeof *larger);
    if (!larger) return SL_ENOMEM;
    f->at = larger;
    f->capacity = capacity;
  }
  struct sl_file *file = &f->at[f->count++];
  *file = (struct sl_file){.identity = sl_file_identify(path), .what = what};
  f->writes_stdout |= file->identity.kind == SL_FILE_STDOUT || sl_file_is_stdout(path);
  return SL_OK;
}

/* What the file is already for this run, or NULL. */
static const char *use_of(const struct sl_session *s, const char *path) {
  const struct sl_file_identity identity = sl_file_identify(path);
  for (uint32_t i = 0; i < s->files.count; i++)
    if (sl_file_is_same(&s->files.at[i].identity, &identity)) return s->files.at[i].what;
  return NULL;
}

/* 1, or 0 after saying why not. */
static int may_write(struct sl_session *s, const char *option, const char *path) {
  char reason[PATH_MAX + 128];
  struct stat status;
  const char *use = use_of(s, path);
  if (use) {
    sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, NULL, "%s %s: the same file is %s", option, path, use);
    return 0;
  }
  /* What a folder is for, the sink knows. */
  if (strcmp(option, "-o") == 0 && stat(path, &status) == 0 && S_ISDIR(status.st_mode)) return 1;
  if (sl_file_may_be_written(path, reason, sizeof reason) == 0) return 1;
  sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, NULL, "%s %s: cannot be written: %s", option, path, reason);
  return 0;
}

int sl_files_check(struct sl_session *s) {
  const struct sl_options *o = &s->options;
  int may = 1, status = SL_OK;
  for (uint32_t i = 0; status == SL_OK && o->input_paths && o->input_paths[i]; i++)
    status = claim(s, o->input_paths[i], "an input of this run");
  if (status == SL_OK && o->graph_path && !o->graph_text) status = claim(s, o->graph_path, "the graph");
  for (uint32_t i = 0; status == SL_OK && o->with_paths && o->with_paths[i]; i++)
    status = claim(s, o->with_paths[i], "part of the graph");
  const struct {
    const char *option, *path, *what;
  } outputs[] = {{"--json", o->report_path, "the file of --json"},
                 {"--trace", o->trace_path, "the file of --trace"},
                 {"--metrics", o->metrics_path, "the file of --metrics"},
                 {"-o", o->output_path, NULL}}; /* claimed by the sink that takes it */
  for (size_t i = 0; i < sizeof outputs / sizeof outputs[0] && status == SL_OK; i++) {
    if (!outputs[i].path) continue;
    may &= may_write(s, outputs[i].option, outputs[i].path);
    if (outputs[i].what) status = claim(s, outputs[i].path, outputs[i].what);
  }
  return status < 0 ? status : may ? SL_OK : SL_EINVAL;
}

void sl_files_close(struct sl_session *s) {
  for (char **path = s->files.found; path && *path; path++) free(*path);
  free(s->files.found);
  sl_paths_free(&s->files.inputs);
  sl_begin_close(&s->files.begin);
  free(s->files.at);
  s->files = (struct sl_files){0};
}

int sl_session_writes_stdout(const struct sl_session *s) { return s->files.writes_stdout; }

/* ---------------------------------------------------------------------------------------------- for sinks */

/* Is it that path, or a file of that folder? */
static int is_below(const char *path, const char *folder) {
  if (!path || !folder || !*folder) return 0;
  const size_t length = strlen(folder);
  return strncmp(path, folder, length) == 0 &&
         (path[length] == '\0' || path[length] == '/' || folder[length - 1] == '/');
}

int sl_files_check_output(struct sl_session *s) {
  if (!s->options.output_path || s->options.output_is_offered || s->files.output_is_taken) return SL_OK;
  sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL,
              "a sink that writes a file, such as io.csv_sink, takes it, unless its property path names another one",
              "-o %s: no sink of this graph writes there", s->options.output_path);
  s->report.is_refused = 1;
  return SL_EINVAL;
}

static int open_output(const struct sl_services *services, const char *path, uint32_t flags, struct sl_output **file) {
  const struct sl_node_context *c = services->context;
  const char *use = path && *path ? use_of(c->session, path) : NULL;
  *file = NULL;
  if (use) {
    services->message(services->context, SL_ERROR, "%s: cannot be written: the same file is %s", path, use);
    return SL_EINVAL;
  }
  const int status =
      sl_output_open_unless(&c->session->turns.stopped, path, flags, services->message, services->context, file);
  if (status < 0) return status;
  c->session->files.output_is_taken |= is_below(path, c->session->options.output_path);
  return claim(c->session, path, "written by another sink");
}

void sl_say_of_option(const struct sl_session *s, const char *option, uint32_t severity, const char *format,
                      va_list arguments) {
  char text[1024];
  vsnprintf(text, sizeof text, format, arguments);
  sl_diagnose(s->diagnostics, severity, NULL, NULL, NULL, "%s: %s", option, text);
}

int sl_files_finish(const struct sl_session *s, struct sl_output *file) {
  return s->identity.run.is_interrupted ? sl_output_keep(file, "was stopped before its end") : sl_output_finish(file);
}

static int finish_output(struct sl_output *file) {
  const struct sl_node_context *c = sl_output_context(file);
  return sl_files_finish(c->session, file);
}

const struct sl_output_calls sl_session_output = SL_OUTPUT_CALLS(open_output, finish_output);
