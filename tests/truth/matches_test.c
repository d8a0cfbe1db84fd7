/* matches_test.c: truth.particles compared with the host decoder, truth.match_velo and match_long compared with the
 * association of the checks. */
#include "association/association.h"
#include "mc_writer.h"
#include "truth/event_model.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h requires the headers above */
#include <sluice/testing.h>

#include <cmocka.h>

static const struct true_particle three[] = {
    {.key = 7,
     .pdg = 211,
     .p = 4000,
     .eta = 3,
     .phi = 1,
     .flags = {1, 0, 1},
     .hit_count = 3,
     .hits = {10, 20, 30},
     .ut_count = 2,
     .ut_hits = {1, 2}},
    {.key = 8, .mother = 7, .pdg = -11, .mother_pdg = 211, .p = 500, .eta = -2.5f, .flags = {[SIGNAL] = 1}},
    {.key = 9, .pdg = 13, .p = 9000, .eta = 4, .flags = {[HAS_VELO] = 1}, .hit_count = 2, .hits = {30, 40}}};
enum { THREE = 3 };

static struct mc_banks *banks;
static struct mc_stream stream;

static int start(void **state) {
  (void)state;
  banks = calloc(1, sizeof *banks);
  return !banks;
}

static int stop(void **state) {
  (void)state;
  free(banks);
  return 0;
}

static struct sl_test *particles_of_banks(void) {
  struct sl_test *t = sl_test_new("plugins/truth.cpu.so", "particles");
  sl_test_events(t, banks->event_count);
  sl_test_input(t, "mc_particles", "offsets", banks->offsets, banks->event_count + 1);
  sl_test_input(t, "mc_particles", "source_id", banks->source_id, banks->bank_count);
  sl_test_input(t, "mc_particles", "version", banks->version, banks->bank_count);
  sl_test_input(t, "mc_particles", "size_bytes", banks->size_bytes, banks->bank_count);
  sl_test_input(t, "mc_particles", "first_word", banks->first_word, banks->bank_count);
  sl_test_input(t, "mc_particles", "payload", banks->payload, banks->word_count);
  assert_int_equal(sl_test_run(t), 0);
  return t;
}

/* ----------------------------------------------------------------------------------------------- particles */

#define OUT(type, field) ((const type *)sl_test_output(t, "particles", #field))

static void assert_particle(const struct sl_test *t, uint32_t i, const struct mc_event *mc,
                            const struct mc_particle *p) {
  assert_int_equal(OUT(uint32_t, key)[i], p->key);
  assert_int_equal(OUT(int32_t, pdg)[i], p->pdg);
  assert_int_equal(OUT(uint32_t, flags)[i], p->flags);
  assert_int_equal(OUT(uint32_t, mother_key)[i], p->mother_key);
  assert_int_equal(OUT(int32_t, mother_pdg)[i], p->mother_pdg);
#define ASSERT_FLOAT(field) assert_true(OUT(float, field)[i] == p->field)
  ASSERT_FLOAT(p);
  ASSERT_FLOAT(pt);
  ASSERT_FLOAT(eta);
  ASSERT_FLOAT(phi);
  ASSERT_FLOAT(x);
  ASSERT_FLOAT(y);
  ASSERT_FLOAT(z);
  ASSERT_FLOAT(charge);
  const uint32_t *id = OUT(uint32_t, hit_id) + OUT(uint32_t, hit_offsets)[i];
  for (uint32_t d = 0; d < TRUTH_DETECTORS; d++) {
    const struct mc_hits *hits = mc_hits_in(p, d);
    assert_int_equal(OUT(uint32_t, hit_count)[TRUTH_DETECTORS * i + d], hits->count);
    for (uint32_t h = 0; h < hits->count; h++) assert_int_equal(*id++, mc->ids[hits->first + h]);
  }
  assert_ptr_equal(id, OUT(uint32_t, hit_id) + OUT(uint32_t, hit_offsets)[i + 1]);
}

