/* cli.h: what the files of the `sluice` command share. A command is a line of the table in commands.c and a file of its
 * own; an option is a line of the table in options.c. Help, shell completion and man pages follow from the two tables.
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
  const char *const *command_line; /* all of it, NULL-terminated */
  const char *operand;             /* the first operand, or NULL */
  struct cli_list operands, inputs, sets, uses, withs, plugin_paths;
  struct cli_list range_texts; /* --range, one for each of `inputs` */
  struct sl_input_range *ranges;
  uint64_t part_events; /* of `sluice index` */
  const char *json_path, *svg_path, *offsets_path;
  const char *log_path, *log_level, *diagnostics;
  struct cli_list csv_paths;
  struct cli_list nodes;
  const char *blocks, *slots_list, *slice_events_list;
  uint64_t capacity, steps, rounds;
  double seconds;
  uint32_t graphs_only; /* of `sluice list` */
  uint32_t quiet, all, as_json, as_dot, as_svg, as_mermaid, as_yaml, origins;
  struct sl_trial_options trial;
  struct cli_list graphs;
  uint32_t strict;
  struct sl_paths owned;          /* what patterns of FILES match */
  uint8_t given[CLI_OPTIONS_MAX]; /* per line of cli_options */
};

/* Groups of options. A command takes one or more; a group of one command's own is named for it. */
enum {
  CLI_PLUGINS = 1, /* where plugins are looked for */
  CLI_GRAPH = 2,   /* what changes a graph */
  CLI_RUN = 4,
  CLI_PLAN = 8,
  CLI_DESCRIBE = 16,
  CLI_DRAW = 32,
  CLI_TUNE = 64,
  CLI_CHANGE = 128, /* of CLI_GRAPH what does not say how the graph runs */
  CLI_TEST = 256,
  CLI_COMPARE = 512,
  CLI_MESSAGES = 1024, /* how messages are printed */
  CLI_LISTS = 2048,
  CLI_INDEX = 4096
};

/* What an option takes, and so the type of its target in struct cli_arguments:
 *   FLAG, DIGEST  uint32_t
 *   COUNT         uint64_t, or uint32_t if `maximum` fits
 *   SECONDS       double
 *   TEXT          const char *
 *   LIST          struct cli_list
 *   FILES, INPUTS struct cli_list; take all arguments up to the next option. Patterns among FILES are expanded, those
 *                 among INPUTS are the library's */
enum cli_kind { CLI_FLAG, CLI_COUNT, CLI_SECONDS, CLI_TEXT, CLI_LIST, CLI_FILES, CLI_INPUTS, CLI_DIGEST };

struct cli_option {
  const char *name, *alias, *value, *doc;
  enum cli_kind kind;
  unsigned groups; /* that it belongs to; one name may stand in several lines, for different groups */
  size_t offset;   /* of its target in struct cli_arguments */
  uint64_t maximum;
};
extern const struct cli_option cli_options[];
extern const size_t cli_option_count;

struct cli_command {
  const char *name;
  const char *operands; /* as help shows them: "GRAPH"; "" for none */
  const char *wants;    /* what is said when there are too few: "a graph" */
  uint32_t operands_min, operands_max;
  unsigned groups; /* of options that it takes */
  const char *doc; /* one line */
  int (*run)(const struct cli_arguments *a);
  const char *details; /* paragraphs for help and man page: what one line cannot say, examples; or NULL */
};
extern const struct cli_command cli_commands[];
extern const size_t cli_command_count;

/* Parses what follows the command's name; complains on stderr. CLI_OK, CLI_WRONG or CLI_HELP. */
int cli_parse(struct cli_arguments *a, const struct cli_command *command, int argc, char **argv);
void cli_free(struct cli_arguments *a);
/* The first option given of these groups; NULL: none was. */
const char *cli_given_of(const struct cli_arguments *a, unsigned groups);

int cli_append(struct cli_list *list, const char *item);

/* help.c: of the whole program; of one command. */
void cli_write_help(FILE *file);
void cli_write_command_help(const struct cli_command *command, FILE *file);

/* terminal.c: from now on standard output and error show control characters as \x1b, but for this at the begin of what
 * is written. */
#define CLI_CLEAR_LINE "\r\033[K"
void cli_filter_output(void);
/* The same for what is written to `file`, which is closed with the stream; not buffered. NULL when memory is out. */
FILE *cli_open_filtered(int file);
/* On a terminal standard error colours the first "error:", "warning:" or "note:" of what is written, unless NO_COLOR is
 * set; no more from now on. */
void cli_stop_colours(void);

/* signals.c: from now on the signals that end a program stop the session of cli_stop_on_signal first; the next one ends
 * the process at once. */
void cli_catch_signals(void);
/* The session that a signal stops; NULL: there is none, and the signal is only noted. */
void cli_stop_on_signal(struct sl_session *session);
/* The first signal since cli_catch_signals; 0: there was none. */
int cli_signal(void);
/* Signals end the process again. */
void cli_leave_signals(void);

/* output.c: what commands have in common. */

struct sl_nearest; /* base/nearest.h */
/* After a complaint: the hint "did you mean X?", where something is near enough. Was there? */
int cli_suggest(const struct sl_nearest *nearest);

/* How the following print: "text", "json", or NULL, which is text. CLI_WRONG after a complaint. */
int cli_choose_diagnostics(const char *format);
void cli_write_message(const struct sl_diagnostic *message, FILE *file);
/* Prints the diagnostics; with `quiet`, only if there are errors. */
void cli_print_messages(struct sl_diagnostics *d, int quiet);
/* Prints how many more there were than are kept. */
void cli_print_dropped(const struct sl_diagnostics *d);
/* Says that there is none; what is wrong with a file. Both: CLI_FAILED. */
int cli_no_memory(void);
int cli_complain(const char *path, const char *reason);
/* Ascending. */
void cli_sort_numbers(double *values, size_t count);
/* Has `write` write a file about something; "-" is standard output. The file is there whole or not at all. CLI_FAILED
 * after a complaint. */
int cli_write_file(const char *path, int (*write)(const void *what, FILE *file), const void *what);
/* The same about a session. */
int cli_write_session(const struct sl_session *session, const char *path,
                      int (*write)(const struct sl_session *, FILE *));
/* CLI_OK, or CLI_WRONG after a complaint where `path`, the file of `option`, cannot be written or is the same file as
 * `other`, that of `other_option`. Either may be NULL, for an option that is not given. For commands without a session.
 */
int cli_check_output(const char *option, const char *path, const char *other_option, const char *other);
/* Opens a session on the graph, has `show` print something of it, and prints the messages. Returns an exit status. */
int cli_look(const struct cli_arguments *a, int (*show)(const struct cli_arguments *, struct sl_session *));

int cli_run(const struct cli_arguments *a);
int cli_check(const struct cli_arguments *a);
int cli_plan(const struct cli_arguments *a);
int cli_graph(const struct cli_arguments *a);
int cli_list(const struct cli_arguments *a);
int cli_completion(const struct cli_arguments *a);
int cli_describe(const struct cli_arguments *a);
int cli_compare(const struct cli_arguments *a);
int cli_tune(const struct cli_arguments *a);
int cli_schema(const struct cli_arguments *a);
int cli_new(const struct cli_arguments *a);
int cli_test(const struct cli_arguments *a);
int cli_index(const struct cli_arguments *a);

#endif
