/* description.h: reads a description of the electromagnetic calorimeter, as nominal.calo is one, and works out what
 * follows from it: the places, neighbours and gains of the cells, the channels and the planes.
 *
 * For host code of plugins that need the detector itself, not its collection in a graph: static functions, no library.
 * A description is complete or refused: each statement once, an area for each name, each cell in one card, each card
 * with cells in one bank.
 */
#ifndef CALO_DESCRIPTION_H
#define CALO_DESCRIPTION_H

#include "calo/event_model.h"
#include "io/statements.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
  CALO_CARD_COLUMNS = 8,
  CALO_CARD_ROWS = 4,
  CALO_BANKS_MAX = 64, /* of type 21 */
  CALO_NO_BANK = 0xffff,
  CALO_GRID_MAX = 64 /* columns or rows of an area */
};
enum { CALO_FRONT, CALO_SHOWER_MAX, CALO_BACK, CALO_PLANES };
enum { CALO_TRANSFORM_VALUES = 12, CALO_PLANE_VALUES = 4 };

struct calo_area {
  uint32_t columns, rows, hole_columns, hole_rows;
  uint32_t first;                               /* cell */
  uint32_t divided_by;                          /* width of the outer cells over this one's */
  float cell, z;                                /* width; local z of the centres */
  float half_x, half_y;                         /* local */
  uint16_t cells[CALO_GRID_MAX][CALO_GRID_MAX]; /* by row and column; CALO_CELLS: in the hole, or outside */
};

struct calo_description {
  struct calo_area areas[CALO_AREAS];
  float cell, pedestal;
  float front_z;                              /* local, of the front plane */
  float local[2 * CALO_CELLS];                /* x and y of the centres */
  float xy[2 * CALO_CELLS], gain[CALO_CELLS]; /* from here on as in calo_geometry */
  float to_local[CALO_TRANSFORM_VALUES], planes[CALO_PLANES * CALO_PLANE_VALUES];
  uint16_t neighbours[CALO_NEIGHBOURS * CALO_CELLS];
  uint16_t channels[CALO_CARDS_MAX * CALO_CARD_CHANNELS];
  uint32_t first_card, card_count; /* codes */
  uint32_t source_count;           /* of banks of type 77 */
  int32_t card_number[CALO_SOURCES_MAX * CALO_BANK_CARDS], card_index[CALO_SOURCES_MAX * CALO_BANK_CARDS];
  uint32_t bank_count; /* of type 21 */
  uint16_t bank_source[CALO_BANKS_MAX];
  uint16_t bank_first_card[CALO_BANKS_MAX], bank_last_card[CALO_BANKS_MAX]; /* codes */
};

/* ---------------------------------------------------------------------------------------------- statements */

/* What a code is of. */
enum { CALO_CARD_ABSENT, CALO_CARD_SPARE, CALO_CARD_OF_CELLS };

struct calo_description_reader {
  struct calo_description *d;
  float centre_y, centre_z, tilt, plane_z[CALO_PLANES];
  float gain_et, gain_slope, gain_counts, gain_distance;
  uint32_t seen_words, seen_areas;
  uint8_t card_kind[CALO_CARDS_MAX], card_area[CALO_CARDS_MAX], card_column[CALO_CARDS_MAX], card_row[CALO_CARDS_MAX];
  uint8_t in_bank[CALO_CARDS_MAX];
};

static const char *const calo_area_names[CALO_AREAS] SL_UNUSED = {"outer", "middle", "inner"};

static inline int calo_description_area_name(struct io_statement *s, uint32_t *area) {
  char word[IO_STATEMENT_WORD_BYTES];
  io_statement_word(s, word, sizeof word);
  for (*area = 0; *area < CALO_AREAS; ++*area)
    if (strcmp(word, calo_area_names[*area]) == 0) return 1;
  return io_statement_refuse(s, "expected outer, middle or inner, found \"%s\"", word);
}

