/* ut.geometry: sectors and readout boards of the UT: the nominal ones (nominal.ut), those of another description of
 * that kind, or those of a folder with ut_geometry.bin and ut_boards.bin (README.md, "The detector").
 *
 * What kernels get of the binary files (geometry_file.h) is finite and small enough that no position can overflow, and
 * a lane's place in the arrays of sectors is within them.
 */
#include "geometry_file.h"
#include "io/geometry_files.h"
#include "ut/description.h"
#include "ut_nominal_text.h"

#include <stdlib.h>
#include <string.h>

static const float largest_length = 1e5f;

#define SL_ARGS geometry_args
#define GEOMETRY(M)                                                                            \
  M(FILE_IN, path, "", UT_GEOMETRY_FILE " " UT_BOARDS_FILE,                                    \
    "folder with ut_geometry.bin and ut_boards.bin; or a description; empty: the nominal one") \
  M(OUT, geometry, ut_geometry, "sectors and readout boards")
SL_HOST_ARGUMENTS(geometry, GEOMETRY);

/* The arrays to fill, or SL_ENOMEM. */
static int make_arrays(const struct sl_services *s, struct ut_geometry *g) {
  int complete = 1;
#define MAKE(name, count) g->name = s->make_array(s->context, "geometry", #name, count), complete = complete && g->name
  MAKE(first_strip, UT_SECTORS);
  MAKE(pitch, UT_SECTORS);
  MAKE(dy, UT_SECTORS);
  MAKE(dx_di, UT_SECTORS);
  MAKE(dy_di, UT_SECTORS);
  MAKE(dz_di, UT_SECTORS);
  MAKE(x0, UT_SECTORS);
  MAKE(y0, UT_SECTORS);
  MAKE(z0, UT_SECTORS);
  MAKE(cosine, UT_SECTORS);
  MAKE(board_strips, UT_BOARDS);
  MAKE(lane_sector, UT_LANES);
  MAKE(lane_module, UT_LANES);
  MAKE(lane_face, UT_LANES);
  MAKE(lane_stave, UT_LANES);
  MAKE(lane_layer, UT_LANES);
  MAKE(lane_side, UT_LANES);
  MAKE(lane_type, UT_LANES);
  MAKE(lane_channel, UT_LANES);
  MAKE(lane_index, UT_LANES);
#undef MAKE
  return complete ? SL_OK : SL_ENOMEM;
}

/* -------------------------------------------------------------------------------------------- from the files */

/* Positive numbers, of which kernels make reciprocals. */
static int expect_positive(const struct io_geometry_file *f, const float *values, const char *what) {
  for (uint32_t i = 0; i < UT_SECTORS; i++)
    if (!(values[i] > 0))
      return io_geometry_error(f, SL_EFORMAT, "%s number %u is %g, expected a positive number", what, i,
                               (double)values[i]);
  return SL_OK;
}

static int parse_sectors(struct io_geometry_file *f, const struct ut_geometry *g) {
  const struct {
    float *values;
    float largest;
    const char *what;
  } arrays[] = {{g->pitch, 10.0f, "pitch"},
                {g->dy, 1000.0f, "length"},
                {g->dx_di, 10.0f, "dx of a strip"},
                {g->dy_di, 10.0f, "dy of a strip"},
                {g->dz_di, 10.0f, "dz of a strip"},
                {g->x0, largest_length, "x of sector"},
                {g->y0, largest_length, "y of sector"},
                {g->z0, largest_length, "z of sector"},
                {g->cosine, 1.0f, "cosine of sector"}};
  int status = io_geometry_length_u32(f, UT_SECTORS, "sectors");
  if (status == SL_OK) status = io_geometry_u32s(f, g->first_strip, UT_SECTORS, 1, "first strip");
  for (size_t i = 0; status == SL_OK && i < sizeof arrays / sizeof arrays[0]; i++)
    status = io_geometry_floats(f, arrays[i].values, UT_SECTORS, arrays[i].largest, arrays[i].what);
  if (status == SL_OK) status = expect_positive(f, g->pitch, "pitch");
  if (status == SL_OK) status = expect_positive(f, g->dy, "length");
  return status == SL_OK ? expect_positive(f, g->cosine, "cosine of sector") : status;
}

