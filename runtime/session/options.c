/* options.c: opens the devices and the graph that the options of a session name. */
#include "session/options.h"

#include "base/processor.h"
#include "execute/devices.h"
#include "input/feed.h"
#include "input/follow.h"
#include "observe/checks.h"
#include "records/records.h"
#include "zmq/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SLOTS = 256, MAX_SLICE_EVENTS = 1 << 20, DEFAULT_SOURCE_THREADS = 8 };

SL_ANY_PROCESSOR struct sl_options sl_options_default(void) {
  return (struct sl_options){.size = sizeof(struct sl_options), .device = "cpu", .repeat = 1};
}

/* Reads the TARGET of "TARGET" or "TARGET:..."; returns 0 if it is empty. */
static int read_target(const char *device, char *target, size_t size) {
  const size_t length = strcspn(device, ":");
  if (length == 0 || length >= size) return 0;
  snprintf(target, size, "%.*s", (int)length, device);
  return 1;
}

/* --race runs on a variant of the emulator with plugins that were compiled for it. */
static int choose_race(struct sl_setup *s, char *target, size_t size) {
  char reason[512];
  if (strcmp(target, "simt") != 0) {
    sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, "write --device simt --race",
                "--race needs the emulator, not '%s'", s->options.device);
    return SL_EINVAL;
  }
  if (s->options.guard) {
    sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, "run it once with each", "--guard and --race cannot be combined");
    return SL_EINVAL;
  }
  snprintf(target, size, "race");
  if (sl_backend_load(target, reason, sizeof reason)) return SL_OK;
  sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, "build with elfutils (Debian: libdw-dev)",
              "--race is not available: %s", reason);
  return SL_EINVAL;
}

/* Reports an unknown device with the devices of this build or the closest name. */
static int no_device(struct sl_setup *s, const char *target, const char *reason) {
  char names[128], hint[192];
  struct sl_nearest nearest;
  snprintf(names, sizeof names, "%s", sl_devices());
  sl_nearest_begin(&nearest, target);
  char *rest = names;
  for (const char *name; (name = strtok_r(rest, " ", &rest)) != NULL;) sl_nearest_offer(&nearest, name);
  const char *best = sl_nearest_result(&nearest);
  if (best && strcmp(best, target) == 0) /* its backend cannot be loaded */
    snprintf(hint, sizeof hint, "%s",
             strcmp(target, "cuda") == 0
                 ? "CUDA's runtime library is part of the CUDA toolkit and of the Python package nvidia-cuda-runtime"
                 : "install this library");
  else if (best)
    snprintf(hint, sizeof hint, "did you mean %s?", best);
  else
    snprintf(hint, sizeof hint, "this build has %s", sl_devices());
  sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, hint, "there is no device '%s': %s", s->options.device, reason);
  return SL_EINVAL;
}

int sl_options_open_devices(struct sl_setup *s) {
  char target[16], reason[512] = "";
  if (!read_target(s->options.device, target, sizeof target)) return sl_devices_refuse(s);
  if (s->options.race) {
    const int status = choose_race(s, target, sizeof target);
    if (status < 0) return status;
  }
  const char *const targets[] = {"cpu", strcmp(target, "cpu") != 0 ? target : NULL, NULL};
  const int status = sl_registry_scan(s->options.plugin_paths, targets, &s->registry);
  if (status < 0) return status;
  s->registry.tries_named = s->options.try_plugins;
  s->backend = sl_backend_find(target);
  if (!s->backend) s->backend = sl_backend_load(target, reason, sizeof reason);
  return s->backend ? sl_devices_open(s) : no_device(s, target, reason);
}

