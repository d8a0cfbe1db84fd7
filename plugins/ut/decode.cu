/* ut.decode: UT hits from raw banks of versions 3 and 4, by groups of sectors, sorted (README.md, "Hits").
 *
 * A thread a hit: some 7 hits a bank, and up to 60 in one, would leave most lanes idle if banks were dealt out. Hits
 * are numbered through the banks of an event by a sum over their headers; a thread finds its hit's bank by a binary
 * search. A hit of version 4 that goes on where the one before it ended belongs to that one's cluster, and is none of
 * its own.
 *
 * Count, scan, write:
 * 1. decode_count checks the headers, a thread a bank, and numbers the hits; then, a thread a hit, counts the
 *    clusters of each group of sectors. Exclusive sums of these are the groups' places.
 * 2. The scan makes offsets of the events' sums.
 * 3. decode_write decodes again and puts each cluster's key, (y, id), into its group, at a place that depends on the
 *    order of threads. A hit's rank among the keys of its group does not, since no two keys are equal; there it is
 *    written. Where two keys are equal, a strip was hit twice, and the event is refused.
 *
 * Reads 2 bytes a hit twice, and 3 kB of headers; writes 22 bytes a hit. What a strip's place follows from stands in
 * one record of 32 bytes by lane.
 */
#include "ut/bank_words.h"
#include "ut/event_model.h"
#include "ut/raw_banks.h"

#include <sluice/kernel.h>

/* Why an event is refused; beside those of bank_words.h, whose codes are their numbers. */
enum {
  UT_DECODE_TWO_BANKS = UT_BANK_FAULT_COUNT,
  UT_DECODE_TWO_HITS,
  UT_DECODE_TOO_MANY,
  UT_DECODE_MARKED, /* these refuse nothing */
  UT_DECODE_NO_SECTOR
};

#define UT_DECODE_FAULT_(name, text) {name, 0, "a UT bank is refused: " text " (detail: its source id)"},
static const struct sl_event_error decode_errors[] = {
    UT_BANK_FAULTS(UT_DECODE_FAULT_){UT_DECODE_TWO_BANKS, 0, "two UT banks of one board (detail: its number)"},
    {UT_DECODE_TWO_HITS, 0, "a UT bank has a strip twice (detail: the number of its board)"},
    {UT_DECODE_TOO_MANY, 0, "more than 32767 UT hits in an event (detail: how many)"},
    {UT_DECODE_MARKED, 0,
     "a UT bank is left out, which the readout marked as bad by a count of 255 in a lane (detail: its source id)"},
    {UT_DECODE_NO_SECTOR, 0, "UT hits are left out that are of no sector (detail: their bank's source id)"}};

enum {
  BANK_SLOTS = 256, /* UT_BOARDS, and one at the end, up to a power of two */
  BOARD_WORDS = (UT_BOARDS + 31) / 32,
  STAGED_HITS = 2560, /* keys of so many are in shared memory: all of most events */
  GROUP_SLOTS = UT_GROUPS_MAX + 1
};

/* What a lane's sector does to a strip's place, in the lane's record. */
enum { X0, DX_DI, Y0, DY_DI, Z0, DZ_DI, LENGTH, IS_FLIPPED, RECORD_FLOATS };

#define SL_ARGS decode_args
#define DECODE(M)                                                                                                     \
  M(IN, banks, ut_banks, "offsets source_id version size_bytes first_word payload", "banks of an event in any order") \
  M(IN, geometry, ut_geometry, "lane_channel dy x0 dx_di y0 dy_di z0 dz_di", "sectors")                               \
  M(IN, groups, ut_sector_groups, "lane_sector lane_group", "groups of sectors")                                      \
  M(OUT, hits, ut_hits, "by group, y and id",                                                                         \
    SL_ITEMS(SL_MIN(SL_SUBITEMS_SCALED(banks, 2, 1, 0), SL_BUDGET_TERM(hits_per_event, UT_HITS_MAX))))                \
  M(BUDGET, hits_per_event, 2000, 1, 100000, "UT hits, on average over a slice")                                      \
  M(SCRATCH, bank_place, u16, "number of each bank's first hit", SL_ONE(SL_ITEMS_TERM(banks)))                        \
  M(SCRATCH, keys, u64, "of hits that there is no room for in shared memory",                                         \
    SL_MIN(SL_SUBITEMS_SCALED(banks, 2, 1, 0), SL_BUDGET_TERM(hits_per_event, UT_HITS_MAX)))                          \
  M(SCRATCH, key_lanes, u16, "lanes of these",                                                                        \
    SL_MIN(SL_SUBITEMS_SCALED(banks, 2, 1, 0), SL_BUDGET_TERM(hits_per_event, UT_HITS_MAX)))                          \
  M(SCRATCH, key_strips, f32, "and their places in strips",                                                           \
    SL_MIN(SL_SUBITEMS_SCALED(banks, 2, 1, 0), SL_BUDGET_TERM(hits_per_event, UT_HITS_MAX)))                          \
  M(TABLE, lanes, f32, "a record of 8 values for each lane")
