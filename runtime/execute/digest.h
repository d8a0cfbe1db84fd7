/* digest.h: what proves that two runs gave the same bits. Per event XXH3 over the counts, then every field's valid
 * values in field order; per output XXH3 over (run, event number, event digest) in input order. Offsets enter as
 * counts, so that slices and their order within memory do not matter. */
#ifndef SL_DIGEST_H
#define SL_DIGEST_H

#include <sluice/plugin.h>

struct sl_output_digest {
  void *state;
};

/* Digest of event `event` of a slice, of a collection whose field pointers are given. */
uint64_t sl_digest_event(const struct sl_collection *c, const void *const *fields, uint32_t event);
uint64_t sl_digest_error_event(uint32_t error);

int sl_output_digest_open(struct sl_output_digest *d);
void sl_output_digest_add(struct sl_output_digest *d, const struct sl_event *event, uint64_t event_digest);
uint64_t sl_output_digest_value(const struct sl_output_digest *d);
void sl_output_digest_close(struct sl_output_digest *d);

#endif
