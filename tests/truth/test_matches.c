/* test_matches.c: truth.particles against the decoder of the host, truth.match_velo against the checks' association. */
#include "association.h"
#include "mc_writer.h"
#include "truth/event_model.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h wants the above first */
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
  const uint32_t first = OUT(uint32_t, velo_offsets)[i];
  assert_int_equal(OUT(uint32_t, velo_offsets)[i + 1] - first, p->velo.count);
  for (uint32_t h = 0; h < p->velo.count; h++)
    assert_int_equal(OUT(uint32_t, velo_id)[first + h], mc->ids[p->velo.first + h]);
}

/* Every event is what the decoder makes of it. Returns how many are malformed, and ends the test. */
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
  add_event(banks, three, THREE); /* and one that is right is read all the same */
  assert_int_equal(assert_decoded(), 5);
}

static void every_cut_is_malformed(void **state) {
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

enum { MANY = 40, TRACKS = 60, HITS = 600 };

static uint32_t next_random(void) {
  static uint32_t x = 12345;
  x ^= x << 13;
  x ^= x >> 17;
  return x ^= x << 5;
}

/* Each two of them have many ids in common. */
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

static struct sl_test *matches_of(const struct sl_test *t, const uint32_t *offsets, const uint32_t *hit_offsets,
                                  const uint32_t *hits, int mask) {
  struct sl_test *m = sl_test_new("plugins/truth.cpu.so", "match_velo");
  const uint32_t events = banks->event_count;
  sl_test_events(m, events);
  sl_test_input(m, "tracks", "offsets", offsets, events + 1);
  sl_test_input(m, "tracks", "hit_offsets", hit_offsets, offsets[events] + 1);
  sl_test_input(m, "tracks", "hit_id", hits, hit_offsets[offsets[events]]);
  const char *const fields[] = {"state", "offsets", "pdg", "p", "pt",    "eta",
                                "phi",   "x",       "y",   "z", "flags", "velo_offsets"};
  const uint32_t count = OUT(uint32_t, offsets)[events];
  for (size_t f = 0; f < sizeof fields / sizeof fields[0]; f++)
    sl_test_input(m, "particles", fields[f], sl_test_output(t, "particles", fields[f]),
                  f == 0    ? events
                  : f == 1  ? events + 1
                  : f == 11 ? count + 1
                            : count);
  sl_test_input(m, "particles", "velo_id", OUT(uint32_t, velo_id), OUT(uint32_t, velo_offsets)[count]);
  sl_test_set(m, "mask_fraction_bits", mask);
  assert_int_equal(sl_test_run(m), 0);
  return m;
}

/* Of the matches of the association, that with most hits; TRUTH_GHOST if there is none. */
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

static void without_truth_nothing_is_a_ghost(void **state) {
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

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, start, stop)
  const struct CMUnitTest tests[] = {CASE(particles_are_those_of_the_decoder),
                                     CASE(events_with_wrong_parts_are_malformed),
                                     CASE(every_cut_is_malformed),
                                     CASE(numbers_that_are_not_finite_are_malformed),
                                     CASE(matches_are_those_of_the_association),
                                     CASE(without_truth_nothing_is_a_ghost)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
