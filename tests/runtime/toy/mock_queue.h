/* mock_queue.h: the streams of the mock device. Work is stored when it is enqueued, and done when the host waits, in an
 * order that the streams allow. Kernels of the mock target are enqueued through mock_launch.h. */
#ifndef MOCK_QUEUE_H
#define MOCK_QUEUE_H

#include "base/stream.h"

#include <stddef.h>
#include <stdint.h>

/* Enqueues job(args) with a copy of the arguments; returns SL_ENOMEM without memory. A job returns 0, or an error that
 * the next wait returns. */
typedef int mock_job(const void *args);
int mock_queue_add(struct sl_stream *stream, mock_job *job, const void *args, size_t bytes);

/* Opens and closes a stream; NULL without memory. Closing drops jobs that were not done. `launch` enqueues kernels. */
typedef int mock_launch(struct sl_stream *stream, mock_job *job, const void *args, size_t bytes);
struct sl_stream *mock_queue_open(mock_launch *launch);
void mock_queue_close(struct sl_stream *stream);

/* `reached` stores the number of entries so far under an index; entries after `await` are done after these. */
int mock_queue_reached(struct sl_stream *stream, uint32_t index);
int mock_queue_await(struct sl_stream *stream, struct sl_stream *other, uint32_t index);

/* Entries between begin and end, on this stream and on streams that await it, are recorded, and done only by replay.
 * `end` fails if it does not come after all of them. A captured stream can await only captured streams. */
enum { MOCK_SLICES = 2 };
int mock_queue_capture_begin(struct sl_stream *stream);
int mock_queue_capture_end(struct sl_stream *stream, uint32_t slice_index);
int mock_queue_replay(struct sl_stream *stream, uint32_t slice_index);

/* `finished` marks the end of a slice; `wait` works until that point, `settle` until the end of the stream. If several
 * streams can continue, SLUICE_MOCK_ORDER selects one: the last of the group (`last`, default), the first (`first`), or
 * a random one (a number is the seed). */
void mock_queue_finished(struct sl_stream *stream, uint32_t slice_index);
int mock_queue_wait(struct sl_stream *stream, uint32_t slice_index);
int mock_queue_settle(struct sl_stream *stream);

#endif
