/* description.h: a description of the fibre tracker, as nominal.scifi is one, and the tables of all mats and banks of
 * it.
 *
 * For host code of plugins that need the detector itself, not its collection in a graph. statements_read and
 * statements_load (geometry/statements.h) read descriptions in scifi_description_format; link Sluice::geometry.
 * Everything is computed in double and rounded once, without the C library's sines, so that the tables are the same
 * everywhere.
 *
 * Numbering. Quarters of a layer: bit 0 is set at x > 0, bit 1 at y > 0. Modules count outwards from the beam, mats and
 * channels along u: towards +x in half of the quarters, towards -x in the other half, where the modules are turned
 * around. Banks: five a quarter, quarter by quarter.
 */
#ifndef SCIFI_DESCRIPTION_H
#define SCIFI_DESCRIPTION_H

#include "geometry/statements.h"
#include "scifi/event_model.h"

struct scifi_station {
  double z;
  uint32_t modules; /* of a quarter */
  uint32_t sipms[SCIFI_QUARTER_BANKS];
};

struct scifi_layer {
  double z;            /* from the station's middle */
  double stereo;       /* angle to the vertical, degrees */
  double sine, cosine; /* of this angle */
};

#define SCIFI_MAT_TABLE_(name, type, shape, unit, doc) float name[SCIFI_MAT_TABLE];
struct scifi_mat_tables {
  SCIFI_MAT_FIELDS(SCIFI_MAT_TABLE_)
};

struct scifi_description {
  double tilt, tilt_sine, tilt_cosine; /* rad */
  struct scifi_station station[SCIFI_STATIONS];
  struct scifi_layer layer[SCIFI_STATION_LAYERS];
  double first_module, module_pitch, mat_pitch, mat_thickness;
  double fibre_begin, fibre_end;
  double hole_upright, hole_away, hole_towards;
  double u_begin, sipm_pitch, die_gap, channel;

  /* What follows of these, as in scifi_geometry. */
  struct scifi_mat_tables mats;
  uint32_t source_id[SCIFI_BANKS];
  uint32_t link_channel[SCIFI_BANKS * SCIFI_BANK_LINKS];
};

/* Where a mat is. */
struct scifi_place {
  uint32_t station, layer, quarter, module, mat; /* station from 0, layer of the station */
};

uint32_t scifi_mat_index(const struct scifi_place *p);
/* How much later a mat's fibres begin, because of the beam pipe. */
double scifi_hole(const struct scifi_description *d, const struct scifi_place *p);

extern const struct statement_format scifi_description_format;

#endif
