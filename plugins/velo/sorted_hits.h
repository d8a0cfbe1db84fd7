/* sorted_hits.h: what decoders have in common behind their banks: hits sorted by (phi, id, order) in each module pair.
 * For kernels. README.md: "Azimuth and order".
 *
 * What a decoder finds, its items, lies in lists, one a slot, which is a sensor or, in banks of version 4, two; a
 * module pair is 8 slots. An item may turn out to be no hit. The first kernel of a decoder counts items and hits, and
 * says where they are (slot_place, slot_first, hits.pair_first); the last one, sorted_hits_write, reads items and
 * writes hits. So a hit is written once, where it stays.
 *
 * A warp sorts a pair alone, without a barrier of the block, and the pairs of the whole slice are dealt to the warps of
 * the grid, so that a large event is shared by many. A pair has some 70 items. The warp decodes them to shared memory.
 * Its lanes hold up to eight keys each in registers, phi with the item's number in the pair below it, which the warp
 * sorts (sl_warp_sort_u32). Items of equal phi, in one pair of eight, then stand one after the other; each counts those
 * of its group that come before it by id and order. Two that agree in all three keep the order of the items, so that
 * places are unique whatever the input. At last hits are written in one piece. There is one loop that decodes and one
 * that writes, whatever the number of items: a warp that goes through more code waits for it.
 *
 * In pairs that are too large for that, which damaged banks can make, and where a warp is one thread, keys are sorted
 * in memory by all three, by the warp, in the place of the pair's hits: n (log n)^2 steps. On a cpu sort_pair.cpu.c
 * sorts the others.
 *
 * A decoder says, before it includes this:
 *   HITS_ARGS                            its argument struct; members events, hits, slot_place and slot_first
 *   struct item                          an item as it lies in memory
 *   item_read(a, at)                     item `at` of the slice
 *   item_is_hit(item)                    whether it becomes one
 *   item_place(a, slot, version, item)   and which one
 * and, if it has one for a cpu,
 *   READ_ITEMS                           what does as read_items
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
  EVENT_PLACES = VELO_SENSORS + 1, /* of slots, and the number of items */
  PLACE_SHIFT = 16, /* slot_place: the number of the slot's first item in the event, then the bank's version */
  VERSION_MASK = 0xFFFF,
  WARPS = 4,         /* of a block, that sort: what there is shared memory for */
  KEYS = 512,        /* items of a pair, that there is shared memory for: two halves sorted in registers */
  KEPT_HITS = 128,   /* items of a pair that need not be read again */
  ROWS_MAX = 8,      /* keys of a lane, no more than SL_SORT_ROWS */
  ROWS_AT_A_TIME = 3 /* items of a lane that are read before one is decoded: one wait for them all */
};

SL_STATIC_ASSERT(KEYS % (64 * ROWS_MAX) == 0, "halves of a pair are sorted whole, also in warps of 64");

/* ------------------------------------------------------------------------------------------------ places */

/* Places the event's slots: counts[slot] has items in its lower half, hits in its upper one, of which the event has
 * 65535 at most; slot_place[slot] is the bank's version. Returns the number of hits. Every thread of the block calls
 * it. */
static SL_DEVICE uint32_t place_slots(const struct HITS_ARGS *a, uint32_t event, const uint32_t *counts) {
  uint32_t *slot_place = a->slot_place + event * EVENT_PLACES;
  uint32_t *pair_first = a->hits.pair_first + event * (VELO_MODULE_PAIRS + 1);
  uint32_t before = 0;
  SL_FOR_BLOCK (slot, EVENT_PLACES) {
    uint32_t total;
    const uint32_t place = before + sl_block_exclusive_scan(slot < VELO_SENSORS ? counts[slot] : 0u, &total);
    if (slot < EVENT_PLACES) {
      slot_place[slot] = place << PLACE_SHIFT | (slot < VELO_SENSORS ? slot_place[slot] : 0u);
      if (slot % PAIR_SLOTS == 0) pair_first[slot / PAIR_SLOTS] = place >> 16;
    }
    before += total;
  }
  return before >> 16;
}

/* Equal offsets: the event has no hits, or the slice overflowed. */
static SL_DEVICE uint32_t is_empty(const struct HITS_ARGS *a, uint32_t event) {
  return a->hits.offsets[event + 1] == a->hits.offsets[event];
}

