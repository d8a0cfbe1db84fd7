/* race.c: `sluice test` with the race detector: one slice of the graph runs up to the node on the emulator that records
 * each memory access of the node, with several seeds and both warp sizes.
 */
#include "observe/checks.h"
#include "trial/trial.h"

struct look {
  const struct sl_session *session;
  const uint8_t *needed;
};

static int before_step(void *context, const struct sl_moment *moment) {
  const struct look *look = context;
  return !trial_is_needed(look->session, look->needed, moment->step);
}

static void run_slice(const struct trial_run *r, const char *const *settings, struct sl_child *log) {
  char reason[256] = "";
  int source_failed = 0;
  uint32_t given = 0;
  while (r->options->sets && r->options->sets[given]) given++;
  const char **sets = test_allocate(given + 3, sizeof *sets);
  for (uint32_t i = 0; i < given; i++) sets[i] = r->options->sets[i];
  sets[given] = settings[0];
  sets[given + 1] = settings[1];
  struct sl_trial_options options = *r->options;
  options.sets = sets;
  struct sl_session *s = trial_race_open(&options, r->graph, log);
  struct look look = {s, trial_needed(s, r->node)};
  sl_session_race_only(s, r->node);
  void *state = trial_source_open(s, reason, sizeof reason);
  if (!state) sl_child_not_run(log, "%s", reason);
  const int status = sl_session_inspect_slice(s, state, before_step, NULL, &look, &source_failed);
  const char *found = sl_race_finding(sl_session_setup(s));
  if (found) sl_child_wrong(log, "%s", found);
  if (status < 0) sl_child_wrong(log, "%s", *trial_first_error(s) ? trial_first_error(s) : sl_error_text(status));
  sl_session_close(s);
}

void trial_run_race(void *context, struct sl_child *log) {
  static const char *const settings[][2] = {
      {"simt.seed=1", "simt.warp=32"}, {"simt.seed=2", "simt.warp=32"}, {"simt.seed=3", "simt.warp=64"}};
  const struct trial_run *r = context;
  for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
    sl_child_stage(log, "%s, %s", settings[i][0], settings[i][1]);
    run_slice(r, settings[i], log);
  }
  trial_describe_kernel(r, log);
}
