/* mdf_stream.c: see mdf_stream.h.
 *
 * 1. Find the records of a window by their headers. A window ends with its file, with the first pass, or where a pipe
 *    has no more data: no record waits for a window to fill.
 * 2. Workers verify and decompress them (mdf_ahead.h).
 * 3. Deliver them in order. If damaged contents show that the length in a header is wrong, the later records of the
 *    window are dropped, and searched again from the corrected end.
 * Records with a wrong checksum are remembered in the first pass, and fail in every pass.
 * Pipe: later bytes may change how the last bytes are read. A record at the end of the available bytes is therefore
 * dropped and read again when more bytes have arrived, until it is the record that a file would have. The result does
 * not depend on how the bytes of a pipe are divided. */
#include "mdf_stream.h"

#include "format/mdf_walk.h"
#include "format/mep.h"
#include "input_stream.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PROBE_BYTES = 1 << 20 }; /* a record or packet must begin in these bytes of a pipe */

/* -------------------------------------------------------------------------------------------------- opening */

static int lost(const struct sl_services *s, const char *name, uint64_t size, uint64_t left) {
  if (left < size)
    s->message(s->context, SL_ERROR, "%s: shrank from %" PRIu64 " to %" PRIu64 " bytes while it was being read", name,
               size, left);
  else
    s->message(s->context, SL_ERROR, "%s: could not be read to its end: %s", name, strerror(EIO));
  return SL_EIO;
}

/* Returns the requested range of a file; NULL: the whole file. */
static const struct sl_input_range *range_of(const struct mdf_stream *m, uint32_t file) {
  return m->inputs.ranges ? &m->inputs.ranges[file] : NULL;
}

/* Returns 1 if the pipe is already open: the two would share its bytes. */
static int is_open_already(const struct mdf_stream *m, uint32_t file, const struct input_file *pipe) {
  struct stat new_one, other;
  for (uint32_t i = 0; i < file; i++)
    if (m->files[i].pipe.is_stream && fstat(pipe->descriptor, &new_one) == 0 &&
        fstat(m->files[i].pipe.descriptor, &other) == 0 && new_one.st_dev == other.st_dev &&
        new_one.st_ino == other.st_ino)
      return 1;
  return 0;
}

/* Returns 1 if the first bytes of the pipe contain a record or packet, whatever follows. A bare packet may belong to a
 * record with a damaged header; then the first MiB decides. */
static int is_recognised(struct mdf_stream *m, uint32_t file) {
  const struct input_file *pipe = &m->files[file].pipe;
  uint32_t *is_bare = &m->files[file].is_bare;
  if (!mdf_walk_recognise(pipe->data, pipe->size, m->data_type, is_bare)) return 0;
  return !*is_bare || mdf_load_u16(pipe->data) == MEP_MAGIC || pipe->has_ended || pipe->size >= PROBE_BYTES;
}

/* Waits for the first bytes of a pipe and checks them. The pipe stays open, because it can be read only once. */
static int inspect_pipe(struct mdf_stream *m, const struct sl_services *s, uint32_t file, struct input_file *pipe) {
  const char *name = m->inputs.names[file];
  const int is_part = mdf_range_is_part(range_of(m, file));
  const int is_twice = is_open_already(m, file, pipe);
  char reason[128];
  struct input_file *stored = &m->files[file].pipe;
  *stored = *pipe;
  m->has_pipe = 1;
  if (is_twice || m->pass_count > 1) {
    s->message(s->context, SL_ERROR, "%s: is a pipe, which can be read only once", name);
    return SL_EINVAL;
  }
  if (is_part) {
    s->message(s->context, SL_ERROR, "%s: is a pipe, which has no ranges: it is read from beginning to end", name);
    return SL_EINVAL;
  }
  int status = INPUT_STREAM_MORE, known = 0;
  while (status >= 0 && !(known = is_recognised(m, file)) && !stored->has_ended && stored->size < PROBE_BYTES)
    status = input_stream_read(stored, stored->size + 1, reason, sizeof reason);
  m->pass_bytes += stored->size;
  if (status < 0) {
    s->message(s->context, SL_ERROR, "%s: %s", name, reason);
    return status;
  }
  if (stored->size == 0) {
    s->message(s->context, SL_WARNING, "%s: is empty", name);
  } else if (!known) {
    s->message(s->context, SL_ERROR,
               "%s: no %s header in the first %" PRIu64 " bytes of this pipe; --use names another source", name,
               m->data_type == MDF_DATA_MEP ? "packet" : "record", stored->size);
    return SL_EFORMAT;
  }
  return SL_OK;
}

