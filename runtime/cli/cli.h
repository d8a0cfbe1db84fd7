/* cli.h: declarations that the files of the `sluice` command share. Each command is a row of the table in commands.c
 * and a file; each option is a row of the table in options.c. Help, shell completion and man pages are made from the
 * tables.
 */
#ifndef SL_CLI_H
#define SL_CLI_H

#include "base/paths.h"

#include <sluice/sluice.h>

#include <stdio.h>

enum { CLI_OK = 0, CLI_FAILED = 1, CLI_WRONG = 2, CLI_SIGNAL = 128, CLI_HELP = -1 };
enum { CLI_OPTIONS_MAX = 128 };

struct cli_list {
  const char **items; /* NULL-terminated */
  size_t count;
};

struct cli_arguments {
  struct sl_options options;
  const char *const *command_line; /* all words, NULL-terminated */
  const char *operand;             /* the first operand, or NULL */
  struct cli_list operands, inputs, sets, uses, withs, plugin_paths;
  struct cli_list range_texts; /* --range, one per input */
  struct sl_input_range *ranges;
  uint64_t part_events; /* of `sluice index` */
  struct sl_follow_options follow;
  struct sl_server_options server;
  struct cli_list references, alarms;
  const char *complete;
  const char *json_path, *svg_path, *dot_path, *mermaid_path, *offsets_path;
  const char *log_path, *log_level, *diagnostics;
  const char *replan, *budgets_path, *run_path;
  struct cli_list csv_paths;
  struct cli_list nodes;
  struct cli_list events, lines; /* of `sluice explain` */
  const char *blocks, *slots_list, *slice_events_list;
  uint64_t capacity, steps, rounds;
  double seconds;
  uint32_t list_graphs, list_algorithms, list_collections; /* of `sluice list` */
  uint32_t quiet, verbose, all, as_json, as_yaml, as_lines, origins;
  uint32_t draw_constants, draw_ports, draw_all, depth;
  struct cli_list from_nodes, to_nodes;
  struct sl_trial_options trial;
  struct cli_list graphs;
  uint32_t strict;
  const char *captured_node, *captured_events; /* of `sluice capture` */
  struct sl_replay_options replay;
  uint32_t reduce;
  uint32_t new_plain, new_hits, force; /* of `sluice new` */
  struct sl_paths owned;               /* files that patterns of FILES match */
  uint8_t given[CLI_OPTIONS_MAX];      /* per row of cli_options: how often the option is given */
};

/* Groups of options. A command takes one or more groups. */
enum {
  CLI_PLUGINS = 1, /* folders to search for plugins */
  CLI_GRAPH = 2,   /* change a graph or how it runs */
  CLI_RUN = 4,
  CLI_PLAN = 8,
  CLI_DESCRIBE = 16,
  CLI_DRAW = 32,
  CLI_TUNE = 64,
  CLI_CHANGE = 128, /* the part of CLI_GRAPH that does not set slots or slice sizes */
  CLI_TEST = 256,
  CLI_COMPARE = 512,
  CLI_MESSAGES = 1024, /* how messages are printed */
  CLI_LISTS = 2048,
  CLI_INDEX = 4096,
  CLI_PICTURE = 8192, /* what a picture of a graph shows */
  CLI_NEW = 16384,
  CLI_FOLLOW = 32768, /* how a folder is followed; no effect without --follow */
  CLI_SERVE = 65536,  /* how a run is served; no effect without --serve */
  CLI_EXPLAIN = 131072,
  CLI_CAPTURE = 262144,
  CLI_REPLAY = 524288
};

/* The value of an option, and the type of its target in struct cli_arguments:
 *   FLAG, DIGEST  uint32_t
 *   COUNT         uint64_t, or uint32_t if `maximum` fits
 *   SECONDS       double
 *   TEXT          const char *
 *   LIST          struct cli_list
 *   FILES, INPUTS struct cli_list; take all arguments up to the next option. The command expands patterns of
 *                 FILES, the library those of INPUTS */
enum cli_kind { CLI_FLAG, CLI_COUNT, CLI_SECONDS, CLI_TEXT, CLI_LIST, CLI_FILES, CLI_INPUTS, CLI_DIGEST };

struct cli_option {
  const char *name, *alias, *value, *doc;
  enum cli_kind kind;
  unsigned groups; /* groups of the option; several rows may have one name, for different groups */
  size_t offset;   /* of the target in struct cli_arguments */
  uint64_t maximum;
};
extern const struct cli_option cli_options[];
extern const size_t cli_option_count;

