/* scratch_test.c: files of a test are below TMPDIR, and are removed after the test, whether it failed or not. */
#include "scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void write_text(const char *path) {
  FILE *file = fopen(path, "w");
  if (!file || fputs("text", file) < 0 || fclose(file) != 0) _exit(2);
}

/* Like a program that fails half-way, after one of its child processes has ended. */
static void write_and_fail(void) {
  char folder[SCRATCH_PATH_MAX], file[SCRATCH_PATH_MAX];
  scratch_folder(folder);
  scratch_file(file);
  write_text(file);
  if (strncmp(folder, getenv("TMPDIR"), strlen(getenv("TMPDIR"))) != 0) _exit(3);
  int status = 0;
  const pid_t child = fork();
  if (child == 0) exit(0);
  if (waitpid(child, &status, 0) != child || access(file, F_OK) != 0) _exit(4);
  exit(1);
}

static void files_of_a_failed_test_are_removed(void **state) {
  (void)state;
  char folder[SCRATCH_PATH_MAX];
  int status = 0;
  scratch_folder(folder);
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    setenv("TMPDIR", folder, 1);
    execl("/proc/self/exe", "scratch_test", "fail", (char *)NULL);
    _exit(5);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 1);
  assert_int_equal(rmdir(folder), 0); /* the folder is empty */
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "fail") == 0) write_and_fail();
  const struct CMUnitTest tests[] = {cmocka_unit_test(files_of_a_failed_test_are_removed)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
