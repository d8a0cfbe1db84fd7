/* trap.h: memory that must not be touched, in a child (base/child.h). */
#ifndef SL_TRIAL_TRAP_H
#define SL_TRIAL_TRAP_H

#include "base/child.h"

/* An address range that traps, `count` places in all; a touch of place i ends the child with the finding
 * `text(i)`. */
void trial_trap_open(struct sl_child *log, unsigned count, const char *(*text)(unsigned place));
void *trial_trap_place(unsigned place);

#endif
