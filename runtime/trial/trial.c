/* trial.c: tests a plugin, algorithm by algorithm; see trial.h. This process reads files and tables and prints; plugin
 * code runs in child processes only.
 */
#define _GNU_SOURCE
#include "trial/trial.h"

#include "backend/backend.h"
#include "base/locale.h"
#include "base/paths.h"
#include "base/processor.h"
#include "plugin/open.h"
#include "plugin/tables.h"
#include "report/describe.h"

#include <errno.h>
#include <ftw.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TARGETS = 5, DEFAULT_EVENTS = 12, DEFAULT_SECONDS = 60 };
static const char *const target_names[TARGETS + 1] = {"cpu", "simt", "race", "cuda", "hip", NULL};

/* Findings of the children of one algorithm. */
struct findings {
  struct sl_child capture, targets[TARGETS];
};

struct trial {
  const struct sl_trial_options *options;
  const char *const *plugin_paths;
  struct sl_registry registry;
  struct trial_graphs graphs;
  const struct sl_plugin_entry *entries[TARGETS]; /* entries of the plugin under test; NULL: not built */
  uint8_t is_absent[TARGETS];                     /* 1 if there is no such device */
  struct sl_diagnostics *diagnostics;
  struct findings *findings;
  FILE *file;
  struct sl_trial_counts *counts;
  /* the present algorithm */
  const struct sl_algorithm *algorithm;
  struct trial_graph graph;
};

SL_ANY_PROCESSOR struct sl_trial_options sl_trial_options_default(void) {
  return (struct sl_trial_options){
      .size = sizeof(struct sl_trial_options), .events = DEFAULT_EVENTS, .seconds = DEFAULT_SECONDS};
}

/* ----------------------------------------------------------------------------------------------- sessions */

const char *trial_first_error(const struct sl_session *s) {
  for (size_t i = 0; i < sl_diagnostics_count(sl_session_setup(s)->diagnostics); i++)
    if (sl_diagnostics_at(sl_session_setup(s)->diagnostics, i)->severity == SL_ERROR)
      return sl_diagnostics_at(sl_session_setup(s)->diagnostics, i)->message;
  return "";
}

static struct sl_session *open_with(struct sl_options options, const struct sl_trial_options *o,
                                    const struct trial_graph *graph, struct sl_child *log) {
  const char *const uses[] = {graph->use, NULL};
  options.graph_path = graph->path;
  options.input_paths = o->input_paths;
  options.sets = o->sets;
  options.uses = uses;
  options.plugin_paths = o->plugin_paths;
  options.source_threads = 1; /* no events are generated ahead, because there are few */
  struct sl_session *s = NULL;
  struct sl_diagnostics *d = sl_diagnostics_new();
  const int status = d ? sl_session_open(&options, d, &s) : SL_ENOMEM;
  if (status == SL_OK) return s;
  for (size_t i = 0; i < sl_diagnostics_count(d); i++)
    if (sl_diagnostics_at(d, i)->severity == SL_ERROR)
      sl_child_not_run(log, "%s: %s", graph->shown, sl_diagnostics_at(d, i)->message);
  sl_child_not_run(log, "%s: %s", graph->shown, sl_error_text(status));
}

struct sl_session *trial_session_open(const struct sl_trial_options *o, const struct trial_graph *graph,
                                      uint32_t slice_events, const char *output_path, struct sl_child *log) {
  struct sl_options options = sl_options_default();
  options.slice_events = slice_events;
  options.output_path = output_path;
  options.output_is_optional = 1;
  options.events = output_path ? o->events : 0;
  options.guard = output_path != NULL;
  options.draws = output_path != NULL;
  return open_with(options, o, graph, log);
}

struct sl_session *trial_race_open(const struct sl_trial_options *o, const struct trial_graph *graph,
                                   struct sl_child *log) {
  struct sl_options options = sl_options_default();
  options.slice_events = o->events;
  options.device = "simt";
  options.race = 1;
  return open_with(options, o, graph, log);
}

/* ------------------------------------------------------------------------------------------- one algorithm */

