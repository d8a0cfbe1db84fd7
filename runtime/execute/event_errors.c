/* event_errors.c: reports and counts events with an error, by node and reason. Reports are made in order of delivery,
 * so that they do not depend on the number of slots or the size of slices. Errors found by the source are only counted
 * here; the source reports them with the position in its files. Events without conditions are only counted too. Events
 * that a kernel truncated (sl_event_truncated) are not errors and are counted separately.
 */
#include "execute/conditions.h"
#include "execute/delivery.h"
#include "input/follow.h"
#include "layout/bind.h"

#include <stdlib.h>
#include <string.h>

/* The `index`th kernel node in execution order. */
static const struct sl_node *kernel_node(const struct sl_setup *s, uint32_t index) {
  for (uint32_t i = 0; i < s->graph->order_count; i++) {
    const struct sl_node *node = &s->graph->nodes[s->graph->order[i]];
    if (node->algorithm->kind == SL_KIND_KERNEL && index-- == 0) return node;
  }
  return NULL;
}

/* Path of the input file of an event that is being delivered; NULL if it is not of a file. */
static const char *file_of(const struct sl_setup *s, const struct sl_event *event, char path[PATH_MAX]) {
  const char *const *paths = s->options.input_paths;
  if (s->options.follow) {
    sl_follow_path(s->options.follow, event->file, path);
    return path;
  }
  for (uint32_t i = 0; paths && paths[i]; i++)
    if (i == event->file) return paths[i];
  return NULL;
}

/* Counts an event; copies the reason and the path of its file if it is new. */
static int count(const struct sl_setup *s, struct sl_event_errors *errors, const struct sl_node *node,
                 const char *reason, const struct sl_event *event) {
  for (uint32_t i = 0; i < errors->count; i++)
    if (strcmp(errors->summaries[i].node, node->name) == 0 && strcmp(errors->summaries[i].reason, reason) == 0) {
      errors->summaries[i].count++;
      return SL_OK;
    }
  struct sl_error_summary *grown = realloc(errors->summaries, (errors->count + 1) * sizeof *grown);
  if (grown) errors->summaries = grown;
  char buffer[PATH_MAX];
  const char *file = file_of(s, event, buffer);
  char *copy = grown ? strdup(reason) : NULL, *name = strdup(node->name), *path = file ? strdup(file) : NULL;
  if (!copy || !name || (file && !path)) {
    free(copy);
    free(name);
    free(path);
    return SL_ENOMEM;
  }
  grown[errors->count++] = (struct sl_error_summary){name, copy, 1, *event, path};
  return SL_OK;
}

/* Node and reason of an event with an error of the source. */
static const struct sl_node *source_error(const struct sl_setup *s, const struct sl_event *event, const char **reason) {
  static const char *const reasons[] = {"unknown", "corrupt", "truncated", "too large", "overflow", "refused"};
  const uint32_t error = event->error < sizeof reasons / sizeof *reasons ? event->error : 0;
  uint32_t n = 0;
  *reason = s->conditions ? s->conditions->reason(s->conditions, event->run, &n) : NULL;
  if (*reason && error == SL_EVENT_REFUSED) return &s->graph->nodes[n];
  *reason = reasons[error]; /* by SL_EVENT_... */
  return &s->graph->nodes[s->graph->source];
}

static const char *text_of(const struct sl_node *node, uint64_t word, const char *unknown) {
  const uint32_t code = (uint32_t)(word >> 32) & 0xFF;
  for (uint32_t c = 0; c < node->algorithm->error_count; c++)
    if (node->algorithm->errors[c].code == code) return node->algorithm->errors[c].text;
  return unknown;
}

/* "run 1 event 2 (file 0, byte 3)" */
struct event_name {
  char text[PATH_MAX + 96];
};
static struct event_name name_of(const struct sl_setup *s, const struct sl_event *event) {
  struct event_name name;
  char path[PATH_MAX];
  const unsigned long long number = event->number, offset = event->offset;
  if (s->options.feed)
    snprintf(name.text, sizeof name.text, "run %u event %llu (entry %llu of the feed)", event->run, number, offset);
  else if (s->options.follow)
    snprintf(name.text, sizeof name.text, "run %u event %llu (%s, byte %llu)", event->run, number,
             file_of(s, event, path), offset);
  else
    snprintf(name.text, sizeof name.text, "run %u event %llu (file %u, byte %llu)", event->run, number, event->file,
             offset);
  return name;
}

static void tell(const struct sl_setup *s, const struct sl_node *node, const struct sl_event *event, const char *text,
                 uint32_t detail) {
  sl_diagnose_often(s->diagnostics, SL_WARNING, NULL, node->name, NULL, text, "%s: %s (detail %u)",
                    name_of(s, event).text, text, detail);
}

