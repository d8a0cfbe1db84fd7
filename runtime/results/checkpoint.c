/* checkpoint.c: --checkpoint and --resume.
 *
 * After each rotation:
 *   1. The files that the sinks have completed are on the disk, under their temporary names.
 *   2. The checkpoint is written: the position of the input, sums, and the names of these files. It replaces the one
 *      before it in one step.
 *   3. The files get their final names.
 * A run that continues renames the files that its checkpoint lists, if that was not done. Later temporary files are
 * removed (leftovers.c). A file under its final name is therefore covered by a checkpoint, and none is written twice.
 */
#include "results/checkpoint.h"

#include "base/file_identity.h"
#include "base/locale.h"
#include "base/text_file.h"
#include "execute/delivery.h"
#include "execute/source.h"
#include "input/follow.h"
#include "results/configurations.h"
#include "results/files.h"
#include "results/outputs.h"
#include "results/rotation.h"
#include "results/sums_json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

static const char other_version[] = "not a checkpoint of this version";
static const char head[] = "sluice checkpoint 3\n";

static struct sl_option_log log_of(const struct sl_checkpoint *c) {
  return (struct sl_option_log){c->setup, "--checkpoint"};
}

static const char *path_of(const struct sl_checkpoint *c, char whole[PATH_MAX]) {
  const char *path = c->setup->options.checkpoint_path;
  return c->files ? sl_files_resolve(c->files, path, whole) : path;
}

/* Hash of what names the input: a checkpoint of other files is refused. */
static uint64_t input_hash(const struct sl_checkpoint *c) {
  const struct sl_options *o = &c->setup->options;
  uint64_t hash = o->events;
  for (uint32_t i = 0; o->input_paths && o->input_paths[i]; i++) {
    hash = XXH3_64bits_withSeed(o->input_paths[i], strlen(o->input_paths[i]), hash);
    if (o->input_ranges) hash = XXH3_64bits_withSeed(&o->input_ranges[i], sizeof o->input_ranges[i], hash);
  }
  return hash;
}

/* ----------------------------------------------------------------------------------------------------- writing */

/* A text of any bytes: "LENGTH:TEXT". */
static void put_text(FILE *f, const char *text) { fprintf(f, " %zu:%s", strlen(text), text); }

static void put_errors(FILE *f, const char *what, const struct sl_event_errors *errors) {
  for (uint32_t i = 0; i < errors->count; i++) {
    const struct sl_error_summary *e = &errors->summaries[i];
    fprintf(f, "%s %" PRIu64 " %" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu32 " %" PRIu32, what, e->count, e->first.run,
            e->first.number, e->first.offset, e->first.file, e->first.error);
    put_text(f, e->node);
    put_text(f, e->reason);
    put_text(f, e->first_file ? e->first_file : "");
    fprintf(f, "\n");
  }
}

static void put_outputs(FILE *f, const struct sl_outputs *o) {
  const uint32_t outputs = o->setup->graph->output_count;
  fprintf(f, "digests %" PRIu32 "\n", o->with_digests);
  for (uint32_t i = 0; i < outputs; i++)
    fprintf(f, "output %" PRIu64 " %016" PRIx64 "\n", sl_outputs_items(o, i), sl_outputs_events_digest(o, i));
  fprintf(f, "totals %" PRIu64, o->value_count);
  for (uint64_t v = 0; v < o->value_count; v++) fprintf(f, " %" PRIu64, o->totals[v]);
  fprintf(f, "\n");
}

static void put_outputs_json(struct sl_json *j, const struct sl_outputs *o) {
  const struct sl_setup *s = o->setup;
  sl_json_begin_array(j, "outputs");
  for (uint32_t i = 0; i < s->graph->output_count; i++) {
    const struct sl_output_summary output = {s->graph->outputs[i].name, sl_outputs_items(o, i),
                                             s->options.digest ? sl_outputs_digest(o, i) : 0};
    sl_output_json(&output, j);
  }
  sl_json_end_array(j);
}

/* The sums so far as JSON, for a run that continues and finds no file, so that it has no graph. Returns 0 if there is
 * no memory. */
