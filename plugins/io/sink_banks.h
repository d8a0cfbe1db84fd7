/* sink_banks.h: the banks of one event, for sinks of raw banks: first those that were read, in ascending order of their
 * kinds' first bank types, as the detector's own files have them, then those that the graph made, by type, where the
 * sink has ports for them too. No bank is written twice: where several ports have banks of one type, those of the graph
 * are taken, else those of the port that comes first. */
#ifndef IO_SINK_BANKS_H
#define IO_SINK_BANKS_H

#include "io/made_banks.h"
#include "io/raw_banks.h"

#include <sluice/plugin.h>

/* One port, in the order of writing. */
struct sink_port {
  uint32_t index; /* among the ports of its sort */
  uint32_t is_made;
  struct io_raw_banks_view read; /* null where it is not connected */
  struct io_made_banks_view made;
  const uint32_t *offsets; /* of either */
  const struct io_bank_kind *kind;
  struct io_bank header; /* of made ones */
};

enum { SINK_BANK_TYPES = 256 };
struct sink_banks {
  struct sink_port *ports;
  uint32_t count, reserved;
  uint32_t port_of_type[SINK_BANK_TYPES]; /* `count`: none */
};

/* Puts the ports of a sink into order; `made` may be NULL. 0 or SL_ENOMEM. */
int sink_banks_open(struct sink_banks *b, const struct io_raw_banks_view_ports *read,
                    const struct io_made_banks_view_ports *made);
/* Begins a batch, with the same ports. */
void sink_banks_begin(struct sink_banks *b, const struct io_raw_banks_view_ports *read,
                      const struct io_made_banks_view_ports *made);
void sink_banks_close(struct sink_banks *b);

/* A place among the banks of an event. */
struct sink_cursor {
  uint32_t port, item;
};
static inline struct sink_cursor sink_cursor_start(void) { return (struct sink_cursor){0, 0}; }

static inline struct io_bank sink_port_bank(const struct sink_port *p, uint32_t i) {
  if (!p->is_made)
    return (struct io_bank){(const uint8_t *)(p->read.payload + p->read.first_word[i]), p->read.size_bytes[i],
                            p->read.source_id[i], p->read.type[i], p->read.version[i]};
  struct io_bank bank = p->header;
  bank.payload = (const uint8_t *)(p->made.word + p->made.word_offsets[i]);
  bank.size_bytes = p->made.size_bytes[i];
  return bank;
}

/* The next bank of the event: 1, or 0 after the last. */
static inline int sink_banks_next(const struct sink_banks *b, uint32_t event, struct sink_cursor *c,
                                  struct io_bank *bank) {
  for (; c->port < b->count; c->port++, c->item = 0) {
    const struct sink_port *p = &b->ports[c->port];
    while (p->offsets && c->item < p->offsets[event + 1] - p->offsets[event]) {
      *bank = sink_port_bank(p, p->offsets[event] + c->item++);
      if (b->port_of_type[bank->type] == c->port) return 1;
    }
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
