/* conditions.c: constants that depend on the run number of events.
 *
 * Constants with ${conditions} in a property, constants made from them, and what kernel nodes prepare from both are
 * made again for each value. Two sets are resident, the present one, in the setup, and the one before, so that
 * alternating values read no files. A slice that needs other constants than the present ones runs alone
 * (execute/conditions.h):
 *
 *   1. The set before becomes the present one if it has the value. Otherwise it is closed, and the set of the value is
 *      made on the host and copied to the devices.
 *   2. All slots are bound to it.
 *   3. If it cannot be made, the events of the value become events with an error, until the graph is read again.
 */
#include "constants/conditions.h"

#include "constants/constants.h"
#include "execute/memory_check.h"
#include "execute/order.h"
#include "execute/services.h"
#include "execute/slots.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

/* ----------------------------------------------------------------------------------------------- the files */

/* "conditions/[0-9]*" for "conditions/%d", with the characters of the text escaped. */
static char *glob_pattern(const struct sl_graph_conditions *c) {
  const char *const texts[] = {c->prefix, "[0-9]*", c->suffix};
  char *pattern = malloc(2 * strlen(c->files) + 16), *to = pattern;
  for (uint32_t i = 0; pattern && i < 3; i++)
    for (const char *from = texts[i]; *from; from++) {
      if (i != 1 && strchr("*?[\\", *from)) *to++ = '\\';
      *to++ = *from;
    }
  if (pattern) *to = '\0';
  return pattern;
}

/* 1 if the path is that of a value. */
static int value_of(const struct sl_graph *g, const char *path, uint32_t *value) {
  char own[PATH_MAX], *end;
  errno = 0;
  const unsigned long number = strtoul(path + strlen(g->conditions.prefix), &end, 10);
  *value = (uint32_t)number;
  return errno == 0 && number <= UINT32_MAX && sl_graph_conditions_path(g, *value, own) && strcmp(own, path) == 0;
}

static int compare(const void *a, const void *b) {
  const uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
  return (one > other) - (one < other);
}

/* Lists the values that have files, in ascending order. */
static int list_values(const struct sl_graph *g, uint32_t **values, uint32_t *count) {
  glob_t found = {0};
  char *pattern = glob_pattern(&g->conditions);
  *count = 0;
  *values = NULL;
  const int status = pattern ? glob(pattern, 0, NULL, &found) : GLOB_NOSPACE;
  if (status == 0) *values = malloc(found.gl_pathc * sizeof **values);
  for (size_t i = 0; *values && i < found.gl_pathc; i++)
    *count += (uint32_t)value_of(g, found.gl_pathv[i], *values + *count);
  if (*count > 0) qsort(*values, *count, sizeof **values, compare);
  globfree(&found);
  free(pattern);
  return status == GLOB_NOSPACE || (status == 0 && !*values) ? SL_ENOMEM : SL_OK;
}

/* Puts the path of a value into the properties. Returns 1 if there is a file or folder, else 0 with errno. */
static int set_value(struct sl_graph *g, uint32_t value, char path[PATH_MAX]) {
  if (!sl_graph_conditions_path(g, value, path)) {
    errno = ENAMETOOLONG;
    return 0;
  }
  sl_graph_set_conditions(g, path);
  return access(path, F_OK) == 0;
}

int sl_conditions_find(struct sl_setup *s) {
  const struct sl_graph_conditions *conditions = &s->graph->conditions;
  uint32_t *values, count;
  char path[PATH_MAX];
  if (!conditions->files) return SL_OK;
  int status = list_values(s->graph, &values, &count);
  if (status == SL_OK && count == 0) {
    sl_diagnose(s->diagnostics, SL_ERROR, &conditions->location, NULL,
                "the path is relative to the current folder, like those of properties",
                "no file or folder matches `%s`", conditions->files);
    status = SL_EGRAPH;
  }
  if (status == SL_OK) (void)set_value(s->graph, values[0], path);
  free(values);
  return status;
}

/* ------------------------------------------------------------------------------------------ what depends on it */

static int reads_dependent(const struct sl_node *node, const uint8_t *depends) {
  for (uint32_t m = 0; m < node->algorithm->member_count; m++)
    for (uint32_t k = 0; k < node->inputs[m].count; k++)
      if (node->inputs[m].ports[k].node != SL_NONE && depends[node->inputs[m].ports[k].node]) return 1;
  return 0;
}