/* A sector's place in the arrays follows from its channel, by the numbering that all geometries share. */
static uint32_t index_of(const struct ut_description *numbering, uint32_t channel) {
  uint32_t i = 0;
  while (i < UT_SECTORS && numbering->sectors[i].channel != (channel & ~(uint32_t)(UT_SECTOR_STRIPS - 1))) i++;
  return i;
}

static int connect_lane(const struct io_geometry_file *f, const struct ut_geometry *g,
                        const struct ut_description *numbering, uint32_t i) {
  const uint32_t board = i / UT_BOARD_LANES, lane = i % UT_BOARD_LANES;
  g->lane_index[i] = UT_SECTORS;
  if (g->lane_type[i] == 0) return SL_OK;
  if (g->lane_type[i] != UT_CHANNEL_TYPE)
    return io_geometry_error(f, SL_EFORMAT, "board %u, lane %u: type is %u, expected 0 or %d", board, lane,
                             g->lane_type[i], UT_CHANNEL_TYPE);
  if (g->board_strips[board] == 0)
    return io_geometry_error(f, SL_EFORMAT, "board %u, lane %u: is connected, but there is no such board", board, lane);
  const struct ut_sector_description named = {.layer = g->lane_layer[i],
                                              .side = g->lane_side[i],
                                              .stave = g->lane_stave[i],
                                              .face = g->lane_face[i],
                                              .module = g->lane_module[i],
                                              .sector = g->lane_sector[i]};
  const uint32_t channel = ut_channel_of(&named), index = index_of(numbering, channel);
  if (index == UT_SECTORS)
    return io_geometry_error(f, SL_EFORMAT,
                             "board %u, lane %u: there is no sector %u of module %u, face %u, stave %u, layer %u, "
                             "side %u",
                             board, lane, named.sector, named.module, named.face, named.stave, named.layer, named.side);
  if (index_of(numbering, g->lane_channel[i]) != index)
    return io_geometry_error(f, SL_EFORMAT, "board %u, lane %u: channel is %u, expected %u for its sector", board, lane,
                             g->lane_channel[i], channel);
  g->lane_index[i] = index;
  return SL_OK;
}

static int parse_boards(struct io_geometry_file *f, const struct ut_geometry *g,
                        const struct ut_description *numbering) {
  const struct {
    uint32_t *values, largest;
    const char *what;
  } arrays[LANE_ARRAYS] = {{g->lane_sector, 1, "sector of lane"},
                           {g->lane_module, 7, "module of lane"},
                           {g->lane_face, 1, "face of lane"},
                           {g->lane_stave, UT_STAVES_MAX - 1, "stave of lane"},
                           {g->lane_layer, UT_LAYERS - 1, "layer of lane"},
                           {g->lane_side, 1, "side of lane"},
                           {g->lane_type, UT_CHANNEL_TYPE, "type of lane"},
                           {g->lane_channel, 0xFFFFFF, "channel of lane"}};
  int status = io_geometry_length_u32(f, UT_BOARDS, "boards");
  if (status == SL_OK) status = io_geometry_length_u32(f, BOARDS_FORMAT, "the format");
  if (status == SL_OK)
    status = io_geometry_u32s(f, g->board_strips, UT_BOARDS, UT_SECTOR_STRIPS, "strips of a sector of board");
  for (uint32_t board = 0; status == SL_OK && board < UT_BOARDS; board++)
    if (g->board_strips[board] != 0 && g->board_strips[board] != UT_SECTOR_STRIPS)
      return io_geometry_error(f, SL_EFORMAT, "strips of a sector of board %u are %u, expected 0 or %d", board,
                               g->board_strips[board], UT_SECTOR_STRIPS);
  for (uint32_t i = 0; status == SL_OK && i < LANE_ARRAYS; i++)
    status = io_geometry_u32s(f, arrays[i].values, UT_LANES, arrays[i].largest, arrays[i].what);
  for (uint32_t i = 0; status == SL_OK && i < UT_LANES; i++) status = connect_lane(f, g, numbering, i);
  return status;
}

