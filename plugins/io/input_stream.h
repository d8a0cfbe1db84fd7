/* input_stream.h: a pipe, presented as a mapped file that grows.
 *
 * The bytes are read in order into a reserved range of addresses. Pages take memory when bytes arrive; released pages
 * are freed. Data move only when input_stream_restart uses the range again from its begin, so that a stream may be of
 * any length; offsets are then offsets from the new begin. */
#ifndef IO_INPUT_STREAM_H
#define IO_INPUT_STREAM_H

#include "input_file.h"

/* Opens the stream of a non-blocking pipe and takes over `descriptor`: 0, or SL_EIO with the reason. Fails if no writer
 * opens the pipe within one second. */
int input_stream_open(struct input_file *f, int descriptor, char *reason, uint32_t reason_size);
enum { INPUT_STREAM_LATER, INPUT_STREAM_MORE };
/* Reads until `size` is at least `bytes` or the stream ends (has_ended): INPUT_STREAM_MORE. Returns INPUT_STREAM_LATER,
 * with the bytes read so far, after half a second without data or after a signal. Returns SL_EIO with the reason on
 * failure. */
int input_stream_read(struct input_file *f, uint64_t bytes, char *reason, uint32_t reason_size);
/* Frees the memory of the bytes before `offset`, which must not be read any more. */
void input_stream_release(struct input_file *f, uint64_t offset);
/* If the range has no room for `bytes` more, or if much of it was used, moves the bytes from `offset` on to its begin;
 * the bytes before `offset` are lost. Returns the number of bytes by which they were moved: `offset`, or 0. */
uint64_t input_stream_restart(struct input_file *f, uint64_t offset, uint64_t bytes);
void input_stream_close(struct input_file *f);

#endif