static int has_path(const struct sl_node *node) {
  for (uint32_t m = 0; m < node->algorithm->member_count; m++)
    if (node->values[m].parts) return 1;
  return 0;
}

/* Marks constants and prepared nodes. Only constants are read by others before events are. */
static int find_dependents(struct sl_constant_conditions *c) {
  const struct sl_graph *g = c->setup->graph;
  uint8_t *constants = calloc(g->node_count + 1, 1);
  int count = 0;
  c->depends = calloc(g->node_count + 1, 1);
  for (uint32_t i = 0; constants && c->depends && i < g->order_count; i++) {
    const uint32_t n = g->order[i];
    const struct sl_node *node = &g->nodes[n];
    const int depends = has_path(node) || reads_dependent(node, constants);
    constants[n] = depends && node->algorithm->kind == SL_KIND_CONSTANT;
    c->depends[n] = constants[n] || (depends && node->algorithm->prepare);
    count += constants[n];
  }
  const int is_whole = constants && c->depends;
  free(constants);
  return is_whole ? count : SL_ENOMEM;
}

/* The node that needs the files first. */
static uint32_t first_node(const struct sl_constant_conditions *c) {
  const struct sl_graph *g = c->setup->graph;
  uint32_t i = 0;
  while (!has_path(&g->nodes[g->order[i]])) i++;
  return g->order[i];
}

/* --------------------------------------------------------------------------------------------------- sets */

static void close_set(const struct sl_constant_conditions *c, struct sl_array *arrays, struct sl_prepared *prepared) {
  struct sl_setup view = *c->setup;
  view.prepared = prepared;
  for (uint32_t i = 0; arrays && i < view.layout->storage_count; i++) sl_array_close(&view, &arrays[i]);
  for (uint32_t n = 0; prepared && n < view.graph->node_count; n++) sl_prepared_close(&view, n);
  free(arrays);
  free(prepared);
}

/* Exchanges what depends on the value. */
static void exchange(const struct sl_constant_conditions *c, struct sl_array *arrays, struct sl_prepared *prepared) {
  const struct sl_setup *s = c->setup;
  for (uint32_t i = 0; i < s->layout->storage_count; i++) {
    const struct sl_storage *at = &s->layout->storage[i];
    if (at->kind != SL_STORAGE_CONSTANT || !c->depends[at->node]) continue;
    const struct sl_array present = s->arrays[i];
    s->arrays[i] = arrays[i];
    arrays[i] = present;
  }
  for (uint32_t n = 0; n < s->graph->node_count; n++) {
    if (!c->depends[n]) continue;
    const struct sl_prepared present = s->prepared[n];
    s->prepared[n] = prepared[n];
    prepared[n] = present;
  }
}

/* Makes the dependent constants in empty arrays of `view`, with its diagnostics. */
static int make(const struct sl_constant_conditions *c, struct sl_setup *view) {
  const struct sl_graph *g = view->graph;
  for (uint32_t n = 0; n < g->node_count; n++) {
    if (!c->depends[n]) continue;
    view->contexts[n]->setup = view;
    atomic_store(&view->contexts[n]->errors, 0);
  }
  int status = sl_constants_make(view, c->depends);
  if (status == SL_OK) status = sl_nodes_prepare(view, c->depends);
  for (uint32_t n = 0; n < g->node_count; n++) {
    if (!c->depends[n]) continue;
    view->contexts[n]->setup = c->setup;
    atomic_store(&view->contexts[n]->errors, 0);
  }
  return status;
}

/* Makes a set; arrays that do not depend on the value are those of the setup. On failure nothing is left. */
static int make_set(const struct sl_constant_conditions *c, struct sl_diagnostics *d, struct sl_array **arrays,
                    struct sl_prepared **prepared) {
  struct sl_setup view = *c->setup;
  view.diagnostics = d;
  view.arrays = calloc(view.layout->storage_count + 1, sizeof *view.arrays);
  view.prepared = calloc(view.graph->node_count + 1, sizeof *view.prepared);
  int status = view.arrays && view.prepared ? SL_OK : SL_ENOMEM;
  for (uint32_t i = 0; status == SL_OK && i < view.layout->storage_count; i++) {
    const struct sl_storage *at = &view.layout->storage[i];
    if (at->kind == SL_STORAGE_CONSTANT && !c->depends[at->node]) view.arrays[i] = c->setup->arrays[i];
  }
  if (status == SL_OK) status = make(c, &view);
  for (uint32_t i = 0; view.arrays && i < view.layout->storage_count; i++) {
    const struct sl_storage *at = &view.layout->storage[i];
    if (at->kind == SL_STORAGE_CONSTANT && !c->depends[at->node]) view.arrays[i] = (struct sl_array){0};
  }
  if (status < 0) close_set(c, view.arrays, view.prepared);
  *arrays = status < 0 ? NULL : view.arrays;
  *prepared = status < 0 ? NULL : view.prepared;
  return status;
}