/* Compares every event with the decoder. Returns the number of malformed ones, and ends the test. */
static uint32_t assert_decoded(void) {
  struct sl_test *t = particles_of_banks();
  const struct mc_particle_banks_view view = VIEW_OF(mc_particle_banks_view, banks);
  struct mc_event mc = {0};
  uint32_t malformed = 0;
  for (uint32_t e = 0; e < banks->event_count; e++) {
    const char *reason;
    const int status = mc_event_decode(&mc, &view, e, &reason);
    const uint32_t first = OUT(uint32_t, offsets)[e], count = OUT(uint32_t, offsets)[e + 1] - first;
    const uint32_t is_there = banks->offsets[e + 1] > banks->offsets[e];
    assert_int_equal(OUT(uint8_t, state)[e], status < 0 ? TRUTH_MALFORMED : is_there ? TRUTH_READ : TRUTH_NONE);
    assert_int_equal(count, status < 0 ? 0 : mc.particle_count);
    for (uint32_t i = 0; i < count; i++) assert_particle(t, first + i, &mc, &mc.particles[i]);
    malformed += status < 0;
  }
  mc_event_free(&mc);
  sl_test_free(t);
  return malformed;
}

static void particles_are_those_of_the_decoder(void **state) {
  (void)state;
  add_event(banks, three, THREE);
  end_event(banks);
  write_particles(&stream, 1, three, THREE);
  for (uint16_t part = 4; part-- > 0;) { /* parts of odd sizes, the last one first */
    const uint32_t from = part * stream.size / 4, to = (part + 1u) * stream.size / 4;
    add_part(banks, 1, part, stream.bytes + from, to - from);
  }
  end_event(banks);
  add_event(banks, three, 0);
  assert_int_equal(assert_decoded(), 0);
}

static void events_with_wrong_parts_are_malformed(void **state) {
  (void)state;
  write_particles(&stream, 2, three, THREE);
  add_part(banks, 2, 0, stream.bytes, 100);
  add_part(banks, 1, 1, stream.bytes + 100, stream.size - 100);
  end_event(banks);
  add_part(banks, 2, 0, stream.bytes, 100);
  add_part(banks, 2, 2, stream.bytes + 100, stream.size - 100);
  end_event(banks);
  add_part(banks, 3, 0, stream.bytes, stream.size);
  end_event(banks);
  stream.bytes[stream.size] = 0;
  add_part(banks, 2, 0, stream.bytes, stream.size + 1);
  end_event(banks);
  add_part(banks, 2, 0, stream.bytes, 0);
  end_event(banks);
  add_event(banks, three, THREE); /* a valid event after malformed ones is read */
  assert_int_equal(assert_decoded(), 5);
}

static void every_truncation_is_malformed(void **state) {
  (void)state;
  write_particles(&stream, 2, three, THREE);
  for (uint32_t size = 1; size < stream.size;) {
    memset(banks, 0, sizeof *banks);
    for (uint32_t e = 0; e < WRITER_EVENTS && size < stream.size; e++, size++) {
      add_part(banks, 2, 0, stream.bytes, size);
      end_event(banks);
    }
    assert_int_equal(assert_decoded(), banks->event_count);
  }
}

static void numbers_that_are_not_finite_are_malformed(void **state) {
  (void)state;
  struct true_particle bad[THREE];
  memcpy(bad, three, sizeof bad);
  bad[1].eta = NAN;
  add_event(banks, bad, THREE);
  bad[1].eta = INFINITY;
  add_event(banks, bad, THREE);
  struct sl_test *t = particles_of_banks();
  assert_int_equal(OUT(uint8_t, state)[0], TRUTH_MALFORMED);
  assert_int_equal(OUT(uint8_t, state)[1], TRUTH_MALFORMED);
  assert_int_equal(OUT(uint32_t, offsets)[2], 0);
  sl_test_free(t);
}

