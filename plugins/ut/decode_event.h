/* decode_event.h: decoding of the UT banks of an event. decode.cu distributes hits over threads; bench/ut_decoding
 * compares this with other distributions (README.md, "Hits" and "Bands").
 *   1. Count (begin_event, take_cluster, list_by_band): check the bank headers, number the hits, make a 64-bit key of
 *      each hit (band, y, lane, strip), and list the keys by band.
 *   2. The scan turns hit counts into offsets.
 *   3. Write (write_hits): rank each hit among the keys of its band and write it.
 * A band is a sector, or several sectors of a group with overlapping y; bands ascend with (group, y).
 * Determinism: hits are ordered by (band, y, id). Two equal ids mean a strip was hit twice: the event is refused.
 * Cost: 2 bytes read per hit, 12 written and read twice, 22 written; 3 comparisons per hit on average, 20 at most.
 */
#ifndef UT_DECODE_EVENT_H
#define UT_DECODE_EVENT_H

#include "ut/bank_words.h"
#include "ut/event_model.h"
#include "ut/raw_banks.h"

#include <sluice/kernel.h>

/* Event errors in addition to the faults of bank_words.h. */
enum {
  UT_DECODE_TWO_BANKS = UT_BANK_FAULT_COUNT,
  UT_DECODE_TWO_HITS,
  UT_DECODE_TOO_MANY,
  UT_DECODE_MARKED, /* from here on: data are ignored, the event is not refused */
  UT_DECODE_NO_SECTOR
};

#define UT_DECODE_FAULT_(name, text) {name, 0, "a UT bank is refused: " text " (detail: its source id)"},
static const struct sl_event_error decode_errors[] = {
    UT_BANK_FAULTS(UT_DECODE_FAULT_){UT_DECODE_TWO_BANKS, 0, "two UT banks of one board (detail: its number)"},
    {UT_DECODE_TWO_HITS, 0, "a UT bank has a strip twice (detail: the number of its board)"},
    {UT_DECODE_TOO_MANY, 0, "more than 32767 UT hits in an event (detail: their number)"},
    {UT_DECODE_MARKED, 0,
     "a UT bank is ignored, because the readout marked it as bad by a count of 255 in a lane (detail: its source id)"},
    {UT_DECODE_NO_SECTOR, 0, "UT hits of lanes without a sector are ignored (detail: the source id of their bank)"}};

enum {
  BANK_SLOTS = 256, /* UT_BOARDS + 1, rounded up to a power of two */
  BOARD_WORDS = (UT_BOARDS + 31) / 32,
  GROUP_SLOTS = UT_GROUPS_MAX + 1,
  BAND_SLOTS = UT_SECTORS + 1,
  NO_BAND = UINT16_MAX
};

/* 1 if a block is one thread, which works in order. A compile-time constant, so that GPUs have no code for this case.
 */
#if defined(SL_TARGET_CPU)
enum { IS_ALONE = 1 };
#else
enum { IS_ALONE = 0 };
#endif

/* Geometry of the sector of a lane: fields of its record in `lanes`. */
enum { X0, DX_DI, Y0, DY_DI, Z0, DZ_DI, LENGTH, IS_FLIPPED, RECORD_FLOATS };

/* Further arguments of the algorithm that includes this header. */
#if !defined(DECODE_MORE)
#define DECODE_MORE(M)
#endif

