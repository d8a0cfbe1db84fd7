/* branches_test.c: steps that run concurrently, on the toy plugin. Results equal those of one branch for any graph, any
 * number of branches and any order in which the mock device runs them; concurrent branches do not share memory; the
 * checker finds each missing wait. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs the headers above */
#include "scratch.h"
#include "session.h"
#include "session/inspect.h"

#include <sluice/sluice.h>

#include <cmocka.h>

enum { OUTPUTS_MAX = 64, NODES = 40 };

static const char *device = "mock";

struct outcome {
  uint32_t output_count, branches;
  uint64_t digests[OUTPUTS_MAX], retries;
};

struct mode {
  const char *device, *order;
  uint32_t branches, slots, slice_events, profile, guard;
  const char *more; /* one more setting, or NULL */
};

static struct outcome run(const char *graph, const struct mode *mode) {
  struct outcome r = {0};
  char branches[32];
  const char *sets[] = {"raw.events=120", mode->more ? mode->more : branches, branches, NULL};
  snprintf(branches, sizeof branches, "runtime.branches=%u", mode->branches);
  struct sl_options o = toy_options(graph, mode->device);
  o.sets = sets;
  o.slots = mode->slots;
  o.slice_events = mode->slice_events;
  o.profile = mode->profile;
  o.guard = mode->guard;
  o.digest = 1;
  if (mode->order) setenv("SLUICE_MOCK_ORDER", mode->order, 1);
  struct sl_diagnostics *d = sl_diagnostics_new();
  struct sl_session *session = NULL;
  int status = sl_session_open(&o, d, &session);
  if (status == SL_OK) status = sl_session_run(session);
  unsetenv("SLUICE_MOCK_ORDER");
  char *messages = toy_messages(d);
  if (status < 0) fail_msg("%s\n%s", messages, graph);
  const struct sl_summary *sum = sl_session_summary(session);
  assert_int_equal(sum->events, 120);
  assert_true(sum->output_count <= OUTPUTS_MAX);
  r.output_count = sum->output_count;
  r.branches = sl_session_layout(session)->branch_count;
  r.retries = sum->retries;
  for (uint32_t i = 0; i < r.output_count; i++) r.digests[i] = sum->outputs[i].digest;
  free(messages);
  sl_session_close(session);
  sl_diagnostics_free(d);
  return r;
}

static void expect_same(const char *graph, const struct mode *mode, const struct outcome *reference) {
  const struct outcome r = run(graph, mode);
  assert_int_equal(r.output_count, reference->output_count);
  if (memcmp(r.digests, reference->digests, sizeof r.digests) != 0)
    fail_msg("other results with %u branches, order %s, profile %u, of\n%s", mode->branches,
             mode->order ? mode->order : "last", mode->profile, graph);
}

/* ------------------------------------------------------------------------------------------- random graphs */

static uint32_t next(uint64_t *random, uint32_t below) {
  *random = *random * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*random >> 33) % below;
}

/* Names of earlier nodes of one kind, or of their ports; `raw` is the first of `numbers`. */
struct names {
  char at[NODES + 1][24];
  uint32_t count;
};

static const char *any(const struct names *names, uint64_t *random) { return names->at[next(random, names->count)]; }

static void add(struct names *names, const char *form, uint32_t n) {
  snprintf(names->at[names->count++], sizeof names->at[0], form, n);
}

struct pool {
  struct names numbers, scaled, sums, lists, outputs;
  uint64_t random;
};

/* All events, or the events of one or two lists. */
static void write_list(struct pool *p, FILE *f) {
  const uint32_t lists = p->lists.count > 0 ? next(&p->random, 3) : 0;
  if (lists == 0) fprintf(f, ", events: [] }\n");
  if (lists == 1) fprintf(f, ", events: %s }\n", any(&p->lists, &p->random));
  if (lists == 2) {
    const char *first = any(&p->lists, &p->random), *second = any(&p->lists, &p->random);
    if (first == second)
      fprintf(f, ", events: %s }\n", first);
    else
      fprintf(f, next(&p->random, 2) ? ", events: { any: [%s, %s] } }\n" : ", events: [%s, %s] }\n", first, second);
  }
}

