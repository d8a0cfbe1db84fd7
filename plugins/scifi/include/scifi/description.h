/* description.h: reads a description of the fibre tracker, as nominal.scifi is one, and makes the tables of all mats
 * and banks of it.
 *
 * For host code of plugins that need the detector itself, not its collection in a graph: static functions, no library.
 * A description is complete or refused: each statement must appear once (stations 1 to 3, layers 0 to 3). Everything is
 * computed in double and rounded once, without the C library's sines, so that the tables are the same everywhere.
 *
 * Numbering. Quarters of a layer: bit 0 is set at x > 0, bit 1 at y > 0. Modules count outwards from the beam, mats and
 * channels along u: towards +x in half of the quarters, towards -x in the other half, where the modules are turned
 * around. Banks: five a quarter, quarter by quarter.
 */
#ifndef SCIFI_DESCRIPTION_H
#define SCIFI_DESCRIPTION_H

#include "io/statements.h"
#include "scifi/event_model.h"

#include <math.h>

struct scifi_station {
  double z;
  uint32_t modules; /* of a quarter */
  uint32_t sipms[SCIFI_QUARTER_BANKS];
};

struct scifi_layer {
  double z;            /* from the station's middle */
  double sine, cosine; /* of the stereo angle */
};

#define SCIFI_MAT_TABLE_(name, type, shape, unit, doc) float name[SCIFI_MAT_TABLE];
struct scifi_mat_tables {
  SCIFI_MAT_FIELDS(SCIFI_MAT_TABLE_)
};

