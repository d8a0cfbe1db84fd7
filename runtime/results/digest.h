/* digest.h: digests that show that two runs gave identical bits. Per event: XXH3 over the counts, then over the valid
 * values of every field in field order. Per output: h_1 B^(n-1) + h_2 B^(n-2) + ... + h_n modulo 2^61 - 1, where h_i is
 * XXH3 over (run, event number, event digest) of event i in input order. The digests of two consecutive runs can be
 * joined (sl_digest_join). Offsets enter as counts, and a pool of raw bytes as the bytes of each item, so that slice
 * size and memory order do not matter.
 */
#ifndef SL_DIGEST_H
#define SL_DIGEST_H

#include <sluice/plugin.h>

/* Digest of event `event` of a slice, for a collection with these field pointers. */
uint64_t sl_digest_event(const struct sl_collection *c, const void *const *fields, uint32_t event);
uint64_t sl_digest_error_event(uint32_t error);

/* Digest of an output after one more event; initially SL_DIGEST_EMPTY. */
uint64_t sl_digest_add_event(uint64_t digest, const struct sl_event *event, uint64_t event_digest);

#endif
