/* bank_list.c: see bank_list.h. */
#include "bank_list.h"

#include <stdlib.h>
#include <string.h>

void sim_banks_free(struct sim_bank_list *list) {
  free(list->banks.at);
  free(list->words.at);
  *list = (struct sim_bank_list){.banks = {0}};
}

int sim_banks_add(struct sim_bank_list *list, uint8_t type, uint8_t version, uint16_t source_id, const void *payload,
                  uint64_t bytes) {
  if (bytes > SIM_BANK_BYTES_MAX) return SL_EINVAL;
  const uint32_t first = list->words.count, words = (uint32_t)(bytes + 3) / 4;
  struct sim_bank *bank = SIM_APPEND(&list->banks);
  if (!bank || !sim_reserve((void **)&list->words.at, &list->words.capacity, first + words, sizeof *list->words.at))
    return SL_ENOMEM;
  *bank = (struct sim_bank){type, version, source_id, (uint16_t)bytes, 0, first};
  if (words == 0) return SL_OK;
  list->words.at[first + words - 1] = 0;
  memcpy(list->words.at + first, payload, bytes);
  list->words.count = first + words;
  return SL_OK;
}

int sim_banks_add_parts(struct sim_bank_list *list, uint8_t type, uint8_t version, const void *payload,
                        uint64_t bytes) {
  uint16_t part = 0;
  uint64_t at = 0;
  do {
    const uint64_t size = bytes - at < SIM_BANK_PART_BYTES ? bytes - at : SIM_BANK_PART_BYTES;
    const int status = sim_banks_add(list, type, version, part++, (const uint8_t *)payload + at, size);
    if (status < 0) return status;
    at += size;
  } while (at < bytes);
  return SL_OK;
}
