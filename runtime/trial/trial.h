/* trial.h: `sluice test PLUGIN`: tests that need no code of the author of the plugin. For each algorithm a child
 * process captures its inputs from a graph and starts one child per target, which runs the algorithm in many ways and
 * compares the outputs.
 *
 *   trial.c      the plugin, algorithm by algorithm; printing
 *   lint.c       checks of the tables;  lint_file.c: of the symbols and libraries of the file
 *   graphs.c     the graph, and the node in it, for an algorithm
 *   trap.c       memory that must not be accessed
 *   capture.c    the inputs of a node of a running graph;  cut.c: other slices of them
 *   outcome.c    checks and compares outputs
 *   again.c      the command that reproduces a finding
 *   markup.c     well-formed drawings of sinks
 *   race.c       the same inputs on the emulator with the race detector
 *   kernel.c constant.c source.c sink.c   the runs for each kind of algorithm
 */
#ifndef SL_TRIAL_H
#define SL_TRIAL_H

#include "trial/case.h"
#include "trial/outcome.h"

/* A graph that uses the algorithm, unchanged or with `use` ("NODE=PLUGIN.ALGORITHM"). */
struct trial_graph {
  const char *path;  /* NULL: no graph found */
  const char *shown; /* path as given; file name for graphs of the library */
  char *use;
  char *node;
};

/* The given graphs, or the graphs installed with the library. Each is read once per algorithm. */
struct trial_graphs {
  char **paths;
  size_t count;
  int are_given;
};
int trial_graphs_open(const char *const *given, struct sl_diagnostics *d, struct trial_graphs *graphs);
void trial_graphs_close(struct trial_graphs *graphs);
/* Finds a graph for "plugin.algorithm". SL_EGRAPH, reported in `d`, if a given graph cannot be read. */
int trial_graph_find(const struct trial_graphs *graphs, const struct sl_trial_options *options,
                     struct sl_registry *registry, const char *name, struct sl_diagnostics *d,
                     struct trial_graph *found);

/* One algorithm on one target. */
struct trial_run {
  const struct sl_trial_options *options;
  struct sl_session *session; /* session of the graph on cpu */
  uint32_t node;
  const struct trial_case *inputs; /* inputs of kernels and constants */
  const char *plugin_path, *algorithm;
  const struct trial_graph *graph;
  const char *folder; /* folder for the files of sinks, removed afterwards */
  struct trial_pool *pool;
};

/* Main functions of children; context: struct trial_run. */
void trial_run_kernel(void *context, struct sl_child *log);
void trial_run_race(void *context, struct sl_child *log);
void trial_run_constant(void *context, struct sl_child *log);
void trial_run_source(void *context, struct sl_child *log);
void trial_run_sink(void *context, struct sl_child *log);

/* kernel.c: makes reads of fields that the algorithm does not name a finding. */
void trial_open_traps(struct sl_test *t, struct sl_child *log);
/* Enlarges the outputs that overflowed, because a budget was too small for these events. Returns 0 if none did. */
int trial_grow(struct sl_test *t);
/* The last message of the algorithm, without "error: ". */
const char *trial_last_message(const struct sl_test *t);

/* Opens a session on the graph with the options of a trial. Ends the process with the reason if that fails. */
struct sl_session *trial_session_open(const struct sl_trial_options *options, const struct trial_graph *graph,
                                      uint32_t slice_events, const char *output_path, struct sl_child *log);
/* Opens such a session on the emulator with the race detector. */
struct sl_session *trial_race_open(const struct sl_trial_options *options, const struct trial_graph *graph,
                                   struct sl_child *log);
/* Writes a line with the command that tests this algorithm alone in the same way. */
void trial_write_again(const struct sl_trial_options *o, const struct trial_graph *graph, const char *plugin,
                       const char *algorithm, FILE *file);
/* Writes the text of a child that passed: "12 events of velo.yaml, node sorted". */
void trial_describe_kernel(const struct trial_run *r, struct sl_child *log);
/* Text of the first reported error, or "". */
const char *trial_first_error(const struct sl_session *s);

/* Checks a plugin beyond the checks of the loader. Returns 0, or 1 with the first finding in `reason`. `cpu`: the
 * plugin of this name for cpu, NULL if it is this one. */
int trial_lint(const char *path, const struct sl_plugin *plugin, const struct sl_plugin *cpu, char *reason,
               size_t reason_size);
/* Checks the doc strings: none is empty or refers to another text. Returns 0, or 1 with the first finding. */
int trial_lint_docs(const struct sl_plugin *plugin, char *reason, size_t reason_size);
/* Checks that a drawing, ended by a zero byte, is well-formed. Returns 0, or 1 with the first finding. */
int trial_lint_drawing(const char *text, size_t bytes, char *reason, size_t reason_size);
/* Checks the file, and its variant for other processors of the same architecture. Returns 0, or 1 with the finding. */
int trial_lint_files(const char *path, int has_kernels, char *reason, size_t reason_size);

#endif
