/* ut.geometry: the constant with sectors and readout boards of the UT. It is made from nominal.ut, from another
 * description in that format, or from a folder with ut_geometry.bin and ut_boards.bin (README.md, "The detector").
 * ut.geometry_sink writes these files.
 *
 * Values from files are checked: they are finite, no position can overflow, and the sector index of each lane is valid.
 */
#include "geometry/files.h"
#include "geometry/sink.h"
#include "ut/description.h"

#include <stdlib.h>
#include <string.h>

#define FILES "ut_geometry.bin ut_boards.bin"

/* ------------------------------------------------------------------------------------------------- the files */

static int is_positive(double value) { return value > 0; }
static int is_board(double strips) { return strips == 0 || strips == UT_SECTOR_STRIPS; }

#define SECTORS(field, largest, what, ...) \
  GEOMETRY_ARRAY(ut_geometry, field, f32, UT_SECTORS, -largest, largest, what, __VA_ARGS__)
/* Kernels compute reciprocals of these. */
#define POSITIVE .accepts = is_positive, .expected = "a positive number"
static const struct geometry_field sector_fields[] = {
    GEOMETRY_NUMBER(u32, UT_SECTORS, "sectors"),
    GEOMETRY_ARRAY(ut_geometry, first_strip, u32, UT_SECTORS, 0, 1, "first strip"),
    SECTORS(pitch, 10, "pitch", POSITIVE),
    SECTORS(dy, 1000, "length", POSITIVE),
    SECTORS(dx_di, 10, "dx of a strip"),
    SECTORS(dy_di, 10, "dy of a strip"),
    SECTORS(dz_di, 10, "dz of a strip"),
    GEOMETRY_LENGTHS(ut_geometry, x0, UT_SECTORS, "x of sector"),
    GEOMETRY_LENGTHS(ut_geometry, y0, UT_SECTORS, "y of sector"),
    GEOMETRY_LENGTHS(ut_geometry, z0, UT_SECTORS, "z of sector"),
    SECTORS(cosine, 1, "cosine of sector", POSITIVE)};

#define LANES(field, largest, what) GEOMETRY_ARRAY(ut_geometry, field, u32, UT_LANES, 0, largest, what)
static const struct geometry_field board_fields[] = {
    GEOMETRY_NUMBER(u32, UT_BOARDS, "boards"),
    GEOMETRY_NUMBER(u32, 3, "the format"),
    GEOMETRY_ARRAY(ut_geometry, board_strips, u32, UT_BOARDS, 0, UT_SECTOR_STRIPS, "strips of a sector of board",
                   .accepts = is_board, .expected = "0 or 512"),
    LANES(lane_sector, 1, "sector of lane"),
    LANES(lane_module, 7, "module of lane"),
    LANES(lane_face, 1, "face of lane"),
    LANES(lane_stave, UT_STAVES_MAX - 1, "stave of lane"),
    LANES(lane_layer, UT_LAYERS - 1, "layer of lane"),
    LANES(lane_side, 1, "side of lane"),
    LANES(lane_type, UT_CHANNEL_TYPE, "type of lane"),
    LANES(lane_channel, 0xFFFFFF, "channel of lane")};

/* Index of the sector with this channel; UT_SECTORS if there is none. All geometries have the same numbering. */
static uint32_t index_of(const struct ut_description *numbering, uint32_t channel) {
  uint32_t i = 0;
  while (i < UT_SECTORS && numbering->sectors[i].channel != (channel & ~(uint32_t)(UT_SECTOR_STRIPS - 1))) i++;
  return i;
}