struct cli_command {
  const char *name;
  const char *operands; /* as shown in help: "GRAPH"; "" for none */
  const char *wants;    /* for the error about missing operands: "a graph" */
  uint32_t operands_min, operands_max;
  unsigned groups; /* of options */
  const char *doc; /* one line */
  int (*run)(const struct cli_arguments *a);
  const char *details; /* paragraphs for help and man page, with examples; or NULL */
};
extern const struct cli_command cli_commands[];
extern const size_t cli_command_count;

/* Parses the words after the name of the command. CLI_OK, CLI_HELP, or CLI_WRONG after an error on stderr. */
int cli_parse(struct cli_arguments *a, const struct cli_command *command, int argc, char **argv);
void cli_free(struct cli_arguments *a);
/* The first option of these groups that is given, or NULL. */
const char *cli_given_of(const struct cli_arguments *a, unsigned groups);
int cli_is_given(const struct cli_arguments *a, const char *name);

int cli_append(struct cli_list *list, const char *item);

/* help.c: the help of the program, and of one command. */
void cli_write_help(FILE *file);
void cli_write_command_help(const struct cli_command *command, FILE *file);

/* terminal.c: from now on standard output and error show control characters as \x1b, except this code at the beginning
 * of a write. */
#define CLI_CLEAR_LINE "\r\033[K"
void cli_filter_output(void);
/* An unbuffered stream to `file` with the same filter; fclose closes the file. NULL when memory is out. */
FILE *cli_open_filtered(int file);
/* On a terminal standard error colours the first "error:", "warning:" or "note:" of a write, unless NO_COLOR is set.
 * After this call it does not. */
void cli_stop_colours(void);

/* signals.c: from now on the first signal that would end the program stops the session of cli_stop_on_signal; the next
 * one ends the process at once. */
void cli_catch_signals(void);
/* From now on SIGUSR1 adds 1 to this eventfd, and ends nothing. */
void cli_reload_on_signal(int requests);
/* The session that a signal stops. NULL: a signal is only recorded. */
void cli_stop_on_signal(struct sl_session *session);
/* The first signal since cli_catch_signals, or 0. */
int cli_signal(void);
/* From now on signals end the process again. */
void cli_leave_signals(void);

/* output.c: messages and files, for all commands. */

struct sl_nearest; /* base/nearest.h */
/* After an error: prints the hint "did you mean X?" if a name is near enough. 1 if it did. */
int cli_suggest(const struct sl_nearest *nearest);

/* Format of the messages below: "text", "json", or NULL for text. CLI_WRONG after an error. */
int cli_choose_diagnostics(const char *format);
void cli_write_message(const struct sl_diagnostic *message, FILE *file);
/* Prints the diagnostics; with `quiet`, only if there are errors. */
void cli_print_messages(struct sl_diagnostics *d, int quiet);
/* Prints how many messages are not kept. */
void cli_print_dropped(const struct sl_diagnostics *d);
/* Print an error: out of memory; `reason` about a file. Both return CLI_FAILED. */
int cli_no_memory(void);
int cli_file_error(const char *path, const char *reason);
/* Ascending. */
void cli_sort_numbers(double *values, size_t count);
/* Writes a file by `write`; "-" is standard output. The file is written whole or not at all. CLI_FAILED after an error.
 */
int cli_write_file(const char *path, int (*write)(const void *what, FILE *file), const void *what);
/* Writes a file about a session by `write`. */
int cli_write_session(const struct sl_session *session, const char *path,
                      int (*write)(const struct sl_session *, FILE *));
/* For commands without a session: CLI_WRONG after an error if `path`, the file of `option`, cannot be written or is the
 * same file as `other`, the file of `other_option`. A path is NULL if its option is not given. */
int cli_check_output(const char *option, const char *path, const char *other_option, const char *other);
/* Opens a session on the graph, calls `show`, and prints the messages. Returns an exit status. */
int cli_inspect(const struct cli_arguments *a, int (*show)(const struct cli_arguments *, struct sl_session *));

int cli_run(const struct cli_arguments *a);
int cli_check(const struct cli_arguments *a);
int cli_plan(const struct cli_arguments *a);
int cli_graph(const struct cli_arguments *a);
int cli_list(const struct cli_arguments *a);
int cli_completion(const struct cli_arguments *a);
int cli_describe(const struct cli_arguments *a);
int cli_compare(const struct cli_arguments *a);
int cli_explain(const struct cli_arguments *a);
int cli_tune(const struct cli_arguments *a);
int cli_schema(const struct cli_arguments *a);
int cli_new(const struct cli_arguments *a);
int cli_test(const struct cli_arguments *a);
int cli_index(const struct cli_arguments *a);
int cli_capture(const struct cli_arguments *a);
int cli_replay(const struct cli_arguments *a);

#endif
