/* muon.decode: hit pads and strips ("tiles") of the muon chambers from raw banks of versions 2 and 3 (README.md).
 * A bitmap of all strips (strips.h) in shared memory removes duplicates and sorts.
 *   1. decode_count: list the batches (version 2) or links (version 3) of the banks, set the bits of their channels,
 *      and count the bits that are set for the first time.
 *   2. The scan turns these counts into offsets.
 *   3. decode_write: make the bitmap again; the number of bits before a strip is the index of its tile. The time of a
 *      tile is the earliest of its digits.
 * Parallelism: one thread per bank to make the lists, eight threads per list. Determinism: the order is that of strips.
 * Cost: reads each hit and its channel (4 bytes) four times, and 300 bytes of lengths; writes 9 bytes per tile and 34
 * per event.
 */
#include "muon/bank_words.h"
#include "muon/raw_banks.h"
#include "strips.h"

#include <sluice/kernel.h>

enum {
  MUON_TWO_BANKS = MUON_FAULT_COUNT,
  UNITS_MAX = MUON_TELL40S * MUON_HALVES,
  LISTS_MAX = UNITS_MAX * MUON_LINKS, /* version 2 has fewer: 4 batches of 10 banks */
  LIST_THREADS = 8,
  CLAIM_WORDS = (UNITS_MAX + 31) / 32,
  NO_STRIP = 65535,
  LATEST = 15
};

#define DECODE_ERROR_(name, text) {name, 0, "a muon bank is wrong: " text " (detail: its source id)"},
static const struct sl_event_error decode_errors[] = {
    MUON_FAULTS(DECODE_ERROR_){MUON_TWO_BANKS, 0, "two muon banks of one source (detail: its source id)"}};

#define SL_ARGS decode_args
#define DECODE(M)                                                                                                 \
  M(IN, banks, muon_banks, "offsets source_id version size_bytes first_word payload", "muon banks, in any order") \
  M(IN, geometry, muon_geometry, "format channel_first tiles tell40_links grid", "map of readout channels")       \
  M(OUT, tiles, muon_tiles, "hit tiles, each once, by grid and quarter",                                          \
    SL_ITEMS(SL_MIN(SL_SUBITEMS_SCALED(banks, 28, 1, 0), SL_BUDGET_TERM(tiles_per_event, MUON_TILES_MAX))))       \
  M(BUDGET, tiles_per_event, 410, 1, MUON_TILES_MAX, "hit pads and strips, on average over a slice")              \
  M(SCRATCH, times, u32, "times of the tiles",                                                                    \
    SL_MIN(SL_SUBITEMS_SCALED(banks, 28, 1, 0), SL_BUDGET_TERM(tiles_per_event, MUON_TILES_MAX)))                 \
  M(COMPUTED, words, uint32_t, "number of words of the bitmap")                                                   \
  M(TABLE, strip_of, u16, "number of each channel's strip; 65535: none")                                          \
  M(TABLE, tile_of, u32, "tile of each strip")                                                                    \
  M(TABLE, grid_word, u32, "first word of each grid in the bitmap")
SL_ARGUMENTS(decode, DECODE);

static int prepare(const struct sl_services *s, void *args) {
  struct decode_args *a = (struct decode_args *)args;
  struct strip_grid grids[MUON_GRIDS] = {{0}};
  const char *fault = strip_grids_make(&a->geometry, grids);
  if (fault) {
    s->message(s->context, SL_ERROR, "the geometry of the muon chambers: %s", fault);
    return SL_EINVAL;
  }
  const uint32_t units = a->geometry.format[0] == 2 ? (uint32_t)MUON_BANKS : (uint32_t)UNITS_MAX;
  const uint32_t channels = a->geometry.channel_first[units];
  uint16_t *strip_of = (uint16_t *)s->make_table(s->context, "strip_of", channels);
  uint32_t *tile_of = (uint32_t *)s->make_table(s->context, "tile_of", MUON_TILES_MAX);
  uint32_t *grid_word = (uint32_t *)s->make_table(s->context, "grid_word", MUON_GRIDS);
  if (!strip_of || !tile_of || !grid_word) return SL_ENOMEM;
  for (uint32_t i = 0; i < channels; i++) {
    const uint32_t tile = a->geometry.tiles[i];
    const uint32_t strip = tile ? strip_number(&grids[muon_tile_grid(tile)], tile) : (uint32_t)NO_STRIP;
    strip_of[i] = (uint16_t)strip;
    if (tile) tile_of[strip] = tile;
  }
  for (uint32_t i = 0; i < MUON_GRIDS; i++) grid_word[i] = grids[i].first / 32;
  a->words = strip_words(grids);
  return SL_OK;
}