static int put_sums(FILE *f, const struct sl_checkpoint *c) {
  const struct sl_outputs *o = c->outputs;
  const struct sl_delivery *d = c->delivery;
  const struct sl_configuration_results present = {
      .graph_digest = o->identity->run.graph_digest, .events = d->events, .error_events = d->error_events};
  struct sl_json j;
  sl_json_begin(&j);
  sl_json_begin_object(&j, NULL);
  sl_digest_json("graph_digest", o->identity->run.graph_digest, &j);
  sl_json_unsigned(&j, "events", d->events);
  sl_json_unsigned(&j, "error_events", d->error_events);
  sl_json_unsigned(&j, "rotations", c->rotation->number);
  sl_errors_json("errors", d->errors.summaries, d->errors.count, "byte", &j);
  sl_errors_json("truncations", d->truncations.summaries, d->truncations.count, "byte", &j);
  put_outputs_json(&j, o);
  sl_totals_json(o->summaries, o->total_count, &j);
  sl_configurations_json(c->configurations, &present, &j);
  sl_json_end_object(&j);
  const char *text = sl_json_text(&j);
  if (text) {
    fprintf(f, "sums");
    put_text(f, text);
    fprintf(f, "\n");
  }
  sl_json_free(&j);
  return text != NULL;
}

static void put_followed(FILE *f, struct sl_follow *follow, char *const *names) {
  const struct sl_follow_position at = sl_follow_position_of(follow);
  fprintf(f, "followed %" PRIu64 " %" PRIu64 " %" PRIu32 " %" PRIu32, at.events, at.events_before, at.is_whole,
          at.number);
  put_text(f, at.name);
  fprintf(f, "\n");
  for (size_t i = 0; names[i]; i++) {
    fprintf(f, sl_follow_is_held(follow, names[i]) ? "held" : "processed");
    put_text(f, names[i]);
    fprintf(f, "\n");
  }
}

static void put_complete(FILE *f, const struct sl_rotation *r) {
  for (uint32_t i = 0; i < r->complete_count; i++) {
    fprintf(f, "complete");
    put_text(f, r->complete[i].part);
    put_text(f, r->complete[i].target);
    fprintf(f, "\n");
  }
}

static void put_configurations(FILE *f, const struct sl_configurations *all) {
  for (uint32_t i = 0; i < all->count; i++) {
    const struct sl_configuration_summary *ended = &all->at[i];
    fprintf(f, "configuration %016" PRIx64 " %" PRIu64 " %" PRIu64 " %" PRIu64, ended->graph_digest, ended->first_event,
            ended->events, ended->error_events);
    put_text(f, ended->changes ? ended->changes : "");
    put_text(f, ended->json);
    fprintf(f, "\n");
  }
  fprintf(f, "present %" PRIu64 " %" PRIu64, all->first_event, all->earlier_errors);
  put_text(f, all->changes ? all->changes : "");
  fprintf(f, "\n");
}

/* Returns 0 if there is no memory. */
static int put(FILE *f, const struct sl_checkpoint *c, int state, char *const *names) {
  const struct sl_rotation *r = c->rotation;
  fprintf(f, "%sgraph %016" PRIx64 "\ninput %016" PRIx64 "\n", head, c->outputs->identity->run.graph_digest,
          input_hash(c));
  const int has_sums = c->setup->options.follow ? put_sums(f, c) : 1;
  if (c->setup->options.follow) put_followed(f, c->setup->options.follow, names);
  put_complete(f, r);
  fprintf(f, "end %d\nrotation %" PRIu64 " %" PRIu32 " %d\n", state == SL_RUN_ENDED && !c->setup->options.follow,
          r->number + (state != SL_RUN_CONTINUES), r->run, r->knows_run);
  fprintf(f, "events %" PRIu64 " %" PRIu64 "\nposition %" PRIu32 " %" PRIu64 "\n", c->delivery->events,
          c->delivery->error_events, c->file, c->events);
  put_configurations(f, c->configurations);
  put_outputs(f, c->outputs);
  put_errors(f, "error", &c->delivery->errors);
  put_errors(f, "truncation", &c->delivery->truncations);
  return has_sums;
}

