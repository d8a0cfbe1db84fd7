/* diagnostics.c: the message list of sluice.h and how messages are printed.
 *
 * The list is a growing array under a mutex. Each message is one block with copies of its strings. At most MESSAGES_MAX
 * messages of each severity are stored; the others are counted, and sl_diagnostics_print reports their number. If
 * memory is out, a message is counted as dropped, so that an error is never lost. Stored messages never move: pointers
 * from sl_diagnostics_at stay valid while other threads add messages.
 *
 * Messages that may occur for every event are counted by kind, and only the first ones of a kind are stored. If there
 * are more than KINDS_MAX kinds, the last kind counts all others.
 */
#include "base/diagnostics.h"

#include "base/json.h"
#include "base/locale.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGES_MAX = 1000, SEVERITY_COUNT = 3, KINDS_MAX = 256 };

struct message_kind {
  uint32_t severity;
  char *node, *text;                   /* node NULL: messages without a node */
  const struct sl_diagnostic *example; /* the first message of the kind, if it could be stored */
  uint64_t count;
};

struct sl_diagnostics {
  pthread_mutex_t mutex;
  struct sl_diagnostic **messages;
  size_t count, allocated;
  size_t seen[SEVERITY_COUNT], stored[SEVERITY_COUNT], counted[SEVERITY_COUNT]; /* counted: only counted by kind */
  struct message_kind *kinds;
  size_t kind_count;
  void (*on_message)(void *context, const struct sl_diagnostic *message);
  void *context;
};

static const char *const severity_names[SEVERITY_COUNT] = {"note", "warning", "error"};

struct sl_diagnostics *sl_diagnostics_new(void) {
  struct sl_diagnostics *d = calloc(1, sizeof(*d));
  if (!d) return NULL;
  if (pthread_mutex_init(&d->mutex, NULL)) {
    free(d);
    return NULL;
  }
  return d;
}

static void free_kinds(struct message_kind *kinds, size_t count) {
  for (size_t k = 0; k < count; k++) {
    free(kinds[k].node);
    free(kinds[k].text);
  }
  free(kinds);
}

void sl_diagnostics_free(struct sl_diagnostics *d) {
  if (!d) return;
  free_kinds(d->kinds, d->kind_count);
  for (size_t i = 0; i < d->count; i++) free(d->messages[i]);
  free(d->messages);
  pthread_mutex_destroy(&d->mutex);
  free(d);
}

/* Reading functions take a const list; only the mutex changes. */
static void lock(const struct sl_diagnostics *d) { pthread_mutex_lock((pthread_mutex_t *)&d->mutex); }
static void unlock(const struct sl_diagnostics *d) { pthread_mutex_unlock((pthread_mutex_t *)&d->mutex); }

size_t sl_diagnostics_count(const struct sl_diagnostics *d) {
  lock(d);
  const size_t count = d->count;
  unlock(d);
  return count;
}

size_t sl_diagnostics_errors(const struct sl_diagnostics *d) {
  lock(d);
  const size_t count = d->seen[SL_ERROR];
  unlock(d);
  return count;
}

const struct sl_diagnostic *sl_diagnostics_at(const struct sl_diagnostics *d, size_t index) {
  lock(d);
  const struct sl_diagnostic *message = index < d->count ? d->messages[index] : NULL;
  unlock(d);
  return message;
}

void sl_diagnostics_follow(struct sl_diagnostics *d, void (*on_message)(void *, const struct sl_diagnostic *),
                           void *context) {
  lock(d);
  d->on_message = on_message;
  d->context = context;
  unlock(d);
}

/* ------------------------------------------------------------------------------------------------ adding */

static size_t text_bytes(const char *text) { return text ? strlen(text) + 1 : 0; }

static const char *text_copy(char **free_space, const char *text) {
  if (!text) return NULL;
  const size_t bytes = strlen(text) + 1;
  char *copy = memcpy(*free_space, text, bytes);
  *free_space += bytes;
  return copy;
}

