/* description.h: reads a description of the muon chambers, as nominal.muon is one: chambers, regions and readout, as
 * text.
 *
 * For host code of plugins that need the detector itself, not its collection in a graph: static functions, no library.
 * A description is complete or refused. What follows from it: positions (positions.h), the map of channels
 * (channels.h).
 */
#ifndef MUON_DESCRIPTION_H
#define MUON_DESCRIPTION_H

#include "io/statements.h"
#include "muon/event_model.h"

#include <string.h>

enum {
  MUON_SIDES = 2, /* A: x > 0; C: x < 0 */
  MUON_LAYERS = 4,
  MUON_LAYER_ROWS = 16, /* rows of chambers in a layer */
  MUON_COLUMNS_MAX = 4, /* columns of chambers in a quarter of a region */
  MUON_MOVED_MAX = 64,
  MUON_SECTORS_MAX = 16,
  MUON_SECTOR_CHANNELS_MAX = 64,
  MUON_BATCHES = 4,
  MUON_QUARTER_CHANNELS_MAX = 2048
};

struct muon_station {
  float z, tilt, height, thickness;
  float layer_z[MUON_LAYERS];                /* from the station's */
  float c_side_y, c_side_z;                  /* shift at x < 0 */
  float row_y[MUON_LAYERS][MUON_LAYER_ROWS]; /* odd rows from -15 on, even ones from -16 on */
  uint32_t channel_count;                    /* of a quarter, in format 2 */
  uint32_t tell40s;                          /* in format 3 */
};

struct muon_region {
  float width;                                       /* of a chamber */
  uint32_t grid_x[MUON_TABLES], grid_y[MUON_TABLES]; /* of muon_table */
  float column_x[MUON_SIDES][MUON_COLUMNS_MAX][2];   /* of odd rows, of even ones */
  uint32_t pads_in_format_3;                         /* these replace the strips */
};

/* A chamber that is not where the others' rule has it. */
struct muon_moved {
  uint32_t station, region, side, column;
  int32_t row;
  float y, roll;
};

/* A channel of a quarter, in the order of its addresses. */
struct muon_channel {
  uint8_t table; /* MUON_X_STRIPS or MUON_Y_STRIPS; MUON_PADS: none is connected */
  uint8_t region, x, y;
};

struct muon_bank {
  uint32_t station, quarter_count, quarter[2];
  uint32_t batch[MUON_BATCHES]; /* addresses of each */
};

struct muon_description {
  struct muon_station station[MUON_STATIONS];
  struct muon_region region[MUON_STATIONS][MUON_REGIONS];
  struct muon_moved moved[MUON_MOVED_MAX];
  uint32_t moved_count;
  struct muon_channel channel[MUON_STATIONS][MUON_QUARTER_CHANNELS_MAX];
  struct muon_bank bank[MUON_BANKS];
};

/* A quarter of a region has 2, 4, 8 and 16 rows of chambers, and two columns; R4 has four. */
static inline uint32_t muon_chamber_rows(uint32_t region) { return 2u << region; }
static inline uint32_t muon_chamber_columns(uint32_t region) { return region == 3 ? 4 : 2; }

/* --------------------------------------------------------------------------------------------- statements */

/* A pattern of channels: strips by their place from the sector's first. */
struct muon_sector {
  char name[IO_STATEMENT_WORD_BYTES];
  uint32_t count;
  struct muon_channel channel[MUON_SECTOR_CHANNELS_MAX];
  uint32_t columns[MUON_TABLES], rows[MUON_TABLES]; /* of strips */
};

struct muon_description_reader {
  struct muon_description *d;
  struct muon_sector sector[MUON_SECTORS_MAX];
  uint32_t sector_count;
  uint32_t seen_stations, seen_layers, seen_c_sides, seen_rows, seen_tell40s; /* bits */
  uint32_t seen_regions, seen_columns, seen_banks;
};

static inline int muon_description_name(struct io_statement *s, const char *what, char letter, uint32_t first,
                                        uint32_t *index) {
  char word[IO_STATEMENT_WORD_BYTES];
  if (!io_statement_word(s, word, sizeof word)) return io_statement_refuse(s, "%s is missing", what);
  *index = (uint32_t)(unsigned char)word[1] - '0' - first;
  if (word[0] == letter && *index < MUON_STATIONS && word[2] == '\0') return 1;
  return io_statement_refuse(s, "%s is \"%s\", expected %c%u to %c%u", what, word, letter, first, letter, first + 3);
}

