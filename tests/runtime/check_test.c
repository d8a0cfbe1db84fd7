/* check_test.c: breaks each rule for a plugin's tables once, in a copy of the tables of the example plugin. */
#include "plugin/registry.h"
#include "plugin/tables.h"
#include "support.h"

#include <dlfcn.h>

enum { COPY_MAX = 64 };

/* The example plugin, and the copy of its tables that each case changes. */
static const struct sl_plugin *original;
static struct sl_plugin plugin;
static const struct sl_algorithm *algorithms[COPY_MAX];
static struct sl_algorithm algorithm;
static struct sl_member members[COPY_MAX];
static struct sl_collection collection;
static struct sl_field fields[COPY_MAX];
static struct sl_event_error errors[2];
static char reason[512];

/* Copies the plugin, the algorithm `name` and its members. */
static void begin(const char *name) {
  plugin = *original;
  const int index = sl_algorithm_index(original, name);
  assert_true(index >= 0);
  memcpy(algorithms, original->algorithms, original->algorithm_count * sizeof(*algorithms));
  algorithm = *original->algorithms[index];
  memcpy(members, algorithm.members, algorithm.member_count * sizeof(*members));
  if (algorithm.error_count) memcpy(errors, algorithm.errors, algorithm.error_count * sizeof(*errors));
  if (algorithm.error_count) algorithm.errors = errors;
  algorithm.members = members;
  algorithms[index] = &algorithm;
  plugin.algorithms = algorithms;
}

static struct sl_member *member(const char *name) { return &members[sl_member_index(&algorithm, name)]; }

/* Replaces the collection of a member by a copy and returns the fields of the copy. */
static struct sl_field *copy_fields(const char *name) {
  collection = *member(name)->collection;
  memcpy(fields, collection.fields, collection.field_count * sizeof(*fields));
  collection.fields = fields;
  member(name)->collection = &collection;
  return fields;
}

/* Adds dimensions to the copied collection and makes its second field one by dimensions. */
static void add_dimensions(uint32_t count, const char *first, const char *of_field) {
  static struct sl_dimension dimensions[SL_DIMENSIONS_MAX + 1];
  for (uint32_t d = 0; d <= SL_DIMENSIONS_MAX; d++)
    dimensions[d] = (struct sl_dimension){d ? "channels" : first, "", "an axis", 0, 0};
  copy_fields("scaled")[1].dimensions = of_field;
  fields[1].width = 0;
  collection.dimensions = dimensions;
  collection.dimension_count = count;
}

static void assert_refused(const char *expected) {
  reason[0] = '\0';
  assert_int_equal(sl_plugin_check(&plugin, reason, sizeof(reason)), SL_EPLUGIN);
  assert_string_equal(reason, expected);
}

#define REFUSED(name, change, expected) (begin(name), (change), assert_refused(expected))

static int index_nothing(const char *path, const struct sl_index_calls *calls) {
  (void)path, (void)calls;
  return SL_OK;
}

static void the_example_itself_is_accepted(void **state) {
  (void)state;
  assert_int_equal(sl_plugin_check(original, reason, sizeof(reason)), 0);
  begin("scale");
  assert_int_equal(sl_plugin_check(&plugin, reason, sizeof(reason)), 0);
}

static void texts_of_the_plugin(void **state) {
  (void)state;
  REFUSED("scale", plugin.name = NULL, "the plugin name \"NULL\" is no identifier");
  REFUSED("scale", plugin.name = "a-b", "the plugin name \"a-b\" is no identifier");
  REFUSED("scale", plugin.version = "", "the plugin has no version");
  REFUSED("scale", plugin.doc = NULL, "the doc of the plugin is NULL");
  REFUSED("scale", plugin.target = "g pu", "target \"g pu\" is no identifier");
  REFUSED("scale", plugin.target = NULL, "target \"NULL\" is no identifier");
  REFUSED("scale", plugin.algorithm_count = 0, "0 algorithms, 1 to 1024 are expected");
  REFUSED("scale", plugin.algorithm_count = 5000, "5000 algorithms, 1 to 1024 are expected");
}