#define SL_ARGS decode_args
#define DECODE(M)                                                                                              \
  M(IN, banks, ut_banks, "offsets source_id version size_bytes first_word payload", "UT banks, in any order")  \
  M(IN, geometry, ut_geometry, "lane_channel dy x0 dx_di y0 dy_di z0 dz_di", "sectors and readout lanes")      \
  M(IN, groups, ut_sector_groups, "lane_sector lane_group", "groups of sectors")                               \
  M(OUT, hits, ut_hits, "UT hits, sorted by group, y and id",                                                  \
    SL_ITEMS(SL_MIN(SL_SUBITEMS_SCALED(banks, 2, 1, 0), SL_BUDGET_TERM(hits_per_event, UT_HITS_MAX))))         \
  M(BUDGET, hits_per_event, 1800, 1, 100000, "UT hits, on average over a slice")                               \
  M(SCRATCH, keys_used, u32, "number of keys that are assigned to events", SL_ONE(SL_CONSTANT_TERM(1)))        \
  M(SCRATCH, keys_begin, u32, "index of the first key of each event", SL_ONE(SL_EVENTS_TERM(1, 0)))            \
  M(SCRATCH, keys, u64, "sort keys of the hits, two for each word of the payloads",                            \
    SL_ONE(SL_SUBITEMS_SCALED(banks, 2, 1, 0)))                                                                \
  M(SCRATCH, strips, f32, "positions of the hits, in strips from the first strip of the sector",               \
    SL_ONE(SL_SUBITEMS_SCALED(banks, 2, 1, 0)))                                                                \
  M(SCRATCH, listed_keys, u64, "sort keys of the hits, by band", SL_ONE(SL_SUBITEMS_SCALED(banks, 2, 1, 0)))   \
  M(SCRATCH, listed_strips, f32, "positions of the hits, by band", SL_ONE(SL_SUBITEMS_SCALED(banks, 2, 1, 0))) \
  M(TABLE, lanes, f32, "geometry of the sector of each readout lane, 8 values per lane")                       \
  M(TABLE, lane_band, u16, "band of each readout lane; 65535: nothing is connected")                           \
  M(TABLE, group_band, u16, "first band of each group; then the number of bands")                              \
  DECODE_MORE(M)
SL_ARGUMENTS(decode, DECODE);

/* ------------------------------------------------------------------------------------------------------ tables */

static void fill_records(const struct decode_args *a, float *lanes) {
  for (uint32_t i = 0; i < UT_LANES; i++) {
    const uint32_t k = a->groups.lane_sector[i];
    float *record = lanes + RECORD_FLOATS * i;
    if (k >= UT_SECTORS) continue;
    record[X0] = a->geometry.x0[k];
    record[DX_DI] = a->geometry.dx_di[k];
    record[Y0] = a->geometry.y0[k];
    record[DY_DI] = a->geometry.dy_di[k];
    record[Z0] = sl_abs_f32(a->geometry.z0[k]);
    record[DZ_DI] = a->geometry.dz_di[k];
    record[LENGTH] = a->geometry.dy[k];
    record[IS_FLIPPED] = a->geometry.z0[k] < 0.0f ? 1.0f : 0.0f;
  }
}

/* Range of y of the lower ends of all strips of a lane. */
struct y_range {
  float least, most;
};
static struct y_range y_range_of(const float *record) {
  const float first = record[Y0], last = record[Y0] + (float)UT_SECTOR_STRIPS * record[DY_DI];
  struct y_range r;
  r.least = last < first ? last : first;
  r.most = last < first ? first : last;
  return r;
}

/* Lists the lanes of a group by their least y. Returns their number. */
static uint32_t list_group(const struct decode_args *a, const float *lanes, uint32_t group, uint16_t *list) {
  uint32_t count = 0;
  for (uint32_t lane = 0; lane < UT_LANES; lane++) {
    if (a->groups.lane_group[lane] != group) continue;
    const float least = y_range_of(lanes + RECORD_FLOATS * lane).least;
    uint32_t index = count++;
    for (; index > 0 && y_range_of(lanes + RECORD_FLOATS * list[index - 1]).least > least; index--)
      list[index] = list[index - 1];
    list[index] = (uint16_t)lane;
  }
  return count;
}

/* Numbers the bands. Lanes of one sector have equal ranges of y, so there are at most as many bands as sectors. */
static void number_bands(const struct decode_args *a, const float *lanes, uint16_t *lane_band, uint16_t *group_band) {
  uint16_t list[UT_LANES], bands = 0;
  for (uint32_t lane = 0; lane < UT_LANES; lane++) lane_band[lane] = NO_BAND;
  for (uint32_t group = 0; group < UT_GROUPS_MAX; group++) {
    const uint32_t count = list_group(a, lanes, group, list);
    float most = 0;
    group_band[group] = bands;
    for (uint32_t i = 0; i < count; i++) {
      const struct y_range r = y_range_of(lanes + RECORD_FLOATS * list[i]);
      if (i == 0 || r.least > most) bands++;
      if (i == 0 || r.most > most) most = r.most;
      lane_band[list[i]] = (uint16_t)(bands - 1);
    }
  }
  group_band[UT_GROUPS_MAX] = bands;
}

