/* mep_sink.c: io.mep_sink, writes events to packets of the event builder (MEP) in the production format.
 *
 * 1. Match the banks of an event with the blocks of the current packet: by source id and type, each block once.
 * 2. End the packet first if the event has its banks in another order than the blocks, if a source changes its version,
 *    or if the packet exceeds PACKET_BYTES_MAX.
 * 3. Add blocks for new sources, then append one fragment per bank to the buffer of its block. Blocks without a bank
 *    get a missing fragment (type 92, no bytes).
 * 4. Write the packet, block by block, when it has `events` events. Event ids count the written events from 0.
 * Banks keep their order, because blocks are in the order in which every event of the packet has its banks. Omitted and
 * counted: banks that packets cannot represent (README.md, "Sinks"), all but the central crossing of a TAE record,
 * events that cannot be read, and events without banks. Headers that reading back would change are counted. */
#include "format/mep.h"
#include "sink_records.h"

#include <sluice/plugin.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SL_ARGS mep_sink_args
#define MEP_SINK(M)                                                        \
  M(IN, record, io_raw_record, "", "whole records of the events to write") \
  M(FILE_OUT, path, "", "", "file to write; empty: the file given by -o")  \
  SINK_CHOICE(M)                                                           \
  M(U32, events, 1000, 1, MEP_EVENTS_MAX, "", "events per packet (the packing factor)")
SL_HOST_ARGUMENTS(mep_sink, MEP_SINK);

enum { ALIGNMENT = 2, PACKET_BYTES_MAX = 1 << 30, SOURCE_IDS = 1 << 16, SAME_SOURCE_MAX = 256 };

struct source {
  uint8_t *fragments; /* each padded to a word */
  size_t bytes, capacity;
  uint8_t *types;
  uint16_t *sizes;
  struct source *same_id; /* next block with the same source id */
  uint64_t seen;          /* last event that has it, counted from 1 */
  uint32_t count;         /* fragments so far; fragments of later events are missing */
  uint32_t index;         /* index among the blocks */
  uint16_t id;
  uint16_t first_bank_source; /* new blocks are sorted by type, then by this */
  uint8_t type, version;      /* type and version of its last fragment that is not broken */
};

/* A bank of the current event, and its block; `source` is NULL if it needs a new block. */
struct collected_bank {
  struct io_bank bank;
  struct source *source;
  uint16_t id;
};

struct mep_sink {
  const struct sl_output_calls *output;
  struct sl_output *file;
  struct source **sources; /* in block order */
  uint32_t source_count, source_capacity;
  struct source **of_id; /* SOURCE_IDS entries */
  uint64_t *seen_of_id;  /* per source id: last event that has it, counted from 1 */
  uint32_t *count_of_id; /* per source id: number of banks in that event */
  struct collected_bank *banks;
  uint32_t bank_count, bank_capacity;
  uint32_t events_max, event_count;
  uint32_t is_within_event, reserved; /* an event is incomplete, so the packet cannot be written now */
  uint64_t packet_bytes;              /* size of all fragments */
  uint64_t event_id;                  /* event id of the first event of the packet */
  uint64_t events_seen;               /* events seen, with or without banks */
  uint64_t matches;                   /* number of calls of match_banks */
  uint64_t headers_not_representable; /* events with a record header that packets cannot represent */
  struct mdf_decompressor decompressor;
  struct sink_types types;
  struct sink_counts counts;
};

static int mep_sink_open(void *state, const struct sl_services *s, const void *args_, const char *output_path) {
  const struct mep_sink_args *args = (const struct mep_sink_args *)args_;
  struct mep_sink *m = (struct mep_sink *)state;
  m->output = s->output;
  m->events_max = args->events;
  m->of_id = (struct source **)calloc(SOURCE_IDS, sizeof *m->of_id);
  m->seen_of_id = (uint64_t *)calloc(SOURCE_IDS, sizeof *m->seen_of_id);
  m->count_of_id = (uint32_t *)calloc(SOURCE_IDS, sizeof *m->count_of_id);
  if (!m->of_id || !m->seen_of_id || !m->count_of_id) return SL_ENOMEM;
  const int error = sink_types_set(&m->types, s, args->only_types, args->excluded_types);
  return error ? error : m->output->open(s, *args->path ? args->path : output_path, 0, &m->file);
}

