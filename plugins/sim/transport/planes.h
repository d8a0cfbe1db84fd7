/* planes.h: where tracks behind the VELO are scattered and seen, along z. */
#ifndef SIM_PLANES_H
#define SIM_PLANES_H

#include "event/event.h"

/* Material, put together in a plane; and what sees particles there, before the material. */
struct sim_plane {
  const char *name;
  double z;
  float radiation_lengths, interaction_lengths; /* of a line along z */
  float scattering_lengths;                     /* the radiation lengths that multiple scattering sees */
  enum sim_detector detector;
  uint32_t layer;
  float ring[2]; /* of a support of the beam pipe: radius over z, from and to; both 0: a whole plane */
};

/* From the VELO to the face of the ECAL, by ascending z. */
extern const struct sim_plane sim_planes[];
extern const uint32_t sim_plane_count;

/* The beam pipe: a cone of this slope, and a wall of beryllium, mm. Inside there is no material. */
#define SIM_PIPE_SLOPE       0.010
#define SIM_PIPE_WALL        1.5f
#define SIM_PIPE_RADIATION   353.0f
#define SIM_PIPE_INTERACTION 421.0f

/* What stands before each muon station, and the stations. Behind the ECAL's face there is no field. */
struct sim_absorber {
  const char *name;
  float z;     /* where its middle is */
  float depth; /* how long it is, mm */
  float radiation_lengths, interaction_lengths;
  float loss;              /* MeV, of a minimum ionising particle */
  uint32_t station_behind; /* the layer of SIM_IN_MUON that follows, or SIM_NO_STATION */
};
enum { SIM_MUON_STATIONS = 4, SIM_NO_STATION = SIM_MUON_STATIONS };
extern const float sim_muon_station_z[SIM_MUON_STATIONS];
extern const struct sim_absorber sim_absorbers[];
extern const uint32_t sim_absorber_count;

#endif
