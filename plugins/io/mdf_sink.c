/* mdf_sink.c: io.mdf_sink, writes events to an MDF file, one record per event.
 *
 * 1. Without options, copy the record as it was read: header, checksum, compression, all banks in order, padding.
 * 2. Remove the banks excluded by only_types or excluded_types, and banks replaced by the graph; append the banks made
 *    by the graph. A changed record of several crossings (TAE) keeps only the central one.
 * 3. Compress the body if necessary, and write the header with new lengths, checksum and compression. Banks from
 *    packets get a header of version 3: run of the event, orbit and bunch from ODIN (else 0), all mask bits set.
 * An event with an error in this run is written as it was read. A record that the source could not read is never
 * changed, so the next reader finds the same fault. An event without a record is omitted and counted.
 * Records are built in the buffer of the output file. Their checksums are computed there in parallel before it is
 * written. */
#include "format/mdf_checksum.h"
#include "format/mdf_compress.h"
#include "io/made_banks.h"
#include "sink_records.h"

#include <sluice/plugin.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SL_ARGS        mdf_sink_args
#define CHECKSUM_NAMES "as_read all none"
enum { CHECKSUM_AS_READ, CHECKSUM_ALL, CHECKSUM_NONE };
enum { COMPRESSION_AS_READ = -1 };
#define MDF_SINK(M)                                                                     \
  M(IN, record, io_raw_record, "", "whole records of the events to write")              \
  M(OPEN_IN, made_banks, io_made_banks, IO_MADE_BANKS_TRAIT, "",                        \
    "banks made by the graph, written after the banks read")                            \
  M(FILE_OUT, path, "", "", "file to write; empty: the file given by -o")               \
  SINK_CHOICE(M)                                                                        \
  M(I32, compression, -1, -1, 9, "", "compression level; 0: none, -1: as it was read")  \
  M(ENUM, codec, "zstd", "codec for bodies that are compressed again", MDF_CODEC_NAMES) \
  M(ENUM, checksum, "as_read",                                                          \
    "which records get a checksum; records made from packets count as read with a checksum", CHECKSUM_NAMES)
SL_HOST_ARGUMENTS(mdf_sink, MDF_SINK);

struct made_port {
  uint32_t index, is_connected; /* index of the port */
  struct io_made_banks_view in;
  struct io_bank header;
};

struct mdf_sink {
  const struct sl_output_calls *output;
  struct sl_output *file;
  struct mdf_compressor compressor;
  struct mdf_decompressor decompressor;
  struct mdf_hasher hasher; /* hashes records in the buffer of the file; tag: address of the record */
  uint8_t *body;            /* a changed body */
  size_t body_capacity;
  int32_t compression;
  uint32_t checksum;
  struct made_port *made; /* sorted by bank type */
  uint32_t made_count, reserved;
  uint8_t is_made[IO_BANK_TYPES]; /* a connected port makes banks of the type */
  uint32_t any_made, reserved_made;
  struct sink_types types;
  struct sink_counts counts;
};

static int by_type(const void *a_, const void *b_) {
  const struct made_port *a = (const struct made_port *)a_, *b = (const struct made_port *)b_;
  if (a->header.type != b->header.type) return (int)a->header.type - (int)b->header.type;
  return (int)a->index - (int)b->index;
}

static int open_made(struct mdf_sink *m, const struct io_made_banks_view_ports *ports) {
  m->made = (struct made_port *)calloc((size_t)ports->count + 1, sizeof *m->made);
  if (!m->made) return SL_ENOMEM;
  for (uint32_t i = 0; i < ports->count; i++) {
    const struct io_made_kind *kind = (const struct io_made_kind *)ports->ports[i].collection->trait->data;
    m->made[i].index = i;
    m->made[i].header = (struct io_bank){NULL, 0, kind->source_id, kind->type, kind->version};
  }
  m->made_count = ports->count;
  qsort(m->made, m->made_count, sizeof *m->made, by_type);
  return SL_OK;
}

