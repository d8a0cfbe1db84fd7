/* lint.c: checks of a plugin that need no run and that the loader does not make: doc strings, the content of its file
 * (lint_file.c), and identical tables for all targets.
 */
#include "plugin/tables.h"
#include "trial/trial.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>
#include <strings.h>

struct lint {
  char *reason;
  size_t reason_size;
};

static int refuse(const struct lint *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int refuse(const struct lint *l, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(l->reason, l->reason_size, format, arguments);
  va_end(arguments);
  return 1;
}

/* --------------------------------------------------------------------------------------------- doc strings */

/* Phrases that refer to another text. `describe`, the schema and completions show each doc string alone. */
static const struct {
  const char *phrase;
  int is_start_only; /* refused only at the start of a doc string */
} references[] = {{"likewise", 0}, {"as above", 0}, {"of these", 0}, {"of those", 0}, {"of each", 1}, {"the same", 1}};

/* The first such phrase of a doc string, or NULL. */
static const char *find_reference(const char *doc) {
  for (size_t i = 0; i < sizeof references / sizeof *references; i++) {
    const char *phrase = references[i].phrase;
    const size_t length = strlen(phrase);
    for (const char *at = doc; *at; at++) {
      const int is_word = (at == doc || !isalnum((unsigned char)at[-1])) && strncasecmp(at, phrase, length) == 0 &&
                          !isalnum((unsigned char)at[length]);
      if (is_word) return phrase;
      if (references[i].is_start_only) break;
    }
  }
  return NULL;
}

static int lint_doc(const struct lint *l, const char *doc, const char *kind, const char *owner, const char *name) {
  const char *const dot = *name ? "." : "";
  if (strspn(doc, " ") == strlen(doc)) return refuse(l, "%s%s%s%s has an empty doc string", kind, owner, dot, name);
  const char *phrase = find_reference(doc);
  if (!phrase) return 0;
  return refuse(l, "%s%s%s%s: its doc string \"%s\" refers to another text (`%s`)", kind, owner, dot, name, doc,
                phrase);
}

static int lint_collection(const struct lint *l, const struct sl_collection *c) {
  if (lint_doc(l, c->doc, "collection ", c->name, "")) return 1;
  for (uint32_t f = 0; f < c->field_count; f++)
    if (lint_doc(l, c->fields[f].doc, "field ", c->name, c->fields[f].name)) return 1;
  return 0;
}

int trial_lint_docs(const struct sl_plugin *p, char *reason, size_t reason_size) {
  const struct lint lint = {reason, reason_size}, *l = &lint;
  if (lint_doc(l, p->doc, "plugin ", p->name, "")) return 1;
  for (uint32_t i = 0; i < p->algorithm_count; i++) {
    const struct sl_algorithm *a = p->algorithms[i];
    if (lint_doc(l, a->doc, "algorithm ", a->name, "")) return 1;
    for (uint32_t m = 0; m < a->member_count; m++) {
      if (lint_doc(l, a->members[m].doc, "", a->name, a->members[m].name)) return 1;
      if (a->members[m].kind == SL_MEMBER_OUT && lint_collection(l, a->members[m].collection)) return 1;
    }
  }
  return 0;
}

/* --------------------------------------------------------------------------------------------- two targets */

/* 1 if the texts are equal; both may be NULL. */
static int same_text(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

static int same_member(const struct sl_member *a, const struct sl_member *b) {
  return strcmp(a->name, b->name) == 0 && a->kind == b->kind && a->flags == b->flags && a->type == b->type &&
         a->count == b->count && a->default_value == b->default_value && a->minimum == b->minimum &&
         a->maximum == b->maximum && same_text(a->default_text, b->default_text) && same_text(a->choices, b->choices) &&
         same_text(a->fields, b->fields);
}

static int lint_twin(const struct lint *l, const struct sl_plugin *p, const struct sl_plugin *cpu) {
  for (uint32_t i = 0; i < cpu->algorithm_count; i++) {
    const struct sl_algorithm *a = cpu->algorithms[i];
    if (a->kind != SL_KIND_KERNEL) continue;
    const int index = sl_algorithm_index(p, a->name);
    if (index < 0) return refuse(l, "there is no algorithm %s, which the plugin for cpu has", a->name);
    const struct sl_algorithm *b = p->algorithms[index];
    if (a->member_count != b->member_count)
      return refuse(l, "%s has %u members, but %u for cpu", a->name, b->member_count, a->member_count);
    for (uint32_t m = 0; m < a->member_count; m++)
      if (!same_member(&a->members[m], &b->members[m]))
        return refuse(l, "%s.%s differs from its declaration for cpu: build both from one source", a->name,
                      b->members[m].name);
  }
  return 0;
}

static int has_kernels(const struct sl_plugin *p) {
  int found = 0;
  for (uint32_t i = 0; i < p->algorithm_count; i++) found |= p->algorithms[i]->kind == SL_KIND_KERNEL;
  return found;
}

int trial_lint(const char *path, const struct sl_plugin *plugin, const struct sl_plugin *cpu, char *reason,
               size_t reason_size) {
  const struct lint l = {reason, reason_size};
  return trial_lint_files(path, has_kernels(plugin), reason, reason_size) ||
         (cpu ? lint_twin(&l, plugin, cpu) : trial_lint_docs(plugin, reason, reason_size));
}
