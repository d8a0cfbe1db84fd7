/* kernel.c: runs a kernel on one target in the ways that `sluice test` checks. The first run is the reference for all
 * others; the first finding ends the process.
 */
#include "layout/bind.h"
#include "trial/trap.h"
#include "trial/trial.h"

#include <sluice/text.h>

#include <string.h>

enum { OTHER_POISON = 0x5A, RUNS_MAX = 4, FIRST_SEED = 1, SEEDS = 3 };

struct kernel {
  const struct trial_run *run;
  struct sl_test *test;
  struct sl_child *log;
  const struct trial_outcome *first;
};

/* ----------------------------------------------------------------------------------------- undeclared fields */

struct trapped_field {
  uint32_t member, field;
};
static struct {
  const struct sl_algorithm *algorithm;
  unsigned count;
  struct trapped_field *places; /* one per field of the ports */
} traps;

static const char *trap_text(unsigned place) {
  static char text[256];
  const struct sl_member *m = &traps.algorithm->members[traps.places[place].member];
  snprintf(text, sizeof text, "it reads %s.%s, a field that is not declared as read", m->name,
           m->collection->fields[traps.places[place].field].name);
  return text;
}

static void *trap_of(uint32_t member, uint32_t field) {
  for (unsigned i = 0; i < traps.count; i++)
    if (traps.places[i].member == member && traps.places[i].field == field) return trial_trap_place(i);
  traps.places[traps.count].member = member;
  traps.places[traps.count].field = field;
  return trial_trap_place(traps.count++);
}

void trial_open_traps(struct sl_test *test, struct sl_child *log) {
  unsigned count = 1;
  traps.algorithm = test->algorithm;
  for (uint32_t m = 0; m < test->algorithm->member_count; m++)
    if (test->algorithm->members[m].collection) count += test->algorithm->members[m].collection->field_count;
  traps.places = test_allocate(count, sizeof *traps.places);
  trial_trap_open(log, count, trap_text);
  test_forbid(test, trap_of);
}

/* -------------------------------------------------------------------------------------------- order of threads */

static int is_emulator(const struct kernel *k) { return strcmp(k->test->plugin->target, "simt") == 0; }

/* Sets block size and seeds of the next runs; findings name them. The target cpu has no such choice. */
static void set_order(const struct kernel *k, uint32_t block, uint32_t seed, uint32_t warp) {
  char *text = k->log->conditions;
  const size_t size = sizeof k->log->conditions;
  sl_test_block(k->test, block);
  if (is_emulator(k)) {
    sl_test_seed(k->test, seed);
    sl_test_warp(k->test, warp);
    snprintf(text, size, ", blocks of %u, simt.seed=%u, simt.warp=%u", block, seed, warp);
  } else if (k->test->device) {
    snprintf(text, size, ", blocks of %u", block);
  }
}

/* ------------------------------------------------------------------------------------------------ one run */

const char *trial_last_message(const struct sl_test *t) {
  static char line[512];
  const char *messages = sl_test_messages(t);
  size_t length = strlen(messages);
  while (length > 0 && messages[length - 1] == '\n') length--;
  size_t begin = length;
  while (begin > 0 && messages[begin - 1] != '\n') begin--;
  snprintf(line, sizeof line, "%.*s", (int)(length - begin), messages + begin);
  return strncmp(line, "error: ", 7) == 0 ? line + 7 : line;
}

static void run_test(const struct kernel *k) {
  const int status = sl_test_run(k->test);
  if (status == SL_OK) return;
  const char *line = trial_last_message(k->test);
  sl_child_wrong(k->log, "%s%sit returned %d (%s)", line, *line ? "; " : "", status, sl_error_text(status));
}

static int is_bounded(const struct sl_member *m, uint32_t bound) {
  if (m->kind != SL_MEMBER_OUT || bound >= sl_bound_count(m->collection)) return 0;
  return !(bound == 0 && m->shares) && sl_bound_capacity(m, bound)->terms[0].kind != SL_TERM_NONE;
}

