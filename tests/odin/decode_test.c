/* decode_test.c: odin.decode on constructed banks: every field of both versions, every reason to refuse an event, and
 * thousands of banks of random bits against an independent reader of the table in plugins/odin/README.md.
 */
#include "odin/event_model.h"
#include "odin_banks.h"

/* Bits of a field in a version: word, first bit and number of bits; `shift`: position of these bits in the field. */
struct place {
  const char *field;
  uint32_t version, word, first, count, shift;
};

static const struct place places[] = {
    {"run", 6, 0, 0, 32, 0},
    {"event_type", 6, 1, 0, 16, 0},
    {"calibration_step", 6, 1, 16, 16, 0},
    {"orbit", 6, 2, 0, 32, 0},
    {"event_number", 6, 3, 0, 32, 32},
    {"event_number", 6, 4, 0, 32, 0},
    {"gps_time", 6, 5, 0, 32, 32},
    {"gps_time", 6, 6, 0, 32, 0},
    {"detector_status", 6, 7, 0, 24, 0},
    {"error_bits", 6, 7, 24, 8, 0},
    {"bunch", 6, 8, 0, 12, 0},
    {"tae_index", 6, 8, 12, 3, 0},
    {"trigger_type", 6, 8, 16, 3, 0},
    {"calibration_type", 6, 8, 19, 2, 0},
    {"flags", 6, 8, 21, 1, 4},
    {"crossing_type", 6, 8, 22, 2, 0},
    {"bunch_current", 6, 8, 24, 8, 0},
    {"tck", 6, 9, 0, 32, 0},
    {"run", 7, 0, 0, 32, 0},
    {"event_type", 7, 1, 0, 16, 0},
    {"calibration_step", 7, 1, 16, 16, 0},
    {"gps_time", 7, 2, 0, 32, 0},
    {"gps_time", 7, 3, 0, 32, 32},
    {"tck", 7, 4, 0, 32, 0},
    {"partition", 7, 5, 0, 32, 0},
    {"bunch", 7, 6, 0, 12, 0},
    {"crossing_type", 7, 6, 12, 2, 0},
    {"flags", 7, 6, 14, 1, 0},
    {"flags", 7, 6, 15, 1, 1},
    {"tae_index", 7, 6, 16, 6, 0},
    {"flags", 7, 6, 22, 1, 3},
    {"trigger_type", 7, 6, 23, 4, 0},
    {"flags", 7, 6, 27, 1, 2},
    {"calibration_type", 7, 6, 28, 4, 0},
    {"orbit", 7, 7, 0, 32, 0},
    {"event_number", 7, 8, 0, 32, 0},
    {"event_number", 7, 9, 0, 32, 32},
};
enum { PLACES = sizeof places / sizeof places[0] };

static const char *const fields[] = {"event_number",
                                     "gps_time",
                                     "run",
                                     "orbit",
                                     "tck",
                                     "partition",
                                     "detector_status",
                                     "event_type",
                                     "calibration_step",
                                     "bunch",
                                     "crossing_type",
                                     "trigger_type",
                                     "calibration_type",
                                     "tae_index",
                                     "flags",
                                     "error_bits",
                                     "bunch_current"};
enum { FIELDS = sizeof fields / sizeof fields[0] };

/* Expected value of a field of a valid bank. */
static uint64_t expected(const char *field, uint32_t version, const uint32_t *words) {
  uint64_t value = 0;
  for (uint32_t i = 0; i < PLACES; i++)
    if (places[i].version == version && strcmp(places[i].field, field) == 0)
      value |=
          (uint64_t)(uint32_t)(((uint64_t)words[places[i].word] >> places[i].first) & ((1ull << places[i].count) - 1))
          << places[i].shift;
  return value;
}

/* Value of a field of the output. */
static uint64_t found(const struct sl_test *t, uint32_t field, uint32_t event) {
  const void *values = sl_test_output(t, "odin", fields[field]);
  switch (odin_events_collection.fields[field].type) {
    case SL_TYPE_u64:
      return ((const uint64_t *)values)[event];
    case SL_TYPE_u32:
      return ((const uint32_t *)values)[event];
    case SL_TYPE_u16:
      return ((const uint16_t *)values)[event];
    default:
      return ((const uint8_t *)values)[event];
  }
}

