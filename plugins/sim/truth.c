/* truth.c: truth of an event, in the format of plugins/truth/README.md.
 * Each particle has the identifiers of its hits in the VELO, the UT and the SciFi, and flags of reconstructibility:
 * - VELO: hits in at least three modules;
 * - UT: hits in both halves, of two layers each;
 * - SciFi: hits in an x layer and a stereo layer of each station. */
#include "truth.h"

#include <stdlib.h>
#include <string.h>

enum { MODULES_MIN = 3, TRACKS_MIN = 4, PDG_NONE = -999999, FLAGS = 9 };

/* Indices of the flags in a record. */
enum { IS_LONG, IS_DOWN, HAS_VELO, HAS_UT, HAS_SCIFI, FROM_BEAUTY, FROM_CHARM, FROM_STRANGE, FROM_SIGNAL };

/* -------------------------------------------------------------------------------------------------- trackers */

/* Allocates each particle's range of `tracker_ids`, one entry per link. */
static int allocate_ids(struct sim_event *event) {
  struct sim_particle *particles = event->particles.at;
  uint32_t end = 0;
  for (uint32_t i = 0; i < event->particles.count; i++)
    for (uint32_t detector = 0; detector < SIM_TRACKERS; detector++) particles[i].ids[detector].count = 0;
  for (uint32_t detector = 0; detector < SIM_TRACKERS; detector++)
    for (uint32_t i = 0; i < event->links[detector].count; i++)
      particles[event->links[detector].at[i].particle].ids[detector].count++;
  for (uint32_t i = 0; i < event->particles.count; i++)
    for (uint32_t detector = 0; detector < SIM_TRACKERS; detector++) {
      struct sim_ids *of = &particles[i].ids[detector];
      of->first = end;
      end += of->count;
      of->count = 0;
    }
  event->tracker_ids.count = end;
  return sim_reserve((void **)&event->tracker_ids.at, &event->tracker_ids.capacity, end, sizeof(uint32_t)) ? SL_OK
                                                                                                           : SL_ENOMEM;
}

/* Sorts the few ids of a particle and removes duplicates. */
static void sort_ids(uint32_t *ids, uint32_t *count) {
  uint32_t unique_count = 0;
  for (uint32_t i = 0; i < *count; i++) {
    const uint32_t id = ids[i];
    uint32_t index = unique_count;
    while (index > 0 && ids[index - 1] > id) index--;
    if (index > 0 && ids[index - 1] == id) continue;
    memmove(ids + index + 1, ids + index, (unique_count - index) * sizeof *ids);
    ids[index] = id;
    unique_count++;
  }
  *count = unique_count;
}

/* Distributes the links of the UT and the SciFi to their particles. */
static int list_ids(struct sim_event *event) {
  struct sim_particle *particles = event->particles.at;
  if (allocate_ids(event)) return SL_ENOMEM;
  for (uint32_t detector = 0; detector < SIM_TRACKERS; detector++)
    for (uint32_t i = 0; i < event->links[detector].count; i++) {
      const struct sim_id_link *link = &event->links[detector].at[i];
      struct sim_ids *of = &particles[link->particle].ids[detector];
      event->tracker_ids.at[of->first + of->count++] = link->id;
    }
  for (uint32_t i = 0; i < event->particles.count; i++)
    for (uint32_t detector = 0; detector < SIM_TRACKERS; detector++) {
      struct sim_ids *of = &particles[i].ids[detector];
      if (of->count > 1) sort_ids(event->tracker_ids.at + of->first, &of->count);
    }
  return SL_OK;
}

/* Returns a bit for each layer with a hit. The layer is in bits 18 and 19 of a UT id, and in bits 16 to 19 of a
 * SciFi id: 4 times the station, counted from 1, plus the layer in the station. */