SL_ARGUMENTS(decode, DECODE);

static int prepare(const struct sl_services *s, void *args) {
  struct decode_args *a = (struct decode_args *)args;
  float *lanes = (float *)s->make_table(s->context, "lanes", (uint32_t)UT_LANES * RECORD_FLOATS);
  if (!lanes) return SL_ENOMEM;
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
  return SL_OK;
}

/* ----------------------------------------------------------------------------------------------------- banks */

struct bank {
  const uint32_t *words;
  uint32_t bytes, version, source_id, board;
};

static SL_DEVICE struct bank open_bank(const struct decode_args *a, uint32_t index) {
  struct bank b;
  b.words = a->banks.payload + a->banks.first_word[index];
  b.bytes = a->banks.size_bytes[index];
  b.version = a->banks.version[index];
  b.source_id = a->banks.source_id[index];
  b.board = ut_board(b.source_id);
  return b;
}

/* Whether what stands before the hits is wrong, and how many hits there are. Channels of version 3 are not looked at.
 */
static SL_DEVICE enum ut_bank_fault check_bank(const struct bank *b, uint32_t *hits) {
  *hits = 0;
  if (b->board == UT_BOARDS) return UT_BANK_NO_BOARD;
  if (b->version == 3) {
    if (b->bytes < 4) return UT_BANK_TOO_SHORT;
    *hits = ut_v3_count(b->words);
    return 4 + 2 * *hits > b->bytes ? UT_BANK_COUNT : UT_BANK_FINE;
  }
  if (b->version != 4) return UT_BANK_NO_VERSION;
  for (uint32_t lane = 0; lane < UT_BOARD_LANES; lane++) *hits += ut_v4_count(b->words, b->bytes, lane);
  return ut_v4_fault(b->words, b->bytes);
}

/* The cluster that begins with hit `i` of a lane; 0 if none does. */
static SL_DEVICE uint32_t v4_cluster_at(const uint32_t *words, uint32_t lane, uint32_t count, uint32_t i,
                                        struct ut_cluster *c) {
  uint32_t end = i + 1, strip = ut_v4_hit_strip(ut_v4_hit(words, lane, i));
  if (i > 0 && ut_v4_hit_strip(ut_v4_hit(words, lane, i - 1)) + 1 == strip) return 0;
  for (; end < count && ut_v4_hit_strip(ut_v4_hit(words, lane, end)) == strip + 1; end++) strip++;
  return ut_v4_next_cluster(words, lane, end, &i, c) ? 1u : 0u;
}

/* The cluster of a bank's hit `i`; 0 if it has none. A lane beyond the sixth is the caller's matter. */
static SL_DEVICE uint32_t cluster_at(const struct bank *b, uint32_t i, struct ut_cluster *c) {
  if (b->version == 3) {
    *c = ut_v3_cluster(b->words, i);
    return 1;
  }
  uint32_t lane = 0, count = ut_v4_count(b->words, b->bytes, 0);
  while (i >= count && lane + 1 < UT_BOARD_LANES) {
    i -= count;
    lane++;
    count = ut_v4_count(b->words, b->bytes, lane);
  }
  return v4_cluster_at(b->words, lane, count, i, c);
}

/* Numbers the hits of an event's banks, a thread a bank: `place` is the first one's of each bank, and beyond the last
 * bank that of no hit, so that a binary search ends there. Returns how many hits there are; 0 if the event is refused.
 * `claims`: a bit for each board. */
