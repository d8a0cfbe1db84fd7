/* part_name.c: see part_name.h. */
#define _GNU_SOURCE
#include "base/part_name.h"

#include "base/file_identity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

int sl_part_is_name(const char *name) {
  static const char suffix[] = ".part";
  size_t length = strlen(name);
  while (length > 0 && name[length - 1] >= '0' && name[length - 1] <= '9') length--;
  return length >= sizeof suffix - 1 && strncmp(name + length - (sizeof suffix - 1), suffix, sizeof suffix - 1) == 0;
}

const char *sl_part_target(const char *path, char followed[PATH_MAX]) {
  struct stat link;
  return lstat(path, &link) == 0 && S_ISLNK(link.st_mode) ? realpath(path, followed) : path;
}

static size_t name_room(const char *folder, size_t folder_bytes) {
  const long most = pathconf(folder, _PC_NAME_MAX);
  const size_t name = most > 0 && most < NAME_MAX ? (size_t)most : NAME_MAX;
  const size_t path = PATH_MAX - 1 - folder_bytes;
  return name < path ? name : path;
}

size_t sl_part_stem(const char *target, char stem[PATH_MAX]) {
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
