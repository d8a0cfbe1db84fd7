/* lint.c: what can be said of a plugin without running it, beyond what the loader refuses: texts for people, what its
 * file shows (lint_file.c), and that the tables for all targets say the same.
 */
#include "plugin/tables.h"
#include "trial/trial.h"

#include <stdarg.h>
#include <string.h>

struct lint {
  char *reason;
  size_t reason_size;
};

static int complain(const struct lint *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int complain(const struct lint *l, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(l->reason, l->reason_size, format, arguments);
  va_end(arguments);
  return 1;
}

/* --------------------------------------------------------------------------------------------------- texts */

static int lint_member(const struct lint *l, const struct sl_algorithm *a, const struct sl_member *m) {
  if (!*m->doc) return complain(l, "%s.%s has no text that says what it is", a->name, m->name);
  if (m->kind != SL_MEMBER_OUT) return 0;
  if (!*m->collection->doc) return complain(l, "collection %s has no text that says what it is", m->collection->name);
  for (uint32_t f = 0; f < m->collection->field_count; f++)
    if (!*m->collection->fields[f].doc)
      return complain(l, "field %s of collection %s has no text that says what it is", m->collection->fields[f].name,
                      m->collection->name);
  return 0;
}

static int lint_texts(const struct lint *l, const struct sl_plugin *p) {
  if (!*p->doc) return complain(l, "the plugin has no text that says what it is");
  for (uint32_t i = 0; i < p->algorithm_count; i++) {
    const struct sl_algorithm *a = p->algorithms[i];
    if (!*a->doc) return complain(l, "algorithm %s has no text that says what it does", a->name);
    for (uint32_t m = 0; m < a->member_count; m++)
      if (lint_member(l, a, &a->members[m])) return 1;
  }
  return 0;
}

/* --------------------------------------------------------------------------------------------- two targets */

/* Both may be NULL. */
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
    if (index < 0) return complain(l, "there is no algorithm %s, which the plugin for cpu has", a->name);
    const struct sl_algorithm *b = p->algorithms[index];
    if (a->member_count != b->member_count)
      return complain(l, "%s has %u members, for cpu it has %u", a->name, b->member_count, a->member_count);
    for (uint32_t m = 0; m < a->member_count; m++)
      if (!same_member(&a->members[m], &b->members[m]))
        return complain(l, "%s.%s is not the same as for cpu: build both from one source", a->name, b->members[m].name);
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
         (cpu ? lint_twin(&l, plugin, cpu) : lint_texts(&l, plugin));
}
