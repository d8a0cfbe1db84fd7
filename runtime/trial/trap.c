/* trap.c: see trap.h. */
#define _GNU_SOURCE
#include "trial/trap.h"

#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>

enum { PLACE_BYTES = 64 << 20, SIGNAL_STACK_BYTES = 64 << 10 };

static struct {
  struct sl_child *log;
  char *begin;
  size_t bytes;
  const char *(*text)(unsigned place);
} trap;

static void trapped(int number, siginfo_t *about, void *context) {
  (void)context;
  const char *at = about->si_addr;
  if (at >= trap.begin && at < trap.begin + trap.bytes)
    sl_child_wrong(trap.log, "%s", trap.text((unsigned)((size_t)(at - trap.begin) / PLACE_BYTES)));
  signal(number, SIG_DFL); /* any other address is a crash: the instruction runs again and ends the process */
}

void *trial_trap_place(unsigned place) { return trap.begin + (size_t)place * PLACE_BYTES; }

void trial_trap_open(struct sl_child *log, unsigned count, const char *(*text)(unsigned place)) {
  static char stack[SIGNAL_STACK_BYTES]; /* the threads of the emulator have small stacks */
  const size_t bytes = (size_t)count * PLACE_BYTES;
  void *begin = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (begin == MAP_FAILED) sl_child_not_run(log, "no address space for %u traps", count);
  trap.log = log;
  trap.begin = begin;
  trap.bytes = bytes;
  trap.text = text;
  const stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
  struct sigaction action = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  sigaltstack(&own, NULL);
  sigaction(SIGSEGV, &action, NULL);
}