static void assert_fields(const struct sl_test *t, uint32_t event, uint32_t version, const uint32_t *words) {
  for (uint32_t f = 0; f < FIELDS; f++) {
    const uint64_t want = words ? expected(fields[f], version, words) : 0, got = found(t, f, event);
    if (want != got)
      fail_msg("event %u, version %u: %s is %llx, not %llx", event, version, fields[f], (unsigned long long)got,
               (unsigned long long)want);
  }
}

static struct odin_test_banks banks;

static void begin(void) { memset(&banks, 0, sizeof banks); }

static void the_table_of_fields_is_the_collection(void **state) {
  (void)state;
  assert_int_equal(odin_events_collection.field_count, FIELDS);
  for (uint32_t f = 0; f < FIELDS; f++) assert_string_equal(odin_events_collection.fields[f].name, fields[f]);
}

/* Expected values are calculated by hand from that table. */
static void fields_of_both_versions_follow_the_format(void **state) {
  (void)state;
  static const uint32_t version_6[TEST_BANK_WORDS] = {6718861,    0x00050008, 1234567,    1,          6001,
                                                      0x00060000, 0xabcdef01, 0x2b000007, 0x88ea5123, 0x10000001};
  static const uint32_t version_7[TEST_BANK_WORDS] = {295336, 0x0009000c, 0xabcdef01, 0x00060000, 0x10000001,
                                                      32767,  0x91053deb, 4242,       77,         3};
  begin();
  odin_test_event(&banks);
  odin_test_add(&banks, 6, 40, version_6);
  odin_test_event(&banks);
  odin_test_add(&banks, 7, 40, version_7);
  struct sl_test *t = odin_test_decode(&banks);
  assert_int_equal(sl_test_run(t), 0);
#define OUT(type, field) ((const type *)sl_test_output(t, "odin", field))
  assert_int_equal(OUT(uint32_t, "run")[0], 6718861);
  assert_true(OUT(uint64_t, "event_number")[0] == (1ull << 32) + 6001);
  assert_true(OUT(uint64_t, "gps_time")[0] == 0x00060000abcdef01ull);
  assert_int_equal(OUT(uint32_t, "orbit")[0], 1234567);
  assert_int_equal(OUT(uint16_t, "event_type")[0], ODIN_LUMINOSITY);
  assert_int_equal(OUT(uint16_t, "calibration_step")[0], 5);
  assert_int_equal(OUT(uint32_t, "detector_status")[0], 7);
  assert_int_equal(OUT(uint8_t, "error_bits")[0], 0x2b);
  assert_int_equal(OUT(uint16_t, "bunch")[0], 0x123);
  assert_int_equal(OUT(uint8_t, "tae_index")[0], 5);
  assert_int_equal(OUT(uint8_t, "trigger_type")[0], 2);
  assert_int_equal(OUT(uint8_t, "calibration_type")[0], 1);
  assert_int_equal(OUT(uint8_t, "flags")[0], ODIN_FORCED);
  assert_int_equal(OUT(uint8_t, "crossing_type")[0], ODIN_BEAM_BEAM);
  assert_int_equal(OUT(uint8_t, "bunch_current")[0], 0x88);
  assert_int_equal(OUT(uint32_t, "tck")[0], 0x10000001);
  assert_int_equal(OUT(uint32_t, "run")[1], 295336);
  assert_true(OUT(uint64_t, "event_number")[1] == (3ull << 32) + 77);
  assert_true(OUT(uint64_t, "gps_time")[1] == 0x00060000abcdef01ull);
  assert_int_equal(OUT(uint32_t, "orbit")[1], 4242);
  assert_int_equal(OUT(uint16_t, "event_type")[1], ODIN_LUMINOSITY | ODIN_NO_BIAS);
  assert_int_equal(OUT(uint16_t, "calibration_step")[1], 9);
  assert_int_equal(OUT(uint32_t, "partition")[1], 32767);
  assert_int_equal(OUT(uint16_t, "bunch")[1], 0xdeb);
  assert_int_equal(OUT(uint8_t, "crossing_type")[1], ODIN_BEAM_BEAM);
  assert_int_equal(OUT(uint8_t, "tae_index")[1], 5);
  assert_int_equal(OUT(uint8_t, "trigger_type")[1], 2);
  assert_int_equal(OUT(uint8_t, "calibration_type")[1], 9);
  assert_int_equal(OUT(uint8_t, "flags")[1], 0);
  assert_int_equal(OUT(uint8_t, "error_bits")[1], 0);
  assert_int_equal(sl_test_event_error(t, 0), 0);
  assert_int_equal(sl_test_event_error(t, 1), 0);
  assert_fields(t, 0, 6, version_6);
  assert_fields(t, 1, 7, version_7);
  sl_test_free(t);
}