static int has_budget(const struct sl_member *m, uint32_t bound) {
  return is_bounded(m, bound) && sl_budget_term(sl_bound_capacity(m, bound)) != NULL;
}

static uint32_t used_of(const struct sl_test *t, uint32_t member, uint32_t bound) {
  return ((const uint32_t *)t->members[member].used.values)[bound];
}

static void set_budget(struct sl_test *t, uint32_t member, uint32_t bound, uint32_t capacity) {
  t->members[member].budgets[bound] = capacity;
  t->members[member].has_budget[bound] = 1;
}

int trial_grow(struct sl_test *t) {
  int grown = 0;
  for (uint32_t m = 0; m < t->algorithm->member_count; m++)
    for (uint32_t b = 0; b < SL_BOUNDS_MAX; b++) {
      if (!is_bounded(&t->algorithm->members[m], b) || used_of(t, m, b) <= t->members[m].capacities[b]) continue;
      set_budget(t, m, b, used_of(t, m, b));
      grown = 1;
    }
  return grown;
}

static struct trial_outcome *run_case(const struct kernel *k, const struct trial_case *c, struct trial_pool *pool) {
  for (uint32_t m = 0; m < k->test->algorithm->member_count; m++)
    memset(k->test->members[m].has_budget, 0, sizeof k->test->members[m].has_budget);
  trial_give(c, k->test);
  int runs = 1;
  for (run_test(k); trial_grow(k->test); run_test(k))
    if (runs++ == RUNS_MAX) sl_child_wrong(k->log, "an output overflows with any amount of room");
  return trial_observe(k->test, c, k->log, pool);
}

/* ----------------------------------------------------------------------------------------------- the ways */

static void run_again(const struct kernel *k, const char *what) {
  sl_child_stage(k->log, "%s", what);
  trial_compare(k->first, run_case(k, k->run->inputs, NULL), NULL, 1, k->log);
}

static void run_other_poison(const struct kernel *k) {
  k->test->poison = OTHER_POISON;
  run_again(k, "with other bytes in its outputs and scratch before it runs, and beyond the ends of its inputs");
  k->test->poison = SL_POISON;
}

static void run_nothing(const struct kernel *k) {
  const uint32_t no_events[1] = {0};
  struct trial_case none = *k->run->inputs;
  sl_child_stage(k->log, "on no event of the slice");
  none.has_list = 1;
  none.list_count = 0;
  none.list = (uint32_t *)(uintptr_t)no_events;
  run_case(k, &none, NULL);
  if (trial_why_whole(k->run->inputs)) return;
  sl_child_stage(k->log, "on a slice without events");
  none = trial_select(k->run->inputs, no_events, 0);
  trial_give(&none, k->test);
  run_test(k);
}

static struct trial_outcome *run_selected(const struct kernel *k, const uint32_t *events, uint32_t count) {
  const struct trial_case c = trial_select(k->run->inputs, events, count);
  struct trial_outcome *o = run_case(k, &c, NULL);
  trial_compare(k->first, o, events, 0, k->log);
  return o;
}

static void run_other_slices(const struct kernel *k) {
  const uint32_t count = k->run->inputs->event_count;
  if (trial_why_whole(k->run->inputs)) return;
  uint32_t *events = test_allocate(count, sizeof *events);
  sl_child_stage(k->log, "events in reverse order");
  for (uint32_t e = 0; e < count; e++) events[e] = count - 1 - e;
  trial_compare_totals(k->first, run_selected(k, events, count), k->log);
  sl_child_stage(k->log, "one event per slice");
  struct trial_outcome *sums = NULL;
  for (uint32_t e = 0; e < count; e++) {
    struct trial_outcome *o = run_selected(k, &e, 1);
    if (sums) trial_add_totals(sums, o);
    if (!sums) sums = o;
  }
  if (sums) trial_compare_totals(k->first, sums, k->log);
  if (count < 2) return;
  sl_child_stage(k->log, "the second half of the slice, with offsets that do not begin at 0");
  const struct trial_case tail = trial_tail(k->run->inputs, count / 2);
  for (uint32_t e = 0; e < tail.event_count; e++) events[e] = count / 2 + e;
  trial_compare(k->first, run_case(k, &tail, NULL), events, 0, k->log);
}

