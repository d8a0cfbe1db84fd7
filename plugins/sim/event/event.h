/* event.h: a simulated event: collisions, particles, and the hits and passages of particles in the detectors.
 *
 * Each stage reads the results of the earlier stages and adds its own. The order is:
 *   1. generator/: crossing (kind of event), generator (collisions and particles), decay (daughters);
 *   2. transport/velo: through the VELO's material: hits, secondary particles, the state behind the VELO;
 *   3. transport/steps: from there on: passages through the other detectors, further secondary particles;
 *   4. one folder per detector: digits and banks. A detector behind the VELO begins with its `passages`.
 * An event is reused for the next one; its arrays only grow.
 */
#ifndef SIM_EVENT_H
#define SIM_EVENT_H

#include "random.h"
#include "species.h"

#include <sluice/plugin.h>

enum { SIM_NO_PARTICLE = -1 };

/* Detectors behind the VELO, in which particles leave passages. */
enum sim_detector { SIM_IN_UT, SIM_IN_SCIFI, SIM_IN_ECAL, SIM_IN_MUON, SIM_DETECTORS, SIM_IN_NONE = SIM_DETECTORS };

/* Crossing types, as in ODIN. */
enum sim_crossing_type { SIM_NO_BEAM, SIM_BEAM_1, SIM_BEAM_2, SIM_BEAM_BEAM };

struct sim_crossing {
  uint64_t number; /* k: of the event, from 0 */
  uint32_t run, orbit;
  uint64_t gps_time_us;
  uint32_t bunch_id;
  enum sim_crossing_type type;
  uint32_t is_luminosity, is_beam_gas;
};

struct sim_vertex {
  float x, y, z;
  uint32_t is_collision;    /* proton-proton: listed in the truth */
  uint32_t reconstructible; /* tracks, once the truth is made */
  uint32_t first, count;    /* its particles, without those of decays */
};

/* A straight line: position and slopes. `direction` is the sign of the momentum's z component. */
struct sim_state {
  float x, y, z, tx, ty;
  float direction;
};

/* Detectors behind the VELO whose hits have LHCbIDs, the first of enum sim_detector; and a particle's part of the
 * event's `tracker_ids`. */
enum { SIM_TRACKERS = SIM_IN_SCIFI + 1 };
struct sim_ids {
  uint32_t first, count;
};

struct sim_particle {
  const struct sim_species *species;
  int32_t charge;
  int32_t sign;                    /* -1: antiparticle */
  int32_t mother;                  /* index, or SIM_NO_PARTICLE */
  int32_t vertex;                  /* the collision it comes from */
  float px, py, pz;                /* at its origin */
  float x, y, z;                   /* origin */
  float lifetime_ns;               /* proper; of unstable ones */
  uint32_t flags;                  /* SIM_FROM_... */
  uint32_t reached_end;            /* `end` and `end_p` are valid */
  struct sim_state end;            /* at the end of the VELO, z = 770 mm */
  float end_p;                     /* MeV, there */
  uint32_t velo_first, velo_count; /* its ids in velo_ids */
  uint32_t velo_modules;           /* how many modules have a hit */
  struct sim_ids ids[SIM_TRACKERS];
};
/* SIM_IS_UNDONE: not made after all, since its mother interacted before. */
enum { SIM_FROM_SIGNAL = 1, SIM_IS_SECONDARY = 2, SIM_IS_DECAY = 4, SIM_IS_UNDONE = 8 };

/* A charged particle in a sensor's middle plane: place in the sensor's frame, and slopes there. */
struct sim_velo_hit {
  uint32_t sensor;
  uint32_t particle;
  float lx, ly, slope_x, slope_y;
};

/* A particle in a detector behind the VELO: where it was at the plane's z, before the material there. */
struct sim_passage {
  uint32_t particle;
  uint32_t layer; /* of the detector */
  float x, y, z, tx, ty;
  float p;       /* MeV */
  float time_ns; /* since the collision */
};

/* A particle has a part in what a detector of strips or fibres read out with that LHCbID. */
struct sim_id_link {
  uint32_t particle, id;
};

/* A growing array of some type, as a struct without a name or with one. */
#define SIM_LIST(type) SIM_NAMED_LIST(, type)
#define SIM_NAMED_LIST(name, type) \
  struct name {                    \
    type *at;                      \
    uint32_t count, capacity;      \
  }

/* One more entry of a list, uninitialised; NULL when memory is out. */
#define SIM_APPEND(list)                                                                                \
  ((list)->count < (list)->capacity ||                                                                  \
           sim_reserve((void **)&(list)->at, &(list)->capacity, (list)->count + 1u, sizeof *(list)->at) \
       ? &(list)->at[(list)->count++]                                                                   \
       : NULL)

int sim_reserve(void **array, uint32_t *capacity, uint32_t wanted, size_t entry_bytes);

struct sim_event {
  uint64_t seed;
  struct sim_crossing crossing;
  SIM_LIST(struct sim_vertex) vertices;
  SIM_LIST(struct sim_particle) particles;
  SIM_LIST(struct sim_velo_hit) velo_hits;
  SIM_LIST(uint32_t) velo_ids;    /* LHCbIDs, particle by particle */
  SIM_LIST(uint32_t) tracker_ids; /* likewise, of the trackers behind the VELO */
  SIM_LIST(struct sim_passage) passages[SIM_DETECTORS];
  SIM_LIST(struct sim_id_link) links[SIM_DETECTORS]; /* of the UT and the SciFi; in any order, none twice */
};

void sim_event_clear(struct sim_event *event);
void sim_event_free(struct sim_event *event);

/* Adds a particle with momentum (px, py, pz); NULL when memory is out. Pointers to others may move. */
struct sim_particle *sim_event_add(struct sim_event *event, const struct sim_species *species, int32_t sign, float px,
                                   float py, float pz);

static inline struct sim_random sim_event_random(const struct sim_event *event, enum sim_purpose purpose,
                                                 uint32_t index) {
  return sim_random_begin(event->seed, event->crossing.number, purpose, index);
}

static inline float sim_momentum(const struct sim_particle *p) {
  return sqrtf(p->px * p->px + p->py * p->py + p->pz * p->pz);
}

#endif
