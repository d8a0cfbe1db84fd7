/* ut.decode: UT hits from raw banks of versions 3 and 4, by group of sectors, sorted (README.md, "Hits").
 * The steps are in decode_event.h; this file distributes hits over threads.
 * Parallelism: GPU: one thread per hit, because banks have 7 hits on average but up to 60; a thread finds its bank by
 * binary search in the first hits of the banks. A hit of version 4 that continues the cluster of the previous hit is
 * skipped. CPU: one thread takes the banks in order.
 */
#include "decode_event.h"

/* The slot of the bank of hit `i`: the last one with first_hit[slot] <= i. */
static SL_DEVICE uint32_t find_bank(const uint16_t *first_hit, uint32_t i) {
  uint32_t bank = 0;
  for (uint32_t step = BANK_SLOTS / 2; step > 0; step /= 2)
    if (first_hit[bank + step] <= i) bank += step;
  return bank;
}

/* Reads the cluster that begins with hit `i` of a lane. Returns 0 if no cluster begins there. */
static SL_DEVICE uint32_t v4_cluster_at(const uint32_t *words, uint32_t lane, uint32_t count, uint32_t i,
                                        struct ut_cluster *c) {
  uint32_t end = i + 1, strip = ut_v4_hit_strip(ut_v4_hit(words, lane, i));
  if (i > 0 && ut_v4_hit_strip(ut_v4_hit(words, lane, i - 1)) + 1 == strip) return 0;
  for (; end < count && ut_v4_hit_strip(ut_v4_hit(words, lane, end)) == strip + 1; end++) strip++;
  return ut_v4_next_cluster(words, lane, end, &i, c) ? 1u : 0u;
}

/* Reads the cluster that begins with hit `i` of a bank. Returns 0 if there is none. Does not check c->lane. */
static SL_DEVICE uint32_t cluster_at(const uint32_t *words, uint32_t is_v4, uint32_t i, struct ut_cluster *c) {
  if (!is_v4) {
    *c = ut_v3_cluster(words, i);
    return 1;
  }
  uint32_t lane = 0, count = ut_v4_count(words, UT_V4_EMPTY_BYTES, 0);
  while (i >= count && lane + 1 < UT_BOARD_LANES) {
    i -= count;
    lane++;
    count = ut_v4_count(words, UT_V4_EMPTY_BYTES, lane);
  }
  return v4_cluster_at(words, lane, count, i, c);
}

static SL_DEVICE void take_hits(const struct decode_args *a, struct decoding *d) {
  for (uint32_t i = threadIdx.x; i < d->hits; i += blockDim.x) {
    const uint32_t bank = find_bank(d->banks->first_hit, i);
    const uint32_t *words = a->banks.payload + d->banks->first_word[bank];
    struct ut_cluster c;
    if (cluster_at(words, d->banks->lanes[bank] / BANK_IS_V4, i - d->banks->first_hit[bank], &c))
      take_cluster(a, d, bank, i, &c, band_by_map);
    else
      a->keys[d->first + i] = NO_KEY;
  }
}

static SL_DEVICE void take_banks_alone(const struct decode_args *a, struct decoding *d) {
  if (d->hits == 0) return;
  for (uint32_t bank = 0; bank < d->bank_count; bank++) take_bank(a, d, bank, band_by_map);
}

SL_KERNEL(decode_hits, struct decode_args) {
  __shared__ struct bank_slots banks;
  __shared__ uint32_t next[BAND_SLOTS];
  SL_FOR_EVENTS (event, a.events) {
    struct decoding d = begin_event(&a, event, &banks, next);
    if (IS_ALONE)
      take_banks_alone(&a, &d);
    else
      take_hits(&a, &d);
    list_by_band(&a, &d);
  }
}

static int prepare(const struct sl_services *s, void *args) {
  return prepare_tables(s, (const struct decode_args *)args) ? SL_OK : SL_ENOMEM;
}

static int run(const struct sl_launch *l, const struct decode_args *a) { return RUN_DECODE(l, decode_hits, *a); }

SL_ALGORITHM(decode, "UT hits from raw banks, by group of sectors, sorted", 256, run, SL_ERRORS_OF(decode_errors),
             SL_PREPARE(prepare));
