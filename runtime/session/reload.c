/* reload.c: another configuration for a run. Steps 2 to 4 are in exchange.c.
 *
 * 1. Any thread: the new graph is read, compared with the present one and planned, and its constants are made, while
 *    the run goes on. The result is a candidate. Budgets of nodes that both graphs have begin with the values learned.
 * 2. Reading pauses; the slots deliver their slices in flight, and their threads end.
 * 3. The thread of sl_session_run ends the sinks, closes what belongs to the present configuration, moves the parts of
 *    the candidate into the setup, and opens slots, sinks and counts again. Arenas of two configurations never exist at
 *    the same time.
 * 4. Reading continues at the same event, with the same state of the source.
 */
#include "base/clock.h"
#include "base/locale.h"
#include "execute/fit.h"
#include "execute/services.h"
#include "execute/slots.h"
#include "graph/differences.h"
#include "plugin/tables.h"
#include "session/candidate.h"

#include <sluice/text.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------------------------------------------- texts */

static void free_list(char **list) {
  for (char **text = list; text && *text; text++) free(*text);
  free(list);
}

void sl_reload_texts_free(struct sl_reload_texts *texts) {
  free(texts->graph_text);
  free_list(texts->sets);
  free_list(texts->uses);
  *texts = (struct sl_reload_texts){0};
}

/* Copies a NULL-terminated list; NULL if out of memory. */
static char **copy_list(const char *const *list) {
  size_t count = 0;
  while (list[count]) count++;
  char **copy = calloc(count + 1, sizeof *copy);
  for (size_t i = 0; copy && i < count; i++) {
    copy[i] = strdup(list[i]);
    if (copy[i]) continue;
    free_list(copy);
    return NULL;
  }
  return copy;
}

/* Puts the change into the options of the candidate. */
static int apply(struct sl_candidate *c, const struct sl_reload *change) {
  struct sl_options *o = &c->setup.options;
  struct sl_reload_texts *texts = &c->texts;
  if (change->graph_text || change->graph_path) {
    o->graph_text = NULL;
    o->graph_text_bytes = 0;
  }
  if (change->graph_path) o->graph_path = change->graph_path; /* and with_paths: copied when they are searched */
  if (change->with_paths) o->with_paths = change->with_paths;
  if (change->graph_text) {
    texts->graph_text = malloc(change->graph_text_bytes + 1);
    if (!texts->graph_text) return SL_ENOMEM;
    memcpy(texts->graph_text, change->graph_text, change->graph_text_bytes);
    texts->graph_text[change->graph_text_bytes] = '\0';
    o->graph_text = texts->graph_text;
    o->graph_text_bytes = change->graph_text_bytes;
  }
  if (change->sets) o->sets = (const char *const *)(texts->sets = copy_list(change->sets));
  if (change->uses) o->uses = (const char *const *)(texts->uses = copy_list(change->uses));
  return (change->sets && !o->sets) || (change->uses && !o->uses) ? SL_ENOMEM : SL_OK;
}

/* ------------------------------------------------------------------------------------------------ candidates */

void sl_candidate_free(struct sl_candidate *c) {
  if (!c) return;
  for (uint32_t i = 0; c->slots && i < c->setup.slot_count; i++) sl_slot_close(&c->slots[i]);
  free(c->slots);
  sl_conditions_close(&c->conditions);
  sl_setup_close_tables(&c->setup);
  sl_layout_free(c->setup.layout);
  if (!c->keeps_graph) sl_graph_free(c->setup.graph);
  free(c->setup.source_fields);
  sl_files_close(&c->files);
  sl_reload_texts_free(&c->texts);
  free(c);
}

