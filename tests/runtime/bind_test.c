/* bind_test.c: lengths, pointers and capacities are computed from the tables of members and fields. */
#include "layout/bind.h"

#include "../plugins_good/example.h"
#include "support.h"

struct bind_args {
  struct sl_events events;
  uint32_t before;
  struct example_runs_view in;
  struct example_scaled out;
};
#define SL_ARGS bind_args
static const struct sl_member members[] = {
    SL_EVENTS(),
    SL_IN(in, example_runs, " offsets  range ", ""),
    SL_OUT(out, example_scaled, "", SL_SHARES_OFFSETS(in)),
    SL_U32(before, 0, 0, 1, "", ""),
};
static const struct sl_algorithm algorithm = {.name = "a", .member_count = 4, .members = members};

static void types_have_the_size_of_their_c_types(void **state) {
  (void)state;
#define CHECK(name, c, bytes) assert_int_equal(sl_type_bytes(SL_TYPE_##name), sizeof(c));
  SL_TYPES(CHECK)
  assert_int_equal(sl_type_bytes(SL_TYPE_bool), sizeof(uint32_t));
  assert_int_equal(sl_type_bytes(SL_TYPE_string), sizeof(char *));
  assert_int_equal(sl_type_bytes(SL_TYPE_COUNT), 0);
}

static void every_shape_has_its_length(void **state) {
  (void)state;
  static const struct {
    uint32_t shape, width, reserved;
    const char *dimensions;
    uint64_t values;
  } cases[] = {{SL_SHAPE_PER_SLICE, 1},     {SL_SHAPE_PER_EVENT, 10},   {SL_SHAPE_PER_EVENT_OF(26), 260},
               {SL_SHAPE_OFFSETS, 11},      {SL_SHAPE_PER_ITEM, 20},    {SL_SHAPE_PER_ITEM_OF(3), 60},
               {SL_SHAPE_ITEM_OFFSETS, 21}, {SL_SHAPE_PER_SUBITEM, 30}, {SL_SHAPE_BYTES, 30},
               {SL_SHAPE_ARRAY, 0}};
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    const struct sl_field f = {"f", SL_TYPE_u8, cases[i].shape, cases[i].width, 0, NULL, "", ""};
    assert_int_equal(sl_field_values(&f, 10, 20, 30), cases[i].values);
  }
  const struct sl_field wide = {"f", SL_TYPE_u8, SL_SHAPE_PER_ITEM_OF(26), "", ""};
  assert_int_equal(sl_field_values(&wide, 1, UINT32_MAX, 0), 26ull * UINT32_MAX); /* 64 bits */
}

static void pointers_and_bounds_are_found_in_the_arguments(void **state) {
  (void)state;
  struct bind_args a;
  memset(&a, 0, sizeof(a));
  assert_ptr_equal(sl_args_pointer(&a, &members[1], 0), &a.in.offsets);
  assert_ptr_equal(sl_args_pointer(&a, &members[1], 3), &a.in.member);
  assert_ptr_equal(sl_args_pointer(&a, &members[2], 2), &a.out.largest);
  assert_ptr_equal(sl_args_bound(&a, &members[1], 0), &a.in.bound);
  assert_ptr_equal(sl_args_bound(&a, &members[1], 1), &a.in.member_offsets_bound);
}

static void fields_are_read_if_named_or_if_none_is_named(void **state) {
  (void)state;
  assert_true(sl_field_is_read(&members[1], 0));
  assert_false(sl_field_is_read(&members[1], 1)); /* member_offsets: only `offsets` is listed */
  assert_true(sl_field_is_read(&members[1], 2));
  assert_false(sl_field_is_read(&members[1], 3));
  struct sl_member all = members[1];
  all.fields = "";
  for (uint32_t f = 0; f < 4; f++) assert_true(sl_field_is_read(&all, f));
  all.fields = "member_offsets";
  assert_false(sl_field_is_read(&all, 0));
  assert_false(sl_field_is_read(&all, 3)); /* `member` is only a prefix of the listed name */
}

