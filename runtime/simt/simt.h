/* simt.h: interface of the emulator: its device with the settings, and the streams on which kernels are launched.
 *
 *   fiber.c      stacks and the switch between them
 *   machine.c    one block: its threads meet at barriers and warp operations, in an order drawn from the seed
 *   describe.c   text of an error: which threads wait where
 *   stream.c     settings, streams, and a launch, which runs its blocks one after the other
 *
 * Only one launch runs at a time in a process, because a plugin has only one copy of its shared memory.
 */
#ifndef SL_SIMT_H
#define SL_SIMT_H

#include "base/stream.h"

#include <sluice/plugin.h>

#include <stddef.h>

/* There is one device, number 0. */
int sl_simt_device_open(uint32_t index, struct sl_device **device, char *reason, size_t reason_size);
void sl_simt_device_close(struct sl_device *device);

/* Sets `seed` (a number that determines the order of threads and blocks and the size of grids; default 1), `warp`
 * (32, the default, or 64) or `shared` (bytes of shared memory that a launch can request) for streams opened later.
 * Returns SL_EINVAL, with the reason, for an invalid key or value. */
int sl_simt_device_set(struct sl_device *device, const char *key, const char *value, char *reason, size_t reason_size);

/* Returns sl_launch.shared_bytes_max. */
uint32_t sl_simt_shared_bytes(struct sl_device *device);

/* Writes "seed 1, warps of 32". */
void sl_simt_device_describe(struct sl_device *device, char *text, size_t size);

/* A stream is for one thread at a time. The order of its launches depends only on the settings. NULL if out of
 * memory. */
struct sl_stream *sl_simt_stream_open(struct sl_device *device);
void sl_simt_stream_close(struct sl_stream *stream);

#endif
