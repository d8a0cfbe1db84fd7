/* replay.c: sl_replay: reads a case, runs it, and reduces it or writes it as a unit test. */
#include "replay/replay.h"

#include "base/locale.h"
#include "base/processor.h"

#include <sluice/text.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEFAULT_SECONDS = 60 };

SL_ANY_PROCESSOR struct sl_replay_options sl_replay_options_default(void) {
  return (struct sl_replay_options){
      .size = sizeof(struct sl_replay_options), .repeat = 1, .seconds = DEFAULT_SECONDS, .device = "cpu"};
}

struct replay {
  const struct sl_replay_options *options;
  struct sl_case *c;
  struct replay_settings settings;
  struct replay_side tested, reference, twin;
  struct replay_job job;
  const char *path;
  struct sl_diagnostics *diagnostics;
  FILE *file;
};

/* --------------------------------------------------------------------------------------------------- options */

static int is_target(const char *text) {
  static const char *const targets[] = {"cpu", "simt", "cuda", "hip"};
  for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++)
    if (strcmp(targets[i], text) == 0) return 1;
  return 0;
}

static int refuse(struct sl_diagnostics *d, const char *hint, const char *text) {
  sl_diagnose(d, SL_ERROR, NULL, NULL, hint, "%s", text);
  return SL_EINVAL;
}

static int check_options(const struct sl_replay_options *o, struct sl_diagnostics *d) {
  const int is_host = strcmp(o->device, "simt") == 0 || strcmp(o->device, "cpu") == 0;
  if (!is_target(o->device)) {
    sl_diagnose(d, SL_ERROR, NULL, NULL, "it is cpu, simt, cuda or hip", "'%s' is not a target", o->device);
    return SL_EINVAL;
  }
  if (o->race && !is_host) return refuse(d, "write --device simt --race", "--race needs the emulator");
  if (o->race && o->guard) return refuse(d, "run it once with each", "--guard and --race cannot be combined");
  if (o->reduced_path && o->test_name)
    return refuse(d, "reduce the case, then write the smaller one as a test", "a case is reduced or written as a test");
  return SL_OK;
}

/* Finds the plugin of the reference for another target that needs no device. Returns 0 if there is none, or if it is
 * under test. */
static int find_twin(const struct replay_side *reference, const struct replay_side *tested, struct replay_side *twin) {
  const char *other = strcmp(reference->target, "cpu") == 0 ? "simt" : "cpu";
  const size_t length = strlen(reference->path), suffix = strlen(reference->target) + strlen("..so");
  *twin = *reference;
  if (length <= suffix) return 0;
  snprintf(twin->target, sizeof twin->target, "%s", other);
  snprintf(twin->path + length - suffix, sizeof twin->path - (length - suffix), ".%s.so", other);
  return access(twin->path, R_OK) == 0 && strcmp(twin->path, tested->path) != 0;
}

static int resolve(struct replay *r) {
  const struct sl_replay_options *o = r->options;
  if (replay_is_constant(r->c) && (o->race || strcmp(o->device, "cpu") != 0))
    return refuse(r->diagnostics, "leave out --device and --race", "the case is a constant, which the host makes");
  int status = replay_resolve(r->c, o->use, o->race ? "race" : o->device, o->plugin_paths, r->diagnostics, &r->tested);
  if (status == SL_OK && o->against) {
    const int names_target = is_target(o->against);
    status = replay_resolve(r->c, names_target ? o->use : o->against, names_target ? o->against : o->device,
                            o->plugin_paths, r->diagnostics, &r->reference);
    snprintf(r->reference.name, sizeof r->reference.name, "%s", o->against);
    if (status == SL_OK && strcmp(r->reference.path, r->tested.path) == 0 &&
        strcmp(r->reference.algorithm, r->tested.algorithm) == 0)
      return refuse(r->diagnostics, "name another file, algorithm or target", "--against names what is run itself");
  }
  if (status == SL_OK) status = replay_set(r->c, o->sets, &r->settings, r->diagnostics);
  return status;
}

/* -------------------------------------------------------------------------------------------------- results */