static uint64_t checksum(const struct sl_constant_conditions *c) {
  const struct sl_setup *s = c->setup;
  uint64_t sum = 0;
  for (uint32_t i = 0; i < s->layout->storage_count; i++) {
    const struct sl_storage *at = &s->layout->storage[i];
    if (at->kind == SL_STORAGE_CONSTANT && c->depends[at->node] && s->arrays[i].values)
      sum = XXH3_64bits_withSeed(s->arrays[i].values, s->arrays[i].bytes, sum);
  }
  return sum;
}

static void close_other(struct sl_constant_conditions *c) {
  close_set(c, c->other_arrays, c->other_prepared);
  c->other_arrays = NULL;
  c->other_prepared = NULL;
}

/* -------------------------------------------------------------------------------------------------- values */

/* The place in `order` of the first value that is not less than this one. */
static uint32_t place_of(const struct sl_constant_conditions *c, uint32_t value) {
  uint32_t first = 0, end = c->value_count;
  while (first < end) {
    const uint32_t middle = first + (end - first) / 2;
    if (c->values[c->order[middle]].value < value)
      first = middle + 1;
    else
      end = middle;
  }
  return first;
}

static struct sl_condition_value *find_value(const struct sl_constant_conditions *c, uint32_t value) {
  const uint32_t place = place_of(c, value);
  const int is_there = place < c->value_count && c->values[c->order[place]].value == value;
  return is_there ? &c->values[c->order[place]] : NULL;
}

static struct sl_condition_value *add_value(struct sl_constant_conditions *c, uint32_t value) {
  const uint32_t place = place_of(c, value);
  struct sl_condition_value *values = realloc(c->values, (c->value_count + 1) * sizeof *values);
  if (values) c->values = values;
  uint32_t *order = realloc(c->order, (c->value_count + 1) * sizeof *order);
  if (order) c->order = order;
  if (!values || !order) return NULL;
  memmove(order + place + 1, order + place, (c->value_count - place) * sizeof *order);
  order[place] = c->value_count;
  c->values[c->value_count] = (struct sl_condition_value){.value = value, .first_event = c->delivery->events};
  return &c->values[c->value_count++];
}

static void mark(struct sl_input *input, uint32_t first, uint32_t end) {
  for (uint32_t e = first; e < end; e++) input->events[e].error = SL_EVENT_REFUSED;
}

/* Keeps and reports the reason why a value has no constants. */
static int refuse(const struct sl_constant_conditions *c, struct sl_condition_value *v, uint32_t node,
                  const char *reason) {
  const struct sl_setup *s = c->setup;
  char text[PATH_MAX + 256];
  snprintf(text, sizeof text, "no conditions for run %u: %s", v->value, reason);
  v->reason = strdup(text);
  v->node = node;
  sl_diagnose_often(s->diagnostics, SL_WARNING, &s->graph->conditions.location, s->graph->nodes[node].name,
                    "its events become events with an error", "no conditions", "%s", text);
  return v->reason ? SL_OK : SL_ENOMEM;
}

/* Refuses a value with the first error in the diagnostics. */
static int refuse_wrong(const struct sl_constant_conditions *c, struct sl_condition_value *v,
                        const struct sl_diagnostics *d, int status) {
  const struct sl_diagnostic *error = NULL;
  for (size_t i = 0; !error && i < sl_diagnostics_count(d); i++)
    if (sl_diagnostics_at(d, i)->severity >= SL_ERROR) error = sl_diagnostics_at(d, i);
  const int32_t node = error && error->node ? sl_graph_node_index(c->setup->graph, error->node) : SL_NONE;
  return refuse(c, v, node == SL_NONE ? first_node(c) : (uint32_t)node, error ? error->message : sl_error_text(status));
}

static void set_present(struct sl_constant_conditions *c, uint32_t value) {
  pthread_mutex_lock(&c->delivery->lock);
  c->calls.value = value;
  c->calls.is_used = 1;
  pthread_mutex_unlock(&c->delivery->lock);
}

