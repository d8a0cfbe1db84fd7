/* schema.c: `sluice schema`: JSON Schema of graphs. */
#include "cli/cli.h"

int cli_schema(const struct cli_arguments *a) {
  struct sl_diagnostics *d = sl_diagnostics_new();
  if (!d) return cli_no_memory();
  const int status = sl_write_schema(a->options.plugin_paths, d, stdout);
  cli_print_messages(d, 0);
  sl_diagnostics_free(d);
  if (status == SL_EIO) return CLI_FAILED; /* main.c reports it */
  return status < 0 ? cli_no_memory() : CLI_OK;
}
