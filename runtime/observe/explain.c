/* explain.c: explanations of decisions (sl_options.explain).
 *
 *   1. After a node has run on a slice, its algorithm explains each requested event on its list: rows are collected per
 *      event and node. Only the best candidate is kept, unless all are requested. If the slice runs again in parts, the
 *      rows are replaced.
 *   2. When an event is delivered, its rows are completed with units and doc strings of properties, and passed on.
 *
 * Texts are kept once for the whole run: there are few, as requirements are part of the code or of an expression.
 */
#include "observe/explain.h"

#include "base/event_id.h"
#include "base/locale.h"
#include "base/nearest.h"
#include "execute/delivery.h"

#include <sluice/sluice.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { TEXT_SLOTS = 4096 };

struct sl_explain_text {
  struct sl_explain_text *next;
  char text[];
};

/* The rows of one node for one event. */
struct sl_explain_node {
  struct sl_explained_row *rows; /* of candidates and, from the last one on, of the event */
  struct candidate {
    uint32_t index, is_accepted, unmet;
    double miss; /* relative distance to the limit of the first requirement that is not met */
    size_t first, count;
  } * candidates;
  size_t row_count, row_capacity, candidate_count, candidate_capacity;
  uint32_t has_run, is_accepted, total, accepted;
};

/* Context of the functions that an algorithm calls. */
struct recorder {
  struct sl_explaining *explaining;
  struct sl_explain_node *node;
  uint32_t is_candidate; /* between begin and end */
  uint32_t index;
  size_t first_row;             /* of the present candidate */
  struct sl_explained_row *own; /* rows of the event, kept apart until the end */
  size_t own_count, own_capacity;
};

/* --------------------------------------------------------------------------------------------------- recording */

static const char *keep_text(struct sl_explaining *x, const char *text) {
  if (!text) return NULL;
  const size_t bytes = strlen(text) + 1;
  struct sl_explain_text **slot = &x->hash[XXH3_64bits(text, bytes) % TEXT_SLOTS];
  for (struct sl_explain_text *t = *slot; t; t = t->next)
    if (strcmp(t->text, text) == 0) return t->text;
  struct sl_explain_text *t = malloc(sizeof *t + bytes);
  if (!t) {
    x->has_failed = 1;
    return "";
  }
  memcpy(t->text, text, bytes);
  t->next = *slot;
  *slot = t;
  return t->text;
}

/* Makes room for one more entry. Returns 0 if memory is short. */
static int make_room(struct sl_explaining *x, void **at, size_t count, size_t *capacity, size_t bytes) {
  if (count < *capacity) return 1;
  const size_t larger = 2 * *capacity + 16;
  void *grown = realloc(*at, larger * bytes);
  if (!grown) x->has_failed = 1;
  if (!grown) return 0;
  *at = grown;
  *capacity = larger;
  return 1;
}

static void on_requirement(void *context, const struct sl_requirement *r) {
  struct recorder *c = context;
  struct sl_explaining *x = c->explaining;
  struct sl_explain_node *n = c->node;
  struct sl_explained_row row = {.requirement = *r};
  row.requirement.name = keep_text(x, r->name);
  row.requirement.comparison = keep_text(x, r->comparison);
  row.requirement.limit_name = keep_text(x, r->limit_name);
  if (c->is_candidate && make_room(x, (void **)&n->rows, n->row_count, &n->row_capacity, sizeof row))
    n->rows[n->row_count++] = row;
  if (!c->is_candidate && make_room(x, (void **)&c->own, c->own_count, &c->own_capacity, sizeof row))
    c->own[c->own_count++] = row;
}

static void on_begin(void *context, uint32_t index) {
  struct recorder *c = context;
  c->is_candidate = 1;
  c->index = index;
  c->first_row = c->node->row_count;
}

/* |value - limit| / |limit|; 1 for a condition. */
static double miss_of(const struct sl_requirement *r) {
  const double distance = r->value > r->limit ? r->value - r->limit : r->limit - r->value;
  const double size = r->limit < 0 ? -r->limit : r->limit;
  return *r->comparison && size > 0 ? distance / size : 1;
}

/* Requirements that are not met. `miss`, or NULL: of the first one. */
static uint32_t count_unmet(const struct sl_explained_row *rows, size_t count, uint32_t is_accepted, double *miss) {
  uint32_t unmet = 0;
  for (size_t i = 0; i < count; i++) {
    const struct sl_requirement *r = &rows[i].requirement;
    if (!sl_requirement_rejects(i > 0 ? &rows[i - 1].requirement : NULL, r)) continue;
    if (unmet == 0 && miss) *miss = miss_of(r);
    unmet++;
  }
  return unmet == 0 && !is_accepted ? UINT32_MAX : unmet;
}

