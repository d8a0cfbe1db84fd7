/* sorted_hits.h: last kernel of both hit decoders: decodes items and writes hits sorted by (phi, id, order) in each
 * module pair (README.md, "Sorting the hits").
 *   1. Decode the items of a pair, about 70, and make a key of each: phi << 16 | item index.
 *   2. Sort the keys: in registers (at most KEYS items), else in the memory of the hits with n (log n)^2 steps.
 *   3. Order hits of equal phi by id, then order, then item index, and write the hits.
 * Parallelism: one warp per module pair of the slice. Determinism: the item index makes the order unique.
 *
 * A decoder defines before the include: HITS_ARGS, its argument struct (events, hits, slot_offset, slot_first);
 * struct item, a word or cluster; item_read(a, index), item `index` of the slice; item_is_hit(item), 1 if it becomes a
 * hit; item_hit(a, slot, version, item), the hit; optional READ_ITEMS, a faster read_items for the CPU.
 */
#ifndef VELO_SORTED_HITS_H
#define VELO_SORTED_HITS_H

#include "banks.h"
#include "position.h"
#include "sort_pair.h"
#include "velo/event_model.h"

#include <sluice/kernel.h>

enum {
  PAIR_SLOTS = 8,
  EVENT_OFFSETS = VELO_SENSORS + 1, /* values of slot_offset per event: one per slot, then the number of items */
  OFFSET_SHIFT = 16,                /* slot_offset: index of the slot's first item in the event << 16 | bank version */
  VERSION_MASK = 0xFFFF,
  WARPS = 4,         /* warps of a block that sort; limited by shared memory */
  KEYS = 512,        /* most items of a pair for sorting in registers: two halves of 256 in a warp of 32 */
  CACHED_HITS = 128, /* decoded hits of a pair that stay in shared memory */
  ROWS_MAX = 8,      /* most keys per lane, at most SL_SORT_ROWS */
  ROWS_AT_A_TIME = 3 /* items that a lane loads before it decodes the first one, to overlap the loads */
};

SL_STATIC_ASSERT(KEYS % (64 * ROWS_MAX) == 0, "halves of a pair are sorted whole, also in warps of 64");

/* ----------------------------------------------------------------------------------------------- offsets */

/* Writes slot_offset and pair_first of an event. Input: counts[slot] = items | hits << 16 (the event has at most 65535
 * of either), slot_offset[slot] = bank version. Returns the number of hits. Called by all threads of the block. */
static SL_DEVICE uint32_t locate_slots(const struct HITS_ARGS *a, uint32_t event, const uint32_t *counts) {
  uint32_t *slot_offset = a->slot_offset + event * EVENT_OFFSETS;
  uint32_t *pair_first = a->hits.pair_first + event * (VELO_MODULE_PAIRS + 1);
  uint32_t before = 0;
  SL_FOR_BLOCK (slot, EVENT_OFFSETS) {
    uint32_t total;
    const uint32_t offset = before + sl_block_exclusive_scan(slot < VELO_SENSORS ? counts[slot] : 0u, &total);
    if (slot < EVENT_OFFSETS) {
      slot_offset[slot] = offset << OFFSET_SHIFT | (slot < VELO_SENSORS ? slot_offset[slot] : 0u);
      if (slot % PAIR_SLOTS == 0) pair_first[slot / PAIR_SLOTS] = offset >> 16;
    }
    before += total;
  }
  return before >> 16;
}

/* 1 if the event has no hits or the slice overflowed: both give equal offsets. */
static SL_DEVICE uint32_t is_empty(const struct HITS_ARGS *a, uint32_t event) {
  return a->hits.offsets[event + 1] == a->hits.offsets[event];
}

static SL_DEVICE void clear_pair(const struct HITS_ARGS *a, uint32_t event, uint32_t pair) {
  uint32_t *first = a->hits.pair_first + event * (VELO_MODULE_PAIRS + 1) + pair;
  first[0] = 0;
  if (pair + 1 == VELO_MODULE_PAIRS) first[1] = 0;
}

