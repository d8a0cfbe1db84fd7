/* replay.c: `sluice replay`: runs a captured node alone. */
#include "cli/cli.h"

int cli_replay(const struct cli_arguments *a) {
  struct sl_replay_options options = a->replay;
  options.sets = a->sets.items;
  options.plugin_paths = a->plugin_paths.items;
  options.reduced_path = a->reduce ? a->options.output_path : NULL;
  if (a->reduce != (a->options.output_path != NULL)) {
    fprintf(stderr, a->reduce ? "error: --reduce needs -o FILE for the smaller case\n"
                              : "error: -o has no effect without --reduce\n");
    return CLI_WRONG;
  }
  if (cli_check_output("-o", options.reduced_path, "the case", a->operand) != CLI_OK) return CLI_WRONG;
  struct sl_diagnostics *d = sl_diagnostics_new();
  if (!d) return cli_no_memory();
  uint32_t failed = 0;
  const int status = sl_replay(&options, a->operand, d, stdout, &failed);
  cli_print_messages(d, 0);
  sl_diagnostics_free(d);
  return status < 0 ? CLI_WRONG : failed ? CLI_FAILED : CLI_OK;
}
