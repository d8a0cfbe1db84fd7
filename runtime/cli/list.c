/* list.c: `sluice list`: plugins found, hidden and refused. */
#include "cli/cli.h"

int cli_list(const struct cli_arguments *a) {
  return sl_write_plugin_list(a->options.plugin_paths, stdout) < 0 ? cli_no_memory() : CLI_OK;
}