/* Inputs are either files or endpoints of ZeroMQ. */
static int check_received(struct sl_setup *s) {
  const struct sl_options *o = &s->options;
  const char *file = NULL, *endpoint = NULL;
  for (uint32_t i = 0; o->input_paths && o->input_paths[i]; i++)
    *(sl_zmq_is_endpoint(o->input_paths[i]) ? &endpoint : &file) = o->input_paths[i];
  s->is_received = endpoint != NULL;
  if (file && endpoint)
    sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, "run them one after another",
                "a run reads files or receives messages, not both: %s and %s", file, endpoint);
  else if (endpoint && o->inspect_only)
    sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, "name a file", "%s: only runs receive messages", endpoint);
  else if (endpoint && o->repeat > 1)
    sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, "write the events to a file first (graphs/copy.yaml)",
                "%s: messages cannot be kept for repeats, as --repeat and `sluice tune` need them", endpoint);
  else if (!endpoint && o->senders)
    sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, "it counts senders of -i zmq:ENDPOINT",
                "--senders has no effect on inputs that are files");
  else if (!endpoint && o->until_idle > 0)
    sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, "it ends a run with --follow or -i zmq:ENDPOINT",
                "--until-idle has no effect on inputs that end by themselves");
  else
    return SL_OK;
  return SL_EINVAL;
}

static int check_explain(const struct sl_setup *s) {
  const struct sl_options *o = &s->options;
  if (sl_diagnose_size(s->diagnostics, "sl_explain", o->explain->size, sizeof *o->explain) < 0) return SL_EINVAL;
  if (strcmp(o->device, "cpu") != 0)
    sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, "results are the same on all devices",
                "decisions are explained on device cpu, not on %s", o->device);
  else if (o->slots > 1 || o->repeat > 1)
    sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, NULL, "decisions are explained with one slot and one pass");
  else if (!o->explain->on_event)
    sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, NULL,
                "sl_explain.on_event is NULL: nothing gets the explanations");
  else
    return SL_OK;
  return SL_EINVAL;
}

int sl_options_check(struct sl_setup *s) {
  struct sl_diagnostics *d = s->diagnostics;
  const char *const *inputs = s->options.input_paths;
  if (inputs && !inputs[0]) {
    sl_diagnose(d, SL_ERROR, NULL, NULL, "NULL: the source of the graph has its own events",
                "input_paths names no file");
    return SL_EINVAL;
  }
  if (check_received(s) < 0) return SL_EINVAL;
  if (s->options.feed && inputs) {
    sl_diagnose(d, SL_ERROR, NULL, NULL, "give either a feed or files", "a run with a feed reads no files, such as %s",
                inputs[0]);
    return SL_EINVAL;
  }
  if (s->options.follow && (inputs || s->options.feed)) {
    sl_diagnose(d, SL_ERROR, NULL, NULL, "give one of them", "a run that follows a folder has no %s",
                inputs ? "other input files" : "feed");
    return SL_EINVAL;
  }
  if (s->options.follow && s->options.repeat > 1) {
    sl_diagnose(d, SL_ERROR, NULL, NULL, "measure with files",
                "the slices of a followed folder cannot be kept to be "
                "repeated");
    return SL_EINVAL;
  }
  if (s->options.explain && check_explain(s) < 0) return SL_EINVAL;
  if (s->options.input_ranges && !inputs) {
    sl_diagnose(d, SL_ERROR, NULL, NULL, "name the files in input_paths", "input_ranges without input_paths");
    return SL_EINVAL;
  }
  s->memory_check = s->options.race ? &sl_race_check : s->options.guard ? &sl_guard_check : NULL;
  const char *check = s->options.race ? "race" : "guard";
  if (s->memory_check && s->options.replan == SL_REPLAN_GROW) {
    sl_diagnose(d, SL_ERROR, NULL, NULL, NULL, "--replan grow has no effect with --%s: the plan does not change",
                check);
    return SL_EINVAL;
  }
  if (s->memory_check && s->options.memory_bytes) {
    sl_diagnose(d, SL_ERROR, NULL, NULL, NULL, "--memory has no effect with --%s: fields have memory of their own",
                check);
    return SL_EINVAL;
  }
  if (s->options.replan > SL_REPLAN_OFF) {
    sl_diagnose(d, SL_ERROR, NULL, NULL, "SL_REPLAN_ON, _GROW and _OFF are 0, 1 and 2", "replan is %u",
                s->options.replan);
    return SL_EINVAL;
  }
  s->repeat = s->options.repeat > 1 ? s->options.repeat : 1;
  s->replan = s->memory_check || s->options.inspect_only ? SL_REPLAN_OFF : s->options.replan;
  if (s->options.slots > MAX_SLOTS) {
    sl_diagnose(d, SL_ERROR, NULL, NULL, NULL, "%u slots are more than %d", s->options.slots, MAX_SLOTS);
    return SL_EINVAL;
  }
  const uint32_t processors = sl_processors();
  s->source_threads = s->options.source_threads             ? s->options.source_threads
                      : processors < DEFAULT_SOURCE_THREADS ? processors
                                                            : DEFAULT_SOURCE_THREADS;
  if (s->source_threads > SL_WORKERS_MAX) {
    sl_diagnose(d, SL_ERROR, NULL, NULL, NULL, "%u source threads are more than %d", s->source_threads, SL_WORKERS_MAX);
    return SL_EINVAL;
  }
  return SL_OK;
}

