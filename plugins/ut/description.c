/* description.c: reads a description of the UT and computes its sectors, channels and readout boards. */
#include "ut/description.h"

#include "ut_nominal_text.h"

#include <string.h>

static int read_split(struct statement *s, struct ut_description *d, enum ut_sensor_kind kind) {
  static const char *const sides[] = {"inner", "outer"};
  uint32_t stave, row, side;
  if (!statement_expect(s, "stave") || !statement_u32(s, "stave", 0, UT_STAVES_WITH_SLOTS - 1, &stave) ||
      !statement_expect(s, "row") || !statement_u32(s, "row", 0, UT_ROWS - 1, &row) || !statement_expect(s, "first") ||
      !statement_name(s, "first", sides, 2, &side))
    return 0;
  if (d->kinds[stave][row] != UT_WHOLE) return statement_refuse(s, "stave %u, row %u a second time", stave, row);
  if (kind == UT_QUARTERS && row != 6 && row != 7)
    return statement_refuse(s, "quarters have channels in rows 6 and 7 only, not in row %u", row);
  d->kinds[stave][row] = (uint8_t)kind;
  d->first_is_inner[stave][row] = side == 0;
  return 1;
}
static int read_halves(struct statement *s, void *into, uint32_t index) {
  (void)index;
  return read_split(s, (struct ut_description *)into, UT_HALVES);
}
static int read_quarters(struct statement *s, void *into, uint32_t index) {
  (void)index;
  return read_split(s, (struct ut_description *)into, UT_QUARTERS);
}

#define FIELD(word, what, low, high, member) STATEMENT_FIELD(word, what, f32, low, high, struct ut_description, member)
#define LAYER(word, type, low, high, member) \
  STATEMENT_FIELD(word, NULL, type, low, high, struct ut_layer_description, member)

static const struct statement_kind kinds[] = {
    {"sensor", .fields = {FIELD("width", NULL, 10, 200, width), FIELD("length", NULL, 10, 200, length),
                          FIELD("thickness", NULL, 0.01, 2, thickness)}},
    {"step", .fields = {FIELD(NULL, "step", 10, 200, step)}},
    {"stave_depth", .fields = {FIELD(NULL, "stave_depth", 0, 20, stave_depth)}},
    {"sensor_depth", .fields = {FIELD(NULL, "sensor_depth", 0, 20, sensor_depth)}},
    {"hole", .fields = {FIELD(NULL, "hole", 0, 100, hole)}},
    {"layer", .index = {{.count = UT_LAYERS}}, STATEMENT_ELEMENTS(struct ut_description, layers),
     .fields = {LAYER("z", f32, 1000, 5000, z), LAYER("stereo", f32, -45, 45, stereo),
                LAYER("staves", u32, 0, UT_STAVES_MAX, staves), LAYER("spread", f32, -5, 5, spread)}},
    {"halves", .repeats = 1, .read = read_halves},
    {"quarters", .repeats = 1, .read = read_quarters}};

/* -------------------------------------------------------------------------------------- derived quantities */

/* The decimal number, of at most four decimals, from which `x` was rounded. */
static double ut_exact(float x) {
  const double scaled = (double)x * 1e4;
  return (double)(int64_t)(scaled + (scaled < 0 ? -0.5 : 0.5)) / 1e4;
}

/* Sine and cosine of an angle in degrees, from their power series, for the same bits on all machines. */
static void ut_sine_cosine(double degrees, double *sine, double *cosine) {
  enum { TERMS = 24 };
  const double angle = degrees * 3.14159265358979323846 / 180.0;
  double term = 1.0;
  *sine = *cosine = 0;
  for (int k = 0; k < TERMS; k++) {
    double *sum = k % 2 ? sine : cosine;
    *sum += k / 2 % 2 ? -term : term;
    term = term * angle / (double)(k + 1);
  }
}

/* The part of a sensor that a sector covers. across: -1, 1: half at smaller, larger x; 0: full width. along: -1, 1:
 * lower, upper half; 0: full length. */
struct ut_part {
  int across, along;
};

