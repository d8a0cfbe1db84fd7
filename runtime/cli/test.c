/* test.c: `sluice test`: checks of plugins that need no test code. */
#include "cli/cli.h"

int cli_test(const struct cli_arguments *a) {
  struct sl_trial_options options = a->trial;
  struct sl_trial_counts all = {0, 0, 0};
  options.graph_paths = a->graphs.items;
  options.input_paths = a->inputs.items;
  options.sets = a->sets.items;
  options.plugin_paths = a->plugin_paths.items;
  struct sl_diagnostics *d = sl_diagnostics_new();
  if (!d) return cli_no_memory();
  int status = SL_OK;
  for (size_t i = 0; i < a->operands.count && status == SL_OK; i++) {
    struct sl_trial_counts counts;
    status = sl_test_plugin(&options, a->operands.items[i], d, stdout, &counts);
    all.passed += counts.passed;
    all.wrong += counts.wrong;
    all.not_run += counts.not_run;
  }
  if (status == SL_OK) printf("%u ok, %u wrong, %u not run\n", all.passed, all.wrong, all.not_run);
  if (status < 0 && sl_diagnostics_errors(d) == 0) cli_no_memory();
  cli_print_messages(d, 0);
  sl_diagnostics_free(d);
  if (status < 0) return CLI_WRONG;
  return all.wrong || (a->strict && all.not_run) ? CLI_FAILED : CLI_OK;
}
