/* schema.c: `sluice schema`: JSON Schema of graphs. */
#include "cli/cli.h"

int cli_schema(const struct cli_arguments *a) {
  return sl_write_schema(a->options.plugin_paths, stdout) < 0 ? CLI_FAILED : CLI_OK;
}