static inline int calo_description_area(struct io_statement *s, struct calo_description_reader *r) {
  uint32_t k;
  if (!calo_description_area_name(s, &k)) return 0;
  if (r->seen_areas >> k & 1) return io_statement_refuse(s, "area %s a second time", calo_area_names[k]);
  r->seen_areas |= 1u << k;
  struct calo_area *a = &r->d->areas[k];
  const int fine =
      io_statement_expect(s, "columns") && io_statement_index(s, "columns", CALO_GRID_MAX + 1, &a->columns) &&
      io_statement_expect(s, "rows") && io_statement_index(s, "rows", CALO_GRID_MAX + 1, &a->rows) &&
      io_statement_expect(s, "hole") && io_statement_index(s, "columns of the hole", a->columns, &a->hole_columns) &&
      io_statement_index(s, "rows of the hole", a->rows, &a->hole_rows) && io_statement_expect(s, "divided_by") &&
      io_statement_index(s, "divided_by", CALO_GRID_MAX, &a->divided_by) &&
      io_statement_pair(s, "z", -1000, 1000, &a->z);
  if (!fine) return 0;
  if (a->columns % 2 || a->rows % 2 || a->hole_columns % 2 || a->hole_rows % 2)
    return io_statement_refuse(s, "columns and rows, and those of the hole, must be even");
  return a->divided_by > 0 ? 1 : io_statement_refuse(s, "divided_by is 0");
}

/* FIRST to LAST: codes of cards. */
static inline int calo_description_codes(struct io_statement *s, uint32_t *first, uint32_t *last) {
  if (!io_statement_index(s, "first card", CALO_CARDS_MAX, first) || !io_statement_expect(s, "to") ||
      !io_statement_index(s, "last card", CALO_CARDS_MAX, last))
    return 0;
  return *first <= *last ? 1 : io_statement_refuse(s, "the last card, %u, is before the first, %u", *last, *first);
}

static inline int calo_description_cards(struct io_statement *s, struct calo_description_reader *r, int are_spare) {
  uint32_t first, last, area = 0, column = 0, row = 0;
  if (!calo_description_codes(s, &first, &last)) return 0;
  if (!are_spare && !(calo_description_area_name(s, &area) && io_statement_expect(s, "column") &&
                      io_statement_index(s, "column", CALO_GRID_MAX, &column) && io_statement_expect(s, "row") &&
                      io_statement_index(s, "row", CALO_GRID_MAX, &row)))
    return 0;
  for (uint32_t code = first; code <= last; code++, row += CALO_CARD_ROWS) {
    if (r->card_kind[code] != CALO_CARD_ABSENT) return io_statement_refuse(s, "card %u a second time", code);
    if (row > CALO_GRID_MAX - CALO_CARD_ROWS || column > CALO_GRID_MAX - CALO_CARD_COLUMNS)
      return io_statement_refuse(s, "card %u has cells outside of every area", code);
    r->card_kind[code] = are_spare ? CALO_CARD_SPARE : CALO_CARD_OF_CELLS;
    r->card_area[code] = (uint8_t)area;
    r->card_column[code] = (uint8_t)column;
    r->card_row[code] = (uint8_t)row;
  }
  return 1;
}

static inline int calo_description_bank(struct io_statement *s, struct calo_description_reader *r) {
  struct calo_description *d = r->d;
  uint32_t source, first, last;
  if (!io_statement_index(s, "source id", CALO_NO_BANK, &source) || !io_statement_expect(s, "cards") ||
      !calo_description_codes(s, &first, &last))
    return 0;
  if (d->bank_count == CALO_BANKS_MAX) return io_statement_refuse(s, "more than %d banks", CALO_BANKS_MAX);
  if (d->bank_count > 0 && source <= d->bank_source[d->bank_count - 1])
    return io_statement_refuse(s, "bank %u is not after bank %u", source, d->bank_source[d->bank_count - 1]);
  for (uint32_t code = first; code <= last; code++) {
    if (r->card_kind[code] != CALO_CARD_OF_CELLS) return io_statement_refuse(s, "card %u has no cells", code);
    if (r->in_bank[code]) return io_statement_refuse(s, "card %u is in two banks", code);
    r->in_bank[code] = 1;
  }
  d->bank_source[d->bank_count] = (uint16_t)source;
  d->bank_first_card[d->bank_count] = (uint16_t)first;
  d->bank_last_card[d->bank_count++] = (uint16_t)last;
  return 1;
}