static int mdf_sink_open(void *state, const struct sl_services *s, const void *args_, const char *output_path) {
  const struct mdf_sink_args *args = (const struct mdf_sink_args *)args_;
  struct mdf_sink *m = (struct mdf_sink *)state;
  m->output = s->output;
  m->compression = args->compression;
  m->checksum = args->checksum;
  int error = sink_types_set(&m->types, s, args->only_types, args->excluded_types);
  if (!error) error = open_made(m, &args->made_banks);
  return error ? error : m->output->open(s, *args->path ? args->path : output_path, 0, &m->file);
}

static int mdf_sink_check(const struct sl_services *s, const void *args_) {
  const struct mdf_sink_args *args = (const struct mdf_sink_args *)args_;
  struct sink_types types;
  return sink_types_set(&types, s, args->only_types, args->excluded_types);
}

/* Sets the ports of this batch. If several ports of one type are connected, only the first is used. */
static void begin_batch(struct mdf_sink *m, const struct io_made_banks_view_ports *ports) {
  memset(m->is_made, 0, sizeof m->is_made);
  m->any_made = 0;
  for (uint32_t i = 0; i < m->made_count; i++) {
    struct made_port *p = &m->made[i];
    p->in = ports->at[p->index];
    p->is_connected = p->in.offsets != NULL && !m->is_made[p->header.type];
    m->is_made[p->header.type] |= p->is_connected != 0;
    m->any_made |= p->is_connected;
  }
}

/* Completes the pending checksums of all records in the buffer. */
static void finish_checksums(struct mdf_sink *m) {
  while (m->hasher.count > 0) {
    const uint64_t record = m->hasher.jobs[m->hasher.first].tag;
    uint32_t hash;
    (void)mdf_hasher_take(&m->hasher, record, &hash);
    memcpy((uint8_t *)(uintptr_t)record + 12, &hash, sizeof hash);
  }
}

/* ---------------------------------------------------------------------------------------------- changed bodies */

/* Planned changes of the banks of an event. */
struct change {
  uint32_t is_changed;
  uint32_t with_made;  /* banks made by the graph replace the read banks of their types */
  uint64_t begin, end; /* range of the body that contains the event */
  uint64_t kept_bytes, made_bytes;
  uint32_t orbit, bunch; /* values in ODIN */
};

static const uint8_t *made_payload(const struct made_port *p, uint32_t i) {
  return (const uint8_t *)(p->in.word + p->in.word_offsets[i]);
}

/* SL_OK or SL_EFORMAT. */
static int measure_made(const struct mdf_sink *m, const struct sl_services *s, uint32_t e, const struct sl_event *event,
                        struct change *change) {
  for (uint32_t k = 0; k < m->made_count; k++) {
    const struct made_port *p = &m->made[k];
    for (uint32_t i = p->is_connected ? p->in.offsets[e] : 0; p->is_connected && i < p->in.offsets[e + 1]; i++) {
      const uint32_t size = p->in.size_bytes[i];
      if (size > IO_BANK_BYTES_MAX) {
        s->message(s->context, SL_ERROR,
                   "event %" PRIu64 ": the bank of type %u and source %u has %u bytes, more than the %d of an MDF bank",
                   event->number, p->header.type, p->header.source_id, size, IO_BANK_BYTES_MAX);
        return SL_EFORMAT;
      }
      if (m->types.excluded[p->header.type]) continue;
      change->made_bytes += IO_BANK_HEADER_BYTES + sink_padded(size);
    }
  }
  return SL_OK;
}

/* Returns why a bank is removed, or SINK_REASON_COUNT if it is kept. */
static uint32_t removal_reason(const struct mdf_sink *m, const struct change *change, uint8_t type) {
  if (m->types.excluded[type]) return SINK_EXCLUDED;
  return change->with_made && m->is_made[type] ? SINK_REPLACED : SINK_REASON_COUNT;
}