/* ----------------------------------------------------------------------------------------------------- lists */

/* The banks of an event by unit (bank or half of a Tell40), and its lists of hits in any order: unit, link, and offset
 * in the payload of the length of the batch or of the link. */
struct event_lists {
  uint32_t count, claims[CLAIM_WORDS], first_word[UNITS_MAX], list[LISTS_MAX];
};
enum { LIST_LINK_BIT = 16, LIST_UNIT_BIT = 21 };

static SL_DEVICE void add_list(struct event_lists *e, uint32_t unit, uint32_t link, uint32_t at) {
  const uint32_t i = atomicAdd(&e->count, 1u);
  e->list[i] = unit << LIST_UNIT_BIT | link << LIST_LINK_BIT | at;
}

/* Adds the lists of bank `index` of the slice. Returns 0 or the error that refuses the event. */
static SL_DEVICE uint32_t list_bank(const struct decode_args *a, uint32_t index, struct event_lists *e) {
  struct muon_map map;
  struct muon_bank_words bank;
  struct muon_reader r;
  map.format = a->geometry.format[0];
  map.channel_first = a->geometry.channel_first;
  map.tiles = a->geometry.tiles;
  map.tell40_links = a->geometry.tell40_links;
  bank.payload = a->banks.payload + a->banks.first_word[index];
  bank.size_bytes = a->banks.size_bytes[index];
  bank.version = a->banks.version[index];
  bank.source_id = a->banks.source_id[index];
  muon_reader_begin(&r, &map, &bank);
  if (r.fault) return r.fault;
  const uint32_t unit = bank.version == 2 ? bank.source_id : bank.source_id & 0xFFu;
  if (atomicOr(&e->claims[unit / 32], 1u << unit % 32) >> unit % 32 & 1) return MUON_TWO_BANKS;
  e->first_word[unit] = a->banks.first_word[index];
  if (bank.version == 2) {
    for (; muon_next_batch(&r); r.at += r.left, r.left = 0) add_list(e, unit, 0, r.at - 1);
  } else {
    while (muon_next_link(&r)) add_list(e, unit, r.link, r.link_at);
  }
  return r.fault;
}

/* Makes the lists of an event, one thread per bank. Returns 0 if the event is refused. Called by all threads of the
 * block.
 */
static SL_DEVICE uint32_t list_banks(const struct decode_args *a, uint32_t event, struct event_lists *e) {
  const uint32_t begin = a->banks.offsets[event], end = a->banks.offsets[event + 1];
  uint32_t wrong = 0;
  if (threadIdx.x == 0) {
    e->count = 0;
    for (uint32_t i = 0; i < CLAIM_WORDS; i++) e->claims[i] = 0;
  }
  __syncthreads();
  for (uint32_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
    const uint32_t fault = list_bank(a, i, e);
    if (!fault) continue;
    sl_event_fail(&a->events, event, fault, a->banks.source_id[i]);
    wrong = 1;
  }
  return sl_block_sum_u32(wrong) == 0;
}

/* ---------------------------------------------------------------------------------------------------- strips */

/* The strips of an event. First pass: times is NULL. Second pass: the bitmap is complete, `before` has the number of
 * bits before each word, and `times` are the times of the event's tiles. */
struct event_strips {
  uint32_t *bits;
  const uint16_t *before;
  uint32_t *times;
};

