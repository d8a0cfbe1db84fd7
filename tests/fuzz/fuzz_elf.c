/* fuzz_elf.c: the checks of a plugin file before it is loaded, on any file: completeness, and contents of its
 * tables. */
#define _GNU_SOURCE
#include "fuzz_file.h"
#include "plugin/elf.h"
#include "plugin/peek.h"

#include <sluice/plugin.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static struct fuzz_file file;
  const char *path = fuzz_file_of(&file, data, size);
  char reason[256] = "";
  const int status = sl_elf_check(path, reason, sizeof reason);
  require(status == SL_OK || status == SL_EIO || status == SL_EPLUGIN);
  require((status == SL_OK) == (reason[0] == '\0'));
  const uint32_t bits = sl_plugin_peek(path, NULL, 0);
  require(bits <= SL_PEEK_ALL && (status == SL_OK || bits == 0));
  return 0;
}
