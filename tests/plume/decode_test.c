/* decode_test.c: plume.decode on banks that this test packs bit by bit; on events without banks, with several banks,
 * with banks of other sources, and with wrong lengths.
 */
#include "plume/event_model.h"
#include "plume/raw_banks.h"

#include <sluice/testing.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { EVENTS = 40, BANKS_MAX = 3 * EVENTS, WORDS_MAX = 32 * BANKS_MAX, BYTES = 104, SOURCE = 0x5001 };

static struct {
  uint32_t offsets[EVENTS + 1], first_word[BANKS_MAX], payload[WORDS_MAX], banks, words, events;
  uint16_t source_id[BANKS_MAX], size_bytes[BANKS_MAX], adc[EVENTS][PLUME_CHANNELS];
  uint32_t flags[EVENTS][PLUME_BOARDS];
} e;

static uint64_t random_state;
static uint32_t random_u32(void) {
  random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
  return (uint32_t)(random_state >> 32);
}

static void add_bank(uint16_t source_id, const uint8_t *bytes, uint32_t size_bytes) {
  memcpy(e.payload + e.words, bytes, size_bytes);
  e.source_id[e.banks] = source_id;
  e.size_bytes[e.banks] = (uint16_t)size_bytes;
  e.first_word[e.banks++] = e.words;
  e.words += (size_bytes + 3) / 4;
}

static void end_event(void) { e.offsets[++e.events] = e.banks; }

static void put_bits(uint8_t *bytes, uint32_t *at, uint32_t value, uint32_t count) {
  for (uint32_t i = count; i-- > 0; ++*at)
    if (value >> i & 1) bytes[*at / 8] |= (uint8_t)(0x80 >> *at % 8);
}

/* Packs a bank of random values and stores them as those of event `e.events`. */
static void pack(uint8_t *bytes) {
  uint32_t at = 0;
  memset(bytes, 0, BYTES);
  for (uint32_t b = 0; b < PLUME_BOARDS; b++) {
    e.flags[e.events][b] = random_u32();
    for (uint32_t c = 0; c < PLUME_BOARD_CHANNELS; c++) put_bits(bytes, &at, e.flags[e.events][b] >> c & 1, 1);
  }
  for (uint32_t c = 0; c < PLUME_CHANNELS; c++) {
    e.adc[e.events][c] = (uint16_t)(random_u32() & 0xFFF);
    put_bits(bytes, &at, e.adc[e.events][c], 12);
  }
  assert_int_equal(at, 8 * BYTES);
}

static struct sl_test *decode(void) {
  struct sl_test *t = sl_test_new(PLUME_PLUGIN, "decode");
  sl_test_events(t, e.events);
  sl_test_input(t, "banks", "offsets", e.offsets, e.events + 1);
  sl_test_input(t, "banks", "source_id", e.source_id, e.banks);
  sl_test_input(t, "banks", "size_bytes", e.size_bytes, e.banks);
  sl_test_input(t, "banks", "first_word", e.first_word, e.banks);
  sl_test_input(t, "banks", "payload", e.payload, e.words);
  assert_int_equal(sl_test_run(t), 0);
  return t;
}

static void assert_event(const struct sl_test *t, uint32_t event, uint32_t is_there) {
  const uint32_t *flags = sl_test_output(t, "signals", "over_threshold");
  const uint16_t *adc = sl_test_output(t, "signals", "adc");
  assert_int_equal(((const uint8_t *)sl_test_output(t, "signals", "is_there"))[event], is_there);
  for (uint32_t b = 0; b < PLUME_BOARDS; b++)
    assert_int_equal(flags[PLUME_BOARDS * event + b], is_there ? e.flags[event][b] : 0);
  for (uint32_t c = 0; c < PLUME_CHANNELS; c++)
    assert_int_equal(adc[PLUME_CHANNELS * event + c], is_there ? e.adc[event][c] : 0);
}

static void begin(uint32_t seed) {
  memset(&e, 0, sizeof e);
  random_state = seed;
}

static void values_and_flags_equal_the_packed_ones(void **state) {
  (void)state;
  uint8_t bytes[BYTES];
  begin(1);
  for (uint32_t i = 0; i < EVENTS; i++) {
    if (i % 3 == 1) add_bank(0x5002, bytes, i); /* of other sources, before and after, of any length */
    pack(bytes);
    if (i % 4 != 3) add_bank(SOURCE, bytes, BYTES);
    if (i % 5 == 2) add_bank(0x5000, bytes, BYTES);
    end_event();
  }
  struct sl_test *t = decode();
  for (uint32_t i = 0; i < EVENTS; i++) {
    assert_event(t, i, i % 4 != 3);
    assert_int_equal(sl_test_event_error(t, i), 0);
  }
  sl_test_free(t);
}

static void invalid_banks_refuse_their_event(void **state) {
  (void)state;
  static const uint32_t sizes[] = {0, 1, 4, 100, 103, 105, 108};
  uint8_t bytes[BYTES + 4] = {0};
  begin(2);
  for (uint32_t i = 0; i < 7; i++) {
    pack(bytes);
    add_bank(SOURCE, bytes, sizes[i]);
    end_event();
  }
  pack(bytes);
  add_bank(SOURCE, bytes, BYTES);
  add_bank(SOURCE, bytes, BYTES);
  end_event();
  pack(bytes);
  add_bank(SOURCE, bytes, BYTES);
  end_event();
  struct sl_test *t = decode();
  for (uint32_t i = 0; i < 9; i++) {
    assert_event(t, i, i == 8);
    const uint64_t error = sl_test_event_error(t, i);
    assert_int_equal(error >> 32 & 0xFF, i == 8 ? 0 : i == 7 ? 1 : 2);
    assert_int_equal(error & UINT32_MAX, i == 8 ? 0 : i == 7 ? 2 : sizes[i]);
  }
  sl_test_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(values_and_flags_equal_the_packed_ones),
                                     cmocka_unit_test(invalid_banks_refuse_their_event)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