static int mep_sink_check(const struct sl_services *s, const void *args_) {
  const struct mep_sink_args *args = (const struct mep_sink_args *)args_;
  struct sink_types types;
  return sink_types_set(&types, s, args->only_types, args->excluded_types);
}

/* --------------------------------------------------------------------------------------------------- sources */

static void free_source(struct source *source) {
  if (!source) return;
  free(source->fragments);
  free(source->types);
  free(source->sizes);
  free(source);
}

static struct source *make_source(const struct mep_sink *m, const struct collected_bank *p) {
  struct source *source = (struct source *)calloc(1, sizeof *source);
  if (!source) return NULL;
  source->id = p->id;
  source->first_bank_source = p->bank.source_id;
  source->type = p->bank.type;
  source->version = p->bank.version;
  source->types = (uint8_t *)malloc(m->events_max);
  source->sizes = (uint16_t *)malloc(m->events_max * sizeof *source->sizes);
  if (source->types && source->sizes) return source;
  free_source(source);
  return NULL;
}

/* Inserts a new block for a bank at index `at`. The caller must update the indices of later blocks with set_indices. */
static int add_source(struct mep_sink *m, struct collected_bank *p, uint32_t at) {
  if (m->source_count == m->source_capacity) {
    const uint32_t capacity = m->source_capacity ? 2 * m->source_capacity : 512;
    struct source **larger = (struct source **)realloc(m->sources, capacity * sizeof *larger);
    if (!larger) return SL_ENOMEM;
    m->sources = larger;
    m->source_capacity = capacity;
  }
  p->source = make_source(m, p);
  if (!p->source) return SL_ENOMEM;
  memmove(m->sources + at + 1, m->sources + at, (m->source_count - at) * sizeof *m->sources);
  m->sources[at] = p->source;
  m->source_count++;
  struct source **end = &m->of_id[p->id];
  while (*end) end = &(*end)->same_id;
  *end = p->source;
  return SL_OK;
}

static void set_indices(struct mep_sink *m) {
  for (uint32_t i = 0; i < m->source_count; i++) m->sources[i]->index = i;
}

/* Removes the blocks without fragments, or all blocks. */
static void drop_sources(struct mep_sink *m, int all) {
  uint32_t remaining = 0;
  for (uint32_t i = 0; i < m->source_count; i++) m->of_id[m->sources[i]->id] = NULL;
  for (uint32_t i = 0; i < m->source_count; i++) {
    if (all || m->sources[i]->count == 0)
      free_source(m->sources[i]);
    else
      m->sources[remaining++] = m->sources[i];
  }
  m->source_count = remaining;
  for (uint32_t i = remaining; i-- > 0;) { /* in reverse, so that the lists of equal ids keep the block order */
    m->sources[i]->same_id = m->of_id[m->sources[i]->id];
    m->of_id[m->sources[i]->id] = m->sources[i];
  }
  set_indices(m);
}

static void fill_missing(struct source *source, uint32_t count) {
  for (; source->count < count; source->count++) {
    source->types[source->count] = MEP_FRAGMENT_MISSING;
    source->sizes[source->count] = 0;
  }
}

