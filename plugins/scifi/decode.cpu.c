/* decode.cpu.c: scifi.decode for a CPU with 256-bit vectors; same results as decode.cu.
 *   1. Decode each bank once, eight halfwords at a time: single clusters and pairs become keys, in the order of banks
 *      and halfwords. If one of the eight is unusual, e.g. has an unconnected link, bank_words.h decodes all of them.
 *   2. The keys of a mat are nearly always contiguous and ascending in this order; if not, sort them.
 *   3. Write the hits mat by mat, eight at a time.
 */
#include "decode.h"

#include <sluice/vectors.h>

SL_STATIC_ASSERT((int)KEYS_MARGIN >= (int)LANES, "eight keys may be read or written from any one on");

/* Keys of an event, while they are collected. */
struct collecting {
  uint32_t *keys;
  uint32_t hits; /* keys beyond SCIFI_HITS_MAX are counted but not stored */
};

/* Address of the next key; a whole vector may be written there. */
static inline uint32_t *next_key(const struct collecting *c) {
  return c->keys + (c->hits < SCIFI_HITS_MAX ? c->hits : (uint32_t)SCIFI_HITS_MAX);
}

static inline void collect(struct collecting *c, const struct scifi_cluster *cluster) {
  *next_key(c) = cluster->channel << KEY_CHANNEL_BIT | cluster->fraction << KEY_SIZE_BITS | cluster->pseudo_size;
  c->hits++;
}

/* Collects the clusters that begin with halfwords from `i` to `end`; returns the first halfword after them. */
static uint32_t collect_one_by_one(struct collecting *c, const struct scifi_bank_words *words, uint32_t i, uint32_t end,
                                   uint32_t *faults) {
  struct scifi_bank_cursor cursor = scifi_bank_begin();
  struct scifi_cluster cluster;
  cursor.next = i;
  while (cursor.next < end) {
    scifi_take_halfword(words, &cursor);
    while (scifi_taken_next(&cursor, &cluster)) collect(c, &cluster);
  }
  *faults |= cursor.faults;
  return cursor.next;
}

/* --------------------------------------------------------------------------------------- eight halfwords of a bank */

/* Loads halfwords from `i` on, which is even. Does not read words after the bank. */
VECTOR_INLINE u16x8 load_halfwords(const struct scifi_bank_words *words, uint32_t i) {
  return (u16x8)u32x4_load_some(words->payload + i / 2, i < words->end ? (words->end - i + 1) / 2 : 0);
}

/* For eight halfwords `c` and their successors `c2`: lanes examined together with the next halfword (scifi_may_pair),
 * lanes that are a cluster of up to SCIFI_WHOLE channels (scifi_is_pair) with its width, and, in version 5, lanes that
 * are two pieces; the second piece is the next halfword by itself. */
struct pairs {
  i32x8 may, are_whole, are_two, width;
};
VECTOR_INLINE struct pairs pairs_of(uint32_t version, i32x8 c, i32x8 c2) {
  const i32x8 channel = c >> 2 & (SCIFI_SIPM_CHANNELS - 1), fraction = c >> 1 & 1, fraction2 = c2 >> 1 & 1;
  const i32x8 distance = (c2 >> 2 & (SCIFI_SIPM_CHANNELS - 1)) - channel, is_of_link = (c ^ c2) < 1 << 9;
  struct pairs p;
  if (version == 5) {
    p.may = -(c & c2 & 1) & is_of_link;
    p.are_whole = (distance >= SCIFI_SMALL - 1) & (distance <= SCIFI_SMALL) & (channel > 0);
    p.are_two = (distance > SCIFI_SMALL) & (distance <= 2 * SCIFI_SMALL) & (channel > 0);
    p.width = 2 * distance - 1 + fraction2;
  } else {
    const i32x8 is_fine = version == 7 ? fraction == 0 : (fraction == 1) & (fraction2 == 0);
    p.may = -(c & 1) & is_of_link;
    p.are_whole = (distance > 0) & (distance <= SCIFI_WHOLE - 2) & (channel > 0) & is_fine & -(c2 & 1);
    p.are_two = i32x8_of(0);
    p.width = distance + 2;
  }
  return p;
}

/* Lanes at which a pair begins, among the lanes `may`: in a run of bits, every second one, because the previous lane
 * consumes the others. A sum clears the runs that begin at even bits. */
