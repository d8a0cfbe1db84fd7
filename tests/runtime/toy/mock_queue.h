/* mock_queue.h: the streams of the mock device: work is remembered when it is enqueued, and done when the host waits,
 * in an order that the streams allow. Kernels of the mock target are enqueued through mock_launch.h. */
#ifndef MOCK_QUEUE_H
#define MOCK_QUEUE_H

#include "base/stream.h"

#include <stddef.h>
#include <stdint.h>

/* Enqueues job(args), with a copy of the arguments; SL_ENOMEM. A job returns 0, or an error that the next wait returns.
 */
typedef int mock_job(const void *args);
int mock_queue_add(struct sl_stream *stream, mock_job *job, const void *args, size_t bytes);

/* Opens and closes a stream; NULL: no memory. What was not done when it is closed is never done. `launch` is what
 * kernels are enqueued by. */
typedef int mock_launch(struct sl_stream *stream, mock_job *job, const void *args, size_t bytes);
struct sl_stream *mock_queue_open(mock_launch *launch);
void mock_queue_close(struct sl_stream *stream);

/* `reached` remembers what was enqueued so far under an index; what is enqueued after `await` comes after that. */
int mock_queue_reached(struct sl_stream *stream, uint32_t index);
int mock_queue_await(struct sl_stream *stream, struct sl_stream *other, uint32_t index);

/* What is enqueued between begin and end, on this stream and on those that await it, is kept and done only by replay.
 * `end` fails where a stream was not awaited in turn. A stream that is captured awaits only what is captured too. */
enum { MOCK_FLIGHTS = 2 };
int mock_queue_capture_begin(struct sl_stream *stream);
int mock_queue_capture_end(struct sl_stream *stream, uint32_t flight);
int mock_queue_replay(struct sl_stream *stream, uint32_t flight);

/* `finished` remembers what was enqueued so far for a flight; `wait` works until that is done, `settle` until all is
 * that was enqueued on the stream. Of the streams that may go on, each time one is chosen by SLUICE_MOCK_ORDER: the
 * last that was opened (`last`, unless said), the first (`first`), or any, by a seed (a number). */
void mock_queue_finished(struct sl_stream *stream, uint32_t flight);
int mock_queue_wait(struct sl_stream *stream, uint32_t flight);
int mock_queue_settle(struct sl_stream *stream);

#endif