/* ------------------------------------------------------------------------------------------------- matches */

enum { MANY = 40, TRACKS = 60, HITS = 1000 };

static uint32_t next_random(void) {
  static uint32_t x = 12345;
  x ^= x << 13;
  x ^= x >> 17;
  return x ^= x << 5;
}

/* Neighbouring particles have many ids in common. */
static void make_particles(struct true_particle *particles) {
  memset(particles, 0, MANY * sizeof *particles);
  for (uint32_t i = 0; i < MANY; i++) {
    particles[i].key = 100 + i;
    particles[i].pdg = (int32_t)i;
    particles[i].p = 1000 + (float)i;
    particles[i].eta = 3;
    particles[i].hit_count = i % 12;
    for (uint32_t h = 0; h < particles[i].hit_count; h++)
      particles[i].hits[h] = (1000 * (i / 2) + 10 * h + 300 * (next_random() % 4 == 0)) | next_random() % 4 << 26;
  }
}

/* Mostly hits of one particle, some of another. */
static uint32_t make_tracks(const struct true_particle *particles, uint32_t *hit_offsets, uint32_t *hits) {
  uint32_t count = 0;
  for (uint32_t t = 0; t < TRACKS; t++) {
    const struct true_particle *own = &particles[next_random() % MANY], *other = &particles[next_random() % MANY];
    hit_offsets[t] = count;
    for (uint32_t h = 0; h < 10; h++) {
      const struct true_particle *from = next_random() % 100 < 72 ? own : other;
      if (h < from->hit_count) hits[count++] = from->hits[h];
    }
  }
  hit_offsets[TRACKS] = count;
  return count;
}

/* Passes the tracks of `events` events under `name`, with their hits, to a matching algorithm. */
static void give_tracks(struct sl_test *m, const char *name, uint32_t events, const uint32_t *offsets,
                        const uint32_t *hit_offsets, const uint32_t *hits) {
  sl_test_input(m, name, "offsets", offsets, events + 1);
  sl_test_input(m, name, "hit_offsets", hit_offsets, offsets[events] + 1);
  sl_test_input(m, name, "hit_id", hits, hit_offsets[offsets[events]]);
}

static void give_particles(struct sl_test *m, const struct sl_test *t) {
  static const char *const fields[] = {"key", "pdg", "p", "pt", "eta", "phi", "x", "y", "z", "flags", "mother_key"};
  const uint32_t events = banks->event_count, count = OUT(uint32_t, offsets)[events];
  sl_test_input(m, "particles", "state", OUT(uint8_t, state), events);
  sl_test_input(m, "particles", "offsets", OUT(uint32_t, offsets), events + 1);
  for (size_t f = 0; f < sizeof fields / sizeof fields[0]; f++)
    sl_test_input(m, "particles", fields[f], sl_test_output(t, "particles", fields[f]), count);
  sl_test_input(m, "particles", "hit_count", OUT(uint32_t, hit_count), TRUTH_DETECTORS * count);
  sl_test_input(m, "particles", "hit_offsets", OUT(uint32_t, hit_offsets), count + 1);
  sl_test_input(m, "particles", "hit_id", OUT(uint32_t, hit_id), OUT(uint32_t, hit_offsets)[count]);
}

static struct sl_test *matches_of(const struct sl_test *t, const uint32_t *offsets, const uint32_t *hit_offsets,
                                  const uint32_t *hits, int mask) {
  struct sl_test *m = sl_test_new("plugins/truth.cpu.so", "match_velo");
  sl_test_events(m, banks->event_count);
  give_tracks(m, "tracks", banks->event_count, offsets, hit_offsets, hits);
  give_particles(m, t);
  sl_test_set(m, "mask_fraction_bits", mask);
  assert_int_equal(sl_test_run(m), 0);
  return m;
}