static void names(void **state) {
  (void)state;
  REFUSED("scale", algorithm.name = NULL, "the name of algorithm 1 is NULL");
  REFUSED("scale", algorithm.name = "", "the name of algorithm 1, \"\", is no identifier");
  REFUSED("scale", algorithm.name = "2nd", "the name of algorithm 1, \"2nd\", is no identifier");
  REFUSED("scale", algorithm.name = "runs", "two algorithms are named runs");
  REFUSED("scale", algorithm.doc = NULL, "algorithm scale: doc is NULL");
  REFUSED("scale", members[2].name = NULL, "algorithm scale: the name of member 2 is NULL");
  REFUSED("scale", members[2].name = "a.b", "algorithm scale: the name of member 2, \"a.b\", is no identifier");
  REFUSED("scale", members[2].name = "numbers", "algorithm scale: two members numbers");
  REFUSED("scale", members[2].doc = NULL, "algorithm scale: member weights: doc is NULL");
}

static void members_have_valid_offsets(void **state) {
  (void)state;
  REFUSED("scale", member("numbers")->args_size = 56,
          "algorithm scale: member numbers: has 56 bytes, 48 are expected for its type");
  REFUSED("scale", member("factor")->args_size = 8,
          "algorithm scale: member factor: has 8 bytes, 4 are expected for its type");
  REFUSED("scale", member("factor")->args_offset = 0xFFFFFFFE,
          "algorithm scale: member factor: ends at byte 4294967298 of the argument struct, which has 176");
  REFUSED("scale", member("factor")->args_offset -= 2,
          "algorithm scale: member factor: begins at byte 166, which is not aligned to 4");
  REFUSED("scale", member("negate")->args_offset = member("factor")->args_offset,
          "algorithm scale: member negate: overlaps member factor in the argument struct: bytes 168 to 171 and 168 to "
          "171");
  REFUSED("scale", member("factor")->kind = 99, "algorithm scale: member factor: unknown kind 99");
  REFUSED("scale", member("factor")->flags = SL_FLAG_OPTIONAL,
          "algorithm scale: member factor: flags 1 do not belong to its kind");
  REFUSED("scale", algorithm.args_size = 1 << 20,
          "algorithm scale: arguments of 1048576 bytes, at most 65536 are expected");
  REFUSED("scale", algorithm.member_count = 257, "algorithm scale: 257 members, at most 256 are expected");
}

static void fields_and_collections(void **state) {
  (void)state;
#define SCALED "algorithm scale: member scaled: "
  REFUSED("scale", member("scaled")->collection = NULL, SCALED "it has no collection");
  REFUSED("scale", copy_fields("scaled")[1].name = NULL, SCALED "the name of field 1 is NULL");
  REFUSED("scale", copy_fields("scaled")[1].name = "a b", SCALED "the name of field 1, \"a b\", is no identifier");
  REFUSED("scale", copy_fields("scaled")[1].name = "offsets",
          SCALED "collection example_scaled has two fields offsets");
  REFUSED("scale", copy_fields("scaled")[1].type = SL_TYPE_string,
          SCALED "field value has type 11, which is not a field type");
  REFUSED("scale", copy_fields("scaled")[1].shape = 9, SCALED "field value has unknown shape 9");
  REFUSED("scale", copy_fields("scaled")[1].width = 0,
          SCALED "field value has 0 values per entry, 1 to 65536 are expected");
  REFUSED("scale", copy_fields("scaled")[0].type = SL_TYPE_u64,
          SCALED "field offsets is OFFSETS, which must be u32 with one value per entry");
  REFUSED("scale", copy_fields("scaled")[1].unit = NULL, SCALED "field value: unit or doc is NULL");
  REFUSED("scale", copy_fields("scaled")[1].shape = SL_SHAPE_CODE_ARRAY,
          SCALED "collection example_scaled mixes ARRAY with other shapes");
  REFUSED("scale", copy_fields("scaled")[1].shape = SL_SHAPE_CODE_PER_SUBITEM,
          SCALED "collection example_scaled: there is no ITEM_OFFSETS field before the PER_SUBITEM field value");
  REFUSED("scale", (copy_fields("scaled"), collection.field_count = 0),
          SCALED "collection example_scaled has 0 fields, 1 to 256 are expected");
  REFUSED("scale", add_dimensions(0, "time", "time"),
          SCALED "field value has the dimension time, which collection example_scaled does not declare");
  REFUSED("scale", add_dimensions(1, "time", "time, channels"),
          SCALED "field value has the dimension channels, which collection example_scaled does not declare");
  REFUSED("scale", add_dimensions(1, "time", ""), SCALED "field value has 0 dimensions, 1 to 4 are expected");
  REFUSED("scale", add_dimensions(2, "channels", "channels"),
          SCALED "collection example_scaled has two entries channels");
  REFUSED("scale", add_dimensions(1, "value", "value"), SCALED "collection example_scaled has two entries value");
  REFUSED("scale", add_dimensions(1, "a b", "a b"), SCALED "the name of dimension 0, \"a b\", is no identifier");
  REFUSED("scale", add_dimensions(5, "time", "time"),
          SCALED "collection example_scaled has 5 dimensions, at most 4 are expected");
  REFUSED("scale", (add_dimensions(1, "time", "time"), fields[1].shape = SL_SHAPE_CODE_PER_SLICE),
          SCALED "field value is PER_SLICE and has dimensions; PER_EVENT or PER_ITEM is expected");
  REFUSED("scale", add_dimensions(1, "time", "time"),
          "algorithm scale: member scaled: has 48 bytes, 56 are expected for its type");
  REFUSED("scale", (copy_fields("scaled"), collection.fields = NULL),
          SCALED "collection example_scaled has 3 fields and no table of them, 1 to 256 are expected");
  REFUSED("positive", copy_fields("passed")[0].type = SL_TYPE_u64,
          "algorithm positive: member passed: collection sl_event_list differs from that of the runtime: field count "
          "is u64 against "
          "u32");
  REFUSED(
      "runs", copy_fields("numbers")[2].type = SL_TYPE_u16,
      "algorithm runs: collection example_numbers differs from that of algorithm positive: field tag is u16 against "
      "u8");
}