static void connect_lane(struct geometry_file *f, const struct ut_geometry *g, const struct ut_description *numbering,
                         uint32_t i) {
  const uint32_t board = i / UT_BOARD_LANES, lane = i % UT_BOARD_LANES;
  const struct ut_sector_description named = {.layer = g->lane_layer[i],
                                              .side = g->lane_side[i],
                                              .stave = g->lane_stave[i],
                                              .face = g->lane_face[i],
                                              .module = g->lane_module[i],
                                              .sector = g->lane_sector[i]};
  const uint32_t channel = ut_channel_of(&named), index = index_of(numbering, channel);
  g->lane_index[i] = UT_SECTORS;
  if (g->lane_type[i] == 0) return;
  if (g->lane_type[i] != UT_CHANNEL_TYPE)
    geometry_fail(f, "board %u, lane %u: type is %u, expected 0 or %d", board, lane, g->lane_type[i], UT_CHANNEL_TYPE);
  else if (g->board_strips[board] == 0)
    geometry_fail(f, "board %u, lane %u: the lane is connected, but the board does not exist", board, lane);
  else if (index == UT_SECTORS)
    geometry_fail(f, "board %u, lane %u: there is no sector %u of module %u, face %u, stave %u, layer %u, side %u",
                  board, lane, named.sector, named.module, named.face, named.stave, named.layer, named.side);
  else if (index_of(numbering, g->lane_channel[i]) != index)
    geometry_fail(f, "board %u, lane %u: channel is %u, expected %u for its sector", board, lane, g->lane_channel[i],
                  channel);
  else
    g->lane_index[i] = index;
}

/* Computes lane_index, which is not in the file. */
static void connect_lanes(struct geometry_file *f, void *collection) {
  struct ut_geometry *g = (struct ut_geometry *)collection;
  if (f->output) return;
  struct ut_description *numbering = (struct ut_description *)malloc(sizeof *numbering);
  g->lane_index = (uint32_t *)f->services->make_array(f->services->context, f->port, "lane_index", UT_LANES);
  f->status =
      numbering && g->lane_index ? statements_load(&ut_description_format, f->services, NULL, numbering) : SL_ENOMEM;
  for (uint32_t i = 0; i < UT_LANES && f->status == SL_OK; i++) connect_lane(f, g, numbering, i);
  free(numbering);
}

static const struct geometry_layout files[] = {{"ut_geometry.bin", GEOMETRY_FIELDS(sector_fields)},
                                               {"ut_boards.bin", GEOMETRY_FIELDS(board_fields), .rest = connect_lanes},
                                               {0}};

/* ---------------------------------------------------------------------------------------------- the constant */

#define SL_ARGS geometry_args
#define GEOMETRY(M)                                                                                                   \
  M(FILE_IN, path, "", FILES, "folder with ut_geometry.bin and ut_boards.bin; or a description file; empty: nominal") \
  M(OUT, geometry, ut_geometry, "sectors and readout boards")
SL_HOST_ARGUMENTS(geometry, GEOMETRY);

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

/* Lanes that are not connected keep the zeros of new arrays. */
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
  struct ut_geometry g = {0};
  if (geometry_is_folder(args->path)) return geometry_read(files, s, "geometry", args->path, &g);
  struct ut_description *d = (struct ut_description *)malloc(sizeof *d);
  int status = d ? statements_load(&ut_description_format, s, args->path, d) : SL_ENOMEM;
  if (status == SL_OK) status = geometry_make(files, s, "geometry", &g);
  if (status == SL_OK) {
    g.lane_index = (uint32_t *)s->make_array(s->context, "geometry", "lane_index", UT_LANES);
    status = g.lane_index ? SL_OK : SL_ENOMEM;
  }
  if (status == SL_OK) {
    take_sectors(d, &g);
    take_boards(d, &g);
  }
  free(d);
  return status;
}

SL_CONSTANT(geometry, "UT sectors and readout boards: nominal, from a description, or from files", make);

/* -------------------------------------------------------------------------------------------------- the sink */

#undef SL_ARGS
#define SL_ARGS geometry_sink_args
#define SINK(M) GEOMETRY_SINK_ARGUMENTS(M, geometry, ut_geometry, FILES)
SL_HOST_ARGUMENTS(geometry_sink, SINK);
GEOMETRY_SINK_CONSUME(geometry_sink, geometry)
GEOMETRY_SINK(geometry_sink, "writes the geometry as files that ut.geometry reads", files);