static int write_text(const struct sl_checkpoint *c, const char *text, size_t bytes) {
  struct sl_output *file = NULL;
  char whole[PATH_MAX], check[32];
  snprintf(check, sizeof check, "check %016" PRIx64 "\n", (uint64_t)XXH3_64bits(text, bytes));
  struct sl_option_log log = log_of(c);
  int status = sl_output_open(path_of(c, whole), 0, sl_option_report, &log, &file);
  if (status == SL_OK) status = sl_output_add(file, text, bytes);
  if (status == SL_OK) status = sl_output_add(file, check, strlen(check));
  if (status == SL_OK) status = sl_output_finish(file);
  sl_output_close(file);
  return status;
}

int sl_checkpoint_write(const struct sl_checkpoint *c, int state) {
  struct sl_rotation *r = c->rotation;
  struct sl_text_file text;
  if (!c->setup->options.checkpoint_path) return SL_OK;
  char **names = c->setup->options.follow ? sl_follow_processed(c->setup->options.follow) : NULL;
  int failed = !sl_text_open(&text) || (c->setup->options.follow && !names);
  if (!failed) failed = !put(text.file, c, state, names);
  failed |= sl_text_close(&text) < 0;
  for (size_t i = 0; names && names[i]; i++) free(names[i]);
  free(names);
  int status = failed ? SL_ENOMEM : write_text(c, text.text, text.bytes);
  free(text.text);
  struct sl_option_log log = log_of(c);
  for (uint32_t i = 0; i < r->complete_count; i++) {
    if (status == SL_OK) status = sl_output_publish(&r->complete[i], sl_option_report, &log);
    sl_output_complete_free(&r->complete[i]);
  }
  r->complete_count = 0;
  if (status == SL_OK && c->setup->options.follow) sl_follow_release(c->setup->options.follow);
  return status;
}

/* ----------------------------------------------------------------------------------------------------- reading */

/* The text of a checkpoint; `at` becomes NULL at the first value that is not as expected. */
struct reader {
  char *text;
  const char *at;
};

static int skip(struct reader *r, const char *word) {
  const size_t length = strlen(word);
  if (!r->at || strncmp(r->at, word, length) != 0) return 0;
  r->at += length;
  return 1;
}

static void expect(struct reader *r, const char *word) {
  if (!skip(r, word)) r->at = NULL;
}

static uint64_t number(struct reader *r, int base) {
  char *end = NULL;
  if (!r->at) return 0;
  const uint64_t value = strtoull(r->at, &end, base);
  r->at = end == r->at ? NULL : end;
  return value;
}

/* Returns the text, to be freed by the caller, or NULL. */
static char *text_value(struct reader *r) {
  const uint64_t length = number(r, 10);
  expect(r, ":");
  if (!r->at || length > strlen(r->at)) {
    r->at = NULL;
    return NULL;
  }
  char *text = strndup(r->at, length);
  r->at += length;
  return text;
}

static int refuse(const struct sl_checkpoint *c, const char *hint, const char *why) {
  sl_diagnose(c->setup->diagnostics, SL_ERROR, NULL, NULL, hint, "--resume: %s: %s", c->setup->options.checkpoint_path,
              why);
  return SL_EINVAL;
}

/* Reads the whole file: 1; 0 if there is none; or an error. */
static int load(const struct sl_checkpoint *c, struct reader *r) {
  char whole[PATH_MAX];
  struct stat about;
  FILE *file = fopen(path_of(c, whole), "rbe");
  if (!file && errno == ENOENT) return 0;
  if (!file || fstat(fileno(file), &about) != 0 || !S_ISREG(about.st_mode)) {
    const char *why = file ? "not a regular file" : strerror(errno);
    if (file) fclose(file);
    return refuse(c, NULL, why);
  }
  const size_t bytes = (size_t)about.st_size;
  r->text = (char *)malloc(bytes + 1);
  const int is_read = r->text && fread(r->text, 1, bytes, file) == bytes;
  fclose(file);
  if (!is_read) return r->text ? refuse(c, NULL, "cannot be read") : SL_ENOMEM;
  r->text[bytes] = '\0';
  const size_t check = sizeof "check 0123456789abcdef\n" - 1;
  uint64_t found = 0;
  if (bytes < check || strlen(r->text) != bytes || sscanf(r->text + bytes - check, "check %" SCNx64, &found) != 1 ||
      found != XXH3_64bits(r->text, bytes - check))
    return refuse(c, "remove it to begin again", "not a whole checkpoint");
  r->at = r->text;
  return 1;
}