/* First pass: sets the bit of a strip and returns 1 if it was not set. Second pass: updates the time; returns 0. */
static SL_DEVICE uint32_t take_hit(const struct event_strips *s, uint32_t strip, uint32_t time) {
  const uint32_t word = strip / 32, bit = 1u << strip % 32;
  if (strip == NO_STRIP) return 0;
  if (!s->times) return !(atomicOr(&s->bits[word], bit) & bit);
  atomicMin(&s->times[s->before[word] + sl_count_bits(s->bits[word] & (bit - 1))], time);
  return 0;
}

static SL_DEVICE uint32_t take_batch(const struct decode_args *a, uint32_t event, uint32_t unit,
                                     const uint32_t *payload, uint32_t at, const struct event_strips *s,
                                     uint32_t *wrong) {
  const uint32_t first = a->geometry.channel_first[unit], channels = a->geometry.channel_first[unit + 1] - first;
  const uint32_t count = muon_halfword(payload, at);
  uint32_t taken = 0;
  SL_ROLLED
  for (uint32_t k = sl_group_lane(LIST_THREADS); k < count; k += SL_GROUP(LIST_THREADS)) {
    const uint32_t word = muon_halfword(payload, at + 1 + k), address = muon_hit_address(word);
    if (address < channels) {
      taken += take_hit(s, a->strip_of[first + address], muon_hit_time(word));
    } else {
      sl_event_fail(&a->events, event, MUON_UNKNOWN_ADDRESS, unit);
      *wrong = 1;
    }
  }
  return taken;
}

static SL_DEVICE uint32_t take_link(const struct decode_args *a, uint32_t unit, uint32_t link, const uint32_t *payload,
                                    uint32_t at, const struct event_strips *s) {
  const uint16_t *strip_of = a->strip_of + a->geometry.channel_first[unit] + link * MUON_LINK_CHANNELS;
  const uint64_t hits = muon_link_hits(payload, at);
  uint32_t taken = 0;
  SL_ROLLED
  for (uint32_t k = sl_group_lane(LIST_THREADS); k < MUON_LINK_CHANNELS; k += SL_GROUP(LIST_THREADS)) {
    const uint64_t bit = (uint64_t)1 << k;
    if (hits & bit) taken += take_hit(s, strip_of[k], muon_link_time(payload, at, sl_count_bits(hits & (bit - 1))));
  }
  return taken;
}

/* Processes all lists. Returns the number of bits that this thread set for the first time. */
static SL_DEVICE uint32_t take_lists(const struct decode_args *a, uint32_t event, const struct event_lists *e,
                                     const struct event_strips *s, uint32_t *wrong) {
  const uint32_t is_v2 = a->geometry.format[0] == 2, count = e->count;
  uint32_t taken = 0;
  SL_FOR_GROUPS (i, count, LIST_THREADS) {
    if (i >= count) continue;
    const uint32_t list = e->list[i], unit = list >> LIST_UNIT_BIT, at = list & ((1u << LIST_LINK_BIT) - 1);
    const uint32_t link = list >> LIST_LINK_BIT & ((1u << (LIST_UNIT_BIT - LIST_LINK_BIT)) - 1);
    const uint32_t *payload = a->banks.payload + e->first_word[unit];
    taken += is_v2 ? take_batch(a, event, unit, payload, at, s, wrong) : take_link(a, unit, link, payload, at, s);
  }
  return taken;
}

/* Sets the bits of the strips of an event. Returns their number, or 0 if the event is refused. Called by all threads of
 * the block. */
static SL_DEVICE uint32_t set_bits(const struct decode_args *a, uint32_t event, struct event_lists *e, uint32_t *bits) {
  struct event_strips s;
  uint32_t taken = 0, wrong = 0;
  s.bits = bits;
  s.before = NULL;
  s.times = NULL;
  for (uint32_t i = threadIdx.x; i < a->words; i += blockDim.x) bits[i] = 0;
  if (!list_banks(a, event, e)) return 0;
  taken = take_lists(a, event, e, &s, &wrong);
  taken = sl_block_sum_u32(taken);
  return sl_block_sum_u32(wrong) == 0 ? taken : 0;
}

