/* description.c: reads a description of the muon chambers. */
#include "muon/description.h"

#include "muon_nominal_text.h"

#include <string.h>

static const char *const stations[MUON_STATIONS] = {"M2", "M3", "M4", "M5"};
static const char *const regions[MUON_REGIONS] = {"R1", "R2", "R3", "R4"};
static const char *const sides[MUON_SIDES] = {"A", "C"};

static int expect_ascending(struct statement *s, const float *values, uint32_t count, const char *what) {
  for (uint32_t i = 1; i < count; i++)
    if (values[i] <= values[i - 1]) return statement_refuse(s, "%s", what);
  return 1;
}

/* -------------------------------------------------------------------------------------- chambers and regions */

static int check_layers(struct statement *s, void *into, uint32_t station) {
  const float *z = ((const struct muon_description *)into)->station[station].layer_z;
  return expect_ascending(s, z, MUON_LAYERS, "layers do not ascend in z");
}

/* STATION LAYER, then y of the layer's rows */
static int read_rows(struct statement *s, void *into, uint32_t index) {
  float *y = ((struct muon_description *)into)->station[index / MUON_LAYERS].row_y[index % MUON_LAYERS];
  for (uint32_t i = 0; i < MUON_LAYER_ROWS; i++)
    if (!statement_f32(s, "y of a row", -10000, 10000, &y[i])) return 0;
  return expect_ascending(s, y, MUON_LAYER_ROWS, "rows do not ascend in y");
}

/* Pads must divide evenly among chambers, and strips among pads. */
static int check_region(struct statement *s, void *into, uint32_t index) {
  const uint32_t k = index % MUON_REGIONS;
  const struct muon_region *region = &((const struct muon_description *)into)->region[index / MUON_REGIONS][k];
  const uint32_t *x = region->grid_x, *y = region->grid_y;
  if (2 * x[0] % muon_chamber_columns(k) || 2 * y[0] % muon_chamber_rows(k))
    return statement_refuse(s, "pads cannot be shared out among %u times %u chambers of a quarter",
                            muon_chamber_columns(k), muon_chamber_rows(k));
  if (x[1] != x[0] || y[2] != y[0] || x[0] % x[2] || y[0] % y[1])
    return statement_refuse(s,
                            "x_strips are as many in x, and y_strips as many in y, as pads, and divide them in the "
                            "other direction");
  return 1;
}

/* STATION REGION SIDE, then x of each column, of odd rows and of even ones */
static int read_columns(struct statement *s, void *into, uint32_t index) {
  struct muon_description *d = (struct muon_description *)into;
  const uint32_t side = index % MUON_SIDES, k = index / MUON_SIDES % MUON_REGIONS;
  struct muon_region *region = &d->region[index / MUON_SIDES / MUON_REGIONS][k];
  for (uint32_t c = 0; c < muon_chamber_columns(k); c++)
    for (uint32_t parity = 0; parity < 2; parity++) {
      float *x = &region->column_x[side][c][parity];
      if (!statement_f32(s, "x of a column", -10000, 10000, x)) return 0;
      if (side ? *x >= 0 : *x <= 0) return statement_refuse(s, "x is on the other side: %g", (double)*x);
    }
  return 1;
}

/* STATION REGION SIDE COLUMN ROW, then y SHIFT or roll ANGLE */
static int read_moved(struct statement *s, void *into, uint32_t index) {
  static const char *const shifts[] = {"y", "roll"};
  struct muon_description *d = (struct muon_description *)into;
  struct muon_moved m = {.station = index / MUON_SIDES / MUON_REGIONS,
                         .region = index / MUON_SIDES % MUON_REGIONS,
                         .side = index % MUON_SIDES};
  const int32_t rows = (int32_t)muon_chamber_rows(m.region);
  uint32_t which = 0;
  if (!statement_u32(s, "column", 0, muon_chamber_columns(m.region) - 1, &m.column) ||
      !statement_i32(s, "row", -rows, rows - 1, &m.row) || !statement_name(s, "the shift", shifts, 2, &which))
    return 0;
  if (d->moved_count == MUON_MOVED_MAX) return statement_refuse(s, "more than %d are moved", MUON_MOVED_MAX);
  if (!(which == 0 ? statement_f32(s, "y", -50, 50, &m.y) : statement_f32(s, "roll", -0.05, 0.05, &m.roll))) return 0;
  d->moved[d->moved_count++] = m;
  return 1;
}

/* -------------------------------------------------------------------------------------------------- readout */

/* I or I.J */
static int read_pair(struct statement *s, const char *word, uint32_t *i, uint32_t *j) {
  uint32_t values[2] = {0, 0}, k = 0, digits = 0;
  for (const char *c = word; *c; c++) {
    if (*c == '.' && k == 0 && digits > 0) {
      k = 1;
      digits = 0;
    } else if (*c >= '0' && *c <= '9' && digits++ < 2) {
      values[k] = values[k] * 10 + (uint32_t)(*c - '0');
    } else {
      digits = 0;
      break;
    }
  }
  if (digits == 0) return statement_refuse(s, "expected two numbers as in 4.0, found \"%s\"", word);
  *i = values[0];
  *j = values[1];
  return 1;
}