static uint32_t layers_hit(const struct sim_event *event, const struct sim_ids *ids, uint32_t low_bit, uint32_t mask) {
  uint32_t layers = 0;
  for (uint32_t i = 0; i < ids->count; i++) layers |= 1u << (event->tracker_ids.at[ids->first + i] >> low_bit & mask);
  return layers;
}

static int has_ut(const struct sim_event *event, const struct sim_particle *p) {
  const uint32_t layers = layers_hit(event, &p->ids[SIM_IN_UT], 18, 0x3);
  return (layers & 0x3) && (layers & 0xC);
}

static int has_scifi(const struct sim_event *event, const struct sim_particle *p) {
  const uint32_t x_layers = 0x9, stereo_layers = 0x6, layers = layers_hit(event, &p->ids[SIM_IN_SCIFI], 16, 0xF);
  for (uint32_t station = 1; station <= 3; station++)
    if (!(layers >> 4 * station & x_layers) || !(layers >> 4 * station & stereo_layers)) return 0;
  return 1;
}

static int is_listed(const struct sim_particle *p) {
  return p->velo_count > 0 || p->ids[SIM_IN_UT].count > 0 || p->ids[SIM_IN_SCIFI].count > 0;
}

/* --------------------------------------------------------------------------------------- clusters of particles */

static int is_reconstructible(const struct sim_event *event, const struct sim_particle *p) {
  const struct sim_species *mother = p->mother == SIM_NO_PARTICLE ? NULL : event->particles.at[p->mother].species;
  const int is_primary = !mother || (mother->ctau == 0.0f && mother->ctau_in_flight == 0.0f);
  return p->velo_modules >= MODULES_MIN && !(p->flags & SIM_IS_SECONDARY) && is_primary && sim_momentum(p) > 100.0f;
}

int sim_truth_make(struct sim_event *event, const struct sim_velo_digits *d, uint32_t cluster_version) {
  event->velo_ids.count = 0;
  if (list_ids(event)) return SL_ENOMEM;
  for (uint32_t i = 0, next; i < d->links.count; i = next) {
    struct sim_particle *p = &event->particles.at[d->links.at[i].particle];
    uint64_t modules = 0;
    p->velo_first = event->velo_ids.count;
    for (next = i; next < d->links.count && d->links.at[next].particle == d->links.at[i].particle; next++) {
      const struct sim_cluster *c = &d->clusters.at[d->links.at[next].cluster];
      uint32_t *id = SIM_APPEND(&event->velo_ids);
      if (!id) return SL_ENOMEM;
      *id = sim_velo_cluster_id(c, cluster_version);
      modules |= 1ull << c->sensor / VELO_MODULE_SENSORS;
    }
    p->velo_count = next - i;
    p->velo_modules = (uint32_t)__builtin_popcountll(modules);
    event->vertices.at[p->vertex].reconstructible += (uint32_t)is_reconstructible(event, p);
  }
  return SL_OK;
}

/* --------------------------------------------------------------------------------------------------- ancestry */

static int is_beauty(const struct sim_species *s) { return s->pdg / 100 % 10 == 5 || s->pdg / 1000 % 10 == 5; }
static int is_charm(const struct sim_species *s) { return s->pdg / 100 % 10 == 4 || s->pdg / 1000 % 10 == 4; }

/* Returns the topmost ancestor that is a beauty or charm hadron, or SIM_NO_PARTICLE. */
static int32_t find_ancestors(const struct sim_event *event, uint32_t index, uint8_t flags[FLAGS]) {
  const struct sim_particle *particles = event->particles.at;
  int32_t top = SIM_NO_PARTICLE;
  for (int32_t m = particles[index].mother; m != SIM_NO_PARTICLE; m = particles[m].mother) {
    const int beauty = is_beauty(particles[m].species), charm = is_charm(particles[m].species);
    flags[FROM_BEAUTY] |= (uint8_t)beauty;
    flags[FROM_CHARM] |= (uint8_t)charm;
    if (beauty || charm) top = m;
  }
  return top;
}

