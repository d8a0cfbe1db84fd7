/* bank_words.h: raw banks of the muon chambers, word by word, into tiles and times.
 *
 *   struct muon_reader r;
 *   struct muon_digit digit;
 *   muon_reader_begin(&r, &map, &bank);
 *   while (muon_reader_next(&r, &digit)) ...
 *   if (r.fault) ...                                   // the bank is refused with all its digits
 *
 * Versions 2 and 3; formats in README.md, "Banks". Addresses that are not connected are skipped. For host code and
 * kernels: uses no library and no memory except the reader.
 */
#ifndef MUON_BANK_WORDS_H
#define MUON_BANK_WORDS_H

#include "muon/event_model.h"

/* Faults of a bank: name, text. */
#define MUON_FAULTS(F)                                                                           \
  F(MUON_UNKNOWN_VERSION, "its version is neither 2 nor 3")                                      \
  F(MUON_OTHER_FORMAT, "the geometry's map of channels is for another version of banks")         \
  F(MUON_UNKNOWN_SOURCE, "there is no bank of that source id") /* or no such half of a Tell40 */ \
  F(MUON_TOO_SHORT, "it ends within its own lengths")                                            \
  F(MUON_TOO_LONG, "something follows its last batch") /* but for one halfword */                \
  F(MUON_UNKNOWN_ADDRESS, "an address is beyond the bank's channels")                            \
  F(MUON_WRONG_LINK_LENGTH, "a link has 2 to 6 bytes") /* too few for its map of hits */         \
  F(MUON_ODD_SIZE, "its size is not a number of halfwords")
#define MUON_FAULT_NAME_(name, text) name,
enum muon_fault { MUON_FINE, MUON_FAULTS(MUON_FAULT_NAME_) MUON_FAULT_COUNT };

static inline const char *muon_fault_text(uint32_t fault) {
#define MUON_FAULT_TEXT_(name, text) text,
  static const char *const texts[] = {"it is fine", MUON_FAULTS(MUON_FAULT_TEXT_)};
#undef MUON_FAULT_TEXT_
  return fault < MUON_FAULT_COUNT ? texts[fault] : "";
}

/* Map of channels: fields of muon_geometry. */
struct muon_map {
  uint32_t format;
  const uint32_t *channel_first, *tiles, *tell40_links;
};

struct muon_bank_words {
  const uint32_t *payload;
  uint32_t size_bytes, version, source_id;
};

/* `time` is in sixteenths of the 25 ns between crossings. */
struct muon_digit {
  uint32_t tile, time;
};

struct muon_reader {
  const uint32_t *payload, *tiles; /* the unit's */
  uint32_t size, channels;         /* halfwords (version 2) or bytes; of the unit */
  uint32_t version, fault;
  uint32_t at;           /* the next halfword or byte */
  uint32_t left;         /* version 2: hits of the batch */
  uint32_t batches_left; /* version 2: after this one */
  uint32_t links_left;   /* version 3: bits of the remaining links */
  uint32_t link, link_at, link_bytes;
  uint32_t hits_low, hits_high; /* version 3: channels 0 to 31, 32 to 47 of the link that are hit */
  uint32_t hit;                 /* number of the next one in the link */
};

SL_MATH_FUNCTION uint32_t muon_halfword(const uint32_t *payload, uint32_t i) {
  return payload[i / 2] >> 16 * (i % 2) & 0xFFFFu;
}
SL_MATH_FUNCTION uint32_t muon_byte(const uint32_t *payload, uint32_t i) {
  return payload[i / 4] >> 8 * (i % 4) & 0xFFu;
}

/* ------------------------------------------------------------------------------------------------ version 2 */

/* Offset after the list of pads, which is redundant: crossings of digits give the same pads. */
SL_MATH_FUNCTION void muon_begin_batches(struct muon_reader *r) {
  if (r->size == 0) {
    r->fault = MUON_TOO_SHORT;
    return;
  }
  r->at = (muon_halfword(r->payload, 0) + 3u) & ~1u;
  r->batches_left = 4;
}