/* A candidate with what all configurations of the run share; NULL if out of memory. */
static struct sl_candidate *new_candidate(const struct sl_session *sn, struct sl_diagnostics *d) {
  const struct sl_setup *s = &sn->setup;
  struct sl_candidate *c = calloc(1, sizeof *c);
  if (!c) return NULL;
  c->setup = (struct sl_setup){.options = sn->reload.options,
                               .diagnostics = d,
                               .registry = s->registry, /* its entries keep their place */
                               .backend = s->backend,
                               .device_count = s->device_count,
                               .families = s->families,
                               .branches = s->branches,
                               .slot_count = s->slot_count,
                               .slice_events = s->slice_events,
                               .source_threads = s->source_threads,
                               .repeat = s->repeat,
                               .splits_runs = s->splits_runs,
                               .replan = s->replan,
                               .arena_bytes_max = s->arena_bytes_max,
                               .memory_check = s->memory_check,
                               .keep = s->keep,
                               .output_calls = s->output_calls,
                               .files = &c->files,
                               .record_calls = s->record_calls,
                               .first_input = s->first_input,
                               .is_received = s->is_received,
                               .received_paths = s->received_paths,
                               .received_names = s->received_names};
  for (uint32_t i = 0; i < s->device_count; i++) {
    c->setup.devices[i].device = s->devices[i].device;
    c->setup.devices[i].index = s->devices[i].index;
    c->setup.devices[i].node = s->devices[i].node;
    memcpy(c->setup.devices[i].name, s->devices[i].name, sizeof s->devices[i].name);
  }
  return c;
}

/* ----------------------------------------------------------------------------------- what may not change */

/* The node that a line of sl_graph_differences is about. */
static const struct sl_node *node_of(const struct sl_graph *g, const char *line) {
  const size_t length = strcspn(line, ".: ");
  for (uint32_t n = 0; n < g->node_count; n++)
    if (strncmp(g->nodes[n].name, line, length) == 0 && g->nodes[n].name[length] == '\0') return &g->nodes[n];
  return NULL;
}

static uint32_t kind_of(const struct sl_node *node) { return node ? node->algorithm->kind : SL_KIND_KERNEL; }

/* The member that a line "NODE.MEMBER: ..." is about, or SL_NONE. */
static int member_of(const struct sl_node *node, const char *line) {
  const char *dot = line + strlen(node->name);
  char name[128];
  if (*dot != '.') return SL_NONE;
  snprintf(name, sizeof name, "%.*s", (int)strcspn(dot + 1, ":"), dot + 1);
  return sl_member_index(node->algorithm, name);
}

/* 1 if both nodes have the same value of a property that only one of the canonical texts lists: the budget of an output
 * that only one of the graphs reads. */
static int is_same_value(const struct sl_node *before, const struct sl_node *after, int m) {
  const struct sl_member *member = &after->algorithm->members[m];
  if (member->kind != SL_MEMBER_PROPERTY || (member->flags & SL_FLAG_OPENED) == 0) return 0;
  return m < (int)before->algorithm->member_count && before->values[m].number == after->values[m].number;
}

/* 1 if a difference of a sink is one of its inputs or event lists, which may change. */
static int is_of_input(const struct sl_node *sink, const char *line) {
  if (strncmp(line + strlen(sink->name), ".events:", 8) == 0) return 1;
  const int m = member_of(sink, line);
  return m >= 0 && sink->algorithm->members[m].kind != SL_MEMBER_PROPERTY;
}

/* Reports a difference of the source or of a sink. */
static int check_line(const struct sl_setup *present, const struct sl_setup *s, const char *line, int length) {
  const struct sl_node *before = node_of(present->graph, line), *after = node_of(s->graph, line);
  const int is_source = kind_of(before) == SL_KIND_SOURCE || kind_of(after) == SL_KIND_SOURCE;
  const int is_sink = kind_of(before) == SL_KIND_SINK || kind_of(after) == SL_KIND_SINK;
  if (!is_source && !is_sink) return SL_OK;
  if (is_sink && before && after && is_of_input(after, line)) return SL_OK;
  const int m = after ? member_of(after, line) : SL_NONE;
  if (m >= 0 && before && is_same_value(before, after, m)) return SL_OK;
  const struct sl_location *at = m >= 0 ? &after->value_locations[m] : after ? &after->use_location : NULL;
  if (m >= 0 && !at->file) at = &after->location;
  sl_diagnose(s->diagnostics, SL_ERROR, at, after ? after->name : NULL, "end the run, and begin it with this graph",
              "%s cannot change while the run goes on: %.*s", is_source ? "the source" : "sinks", length, line);
  return SL_EINVAL;
}