static void names_and_special_fields_are_found(void **state) {
  (void)state;
  assert_int_equal(sl_member_index(&algorithm, "events"), 0);
  assert_int_equal(sl_member_index(&algorithm, "before"), 3);
  assert_int_equal(sl_member_index(&algorithm, "befor"), -1);
  assert_int_equal(sl_offsets_field(&example_runs_collection), 0);
  assert_int_equal(sl_item_offsets_field(&example_runs_collection, 1), 1);
  assert_int_equal(sl_item_offsets_field(&example_runs_collection, 0), -1);
  assert_int_equal(sl_item_offsets_field(&example_numbers_collection, 1), -1);
  assert_int_equal(sl_offsets_field(&example_weights_collection), -1);
  assert_true(sl_is_event_list(&sl_event_list_collection));
  assert_false(sl_is_event_list(&example_runs_collection));
  assert_true(sl_has_items(&example_runs_collection));
  assert_int_equal(sl_bound_count(&example_runs_collection), 2);
  assert_int_equal(sl_bound_count(&example_numbers_collection), 1);
  assert_false(sl_has_items(&sl_event_list_collection));
}

/* Tracks with hits of two detectors and a pool. The order of the fields determines the group of each field. */
#define BIND_TRACKS_FIELDS(F)                    \
  F(first_hits, u32, ITEM_OFFSETS, "", "")       \
  F(first_hit, u32, PER_SUBITEM, "", "")         \
  F(momentum, f32, PER_ITEM, "", "")             \
  F(pool, u8, BYTES, "", "")                     \
  F(offsets, u32, OFFSETS, "", "")               \
  F(second_hits, u32, ITEM_OFFSETS, "", "")      \
  F(second_x, f32, PER_SUBITEM, "", "")          \
  F(second_y, f32, PER_SUBITEM, "", "")          \
  F(residuals, f32, PER_EVENT_OF(1 + 2), "", "") \
  F(moments, f32, PER_ITEM_OF(2), "", "")
SL_COLLECTION(bind_tracks, BIND_TRACKS_FIELDS, "tracks");

static void groups_of_subitems_have_bounds_of_their_own(void **state) {
  (void)state;
  const struct sl_collection *c = &bind_tracks_collection;
  const uint32_t groups[] = {1, 1, 0, 2, 0, 3, 3, 3, 0, 0};
  assert_int_equal(sl_bound_count(c), 4);
  for (uint32_t f = 0; f < c->field_count; f++) assert_int_equal(sl_group_of(c, f), groups[f]);
  assert_int_equal(sl_group_field(c, 0), -1);
  assert_int_equal(sl_group_field(c, 1), 0);
  assert_int_equal(sl_group_field(c, 2), 3);
  assert_int_equal(sl_group_field(c, 3), 5);
  assert_int_equal(sl_item_offsets_field(c, 2), -1); /* a pool */
  assert_int_equal(sl_item_offsets_field(c, 3), 5);

  const struct sl_member port = {.name = "tracks", .kind = SL_MEMBER_OUT, .collection = c};
  struct bind_tracks tracks;
  assert_ptr_equal(sl_args_bound(&tracks, &port, 0), &tracks.bound);
  assert_ptr_equal(sl_args_bound(&tracks, &port, 1), &tracks.first_hits_bound);
  assert_ptr_equal(sl_args_bound(&tracks, &port, 2), &tracks.pool_bound);
  assert_ptr_equal(sl_args_bound(&tracks, &port, 3), &tracks.second_hits_bound);
  assert_int_equal(sizeof tracks, 10 * sizeof(void *) + 4 * sizeof(struct sl_bound));

  const uint64_t counts[SL_BOUNDS_MAX] = {10, 20, 30, 40, 0};
  const uint64_t values[] = {11, 20, 10, 30, 4, 11, 40, 40, 9, 20};
  for (uint32_t f = 0; f < c->field_count; f++) assert_int_equal(sl_collection_values(c, f, 3, counts), values[f]);

  char name[64];
  sl_bound_name(&port, 0, name, sizeof name);
  assert_string_equal(name, "tracks");
  sl_bound_name(&port, 3, name, sizeof name);
  assert_string_equal(name, "tracks.second_hits");
}

/* A table with parameters; each collection has its own values of them. */
#define BIND_VALUES_FIELDS(F, name, type, unit, of)          \
  F(offsets, u32, OFFSETS, "", "first " of " of each event") \
  F(name, type, PER_ITEM_OF(3), unit, "of a " of)            \
  F(name_offsets, u32, ITEM_OFFSETS, "", "")
