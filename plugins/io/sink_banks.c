/* sink_banks.c: see sink_banks.h. */
#include "sink_banks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static uint8_t first_type(const struct sink_port *p) { return p->is_made ? p->header.type : p->kind->types[0]; }

/* Ports of equal types keep the order of their names. */
static int in_order(const void *a_, const void *b_) {
  const struct sink_port *a = (const struct sink_port *)a_, *b = (const struct sink_port *)b_;
  if (a->is_made != b->is_made) return a->is_made ? 1 : -1;
  if (first_type(a) != first_type(b)) return (int)first_type(a) - (int)first_type(b);
  return (int)a->index - (int)b->index;
}

int sink_banks_open(struct sink_banks *b, const struct io_raw_banks_view_ports *read,
                    const struct io_made_banks_view_ports *made) {
  const uint32_t made_count = made ? made->count : 0;
  b->ports = (struct sink_port *)calloc((size_t)read->count + made_count + 1, sizeof *b->ports);
  if (!b->ports) return SL_ENOMEM;
  for (uint32_t i = 0; i < read->count; i++) {
    struct sink_port *p = &b->ports[b->count++];
    p->index = i;
    p->kind = (const struct io_bank_kind *)read->ports[i].collection->trait->data;
  }
  for (uint32_t i = 0; i < made_count; i++) {
    struct sink_port *p = &b->ports[b->count++];
    const struct io_made_kind *kind = (const struct io_made_kind *)made->ports[i].collection->trait->data;
    p->index = i;
    p->is_made = 1;
    p->header = (struct io_bank){NULL, 0, kind->source_id, kind->type, kind->version};
  }
  qsort(b->ports, b->count, sizeof *b->ports, in_order);
  return SL_OK;
}

void sink_banks_close(struct sink_banks *b) {
  free(b->ports);
  b->ports = NULL;
  b->count = 0;
}

static void take_type(struct sink_banks *b, uint8_t type, uint32_t port) {
  if (b->port_of_type[type] == b->count) b->port_of_type[type] = port;
}

void sink_banks_begin(struct sink_banks *b, const struct io_raw_banks_view_ports *read,
                      const struct io_made_banks_view_ports *made) {
  for (uint32_t type = 0; type < SINK_BANK_TYPES; type++) b->port_of_type[type] = b->count;
  for (uint32_t i = 0; i < b->count; i++) {
    struct sink_port *p = &b->ports[i];
    if (!p->is_made) continue;
    p->made = made->at[p->index];
    p->offsets = p->made.offsets;
    if (p->offsets) take_type(b, p->header.type, i);
  }
  for (uint32_t i = 0; i < b->count; i++) {
    struct sink_port *p = &b->ports[i];
    if (p->is_made) continue;
    p->read = read->at[p->index];
    p->offsets = p->read.offsets;
    for (uint32_t t = 0; p->offsets && t < p->kind->type_count; t++) take_type(b, p->kind->types[t], i);
  }
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
