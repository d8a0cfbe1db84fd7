/* mc_particles_test.c: decoding of true particles, and their association with tracks. */
#include "association/mc_particles.h"

#include "association/association.h"
#include "mc_writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct true_particle three[] = {
    {.key = 7,
     .pdg = -211,
     .p = 6000,
     .eta = 3,
     .flags = {1, 0, 1, 0, 1, 0, 0, 1, 1},
     .hit_count = 3,
     .hits = {1, 2, 3},
     .ut_count = 1,
     .ut_hits = {0x30000000}},
    {.key = 9,
     .pdg = 11,
     .p = 100,
     .eta = -2,
     .flags = {0, 1, 0, 1, 0, 1, 1, 0, 0},
     .ut_count = 3,
     .ut_hits = {0x30000001, 0x30040001, 0x300c0002},
     .scifi_count = 2,
     .scifi_hits = {0x50040001, 0x500f0002}},
    {.key = 1,
     .pdg = 13,
     .p = 1e5f,
     .eta = 2.5f,
     .flags = {1, 1, 1, 1, 1, 0, 0, 0, 0},
     .hit_count = 2,
     .hits = {3, 0x2fffffff}},
};

static struct mc_banks *banks;
static struct mc_stream stream;
static struct mc_event mc;

static int start(void **state) {
  (void)state;
  banks = calloc(1, sizeof *banks);
  return banks ? 0 : -1;
}

static int stop(void **state) {
  (void)state;
  mc_event_free(&mc);
  free(banks);
  return 0;
}

static int decode(uint32_t event, const char **reason) {
  const struct mc_particle_banks_view view = VIEW_OF(mc_particle_banks_view, banks);
  return mc_event_decode(&mc, &view, event, reason);
}

static void assert_is_three(uint32_t version) {
  assert_int_equal(mc.particle_count, 3);
  for (uint32_t i = 0; i < 3; i++) {
    const struct mc_particle *p = &mc.particles[i];
    assert_int_equal(p->key, three[i].key);
    assert_int_equal(p->pdg, three[i].pdg);
    assert_int_equal(p->mother_key, three[i].key);
    assert_true(p->p == three[i].p && p->eta == three[i].eta && p->z == 12 && p->charge == 1);
    assert_int_equal(p->visible_vertex_count, 5);
    for (uint32_t flag = 0; flag < FLAG_COUNT; flag++) {
      const int expected = three[i].flags[flag] && (flag != SIGNAL || version >= 2);
      assert_int_equal((p->flags >> flag) & 1, expected);
    }
    assert_int_equal(p->velo.count, three[i].hit_count);
    assert_memory_equal(mc.ids + p->velo.first, three[i].hits, 4 * three[i].hit_count);
    assert_int_equal(p->ut.count, three[i].ut_count);
    assert_memory_equal(mc.ids + p->ut.first, three[i].ut_hits, 4 * three[i].ut_count);
    assert_int_equal(p->scifi.count, three[i].scifi_count);
    assert_memory_equal(mc.ids + p->scifi.first, three[i].scifi_hits, 4 * three[i].scifi_count);
  }
}

static void both_versions_are_decoded(void **state) {
  (void)state;
  const char *reason;
  for (uint8_t version = 1; version <= 2; version++) {
    write_particles(&stream, version, three, 3);
    add_part(banks, version, 0, stream.bytes, stream.size);
    end_event(banks);
  }
  for (uint32_t event = 0; event < 2; event++) {
    assert_int_equal(decode(event, &reason), 0);
    assert_is_three(event + 1);
  }
}

static void parts_are_joined_by_source_id(void **state) {
  (void)state;
  const char *reason;
  write_particles(&stream, 2, three, 3);
  /* Split at odd positions, so that padding between parts would have an effect. */
  add_part(banks, 2, 2, stream.bytes + 150, stream.size - 150);
  add_part(banks, 2, 0, stream.bytes, 33);
  add_part(banks, 2, 1, stream.bytes + 33, 117);
  end_event(banks);
  assert_int_equal(decode(0, &reason), 0);
  assert_is_three(2);
}

