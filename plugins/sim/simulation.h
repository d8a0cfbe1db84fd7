/* simulation.h: simulates one event from settings and event number, and makes its banks; used by sim.source and
 * tests. */
#ifndef SIM_SIMULATION_H
#define SIM_SIMULATION_H

#include "calo/digits.h"
#include "muon/digits.h"
#include "scifi/digits.h"
#include "transport/steps.h"
#include "transport/velo.h"
#include "truth.h"
#include "ut/digits.h"

/* Banks that are made on request. ODIN and VELO cluster banks are always made. */
enum {
  SIM_MAKE_TRUTH = 1,
  SIM_MAKE_SUPERPIXELS = 2,
  SIM_MAKE_UT = 4,
  SIM_MAKE_SCIFI = 8,
  SIM_MAKE_ECAL = 16,
  SIM_MAKE_MUON = 32,
  SIM_MAKE_ALL = 63, /* all banks that LHCb has */
  SIM_MAKE_PHOTONS = 64,
  /* The spectrometer is simulated for each of these; the truth contains hits of all trackers, whichever banks are
   * read. */
  SIM_NEED_SPECTROMETER =
      SIM_MAKE_TRUTH | SIM_MAKE_UT | SIM_MAKE_SCIFI | SIM_MAKE_ECAL | SIM_MAKE_MUON | SIM_MAKE_PHOTONS
};

/* Detectors with a description and a property of sim.source for it: D(name). */
#define SIM_DESCRIBED(D) D(velo) D(ut) D(scifi) D(calo) D(muon)

/* Bank versions; the identifiers in the truth are as decoded from these versions. */
struct sim_versions {
  uint32_t odin, superpixels, clusters, ut, scifi, calo, muon;
};

struct sim_simulation {
  struct sim_settings settings;
  struct sim_versions versions;
  struct sim_sensor_lookup lookup; /* derived from `velo` */
#define SIM_DESCRIPTION_(detector) struct detector##_description detector;
  SIM_DESCRIBED(SIM_DESCRIPTION_)
  uint32_t make_flags;                   /* SIM_MAKE_... */
  struct sim_spectrometer *spectrometer; /* created at its first use */
  struct sim_event event;
  struct sim_velo_digits velo_digits;
  struct sim_ut_digits ut_digits;
  struct sim_scifi_digits scifi_digits;
  struct sim_ecal_digits ecal_digits;
  struct sim_muon_digits muon_digits;
  struct sim_bank_list banks; /* by ascending type, then sensor */
};

/* Simulates event `number`: 0 or an error. */
int sim_simulate(struct sim_simulation *s, uint64_t number);
void sim_simulation_free(struct sim_simulation *s);

#endif