static inline uint32_t starts_of(uint32_t may) {
  const uint32_t even = 0x55, firsts = may & ~(may << 1), even_runs = may & ~(may + (firsts & even));
  return (even_runs & even) | (may & ~even_runs & ~even);
}

/* Collects the clusters that begin with eight halfwords from `i` on; the first *taken (0 or 1) of them are already
 * consumed. Sets *taken for the next eight. Returns 0 and does nothing if a halfword is unusual. */
VECTOR_INLINE uint32_t collect_eight(struct collecting *c, const struct scifi_bank_words *words, uint32_t version,
                                     uint32_t i, u16x8 now, u16x8 next, uint32_t *taken) {
  const i32x8 lane = {0, 1, 2, 3, 4, 5, 6, 7}, bit = i32x8_of(1) << lane;
  const i32x8 first = __builtin_convertvector(now, i32x8);
  const i32x8 second = __builtin_convertvector(__builtin_shufflevector(now, next, 1, 2, 3, 4, 5, 6, 7, 8), i32x8);
  const i32x8 link = first >> 9, is_link = link < SCIFI_BANK_LINKS;
  const i32x8 begin = (i32x8)u32x8_gather(words->link_channel, link & is_link), base = begin << KEY_CHANNEL_BIT;
  const uint32_t left = words->end - i, there = first_lanes_bits(left);
  const uint32_t known = i32x8_bits(is_link & (begin != SCIFI_NOT_CONNECTED));
  i32x8 keys = base + ((first & 0x1FE) << (KEY_SIZE_BITS - 1)) + (((first & 1) - 1) & SCIFI_SMALL);
  uint32_t kept = there & ~*taken;
  *taken = 0;
  if (version > 4) {
    const struct pairs p = pairs_of(version, first, second);
    const uint32_t starts = starts_of(i32x8_bits(p.may) & kept & (left > LANES ? 0xFF : there >> 1));
    const uint32_t whole = starts & i32x8_bits(p.are_whole), two = starts & i32x8_bits(p.are_two);
    if (starts != (whole | (two & 0x7F))) return 0;
    const i32x8 is_whole = (i32x8_of((int32_t)whole) & bit) != 0, is_two = (i32x8_of((int32_t)two) & bit) != 0;
    const i32x8 places = (first >> 1 & 0xFE) + p.width - 3; /* of scifi_whole_cluster, in halves */
    keys += is_two & SCIFI_SMALL << KEY_CHANNEL_BIT;
    keys = i32x8_select(is_whole, base + (places << KEY_SIZE_BITS) + p.width, keys);
    kept &= ~(whole << 1);
    *taken = whole >> (LANES - 1);
  }
  if (there & ~known) return 0;
  c->hits += i32x8_pack((int32_t *)next_key(c), keys, kept);
  return 1;
}

/* Collects the clusters of a bank of this version. Returns the faults of its halfwords. */
VECTOR_INLINE uint32_t collect_words(struct collecting *c, const struct scifi_bank_words *words, uint32_t version) {
  uint32_t faults = 0, taken = 0;
  u16x8 now = load_halfwords(words, SCIFI_HEADER);
  for (uint32_t i = SCIFI_HEADER; i < words->end; i += LANES) {
    const u16x8 next = load_halfwords(words, i + LANES);
    const uint32_t begin = i + taken;
    if (!collect_eight(c, words, version, i, now, next, &taken)) {
      const uint32_t end = i + LANES < words->end ? i + LANES : words->end;
      taken = collect_one_by_one(c, words, begin, end, &faults) > i + LANES;
    }
    now = next;
  }
  return faults;
}

/* Collects the clusters of a bank, with code specialised for each version. Returns the faults of its halfwords. */
static uint32_t collect_bank(struct collecting *c, const struct scifi_bank_words *words) {
  if (words->version == 4) return collect_words(c, words, 4);
  if (words->version == 5) return collect_words(c, words, 5);
  return words->version == 7 ? collect_words(c, words, 7) : collect_words(c, words, 8);
}

