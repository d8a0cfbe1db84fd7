/* spectrometer_hits_test.c: conversion of raw banks to hits of the spectrometer. Positions and slopes are computed
 * independently from the formats. */
#include "pictures/spectrometer_hits.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct spectrometer p;

static int stop(void **state) {
  (void)state;
  spectrometer_free(&p);
  return 0;
}

enum { BANKS = 3, WORDS = 128 };
static uint32_t offsets[2], first_word[BANKS], payload[WORDS], word_count;
static uint16_t source_id[BANKS], size_bytes[BANKS];
static uint8_t type[BANKS], version[BANKS];
static struct spectrometer_faults faults;

#define VIEW(kind)                         \
  ((struct kind){.offsets = offsets,       \
                 .source_id = source_id,   \
                 .type = type,             \
                 .version = version,       \
                 .size_bytes = size_bytes, \
                 .first_word = first_word, \
                 .payload = payload})

static void add_bank(uint8_t bank_type, uint8_t bank_version, uint16_t source, const void *bytes, uint16_t size) {
  const uint32_t i = offsets[1]++;
  assert_true(i < BANKS && word_count + (size + 3u) / 4 <= WORDS);
  source_id[i] = source;
  type[i] = bank_type;
  version[i] = bank_version;
  size_bytes[i] = size;
  first_word[i] = word_count;
  memcpy(payload + word_count, bytes, size);
  word_count += (size + 3u) / 4;
}

static int start(void **state) {
  (void)state;
  offsets[1] = word_count = 0;
  memset(payload, 0, sizeof payload);
  faults = (struct spectrometer_faults){0};
  return 0;
}

static void assert_hit(enum spectrometer_detector detector, uint32_t i, float z, float x, uint32_t id) {
  assert_true(i < p.hits[detector].count);
  const struct spectrometer_hit *hit = &p.hits[detector].at[i];
  assert_true(fabsf(hit->z - z) < 1e-3f && fabsf(hit->at[SPECTROMETER_X] - x) < 1e-3f);
  assert_int_equal(hit->id, id);
}

static void ut_hits_of_the_x_layers_are_taken(void **state) {
  (void)state;
  static const uint32_t hit_offsets[3] = {0, 1, 5};
  static const uint32_t hit_ids[5] = {0x30400009, 0x30400001, 0x30440001, 0x30480001, 0x304c0001};
  static const float x[5] = {1, 2, 3, 4, 5}, z[5] = {2327, 2328, 2372, 2597, 2642};
  static const float y[5] = {0, -90, 0, 0, 0}, y_end[5] = {0, 10, 0, 0, 100};
  const struct ut_hits_view hits = {.offsets = hit_offsets, .id = hit_ids, .x = x, .y = y, .y_end = y_end, .z = z};
  assert_int_equal(spectrometer_take_ut(&p, &hits, 1), 0);
  assert_true(p.hits[SPECTROMETER_UT].is_read);
  assert_int_equal(p.hits[SPECTROMETER_UT].count, 2);
  assert_hit(SPECTROMETER_UT, 0, 2328, 2, 0x30400001);
  assert_hit(SPECTROMETER_UT, 1, 2642, 5, 0x304c0001);
  /* A strip has a middle and a half length in y. */
  const struct spectrometer_hit *first = &p.hits[SPECTROMETER_UT].at[0];
  assert_true(first->at[SPECTROMETER_Y] == -40 && first->half[SPECTROMETER_Y] == 50);
  assert_true(p.hits[SPECTROMETER_UT].on_axis[SPECTROMETER_X] == 2 &&
              p.hits[SPECTROMETER_UT].on_axis[SPECTROMETER_Y] == 2);
}

static void scifi_hits_of_the_x_layers_are_taken(void **state) {
  (void)state;
  static const uint32_t hit_offsets[2] = {0, 4};
  static const uint32_t hit_ids[4] = {0x500c0001, 0x50050001, 0x500a0001, 0x50070002};
  static const float x[4] = {-1, 2, 3, 4}, z[4] = {9193, 7896, 8648, 8036};
  const struct scifi_hits_view hits = {.offsets = hit_offsets, .id = hit_ids, .x = x, .z = z};
  assert_int_equal(spectrometer_take_scifi(&p, &hits, 0), 0);
  assert_true(p.hits[SPECTROMETER_SCIFI].is_read && !p.hits[SPECTROMETER_UT].is_read);
  assert_int_equal(p.hits[SPECTROMETER_SCIFI].count, 2);
  assert_hit(SPECTROMETER_SCIFI, 0, 9193, -1, 0x500c0001);
  assert_hit(SPECTROMETER_SCIFI, 1, 8036, 4, 0x50070002);
  /* y is not measured. */
  assert_true(p.hits[SPECTROMETER_SCIFI].on_axis[SPECTROMETER_X] == 2 &&
              p.hits[SPECTROMETER_SCIFI].on_axis[SPECTROMETER_Y] == 0);
}