static SL_DEVICE uint32_t number_hits(const struct decode_args *a, uint32_t event, uint16_t *place, uint32_t *claims) {
  const uint32_t begin = a->banks.offsets[event], banks = a->banks.offsets[event + 1] - begin;
  uint32_t sum = 0, wrong = 0;
  for (uint32_t i = threadIdx.x; i < BANK_SLOTS; i += blockDim.x) place[i] = UINT16_MAX;
  for (uint32_t i = threadIdx.x; i < BOARD_WORDS; i += blockDim.x) claims[i] = 0;
  __syncthreads();
  SL_FOR_BLOCK (i, banks) {
    uint32_t hits = 0, total;
    if (i < banks) {
      const struct bank b = open_bank(a, begin + i);
      enum ut_bank_fault fault = check_bank(&b, &hits);
      if (fault == UT_BANK_MARKED) {
        sl_event_cut(&a->events, event, UT_DECODE_MARKED, b.source_id);
        fault = UT_BANK_FINE;
        hits = 0;
      }
      if (fault != UT_BANK_FINE) {
        sl_event_fail(&a->events, event, (uint32_t)fault, b.source_id);
        wrong = 1;
        hits = 0;
      } else if (atomicOr(&claims[b.board / 32], 1u << b.board % 32) >> b.board % 32 & 1) {
        sl_event_fail(&a->events, event, UT_DECODE_TWO_BANKS, b.board);
        wrong = 1;
      }
    }
    const uint32_t first = sum + sl_block_exclusive_scan(hits, &total);
    if (i < banks && i < BANK_SLOTS - 1) place[i] = (uint16_t)first;
    if (i < banks) a->bank_place[begin + i] = (uint16_t)first;
    sum += total;
  }
  if (sum > UT_HITS_MAX && threadIdx.x == 0) sl_event_fail(&a->events, event, UT_DECODE_TOO_MANY, sum);
  return sl_block_sum_u32(wrong) > 0 || sum > UT_HITS_MAX ? 0 : sum;
}

/* The bank of hit `i`: the last one that does not begin after it. A thread alone goes on from its last hit's. */
static SL_DEVICE uint32_t find_bank(const uint16_t *place, uint32_t i, uint32_t last) {
  uint32_t bank = 0;
  if (blockDim.x == 1) {
    for (bank = last; place[bank + 1] <= i;) bank++;
    return bank;
  }
  for (uint32_t step = BANK_SLOTS / 2; step > 0; step /= 2)
    if (place[bank + step] <= i) bank += step;
  return bank;
}

/* ----------------------------------------------------------------------------------------------------- count */

/* Counts the clusters of each group, a thread a hit. Returns whether the thread saw a channel that does not exist. */
static SL_DEVICE uint32_t count_groups(const struct decode_args *a, uint32_t event, const uint16_t *place,
                                       uint32_t hits, uint32_t *counts) {
  const uint32_t begin = a->banks.offsets[event];
  uint32_t wrong = 0, bank = 0;
  for (uint32_t i = threadIdx.x; i < hits; i += blockDim.x) {
    struct ut_cluster c;
    bank = find_bank(place, i, bank);
    const struct bank b = open_bank(a, begin + bank);
    if (!cluster_at(&b, i - place[bank], &c)) continue;
    if (c.lane >= UT_BOARD_LANES) {
      sl_event_fail(&a->events, event, UT_BANK_NO_LANE, b.source_id);
      wrong = 1;
      continue;
    }
    const uint32_t group = a->groups.lane_group[b.board * UT_BOARD_LANES + c.lane];
    if (group == UT_NO_GROUP)
      sl_event_cut(&a->events, event, UT_DECODE_NO_SECTOR, b.source_id);
    else
      atomicAdd(&counts[group], 1u);
  }
  return wrong;
}

/* Writes where each group begins; those behind the last one begin where the hits end. Returns their number. */
static SL_DEVICE uint32_t place_groups(const struct decode_args *a, uint32_t event, const uint32_t *counts) {
  uint32_t sum = 0;
  SL_FOR_BLOCK (group, GROUP_SLOTS) {
    uint32_t total;
    const uint32_t first = sum + sl_block_exclusive_scan(group < GROUP_SLOTS ? counts[group] : 0u, &total);
    if (group < GROUP_SLOTS) a->hits.group_first[(size_t)event * GROUP_SLOTS + group] = (uint16_t)first;
    sum += total;
  }
  return sum;
}

