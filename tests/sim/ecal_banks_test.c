/* Calorimeter banks: values of sample events give their banks, and decoding the simulated banks gives their values.
 */
#include "calo/bank_words.h"
#include "sample.h"
#include "support.h"

#include <math.h>

enum { EVENTS = 6, PAYLOAD_MAX = 65536 };

/* A bank without the trigger parts. */
struct bank {
  uint16_t source_id, size_bytes;
  uint8_t payload[2048];
};
struct event {
  struct sim_ecal_digits digits;
  uint32_t bank_count, trigger_bytes;
  struct bank banks[CALO_BANKS_MAX];
};
struct events {
  const struct calo_description *ecal;
  struct event of[EVENTS];
};

/* Copies the cards of a bank without their trigger parts. Returns the bytes of these. */
static uint32_t strip(const uint32_t *words, uint32_t count, struct bank *bank) {
  uint32_t trigger_bytes = 0;
  bank->size_bytes = 0;
  for (uint32_t at = 0, next; at < count; at = next) {
    struct calo_card card;
    uint32_t fault;
    next = calo_card_read(words, count, at, &card, &fault);
    assert_int_equal(fault, CALO_BANK_FINE);
    const uint32_t head = words[at] & ~0x7fu, bytes = 4 * (next - card.first_value + 1); /* with the pattern */
    assert_true(bank->size_bytes + 4 + bytes <= sizeof bank->payload);
    memcpy(bank->payload + bank->size_bytes, &head, 4);
    memcpy(bank->payload + bank->size_bytes + 4, words + card.first_value - 1, bytes);
    bank->size_bytes = (uint16_t)(bank->size_bytes + 4 + bytes);
    trigger_bytes += card.trigger_bytes;
  }
  return trigger_bytes;
}

static void take_bank(void *context, uint32_t number, uint16_t source_id, uint8_t version, const unsigned char *payload,
                      uint16_t size_bytes) {
  static uint32_t words[PAYLOAD_MAX / 4];
  struct events *events = context;
  struct event *e = &events->of[number];
  const struct calo_description *d = events->ecal;
  struct bank *bank = &e->banks[e->bank_count++];
  struct calo_card card;
  uint32_t fault;
  assert_true(e->bank_count <= CALO_BANKS_MAX);
  assert_int_equal(version, 2);
  memcpy(words, payload, size_bytes);
  bank->source_id = source_id;
  for (uint32_t at = 0; at < size_bytes / 4u;) {
    at = calo_card_read(words, size_bytes / 4u, at, &card, &fault);
    assert_int_equal(fault, CALO_BANK_FINE);
    for (uint32_t k = 0; k < CALO_CARD_CHANNELS; k++)
      e->digits.adc[d->channels[CALO_CARD_CHANNELS * (card.code - d->first_card) + k]] =
          (int16_t)calo_card_adc(words, &card, k);
  }
  e->trigger_bytes += strip(words, size_bytes / 4u, bank);
}

static void values_of_sample_events_give_their_banks_byte_for_byte(void **state) {
  (void)state;
  static struct events events;
  const char *path = sample_path("lhcb/minbias.mdf");
  if (!path) skip();
  struct sim_simulation *s = simulation_new();
  struct sample sample = sample_open(path);
  events.ecal = &s->calo;
  assert_int_equal(sample.event_count, EVENTS);
  sample_for_banks(&sample, CALO_TYPE_PACKED, take_bank, &events);
  sample_close(&sample);
  for (uint32_t i = 0; i < EVENTS; i++) {
    const struct event *e = &events.of[i];
    static struct bank stripped;
    uint32_t trigger_bytes = 0;
    sim_banks_clear(&s->banks);
    assert_int_equal(sim_ecal_banks(&s->banks, &s->calo, &e->digits, 2), SL_OK);
    assert_int_equal(s->banks.banks.count, e->bank_count);
    for (uint32_t k = 0; k < e->bank_count; k++) {
      const struct sim_bank *b = &s->banks.banks.at[k];
      assert_true(b->type == CALO_TYPE_PACKED && b->version == 2 && b->source_id == e->banks[k].source_id);
      trigger_bytes += strip(s->banks.words.at + b->first_word, b->size_bytes / 4u, &stripped);
      assert_int_equal(stripped.size_bytes, e->banks[k].size_bytes);
      assert_memory_equal(stripped.payload, e->banks[k].payload, stripped.size_bytes);
    }
    /* the hardware trigger had a calibration of its own for each cell */
    print_message("trigger parts: %u bytes, real %u\n", trigger_bytes, e->trigger_bytes);
    assert_true(fabs((double)trigger_bytes / e->trigger_bytes - 1) < 0.03);
  }
  simulation_free(s);
}

/* ---------------------------------------------------------------------------------------------- simulated events */