/* Finds the next batch with hits: `left` hits from `at` on. Returns 0 after the last one. */
SL_MATH_FUNCTION int muon_next_batch(struct muon_reader *r) {
  while (r->left == 0 && r->batches_left > 0) {
    if (r->at >= r->size) {
      r->fault = MUON_TOO_SHORT;
      return 0;
    }
    r->left = muon_halfword(r->payload, r->at++);
    r->batches_left--;
    if (r->left > r->size - r->at) r->fault = MUON_TOO_SHORT;
    if (r->fault) return 0;
  }
  if (r->left > 0) return 1;
  if (r->size - r->at > 1) r->fault = MUON_TOO_LONG;
  return 0;
}

SL_MATH_FUNCTION uint32_t muon_hit_address(uint32_t word) { return word & 0xFFFu; }
SL_MATH_FUNCTION uint32_t muon_hit_time(uint32_t word) { return word >> 12; }

SL_MATH_FUNCTION int muon_next_of_batches(struct muon_reader *r, struct muon_digit *digit) {
  while (muon_next_batch(r)) {
    const uint32_t word = muon_halfword(r->payload, r->at++), address = muon_hit_address(word);
    r->left--;
    if (address >= r->channels) {
      r->fault = MUON_UNKNOWN_ADDRESS;
      return 0;
    }
    digit->tile = r->tiles[address];
    digit->time = muon_hit_time(word);
    if (digit->tile != 0) return 1;
  }
  return 0;
}

/* ------------------------------------------------------------------------------------------------ version 3 */

enum { MUON_SYNCHRONISATION = 0x10, MUON_HAS_MASK = 0x20, MUON_MASK_BYTES = 3, MUON_LINK_BYTES_MIN = 7 };

SL_MATH_FUNCTION void muon_begin_links(struct muon_reader *r, uint32_t links) {
  const uint32_t head = r->size > 0 ? muon_byte(r->payload, 0) : 0;
  r->links_left = (1u << links) - 1u;
  r->at = 1;
  if (r->size == 0) r->fault = MUON_TOO_SHORT;
  if (head & MUON_SYNCHRONISATION) r->links_left = 0;
  if (!(head & MUON_HAS_MASK) || r->links_left == 0) return;
  r->at += MUON_MASK_BYTES;
  if (r->at > r->size)
    r->fault = MUON_TOO_SHORT;
  else
    r->links_left &= muon_byte(r->payload, 1) << 16 | muon_byte(r->payload, 2) << 8 | muon_byte(r->payload, 3);
}

SL_MATH_FUNCTION uint32_t muon_link_bytes(const uint32_t *payload, uint32_t link_at) {
  return (muon_byte(payload, link_at) >> 4) + 1u;
}

/* The hits of the channels 0 to 47 of a link: its first 56 bits, the highest first, are its length, the hits of the
 * channels 47 to 0, and a time. */
SL_MATH_FUNCTION uint64_t muon_link_hits(const uint32_t *payload, uint32_t link_at) {
  uint64_t bits = 0;
  for (uint32_t i = 0; i < MUON_LINK_BYTES_MIN; i++) bits = bits << 8 | muon_byte(payload, link_at + i);
  return bits >> 4 & 0xFFFFFFFFFFFFu;
}

/* Time of hit number `hit` of a link: in the low half of byte 6, then in both halves of the following bytes, high half
 * first. */
SL_MATH_FUNCTION uint32_t muon_link_time(const uint32_t *payload, uint32_t link_at, uint32_t hit) {
  const uint32_t byte = MUON_LINK_BYTES_MIN - 1 + (hit + 1) / 2;
  if (byte >= muon_link_bytes(payload, link_at)) return 0;
  const uint32_t both = muon_byte(payload, link_at + byte);
  return hit % 2 ? both >> 4 : both & 0xFu;
}