/* Checks an input: 0 if it can be read or is empty. */
static int inspect_file(struct mdf_stream *m, const struct sl_services *s, uint32_t file) {
  const char *name = m->inputs.names[file];
  struct input_file mapping;
  char reason[128];
  const int error = input_file_open(&mapping, m->inputs.paths[file], reason, sizeof reason);
  if (error) {
    s->message(s->context, SL_ERROR, "%s: %s", name, reason);
    return error;
  }
  if (mapping.is_stream) return inspect_pipe(m, s, file, &mapping);
  const uint64_t size = mapping.size;
  const int known = size == 0 || mdf_walk_recognise(mapping.data, size, m->data_type, &m->files[file].is_bare);
  struct mdf_range *range = &m->files[file].range;
  const int wrong = known ? mdf_range_find(range, s, name, &mapping, m->files[file].is_bare, range_of(m, file)) : SL_OK;
  const int is_lost = input_file_recheck(&mapping);
  const uint64_t left = mapping.size;
  input_file_close(&mapping);
  if (is_lost) return lost(s, name, size, left);
  if (wrong) return wrong;
  if (!known) {
    s->message(s->context, SL_ERROR, "%s: is not %s file: no %s header in its %" PRIu64 " bytes", name,
               m->data_type == MDF_DATA_MEP ? "a MEP" : "an MDF", m->data_type == MDF_DATA_MEP ? "packet" : "record",
               size);
    return SL_EFORMAT;
  }
  if (range->end == 0) range->end = size;
  m->files[file].bytes = size;
  m->pass_bytes += range->end - range->begin;
  if (size == 0) s->message(s->context, SL_WARNING, "%s: is empty", name);
  return SL_OK;
}

int mdf_stream_open(struct mdf_stream *m, const struct sl_services *s, const struct sl_inputs *inputs,
                    uint32_t data_type, const struct mdf_stream_args *args, const struct mdf_inspector *inspector) {
  *m = (struct mdf_stream){.inputs = *inputs,
                           .verify_checksums = args->checksum != 0,
                           .data_type = data_type,
                           .pass_count = args->passes,
                           .uncompressed_bytes = args->uncompressed_bytes};
  m->mapping.descriptor = -1;
  if (mdf_ahead_open(&m->ahead, s->workers, inspector) < 0) return SL_ENOMEM;
  if (inputs->path_count == 0) {
    s->message(s->context, SL_ERROR, "no input file is given");
    return SL_EINVAL;
  }
  m->files = (struct mdf_input *)calloc(inputs->path_count, sizeof *m->files);
  if (!m->files) return SL_ENOMEM;
  int worst = SL_OK;
  for (uint32_t file = 0; file < inputs->path_count; file++) {
    const int error = inspect_file(m, s, file);
    if (error && !worst) worst = error;
  }
  if (worst || m->pass_bytes != 0) return worst;
  s->message(s->context, SL_ERROR, "all input files are empty");
  return SL_EFORMAT;
}

void mdf_stream_close(struct mdf_stream *m) {
  if (m->is_open) input_file_close(&m->mapping);
  mdf_ahead_close(&m->ahead);
  for (uint32_t file = 0; m->files && file < m->inputs.path_count; file++) {
    free(m->files[file].bad_offsets);
    if (m->files[file].pipe.is_stream) input_file_close(&m->files[file].pipe);
  }
  free(m->files);
  *m = (struct mdf_stream){0};
}

/* ------------------------------------------------------------------------------------------- file after file */

static void start_file(struct mdf_stream *m) {
  const struct mdf_range *range = &m->files[m->file].range;
  m->reader = mdf_reader_start(m->mapping.data, m->mapping.size);
  m->reader.offset = range->begin;
  m->record_count = range->first_record;
  m->done_bytes -= range->begin; /* the offset of the reader is added to it */
  m->gone_bytes = 0;
}

/* Returns the end of the current range, or of the available bytes of a pipe. */
static uint64_t end_of_file(const struct mdf_stream *m) {
  return m->mapping.is_stream ? m->reader.size : m->files[m->file].range.end;
}