/* Returns a message and its strings in one block, or NULL if out of memory. `ending` is appended to the text. */
static struct sl_diagnostic *message_new(uint32_t severity, const struct sl_location *location, const char *node,
                                         const char *hint, const char *ending, const char *format, va_list arguments) {
  const struct sl_location nowhere = {NULL, NULL, 0, 0};
  if (!location) location = &nowhere;
  va_list measured;
  va_copy(measured, arguments);
  const int length = vsnprintf(NULL, 0, format, measured);
  va_end(measured);
  if (length < 0) return NULL;

  const size_t strings =
      text_bytes(location->file) + text_bytes(location->source) + text_bytes(node) + text_bytes(hint);
  struct sl_diagnostic *m = malloc(sizeof(*m) + strings + (size_t)length + strlen(ending) + 1);
  if (!m) return NULL;
  char *space = (char *)(m + 1);
  *m = (struct sl_diagnostic){.severity = severity, .line = location->line, .column = location->column};
  m->file = text_copy(&space, location->file);
  m->source_line = text_copy(&space, location->source);
  m->node = text_copy(&space, node);
  m->hint = text_copy(&space, hint);
  m->message = space;
  vsnprintf(space, (size_t)length + 1, format, arguments);
  memcpy(space + length, ending, strlen(ending) + 1);
  return m;
}

static int append(struct sl_diagnostics *d, struct sl_diagnostic *message) {
  if (d->count == d->allocated) {
    const size_t allocated = d->allocated ? 2 * d->allocated : 16;
    struct sl_diagnostic **grown = realloc(d->messages, allocated * sizeof(struct sl_diagnostic *));
    if (!grown) return SL_ENOMEM;
    d->messages = grown;
    d->allocated = allocated;
  }
  d->messages[d->count++] = message;
  return SL_OK;
}

/* Returns the added message, or NULL. The caller holds the lock. */
static const struct sl_diagnostic *add(struct sl_diagnostics *d, uint32_t severity, const struct sl_location *location,
                                       const char *node, const char *hint, const char *ending, const char *format,
                                       va_list arguments) {
  d->seen[severity]++;
  if (d->stored[severity] >= MESSAGES_MAX) return NULL;
  struct sl_diagnostic *message = message_new(severity, location, node, hint, ending, format, arguments);
  if (!message || append(d, message) < 0) {
    free(message);
    return NULL;
  }
  d->stored[severity]++;
  if (d->on_message) {
    const locale_t users = sl_locale_begin_callback();
    d->on_message(d->context, message);
    sl_locale_end_callback(users);
  }
  return message;
}

void sl_vdiagnose(struct sl_diagnostics *d, uint32_t severity, const struct sl_location *location, const char *node,
                  const char *hint, const char *format, va_list arguments) {
  if (!d) return;
  lock(d);
  add(d, severity < SEVERITY_COUNT ? severity : SL_ERROR, location, node, hint, "", format, arguments);
  unlock(d);
}

void sl_diagnose(struct sl_diagnostics *d, uint32_t severity, const struct sl_location *location, const char *node,
                 const char *hint, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  sl_vdiagnose(d, severity, location, node, hint, format, arguments);
  va_end(arguments);
}

/* ------------------------------------------------------------------------------------------------- kinds */

