/* planes.h: planes of material and detector layers downstream of the VELO, along z. */
#ifndef SIM_PLANES_H
#define SIM_PLANES_H

#include "event/event.h"

/* Material, concentrated in a plane. A detector layer records particles before the material. */
struct sim_plane {
  const char *name;
  double z;
  float radiation_lengths, interaction_lengths; /* along z */
  float scattering_lengths;                     /* radiation lengths for multiple scattering */
  enum sim_detector detector;
  uint32_t layer;
  float ring[2]; /* ring around the beam pipe: inner and outer radius over z; both 0: a whole plane */
};

/* From the VELO to the face of the ECAL, by ascending z. */
extern const struct sim_plane sim_planes[];
extern const uint32_t sim_plane_count;

/* Beam pipe: a cone of slope SIM_PIPE_SLOPE with a wall of beryllium, lengths in mm. There is no material inside. */
#define SIM_PIPE_SLOPE       0.010
#define SIM_PIPE_WALL        1.5f
#define SIM_PIPE_RADIATION   353.0f
#define SIM_PIPE_INTERACTION 421.0f

/* Absorbers upstream of the muon stations, and the stations. Beyond the face of the ECAL there is no field. */
struct sim_absorber {
  const char *name;
  float z;     /* of the middle */
  float depth; /* length along z, mm */
  float radiation_lengths, interaction_lengths;
  float loss;            /* MeV, minimum ionising particle */
  uint32_t next_station; /* layer of SIM_IN_MUON after the absorber, or SIM_NO_STATION */
};
enum { SIM_MUON_STATIONS = 4, SIM_NO_STATION = SIM_MUON_STATIONS };
extern const float sim_muon_station_z[SIM_MUON_STATIONS];
extern const struct sim_absorber sim_absorbers[];
extern const uint32_t sim_absorber_count;

#endif