static void start_pipe(struct mdf_stream *m) {
  m->mapping = m->files[m->file].pipe;
  m->files[m->file].pipe.is_stream = 0; /* closed together with the mapping */
  m->is_open = 1;
  start_file(m);
}

static int open_file(struct mdf_stream *m, const struct sl_services *s) {
  char reason[128];
  if (m->files[m->file].pipe.is_stream) {
    start_pipe(m);
    return SL_OK;
  }
  const int error = input_file_open(&m->mapping, m->inputs.paths[m->file], reason, sizeof reason);
  if (error) {
    s->message(s->context, SL_ERROR, "%s: %s", m->inputs.names[m->file], reason);
    return error;
  }
  m->is_open = 1;
  const uint64_t size = m->files[m->file].bytes;
  if (m->mapping.size < size) return lost(s, m->inputs.names[m->file], size, m->mapping.size);
  m->mapping.size = size; /* the file may have grown since the start */
  start_file(m);
  return SL_OK;
}

int mdf_stream_check(struct mdf_stream *m, const struct sl_services *s) {
  if (m->is_lost) return SL_EIO;
  if (!m->is_open || !input_file_recheck(&m->mapping)) return SL_OK;
  m->is_lost = 1;
  return lost(s, m->inputs.names[m->file], m->files[m->file].bytes, m->mapping.size);
}

/* Advances to the next file or pass. A single file stays mapped between passes: a new mapping costs more than reading
 * the file. */
static int finish_file(struct mdf_stream *m, const struct sl_services *s) {
  const int error = mdf_stream_check(m, s);
  if (error) return error;
  m->done_bytes += end_of_file(m);
  if (m->inputs.path_count == 1 && m->pass + 1 < m->pass_count) {
    m->pass++;
    start_file(m);
    return SL_OK;
  }
  input_file_close(&m->mapping);
  m->is_open = 0;
  if (++m->file < m->inputs.path_count) return SL_OK;
  m->file = 0;
  m->pass++;
  return SL_OK;
}

/* Makes room for `bytes` more of a pipe. The window is empty. */
static void restart_mapping(struct mdf_stream *m, uint64_t bytes) {
  const uint64_t moved = input_stream_restart(&m->mapping, m->reader.offset, bytes);
  m->reader.offset -= moved;
  m->reader.size -= moved;
  m->gone_bytes += moved;
  m->done_bytes += moved;
}

/* Reads `bytes` more from a pipe, or less if it pauses: 1 if data arrived or the pipe has ended, MDF_STREAM_LATER, or
 * an error. */
static int read_more(struct mdf_stream *m, const struct sl_services *s, uint64_t bytes) {
  char reason[128];
  restart_mapping(m, bytes);
  const int status = input_stream_read(&m->mapping, m->mapping.size + bytes, reason, sizeof reason);
  if (status < 0) {
    m->is_lost = 1;
    s->message(s->context, SL_ERROR, "%s: %s", m->inputs.names[m->file], reason);
    return status;
  }
  const int is_later = status == INPUT_STREAM_LATER && m->mapping.size == m->reader.size;
  mdf_reader_extend(&m->reader, m->mapping.size);
  return is_later ? MDF_STREAM_LATER : 1;
}

/* Returns 1, 0 after the last pass, MDF_STREAM_LATER, or an error. */
static int find_file(struct mdf_stream *m, const struct sl_services *s) {
  while (m->pass < m->pass_count) {
    if (!m->is_open) {
      const int error = open_file(m, s);
      if (error) return error;
    }
    if (m->reader.offset < end_of_file(m)) return 1;
    const int is_over = !m->mapping.is_stream || m->mapping.has_ended;
    const int status = is_over ? finish_file(m, s) : read_more(m, s, 1);
    if (status < 0 || status == MDF_STREAM_LATER) return status;
  }
  return 0;
}

uint64_t mdf_stream_position(const struct mdf_stream *m) { return m->position; }

/* ------------------------------------------------------------------------------------------------- checksums */

static int remember_bad(struct mdf_input *file, uint64_t offset) {
  if (file->bad_count == file->bad_capacity) {
    const uint32_t capacity = file->bad_capacity ? 2 * file->bad_capacity : 16;
    uint64_t *larger = (uint64_t *)realloc(file->bad_offsets, capacity * sizeof *larger);
    if (!larger) return SL_ENOMEM;
    file->bad_offsets = larger;
    file->bad_capacity = capacity;
  }
  file->bad_offsets[file->bad_count++] = offset;
  return SL_OK;
}

