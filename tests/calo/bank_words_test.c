/* bank_words_test.c: bank_words.h on the cards of sample events, and on wrong banks. */
#include "calo/bank_words.h"

#include "sample.h"

#include <sluice/testing.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { EVENTS = 6, WORDS_MAX = 16384, ALL_LONG_WORDS = 12 };

static struct sl_test *geometry;
static const uint16_t *channels;
static const uint32_t *numbers;

static int begin(void **state) {
  (void)state;
  geometry = sl_test_new(CALO_PLUGIN, "geometry");
  assert_int_equal(sl_test_run(geometry), SL_OK);
  channels = sl_test_output(geometry, "geometry", "channels");
  numbers = sl_test_output(geometry, "geometry", "numbers");
  return 0;
}
static int end(void **state) {
  (void)state;
  sl_test_free(geometry);
  return 0;
}

static uint32_t fault_of(const uint32_t *words, uint32_t size_bytes) {
  return calo_packed_fault(words, size_bytes, channels, numbers[CALO_FIRST_CARD], numbers[CALO_CARDS]);
}

/* Values of an event's cells, and how often each was read. */
struct event {
  int32_t adc[CALO_CELLS];
  uint32_t seen[CALO_CELLS];
};

static void add_bank(void *context, uint32_t number, uint16_t source_id, uint8_t version, const unsigned char *payload,
                     uint16_t size_bytes) {
  static uint32_t words[WORDS_MAX];
  struct event *e = (struct event *)context + number;
  struct calo_card card;
  uint32_t fault;
  (void)source_id;
  assert_true(version <= CALO_PACKED_VERSION_MAX);
  memcpy(words, payload, size_bytes);
  assert_int_equal(fault_of(words, size_bytes), CALO_BANK_FINE);
  for (uint32_t at = 0; at < size_bytes / 4u;) {
    at = calo_card_read(words, size_bytes / 4u, at, &card, &fault);
    assert_int_equal(fault, CALO_BANK_FINE);
    for (uint32_t k = 0; k < CALO_CARD_CHANNELS; k++) {
      const uint32_t cell = channels[CALO_CARD_CHANNELS * (card.code - numbers[CALO_FIRST_CARD]) + k];
      assert_true(cell < CALO_CELLS);
      e->adc[cell] = calo_card_adc(words, &card, k);
      e->seen[cell]++;
    }
  }
}

/* Sums of energy from an independent reading of the format's description. */
static void each_cell_of_the_sample_events_is_read_once_with_the_right_energy(void **state) {
  (void)state;
  static const double energies[EVENTS] = {2190170, 544366, 873814, 818200, 1251200, 335422};
  static struct event events[EVENTS];
  const char *path = sample_path("lhcb/minbias.mdf");
  if (!path) skip();
  struct sample sample = sample_open(path);
  assert_int_equal(sample.event_count, EVENTS);
  sample_for_banks(&sample, CALO_TYPE_PACKED, add_bank, events);
  sample_close(&sample);
  const float *gain = sl_test_output(geometry, "geometry", "gain");
  const float *pedestal = sl_test_output(geometry, "geometry", "pedestal");
  for (uint32_t i = 0; i < EVENTS; i++) {
    double energy = 0;
    for (uint32_t cell = 0; cell < CALO_CELLS; cell++) {
      assert_int_equal(events[i].seen[cell], 1);
      energy += (double)calo_energy(gain[cell], pedestal[0], events[i].adc[cell]);
    }
    if (fabs(energy - energies[i]) > 50) fail_msg("event %u: %.0f MeV instead of %.0f", i, energy, energies[i]);
  }
}

/* A card of values -8, -7... 7 and again, except those of `pattern`, which are 100 times their channel. Without a
 * trigger part. Returns the number of words. */
static uint32_t make_card(uint32_t code, uint32_t pattern, uint32_t *words) {
  uint32_t bit = 0;
  memset(words, 0, 4 * (2 + ALL_LONG_WORDS));
  words[0] = 4 * (1 + calo_value_words(pattern)) << CALO_CARD_ADC_BYTES | code << CALO_CARD_CODE;
  words[1] = pattern;
  for (uint32_t k = 0; k < CALO_CARD_CHANNELS; k++) {
    const uint32_t is_long = pattern >> k & 1, value = is_long ? 100 * k + CALO_LONG_ZERO : k % 16;
    for (uint32_t i = 0; i < (is_long ? 12u : 4u); i++, bit++) words[2 + bit / 32] |= (value >> i & 1) << bit % 32;
  }
  return 2 + calo_value_words(pattern);
}

static void values_of_4_and_12_bits_are_read(void **state) {
  (void)state;
  static const uint32_t patterns[] = {0, 1, 0x80000000u, 0xaaaaaaaau, 0x0ff00ff3u, 0xffffffffu};
  uint32_t words[2 + ALL_LONG_WORDS], fault;
  struct calo_card card;
  for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
    const uint32_t count = make_card(300, patterns[i], words);
    assert_int_equal(calo_card_read(words, count, 0, &card, &fault), count);
    assert_true(card.code == 300 && fault_of(words, 4 * count) == CALO_BANK_FINE);
    for (uint32_t k = 0; k < CALO_CARD_CHANNELS; k++)
      assert_int_equal(calo_card_adc(words, &card, k), patterns[i] >> k & 1 ? 100 * (int)k : (int)(k % 16) - 8);
  }
}