/* ------------------------------------------------------------------------------------------------- graph */

/* Converts "KEY=VALUE" strings to overrides; the keys are copies. */
static int split_overrides(const char *const *texts, const char *option, const char *form, struct sl_diagnostics *d,
                           struct sl_override **overrides, uint32_t *count) {
  uint32_t n = 0;
  while (texts && texts[n]) n++;
  *count = 0;
  *overrides = calloc(n + 1u, sizeof **overrides);
  if (!*overrides) return SL_ENOMEM;
  int status = SL_OK;
  for (uint32_t i = 0; i < n; i++) {
    const char *equals = strchr(texts[i], '=');
    if (!equals || equals == texts[i]) {
      sl_diagnose(d, SL_ERROR, NULL, NULL, form, "%s %s: there is no '='", option, texts[i]);
      status = SL_EGRAPH;
      continue;
    }
    char *key = strndup(texts[i], (size_t)(equals - texts[i]));
    if (!key) return SL_ENOMEM;
    (*overrides)[(*count)++] = (struct sl_override){key, equals + 1};
  }
  return status;
}

static void free_overrides(struct sl_override *overrides, uint32_t count) {
  for (uint32_t i = 0; overrides && i < count; i++) free((char *)overrides[i].key);
  free(overrides);
}

/* Setting name in "simt.seed", if the part before the dot is the target of the device and it has settings. */
static const char *device_setting(const struct sl_setup *s, const char *key) {
  const char *name = s->backend->settings ? s->backend->settings : s->backend->target;
  const size_t length = strlen(name);
  return s->backend->set && strncmp(key, name, length) == 0 && key[length] == '.' ? key + length + 1 : NULL;
}

static int set_branches(struct sl_setup *s, const char *value, char *reason, size_t reason_size) {
  char *end = NULL;
  const unsigned long number = *value >= '0' && *value <= '9' ? strtoul(value, &end, 10) : 0;
  if (number >= 1 && number <= SL_BRANCHES_MAX && *end == '\0') {
    s->branches = (uint32_t)number;
    return SL_OK;
  }
  snprintf(reason, reason_size, "runtime.branches cannot be '%s'; it is a number from 1 to %d", value,
           (int)SL_BRANCHES_MAX);
  return SL_EINVAL;
}

/* Applies a setting of the runtime, `--set runtime.KEY=VALUE`. */
static int set_runtime(struct sl_setup *s, const char *key, const char *value, char *reason, size_t reason_size) {
  const int is_on = strcmp(value, "on") == 0;
  if (strcmp(key, "branches") == 0) return set_branches(s, value, reason, reason_size);
  if (strcmp(key, "families") != 0)
    snprintf(reason, reason_size, "the runtime has no setting '%s'; it has branches and families", key);
  else if (!is_on && strcmp(value, "off") != 0)
    snprintf(reason, reason_size, "runtime.families cannot be '%s'; it is on or off", value);
  else
    s->families = (uint32_t)is_on;
  return *reason ? SL_EINVAL : SL_OK;
}

static int set_devices(struct sl_setup *s, const char *key, const char *value, char *reason, size_t reason_size) {
  int status = SL_OK;
  for (uint32_t d = 0; d < s->device_count && status == SL_OK; d++)
    status = s->backend->set(s->devices[d].device, key, value, reason, reason_size);
  return status;
}

