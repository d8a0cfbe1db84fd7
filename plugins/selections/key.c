/* key.c: selections.key, writes ids, names and scales of the lines as JSON, which are needed to read reports
 * (reports.md). Everything is known before the first event, so that a run without events has a key as well. The scales
 * are read from the text of the graph, at the node with the name of the line.
 */
#include "selections/event_model.h"
#include "selections/reports.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SL_ARGS key_args
#define KEY(M)                                                           \
  M(LIST_IN, lines, line_decisions, "made_by", "decisions of the lines") \
  M(FILE_OUT, path, "", "", "file to write")                             \
  M(BOOL, takes_output, 1, "without a path, write the file given with -o; at most one sink of a graph may do so")
SL_HOST_ARGUMENTS(key, KEY);

enum { KEY_LAYOUT = 1, TEXT_BYTES = 512 };

struct key {
  const struct sl_output_calls *to;
  struct sl_output *file; /* NULL: no path was given */
  uint32_t key, line_count;
};

/* ------------------------------------------------------------------------------------------- the graph's text */

/* The text after `begin` if `text` begins with it, otherwise NULL. */
static const char *after(const char *text, const char *begin) {
  const size_t length = strlen(begin);
  return strncmp(text, begin, length) == 0 ? text + length : NULL;
}

static const char *next_line(const char *text) {
  const char *end = strchr(text, '\n');
  return end ? end + 1 : NULL;
}

/* The value of a node's property, which ends at the newline, or NULL. The text indents nodes by 2 and properties by 6.
 */
static const char *find_property(const char *graph, const char *node, const char *property) {
  char head[TEXT_BYTES], entry[TEXT_BYTES];
  int inside = 0;
  (void)snprintf(head, sizeof head, "  %s:\n", node);
  (void)snprintf(entry, sizeof entry, "      %s: ", property);
  for (const char *line = graph; line && *line; line = next_line(line)) {
    if (inside && after(line, entry)) return after(line, entry);
    if (after(line, "    ")) continue;
    inside = after(line, head) != NULL;
  }
  return NULL;
}

/* ----------------------------------------------------------------------------------------------- the file */

static int add(const struct key *k, const char *text) { return k->to->add(k->file, text, strlen(text)); }

static int add_scale(const struct key *k, const struct sl_services *s, const char *line, const char *scale) {
  char text[TEXT_BYTES];
  const char *value = s->run ? find_property(s->run->graph_text, line, scale) : NULL;
  (void)snprintf(text, sizeof text, ", \"%s\": %.*s", scale, value ? (int)strcspn(value, "\n") : (int)strlen("null"),
                 value ? value : "null");
  return add(k, text);
}

static int write_key(const struct key *k, const struct sl_services *s, const char *const *names) {
  char text[TEXT_BYTES];
  (void)snprintf(text, sizeof text, "{\n  \"layout\": %d,\n  \"key\": \"%08" PRIx32 "\",\n  \"lines\": [", KEY_LAYOUT,
                 k->key);
  int status = add(k, text);
  for (uint32_t i = 0; i < k->line_count && status == SL_OK; i++) {
    (void)snprintf(text, sizeof text, "%s\n    {\"id\": %" PRIu32 ", \"name\": \"%s\"", i > 0 ? "," : "", i + 1,
                   names[i]);
    status = add(k, text);
    if (status == SL_OK) status = add_scale(k, s, names[i], "pre_scale");
    if (status == SL_OK) status = add_scale(k, s, names[i], "post_scale");
    if (status == SL_OK) status = add(k, "}");
  }
  return status == SL_OK ? add(k, k->line_count > 0 ? "\n  ]\n}\n" : "]\n}\n") : status;
}

static int key_open(void *state, const struct sl_services *s, const void *args_, const char *output_path) {
  const struct key_args *args = (const struct key_args *)args_;
  struct key *k = (struct key *)state;
  const char *path = *args->path || !output_path || !args->takes_output ? args->path : output_path;
  k->to = s->output;
  k->line_count = args->lines.count;
  k->key = lines_key(args->lines.names, args->lines.count);
  if (!*path) return SL_OK;
  const int status = k->to->open(s, path, 0, &k->file);
  return status == SL_OK ? write_key(k, s, args->lines.names) : status;
}

static int key_rotate(void *state, const struct sl_services *s, const void *args) {
  const struct key *k = (const struct key *)state;
  const int status = k->file ? k->to->rotate(k->file) : SL_OK;
  return k->file && status == SL_OK ? write_key(k, s, ((const struct key_args *)args)->lines.names) : status;
}

static int key_consume(void *state, const struct sl_services *s, const void *args, const struct sl_batch *batch) {
  (void)state, (void)s, (void)args, (void)batch;
  return SL_OK;
}

static int key_finish(void *state, const struct sl_services *s, const struct sl_report *report) {
  const struct key *k = (const struct key *)state;
  char text[2 * sizeof k->key + 1];
  (void)s;
  (void)snprintf(text, sizeof text, "%08" PRIx32, k->key);
  report->text(report->context, "key", text);
  report->integer(report->context, "lines", k->line_count);
  if (!k->file) return SL_OK;
  const int status = k->to->finish(k->file);
  if (status == SL_OK)
    report->line(report->context, "key %s of %" PRIu32 " lines, in %s", text, k->line_count, k->to->path(k->file));
  return status;
}

static void key_close(void *state) {
  const struct key *k = (const struct key *)state;
  if (k->file) k->to->close(k->file);
}

static const struct sl_sink key_functions = {
    .open = key_open, .consume = key_consume, .finish = key_finish, .close = key_close, .rotate = key_rotate};

SL_SINK(key, "writes ids, names and scales of lines, needed to read their reports", struct key, key_functions);
