/* job.c: one run of a case in a child process:
 *
 *   1. the reference, if it is another plugin or target; if items were removed, its outputs must not depend on bytes
 *      beyond its inputs, which would mean that the case contradicts itself
 *   2. the plugin under test; with --race in several orders of threads
 *   3. its outputs compared with those of the reference, or of the case
 *   4. with --guard once more, with other bytes in outputs, scratch and around the inputs
 */
#include "replay/replay.h"

#include <string.h>

enum { OTHER_POISON = 0x5A, RUNS_MAX = 4 };

/* A test, and a copy of its outputs; NULL for a constant. */
struct run {
  struct sl_test *test;
  struct trial_outcome *outcome;
};

static struct run open_run(const struct replay_side *side, const struct sl_case *c, int poison) {
  struct run r = {test_open(side->path, side->algorithm), NULL};
  if (r.test->algorithm->kind != SL_KIND_KERNEL && r.test->algorithm->kind != SL_KIND_CONSTANT)
    test_die(r.test, "it is neither a kernel nor a constant");
  r.test->poison = poison;
  test_load_case(r.test, c);
  return r;
}

static void run_once(struct run *r, const struct sl_case *c, struct sl_child *log) {
  const int is_kernel = r->test->algorithm->kind == SL_KIND_KERNEL;
  int runs = 0;
  do {
    if (runs++ == RUNS_MAX) sl_child_wrong(log, "an output overflows with any amount of room");
    const int status = sl_test_run(r->test);
    const char *line = trial_last_message(r->test);
    if (status != SL_OK)
      sl_child_wrong(log, "%s%sit returned %d (%s)", line, *line ? "; " : "", status, sl_error_text(status));
  } while (is_kernel && trial_grow(r->test));
  const struct trial_case events = {.event_count = c->event_count,
                                    .has_list = c->has_list,
                                    .list_count = c->list_count,
                                    .list = (uint32_t *)(uintptr_t)c->list};
  if (is_kernel) r->outcome = trial_observe(r->test, &events, log, NULL);
}

/* ------------------------------------------------------------------------------------------------------ steps */

/* Replaces the outputs of the case by those of the reference. */
static void run_reference(const struct replay_job *job, struct sl_case *c, struct sl_child *log) {
  struct run r = open_run(job->reference, c, SL_POISON);
  job->result->phase = REPLAY_REFERENCE;
  run_once(&r, c, log);
  if (r.outcome && job->cut && replay_cut_has_fewer_items(job->cut)) {
    struct run other = open_run(job->reference, c, OTHER_POISON);
    run_once(&other, c, log);
    trial_compare(r.outcome, other.outcome, NULL, 1, log);
  }
  replay_take_outputs(c, r.test, r.outcome);
  job->result->phase = REPLAY_SETUP;
}

static void compare(const struct run *r, const struct sl_case *c, struct sl_child *log) {
  if (!c->has_outputs) return;
  if (r->outcome)
    trial_compare(replay_outcome_of(c, r->test->algorithm, log), r->outcome, NULL, 1, log);
  else
    replay_compare_arrays(c, r->test, log);
}

static void run_guarded(const struct replay_job *job, const struct run *first, const struct sl_case *c,
                        struct sl_child *log) {
  job->result->phase = REPLAY_SETUP;
  struct run r = open_run(job->tested, c, OTHER_POISON);
  job->result->phase = REPLAY_RUN;
  sl_child_stage(log, "with other bytes in its outputs and scratch, and beyond the ends of its inputs: ");
  run_once(&r, c, log);
  if (first->outcome) trial_compare(first->outcome, r.outcome, NULL, 1, log);
}

static void run_tested(const struct replay_job *job, const struct sl_case *c, struct replay_settings settings,
                       struct sl_child *log) {
  const struct sl_replay_options *o = job->options;
  struct run r = open_run(job->tested, c, SL_POISON);
  const int is_emulator = strcmp(job->tested->target, "simt") == 0 || o->race;
  sl_test_seed(r.test, settings.seed);
  sl_test_warp(r.test, settings.warp);
  if (o->guard && !r.test->device) trial_open_traps(r.test, log);
  if (is_emulator)
    snprintf(log->conditions, sizeof log->conditions, " (simt.seed=%u, simt.warp=%u)", settings.seed, settings.warp);
  job->result->phase = REPLAY_RUN;
  for (uint32_t i = 0; i < o->repeat; i++) run_once(&r, c, log);
  job->result->phase = REPLAY_COMPARE;
  compare(&r, c, log);
  if (o->guard) run_guarded(job, &r, c, log);
}

static void save(const struct replay_job *job, const struct sl_case *c, struct sl_child *log) {
  uint64_t bytes = 0;
  struct sl_diagnostics *d = sl_diagnostics_new();
  if (!d || sl_case_write(c, job->save_path, &bytes, d) < 0)
    sl_child_not_run(log, "%s", d ? sl_diagnostics_at(d, 0)->message : "out of memory");
  sl_diagnostics_free(d);
}

static void run(void *context, struct sl_child *log) {
  static const struct replay_settings orders[] = {{1, 32}, {2, 32}, {3, 64}};
  const struct replay_job *job = context;
  const struct replay_settings *s = job->settings;
  struct sl_case whole = *job->c, *c = job->cut ? replay_cut_case(job->c, job->cut) : &whole;
  job->result->phase = REPLAY_SETUP;
  if (job->reference) run_reference(job, c, log);
  if (job->save_path) {
    save(job, c, log);
    return;
  }
  const int is_set = s->seed || s->warp;
  const uint32_t count = job->options->race && !is_set ? sizeof orders / sizeof orders[0] : 1;
  for (uint32_t i = 0; i < count; i++) {
    const struct replay_settings settings = {s->seed ? s->seed : orders[i].seed, s->warp ? s->warp : orders[i].warp};
    job->result->phase = REPLAY_SETUP;
    run_tested(job, c, settings, log);
  }
}

int replay_job_run(struct replay_job *job) {
  struct sl_child *log = &job->result->log;
  memset(job->result, 0, sizeof *job->result);
  log->seconds = job->options->seconds;
  sl_child_run(log, run, job);
  if (log->state == SL_CHILD_PASSED) return REPLAY_EQUAL;
  if (log->state == SL_CHILD_NOT_RUN || job->result->phase == REPLAY_SETUP) return REPLAY_NOT_POSSIBLE;
  if (job->result->phase == REPLAY_REFERENCE) return REPLAY_REFERENCE_FAILS;
  return job->result->phase == REPLAY_COMPARE ? REPLAY_DIFFERS : REPLAY_FAILS;
}