static void event_without_banks_has_no_particles(void **state) {
  (void)state;
  const char *reason;
  end_event(banks);
  assert_int_equal(decode(0, &reason), 0);
  assert_int_equal(mc.particle_count, 0);
}

static int decode_exactly(const uint8_t *bytes, uint32_t size, uint8_t version, const char **reason) {
  const struct lone_bank bank = lone_bank_new(bytes, size, version);
  const struct mc_particle_banks_view view = VIEW_OF(mc_particle_banks_view, &bank);
  const int result = mc_event_decode(&mc, &view, 0, reason);
  free(bank.payload);
  return result;
}

static void truncations_and_extra_bytes_are_refused(void **state) {
  (void)state;
  const char *reason;
  write_particles(&stream, 2, three, 3);
  for (uint32_t size = 0; size < stream.size; size++) {
    assert_int_equal(decode_exactly(stream.bytes, size, 2, &reason), SL_EFORMAT);
    assert_string_equal(reason, "the particles are cut short");
    assert_int_equal(mc.particle_count, 0);
  }
  assert_int_equal(decode_exactly(stream.bytes, stream.size, 2, &reason), 0);
  assert_int_equal(decode_exactly(stream.bytes, stream.size + 1, 2, &reason), SL_EFORMAT);
  assert_string_equal(reason, "bytes are left after the particles");
  assert_int_equal(decode_exactly(stream.bytes, stream.size, 3, &reason), SL_EFORMAT);
  assert_string_equal(reason, "the bank version is neither 1 nor 2");
}

static void changed_bytes_cause_no_read_outside(void **state) {
  (void)state;
  const char *reason;
  uint32_t random = 1, accepted = 0;
  for (uint32_t i = 0; i < 20000; i++) {
    write_particles(&stream, 2, three, 3);
    for (int changes = 0; changes < 3; changes++) {
      random = random * 1664525u + 1013904223u;
      stream.bytes[(random >> 8) % stream.size] ^= (uint8_t)(random >> 24);
    }
    const int result = decode_exactly(stream.bytes, stream.size, 2, &reason);
    assert_true(result == 0 || result == SL_EFORMAT);
    accepted += result == 0;
    for (uint32_t k = 0; k < mc.particle_count; k++)
      assert_true(mc.particles[k].scifi.first + mc.particles[k].scifi.count <= mc.id_count);
  }
  assert_in_range(accepted, 1, 19999);
}

static void missing_or_mixed_parts_are_refused(void **state) {
  (void)state;
  const char *reason;
  write_particles(&stream, 2, three, 3);
  add_part(banks, 2, 0, stream.bytes, 100);
  add_part(banks, 2, 2, stream.bytes + 100, stream.size - 100);
  end_event(banks);
  add_part(banks, 2, 0, stream.bytes, 100);
  add_part(banks, 1, 1, stream.bytes + 100, stream.size - 100);
  end_event(banks);
  assert_int_equal(decode(0, &reason), SL_EFORMAT);
  assert_string_equal(reason, "a part is missing");
  assert_int_equal(decode(1, &reason), SL_EFORMAT);
  assert_string_equal(reason, "the parts have different versions");
}

/* ------------------------------------------------------------------------------------------------ sample events */

/* Reads the particle banks of an MDF record with a header of 48 bytes; returns the length of the record. */
static uint32_t read_record(const uint8_t *record) {
  uint32_t length;
  memcpy(&length, record, 4);
  *banks = (struct mc_banks){.event_count = 0};
  for (const uint8_t *bank = record + 48; bank < record + length;) {
    const uint32_t bytes = bank[2] | (uint32_t)bank[3] << 8;
    if (bank[4] == 32) add_part(banks, bank[5], (uint16_t)(bank[6] | bank[7] << 8), bank + 8, bytes - 8);
    bank += (bytes + 3) & ~3u;
  }
  end_event(banks);
  return length;
}

struct totals {
  uint64_t events, particles, long_particles, velo_ids, ut_ids, scifi_ids;
  uint64_t not_by_hits; /* particles with flags that do not follow from their hits */
};

