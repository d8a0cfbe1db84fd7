/* list.c: `sluice list`: plugins found, hidden and refused; or graphs. */
#include "cli/cli.h"

int cli_list(const struct cli_arguments *a) {
  if (a->graphs_only) return sl_write_graph_list(stdout) < 0 ? cli_no_memory() : CLI_OK;
  return sl_write_plugin_list(a->options.plugin_paths, stdout) < 0 ? cli_no_memory() : CLI_OK;
}
