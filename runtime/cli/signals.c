/* signals.c: the signals by which terminals, users and batch systems end a command.
 *
 * The first one stops the session that runs: its slices in flight are delivered and its files are written. The second
 * one ends the process at once, except SIGHUP and SIGXCPU, which the system repeats by itself: a shell passes on the
 * SIGHUP that the kernel has sent already, and the kernel sends SIGXCPU once a second. A signal that is ignored when
 * the command starts (nohup, background jobs of scripts) stays ignored. In a run SIGUSR1 ends nothing: see reload.c.
 */
#include "cli/cli.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

static const int numbers[] = {SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU};
enum { SIGNALS = sizeof numbers / sizeof numbers[0] };

static struct sl_session *volatile stoppable;
static volatile sig_atomic_t first;                /* the signal that came first, or 0 */
static volatile sig_atomic_t is_caught;            /* bit i: numbers[i] was not ignored at the start */
static volatile sig_atomic_t reload_requests = -1; /* eventfd that SIGUSR1 adds to; -1: it ends the command */

static int is_repeated(int number) { return number == SIGHUP || number == SIGXCPU; }

static int is_reload(int number) { return number == SIGUSR1 && reload_requests >= 0; }

static void set_action(int i, void (*handler)(int)) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
  sigemptyset(&action.sa_mask);
  for (int k = 0; k < SIGNALS; k++) sigaddset(&action.sa_mask, numbers[k]);
  if (is_caught & 1 << i) sigaction(numbers[i], &action, NULL);
}

/* The next signal ends the process, except one that the system repeats. */
static void end_with_next(void) {
  int seen;
  do {
    seen = first;
    for (int i = 0; i < SIGNALS; i++)
      if (!is_reload(numbers[i])) set_action(i, seen && is_repeated(numbers[i]) ? SIG_IGN : SIG_DFL);
  } while (first != seen); /* a signal came meanwhile */
}

static void request_reload(void) {
  const int before = errno;
  const uint64_t one = 1;
  const ssize_t written = write(reload_requests, &one, sizeof one); /* fails only if there are 2^64 requests */
  (void)written;
  errno = before;
}

static void on_signal(int number) {
  if (is_reload(number)) {
    request_reload();
    return;
  }
  if (first == 0) first = number;
  if (stoppable) sl_session_stop_by(stoppable, number);
  end_with_next();
}

/* Marks the signals that are to be caught. */
static void find_caught(void) {
  for (int i = 0; i < SIGNALS; i++) {
    struct sigaction before;
    if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN) is_caught |= 1 << i;
  }
}

void cli_catch_signals(void) {
  find_caught();
  for (int i = 0; i < SIGNALS; i++) set_action(i, on_signal);
  signal(SIGPIPE, SIG_IGN); /* then a write to a pipe without a reader fails */
}

void cli_leave_signals(void) { end_with_next(); }

void cli_reload_on_signal(int requests) {
  reload_requests = requests;
  find_caught();
  for (int i = 0; i < SIGNALS; i++)
    if (is_reload(numbers[i])) set_action(i, on_signal);
}

void cli_stop_on_signal(struct sl_session *session) { stoppable = session; }

int cli_signal(void) { return first; }
