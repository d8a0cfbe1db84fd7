/* fuzz_file.h: a check for all fuzzers, and a file in memory for readers that need a path. */
#ifndef FUZZ_FILE_H
#define FUZZ_FILE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static inline void require(int condition) {
  if (!condition) abort();
}

struct fuzz_file {
  char path[40]; /* empty: not opened yet */
  int descriptor;
};

/* Returns the path of a file that contains these bytes until the next call. */
static inline const char *fuzz_file_of(struct fuzz_file *f, const uint8_t *data, size_t size) {
  if (!f->path[0]) {
    f->descriptor = memfd_create("fuzz", MFD_CLOEXEC);
    snprintf(f->path, sizeof f->path, "/proc/self/fd/%d", f->descriptor);
  }
  require(ftruncate(f->descriptor, 0) == 0 && pwrite(f->descriptor, data, size, 0) == (ssize_t)size);
  return f->path;
}

#endif
