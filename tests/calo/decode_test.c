/* decode_test.c: calo.decode on constructed banks, on banks of random values, and on wrong banks. */
#include "calo_support.h"

enum { EVENTS = 3, TWO_CARDS = CALO_BANK_FAULT_COUNT };
static int16_t adc[EVENTS * CALO_CELLS];
static struct calo_case banks;

static int start(void **state) {
  (void)state;
  memset(&banks, 0, sizeof banks);
  return 0;
}

static const int16_t *cells_of(const struct sl_test *t) { return sl_test_output(t, "cells", "adc"); }

/* All possible values; every cell is read out. */
static void make_values(void) {
  random_cells(adc, EVENTS, 8, 3839);
  for (uint32_t i = 0; i < EVENTS * CALO_CELLS; i++)
    if (adc[i] == CALO_NO_ADC) adc[i] = 0;
  adc[0] = -256, adc[1] = 3839, adc[2] = 7, adc[3] = 8, adc[4] = -8, adc[5] = -9;
}

static void every_version_and_block_size_decodes_the_encoded_values(void **state) {
  (void)state;
  static const uint8_t versions[] = {2, 3, 4, 5};
  make_values();
  for (uint32_t v = 0; v < sizeof versions; v++) {
    memset(&banks, 0, sizeof banks);
    for (uint32_t event = 0; event < EVENTS; event++) add_event(&banks, versions[v], adc + event * CALO_CELLS);
    for (uint32_t block = 32; block <= 512; block *= 2) {
      struct sl_test *t = calo_decoder(&banks);
      sl_test_block(t, block);
      assert_int_equal(sl_test_run(t), 0);
      assert_memory_equal(cells_of(t), adc, sizeof adc);
      sl_test_free(t);
    }
  }
}

static void the_trigger_part_of_a_card_is_skipped(void **state) {
  (void)state;
  uint32_t words[CARD_WORDS_MAX], with_trigger[CARD_WORDS_MAX + 3];
  make_values();
  const uint32_t count = pack_card(adc, 20, words);
  with_trigger[0] = words[0] | 9; /* bytes, in three words */
  memset(with_trigger + 1, 0xa5, 3 * sizeof words[0]);
  memcpy(with_trigger + 4, words + 1, (count - 1) * sizeof words[0]);
  banks_event(&banks.banks);
  calo_add(&banks, CALO_TYPE_PACKED, 2, 0, with_trigger, 4 * (count + 3));
  struct sl_test *t = calo_decoder(&banks);
  assert_int_equal(sl_test_run(t), 0);
  uint32_t read = 0;
  for (uint32_t cell = 0; cell < CALO_CELLS; cell++) {
    if (cells_of(t)[cell] == CALO_NO_ADC) continue;
    assert_int_equal(cells_of(t)[cell], adc[cell]);
    read++;
  }
  assert_int_equal(read, CALO_CARD_CHANNELS);
  sl_test_free(t);
}

static void cells_without_a_bank_are_not_read_out(void **state) {
  (void)state;
  static const uint32_t off[] = {0xfff000ffu, 0xf000fff0u, 0x00fff000u};
  uint32_t words[CALO_BANK_WORDS] = {0};
  memcpy(words + CALO_BOARD_SKIPPED + CALO_BOARD_WORDS + 6, off, sizeof off); /* third fibre of the second card */
  banks_event(&banks.banks);
  banks_event(&banks.banks);
  calo_add(&banks, CALO_TYPE_BOARDS, 5, CALO_SUBSYSTEM << CALO_SUBSYSTEM_SHIFT, words, sizeof words);
  calo_add(&banks, CALO_TYPE_BOARDS, 5, (CALO_SUBSYSTEM + 1) << CALO_SUBSYSTEM_SHIFT, words,
           8); /* a bank of the hadronic calorimeter */
  struct sl_test *t = calo_decoder(&banks);
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(sl_test_event_error(t, 0) | sl_test_event_error(t, 1), 0);
  uint32_t read = 0, silent = 0;
  for (uint32_t cell = 0; cell < CALO_CELLS; cell++) {
    assert_int_equal(cells_of(t)[cell], CALO_NO_ADC);
    read += cells_of(t)[CALO_CELLS + cell] == -CALO_LONG_ZERO;
  }
  assert_int_equal(read, 3 * CALO_CARD_CHANNELS - 8);
  const uint16_t *second =
      (const uint16_t *)calo_of("channels") + CALO_CARD_CHANNELS * ((const int32_t *)calo_of("card_index"))[1];
  for (uint32_t k = 16; k < 24; k++) silent += cells_of(t)[CALO_CELLS + second[k]] == CALO_NO_ADC;
  assert_int_equal(silent, 8);
  sl_test_free(t);
}

