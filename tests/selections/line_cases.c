/* line_cases.c: see line_cases.h. */
#include "line_cases.h"

#include "default_lines.h"
#include "odin/event_model.h"
#include "selections/event_model.h"

enum { EVENTS_MAX = 2 * LINE_CASES_MAX + 2, TEXT_MAX = 256, SUBITEMS = 64 };
enum { PASSES = LINE_PASSED | LINE_BEFORE_SCALE };

/* An event: the values of `table->passes` with one change. */
struct event {
  const char *what, *values;
  const struct line_case *of; /* case that makes the event fail, or NULL */
};
struct events {
  const struct line_table *table;
  struct event at[EVENTS_MAX];
  uint32_t count;
};

static struct events events_of(const struct line_table *table) {
  struct events events = {table, {{"", "", NULL}}, 1};
  for (const struct line_case *c = table->cases; c < table->cases + LINE_CASES_MAX && c->what; c++) {
    events.at[events.count++] = (struct event){c->what, c->passes, NULL};
    events.at[events.count++] = (struct event){c->what, c->fails, c};
  }
  events.at[events.count++] = (struct event){"", "", NULL};
  return events;
}

/* ------------------------------------------------------------------------------------------------------ values */

/* The values of a field in an event, as text, or NULL. */
static const char *values_of(const struct events *events, uint32_t event, const char *name) {
  const size_t length = strlen(name);
  if (!strcmp(events->at[event].what, name)) return events->at[event].values;
  for (const char *at = events->table->passes; at; at = strchr(at, ' ')) {
    at += *at == ' ';
    if (!strncmp(at, name, length) && at[length] == '=') return at + length + 1;
  }
  return NULL;
}

/* The value of item i in `text`, or `otherwise` if there is no text. */
static double value_of(const char *text, uint32_t i, double otherwise) {
  char *end;
  if (!text) return otherwise;
  double value = strtod(text, &end);
  for (uint32_t k = 0; k < i && *end == ','; k++) value = strtod(end + 1, &end);
  assert_true(*end == ',' || *end == ' ' || *end == '\0');
  return value;
}

static uint32_t items_of(const struct events *events, uint32_t event, const char *port) {
  char name[TEXT_MAX];
  (void)snprintf(name, sizeof name, "%s.offsets", port);
  return (uint32_t)value_of(values_of(events, event, name), 0, 1);
}

/* An array of values of one type. */
struct values {
  uint32_t type;
  uint64_t count;
  unsigned char *bytes;
};
static void add(struct values *values, double value) {
#define ADD(name, c_type, size_)                                                  \
  case SL_TYPE_##name: {                                                          \
    const c_type typed = (c_type)value;                                           \
    memcpy(values->bytes + values->count++ * sizeof typed, &typed, sizeof typed); \
    break;                                                                        \
  }
  switch (values->type) {
    SL_TYPES(ADD)
    default:
      fail();
  }
#undef ADD
}

enum { VALUES_MAX = 1 << 20 };
static void give_field(struct sl_test *t, const struct events *events, const char *port, const struct sl_field *field) {
  static unsigned char bytes[VALUES_MAX];
  struct values values = {field->type, 0, bytes};
  const uint32_t shape = field->shape,
                 is_offsets = shape == SL_SHAPE_CODE_OFFSETS || shape == SL_SHAPE_CODE_ITEM_OFFSETS;
  double sum = 0;
  char name[TEXT_MAX];
  (void)snprintf(name, sizeof name, "%s.%s", port, field->name);
  if (is_offsets) add(&values, 0);
  for (uint32_t event = 0; event < events->count; event++) {
    const char *text = values_of(events, event, name);
    uint32_t count = items_of(events, event, port);
    if (shape == SL_SHAPE_CODE_PER_EVENT || shape == SL_SHAPE_CODE_OFFSETS) count = 1;
    if (shape == SL_SHAPE_CODE_ARRAY) count = event == 0 ? 2 : 0;
    if (shape == SL_SHAPE_CODE_PER_SLICE) count = event == 0;
    if (shape == SL_SHAPE_CODE_PER_SUBITEM) count = 0;
    for (uint32_t i = 0; i < count * field->width; i++) {
      const double value = value_of(text, i, shape == SL_SHAPE_CODE_OFFSETS ? 1 : 0);
      add(&values, is_offsets ? sum += value : value);
    }
  }
  if (shape == SL_SHAPE_CODE_PER_SUBITEM)
    for (uint32_t i = 0; i < events->count * SUBITEMS; i++) add(&values, 0);
  sl_test_input(t, port, field->name, bytes, values.count);
}

