/* sink_banks.c: see sink_banks.h. */
#include "sink_banks.h"

#include <inttypes.h>
#include <string.h>

#define FIRST_TYPE(first, ...)                 first
#define KIND_TYPE_(port, collection, doc, ...) FIRST_TYPE(__VA_ARGS__, 0),
static const uint8_t first_types[IO_KIND_COUNT] = {IO_RAW_BANK_KINDS(KIND_TYPE_)};

#define SAME_SIZE_(port, collection, doc, ...)                                         \
  SL_STATIC_ASSERT(sizeof(struct collection##_view) == sizeof(struct odin_banks_view), \
                   "all kinds have the same fields");
IO_RAW_BANK_KINDS(SAME_SIZE_)

#define MADE_SIZE_(port, collection, doc, ...)                                                       \
  SL_STATIC_ASSERT(sizeof(struct collection##_view) == sizeof(struct luminosity_summary_banks_view), \
                   "all kinds have the same fields");
IO_MADE_BANK_KINDS(MADE_SIZE_)

void sink_banks_begin(struct sink_banks *b, const void *args, int has_made) {
  const struct odin_banks_view *ports = (const struct odin_banks_view *)args;
  for (uint32_t kind = 0; kind < IO_KIND_COUNT; kind++) {
    uint32_t place = 0;
    for (uint32_t other = 0; other < IO_KIND_COUNT; other++) place += first_types[other] < first_types[kind];
    memcpy(&b->ports[place], &ports[kind], sizeof b->ports[place]);
  }
  memset(b->made, 0, sizeof b->made);
  if (has_made) memcpy(b->made, ports + IO_KIND_COUNT, sizeof b->made);
}

struct mdf_bank sink_banks_made(const struct sink_banks *b, uint32_t kind, uint32_t item) {
#define MADE_BANK_(port, collection, doc, type, version, source_id) {NULL, 0, source_id, type, version},
  static const struct mdf_bank headers[IO_MADE_COUNT] = {IO_MADE_BANK_KINDS(MADE_BANK_)};
  const struct luminosity_summary_banks_view *p = &b->made[kind];
  struct mdf_bank bank = headers[kind];
  bank.payload = (const uint8_t *)(p->word + p->word_offsets[item]);
  bank.size_bytes = p->size_bytes[item];
  return bank;
}

void sink_counts_report(const struct sink_counts *c, const struct sl_report *report, const char *path, uint64_t bytes) {
  report->text(report->context, "path", path);
  report->integer(report->context, "bytes", (int64_t)bytes);
  report->integer(report->context, "events", (int64_t)c->written);
  report->integer(report->context, "events_with_errors", (int64_t)c->with_errors);
  report->integer(report->context, "events_left_out", (int64_t)c->left_out);
  report->line(report->context, "wrote %" PRIu64 " events, %" PRIu64 " bytes, to %s", c->written, bytes, path);
  if (c->with_errors) report->line(report->context, "%" PRIu64 " of them are in error in this run", c->with_errors);
  if (c->left_out)
    report->line(report->context, "%" PRIu64 " events had no banks to write and are not in the file", c->left_out);
}
