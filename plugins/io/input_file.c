/* input_file.c: see input_file.h. */
#include "input_file.h"

#include <sluice/plugin.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail(struct input_file *f, char *reason, uint32_t reason_size, const char *text) {
  snprintf(reason, reason_size, "%s", text);
  input_file_close(f);
  return SL_EIO;
}

int input_file_open(struct input_file *f, const char *path, char *reason, uint32_t reason_size) {
  *f = (struct input_file){NULL, 0, 0, -1};
  /* Not to hang on a pipe that has no writer. */
  f->descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (f->descriptor < 0) return fail(f, reason, reason_size, strerror(errno));
  struct stat status;
  if (fstat(f->descriptor, &status) != 0) return fail(f, reason, reason_size, strerror(errno));
  if (S_ISDIR(status.st_mode)) return fail(f, reason, reason_size, strerror(EISDIR));
  if (!S_ISREG(status.st_mode)) return fail(f, reason, reason_size, "not a regular file");
  if (status.st_size == 0) return SL_OK;
  void *data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, f->descriptor, 0);
  if (data == MAP_FAILED) return fail(f, reason, reason_size, strerror(errno));
  f->data = (const uint8_t *)data;
  f->size = f->mapped_bytes = (uint64_t)status.st_size;
  /* Only advice: a refusal costs speed, nothing else. */
  (void)madvise(data, (size_t)status.st_size, MADV_SEQUENTIAL);
  return SL_OK;
}

int input_file_recheck(struct input_file *f) {
  struct stat status;
  if (f->descriptor < 0 || fstat(f->descriptor, &status) != 0 || (uint64_t)status.st_size >= f->size) return 0;
  f->size = (uint64_t)status.st_size;
  return 1;
}

void input_file_close(struct input_file *f) {
  if (f->data) munmap((void *)f->data, (size_t)f->mapped_bytes);
  if (f->descriptor >= 0) close(f->descriptor);
  *f = (struct input_file){NULL, 0, 0, -1};
}
