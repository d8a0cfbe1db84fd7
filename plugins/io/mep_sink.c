/* mep_sink.c: io.mep_sink, writes the raw banks of events to packets of the event builder (MEP), production format.
 *
 * Events are collected until a packet has its number; each source's fragments lie in a buffer of their own, so that a
 * packet is written source by source. A source that an event lacks has a missing fragment (type 92, no bytes) there. A
 * packet ends early where the banks of a source change their version, which is the block's, and where it grows to
 * PACKET_BYTES_MAX. Event ids count the events written, from 0: identity is ODIN's.
 *
 * What packets cannot hold ends the run: two banks of one type and source in an event, and banks without subsystem
 * whose number is too large (mep.h). An event without banks is left out and counted.
 */
#include "mep.h"
#include "sink_banks.h"

#include <sluice/plugin.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SL_ARGS mep_sink_args
#define MEP_SINK(M)                                                                   \
  M(OPEN_IN, banks, io_raw_banks, IO_RAW_BANKS_TRAIT, "", "raw banks, to be written") \
  M(STRING, path, "", "file to write; empty: that of -o")                             \
  M(U32, events, 1000, 1, MEP_EVENTS_MAX, "", "in a packet (the packing factor)")
SL_HOST_ARGUMENTS(mep_sink, MEP_SINK);

enum { ALIGNMENT = 2, PACKET_BYTES_MAX = 1 << 30, SOURCES = 1 << 16 };

struct source {
  uint8_t *fragments; /* padded to words */
  size_t bytes, capacity;
  uint8_t *types;
  uint16_t *sizes;
  uint32_t count; /* fragments so far; those of later events are missing */
  uint64_t seen;  /* the last event that has it, counted from 1 */
  uint16_t id;
  uint8_t version;
};

/* A bank of the event at hand, and where it goes. */
struct placed {
  struct io_bank bank;
  uint16_t id;
};

struct mep_sink {
  const struct sl_output_calls *to;
  struct sl_output *file;
  struct source *sources;
  uint32_t source_count, source_capacity;
  uint32_t *source_of_id; /* SOURCES entries: index + 1, or 0 */
  uint64_t *seen_of_id;   /* and the last event that has it, counted from 1 */
  struct placed *placed;
  uint32_t placed_count, placed_capacity;
  uint32_t events_max, event_count;
  uint32_t is_within_event, reserved; /* the packet cannot be written now */
  uint64_t packet_bytes;              /* of fragments */
  uint64_t event_id;                  /* of the packet's first event */
  struct sink_banks banks;
  struct sink_counts counts;
};

static int mep_sink_open(void *state, const struct sl_services *s, const void *args_, const char *output_path) {
  const struct mep_sink_args *args = (const struct mep_sink_args *)args_;
  struct mep_sink *m = (struct mep_sink *)state;
  m->to = s->output;
  m->events_max = args->events;
  m->source_of_id = (uint32_t *)calloc(SOURCES, sizeof *m->source_of_id);
  m->seen_of_id = (uint64_t *)calloc(SOURCES, sizeof *m->seen_of_id);
  if (!m->source_of_id || !m->seen_of_id) return SL_ENOMEM;
  if (sink_banks_open(&m->banks, &args->banks, NULL)) return SL_ENOMEM;
  return m->to->open(s, *args->path ? args->path : output_path, 0, &m->file);
}

/* --------------------------------------------------------------------------------------------------- sources */

static int add_source(struct mep_sink *m, uint16_t id) {
  if (m->source_count == m->source_capacity) {
    const uint32_t capacity = m->source_capacity ? 2 * m->source_capacity : 512;
    struct source *larger = (struct source *)realloc(m->sources, capacity * sizeof *larger);
    if (!larger) return SL_ENOMEM;
    m->sources = larger;
    m->source_capacity = capacity;
  }
  struct source *source = &m->sources[m->source_count];
  *source = (struct source){.id = id};
  source->types = (uint8_t *)malloc(m->events_max);
  source->sizes = (uint16_t *)malloc(m->events_max * sizeof *source->sizes);
  m->source_of_id[id] = ++m->source_count; /* from here on it is freed with the others */
  return source->types && source->sizes ? SL_OK : SL_ENOMEM;
}

static void fill_missing(struct source *source, uint32_t count) {
  for (; source->count < count; source->count++) {
    source->types[source->count] = MEP_FRAGMENT_MISSING;
    source->sizes[source->count] = 0;
  }
}

static int add_fragment(struct mep_sink *m, struct source *source, const struct io_bank *bank) {
  const size_t padded = (bank->size_bytes + 3u) & ~3u; /* the pool's padding is zero */
  if (source->bytes + padded > source->capacity) {
    const size_t capacity = 2 * (source->bytes + padded);
    uint8_t *larger = (uint8_t *)realloc(source->fragments, capacity);
    if (!larger) return SL_ENOMEM;
    source->fragments = larger;
    source->capacity = capacity;
  }
  fill_missing(source, m->event_count);
  if (padded) memcpy(source->fragments + source->bytes, bank->payload, padded);
  source->bytes += padded;
  m->packet_bytes += padded;
  source->types[source->count] = bank->type;
  source->sizes[source->count++] = bank->size_bytes;
  source->version = bank->version;
  return SL_OK;
}

