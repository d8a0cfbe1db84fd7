/* description_test.c: calo.geometry from descriptions: an empty path is the nominal one, and wrong ones are refused
 * with the line and the reason. files_test.py compares the nominal detector with the samples. */
#define DESCRIBED CALO_PLUGIN
#include "calo/event_model.h"
#include "edited_description.h"

static void an_empty_path_gives_the_nominal_description(void **state) {
  (void)state;
  struct sl_test *nominal = run("", SL_OK), *file = run(NOMINAL, SL_OK);
  static const struct {
    const char *name;
    size_t bytes;
  } fields[] = {{"channels", 2}, {"neighbours", 2}, {"xy", 4}, {"gain", 4}, {"card_index", 4}};
  for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
    const uint64_t count = sl_test_output_count(nominal, "geometry", fields[i].name);
    assert_int_equal(count, sl_test_output_count(file, "geometry", fields[i].name));
    assert_memory_equal(sl_test_output(nominal, "geometry", fields[i].name),
                        sl_test_output(file, "geometry", fields[i].name), count * fields[i].bytes);
  }
  sl_test_free(nominal);
  sl_test_free(file);
}

static void neighbours_are_mutual_and_adjacent(void **state) {
  (void)state;
  struct sl_test *t = run("", SL_OK);
  const uint16_t *neighbours = sl_test_output(t, "geometry", "neighbours");
  const float *xy = sl_test_output(t, "geometry", "xy");
  for (uint32_t cell = 0; cell < CALO_CELLS; cell++)
    for (uint32_t k = 0; k < CALO_NEIGHBOURS; k++) {
      const uint32_t other = neighbours[CALO_NEIGHBOURS * cell + k];
      uint32_t back = 0;
      if (other == CALO_NO_NEIGHBOUR) continue;
      for (uint32_t i = 0; i < CALO_NEIGHBOURS; i++) back += neighbours[CALO_NEIGHBOURS * other + i] == cell;
      assert_int_equal(back, 1);
      assert_true(xy[2 * cell] - xy[2 * other] < 122.0f && xy[2 * cell + 1] - xy[2 * other + 1] < 122.0f);
    }
  sl_test_free(t);
}

static void each_cell_has_one_channel_in_banks_of_type_77(void **state) {
  (void)state;
  struct sl_test *t = run("", SL_OK);
  const uint16_t *channels = sl_test_output(t, "geometry", "channels");
  const int32_t *index = sl_test_output(t, "geometry", "card_index");
  const uint32_t *numbers = sl_test_output(t, "geometry", "numbers");
  static uint8_t seen[CALO_CELLS];
  memset(seen, 0, sizeof seen);
  for (uint32_t i = 0; i < CALO_BANK_CARDS * numbers[CALO_SOURCES]; i++)
    for (uint32_t k = 0; index[i] != CALO_NO_CARD && k < CALO_CARD_CHANNELS; k++)
      seen[channels[CALO_CARD_CHANNELS * (uint32_t)index[i] + k]]++;
  for (uint32_t cell = 0; cell < CALO_CELLS; cell++) assert_int_equal(seen[cell], 1);
  sl_test_free(t);
}

static void wrong_descriptions_are_refused_with_line_and_reason(void **state) {
  (void)state;
  assert_refused("pedestal 0.4", "pedestal 0,4", "not a number");
  assert_refused("pedestal 0.4", "pedestals 0.4", "no statement \"pedestals\"");
  assert_refused("pedestal 0.4", "cell 121.9", "a second time");
  assert_refused("area middle", "area outer", "area outer a second time");
  assert_refused("area middle", "area central", "expected outer, middle or inner");
  assert_refused("rows 40", "rows 41", "must be even");
  assert_refused("divided_by 2", "divided_by 0", "divided_by is 0");
  assert_refused("cards 129 to 141 ", "cards 141 to 129 ", "is before the first");
  assert_refused("cards 145 to 157 ", "cards 140 to 157 ", "card 140 a second time");
  assert_refused("outer column   8 row 0", "outer column  60 row 0", "outside of every area");
  assert_refused("cards 337 to 349 outer", "cards 337 to 512 outer", "expected 0 to 511");
  assert_refused("bank  1 cards 136", "bank  1 cards 135", "card 135 is in two banks");
  assert_refused("bank  1 cards", "bank  0 cards", "bank 0 is not after bank 0");
  assert_refused("bank 25 cards 344 to 349", "bank 25 cards 344 to 350", "card 350 has no cells");
  assert_refused("sources 250", "sources 250 more", "one word too many");
}

static void an_inconsistent_description_is_refused(void **state) {
  (void)state;
  assert_whole_refused("sources 250", "", "ends without sources");
  assert_whole_refused("rows 36", "rows 38", "cells, expected 6016");
  assert_whole_refused("bank 27 cards 264 to 269", "", "card 264 is in no bank");
  assert_whole_refused("outer column   8 row 0", "outer column   0 row 0", "a cell of another card");
  assert_whole_refused("sources 250", "sources 62", "no source left");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_empty_path_gives_the_nominal_description),
      cmocka_unit_test(neighbours_are_mutual_and_adjacent),
      cmocka_unit_test(each_cell_has_one_channel_in_banks_of_type_77),
      cmocka_unit_test(wrong_descriptions_are_refused_with_line_and_reason),
      cmocka_unit_test(an_inconsistent_description_is_refused),
  };
  return cmocka_run_group_tests(tests, begin, NULL);
}
