/* ut.geometry from descriptions: the nominal description is the detector of the samples, and invalid ones are refused
 * with the line and the reason. */
#define DESCRIBED UT_PLUGIN
#include "ut/description.h"

#include "edited_description.h"
#include "sample.h"

enum { FIELDS = 20 };

static const char *const fields[FIELDS] = {"first_strip",  "pitch",       "dy",          "dx_di",        "dy_di",
                                           "dz_di",        "x0",          "y0",          "z0",           "cosine",
                                           "board_strips", "lane_sector", "lane_module", "lane_face",    "lane_stave",
                                           "lane_layer",   "lane_side",   "lane_type",   "lane_channel", "lane_index"};

static void assert_equal(const struct sl_test *a, const struct sl_test *b) {
  for (int i = 0; i < FIELDS; i++) {
    const uint64_t count = sl_test_output_count(a, "geometry", fields[i]);
    assert_true(count > 0);
    assert_int_equal(count, sl_test_output_count(b, "geometry", fields[i]));
    if (memcmp(sl_test_output(a, "geometry", fields[i]), sl_test_output(b, "geometry", fields[i]), 4 * count) != 0)
      fail_msg("%s differs", fields[i]);
  }
}

static void an_empty_path_gives_the_nominal_description(void **state) {
  (void)state;
  struct sl_test *nominal = run("", SL_OK), *file = run(NOMINAL, SL_OK);
  assert_equal(nominal, file);
  sl_test_free(nominal);
  sl_test_free(file);
}

static void the_nominal_description_equals_the_geometry_of_the_samples_bit_for_bit(void **state) {
  (void)state;
  const char *file = sample_path("lhcb/geometry/ut_geometry.bin");
  if (!file) skip();
  char folder[4096];
  snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(file, '/') - file), file);
  struct sl_test *nominal = run("", SL_OK), *binary = run(folder, SL_OK);
  assert_equal(nominal, binary);
  sl_test_free(nominal);
  sl_test_free(binary);
}

static struct ut_description *nominal(void) {
  static struct ut_description d;
  char reason[256];
  const char *text = text_of(NOMINAL);
  assert_int_equal(statements_read(&ut_description_format, text, strlen(text), &d, reason, sizeof reason), 0);
  return &d;
}

/* Positions for the simulation equal those of the arrays, for strips in the middle and at both ends of a sector. */
static void the_position_of_a_sector_agrees_with_its_strips(void **state) {
  (void)state;
  const struct ut_description *d = nominal();
  for (uint32_t i = 0; i < UT_SECTORS; i++) {
    const struct ut_sector_description *s = &d->sectors[i];
    const struct ut_layer_description *layer = &d->layers[s->layer];
    for (int part = -1; part <= 1; part++) {
      const float strip = 0.5f * (float)((part + 1) * (UT_SECTOR_STRIPS - 1));
      const float y = d->y0[i] + strip * d->dy_di[i] + 0.5f * d->dy[i];
      const float x = d->x0[i] + strip * d->dx_di[i] + y * layer->along[0] / layer->along[1];
      const float w = x * layer->across[0] + y * layer->across[1], v = x * layer->along[0] + y * layer->along[1];
      const float across = (float)part * (s->half_width - 0.5f * s->pitch);
      assert_float_equal(w, s->w + across, 5e-4f);
      assert_float_equal(v, s->v, 5e-4f);
    }
    assert_true(s->z == d->z0[i] && s->pitch == d->pitch[i]);
  }
}

