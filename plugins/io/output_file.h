/* output_file.h: an output file that never claims more than it holds.
 *
 * A file is written as PATH.part and gets its name when it is finished. What is added is buffered; output_file_mark
 * says that it ends with a whole event. When the disk is full, the file is cut back to the last such place. When the
 * process is killed, PATH.part holds all events but those of the last buffer, and perhaps a part of one, which readers
 * report. A path that is no regular file (a device, a pipe) is written as it is.
 */
#ifndef IO_OUTPUT_FILE_H
#define IO_OUTPUT_FILE_H

#include <sluice/plugin.h>

#include <stddef.h>

struct output_file {
  int descriptor;
  uint32_t is_renamed; /* `part` becomes `path` at the end */
  char *path, *part;
  uint8_t *buffer;
  size_t used, capacity;
  uint64_t written_bytes;               /* handed to the system */
  uint64_t marked_bytes, marked_events; /* up to the last mark, which may lie in the buffer */
  uint64_t whole_bytes, whole_events;   /* up to the last mark that was written */
};

/* Opens PATH.part. The functions return SL_OK, or an error that they have reported with the file, the step and the
 * reason. */
int output_file_open(struct output_file *f, const struct sl_services *s, const char *path);

/* Bytes that output_file_reserve can still give without writing what it gave before. */
static inline size_t output_file_room(const struct output_file *f) { return f->capacity - f->used; }
/* Contiguous bytes to be filled by the caller; what lies in the buffer before is written first if there is no room. */
int output_file_reserve(struct output_file *f, const struct sl_services *s, size_t bytes, uint8_t **place);
int output_file_add(struct output_file *f, const struct sl_services *s, const void *data, size_t bytes);
/* What was added so far ends with a whole event; `events` more of them since the last mark. */
void output_file_mark(struct output_file *f, uint64_t events);
/* Writes the rest and gives the file its name. */
int output_file_finish(struct output_file *f, const struct sl_services *s);
/* Without output_file_finish: writes what it can of the rest, silently, and leaves PATH.part. */
void output_file_close(struct output_file *f);

#endif
