/* mdf_sink.c: io.mdf_sink, writes the raw banks of events to an MDF file, one record of header version 3 an event.
 * Banks that the graph made of an event stand after those that were read.
 *
 * The record's run is the event's, orbit and bunch come from ODIN (0 without), the trigger mask is all ones. Banks of
 * an event that is in error in this run are written as they were read; an event of which nothing could be read has
 * none, and is left out and counted.
 *
 * Records are made in the buffer of the output file. Their checksums are computed there, many at a time, and put in
 * before the buffer is written; a compressed body is made from a copy of the banks.
 */
#include "mdf.h"
#include "mdf_checksum.h"
#include "mdf_compress.h"
#include "sink_banks.h"

#include <sluice/plugin.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SL_ARGS mdf_sink_args
#define MDF_SINK(M)                                                                                        \
  M(OPEN_IN, banks, io_raw_banks, IO_RAW_BANKS_TRAIT, "", "raw banks, to be written")                      \
  M(OPEN_IN, made_banks, io_made_banks, IO_MADE_BANKS_TRAIT, "", "banks that the graph made, to be added") \
  M(STRING, path, "", "file to write; empty: that of -o")                                                  \
  M(U32, compression, 0, 0, 9, "", "level; 0 stores the banks as they are")                                \
  M(ENUM, codec, "zstd", "of compressed bodies", MDF_CODEC_NAMES)                                          \
  M(BOOL, checksum, 1, "put a checksum into each record")
SL_HOST_ARGUMENTS(mdf_sink, MDF_SINK);

enum { HEADER_BYTES = 48, HEADER_TYPE = 0x37, DATA_TYPE_BANKS = 1, BANK_PAYLOAD_MAX = 0xffff - MDF_BANK_HEADER_BYTES };

struct mdf_sink {
  const struct sl_output_calls *to;
  struct sl_output *file;
  struct mdf_compressor compressor;
  struct mdf_hasher hasher; /* of records in the file's buffer; tag: their address */
  uint8_t *body;            /* to be compressed */
  size_t body_capacity;
  uint32_t with_checksum, reserved;
  struct sink_banks banks;
  struct sink_counts counts;
};

static int mdf_sink_open(void *state, const struct sl_services *s, const void *args_, const char *output_path) {
  const struct mdf_sink_args *args = (const struct mdf_sink_args *)args_;
  struct mdf_sink *m = (struct mdf_sink *)state;
  m->to = s->output;
  m->compressor = (struct mdf_compressor){args->codec, args->compression, NULL};
  m->with_checksum = args->checksum;
  if (sink_banks_open(&m->banks, &args->banks, &args->made_banks)) return SL_ENOMEM;
  return m->to->open(s, *args->path ? args->path : output_path, 0, &m->file);
}

/* Puts the checksums into all records of the buffer that wait for theirs. */
static void finish_checksums(struct mdf_sink *m) {
  while (m->hasher.count > 0) {
    const uint64_t record = m->hasher.jobs[m->hasher.first].tag;
    uint32_t hash;
    (void)mdf_hasher_take(&m->hasher, record, &hash);
    memcpy((uint8_t *)(uintptr_t)record + 12, &hash, sizeof hash);
  }
}

/* ------------------------------------------------------------------------------------------------ one record */

struct record {
  uint32_t run, orbit, bunch;
  size_t body_bytes;
  uint32_t compression, expansion;
};

/* Sizes, and what ODIN says: 1, 0 for an event without banks, or an error. */
static int measure(const struct sl_services *s, const struct sink_banks *banks, uint32_t e,
                   const struct sl_event *event, struct record *record) {
  *record = (struct record){.run = event->run};
  struct sink_cursor cursor = sink_cursor_start();
  struct io_bank bank;
  while (sink_banks_next(banks, e, &cursor, &bank)) {
    if (bank.size_bytes > BANK_PAYLOAD_MAX) {
      s->message(s->context, SL_ERROR,
                 "event %" PRIu64 ": the bank of type %u and source %u has %u bytes, an MDF bank holds %d",
                 event->number, bank.type, bank.source_id, bank.size_bytes, BANK_PAYLOAD_MAX);
      return SL_EFORMAT;
    }
    record->body_bytes += MDF_BANK_HEADER_BYTES + ((bank.size_bytes + 3u) & ~3u);
    (void)mdf_odin_crossing(&bank, &record->orbit, &record->bunch);
  }
  if (record->body_bytes <= UINT32_MAX - HEADER_BYTES) return record->body_bytes > 0;
  s->message(s->context, SL_ERROR, "event %" PRIu64 ": has %zu bytes of banks, an MDF record holds 4 GiB",
             event->number, record->body_bytes);
  return SL_EFORMAT;
}

static void store_u32(uint8_t *p, uint32_t value) { memcpy(p, &value, sizeof value); }

static void write_header(uint8_t *p, const struct record *record) {
  const uint32_t length = (uint32_t)(HEADER_BYTES + record->body_bytes);
  for (int i = 0; i < 3; i++) store_u32(p + 4 * i, length);
  store_u32(p + 12, 0);
  p[16] = (uint8_t)(record->expansion << 4 | record->compression);
  p[17] = HEADER_TYPE;
  p[18] = DATA_TYPE_BANKS;
  p[19] = 0;
  memset(p + 20, 0xff, 16);
  store_u32(p + 36, record->run);
  store_u32(p + 40, record->orbit);
  store_u32(p + 44, record->bunch);
}