/* The match with most hits, or TRUTH_GHOST if there is none. */
static int32_t best_match(const struct association *a, uint32_t *shared) {
  int32_t best = TRUTH_GHOST;
  *shared = 0;
  for (uint32_t i = 0; i < a->match_count; i++) {
    if (a->matches[i].shared.in[MC_VELO] <= *shared) continue;
    *shared = a->matches[i].shared.in[MC_VELO];
    best = (int32_t)a->matches[i].particle;
  }
  return best;
}

static void assert_matches(int mask) {
  static struct true_particle particles[MANY];
  static uint32_t hit_offsets[TRACKS + 1], hits[HITS];
  const uint32_t offsets[] = {0, TRACKS};
  uint32_t ghosts = 0, known = 0;
  make_particles(particles);
  make_tracks(particles, hit_offsets, hits);
  memset(banks, 0, sizeof *banks);
  add_event(banks, particles, MANY);
  struct sl_test *t = particles_of_banks(), *m = matches_of(t, offsets, hit_offsets, hits, mask);
  const int32_t *found = sl_test_output(m, "matches", "particle"), *pdg = sl_test_output(m, "matches", "pdg");
  const struct mc_particle_banks_view view = VIEW_OF(mc_particle_banks_view, banks);
  struct mc_event mc = {0};
  struct association a = {0};
  const char *reason;
  assert_int_equal(mc_event_decode(&mc, &view, 0, &reason), 0);
  assert_int_equal(association_begin(&a, &mc, association_velo_mask((uint32_t)mask), MC_VELO), 0);
  for (uint32_t i = 0; i < TRACKS; i++) {
    uint32_t shared;
    const uint32_t count = hit_offsets[i + 1] - hit_offsets[i];
    association_match_velo(&a, hits + hit_offsets[i], count);
    assert_int_equal(found[i], best_match(&a, &shared));
    assert_int_equal(pdg[i], found[i] < 0 ? 0 : found[i]);
    assert_int_equal(((const uint32_t *)sl_test_output(m, "matches", "hits"))[i], count);
    if (found[i] < 0) ghosts++;
    if (found[i] < 0) continue;
    known++;
    assert_int_equal(((const uint32_t *)sl_test_output(m, "matches", "shared"))[i], shared);
    assert_true(((const float *)sl_test_output(m, "matches", "purity"))[i] == (float)shared / (float)count);
  }
  assert_true(ghosts > 5 && known > 20);
  association_free(&a);
  mc_event_free(&mc);
  sl_test_free(m);
  sl_test_free(t);
}

static void matches_are_those_of_the_association(void **state) {
  (void)state;
  for (int round = 0; round < 10; round++) assert_matches(round % 2);
}

static void without_truth_there_are_no_ghosts(void **state) {
  (void)state;
  const uint32_t offsets[] = {0, 1, 2}, hit_offsets[] = {0, 2, 3}, hits[] = {10, 20, 99};
  end_event(banks);
  add_event(banks, three, THREE);
  struct sl_test *t = particles_of_banks(), *m = matches_of(t, offsets, hit_offsets, hits, 0);
  const int32_t *found = sl_test_output(m, "matches", "particle");
  assert_int_equal(found[0], TRUTH_UNKNOWN);
  assert_int_equal(found[1], TRUTH_GHOST);
  sl_test_free(m);
  sl_test_free(t);
}

/* ------------------------------------------------------------------------------------------- of long tracks */

