/* describe.c: `sluice describe`: an algorithm, a plugin or a collection. */
#include "cli/cli.h"

int cli_describe(const struct cli_arguments *a) {
  struct sl_diagnostics *d = sl_diagnostics_new();
  if (!d) return cli_no_memory();
  const int result = a->as_json ? sl_write_description_json(a->options.plugin_paths, a->operand, d, stdout)
                                : sl_write_description(a->options.plugin_paths, a->operand, d, stdout);
  int status = result < 0 ? CLI_WRONG : CLI_OK;
  if (result < 0 && sl_diagnostics_errors(d) == 0) status = cli_no_memory();
  cli_print_messages(d, 0);
  sl_diagnostics_free(d);
  return status;
}
