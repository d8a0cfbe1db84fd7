/* description.h: contents of a text description of the UT such as nominal.ut, and derived quantities: sectors with
 * positions and channels, and the readout board and lane of each sector.
 *
 * For host code that needs the detector outside a graph. statements_read and statements_load (geometry/statements.h)
 * read descriptions in ut_description_format; link Sluice::geometry. Channels and boards follow fixed rules (README.md,
 * "The detector"), so a description that does not have 1048 sectors is refused.
 *
 * A position in a layer is (w, v): x and y rotated by the stereo angle of the layer; w is across, v along the strips.
 */
#ifndef UT_DESCRIPTION_H
#define UT_DESCRIPTION_H

#include "geometry/statements.h"
#include "ut/event_model.h"

enum {
  UT_ROWS = 14, /* sensors on a stave */
  UT_STAVES_MAX = 9,
  UT_STAVES_WITH_SLOTS = 2, /* staves nearest to the beam, which can have sensors of several sectors */
  UT_LAYER_BOARDS = 64,     /* board numbers per layer */
  UT_DOWN = 0,              /* side x < 0 */
  UT_UP = 1
};

enum ut_sensor_kind { UT_WHOLE, UT_HALVES, UT_QUARTERS };

struct ut_layer_description {
  float z, stereo, spread; /* mm, degrees, mm */
  uint32_t staves;         /* on each side */
  /* Directions across and along the strips, in x and y. Both rotations use sums only: from a sum next to a difference
   * of products gcc 12 makes one fused instruction, even with -ffp-contract=off, and gives other bits. */
  float across[2], along[2];
};

struct ut_sector_description {
  uint32_t layer, side, stave, face, module, sector;
  uint32_t channel; /* channel of the first strip */
  uint32_t row;     /* row of the sensor */
  float pitch;
  float z, w, v;                 /* middle of the sector */
  float half_width, half_length; /* across and along strips */
};

struct ut_description {
  float width, length, thickness; /* dimensions of a sensor */
  float step, stave_depth, sensor_depth;
  float hole; /* radius of the hole around the beam */
  struct ut_layer_description layers[UT_LAYERS];
  uint8_t kinds[UT_STAVES_WITH_SLOTS][UT_ROWS];          /* enum ut_sensor_kind */
  uint8_t first_is_inner[UT_STAVES_WITH_SLOTS][UT_ROWS]; /* 1: sector 0 is nearer to the beam */

  struct ut_sector_description sectors[UT_SECTORS];
  /* First sector of each row; its sectors end at the first one of the next row. */
  uint16_t first_sector[UT_LAYERS][UT_SIDES][UT_STAVES_MAX][UT_ROWS + 1];
  /* Middle of a stave: w, and v of its point at y = 0. */
  float stave_w[UT_LAYERS][UT_SIDES][UT_STAVES_MAX], stave_v[UT_LAYERS][UT_SIDES][UT_STAVES_MAX];
  uint16_t lane_index[UT_LANES]; /* sector of each lane, or UT_SECTORS */

  /* Fields of ut_geometry. First strips have number 1. */
  float pitch[UT_SECTORS], dy[UT_SECTORS], dx_di[UT_SECTORS], dy_di[UT_SECTORS], dz_di[UT_SECTORS];
  float x0[UT_SECTORS], y0[UT_SECTORS], z0[UT_SECTORS], cosine[UT_SECTORS];
};

static inline uint32_t ut_channel_of(const struct ut_sector_description *s) {
  return (uint32_t)UT_CHANNEL_TYPE << 21 | s->side << 20 | s->layer << UT_LAYER_BIT | s->stave << 14 | s->face << 13 |
         s->module << 10 | s->sector << 9;
}

extern const struct statement_format ut_description_format;

#endif