static int is_remembered(const struct mdf_input *file, uint64_t offset) {
  uint32_t low = 0, high = file->bad_count;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (file->bad_offsets[middle] < offset)
      low = middle + 1;
    else
      high = middle;
  }
  return low < file->bad_count && file->bad_offsets[low] == offset;
}

/* Returns 1 if no checksum is verified, so that only the contents show whether the length is wrong. */
static uint32_t is_to_be_walked(const struct mdf_stream *m, const struct mdf_record *record) {
  if (m->files[m->file].is_bare || record->is_verified || record->fault.kind != MDF_FAULT_NONE) return 0;
  return record->checksum == 0 || !m->verify_checksums;
}

/* Returns 1 if the checksum must be verified; after the first pass, only for records that failed in it. */
static uint32_t is_to_be_hashed(const struct mdf_stream *m, const struct mdf_record *record) {
  if (!m->verify_checksums || record->checksum == 0 || record->fault.kind != MDF_FAULT_NONE) return 0;
  return m->pass == 0 || is_remembered(&m->files[m->file], record->offset);
}

/* ---------------------------------------------------------------------------------------------------- bodies */

/* Reports a wrong expansion factor once. Writers often store a factor that is too small, mostly 0; the body is still
 * read. */
static void check_hint(struct mdf_stream *m, const struct sl_services *s, const struct mdf_ahead_record *r) {
  const struct mdf_record *record = &r->event.record;
  const uint64_t hint = (record->expansion + 1u) * (record->bytes - record->header_bytes);
  const uint32_t bytes = r->block.uncompressed_bytes;
  if (bytes <= hint || m->is_hint_wrong) return;
  m->is_hint_wrong = 1;
  s->message(s->context, SL_WARNING,
             "%s: record at byte %" PRIu64 ": its header gives at most %" PRIu64 " bytes uncompressed (factor %" PRIu32
             "), but the body has %" PRIu32 "; the factor is only a hint, and further wrong factors are not reported",
             m->inputs.names[m->file], r->event.offset, hint, record->expansion + 1, bytes);
}

/* Checks the headers of the body and returns its uncompressed size, or sets body_fault. */
static uint64_t measure_body(const struct mdf_stream *m, struct mdf_ahead_record *r) {
  const struct mdf_record *record = &r->event.record;
  const uint8_t *body = m->reader.data + record->offset + record->header_bytes;
  const uint64_t body_bytes = record->bytes - record->header_bytes;
  r->body_fault = (struct mdf_fault){0};
  r->block = (struct mdf_block){0};
  if (record->fault.kind != MDF_FAULT_NONE) return 0;
  if (!mdf_walk_has_type(record, m->data_type, m->files[m->file].is_bare, body)) {
    r->body_fault = (struct mdf_fault){MDF_FAULT_DATA_TYPE, 0, 0, record->data_type, m->data_type, 0};
  } else if (record->compression > MDF_COMPRESSION_MAX) {
    r->body_fault = (struct mdf_fault){MDF_FAULT_COMPRESSION, 0, 0, record->compression, 0, 0};
  } else if (record->compression != 0) {
    struct mdf_block block;
    if (mdf_block_check(body, body_bytes, m->uncompressed_bytes, &block, &r->body_fault) < 0) return 0;
    r->block = block;
    return block.uncompressed_bytes;
  }
  /* Packets are not inspected in advance, and take no memory here. */
  return r->body_fault.kind == MDF_FAULT_NONE && m->data_type != MDF_DATA_MEP ? body_bytes : 0;
}

uint64_t mdf_stream_length(const struct mdf_stream *m) { return m->has_pipe ? 0 : m->pass_bytes * m->pass_count; }

/* -------------------------------------------------------------------------------------------------- windows */

static struct mdf_checkpoint checkpoint_of(const struct mdf_stream *m) {
  return (struct mdf_checkpoint){m->reader.offset, m->reader.verify_bytes, m->record_count, m->done_bytes, m->pass, 0};
}

/* Returns to a checkpoint in the same file. */
static void rewind_to(struct mdf_stream *m, const struct mdf_checkpoint *checkpoint) {
  m->reader.offset = checkpoint->offset;
  m->reader.verify_bytes = checkpoint->verify_bytes;
  m->record_count = checkpoint->record_count;
  m->done_bytes = checkpoint->done_bytes;
  m->pass = checkpoint->pass;
}

