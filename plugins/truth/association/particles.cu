/* truth.particles: decodes raw banks of type 32 (README.md, "Banks of truth") to a collection of true particles.
 * The payloads of an event's banks, in the order of their source ids from 0, are one packed stream.
 *   1. check_events: one thread per event reads the stream and counts the particles; a malformed event has none.
 *   2. A scan of the counts gives offsets.
 *   3. write_particles: one thread per event writes the particles, and counts the hits of each.
 *   4. A scan of these counts gives offsets of hits.
 *   5. write_hits: one thread per event writes the hits.
 * Cost: three passes over the stream.
 * mc_event_decode (mc_particles.c) is the host version. It accepts numbers that are not finite; here they make an
 * event malformed, so that none reaches an output. */
#include "truth/event_model.h"
#include "truth/raw_banks.h"

#include <sluice/kernel.h>

/* Bytes of a particle without flags and ids: key, PDG id, 7 floats, 4 ints, 3 floats, vertices; three lengths of
 * lists. */
enum { FLAGS_V1 = 8, FLAGS_V2 = 9, FLOATS = 7, BYTES_WITHOUT_FLAGS = 4 + 4 + 28 + 16 + 12 + 4 + 12 };

#define SL_ARGS particles_args
#define PARTICLES(M)                                                                                \
  M(IN, mc_particles, mc_particle_banks, "offsets source_id version size_bytes first_word payload", \
    "banks with true particles")                                                                    \
  M(OUT, particles, truth_particles, "true particles, in the order of the banks",                   \
    SL_ITEMS(SL_ONE(SL_SUBITEMS_SCALED(mc_particles, 1, 22, 0))), /* at least 88 bytes each */      \
    SL_SUBITEMS(SL_ONE(SL_SUBITEMS_TERM(mc_particles))))
SL_ARGUMENTS(particles, PARTICLES);

/* ---------------------------------------------------------------------------------------------- the stream */

struct stream {
  const struct mc_particle_banks_view *banks;
  uint32_t begin, end; /* banks of the event */
  uint32_t id, bank;   /* current source id and bank */
  uint32_t at;         /* bytes read in the current bank */
  uint32_t flag_count;
  uint64_t left; /* unread bytes of all banks */
};

/* Index of the event's bank with source id `id`, or `end`. Linear search, since banks are few. */
static SL_DEVICE uint32_t find_bank(const struct stream *s, uint32_t id) {
  for (uint32_t bank = s->begin; bank < s->end; bank++)
    if (s->banks->source_id[bank] == id) return bank;
  return s->end;
}

/* Opens the stream; 0 if a part is missing, or the version is not supported. */
static SL_DEVICE uint32_t stream_open(struct stream *s, const struct mc_particle_banks_view *banks, uint32_t event) {
  s->banks = banks;
  s->begin = banks->offsets[event];
  s->end = banks->offsets[event + 1];
  s->id = s->at = 0;
  s->left = 0;
  const uint32_t version = banks->version[s->begin];
  for (uint32_t id = 0; id < s->end - s->begin; id++) {
    const uint32_t bank = find_bank(s, id);
    if (bank == s->end || banks->version[bank] != version) return 0;
    s->left += banks->size_bytes[bank];
  }
  s->bank = find_bank(s, 0);
  s->flag_count = version == 1 ? FLAGS_V1 : FLAGS_V2;
  return version == 1 || version == 2;
}

/* Moves to the bank of the next byte, which must exist. */
static SL_DEVICE void go_to_bytes(struct stream *s) {
  while (s->at >= s->banks->size_bytes[s->bank]) {
    s->at -= s->banks->size_bytes[s->bank];
    s->bank = find_bank(s, ++s->id);
  }
}

static SL_DEVICE void skip(struct stream *s, uint64_t bytes) {
  s->left -= bytes;
  while (bytes > 0) {
    go_to_bytes(s);
    const uint32_t here = s->banks->size_bytes[s->bank] - s->at;
    const uint32_t step = bytes < here ? (uint32_t)bytes : here;
    s->at += step;
    bytes -= step;
  }
}

static SL_DEVICE uint32_t take_u8(struct stream *s) {
  go_to_bytes(s);
  const uint32_t word = s->banks->payload[s->banks->first_word[s->bank] + s->at / 4];
  const uint32_t byte = word >> 8 * (s->at % 4) & 0xffu;
  s->at++;
  s->left--;
  return byte;
}

/* Reads four bytes; from one or two words if they are in one bank. */
static SL_DEVICE uint32_t take_u32(struct stream *s) {
  uint32_t value = 0;
  go_to_bytes(s);
  if (s->at + 4 > s->banks->size_bytes[s->bank]) {
    for (uint32_t i = 0; i < 4; i++) value |= take_u8(s) << 8 * i;
    return value;
  }
  const uint32_t *words = s->banks->payload + s->banks->first_word[s->bank] + s->at / 4, shift = 8 * (s->at % 4);
  value = words[0] >> shift;
  if (shift > 0) value |= words[1] << (32 - shift);
  s->at += 4;
  s->left -= 4;
  return value;
}

struct particle {
  uint32_t key, pdg, flags, mother_key, mother_pdg;
  float numbers[FLOATS]; /* p, pT, eta, phi, x, y, z */
  float charge;
};

/* Reads a particle up to its hits; 0 if the stream ends before. */
static SL_DEVICE uint32_t take_particle(struct stream *s, struct particle *p) {
  if (s->left < BYTES_WITHOUT_FLAGS + s->flag_count) return 0;
  p->key = take_u32(s);
  p->pdg = take_u32(s);
  for (uint32_t i = 0; i < FLOATS; i++) p->numbers[i] = sl_f32_from_bits(take_u32(s));
  p->flags = 0;
  for (uint32_t i = 0; i < s->flag_count; i++) p->flags |= take_u8(s) ? 1u << i : 0u;
  p->mother_key = take_u32(s);
  p->mother_pdg = take_u32(s);
  skip(s, 16); /* ancestor with a lifetime: key, PDG id, pT, lifetime */
  p->charge = sl_f32_from_bits(take_u32(s));
  skip(s, 4); /* number of visible collisions */
  return 1;
}