static int is_better(const struct candidate *a, const struct candidate *b) {
  return a->unmet != b->unmet ? a->unmet < b->unmet : a->miss < b->miss;
}

static void on_end(void *context, uint32_t is_accepted) {
  struct recorder *c = context;
  struct sl_explain_node *n = c->node;
  const size_t count = n->row_count - c->first_row;
  struct candidate now = {.index = c->index, .is_accepted = is_accepted, .first = c->first_row, .count = count};
  now.unmet = count_unmet(n->rows + c->first_row, count, is_accepted, &now.miss);
  c->is_candidate = 0;
  n->total++;
  n->accepted += is_accepted;
  const int all = c->explaining->request->all_candidates != 0;
  if (!all && n->candidate_count > 0 && !is_better(&now, &n->candidates[0])) {
    n->row_count = c->first_row; /* the one before is as good or better */
    return;
  }
  if (!all && n->candidate_count > 0) {
    memmove(n->rows, n->rows + c->first_row, count * sizeof *n->rows);
    n->row_count = count;
    n->candidates[0] = now;
    n->candidates[0].first = 0;
    return;
  }
  if (make_room(c->explaining, (void **)&n->candidates, n->candidate_count, &n->candidate_capacity,
                sizeof *n->candidates))
    n->candidates[n->candidate_count++] = now;
}

static void explain_event(struct sl_explaining *x, struct sl_explain_node *n, const struct sl_algorithm *a,
                          const void *args, uint32_t event) {
  struct recorder c = {.explaining = x, .node = n};
  struct sl_explanation e = {
      .size = sizeof e, .context = &c, .requirement = on_requirement, .begin = on_begin, .end = on_end};
  n->row_count = n->candidate_count = 0;
  n->total = n->accepted = 0;
  n->has_run = 1;
  n->is_accepted = a->explain(&e, args, event);
  c.is_candidate = 1; /* the rows of the event follow those of candidates */
  for (size_t i = 0; i < c.own_count; i++)
    if (make_room(x, (void **)&n->rows, n->row_count, &n->row_capacity, sizeof *n->rows))
      n->rows[n->row_count++] = c.own[i];
  free(c.own);
}

/* ------------------------------------------------------------------------------------------------------ events */

static int is_requested(const struct sl_explaining *x, const struct sl_event *event) {
  const struct sl_explain *r = x->request;
  for (uint64_t i = 0; i < r->event_count; i++)
    if (sl_event_id_is(&r->events[i], event)) return 1;
  return r->event_count == 0;
}

static int has_event(const uint32_t *numbers, uint32_t count, uint32_t event) {
  uint32_t begin = 0, end = count;
  while (begin < end) {
    const uint32_t middle = begin + (end - begin) / 2;
    if (numbers[middle] == event) return 1;
    if (numbers[middle] < event)
      begin = middle + 1;
    else
      end = middle;
  }
  return 0;
}

/* Whether the node ran on an event of the running part. */
static int runs_on(const struct sl_algorithm *a, const void *args, uint32_t event) {
  for (uint32_t m = 0; m < a->member_count; m++) {
    if (a->members[m].kind != SL_MEMBER_EVENTS) continue;
    const struct sl_events *events =
        (const struct sl_events *)(const void *)((const unsigned char *)args + a->members[m].args_offset);
    return events->numbers ? has_event(events->numbers, *events->count, event) : event < *events->count;
  }
  return 1;
}

static uint32_t explained_index(const struct sl_explaining *x, uint32_t node) {
  uint32_t k = 0;
  while (k < x->node_count && x->nodes[k] != node) k++;
  return k;
}

static void note_lists(struct sl_explaining *x, uint32_t node, const unsigned char *args, uint32_t event,
                       uint32_t index) {
  const struct sl_algorithm *a = x->setup->graph->nodes[node].algorithm;
  for (uint32_t l = 0; l < x->list_count; l++) {
    if ((uint32_t)x->lists[l].node != node) continue;
    const struct sl_event_list *list =
        (const struct sl_event_list *)(const void *)(args + a->members[x->lists[l].member].args_offset);
    x->listed[(size_t)index * x->list_count + l] = (uint8_t)has_event(list->numbers, *list->count, event);
  }
}