static int is_from_strange(const struct sim_event *event, const struct sim_particle *p) {
  if (p->mother == SIM_NO_PARTICLE || !(p->flags & SIM_IS_DECAY)) return 0;
  const struct sim_particle *m = &event->particles.at[p->mother];
  const enum sim_species_id species = (enum sim_species_id)(m->species - sim_species);
  const int is_strange = species == SIM_KAON_SHORT || (species >= SIM_LAMBDA && species <= SIM_OMEGA);
  return is_strange && m->x * m->x + m->y * m->y < 25.0f;
}

/* ----------------------------------------------------------------------------------------------------- banks */

/* Packed bytes, split into banks afterwards. The caller of `put` has made room before. */
struct stream {
  SIM_LIST(uint8_t) bytes;
};

static int make_room(struct stream *s, uint32_t bytes) {
  s->bytes.count = 0;
  return sim_reserve((void **)&s->bytes.at, &s->bytes.capacity, bytes, 1) ? SL_OK : SL_ENOMEM;
}

static inline void put(struct stream *s, const void *from, uint32_t bytes) {
  memcpy(s->bytes.at + s->bytes.count, from, bytes);
  s->bytes.count += bytes;
}

static inline void put_ids(struct stream *s, const uint32_t *ids, uint32_t count) {
  put(s, &count, sizeof count);
  for (uint32_t i = 0; i < count; i++) put(s, &ids[i], sizeof ids[i]);
}

static int32_t pdg_of(const struct sim_particle *p) {
  return p->species->is_own_antiparticle ? p->species->pdg : p->sign * p->species->pdg;
}

/* asinh(pz / pt), without the cancellation of p - |pz|. */
static float pseudorapidity(float pt, float pz) {
  const float slope = sl_abs_f32(pz) / sl_max_f32(pt, 1e-6f), eta = sl_logf(slope + sqrtf(1.0f + slope * slope));
  return pz < 0.0f ? -eta : eta;
}

#define PARTICLE_RECORD(F) \
  F(key, uint32_t)         \
  F(pdg, int32_t) F(kinematics, float_7) F(flags, flags_9) F(family, int32_4) F(origin, float_3) F(vertices, uint32_t)
typedef struct {
  float at[7];
} float_7;
typedef struct {
  uint8_t at[FLAGS];
} flags_9;
typedef struct {
  int32_t at[4];
} int32_4;
typedef struct {
  float at[3];
} float_3;
struct particle_record {
#define MEMBER(name, type) type name;
  PARTICLE_RECORD(MEMBER)
};

static struct particle_record describe(const struct sim_event *event, uint32_t index, uint32_t visible_vertices) {
  const struct sim_particle *p = &event->particles.at[index];
  const float pt = sqrtf(p->px * p->px + p->py * p->py), size = sim_momentum(p);
  struct particle_record r = {.key = index, .pdg = pdg_of(p), .vertices = visible_vertices};
  r.kinematics = (float_7){{size, pt, pseudorapidity(pt, p->pz), sl_atan2f(p->py, p->px), p->x, p->y, p->z}};
  r.flags.at[HAS_VELO] = p->velo_modules >= MODULES_MIN;
  r.flags.at[HAS_UT] = (uint8_t)has_ut(event, p);
  r.flags.at[HAS_SCIFI] = (uint8_t)has_scifi(event, p);
  r.flags.at[IS_LONG] = r.flags.at[HAS_VELO] && r.flags.at[HAS_SCIFI];
  r.flags.at[IS_DOWN] = r.flags.at[HAS_UT] && r.flags.at[HAS_SCIFI];
  r.flags.at[FROM_STRANGE] = (uint8_t)is_from_strange(event, p);
  r.flags.at[FROM_SIGNAL] = (p->flags & SIM_FROM_SIGNAL) != 0;
  const int32_t top = find_ancestors(event, index, r.flags.at), mother = p->mother;
  r.family = (int32_4){{mother == SIM_NO_PARTICLE ? (int32_t)index : mother,
                        mother == SIM_NO_PARTICLE ? r.pdg : pdg_of(&event->particles.at[mother]),
                        top == SIM_NO_PARTICLE ? (int32_t)index : top,
                        top == SIM_NO_PARTICLE ? PDG_NONE : pdg_of(&event->particles.at[top])}};
  r.origin = (float_3){{-1.0f, -1.0f, (float)p->charge}};
  if (top != SIM_NO_PARTICLE) {
    const struct sim_particle *a = &event->particles.at[top];
    r.origin.at[0] = sqrtf(a->px * a->px + a->py * a->py);
    r.origin.at[1] = a->lifetime_ns;
  }
  return r;
}