/* Counts the hits per detector and skips them; 0 if the stream ends before. */
static SL_DEVICE uint32_t count_hits(struct stream *s, uint32_t *counts) {
  for (uint32_t detector = 0; detector < TRUTH_DETECTORS; detector++) {
    if (s->left < 4) return 0;
    counts[detector] = take_u32(s);
    if (counts[detector] > s->left / 4) return 0;
    skip(s, 4ull * counts[detector]);
  }
  return 1;
}

static SL_DEVICE uint32_t is_finite(const struct particle *p) {
  uint32_t finite = (uint32_t)sl_is_finite(p->charge);
  for (uint32_t i = 0; i < FLOATS; i++) finite &= (uint32_t)sl_is_finite(p->numbers[i]);
  return finite;
}

/* Returns the number of particles, and the state of the event's truth. */
static SL_DEVICE uint32_t check_event(const struct mc_particle_banks_view *banks, uint32_t event, uint8_t *state) {
  struct stream s;
  *state = TRUTH_NONE;
  if (banks->offsets[event] == banks->offsets[event + 1]) return 0;
  *state = TRUTH_MALFORMED;
  if (!stream_open(&s, banks, event) || s.left < 4) return 0;
  const uint32_t count = take_u32(&s);
  for (uint32_t i = 0; i < count; i++) {
    struct particle p;
    uint32_t counts[TRUTH_DETECTORS];
    if (!take_particle(&s, &p) || !is_finite(&p) || !count_hits(&s, counts)) return 0;
  }
  if (s.left > 0) return 0;
  *state = TRUTH_READ;
  return count;
}

/* --------------------------------------------------------------------------------------------- the kernels */

SL_KERNEL(check_events, struct particles_args) {
  if (sl_grid_thread() == 0) a.particles.hit_offsets[0] = 0;
  SL_FOR_EVENTS_BY_THREAD (event, a.events)
    a.particles.offsets[event] = check_event(&a.mc_particles, event, &a.particles.state[event]);
}

static SL_DEVICE void write_particle(const struct truth_particles *to, uint32_t i, const struct particle *p) {
  to->key[i] = p->key;
  to->pdg[i] = (int32_t)p->pdg;
  to->p[i] = p->numbers[0];
  to->pt[i] = p->numbers[1];
  to->eta[i] = p->numbers[2];
  to->phi[i] = p->numbers[3];
  to->x[i] = p->numbers[4];
  to->y[i] = p->numbers[5];
  to->z[i] = p->numbers[6];
  to->charge[i] = p->charge;
  to->flags[i] = p->flags;
  to->mother_key[i] = p->mother_key;
  to->mother_pdg[i] = (int32_t)p->mother_pdg;
}

/* Opens the stream at the first particle; 0 if the event has none. */
static SL_DEVICE uint32_t begin_particles(struct stream *s, const struct particles_args *a, uint32_t event) {
  if (a->particles.offsets[event] == a->particles.offsets[event + 1]) return 0;
  if (!stream_open(s, &a->mc_particles, event)) return 0;
  skip(s, 4);
  return 1;
}

SL_KERNEL(write_particles, struct particles_args) {
  SL_FOR_EVENTS_BY_THREAD (event, a.events) {
    struct stream s;
    if (!begin_particles(&s, &a, event)) continue;
    for (uint32_t i = a.particles.offsets[event]; i < a.particles.offsets[event + 1]; i++) {
      struct particle p;
      uint32_t *counts = a.particles.hit_count + TRUTH_DETECTORS * i;
      if (!take_particle(&s, &p) || !count_hits(&s, counts)) break; /* not reached: check_events has read it */
      write_particle(&a.particles, i, &p);
      a.particles.hit_offsets[i] = counts[TRUTH_VELO] + counts[TRUTH_UT] + counts[TRUTH_SCIFI];
    }
  }
}

SL_KERNEL(write_hits, struct particles_args) {
  SL_FOR_EVENTS_BY_THREAD (event, a.events) {
    struct stream s;
    if (!begin_particles(&s, &a, event)) continue;
    for (uint32_t i = a.particles.offsets[event]; i < a.particles.offsets[event + 1]; i++) {
      struct particle p;
      if (!take_particle(&s, &p)) break; /* not reached */
      uint32_t *to = a.particles.hit_id + a.particles.hit_offsets[i];
      for (uint32_t detector = 0; detector < TRUTH_DETECTORS; detector++)
        for (uint32_t left = take_u32(&s); left > 0; left--) *to++ = take_u32(&s);
    }
  }
}

static int run(const struct sl_launch *l, const struct particles_args *a) {
  const struct truth_particles *to = &a->particles;
  int status = SL_LAUNCH(l, check_events, SL_THREAD_PER_EVENT, *a);
  if (status == SL_OK) status = l->scan(l, to->offsets, &to->bound);
  if (status == SL_OK) status = SL_LAUNCH(l, write_particles, SL_THREAD_PER_EVENT, *a);
  if (status == SL_OK) status = l->scan_items(l, to->hit_offsets, to->offsets, &to->hit_offsets_bound);
  if (status == SL_OK) status = SL_LAUNCH(l, write_hits, SL_THREAD_PER_EVENT, *a);
  return status;
}

SL_ALGORITHM(particles, "decodes the true particles of an event", 64, run);
