/* bank_words.h: reads the clusters of a SciFi bank one by one, for kernels and host code.
 *
 *   error = scifi_bank_open(&words, version, link_channel, payload, size_bytes);
 *   cursor = scifi_bank_begin();
 *   while (scifi_bank_next(&words, &cursor, &cluster)) ...
 *   cursor.faults: faults of single halfwords
 *
 * Halfword: flag (bit 0), fraction (1), channel (2 to 8), link (9 to 15). Without flag: a cluster of at most four
 * channels. A wider cluster is cut into pieces of four; its first and last piece have a halfword with flag each, a pair
 * that stands for all pieces. Versions differ in the content of a pair (README.md, "Banks"). In version 4 each halfword
 * is a cluster or a piece.
 */
#ifndef SCIFI_BANK_WORDS_H
#define SCIFI_BANK_WORDS_H

#include "scifi/event_model.h"

#include <sluice/math.h>

/* Errors that refuse a bank. */
#define SCIFI_BANK_ERRORS(E)                                                                        \
  E(SCIFI_BAD_VERSION, 1, "a SciFi bank has a version other than 4 to 8 (detail: its source id)")   \
  E(SCIFI_BAD_SOURCE, 2, "a SciFi bank's source id is not in the geometry (detail: its source id)") \
  E(SCIFI_BAD_SIZE, 3, "a SciFi bank's size is not a multiple of 2 bytes (detail: its source id)")  \
  E(SCIFI_TOO_MANY, 4, "a SciFi bank has more than 744 clusters (detail: its source id)")
#define SCIFI_BANK_ERROR_CODE_(name, code, text) name = code,
enum { SCIFI_BANK_ERRORS(SCIFI_BANK_ERROR_CODE_) SCIFI_NO_ERROR = 0 };

/* Faults of halfwords, as bits. Such a halfword is ignored, except pairs of version 5: each halfword is then a cluster.
 */
enum {
  SCIFI_NO_SUCH_LINK = 1, /* a link that is not connected */
  SCIFI_BAD_PAIR = 2      /* inconsistent flags, channels or fractions */
};

enum {
  SCIFI_SMALL = 4,       /* channels; wider clusters are cut into pieces by the readout */
  SCIFI_WHOLE = 8,       /* channels; wider clusters are decoded as pieces, from version 5 on */
  SCIFI_BANK_MAX = 744,  /* halfwords: 24 links of 31 */
  SCIFI_HEADER = 2,      /* halfwords */
  SCIFI_NO_BANK = 0xFFFF /* instead of a row */
};

/* A cluster at the middle of `channel`, plus half a channel if the fraction is 1. pseudo_size: 4: 1 to 4 channels; 5 to
 * 8: number of channels; 0: piece of a wider cluster. */
struct scifi_cluster {
  uint32_t channel;
  uint32_t fraction;
  uint32_t pseudo_size;
};

struct scifi_bank_words {
  const uint32_t *payload;
  const uint32_t *link_channel; /* first channels of the links of the bank */
  uint32_t version;
  uint32_t end; /* index after the last halfword of a cluster */
};

/* `next`: index of a halfword. Clusters taken but not yet returned: `pieces` pieces, four channels apart, then `last`.
 */
struct scifi_bank_cursor {
  uint32_t next, faults;
  uint32_t pieces, has_last;
  struct scifi_cluster piece, last;
};

/* The row of a bank in the tables of the geometry: its source id or, from version 7 on, the index of the source id in
 * the list; SCIFI_NO_BANK if there is none. */
SL_MATH_FUNCTION uint32_t scifi_bank_row(uint32_t version, uint32_t source_id, const uint32_t *source_ids) {
  if (version < 7) return source_id < SCIFI_BANKS ? source_id : (uint32_t)SCIFI_NO_BANK;
  for (uint32_t row = 0; row < SCIFI_BANKS; row++)
    if (source_ids[row] == source_id) return row;
  return SCIFI_NO_BANK;
}

SL_MATH_FUNCTION uint32_t scifi_halfword(const uint32_t *payload, uint32_t index) {
  return payload[index / 2] >> 16 * (index & 1) & 0xFFFF;
}

/* Opens a bank. Returns 0 or an error. `link_channel`: the SCIFI_BANK_LINKS values of its row. A last halfword of zero
 * after the header is padding. */
SL_MATH_FUNCTION uint32_t scifi_bank_open(struct scifi_bank_words *words, uint32_t version,
                                          const uint32_t *link_channel, const uint32_t *payload, uint32_t size_bytes) {
  uint32_t end = size_bytes / 2;
  words->payload = payload;
  words->link_channel = link_channel;
  words->version = version;
  words->end = SCIFI_HEADER;
  if (version < 4 || version > 8) return SCIFI_BAD_VERSION;
  if (size_bytes % 2 != 0) return SCIFI_BAD_SIZE;
  if (end > SCIFI_HEADER && scifi_halfword(payload, end - 1) == 0) end--;
  if (end > SCIFI_HEADER + SCIFI_BANK_MAX) return SCIFI_TOO_MANY;
  if (end > SCIFI_HEADER) words->end = end;
  return SCIFI_NO_ERROR;
}

