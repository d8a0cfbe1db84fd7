/* cross_test.c: muon.cross against plain loops over all pairs of tiles, with positions looked up as in
 * plugins/muon/README.md. */
#include "muon_support.h"

enum { EVENTS = 5, TILES_MAX = 80000, PLAIN_MAX = 150000 };

struct tiles {
  uint32_t count, offsets[EVENTS + 1], tile[TILES_MAX];
  uint8_t time[TILES_MAX];
  uint16_t first[EVENTS][MUON_FIRSTS];
};

static uint32_t grid_of(const struct muon_geometry_view *g, uint32_t table, uint32_t grid, int y) {
  return g->grid[2 * MUON_GRIDS * table + (uint32_t)(y ? MUON_GRIDS : 0) + grid];
}

static int is_in(const struct muon_geometry_view *g, uint32_t table, uint32_t tile) {
  const uint32_t grid = muon_tile_grid(tile);
  return muon_tile_grid_x(tile) == grid_of(g, table, grid, 0) && muon_tile_grid_y(tile) == grid_of(g, table, grid, 1);
}
static int is_pad(const struct muon_geometry_view *g, uint32_t tile) {
  return is_in(g, MUON_X_STRIPS, tile) && is_in(g, MUON_Y_STRIPS, tile);
}

/* Adds one in `one_in` of the strips of a table in a quarter of a grid; x strips by rows, y strips by columns. */
static void add_strips(const struct muon_geometry_view *g, uint32_t table, const struct muon_tile_address *quarter,
                       uint32_t one_in, struct tiles *t) {
  const uint32_t grid = MUON_REGIONS * quarter->station + quarter->region;
  const uint32_t gx = grid_of(g, table, grid, 0), gy = grid_of(g, table, grid, 1), is_y = table == MUON_Y_STRIPS;
  struct muon_tile_address at = *quarter;
  for (uint32_t slow = 0; slow < 2 * (is_y ? gx : gy); slow++) {
    for (uint32_t fast = 0; fast < 2 * (is_y ? gy : gx); fast++) {
      at.x = is_y ? slow : fast;
      at.y = is_y ? fast : slow;
      if ((at.x < gx && at.y < gy) || random_below(one_in) > 0) continue;
      assert_true(t->count < TILES_MAX);
      t->time[t->count] = (uint8_t)random_below(16);
      t->tile[t->count++] = muon_tile(&at, gx, gy);
    }
  }
}

/* Random tiles with a different density in each event; the second event has all tiles, the last one only x strips. */
static void make_tiles(const struct muon_geometry_view *g, struct tiles *t) {
  static const uint32_t one_in[EVENTS] = {50, 1, 8, 100000, 3};
  t->count = 0;
  for (uint32_t event = 0; event < EVENTS; event++) {
    t->offsets[event] = t->count;
    for (uint32_t grid = 0; grid < MUON_GRIDS; grid++) {
      struct muon_tile_address at = {grid / MUON_REGIONS, grid % MUON_REGIONS, 0, 0, 0};
      t->first[event][grid] = (uint16_t)(t->count - t->offsets[event]);
      const int are_pads = grid_of(g, MUON_X_STRIPS, grid, 0) == grid_of(g, MUON_Y_STRIPS, grid, 0);
      for (at.quarter = 0; at.quarter < MUON_QUARTERS; at.quarter++) {
        add_strips(g, MUON_X_STRIPS, &at, one_in[event], t);
        if (!are_pads && event != 4) add_strips(g, MUON_Y_STRIPS, &at, one_in[event], t);
      }
    }
    t->first[event][MUON_GRIDS] = (uint16_t)(t->count - t->offsets[event]);
  }
  t->offsets[EVENTS] = t->count;
}

/* ---------------------------------------------------------------------------------------------- plain crossing */

struct plain_hit {
  uint32_t tile, table, time, is_crossed;
  int32_t delta_time;
};
struct plain {
  uint32_t count;
  struct plain_hit at[PLAIN_MAX];
};

static int do_cross(uint32_t x, uint32_t y) {
  return muon_tile_x(x) * muon_tile_grid_x(y) / muon_tile_grid_x(x) == muon_tile_x(y) &&
         muon_tile_y(y) * muon_tile_grid_y(x) / muon_tile_grid_y(y) == muon_tile_y(x);
}

