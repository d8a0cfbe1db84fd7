/* child.c: see child.h. Standard output and error of a child go to a file in memory; if the child died without a
 * report, the last line of this file is quoted. */
#define _GNU_SOURCE
#include "base/child.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OUTPUT_BYTES = 8192, SKIPPED_STATUS = 77 };

void *sl_shared_new(size_t bytes) {
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

void sl_shared_free(void *memory, size_t bytes) {
  if (memory) munmap(memory, bytes);
}

static void set_text(struct sl_child *log, int state, const char *format, va_list arguments) {
  log->state = state;
  vsnprintf(log->text, sizeof log->text, format, arguments);
}

void sl_child_stage(struct sl_child *log, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(log->stage, sizeof log->stage, format, arguments);
  va_end(arguments);
  alarm(log->seconds);
}

void sl_child_wrong(struct sl_child *log, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  set_text(log, SL_CHILD_WRONG, format, arguments);
  va_end(arguments);
  _exit(0);
}

void sl_child_not_run(struct sl_child *log, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  set_text(log, SL_CHILD_NOT_RUN, format, arguments);
  va_end(arguments);
  _exit(0);
}

static void conclude(struct sl_child *log, int state, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void conclude(struct sl_child *log, int state, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  set_text(log, state, format, arguments);
  va_end(arguments);
}

/* ------------------------------------------------------------------------------------------------ children */

/* Returns the line that explains the error: the test harness's, else the address sanitizer's, else the last line. */
static const char *find_error_line(char *output) {
  static const char *const markers[] = {"sl_test: ", "skipped: ", "ERROR: ", "runtime error: "};
  for (size_t i = 0; i < sizeof markers / sizeof markers[0]; i++) {
    char *found = strstr(output, markers[i]);
    if (!found) continue;
    found[strcspn(found, "\n")] = '\0';
    return found + strlen(markers[i]);
  }
  size_t length = strlen(output);
  while (length > 0 && output[length - 1] == '\n') output[--length] = '\0';
  const char *line = strrchr(output, '\n');
  return line ? line + 1 : output;
}

/* Removes "PLUGIN.ALGORITHM: " from a line of the harness, because the caller prints the name. */
static const char *strip_name(const char *line_text, const char *output) {
  const char *colon = strstr(line_text, ": ");
  return strstr(output, "sl_test: ") && colon && memchr(line_text, '.', (size_t)(colon - line_text)) ? colon + 2
                                                                                                     : line_text;
}

static void explain_exit(struct sl_child *log, int status, int output_file) {
  char output[OUTPUT_BYTES] = "", copy[OUTPUT_BYTES];
  const ssize_t length = output_file < 0 ? 0 : pread(output_file, output, sizeof output - 1, 0);
  output[length > 0 ? length : 0] = '\0';
  memcpy(copy, output, sizeof copy);
  const char *line_text = strip_name(find_error_line(output), copy);
  if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED_STATUS)
    conclude(log, SL_CHILD_NOT_RUN, "%s", *line_text ? line_text : "skipped");
  else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
    conclude(log, SL_CHILD_WRONG, "did not end within %u s", log->seconds);
  else if (strstr(copy, "sl_test: "))
    conclude(log, SL_CHILD_WRONG, "%s", line_text);
  else if (WIFSIGNALED(status))
    conclude(log, SL_CHILD_WRONG, "crashed: %s%s%s", strsignal(WTERMSIG(status)), *line_text ? ": " : "", line_text);
  else
    conclude(log, SL_CHILD_WRONG, "ended the process with status %d%s%s", WEXITSTATUS(status), *line_text ? ": " : "",
             line_text);
}

static void run_in_child(struct sl_child *log, void (*body)(void *, struct sl_child *), void *context,
                         int output_file) {
  if (output_file >= 0) {
    dup2(output_file, STDOUT_FILENO);
    dup2(output_file, STDERR_FILENO);
  }
  alarm(log->seconds);
  body(context, log);
  alarm(0);
  if (log->state == 0) log->state = SL_CHILD_PASSED;
  _exit(0);
}

void sl_child_run(struct sl_child *log, void (*body)(void *, struct sl_child *), void *context) {
  int status = 0;
  fflush(NULL); /* otherwise the child would write buffered text again */
  alarm(0);     /* a child with children of its own may need longer than its time limit */
  const int output_file = memfd_create("sluice child", MFD_CLOEXEC);
  log->state = 0;
  const pid_t child = fork();
  if (child == 0) run_in_child(log, body, context, output_file);
  if (child < 0)
    conclude(log, SL_CHILD_NOT_RUN, "no process could be started: %s", strerror(errno));
  else
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (log->state == 0) explain_exit(log, status, output_file);
  if (output_file >= 0) close(output_file);
}
