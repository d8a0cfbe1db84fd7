/* bank_words.h: reads the payload of a UT bank (README.md, "Banks"), for kernels and host code.
 *
 * First check a bank with ut_v3_fault or ut_v4_fault; the other functions need a valid payload. Lanes and strips are
 * numbered from 0 in both versions.
 */
#ifndef UT_BANK_WORDS_H
#define UT_BANK_WORDS_H

#include "ut/event_model.h"

#include <sluice/math.h>

/* Faults of a bank, with texts. */
#define UT_BANK_FAULTS(F)                                         \
  F(UT_BANK_NO_VERSION, "its version is neither 3 nor 4")         \
  F(UT_BANK_NO_BOARD, "its source id is not that of a board")     \
  F(UT_BANK_TOO_SHORT, "it is shorter than its header")           \
  F(UT_BANK_COUNT, "it announces more hits than it has room for") \
  F(UT_BANK_NO_LANE, "a channel is beyond the sixth lane")        \
  F(UT_BANK_MARKED, "the readout marked it as bad, by a count of 255 in a lane")
#define UT_BANK_FAULT_NAME_(name, text) name,
enum ut_bank_fault { UT_BANK_FINE, UT_BANK_FAULTS(UT_BANK_FAULT_NAME_) UT_BANK_FAULT_COUNT };

enum {
  UT_ID = 3 << 28, /* LHCbID = UT_ID | channel */
  UT_ADC_MAX = 31,
  UT_V3_CLUSTER_STRIPS_MAX = 4,
  UT_V4_CLUSTER_STRIPS_MAX = 128, /* a longer run of strips is ignored */
  UT_V4_EMPTY_BYTES = 24,         /* a shorter payload has no hits */
  UT_V4_ROW_HALFWORDS = 16,
  UT_V4_LANE_HITS_MAX = 254
};

/* A cluster in a lane. */
struct ut_cluster {
  uint32_t lane;
  uint32_t strip;  /* strip of the LHCbID */
  uint32_t strips; /* number of strips; 0: not known here (version 3: ut_v3_next_adc) */
  float position;  /* position in strips, 0 at the middle of the first strip */
};

/* The board of a source id, or UT_BOARDS if there is none. */
SL_MATH_FUNCTION uint32_t ut_board(uint32_t source_id) {
  const uint32_t board =
      source_id >> 11 == 0 ? source_id : 2 * ((source_id & 0xFF) - 1) + (source_id >> 10 & 1); /* wraps for 0 */
  return board < UT_BOARDS ? board : (uint32_t)UT_BOARDS;
}

SL_MATH_FUNCTION uint32_t ut_halfword(const uint32_t *words, uint32_t i) {
  return words[i / 2] >> 16 * (i % 2) & 0xFFFF;
}
SL_MATH_FUNCTION uint32_t ut_byte(const uint32_t *words, uint32_t i) { return words[i / 4] >> 8 * (i % 4) & 0xFF; }

/* -------------------------------------------------------------------------------------------------- version 3 */

SL_MATH_FUNCTION uint32_t ut_v3_count(const uint32_t *words) { return words[0] & 0xFFFF; }

SL_MATH_FUNCTION struct ut_cluster ut_v3_cluster(const uint32_t *words, uint32_t i) {
  const uint32_t halfword = ut_halfword(words, 2 + i), channel = halfword >> 2 & 0xFFF;
  struct ut_cluster c;
  c.lane = channel / UT_SECTOR_STRIPS;
  c.strip = channel % UT_SECTOR_STRIPS;
  c.strips = 0;
  c.position = (float)c.strip + 0.25f * (float)(halfword & 3);
  return c;
}

SL_MATH_FUNCTION enum ut_bank_fault ut_v3_fault(const uint32_t *words, uint32_t bytes) {
  if (bytes < 4) return UT_BANK_TOO_SHORT;
  const uint32_t count = ut_v3_count(words);
  if (4 + 2 * count > bytes) return UT_BANK_COUNT;
  for (uint32_t i = 0; i < count; i++)
    if (ut_v3_cluster(words, i).lane >= UT_BOARD_LANES) return UT_BANK_NO_LANE;
  return UT_BANK_FINE;
}

/* ADC counts of a cluster of version 3. */
struct ut_v3_adc {
  int32_t neighbours; /* sum of the two neighbouring strips */
  uint32_t strips, sum;
};

/* Offset of the ADC bytes of the first cluster. */
SL_MATH_FUNCTION uint32_t ut_v3_adc_begin(const uint32_t *words) { return 4 + 4 * ((ut_v3_count(words) + 1) / 2); }

/* Reads the ADC bytes of the next cluster from offset *at on and advances *at. Returns 0 if the payload ends too early.
 */
SL_MATH_FUNCTION int ut_v3_next_adc(const uint32_t *words, uint32_t bytes, uint32_t *at, struct ut_v3_adc *adc) {
  uint32_t i = *at, last = 0;
  if (i >= bytes) return 0;
  adc->neighbours = (int32_t)(ut_byte(words, i) ^ 0x80) - 0x80; /* signed */
  adc->strips = adc->sum = 0;
  for (i++; i < bytes && !last; i++) {
    const uint32_t byte = ut_byte(words, i);
    adc->strips++;
    adc->sum += byte & 0x7F;
    last = byte >> 7;
  }
  *at = i;
  return (int)last;
}

