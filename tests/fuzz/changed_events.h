/* changed_events.h: good events, and changes of their raw banks by the bytes of a fuzzer. CHANGE_BYTES encode one
 * change: event, operation, kind of bank, index in that kind, position, value. Any bytes are a list of changes, so that
 * one altered byte alters one change. */
#ifndef CHANGED_EVENTS_H
#define CHANGED_EVENTS_H

#include <stddef.h>
#include <stdint.h>

enum {
  EVENTS_MAX = 4,
  BANKS_MAX = 1200,
  CHANGES_MAX = 16,
  CHANGE_BYTES = 10,
  RECORD_HEAD_BYTES = 48,
  PAYLOAD_MAX = 0xFFF4 /* the largest payload that the length of a bank can express, in whole words */
};

struct raw_bank {
  const uint8_t *payload;
  uint16_t size, source;
  uint8_t kind, version;
};

struct raw_event {
  uint8_t head[RECORD_HEAD_BYTES];
  struct raw_bank banks[BANKS_MAX];
  uint32_t bank_count, is_changed;
};

struct raw_events {
  struct raw_event events[EVENTS_MAX];
  uint32_t count;
  uint32_t is_file_changed; /* bytes outside of payloads were changed, e.g. headers: a reader may find other banks */
};

/* Reads the events of an MDF file without compression, at most EVENTS_MAX, without simulated particles and vertices,
 * which no trigger reads. Payloads stay in `data`. Returns 0 for other files. */
int raw_events_read(struct raw_events *events, const uint8_t *data, size_t size);

/* Returns a file of `sound` with the changes in `data`, which the caller frees. `changed` gets its events; their
 * payloads are in `sound` or in memory that the next call reuses. */
uint8_t *raw_events_changed(const struct raw_events *sound, const uint8_t *data, size_t size,
                            struct raw_events *changed, size_t *file_bytes);

#endif
