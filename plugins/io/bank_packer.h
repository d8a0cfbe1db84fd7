/* bank_packer.h: copies the banks of events into the ports of a slice (io/raw_banks.h), kind by kind.
 *
 *   bank_packer_begin(&packer);
 *   for each event: bank_packer_add(&packer, &bank) for each of its banks, then one of
 *     bank_packer_commit    it fits: the event is in the slice
 *     bank_packer_drop      it has no items in the slice
 * An event's banks are counted on when they no longer fit, so that bank_packer_fit can tell a full slice from an event
 * that fits no slice.
 */
#ifndef IO_BANK_PACKER_H
#define IO_BANK_PACKER_H

#include "io/source_ports.h"
#include "mdf.h"

#include <string.h>

/* One port. */
struct bank_port {
  struct odin_banks out;             /* of any kind: their structs are alike. Fields that nobody reads are null */
  uint64_t items, words;             /* of the events in the slice */
  uint64_t event_items, event_words; /* of the event at hand */
};

struct bank_packer {
  uint8_t kind_of_type[256]; /* IO_KIND_COUNT: nobody wants it */
  struct bank_port ports[IO_KIND_COUNT];
};

enum { BANK_PACKER_FITS, BANK_PACKER_SLICE_IS_FULL, BANK_PACKER_TOO_LARGE };

/* What an event needs and does not get. */
struct bank_excess {
  const char *port, *what; /* "velo_clusters", "words" */
  uint64_t needed;
  uint32_t capacity, reserved;
};

/* Fills the ports from an argument struct that has a member for each kind, then calls bank_packer_begin. */
#define BANK_PACKER_SET_PORT_(port_, collection, doc, ...)                                                      \
  SL_STATIC_ASSERT(sizeof(target_args_->port_) == sizeof(struct odin_banks), "all kinds have the same fields"); \
  target_packer_->ports[IO_KIND_##port_] = (struct bank_port){.items = 0};                                      \
  memcpy(&target_packer_->ports[IO_KIND_##port_].out, &target_args_->port_, sizeof(struct odin_banks));
#define BANK_PACKER_BEGIN(packer, args)               \
  do {                                                \
    struct bank_packer *target_packer_ = (packer);    \
    const __typeof__(*(args)) *target_args_ = (args); \
    IO_RAW_BANK_KINDS(BANK_PACKER_SET_PORT_)          \
    bank_packer_begin(target_packer_);                \
  } while (0)
void bank_packer_begin(struct bank_packer *p);

int bank_packer_fit(const struct bank_packer *p, struct bank_excess *excess);
void bank_packer_commit(struct bank_packer *p, uint32_t event);
void bank_packer_drop(struct bank_packer *p, uint32_t event);
/* Forgets the event at hand; it is not in the slice. */
void bank_packer_cancel(struct bank_packer *p);
/* Records how much of each port was used, when the slice is done. */
void bank_packer_finish(struct bank_packer *p);

static inline void bank_packer_add(struct bank_packer *p, const struct mdf_bank *bank) {
  const uint32_t kind = p->kind_of_type[bank->type];
  if (kind == IO_KIND_COUNT) return;
  struct bank_port *port = &p->ports[kind];
  const struct odin_banks *out = &port->out;
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
  out->payload[word + word_count - 1] = 0; /* padding, if the payload does not fill its last word */
  memcpy(out->payload + word, bank->payload, bank->size_bytes);
}

#endif
