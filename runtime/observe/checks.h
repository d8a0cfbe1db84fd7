/* checks.h: the memory checks of --guard (guard.c) and --race (race.c). */
#ifndef SL_CHECKS_H
#define SL_CHECKS_H

#include "execute/memory_check.h"

extern const struct sl_memory_check sl_guard_check, sl_race_check;

/* The first finding of --race, or NULL. */
const char *sl_race_finding(const struct sl_setup *s);

#endif
