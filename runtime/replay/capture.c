/* capture.c: `sluice capture`: runs a graph on the CPU up to the node, and writes the node as a case. A child process
 * runs the graph. It writes the case before the node runs, without outputs, and again after it, so that a node that
 * crashes leaves a case too. Nodes that the node does not depend on are skipped.
 */
#include "base/event_id.h"
#include "base/locale.h"
#include "base/memory.h"
#include "base/processor.h"
#include "replay/replay.h"

#include <sluice/text.h>

#include <stdlib.h>
#include <string.h>

enum { CAPTURED_EVENTS = 16, NODE_SECONDS = 60, SIMULATED_EVENTS = 1000 };

/* An event that the user names. */
struct wanted {
  struct sl_event_id id;
  uint32_t is_found; /* in some slice */
};

/* In shared memory. */
struct progress {
  struct sl_child log;
  uint32_t has_inputs, has_outputs; /* written so far */
  uint32_t event_count;
  uint64_t bytes;
};

struct capture {
  struct sl_session *session;
  uint32_t node;
  const char *path;
  struct wanted *wanted;
  uint32_t wanted_count;
  uint64_t events_max; /* events to search; 0: all */
  struct progress *progress;
  /* in the child */
  const uint8_t *needed;
  struct sl_case *c;
  uint8_t *keep;     /* per event of the slice */
  uint64_t searched; /* events so far */
  int is_taken, was_divided, is_new_slice;
};

/* ------------------------------------------------------------------------------------------- which events */

/* Reads "6001,1:6002". */
static int parse_events(const char *text, struct capture *c, struct sl_diagnostics *d) {
  uint32_t count = 1;
  if (!text) return SL_OK;
  for (const char *at = text; *at; at++) count += *at == ',';
  c->wanted = calloc(count, sizeof *c->wanted);
  if (!c->wanted) return SL_ENOMEM;
  for (const char *at = text; at; at = *at ? at + 1 : NULL)
    if (!sl_take_event_id(&at, &c->wanted[c->wanted_count++].id) || (*at && *at != ',')) {
      sl_diagnose(d, SL_ERROR, NULL, NULL, "write 6001,6007 or with runs 1:6001,1:6007",
                  "'%s' is no list of event numbers", text);
      return SL_EINVAL;
    }
  return SL_OK;
}

/* Marks the wanted events of the slice in c->keep. Returns 1 if all of them are in it. */
static int find_wanted(struct capture *c, const struct sl_event *events, uint32_t count) {
  uint32_t found = 0;
  for (uint32_t i = 0; i < c->wanted_count; i++) {
    int is_here = 0;
    for (uint32_t e = 0; e < count; e++)
      if (sl_event_id_is(&c->wanted[i].id, &events[e])) is_here = c->keep[e] = 1;
    c->wanted[i].is_found |= (uint32_t)is_here;
    found += (uint32_t)is_here;
  }
  return found == c->wanted_count;
}

/* ------------------------------------------------------------------------------------------ in the child */

static const struct sl_node *node_of(const struct capture *c) { return &sl_session_graph(c->session)->nodes[c->node]; }

static void write_case(struct capture *c) {
  struct sl_case *written = c->c;
  struct replay_cut cut;
  char reason[512];
  if (c->wanted_count > 0) {
    if (replay_cut_open(c->c, &cut) < 0) sl_child_not_run(&c->progress->log, "out of memory");
    if (cut.why_whole && memchr(c->keep, 0, c->c->event_count))
      sl_child_not_run(&c->progress->log, "single events cannot be taken from the slice, because %s", cut.why_whole);
    memcpy(cut.axes[0].keep, c->keep, c->c->event_count);
    written = replay_cut_case(c->c, &cut);
  }
  if (sl_case_check(written, reason, sizeof reason) < 0) sl_child_wrong(&c->progress->log, "%s", reason);
  struct sl_diagnostics *d = sl_diagnostics_new();
  if (!d || sl_case_write(written, c->path, &c->progress->bytes, d) < 0)
    sl_child_not_run(&c->progress->log, "%s", d ? sl_diagnostics_at(d, 0)->message : "out of memory");
  sl_diagnostics_free(d);
  c->progress->event_count = written->event_count;
}

static void begin_case(struct capture *c, uint32_t event_count, const struct sl_event *events) {
  c->c = sl_case_new();
  if (!c->c || replay_case_begin(c->c, node_of(c)) < 0) sl_child_not_run(&c->progress->log, "out of memory");
  c->c->event_count = event_count;
  c->c->runs = test_allocate(event_count, sizeof *c->c->runs);
  c->c->numbers = test_allocate(event_count, sizeof *c->c->numbers);
  for (uint32_t e = 0; e < event_count; e++) {
    c->c->runs[e] = events[e].run;
    c->c->numbers[e] = events[e].number;
  }
}

static void take_inputs(struct capture *c, const struct sl_moment *moment) {
  struct trial_case inputs;
  trial_copy_node(moment, c->node, &inputs);
  if (replay_case_add_ports(c->c, node_of(c), SL_MEMBER_IN, inputs.ports) < 0)
    sl_child_not_run(&c->progress->log, "out of memory");
  c->c->has_list = inputs.has_list;
  c->c->list_count = inputs.list_count;
  c->c->list = inputs.list;
  write_case(c);
  c->progress->has_inputs = 1;
}