static SL_DEVICE void clear_pair(const struct HITS_ARGS *a, uint32_t event, uint32_t pair) {
  uint32_t *first = a->hits.pair_first + event * (VELO_MODULE_PAIRS + 1) + pair;
  first[0] = 0;
  if (pair + 1 == VELO_MODULE_PAIRS) first[1] = 0;
}

/* The items of a module pair, and where its hits go. */
struct pair {
  uint32_t first[PAIR_SLOTS + 1]; /* how many items of the pair come before the slot's; at last, how many there are */
  uint32_t behind[PAIR_SLOTS];    /* item i of the pair, in this slot, is item i + behind of the slice; wraps */
  uint32_t version[PAIR_SLOTS];
  uint32_t first_slot;
  uint32_t to, hits; /* the first hit in the slice, and how many there are */
};

/* A warp's; every lane calls it. */
static SL_DEVICE void pair_open(const struct HITS_ARGS *a, uint32_t event, uint32_t number, struct pair *p) {
  const uint32_t *place = a->slot_place + event * EVENT_PLACES + number * PAIR_SLOTS;
  const uint32_t *first = a->slot_first + event * VELO_SENSORS + number * PAIR_SLOTS;
  const uint32_t *pair_first = a->hits.pair_first + event * (VELO_MODULE_PAIRS + 1) + number;
  const uint32_t begin = place[0] >> PLACE_SHIFT;
  for (uint32_t slot = sl_warp_lane(); slot <= PAIR_SLOTS; slot += sl_warp_lanes()) {
    const uint32_t before = (place[slot] >> PLACE_SHIFT) - begin;
    p->first[slot] = before;
    if (slot == PAIR_SLOTS) continue;
    p->behind[slot] = first[slot] - before;
    p->version[slot] = place[slot] & VERSION_MASK;
  }
  if (sl_warp_lane() == 0) {
    p->first_slot = number * PAIR_SLOTS;
    p->to = a->hits.offsets[event] + pair_first[0];
    p->hits = pair_first[1] - pair_first[0];
  }
  sl_warp_sync();
}

static SL_DEVICE uint32_t pair_items(const struct pair *p) { return p->first[PAIR_SLOTS]; }

/* The slot of item `i`, of the pair's 8: the last one that does not begin after it. */
static SL_DEVICE uint32_t slot_of(const struct pair *p, uint32_t i) {
  uint32_t slot = i >= p->first[4] ? 4 : 0;
  slot += i >= p->first[slot + 2] ? 2u : 0u;
  slot += i >= p->first[slot + 1] ? 1u : 0u;
  return slot;
}

static SL_DEVICE struct velo_place place_of(const struct HITS_ARGS *a, const struct pair *p, uint32_t slot,
                                            const struct item *item) {
  return item_place(a, p->first_slot + slot, p->version[slot], item);
}

static SL_DEVICE struct velo_place place_of_item(const struct HITS_ARGS *a, const struct pair *p, uint32_t i) {
  const uint32_t slot = slot_of(p, i);
  const struct item item = item_read(a, p->behind[slot] + i);
  return place_of(a, p, slot, &item);
}

/* -------------------------------------------------------------------------------------------------- keys */

#define NO_KEY UINT32_MAX /* greater than that of any item */

/* Phi, made unsigned, << 16 | the item's number in the pair. */
static SL_DEVICE uint32_t sort_key(int16_t phi, uint32_t i) { return ((uint32_t)(uint16_t)phi ^ 0x8000u) << 16 | i; }
static SL_DEVICE int16_t key_phi(uint32_t key) { return (int16_t)(uint16_t)(key >> 16 ^ 0x8000u); }
static SL_DEVICE uint32_t key_item(uint32_t key) { return key & 0xFFFF; }
static SL_DEVICE uint32_t have_equal_phi(uint32_t key, uint32_t other) { return (key ^ other) >> 16 == 0 ? 1u : 0u; }

/* Of items i and j of a pair, which have the same phi: does j come before i? */
static SL_DEVICE uint32_t comes_before(const struct HITS_ARGS *a, const struct pair *p, uint32_t j, uint32_t i) {
  const struct velo_place of_j = place_of_item(a, p, j), of_i = place_of_item(a, p, i);
  if (of_j.id != of_i.id) return of_j.id < of_i.id;
  if (of_j.order != of_i.order) return of_j.order < of_i.order;
  return j < i;
}

/* A hit but for its azimuth, which its key has. */
struct kept_hit {
  float x, y, z;
  uint32_t id;
} __attribute__((aligned(16)));

