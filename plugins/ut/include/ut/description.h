/* description.h: reads a description of the UT, as nominal.ut is one, and puts together all that follows from it:
 * sectors with their places and channels, and which lane of which readout board each is connected to.
 *
 * For host code of plugins that need the detector itself, not its collection in a graph: static functions, no library.
 * A description is complete or refused. Channels and boards follow rules that no description changes (README.md, "The
 * detector"), so that it has the experiment's 1048 sectors or is refused, too.
 *
 * A place in a layer is (w, v): x and y turned by the layer's stereo angle, so that w is across and v along strips.
 */
#ifndef UT_DESCRIPTION_H
#define UT_DESCRIPTION_H

#include "io/statements.h"
#include "ut/event_model.h"

#include <stdio.h>
#include <string.h>

enum {
  UT_ROWS = 14, /* of sensors on a stave */
  UT_STAVES_MAX = 9,
  UT_STAVES_WITH_SLOTS = 2, /* those nearest to the beam can have sensors of several sectors */
  UT_LAYER_BOARDS = 64,     /* numbers from one layer to the next */
  UT_DOWN = 0,              /* sides */
  UT_UP = 1
};

enum ut_sensor_kind { UT_WHOLE, UT_HALVES, UT_QUARTERS };

struct ut_layer_description {
  float z, stereo, spread; /* mm, degrees, mm */
  uint32_t staves;         /* on each side */
  /* Directions across and along strips, in x and y. Both turn a place by sums alone: of a sum beside a difference of
   * products gcc 12 makes one fused instruction, whatever -ffp-contract says, with other bits. */
  float across[2], along[2];
};

struct ut_sector_description {
  uint32_t layer, side, stave, face, module, sector;
  uint32_t channel; /* of the first strip */
  uint32_t row;     /* of the sensor */
  float pitch;
  float z, w, v;                 /* of its middle */
  float half_width, half_length; /* across and along strips */
};

struct ut_description {
  float width, length, thickness; /* of a sensor */
  float step, stave_depth, sensor_depth;
  float hole; /* radius */
  struct ut_layer_description layers[UT_LAYERS];
  uint8_t kinds[UT_STAVES_WITH_SLOTS][UT_ROWS];          /* enum ut_sensor_kind */
  uint8_t first_is_inner[UT_STAVES_WITH_SLOTS][UT_ROWS]; /* sector 0 is the one towards the beam */

  struct ut_sector_description sectors[UT_SECTORS];
  /* A row's first sector, up to the next one's. */
  uint16_t first_sector[UT_LAYERS][UT_SIDES][UT_STAVES_MAX][UT_ROWS + 1];
  /* Middle of a stave: w, and x at y = 0 turned into v. */
  float stave_w[UT_LAYERS][UT_SIDES][UT_STAVES_MAX], stave_v[UT_LAYERS][UT_SIDES][UT_STAVES_MAX];
  uint16_t lane_index[UT_LANES]; /* a sector, or UT_SECTORS */

  /* As in ut_geometry; first strips have number 1. */
  float pitch[UT_SECTORS], dy[UT_SECTORS], dx_di[UT_SECTORS], dy_di[UT_SECTORS], dz_di[UT_SECTORS];
  float x0[UT_SECTORS], y0[UT_SECTORS], z0[UT_SECTORS], cosine[UT_SECTORS];
};

static inline uint32_t ut_channel_of(const struct ut_sector_description *s) {
  return (uint32_t)UT_CHANNEL_TYPE << 21 | s->side << 20 | s->layer << UT_LAYER_BIT | s->stave << 14 | s->face << 13 |
         s->module << 10 | s->sector << 9;
}

/* --------------------------------------------------------------------------------------------- statements */

struct ut_description_reader {
  struct ut_description *d;
  uint32_t seen_words, seen_layers, seen_sensors[UT_STAVES_WITH_SLOTS];
};

