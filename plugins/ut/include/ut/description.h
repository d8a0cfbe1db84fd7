/* description.h: a description of the UT, as nominal.ut is one, and all that follows from it: sectors with their places
 * and channels, and which lane of which readout board each is connected to.
 *
 * For host code of plugins that need the detector itself, not its collection in a graph. statements_read and
 * statements_load (geometry/statements.h) read descriptions in ut_description_format; link Sluice::geometry. Channels
 * and boards follow rules that no description changes (README.md, "The detector"), so that a description has the
 * experiment's 1048 sectors or is refused.
 *
 * A place in a layer is (w, v): x and y turned by the layer's stereo angle, so that w is across and v along strips.
 */
#ifndef UT_DESCRIPTION_H
#define UT_DESCRIPTION_H

#include "geometry/statements.h"
#include "ut/event_model.h"

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

extern const struct statement_format ut_description_format;

#endif