static void write_node(struct pool *p, FILE *f, uint32_t n) {
  fprintf(f, "  n%u: { use: toy.", n);
  switch (next(&p->random, 8)) {
    case 0:
      fprintf(f, "select, in: { numbers: %s }, set: { modulus: %u }", any(&p->numbers, &p->random),
              1 + next(&p->random, 3));
      write_list(p, f);
      add(&p->lists, "n%u.passed", n);
      return;
    case 1:
      fprintf(f, "scale, in: { numbers: %s }, set: { factor: %u }", any(&p->numbers, &p->random),
              1 + next(&p->random, 5));
      add(&p->scaled, "n%u", n);
      break;
    case 2:
      if (p->scaled.count > 0) {
        fprintf(f, "expand, in: { scaled: %s }, set: { per_event: 100 }", any(&p->scaled, &p->random));
        break;
      }
      /* fall through */
    case 3:
      fprintf(f, "sum, in: { numbers: %s }", any(&p->numbers, &p->random));
      add(&p->sums, "n%u.sums", n);
      break;
    case 4:
      fprintf(f, "split, in: { numbers: %s }, set: { copies_per_event: 200 }", any(&p->numbers, &p->random));
      break;
    case 5:
      if (p->sums.count > 0 && p->numbers.count > 1) {
        fprintf(f, "mix, in: { numbers: %s, before: %s }", p->numbers.at[p->numbers.count - 1],
                p->sums.at[p->sums.count - 1]);
        write_list(p, f);
        add(&p->numbers, "n%u.mixed", n);
        add(&p->sums, "n%u.sums", n);
        add(&p->outputs, "n%u.sums", n);
        return;
      }
      /* fall through */
    default:
      fprintf(f, "join, in: { parts: [%s] }", any(&p->numbers, &p->random));
      add(&p->numbers, "n%u", n);
  }
  if (next(&p->random, 2)) add(&p->outputs, "n%u", n);
  write_list(p, f);
}

static char *random_graph(uint64_t seed) {
  struct pool p = {.random = seed};
  char *text;
  size_t size;
  FILE *f = open_memstream(&text, &size);
  for (int i = 0; i < 3; i++) next(&p.random, 2);
  add(&p.numbers, "raw", 0);
  fprintf(f, "sluice: 1\nnodes:\n  raw: { use: toy.source }\n");
  for (uint32_t n = 0; n < NODES; n++) write_node(&p, f, n);
  fprintf(f, "  all: { use: toy.sum, in: { numbers: %s }, events: [] }\noutputs: [all",
          p.numbers.at[p.numbers.count - 1]);
  for (uint32_t o = 0; o < p.outputs.count; o++) fprintf(f, ", %s", p.outputs.at[o]);
  fprintf(f, "]\n");
  fclose(f);
  return text;
}

static void any_number_of_branches_gives_the_results_of_one(void **state) {
  (void)state;
  static const char *const orders[] = {"last", "first", "7", "12345"};
  for (uint64_t seed = 1; seed <= 8; seed++) {
    char *graph = random_graph(seed);
    const struct mode host = {.device = "cpu", .branches = 1, .slots = 1, .slice_events = 40};
    const struct outcome reference = run(graph, &host);
    struct mode mode = {.device = device, .slots = 1, .slice_events = 40, .branches = 1};
    uint32_t most = 0;
    for (; mode.branches <= 8; mode.branches *= 2)
      for (mode.profile = 0; mode.profile < 2; mode.profile++) {
        mode.order = orders[(seed + mode.branches + mode.profile) % 4];
        mode.slots = 1 + seed % 2;
        mode.guard = seed % 4 == 3;
        expect_same(graph, &mode, &reference);
      }
    mode = (struct mode){.device = device, .slots = 1, .slice_events = 40, .branches = 8};
    most = run(graph, &mode).branches;
    assert_true(most > 1);
    free(graph);
  }
}

/* ------------------------------------------------------------------------------------- memory and waits */

/* `added` and `mixed` need `joined` but not each other. If they run one after the other, the second may write over
 * `joined`; if they run concurrently, neither may. */
static void memory_is_not_reused_while_another_branch_may_read_it(void **state) {
  (void)state;
  static const char graph[] =
      "sluice: 1\nnodes:\n  raw: { use: toy.source }\n  joined: { use: toy.join, in: { parts: [raw] } }\n"
      "  added: { use: toy.sum, in: { numbers: joined } }\n  other: { use: toy.sum, in: { numbers: raw } }\n"
      "  mixed: { use: toy.mix, in: { numbers: joined, before: other } }\noutputs: [added, mixed.mixed]\n";
  const struct mode host = {.device = "cpu", .branches = 1, .slots = 1, .slice_events = 40};
  const struct outcome reference = run(graph, &host);
  for (uint32_t branches = 1; branches <= 4; branches++)
    for (uint32_t order = 0; order < 2; order++) {
      const struct mode mode = {device, order ? "first" : "last", branches, 1, 40, 0, 0, NULL};
      expect_same(graph, &mode, &reference);
    }
}