/* A particle; every third one decays to the next one, which has its last hits. */
static void make_families(struct true_particle *particles) {
  memset(particles, 0, MANY * sizeof *particles);
  for (uint32_t i = 0; i < MANY; i++) {
    struct true_particle *p = &particles[i];
    const uint32_t is_mother = i % 3 == 0, is_daughter = i % 3 == 1;
    *p = (struct true_particle){.key = 100 + i, .pdg = (int32_t)i, .p = 1000 + (float)i, .eta = 3};
    if (is_daughter) p->mother = p->key - 1;
    p->hit_count = is_daughter ? 0 : 3 + next_random() % 6;
    p->ut_count = next_random() % 5;
    p->scifi_count = is_mother ? 0 : 3 + next_random() % 9;
    for (uint32_t h = 0; h < p->hit_count; h++) p->hits[h] = 1u << 28 | (20 * i + h) | (next_random() % 4) << 26;
    for (uint32_t h = 0; h < p->ut_count; h++) p->ut_hits[h] = 3u << 28 | (20 * (i / 2) + h); /* mostly shared */
    for (uint32_t h = 0; h < p->scifi_count; h++) p->scifi_hits[h] = 5u << 28 | (20 * (i / 2) + h);
    if (next_random() % 4 == 0 && p->scifi_count > 1) p->scifi_hits[1] = p->scifi_hits[0]; /* duplicate id */
  }
}

enum { LONG_EVENTS = 2, FIRST_TRACKS = 20 }; /* tracks of the first event; the others are in the second */
static const uint32_t long_offsets[] = {0, FIRST_TRACKS, TRACKS};

/* Parts of long tracks in one detector; part i belongs to track i. */
struct parts {
  uint32_t hit_offsets[TRACKS + 1], hits[HITS];
};

/* Hits of a particle, some of them replaced by foreign ones. */
static void make_part(struct parts *to, uint32_t i, const uint32_t *own, uint32_t count, uint32_t foreign) {
  uint32_t at = i == 0 ? 0 : to->hit_offsets[i];
  for (uint32_t h = 0; h < count; h++) to->hits[at++] = next_random() % 100 < 94 ? own[h] : foreign;
  to->hit_offsets[i + 1] = at;
}

struct long_parts {
  struct parts in[TRUTH_DETECTORS];
  uint32_t velo_track[TRACKS], ut_track[TRACKS];
};

/* A track starts as one particle and continues as this one, its daughter, or any other one. */
static void make_long_tracks(const struct true_particle *particles, struct long_parts *to) {
  memset(to, 0, sizeof *to);
  for (uint32_t i = 0; i < TRACKS; i++) {
    const uint32_t family = 3 * (next_random() % (MANY / 3));
    const struct true_particle *begin = &particles[next_random() % 3 ? family : family + 2];
    const struct true_particle *other = &particles[next_random() % MANY];
    const struct true_particle *end = next_random() % 6 == 0 ? other : begin->scifi_count > 0 ? begin : begin + 1;
    make_part(&to->in[TRUTH_VELO], i, begin->hits, begin->hit_count, other->hits[0]);
    make_part(&to->in[TRUTH_UT], i, end->ut_hits, end->ut_count, other->ut_hits[0]);
    make_part(&to->in[TRUTH_SCIFI], i, end->scifi_hits, end->scifi_count, other->scifi_hits[0]);
    to->velo_track[i] = i < FIRST_TRACKS ? i : i - FIRST_TRACKS;
    to->ut_track[i] = next_random() % 3 ? to->velo_track[i] : UINT32_MAX;
  }
}

static struct sl_test *long_matches_of(const struct sl_test *t, const struct long_parts *tracks, int has_ut) {
  static const char *const names[] = {"velo_tracks", "ut_tracks", "tracks"};
  struct sl_test *m = sl_test_new("plugins/truth.cpu.so", "match_long");
  sl_test_events(m, LONG_EVENTS);
  for (uint32_t d = 0; d < TRUTH_DETECTORS; d++)
    if (d != TRUTH_UT || has_ut)
      give_tracks(m, names[d], LONG_EVENTS, long_offsets, tracks->in[d].hit_offsets, tracks->in[d].hits);
  sl_test_input(m, "tracks", "velo_track", tracks->velo_track, TRACKS);
  sl_test_input(m, "tracks", "ut_track", tracks->ut_track, TRACKS);
  give_particles(m, t);
  assert_int_equal(sl_test_run(m), 0);
  return m;
}