static int is_selected(const struct trial *t, uint32_t target) {
  if (!t->entries[target] || t->is_absent[target] ||
      (t->options->target && strcmp(t->options->target, target_names[target]) != 0))
    return 0;
  if (target == 0) return 1;
  return t->algorithm->kind == SL_KIND_KERNEL && t->entries[target]->status == SL_PLUGIN_LOADED &&
         sl_algorithm_index(t->entries[target]->plugin, t->algorithm->name) >= 0;
}

static void run_targets(const struct trial *t, struct trial_run *run, void (*body)(void *, struct sl_child *)) {
  for (uint32_t i = 0; i < TARGETS; i++) {
    if (!is_selected(t, i)) continue;
    run->plugin_path = t->entries[i]->path;
    t->findings->targets[i].seconds = t->options->seconds;
    const int is_race = strcmp(target_names[i], "race") == 0;
    sl_child_run(&t->findings->targets[i], is_race ? trial_run_race : body, run);
  }
}

static int remove_entry(const char *path, const struct stat *about, int kind, struct FTW *where) {
  (void)about, (void)kind, (void)where;
  return remove(path);
}

static void run_sink(const struct trial *t, struct trial_run *run, struct sl_child *log) {
  const char *parent = getenv("TMPDIR");
  char folder[PATH_MAX];
  snprintf(folder, sizeof folder, "%s/sluice-test-XXXXXX", parent && *parent ? parent : "/tmp");
  if (!mkdtemp(folder)) sl_child_not_run(log, "%s cannot be made: %s", folder, strerror(errno));
  run->folder = folder;
  run_targets(t, run, trial_run_sink);
  nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

/* In a child: captures the inputs and starts the children that run the algorithm. */
static void run_algorithm(void *context, struct sl_child *log) {
  const struct trial *t = context;
  char reason[256] = "";
  sl_child_stage(log, "while its inputs were taken from %s", t->graph.shown);
  struct sl_session *s = trial_session_open(t->options, &t->graph, t->options->events, NULL, log);
  const int32_t found = sl_graph_node_index(sl_session_graph(s), t->graph.node);
  if (found == SL_NONE) sl_child_not_run(log, "the graph has no node %s", t->graph.node);
  const uint32_t node = (uint32_t)found;
  struct trial_case inputs;
  struct trial_run run = {.options = t->options,
                          .session = s,
                          .node = node,
                          .inputs = &inputs,
                          .algorithm = t->algorithm->name,
                          .graph = &t->graph,
                          .pool = trial_pool_new()};
  if (!run.pool) sl_child_not_run(log, "no memory to share between processes");
  switch (t->algorithm->kind) {
    case SL_KIND_KERNEL:
      if (trial_capture(s, node, &inputs, reason, sizeof reason) < 0)
        sl_child_not_run(log, "%s: %s%s%s", t->graph.shown, reason, *trial_first_error(s) ? ": " : "",
                         trial_first_error(s));
      run_targets(t, &run, trial_run_kernel);
      break;
    case SL_KIND_CONSTANT:
      trial_capture_constant(s, node, &inputs);
      run_targets(t, &run, trial_run_constant);
      break;
    case SL_KIND_SOURCE:
      run_targets(t, &run, trial_run_source);
      break;
    default:
      run_sink(t, &run, log);
  }
}

/* ---------------------------------------------------------------------------------------------- printing */

static void write_line(const struct trial *t, const char *what, const char *target, const char *verdict,
                       const char *stage, const char *text) {
  fprintf(t->file, "  %-24s %-5s %-8s %s%s\n", what, target, verdict, stage, text);
  fflush(t->file);
}

static void write_log(const struct trial *t, const char *target, const struct sl_child *log) {
  char stage[sizeof log->stage + sizeof log->conditions + 4] = "";
  if (log->state == SL_CHILD_WRONG && *log->stage) snprintf(stage, sizeof stage, "%s%s: ", log->stage, log->conditions);
  t->counts->passed += log->state == SL_CHILD_PASSED;
  t->counts->wrong += log->state == SL_CHILD_WRONG;
  t->counts->not_run += log->state == SL_CHILD_NOT_RUN;
  static const char *const verdicts[] = {"", "ok", "wrong", "not run"};
  write_line(t, t->algorithm->name, target, verdicts[log->state], stage, log->text);
}

static int test_algorithm(struct trial *t, const char *plugin, const struct sl_algorithm *a) {
  char name[512];
  snprintf(name, sizeof name, "%s.%s", plugin, a->name);
  t->algorithm = a;
  int status = trial_graph_find(&t->graphs, t->options, &t->registry, name, t->diagnostics, &t->graph);
  if (status < 0) return status;
  memset(t->findings, 0, sizeof *t->findings);
  if (t->graph.path) {
    t->findings->capture.seconds = t->options->seconds;
    sl_child_run(&t->findings->capture, run_algorithm, t);
  } else {
    t->findings->capture.state = SL_CHILD_NOT_RUN;
    snprintf(t->findings->capture.text, sizeof t->findings->capture.text, "no graph uses it: name one with --graph");
  }
  const uint32_t wrong = t->counts->wrong;
  if (t->findings->capture.state != SL_CHILD_PASSED) write_log(t, "-", &t->findings->capture);
  for (uint32_t i = 0; i < TARGETS; i++)
    if (t->findings->targets[i].state) write_log(t, target_names[i], &t->findings->targets[i]);
  if (t->counts->wrong > wrong) trial_write_again(t->options, &t->graph, plugin, a->name, t->file);
  free(t->graph.use);
  free(t->graph.node);
  return SL_OK;
}

/* ----------------------------------------------------------------------------------------------- the plugin */

static void count_tables(const struct trial *t, uint32_t target, int wrong, const char *reason) {
  t->counts->passed += !wrong;
  t->counts->wrong += wrong;
  write_line(t, "(tables)", target_names[target], wrong ? "wrong" : "ok", "", reason);
}

/* Checks the file of each target. Returns 1 if the plugin for cpu can be tested further. */
static int test_tables(const struct trial *t) {
  const struct sl_plugin_entry *cpu = t->entries[0];
  for (uint32_t i = 0; i < TARGETS; i++) {
    const struct sl_plugin_entry *e = t->entries[i];
    char reason[512] = "";
    if (!e || (t->options->target && strcmp(t->options->target, target_names[i]) != 0)) continue;
    if (e->status == SL_PLUGIN_REFUSED)
      count_tables(t, i, 1, e->reason);
    else
      count_tables(t, i, trial_lint(e->path, e->plugin, i ? cpu->plugin : NULL, reason, sizeof reason), reason);
    if (i == 0 && e->status == SL_PLUGIN_REFUSED) return 0;
  }
  return 1;
}

/* In a child, because the vendor's runtime does not survive fork. */
static void open_device(void *context, struct sl_child *log) {
  const struct trial *t = context;
  const char *target = t->entries[log - t->findings->targets]->file_target;
  char reason[512] = "";
  struct sl_device *device;
  const struct sl_backend *b = sl_backend_find(target);
  if (!b) b = sl_backend_load(target, reason, sizeof reason);
  if (!b || b->open(0, &device, reason, sizeof reason) < 0) sl_child_not_run(log, "%s", reason);
}

/* Reports each target without a device once. It counts only if the target was requested. */
static void find_devices(struct trial *t) {
  memset(t->findings, 0, sizeof *t->findings);
  for (uint32_t i = 1; i < TARGETS; i++) {
    struct sl_child *log = &t->findings->targets[i];
    if (!t->entries[i] || (t->options->target && strcmp(t->options->target, target_names[i]) != 0)) continue;
    log->seconds = t->options->seconds;
    sl_child_run(log, open_device, t);
    t->is_absent[i] = log->state != SL_CHILD_PASSED;
    if (!t->is_absent[i]) continue;
    t->counts->not_run += t->options->target != NULL;
    write_line(t, "(device)", target_names[i], "absent", "", log->text);
  }
}

static void find_entries(struct trial *t, const char *plugin) {
  for (uint32_t i = 0; i < TARGETS; i++)
    for (size_t e = 0; e < t->registry.entry_count; e++) {
      const struct sl_plugin_entry *entry = &t->registry.entries[e];
      if (t->entries[i] || entry->status == SL_PLUGIN_HIDDEN || entry->status == SL_PLUGIN_ABSENT ||
          strcmp(entry->file_name, plugin) != 0 || strcmp(entry->file_target, target_names[i]) != 0)
        continue;
      t->entries[i] = entry;
    }
}

static int no_such_plugin(const struct trial *t, const char *plugin) {
  const char *absence = sl_registry_reason(&t->registry, plugin, SL_PLUGIN_ABSENT);
  if (absence) {
    sl_diagnose(t->diagnostics, SL_ERROR, NULL, NULL, NULL, "there is no '%s': the plugin is absent: %s", plugin,
                absence);
    return SL_EINVAL;
  }
  struct sl_nearest nearest;
  sl_nearest_begin(&nearest, plugin);
  for (size_t e = 0; e < t->registry.entry_count; e++) sl_nearest_offer(&nearest, t->registry.entries[e].file_name);
  char hint[256];
  const char *best = sl_nearest_result(&nearest);
  snprintf(hint, sizeof hint, "did you mean %s?", best ? best : "");
  sl_diagnose(t->diagnostics, SL_ERROR, NULL, NULL,
              best ? hint : "name a file, NAME.cpu.so, or a plugin that `sluice list` finds",
              "there is no plugin %s for cpu", plugin);
  return SL_EINVAL;
}

static int is_missing_target(const struct trial *t, const char *plugin) {
  const char *target = t->options->target;
  uint32_t i = 0;
  while (target && i < TARGETS && strcmp(target_names[i], target) != 0) i++;
  if (!target || (i < TARGETS && t->entries[i])) return 0;
  sl_diagnose(t->diagnostics, SL_ERROR, NULL, NULL, i < TARGETS ? NULL : "it is cpu, simt, race, cuda or hip",
              i < TARGETS ? "plugin %s is not built for %s" : "%.0s'%s' is not a target", plugin, target);
  return 1;
}

static int no_such_algorithm(const struct trial *t, const char *plugin, const char *algorithm) {
  char name[512], nearest[256], hint[320]; /* a longer name is cut off, and has no similar one */
  snprintf(name, sizeof name, "%s.%s", plugin, algorithm);
  const char *best = sl_registry_suggest(&t->registry, name, nearest, sizeof nearest);
  snprintf(hint, sizeof hint, "did you mean %s?", best ? best : "");
  sl_diagnose(t->diagnostics, SL_ERROR, NULL, NULL, best ? hint : "`sluice list` shows all",
              "plugin %s has no algorithm %s", plugin, algorithm);
  return SL_EINVAL;
}

static int test_plugin(struct trial *t, const char *plugin, const char *algorithm) {
  find_entries(t, plugin);
  if (!t->entries[0]) return no_such_plugin(t, plugin);
  if (is_missing_target(t, plugin)) return SL_EINVAL;
  const struct sl_plugin *p = t->entries[0]->plugin;
  if (p && algorithm && sl_algorithm_index(p, algorithm) < 0) return no_such_algorithm(t, plugin, algorithm);
  fprintf(t->file, "%s %s\n", plugin, t->entries[0]->path);
  if (!test_tables(t) || !p) return SL_OK;
  int status = SL_OK;
  find_devices(t);
  for (uint32_t i = 0; i < p->algorithm_count && status == SL_OK; i++)
    if (!algorithm || strcmp(p->algorithms[i]->name, algorithm) == 0)
      status = test_algorithm(t, plugin, p->algorithms[i]);
  return status;
}

/* Meaning of PLUGIN: a file (its folder is searched first), or a name, optionally with the name of an algorithm. */
struct subject {
  char plugin[256], folder[PATH_MAX];
  const char *algorithm;
};

static int check_file(const char *path, struct sl_diagnostics *d) {
  if (access(path, R_OK) == 0) return SL_OK;
  sl_diagnose(d, SL_ERROR, NULL, NULL, NULL, "%s: %s", path, strerror(errno));
  return SL_EIO;
}

static int parse_subject(const char *text, struct subject *s, struct sl_diagnostics *d) {
  char copy[PATH_MAX];
  struct sl_plugin_file parts;
  const size_t length = strlen(text);
  const int is_path = strchr(text, '/') || (length > 3 && strcmp(text + length - 3, ".so") == 0);
  *s = (struct subject){.algorithm = NULL};
  if (!is_path) {
    const char *dot = strchr(text, '.');
    snprintf(s->plugin, sizeof s->plugin, "%.*s", dot ? (int)(dot - text) : (int)length, text);
    s->algorithm = dot ? dot + 1 : NULL;
    return SL_OK;
  }
  snprintf(copy, sizeof copy, "%s", text);
  snprintf(s->folder, sizeof s->folder, "%s", dirname(copy));
  snprintf(copy, sizeof copy, "%s", text);
  if (sl_plugin_file_parse(basename(copy), &parts) < 0) {
    sl_diagnose(d, SL_ERROR, NULL, NULL, "a plugin's file is named NAME.TARGET.so, as in velo.cpu.so",
                "%s is not a plugin file", text);
    return SL_EINVAL;
  }
  snprintf(s->plugin, sizeof s->plugin, "%.*s", (int)parts.name_length, parts.name);
  return check_file(text, d);
}

/* The given folders, after the folder of the file. */
static const char **join_paths(const char *first, const char *const *rest) {
  size_t count = 0;
  while (rest && rest[count]) count++;
  const char **paths = calloc(count + 2, sizeof *paths);
  size_t at = 0;
  if (paths && *first) paths[at++] = first;
  for (size_t i = 0; paths && i < count; i++) paths[at++] = rest[i];
  return paths;
}

/* Expands the patterns of the input files; each file must exist. */
static int find_inputs(const char *const *given, struct sl_paths *inputs, struct sl_diagnostics *d) {
  char reason[PATH_MAX + 64];
  int status = SL_OK;
  for (size_t i = 0; status == SL_OK && given && given[i]; i++)
    status = sl_paths_add(inputs, given[i], reason, sizeof reason);
  if (status == SL_EIO) sl_diagnose(d, SL_ERROR, NULL, NULL, NULL, "%s", reason);
  for (size_t i = 0; status == SL_OK && i < inputs->count; i++) status = check_file(inputs->at[i], d);
  return status;
}

SL_ANY_PROCESSOR int sl_test_plugin(const struct sl_trial_options *given, const char *plugin, struct sl_diagnostics *d,
                                    FILE *file, struct sl_trial_counts *counts) {
  if (sl_processor_check(d) < 0) return SL_EINVAL;
  SL_IN_C_LOCALE(SL_ENOMEM);
  struct subject subject;
  *counts = (struct sl_trial_counts){0, 0, 0};
  int status = sl_diagnose_size(d, "sl_trial_options", given->size, sizeof *given);
  if (status < 0) return status;
  struct sl_trial_options options = *given;
  status = parse_subject(plugin, &subject, d);
  struct sl_paths inputs = {0};
  if (status == SL_OK) status = find_inputs(given->input_paths, &inputs, d);
  if (status < 0) {
    sl_paths_free(&inputs);
    return status;
  }
  options.input_paths = (const char *const *)inputs.at;
  const char **paths = join_paths(subject.folder, given->plugin_paths);
  struct trial t = {.options = &options, .plugin_paths = paths, .diagnostics = d, .file = file, .counts = counts};
  options.plugin_paths = paths;
  t.findings = sl_shared_new(sizeof *t.findings);
  status = paths && t.findings ? trial_graphs_open(given->graph_paths, d, &t.graphs) : SL_ENOMEM;
  if (status == SL_OK) status = sl_registry_open(paths, target_names, &t.registry);
  if (status == SL_OK) status = test_plugin(&t, subject.plugin, subject.algorithm);
  sl_registry_close(&t.registry);
  trial_graphs_close(&t.graphs);
  sl_shared_free(t.findings, sizeof *t.findings);
  free(paths);
  sl_paths_free(&inputs);
  if (status == SL_ENOMEM) sl_diagnose(d, SL_ERROR, NULL, NULL, NULL, "out of memory");
  return status;
}