/* Walks the banks of an open record and plans its changes: 1, 0 if the banks cannot be read, or an error. */
static int plan_change(const struct mdf_sink *m, const struct sl_services *s, uint32_t e, const struct sl_event *event,
                       const struct sink_record *record, struct change *change) {
  struct io_bank bank;
  struct mdf_fault fault;
  uint64_t position = 0;
  int more;
  *change = (struct change){.with_made = m->any_made && event->error == SL_EVENT_OK, .end = record->body_bytes};
  if (change->with_made && measure_made(m, s, e, event, change)) return SL_EFORMAT;
  change->is_changed = change->made_bytes > 0;
  while ((more = mdf_bank_next(record->body, record->body_bytes, &position, &bank, &fault)) > 0) {
    change->is_changed |= removal_reason(m, change, bank.type) != SINK_REASON_COUNT;
    (void)mdf_odin_crossing(&bank, &change->orbit, &change->bunch);
  }
  if (more < 0) return 0;
  if (!change->is_changed || !sink_record_has_crossings(record)) return 1;
  return mdf_event_banks(record->body, record->body_bytes, &change->begin, &change->end, &fault) == 0;
}

static uint8_t *add_header(uint8_t *to, const struct io_bank *bank) {
  const uint64_t header = io_bank_header(bank);
  memcpy(to, &header, sizeof header);
  return to + sizeof header;
}

static uint8_t *add_made(const struct mdf_sink *m, uint32_t e, uint8_t *to) {
  for (uint32_t k = 0; k < m->made_count; k++) {
    const struct made_port *p = &m->made[k];
    if (!p->is_connected || m->types.excluded[p->header.type]) continue;
    for (uint32_t i = p->in.offsets[e]; i < p->in.offsets[e + 1]; i++) {
      struct io_bank bank = p->header;
      bank.size_bytes = p->in.size_bytes[i];
      to = add_header(to, &bank);
      const uint8_t *payload = made_payload(p, i);
      sink_copy_padded(to, payload, bank.size_bytes, payload + bank.size_bytes);
      to += sink_padded(bank.size_bytes);
    }
  }
  return to;
}

/* Builds the changed body in m->body, which becomes the body of the record; counts the removed banks. */
static int change_body(struct mdf_sink *m, uint32_t e, const struct change *change, struct sink_record *record) {
  const size_t room = record->body_bytes + change->made_bytes + 4;
  if (room > m->body_capacity) {
    uint8_t *larger = (uint8_t *)realloc(m->body, room);
    if (!larger) return SL_ENOMEM;
    m->body = larger;
    m->body_capacity = room;
  }
  const uint8_t *end = record->body + record->body_bytes;
  uint8_t *to = m->body;
  struct io_bank bank;
  struct mdf_fault fault;
  for (uint64_t at = 0, next = 0; mdf_bank_next(record->body, record->body_bytes, &next, &bank, &fault) > 0;
       at = next) {
    const uint32_t is_inside = at >= change->begin && at < change->end;
    const uint32_t reason = is_inside ? removal_reason(m, change, bank.type) : SINK_CROSSINGS;
    if (reason != SINK_REASON_COUNT) {
      sink_count_omitted(&m->counts, reason, &bank);
      continue;
    }
    sink_copy_padded(to, record->body + at, IO_BANK_HEADER_BYTES + (uint32_t)bank.size_bytes, end);
    to += IO_BANK_HEADER_BYTES + sink_padded(bank.size_bytes);
  }
  if (change->with_made) to = add_made(m, e, to);
  record->body = m->body;
  record->body_bytes = (uint64_t)(to - m->body);
  return SL_OK;
}

/* ------------------------------------------------------------------------------------------------ one record */

static void store_u32(uint8_t *p, uint32_t value) { memcpy(p, &value, sizeof value); }