/* -------------------------------------------------------------------------------------------------- version 4 */

/* Number of hits of a lane. */
SL_MATH_FUNCTION uint32_t ut_v4_count(const uint32_t *words, uint32_t bytes, uint32_t lane) {
  if (bytes < UT_V4_EMPTY_BYTES) return 0;
  return lane < 4 ? ut_byte(words, 4 + lane) : ut_byte(words, lane - 4);
}

/* Index of the halfword of hit i of a lane: rows of 16 halfwords; the first four are a header or unused, then follow
 * two hits per lane, lane 5 first. */
SL_MATH_FUNCTION uint32_t ut_v4_halfword(uint32_t lane, uint32_t i) {
  return UT_V4_ROW_HALFWORDS * (i / 2) + 4 + 2 * (UT_BOARD_LANES - 1 - lane) + i % 2;
}
SL_MATH_FUNCTION uint32_t ut_v4_hit(const uint32_t *words, uint32_t lane, uint32_t i) {
  return ut_halfword(words, ut_v4_halfword(lane, i));
}
SL_MATH_FUNCTION uint32_t ut_v4_hit_strip(uint32_t hit) { return hit >> 5 & 0x1FF; }
SL_MATH_FUNCTION uint32_t ut_v4_hit_adc(uint32_t hit) { return hit & 0x1F; }

SL_MATH_FUNCTION enum ut_bank_fault ut_v4_fault(const uint32_t *words, uint32_t bytes) {
  for (uint32_t lane = 0; lane < UT_BOARD_LANES; lane++) {
    const uint32_t count = ut_v4_count(words, bytes, lane);
    if (count > UT_V4_LANE_HITS_MAX) return UT_BANK_MARKED;
    if (count > 0 && 2 * ut_v4_halfword(lane, count - 1) + 2 > bytes) return UT_BANK_COUNT;
  }
  return UT_BANK_FINE;
}

/* Reads the next cluster of a lane with `count` hits from hit *i on and advances *i: a run of adjacent strips, at their
 * mean weighted by ADC. Returns 0 if there is none. */
SL_MATH_FUNCTION int ut_v4_next_cluster(const uint32_t *words, uint32_t lane, uint32_t count, uint32_t *i,
                                        struct ut_cluster *c) {
  while (*i < count) {
    uint32_t weight = 0, sum = 0, strips = 0, strip = 0;
    for (; *i < count; (*i)++) {
      const uint32_t hit = ut_v4_hit(words, lane, *i), next = ut_v4_hit_strip(hit), adc = ut_v4_hit_adc(hit);
      if (strips > 0 && next != strip + 1) break;
      strip = next;
      strips++;
      weight += adc;
      sum += adc * strip;
    }
    if (strips > UT_V4_CLUSTER_STRIPS_MAX || weight == 0) continue;
    c->lane = lane;
    c->strip = strips == 1 ? strip : (2 * sum + weight) / (2 * weight);
    c->strips = strips;
    c->position = strips == 1 ? (float)strip : (float)sum / (float)weight;
    return 1;
  }
  return 0;
}

/* ------------------------------------------------------------------------------------------------------- both */

/* Checks the header of a bank and counts its hits. Channels of version 3 are not checked. */
SL_MATH_FUNCTION enum ut_bank_fault ut_bank_header(const uint32_t *words, uint32_t bytes, uint32_t version,
                                                   uint32_t *hits) {
  *hits = 0;
  if (version == 3) {
    if (bytes < 4) return UT_BANK_TOO_SHORT;
    *hits = ut_v3_count(words);
    return 4 + 2 * *hits > bytes ? UT_BANK_COUNT : UT_BANK_FINE;
  }
  if (version != 4) return UT_BANK_NO_VERSION;
  for (uint32_t lane = 0; lane < UT_BOARD_LANES; lane++) *hits += ut_v4_count(words, bytes, lane);
  return ut_v4_fault(words, bytes);
}

SL_MATH_FUNCTION enum ut_bank_fault ut_bank_fault(const uint32_t *words, uint32_t bytes, uint32_t version,
                                                  uint32_t source_id) {
  if (ut_board(source_id) == UT_BOARDS) return UT_BANK_NO_BOARD;
  if (version == 3) return ut_v3_fault(words, bytes);
  return version == 4 ? ut_v4_fault(words, bytes) : UT_BANK_NO_VERSION;
}

/* LHCbID of a strip; `channel`: channel of the lane. Version 4 ignores the strip bits of the channel. */
SL_MATH_FUNCTION uint32_t ut_id(uint32_t version, uint32_t channel, uint32_t strip) {
  return (uint32_t)UT_ID | ((version == 4 ? channel & ~(uint32_t)(UT_SECTOR_STRIPS - 1) : channel) + strip);
}

#endif
