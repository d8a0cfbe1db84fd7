/* sink_records.h: functions shared by sinks of raw data: the record of an event, the selection of banks to write, and
 * the counts of omitted banks, which each sink reports at its end. */
#ifndef IO_SINK_RECORDS_H
#define IO_SINK_RECORDS_H

#include "format/mdf.h"
#include "format/mdf_decompress.h"
#include "io/raw_record.h"

#include <sluice/plugin.h>

enum { SINK_HEADER_BYTES = 48 };

/* -------------------------------------------------------------------------------------------------- records */

struct sink_record {
  const uint8_t *bytes; /* record as it was read, padded with zeros to a word */
  uint32_t size_bytes, header_bytes;
  const uint8_t *body; /* set by sink_record_open: the banks */
  uint64_t body_bytes;
  struct mdf_record header; /* valid if header_bytes is not 0 */
};

/* Returns the record of an event of the batch: 1, or 0 if it has none. */
int sink_record_find(const struct io_raw_record_view *in, uint32_t event, struct sink_record *record);
/* Locates the banks in the record, or decompresses them: 0, or -1 if they cannot be read. */
int sink_record_open(struct mdf_decompressor *d, struct sink_record *record);
/* Returns 1 if the source could not read the record. Such a record must not be changed, so that no reader takes it for
 * a sound one. */
static inline int sink_record_is_bad(const struct sink_record *record, const struct sl_event *event) {
  return record->header_bytes != 0 && (event->error == SL_EVENT_CORRUPT || event->error == SL_EVENT_TRUNCATED);
}
/* Returns 1 if the record contains several crossings (TAE). */
int sink_record_has_crossings(const struct sink_record *record);
/* Writes a header of version 3, without length and checksum. */
void sink_make_header(uint8_t *header, uint32_t run, uint32_t orbit, uint32_t bunch);

/* Returns the size with padding to a word. */
static inline uint32_t sink_padded(uint32_t size) { return (size + 3u) & ~3u; }
/* Copies `size` bytes of a bank, and its padding; padding after `end` is written as zeros. */
void sink_copy_padded(uint8_t *to, const uint8_t *from, uint32_t size, const uint8_t *end);

/* ------------------------------------------------------------------------------------------- omitted banks */

#define SINK_REASONS(R)                                                                       \
  R(NOT_LISTED, "not_listed", "of events that are not on the list")                           \
  R(EXCLUDED, "excluded", "of types excluded by only_types or excluded_types")                \
  R(REPLACED, "replaced", "replaced by banks made by the graph")                              \
  R(CROSSINGS, "crossings", "of neighbouring crossings in a TAE record, or its header banks") \
  R(NOT_REPRESENTABLE, "not_representable", "that packets cannot represent")                  \
  R(UNREADABLE, "unreadable", "of events that cannot be read")
#define SINK_REASON_ENUM_(name, key, text) SINK_##name,
enum { SINK_REASONS(SINK_REASON_ENUM_) SINK_REASON_COUNT };

struct sink_counts {
  uint64_t written;     /* events */
  uint64_t with_errors; /* of the written events, those with an error in this run */
  uint64_t omitted;     /* events without a bank to write */
  struct {
    uint64_t banks, bytes; /* including bank headers */
  } left[SINK_REASON_COUNT][IO_BANK_TYPES];
};
static inline void sink_count_omitted(struct sink_counts *c, uint32_t reason, const struct io_bank *bank) {
  c->left[reason][bank->type].banks++;
  c->left[reason][bank->type].bytes += IO_BANK_HEADER_BYTES + (uint64_t)bank->size_bytes;
}
/* Counts all readable banks of a record as omitted. */
void sink_count_omitted_record(struct sink_counts *c, struct mdf_decompressor *d, uint32_t reason,
                               struct sink_record *record);
/* Returns 1 if the event is to be written: it is on the list of the sink, or has an error and `with_errors` is set.
 * Otherwise counts its banks as omitted. Must be called for the events of a batch in order; *next is 0 before the
 * first. */
int sink_should_write(struct sink_counts *c, struct mdf_decompressor *d, const struct io_raw_record_view *in,
                      const struct sl_batch *batch, uint32_t event, uint32_t with_errors, uint32_t *next);
void sink_counts_report(const struct sink_counts *c, const struct sl_report *report, const char *path, uint64_t bytes);

#define SINK_CHOICE(M)                                                                    \
  M(BOOL, with_errors, 0, "also write events with an error, which are on no list")        \
  M(STRING, only_types, "", "bank types to write, separated by spaces; empty: all types") \
  M(STRING, excluded_types, "", "bank types not to write, separated by spaces")
struct sink_types {
  uint8_t excluded[IO_BANK_TYPES];
  uint32_t has_selection, reserved;
};
/* Reads the two lists of types: 0, or SL_EINVAL with a message. */
int sink_types_set(struct sink_types *t, const struct sl_services *s, const char *only, const char *excluded);

#endif