SL_COLLECTION_OF(bind_lengths, BIND_VALUES_FIELDS, "lengths", length, f32, "mm", "rod");
SL_COLLECTION_OF(bind_counts, BIND_VALUES_FIELDS, "counts", count, u64, "", "box");

static void collections_of_a_table_differ_in_its_parameters(void **state) {
  (void)state;
  const struct sl_field *lengths = bind_lengths_collection.fields, *counts = bind_counts_collection.fields;
  assert_string_equal(bind_lengths_collection.name, "bind_lengths");
  assert_string_equal(bind_lengths_collection.doc, "lengths");
  assert_int_equal(bind_counts_collection.field_count, 3);
  assert_string_equal(lengths[0].doc, "first rod of each event");
  assert_string_equal(lengths[1].name, "length");
  assert_int_equal(lengths[1].type, SL_TYPE_f32);
  assert_int_equal(lengths[1].width, 3);
  assert_string_equal(lengths[1].unit, "mm");
  assert_string_equal(counts[1].name, "count");
  assert_int_equal(counts[1].type, SL_TYPE_u64);
  assert_string_equal(counts[1].doc, "of a box");
  struct bind_counts c;
  uint64_t value = 1;
  c.count = &value; /* compiles: the pointer has the table's type */
  assert_ptr_equal(c.count, &value);
  assert_int_equal(sizeof c.name_offsets_bound, sizeof c.bound);
}

