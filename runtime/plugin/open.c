/* open.c: checks the file (elf.c), opens it, finds `sluice_plugin`, checks the descriptor (check.c), and compares its
 * name and target with the file name.
 */
#define _GNU_SOURCE
#include "plugin/open.h"

#include "plugin/elf.h"
#include "plugin/registry.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

/* Bytes of a descriptor that are read before magic, size and version are checked. */
enum { DESCRIPTOR_HEAD_BYTES = offsetof(struct sl_plugin, name) };

int sl_plugin_file_parse(const char *file_name, struct sl_plugin_file *parts) {
  static const char suffix[] = ".so";
  const size_t length = strlen(file_name), suffix_length = sizeof(suffix) - 1;
  if (length <= suffix_length || strcmp(file_name + length - suffix_length, suffix)) return SL_EINVAL;
  const char *end = file_name + length - suffix_length, *dot = end - 1;
  while (dot > file_name && *dot != '.') dot--;
  if (dot == file_name || dot + 1 == end) return SL_EINVAL;
  *parts = (struct sl_plugin_file){file_name, dot + 1, (size_t)(dot - file_name), (size_t)(end - dot - 1)};
  return SL_OK;
}

/* The exported descriptor; NULL with `reason` if there is none or it is too short for its head. */
static const struct sl_plugin *find_descriptor(void *handle, char *reason, size_t reason_size) {
  const void *symbol = dlsym(handle, "sluice_plugin");
  if (!symbol) {
    snprintf(reason, reason_size, "no symbol sluice_plugin: not a Sluice plugin");
    return NULL;
  }
  Dl_info about;
  void *entry = NULL;
  if (dladdr1(symbol, &about, &entry, RTLD_DL_SYMENT) && entry) {
    const ElfW(Sym) *table_entry = entry;
    if (table_entry->st_size < DESCRIPTOR_HEAD_BYTES) {
      snprintf(reason, reason_size, "symbol sluice_plugin has %llu bytes, at least %d are expected",
               (unsigned long long)table_entry->st_size, (int)DESCRIPTOR_HEAD_BYTES);
      return NULL;
    }
  }
  return symbol;
}

static int check_file_name(const char *path, const struct sl_plugin *plugin, char *reason, size_t reason_size) {
  const char *slash = strrchr(path, '/');
  const char *file_name = slash ? slash + 1 : path;
  char expected[256];
  snprintf(expected, sizeof(expected), "%s.%s.so", plugin->name, plugin->target);
  if (strcmp(file_name, expected) == 0) return SL_OK;
  snprintf(reason, reason_size, "the plugin is named %s for target %s, so its file must be named %s, not %s",
           plugin->name, plugin->target, expected, file_name);
  return SL_EPLUGIN;
}

int sl_plugin_open(const char *path, void **handle, const struct sl_plugin **plugin, char *reason, size_t reason_size) {
  int status = sl_elf_check(path, reason, reason_size);
  if (status) return status;
  *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!*handle) {
    const char *text = dlerror();
    snprintf(reason, reason_size, "cannot be loaded: %s", text ? text : "unknown reason");
    return SL_EPLUGIN;
  }
  *plugin = find_descriptor(*handle, reason, reason_size);
  status = *plugin ? sl_plugin_check(*plugin, reason, reason_size) : SL_EPLUGIN;
  if (status == SL_OK) status = check_file_name(path, *plugin, reason, reason_size);
  if (status) {
    dlclose(*handle);
    *handle = NULL;
    *plugin = NULL;
  }
  return status;
}