/* Flags by the rules for hits: README.md, "Banks of truth". */
static uint32_t flags_of_hits(const struct mc_particle *p) {
  uint64_t modules = 0;
  uint32_t ut = 0, scifi = 0, flags = MC_HAS_SCIFI;
  for (uint32_t i = 0; i < p->velo.count; i++) modules |= 1ull << (mc.ids[p->velo.first + i] >> 20 & 0x3F);
  for (uint32_t i = 0; i < p->ut.count; i++) ut |= 1u << (mc.ids[p->ut.first + i] >> 18 & 3);
  for (uint32_t i = 0; i < p->scifi.count; i++) scifi |= 1u << (mc.ids[p->scifi.first + i] >> 16 & 15);
  for (int station = 1; station <= 3; station++)
    if (!(scifi >> 4 * station & 9) || !(scifi >> 4 * station & 6)) flags = 0;
  if (__builtin_popcountll(modules) >= 3) flags |= MC_HAS_VELO;
  if ((ut & 3) && (ut & 12)) flags |= MC_HAS_UT;
  if ((flags & MC_HAS_VELO) && (flags & MC_HAS_SCIFI)) flags |= MC_IS_LONG;
  if ((flags & MC_HAS_UT) && (flags & MC_HAS_SCIFI)) flags |= MC_IS_DOWN;
  return flags;
}

/* Returns 0 if there is no such file. */
static int sum_file(const char *name, struct totals *totals) {
  const char *folder = getenv("SLUICE_DATA");
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", folder ? folder : SLUICE_DATA_DEFAULT, name);
  FILE *file = fopen(path, "rb");
  if (!file) {
    printf("no shared data: %s (set SLUICE_DATA)\n", path);
    return 0;
  }
  assert_int_equal(fseek(file, 0, SEEK_END), 0);
  const size_t size = (size_t)ftell(file);
  rewind(file);
  uint8_t *bytes = malloc(size);
  assert_int_equal(fread(bytes, 1, size, file), size);
  fclose(file);
  *totals = (struct totals){0};
  for (size_t offset = 0; offset < size; totals->events++) {
    const char *reason;
    offset += read_record(bytes + offset);
    if (decode(0, &reason)) fail_msg("event %d: %s", (int)totals->events, reason);
    totals->particles += mc.particle_count;
    for (uint32_t i = 0; i < mc.particle_count; i++) {
      totals->long_particles += (mc.particles[i].flags & MC_IS_LONG) != 0;
      totals->velo_ids += mc.particles[i].velo.count;
      totals->ut_ids += mc.particles[i].ut.count;
      totals->scifi_ids += mc.particles[i].scifi.count;
      const uint32_t by_hits = MC_HAS_VELO | MC_HAS_UT | MC_HAS_SCIFI | MC_IS_LONG | MC_IS_DOWN;
      totals->not_by_hits += (mc.particles[i].flags & by_hits) != flags_of_hits(&mc.particles[i]);
    }
  }
  free(bytes);
  return 1;
}

static void samples_have_the_published_particles(void **state) {
  (void)state;
  struct totals totals;
  if (!sum_file("lhcb/minbias.mdf", &totals)) skip();
  assert_int_equal(totals.events, 6);
  assert_int_equal(totals.particles, 1934 + 599 + 690 + 717 + 896 + 458);
  assert_int_equal(totals.long_particles, 121 + 30 + 49 + 69 + 105 + 24);
  assert_int_equal(totals.ut_ids, 5994);
  assert_int_equal(totals.scifi_ids, 18872);
  assert_int_equal(totals.not_by_hits, 0);
  if (!sum_file("velo/minbias_300.mdf", &totals)) skip();
  assert_int_equal(totals.events, 300);
  assert_int_equal(totals.particles, 80855);
  assert_int_equal(totals.long_particles, 21012);
  assert_int_equal(totals.velo_ids, 515304);
}

/* ------------------------------------------------------------------------------------------------ association */

static struct association association;

static void associate(const struct true_particle *particles, uint32_t count, uint32_t id_mask) {
  const char *reason;
  add_event(banks, particles, count);
  assert_int_equal(decode(banks->event_count - 1, &reason), 0);
  assert_int_equal(association_begin(&association, &mc, id_mask, MC_VELO), 0);
}