static void ports_and_partners(void **state) {
  (void)state;
  REFUSED("scale", member("numbers")->fields = NULL,
          "algorithm scale: member numbers: the list of fields that it reads is NULL");
  REFUSED("scale", member("numbers")->fields = "offsets values",
          "algorithm scale: member numbers: reads field values, which collection example_numbers does not have");
  REFUSED("scale", member("scaled")->shares = "nothing",
          SCALED "shares the offsets of nothing, which is not an earlier port in the table");
  REFUSED("scale", member("scaled")->shares = "factor",
          SCALED "shares the offsets of factor, which is not an earlier port in the table");
  REFUSED("scale", member("scaled")->shares = "scaled",
          SCALED "shares the offsets of scaled, which is not an earlier port in the table");
  REFUSED("scale", member("scaled")->shares = "weights",
          SCALED "shares the offsets of weights, but its collection example_weights has none");
  REFUSED("scale", member("numbers")->flags = SL_FLAG_OPTIONAL,
          SCALED "shares the offsets of numbers, which is optional");
  REFUSED("scale", member("weights")->flags = SL_FLAG_AUTO,
          "algorithm scale: member weights: is automatic, but not optional");
  REFUSED("scale", member("weights")->flags |= SL_FLAG_AUTO,
          "algorithm scale: member weights: is automatic, but only inputs of sinks can be");
  REFUSED("scale", member("scaled")->in_place = "factor", SCALED "is in place of factor, which is no input");
  REFUSED("scale", (copy_fields("scaled")[0].shape = SL_SHAPE_CODE_PER_EVENT, member("scaled")->shares = NULL),
          SCALED "collection example_scaled has items, so it needs a field of shape OFFSETS, or SL_SHARES_OFFSETS");
  REFUSED("weights", member("weights")->collection = &sl_event_list_collection,
          "algorithm weights: member weights: has 32 bytes, 40 are expected for its type");
}

static void capacities(void **state) {
  (void)state;
#define KEPT "algorithm positive: member kept: "
  struct sl_capacity none = {0, 0, {{SL_TERM_NONE, 0, 1, 0, NULL}}};
  REFUSED("positive", member("kept")->capacity = none, KEPT "the capacity for its items is missing");
  REFUSED("positive", member("kept")->capacity.combine = 4, KEPT "items: unknown combination 4");
  REFUSED("positive", member("kept")->capacity.terms[1].kind = 10, KEPT "items: unknown kind of term 10");
  REFUSED("positive", member("kept")->capacity.terms[3].kind = SL_TERM_CONSTANT,
          KEPT "items: term 3 is not used, but term 4 is");
  REFUSED("positive", member("kept")->capacity.terms[0].kind = SL_TERM_ENTRIES,
          KEPT "items: numbers is no list port (SL_LIST_IN)");
  REFUSED("positive", member("kept")->capacity.terms[0].kind = SL_TERM_EVENT_ENTRIES,
          KEPT "items: numbers is no list port (SL_LIST_IN)");
  REFUSED("positive", member("kept")->capacity.terms[0].divide = 0, KEPT "items: division by 0");
  REFUSED("positive", member("kept")->capacity.terms[0].of = NULL, KEPT "items: a term names nothing");
  REFUSED("positive", member("kept")->capacity.terms[0].of = "events", KEPT "items: events is no port");
  REFUSED("positive", member("kept")->capacity.terms[0].kind = SL_TERM_SUBITEMS,
          KEPT "items: port numbers has no subitems");
  REFUSED("positive", member("kept")->capacity.terms[0].of = "passed", KEPT "items: port passed has no items");
  REFUSED("positive", member("kept")->capacity.terms[0].of = "kept",
          KEPT "items: port kept is not earlier in the table");
  REFUSED("positive", member("kept_per_event")->flags = 0, KEPT "items: kept_per_event is no SL_BUDGET property");
  REFUSED("runs", member("runs")->sub_capacities[0] = none,
          "algorithm runs: member runs: the capacity for its subitems is missing");
  REFUSED("runs", member("runs")->sub_capacities[0].terms[0].kind = SL_TERM_SUBITEMS,
          "algorithm runs: member runs: subitems: port runs is not earlier in the table");
  REFUSED("runs", member("first")->capacity = none,
          "algorithm runs: member first: the capacity for its elements is missing");
  REFUSED("runs", member("first")->type = SL_TYPE_bool,
          "algorithm runs: member first: type 10 is no type of an element");
}