/* The items of a module pair and the output range of its hits. */
struct pair {
  uint32_t first[PAIR_SLOTS + 1];   /* index of each slot's first item in the pair; then the number of items */
  uint32_t slice_shift[PAIR_SLOTS]; /* item i of the pair, in this slot, is item i + slice_shift of the slice; wraps */
  uint32_t version[PAIR_SLOTS];
  uint32_t first_slot;
  uint32_t to, hits; /* index of the first hit in the slice; number of hits */
};

/* Fills *p. Called by all lanes of the warp. */
static SL_DEVICE void pair_open(const struct HITS_ARGS *a, uint32_t event, uint32_t number, struct pair *p) {
  const uint32_t *offsets = a->slot_offset + event * EVENT_OFFSETS + number * PAIR_SLOTS;
  const uint32_t *first = a->slot_first + event * VELO_SENSORS + number * PAIR_SLOTS;
  const uint32_t *pair_first = a->hits.pair_first + event * (VELO_MODULE_PAIRS + 1) + number;
  const uint32_t begin = offsets[0] >> OFFSET_SHIFT;
  for (uint32_t slot = sl_warp_lane(); slot <= PAIR_SLOTS; slot += sl_warp_lanes()) {
    const uint32_t before = (offsets[slot] >> OFFSET_SHIFT) - begin;
    p->first[slot] = before;
    if (slot == PAIR_SLOTS) continue;
    p->slice_shift[slot] = first[slot] - before;
    p->version[slot] = offsets[slot] & VERSION_MASK;
  }
  if (sl_warp_lane() == 0) {
    p->first_slot = number * PAIR_SLOTS;
    p->to = a->hits.offsets[event] + pair_first[0];
    p->hits = pair_first[1] - pair_first[0];
  }
  sl_warp_sync();
}

static SL_DEVICE uint32_t pair_items(const struct pair *p) { return p->first[PAIR_SLOTS]; }

/* The slot (0 to 7) of item `i` of the pair: the last slot with first[slot] <= i. */
static SL_DEVICE uint32_t slot_of(const struct pair *p, uint32_t i) {
  uint32_t slot = i >= p->first[4] ? 4 : 0;
  slot += i >= p->first[slot + 2] ? 2u : 0u;
  slot += i >= p->first[slot + 1] ? 1u : 0u;
  return slot;
}

static SL_DEVICE struct velo_hit make_hit(const struct HITS_ARGS *a, const struct pair *p, uint32_t slot,
                                          const struct item *item) {
  return item_hit(a, p->first_slot + slot, p->version[slot], item);
}

static SL_DEVICE struct velo_hit make_item_hit(const struct HITS_ARGS *a, const struct pair *p, uint32_t i) {
  const uint32_t slot = slot_of(p, i);
  const struct item item = item_read(a, p->slice_shift[slot] + i);
  return make_hit(a, p, slot, &item);
}

/* -------------------------------------------------------------------------------------------------- keys */

#define NO_KEY UINT32_MAX /* sorts after the key of any item */

/* Phi, offset to be unsigned, << 16 | the item's index in the pair. */
static SL_DEVICE uint32_t sort_key(int16_t phi, uint32_t i) { return ((uint32_t)(uint16_t)phi ^ 0x8000u) << 16 | i; }
static SL_DEVICE int16_t key_phi(uint32_t key) { return (int16_t)(uint16_t)(key >> 16 ^ 0x8000u); }
static SL_DEVICE uint32_t key_item(uint32_t key) { return key & 0xFFFF; }
static SL_DEVICE uint32_t have_equal_phi(uint32_t key, uint32_t other) { return (key ^ other) >> 16 == 0 ? 1u : 0u; }

