/* gun.h: tracks of known momentum, and where they are at each plane of UT and SciFi.
 *
 * 1/p is uniform, eta and phi too, both charges are equally frequent, and the origin is on the axis, with some
 * spread along it. A track is a function of seed and number. Polarity is down; up is the same with the other charge.
 */
#ifndef CALIBRATE_GUN_H
#define CALIBRATE_GUN_H

#include <stddef.h>
#include <stdint.h>

/* How tracks come to be. */
enum gun_kind {
  GUN_EXACT,     /* as the simulation has them, without material: straight to the VELO's end, then through the field */
  GUN_SIMULATED, /* the same through the material, with errors of measurement */
  GUN_DETECTOR   /* field from the origin on, and a loss of energy there: what LHCb's constants were made for */
};

/* Where exact states are known besides the layers. */
enum { UT_LAYERS = 4, SCIFI_LAYERS = 12 };

struct gun_state {
  double x, y, tx, ty;
};

struct gun_track {
  double p, charge; /* at the origin */
  double origin_z;
  struct gun_state velo; /* the VELO's line, at z = 770 mm */
  struct gun_state ut[UT_LAYERS], scifi[SCIFI_LAYERS];
  struct gun_state end; /* behind the SciFi, z = 9410 mm */
  /* What is measured: x of the layers' strips and fibres at y = 0, with the layers' dx/dy. */
  double ut_measured[UT_LAYERS], scifi_measured[SCIFI_LAYERS];
};

struct gun_settings {
  enum gun_kind kind;
  uint64_t seed;
  double p_min, p_max, eta_min, eta_max; /* p in MeV */
  double spread;                         /* of the origin along z, mm */
  uint32_t only_ut;                      /* to the UT and beside it in x; no SciFi */
};

struct gun_sample {
  struct gun_track *tracks; /* those that come through all layers, within their outlines */
  uint32_t count;
  uint32_t is_simulated; /* `end` is not known */
};

/* Shoots `shots` tracks; 0 or SL_ENOMEM. */
int gun_shoot(const struct gun_settings *settings, uint32_t shots, struct gun_sample *sample);

/* Where layers are, and their dx/dy. */
extern const double gun_z_velo, gun_z_end;
extern const double gun_ut_z[UT_LAYERS], gun_ut_dxdy[UT_LAYERS];
extern const double gun_scifi_z[SCIFI_LAYERS], gun_scifi_dxdy[SCIFI_LAYERS];

#endif