static inline int calo_description_gain(struct io_statement *s, struct calo_description_reader *r) {
  return io_statement_pair(s, "et", 1, 1e6f, &r->gain_et) &&
         io_statement_pair(s, "et_slope", 0, 1e6f, &r->gain_slope) &&
         io_statement_pair(s, "counts", 1, 1e6f, &r->gain_counts) &&
         io_statement_pair(s, "distance", 1000, 1e5f, &r->gain_distance);
}

static inline int calo_description_planes(struct io_statement *s, struct calo_description_reader *r) {
  return io_statement_pair(s, "front", -1000, 1000, &r->plane_z[CALO_FRONT]) &&
         io_statement_pair(s, "shower_max", -1000, 1000, &r->plane_z[CALO_SHOWER_MAX]) &&
         io_statement_pair(s, "back", -1000, 1000, &r->plane_z[CALO_BACK]);
}

static inline int calo_description_centre(struct io_statement *s, struct calo_description_reader *r) {
  float x;
  return io_statement_number(s, "x of the centre", 0, 0, &x) &&
         io_statement_number(s, "y of the centre", -1000, 1000, &r->centre_y) &&
         io_statement_number(s, "z of the centre", 1000, 1e5f, &r->centre_z);
}

/* One line; 0 if it is wrong. */
static inline int calo_description_line(struct io_statement *s, void *into) {
  struct calo_description_reader *r = (struct calo_description_reader *)into;
  struct calo_description *d = r->d;
  static const char *const words[] = {"centre", "tilt", "planes", "cell", "gain", "pedestal", "sources"};
  uint32_t k = 0;
  if (io_statement_is(s, "area")) return calo_description_area(s, r);
  if (io_statement_is(s, "cards")) return calo_description_cards(s, r, 0);
  if (io_statement_is(s, "spare")) return calo_description_cards(s, r, 1);
  if (io_statement_is(s, "bank")) return calo_description_bank(s, r);
  while (k < 7 && !io_statement_is(s, words[k])) k++;
  if (k == 7) return io_statement_unknown(s);
  if (!io_statement_once(s, &r->seen_words, k)) return 0;
  switch (k) {
    case 0:
      return calo_description_centre(s, r);
    case 1:
      return io_statement_number(s, "tilt", -100, 100, &r->tilt);
    case 2:
      return calo_description_planes(s, r);
    case 3:
      return io_statement_number(s, "cell", 1, 1000, &d->cell);
    case 4:
      return calo_description_gain(s, r);
    case 5:
      return io_statement_number(s, "pedestal", -100, 100, &d->pedestal);
    default:
      return io_statement_index(s, "sources", CALO_SOURCES_MAX + 1, &d->source_count);
  }
}

/* --------------------------------------------------------------------------------------------- what follows */

/* Widths and places in double, from whole micrometres, for positions that are right in the last bit. */
static inline double calo_description_width(const struct calo_description *d, uint32_t area) {
  return (double)(uint32_t)(d->cell * 1000.0f + 0.5f) / 1000.0 / d->areas[area].divided_by;
}

/* Local x of the middle of a column, or y of a row. */
static inline double calo_description_middle(double width, uint32_t count, uint32_t place) {
  return (place + 0.5 - 0.5 * count) * width;
}

