/* guarded.c: one block: canary, values, canary. The canaries' bytes differ with their place, so that a copy of poison
 * or of a neighbour shows. */
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
#else
#define ASAN_POISON_MEMORY_REGION(address, bytes)   ((void)(address), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(address, bytes) ((void)(address), (void)(bytes))
#endif

enum { CANARY_BYTES = 64, ALIGNMENT_BYTES = 64 };

static unsigned char canary_byte(size_t index, unsigned char salt) {
  return (unsigned char)(0xC3 ^ salt ^ (index * 7));
}

static void canaries_forbid(const struct sl_guarded *g) {
  unsigned char *values = g->values;
  ASAN_POISON_MEMORY_REGION(values - CANARY_BYTES, CANARY_BYTES);
  ASAN_POISON_MEMORY_REGION(values + g->bytes, CANARY_BYTES);
}

static void canaries_permit(const struct sl_guarded *g) {
  unsigned char *values = g->values;
  ASAN_UNPOISON_MEMORY_REGION(values - CANARY_BYTES, CANARY_BYTES);
  ASAN_UNPOISON_MEMORY_REGION(values + g->bytes, CANARY_BYTES);
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
  int is_damaged = 0;
  if (!values) return 0;
  canaries_permit(g);
  /* From the inner end of each canary outwards. */
  for (size_t ahead = 0; ahead < CANARY_BYTES && !is_damaged; ahead++) {
    if (values[g->bytes + ahead] != canary_byte(ahead, g->salt)) {
      snprintf(text, size, "%zu bytes past its end", ahead);
      is_damaged = 1;
    } else if (*(values - 1 - ahead) != canary_byte(CANARY_BYTES - 1 - ahead, g->salt)) {
      snprintf(text, size, "%zu bytes before its begin", ahead + 1);
      is_damaged = 1;
    }
  }
  canaries_forbid(g);
  return is_damaged;
}
