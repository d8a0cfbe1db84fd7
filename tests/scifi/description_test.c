/* scifi.geometry from descriptions: links of the nominal description, and invalid descriptions, which are refused with
 * the line and the reason. files_test.py compares the nominal geometry with the samples. */
#define DESCRIBED SCIFI_PLUGIN
#include "edited_description.h"
#include "scifi/event_model.h"

static void wrong_descriptions_are_refused_with_line_and_reason(void **state) {
  (void)state;
  assert_refused("tilt 0.003601", "tilt 0,003601", "not a number");
  assert_refused("tilt 0.003601", "tilt 3.6", "expected -0.1 to 0.1");
  assert_refused("tilt 0.003601", "slant 0.003601", "no statement \"slant\"");
  assert_refused("station 2 z 8613", "station 1 z 8613", "a second time");
  assert_refused("station 2 z 8613", "station 0 z 8613", "expected 1 to 3");
  assert_refused("station 3 z 9298 modules 6", "station 3 z 9298 modules 5", "have 80 SiPMs, but the banks have 96");
  assert_refused("sipms 16 20 20 20 20", "sipms 16 20 20 40 0", "sipms is 40");
  assert_refused("sipms 16 20 20 20 20", "sipms 16 20 20 20", "sipms is missing");
  assert_refused("layer 2 z 35.1", "layer 4 z 35.1", "expected 0 to 3");
  assert_refused("stereo -5", "stereo -50", "expected -10 to 10");
  assert_refused("stereo -5", "stereo -5 degrees", "one word too many");
  assert_refused("modules first 265", "modules 265", "expected \"first\"");
  assert_refused("mats pitch 130.8", "mats pitch 0", "expected 1 to 1000");
  assert_refused("fibres begin 1.5", "fibres begin -1.5", "expected 0 to 1000");
  assert_refused("die_gap 0.22", "die_gap", "not a number");
  assert_refused("beam_hole upright 115 away", "mats pitch 130.8 #", "a second time");
}

static void an_incomplete_description_is_refused(void **state) {
  (void)state;
  assert_whole_refused(NULL, "sipms begin", "ends without");
}

/* Bank 166 is the second bank of quarter 1 in station 3, layer 0: all of module 1 and the first mat of module 2. */
static void links_continue_from_bank_to_bank_and_end_with_the_quarter(void **state) {
  (void)state;
  struct sl_test *t = run("", SL_OK);
  const uint32_t *links = sl_test_output(t, "geometry", "link_channel"),
                 *ids = sl_test_output(t, "geometry", "source_id");
  uint32_t connected = 0;
  for (uint32_t i = 0; i < SCIFI_BANKS * SCIFI_BANK_LINKS; i++) connected += links[i] != SCIFI_NOT_CONNECTED;
  assert_int_equal(connected, SCIFI_MATS * SCIFI_MAT_SIPMS);
  const uint32_t *of = links + 166 * SCIFI_BANK_LINKS, quarter = 3u << SCIFI_STATION_BIT | 1u << SCIFI_QUARTER_BIT;
  assert_int_equal(of[0], quarter | 1u << SCIFI_MODULE_BIT);
  assert_int_equal(of[15], quarter | 1u << SCIFI_MODULE_BIT | 15u << SCIFI_SIPM_BIT);
  assert_int_equal(of[19], quarter | 2u << SCIFI_MODULE_BIT | 3u << SCIFI_SIPM_BIT);
  assert_int_equal(of[20], SCIFI_NOT_CONNECTED);
  assert_int_equal(ids[166], 7 << 11 | 81);
  assert_int_equal(ids[160], 8 << 11 | 80);
  assert_int_equal(ids[239], 7 << 11 | 119);
  sl_test_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wrong_descriptions_are_refused_with_line_and_reason),
      cmocka_unit_test(an_incomplete_description_is_refused),
      cmocka_unit_test(links_continue_from_bank_to_bank_and_end_with_the_quarter),
  };
  return cmocka_run_group_tests(tests, begin, NULL);
}
