/* scifi.geometry: the constant with the mats of the fibre tracker and the links of its banks. It is made from
 * nominal.scifi, from another description in that format, or from a folder with scifi_geometry.bin (README.md, "The
 * detector"). scifi.geometry_sink writes this file.
 *
 * Format 0 of the file has the first channel of each bank; its links are consecutive SiPMs, up to the first channel of
 * the next bank or the end of the quarter; source ids are nominal. Format 1 has the source id of each bank and the
 * first channel of each link.
 *
 * Values from files are checked: they are finite, no position can overflow, and each connected link is a SiPM.
 */
#include "geometry/files.h"
#include "geometry/sink.h"
#include "scifi/description.h"

#include <stdlib.h>
#include <string.h>

#define FILES "scifi_geometry.bin"

enum { MODULES_OF_T1_AND_T2 = 5, MODULES_OF_T3 = 6, LINKS = SCIFI_BANKS * SCIFI_BANK_LINKS };

static uint32_t modules_of(uint32_t quarter) {
  return quarter < SCIFI_QUARTERS / SCIFI_STATIONS * 2 ? (uint32_t)MODULES_OF_T1_AND_T2 : (uint32_t)MODULES_OF_T3;
}

/* -------------------------------------------------------------------------------------------------- the file */

static const struct geometry_field head_fields[] = {
    GEOMETRY_NUMBER(u32, SCIFI_STATIONS, "stations"), GEOMETRY_NUMBER(u32, SCIFI_STATION_LAYERS, "layers of a station"),
    GEOMETRY_NUMBER(u32, SCIFI_LAYERS, "layers"), GEOMETRY_NUMBER(u32, SCIFI_LAYER_QUARTERS, "quarters of a layer"),
    GEOMETRY_NUMBER(u32, SCIFI_QUARTERS, "quarters")};
static const struct geometry_field format_fields[] = {
    GEOMETRY_NUMBER(u32, SCIFI_MODULE_MATS, "mats of a module"), GEOMETRY_NUMBER(u32, SCIFI_MATS, "mats"),
    GEOMETRY_NUMBER(u32, SCIFI_BANKS, "banks"), GEOMETRY_ARRAY(scifi_geometry, format, u32, 1, 0, 1, "format")};
static const struct geometry_field link_fields[] = {
    GEOMETRY_ARRAY(scifi_geometry, source_id, u32, SCIFI_BANKS, 0, UINT16_MAX, "source id of bank"),
    GEOMETRY_ARRAY(scifi_geometry, link_channel, u32, LINKS, 0, UINT32_MAX, "first channels of links")};
#define MATS(name, type, shape, unit, doc) GEOMETRY_LENGTHS(scifi_geometry, name, SCIFI_MAT_TABLE, #name),
static const struct geometry_field mat_fields[] = {GEOMETRY_NUMBER(u32, SCIFI_MAT_TABLE, "mats in a table"),
                                                   SCIFI_MAT_FIELDS(MATS)};

static int is_sipm(uint32_t channel) {
  const uint32_t mat = (channel >> SCIFI_MAT_BIT) - SCIFI_FIRST_MAT;
  const uint32_t quarter = mat >> (SCIFI_QUARTER_BIT - SCIFI_MAT_BIT), module = channel >> SCIFI_MODULE_BIT & 7;
  return mat < SCIFI_MAT_TABLE && module < modules_of(quarter) && channel % SCIFI_SIPM_CHANNELS == 0;
}

/* Checks the first channel of a SiPM at byte `at` of the file. */
static void expect_sipm(struct geometry_file *f, uint32_t channel, size_t at, uint32_t bank) {
  if (!is_sipm(channel))
    geometry_fail(f, "byte %zu: bank %u has a SiPM with first channel %u, which does not exist", at, bank, channel);
}

/* Format 0: the first channel of each bank. */
static void pass_first_channels(struct geometry_file *f, const struct scifi_geometry *g) {
  uint32_t first[SCIFI_BANKS];
  const size_t at = f->position;
  for (uint32_t bank = 0; bank < SCIFI_BANKS; bank++) first[bank] = g->link_channel[bank * SCIFI_BANK_LINKS];
  geometry_values(f, SL_TYPE_u32, first, SCIFI_BANKS, 0, UINT32_MAX, "first channels of banks");
  for (uint32_t bank = 0; bank < SCIFI_BANKS && f->status == SL_OK && !f->output; bank++) {
    expect_sipm(f, first[bank], at + 4 * bank, bank);
    for (uint32_t link = 0; link < SCIFI_BANK_LINKS; link++) {
      const uint32_t channel = first[bank] + (link << SCIFI_SIPM_BIT);
      const int is_next = bank + 1 < SCIFI_BANKS && first[bank] < first[bank + 1] && channel >= first[bank + 1];
      const int is_here = channel >> SCIFI_QUARTER_BIT == first[bank] >> SCIFI_QUARTER_BIT && is_sipm(channel);
      g->link_channel[bank * SCIFI_BANK_LINKS + link] = is_here && !is_next ? channel : (uint32_t)SCIFI_NOT_CONNECTED;
    }
  }
}