/* --------------------------------------------------------------------------------------------------- packets */

static int by_id(const void *a, const void *b) {
  return (int)((const struct source *)a)->id - (int)((const struct source *)b)->id;
}

static uint32_t padded_count(uint32_t bytes) { return (bytes + 3u) & ~3u; }

static uint32_t lists_bytes(uint32_t events) {
  return MEP_BLOCK_HEADER_BYTES + padded_count(events) + padded_count(2 * events);
}

static int add_zeros(struct mep_sink *m, uint32_t bytes) {
  return bytes ? m->to->add(m->file, "\0\0\0", bytes) : SL_OK;
}

/* The packet's header and lists. */
static int write_header(struct mep_sink *m) {
  const uint32_t n = m->source_count, ids_bytes = padded_count(2 * n);
  const uint32_t header_words = (MEP_HEADER_BYTES + ids_bytes + 4 * n) / 4;
  uint64_t words = header_words;
  void *reserved;
  const int error = m->to->reserve(m->file, 4 * (size_t)header_words, &reserved);
  if (error) return error;
  uint8_t *place = (uint8_t *)reserved;
  memset(place, 0, 4 * (size_t)header_words);
  for (uint32_t i = 0; i < n; i++) {
    const uint32_t offset = (uint32_t)words;
    memcpy(place + MEP_HEADER_BYTES + 2 * i, &m->sources[i].id, 2);
    memcpy(place + MEP_HEADER_BYTES + ids_bytes + 4 * i, &offset, 4);
    words += (lists_bytes(m->event_count) + m->sources[i].bytes) / 4;
  }
  const uint16_t magic = MEP_MAGIC, count = (uint16_t)n;
  const uint32_t packet_words = (uint32_t)words;
  memcpy(place, &magic, 2);
  memcpy(place + 2, &count, 2);
  memcpy(place + 4, &packet_words, 4);
  return SL_OK;
}

static int write_block(struct mep_sink *m, const struct source *source) {
  const uint32_t n = m->event_count;
  const uint16_t magic = MEP_BLOCK_MAGIC, count = (uint16_t)n;
  const uint32_t bytes = (uint32_t)(lists_bytes(n) + source->bytes);
  void *reserved;
  int error = m->to->reserve(m->file, MEP_BLOCK_HEADER_BYTES, &reserved);
  if (error) return error;
  uint8_t *place = (uint8_t *)reserved;
  memcpy(place, &magic, 2);
  memcpy(place + 2, &count, 2);
  memcpy(place + 4, &bytes, 4);
  memcpy(place + 8, &m->event_id, 8);
  memcpy(place + 16, &source->id, 2);
  place[18] = ALIGNMENT;
  place[19] = source->version;
  error = m->to->add(m->file, source->types, n);
  if (!error) error = add_zeros(m, padded_count(n) - n);
  if (!error) error = m->to->add(m->file, source->sizes, 2 * (size_t)n);
  if (!error) error = add_zeros(m, padded_count(2 * n) - 2 * n);
  return error ? error : m->to->add(m->file, source->fragments, source->bytes);
}

static void free_source(struct source *source) {
  free(source->fragments);
  free(source->types);
  free(source->sizes);
}

/* Sorts the sources that have fragments; drops the others. */
static void arrange_sources(struct mep_sink *m) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < m->source_count; i++) {
    m->source_of_id[m->sources[i].id] = 0;
    if (m->sources[i].count == 0)
      free_source(&m->sources[i]);
    else
      m->sources[kept++] = m->sources[i];
  }
  m->source_count = kept;
  qsort(m->sources, kept, sizeof *m->sources, by_id);
  for (uint32_t i = 0; i < kept; i++) m->source_of_id[m->sources[i].id] = i + 1;
}

static int write_packet(struct mep_sink *m) {
  if (m->event_count == 0) return SL_OK;
  arrange_sources(m);
  int error = write_header(m);
  for (uint32_t i = 0; i < m->source_count && !error; i++) {
    fill_missing(&m->sources[i], m->event_count);
    error = write_block(m, &m->sources[i]);
    m->sources[i].count = 0;
    m->sources[i].bytes = 0;
  }
  if (error) return error;
  m->to->mark(m->file, m->event_count);
  m->event_id += m->event_count;
  m->event_count = 0;
  m->packet_bytes = 0;
  return SL_OK;
}

/* ---------------------------------------------------------------------------------------------------- events */

