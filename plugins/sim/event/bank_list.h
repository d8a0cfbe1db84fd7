/* bank_list.h: raw banks of one event, in memory. */
#ifndef SIM_BANK_LIST_H
#define SIM_BANK_LIST_H

#include "event.h"

/* Bank types, and the largest payload of one part of a list that is split over several banks. */
enum {
  SIM_BANK_MUON = 13,
  SIM_BANK_ODIN = 16,
  SIM_BANK_ECAL_PACKED = 21,
  SIM_BANK_MC_PARTICLES = 32,
  SIM_BANK_MC_VERTICES = 33,
  SIM_BANK_VELO_SUPERPIXELS = 63,
  SIM_BANK_SCIFI = 64,
  SIM_BANK_UT = 66,
  SIM_BANK_VELO_CLUSTERS = 73,
  SIM_BANK_CALO = 77,
  SIM_BANK_MC_PHOTONS = 240 /* defined by the truth plugin (truth/photons.h) */
};
enum { SIM_BANK_PART_BYTES = 64512, SIM_BANK_BYTES_MAX = 65527 };

struct sim_bank {
  uint8_t type, version;
  uint16_t source_id, size_bytes, reserved;
  uint32_t first_word; /* in `words` */
};

struct sim_bank_list {
  SIM_LIST(struct sim_bank) banks;
  SIM_LIST(uint32_t) words; /* payloads, each padded with zeros to a word */
};

static inline void sim_banks_clear(struct sim_bank_list *list) { list->banks.count = list->words.count = 0; }
void sim_banks_free(struct sim_bank_list *list);

/* Adds a bank with this payload: 0, SL_ENOMEM, or SL_EINVAL if the payload is too large for a bank. */
int sim_banks_add(struct sim_bank_list *list, uint8_t type, uint8_t version, uint16_t source_id, const void *payload,
                  uint64_t bytes);

/* Adds a payload of any size as several banks with source ids 0, 1, 2... */
int sim_banks_add_parts(struct sim_bank_list *list, uint8_t type, uint8_t version, const void *payload, uint64_t bytes);

#endif