static void list_ports(void **state) {
  (void)state;
#define PARTS "algorithm merge: member parts: "
  REFUSED("merge", member("parts")->args_size = 56, PARTS "has 56 bytes, 24 are expected for its type");
  REFUSED("merge", member("parts")->flags |= SL_FLAG_OPTIONAL, PARTS "a list port is not optional: it can be empty");
  REFUSED("merge", member("parts")->flags = 0, PARTS "has 24 bytes, 48 are expected for its type");
  REFUSED("merge", member("parts")->fields = "offsets x",
          PARTS "reads field x, which collection example_numbers does not have");
  REFUSED("merge", member("merged")->shares = "parts",
          "algorithm merge: member merged: shares the offsets of parts, which is a list port");
  REFUSED("merge", member("merged")->in_place = "parts",
          "algorithm merge: member merged: is in place of parts, which is a list port");
  REFUSED("merge", member("merged")->flags = SL_FLAG_LIST,
          "algorithm merge: member merged: flags 4 do not belong to its kind");
  REFUSED("merge", member("merged")->capacity.terms[1].of = "merged",
          "algorithm merge: member merged: items: merged is no list port (SL_LIST_IN)");
}

static void properties(void **state) {
  (void)state;
#define FACTOR "algorithm scale: member factor: "
  REFUSED("scale", member("factor")->default_value = 101, FACTOR "default 101 is not in the range -100 to 100");
  REFUSED("scale", member("factor")->default_value = __builtin_nan(""),
          FACTOR "default nan is not in the range -100 to 100");
  REFUSED("scale", member("factor")->minimum = 200, FACTOR "minimum 200 is not below maximum 100");
  REFUSED("scale", member("factor")->unit = NULL, FACTOR "unit is NULL");
  REFUSED("scale", (member("factor")->type = SL_TYPE_u32), FACTOR "range -100 to 100 exceeds that of u32");
  REFUSED("scale", (member("factor")->type = SL_TYPE_i32, member("factor")->default_value = 0.5),
          FACTOR "default 0.5 is no integer");
  REFUSED("scale", (member("factor")->type = SL_TYPE_u16), FACTOR "type u16 is no type of a property");
  REFUSED("scale", (member("negate")->maximum = 2),
          "algorithm scale: member negate: range 0 to 2 exceeds that of bool");
  REFUSED("weights", member("label")->default_text = NULL,
          "algorithm weights: member label: a string property needs a default text");
}

