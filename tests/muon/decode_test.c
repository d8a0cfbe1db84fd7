/* decode_test.c: muon.decode against a plain reader that decodes bank by bank, sorts the tiles and removes duplicates;
 * and invalid banks, which refuse their event. */
#include "muon_support.h"

enum { EVENTS = 5, UNITS = MUON_TELL40S * MUON_HALVES, PLAIN_MAX = 1 << 17 };

/* ------------------------------------------------------------------------------------------------ the banks */

struct payload {
  uint16_t at[32768];
  uint32_t count;
};

static void put(struct payload *p, uint32_t halfword) { p->at[p->count++] = (uint16_t)halfword; }

/* Adds a bank of version 2 with `pads` pads, which decoders ignore, and batches with these numbers of random hits. */
static void add_v2(struct banks_case *b, const struct muon_geometry_view *g, uint32_t unit, uint32_t pads,
                   const uint32_t counts[4]) {
  static struct payload p;
  const uint32_t channels = g->channel_first[unit + 1] - g->channel_first[unit];
  p.count = 0;
  put(&p, pads);
  while (p.count < ((pads + 3) & ~1u)) put(&p, 0xFFFF);
  for (uint32_t batch = 0; batch < 4; batch++) {
    put(&p, counts[batch]);
    for (uint32_t i = 0; i < counts[batch]; i++) put(&p, random_below(channels) | random_below(16) << 12);
  }
  if (p.count % 2) p.at[p.count] = 0;
  banks_add(b, 2, (uint16_t)unit, p.at, random_below(2) ? 2 * p.count : 4 * ((p.count + 1) / 2));
}

/* Writes a link with hits in the channels of the bit mask. */
static uint32_t put_link(uint8_t *to, uint64_t hits) {
  const uint32_t count = (uint32_t)__builtin_popcountll(hits), times = random_below((count < 19 ? count : 19) + 1);
  const uint32_t bytes = hits == 0 ? 1 : 7 + times / 2;
  const uint64_t bits = (uint64_t)(bytes - 1) << 52 | hits << 4 | random_below(16);
  to[0] = (uint8_t)((bytes - 1) << 4);
  if (hits == 0) return 1;
  for (uint32_t i = 0; i < 7; i++) to[i] = (uint8_t)(bits >> 8 * (6 - i));
  for (uint32_t i = 7; i < bytes; i++) to[i] = (uint8_t)random_below(256);
  return bytes;
}

static uint64_t random_hits(uint32_t one_in) {
  uint64_t hits = 0;
  for (uint32_t i = 0; i < 48; i++) hits |= (uint64_t)(random_below(one_in) == 0) << i;
  return random_below(3) ? 0 : hits;
}

static void add_v3(struct banks_case *b, const struct muon_geometry_view *g, uint32_t unit, uint32_t one_in) {
  static uint32_t words[256];
  uint8_t *payload = (uint8_t *)words;
  const uint32_t has_mask = random_below(2), mask = random_below(1u << 24);
  uint32_t bytes = 1;
  payload[0] = (uint8_t)(has_mask << 5);
  for (uint32_t i = 0; has_mask && i < 3; i++) payload[bytes++] = (uint8_t)(mask >> 8 * (2 - i));
  for (uint32_t link = 0; link < g->tell40_links[unit]; link++)
    if (!has_mask || mask >> link & 1)
      bytes += put_link(payload + bytes, one_in == 1 ? (1ull << 48) - 1 : random_hits(one_in));
  banks_add(b, 3, (uint16_t)((13 << 11) | unit), payload, bytes);
}

/* Events of usual size, one without banks, one with very many hits. Banks are in any order. */
static void make_banks(struct banks_case *b, const struct muon_geometry_view *g, uint32_t version) {
  const uint32_t units = version == 2 ? (uint32_t)MUON_BANKS : (uint32_t)UNITS;
  memset(b, 0, sizeof *b);
  for (uint32_t event = 0; event < EVENTS; event++) {
    const uint32_t first = random_below(units), most = event == 3 ? 3000 : 30;
    banks_event(b);
    for (uint32_t i = 0; i < units && event != 1; i++) {
      const uint32_t unit = (first + i) % units, counts[4] = {random_below(most), random_below(2) * random_below(most),
                                                              random_below(most), random_below(most)};
      if (version == 2)
        add_v2(b, g, unit, random_below(6), counts);
      else
        add_v3(b, g, unit, event == 3 ? 1 : 12);
    }
  }
}

