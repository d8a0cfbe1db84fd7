/* simt.h: the emulator's outside: its device with the settings, and the streams on which kernels are launched.
 *
 *   fiber.c      stacks and the switch between them
 *   machine.c    one block: its threads meet at barriers and warp operations, in an order drawn from the seed
 *   describe.c   the text of an error: which threads wait where
 *   stream.c     settings, streams, and a launch: its blocks one after the other
 *
 * One launch runs at a time in a process, since a plugin's shared memory is there once.
 */
#ifndef SL_SIMT_H
#define SL_SIMT_H

#include "base/stream.h"

#include <sluice/plugin.h>

#include <stddef.h>

/* There is one, number 0. */
int sl_simt_device_open(uint32_t index, struct sl_device **device, char *reason, size_t reason_size);
void sl_simt_device_close(struct sl_device *device);

/* Sets `seed` (a number: of the order of threads and blocks, and of the size of grids; 1 at first) or `warp` (32, at
 * first, or 64) for the streams opened after. SL_EINVAL, with the reason, if there is no such key or value. */
int sl_simt_device_set(struct sl_device *device, const char *key, const char *value, char *reason, size_t reason_size);

/* "seed 1, warps of 32" */
void sl_simt_device_describe(struct sl_device *device, char *text, size_t size);

/* For one thread at a time. The order of its launches follows from the settings alone. NULL when memory is out. */
struct sl_stream *sl_simt_stream_open(struct sl_device *device);
void sl_simt_stream_close(struct sl_stream *stream);

#endif