static void on_node(void *context, struct sl_slot *slot, const struct sl_slice *slice, uint32_t node, uint64_t events) {
  struct sl_explaining *x = context;
  (void)events;
  if (!slice) return; /* the source or a sink */
  const struct sl_algorithm *a = x->setup->graph->nodes[node].algorithm;
  const uint32_t k = explained_index(x, node);
  for (uint32_t e = 0; e < slot->event_count; e++) {
    const uint32_t index = slot->first_event + e;
    if (!is_requested(x, &slice->input->events[index])) continue;
    note_lists(x, node, slice->args[node], e, index);
    if (k == x->node_count) continue;
    struct sl_explain_node *n = &x->at[(size_t)index * x->node_count + k];
    n->has_run = 0;
    if (runs_on(a, slice->args[node], e)) explain_event(x, n, a, slice->args[node], e);
  }
}

/* -------------------------------------------------------------------------------------------------- delivering */

/* Replaces a limit in the source, "a->min_pt", by the name of the property, and adds its unit and doc string. Other
 * expressions of the source have no name that means something to a user. */
static void complete_rows(const struct sl_algorithm *a, struct sl_explained_row *rows, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const char *name = rows[i].requirement.limit_name;
    if (!name) continue;
    const int is_number = strspn(name, "0123456789.-+eufUF") == strlen(name);
    if (is_number || strstr(name, "->")) rows[i].requirement.limit_name = NULL;
    for (uint32_t m = 0; strncmp(name, "a->", 3) == 0 && m < a->member_count; m++) {
      if (a->members[m].kind != SL_MEMBER_PROPERTY || strcmp(a->members[m].name, name + 3) != 0) continue;
      rows[i].requirement.limit_name = a->members[m].name;
      rows[i].unit = a->members[m].unit;
      rows[i].doc = a->members[m].doc;
    }
  }
}

/* The node that makes the items of the port `candidates`. */
static const char *maker_of(const struct sl_graph *g, const struct sl_node *node) {
  for (uint32_t m = 0; m < node->algorithm->member_count; m++)
    if (node->algorithm->members[m].kind == SL_MEMBER_IN && strcmp(node->algorithm->members[m].name, "candidates") == 0)
      return node->inputs[m].count == 1 ? g->nodes[node->inputs[m].ports[0].node].name : NULL;
  return NULL;
}

/* Arrays of one event, that are filled and passed on. */
struct passing {
  struct sl_explained_node *nodes;
  struct sl_explained_candidate *candidates;
  struct sl_explained_list *lists;
  const char **missing;
};

static void missing_lists(const struct sl_explaining *x, const struct sl_node *node, uint32_t index,
                          const char ***missing) {
  for (uint32_t i = 0; i < node->list_count; i++)
    for (uint32_t l = 0; l < x->list_count; l++)
      if (x->lists[l].node == node->lists[i].node && x->lists[l].member == node->lists[i].member &&
          !x->listed[(size_t)index * x->list_count + l])
        *(*missing)++ = x->list_names[l];
  *(*missing)++ = NULL;
}

static struct sl_explained_node pass_node(const struct sl_explaining *x, uint32_t k, uint32_t index,
                                          struct sl_explained_candidate **to, const char ***missing) {
  const struct sl_node *node = &x->setup->graph->nodes[x->nodes[k]];
  struct sl_explain_node *n = &x->at[(size_t)index * x->node_count + k];
  const size_t own = n->candidate_count
                         ? n->candidates[n->candidate_count - 1].first + n->candidates[n->candidate_count - 1].count
                         : 0;
  struct sl_explained_node result = {
      .name = node->name, .algorithm = node->use, .candidates = maker_of(x->setup->graph, node)};
  if (n->has_run) {
    complete_rows(node->algorithm, n->rows, n->row_count);
    result.has_run = 1;
    result.is_accepted = n->is_accepted;
    result.total = n->total;
    result.accepted = n->accepted;
    result.candidate_count = (uint32_t)n->candidate_count;
    result.at = *to;
    result.rows = n->rows + own;
    result.row_count = (uint32_t)(n->row_count - own);
    result.unmet = count_unmet(result.rows, result.row_count, 1, NULL);
    for (size_t i = 0; i < n->candidate_count; i++) {
      const struct candidate *c = &n->candidates[i];
      if (is_better(c, &n->candidates[result.best])) result.best = (uint32_t)i;
      *(*to)++ =
          (struct sl_explained_candidate){c->index, c->is_accepted, c->unmet, (uint32_t)c->count, n->rows + c->first};
    }
  }
  result.missing = *missing;
  missing_lists(x, node, index, missing);
  return result;
}