/* Bank 1: a pad, an x strip and a y strip of region 0 in station 1; a grid of 2 x 1, and strips of 2 x 2 and 1 x 1. */
static void muon_banks_give_pads_and_strips(void **state) {
  (void)state;
  enum { GRID = 4, QUARTER = 2 };
  static uint32_t format[2] = {2, 2}, channel_first[MUON_BANKS + 1], tiles[4], grid[2 * MUON_GRIDS * MUON_TABLES],
                  offset[MUON_GRIDS * MUON_TABLES], position_first[MUON_TABLES * MUON_STATIONS + 1], width_first[4];
  static float x[300], y[300], z[300], half_x[600], half_y[600];
  const struct muon_geometry_view geometry = {.format = format,
                                              .channel_first = channel_first,
                                              .tiles = tiles,
                                              .grid = grid,
                                              .offset = offset,
                                              .position_first = position_first,
                                              .x = x,
                                              .y = y,
                                              .z = z,
                                              .width_first = width_first,
                                              .half_x = half_x,
                                              .half_y = half_y};
  static const uint32_t grids[MUON_TABLES][2] = {{4, 2}, {4, 1}, {1, 2}};
  for (uint32_t table = 0; table < MUON_TABLES; table++) {
    grid[2 * MUON_GRIDS * table + GRID] = grids[table][0];
    grid[2 * MUON_GRIDS * table + MUON_GRIDS + GRID] = grids[table][1];
    const struct muon_tile_address place = {.station = 1, .quarter = QUARTER, .x = table == 2 ? 1 : 5};
    tiles[table] = muon_tile(&place, grids[table][0], grids[table][1]);
  }
  for (uint32_t bank = 2; bank <= MUON_BANKS; bank++) channel_first[bank] = 4;
  position_first[1] = 3;                       /* pads of station 1 */
  position_first[MUON_STATIONS + 1] = 100;     /* x strips of station 1 */
  position_first[2 * MUON_STATIONS + 1] = 200; /* y strips of station 1 */
  width_first[1] = 200;
  width_first[2] = 400;
  /* Quarters of 3 x 4 x 2 pads and 3 x 4 x 1 strips; (5, 0) is the second one. Half widths: 6 times 2 or 1 per
   * quarter; that of (5, 0) is number 2 (5 - 4) / 4 = 0. */
  x[3 + 24 * QUARTER + 1] = -120;
  z[3 + 24 * QUARTER + 1] = 16400;
  half_x[12 * QUARTER] = 3.5f;
  x[100 + 12 * QUARTER + 1] = -130;
  z[100 + 12 * QUARTER + 1] = 16500;
  half_x[200 + 6 * QUARTER] = 4.5f;
  /* Quarters of 3 x 1 x 2 y strips, 12 half-widths each; (1, 0) is the first one, with half-width 2 (1 - 1) / 1 = 0. */
  y[200 + 6 * QUARTER] = -70;
  z[200 + 6 * QUARTER] = 16600;
  half_y[400 + 12 * QUARTER] = 5.5f;
  /* No pads, two halfwords; batches of 3, 1, 0 and 0; address 3 is not connected. */
  const uint16_t words[] = {0, 0, 3, 0, 1, 2, 1, 3, 0, 0};
  add_bank(13, 2, 1, words, sizeof words);
  const uint16_t cut[] = {0, 0, 3, 0, 1};
  add_bank(13, 2, 1, cut, sizeof cut);
  const struct muon_banks_view banks = VIEW(muon_banks_view);
  assert_int_equal(spectrometer_read_muon(&p, &geometry, &banks, 0, &faults), 0);
  const struct spectrometer_hits *hits = &p.hits[SPECTROMETER_MUON];
  assert_int_equal(hits->count, 3);
  assert_hit(SPECTROMETER_MUON, 0, 16400, -120, tiles[0]);
  assert_hit(SPECTROMETER_MUON, 1, 16500, -130, tiles[1]);
  assert_hit(SPECTROMETER_MUON, 2, 16600, 0, tiles[2]);
  assert_true(hits->at[0].half[SPECTROMETER_X] == 3.5f && hits->at[1].half[SPECTROMETER_X] == 4.5f);
  assert_true(hits->at[2].at[SPECTROMETER_Y] == -70 && hits->at[2].half[SPECTROMETER_Y] == 5.5f);
  /* Pads are fine in both directions; the damaged bank adds nothing. */
  assert_true(hits->at[0].axes == 3 && hits->at[1].axes == 1 << SPECTROMETER_X &&
              hits->at[2].axes == 1 << SPECTROMETER_Y);
  assert_true(hits->on_axis[SPECTROMETER_X] == 2 && hits->on_axis[SPECTROMETER_Y] == 2);
  assert_int_equal(faults.count, 1);
  assert_string_equal(faults.text, "it ends within its own lengths");
}