static void invalid_banks_of_cards_are_refused(void **state) {
  (void)state;
  uint32_t words[3 * (2 + ALL_LONG_WORDS)];
  const uint32_t first = make_card(129, 5, words), count = first + make_card(349, 0, words + first);
  assert_int_equal(fault_of(words, 4 * count), CALO_BANK_FINE);
  assert_int_equal(fault_of(words, 0), CALO_BANK_FINE);
  assert_int_equal(fault_of(words, 4 * count - 1), CALO_BANK_SIZE);
  for (uint32_t cut = 1; cut < count; cut++)
    assert_int_equal(fault_of(words, 4 * cut), cut == first ? CALO_BANK_FINE : CALO_BANK_CUT);
  words[1] |= 0xf0; /* more values have 12 bits */
  assert_int_equal(fault_of(words, 4 * count), CALO_BANK_LENGTH);
  static const uint32_t unknown[] = {0, 128, 142, 350, 511};
  for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
    make_card(unknown[i], 5, words);
    assert_int_equal(fault_of(words, 4 * first), CALO_BANK_CODE);
  }
  make_card(176, 5, words); /* a spare card */
  assert_int_equal(fault_of(words, 4 * first), CALO_BANK_FINE);
  make_card(129, 0, words);
  words[0] |= 0x7f; /* 32 words of the trigger */
  assert_int_equal(fault_of(words, 4 * first), CALO_BANK_CUT);
}

/* Sets values bit by bit, most first, in words of either byte order. */
static void boards_of_both_byte_orders_are_read(void **state) {
  (void)state;
  for (uint32_t version = CALO_BOARDS_BIG_ENDIAN; version <= CALO_BOARDS_LITTLE_ENDIAN; version++) {
    uint32_t words[CALO_BANK_WORDS] = {0};
    for (uint32_t i = 0; i < CALO_BANK_CARDS * CALO_CARD_CHANNELS; i++)
      for (uint32_t bit = 0; bit < 12; bit++) {
        const uint32_t at = 12 * i + bit;
        words[CALO_BOARD_SKIPPED + at / 32] |= ((41 * i + 3) >> (11 - bit) & 1) << (31 - at % 32);
      }
    if (version == CALO_BOARDS_BIG_ENDIAN)
      for (uint32_t i = 0; i < CALO_BANK_WORDS; i++) words[i] = calo_swap_bytes(words[i]);
    for (uint32_t i = 0; i < CALO_BANK_CARDS * CALO_CARD_CHANNELS; i++)
      assert_int_equal(calo_board_adc(words, version, i / CALO_CARD_CHANNELS, i % CALO_CARD_CHANNELS),
                       41 * (int)i + 3 - 256);
    assert_false(calo_group_is_off(words, version, 1, 2));
  }
}

static void a_disabled_fibre_has_alternating_full_and_zero_values(void **state) {
  (void)state;
  static const unsigned char off[] = {0xff, 0xf0, 0x00, 0xff, 0xf0, 0x00, 0xff, 0xf0, 0x00, 0xff, 0xf0, 0x00};
  uint32_t words[CALO_BANK_WORDS] = {0};
  memcpy(words + CALO_BOARD_SKIPPED + CALO_BOARD_WORDS + 6, off, sizeof off); /* board 1, channels 16 to 23 */
  assert_true(calo_group_is_off(words, CALO_BOARDS_BIG_ENDIAN, 1, 2));
  assert_false(calo_group_is_off(words, CALO_BOARDS_LITTLE_ENDIAN, 1, 2));
  assert_false(calo_group_is_off(words, CALO_BOARDS_BIG_ENDIAN, 1, 1));
  for (uint32_t k = 16; k < 24; k++)
    assert_int_equal(calo_board_adc(words, CALO_BOARDS_BIG_ENDIAN, 1, k), k % 2 ? -256 : 0xfff - 256);
}

static void invalid_banks_of_boards_are_refused(void **state) {
  (void)state;
  const uint32_t source = CALO_SUBSYSTEM << CALO_SUBSYSTEM_SHIFT | 249;
  assert_int_equal(calo_boards_fault(4, source, 156, 250), CALO_BANK_FINE);
  assert_int_equal(calo_boards_fault(5, source, 156, 250), CALO_BANK_FINE);
  assert_int_equal(calo_boards_fault(3, source, 156, 250), CALO_BANK_VERSION);
  assert_int_equal(calo_boards_fault(6, source, 156, 250), CALO_BANK_VERSION);
  assert_int_equal(calo_boards_fault(5, source, 152, 250), CALO_BANK_BOARDS);
  assert_int_equal(calo_boards_fault(5, source, 157, 250), CALO_BANK_BOARDS);
  assert_int_equal(calo_boards_fault(5, source, 156, 249), CALO_BANK_SOURCE);
  assert_true(calo_source_is_ecal(source) && !calo_source_is_ecal(source + 2048) && !calo_source_is_ecal(249));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_cell_of_the_sample_events_is_read_once_with_the_right_energy),
      cmocka_unit_test(values_of_4_and_12_bits_are_read),
      cmocka_unit_test(invalid_banks_of_cards_are_refused),
      cmocka_unit_test(boards_of_both_byte_orders_are_read),
      cmocka_unit_test(a_disabled_fibre_has_alternating_full_and_zero_values),
      cmocka_unit_test(invalid_banks_of_boards_are_refused),
  };
  return cmocka_run_group_tests(tests, begin, end);
}
