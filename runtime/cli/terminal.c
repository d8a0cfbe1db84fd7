/* terminal.c: what the command prints, without control characters from outside. File names, graphs, descriptions of
 * plugins and what programs say of them may hold escape codes; a terminal would obey them. So standard output and error
 * go through a filter that shows all but line ends and tabs as \x1b: ASCII's control characters, those of Latin 1, also
 * as UTF-8, and bytes that are no UTF-8. The command's own code, which clears the line of the progress bar, may stand
 * where a write begins. */
#define _GNU_SOURCE
#include "cli/cli.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { CLEAR_LINE_BYTES = sizeof CLI_CLEAR_LINE - 1, OUT_BYTES = 4096, SHOWN_BYTES = 4 };

/* One stream: what it has still to see of a character that began, and what it has still to write. */
struct filter {
  int file;
  unsigned left; /* bytes of the character that are to come */
  int has_c2;    /* its first byte, 0xc2, was read and not written yet: it may be a control character */
  size_t used;   /* of `out` */
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

/* The bytes that follow the first one of a character; 0 for a byte that begins none. */
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

static ssize_t filter_write(void *cookie, const char *text, size_t bytes) {
  struct filter *f = cookie;
  size_t i = 0;
  if (bytes >= CLEAR_LINE_BYTES && memcmp(text, CLI_CLEAR_LINE, CLEAR_LINE_BYTES) == 0)
    for (; i < CLEAR_LINE_BYTES; i++) pass(f, (unsigned char)text[i]);
  for (; i < bytes; i++) {
    if (f->used + 2 * SHOWN_BYTES > OUT_BYTES && write_out(f) < 0) return 0;
    filter_byte(f, (unsigned char)text[i]);
  }
  return write_out(f) < 0 ? 0 : (ssize_t)bytes;
}

/* The stream through the filter, buffered as it was; the stream itself where there is no memory for that. `buffer`: one
 * that the library cannot allocate would lose text silently. */
static FILE *filtered(FILE *stream, struct filter *f, char *buffer, int mode) {
  const cookie_io_functions_t functions = {.write = filter_write};
  FILE *file = fopencookie(f, "w", functions);
  if (!file) return stream;
  setvbuf(file, buffer, mode, buffer ? BUFSIZ : 0);
  return file;
}

void cli_filter_output(void) {
  static struct filter output = {.file = STDOUT_FILENO}, error = {.file = STDERR_FILENO};
  static char buffer[BUFSIZ];
  stdout = filtered(stdout, &output, buffer, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF);
  stderr = filtered(stderr, &error, NULL, _IONBF);
}