/* Reports everything that a change may not change. */
static int check_differences(const struct sl_setup *present, const struct sl_setup *s) {
  char *lines = sl_graph_differences(present->graph->text, s->graph->text);
  if (!lines) return SL_ENOMEM;
  int status = SL_OK;
  for (const char *line = lines; *line;) {
    const size_t length = strcspn(line, "\n");
    const int checked = check_line(present, s, line, (int)length);
    if (checked < 0) status = checked;
    line += length + (line[length] == '\n');
  }
  free(lines);
  if (s->options.slice_events == 0 && s->graph->slice_events != present->graph->slice_events) {
    sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, "end the run, and begin it with this graph",
                "the slice size cannot change while the run goes on: budgets.events is %u instead of %u",
                s->graph->slice_events, present->graph->slice_events);
    status = SL_EINVAL;
  }
  return status;
}

/* The first node that reads a member of the source. */
static const struct sl_node *reader_of(const struct sl_graph *g, uint32_t member) {
  for (uint32_t i = 0; i < g->order_count; i++) {
    const struct sl_node *node = &g->nodes[g->order[i]];
    for (uint32_t m = 0; m < node->algorithm->member_count; m++)
      for (uint32_t k = 0; k < node->inputs[m].count; k++)
        if (node->inputs[m].ports[k].node == (int32_t)g->source && node->inputs[m].ports[k].member == (int32_t)member)
          return node;
  }
  return NULL;
}

/* Sources may read ahead, for the fields that the run began with. Reports outputs of the source with further fields. */
static int check_source_fields(const struct sl_setup *s) {
  const struct sl_graph *g = s->graph;
  const struct sl_node *source = &g->nodes[g->source];
  const uint8_t *is_filled = s->source_fields;
  int status = SL_OK;
  for (uint32_t m = 0; m < source->algorithm->member_count; m++) {
    const struct sl_member *member = &source->algorithm->members[m];
    const uint32_t fields = member->collection ? member->collection->field_count : 0;
    uint32_t missing = 0;
    for (uint32_t f = 0; f < fields; f++, is_filled++)
      missing += s->layout->members[g->source][m].storage[f] != SL_NONE && !*is_filled;
    if (missing == 0 || member->kind != SL_MEMBER_OUT) continue;
    const struct sl_node *reader = reader_of(g, m);
    sl_diagnose(s->diagnostics, SL_ERROR, reader ? &reader->location : NULL, reader ? reader->name : NULL,
                "end the run, and begin it with this graph",
                "the source cannot change while the run goes on: the graph that the run began with does not read %s.%s",
                source->name, member->name);
    status = SL_EINVAL;
  }
  return status;
}

static int check_run(struct sl_session *sn, struct sl_diagnostics *d) {
  pthread_mutex_lock(&sn->reload.lock);
  const int is_possible = sn->reload.is_possible;
  pthread_mutex_unlock(&sn->reload.lock);
  if (!is_possible) {
    sl_diagnose(d, SL_ERROR, NULL, NULL, NULL, "the configuration can change only while the run reads its input");
    return SL_EINTERRUPTED;
  }
  if (sn->reload.options.race || sn->reload.options.explain) {
    sl_diagnose(d, SL_ERROR, NULL, NULL, NULL, "the configuration of a run %s cannot change",
                sn->reload.options.race ? "with --race" : "that explains decisions");
    return SL_EINVAL;
  }
  pthread_mutex_lock(&sn->delivery.lock);
  const char *path = sl_rotation_is_on(&sn->rotation) ? NULL : sn->files.file_of_sink;
  if (path)
    sl_diagnose(d, SL_ERROR, NULL, NULL, "begin the run with --rotate: each file then has one configuration",
                "the configuration cannot change while a sink writes %s", path);
  pthread_mutex_unlock(&sn->delivery.lock);
  return path ? SL_EINVAL : SL_OK;
}

