/* calo.decode: values of the calorimeter's cells, from raw banks of type 21 or 77 (README.md, "Banks").
 *   1. One thread per bank goes from card to card, checks the cards and notes where their values begin.
 *   2. 32 threads per card decode one value each and store it at its cell in shared memory. A CPU thread decodes four
 *      values at a time.
 *   3. Copy the event's 12 kB in order.
 * Determinism: a card may occur once, so each cell has at most one value, independent of the order.
 * Cost: reads 8 kB per event and 12 kB of tables shared by all events; writes 12 kB per event.
 */
#include "calo/bank_words.h"
#include "calo/raw_banks.h"

#include <sluice/kernel.h>

/* Errors in addition to those of bank_words.h, which keep their numbers as codes. */
enum { CALO_DECODE_TWO_CARDS = CALO_BANK_FAULT_COUNT };

#define CALO_DECODE_FAULT_(name, text) \
  {CALO_BANK_##name, 0, "a calorimeter bank is refused: " text " (detail: its source id)"},
static const struct sl_event_error decode_errors[] = {CALO_BANK_FAULTS(CALO_DECODE_FAULT_){
    CALO_DECODE_TWO_CARDS, 0, "a card occurs twice in the calorimeter banks (detail: its code)"}};

#define SL_ARGS decode_args
#define DECODE(M)                                                                                               \
  M(IN, banks, calo_banks, "offsets source_id type version size_bytes first_word payload",                      \
    "calorimeter banks of an event, in any order")                                                              \
  M(IN, geometry, calo_geometry, "numbers channels card_index", "cells of the cards, and cards of the sources") \
  M(OUT, cells, calo_cells, "values of all cells")                                                              \
  M(TABLE, fours, u16, "for each four values of a card: the first cell if the cells are consecutive, else 65535")
SL_ARGUMENTS(decode, DECODE);

/* A block is one thread, which needs no shared memory for values. */
#if defined(SL_TARGET_CPU)
enum { IS_ALONE = 1 };
#else
enum { IS_ALONE = 0 };
#endif

enum { CARD_FOURS = CALO_CARD_CHANNELS / 4 };

/* Cards of an event, by index in `channels`: 1 + word in the slice's payloads at which the card begins (0: missing),
 * and its packing. */
enum { PACKED, BOARD_BIG_ENDIAN = CALO_BOARDS_BIG_ENDIAN, BOARD_LITTLE_ENDIAN = CALO_BOARDS_LITTLE_ENDIAN };
struct event_cards {
  uint32_t begin[CALO_CARDS_MAX];
  uint8_t packing[CALO_CARDS_MAX];
};

/* ------------------------------------------------------------------------------------------------------- cards */

/* 1 if there is a card at this index in `channels`. */
static SL_DEVICE int is_known(const struct decode_args *a, uint32_t card) {
  return calo_card_is_known(a->geometry.channels, 0, a->geometry.numbers[CALO_CARDS], card);
}

/* Notes a card. Returns 1 if the card occurs twice, which refuses the event whichever bank is first. */
static SL_DEVICE uint32_t note_card(const struct decode_args *a, uint32_t event, uint32_t card, uint32_t word,
                                    uint32_t packing, struct event_cards *cards) {
  const uint32_t is_first = atomicExch(&cards->begin[card], word + 1) == 0;
  if (is_first) {
    cards->packing[card] = (uint8_t)packing;
    return 0;
  }
  sl_event_fail(&a->events, event, CALO_DECODE_TWO_CARDS, a->geometry.numbers[CALO_FIRST_CARD] + card);
  return 1;
}

/* Notes the cards of a bank of type 21. Returns 1 if the event is refused. */
static SL_DEVICE uint32_t note_packed(const struct decode_args *a, uint32_t event, uint32_t bank,
                                      struct event_cards *cards) {
  const uint32_t first = a->banks.first_word[bank], bytes = a->banks.size_bytes[bank], count = bytes / 4;
  const uint32_t first_card = a->geometry.numbers[CALO_FIRST_CARD];
  const uint32_t *words = a->banks.payload + first;
  uint32_t fault = bytes % 4 == 0 ? CALO_BANK_FINE : CALO_BANK_SIZE, wrong = 0;
  if (a->banks.version[bank] > CALO_PACKED_VERSION_MAX) fault = CALO_BANK_VERSION;
  for (uint32_t at = 0; fault == CALO_BANK_FINE && at < count;) {
    struct calo_card card;
    at = calo_card_read(words, count, at, &card, &fault);
    if (fault != CALO_BANK_FINE) break;
    if (is_known(a, card.code - first_card))
      wrong |= note_card(a, event, card.code - first_card, first + card.first_value - 1, PACKED, cards);
    else
      fault = CALO_BANK_CODE;
  }
  if (fault != CALO_BANK_FINE) sl_event_fail(&a->events, event, fault, a->banks.source_id[bank]);
  return wrong | (fault != CALO_BANK_FINE ? 1u : 0u);
}

/* Notes the cards of a bank of type 77; ignores banks of the hadronic calorimeter. Returns 1 if the event is refused.
 */
static SL_DEVICE uint32_t note_boards(const struct decode_args *a, uint32_t event, uint32_t bank,
                                      struct event_cards *cards) {
  const uint32_t source_id = a->banks.source_id[bank], version = a->banks.version[bank];
  uint32_t wrong = 0;
  if (!calo_source_is_ecal(source_id)) return 0;
  const uint32_t fault =
      calo_boards_fault(version, source_id, a->banks.size_bytes[bank], a->geometry.numbers[CALO_SOURCES]);
  if (fault != CALO_BANK_FINE) {
    sl_event_fail(&a->events, event, fault, source_id);
    return 1;
  }
  for (uint32_t board = 0; board < CALO_BANK_CARDS; board++) {
    const int32_t card = a->geometry.card_index[CALO_BANK_CARDS * calo_source_number(source_id) + board];
    if (card < 0 || card == CALO_NO_CARD || !is_known(a, (uint32_t)card)) continue;
    const uint32_t word = a->banks.first_word[bank] + CALO_BOARD_WORDS * board;
    wrong |= note_card(a, event, (uint32_t)card, word, version, cards);
  }
  return wrong;
}

/* Notes all cards of an event. Returns, to all threads of the block, a value above 0 if the event is refused. */
static SL_DEVICE uint32_t note_cards(const struct decode_args *a, uint32_t event, struct event_cards *cards) {
  uint32_t wrong = 0;
  for (uint32_t i = threadIdx.x; i < CALO_CARDS_MAX; i += blockDim.x) cards->begin[i] = 0;
  __syncthreads();
  for (uint32_t i = a->banks.offsets[event] + threadIdx.x; i < a->banks.offsets[event + 1]; i += blockDim.x)
    wrong |= a->banks.type[i] == CALO_TYPE_PACKED ? note_packed(a, event, i, cards) : note_boards(a, event, i, cards);
  return sl_block_sum_u32(wrong);
}

/* ------------------------------------------------------------------------------------------------------ values */

static SL_DEVICE void put(int16_t *adc, uint32_t cell, int32_t value) {
  if (cell < CALO_CELLS) adc[cell] = (int16_t)value;
}

#if defined(SL_TARGET_CPU)
/* Decoding of four values with a given pattern of lengths. `shift` and `mask` move each value to its own 16 bits,
 * `zero` is subtracted. `bits`: total length. */
struct four_values {
  uint64_t shift[4], mask[4], zero;
  uint32_t bits;
};
enum { LANE_BITS = 16 };
#define LANES_SIGN          0x8000800080008000u
#define CHOICE_(p, i, s, l) ((uint64_t)((p) >> (i)&1 ? (l) : (s)))
#define BITS_(p, i)         CHOICE_(p, i, CALO_SHORT_BITS, CALO_LONG_BITS)
#define MASK_(p, i)         (CHOICE_(p, i, (1 << CALO_SHORT_BITS) - 1, (1 << CALO_LONG_BITS) - 1) << LANE_BITS * (i))
#define ZERO_(p, i)         (CHOICE_(p, i, CALO_SHORT_ZERO, CALO_LONG_ZERO) << LANE_BITS * (i))
#define FOUR_(p)                                                                                                     \
  {                                                                                                                  \
    {0, LANE_BITS - BITS_(p, 0), 2 * LANE_BITS - BITS_(p, 0) - BITS_(p, 1),                                          \
     3 * LANE_BITS - BITS_(p, 0) - BITS_(p, 1) - BITS_(p, 2)},                                                       \
        {MASK_(p, 0), MASK_(p, 1), MASK_(p, 2), MASK_(p, 3)}, ZERO_(p, 0) | ZERO_(p, 1) | ZERO_(p, 2) | ZERO_(p, 3), \
        (uint32_t)(BITS_(p, 0) + BITS_(p, 1) + BITS_(p, 2) + BITS_(p, 3))                                            \
  }
static const struct four_values four_values[16] = {FOUR_(0),  FOUR_(1),  FOUR_(2),  FOUR_(3), FOUR_(4),  FOUR_(5),
                                                   FOUR_(6),  FOUR_(7),  FOUR_(8),  FOUR_(9), FOUR_(10), FOUR_(11),
                                                   FOUR_(12), FOUR_(13), FOUR_(14), FOUR_(15)};

/* Decodes a card of type 21 with pattern `words[0]`, four values at a time: they have up to 48 bits, which are within 8
 * bytes from the first value, or within the last 8 bytes of the card. `fours`: see DECODE. Payloads and host are
 * little-endian. No 16-bit lane borrows from the next, because its highest bit is set. */
static void take_packed_in_order(const uint32_t *words, const uint16_t *cells, const uint16_t *fours, int16_t *adc) {
  const uint32_t pattern = words[0], last = 4 * (1 + calo_value_words(pattern)) - (uint32_t)sizeof(uint64_t);
  const unsigned char *bytes = (const unsigned char *)words;
  for (uint32_t k = 0, bit = 32; k < CALO_CARD_CHANNELS; k += 4) {
    const struct four_values *f = &four_values[pattern >> k & 15];
    const uint32_t at = bit / 8 < last ? bit / 8 : last;
    int16_t value[4];
    uint64_t all;
    memcpy(&all, bytes + at, sizeof all);
    all >>= bit - 8 * at;
    all = (all & f->mask[0]) | (all << f->shift[1] & f->mask[1]) | (all << f->shift[2] & f->mask[2]) |
          (all << f->shift[3] & f->mask[3]);
    all = ((all | LANES_SIGN) - f->zero) ^ LANES_SIGN;
    memcpy(value, &all, sizeof value);
    if (fours[k / 4] < CALO_CELLS)
      memcpy(adc + fours[k / 4], value, sizeof value);
    else
      for (uint32_t i = 0; i < 4; i++) put(adc, cells[k + i], value[i]);
    bit += f->bits;
  }
}
#endif

/* Decodes one value of a card. */
static SL_DEVICE void take_value(const uint32_t *words, uint32_t packing, uint32_t channel, uint32_t cell,
                                 int16_t *adc) {
  if (packing == PACKED) {
    struct calo_card card;
    card.code = card.trigger_bytes = 0;
    card.pattern = words[0];
    card.first_value = 1;
    put(adc, cell, calo_card_adc(words, &card, channel));
  } else if (!calo_group_is_off(words, packing, 0, channel / CALO_GROUP_CHANNELS)) {
    put(adc, cell, calo_board_adc(words, packing, 0, channel));
  }
}

static SL_DEVICE void take_cards(const struct decode_args *a, const struct event_cards *cards, int16_t *adc) {
  const uint32_t count = a->geometry.numbers[CALO_CARDS], lanes = SL_GROUP(CALO_CARD_CHANNELS);
  for (uint32_t card = threadIdx.x / lanes; card < count; card += blockDim.x / lanes) {
    const uint32_t begin = cards->begin[card];
    if (begin == 0) continue;
    const uint32_t *words = a->banks.payload + begin - 1, packing = cards->packing[card];
    const uint16_t *cells = a->geometry.channels + CALO_CARD_CHANNELS * card;
#if defined(SL_TARGET_CPU)
    if (packing == PACKED) {
      take_packed_in_order(words, cells, a->fours + CARD_FOURS * card, adc);
      continue;
    }
#endif
    for (uint32_t k = sl_group_lane(CALO_CARD_CHANNELS); k < CALO_CARD_CHANNELS; k += lanes)
      take_value(words, packing, k, cells[k], adc);
  }
}

/* ------------------------------------------------------------------------------------------------------ kernel */

/* Two cells per word, the unit of the copy. */
enum { CELL_WORDS = CALO_CELLS / 2 };
#define NO_ADC_TWICE 0x80008000u

/* Copies the cells, unless a CPU thread has written them in place. */
static SL_DEVICE void copy_cells(uint32_t *to, const uint32_t *from) {
  if (to == from) return;
  for (uint32_t i = threadIdx.x; i < CELL_WORDS; i += blockDim.x) to[i] = from[i];
}

SL_KERNEL(decode_cells, struct decode_args) {
  __shared__ struct event_cards cards;
  __shared__ uint32_t staged[CELL_WORDS];
  SL_FOR_EVENTS (event, a.events) {
    uint32_t *to = (uint32_t *)(void *)a.cells.adc + (size_t)event * CELL_WORDS;
    uint32_t *words = IS_ALONE ? to : staged;
    for (uint32_t i = threadIdx.x; i < CELL_WORDS; i += blockDim.x) words[i] = NO_ADC_TWICE;
    const uint32_t is_refused = note_cards(&a, event, &cards);
    if (!is_refused) take_cards(&a, &cards, (int16_t *)(void *)words);
    __syncthreads();
    copy_cells(to, words);
    __syncthreads(); /* shared memory is free for the next event */
  }
}

/* ------------------------------------------------------------------------------------------------- preparation */

/* Refuses a geometry with a cell at two channels, even of different cards. */
static int check_cards(const struct sl_services *s, const struct calo_geometry_view *g) {
  const uint32_t cards = g->numbers[CALO_CARDS];
  uint8_t has_card[CALO_CELLS] = {0};
  for (uint32_t i = 0; i < CALO_CARD_CHANNELS * cards; i++) {
    const uint32_t cell = g->channels[i];
    if (!calo_card_is_known(g->channels, 0, cards, i / CALO_CARD_CHANNELS) || cell >= CALO_CELLS) continue;
    if (has_card[cell]) {
      s->message(s->context, SL_ERROR, "two channels of the geometry read cell %u", cell);
      return SL_EINVAL;
    }
    has_card[cell] = 1;
  }
  return SL_OK;
}

static int prepare(const struct sl_services *s, void *args) {
  const struct calo_geometry_view *g = &((const struct decode_args *)args)->geometry;
  const uint32_t fours = CARD_FOURS * g->numbers[CALO_CARDS];
  uint16_t *first = (uint16_t *)s->make_table(s->context, "fours", fours);
  if (!first) return SL_ENOMEM;
  for (uint32_t i = 0; i < fours; i++) {
    const uint16_t *cells = g->channels + 4 * i;
    const int follow = cells[1] == cells[0] + 1 && cells[2] == cells[0] + 2 && cells[3] == cells[0] + 3;
    first[i] = follow && cells[3] < CALO_CELLS ? cells[0] : UINT16_MAX;
  }
  return check_cards(s, g);
}

static int run(const struct sl_launch *l, const struct decode_args *a) {
  return SL_LAUNCH(l, decode_cells, SL_PER_EVENT, *a);
}

SL_ALGORITHM(decode, "decodes the values of the calorimeter's cells from raw banks", 256, run,
             SL_ERRORS_OF(decode_errors), SL_PREPARE(prepare));
