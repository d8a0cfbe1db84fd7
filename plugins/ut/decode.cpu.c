/* decode.cpu.c: ut.decode shaped for a CPU; same results as decode.cu.
 *
 * Where all banks of an event are of version 3 and sound, hits are counted by band, and then written where the sums of
 * these say, which is in order where banks have them by lane and strip, as they do. Other events, and those that were
 * not in order, go the way of decode_event.h. Events come in ascending order, so that hits can be written where the
 * scan's offsets will say; where not all events' hits fit, there are none.
 */
#define DECODE_WITHOUT_KERNELS
#include "decode.h"

/* Lists the hits of an event in `hits`, a lane and a halfword each, and counts those of each band. Returns 0 if a bank
 * has another version, or a hit is of no sector. */
static uint32_t list_hits(const struct decode_args *a, const struct decoding *d, uint32_t *hits) {
  for (uint32_t bank = 0; bank < d->bank_count; bank++) {
    const uint32_t lanes = d->banks->lanes[bank], count = d->banks->place[bank + 1] - d->banks->place[bank];
    const uint32_t *words = a->banks.payload + d->banks->first_word[bank];
    if (count == 0) continue;
    if (lanes >= BANK_IS_V4) return 0;
    const uint32_t is_down = counts_down(a, d, bank);
    for (uint32_t i = 0; i < count; i++) {
      const uint32_t halfword = ut_halfword(words, 2 + number_of(is_down, i, count));
      const uint32_t lane = (halfword >> 2 & 0xFFF) / UT_SECTOR_STRIPS;
      if (lane >= UT_BOARD_LANES || a->lane_band[lanes + lane] == NO_BAND) return 0;
      d->next[a->lane_band[lanes + lane]]++;
      *hits++ = (lanes + lane) << 16 | halfword;
    }
  }
  return 1;
}

/* Writes hits as they are listed; each band's from its place on. */
static void write_listed(const struct decode_args *a, const struct decoding *d, uint32_t to, const uint32_t *hits) {
  for (uint32_t i = 0; i < d->hits; i++) {
    const uint32_t lane = hits[i] >> 16, slot = to + d->next[a->lane_band[lane]]++;
    const uint32_t strip = (hits[i] >> 2 & 0xFFF) % UT_SECTOR_STRIPS;
    const float strips = (float)strip + 0.25f * (float)(hits[i] & 3); /* as of ut_v3_cluster */
    const float *record = a->lanes + RECORD_FLOATS * lane, y = record[Y0] + strips * record[DY_DI];
    a->hits.id[slot] = ut_id(3, a->geometry.lane_channel[lane], strip);
    a->hits.x[slot] = record[X0] + strips * record[DX_DI];
    a->hits.y[slot] = y;
    a->hits.y_end[slot] = y + record[LENGTH];
    a->hits.z[slot] = record[Z0] + strips * record[DZ_DI];
    a->hits.sector[slot] = a->groups.lane_sector[lane];
  }
}

/* Whether y and id ascend through each group. */
static uint32_t is_in_order(const struct decode_args *a, uint32_t event, uint32_t to) {
  const uint16_t *group_first = a->hits.group_first + (size_t)event * GROUP_SLOTS;
  const float *y = a->hits.y + to;
  const uint32_t *id = a->hits.id + to;
  uint32_t wrong = 0;
  for (uint32_t group = 0; group < UT_GROUPS_MAX; group++)
    for (uint32_t i = group_first[group] + 1; i < group_first[group + 1]; i++) {
      const uint32_t own = ordered(y[i]), before = ordered(y[i - 1]);
      wrong |= (own < before ? 1u : 0u) | ((own == before ? 1u : 0u) & (id[i] <= id[i - 1] ? 1u : 0u));
    }
  return !wrong;
}

/* Writes an event whose hits come in any order. Returns how many there are; writes none where these are more than fit.
 */
static uint32_t write_any(const struct decode_args *a, struct decoding *d, uint32_t to) {
  for (uint32_t band = 0; band < BAND_SLOTS; band++) d->next[band] = 0;
  for (uint32_t bank = 0; bank < d->bank_count; bank++) take_bank(a, d, bank, band_by_map);
  list_by_band(a, d);
  const uint32_t hits = a->hits.offsets[d->event];
  const struct listed_hits h = hits_of(a, d->event);
  if (hits <= a->hits.bound.capacity - to) write_in_order(a, d->event, &h, to, hits);
  return hits;
}

/* The same of any event. */
static uint32_t write_event(const struct decode_args *a, uint32_t event, uint32_t to, struct bank_slots *banks,
                            uint32_t *next) {
  struct decoding d = begin_event(a, event, banks, next);
  uint32_t *hits = (uint32_t *)(void *)(a->keys + d.first);
  if (d.hits == 0) { /* or refused */
    place_bands(a, &d);
    return 0;
  }
  if (!list_hits(a, &d, hits)) return write_any(a, &d, to);
  place_bands(a, &d);
  if (d.hits > a->hits.bound.capacity - to) return d.hits;
  write_listed(a, &d, to, hits);
  return is_in_order(a, event, to) ? d.hits : write_any(a, &d, to);
}

int ut_decode_tuned(const struct sl_launch *l, const void *args) {
  const struct decode_args *a = (const struct decode_args *)args;
  struct bank_slots banks;
  uint32_t next[BAND_SLOTS], to = 0, is_full = 0;
  *a->keys_used = 0;
  SL_FOR_EVENTS (event, a->events) {
    const uint32_t hits = write_event(a, event, to, &banks, next);
    if (hits > a->hits.bound.capacity - to)
      is_full = 1;
    else
      to += hits;
  }
  if (is_full)
    SL_FOR_EVENTS (event, a->events)
      memset(a->hits.group_first + (size_t)event * GROUP_SLOTS, 0, GROUP_SLOTS * sizeof *a->hits.group_first);
  return l->scan(l, a->hits.offsets, &a->hits.bound);
}