/* 1 if a text KEY=VALUE of the list sets this value. */
static int is_set(const char *const *texts, const struct sl_override *set) {
  const size_t length = strlen(set->key);
  for (; texts && *texts; texts++)
    if (strncmp(*texts, set->key, length) == 0 && (*texts)[length] == '=' &&
        strcmp(*texts + length + 1, set->value) == 0)
      return 1;
  return 0;
}

/* Removes the settings of the runtime and of the device from the overrides and applies them. For a new configuration of
 * a run they must be among `before`. */
static int take_settings(struct sl_setup *s, const char *const *before, int is_change, struct sl_override *sets,
                         uint32_t *count) {
  uint32_t kept = 0;
  int status = SL_OK;
  for (uint32_t i = 0; i < *count; i++) {
    const int of_runtime = strncmp(sets[i].key, "runtime.", 8) == 0;
    const char *key = of_runtime ? sets[i].key + 8 : device_setting(s, sets[i].key);
    char reason[256] = "";
    int refused = 0;
    if (key && is_change)
      refused = !is_set(before, &sets[i]);
    else if (key)
      refused = (of_runtime ? set_runtime(s, key, sets[i].value, reason, sizeof reason)
                            : set_devices(s, key, sets[i].value, reason, sizeof reason)) < 0;
    if (refused && is_change) snprintf(reason, sizeof reason, "settings of runtime and device stay during a run");
    if (refused) {
      sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, NULL, "--set %s=%s: %s", sets[i].key, sets[i].value, reason);
      status = SL_EGRAPH;
    }
    if (key)
      free((char *)sets[i].key);
    else
      sets[kept++] = sets[i];
  }
  *count = kept;
  return status;
}

/* Refuses file ranges if the source reads whole files only. */
static int check_ranges(struct sl_setup *s) {
  const struct sl_options *o = &s->options;
  const struct sl_node *source = &s->graph->nodes[s->graph->source];
  for (uint32_t i = 0; o->input_ranges && o->input_paths && o->input_paths[i]; i++) {
    if (o->input_ranges[i].first_byte == 0 && o->input_ranges[i].bytes == 0) continue;
    if (source->algorithm->source->index) return SL_OK;
    sl_diagnose(s->diagnostics, SL_ERROR, &source->use_location, source->name, NULL,
                "%s reads whole files; it cannot read a part of %s", source->use, o->input_paths[i]);
    return SL_EINVAL;
  }
  return SL_OK;
}

/* Value of property `events` (u64) of a source that generates events; NULL if the source does not. */
static struct sl_value *made_events(const struct sl_setup *s) {
  const struct sl_node *source = &s->graph->nodes[s->graph->source];
  const int member = sl_member_index(source->algorithm, "events");
  if (member < 0) return NULL;
  const struct sl_member *events = &source->algorithm->members[member];
  const int is_number = events->kind == SL_MEMBER_PROPERTY && events->type == SL_TYPE_u64;
  return is_number ? &source->values[member] : NULL;
}

/* Refuses a source without input: without files, feed or number of events. */
static int check_input(struct sl_setup *s) {
  const struct sl_options *o = &s->options;
  const struct sl_node *source = &s->graph->nodes[s->graph->source];
  const int takes_feed = source->algorithm->takes_feed != 0, reads_files = source->algorithm->source->probe != NULL;
  const int has_files = o->follow || (o->input_paths && o->input_paths[0]);
  const int has_input = (takes_feed && o->feed) || (reads_files && has_files);
  if (o->inspect_only || has_input || (!takes_feed && !reads_files) || made_events(s)) return SL_OK;
  if (reads_files)
    sl_diagnose(s->diagnostics, SL_ERROR, &source->use_location, source->name, "name them with -i, or in input_paths",
                "%s reads files, but no input file is given", source->use);
  else
    sl_diagnose(s->diagnostics, SL_ERROR, &source->use_location, source->name,
                "feed the run from a program (sl_options.feed in C, Graph.feed in Python), or name another source",
                "%s takes its events from the memory of the program that runs the graph, but this run has no feed",
                source->use);
  return SL_EINVAL;
}

