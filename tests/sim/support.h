/* support.h: common functions of the simulation's tests. */
#ifndef TEST_SIM_SUPPORT_H
#define TEST_SIM_SUPPORT_H

#include "simulation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Nominal detector and defaults of the source: mu 5.3, seed 1, ODIN 7, super-pixels 2, clusters 3, UT 3. */
struct sim_simulation *simulation_new(void);
void simulation_free(struct sim_simulation *s);

/* May the particle decay to others that are not listed: neutrinos, K_L? */
int may_hide_daughters(const struct sim_particle *p);

/* Banks of a type of the event as fields of a collection; the words are those of the simulation. */
enum { TEST_BANKS_MAX = 512 };
struct bank_fields {
  uint32_t offsets[2];
  uint32_t count;
  uint16_t source_id[TEST_BANKS_MAX], size_bytes[TEST_BANKS_MAX];
  uint8_t version[TEST_BANKS_MAX];
  uint32_t first_word[TEST_BANKS_MAX];
};
void bank_fields_of(const struct sim_simulation *s, uint8_t type, struct bank_fields *fields);

/* FNV-1a over bytes, for tests of identical bits. */
static const uint64_t digest_begin = 0xCBF29CE484222325ull;
uint64_t digest_bytes(const void *from, size_t count, uint64_t digest);
/* Compares the digest with the expected one, and prints it, so that a change can be accepted. */
void assert_digest(uint64_t digest, uint64_t expected);

#endif