static int add_refused(struct sl_delivery *d, const struct sl_setup *s, const struct sl_node *node,
                       const struct sl_event *event, uint64_t word) {
  const char *text = text_of(node, word, "refused");
  tell(s, node, event, text, (uint32_t)word);
  return count(s, &d->errors, node, text, event);
}

struct exceeded {
  char reason[224], name[160];
  const char *things;
  unsigned long long limit;
};
/* The limit of a bound that an event exceeds; returns 0 if there is none: the error words were overwritten. */
static int exceeded_limit(const struct sl_setup *s, const struct sl_node *node, uint64_t word, struct exceeded *e) {
  const uint32_t which = SL_ERROR_WHICH(word) - 1, bound = which % SL_BOUNDS_MAX;
  uint32_t m = 0, outputs = which / SL_BOUNDS_MAX; /* outputs to skip */
  while (m < node->algorithm->member_count && (node->algorithm->members[m].kind != SL_MEMBER_OUT || outputs-- > 0)) m++;
  if (m == node->algorithm->member_count) return 0;
  e->things = bound ? "subitems" : "items";
  e->limit = s->layout->members[node - s->graph->nodes][m].limits[bound];
  sl_bound_name(&node->algorithm->members[m], bound, e->name, sizeof e->name);
  snprintf(e->reason, sizeof e->reason, "more than %llu %s of %s", e->limit, e->things, e->name);
  return 1;
}

static int add_limit(struct sl_delivery *d, const struct sl_setup *s, const struct sl_node *node,
                     const struct sl_event *event, uint64_t word) {
  struct exceeded e;
  if (!exceeded_limit(s, node, word, &e)) return SL_EPLUGIN;
  sl_diagnose_often(s->diagnostics, SL_WARNING, NULL, node->name, "a higher budget of this output allows more",
                    e.reason, "%s has %u %s of %s, an event may have %llu", name_of(s, event).text, (uint32_t)word,
                    e.things, e.name, e.limit);
  return count(s, &d->errors, node, e.reason, event);
}

int sl_event_error_add(struct sl_delivery *d, const struct sl_setup *s, const struct sl_input *input, uint32_t index) {
  const struct sl_event *event = &input->events[index];
  const uint64_t word = input->refusals[index];
  const char *reason;
  const struct sl_node *node = word ? kernel_node(s, SL_ERROR_STEP(word)) : source_error(s, event, &reason);
  if (word == 0) return count(s, &d->errors, node, reason, event);
  if (!node) return SL_EPLUGIN; /* the error words were overwritten */
  return SL_ERROR_WHICH(word) ? add_limit(d, s, node, event, word) : add_refused(d, s, node, event, word);
}

const char *sl_event_error_describe(const struct sl_setup *s, const struct sl_input *input, uint32_t index,
                                    char *reason, size_t size) {
  const uint64_t word = input->refusals[index];
  const char *text;
  const struct sl_node *node =
      word ? kernel_node(s, SL_ERROR_STEP(word)) : source_error(s, &input->events[index], &text);
  struct exceeded e;
  if (word == 0)
    snprintf(reason, size, "%s", text);
  else if (node && SL_ERROR_WHICH(word) && exceeded_limit(s, node, word, &e))
    snprintf(reason, size, "%u %s of %s, an event may have %llu", (uint32_t)word, e.things, e.name, e.limit);
  else
    snprintf(reason, size, "%s (detail %u)", node ? text_of(node, word, "refused") : "refused", (uint32_t)word);
  return node ? node->name : NULL;
}

int sl_event_truncation_add(struct sl_delivery *d, const struct sl_setup *s, const struct sl_event *event,
                            uint64_t word) {
  const struct sl_node *node = kernel_node(s, SL_ERROR_TRUNCATION_STEP(word));
  if (!node) return SL_EPLUGIN; /* the error words were overwritten */
  const char *text = text_of(node, word, "part of the event was dropped");
  tell(s, node, event, text, (uint32_t)word & 0xFFFF);
  return count(s, &d->truncations, node, text, event);
}

static void close_errors(struct sl_event_errors *errors) {
  for (uint32_t i = 0; i < errors->count; i++) {
    free((char *)errors->summaries[i].node);
    free((char *)errors->summaries[i].reason);
    free((char *)errors->summaries[i].first_file);
  }
  free(errors->summaries);
}

void sl_event_errors_close(struct sl_delivery *d) {
  close_errors(&d->errors);
  close_errors(&d->truncations);
}
