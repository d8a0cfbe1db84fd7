/* registry_test.c: plugins that are found, their order, and the reasons for refusing others. */
#define _GNU_SOURCE
#include "plugin/registry.h"

#include "plugin/open.h"
#include "plugin/peek.h"
#include "scratch.h"
#include "support.h"

#include <sys/stat.h>

static const char *const cpu_only[] = {"cpu", NULL};

/* Registry of one or two folders next to this program, and of the default folders. */
static struct sl_registry open_folders(const char *first, const char *second) {
  char paths[2][PATH_MAX + 256];
  const char *folders[] = {beside_program(first, paths[0]), second ? beside_program(second, paths[1]) : NULL, NULL};
  struct sl_registry registry;
  assert_int_equal(sl_registry_open(folders, cpu_only, &registry), 0);
  return registry;
}

static const struct sl_plugin_entry *entry_under(const struct sl_registry *r, const char *folder, const char *file) {
  char path[PATH_MAX + 256], real[PATH_MAX];
  assert_non_null(realpath(beside_program(folder, path), real));
  snprintf(path, sizeof(path), "%s/%s", real, file);
  for (size_t i = 0; i < r->entry_count; i++)
    if (strcmp(r->entries[i].path, path) == 0) return &r->entries[i];
  fail_msg("%s is no entry", path);
  return NULL;
}