/* Fills the tables. Returns lane_band, or NULL without memory. */
static const uint16_t *prepare_tables(const struct sl_services *s, const struct decode_args *a) {
  float *lanes = (float *)s->make_table(s->context, "lanes", (uint32_t)UT_LANES * RECORD_FLOATS);
  uint16_t *lane_band = (uint16_t *)s->make_table(s->context, "lane_band", UT_LANES);
  uint16_t *group_band = (uint16_t *)s->make_table(s->context, "group_band", GROUP_SLOTS);
  if (!lanes || !lane_band || !group_band) return NULL;
  fill_records(a, lanes);
  number_bands(a, lanes, lane_band, group_band);
  return lane_band;
}

/* ------------------------------------------------------------------------------------------------------- keys */

/* A key: 11 bits of band, 32 of y, 11 of lane, 9 of strip, 1 bit: version 4. Keys order hits of one lane like (y, id),
 * but not hits of different lanes with equal y, because ids do not ascend with the lane. */
enum { KEY_STRIP = 1, KEY_LANE = 10, KEY_Y = 21, KEY_BAND = 53 };
#define NO_KEY UINT64_MAX /* no hit: the strip continues a cluster, or its lane has no sector */

/* Maps floats to integers of the same order, -0 before 0: inverts all bits of negative numbers, else the sign bit. */
static SL_DEVICE uint32_t ordered(float y) {
  const uint32_t bits = sl_bits_from_f32(y), is_negative = bits >> 31;
  return bits ^ ((0u - is_negative) | 1u << 31);
}
static SL_DEVICE float unordered(uint32_t key) {
  const uint32_t is_positive = key >> 31;
  return sl_f32_from_bits(key ^ ((is_positive - 1u) | 1u << 31));
}

static SL_DEVICE uint32_t key_band(uint64_t key) { return (uint32_t)(key >> KEY_BAND); }
static SL_DEVICE float key_y(uint64_t key) { return unordered((uint32_t)(key >> KEY_Y)); }
static SL_DEVICE uint32_t key_lane(uint64_t key) { return (uint32_t)(key >> KEY_LANE) & 0x7FF; }
static SL_DEVICE uint32_t key_id(const struct decode_args *a, uint64_t key) {
  return ut_id(key & 1 ? 4 : 3, a->geometry.lane_channel[key_lane(key)],
               (uint32_t)(key >> KEY_STRIP) & (UT_SECTOR_STRIPS - 1));
}

/* 1 if a hit is sorted before another one of the same band. Refuses the event if both have the same id. */
static SL_DEVICE uint32_t key_is_before(const struct decode_args *a, uint32_t event, uint64_t key, uint64_t other) {
  const uint64_t difference = key ^ other;
  if (difference >> KEY_Y != 0) return key < other ? 1u : 0u;
  if (difference >> KEY_LANE == 0 && difference != 0) return key < other ? 1u : 0u;
  const uint32_t id = key_id(a, key), other_id = key_id(a, other);
  if (id == other_id) sl_event_fail(&a->events, event, UT_DECODE_TWO_HITS, key_lane(key) / UT_BOARD_LANES);
  return id < other_id ? 1u : 0u;
}

/* ------------------------------------------------------------------------------------------------------ banks */

/* The banks of an event, in shared memory. */
struct bank_slots {
  uint16_t first_hit[BANK_SLOTS]; /* index of the first hit of each bank; then the number of hits; then 65535 */
  uint16_t lanes[BANK_SLOTS];     /* first lane of the board | BANK_IS_V4 */
  uint32_t first_word[BANK_SLOTS];
  uint32_t claims[BOARD_WORDS]; /* a bit for each board that has a bank */
};
enum { BANK_IS_V4 = 1 << 15 };