static int add_fragment(struct mep_sink *m, struct source *source, const struct io_bank *bank, const uint8_t *end) {
  const size_t padded = sink_padded(bank->size_bytes);
  if (source->bytes + padded > source->capacity) {
    const size_t capacity = 2 * (source->bytes + padded);
    uint8_t *larger = (uint8_t *)realloc(source->fragments, capacity);
    if (!larger) return SL_ENOMEM;
    source->fragments = larger;
    source->capacity = capacity;
  }
  fill_missing(source, m->event_count);
  if (padded) sink_copy_padded(source->fragments + source->bytes, bank->payload, bank->size_bytes, end);
  source->bytes += padded;
  m->packet_bytes += padded;
  source->types[source->count] = bank->type;
  source->sizes[source->count++] = bank->size_bytes;
  source->version = bank->version;
  if (!mep_is_broken_type(bank->type)) source->type = bank->type;
  return SL_OK;
}

/* --------------------------------------------------------------------------------------------------- packets */

static uint32_t padded_count(uint32_t bytes) { return (bytes + 3u) & ~3u; }

static uint32_t lists_bytes(uint32_t events) {
  return MEP_BLOCK_HEADER_BYTES + padded_count(events) + padded_count(2 * events);
}

static int add_zeros(struct mep_sink *m, uint32_t bytes) {
  return bytes ? m->output->add(m->file, "\0\0\0", bytes) : SL_OK;
}

static int write_header(struct mep_sink *m) {
  const uint32_t n = m->source_count, ids_bytes = padded_count(2 * n);
  const uint32_t header_words = (MEP_HEADER_BYTES + ids_bytes + 4 * n) / 4;
  uint64_t words = header_words;
  void *reserved;
  const int error = m->output->reserve(m->file, 4 * (size_t)header_words, &reserved);
  if (error) return error;
  uint8_t *out = (uint8_t *)reserved;
  memset(out, 0, 4 * (size_t)header_words);
  for (uint32_t i = 0; i < n; i++) {
    const uint32_t offset = (uint32_t)words;
    memcpy(out + MEP_HEADER_BYTES + 2 * i, &m->sources[i]->id, 2);
    memcpy(out + MEP_HEADER_BYTES + ids_bytes + 4 * i, &offset, 4);
    words += (lists_bytes(m->event_count) + m->sources[i]->bytes) / 4;
  }
  const uint16_t magic = MEP_MAGIC, count = (uint16_t)n;
  const uint32_t packet_words = (uint32_t)words;
  memcpy(out, &magic, 2);
  memcpy(out + 2, &count, 2);
  memcpy(out + 4, &packet_words, 4);
  return SL_OK;
}

static int write_block(struct mep_sink *m, const struct source *source) {
  const uint32_t n = m->event_count;
  const uint16_t magic = MEP_BLOCK_MAGIC, count = (uint16_t)n;
  const uint32_t bytes = (uint32_t)(lists_bytes(n) + source->bytes);
  void *reserved;
  int error = m->output->reserve(m->file, MEP_BLOCK_HEADER_BYTES, &reserved);
  if (error) return error;
  uint8_t *out = (uint8_t *)reserved;
  memcpy(out, &magic, 2);
  memcpy(out + 2, &count, 2);
  memcpy(out + 4, &bytes, 4);
  memcpy(out + 8, &m->event_id, 8);
  memcpy(out + 16, &source->id, 2);
  out[18] = ALIGNMENT;
  out[19] = source->version;
  error = m->output->add(m->file, source->types, n);
  if (!error) error = add_zeros(m, padded_count(n) - n);
  if (!error) error = m->output->add(m->file, source->sizes, 2 * (size_t)n);
  if (!error) error = add_zeros(m, padded_count(2 * n) - 2 * n);
  return error ? error : m->output->add(m->file, source->fragments, source->bytes);
}

static int write_packet(struct mep_sink *m) {
  if (m->event_count == 0) return SL_OK;
  drop_sources(m, 0);
  int error = write_header(m);
  for (uint32_t i = 0; i < m->source_count && !error; i++) {
    fill_missing(m->sources[i], m->event_count);
    error = write_block(m, m->sources[i]);
    m->sources[i]->count = 0;
    m->sources[i]->bytes = 0;
  }
  if (error) return error;
  m->output->mark(m->file, m->event_count);
  m->event_id += m->event_count;
  m->event_count = 0;
  m->packet_bytes = 0;
  return SL_OK;
}

