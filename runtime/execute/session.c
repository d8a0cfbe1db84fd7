/* session.c: opening a graph for a run, and closing it. See sluice.h for what a session is. */
#include "execute/session.h"

#include "base/input.h"
#include "base/locale.h"
#include "base/processor.h"
#include "layout/bind.h"
#include "plugin/tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

enum { MAX_SLOTS = 256, MAX_SLICE_EVENTS = 1 << 20, DEFAULT_SOURCE_THREADS = 8 };

SL_ANY_PROCESSOR struct sl_options sl_options_default(void) {
  return (struct sl_options){.size = sizeof(struct sl_options), .device = "cpu", .repeat = 1};
}

/* "KEY=VALUE" strings into overrides; the keys are copies. */
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

/* "simt.seed": the part after the dot, if the part before it is the device's target, and it has settings. */
static const char *device_setting(const struct sl_session *s, const char *key) {
  const char *name = s->backend->settings ? s->backend->settings : s->backend->target;
  const size_t length = strlen(name);
  return s->backend->set && strncmp(key, name, length) == 0 && key[length] == '.' ? key + length + 1 : NULL;
}

static int set_branches(struct sl_session *s, const char *value, char *reason, size_t reason_size) {
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

/* A setting of the runtime itself, `--set runtime.KEY=VALUE`. */
static int set_runtime(struct sl_session *s, const char *key, const char *value, char *reason, size_t reason_size) {
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

static int set_devices(struct sl_session *s, const char *key, const char *value, char *reason, size_t reason_size) {
  int status = SL_OK;
  for (uint32_t d = 0; d < s->device_count && status == SL_OK; d++)
    status = s->backend->set(s->devices[d].device, key, value, reason, reason_size);
  return status;
}

/* Takes the settings of the runtime and of the device out of the overrides. */
static int take_settings(struct sl_session *s, struct sl_override *sets, uint32_t *count) {
  uint32_t kept = 0;
  int status = SL_OK;
  for (uint32_t i = 0; i < *count; i++) {
    const int of_runtime = strncmp(sets[i].key, "runtime.", 8) == 0;
    const char *key = of_runtime ? sets[i].key + 8 : device_setting(s, sets[i].key);
    char reason[256] = "";
    const int refused = of_runtime ? set_runtime(s, key, sets[i].value, reason, sizeof reason) < 0
                                   : key && set_devices(s, key, sets[i].value, reason, sizeof reason) < 0;
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

/* Are parts of files asked for, of a source that reads parts? */
static int check_ranges(struct sl_session *s) {
  const struct sl_options *o = &s->options;
  const struct sl_node *source = &s->graph->nodes[s->graph->source];
  for (uint32_t i = 0; o->input_ranges && o->input_paths && o->input_paths[i]; i++) {
    if (o->input_ranges[i].first_byte == 0 && o->input_ranges[i].bytes == 0) continue;
    if (source->algorithm->source->index) return SL_OK;
    sl_diagnose(s->diagnostics, SL_ERROR, &source->use_place, source->name, NULL,
                "%s reads whole files, and no part of %s", source->use, o->input_paths[i]);
    return SL_EINVAL;
  }
  return SL_OK;
}

/* The value of the property `events` (u64) of a source that makes events by itself; NULL if the source makes none. */
static struct sl_value *made_events(const struct sl_session *s) {
  const struct sl_node *source = &s->graph->nodes[s->graph->source];
  const int member = sl_member_index(source->algorithm, "events");
  if (member < 0) return NULL;
  const struct sl_member *events = &source->algorithm->members[member];
  const int is_number = events->kind == SL_MEMBER_PROPERTY && events->type == SL_TYPE_u64;
  return is_number ? &source->values[member] : NULL;
}

/* Has the source what it takes its events from? */
static int check_input(struct sl_session *s) {
  const struct sl_options *o = &s->options;
  const struct sl_node *source = &s->graph->nodes[s->graph->source];
  const int takes_feed = source->algorithm->takes_feed != 0, reads_files = source->algorithm->source->probe != NULL;
  const int has_input = (takes_feed && o->feed) || (reads_files && o->input_paths && o->input_paths[0]);
  if (o->look_only || has_input || (!takes_feed && !reads_files) || made_events(s)) return SL_OK;
  if (reads_files)
    sl_diagnose(s->diagnostics, SL_ERROR, &source->use_place, source->name, "name them with -i, or in input_paths",
                "%s reads files, and no input file is given", source->use);
  else
    sl_diagnose(s->diagnostics, SL_ERROR, &source->use_place, source->name,
                "feed the run from a program (sl_options.feed in C, Graph.feed in Python), or name another source",
                "%s takes its events from the memory of a program that runs the graph, and this run has no feed",
                source->use);
  return SL_EINVAL;
}

/* -n is another way to set the number of events that a source makes. */
static void limit_source(struct sl_session *s) {
  struct sl_value *events = made_events(s);
  if (s->options.events == 0 || !events) return;
  events->integer = s->options.events;
  events->number = (double)s->options.events;
}

static int open_graph(struct sl_session *s) {
  const struct sl_options *o = &s->options;
  const char *input = o->input_paths ? o->input_paths[0] : NULL;
  const struct sl_begin *begin = &s->files.begin;
  struct sl_override *sets = NULL, *uses = NULL;
  uint32_t set_count = 0, use_count = 0;
  int status = split_overrides(o->sets, "--set", "write --set NODE.PROPERTY=VALUE or --set PARAMETER=VALUE",
                               s->diagnostics, &sets, &set_count);
  if (status == SL_OK) status = take_settings(s, sets, &set_count);
  if (status == SL_OK)
    status = split_overrides(o->uses, "--use", "write --use NODE=PLUGIN.ALGORITHM", s->diagnostics, &uses, &use_count);
  if (status == SL_OK && input && sl_begin_read(&s->files.begin, input, !o->look_only) < 0) status = SL_ENOMEM;
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
                                             .origins = o->look_only,
                                             .input_name = input,
                                             .input_bytes = begin->bytes,
                                             .input_count = begin->count,
                                             .input_is_pipe = begin->is_pipe,
                                             .is_fed = o->feed != NULL};
    status = sl_graph_read(&request, s->diagnostics, &s->graph);
  }
  if (begin->pipe < 0) sl_begin_close(&s->files.begin);
  if (status == SL_OK) status = check_ranges(s);
  if (status == SL_OK) status = check_input(s);
  if (status == SL_OK) limit_source(s);
  free_overrides(sets, set_count);
  free_overrides(uses, use_count);
  return status;
}

/* --------------------------------------------------------------------------------------------- memory */

/* Large enough for the fields of one event without items, the largest of which is PER_EVENT_OF(n), and for totals. */
static uint64_t zeros_bytes(const struct sl_session *s) {
  const struct sl_graph *g = s->graph;
  uint64_t bytes = 256;
  for (uint32_t i = 0; i < g->order_count; i++) {
    const struct sl_algorithm *a = g->nodes[g->order[i]].algorithm;
    for (uint32_t m = 0; m < a->member_count; m++)
      for (uint32_t f = 0; a->members[m].collection && f < a->members[m].collection->field_count; f++)
        if (2ull * 8u * a->members[m].collection->fields[f].width > bytes)
          bytes = 2ull * 8u * a->members[m].collection->fields[f].width;
  }
  for (uint32_t i = 0; i < s->layout->storage_count; i++) {
    const struct sl_storage *at = &s->layout->storage[i];
    const struct sl_member *m = at->node < g->node_count ? &g->nodes[at->node].algorithm->members[at->member] : NULL;
    if (m && m->kind == SL_MEMBER_OUT && sl_is_totals(m->collection) && at->bytes > bytes) bytes = at->bytes;
  }
  return bytes;
}

static int open_tables(struct sl_session *s) {
  const uint32_t nodes = s->graph->node_count + 1, outputs = s->graph->output_count;
  uint32_t pointers = 1;
  for (uint32_t o = 0; o < outputs; o++) {
    const struct sl_port port = s->graph->outputs[o].port;
    pointers += s->graph->nodes[port.node].algorithm->members[port.member].collection->field_count;
  }
  s->arrays = calloc(s->layout->storage_count + 1, sizeof *s->arrays);
  s->prepared = calloc(nodes, sizeof *s->prepared);
  s->states = calloc(nodes, sizeof *s->states);
  s->opened = calloc(nodes, sizeof *s->opened);
  s->delivery.sink_json = calloc(nodes, sizeof *s->delivery.sink_json);
  s->delivery.sink_lines = calloc(nodes, sizeof *s->delivery.sink_lines);
  s->zeros = calloc(1, zeros_bytes(s));
  s->delivery.digests = calloc(outputs + 1, sizeof *s->delivery.digests);
  s->delivery.views = calloc(outputs + 1, sizeof *s->delivery.views);
  s->delivery.view_pointers = calloc(pointers, sizeof *s->delivery.view_pointers);
  s->statistics.overflows = calloc(s->layout->used_count + 1, sizeof *s->statistics.overflows);
  if (!s->arrays || !s->prepared || !s->states || !s->opened || !s->delivery.sink_json || !s->delivery.sink_lines ||
      !s->zeros || !s->delivery.digests || !s->delivery.views || !s->delivery.view_pointers || !s->statistics.overflows)
    return SL_ENOMEM;
  for (uint32_t o = 0; o < outputs; o++) s->delivery.digests[o] = SL_DIGEST_EMPTY;
  return SL_OK;
}

/* How many of those who share the source's work may keep processors between loops, of which half stay free. Where slots
 * need processors too, that is all or none. */
static uint32_t watchful_workers(const struct sl_session *s) {
  const uint32_t half = sl_processors() / 2;
  return s->backend->is_device || half >= s->source_threads ? half : 0;
}

/* The source's properties, for its `open`, and who shares its work. */
static int open_reading(struct sl_session *s) {
  const struct sl_node *source = &s->graph->nodes[s->graph->source];
  s->reading.args = calloc(1, source->algorithm->args_size + 1u);
  s->reading.workers = sl_workers_new(s->source_threads, watchful_workers(s));
  if (!s->reading.args || !s->reading.workers) return SL_ENOMEM;
  s->contexts[s->graph->source].services.workers = s->source_threads; /* as many as there is memory for */
  sl_graph_fill_properties(source, s->reading.args);
  return SL_OK;
}

static int open_slots(struct sl_session *s) {
  s->slots = calloc(s->slot_count, sizeof *s->slots);
  if (!s->slots) return SL_ENOMEM;
  for (uint32_t i = 0; i < s->slot_count; i++) {
    const int status = sl_slot_open(s, &s->slots[i], i);
    if (status == SL_ENOMEM)
      sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, "use fewer slots or a smaller --slice-events",
                  "slot %u of %u: no memory for an arena of %llu bytes and an input of %llu bytes", i, s->slot_count,
                  (unsigned long long)s->layout->arena_bytes, (unsigned long long)s->layout->input_bytes);
    else if (status < 0)
      sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, NULL, "slot %u of %u could not be opened: %s", i, s->slot_count,
                  s->backend->error(s->slots[i].device));
    if (status < 0) return status;
  }
  return SL_OK;
}

