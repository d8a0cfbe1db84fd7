/* mc_banks.h: what the decoders of true particles and true vertices share: the payloads of an event's banks joined by
 * source id into one packed little-endian stream, and a reader of such a stream (README.md, "Banks of
 * truth").
 */
#ifndef TRUTH_MC_BANKS_H
#define TRUTH_MC_BANKS_H

#include <sluice/plugin.h>

/* The banks of one kind in a slice, whatever collection they come from. */
struct mc_banks_view {
  const uint32_t *offsets;
  const uint16_t *source_id, *size_bytes;
  const uint8_t *version;
  const uint32_t *first_word, *payload;
};
#define MC_BANKS_VIEW(banks)                                                                           \
  ((struct mc_banks_view){(banks)->offsets, (banks)->source_id, (banks)->size_bytes, (banks)->version, \
                          (banks)->first_word, (banks)->payload})

/* Used again for event after event; its memory only grows. Zero-initialise it. */
struct mc_joined {
  uint8_t *bytes;
  uint64_t size_bytes, capacity_bytes;
  uint32_t version; /* of the banks */
};

/* Joins the banks of an event, which has some: 0, SL_EFORMAT with the reason (a literal), or SL_ENOMEM. */
int mc_join_banks(struct mc_joined *joined, const struct mc_banks_view *banks, uint32_t event, const char **reason);
void mc_joined_free(struct mc_joined *joined);

/* Room for `wanted` entries in a growing array; 0 if there is no memory. */
int mc_reserve(void **array, uint64_t *capacity, uint64_t wanted, size_t entry_bytes);

/* What is left of a stream. The caller has made sure that `left` is enough for what it takes. */
struct mc_cursor {
  const uint8_t *next;
  uint64_t left;
};
void mc_take(struct mc_cursor *c, void *to, uint64_t bytes);
uint32_t mc_take_u32(struct mc_cursor *c);
float mc_take_f32(struct mc_cursor *c);
double mc_take_f64(struct mc_cursor *c);

#endif
