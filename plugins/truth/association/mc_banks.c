/* mc_banks.c: see mc_banks.h. */
#include "mc_banks.h"

#include <stdlib.h>
#include <string.h>

int mc_reserve(void **array, uint64_t *capacity, uint64_t needed, size_t entry_bytes) {
  if (needed <= *capacity) return 1;
  const uint64_t larger = needed + needed / 2 + 64;
  void *grown = realloc(*array, larger * entry_bytes);
  if (!grown) return 0;
  *array = grown;
  *capacity = larger;
  return 1;
}

void mc_joined_free(struct mc_joined *joined) {
  free(joined->bytes);
  *joined = (struct mc_joined){0};
}

/* Index of the event's bank with source id `id`, or `end`. Linear search, since banks are few. */
static uint32_t find_bank(const struct mc_banks_view *banks, uint32_t begin, uint32_t end, uint32_t id) {
  for (uint32_t bank = begin; bank < end; bank++)
    if (banks->source_id[bank] == id) return bank;
  return end;
}

/* Source ids must be 0, 1, 2, ...: a missing part would shift all data after it. */
int mc_join_banks(struct mc_joined *joined, const struct mc_banks_view *banks, uint32_t event, const char **reason) {
  const uint32_t begin = banks->offsets[event], end = banks->offsets[event + 1];
  joined->size_bytes = 0;
  joined->version = banks->version[begin];
  for (uint32_t id = 0; id < end - begin; id++) {
    const uint32_t bank = find_bank(banks, begin, end, id);
    if (bank == end || banks->version[bank] != joined->version) {
      *reason = bank == end ? "a part is missing" : "the parts have different versions";
      return SL_EFORMAT;
    }
    const uint64_t bytes = banks->size_bytes[bank];
    if (!mc_reserve((void **)&joined->bytes, &joined->capacity_bytes, joined->size_bytes + bytes, 1)) return SL_ENOMEM;
    if (bytes) memcpy(joined->bytes + joined->size_bytes, banks->payload + banks->first_word[bank], bytes);
    joined->size_bytes += bytes;
  }
  return SL_OK;
}

void mc_take(struct mc_cursor *c, void *to, uint64_t bytes) {
  memcpy(to, c->next, bytes);
  c->next += bytes;
  c->left -= bytes;
}

uint32_t mc_take_u32(struct mc_cursor *c) {
  uint32_t value;
  mc_take(c, &value, sizeof value);
  return value;
}

float mc_take_f32(struct mc_cursor *c) {
  float value;
  mc_take(c, &value, sizeof value);
  return value;
}

double mc_take_f64(struct mc_cursor *c) {
  double value;
  mc_take(c, &value, sizeof value);
  return value;
}