/* Nothing fails without a word: says it, where nobody did since there were `errors` messages. */
int sl_say_failure(struct sl_session *s, int status, size_t errors, const char *what) {
  if (status >= 0 || status == SL_EINTERRUPTED || sl_diagnostics_errors(s->diagnostics) > errors) return status;
  const int is_device = status == SL_EDEVICE && s->device_count > 0;
  sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, NULL, "%s: %s%s%s", what, sl_error_text(status),
              is_device ? ": " : "", is_device ? s->backend->error(s->devices[0].device) : "");
  return status;
}

void sl_say_node_failure(struct sl_session *s, uint32_t n, int status, const char *what, const char *reason) {
  const struct sl_node *node = &s->graph->nodes[n];
  if (status >= 0 || status == SL_EINTERRUPTED || atomic_load(&s->contexts[n].errors) > 0) return;
  sl_diagnose(s->diagnostics, SL_ERROR, &node->place, node->name, NULL, "%s %s: %s%s%s", node->use, what,
              sl_error_text(status), reason ? ": " : "", reason ? reason : "");
}

/* The TARGET of "TARGET" or "TARGET:..."; 0 if there is none. */
static int read_target(const char *device, char *target, size_t size) {
  const size_t length = strcspn(device, ":");
  if (length == 0 || length >= size) return 0;
  snprintf(target, size, "%.*s", (int)length, device);
  return 1;
}