static void terms_name_a_group_by_its_field(void **state) {
  (void)state;
  const struct sl_member ports[] = {{.name = "tracks", .kind = SL_MEMBER_OUT, .collection = &bind_tracks_collection},
                                    {.name = "runs", .kind = SL_MEMBER_IN, .collection = &example_runs_collection}};
  const struct sl_algorithm a = {.member_count = 2, .members = ports};
  static const struct {
    struct sl_term term;
    int member;
    uint32_t bound;
  } cases[] = {{SL_SUBITEMS_TERM(tracks.first_hits), 0, 1},
               {SL_SUBITEMS_TERM(tracks.second_hits), 0, 3},
               {SL_SUBITEMS_SCALED(tracks.pool, 2, 1, 0), 0, 2},
               {SL_SUBITEMS_TERM(tracks), 0, 0},
               {SL_SUBITEMS_TERM(tracks.momentum), 0, 0},
               {SL_SUBITEMS_TERM(runs), 1, 1},
               {SL_SUBITEMS_TERM(runs.member_offsets), 1, 1},
               {SL_ITEMS_TERM(tracks), 0, 0},
               {SL_ITEMS_TERM(tracks.pool), -1, 0},
               {SL_SUBITEMS_TERM(track), -1, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    uint32_t bound = 9;
    assert_int_equal(sl_term_member(&a, &cases[i].term, &bound), cases[i].member);
    assert_int_equal(bound, cases[i].bound);
  }
}

/* Values of terms: items of p 100, subitems of p 1000, entries of p 3, property b 7, property huge 2^32 - 1. */
static uint64_t look_up(void *context, const struct sl_term *term) {
  ++*(int *)context;
  if (term->kind == SL_TERM_BUDGET || term->kind == SL_TERM_PROPERTY)
    return strcmp(term->of, "huge") == 0 ? UINT32_MAX : 7;
  assert_string_equal(term->of, "p");
  return term->kind == SL_TERM_ITEMS ? 100 : term->kind == SL_TERM_SUBITEMS ? 1000 : 3;
}

static uint64_t value(struct sl_capacity c) {
  int calls = 0;
  return sl_capacity_value(&c, 10, look_up, &calls);
}

static void capacities_are_evaluated(void **state) {
  (void)state;
#define VALUE(...) value((struct sl_capacity)__VA_ARGS__)
  assert_int_equal(VALUE({0, 0, {{SL_TERM_NONE, 0, 1, 0, NULL}}}), 0);
  assert_int_equal(VALUE(SL_ONE(SL_CONSTANT_TERM(5))), 5);
  assert_int_equal(VALUE(SL_ONE(SL_EVENTS_TERM(3, 2))), 32);
  assert_int_equal(VALUE(SL_ONE(SL_ITEMS_TERM(p))), 100);
  assert_int_equal(VALUE(SL_ONE(SL_ITEMS_SCALED(p, 2, 3, 1))), 67); /* 200 / 3 + 1 */
  assert_int_equal(VALUE(SL_ONE(SL_SUBITEMS_TERM(p))), 1000);
  assert_int_equal(VALUE(SL_ONE(SL_SUBITEMS_SCALED(p, 1, 4, 0))), 250);
  assert_int_equal(VALUE(SL_ONE(SL_BUDGET_TERM(b, 0))), 70);
  assert_int_equal(VALUE(SL_ONE(SL_BUDGET_TERM(b, 71))), 71); /* at least 71 */
  assert_int_equal(VALUE(SL_MIN(SL_ITEMS_TERM(p), SL_BUDGET_TERM(b, 0))), 70);
  assert_int_equal(VALUE(SL_MAX(SL_ITEMS_TERM(p), SL_BUDGET_TERM(b, 0))), 100);
  assert_int_equal(VALUE(SL_MIN(SL_CONSTANT_TERM(0), SL_ITEMS_TERM(p))), 0);
  assert_int_equal(VALUE(SL_ONE(SL_ENTRIES_TERM(p))), 3);
  assert_int_equal(VALUE(SL_ONE(SL_EVENT_ENTRIES_TERM(p))), 30);
  assert_int_equal(VALUE(SL_ONE(SL_PROPERTY_TERM(b, 3))), 10); /* independent of the events */
  assert_int_equal(VALUE(SL_PRODUCT(SL_PROPERTY_TERM(b, 3), SL_PROPERTY_TERM(b, 2), SL_CONSTANT_TERM(2))), 180);
  assert_int_equal(VALUE(SL_PRODUCT(SL_CONSTANT_TERM(0), SL_PROPERTY_TERM(b, 2))), 0);
  assert_int_equal(VALUE(SL_SUM(SL_ITEMS_TERM(p), SL_BUDGET_TERM(b, 0))), 170);
  assert_int_equal(VALUE(SL_SUM(SL_ITEMS_TERM(p), SL_SUBITEMS_TERM(p), SL_CONSTANT_TERM(5), SL_ENTRIES_TERM(p))), 1108);
  assert_int_equal(VALUE(SL_MIN(SL_ITEMS_TERM(p), SL_SUBITEMS_TERM(p), SL_BUDGET_TERM(b, 0), SL_CONSTANT_TERM(69))),
                   69);
  assert_int_equal(VALUE(SL_MAX(SL_CONSTANT_TERM(69), SL_ITEMS_TERM(p), SL_SUBITEMS_TERM(p))), 1000);
}

static void capacities_are_64_bits_and_saturate(void **state) {
  (void)state;
  const uint64_t u32 = UINT32_MAX;
  assert_true(VALUE(SL_ONE(SL_BUDGET_TERM(huge, 0))) == 10 * u32);
  assert_true(VALUE(SL_ONE(SL_CONSTANT_TERM(UINT32_MAX))) == u32);
  assert_true(VALUE(SL_ONE(SL_EVENTS_TERM(UINT32_MAX, UINT32_MAX))) == 11 * u32);
  assert_true(VALUE({0, 0, {{SL_TERM_BUDGET, UINT32_MAX, 1, 0, "huge"}}}) == UINT64_MAX);
  assert_true(VALUE(SL_PRODUCT(SL_PROPERTY_TERM(huge, 0), SL_BUDGET_TERM(huge, 0))) == UINT64_MAX);
  assert_true(VALUE(SL_SUM(SL_BUDGET_TERM(huge, 0), SL_CONSTANT_TERM(UINT32_MAX))) == 11 * u32);
  assert_int_equal(VALUE(SL_MIN(SL_BUDGET_TERM(huge, 0), SL_ITEMS_TERM(p))), 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(types_have_the_size_of_their_c_types),
      cmocka_unit_test(every_shape_has_its_length),
      cmocka_unit_test(pointers_and_bounds_are_found_in_the_arguments),
      cmocka_unit_test(fields_are_read_if_named_or_if_none_is_named),
      cmocka_unit_test(names_and_special_fields_are_found),
      cmocka_unit_test(groups_of_subitems_have_bounds_of_their_own),
      cmocka_unit_test(collections_of_a_table_differ_in_its_parameters),
      cmocka_unit_test(terms_name_a_group_by_its_field),
      cmocka_unit_test(capacities_are_evaluated),
      cmocka_unit_test(capacities_are_64_bits_and_saturate),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