static void pass_links(struct geometry_file *f, struct scifi_geometry *g) {
  geometry_fields(f, link_fields, sizeof link_fields / sizeof link_fields[0], g);
  for (uint32_t i = 0; i < LINKS && f->status == SL_OK; i++)
    if (g->link_channel[i] != SCIFI_NOT_CONNECTED)
      expect_sipm(f, g->link_channel[i], f->position - 4 * (LINKS - i), i / SCIFI_BANK_LINKS);
}

static void pass_rest(struct geometry_file *f, void *collection) {
  struct scifi_geometry *g = (struct scifi_geometry *)collection;
  for (uint32_t quarter = 0; quarter < SCIFI_QUARTERS; quarter++)
    geometry_number(f, SL_TYPE_u32, modules_of(quarter), "modules of a quarter");
  geometry_fields(f, format_fields, sizeof format_fields / sizeof format_fields[0], g);
  if (f->status == SL_OK && *g->format == 0)
    pass_first_channels(f, g);
  else if (f->status == SL_OK)
    pass_links(f, g);
  geometry_fields(f, mat_fields, sizeof mat_fields / sizeof mat_fields[0], g);
}

static const struct geometry_layout files[] = {{"scifi_geometry.bin", GEOMETRY_FIELDS(head_fields), .rest = pass_rest},
                                               {0}};
/* All arrays. */
static const struct geometry_layout arrays[] = {{"format", GEOMETRY_FIELDS(format_fields)},
                                                {"links", GEOMETRY_FIELDS(link_fields)},
                                                {"mats", GEOMETRY_FIELDS(mat_fields)},
                                                {0}};

/* ---------------------------------------------------------------------------------------------- the constant */

#define SL_ARGS geometry_args
#define GEOMETRY(M)                                                                                    \
  M(FILE_IN, path, "", FILES, "folder with scifi_geometry.bin; or a description file; empty: nominal") \
  M(OUT, geometry, scifi_geometry, "mats of the fibre tracker, and links of its banks")
SL_HOST_ARGUMENTS(geometry, GEOMETRY);

static int make(const struct sl_services *s, const struct geometry_args *args) {
  const int is_folder = geometry_is_folder(args->path);
  struct scifi_geometry g = {0};
  struct scifi_description *d = (struct scifi_description *)malloc(sizeof *d);
  int status = d ? geometry_make(arrays, s, "geometry", &g) : SL_ENOMEM;
  if (status == SL_OK) status = statements_load(&scifi_description_format, s, is_folder ? NULL : args->path, d);
  if (status == SL_OK) {
    *g.format = 0;
    memcpy(g.source_id, d->source_id, sizeof d->source_id);
    memcpy(g.link_channel, d->link_channel, sizeof d->link_channel);
#define COPY(name, type, shape, unit, doc) memcpy(g.name, d->mats.name, sizeof d->mats.name);
    SCIFI_MAT_FIELDS(COPY)
  }
  free(d);
  return status == SL_OK && is_folder ? geometry_read(files, s, "geometry", args->path, &g) : status;
}

SL_CONSTANT(geometry, "geometry of the fibre tracker: nominal, from a description, or from a file", make);

/* -------------------------------------------------------------------------------------------------- the sink */

#undef SL_ARGS
#define SL_ARGS geometry_sink_args
#define SINK(M)                                                                                                       \
  GEOMETRY_SINK_ARGUMENTS(M, geometry, scifi_geometry, FILES)                                                         \
  M(ENUM, format, "as_read",                                                                                          \
    "format of the file: format_0: first channel of each bank, for versions 4 to 6; format_1: first channel of each " \
    "link, for versions 7 and 8; as_read: format of the input, format_0 for a description",                           \
    "as_read format_0 format_1")
SL_HOST_ARGUMENTS(geometry_sink, SINK);

static int geometry_sink_consume(void *state, const struct sl_services *s, const void *args_,
                                 const struct sl_batch *batch) {
  const struct geometry_sink_args *args = (const struct geometry_sink_args *)args_;
  const uint32_t format = args->format == 0 ? args->geometry.format[0] : args->format - 1;
  struct scifi_geometry_view g = args->geometry;
  (void)batch;
  g.format = &format;
  return geometry_files_write(state, s, &g);
}

GEOMETRY_SINK(geometry_sink, "writes the geometry as the file that scifi.geometry reads", files);
