/* description.c: reads descriptions of the calorimeter and derives its cells, channels and planes. */
#include "calo/description.h"

#include "calo_nominal_text.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------- statements */

static const char *const area_names[CALO_AREAS] = {"outer", "middle", "inner"};

static int check_area(struct statement *s, void *into, uint32_t index) {
  const struct calo_area *a = &((const struct calo_description *)into)->areas[index];
  if (a->columns % 2 || a->rows % 2 || a->hole_columns % 2 || a->hole_rows % 2)
    return statement_refuse(s, "columns and rows, and those of the hole, must be even");
  if (a->hole_columns < a->columns && a->hole_rows < a->rows) return 1;
  return statement_refuse(s, "the hole has %u columns and %u rows, expected fewer than %u and %u", a->hole_columns,
                          a->hole_rows, a->columns, a->rows);
}

/* FIRST to LAST: codes of cards. */
static int read_codes(struct statement *s, uint32_t *first, uint32_t *last) {
  if (!statement_u32(s, "first card", 0, CALO_CARDS_MAX - 1, first) || !statement_expect(s, "to") ||
      !statement_u32(s, "last card", 0, CALO_CARDS_MAX - 1, last))
    return 0;
  return *first <= *last ? 1 : statement_refuse(s, "the last card, %u, is before the first, %u", *last, *first);
}

/* FIRST to LAST, and for cards with cells: AREA column COLUMN row ROW */
static int read_cards(struct statement *s, void *into, uint32_t index) {
  struct calo_description *d = (struct calo_description *)into;
  const int are_spare = strcmp(s->keyword, "spare") == 0;
  uint32_t first, last, area = 0, column = 0, row = 0;
  (void)index;
  if (!read_codes(s, &first, &last)) return 0;
  if (!are_spare && !(statement_name(s, "area", area_names, CALO_AREAS, &area) && statement_expect(s, "column") &&
                      statement_u32(s, "column", 0, CALO_GRID_MAX - 1, &column) && statement_expect(s, "row") &&
                      statement_u32(s, "row", 0, CALO_GRID_MAX - 1, &row)))
    return 0;
  for (uint32_t code = first; code <= last; code++, row += CALO_CARD_ROWS) {
    if (d->card[code].kind != CALO_CARD_ABSENT) return statement_refuse(s, "card %u a second time", code);
    if (row > CALO_GRID_MAX - CALO_CARD_ROWS || column > CALO_GRID_MAX - CALO_CARD_COLUMNS)
      return statement_refuse(s, "card %u has cells outside of every area", code);
    d->card[code].kind = are_spare ? CALO_CARD_SPARE : CALO_CARD_OF_CELLS;
    d->card[code].area = (uint8_t)area;
    d->card[code].column = (uint8_t)column;
    d->card[code].row = (uint8_t)row;
  }
  return 1;
}

/* SOURCE cards FIRST to LAST */
static int read_bank(struct statement *s, void *into, uint32_t index) {
  struct calo_description *d = (struct calo_description *)into;
  uint32_t source, first, last;
  (void)index;
  if (!statement_u32(s, "source id", 0, CALO_NO_BANK - 1, &source) || !statement_expect(s, "cards") ||
      !read_codes(s, &first, &last))
    return 0;
  if (d->bank_count == CALO_BANKS_MAX) return statement_refuse(s, "more than %d banks", CALO_BANKS_MAX);
  if (d->bank_count > 0 && source <= d->bank_source[d->bank_count - 1])
    return statement_refuse(s, "bank %u is not after bank %u", source, d->bank_source[d->bank_count - 1]);
  for (uint32_t code = first; code <= last; code++) {
    if (d->card[code].kind != CALO_CARD_OF_CELLS) return statement_refuse(s, "card %u has no cells", code);
    if (d->card[code].in_bank) return statement_refuse(s, "card %u is in two banks", code);
    d->card[code].in_bank = 1;
  }
  d->bank_source[d->bank_count] = (uint16_t)source;
  d->bank_first_card[d->bank_count] = (uint16_t)first;
  d->bank_last_card[d->bank_count++] = (uint16_t)last;
  return 1;
}