/* Returns 1 if there is a record that needs neither another file nor waiting. Later passes over a single file are
 * continuous. */
static int has_more_at_hand(struct mdf_stream *m, const struct sl_services *s) {
  if (m->reader.offset < end_of_file(m)) return 1;
  if (m->pass == 0 || m->inputs.path_count > 1 || m->pass + 1 >= m->pass_count) return 0;
  return finish_file(m, s) == SL_OK;
}

/* The number of bytes of a pipe that must still arrive before the last record is certain to be the record that a file
 * would have; 0: it is certain. A record with a right checksum is certain when it is whole, any other record when the
 * next header has arrived. */
static uint64_t missing_bytes(const struct mdf_stream *m, const struct mdf_record *record) {
  const struct mdf_reader *reader = &m->reader;
  const uint64_t after = reader->size - reader->offset;
  if (reader->awaited > reader->size) return reader->awaited - reader->size;
  if (after >= MDF_GENERIC_HEADER_BYTES || (record->is_verified && record->checksum != 0)) return 0;
  return record->fault.kind == MDF_FAULT_NONE ? MDF_GENERIC_HEADER_BYTES - after : record->bytes;
}

/* Reads the next record: 1, MDF_STREAM_LATER, or an error. An undecided record of a pipe is awaited, or gives
 * MDF_STREAM_LATER if `may_wait` is 0. A verified record without checksum is also accepted if no data follow for a
 * while. */
static int find_record(struct mdf_stream *m, const struct sl_services *s, int may_wait, struct mdf_record *record) {
  for (int is_silent = 0;;) {
    const struct mdf_reader before = m->reader;
    m->reader.is_partial = m->mapping.is_stream && !m->mapping.has_ended;
    (void)mdf_walk_next(&m->reader, m->files[m->file].is_bare, record);
    const uint64_t missing = m->reader.is_partial ? missing_bytes(m, record) : 0;
    const int is_settled = record->is_verified && m->reader.awaited <= m->reader.size;
    if (missing == 0 || (is_silent && is_settled)) return 1;
    m->reader = before;
    const int status = may_wait ? read_more(m, s, missing) : MDF_STREAM_LATER;
    is_silent = status == MDF_STREAM_LATER;
    if (status < 0 || (is_silent && !(may_wait && is_settled))) return status;
  }
}

static int pass_end(const struct mdf_stream *m, const struct sl_services *s, const struct mdf_record *record) {
  s->message(s->context, SL_ERROR,
             "%s: the range ends at byte %" PRIu64 ", within the record from byte %" PRIu64 " to %" PRIu64
             "; end it at one of these bytes",
             m->inputs.names[m->file], end_of_file(m), record->offset, record->offset + record->bytes);
  return SL_EFORMAT;
}

/* Adds the next record to the window, with *bytes of bodies so far: values of find_record. A range that ends within a
 * record is reported if the window is empty, otherwise by the next call. */
static int add_record(struct mdf_stream *m, const struct sl_services *s, uint64_t *bytes) {
  struct mdf_ahead *a = &m->ahead;
  struct mdf_ahead_record *r = &a->records[a->count];
  r->event = (struct mdf_stream_event){.number = m->record_count, .file = m->file, .pass = m->pass, .index = a->count};
  const int found = find_record(m, s, a->count == 0, &r->event.record);
  if (found != 1) return found;
  const int is_past = !m->mapping.is_stream && m->reader.offset > end_of_file(m);
  if (is_past) mdf_walk_check(&m->reader, m->files[m->file].is_bare, &r->event.record);
  if (is_past && m->reader.offset > end_of_file(m)) {
    m->reader.offset = r->event.record.offset;
    return a->count == 0 ? pass_end(m, s, &r->event.record) : SL_EFORMAT;
  }
  r->event.offset = m->gone_bytes + r->event.record.offset;
  m->record_count++;
  r->is_hashed = is_to_be_hashed(m, &r->event.record);
  r->is_walked = is_to_be_walked(m, &r->event.record);
  r->bytes_before = *bytes;
  r->after = checkpoint_of(m);
  *bytes += measure_body(m, r);
  a->count++;
  return 1;
}