static int read_error(struct reader *r, struct sl_event_errors *errors) {
  struct sl_error_summary e = {.count = number(r, 10)};
  e.first.run = (uint32_t)number(r, 10);
  e.first.number = number(r, 10);
  e.first.offset = number(r, 10);
  e.first.file = (uint32_t)number(r, 10);
  e.first.error = (uint32_t)number(r, 10);
  char *node = text_value(r), *reason = text_value(r), *path = text_value(r);
  expect(r, "\n");
  struct sl_error_summary *larger = realloc(errors->summaries, (errors->count + 1) * sizeof *larger);
  if (larger) errors->summaries = larger;
  if (!larger || !node || !reason || !path) {
    free(node);
    free(reason);
    free(path);
    r->at = NULL;
    return SL_ENOMEM;
  }
  if (!*path) {
    free(path);
    path = NULL;
  }
  e.node = node;
  e.reason = reason;
  e.first_file = path;
  errors->summaries[errors->count++] = e;
  return SL_OK;
}

static int read_outputs(const struct sl_checkpoint *c, struct reader *r) {
  struct sl_outputs *o = c->outputs;
  expect(r, "digests ");
  const uint64_t with_digests = number(r, 10);
  expect(r, "\n");
  if (r->at && o->with_digests && !with_digests)
    return refuse(c, "leave --digest out, or remove the file to begin again", "of a run without --digest");
  for (uint32_t i = 0; r->at && i < c->setup->graph->output_count; i++) {
    expect(r, "output ");
    const uint64_t items = number(r, 10), digest = number(r, 16);
    expect(r, "\n");
    sl_outputs_resume(o, i, items, digest);
  }
  expect(r, "totals ");
  if (number(r, 10) != o->value_count) r->at = NULL;
  for (uint64_t v = 0; r->at && v < o->value_count; v++) o->totals[v] = number(r, 10);
  expect(r, "\n");
  return SL_OK;
}

static int read_configurations(struct sl_configurations *all, struct reader *r) {
  int status = SL_OK;
  while (status == SL_OK && skip(r, "configuration ")) {
    struct sl_configuration_summary ended = {.graph_digest = number(r, 16), .first_event = 0};
    ended.first_event = number(r, 10);
    ended.events = number(r, 10);
    ended.error_events = number(r, 10);
    ended.changes = text_value(r);
    ended.json = text_value(r);
    expect(r, "\n");
    status = sl_configurations_add(all, &ended);
  }
  expect(r, "present ");
  all->first_event = number(r, 10);
  all->earlier_errors = number(r, 10);
  all->changes = text_value(r);
  expect(r, "\n");
  return status;
}

/* Gives the files that were complete their names, if the earlier run did not. */
static int publish(const struct sl_checkpoint *c, struct reader *r) {
  struct sl_option_log log = log_of(c);
  int status = SL_OK;
  while (skip(r, "complete ") && status == SL_OK) {
    struct stat about;
    struct sl_output_complete file = {.part = text_value(r)};
    file.target = text_value(r);
    expect(r, "\n");
    if (r->at && file.part && file.target && lstat(file.part, &about) == 0) {
      file.device = about.st_dev;
      file.inode = about.st_ino;
      status = access(file.target, F_OK) == 0 ? SL_OK : sl_output_publish(&file, sl_option_report, &log);
    }
    sl_output_complete_free(&file);
  }
  return status;
}

static void free_names(char **names, size_t count) {
  for (size_t i = 0; i < count; i++) free(names[i]);
  free(names);
}

