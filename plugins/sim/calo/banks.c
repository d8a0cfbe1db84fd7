/* banks.c: calorimeter banks of cell values (plugins/calo/README.md, "Banks").
 * Type 21: a bank has several cards, with values of 4 or 12 bits. Type 77: a bank has three cards, with values of 12
 * bits. The trigger part of a card of type 21 has the energies that the hardware trigger of earlier years read: a word
 * with a bit for each channel that is not 0, and a byte for each of these. That of type 77 is empty. */
#include "calo/bank_words.h"
#include "digits.h"
#include "truth/photons.h"

#include <stdlib.h>
#include <string.h>

static const uint32_t off[CALO_GROUP_WORDS] = {0xfff000ffu, 0xf000fff0u, 0x00fff000u}; /* a link without a card */
static const uint32_t group_count = CALO_CARD_CHANNELS / CALO_GROUP_CHANNELS;

enum {
  TRIGGER_WORDS_MAX = 1 + CALO_CARD_CHANNELS / 4,
  CARD_WORDS_MAX = 2 + TRIGGER_WORDS_MAX + CALO_LONG_BITS,
  PAYLOAD_WORDS = CALO_CARDS_MAX * CARD_WORDS_MAX
};

/* Counts of a value per count of the trigger; 7 to 8.5 in full simulation, by the cell. */
static const float counts_per_trigger_count = 7.6f;

static int32_t adc_of(const struct calo_description *d, const struct sim_ecal_digits *digits, uint32_t card,
                      uint32_t channel) {
  const uint32_t cell = d->channels[CALO_CARD_CHANNELS * card + channel];
  return cell < CALO_CELLS ? digits->adc[cell] : 0;
}

/* ------------------------------------------------------------------------------------------------- type 21 */

static int is_long(int32_t adc) { return adc < -CALO_SHORT_ZERO || adc >= CALO_SHORT_ZERO; }

/* Packs the trigger part of a card; returns the number of words. */
static uint32_t pack_trigger(const struct calo_description *d, const struct sim_ecal_digits *digits, uint32_t card,
                             uint32_t words[TRIGGER_WORDS_MAX]) {
  uint32_t count = 0;
  memset(words, 0, TRIGGER_WORDS_MAX * sizeof *words);
  for (uint32_t k = 0; k < CALO_CARD_CHANNELS; k++) {
    const float adc = (float)adc_of(d, digits, card, k);
    const uint32_t value = adc > 0.0f ? sl_to_u32(sl_min_f32(adc / counts_per_trigger_count + 0.5f, 255.0f)) : 0;
    if (value == 0) continue;
    words[0] |= 1u << k;
    words[1 + count / 4] |= value << 8 * (count % 4);
    count++;
  }
  return count > 0 ? 1 + (count + 3) / 4 : 0;
}

/* Packs a card: head, trigger part, pattern and values; returns the number of words. */
static uint32_t pack_card(const struct calo_description *d, const struct sim_ecal_digits *digits, uint32_t code,
                          uint32_t words[CARD_WORDS_MAX]) {
  const uint32_t trigger_words = pack_trigger(d, digits, code - d->first_card, words + 1), first = 1 + trigger_words;
  uint32_t pattern = 0, count = first + 1, filled = 0;
  uint64_t bits = 0;
  for (uint32_t k = 0; k < CALO_CARD_CHANNELS; k++) {
    const int32_t adc = adc_of(d, digits, code - d->first_card, k);
    const uint32_t wide = (uint32_t)is_long(adc);
    pattern |= wide << k;
    bits |= (uint64_t)(adc + (wide ? CALO_LONG_ZERO : CALO_SHORT_ZERO)) << filled;
    filled += wide ? CALO_LONG_BITS : CALO_SHORT_BITS;
    if (filled >= 32) {
      words[count++] = (uint32_t)bits;
      bits >>= 32;
      filled -= 32;
    }
  }
  if (filled > 0) words[count++] = (uint32_t)bits;
  words[0] = 4 * trigger_words | 4 * (count - first) << CALO_CARD_ADC_BYTES | code << CALO_CARD_CODE;
  words[first] = pattern;
  return count;
}

static int packed_banks(struct sim_bank_list *list, const struct calo_description *d,
                        const struct sim_ecal_digits *digits, uint8_t version) {
  uint32_t words[PAYLOAD_WORDS];
  int status = SL_OK;
  for (uint32_t bank = 0; bank < d->bank_count && status == SL_OK; bank++) {
    uint32_t count = 0;
    for (uint32_t code = d->bank_first_card[bank]; code <= d->bank_last_card[bank]; code++)
      count += pack_card(d, digits, code, words + count);
    status = sim_banks_add(list, SIM_BANK_ECAL_PACKED, version, d->bank_source[bank], words, 4ull * count);
  }
  return status;
}

/* ------------------------------------------------------------------------------------------------- type 77 */

