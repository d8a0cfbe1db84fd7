/* planes.c: see planes.h. README.md, "Material", has the sources of the numbers. */
#include "planes.h"

/* Steps of equal length through the magnet, 189.86 mm, are much more accurate than others, since the errors of
 * neighbouring steps cancel. Material in the magnet is therefore moved by some cm to the ends of steps. */

/* Name and z; radiation lengths, radiation lengths for scattering, and interaction lengths. */
#define PLANE(name, z, radiation, scattering, interaction)                \
  {                                                                       \
    name, z, radiation, interaction, scattering, SIM_IN_NONE, 0, { 0, 0 } \
  }
/* A ring around the beam pipe, between two values of r / z. */
#define RING(name, z, radiation, interaction, from, to)                      \
  {                                                                          \
    name, z, radiation, interaction, radiation, SIM_IN_NONE, 0, { from, to } \
  }
#define LAYER(detector, layer, z, radiation, interaction)                               \
  {                                                                                     \
#detector, z, radiation, interaction, radiation, SIM_IN_##detector, layer, { 0, 0 } \
  }

const struct sim_plane sim_planes[] = {
    PLANE("VELO exit window", 835.0, 0.032f, 0.105f, 0.014f),
    PLANE("RICH1 entrance", 1000.0, 0.0165f, 0.060f, 0.008f),
    RING("wide beam pipe", 1150.0, 1.0f, 0.17f, 0.0245f, 0.0275f),
    PLANE("RICH1 gas", 1450.0, 0.023f, 0.050f, 0.014f),
    PLANE("RICH1 mirrors", 1800.0, 0.032f, 0.070f, 0.017f),
    PLANE("RICH1 exit", 2165.0, 0.0185f, 0.050f, 0.009f),
    PLANE("UT box", 2270.0, 0.007f, 0.020f, 0.003f),
    LAYER(UT, 0, 2327.5, 0.011f, 0.003f),
    LAYER(UT, 1, 2372.5, 0.011f, 0.003f),
    LAYER(UT, 2, 2597.5, 0.011f, 0.003f),
    LAYER(UT, 3, 2642.5, 0.011f, 0.003f),
    PLANE("UT box", 2700.0, 0.005f, 0.005f, 0.002f),
    RING("pipe support", 2889.86, 1.0f, 0.30f, 0.0f, 0.0130f),
    RING("pipe support", 3079.71, 1.0f, 0.30f, 0.0f, 0.0130f),
    PLANE("air in the magnet", 5168.12, 0.017f, 0.017f, 0.007f),
    RING("pipe support", 6876.82, 1.2f, 0.33f, 0.0f, 0.0131f),
    RING("pipe support", 7066.68, 1.2f, 0.36f, 0.0f, 0.0131f),
    RING("pipe support", 7256.53, 1.2f, 0.36f, 0.0f, 0.0131f),
    LAYER(SCIFI, 0, 7826.1, 0.011f, 0.006f),
    LAYER(SCIFI, 1, 7895.9, 0.011f, 0.006f),
    LAYER(SCIFI, 2, 7966.1, 0.011f, 0.006f),
    LAYER(SCIFI, 3, 8035.9, 0.011f, 0.006f),
    LAYER(SCIFI, 4, 8508.1, 0.011f, 0.006f),
    LAYER(SCIFI, 5, 8577.9, 0.011f, 0.006f),
    LAYER(SCIFI, 6, 8648.1, 0.011f, 0.006f),
    LAYER(SCIFI, 7, 8717.9, 0.011f, 0.006f),
    LAYER(SCIFI, 8, 9193.1, 0.011f, 0.006f),
    LAYER(SCIFI, 9, 9262.9, 0.011f, 0.006f),
    LAYER(SCIFI, 10, 9333.1, 0.011f, 0.006f),
    LAYER(SCIFI, 11, 9402.9, 0.011f, 0.006f),
    PLANE("RICH2 entrance", 9600.0, 0.020f, 0.020f, 0.008f),
    PLANE("RICH2 gas and mirrors", 11000.0, 0.110f, 0.110f, 0.035f),
    PLANE("RICH2 exit", 11900.0, 0.020f, 0.020f, 0.008f),
    LAYER(ECAL, 0, 12602.9, 0.0f, 0.0f),
};
const uint32_t sim_plane_count = sizeof sim_planes / sizeof sim_planes[0];

const float sim_muon_station_z[SIM_MUON_STATIONS] = {15205.0f, 16400.0f, 17700.0f, 18850.0f};

const struct sim_absorber sim_absorbers[] = {
    {"ECAL", 12820.0f, 435.0f, 25.0f, 1.1f, 220.0f, SIM_NO_STATION},
    {"HCAL", 14155.0f, 1650.0f, 53.0f, 5.6f, 1070.0f, 0},
    {"filter M2 to M3", 15800.0f, 800.0f, 45.5f, 4.8f, 910.0f, 1},
    {"filter M3 to M4", 17093.8f, 800.0f, 45.5f, 4.8f, 910.0f, 2},
    {"filter M4 to M5", 18275.0f, 800.0f, 45.5f, 4.8f, 910.0f, 3},
};
const uint32_t sim_absorber_count = sizeof sim_absorbers / sizeof sim_absorbers[0];
