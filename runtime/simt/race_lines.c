/* race_lines.c: places in the code as files and lines, and the names of static variables, by elfutils' libdw; see
 * race.h. */
#include "simt/race.h"

#include <elfutils/libdwfl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct race_lines {
  Dwfl *dwfl; /* opened when somebody asks, when all plugins are loaded */
};

struct race_lines *race_lines_open(void) { return calloc(1, sizeof(struct race_lines)); }

void race_lines_close(struct race_lines *lines) {
  if (lines && lines->dwfl) dwfl_end(lines->dwfl);
  free(lines);
}

static Dwfl_Module *module_of(struct race_lines *lines, const void *address) {
  static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_linux_proc_find_elf,
                                           .find_debuginfo = dwfl_standard_find_debuginfo};
  if (!lines->dwfl) {
    lines->dwfl = dwfl_begin(&callbacks);
    if (!lines->dwfl) return NULL;
    dwfl_report_begin(lines->dwfl);
    dwfl_linux_proc_report(lines->dwfl, getpid());
    dwfl_report_end(lines->dwfl, NULL, NULL);
  }
  return dwfl_addrmodule(lines->dwfl, (Dwarf_Addr)(uintptr_t)address);
}

/* A file below the current folder is named from there. */
static const char *shortened(const char *file) {
  static _Thread_local char folder[PATH_MAX];
  if (!getcwd(folder, sizeof folder)) return file;
  const size_t length = strlen(folder);
  return strncmp(file, folder, length) == 0 && file[length] == '/' ? file + length + 1 : file;
}

void race_line(struct race_lines *lines, const void *code, char *text, size_t size) {
  const Dwarf_Addr address = (Dwarf_Addr)(uintptr_t)code - 1; /* of the call, not of what follows it */
  Dwfl_Module *module = module_of(lines, code);
  Dwfl_Line *line = module ? dwfl_module_getsrc(module, address) : NULL;
  int number = 0;
  const char *file = line ? dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL) : NULL;
  if (file)
    snprintf(text, size, "%s:%d", shortened(file), number);
  else
    snprintf(text, size, "%p (no line is known: was the plugin built without -g?)", code);
}

int race_variable(struct race_lines *lines, const void *address, char *name, size_t size, uint64_t *begin,
                  uint64_t *bytes) {
  Dwfl_Module *module = module_of(lines, address);
  GElf_Off offset = 0;
  GElf_Sym symbol;
  const char *found = module ? dwfl_module_addrinfo(module, (GElf_Addr)(uintptr_t)address, &offset, &symbol, NULL, NULL,
                                                    NULL)
                             : NULL;
  if (!found) return 0;
  snprintf(name, size, "%.*s", (int)strcspn(found, "."), found); /* "staged.3": the third of that name */
  *begin = offset;
  *bytes = symbol.st_size;
  return 1;
}