/* Computes the position of a sector from its stave and row. As in the experiment's files, half the distance between the
 * first and the last strip and half the length are rounded to float32 first. */
static void ut_place_sector(struct ut_description *d, uint32_t index, struct ut_part part) {
  struct ut_sector_description *s = &d->sectors[index];
  const struct ut_layer_description *layer = &d->layers[s->layer];
  const double width = ut_exact(d->width) / (part.across ? 2 : 1), length = ut_exact(d->length) / (part.along ? 2 : 1);
  const double pitch = width / UT_SECTOR_STRIPS, step = ut_exact(d->step);
  const int is_behind = (s->stave + s->side) % 2 == 1, is_left = s->side == UT_DOWN;
  const double shift = (is_behind ? 1 : -1) * ut_exact(layer->spread) * (double)s->stave;
  const double outwards = step * ((double)s->stave + 0.5) + shift, stave = is_left ? -outwards : outwards;
  const double across = 0.5 * width * part.across, along = 0.5 * length * part.along;
  const double first = across - (double)(float)(0.5 * width - 0.5 * pitch);
  const double row = ((double)s->row - 0.5 * (UT_ROWS - 1)) * step;
  const double lower = row + along - (double)(float)(0.5 * length);
  const double depth = ut_exact(d->stave_depth) + (s->row % 2 ? -1 : 1) * ut_exact(d->sensor_depth);
  double sine, cosine;
  ut_sine_cosine(ut_exact(layer->stereo), &sine, &cosine);
  /* Staves are rotated about their middle on the x axis, the innermost ones about the beam. */
  const double turned = s->stave == 0 ? stave : 0;
  d->pitch[index] = (float)pitch;
  d->dy[index] = (float)(length * cosine);
  d->dx_di[index] = (float)(pitch / cosine);
  d->dy_di[index] = (float)(0.0 - pitch * sine);
  d->dz_di[index] = 0;
  d->x0[index] = (float)((stave + first) / cosine);
  d->y0[index] = (float)(lower * cosine - (turned + first) * sine);
  d->z0[index] = (float)(ut_exact(layer->z) + (is_behind ? depth : -depth));
  d->cosine[index] = (float)cosine;
  d->stave_w[s->layer][s->side][s->stave] = (float)stave;
  d->stave_v[s->layer][s->side][s->stave] = (float)((stave - turned) * sine / cosine);
  s->pitch = d->pitch[index];
  s->z = d->z0[index];
  s->w = (float)(stave + across);
  s->v = (float)(row + along + (stave - turned) * sine / cosine);
  s->half_width = (float)(0.5 * width);
  s->half_length = (float)(0.5 * length);
}

/* Appends a sector. `slot`: one of the 16 slots of a stave (README.md). Returns 0 if there are too many sectors. */
static int ut_add_sector(struct ut_description *d, struct ut_sector_description s, uint32_t slot, struct ut_part part,
                         uint32_t *count) {
  if (*count == UT_SECTORS) return 0;
  s.module = slot / 2;
  s.face = 1 - slot % 2;
  s.channel = ut_channel_of(&s);
  d->sectors[*count] = s;
  ut_place_sector(d, *count, part);
  (*count)++;
  return 1;
}

/* Appends the sectors of a sensor, from below: by ascending number in the lower half of a stave, descending in the
 * upper half. Returns 0 if there are too many sectors. */
static int ut_add_sensor(struct ut_description *d, struct ut_sector_description s, uint32_t *count) {
  const int is_near = s.stave < UT_STAVES_WITH_SLOTS, is_lower = s.row < UT_ROWS / 2;
  const enum ut_sensor_kind kind = is_near ? (enum ut_sensor_kind)d->kinds[s.stave][s.row] : UT_WHOLE;
  const uint32_t slot = is_lower ? s.row : s.row + 2;
  const struct ut_part whole = {0, 0};
  if (kind == UT_WHOLE) return ut_add_sector(d, s, slot, whole, count);
  for (uint32_t along = 0; along < (kind == UT_QUARTERS ? 2u : 1u); along++) {
    for (uint32_t k = 0; k < 2; k++) {
      s.sector = is_lower ? k : 1 - k;
      const int is_inner = (s.sector == 0) == (d->first_is_inner[s.stave][s.row] != 0);
      const int is_right = is_inner == (s.side == UT_DOWN);
      const struct ut_part part = {is_right ? 1 : -1, kind == UT_HALVES ? 0 : along ? 1 : -1};
      const uint32_t first = is_lower || kind == UT_HALVES ? slot : slot - 1; /* quarters: 6, 7 or 8, 9 */
      if (!ut_add_sector(d, s, first + along, part, count)) return 0;
    }
  }
  return 1;
}