static void run_every_other(const struct kernel *k) {
  const struct trial_case c = trial_every_other(k->run->inputs);
  sl_child_stage(k->log, "on a list of every other event");
  trial_compare(k->first, run_case(k, &c, NULL), NULL, 0, k->log);
}

/* Runs with room for one entry less than was filled; the kernel must report the overflow and stay within its room. */
static void run_short(const struct kernel *k, const struct trial_case *c, const char *of, uint32_t member,
                      uint32_t bound) {
  const struct sl_member *m = &k->test->algorithm->members[member];
  const struct trial_outcome *o = run_case(k, c, NULL);
  const uint32_t filled = (uint32_t)o->ports[member].bounds[bound];
  if (filled == 0) return;
  char name[160];
  sl_bound_name(m, bound, name, sizeof name);
  sl_child_stage(k->log, "with room for %u %s of %s, one less than %s", filled - 1, bound ? "subitems" : "items", name,
                 of);
  trial_give(c, k->test);
  set_budget(k->test, member, bound, filled - 1);
  run_test(k);
  const uint32_t used = used_of(k->test, member, bound);
  const char *field = bound ? m->collection->fields[sl_group_field(m->collection, bound)].name : "";
  if (used < filled)
    sl_child_wrong(k->log, "it does not report the overflow: %s.%s%sbound.used is %u", m->name, field, bound ? "_" : "",
                   used);
}

/* Runs with other room for the outputs that have a budget: a run changes budgets between slices. */
static void run_other_room(const struct kernel *k, uint32_t times, const char *room) {
  const struct sl_algorithm *a = k->test->algorithm;
  int found = 0;
  sl_child_stage(k->log, "with room for %s in the outputs that have a budget", room);
  trial_give(k->run->inputs, k->test);
  for (uint32_t m = 0; m < a->member_count; m++)
    for (uint32_t b = 0; b < SL_BOUNDS_MAX; b++) {
      if (!has_budget(&a->members[m], b)) continue;
      const uint32_t filled = (uint32_t)k->first->ports[m].bounds[b];
      set_budget(k->test, m, b, filled > 0 ? times * filled : times);
      found = 1;
    }
  if (!found) return;
  run_test(k);
  trial_compare(k->first, trial_observe(k->test, k->run->inputs, k->log, NULL), NULL, 1, k->log);
}

/* The event with the most entries in an output. */
static uint32_t fullest_event(const struct trial_written *w, uint32_t bound, uint32_t event_count) {
  const uint32_t *item_offsets = w->item_offsets[bound];
  uint32_t fullest = 0, most = 0;
  for (uint32_t e = 0; w->offsets && e < event_count; e++) {
    const uint32_t first = w->offsets[e], end = w->offsets[e + 1];
    const uint32_t count = item_offsets ? item_offsets[end] - item_offsets[first] : end - first;
    if (count <= most) continue;
    most = count;
    fullest = e;
  }
  return fullest;
}

/* Runs short of room with the whole slice, where the last event does not fit, and with the fullest event alone. */
static void run_all_short(const struct kernel *k) {
  for (uint32_t m = 0; m < k->test->algorithm->member_count; m++)
    for (uint32_t b = 0; b < SL_BOUNDS_MAX; b++) {
      if (!has_budget(&k->test->algorithm->members[m], b)) continue;
      run_short(k, k->run->inputs, "it filled", m, b);
      if (trial_why_whole(k->run->inputs)) continue;
      const uint32_t event = fullest_event(&k->first->ports[m], b, k->first->event_count);
      const struct trial_case alone = trial_select(k->run->inputs, &event, 1);
      run_short(k, &alone, "its fullest event filled", m, b);
    }
}