SL_MATH_FUNCTION struct scifi_bank_cursor scifi_bank_begin(void) {
  struct scifi_bank_cursor cursor;
  memset(&cursor, 0, sizeof cursor);
  cursor.next = SCIFI_HEADER;
  return cursor;
}

/* -------------------------------------------------------------------------------------------- one halfword */

SL_MATH_FUNCTION uint32_t scifi_flag_of(uint32_t halfword) { return halfword & 1; }
SL_MATH_FUNCTION uint32_t scifi_fraction_of(uint32_t halfword) { return halfword >> 1 & 1; }
SL_MATH_FUNCTION uint32_t scifi_channel_of(uint32_t halfword) { return halfword >> 2 & (SCIFI_SIPM_CHANNELS - 1); }
SL_MATH_FUNCTION uint32_t scifi_link_of(uint32_t halfword) { return halfword >> 9; }

SL_MATH_FUNCTION struct scifi_cluster scifi_cluster_at(uint32_t channel, uint32_t fraction, uint32_t pseudo_size) {
  struct scifi_cluster cluster;
  cluster.channel = channel;
  cluster.fraction = fraction;
  cluster.pseudo_size = pseudo_size;
  return cluster;
}

/* The first channel of a halfword's link, or SCIFI_NOT_CONNECTED. */
SL_MATH_FUNCTION uint32_t scifi_link_begin(const struct scifi_bank_words *words, uint32_t halfword) {
  const uint32_t link = scifi_link_of(halfword);
  return link < SCIFI_BANK_LINKS ? words->link_channel[link] : (uint32_t)SCIFI_NOT_CONNECTED;
}

/* --------------------------------------------------------------------------------------------------- pairs */

/* A cluster of `width` channels from channel `first` on. */
SL_MATH_FUNCTION struct scifi_cluster scifi_whole_cluster(uint32_t first, uint32_t width) {
  return scifi_cluster_at(first + (width - 1) / 2, (width - 1) % 2, width);
}

/* Version 5: the halfwords are the middles of the first and the last piece. A cluster wider than SCIFI_WHOLE is decoded
 * without its first piece, which the truth of the samples does not list, either. */
SL_MATH_FUNCTION void scifi_pair_of_middles(uint32_t begin, uint32_t c, uint32_t c2, struct scifi_bank_cursor *cursor) {
  const uint32_t channel = scifi_channel_of(c), distance = scifi_channel_of(c2) - channel;
  if (distance <= SCIFI_SMALL) {
    cursor->last = scifi_whole_cluster(begin + channel - 1, 2 * distance - 1 + scifi_fraction_of(c2));
  } else {
    cursor->pieces = (distance - 1) / SCIFI_SMALL;
    cursor->piece = scifi_cluster_at(begin + channel + SCIFI_SMALL, scifi_fraction_of(c), 0);
    cursor->last = scifi_cluster_at(begin + scifi_channel_of(c2), scifi_fraction_of(c2), 0);
  }
}

/* Versions 6 to 8: the halfwords are the second and the last channel of the cluster. */
SL_MATH_FUNCTION void scifi_pair_of_ends(uint32_t begin, uint32_t c, uint32_t c2, struct scifi_bank_cursor *cursor) {
  const uint32_t channel = begin + scifi_channel_of(c), width = scifi_channel_of(c2) - scifi_channel_of(c) + 2;
  if (width <= SCIFI_WHOLE) {
    cursor->last = scifi_whole_cluster(channel - 1, width);
  } else {
    cursor->pieces = (width - 1) / SCIFI_SMALL;
    const uint32_t before = SCIFI_SMALL * cursor->pieces;
    cursor->piece = scifi_cluster_at(channel, 1, 0);
    cursor->last = scifi_whole_cluster(channel - 1 + before, width - before);
    cursor->last.pseudo_size = 0;
  }
}

/* 1 if two adjacent halfwords are examined together. */
SL_MATH_FUNCTION uint32_t scifi_may_pair(const struct scifi_bank_words *words, uint32_t c, uint32_t c2) {
  return scifi_flag_of(c) && words->version > 4 && scifi_link_of(c) == scifi_link_of(c2) &&
         (words->version > 5 || scifi_flag_of(c2)) && scifi_link_begin(words, c) != SCIFI_NOT_CONNECTED;
}

SL_MATH_FUNCTION uint32_t scifi_is_start(uint32_t version, uint32_t c) {
  return scifi_fraction_of(c) == (version == 7 ? 0u : 1u);
}