SL_KERNEL(decode_count, struct decode_args) {
  __shared__ struct event_lists lists;
  __shared__ uint32_t bits[STRIP_WORDS_MAX];
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t tiles = set_bits(&a, event, &lists, bits);
    if (threadIdx.x == 0) a.tiles.offsets[event] = tiles;
    __syncthreads(); /* the bitmap is free */
  }
}

/* ----------------------------------------------------------------------------------------------------- write */

/* Computes the number of bits before each word; a thread takes four words at a time. */
static SL_DEVICE void count_before(const struct decode_args *a, const uint32_t *bits, uint16_t *before) {
  const uint32_t fours = a->words / 4;
  uint32_t sum = 0;
  SL_FOR_BLOCK (i, fours) {
    const uint32_t *four = bits + 4 * (i < fours ? i : 0);
    uint32_t count[4], total;
    SL_UNROLL
    for (uint32_t k = 0; k < 4; k++) count[k] = i < fours ? sl_count_bits(four[k]) : 0;
    uint32_t first = sum + sl_block_exclusive_scan(count[0] + count[1] + count[2] + count[3], &total);
    SL_UNROLL
    for (uint32_t k = 0; k < 4; k++) {
      if (i < fours) before[4 * i + k] = (uint16_t)first;
      first += count[k];
    }
    sum += total;
  }
  __syncthreads();
}

static SL_DEVICE void write_tiles(const struct decode_args *a, uint32_t first, const uint32_t *bits,
                                  const uint16_t *before) {
  for (uint32_t w = threadIdx.x; w < a->words; w += blockDim.x) {
    uint32_t to = first + before[w];
    for (uint32_t left = bits[w]; left; left &= left - 1, to++) {
      a->tiles.tile[to] = a->tile_of[32 * w + sl_count_bits((left & (0u - left)) - 1)];
      a->times[to] = LATEST;
    }
  }
}

SL_KERNEL(decode_write, struct decode_args) {
  __shared__ struct event_lists lists;
  __shared__ uint32_t bits[STRIP_WORDS_MAX];
  __shared__ uint16_t before[STRIP_WORDS_MAX];
  SL_FOR_EVENTS (event, a.events) {
    const uint32_t begin = a.tiles.offsets[event], tiles = a.tiles.offsets[event + 1] - begin;
    uint16_t *firsts = a.tiles.first + (size_t)event * MUON_FIRSTS;
    if (tiles == 0) { /* no tiles, event refused, or the slice overflowed */
      for (uint32_t i = threadIdx.x; i < MUON_FIRSTS; i += blockDim.x) firsts[i] = 0;
      continue;
    }
    struct event_strips s;
    uint32_t wrong = 0;
    set_bits(&a, event, &lists, bits);
    count_before(&a, bits, before);
    s.bits = bits;
    s.before = before;
    s.times = a.times + begin;
    for (uint32_t i = threadIdx.x; i < MUON_FIRSTS; i += blockDim.x)
      firsts[i] = i < MUON_GRIDS ? before[a.grid_word[i]] : (uint16_t)tiles;
    write_tiles(&a, begin, bits, before);
    __syncthreads();
    take_lists(&a, event, &lists, &s, &wrong);
    __syncthreads();
    for (uint32_t i = begin + threadIdx.x; i < begin + tiles; i += blockDim.x) a.tiles.time[i] = (uint8_t)a.times[i];
    __syncthreads(); /* the bitmap is free */
  }
}

static int run(const struct sl_launch *l, const struct decode_args *a) {
  return SL_COUNT_SCAN_WRITE(l, decode_count, decode_write, a->tiles, *a);
}

SL_ALGORITHM(decode, "hit pads and strips of the muon chambers, from raw banks", 128, run, SL_ERRORS_OF(decode_errors),
             SL_PREPARE(prepare));
