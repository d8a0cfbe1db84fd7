/* input_stream.h: a pipe that looks like a mapped file of which only the first bytes are there yet.
 *
 * Its bytes are read, one after another, into a range of addresses that is larger than any stream, so that nothing
 * moves and an offset in the stream is one in the range. Memory is taken as bytes come, and given back for those that
 * are released.
 */
#ifndef IO_INPUT_STREAM_H
#define IO_INPUT_STREAM_H

#include "input_file.h"

/* Takes `descriptor`, of a pipe opened without waiting: 0, or SL_EIO with the reason. A pipe that nobody has opened to
 * write within a second is refused. */
int input_stream_open(struct input_file *f, int descriptor, char *reason, uint32_t reason_size);
enum { INPUT_STREAM_LATER, INPUT_STREAM_MORE };
/* Reads until `size` is at least `bytes`, or the stream ends (has_ended): INPUT_STREAM_MORE. Where nothing comes for
 * half a second, or a signal does, INPUT_STREAM_LATER, with what came. SL_EIO with the reason. */
int input_stream_read(struct input_file *f, uint64_t bytes, char *reason, uint32_t reason_size);
/* Bytes before that offset are not looked at any more. */
void input_stream_release(struct input_file *f, uint64_t offset);
void input_stream_close(struct input_file *f);

#endif