/* M2 to M5. */
static inline int muon_description_station(struct io_statement *s, uint32_t *station) {
  return muon_description_name(s, "station", 'M', 2, station);
}

/* STATION R1 to R4 */
static inline int muon_description_region(struct io_statement *s, uint32_t *station, uint32_t *region) {
  return muon_description_station(s, station) && muon_description_name(s, "region", 'R', 1, region);
}

static inline int muon_description_once(struct io_statement *s, uint32_t *seen, uint32_t bit) {
  if (*seen >> bit & 1) return io_statement_refuse(s, "%s of the same a second time", s->keyword);
  *seen |= 1u << bit;
  return 1;
}

static inline int muon_description_side(struct io_statement *s, uint32_t *side) {
  char word[IO_STATEMENT_WORD_BYTES];
  io_statement_word(s, word, sizeof word);
  *side = word[0] == 'C';
  if ((word[0] == 'A' || word[0] == 'C') && word[1] == '\0') return 1;
  return io_statement_refuse(s, "side is \"%s\", expected A or C", word);
}

static inline int muon_description_integer(struct io_statement *s, const char *what, int32_t low, int32_t high,
                                           int32_t *value) {
  float number = 0;
  if (!io_statement_number(s, what, (float)low, (float)high, &number)) return 0;
  *value = (int32_t)number;
  return (float)*value == number ? 1 : io_statement_refuse(s, "%s is no integer", what);
}

/* KEYWORD X Y */
static inline int muon_description_grid(struct io_statement *s, const char *keyword, uint32_t *x, uint32_t *y) {
  int32_t values[2] = {0, 0};
  if (!io_statement_expect(s, keyword) || !muon_description_integer(s, keyword, 1, 63, &values[0]) ||
      !muon_description_integer(s, keyword, 1, 15, &values[1]))
    return 0;
  *x = (uint32_t)values[0];
  *y = (uint32_t)values[1];
  return 1;
}

static inline int muon_read_station(struct io_statement *s, struct muon_description_reader *r) {
  uint32_t k = 0;
  if (!muon_description_station(s, &k) || !muon_description_once(s, &r->seen_stations, k)) return 0;
  struct muon_station *station = &r->d->station[k];
  return io_statement_pair(s, "z", 10000, 30000, &station->z) &&
         io_statement_pair(s, "tilt", -0.05f, 0.05f, &station->tilt) &&
         io_statement_pair(s, "height", 10, 1000, &station->height) &&
         io_statement_pair(s, "thickness", 0, 200, &station->thickness);
}

static inline int muon_read_layers(struct io_statement *s, struct muon_description_reader *r) {
  uint32_t k = 0;
  if (!muon_description_station(s, &k) || !muon_description_once(s, &r->seen_layers, k)) return 0;
  float *z = r->d->station[k].layer_z;
  for (uint32_t i = 0; i < MUON_LAYERS; i++) {
    if (!io_statement_number(s, "z of a layer", -500, 500, &z[i])) return 0;
    if (i > 0 && z[i] <= z[i - 1]) return io_statement_refuse(s, "layers do not ascend in z");
  }
  return 1;
}

static inline int muon_read_rows(struct io_statement *s, struct muon_description_reader *r) {
  uint32_t k = 0;
  int32_t layer = 0;
  if (!muon_description_station(s, &k) || !muon_description_integer(s, "layer", 1, MUON_LAYERS, &layer) ||
      !muon_description_once(s, &r->seen_rows, k * MUON_LAYERS + (uint32_t)layer - 1))
    return 0;
  float *y = r->d->station[k].row_y[layer - 1];
  for (uint32_t i = 0; i < MUON_LAYER_ROWS; i++) {
    if (!io_statement_number(s, "y of a row", -10000, 10000, &y[i])) return 0;
    if (i > 0 && y[i] <= y[i - 1]) return io_statement_refuse(s, "rows do not ascend in y");
  }
  return 1;
}

static inline int muon_read_c_side(struct io_statement *s, struct muon_description_reader *r) {
  uint32_t k = 0;
  if (!muon_description_station(s, &k) || !muon_description_once(s, &r->seen_c_sides, k)) return 0;
  return io_statement_pair(s, "y", -50, 50, &r->d->station[k].c_side_y) &&
         io_statement_pair(s, "z", -50, 50, &r->d->station[k].c_side_z);
}

