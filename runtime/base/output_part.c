/* output_part.c: names of temporary files, and the locks on them. */
#define _GNU_SOURCE
#include "base/output.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* The offset of the lock, far beyond the end of the file, encodes the number of the process that holds it, because a
 * lock that belongs to an open file does not identify its process. (A lock that belongs to a process would be lost when
 * a library closes the file, and HDF5 uses flock.) On file systems without locks, a second writer is not detected. */
#define LOCK_BEGIN ((off_t)1 << 60)

void sl_output_lock(int descriptor) {
  struct flock own = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = LOCK_BEGIN + getpid(), .l_len = 1};
  (void)fcntl(descriptor, F_OFD_SETLK, &own);
}

int sl_output_is_part(const char *name) {
  static const char suffix[] = ".part";
  size_t length = strlen(name);
  while (length > 0 && name[length - 1] >= '0' && name[length - 1] <= '9') length--;
  return length >= sizeof suffix - 1 && strncmp(name + length - (sizeof suffix - 1), suffix, sizeof suffix - 1) == 0;
}

long sl_output_writer(const char *part) {
  const int descriptor = open(part, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return 0;
  struct flock other = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = LOCK_BEGIN};
  const int known = fcntl(descriptor, F_OFD_GETLK, &other) == 0 && other.l_type != F_UNLCK;
  close(descriptor);
  return known ? (long)(other.l_start - LOCK_BEGIN) : 0;
}
