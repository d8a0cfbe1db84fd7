/* reader.h: what the stages of sl_graph_read share: memory, places in files, messages, limits. */
#ifndef SL_READER_H
#define SL_READER_H

#include "graph/arena.h"
#include "graph/graph.h"

/* Limits, so that a hostile file costs milliseconds. */
enum {
  SL_LIMIT_FILE_BYTES = 1 << 20,
  SL_LIMIT_FILES = 64,      /* files read for one graph, the same one twice counts twice */
  SL_LIMIT_DEPTH = 64,      /* maps and lists in each other */
  SL_LIMIT_VALUES = 100000, /* values in all files, aliases expanded */
  SL_LIMIT_KEY_BYTES = 100,
  SL_LIMIT_NODES = 4096,
  SL_LIMIT_MEMORY_BYTES = 64 << 20,
  SL_LIMIT_ERRORS = 1000 /* later ones are counted only; costly searches end here */
};

/* A text that values came from: a file, or an option of the command line (text NULL). */
struct sl_text {
  const char *name;  /* as shown in messages */
  const char *value; /* of an option */
  int is_given;      /* a file that was named for the run, and not by another file */
  const char *text;
  size_t bytes;
  uint32_t *line_starts; /* made when the first message needs them */
  uint32_t line_count;
};

/* Where something stands; a place without its source line, which only messages need. Counted from 1, 0: unknown. In an
 * option's value there are only columns. */
struct sl_mark {
  struct sl_text *text;
  uint32_t line, column;
};

struct sl_yaml;
struct sl_mention;

struct sl_reader {
  struct sl_arena *arena;
  const struct sl_graph_request *request;
  struct sl_diagnostics *diagnostics;
  struct sl_yaml *yaml; /* the parser at work, to be closed also after a jump out of it */
  char *file_buffer;    /* SL_LIMIT_FILE_BYTES + 1, made when the first file is read */
  uint32_t value_count, file_count;
  const char *files[SL_LIMIT_FILES]; /* paths of those that were read */
  uint32_t read_count;
  uint32_t error_count;
  const struct sl_mention **mentions; /* per --set of a parameter: who refers to it (unused.c) */
  uint32_t unreadable;                /* a file could not be read or parsed: what it would have said is unknown */
  size_t guesses_cost;                /* of all nearest names looked for */
};

/* Adds a message. `node` and `hint` may be NULL. Only sl_report_error counts as one. */
void sl_report_error(struct sl_reader *r, struct sl_mark mark, const char *node, const char *hint, const char *format,
                     ...) __attribute__((format(printf, 5, 6)));
void sl_report(struct sl_reader *r, uint32_t severity, struct sl_mark mark, const char *node, const char *hint,
               const char *format, ...) __attribute__((format(printf, 6, 7)));

/* The mark with its file's name and source line. */
struct sl_place sl_mark_place(struct sl_reader *r, struct sl_mark mark);
/* "FILE:LINE", or the option. */
const char *sl_mark_text(struct sl_reader *r, struct sl_mark mark);
/* The mark of byte `offset` of a text. */
struct sl_mark sl_mark_at_byte(struct sl_reader *r, struct sl_text *text, size_t offset);
/* A file as a whole; the graph's, for messages about the graph as a whole. */
struct sl_mark sl_mark_file(struct sl_reader *r, const char *path);
struct sl_mark sl_mark_graph(struct sl_reader *r);
/* A text for messages about an option, e.g. "--set" and "a.b=c": its marks have no line. */
struct sl_mark sl_mark_option(struct sl_reader *r, const char *option, const char *key, const char *value);
/* The mark of `at` within `text`, which is an option's whole value; of a value from a file, the value's mark. */
struct sl_mark sl_mark_in_option(struct sl_mark mark, const char *text, const char *at);

/* `text`, cut with "..." where it is too long for a message. */
const char *sl_shown(struct sl_reader *r, const char *text);

/* The nearest right name: begin, offer each, then sl_guess_hint, which gives "did you mean X?" or NULL. The cost of all
 * guesses of a graph together is bounded; beyond it there are no hints. */
struct sl_guess {
  struct sl_nearest nearest;
  struct sl_reader *reader;
  size_t word_bytes;
};
void sl_guess_begin(struct sl_reader *r, struct sl_guess *guess, const char *word);
void sl_guess_offer(struct sl_guess *guess, const char *candidate);
const char *sl_guess_hint(struct sl_reader *r, const struct sl_guess *guess);

#endif
