/* trap.h: memory that must not be accessed, in a child process (base/child.h). */
#ifndef SL_TRIAL_TRAP_H
#define SL_TRIAL_TRAP_H

#include "base/child.h"

/* Reserves an address range of `count` traps. An access to trap i ends the child with the finding `text(i)`. */
void trial_trap_open(struct sl_child *log, unsigned count, const char *(*text)(unsigned place));
void *trial_trap_place(unsigned place);

#endif