/* Exchanges the present set and the other one. */
static void turn(struct sl_constant_conditions *c, uint32_t value) {
  exchange(c, c->other_arrays, c->other_prepared);
  c->other_value = c->calls.value;
  set_present(c, value);
}

/* Lets the constants of the value become the present ones, unless there are none (v->reason). */
static int load(struct sl_constant_conditions *c, struct sl_condition_value *v) {
  struct sl_setup *s = c->setup;
  char path[PATH_MAX], reason[PATH_MAX + 128];
  struct sl_array *arrays = NULL;
  struct sl_prepared *prepared = NULL;
  if (!set_value(s->graph, v->value, path)) {
    snprintf(reason, sizeof reason, "%s: %s", path, strerror(errno));
    return refuse(c, v, first_node(c), reason);
  }
  close_other(c);
  struct sl_diagnostics *d = sl_diagnostics_new();
  if (!d) return SL_ENOMEM;
  int status = make_set(c, d, &arrays, &prepared);
  v->loads++;
  if (status == SL_OK) {
    c->other_arrays = arrays;
    c->other_prepared = prepared;
    turn(c, v->value);
  } else if (status == SL_ENOMEM || status == SL_EDEVICE) {
    sl_diagnose(s->diagnostics, SL_ERROR, &s->graph->conditions.location, NULL, NULL,
                "the conditions of run %u could not be made: %s", v->value, sl_error_text(status));
  } else {
    status = refuse_wrong(c, v, d, status);
  }
  sl_diagnostics_free(d);
  return status;
}

/* ----------------------------------------------------------------------------------------------- the calls */

/* Binds all slots to the present constants. */
static int bind(const struct sl_constant_conditions *c) {
  const struct sl_setup *s = c->setup;
  int status = SL_OK;
  for (uint32_t i = 0; i < s->slot_count && status == SL_OK; i++) {
    struct sl_slot *slot = &(*c->slots)[i];
    if (sl_device_is_lost(slot->order, slot->device_state->index)) continue;
    status = sl_slot_adopt(slot, slot->layout);
    if (s->memory_check && s->memory_check->exchanged) s->memory_check->exchanged(slot);
  }
  return status;
}

static int enter(struct sl_conditions *calls, struct sl_input *input, uint32_t first, uint32_t end) {
  struct sl_constant_conditions *c = (struct sl_constant_conditions *)(void *)calls;
  const uint32_t value = input->events[first].run;
  struct sl_condition_value *v = find_value(c, value);
  int status = SL_OK;
  if (!v) v = add_value(c, value);
  if (!v) return SL_ENOMEM;
  const uint32_t loads = v->loads;
  if (value == calls->value) {
    v->loads += c->loads;
    c->loads = 0;
    set_present(c, value);
  } else if (!v->reason) {
    if (c->other_arrays && c->other_value == value)
      turn(c, value);
    else
      status = load(c, v);
    if (status == SL_OK && !v->reason) status = bind(c);
  }
  if (v->reason) mark(input, first, end);
  if (status == SL_OK && !v->reason && v->loads != loads) v->checksum = checksum(c);
  return status;
}

/* With --repeat, slices are kept and run in any order: all have the conditions of one value. */
static int enter_only(struct sl_constant_conditions *c, struct sl_input *input, uint32_t first, uint32_t end) {
  const uint32_t value = input->events[first].run;
  if (!c->calls.is_used) return enter(&c->calls, input, first, end);
  sl_diagnose(c->setup->diagnostics, SL_ERROR, NULL, NULL, "repeat the events of each run separately",
              "--repeat runs all events with the same conditions, but there are events of run %u and of run %u",
              c->calls.value, value);
  return SL_EINVAL;
}

static int examine(struct sl_conditions *calls, struct sl_input *input) {
  struct sl_constant_conditions *c = (struct sl_constant_conditions *)(void *)calls;
  int is_alone = 0;
  for (uint32_t e = 0; e < input->event_count; e++) {
    const struct sl_event *event = &input->events[e];
    if (event->error || sl_conditions_are_present(calls, event)) continue;
    const struct sl_condition_value *v = find_value(c, event->run);
    if (v && v->reason) {
      mark(input, e, e + 1);
    } else if (c->setup->repeat > 1) {
      const int status = enter_only(c, input, e, e + 1);
      if (status < 0) return status;
    } else {
      is_alone = 1;
    }
  }
  return is_alone;
}

