/* mdf_stream.c: see mdf_stream.h.
 *
 * Checksums are verified in the first pass only; the records that failed are remembered and fail in every pass. While
 * headers are sound, records are given to the hasher ahead of their turn, since it is fast only on many at a time.
 *
 * Of a pipe a part is there. What a reader makes of the bytes at its end may change with those to come: such a record
 * is taken back, and looked at again when there is more.
 */
#include "mdf_stream.h"

#include "input_stream.h"
#include "mep.h"
#include "mep_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* -------------------------------------------------------------------------------------------------- opening */

static int recognise(const struct mdf_stream *m, const struct input_file *mapping, uint32_t *is_bare) {
  const uint8_t *data = mapping->data;
  const uint64_t size = mapping->size;
  *is_bare = 0;
  if (m->data_type != MDF_DATA_MEP) return mdf_recognise(data, size);
  if ((size < 2 || mdf_load_u16(data) != MEP_MAGIC) && mdf_recognise(data, size)) return 1;
  *is_bare = mep_recognise(data, size) != 0;
  return (int)*is_bare;
}

static int lost(const struct sl_services *s, const char *name, uint64_t size, uint64_t left) {
  if (left < size)
    s->message(s->context, SL_ERROR, "%s: shrank from %" PRIu64 " to %" PRIu64 " bytes while it was being read", name,
               size, left);
  else
    s->message(s->context, SL_ERROR, "%s: could not be read to its end: %s", name, strerror(EIO));
  return SL_EIO;
}

/* The same pipe a second time would get what the first one does not. */
static int is_open_already(const struct mdf_stream *m, uint32_t file, const struct input_file *pipe) {
  struct stat new_one, other;
  for (uint32_t i = 0; i < file; i++)
    if (m->files[i].pipe.is_stream && fstat(pipe->descriptor, &new_one) == 0 &&
        fstat(m->files[i].pipe.descriptor, &other) == 0 && new_one.st_dev == other.st_dev &&
        new_one.st_ino == other.st_ino)
      return 1;
  return 0;
}

/* Waits for its first bytes. It stays open, since it cannot be read from its beginning again. */
static int inspect_pipe(struct mdf_stream *m, const struct sl_services *s, uint32_t file, struct input_file *pipe) {
  enum { PROBE_BYTES = 1 << 20 };
  const char *name = m->inputs.names[file];
  const int is_twice = is_open_already(m, file, pipe);
  char reason[128];
  struct input_file *kept = &m->files[file].pipe;
  *kept = *pipe;
  m->has_pipe = 1;
  if (is_twice || m->pass_count > 1) {
    s->message(s->context, SL_ERROR, "%s: is a pipe, and can be read once only", name);
    return SL_EINVAL;
  }
  int status = INPUT_STREAM_MORE, known = 0;
  while (status >= 0 && !(known = recognise(m, kept, &m->files[file].is_bare)) && !kept->has_ended &&
         kept->size < PROBE_BYTES)
    status = input_stream_read(kept, kept->size + 1, reason, sizeof reason);
  m->pass_bytes += kept->size;
  if (status < 0) {
    s->message(s->context, SL_ERROR, "%s: %s", name, reason);
    return status;
  }
  if (kept->size == 0) {
    s->message(s->context, SL_WARNING, "%s: is empty", name);
  } else if (!known) {
    s->message(s->context, SL_ERROR, "%s: no %s header in the first %" PRIu64 " bytes of this pipe; %s", name,
               m->data_type == MDF_DATA_MEP ? "packet" : "record", kept->size,
               "a pipe is read as MDF where --use does not name another source");
    return SL_EFORMAT;
  }
  return SL_OK;
}

/* 0 if the file can be read or is empty. */
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
  const int known = size == 0 || recognise(m, &mapping, &m->files[file].is_bare);
  const int is_lost = input_file_recheck(&mapping);
  const uint64_t left = mapping.size;
  input_file_close(&mapping);
  if (is_lost) return lost(s, name, size, left);
  if (!known) {
    s->message(s->context, SL_ERROR, "%s: is not %s file: no %s header in its %" PRIu64 " bytes", name,
               m->data_type == MDF_DATA_MEP ? "a MEP" : "an MDF", m->data_type == MDF_DATA_MEP ? "packet" : "record",
               size);
    return SL_EFORMAT;
  }
  m->files[file].bytes = size;
  m->pass_bytes += size;
  if (size == 0) s->message(s->context, SL_WARNING, "%s: is empty", name);
  return SL_OK;
}

