/* files.h: the list of files that a run reads and writes. See files.c. */
#ifndef SL_FILES_H
#define SL_FILES_H

#include "base/file_identity.h"
#include "base/input.h"
#include "base/paths.h"
#include "execute/setup.h"
#include "zmq/hub.h"

#include <limits.h>

/* A file that the run reads or writes. */
struct sl_file {
  struct sl_file_identity identity;
  char *path;         /* path as given */
  char what[160];     /* description of the file in messages about other files */
  const char *option; /* option that names the file, or the property of `node`; NULL for files that are read */
  int32_t node;       /* node with the property, or SL_NONE */
  uint32_t member;    /* the property */
  int is_for_sink;    /* file of -o, for the first sink that opens it */
  int is_open;        /* a sink writes it */
  int of_sink;        /* entered when a sink opened it, with the path that the sink writes now */
  int is_of_graph;    /* named by the graph, or written by one of its sinks */
};

/* A stream that a sink has ended with its configuration, and that the next configuration opens again. */
struct sl_handed_over {
  struct sl_output *output;
  struct sl_handed_over *next;
};

struct sl_files {
  struct sl_setup *setup;
  struct sl_zmq *zmq;        /* opens outputs named zmq:ENDPOINT */
  const atomic_int *stopped; /* not 0: the run was stopped; a pipe without a reader is not waited for */
  struct sl_file *at;
  uint32_t count, capacity;
  int writes_stdout;
  int output_is_taken; /* a sink writes the file of -o, or into its folder */
  int is_interrupted;  /* files that are finished later are incomplete, except rotated ones */
  int is_changing;     /* the configuration changes: streams that sinks finish stay open */
  struct sl_handed_over *handed_over;
  char *file_of_sink; /* path of a regular file that a sink writes, or NULL */
  struct sl_rotation *rotation;
  char **found;               /* paths of graph files of the options: the graph, then merged graphs, then NULL */
  struct sl_paths inputs;     /* input paths of the options, patterns expanded */
  char *directory;            /* the working directory when the session was opened; NULL: unknown */
  struct sl_input_head begin; /* begin of the first input; a pipe stays open until the source has opened it */
};

extern const struct sl_output_calls sl_files_output; /* calls that sinks use to write files */

/* Replaces the paths of the options by the paths of the graph files that were found and of the inputs that match the
 * patterns. */
int sl_files_find(struct sl_files *f);
/* Path of a file to be written, relative to the working directory at the opening of the session: `path` itself, or
 * an absolute path in `whole` if the program has changed its working directory. */
const char *sl_files_resolve(const struct sl_files *f, const char *path, char whole[PATH_MAX]);
/* Enter the files of the options; of the graph and its plugins; of properties. Refuse a file that is used twice or
 * cannot be written. */
int sl_files_check(struct sl_files *f);
int sl_files_check_graph(struct sl_files *f);
/* When all sinks are open: reports that no sink has taken the file of -o. */
int sl_files_check_output(const struct sl_files *f);
/* For a change of the configuration: copies the list without the files of the graph, to check those of another graph
 * (sl_files_find_graphs, sl_files_check_graph). `setup` is that of the other graph. */
int sl_files_copy(const struct sl_files *f, struct sl_setup *setup, struct sl_files *copy);
int sl_files_find_graphs(struct sl_files *f);
/* When all sinks are closed: takes over the list and the paths of such a copy. */
void sl_files_change(struct sl_files *f, struct sl_files *copy);
/* When the sinks are open again: ends the streams that no sink has opened. */
int sl_files_end_change(struct sl_files *f);
/* Enters a file that the program writes in addition to the run. */
int sl_files_claim(struct sl_files *f, const char *option, const char *path, uint32_t appends);
/* Log for the file of an option: messages begin with the option. An sl_output_report and its context. */
struct sl_option_log {
  const struct sl_setup *setup;
  const char *option;
};
void sl_option_report(void *context, uint32_t severity, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Ends a file. The file of a stopped run is kept under its temporary name. */
int sl_files_finish(const struct sl_files *f, struct sl_output *file);
void sl_files_close(struct sl_files *f);

#endif