static void take_outputs(struct capture *c, const struct sl_moment *moment) {
  struct trial_port *ports = test_allocate(node_of(c)->algorithm->member_count, sizeof *ports);
  trial_copy_outputs(moment, c->node, ports);
  if (replay_case_add_ports(c->c, node_of(c), SL_MEMBER_OUT, ports) < 0)
    sl_child_not_run(&c->progress->log, "out of memory");
}

/* Error words without the number of the node, as sl_test_event_error returns them. */
static void take_errors(struct capture *c, const struct sl_moment *moment) {
  const uint64_t *words = sl_moment_errors(moment);
  uint64_t *errors = test_allocate(moment->event_count, sizeof *errors);
  for (uint32_t e = 0; e < moment->event_count; e++) {
    errors[e] = SL_ERROR_IS_TRUNCATION(words[e]) ? words[e] & 0xFF0000FFFFull : words[e] & 0xFFFFFFFFFFull;
    if (errors[e]) c->c->errors = errors;
  }
}

static uint32_t listed_events(const struct capture *c, const struct sl_moment *moment) {
  const struct sl_layout *l = sl_session_layout(c->session);
  const uint32_t set = l->node_set[c->node];
  return set == UINT32_MAX ? moment->event_count
                           : *(const uint32_t *)sl_moment_storage(moment, l->sets[set].count_storage);
}

/* Number of the slice's events that are among the first events_max of the input. */
static uint32_t events_in_range(const struct capture *c, uint32_t event_count) {
  const uint64_t before = c->searched - event_count;
  return c->events_max > 0 && c->events_max - before < event_count ? (uint32_t)(c->events_max - before) : event_count;
}

static int before_step(void *context, const struct sl_moment *moment) {
  struct capture *c = context;
  if (c->is_new_slice) c->searched += moment->event_count;
  c->is_new_slice = 0;
  if (c->is_taken) return SL_EINTERRUPTED;
  if (!trial_is_needed(c->session, c->needed, moment->step)) return 1;
  if (moment->step->kind != SL_STEP_RUN || moment->node != c->node) return SL_OK;
  if (!moment->is_whole) {
    c->was_divided = 1;
    return SL_EINTERRUPTED;
  }
  const struct sl_event *events = sl_moment_events(moment);
  const uint32_t count = events_in_range(c, moment->event_count);
  c->keep = test_allocate(moment->event_count, 1);
  const int is_it = c->wanted_count > 0 ? find_wanted(c, events, count) : listed_events(c, moment) > 0;
  if (!is_it) return SL_EINTERRUPTED;
  begin_case(c, moment->event_count, events);
  take_inputs(c, moment);
  c->progress->log.seconds = NODE_SECONDS; /* earlier nodes have no limit */
  sl_child_stage(&c->progress->log, "%s", "");
  memset(sl_moment_errors(moment), 0, moment->event_count * sizeof(uint64_t)); /* those of earlier nodes */
  return SL_OK;
}

static void after_node(void *context, const struct sl_moment *moment) {
  struct capture *c = context;
  if (moment->node != c->node || !c->c) return;
  take_outputs(c, moment);
  take_errors(c, moment);
  write_case(c);
  c->progress->has_outputs = 1;
  c->is_taken = 1;
}

static void explain_missing(const struct capture *c) {
  const unsigned long long searched = c->events_max > 0 && c->searched > c->events_max ? c->events_max : c->searched;
  struct sl_child *log = &c->progress->log;
  if (c->was_divided)
    sl_child_not_run(log, "a slice did not fit into its budgets and ran in parts: use a smaller --slice-events");
  for (uint32_t i = 0; i < c->wanted_count; i++)
    if (!c->wanted[i].is_found)
      sl_child_not_run(log, "event %llu is not among the %llu events that were searched",
                       (unsigned long long)c->wanted[i].id.number, searched);
  if (c->wanted_count > 0)
    sl_child_not_run(log,
                     "the events are in different slices: use a larger --slice-events, or capture them one by one");
  sl_child_not_run(log, "the node runs on none of the %llu events that were searched", searched);
}

static void run_slices(void *context, struct sl_child *log) {
  struct capture *c = context;
  char reason[256] = "";
  int more = 1, source_failed = 0;
  if (node_of(c)->algorithm->kind == SL_KIND_CONSTANT) {
    const struct sl_moment first = sl_moment_first(c->session);
    begin_case(c, 0, NULL);
    take_inputs(c, &first);
    c->c->has_list = 0;
    take_outputs(c, &first);
    write_case(c);
    c->progress->has_outputs = 1;
    return;
  }
  c->needed = trial_needed(c->session, c->node);
  void *state = trial_source_open(c->session, reason, sizeof reason);
  if (!state) sl_child_not_run(log, "%s", reason);
  while (more > 0 && !c->is_taken && (c->events_max == 0 || c->searched < c->events_max)) {
    c->is_new_slice = 1;
    more = sl_session_inspect_slice(c->session, state, before_step, after_node, c, &source_failed);
  }
  if (c->is_taken) return;
  if (c->progress->has_inputs) sl_child_wrong(log, "it returned an error: %s", trial_first_error(c->session));
  if (more < 0)
    sl_child_not_run(log, "%s: %s", source_failed ? "the source failed" : "an earlier node failed",
                     *trial_first_error(c->session) ? trial_first_error(c->session) : sl_error_text(more));
  explain_missing(c);
}

