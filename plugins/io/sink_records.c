/* sink_records.c: see sink_records.h. */
#include "sink_records.h"

#include <sluice/text.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------------------------------------------- records */

int sink_record_find(const struct io_raw_record_view *in, uint32_t event, struct sink_record *record) {
  const uint32_t i = in->offsets[event];
  if (in->offsets[event + 1] == i) return 0;
  *record = (struct sink_record){.bytes = (const uint8_t *)(in->data + in->first_word[i]),
                                 .size_bytes = in->size_bytes[i],
                                 .header_bytes = in->header_bytes[i]};
  return 1;
}

int sink_record_open(struct mdf_decompressor *d, struct sink_record *record) {
  enum { COMPRESSION_MAX = 9 };
  record->body = record->bytes + record->header_bytes;
  record->body_bytes = record->size_bytes - record->header_bytes;
  if (record->header_bytes == 0) return 0;
  if (!mdf_record_at(record->bytes, record->size_bytes, 0, &record->header)) return -1;
  if (record->header.data_type == MDF_DATA_MEP || record->header.compression > COMPRESSION_MAX) return -1;
  if (record->header.compression == 0) return 0;
  uint32_t bytes;
  struct mdf_fault fault;
  if (mdf_decompress(d, record->body, record->body_bytes, &bytes, &fault)) return -1;
  record->body = d->bytes;
  record->body_bytes = bytes;
  return 0;
}

int sink_record_has_crossings(const struct sink_record *record) {
  uint64_t position = 0;
  struct io_bank bank;
  struct mdf_fault fault;
  int more = mdf_bank_next(record->body, record->body_bytes, &position, &bank, &fault);
  if (more > 0 && bank.type == MDF_BANK_DAQ)
    more = mdf_bank_next(record->body, record->body_bytes, &position, &bank, &fault);
  return more > 0 && bank.type == MDF_BANK_TAE_HEADER;
}

void sink_make_header(uint8_t *header, uint32_t run, uint32_t orbit, uint32_t bunch) {
  enum { HEADER_TYPE = 0x37, MASK_BYTES = 16 };
  memset(header, 0, SINK_HEADER_BYTES);
  header[17] = HEADER_TYPE;
  header[18] = MDF_DATA_BANKS;
  memset(header + 20, 0xff, MASK_BYTES);
  memcpy(header + 36, &run, sizeof run);
  memcpy(header + 40, &orbit, sizeof orbit);
  memcpy(header + 44, &bunch, sizeof bunch);
}

void sink_copy_padded(uint8_t *to, const uint8_t *from, uint32_t size, const uint8_t *end) {
  const uint32_t padded = sink_padded(size);
  const uint64_t left = (uint64_t)(end - from);
  const uint32_t there = left < padded ? (uint32_t)left : padded;
  if (there) memcpy(to, from, there);
  if (there < padded) memset(to + there, 0, padded - there);
}

/* ------------------------------------------------------------------------------------------- omitted banks */

void sink_count_omitted_record(struct sink_counts *c, struct mdf_decompressor *d, uint32_t reason,
                               struct sink_record *record) {
  struct io_bank bank;
  struct mdf_fault fault;
  uint64_t position = 0;
  if (sink_record_open(d, record)) return;
  while (mdf_bank_next(record->body, record->body_bytes, &position, &bank, &fault) > 0)
    sink_count_omitted(c, reason, &bank);
}

int sink_should_write(struct sink_counts *c, struct mdf_decompressor *d, const struct io_raw_record_view *in,
                      const struct sl_batch *batch, uint32_t event, uint32_t with_errors, uint32_t *next) {
  struct sink_record record;
  if (!batch->selected) return 1;
  const int is_listed = *next < batch->selected_count && batch->selected[*next] == event;
  *next += (uint32_t)is_listed;
  if (is_listed || (with_errors && batch->events[event].error != SL_EVENT_OK)) return 1;
  if (sink_record_find(in, event, &record)) sink_count_omitted_record(c, d, SINK_NOT_LISTED, &record);
  return 0;
}

