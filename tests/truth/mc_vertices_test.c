/* mc_vertices_test.c: decoding of true vertices. */
#include "association/mc_vertices.h"

#include "mc_writer.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct true_vertex three[] = {{12, 0.01, -0.02, -61.25}, {0, 0, 0.03, 5}, {99, -0.04, 0, 140.5}};

static struct mc_stream stream;
static struct mc_vertices mc;

static int stop(void **state) {
  (void)state;
  mc_vertices_free(&mc);
  return 0;
}

static int decode(const uint8_t *bytes, uint32_t size, uint8_t version, const char **reason) {
  const struct lone_bank bank = lone_bank_new(bytes, size, version);
  const struct mc_vertex_banks_view view = VIEW_OF(mc_vertex_banks_view, &bank);
  const int result = mc_vertices_decode(&mc, &view, 0, reason);
  free(bank.payload);
  return result;
}

static void assert_is_three(void) {
  assert_int_equal(mc.count, 3);
  for (uint32_t i = 0; i < 3; i++) {
    assert_int_equal(mc.at[i].tracks, three[i].tracks);
    assert_true(mc.at[i].x == three[i].x && mc.at[i].y == three[i].y && mc.at[i].z == three[i].z);
  }
}

static void vertices_are_decoded_and_reset(void **state) {
  (void)state;
  const char *reason;
  write_vertices(&stream, three, 3);
  assert_int_equal(decode(stream.bytes, stream.size, 1, &reason), 0);
  assert_is_three();
  write_vertices(&stream, three, 0);
  assert_int_equal(decode(stream.bytes, stream.size, 1, &reason), 0);
  assert_int_equal(mc.count, 0);
}

static void parts_are_joined_by_source_id(void **state) {
  (void)state;
  const char *reason;
  struct mc_banks *banks = calloc(1, sizeof *banks);
  write_vertices(&stream, three, 3);
  add_part(banks, 1, 1, stream.bytes + 33, stream.size - 33);
  add_part(banks, 1, 0, stream.bytes, 33);
  end_event(banks);
  end_event(banks);
  const struct mc_vertex_banks_view view = VIEW_OF(mc_vertex_banks_view, banks);
  assert_int_equal(mc_vertices_decode(&mc, &view, 0, &reason), 0);
  assert_is_three();
  assert_int_equal(mc_vertices_decode(&mc, &view, 1, &reason), 0); /* without banks */
  assert_int_equal(mc.count, 0);
  banks->source_id[0] = 2;
  assert_int_equal(mc_vertices_decode(&mc, &view, 0, &reason), SL_EFORMAT);
  assert_string_equal(reason, "a part is missing");
  free(banks);
}

static void truncations_and_extra_bytes_are_refused(void **state) {
  (void)state;
  const char *reason;
  write_vertices(&stream, three, 3);
  for (uint32_t size = 0; size < stream.size; size++) {
    assert_int_equal(decode(stream.bytes, size, 1, &reason), SL_EFORMAT);
    assert_string_equal(reason, "the vertices are cut short");
    assert_int_equal(mc.count, 0);
  }
  assert_int_equal(decode(stream.bytes, stream.size + 1, 1, &reason), SL_EFORMAT);
  assert_string_equal(reason, "bytes are left after the vertices");
  assert_int_equal(decode(stream.bytes, stream.size, 2, &reason), SL_EFORMAT);
  assert_string_equal(reason, "the bank version is not 1");
}

static void impossible_values_are_refused(void **state) {
  (void)state;
  const char *reason;
  const struct {
    struct true_vertex vertex;
    const char *reason;
  } cases[] = {{{-1, 0, 0, 0}, "a vertex has a negative number of tracks"},
               {{5, NAN, 0, 0}, "a vertex's position is not finite"},
               {{5, 0, INFINITY, 0}, "a vertex's position is not finite"},
               {{5, 0, 0, -INFINITY}, "a vertex's position is not finite"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    write_vertices(&stream, &cases[i].vertex, 1);
    assert_int_equal(decode(stream.bytes, stream.size, 1, &reason), SL_EFORMAT);
    assert_string_equal(reason, cases[i].reason);
    assert_int_equal(mc.count, 0);
  }
  write_vertices(&stream, three, 3);
  memset(stream.bytes, 0xff, 4); /* -1 vertices */
  assert_int_equal(decode(stream.bytes, stream.size, 1, &reason), SL_EFORMAT);
  assert_string_equal(reason, "the vertices are cut short");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(vertices_are_decoded_and_reset, stop),
      cmocka_unit_test_teardown(parts_are_joined_by_source_id, stop),
      cmocka_unit_test_teardown(truncations_and_extra_bytes_are_refused, stop),
      cmocka_unit_test_teardown(impossible_values_are_refused, stop),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