/* A slice that overflows runs again in parts, step by step. */
static void parts_of_slices_run_in_branches(void **state) {
  (void)state;
  static const char graph[] =
      "sluice: 1\nnodes:\n  raw: { use: toy.source }\n  even: { use: toy.select, in: { numbers: raw } }\n"
      "  scaled: { use: toy.scale, in: { numbers: raw } }\n  expanded: { use: toy.expand, in: { scaled: scaled } }\n"
      "  again: { use: toy.scale, in: { numbers: raw }, events: even }\n"
      "  added: { use: toy.sum, in: { numbers: raw }, events: even }\n"
      "  split: { use: toy.split, in: { numbers: raw } }\noutputs: [expanded, again, added, split]\n";
  const struct mode host = {.device = "cpu", .branches = 1, .slots = 1, .slice_events = 40};
  const struct outcome reference = run(graph, &host);
  const struct mode tight = {device, NULL, 4, 2, 40, 0, 0, "expanded.per_event=1"};
  const struct outcome r = run(graph, &tight);
  assert_true(r.retries > 0 && r.branches == 4);
  assert_memory_equal(r.digests, reference.digests, sizeof r.digests);
}

/* Opens a session, and makes a layout that the test may damage. */
static struct sl_session *open_layout(const char *graph, struct sl_diagnostics *d, struct sl_layout **layout) {
  struct sl_options o = toy_options(graph, device);
  o.sets = (const char *const[]){"runtime.branches=4", NULL};
  struct sl_session *session = NULL;
  if (sl_session_open(&o, d, &session) < 0) fail_msg("%s", toy_messages(d));
  const struct sl_layout_request request = {
      .graph = sl_session_graph(session), .events = 40, .branches = 4, .families = 1};
  assert_int_equal(sl_layout_make(&request, d, layout), SL_OK);
  return session;
}

static void each_missing_wait_is_found(void **state) {
  (void)state;
  uint32_t waits = 0;
  for (uint64_t seed = 1; seed <= 6; seed++) {
    char *graph = random_graph(seed);
    struct sl_diagnostics *d = sl_diagnostics_new();
    struct sl_layout *l;
    struct sl_session *session = open_layout(graph, d, &l);
    assert_int_equal(sl_layout_check_order(l, d), SL_OK);
    for (uint32_t i = 0; i < l->step_count; i++)
      for (uint32_t w = 0; w < l->steps[i].wait_count; w++, waits++) {
        const struct sl_step kept = l->steps[i];
        uint32_t *const at = &l->waits[kept.first_wait];
        const uint32_t left_out = at[w], last = at[kept.wait_count - 1];
        at[w] = last;
        l->steps[i].wait_count--;
        const size_t errors = sl_diagnostics_errors(d);
        assert_int_equal(sl_layout_check_order(l, d), SL_EINVAL);
        assert_int_equal(sl_diagnostics_errors(d), errors + 1);
        l->steps[i] = kept;
        at[w] = left_out;
        at[kept.wait_count - 1] = last;
      }
    assert_int_equal(sl_layout_check_order(l, d), SL_OK);
    sl_layout_free(l);
    sl_session_close(session);
    sl_diagnostics_free(d);
    free(graph);
  }
  assert_true(waits > 20);
}

/* Two independent chains: the first node of each has its own memory. */
#define CHAINS                                                                                              \
  "sluice: 1\nnodes:\n  raw: { use: toy.source }\n  left: { use: toy.join, in: { parts: [raw] } }\n"        \
  "  right: { use: toy.join, in: { parts: [raw] } }\n  left_sum: { use: toy.sum, in: { numbers: left } }\n" \
  "  right_sum: { use: toy.sum, in: { numbers: right } }\noutputs: [left_sum, right_sum]\n"

static int32_t storage_named(const struct sl_layout *l, const char *name) {
  for (uint32_t i = 0; i < l->storage_count; i++) {
    char text[200];
    sl_layout_name(l, i, text, sizeof text);
    if (strcmp(text, name) == 0) return (int32_t)i;
  }
  fail_msg("no storage %s", name);
  return SL_NONE;
}