/* Reserves space in the buffer of the file. Pending checksums are completed first if the buffer would be written. */
static int reserve(struct mdf_sink *m, size_t bytes, uint8_t **out) {
  if (bytes > m->output->room(m->file) || mdf_hasher_is_full(&m->hasher)) finish_checksums(m);
  void *reserved = NULL;
  const int error = m->output->reserve(m->file, bytes, &reserved);
  *out = (uint8_t *)reserved;
  return error;
}

static int write_as_read(struct mdf_sink *m, const struct sink_record *record) {
  uint8_t *out;
  const int error = reserve(m, record->size_bytes, &out);
  if (error) return error;
  memcpy(out, record->bytes, record->size_bytes);
  m->output->mark(m->file, 1);
  return SL_OK;
}

static void finish_record(struct mdf_sink *m, uint8_t *out, uint32_t size, const struct sink_record *record) {
  const uint32_t had_checksum = record->header_bytes == 0 || record->header.checksum != 0;
  for (int i = 0; i < 3; i++) store_u32(out + 4 * i, size);
  store_u32(out + 12, 0);
  if (m->checksum == CHECKSUM_ALL || (m->checksum == CHECKSUM_AS_READ && had_checksum))
    mdf_hasher_push(&m->hasher, (uint64_t)(uintptr_t)out, out + MDF_HASHED_FROM, size - MDF_HASHED_FROM);
  m->output->mark(m->file, 1);
}

/* Copies header and body unchanged; only the checksum may change. */
static int write_stored(struct mdf_sink *m, const struct sink_record *record) {
  uint8_t *out;
  const int error = reserve(m, record->size_bytes, &out);
  if (error) return error;
  memcpy(out, record->bytes, record->size_bytes);
  finish_record(m, out, record->size_bytes, record);
  return SL_OK;
}

static void choose_compression(struct mdf_sink *m, const struct mdf_sink_args *args, const struct sink_record *record) {
  m->compressor.codec = args->codec;
  m->compressor.level = m->compression > 0 ? (uint32_t)m->compression : 0;
  if (m->compression != COMPRESSION_AS_READ || record->header_bytes == 0 || record->header.compression == 0) return;
  m->compressor.codec = mdf_codec_of(record->bytes + record->header_bytes);
  m->compressor.level = record->header.compression;
}

/* Writes the header, read or new, and the body, compressed again. */
static int write_new(struct mdf_sink *m, const struct sl_services *s, const struct sl_event *event,
                     const struct sink_record *record, const struct change *change) {
  const uint32_t header_bytes = record->header_bytes ? record->header_bytes : SINK_HEADER_BYTES;
  if (record->body_bytes > UINT32_MAX - SINK_HEADER_BYTES) {
    s->message(s->context, SL_ERROR,
               "event %" PRIu64 ": has %" PRIu64 " bytes of banks, more than the 4 GiB of an MDF record", event->number,
               record->body_bytes);
    return SL_EFORMAT;
  }
  const int is_packed = m->compressor.level != 0;
  const size_t room = header_bytes + (is_packed ? mdf_compress_bound(record->body_bytes) : record->body_bytes);
  uint8_t *out;
  uint32_t expansion = 0;
  const int error = reserve(m, room, &out);
  if (error) return error;
  if (record->header_bytes)
    memcpy(out, record->bytes, header_bytes);
  else
    sink_make_header(out, event->run, change->orbit, change->bunch);
  size_t bytes =
      is_packed ? mdf_compress(&m->compressor, record->body, record->body_bytes, out + header_bytes, &expansion) : 0;
  out[16] = bytes ? (uint8_t)(expansion << 4 | m->compressor.level) : 0;
  if (!bytes) memcpy(out + header_bytes, record->body, bytes = record->body_bytes);
  m->output->trim(m->file, room - header_bytes - bytes);
  finish_record(m, out, (uint32_t)(header_bytes + bytes), record);
  return SL_OK;
}

/* ---------------------------------------------------------------------------------------------------- events */