/* --race: the emulator that looks on is a target of its own, whose plugins were compiled for it. */
static int choose_race(struct sl_session *s, char *target, size_t size) {
  char reason[512];
  if (strcmp(target, "simt") != 0) {
    sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, "write --device simt --race",
                "races are looked for on the emulator, not on '%s'", s->options.device);
    return SL_EINVAL;
  }
  if (s->options.guard) {
    sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, "run it once with each",
                "--guard and --race each place memory in a way of their own");
    return SL_EINVAL;
  }
  snprintf(target, size, "race");
  if (sl_backend_load(target, reason, sizeof reason)) return SL_OK;
  sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, "build with elfutils (Debian: libdw-dev)", "there is no --race: %s",
              reason);
  return SL_EINVAL;
}

/* Which devices this build has, or which of them was meant. */
static int no_device(struct sl_session *s, const char *target, const char *reason) {
  char names[128], hint[192];
  struct sl_nearest nearest;
  snprintf(names, sizeof names, "%s", sl_devices());
  sl_nearest_begin(&nearest, target);
  char *rest = names;
  for (const char *name; (name = strtok_r(rest, " ", &rest)) != NULL;) sl_nearest_offer(&nearest, name);
  const char *best = sl_nearest_result(&nearest);
  if (best)
    snprintf(hint, sizeof hint, "did you mean %s?", best);
  else
    snprintf(hint, sizeof hint, "this build has %s", sl_devices());
  sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, hint, "there is no device '%s': %s", s->options.device, reason);
  return SL_EINVAL;
}