static int pass_event(struct sl_explaining *x, const struct sl_input *input, uint32_t index) {
  const struct sl_graph *g = x->setup->graph;
  size_t candidates = 1, missing = 1;
  char reason[512];
  for (uint32_t k = 0; k < x->node_count; k++) {
    candidates += x->at[(size_t)index * x->node_count + k].candidate_count;
    missing += g->nodes[x->nodes[k]].list_count + 1;
  }
  struct passing p = {calloc(x->node_count + 1, sizeof *p.nodes), calloc(candidates, sizeof *p.candidates),
                      calloc(x->list_count + 1, sizeof *p.lists), calloc(missing, sizeof *p.missing)};
  int status = p.nodes && p.candidates && p.lists && p.missing ? SL_OK : SL_ENOMEM;
  if (status == SL_OK) {
    struct sl_explained_candidate *to = p.candidates;
    const char **names = p.missing;
    for (uint32_t k = 0; k < x->node_count; k++) p.nodes[k] = pass_node(x, k, index, &to, &names);
    for (uint32_t l = 0; l < x->list_count; l++)
      p.lists[l] = (struct sl_explained_list){x->list_names[l], x->listed[(size_t)index * x->list_count + l], 0};
    struct sl_explained_event event = {.event = &input->events[index],
                                       .nodes = p.nodes,
                                       .lists = p.lists,
                                       .node_count = x->node_count,
                                       .list_count = x->list_count};
    if (input->events[index].error) {
      event.error_node = sl_event_error_describe(x->setup, input, index, reason, sizeof reason);
      event.error = reason;
    }
    const locale_t users = sl_locale_begin_callback();
    status = x->request->on_event(x->request->context, &event);
    sl_locale_end_callback(users);
  }
  free(p.nodes);
  free(p.candidates);
  free(p.lists);
  free((void *)p.missing);
  return status;
}

static int on_deliver(void *context, struct sl_slot *slot, const struct sl_batch *batch, int empty) {
  struct sl_explaining *x = context;
  const struct sl_input *input = slot->slices_in_flight[0].input;
  const uint32_t first = (uint32_t)(batch->events - input->events);
  int status = x->has_failed ? SL_ENOMEM : SL_OK;
  (void)empty;
  for (uint32_t e = 0; e < batch->event_count && status == SL_OK; e++) {
    const uint32_t index = first + e;
    if (is_requested(x, &input->events[index])) status = pass_event(x, input, index);
    for (uint32_t k = 0; k < x->node_count; k++) x->at[(size_t)index * x->node_count + k].has_run = 0;
    memset(x->listed + (size_t)index * x->list_count, 0, x->list_count);
  }
  return status;
}

const struct sl_observer_calls sl_explaining_observer = {.node = on_node, .deliver = on_deliver};

/* ----------------------------------------------------------------------------------------------------- opening */

static void add_node(struct sl_explaining *x, uint32_t n) {
  if (explained_index(x, n) == x->node_count) x->nodes[x->node_count++] = n;
}

static int unknown_node(const struct sl_setup *s, const char *name) {
  char hint[160] = "`sluice check` lists the nodes";
  struct sl_nearest nearest;
  sl_nearest_begin(&nearest, name);
  for (uint32_t n = 0; n < s->graph->node_count; n++)
    if (s->graph->nodes[n].algorithm->explain) sl_nearest_offer(&nearest, s->graph->nodes[n].name);
  if (sl_nearest_result(&nearest)) snprintf(hint, sizeof hint, "did you mean %s?", sl_nearest_result(&nearest));
  sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, hint, "the graph has no node '%s'", name);
  return SL_EINVAL;
}

static int no_requirements(const struct sl_setup *s, const struct sl_node *node) {
  const int is_idle = node && node->algorithm->explain && !node->live;
  if (is_idle)
    sl_diagnose(s->diagnostics, SL_ERROR, &node->location, node->name, "add it to `outputs`",
                "the node does not run, because no output of the graph depends on it");
  else if (node)
    sl_diagnose(s->diagnostics, SL_ERROR, &node->location, node->name, "see sluice/explain.h",
                "%s declares no requirements, so that its decisions cannot be explained", node->use);
  else
    sl_diagnose(s->diagnostics, SL_ERROR, NULL, NULL, "requirements are declared as in sluice/explain.h",
                "no algorithm of the graph declares requirements, so that no decision can be explained");
  return SL_EINVAL;
}

