/* lint.c: what can be said of a plugin without running it, beyond what the loader refuses: texts for people, the
 * symbols and libraries of the file, and that the tables for all targets say the same.
 */
#include "plugin/tables.h"
#include "trial/trial.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdarg.h>
#include <stdlib.h>
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

/* ------------------------------------------------------------------------------------------------ the file */

static void *read_at(FILE *file, uint64_t offset, uint64_t bytes) {
  void *memory = malloc((size_t)bytes + 1);
  if (memory && (fseek(file, (long)offset, SEEK_SET) || fread(memory, 1, (size_t)bytes, file) != bytes)) {
    free(memory);
    return NULL;
  }
  if (memory) ((char *)memory)[bytes] = '\0';
  return memory;
}

/* What sanitizers and the like put into every shared object that they instrument. */
static int is_instrumentation(const char *name) {
  return strncmp(name, "__asan", 6) == 0 || strncmp(name, "__odr_asan", 10) == 0 || strncmp(name, "__ubsan", 7) == 0;
}

static int lint_symbols(const struct lint *l, const char *symbols, uint64_t symbol_bytes, const char *names) {
  for (uint64_t at = 0; at + sizeof(ElfW(Sym)) <= symbol_bytes; at += sizeof(ElfW(Sym))) {
    ElfW(Sym) symbol;
    memcpy(&symbol, symbols + at, sizeof symbol);
    const char *name = names + symbol.st_name;
    if (symbol.st_shndx == SHN_UNDEF || !*name || strcmp(name, "sluice_plugin") == 0 || is_instrumentation(name))
      continue;
    return complain(l, "it exports %s: hide all symbols but sluice_plugin (-fvisibility=hidden)", name);
  }
  return 0;
}

static int lint_needed(const struct lint *l, const char *entries, uint64_t bytes, const char *names) {
  for (uint64_t at = 0; at + sizeof(ElfW(Dyn)) <= bytes; at += sizeof(ElfW(Dyn))) {
    ElfW(Dyn) entry;
    memcpy(&entry, entries + at, sizeof entry);
    if (entry.d_tag == DT_NEEDED && strncmp(names + entry.d_un.d_val, "libsluice", 9) == 0)
      return complain(l, "it links %s: a plugin links against nothing of Sluice", names + entry.d_un.d_val);
  }
  return 0;
}

/* The loader has seen that the file is whole, and made for this machine. */
static int lint_file(const struct lint *l, const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) return 0;
  ElfW(Ehdr) header;
  int wrong = 0;
  if (fread(&header, sizeof header, 1, file) != 1) header.e_shnum = 0;
  ElfW(Shdr) *sections = read_at(file, header.e_shoff, (uint64_t)header.e_shnum * sizeof *sections);
  for (unsigned i = 0; sections && i < header.e_shnum && !wrong; i++) {
    const int is_symbols = sections[i].sh_type == SHT_DYNSYM, is_dynamic = sections[i].sh_type == SHT_DYNAMIC;
    if ((!is_symbols && !is_dynamic) || sections[i].sh_link >= header.e_shnum) continue;
    const ElfW(Shdr) *names_at = &sections[sections[i].sh_link];
    char *entries = read_at(file, sections[i].sh_offset, sections[i].sh_size);
    char *names = read_at(file, names_at->sh_offset, names_at->sh_size);
    if (entries && names)
      wrong = is_symbols ? lint_symbols(l, entries, sections[i].sh_size, names)
                         : lint_needed(l, entries, sections[i].sh_size, names);
    free(entries);
    free(names);
  }
  free(sections);
  fclose(file);
  return wrong;
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

int trial_lint(const char *path, const struct sl_plugin *plugin, const struct sl_plugin *cpu, char *reason,
               size_t reason_size) {
  const struct lint l = {reason, reason_size};
  return lint_file(&l, path) || (cpu ? lint_twin(&l, plugin, cpu) : lint_texts(&l, plugin));
}
