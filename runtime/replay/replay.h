/* replay.h: `sluice capture` and `sluice replay`: one node alone, with the inputs that it had in a run.
 *
 *   capture.c    takes the inputs and outputs of a node from a running graph
 *   convert.c    between cases (cases/case.h), captured ports and outcomes of runs
 *   resolve.c    the file of a plugin, and properties that are set
 *   job.c        in a child process: runs a case, and compares its outputs
 *   cut.c        a case without some of its events, items and subitems
 *   reduce.c     the smallest case that still fails
 *   unit_test.c  a case as a unit test in C
 *   replay.c     sl_replay
 */
#ifndef SL_REPLAY_H
#define SL_REPLAY_H

#include "cases/case.h"
#include "trial/trial.h"

#include <limits.h>

/* ---------------------------------------------------------------------------------------------- convert.c */

/* Adds to an empty case what describes the node: name, properties, block size. */
int replay_case_begin(struct sl_case *c, const struct sl_node *node);
/* Adds its inputs (SL_MEMBER_IN) or outputs from captured ports; arrays are borrowed. */
int replay_case_add_ports(struct sl_case *c, const struct sl_node *node, uint32_t kind, struct trial_port *ports);
/* The outputs of a case as the outcome of a run of `a`. Ends the child if the case lacks an output, or has another
 * collection. */
struct trial_outcome *replay_outcome_of(const struct sl_case *c, const struct sl_algorithm *a, struct sl_child *log);
/* Replaces the outputs of the case by those of the last run of the harness; arrays are borrowed. */
void replay_take_outputs(struct sl_case *c, const struct sl_test *t, const struct trial_outcome *o);
/* Compares the arrays that a constant made with those of the case. Ends the child if they differ. */
void replay_compare_arrays(const struct sl_case *c, const struct sl_test *t, struct sl_child *log);
/* 1 if the case is that of a constant. */
int replay_is_constant(const struct sl_case *c);

/* ------------------------------------------------------------------------------------------------- cut.c */

/* Entries that can be removed together: the events, the items of the inputs with equal offsets, or a group of their
 * subitems. */
struct replay_axis {
  uint32_t input; /* first input with these offsets; UINT32_MAX: events */
  uint32_t bound; /* 0: items, else the group of subitems */
  uint32_t count;
  uint8_t *keep; /* per entry */
};

struct replay_cut {
  struct replay_axis *axes; /* the first is that of the events */
  uint32_t axis_count;
  const char *why_whole; /* NULL: events can be removed; otherwise the reason why nothing can */
};

/* All axes of a case, with all entries. SL_ENOMEM. */
int replay_cut_open(struct sl_case *c, struct replay_cut *cut);
/* "events", or the name of the input's items or subitems. */
void replay_axis_name(const struct sl_case *c, const struct replay_axis *axis, char *text, size_t size);
/* 1 if an axis beside the events lacks entries. */
int replay_cut_has_fewer_items(const struct replay_cut *cut);
/* The case without the removed entries, for sl_case_free; what did not change is that of `c`. Ends the program if out
 * of memory. Outputs follow the events; outputs of the whole slice are left out if events are removed, and all outputs
 * if items are. */
struct sl_case *replay_cut_case(const struct sl_case *c, const struct replay_cut *cut);

/* ------------------------------------------------------------------------------------------------ resolve.c */

/* A plugin to run a case with. */
struct replay_side {
  char path[PATH_MAX], algorithm[128], target[16];
  char name[PATH_MAX]; /* in messages */
};

/* `use`: a file, PLUGIN.ALGORITHM, or NULL for the algorithm of the case. SL_EINVAL, reported in `d`. */
int replay_resolve(const struct sl_case *c, const char *use, const char *target, const char *const *plugin_paths,
                   struct sl_diagnostics *d, struct replay_side *side);
/* Settings of the emulator. 0: not set. */
struct replay_settings {
  uint32_t seed, warp;
};
/* Sets properties of the case ("property=value", "node.property=value") and of the emulator ("simt.seed=2"). SL_EINVAL,
 * reported in `d`. */
int replay_set(struct sl_case *c, const char *const *sets, struct replay_settings *settings, struct sl_diagnostics *d);

/* ---------------------------------------------------------------------------------------------------- job.c */

/* Result of a job. NOT_POSSIBLE: the case does not fit the plugin, or there is no device. */
enum { REPLAY_EQUAL, REPLAY_DIFFERS, REPLAY_FAILS, REPLAY_REFERENCE_FAILS, REPLAY_NOT_POSSIBLE };
enum { REPLAY_SETUP, REPLAY_REFERENCE, REPLAY_RUN, REPLAY_COMPARE };

/* In shared memory. */
struct replay_result {
  struct sl_child log;
  uint32_t phase; /* REPLAY_SETUP, ...: of the child */
};

struct replay_job {
  const struct sl_replay_options *options;
  const struct replay_settings *settings;
  const struct replay_side *tested, *reference; /* reference NULL: the outputs of the case */
  const struct replay_side *twin;               /* the reference on another target; NULL: there is none */
  const struct sl_case *c;
  const struct replay_cut *cut; /* NULL: the whole case */
  const char *save_path;        /* not NULL: only writes the case here, with the outputs of the reference */
  struct replay_result *result;
};

/* Runs the job in a child process. Returns REPLAY_...; the text is in result->log. */
int replay_job_run(struct replay_job *job);

/* ------------------------------------------------------------------------------------------------- reduce.c */

/* Reduces the case of a job with the result `kind`; `cut` gets the remaining entries. Writes a line per axis to `file`.
 * Returns the number of runs, or a negative error. */
int64_t replay_reduce(struct replay_job *job, int kind, struct replay_cut *cut, FILE *file);

/* ---------------------------------------------------------------------------------------------- unit_test.c */

/* Writes NAME_test.c, and NAME.slc if it needs the case; `name` may have a folder. Prints what to do with them. */
int replay_write_test(const struct sl_case *c, const char *name, struct sl_diagnostics *d, FILE *file);

#endif