/* Numbers the cells by row and column; returns how many there are. */
static inline uint32_t calo_description_cells(struct calo_description *d) {
  uint32_t count = 0;
  for (uint32_t k = 0; k < CALO_AREAS; k++) {
    struct calo_area *a = &d->areas[k];
    const double width = calo_description_width(d, k);
    const uint32_t left = (a->columns - a->hole_columns) / 2, below = (a->rows - a->hole_rows) / 2;
    a->first = count;
    a->cell = (float)width;
    a->half_x = (float)(width * a->columns / 2);
    a->half_y = (float)(width * a->rows / 2);
    for (uint32_t row = 0; row < CALO_GRID_MAX; row++) {
      for (uint32_t column = 0; column < CALO_GRID_MAX; column++) {
        const int is_hole = column - left < a->hole_columns && row - below < a->hole_rows;
        const int is_cell = row < a->rows && column < a->columns && !is_hole;
        a->cells[row][column] = (uint16_t)(is_cell && count < CALO_CELLS ? count : (uint32_t)CALO_CELLS);
        count += (uint32_t)is_cell;
      }
    }
  }
  return count;
}

/* The matrix turns around x; in front of a plane's equation is the local z axis. */
static inline void calo_description_transform(const struct calo_description_reader *r, struct calo_description *d,
                                              double sine, double cosine) {
  const double y = (double)r->centre_y, z = (double)r->centre_z;
  const double shift_y = -cosine * y - sine * z, shift_z = sine * y - cosine * z;
  const float values[CALO_TRANSFORM_VALUES] = {
      1, 0, 0, 0, 0, (float)cosine, (float)sine, (float)shift_y, 0, (float)-sine, (float)cosine, (float)shift_z};
  memcpy(d->to_local, values, sizeof values);
  for (uint32_t k = 0; k < CALO_PLANES; k++) {
    const float plane[CALO_PLANE_VALUES] = {0, (float)-sine, (float)cosine, (float)(shift_z - (double)r->plane_z[k])};
    memcpy(d->planes + CALO_PLANE_VALUES * k, plane, sizeof plane);
  }
}

/* Places and gains. */
static inline void calo_description_place(const struct calo_description_reader *r, struct calo_description *d) {
  const double turn = (double)r->tilt / 1000, square = turn * turn; /* at most 0.1: series */
  const double sine = turn * (1 - square / 6 * (1 - square / 20 * (1 - square / 42)));
  const double cosine = 1 - square / 2 * (1 - square / 12 * (1 - square / 30 * (1 - square / 56)));
  calo_description_transform(r, d, sine, cosine);
  d->front_z = r->plane_z[CALO_FRONT];
  for (uint32_t k = 0; k < CALO_AREAS; k++) {
    const struct calo_area *a = &d->areas[k];
    const double width = calo_description_width(d, k);
    for (uint32_t row = 0; row < a->rows; row++) {
      for (uint32_t column = 0; column < a->columns; column++) {
        const uint32_t cell = a->cells[row][column];
        if (cell == CALO_CELLS) continue;
        const double x = calo_description_middle(width, a->columns, column);
        const double y = calo_description_middle(width, a->rows, row), distance = (double)r->gain_distance;
        const double sine_theta = sqrt((x * x + y * y) / (x * x + y * y + distance * distance));
        const double gain = ((double)r->gain_et / sine_theta + (double)r->gain_slope) / (double)r->gain_counts;
        d->local[2 * cell] = (float)x;
        d->local[2 * cell + 1] = (float)y;
        d->xy[2 * cell] = (float)x;
        d->xy[2 * cell + 1] = (float)((double)r->centre_y + cosine * y - sine * (double)a->z);
        d->gain[cell] = (float)((double)(uint32_t)(gain * 100 + 0.5) / 100);
      }
    }
  }
}

/* The columns, or rows, of a grid that touch [middle - half, middle + half]: first and end. */
static inline void calo_description_touching(double middle, double half, double width, uint32_t count,
                                             uint32_t range[2]) {
  const double touch = 0.01, edge = 0.5 * width * count;
  const double first = (middle - half - touch + edge) / width, last = (middle + half + touch + edge) / width;
  range[0] = first < 0 ? 0 : first > count ? count : (uint32_t)first;
  range[1] = last < 0 ? 0 : last >= count ? count : (uint32_t)last + 1;
}

