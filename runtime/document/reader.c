/* reader.c: messages with their locations. */
#include "document/reader.h"

#include <string.h>

enum { SOURCE_BYTES_MAX = 240, SHOWN_BYTES_MAX = 80, GUESSES_COST_MAX = 4 * 1000 * 1000 };

/* ------------------------------------------------------------------------------------------------ places */

/* Returns the length of the line break at `at`, or 0 if there is none: the breaks that libyaml counts. */
static size_t line_break_bytes(const char *text, size_t bytes, size_t at) {
  const unsigned char *c = (const unsigned char *)text + at;
  const size_t left = bytes - at;
  if (c[0] == '\n') return 1;
  if (c[0] == '\r') return left > 1 && c[1] == '\n' ? 2 : 1;
  if (c[0] == 0xC2 && left > 1 && c[1] == 0x85) return 2;
  if (c[0] == 0xE2 && left > 2 && c[1] == 0x80 && (c[2] == 0xA8 || c[2] == 0xA9)) return 3;
  return 0;
}

static void find_lines(struct sl_reader *r, struct sl_text *text) {
  if (text->line_starts != NULL) return;
  for (int pass = 0; pass < 2; pass++) { /* first count, then store */
    uint32_t count = 0;
    if (pass == 1) text->line_starts[0] = 0;
    for (size_t at = 0; at < text->bytes;) {
      const size_t step = line_break_bytes(text->text, text->bytes, at);
      at += step > 0 ? step : 1;
      if (step == 0) continue;
      count++;
      if (pass == 1) text->line_starts[count] = (uint32_t)at;
    }
    text->line_count = count + 1;
    if (pass == 0) text->line_starts = sl_arena_get(r->arena, text->line_count, sizeof *text->line_starts);
  }
}

static int continues_character(char c) { return ((unsigned char)c & 0xC0) == 0x80; }

/* Returns the line without its break, truncated if it is very long; NULL if the truncation would hide the column. */
static const char *source_line(struct sl_reader *r, struct sl_mark mark) {
  struct sl_text *text = mark.text;
  if (text != NULL && mark.line == 0 && mark.column > 0) return text->value;
  if (text == NULL || text->text == NULL || mark.line == 0) return NULL;
  find_lines(r, text);
  if (mark.line > text->line_count) return NULL;
  const size_t start = text->line_starts[mark.line - 1];
  size_t bytes = 0;
  while (start + bytes < text->bytes && bytes < SOURCE_BYTES_MAX &&
         line_break_bytes(text->text, text->bytes, start + bytes) == 0)
    bytes++;
  if (bytes == SOURCE_BYTES_MAX && start + bytes < text->bytes) {
    while (bytes > 0 && continues_character(text->text[start + bytes])) bytes--;
    if (mark.column > SOURCE_BYTES_MAX / 2) return NULL;
  }
  return sl_arena_text(r->arena, text->text + start, bytes);
}

struct sl_location sl_mark_location(struct sl_reader *r, struct sl_mark mark) {
  struct sl_location location = {NULL, NULL, mark.line, mark.column};
  if (mark.text != NULL) location.file = mark.text->name;
  location.source = source_line(r, mark);
  return location;
}

const char *sl_mark_text(struct sl_reader *r, struct sl_mark mark) {
  return mark.line == 0 ? mark.text->name : sl_arena_format(r->arena, "%s:%u", mark.text->name, mark.line);
}

struct sl_mark sl_mark_at_byte(struct sl_reader *r, struct sl_text *text, size_t offset) {
  find_lines(r, text);
  if (offset > text->bytes) offset = text->bytes;
  uint32_t line = text->line_count;
  while (line > 1 && text->line_starts[line - 1] > offset) line--;
  uint32_t column = 1;
  for (size_t at = text->line_starts[line - 1]; at < offset; at++)
    if (!continues_character(text->text[at])) column++;
  return (struct sl_mark){text, line, column};
}

struct sl_mark sl_mark_file(struct sl_reader *r, const char *path) {
  struct sl_text *text = sl_arena_get(r->arena, 1, sizeof *text);
  text->name = path;
  return (struct sl_mark){text, 0, 0};
}

struct sl_mark sl_mark_graph(struct sl_reader *r) {
  return sl_mark_file(r, r->request->path != NULL ? r->request->path : "graph");
}

struct sl_mark sl_mark_option(struct sl_reader *r, const char *option, const char *key, const char *value) {
  struct sl_text *text = sl_arena_get(r->arena, 1, sizeof *text);
  text->name = sl_arena_format(r->arena, "%s %s=%s", option, sl_shown(r, key), sl_shown(r, value));
  text->value = value;
  return (struct sl_mark){text, 0, 0};
}

struct sl_mark sl_mark_in_option(struct sl_mark mark, const char *text, const char *at) {
  if (mark.text == NULL || mark.text->value == NULL || strcmp(mark.text->value, text) != 0) return mark;
  mark.column = 1;
  for (const char *c = text; c < at; c++) mark.column += !continues_character(*c);
  return mark;
}

/* ---------------------------------------------------------------------------------------------- messages */

static void report(struct sl_reader *r, uint32_t severity, struct sl_mark mark, const char *node, const char *hint,
                   const char *format, va_list arguments) {
  struct sl_location location = {NULL, NULL, 0, 0};
  if (r->error_count <= SL_LIMIT_ERRORS) location = sl_mark_location(r, mark);
  sl_vdiagnose(r->diagnostics, severity, &location, node, hint, format, arguments);
}

void sl_report_error(struct sl_reader *r, struct sl_mark mark, const char *node, const char *hint, const char *format,
                     ...) {
  va_list arguments;
  va_start(arguments, format);
  r->error_count++;
  report(r, SL_ERROR, mark, node, hint, format, arguments);
  va_end(arguments);
}

void sl_report(struct sl_reader *r, uint32_t severity, struct sl_mark mark, const char *node, const char *hint,
               const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  report(r, severity, mark, node, hint, format, arguments);
  va_end(arguments);
}

const char *sl_shown(struct sl_reader *r, const char *text) {
  size_t bytes = strlen(text);
  if (bytes <= SHOWN_BYTES_MAX) return text;
  bytes = SHOWN_BYTES_MAX - 3;
  while (bytes > 0 && continues_character(text[bytes])) bytes--;
  return sl_arena_format(r->arena, "%.*s...", (int)bytes, text);
}

/* ----------------------------------------------------------------------------------------- nearest names */

void sl_guess_begin(struct sl_reader *r, struct sl_guess *guess, const char *word) {
  *guess = (struct sl_guess){.reader = r, .word_bytes = strlen(word)};
  sl_nearest_begin(&guess->nearest, word);
}

/* A candidate of a very different length cannot be a misspelling and is skipped. A comparison costs the product of the
 * lengths. */
void sl_guess_offer(struct sl_guess *guess, const char *candidate) {
  const size_t bytes = strlen(candidate), slack = guess->word_bytes / 3 + 1;
  if (bytes > guess->word_bytes + slack || bytes + slack < guess->word_bytes) return;
  guess->reader->guesses_cost += bytes * guess->word_bytes;
  if (guess->reader->guesses_cost > GUESSES_COST_MAX) return;
  sl_nearest_offer(&guess->nearest, candidate);
}

const char *sl_guess_hint(struct sl_reader *r, const struct sl_guess *guess) {
  const char *best = sl_nearest_result(&guess->nearest);
  return best != NULL ? sl_arena_format(r->arena, "did you mean %s?", best) : NULL;
}