/* For items i and j of a pair with equal phi: 1 if j is sorted before i. */
static SL_DEVICE uint32_t comes_before(const struct HITS_ARGS *a, const struct pair *p, uint32_t j, uint32_t i) {
  const struct velo_hit of_j = make_item_hit(a, p, j), of_i = make_item_hit(a, p, i);
  if (of_j.id != of_i.id) return of_j.id < of_i.id;
  if (of_j.order != of_i.order) return of_j.order < of_i.order;
  return j < i;
}

/* A hit without its azimuth, which is in its key. */
struct cached_hit {
  float x, y, z;
  uint32_t id;
} __attribute__((aligned(16)));

static SL_DEVICE struct cached_hit cache_hit(const struct velo_hit *hit) {
  const struct cached_hit cached = {hit->x, hit->y, hit->z, hit->id};
  return cached;
}

/* Decodes item `i` of a pair again, if it was not cached. */
static SL_DEVICE struct cached_hit redecode_item(const struct HITS_ARGS *a, const struct pair *p, uint32_t i) {
  const struct velo_hit hit = make_item_hit(a, p, i);
  return cache_hit(&hit);
}

static SL_DEVICE void write_hit(const struct HITS_ARGS *a, const struct pair *p, uint32_t i, uint32_t key,
                                const struct cached_hit *hit) {
  a->hits.id[p->to + i] = hit->id;
  a->hits.phi[p->to + i] = key_phi(key);
  a->hits.x[p->to + i] = hit->x;
  a->hits.y[p->to + i] = hit->y;
  a->hits.z[p->to + i] = hit->z;
}

/* ------------------------------------------------------------------------------------ sorts in registers */

/* Shared memory of a warp. It is kept small, because the rest of it is L1 cache. */
struct keys {
  uint32_t sorted[KEYS]; /* before the sort: in the order of items */
  union {
    struct cached_hit cached[CACHED_HITS]; /* of the first items of a pair of at most KEYS / 2 items */
    uint32_t other[KEYS];
  } u;
};

/* A second array with room for one key per item: input of the merge, then output of order_equals. */
static SL_DEVICE uint32_t *other_keys(const struct pair *p, struct keys *k) {
  return pair_items(p) <= KEYS / 2 ? k->sorted + KEYS / 2 : k->u.other;
}

/* Number of cached hits of the pair: those of the first items. */
static SL_DEVICE uint32_t cached_items(const struct pair *p) { return pair_items(p) <= KEYS / 2 ? CACHED_HITS : 0; }

/* Decodes the items of a pair and makes their keys; an item that is not a hit gets NO_KEY. */
static SL_DEVICE void make_keys(const struct HITS_ARGS *a, const struct pair *p, struct keys *k) {
  const uint32_t lanes = sl_warp_lanes(), items = pair_items(p), cached = cached_items(p);
  SL_ROLLED
  for (uint32_t base = sl_warp_lane(); base < items; base += ROWS_AT_A_TIME * lanes) {
    uint32_t slot[ROWS_AT_A_TIME] = {0};
    struct item item[ROWS_AT_A_TIME] = {{0}};
    struct velo_hit hit[ROWS_AT_A_TIME] = {{0}};
    SL_UNROLL
    for (uint32_t r = 0; r < ROWS_AT_A_TIME; r++) {
      const uint32_t i = base + r * lanes;
      if (i >= items) continue;
      slot[r] = slot_of(p, i);
      item[r] = item_read(a, p->slice_shift[slot[r]] + i);
    }
    SL_UNROLL
    for (uint32_t r = 0; r < ROWS_AT_A_TIME; r++)
      if (base + r * lanes < items) hit[r] = make_hit(a, p, slot[r], &item[r]);
    SL_UNROLL
    for (uint32_t r = 0; r < ROWS_AT_A_TIME; r++) {
      const uint32_t i = base + r * lanes;
      if (i >= items) continue;
      k->sorted[i] = item_is_hit(&item[r]) ? sort_key(hit[r].phi, i) : NO_KEY;
      if (i < cached) k->u.cached[i] = cache_hit(&hit[r]);
    }
  }
  sl_warp_sync();
}