static void every_sector_has_a_lane_and_an_index_in_the_row(void **state) {
  (void)state;
  const struct ut_description *d = nominal();
  uint32_t lanes[UT_SECTORS] = {0}, boards = 0;
  for (uint32_t i = 0; i < UT_LANES; i++) {
    if (d->lane_index[i] < UT_SECTORS) lanes[d->lane_index[i]]++;
    boards += i % UT_BOARD_LANES == 0 && d->lane_index[i] < UT_SECTORS;
  }
  assert_int_equal(boards, 180);
  for (uint32_t i = 0; i < UT_SECTORS; i++) {
    const struct ut_sector_description *s = &d->sectors[i];
    const uint16_t *first = d->first_sector[s->layer][s->side][s->stave];
    assert_int_equal(lanes[i], 1);
    assert_true(first[s->row] <= i && i < first[s->row + 1]);
  }
}

static void wrong_descriptions_are_refused_with_line_and_reason(void **state) {
  (void)state;
  assert_refused("step 96.08\n", "step 96,08\n", "not a number");
  assert_refused("stave_depth 5", "stave_depth -5", "expected 0 to 20");
  assert_refused("stave_depth 5", "stave_height 5", "no statement \"stave_height\"");
  assert_refused("stave_depth 5", "step 5", "a second time");
  assert_refused("sensor width 97.28", "sensor width 0", "width is 0");
  assert_refused("sensor width 97.28", "sensor length 97.28", "expected \"width\"");
  assert_refused("layer 1 z", "layer 0 z", "layer 0 a second time");
  assert_refused("layer 1 z", "layer 4 z", "expected 0 to 3");
  assert_refused("layer 3 z 2642.5 stereo  0 staves 9", "layer 3 z 2642.5 stereo  0 staves 10", "expected 0 to 9");
  assert_refused("halves   stave 0 row 8 first inner", "halves   stave 0 row 5 first inner", "row 5 a second time");
  assert_refused("halves   stave 0 row 8 first inner", "halves   stave 0 row 8 first left", "inner or outer");
  assert_refused("halves   stave 0 row 8 first inner", "halves   stave 2 row 8 first inner", "expected 0 to 1");
  assert_refused("halves   stave 0 row 8 first inner", "quarters stave 0 row 8 first inner", "rows 6 and 7 only");
  assert_refused("step 96.08", "step 96.08 96.08", "one word too many");
}

static void descriptions_with_a_wrong_number_of_sectors_are_refused(void **state) {
  (void)state;
  assert_whole_refused("layer 3 z 2642.5", "layer 3 z 2597", "layer 3 is not downstream of layer 2");
  assert_whole_refused("halves   stave 0 row 8 first inner", "", "have 1040 sectors, expected 1048");
  assert_whole_refused("stereo  0 staves 8", "stereo  0 staves 9", "more than the 1048 sectors");
}

/* The number of sectors is right, but the last layer needs more boards than it has. */
static void descriptions_that_need_too_many_boards_are_refused(void **state) {
  (void)state;
  edit_file(NOMINAL, "staves 8", "staves 7");
  edit_file(edited, "staves 9", "staves 8");
  for (int i = 0; i < 7; i++) {
    char line[64];
    snprintf(line, sizeof line, "\nhalves stave %d row %d first inner\nstep 96", i / 4, i % 4);
    edit_file(edited, "\nstep 96", line);
  }
  assert_edited_is_refused("", "more than 240 readout boards");
}

static void an_incomplete_description_is_refused(void **state) {
  (void)state;
  assert_whole_refused(NULL, "layer 3", "ends without");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_empty_path_gives_the_nominal_description),
      cmocka_unit_test(the_nominal_description_equals_the_geometry_of_the_samples_bit_for_bit),
      cmocka_unit_test(the_position_of_a_sector_agrees_with_its_strips),
      cmocka_unit_test(every_sector_has_a_lane_and_an_index_in_the_row),
      cmocka_unit_test(wrong_descriptions_are_refused_with_line_and_reason),
      cmocka_unit_test(descriptions_with_a_wrong_number_of_sectors_are_refused),
      cmocka_unit_test(descriptions_that_need_too_many_boards_are_refused),
      cmocka_unit_test(an_incomplete_description_is_refused),
  };
  return cmocka_run_group_tests(tests, begin, NULL);
}