/* Collects the clusters of an event. Returns their number, or 0 if the event is refused. */
static uint32_t collect_event(const struct decode_args *a, uint32_t event) {
  struct collecting c = {a->raw_keys + KEYS_MARGIN, 0};
  uint32_t claims[CLAIM_WORDS] = {0}, wrong = 0;
  for (uint32_t i = a->banks.offsets[event]; i < a->banks.offsets[event + 1]; i++) {
    struct scifi_bank_words words;
    const struct bank b = open_bank(a, i);
    const uint32_t error = open_words(a, &b, &words);
    if (error != SCIFI_NO_ERROR) {
      sl_event_fail(&a->events, event, error, b.source_id);
      wrong = 1;
      continue;
    }
    if (claims[b.row / 32] >> b.row % 32 & 1) {
      sl_event_fail(&a->events, event, SCIFI_TWO_BANKS, b.row);
      wrong = 1;
    }
    claims[b.row / 32] |= 1u << b.row % 32;
    const uint32_t faults = collect_bank(&c, &words);
    report_faults(a, event, faults, b.source_id);
  }
  if (!wrong && c.hits > SCIFI_HITS_MAX) sl_event_fail(&a->events, event, SCIFI_TOO_MANY_HITS, c.hits);
  return wrong || c.hits > SCIFI_HITS_MAX ? 0 : c.hits;
}

/* ------------------------------------------------------------------------------------------------------ mats */

/* Ranges of the keys of each mat. */
struct mat_keys {
  uint16_t begin[SCIFI_MATS], size[SCIFI_MATS];
};

/* Fills *mats. Returns 1 if the keys of each mat are contiguous and ascending. */
static uint32_t find_mats(uint32_t *keys, uint32_t hits, struct mat_keys *mats) {
  const i32x8 lane = {0, 1, 2, 3, 4, 5, 6, 7};
  uint32_t begins[SCIFI_MATS + 1 + 2 * LANES], runs = 0, wrong = 0;
  memset(mats->size, 0, sizeof mats->size);
  keys[-1] = UINT32_MAX; /* belongs to no mat */
  for (uint32_t i = 0; i < hits && runs <= SCIFI_MATS; i += LANES) {
    const i32x8 key = i32x8_load((const int32_t *)keys + i), before = i32x8_load((const int32_t *)keys + i - 1);
    const i32x8 is_there = lane < (int32_t)(hits - i), is_first = key >> KEY_MAT_BIT != before >> KEY_MAT_BIT;
    const i32x8 ascends = key >> KEY_CHANNEL_BIT > before >> KEY_CHANNEL_BIT;
    wrong |= i32x8_bits(is_there & ~(is_first | ascends));
    runs += i32x8_pack((int32_t *)begins + runs, lane + (int32_t)i, i32x8_bits(is_first & is_there));
  }
  if (wrong || runs > SCIFI_MATS) return 0;
  begins[runs] = hits;
  for (uint32_t r = 0; r < runs; r++) {
    const uint32_t mat = mat_of_key(keys[begins[r]]);
    wrong |= mats->size[mat];
    mats->begin[mat] = (uint16_t)begins[r];
    mats->size[mat] = (uint16_t)(begins[r + 1] - begins[r]);
  }
  return !wrong;
}

/* Sorts the keys of an event by mat, then each mat by insertion, because few of its keys are out of order. */
static void sort_keys(const uint32_t *keys, uint32_t hits, uint32_t *sorted, struct mat_keys *mats) {
  uint32_t sum = 0;
  memset(mats->size, 0, sizeof mats->size);
  for (uint32_t i = 0; i < hits; i++) mats->size[mat_of_key(keys[i])]++;
  for (uint32_t mat = 0; mat < SCIFI_MATS; mat++) {
    mats->begin[mat] = (uint16_t)sum;
    sum += mats->size[mat];
    mats->size[mat] = 0;
  }
  for (uint32_t i = 0; i < hits; i++) {
    const uint32_t key = keys[i], mat = mat_of_key(key);
    uint32_t *of_mat = sorted + mats->begin[mat], slot = mats->size[mat]++;
    for (; slot > 0 && of_mat[slot - 1] > key; slot--) of_mat[slot] = of_mat[slot - 1];
    of_mat[slot] = key;
  }
}

/* ----------------------------------------------------------------------------------------------------- write */

