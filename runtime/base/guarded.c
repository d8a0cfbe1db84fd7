/* guarded.c: one block: canary, values, canary. Each byte of a canary differs from its neighbours, so that a copy of
 * poison or of another canary is detected. */
#include "base/guarded.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define HAS_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ADDRESS_SANITIZER 1
#endif
#endif
#ifdef HAS_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#define UNSEEN __attribute__((no_sanitize("address")))
#else
#define UNSEEN
#define ASAN_POISON_MEMORY_REGION(address, bytes)   ((void)(address), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(address, bytes) ((void)(address), (void)(bytes))
#endif

enum { CANARY_BYTES = 64, ALIGNMENT_BYTES = 64 };

/* Canary byte i before it is combined with the salt. */
#define CANARY_1(i) ((0xC3 ^ (i)*7) & 0xFF)
#define CANARY_8(i)                                                                                                  \
  CANARY_1(i), CANARY_1(i + 1), CANARY_1(i + 2), CANARY_1(i + 3), CANARY_1(i + 4), CANARY_1(i + 5), CANARY_1(i + 6), \
      CANARY_1(i + 7)
static const unsigned char canary[CANARY_BYTES] = {CANARY_8(0),  CANARY_8(8),  CANARY_8(16), CANARY_8(24),
                                                   CANARY_8(32), CANARY_8(40), CANARY_8(48), CANARY_8(56)};

static unsigned char canary_byte(size_t index, unsigned char salt) { return canary[index] ^ salt; }

/* A word at any address, aliasing any type. */
typedef uint64_t __attribute__((aligned(1), may_alias)) any_word;

/* Compares word by word, without AddressSanitizer, which forbids access to canaries. Speed matters: all fields of a
 * graph are checked after each node. */
UNSEEN static int is_canary(const unsigned char *bytes, unsigned char salt) {
  const any_word *found = (const any_word *)bytes, *expected = (const any_word *)canary;
  uint64_t difference = 0;
  for (size_t i = 0; i < CANARY_BYTES / sizeof(uint64_t); i++)
    difference |= found[i] ^ expected[i] ^ salt * (UINT64_MAX / UINT8_MAX);
  return difference == 0;
}

/* Writes the location of the overwritten byte nearest to the values. */
static void find_damage(const struct sl_guarded *g, char *text, size_t size) {
  const unsigned char *values = g->values;
  for (size_t ahead = 0; ahead < CANARY_BYTES; ahead++) {
    if (values[g->bytes + ahead] != canary_byte(ahead, g->salt)) {
      snprintf(text, size, "%zu bytes past its end", ahead);
      return;
    }
    if (*(values - 1 - ahead) != canary_byte(CANARY_BYTES - 1 - ahead, g->salt)) {
      snprintf(text, size, "%zu bytes before its start", ahead + 1);
      return;
    }
  }
}

void sl_guarded_forbid(const void *from, size_t bytes) { ASAN_POISON_MEMORY_REGION(from, bytes); }
void sl_guarded_permit(const void *from, size_t bytes) { ASAN_UNPOISON_MEMORY_REGION(from, bytes); }

static void canaries_forbid(const struct sl_guarded *g) {
  const unsigned char *values = g->values;
  sl_guarded_forbid(values - CANARY_BYTES, CANARY_BYTES);
  sl_guarded_forbid(values + g->bytes, CANARY_BYTES);
}

static void canaries_permit(const struct sl_guarded *g) {
  const unsigned char *values = g->values;
  sl_guarded_permit(values - CANARY_BYTES, CANARY_BYTES);
  sl_guarded_permit(values + g->bytes, CANARY_BYTES);
}

struct sl_guarded sl_guarded_new(size_t bytes, int fill, int salt) {
  const size_t total = (2 * CANARY_BYTES + bytes + ALIGNMENT_BYTES - 1) / ALIGNMENT_BYTES * ALIGNMENT_BYTES;
  unsigned char *block = total > bytes ? aligned_alloc(ALIGNMENT_BYTES, total) : NULL;
  if (!block) return (struct sl_guarded){.values = NULL};
  struct sl_guarded g = {block + CANARY_BYTES, bytes, (unsigned char)salt};
  for (size_t i = 0; i < CANARY_BYTES; i++) block[i] = block[CANARY_BYTES + bytes + i] = canary_byte(i, g.salt);
  memset(g.values, fill, bytes);
  canaries_forbid(&g);
  return g;
}

void sl_guarded_free(struct sl_guarded *g) {
  if (!g->values) return;
  canaries_permit(g);
  free((unsigned char *)g->values - CANARY_BYTES);
  *g = (struct sl_guarded){.values = NULL};
}

int sl_guarded_is_damaged(const struct sl_guarded *g, char *text, size_t size) {
  const unsigned char *values = g->values;
  if (!values) return 0;
  if (is_canary(values - CANARY_BYTES, g->salt) && is_canary(values + g->bytes, g->salt)) return 0;
  canaries_permit(g);
  find_damage(g, text, size);
  canaries_forbid(g);
  return 1;
}