/* Checks a bank and fills its slot. Returns its number of hits; sets *wrong if the event is refused. */
static SL_DEVICE uint32_t open_bank(const struct decode_args *a, uint32_t event, uint32_t index, uint32_t slot,
                                    struct bank_slots *b, uint32_t *wrong) {
  const uint32_t first_word = a->banks.first_word[index], source_id = a->banks.source_id[index];
  const uint32_t board = ut_board(source_id), version = a->banks.version[index];
  uint32_t hits = 0;
  enum ut_bank_fault fault = UT_BANK_NO_BOARD;
  if (board != UT_BOARDS)
    fault = ut_bank_header(a->banks.payload + first_word, a->banks.size_bytes[index], version, &hits);
  if (fault == UT_BANK_MARKED) {
    sl_event_truncated(&a->events, event, UT_DECODE_MARKED, source_id);
    fault = UT_BANK_FINE;
    hits = 0;
  }
  if (fault != UT_BANK_FINE) {
    sl_event_fail(&a->events, event, (uint32_t)fault, source_id);
    *wrong = 1;
    return 0;
  }
  if (atomicOr(&b->claims[board / 32], 1u << board % 32) >> board % 32 & 1) {
    sl_event_fail(&a->events, event, UT_DECODE_TWO_BANKS, board);
    *wrong = 1;
  }
  if (slot < BANK_SLOTS) {
    b->lanes[slot] = (uint16_t)(UT_BOARD_LANES * board | (version == 4 ? BANK_IS_V4 : 0));
    b->first_word[slot] = first_word;
  }
  return hits;
}

/* Decoding of an event by a block. All pointers are to shared memory: nvcc 13 treats all pointers of a struct as
 * generic if one of them is. */
struct decoding {
  struct bank_slots *banks;
  uint32_t *next; /* per band: number of hits, then index of the next listed hit */
  uint32_t first; /* index of the first key of the event */
  uint32_t event, bank_count;
  uint32_t hits;  /* of all banks, including strips that continue a cluster; 0: the event is refused or has no hits */
  uint32_t wrong; /* 1 if this thread saw an invalid channel */
};

/* Checks the banks and numbers their hits, one thread per bank; clears the bands. Called by all threads of the block.
 */
static SL_DEVICE struct decoding begin_event(const struct decode_args *a, uint32_t event, struct bank_slots *b,
                                             uint32_t *next) {
  const uint32_t begin = a->banks.offsets[event], banks = a->banks.offsets[event + 1] - begin;
  struct decoding d;
  uint32_t sum = 0, wrong = 0;
  for (uint32_t i = threadIdx.x; i < BANK_SLOTS; i += blockDim.x) b->first_hit[i] = UINT16_MAX;
  for (uint32_t i = threadIdx.x; i < BOARD_WORDS; i += blockDim.x) b->claims[i] = 0;
  for (uint32_t i = threadIdx.x; i < BAND_SLOTS; i += blockDim.x) next[i] = 0;
  __syncthreads();
  SL_FOR_BLOCK (i, banks) {
    uint32_t total;
    const uint32_t hits = i < banks ? open_bank(a, event, begin + i, i, b, &wrong) : 0;
    const uint32_t first = sum + sl_block_exclusive_scan(hits, &total);
    if (i < banks && i < BANK_SLOTS) b->first_hit[i] = (uint16_t)first;
    sum += total;
  }
  if (threadIdx.x == 0 && banks < BANK_SLOTS) b->first_hit[banks] = (uint16_t)sum;
  if (sum > UT_HITS_MAX && threadIdx.x == 0) sl_event_fail(&a->events, event, UT_DECODE_TOO_MANY, sum);
  d.banks = b;
  d.next = next;
  d.event = event;
  d.bank_count = banks;
  d.hits = sl_block_sum_u32(wrong) > 0 || sum > UT_HITS_MAX ? 0 : sum; /* with more banks than slots, `wrong` is set */
  d.wrong = 0;
  if (threadIdx.x == 0) a->keys_begin[event] = atomicAdd(a->keys_used, d.hits);
  __syncthreads();
  d.first = a->keys_begin[event];
  return d;
}

/* --------------------------------------------------------------------------------------------------- clusters */

