/* selections.gec: the global event cut: lists the events with few enough hits, before anything is decoded (README.md,
 * "The global event cut").
 *
 *   1. count_hits   one block per event, one thread per bank, adds up sizes and headers of raw banks
 *   2. list_events  one block makes the list in ascending order
 *
 * Determinism: sums of integers do not depend on their order.
 * Cost per event (630 banks): reads 2 bytes per SciFi bank, 7 bytes and the header per UT and retina bank, and all
 * words of super-pixel banks; writes 16 bytes.
 */
#include "scifi/bank_words.h"
#include "scifi/raw_banks.h"
#include "selections/event_model.h"
#include "ut/bank_words.h"
#include "ut/raw_banks.h"
#include "velo/bank_words.h"
#include "velo/raw_banks.h"

#include <sluice/kernel.h>

#define COUNT_MAX (SELECTIONS_NOT_COUNTED - 1)

#define SL_ARGS gec_args
#define GEC(M)                                                                                             \
  M(IN, scifi_banks, scifi_banks, "offsets size_bytes", "SciFi banks")                                     \
  M(OPTIONAL_IN, ut_banks, ut_banks, "offsets version size_bytes first_word payload", "UT banks")          \
  M(OPTIONAL_IN, velo_banks, velo_retina_banks, "offsets version size_bytes first_word payload",           \
    "VELO retina cluster banks")                                                                           \
  M(OPTIONAL_IN, velo_superpixels, velo_superpixel_banks, "offsets version size_bytes first_word payload", \
    "VELO super-pixel banks, in place of retina cluster banks")                                            \
  M(OUT, counts, gec_counts, "sizes of the events")                                                        \
  M(OUT, passed, sl_event_list, "events that pass, in ascending order")                                    \
  M(SCRATCH, passes, u32, "1 for events that pass", SL_ONE(SL_EVENTS_TERM(1, 0)))                          \
  M(U32, min_scifi, 0, 0, COUNT_MAX, "", "minimum of counts.scifi, inclusive")                             \
  M(U32, max_scifi, 9750, 0, COUNT_MAX, "", "maximum of counts.scifi, inclusive")                          \
  M(U32, min_ut, 0, 0, COUNT_MAX, "", "minimum of counts.ut, inclusive")                                   \
  M(U32, max_ut, 0xFFFFFFFF, 0, 0xFFFFFFFF, "", "maximum of counts.ut, inclusive; 2^32 - 1: no limit")     \
  M(U32, max_velo, 0xFFFFFFFF, 0, 0xFFFFFFFF, "", "maximum of counts.velo, inclusive; 2^32 - 1: no limit")
SL_ARGUMENTS(gec, GEC);

/* Number of clusters in SciFi banks of `bytes` bytes in total. */
static SL_DEVICE uint32_t scifi_clusters(uint32_t bytes) {
  return bytes / 2 < SCIFI_HEADER ? SELECTIONS_NOT_COUNTED : bytes / 2 - SCIFI_HEADER;
}

/* Hits announced by the header of a bank. A damaged bank counts as 0: ut.decode reports the error. */
static SL_DEVICE uint32_t ut_hits(const struct ut_banks_view *banks, uint32_t bank) {
  uint32_t hits;
  const enum ut_bank_fault fault =
      ut_bank_header(banks->payload + banks->first_word[bank], banks->size_bytes[bank], banks->version[bank], &hits);
  return fault == UT_BANK_FINE ? hits : 0;
}

static SL_DEVICE uint32_t retina_clusters(const struct velo_retina_banks_view *banks, uint32_t bank) {
  return velo_bank_words(banks->payload + banks->first_word[bank], banks->size_bytes[bank], banks->version[bank]).count;
}

static SL_DEVICE uint32_t superpixel_clusters(const struct velo_superpixel_banks_view *banks, uint32_t bank) {
  const struct velo_bank_words b =
      velo_bank_words(banks->payload + banks->first_word[bank], banks->size_bytes[bank], banks->version[bank]);
  uint32_t groups = 0;
  for (uint32_t w = 0; w < b.count; w++) groups += velo_superpixel_groups(b.words[w]);
  return groups;
}