/* write_hit for eight keys. */
VECTOR_INLINE void write_eight(const struct decode_args *a, uint32_t to, i32x8 keys, const struct mat_record *record) {
  const i32x8 channel = keys >> KEY_CHANNEL_BIT & (MAT_CHANNELS - 1), fraction = keys >> KEY_SIZE_BITS & 1;
  const i32x8 halves = 2 * (channel & (SCIFI_SIPM_CHANNELS - 1)) + 1 + fraction;
  const i32x8 die = channel >> (SCIFI_SIPM_BIT - 1) & 1, sipm = channel >> SCIFI_SIPM_BIT;
  const f32x8 u = __builtin_convertvector(halves, f32x8) * record->half_pitch +
                  __builtin_convertvector(die, f32x8) * record->die_gap +
                  __builtin_convertvector(sipm, f32x8) * record->sipm_pitch;
  i32x8_store((int32_t *)a->hits.id + to, (int32_t)sl_bits_from_f32(record->first_id) + channel);
  f32x8_store(a->hits.x + to, record->x + u * record->dx_du);
  f32x8_store(a->hits.z + to, record->z + u * record->dz_du);
  i32x8_store_bytes(a->hits.pseudo_size + to, keys & ((1 << KEY_SIZE_BITS) - 1));
}

/* Writes the hits of a mat from index `to` on, eight at a time; from the last key if x descends with the channel. Hits
 * after the last one are overwritten by the next mat; nothing is written from `end` on. */
static inline void write_mat(const struct decode_args *a, uint32_t to, uint32_t end, const uint32_t *keys,
                             uint32_t size, const struct mat_record *record) {
  const uint32_t is_down = is_reversed(record);
  for (uint32_t i = 0; i < size; i += LANES) {
    const i32x8 up = i32x8_load((const int32_t *)(is_down ? keys + size - i - LANES : keys + i));
    if (to + i + LANES <= end) {
      write_eight(a, to + i, is_down ? __builtin_shufflevector(up, up, 7, 6, 5, 4, 3, 2, 1, 0) : up, record);
      continue;
    }
    for (uint32_t k = i; k < size; k++) write_hit(a, to + k, keys[is_down ? size - 1 - k : k], record);
    return;
  }
}

/* Writes the hits of an event from index `to` on, and zone_first. */
static void write_mats(const struct decode_args *a, uint32_t event, uint32_t to, uint32_t hits, const uint32_t *keys,
                       const struct mat_keys *mats) {
  uint16_t *zone_first = a->hits.zone_first + (size_t)event * ZONE_SLOTS;
  uint32_t first = 0;
  for (uint32_t zone = 0; zone < SCIFI_ZONES; zone++) {
    zone_first[zone] = (uint16_t)first;
    for (uint32_t mat = a->zone_mat[zone]; mat < a->zone_mat[zone + 1]; mat++) {
      write_mat(a, to + first, to + hits, keys + mats->begin[mat], mats->size[mat], record_of(a, mat));
      first += mats->size[mat];
    }
  }
  zone_first[SCIFI_ZONES] = (uint16_t)first;
}

/* Sorts the keys of an event if necessary and writes their hits from index `to` on. */
static void write_event(const struct decode_args *a, uint32_t event, uint32_t to, uint32_t hits) {
  uint32_t *keys = a->raw_keys + KEYS_MARGIN, *sorted = a->sorted_keys + KEYS_MARGIN;
  struct mat_keys mats;
  if (find_mats(keys, hits, &mats)) {
    write_mats(a, event, to, hits, keys, &mats);
    return;
  }
  sort_keys(keys, hits, sorted, &mats);
  write_mats(a, event, to, hits, sorted, &mats);
  for (uint32_t i = to + 1; i < to + hits; i++)
    if (a->hits.id[i] == a->hits.id[i - 1]) refuse_two_hits(a, event, a->hits.id[i]);
}

static void clear_zones(const struct decode_args *a, uint32_t event) {
  memset(a->hits.zone_first + (size_t)event * ZONE_SLOTS, 0, ZONE_SLOTS * sizeof *a->hits.zone_first);
}

/* Events are processed in ascending order, so hits are written at their final offsets before the scan. If the hits of
 * all events do not fit, the slice has no hits. */
int scifi_decode_tuned(const struct sl_launch *l, const void *args) {
  const struct decode_args *a = (const struct decode_args *)args;
  uint32_t to = 0, is_full = 0;
  SL_FOR_EVENTS (event, a->events) {
    const uint32_t hits = collect_event(a, event);
    a->hits.offsets[event] = hits;
    if (hits > a->hits.bound.capacity - to) is_full = 1;
    if (hits == 0 || is_full) {
      clear_zones(a, event);
    } else {
      write_event(a, event, to, hits);
      to += hits;
    }
  }
  if (is_full)
    SL_FOR_EVENTS (event, a->events) clear_zones(a, event);
  return l->scan(l, a->hits.offsets, &a->hits.bound);
}
