/* bank_packer.c: see bank_packer.h. */
#include "bank_packer.h"

#define KIND_NAME_(port, collection, doc, ...) #port,
static const char *const kind_names[] = {IO_RAW_BANK_KINDS(KIND_NAME_)};

#define KIND_TYPES_(port, collection, doc, ...) {__VA_ARGS__},
enum { TYPES_MAX = 4 };
/* 0 ends a kind's list: no kind wants bank type 0. */
static const uint8_t kind_types[][TYPES_MAX] = {IO_RAW_BANK_KINDS(KIND_TYPES_)};

static int is_wanted(const struct odin_banks *p) {
  return p->offsets || p->source_id || p->type || p->version || p->size_bytes || p->first_word || p->payload;
}

void bank_packer_begin(struct bank_packer *p) {
  memset(p->kind_of_type, IO_KIND_COUNT, sizeof p->kind_of_type);
  for (uint32_t kind = 0; kind < IO_KIND_COUNT; kind++) {
    struct bank_port *port = &p->ports[kind];
    if (!is_wanted(&port->out)) continue;
    if (port->out.offsets) port->out.offsets[0] = 0;
    for (uint32_t i = 0; i < TYPES_MAX && kind_types[kind][i] != 0; i++)
      p->kind_of_type[kind_types[kind][i]] = (uint8_t)kind;
  }
}

static void note_excess(uint64_t before, uint64_t needed, uint32_t capacity, uint32_t kind, const char *what,
                        int *worst, struct bank_excess *excess) {
  if (before + needed <= capacity || *worst == BANK_PACKER_TOO_LARGE) return;
  *worst = needed > capacity ? BANK_PACKER_TOO_LARGE : BANK_PACKER_SLICE_IS_FULL;
  *excess = (struct bank_excess){kind_names[kind], what, needed, capacity, 0};
}

int bank_packer_fit(const struct bank_packer *p, struct bank_excess *excess) {
  int worst = BANK_PACKER_FITS;
  for (uint32_t kind = 0; kind < IO_KIND_COUNT; kind++) {
    const struct bank_port *port = &p->ports[kind];
    note_excess(port->items, port->event_items, port->out.bound.capacity, kind, "banks", &worst, excess);
    note_excess(port->words, port->event_words, port->out.payload_bound.capacity, kind, "words", &worst, excess);
  }
  return worst;
}

void bank_packer_commit(struct bank_packer *p, uint32_t event) {
  for (uint32_t kind = 0; kind < IO_KIND_COUNT; kind++) {
    struct bank_port *port = &p->ports[kind];
    port->items += port->event_items;
    port->words += port->event_words;
    port->event_items = port->event_words = 0;
    if (port->out.offsets) port->out.offsets[event + 1] = (uint32_t)port->items;
  }
}

void bank_packer_cancel(struct bank_packer *p) {
  for (uint32_t kind = 0; kind < IO_KIND_COUNT; kind++) p->ports[kind].event_items = p->ports[kind].event_words = 0;
}

void bank_packer_drop(struct bank_packer *p, uint32_t event) {
  bank_packer_cancel(p);
  bank_packer_commit(p, event);
}

static void record_use(const struct sl_bound *bound, uint64_t used) {
  if (bound->used && *bound->used < used) *bound->used = (uint32_t)used;
}

void bank_packer_finish(struct bank_packer *p) {
  for (uint32_t kind = 0; kind < IO_KIND_COUNT; kind++) {
    record_use(&p->ports[kind].out.bound, p->ports[kind].items);
    record_use(&p->ports[kind].out.payload_bound, p->ports[kind].words);
  }
}
