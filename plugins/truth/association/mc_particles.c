/* mc_particles.c: see mc_particles.h. Reads the joined banks as one packed stream. */
#include "mc_particles.h"

#include "truth/slopes.h"

#include <stdlib.h>

/* Bytes of a particle without its ids: key, PDG id, 7 floats, 9 flags, 4 ints, 3 floats, number of vertices, and
 * three lengths of lists. Version 1 has 8 flags. */
enum { PARTICLE_BYTES_V2 = 4 + 4 + 28 + 9 + 16 + 12 + 4 + 12, FLAGS_V2 = 9, FLAGS_V1 = 8 };

void mc_event_free(struct mc_event *mc) {
  free(mc->particles);
  free(mc->ids);
  mc_joined_free(&mc->joined);
  *mc = (struct mc_event){0};
}

void mc_slopes(const struct mc_particle *particle, float *tx, float *ty) {
  truth_slopes(particle->eta, particle->phi, tx, ty);
}

static uint32_t take_flags(struct mc_cursor *c, uint32_t flag_count) {
  static const uint32_t bits[FLAGS_V2] = {MC_IS_LONG,     MC_IS_DOWN,    MC_HAS_VELO,     MC_HAS_UT,     MC_HAS_SCIFI,
                                          MC_FROM_BEAUTY, MC_FROM_CHARM, MC_FROM_STRANGE, MC_FROM_SIGNAL};
  uint8_t bytes[FLAGS_V2] = {0};
  uint32_t flags = 0;
  mc_take(c, bytes, flag_count);
  for (uint32_t i = 0; i < flag_count; i++)
    if (bytes[i]) flags |= bits[i];
  return flags;
}

/* Reads a list of ids: 0 or an error. */
static int take_hits(struct mc_event *mc, struct mc_cursor *c, struct mc_hits *hits) {
  if (c->left < sizeof(uint32_t)) return SL_EFORMAT;
  const uint64_t count = mc_take_u32(c);
  if (count > c->left / sizeof(uint32_t)) return SL_EFORMAT;
  uint64_t capacity = mc->id_capacity;
  if (!mc_reserve((void **)&mc->ids, &capacity, mc->id_count + count, sizeof *mc->ids)) return SL_ENOMEM;
  mc->id_capacity = (uint32_t)capacity;
  *hits = (struct mc_hits){mc->id_count, (uint32_t)count};
  if (count) mc_take(c, mc->ids + mc->id_count, count * sizeof(uint32_t));
  mc->id_count += (uint32_t)count;
  return SL_OK;
}

static int read_particle(struct mc_event *mc, struct mc_cursor *c, uint32_t flag_count, struct mc_particle *particle) {
  if (c->left < PARTICLE_BYTES_V2 - FLAGS_V2 + flag_count) return SL_EFORMAT;
  particle->key = mc_take_u32(c);
  particle->pdg = (int32_t)mc_take_u32(c);
  particle->p = mc_take_f32(c);
  particle->pt = mc_take_f32(c);
  particle->eta = mc_take_f32(c);
  particle->phi = mc_take_f32(c);
  particle->x = mc_take_f32(c);
  particle->y = mc_take_f32(c);
  particle->z = mc_take_f32(c);
  particle->flags = take_flags(c, flag_count);
  particle->mother_key = mc_take_u32(c);
  particle->mother_pdg = (int32_t)mc_take_u32(c);
  uint8_t decay_origin[16]; /* key, PDG id, pT and lifetime of an ancestor: not used */
  mc_take(c, decay_origin, sizeof decay_origin);
  particle->charge = mc_take_f32(c);
  particle->visible_vertex_count = mc_take_u32(c);
  struct mc_hits *const lists[] = {&particle->velo, &particle->ut, &particle->scifi};
  for (int i = 0; i < 3; i++) {
    const int error = take_hits(mc, c, lists[i]);
    if (error) return error;
  }
  return SL_OK;
}

static int read_particles(struct mc_event *mc, uint32_t flag_count, const char **reason) {
  struct mc_cursor c = {mc->joined.bytes, mc->joined.size_bytes};
  *reason = "the particles are cut short";
  if (c.left < sizeof(uint32_t)) return SL_EFORMAT;
  const uint32_t count = mc_take_u32(&c);
  if (count > c.left / (PARTICLE_BYTES_V2 - FLAGS_V2 + flag_count)) return SL_EFORMAT;
  uint64_t capacity = mc->particle_capacity;
  if (!mc_reserve((void **)&mc->particles, &capacity, count, sizeof *mc->particles)) return SL_ENOMEM;
  mc->particle_capacity = (uint32_t)capacity;
  for (uint32_t i = 0; i < count; i++) {
    const int error = read_particle(mc, &c, flag_count, &mc->particles[i]);
    if (error) return error;
  }
  *reason = "bytes are left after the particles";
  if (c.left != 0) return SL_EFORMAT;
  mc->particle_count = count;
  return SL_OK;
}

int mc_event_decode(struct mc_event *mc, const struct mc_particle_banks_view *banks, uint32_t event,
                    const char **reason) {
  mc->particle_count = mc->id_count = 0;
  *reason = "out of memory";
  if (banks->offsets[event] == banks->offsets[event + 1]) return SL_OK;
  const struct mc_banks_view view = MC_BANKS_VIEW(banks);
  const int error = mc_join_banks(&mc->joined, &view, event, reason);
  if (error) return error;
  switch (mc->joined.version) {
    case 1:
      return read_particles(mc, FLAGS_V1, reason);
    case 2:
      return read_particles(mc, FLAGS_V2, reason);
    default:
      *reason = "the bank version is neither 1 nor 2";
      return SL_EFORMAT;
  }
}