/* Returns the largest number of records of the next window. Packets are large, so a few per worker suffice; bare
 * packets have no checksums and need no work in advance. */
static uint32_t window_records(struct mdf_stream *m) {
  enum { PACKETS = MDF_HASH_LANES };
  struct mdf_ahead *a = &m->ahead;
  const uint32_t limit = a->limit, packets = PACKETS * a->worker_count;
  a->limit = limit < a->capacity / 2 ? 2 * limit : a->capacity;
  if (m->data_type != MDF_DATA_MEP) return limit;
  return m->files[m->file].is_bare ? 1 : limit < packets ? limit : packets;
}

/* Prepares the next window: 1, 0 after the last pass, MDF_STREAM_LATER, or an error. */
static int prepare_window(struct mdf_stream *m, const struct sl_services *s) {
  struct mdf_ahead *a = &m->ahead;
  const uint64_t bytes_max = (uint64_t)MDF_WINDOW_BYTES * a->worker_count;
  a->next = a->count = 0;
  if (m->is_open && m->mapping.is_stream) input_stream_release(&m->mapping, m->reader.offset);
  const int found = find_file(m, s);
  m->position = m->done_bytes + (m->is_open ? m->reader.offset : 0);
  if (found != 1) return found;
  const uint64_t left = m->mapping.is_stream ? 0 : end_of_file(m) - m->reader.offset;
  input_file_populate(&m->mapping, s, m->reader.offset, left < bytes_max ? left : bytes_max);
  uint64_t bytes = 0;
  const int first = add_record(m, s, &bytes);
  if (first != 1) return first;
  const uint32_t records = window_records(m);
  while (a->count < records && bytes < bytes_max && has_more_at_hand(m, s)) {
    const uint64_t bytes_before = bytes;
    if (add_record(m, s, &bytes) != 1) break;
    if (bytes > bytes_max) { /* the record begins the next window */
      bytes = bytes_before;
      a->count--;
      rewind_to(m, &a->records[a->count - 1].after);
      break;
    }
  }
  if (mdf_ahead_work(a, s, m->reader.data, bytes) == SL_OK) return 1;
  a->count = 0;
  s->message(s->context, SL_ERROR, "%s: out of memory", m->inputs.names[m->file]);
  return SL_ENOMEM;
}

/* The contents are damaged: the record ends early if another record begins within it. */
static int cut_damaged(struct mdf_stream *m, struct mdf_ahead_record *r) {
  struct mdf_ahead *a = &m->ahead;
  const struct mdf_checkpoint end_of_window = checkpoint_of(m);
  if (r->event.pass == 0 && m->pass_count > 1 && r->event.record.fault.kind == MDF_FAULT_CHECKSUM &&
      remember_bad(&m->files[m->file], r->event.record.offset))
    return SL_ENOMEM;
  rewind_to(m, &r->after);
  mdf_cut_damaged(&m->reader, &r->event.record);
  if (m->reader.offset == r->after.offset && m->reader.verify_bytes == r->after.verify_bytes) {
    rewind_to(m, &end_of_window);
    return SL_OK;
  }
  if (r->event.record.fault.kind == MDF_FAULT_SKIPPED) r->event.body = NULL; /* it was shortened */
  r->after = checkpoint_of(m);
  a->count = a->next;
  a->limit = 1; /* limits the work if all records of a file are like this */
  return SL_OK;
}

int mdf_stream_next(struct mdf_stream *m, const struct sl_services *s, const struct mdf_stream_event **event) {
  if (mdf_stream_is_drained(m)) {
    const int found = prepare_window(m, s);
    if (found != 1) return found;
  }
  struct mdf_ahead_record *r = &m->ahead.records[m->ahead.next++];
  struct mdf_record *record = &r->event.record;
  *event = &r->event;
  int error = r->is_damaged ? cut_damaged(m, r) : SL_OK;
  m->position = r->after.done_bytes + r->after.offset;
  if (error || record->fault.kind == MDF_FAULT_MEMORY) {
    s->message(s->context, SL_ERROR, "%s: out of memory", m->inputs.names[m->file]);
    return SL_ENOMEM;
  }
  if (r->event.body && record->compression != 0) check_hint(m, s, r);
  /* If bytes of the file were lost, the record itself is not at fault. */
  if (record->fault.kind != MDF_FAULT_NONE) error = mdf_stream_check(m, s);
  return error ? error : 1;
}