/* -------------------------------------------------------------------------------------------------- checking */

/* Starts with the budgets of the newest plan for nodes that both graphs have, where their own value is the same. */
static int learn(const struct sl_session *sn, const struct sl_graph *g, struct sl_budgets *budgets) {
  const struct sl_graph *before = sn->setup.graph;
  const struct sl_layout *newest = atomic_load(&sn->replan.newest);
  if (sl_budgets_open(budgets, g, NULL) < 0) return SL_ENOMEM;
  for (uint32_t n = 0; n < g->node_count; n++) {
    const struct sl_algorithm *a = g->nodes[n].algorithm;
    const int32_t old = sl_graph_node_index(before, g->nodes[n].name);
    if (old == SL_NONE || strcmp(before->nodes[old].use, g->nodes[n].use) != 0) continue;
    for (uint32_t m = 0; a->kind == SL_KIND_KERNEL && m < a->member_count; m++)
      if (sl_is_budget(&a->members[m]) && g->nodes[n].values[m].number == before->nodes[old].values[m].number)
        *sl_budget(budgets, n, m) = *sl_budget(&newest->budgets, (uint32_t)old, m);
  }
  return SL_OK;
}

/* Plans with the budgets; if the arena exceeds its limit, with those of the graph. */
static int lay_out(const struct sl_session *sn, struct sl_setup *s, const struct sl_budgets *budgets) {
  int status = sl_setup_lay_out(s, s->slice_events, budgets, s->diagnostics, &s->layout);
  if (status < 0 || s->layout->arena_bytes <= sn->setup.arena_bytes_max) return status;
  sl_layout_free(s->layout);
  s->layout = NULL;
  return sl_setup_lay_out(s, s->slice_events, NULL, s->diagnostics, &s->layout);
}

/* Compares the graph with the present one, which cannot be exchanged meanwhile. *is_same_source: its source has the
 * same algorithm. */
static int compare(struct sl_session *sn, struct sl_candidate *c, struct sl_budgets *budgets, int *is_same_source) {
  pthread_mutex_lock(&sn->delivery.lock);
  const struct sl_graph *before = sn->setup.graph, *after = c->setup.graph;
  *is_same_source = strcmp(before->nodes[before->source].use, after->nodes[after->source].use) == 0;
  int status = learn(sn, c->setup.graph, budgets);
  c->setup.source_fields = sl_source_fields(sn->setup.layout);
  if (!c->setup.source_fields) status = SL_ENOMEM;
  if (status == SL_OK) status = check_differences(&sn->setup, &c->setup);
  pthread_mutex_unlock(&sn->delivery.lock);
  return status;
}

static int plan(struct sl_session *sn, struct sl_setup *s, const struct sl_budgets *budgets) {
  int status = lay_out(sn, s, budgets);
  if (status < 0 || !s->layout) return status;
  const int filled = check_source_fields(s);
  pthread_mutex_lock(&sn->delivery.lock);
  status = sl_fit_change(s, &sn->setup);
  pthread_mutex_unlock(&sn->delivery.lock);
  return status == SL_OK ? filled : status;
}

