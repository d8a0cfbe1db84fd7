/* followed.c: see followed.h. The source gets each file as its only input, with a zeroed state.
 *
 * A file that cannot be read is refused, and the run continues with the next file, unless the source is strict. Errors
 * that are not of the file (no memory, a source that breaks its contract) end the run.
 */
#include "execute/followed.h"

#include "base/input.h"
#include "plugin/tables.h"

#include <string.h>

static int is_strict(const struct sl_setup *s) {
  const struct sl_node *source = &s->graph->nodes[s->graph->source];
  const int m = sl_member_index(source->algorithm, "strict");
  return m >= 0 && source->algorithm->members[m].kind == SL_MEMBER_PROPERTY && source->values[m].integer != 0;
}

static int ends_run(const struct sl_setup *s, int status) {
  return status == SL_ENOMEM || status == SL_EPLUGIN || status == SL_ESTRICT || status == SL_EINTERRUPTED ||
         is_strict(s);
}

/* Returns 1 if the source recognises the file; 0 if it was refused; or SL_ENOMEM. The first file may be one that no
 * source recognises: then --use or the graph names the source. */
static int recognise(const struct sl_setup *s, struct sl_followed *f) {
  const struct sl_node *node = &s->graph->nodes[s->graph->source];
  struct sl_input_head head;
  if (sl_input_head_read(&head, f->file.path, 0) < 0) return SL_ENOMEM;
  const int is_recognised = node->algorithm->source->probe(head.bytes, head.count) != 0;
  const int is_refused = *head.reason || (f->is_recognised && !is_recognised);
  if (*head.reason)
    sl_follow_refuse(s->options.follow, f->file.number, "cannot be read: %s", head.reason);
  else if (is_refused)
    sl_follow_refuse(s->options.follow, f->file.number, "not recognised by %s, the source of this run: left out",
                     node->use);
  sl_input_head_close(&head);
  f->is_recognised |= is_recognised;
  return !is_refused;
}

void sl_source_close(struct sl_setup *s, const char *path) {
  const uint32_t n = s->graph->source;
  const struct sl_source *source = s->graph->nodes[n].algorithm->source;
  s->closing_path = path;
  if (s->opened[n] && source->close) source->close(s->states[n]);
  s->closing_path = NULL;
  s->opened[n] = 0;
}

int sl_followed_end(struct sl_setup *s, struct sl_followed *f, int status) {
  const int was_reported = atomic_load(&s->contexts[s->graph->source]->errors) > 0;
  if (status < 0 && ends_run(s, status)) return status;
  sl_source_close(s, f->file.path);
  f->is_open = 0;
  if (status < 0)
    sl_follow_refuse(s->options.follow, f->file.number, was_reported ? NULL : "cannot be read: %s",
                     sl_error_text(status));
  else
    sl_follow_ended(s->options.follow, f->file.number);
  return SL_OK;
}

/* Opens the source on the file. Returns 1; 0 if the file was refused; or an error that ends the run. */
static int open_source(struct sl_setup *s, struct sl_followed *f) {
  const uint32_t n = s->graph->source;
  const struct sl_algorithm *a = s->graph->nodes[n].algorithm;
  const struct sl_inputs inputs = {f->paths, 1, 0, f->paths, NULL};
  int status = SL_OK;
  f->paths[0] = f->file.path;
  memset(s->states[n], 0, a->state_size);
  atomic_store(&s->contexts[n]->errors, 0);
  s->first_record = f->file.events_before;
  if (a->source->open) status = a->source->open(s->states[n], &s->contexts[n]->services, s->source_args, &inputs);
  s->opened[n] = 1;
  if (status < 0) {
    status = sl_followed_end(s, f, status);
    sl_report_node_failure(s, n, status, "could not start", NULL);
    return status;
  }
  sl_follow_opened(s->options.follow);
  f->is_open = 1;
  f->events = 0;
  f->skipped_left = f->file.skip_events;
  return 1;
}

int sl_followed_open(struct sl_setup *s, struct sl_followed *f, uint32_t wait_ms) {
  int status = f->is_open;
  while (status == 0) {
    const int next = sl_follow_next(s->options.follow, wait_ms, &f->file);
    if (next != SL_FOLLOW_FILE) return next;
    status = recognise(s, f);
    if (status == 1) status = open_source(s, f);
    if (status == 0 && is_strict(s)) status = SL_ESTRICT;
  }
  return status < 0 ? status : SL_FOLLOW_FILE;
}

int sl_followed_read(const struct sl_setup *s, struct sl_followed *f, struct sl_event *events, uint32_t count) {
  for (uint32_t e = 0; e < count; e++) events[e].file = f->file.number;
  sl_follow_read(s->options.follow, f->file.number, count);
  f->events += count;
  if (f->skipped_left == 0) return 0;
  f->skipped_left -= count;
  sl_follow_delivered(s->options.follow, f->file.number, f->events);
  return 1;
}