/* -n is another way to set the number of events that a source makes. */
static void limit_source(struct sl_setup *s) {
  struct sl_value *events = made_events(s);
  if (s->options.events == 0 || !events) return;
  events->integer = s->options.events;
  events->number = (double)s->options.events;
}

int sl_options_read_input(struct sl_setup *s, struct sl_input_head *begin) {
  s->first_input = s->options.follow        ? sl_follow_first(s->options.follow)->path
                   : s->options.input_paths ? s->options.input_paths[0]
                                            : NULL;
  const char *path = s->is_received ? s->received_paths[0] : s->first_input;
  return path && sl_input_head_read(begin, path, !s->options.inspect_only) < 0 ? SL_ENOMEM : SL_OK;
}

int sl_options_open_graph(struct sl_setup *s, const struct sl_input_head *begin, const struct sl_options *before) {
  const struct sl_options *o = &s->options;
  const char *input = s->first_input;
  int input_is_refused = 0;
  const int takes_arrays = o->feed && sl_feed_is_arrays(o->feed);
  struct sl_override *sets = NULL, *uses = NULL;
  uint32_t set_count = 0, use_count = 0;
  int status = split_overrides(o->sets, "--set", "write --set NODE.PROPERTY=VALUE or --set PARAMETER=VALUE",
                               s->diagnostics, &sets, &set_count);
  if (status == SL_OK) status = take_settings(s, before ? before->sets : NULL, before != NULL, sets, &set_count);
  if (status == SL_OK)
    status = split_overrides(o->uses, "--use", "write --use NODE=PLUGIN.ALGORITHM", s->diagnostics, &uses, &use_count);
  if (status == SL_OK) {
    const struct sl_graph_request request = {.path = o->graph_path,
                                             .text = o->graph_text,
                                             .text_bytes = o->graph_text_bytes,
                                             .with_paths = o->with_paths,
                                             .target = s->backend->target,
                                             .registry = &s->registry,
                                             .sets = sets,
                                             .uses = uses,
                                             .set_count = set_count,
                                             .use_count = use_count,
                                             .origins = o->inspect_only,
                                             .input_name = input,
                                             .input_option = o->follow ? "--follow" : "-i",
                                             .input_is_refused = &input_is_refused,
                                             .input_bytes = begin->bytes,
                                             .input_count = begin->count,
                                             .input_is_pipe = begin->is_pipe,
                                             .is_fed = o->feed != NULL,
                                             .arrays_source = takes_arrays ? &sl_arrays_source : NULL,
                                             .arrays_state_bytes = sl_arrays_state_bytes()};
    status = sl_graph_read(&request, s->diagnostics, &s->graph);
    if (status < 0 && input_is_refused && o->follow) status = SL_EFORMAT;
  }
  if (status == SL_OK) status = check_ranges(s);
  if (status == SL_OK) status = check_input(s);
  if (status == SL_OK) limit_source(s);
  free_overrides(sets, set_count);
  free_overrides(uses, use_count);
  return status;
}

int sl_options_check_effects(struct sl_setup *s) {
  if (s->options.digest && s->graph->output_count == 0)
    sl_diagnose(s->diagnostics, SL_WARNING, NULL, NULL, NULL, "--digest has no effect: the graph has no outputs");
  if (s->branches > 1 && !s->backend->is_device)
    sl_diagnose(s->diagnostics, SL_WARNING, NULL, NULL, NULL,
                "runtime.branches has no effect on %s, where nodes run one after another", s->backend->target);
  if (!s->options.resident || (s->backend->is_device && s->repeat > 1)) return SL_OK;
  sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, NULL, "--resident has no effect %s",
              s->backend->is_device ? "without --repeat" : "where the device has no memory of its own");
  return SL_EINVAL;
}

int sl_options_choose_slice_events(struct sl_setup *s) {
  s->slice_events = s->options.slice_events  ? s->options.slice_events
                    : s->graph->slice_events ? s->graph->slice_events
                                             : s->backend->default_slice_events;
  if (s->slice_events <= MAX_SLICE_EVENTS) return SL_OK;
  sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, NULL, "%u events per slice are more than %d", s->slice_events,
              MAX_SLICE_EVENTS);
  return SL_EINVAL;
}
