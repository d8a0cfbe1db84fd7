/* input_file.h: input files, mapped read-only.
 *
 * A mapped file that another process truncates raises SIGBUS when the missing pages are touched. input_file_recheck
 * asks for the size again, before each slice and at least once per INPUT_RECHECK_BYTES, and shrinks `size` to what is
 * left; what remains is the window between that call and the reading of those bytes (and of those that are hashed ahead
 * of them), microseconds to a few milliseconds. A file that is unlinked or replaced by another stays mapped and whole.
 */
#ifndef IO_INPUT_FILE_H
#define IO_INPUT_FILE_H

#include <stdint.h>

enum { INPUT_RECHECK_BYTES = 1 << 20 };

struct input_file {
  const uint8_t *data; /* NULL: not open, or empty */
  uint64_t size;       /* that can be read; never grows */
  uint64_t mapped_bytes;
  int descriptor;
};

/* Maps a file: 0, or SL_EIO with the reason in `reason`. Directories and pipes are refused. */
int input_file_open(struct input_file *f, const char *path, char *reason, uint32_t reason_size);
/* 1 if the file has shrunk since it was last looked at. */
int input_file_recheck(struct input_file *f);
void input_file_close(struct input_file *f);

#endif