/* Appends all sectors, ordered by layer, side, x, y. Returns their number, or 0 if there are too many. */
static uint32_t ut_add_sectors(struct ut_description *d) {
  uint32_t count = 0;
  for (uint32_t layer = 0; layer < UT_LAYERS; layer++) {
    for (uint32_t side = 0; side < UT_SIDES; side++) {
      for (uint32_t k = 0; k < d->layers[layer].staves; k++) {
        const uint32_t stave = side == UT_DOWN ? d->layers[layer].staves - 1 - k : k;
        uint16_t *first = d->first_sector[layer][side][stave];
        for (uint32_t row = 0; row < UT_ROWS; row++) {
          struct ut_sector_description s;
          memset(&s, 0, sizeof s);
          s.layer = layer;
          s.side = side;
          s.stave = stave;
          s.row = row;
          first[row] = (uint16_t)count;
          if (!ut_add_sensor(d, s, &count)) return 0;
        }
        first[UT_ROWS] = (uint16_t)count;
      }
    }
  }
  return count;
}

/* Connects the sectors of each layer in order, six per board. A new board begins at stave 1 and at stave 0 of side x <
 * 0 and at stave 2 of side x > 0. Returns 0 if there are not enough boards. */
static int ut_connect_boards(struct ut_description *d) {
  uint32_t board = 0, lane = 0, group = 0;
  for (uint32_t i = 0; i < UT_LANES; i++) d->lane_index[i] = UT_SECTORS;
  for (uint32_t i = 0; i < UT_SECTORS; i++) {
    const struct ut_sector_description *s = &d->sectors[i];
    const uint32_t of_side = s->side == UT_DOWN ? (s->stave > 1 ? 0 : s->stave == 1 ? 1 : 2) : s->stave < 2 ? 2 : 3;
    if (i == 0 || s->layer != d->sectors[i - 1].layer) {
      board = s->layer * UT_LAYER_BOARDS;
      lane = 0;
    } else if (of_side != group || lane == UT_BOARD_LANES) {
      board++;
      lane = 0;
    }
    group = of_side;
    if (board >= UT_BOARDS) return 0;
    d->lane_index[UT_BOARD_LANES * board + lane++] = (uint16_t)i;
  }
  return 1;
}

static int complete(struct statement *s, void *into) {
  struct ut_description *d = (struct ut_description *)into;
  for (uint32_t layer = 1; layer < UT_LAYERS; layer++)
    if (d->layers[layer].z <= d->layers[layer - 1].z)
      return statement_refuse(s, "layer %u is not downstream of layer %u", layer, layer - 1);
  const uint32_t count = ut_add_sectors(d);
  if (count == 0) return statement_refuse(s, "the layers have more than the %d sectors expected", UT_SECTORS);
  if (count != UT_SECTORS) return statement_refuse(s, "the layers have %u sectors, expected %d", count, UT_SECTORS);
  for (uint32_t layer = 0; layer < UT_LAYERS; layer++) {
    double sine, cosine;
    ut_sine_cosine(ut_exact(d->layers[layer].stereo), &sine, &cosine);
    d->layers[layer].across[0] = d->layers[layer].along[1] = (float)cosine;
    d->layers[layer].across[1] = (float)-sine;
    d->layers[layer].along[0] = (float)sine;
  }
  if (ut_connect_boards(d)) return 1;
  return statement_refuse(s, "the sectors need more than %d readout boards", UT_BOARDS);
}

STATEMENT_DESCRIPTION(ut, kinds, complete);