static int read_sector(struct statement *s, void *into, uint32_t index) {
  struct muon_description *d = (struct muon_description *)into;
  char word[STATEMENT_WORD_BYTES];
  (void)index;
  if (d->sector_count == MUON_SECTORS_MAX) return statement_refuse(s, "more than %d sectors", MUON_SECTORS_MAX);
  struct muon_sector *sector = &d->sector[d->sector_count++];
  if (!statement_word(s, sector->name, sizeof sector->name)) return statement_refuse(s, "the name is missing");
  while (statement_word(s, word, sizeof word)) {
    uint32_t i = 0, j = 0;
    if (sector->count == MUON_SECTOR_CHANNELS_MAX)
      return statement_refuse(s, "more than %d channels", MUON_SECTOR_CHANNELS_MAX);
    struct muon_channel *c = &sector->channel[sector->count++];
    const int is_none = strcmp(word, "-") == 0;
    if (!is_none && word[0] != 'x' && word[0] != 'y')
      return statement_refuse(s, "expected a channel, as x1, y0.2 or -, found \"%s\"", word);
    if (!is_none && !read_pair(s, word + 1, &i, &j)) return 0;
    c->table = (uint8_t)(is_none ? MUON_PADS : word[0] == 'x' ? MUON_X_STRIPS : MUON_Y_STRIPS);
    c->x = (uint8_t)i;
    c->y = (uint8_t)j;
    if (sector->columns[c->table] <= i) sector->columns[c->table] = i + 1;
    if (sector->rows[c->table] <= j) sector->rows[c->table] = j + 1;
  }
  return 1;
}

static int add_channel(struct statement *s, struct muon_description *d, uint32_t station,
                       const struct muon_channel *channel) {
  uint32_t *count = &d->station[station].channel_count;
  if (*count == MUON_QUARTER_CHANNELS_MAX)
    return statement_refuse(s, "more than %d addresses of a quarter", MUON_QUARTER_CHANNELS_MAX);
  d->channel[station][(*count)++] = *channel;
  return 1;
}

/* The sector's channels, the sector being number (i, j) of its region. */
static int add_sector(struct statement *s, struct muon_description *d, const struct muon_sector *sector,
                      const struct muon_tile_address *at) {
  const struct muon_region *region = &d->region[at->station][at->region];
  for (uint32_t k = 0; k < sector->count; k++) {
    struct muon_channel c = sector->channel[k];
    const uint32_t x = at->x * sector->columns[c.table] + c.x, y = at->y * sector->rows[c.table] + c.y;
    const uint32_t gx = region->grid_x[c.table], gy = region->grid_y[c.table];
    if (c.table != MUON_PADS && (x >= 2 * gx || y >= 2 * gy || (x < gx && y < gy)))
      return statement_refuse(s, "sector %u.%u is not in the region", at->x, at->y);
    c.region = (uint8_t)at->region;
    c.x = (uint8_t)x;
    c.y = (uint8_t)y;
    if (!add_channel(s, d, at->station, &c)) return 0;
  }
  return 1;
}

static int read_order(struct statement *s, void *into, uint32_t index) {
  struct muon_description *d = (struct muon_description *)into;
  struct muon_tile_address at = {.station = index / MUON_REGIONS, .region = index % MUON_REGIONS};
  char word[STATEMENT_WORD_BYTES];
  uint32_t k = 0;
  if (d->region[at.station][at.region].grid_x[MUON_PADS] == 0) return statement_refuse(s, "the region comes later");
  statement_word(s, word, sizeof word);
  while (k < d->sector_count && strcmp(d->sector[k].name, word) != 0) k++;
  if (k == d->sector_count) return statement_refuse(s, "there is no sector \"%s\"", word);
  while (statement_word(s, word, sizeof word))
    if (!read_pair(s, word, &at.x, &at.y) || !add_sector(s, d, &d->sector[k], &at)) return 0;
  return 1;
}

/* STATION COUNT: addresses that nothing is connected to */
static int read_unconnected(struct statement *s, void *into, uint32_t station) {
  static const struct muon_channel none = {MUON_PADS, 0, 0, 0};
  uint32_t count = 0;
  if (!statement_u32(s, "number", 1, MUON_QUARTER_CHANNELS_MAX, &count)) return 0;
  for (uint32_t i = 0; i < count; i++)
    if (!add_channel(s, (struct muon_description *)into, station, &none)) return 0;
  return 1;
}