static void choices_and_arrays(void **state) {
  (void)state;
#define GIVEN "algorithm chosen: member given: "
#define ORDER "algorithm chosen: member order: "
  REFUSED("chosen", member("given")->default_text = NULL, GIVEN "default NULL is no list of 3 numbers");
  REFUSED("chosen", member("given")->default_text = "[1, 2]", GIVEN "default [1, 2] is no list of 3 numbers");
  REFUSED("chosen", member("given")->default_text = "[1, 2, 3, 4]",
          GIVEN "default [1, 2, 3, 4] is no list of 3 numbers");
  REFUSED("chosen", member("given")->default_text = "[1, 2, nan]", GIVEN "default [1, 2, nan] is no list of 3 numbers");
  REFUSED("chosen", member("given")->default_text = "[1, 2, 3", GIVEN "default [1, 2, 3 is no list of 3 numbers");
  REFUSED("chosen", member("given")->default_text = "[1, , 3]", GIVEN "default [1, , 3] is no list of 3 numbers");
  REFUSED("chosen", member("given")->default_text = "1, 2, 3", GIVEN "default 1, 2, 3 is no list of 3 numbers");
  REFUSED("chosen", member("given")->default_text = "[1, 2, 11]", GIVEN "default 11 is not in the range -10 to 10");
  REFUSED("chosen", member("given")->type = SL_TYPE_string, GIVEN "an array of string is no property");
  REFUSED("chosen", member("given")->type = SL_TYPE_bool, GIVEN "an array of bool is no property");
  REFUSED("chosen", member("given")->type = SL_TYPE_i32, GIVEN "default 2.5 is no integer");
  REFUSED("chosen", (member("given")->count = 2, member("given")->default_text = "[1, 2]"),
          GIVEN "has 24 bytes, 16 are expected for its type");
  REFUSED("chosen", member("given")->count = 2000,
          GIVEN "an array of 2000 values: at most 1024 are possible, and a budget is not an array");
  REFUSED("chosen", member("order")->choices = NULL, ORDER "an enumeration needs names to choose from");
  REFUSED("chosen", member("order")->choices = "", ORDER "an enumeration needs names to choose from");
  REFUSED("chosen", member("order")->choices = " ", ORDER "default forward is not one of its choices:  ");
  REFUSED("chosen", member("order")->default_text = "up",
          ORDER "default up is not one of its choices: forward backward");
  REFUSED("chosen", member("order")->default_text = NULL,
          ORDER "default NULL is not one of its choices: forward backward");
  REFUSED("chosen", member("order")->choices = "forward back-ward",
          ORDER "choice back-ward is no identifier of up to 64 bytes");
  REFUSED("chosen", member("order")->choices = "forward null", ORDER "choice null cannot be written in a graph");
  REFUSED("chosen", member("order")->choices = "forward backward forward", ORDER "two choices are forward");
}

static int prepare_nothing(const struct sl_services *s, void *args) {
  (void)s;
  (void)args;
  return SL_OK;
}

static void prepared_values(void **state) {
  (void)state;
  REFUSED("scale", (member("factor")->kind = SL_MEMBER_COMPUTED),
          FACTOR "is written by the function prepare, but the algorithm has none");
  REFUSED("scale", (member("factor")->kind = SL_MEMBER_TABLE),
          FACTOR "is written by the function prepare, but the algorithm has none");
  REFUSED(
      "scale",
      (member("factor")->type = SL_TYPE_string, member("factor")->default_text = "", member("factor")->args_size = 8),
      FACTOR
      "a kernel cannot read a string of the host; use an enumeration, SL_ENUM, or compute the values that the kernel "
      "needs in prepare");
  REFUSED("scale", (algorithm.prepare = prepare_nothing, member("factor")->kind = SL_MEMBER_TABLE),
          FACTOR "has 4 bytes, 8 are expected for its type");
  REFUSED("scale",
          (algorithm.prepare = prepare_nothing, member("factor")->kind = SL_MEMBER_TABLE,
           member("factor")->type = SL_TYPE_string),
          FACTOR "type 11 is no type of an element");
  REFUSED("scale", (member("factor")->kind = SL_MEMBER_NODE_HASH), FACTOR "has 4 bytes, 8 are expected for its type");
  REFUSED("weights", algorithm.prepare = prepare_nothing, "algorithm weights: only kernels have the function prepare");
  begin("scale");
  algorithm.prepare = prepare_nothing;
  member("factor")->kind = SL_MEMBER_COMPUTED;
  assert_int_equal(sl_plugin_check(&plugin, reason, sizeof(reason)), 0);
}

static void references(void **state) {
  (void)state;
#define TO_FIELD(types) \
  (member("factor")->kind = SL_MEMBER_FIELD, member("factor")->args_size = 40, member("factor")->choices = types)
  REFUSED("scale", TO_FIELD(NULL), FACTOR "the list of types that the field can have is NULL");
  REFUSED("scale", TO_FIELD("f32 float"), FACTOR "float is no type of a field");
  REFUSED("scale", TO_FIELD("bool"), FACTOR "bool is no type of a field");
  REFUSED("scale", (TO_FIELD("f32"), member("factor")->args_size = 4),
          FACTOR "has 4 bytes, 40 are expected for its type");
  REFUSED("scale", (TO_FIELD("f32"), member("factor")->flags = SL_FLAG_FIELD),
          FACTOR "flags 128 do not belong to its kind");
  REFUSED("weights", member("step")->kind = SL_MEMBER_FIELD,
          "algorithm weights: member step: only kernels have references to fields");
}

