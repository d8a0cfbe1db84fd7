/* memory.c: see memory.h. A value that the system does not provide is no limit. A control group is also limited by its
 * parents; its file cache counts as free, because the system gives it back when memory is short.
 */
#include "base/memory.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* The names of control group files contain the group's path, which may be long. */
/* A typical stack, and the address space that the C library reserves per thread for a heap. */
enum { STACK_BYTES = 8 << 20, HEAP_BYTES = 64 << 20 };
enum { PATH_BYTES = PATH_MAX + 256, LINE_BYTES = PATH_MAX + 64 };

static FILE *open_file(const char *root, const char *folder, const char *name) {
  char path[PATH_BYTES];
  const int length = snprintf(path, sizeof path, "%s%s%s", root, folder, name);
  return length > 0 && (size_t)length < sizeof path ? fopen(path, "re") : NULL;
}

/* Reads the number after `key` at the start of a line; with key "", the first number of the file. Returns 0 if there is
 * none. */
static int read_number(FILE *file, const char *key, uint64_t *value) {
  char line[LINE_BYTES];
  int found = 0;
  while (file && !found && fgets(line, sizeof line, file)) {
    const size_t length = strlen(key);
    if (strncmp(line, key, length) != 0) continue;
    found = sscanf(line + length, " %" SCNu64, value) == 1;
  }
  if (file) fclose(file);
  return found;
}

static void limit(struct sl_memory_limit *room, uint64_t bytes, const char *why) {
  if (bytes >= room->bytes) return;
  room->bytes = bytes;
  room->thread_bytes = 0;
  room->why = why;
}

static uint64_t remaining_of(uint64_t all, uint64_t used) { return all > used ? all - used : 0; }

static void limit_by_machine(struct sl_memory_limit *room, const char *root) {
  uint64_t kib;
  if (read_number(open_file(root, "/proc/meminfo", ""), "MemAvailable:", &kib)) limit(room, 1024 * kib, "MemAvailable");
}

/* ---------------------------------------------------------------------------------------- control groups */

struct group_files {
  const char *mount, *limit, *used, *inactive, *active; /* the last two: lines of memory.stat */
};

static void limit_by_one_group(struct sl_memory_limit *room, const char *root, const struct group_files *files,
                               const char *group) {
  char folder[PATH_BYTES];
  const int length = snprintf(folder, sizeof folder, "%s%s", files->mount, group);
  if (length < 0 || (size_t)length >= sizeof folder) return;
  uint64_t limit_bytes, used, inactive = 0, active = 0;
  if (!read_number(open_file(root, folder, files->limit), "", &limit_bytes)) return; /* "max": unlimited */
  if (!read_number(open_file(root, folder, files->used), "", &used)) return;
  read_number(open_file(root, folder, "/memory.stat"), files->inactive, &inactive);
  read_number(open_file(root, folder, "/memory.stat"), files->active, &active);
  limit(room, remaining_of(limit_bytes, remaining_of(used, inactive + active)), "the limit of the control group");
}

/* Applies the limits of the group and of its parents. In a container the parents' files are missing, or the path is
 * that of the host and only the root group exists. */
static void limit_by_groups(struct sl_memory_limit *room, const char *root, const struct group_files *files,
                            char *group) {
  for (size_t length = strlen(group);; length--) {
    if (length > 0 && group[length] != '/' && group[length] != '\0') continue;
    if (length > 0 && group[length - 1] == '/') continue;
    group[length] = '\0';
    limit_by_one_group(room, root, files, group);
    if (length == 0) return;
  }
}

static int has_memory(const char *controllers) {
  for (const char *at = controllers; (at = strstr(at, "memory")); at++)
    if ((at == controllers || at[-1] == ',') && (at[6] == ',' || at[6] == '\0')) return 1;
  return 0;
}

/* Lines of /proc/self/cgroup: "0::/path" (version 2), "4:memory:/path" (version 1). */
static void limit_by_control_groups(struct sl_memory_limit *room, const char *root) {
  static const struct group_files second = {"/sys/fs/cgroup", "/memory.max", "/memory.current", "inactive_file ",
                                            "active_file "};
  static const struct group_files first = {"/sys/fs/cgroup/memory", "/memory.limit_in_bytes", "/memory.usage_in_bytes",
                                           "total_inactive_file ", "total_active_file "};
  FILE *file = open_file(root, "/proc/self/cgroup", "");
  char line[LINE_BYTES];
  while (file && fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = '\0';
    char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group) continue;
    *group++ = '\0';
    controllers++;
    if (*controllers == '\0')
      limit_by_groups(room, root, &second, group);
    else if (has_memory(controllers))
      limit_by_groups(room, root, &first, group);
  }
  if (file) fclose(file);
}

/* ------------------------------------------------------------------------------------- limits of the process */

/* /proc/self/statm: the first number is pages of address space, the sixth pages of data and stacks. */
static void limit_by_process(struct sl_memory_limit *room, const char *root) {
  struct rlimit space, data;
  const int has_space = getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY;
  const int has_data = getrlimit(RLIMIT_DATA, &data) == 0 && data.rlim_cur != RLIM_INFINITY;
  if (!has_space && !has_data) return;
  FILE *file = open_file(root, "/proc/self/statm", "");
  uint64_t pages = 0, data_pages = 0;
  const int known = file && fscanf(file, "%" SCNu64 " %*u %*u %*u %*u %" SCNu64, &pages, &data_pages) == 2;
  if (file) fclose(file);
  if (!known) return;
  const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  const uint64_t data_left = has_data ? remaining_of(data.rlim_cur, page * data_pages) : UINT64_MAX;
  if (data_left < room->bytes) {
    limit(room, data_left, "RLIMIT_DATA, ulimit -d");
    room->thread_bytes = STACK_BYTES;
  }
  const uint64_t left = has_space ? remaining_of(space.rlim_cur, page * pages) : UINT64_MAX;
  if (left >= room->bytes) return;
  limit(room, left, "RLIMIT_AS, ulimit -v");
  room->thread_bytes = STACK_BYTES + HEAP_BYTES;
}

struct sl_memory_limit sl_memory_available(const char *root) {
  struct sl_memory_limit room = {UINT64_MAX, 0, ""};
  limit_by_machine(&room, root);
  limit_by_control_groups(&room, root);
  limit_by_process(&room, root);
  return room;
}

void sl_memory_text(uint64_t bytes, char *text, size_t size) {
  static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  double value = (double)bytes;
  unsigned unit = 0;
  for (; value >= 1000 && unit + 1 < sizeof units / sizeof *units; unit++) value /= 1000;
  snprintf(text, size, unit == 0 || value >= 100 ? "%.0f %s" : value >= 10 ? "%.1f %s" : "%.2f %s", value, units[unit]);
}