/* ------------------------------------------------------------------------------------------------- one event */

/* Returns 1 and the block source id if a packet can represent the bank. */
static int find_block_source(struct mep_sink *m, const struct io_bank *bank, uint64_t event, uint16_t *id) {
  if (bank->type == MEP_FRAGMENT_MISSING && bank->size_bytes == 0) return 0;
  if (m->bank_count == MEP_BLOCKS_MAX || !mep_block_source(bank->type, bank->source_id, id)) return 0;
  if (m->seen_of_id[*id] != event) m->count_of_id[*id] = 0;
  m->seen_of_id[*id] = event;
  return ++m->count_of_id[*id] <= SAME_SOURCE_MAX;
}

static int collect_bank(struct mep_sink *m, const struct io_bank *bank, uint64_t event) {
  uint16_t id = 0;
  if (!find_block_source(m, bank, event, &id)) {
    sink_count_omitted(&m->counts, SINK_NOT_REPRESENTABLE, bank);
    return SL_OK;
  }
  if (m->bank_count == m->bank_capacity) {
    const uint32_t capacity = m->bank_capacity ? 2 * m->bank_capacity : 1024;
    struct collected_bank *larger = (struct collected_bank *)realloc(m->banks, capacity * sizeof *larger);
    if (!larger) return SL_ENOMEM;
    m->banks = larger;
    m->bank_capacity = capacity;
  }
  m->banks[m->bank_count++] = (struct collected_bank){*bank, NULL, id};
  return SL_OK;
}

/* Collects the banks that go into the packet. The caller has checked that they can be read. */
static int collect_banks(struct mep_sink *m, const struct sink_record *record, uint64_t begin, uint64_t end,
                         uint64_t event) {
  struct io_bank bank;
  struct mdf_fault fault;
  int error = SL_OK;
  m->bank_count = 0;
  for (uint64_t at = 0, next = 0; !error && mdf_bank_next(record->body, record->body_bytes, &next, &bank, &fault) > 0;
       at = next) {
    if (at < begin || at >= end)
      sink_count_omitted(&m->counts, SINK_CROSSINGS, &bank);
    else if (m->types.excluded[bank.type])
      sink_count_omitted(&m->counts, SINK_EXCLUDED, &bank);
    else
      error = collect_bank(m, &bank, event);
  }
  return error;
}

/* Returns an unused block for a bank: same source id, and same type or one of the types marked broken. NULL if there is
 * none. */
static struct source *find_source(const struct mep_sink *m, const struct collected_bank *p, uint64_t match) {
  const uint8_t type = p->bank.type;
  for (struct source *source = m->of_id[p->id]; source; source = source->same_id)
    if (source->seen != match && (source->type == type || mep_is_broken_type(type) || mep_is_broken_type(source->type)))
      return source;
  return NULL;
}

enum { PACKET_FITS, PACKET_MUST_END, ORDER_MUST_END };

/* Finds the blocks of all banks, and returns whether the event can be added to the packet. */
static int match_banks(struct mep_sink *m) {
  const uint64_t match = ++m->matches;
  int fit = m->packet_bytes >= PACKET_BYTES_MAX ? PACKET_MUST_END : PACKET_FITS;
  uint32_t at = 0, new_count = 0;
  for (uint32_t i = 0; i < m->bank_count; i++) {
    struct collected_bank *p = &m->banks[i];
    p->source = find_source(m, p, match);
    if (!p->source) {
      new_count++;
      continue;
    }
    p->source->seen = match;
    if (p->source->index < at) return ORDER_MUST_END;
    at = p->source->index + 1;
    if (p->source->count && p->source->version != p->bank.version) fit = PACKET_MUST_END;
  }
  return m->source_count + new_count > MEP_BLOCKS_MAX ? ORDER_MUST_END : fit;
}