static void give_port(struct sl_test *t, const struct events *events, const struct line_port *port) {
  for (uint32_t f = 0; f < port->collection->field_count; f++)
    give_field(t, events, port->name, &port->collection->fields[f]);
}

static struct sl_test *test_of(const struct events *events) {
  static const struct line_port odin = {"odin", &odin_events_collection};
  struct sl_test *t = default_line_new(events->table->name);
  sl_test_events(t, events->count);
  give_port(t, events, &odin);
  for (const struct line_port *port = events->table->ports; port->name; port++) give_port(t, events, port);
  return t;
}

/* ------------------------------------------------------------------------------------------------------- cases */

static int is_over_candidates(const struct line_table *table) {
  return table->ports->name && !strcmp(table->ports->name, "candidates");
}

/* Several cases may have the same event and loosen different properties. */
static int passes_when_loosened(const struct line_table *table, const struct line_case *failed, const char *loosened) {
  for (const struct line_case *c = table->cases; c < table->cases + LINE_CASES_MAX && c->what; c++)
    if (!strcmp(c->what, failed->what) && !strcmp(c->fails, failed->fails) && c->loosened &&
        !strcmp(c->loosened, loosened))
      return 1;
  return 0;
}

/* `loosened`: the loosened property and its value, or NULL. */
static void assert_passed(struct sl_test *t, const struct events *events, const char *loosened) {
  const uint32_t has_candidates = is_over_candidates(events->table) ? 1 : 0;
  const int status = sl_test_run(t);
  if (status) fail_msg("%s ends with %d: %s", events->table->name, status, sl_test_messages(t));
  for (uint32_t event = 0; event < events->count; event++) {
    const struct event *e = &events->at[event];
    const int expected = !e->of || (loosened && passes_when_loosened(events->table, e->of, loosened));
    const uint8_t passed = OUTPUT(t, "decisions", "passed", uint8_t)[event];
    if (passed != (expected ? PASSES : 0))
      fail_msg("%s: decision %u for %s %s, with %s", events->table->name, passed, e->what, e->values,
               loosened ? loosened : "its requirements");
    assert_int_equal(OUTPUT(t, "decisions", "offsets", uint32_t)[event + 1], has_candidates * (event + 1));
    if (has_candidates) assert_int_equal(OUTPUT(t, "decisions", "accepted", uint8_t)[event], expected);
  }
}

static void loosen(struct sl_test *t, const char *loosened) {
  char property[TEXT_MAX];
  (void)snprintf(property, sizeof property, "%s", loosened);
  char *value = strchr(property, ' ');
  assert_non_null(value);
  *value++ = '\0';
  line_set(t, property, value);
}

static void make_scales_one(struct sl_test *t) {
  sl_test_set(t, "pre_scale", 1);
  sl_test_set(t, "post_scale", 1);
}

struct sl_test *line_of(const struct line_table *table) {
  const struct events events = events_of(table);
  return test_of(&events);
}

void check_line(const struct line_table *table) {
  const struct events events = events_of(table);
  struct sl_test *t = test_of(&events);
  make_scales_one(t);
  assert_passed(t, &events, NULL);
  sl_test_free(t);
  for (const struct line_case *c = table->cases; c < table->cases + LINE_CASES_MAX && c->what; c++) {
    if (!c->loosened) continue;
    t = test_of(&events);
    make_scales_one(t);
    loosen(t, c->loosened);
    assert_passed(t, &events, c->loosened);
    sl_test_free(t);
  }
}
