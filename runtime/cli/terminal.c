/* terminal.c: removes control characters from the output of the command. File names, graphs, descriptions of plugins
 * and messages may contain escape codes, which a terminal would obey. So standard output and error pass a filter that
 * shows control characters except line ends and tabs as \x1b: those of ASCII and Latin 1, also as UTF-8, and bytes that
 * are not UTF-8. A write may begin with the code that clears the line of the progress bar. On a terminal the filter
 * colours the severity of a message. */
#define _GNU_SOURCE
#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CLEAR_LINE_BYTES = sizeof CLI_CLEAR_LINE - 1, OUT_BYTES = 4096, SHOWN_BYTES = 4 };

/* One stream: the state of an incomplete character, and bytes to write. */
struct filter {
  int file;
  unsigned left;             /* missing bytes of the character */
  int has_colours, is_owned; /* owned: the file is closed with the stream */
  int has_c2;                /* the first byte 0xc2 is not written yet: the character may be a control character */
  size_t used;               /* of `out` */
  char out[OUT_BYTES];
};

static int write_out(struct filter *f) {
  size_t done = 0;
  while (done < f->used) {
    const ssize_t got = write(f->file, f->out + done, f->used - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      f->used = 0;
      return -1;
    }
    done += (size_t)got;
  }
  f->used = 0;
  return 0;
}

static void pass(struct filter *f, unsigned char byte) { f->out[f->used++] = (char)byte; }

static void show(struct filter *f, unsigned char byte) {
  static const char digits[] = "0123456789abcdef";
  pass(f, '\\');
  pass(f, 'x');
  pass(f, (unsigned char)digits[byte >> 4]);
  pass(f, (unsigned char)digits[byte & 15]);
}

/* Bytes after the first byte of a character; 0 if the byte begins no character of several bytes. */
static unsigned bytes_after(unsigned char first) {
  if (first >= 0xf0) return first < 0xf5 ? 3 : 0;
  return first >= 0xe0 ? 2 : first >= 0xc2 ? 1 : 0;
}

static void filter_byte(struct filter *f, unsigned char byte) {
  const int continues = f->left > 0 && (byte & 0xc0) == 0x80;
  if (f->has_c2) {
    f->has_c2 = 0;
    if (continues && byte < 0xa0) { /* U+0080 to U+009f */
      f->left = 0;
      show(f, byte);
      return;
    }
    if (continues) pass(f, 0xc2);
  }
  if (continues) {
    f->left--;
    pass(f, byte);
    return;
  }
  f->left = bytes_after(byte);
  f->has_c2 = byte == 0xc2;
  if (f->has_c2) return;
  if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f || (byte >= 0x80 && f->left == 0))
    show(f, byte);
  else
    pass(f, byte);
}

static int filter_bytes(struct filter *f, const char *text, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) {
    if (f->used + 2 * SHOWN_BYTES > OUT_BYTES && write_out(f) < 0) return -1;
    filter_byte(f, (unsigned char)text[i]);
  }
  return 0;
}

static int pass_code(struct filter *f, const char *code) {
  if (f->used + strlen(code) > OUT_BYTES && write_out(f) < 0) return -1;
  for (; *code; code++) pass(f, (unsigned char)*code);
  return 0;
}

static const struct severity {
  const char *word, *colour;
} severities[] = {{"error:", "\033[1;31m"}, {"warning:", "\033[1;33m"}, {"note:", "\033[1;36m"}};

/* The first severity in the first line of the text, and its offset; NULL if there is none. */
static const struct severity *find_severity(const char *text, size_t bytes, size_t *at) {
  for (size_t i = 0; i < bytes && text[i] != '\n'; i++) {
    if (i > 0 && text[i - 1] != ' ') continue;
    for (size_t s = 0; s < sizeof severities / sizeof severities[0]; s++) {
      const size_t length = strlen(severities[s].word);
      if (bytes - i < length || memcmp(text + i, severities[s].word, length) != 0) continue;
      *at = i;
      return &severities[s];
    }
  }
  return NULL;
}

static int filter_text(struct filter *f, const char *text, size_t bytes) {
  size_t at = 0;
  const struct severity *severity = f->has_colours ? find_severity(text, bytes, &at) : NULL;
  if (!severity) return filter_bytes(f, text, bytes);
  const size_t length = strlen(severity->word);
  if (filter_bytes(f, text, at) < 0 || pass_code(f, severity->colour) < 0) return -1;
  if (filter_bytes(f, text + at, length) < 0 || pass_code(f, "\033[0m") < 0) return -1;
  return filter_bytes(f, text + at + length, bytes - at - length);
}

static ssize_t filter_write(void *cookie, const char *text, size_t bytes) {
  struct filter *f = cookie;
  size_t i = 0;
  if (bytes >= CLEAR_LINE_BYTES && memcmp(text, CLI_CLEAR_LINE, CLEAR_LINE_BYTES) == 0)
    for (; i < CLEAR_LINE_BYTES; i++) pass(f, (unsigned char)text[i]);
  if (filter_text(f, text + i, bytes - i) < 0) return 0;
  return write_out(f) < 0 ? 0 : (ssize_t)bytes;
}

static int filter_close(void *cookie) {
  struct filter *f = cookie;
  if (!f->is_owned) return 0;
  const int status = close(f->file);
  free(f);
  return status;
}

FILE *cli_open_filtered(int file) {
  struct filter *f = calloc(1, sizeof *f);
  if (!f) return NULL;
  f->file = file;
  f->is_owned = 1;
  FILE *stream = fopencookie(f, "w", (cookie_io_functions_t){.write = filter_write, .close = filter_close});
  if (stream)
    setvbuf(stream, NULL, _IONBF, 0);
  else
    free(f);
  return stream;
}

/* A stream that writes through the filter; the stream itself if memory is out. `buffer` is static, because the library
 * would lose text silently if it could not allocate one. */
static FILE *filtered(FILE *stream, struct filter *f, char *buffer, int mode) {
  const cookie_io_functions_t functions = {.write = filter_write};
  FILE *file = fopencookie(f, "w", functions);
  if (!file) return stream;
  setvbuf(file, buffer, mode, buffer ? BUFSIZ : 0);
  return file;
}

static struct filter output = {.file = STDOUT_FILENO}, error = {.file = STDERR_FILENO};

static int uses_colours(void) {
  const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
  return isatty(STDERR_FILENO) && !(no_color && *no_color) && terminal && *terminal && strcmp(terminal, "dumb") != 0;
}

void cli_stop_colours(void) { error.has_colours = 0; }

void cli_filter_output(void) {
  error.has_colours = uses_colours();
  static char buffer[BUFSIZ];
  stdout = filtered(stdout, &output, buffer, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF);
  stderr = filtered(stderr, &error, NULL, _IONBF);
}
