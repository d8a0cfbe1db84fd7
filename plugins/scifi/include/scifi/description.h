/* description.h: contents of a text description of the fibre tracker such as nominal.scifi, and its tables of mats and
 * banks.
 *
 * For host code that needs the detector outside a graph. statements_read and statements_load (geometry/statements.h)
 * read descriptions in scifi_description_format; link Sluice::geometry. Tables are computed in double without sines of
 * the C library and rounded once, so that they are equal on all machines.
 *
 * Numbering. Quarters of a layer: bit 0 is set at x > 0, bit 1 at y > 0. Modules count outwards from the beam, mats and
 * channels along u: towards +x in half of the quarters, towards -x in the others, where modules are rotated. Banks:
 * five per quarter, quarter by quarter.
 */
#ifndef SCIFI_DESCRIPTION_H
#define SCIFI_DESCRIPTION_H

#include "geometry/statements.h"
#include "scifi/event_model.h"

struct scifi_station {
  double z;
  uint32_t modules; /* modules per quarter */
  uint32_t sipms[SCIFI_QUARTER_BANKS];
};

struct scifi_layer {
  double z;            /* relative to the middle of the station */
  double stereo;       /* angle to the vertical, degrees */
  double sine, cosine; /* of the stereo angle */
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

  /* Derived: fields of scifi_geometry. */
  struct scifi_mat_tables mats;
  uint32_t source_id[SCIFI_BANKS];
  uint32_t link_channel[SCIFI_BANKS * SCIFI_BANK_LINKS];
};

/* Address of a mat. */
struct scifi_mat_address {
  uint32_t station, layer, quarter, module, mat; /* station from 0, layer of the station */
};

uint32_t scifi_mat_index(const struct scifi_mat_address *p);
/* Distance by which the fibres of a mat begin later because of the beam pipe. */
double scifi_hole(const struct scifi_description *d, const struct scifi_mat_address *p);

extern const struct statement_format scifi_description_format;

#endif