static void memory_used_by_two_branches_at_once_is_found(void **state) {
  (void)state;
  struct sl_diagnostics *d = sl_diagnostics_new();
  struct sl_layout *l;
  struct sl_session *session = open_layout(CHAINS, d, &l);
  assert_int_equal(l->branch_count, 2);
  assert_int_equal(l->wait_count, 0);
  l->storage[storage_named(l, "right.joined.value")].offset = l->storage[storage_named(l, "left.joined.value")].offset;
  assert_int_equal(sl_layout_check_order(l, d), SL_EINVAL);
  char *messages = toy_messages(d);
  if (!strstr(messages,
              "left.joined.value, which is used by left (step 0, branch 0), and right.joined.value, which is "
              "used by right (step 1, branch 1), share memory and may be in use at the same time"))
    fail_msg("%s", messages);
  free(messages);
  sl_layout_free(l);
  sl_session_close(session);
  sl_diagnostics_free(d);
}

/* Independent chains run on separate branches, as long as there are enough branches. */
static void independent_chains_run_on_separate_branches(void **state) {
  (void)state;
  for (uint32_t most = 1; most <= 6; most++) {
    char graph[2048] = "sluice: 1\nnodes:\n  raw: { use: toy.source }\n", outputs[256] = "";
    for (uint32_t c = 0; c < 4; c++) {
      char *const end = graph + strlen(graph);
      snprintf(end, sizeof graph - strlen(graph),
               "  a%u: { use: toy.join, in: { parts: [raw] } }\n  b%u: { use: toy.join, in: { parts: [a%u] } }\n"
               "  c%u: { use: toy.sum, in: { numbers: b%u } }\n",
               c, c, c, c, c);
      snprintf(outputs + strlen(outputs), sizeof outputs - strlen(outputs), "%sc%u", c ? ", " : "", c);
    }
    snprintf(graph + strlen(graph), sizeof graph - strlen(graph), "outputs: [%s]\n", outputs);
    const struct mode mode = {device, NULL, most, 1, 40, 0, 0, NULL};
    assert_int_equal(run(graph, &mode).branches, most < 4 ? most : 4);
  }
}

/* Each branch has its own track for its steps, and the time of a node is computed from its own timestamps. */
static void a_trace_has_a_track_for_each_branch(void **state) {
  (void)state;
  char path[SCRATCH_PATH_MAX], *text = NULL, line[512];
  size_t size = 0;
  scratch_file(path);
  struct sl_options o = toy_options(CHAINS, device);
  o.sets = (const char *const[]){"raw.events=40", "runtime.branches=2", NULL};
  o.slots = 2;
  o.trace_path = path;
  struct sl_diagnostics *d = sl_diagnostics_new();
  struct sl_session *session = NULL;
  assert_int_equal(sl_session_open(&o, d, &session), SL_OK);
  assert_int_equal(sl_session_run(session), SL_OK);
  sl_session_close(session);
  sl_diagnostics_free(d);
  FILE *trace = fopen(path, "r"), *seen = open_memstream(&text, &size);
  assert_non_null(trace);
  while (fgets(line, sizeof line, trace))
    if (strstr(line, "\"right\"") || strstr(line, "branch")) fputs(line, seen);
  fclose(trace);
  fclose(seen);
  assert_non_null(strstr(text, "\"tid\": 7, \"args\": {\"name\": \"slot 0, device, branch 1\"}"));
  assert_non_null(strstr(text, "\"tid\": 8, \"args\": {\"name\": \"slot 1, device, branch 1\"}"));
  assert_true(strstr(text, "\"right\", \"ph\": \"X\", \"pid\": 1, \"tid\": 7") ||
              strstr(text, "\"right\", \"ph\": \"X\", \"pid\": 1, \"tid\": 8"));
  assert_null(strstr(text, "\"right\", \"ph\": \"X\", \"pid\": 1, \"tid\": 2"));
  free(text);
}

/* The plan shows the branch of each step, its waits, and the memory cost of branches. */
static void the_plan_shows_branches_and_their_cost(void **state) {
  (void)state;
  struct sl_options o = toy_options(CHAINS, device);
  struct sl_diagnostics *d = sl_diagnostics_new();
  struct sl_session *session = NULL;
  o.sets = (const char *const[]){"runtime.branches=2", NULL};
  assert_int_equal(sl_session_open(&o, d, &session), SL_OK);
  char *text = NULL;
  size_t size = 0;
  FILE *file = open_memstream(&text, &size);
  sl_session_write_plan(session, file);
  fclose(file);
  char cost[128];
  snprintf(cost, sizeof cost, "2 branches; with one the arena would have %llu bytes\n",
           (unsigned long long)sl_session_arena_of_one_branch(session));
  assert_true(sl_session_arena_of_one_branch(session) <= sl_session_layout(session)->arena_bytes);
  if (!strstr(text, cost) || !strstr(text, "\nright_sum                                             1\n"))
    fail_msg("%s", text);
  free(text);
  sl_session_close(session);
  sl_diagnostics_free(d);
}

