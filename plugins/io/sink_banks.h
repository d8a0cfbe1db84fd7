/* sink_banks.h: the input ports that every sink of raw banks has, and the banks of one event in them: first those that
 * were read, in ascending order of kinds' bank types, as the detector's own files have them, then those that the graph
 * made, where the sink has ports for them too. */
#ifndef IO_SINK_BANKS_H
#define IO_SINK_BANKS_H

#include "io/made_banks.h"
#include "io/source_ports.h"
#include "mdf.h"

#include <sluice/plugin.h>

#define IO_SINK_PORT_(port, collection, doc, ...) struct collection##_view port;
#define IO_SINK_PORTS                             IO_RAW_BANK_KINDS(IO_SINK_PORT_)
#define IO_SINK_IN_(port, collection, doc, ...)   SL_WANTED_IN(port, collection, "", doc ", to be written"),
#define IO_SINK_MEMBERS                           IO_RAW_BANK_KINDS(IO_SINK_IN_)

/* Ports of banks that the graph made; behind those of banks that were read. */
#define IO_SINK_MADE_PORT_(port, collection, doc, ...) struct collection##_view port;
#define IO_SINK_MADE_PORTS                             IO_MADE_BANK_KINDS(IO_SINK_MADE_PORT_)
#define IO_SINK_MADE_IN_(port, collection, doc, ...)   SL_WANTED_IN(port, collection, "", doc ", to be added"),
#define IO_SINK_MADE_MEMBERS                           IO_MADE_BANK_KINDS(IO_SINK_MADE_IN_)

#define IO_MADE_ENUM_(port, collection, doc, ...) IO_MADE_##port,
enum { IO_MADE_BANK_KINDS(IO_MADE_ENUM_) IO_MADE_COUNT, IO_SINK_PORT_COUNT = IO_KIND_COUNT + IO_MADE_COUNT };

struct sink_banks {
  struct odin_banks_view ports[IO_KIND_COUNT];              /* in writing order; null where a port is not connected */
  struct luminosity_summary_banks_view made[IO_MADE_COUNT]; /* likewise; the structs of all kinds are alike */
};

/* Fills the ports from an argument struct that begins with IO_SINK_PORTS, then, if `has_made`, has IO_SINK_MADE_PORTS.
 */
void sink_banks_begin(struct sink_banks *b, const void *args, int has_made);

/* A place among the banks of an event. */
struct sink_cursor {
  uint32_t port, item;
};
static inline struct sink_cursor sink_cursor_start(void) { return (struct sink_cursor){0, 0}; }
static inline struct mdf_bank sink_banks_read(const struct odin_banks_view *p, uint32_t i) {
  return (struct mdf_bank){(const uint8_t *)(p->payload + p->first_word[i]), p->size_bytes[i], p->source_id[i],
                           p->type[i], p->version[i]};
}
struct mdf_bank sink_banks_made(const struct sink_banks *b, uint32_t kind, uint32_t item);

/* The next bank of the event: 1, or 0 after the last. */
static inline int sink_banks_next(const struct sink_banks *b, uint32_t event, struct sink_cursor *c,
                                  struct mdf_bank *bank) {
  for (; c->port < IO_SINK_PORT_COUNT; c->port++, c->item = 0) {
    const int made = c->port >= IO_KIND_COUNT;
    const uint32_t *offsets = made ? b->made[c->port - IO_KIND_COUNT].offsets : b->ports[c->port].offsets;
    if (!offsets || c->item >= offsets[event + 1] - offsets[event]) continue;
    const uint32_t item = offsets[event] + c->item++;
    *bank = made ? sink_banks_made(b, c->port - IO_KIND_COUNT, item) : sink_banks_read(&b->ports[c->port], item);
    return 1;
  }
  return 0;
}

/* What sinks count, and say at the end. */
struct sink_counts {
  uint64_t written;     /* events */
  uint64_t with_errors; /* of these, events that are in error in this run */
  uint64_t left_out;    /* events without a bank to be written */
};
void sink_counts_report(const struct sink_counts *c, const struct sl_report *report, const char *path, uint64_t bytes);

#endif