/* Plans, and makes the constants, with the present conditions. */
static int make(struct sl_session *sn, struct sl_candidate *c, const struct sl_budgets *budgets) {
  struct sl_setup *s = &c->setup;
  int status = plan(sn, s, budgets);
  if (status == SL_OK) status = sl_setup_open_tables(s);
  if (status < 0) return status;
  pthread_mutex_lock(&sn->delivery.lock);
  const uint32_t value = sn->conditions.calls.value;
  const int is_known = sn->setup.conditions && sn->conditions.calls.is_used;
  pthread_mutex_unlock(&sn->delivery.lock);
  return sl_conditions_open(&c->conditions, s, &sn->slots, &sn->delivery, is_known ? &value : NULL);
}

/* Checks of the graph that was read. All are made, so that all reasons are reported; but the graph of another source is
 * not planned. */
static int check_graph(struct sl_session *sn, struct sl_candidate *c, struct sl_budgets *budgets) {
  struct sl_setup *s = &c->setup;
  int is_same_source = 0, result = compare(sn, c, budgets, &is_same_source);
  if (result == SL_ENOMEM) return result;
  int status = sl_options_check_effects(s);
  if (status < 0) result = status;
  status = sl_services_open(s);
  if (status < 0) return status;
  status = sl_properties_check(s);
  const int is_valid = status == SL_OK;
  if (status < 0) result = status;
  status = sl_files_check_graph(&c->files);
  if (status < 0) result = status;
  if (is_same_source && is_valid) {
    status = make(sn, c, budgets);
    if (status < 0) result = status;
  }
  return result;
}

static int open_candidate(struct sl_session *sn, struct sl_candidate *c) {
  struct sl_setup *s = &c->setup;
  struct sl_budgets budgets = {0};
  pthread_mutex_lock(&sn->delivery.lock);
  int status = sl_files_copy(&sn->files, s, &c->files);
  pthread_mutex_unlock(&sn->delivery.lock);
  if (status == SL_OK) status = sl_files_find_graphs(&c->files);
  if (status == SL_OK) status = sl_options_open_graph(s, &sn->files.begin, &sn->reload.options);
  if (status == SL_OK) status = sl_conditions_find(s);
  if (status < 0) return status;
  sl_parts_give_input(s, &sn->files.begin);
  status = check_graph(sn, c, &budgets);
  sl_parts_take_input(s);
  sl_budgets_close(&budgets);
  return status;
}

/* Lets the candidate take effect, in place of one that has not yet. */
static int enter(struct sl_session *sn, struct sl_candidate *c) {
  pthread_mutex_lock(&sn->reload.lock);
  const int is_possible = sn->reload.is_possible;
  struct sl_candidate *dropped = is_possible ? sn->reload.pending : c;
  if (is_possible) {
    sn->reload.pending = c;
    atomic_store(&sn->reading.is_paused, 1);
  }
  pthread_mutex_unlock(&sn->reload.lock);
  sl_candidate_free(dropped);
  return is_possible ? SL_OK : SL_EINTERRUPTED;
}

static int check(struct sl_session *sn, const struct sl_reload *change, struct sl_diagnostics *d) {
  int status = check_run(sn, d);
  if (status < 0) return status;
  struct sl_candidate *c = new_candidate(sn, d);
  if (!c) return SL_ENOMEM;
  const size_t errors = sl_diagnostics_errors(d);
  status = apply(c, change);
  if (status == SL_OK) status = open_candidate(sn, c);
  if (status < 0) {
    (void)sl_report_failure(&c->setup, status, errors, "the configuration could not be opened");
    sl_candidate_free(c);
    return status;
  }
  status = enter(sn, c);
  if (status < 0) sl_diagnose(d, SL_ERROR, NULL, NULL, NULL, "the run has read all its input");
  return status;
}

int sl_session_reload(struct sl_session *sn, const struct sl_reload *change, struct sl_diagnostics *d) {
  SL_IN_C_LOCALE(SL_ENOMEM);
  int status = sl_diagnose_size(d, "sl_reload", change->size, sizeof *change);
  if (status < 0) return status;
  pthread_mutex_lock(&sn->reload.checking);
  status = check(sn, change, d);
  pthread_mutex_unlock(&sn->reload.checking);
  return status;
}