/* Distance of a cluster from the first strip of the sector, in strips. Version 4 counts backwards in some sectors. */
static SL_DEVICE float strips_from_first(const float *record, uint32_t is_v4, const struct ut_cluster *c) {
  return is_v4 && record[IS_FLIPPED] != 0.0f ? (float)(UT_SECTOR_STRIPS - 1) - c->position : c->position;
}

/* The band of a lane, from the table. */
static SL_DEVICE uint32_t band_by_map(const struct decode_args *a, uint32_t lane) { return a->lane_band[lane]; }

/* Marks hit `i` as NO_KEY: its lane has no sector (warning) or does not exist (the event is refused). */
static SL_DEVICE void drop_cluster(const struct decode_args *a, struct decoding *d, uint32_t bank, uint32_t i,
                                   const struct ut_cluster *c) {
  const uint32_t source_id = a->banks.source_id[a->banks.offsets[d->event] + bank];
  a->keys[d->first + i] = NO_KEY;
  if (c->lane < UT_BOARD_LANES) {
    sl_event_truncated(&a->events, d->event, UT_DECODE_NO_SECTOR, source_id);
  } else {
    sl_event_fail(&a->events, d->event, UT_BANK_NO_LANE, source_id);
    d->wrong = 1;
  }
}

/* Makes the key of hit `i` from a cluster and counts it in the band that `band_of` returns for its lane. */
static SL_DEVICE void take_cluster(const struct decode_args *a, struct decoding *d, uint32_t bank, uint32_t i,
                                   const struct ut_cluster *c,
                                   uint32_t (*band_of)(const struct decode_args *, uint32_t)) {
  const uint32_t lanes = d->banks->lanes[bank], is_v4 = lanes / BANK_IS_V4, lane = lanes % BANK_IS_V4 + c->lane;
  const uint32_t band = c->lane < UT_BOARD_LANES ? band_of(a, lane) : (uint32_t)NO_BAND;
  if (band == NO_BAND) {
    drop_cluster(a, d, bank, i, c);
    return;
  }
  const float *record = a->lanes + RECORD_FLOATS * lane;
  const float strips = strips_from_first(record, is_v4, c), y = record[Y0] + strips * record[DY_DI];
  a->keys[d->first + i] =
      (uint64_t)band << KEY_BAND | (uint64_t)ordered(y) << KEY_Y | lane << KEY_LANE | c->strip << KEY_STRIP | is_v4;
  a->strips[d->first + i] = strips;
  atomicAdd(&d->next[band], 1u);
}

/* 1 if y decreases with the strip. A single thread then numbers the hits of a lane backwards, so that keys ascend. */
static SL_DEVICE uint32_t counts_down(const struct decode_args *a, const struct decoding *d, uint32_t bank) {
  return a->lanes[RECORD_FLOATS * (d->banks->lanes[bank] % BANK_IS_V4) + DY_DI] < 0.0f ? 1u : 0u;
}
static SL_DEVICE uint32_t number_of(uint32_t is_down, uint32_t i, uint32_t count) {
  return is_down ? count - 1 - i : i;
}

/* Takes the clusters of a lane of version 4; its first hit has the index `first`. */
static SL_DEVICE void take_v4_lane(const struct decode_args *a, struct decoding *d, uint32_t bank, uint32_t lane,
                                   uint32_t first, uint32_t count,
                                   uint32_t (*band_of)(const struct decode_args *, uint32_t)) {
  const uint32_t *words = a->banks.payload + d->banks->first_word[bank], is_down = counts_down(a, d, bank);
  for (uint32_t i = 0, end = 0; i < count; i = end) {
    struct ut_cluster c;
    const int is_one = ut_v4_next_cluster(words, lane, count, &end, &c);
    for (uint32_t k = i; k < end; k++) a->keys[d->first + first + number_of(is_down, k, count)] = NO_KEY;
    if (is_one) take_cluster(a, d, bank, first + number_of(is_down, i, count), &c, band_of);
  }
}