struct scifi_description {
  double tilt_sine, tilt_cosine;
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

/* --------------------------------------------------------------------------------------------- statements */

enum {
  SCIFI_STATEMENTS = 6,
  SCIFI_DESCRIPTION_SEEN = (1 << (SCIFI_STATEMENTS + SCIFI_STATIONS + SCIFI_STATION_LAYERS)) - 1
};

struct scifi_description_reader {
  struct scifi_description *d;
  uint32_t seen; /* statements, then stations, then layers */
};

/* sin(angle), by its series: of small angles, below 0.2. */
static inline double scifi_sine(double angle) {
  const double square = angle * angle;
  return angle * (1 - square / 6 * (1 - square / 20 * (1 - square / 42 * (1 - square / 72 * (1 - square / 110)))));
}

static inline int scifi_description_pair(struct io_statement *s, const char *keyword, double low, double high,
                                         double *value) {
  return io_statement_expect(s, keyword) && io_statement_double(s, keyword, low, high, value);
}

static inline int scifi_description_station(struct io_statement *s, struct scifi_description_reader *r) {
  uint32_t number, sum = 0;
  if (!io_statement_index(s, "station", SCIFI_STATIONS + 1, &number)) return 0;
  if (number == 0) return io_statement_refuse(s, "station is 0, expected 1 to %d", SCIFI_STATIONS);
  if (!io_statement_once(s, &r->seen, SCIFI_STATEMENTS + number - 1)) return 0;
  struct scifi_station *station = &r->d->station[number - 1];
  if (!scifi_description_pair(s, "z", 1000, 20000, &station->z) || !io_statement_expect(s, "modules") ||
      !io_statement_index(s, "modules", 7, &station->modules) || !io_statement_expect(s, "sipms"))
    return 0;
  for (uint32_t i = 0; i < SCIFI_QUARTER_BANKS; i++) {
    if (!io_statement_index(s, "sipms", SCIFI_BANK_LINKS + 1, &station->sipms[i])) return 0;
    sum += station->sipms[i];
  }
  if (sum == station->modules * SCIFI_MODULE_MATS * SCIFI_MAT_SIPMS) return 1;
  return io_statement_refuse(s, "%u modules have %u SiPMs, but the banks have %u", station->modules,
                             station->modules * SCIFI_MODULE_MATS * SCIFI_MAT_SIPMS, sum);
}

static inline int scifi_description_layer(struct io_statement *s, struct scifi_description_reader *r) {
  const double degree = 0.017453292519943295;
  uint32_t number;
  double angle = 0;
  if (!io_statement_index(s, "layer", SCIFI_STATION_LAYERS, &number)) return 0;
  if (!io_statement_once(s, &r->seen, SCIFI_STATEMENTS + SCIFI_STATIONS + number)) return 0;
  struct scifi_layer *layer = &r->d->layer[number];
  if (!scifi_description_pair(s, "z", -500, 500, &layer->z) || !scifi_description_pair(s, "stereo", -10, 10, &angle))
    return 0;
  layer->sine = scifi_sine(angle * degree);
  layer->cosine = sqrt(1 - layer->sine * layer->sine);
  return 1;
}

static inline int scifi_description_statement(struct io_statement *s, struct scifi_description *d, uint32_t which) {
  double tilt = 0;
  switch (which) {
    case 0:
      if (!io_statement_double(s, "tilt", -0.1, 0.1, &tilt)) return 0;
      d->tilt_sine = scifi_sine(tilt);
      d->tilt_cosine = sqrt(1 - d->tilt_sine * d->tilt_sine);
      return 1;
    case 1:
      return scifi_description_pair(s, "first", 1, 1000, &d->first_module) &&
             scifi_description_pair(s, "pitch", 1, 1000, &d->module_pitch);
    case 2:
      return scifi_description_pair(s, "pitch", 1, 1000, &d->mat_pitch) &&
             scifi_description_pair(s, "thickness", 0.1, 10, &d->mat_thickness);
    case 3:
      return scifi_description_pair(s, "begin", 0, 1000, &d->fibre_begin) &&
             scifi_description_pair(s, "end", 1000, 5000, &d->fibre_end);
    case 4:
      return scifi_description_pair(s, "upright", 0, 500, &d->hole_upright) &&
             scifi_description_pair(s, "away", 0, 500, &d->hole_away) &&
             scifi_description_pair(s, "towards", 0, 500, &d->hole_towards);
    default:
      return scifi_description_pair(s, "begin", -500, 0, &d->u_begin) &&
             scifi_description_pair(s, "pitch", 1, 100, &d->sipm_pitch) &&
             scifi_description_pair(s, "die_gap", 0, 10, &d->die_gap) &&
             scifi_description_pair(s, "channel", 0.01, 1, &d->channel);
  }
}

/* One line; 0 if it is wrong. */
static inline int scifi_description_line(struct io_statement *s, void *into) {
  static const char *const words[SCIFI_STATEMENTS] = {"tilt", "modules", "mats", "fibres", "beam_hole", "sipms"};
  struct scifi_description_reader *r = (struct scifi_description_reader *)into;
  for (uint32_t k = 0; k < SCIFI_STATEMENTS; k++)
    if (io_statement_is(s, words[k]))
      return io_statement_once(s, &r->seen, k) && scifi_description_statement(s, r->d, k);
  if (io_statement_is(s, "station")) return scifi_description_station(s, r);
  if (io_statement_is(s, "layer")) return scifi_description_layer(s, r);
  return io_statement_unknown(s);
}

/* ------------------------------------------------------------------------------------------ what follows */

/* Where a mat is. */
struct scifi_place {
  uint32_t station, layer, quarter, module, mat; /* station from 0, layer of the station */
};

static inline uint32_t scifi_mat_index(const struct scifi_place *p) {
  const uint32_t channel = (p->station + 1) << SCIFI_STATION_BIT | p->layer << SCIFI_LAYER_BIT |
                           p->quarter << SCIFI_QUARTER_BIT | p->module << SCIFI_MODULE_BIT | p->mat << SCIFI_MAT_BIT;
  return (channel >> SCIFI_MAT_BIT) - SCIFI_FIRST_MAT;
}

/* 1, or -1 in the quarters whose modules are turned around. */
static inline int scifi_u_sign(uint32_t layer, uint32_t quarter) { return layer % 2 == quarter / 2 ? 1 : -1; }

/* How much later a mat's fibres begin. */
static inline double scifi_hole(const struct scifi_description *d, const struct scifi_place *p) {
  const uint32_t is_right = p->quarter % 2, is_top = p->quarter / 2;
  const uint32_t is_ascending = scifi_u_sign(p->layer, p->quarter) > 0;
  const uint32_t innermost = is_right == is_ascending ? 0 : SCIFI_MODULE_MATS - 1;
  const double sine = d->layer[p->layer].sine;
  if (p->module != 0 || p->mat != innermost) return 0;
  if (sine == 0) return d->hole_upright;
  return (is_right == is_top) == (sine > 0) ? d->hole_away : d->hole_towards;
}

/* The point at u, and at v along the fibres from the module's middle line, y and z. */
static inline double scifi_x(const struct scifi_layer *layer, double module_x, double u, double v) {
  return module_x + u * layer->cosine + v * layer->sine;
}
static inline void scifi_yz(const struct scifi_description *d, const struct scifi_place *p, double u, double v,
                            double *y, double *z) {
  const struct scifi_layer *layer = &d->layer[p->layer];
  const double in_layer = -u * layer->sine + v * layer->cosine;
  *y = in_layer * d->tilt_cosine - layer->z * d->tilt_sine;
  *z = d->station[p->station].z + in_layer * d->tilt_sine + layer->z * d->tilt_cosine;
}

/* Rounded to float at the end; the file's length of fibres is a difference of rounded numbers, and its slope of upright
 * ones above the beam a negative zero. */
static inline void scifi_make_mat(struct scifi_description *d, const struct scifi_place *p) {
  const struct scifi_layer *layer = &d->layer[p->layer];
  struct scifi_mat_tables *t = &d->mats;
  const uint32_t at = scifi_mat_index(p);
  const int is_top = p->quarter / 2 != 0, is_upright = layer->sine == 0;
  const double sign = scifi_u_sign(p->layer, p->quarter), up = is_top ? 1 : -1;
  const double module_x = (p->quarter % 2 ? 1 : -1) * (d->first_module + d->module_pitch * p->module) / layer->cosine;
  const double u = sign * (p->mat - 0.5 * (SCIFI_MODULE_MATS - 1)) * d->mat_pitch;
  const double begin = up * (d->fibre_begin + scifi_hole(d, p));
  double mirror_y, mirror_z, end_y, end_z;
  scifi_yz(d, p, u, begin, &mirror_y, &mirror_z);
  scifi_yz(d, p, u, up * d->fibre_end, &end_y, &end_z);
  t->mirror_x[at] = (float)scifi_x(layer, module_x, u, begin);
  t->mirror_y[at] = (float)mirror_y;
  t->mirror_z[at] = (float)mirror_z;
  t->direction_x[at] = (float)(sign * layer->cosine);
  t->direction_y[at] = is_upright ? 0.0f : (float)(-sign * layer->sine * d->tilt_cosine);
  t->direction_z[at] = is_upright ? 0.0f : (float)(-sign * layer->sine * d->tilt_sine);
  t->u_begin[at] = (float)d->u_begin;
  t->half_pitch[at] = (float)(0.5 * d->channel);
  t->die_gap[at] = (float)d->die_gap;
  t->sipm_pitch[at] = (float)d->sipm_pitch;
  t->dxdy[at] = is_upright ? (is_top ? -0.0f : 0.0f) : (float)(layer->sine / layer->cosine / d->tilt_cosine);
  t->dzdy[at] = (float)(d->tilt_sine / d->tilt_cosine);
  t->fibre_dy[at] = (float)end_y - t->mirror_y[at];
}

/* A quarter's banks share its SiPMs as the station says, each a link. Source ids have the experiment's subsystems, 7
 * for x > 0 and 8 for x < 0, and count the banks there. */
static inline void scifi_make_banks(struct scifi_description *d, const struct scifi_place *p, uint32_t first_bank) {
  const struct scifi_station *station = &d->station[p->station];
  const uint32_t side = p->quarter % 2 ? 7 : 8, quarter = first_bank / SCIFI_QUARTER_BANKS;
  uint32_t sipm = scifi_mat_index(p) * SCIFI_MAT_SIPMS; /* of the quarter's first mat */
  for (uint32_t i = 0; i < SCIFI_QUARTER_BANKS; i++) {
    uint32_t *links = d->link_channel + (first_bank + i) * SCIFI_BANK_LINKS;
    d->source_id[first_bank + i] = side << 11 | (quarter / 2 * SCIFI_QUARTER_BANKS + i);
    for (uint32_t k = 0; k < SCIFI_BANK_LINKS; k++)
      links[k] = k < station->sipms[i] ? (SCIFI_FIRST_MAT * SCIFI_MAT_SIPMS + sipm + k) << SCIFI_SIPM_BIT
                                       : (uint32_t)SCIFI_NOT_CONNECTED;
    sipm += station->sipms[i];
  }
}

static inline void scifi_description_complete(struct scifi_description *d) {
  uint32_t bank = 0;
  for (struct scifi_place p = {0, 0, 0, 0, 0}; p.station < SCIFI_STATIONS; p.station++) {
    for (p.layer = 0; p.layer < SCIFI_STATION_LAYERS; p.layer++) {
      for (p.quarter = 0; p.quarter < SCIFI_LAYER_QUARTERS; p.quarter++, bank += SCIFI_QUARTER_BANKS) {
        p.module = p.mat = 0;
        scifi_make_banks(d, &p, bank);
        for (; p.module < d->station[p.station].modules; p.module++)
          for (p.mat = 0; p.mat < SCIFI_MODULE_MATS; p.mat++) scifi_make_mat(d, &p);
      }
    }
  }
}

/* Reads a description: 0, or the number of the line that is wrong (the last one, if something is missing), with the
 * reason. */
static inline uint32_t scifi_description_read(const char *text, size_t bytes, struct scifi_description *d, char *reason,
                                              size_t reason_size) {
  struct scifi_description_reader r = {d, 0};
  uint32_t lines = 0;
  memset(d, 0, sizeof *d);
  const uint32_t wrong = io_statements_read(text, bytes, scifi_description_line, &r, reason, reason_size, &lines);
  if (wrong) return wrong;
  if (r.seen != SCIFI_DESCRIPTION_SEEN) {
    snprintf(reason, reason_size,
             "the description ends without all of tilt, modules, mats, fibres, beam_hole, sipms, stations 1 to 3 and "
             "layers 0 to 3");
    return lines;
  }
  scifi_description_complete(d);
  return 0;
}

IO_DESCRIPTION(scifi)

#endif