static SL_DEVICE struct kept_hit keep(const struct velo_place *place) {
  const struct kept_hit hit = {place->x, place->y, place->z, place->id};
  return hit;
}

/* Item `i` of a pair, decoded once more. */
static SL_DEVICE struct kept_hit hit_of_item(const struct HITS_ARGS *a, const struct pair *p, uint32_t i) {
  const struct velo_place place = place_of_item(a, p, i);
  return keep(&place);
}

static SL_DEVICE void write_hit(const struct HITS_ARGS *a, const struct pair *p, uint32_t i, uint32_t key,
                                const struct kept_hit *hit) {
  a->hits.id[p->to + i] = hit->id;
  a->hits.phi[p->to + i] = key_phi(key);
  a->hits.x[p->to + i] = hit->x;
  a->hits.y[p->to + i] = hit->y;
  a->hits.z[p->to + i] = hit->z;
}

/* ------------------------------------------------------------------------------------ sorts in registers */

/* The keys of a pair; a warp's. What is not shared memory is L1. */
struct keys {
  uint32_t sorted[KEYS]; /* at first, in the order of items */
  union {
    struct kept_hit kept[KEPT_HITS]; /* of the first items, if there are no more than half as many as KEYS */
    uint32_t other[KEYS];
  } u;
};

/* Room for as many keys as the pair has items: two sorted halves; items of equal phi in their final order. */
static SL_DEVICE uint32_t *other_keys(const struct pair *p, struct keys *k) {
  return pair_items(p) <= KEYS / 2 ? k->sorted + KEYS / 2 : k->u.other;
}

/* How many items are kept. */
static SL_DEVICE uint32_t kept_items(const struct pair *p) { return pair_items(p) <= KEYS / 2 ? KEPT_HITS : 0; }

/* Decodes a pair's items; what is no hit gets NO_KEY. */
static SL_DEVICE void make_keys(const struct HITS_ARGS *a, const struct pair *p, struct keys *k) {
  const uint32_t lanes = sl_warp_lanes(), items = pair_items(p), kept = kept_items(p);
  SL_ROLLED
  for (uint32_t base = sl_warp_lane(); base < items; base += ROWS_AT_A_TIME * lanes) {
    uint32_t slot[ROWS_AT_A_TIME] = {0};
    struct item item[ROWS_AT_A_TIME] = {{0}};
    struct velo_place place[ROWS_AT_A_TIME] = {{0}};
    SL_UNROLL
    for (uint32_t r = 0; r < ROWS_AT_A_TIME; r++) {
      const uint32_t i = base + r * lanes;
      if (i >= items) continue;
      slot[r] = slot_of(p, i);
      item[r] = item_read(a, p->behind[slot[r]] + i);
    }
    SL_UNROLL
    for (uint32_t r = 0; r < ROWS_AT_A_TIME; r++)
      if (base + r * lanes < items) place[r] = place_of(a, p, slot[r], &item[r]);
    SL_UNROLL
    for (uint32_t r = 0; r < ROWS_AT_A_TIME; r++) {
      const uint32_t i = base + r * lanes;
      if (i >= items) continue;
      k->sorted[i] = item_is_hit(&item[r]) ? sort_key(place[r].phi, i) : NO_KEY;
      if (i < kept) k->u.kept[i] = keep(&place[r]);
    }
  }
  sl_warp_sync();
}

/* Sorts `count` keys into `sorted`, `rows` a lane or fewer; it may be the same place. */
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

/* Merges two sorted halves, the first of `half` keys: a key's place is its number plus that of the smaller ones in the
 * other half. Where there are several of NO_KEY they leave gaps among themselves. */
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

/* Puts items of the same phi in order. */
static SL_DEVICE void order_equals(const struct HITS_ARGS *a, const struct pair *p, struct keys *k) {
  uint32_t *other = other_keys(p, k);
  for (uint32_t i = sl_warp_lane(); i < p->hits; i += sl_warp_lanes()) {
    const uint32_t key = k->sorted[i];
    uint32_t place = i;
    while (place > 0 && have_equal_phi(k->sorted[place - 1], key)) place--;
    for (uint32_t j = place; j < p->hits && have_equal_phi(k->sorted[j], key); j++)
      place += comes_before(a, p, key_item(k->sorted[j]), key_item(key));
    other[place] = key;
  }
  sl_warp_sync();
  for (uint32_t i = sl_warp_lane(); i < p->hits; i += sl_warp_lanes()) k->sorted[i] = other[i];
  sl_warp_sync();
}