/* Field by field, since the struct has padding. */
static void put_particle(struct stream *s, const struct sim_event *event, uint32_t index, uint32_t visible_vertices) {
  const struct sim_particle *p = &event->particles.at[index];
  const struct particle_record r = describe(event, index, visible_vertices);
#define PUT(name, type) put(s, &r.name, sizeof r.name);
  PARTICLE_RECORD(PUT)
  put_ids(s, event->velo_ids.at + p->velo_first, p->velo_count);
  for (uint32_t detector = 0; detector < SIM_TRACKERS; detector++)
    put_ids(s, event->tracker_ids.at + p->ids[detector].first, p->ids[detector].count);
}

static int put_particles(struct stream *s, const struct sim_event *event) {
  const uint32_t most = sizeof(struct particle_record) + (1 + SIM_TRACKERS) * sizeof(uint32_t); /* without ids */
  uint32_t listed = 0, visible = 0;
  for (uint32_t i = 0; i < event->particles.count; i++) listed += (uint32_t)is_listed(&event->particles.at[i]);
  for (uint32_t i = 0; i < event->vertices.count; i++)
    visible += event->vertices.at[i].is_collision && event->vertices.at[i].reconstructible >= TRACKS_MIN;
  if (make_room(s, 4 + listed * most + 4 * (event->velo_ids.count + event->tracker_ids.count))) return SL_ENOMEM;
  put(s, &listed, sizeof listed);
  for (uint32_t i = 0; i < event->particles.count; i++)
    if (is_listed(&event->particles.at[i])) put_particle(s, event, i, visible);
  return SL_OK;
}

static int put_vertices(struct stream *s, const struct sim_event *event) {
  const uint32_t each = sizeof(int32_t) + 3 * sizeof(double);
  int32_t listed = 0;
  for (uint32_t i = 0; i < event->vertices.count; i++) listed += event->vertices.at[i].is_collision != 0;
  if (make_room(s, 4 + (uint32_t)listed * each)) return SL_ENOMEM;
  put(s, &listed, sizeof listed);
  for (uint32_t i = 0; i < event->vertices.count; i++) {
    const struct sim_vertex *v = &event->vertices.at[i];
    const int32_t tracks = (int32_t)v->reconstructible;
    const double index[3] = {(double)v->x, (double)v->y, (double)v->z};
    if (!v->is_collision) continue;
    put(s, &tracks, sizeof tracks);
    put(s, index, sizeof index);
  }
  return SL_OK;
}

int sim_truth_banks(struct sim_bank_list *list, const struct sim_event *event) {
  struct stream s = {.bytes = {0}};
  int status = put_particles(&s, event);
  if (status == SL_OK) status = sim_banks_add_parts(list, SIM_BANK_MC_PARTICLES, 2, s.bytes.at, s.bytes.count);
  if (status == SL_OK) status = put_vertices(&s, event);
  if (status == SL_OK) status = sim_banks_add_parts(list, SIM_BANK_MC_VERTICES, 1, s.bytes.at, s.bytes.count);
  free(s.bytes.at);
  return status;
}
