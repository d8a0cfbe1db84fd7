/* description.c: reads a description of the fibre tracker and computes the tables of its mats and banks. */
#include "scifi/description.h"

#include "scifi_nominal_text.h"

#include <math.h>

static int check_sipms(struct statement *s, void *into, uint32_t index) {
  const struct scifi_station *station = &((const struct scifi_description *)into)->station[index];
  const uint32_t expected = station->modules * SCIFI_MODULE_MATS * SCIFI_MAT_SIPMS;
  uint32_t sum = 0;
  for (uint32_t i = 0; i < SCIFI_QUARTER_BANKS; i++) sum += station->sipms[i];
  if (sum == expected) return 1;
  return statement_refuse(s, "%u modules have %u SiPMs, but the banks have %u", station->modules, expected, sum);
}

#define FIELD(word, low, high, member) STATEMENT_FIELD(word, NULL, f64, low, high, struct scifi_description, member)
#define LAYER(word, low, high, member) STATEMENT_FIELD(word, NULL, f64, low, high, struct scifi_layer, member)
#define STATION(word, what, type, low, high, member) \
  STATEMENT_FIELD(word, what, type, low, high, struct scifi_station, member)
#define SIPMS(word, i) STATION(word, "sipms", u32, 0, SCIFI_BANK_LINKS, sipms[i])

static const struct statement_kind kinds[] = {
    {"tilt", .fields = {STATEMENT_FIELD(NULL, "tilt", f64, -0.1, 0.1, struct scifi_description, tilt)}},
    {"modules", .fields = {FIELD("first", 1, 1000, first_module), FIELD("pitch", 1, 1000, module_pitch)}},
    {"mats", .fields = {FIELD("pitch", 1, 1000, mat_pitch), FIELD("thickness", 0.1, 10, mat_thickness)}},
    {"fibres", .fields = {FIELD("begin", 0, 1000, fibre_begin), FIELD("end", 1000, 5000, fibre_end)}},
    {"beam_hole", .fields = {FIELD("upright", 0, 500, hole_upright), FIELD("away", 0, 500, hole_away),
                             FIELD("towards", 0, 500, hole_towards)}},
    {"sipms", .fields = {FIELD("begin", -500, 0, u_begin), FIELD("pitch", 1, 100, sipm_pitch),
                         FIELD("die_gap", 0, 10, die_gap), FIELD("channel", 0.01, 1, channel)}},
    {"station", .index = {{.count = SCIFI_STATIONS, .first = 1}}, STATEMENT_ELEMENTS(struct scifi_description, station),
     .fields = {STATION("z", NULL, f64, 1000, 20000, z), STATION("modules", NULL, u32, 0, 6, modules),
                SIPMS("sipms", 0), SIPMS(NULL, 1), SIPMS(NULL, 2), SIPMS(NULL, 3), SIPMS(NULL, 4)},
     .read = check_sipms},
    {"layer", .index = {{.count = SCIFI_STATION_LAYERS}}, STATEMENT_ELEMENTS(struct scifi_description, layer),
     .fields = {LAYER("z", -500, 500, z), LAYER("stereo", -10, 10, stereo)}}};

/* -------------------------------------------------------------------------------------- derived quantities */

/* Sine of a small angle, below 0.2, from its power series. */
static double scifi_sine(double angle) {
  const double square = angle * angle;
  return angle * (1 - square / 6 * (1 - square / 20 * (1 - square / 42 * (1 - square / 72 * (1 - square / 110)))));
}

uint32_t scifi_mat_index(const struct scifi_mat_address *p) {
  const uint32_t channel = (p->station + 1) << SCIFI_STATION_BIT | p->layer << SCIFI_LAYER_BIT |
                           p->quarter << SCIFI_QUARTER_BIT | p->module << SCIFI_MODULE_BIT | p->mat << SCIFI_MAT_BIT;
  return (channel >> SCIFI_MAT_BIT) - SCIFI_FIRST_MAT;
}

/* 1, or -1 in quarters with rotated modules. */
static int scifi_u_sign(uint32_t layer, uint32_t quarter) { return layer % 2 == quarter / 2 ? 1 : -1; }

double scifi_hole(const struct scifi_description *d, const struct scifi_mat_address *p) {
  const uint32_t is_right = p->quarter % 2, is_top = p->quarter / 2;
  const uint32_t is_ascending = scifi_u_sign(p->layer, p->quarter) > 0;
  const uint32_t innermost = is_right == is_ascending ? 0 : SCIFI_MODULE_MATS - 1;
  const double sine = d->layer[p->layer].sine;
  if (p->module != 0 || p->mat != innermost) return 0;
  if (sine == 0) return d->hole_upright;
  return (is_right == is_top) == (sine > 0) ? d->hole_away : d->hole_towards;
}

/* The point at u across and v along the fibres, measured from the middle line of the module. */
static double scifi_x(const struct scifi_layer *layer, double module_x, double u, double v) {
  return module_x + u * layer->cosine + v * layer->sine;
}
static void scifi_yz(const struct scifi_description *d, const struct scifi_mat_address *p, double u, double v,
                     double *y, double *z) {
  const struct scifi_layer *layer = &d->layer[p->layer];
  const double in_layer = -u * layer->sine + v * layer->cosine;
  *y = in_layer * d->tilt_cosine - layer->z * d->tilt_sine;
  *z = d->station[p->station].z + in_layer * d->tilt_sine + layer->z * d->tilt_cosine;
}

/* Values are rounded to float at the end. As in the experiment's file, the length of fibres is a difference of rounded
 * numbers, and the slope of vertical fibres above the beam is -0. */
static void scifi_make_mat(struct scifi_description *d, const struct scifi_mat_address *p) {
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

/* Distributes the SiPMs of a quarter over its banks, one link per SiPM, as given for the station. Source ids: subsystem
 * (7: x > 0, 8: x < 0) and the number of the bank on that side. */
static void scifi_make_banks(struct scifi_description *d, const struct scifi_mat_address *p, uint32_t first_bank) {
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

static int complete(struct statement *s, void *into) {
  struct scifi_description *d = (struct scifi_description *)into;
  (void)s;
  d->tilt_sine = scifi_sine(d->tilt);
  d->tilt_cosine = sqrt(1 - d->tilt_sine * d->tilt_sine);
  for (uint32_t k = 0; k < SCIFI_STATION_LAYERS; k++) {
    const double degree = 0.017453292519943295;
    d->layer[k].sine = scifi_sine(d->layer[k].stereo * degree);
    d->layer[k].cosine = sqrt(1 - d->layer[k].sine * d->layer[k].sine);
  }
  uint32_t bank = 0;
  for (struct scifi_mat_address p = {0, 0, 0, 0, 0}; p.station < SCIFI_STATIONS; p.station++) {
    for (p.layer = 0; p.layer < SCIFI_STATION_LAYERS; p.layer++) {
      for (p.quarter = 0; p.quarter < SCIFI_LAYER_QUARTERS; p.quarter++, bank += SCIFI_QUARTER_BANKS) {
        p.module = p.mat = 0;
        scifi_make_banks(d, &p, bank);
        for (; p.module < d->station[p.station].modules; p.module++)
          for (p.mat = 0; p.mat < SCIFI_MODULE_MATS; p.mat++) scifi_make_mat(d, &p);
      }
    }
  }
  return 1;
}

STATEMENT_DESCRIPTION(scifi, kinds, complete);
