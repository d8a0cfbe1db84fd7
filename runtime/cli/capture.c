/* capture.c: `sluice capture`: a node of a graph, with its inputs and outputs, as a file. */
#include "cli/cli.h"

int cli_capture(const struct cli_arguments *a) {
  if (!a->captured_node || !a->options.output_path) {
    fprintf(stderr, "error: `sluice capture` needs %s\n", a->captured_node ? "-o FILE" : "--node NODE");
    return CLI_WRONG;
  }
  const char *path = a->options.output_path;
  if (cli_check_output("-o", path, NULL, NULL) != CLI_OK) return CLI_WRONG;
  struct sl_diagnostics *d = sl_diagnostics_new();
  if (!d) return cli_no_memory();
  struct sl_options options = a->options;
  options.output_path = NULL;
  const int status = sl_capture(&options, a->captured_node, a->captured_events, path, d, stdout);
  cli_print_messages(d, 0);
  sl_diagnostics_free(d);
  return status < 0 ? CLI_WRONG : CLI_OK;
}
