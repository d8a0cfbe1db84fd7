/* process.h: a piece of `sluice test` in a process of its own, so that what a plugin does there, endless loops and
 * crashes included, ends as a line of text.
 *
 * The child writes into a struct trial_log in shared memory and ends with _exit; nothing that it allocates is freed.
 * What stands in the log when it is gone is the result: the stage that it had reached, and what it found.
 */
#ifndef SL_TRIAL_PROCESS_H
#define SL_TRIAL_PROCESS_H

#include <stddef.h>

enum { TRIAL_PASSED = 1, TRIAL_WRONG, TRIAL_NOT_RUN };

struct trial_log {
  int state;        /* TRIAL_...; 0: the child did not say */
  unsigned seconds; /* longest time from one stage to the next */
  char stage[160];
  char text[1024]; /* WRONG: what; NOT_RUN: why; PASSED: on what */
};

/* Zeroed memory that children share with this process; NULL when there is none. What is not touched costs nothing. */
void *trial_shared_new(size_t bytes);
void trial_shared_free(void *memory, size_t bytes);

/* Runs `body` in a child and waits. On return log->state is not 0. */
void trial_in_process(struct trial_log *log, void (*body)(void *context, struct trial_log *log), void *context);

/* In the child: names what comes next, and gives it its time; the ends. */
void trial_stage(struct trial_log *log, const char *format, ...) __attribute__((format(printf, 2, 3)));
void trial_wrong(struct trial_log *log, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));
void trial_not_run(struct trial_log *log, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));

/* In the child: an address range that traps, `count` places in all; a touch of place i ends the child with the finding
 * `text(i)`. */
void trial_trap_open(struct trial_log *log, unsigned count, const char *(*text)(unsigned place));
void *trial_trap_place(unsigned place);

#endif
