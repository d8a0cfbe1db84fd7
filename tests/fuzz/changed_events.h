/* changed_events.h: good events, and how the bytes of a fuzzer change their raw banks. CHANGE_BYTES say one change: of
 * which event, what, on which kind of bank and which of that kind, where in it, and a value. Any bytes are a list of
 * changes, so that a fuzzer that alters one byte alters one thing. */
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
  PAYLOAD_MAX = 0xFFF4 /* that a bank's length can say, in whole words */
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
  uint32_t is_file_changed; /* bytes beside those of banks' payloads: of headers, of which a reader may find others */
};

/* Those of an MDF file without compression, at most EVENTS_MAX, without true particles and vertices, which no trigger
 * reads. Payloads stay in `data`. Returns 0 if it is another kind of file. */
int raw_events_read(struct raw_events *events, const uint8_t *data, size_t size);

/* A file of `sound` after the changes that `data` says; `changed` then has its events, whose payloads stand in `sound`
 * or in memory that the next call uses again. The bytes are the caller's to free. */
uint8_t *raw_events_changed(const struct raw_events *sound, const uint8_t *data, size_t size,
                            struct raw_events *changed, size_t *file_bytes);

#endif