/* ------------------------------------------------------------------------------------------- plain reader */

struct plain {
  uint32_t count;
  struct plain_tile {
    uint64_t key; /* order: grid, quarter, x strips by y and x, y strips by x and y */
    uint32_t tile, time;
  } at[PLAIN_MAX];
};

static uint64_t key_of(const struct muon_geometry_view *g, uint32_t tile) {
  const uint32_t *x_strips = &g->grid[2 * MUON_GRIDS * MUON_X_STRIPS + muon_tile_grid(tile)];
  const uint64_t is_y = !(muon_tile_grid_x(tile) == x_strips[0] && muon_tile_grid_y(tile) == x_strips[MUON_GRIDS]);
  const uint64_t slow = is_y ? muon_tile_x(tile) : muon_tile_y(tile),
                 fast = is_y ? muon_tile_y(tile) : muon_tile_x(tile);
  return ((((uint64_t)muon_tile_grid(tile) * 4 + muon_tile_quarter(tile)) * 2 + is_y) << 8 | slow) << 8 | fast;
}

static int by_key(const void *a_, const void *b_) {
  const struct plain_tile *a = a_, *b = b_;
  if (a->key != b->key) return a->key < b->key ? -1 : 1;
  return (a->time > b->time) - (a->time < b->time);
}

static void read_plainly(const struct banks_case *b, uint32_t event, const struct muon_geometry_view *g,
                         struct plain *p) {
  const struct muon_map map = {g->format[0], g->channel_first, g->tiles, g->tell40_links};
  uint32_t kept = 0;
  p->count = 0;
  for (uint32_t i = b->offsets[event]; i < b->offsets[event + 1]; i++) {
    const struct muon_bank_words bank = {b->payload + b->first_word[i], b->size_bytes[i], b->version[i],
                                         b->source_id[i]};
    struct muon_reader reader;
    struct muon_digit digit;
    muon_reader_begin(&reader, &map, &bank);
    while (muon_reader_next(&reader, &digit)) {
      assert_true(p->count < PLAIN_MAX);
      p->at[p->count++] = (struct plain_tile){key_of(g, digit.tile), digit.tile, digit.time};
    }
    assert_int_equal(reader.fault, MUON_FINE);
  }
  qsort(p->at, p->count, sizeof p->at[0], by_key);
  for (uint32_t i = 0; i < p->count; i++)
    if (kept == 0 || p->at[i].key != p->at[kept - 1].key) p->at[kept++] = p->at[i];
  p->count = kept;
}

static struct sl_test *decoder_new(const struct sl_test *detector, const struct banks_case *b) {
  struct sl_test *t = sl_test_new(MUON_PLUGIN, "decode");
  banks_give(t, "banks", b);
  give(t, "geometry", detector, "geometry", DECODER_FIELDS);
  return t;
}

static void compare(const struct sl_test *t, const struct banks_case *b, const struct muon_geometry_view *g) {
  static struct plain p;
  const uint32_t *offsets = OUTPUT(t, "tiles", "offsets", uint32_t), *tile = OUTPUT(t, "tiles", "tile", uint32_t);
  const uint8_t *time = OUTPUT(t, "tiles", "time", uint8_t);
  for (uint32_t event = 0; event < b->event_count; event++) {
    const uint16_t *first = OUTPUT(t, "tiles", "first", uint16_t) + (size_t)MUON_FIRSTS * event;
    uint32_t of_grid[MUON_FIRSTS] = {0};
    read_plainly(b, event, g, &p);
    assert_int_equal(sl_test_event_error(t, event), 0);
    assert_int_equal(offsets[event + 1] - offsets[event], p.count);
    for (uint32_t i = 0; i < p.count; i++) {
      assert_int_equal(tile[offsets[event] + i], p.at[i].tile);
      assert_int_equal(time[offsets[event] + i], p.at[i].time);
      for (uint32_t grid = muon_tile_grid(p.at[i].tile) + 1; grid < MUON_FIRSTS; grid++) of_grid[grid]++;
    }
    for (uint32_t grid = 0; grid < MUON_FIRSTS; grid++) assert_int_equal(first[grid], of_grid[grid]);
  }
}

