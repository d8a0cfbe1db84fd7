/* input_file.h: input files, mapped read-only.
 *
 * Regular files are mapped with their size at opening. If another process truncates a mapped file, or a disk cannot
 * read it, accesses to the lost pages raise SIGBUS. A signal handler replaces these pages with zeros, so readers
 * continue to the end with wrong bytes. They must call input_file_recheck before they deliver anything read from the
 * mapping. A file that is unlinked or replaced stays mapped and complete.
 *
 * The handler is installed for the process while a file is mapped; other SIGBUS signals go to the previous handler. */
#ifndef IO_INPUT_FILE_H
#define IO_INPUT_FILE_H

#include <sluice/plugin.h>

struct input_file {
  const uint8_t *data; /* NULL: not open, or empty */
  uint64_t size;       /* readable bytes; grows only for a stream */
  uint64_t mapped_bytes, populated_bytes;
  int descriptor;
  uint32_t mapping_index; /* entry in the table of the signal handler (input_file.c) */
  /* Pipes only (input_stream.h). */
  uint32_t is_stream, has_ended;
  uint64_t released_bytes;
};

/* Opens and maps a file, or opens a pipe as a stream (input_stream.h). Returns 0, or SL_EIO with the reason, also for
 * folders and devices. */
int input_file_open(struct input_file *f, const char *path, char *reason, uint32_t reason_size);
/* Returns 1 if bytes of the file were lost since it was opened, else 0. If the file became shorter, `size` is its new
 * size; it is unchanged if pages could not be read. */
int input_file_recheck(struct input_file *f);
/* Workers (services->in_parallel) map the pages of [begin, begin + bytes) and read them from disk if necessary. Call
 * this for the bytes that are read next: otherwise each first access to a page costs a page fault, and all of them
 * occur in the thread that searches for headers. Has no effect before Linux 5.14. */
void input_file_populate(struct input_file *f, const struct sl_services *s, uint64_t begin, uint64_t bytes);
void input_file_close(struct input_file *f);

#endif
