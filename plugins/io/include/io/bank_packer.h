/* bank_packer.h: writes the events of a source of raw banks to its ports: one port for each kind of bank that a plugin
 * declares (raw_banks.h), and one for whole records (raw_record.h). */
#ifndef IO_BANK_PACKER_H
#define IO_BANK_PACKER_H

#include "io/raw_banks.h"
#include "io/raw_record.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Usage:
 *
 *   #define SL_ARGS my_source_args
 *   #define MY_SOURCE(M)                                                                  \
 *     M(OPEN_OUT, banks, io_raw_banks, IO_RAW_BANKS_TRAIT, "raw banks, one port per kind")  \
 *     IO_RAW_RECORD_OUT(M)                                                                \
 *     M(BOOL, strict, 0, "...")
 *   SL_HOST_ARGUMENTS(my_source, MY_SOURCE);
 *
 *   in open:   io_packer_open(&packer, &args->banks)
 *   in fill:   io_packer_begin(&packer, &args->banks, &args->record);
 *              for each event: io_packer_add(&packer, &bank) for each of its banks, and io_packer_take_record or
 *                io_packer_add_to_record for each bank; then, by the result of io_packer_fit,
 *                io_packer_commit    it fits: the event is in the slice
 *                io_packer_drop      the event is in the slice with its record only, without banks
 *                io_packer_cancel    the slice is full: repeat the event in the next slice
 *              io_packer_finish(&packer)
 *   in close:  io_packer_report_absent(&packer, services) with the services given to `open`; io_packer_close(&packer)
 *
 * Banks that do not fit are still counted, so that io_packer_fit can distinguish a full slice from an event that fits
 * no slice. */

struct io_packer_port {
  struct io_raw_banks out; /* fields that no node reads are null */
  const char *name;
  const struct io_bank_kind *kind;
  uint64_t items, words;             /* amounts of the events in the slice */
  uint64_t event_items, event_words; /* amounts of the current event */
  uint32_t was_read, reserved;       /* a node read it in any slice */
};

/* The port of records. */
struct io_packer_record {
  struct io_raw_record out;
  uint64_t items, words;                    /* amounts of the events in the slice */
  uint64_t event_bytes;                     /* size of the record of the current event */
  uint32_t event_items, event_header_bytes; /* record of the current event */
  uint32_t large_bank, reserved;            /* size of a bank that no record can hold; 0: none */
};

struct io_packer {
  struct io_packer_record record;
  struct io_packer_port *ports;
  uint32_t count, reserved;
  uint32_t *readers;                 /* ports that are read, by bank type: those of type t begin at first[t] */
  uint32_t first[IO_BANK_TYPES + 1]; /* and end at first[t + 1] */
  uint64_t events;                   /* events without error in all slices */
  uint8_t seen[IO_BANK_TYPES];       /* an event had banks of the type, read or not */
};

/* Needs of an event in one port, or the offsets in the slice where its next bank is written. */
struct io_packer_amount {
  uint32_t items, words;
};

enum { IO_PACKER_FITS, IO_PACKER_SLICE_IS_FULL, IO_PACKER_TOO_LARGE };

/* An amount that exceeds a limit. */
struct io_packer_excess {
  const char *port, *what; /* "velo_clusters", "words" */
  uint64_t needed;
  uint32_t limit;
  uint32_t large_bank; /* or the size of a bank that no record can hold */
};

static inline int io_packer_open(struct io_packer *p, const struct io_raw_banks_ports *ports) {
  uint32_t readers = 0;
  p->count = ports->count;
  p->events = 0;
  memset(p->seen, 0, sizeof p->seen);
  p->ports = (struct io_packer_port *)calloc(ports->count + 1u, sizeof *p->ports);
  if (!p->ports) return SL_ENOMEM;
  for (uint32_t i = 0; i < ports->count; i++) {
    p->ports[i].name = ports->ports[i].name;
    p->ports[i].kind = (const struct io_bank_kind *)ports->ports[i].collection->trait->data;
    readers += p->ports[i].kind->type_count;
  }
  p->readers = (uint32_t *)calloc(readers + 1u, sizeof *p->readers);
  return p->readers ? SL_OK : SL_ENOMEM;
}

static inline void io_packer_close(struct io_packer *p) {
  free(p->ports);
  free(p->readers);
  p->ports = NULL;
  p->readers = NULL;
  p->count = 0;
}

static inline int io_packer_port_is_read(const struct io_packer_port *port) {
  const struct io_raw_banks *o = &port->out;
  return o->offsets || o->source_id || o->type || o->version || o->size_bytes || o->first_word || o->payload;
}