/* --------------------------------------------------------------------------------------------------- bad banks */

/* Adds a wrong bank to the second of three valid events. */
static void assert_refused(uint8_t type, uint8_t version, uint16_t source_id, const uint32_t *words, uint32_t bytes,
                           uint32_t code) {
  memset(&banks, 0, sizeof banks);
  make_values();
  add_event(&banks, 2, adc);
  banks_event(&banks.banks);
  calo_add(&banks, type, version, source_id, words, bytes);
  add_event(&banks, 4, adc + 2 * CALO_CELLS);
  for (uint32_t block = 32; block <= 256; block *= 8) {
    struct sl_test *t = calo_decoder(&banks);
    sl_test_block(t, block);
    assert_int_equal(sl_test_run(t), 0);
    assert_int_equal(sl_test_event_error(t, 0) | sl_test_event_error(t, 2), 0);
    assert_int_equal(sl_test_event_error(t, 1), (uint64_t)code << 32 | source_id);
    assert_memory_equal(cells_of(t), adc, CALO_CELLS * sizeof adc[0]);
    assert_memory_equal(cells_of(t) + 2 * CALO_CELLS, adc + 2 * CALO_CELLS, CALO_CELLS * sizeof adc[0]);
    for (uint32_t cell = 0; cell < CALO_CELLS; cell++) assert_int_equal(cells_of(t)[CALO_CELLS + cell], CALO_NO_ADC);
    sl_test_free(t);
  }
}

static void an_invalid_bank_refuses_its_event(void **state) {
  (void)state;
  const uint16_t ecal = CALO_SUBSYSTEM << CALO_SUBSYSTEM_SHIFT;
  uint32_t words[2 * CALO_BANK_WORDS] = {0};
  make_values();
  const uint32_t count = pack_card(adc, 20, words), head = words[0], pattern = words[1];
  assert_refused(CALO_TYPE_PACKED, 2, 7, words, 4 * count - 1, CALO_BANK_SIZE);
  assert_refused(CALO_TYPE_PACKED, 2, 7, words, 4 * count - 4, CALO_BANK_CUT);
  assert_refused(CALO_TYPE_PACKED, 2, 7, words, 4, CALO_BANK_CUT);
  assert_refused(CALO_TYPE_PACKED, 4, 7, words, 4 * count, CALO_BANK_VERSION);
  words[1] = ~pattern;
  assert_refused(CALO_TYPE_PACKED, 2, 7, words, 4 * count, CALO_BANK_LENGTH);
  words[1] = pattern;
  words[0] = head | 511u << CALO_CARD_CODE;
  assert_refused(CALO_TYPE_PACKED, 2, 7, words, 4 * count, CALO_BANK_CODE);
  words[0] = head & ~(511u << CALO_CARD_CODE);
  assert_refused(CALO_TYPE_PACKED, 2, 7, words, 4 * count, CALO_BANK_CODE);
  words[0] = head;
  assert_refused(CALO_TYPE_BOARDS, 5, ecal | 3, words, 4 * CALO_BANK_WORDS - 4, CALO_BANK_BOARDS);
  assert_refused(CALO_TYPE_BOARDS, 5, ecal | 3, words, 4 * CALO_BANK_WORDS + 4, CALO_BANK_BOARDS);
  assert_refused(CALO_TYPE_BOARDS, 3, ecal | 3, words, 4 * CALO_BANK_WORDS, CALO_BANK_VERSION);
  assert_refused(CALO_TYPE_BOARDS, 6, ecal | 3, words, 4 * CALO_BANK_WORDS, CALO_BANK_VERSION);
  assert_refused(CALO_TYPE_BOARDS, 5, ecal | 2047, words, 4 * CALO_BANK_WORDS, CALO_BANK_SOURCE);
}

