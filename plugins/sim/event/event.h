/* event.h: a simulated event: collisions, particles, and their hits and passages in the detectors.
 * Each stage reads the results of the earlier stages and adds its own:
 *   1. generator/: crossing (type of the event), generator (collisions and particles), decay (daughters);
 *   2. transport/velo: particles through the VELO: hits, secondary particles, the state at the end of the VELO;
 *   3. transport/steps: downstream of the VELO: passages through the other detectors, more secondary particles;
 *   4. one folder per detector: digits and banks; detectors downstream of the VELO start from `passages`.
 * An event is reused for the next one; its arrays only grow. */
#ifndef SIM_EVENT_H
#define SIM_EVENT_H

#include "random.h"
#include "species.h"

#include <sluice/plugin.h>

enum { SIM_NO_PARTICLE = -1 };
#define SIM_MM_PER_NS 299.792458f /* speed of light */

/* Detectors downstream of the VELO, in which particles leave passages. */
enum sim_detector { SIM_IN_UT, SIM_IN_SCIFI, SIM_IN_ECAL, SIM_IN_MUON, SIM_DETECTORS, SIM_IN_NONE = SIM_DETECTORS };

/* Crossing types, as in ODIN. */
enum sim_crossing_type { SIM_NO_BEAM, SIM_BEAM_1, SIM_BEAM_2, SIM_BEAM_BEAM };

struct sim_crossing {
  uint64_t number; /* event number, from 0 */
  uint32_t run, orbit;
  uint64_t gps_time_us;
  uint32_t bunch_id;
  enum sim_crossing_type type;
  uint32_t is_luminosity, is_beam_gas;
};

struct sim_vertex {
  float x, y, z;
  uint32_t is_collision;    /* proton-proton; listed in the truth */
  uint32_t reconstructible; /* number of tracks, filled with the truth */
  uint32_t first, count;    /* its particles, without decay products */
};

/* A straight line: position and slopes. `direction` is the sign of the momentum's z component. */
struct sim_state {
  float x, y, z, tx, ty;
  float direction;
};

/* The UT and the SciFi, with LHCbIDs of hits. A particle's ids are a range of the event's `tracker_ids`. */
enum { SIM_TRACKERS = SIM_IN_SCIFI + 1 };
struct sim_ids {
  uint32_t first, count;
};

struct sim_particle {
  const struct sim_species *species;
  int32_t charge;
  int32_t sign;                    /* -1: antiparticle */
  int32_t mother;                  /* index, or SIM_NO_PARTICLE */
  int32_t vertex;                  /* index of its collision */
  float px, py, pz;                /* at its origin */
  float x, y, z;                   /* origin */
  float lifetime_ns;               /* proper lifetime; unstable particles only. Before the decay: 0, or as required */
  const struct sim_mode *mode;     /* its decay; NULL: any of its species */
  uint32_t flags;                  /* SIM_FROM_... */
  uint32_t reached_end;            /* `end` and `end_p` are valid */
  struct sim_state end;            /* at the end of the VELO, z = 770 mm */
  float end_p;                     /* MeV, at `end` */
  uint32_t velo_first, velo_count; /* range of velo_ids */
  uint32_t velo_modules;           /* number of modules with a hit */
  struct sim_ids ids[SIM_TRACKERS];
};
/* SIM_IS_UNDONE: cancelled, since the mother interacted before its decay. */
enum { SIM_FROM_SIGNAL = 1, SIM_IS_SECONDARY = 2, SIM_IS_DECAY = 4, SIM_IS_UNDONE = 8 };

/* A charged particle in the middle plane of a sensor: position and slopes in the sensor's frame. */
struct sim_velo_hit {
  uint32_t sensor;
  uint32_t particle;
  float lx, ly, slope_x, slope_y;
};

/* A particle at a detector layer downstream of the VELO, before the material of the layer. */
struct sim_passage {
  uint32_t particle;
  uint32_t layer; /* in the detector */
  float x, y, z, tx, ty;
  float p;       /* MeV */
  float time_ns; /* since the collision */
};

/* A particle that contributed to the strips or channels of the hit with this LHCbID. */
struct sim_id_link {
  uint32_t particle, id;
};

/* A growing array of a type, as a struct with or without a name. */
#define SIM_LIST(type) SIM_NAMED_LIST(, type)
#define SIM_NAMED_LIST(name, type) \
  struct name {                    \
    type *at;                      \
    uint32_t count, capacity;      \
  }

/* Appends an entry, uninitialised; NULL when out of memory. */
#define SIM_APPEND(list)                                                                                \
  ((list)->count < (list)->capacity ||                                                                  \
           sim_reserve((void **)&(list)->at, &(list)->capacity, (list)->count + 1u, sizeof *(list)->at) \
       ? &(list)->at[(list)->count++]                                                                   \
       : NULL)

int sim_reserve(void **array, uint32_t *capacity, uint32_t needed, size_t entry_bytes);

struct sim_event {
  uint64_t seed;
  struct sim_crossing crossing;
  SIM_LIST(struct sim_vertex) vertices;
  SIM_LIST(struct sim_particle) particles;
  SIM_LIST(struct sim_velo_hit) velo_hits;
  SIM_LIST(uint32_t) velo_ids;    /* LHCbIDs in the VELO, grouped by particle */
  SIM_LIST(uint32_t) tracker_ids; /* LHCbIDs in the UT and the SciFi, grouped by particle and detector */
  SIM_LIST(struct sim_passage) passages[SIM_DETECTORS];
  SIM_LIST(struct sim_id_link) links[SIM_DETECTORS]; /* UT and SciFi only, in any order, without duplicates */
};

void sim_event_clear(struct sim_event *event);
void sim_event_free(struct sim_event *event);

/* Adds a particle with momentum (px, py, pz); NULL when out of memory. Invalidates pointers to particles. */
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
