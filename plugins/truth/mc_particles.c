/* mc_particles.c: see mc_particles.h. The banks' payloads are joined by source id, then read as one packed stream. */
#include "mc_particles.h"

#include <stdlib.h>
#include <string.h>

/* Fixed bytes of a particle: key, PDG id, 7 floats, 9 flags, 4 ints, 3 floats, the number of vertices, and three
 * lengths of lists. Version 1 has one flag less. */
enum { PARTICLE_BYTES_V2 = 4 + 4 + 28 + 9 + 16 + 12 + 4 + 12, FLAGS_V2 = 9, FLAGS_V1 = 8 };

/* Room for `wanted` entries in a growing array; 0 if there is no memory. */
static int reserve(void **array, uint64_t *capacity, uint64_t wanted, size_t entry_bytes) {
  if (wanted <= *capacity) return 1;
  const uint64_t larger = wanted + wanted / 2 + 64;
  void *grown = realloc(*array, larger * entry_bytes);
  if (!grown) return 0;
  *array = grown;
  *capacity = larger;
  return 1;
}

void mc_event_free(struct mc_event *mc) {
  free(mc->particles);
  free(mc->ids);
  free(mc->stream);
  *mc = (struct mc_event){0};
}

/* -------------------------------------------------------------------------------------------- joining the banks */

/* The bank with source id `id` among the event's, or `end`. Few banks, so a search for each. */
static uint32_t find_bank(const struct mc_particle_banks_view *banks, uint32_t begin, uint32_t end, uint32_t id) {
  for (uint32_t bank = begin; bank < end; bank++)
    if (banks->source_id[bank] == id) return bank;
  return end;
}

/* Source ids must be 0, 1, 2, ...: a missing part would shift all that follows. */
static int join_banks(struct mc_event *mc, const struct mc_particle_banks_view *banks, uint32_t begin, uint32_t end,
                      const char **reason) {
  mc->stream_bytes = 0;
  for (uint32_t id = 0; id < end - begin; id++) {
    const uint32_t bank = find_bank(banks, begin, end, id);
    if (bank == end || banks->version[bank] != banks->version[begin]) {
      *reason = bank == end ? "a part of the particles is missing" : "the parts have different versions";
      return SL_EFORMAT;
    }
    const uint64_t bytes = banks->size_bytes[bank];
    if (!reserve((void **)&mc->stream, &mc->stream_capacity, mc->stream_bytes + bytes, 1)) return SL_ENOMEM;
    if (bytes) memcpy(mc->stream + mc->stream_bytes, banks->payload + banks->first_word[bank], bytes);
    mc->stream_bytes += bytes;
  }
  return SL_OK;
}

/* -------------------------------------------------------------------------------------------- reading the stream */

struct cursor {
  const uint8_t *next;
  uint64_t left;
};

static void take(struct cursor *c, void *to, uint64_t bytes) {
  memcpy(to, c->next, bytes);
  c->next += bytes;
  c->left -= bytes;
}

static uint32_t take_u32(struct cursor *c) {
  uint32_t value;
  take(c, &value, sizeof value);
  return value;
}

static float take_f32(struct cursor *c) {
  float value;
  take(c, &value, sizeof value);
  return value;
}

static uint32_t take_flags(struct cursor *c, uint32_t flag_count) {
  static const uint32_t bits[FLAGS_V2] = {MC_IS_LONG,     MC_IS_DOWN,    MC_HAS_VELO,     MC_HAS_UT,     MC_HAS_SCIFI,
                                          MC_FROM_BEAUTY, MC_FROM_CHARM, MC_FROM_STRANGE, MC_FROM_SIGNAL};
  uint8_t bytes[FLAGS_V2] = {0};
  uint32_t flags = 0;
  take(c, bytes, flag_count);
  for (uint32_t i = 0; i < flag_count; i++)
    if (bytes[i]) flags |= bits[i];
  return flags;
}

/* The next list of ids: 0, or an error. */
static int take_hits(struct mc_event *mc, struct cursor *c, struct mc_hits *hits) {
  if (c->left < sizeof(uint32_t)) return SL_EFORMAT;
  const uint64_t count = take_u32(c);
  if (count > c->left / sizeof(uint32_t)) return SL_EFORMAT;
  uint64_t capacity = mc->id_capacity;
  if (!reserve((void **)&mc->ids, &capacity, mc->id_count + count, sizeof *mc->ids)) return SL_ENOMEM;
  mc->id_capacity = (uint32_t)capacity;
  *hits = (struct mc_hits){mc->id_count, (uint32_t)count};
  if (count) take(c, mc->ids + mc->id_count, count * sizeof(uint32_t));
  mc->id_count += (uint32_t)count;
  return SL_OK;
}

static int read_particle(struct mc_event *mc, struct cursor *c, uint32_t flag_count, struct mc_particle *particle) {
  if (c->left < PARTICLE_BYTES_V2 - FLAGS_V2 + flag_count) return SL_EFORMAT;
  particle->key = take_u32(c);
  particle->pdg = (int32_t)take_u32(c);
  particle->p = take_f32(c);
  particle->pt = take_f32(c);
  particle->eta = take_f32(c);
  particle->phi = take_f32(c);
  particle->x = take_f32(c);
  particle->y = take_f32(c);
  particle->z = take_f32(c);
  particle->flags = take_flags(c, flag_count);
  particle->mother_key = take_u32(c);
  particle->mother_pdg = (int32_t)take_u32(c);
  uint8_t decay_origin[16]; /* key, PDG id, pT and lifetime: not used yet */
  take(c, decay_origin, sizeof decay_origin);
  particle->charge = take_f32(c);
  particle->visible_vertex_count = take_u32(c);
  struct mc_hits *const lists[] = {&particle->velo, &particle->ut, &particle->scifi};
  for (int i = 0; i < 3; i++) {
    const int error = take_hits(mc, c, lists[i]);
    if (error) return error;
  }
  return SL_OK;
}

static int read_particles(struct mc_event *mc, uint32_t flag_count, const char **reason) {
  struct cursor c = {mc->stream, mc->stream_bytes};
  *reason = "the particles are cut short";
  if (c.left < sizeof(uint32_t)) return SL_EFORMAT;
  const uint32_t count = take_u32(&c);
  if (count > c.left / (PARTICLE_BYTES_V2 - FLAGS_V2 + flag_count)) return SL_EFORMAT;
  uint64_t capacity = mc->particle_capacity;
  if (!reserve((void **)&mc->particles, &capacity, count, sizeof *mc->particles)) return SL_ENOMEM;
  mc->particle_capacity = (uint32_t)capacity;
  for (uint32_t i = 0; i < count; i++) {
    const int error = read_particle(mc, &c, flag_count, &mc->particles[i]);
    if (error) return error;
  }
  *reason = "bytes are left behind the particles";
  if (c.left != 0) return SL_EFORMAT;
  mc->particle_count = count;
  return SL_OK;
}

int mc_event_decode(struct mc_event *mc, const struct mc_particle_banks_view *banks, uint32_t event,
                    const char **reason) {
  const uint32_t begin = banks->offsets[event], end = banks->offsets[event + 1];
  mc->particle_count = mc->id_count = 0;
  *reason = "out of memory";
  if (begin == end) return SL_OK;
  const int error = join_banks(mc, banks, begin, end, reason);
  if (error) return error;
  switch (banks->version[begin]) {
    case 1:
      return read_particles(mc, FLAGS_V1, reason);
    case 2:
      return read_particles(mc, FLAGS_V2, reason);
    default:
      *reason = "the bank version is neither 1 nor 2";
      return SL_EFORMAT;
  }
}