/* ID STATION quarters Q [Q] batches N N N N */
static int read_bank(struct statement *s, void *into, uint32_t index) {
  struct muon_description *d = (struct muon_description *)into;
  struct muon_bank *bank = &d->bank[index];
  char word[STATEMENT_WORD_BYTES];
  uint32_t sum = 0;
  if (!statement_name(s, "station", stations, MUON_STATIONS, &bank->station) || !statement_expect(s, "quarters"))
    return 0;
  while (statement_word(s, word, sizeof word) && strcmp(word, "batches") != 0) {
    if (bank->quarter_count == 2 || word[0] < '0' || word[0] > '3' || word[1])
      return statement_refuse(s, "expected one or two quarters, found \"%s\"", word);
    bank->quarter[bank->quarter_count++] = (uint32_t)(word[0] - '0');
  }
  if (bank->quarter_count == 0) return statement_refuse(s, "there is no quarter");
  for (uint32_t i = 0; i < MUON_BATCHES; i++) {
    if (!statement_u32(s, "batch", 0, MUON_BANK_CHANNELS_MAX, &bank->batch[i])) return 0;
    sum += bank->batch[i];
  }
  const uint32_t channels = bank->quarter_count * d->station[bank->station].channel_count;
  if (sum == channels && sum <= MUON_BANK_CHANNELS_MAX) return 1;
  return statement_refuse(s, "the batches have %u addresses, the quarters %u, of at most %d", sum, channels,
                          MUON_BANK_CHANNELS_MAX);
}

static int read_pads_in_format_3(struct statement *s, void *into, uint32_t index) {
  (void)s;
  ((struct muon_description *)into)->region[index / MUON_REGIONS][index % MUON_REGIONS].pads_in_format_3 = 1;
  return 1;
}

/* ------------------------------------------------------------------------------------------------- the whole */

#define OF_STATION \
  { .count = MUON_STATIONS, .names = stations, .what = "station" }
#define OF_REGION \
  OF_STATION, { .count = MUON_REGIONS, .names = regions, .what = "region" }
#define OF_SIDE \
  OF_REGION, { .count = MUON_SIDES, .names = sides, .what = "side" }
#define OF_LAYER \
  OF_STATION, { .count = MUON_LAYERS, .first = 1, .what = "layer" }
#define STATION(word, what, low, high, member) STATEMENT_FIELD(word, what, f32, low, high, struct muon_station, member)
#define GRID(word, table)                                                     \
  STATEMENT_FIELD(word, word, u32, 1, 63, struct muon_region, grid_x[table]), \
      STATEMENT_FIELD(NULL, word, u32, 1, 15, struct muon_region, grid_y[table])

static const struct statement_kind kinds[] = {
    {"station", .index = {OF_STATION}, STATEMENT_ELEMENTS(struct muon_description, station),
     .fields = {STATION("z", NULL, 10000, 30000, z), STATION("tilt", NULL, -0.05, 0.05, tilt),
                STATION("height", NULL, 10, 1000, height), STATION("thickness", NULL, 0, 200, thickness)}},
    {"layers", .index = {OF_STATION}, STATEMENT_ELEMENTS(struct muon_description, station),
     .fields = {STATION(NULL, "z of a layer", -500, 500, layer_z[0]),
                STATION(NULL, "z of a layer", -500, 500, layer_z[1]),
                STATION(NULL, "z of a layer", -500, 500, layer_z[2]),
                STATION(NULL, "z of a layer", -500, 500, layer_z[3])},
     .read = check_layers},
    {"c_side", .index = {OF_STATION}, STATEMENT_ELEMENTS(struct muon_description, station),
     .fields = {STATION("y", NULL, -50, 50, c_side_y), STATION("z", NULL, -50, 50, c_side_z)}},
    {"rows", .index = {OF_LAYER}, .read = read_rows},
    {"region", .index = {OF_REGION}, .offset = offsetof(struct muon_description, region),
     .stride = sizeof(struct muon_region),
     .fields = {STATEMENT_FIELD("width", NULL, f32, 10, 3000, struct muon_region, width), GRID("pads", MUON_PADS),
                GRID("x_strips", MUON_X_STRIPS), GRID("y_strips", MUON_Y_STRIPS)},
     .read = check_region},
    {"columns", .index = {OF_SIDE}, .read = read_columns},
    {"moved", .index = {OF_SIDE}, .repeats = 1, .read = read_moved},
    {"sector", .repeats = 1, .read = read_sector},
    {"order", .index = {OF_REGION}, .repeats = 1, .read = read_order},
    {"unconnected", .index = {OF_STATION}, .repeats = 1, .read = read_unconnected},
    {"bank", .index = {{.count = MUON_BANKS}}, .read = read_bank},
    {"tell40s", .index = {OF_STATION}, STATEMENT_ELEMENTS(struct muon_description, station),
     .fields = {STATEMENT_FIELD(NULL, "number of Tell40s", u32, 1, MUON_TELL40S, struct muon_station, tell40s)}},
    {"pads_in_format_3", .index = {OF_REGION}, .repeats = 1, .read = read_pads_in_format_3}};

static int complete(struct statement *s, void *into) {
  uint32_t boards = 0;
  for (uint32_t k = 0; k < MUON_STATIONS; k++) boards += ((const struct muon_description *)into)->station[k].tell40s;
  return boards <= MUON_TELL40S ? 1 : statement_refuse(s, "%u Tell40s, expected at most %d", boards, MUON_TELL40S);
}

STATEMENT_DESCRIPTION(muon, kinds, complete);