int mdf_stream_open(struct mdf_stream *m, const struct sl_services *s, const struct sl_inputs *inputs,
                    uint32_t data_type, const struct mdf_stream_args *args) {
  *m = (struct mdf_stream){
      .inputs = *inputs, .verify_checksums = args->checksum != 0, .data_type = data_type, .pass_count = args->passes};
  m->decompressor.limit = args->uncompressed_bytes;
  m->mapping.descriptor = -1;
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
  mdf_decompressor_free(&m->decompressor);
  for (uint32_t file = 0; m->files && file < m->inputs.path_count; file++) {
    free(m->files[file].bad_offsets);
    if (m->files[file].pipe.is_stream) input_file_close(&m->files[file].pipe);
  }
  free(m->files);
  *m = (struct mdf_stream){0};
}

/* ------------------------------------------------------------------------------------------- file after file */

static void start_file(struct mdf_stream *m) {
  m->reader = mdf_reader_start(m->mapping.data, m->mapping.size);
  m->record_count = m->ahead = 0;
  mdf_hasher_reset(&m->hasher);
}

static void start_pipe(struct mdf_stream *m) {
  m->mapping = m->files[m->file].pipe;
  m->files[m->file].pipe.is_stream = 0; /* it is closed with the mapping */
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
  m->mapping.size = size; /* it may have grown since the start */
  start_file(m);
  return SL_OK;
}

int mdf_stream_check(struct mdf_stream *m, const struct sl_services *s) {
  if (m->is_lost) return SL_EIO;
  if (!m->is_open || !input_file_recheck(&m->mapping)) return SL_OK;
  m->is_lost = 1;
  return lost(s, m->inputs.names[m->file], m->files[m->file].bytes, m->mapping.size);
}

/* On to the next file, or pass. A single file stays mapped from pass to pass: mapping it anew costs more than to read
 * it. */
