/* support.c: see support.h. */
#include "support.h"

#include "defaults.h"

struct sim_simulation *simulation_new(void) {
  char reason[256];
  struct sim_simulation *s = calloc(1, sizeof *s);
  assert_non_null(s);
  assert_int_equal(sim_set_defaults(s, reason, sizeof reason), 0);
  s->make_flags = SIM_MAKE_TRUTH | SIM_MAKE_SUPERPIXELS;
  return s;
}

void simulation_free(struct sim_simulation *s) {
  sim_simulation_free(s);
  free(s);
}

void bank_fields_of(const struct sim_simulation *s, uint8_t type, struct bank_fields *f) {
  f->count = 0;
  for (uint32_t i = 0; i < s->banks.banks.count; i++) {
    const struct sim_bank *bank = &s->banks.banks.at[i];
    if (bank->type != type) continue;
    assert_true(f->count < TEST_BANKS_MAX);
    f->source_id[f->count] = bank->source_id;
    f->size_bytes[f->count] = bank->size_bytes;
    f->version[f->count] = bank->version;
    f->first_word[f->count++] = bank->first_word;
  }
  f->offsets[0] = 0;
  f->offsets[1] = f->count;
}

uint64_t digest_bytes(const void *from, size_t count, uint64_t digest) {
  const unsigned char *bytes = from;
  for (size_t i = 0; i < count; i++) digest = (digest ^ bytes[i]) * 0x100000001B3ull;
  return digest;
}

void assert_digest(uint64_t digest, uint64_t expected) {
  print_message("digest 0x%016llX\n", (unsigned long long)digest);
  assert_true(digest == expected);
}

int may_hide_daughters(const struct sim_particle *p) {
  for (uint32_t k = 0; !p->mode && k < p->species->mode_count; k++)
    for (const int8_t *d = p->species->modes[k].daughters; *d != SIM_NOTHING; d++)
      if (*d == SIM_NEUTRINO || *d == -SIM_NEUTRINO || *d == SIM_KAON_LONG) return 1;
  return 0;
}