static void read_packed(const struct sim_simulation *s, const struct sim_bank *b, int32_t *adc, uint32_t *seen) {
  const uint32_t *words = s->banks.words.at + b->first_word, count = b->size_bytes / 4u;
  const struct calo_description *d = &s->calo;
  struct calo_card card;
  uint32_t fault;
  assert_int_equal(calo_packed_fault(words, b->size_bytes, d->channels, d->first_card, d->card_count), CALO_BANK_FINE);
  for (uint32_t at = 0; at < count;) {
    at = calo_card_read(words, count, at, &card, &fault);
    for (uint32_t k = 0; k < CALO_CARD_CHANNELS; k++) {
      const uint32_t cell = d->channels[CALO_CARD_CHANNELS * (card.code - d->first_card) + k];
      adc[cell] = calo_card_adc(words, &card, k);
      seen[cell]++;
    }
  }
}

static void read_boards(const struct sim_simulation *s, const struct sim_bank *b, int32_t *adc, uint32_t *seen) {
  const uint32_t *words = s->banks.words.at + b->first_word, source = calo_source_number(b->source_id);
  const struct calo_description *d = &s->calo;
  assert_true(calo_source_is_ecal(b->source_id));
  assert_int_equal(calo_boards_fault(b->version, b->source_id, b->size_bytes, d->source_count), CALO_BANK_FINE);
  for (uint32_t i = 0; i < CALO_BANK_CARDS * CALO_CARD_CHANNELS; i++) {
    const uint32_t board = i / CALO_CARD_CHANNELS, k = i % CALO_CARD_CHANNELS;
    const int32_t card = d->card_index[CALO_BANK_CARDS * source + board];
    const int is_off = calo_group_is_off(words, b->version, board, k / CALO_GROUP_CHANNELS);
    assert_int_equal(is_off, card == CALO_NO_CARD);
    if (is_off) continue;
    const uint32_t cell = d->channels[CALO_CARD_CHANNELS * (uint32_t)card + k];
    adc[cell] = calo_board_adc(words, b->version, board, k);
    seen[cell]++;
  }
}

static void written_values_are_read_back(void **state) {
  (void)state;
  static const struct {
    uint32_t version, banks;
    uint8_t type;
  } kinds[] = {{2, 28, CALO_TYPE_PACKED}, {4, 63, CALO_TYPE_BOARDS}, {5, 63, CALO_TYPE_BOARDS}};
  struct sim_simulation *s = simulation_new();
  s->make_flags = SIM_MAKE_ECAL;
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    static int32_t adc[CALO_CELLS];
    static uint32_t seen[CALO_CELLS];
    uint32_t banks = 0;
    memset(seen, 0, sizeof seen);
    s->versions.calo = kinds[i].version;
    assert_int_equal(sim_simulate(s, 3), 0);
    for (uint32_t k = 0; k < s->banks.banks.count; k++) {
      const struct sim_bank *b = &s->banks.banks.at[k];
      if (b->type != kinds[i].type) continue;
      assert_int_equal(b->version, kinds[i].version);
      assert_true(k == 0 || s->banks.banks.at[k - 1].type <= b->type);
      (kinds[i].type == CALO_TYPE_PACKED ? read_packed : read_boards)(s, b, adc, seen);
      banks++;
    }
    assert_int_equal(banks, kinds[i].banks);
    for (uint32_t cell = 0; cell < CALO_CELLS; cell++) {
      assert_int_equal(seen[cell], 1);
      assert_int_equal(adc[cell], s->ecal_digits.adc[cell]);
    }
  }
  simulation_free(s);
}

/* Smallest and largest values with 12 bits and with 4 bits. */
static void extreme_values_are_read_back(void **state) {
  (void)state;
  static const int16_t ends[] = {SIM_ECAL_ADC_MIN, -9, -8, 7, 8, SIM_ECAL_ADC_MAX};
  static const uint32_t versions[] = {2, 4, 5};
  struct sim_simulation *s = simulation_new();
  for (uint32_t cell = 0; cell < CALO_CELLS; cell++) s->ecal_digits.adc[cell] = ends[cell % 6];
  for (uint32_t i = 0; i < 3; i++) {
    static int32_t adc[CALO_CELLS];
    static uint32_t seen[CALO_CELLS];
    memset(adc, 0, sizeof adc);
    sim_banks_clear(&s->banks);
    assert_int_equal(sim_ecal_banks(&s->banks, &s->calo, &s->ecal_digits, versions[i]), SL_OK);
    for (uint32_t k = 0; k < s->banks.banks.count; k++)
      (versions[i] == 2 ? read_packed : read_boards)(s, &s->banks.banks.at[k], adc, seen);
    for (uint32_t cell = 0; cell < CALO_CELLS; cell++) assert_int_equal(adc[cell], ends[cell % 6]);
  }
  simulation_free(s);
}

static void banks_are_made_on_request_only(void **state) {
  (void)state;
  struct sim_simulation *s = simulation_new();
  s->make_flags = SIM_MAKE_ALL & ~(uint32_t)SIM_MAKE_ECAL;
  assert_int_equal(sim_simulate(s, 3), 0);
  for (uint32_t k = 0; k < s->banks.banks.count; k++)
    assert_true(s->banks.banks.at[k].type != CALO_TYPE_PACKED && s->banks.banks.at[k].type != CALO_TYPE_BOARDS);
  simulation_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_of_sample_events_give_their_banks_byte_for_byte),
      cmocka_unit_test(written_values_are_read_back),
      cmocka_unit_test(extreme_values_are_read_back),
      cmocka_unit_test(banks_are_made_on_request_only),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