static const struct {
  const char *key, *text;
} reasons[SINK_REASON_COUNT] = {
#define SINK_REASON_TEXT_(name, key, text) {key, text},
    SINK_REASONS(SINK_REASON_TEXT_)};

static void report_omitted(const struct sink_counts *c, const struct sl_report *report) {
  report->begin_array(report->context, "omitted");
  for (uint32_t r = 0; r < SINK_REASON_COUNT; r++)
    for (uint32_t type = 0; type < IO_BANK_TYPES; type++) {
      const uint64_t banks = c->left[r][type].banks, bytes = c->left[r][type].bytes;
      if (banks == 0) continue;
      report->begin_object(report->context, NULL);
      report->text(report->context, "reason", reasons[r].key);
      report->integer(report->context, "type", type);
      report->integer(report->context, "banks", (int64_t)banks);
      report->integer(report->context, "bytes", (int64_t)bytes);
      report->end_object(report->context);
      report->line(report->context, "omitted: %" PRIu64 " bank%s of type %" PRIu32 ", %" PRIu64 " bytes, %s", banks,
                   banks == 1 ? "" : "s", type, bytes, reasons[r].text);
    }
  report->end_array(report->context);
}

void sink_counts_report(const struct sink_counts *c, const struct sl_report *report, const char *path, uint64_t bytes) {
  report->text(report->context, "path", path);
  report->integer(report->context, "bytes", (int64_t)bytes);
  report->integer(report->context, "events", (int64_t)c->written);
  report->integer(report->context, "events_with_errors", (int64_t)c->with_errors);
  report->integer(report->context, "events_omitted", (int64_t)c->omitted);
  report->line(report->context, "wrote %" PRIu64 " %s, %" PRIu64 " bytes, to %s", c->written,
               sl_plural(c->written, "event", "events"), bytes, path);
  if (c->with_errors)
    report->line(report->context, "%" PRIu64 " of them %s in error in this run", c->with_errors,
                 sl_plural(c->with_errors, "is", "are"));
  if (c->omitted)
    report->line(report->context, "%" PRIu64 " %s no banks to write and %s not in the file", c->omitted,
                 sl_plural(c->omitted, "event had", "events had"), sl_plural(c->omitted, "is", "are"));
  report_omitted(c, report);
}

/* ----------------------------------------------------------------------------------------------------- types */

/* Marks the types of a list: 1, 0 if it is empty, or SL_EINVAL. */
static int mark_types(const struct sl_services *s, const char *property, const char *list, uint8_t *marks) {
  int count = 0;
  for (const char *at = list; *at != '\0';) {
    if (*at == ' ') {
      at++;
      continue;
    }
    char *end = NULL;
    const unsigned long type = *at >= '0' && *at <= '9' ? strtoul(at, &end, 10) : IO_BANK_TYPES;
    if (type >= IO_BANK_TYPES || (*end != ' ' && *end != '\0')) {
      s->message(s->context, SL_ERROR, "%s: \"%s\" is not a list of bank types from 0 to 255, such as \"16 73\"",
                 property, list);
      return SL_EINVAL;
    }
    marks[type] = 1;
    count = 1;
    at = end;
  }
  return count;
}

int sink_types_set(struct sink_types *t, const struct sl_services *s, const char *only, const char *excluded) {
  uint8_t selected_types[IO_BANK_TYPES] = {0};
  memset(t, 0, sizeof *t);
  const int has_only = mark_types(s, "only_types", only, selected_types);
  const int has_excluded = mark_types(s, "excluded_types", excluded, t->excluded);
  if (has_only < 0 || has_excluded < 0) return SL_EINVAL;
  for (uint32_t type = 0; has_only && type < IO_BANK_TYPES; type++) t->excluded[type] |= !selected_types[type];
  t->has_selection = has_only || has_excluded;
  return SL_OK;
}
