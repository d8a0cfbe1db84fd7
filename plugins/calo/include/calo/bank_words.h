/* bank_words.h: decodes the words of calorimeter banks (README.md, "Banks"), for host code and kernels.
 *
 * Type 21, versions up to 3: a sequence of cards. calo_card_read finds a card or a fault, calo_card_adc returns any of
 * its 32 values. Type 77, versions 4 and 5: three boards of fixed size, calo_board_adc. The cell of a value is
 * calo_geometry.channels[32 * card + channel], where card is code - first card, or card_index[3 * source + board].
 */
#ifndef CALO_BANK_WORDS_H
#define CALO_BANK_WORDS_H

#include "calo/event_model.h"

#include <sluice/math.h>

enum {
  CALO_TYPE_PACKED = 21,
  CALO_TYPE_BOARDS = 77,
  CALO_PACKED_VERSION_MAX = 3,
  CALO_BOARDS_BIG_ENDIAN = 4, /* versions of type 77: byte order of words */
  CALO_BOARDS_LITTLE_ENDIAN = 5
};

/* Faults of a bank: F(name, text). */
#define CALO_BANK_FAULTS(F)                              \
  F(SIZE, "its size is not a multiple of 4 bytes")       \
  F(CUT, "it ends within a card")                        \
  F(LENGTH, "a card's length is not that of its values") \
  F(CODE, "a card's code is not in the geometry")        \
  F(VERSION, "its version is unknown")                   \
  F(BOARDS, "it does not have 39 words")                 \
  F(SOURCE, "its source is not in the geometry")
#define CALO_BANK_FAULT_ENUM_(name, text) CALO_BANK_##name,
enum { CALO_BANK_FINE, CALO_BANK_FAULTS(CALO_BANK_FAULT_ENUM_) CALO_BANK_FAULT_COUNT };

/* --------------------------------------------------------------------------------------------- type 21 */

enum { CALO_SHORT_BITS = 4, CALO_LONG_BITS = 12, CALO_SHORT_ZERO = 8, CALO_LONG_ZERO = 256 };
enum {
  CALO_CARD_ADC_BYTES = 7,
  CALO_CARD_CODE = 14,
  CALO_CARD_CONTROL = 23
}; /* first bits of the fields of the head */

struct calo_card {
  uint32_t code, trigger_bytes;
  uint32_t pattern;     /* bit k: value k has 12 bits */
  uint32_t first_value; /* index of a word of the bank */
};

SL_MATH_FUNCTION uint32_t calo_bit_count(uint32_t mask) {
#if defined(__CUDA_ARCH__)
  return (uint32_t)__popc(mask);
#else
  return (uint32_t)__builtin_popcount(mask);
#endif
}

/* Number of words of 32 values. */
SL_MATH_FUNCTION uint32_t calo_value_words(uint32_t pattern) {
  return (CALO_SHORT_BITS * (uint32_t)CALO_CARD_CHANNELS +
          (CALO_LONG_BITS - CALO_SHORT_BITS) * calo_bit_count(pattern) + 31) /
         32;
}

/* Reads the card at word `at` of a bank of `count` words. Returns the index of the next word, or 0 and a fault. */
SL_MATH_FUNCTION uint32_t calo_card_read(const uint32_t *words, uint32_t count, uint32_t at, struct calo_card *card,
                                         uint32_t *fault) {
  const uint32_t head = words[at], trigger_bytes = head & 0x7f, adc_bytes = head >> CALO_CARD_ADC_BYTES & 0x7f;
  const uint32_t pattern_at = at + 1 + (trigger_bytes + 3) / 4;
  card->code = card->trigger_bytes = card->pattern = card->first_value = 0;
  *fault = CALO_BANK_CUT;
  if (pattern_at >= count) return 0;
  card->code = head >> CALO_CARD_CODE & (CALO_CARDS_MAX - 1);
  card->trigger_bytes = trigger_bytes;
  card->pattern = words[pattern_at];
  card->first_value = pattern_at + 1;
  const uint32_t values = calo_value_words(card->pattern);
  *fault = CALO_BANK_LENGTH;
  if (adc_bytes != 4 * (values + 1)) return 0;
  *fault = CALO_BANK_CUT;
  if (values > count - card->first_value) return 0;
  *fault = CALO_BANK_FINE;
  return card->first_value + values;
}

/* 1 if there is a card with this code that has channels; codes without a card have only zeros. */
SL_MATH_FUNCTION int calo_card_is_known(const uint16_t *channels, uint32_t first_card, uint32_t cards, uint32_t code) {
  if (code - first_card >= cards) return 0;
  const uint16_t *own = channels + CALO_CARD_CHANNELS * (code - first_card);
  return own[0] != own[1] || own[0] >= CALO_CELLS;
}