static uint32_t pad_of(uint32_t x, uint32_t y) {
  const struct muon_tile_address at = {muon_tile_station(x), muon_tile_region(x), muon_tile_quarter(x), muon_tile_x(x),
                                       muon_tile_y(y)};
  return muon_tile(&at, muon_tile_grid_x(x), muon_tile_grid_y(y));
}

static void cross_tile(const struct muon_geometry_view *g, const struct tiles *t, uint32_t event, uint32_t i,
                       struct plain *p) {
  const uint32_t tile = t->tile[i], is_x = (uint32_t)is_in(g, MUON_X_STRIPS, tile);
  const uint16_t *of_grid = &t->first[event][muon_tile_grid(tile)];
  const uint32_t end = t->offsets[event] + of_grid[1];
  uint32_t crossings = 0;
  for (uint32_t k = t->offsets[event] + of_grid[0]; k < end && !is_pad(g, tile); k++) {
    const uint32_t other = t->tile[k], x = is_x ? tile : other, y = is_x ? other : tile;
    if (muon_tile_quarter(other) != muon_tile_quarter(tile)) continue;
    if (is_in(g, MUON_X_STRIPS, other) == (int)is_x || !do_cross(x, y)) continue;
    crossings++;
    if (is_x)
      p->at[p->count++] =
          (struct plain_hit){pad_of(x, y), MUON_PADS, t->time[i], 1, (int32_t)t->time[i] - (int32_t)t->time[k]};
  }
  const uint32_t table = is_pad(g, tile) ? MUON_PADS : is_x ? MUON_X_STRIPS : MUON_Y_STRIPS;
  if (crossings == 0) p->at[p->count++] = (struct plain_hit){tile, table, t->time[i], 0, t->time[i]};
}

static void check_place(const struct sl_test *t, const struct muon_geometry_view *g, uint32_t hit, uint32_t tile,
                        uint32_t table) {
  const uint32_t grid = muon_tile_grid(tile), gx = muon_tile_grid_x(tile), gy = muon_tile_grid_y(tile);
  const uint32_t x = muon_tile_x(tile), y = muon_tile_y(tile), quarter = muon_tile_quarter(tile);
  const uint32_t place = g->position_first[MUON_STATIONS * table + muon_tile_station(tile)] +
                         g->offset[MUON_GRIDS * table + grid] + quarter * muon_quarter_size(gx, gy) +
                         muon_running_number(x, y, gx, gy);
  uint32_t width = g->width_first[table] + 6 * gy * quarter + muon_width_number(x, y, gx, gy);
  for (uint32_t i = 0; i < grid; i++) width += 24 * grid_of(g, table, i, 1);
  assert_true(OUTPUT(t, "hits", "x", float)[hit] == g->x[place]);
  assert_true(OUTPUT(t, "hits", "y", float)[hit] == g->y[place]);
  assert_true(OUTPUT(t, "hits", "z", float)[hit] == g->z[place]);
  assert_true(OUTPUT(t, "hits", "half_x", float)[hit] == g->half_x[width]);
  assert_true(OUTPUT(t, "hits", "half_y", float)[hit] == g->half_y[width]);
}

static void compare(const struct sl_test *test, const struct muon_geometry_view *g, const struct tiles *t) {
  static struct plain p;
  const uint32_t *offsets = OUTPUT(test, "hits", "offsets", uint32_t);
  for (uint32_t event = 0; event < EVENTS; event++) {
    const uint16_t *first = OUTPUT(test, "hits", "first", uint16_t) + (size_t)MUON_FIRSTS * event;
    p.count = 0;
    for (uint32_t i = t->offsets[event]; i < t->offsets[event + 1]; i++) cross_tile(g, t, event, i, &p);
    assert_int_equal(offsets[event + 1] - offsets[event], p.count);
    for (uint32_t i = 0, hit = offsets[event]; i < p.count; i++, hit++) {
      const uint32_t grid = muon_tile_grid(p.at[i].tile);
      assert_int_equal(OUTPUT(test, "hits", "tile", uint32_t)[hit], p.at[i].tile);
      assert_int_equal(OUTPUT(test, "hits", "time", uint8_t)[hit], p.at[i].time);
      assert_int_equal(OUTPUT(test, "hits", "delta_time", int8_t)[hit], p.at[i].delta_time);
      assert_int_equal(OUTPUT(test, "hits", "is_crossed", uint8_t)[hit], p.at[i].is_crossed);
      check_place(test, g, hit, p.at[i].tile, p.at[i].table);
      assert_true(first[grid] <= i && i < first[grid + 1]);
    }
    assert_int_equal(first[0], 0);
    assert_int_equal(first[MUON_GRIDS], p.count);
  }
}