SL_KERNEL(decode_count, struct decode_args) {
  __shared__ uint16_t place[BANK_SLOTS];
  __shared__ uint32_t claims[BOARD_WORDS], counts[GROUP_SLOTS];
  SL_FOR_EVENTS (event, a.events) {
    for (uint32_t i = threadIdx.x; i < GROUP_SLOTS; i += blockDim.x) counts[i] = 0;
    const uint32_t hits = number_hits(&a, event, place, claims);
    const uint32_t wrong = sl_block_sum_u32(count_groups(&a, event, place, hits, counts));
    if (wrong) /* the same for all threads */
      for (uint32_t i = threadIdx.x; i < GROUP_SLOTS; i += blockDim.x) counts[i] = 0;
    __syncthreads();
    const uint32_t sum = place_groups(&a, event, counts);
    if (threadIdx.x == 0) a.hits.offsets[event] = sum;
    __syncthreads();
  }
}

/* ----------------------------------------------------------------------------------------------------- write */

/* Floats by their size as integers, -0 before 0. */
static SL_DEVICE uint32_t ordered(float y) {
  const uint32_t bits = sl_bits_from_f32(y);
  return bits >> 31 ? ~bits : bits | 1u << 31;
}
static SL_DEVICE float unordered(uint32_t key) { return sl_f32_from_bits(key >> 31 ? key & INT32_MAX : ~key); }

/* How many strips from the first one of the sector a cluster is. Version 4 counts from the other end in some. */
static SL_DEVICE float strips_from_first(const float *record, uint32_t version, const struct ut_cluster *c) {
  return version == 4 && record[IS_FLIPPED] != 0.0f ? (float)(UT_SECTOR_STRIPS - 1) - c->place : c->place;
}

/* An event's hits, being sorted. */
struct sorting {
  uint64_t *keys; /* ordered y, id */
  uint16_t *lanes;
  float *strips; /* from the first one of the sector */
  uint16_t *place;
  uint32_t *next;         /* of each group: where the next one is put */
  const uint16_t *groups; /* where they begin */
  uint32_t banks_begin, banks, hits;
};

/* The event's raw hits, of which some may have no cluster. */
static SL_DEVICE uint32_t load_places(const struct decode_args *a, const struct sorting *s) {
  for (uint32_t i = threadIdx.x; i < BANK_SLOTS; i += blockDim.x)
    s->place[i] = i < s->banks ? a->bank_place[s->banks_begin + i] : UINT16_MAX;
  for (uint32_t i = threadIdx.x; i < GROUP_SLOTS; i += blockDim.x) s->next[i] = s->groups[i];
  __syncthreads();
  uint32_t last = s->banks, count;
  struct bank b;
  do {
    b = open_bank(a, s->banks_begin + --last);
    if (check_bank(&b, &count) != UT_BANK_FINE) count = 0;
  } while (count == 0 && last > 0);
  return s->place[last] + count;
}

static SL_DEVICE void put_keys(const struct decode_args *a, const struct sorting *s, uint32_t raw_hits) {
  uint32_t bank = 0;
  for (uint32_t i = threadIdx.x; i < raw_hits; i += blockDim.x) {
    struct ut_cluster c;
    bank = find_bank(s->place, i, bank);
    const struct bank b = open_bank(a, s->banks_begin + bank);
    if (!cluster_at(&b, i - s->place[bank], &c)) continue;
    const uint32_t lane = b.board * UT_BOARD_LANES + c.lane, group = a->groups.lane_group[lane];
    if (group == UT_NO_GROUP) continue;
    const float *record = a->lanes + RECORD_FLOATS * lane;
    const float strips = strips_from_first(record, b.version, &c), y = record[Y0] + strips * record[DY_DI];
    const uint32_t slot = atomicAdd(&s->next[group], 1u);
    s->keys[slot] = (uint64_t)ordered(y) << 32 | ut_id(b.version, a->geometry.lane_channel[lane], c.strip);
    s->lanes[slot] = (uint16_t)lane;
    s->strips[slot] = strips;
  }
}

