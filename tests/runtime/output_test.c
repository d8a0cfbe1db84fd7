/* output_test.c: the layer under every output file: concurrent writers, special files and links, and the files and
 * messages after a failure of any of its system calls. The linker redirects those calls to this file.
 */
#define _GNU_SOURCE
#include "base/output.h"

#include "base/file_identity.h"
#include "scratch.h"
#include "support.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------- calls that may fail */

static struct {
  int counts;    /* 1: count calls */
  int calls;     /* calls so far */
  int fails_at;  /* number of the call that fails, from 1; 0: none */
  int fails_on;  /* later calls fail too */
  char name[16]; /* name of the failed call */
} trouble;

static int fails(const char *name) {
  if (!trouble.counts) return 0;
  const int call = ++trouble.calls;
  if (trouble.fails_at == 0 || call < trouble.fails_at || (call > trouble.fails_at && !trouble.fails_on)) return 0;
  if (call == trouble.fails_at) snprintf(trouble.name, sizeof trouble.name, "%s", name);
  errno = strcmp(name, "write") == 0 ? ENOSPC : EIO;
  return 1;
}

int __real_open(const char *path, int flags, ...);
ssize_t __real_write(int file, const void *data, size_t bytes);
int __real_fsync(int file);
int __real_close(int file);
int __real_rename(const char *from, const char *to);
int __real_ftruncate(int file, off_t bytes);
void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
char *__real_strdup(const char *text);
int __wrap_open(const char *path, int flags, ...);
ssize_t __wrap_write(int file, const void *data, size_t bytes);
int __wrap_fsync(int file);
int __wrap_close(int file);
int __wrap_rename(const char *from, const char *to);
int __wrap_ftruncate(int file, off_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
char *__wrap_strdup(const char *text);

int __wrap_open(const char *path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const unsigned mode = flags & O_CREAT ? va_arg(arguments, unsigned) : 0;
  va_end(arguments);
  return fails("open") ? -1 : __real_open(path, flags, mode);
}
ssize_t __wrap_write(int file, const void *data, size_t bytes) {
  if (!fails("write")) return __real_write(file, data, bytes);
  if (bytes < 2 || trouble.calls > trouble.fails_at) return -1;
  trouble.fails_on = 1; /* like a full disk: part of the data fits, then nothing */
  return __real_write(file, data, bytes / 2);
}
int __wrap_fsync(int file) { return fails("fsync") ? -1 : __real_fsync(file); }
int __wrap_close(int file) {
  const int result = __real_close(file); /* a failing close must still close the file */
  return fails("close") ? -1 : result;
}
int __wrap_rename(const char *from, const char *to) { return fails("rename") ? -1 : __real_rename(from, to); }
int __wrap_ftruncate(int file, off_t bytes) { return fails("ftruncate") ? -1 : __real_ftruncate(file, bytes); }
void *__wrap_malloc(size_t bytes) { return fails("malloc") ? NULL : __real_malloc(bytes); }
void *__wrap_calloc(size_t count, size_t bytes) { return fails("calloc") ? NULL : __real_calloc(count, bytes); }
char *__wrap_strdup(const char *text) { return fails("strdup") ? NULL : __real_strdup(text); }

/* --------------------------------------------------------------------------------------------------- helpers */

enum { EVENT_BYTES = 1 << 20, EVENTS = 20 }; /* more than two buffers */

enum { PATH_BYTES = SCRATCH_PATH_MAX + 16 };
static char folder[SCRATCH_PATH_MAX], target[PATH_BYTES], part[PATH_BYTES], said[4096];

static void say(void *context, uint32_t severity, const char *format, ...) {
  (void)context, (void)severity;
  const size_t used = strlen(said);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(said + used, sizeof said - used, format, arguments);
  va_end(arguments);
  strncat(said, "\n", sizeof said - strlen(said) - 1);
}

static void put(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static const char *text_of(const char *path) {
  static char text[256];
  FILE *file = fopen(path, "r");
  memset(text, 0, sizeof text);
  if (!file) return NULL;
  assert_true(fread(text, 1, sizeof text - 1, file) < sizeof text);
  fclose(file);
  return text;
}

static int64_t size_of(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 ? (int64_t)status.st_size : -1;
}

static int count_files(const char *path) {
  DIR *list = opendir(path);
  int count = 0;
  while (readdir(list)) count++;
  closedir(list);
  return count;
}

static int start(void **state) {
  (void)state;
  memset(&trouble, 0, sizeof trouble);
  memset(said, 0, sizeof said);
  scratch_folder(folder);
  snprintf(target, sizeof target, "%s/t", folder);
  snprintf(part, sizeof part, "%s/t.part", folder);
  return 0;
}

static int write_text(const char *path, const char *text) {
  struct sl_output *file;
  int status = sl_output_open(path, 0, say, NULL, &file);
  if (status == SL_OK) status = sl_output_print(file, "%s", text);
  if (status == SL_OK) status = sl_output_finish(file);
  sl_output_close(file);
  return status;
}

/* ----------------------------------------------------------------------------------------- the writer of a file */

static void a_file_is_complete_or_absent(void **state) {
  (void)state;
  struct sl_output *file;
  put(target, "old");
  assert_int_equal(sl_output_open(target, 0, say, NULL, &file), SL_OK);
  assert_string_equal(sl_output_path(file), part);
  assert_int_equal(sl_output_print(file, "new"), SL_OK);
  assert_int_equal(sl_output_flush(file), SL_OK);
  assert_string_equal(text_of(part), "new");
  assert_string_equal(text_of(target), "old");
  assert_int_equal(sl_output_finish(file), SL_OK);
  assert_string_equal(sl_output_path(file), target);
  sl_output_close(file);
  assert_string_equal(text_of(target), "new");
  assert_int_equal(count_files(folder), 3); /* with . and .. */
  assert_string_equal(said, "");
}

static void a_second_writer_is_refused_with_the_number_of_the_first(void **state) {
  (void)state;
  struct sl_output *file, *other;
  char expected[1024];
  assert_int_equal(sl_output_open(target, 0, say, NULL, &file), SL_OK);
  const pid_t child = fork();
  if (child == 0) _exit(sl_output_open(target, 0, say, NULL, &other) == SL_EIO && strstr(said, part) ? 0 : 1);
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  assert_int_equal(sl_output_open(target, 0, say, NULL, &other), SL_EIO);
  snprintf(expected, sizeof expected, "%s: process %ld is writing it, as %s\n", target, (long)getpid(), part);
  assert_string_equal(said, expected);
  assert_int_equal(sl_output_finish(file), SL_OK);
  sl_output_close(file);
  assert_int_equal(sl_output_open(target, 0, say, NULL, &file), SL_OK);
  sl_output_close(file);
}

static void leftovers_of_other_runs_and_links_are_not_touched(void **state) {
  (void)state;
  char precious[PATH_BYTES];
  snprintf(precious, sizeof precious, "%s/precious", folder);
  put(precious, "precious");
  assert_int_equal(symlink(precious, part), 0);
  assert_int_equal(write_text(target, "one"), SL_OK);
  assert_int_equal(unlink(part), 0);
  put(part, "left by a killed run");
  assert_int_equal(write_text(target, "two"), SL_OK);
  assert_string_equal(text_of(precious), "precious");
  assert_string_equal(text_of(part), "left by a killed run");
  assert_string_equal(text_of(target), "two");
}

static void the_target_of_a_link_is_written_and_the_link_is_kept(void **state) {
  (void)state;
  char link[PATH_BYTES];
  struct stat status;
  snprintf(link, sizeof link, "%s/link", folder);
  assert_int_equal(symlink("t", link), 0);
  assert_int_equal(write_text(link, "none"), SL_EIO);
  assert_non_null(strstr(said, "it is a link that leads nowhere"));
  put(target, "old");
  assert_int_equal(write_text(link, "new"), SL_OK);
  assert_int_equal(lstat(link, &status), 0);
  assert_true(S_ISLNK(status.st_mode));
  assert_string_equal(text_of(target), "new");
}

static void special_files_are_written_and_kept(void **state) {
  (void)state;
  char bytes[8] = "";
  struct stat status;
  assert_int_equal(mkfifo(target, 0600), 0);
  const int reader = open(target, O_RDONLY | O_NONBLOCK);
  assert_true(reader >= 0);
  assert_int_equal(write_text(target, "through"), SL_OK);
  assert_int_equal(read(reader, bytes, sizeof bytes - 1), 7);
  assert_string_equal(bytes, "through");
  close(reader);
  assert_int_equal(lstat(target, &status), 0);
  assert_true(S_ISFIFO(status.st_mode));
  struct sl_output *file;
  assert_int_equal(sl_output_open(target, SL_OUTPUT_NO_WAIT, say, NULL, &file), SL_EIO);
  assert_int_equal(sl_output_open(target, SL_OUTPUT_BY_PATH, say, NULL, &file), SL_EINVAL);
  assert_int_equal(sl_output_open("-", SL_OUTPUT_BY_PATH, say, NULL, &file), SL_EINVAL);
  assert_int_equal(unlink(target), 0);
  if (mknod(target, S_IFCHR | 0600, makedev(1, 3)) == 0) { /* a device of our own, if permitted */
    const int status_of_write = write_text(target, "nothing");
    assert_int_equal(lstat(target, &status), 0);
    assert_true(S_ISCHR(status.st_mode));
    assert_true(status_of_write == SL_OK || strstr(said, "Permission denied")); /* devices may be disabled there */
  }
}

static void files_are_compared_by_device_and_inode(void **state) {
  (void)state;
  char other[PATH_BYTES], long_way[2 * PATH_BYTES];
  snprintf(other, sizeof other, "%s/other", folder);
  snprintf(long_way, sizeof long_way, "%s/../%s/t", folder, strrchr(folder, '/') + 1);
  struct sl_file_identity a = sl_file_identify(target), b = sl_file_identify(long_way), c = sl_file_identify(other);
  assert_true(sl_file_is_same(&a, &b) && !sl_file_is_same(&a, &c)); /* none is there */
  put(target, "");
  assert_int_equal(link(target, other), 0);
  a = sl_file_identify(target), b = sl_file_identify(long_way), c = sl_file_identify(other);
  assert_true(sl_file_is_same(&a, &b) && sl_file_is_same(&a, &c));
  a = sl_file_identify("/dev/null"), b = sl_file_identify("/nonexistent/t");
  assert_true(!sl_file_is_same(&a, &a) && !sl_file_is_same(&b, &b));
}

static void unwritable_files_are_detected_before_writing(void **state) {
  (void)state;
  char reason[4096];
  assert_int_equal(sl_file_may_be_written(target, reason, sizeof reason), 0);
  assert_int_equal(sl_file_may_be_written(folder, reason, sizeof reason), -1);
  assert_string_equal(reason, "Is a directory");
  assert_int_equal(chmod(folder, 0555), 0);
  const pid_t child = fork();
  if (child == 0) { /* root may write everywhere */
    if (geteuid() == 0 && setuid(65534) != 0) _exit(2);
    const int refused = sl_file_may_be_written(target, reason, sizeof reason) < 0;
    _exit(refused && strstr(reason, "Permission denied") && write_text(target, "") == SL_EIO ? 0 : 1);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  chmod(folder, 0700);
}

/* ---------------------------------------------------------------------------------------------------- long names */

static void names_of_any_valid_length_are_written(void **state) {
  (void)state;
  char name[NAME_MAX + 2], path[PATH_BYTES + NAME_MAX], other[PATH_BYTES + NAME_MAX];
  for (size_t length = 240; length <= NAME_MAX + 1; length++) {
    memset(name, 'n', length);
    for (size_t i = 1; i < length; i += 2) memcpy(name + i - 1, "\xc3\xbc", 2); /* no character is split */
    name[length] = '\0';
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(write_text(path, "text"), length <= NAME_MAX ? SL_OK : SL_EIO);
    if (length <= NAME_MAX) assert_string_equal(text_of(path), "text");
  }
  assert_non_null(strstr(said, "File name too long"));
  struct sl_output *file;
  memset(name, 'n', NAME_MAX);
  name[NAME_MAX] = '\0';
  snprintf(path, sizeof path, "%s/%s", folder, name);
  name[NAME_MAX - 1] = 'm';
  snprintf(other, sizeof other, "%s/%s", folder, name);
  said[0] = '\0';
  assert_int_equal(sl_output_open(path, 0, say, NULL, &file), SL_OK);
  assert_int_equal(write_text(other, "other"), SL_OK); /* the hash distinguishes the truncated names */
  assert_int_equal(write_text(path, "again"), SL_EIO);
  assert_non_null(strstr(said, "is writing it"));
  sl_output_close(file);
}

/* -------------------------------------------------------------------------------------------- what goes wrong */

/* Writes events of one megabyte; returns SL_OK or the error. Every second event is filled in place. */
static int write_events(void) {
  struct sl_output *file;
  void *place;
  char *event = (char *)__real_malloc(EVENT_BYTES);
  int status = sl_output_open(target, 0, say, NULL, &file);
  for (int i = 0; i < EVENTS && status == SL_OK; i++) {
    memset(event, 'a' + i, EVENT_BYTES);
    if (i % 2 == 0) {
      status = sl_output_add(file, event, EVENT_BYTES);
    } else if ((status = sl_output_reserve(file, EVENT_BYTES + 3, &place)) == SL_OK) {
      memcpy(place, event, EVENT_BYTES);
      sl_output_trim(file, 3);
    }
    if (status == SL_OK) sl_output_mark(file, 1);
    if (status == SL_OK && i == EVENTS / 2) status = sl_output_flush(file);
  }
  if (status == SL_OK) status = sl_output_finish(file);
  sl_output_close(file);
  free(event);
  return status;
}

static void assert_whole_events(const char *path, int64_t events) {
  assert_int_equal(size_of(path), events * EVENT_BYTES);
  FILE *file = fopen(path, "r");
  for (int64_t i = 0; i < events; i++) {
    assert_int_equal(fseek(file, (long)(i * EVENT_BYTES), SEEK_SET), 0);
    assert_int_equal(getc(file), 'a' + i);
    assert_int_equal(fseek(file, (long)((i + 1) * EVENT_BYTES - 1), SEEK_SET), 0);
    assert_int_equal(getc(file), 'a' + i);
  }
  fclose(file);
}

/* After a failure: either the old file or the complete new one exists; the reported events are in it; and the failure
 * was reported. */
static void check_remaining_file(int status) {
  const char *promise = strstr(said, "it keeps the first ");
  const int64_t new_bytes = (int64_t)EVENTS * EVENT_BYTES;
  assert_true(size_of(target) == 3 || size_of(target) == new_bytes);
  if (size_of(target) == new_bytes) assert_whole_events(target, EVENTS);
  if (status == SL_OK) assert_int_equal(size_of(target), new_bytes);
  if (status == SL_EIO) assert_non_null(strstr(said, target));
  assert_true(status == SL_OK || status == SL_EIO || status == SL_ENOMEM);
  if (promise) assert_whole_events(part, strtol(promise + strlen("it keeps the first "), NULL, 10));
  if (strstr(said, "the file was removed")) assert_int_equal(size_of(part), -1);
  if (status == SL_OK) assert_int_equal(size_of(part), -1);
}

static void every_failed_call_is_reported_and_leaves_the_reported_events(void **state) {
  (void)state;
  put(target, "old");
  trouble.counts = 1;
  assert_int_equal(write_events(), SL_OK);
  const int calls = trouble.calls;
  assert_true(calls > 15);
  print_message("%d calls\n", calls);
  char seen[256] = "";
  for (int on = 0; on < 2; on++)
    for (int i = 1; i <= calls; i++) {
      trouble.counts = 0;
      (void)unlink(part);
      put(target, "old");
      said[0] = '\0';
      const int files = count_files("/proc/self/fd");
      memset(&trouble, 0, sizeof trouble);
      trouble.fails_at = i;
      trouble.fails_on = on;
      trouble.counts = 1;
      const int status = write_events();
      trouble.counts = 0;
      check_remaining_file(status);
      assert_int_equal(count_files("/proc/self/fd"), files);
      if (!strstr(seen, trouble.name)) strcat(strcat(seen, trouble.name), " ");
    }
  static const char *const names[] = {"open", "write", "fsync", "close", "rename", "malloc", "calloc", "strdup"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) assert_non_null(strstr(seen, names[i]));
}

static void a_full_disk_leaves_the_reported_number_of_events(void **state) {
  (void)state;
  struct rlimit old_limit;
  getrlimit(RLIMIT_FSIZE, &old_limit);
  void (*old_handler)(int) = signal(SIGXFSZ, SIG_IGN);
  for (int i = 1; i < 4; i++) {
    struct rlimit limit = old_limit;
    limit.rlim_cur = (rlim_t)(i * 5 * EVENT_BYTES + EVENT_BYTES / 2);
    said[0] = '\0';
    put(target, "old");
    (void)unlink(part);
    setrlimit(RLIMIT_FSIZE, &limit);
    const int status = write_events();
    setrlimit(RLIMIT_FSIZE, &old_limit);
    const char *promise = strstr(said, "it keeps the first ");
    const long events = promise ? strtol(promise + strlen("it keeps the first "), NULL, 10) : 0;
    assert_int_equal(status, SL_EIO);
    assert_int_equal(events, 5 * i);
    check_remaining_file(status);
  }
  signal(SIGXFSZ, old_handler);
}

/* Writes more events than the layer stores marks. */
static void small_events_are_counted_exactly(void **state) {
  (void)state;
  enum { SMALL_EVENTS = 100000, ROOM = 1000003 };
  struct rlimit old_limit;
  struct sl_output *file;
  getrlimit(RLIMIT_FSIZE, &old_limit);
  void (*old_handler)(int) = signal(SIGXFSZ, SIG_IGN);
  struct rlimit limit = old_limit;
  limit.rlim_cur = ROOM;
  setrlimit(RLIMIT_FSIZE, &limit);
  int status = sl_output_open(target, 0, say, NULL, &file);
  for (int i = 0; i < SMALL_EVENTS && status == SL_OK; i++) {
    status = sl_output_print(file, "%011d\n", i);
    if (status == SL_OK) sl_output_mark(file, 1);
  }
  if (status == SL_OK) status = sl_output_finish(file);
  sl_output_close(file);
  setrlimit(RLIMIT_FSIZE, &old_limit);
  signal(SIGXFSZ, old_handler);
  assert_int_equal(status, SL_EIO);
  assert_int_equal(size_of(part), ROOM / 12 * 12);
  assert_non_null(strstr(said, "it keeps the first 83333 events"));
}

static void an_unfinished_file_keeps_whole_events_or_is_removed(void **state) {
  (void)state;
  struct sl_output *file;
  assert_int_equal(sl_output_open(target, 0, say, NULL, &file), SL_OK);
  assert_int_equal(sl_output_print(file, "half"), SL_OK);
  sl_output_close(file);
  assert_int_equal(count_files(folder), 2);
  assert_string_equal(said, "");
  assert_int_equal(sl_output_open(target, 0, say, NULL, &file), SL_OK);
  assert_int_equal(sl_output_print(file, "one two "), SL_OK);
  sl_output_mark(file, 2);
  assert_int_equal(sl_output_print(file, "thr"), SL_OK);
  sl_output_close(file);
  assert_string_equal(text_of(part), "one two ");
  assert_non_null(strstr(said, "t.part: the run did not end; it keeps the first 2 events"));
  assert_int_equal(size_of(target), -1);
  said[0] = '\0';
  (void)unlink(part);
  assert_int_equal(sl_output_open(target, 0, say, NULL, &file), SL_OK);
  assert_int_equal(sl_output_print(file, "one two end"), SL_OK);
  sl_output_mark(file, 2);
  assert_int_equal(sl_output_keep(file, "was stopped"), SL_OK);
  sl_output_close(file);
  assert_string_equal(text_of(part), "one two end");
  assert_non_null(strstr(said, "t.part: the run was stopped; it has the first 2 events"));
  assert_int_equal(size_of(target), -1);
}

static void a_replaced_temporary_file_is_not_renamed(void **state) {
  (void)state;
  struct sl_output *file;
  assert_int_equal(sl_output_open(target, 0, say, NULL, &file), SL_OK);
  assert_int_equal(sl_output_print(file, "own"), SL_OK);
  assert_int_equal(unlink(part), 0);
  put(part, "foreign");
  assert_int_equal(sl_output_finish(file), SL_EIO);
  sl_output_close(file);
  assert_int_equal(size_of(target), -1);
  assert_non_null(strstr(said, "t.part: cannot rename it"));
}

static void long_texts_are_printed_completely(void **state) {
  (void)state;
  char *text = (char *)calloc(1, 100001);
  memset(text, 'x', 100000);
  assert_int_equal(write_text(target, text), SL_OK);
  assert_int_equal(size_of(target), 100000);
  free(text);
}

int main(void) {
#define CASE_(name) cmocka_unit_test_setup(name, start)
  const struct CMUnitTest tests[] = {
      CASE_(a_file_is_complete_or_absent),
      CASE_(a_second_writer_is_refused_with_the_number_of_the_first),
      CASE_(leftovers_of_other_runs_and_links_are_not_touched),
      CASE_(the_target_of_a_link_is_written_and_the_link_is_kept),
      CASE_(special_files_are_written_and_kept),
      CASE_(files_are_compared_by_device_and_inode),
      CASE_(unwritable_files_are_detected_before_writing),
      CASE_(names_of_any_valid_length_are_written),
      CASE_(every_failed_call_is_reported_and_leaves_the_reported_events),
      CASE_(a_full_disk_leaves_the_reported_number_of_events),
      CASE_(small_events_are_counted_exactly),
      CASE_(an_unfinished_file_keeps_whole_events_or_is_removed),
      CASE_(a_replaced_temporary_file_is_not_renamed),
      CASE_(long_texts_are_printed_completely),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