/* Each bit of a field changes this field and no other. */
static void each_bit_belongs_to_its_field(void **state) {
  (void)state;
  begin();
  for (uint32_t version = 6; version <= 7; version++)
    for (uint32_t bit = 0; bit < 32 * ODIN_WORDS; bit++) {
      uint32_t words[TEST_BANK_WORDS] = {0};
      words[bit / 32] = 1u << bit % 32;
      odin_test_event(&banks);
      odin_test_add(&banks, (uint8_t)version, 40, words);
    }
  struct sl_test *t = odin_test_decode(&banks);
  assert_int_equal(sl_test_run(t), 0);
  for (uint32_t event = 0; event < banks.event_count; event++) {
    assert_int_equal(sl_test_event_error(t, event), 0);
    assert_fields(t, event, banks.version[event], banks.payload + banks.first_word[event]);
  }
  sl_test_free(t);
}

enum { MISSING = 1, SEVERAL, BAD_VERSION, BAD_LENGTH, BAD_BUNCH };

static void assert_error(const struct sl_test *t, uint32_t event, uint64_t code, uint32_t detail) {
  const uint64_t want = code ? code << 32 | detail : 0, got = sl_test_event_error(t, event);
  if (want != got) fail_msg("event %u: error %llx, not %llx", event, (unsigned long long)got, (unsigned long long)want);
}

static void each_invalid_bank_refuses_only_its_event(void **state) {
  (void)state;
  static const uint32_t good[TEST_BANK_WORDS] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  uint32_t late_6[TEST_BANK_WORDS] = {0}, late_7[TEST_BANK_WORDS] = {0};
  late_6[8] = 3564;
  late_7[6] = 4095;
  begin();
  odin_test_event(&banks); /* 0: no bank */
  odin_test_event(&banks); /* 1: two banks */
  odin_test_add(&banks, 7, 40, good);
  odin_test_add(&banks, 7, 40, good);
  static const uint8_t versions[] = {0, 5, 8, 255};
  for (uint32_t i = 0; i < 4; i++) { /* 2 to 5: wrong version */
    odin_test_event(&banks);
    odin_test_add(&banks, versions[i], 40, good);
  }
  static const uint16_t sizes[] = {0, 36, 39, 41, 44};
  for (uint32_t i = 0; i < 5; i++) { /* 6 to 10: wrong size */
    odin_test_event(&banks);
    odin_test_add(&banks, i % 2 ? 6 : 7, sizes[i], good);
  }
  odin_test_event(&banks); /* 11, 12: invalid bunch */
  odin_test_add(&banks, 6, 40, late_6);
  odin_test_event(&banks);
  odin_test_add(&banks, 7, 40, late_7);
  odin_test_event(&banks); /* 13: valid */
  odin_test_add(&banks, 7, 40, good);
  struct sl_test *t = odin_test_decode(&banks);
  assert_int_equal(sl_test_run(t), 0);
  assert_error(t, 0, MISSING, 0);
  assert_error(t, 1, SEVERAL, 2);
  for (uint32_t i = 0; i < 4; i++) assert_error(t, 2 + i, BAD_VERSION, versions[i]);
  for (uint32_t i = 0; i < 5; i++) assert_error(t, 6 + i, BAD_LENGTH, sizes[i]);
  assert_error(t, 11, BAD_BUNCH, 3564);
  assert_error(t, 12, BAD_BUNCH, 4095);
  assert_error(t, 13, 0, 0);
  for (uint32_t event = 0; event < 13; event++) assert_fields(t, event, 0, NULL);
  assert_fields(t, 13, 7, good);
  sl_test_free(t);
}

