/* digest.c: see digest.h. */
#include "results/digest.h"

#include "base/processor.h"

#include <string.h>
#define XXH_STATIC_LINKING_ONLY /* for a state on the stack */
#include "layout/bind.h"

#include <sluice/sluice.h>

#include <xxhash.h>

/* Items [first, first + count) of an event. */
struct extent {
  uint32_t first, count;
};

static struct extent extent_of(const struct sl_collection *c, const void *const *fields, uint32_t event) {
  const int field = sl_offsets_field(c);
  if (field < 0) return (struct extent){0, 0};
  const uint32_t *offsets = fields[field];
  return (struct extent){offsets[event], offsets[event + 1] - offsets[event]};
}

/* Subitems of an event in the group of the field. */
static struct extent subitems_of(const struct sl_collection *c, const void *const *fields, uint32_t field,
                                 struct extent items) {
  const int group = sl_item_offsets_field(c, sl_group_of(c, field));
  if (group < 0 || items.count == 0) return (struct extent){0, 0};
  const uint32_t *offsets = fields[group];
  return (struct extent){offsets[items.first], offsets[items.first + items.count] - offsets[items.first]};
}

static uint64_t digest_list_event(const void *const *fields, uint32_t event) {
  const uint32_t count = *(const uint32_t *)fields[0], *numbers = fields[1];
  uint8_t on_list = 0;
  for (uint32_t i = 0; i < count; i++) on_list |= numbers[i] == event;
  return XXH3_64bits(&on_list, 1);
}

/* The bytes of each item, wherever they are in the pool. */
static void digest_pool(XXH3_state_t *state, const struct sl_collection *c, const struct sl_pool *pool,
                        const void *const *fields, struct extent items) {
  const uint32_t *words = fields[pool->pool], *first_word = fields[pool->first_word];
  for (uint32_t i = items.first; i < items.first + items.count; i++)
    XXH3_64bits_update(state, words + first_word[i], sl_pool_bytes(c, pool, fields[pool->size_bytes], i));
}

uint64_t sl_digest_event(const struct sl_collection *c, const void *const *fields, uint32_t event) {
  if (sl_is_event_list(c)) return digest_list_event(fields, event);
  const struct extent e = extent_of(c, fields, event);
  const struct sl_pool pool = sl_pool_of(c);
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  XXH3_64bits_update(&state, &e.count, sizeof e.count);
  for (uint32_t f = 0; f < c->field_count; f++) {
    const struct sl_field *field = &c->fields[f];
    const size_t bytes = (size_t)field->width * sl_type_bytes(field->type);
    const unsigned char *values = fields[f];
    switch (field->shape) {
      case SL_SHAPE_CODE_PER_EVENT:
        XXH3_64bits_update(&state, values + event * bytes, bytes);
        break;
      case SL_SHAPE_CODE_PER_ITEM:
        if ((int)f == pool.first_word) break; /* depends on the slice */
        XXH3_64bits_update(&state, values + e.first * bytes, e.count * bytes);
        break;
      case SL_SHAPE_CODE_PER_SUBITEM: {
        const struct extent sub = subitems_of(c, fields, f, e);
        XXH3_64bits_update(&state, values + sub.first * bytes, sub.count * bytes);
        break;
      }
      case SL_SHAPE_CODE_ITEM_OFFSETS: {
        const uint32_t *offsets = fields[f];
        for (uint32_t i = e.first; i < e.first + e.count; i++) {
          const uint32_t count = offsets[i + 1] - offsets[i];
          XXH3_64bits_update(&state, &count, sizeof count);
        }
        break;
      }
      case SL_SHAPE_CODE_BYTES:
        digest_pool(&state, c, &pool, fields, e);
        break;
      default:
        break;
    }
  }
  return XXH3_64bits_digest(&state);
}

uint64_t sl_digest_error_event(uint32_t error) {
  const uint32_t words[2] = {UINT32_MAX, error};
  return XXH3_64bits(words, sizeof words);
}

/* ------------------------------------------------------------------------------------------------- outputs */

/* Outputs are hashed modulo the prime 2^61 - 1, which allows reduction by shifts. BASE generates the whole
 * multiplicative group, so that no two positions of the input have the same power. A digest is the sum plus 1, and
 * therefore never 0. */
#define PRIME ((UINT64_C(1) << 61) - 1)
#define BASE  UINT64_C(0x1c4374eefd8cd881)

static uint64_t multiply(uint64_t a, uint64_t b) {
  __extension__ const unsigned __int128 product = (unsigned __int128)a * b;
  return ((uint64_t)(product & PRIME) + (uint64_t)(product >> 61)) % PRIME;
}

/* sum x BASE^count + next */
static uint64_t shift_and_add(uint64_t sum, uint64_t count, uint64_t next) {
  for (uint64_t power = BASE; count != 0; count >>= 1, power = multiply(power, power))
    if (count & 1) sum = multiply(sum, power);
  return (sum + next) % PRIME;
}

uint64_t sl_digest_add_event(uint64_t digest, const struct sl_event *event, uint64_t event_digest) {
  unsigned char record[20];
  memcpy(record, &event->run, 4);
  memcpy(record + 4, &event->number, 8);
  memcpy(record + 12, &event_digest, 8);
  /* Never 0, so that an additional event changes the digest at any position. */
  const uint64_t hash = XXH3_64bits(record, sizeof record) % (PRIME - 1) + 1;
  return shift_and_add(digest - SL_DIGEST_EMPTY, 1, hash) + SL_DIGEST_EMPTY;
}

SL_ANY_PROCESSOR uint64_t sl_digest_join(uint64_t first, uint64_t second, uint64_t events_of_second) {
  if (sl_processor_lacks()) return 0;
  if (first == 0 || second == 0) return 0;
  const uint64_t a = (first - SL_DIGEST_EMPTY) % PRIME, b = (second - SL_DIGEST_EMPTY) % PRIME;
  return shift_and_add(a, events_of_second, b) + SL_DIGEST_EMPTY;
}

SL_ANY_PROCESSOR uint64_t sl_digest_totals(const uint64_t *values, uint64_t count) {
  if (sl_processor_lacks()) return 0;
  return XXH3_64bits(values, (size_t)count * sizeof *values);
}
