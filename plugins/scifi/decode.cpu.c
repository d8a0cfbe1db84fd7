/* decode.cpu.c: scifi.decode shaped for a CPU; same results as decode.cu.
 *
 * Banks are decoded once: an event's keys stand in the order of banks and halfwords, in which nearly always the
 * channels of a mat ascend. So a key's place follows from how many of its mat came before it, and hits are written as
 * the keys are gone through. Then x must ascend through each zone, and no id be there twice in a row; where that is not
 * so, keys are sorted, and the event is written again.
 */
#include "decode.h"

/* An event's keys, being collected. */
struct collecting {
  uint32_t *keys;
  uint32_t hits; /* beyond SCIFI_HITS_MAX they are only counted */
};

static inline void collect(struct collecting *c, uint32_t key) {
  c->keys[c->hits < SCIFI_HITS_MAX ? c->hits : (uint32_t)SCIFI_HITS_MAX] = key;
  c->hits++;
}

static inline uint32_t key_of(uint32_t channel, uint32_t fraction, uint32_t pseudo_size) {
  return channel << KEY_CHANNEL_BIT | fraction << KEY_SIZE_BITS | pseudo_size;
}

/* Collects the clusters of a bank. Returns what is wrong with its halfwords. */
static uint32_t collect_bank(struct collecting *c, const struct scifi_bank_words *words) {
  struct scifi_bank_cursor cursor = scifi_bank_begin();
  while (cursor.next < words->end) {
    const uint32_t halfword = scifi_halfword(words->payload, cursor.next), begin = scifi_link_begin(words, halfword);
    struct scifi_cluster cluster;
    if (!scifi_flag_of(halfword) && begin != SCIFI_NOT_CONNECTED) { /* most are such */
      collect(c, key_of(begin + scifi_channel_of(halfword), scifi_fraction_of(halfword), SCIFI_SMALL));
      cursor.next++;
      continue;
    }
    scifi_take_halfword(words, &cursor);
    while (scifi_taken_next(&cursor, &cluster))
      collect(c, key_of(cluster.channel, cluster.fraction, cluster.pseudo_size));
  }
  return cursor.faults;
}

/* Collects the clusters of an event; returns how many there are, 0 if it is refused. */
static uint32_t collect_event(const struct decode_args *a, uint32_t event) {
  struct collecting c = {a->raw_keys, 0};
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
    tell_faults(a, event, faults, b.source_id);
  }
  if (!wrong && c.hits > SCIFI_HITS_MAX) sl_event_fail(&a->events, event, SCIFI_TOO_MANY_HITS, c.hits);
  return wrong || c.hits > SCIFI_HITS_MAX ? 0 : c.hits;
}

/* ----------------------------------------------------------------------------------------------------- write */

/* Writes where each zone begins; `first` gets where each mat does. */
static void place_mats(const struct decode_args *a, uint32_t event, uint32_t hits, uint32_t first[SCIFI_MATS + 1]) {
  uint32_t counts[2][SCIFI_MATS] = {{0}}, sum = 0; /* of every other key: two in a row are of one mat often */
  for (uint32_t i = 0; i < hits; i++) counts[i % 2][mat_of_key(a->raw_keys[i])]++;
  for (uint32_t mat = 0; mat < SCIFI_MATS; mat++) {
    first[mat] = sum;
    sum += counts[0][mat] + counts[1][mat];
  }
  first[SCIFI_MATS] = sum;
  for (uint32_t zone = 0; zone < ZONE_SLOTS; zone++)
    a->hits.zone_first[(size_t)event * ZONE_SLOTS + zone] = (uint16_t)first[a->zone_mat[zone]];
}

/* Writes hits from `to` on in the order of keys; where x descends with the channel, from the mat's end. */
static void write_hits(const struct decode_args *a, uint32_t to, uint32_t hits, const uint32_t *keys,
                       const uint32_t first[SCIFI_MATS + 1]) {
  uint32_t next[SCIFI_MATS];
  for (uint32_t mat = 0; mat < SCIFI_MATS; mat++)
    next[mat] = is_reversed(record_of(a, mat)) ? first[mat + 1] - 1 : first[mat];
  for (uint32_t i = 0; i < hits; i++) {
    const uint32_t key = keys[i], mat = mat_of_key(key), slot = next[mat];
    const struct mat_record *record = record_of(a, mat);
    next[mat] = slot + 1 - 2 * is_reversed(record);
    write_hit(a, to + slot, key, record);
  }
}

/* Whether x does not ascend through the hits of a zone, or an id is there twice. */
static uint32_t is_unsorted(const struct scifi_hits *hits, uint32_t first, uint32_t end) {
  uint32_t wrong = 0;
  for (uint32_t i = first + 1; i < end; i++)
    wrong |= (hits->x[i] > hits->x[i - 1] ? 0u : 1u) | (hits->id[i] == hits->id[i - 1] ? 1u : 0u);
  return wrong;
}

/* Sorts an event's keys: by mat, and in a mat, where they are in order but for few, one by one. */
static void sort_keys(const uint32_t first[SCIFI_MATS + 1], const uint32_t *keys, uint32_t hits, uint32_t *sorted) {
  uint32_t next[SCIFI_MATS];
  memcpy(next, first, sizeof next);
  for (uint32_t i = 0; i < hits; i++) {
    const uint32_t key = keys[i], mat = mat_of_key(key);
    uint32_t slot = next[mat]++;
    for (; slot > first[mat] && sorted[slot - 1] > key; slot--) sorted[slot] = sorted[slot - 1];
    sorted[slot] = key;
  }
}

/* Writes the hits of an event's keys from `to` on. */
static void write_event(const struct decode_args *a, uint32_t event, uint32_t to, uint32_t hits) {
  const uint16_t *zone_first = a->hits.zone_first + (size_t)event * ZONE_SLOTS;
  uint32_t first[SCIFI_MATS + 1], unsorted = 0;
  place_mats(a, event, hits, first);
  write_hits(a, to, hits, a->raw_keys, first);
  for (uint32_t zone = 0; zone < SCIFI_ZONES; zone++)
    unsorted |= is_unsorted(&a->hits, to + zone_first[zone], to + zone_first[zone + 1]);
  if (!unsorted) return;
  sort_keys(first, a->raw_keys, hits, a->sorted_keys);
  write_hits(a, to, hits, a->sorted_keys, first);
  for (uint32_t i = to + 1; i < to + hits; i++)
    if (a->hits.id[i] == a->hits.id[i - 1]) refuse_two_hits(a, event, a->hits.id[i]);
}

static void clear_zones(const struct decode_args *a, uint32_t event) {
  memset(a->hits.zone_first + (size_t)event * ZONE_SLOTS, 0, ZONE_SLOTS * sizeof *a->hits.zone_first);
}

/* Events come in ascending order, so that hits can be written where the scan's offsets will say; where not all events'
 * hits fit, there are none. */
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