/* Finds the event's banks and their places: 1 if they begin a new packet, 0, or an error. */
static int place_banks(struct mep_sink *m, const struct sl_services *s, const struct sink_banks *banks, uint32_t e,
                       const struct sl_event *event) {
  const uint64_t seen = m->event_id + m->event_count + 1;
  int new_packet = m->packet_bytes >= PACKET_BYTES_MAX;
  struct sink_cursor cursor = sink_cursor_start();
  struct io_bank bank;
  m->placed_count = 0;
  while (sink_banks_next(banks, e, &cursor, &bank)) {
    if (m->placed_count == m->placed_capacity) {
      const uint32_t capacity = m->placed_capacity ? 2 * m->placed_capacity : 1024;
      struct placed *larger = (struct placed *)realloc(m->placed, capacity * sizeof *larger);
      if (!larger) return SL_ENOMEM;
      m->placed = larger;
      m->placed_capacity = capacity;
    }
    struct placed *p = &m->placed[m->placed_count++];
    p->bank = bank;
    if (!mep_block_source(bank.type, bank.source_id, &p->id)) {
      s->message(s->context, SL_ERROR, "event %" PRIu64 ": a packet has no place for banks of type %u and source %u",
                 event->number, bank.type, bank.source_id);
      return SL_EFORMAT;
    }
    if (m->seen_of_id[p->id] == seen) {
      s->message(s->context, SL_ERROR,
                 "event %" PRIu64 ": a packet has no place for two banks of type %u and source %u", event->number,
                 bank.type, bank.source_id);
      return SL_EFORMAT;
    }
    m->seen_of_id[p->id] = seen;
    const uint32_t known = m->source_of_id[p->id];
    if (known && m->sources[known - 1].count && m->sources[known - 1].version != bank.version) new_packet = 1;
  }
  return new_packet;
}

static int add_banks(struct mep_sink *m) {
  m->is_within_event = 1;
  for (uint32_t i = 0; i < m->placed_count; i++) {
    const struct placed *p = &m->placed[i];
    int error = m->source_of_id[p->id] ? SL_OK : add_source(m, p->id);
    if (!error) error = add_fragment(m, &m->sources[m->source_of_id[p->id] - 1], &p->bank);
    if (error) return error;
  }
  m->event_count++;
  m->is_within_event = 0;
  return SL_OK;
}

static int add_event(struct mep_sink *m, const struct sl_services *s, const struct sink_banks *banks, uint32_t e,
                     const struct sl_event *event) {
  const int new_packet = place_banks(m, s, banks, e, event);
  if (new_packet < 0) return new_packet;
  if (m->placed_count == 0) {
    m->counts.left_out++;
    return SL_OK;
  }
  int error = new_packet ? write_packet(m) : SL_OK;
  if (!error) error = add_banks(m);
  if (error) return error;
  m->counts.written++;
  m->counts.with_errors += event->error != SL_EVENT_OK;
  return m->event_count == m->events_max ? write_packet(m) : SL_OK;
}

static int mep_sink_consume(void *state, const struct sl_services *s, const void *args_, const struct sl_batch *batch) {
  const struct mep_sink_args *args = (const struct mep_sink_args *)args_;
  struct mep_sink *m = (struct mep_sink *)state;
  sink_banks_begin(&m->banks, &args->banks, NULL);
  SL_FOR_BATCH (e, batch) {
    const int error = add_event(m, s, &m->banks, e, &batch->events[e]);
    if (error) return error;
  }
  return SL_OK;
}

/* Packets are whole: the events of the one at hand wait for the others. */
static int mep_sink_flush(void *state, const struct sl_services *s) {
  struct mep_sink *m = (struct mep_sink *)state;
  (void)s;
  return m->to->flush(m->file);
}

static int mep_sink_finish(void *state, const struct sl_services *s, const struct sl_report *report) {
  struct mep_sink *m = (struct mep_sink *)state;
  (void)s;
  int error = write_packet(m);
  if (!error) error = m->to->finish(m->file);
  if (!error) sink_counts_report(&m->counts, report, m->to->place(m->file), m->to->bytes(m->file));
  return error;
}

/* After a failed run, the events that wait for the others of their packet are written as one of their own. */
static void mep_sink_close(void *state) {
  struct mep_sink *m = (struct mep_sink *)state;
  if (m->file && !m->is_within_event) (void)write_packet(m);
  if (m->file) m->to->close(m->file);
  for (uint32_t i = 0; i < m->source_count; i++) free_source(&m->sources[i]);
  free(m->sources);
  free(m->source_of_id);
  free(m->seen_of_id);
  free(m->placed);
  sink_banks_close(&m->banks);
}

static const struct sl_sink mep_sink_functions = {.open = mep_sink_open,
                                                  .consume = mep_sink_consume,
                                                  .finish = mep_sink_finish,
                                                  .close = mep_sink_close,
                                                  .flush = mep_sink_flush};

SL_SINK(mep_sink, "writes raw banks to packets of the event builder (MEP)", struct mep_sink, mep_sink_functions);