static inline void io_packer_find_readers(struct io_packer *p) {
  memset(p->first, 0, sizeof p->first);
  for (uint32_t i = 0; i < p->count; i++)
    for (uint32_t t = 0; io_packer_port_is_read(&p->ports[i]) && t < p->ports[i].kind->type_count; t++)
      p->first[p->ports[i].kind->types[t]]++;
  for (uint32_t type = 0; type < IO_BANK_TYPES; type++) p->first[type + 1u] += p->first[type];
  /* first[type] is the end of the type here, and moves to its beginning while the list is filled backwards. */
  for (uint32_t i = p->count; i-- > 0;)
    for (uint32_t t = 0; io_packer_port_is_read(&p->ports[i]) && t < p->ports[i].kind->type_count; t++)
      p->readers[--p->first[p->ports[i].kind->types[t]]] = i;
}

/* Begins a slice. `record` may be NULL if the source has no such output. */
static inline void io_packer_begin(struct io_packer *p, const struct io_raw_banks_ports *ports,
                                   const struct io_raw_record *record) {
  memset(&p->record, 0, sizeof p->record);
  if (record) p->record.out = *record;
  if (p->record.out.offsets) p->record.out.offsets[0] = 0;
  for (uint32_t i = 0; ports && i < p->count; i++) {
    struct io_packer_port *port = &p->ports[i];
    port->out = ports->at[i];
    port->items = port->words = port->event_items = port->event_words = 0;
    port->was_read |= (uint32_t)io_packer_port_is_read(port);
    if (port->out.offsets) port->out.offsets[0] = 0;
  }
  io_packer_find_readers(p);
}

/* Returns 1 if a node reads banks of the type. */
static inline int io_packer_type_is_read(const struct io_packer *p, uint8_t type) {
  return p->first[type + 1u] > p->first[type];
}

static inline void io_packer_put(struct io_packer_port *port, const struct io_bank *bank) {
  const struct io_raw_banks *out = &port->out;
  const uint32_t word_count = (bank->size_bytes + 3u) / 4u;
  const uint64_t item = port->items + port->event_items++, word = port->words + port->event_words;
  port->event_words += word_count;
  if (item >= out->bound.capacity || word + word_count > out->payload_bound.capacity) return;
  if (out->source_id) out->source_id[item] = bank->source_id;
  if (out->type) out->type[item] = bank->type;
  if (out->version) out->version[item] = bank->version;
  if (out->size_bytes) out->size_bytes[item] = bank->size_bytes;
  if (out->first_word) out->first_word[item] = (uint32_t)word;
  if (!out->payload || word_count == 0) return;
  out->payload[word + word_count - 1] = 0; /* zero padding */
  memcpy(out->payload + word, bank->payload, bank->size_bytes);
}

static inline void io_packer_add(struct io_packer *p, const struct io_bank *bank) {
  p->seen[bank->type] = 1;
  for (uint32_t i = p->first[bank->type]; i < p->first[bank->type + 1u]; i++)
    io_packer_put(&p->ports[p->readers[i]], bank);
}

/* ----------------------------------------------------------------------------------- events in parallel */

/* A source that processes many events in parallel (struct sl_services, in_parallel) replaces the calls that copy:
 * 1. Workers count what each event needs with io_packer_count.
 * 2. One thread, for each event in order: io_packer_need, io_packer_need_record, io_packer_fit, io_packer_get_offsets
 * for the
 *    offsets of its banks, io_packer_commit.
 * 3. Workers copy the committed events with io_packer_put_at and io_packer_put_record, before the slice ends. */

/* Adds banks of one type with `words` payload words to the amounts of an event, one entry per port. Any worker may call
 * it. */
static inline uint32_t io_packer_bank_words(uint32_t size_bytes) { return (size_bytes + 3u) / 4u; }
static inline void io_packer_count(const struct io_packer *p, struct io_packer_amount *amounts, uint8_t type,
                                   uint32_t banks, uint32_t words) {
  for (uint32_t i = p->first[type]; i < p->first[type + 1u]; i++) {
    amounts[p->readers[i]].items += banks;
    amounts[p->readers[i]].words += words;
  }
}

/* Sets the amounts of the current event. */
static inline void io_packer_need(struct io_packer *p, const struct io_packer_amount *amounts) {
  for (uint32_t i = 0; i < p->count; i++) {
    p->ports[i].event_items = amounts[i].items;
    p->ports[i].event_words = amounts[i].words;
  }
}