/* Sorts the keys of a pair. Returns whether two hits have the same phi. */
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

/* Sorts a pair of up to KEYS items and writes it. All lanes of the warp call it, as what it calls. */
static SL_DEVICE void sort_small(const struct HITS_ARGS *a, const struct pair *p, struct keys *k) {
  make_keys(a, p, k);
  if (sort_pair(p, k)) order_equals(a, p, k);
  const uint32_t kept = kept_items(p);
  for (uint32_t i = sl_warp_lane(); i < p->hits; i += sl_warp_lanes()) {
    const uint32_t key = k->sorted[i], item = key_item(key);
    const struct kept_hit hit = item < kept ? k->u.kept[item] : hit_of_item(a, p, item);
    write_hit(a, p, i, key, &hit);
  }
}

/* ------------------------------------------------------------------------------------ sorts in memory */

/* Puts the keys at places i and j > i in order, of those that are there. */
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

/* A bitonic sort whose comparisons all put the smaller key first, so that keys beyond the last need not be there. */
static SL_DEVICE void sort_keys(const struct HITS_ARGS *a, const struct pair *p) {
  uint32_t half = 1; /* of the places, rounded up to a power of two */
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

/* Sorts a pair of any size and writes it. All lanes of the warp call it. */
static SL_DEVICE void sort_large(const struct HITS_ARGS *a, const struct pair *p) {
  const uint32_t items = pair_items(p);
  uint32_t hits = 0;
  SL_FOR_WARP (i, items) {
    uint32_t is_hit = 0, key = 0;
    if (i < items) {
      const uint32_t slot = slot_of(p, i);
      const struct item item = item_read(a, p->behind[slot] + i);
      is_hit = item_is_hit(&item);
      if (is_hit) key = sort_key(place_of(a, p, slot, &item).phi, i);
    }
    const uint32_t to = sl_warp_append(is_hit, &hits);
    if (is_hit) a->hits.id[p->to + to] = key;
  }
  sl_warp_sync();
  sort_keys(a, p);
  for (uint32_t i = sl_warp_lane(); i < p->hits; i += sl_warp_lanes()) {
    const uint32_t key = a->hits.id[p->to + i];
    const struct kept_hit hit = hit_of_item(a, p, key_item(key));
    write_hit(a, p, i, key, &hit);
  }
}

/* ----------------------------------------------------------------------------------------------- kernels */

/* A warp a module pair. Reads items once, but those that are not kept twice; writes 18 bytes a hit, in rows. */
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
/* What `hits` of the items in some lists become. */
static void read_items(const struct HITS_ARGS *a, const struct velo_bank *lists, uint32_t count, uint32_t hits,
                       struct velo_places *places) {
  uint32_t to = 0;
  for (const struct velo_bank *list = lists; list < lists + count; list++)
    for (uint32_t i = 0; i < list->word_count && to < hits; i++) {
      const struct item item = item_read(a, list->first_word + i);
      if (!item_is_hit(&item)) continue;
      const struct velo_place place = item_place(a, list->sensor, list->version, &item);
      places->id[to] = place.id;
      places->order[to] = place.order;
      places->phi[to] = place.phi;
      places->x[to] = place.x;
      places->y[to] = place.y;
      places->z[to++] = place.z;
    }
}
#endif

/* The lists of a pair that have items, as banks. Returns how many. */
static uint32_t lists_of(const struct pair *p, struct velo_bank *lists) {
  uint32_t count = 0;
  for (uint32_t slot = 0; slot < PAIR_SLOTS; slot++) {
    const uint32_t first = p->first[slot], items = p->first[slot + 1] - first;
    const struct velo_bank list = {0, p->version[slot], p->first_slot + slot, p->behind[slot] + first, items};
    if (items > 0) lists[count++] = list;
  }
  return count;
}

/* The same, pairs of an event in their order, with vectors. */
SL_KERNEL(sorted_hits_write_tuned, struct HITS_ARGS) {
  struct velo_places places;
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
        READ_ITEMS(&a, lists, lists_of(&p, lists), p.hits, &places);
        sort_pair_cpu(&places, p.hits, &a.hits, p.to, a.hits.offsets[event + 1]);
      } else {
        sort_large(&a, &p);
      }
    }
}
#endif

#endif