/* An algorithm that fills a histogram; its tables replace those of the copy. */
#define COUNTS_FIELDS(F) F(counts, u32, TOTAL, "", "counts")
SL_COLLECTION(counts, COUNTS_FIELDS, "counts");
#define TWO_COUNTS_FIELDS(F) COUNTS_FIELDS(F) F(more, u32, TOTAL, "", "more")
SL_COLLECTION(two_counts, TWO_COUNTS_FIELDS, "counts");
struct histogram_args {
  struct sl_events events;
  struct sl_field_ref x, y, selected;
  struct counts counts;
  void *room; /* for two_counts */
  uint32_t x_bins, y_bins;
  double lower, upper;
  float middle;
};
#define SL_ARGS histogram_args
static const struct sl_member histogram_members[] = {
    SL_EVENTS(),
    SL_FIELD_REF(x, "", "to the right"),
    SL_FIELD_REF(y, "", "upwards"),
    SL_OPTIONAL_FIELD_REF(selected, x, "u8", "selected pairs"),
    SL_OUT(counts, counts, "the counts", SL_HISTOGRAM_2D(middle, x, x_bins, lower, upper, y, y_bins, lower, upper)),
    SL_U32(x_bins, 1, 1, 9, "", "bins of x"),
    SL_U32(y_bins, 1, 1, 9, "", "bins of y"),
    SL_F64(lower, 0, 0, 9, "", "lower limit"),
    SL_F64(upper, 1, 0, 9, "", "upper limit"),
    SL_F32(middle, 1, 0, 9, "", "no title"),
};
#undef SL_ARGS

/* Replaces the members of the algorithm by those of a valid histogram. */
static void use_histogram(void) {
  memcpy(members, histogram_members, sizeof histogram_members);
  algorithm.member_count = SL_COUNT_(histogram_members);
  algorithm.args_size = sizeof(struct histogram_args);
  member("counts")->title = NULL;
  copy_fields("counts");
}

/* Gives the histogram a collection with two fields. */
static void use_two_counts(void) {
  member("counts")->collection = &two_counts_collection;
  member("counts")->args_size = sizeof(struct two_counts);
}

static void histograms(void **state) {
  (void)state;
#define COUNTS                          "algorithm scale: member counts: histogram: "
#define HISTOGRAM_REFUSED(change, text) REFUSED("scale", (use_histogram(), (change)), text)
  begin("scale");
  use_histogram();
  if (sl_plugin_check(&plugin, reason, sizeof reason) != 0) fail_msg("%s", reason);
  HISTOGRAM_REFUSED(member("counts")->axes[0].field = NULL, COUNTS "it has no first axis");
  HISTOGRAM_REFUSED(member("counts")->axes[1].field = "z", COUNTS "z is no field reference that a graph must set");
  HISTOGRAM_REFUSED(member("counts")->axes[1].field = "lower",
                    COUNTS "lower is no field reference that a graph must set");
  HISTOGRAM_REFUSED(member("counts")->axes[0].field = "selected",
                    COUNTS "selected is no field reference that a graph must set");
  HISTOGRAM_REFUSED(member("counts")->axes[0].bins = "lower", COUNTS "lower is no property of type u32");
  HISTOGRAM_REFUSED(member("counts")->axes[0].bins = NULL, COUNTS "NULL is no property of type u32");
  HISTOGRAM_REFUSED(member("counts")->axes[1].lower = "middle", COUNTS "middle is no property of type f64");
  HISTOGRAM_REFUSED(member("counts")->axes[1].upper = "x", COUNTS "x is no property of type f64");
  HISTOGRAM_REFUSED(member("counts")->title = "middle", COUNTS "middle is no property of type string");
  HISTOGRAM_REFUSED(use_two_counts(), COUNTS "totals with one field, of type u32 or u64, are expected");
  HISTOGRAM_REFUSED(fields[0].type = SL_TYPE_i64, COUNTS "totals with one field, of type u32 or u64, are expected");
  HISTOGRAM_REFUSED(member("counts")->capacity.combine = SL_COMBINE_SUM,
                    COUNTS "its capacity is not that of SL_HISTOGRAM");
  HISTOGRAM_REFUSED(member("counts")->capacity.terms[1].add = 2, COUNTS "its capacity is not that of SL_HISTOGRAM");
  HISTOGRAM_REFUSED(member("counts")->capacity.terms[0].of = "y_bins",
                    COUNTS "its capacity is not that of SL_HISTOGRAM");
  HISTOGRAM_REFUSED(member("counts")->axes[1].field = NULL, COUNTS "its capacity is not that of SL_HISTOGRAM");
#define SELECTED "algorithm scale: member selected: has the items of "
  HISTOGRAM_REFUSED(member("selected")->items_of = "z",
                    SELECTED "z, which is no field reference that a graph must set");
  HISTOGRAM_REFUSED(member("selected")->items_of = "lower",
                    SELECTED "lower, which is no field reference that a graph must set");
  HISTOGRAM_REFUSED(member("selected")->items_of = "selected",
                    SELECTED "selected, which is no field reference that a graph must set");
}

