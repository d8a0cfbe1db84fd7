/* files.h: the list of files that a run reads and writes. See files.c. */
#ifndef SL_FILES_H
#define SL_FILES_H

#include "base/file_identity.h"
#include "base/input.h"
#include "base/paths.h"
#include "execute/setup.h"

#include <limits.h>

/* A file that the run reads or writes. */
struct sl_file {
  struct sl_file_identity identity;
  char *path;         /* as it was named */
  char what[160];     /* its description, in messages about other files */
  const char *option; /* that names it, or the property of `node`; NULL of a file that is read */
  int32_t node;       /* whose property names it, or SL_NONE */
  uint32_t member;    /* that property */
  int is_for_sink;    /* of -o: for the first sink that opens it */
  int is_open;        /* a sink writes it */
};

struct sl_files {
  struct sl_setup *setup;
  const atomic_int *stopped; /* not 0: the run was stopped, and waits for no reader of a pipe */
  struct sl_file *at;
  uint32_t count, capacity;
  int writes_stdout;
  int output_is_taken; /* a sink writes the file of -o, or into its folder */
  int is_interrupted;  /* files that are finished from now on are incomplete */
  char **found; /* paths of graph files, those of the options: the graph, then those merged after it, then NULL */
  struct sl_paths inputs; /* those of the options, patterns expanded */
  char *directory;        /* the working directory when the session was opened; NULL: unknown */
  struct sl_begin begin;  /* of the first input; a pipe is held until the source has opened it */
};

extern const struct sl_output_calls sl_files_output; /* with which sinks write files */

/* Sets the options' paths to the graph's files where they were found, and to the inputs that patterns match. */
int sl_files_find(struct sl_files *f);
/* The path of a file to be written, relative to the working directory in which the session was opened: `path` itself,
 * or, if the program has changed its working directory since, an absolute path in `whole`. */
const char *sl_files_resolve(const struct sl_files *f, const char *path, char whole[PATH_MAX]);
/* Enters the files that the options name; those of the graph and its plugins, and those that properties name. Refuses a
 * file that is used twice, or cannot be written. */
int sl_files_check(struct sl_files *f);
int sl_files_check_graph(struct sl_files *f);
/* When all sinks are open: does one of them take the file of -o? */
int sl_files_check_output(const struct sl_files *f);
/* Enters a file that the program writes beside the run. */
int sl_files_claim(struct sl_files *f, const char *option, const char *path, uint32_t appends);
/* Messages about the file of an option begin with its name: an sl_output_say, and its context. */
struct sl_option_log {
  const struct sl_setup *setup;
  const char *option;
};
void sl_option_say(void *context, uint32_t severity, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Ends a file; that of a run that was stopped is kept under the name of its temporary. */
int sl_files_finish(const struct sl_files *f, struct sl_output *file);
void sl_files_close(struct sl_files *f);

#endif