/* Returns in `amounts` the offsets where the banks of the current event, which fits, will begin. */
static inline void io_packer_get_offsets(const struct io_packer *p, struct io_packer_amount *amounts) {
  for (uint32_t i = 0; i < p->count; i++)
    amounts[i] = (struct io_packer_amount){(uint32_t)p->ports[i].items, (uint32_t)p->ports[i].words};
}

static inline void io_packer_put_run_(const struct io_packer_port *port, struct io_packer_amount *at,
                                      const struct sl_feed_block *banks, uint32_t count) {
  const struct io_raw_banks out =
      port->out; /* a copy: the compiler must assume that the writes below change the pointers */
  const uint64_t item = at->items;
  uint64_t word = at->words;
  if (item + count > out.bound.capacity) return; /* differs from the committed amounts */
  for (uint32_t i = 0; out.source_id && i < count; i++) out.source_id[item + i] = banks[i].source_id;
  for (uint32_t i = 0; out.type && i < count; i++) out.type[item + i] = banks[i].type;
  for (uint32_t i = 0; out.version && i < count; i++) out.version[item + i] = banks[i].version;
  for (uint32_t i = 0; out.size_bytes && i < count; i++) out.size_bytes[item + i] = (uint16_t)banks[i].bytes;
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t words = io_packer_bank_words(banks[i].bytes);
    if (word + words > out.payload_bound.capacity) return;
    if (out.first_word) out.first_word[item + i] = (uint32_t)word;
    if (out.payload && words) {
      out.payload[word + words - 1] = 0; /* zero padding */
      memcpy(out.payload + word, banks[i].data, banks[i].bytes);
    }
    word += words;
  }
  at->items += count;
  at->words = (uint32_t)word;
}

/* Copies the banks of a committed event to the offsets `amounts`, and advances them. Any worker may call it. `banks`
 * must have the counted sizes, at most IO_BANK_BYTES_MAX. */
static inline void io_packer_put_at(const struct io_packer *p, struct io_packer_amount *amounts,
                                    const struct sl_feed_block *banks, uint32_t count) {
  for (uint32_t begin = 0, end; begin < count; begin = end) {
    const uint8_t type = banks[begin].type;
    for (end = begin + 1; end < count && banks[end].type == type;) end++;
    for (uint32_t i = p->first[type]; i < p->first[type + 1u]; i++)
      io_packer_put_run_(&p->ports[p->readers[i]], &amounts[p->readers[i]], banks + begin, end - begin);
  }
}

/* ------------------------------------------------------------------------------------------------- records */

static inline int io_packer_record_is_read(const struct io_packer *p) { return p->record.out.data != NULL; }

static inline uint64_t io_packer_record_words_(const struct io_packer *p) { return (p->record.event_bytes + 3u) / 4u; }

/* Appends to the record of the current event, and copies if it fits. */
static inline void io_packer_append_(struct io_packer *p, const void *data, uint64_t bytes) {
  struct io_packer_record *r = &p->record;
  const uint64_t at = 4 * r->words + r->event_bytes;
  r->event_bytes += bytes;
  r->event_items = 1;
  if (bytes && r->words + io_packer_record_words_(p) <= r->out.data_bound.capacity)
    memcpy((char *)r->out.data + at, data, bytes);
}

/* Sets the record of the current event; its MDF header has `header_bytes`. */
static inline void io_packer_take_record(struct io_packer *p, const void *data, uint64_t bytes, uint32_t header_bytes) {
  if (!io_packer_record_is_read(p)) return;
  p->record.event_header_bytes = header_bytes;
  io_packer_append_(p, data, bytes);
}

/* io_packer_take_record without the copy: *word is the offset for io_packer_put_record. Returns 1 if a node reads
 * records and the record does not exceed the limit. */
static inline int io_packer_need_record(struct io_packer *p, uint64_t bytes, uint32_t header_bytes, uint64_t *word) {
  if (!io_packer_record_is_read(p)) return 0;
  p->record.event_header_bytes = header_bytes;
  p->record.event_bytes = bytes;
  p->record.event_items = 1;
  *word = p->record.words;
  return io_packer_record_words_(p) <= p->record.out.data_bound.event_limit;
}

static inline void io_packer_put_record(const struct io_packer *p, uint64_t word, const void *data, uint64_t bytes) {
  memcpy(p->record.out.data + word, data, bytes);
}

/* For a record that is composed of banks (io_packer_need_record): size of a bank, and its copy to offset `word`, which
 * returns the offset after it. */
