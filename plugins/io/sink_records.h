/* sink_records.h: what sinks of raw data have in common: the record of an event, which of its banks are to be written,
 * and the count of those that are not, which every sink says at its end. */
#ifndef IO_SINK_RECORDS_H
#define IO_SINK_RECORDS_H

#include "format/mdf.h"
#include "format/mdf_decompress.h"
#include "io/raw_record.h"

#include <sluice/plugin.h>

enum { SINK_HEADER_BYTES = 48 };

/* -------------------------------------------------------------------------------------------------- records */

struct sink_record {
  const uint8_t *bytes; /* as it was read, padded with zeros to a word */
  uint32_t size_bytes, header_bytes;
  const uint8_t *body; /* after sink_record_open: its banks */
  uint64_t body_bytes;
  struct mdf_record header; /* where header_bytes is not 0 */
};

/* The record of an event of the batch: 1, or 0 if it has none. */
int sink_record_find(const struct io_raw_record_view *in, uint32_t event, struct sink_record *record);
/* Finds its banks, which lie in the record or are decompressed: 0, or -1 if they cannot be read. */
int sink_record_open(struct mdf_decompressor *d, struct sink_record *record);
/* Did the source find the record unreadable? Its bytes are not to be changed then: nobody is to take it for sound. */
static inline int sink_record_is_bad(const struct sink_record *record, const struct sl_event *event) {
  return record->header_bytes != 0 && (event->error == SL_EVENT_CORRUPT || event->error == SL_EVENT_TRUNCATED);
}
/* Does it hold the banks of several crossings (TAE)? */
int sink_record_has_crossings(const struct sink_record *record);
/* A header of version 3 for a body without one, but for length and checksum. */
void sink_make_header(uint8_t *header, uint32_t run, uint32_t orbit, uint32_t bunch);

/* The bytes that a bank takes, padding included; what of them lies before `end`. */
static inline uint32_t sink_padded(uint32_t size) { return (size + 3u) & ~3u; }
/* Copies `size` bytes of a bank and its padding, which is zero where the body ends before. */
void sink_copy_padded(uint8_t *to, const uint8_t *from, uint32_t size, const uint8_t *end);

/* ------------------------------------------------------------------------------------------- what is left out */

#define SINK_REASONS(R)                                                                     \
  R(NOT_LISTED, "not_listed", "of events that are not on the list")                         \
  R(NOT_WANTED, "not_wanted", "of types that are not to be written")                        \
  R(REPLACED, "replaced", "replaced by those that the graph made")                          \
  R(CROSSINGS, "crossings", "of other crossings of the event's record (TAE), or its heads") \
  R(NO_PLACE, "no_place", "that a packet has no place for")                                 \
  R(UNREADABLE, "unreadable", "of events that cannot be read")
#define SINK_REASON_ENUM_(name, key, text) SINK_##name,
enum { SINK_REASONS(SINK_REASON_ENUM_) SINK_REASON_COUNT };

struct sink_counts {
  uint64_t written;     /* events */
  uint64_t with_errors; /* of these, events that are in error in this run */
  uint64_t left_out;    /* events without a bank to be written */
  struct {
    uint64_t banks, bytes; /* with headers */
  } left[SINK_REASON_COUNT][IO_BANK_TYPES];
};
static inline void sink_leave_out(struct sink_counts *c, uint32_t reason, const struct io_bank *bank) {
  c->left[reason][bank->type].banks++;
  c->left[reason][bank->type].bytes += IO_BANK_HEADER_BYTES + (uint64_t)bank->size_bytes;
}
/* Counts the banks of a record, as far as they can be read. */
void sink_leave_out_record(struct sink_counts *c, struct mdf_decompressor *d, uint32_t reason,
                           struct sink_record *record);
/* Is the event to be written: is it on the sink's list, or in error, where those are wanted too? If not, its banks are
 * counted. Of a batch's events in their order; *next: 0 before the first. */
int sink_takes(struct sink_counts *c, struct mdf_decompressor *d, const struct io_raw_record_view *in,
               const struct sl_batch *batch, uint32_t event, uint32_t with_errors, uint32_t *next);
void sink_counts_report(const struct sink_counts *c, const struct sl_report *report, const char *path, uint64_t bytes);

/* Bank types that the sink is told to write or to leave out, and what of events with an error. */
#define SINK_CHOICE(M)                                                                          \
  M(BOOL, with_errors, 0, "also events with an error, which are on no list")                    \
  M(STRING, only_types, "", "bank types to write, separated by blanks; empty: all of an event") \
  M(STRING, without_types, "", "bank types to leave out, separated by blanks")
struct sink_types {
  uint8_t left_out[IO_BANK_TYPES];
  uint32_t is_narrow, reserved;
};
/* 0, or SL_EINVAL with a message. */
int sink_types_set(struct sink_types *t, const struct sl_services *s, const char *only, const char *without);

#endif
