/* scifi.geometry: where the mats of the fibre tracker are, and what the links of its banks are: the nominal detector
 * (nominal.scifi), that of another description of that kind, or that of a folder with scifi_geometry.bin (README.md,
 * "The detector").
 *
 * A file of format 0 has a first channel for each bank, from which the links of a bank follow: SiPM after SiPM, up to
 * the next bank's, or the quarter's end. It says nothing of source ids; those of the nominal detector are taken.
 *
 * What kernels get of the file is finite and small enough that no position can overflow, and each link that is
 * connected is a SiPM.
 */
#include "geometry_file.h"
#include "io/geometry_files.h"
#include "scifi/description.h"
#include "scifi/event_model.h"
#include "scifi_nominal_text.h"

#include <string.h>

/* No detector of ours is larger than this, in mm; it keeps all positions far from overflow. */
static const float largest_length = 1e5f;

#define SL_ARGS geometry_args
#define GEOMETRY(M)                                                             \
  M(FILE_IN, path, "", SCIFI_GEOMETRY_FILE,                                     \
    "folder with scifi_geometry.bin; or a description; empty: the nominal one") \
  M(OUT, geometry, scifi_geometry, "mats, and links of banks")
SL_HOST_ARGUMENTS(geometry, GEOMETRY);

/* The arrays to fill, or SL_ENOMEM. */
static int make_arrays(const struct sl_services *s, struct scifi_geometry *g) {
#define MAKE(name, type, shape, unit, doc) .name = s->make_array(s->context, "geometry", #name, SCIFI_MAT_TABLE),
  *g = (struct scifi_geometry){
      .format = s->make_array(s->context, "geometry", "format", 1),
      .source_id = s->make_array(s->context, "geometry", "source_id", SCIFI_BANKS),
      .link_channel = s->make_array(s->context, "geometry", "link_channel", SCIFI_BANKS * SCIFI_BANK_LINKS),
      SCIFI_MAT_FIELDS(MAKE)};
  int complete = g->format && g->source_id && g->link_channel;
#define IS_THERE(name, type, shape, unit, doc) complete = complete && g->name;
  SCIFI_MAT_FIELDS(IS_THERE)
  return complete ? SL_OK : SL_ENOMEM;
}

/* --------------------------------------------------------------------------------------- from a description */

static int make_from_description(const struct sl_services *s, const char *path, struct scifi_geometry *g) {
  struct scifi_description *d = malloc(sizeof *d);
  if (!d) return SL_ENOMEM;
  const int status = scifi_description_load(s, path, scifi_nominal_text, d);
  if (status == SL_OK) {
    *g->format = 0;
    memcpy(g->source_id, d->source_id, sizeof d->source_id);
    memcpy(g->link_channel, d->link_channel, sizeof d->link_channel);
#define COPY(name, type, shape, unit, doc) memcpy(g->name, d->mats.name, sizeof d->mats.name);
    SCIFI_MAT_FIELDS(COPY)
  }
  free(d);
  return status;
}

/* ---------------------------------------------------------------------------------------------- from a file */

static int is_sipm(uint32_t channel) {
  const uint32_t mat = (channel >> SCIFI_MAT_BIT) - SCIFI_FIRST_MAT;
  const uint32_t quarter = mat >> (SCIFI_QUARTER_BIT - SCIFI_MAT_BIT), module = channel >> SCIFI_MODULE_BIT & 7;
  return mat < SCIFI_MAT_TABLE && module < modules_of(quarter) && channel % SCIFI_SIPM_CHANNELS == 0;
}

static int parse_head(struct io_geometry_file *f, uint32_t *format) {
  static const struct {
    uint32_t expected;
    const char *what;
  } numbers[] = {{SCIFI_STATIONS, "stations"},
                 {SCIFI_STATION_LAYERS, "layers of a station"},
                 {SCIFI_LAYERS, "layers"},
                 {SCIFI_LAYER_QUARTERS, "quarters of a layer"},
                 {SCIFI_QUARTERS, "quarters"}};
  int status = SL_OK;
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0] && status == SL_OK; i++)
    status = io_geometry_length_u32(f, numbers[i].expected, numbers[i].what);
  for (uint32_t quarter = 0; quarter < SCIFI_QUARTERS && status == SL_OK; quarter++)
    status = io_geometry_length_u32(f, modules_of(quarter), "modules of a quarter");
  if (status == SL_OK) status = io_geometry_length_u32(f, SCIFI_MODULE_MATS, "mats of a module");
  if (status == SL_OK) status = io_geometry_length_u32(f, SCIFI_MATS, "mats");
  if (status == SL_OK) status = io_geometry_length_u32(f, SCIFI_BANKS, "banks");
  return status == SL_OK ? io_geometry_u32s(f, format, 1, 1, "format") : status;
}

