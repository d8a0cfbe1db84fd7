/* ut_decoding.decode: a variant of ut.decode in which a thread takes whole banks. bench/ut_decoding.py measures the
 * property `deal`. Its values are the successive optimisations of a published study for GPUs:
 *
 *   boards      banks in the order of the event; the position of a hit follows from six hardware coordinates of its
 *               lane
 *   map         positions from a 16-bit table by lane, as in ut.decode
 *   suppressed  only banks with hits, from a list
 *   shared      hits per band are counted in shared memory instead of global memory. The study first sums the counts of
 *               the lanes of a warp; here they are summed in shared memory, because kernels do not exchange registers
 *   sorted      the largest banks first
 *   fetched     each warp takes the next chunk of banks, one per thread, from a list of 16-bit numbers
 *
 * The results are identical to those of ut.decode.
 */
#define DECODE_MORE(M)                                                                                      \
  M(IN, boards, ut_geometry, "lane_layer lane_side lane_stave lane_module lane_face lane_sector lane_type", \
    "hardware coordinates")                                                                                 \
  M(ENUM, deal, "boards", "assignment of banks to threads", "boards map suppressed shared sorted fetched")  \
  M(SCRATCH, counters, u32, "number of hits per band and event", SL_ONE(SL_EVENTS_TERM(BAND_SLOTS, 0)))     \
  M(TABLE, place_band, u16, "band by hardware coordinates")
#include "decode_event.h"

enum deal { BOARDS, MAP, SUPPRESSED, SHARED, SORTED, FETCHED };

/* Number of values of each hardware coordinate. */
enum {
  SIDES = 2,
  STAVES = 16,
  MODULES = 8,
  FACES = 2,
  SECTORS = 2,
  HARDWARE_PLACES = UT_LAYERS * SIDES * STAVES * MODULES * FACES * SECTORS
};

SL_MATH_FUNCTION uint32_t place_of(const struct decode_args *a, uint32_t lane) {
  uint32_t place = a->boards.lane_layer[lane];
  place = place * SIDES + a->boards.lane_side[lane];
  place = place * STAVES + a->boards.lane_stave[lane];
  place = place * MODULES + a->boards.lane_module[lane];
  place = place * FACES + a->boards.lane_face[lane];
  return place * SECTORS + a->boards.lane_sector[lane];
}

static SL_DEVICE uint32_t band_by_hardware(const struct decode_args *a, uint32_t lane) {
  return a->boards.lane_type[lane] == 0 ? (uint32_t)NO_BAND : a->place_band[place_of(a, lane)];
}

static int prepare(const struct sl_services *s, void *args) {
  const struct decode_args *a = (const struct decode_args *)args;
  uint16_t *place_band = (uint16_t *)s->make_table(s->context, "place_band", HARDWARE_PLACES);
  const uint16_t *lane_band = prepare_tables(s, a);
  if (!place_band || !lane_band) return SL_ENOMEM;
  for (uint32_t lane = 0; lane < UT_LANES; lane++)
    if (a->boards.lane_type[lane] != 0) place_band[place_of(a, lane)] = lane_band[lane];
  return SL_OK;
}

/* Banks with hits, large ones first or as they come. */
enum { LIST_BINS = 64, WARPS_MAX = 32 }; /* bins by hits, the first one of so many or more */
struct bank_list {
  uint32_t banks[BANK_SLOTS];
  uint16_t short_banks[BANK_SLOTS];
  uint32_t bins[LIST_BINS]; /* banks of each size; then where the next one stands */
  uint32_t fetched;         /* entries that warps have taken */
  uint32_t chunk[WARPS_MAX];
};

static SL_DEVICE uint32_t hits_of_bank(const struct decoding *d, uint32_t bank) {
  return d->banks->first_hit[bank + 1] - d->banks->first_hit[bank];
}

/* Returns how many there are. */
static SL_DEVICE uint32_t list_banks(const struct decoding *d, struct bank_list *list) {
  uint32_t length = 0;
  SL_FOR_BLOCK (i, d->bank_count) {
    const uint32_t is_wanted = i < d->bank_count && hits_of_bank(d, i) > 0;
    const uint32_t place = sl_block_append(is_wanted, &length);
    if (is_wanted) list->banks[place] = i;
  }
  __syncthreads();
  return length;
}

