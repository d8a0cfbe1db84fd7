/* banks.h: checks the VELO banks of an event and orders them by sensor, for kernels (README.md, "Banks").
 *
 * A bank of version 2 or 3 belongs to one sensor and begins with a count word. A bank of version 4 belongs to a pair of
 * sensors and has no count word; a bit of each word selects the sensor. A bank is put into the slot of its first
 * sensor. This holds for retina clusters and super-pixels.
 */
#ifndef VELO_BANKS_H
#define VELO_BANKS_H

#include "velo/event_model.h"

#include <sluice/kernel.h>

/* Errors that refuse an event. */
#define VELO_BANK_ERRORS(E)                                                                        \
  E(VELO_BAD_VERSION, 1, "a VELO bank has a version other than 2, 3 or 4 (detail: its source id)") \
  E(VELO_BAD_SENSOR, 2, "a VELO bank names a sensor beyond 207 (detail: its source id)")           \
  E(VELO_BAD_SIZE, 3, "a VELO bank's size is not a multiple of 4 bytes (detail: its source id)")   \
  E(VELO_BAD_COUNT, 4, "a VELO bank announces more words than it has (detail: its source id)")     \
  E(VELO_BAD_COLUMN, 5, "a VELO bank names a pixel column beyond 767 (detail: its source id)")     \
  E(VELO_TWO_BANKS, 6, "two VELO banks of one sensor (detail: their source id)")                   \
  E(VELO_TOO_MANY, 7, "more than 65535 VELO clusters in an event (detail: their number)")
#define VELO_BANK_ERROR_CODE_(name, code, text)  name = code,
#define VELO_BANK_ERROR_ENTRY_(name, code, text) {code, 0, text},
enum { VELO_BANK_ERRORS(VELO_BANK_ERROR_CODE_) VELO_MAX_CLUSTERS = 65535 };

/* The fields that both bank collections have. */
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
  uint32_t error; /* 0, or an error code; then nothing else is valid */
  uint32_t version;
  uint32_t sensor;     /* first sensor of the bank */
  uint32_t first_word; /* index in the payloads */
  uint32_t word_count; /* without the count word */
};

/* Reads and checks the header of a bank. An empty payload is a valid bank without words. Words after the number that
 * the count word announces are ignored. */
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

/* The slots of an event: arrays of VELO_SENSORS values. */
struct velo_slots {
  uint32_t *claims; /* shared memory: number of banks of the sensor */
  uint32_t *bank;   /* index of the bank in the event; valid if the slot has words */
  uint32_t *words;  /* number of words, without the count word */
};

/* Puts bank `index` into its slot. Returns 1 if one of its sensors already has a bank. */
static SL_DEVICE uint32_t velo_slots_claim(const struct velo_slots *slots, const struct velo_bank *bank,
                                           uint32_t index) {
  uint32_t others = atomicAdd(&slots->claims[bank->sensor], 1u);
  if (bank->version == 4) others += atomicAdd(&slots->claims[bank->sensor + 1], 1u);
  slots->bank[bank->sensor] = index;
  slots->words[bank->sensor] = bank->word_count;
  return others > 0 ? 1u : 0u;
}

/* Refuses the event for each bank that shares a sensor with another one. All claims have been made. */
static SL_DEVICE void velo_slots_refuse_doubles(const struct velo_slots *slots, const struct velo_bank_list *list,
                                                uint32_t begin, uint32_t end, const struct sl_events *events,
                                                uint32_t event) {
  for (uint32_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
    const struct velo_bank bank = velo_bank_open(list, i);
    if (bank.error != 0) continue;
    if (slots->claims[bank.sensor] > 1 || (bank.version == 4 && slots->claims[bank.sensor + 1] > 1))
      sl_event_fail(events, event, VELO_TWO_BANKS, list->source_id[i]);
  }
}

/* Checks banks [begin, end) of an event and puts them into their slots, one thread per bank. Returns the number of
 * words, or 0 if the event is refused. Called by all threads of the block; afterwards all of them see the slots. */
static SL_DEVICE uint32_t velo_slots_fill(const struct velo_slots *slots, const struct velo_bank_list *list,
                                          uint32_t begin, uint32_t end, const struct sl_events *events,
                                          uint32_t event) {
  for (uint32_t slot = threadIdx.x; slot < VELO_SENSORS; slot += blockDim.x) {
    slots->claims[slot] = 0;
    slots->words[slot] = 0;
  }
  __syncthreads();
  uint32_t my_words = 0, my_errors = 0, my_doubles = 0;
  for (uint32_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
    const struct velo_bank bank = velo_bank_open(list, i);
    if (bank.error == 0) {
      my_doubles += velo_slots_claim(slots, &bank, i - begin);
      my_words += bank.word_count;
    } else {
      my_errors++;
      sl_event_fail(events, event, bank.error, list->source_id[i]);
    }
  }
  const uint32_t words = sl_block_sum_u32(my_words), doubles = sl_block_sum_u32(my_doubles);
  const uint32_t errors = sl_block_sum_u32(my_errors);
  if (doubles > 0) velo_slots_refuse_doubles(slots, list, begin, end, events, event);
  return errors + doubles > 0 ? 0 : words;
}

#endif
