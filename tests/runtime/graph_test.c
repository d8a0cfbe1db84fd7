/* graph_test.c: the graph reader on the text cases of graph_cases/, and on properties of a graph that its text does not
 * show.
 *
 * Each NAME.yaml is read with the fake registry; NAME.expected contains the diagnostics as printed, then, if the graph
 * is valid, its canonical text and the order of execution. Comments `# args: --set A=B --use C=D --with FILE --device
 * cuda` at the beginning are the command line. Files in subfolders are includes. SLUICE_UPDATE_EXPECTED=1 rewrites the
 * expected files: check the difference before you commit it.
 */
#define _GNU_SOURCE
#include "graph_fake.h"
#include "graph_reading.h"
#include "plugin/tables.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { CASES_MIN = 90, CASES_MAX = 400, OVERRIDES_MAX = 8 };

/* Reading the canonical text of a graph must give the same text, also with comments. */
static void check_canonical_text(const struct sl_graph *graph, const char *text, const char *target) {
  const struct sl_graph_request request = {.path = "canonical.yaml",
                                           .text = text,
                                           .text_bytes = strlen(text),
                                           .target = target,
                                           .registry = fake_registry()};
  struct reading again;
  read_request(&request, &again);
  if (again.graph == NULL) fail_msg("the canonical text is no graph:\n%s\n%s", again.messages, text);
  assert_string_equal(again.graph->text, graph->text);
  end_reading(&again);
}

/* -------------------------------------------------------------------------------------------- text cases */

static char *read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return NULL;
  char *text = NULL;
  size_t bytes = 0, capacity = 0;
  for (int c = fgetc(file); c != EOF; c = fgetc(file)) {
    if (bytes + 1 >= capacity) text = realloc(text, capacity = 2 * capacity + 256);
    assert_non_null(text);
    text[bytes++] = (char)c;
  }
  fclose(file);
  if (text == NULL) text = calloc(1, 1);
  assert_non_null(text);
  text[bytes] = 0;
  return text;
}

struct arguments {
  char *text; /* split into strings that the overrides point to */
  struct sl_override sets[OVERRIDES_MAX], uses[OVERRIDES_MAX];
  const char *with_paths[OVERRIDES_MAX + 1]; /* NULL-terminated */
  uint32_t set_count, use_count, with_count;
  const char *target;
};

static void add_override(struct sl_override *overrides, uint32_t *count, char *text) {
  char *equals = strchr(text, '=');
  assert_non_null(equals);
  assert_true(*count < OVERRIDES_MAX);
  *equals = 0;
  overrides[(*count)++] = (struct sl_override){text, equals + 1};
}

/* Parses the lines "# args: ..." at the beginning of a case; the words are separated by blanks. */
static void parse_arguments(char *text, struct arguments *arguments) {
  static const char prefix[] = "# args:";
  char *line_state = NULL;
  *arguments = (struct arguments){.text = text, .target = "cpu"};
  for (char *line = strtok_r(text, "\n", &line_state); line != NULL; line = strtok_r(NULL, "\n", &line_state)) {
    if (strncmp(line, prefix, sizeof prefix - 1) != 0) continue;
    char *word_state = NULL;
    char *option = strtok_r(line + sizeof prefix - 1, " ", &word_state);
    for (; option != NULL; option = strtok_r(NULL, " ", &word_state)) {
      char *value = strtok_r(NULL, " ", &word_state);
      assert_non_null(value);
      assert_true(arguments->with_count < OVERRIDES_MAX);
      if (strcmp(option, "--set") == 0)
        add_override(arguments->sets, &arguments->set_count, value);
      else if (strcmp(option, "--use") == 0)
        add_override(arguments->uses, &arguments->use_count, value);
      else if (strcmp(option, "--with") == 0)
        arguments->with_paths[arguments->with_count++] = value;
      else if (strcmp(option, "--device") == 0)
        arguments->target = value;
      else
        fail_msg("unknown option %s", option);
    }
  }
}

/* Returns the text for the expected file. */
static char *describe(const struct reading *reading) {
  char *text = NULL;
  size_t bytes = 0;
  FILE *stream = open_memstream(&text, &bytes);
  assert_non_null(stream);
  fputs(reading->messages, stream);
  if (reading->graph != NULL) {
    fprintf(stream, "--- graph\n%s--- order:", reading->graph->text);
    for (uint32_t i = 0; i < reading->graph->order_count; i++)
      fprintf(stream, " %s", reading->graph->nodes[reading->graph->order[i]].name);
    fprintf(stream, "\n--- outputs:");
    for (uint32_t i = 0; i < reading->graph->output_count; i++) fprintf(stream, " %s", reading->graph->outputs[i].name);
    fprintf(stream, "\n");
  }
  fclose(stream);
  return text;
}