static inline int ut_description_layer(struct io_statement *s, struct ut_description_reader *r) {
  uint32_t k;
  if (!io_statement_index(s, "layer", UT_LAYERS, &k)) return 0;
  if (r->seen_layers >> k & 1) return io_statement_refuse(s, "layer %u a second time", k);
  r->seen_layers |= 1u << k;
  struct ut_layer_description *layer = &r->d->layers[k];
  return io_statement_pair(s, "z", 1000, 5000, &layer->z) && io_statement_pair(s, "stereo", -45, 45, &layer->stereo) &&
         io_statement_expect(s, "staves") && io_statement_index(s, "staves", UT_STAVES_MAX + 1, &layer->staves) &&
         io_statement_pair(s, "spread", -5, 5, &layer->spread);
}

static inline int ut_description_split(struct io_statement *s, struct ut_description_reader *r,
                                       enum ut_sensor_kind kind) {
  uint32_t stave, row;
  char side[8];
  if (!io_statement_expect(s, "stave") || !io_statement_index(s, "stave", UT_STAVES_WITH_SLOTS, &stave) ||
      !io_statement_expect(s, "row") || !io_statement_index(s, "row", UT_ROWS, &row) ||
      !io_statement_expect(s, "first"))
    return 0;
  if (r->seen_sensors[stave] >> row & 1) return io_statement_refuse(s, "stave %u, row %u a second time", stave, row);
  io_statement_word(s, side, sizeof side);
  const int is_inner = strcmp(side, "inner") == 0;
  if (!is_inner && strcmp(side, "outer") != 0)
    return io_statement_refuse(s, "the first is inner or outer, not \"%s\"", side);
  if (kind == UT_QUARTERS && row != 6 && row != 7)
    return io_statement_refuse(s, "quarters have channels in rows 6 and 7 only, not in row %u", row);
  r->seen_sensors[stave] |= 1u << row;
  r->d->kinds[stave][row] = (uint8_t)kind;
  r->d->first_is_inner[stave][row] = (uint8_t)is_inner;
  return 1;
}

/* One line; 0 if it is wrong. */
static inline int ut_description_line(struct io_statement *s, void *into) {
  struct ut_description_reader *r = (struct ut_description_reader *)into;
  struct ut_description *d = r->d;
  static const char *const words[] = {"sensor", "step", "stave_depth", "sensor_depth", "hole"};
  uint32_t k = 0;
  while (k < 5 && !io_statement_is(s, words[k])) k++;
  if (k < 5 && !io_statement_once(s, &r->seen_words, k)) return 0;
  if (k == 0)
    return io_statement_pair(s, "width", 10, 200, &d->width) && io_statement_pair(s, "length", 10, 200, &d->length) &&
           io_statement_pair(s, "thickness", 0.01f, 2, &d->thickness);
  if (k == 1) return io_statement_number(s, "step", 10, 200, &d->step);
  if (k == 2) return io_statement_number(s, "stave_depth", 0, 20, &d->stave_depth);
  if (k == 3) return io_statement_number(s, "sensor_depth", 0, 20, &d->sensor_depth);
  if (k == 4) return io_statement_number(s, "hole", 0, 100, &d->hole);
  if (io_statement_is(s, "layer")) return ut_description_layer(s, r);
  if (io_statement_is(s, "halves")) return ut_description_split(s, r, UT_HALVES);
  if (io_statement_is(s, "quarters")) return ut_description_split(s, r, UT_QUARTERS);
  return io_statement_unknown(s);
}

/* ------------------------------------------------------------------------------------------ what follows */

/* A number as it was written, with four decimals at most. */
static inline double ut_exact(float x) {
  const double scaled = (double)x * 1e4;
  return (double)(int64_t)(scaled + (scaled < 0 ? -0.5 : 0.5)) / 1e4;
}

