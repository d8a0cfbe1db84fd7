/* fiber.h: fibers: several stacks on one host thread.
 *
 * A fiber starts its entry function at the first switch to it and ends with sl_fiber_leave. An unfinished fiber is
 * discarded by preparing it again; its stack is not unwound. All switches between a set of fibers happen on the thread
 * that started them. AddressSanitizer is informed of each switch.
 */
#ifndef SL_FIBER_H
#define SL_FIBER_H

#include <stddef.h>

struct sl_fiber {
  void *stack_pointer; /* while the fiber is not running */
  char *stack;         /* lowest byte; NULL: a thread's own stack, not yet located */
  size_t stack_bytes;
  void *fake_stack; /* for AddressSanitizer */
  int unfinished;
};

/* Maps a stack with a guard page below. Returns 0 or SL_ENOMEM. */
int sl_fiber_open(struct sl_fiber *fiber, size_t stack_bytes);
void sl_fiber_close(struct sl_fiber *fiber);

/* Prepares the fiber to start with entry(argument), which must call sl_fiber_begin first and must never return. */
void sl_fiber_prepare(struct sl_fiber *fiber, void (*entry)(void *argument), void *argument);
/* `thread`: the fiber that represents the stack of the thread that made the first switch. */
void sl_fiber_begin(struct sl_fiber *thread);

/* Continues `to`; returns when another fiber switches back to `from`, the running fiber. */
void sl_fiber_switch(struct sl_fiber *from, struct sl_fiber *to);
/* Ends `from` and continues `to`. */
void sl_fiber_leave(struct sl_fiber *from, struct sl_fiber *to) __attribute__((noreturn));

#endif