#define FIELD(word, what, low, high, member) \
  STATEMENT_FIELD(word, what, f32, low, high, struct calo_description, member)
#define AREA(word, what, low, high, member) STATEMENT_FIELD(word, what, u32, low, high, struct calo_area, member)

static const struct statement_kind kinds[] = {
    {"centre",
     .fields = {FIELD(NULL, "x of the centre", 0, 0, centre_x), FIELD(NULL, "y of the centre", -1000, 1000, centre_y),
                FIELD(NULL, "z of the centre", 1000, 1e5, centre_z)}},
    {"tilt", .fields = {FIELD(NULL, "tilt", -100, 100, tilt)}},
    {"planes", .fields = {FIELD("front", NULL, -1000, 1000, plane_z[CALO_FRONT]),
                          FIELD("shower_max", NULL, -1000, 1000, plane_z[CALO_SHOWER_MAX]),
                          FIELD("back", NULL, -1000, 1000, plane_z[CALO_BACK])}},
    {"cell", .fields = {FIELD(NULL, "cell", 1, 1000, cell)}},
    {"gain", .fields = {FIELD("et", NULL, 1, 1e6, gain_et), FIELD("et_slope", NULL, 0, 1e6, gain_slope),
                        FIELD("counts", NULL, 1, 1e6, gain_counts), FIELD("distance", NULL, 1000, 1e5, gain_distance)}},
    {"pedestal", .fields = {FIELD(NULL, "pedestal", -100, 100, pedestal)}},
    {"sources",
     .fields = {STATEMENT_FIELD(NULL, "sources", u32, 0, CALO_SOURCES_MAX, struct calo_description, source_count)}},
    {"area", .index = {{.count = CALO_AREAS, .names = area_names}}, STATEMENT_ELEMENTS(struct calo_description, areas),
     .fields = {AREA("columns", NULL, 0, CALO_GRID_MAX, columns), AREA("rows", NULL, 0, CALO_GRID_MAX, rows),
                AREA("hole", "columns of the hole", 0, CALO_GRID_MAX, hole_columns),
                AREA(NULL, "rows of the hole", 0, CALO_GRID_MAX, hole_rows),
                AREA("divided_by", NULL, 1, CALO_GRID_MAX - 1, divided_by),
                STATEMENT_FIELD("z", NULL, f32, -1000, 1000, struct calo_area, z)},
     .read = check_area},
    {"cards", .repeats = 1, .read = read_cards},
    {"spare", .repeats = 1, .read = read_cards},
    {"bank", .repeats = 1, .read = read_bank}};

/* --------------------------------------------------------------------------------------------- derived data */

/* Width of a cell. In double and from whole micrometres, so that positions are correctly rounded. */
static double width_of(const struct calo_description *d, uint32_t area) {
  return (double)(uint32_t)(d->cell * 1000.0f + 0.5f) / 1000.0 / d->areas[area].divided_by;
}

/* Local x of the middle of a column, or y of the middle of a row. */
static double middle_of(double width, uint32_t count, uint32_t place) { return (place + 0.5 - 0.5 * count) * width; }

