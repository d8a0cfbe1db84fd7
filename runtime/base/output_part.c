/* output_part.c: see output_part.h. */
#define _GNU_SOURCE
#include "base/output_part.h"

#include "base/file_identity.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

/* ---------------------------------------------------------------------------------------------------- names */

int sl_output_is_part(const char *name) {
  static const char suffix[] = ".part";
  size_t length = strlen(name);
  while (length > 0 && name[length - 1] >= '0' && name[length - 1] <= '9') length--;
  return length >= sizeof suffix - 1 && strncmp(name + length - (sizeof suffix - 1), suffix, sizeof suffix - 1) == 0;
}

const char *sl_output_target(const char *path, char followed[PATH_MAX]) {
  struct stat link;
  return lstat(path, &link) == 0 && S_ISLNK(link.st_mode) ? realpath(path, followed) : path;
}

static size_t name_room(const char *folder, size_t folder_bytes) {
  const long most = pathconf(folder, _PC_NAME_MAX);
  const size_t name = most > 0 && most < NAME_MAX ? (size_t)most : NAME_MAX;
  const size_t path = PATH_MAX - 1 - folder_bytes;
  return name < path ? name : path;
}

size_t sl_output_part_stem(const char *target, char stem[PATH_MAX]) {
  enum { SUFFIX_BYTES = sizeof ".part1000" - 1, HASH_BYTES = 17 };
  char folder[PATH_MAX];
  const char *name = sl_file_split(target, folder);
  if (!name) return 0;
  const size_t folder_bytes = (size_t)(name - target), name_bytes = strlen(name);
  const size_t room = name_room(folder, folder_bytes);
  if (name_bytes + SUFFIX_BYTES <= room) return (size_t)sprintf(stem, "%s", target);
  if (room <= SUFFIX_BYTES + HASH_BYTES) return 0;
  size_t kept = room - SUFFIX_BYTES - HASH_BYTES;
  while (kept > 0 && ((unsigned char)name[kept] & 0xC0) == 0x80) kept--;
  return (size_t)sprintf(stem, "%.*s.%016llx", (int)(folder_bytes + kept), target,
                         (unsigned long long)XXH3_64bits(name, name_bytes));
}

/* ---------------------------------------------------------------------------------------------------- locks */

/* The offset of the lock, far beyond the end of the file, encodes the number of the process that holds it, because a
 * lock that belongs to an open file does not identify its process. (A lock that belongs to a process would be lost when
 * a library closes the file, and HDF5 uses flock.) On file systems without locks, a second writer is not detected. */
#define LOCK_BEGIN ((off_t)1 << 60)

void sl_output_lock(int descriptor) {
  struct flock own = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = LOCK_BEGIN + getpid(), .l_len = 1};
  (void)fcntl(descriptor, F_OFD_SETLK, &own);
}

long sl_output_writer(const char *part) {
  const int descriptor = open(part, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return 0;
  struct flock other = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = LOCK_BEGIN};
  const int known = fcntl(descriptor, F_OFD_GETLK, &other) == 0 && other.l_type != F_UNLCK;
  close(descriptor);
  return known ? (long)(other.l_start - LOCK_BEGIN) : 0;
}