/* Values are contiguous, least bits first. */
SL_MATH_FUNCTION int32_t calo_card_adc(const uint32_t *words, const struct calo_card *card, uint32_t channel) {
  const uint32_t before = card->pattern & ((1u << channel) - 1u);
  const uint32_t bit = CALO_SHORT_BITS * channel + (CALO_LONG_BITS - CALO_SHORT_BITS) * calo_bit_count(before);
  const uint32_t is_long = card->pattern >> channel & 1, bits = is_long ? CALO_LONG_BITS : CALO_SHORT_BITS;
  const uint32_t *word = words + card->first_value + bit / 32, shift = bit % 32;
  uint32_t value = *word >> shift;
  if (shift + bits > 32) value |= word[1] << (32 - shift);
  value &= (1u << bits) - 1u;
  return (int32_t)value - (is_long ? CALO_LONG_ZERO : CALO_SHORT_ZERO);
}

/* Checks a bank of type 21; `words`: its payload. Returns CALO_BANK_FINE or a fault. */
SL_MATH_FUNCTION uint32_t calo_packed_fault(const uint32_t *words, uint32_t size_bytes, const uint16_t *channels,
                                            uint32_t first_card, uint32_t cards) {
  const uint32_t count = size_bytes / 4;
  uint32_t fault = size_bytes % 4 == 0 ? CALO_BANK_FINE : CALO_BANK_SIZE;
  struct calo_card card;
  for (uint32_t at = 0; fault == CALO_BANK_FINE && at < count;) {
    at = calo_card_read(words, count, at, &card, &fault);
    if (fault == CALO_BANK_FINE && !calo_card_is_known(channels, first_card, cards, card.code)) fault = CALO_BANK_CODE;
  }
  return fault;
}

/* --------------------------------------------------------------------------------------------- type 77 */

enum {
  CALO_SUBSYSTEM = 11, /* upper 5 bits of the source id; the hadronic calorimeter has 12 */
  CALO_SUBSYSTEM_SHIFT = 11,
  CALO_BOARD_SKIPPED = 3, /* words of the trigger at the beginning */
  CALO_BOARD_WORDS = 12,
  CALO_BANK_WORDS = CALO_BOARD_SKIPPED + CALO_BANK_CARDS * CALO_BOARD_WORDS,
  CALO_GROUP_CHANNELS = 8, /* channels per fibre */
  CALO_GROUP_WORDS = 3
};

SL_MATH_FUNCTION int calo_source_is_ecal(uint32_t source_id) {
  return source_id >> CALO_SUBSYSTEM_SHIFT == CALO_SUBSYSTEM;
}

/* Index of the source in the geometry. */
SL_MATH_FUNCTION uint32_t calo_source_number(uint32_t source_id) { return source_id & (CALO_SOURCES_MAX - 1); }

SL_MATH_FUNCTION uint32_t calo_swap_bytes(uint32_t word) {
  return word << 24 | (word & 0xff00u) << 8 | (word >> 8 & 0xff00u) | word >> 24;
}

SL_MATH_FUNCTION uint32_t calo_board_word(const uint32_t *words, uint32_t version, uint32_t board, uint32_t index) {
  const uint32_t word = words[CALO_BOARD_SKIPPED + CALO_BOARD_WORDS * board + index];
  return version == CALO_BOARDS_BIG_ENDIAN ? calo_swap_bytes(word) : word;
}

/* 12-bit values are contiguous, most bits first. */
SL_MATH_FUNCTION int32_t calo_board_adc(const uint32_t *words, uint32_t version, uint32_t board, uint32_t channel) {
  const uint32_t bit = CALO_LONG_BITS * channel, index = bit / 32, shift = bit % 32;
  uint64_t both = (uint64_t)calo_board_word(words, version, board, index) << 32;
  if (shift + CALO_LONG_BITS > 32) both |= calo_board_word(words, version, board, index + 1);
  return (int32_t)(both >> (64 - CALO_LONG_BITS - shift) & 0xfff) - CALO_LONG_ZERO;
}

/* 1 if the fibre is switched off: its 8 channels alternate between 0xfff and 0, and must be ignored. */
SL_MATH_FUNCTION int calo_group_is_off(const uint32_t *words, uint32_t version, uint32_t board, uint32_t group) {
  const uint32_t first = CALO_GROUP_WORDS * group;
  return calo_board_word(words, version, board, first) == 0xfff000ffu &&
         calo_board_word(words, version, board, first + 1) == 0xf000fff0u &&
         calo_board_word(words, version, board, first + 2) == 0x00fff000u;
}

/* Checks a bank of type 77 of this calorimeter. Returns CALO_BANK_FINE or a fault. */
SL_MATH_FUNCTION uint32_t calo_boards_fault(uint32_t version, uint32_t source_id, uint32_t size_bytes,
                                            uint32_t sources) {
  if (version != CALO_BOARDS_BIG_ENDIAN && version != CALO_BOARDS_LITTLE_ENDIAN) return CALO_BANK_VERSION;
  if (size_bytes != 4 * CALO_BANK_WORDS) return CALO_BANK_BOARDS;
  return calo_source_number(source_id) < sources ? CALO_BANK_FINE : CALO_BANK_SOURCE;
}

/* Energy of a value, MeV. */
SL_MATH_FUNCTION float calo_energy(float gain, float pedestal, int32_t adc) { return gain * ((float)adc - pedestal); }

#endif
