/* race_lines.c: file and line of code locations, and names of static variables, from elfutils' libdw; see race.h. */
#include "simt/race.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct race_lines {
  Dwfl *dwfl;            /* opened at the first call, when all plugins are loaded */
  Dwfl_Module *module;   /* the last plugin used, for `headers`; headers NULL: its debug information does not name the
                          * folder */
  const char *headers;   /* path that begins with the folder of Sluice's headers, including the last slash */
  size_t headers_length; /* length of the folder */
};

struct race_lines *race_lines_open(void) {
  return calloc(1, sizeof(struct race_lines));
}

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

/* Makes a file in the current folder relative to it. */
static const char *shortened(const char *file) {
  static _Thread_local char folder[PATH_MAX];
  if (!getcwd(folder, sizeof folder)) return file;
  const size_t length = strlen(folder);
  return strncmp(file, folder, length) == 0 && file[length] == '/' ? file + length + 1 : file;
}

/* Returns the folder of sluice/simt_race.h, which defines __tsan_init, from the plugin's debug information. */
static const char *find_headers(Dwfl_Module *module, size_t *length) {
  Dwarf_Addr bias;
  for (Dwarf_Die *unit = NULL; (unit = dwfl_module_nextcu(module, unit, &bias)) != NULL;) {
    Dwarf_Die die;
    for (int none = dwarf_child(unit, &die); none == 0; none = dwarf_siblingof(&die, &die)) {
      const char *name = dwarf_tag(&die) == DW_TAG_subprogram ? dwarf_diename(&die) : NULL;
      const char *file = name && strcmp(name, "__tsan_init") == 0 ? dwarf_decl_file(&die) : NULL;
      const char *slash = file ? strrchr(file, '/') : NULL;
      if (!slash) continue;
      *length = (size_t)(slash - file) + 1;
      return file;
    }
  }
  return NULL;
}

/* Whether the file is one of Sluice's public headers. A location inside a header, such as a collective's, is of less
 * use than the location of the call. */
static int is_ours(struct race_lines *lines, Dwfl_Module *module, const char *file) {
  if (lines->module != module) {
    lines->module = module;
    lines->headers = find_headers(module, &lines->headers_length);
  }
  return lines->headers && strncmp(file, lines->headers, lines->headers_length) == 0 &&
         strchr(file + lines->headers_length, '/') == NULL;
}

/* Walks from the innermost inlined function outwards until the file is not one of Sluice's headers. */
static const char *step_out(struct race_lines *lines, Dwfl_Module *module, Dwarf_Addr address, const char *file,
                            int *number) {
  Dwarf_Addr bias;
  Dwarf_Die *unit = dwfl_module_addrdie(module, address, &bias);
  Dwarf_Die *scopes = NULL, *inlined = NULL;
  const int count = unit ? dwarf_getscopes(unit, address - bias, &scopes) : 0;
  if (count <= 0) return file;
  const int inlined_count = dwarf_getscopes_die(&scopes[0], &inlined);
  Dwarf_Files *files = NULL;
  dwarf_getsrcfiles(unit, &files, NULL);
  for (int i = 0; i < inlined_count && files && is_ours(lines, module, file); i++) {
    Dwarf_Attribute attribute;
    Dwarf_Word call_file, call_line;
    if (dwarf_tag(&inlined[i]) != DW_TAG_inlined_subroutine) continue;
    if (dwarf_formudata(dwarf_attr(&inlined[i], DW_AT_call_file, &attribute), &call_file) != 0 ||
        dwarf_formudata(dwarf_attr(&inlined[i], DW_AT_call_line, &attribute), &call_line) != 0)
      break;
    const char *caller = dwarf_filesrc(files, call_file, NULL, NULL);
    if (!caller) break;
    file = caller;
    *number = (int)call_line;
  }
  free(inlined);
  free(scopes);
  return file;
}

void race_line(struct race_lines *lines, const void *code, char *text, size_t size) {
  const Dwarf_Addr address = (Dwarf_Addr)(uintptr_t)code - 1; /* address of the call, not of the next instruction */
  Dwfl_Module *module = module_of(lines, code);
  Dwfl_Line *line = module ? dwfl_module_getsrc(module, address) : NULL;
  int number = 0;
  const char *file = line ? dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL) : NULL;
  if (file) file = step_out(lines, module, address, file, &number);
  if (file)
    snprintf(text, size, "%s:%d", shortened(file), number);
  else
    snprintf(text, size, "%p (unknown line: was the plugin built without -g?)", code);
}

int race_variable(struct race_lines *lines, const void *address, char *name, size_t size, uint64_t *begin,
                  uint64_t *bytes) {
  Dwfl_Module *module = module_of(lines, address);
  GElf_Off offset = 0;
  GElf_Sym symbol;
  const char *found =
      module ? dwfl_module_addrinfo(module, (GElf_Addr)(uintptr_t)address, &offset, &symbol, NULL, NULL, NULL) : NULL;
  if (!found) return 0;
  /* gcc names the third variable of a name "staged.3", clang names one "count_hits.staged". */
  const char *end = strrchr(found, '.');
  if (!end || end[1] < '0' || end[1] > '9') end = found + strlen(found);
  const char *first = end;
  while (first > found && first[-1] != '.') first--;
  snprintf(name, size, "%.*s", (int)(end - first), first);
  *begin = offset;
  *bytes = symbol.st_size;
  return 1;
}
