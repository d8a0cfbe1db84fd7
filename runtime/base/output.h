/* output.h: the layer under every output file; an incomplete file never looks complete.
 *
 * A file is written next to its target as TARGET.part, or .part2 and so on if that exists, and renamed when it is
 * complete and on disk. The temporary file is always new: files left by other runs, and links, are not touched. A lock
 * on it identifies the writer; a second run with the same target is refused while the first is writing. If the target
 * is a link, the file that it points to is replaced. Permissions of a replaced file are kept (file_access.h). If
 * NAME.part is too long for a file name, NAME is truncated and followed by its hash. Devices, FIFOs and standard output
 * are written directly and never replaced.
 *
 * Data is buffered; sl_output_mark marks the end of a whole event. If writing fails, or if the file is closed before
 * its end, it is truncated at the last mark, and a message reports the number of events in it; a file without events is
 * removed. After a flush, whole events survive the end of the process.
 *
 * Functions return SL_OK, or an error that they have reported with the file, the step and the reason; SL_ENOMEM is
 * reported by the caller. A file is used by one thread at a time.
 */
#ifndef SL_OUTPUT_H
#define SL_OUTPUT_H

#include <sluice/plugin.h>

#include <stdatomic.h>
#include <sys/types.h>

/* Type of `message` in struct sl_services. */
typedef void sl_output_report(void *context, uint32_t severity, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

enum {
  SL_OUTPUT_NO_WAIT = 0x100 /* a FIFO without a reader is an error; further flags: sluice/services.h */
};

/* Opens TARGET.part. `say` and `context` are used until the file is closed. */
int sl_output_open(const char *path, uint32_t flags, sl_output_report *say, void *context, struct sl_output **file);
/* A pipe waits for its reader, with a note after one second, until `stop` is set or, if `stop` is NULL, until a signal
 * arrives. Then a warning is reported, the file is not open, and the result is SL_EINTERRUPTED. */
int sl_output_open_unless(const atomic_int *stop, const char *path, uint32_t flags, sl_output_report *say,
                          void *context, struct sl_output **file);
/* A receiver of whole events in place of a file. Functions return SL_OK, or an error that they have reported; SL_ENOMEM
 * is reported by the caller. */
struct sl_output_transport {
  int (*send)(void *transport, const void *data, uint64_t bytes, uint64_t events);
  int (*finish)(void *transport);
  void (*close)(void *transport); /* without `finish` before it, the run has failed */
};
/* Opens an output over a transport: all data up to a mark is sent when the buffer is full and with each flush. With
 * SL_OK, `transport` is closed by sl_output_close. */
int sl_output_open_over(const struct sl_output_transport *calls, void *transport, const char *name,
                        sl_output_report *say, void *context, struct sl_output **file);
void *sl_output_context(const struct sl_output *f);

/* A file that is complete and on the disk, under its temporary name. */
struct sl_output_complete {
  char *part, *target; /* owned; NULL: nothing to rename */
  dev_t device;
  ino_t inode;
};
/* Renames the file to its final name. */
int sl_output_publish(const struct sl_output_complete *file, sl_output_report *say, void *context);
void sl_output_complete_free(struct sl_output_complete *file);
/* Like sl_output_finish, but `complete`, if not NULL, gets the file, for sl_output_publish. */
int sl_output_finish_to(struct sl_output *f, struct sl_output_complete *complete);
/* Ends the file like sl_output_finish_to, and begins the file `path` under the same handle. Regular files only. */
int sl_output_next(struct sl_output *f, const char *path, struct sl_output_complete *complete);
/* 1 if it is a regular file, which gets its name when it is complete; 0: a stream or device. */
int sl_output_is_file(const struct sl_output *f);
/* Ends the use of a stream without an end for its receiver: writes all added data, and moves the stream to a new handle
 * with the same `say` and `context`. Not for regular files. */
int sl_output_hand_over(struct sl_output *f, struct sl_output **next);
uint64_t sl_output_file_bytes(const struct sl_output *f); /* of the present file */

/* The functions of struct sl_output_calls. */
const char *sl_output_path(const struct sl_output *f);
uint64_t sl_output_bytes(const struct sl_output *f);
uint64_t sl_output_room(const struct sl_output *f);
int sl_output_reserve(struct sl_output *f, uint64_t bytes, void **memory);
void sl_output_trim(struct sl_output *f, uint64_t bytes);
int sl_output_add(struct sl_output *f, const void *data, uint64_t bytes);
void sl_output_mark(struct sl_output *f, uint64_t events);
int sl_output_flush(struct sl_output *f);
int sl_output_fail(struct sl_output *f, const char *step, const char *reason);
int sl_output_finish(struct sl_output *f);
void sl_output_close(struct sl_output *f);
/* Table of these functions, with three of them replaceable. */
#define SL_OUTPUT_CALLS(open_function, finish_function, rotate_function)                                             \
  {                                                                                                                  \
    .size = sizeof(struct sl_output_calls), .open = open_function, .path = sl_output_path, .bytes = sl_output_bytes, \
    .room = sl_output_room, .reserve = sl_output_reserve, .trim = sl_output_trim, .add = sl_output_add,              \
    .mark = sl_output_mark, .flush = sl_output_flush, .fail = sl_output_fail, .finish = finish_function,             \
    .rotate = rotate_function, .close = sl_output_close                                                              \
  }
/* Table for services outside of a run. */
extern const struct sl_output_calls sl_output_calls_plain;

/* Sets the plural noun for the marked units in messages; default: "events". */
void sl_output_counts(struct sl_output *f, const char *things);
int sl_output_print(struct sl_output *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Use instead of sl_output_finish if the run ended early: writes all added data, keeps the temporary name, and reports
 * a warning with the reason. */
int sl_output_keep(struct sl_output *f, const char *why);

#endif
