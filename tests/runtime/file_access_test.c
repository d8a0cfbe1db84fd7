/* file_access_test.c: permissions, group, owner and access control list of a file that replaces another one are those
 * of the old file, or more restrictive.
 */
#define _GNU_SOURCE
#include "base/output.h"
#include "scratch.h"
#include "support.h"

#include <grp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

static char folder[SCRATCH_PATH_MAX], target[SCRATCH_PATH_MAX + 16], part[SCRATCH_PATH_MAX + 16], said[4096];

static void say(void *context, uint32_t severity, const char *format, ...) {
  (void)context, (void)severity;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(said, sizeof said, format, arguments);
  va_end(arguments);
}

static int start(void **state) {
  (void)state;
  memset(said, 0, sizeof said);
  scratch_folder(folder);
  snprintf(target, sizeof target, "%s/t", folder);
  snprintf(part, sizeof part, "%s/t.part", folder);
  return 0;
}

static void put(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static int write_text(const char *path, const char *text) {
  struct sl_output *file;
  int status = sl_output_open(path, 0, say, NULL, &file);
  if (status == SL_OK) status = sl_output_print(file, "%s", text);
  if (status == SL_OK) status = sl_output_finish(file);
  sl_output_close(file);
  return status;
}

static unsigned mode_of(const char *path) {
  struct stat status;
  assert_int_equal(stat(path, &status), 0);
  return status.st_mode & 07777;
}

static void a_replacing_file_keeps_the_permissions(void **state) {
  (void)state;
  static const mode_t modes[] = {0600, 0640, 0664, 0606, 0755};
  const mode_t mask = umask(022);
  assert_int_equal(write_text(target, "new"), SL_OK);
  assert_int_equal(mode_of(target), 0644);
  for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
    assert_int_equal(chmod(target, modes[i]), 0);
    struct sl_output *file;
    assert_int_equal(sl_output_open(target, i % 2 ? SL_OUTPUT_BY_PATH : 0, say, NULL, &file), SL_OK);
    assert_int_equal(mode_of(part), modes[i]); /* also while it is written */
    assert_int_equal(sl_output_finish(file), SL_OK);
    sl_output_close(file);
    assert_int_equal(mode_of(target), modes[i]);
  }
  umask(mask);
  assert_string_equal(said, "");
}

enum { OWNER = 65533, GROUP = 65532, OTHER_GROUP = 65531 };

/* A child of OWNER and OTHER_GROUP replaces the file. Returns its status. */
static int replace_as_other(void) {
  const pid_t child = fork();
  if (child == 0) {
    if (setgroups(0, NULL) != 0 || setgid(OTHER_GROUP) != 0 || setuid(OWNER) != 0) _exit(2);
    const int status = write_text(target, "new");
    _exit(status != SL_OK ? 3 : strstr(said, "it has no permissions for its group") ? 1 : 0);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void owner_and_group_are_kept_or_the_group_has_no_permissions(void **state) {
  (void)state;
  struct stat status;
  if (geteuid() != 0) skip();
  put(target, "old");
  assert_int_equal(chmod(target, 0664), 0);
  assert_int_equal(chown(target, OWNER, GROUP), 0);
  assert_int_equal(write_text(target, "new"), SL_OK);
  assert_int_equal(stat(target, &status), 0);
  assert_true(status.st_uid == OWNER && status.st_gid == GROUP && mode_of(target) == 0664);
  assert_string_equal(said, "");
  assert_int_equal(chmod(folder, 0777), 0);
  assert_int_equal(replace_as_other(), 1);
  assert_int_equal(stat(target, &status), 0);
  assert_true(status.st_gid == OTHER_GROUP && mode_of(target) == 0604);
  assert_int_equal(chown(target, OWNER, GROUP), 0); /* a group that has none loses none */
  assert_int_equal(replace_as_other(), 0);
}

/* An entry of an access control list in the kernel's format. */
struct access_entry {
  uint16_t tag, permissions;
  uint32_t id;
};
enum { FOR_OWNER = 1, FOR_USER = 2, FOR_GROUP = 4, MASK = 16, FOR_OTHERS = 32 };

static void an_access_control_list_is_kept_and_none_is_inherited(void **state) {
  (void)state;
  const struct {
    uint32_t version;
    struct access_entry entries[5];
  } list = {2, {{FOR_OWNER, 6, ~0u}, {FOR_USER, 6, OWNER}, {FOR_GROUP, 0, ~0u}, {MASK, 6, ~0u}, {FOR_OTHERS, 0, ~0u}}};
  static const char name[] = "system.posix_acl_access";
  char found[sizeof list + 1];
  put(target, "old");
  if (setxattr(target, name, &list, sizeof list, 0) != 0) skip(); /* not supported by the file system */
  assert_int_equal(mode_of(target), 0660);                        /* the mask; the group itself has no permissions */
  assert_int_equal(write_text(target, "new"), SL_OK);
  assert_int_equal(getxattr(target, name, found, sizeof found), sizeof list);
  assert_memory_equal(found, &list, sizeof list);
  assert_int_equal(removexattr(target, name), 0);
  assert_int_equal(chmod(target, 0640), 0);
  assert_int_equal(setxattr(folder, "system.posix_acl_default", &list, sizeof list, 0), 0);
  assert_int_equal(write_text(target, "new"), SL_OK);
  assert_int_equal(getxattr(target, name, found, sizeof found), -1);
  assert_int_equal(mode_of(target), 0640);
}

int main(void) {
#define CASE_(name) cmocka_unit_test_setup(name, start)
  const struct CMUnitTest tests[] = {
      CASE_(a_replacing_file_keeps_the_permissions),
      CASE_(owner_and_group_are_kept_or_the_group_has_no_permissions),
      CASE_(an_access_control_list_is_kept_and_none_is_inherited),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