static int same_text(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

/* Returns NULL if out of memory; then the message is stored without a kind. */
static struct message_kind *find_kind(struct sl_diagnostics *d, uint32_t severity, const char *node, const char *text) {
  for (size_t k = 0; k < d->kind_count; k++) {
    struct message_kind *kind = &d->kinds[k];
    if (kind->severity == severity && same_text(kind->node, node) && same_text(kind->text, text)) return kind;
  }
  if (d->kind_count == KINDS_MAX) return &d->kinds[KINDS_MAX - 1];
  struct message_kind *grown = realloc(d->kinds, (d->kind_count + 1) * sizeof *grown);
  if (!grown) return NULL;
  d->kinds = grown;
  struct message_kind *kind = &grown[d->kind_count];
  *kind = (struct message_kind){.severity = severity, .node = node ? strdup(node) : NULL, .text = strdup(text)};
  if (kind->text && (kind->node || !node)) {
    d->kind_count++;
    return kind;
  }
  free(kind->node);
  free(kind->text);
  return NULL;
}

void sl_vdiagnose_often(struct sl_diagnostics *d, uint32_t severity, const struct sl_location *location,
                        const char *node, const char *hint, const char *kind_text, const char *format,
                        va_list arguments) {
  if (!d) return;
  if (severity >= SEVERITY_COUNT) severity = SL_ERROR;
  lock(d);
  struct message_kind *kind = find_kind(d, severity, node, kind_text);
  const uint64_t count = kind ? ++kind->count : 1;
  if (count > SL_REPORTED_MAX) {
    d->seen[severity]++;
    d->counted[severity]++;
  } else {
    const char *ending = count == SL_REPORTED_MAX ? " (further messages of this kind are only counted)" : "";
    const struct sl_diagnostic *message = add(d, severity, location, node, hint, ending, format, arguments);
    if (kind && count == 1) kind->example = message;
  }
  unlock(d);
}

void sl_diagnose_often(struct sl_diagnostics *d, uint32_t severity, const struct sl_location *location,
                       const char *node, const char *hint, const char *kind, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  sl_vdiagnose_often(d, severity, location, node, hint, kind, format, arguments);
  va_end(arguments);
}

int sl_diagnose_size(struct sl_diagnostics *d, const char *name, uint32_t size, size_t expected) {
  if (size == expected) return SL_OK;
  sl_diagnose(d, SL_ERROR, NULL, NULL, "build against this library's sluice.h", "%s has %u bytes, not %zu", name, size,
              expected);
  return SL_EINVAL;
}

void sl_diagnose_counted(struct sl_diagnostics *d) {
  if (!d) return;
  lock(d);
  struct message_kind *kinds = d->kinds;
  const size_t count = d->kind_count;
  d->kinds = NULL;
  d->kind_count = 0;
  unlock(d);
  for (size_t k = 0; k < count; k++)
    if (kinds[k].count > SL_REPORTED_MAX)
      sl_diagnose(d, kinds[k].severity, NULL, kinds[k].node, NULL, "%llu more like \"%s\"",
                  (unsigned long long)(kinds[k].count - SL_REPORTED_MAX),
                  kinds[k].example ? kinds[k].example->message : kinds[k].text);
  free_kinds(kinds, count);
}

/* ---------------------------------------------------------------------------------------------- printing */

/* Prints the source line, then a caret below the column. Columns count characters as editors do (UTF-8 continuation
 * bytes do not count). Tabs are copied, so that the caret is correct for any tab width. */
static void print_source(const struct sl_diagnostic *m, FILE *file) {
  const int length = (int)strcspn(m->source_line, "\r\n");
  fprintf(file, "  %.*s\n", length, m->source_line);
  if (m->column == 0) return;
  fputs("  ", file);
  uint32_t column = 1;
  int i = 0;
  for (; i < length && column < m->column; i++) {
    fputc(m->source_line[i] == '\t' ? '\t' : ' ', file);
    while (i + 1 < length && ((unsigned char)m->source_line[i + 1] & 0xC0) == 0x80) i++;
    column++;
  }
  fputs("^\n", file);
}

void sl_diagnostic_print(const struct sl_diagnostic *m, FILE *file) {
  if (m->file) {
    fprintf(file, "%s:", m->file);
    if (m->line) fprintf(file, "%u:", m->line);
    if (m->line && m->column) fprintf(file, "%u:", m->column);
    if (!m->line && m->column) fprintf(file, " character %u:", m->column);
    fputc(' ', file);
  }
  fprintf(file, "%s: ", severity_names[m->severity]);
  if (m->node) fprintf(file, "node %s: ", m->node);
  fprintf(file, "%s\n", m->message);
  if (m->source_line) print_source(m, file);
  if (m->hint) fprintf(file, "  hint: %s\n", m->hint);
}

void sl_diagnostic_put(const struct sl_diagnostic *m, struct sl_json *j) {
  sl_json_string(j, "severity", severity_names[m->severity]);
  sl_json_string(j, "node", m->node);
  sl_json_string(j, "file", m->file);
  sl_json_integer(j, "line", m->line);
  sl_json_integer(j, "column", m->column);
  sl_json_string(j, "message", m->message);
  sl_json_string(j, "hint", m->hint);
}

int sl_diagnostic_write_json(const struct sl_diagnostic *m, FILE *file) {
  SL_IN_C_LOCALE(SL_ENOMEM);
  struct sl_json j;
  sl_json_begin(&j);
  j.one_line = 1;
  sl_json_begin_object(&j, NULL);
  sl_diagnostic_put(m, &j);
  sl_json_end_object(&j);
  return sl_json_finish(&j, file);
}

void sl_diagnostics_print(const struct sl_diagnostics *d, FILE *file) {
  if (!d) return;
  lock(d);
  for (size_t i = 0; i < d->count; i++) sl_diagnostic_print(d->messages[i], file);
  unlock(d);
  sl_diagnostics_print_dropped(d, file);
}

void sl_diagnostics_print_dropped(const struct sl_diagnostics *d, FILE *file) {
  if (!d) return;
  lock(d);
  for (int severity = SEVERITY_COUNT - 1; severity >= 0; severity--) {
    const size_t dropped = d->seen[severity] - d->stored[severity] - d->counted[severity];
    if (dropped)
      fprintf(file, "%s: %zu more %ss not shown\n", severity_names[severity], dropped, severity_names[severity]);
  }
  unlock(d);
}