static const char *reason_of(const struct sl_conditions *calls, uint32_t value, uint32_t *node) {
  const struct sl_constant_conditions *c = (const struct sl_constant_conditions *)(const void *)calls;
  const struct sl_condition_value *v = find_value(c, value);
  if (v) *node = v->node;
  return v ? v->reason : NULL;
}

/* ------------------------------------------------------------------------------------------- opening, closing */

/* Makes the set of the value, in the setup. */
static int open_value(struct sl_constant_conditions *c, struct sl_diagnostics *d, uint32_t value) {
  char path[PATH_MAX];
  struct sl_array *arrays;
  struct sl_prepared *prepared;
  (void)set_value(c->setup->graph, value, path);
  const int status = make_set(c, d, &arrays, &prepared);
  c->loads++;
  if (status < 0) return status;
  exchange(c, arrays, prepared);
  free(arrays); /* empty now */
  free(prepared);
  c->calls.value = value;
  c->loads = 1;
  return SL_OK;
}

/* Makes the set of the first of these values that has one. If none has, the errors of the first are reported. */
static int open_first(struct sl_constant_conditions *c, const uint32_t *values, uint32_t count) {
  struct sl_diagnostics *d = sl_diagnostics_new();
  int status = d ? SL_EPLUGIN : SL_ENOMEM;
  for (uint32_t i = 0; d && status < 0 && status != SL_ENOMEM && status != SL_EDEVICE && i < count; i++)
    status = open_value(c, d, values[i]);
  sl_diagnostics_free(d);
  return status < 0 ? open_value(c, c->setup->diagnostics, values[0]) : status;
}

static int open_conditions(struct sl_constant_conditions *c, const uint32_t *preferred) {
  const struct sl_setup *s = c->setup;
  uint32_t *values, count;
  char path[PATH_MAX];
  if (preferred && sl_graph_conditions_path(s->graph, *preferred, path) && access(path, F_OK) == 0)
    return open_value(c, s->diagnostics, *preferred);
  int status = list_values(s->graph, &values, &count);
  if (status == SL_OK) status = count > 0 ? open_first(c, values, count) : SL_EIO;
  free(values);
  return status;
}

int sl_conditions_open(struct sl_constant_conditions *c, struct sl_setup *s, struct sl_slot *const *slots,
                       struct sl_delivery *delivery, const uint32_t *preferred) {
  c->setup = s;
  c->slots = slots;
  c->delivery = delivery;
  c->calls = (struct sl_conditions){.examine = examine, .enter = enter, .reason = reason_of};
  const int count = s->graph->conditions.files ? find_dependents(c) : 0;
  if (count < 0) return count;
  if (s->graph->conditions.files && count == 0)
    sl_diagnose(s->diagnostics, SL_WARNING, &s->graph->conditions.location, NULL, NULL,
                "the conditions have no effect: no property has ${conditions}");
  if (count == 0) {
    const int status = sl_constants_make(s, NULL);
    return status == SL_OK ? sl_nodes_prepare(s, NULL) : status;
  }
  s->conditions = &c->calls;
  uint8_t *others = calloc(s->graph->node_count + 1, 1);
  if (!others) return SL_ENOMEM;
  for (uint32_t n = 0; n < s->graph->node_count; n++) others[n] = !c->depends[n];
  int status = sl_constants_make(s, others);
  if (status == SL_OK) status = open_conditions(c, preferred);
  if (status == SL_OK) status = sl_nodes_prepare(s, others);
  free(others);
  return status;
}

void sl_conditions_change(struct sl_constant_conditions *c, struct sl_constant_conditions *next) {
  struct sl_setup *s = c->setup;
  for (uint32_t i = 0; i < c->value_count; i++) {
    free(c->values[i].reason); /* the files are read again */
    c->values[i].reason = NULL;
  }
  free(c->depends);
  c->depends = next->depends;
  c->calls = next->calls;
  c->loads = next->loads;
  s->conditions = next->setup->conditions ? &c->calls : NULL;
  next->depends = NULL;
  next->setup->conditions = NULL;
}

void sl_conditions_close(struct sl_constant_conditions *c) {
  if (c->setup && c->setup->layout && c->setup->graph) close_other(c);
  free(c->depends);
  c->depends = NULL;
}

void sl_conditions_close_values(struct sl_constant_conditions *c) {
  for (uint32_t i = 0; i < c->value_count; i++) free(c->values[i].reason);
  free(c->values);
  free(c->order);
  c->values = NULL;
  c->order = NULL;
  c->value_count = 0;
}
