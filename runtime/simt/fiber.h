/* fiber.h: fibers: stacks that one thread of the host switches between.
 *
 * A fiber begins in its entry function at its first switch, and ends with sl_fiber_leave. One that is left in the
 * middle is dropped by preparing it anew; nothing on its stack is unwound. All switches among a set of fibers happen on
 * the thread that began them. AddressSanitizer is told of each.
 */
#ifndef SL_FIBER_H
#define SL_FIBER_H

#include <stddef.h>

struct sl_fiber {
  void *stack_pointer; /* while it does not run */
  char *stack;         /* lowest byte; NULL for a thread's own stack whose place is not known yet */
  size_t stack_bytes;
  void *fake_stack; /* AddressSanitizer's */
  int unfinished;
};

/* Maps a stack, with a page below that faults. Returns 0 or SL_ENOMEM. */
int sl_fiber_open(struct sl_fiber *fiber, size_t stack_bytes);
void sl_fiber_close(struct sl_fiber *fiber);

/* Makes the fiber begin with entry(argument), which calls sl_fiber_begin first and never returns. */
void sl_fiber_prepare(struct sl_fiber *fiber, void (*entry)(void *argument), void *argument);
/* `thread`: a fiber that stands for the stack of the thread that made the first switch. */
void sl_fiber_begin(struct sl_fiber *thread);

/* Goes on with `to`; returns when something switches back to `from`, the fiber that runs. */
void sl_fiber_switch(struct sl_fiber *from, struct sl_fiber *to);
/* The same at the end of `from`. */
void sl_fiber_leave(struct sl_fiber *from, struct sl_fiber *to) __attribute__((noreturn));

#endif
