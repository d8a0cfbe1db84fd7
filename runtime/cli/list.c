/* list.c: `sluice list`: the plugins found, the algorithms of one plugin, or a list that an option names. */
#include "cli/cli.h"

static int list_algorithms(const struct cli_arguments *a) {
  struct sl_diagnostics *d = sl_diagnostics_new();
  if (!d) return cli_no_memory();
  const int result = sl_write_algorithm_list(a->options.plugin_paths, a->operand, d, stdout);
  if (result < 0 && sl_diagnostics_errors(d) == 0) cli_no_memory();
  cli_print_messages(d, 0);
  sl_diagnostics_free(d);
  return result < 0 ? CLI_WRONG : CLI_OK;
}

int cli_list(const struct cli_arguments *a) {
  if ((a->operand != NULL) + a->list_algorithms + a->list_collections + a->list_graphs > 1) {
    fprintf(stderr, "error: `sluice list` takes one of PLUGIN, --algorithms, --collections and --graphs\n");
    return CLI_WRONG;
  }
  if (a->operand || a->list_algorithms) return list_algorithms(a);
  const int result = a->list_graphs        ? sl_write_graph_list(stdout)
                     : a->list_collections ? sl_write_collection_list(a->options.plugin_paths, stdout)
                                           : sl_write_plugin_list(a->options.plugin_paths, stdout);
  return result < 0 ? cli_no_memory() : CLI_OK;
}
