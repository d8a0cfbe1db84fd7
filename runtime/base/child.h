/* child.h: runs a function in a child process, so that endless loops and crashes of plugin code end as a line of text.
 *
 * The child writes to a struct sl_child in shared memory and ends with _exit without freeing memory. The content of
 * this log after the child's end is the result: the last stage and the findings.
 */
#ifndef SL_CHILD_H
#define SL_CHILD_H

#include <stddef.h>

enum { SL_CHILD_PASSED = 1, SL_CHILD_WRONG, SL_CHILD_NOT_RUN };

struct sl_child {
  int state;        /* SL_CHILD_...; 0: the child reported no state */
  unsigned seconds; /* time limit of each stage */
  char stage[160];
  char conditions[80]; /* conditions of the run, printed after the stage; set by the child */
  char text[1024];     /* WRONG: the error; NOT_RUN: the reason; PASSED: on which inputs */
};

/* Returns zeroed memory that children share with this process, or NULL. Pages that are never used cost nothing. */
void *sl_shared_new(size_t bytes);
void sl_shared_free(void *memory, size_t bytes);

/* Runs `body` in a child process and waits for it. On return, log->state is not 0. */
void sl_child_run(struct sl_child *log, void (*body)(void *context, struct sl_child *log), void *context);

/* Called in the child. sl_child_stage names the next stage and restarts the time limit; the other two end the child.
 * The child has passed if `body` returns. If the child died, the text completes a sentence about it: "did not end
 * within 10 s". */
void sl_child_stage(struct sl_child *log, const char *format, ...) __attribute__((format(printf, 2, 3)));
void sl_child_wrong(struct sl_child *log, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));
void sl_child_not_run(struct sl_child *log, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));

#endif
