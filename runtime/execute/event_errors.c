/* event_errors.c: reports and counts events with an error, by node and reason. Reports are made in order of delivery,
 * so that they do not depend on the number of slots or the size of slices.
 *
 * Errors found by the source are only counted here; the source reports them with the position in its files. So are
 * events without conditions, which are reported once for each value. Events that
 * a kernel truncated (sl_event_truncated) are not errors and are counted separately.
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

static int count_source_error(struct sl_delivery *d, const struct sl_setup *s, const struct sl_event *event) {
  static const char *const reasons[] = {[SL_EVENT_CORRUPT] = "corrupt",
                                        [SL_EVENT_TRUNCATED] = "truncated",
                                        [SL_EVENT_TOO_LARGE] = "too large",
                                        [SL_EVENT_OVERFLOW] = "overflow",
                                        [SL_EVENT_REFUSED] = "refused"};
  const uint32_t error = event->error;
  uint32_t n = 0;
  const char *reason = s->conditions ? s->conditions->reason(s->conditions, event->run, &n) : NULL;
  if (reason && error == SL_EVENT_REFUSED) return count(s, &d->errors, &s->graph->nodes[n], reason, event);
  const int is_known = error < sizeof reasons / sizeof *reasons && reasons[error];
  return count(s, &d->errors, &s->graph->nodes[s->graph->source], is_known ? reasons[error] : "unknown", event);
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

/* Adds an event that exceeds the limit of a bound of the node. */
static int add_limit(struct sl_delivery *d, const struct sl_setup *s, const struct sl_node *node,
                     const struct sl_event *event, uint64_t word) {
  const uint32_t which = SL_ERROR_WHICH(word) - 1, bound = which % SL_BOUNDS_MAX;
  uint32_t m = 0, outputs = which / SL_BOUNDS_MAX; /* outputs to skip */
  while (m < node->algorithm->member_count && (node->algorithm->members[m].kind != SL_MEMBER_OUT || outputs-- > 0)) m++;
  if (m == node->algorithm->member_count) return SL_EPLUGIN;
  const char *things = bound ? "subitems" : "items";
  const uint64_t limit = s->layout->members[node - s->graph->nodes][m].limits[bound];
  char name[160], reason[224];
  sl_bound_name(&node->algorithm->members[m], bound, name, sizeof name);
  snprintf(reason, sizeof reason, "more than %llu %s of %s", (unsigned long long)limit, things, name);
  sl_diagnose_often(s->diagnostics, SL_WARNING, NULL, node->name, "a higher budget of this output allows more", reason,
                    "%s has %u %s of %s, an event may have %llu", name_of(s, event).text, (uint32_t)word, things, name,
                    (unsigned long long)limit);
  return count(s, &d->errors, node, reason, event);
}

int sl_event_error_add(struct sl_delivery *d, const struct sl_setup *s, const struct sl_input *input, uint32_t index) {
  const struct sl_event *event = &input->events[index];
  const uint64_t word = input->refusals[index];
  if (word == 0) return count_source_error(d, s, event);
  const struct sl_node *node = kernel_node(s, SL_ERROR_STEP(word));
  if (!node) return SL_EPLUGIN; /* the error words were overwritten */
  return SL_ERROR_WHICH(word) ? add_limit(d, s, node, event, word) : add_refused(d, s, node, event, word);
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
