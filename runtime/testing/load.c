/* load.c: gives a test the inputs, properties and events of a case (cases/case.h). */
#include "base/locale.h"
#include "cases/case.h"
#include "plugin/property.h"
#include "testing/harness.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* The collections of case and plugin must be equal, except for the trait, which a case does not have. */
static void check_collection(const struct sl_test *t, const struct sl_case_port *p, uint32_t member) {
  struct sl_collection own = *t->algorithm->members[member].collection;
  char difference[512];
  own.trait = NULL;
  if (sl_collection_compare(p->declared, &own, difference, sizeof difference))
    test_die(t, "input %s of the case is another %s than that of the plugin: %s", p->name, p->declared->name,
             difference);
}

static void load_fields(struct sl_test *t, const struct sl_case_port *p) {
  for (uint32_t f = 0; f < p->collection->field_count; f++) {
    const char *field = p->collection->fields[f].name;
    if (!p->values[f]) continue;
    if (p->producer)
      sl_test_list_input(t, p->name, p->producer, field, p->values[f], p->counts[f]);
    else
      sl_test_input(t, p->name, field, p->values[f], p->counts[f]);
  }
}

static void load_input(struct sl_test *t, const struct sl_case_port *p) {
  if (p->reference) {
    sl_test_field(t, p->name, p->collection, p->reference);
  } else {
    const uint32_t member = test_member_index(t, p->name, SL_MEMBER_IN);
    if (p->producer && !(t->algorithm->members[member].flags & SL_FLAG_LIST))
      test_die(t, "input %s has a producer in the case, and is no list port of the plugin", p->name);
    check_collection(t, p, member);
    for (uint32_t d = 0; d < p->collection->dimension_count; d++)
      sl_test_dimension(t, p->name, p->collection->dimensions[d].name, p->collection->dimensions[d].size);
  }
  load_fields(t, p);
}

static void load_property(struct sl_test *t, const struct sl_case_property *p) {
  const struct sl_member *m = &t->algorithm->members[test_member_index(t, p->name, SL_MEMBER_PROPERTY)];
  if (p->text) {
    sl_test_set_text(t, p->name, p->text);
  } else if (m->count > 0) {
    double *values = test_allocate(p->count, sizeof *values);
    for (uint32_t i = 0; i < p->count; i++) values[i] = strtod(p->items[i], NULL);
    sl_test_set_array(t, p->name, values, p->count);
    free(values);
  } else if (p->is_array) {
    test_die(t, "property %s is no array", p->name);
  } else {
    sl_test_set(t, p->name, strtod(p->items[0], NULL));
    if (m->type == SL_TYPE_u64) /* all digits; a double has fewer */
      sl_property_store(m, 0, 0, strtoull(p->items[0], NULL, 10), t->args);
  }
}

void test_load_case(struct sl_test *t, const struct sl_case *c) {
  for (uint32_t i = 0; i < c->property_count; i++) load_property(t, &c->properties[i]);
  sl_test_events(t, c->event_count);
  if (c->has_list) sl_test_list(t, c->list, c->list_count);
  sl_test_node(t, c->node);
  if (c->block_threads > 0) sl_test_block(t, c->block_threads);
  sl_test_shared(t, (int)c->is_shared);
  for (uint32_t i = 0; i < c->input_count; i++) load_input(t, &c->inputs[i]);
}

/* Reads a case once; it lives as long as the test, because field references refer to its collections. */
static const struct sl_case *open_case(struct sl_test *t, const char *path) {
  char found[PATH_MAX + 256], reason[1024];
  test_find_file(path, found, sizeof found);
  for (uint32_t i = 0; i < t->case_count; i++)
    if (strcmp(t->case_paths[i], found) == 0) return t->cases[i];
  struct sl_case **cases = realloc(t->cases, (t->case_count + 1) * sizeof(struct sl_case *));
  if (cases) t->cases = cases;
  char **paths = realloc(t->case_paths, (t->case_count + 1) * sizeof(char *));
  if (paths) t->case_paths = paths;
  if (!cases || !paths) test_die(t, "no memory for a case");
  if (sl_case_read(found, &t->cases[t->case_count], reason, sizeof reason) < 0) test_die(t, "%s: %s", found, reason);
  t->case_paths[t->case_count] = strdup(found);
  if (!t->case_paths[t->case_count]) test_die(t, "no memory for a case");
  return t->cases[t->case_count++];
}

void sl_test_load(struct sl_test *t, const char *path, const char *input) {
  SL_IN_C_LOCALE();
  const struct sl_case *c = open_case(t, path);
  int found = 0;
  if (!input) {
    test_load_case(t, c);
    return;
  }
  for (uint32_t i = 0; i < c->input_count; i++) {
    if (strcmp(c->inputs[i].name, input) != 0) continue;
    load_input(t, &c->inputs[i]);
    found = 1;
  }
  if (!found) test_die(t, "%s has no input %s", path, input);
}

void test_cases_close(struct sl_test *t) {
  for (uint32_t i = 0; i < t->case_count; i++) {
    sl_case_free(t->cases[i]);
    free(t->case_paths[i]);
  }
  free(t->cases);
  free(t->case_paths);
}