/* Finds the files of plugins for the devices, which the graph opens as it needs them; then their backend, and opens
 * them. */
static int open_devices(struct sl_session *s) {
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

static int check_options(struct sl_session *s) {
  struct sl_diagnostics *d = s->diagnostics;
  const char *const *inputs = s->options.input_paths;
  if (inputs && !inputs[0]) {
    sl_diagnose(d, SL_ERROR, NULL, NULL, "NULL stands for the events of the graph's own source",
                "input_paths names no file");
    return SL_EINVAL;
  }
  if (s->options.feed && inputs) {
    sl_diagnose(d, SL_ERROR, NULL, NULL, "give it the one or the other", "a run with a feed reads no files, such as %s",
                inputs[0]);
    return SL_EINVAL;
  }
  if (s->options.input_ranges && !inputs) {
    sl_diagnose(d, SL_ERROR, NULL, NULL, "name the files in input_paths", "input_ranges are of no file");
    return SL_EINVAL;
  }
  s->statistics.summary.repeat = s->options.repeat > 1 ? s->options.repeat : 1;
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

/* Where the device is the host, steps run one after the other. Else side by side, unless somebody said, as long as
 * slices do not fill the device without: measured on an H200 with the whole trigger (docs/performance.md). */
uint32_t sl_session_branches(const struct sl_session *s) {
  enum { SIDE_BY_SIDE = 4, EVENTS_THAT_FILL = 8000 };
  if (!s->backend->is_device) return 1;
  if (s->branches) return s->branches;
  return (uint64_t)s->slot_count * s->slice_events < (uint64_t)s->device_count * EVENTS_THAT_FILL ? SIDE_BY_SIDE : 1;
}

/* What has no effect on this graph and device. */
static int check_effects(struct sl_session *s) {
  if (s->options.digest && s->graph->output_count == 0)
    sl_diagnose(s->diagnostics, SL_WARNING, NULL, NULL, NULL, "--digest has no effect: the graph has no outputs");
  if (s->branches > 1 && !s->backend->is_device)
    sl_diagnose(s->diagnostics, SL_WARNING, NULL, NULL, NULL,
                "runtime.branches has no effect on %s, where nodes run one after the other", s->backend->target);
  if (!s->options.resident || (s->backend->is_device && s->statistics.summary.repeat > 1)) return SL_OK;
  sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, NULL, "--resident has no effect %s",
              s->backend->is_device ? "without --repeat" : "where the device has no memory of its own");
  return SL_EINVAL;
}

static int choose_slice_events(struct sl_session *s) {
  s->slice_events = s->options.slice_events  ? s->options.slice_events
                    : s->graph->slice_events ? s->graph->slice_events
                                             : s->backend->default_slice_events;
  if (s->slice_events <= MAX_SLICE_EVENTS) return SL_OK;
  sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, NULL, "%u events a slice are more than %d", s->slice_events,
              MAX_SLICE_EVENTS);
  return SL_EINVAL;
}