static int read_sectors(const struct sl_services *s, const char *folder, const struct ut_geometry *g) {
  struct io_geometry_file file;
  int status = io_geometry_require(s, folder, UT_GEOMETRY_FILE, GEOMETRY_FILE_BYTES, &file);
  if (status < 0) return status;
  status = parse_sectors(&file, g);
  io_geometry_free(&file);
  return status;
}

static int read_boards(const struct sl_services *s, const char *folder, const struct ut_geometry *g,
                       const struct ut_description *numbering) {
  struct io_geometry_file file;
  int status = io_geometry_require(s, folder, UT_BOARDS_FILE, BOARDS_FILE_BYTES, &file);
  if (status < 0) return status;
  status = parse_boards(&file, g, numbering);
  io_geometry_free(&file);
  return status;
}

/* --------------------------------------------------------------------------------------- from a description */

static void take_sectors(const struct ut_description *d, const struct ut_geometry *g) {
  for (uint32_t i = 0; i < UT_SECTORS; i++) g->first_strip[i] = 1;
  memcpy(g->pitch, d->pitch, sizeof d->pitch);
  memcpy(g->dy, d->dy, sizeof d->dy);
  memcpy(g->dx_di, d->dx_di, sizeof d->dx_di);
  memcpy(g->dy_di, d->dy_di, sizeof d->dy_di);
  memcpy(g->dz_di, d->dz_di, sizeof d->dz_di);
  memcpy(g->x0, d->x0, sizeof d->x0);
  memcpy(g->y0, d->y0, sizeof d->y0);
  memcpy(g->z0, d->z0, sizeof d->z0);
  memcpy(g->cosine, d->cosine, sizeof d->cosine);
}

/* Arrays come zeroed. */
static void take_boards(const struct ut_description *d, const struct ut_geometry *g) {
  for (uint32_t i = 0; i < UT_LANES; i++) {
    g->lane_index[i] = d->lane_index[i];
    if (d->lane_index[i] == UT_SECTORS) continue;
    const struct ut_sector_description *s = &d->sectors[d->lane_index[i]];
    g->board_strips[i / UT_BOARD_LANES] = UT_SECTOR_STRIPS;
    g->lane_sector[i] = s->sector;
    g->lane_module[i] = s->module;
    g->lane_face[i] = s->face;
    g->lane_stave[i] = s->stave;
    g->lane_layer[i] = s->layer;
    g->lane_side[i] = s->side;
    g->lane_type[i] = UT_CHANNEL_TYPE;
    g->lane_channel[i] = s->channel;
  }
}

static int make(const struct sl_services *s, const struct geometry_args *args) {
  const int is_folder = io_geometry_is_folder(args->path);
  struct ut_geometry g;
  struct ut_description *d = malloc(sizeof *d);
  if (!d) return SL_ENOMEM;
  int status = ut_description_load(s, is_folder ? "" : args->path, ut_nominal_text, d);
  if (status == SL_OK) status = make_arrays(s, &g);
  if (status == SL_OK && is_folder) {
    status = read_sectors(s, args->path, &g);
    if (status == SL_OK) status = read_boards(s, args->path, &g, d);
  } else if (status == SL_OK) {
    take_sectors(d, &g);
    take_boards(d, &g);
  }
  free(d);
  return status;
}

SL_CONSTANT(geometry, "UT sectors and readout boards: nominal, from a description, or from files", make);