static void every_broken_plugin_is_refused_with_its_reason(void **state) {
  (void)state;
  static const struct {
    const char *folder, *reason;
  } cases[] = {
      {"wrong_magic", "magic 656369756c53554d, 656369756c53554c is expected"},
      {"smaller", "descriptor of 64 bytes, 72 are expected"},
      {"larger", "descriptor of 80 bytes, 72 are expected"},
      {"other_abi", "ABI version 9, this runtime supports 14"},
      {"other_name", "the plugin is named good for target cpu, so its file must be named good.cpu.so, not bad.cpu.so"},
      {"other_target",
       "the plugin is named bad for target cuda, so its file must be named bad.cuda.so, not bad.cpu.so"},
      {"outside", "algorithm copy: member factor: ends at byte 132 of the argument struct, which has 128"},
      {"overlap",
       "algorithm copy: member factor: overlaps member out in the argument struct: bytes 88 to 91 and 80 to 119"},
      {"unknown_field", "algorithm copy: member in: reads field valeu, which collection bad_values does not have"},
      {"missing_run", "algorithm copy: a kernel needs the function run"},
      {"default_range", "algorithm copy: member factor: default 11 is not in the range 0 to 10"},
      {"unknown_port", "algorithm copy: member out: items: hits is no port"},
      {"no_capacity", "algorithm copy: member out: the capacity for its items is missing"},
      {"float_capacity", "algorithm copy: member out: items: factor is no SL_U32 property"},
      {"too_many_groups",
       "algorithm copy: member in: collection bad_values has 5 groups of subitems (ITEM_OFFSETS or BYTES), at most 4 "
       "are "
       "expected"},
      {"group_without_capacity", "algorithm copy: member out: the capacity for its subitems of out.second is missing"},
      {"group_not_named",
       "algorithm copy: member out: subitems of out.second: in is not a group of subitems of the port "
       "(PORT.FIELD)"},
      {"group_of_itself",
       "algorithm copy: member out: subitems of out.first: port out.second is not earlier in the table"},
      {"total_mixed", "algorithm copy: member in: collection bad_values mixes TOTAL with other shapes"},
      {"total_type", "algorithm copy: member in: field value is TOTAL of type f32; u32, u64 or i64 is expected"},
      {"total_read",
       "algorithm copy: member in: only outputs of kernels have TOTAL fields, as collection bad_values does"},
      {"names_port", "algorithm copy: member out: names: in is no list port"},
      {"names_label",
       "algorithm copy: member out: names: the label is `field`, which already has a meaning in results"},
      {"names_capacity",
       "algorithm copy: member out: names: totals with the capacity SL_ONE(SL_ENTRIES_TERM(many)) are expected"},
      {"names_field",
       "algorithm copy: member out: names: collection bad_values has no u32 field value with one value per item"},
      {"more_capacities", "algorithm copy: member out: 0 capacities for subitems are expected, more are given"},
      {"string_kernel",
       "algorithm copy: member label: a kernel cannot read a string of the host; use an enumeration, SL_ENUM, or "
       "compute the values that the kernel needs in prepare"},
      {"former_name", "former name good.copy refers to algorithm copie, which the plugin does not have"},
      {"duplicate", "two algorithms are named copy"},
      {"null_algorithms", "1 algorithms and no table of them, 1 to 1024 are expected"},
      {"null_entry", "entry 1 of the table of algorithms is NULL"},
      {"null_members", "algorithm copy: 4 members and no table of them, at most 256 are expected"},
      {"no_symbol", "no symbol sluice_plugin: not a Sluice plugin"},
      {"not_elf", "not a shared object: it does not begin with an ELF header"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    char folder[256];
    snprintf(folder, sizeof(folder), "plugins_bad/%s", cases[i].folder);
    struct sl_registry registry = open_folders(folder, NULL);
    const struct sl_plugin_entry *entry = entry_under(&registry, folder, "bad.cpu.so");
    print_message("%s: %s\n", cases[i].folder, entry->reason ? entry->reason : "loaded");
    assert_int_equal(entry->status, SL_PLUGIN_REFUSED);
    assert_string_equal(entry->reason, cases[i].reason);
    assert_null(entry->plugin);
    sl_registry_close(&registry);
  }
}

static void an_undefined_function_is_found_when_the_plugin_is_opened(void **state) {
  (void)state;
  struct sl_registry registry = open_folders("plugins_bad/undefined", NULL);
  const struct sl_plugin_entry *entry = entry_under(&registry, "plugins_bad/undefined", "bad.cpu.so");
  assert_int_equal(entry->status, SL_PLUGIN_REFUSED);
  assert_non_null(strstr(entry->reason, "cannot be loaded: "));
  assert_non_null(strstr(entry->reason, "nobody_has_this"));
  sl_registry_close(&registry);
}

static void two_layouts_of_a_collection_are_reported_with_both_plugins_and_the_field(void **state) {
  (void)state;
  struct sl_registry registry = open_folders("plugins_bad/layout", NULL);
  assert_int_equal(entry_under(&registry, "plugins_bad/layout", "layout_first.cpu.so")->status, SL_PLUGIN_LOADED);
  const struct sl_plugin_entry *second = entry_under(&registry, "plugins_bad/layout", "layout_second.cpu.so");
  assert_int_equal(second->status, SL_PLUGIN_REFUSED);
  assert_string_equal(second->reason,
                      "collection bad_values differs between layout_second.cpu and layout_first.cpu: field value is "
                      "f64 against f32");
  assert_null(sl_registry_find(&registry, "layout_second.copy", "cpu", NULL));
  sl_registry_close(&registry);
}

static void two_collections_for_one_port_are_reported_with_both_plugins(void **state) {
  (void)state;
  struct sl_registry registry = open_folders("plugins_bad/ports", NULL);
  assert_int_equal(entry_under(&registry, "plugins_bad/ports", "ports_first.cpu.so")->status, SL_PLUGIN_LOADED);
  const struct sl_plugin_entry *second = entry_under(&registry, "plugins_bad/ports", "ports_second.cpu.so");
  assert_int_equal(second->status, SL_PLUGIN_REFUSED);
  assert_string_equal(second->reason,
                      "two collections with the trait bad.values use the port values: other_values of ports_second "
                      "and bad_values of ports_first");
  sl_registry_close(&registry);
}

static void a_truncated_plugin_is_refused_at_every_length(void **state) {
  (void)state;
  char path[PATH_MAX + 256], folder[SCRATCH_PATH_MAX], cut[SCRATCH_PATH_MAX + 32], reason[1024];
  size_t size;
  char *bytes = read_whole_file(beside_program("plugins_good/example.cpu.so", path), &size);
  scratch_folder(folder);
  snprintf(cut, sizeof(cut), "%s/example.cpu.so", folder);
  for (size_t length = 0; length < size; length += length < 4096 ? 61 : 977) {
    void *handle = NULL;
    const struct sl_plugin *plugin = NULL;
    write_whole_file(cut, bytes, length);
    assert_int_equal(sl_plugin_open(cut, &handle, &plugin, reason, sizeof(reason)), SL_EPLUGIN);
    if (strncmp(reason, "truncated: ", 11) && strncmp(reason, "not a shared object", 19))
      if (length >= 64) fail_msg("%zu bytes: %s", length, reason);
    assert_null(handle);
  }
  free(bytes);
}

static void a_file_is_opened_when_its_plugin_is_requested(void **state) {
  (void)state;
  char path[PATH_MAX + 256];
  const char *folders[] = {beside_program("plugins_good", path), NULL};
  struct sl_registry registry;
  assert_int_equal(sl_registry_scan(folders, cpu_only, &registry), 0);
  const struct sl_plugin_entry *entry = entry_under(&registry, "plugins_good", "example.cpu.so");
  for (size_t i = 0; i < registry.entry_count; i++) assert_int_equal(registry.entries[i].status, SL_PLUGIN_UNOPENED);
  assert_null(sl_registry_find(&registry, "example.scale", "cpu", NULL));
  assert_int_equal(sl_registry_load(&registry, "exampl"), 0);
  assert_int_equal(entry->status, SL_PLUGIN_UNOPENED);
  assert_int_equal(sl_registry_load(&registry, "example"), 0);
  assert_int_equal(entry->status, SL_PLUGIN_LOADED);
  assert_non_null(sl_registry_find(&registry, "example.scale", "cpu", NULL));
  for (size_t i = 0; i < registry.entry_count; i++)
    if (&registry.entries[i] != entry) assert_int_equal(registry.entries[i].status, SL_PLUGIN_UNOPENED);
  assert_int_equal(sl_registry_load(&registry, NULL), 0);
  for (size_t i = 0; i < registry.entry_count; i++)
    assert_int_not_equal(registry.entries[i].status, SL_PLUGIN_UNOPENED);
  sl_registry_close(&registry);
}

/* example has a source without `probe` and no collection with a trait; paint has a trait, and store reads collections
 * with it. Plugins that would be refused have no flags; a file that cannot be read may have all of them. */
static void the_tables_of_a_plugin_are_read_from_its_file(void **state) {
  (void)state;
  char path[PATH_MAX + 256];
  assert_int_equal(sl_plugin_peek(beside_program("plugins_good/example.cpu.so", path), NULL, 0), 0);
  assert_int_equal(sl_plugin_peek(beside_program("plugins_open/paint.cpu.so", path), NULL, 0), SL_PEEK_TRAIT);
  assert_int_equal(sl_plugin_peek(beside_program("plugins_open/store.cpu.so", path), NULL, 0), 0);
  assert_int_equal(sl_plugin_peek(beside_program("plugins_bad/not_elf/bad.cpu.so", path), NULL, 0), 0);
  assert_int_equal(sl_plugin_peek(beside_program("plugins_bad/no_symbol/bad.cpu.so", path), NULL, 0), 0);
  assert_int_equal(sl_plugin_peek(beside_program("plugins_bad/other_abi/bad.cpu.so", path), NULL, 0), 0);
  assert_int_equal(sl_plugin_peek("no/such.cpu.so", NULL, 0), SL_PEEK_ALL); /* loading the file reports the error */
}

static void put_bytes(FILE *file, size_t at, const void *bytes, size_t count) {
  assert_int_equal(fseek(file, (long)at, SEEK_SET), 0);
  assert_int_equal(fwrite(bytes, 1, count, file), count);
  assert_int_equal(fflush(file), 0);
}

/* Damages eight bytes at a time: peeking must not read outside of the file. */
static void peeking_into_a_damaged_plugin_ends(void **state) {
  (void)state;
  enum { BYTES = 8 };
  static const unsigned char damages[] = {0x00, 0x7F, 0xFF};
  char path[PATH_MAX + 256], folder[SCRATCH_PATH_MAX], damaged[SCRATCH_PATH_MAX + 32];
  size_t size, peeks = 0;
  char *bytes = read_whole_file(beside_program("plugins_good/example.cpu.so", path), &size);
  scratch_folder(folder);
  snprintf(damaged, sizeof(damaged), "%s/example.cpu.so", folder);
  write_whole_file(damaged, bytes, size);
  FILE *file = fopen(damaged, "r+b");
  assert_non_null(file);
  for (size_t at = 0; at + BYTES <= size; at += at < 1024 ? 4 : 40)
    for (size_t d = 0; d < sizeof(damages); d++, peeks++) {
      unsigned char damage[BYTES];
      memset(damage, damages[d], sizeof(damage));
      put_bytes(file, at, damage, BYTES);
      assert_true(sl_plugin_peek(damaged, NULL, 0) <= SL_PEEK_ALL);
      put_bytes(file, at, bytes + at, BYTES);
    }
  print_message("%zu damaged files\n", peeks);
  fclose(file);
  free(bytes);
}

static void a_missing_folder_is_reported(void **state) {
  (void)state;
  const char *folders[] = {"no/such/place", "/dev/null", NULL};
  struct sl_registry registry;
  assert_int_equal(sl_registry_open(folders, cpu_only, &registry), 0);
  assert_true(registry.entry_count >= 2);
  assert_string_equal(registry.entries[0].path, "no/such/place");
  assert_int_equal(registry.entries[0].status, SL_PLUGIN_REFUSED);
  assert_string_equal(registry.entries[0].reason, "no such folder");
  assert_string_equal(registry.entries[1].path, "/dev/null");
  assert_string_equal(registry.entries[1].reason, "not a folder");
  sl_registry_close(&registry);
}

static void the_first_match_wins_and_later_ones_are_hidden(void **state) {
  (void)state;
  char good[PATH_MAX + 256], folder[SCRATCH_PATH_MAX], copy[SCRATCH_PATH_MAX + 32];
  size_t size;
  char *bytes = read_whole_file(beside_program("plugins_good/example.cpu.so", good), &size);
  scratch_folder(folder);
  snprintf(copy, sizeof(copy), "%s/example.cpu.so", folder);
  write_whole_file(copy, bytes, size);
  free(bytes);

  const char *folders[] = {folder, beside_program("plugins_good", good), NULL};
  struct sl_registry registry;
  assert_int_equal(sl_registry_open(folders, cpu_only, &registry), 0);
  assert_int_equal(registry.entries[0].status, SL_PLUGIN_LOADED);
  assert_string_equal(registry.entries[0].path, copy);
  const struct sl_plugin_entry *hidden = entry_under(&registry, "plugins_good", "example.cpu.so");
  assert_int_equal(hidden->status, SL_PLUGIN_HIDDEN);
  assert_string_equal(hidden->reason, copy);
  sl_registry_close(&registry);
}

static void folders_of_the_environment_come_after_given_folders(void **state) {
  (void)state;
  char good[PATH_MAX + 256], layout[PATH_MAX + 256], list[3 * PATH_MAX], real[PATH_MAX];
  beside_program("plugins_good", good);
  snprintf(list, sizeof(list), "%s::%s", beside_program("plugins_bad/layout", layout), good);
  assert_int_equal(setenv("SLUICE_PLUGIN_PATH", list, 1), 0);
  struct sl_registry registry = open_folders("plugins_good", NULL);
  unsetenv("SLUICE_PLUGIN_PATH");
  assert_true(registry.folder_count >= 2);
  assert_non_null(realpath(good, real));
  assert_string_equal(registry.folders[0], real);
  assert_non_null(realpath(layout, real));
  assert_string_equal(registry.folders[1], real);
  for (size_t i = 2; i < registry.folder_count; i++) assert_string_not_equal(registry.folders[i], registry.folders[0]);
  assert_int_equal(entry_under(&registry, "plugins_good", "example.cpu.so")->status, SL_PLUGIN_LOADED);
  sl_registry_close(&registry);
}

static void a_program_finds_the_plugins_folder_of_its_parent(void **state) {
  (void)state;
  char path[PATH_MAX + 256], real[PATH_MAX];
  if (!realpath(beside_program("../plugins", path), real)) {
    print_message("no plugins folder next to the tests\n");
    skip();
  }
  struct sl_registry registry;
  assert_int_equal(chdir("/"), 0);
  assert_int_equal(sl_registry_open(NULL, cpu_only, &registry), 0);
  size_t found = 0;
  for (size_t i = 0; i < registry.folder_count; i++) found += strcmp(registry.folders[i], real) == 0;
  assert_int_equal(found, 1);
  sl_registry_close(&registry);
}

static void other_targets_are_not_opened(void **state) {
  (void)state;
  static const char *const simt[] = {"simt", NULL};
  char path[PATH_MAX + 256];
  const char *folders[] = {beside_program("plugins_good", path), NULL};
  struct sl_registry registry;
  assert_int_equal(sl_registry_open(folders, simt, &registry), 0);
  for (size_t i = 0; i < registry.entry_count; i++) assert_string_equal(registry.entries[i].file_target, "simt");
  sl_registry_close(&registry);
}

static void algorithms_are_found_by_name_and_target(void **state) {
  (void)state;
  struct sl_registry registry = open_folders("plugins_good", NULL);
  const struct sl_plugin_entry *entry = NULL;
  const struct sl_algorithm *a = sl_registry_find(&registry, "example.scale", "cpu", &entry);
  assert_non_null(a);
  assert_string_equal(a->name, "scale");
  assert_string_equal(entry->plugin->name, "example");
  assert_null(sl_registry_find(&registry, "example.scale", "cuda", NULL));       /* a kernel, there is no such plugin */
  assert_non_null(sl_registry_find(&registry, "example.weights", "cuda", NULL)); /* a constant */
  assert_non_null(sl_registry_find(&registry, "example.counter", "simt", NULL)); /* a source */
  assert_null(sl_registry_find(&registry, "example.", "cpu", NULL));
  assert_null(sl_registry_find(&registry, "example", "cpu", NULL));
  assert_null(sl_registry_find(&registry, "exampl.scale", "cpu", NULL));
  sl_registry_close(&registry);
}

static void a_mistyped_algorithm_is_suggested(void **state) {
  (void)state;
  struct sl_registry registry = open_folders("plugins_good", NULL);
  char buffer[128];
  assert_string_equal(sl_registry_suggest(&registry, "example.wieghts", buffer, sizeof(buffer)), "example.weights");
  assert_string_equal(sl_registry_suggest(&registry, "exampel.tally", buffer, sizeof(buffer)), "example.tally");
  assert_string_equal(sl_registry_suggest(&registry, "misbehave", buffer, sizeof(buffer)), "example.misbehave");
  assert_null(sl_registry_suggest(&registry, "qqqqqqqqqq.zzzzzzzzzzz", buffer, sizeof(buffer)));
  sl_registry_close(&registry);
}

static void collections_are_found_by_name(void **state) {
  (void)state;
  struct sl_registry registry = open_folders("plugins_good", NULL);
  const struct sl_plugin_entry *entry = NULL;
  const struct sl_collection *c = sl_registry_collection(&registry, "example_runs", &entry);
  assert_non_null(c);
  assert_int_equal(c->field_count, 4);
  assert_string_equal(entry->file_name, "example");
  assert_null(sl_registry_collection(&registry, "example_run", NULL));
  sl_registry_close(&registry);
}

/* ------------------------------------------------------------------------------------------ definitions */

static struct sl_field some_fields[2] = {{"offsets", SL_TYPE_u32, SL_SHAPE_OFFSETS, "", ""},
                                         {"x", SL_TYPE_f32, SL_SHAPE_PER_ITEM, "mm", "a place"}};
static const struct sl_collection some = {"some", "doc", some_fields, 2, 0, NULL, NULL};

/* Returns the difference of a changed copy, and checks that the hash changes if there is one. */
static const char *difference_of(const char *name, uint32_t field_count, struct sl_field changed) {
  static char text[256];
  struct sl_field fields[3] = {some_fields[0], changed, some_fields[1]};
  fields[2].name = "y";
  const struct sl_collection other = {name, "another doc", fields, field_count, 0, NULL, NULL};
  text[0] = '\0';
  const int differs = sl_collection_compare(&some, &other, text, sizeof(text));
  assert_int_equal(differs, *text != '\0');
  assert_int_equal(differs, sl_collection_hash(&some) != sl_collection_hash(&other));
  return text;
}

static void definitions_differ_by_layout_and_not_by_text(void **state) {
  (void)state;
  struct sl_field f = some_fields[1];
  f.unit = "cm";
  f.doc = "elsewhere";
  assert_string_equal(difference_of("some", 2, f), "");
  f = some_fields[1];
  assert_string_equal(difference_of("other", 2, f), "the name is some against other");
  assert_string_equal(difference_of("some", 3, f), "field y is missing against there");
  assert_string_equal(difference_of("some", 1, f), "field x is there against missing");
  f.name = "z";
  assert_string_equal(difference_of("some", 2, f), "field 1 is x against z");
  f = some_fields[1];
  f.type = SL_TYPE_i32;
  assert_string_equal(difference_of("some", 2, f), "field x is f32 against i32");
  f = some_fields[1];
  f.shape = SL_SHAPE_CODE_PER_EVENT;
  assert_string_equal(difference_of("some", 2, f), "field x is PER_ITEM against PER_EVENT");
  f = some_fields[1];
  f.width = 3;
  assert_string_equal(difference_of("some", 2, f), "field x has 1 values per entry against 3");
}

static void file_names_are_split_at_the_last_dot(void **state) {
  (void)state;
  struct sl_plugin_file parts;
  assert_int_equal(sl_plugin_file_parse("velo.cpu.so", &parts), 0);
  assert_int_equal(parts.name_length, 4);
  assert_memory_equal(parts.target, "cpu", parts.target_length);
  assert_int_equal(sl_plugin_file_parse("a.b.cpu.so", &parts), 0);
  assert_int_equal(parts.name_length, 3);
  static const char *const none[] = {"", ".so", "velo.so", ".cpu.so", "velo..so", "velo.cpu.so.1", "velo.cpu"};
  for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
    assert_int_not_equal(sl_plugin_file_parse(none[i], &parts), 0);
}

int main(void) {
  unsetenv("SLUICE_PLUGIN_PATH");
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_broken_plugin_is_refused_with_its_reason),
      cmocka_unit_test(an_undefined_function_is_found_when_the_plugin_is_opened),
      cmocka_unit_test(two_layouts_of_a_collection_are_reported_with_both_plugins_and_the_field),
      cmocka_unit_test(two_collections_for_one_port_are_reported_with_both_plugins),
      cmocka_unit_test(a_truncated_plugin_is_refused_at_every_length),
      cmocka_unit_test(a_file_is_opened_when_its_plugin_is_requested),
      cmocka_unit_test(the_tables_of_a_plugin_are_read_from_its_file),
      cmocka_unit_test(peeking_into_a_damaged_plugin_ends),
      cmocka_unit_test(a_missing_folder_is_reported),
      cmocka_unit_test(the_first_match_wins_and_later_ones_are_hidden),
      cmocka_unit_test(folders_of_the_environment_come_after_given_folders),
      cmocka_unit_test(a_program_finds_the_plugins_folder_of_its_parent),
      cmocka_unit_test(other_targets_are_not_opened),
      cmocka_unit_test(algorithms_are_found_by_name_and_target),
      cmocka_unit_test(a_mistyped_algorithm_is_suggested),
      cmocka_unit_test(collections_are_found_by_name),
      cmocka_unit_test(definitions_differ_by_layout_and_not_by_text),
      cmocka_unit_test(file_names_are_split_at_the_last_dot),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
