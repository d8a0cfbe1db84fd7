/* output.h: the layer under every file that is written; no file of ours claims more than it holds.
 *
 * A file is written beside its target as TARGET.part, or .part2 and so on where that is taken, and gets its name when
 * it is whole and on the disk. The temporary is always a new file: what another run left, or a link that somebody put
 * there, is not touched. A lock on it names the writer; a second run for the same target is refused while the first is
 * at work. A link leads to the target; the link stays. A replaced file's permissions are kept (file_access.h).
 * Where NAME.part is longer than a name may be, NAME is cut, and a hash of it follows.
 *
 * What is no regular file (a device, a FIFO, standard output) is written as it is, and never replaced.
 *
 * What is added is buffered; sl_output_mark says that it ends with a whole event. Where writing fails, and where a file
 * is closed before its end, it is cut back to the last such place, and the message says how many events that are. A
 * file without any is removed. Once flushed, whole events outlive the process.
 *
 * Functions return SL_OK, or an error that they have reported with the file, the step and the reason; SL_ENOMEM is left
 * to the caller to report. A file is used by one thread at a time.
 */
#ifndef SL_OUTPUT_H
#define SL_OUTPUT_H

#include <sluice/plugin.h>

#include <stdatomic.h>

/* As in sl_services. */
typedef void sl_output_say(void *context, uint32_t severity, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

enum {
  SL_OUTPUT_NO_WAIT = 0x100 /* a FIFO that nobody reads is an error; beside the flags of plugin.h */
};

/* Opens TARGET.part. `say` and `context` are used until the file is closed. */
int sl_output_open(const char *path, uint32_t flags, sl_output_say *say, void *context, struct sl_output **file);
/* A pipe waits for its reader, with a note after a second, until `stop` is set, or, without one, a signal comes: then
 * the file is not open, a warning says so, and it is SL_EINTERRUPTED. */
int sl_output_open_unless(const atomic_int *stop, const char *path, uint32_t flags, sl_output_say *say, void *context,
                          struct sl_output **file);
void *sl_output_context(const struct sl_output *f);

/* The functions of struct sl_output_calls. */
const char *sl_output_place(const struct sl_output *f);
uint64_t sl_output_bytes(const struct sl_output *f);
uint64_t sl_output_room(const struct sl_output *f);
int sl_output_reserve(struct sl_output *f, uint64_t bytes, void **place);
void sl_output_trim(struct sl_output *f, uint64_t bytes);
int sl_output_add(struct sl_output *f, const void *data, uint64_t bytes);
void sl_output_mark(struct sl_output *f, uint64_t events);
int sl_output_flush(struct sl_output *f);
int sl_output_fail(struct sl_output *f, const char *step, const char *reason);
int sl_output_finish(struct sl_output *f);
void sl_output_close(struct sl_output *f);
/* Their table, where two of them may be others. */
#define SL_OUTPUT_CALLS(open_function, finish_function)                                                                \
  {                                                                                                                    \
    .size = sizeof(struct sl_output_calls), .open = open_function, .place = sl_output_place, .bytes = sl_output_bytes, \
    .room = sl_output_room, .reserve = sl_output_reserve, .trim = sl_output_trim, .add = sl_output_add,                \
    .mark = sl_output_mark, .flush = sl_output_flush, .fail = sl_output_fail, .finish = finish_function,               \
    .close = sl_output_close                                                                                           \
  }
/* For services outside of a run. */
extern const struct sl_output_calls sl_output_calls_plain;

/* What marks count, in messages, if not "events". */
void sl_output_counts(struct sl_output *f, const char *things);
int sl_output_print(struct sl_output *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* In the place of sl_output_finish, where the run ended before its time: what was added is written, under the name of
 * the temporary, and a warning says so, and why. */
int sl_output_keep(struct sl_output *f, const char *why);

#endif