/* Writes the hit whose key stands at `slot`, at its rank in the group. Returns its place in the event. */
static SL_DEVICE uint32_t write_hit(const struct decode_args *a, const struct sorting *s, uint32_t event,
                                    uint32_t slot) {
  const uint32_t lane = s->lanes[slot], group = a->groups.lane_group[lane];
  const uint32_t first = s->groups[group], end = s->groups[group + 1];
  const uint64_t *keys = s->keys, key = keys[slot];
  const float *record = a->lanes + RECORD_FLOATS * lane;
  uint32_t rank = 0;
  for (uint32_t i = first; i < end; i++) rank += keys[i] < key ? 1u : 0u;
  const uint32_t to = a->hits.offsets[event] + first + rank;
  const float strips = s->strips[slot], y = unordered((uint32_t)(key >> 32));
  a->hits.id[to] = (uint32_t)key;
  a->hits.x[to] = record[X0] + strips * record[DX_DI];
  a->hits.y[to] = y;
  a->hits.y_end[to] = y + record[LENGTH];
  a->hits.z[to] = record[Z0] + strips * record[DZ_DI];
  a->hits.sector[to] = a->groups.lane_sector[lane];
  return first + rank;
}

/* Refuses the event for each key that there is twice. */
static SL_DEVICE void refuse_equal_keys(const struct decode_args *a, const struct sorting *s, uint32_t event) {
  for (uint32_t slot = threadIdx.x; slot < s->hits; slot += blockDim.x) {
    const uint32_t group = a->groups.lane_group[s->lanes[slot]];
    for (uint32_t i = s->groups[group]; i < s->groups[group + 1]; i++)
      if (i != slot && s->keys[i] == s->keys[slot])
        sl_event_fail(&a->events, event, UT_DECODE_TWO_HITS, s->lanes[slot] / UT_BOARD_LANES);
  }
}

SL_KERNEL(decode_write, struct decode_args) {
  __shared__ uint64_t staged_keys[STAGED_HITS];
  __shared__ float staged_strips[STAGED_HITS];
  __shared__ uint16_t staged_lanes[STAGED_HITS], place[BANK_SLOTS];
  __shared__ uint32_t next[GROUP_SLOTS];
  SL_FOR_EVENTS (event, a.events) {
    struct sorting s;
    const uint32_t first = a.hits.offsets[event];
    s.hits = a.hits.offsets[event + 1] - first;
    if (s.hits == 0) { /* none, or refused, or the slice overflowed */
      for (uint32_t i = threadIdx.x; i < GROUP_SLOTS; i += blockDim.x)
        a.hits.group_first[(size_t)event * GROUP_SLOTS + i] = 0;
      continue;
    }
    s.keys = s.hits > STAGED_HITS ? a.keys + first : staged_keys;
    s.lanes = s.hits > STAGED_HITS ? a.key_lanes + first : staged_lanes;
    s.strips = s.hits > STAGED_HITS ? a.key_strips + first : staged_strips;
    s.place = place;
    s.next = next;
    s.groups = a.hits.group_first + (size_t)event * GROUP_SLOTS;
    s.banks_begin = a.banks.offsets[event];
    s.banks = a.banks.offsets[event + 1] - s.banks_begin;
    const uint32_t raw_hits = load_places(&a, &s);
    put_keys(&a, &s, raw_hits);
    __syncthreads();
    uint32_t places = 0;
    for (uint32_t slot = threadIdx.x; slot < s.hits; slot += blockDim.x) places += write_hit(&a, &s, event, slot);
    /* Each place is taken once, or, where keys are equal, some lower one twice. */
    if (sl_block_sum_u32(places) != s.hits * (s.hits - 1) / 2) refuse_equal_keys(&a, &s, event);
    __syncthreads(); /* the keys are free */
  }
}

static int run(const struct sl_launch *l, const struct decode_args *a) {
  return SL_COUNT_SCAN_WRITE(l, decode_count, decode_write, a->hits, *a);
}

SL_ALGORITHM(decode, "UT hits from raw banks, by groups of sectors, sorted", 256, run, SL_ERRORS_OF(decode_errors),
             SL_PREPARE(prepare));