static uint32_t order_of(uint8_t type, uint16_t bank_source) { return (uint32_t)type << 16 | bank_source; }

/* Adds blocks for the banks without one. A new block is placed between the blocks of the neighbouring banks, sorted by
 * type and source id, which is the order in the files of the experiment. Rationale: with this order, blocks of sources
 * that appear later are likely to fit, so fewer packets end early. */
static int add_sources(struct mep_sink *m) {
  uint32_t added = 0, at = 0;
  for (uint32_t i = 0, next = 0; i < m->bank_count; i++) {
    struct collected_bank *p = &m->banks[i];
    if (p->source) {
      at = p->source->index + added + 1;
      continue;
    }
    if (next <= i)
      for (next = i + 1; next < m->bank_count && !m->banks[next].source;) next++;
    const uint32_t limit = next < m->bank_count ? m->banks[next].source->index + added : m->source_count;
    const uint32_t order = order_of(p->bank.type, p->bank.source_id);
    while (at < limit && order_of(m->sources[at]->type, m->sources[at]->first_bank_source) < order) at++;
    const int error = add_source(m, p, at);
    if (error) return error;
    at++;
    added++;
  }
  if (added) set_indices(m);
  return SL_OK;
}

/* Adds the collected banks as one event to the packet, after ending the packet if necessary. */
static int add_event(struct mep_sink *m, const uint8_t *end) {
  int fit = match_banks(m), error = SL_OK;
  if (fit != PACKET_FITS) {
    error = write_packet(m);
    if (fit == ORDER_MUST_END) drop_sources(m, 1);
    if (!error) (void)match_banks(m);
  }
  if (error) return error;
  m->is_within_event = 1;
  error = add_sources(m);
  for (uint32_t i = 0; i < m->bank_count && !error; i++)
    error = add_fragment(m, m->banks[i].source, &m->banks[i].bank, end);
  if (error) return error;
  m->event_count++;
  m->is_within_event = 0;
  return SL_OK;
}

/* Returns 1 if reading the packet gives the same record header. */
static int header_is_representable(const struct mep_sink *m, const struct sink_record *record) {
  uint32_t run = 0, orbit = 0, bunch = 0;
  uint64_t number;
  uint8_t header[SINK_HEADER_BYTES];
  if (record->header_bytes == 0) return 1;
  if (record->header_bytes != SINK_HEADER_BYTES || record->header.checksum == 0 || record->size_bytes % 4) return 0;
  for (uint32_t i = 0; i < m->bank_count; i++)
    if (mdf_odin_identity(&m->banks[i].bank, &run, &number)) {
      (void)mdf_odin_crossing(&m->banks[i].bank, &orbit, &bunch);
      break;
    }
  sink_make_header(header, run, orbit, bunch);
  return memcmp(header + MDF_HASHED_FROM, record->bytes + MDF_HASHED_FROM, sizeof header - MDF_HASHED_FROM) == 0;
}

/* ---------------------------------------------------------------------------------------------------- events */

static int banks_can_be_read(const struct sink_record *record) {
  struct io_bank bank;
  struct mdf_fault fault;
  uint64_t position = 0;
  int more;
  do more = mdf_bank_next(record->body, record->body_bytes, &position, &bank, &fault);
  while (more > 0);
  return more == 0;
}

/* Returns the range of the banks that go into a packet: 1, or 0 if the record cannot be read. */
static int find_banks(struct mep_sink *m, struct sink_record *record, const struct sl_event *event, uint64_t *begin,
                      uint64_t *end) {
  struct mdf_fault fault;
  if (sink_record_is_bad(record, event) || sink_record_open(&m->decompressor, record)) return 0;
  if (!banks_can_be_read(record)) return 0;
  *begin = 0;
  *end = record->body_bytes;
  return !sink_record_has_crossings(record) ||
         mdf_event_banks(record->body, record->body_bytes, begin, end, &fault) == 0;
}