/* Runs with other block sizes, seeds and warp sizes, because most errors of a target depend on the order of threads. */
static void run_orders(const struct kernel *k) {
  static const uint32_t blocks[] = {32, 64, 256};
  const uint32_t own = k->run->inputs->node->block_threads;
  for (uint32_t seed = FIRST_SEED; is_emulator(k) && seed < FIRST_SEED + SEEDS; seed++)
    for (uint32_t warp = 32; warp <= 64; warp += 32) {
      set_order(k, own, seed, warp);
      run_again(k, "in another order of threads");
    }
  for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
    if (blocks[i] == own) continue;
    set_order(k, blocks[i], FIRST_SEED + SEEDS - 1, 64);
    run_again(k, "with another block size");
  }
  set_order(k, own, FIRST_SEED, 32);
}

static void run_first(struct kernel *k, int is_cpu) {
  const struct trial_run *r = k->run;
  sl_child_stage(k->log, "as in the graph");
  if (is_cpu) {
    k->first = r->pool->reference = run_case(k, r->inputs, r->pool);
    if (!k->first) k->first = run_case(k, r->inputs, NULL); /* the reference is too large for the shared pool */
    return;
  }
  const struct trial_outcome *own = run_case(k, r->inputs, NULL);
  k->first = r->pool->reference ? r->pool->reference : own;
  if (!r->pool->reference) return;
  sl_child_stage(k->log, "compared with cpu");
  trial_compare(k->first, own, NULL, 1, k->log);
}

static void run_variant(const struct kernel *k) {
  if (!k->test->algorithm->run_tuned) return;
  sl_test_shared(k->test, !k->run->inputs->node->shared);
  run_again(k, k->run->inputs->node->shared ? "its tuned version" : "its shared version");
  sl_test_shared(k->test, (int)k->run->inputs->node->shared);
}

void trial_run_kernel(void *context, struct sl_child *log) {
  const struct trial_run *r = context;
  struct kernel k = {r, test_open(r->plugin_path, r->algorithm), log, NULL};
  trial_refer(r->inputs, k.test);
  const int is_cpu = strcmp(k.test->plugin->target, "cpu") == 0, is_device = k.test->device != NULL;
  if (!is_device) { /* on a device the pointers are null, because there are no traps */
    trial_open_traps(k.test, log);
  }
  set_order(&k, r->inputs->node->block_threads, FIRST_SEED, 32);
  sl_test_shared(k.test, (int)r->inputs->node->shared);
  run_first(&k, is_cpu);
  run_again(&k, "a second time");
  run_other_poison(&k);
  run_nothing(&k);
  if (is_cpu) run_other_slices(&k);
  run_every_other(&k);
  run_all_short(&k);
  run_other_room(&k, 1, "just what it fills");
  run_other_room(&k, 4, "four times what it fills");
  if (is_cpu)
    run_variant(&k);
  else
    run_orders(&k);
  run_again(&k, "once more, after all the others");
  trial_describe_kernel(r, log);
}

void trial_describe_kernel(const struct trial_run *r, struct sl_child *log) {
  const char *why_whole = trial_why_whole(r->inputs);
  char on_list[48] = "";
  if (r->inputs->has_list) snprintf(on_list, sizeof on_list, ", %u on its list,", r->inputs->list_count);
  snprintf(log->text, sizeof log->text, "%u %s%s of %s, node %s%s%s", r->inputs->event_count,
           sl_plural(r->inputs->event_count, "event", "events"), on_list, r->graph->shown, r->graph->node,
           why_whole ? "; in whole slices only: " : "", why_whole ? why_whole : "");
}