/* Neighbours of a cell that are in its area, column by column; then the others, by number. Returns how many. */
static inline uint32_t calo_description_neighbours_of(struct calo_description *d, uint32_t area, uint32_t column,
                                                      uint32_t row) {
  const struct calo_area *a = &d->areas[area];
  uint16_t *to = d->neighbours + CALO_NEIGHBOURS * a->cells[row][column];
  const double width = calo_description_width(d, area);
  uint32_t found = 0;
  for (uint32_t k = 0; k < CALO_NEIGHBOURS; k++) to[k] = CALO_NO_NEIGHBOUR;
  for (uint32_t c = column > 0 ? column - 1 : 0; c <= column + 1 && c < a->columns; c++)
    for (uint32_t r = row > 0 ? row - 1 : 0; r <= row + 1 && r < a->rows; r++)
      if ((c != column || r != row) && a->cells[r][c] != CALO_CELLS) to[found++] = a->cells[r][c];
  for (uint32_t k = 0; k < CALO_AREAS; k++) {
    const struct calo_area *b = &d->areas[k];
    const double other = calo_description_width(d, k);
    uint32_t columns[2], rows[2];
    if (k == area) continue;
    calo_description_touching(calo_description_middle(width, a->columns, column), width / 2, other, b->columns,
                              columns);
    calo_description_touching(calo_description_middle(width, a->rows, row), width / 2, other, b->rows, rows);
    for (uint32_t r = rows[0]; r < rows[1]; r++)
      for (uint32_t c = columns[0]; c < columns[1]; c++) {
        if (b->cells[r][c] == CALO_CELLS) continue;
        if (found < CALO_NEIGHBOURS) to[found] = b->cells[r][c];
        found++;
      }
  }
  return found;
}

static inline int calo_description_neighbours(struct calo_description *d, char *reason, size_t reason_size) {
  for (uint32_t k = 0; k < CALO_AREAS; k++)
    for (uint32_t row = 0; row < d->areas[k].rows; row++)
      for (uint32_t column = 0; column < d->areas[k].columns; column++) {
        const uint32_t cell = d->areas[k].cells[row][column];
        if (cell == CALO_CELLS || calo_description_neighbours_of(d, k, column, row) <= CALO_NEIGHBOURS) continue;
        snprintf(reason, reason_size, "cell %u touches more than %d others", cell, CALO_NEIGHBOURS);
        return 0;
      }
  return 1;
}

/* The cells of a card; 0 if some are not there, or are another's. */
static inline int calo_description_card(const struct calo_description_reader *r, struct calo_description *d,
                                        uint32_t code, uint8_t *has_card) {
  const struct calo_area *a = &d->areas[r->card_area[code]];
  uint16_t *to = d->channels + CALO_CARD_CHANNELS * (code - d->first_card);
  for (uint32_t k = 0; k < CALO_CARD_CHANNELS; k++) {
    const uint32_t column = r->card_column[code] + k % CALO_CARD_COLUMNS,
                   row = r->card_row[code] + k / CALO_CARD_COLUMNS;
    const uint16_t cell = a->cells[row][column];
    if (cell == CALO_CELLS || has_card[cell]) return 0;
    has_card[cell] = 1;
    to[k] = cell;
  }
  return 1;
}