/* `what` is a SiPM's first channel? */
static int expect_sipm(const struct io_geometry_file *f, uint32_t channel, size_t at, uint32_t bank) {
  if (is_sipm(channel)) return SL_OK;
  return io_geometry_error(f, SL_EFORMAT, "byte %zu: bank %u has a SiPM with first channel %u, which does not exist",
                           at, bank, channel);
}

static int parse_first_channels(struct io_geometry_file *f, struct scifi_geometry *g) {
  uint32_t first[SCIFI_BANKS] = {0};
  const size_t at = f->position;
  int status = io_geometry_take(f, first, sizeof first, "first channels of banks");
  for (uint32_t bank = 0; bank < SCIFI_BANKS && status == SL_OK; bank++) {
    status = expect_sipm(f, first[bank], at + 4 * bank, bank);
    for (uint32_t link = 0; link < SCIFI_BANK_LINKS && status == SL_OK; link++) {
      const uint32_t channel = first[bank] + (link << SCIFI_SIPM_BIT);
      const int is_next = bank + 1 < SCIFI_BANKS && first[bank] < first[bank + 1] && channel >= first[bank + 1];
      const int is_here = channel >> SCIFI_QUARTER_BIT == first[bank] >> SCIFI_QUARTER_BIT && is_sipm(channel);
      g->link_channel[bank * SCIFI_BANK_LINKS + link] = is_here && !is_next ? channel : (uint32_t)SCIFI_NOT_CONNECTED;
    }
  }
  return status;
}

static int parse_links(struct io_geometry_file *f, struct scifi_geometry *g) {
  int status = io_geometry_u32s(f, g->source_id, SCIFI_BANKS, UINT16_MAX, "source id of bank");
  const size_t at = f->position;
  if (status == SL_OK)
    status = io_geometry_take(f, g->link_channel, 4 * SCIFI_BANKS * SCIFI_BANK_LINKS, "first channels of links");
  for (uint32_t i = 0; i < SCIFI_BANKS * SCIFI_BANK_LINKS && status == SL_OK; i++)
    if (g->link_channel[i] != SCIFI_NOT_CONNECTED)
      status = expect_sipm(f, g->link_channel[i], at + 4 * i, i / SCIFI_BANK_LINKS);
  return status;
}

static int parse(struct io_geometry_file *f, struct scifi_geometry *g) {
  int status = parse_head(f, g->format);
  if (status == SL_OK) status = *g->format == 0 ? parse_first_channels(f, g) : parse_links(f, g);
  if (status == SL_OK) status = io_geometry_length_u32(f, SCIFI_MAT_TABLE, "mats in a table");
#define PARSE(name, type, shape, unit, doc) \
  if (status == SL_OK) status = io_geometry_floats(f, g->name, SCIFI_MAT_TABLE, largest_length, #name);
  SCIFI_MAT_FIELDS(PARSE)
  return status == SL_OK ? io_geometry_end(f) : status;
}

static int make_from_folder(const struct sl_services *s, const char *folder, struct scifi_geometry *g) {
  struct io_geometry_file file;
  int status = io_geometry_require(s, folder, SCIFI_GEOMETRY_FILE, 0, &file);
  if (status < 0) return status;
  status = make_from_description(s, NULL, g); /* for source ids */
  if (status == SL_OK) status = parse(&file, g);
  io_geometry_free(&file);
  return status;
}

static int make(const struct sl_services *s, const struct geometry_args *args) {
  struct scifi_geometry geometry;
  const int status = make_arrays(s, &geometry);
  if (status < 0) return status;
  return io_geometry_is_folder(args->path) ? make_from_folder(s, args->path, &geometry)
                                           : make_from_description(s, args->path, &geometry);
}

SL_CONSTANT(geometry, "geometry of the fibre tracker: nominal, from a description, or from a file", make);
