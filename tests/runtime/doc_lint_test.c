/* doc_lint_test.c: `sluice test` refuses doc strings that are empty or refer to another text. */
#include "plugin/tables.h"
#include "support.h"
#include "trial/trial.h"

#include <dlfcn.h>

enum { COPY_MAX = 64 };

static const struct sl_plugin *original;
static struct sl_plugin plugin;
static const struct sl_algorithm *algorithms[COPY_MAX];
static struct sl_algorithm algorithm;
static struct sl_member members[COPY_MAX];
static struct sl_collection collection;
static struct sl_field fields[COPY_MAX];

/* Copies the tables of the example plugin, with the first output of its first algorithm, so that a case can change
 * them. */
static struct sl_member *copy_tables(void) {
  plugin = *original;
  memcpy(algorithms, original->algorithms, original->algorithm_count * sizeof *algorithms);
  algorithm = *original->algorithms[0];
  memcpy(members, algorithm.members, algorithm.member_count * sizeof *members);
  uint32_t out = 0;
  while (members[out].kind != SL_MEMBER_OUT) out++;
  collection = *members[out].collection;
  memcpy(fields, collection.fields, collection.field_count * sizeof *fields);
  collection.fields = fields;
  members[out].collection = &collection;
  algorithm.members = members;
  algorithms[0] = &algorithm;
  plugin.algorithms = algorithms;
  return &members[out];
}

/* The reason for which the changed tables are refused, "" if they are accepted. */
static const char *refusal(void) {
  static char reason[512];
  reason[0] = '\0';
  const int is_refused = trial_lint_docs(&plugin, reason, sizeof reason);
  assert_int_equal(is_refused, reason[0] != '\0');
  return reason;
}

static void docs_of_every_kind_are_checked(void **state) {
  (void)state;
  char expected[200];
  copy_tables();
  assert_string_equal(refusal(), "");
  plugin.doc = "";
  snprintf(expected, sizeof expected, "plugin %s has an empty doc string", plugin.name);
  assert_string_equal(refusal(), expected);
  copy_tables();
  algorithm.doc = "  ";
  snprintf(expected, sizeof expected, "algorithm %s has an empty doc string", algorithm.name);
  assert_string_equal(refusal(), expected);
  const struct sl_member *out = copy_tables();
  members[0].doc = "";
  snprintf(expected, sizeof expected, "%s.%s has an empty doc string", algorithm.name, members[0].name);
  assert_string_equal(refusal(), expected);
  copy_tables();
  collection.doc = "";
  snprintf(expected, sizeof expected, "collection %s has an empty doc string", out->collection->name);
  assert_string_equal(refusal(), expected);
  copy_tables();
  fields[0].doc = "";
  snprintf(expected, sizeof expected, "field %s.%s has an empty doc string", collection.name, fields[0].name);
  assert_string_equal(refusal(), expected);
}

static void references_to_other_texts_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *doc, *phrase; /* phrase NULL: accepted */
  } cases[] = {
      {"likewise", "likewise"},
      {"Likewise, for y", "likewise"},
      {"x, as above", "as above"},
      {"number of these", "of these"},
      {"the least of those, mm", "of those"},
      {"of each", "of each"},
      {"The same in y", "the same"},
      {"hits of each track", NULL},
      {"1: the same seed for all slots", NULL},
      {"number of theses", NULL},
      {"x coordinate, mm", NULL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char expected[300] = "";
    copy_tables();
    fields[0].doc = cases[i].doc;
    if (cases[i].phrase)
      snprintf(expected, sizeof expected, "field %s.%s: its doc string \"%s\" refers to another text (`%s`)",
               collection.name, fields[0].name, cases[i].doc, cases[i].phrase);
    assert_string_equal(refusal(), expected);
  }
}

int main(void) {
  char path[PATH_MAX + 256];
  void *library = dlopen(beside_program("plugins_good/example.cpu.so", path), RTLD_NOW | RTLD_LOCAL);
  original = library ? dlsym(library, "sluice_plugin") : NULL;
  if (!original) {
    fprintf(stderr, "%s cannot be opened\n", path);
    return 1;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(docs_of_every_kind_are_checked),
      cmocka_unit_test(references_to_other_texts_are_refused),
  };
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  dlclose(library);
  return failed;
}