/* Pads must divide evenly among chambers, and strips among pads. */
static inline int muon_read_region(struct io_statement *s, struct muon_description_reader *r) {
  uint32_t station = 0, k = 0;
  if (!muon_description_region(s, &station, &k) ||
      !muon_description_once(s, &r->seen_regions, station * MUON_REGIONS + k))
    return 0;
  struct muon_region *region = &r->d->region[station][k];
  if (!io_statement_pair(s, "width", 10, 3000, &region->width) ||
      !muon_description_grid(s, "pads", &region->grid_x[MUON_PADS], &region->grid_y[MUON_PADS]) ||
      !muon_description_grid(s, "x_strips", &region->grid_x[MUON_X_STRIPS], &region->grid_y[MUON_X_STRIPS]) ||
      !muon_description_grid(s, "y_strips", &region->grid_x[MUON_Y_STRIPS], &region->grid_y[MUON_Y_STRIPS]))
    return 0;
  const uint32_t *x = region->grid_x, *y = region->grid_y;
  if (2 * x[0] % muon_chamber_columns(k) || 2 * y[0] % muon_chamber_rows(k))
    return io_statement_refuse(s, "pads cannot be shared out among %u times %u chambers of a quarter",
                               muon_chamber_columns(k), muon_chamber_rows(k));
  if (x[1] != x[0] || y[2] != y[0] || x[0] % x[2] || y[0] % y[1])
    return io_statement_refuse(s,
                               "x_strips are as many in x, and y_strips as many in y, as pads, and divide them in "
                               "the other direction");
  return 1;
}

static inline int muon_read_columns(struct io_statement *s, struct muon_description_reader *r) {
  uint32_t station = 0, k = 0, side = 0;
  if (!muon_description_region(s, &station, &k) || !muon_description_side(s, &side) ||
      !muon_description_once(s, &r->seen_columns, (station * MUON_REGIONS + k) * MUON_SIDES + side))
    return 0;
  for (uint32_t c = 0; c < muon_chamber_columns(k); c++)
    for (uint32_t parity = 0; parity < 2; parity++) {
      float *x = &r->d->region[station][k].column_x[side][c][parity];
      if (!io_statement_number(s, "x of a column", -10000, 10000, x)) return 0;
      if (side ? *x >= 0 : *x <= 0) return io_statement_refuse(s, "x is on the other side: %g", (double)*x);
    }
  return 1;
}

/* STATION REGION SIDE COLUMN ROW, then y SHIFT or roll ANGLE. */
static inline int muon_read_moved(struct io_statement *s, struct muon_description_reader *r) {
  char word[IO_STATEMENT_WORD_BYTES];
  struct muon_moved m = {0, 0, 0, 0, 0, 0, 0};
  if (!muon_description_region(s, &m.station, &m.region) || !muon_description_side(s, &m.side) ||
      !io_statement_index(s, "column", muon_chamber_columns(m.region), &m.column))
    return 0;
  const int32_t rows = (int32_t)muon_chamber_rows(m.region);
  if (!muon_description_integer(s, "row", -rows, rows - 1, &m.row)) return 0;
  if (r->d->moved_count == MUON_MOVED_MAX) return io_statement_refuse(s, "more than %d are moved", MUON_MOVED_MAX);
  io_statement_word(s, word, sizeof word);
  const int is_y = strcmp(word, "y") == 0;
  if (!is_y && strcmp(word, "roll") != 0) return io_statement_refuse(s, "expected y or roll, found \"%s\"", word);
  if (!(is_y ? io_statement_number(s, "y", -50, 50, &m.y) : io_statement_number(s, "roll", -0.05f, 0.05f, &m.roll)))
    return 0;
  r->d->moved[r->d->moved_count++] = m;
  return 1;
}

/* I or I.J */
static inline int muon_read_pair(struct io_statement *s, const char *word, uint32_t *i, uint32_t *j) {
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
  if (digits == 0) return io_statement_refuse(s, "expected two numbers as in 4.0, found \"%s\"", word);
  *i = values[0];
  *j = values[1];
  return 1;
}