static void a_card_in_banks_of_both_types_refuses_its_event(void **state) {
  (void)state;
  uint32_t words[CARD_WORDS_MAX], boards[CALO_BANK_WORDS] = {0};
  const uint32_t card = (uint32_t)((const int32_t *)calo_of("card_index"))[2];
  const uint32_t first = ((const uint32_t *)calo_of("numbers"))[CALO_FIRST_CARD];
  banks_event(&banks.banks);
  calo_add(&banks, CALO_TYPE_PACKED, 2, 5, words, 4 * pack_card(adc, card, words));
  calo_add(&banks, CALO_TYPE_BOARDS, 4, CALO_SUBSYSTEM << CALO_SUBSYSTEM_SHIFT, boards, sizeof boards);
  struct sl_test *t = calo_decoder(&banks);
  assert_int_equal(sl_test_run(t), 0);
  assert_int_equal(sl_test_event_error(t, 0), (uint64_t)TWO_CARDS << 32 | (first + card));
  for (uint32_t cell = 0; cell < CALO_CELLS; cell++) assert_int_equal(cells_of(t)[cell], CALO_NO_ADC);
  sl_test_free(t);
}

/* Independent of the order in which threads read them. */
static void a_card_in_several_banks_is_reported_by_its_code(void **state) {
  (void)state;
  enum { BANKS = 40 };
  uint32_t words[CARD_WORDS_MAX];
  make_values();
  const uint32_t count = pack_card(adc, 20, words), first = ((const uint32_t *)calo_of("numbers"))[CALO_FIRST_CARD];
  banks_event(&banks.banks);
  for (uint16_t source = 0; source < BANKS; source++)
    calo_add(&banks, CALO_TYPE_PACKED, 2, (uint16_t)(source * 7 % BANKS), words, 4 * count);
  for (uint64_t seed = 1; seed < 10; seed++) {
    struct sl_test *t = calo_decoder(&banks);
    sl_test_seed(t, seed);
    assert_int_equal(sl_test_run(t), 0);
    assert_int_equal(sl_test_event_error(t, 0), (uint64_t)TWO_CARDS << 32 | (first + 20));
    sl_test_free(t);
  }
}

static void a_geometry_with_a_cell_twice_is_refused(void **state) {
  (void)state;
  const uint32_t *numbers = calo_of("numbers");
  const uint32_t count = CALO_CARD_CHANNELS * numbers[CALO_CARDS];
  uint16_t *channels = malloc(count * sizeof *channels);
  memcpy(channels, calo_of("channels"), count * sizeof *channels);
  channels[1] = channels[40];
  banks_event(&banks.banks);
  struct sl_test *t = calo_decoder(&banks);
  sl_test_input(t, "geometry", "channels", channels, count);
  assert_int_equal(sl_test_run(t), SL_EINVAL);
  assert_non_null(strstr(sl_test_messages(t), "two channels of the geometry read cell"));
  sl_test_free(t);
  free(channels);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(every_version_and_block_size_decodes_the_encoded_values, start),
      cmocka_unit_test_setup(the_trigger_part_of_a_card_is_skipped, start),
      cmocka_unit_test_setup(cells_without_a_bank_are_not_read_out, start),
      cmocka_unit_test_setup(an_invalid_bank_refuses_its_event, start),
      cmocka_unit_test_setup(a_card_in_banks_of_both_types_refuses_its_event, start),
      cmocka_unit_test_setup(a_card_in_several_banks_is_reported_by_its_code, start),
      cmocka_unit_test_setup(a_geometry_with_a_cell_twice_is_refused, start),
  };
  return cmocka_run_group_tests(tests, calo_begin, calo_end);
}
