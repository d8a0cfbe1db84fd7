/* banks.h: the VELO banks of an event, checked and put in the order of the sensors. For kernels.
 *
 * Banks of versions 2 and 3 belong to a sensor and begin with a count word; those of version 4 belong to a pair of
 * sensors, have no count word, and each of their words says which of the two it means. A bank stands in the slot of
 * its first sensor. Both bank types, retina clusters and super-pixels, agree in this (spec formats.md 4.1, 4.2).
 */
#ifndef VELO_BANKS_H
#define VELO_BANKS_H

#include <sluice/kernel.h>

#include "velo/event_model.h"

/* Why an event is refused. The detail is the bank's source id, but for too many clusters: their number. */
#define VELO_BANK_ERRORS(E)                                                                       \
  E(VELO_BAD_VERSION, 1, "a VELO bank has a version other than 2, 3 or 4 (detail: its source id)") \
  E(VELO_BAD_SENSOR, 2, "a VELO bank names a sensor beyond 207 (detail: its source id)")           \
  E(VELO_BAD_SIZE, 3, "a VELO bank's size is not a multiple of 4 bytes (detail: its source id)")   \
  E(VELO_BAD_COUNT, 4, "a VELO bank announces more words than it has (detail: its source id)")     \
  E(VELO_BAD_COLUMN, 5, "a VELO bank names a pixel column beyond 767 (detail: its source id)")     \
  E(VELO_TWO_BANKS, 6, "two VELO banks of one sensor (detail: their source id)")                   \
  E(VELO_TOO_MANY, 7, "more than 65535 VELO clusters in an event (detail: how many)")
#define VELO_BANK_ERROR_CODE_(name, code, text) name = code,
#define VELO_BANK_ERROR_ENTRY_(name, code, text) {code, 0, text},
enum { VELO_BANK_ERRORS(VELO_BANK_ERROR_CODE_) VELO_MAX_CLUSTERS = 65535 };

/* The fields of either bank collection. */
struct velo_bank_list {
  const uint16_t *source_id;
  const uint8_t *version;
  const uint16_t *size_bytes;
  const uint32_t *first_word;
  const uint32_t *payload;
};
#define VELO_BANK_FIELDS "offsets source_id version size_bytes first_word payload"
#define VELO_BANK_LIST(banks) \
  { (banks).source_id, (banks).version, (banks).size_bytes, (banks).first_word, (banks).payload }

struct velo_bank {
  uint32_t error; /* 0, or why the event is refused; then nothing else is valid */
  uint32_t version;
  uint32_t sensor; /* the first one, of two in version 4 */
  uint32_t first_word;
  uint32_t word_count; /* without the count word */
};

/* An empty payload is a bank without words in every version. Words behind those that the count word announces are
 * ignored. */
static SL_DEVICE struct velo_bank velo_bank_open(const struct velo_bank_list *list, uint32_t index) {
  struct velo_bank bank;
  const uint32_t size_bytes = list->size_bytes[index], source_id = list->source_id[index];
  bank.error = 0;
  bank.version = list->version[index];
  bank.first_word = list->first_word[index];
  bank.word_count = size_bytes / 4;
  if (bank.version == 4) {
    bank.sensor = 2 * (source_id & 0x1FF);
  } else {
    bank.sensor = source_id;
    if (bank.version != 2 && bank.version != 3) {
      bank.error = VELO_BAD_VERSION;
    } else if (bank.word_count > 0) {
      const uint32_t announced = list->payload[bank.first_word];
      if (announced >= bank.word_count) bank.error = VELO_BAD_COUNT;
      bank.first_word++;
      bank.word_count = announced;
    }
  }
  if (size_bytes % 4 != 0 && bank.error == 0) bank.error = VELO_BAD_SIZE;
  if (bank.sensor >= VELO_SENSORS && bank.error == 0) bank.error = VELO_BAD_SENSOR;
  return bank;
}

/* Notes that `bank` is there; returns 1 if another bank of its sensors is there already. */
static SL_DEVICE uint32_t velo_bank_claim(uint32_t *claims, const struct velo_bank *bank) {
  uint32_t others = atomicAdd(&claims[bank->sensor], 1u);
  if (bank->version == 4) others += atomicAdd(&claims[bank->sensor + 1], 1u);
  return others > 0 ? 1u : 0u;
}

static SL_DEVICE uint32_t velo_bank_is_double(const uint32_t *claims, const struct velo_bank *bank) {
  return claims[bank->sensor] > 1 || (bank->version == 4 && claims[bank->sensor + 1] > 1) ? 1u : 0u;
}

/* Some banks of the event share a sensor: refuses it for each of them. All of `claims` are made. */
static SL_DEVICE void velo_refuse_double_banks(const struct sl_events *events, uint32_t event,
                                               const struct velo_bank_list *list, uint32_t begin, uint32_t end,
                                               const uint32_t *claims) {
  for (uint32_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
    const struct velo_bank bank = velo_bank_open(list, i);
    if (bank.error == 0 && velo_bank_is_double(claims, &bank))
      sl_event_fail(events, event, VELO_TWO_BANKS, list->source_id[i]);
  }
}

/* Where each slot's clusters begin, relative to the event: exclusive sums of `counts`; first[VELO_SENSORS] is their
 * total. Every thread of the block calls it, and all see `first` afterwards. */
static SL_DEVICE void velo_slots_scan(const uint16_t *counts, uint32_t *first) {
  uint32_t before = 0;
  SL_FOR_BLOCK(slot, VELO_SENSORS) {
    uint32_t total;
    const uint32_t place = sl_block_exclusive_scan(slot < VELO_SENSORS ? counts[slot] : 0u, &total);
    if (slot < VELO_SENSORS) first[slot] = before + place;
    before += total;
  }
  if (threadIdx.x == 0) first[VELO_SENSORS] = before;
  __syncthreads();
}

/* Writes the event's slices, one a module pair (8 slots). */
static SL_DEVICE void velo_pairs_write(const struct velo_clusters *clusters, uint32_t event, const uint32_t *first) {
  for (uint32_t pair = threadIdx.x; pair < VELO_MODULE_PAIRS; pair += blockDim.x) {
    clusters->pair_first[event * VELO_MODULE_PAIRS + pair] = first[8 * pair];
    clusters->pair_count[event * VELO_MODULE_PAIRS + pair] = first[8 * pair + 8] - first[8 * pair];
  }
}

/* The same for an event without clusters. */
static SL_DEVICE void velo_pairs_clear(const struct velo_clusters *clusters, uint32_t event) {
  for (uint32_t pair = threadIdx.x; pair < VELO_MODULE_PAIRS; pair += blockDim.x) {
    clusters->pair_first[event * VELO_MODULE_PAIRS + pair] = 0;
    clusters->pair_count[event * VELO_MODULE_PAIRS + pair] = 0;
  }
}

#endif