static void compare_with_file(const char *path, const char *got) {
  if (getenv("SLUICE_UPDATE_EXPECTED") != NULL) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(got, file);
    fclose(file);
    return;
  }
  char *expected = read_file(path);
  if (expected == NULL) fail_msg("%s is missing", path);
  if (strcmp(expected, got) != 0) print_message("--- expected\n%s--- got\n%s", expected, got);
  assert_string_equal(expected, got);
  free(expected);
}

static void case_gives_expected_text(void **state) {
  const char *name = *state;
  char yaml[300], expected[300];
  snprintf(yaml, sizeof yaml, "%s.yaml", name);
  snprintf(expected, sizeof expected, "%s.expected", name);
  struct arguments arguments;
  char *options = read_file(yaml);
  assert_non_null(options);
  parse_arguments(options, &arguments);
  const struct sl_graph_request request = {.path = yaml,
                                           .with_paths = arguments.with_paths,
                                           .target = arguments.target,
                                           .registry = fake_registry(),
                                           .sets = arguments.sets,
                                           .uses = arguments.uses,
                                           .set_count = arguments.set_count,
                                           .use_count = arguments.use_count,
                                           .origins = 1};
  struct reading reading;
  read_request(&request, &reading);
  char *got = describe(&reading);
  compare_with_file(expected, got);
  if (reading.graph != NULL) {
    check_canonical_text(reading.graph, reading.graph->text, arguments.target);
    check_canonical_text(reading.graph, reading.graph->text_with_origins, arguments.target);
  }
  free(got);
  end_reading(&reading);
  free(options);
}

/* ------------------------------------------------------------------------------------------------ by hand */

#define HEAD                            \
  "sluice: 1\n"                         \
  "nodes:\n"                            \
  "  raw: { use: toy.reader }\n"        \
  "  geometry: { use: toy.geometry }\n" \
  "  hits: { use: toy.decode }\n"       \
  "  sorted: { use: toy.sort }\n"       \
  "  tracks: { use: toy.search }\n"

static const struct sl_node *find_node(const struct sl_graph *graph, const char *name) {
  for (uint32_t i = 0; i < graph->node_count; i++)
    if (strcmp(graph->nodes[i].name, name) == 0) return &graph->nodes[i];
  fail_msg("no node %s", name);
  return NULL;
}

static uint32_t member_index(const struct sl_node *node, const char *name) {
  for (uint32_t m = 0; m < node->algorithm->member_count; m++)
    if (strcmp(node->algorithm->members[m].name, name) == 0) return m;
  fail_msg("no member %s", name);
  return 0;
}

/* The test knows the argument struct of toy.decode (graph_fake.c) only by offsets. */
static void *member_place(const struct sl_node *node, void *args, const char *name) {
  return (char *)args + node->algorithm->members[member_index(node, name)].args_offset;
}

static void properties_are_written_by_type(void **state) {
  (void)state;
  struct reading reading;
  read_text(HEAD
            "  other: { use: toy.decode, set: { near_beam: 0.25, far: -1e300, shift: -100, planes: 0x10,\n"
            "    mask: 0xFFFFFFFFFFFFFFFF, strict: true, label: \"a b\", max_hits: 0o17 } }\n"
            "  cleaned: { use: toy.clean, in: { hits: other } }\n"
            "  filtered: { use: toy.sort, in: { hits: hits } }\n"
            "outputs: [cleaned]\n",
            &reading);
  assert_null(reading.graph); /* two nodes provide hits and sorted hits: sorted and tracks are ambiguous */
  end_reading(&reading);
  read_text(
      "sluice: 1\n"
      "nodes:\n"
      "  raw: { use: toy.reader }\n"
      "  geometry: { use: toy.geometry }\n"
      "  set: { use: toy.decode, set: { near_beam: 0.25, far: -1e300, shift: -100, planes: 0x10,\n"
      "    mask: 0xFFFFFFFFFFFFFFFF, strict: true, label: \"a b\", max_hits: 0o17 } }\n"
      "  plain: { use: toy.decode }\n"
      "outputs: [set, plain]\n",
      &reading);
  assert_non_null(reading.graph);
  const struct sl_node *node = find_node(reading.graph, "set");
  char *args = calloc(1, node->algorithm->args_size);
  assert_non_null(args);
  sl_graph_fill_properties(node, args);
  assert_true(*(float *)member_place(node, args, "near_beam") == 0.25f);
  assert_true(*(double *)member_place(node, args, "far") == -1e300);
  assert_int_equal(*(int32_t *)member_place(node, args, "shift"), -100);
  assert_int_equal(*(uint32_t *)member_place(node, args, "planes"), 16);
  assert_true(*(uint64_t *)member_place(node, args, "mask") == UINT64_MAX);
  assert_int_equal(*(uint32_t *)member_place(node, args, "strict"), 1);
  assert_string_equal(*(const char **)member_place(node, args, "label"), "a b");
  assert_int_equal(*(uint32_t *)member_place(node, args, "max_hits"), 15);
  node = find_node(reading.graph, "plain");
  memset(args, 0, node->algorithm->args_size);
  sl_graph_fill_properties(node, args);
  assert_true(*(float *)member_place(node, args, "near_beam") == 0.1f);
  assert_true(*(double *)member_place(node, args, "far") == 100);
  assert_int_equal(*(int32_t *)member_place(node, args, "shift"), -3);
  assert_int_equal(*(uint32_t *)member_place(node, args, "planes"), 26);
  assert_string_equal(*(const char **)member_place(node, args, "label"), "plain");
  assert_true(node->values[member_index(node, "near_beam")].number == (double)0.1f);
  free(args);
  end_reading(&reading);
}