static void kinds_and_functions(void **state) {
  (void)state;
  static struct sl_source source;
  static struct sl_sink sink;
  REFUSED("scale", algorithm.kind = 4, "algorithm scale: unknown kind 4");
  REFUSED("scale", algorithm.run = NULL, "algorithm scale: a kernel needs the function run");
  REFUSED("weights", algorithm.make = NULL, "algorithm weights: a constant needs the function make");
  REFUSED("counter", algorithm.source = NULL, "algorithm counter: a source needs the function fill");
  begin("counter");
  source = *algorithm.source;
  source.fill = NULL;
  algorithm.source = &source;
  assert_refused("algorithm counter: a source needs the function fill");
  source = *original->algorithms[sl_algorithm_index(original, "counter")]->source;
  source.index = index_nothing;
  assert_refused("algorithm counter: a source with the function index needs probe, which recognises its files");
  begin("tally");
  sink = *algorithm.sink;
  sink.consume = NULL;
  algorithm.sink = &sink;
  assert_refused("algorithm tally: a sink needs the function consume");
  REFUSED("scale", algorithm.block_threads = 48,
          "algorithm scale: block size 48, a multiple of 32 up to 1024 is expected");
  REFUSED("misbehave", plugin.target = "cuda",
          "algorithm misbehave: block size 1, a multiple of 32 up to 1024 is expected");
  REFUSED("scale", (algorithm.members = members + 1, algorithm.member_count--),
          "algorithm scale: a kernel has one member SL_EVENTS(), but this one has 0");
  REFUSED("weights", (algorithm.members = members + 1, algorithm.member_count--),
          "algorithm weights: it has no output");
  REFUSED("scale", (algorithm.kind = SL_KIND_SINK, algorithm.sink = &sink, sink.open = NULL),
          "algorithm scale: a sink needs the function consume");
  REFUSED("tally",
          (algorithm.kind = SL_KIND_SOURCE,
           algorithm.source = original->algorithms[sl_algorithm_index(original, "counter")]->source),
          "algorithm tally: a source has no inputs");
  REFUSED("counter",
          (algorithm.kind = SL_KIND_SINK,
           algorithm.sink = original->algorithms[sl_algorithm_index(original, "tally")]->sink),
          "algorithm counter: a sink has no outputs");
  REFUSED(
      "doubled",
      (algorithm.kind = SL_KIND_KERNEL, algorithm.block_threads = 32, algorithm.run = original->algorithms[0]->run),
      "algorithm doubled: member doubled: only constants write ARRAY fields, but collection example_weights has some");
  REFUSED(
      "tally",
      (algorithm.kind = SL_KIND_CONSTANT,
       algorithm.make = original->algorithms[sl_algorithm_index(original, "weights")]->make),
      "algorithm tally: member numbers: ports of a constant have ARRAY fields only, but collection example_numbers has "
      "others");
}

static int run_other(const struct sl_launch *l, const void *host_args, const void *args, uint32_t count) {
  (void)l, (void)host_args, (void)args, (void)count;
  return SL_OK;
}

static int other_family(const struct sl_launch *l, const void *host_args, const void *args, uint32_t count) {
  return run_other(l, host_args, args, count) - 1;
}

static void families(void **state) {
  (void)state;
  static struct sl_algorithm other;
  REFUSED("scale", algorithm.family = "scaling", "algorithm scale: family scaling has no function run_family");
  REFUSED("scale", algorithm.run_family = run_other, "algorithm scale: run_family needs a family name");
  REFUSED("scale", (algorithm.family = "a b", algorithm.run_family = run_other),
          "algorithm scale: the family name \"a b\" is no identifier");
  REFUSED("tally", (algorithm.family = "scaling", algorithm.run_family = run_other),
          "algorithm tally: only kernels can belong to a family");
  begin("scale");
  other = algorithm;
  other.name = "other";
  other.family = algorithm.family = "scaling";
  other.run_family = algorithm.run_family = run_other;
  const struct sl_algorithm *const both[] = {&algorithm, &other};
  plugin.algorithms = both;
  plugin.algorithm_count = 2;
  assert_int_equal(sl_plugin_check(&plugin, reason, sizeof reason), SL_OK);
  other.args_size += 8;
  char expected[128];
  snprintf(expected, sizeof expected, "algorithm other: arguments of %u bytes, but scale of the same family has %u",
           other.args_size, algorithm.args_size);
  assert_refused(expected);
  other.run_family = other_family;
  assert_refused("algorithm other: its run_family differs from that of scale of the same family");
}