static void tiles_equal_those_of_a_plain_reader(void **state) {
  static struct banks_case b;
  (void)state;
  random_start(1);
  for (uint32_t version = 2; version <= 3; version++) {
    struct sl_test *detector = detector_new(version);
    const struct muon_geometry_view g = detector_view(detector);
    make_banks(&b, &g, version);
    for (uint32_t block = 32; block <= 512; block *= 4) {
      struct sl_test *t = decoder_new(detector, &b);
      sl_test_block(t, block);
      assert_int_equal(sl_test_run(t), 0);
      compare(t, &b, &g);
      assert_true(OUTPUT(t, "tiles", "offsets", uint32_t)[EVENTS] > 8000);
      sl_test_free(t);
    }
    sl_test_free(detector);
  }
}

static void an_event_with_hits_in_all_channels_has_all_tiles(void **state) {
  static struct banks_case b;
  static struct payload p;
  (void)state;
  random_start(2);
  memset(&b, 0, sizeof b);
  struct sl_test *detector = detector_new(2);
  const struct muon_geometry_view g = detector_view(detector);
  banks_event(&b);
  uint32_t connected = 0;
  for (uint32_t unit = 0; unit < MUON_BANKS; unit++) {
    const uint32_t channels = g.channel_first[unit + 1] - g.channel_first[unit];
    p.count = 0;
    put(&p, 0), put(&p, 0), put(&p, 2 * channels), p.count = 3;
    for (uint32_t i = 0; i < 2 * channels; i++) put(&p, i % channels | (i < channels ? 9u : 4u) << 12); /* twice */
    for (uint32_t i = 0; i < 3; i++) put(&p, 0);
    for (uint32_t i = 0; i < channels; i++) connected += g.tiles[g.channel_first[unit] + i] != 0;
    banks_add(&b, 2, (uint16_t)unit, p.at, 2 * p.count);
  }
  struct sl_test *t = decoder_new(detector, &b);
  assert_int_equal(sl_test_run(t), 0);
  compare(t, &b, &g);
  assert_int_equal(OUTPUT(t, "tiles", "offsets", uint32_t)[1], connected);
  for (uint32_t i = 0; i < connected; i++) assert_int_equal(OUTPUT(t, "tiles", "time", uint8_t)[i], 4); /* the first */
  sl_test_free(t);
  sl_test_free(detector);
}

/* ------------------------------------------------------------------------------------------------ invalid banks */

/* The second of three events has this additional bank, and is refused unless `code` is 0. */
static void expect_fault(const struct sl_test *detector, const struct muon_geometry_view *g, uint32_t version,
                         uint32_t source_id, const void *payload, uint32_t bytes, uint32_t code) {
  static struct banks_case b;
  const uint32_t counts[4] = {5, 0, 7, 3}, format = g->format[0];
  memset(&b, 0, sizeof b);
  for (uint32_t event = 0; event < 3; event++) {
    banks_event(&b);
    for (uint32_t unit = 0; unit < 3; unit++) {
      if (format == 2)
        add_v2(&b, g, unit, 0, counts);
      else
        add_v3(&b, g, unit, 4);
    }
    if (event == 1) banks_add(&b, (uint8_t)version, (uint16_t)source_id, payload, bytes);
  }
  struct sl_test *t = decoder_new(detector, &b);
  assert_int_equal(sl_test_run(t), 0);
  const uint32_t *offsets = OUTPUT(t, "tiles", "offsets", uint32_t);
  const uint64_t wanted = code ? (uint64_t)code << 32 | source_id : 0;
  if (sl_test_event_error(t, 1) != wanted)
    print_message("version %u, source %u: code %u expected\n", version, source_id, code);
  assert_int_equal(sl_test_event_error(t, 1), wanted);
  assert_true(offsets[1] > 0 && offsets[3] > offsets[2]);
  if (code) assert_int_equal(offsets[2], offsets[1]);
  for (uint32_t i = 0; code && i < MUON_FIRSTS; i++)
    assert_int_equal(OUTPUT(t, "tiles", "first", uint16_t)[MUON_FIRSTS + i], 0);
  assert_int_equal(sl_test_event_error(t, 0) | sl_test_event_error(t, 2), 0);
  sl_test_free(t);
}