/* Sorts `count` keys, at most `rows` per lane, into `sorted`, which may be `keys`. */
static SL_DEVICE void sort_rows(const uint32_t *keys, uint32_t count, uint32_t *sorted, const uint32_t rows) {
  const uint32_t lane = sl_warp_lane(), lanes = sl_warp_lanes();
  uint32_t key[ROWS_MAX];
  SL_UNROLL
  for (uint32_t r = 0; r < rows; r++) key[r] = lane + r * lanes < count ? keys[lane + r * lanes] : NO_KEY;
  sl_warp_sort_u32(key, rows);
  sl_warp_sync();
  SL_UNROLL
  for (uint32_t r = 0; r < rows; r++) sorted[lane * rows + r] = key[r];
}

/* Merges two sorted halves, the first with `half` keys. The index of a key is its index in its own half plus the number
 * of smaller keys in the other half. Several NO_KEY may leave gaps between them, after all real keys. */
static SL_DEVICE void merge_halves(const uint32_t *halves, uint32_t half, uint32_t count, uint32_t *sorted) {
  SL_ROLLED
  for (uint32_t i = sl_warp_lane(); i < count; i += sl_warp_lanes()) {
    const uint32_t *other = i < half ? halves + half : halves;
    uint32_t low = 0, high = i < half ? count - half : half;
    while (low < high) {
      const uint32_t middle = (low + high) / 2;
      if (other[middle] < halves[i])
        low = middle + 1;
      else
        high = middle;
    }
    sorted[(i < half ? i : i - half) + low] = halves[i];
  }
}

/* Orders items of equal phi: the index of an item is the first of its group plus the items that come before it. */
static SL_DEVICE void order_equals(const struct HITS_ARGS *a, const struct pair *p, struct keys *k) {
  uint32_t *other = other_keys(p, k);
  for (uint32_t i = sl_warp_lane(); i < p->hits; i += sl_warp_lanes()) {
    const uint32_t key = k->sorted[i];
    uint32_t index = i;
    while (index > 0 && have_equal_phi(k->sorted[index - 1], key)) index--;
    for (uint32_t j = index; j < p->hits && have_equal_phi(k->sorted[j], key); j++)
      index += comes_before(a, p, key_item(k->sorted[j]), key_item(key));
    other[index] = key;
  }
  sl_warp_sync();
  for (uint32_t i = sl_warp_lane(); i < p->hits; i += sl_warp_lanes()) k->sorted[i] = other[i];
  sl_warp_sync();
}

/* Sorts the keys of a pair. Returns 1 if two hits have equal phi. */
static SL_DEVICE uint32_t sort_pair(const struct pair *p, struct keys *k) {
  const uint32_t lanes = sl_warp_lanes(), half = ROWS_MAX * lanes, items = pair_items(p);
  if (items <= lanes) {
    sort_rows(k->sorted, items, k->sorted, 1);
  } else if (items <= 2 * lanes) {
    sort_rows(k->sorted, items, k->sorted, 2);
  } else if (items <= 4 * lanes) {
    sort_rows(k->sorted, items, k->sorted, 4);
  } else {
    const uint32_t is_whole = items <= half ? 1 : 0;
    SL_ROLLED
    for (uint32_t first = 0; first < items; first += half)
      sort_rows(k->sorted + first, items - first < half ? items - first : half,
                (is_whole ? k->sorted : other_keys(p, k)) + first, ROWS_MAX);
    sl_warp_sync();
    if (!is_whole) merge_halves(other_keys(p, k), half, items, k->sorted);
  }
  sl_warp_sync();
  uint32_t has_equals = 0;
  SL_ROLLED
  for (uint32_t i = sl_warp_lane() + 1; i < p->hits; i += lanes)
    has_equals |= have_equal_phi(k->sorted[i - 1], k->sorted[i]);
  return sl_warp_any(has_equals);
}