static int stop_association(void **state) {
  association_free(&association);
  return stop(state);
}

static void seven_hits_of_ten_match_and_six_do_not(void **state) {
  (void)state;
  const struct true_particle particle = {.hit_count = 7, .hits = {11, 12, 13, 14, 15, 16, 17}};
  uint32_t hits[10] = {11, 12, 13, 14, 15, 16, 17, 100, 101, 102};
  associate(&particle, 1, ~0u);
  association_match_velo(&association, hits, 10);
  assert_int_equal(association.match_count, 1);
  assert_int_equal(association.matches[0].shared.in[MC_VELO], 7);
  hits[0] = 103;
  association_match_velo(&association, hits, 10);
  assert_int_equal(association.match_count, 0);
  association_match_velo(&association, hits + 1, 3); /* earlier counts are reset */
  assert_int_equal(association.match_count, 1);
  assert_int_equal(association.matches[0].shared.in[MC_VELO], 3);
  /* The rule in integers, up to the longest track: ceil(0.7 n) hits are enough, one less is not. */
  for (uint32_t count = 3; count <= 7; count++) {
    const uint32_t needed = (7 * count + 9) / 10;
    for (uint32_t shared = needed - 1; shared <= needed; shared++) {
      for (uint32_t i = 0; i < count; i++) hits[i] = i < shared ? 11 + i : 200 + i;
      association_match_velo(&association, hits, count);
      assert_int_equal(association.match_count, shared >= needed);
    }
  }
}

static void one_id_may_belong_to_several_particles(void **state) {
  (void)state;
  const struct true_particle particles[] = {{.hit_count = 4, .hits = {1, 2, 3, 4}},
                                            {.hit_count = 3, .hits = {90, 91, 92}},
                                            {.hit_count = 5, .hits = {4, 3, 2, 50, 51}}};
  const uint32_t hits[] = {2, 3, 4};
  associate(particles, 3, ~0u);
  association_match_velo(&association, hits, 3);
  assert_int_equal(association.match_count, 2);
  assert_int_equal(association.matches[0].particle, 0);
  assert_int_equal(association.matches[1].particle, 2);
  assert_int_equal(association.matches[1].shared.in[MC_VELO], 3);
}

static void fraction_bits_can_be_masked_and_count_once(void **state) {
  (void)state;
  const struct true_particle particle = {.hit_count = 4, .hits = {0x20000001, 0x24000001, 0x28000002, 0x2c000003}};
  const uint32_t hits[] = {0x2c000001, 0x20000002, 0x24000003};
  associate(&particle, 1, ~0u);
  association_match_velo(&association, hits, 3);
  assert_int_equal(association.match_count, 0);
  assert_int_equal(association_begin(&association, &mc, ~(3u << 26), MC_VELO), 0);
  association_match_velo(&association, hits, 3);
  assert_int_equal(association.match_count, 1);
  assert_int_equal(association.matches[0].shared.in[MC_VELO], 3); /* two ids of the particle became one */
}

static void track_without_hits_matches_nothing(void **state) {
  (void)state;
  associate(three, 3, ~0u);
  association_match_velo(&association, NULL, 0);
  assert_int_equal(association.match_count, 0);
  associate(three, 0, ~0u);
  const uint32_t hits[] = {1, 2, 3};
  association_match_velo(&association, hits, 3);
  assert_int_equal(association.match_count, 0);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, start, stop_association)
  const struct CMUnitTest tests[] = {
      CASE(both_versions_are_decoded),
      CASE(parts_are_joined_by_source_id),
      CASE(event_without_banks_has_no_particles),
      CASE(truncations_and_extra_bytes_are_refused),
      CASE(changed_bytes_cause_no_read_outside),
      CASE(missing_or_mixed_parts_are_refused),
      CASE(samples_have_the_published_particles),
      CASE(seven_hits_of_ten_match_and_six_do_not),
      CASE(one_id_may_belong_to_several_particles),
      CASE(fraction_bits_can_be_masked_and_count_once),
      CASE(track_without_hits_matches_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
