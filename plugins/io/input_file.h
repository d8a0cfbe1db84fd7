/* input_file.h: input files, mapped read-only.
 *
 * Regular files are mapped, as large as they are at that time. The pages of a mapped file that another process
 * truncates, or that a disk cannot read, raise SIGBUS when they are touched: a handler puts zeros in their place. What
 * reads a mapping therefore goes on to an end, with wrong bytes, and asks input_file_recheck before it lets anybody see
 * what it made of them. A file that is unlinked or replaced by another stays mapped and whole.
 *
 * The handler is there as long as a file is mapped, for all threads; a SIGBUS from elsewhere goes to whoever had it.
 */
#ifndef IO_INPUT_FILE_H
#define IO_INPUT_FILE_H

#include <sluice/plugin.h>

struct input_file {
  const uint8_t *data; /* NULL: not open, or empty */
  uint64_t size;       /* that can be read; only that of a stream grows */
  uint64_t mapped_bytes, populated_bytes;
  int descriptor;
  uint32_t watch; /* whose pages the handler replaces (input_file.c) */
  /* Of a pipe (input_stream.h). */
  uint32_t is_stream, has_ended;
  uint64_t released_bytes;
};

/* Maps a file: 0, or SL_EIO with the reason in `reason`. A pipe is opened as a stream (input_stream.h);
 * folders and devices are refused. */
int input_file_open(struct input_file *f, const char *path, char *reason, uint32_t reason_size);
/* 0, or 1 if bytes of the file were lost since it was opened; `size` is then what is left, as large as before if they
 * could not be read. */
int input_file_recheck(struct input_file *f);
/* Maps the pages of `bytes` of a mapped file from `begin` on that are not mapped yet, by workers
 * (services->in_parallel); reads those that are not in memory. What is read next should be: each page that is first
 * touched by a reader costs more, and all of that falls to the thread that looks for headers. Nothing where the kernel
 * cannot (before 5.14). */
void input_file_populate(struct input_file *f, const struct sl_services *s, uint64_t begin, uint64_t bytes);
void input_file_close(struct input_file *f);

#endif