static inline int muon_read_sector(struct io_statement *s, struct muon_description_reader *r) {
  char word[IO_STATEMENT_WORD_BYTES];
  if (r->sector_count == MUON_SECTORS_MAX) return io_statement_refuse(s, "more than %d sectors", MUON_SECTORS_MAX);
  struct muon_sector *sector = &r->sector[r->sector_count++];
  if (!io_statement_word(s, sector->name, sizeof sector->name)) return io_statement_refuse(s, "the name is missing");
  while (io_statement_word(s, word, sizeof word)) {
    uint32_t i = 0, j = 0;
    if (sector->count == MUON_SECTOR_CHANNELS_MAX)
      return io_statement_refuse(s, "more than %d channels", MUON_SECTOR_CHANNELS_MAX);
    struct muon_channel *c = &sector->channel[sector->count++];
    const int is_none = strcmp(word, "-") == 0;
    if (!is_none && word[0] != 'x' && word[0] != 'y')
      return io_statement_refuse(s, "expected a channel, as x1, y0.2 or -, found \"%s\"", word);
    if (!is_none && !muon_read_pair(s, word + 1, &i, &j)) return 0;
    c->table = (uint8_t)(is_none ? MUON_PADS : word[0] == 'x' ? MUON_X_STRIPS : MUON_Y_STRIPS);
    c->x = (uint8_t)i;
    c->y = (uint8_t)j;
    if (sector->columns[c->table] <= i) sector->columns[c->table] = i + 1;
    if (sector->rows[c->table] <= j) sector->rows[c->table] = j + 1;
  }
  return 1;
}

static inline int muon_add_channel(struct io_statement *s, struct muon_description *d, uint32_t station,
                                   const struct muon_channel *channel) {
  uint32_t *count = &d->station[station].channel_count;
  if (*count == MUON_QUARTER_CHANNELS_MAX)
    return io_statement_refuse(s, "more than %d addresses of a quarter", MUON_QUARTER_CHANNELS_MAX);
  d->channel[station][(*count)++] = *channel;
  return 1;
}

/* The sector's channels, the sector being number (i, j) of its region. */
static inline int muon_add_sector(struct io_statement *s, struct muon_description *d, const struct muon_sector *sector,
                                  const struct muon_place *at) {
  const struct muon_region *region = &d->region[at->station][at->region];
  for (uint32_t k = 0; k < sector->count; k++) {
    struct muon_channel c = sector->channel[k];
    const uint32_t x = at->x * sector->columns[c.table] + c.x, y = at->y * sector->rows[c.table] + c.y;
    const uint32_t gx = region->grid_x[c.table], gy = region->grid_y[c.table];
    if (c.table != MUON_PADS && (x >= 2 * gx || y >= 2 * gy || (x < gx && y < gy)))
      return io_statement_refuse(s, "sector %u.%u is not in the region", at->x, at->y);
    c.region = (uint8_t)at->region;
    c.x = (uint8_t)x;
    c.y = (uint8_t)y;
    if (!muon_add_channel(s, d, at->station, &c)) return 0;
  }
  return 1;
}

static inline int muon_read_order(struct io_statement *s, struct muon_description_reader *r) {
  char word[IO_STATEMENT_WORD_BYTES];
  struct muon_place at = {0, 0, 0, 0, 0};
  uint32_t k = 0;
  if (!muon_description_region(s, &at.station, &at.region)) return 0;
  if (!(r->seen_regions >> (at.station * MUON_REGIONS + at.region) & 1))
    return io_statement_refuse(s, "the region comes later");
  io_statement_word(s, word, sizeof word);
  while (k < r->sector_count && strcmp(r->sector[k].name, word) != 0) k++;
  if (k == r->sector_count) return io_statement_refuse(s, "there is no sector \"%s\"", word);
  while (io_statement_word(s, word, sizeof word))
    if (!muon_read_pair(s, word, &at.x, &at.y) || !muon_add_sector(s, r->d, &r->sector[k], &at)) return 0;
  return 1;
}

static inline int muon_read_unconnected(struct io_statement *s, struct muon_description_reader *r) {
  static const struct muon_channel none = {MUON_PADS, 0, 0, 0};
  uint32_t station = 0;
  int32_t count = 0;
  if (!muon_description_station(s, &station) ||
      !muon_description_integer(s, "number", 1, MUON_QUARTER_CHANNELS_MAX, &count))
    return 0;
  for (int32_t i = 0; i < count; i++)
    if (!muon_add_channel(s, r->d, station, &none)) return 0;
  return 1;
}