/* Hits of track i in the form of the association. */
static struct track_hits hits_of(const struct long_parts *tracks, uint32_t i, int has_ut) {
  struct track_hits hits;
  for (uint32_t d = 0; d < TRUTH_DETECTORS; d++) {
    const uint32_t first = tracks->in[d].hit_offsets[i], count = tracks->in[d].hit_offsets[i + 1] - first;
    const int is_there = d != TRUTH_UT || (has_ut && tracks->ut_track[i] != UINT32_MAX);
    hits.in[d] = (struct hit_ids){tracks->in[d].hits + first, is_there ? count : 0};
  }
  return hits;
}

static uint32_t sum_of(const struct hit_counts *counts) {
  return counts->in[MC_VELO] + counts->in[MC_UT] + counts->in[MC_SCIFI];
}

/* Compares the tracks of a round. Returns the number that match a particle without any of their SciFi hits. */
static uint32_t assert_long_matches(int has_ut) {
  static struct true_particle particles[MANY];
  static struct long_parts tracks;
  uint32_t ghosts = 0, decayed = 0;
  make_families(particles);
  make_long_tracks(particles, &tracks);
  memset(banks, 0, sizeof *banks);
  for (int e = 0; e < LONG_EVENTS; e++) add_event(banks, particles, MANY);
  struct sl_test *t = particles_of_banks(), *m = long_matches_of(t, &tracks, has_ut);
  const struct mc_particle_banks_view view = VIEW_OF(mc_particle_banks_view, banks);
  struct mc_event mc = {0};
  struct association a = {0};
  const char *reason;
  assert_int_equal(mc_event_decode(&mc, &view, 0, &reason), 0);
  assert_int_equal(association_begin(&a, &mc, ~0u, MC_SCIFI), 0);
  for (uint32_t i = 0; i < TRACKS; i++) {
    const struct track_hits hits = hits_of(&tracks, i, has_ut);
    const uint32_t count = hits.in[MC_VELO].count + hits.in[MC_UT].count + hits.in[MC_SCIFI].count;
    association_match(&a, &hits);
    const struct match *best = a.matches; /* the particle of the first detector */
    for (uint32_t k = 1; k < a.match_count; k++)
      if (a.matches[k].shared.in[MC_VELO] > best->shared.in[MC_VELO]) best = &a.matches[k];
    const int32_t found = ((const int32_t *)sl_test_output(m, "matches", "particle"))[i];
    const uint32_t shared = ((const uint32_t *)sl_test_output(m, "matches", "shared"))[i];
    assert_int_equal(found, a.match_count > 0 ? (int32_t)best->particle : TRUTH_GHOST);
    assert_int_equal(((const uint32_t *)sl_test_output(m, "matches", "hits"))[i], count);
    if (found >= 0) assert_int_equal(shared, sum_of(&best->shared));
    assert_true(((const float *)sl_test_output(m, "matches", "purity"))[i] == (float)shared / (float)count);
    ghosts += found < 0;
    decayed += found >= 0 && best->shared.in[MC_SCIFI] == 0;
  }
  assert_in_range(ghosts, 4, TRACKS * 2 / 3);
  association_free(&a);
  mc_event_free(&mc);
  sl_test_free(m);
  sl_test_free(t);
  return decayed;
}

static void long_matches_are_those_of_the_association(void **state) {
  (void)state;
  uint32_t decayed = 0;
  for (int round = 0; round < 10; round++) decayed += assert_long_matches(round % 2);
  assert_true(decayed > 20);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, start, stop)
  const struct CMUnitTest tests[] = {CASE(particles_are_those_of_the_decoder),
                                     CASE(events_with_wrong_parts_are_malformed),
                                     CASE(every_truncation_is_malformed),
                                     CASE(numbers_that_are_not_finite_are_malformed),
                                     CASE(matches_are_those_of_the_association),
                                     CASE(without_truth_there_are_no_ghosts),
                                     CASE(long_matches_are_those_of_the_association)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