/* Returns 1 if the event was written, 0 if it has nothing to write, or an error. */
static int write_event(struct mdf_sink *m, const struct sl_services *s, const struct mdf_sink_args *args, uint32_t e,
                       const struct sl_event *event) {
  struct sink_record record;
  struct change change;
  if (!sink_record_find(&args->record, e, &record)) return 0;
  const int may_change = m->types.has_selection || m->any_made || m->compression != COMPRESSION_AS_READ ||
                         m->checksum != CHECKSUM_AS_READ || record.header_bytes == 0;
  if (!may_change || sink_record_is_bad(&record, event) || sink_record_open(&m->decompressor, &record)) {
    const int error = write_as_read(m, &record);
    return error ? error : 1;
  }
  const int is_readable = plan_change(m, s, e, event, &record, &change);
  if (is_readable < 0) return is_readable;
  int error;
  if (!is_readable) {
    error = write_as_read(m, &record);
  } else if (!change.is_changed && m->compression == COMPRESSION_AS_READ && record.header_bytes) {
    error = write_stored(m, &record);
  } else {
    choose_compression(m, args, &record);
    error = change.is_changed ? change_body(m, e, &change, &record) : SL_OK;
    if (!error && record.body_bytes == 0) return 0;
    if (!error) error = write_new(m, s, event, &record, &change);
  }
  return error ? error : 1;
}

static int mdf_sink_consume(void *state, const struct sl_services *s, const void *args_, const struct sl_batch *batch) {
  const struct mdf_sink_args *args = (const struct mdf_sink_args *)args_;
  struct mdf_sink *m = (struct mdf_sink *)state;
  begin_batch(m, &args->made_banks);
  uint32_t next = 0;
  for (uint32_t e = 0; e < batch->event_count; e++) {
    if (!sink_should_write(&m->counts, &m->decompressor, &args->record, batch, e, args->with_errors, &next)) continue;
    const int status = write_event(m, s, args, e, &batch->events[e]);
    if (status < 0) return status;
    if (status == 0) {
      m->counts.omitted++;
      continue;
    }
    m->counts.written++;
    m->counts.with_errors += batch->events[e].error != SL_EVENT_OK;
  }
  return SL_OK;
}

static int mdf_sink_flush(void *state, const struct sl_services *s) {
  struct mdf_sink *m = (struct mdf_sink *)state;
  (void)s;
  finish_checksums(m);
  return m->output->flush(m->file);
}

static int mdf_sink_rotate(void *state, const struct sl_services *s, const void *args) {
  struct mdf_sink *m = (struct mdf_sink *)state;
  (void)s, (void)args;
  finish_checksums(m);
  return m->output->rotate(m->file);
}

static int mdf_sink_finish(void *state, const struct sl_services *s, const struct sl_report *report) {
  struct mdf_sink *m = (struct mdf_sink *)state;
  (void)s;
  finish_checksums(m);
  const int error = m->output->finish(m->file);
  if (error) return error;
  sink_counts_report(&m->counts, report, m->output->path(m->file), m->output->bytes(m->file));
  return SL_OK;
}

static void mdf_sink_close(void *state) {
  struct mdf_sink *m = (struct mdf_sink *)state;
  if (m->file) {
    finish_checksums(m);
    m->output->close(m->file);
  }
  mdf_compressor_free(&m->compressor);
  mdf_decompressor_free(&m->decompressor);
  free(m->body);
  free(m->made);
}

static const struct sl_sink mdf_sink_functions = {.open = mdf_sink_open,
                                                  .consume = mdf_sink_consume,
                                                  .finish = mdf_sink_finish,
                                                  .close = mdf_sink_close,
                                                  .flush = mdf_sink_flush,
                                                  .rotate = mdf_sink_rotate};

SL_SINK(mdf_sink, "writes events to an MDF file", struct mdf_sink, mdf_sink_functions, SL_CHECK(mdf_sink_check));