/* 1 if two halfwords that are examined together are a cluster. */
SL_MATH_FUNCTION uint32_t scifi_is_pair(uint32_t version, uint32_t c, uint32_t c2) {
  const uint32_t channel = scifi_channel_of(c), channel2 = scifi_channel_of(c2);
  if (version == 5) return channel2 >= channel + SCIFI_SMALL - 1 && channel > 0;
  return channel2 > channel && channel > 0 && scifi_is_start(version, c) && scifi_flag_of(c2) &&
         (version == 7 || scifi_fraction_of(c2) == 0);
}

/* 1 if the second of two halfwords examined together is consumed with the first one: as partner, or both are ignored.
 */
SL_MATH_FUNCTION uint32_t scifi_consumes_both(uint32_t version, uint32_t c, uint32_t c2) {
  if (version == 5) return scifi_is_pair(version, c, c2);
  return scifi_channel_of(c2) <= scifi_channel_of(c) || scifi_is_start(version, c);
}

/* 1 if a halfword is consumed with the previous one, so that no cluster begins with it; for callers that do not read
 * the bank from its begin. In a run of halfwords that could each take the next one, every second one is consumed. */
SL_MATH_FUNCTION uint32_t scifi_is_taken(const struct scifi_bank_words *words, uint32_t index) {
  uint32_t c2 = scifi_halfword(words->payload, index), is_taken = 0;
  for (; index > SCIFI_HEADER; index--) {
    const uint32_t c = scifi_halfword(words->payload, index - 1);
    if (!scifi_may_pair(words, c, c2) || !scifi_consumes_both(words->version, c, c2)) break;
    is_taken ^= 1;
    c2 = c;
  }
  return is_taken;
}

/* Takes one or both of two halfwords that are examined together. */
SL_MATH_FUNCTION void scifi_take_pair(const struct scifi_bank_words *words, uint32_t c, uint32_t c2,
                                      struct scifi_bank_cursor *cursor) {
  const uint32_t version = words->version, begin = scifi_link_begin(words, c);
  cursor->next += scifi_consumes_both(version, c, c2);
  cursor->has_last = 1;
  if (!scifi_is_pair(version, c, c2)) {
    cursor->faults |= SCIFI_BAD_PAIR;
    cursor->has_last = version == 5;
    cursor->last = scifi_cluster_at(begin + scifi_channel_of(c), scifi_fraction_of(c), 0);
  } else if (version == 5) {
    scifi_pair_of_middles(begin, c, c2, cursor);
  } else {
    scifi_pair_of_ends(begin, c, c2, cursor);
  }
}

/* The halfword at the cursor, or 0 at the end of the bank. */
SL_MATH_FUNCTION uint32_t scifi_next_halfword(const struct scifi_bank_words *words,
                                              const struct scifi_bank_cursor *cursor) {
  return cursor->next < words->end ? scifi_halfword(words->payload, cursor->next) : 0;
}

/* Takes halfword `c`, which is before the cursor, and `c2`, which is at the cursor, if it is its partner. Stores their
 * clusters in the cursor. */
SL_MATH_FUNCTION void scifi_take_read(const struct scifi_bank_words *words, uint32_t c, uint32_t c2,
                                      struct scifi_bank_cursor *cursor) {
  const uint32_t begin = scifi_link_begin(words, c), has_next = cursor->next < words->end;
  if (begin == SCIFI_NOT_CONNECTED) {
    cursor->faults |= SCIFI_NO_SUCH_LINK;
  } else if (has_next && scifi_may_pair(words, c, c2)) {
    scifi_take_pair(words, c, c2, cursor);
  } else {
    cursor->last =
        scifi_cluster_at(begin + scifi_channel_of(c), scifi_fraction_of(c), scifi_flag_of(c) ? 0 : SCIFI_SMALL);
    cursor->has_last = 1;
  }
}

/* Takes the next halfword and its partner, if any. */
SL_MATH_FUNCTION void scifi_take_halfword(const struct scifi_bank_words *words, struct scifi_bank_cursor *cursor) {
  const uint32_t c = scifi_halfword(words->payload, cursor->next++);
  scifi_take_read(words, c, scifi_next_halfword(words, cursor), cursor);
}

/* Reads the next cluster stored in the cursor. Returns 0 if there is none. */
SL_MATH_FUNCTION uint32_t scifi_taken_next(struct scifi_bank_cursor *cursor, struct scifi_cluster *cluster) {
  if (cursor->pieces > 0) {
    *cluster = cursor->piece;
    cursor->piece.channel += SCIFI_SMALL;
    cursor->pieces--;
    return 1;
  }
  *cluster = cursor->last;
  const uint32_t is_there = cursor->has_last;
  cursor->has_last = 0;
  return is_there;
}

/* Reads the next cluster of the bank. Returns 0 if there is none. */
SL_MATH_FUNCTION uint32_t scifi_bank_next(const struct scifi_bank_words *words, struct scifi_bank_cursor *cursor,
                                          struct scifi_cluster *cluster) {
  while (cursor->pieces == 0 && !cursor->has_last && cursor->next < words->end) scifi_take_halfword(words, cursor);
  return scifi_taken_next(cursor, cluster);
}

#endif
