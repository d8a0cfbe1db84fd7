/* mdf_checksum.h: the checksum of MDF records (README.md, "Formats"), Jenkins' one-at-a-time hash over signed bytes.
 *
 * Each byte's step depends on the one before, about five cycles, so a single record is hashed far below the speed of
 * memory. The records of a file are independent: struct mdf_hasher hashes up to MDF_HASH_LANES of them at a time, one
 * to a lane of vectors. The caller pushes records ahead of the one that it needs, and takes the results in order.
 */
#ifndef IO_MDF_CHECKSUM_H
#define IO_MDF_CHECKSUM_H

#include <stdint.h>

enum { MDF_HASH_LANES = 16, MDF_HASH_JOBS = 32 };

uint32_t mdf_checksum(const uint8_t *bytes, uint64_t count);

struct mdf_hash_job {
  uint64_t tag;
  const uint8_t *next; /* the first byte that is not hashed yet */
  uint64_t left;
  uint32_t hash;
  uint32_t done;
};

/* A ring of jobs in the order pushed: [first, first + count). The first `started` of them have had a lane. */
struct mdf_hasher {
  struct mdf_hash_job jobs[MDF_HASH_JOBS];
  uint32_t first, count, started, lane_count;
  uint32_t lanes[MDF_HASH_LANES]; /* jobs (places in the ring) that are being hashed */
};

/* Forgets all jobs. The bytes pushed before are not touched any more. */
void mdf_hasher_reset(struct mdf_hasher *h);

static inline int mdf_hasher_is_full(const struct mdf_hasher *h) { return h->count == MDF_HASH_JOBS; }

/* Adds bytes to hash, which must stay until the result is taken. Only if the hasher is not full. */
void mdf_hasher_push(struct mdf_hasher *h, uint64_t tag, const uint8_t *bytes, uint64_t count);

/* Takes the oldest job's hash, hashing until it is there: 1, or 0 if the oldest job has another tag. */
int mdf_hasher_take(struct mdf_hasher *h, uint64_t tag, uint32_t *hash);

#endif