/* Returns 1 if the event is in a packet, 0 if it has nothing to write, or an error. */
static int write_event(struct mep_sink *m, const struct mep_sink_args *args, uint32_t e, const struct sl_event *event) {
  struct sink_record record;
  uint64_t begin, end;
  if (!sink_record_find(&args->record, e, &record)) return 0;
  if (!find_banks(m, &record, event, &begin, &end)) {
    sink_count_omitted_record(&m->counts, &m->decompressor, SINK_UNREADABLE, &record);
    return 0;
  }
  int error = collect_banks(m, &record, begin, end, ++m->events_seen);
  if (error || m->bank_count == 0) return error;
  m->headers_not_representable += !header_is_representable(m, &record);
  error = add_event(m, record.body + record.body_bytes);
  if (!error && m->event_count == m->events_max) error = write_packet(m);
  return error ? error : 1;
}

static int mep_sink_consume(void *state, const struct sl_services *s, const void *args_, const struct sl_batch *batch) {
  const struct mep_sink_args *args = (const struct mep_sink_args *)args_;
  struct mep_sink *m = (struct mep_sink *)state;
  (void)s;
  uint32_t next = 0;
  for (uint32_t e = 0; e < batch->event_count; e++) {
    if (!sink_should_write(&m->counts, &m->decompressor, &args->record, batch, e, args->with_errors, &next)) continue;
    const int status = write_event(m, args, e, &batch->events[e]);
    if (status < 0) return status;
    m->counts.omitted += status == 0;
    m->counts.written += status != 0;
    m->counts.with_errors += status != 0 && batch->events[e].error != SL_EVENT_OK;
  }
  return SL_OK;
}

/* The current packet is not written before it is complete. */
static int mep_sink_flush(void *state, const struct sl_services *s) {
  struct mep_sink *m = (struct mep_sink *)state;
  (void)s;
  return m->output->flush(m->file);
}

static int mep_sink_rotate(void *state, const struct sl_services *s, const void *args) {
  struct mep_sink *m = (struct mep_sink *)state;
  (void)s, (void)args;
  const int error = write_packet(m);
  return error ? error : m->output->rotate(m->file);
}

static int mep_sink_finish(void *state, const struct sl_services *s, const struct sl_report *report) {
  struct mep_sink *m = (struct mep_sink *)state;
  (void)s;
  int error = write_packet(m);
  if (!error) error = m->output->finish(m->file);
  if (error) return error;
  sink_counts_report(&m->counts, report, m->output->path(m->file), m->output->bytes(m->file));
  report->integer(report->context, "headers_not_representable", (int64_t)m->headers_not_representable);
  if (m->headers_not_representable)
    report->line(report->context,
                 "record headers that packets cannot represent (trigger mask, run or crossing different from ODIN, "
                 "version, no checksum, compression): %" PRIu64,
                 m->headers_not_representable);
  return SL_OK;
}

/* After a failed run, the events of the incomplete packet are written as a packet of their own. */
static void mep_sink_close(void *state) {
  struct mep_sink *m = (struct mep_sink *)state;
  if (m->file && !m->is_within_event) (void)write_packet(m);
  if (m->file) m->output->close(m->file);
  for (uint32_t i = 0; i < m->source_count; i++) free_source(m->sources[i]);
  free(m->sources);
  free(m->of_id);
  free(m->seen_of_id);
  free(m->count_of_id);
  mdf_decompressor_free(&m->decompressor);
  free(m->banks);
}

static const struct sl_sink mep_sink_functions = {.open = mep_sink_open,
                                                  .consume = mep_sink_consume,
                                                  .finish = mep_sink_finish,
                                                  .close = mep_sink_close,
                                                  .flush = mep_sink_flush,
                                                  .rotate = mep_sink_rotate};

SL_SINK(mep_sink, "writes events to packets of the event builder (MEP)", struct mep_sink, mep_sink_functions,
        SL_CHECK(mep_sink_check));