/* `follow` NULL: nothing is done with what is read. */
static int read_followed(struct sl_follow *follow, struct reader *r) {
  struct sl_follow_position at = {.events = number(r, 10)};
  at.events_before = number(r, 10);
  at.is_whole = (uint32_t)number(r, 10);
  at.number = (uint32_t)number(r, 10);
  char *name = text_value(r), **names = NULL;
  size_t count = 0;
  snprintf(at.name, sizeof at.name, "%s", name ? name : "");
  free(name);
  expect(r, "\n");
  for (int is_held = 0; (is_held = skip(r, "held ")) || skip(r, "processed ");) {
    char **larger = realloc(names, (count + 2) * sizeof *larger);
    if (!larger) {
      free_names(names, count);
      return SL_ENOMEM;
    }
    names = larger;
    names[count] = text_value(r);
    if (names[count] && follow && is_held) sl_follow_move(follow, names[count]);
    if (names[count]) names[++count] = NULL;
    expect(r, "\n");
  }
  const int status = r->at && follow ? sl_follow_resume(follow, &at, (const char *const *)names) : SL_OK;
  free_names(names, count);
  return status;
}

/* Reads the begin: digests of graph and input. Returns the sums as JSON, to be freed by the caller; NULL: there are
 * none. */
static char *read_head(struct reader *r, uint64_t *graph, uint64_t *input) {
  expect(r, head);
  expect(r, "graph ");
  *graph = number(r, 16);
  expect(r, "\ninput ");
  *input = number(r, 16);
  expect(r, "\n");
  char *sums = skip(r, "sums ") ? text_value(r) : NULL;
  if (sums) expect(r, "\n");
  return sums;
}

/* Sets the state of the run. */
static int restore(struct sl_checkpoint *c, struct reader *r) {
  const char *remove = "remove the file to begin again, or run the same command";
  uint64_t graph, input;
  free(read_head(r, &graph, &input));
  if (r->at && graph != c->outputs->identity->run.graph_digest) {
    char why[160];
    snprintf(why, sizeof why,
             "of a run of another graph: its last configuration is %016" PRIx64 ", this one is %016" PRIx64, graph,
             c->outputs->identity->run.graph_digest);
    return refuse(c, "run with the graph, --with and --set of that configuration, or remove the file to begin again",
                  why);
  }
  if (r->at && input != input_hash(c)) return refuse(c, remove, "of a run over other input");
  int status = skip(r, "followed ") ? read_followed(NULL, r) : SL_OK;
  if (status == SL_OK) status = publish(c, r);
  expect(r, "end ");
  c->is_complete = number(r, 10) == 1;
  expect(r, "\nrotation ");
  c->rotation->number = number(r, 10);
  c->rotation->run = (uint32_t)number(r, 10);
  c->rotation->knows_run = (int)number(r, 10);
  expect(r, "\nevents ");
  c->delivery->events = c->rotation->first_event = number(r, 10);
  c->delivery->error_events = number(r, 10);
  expect(r, "\nposition ");
  c->file = (uint32_t)number(r, 10);
  c->events = number(r, 10);
  expect(r, "\n");
  if (status == SL_OK) status = read_configurations(c->configurations, r);
  if (status == SL_OK) status = read_outputs(c, r);
  while (status == SL_OK && skip(r, "error ")) status = read_error(r, &c->delivery->errors);
  while (status == SL_OK && skip(r, "truncation ")) status = read_error(r, &c->delivery->truncations);
  expect(r, "check ");
  return r->at || status < 0 ? status : refuse(c, remove, other_version);
}

/* ---------------------------------------------------------------------------------------------------- resuming */

/* Continues to read at the position. */
static void seek(const struct sl_checkpoint *c) {
  struct sl_reading *r = c->reading;
  c->delivery->earlier_events = c->delivery->events;
  if (!c->setup->options.follow) {
    r->first_file = c->file;
    r->skip_events = c->events;
  }
  r->events = r->earlier_events = c->delivery->events - r->skip_events;
}

