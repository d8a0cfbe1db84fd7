/* child.h: a piece of work in a process of its own, so that what a plugin does there, endless loops and crashes
 * included, ends as a line of text.
 *
 * The child writes into a struct sl_child in shared memory and ends with _exit; nothing that it allocates is freed.
 * What stands in the log when it is gone is the result: the stage that it had reached, and what it found.
 */
#ifndef SL_CHILD_H
#define SL_CHILD_H

#include <stddef.h>

enum { SL_CHILD_PASSED = 1, SL_CHILD_WRONG, SL_CHILD_NOT_RUN };

struct sl_child {
  int state;        /* SL_CHILD_...; 0: the child did not say */
  unsigned seconds; /* longest time from one stage to the next */
  char stage[160];
  char conditions[80]; /* of what is run, to be read after the stage; the child's to set */
  char text[1024];     /* WRONG: what; NOT_RUN: why; PASSED: on what */
};

/* Zeroed memory that children share with this process; NULL when there is none. What is not touched costs nothing. */
void *sl_shared_new(size_t bytes);
void sl_shared_free(void *memory, size_t bytes);

/* Runs `body` in a child and waits. On return log->state is not 0. */
void sl_child_run(struct sl_child *log, void (*body)(void *context, struct sl_child *log), void *context);

/* In the child: names what comes next, and gives it its time; the ends. A child that says nothing has passed when
 * `body` returns; the texts of one that died are such as follow "it": "did not end within 10 s". */
void sl_child_stage(struct sl_child *log, const char *format, ...) __attribute__((format(printf, 2, 3)));
void sl_child_wrong(struct sl_child *log, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));
void sl_child_not_run(struct sl_child *log, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));

#endif