static void automatic_inputs_are_marked(void **state) {
  (void)state;
  struct reading reading;
  read_text(HEAD "outputs: [tracks]\n", &reading);
  assert_non_null(reading.graph);
  const struct sl_node *sorted = find_node(reading.graph, "sorted"), *tracks = find_node(reading.graph, "tracks");
  assert_int_equal(sorted->inputs[member_index(sorted, "hits")].is_automatic, 1);
  const uint32_t hits = member_index(tracks, "hits"), seeds = member_index(tracks, "seeds");
  assert_int_equal(tracks->inputs[hits].count, 1);
  assert_int_equal(tracks->inputs[hits].ports[0].node, sorted - reading.graph->nodes);
  assert_int_equal(tracks->inputs[seeds].count, 0);
  assert_int_equal(tracks->inputs[seeds].is_automatic, 0);
  end_reading(&reading);
  read_text(HEAD "  more: { use: toy.search, in: { hits: sorted } }\noutputs: [more]\n", &reading);
  assert_non_null(reading.graph);
  const struct sl_node *more = find_node(reading.graph, "more");
  assert_int_equal(more->inputs[member_index(more, "hits")].is_automatic, 0);
  end_reading(&reading);
}

static void liveness_and_positions_agree(void **state) {
  (void)state;
  struct reading reading;
  read_text(HEAD "  unused: { use: toy.clean }\noutputs: [sorted]\n", &reading);
  assert_null(reading.graph); /* `unused` provides hits too, so that `sorted` is ambiguous */
  end_reading(&reading);
  read_text(HEAD "  unused: { use: toy.filter }\noutputs: [sorted]\n", &reading);
  assert_non_null(reading.graph);
  const struct sl_graph *graph = reading.graph;
  assert_int_equal(graph->order_count, 4);
  assert_int_equal(graph->order[0], graph->source);
  for (uint32_t i = 0; i < graph->order_count; i++) {
    assert_int_equal(graph->nodes[graph->order[i]].order, i);
    assert_int_equal(graph->nodes[graph->order[i]].live, 1);
  }
  assert_int_equal(find_node(graph, "unused")->live, 0);
  assert_int_equal(find_node(graph, "tracks")->live, 0);
  assert_non_null(strstr(reading.messages, "no output and no sink depends on them: tracks, unused\n"));
  end_reading(&reading);
}

static void lists_are_sorted_and_unique(void **state) {
  (void)state;
  struct reading reading;
  read_text(
      "sluice: 1\n"
      "nodes:\n"
      "  raw: { use: toy.reader }\n"
      "  lumi: { use: toy.lumi }\n"
      "  geometry: { use: toy.geometry }\n"
      "  hits: { use: toy.decode }\n"
      "  filter: { use: toy.filter }\n"
      "  sorted: { use: toy.sort, events: [filter.failed, lumi, filter.passed, lumi.lumi, filter.failed] }\n"
      "  tracks: { use: toy.search }\n"
      "outputs: [tracks]\n",
      &reading);
  assert_non_null(reading.graph);
  const struct sl_node *sorted = find_node(reading.graph, "sorted"), *tracks = find_node(reading.graph, "tracks");
  assert_int_equal(sorted->list_count, 3);
  assert_string_equal(reading.graph->nodes[sorted->lists[0].node].name, "lumi");
  assert_true(sorted->lists[1].member < sorted->lists[2].member);
  assert_int_equal(tracks->list_count, 3);
  assert_memory_equal(tracks->lists, sorted->lists, 3 * sizeof *sorted->lists);
  assert_int_equal(find_node(reading.graph, "hits")->list_count, 0);
  end_reading(&reading);
}

