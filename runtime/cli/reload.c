/* reload.c: SIGUSR1 during `sluice run`: a thread reads the graph, --with and --set of the command line again, and
 * changes the configuration of the run. The handler of the signal only counts requests in an eventfd; requests that
 * arrive while one is served become one. A wrong graph is reported, and the run goes on.
 */
#include "cli/reload.h"

#include "base/clock.h"
#include "base/thread.h"
#include "cli/log.h"
#include "cli/notify.h"
#include "cli/progress.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { RETRY_MS = 100 };

static int requests = -1;
static struct sl_thread thread;
static atomic_int has_ended;
static struct sl_session *session;
static uint32_t quiet;

void cli_reload_open(void) {
  requests = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (requests >= 0) cli_reload_on_signal(requests);
}

void cli_reload_forget(void) {
  uint64_t count;
  while (requests >= 0 && read(requests, &count, sizeof count) > 0) continue;
}

/* Waits for a request. 0: the run has ended. */
static int await_request(void) {
  struct pollfd at = {requests, POLLIN, 0};
  while (poll(&at, 1, -1) < 0 && errno == EINTR) continue;
  cli_reload_forget();
  return !atomic_load(&has_ended);
}

static void show(uint32_t severity, const char *text) {
  const struct sl_diagnostic message = {.severity = severity, .message = text};
  cli_show_message(&quiet, &message);
}

/* Shows what was found, except notes and warnings of a change that was refused: they are about a graph that the run
 * does not have. */
static void show_all(const struct sl_diagnostics *d, int is_refused) {
  for (size_t i = 0; i < sl_diagnostics_count(d); i++) {
    const struct sl_diagnostic *message = sl_diagnostics_at(d, i);
    if (!is_refused || message->severity == SL_ERROR) cli_show_message(&quiet, message);
  }
  cli_print_dropped(d);
}

/* Changes the configuration. A run that has not begun to read its input is waited for. */
static int change(struct sl_diagnostics **d) {
  const struct sl_reload same_files = {.size = sizeof same_files};
  for (;;) {
    *d = sl_diagnostics_new();
    if (!*d) return SL_ENOMEM;
    const int status = sl_session_reload(session, &same_files, *d);
    if (status != SL_EINTERRUPTED) return status;
    sl_diagnostics_free(*d);
    *d = NULL;
    if (atomic_load(&has_ended)) return SL_EINTERRUPTED;
    (void)poll(NULL, 0, RETRY_MS);
  }
}

static void serve(void *unused) {
  (void)unused;
  while (await_request()) {
    struct sl_diagnostics *d = NULL;
    cli_log(SL_NOTE, "SIGUSR1: reads the graph again");
    cli_notify("RELOADING=1\nMONOTONIC_USEC=%" PRIu64 "\nSTATUS=reads the graph again", sl_now_ns() / 1000);
    const int status = change(&d);
    if (d) show_all(d, status < 0);
    if (status < 0 && status != SL_EINTERRUPTED)
      show(SL_WARNING, d ? "the configuration stays as it is" : "the configuration stays as it is: out of memory");
    sl_diagnostics_free(d);
    cli_notify("READY=1\nSTATUS=%s", status < 0 ? "running; the new configuration was refused" : "running");
  }
}

void cli_reload_begin(struct sl_session *of, const struct cli_arguments *a) {
  session = of;
  quiet = a->quiet;
  if (requests < 0) return;
  const int error = sl_thread_start(&thread, serve, NULL);
  if (error)
    fprintf(stderr, "warning: no thread could be started for SIGUSR1, which has no effect: %s\n", strerror(error));
}

void cli_reload_end(void) {
  const uint64_t one = 1;
  atomic_store(&has_ended, 1);
  if (thread.is_started && write(requests, &one, sizeof one) == sizeof one) sl_thread_join(&thread);
}