/* Takes all clusters of a bank by one thread. */
static SL_DEVICE void take_bank(const struct decode_args *a, struct decoding *d, uint32_t bank,
                                uint32_t (*band_of)(const struct decode_args *, uint32_t)) {
  const uint32_t *words = a->banks.payload + d->banks->first_word[bank];
  uint32_t first = d->banks->first_hit[bank];
  const uint32_t hits = d->banks->first_hit[bank + 1] - first;
  if (hits == 0) return; /* empty or ignored */
  if (d->banks->lanes[bank] < BANK_IS_V4) {
    const uint32_t is_down = counts_down(a, d, bank);
    for (uint32_t i = 0; i < hits; i++) {
      const struct ut_cluster c = ut_v3_cluster(words, i);
      take_cluster(a, d, bank, first + number_of(is_down, i, hits), &c, band_of);
    }
    return;
  }
  for (uint32_t lane = 0; lane < UT_BOARD_LANES; lane++) {
    const uint32_t count = ut_v4_count(words, UT_V4_EMPTY_BYTES, lane);
    take_v4_lane(a, d, bank, lane, first, count, band_of);
    first += count;
  }
}

/* After all clusters: computes the first hit of each band; writes group_first and the number of hits. */
static SL_DEVICE void place_bands(const struct decode_args *a, const struct decoding *d) {
  const uint32_t bands = a->group_band[UT_GROUPS_MAX], each = (bands + blockDim.x - 1) / blockDim.x;
  const uint32_t begin = threadIdx.x * each, end = begin + each < bands ? begin + each : bands;
  uint32_t sum = 0, total;
  for (uint32_t band = begin; band < end; band++) sum += d->next[band];
  uint32_t first = sl_block_exclusive_scan(sum, &total);
  for (uint32_t band = begin; band < end; band++) {
    const uint32_t count = d->next[band];
    d->next[band] = first;
    first += count;
  }
  if (threadIdx.x == 0) d->next[bands] = total;
  if (threadIdx.x == 0) a->hits.offsets[d->event] = total;
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < GROUP_SLOTS; i += blockDim.x)
    a->hits.group_first[(size_t)d->event * GROUP_SLOTS + i] = (uint16_t)d->next[a->group_band[i]];
  __syncthreads();
}

/* Lists the hits by band, after all clusters. Called by all threads of the block. */
static SL_DEVICE void list_by_band(const struct decode_args *a, const struct decoding *d) {
  if (sl_block_sum_u32(d->wrong) > 0) { /* uniform in the block */
    for (uint32_t i = threadIdx.x; i < BAND_SLOTS; i += blockDim.x) d->next[i] = 0;
    __syncthreads();
    place_bands(a, d);
    return;
  }
  place_bands(a, d);
  for (uint32_t i = threadIdx.x; i < d->hits; i += blockDim.x) {
    const uint64_t key = a->keys[d->first + i];
    if (key == NO_KEY) continue;
    const uint32_t slot = d->first + atomicAdd(&d->next[key_band(key)], 1u);
    a->listed_keys[slot] = key;
    a->listed_strips[slot] = a->strips[d->first + i];
  }
  __syncthreads(); /* shared memory is free for the next event */
}

/* ------------------------------------------------------------------------------------------------------ write */

/* The listed hits of an event. */
struct listed_hits {
  uint64_t *keys;
  float *strips;
};
static SL_DEVICE struct listed_hits hits_of(const struct decode_args *a, uint32_t event) {
  const uint32_t begin = a->keys_begin[event];
  struct listed_hits h;
  h.keys = a->listed_keys + begin;
  h.strips = a->listed_strips + begin;
  return h;
}

/* Index of the hit listed at `slot` in the sorted hits. Hits of a band are contiguous in the list. */
static SL_DEVICE uint32_t rank_of(const struct decode_args *a, uint32_t event, const uint64_t *keys, uint32_t hits,
                                  uint32_t slot) {
  const uint64_t own = keys[slot];
  uint32_t rank = slot;
  for (uint32_t i = slot; i > 0; i--) {
    const uint64_t near = keys[i - 1];
    if (key_band(near) != key_band(own)) break;
    rank -= key_is_before(a, event, own, near);
  }
  for (uint32_t i = slot + 1; i < hits; i++) {
    const uint64_t near = keys[i];
    if (key_band(near) != key_band(own)) break;
    rank += key_is_before(a, event, near, own);
  }
  return rank;
}