/* ID STATION quarters Q [Q] batches N N N N */
static inline int muon_read_bank(struct io_statement *s, struct muon_description_reader *r) {
  char word[IO_STATEMENT_WORD_BYTES];
  uint32_t id = 0;
  if (!io_statement_index(s, "bank", MUON_BANKS, &id) || !muon_description_once(s, &r->seen_banks, id)) return 0;
  struct muon_bank *bank = &r->d->bank[id];
  if (!muon_description_station(s, &bank->station) || !io_statement_expect(s, "quarters")) return 0;
  while (io_statement_word(s, word, sizeof word) && strcmp(word, "batches") != 0) {
    if (bank->quarter_count == 2 || word[0] < '0' || word[0] > '3' || word[1])
      return io_statement_refuse(s, "expected one or two quarters, found \"%s\"", word);
    bank->quarter[bank->quarter_count++] = (uint32_t)(word[0] - '0');
  }
  if (bank->quarter_count == 0) return io_statement_refuse(s, "there is no quarter");
  uint32_t sum = 0;
  for (uint32_t i = 0; i < MUON_BATCHES; i++) {
    int32_t count = 0;
    if (!muon_description_integer(s, "batch", 0, MUON_BANK_CHANNELS_MAX, &count)) return 0;
    bank->batch[i] = (uint32_t)count;
    sum += bank->batch[i];
  }
  const uint32_t channels = bank->quarter_count * r->d->station[bank->station].channel_count;
  if (sum == channels && sum <= MUON_BANK_CHANNELS_MAX) return 1;
  return io_statement_refuse(s, "the batches have %u addresses, the quarters %u, of at most %d", sum, channels,
                             MUON_BANK_CHANNELS_MAX);
}

static inline int muon_read_tell40s(struct io_statement *s, struct muon_description_reader *r) {
  uint32_t k = 0;
  int32_t count = 0;
  if (!muon_description_station(s, &k) || !muon_description_once(s, &r->seen_tell40s, k) ||
      !muon_description_integer(s, "number of Tell40s", 1, MUON_TELL40S, &count))
    return 0;
  r->d->station[k].tell40s = (uint32_t)count;
  return 1;
}

static inline int muon_read_pads_in_format_3(struct io_statement *s, struct muon_description_reader *r) {
  uint32_t station = 0, region = 0;
  if (!muon_description_region(s, &station, &region)) return 0;
  r->d->region[station][region].pads_in_format_3 = 1;
  return 1;
}

/* One line; 0 if it is wrong. */
static inline int muon_description_line(struct io_statement *s, void *into) {
  static const struct {
    const char *word;
    int (*read)(struct io_statement *s, struct muon_description_reader *r);
  } statements[] = {{"station", muon_read_station},
                    {"layers", muon_read_layers},
                    {"c_side", muon_read_c_side},
                    {"rows", muon_read_rows},
                    {"region", muon_read_region},
                    {"columns", muon_read_columns},
                    {"moved", muon_read_moved},
                    {"sector", muon_read_sector},
                    {"order", muon_read_order},
                    {"unconnected", muon_read_unconnected},
                    {"bank", muon_read_bank},
                    {"tell40s", muon_read_tell40s},
                    {"pads_in_format_3", muon_read_pads_in_format_3}};
  for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++)
    if (io_statement_is(s, statements[i].word)) return statements[i].read(s, (struct muon_description_reader *)into);
  return io_statement_unknown(s);
}

/* ------------------------------------------------------------------------------------------ the whole */

/* NULL, or what is missing. */
static inline const char *muon_description_lack(const struct muon_description_reader *r) {
  uint32_t boards = 0;
  for (uint32_t k = 0; k < MUON_STATIONS; k++) boards += r->d->station[k].tell40s;
  if (r->seen_stations != 15 || r->seen_layers != 15 || r->seen_c_sides != 15 || r->seen_rows != 0xFFFF)
    return "the description ends without station, layers, c_side, and rows of all layers, for each of M2 to M5";
  if (r->seen_regions != 0xFFFF || r->seen_columns != UINT32_MAX)
    return "the description ends without region, and columns of both sides, for R1 to R4 of each station";
  if (r->seen_banks != (1u << MUON_BANKS) - 1) return "the description ends without the banks 0 to 9";
  if (r->seen_tell40s != 15 || boards > MUON_TELL40S)
    return "the description ends without tell40s for each of M2 to M5, at most 22 in all";
  return NULL;
}

/* Reads a description: 0, or the number of the line that is wrong (the last one, if something is missing), with the
 * reason. */
static inline uint32_t muon_description_read(const char *text, size_t bytes, struct muon_description *d, char *reason,
                                             size_t reason_size) {
  struct muon_description_reader r;
  uint32_t lines = 0;
  memset(&r, 0, sizeof r);
  memset(d, 0, sizeof *d);
  r.d = d;
  const uint32_t wrong = io_statements_read(text, bytes, muon_description_line, &r, reason, reason_size, &lines);
  if (wrong) return wrong;
  const char *lack = muon_description_lack(&r);
  if (!lack) return 0;
  snprintf(reason, reason_size, "%s", lack);
  return lines;
}

IO_DESCRIPTION(muon)

#endif