/* Sorts a pair of at most KEYS items and writes its hits. Called by all lanes of the warp. */
static SL_DEVICE void sort_small(const struct HITS_ARGS *a, const struct pair *p, struct keys *k) {
  make_keys(a, p, k);
  if (sort_pair(p, k)) order_equals(a, p, k);
  const uint32_t cached = cached_items(p);
  for (uint32_t i = sl_warp_lane(); i < p->hits; i += sl_warp_lanes()) {
    const uint32_t key = k->sorted[i], item = key_item(key);
    const struct cached_hit hit = item < cached ? k->u.cached[item] : redecode_item(a, p, item);
    write_hit(a, p, i, key, &hit);
  }
}

/* ------------------------------------------------------------------------------------ sorts in memory */

/* Swaps keys i and j > i if they are in the wrong order. Does nothing if j is after the last key. */
static SL_DEVICE void put_in_order(const struct HITS_ARGS *a, const struct pair *p, uint32_t i, uint32_t j) {
  if (j >= p->hits) return;
  uint32_t *keys = a->hits.id + p->to;
  const uint32_t low = keys[i], high = keys[j];
  const uint32_t swapped =
      have_equal_phi(low, high) ? comes_before(a, p, key_item(high), key_item(low)) : (low > high ? 1u : 0u);
  if (!swapped) return;
  keys[i] = high;
  keys[j] = low;
}

/* A bitonic sort in which every comparison puts the smaller key first, so that no keys are needed as padding. */
static SL_DEVICE void sort_keys(const struct HITS_ARGS *a, const struct pair *p) {
  uint32_t half = 1; /* half of the number of keys, rounded up to a power of two */
  while (2 * half < p->hits) half *= 2;
  for (uint32_t size = 2; size <= 2 * half; size *= 2) {
    for (uint32_t t = sl_warp_lane(); t < half; t += sl_warp_lanes()) {
      const uint32_t k = t % (size / 2), begin = (t - k) * 2;
      put_in_order(a, p, begin + k, begin + size - 1 - k);
    }
    sl_warp_sync();
    for (uint32_t distance = size / 4; distance > 0; distance /= 2) {
      for (uint32_t t = sl_warp_lane(); t < half; t += sl_warp_lanes()) {
        const uint32_t i = 2 * t - t % distance;
        put_in_order(a, p, i, i + distance);
      }
      sl_warp_sync();
    }
  }
}

/* Sorts a pair of any size in the memory of its hits and writes them. Called by all lanes of the warp. */
static SL_DEVICE void sort_large(const struct HITS_ARGS *a, const struct pair *p) {
  const uint32_t items = pair_items(p);
  uint32_t hits = 0;
  SL_FOR_WARP (i, items) {
    uint32_t is_hit = 0, key = 0;
    if (i < items) {
      const uint32_t slot = slot_of(p, i);
      const struct item item = item_read(a, p->slice_shift[slot] + i);
      is_hit = item_is_hit(&item);
      if (is_hit) key = sort_key(make_hit(a, p, slot, &item).phi, i);
    }
    const uint32_t to = sl_warp_append(is_hit, &hits);
    if (is_hit) a->hits.id[p->to + to] = key;
  }
  sl_warp_sync();
  sort_keys(a, p);
  for (uint32_t i = sl_warp_lane(); i < p->hits; i += sl_warp_lanes()) {
    const uint32_t key = a->hits.id[p->to + i];
    const struct cached_hit hit = redecode_item(a, p, key_item(key));
    write_hit(a, p, i, key, &hit);
  }
}

/* ----------------------------------------------------------------------------------------------- kernels */

/* The grid of sorted_hits_write: one warp per module pair. */
static SL_UNUSED struct sl_grid sorted_hits_grid(const struct sl_launch *l) {
  return sl_make_grid(SL_GRID_THREADS, (uint64_t)l->events_max * VELO_MODULE_PAIRS * 32);
}