/* Numbers the cells by row and column; returns their number. */
static uint32_t number_cells(struct calo_description *d) {
  uint32_t count = 0;
  for (uint32_t k = 0; k < CALO_AREAS; k++) {
    struct calo_area *a = &d->areas[k];
    const double width = width_of(d, k);
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

/* The matrix is a rotation around x; the normal of the planes is the local z axis. */
static void make_transform(struct calo_description *d, double sine, double cosine) {
  const double y = (double)d->centre_y, z = (double)d->centre_z;
  const double shift_y = -cosine * y - sine * z, shift_z = sine * y - cosine * z;
  const float values[CALO_TRANSFORM_VALUES] = {
      1, 0, 0, 0, 0, (float)cosine, (float)sine, (float)shift_y, 0, (float)-sine, (float)cosine, (float)shift_z};
  memcpy(d->to_local, values, sizeof values);
  for (uint32_t k = 0; k < CALO_PLANES; k++) {
    const float plane[CALO_PLANE_VALUES] = {0, (float)-sine, (float)cosine, (float)(shift_z - (double)d->plane_z[k])};
    memcpy(d->planes + CALO_PLANE_VALUES * k, plane, sizeof plane);
  }
}

/* Computes positions and gains of the cells. */
static void place_cells(struct calo_description *d) {
  const double turn = (double)d->tilt / 1000, square = turn * turn; /* at most 0.1: series */
  const double sine = turn * (1 - square / 6 * (1 - square / 20 * (1 - square / 42)));
  const double cosine = 1 - square / 2 * (1 - square / 12 * (1 - square / 30 * (1 - square / 56)));
  make_transform(d, sine, cosine);
  d->front_z = d->plane_z[CALO_FRONT];
  for (uint32_t k = 0; k < CALO_AREAS; k++) {
    const struct calo_area *a = &d->areas[k];
    const double width = width_of(d, k);
    for (uint32_t row = 0; row < a->rows; row++) {
      for (uint32_t column = 0; column < a->columns; column++) {
        const uint32_t cell = a->cells[row][column];
        if (cell == CALO_CELLS) continue;
        const double x = middle_of(width, a->columns, column);
        const double y = middle_of(width, a->rows, row), distance = (double)d->gain_distance;
        const double sine_theta = sqrt((x * x + y * y) / (x * x + y * y + distance * distance));
        const double gain = ((double)d->gain_et / sine_theta + (double)d->gain_slope) / (double)d->gain_counts;
        d->local[2 * cell] = (float)x;
        d->local[2 * cell + 1] = (float)y;
        d->xy[2 * cell] = (float)x;
        d->xy[2 * cell + 1] = (float)((double)d->centre_y + cosine * y - sine * (double)a->z);
        d->gain[cell] = (float)((double)(uint32_t)(gain * 100 + 0.5) / 100);
      }
    }
  }
}

/* Columns, or rows, of a grid that touch [middle - half, middle + half]: first and end. */
static void find_touching(double middle, double half, double width, uint32_t count, uint32_t range[2]) {
  const double touch = 0.01, edge = 0.5 * width * count;
  const double first = (middle - half - touch + edge) / width, last = (middle + half + touch + edge) / width;
  range[0] = first < 0 ? 0 : first > count ? count : (uint32_t)first;
  range[1] = last < 0 ? 0 : last >= count ? count : (uint32_t)last + 1;
}

/* Finds the neighbours of a cell: those in its area, column by column, then the others, by number. Returns their
 * number. */
static uint32_t find_neighbours_of(struct calo_description *d, uint32_t area, uint32_t column, uint32_t row) {
  const struct calo_area *a = &d->areas[area];
  uint16_t *to = d->neighbours + CALO_NEIGHBOURS * a->cells[row][column];
  const double width = width_of(d, area);
  uint32_t found = 0;
  for (uint32_t k = 0; k < CALO_NEIGHBOURS; k++) to[k] = CALO_NO_NEIGHBOUR;
  for (uint32_t c = column > 0 ? column - 1 : 0; c <= column + 1 && c < a->columns; c++)
    for (uint32_t r = row > 0 ? row - 1 : 0; r <= row + 1 && r < a->rows; r++)
      if ((c != column || r != row) && a->cells[r][c] != CALO_CELLS) to[found++] = a->cells[r][c];
  for (uint32_t k = 0; k < CALO_AREAS; k++) {
    const struct calo_area *b = &d->areas[k];
    const double other = width_of(d, k);
    uint32_t columns[2], rows[2];
    if (k == area) continue;
    find_touching(middle_of(width, a->columns, column), width / 2, other, b->columns, columns);
    find_touching(middle_of(width, a->rows, row), width / 2, other, b->rows, rows);
    for (uint32_t r = rows[0]; r < rows[1]; r++)
      for (uint32_t c = columns[0]; c < columns[1]; c++) {
        if (b->cells[r][c] == CALO_CELLS) continue;
        if (found < CALO_NEIGHBOURS) to[found] = b->cells[r][c];
        found++;
      }
  }
  return found;
}

static int find_neighbours(struct calo_description *d, struct statement *s) {
  for (uint32_t k = 0; k < CALO_AREAS; k++)
    for (uint32_t row = 0; row < d->areas[k].rows; row++)
      for (uint32_t column = 0; column < d->areas[k].columns; column++) {
        const uint32_t cell = d->areas[k].cells[row][column];
        if (cell == CALO_CELLS || find_neighbours_of(d, k, column, row) <= CALO_NEIGHBOURS) continue;
        return statement_refuse(s, "cell %u touches more than %d others", cell, CALO_NEIGHBOURS);
      }
  return 1;
}

/* Sets the channels of a card; returns 0 if a position has no cell, or the cell of another card. */
static int connect_card(struct calo_description *d, uint32_t code, uint8_t *has_card) {
  const struct calo_area *a = &d->areas[d->card[code].area];
  uint16_t *to = d->channels + CALO_CARD_CHANNELS * (code - d->first_card);
  for (uint32_t k = 0; k < CALO_CARD_CHANNELS; k++) {
    const uint32_t column = d->card[code].column + k % CALO_CARD_COLUMNS,
                   row = d->card[code].row + k / CALO_CARD_COLUMNS;
    const uint16_t cell = a->cells[row][column];
    if (cell == CALO_CELLS || has_card[cell]) return 0;
    has_card[cell] = 1;
    to[k] = cell;
  }
  return 1;
}

/* Sets the channels of all codes, and the sources of banks of type 77. All cards with cells must have a bank. */
static int connect_cards(struct calo_description *d, struct statement *s) {
  uint8_t has_card[CALO_CELLS];
  uint32_t first = 0, end = CALO_CARDS_MAX, cards = 0;
  memset(has_card, 0, sizeof has_card);
  while (first < CALO_CARDS_MAX && d->card[first].kind == CALO_CARD_ABSENT) first++;
  while (end > first && d->card[end - 1].kind == CALO_CARD_ABSENT) end--;
  d->first_card = first;
  d->card_count = end - first;
  for (uint32_t i = 0; i < CALO_BANK_CARDS * d->source_count; i++) d->card_index[i] = CALO_NO_CARD;
  for (uint32_t code = first; code < end; code++) {
    if (d->card[code].kind == CALO_CARD_SPARE)
      for (uint32_t k = 0; k < CALO_CARD_CHANNELS; k++)
        d->channels[CALO_CARD_CHANNELS * (code - first) + k] = CALO_CELLS;
    if (d->card[code].kind != CALO_CARD_OF_CELLS) continue;
    const char *fault = NULL;
    if (!d->card[code].in_bank) fault = "is in no bank";
    if (!fault && !connect_card(d, code, has_card)) fault = "has a position without a cell, or a cell of another card";
    if (!fault && cards == CALO_BANK_CARDS * d->source_count) fault = "has no source left";
    if (fault) return statement_refuse(s, "card %u %s", code, fault);
    d->card_number[cards] = (int32_t)code;
    d->card_index[cards++] = (int32_t)(code - first);
  }
  if (cards == CALO_CELLS / CALO_CARD_CHANNELS) return 1;
  return statement_refuse(s, "%u cards have cells, expected %d", cards, CALO_CELLS / CALO_CARD_CHANNELS);
}

/* ---------------------------------------------------------------------------------------------- lookup */

uint32_t calo_description_area_of(const struct calo_description *d, uint32_t cell) {
  uint32_t area = CALO_AREAS - 1;
  while (cell < d->areas[area].first) area--;
  return area;
}

uint32_t calo_description_cell_at(const struct calo_description *d, float x, float y, struct calo_place *at) {
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

/* ------------------------------------------------------------------------------------------------- the whole
 * description */

static int complete(struct statement *s, void *into) {
  struct calo_description *d = (struct calo_description *)into;
  const uint32_t cells = number_cells(d);
  if (cells != CALO_CELLS) return statement_refuse(s, "the areas have %u cells, expected %d", cells, CALO_CELLS);
  place_cells(d);
  return find_neighbours(d, s) && connect_cards(d, s);
}

STATEMENT_DESCRIPTION(calo, kinds, complete);
