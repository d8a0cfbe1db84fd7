/* selections.count_hits: approximate numbers of SciFi clusters and UT hits of an event, for the global event cut
 * (README.md, "The global event cut"). Uses sizes and headers of raw banks; nothing is decoded.
 *
 * Parallelism: one block per event, one thread per bank.
 * Determinism: sums of integers do not depend on their order.
 * Cost per event (420 banks): reads 2 bytes per SciFi bank, 7 bytes and the header per UT bank; writes 8 bytes.
 */
#include "scifi/bank_words.h"
#include "scifi/raw_banks.h"
#include "selections/event_model.h"
#include "ut/bank_words.h"
#include "ut/raw_banks.h"

#include <sluice/kernel.h>

#define SL_ARGS count_hits_args
#define COUNT_HITS(M)                                                                 \
  M(IN, scifi_banks, scifi_banks, "offsets size_bytes", "SciFi banks")                \
  M(OPTIONAL_IN, ut_banks, ut_banks, "offsets version size_bytes first_word payload", \
    "UT banks; if not connected, the number of UT hits is 0")                         \
  M(OUT, counts, gec_counts, "sizes of the events")
SL_ARGUMENTS(count_hits, COUNT_HITS);

/* Hits announced by the header of a bank. A damaged bank counts as 0: ut.decode reports the error. */
static SL_DEVICE uint32_t ut_hits(const struct count_hits_args *a, uint32_t bank) {
  uint32_t hits;
  const enum ut_bank_fault fault = ut_bank_header(a->ut_banks.payload + a->ut_banks.first_word[bank],
                                                  a->ut_banks.size_bytes[bank], a->ut_banks.version[bank], &hits);
  return fault == UT_BANK_FINE ? hits : 0;
}

/* Number of clusters in SciFi banks of `bytes` bytes in total. */
static SL_DEVICE uint32_t scifi_clusters(uint32_t bytes) {
  return bytes / 2 < SCIFI_HEADER ? SELECTIONS_NO_BANKS : bytes / 2 - SCIFI_HEADER;
}

SL_KERNEL(count_hits_write, struct count_hits_args) {
  SL_FOR_EVENTS (event, a.events) {
    uint32_t bytes = 0, hits = 0; /* partial sums of this thread */
    for (uint32_t i = a.scifi_banks.offsets[event] + threadIdx.x; i < a.scifi_banks.offsets[event + 1]; i += blockDim.x)
      bytes += a.scifi_banks.size_bytes[i];
    if (a.ut_banks.offsets != NULL)
      for (uint32_t i = a.ut_banks.offsets[event] + threadIdx.x; i < a.ut_banks.offsets[event + 1]; i += blockDim.x)
        hits += ut_hits(&a, i);
    bytes = sl_block_sum_u32(bytes);
    hits = sl_block_sum_u32(hits);
    if (threadIdx.x == 0) {
      a.counts.scifi[event] = scifi_clusters(bytes);
      a.counts.ut[event] = hits;
    }
  }
}

static int run(const struct sl_launch *l, const struct count_hits_args *a) {
  return SL_LAUNCH(l, count_hits_write, SL_PER_EVENT, *a);
}

SL_ALGORITHM(count_hits, "approximate number of hits in the SciFi and the UT, from raw banks", 64, run);