/* One warp per module pair. Reads each item once, or twice if its hit is not cached; writes 18 bytes per hit. */
SL_KERNEL(sorted_hits_write, struct HITS_ARGS) {
  __shared__ struct keys keys[WARPS];
  __shared__ struct pair pairs[WARPS];
  const uint32_t warp = sl_warp_index(), warps = sl_block_warps() < WARPS ? sl_block_warps() : WARPS;
  const uint32_t tasks = *a.events.count * VELO_MODULE_PAIRS;
  if (warp >= warps) return; /* no barrier follows */
  for (uint32_t task = blockIdx.x * warps + warp; task < tasks; task += gridDim.x * warps) {
    const uint32_t event = sl_event_at(&a.events, task / VELO_MODULE_PAIRS), number = task % VELO_MODULE_PAIRS;
    if (is_empty(&a, event)) {
      clear_pair(&a, event, number);
      continue;
    }
    pair_open(&a, event, number, &pairs[warp]);
    if (sl_warp_lanes() > 1 && pair_items(&pairs[warp]) <= KEYS)
      sort_small(&a, &pairs[warp], &keys[warp]);
    else
      sort_large(&a, &pairs[warp]);
    sl_warp_sync();
  }
}

#ifdef SL_TARGET_CPU
#ifndef READ_ITEMS
#define READ_ITEMS read_items
/* Decodes the items of `count` lists into `hits` unsorted hits. */
static void read_items(const struct HITS_ARGS *a, const struct velo_bank *lists, uint32_t count, uint32_t hits,
                       struct velo_unsorted_hits *unsorted) {
  uint32_t to = 0;
  for (const struct velo_bank *list = lists; list < lists + count; list++)
    for (uint32_t i = 0; i < list->word_count && to < hits; i++) {
      const struct item item = item_read(a, list->first_word + i);
      if (!item_is_hit(&item)) continue;
      const struct velo_hit hit = item_hit(a, list->sensor, list->version, &item);
      unsorted->id[to] = hit.id;
      unsorted->order[to] = hit.order;
      unsorted->phi[to] = hit.phi;
      unsorted->x[to] = hit.x;
      unsorted->y[to] = hit.y;
      unsorted->z[to++] = hit.z;
    }
}
#endif

/* Describes each slot of a pair that has items as a bank. Returns the number of such slots. */
static uint32_t lists_of(const struct pair *p, struct velo_bank *lists) {
  uint32_t count = 0;
  for (uint32_t slot = 0; slot < PAIR_SLOTS; slot++) {
    const uint32_t first = p->first[slot], items = p->first[slot + 1] - first;
    const struct velo_bank list = {0, p->version[slot], p->first_slot + slot, p->slice_shift[slot] + first, items};
    if (items > 0) lists[count++] = list;
  }
  return count;
}

/* sorted_hits_write for the CPU: the module pairs of an event in order, sorted with vectors. */
SL_KERNEL(sorted_hits_write_tuned, struct HITS_ARGS) {
  struct velo_unsorted_hits unsorted;
  struct velo_bank lists[PAIR_SLOTS];
  struct pair p;
  SL_FOR_EVENTS (event, a.events)
    for (uint32_t number = 0; number < VELO_MODULE_PAIRS; number++) {
      if (is_empty(&a, event)) {
        clear_pair(&a, event, number);
        continue;
      }
      pair_open(&a, event, number, &p);
      if (pair_items(&p) <= SORT_PAIR_MAX) {
        READ_ITEMS(&a, lists, lists_of(&p, lists), p.hits, &unsorted);
        sort_pair_cpu(&unsorted, p.hits, &a.hits, p.to, a.hits.offsets[event + 1]);
      } else {
        sort_large(&a, &p);
      }
    }
}
#endif

#endif