/* A card of 32 channels, two of them connected to cells, in the third and the last strip in x, and in the 34th and the
 * 32nd in y. */
static void calorimeter_banks_give_energy_in_strips(void **state) {
  (void)state;
  static uint32_t numbers[CALO_NUMBERS];
  static uint16_t channels[CALO_CARD_CHANNELS];
  static float pedestal[1] = {0.5f}, cell_size[1] = {100}, xy[2 * CALO_CELLS], gain[CALO_CELLS];
  static int32_t card_index[CALO_BANK_CARDS] = {0, CALO_NO_CARD, CALO_NO_CARD};
  const struct calo_geometry_view geometry = {.numbers = numbers,
                                              .pedestal = pedestal,
                                              .channels = channels,
                                              .xy = xy,
                                              .gain = gain,
                                              .cell_size = cell_size,
                                              .card_index = card_index};
  numbers[CALO_FORMAT] = 4;
  numbers[CALO_FIRST_CARD] = 129;
  numbers[CALO_CARDS] = numbers[CALO_SOURCES] = 1;
  for (uint32_t i = 0; i < CALO_CARD_CHANNELS; i++) channels[i] = CALO_CELLS;
  channels[1] = 7;
  channels[30] = 9;
  xy[2 * 7] = -2950;
  xy[2 * 9] = 3150;
  xy[2 * 7 + 1] = 150;
  xy[2 * 9 + 1] = -50;
  gain[7] = 10;
  gain[9] = 4;
  /* type 21: 4 bits each, value + 8; 5 in channel 1, 7 in channel 30 */
  uint32_t card[6] = {129 << 14 | 20 << 7, 0, 0x88888888, 0x88888888, 0x88888888, 0x88888888};
  card[2] = 0x888888d8;
  card[5] = 0x8f888888;
  add_bank(21, 2, 0, card, sizeof card);
  const struct calo_banks_view banks = VIEW(calo_banks_view);
  spectrometer_read_calo(&p, &geometry, &banks, 0, &faults);
  assert_true(p.has_energy && p.strip_width == 100 && faults.count == 0);
  assert_true(fabs(p.energy_mev[SPECTROMETER_X][2] - 10 * 4.5) < 1e-4 &&
              fabs(p.energy_mev[SPECTROMETER_X][63] - 4 * 6.5) < 1e-4);
  for (uint32_t i = 0; i < SPECTROMETER_STRIPS; i++)
    assert_true(i == 2 || i == 63 || p.energy_mev[SPECTROMETER_X][i] == 0);
  assert_true(fabs(p.energy_mev[SPECTROMETER_Y][33] - 10 * 4.5) < 1e-4 &&
              fabs(p.energy_mev[SPECTROMETER_Y][31] - 4 * 6.5) < 1e-4);

  /* Type 77, version 5: 12 bits each, highest first, value + 256: 5 in channel 1. Then the same bank of another
   * detector, and a truncated one. */
  uint32_t boards[39] = {0};
  for (int i = 3; i < 15; i++) boards[i] = (uint32_t[]){0x10010010, 0x01001001, 0x00100100}[i % 3];
  boards[3] = 0x10010510;
  start(state);
  spectrometer_clear(&p);
  add_bank(77, 5, 11 << 11, boards, sizeof boards);
  add_bank(77, 5, 11 << 11, boards, sizeof boards - 4);
  const struct calo_banks_view more = VIEW(calo_banks_view);
  spectrometer_read_calo(&p, &geometry, &more, 0, &faults);
  assert_true(fabs(p.energy_mev[SPECTROMETER_X][2] - 10 * 4.5) < 1e-4 &&
              fabs(p.energy_mev[SPECTROMETER_X][63] - 4 * -0.5) < 1e-4);
  assert_int_equal(faults.count, 1);
  source_id[0] = source_id[1] = 12 << 11;
  spectrometer_clear(&p);
  spectrometer_read_calo(&p, &geometry, &more, 0, &faults);
  assert_true(p.energy_mev[SPECTROMETER_X][2] == 0 && faults.count == 1);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, start, stop)
  const struct CMUnitTest tests[] = {
      CASE(ut_hits_of_the_x_layers_are_taken),
      CASE(scifi_hits_of_the_x_layers_are_taken),
      CASE(muon_banks_give_pads_and_strips),
      CASE(calorimeter_banks_give_energy_in_strips),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