static uint64_t input_gap_bytes(const struct sl_session *s) {
  if (s->options.race) return sl_race_gap_bytes();
  return s->options.guard ? SL_ARENA_ALIGNMENT : 0;
}

static int open_session(struct sl_session *s) {
  int status = check_options(s);
  if (status == SL_OK) status = sl_files_find(s);
  if (status == SL_OK) status = sl_files_check(s);
  if (status == SL_OK) status = open_devices(s);
  if (status < 0) return status;
  if (status == SL_OK) status = open_graph(s);
  if (status == SL_OK) status = sl_files_check_graph(s);
  if (status == SL_OK) status = check_effects(s);
  sl_time_opened(s, SL_OPENING_GRAPH);
  if (status == SL_OK) status = choose_slice_events(s);
  if (status < 0) return status;
  s->contexts = calloc(s->graph->node_count + 1, sizeof *s->contexts);
  if (!s->contexts) return SL_ENOMEM;
  for (uint32_t n = 0; n < s->graph->node_count; n++) sl_services_open(s, n);
  status = sl_properties_check(s);
  if (status == SL_OK)
    status = sl_layout_make(s->graph, s->slice_events, (int)s->families, sl_session_branches(s), input_gap_bytes(s),
                            s->diagnostics, &s->layout);
  if (status == SL_OK) status = open_tables(s);
  sl_time_opened(s, SL_OPENING_PLAN);
  if (status == SL_OK) status = sl_constants_make(s);
  if (status == SL_OK) status = sl_nodes_prepare(s);
  sl_time_opened(s, SL_OPENING_CONSTANTS);
  if (status == SL_OK) status = sl_fit(s);
  if (status == SL_OK) status = sl_identity_open(s);
  if (status == SL_OK) status = sl_budgets_open(s);
  if (status == SL_OK) status = sl_totals_open(s);
  if (status == SL_OK) status = sl_summary_open(s);
  sl_time_opened(s, SL_OPENING_PLAN);
  if (status == SL_OK) status = sl_turns_open(s);
  if (status == SL_OK && !s->options.look_only) status = open_slots(s);
  if (status == SL_OK) status = open_reading(s);
  sl_time_opened(s, SL_OPENING_MEMORY);
  return status;
}

/* A feed that belongs to another session is not this one's to end. */
static int take_feed(struct sl_session *s) {
  if (!s->options.feed || sl_feed_attach(s->options.feed) == SL_OK) return SL_OK;
  s->options.feed = NULL;
  sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, "make one for each session", "the feed is that of another session");
  return SL_EINVAL;
}

