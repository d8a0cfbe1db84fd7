/* mc_banks.h: common part of the decoders of true particles and vertices: joins the payloads of an event's banks by
 * source id into one packed little-endian stream, and reads such a stream (README.md, "Banks of truth"). */
#ifndef TRUTH_MC_BANKS_H
#define TRUTH_MC_BANKS_H

#include <sluice/plugin.h>

/* Banks of one type in a slice, independent of their collection. */
struct mc_banks_view {
  const uint32_t *offsets;
  const uint16_t *source_id, *size_bytes;
  const uint8_t *version;
  const uint32_t *first_word, *payload;
};
#define MC_BANKS_VIEW(banks)                                                                           \
  ((struct mc_banks_view){(banks)->offsets, (banks)->source_id, (banks)->size_bytes, (banks)->version, \
                          (banks)->first_word, (banks)->payload})

/* Reused for all events; the memory only grows. Initialise it with zeros. */
struct mc_joined {
  uint8_t *bytes;
  uint64_t size_bytes, capacity_bytes;
  uint32_t version; /* of the banks */
};

/* Joins the banks of an event that has banks: 0, SL_EFORMAT with the reason (a literal), or SL_ENOMEM. */
int mc_join_banks(struct mc_joined *joined, const struct mc_banks_view *banks, uint32_t event, const char **reason);
void mc_joined_free(struct mc_joined *joined);

/* Grows an array to `needed` entries; returns 0 when out of memory. */
int mc_reserve(void **array, uint64_t *capacity, uint64_t needed, size_t entry_bytes);

/* Unread part of a stream. The caller checks `left` before it takes data. */
struct mc_cursor {
  const uint8_t *next;
  uint64_t left;
};
void mc_take(struct mc_cursor *c, void *to, uint64_t bytes);
uint32_t mc_take_u32(struct mc_cursor *c);
float mc_take_f32(struct mc_cursor *c);
double mc_take_f64(struct mc_cursor *c);

#endif