/* Channels of all codes, and the sources of banks of type 77. Cards with cells all have a bank. */
static inline int calo_description_channels(const struct calo_description_reader *r, struct calo_description *d,
                                            char *reason, size_t reason_size) {
  uint8_t has_card[CALO_CELLS];
  uint32_t first = 0, end = CALO_CARDS_MAX, cards = 0;
  memset(has_card, 0, sizeof has_card);
  while (first < CALO_CARDS_MAX && r->card_kind[first] == CALO_CARD_ABSENT) first++;
  while (end > first && r->card_kind[end - 1] == CALO_CARD_ABSENT) end--;
  d->first_card = first;
  d->card_count = end - first;
  for (uint32_t i = 0; i < CALO_BANK_CARDS * d->source_count; i++) d->card_index[i] = CALO_NO_CARD;
  for (uint32_t code = first; code < end; code++) {
    if (r->card_kind[code] == CALO_CARD_SPARE)
      for (uint32_t k = 0; k < CALO_CARD_CHANNELS; k++)
        d->channels[CALO_CARD_CHANNELS * (code - first) + k] = CALO_CELLS;
    if (r->card_kind[code] != CALO_CARD_OF_CELLS) continue;
    const char *fault = NULL;
    if (!r->in_bank[code]) fault = "is in no bank";
    if (!fault && !calo_description_card(r, d, code, has_card)) fault = "has a place without a cell, or another's cell";
    if (!fault && cards == CALO_BANK_CARDS * d->source_count) fault = "has no source left";
    if (fault) {
      snprintf(reason, reason_size, "card %u %s", code, fault);
      return 0;
    }
    d->card_number[cards] = (int32_t)code;
    d->card_index[cards++] = (int32_t)(code - first);
  }
  if (cards == CALO_CELLS / CALO_CARD_CHANNELS) return 1;
  snprintf(reason, reason_size, "%u cards have cells, expected %d", cards, CALO_CELLS / CALO_CARD_CHANNELS);
  return 0;
}

/* ---------------------------------------------------------------------------------------------- where cells are */

static inline uint32_t calo_description_area_of(const struct calo_description *d, uint32_t cell) {
  uint32_t area = CALO_AREAS - 1;
  while (cell < d->areas[area].first) area--;
  return area;
}

/* Where a cell is in the grid of its area. */
struct calo_place {
  uint32_t area, column, row;
};

/* The cell at a place in the local frame, and where that is; CALO_CELLS where there is none. */
static inline uint32_t calo_description_cell_at(const struct calo_description *d, float x, float y,
                                                struct calo_place *at) {
  for (at->area = CALO_AREAS; at->area-- > 0;) {
    const struct calo_area *a = &d->areas[at->area];
    const float column = (x + a->half_x) / a->cell, row = (y + a->half_y) / a->cell;
    if (!(column >= 0.0f && column < (float)a->columns && row >= 0.0f && row < (float)a->rows)) continue;
    at->column = (uint32_t)column;
    at->row = (uint32_t)row;
    return a->cells[at->row][at->column];
  }
  return CALO_CELLS;
}

/* ---------------------------------------------------------------------------------------------------- the text */

/* Reads a description: 0, or the number of the line that is wrong (the last one, if something is missing or does not
 * fit the rest), with the reason. */
static inline uint32_t calo_description_read(const char *text, size_t bytes, struct calo_description *d, char *reason,
                                             size_t reason_size) {
  struct calo_description_reader r;
  uint32_t lines = 0;
  memset(&r, 0, sizeof r);
  memset(d, 0, sizeof *d);
  r.d = d;
  const uint32_t wrong = io_statements_read(text, bytes, calo_description_line, &r, reason, reason_size, &lines);
  if (wrong) return wrong;
  if (r.seen_words != 127 || r.seen_areas != 7) {
    snprintf(reason, reason_size,
             "the description ends without all of centre, tilt, planes, cell, gain, pedestal, sources and the areas "
             "outer, middle and inner");
    return lines;
  }
  const uint32_t cells = calo_description_cells(d);
  if (cells != CALO_CELLS) {
    snprintf(reason, reason_size, "the areas have %u cells, expected %d", cells, CALO_CELLS);
    return lines;
  }
  calo_description_place(&r, d);
  const int fine =
      calo_description_neighbours(d, reason, reason_size) && calo_description_channels(&r, d, reason, reason_size);
  return fine ? 0 : lines;
}

IO_DESCRIPTION(calo)

#endif