static int find_nodes(struct sl_explaining *x) {
  const struct sl_setup *s = x->setup;
  const struct sl_graph *g = s->graph;
  const char *const *names = x->request->nodes;
  int status = SL_OK;
  for (uint32_t n = 0; !names && n < g->node_count; n++)
    if (g->nodes[n].live && g->nodes[n].algorithm->explain) add_node(x, n);
  if (!names && x->node_count == 0) return no_requirements(s, NULL);
  for (size_t i = 0; names && names[i] && status == SL_OK; i++) {
    const int32_t n = sl_graph_node_index(g, names[i]);
    if (n == SL_NONE) {
      status = unknown_node(s, names[i]);
    } else if (!g->nodes[n].live || !g->nodes[n].algorithm->explain) {
      status = no_requirements(s, &g->nodes[n]);
    } else {
      add_node(x, (uint32_t)n);
    }
  }
  return status;
}

static char *list_name(const struct sl_node *node, uint32_t member) {
  uint32_t lists = 0;
  for (uint32_t m = 0; m < node->algorithm->member_count; m++)
    lists += node->algorithm->members[m].kind == SL_MEMBER_OUT;
  const char *port = node->algorithm->members[member].name;
  const size_t bytes = strlen(node->name) + strlen(port) + 2;
  char *name = malloc(bytes);
  if (name) snprintf(name, bytes, "%s%s%s", node->name, lists > 1 ? "." : "", lists > 1 ? port : "");
  return name;
}

static int find_lists(struct sl_explaining *x) {
  const struct sl_graph *g = x->setup->graph;
  uint32_t count = 0;
  for (uint32_t n = 0; n < g->node_count; n++) count += g->nodes[n].algorithm->member_count;
  x->lists = calloc(count + 1, sizeof *x->lists);
  x->list_names = calloc(count + 1, sizeof *x->list_names);
  if (!x->lists || !x->list_names) return SL_ENOMEM;
  for (uint32_t i = 0; i < g->order_count; i++) {
    const struct sl_node *node = &g->nodes[g->order[i]];
    for (uint32_t m = 0; m < node->algorithm->member_count; m++) {
      const struct sl_member *member = &node->algorithm->members[m];
      if (node->algorithm->kind != SL_KIND_KERNEL || member->kind != SL_MEMBER_OUT ||
          strcmp(member->collection->name, "sl_event_list") != 0)
        continue;
      x->lists[x->list_count] = (struct sl_port){(int32_t)g->order[i], (int32_t)m};
      x->list_names[x->list_count] = list_name(node, m);
      if (!x->list_names[x->list_count++]) return SL_ENOMEM;
    }
  }
  return SL_OK;
}

int sl_explaining_open(struct sl_explaining *x, struct sl_setup *s) {
  x->request = s->options.explain;
  x->setup = s;
  if (!x->request) return SL_OK;
  x->event_capacity = s->slice_events;
  x->nodes = calloc(s->graph->node_count + 1, sizeof *x->nodes);
  x->hash = calloc(TEXT_SLOTS, sizeof *x->hash);
  int status = x->nodes && x->hash ? find_nodes(x) : SL_ENOMEM;
  if (status == SL_OK) status = find_lists(x);
  if (status < 0) return status;
  x->at = calloc((size_t)x->event_capacity * x->node_count + 1, sizeof *x->at);
  x->listed = calloc((size_t)x->event_capacity * x->list_count + 1, 1);
  return x->at && x->listed ? SL_OK : SL_ENOMEM;
}

void sl_explaining_close(struct sl_explaining *x) {
  for (size_t i = 0; x->at && i < (size_t)x->event_capacity * x->node_count; i++) {
    free(x->at[i].rows);
    free(x->at[i].candidates);
  }
  for (uint32_t i = 0; x->hash && i < TEXT_SLOTS; i++)
    while (x->hash[i]) {
      struct sl_explain_text *next = x->hash[i]->next;
      free(x->hash[i]);
      x->hash[i] = next;
    }
  for (uint32_t l = 0; x->list_names && l < x->list_count; l++) free(x->list_names[l]);
  free(x->list_names);
  free(x->lists);
  free(x->nodes);
  free(x->hash);
  free(x->at);
  free(x->listed);
  *x = (struct sl_explaining){0};
}
