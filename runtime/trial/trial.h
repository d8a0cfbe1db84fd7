/* trial.h: `sluice test PLUGIN`: checks that need no code of the author's. For each algorithm a child process finds its
 * inputs in a graph, and has children of its own, one a target, that run it in many ways and compare what it writes.
 *
 *   trial.c      the plugin, algorithm by algorithm; what is printed
 *   lint.c       what can be said of the tables;  lint_file.c: of the file, by its symbols and libraries
 *   graphs.c     which graph, and which node of it, uses an algorithm
 *   trap.c       memory that must not be touched
 *   capture.c    the inputs of a node of a running graph;  cut.c: other slices of them
 *   outcome.c    what was written, checked and compared
 *   again.c      the command that shows a finding again
 *   race.c       the same inputs on the emulator that looks for races
 *   kernel.c constant.c source.c sink.c   the ways in which an algorithm of that kind is run
 */
#ifndef SL_TRIAL_H
#define SL_TRIAL_H

#include "trial/case.h"
#include "trial/outcome.h"

/* A graph that uses the algorithm, as it is or with `use` ("NODE=PLUGIN.ALGORITHM"). */
struct trial_graph {
  const char *path;  /* NULL: there is none */
  const char *shown; /* the path as given; of the library's own, the file's name */
  char *use;
  char *node;
};

/* The graphs given, or, if there are none, those beside the library. Each is read once for each algorithm. */
struct trial_graphs {
  char **paths;
  size_t count;
  int are_given;
};
int trial_graphs_open(const char *const *given, struct sl_diagnostics *d, struct trial_graphs *graphs);
void trial_graphs_close(struct trial_graphs *graphs);
/* Finds a graph for "plugin.algorithm". SL_EGRAPH, said in `d`, if a graph that was given cannot be read. */
int trial_graph_find(const struct trial_graphs *graphs, const struct sl_trial_options *options,
                     struct sl_registry *registry, const char *name, struct sl_diagnostics *d,
                     struct trial_graph *found);

/* One algorithm on one target. */
struct trial_run {
  const struct sl_trial_options *options;
  struct sl_session *session; /* of the graph, on cpu */
  uint32_t node;
  const struct trial_case *inputs; /* kernels and constants */
  const char *plugin_path, *algorithm;
  const struct trial_graph *graph;
  const char *folder; /* sinks: for their files; removed afterwards */
  struct trial_pool *pool;
};

/* Bodies of children, context struct trial_run. */
void trial_run_kernel(void *context, struct sl_child *log);
void trial_run_race(void *context, struct sl_child *log);
void trial_run_constant(void *context, struct sl_child *log);
void trial_run_source(void *context, struct sl_child *log);
void trial_run_sink(void *context, struct sl_child *log);

/* Opens a session on the graph as the trial wants it; ends the process with the reason if that fails. */
struct sl_session *trial_session_open(const struct sl_trial_options *options, const struct trial_graph *graph,
                                      uint32_t slice_events, const char *output_path, struct sl_child *log);
/* The same on the emulator that looks for races. */
struct sl_session *trial_race_open(const struct sl_trial_options *options, const struct trial_graph *graph,
                                   struct sl_child *log);
/* A line: the command that tests this algorithm alone, in the same way. */
void trial_write_again(const struct sl_trial_options *o, const struct trial_graph *graph, const char *plugin,
                       const char *algorithm, FILE *file);
/* "12 events of velo.yaml, node sorted": what a kernel ran on, as the text of a child that passed. */
void trial_describe_kernel(const struct trial_run *r, struct sl_child *log);
/* The first message of an error so far, or "". */
const char *trial_first_error(const struct sl_session *s);

/* Checks a plugin beyond the checks of the loader. Returns 0, or 1 with the first finding in `reason`. `cpu`: the
 * plugin of this name for cpu, NULL if it is this one. */
int trial_lint(const char *path, const struct sl_plugin *plugin, const struct sl_plugin *cpu, char *reason,
               size_t reason_size);
/* Checks the doc strings: none is empty or refers to another text. Returns 0, or 1 with the first finding. */
int trial_lint_docs(const struct sl_plugin *plugin, char *reason, size_t reason_size);
/* Checks the file, and its variant for other processors of the same architecture. Returns 0, or 1 with the finding. */
int trial_lint_files(const char *path, int has_kernels, char *reason, size_t reason_size);

#endif