static void print_result(const struct replay *r, int kind) {
  const struct sl_child *log = &r->job.result->log;
  const struct sl_case *c = r->c;
  const char *other = r->job.reference ? r->reference.name : c->has_outputs ? "the case" : NULL;
  fprintf(r->file, "%s: %s, node %s, %u %s, on %s: ", r->path, c->algorithm, c->node, c->event_count,
          sl_plural(c->event_count, "event", "events"), r->options->race ? "simt with --race" : r->tested.target);
  if (kind == REPLAY_EQUAL && other)
    fprintf(r->file, "equal to %s\n", other);
  else if (kind == REPLAY_EQUAL)
    fprintf(r->file, "ran; the case has no outputs to compare with\n");
  else if (kind == REPLAY_DIFFERS)
    fprintf(r->file, "differs from %s%s: %s\n", other, log->conditions, log->text);
  else if (kind == REPLAY_REFERENCE_FAILS)
    fprintf(r->file, "the reference %s fails: %s\n", other, log->text);
  else
    fprintf(r->file, "fails%s: %s%s\n", log->conditions, log->stage, log->text);
  fflush(r->file);
}

/* Writes the case with the entries of the cut and the outputs of the reference. */
static int save(struct replay *r, struct replay_cut *cut) {
  r->job.cut = cut;
  r->job.save_path = r->options->reduced_path;
  if (replay_job_run(&r->job) == REPLAY_EQUAL) return SL_OK;
  sl_diagnose(r->diagnostics, SL_ERROR, NULL, NULL, NULL, "%s", r->job.result->log.text);
  return SL_EINVAL;
}

static int reduce(struct replay *r, int kind) {
  struct replay_cut cut;
  if (kind != REPLAY_DIFFERS && kind != REPLAY_FAILS)
    return refuse(r->diagnostics, NULL, "there is nothing to reduce, because the case does not fail");
  if (replay_cut_open(r->c, &cut) < 0) return SL_ENOMEM;
  if (cut.why_whole) {
    sl_diagnose(r->diagnostics, SL_ERROR, NULL, NULL, NULL, "the case cannot be reduced, because %s", cut.why_whole);
    return SL_EINVAL;
  }
  const int64_t runs = replay_reduce(&r->job, kind, &cut, r->file);
  if (runs < 0) return (int)runs;
  const int status = save(r, &cut);
  if (status == SL_OK) fprintf(r->file, "%s: written after %lld runs\n", r->options->reduced_path, (long long)runs);
  return status;
}

static int replay(struct replay *r, uint32_t *failed) {
  int status = resolve(r);
  if (status < 0) return status;
  r->job = (struct replay_job){
      .options = r->options,
      .settings = &r->settings,
      .tested = &r->tested,
      .reference = r->options->against ? &r->reference : NULL,
      .twin = r->options->against && find_twin(&r->reference, &r->tested, &r->twin) ? &r->twin : NULL,
      .c = r->c,
      .result = sl_shared_new(sizeof *r->job.result)};
  if (!r->job.result) return SL_ENOMEM;
  const int kind = replay_job_run(&r->job);
  *failed = kind != REPLAY_EQUAL;
  if (kind == REPLAY_NOT_POSSIBLE) {
    sl_diagnose(r->diagnostics, SL_ERROR, NULL, NULL, NULL, "%s with %s: %s", r->path, r->tested.path,
                r->job.result->log.text);
    status = SL_EINVAL;
  } else {
    print_result(r, kind);
    if (r->options->reduced_path) status = reduce(r, kind);
  }
  sl_shared_free(r->job.result, sizeof *r->job.result);
  return status;
}

SL_ANY_PROCESSOR int sl_replay(const struct sl_replay_options *given, const char *path, struct sl_diagnostics *d,
                               FILE *file, uint32_t *failed) {
  if (sl_processor_check(d) < 0) return SL_EINVAL;
  SL_IN_C_LOCALE(SL_ENOMEM);
  char reason[1024];
  *failed = 0;
  int status = sl_diagnose_size(d, "sl_replay_options", given->size, sizeof *given);
  if (status < 0) return status;
  struct replay r = {.options = given, .path = path, .diagnostics = d, .file = file};
  status = check_options(given, d);
  if (status < 0) return status;
  status = sl_case_read(path, &r.c, reason, sizeof reason);
  if (status < 0) {
    sl_diagnose(d, SL_ERROR, NULL, NULL, NULL, "%s: %s", path, reason);
    return status;
  }
  status = given->test_name ? replay_write_test(r.c, given->test_name, d, file) : replay(&r, failed);
  if (status == SL_ENOMEM) sl_diagnose(d, SL_ERROR, NULL, NULL, NULL, "out of memory");
  sl_case_free(r.c);
  return status;
}
