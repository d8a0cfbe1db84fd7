/* calo_support.c: see calo_support.h. */
#include "calo_support.h"

struct sl_test *calo_detector;

int calo_begin(void **state) {
  (void)state;
  calo_detector = sl_test_new(CALO_PLUGIN, "geometry");
  return sl_test_run(calo_detector);
}

int calo_end(void **state) {
  (void)state;
  sl_test_free(calo_detector);
  return 0;
}

const void *calo_of(const char *field) { return sl_test_output(calo_detector, "geometry", field); }

struct sl_test *calo_new(const char *algorithm, uint32_t events, const char *geometry_fields) {
  struct sl_test *t = sl_test_new(CALO_PLUGIN, algorithm);
  sl_test_events(t, events);
  give(t, "geometry", calo_detector, "geometry", geometry_fields);
  return t;
}

/* ------------------------------------------------------------------------------------------------------ values */

static uint32_t random_state;
uint32_t random_below(uint32_t n) {
  random_state = random_state * 1664525u + 1013904223u;
  return (uint32_t)((uint64_t)(random_state >> 8) * n >> 24);
}
float random_between(float low, float high) { return low + (high - low) * (float)random_below(1 << 24) / (1 << 24); }

void random_cells(int16_t *adc, uint32_t events, uint32_t rarity, int32_t most) {
  for (uint32_t i = 0; i < events * CALO_CELLS; i++) {
    adc[i] = (int16_t)((int32_t)random_below(12) - 5);
    if (random_below(rarity) == 0) adc[i] = (int16_t)((int32_t)random_below((uint32_t)most + 256) - 255);
    if (random_below(40) == 0) adc[i] = CALO_NO_ADC;
  }
}

/* ------------------------------------------------------------------------------------------------------- banks */

void calo_add(struct calo_case *c, uint8_t type, uint8_t version, uint16_t source_id, const uint32_t *words,
              uint32_t bytes) {
  c->type[c->banks.bank_count] = type;
  banks_add(&c->banks, version, source_id, words, bytes);
}

struct sl_test *calo_decoder(const struct calo_case *c) {
  struct sl_test *t = calo_new("decode", c->banks.event_count, "numbers channels card_index");
  banks_give(t, "banks", &c->banks);
  sl_test_input(t, "banks", "type", c->type, c->banks.bank_count);
  return t;
}

static int32_t value_of(const int16_t *adc, uint32_t card, uint32_t channel) {
  const uint32_t cell = ((const uint16_t *)calo_of("channels"))[CALO_CARD_CHANNELS * card + channel];
  return cell < CALO_CELLS && adc[cell] != CALO_NO_ADC ? adc[cell] : 0;
}

/* Sets the words bit by bit. */
uint32_t pack_card(const int16_t *adc, uint32_t card, uint32_t words[CARD_WORDS_MAX]) {
  uint32_t bit = 64;
  memset(words, 0, CARD_WORDS_MAX * sizeof *words);
  for (uint32_t k = 0; k < CALO_CARD_CHANNELS; k++) {
    const int32_t value = value_of(adc, card, k), is_long = value < -8 || value > 7;
    const uint32_t code = (uint32_t)(value + (is_long ? CALO_LONG_ZERO : CALO_SHORT_ZERO));
    words[1] |= (uint32_t)is_long << k;
    for (uint32_t b = 0; b < (is_long ? 12u : 4u); b++, bit++) words[bit / 32] |= (code >> b & 1) << bit % 32;
  }
  const uint32_t count = (bit + 31) / 32, first = ((const uint32_t *)calo_of("numbers"))[CALO_FIRST_CARD];
  words[0] = 4 * (count - 1) << CALO_CARD_ADC_BYTES | (first + card) << CALO_CARD_CODE;
  return count;
}

static void pack_board(const int16_t *adc, uint32_t card, uint32_t version, uint32_t words[CALO_BOARD_WORDS]) {
  memset(words, 0, CALO_BOARD_WORDS * sizeof *words);
  for (uint32_t k = 0, bit = 0; k < CALO_CARD_CHANNELS; k++) {
    const uint32_t code = (uint32_t)(value_of(adc, card, k) + CALO_LONG_ZERO);
    for (uint32_t b = 12; b-- > 0; bit++) words[bit / 32] |= (code >> b & 1) << (31 - bit % 32);
  }
  for (uint32_t i = 0; version == CALO_BOARDS_BIG_ENDIAN && i < CALO_BOARD_WORDS; i++)
    words[i] = calo_swap_bytes(words[i]);
}

static void add_packed(struct calo_case *c, uint8_t version, const int16_t *adc) {
  enum { BANK_CARDS = 7 };
  const uint32_t *numbers = calo_of("numbers");
  uint32_t words[BANK_CARDS * CARD_WORDS_MAX], count = 0, in_bank = 0;
  uint16_t source = 0;
  for (uint32_t card = 0; card < numbers[CALO_CARDS]; card++) {
    if (calo_card_is_known(calo_of("channels"), 0, numbers[CALO_CARDS], card)) {
      count += pack_card(adc, card, words + count);
      in_bank++;
    }
    if (in_bank < BANK_CARDS && card + 1 < numbers[CALO_CARDS]) continue;
    calo_add(c, CALO_TYPE_PACKED, version, source++, words, 4 * count);
    count = in_bank = 0;
  }
}

void add_event(struct calo_case *c, uint8_t version, const int16_t *adc) {
  const uint32_t *numbers = calo_of("numbers");
  const int32_t *card_index = calo_of("card_index");
  banks_event(&c->banks);
  if (version <= CALO_PACKED_VERSION_MAX) {
    add_packed(c, version, adc);
    return;
  }
  for (uint32_t source = 0; source < numbers[CALO_SOURCES]; source++) {
    uint32_t words[CALO_BANK_WORDS] = {0};
    if (card_index[3 * source] == CALO_NO_CARD) break;
    for (uint32_t k = 0; k < CALO_BANK_CARDS; k++)
      if (card_index[3 * source + k] != CALO_NO_CARD)
        pack_board(adc, (uint32_t)card_index[3 * source + k], version,
                   words + CALO_BOARD_SKIPPED + CALO_BOARD_WORDS * k);
    calo_add(c, CALO_TYPE_BOARDS, version, (uint16_t)(CALO_SUBSYSTEM << CALO_SUBSYSTEM_SHIFT | source), words,
             sizeof words);
  }
}