SL_ANY_PROCESSOR int sl_session_open(const struct sl_options *options, struct sl_diagnostics *d,
                                     struct sl_session **session) {
  if (sl_processor_check(d) < 0) return SL_EINVAL;
  SL_IN_C_LOCALE(SL_ENOMEM);
  *session = NULL;
  int status = sl_diagnose_size(d, "sl_options", options->size, sizeof *options);
  if (status < 0) return status;
  struct sl_session *s = calloc(1, sizeof *s);
  if (!s) {
    sl_diagnose(d, SL_ERROR, NULL, NULL, NULL, "%s", sl_error_text(SL_ENOMEM));
    return SL_ENOMEM;
  }
  s->opening.begin_ns = s->opening.since_ns = sl_now_ns();
  s->families = 1;
  s->options = *options;
  s->diagnostics = d;
  pthread_mutex_init(&s->reading.lock, NULL);
  pthread_mutex_init(&s->turns.lock, NULL);
  pthread_cond_init(&s->turns.changed, NULL);
  pthread_mutex_init(&s->trace.lock, NULL);
  pthread_mutex_init(&s->graph_clock.lock, NULL);
  pthread_mutex_init(&s->delivery.lock, NULL);
  pthread_condattr_t by_monotonic_clock;
  pthread_condattr_init(&by_monotonic_clock);
  pthread_condattr_setclock(&by_monotonic_clock, CLOCK_MONOTONIC);
  pthread_cond_init(&s->ticker.wake, &by_monotonic_clock);
  pthread_condattr_destroy(&by_monotonic_clock);
  const size_t errors = sl_diagnostics_errors(d);
  status = take_feed(s);
  if (status == SL_OK) status = open_session(s);
  if (status < 0) {
    status = sl_say_failure(s, status, errors, "the graph could not be opened");
    sl_session_close(s);
    return status;
  }
  *session = s;
  return SL_OK;
}

void sl_session_stop(struct sl_session *session) { atomic_store(&session->turns.stopped, SL_STOPPED); }

void sl_session_stop_by(struct sl_session *session, int signal_number) {
  atomic_store(&session->turns.stopped, signal_number);
}

const struct sl_summary *sl_session_summary(const struct sl_session *session) { return &session->statistics.summary; }

const struct sl_run *sl_session_identity(const struct sl_session *session) { return &session->identity.run; }

static void close_slots(struct sl_session *s) {
  for (uint32_t i = 0; s->slots && i < s->slot_count; i++) sl_slot_close(&s->slots[i]);
  for (uint64_t i = 0; i < s->reading.kept_count; i++) sl_input_close(s, &s->reading.kept[i]);
  free(s->slots);
  free(s->reading.kept);
}

static void close_tables(struct sl_session *s) {
  for (uint32_t i = 0; s->arrays && i < s->layout->storage_count; i++) sl_array_close(s, &s->arrays[i]);
  for (uint32_t n = 0; s->prepared && n < s->graph->node_count; n++) sl_prepared_close(s, n);
  for (uint32_t n = 0; s->graph && n < s->graph->node_count; n++) {
    if (s->states) free(s->states[n]);
    if (s->delivery.sink_json) free(s->delivery.sink_json[n]);
    if (s->delivery.sink_lines) free(s->delivery.sink_lines[n]);
  }
  free(s->arrays);
  free(s->prepared);
  free(s->states);
  free(s->opened);
  free(s->delivery.sink_json);
  free(s->delivery.sink_lines);
  free(s->zeros);
  free(s->delivery.digests);
  free((void *)s->delivery.views);
  free((void *)s->delivery.view_pointers);
  free(s->statistics.overflows);
  sl_totals_close(s);
}

void sl_session_close(struct sl_session *s) {
  SL_IN_C_LOCALE();
  if (!s) return;
  close_slots(s);
  close_tables(s);
  sl_report_close(s);
  sl_identity_close(s);
  sl_event_errors_close(s);
  sl_budgets_close(s);
  sl_summary_close(s);
  free(s->contexts);
  free(s->reading.args);
  sl_workers_free(s->reading.workers);
  sl_layout_free(s->layout);
  sl_graph_free(s->graph);
  sl_registry_close(&s->registry);
  sl_devices_close(s);
  pthread_mutex_destroy(&s->reading.lock);
  pthread_mutex_destroy(&s->turns.lock);
  pthread_cond_destroy(&s->turns.changed);
  pthread_mutex_destroy(&s->trace.lock);
  pthread_mutex_destroy(&s->graph_clock.lock);
  pthread_mutex_destroy(&s->delivery.lock);
  pthread_cond_destroy(&s->ticker.wake);
  sl_turns_close(s);
  sl_files_close(s);
  if (s->options.feed) sl_feed_detach(s->options.feed);
  free(s);
}
