/* expand_test.c: ports that open ports are replaced by, their location in the arguments, and collections that are
 * refused. */
#include "plugin/expand.h"

#include "plugin/registry.h"
#include "plugin/tables.h"
#include "support.h"

/* The plugin that defines a trait has these macros in a header: boxes have a size and one budget. */
#define BOX_FIELDS(F)                                     \
  F(offsets, u32, OFFSETS, "", "first box of each event") \
  F(weight, f32, PER_ITEM, "kg", "weight of the box")
SL_COLLECTION(boxes, BOX_FIELDS, "boxes of one colour");
SL_OPEN_PORTS(boxes);
#define BOXES_AS(port_, name_, FIELDS, size_, budget_)                                                        \
  static const uint32_t name_##_size = size_;                                                                 \
  static const struct sl_member name_##_trait_members[] = {                                                   \
      SL_TRAIT_OUT(port_, SL_ITEMS(SL_ONE(SL_BUDGET_TERM(port_##_count, 8)))),                                \
      SL_TRAIT_BUDGET(port_##_count, budget_, 0, 100, "boxes of this colour")};                               \
  static const struct sl_trait name_##_trait = {"store.boxes",        #port_,       name_##_trait_members, 2, \
                                                sizeof(name_##_size), &name_##_size};                         \
  SL_COLLECTION_WITH_TRAIT(name_, FIELDS, "boxes of colour " #port_, &name_##_trait)
BOXES_AS(red, red_boxes, BOX_FIELDS, 3, 4);
BOXES_AS(blue, blue_boxes, BOX_FIELDS, 5, 6);
BOXES_AS(red, crimson_boxes, BOX_FIELDS, 3, 4);
BOXES_AS(strict, strict_boxes, BOX_FIELDS, 1, 1);
#define OTHER_FIELDS(F)                                   \
  F(offsets, u32, OFFSETS, "", "first box of each event") \
  F(weight, f64, PER_ITEM, "kg", "weight of the box")
BOXES_AS(green, green_boxes, OTHER_FIELDS, 3, 4);
static const struct sl_trait read_only_trait = {"store.boxes", "grey", NULL, 0, 0, NULL};
SL_COLLECTION_WITH_TRAIT(grey_boxes, BOX_FIELDS, "boxes that nothing writes", &read_only_trait);

/* -------------------------------------------------------------------------------------------- plugins of tables */

struct fetch_args {
  uint32_t strict;
  struct boxes_ports boxes;
  uint32_t seed;
};
#define SL_ARGS fetch_args
static const struct sl_member fetch_members[] = {
    SL_BOOL(strict, 0, "refuse bad boxes"),
    SL_OPEN_OUT(boxes, boxes, "store.boxes", "boxes of every colour"),
    SL_U32(seed, 7, 0, 100, "", "of the order"),
};
#undef SL_ARGS

struct keep_args {
  struct boxes_view_ports boxes;
};
#define SL_ARGS keep_args
static const struct sl_member keep_members[] = {
    SL_OPEN_IN(boxes, boxes, "store.boxes", "offsets weight", "boxes to store"),
};
#undef SL_ARGS

struct count_args {
  struct boxes_view in;
};

static int open_sink(void *state, const struct sl_services *s, const void *args, const char *path) {
  (void)state, (void)s, (void)args, (void)path;
  return SL_OK;
}
static int consume(void *state, const struct sl_services *s, const void *args, const struct sl_batch *batch) {
  (void)state, (void)s, (void)args, (void)batch;
  return SL_OK;
}
static int finish(void *state, const struct sl_services *s, const struct sl_report *report) {
  (void)state, (void)s, (void)report;
  return SL_OK;
}
static int open_source(void *state, const struct sl_services *s, const void *args, const struct sl_inputs *inputs) {
  (void)state, (void)s, (void)args, (void)inputs;
  return SL_OK;
}
static int fill(void *state, const struct sl_services *s, const void *args, struct sl_fill *fill) {
  (void)state, (void)s, (void)args, (void)fill;
  return 0;
}
static void close_it(void *state) { (void)state; }
static const struct sl_sink sink = {.open = open_sink, .consume = consume, .finish = finish, .close = close_it};
static const struct sl_source source = {.open = open_source, .fill = fill, .close = close_it};

static struct sl_algorithm fetch = {.name = "fetch",
                                    .doc = "fetches boxes",
                                    .kind = SL_KIND_SOURCE,
                                    .args_size = sizeof(struct fetch_args),
                                    .member_count = SL_COUNT_(fetch_members),
                                    .members = fetch_members,
                                    .source = &source};
static struct sl_algorithm keep = {.name = "keep",
                                   .doc = "stores boxes",
                                   .kind = SL_KIND_SINK,
                                   .args_size = sizeof(struct keep_args),
                                   .member_count = SL_COUNT_(keep_members),
                                   .members = keep_members,
                                   .sink = &sink};

static const struct sl_algorithm *const store_algorithms[] = {&fetch, &keep};
static const struct sl_plugin store = {SL_PLUGIN_MAGIC,
                                       sizeof(struct sl_plugin),
                                       SL_ABI_VERSION,
                                       "store",
                                       "1",
                                       "cpu",
                                       "boxes",
                                       store_algorithms,
                                       2,
                                       0,
                                       NULL};

/* A plugin with one sink that reads one collection. */
struct reader {
  struct sl_plugin plugin;
  struct sl_algorithm algorithm;
  const struct sl_algorithm *table[1];
  struct sl_member members[1];
};
static const struct sl_plugin *reader_of(struct reader *r, const char *name, const struct sl_collection *collection) {
  r->members[0] = (struct sl_member){.name = "in",
                                     .doc = "counted",
                                     .kind = SL_MEMBER_IN,
                                     .args_size = sizeof(struct boxes_view),
                                     .collection = collection,
                                     .fields = ""};
  r->algorithm = keep;
  r->algorithm.name = "count";
  r->algorithm.args_size = sizeof(struct count_args);
  r->algorithm.members = r->members;
  r->algorithm.member_count = 1;
  r->table[0] = &r->algorithm;
  r->plugin = store;
  r->plugin.name = name;
  r->plugin.algorithms = r->table;
  r->plugin.algorithm_count = 1;
  return &r->plugin;
}
#define READER(r, name, collection) reader_of(r, name, &collection##_collection)

/* -------------------------------------------------------------------------------------------------- the cases */

static char reason[512];

static void an_open_port_becomes_one_port_per_collection_in_order_of_names(void **state) {
  (void)state;
  struct reader red, blue, again;
  struct sl_traits traits = {0};
  assert_int_equal(sl_plugin_check(&store, reason, sizeof reason), 0);
  assert_int_equal(sl_plugin_check(READER(&red, "one", red_boxes), reason, sizeof reason), 0);
  assert_int_equal(sl_traits_add(&traits, &red.plugin), 0);
  assert_int_equal(sl_traits_add(&traits, READER(&blue, "two", blue_boxes)), 0);
  assert_int_equal(sl_traits_add(&traits, READER(&again, "three", red_boxes)), 0);
  assert_int_equal(traits.count, 2);
  assert_true(sl_has_open_ports(&store));
  assert_false(sl_has_open_ports(&red.plugin));

  struct sl_plugin *expanded = sl_plugin_expand(&store, &traits);
  const struct sl_algorithm *a = expanded->algorithms[0];
  static const char *const names[] = {"strict", "boxes", "blue", "red", "blue_count", "red_count", "seed"};
  assert_int_equal(a->member_count, SL_COUNT_(names));
  for (uint32_t i = 0; i < SL_COUNT_(names); i++) assert_string_equal(a->members[i].name, names[i]);
  assert_int_equal(a->members[2].kind, SL_MEMBER_OUT);
  assert_ptr_equal(a->members[3].collection, &red_boxes_collection);
  assert_string_equal(a->members[3].doc, "boxes of colour red");
  assert_int_equal(a->members[5].default_value, 4);
  assert_string_equal(a->members[5].doc, "boxes of this colour");

  const struct sl_algorithm *k = expanded->algorithms[1];
  assert_int_equal(k->member_count, 3);
  assert_int_equal(k->members[1].kind, SL_MEMBER_IN);
  assert_int_equal(k->members[1].flags, SL_FLAG_OPTIONAL | SL_FLAG_AUTO | SL_FLAG_OPENED);
  assert_string_equal(k->members[2].fields, "offsets weight");
  free(expanded);
  sl_traits_free(&traits);
}

static void members_do_not_overlap_and_arguments_have_their_offsets(void **state) {
  (void)state;
  struct reader red, blue;
  struct sl_traits traits = {0};
  assert_int_equal(sl_traits_add(&traits, READER(&red, "one", red_boxes)), 0);
  assert_int_equal(sl_traits_add(&traits, READER(&blue, "two", blue_boxes)), 0);
  struct sl_plugin *expanded = sl_plugin_expand(&store, &traits);
  const struct sl_algorithm *a = expanded->algorithms[0];
  unsigned char *owner = calloc(1, a->args_size);
  for (uint32_t i = 0; i < a->member_count; i++)
    for (uint32_t b = 0; b < a->members[i].args_size; b++) {
      assert_true(a->members[i].args_offset + b < a->args_size);
      assert_int_equal(owner[a->members[i].args_offset + b]++, 0);
    }
  free(owner);

  struct fetch_args *args = calloc(1, a->args_size);
  sl_open_ports_fill(a, args);
  assert_int_equal(args->boxes.count, 2);
  assert_ptr_equal(args->boxes.ports, &a->members[2]);
  assert_ptr_equal(&args->boxes.at[0], (char *)args + a->members[2].args_offset);
  assert_ptr_equal(&args->boxes.at[1], (char *)args + a->members[3].args_offset);
  assert_int_equal(*(const uint32_t *)args->boxes.ports[1].collection->trait->data, 3);
  free(args);
  free(expanded);
  sl_traits_free(&traits);
}

static void without_collections_there_are_no_ports(void **state) {
  (void)state;
  struct sl_traits traits = {0};
  struct sl_plugin *expanded = sl_plugin_expand(&store, &traits);
  const struct sl_algorithm *a = expanded->algorithms[0];
  assert_int_equal(a->member_count, SL_COUNT_(fetch_members));
  struct fetch_args *args = calloc(1, a->args_size);
  sl_open_ports_fill(a, args);
  assert_int_equal(args->boxes.count, 0);
  assert_null(args->boxes.at);
  free(args);
  free(expanded);
}

static void assert_check(const struct sl_plugin *collections, const struct sl_plugin *ports, const char *expected) {
  reason[0] = '\0';
  const int status = sl_open_ports_check(collections, ports, reason, sizeof reason);
  assert_string_equal(reason, expected);
  assert_int_equal(status, *expected ? SL_EPLUGIN : SL_OK);
}

static void collections_that_do_not_fit_an_open_port_are_refused(void **state) {
  (void)state;
  struct reader r, other;
  assert_check(READER(&r, "one", red_boxes), &store, "");
  assert_check(&store, &r.plugin, "");
  assert_check(&store, &store, "");
  assert_check(READER(&r, "one", red_boxes), READER(&other, "two", red_boxes), "");
  assert_check(READER(&r, "one", green_boxes), &store,
               "collection green_boxes has the trait store.boxes, but not the fields of boxes: field weight is f64 "
               "against f32");
  assert_check(READER(&r, "one", strict_boxes), &store,
               "collection strict_boxes has the trait store.boxes with the name strict, which "
               "store.fetch uses for a member");
  assert_check(READER(&r, "one", grey_boxes), &store,
               "collection grey_boxes has the trait store.boxes without capacities of an output, which "
               "store.fetch needs");
  assert_check(READER(&r, "one", red_boxes), READER(&other, "two", crimson_boxes),
               "two collections with the trait store.boxes use the port red: red_boxes of one and crimson_boxes of "
               "two");
}

/* ------------------------------------------------------------------------------------------------------ traits */

static struct sl_trait broken;
static struct sl_member broken_members[2];

/* Result of checking a plugin that reads red boxes with a changed trait. */
static const char *lint(void) {
  struct reader r;
  struct sl_collection collection = red_boxes_collection;
  collection.trait = &broken;
  READER(&r, "one", red_boxes);
  r.members[0].collection = &collection;
  reason[0] = '\0';
  (void)sl_plugin_check(&r.plugin, reason, sizeof reason);
  return reason;
}

static void begin(void) {
  broken = red_boxes_trait;
  memcpy(broken_members, red_boxes_trait_members, sizeof broken_members);
  broken.members = broken_members;
}

#define LINT(change, expected) (begin(), (change), assert_string_equal(lint(), expected))

static void traits_that_would_break_other_plugins_are_refused(void **state) {
  (void)state;
  LINT(broken.data_bytes = 4, "");
  LINT(broken.name = "boxes", "algorithm count: member in: the trait's name, \"boxes\", is not PLUGIN.NAME");
  LINT(broken.name = NULL, "algorithm count: member in: the trait's name, \"NULL\", is not PLUGIN.NAME");
  LINT(broken.port = "a b", "algorithm count: member in: collection red_boxes: the port of its trait is no identifier");
  LINT(broken.port = "blue",
       "algorithm count: member in: collection red_boxes: the first member of its trait is not SL_TRAIT_OUT(blue, "
       "...)");
  LINT(broken.data = NULL, "algorithm count: member in: collection red_boxes: the data of its trait is NULL");
  LINT(broken.members = NULL,
       "algorithm count: member in: collection red_boxes: its trait has 2 members and no table of them, at most 16 are "
       "expected");
  LINT(broken_members[1].name = "count",
       "algorithm count: member in: collection red_boxes: member count of its trait is not SL_TRAIT_BUDGET(red_..., "
       "...)");
  LINT(broken_members[1].flags = 0,
       "algorithm count: member in: collection red_boxes: member red_count of its trait is not "
       "SL_TRAIT_BUDGET(red_..., ...)");
  LINT(broken.member_count = 1, "algorithm count: member red: items: red_count is no SL_BUDGET property");
  LINT(broken_members[1].default_value = 101,
       "algorithm count: member red_count: default 101 is not in the range 0 to 100");
}

static void two_versions_of_a_trait_are_distinguished(void **state) {
  (void)state;
  struct sl_collection other = red_boxes_collection;
  other.trait = &broken;
  begin();
  assert_int_equal(sl_collection_compare(&red_boxes_collection, &other, reason, sizeof reason), 0);
  broken_members[1].default_value = 5;
  assert_int_not_equal(sl_collection_compare(&red_boxes_collection, &other, reason, sizeof reason), 0);
  assert_string_equal(reason, "the data of trait store.boxes");
  begin();
  broken.data = &blue_boxes_size;
  assert_int_not_equal(sl_collection_compare(&red_boxes_collection, &other, reason, sizeof reason), 0);
  other.trait = NULL;
  assert_int_not_equal(sl_collection_compare(&red_boxes_collection, &other, reason, sizeof reason), 0);
  assert_string_equal(reason, "the trait is store.boxes against none");
}

static void only_sources_have_open_outputs_and_only_sinks_open_inputs(void **state) {
  (void)state;
  struct sl_plugin plugin = store;
  struct sl_algorithm turned = keep;
  const struct sl_algorithm *table[] = {&turned};
  plugin.algorithms = table;
  plugin.algorithm_count = 1;
  turned.members = fetch_members;
  turned.member_count = SL_COUNT_(fetch_members);
  turned.args_size = sizeof(struct fetch_args);
  assert_int_equal(sl_plugin_check(&plugin, reason, sizeof reason), SL_EPLUGIN);
  assert_string_equal(reason, "algorithm keep: only sources have SL_OPEN_OUT, and only sinks have SL_OPEN_IN");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_open_port_becomes_one_port_per_collection_in_order_of_names),
      cmocka_unit_test(members_do_not_overlap_and_arguments_have_their_offsets),
      cmocka_unit_test(without_collections_there_are_no_ports),
      cmocka_unit_test(collections_that_do_not_fit_an_open_port_are_refused),
      cmocka_unit_test(traits_that_would_break_other_plugins_are_refused),
      cmocka_unit_test(two_versions_of_a_trait_are_distinguished),
      cmocka_unit_test(only_sources_have_open_outputs_and_only_sinks_open_inputs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