static void equivalent_graphs_have_equal_text(void **state) {
  (void)state;
  struct reading a, b;
  read_text(HEAD "outputs: [tracks]\n", &a);
  read_text(
      "outputs: [tracks.tracks]\nx-note: [anything]\ndescription: the same\nparameters: { scatter: 0.08 }\n"
      "nodes:\n"
      "  tracks: { use: toy.search, in: { hits: sorted.sorted, seeds: null }, set: { max_scatter: \"${scatter}\" } }\n"
      "  sorted: { block: 128, use: toy.sort, in: { hits: hits }, events: [], set: { variant: tuned } }\n"
      "  hits: { use: toy.decode, in: { banks: raw, geometry: geometry.geometry }, set: { near_beam: 1e-1 } }\n"
      "  geometry: { use: toy.geometry, set: { path: '' } }\n"
      "  raw: { use: toy.reader, set: { seed: 0x1 } }\n"
      "sluice: 1\n",
      &b);
  assert_non_null(a.graph);
  assert_non_null(b.graph);
  assert_string_equal(a.graph->text, b.graph->text);
  assert_string_equal(b.graph->description, "the same");
  end_reading(&a);
  end_reading(&b);
}

/* --------------------------------------------------------------------------------------------------- main */

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* The names of all cases, sorted, without ".yaml". */
static size_t list_cases(char *names[CASES_MAX]) {
  DIR *folder = opendir(".");
  if (folder == NULL) return 0;
  size_t count = 0;
  for (const struct dirent *file = readdir(folder); file != NULL; file = readdir(folder)) {
    const char *suffix = strstr(file->d_name, ".yaml");
    if (suffix == NULL || suffix[5] != 0 || count == CASES_MAX) continue;
    names[count++] = strndup(file->d_name, (size_t)(suffix - file->d_name));
  }
  closedir(folder);
  qsort(names, count, sizeof *names, by_name);
  return count;
}

static const char conditional_graph[] =
    "sluice: 1\n"
    "conditions: { by: event.run, files: \"sets/%04u.txt\" }\n"
    "nodes:\n"
    "  raw: { use: toy.reader }\n"
    "  geometry: { use: toy.geometry, set: { path: \"a/${conditions}/b/${conditions}\" } }\n"
    "  hits: { use: toy.decode }\n"
    "outputs: [hits]\n";

static void the_path_of_conditions_is_put_into_properties_and_not_into_the_text(void **state) {
  (void)state;
  struct reading r;
  char path[PATH_MAX];
  read_text(conditional_graph, &r);
  assert_non_null(r.graph);
  char *text = strdup(r.graph->text);
  const struct sl_node *geometry = &r.graph->nodes[sl_graph_node_index(r.graph, "geometry")];
  const int member = sl_member_index(geometry->algorithm, "path");
  static const struct {
    uint32_t value;
    const char *path, *property;
  } cases[] = {{7, "sets/0007.txt", "a/sets/0007.txt/b/sets/0007.txt"},
               {UINT32_MAX, "sets/4294967295.txt", "a/sets/4294967295.txt/b/sets/4294967295.txt"},
               {0, "sets/0000.txt", "a/sets/0000.txt/b/sets/0000.txt"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_true(sl_graph_conditions_path(r.graph, cases[i].value, path));
    assert_string_equal(path, cases[i].path);
    sl_graph_set_conditions(r.graph, path);
    assert_string_equal(geometry->values[member].text, cases[i].property);
  }
  assert_string_equal(r.graph->text, text);
  free(text);
  end_reading(&r);
}

int main(void) {
  static const struct CMUnitTest by_hand[] = {
      cmocka_unit_test(properties_are_written_by_type),
      cmocka_unit_test(automatic_inputs_are_marked),
      cmocka_unit_test(liveness_and_positions_agree),
      cmocka_unit_test(lists_are_sorted_and_unique),
      cmocka_unit_test(equivalent_graphs_have_equal_text),
      cmocka_unit_test(the_path_of_conditions_is_put_into_properties_and_not_into_the_text),
  };
  static char *names[CASES_MAX];
  static struct CMUnitTest cases[CASES_MAX];
  if (chdir(GRAPH_CASES) != 0) {
    fprintf(stderr, "no folder %s\n", GRAPH_CASES);
    return 1;
  }
  const size_t count = list_cases(names);
  if (count < CASES_MIN) {
    fprintf(stderr, "%zu cases in %s, at least %d are expected\n", count, GRAPH_CASES, CASES_MIN);
    return 1;
  }
  for (size_t i = 0; i < count; i++)
    cases[i] = (struct CMUnitTest){.name = names[i], .test_func = case_gives_expected_text, .initial_state = names[i]};
  const int failed = _cmocka_run_group_tests("graph cases", cases, count, NULL, NULL) +
                     cmocka_run_group_tests_name("graph reader", by_hand, NULL, NULL);
  for (size_t i = 0; i < count; i++) free(names[i]);
  return failed;
}