/* ------------------------------------------------------------------------------------ default number of branches */

/* Returns the number of branches of CHAINS, with `said` as the setting (0: default) and `memory` bytes on the device
 * (0: unlimited); 0 if that does not fit. */
static uint32_t branches_of(uint32_t said, uint32_t slots, uint32_t slice_events, uint64_t memory) {
  char set[32], bytes[32];
  struct sl_options o = toy_options(CHAINS, "mock");
  snprintf(set, sizeof set, "runtime.branches=%u", said);
  snprintf(bytes, sizeof bytes, "%llu", (unsigned long long)memory);
  o.sets = (const char *const[]){said ? set : NULL, NULL};
  o.slots = slots;
  o.slice_events = slice_events;
  if (memory) setenv("SLUICE_MOCK_MEMORY", bytes, 1);
  struct sl_diagnostics *d = sl_diagnostics_new();
  struct sl_session *session = NULL;
  const int status = sl_session_open(&o, d, &session);
  unsetenv("SLUICE_MOCK_MEMORY");
  const uint32_t branches = session ? sl_session_layout(session)->branch_count : 0;
  assert_int_equal(status, session ? SL_OK : SL_ENOMEM);
  sl_session_close(session);
  sl_diagnostics_free(d);
  return branches;
}

static void slices_that_fill_the_device_have_one_branch(void **state) {
  (void)state;
  assert_int_equal(branches_of(0, 1, 16, 0), 2);
  assert_int_equal(branches_of(0, 1, 7999, 0), 2);
  assert_int_equal(branches_of(0, 1, 8000, 0), 1);
  assert_int_equal(branches_of(0, 4, 2000, 0), 1);
  assert_int_equal(branches_of(2, 4, 2000, 0), 2);
}

static void default_branches_are_dropped_if_memory_is_short(void **state) {
  (void)state;
  uint64_t memory = 1024;
  while (branches_of(1, 2, 1000, memory) == 0) memory += memory / 64;
  assert_int_equal(branches_of(0, 2, 1000, memory), 1);
  assert_int_equal(branches_of(2, 2, 1000, memory), 0);
  while (branches_of(2, 2, 1000, memory) == 0) memory += memory / 64;
  assert_int_equal(branches_of(0, 2, 1000, memory), 2);
}

static void invalid_numbers_of_branches_are_refused(void **state) {
  (void)state;
  static const char *const wrong[] = {"0", "17", "-1", "two", "4x", "", "99999999999999999999"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    char set[64], expected[160];
    snprintf(set, sizeof set, "runtime.branches=%s", wrong[i]);
    snprintf(expected, sizeof expected, "runtime.branches cannot be '%s'; it is a number from 1 to 16", wrong[i]);
    struct sl_options o = toy_options(CHAINS, device);
    o.sets = (const char *const[]){set, NULL};
    struct sl_diagnostics *d = sl_diagnostics_new();
    struct sl_session *session = NULL;
    assert_true(sl_session_open(&o, d, &session) < 0);
    char *messages = toy_messages(d);
    if (!strstr(messages, expected)) fail_msg("%s", messages);
    free(messages);
    sl_diagnostics_free(d);
  }
}

int main(void) {
  if (getenv("SLUICE_TEST_DEVICE")) device = getenv("SLUICE_TEST_DEVICE");
  if (toy_device_is_absent(device)) return 77;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(any_number_of_branches_gives_the_results_of_one),
      cmocka_unit_test(memory_is_not_reused_while_another_branch_may_read_it),
      cmocka_unit_test(parts_of_slices_run_in_branches),
      cmocka_unit_test(each_missing_wait_is_found),
      cmocka_unit_test(memory_used_by_two_branches_at_once_is_found),
      cmocka_unit_test(independent_chains_run_on_separate_branches),
      cmocka_unit_test(a_trace_has_a_track_for_each_branch),
      cmocka_unit_test(the_plan_shows_branches_and_their_cost),
      cmocka_unit_test(slices_that_fill_the_device_have_one_branch),
      cmocka_unit_test(default_branches_are_dropped_if_memory_is_short),
      cmocka_unit_test(invalid_numbers_of_branches_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
