/* mc_particles.h: true particles of an event, from its raw banks of type 32 (README.md).
 * A struct mc_event is reused for all events; its memory only grows. Initialise it with zeros. Banks are not
 * trusted: data that do not fit the format exactly are refused, and nothing outside the payloads is read. */
#ifndef TRUTH_MC_PARTICLES_H
#define TRUTH_MC_PARTICLES_H

#include "mc_banks.h"
#include "truth/raw_banks.h"

#include <stdint.h>

enum {
  MC_IS_LONG = 1,
  MC_IS_DOWN = 2,
  MC_HAS_VELO = 4,
  MC_HAS_UT = 8,
  MC_HAS_SCIFI = 16,
  MC_FROM_BEAUTY = 32,
  MC_FROM_CHARM = 64,
  MC_FROM_STRANGE = 128,
  MC_FROM_SIGNAL = 256
};

/* Ids of a particle's hits in one detector: ids[first] to ids[first + count - 1] of the event. */
struct mc_hits {
  uint32_t first, count;
};

struct mc_particle {
  uint32_t key, mother_key;
  int32_t pdg, mother_pdg;
  float p, pt, eta, phi; /* MeV, rad */
  float x, y, z;         /* origin, mm */
  float charge;
  uint32_t flags; /* MC_... */
  uint32_t visible_vertex_count;
  struct mc_hits velo, ut, scifi;
};

/* Detectors, in the order in which tracks cross them. */
enum { MC_VELO, MC_UT, MC_SCIFI, MC_DETECTORS };
static inline const struct mc_hits *mc_hits_in(const struct mc_particle *p, uint32_t detector) {
  return detector == MC_VELO ? &p->velo : detector == MC_UT ? &p->ut : &p->scifi;
}

enum { MC_PDG_ELECTRON = 11, MC_PDG_MUON = 13 };
static inline int mc_is_electron(const struct mc_particle *p) {
  return p->pdg == MC_PDG_ELECTRON || p->pdg == -MC_PDG_ELECTRON;
}
static inline int mc_is_muon(const struct mc_particle *p) { return p->pdg == MC_PDG_MUON || p->pdg == -MC_PDG_MUON; }
/* Acceptance of the detectors downstream of the VELO. */
static inline int mc_in_acceptance(const struct mc_particle *p) { return p->eta > 2 && p->eta < 5; }

/* True slopes dx/dz and dy/dz; near the transverse plane they are limited to 1000. */
void mc_slopes(const struct mc_particle *particle, float *tx, float *ty);

struct mc_event {
  struct mc_particle *particles;
  uint32_t particle_count, particle_capacity;
  uint32_t *ids; /* LHCbIDs */
  uint32_t id_count, id_capacity;
  struct mc_joined joined;
};

/* Decodes event `event` of a slice: 0, SL_EFORMAT with the reason (a literal), or SL_ENOMEM. No banks: no particles. */
int mc_event_decode(struct mc_event *mc, const struct mc_particle_banks_view *banks, uint32_t event,
                    const char **reason);
void mc_event_free(struct mc_event *mc);

#endif