static void write_banks(uint8_t *p, const struct sink_banks *banks, uint32_t e) {
  struct sink_cursor cursor = sink_cursor_start();
  struct io_bank bank;
  while (sink_banks_next(banks, e, &cursor, &bank)) {
    const uint64_t header = MDF_BANK_MAGIC | (uint64_t)(bank.size_bytes + MDF_BANK_HEADER_BYTES) << 16 |
                            (uint64_t)bank.type << 32 | (uint64_t)bank.version << 40 | (uint64_t)bank.source_id << 48;
    const size_t padded = (bank.size_bytes + 3u) & ~3u; /* the pool's padding is zero */
    memcpy(p, &header, sizeof header);
    if (padded) memcpy(p + sizeof header, bank.payload, padded);
    p += sizeof header + padded;
  }
}

/* Room in the file's buffer; records before must have their checksums before they are written. */
static int reserve(struct mdf_sink *m, size_t bytes, uint8_t **place) {
  if (bytes > m->to->room(m->file) || mdf_hasher_is_full(&m->hasher)) finish_checksums(m);
  void *reserved = NULL;
  const int error = m->to->reserve(m->file, bytes, &reserved);
  *place = (uint8_t *)reserved;
  return error;
}

static void finish_record(struct mdf_sink *m, uint8_t *place, const struct record *record) {
  write_header(place, record);
  if (m->with_checksum)
    mdf_hasher_push(&m->hasher, (uint64_t)(uintptr_t)place, place + MDF_HASHED_FROM,
                    HEADER_BYTES - MDF_HASHED_FROM + record->body_bytes);
  m->to->mark(m->file, 1);
}

static int write_plain(struct mdf_sink *m, const struct sink_banks *banks, uint32_t e, const struct record *record) {
  uint8_t *place;
  const int error = reserve(m, HEADER_BYTES + record->body_bytes, &place);
  if (error) return error;
  write_banks(place + HEADER_BYTES, banks, e);
  finish_record(m, place, record);
  return SL_OK;
}

static int write_compressed(struct mdf_sink *m, const struct sink_banks *banks, uint32_t e, struct record *record) {
  if (record->body_bytes > m->body_capacity) {
    uint8_t *larger = (uint8_t *)realloc(m->body, record->body_bytes);
    if (!larger) return SL_ENOMEM;
    m->body = larger;
    m->body_capacity = record->body_bytes;
  }
  write_banks(m->body, banks, e);
  const size_t room = HEADER_BYTES + mdf_compress_bound(record->body_bytes);
  uint8_t *place;
  const int error = reserve(m, room, &place);
  if (error) return error;
  const size_t block =
      mdf_compress(&m->compressor, m->body, record->body_bytes, place + HEADER_BYTES, &record->expansion);
  if (block > 0) {
    record->compression = m->compressor.level;
    record->body_bytes = block;
  } else {
    memcpy(place + HEADER_BYTES, m->body, record->body_bytes);
  }
  m->to->trim(m->file, room - HEADER_BYTES - record->body_bytes);
  finish_record(m, place, record);
  return SL_OK;
}

/* ------------------------------------------------------------------------------------------------ the sink */

static int mdf_sink_consume(void *state, const struct sl_services *s, const void *args_, const struct sl_batch *batch) {
  const struct mdf_sink_args *args = (const struct mdf_sink_args *)args_;
  struct mdf_sink *m = (struct mdf_sink *)state;
  sink_banks_begin(&m->banks, &args->banks, &args->made_banks);
  SL_FOR_BATCH (e, batch) {
    struct record record;
    int status = measure(s, &m->banks, e, &batch->events[e], &record);
    if (status < 0) return status;
    if (status == 0) {
      m->counts.left_out++;
      continue;
    }
    status =
        m->compressor.level == 0 ? write_plain(m, &m->banks, e, &record) : write_compressed(m, &m->banks, e, &record);
    if (status < 0) return status;
    m->counts.written++;
    m->counts.with_errors += batch->events[e].error != SL_EVENT_OK;
  }
  return SL_OK;
}

static int mdf_sink_flush(void *state, const struct sl_services *s) {
  struct mdf_sink *m = (struct mdf_sink *)state;
  (void)s;
  finish_checksums(m);
  return m->to->flush(m->file);
}

static int mdf_sink_finish(void *state, const struct sl_services *s, const struct sl_report *report) {
  struct mdf_sink *m = (struct mdf_sink *)state;
  (void)s;
  finish_checksums(m);
  const int error = m->to->finish(m->file);
  if (error) return error;
  sink_counts_report(&m->counts, report, m->to->place(m->file), m->to->bytes(m->file));
  return SL_OK;
}

static void mdf_sink_close(void *state) {
  struct mdf_sink *m = (struct mdf_sink *)state;
  if (m->file) {
    finish_checksums(m);
    m->to->close(m->file);
  }
  mdf_compressor_free(&m->compressor);
  free(m->body);
  sink_banks_close(&m->banks);
}

static const struct sl_sink mdf_sink_functions = {.open = mdf_sink_open,
                                                  .consume = mdf_sink_consume,
                                                  .finish = mdf_sink_finish,
                                                  .close = mdf_sink_close,
                                                  .flush = mdf_sink_flush};

SL_SINK(mdf_sink, "writes raw banks to an MDF file", struct mdf_sink, mdf_sink_functions);