static SL_DEVICE uint32_t bin_of(const struct decoding *d, uint32_t bank) {
  const uint32_t hits = hits_of_bank(d, bank);
  return hits < LIST_BINS ? LIST_BINS - 1 - hits : 0;
}

static SL_DEVICE uint32_t list_banks_by_size(const struct decoding *d, struct bank_list *list) {
  uint32_t length = 0;
  for (uint32_t i = threadIdx.x; i < LIST_BINS; i += blockDim.x) list->bins[i] = 0;
  if (threadIdx.x == 0) list->fetched = 0;
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < d->bank_count; i += blockDim.x)
    if (hits_of_bank(d, i) > 0) atomicAdd(&list->bins[bin_of(d, i)], 1u);
  __syncthreads();
  SL_FOR_BLOCK (bin, LIST_BINS) {
    uint32_t total;
    const uint32_t first = length + sl_block_exclusive_scan(bin < LIST_BINS ? list->bins[bin] : 0u, &total);
    if (bin < LIST_BINS) list->bins[bin] = first;
    length += total;
  }
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < d->bank_count; i += blockDim.x)
    if (hits_of_bank(d, i) > 0) {
      const uint32_t place = atomicAdd(&list->bins[bin_of(d, i)], 1u);
      list->banks[place] = i;
      list->short_banks[place] = (uint16_t)i;
    }
  __syncthreads();
  return length;
}

static SL_DEVICE void take_fetched(const struct decode_args *a, struct decoding *d, struct bank_list *list,
                                   uint32_t length) {
  for (;;) {
    if (sl_warp_lane() == 0) list->chunk[sl_warp_index()] = atomicAdd(&list->fetched, sl_warp_lanes());
    sl_warp_sync();
    const uint32_t chunk = list->chunk[sl_warp_index()], at = chunk + sl_warp_lane();
    sl_warp_sync(); /* the next chunk's place is free */
    if (chunk >= length) return;
    if (at < length) take_bank(a, d, list->short_banks[at], band_by_map);
  }
}

static SL_DEVICE void take_dealt(const struct decode_args *a, struct decoding *d, struct bank_list *list,
                                 const enum deal deal) {
  if (deal <= MAP)
    for (uint32_t i = threadIdx.x; i < d->bank_count; i += blockDim.x)
      take_bank(a, d, i, deal == BOARDS ? band_by_hardware : band_by_map);
  if (deal <= MAP) return;
  const uint32_t length = deal < SORTED ? list_banks(d, list) : list_banks_by_size(d, list);
  if (deal == FETCHED) {
    take_fetched(a, d, list, length);
    return;
  }
  for (uint32_t i = threadIdx.x; i < length; i += blockDim.x) take_bank(a, d, list->banks[i], band_by_map);
}

static SL_DEVICE void decode_events(const struct decode_args *a, const enum deal deal) {
  __shared__ struct bank_slots banks;
  __shared__ uint32_t next[BAND_SLOTS];
  __shared__ struct bank_list list;
  SL_FOR_EVENTS (event, a->events) {
    uint32_t *counters = deal < SHARED ? a->counters + (size_t)event * BAND_SLOTS : next;
    struct decoding d = begin_event(a, event, &banks, counters);
    if (d.hits > 0) take_dealt(a, &d, &list, deal); /* the same for all threads */
    list_by_band(a, &d);
  }
}

#define DEALS(D) D(BOARDS) D(MAP) D(SUPPRESSED) D(SHARED) D(SORTED) D(FETCHED)
#define DEAL_KERNEL(deal) \
  SL_KERNEL(decode_##deal, struct decode_args) { decode_events(&a, deal); }
DEALS(DEAL_KERNEL)

static int run(const struct sl_launch *l, const struct decode_args *a) {
  switch (a->deal) {
#define DEAL_CASE(deal) \
  case deal:            \
    return RUN_DECODE(l, decode_##deal, *a);
    DEALS(DEAL_CASE)
    default:
      return SL_EINVAL;
  }
}

SL_ALGORITHM(decode, "UT hits as those of ut.decode, with whole banks dealt to threads", 256, run,
             SL_ERRORS_OF(decode_errors), SL_PREPARE(prepare));
