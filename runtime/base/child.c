/* child.c: see child.h. Standard output and error of a child go to a file in memory, from which the last line is
 * quoted where the child died without a word of its own. */
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

enum { SAID_BYTES = 8192, SKIPPED_STATUS = 77 };

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

/* The last line that says what is wrong: the test harness's, else an address sanitizer's, else the last of all. */
static const char *last_words(char *said) {
  static const char *const marks[] = {"sl_test: ", "skipped: ", "ERROR: ", "runtime error: "};
  for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
    char *found = strstr(said, marks[i]);
    if (!found) continue;
    found[strcspn(found, "\n")] = '\0';
    return found + strlen(marks[i]);
  }
  size_t length = strlen(said);
  while (length > 0 && said[length - 1] == '\n') said[--length] = '\0';
  const char *line = strrchr(said, '\n');
  return line ? line + 1 : said;
}

/* "PLUGIN.ALGORITHM: text" as the harness says it, without what the reader knows. */
static const char *without_name(const char *words, const char *said) {
  const char *colon = strstr(words, ": ");
  return strstr(said, "sl_test: ") && colon && memchr(words, '.', (size_t)(colon - words)) ? colon + 2 : words;
}

static void explain_death(struct sl_child *log, int status, int said_file) {
  char said[SAID_BYTES] = "", copy[SAID_BYTES];
  const ssize_t length = said_file < 0 ? 0 : pread(said_file, said, sizeof said - 1, 0);
  said[length > 0 ? length : 0] = '\0';
  memcpy(copy, said, sizeof copy);
  const char *words = without_name(last_words(said), copy);
  if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED_STATUS)
    conclude(log, SL_CHILD_NOT_RUN, "%s", *words ? words : "skipped");
  else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
    conclude(log, SL_CHILD_WRONG, "did not end within %u s", log->seconds);
  else if (strstr(copy, "sl_test: "))
    conclude(log, SL_CHILD_WRONG, "%s", words);
  else if (WIFSIGNALED(status))
    conclude(log, SL_CHILD_WRONG, "crashed: %s%s%s", strsignal(WTERMSIG(status)), *words ? ": " : "", words);
  else
    conclude(log, SL_CHILD_WRONG, "ended the process with status %d%s%s", WEXITSTATUS(status), *words ? ": " : "",
             words);
}

static void be_child(struct sl_child *log, void (*body)(void *, struct sl_child *), void *context, int said_file) {
  if (said_file >= 0) {
    dup2(said_file, STDOUT_FILENO);
    dup2(said_file, STDERR_FILENO);
  }
  alarm(log->seconds);
  body(context, log);
  alarm(0);
  if (log->state == 0) log->state = SL_CHILD_PASSED;
  _exit(0);
}

void sl_child_run(struct sl_child *log, void (*body)(void *, struct sl_child *), void *context) {
  int status = 0;
  fflush(NULL); /* or the child would write it too */
  alarm(0);     /* a child that has children waits as long as they may */
  const int said_file = memfd_create("sluice child", MFD_CLOEXEC);
  log->state = 0;
  const pid_t child = fork();
  if (child == 0) be_child(log, body, context, said_file);
  if (child < 0)
    conclude(log, SL_CHILD_NOT_RUN, "no process could be started: %s", strerror(errno));
  else
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (log->state == 0) explain_death(log, status, said_file);
  if (said_file >= 0) close(said_file);
}