/* Packs 32 values of 12 bits, most significant bits first. */
static void pack_board(const struct calo_description *d, const struct sim_ecal_digits *digits, int32_t card,
                       uint32_t words[CALO_BOARD_WORDS]) {
  uint32_t count = 0, filled = 0;
  uint64_t bits = 0;
  if (card == CALO_NO_CARD) {
    for (uint32_t i = 0; i < group_count; i++) memcpy(words + CALO_GROUP_WORDS * i, off, sizeof off);
    return;
  }
  for (uint32_t k = 0; k < CALO_CARD_CHANNELS; k++) {
    bits = bits << CALO_LONG_BITS | (uint32_t)(adc_of(d, digits, (uint32_t)card, k) + CALO_LONG_ZERO);
    filled += CALO_LONG_BITS;
    if (filled < 32) continue;
    filled -= 32;
    words[count++] = (uint32_t)(bits >> filled);
  }
}

static int board_banks(struct sim_bank_list *list, const struct calo_description *d,
                       const struct sim_ecal_digits *digits, uint8_t version) {
  int status = SL_OK;
  for (uint32_t source = 0; source < d->source_count && status == SL_OK; source++) {
    const int32_t *cards = d->card_index + (size_t)CALO_BANK_CARDS * source;
    uint32_t words[CALO_BANK_WORDS] = {0};
    if (cards[0] == CALO_NO_CARD) break; /* connected cards come first */
    for (uint32_t board = 0; board < CALO_BANK_CARDS; board++)
      pack_board(d, digits, cards[board], words + CALO_BOARD_SKIPPED + CALO_BOARD_WORDS * board);
    for (uint32_t i = 0; version == CALO_BOARDS_BIG_ENDIAN && i < CALO_BANK_WORDS; i++)
      words[i] = calo_swap_bytes(words[i]);
    const uint16_t id = (uint16_t)(CALO_SUBSYSTEM << CALO_SUBSYSTEM_SHIFT | source);
    status = sim_banks_add(list, SIM_BANK_CALO, version, id, words, sizeof words);
  }
  return status;
}

int sim_ecal_banks(struct sim_bank_list *list, const struct calo_description *ecal,
                   const struct sim_ecal_digits *digits, uint32_t version) {
  return version <= CALO_PACKED_VERSION_MAX ? packed_banks(list, ecal, digits, (uint8_t)version)
                                            : board_banks(list, ecal, digits, (uint8_t)version);
}

/* ------------------------------------------------------------------------------------------------- true photons */

/* Cell at the crossing of the CALO_SHOWER_MAX plane. */
static uint32_t cell_of(const struct calo_description *d, const struct sim_passage *p) {
  const float *plane = d->planes + CALO_PLANE_VALUES * CALO_SHOWER_MAX;
  const float dz = -(plane[0] * p->x + plane[1] * p->y + plane[2] * p->z + plane[3]) /
                   (plane[0] * p->tx + plane[1] * p->ty + plane[2]);
  const float x = p->x + p->tx * dz, y = p->y + p->ty * dz, z = p->z + dz;
  struct calo_place at;
  return calo_description_cell_at(d, x, d->to_local[5] * y + d->to_local[6] * z + d->to_local[7], &at);
}

static struct truth_photon photon_of(const struct sim_event *event, const struct calo_description *d,
                                     const struct sim_passage *p) {
  const int32_t mother = event->particles.at[p->particle].mother;
  const int is_of_pi0 = mother >= 0 && event->particles.at[mother].species == &sim_species[SIM_PION_0];
  return (struct truth_photon){.energy = p->p,
                               .x = p->x + p->tx * (TRUTH_PHOTON_Z - p->z),
                               .y = p->y + p->ty * (TRUTH_PHOTON_Z - p->z),
                               .cell = cell_of(d, p),
                               .pi0 = is_of_pi0 ? mother : TRUTH_NO_PI0};
}

/* Photons of collisions and decays, without those made in material. */
int sim_photon_banks(struct sim_bank_list *list, const struct calo_description *ecal, const struct sim_event *event) {
  const uint32_t most = event->passages[SIM_IN_ECAL].count;
  struct truth_photon *photons = (struct truth_photon *)malloc((most + 1) * sizeof *photons);
  uint32_t count = 0;
  if (!photons) return SL_ENOMEM;
  for (uint32_t i = 0; i < most; i++) {
    const struct sim_passage *p = &event->passages[SIM_IN_ECAL].at[i];
    const struct sim_particle *particle = &event->particles.at[p->particle];
    if (particle->species != &sim_species[SIM_PHOTON] || (particle->flags & SIM_IS_SECONDARY)) continue;
    const struct truth_photon photon = photon_of(event, ecal, p);
    const float r2 = photon.x * photon.x + photon.y * photon.y;
    if (photon.energy * sqrtf(r2 / (r2 + TRUTH_PHOTON_Z * TRUTH_PHOTON_Z)) < TRUTH_PHOTON_ET_MIN) continue;
    photons[count++] = photon;
  }
  const int status =
      sim_banks_add_parts(list, SIM_BANK_MC_PHOTONS, TRUTH_PHOTONS_VERSION, photons, count * sizeof *photons);
  free(photons);
  return status;
}