static int finish_file(struct mdf_stream *m, const struct sl_services *s) {
  const int error = mdf_stream_check(m, s);
  if (error) return error;
  m->done_bytes += m->mapping.size;
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

/* Reads `bytes` more of a pipe, or what comes without a pause: 1 if anything came, or it has ended; else
 * MDF_STREAM_LATER, or an error. */
static int read_more(struct mdf_stream *m, const struct sl_services *s, uint64_t bytes) {
  char reason[128];
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

/* Goes on to a file with records left: 1, 0 after the last pass, MDF_STREAM_LATER, or an error. */
static int find_file(struct mdf_stream *m, const struct sl_services *s) {
  while (m->pass < m->pass_count) {
    if (!m->is_open) {
      const int error = open_file(m, s);
      if (error) return error;
    }
    if (m->reader.offset < m->reader.size) return 1;
    const int is_over = !m->mapping.is_stream || m->mapping.has_ended;
    const int status = is_over ? finish_file(m, s) : read_more(m, s, 1);
    if (status < 0 || status == MDF_STREAM_LATER) return status;
  }
  return 0;
}

uint64_t mdf_stream_position(const struct mdf_stream *m) { return m->done_bytes + (m->is_open ? m->reader.offset : 0); }

/* ------------------------------------------------------------------------------------------------- checksums */

static void hash_ahead(struct mdf_stream *m) {
  struct mdf_record record;
  while (!mdf_hasher_is_full(&m->hasher) && mdf_record_at(m->reader.data, m->reader.size, m->ahead, &record)) {
    if (record.checksum != 0)
      mdf_hasher_push(&m->hasher, record.offset, m->reader.data + record.offset + MDF_HASHED_FROM,
                      record.bytes - MDF_HASHED_FROM);
    m->ahead += record.bytes;
  }
}

static uint32_t record_hash(struct mdf_stream *m, const struct mdf_record *record) {
  uint32_t hash;
  hash_ahead(m);
  if (mdf_hasher_take(&m->hasher, record->offset, &hash)) return hash;
  /* After a place where headers were not sound. */
  mdf_hasher_reset(&m->hasher);
  m->ahead = record->offset;
  hash_ahead(m);
  (void)mdf_hasher_take(&m->hasher, record->offset, &hash);
  return hash;
}

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

static int verify_checksum(struct mdf_stream *m, struct mdf_record *record) {
  if (!m->verify_checksums || record->checksum == 0) return SL_OK;
  struct mdf_input *file = &m->files[m->file];
  uint32_t hash;
  if (m->pass == 0) {
    hash = record_hash(m, record);
    if (hash == record->checksum) return SL_OK;
    if (remember_bad(file, record->offset)) return SL_ENOMEM;
  } else {
    if (!is_remembered(file, record->offset)) return SL_OK;
    hash = mdf_checksum(m->reader.data + record->offset + MDF_HASHED_FROM, record->bytes - MDF_HASHED_FROM);
  }
  record->fault = (struct mdf_fault){MDF_FAULT_CHECKSUM, 0, 0, record->checksum, hash, 0};
  mdf_distrust(&m->reader, record);
  return SL_OK;
}

/* ---------------------------------------------------------------------------------------------------- bodies */

/* Whoever writes packets does not always say so in the record's header. */
static int has_data_type(const struct mdf_stream *m, const struct mdf_record *record, const uint8_t *body,
                         uint64_t body_bytes) {
  if (m->data_type != MDF_DATA_MEP) return record->data_type != MDF_DATA_MEP;
  return m->files[m->file].is_bare || record->data_type == MDF_DATA_MEP ||
         (body_bytes >= 2 && mdf_load_u16(body) == MEP_MAGIC);
}

/* Writers give a factor that is too small, 0 most of all: a body is not lost for that. */
static void check_hint(struct mdf_stream *m, const struct sl_services *s, const struct mdf_record *record,
                       uint64_t body_bytes, uint32_t bytes) {
  const uint64_t hint = (record->expansion + 1u) * body_bytes;
  if (bytes <= hint || m->is_hint_wrong) return;
  m->is_hint_wrong = 1;
  s->message(s->context, SL_WARNING,
             "%s: record at byte %" PRIu64 ": its header promises at most %" PRIu64
             " bytes uncompressed (factor %" PRIu32 "), and the body has %" PRIu32
             "; the factor is only a hint, and further ones that are too small are not reported",
             m->inputs.names[m->file], record->offset, hint, record->expansion + 1, bytes);
}

/* Finds the event's body; leaves a fault in the record where there is none to be had. */
static void find_body(struct mdf_stream *m, const struct sl_services *s, struct mdf_stream_event *event) {
  enum { COMPRESSION_MAX = 9 };
  struct mdf_record *record = &event->record;
  const uint8_t *body = m->reader.data + record->offset + record->header_bytes;
  const uint64_t body_bytes = record->bytes - record->header_bytes;
  if (!has_data_type(m, record, body, body_bytes)) {
    record->fault = (struct mdf_fault){MDF_FAULT_DATA_TYPE, 0, 0, record->data_type, m->data_type, 0};
  } else if (record->compression > COMPRESSION_MAX) {
    record->fault = (struct mdf_fault){MDF_FAULT_COMPRESSION, 0, 0, record->compression, 0, 0};
  } else if (record->compression != 0) {
    uint32_t bytes;
    if (mdf_decompress(&m->decompressor, body, body_bytes, &bytes, &record->fault)) return;
    check_hint(m, s, record, body_bytes, bytes);
    event->body = m->decompressor.bytes;
    event->body_bytes = bytes;
  } else {
    event->body = body;
    event->body_bytes = body_bytes;
  }
}

uint64_t mdf_stream_length(const struct mdf_stream *m) { return m->has_pipe ? 0 : m->pass_bytes * m->pass_count; }

/* The next record: 1, MDF_STREAM_LATER, or an error. Of a pipe, it is certain where the header after it is there. */
static int take_record(struct mdf_stream *m, const struct sl_services *s, struct mdf_record *record) {
  for (;;) {
    const struct mdf_reader before = m->reader;
    (void)(m->files[m->file].is_bare ? mep_next(&m->reader, record) : mdf_next(&m->reader, record));
    if (!m->mapping.is_stream || m->mapping.has_ended || m->reader.size - m->reader.offset >= MDF_GENERIC_HEADER_BYTES)
      return 1;
    m->reader = before;
    const int status = read_more(m, s, m->reader.size - m->reader.offset);
    if (status != 1) return status;
  }
}

int mdf_stream_next(struct mdf_stream *m, const struct sl_services *s, struct mdf_stream_event *event) {
  if (m->is_open && m->mapping.is_stream) input_stream_release(&m->mapping, m->reader.offset);
  const int found = find_file(m, s);
  if (found != 1) return found;
  int error = SL_OK;
  *event = (struct mdf_stream_event){.number = m->record_count, .file = m->file, .pass = m->pass};
  const int taken = take_record(m, s, &event->record);
  if (taken != 1) return taken;
  m->record_count++;
  if (event->record.fault.kind == MDF_FAULT_NONE) error = verify_checksum(m, &event->record);
  if (!error && event->record.fault.kind == MDF_FAULT_NONE) find_body(m, s, event);
  if (error || event->record.fault.kind == MDF_FAULT_MEMORY) {
    s->message(s->context, SL_ERROR, "%s: out of memory", m->inputs.names[m->file]);
    return SL_ENOMEM;
  }
  /* What was lost of the file is no fault of the record. */
  if (event->record.fault.kind != MDF_FAULT_NONE) error = mdf_stream_check(m, s);
  return error ? error : 1;
}
