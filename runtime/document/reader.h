/* reader.h: shared by the stages of sl_graph_read: memory, locations in files, messages, limits. */
#ifndef SL_READER_H
#define SL_READER_H

#include "base/diagnostics.h"
#include "document/arena.h"
#include "document/request.h"

/* Limits, so that a malicious file costs only milliseconds. */
enum {
  SL_LIMIT_FILE_BYTES = 1 << 20,
  SL_LIMIT_FILES = 64,      /* files read for one graph; a file read twice counts twice */
  SL_LIMIT_DEPTH = 64,      /* nesting of maps and lists */
  SL_LIMIT_VALUES = 100000, /* values in all files, with aliases expanded */
  SL_LIMIT_KEY_BYTES = 100,
  SL_LIMIT_NODES = 4096,
  SL_LIMIT_MEMORY_BYTES = 64 << 20,
  SL_LIMIT_HEADER_VALUES = 64,
  SL_LIMIT_ERRORS = 1000 /* further errors are only counted; expensive searches stop */
};

/* A text that contains values: a file, or an option of the command line (text NULL). */
struct sl_text {
  const char *name;  /* name in messages */
  const char *value; /* value of an option */
  int is_given;      /* 1: a file named by the caller, not by another file */
  const char *text;
  size_t bytes;
  uint32_t *line_starts; /* made for the first message */
  uint32_t line_count;
};

/* A location in a text without the source line, which only messages need. Line and column count from 1; 0: unknown. In
 * the value of an option there are only columns. */
struct sl_mark {
  struct sl_text *text;
  uint32_t line, column;
};

struct sl_yaml;
struct sl_mention;
struct sl_header_value;

/* A node that derive.c added for an expression in place of a field. */
struct sl_derived {
  const char *node, *text;
  const char *user, *property; /* where the expression stands */
  int has_events;
  const struct sl_derived *next;
};

struct sl_reader {
  struct sl_arena *arena;
  const struct sl_graph_request *request;
  struct sl_diagnostics *diagnostics;
  struct sl_yaml *yaml; /* the current parser, so that it can be freed after a jump */
  char *file_buffer;    /* SL_LIMIT_FILE_BYTES + 1, made for the first file */
  uint32_t value_count, file_count;
  const char *files[SL_LIMIT_FILES]; /* paths of the files read */
  uint32_t read_count;
  uint32_t error_count;
  const struct sl_mention **mentions; /* for each --set of a parameter: the nodes that refer to it (unused.c) */
  struct sl_header_value *header;     /* values of the input's header (header.c) */
  uint32_t header_count;
  const struct sl_derived *derived; /* nodes added for expressions (derive.c) */
  uint32_t unreadable;              /* 1: a file could not be read or parsed, so that its content is unknown */
  size_t guesses_cost;              /* cost of all searches for the nearest name */
};

/* Adds a message. `node` and `hint` may be NULL. Only sl_report_error counts it as an error. */
void sl_report_error(struct sl_reader *r, struct sl_mark mark, const char *node, const char *hint, const char *format,
                     ...) __attribute__((format(printf, 5, 6)));
void sl_report(struct sl_reader *r, uint32_t severity, struct sl_mark mark, const char *node, const char *hint,
               const char *format, ...) __attribute__((format(printf, 6, 7)));

/* Converts a mark to a location with file name and source line. */
struct sl_location sl_mark_location(struct sl_reader *r, struct sl_mark mark);
/* Returns "FILE:LINE", or the option. */
const char *sl_mark_text(struct sl_reader *r, struct sl_mark mark);
/* Returns the mark of byte `offset` of a text. */
struct sl_mark sl_mark_at_byte(struct sl_reader *r, struct sl_text *text, size_t offset);
/* Mark of a whole file; of the graph's file, for messages about the whole graph. */
struct sl_mark sl_mark_file(struct sl_reader *r, const char *path);
struct sl_mark sl_mark_graph(struct sl_reader *r);
/* Mark for messages about an option, for example "--set" and "a.b=c"; it has no line. */
struct sl_mark sl_mark_option(struct sl_reader *r, const char *option, const char *key, const char *value);
/* Returns the mark of `at` within `text`, the whole value of an option; for a value from a file, the mark of the
 * value. */
struct sl_mark sl_mark_in_option(struct sl_mark mark, const char *text, const char *at);

/* Returns `text`, truncated with "..." if it is too long for a message. */
const char *sl_shown(struct sl_reader *r, const char *text);

/* Finds the nearest valid name: call begin, offer each candidate, then sl_guess_hint, which returns "did you mean X?"
 * or NULL. The total cost for a graph is limited; beyond the limit there are no hints. */
struct sl_guess {
  struct sl_nearest nearest;
  struct sl_reader *reader;
  size_t word_bytes;
};
void sl_guess_begin(struct sl_reader *r, struct sl_guess *guess, const char *word);
void sl_guess_offer(struct sl_guess *guess, const char *candidate);
const char *sl_guess_hint(struct sl_reader *r, const struct sl_guess *guess);

#endif
