/* source.c: a record source with items, subitems, a header and bad records. A file: "LISTS1", u16 version, u32 scale;
 * then records: u32 bytes of the record, u32 id, u32 items, for each item f32 weight, u32 parts, f32 part...
 */
#include "lists.h"

#include <string.h>

#define SL_ARGS source_args
#define SOURCE(M)                                                                      \
  M(OUT, lists, lists, "items", SL_ITEMS(SL_ONE(SL_BUDGET_TERM(items_per_event, 16))), \
    SL_SUBITEMS(SL_ONE(SL_BUDGET_TERM(parts_per_event, 32))))                          \
  M(BUDGET, items_per_event, 4, 0, 1000, "items")                                      \
  M(BUDGET, parts_per_event, 8, 0, 1000, "parts")                                      \
  M(INPUT_U32, scale, 1, 0, 1000000, "", "factor of all weights")                      \
  SL_RECORD_PROPERTIES(M)
SL_HOST_ARGUMENTS(source, SOURCE);

static int probe(const unsigned char *bytes, size_t count) { return count >= 6 && memcmp(bytes, "LISTS1", 6) == 0; }

static int64_t header(const char *path, const unsigned char *bytes, size_t count, const struct sl_header_calls *calls) {
  uint32_t scale;
  (void)path;
  if (count < 12) return 12;
  memcpy(&scale, bytes + 8, sizeof scale);
  calls->set(calls->context, "scale", scale);
  return 12;
}

static uint32_t word(const unsigned char *bytes, size_t at) {
  uint32_t value;
  memcpy(&value, bytes + at, sizeof value);
  return value;
}

static uint64_t length(void *state, const void *args, const unsigned char *bytes, size_t count, struct sl_unpack *u) {
  (void)state, (void)args;
  if (count < 4) return 4;
  if (word(bytes, 0) < 12) u->fail(u, "a record of %u bytes, at least 12 are expected", word(bytes, 0));
  return word(bytes, 0);
}

static void unpack(void *state, const void *args, const unsigned char *record, size_t bytes, struct sl_unpack *u) {
  const struct source_args *a = (const struct source_args *)args;
  const uint32_t items = word(record, 8);
  size_t at = 12;
  (void)state;
  if (word(record, 4) == 666) {
    u->fail(u, "id %u is refused", word(record, 4));
    return;
  }
  u->about->number = word(record, 4);
  u->about->run = 7;
  const uint32_t first = sl_unpack_items(u, &a->lists.bound, items);
  if (first == SL_NO_ROOM) return;
  if (a->lists.id) a->lists.id[u->event] = word(record, 4);
  for (uint32_t i = 0; i < items; i++) {
    if (at + 8 > bytes || at + 8 + 4ull * word(record, at + 4) > bytes) {
      u->fail(u, "item %u goes beyond the record", i);
      return;
    }
    const uint32_t parts = word(record, at + 4);
    const uint32_t to = sl_unpack_subitems(u, a->lists.part_offsets, &a->lists.part_offsets_bound, first + i, parts);
    if (to == SL_NO_ROOM) return;
    if (a->lists.weight) memcpy(&a->lists.weight[first + i], record + at, 4);
    if (a->lists.weight) a->lists.weight[first + i] *= (float)a->scale;
    if (a->lists.part) memcpy(&a->lists.part[to], record + at + 8, 4ull * parts);
    at += 8 + 4ull * parts;
  }
}

static const struct sl_records records = {.probe = probe, .header = header, .length = length, .unpack = unpack};
SL_RECORD_SOURCE(source, "items and parts from records", uint32_t, records);