/* Detectors that are not counted have no limits (`check`). */
static SL_DEVICE uint32_t is_selected(const struct gec_args *a, uint32_t event, struct sl_explanation *explanation) {
  const uint32_t scifi = a->counts.scifi[event], ut = a->counts.ut[event], velo = a->counts.velo[event];
  SL_REQUIRE("SciFi hits", scifi, >=, a->min_scifi);
  SL_REQUIRE("SciFi hits", scifi, <=, a->max_scifi);
  if (ut != SELECTIONS_NOT_COUNTED) {
    SL_REQUIRE("UT hits", ut, >=, a->min_ut);
    SL_REQUIRE("UT hits", ut, <=, a->max_ut);
  }
  if (velo != SELECTIONS_NOT_COUNTED) SL_REQUIRE("VELO clusters", velo, <=, a->max_velo);
  return 1;
}
SL_EXPLAIN_EVENTS(gec, is_selected)

/* Loop of a thread over banks of the event; none if the input is not connected. */
#define FOR_BANKS(i, banks)    \
  if ((banks).offsets != NULL) \
    for (uint32_t i = (banks).offsets[event] + threadIdx.x; i < (banks).offsets[event + 1]; i += blockDim.x)

SL_KERNEL(count_hits, struct gec_args) {
  const uint32_t has_ut = a.ut_banks.offsets != NULL,
                 has_velo = a.velo_banks.offsets != NULL || a.velo_superpixels.offsets != NULL;
  SL_FOR_EVENTS (event, a.events) {
    uint32_t bytes = 0, hits = 0, clusters = 0; /* partial sums of this thread */
    FOR_BANKS (i, a.scifi_banks) bytes += a.scifi_banks.size_bytes[i];
    FOR_BANKS (i, a.ut_banks) hits += ut_hits(&a.ut_banks, i);
    FOR_BANKS (i, a.velo_banks) clusters += retina_clusters(&a.velo_banks, i);
    FOR_BANKS (i, a.velo_superpixels) clusters += superpixel_clusters(&a.velo_superpixels, i);
    bytes = sl_block_sum_u32(bytes);
    hits = sl_block_sum_u32(hits);
    clusters = sl_block_sum_u32(clusters);
    if (threadIdx.x == 0) {
      a.counts.scifi[event] = scifi_clusters(bytes);
      a.counts.ut[event] = has_ut ? hits : SELECTIONS_NOT_COUNTED;
      a.counts.velo[event] = has_velo ? clusters : SELECTIONS_NOT_COUNTED;
      a.passes[event] = is_selected(&a, event, NULL);
    }
  }
}

static SL_DEVICE uint32_t passes(const struct gec_args *a, uint32_t event) { return a->passes[event]; }

SL_KERNEL(list_events, struct gec_args) {
  if (blockIdx.x == 0) SL_LIST_EVENTS(&a, a.passed, passes);
}

static int run(const struct sl_launch *l, const struct gec_args *a) {
  const int status = SL_LAUNCH(l, count_hits, SL_PER_EVENT, *a);
  return status == SL_OK ? SL_LAUNCH(l, list_events, SL_PER_EVENT, *a) : status;
}

/* In a check a connected input has a bound, but its pointers may not be set. */
#define IS_CONNECTED(banks) ((banks).offsets != NULL || (banks).bound.capacity > 0)

static int check(const struct sl_services *s, const void *args) {
  const struct gec_args *a = (const struct gec_args *)args;
  const int has_ut = IS_CONNECTED(a->ut_banks), has_retina = IS_CONNECTED(a->velo_banks),
            has_superpixels = IS_CONNECTED(a->velo_superpixels);
  int status = SL_OK;
  if (!has_ut && (a->max_ut != SELECTIONS_NOT_COUNTED || a->min_ut != 0)) {
    s->message(s->context, SL_ERROR,
               "%s: UT hits are not counted, since `ut_banks` is not connected; add in: { ut_banks: raw }, or remove "
               "the limit",
               a->min_ut != 0 ? "min_ut" : "max_ut");
    status = SL_EINVAL;
  }
  if (!has_retina && !has_superpixels && a->max_velo != SELECTIONS_NOT_COUNTED) {
    s->message(s->context, SL_ERROR,
               "max_velo: VELO clusters are not counted, since `velo_banks` is not connected; add in: { velo_banks: "
               "raw }, or { velo_superpixels: raw }, or remove the limit");
    status = SL_EINVAL;
  }
  if (has_retina && has_superpixels) {
    s->message(s->context, SL_ERROR,
               "`velo_banks` and `velo_superpixels` are both connected: VELO clusters would be counted twice");
    status = SL_EINVAL;
  }
  return status;
}

SL_ALGORITHM(gec, "global event cut: lists the events with few enough hits, before decoding", 64, run, SL_CHECK(check),
             SL_EXPLAIN(gec_explain_));