/* ------------------------------------------------------------------------------------------- in the parent */

static int find_node(struct capture *c, const char *name, struct sl_diagnostics *d) {
  static const char *const kinds[] = {
      [SL_KIND_SOURCE] = "a source", [SL_KIND_SINK] = "a sink", [SL_KIND_CONSTANT] = "", [SL_KIND_KERNEL] = ""};
  const struct sl_graph *graph = sl_session_graph(c->session);
  const int32_t found = sl_graph_node_index(graph, name);
  if (found != SL_NONE) {
    const struct sl_node *node = &graph->nodes[found];
    c->node = (uint32_t)found;
    if (node->algorithm->kind == SL_KIND_KERNEL || node->algorithm->kind == SL_KIND_CONSTANT) {
      if (node->program != NULL)
        sl_diagnose(d, SL_ERROR, &node->location, name, NULL,
                    "it computes an expression of the graph, which a case cannot hold; capture a node that reads it");
      else if (node->live)
        return SL_OK;
      else
        sl_diagnose(d, SL_ERROR, &node->location, name, NULL, "it does not run, because nothing depends on it");
      return SL_EINVAL;
    }
    sl_diagnose(d, SL_ERROR, &node->location, name, NULL, "%s is %s: only kernels and constants can be captured",
                node->use, kinds[node->algorithm->kind]);
    return SL_EINVAL;
  }
  struct sl_nearest nearest;
  sl_nearest_begin(&nearest, name);
  for (uint32_t n = 0; n < graph->node_count; n++) sl_nearest_offer(&nearest, graph->nodes[n].name);
  char hint[256];
  const char *best = sl_nearest_result(&nearest);
  snprintf(hint, sizeof hint, "did you mean %s?", best ? best : "");
  sl_diagnose(d, SL_ERROR, NULL, NULL, best ? hint : NULL, "the graph has no node %s", name);
  return SL_EINVAL;
}

static int conclude(const struct capture *c, struct sl_diagnostics *d, FILE *file) {
  const struct progress *p = c->progress;
  const struct sl_node *node = node_of(c);
  char size[32];
  if (!p->has_inputs || p->log.state == SL_CHILD_NOT_RUN) {
    sl_diagnose(d, SL_ERROR, NULL, node->name, NULL, "%s", p->log.text);
    return SL_EINVAL;
  }
  sl_memory_text(p->bytes, size, sizeof size);
  fprintf(file, "%s: %s, node %s, %u %s, %s\n", c->path, node->use, node->name, p->event_count,
          sl_plural(p->event_count, "event", "events"), size);
  if (!p->has_outputs)
    sl_diagnose(d, SL_WARNING, NULL, node->name, NULL, "the case has no outputs, because the node failed: %s",
                p->log.text);
  return SL_OK;
}

static int capture(struct capture *c, const struct sl_options *options, const char *node, struct sl_diagnostics *d,
                   FILE *file) {
  int status = sl_session_open(options, d, &c->session);
  if (status == SL_OK) status = find_node(c, node, d);
  if (status < 0) return status;
  const int has_input = options->input_paths && options->input_paths[0];
  c->events_max = options->events ? options->events : has_input ? 0 : SIMULATED_EVENTS;
  c->progress = sl_shared_new(sizeof *c->progress);
  if (!c->progress) return SL_ENOMEM;
  sl_child_run(&c->progress->log, run_slices, c);
  return conclude(c, d, file);
}

SL_ANY_PROCESSOR int sl_capture(const struct sl_options *given, const char *node, const char *events, const char *path,
                                struct sl_diagnostics *d, FILE *file) {
  if (sl_processor_check(d) < 0) return SL_EINVAL;
  SL_IN_C_LOCALE(SL_ENOMEM);
  int status = sl_diagnose_size(d, "sl_options", given->size, sizeof *given);
  if (status < 0) return status;
  struct sl_options options = *given;
  struct capture c = {.path = path};
  options.device = "cpu";
  options.slots = 1;
  options.source_threads = 1; /* no events are generated ahead */
  options.output_is_optional = 1;
  if (options.slice_events == 0) options.slice_events = CAPTURED_EVENTS;
  status = parse_events(events, &c, d);
  if (status == SL_OK) status = capture(&c, &options, node, d, file);
  if (status == SL_ENOMEM) sl_diagnose(d, SL_ERROR, NULL, NULL, NULL, "out of memory");
  sl_shared_free(c.progress, sizeof *c.progress);
  sl_session_close(c.session);
  free(c.wanted);
  return status;
}