static struct sl_test *cross_new(const struct sl_test *detector, const struct tiles *t) {
  struct sl_test *test = sl_test_new(MUON_PLUGIN, "cross");
  sl_test_events(test, EVENTS);
  sl_test_input(test, "tiles", "offsets", t->offsets, EVENTS + 1);
  sl_test_input(test, "tiles", "first", t->first, (uint64_t)EVENTS * MUON_FIRSTS);
  sl_test_input(test, "tiles", "tile", t->tile, t->count);
  sl_test_input(test, "tiles", "time", t->time, t->count);
  give(test, "geometry", detector, "geometry", CROSSING_FIELDS);
  return test;
}

static void hits_equal_those_of_plain_loops(void **state) {
  static struct tiles t;
  (void)state;
  random_start(5);
  for (uint32_t version = 2; version <= 3; version++) {
    struct sl_test *detector = detector_new(version);
    const struct muon_geometry_view g = detector_view(detector);
    make_tiles(&g, &t);
    for (uint32_t block = 32; block <= 512; block *= 4) {
      struct sl_test *test = cross_new(detector, &t);
      sl_test_block(test, block);
      assert_int_equal(sl_test_run(test), 0);
      compare(test, &g, &t);
      const uint32_t *offsets = OUTPUT(test, "hits", "offsets", uint32_t);
      assert_int_equal(offsets[2] - offsets[1], 46080); /* all pads */
      sl_test_free(test);
    }
    sl_test_free(detector);
  }
}

static void an_overflow_writes_nothing(void **state) {
  static struct tiles t;
  (void)state;
  random_start(6);
  struct sl_test *detector = detector_new(2);
  const struct muon_geometry_view g = detector_view(detector);
  make_tiles(&g, &t);
  struct sl_test *test = cross_new(detector, &t);
  sl_test_budget(test, "hits", 1000);
  assert_int_equal(sl_test_run(test), 0);
  assert_true(sl_test_used(test, "hits") > 46080);
  for (uint32_t i = 0; i <= EVENTS; i++) assert_int_equal(OUTPUT(test, "hits", "offsets", uint32_t)[i], 0);
  for (uint32_t i = 0; i < EVENTS * MUON_FIRSTS; i++) assert_int_equal(OUTPUT(test, "hits", "first", uint16_t)[i], 0);
  sl_test_free(test);
  sl_test_free(detector);
}

/* A geometry with one changed value is refused with this text. */
static void expect_refused(const struct sl_test *detector, const char *field, uint32_t at, float value,
                           const char *text) {
  static struct tiles t;
  t.count = 0;
  memset(t.offsets, 0, sizeof t.offsets);
  struct sl_test *test = cross_new(detector, &t);
  const uint64_t count = sl_test_output_count(detector, "geometry", field);
  float *values = malloc(count * sizeof *values);
  assert_non_null(values);
  memcpy(values, sl_test_output(detector, "geometry", field), count * sizeof *values);
  values[at] = value;
  sl_test_input(test, "geometry", field, values, count);
  assert_true(sl_test_run(test) < 0);
  assert_non_null(strstr(sl_test_messages(test), text));
  free(values);
  sl_test_free(test);
}

static void a_geometry_without_finite_fits_is_refused(void **state) {
  (void)state;
  struct sl_test *detector = detector_new(2);
  const char *narrow = "a half-width is below 0.1 mm";
  expect_refused(detector, "half_x", 17, 0.0f, narrow);
  expect_refused(detector, "half_x", 17, 1e-21f, narrow); /* its weight is infinite */
  expect_refused(detector, "half_x", 17, 0.0999f, narrow);
  expect_refused(detector, "half_y", 3000, -1.0f, narrow);
  expect_refused(detector, "half_y", 3000, 0.0999f, narrow);
  expect_refused(detector, "z", 5, 16400.0f, "stations do not ascend in z");
  expect_refused(detector, "z", 5, -100.0f, "stations do not ascend in z");
  sl_test_free(detector);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(hits_equal_those_of_plain_loops),
      cmocka_unit_test(an_overflow_writes_nothing),
      cmocka_unit_test(a_geometry_without_finite_fits_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
