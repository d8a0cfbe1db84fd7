/* decode.h: what the versions of ut.decode share. Private to the plugin. */
#ifndef UT_DECODE_H
#define UT_DECODE_H

#include "decode_event.h"

/* As `run`, where a block is one thread (decode.cpu.c). */
int ut_decode_tuned(const struct sl_launch *l, const void *args);

#endif
