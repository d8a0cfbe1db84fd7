/* mdf_checksum.h: checksum of MDF records (README.md, "Formats"): Jenkins' one-at-a-time hash over signed bytes.
 *
 * Each byte depends on the byte before, with a latency of about five cycles, so one record is hashed far below memory
 * bandwidth. The records of a file are independent: struct mdf_hasher hashes up to MDF_HASH_LANES of them in parallel,
 * one per vector lane. The caller adds records ahead of the one that it needs, and takes the results in order. */
#ifndef IO_MDF_CHECKSUM_H
#define IO_MDF_CHECKSUM_H

#include <stdint.h>

enum { MDF_HASH_LANES = 16, MDF_HASH_JOBS = 32 };

uint32_t mdf_checksum(const uint8_t *bytes, uint64_t count);

struct mdf_hash_job {
  uint64_t tag;
  const uint8_t *next; /* first byte that is not hashed yet */
  uint64_t left;
  uint32_t hash;
  uint32_t done;
};

/* Ring of jobs in the order pushed: [first, first + count). The first `started` jobs have been assigned a lane. */
struct mdf_hasher {
  struct mdf_hash_job jobs[MDF_HASH_JOBS];
  uint32_t first, count, started, lane_count;
  uint32_t lanes[MDF_HASH_LANES]; /* ring indices of the jobs that are being hashed */
};

/* Drops all jobs. The bytes pushed before are not read any more. */
void mdf_hasher_reset(struct mdf_hasher *h);

static inline int mdf_hasher_is_full(const struct mdf_hasher *h) { return h->count == MDF_HASH_JOBS; }

/* Adds a job. The hasher must not be full; the bytes must stay valid until the result is taken. */
void mdf_hasher_push(struct mdf_hasher *h, uint64_t tag, const uint8_t *bytes, uint64_t count);

/* Finishes the oldest job and returns its hash: 1, or 0 if the oldest job has another tag. */
int mdf_hasher_take(struct mdf_hasher *h, uint64_t tag, uint32_t *hash);

#endif