static void blocks_of_kernels(void **state) {
  (void)state;
  static struct sl_kernel_block blocks[] = {{"count", 64, 0}, {"fill", 128, 0}};
#define BLOCKS(change) (change, algorithm.blocks = blocks, algorithm.block_count = 2)
  REFUSED(
      "scale", algorithm.block_count = 1,
      "algorithm scale: 1 block sizes of kernels and no table of them, at most 64 are expected, of a kernel algorithm");
  REFUSED("scale", BLOCKS(blocks[1].threads = 33),
          "algorithm scale: block size 33 of kernel fill, a multiple of 32 up to 1024 is expected");
  REFUSED("scale", BLOCKS((blocks[1].threads = 32, blocks[1].kernel = "count")),
          "algorithm scale: two block sizes of kernel count");
  REFUSED("scale", BLOCKS(blocks[1].kernel = "others"),
          "algorithm scale: block size 1 is of \"others\", which is not a kernel name");
  REFUSED("scale", BLOCKS(blocks[1].kernel = NULL),
          "algorithm scale: block size 1 is of \"NULL\", which is not a kernel name");
  blocks[1].kernel = "fill";
  begin("scale");
  BLOCKS((void)0);
  assert_int_equal(sl_plugin_check(&plugin, reason, sizeof reason), SL_OK);
#undef BLOCKS
}

static void event_errors(void **state) {
  (void)state;
  REFUSED("positive", errors[0].code = 0, "algorithm positive: event error 0 has code 0, 1 to 255 are expected");
  REFUSED("positive", errors[0].code = 256, "algorithm positive: event error 0 has code 256, 1 to 255 are expected");
  REFUSED("positive", errors[0].text = "", "algorithm positive: event error 1 has no text");
  REFUSED("positive", (errors[1] = errors[0], algorithm.error_count = 2),
          "algorithm positive: two event errors have code 1");
  REFUSED("positive", algorithm.errors = NULL,
          "algorithm positive: 1 event errors and no table of them, at most 255 are expected");
  REFUSED("positive", algorithm.error_count = 256, "algorithm positive: 256 event errors, at most 255 are expected");
}

static void a_short_buffer_gets_the_beginning_of_the_reason(void **state) {
  (void)state;
  char guarded[20];
  for (size_t size = 1; size < 16; size++) {
    begin("scale");
    member("factor")->default_value = 101;
    memset(guarded, '#', sizeof(guarded));
    assert_int_equal(sl_plugin_check(&plugin, guarded, size), SL_EPLUGIN);
    assert_int_equal(strlen(guarded), size - 1);
    assert_memory_equal(guarded, "algorithm scale: member", size - 1);
    assert_int_equal(guarded[size], '#');
  }
}

int main(void) {
  char path[PATH_MAX + 256];
  void *handle = dlopen(beside_program("plugins_good/example.cpu.so", path), RTLD_NOW | RTLD_LOCAL);
  original = handle ? dlsym(handle, "sluice_plugin") : NULL;
  if (!original) {
    fprintf(stderr, "%s cannot be opened\n", path);
    return 1;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_example_itself_is_accepted),
      cmocka_unit_test(texts_of_the_plugin),
      cmocka_unit_test(names),
      cmocka_unit_test(members_have_valid_offsets),
      cmocka_unit_test(fields_and_collections),
      cmocka_unit_test(ports_and_partners),
      cmocka_unit_test(capacities),
      cmocka_unit_test(list_ports),
      cmocka_unit_test(properties),
      cmocka_unit_test(choices_and_arrays),
      cmocka_unit_test(prepared_values),
      cmocka_unit_test(references),
      cmocka_unit_test(histograms),
      cmocka_unit_test(kinds_and_functions),
      cmocka_unit_test(families),
      cmocka_unit_test(blocks_of_kernels),
      cmocka_unit_test(event_errors),
      cmocka_unit_test(a_short_buffer_gets_the_beginning_of_the_reason),
  };
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  dlclose(handle);
  return failed;
}