static int input_fault(const struct sl_checkpoint *c) {
  const struct sl_options *o = &c->setup->options;
  const char *why = NULL;
  if (!o->rotate)
    why = "needs --rotate: a checkpoint is written when the sinks begin new files";
  else if (sl_file_is_stdout(o->checkpoint_path))
    why = "needs a file, which is replaced after each rotation";
  else if (o->feed)
    why = "is not possible with events from memory, which are gone when the process ends";
  else if (c->setup->is_received)
    why = "is not possible with messages, which are gone when the process ends";
  else if (o->repeat > 1)
    why = "is not possible with --repeat";
  for (uint32_t i = 0; !why && !o->follow && o->input_paths && o->input_paths[i]; i++) {
    struct stat about;
    if (strcmp(o->input_paths[i], "-") == 0 || (stat(o->input_paths[i], &about) == 0 && !S_ISREG(about.st_mode)))
      why = "is possible with files only: a pipe or socket cannot be read again";
  }
  if (!why) return SL_OK;
  sl_diagnose(c->setup->diagnostics, SL_ERROR, NULL, NULL, NULL, "--checkpoint %s", why);
  return SL_EINVAL;
}

static int after_rotation(struct sl_checkpoint *c) { return sl_checkpoint_write(c, SL_RUN_CONTINUES); }

int sl_checkpoint_open(struct sl_checkpoint *c) {
  const struct sl_options *o = &c->setup->options;
  struct reader r = {NULL, NULL};
  char whole[PATH_MAX];
  c->rotation->after = after_rotation;
  if (!o->checkpoint_path && o->resume) {
    sl_diagnose(c->setup->diagnostics, SL_ERROR, NULL, NULL, NULL, "--resume needs --checkpoint FILE");
    return SL_EINVAL;
  }
  if (!o->checkpoint_path || o->inspect_only) return SL_OK;
  int status = input_fault(c);
  if (status == SL_OK && !o->resume && access(path_of(c, whole), F_OK) == 0) {
    sl_diagnose(c->setup->diagnostics, SL_ERROR, NULL, NULL,
                "--resume continues that run; remove the file to begin again", "--checkpoint %s: it exists",
                o->checkpoint_path);
    status = SL_EINVAL;
  }
  if (status == SL_OK && o->follow) sl_follow_hold(o->follow);
  if (status < 0 || !o->resume) return status;
  status = load(c, &r);
  if (status == 0)
    sl_diagnose(c->setup->diagnostics, SL_NOTE, NULL, NULL, NULL,
                "--resume: there is no %s: the run begins at the beginning", o->checkpoint_path);
  if (status == 1 && o->follow && !sl_follow_is_resumed(o->follow)) {
    sl_diagnose(c->setup->diagnostics, SL_ERROR, NULL, NULL, "call sl_follow_continue before sl_follow_wait",
                "--resume: the followed folder does not continue where %s ends", o->checkpoint_path);
    status = SL_EINVAL;
  }
  if (status == 1) {
    status = restore(c, &r);
    if (status == SL_OK) seek(c);
  }
  free(r.text);
  return status;
}

int sl_follow_continue(struct sl_follow *follow, const char *path, struct sl_diagnostics *d, char **sums) {
  SL_IN_C_LOCALE(SL_ENOMEM);
  struct sl_setup setup = {.options = {.checkpoint_path = path}, .diagnostics = d};
  const struct sl_checkpoint c = {.setup = &setup};
  struct reader r = {NULL, NULL};
  uint64_t graph, input;
  char *found = NULL;
  int status = load(&c, &r);
  if (status == 1) {
    found = read_head(&r, &graph, &input);
    status = skip(&r, "followed ") ? read_followed(follow, &r)
                                   : refuse(&c, "remove the file to begin again",
                                            r.at ? "of a run that did not follow a folder" : other_version);
    if (status == SL_OK) status = publish(&c, &r);
  }
  if (sums) *sums = found;
  if (!sums) free(found);
  free(r.text);
  return status;
}

static int deliver(void *context, struct sl_slot *slot, const struct sl_batch *batch, int empty) {
  struct sl_checkpoint *c = context;
  (void)slot, (void)empty;
  for (uint32_t e = 0; e < batch->event_count; e++) {
    if (batch->events[e].file != c->file) c->events = 0;
    c->file = batch->events[e].file;
    c->events++;
  }
  return SL_OK;
}

const struct sl_observer_calls sl_checkpoint_observer = {.deliver = deliver};