static SL_DEVICE void write_hit(const struct decode_args *a, uint64_t key, float strips, uint32_t to) {
  const uint32_t lane = key_lane(key);
  const float *record = a->lanes + RECORD_FLOATS * lane;
  const float y = key_y(key);
  a->hits.id[to] = key_id(a, key);
  a->hits.x[to] = record[X0] + strips * record[DX_DI];
  a->hits.y[to] = y;
  a->hits.y_end[to] = y + record[LENGTH];
  a->hits.z[to] = record[Z0] + strips * record[DZ_DI];
  a->hits.sector[to] = a->groups.lane_sector[lane];
}

/* Writes hits in list order. Returns 1 if this is certainly the sorted order. */
static SL_DEVICE uint32_t write_as_listed(const struct decode_args *a, const struct listed_hits *h, uint32_t first,
                                          uint32_t hits) {
  uint64_t last = 0;
  uint32_t is_doubtful = 0;
  for (uint32_t slot = 0; slot < hits; slot++) {
    const uint64_t key = h->keys[slot], difference = key ^ last;
    const uint32_t is_tie_of_lanes = difference >> KEY_Y == 0 && difference >> KEY_LANE != 0;
    is_doubtful |= (slot > 0 && key <= last ? 1u : 0u) | is_tie_of_lanes;
    write_hit(a, key, h->strips[slot], first + slot);
    last = key;
  }
  return !is_doubtful;
}

static SL_DEVICE void sort_list(const struct decode_args *a, uint32_t event, const struct listed_hits *h,
                                uint32_t hits) {
  for (uint32_t i = 1; i < hits; i++) {
    const uint64_t key = h->keys[i];
    const float strips = h->strips[i];
    uint32_t to = i;
    for (; to > 0 && key_is_before(a, event, key, h->keys[to - 1]); to--) {
      h->keys[to] = h->keys[to - 1];
      h->strips[to] = h->strips[to - 1];
    }
    h->keys[to] = key;
    h->strips[to] = strips;
  }
}

/* Writes hits by one thread. The list is sorted already if the banks have hits by lane and strip, which is usual. */
static SL_DEVICE void write_in_order(const struct decode_args *a, uint32_t event, const struct listed_hits *h,
                                     uint32_t first, uint32_t hits) {
  if (write_as_listed(a, h, first, hits)) return;
  sort_list(a, event, h, hits);
  write_as_listed(a, h, first, hits);
}

/* Writes the hits of an event, one thread per hit. */
static SL_DEVICE void write_hits(const struct decode_args *a, uint32_t event) {
  const uint32_t first = a->hits.offsets[event], hits = a->hits.offsets[event + 1] - first;
  if (hits == 0) { /* no hits, event refused, or the slice overflowed */
    for (uint32_t i = threadIdx.x; i < GROUP_SLOTS; i += blockDim.x)
      a->hits.group_first[(size_t)event * GROUP_SLOTS + i] = 0;
    return;
  }
  const struct listed_hits h = hits_of(a, event);
  if (IS_ALONE) {
    write_in_order(a, event, &h, first, hits);
    return;
  }
  for (uint32_t slot = threadIdx.x; slot < hits; slot += blockDim.x)
    write_hit(a, h.keys[slot], h.strips[slot], first + rank_of(a, event, h.keys, hits, slot));
}

/* ---------------------------------------------------------------------------------------------------- kernels */

SL_KERNEL(decode_begin, struct decode_args) {
  if (sl_grid_thread() == 0) *a.keys_used = 0;
}

SL_KERNEL(decode_write, struct decode_args) {
  SL_FOR_EVENTS (event, a.events) write_hits(&a, event);
}

/* Body of `run`; `kernel` makes the keys and lists them. Returns a status. */
#define RUN_DECODE(l, kernel, args)                                                                \
  __extension__({                                                                                  \
    int status = SL_LAUNCH(l, decode_begin, SL_PER_NODE(1), args);                                 \
    if (status == SL_OK) status = SL_COUNT_SCAN_WRITE(l, kernel, decode_write, (args).hits, args); \
    status;                                                                                        \
  })

#endif