static inline uint64_t io_packer_record_bank_words(uint32_t size_bytes) {
  return IO_BANK_HEADER_BYTES / 4 + io_packer_bank_words(size_bytes);
}
static inline uint64_t io_packer_put_bank_in_record(const struct io_packer *p, uint64_t word,
                                                    const struct io_bank *bank) {
  const uint64_t end = word + io_packer_record_bank_words(bank->size_bytes), header = io_bank_header(bank);
  uint32_t *at = p->record.out.data + word;
  if (end > p->record.out.data_bound.capacity) return word; /* differs from the committed amounts */
  p->record.out.data[end - 1] = 0;
  memcpy(at, &header, sizeof header);
  if (bank->size_bytes) memcpy(at + IO_BANK_HEADER_BYTES / 4, bank->payload, bank->size_bytes);
  return end;
}

/* Adds a bank to a record that is composed of banks. In memory the payload is followed by `padding_bytes` bytes, which
 * are copied as its padding; missing padding up to a word is zero. */
static inline void io_packer_add_to_record(struct io_packer *p, const struct io_bank *bank, uint32_t padding_bytes) {
  if (!io_packer_record_is_read(p)) return;
  if (bank->size_bytes > IO_BANK_BYTES_MAX) p->record.large_bank = bank->size_bytes;
  const uint32_t zeros = 0, needed = (4u - bank->size_bytes % 4u) % 4u,
                 copied = padding_bytes < needed ? padding_bytes : needed;
  const uint64_t header = io_bank_header(bank);
  io_packer_append_(p, &header, sizeof header);
  io_packer_append_(p, bank->payload, (uint64_t)bank->size_bytes + copied);
  io_packer_append_(p, &zeros, needed - copied);
}

static inline int io_packer_record_is_too_large_(const struct io_packer *p) {
  return p->record.large_bank ||
         (io_packer_record_is_read(p) && io_packer_record_words_(p) > p->record.out.data_bound.event_limit);
}

static inline void io_packer_discard_record_(struct io_packer *p) {
  p->record.event_bytes = 0;
  p->record.event_items = p->record.event_header_bytes = p->record.large_bank = 0;
}

static inline void io_packer_commit_record_(struct io_packer *p, uint32_t event) {
  struct io_packer_record *r = &p->record;
  if (!io_packer_record_is_read(p)) return;
  if (r->event_items) {
    const uint64_t words = io_packer_record_words_(p), at = 4 * r->words + r->event_bytes;
    r->out.header_bytes[r->items] = r->event_header_bytes;
    r->out.size_bytes[r->items] = (uint32_t)r->event_bytes;
    r->out.first_word[r->items++] = (uint32_t)r->words;
    memset((char *)r->out.data + at, 0, 4 * words - r->event_bytes);
    r->words += words;
  }
  r->out.offsets[event + 1u] = (uint32_t)r->items;
  io_packer_discard_record_(p);
}

/* ------------------------------------------------------------------------------------------- limits */

static inline void io_packer_note_(uint64_t before, uint64_t needed, const struct sl_bound *bound, const char *port,
                                   const char *what, int *worst, struct io_packer_excess *excess) {
  const int is_too_large = needed > bound->event_limit;
  if ((!is_too_large && before + needed <= bound->capacity) || *worst == IO_PACKER_TOO_LARGE) return;
  *worst = is_too_large ? IO_PACKER_TOO_LARGE : IO_PACKER_SLICE_IS_FULL;
  excess->port = port;
  excess->what = what;
  excess->needed = needed;
  excess->limit = bound->event_limit;
}

/* Returns whether the current event fits; if not, `excess` describes why. An event that exceeds the limit of a port
 * still waits for a slice with room for its record. */
static inline int io_packer_fit(const struct io_packer *p, struct io_packer_excess *excess) {
  int worst = IO_PACKER_FITS;
  memset(excess, 0, sizeof *excess);
  for (uint32_t i = 0; i < p->count; i++) {
    const struct io_packer_port *port = &p->ports[i];
    io_packer_note_(port->items, port->event_items, &port->out.bound, port->name, "banks", &worst, excess);
    io_packer_note_(port->words, port->event_words, &port->out.payload_bound, port->name, "words", &worst, excess);
  }
  if (!io_packer_record_is_read(p)) return worst;
  const struct io_packer_record *r = &p->record;
  if (!io_packer_record_is_too_large_(p)) {
    const int fits = r->items + r->event_items <= r->out.bound.capacity &&
                     r->words + io_packer_record_words_(p) <= r->out.data_bound.capacity;
    return fits ? worst : IO_PACKER_SLICE_IS_FULL;
  }
  *excess = (struct io_packer_excess){"record", "words", io_packer_record_words_(p),
                                      p->record.out.data_bound.event_limit, p->record.large_bank};
  return IO_PACKER_TOO_LARGE;
}

