/* digest.h: what proves that two runs gave the same bits. Per event XXH3 over the counts, then every field's valid
 * values in field order; per output h_1 B^(n-1) + h_2 B^(n-2) + ... + h_n modulo 2^61 - 1, where h_i is XXH3 over
 * (run, event number, event digest) of event i in input order, so that the digests of two runs that follow each other
 * can be joined (sl_digest_join). Offsets enter as counts, so that slices and their order within memory do not matter.
 */
#ifndef SL_DIGEST_H
#define SL_DIGEST_H

#include <sluice/plugin.h>

/* Digest of event `event` of a slice, of a collection whose field pointers are given. */
uint64_t sl_digest_event(const struct sl_collection *c, const void *const *fields, uint32_t event);
uint64_t sl_digest_error_event(uint32_t error);

/* The digest of an output, SL_DIGEST_EMPTY at first, with one more event. */
uint64_t sl_digest_add_event(uint64_t digest, const struct sl_event *event, uint64_t event_digest);

#endif