static void events_outside_the_list_are_not_read(void **state) {
  (void)state;
  static const uint32_t good[TEST_BANK_WORDS] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  static const uint32_t list[] = {1, 3};
  begin();
  for (uint32_t event = 0; event < 5; event++) {
    odin_test_event(&banks);
    if (event % 2) odin_test_add(&banks, 7, 40, good); /* the other events have no bank */
  }
  struct sl_test *t = odin_test_decode(&banks);
  sl_test_list(t, list, 2);
  assert_int_equal(sl_test_run(t), 0);
  for (uint32_t event = 0; event < 5; event++) assert_error(t, event, 0, 0);
  assert_fields(t, 3, 7, good);
  sl_test_free(t);
}

static uint64_t random_state;
static uint32_t random_u32(void) {
  random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
  return (uint32_t)(random_state >> 32);
}

/* Mostly valid banks of random bits; each kind of fault in a tenth of the banks. */
static void random_banks_are_read_or_refused_as_the_format_requires(void **state) {
  (void)state;
  enum { EVENTS = 4000 };
  const uint64_t seed = 20261120;
  print_message("seed %llu\n", (unsigned long long)seed);
  random_state = seed;
  static uint32_t codes[EVENTS], details[EVENTS];
  begin();
  for (uint32_t event = 0; event < EVENTS; event++) {
    uint32_t words[TEST_BANK_WORDS], version = 6 + random_u32() % 2, size_bytes = 40;
    const uint32_t kind = random_u32() % 10;
    for (uint32_t w = 0; w < TEST_BANK_WORDS; w++) words[w] = random_u32();
    odin_test_event(&banks);
    codes[event] = 0;
    if (kind == 1) {
      codes[event] = MISSING, details[event] = 0;
      continue;
    }
    if (kind == 2) version = random_u32() % 256;
    if (kind == 3) size_bytes = random_u32() % (4 * TEST_BANK_WORDS);
    const uint32_t bunch = words[version == 6 ? 8 : 6] & 0xFFF;
    if (bunch >= ODIN_SLOTS) codes[event] = BAD_BUNCH, details[event] = bunch;
    if (size_bytes != 40) codes[event] = BAD_LENGTH, details[event] = size_bytes;
    if (version != 6 && version != 7) codes[event] = BAD_VERSION, details[event] = version;
    odin_test_add(&banks, (uint8_t)version, (uint16_t)size_bytes, words);
  }
  struct sl_test *t = odin_test_decode(&banks);
  assert_int_equal(sl_test_run(t), 0);
  uint32_t counts[BAD_BUNCH + 1] = {0};
  for (uint32_t event = 0; event < EVENTS; event++) {
    counts[codes[event]]++;
    assert_error(t, event, codes[event], details[event]);
    const uint32_t bank = banks.offsets[event];
    assert_fields(t, event, codes[event] ? 0 : banks.version[bank],
                  codes[event] ? NULL : banks.payload + banks.first_word[bank]);
  }
  assert_true(counts[0] > EVENTS / 2 && counts[MISSING] > 100 && counts[BAD_VERSION] > 100);
  assert_true(counts[BAD_LENGTH] > 100 && counts[BAD_BUNCH] > 100);
  sl_test_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_table_of_fields_is_the_collection),
      cmocka_unit_test(fields_of_both_versions_follow_the_format),
      cmocka_unit_test(each_bit_belongs_to_its_field),
      cmocka_unit_test(each_invalid_bank_refuses_only_its_event),
      cmocka_unit_test(events_outside_the_list_are_not_read),
      cmocka_unit_test(random_banks_are_read_or_refused_as_the_format_requires),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
