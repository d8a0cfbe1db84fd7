/* process.c: see process.h. Standard output and error of a child go to a file in memory, from which the last line is
 * quoted where the child died without a word of its own. */
#define _GNU_SOURCE
#include "trial/process.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SAID_BYTES = 8192, SKIPPED_STATUS = 77, PLACE_BYTES = 64 << 20, SIGNAL_STACK_BYTES = 64 << 10 };

void *trial_shared_new(size_t bytes) {
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

void trial_shared_free(void *memory, size_t bytes) {
  if (memory) munmap(memory, bytes);
}

static void set_text(struct trial_log *log, int state, const char *format, va_list arguments) {
  log->state = state;
  vsnprintf(log->text, sizeof log->text, format, arguments);
}

void trial_stage(struct trial_log *log, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(log->stage, sizeof log->stage, format, arguments);
  va_end(arguments);
  alarm(log->seconds);
}

void trial_wrong(struct trial_log *log, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  set_text(log, TRIAL_WRONG, format, arguments);
  va_end(arguments);
  _exit(0);
}

void trial_not_run(struct trial_log *log, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  set_text(log, TRIAL_NOT_RUN, format, arguments);
  va_end(arguments);
  _exit(0);
}

static void conclude(struct trial_log *log, int state, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void conclude(struct trial_log *log, int state, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  set_text(log, state, format, arguments);
  va_end(arguments);
}

/* --------------------------------------------------------------------------------------------------- traps */

static struct {
  struct trial_log *log;
  char *begin;
  size_t bytes;
  const char *(*text)(unsigned place);
} trap;

static void trapped(int number, siginfo_t *about, void *context) {
  (void)context;
  const char *at = about->si_addr;
  if (at >= trap.begin && at < trap.begin + trap.bytes)
    trial_wrong(trap.log, "%s", trap.text((unsigned)((size_t)(at - trap.begin) / PLACE_BYTES)));
  signal(number, SIG_DFL); /* anywhere else it is a crash: the instruction runs again, and ends the process */
}

void *trial_trap_place(unsigned place) { return trap.begin + (size_t)place * PLACE_BYTES; }

void trial_trap_open(struct trial_log *log, unsigned count, const char *(*text)(unsigned place)) {
  static char stack[SIGNAL_STACK_BYTES]; /* the emulator's threads have small ones */
  const size_t bytes = (size_t)count * PLACE_BYTES;
  void *begin = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (begin == MAP_FAILED) trial_not_run(log, "no address space for %u traps", count);
  trap.log = log;
  trap.begin = begin;
  trap.bytes = bytes;
  trap.text = text;
  const stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
  struct sigaction action = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  sigaltstack(&own, NULL);
  sigaction(SIGSEGV, &action, NULL);
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

static void explain_death(struct trial_log *log, int status, int said_file) {
  char said[SAID_BYTES] = "", copy[SAID_BYTES];
  const ssize_t length = said_file < 0 ? 0 : pread(said_file, said, sizeof said - 1, 0);
  said[length > 0 ? length : 0] = '\0';
  memcpy(copy, said, sizeof copy);
  const char *words = without_name(last_words(said), copy);
  if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED_STATUS)
    conclude(log, TRIAL_NOT_RUN, "%s", *words ? words : "skipped");
  else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
    conclude(log, TRIAL_WRONG, "did not end within %u s", log->seconds);
  else if (strstr(copy, "sl_test: "))
    conclude(log, TRIAL_WRONG, "%s", words);
  else if (WIFSIGNALED(status))
    conclude(log, TRIAL_WRONG, "crashed: %s%s%s", strsignal(WTERMSIG(status)), *words ? ": " : "", words);
  else
    conclude(log, TRIAL_WRONG, "ended the process with status %d%s%s", WEXITSTATUS(status), *words ? ": " : "", words);
}

static void be_child(struct trial_log *log, void (*body)(void *, struct trial_log *), void *context, int said_file) {
  if (said_file >= 0) {
    dup2(said_file, STDOUT_FILENO);
    dup2(said_file, STDERR_FILENO);
  }
  alarm(log->seconds);
  body(context, log);
  alarm(0);
  if (log->state == 0) log->state = TRIAL_PASSED;
  _exit(0);
}

void trial_in_process(struct trial_log *log, void (*body)(void *, struct trial_log *), void *context) {
  int status = 0;
  fflush(NULL); /* or the child would write it too */
  alarm(0);     /* a child that has children waits as long as they may */
  const int said_file = memfd_create("sluice test", MFD_CLOEXEC);
  log->state = 0;
  const pid_t child = fork();
  if (child == 0) be_child(log, body, context, said_file);
  if (child < 0)
    conclude(log, TRIAL_NOT_RUN, "no process could be started: %s", strerror(errno));
  else
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (log->state == 0) explain_death(log, status, said_file);
  if (said_file >= 0) close(said_file);
}