static void invalid_banks_refuse_their_event(void **state) {
  (void)state;
  random_start(3);
  struct sl_test *detector = detector_new(2);
  const struct muon_geometry_view g = detector_view(detector);
  const uint16_t fine[] = {0, 0, 1, 5, 0, 0, 0, 0}, pads[] = {9, 0, 0, 0}, cut[] = {0, 0, 1, 5, 0, 0};
  const uint16_t long_batch[] = {0, 0, 1, 5, 0, 0, 9, 0}, rest[] = {0, 0, 0, 0, 0, 0, 1, 2};
  const uint16_t address[] = {0, 0, 1, 4095, 0, 0, 0, 0}, last[] = {0, 0, 1, 3071, 0, 0, 0, 0};
  expect_fault(detector, &g, 2, 4, fine, sizeof fine, MUON_FINE);
  expect_fault(detector, &g, 4, 4, fine, sizeof fine, MUON_UNKNOWN_VERSION);
  expect_fault(detector, &g, 3, 4, fine, sizeof fine, MUON_OTHER_FORMAT);
  expect_fault(detector, &g, 2, 10, fine, sizeof fine, MUON_UNKNOWN_SOURCE);
  expect_fault(detector, &g, 2, 1, fine, sizeof fine, MUON_FAULT_COUNT); /* repeated */
  expect_fault(detector, &g, 2, 4, fine, sizeof fine - 1, MUON_ODD_SIZE);
  expect_fault(detector, &g, 2, 4, fine, 1, MUON_ODD_SIZE);
  expect_fault(detector, &g, 2, 4, fine, 0, MUON_TOO_SHORT);
  expect_fault(detector, &g, 2, 4, pads, sizeof pads, MUON_TOO_SHORT);
  expect_fault(detector, &g, 2, 4, cut, sizeof cut, MUON_TOO_SHORT);
  expect_fault(detector, &g, 2, 4, long_batch, sizeof long_batch, MUON_TOO_SHORT);
  expect_fault(detector, &g, 2, 4, rest, sizeof rest, MUON_TOO_LONG);
  expect_fault(detector, &g, 2, 4, address, sizeof address, MUON_UNKNOWN_ADDRESS);
  expect_fault(detector, &g, 2, 4, last, sizeof last, MUON_FINE);
  sl_test_free(detector);
}

static void invalid_banks_of_version_3_refuse_their_event(void **state) {
  (void)state;
  random_start(4);
  struct sl_test *detector = detector_new(3);
  const struct muon_geometry_view g = detector_view(detector);
  uint8_t fine[24] = {0}, synchronisation[4] = {0x10}, short_link[24] = {0, 0x30}, long_link[24] = {0};
  long_link[g.tell40_links[7]] = 0xF0; /* the last link */
  expect_fault(detector, &g, 3, 7, fine, 1 + g.tell40_links[7], MUON_FINE);
  expect_fault(detector, &g, 3, 7, synchronisation, 1, MUON_FINE);
  expect_fault(detector, &g, 3, 7, fine, g.tell40_links[7], MUON_TOO_SHORT);
  expect_fault(detector, &g, 3, 7, fine, 0, MUON_TOO_SHORT);
  expect_fault(detector, &g, 3, 7, short_link, sizeof short_link, MUON_WRONG_LINK_LENGTH);
  expect_fault(detector, &g, 3, 7, long_link, g.tell40_links[7] + 3, MUON_TOO_SHORT);
  expect_fault(detector, &g, 3, 44, fine, 24, MUON_UNKNOWN_SOURCE);
  expect_fault(detector, &g, 2, 4, fine, 24, MUON_OTHER_FORMAT);
  sl_test_free(detector);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tiles_equal_those_of_a_plain_reader),
      cmocka_unit_test(an_event_with_hits_in_all_channels_has_all_tiles),
      cmocka_unit_test(invalid_banks_refuse_their_event),
      cmocka_unit_test(invalid_banks_of_version_3_refuse_their_event),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
