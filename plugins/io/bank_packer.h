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

#include "io/raw_banks.h"
#include "mdf.h"

#include <string.h>

#define IO_KIND_ENUM_(port, collection, doc, ...) IO_KIND_##port,
enum { IO_RAW_BANK_KINDS(IO_KIND_ENUM_) IO_KIND_COUNT };
#undef IO_KIND_ENUM_

/* One port. The pointers of fields that nobody reads are null. */
struct bank_port {
  uint32_t *offsets;
  uint16_t *source_id;
  uint8_t *type, *version;
  uint16_t *size_bytes;
  uint32_t *first_word;
  uint32_t *payload;
  struct sl_bound items_bound, words_bound;
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
#define BANK_PACKER_SET_PORT_(port_, collection, doc, ...)                                    \
  target_packer_->ports[IO_KIND_##port_] = (struct bank_port){source_args_->port_.offsets,    \
                                                              source_args_->port_.source_id,  \
                                                              source_args_->port_.type,       \
                                                              source_args_->port_.version,    \
                                                              source_args_->port_.size_bytes, \
                                                              source_args_->port_.first_word, \
                                                              source_args_->port_.payload,    \
                                                              source_args_->port_.bound,      \
                                                              source_args_->port_.sub_bound,  \
                                                              0,                              \
                                                              0,                              \
                                                              0,                              \
                                                              0};
#define BANK_PACKER_BEGIN(packer, args)               \
  do {                                                \
    struct bank_packer *target_packer_ = (packer);    \
    const __typeof__(*(args)) *source_args_ = (args); \
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
  const uint32_t word_count = (bank->size_bytes + 3u) / 4u;
  const uint64_t item = port->items + port->event_items++, word = port->words + port->event_words;
  port->event_words += word_count;
  if (item >= port->items_bound.capacity || word + word_count > port->words_bound.capacity) return;
  if (port->source_id) port->source_id[item] = bank->source_id;
  if (port->type) port->type[item] = bank->type;
  if (port->version) port->version[item] = bank->version;
  if (port->size_bytes) port->size_bytes[item] = bank->size_bytes;
  if (port->first_word) port->first_word[item] = (uint32_t)word;
  if (!port->payload || word_count == 0) return;
  port->payload[word + word_count - 1] = 0; /* padding, if the payload does not fill its last word */
  memcpy(port->payload + word, bank->payload, bank->size_bytes);
}

#endif