/* Finds the next link with hits. Returns 0 after the last one. */
SL_MATH_FUNCTION int muon_next_link(struct muon_reader *r) {
  while (r->links_left != 0) {
    r->link = 0;
    while (!(r->links_left >> r->link & 1u)) r->link++;
    r->links_left &= r->links_left - 1u;
    if (r->at >= r->size) {
      r->fault = MUON_TOO_SHORT;
      return 0;
    }
    r->link_at = r->at;
    r->link_bytes = muon_link_bytes(r->payload, r->at);
    r->at += r->link_bytes;
    if (r->link_bytes == 1) continue;
    r->fault = r->link_bytes < MUON_LINK_BYTES_MIN ? MUON_WRONG_LINK_LENGTH
               : r->at > r->size                   ? MUON_TOO_SHORT
                                                   : MUON_FINE;
    if (r->fault) return 0;
    const uint64_t hits = muon_link_hits(r->payload, r->link_at);
    r->hits_low = (uint32_t)hits;
    r->hits_high = (uint32_t)(hits >> 32);
    r->hit = 0;
    return 1;
  }
  return 0;
}

SL_MATH_FUNCTION int muon_next_of_links(struct muon_reader *r, struct muon_digit *digit) {
  for (;;) {
    if (!r->hits_low && !r->hits_high && !muon_next_link(r)) return 0;
    if (!r->hits_low && !r->hits_high) continue;
    uint32_t channel = 0;
    if (r->hits_low) {
      while (!(r->hits_low >> channel & 1u)) channel++;
      r->hits_low &= r->hits_low - 1u;
    } else {
      while (!(r->hits_high >> channel & 1u)) channel++;
      r->hits_high &= r->hits_high - 1u;
      channel += 32;
    }
    digit->tile = r->tiles[r->link * MUON_LINK_CHANNELS + channel];
    digit->time = muon_link_time(r->payload, r->link_at, r->hit);
    r->hit++;
    if (digit->tile != 0) return 1;
  }
}

/* ----------------------------------------------------------------------------------------------------- both */

SL_MATH_FUNCTION void muon_reader_begin(struct muon_reader *r, const struct muon_map *map,
                                        const struct muon_bank_words *bank) {
  const uint32_t unit = bank->version == 2 ? bank->source_id : bank->source_id & 0xFFu;
  const uint32_t units = bank->version == 2 ? (uint32_t)MUON_BANKS : (uint32_t)(MUON_TELL40S * MUON_HALVES);
  r->payload = bank->payload;
  r->tiles = map->tiles;
  r->version = bank->version;
  r->size = bank->version == 2 ? bank->size_bytes / 2 : bank->size_bytes;
  r->fault = MUON_FINE;
  r->channels = r->at = r->left = r->batches_left = r->links_left = 0;
  r->link = r->link_at = r->link_bytes = r->hits_low = r->hits_high = r->hit = 0;
  if (bank->version != 2 && bank->version != 3)
    r->fault = MUON_UNKNOWN_VERSION;
  else if (bank->version != map->format)
    r->fault = MUON_OTHER_FORMAT;
  else if (unit >= units)
    r->fault = MUON_UNKNOWN_SOURCE;
  else if (bank->version == 2 && bank->size_bytes % 2 != 0)
    r->fault = MUON_ODD_SIZE;
  if (r->fault) return;
  r->tiles += map->channel_first[unit];
  r->channels = map->channel_first[unit + 1] - map->channel_first[unit];
  if (bank->version == 2)
    muon_begin_batches(r);
  else
    muon_begin_links(r, map->tell40_links[unit]);
}

/* The next digit: 1; 0 at the end, and where there is a fault. */
SL_MATH_FUNCTION int muon_reader_next(struct muon_reader *r, struct muon_digit *digit) {
  if (r->fault) return 0;
  return r->version == 2 ? muon_next_of_batches(r, digit) : muon_next_of_links(r, digit);
}

#endif