/* Of an angle in degrees, by their series. */
static inline void ut_sine_cosine(double degrees, double *sine, double *cosine) {
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

/* One of a sensor's sectors: across it -1 and 1 are the halves towards smaller and larger x, 0 is both; along it
 * likewise. */
struct ut_part {
  int across, along;
};

/* A sector's place, from that of its stave and its row. The experiment's files have half the distance of the first and
 * the last strip, and half a length, rounded to single precision before all else, and so has this. */
static inline void ut_place_sector(struct ut_description *d, uint32_t index, struct ut_part part) {
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
  /* Staves are turned about their own middle on the x axis, but the innermost ones about the beam. */
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

/* Adds a sector after the `count` ones that there are. `slot`: of the 16 of a stave, two of which only quarters fill.
 */
static inline int ut_add_sector(struct ut_description *d, struct ut_sector_description s, uint32_t slot,
                                struct ut_part part, uint32_t *count) {
  if (*count == UT_SECTORS) return 0;
  s.module = slot / 2;
  s.face = 1 - slot % 2;
  s.channel = ut_channel_of(&s);
  d->sectors[*count] = s;
  ut_place_sector(d, *count, part);
  (*count)++;
  return 1;
}

/* The sectors of a sensor, from below. Those of the lower half of a stave stand in the order of their numbers, those
 * of the upper half in the opposite one. */
static inline int ut_add_sensor(struct ut_description *d, struct ut_sector_description s, uint32_t *count) {
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
      const uint32_t first = is_lower || kind == UT_HALVES ? slot : slot - 1; /* of quarters: 6, 7; 8, 9 */
      if (!ut_add_sector(d, s, first + along, part, count)) return 0;
    }
  }
  return 1;
}

/* Sectors are numbered by layer, side, x, y. */
static inline uint32_t ut_add_sectors(struct ut_description *d) {
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

/* Boards take the sectors of a layer in their order, six each. Another board begins with the side x < 0's stave 1, with
 * its stave 0, and with the other side's stave 2. 0: there are not enough boards. */
static inline int ut_connect_boards(struct ut_description *d) {
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

/* Reads a description: 0, or the number of the line that is wrong (the last one, if something is missing), with the
 * reason. */
static inline uint32_t ut_description_read(const char *text, size_t bytes, struct ut_description *d, char *reason,
                                           size_t reason_size) {
  struct ut_description_reader r;
  uint32_t lines = 0;
  memset(&r, 0, sizeof r);
  memset(d, 0, sizeof *d);
  r.d = d;
  const uint32_t wrong = io_statements_read(text, bytes, ut_description_line, &r, reason, reason_size, &lines);
  if (wrong) return wrong;
  if (r.seen_words != 31 || r.seen_layers != 15) {
    snprintf(reason, reason_size,
             "the description ends without all of sensor, step, stave_depth, sensor_depth, hole and layers 0 to 3");
    return lines;
  }
  for (uint32_t layer = 1; layer < UT_LAYERS; layer++) {
    if (d->layers[layer].z > d->layers[layer - 1].z) continue;
    snprintf(reason, reason_size, "layer %u is not behind layer %u", layer, layer - 1);
    return lines;
  }
  const uint32_t count = ut_add_sectors(d);
  if (count != UT_SECTORS) {
    if (count)
      snprintf(reason, reason_size, "the layers have %u sectors, expected %d", count, UT_SECTORS);
    else
      snprintf(reason, reason_size, "the layers have more than the %d sectors expected", UT_SECTORS);
    return lines;
  }
  for (uint32_t layer = 0; layer < UT_LAYERS; layer++) {
    double sine, cosine;
    ut_sine_cosine(ut_exact(d->layers[layer].stereo), &sine, &cosine);
    d->layers[layer].across[0] = d->layers[layer].along[1] = (float)cosine;
    d->layers[layer].across[1] = (float)-sine;
    d->layers[layer].along[0] = (float)sine;
  }
  if (ut_connect_boards(d)) return 0;
  snprintf(reason, reason_size, "the sectors need more than the %d readout boards that there are", UT_BOARDS);
  return lines;
}

IO_DESCRIPTION(ut)

#endif