/* Writes the reason why an event is too large. */
static inline void io_packer_excess_text(const struct io_packer_excess *excess, char *text, size_t text_size) {
  if (excess->large_bank) {
    snprintf(text, text_size, "has a fragment of %" PRIu32 " bytes, more than the %d of a raw bank", excess->large_bank,
             IO_BANK_BYTES_MAX);
    return;
  }
  snprintf(text, text_size,
           "has %" PRIu64 " %s of %s, an event may have %" PRIu32 " (a higher budget %s_%s allows more)",
           excess->needed, excess->what, excess->port, excess->limit, excess->port, excess->what);
}

/* Discards the banks of the current event, but not its record. */
static inline void io_packer_discard_banks(struct io_packer *p) {
  for (uint32_t i = 0; i < p->count; i++) p->ports[i].event_items = p->ports[i].event_words = 0;
}

/* Adds the current event to the slice at index `event`. */
static inline void io_packer_commit(struct io_packer *p, uint32_t event) {
  p->events++;
  for (uint32_t i = 0; i < p->count; i++) {
    struct io_packer_port *port = &p->ports[i];
    port->items += port->event_items;
    port->words += port->event_words;
    port->event_items = port->event_words = 0;
    if (port->out.offsets) port->out.offsets[event + 1u] = (uint32_t)port->items;
  }
  io_packer_commit_record_(p, event);
}

static inline void io_packer_cancel(struct io_packer *p) {
  io_packer_discard_banks(p);
  io_packer_discard_record_(p);
}

static inline void io_packer_drop(struct io_packer *p, uint32_t event) {
  io_packer_discard_banks(p);
  if (io_packer_record_is_too_large_(p)) io_packer_discard_record_(p);
  io_packer_commit(p, event);
  p->events--;
}

/* Ends a slice: sets the used amounts of all ports. */
static inline void io_packer_finish(struct io_packer *p) {
  for (uint32_t i = 0; i < p->count; i++) {
    const struct io_packer_port *port = &p->ports[i];
    const struct sl_bound *items = &port->out.bound, *words = &port->out.payload_bound;
    if (items->used && *items->used < port->items) *items->used = (uint32_t)port->items;
    if (words->used && *words->used < port->words) *words->used = (uint32_t)port->words;
  }
  const struct io_packer_record *r = &p->record;
  if (r->out.bound.used && *r->out.bound.used < r->items) *r->out.bound.used = (uint32_t)r->items;
  if (r->out.data_bound.used && *r->out.data_bound.used < r->words) *r->out.data_bound.used = (uint32_t)r->words;
}

/* ---------------------------------------------------------------------------------------- absent kinds */

/* Appends a type to a list such as "8 or 63". */
static inline void io_packer_list_types_(char *text, size_t text_size, uint32_t type, const char *between) {
  const size_t length = strlen(text);
  snprintf(text + length, text_size - length, "%s%" PRIu32, length ? between : "", type);
}

/* Reports kinds that a node reads and no event had, unless they are rare: graph or file are probably the wrong one. */
static inline void io_packer_report_absent(const struct io_packer *p, const struct sl_services *s) {
  char present[5 * IO_BANK_TYPES] = "", type_list[6 * IO_BANK_TYPES_MAX];
  for (uint32_t type = 0; type < IO_BANK_TYPES; type++)
    if (p->seen[type]) io_packer_list_types_(present, sizeof present, type, ", ");
  for (uint32_t i = 0; p->ports && p->events && i < p->count; i++) {
    const struct io_packer_port *port = &p->ports[i];
    int is_there = !port->was_read || port->kind->is_rare;
    type_list[0] = '\0';
    for (uint32_t t = 0; t < port->kind->type_count; t++) {
      is_there |= p->seen[port->kind->types[t]];
      io_packer_list_types_(type_list, sizeof type_list, port->kind->types[t], " or ");
    }
    if (!is_there)
      s->message(s->context, SL_WARNING, "no event had a bank of type %s (%s); types present: %s", type_list,
                 port->name, *present ? present : "none");
  }
}

/* Returns the number of parallel steps for a copy: each is worth waking a worker, and all workers end at about the same
 * time. */
static inline uint32_t io_packer_steps(uint64_t bytes) { return (uint32_t)(bytes >> 16) + 1; }

/* Returns the first event of step `step` of `steps` in [first, end); `end` for step `steps`. */
static inline uint32_t io_packer_step(uint32_t first, uint32_t end, uint32_t step, uint32_t steps) {
  return first + (uint32_t)((uint64_t)(end - first) * step / steps);
}

#endif
