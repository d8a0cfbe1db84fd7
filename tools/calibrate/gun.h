/* gun.h: tracks of known momentum, and their states at each plane of UT and SciFi.
 * 1/p, eta and phi are uniform, both charges equally frequent, and origins are on the axis, spread along z. A track
 * is a function of seed and number. Polarity is down; up is the same with the opposite charge. */
#ifndef CALIBRATE_GUN_H
#define CALIBRATE_GUN_H

#include <stddef.h>
#include <stdint.h>

/* Simulation of the tracks. */
enum gun_kind {
  GUN_EXACT,     /* as in the simulation without material: straight to the end of the VELO, then through the field */
  GUN_SIMULATED, /* as in the simulation, with material and measurement errors */
  GUN_DETECTOR   /* field from the origin on, with an energy loss there, as assumed for LHCb's constants */
};

/* Layers with exact states. */
enum { UT_LAYERS = 4, SCIFI_LAYERS = 12 };

struct gun_state {
  double x, y, tx, ty;
};

struct gun_track {
  double p, charge; /* at the origin */
  double origin_z;
  struct gun_state velo; /* VELO line at z = 770 mm */
  struct gun_state ut[UT_LAYERS], scifi[SCIFI_LAYERS];
  struct gun_state end; /* after the SciFi, z = 9410 mm */
  /* Measured: x of strips and fibres at y = 0, with dx/dy of the layers. */
  double ut_measured[UT_LAYERS], scifi_measured[SCIFI_LAYERS];
};

struct gun_settings {
  enum gun_kind kind;
  uint64_t seed;
  double p_min, p_max, eta_min, eta_max; /* p in MeV */
  double spread;                         /* of the origin along z, mm */
  uint32_t only_ut;                      /* up to the UT, within a wider x; no SciFi */
};

struct gun_sample {
  struct gun_track *tracks; /* tracks through all layers, within their outlines */
  uint32_t count;
  uint32_t is_simulated; /* `end` is not known */
};

/* Draws `shots` tracks and stores the ones that cross all layers. 0 or SL_ENOMEM. */
int gun_shoot(const struct gun_settings *settings, uint32_t shots, struct gun_sample *sample);

/* Positions of the layers in z, and their dx/dy. */
extern const double gun_z_velo, gun_z_end;
extern const double gun_ut_z[UT_LAYERS], gun_ut_dxdy[UT_LAYERS];
extern const double gun_scifi_z[SCIFI_LAYERS], gun_scifi_dxdy[SCIFI_LAYERS];

#endif
